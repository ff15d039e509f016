/*
 * plan_stream - what a later version of the drawing draws with: numbers of its own, so that those of the versions before stay as
 * they were, and actions that it adds to their plan.
 */
#ifndef TEST_SIM_PLAN_STREAM_H
#define TEST_SIM_PLAN_STREAM_H

#include "common/base/mem.h"
#include "test/sim/plan.h"

struct draw {
	struct plan *p;
	struct sim_random r;
};

static inline int between(struct draw *d, int low, int high)
{
	return (int)sim_random_between(&d->r, low, high);
}

/* @percent of a hundred. */
static inline bool chance(struct draw *d, int percent)
{
	return between(d, 1, 100) <= percent;
}

static inline void add(struct draw *d, struct plan_action a)
{
	struct plan *p = d->p;

	p->actions = kar_xrealloc(p->actions, p->n_actions + 1, sizeof(*p->actions));
	p->actions[p->n_actions++] = a;
}

static inline void act(struct draw *d, kar_time at, enum plan_verb verb, int job, int task, int value)
{
	add(d, (struct plan_action){ .at = at, .verb = verb, .job = job, .task = task, .value = value });
}

/* From 1 ms to 2 min; each order of magnitude is as likely as the others. */
static inline kar_time a_moment(struct draw *d)
{
	enum { MAGNITUDES = 17 };

	return sim_random_between(&d->r, 1, (kar_time)1 << between(d, 0, MAGNITUDES));
}

/* A job of one task, in a name of its own, of which nothing else is said yet. */
static inline struct plan_job new_job(struct draw *d, int ns)
{
	struct plan_job j = {
		.ns = ns,
		.class = chance(d, 50) ? between(d, 0, PLAN_CLASSES - 1) : PLAN_UNSET,
		.n_tasks = 1,
		.min = PLAN_UNSET,
		.backoff = PLAN_UNSET,
		.deadline = PLAN_UNSET,
		.ttl = PLAN_UNSET,
		.min_succeeded = PLAN_UNSET,
		.impossible = PLAN_UNSET,
	};

	for (size_t i = 0; i < d->p->n_jobs; i++)
		j.number = d->p->jobs[i].number >= j.number ? d->p->jobs[i].number + 1 : j.number;
	return j;
}

/* A job more, which is submitted at @at. */
static inline void submit(struct draw *d, struct plan_job j, kar_time at)
{
	struct plan *p = d->p;

	p->jobs = kar_xrealloc(p->jobs, p->n_jobs + 1, sizeof(*p->jobs));
	p->jobs[p->n_jobs] = j;
	act(d, at, PLAN_SUBMIT, (int)p->n_jobs++, 0, 0);
}

/* plan_nodes.c: gangs that together find too few nodes, from @at on. */
void plan_collide(struct draw *d, kar_time at);

#endif
