/*
 * PodGroups that people make, in the name of a job or in none, and groups whose queue is changed (since version 11 of the drawing);
 * drawn from a stream of their own.
 */
#include "test/sim/plan_stream.h"

static int a_queue(struct draw *d)
{
	return between(d, PLAN_UNSET, PLAN_QUEUES - 1);
}

/* What is set can only be taken away, so each move is two edits. */
static void draw_moves(struct draw *d, int job, enum plan_group group, kar_time at)
{
	int n = between(d, 1, 3);

	for (int i = 0; i < n; i++) {
		at += a_moment(d);
		act(d, at, PLAN_MOVE_GROUP, job, (int)group, PLAN_UNSET);
		at += a_moment(d);
		act(d, at, PLAN_MOVE_GROUP, job, (int)group, between(d, 0, PLAN_QUEUES - 1));
	}
}

/* It is there when the job comes, perhaps with the admission of another queue. */
static void draw_prepared(struct draw *d, int job, kar_time submitted)
{
	kar_time at = submitted - a_moment(d);

	act(d, at > 0 ? at : 0, PLAN_MAKE_GROUP, job, PLAN_GROUP_OF_JOB, a_queue(d));
}

void plan_draw_queues(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "queues") };
	size_t n = p->n_actions;

	for (size_t i = 0; i < n; i++) {
		const struct plan_action submit = p->actions[i];

		if (submit.verb != PLAN_SUBMIT)
			continue;
		if (chance(&d, 15))
			draw_prepared(&d, submit.job, submit.at);
		if (chance(&d, 15))
			draw_moves(&d, submit.job, PLAN_GROUP_OF_JOB, submit.at);
		if (!chance(&d, 15))
			continue;
		act(&d, submit.at, PLAN_MAKE_GROUP, submit.job, PLAN_GROUP_OF_NOBODY, a_queue(&d));
		if (chance(&d, 70))
			draw_moves(&d, submit.job, PLAN_GROUP_OF_NOBODY, submit.at);
	}
}

const char *plan_group_name(const struct plan_job *j, enum plan_group g, char out[PLAN_NAME])
{
	char job[PLAN_NAME];

	snprintf(out, PLAN_NAME, "%.40s%s", plan_job_name(j, job), g == PLAN_GROUP_OF_JOB ? "" : "-group");
	return out;
}
