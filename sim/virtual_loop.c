#include "sim/virtual_loop.h"

#include <assert.h>
#include <stdlib.h>

#include <bsd/sys/queue.h>

#include "common/base/mem.h"
#include "common/loop/clock.h"
#include "common/loop/loop_impl.h"

enum { NS_PER_MS = 1000000 };

TAILQ_HEAD(late_timers, virtual_timer);

struct virtual_loop {
	struct kar_loop base; /* first */
	struct sim_timeline *timeline;
	kar_time wall_error; /* of this process's wall clock */
	bool frozen, stopped;
	struct late_timers late; /* fell due while frozen, in order */
	size_t timers;
	/* sim_loop_charge() */
	int64_t (*clock)(void); /* NULL: callbacks take no time */
	int64_t owed;           /* ns that have not passed yet, less than a millisecond */
	struct sim_alarm *busy; /* while it runs, the loop is frozen; owned */
};

struct virtual_timer {
	struct kar_timer base; /* first */
	TAILQ_ENTRY(virtual_timer) in_late;
	bool late;
	struct virtual_loop *loop;
	struct sim_alarm *alarm;
	kar_timer_fn *fn;
	void *arg;
};

static const struct kar_loop_kind virtual_kind;

static struct virtual_loop *virtual_of(struct kar_loop *l)
{
	assert(l->kind == &virtual_kind);
	return kar_container_of(l, struct virtual_loop, base);
}

static const struct virtual_loop *const_virtual_of(const struct kar_loop *l)
{
	assert(l->kind == &virtual_kind);
	return (const struct virtual_loop *)(const void *)l;
}

static struct virtual_timer *timer_of(struct kar_timer *t)
{
	return kar_container_of(t, struct virtual_timer, base);
}

/* ---- the clock of log lines ---- */

static const struct kar_loop *newest;

static int64_t wall_micros(void)
{
	enum { US_PER_MS = 1000 };

	return newest ? kar_loop_wall(newest) * US_PER_MS : 0;
}

/* ---- the loop ---- */

struct kar_loop *sim_loop_new(struct sim_timeline *t)
{
	struct virtual_loop *l = kar_xcalloc(1, sizeof(*l));

	l->base.kind = &virtual_kind;
	l->timeline = t;
	TAILQ_INIT(&l->late);
	newest = &l->base;
	kar_clock_replace(wall_micros);
	return &l->base;
}

static void free_loop(struct kar_loop *l)
{
	assert(!virtual_of(l)->timers);
	if (newest == l)
		newest = NULL;
	sim_alarm_free(virtual_of(l)->busy);
	free(virtual_of(l));
}

static void run(struct kar_loop *base)
{
	struct virtual_loop *l = virtual_of(base);

	l->stopped = false;
	while (!l->stopped && sim_timeline_next(l->timeline) != KAR_NEVER)
		sim_timeline_step(l->timeline, sim_timeline_next(l->timeline));
}

static void stop(struct kar_loop *l)
{
	virtual_of(l)->stopped = true;
}

static kar_time mono(const struct kar_loop *l)
{
	return sim_timeline_mono(const_virtual_of(l)->timeline);
}

static kar_time wall(const struct kar_loop *l)
{
	return sim_timeline_wall(const_virtual_of(l)->timeline) + const_virtual_of(l)->wall_error;
}

/* What callbacks take, if they take time at all, has passed when the next one begins. */
static kar_time take_lag(struct kar_loop *l KAR_UNUSED)
{
	return 0;
}

void sim_loop_jump_wall(struct kar_loop *l, kar_time ms)
{
	virtual_of(l)->wall_error += ms;
}

void sim_loop_freeze(struct kar_loop *l)
{
	virtual_of(l)->frozen = true;
}

bool sim_loop_frozen(const struct kar_loop *l)
{
	return const_virtual_of(l)->frozen;
}

static void be_in_time(struct virtual_timer *t)
{
	if (t->late)
		TAILQ_REMOVE(&t->loop->late, t, in_late);
	t->late = false;
}

void sim_loop_thaw(struct kar_loop *base)
{
	struct virtual_loop *l = virtual_of(base);
	struct virtual_timer *t;

	l->frozen = false;
	while ((t = TAILQ_FIRST(&l->late)) != NULL)
		kar_timer_start(&t->base, 0);
}

static void on_done(void *arg)
{
	struct virtual_loop *l = arg;

	sim_loop_thaw(&l->base);
}

void sim_loop_charge(struct kar_loop *base, int64_t (*clock)(void))
{
	struct virtual_loop *l = virtual_of(base);

	assert(!l->clock);
	l->clock = clock;
	l->busy = sim_alarm_new(l->timeline, on_done, l);
}

static void charge(struct virtual_loop *l, int64_t ns)
{
	l->owed += ns;
	if (l->owed < NS_PER_MS)
		return;
	l->frozen = true;
	sim_alarm_start(l->busy, l->owed / NS_PER_MS);
	l->owed %= NS_PER_MS;
}

/* ---- timers ---- */

static void on_alarm(void *arg)
{
	struct virtual_timer *t = arg;
	struct virtual_loop *l = t->loop;
	int64_t begin;

	if (l->frozen) {
		TAILQ_INSERT_TAIL(&l->late, t, in_late);
		t->late = true;
		return;
	}
	begin = l->clock ? l->clock() : 0;
	t->fn(t->arg); /* may free t */
	if (l->clock)
		charge(l, l->clock() - begin);
}

static struct kar_timer *new_timer(struct kar_loop *l, kar_timer_fn *fn, void *arg)
{
	struct virtual_timer *t = kar_xcalloc(1, sizeof(*t));

	t->base.kind = &virtual_kind;
	t->loop = virtual_of(l);
	t->fn = fn;
	t->arg = arg;
	t->alarm = sim_alarm_new(t->loop->timeline, on_alarm, t);
	t->loop->timers++;
	return &t->base;
}

static void start_timer(struct kar_timer *t, kar_time after_ms)
{
	be_in_time(timer_of(t));
	sim_alarm_start(timer_of(t)->alarm, after_ms);
}

static void stop_timer(struct kar_timer *t)
{
	be_in_time(timer_of(t));
	sim_alarm_stop(timer_of(t)->alarm);
}

static bool timer_is_running(const struct kar_timer *base)
{
	const struct virtual_timer *t = (const struct virtual_timer *)(const void *)base;

	return t->late || sim_alarm_running(t->alarm);
}

static void free_timer(struct kar_timer *base)
{
	struct virtual_timer *t = timer_of(base);

	stop_timer(base);
	sim_alarm_free(t->alarm);
	t->loop->timers--;
	free(t);
}

static const struct kar_loop_kind virtual_kind = {
	.free = free_loop,
	.run = run,
	.stop = stop,
	.mono = mono,
	.mono_now = mono,
	.wall = wall,
	.take_lag = take_lag,
	.timer_new = new_timer,
	.timer_start = start_timer,
	.timer_start_slack = start_timer,
	.timer_stop = stop_timer,
	.timer_is_running = timer_is_running,
	.timer_free = free_timer,
};
