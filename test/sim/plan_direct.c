/*
 * Jobs whose pods are created bound, because they name kar-scheduler (since version 14 of the drawing); drawn from a stream of its own.
 */
#include "test/sim/plan_stream.h"

void plan_draw_direct(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "direct") };
	int percent = chance(&d, 50) ? between(&d, 10, 100) : 0;

	for (size_t i = 0; i < p->n_jobs; i++) {
		if (chance(&d, percent) && p->jobs[i].scheduler == PLAN_UNNAMED && p->jobs[i].min)
			p->jobs[i].scheduler = PLAN_KAR_SCHEDULER;
	}
}
