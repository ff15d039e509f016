/* The kind of a loop does the work. */
#include "common/loop/loop_impl.h"

enum {
	GATHER_MIN_US = 4000,
	GATHER_MAX_US = 100000,
	GATHER_GROWS_MS = 6000, /* from the least to the most */
	QUIET_MS = 20,          /* with nothing to do for longer than this after the gathering */
	BUSY_RATE = 1 << 20,    /* bytes per second that are worth the most; half of it, half as long */
	BULK = 1 << 19,         /* bytes that are to gather at most: a peer waits while its window is full */
	MEMORY_MS = 1000,       /* of the rate */
	US_PER_MS = 1000,
	US_PER_S = 1000000,
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

kar_time kar_loop_mono_now(const struct kar_loop *l)
{
	return l->kind->mono_now(l);
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

void kar_loop_took(struct kar_loop *l, size_t bytes)
{
	if (l->kind->took)
		l->kind->took(l, bytes);
}

static int most(int64_t rate)
{
	int64_t us = rate > 0 ? BULK * (int64_t)US_PER_S / rate : GATHER_MAX_US;

	if (rate < BUSY_RATE)
		us = rate * GATHER_MAX_US / BUSY_RATE;
	return (int)kar_clamp(us, GATHER_MIN_US, GATHER_MAX_US);
}

struct kar_gather kar_loop_gather(struct kar_gather g, kar_time between, kar_time busy, size_t took)
{
	int more = g.us +
		(int)(kar_clamp(between, 0, GATHER_GROWS_MS) * (GATHER_MAX_US - GATHER_MIN_US) /
			GATHER_GROWS_MS);
	bool quiet = between - busy > g.us / US_PER_MS + QUIET_MS;

	g.rate = g.rate * (MEMORY_MS - kar_clamp(between, 0, MEMORY_MS)) / MEMORY_MS + (int64_t)took;
	if (quiet)
		g.us = 0;
	else if (g.us < GATHER_MIN_US)
		g.us = GATHER_MIN_US;
	else
		g.us = more < most(g.rate) ? more : most(g.rate);
	return g;
}
