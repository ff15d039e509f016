/*
 * extras_limit - how many creates of extras may be sent at once, over all plans. Pure: the caller passes monotonic time in.
 *
 * The API server works on what it was sent in its own order, so a write that waits there behind many creates of extras is late whatever
 * its rank is. So at most 12 extras are in flight. A job comes to its minimum by several writes, one after the other (its objects, its
 * admission, its creates): its steps. Until 200 ms have passed without a step, extras of a lower priority are sent one per 50 ms: as many as
 * make room for it, and enough that no stream of steps stops them. See docs/decisions/031.
 */
#ifndef KAR_EXTRAS_LIMIT_H
#define KAR_EXTRAS_LIMIT_H

#include "controllers/runtime/plan.h"

/* Zero at first. */
struct kar_extras_limit {
	int in_flight;
	kar_time sent;      /* mono, the last extra; 0: none */
	int32_t priority;   /* the highest of the steps that are not over */
	kar_time step_ends; /* mono, when the last of them is over; 0: there was none */
};

/* Is @a, with the tier of its rank, a step of a job to its minimum? A status, a delete and a patch that may be late are none. */
bool kar_is_step(const struct kar_action *a) KAR_NONNULL;
/* A step of a job of this priority was sent or answered at @now. */
void kar_extras_limit_step(struct kar_extras_limit *l, int32_t priority, kar_time now) KAR_NONNULL;
/* ms until an extra of this priority may be sent; 0: now; KAR_NEVER: not before another extra is answered. */
kar_time kar_extras_limit_wait(const struct kar_extras_limit *l, int32_t priority, kar_time now) KAR_NONNULL;
void kar_extras_limit_sent(struct kar_extras_limit *l, kar_time now) KAR_NONNULL;
void kar_extras_limit_answered(struct kar_extras_limit *l) KAR_NONNULL;

#endif
