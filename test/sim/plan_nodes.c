/*
 * Gangs that collide on nodes which are too few for all of them (since version 10 of the drawing); drawn from a stream of their
 * own.
 */
#include "test/sim/plan_stream.h"

/* On a node one of its pods fits, and pods of other jobs beside it. */
static int cpu_of_most(const struct plan *p)
{
	enum { PERCENT = 60, MILLI = 10 };

	return p->node_cpu * PERCENT * MILLI;
}

static struct plan_job gang(struct draw *d)
{
	enum { SHORTEST = 200, LONGEST = 900 }; /* s: longer than a gang may hold a part of its nodes */
	int n = between(d, 2, d->p->nodes);
	struct plan_job j = new_job(d, between(d, 0, PLAN_NAMESPACES - 1));

	j.min = chance(d, 70) ? n : between(d, 2, n);
	j.tasks[0] = (struct plan_task){
		.replicas = n,
		.priority = PLAN_UNSET,
		.min = PLAN_UNSET,
		.outcome = chance(d, 90) ? PLAN_SUCCEED : PLAN_CRASH_ONCE,
		.after = between(d, SHORTEST, LONGEST),
		.start = between(d, 0, 3),
		.stop = between(d, 0, 3),
		.exit_code = 1,
		.cpu = cpu_of_most(d->p),
	};
	return j;
}

/* All nodes are taken for a while, so that what becomes free then is shared out pod by pod. */
void plan_collide(struct draw *d, kar_time at)
{
	enum { APART = 60000 /* ms */, MOST_NODES = 8, SUSPENDED_FOR = 100 /* s */, CPUS = 64 };
	int n = between(d, 2, 5);

	if (d->p->nodes > MOST_NODES)
		return;
	d->p->node_cpu = CPUS; /* room for the pods of all other jobs beside them: each gang fits, alone */
	for (int i = 0; i < n; i++) {
		kar_time submitted = at + sim_random_between(&d->r, 0, APART);
		kar_time later = submitted + sim_random_between(&d->r, 1, 10 * KAR_MINUTE);

		submit(d, gang(d), submitted);
		if (chance(d, 90))
			continue;
		act(d, later, PLAN_SUSPEND, (int)d->p->n_jobs - 1, 0, 0);
		act(d, later + SUSPENDED_FOR * KAR_SECOND, PLAN_RESUME, (int)d->p->n_jobs - 1, 0, 0);
	}
}

void plan_draw_nodes(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "nodes") };

	if (chance(&d, 30))
		plan_collide(&d, sim_random_between(&d.r, 0, p->length));
}
