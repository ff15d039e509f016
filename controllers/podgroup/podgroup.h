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

enum podgroup_owner {
	PODGROUP_OWNER_UNKNOWN, /* none, or of a kind whose end we cannot see */
	PODGROUP_OWNER_WORKS,   /* the QueueJob that controls the group goes on, or is gone */
	PODGROUP_OWNER_TERMINAL,
};

struct podgroup_view {
	const struct kar_podgroup *group;
	const struct kar_pod **pods; /* members: same namespace, by label or annotation */
	size_t n_pods;
	enum podgroup_owner owner;
};

/*
 * Would nobody take our scheduling gate off this pod once its group is gone? The reconciler of a QueueJob does: it creates the
 * group again, and releases the pods or takes them back.
 */
bool podgroup_strands(const struct kar_pod *pod) KAR_NONNULL;

/* Pure. p->status is a struct kar_podgroup_status. @now: wall ms. */
void podgroup_decide(const struct podgroup_view *v, kar_time now, struct kar_plan *p) KAR_NONNULL;

#endif
