/*
 * Queues with rights, whose gangs are evicted for those of others or for higher priorities (since version 16 of the drawing); drawn from a
 * stream of its own.
 */
#include "test/sim/plan_stream.h"

/* 0 .. @most, or nothing. */
static int some(struct draw *d, int percent, int most)
{
	return chance(d, percent) ? between(d, 0, most) : PLAN_UNSET;
}

static struct plan_rights rights(struct draw *d, int cpus)
{
	struct plan_rights r = {
		.weight = chance(d, 40) ? between(d, 1, 5) : PLAN_UNSET,
		.capability = some(d, 25, cpus),
		.preempts = chance(d, 50),
		.keeps = chance(d, 15),
		.in_team = chance(d, 40),
		.drains = chance(d, 30),
	};

	r.deserved = some(d, 60, r.capability == PLAN_UNSET ? cpus : r.capability);
	r.guarantee = r.deserved == PLAN_UNSET ? PLAN_UNSET : some(d, 20, r.deserved);
	return r;
}

/* Of one task, at most 6/10 of each node, and long enough to be evicted while it runs. */
static struct plan_job gang(struct draw *d)
{
	enum { SHORTEST = 60, LONGEST = 1800 /* s */, MILLI = 1000 };
	struct plan_job j = new_job(d, between(d, 0, PLAN_NAMESPACES - 1));
	int most = d->p->nodes * 2;

	j.queue = between(d, 0, PLAN_QUEUES - 1);
	j.tasks[0] = (struct plan_task){
		.replicas = between(d, 1, most),
		.priority = PLAN_UNSET,
		.min = PLAN_UNSET,
		.outcome = chance(d, 90) ? PLAN_SUCCEED : PLAN_CRASH_ONCE,
		.after = between(d, SHORTEST, LONGEST),
		.start = between(d, 0, 3),
		.stop = between(d, 0, 3),
		.cpu = d->p->node_cpu * MILLI * between(d, 1, 3) / 10,
	};
	j.min = chance(d, 60) ? PLAN_UNSET : between(d, 1, j.tasks[0].replicas);
	j.scheduler = chance(d, 30) ? PLAN_KAR_SCHEDULER : PLAN_UNNAMED;
	return j;
}

static void compete(struct draw *d, kar_time at)
{
	enum { APART = 600000 /* ms */ };
	int n = between(d, 3, 8);

	for (int i = 0; i < n; i++) {
		kar_time submitted = at + sim_random_between(&d->r, 0, APART);
		int job = (int)d->p->n_jobs;

		submit(d, gang(d), submitted);
		if (chance(d, 10))
			act(d, submitted + 2 * KAR_MINUTE + a_moment(d), PLAN_SUSPEND, job, 0, 0);
		if (chance(d, 10))
			act(d, submitted + 4 * KAR_MINUTE + a_moment(d), PLAN_RESUME, job, 0, 0);
	}
}

void plan_draw_rights(struct plan *p)
{
	enum { MOST_NODES = 8 };
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "rights") };

	p->default_times = chance(&d, 70);
	if (p->nodes > MOST_NODES || !chance(&d, 50))
		return;
	p->has_rights = true;
	for (int q = 0; q < PLAN_QUEUES; q++)
		p->rights[q] = rights(&d, p->nodes * p->node_cpu);
	p->rights[0].in_team = false;
	p->team_deserves = some(&d, 50, p->nodes * p->node_cpu);
	for (int n = between(&d, 1, 3); n > 0; n--)
		compete(&d, sim_random_between(&d.r, 0, p->length));
	for (int n = chance(&d, 40) ? between(&d, 1, 4) : 0; n > 0; n--)
		act(&d, sim_random_between(&d.r, 0, p->length), PLAN_RIGHTS, 0,
			between(&d, 0, PLAN_QUEUES - 1), between(&d, 0, 1));
}
