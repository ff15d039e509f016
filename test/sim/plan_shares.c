/*
 * Jobs that never end and take what their queues give them (since version 17 of the drawing): a plan of nothing else, so that at its end
 * each queue must have what it is entitled to. Drawn from a stream of its own.
 */
#include "test/sim/plan_stream.h"

enum { MILLI = 1000, EACH = 2 /* jobs of a queue, at most */, LEAST = 8 /* CPUs: each minimum fits */ };

/* Of 1 CPU per pod, so that none is left over on a node; it needs one pod, and takes up to twice the cluster. */
static struct plan_job elastic(struct draw *d, int queue)
{
	struct plan_job j = new_job(d, between(d, 0, PLAN_NAMESPACES - 1));

	j.queue = queue;
	j.min = 1;
	j.tasks[0] = (struct plan_task){
		.replicas = between(d, 1, 2 * d->p->nodes * d->p->node_cpu),
		.priority = PLAN_UNSET,
		.min = PLAN_UNSET,
		.outcome = PLAN_RUN,
		.start = between(d, 0, 3),
		.stop = between(d, 0, 3),
		.cpu = MILLI,
	};
	j.scheduler = chance(d, 30) ? PLAN_KAR_SCHEDULER : PLAN_UNNAMED;
	return j;
}

static void draw_jobs(struct draw *d, int queue)
{
	for (int n = between(d, 0, EACH); n > 0; n--) {
		int job = (int)d->p->n_jobs;
		kar_time at = sim_random_between(&d->r, 0, d->p->length);

		submit(d, elastic(d, queue), at);
		if (chance(d, 30))
			act(d, at + a_moment(d), PLAN_SCALE, job, 0,
				between(d, 1, d->p->nodes * d->p->node_cpu));
		if (chance(d, 15))
			act(d, sim_random_between(&d->r, at, d->p->length), PLAN_DELETE, job, 0, 0);
	}
}

static void draw_nodes(struct draw *d)
{
	for (int n = between(d, 0, 4); n > 0; n--) {
		kar_time at = sim_random_between(&d->r, 0, d->p->length);
		int node = between(d, 0, d->p->nodes - 1);
		bool gone = chance(d, 50);

		act(d, at, gone ? PLAN_NODE_GONE : PLAN_DRAIN, 0, 0, node);
		act(d, at + 5 * KAR_MINUTE + a_moment(d), gone ? PLAN_NODE_ADDED : PLAN_UNCORDON, 0, 0, node);
	}
}

void plan_forget(struct plan *p)
{
	static const struct plan_rights none = { .weight = 1,
		.guarantee = PLAN_UNSET,
		.deserved = PLAN_UNSET,
		.capability = PLAN_UNSET };

	p->n_jobs = p->n_actions = p->n_others = 0;
	p->other_user = p->gangs = p->zones = false;
	p->has_rights = true;
	p->team_deserves = PLAN_UNSET;
	for (int q = 0; q < PLAN_QUEUES; q++) {
		p->max_jobs[q] = PLAN_UNSET;
		p->strict[q] = false;
		p->rights[q] = none;
	}
}

void plan_draw_shares(struct plan *p)
{
	enum { MOST_NODES = 6, MOST_CPU = 16 };
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "shares") };

	if (p->nodes > MOST_NODES || !chance(&d, 20))
		return;
	plan_forget(p);
	p->shares = true;
	p->node_cpu = p->node_cpu > MOST_CPU ? MOST_CPU : p->node_cpu;
	while (p->nodes * p->node_cpu < LEAST)
		p->node_cpu *= 2;
	for (int q = 0; q < PLAN_QUEUES; q++) {
		p->rights[q].weight = between(&d, 1, 5);
		draw_jobs(&d, q);
	}
	draw_nodes(&d);
	for (int n = between(&d, 0, 3); n > 0; n--)
		act(&d, sim_random_between(&d.r, 0, p->length), PLAN_RIGHTS, 0,
			between(&d, 0, PLAN_QUEUES - 1), between(&d, 0, 1));
}
