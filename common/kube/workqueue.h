/*
 * workqueue - which keys to sync next, and when.
 *
 * The semantics of client-go's util/workqueue: a key added many times before it is taken is taken once; a key is
 * never taken twice at once; added while it is being processed, it is taken again after done. Delayed adds
 * keep the earliest deadline per key. Failures back off exponentially per key, without a limit on their
 * number (a key is never dropped). Beyond client-go: a key may rest, and lazy adds wait until it has.
 * Invariant: a key is in at most one of {ready, processing}; it may also be dirty while processing,
 * or delayed. Pure: the caller passes monotonic time in; never blocks, never logs.
 */
#ifndef KAR_WORKQUEUE_H
#define KAR_WORKQUEUE_H

#include "common/base/base.h"

struct kar_workqueue;

struct kar_workqueue_options {
	kar_time backoff_base; /* ms after the first failure; 0: 5 ms */
	kar_time backoff_cap;  /* ms; 0: 60 s */
	uint64_t seed;         /* of the jitter, +-10 % of a back-off */
	/* The monotonic time of this turn, for the durations below; NULL: they are not measured. */
	kar_time (*mono)(void *arg);
	/* A key that was ready for @ms is taken; one that was processed for @ms is done. With .mono only; NULL: not interested. */
	void (*waited)(void *arg, kar_time ms);
	void (*worked)(void *arg, kar_time ms);
	void *arg;
};

struct kar_workqueue_stats {
	uint64_t adds;       /* keys that became ready, or dirty */
	uint64_t retries;    /* adds for later */
	kar_time unfinished; /* ms that the keys being processed have been so, together; */
	kar_time longest;    /* and the one that has been so for longest */
};

struct kar_workqueue *kar_workqueue_new(const struct kar_workqueue_options *o) KAR_MUSTUSE KAR_RETNN;
void kar_workqueue_free(struct kar_workqueue *q); /* accepts NULL */

/* Marks @key (copied) as needing work now. */
void kar_workqueue_add(struct kar_workqueue *q, const char *key) KAR_NONNULL;
/* As add, but behind all ordinary keys: for what the first list brings. */
void kar_workqueue_add_low(struct kar_workqueue *q, const char *key) KAR_NONNULL;
/* As add, for what can wait: not before the time that kar_workqueue_cool_down() has set. */
void kar_workqueue_add_lazy(struct kar_workqueue *q, const char *key) KAR_NONNULL;
/* Lazy adds of @key wait until @until (mono); 0: they do not any more. */
void kar_workqueue_cool_down(struct kar_workqueue *q, const char *key, kar_time until) KAR_NONNULL;
/* Marks it at time @at (mono). A second call keeps the earlier time. */
void kar_workqueue_add_at(struct kar_workqueue *q, const char *key, kar_time at) KAR_NONNULL;
/* Marks it after its next back-off step. */
void kar_workqueue_add_rate_limited(struct kar_workqueue *q, const char *key, kar_time now) KAR_NONNULL;
/* Resets its back-off. */
void kar_workqueue_forget(struct kar_workqueue *q, const char *key) KAR_NONNULL;
/* Failures since the last forget. */
unsigned kar_workqueue_failures(const struct kar_workqueue *q, const char *key) KAR_NONNULL;

/* The next key ready at @now, or NULL. It is being processed until kar_workqueue_done(); valid until then. */
const char *kar_workqueue_take(struct kar_workqueue *q, kar_time now) KAR_NONNULL;
void kar_workqueue_done(struct kar_workqueue *q, const char *key) KAR_NONNULL;
/* When take() will next have something: @now or earlier if it has, KAR_NEVER if nothing is queued. */
kar_time kar_workqueue_next(const struct kar_workqueue *q, kar_time now) KAR_NONNULL;

/* Is it being processed, and was added again meanwhile? */
bool kar_workqueue_is_dirty(const struct kar_workqueue *q, const char *key) KAR_NONNULL;
size_t kar_workqueue_ready(const struct kar_workqueue *q) KAR_NONNULL; /* depth */
size_t kar_workqueue_processing(const struct kar_workqueue *q) KAR_NONNULL;
/* Walks over all keys of which something is known. */
struct kar_workqueue_stats kar_workqueue_stats(struct kar_workqueue *q) KAR_NONNULL;

#endif
