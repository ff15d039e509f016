/*
 * Edits and accidents at the moments in which they hurt most (since version 7 of the drawing); drawn from a stream of their own.
 */
#include "test/sim/plan_stream.h"

static kar_time a_while(struct draw *d)
{
	return sim_random_between(&d->r, KAR_SECOND, 20 * KAR_MINUTE);
}

static void act_on_pod(struct draw *d, kar_time at, enum plan_verb verb, int job)
{
	const struct plan_job *j = &d->p->jobs[job];
	int task = between(d, 0, j->n_tasks - 1), n = j->tasks[task].replicas;

	act(d, at, verb, job, task, between(d, 0, n > 0 ? n - 1 : 0));
}

/* When the pods of a task end, if nothing keeps them. */
static kar_time end_of(const struct plan_task *t, kar_time submitted)
{
	return submitted + (kar_time)(t->start + t->after) * KAR_SECOND;
}

/* --- what is drawn --------------------------------------------------------------------------------------- */

/* In a later incarnation than the first, labels are lowered. */
static void draw_lowered(struct draw *d, int job, kar_time submitted)
{
	kar_time at = submitted + a_while(d);
	int n = between(d, 1, 3);

	if (chance(d, 50)) {
		act(d, at, PLAN_SUSPEND, job, 0, 0);
		act(d, at + a_moment(d), PLAN_RESUME, job, 0, 0);
	} else {
		act_on_pod(d, at, PLAN_KILL_POD, job);
	}
	for (int i = 0; i < n; i++)
		act_on_pod(d, at + KAR_MINUTE + a_moment(d), PLAN_LOWER_POD, job);
}

/* While the job is suspended, its children are edited; sometimes for good. */
static void draw_suspended(struct draw *d, int job, kar_time submitted)
{
	static const enum plan_verb verbs[] = { PLAN_DELETE_GROUP, PLAN_EDIT_GROUP, PLAN_DELETE_SPEC,
		PLAN_EDIT_SPEC };
	kar_time at = submitted + a_while(d);
	int n = between(d, 1, 3);

	act(d, at, PLAN_SUSPEND, job, 0, 0);
	for (int i = 0; i < n; i++)
		act(d, at + a_moment(d), verbs[between(d, 0, (int)KAR_LEN(verbs) - 1)], job, 0,
			between(d, 0, 8));
	if (chance(d, 60))
		act(d, at + KAR_MINUTE + a_while(d), PLAN_RESUME, job, 0, 0);
}

/* Just when one of its pods succeeds. */
static void draw_late_suspension(struct draw *d, int job, kar_time submitted)
{
	kar_time at = submitted + 5 * KAR_SECOND + a_moment(d);

	act_on_pod(d, at - 1, PLAN_HURRY_POD, job);
	act(d, at, PLAN_SUSPEND, job, 0, 0);
	if (chance(d, 80))
		act(d, at + a_moment(d), PLAN_RESUME, job, 0, 0);
}

/* Around the time at which pods fail, and wait for their back-off, they are deleted. */
static void draw_impatience(struct draw *d, int job, int task, kar_time submitted)
{
	enum { DELETIONS = 8 };
	const struct plan_task *t = &d->p->jobs[job].tasks[task];

	for (int i = 0; i < DELETIONS; i++)
		act(d, end_of(t, submitted) + between(d, 1, 8) * 10 * KAR_SECOND + a_moment(d),
			chance(d, 50) ? PLAN_KILL_POD : PLAN_DELETE_POD, job, task,
			between(d, 0, t->replicas > 0 ? t->replicas - 1 : 0));
}

/* A template becomes impossible while pods fail. */
static void draw_impossible(struct draw *d, int job, int task, kar_time submitted)
{
	kar_time at = end_of(&d->p->jobs[job].tasks[task], submitted) - a_moment(d);

	at = at > submitted ? at : submitted + 1;
	act(d, at, PLAN_IMPOSSIBLE, job, between(d, 0, d->p->jobs[job].n_tasks - 1), 0);
	if (chance(d, 50)) {
		for (int i = 0; i < d->p->jobs[job].n_tasks; i++)
			act(d, at + KAR_MINUTE + a_while(d), PLAN_MEND, job, i, 0);
	}
}

static void draw_order_edits(struct draw *d, int job, kar_time submitted)
{
	int n = between(d, 1, 4);

	for (int i = 0; i < n; i++)
		act(d, submitted + (chance(d, 50) ? a_moment(d) : a_while(d)), PLAN_ORDER, job,
			between(d, 0, d->p->jobs[job].n_tasks - 1), between(d, 0, PLAN_ORDER_EDITS - 1));
}

/* Labels go at the same moment as the job. */
static void draw_stripped(struct draw *d, int job, kar_time submitted)
{
	kar_time at = submitted + a_while(d);

	act(d, at, PLAN_DELETE, job, 0, 0);
	for (int i = 0; i < 3; i++)
		act_on_pod(d, at - between(d, 0, 2), PLAN_STRIP_POD, job);
}

/* Host names are switched on while the gang is at work; sometimes somebody has the name of its Service. */
static void draw_host_names(struct draw *d, int job, kar_time submitted)
{
	kar_time at = submitted + 2 * KAR_SECOND + a_moment(d);

	if (chance(d, 50)) {
		act(d, at - KAR_SECOND, PLAN_TAKE_SERVICE, job, 0, 0);
		act(d, at + a_while(d), PLAN_FREE_SERVICE, job, 0, 0);
	}
	act(d, at, PLAN_NETWORK, job, 0, 1);
}

static int failing_task(const struct plan_job *j)
{
	for (int i = 0; i < j->n_tasks; i++) {
		if (j->tasks[i].outcome == PLAN_FAIL || j->tasks[i].outcome == PLAN_OOM)
			return i;
	}
	return PLAN_UNSET;
}

void plan_draw_life(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "life") };
	size_t n = p->n_actions;

	p->gangs = chance(&d, 25);
	for (size_t i = 0; i < n; i++) {
		const struct plan_action submit = p->actions[i];
		const struct plan_job *j = &p->jobs[submit.job];
		int failing = failing_task(j);

		if (submit.verb != PLAN_SUBMIT)
			continue;
		if (chance(&d, 8))
			draw_lowered(&d, submit.job, submit.at);
		if (chance(&d, 6))
			draw_suspended(&d, submit.job, submit.at);
		if (chance(&d, 6))
			draw_late_suspension(&d, submit.job, submit.at);
		if (chance(&d, 5))
			draw_stripped(&d, submit.job, submit.at);
		if (!j->network && chance(&d, 5))
			draw_host_names(&d, submit.job, submit.at);
		if (failing != PLAN_UNSET && chance(&d, 25))
			draw_impatience(&d, submit.job, failing, submit.at);
		if (failing != PLAN_UNSET && chance(&d, 20))
			draw_impossible(&d, submit.job, failing, submit.at);
		if (plan_has_order(j) && chance(&d, 25))
			draw_order_edits(&d, submit.job, submit.at);
	}
}
