/*
 * condition - metav1.Condition lists.
 *
 * Invariant: at most one condition per type, in the order of first appearance; last_transition moves only when
 * the status of a condition changes. Lists live in an arena.
 *
 * Every message in a status has a bound, far below the CRDs' own of 32768: an object has many messages, and a message that is also
 * an event ends after 1,024 bytes anyway.
 */
#ifndef KAR_API_CONDITION_H
#define KAR_API_CONDITION_H

#include "common/base/mem.h"
#include "common/codec/decode.h"

struct kar_json_writer;

enum { KAR_MAX_MESSAGE_BYTES = 1024 }; /* of a message in a status, NUL included */
enum { KAR_MAX_CONDITIONS = 32 };      /* of one object, as in our CRDs */

enum kar_condition_status { KAR_COND_UNKNOWN, KAR_COND_TRUE, KAR_COND_FALSE };

struct kar_condition {
	const char *type; /* CamelCase */
	enum kar_condition_status status;
	int64_t observed_generation;
	kar_time last_transition; /* wall ms, whole seconds */
	const char *reason;       /* CamelCase, never empty */
	const char *message;      /* for people; "" allowed */
};

struct kar_conditions {
	struct kar_condition *items;
	size_t n;
};

/* Table of the JSON array's elements: struct kar_wire_condition. */
struct kar_wire_condition {
	const char *type, *status, *reason, *message;
	int64_t observed_generation;
	kar_time last_transition;
};
extern const struct kar_desc kar_wire_condition_desc;

/*
 * The decoded array as a list in @arena (strings copied). Conditions without a type, and those after the first
 * KAR_MAX_CONDITIONS, are dropped; texts are cut at the bounds of our own.
 */
struct kar_conditions kar_conditions_from_wire(const struct kar_array *wire,
	struct kar_arena *arena) KAR_NONNULL;
/* A copy that the caller may change. It shares the strings of @from. */
struct kar_conditions kar_conditions_copy(const struct kar_conditions *from,
	struct kar_arena *arena) KAR_NONNULL;
const struct kar_condition *kar_condition_find(const struct kar_conditions *list,
	const char *type) KAR_NONNULL;
bool kar_condition_is_true(const struct kar_conditions *list, const char *type) KAR_NONNULL;
/*
 * Sets the condition c->type; keeps last_transition when the status is unchanged, else sets it to @now (wall). A longer
 * message ends in "...".
 */
void kar_condition_set(struct kar_conditions *list, const struct kar_condition *c, kar_time now,
	struct kar_arena *arena) KAR_NONNULL;
bool kar_conditions_equal(const struct kar_conditions *a, const struct kar_conditions *b) KAR_NONNULL;
/*
 * Does the condition of @type have another status or reason in @wanted than in @recorded, or is it in only one of them? Use it to
 * decide whether to write or report. No other decision may depend on a recorded reason.
 */
bool kar_condition_is_news(const struct kar_conditions *recorded, const struct kar_conditions *wanted,
	const char *type) KAR_NONNULL;
/* Writes the array value. */
void kar_conditions_write(struct kar_json_writer *w, const struct kar_conditions *list) KAR_NONNULL;
const char *kar_condition_status_name(enum kar_condition_status s) KAR_RETNN; /* "True" ... */

#endif
