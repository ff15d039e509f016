/*
 * amounts - a small set of named quantities: what a pod requests, what a quota has used. Pure.
 *
 * Kept in order of names. Zero-initialise; free with kar_amounts_release().
 */
#ifndef KAR_SCHED_AMOUNTS_H
#define KAR_SCHED_AMOUNTS_H

#include "common/base/mem.h"
#include "common/codec/quantity.h"
#include "common/sched/needs.h"

struct kar_amount {
	const char *name; /* owned by the set */
	struct kar_quantity q;
};

struct kar_amounts {
	struct kar_amount *items;
	size_t n;
	struct kar_arena arena;
};

void kar_amounts_release(struct kar_amounts *a) KAR_NONNULL;
void kar_amounts_cleanup(struct kar_amounts *a) KAR_NONNULL; /* for KAR_CLEANUP */
/* NULL: not in the set. */
struct kar_quantity *kar_amounts_find(const struct kar_amounts *a, const char *name) KAR_NONNULL;
/* The amount called @name, added as 0 if it is not there. Valid until the next one is added. */
struct kar_quantity *kar_amounts_at(struct kar_amounts *a, const char *name) KAR_NONNULL KAR_RETNN;
void kar_amounts_add(struct kar_amounts *a, const char *name, const struct kar_quantity *q) KAR_NONNULL;
void kar_amounts_sub(struct kar_amounts *a, const char *name, const struct kar_quantity *q) KAR_NONNULL;
void kar_amounts_add_all(struct kar_amounts *a, const struct kar_amounts *more) KAR_NONNULL;
/* Each becomes at least what it is in @other. */
void kar_amounts_max_all(struct kar_amounts *a, const struct kar_amounts *other) KAR_NONNULL;
/* Each becomes what it is in @other. */
void kar_amounts_set_all(struct kar_amounts *a, const struct kar_amounts *other) KAR_NONNULL;

/*
 * As the scheduler counts it: thousandths of "cpu", else whole units, rounded up, and between 0 and KAR_SCHED_MOST. The name is borrowed.
 */
struct kar_sched_amount kar_amount_rounded(const char *name, const struct kar_quantity *q) KAR_NONNULL;
/* The same rounded down, and up to INT64_MAX: of a right or a limit. */
struct kar_sched_amount kar_amount_rounded_down(const char *name, const struct kar_quantity *q) KAR_NONNULL;

enum { KAR_AMOUNT_TEXT = 32 };
/*
 * An amount in a message, with one decimal at most: cpu "3", "1.5" or (below a tenth) "45m", bytes "23.4Gi" in the largest unit that leaves 1 or more, else
 * pieces. @up: rounded up, as what is requested or short; else down, as what is free. A quota's names (requests.cpu) are known too.
 * Returns @out.
 */
const char *kar_amount_text(const char *resource, int64_t amount, bool up,
	char out[KAR_AMOUNT_TEXT]) KAR_NONNULL KAR_RETNN;

#endif
