/*
 * pg_hold - for how long room is held for members of a PodGroup that do not exist yet (spec.minResources). Pure.
 */
#ifndef KAR_API_PG_HOLD_H
#define KAR_API_PG_HOLD_H

#include "api/podgroup/podgroup.h"
#include "common/base/str.h"

enum {
	KAR_PG_HOLD = 30 *
		KAR_MINUTE, /* ms, from the last change of status.placement.state, or repair of the plan; the queue may end it before */
	KAR_PG_STAGED_AFTER = 5 *
		KAR_SECOND, /* ms without a new member, after which those that exist start without the others */
};

/* Wall ms, when it ends or has ended; 0: nothing is held for @g. */
static inline kar_time kar_pg_hold_ends(const struct kar_podgroup *g)
{
	const struct kar_pg_placement *pl = &g->status.placement;
	bool holds = pl->state == KAR_PG_STATE_PLACED || pl->state == KAR_PG_STATE_SATISFIED;

	if (!g->spec.has_min_resources || !holds)
		return 0;
	return kar_has_text(pl->hold_ended_for) ? pl->time : pl->time + KAR_PG_HOLD;
}

/* @now: wall ms. */
static inline bool kar_pg_holds(const struct kar_podgroup *g, kar_time now)
{
	return now < kar_pg_hold_ends(g);
}

#endif
