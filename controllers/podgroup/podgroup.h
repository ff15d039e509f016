/*
 * podgroup - the PodGroup reconciler: counts members, keeps phase and conditions (design podgroup.md).
 *
 * Everything is recomputed from the pods in the cache. It knows nothing about tasks or jobs, so any controller's pods
 * may join a group by label. It does not touch the condition Admitted, which belongs to the queue reconciler.
 */
#ifndef KAR_PODGROUP_RECONCILER_H
#define KAR_PODGROUP_RECONCILER_H

#include "api/types.h"
#include "controllers/plan.h"

struct podgroup_view {
	const struct kar_podgroup *group;
	const struct kar_pod **pods; /* members: same namespace, by label or annotation */
	size_t n_pods;
	bool owner_terminal; /* the QueueJob that controls the group has completed or failed */
};

/* Pure. p->status is a struct kar_podgroup_status. @now: wall ms. */
void podgroup_decide(const struct podgroup_view *v, kar_time now, struct kar_plan *p) KAR_NONNULL;

#endif
