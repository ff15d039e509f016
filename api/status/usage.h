/*
 * usage - what has been used: amounts of resources times seconds, as a status keeps it.
 *
 * A status has what was used until .time, and what is allocated since. Who reads it adds what that has used until now. So nothing has to
 * be written while nothing changes, and a manager that starts goes on where the last one was.
 *
 * Pure. Times are wall ms in whole seconds, because a status has no others. Amounts are exact (common/codec/quantity.h).
 */
#ifndef KAR_API_USAGE_H
#define KAR_API_USAGE_H

#include "api/status/status_fields.h"
#include "common/sched/amounts.h"

struct kar_usage {
	struct kar_array seconds;   /* struct kar_pair: resource -> amount times seconds, until .time */
	struct kar_array allocated; /* struct kar_pair: resource -> amount, since .time */
	kar_time time;              /* 0: nothing was ever allocated */
};
extern const struct kar_desc
	kar_usage_table; /* rows have no flag: a change of them alone is no reason to write */

/* Adds to @used what @allocated (struct kar_pair) uses in @ms milliseconds, of which whole seconds count. Below 0 counts as 0. */
void kar_usage_add(struct kar_amounts *used, const struct kar_array *allocated, kar_time ms) KAR_NONNULL;
/* As struct kar_pair in the order of names, without what is 0. The array and its texts are in @a. */
struct kar_array kar_usage_pairs(const struct kar_amounts *amounts, struct kar_arena *a) KAR_NONNULL;

#endif
