#include "sim/pacemaker.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/loop/clock.h"

enum {
	WORK_MAX = 20,      /* ms of real time for one round of alarms: requests shall not wait longer */
	BETWEEN_LOOKS = 16, /* alarms between two looks at the clock */
};

struct sim_pacemaker {
	struct kar_loop *loop;
	struct sim_timeline *timeline;
	struct kar_timer *timer;
	kar_time speed;
	kar_time real, virtual; /* a moment on both clocks from which on they are compared */
};

/* Where the timeline should be. */
static kar_time target(const struct sim_pacemaker *p)
{
	return p->virtual + (kar_clock_mono() - p->real) * p->speed;
}

static void on_timer(void *arg)
{
	struct sim_pacemaker *p = arg;

	sim_pacemaker_catch_up(p);
	sim_pacemaker_rest(p);
}

struct sim_pacemaker *sim_pacemaker_new(struct kar_loop *l, struct sim_timeline *t, unsigned speed)
{
	struct sim_pacemaker *p = kar_xcalloc(1, sizeof(*p));

	p->loop = l;
	p->timeline = t;
	p->timer = kar_timer_new(l, on_timer, p);
	p->speed = speed;
	p->real = kar_clock_mono();
	p->virtual = sim_timeline_mono(t);
	return p;
}

void sim_pacemaker_free(struct sim_pacemaker *p)
{
	if (!p)
		return;
	kar_timer_free(p->timer);
	free(p);
}

/* The next alarm, if it is due, at the hour that it is now. */
static bool step(struct sim_timeline *t, kar_time until)
{
	kar_time next = sim_timeline_next(t);

	sim_timeline_set_wall(t, next < until ? next : until, kar_clock_wall());
	return sim_timeline_step(t, until);
}

void sim_pacemaker_catch_up(struct sim_pacemaker *p)
{
	kar_time begin = kar_clock_mono(), until = target(p);
	unsigned steps = 0;

	while (step(p->timeline, until)) {
		if (++steps % BETWEEN_LOOKS == 0 && kar_clock_mono() - begin > WORK_MAX)
			break;
	}
	p->real = begin; /* too slow: the cluster goes on from here, instead of hurrying after its clock */
	p->virtual = sim_timeline_mono(p->timeline);
}

void sim_pacemaker_rest(struct sim_pacemaker *p)
{
	kar_time next = sim_timeline_next(p->timeline), now = target(p);

	if (next == KAR_NEVER)
		kar_timer_stop(p->timer);
	else
		kar_timer_start(p->timer, next > now ? (next - now + p->speed - 1) / p->speed : 0);
}
