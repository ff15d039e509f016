/*
 * flavor - the Flavor reconciler: counts in the status of each Flavor its nodes, and what they offer.
 *
 * Nobody decides by the status: it is for people. Which node is of which flavor the placement engine knows (cluster/snapshot.h).
 */
#ifndef KAR_FLAVOR_RECONCILER_H
#define KAR_FLAVOR_RECONCILER_H

#include "api/core/flavor.h"
#include "api/core/node.h"
#include "controllers/runtime/plan.h"

struct flavor_view {
	const struct kar_flavor *flavor;
	const struct kar_flavor *const *all; /* with it */
	uint32_t n_all;
	const struct kar_node *const *nodes; /* in any order */
	size_t n_nodes;
};

/* Pure. Sets p->status to a struct kar_flavor_status if it must be written. */
void flavor_decide(const struct flavor_view *v, struct kar_plan *p) KAR_NONNULL;

#endif
