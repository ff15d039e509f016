/*
 * topologies - from the labels that a gang asks for to the levels of a Topology. Pure.
 */
#ifndef KAR_TOPOLOGIES_H
#define KAR_TOPOLOGIES_H

#include "api/core/topology.h"
#include "common/sched/sched.h"

struct kar_stores;

struct kar_topology_found {
	struct kar_topology_wish wish;
	const char *
		problem; /* why it means nothing: "no Topology has the level example.com/rack"; in the arena; NULL: it does */
	bool ambiguous; /* .problem is that several Topologies have it, in different places */
};

/* Has anybody made one? */
bool kar_topology_exists(const struct kar_stores *s) KAR_NONNULL;
/*
 * Tells the placement engine which domains are to stay whole: those of the narrowest level, but for hosts, of the Topology that is first by name and
 * has such a level.
 */
void kar_topology_keep_whole(const struct kar_stores *s) KAR_NONNULL;
/* What @ask means; of nothing that is asked for, no wish. The arrays are in @a. */
struct kar_topology_found kar_topology_find(const struct kar_stores *s, const struct kar_topology_ask *ask,
	struct kar_arena *a) KAR_NONNULL;

#endif
