/* The kind of a loop does the work. */
#include "common/loop_impl.h"

enum {
	GATHER_MIN_US = 4000,
	GATHER_MAX_US = 100000,
	GATHER_GROWS_MS = 6000, /* from the least to the most */
	QUIET_MS = 20,          /* with nothing to do for longer than this after the gathering */
	US_PER_MS = 1000,
};

void kar_loop_free(struct kar_loop *l)
{
	if (l)
		l->kind->free(l);
}

void kar_loop_run(struct kar_loop *l)
{
	l->kind->run(l);
}

void kar_loop_stop(struct kar_loop *l)
{
	l->kind->stop(l);
}

kar_time kar_loop_mono(const struct kar_loop *l)
{
	return l->kind->mono(l);
}

kar_time kar_loop_wall(const struct kar_loop *l)
{
	return l->kind->wall(l);
}

kar_time kar_loop_take_lag(struct kar_loop *l)
{
	return l->kind->take_lag(l);
}

struct kar_timer *kar_timer_new(struct kar_loop *l, kar_timer_fn *fn, void *arg)
{
	return l->kind->timer_new(l, fn, arg);
}

void kar_timer_start(struct kar_timer *t, kar_time after_ms)
{
	t->kind->timer_start(t, after_ms);
}

void kar_timer_start_slack(struct kar_timer *t, kar_time after_ms)
{
	t->kind->timer_start_slack(t, after_ms);
}

void kar_timer_stop(struct kar_timer *t)
{
	t->kind->timer_stop(t);
}

bool kar_timer_running(const struct kar_timer *t)
{
	return t->kind->timer_is_running(t);
}

void kar_timer_free(struct kar_timer *t)
{
	if (t)
		t->kind->timer_free(t);
}

kar_time kar_loop_slack(kar_time after, kar_time since, int gather_us)
{
	kar_time apart = gather_us / US_PER_MS;

	return apart ? (since + after + apart - 1) / apart * apart - since : after;
}

int kar_loop_gather(int gather_us, kar_time between, kar_time busy)
{
	kar_time more = gather_us + between * (GATHER_MAX_US - GATHER_MIN_US) / GATHER_GROWS_MS;

	if (between - busy > gather_us / US_PER_MS + QUIET_MS)
		return 0;
	if (gather_us < GATHER_MIN_US)
		return GATHER_MIN_US;
	return more < GATHER_MAX_US ? (int)more : GATHER_MAX_US;
}
