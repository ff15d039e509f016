/*
 * backoff - how long to wait before the next try, longer each time. Pure.
 */
#ifndef KAR_BACKOFF_H
#define KAR_BACKOFF_H

#include "common/base/base.h"

/* @first, doubled @n times, but not more than @longest (ms, both above 0). */
kar_time kar_backoff_delay(unsigned n, kar_time first, kar_time longest);

/* The same in a row, with jitter. */
struct kar_backoff {
	kar_time base, cap; /* ms */
	double jitter;      /* the delay is d + random * jitter * d */
	unsigned steps;     /* taken since the last reset */
	uint64_t random;    /* state of its own generator; seed it */
};
/* The next delay in ms, at least @at_least. */
kar_time kar_backoff_next(struct kar_backoff *b, kar_time at_least) KAR_NONNULL;
void kar_backoff_reset(struct kar_backoff *b) KAR_NONNULL;

#endif
