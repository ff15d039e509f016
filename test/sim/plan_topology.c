/*
 * A Topology of the zones, and jobs that must be in one of them (since version 19 of the drawing); drawn from a stream of its own.
 */
#include "test/sim/plan_stream.h"

static bool is_placed_by_hand(const struct plan *p, int job)
{
	bool placed = p->jobs[job].place != PLAN_ANYWHERE;

	for (size_t i = 0; i < p->n_actions && !placed; i++)
		placed = p->actions[i].job == job &&
			(p->actions[i].verb == PLAN_PLACE || p->actions[i].verb == PLAN_SCHEDULER);
	return placed;
}

/* One that needs whole nodes may need more of them than a zone has. */
static bool is_large(const struct plan_job *j)
{
	bool large = false;

	for (int i = 0; i < j->n_tasks; i++)
		large |= j->tasks[i].cpu > 1000;
	return large;
}

void plan_draw_topology(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "topology") };
	int percent = between(&d, 20, 100);

	p->topology = p->zones && chance(&d, 60);
	for (size_t i = 0; i < p->n_jobs && p->topology; i++) {
		struct plan_job *j = &p->jobs[i];

		if (chance(&d, percent) && j->scheduler == PLAN_UNNAMED && j->min && !is_large(j) &&
			!is_placed_by_hand(p, (int)i))
			j->together = true;
	}
}
