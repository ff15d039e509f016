/*
 * Gangs on small nodes, which hold few of their pods, and what becomes of the room that they were promised: others take it, nodes are
 * cordoned, drained or lost (since version 13 of the drawing); drawn from a stream of its own.
 */
#include "test/sim/plan_stream.h"

enum { MILLI = 1000 };

/* Of one task or two. The largest pods take a node for themselves, or share it with small ones. */
static struct plan_job gang(struct draw *d)
{
	enum { SHORTEST = 20, LONGEST = 600 /* s */ };
	struct plan_job j = new_job(d, between(d, 0, PLAN_NAMESPACES - 1));
	int total = 0;

	j.n_tasks = chance(d, 30) ? 2 : 1;
	for (int t = 0; t < j.n_tasks; t++) {
		j.tasks[t] = (struct plan_task){
			.replicas = between(d, 1, t ? 2 : d->p->nodes),
			.priority = PLAN_UNSET,
			.min = PLAN_UNSET,
			.outcome = chance(d, 90) ? PLAN_SUCCEED : PLAN_CRASH_ONCE,
			.after = between(d, SHORTEST, LONGEST),
			.start = between(d, 0, 3),
			.stop = between(d, 0, 3),
			.cpu = d->p->node_cpu * MILLI * between(d, 1, t ? 2 : 7) / 10,
		};
		total += j.tasks[t].replicas;
	}
	j.min = chance(d, 60) ? total : between(d, 1, total);
	return j;
}

/* At about the moment in which the gang is placed or its pods start. */
static void disturb(struct draw *d, int job, kar_time at)
{
	static const struct {
		enum plan_verb verb, back;
	} troubles[] = { { PLAN_CORDON, PLAN_UNCORDON }, { PLAN_DRAIN, PLAN_UNCORDON },
		{ PLAN_NODE_LOST, PLAN_NODE_BACK }, { PLAN_NODE_GONE, PLAN_NODE_ADDED } };
	enum { LATER = 600 /* s */ };
	int i = between(d, 0, (int)KAR_LEN(troubles) - 1), node = between(d, 0, d->p->nodes - 1);

	if (chance(d, 60)) {
		act(d, at > 0 ? at - 1 : 0, PLAN_STEAL_ROOM, job, 0, between(d, 1, LATER));
		return;
	}
	at += a_moment(d) / 16;
	act(d, at, troubles[i].verb, 0, between(d, 0, 1), node);
	act(d, at + sim_random_between(&d->r, KAR_SECOND, LATER * KAR_SECOND), troubles[i].back, 0, 0, node);
}

static void compete(struct draw *d, kar_time at)
{
	enum { APART = 30000 /* ms */ };
	int n = between(d, 2, 6);

	for (int i = 0; i < n; i++) {
		kar_time submitted = at + sim_random_between(&d->r, 0, APART);
		int job = (int)d->p->n_jobs;

		submit(d, gang(d), submitted);
		if (chance(d, 60))
			disturb(d, job, submitted);
		if (chance(d, 10))
			act(d, submitted + a_moment(d), PLAN_SUSPEND, job, 0, 0);
		if (chance(d, 10))
			act(d, submitted + 2 * KAR_MINUTE, PLAN_RESUME, job, 0, 0);
	}
}

void plan_draw_room(struct plan *p)
{
	enum { MOST_NODES = 8, LEAST_CPU = 4 };
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "room") };

	if (p->nodes > MOST_NODES || !chance(&d, 60))
		return;
	p->node_cpu = p->node_cpu < LEAST_CPU ? LEAST_CPU : p->node_cpu;
	for (int n = between(&d, 1, 3); n > 0; n--)
		compete(&d, sim_random_between(&d.r, 0, p->length));
}
