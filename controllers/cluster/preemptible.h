/*
 * preemptible - bound pods of no gang and no queue that may be evicted for a gang (--preemptible-below, decision 092), kept by the changes of the cache of
 * pods.
 *
 * A pod is one of them while it runs, or stops, on a node, has a controller that makes it again elsewhere, a priority below the limit, and no
 * claims of devices. A change costs the logarithm of how many there are. Without a limit there are none.
 */
#ifndef KAR_PREEMPTIBLE_H
#define KAR_PREEMPTIBLE_H

#include "api/pod/pod.h"
#include "common/base/mem.h"

enum {
	KAR_PREEMPTIBLE_MAX = 2000
}; /* pods that are given out, beside those that stop; the others come when these have gone */

struct kar_preemptible_limit {
	bool on;
	int32_t below; /* --preemptible-below */
};

struct kar_preemptible;

struct kar_preemptible *kar_preemptible_new(void) KAR_MUSTUSE KAR_RETNN;
void kar_preemptible_free(struct kar_preemptible *e); /* accepts NULL */
/* To be called before there are pods; it is off else. */
void kar_preemptible_set(struct kar_preemptible *e, struct kar_preemptible_limit limit) KAR_NONNULL;

/* A change, as a cache tells it: @old NULL: it is new; @new NULL: it is gone. The cache owns the pods. */
void kar_preemptible_pod(struct kar_preemptible *e, const struct kar_pod *old, const struct kar_pod *new)
	__attribute__((nonnull(1)));
/* It is one of them. */
bool kar_preemptible_is(const struct kar_preemptible *e, const struct kar_pod *pod) KAR_NONNULL;
/* It is one of them now, or begins to stop. */
bool kar_preemptible_news(const struct kar_preemptible *e, const struct kar_pod *old,
	const struct kar_pod *new) __attribute__((nonnull(1)));
/*
 * All that stop, and at most KAR_PREEMPTIBLE_MAX others, in *@out (in @a), the lowest priority first, of one priority the youngest; returns
 * how many.
 */
uint32_t kar_preemptible_list(const struct kar_preemptible *e, struct kar_arena *a,
	const struct kar_pod ***out) KAR_NONNULL;

#endif
