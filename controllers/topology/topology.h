/*
 * topology - the Topology reconciler: counts in the status of each Topology what its levels mean for the nodes that there are.
 *
 * Nobody decides by the status: it is for people (docs/TOPOLOGY.md). Whether a gang can be placed is asked of the engine (queue/topology.c).
 */
#ifndef KAR_TOPOLOGY_RECONCILER_H
#define KAR_TOPOLOGY_RECONCILER_H

#include "api/types.h"
#include "controllers/runtime/plan.h"

struct topology_view {
	const struct kar_topology *topology;
	const struct kar_node *const *nodes; /* in any order */
	size_t n_nodes;
};

/* Pure. One per level, in the arena. */
struct kar_topology_level *topology_count(const struct topology_view *v, struct kar_arena *a) KAR_NONNULL;
/* Pure. Sets p->status to a struct kar_topology_status if it must be written. @now: wall ms. */
void topology_decide(const struct topology_view *v, kar_time now, struct kar_plan *p) KAR_NONNULL;

#endif
