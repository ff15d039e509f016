/*
 * Teams that share queues: limits of what each namespace has, and queues that go by what they have had (since version 20 of the drawing);
 * drawn from a stream of its own. Limits are drawn only where people never lower one (plan_bounds.c), so they hold at all times.
 */
#include "test/sim/plan_stream.h"

void plan_draw_teams(struct plan *p)
{
	enum { HALF_LIFE_MOST = 7200 /* s */ };
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "teams") };

	if (chance(&d, 40))
		p->half_life = between(&d, 60, HALF_LIFE_MOST);
	if (p->has_rights && chance(&d, 40))
		p->team_half_life = between(&d, 60, HALF_LIFE_MOST);
	for (int q = 0; q < PLAN_QUEUES && p->bounds; q++) {
		p->rights[q].ns_cpus = chance(&d, 50) ? between(&d, 1, p->nodes * p->node_cpu / 4) : 0;
		if (p->rights[q].ns_cpus && chance(&d, 40))
			p->rights[q].capability = PLAN_UNSET;
		p->rights[q].ns_jobs = chance(&d, 30) ? between(&d, 1, 3) : 0;
	}
}
