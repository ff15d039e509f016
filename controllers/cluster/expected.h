/*
 * expected - pods of no gang that the scheduler is about to bind, kept by the changes of the cache of pods (docs/design/podgroup.md, 2.3).
 *
 * A pod is one of them while it is alive and has neither a node, a gate nor a group, and is younger than a minute
 * and not unschedulable, or has a node freed for it.
 * A change costs the logarithm of how many there are, whatever else is in the cluster.
 */
#ifndef KAR_EXPECTED_H
#define KAR_EXPECTED_H

#include "api/pod/pod.h"
#include "common/base/mem.h"

enum {
	KAR_EXPECTED_MAX = 1000
}; /* pods that are given out; those of the lowest priority are left out first */

struct kar_expected;

struct kar_expected *kar_expected_new(void) KAR_MUSTUSE KAR_RETNN;
void kar_expected_free(struct kar_expected *e); /* accepts NULL */

/* A change, as a cache tells it: @old NULL: it is new; @new NULL: it is gone. The cache owns the pods. */
void kar_expected_pod(struct kar_expected *e, const struct kar_pod *old, const struct kar_pod *new)
	__attribute__((nonnull(1)));
/* It is one of them, but for its age. */
bool kar_expected_may_be(const struct kar_pod *pod) KAR_NONNULL;
/*
 * At most KAR_EXPECTED_MAX, in *@out (in @a), the highest priority first, then the oldest; returns how many. Those that are older than @age
 * (ms) at @now (wall ms), and have no node freed for them, are forgotten: @now and @age must not go back.
 */
uint32_t kar_expected_list(struct kar_expected *e, kar_time now, kar_time age, struct kar_arena *a,
	const struct kar_pod ***out) KAR_NONNULL;

#endif
