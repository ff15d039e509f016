/*
 * Queues whose capability is too small for what is to run in them: minimums are raised, templates ask for more, pods are resized, and other
 * controllers make more members than their groups ask for (since version 18 of the drawing). A plan of nothing else, and without pods beyond
 * minimums of jobs, which may still stop when others start in their place: so no queue may ever use more than its capability. Drawn from a
 * stream of its own.
 */
#include "test/sim/plan_stream.h"

enum { MILLI = 1000, LONGEST = 1800 /* s */ };

static kar_time later(struct draw *d, kar_time at)
{
	return at +
		(chance(d, 50) ? a_moment(d) : sim_random_between(&d->r, KAR_SECOND, LONGEST * KAR_SECOND));
}

static struct plan_task task(struct draw *d, int replicas)
{
	return (struct plan_task){
		.replicas = replicas,
		.priority = PLAN_UNSET,
		.min = PLAN_UNSET,
		.outcome = chance(d, 70) ? PLAN_RUN : PLAN_SUCCEED,
		.after = between(d, LONGEST / 30, LONGEST),
		.start = between(d, 0, 3),
		.stop = between(d, 0, 3),
		.cpu = MILLI * between(d, 1, d->p->node_cpu / 4),
	};
}

/* --- jobs ---------------------------------------------------------------------------------------------- */

/*
 * One edit. *@asked, *@suspended: what there was of the job before. Of one whose pods are stopped by a suspension of a moment nothing runs
 * on, so that its edited templates are not judged (a limit of decision 088): no job has both.
 */
static void edit(struct draw *d, int job, kar_time at, bool *asked, bool *suspended)
{
	const struct plan_task *t = &d->p->jobs[job].tasks[0];
	int more = t->replicas + between(d, 1, 6), cpu;
	kar_time moment;

	switch (between(d, 0, 4)) {
	case 0: /* the minimum is all of it */
	case 1: /* of one whose pods have all succeeded the rest comes unasked (a limit of decision 088) */
		if (t->outcome == PLAN_RUN)
			act(d, at, PLAN_SCALE, job, 0, more);
		break;
	case 2: /* of one whose pods have all succeeded nothing runs on, and nothing is asked (decision 088) */
		if (t->outcome != PLAN_RUN)
			break;
		cpu = between(d, t->cpu / 2, 3 * t->cpu);
		if (!*suspended)
			act(d, at, PLAN_NEEDS, job, 0, cpu);
		*asked |= !*suspended;
		break;
	case 3:
		act(d, at, PLAN_RESIZE_POD, job, 0, between(d, 0, t->replicas - 1));
		break;
	default:
		moment = a_moment(d);
		if (*asked)
			break;
		act(d, at, PLAN_SUSPEND, job, 0, 0);
		act(d, at + moment, PLAN_RESUME, job, 0, 0);
		*suspended = true;
		break;
	}
}

static void draw_job(struct draw *d, int queue)
{
	struct plan_job j = new_job(d, between(d, 0, PLAN_NAMESPACES - 1));
	kar_time at = sim_random_between(&d->r, 0, d->p->length / 2);
	int job = (int)d->p->n_jobs;
	bool asked = false, suspended = false;

	j.queue = queue;
	j.tasks[0] = task(d, between(d, 1, 6));
	j.scheduler = chance(d, 30) ? PLAN_KAR_SCHEDULER : PLAN_UNNAMED;
	submit(d, j, at);
	for (int n = between(d, 0, 3); n > 0; n--)
		edit(d, job, at = later(d, at), &asked, &suspended);
	if (chance(d, 40))
		act(d, later(d, at), PLAN_DELETE, job, 0, 0);
}

/* --- other controllers ---------------------------------------------------------------------------------- */

/* More and more pods, of which every other one asks for twice as much. */
static void draw_gang(struct draw *d, int queue)
{
	struct plan_gang g = { .min = between(d, 1, 2), .queue = queue, .timeout = PLAN_UNSET };
	int number = (int)d->p->n_others, pods;
	kar_time at = sim_random_between(&d->r, 0, d->p->length / 2);

	pods = g.min;
	g.pods = g.min + between(d, 1, 4);
	g.task = task(d, 1);
	g.grows = g.min == 1; /* who replaces one of the minimum may be larger (decision 087) */
	d->p->others = kar_xrealloc(d->p->others, d->p->n_others + 1, sizeof(*d->p->others));
	d->p->others[d->p->n_others++] = g;
	act(d, at, PLAN_GANG_GROUP, 0, 0, number);
	for (; pods < g.pods; pods += between(d, 1, g.pods - pods)) {
		act(d, at, PLAN_GANG_PODS, 0, pods, number);
		at = later(d, at);
	}
	act(d, at, PLAN_GANG_PODS, 0, g.pods, number);
	for (int n = between(d, 0, 3); n > 0; n--)
		act(d, at = later(d, at), PLAN_GANG_LOSE, 0, between(d, 0, g.pods), number);
	if (chance(d, 40))
		act(d, later(d, at), PLAN_GANG_END, 0, between(d, 0, 1), number);
}

/* --- all ------------------------------------------------------------------------------------------------ */

void plan_draw_bounds(struct plan *p)
{
	enum { MOST_NODES = 8, LEAST_CPU = 8 };
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "bounds") };

	if (p->nodes > MOST_NODES || p->shares || !chance(&d, 25))
		return;
	plan_forget(p);
	p->bounds = true;
	p->node_cpu = p->node_cpu < LEAST_CPU ? LEAST_CPU : p->node_cpu;
	for (int q = 0; q < PLAN_QUEUES; q++) {
		p->rights[q].capability = between(&d, 2, p->nodes * p->node_cpu / PLAN_QUEUES);
		p->rights[q].in_team = q && chance(&d, 40);
		p->strict[q] = chance(&d, 30);
		p->max_jobs[q] = chance(&d, 20) ? between(&d, 1, 4) : PLAN_UNSET;
		for (int n = between(&d, 0, 3); n > 0; n--)
			draw_job(&d, q);
		for (int n = between(&d, 0, 1); n > 0; n--)
			draw_gang(&d, q);
	}
	if (chance(&d, 50))
		p->team_capability = between(&d, 2, p->nodes * p->node_cpu);
}
