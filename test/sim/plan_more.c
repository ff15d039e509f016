/* What was added to the drawing of plans when seeds were on the regression list already. It draws from a stream of its own. */
#include <stdlib.h>

#include "test/sim/plan_stream.h"

/* From 1 ms to 16 s; each order of magnitude is as likely as the others. */
static kar_time an_instant(struct draw *m)
{
	enum { MAGNITUDES = 14 };

	return sim_random_between(&m->r, 1, (kar_time)1 << between(m, 0, MAGNITUDES));
}

static kar_time a_while(struct draw *m)
{
	return sim_random_between(&m->r, KAR_SECOND, 20 * KAR_MINUTE);
}

/* --- what meets a job while it starts -------------------------------------------------------------------- */

/* Somebody else's pods take the names just before the job's own would, so that not even the cache shows them yet. */
static void squat(struct draw *m, int job, kar_time at)
{
	enum { START = 100 }; /* ms in which the first pods are created */
	int n = m->p->jobs[job].tasks[0].replicas;

	for (int i = 0; i < n; i++) {
		kar_time then = at + between(m, -START / 4, START);

		add(m, (struct plan_action){ then > 0 ? then : 0, PLAN_BLOCK_POD, job, 0, i, 0 });
		add(m, (struct plan_action){ then + a_while(m), PLAN_UNBLOCK_POD, job, 0, i, 0 });
	}
}

/* The same of one pod, when its job has begun to create them. */
static void crowd(struct draw *m, int job, kar_time at)
{
	int n = m->p->jobs[job].tasks[0].replicas, index = between(m, 1, n > 2 ? n / 2 : 1);

	add(m, (struct plan_action){ at, PLAN_CROWD_POD, job, 0, index, 0 });
	add(m, (struct plan_action){ at + a_while(m), PLAN_UNBLOCK_POD, job, 0, index, 0 });
}

static void steal(struct draw *m, int job)
{
	kar_time at = sim_random_between(&m->r, 0, m->p->length);
	int task = between(m, 0, m->p->jobs[job].n_tasks - 1), n = m->p->jobs[job].tasks[task].replicas;
	int index = between(m, 0, n > 0 ? n - 1 : 0);

	add(m, (struct plan_action){ at, PLAN_STEAL_POD, job, task, index, 0 });
	add(m, (struct plan_action){ at + a_while(m), PLAN_UNBLOCK_POD, job, task, index, 0 });
}

/* The job is edited at @at, when its first pods are under way, or wait for their turn. */
static void edit_early(struct draw *m, int job, kar_time at)
{
	static const enum plan_verb verbs[] = { PLAN_SCALE, PLAN_TEMPLATE, PLAN_SUSPEND, PLAN_DELETE };
	enum { SCALE_MAX = 7 };
	enum plan_verb verb = verbs[between(m, 0, (int)KAR_LEN(verbs) - 1)];
	int task = between(m, 0, m->p->jobs[job].n_tasks - 1);

	add(m,
		(struct plan_action){ at, verb, job, task, verb == PLAN_DELETE ? 0 : between(m, 0, SCALE_MAX),
			0 });
	if (verb == PLAN_SUSPEND)
		add(m, (struct plan_action){ at + an_instant(m), PLAN_RESUME, job, 0, 0, 0 });
	if (verb == PLAN_DELETE)
		add(m, (struct plan_action){ at + an_instant(m), PLAN_SUBMIT, job, 0, 0, 0 });
}

static void edit_children(struct draw *m, int job)
{
	enum plan_verb verb = chance(m, 50) ? PLAN_EDIT_GROUP : PLAN_EDIT_SPEC;

	add(m,
		(struct plan_action){ sim_random_between(&m->r, 0, m->p->length), verb, job, 0,
			between(m, 0, 8), 0 });
}

/* --- many jobs at once ----------------------------------------------------------------------------------- */

/* One that needs few pods and can use many. */
static struct plan_job elastic_job(struct draw *m, int ns)
{
	struct plan_job j = new_job(m, ns);

	j.min = between(m, 1, 2);
	j.tasks[0] = (struct plan_task){
		.replicas = between(m, 6, 12),
		.priority = PLAN_UNSET,
		.min = PLAN_UNSET,
		.outcome = chance(m, 70) ? PLAN_SUCCEED : PLAN_RUN,
		.after = between(m, 1, 600),
		.stop = between(m, 0, 3),
		.cpu = 50,
	};
	return j;
}

/* All submit within a moment, and the manager may have few writes in flight: now it matters whose pods go first. */
static void rush(struct draw *m)
{
	enum { TOGETHER = 80, QUEUED = 300 }; /* ms; about as long as the last pods wait */
	kar_time at = sim_random_between(&m->r, 0, m->p->length);
	int ns = between(m, 0, PLAN_NAMESPACES - 1), n = between(m, 3, 7);
	struct plan *p = m->p;

	if (chance(m, 70))
		p->max_in_flight = between(m, 1, 2);
	if (chance(m, 25)) {
		add(m, (struct plan_action){ at, PLAN_QUOTA, 0, ns, between(m, 4, 16), 0 });
		add(m, (struct plan_action){ at + a_while(m), PLAN_QUOTA, 0, ns, PLAN_UNSET, 0 });
	}
	for (int i = 0; i < n; i++) {
		kar_time then = at + between(m, 0, TOGETHER);
		int job = (int)p->n_jobs;

		submit(m, elastic_job(m, ns), then);
		if (chance(m, 40))
			edit_early(m, job, then + between(m, 1, QUEUED));
		if (chance(m, 10))
			squat(m, job, then);
		else if (chance(m, 15))
			crowd(m, job, then);
	}
}

void plan_draw_more(struct plan *p)
{
	struct draw m = { .p = p, .r = sim_random_of(p->seed, "more of the plan") };
	size_t n = p->n_actions;

	for (size_t i = 0; i < n; i++) {
		const struct plan_action submit = p->actions[i];

		if (submit.verb != PLAN_SUBMIT)
			continue;
		if (chance(&m, 4))
			squat(&m, submit.job, submit.at);
		if (chance(&m, 10))
			steal(&m, submit.job);
		if (chance(&m, 8))
			edit_early(&m, submit.job, submit.at + an_instant(&m));
		if (chance(&m, 8))
			edit_children(&m, submit.job);
	}
	if (chance(&m, 25))
		rush(&m);
}
