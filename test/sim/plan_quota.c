/*
 * Gangs that collide under a quota which is too small for all of them (since version 6 of the drawing); drawn from a stream of
 * their own.
 */
#include "test/sim/plan_stream.h"

/* Mostly one that fits into @room pods alone, but not beside another one. */
static struct plan_job gang(struct draw *d, int ns, int room)
{
	enum { BEYOND = 2, MINUTES = 2 };
	struct plan_job j = new_job(d, ns);
	int most;

	j.n_tasks = chance(d, 75) ? 1 : 2;
	most = chance(d, 85) ? room : room + BEYOND;
	for (int i = 0; i < j.n_tasks; i++)
		j.tasks[i] = (struct plan_task){
			.replicas = between(d, 1, most / j.n_tasks),
			.priority = PLAN_UNSET,
			.min = PLAN_UNSET,
			.outcome = chance(d, 90) ? PLAN_SUCCEED : PLAN_CRASH_ONCE,
			.after = between(d, 1, MINUTES * 60),
			.start = between(d, 0, 3),
			.stop = between(d, 0, 3),
			.exit_code = 1,
			.cpu = 50,
		};
	j.min = chance(d, 60) ? plan_total(&j) : between(d, 1, plan_total(&j));
	return j;
}

static void collide(struct draw *d)
{
	enum { TOGETHER = 80, APART = 60000, CHANGES = 3 }; /* ms; times that the quota is edited */
	kar_time at = sim_random_between(&d->r, 0, d->p->length);
	int ns = between(d, 0, PLAN_NAMESPACES - 1), n = between(d, 2, 6), room = between(d, 3, 9);
	int changes = between(d, 0, CHANGES);
	kar_time spread = chance(d, 60) ? TOGETHER : APART;

	/* Perhaps when the first have their pods already, or some of them. */
	act(d, chance(d, 80) ? at : at + between(d, 0, TOGETHER), PLAN_QUOTA, 0, ns, room);
	for (int i = 0; i < n; i++)
		submit(d, gang(d, ns, room), at + sim_random_between(&d->r, 0, spread));
	for (int i = 0; i < changes; i++)
		act(d, at + sim_random_between(&d->r, 1, 10 * KAR_MINUTE), PLAN_QUOTA, 0, ns,
			between(d, 0, 2 * room));
	if (chance(d, 50))
		act(d, at + sim_random_between(&d->r, KAR_MINUTE, 30 * KAR_MINUTE), PLAN_QUOTA, 0, ns,
			PLAN_UNSET);
}

/* They have their pods and take long to start; then the quota becomes too small for all, and each loses one. */
static void squeeze(struct draw *d)
{
	enum { GANGS = 2, STARTS = 120, RUNS = 1200 }; /* s */
	kar_time at = sim_random_between(&d->r, 0, d->p->length);
	int ns = between(d, 0, PLAN_NAMESPACES - 1), room = between(d, 3, 6);

	for (int i = 0; i < GANGS; i++) {
		struct plan_job j = gang(d, ns, room);

		j.n_tasks = 1;
		j.tasks[0].replicas = j.min = room;
		j.tasks[0].start = STARTS;
		j.tasks[0].after = RUNS;
		submit(d, j, at);
		act(d, at + sim_random_between(&d->r, 11, 30) * KAR_SECOND, PLAN_KILL_POD,
			(int)d->p->n_jobs - 1, 0, between(d, 0, room - 1));
	}
	act(d, at + 10 * KAR_SECOND, PLAN_QUOTA, 0, ns, between(d, room, 2 * room - 2));
	if (chance(d, 30))
		act(d, at + sim_random_between(&d->r, KAR_MINUTE, 30 * KAR_MINUTE), PLAN_QUOTA, 0, ns,
			PLAN_UNSET);
}

void plan_draw_quotas(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "quotas") };

	if (chance(&d, 25))
		collide(&d);
	if (chance(&d, 8))
		squeeze(&d);
}
