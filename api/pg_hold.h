/*
 * pg_hold - for how long room is held for members of a PodGroup that do not exist yet (spec.minResources). Pure.
 */
#ifndef KAR_API_PG_HOLD_H
#define KAR_API_PG_HOLD_H

#include "api/podgroup.h"

enum {
	KAR_PG_HOLD = 30 *
		KAR_MINUTE, /* ms, from the last change of status.placement.state, or repair of the plan */
	KAR_PG_STAGED_AFTER = 5 *
		KAR_SECOND, /* ms without a new member, after which those that exist start without the others */
};

/* Wall ms, when it ends or has ended; 0: nothing is held for @g. */
static inline kar_time kar_pg_hold_ends(const struct kar_podgroup *g)
{
	enum kar_pg_state s = g->status.placement.state;

	return g->spec.has_min_resources && (s == KAR_PG_STATE_PLACED || s == KAR_PG_STATE_SATISFIED)
		? g->status.placement.time + KAR_PG_HOLD
		: 0;
}

/* @now: wall ms. */
static inline bool kar_pg_holds(const struct kar_podgroup *g, kar_time now)
{
	return now < kar_pg_hold_ends(g);
}

#endif
