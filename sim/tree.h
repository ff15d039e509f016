/*
 * tree - JSON values of any shape, as an API server needs them.
 *
 * Values are counted references and shared: a stored object, its older versions and an answer in the making have most
 * of their parts in common. Whoever changes a value goes through a `struct sim_value **` and one of the edit functions,
 * which first make every container on the path their own (copy on write); no other holder ever sees the change.
 * Members keep the order in which they were added. Integers are int64, other numbers double. Not thread-safe.
 *
 * Ownership: what a function returns as "new" is one reference for the caller (sim_unref()); "borrowed" lives as long as
 * what it was taken from. A parameter called @consumed is taken over, also when the function fails.
 * A NULL value means "absent" and is accepted by every reader.
 */
#ifndef SIM_TREE_H
#define SIM_TREE_H

#include "common/base/buf.h"
#include "common/base/err.h"

enum sim_kind { SIM_ABSENT, SIM_NULL, SIM_BOOL, SIM_INT, SIM_REAL, SIM_STRING, SIM_ARRAY, SIM_OBJECT };

/* What follows in memory depends on the kind (tree_impl.h). Not to be touched: it is here so that these two cost nothing. */
struct sim_value {
	uint32_t refs;
	enum sim_kind kind;
};
#define SIM_FOREVER ((uint32_t)INT32_MAX) /* references of values that are never freed */

static inline enum sim_kind sim_kind(const struct sim_value *v)
{
	return v ? v->kind : SIM_ABSENT;
}
/* "an object", "a string": for error texts. */
const char *sim_kind_name(enum sim_kind k) KAR_RETNN;

/* New reference to @v itself. NULL gives NULL. */
static inline struct sim_value *sim_ref(const struct sim_value *v)
{
	struct sim_value *held = (struct sim_value *)(uintptr_t)v;

	if (held && held->refs != SIM_FOREVER)
		held->refs++;
	return held;
}
void sim_unref(struct sim_value *v);          /* accepts NULL */
void sim_cleanup_value(struct sim_value **v); /* for KAR_CLEANUP */

/* New values. */
struct sim_value *sim_object(void) KAR_MUSTUSE KAR_RETNN;
struct sim_value *sim_array(void) KAR_MUSTUSE KAR_RETNN;
struct sim_value *sim_null(void) KAR_MUSTUSE KAR_RETNN;
struct sim_value *sim_bool(bool b) KAR_MUSTUSE KAR_RETNN;
struct sim_value *sim_int(int64_t i) KAR_MUSTUSE KAR_RETNN;
struct sim_value *sim_real(double d) KAR_MUSTUSE KAR_RETNN;
/* Bytes that are not UTF-8 become U+FFFD; NUL is kept out the same way. */
struct sim_value *sim_string(const char *s) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
struct sim_value *sim_string_n(const char *s, size_t n) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
struct sim_value *sim_printf(const char *fmt, ...) KAR_MUSTUSE KAR_RETNN KAR_PRINTF(1, 2);
/* "2026-11-21T13:46:27Z" */
struct sim_value *sim_time(kar_time wall) KAR_MUSTUSE KAR_RETNN;

/*
 * One JSON document of at most 8 MiB and 120 levels. As in Go: of duplicate keys the last one stays, integers that do not fit
 * become real, half surrogate pairs U+FFFD. New value, or NULL with KAR_INVALID and the text of Go's parser.
 */
struct sim_value *sim_parse(const char *text, size_t n, struct kar_err *err) KAR_MUSTUSE;
/* Compact JSON, appended to @out. Numbers as Go prints them: whole ones without a fraction, others as short as can be. */
void sim_print(const struct sim_value *v, struct kar_buf *out);
/* @s as a JSON string; it is clean (utf8.h). */
void sim_print_text(const char *s, struct kar_buf *out) KAR_NONNULL;

/* Scalars; the default is given when @v is absent or of another kind. Strings are borrowed. */
const char *sim_text(const struct sim_value *v); /* or NULL */
const char *sim_text_or(const struct sim_value *v, const char *otherwise);
int64_t sim_int_of(const struct sim_value *v, int64_t otherwise); /* a real without fraction counts */
bool sim_bool_of(const struct sim_value *v, bool otherwise);
double sim_number_of(const struct sim_value *v, double otherwise);

/* Containers: members or items; 0 for what is none. */
size_t sim_count(const struct sim_value *v);
/* Borrowed, or NULL. */
struct sim_value *sim_member(const struct sim_value *object, const char *key);
struct sim_value *sim_item(const struct sim_value *array, size_t i);
/* Follows members from @v: sim_get(pod, "metadata", "labels", key). Borrowed, or NULL. */
#define sim_get(v, ...) sim_get_path((v), (const char *const[]){ __VA_ARGS__, NULL })
struct sim_value *sim_get_path(const struct sim_value *v, const char *const *path);
#define sim_get_text(v, ...) sim_text(sim_get((v), __VA_ARGS__))
#define sim_get_int(v, otherwise, ...) sim_int_of(sim_get((v), __VA_ARGS__), (otherwise))

/* for (struct sim_member m = sim_first(o); m.value; m = sim_next(m)): in the order of insertion. @o must not change meanwhile. */
struct sim_member {
	const char *key;
	struct sim_value *value; /* borrowed; NULL: past the end */
	const struct sim_value *object;
	void *at;
};
struct sim_member sim_first(const struct sim_value *object);
struct sim_member sim_next(struct sim_member m);

/* Deep comparison; numbers by value, members in any order. Two absents are equal. */
bool sim_equal(const struct sim_value *a, const struct sim_value *b);
uint64_t sim_hash(const struct sim_value
		*v); /* equal values (but for 1 and 1.0) have equal hashes, whatever their order */

/* --- edits: each makes *@v, and every container on the path, its own before changing it ------------------- */

/*
 * Sets the member at the end of the path to @consumed; missing or null containers on the way become objects. Something
 * else on the way is replaced.
 */
#define sim_set(v, consumed, ...) sim_set_path((v), (consumed), (const char *const[]){ __VA_ARGS__, NULL })
void sim_set_path(struct sim_value **v, struct sim_value *consumed, const char *const *path) KAR_NONNULL;
#define sim_set_text(v, s, ...) sim_set((v), sim_string(s), __VA_ARGS__)
/* True if there was something to remove. Does not copy anything if there was not. */
#define sim_remove(v, ...) sim_remove_path((v), (const char *const[]){ __VA_ARGS__, NULL })
bool sim_remove_path(struct sim_value **v, const char *const *path) KAR_NONNULL;
/* Arrays. @i may be the count, which appends. */
void sim_append(struct sim_value **array, struct sim_value *consumed) KAR_NONNULL;
void sim_insert(struct sim_value **array, size_t i, struct sim_value *consumed) KAR_NONNULL;
void sim_replace(struct sim_value **array, size_t i, struct sim_value *consumed) KAR_NONNULL;
void sim_drop(struct sim_value **array, size_t i) KAR_NONNULL;
/*
 * For walks that edit in place: takes the member or item out of *@v (leaving null there), so that it can be edited
 * without being copied, and gives it back with sim_set()/sim_replace(). New reference; NULL if absent.
 */
struct sim_value *sim_take(struct sim_value **object, const char *key) KAR_NONNULL;
struct sim_value *sim_take_item(struct sim_value **array, size_t i) KAR_NONNULL;

#endif
