/*
 * Queues that change their mind about how many pods of a job may be active at once (since version 8 of the drawing); drawn from a
 * stream of their own.
 */
#include "test/sim/plan_stream.h"

/* More often than not it needs fewer pods than it can use, and they run long enough to be taken away. */
static void make_elastic(struct draw *d, struct plan_job *j)
{
	enum { MINUTES = 10 };

	for (int i = 0; i < j->n_tasks; i++) {
		j->tasks[i].replicas = between(d, 1, 8);
		j->tasks[i].after += between(d, 0, MINUTES * 60);
		if (j->tasks[i].min > j->tasks[i].replicas)
			j->tasks[i].min = j->tasks[i].replicas;
	}
	j->min = between(d, 0, (plan_total(j) + 1) / 2);
	if (j->min_succeeded > plan_total(j) || j->success_first_task)
		j->min_succeeded = PLAN_UNSET;
}

/* Beside other edits of the moment: by a user, or of the PodGroup itself. */
static void disturb(struct draw *d, int job, kar_time at)
{
	static const enum plan_verb verbs[] = { PLAN_SCALE, PLAN_QUORUM, PLAN_DELETE_GROUP, PLAN_KILL_POD,
		PLAN_DELETE_POD, PLAN_EVICT_POD, PLAN_TEMPLATE };
	const struct plan_job *j = &d->p->jobs[job];
	enum plan_verb verb = verbs[between(d, 0, (int)KAR_LEN(verbs) - 1)];

	act(d, at + between(d, -50, 50), verb, job, between(d, 0, j->n_tasks - 1), between(d, 0, 7));
}

static void draw_limits(struct draw *d, int job, kar_time submitted)
{
	int n = between(d, 1, 8);
	kar_time at = submitted;

	for (int i = 0; i < n; i++) {
		at += KAR_SECOND + a_moment(d);
		act(d, at, PLAN_LIMIT, job, 0,
			chance(d, 90) ? between(d, 0, plan_total(&d->p->jobs[job]) + 1) : PLAN_UNSET);
		if (chance(d, 25))
			disturb(d, job, at);
	}
	if (chance(d, 60))
		act(d, at + a_moment(d), PLAN_LIMIT, job, 0, PLAN_UNSET);
}

void plan_draw_limits(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "limits") };
	size_t n = p->n_actions;

	for (size_t i = 0; i < n; i++) {
		const struct plan_action submit = p->actions[i];

		if (submit.verb != PLAN_SUBMIT || !chance(&d, 30))
			continue;
		if (chance(&d, 70))
			make_elastic(&d, &p->jobs[submit.job]);
		draw_limits(&d, submit.job, submit.at);
	}
}
