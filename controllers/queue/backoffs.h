/*
 * backoffs - what is not to be tried again yet: to evict a pod, which the API server has refused (decision 092), and to let in an extra of a
 * group that has lost one to others. Pure, and kept between passes only: a new manager tries once more.
 */
#ifndef KAR_QUEUE_BACKOFFS_H
#define KAR_QUEUE_BACKOFFS_H

#include "common/base/mem.h"

struct queue_backoffs;

struct queue_backoffs *queue_backoffs_new(void) KAR_MUSTUSE KAR_RETNN;
void queue_backoffs_free(struct queue_backoffs *b); /* accepts NULL */
/* Not the pod or the group, for @why: for ten seconds, and each time in a row for twice as long, up to @most ms. @mono: monotonic ms. */
void queue_backoffs_note(struct queue_backoffs *b, const char *uid, const char *why, kar_time most,
	kar_time mono) KAR_NONNULL;
/* Why not now, borrowed until the next call with another @mono; NULL: it may be tried. *@in: ms until that ends. */
const char *queue_backoffs_of(struct queue_backoffs *b, const char *uid, kar_time mono,
	kar_time *in) KAR_NONNULL;
/* Forgets what was noted over an hour ago. */
void queue_backoffs_sweep(struct queue_backoffs *b, kar_time mono) KAR_NONNULL;

#endif
