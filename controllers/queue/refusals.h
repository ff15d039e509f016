/*
 * refusals - pods that the API server has refused to evict (decision 092), and until when none of them is asked for again. Pure, and kept between
 * passes only: a new manager asks once more.
 */
#ifndef KAR_QUEUE_REFUSALS_H
#define KAR_QUEUE_REFUSALS_H

#include "common/base/mem.h"

struct queue_refusals;

struct queue_refusals *queue_refusals_new(void) KAR_MUSTUSE KAR_RETNN;
void queue_refusals_free(struct queue_refusals *r); /* accepts NULL */
/* The pod was refused, for @why: for ten seconds, and each time in a row for twice as long, up to ten minutes. @mono: monotonic ms. */
void queue_refusals_note(struct queue_refusals *r, const char *uid, const char *why,
	kar_time mono) KAR_NONNULL;
/* Why the pod is not to be evicted now, borrowed until the next call with another @mono; NULL: it may be. *@in: ms until that ends. */
const char *queue_refusals_of(struct queue_refusals *r, const char *uid, kar_time mono,
	kar_time *in) KAR_NONNULL;
/* Forgets pods whose refusal was over an hour ago. */
void queue_refusals_sweep(struct queue_refusals *r, kar_time mono) KAR_NONNULL;

#endif
