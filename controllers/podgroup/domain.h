/*
 * domain - does a gang that must be in one domain of a topology still sit there? Labels of nodes may be changed under it.
 */
#ifndef KAR_PODGROUP_DOMAIN_H
#define KAR_PODGROUP_DOMAIN_H

#include "controllers/podgroup/podgroup.h"

struct kar_controller;
struct kar_stores;

/* The nodes of members of @v that are not in the required domain any more, as a message in @a; NULL: all are, or it need not be in one. */
const char *podgroup_outside(const struct kar_stores *stores, const struct podgroup_view *v,
	struct kar_arena *a) KAR_NONNULL;
/* The groups with pods on a node whose labels change are looked at again. */
void podgroup_follow_nodes(struct kar_controller *c) KAR_NONNULL;

#endif
