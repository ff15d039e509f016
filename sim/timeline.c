#include "sim/timeline.h"

#include <assert.h>
#include <stdlib.h>

#include <bsd/sys/tree.h>

#include "common/base/intern.h"
#include "common/base/mem.h"

enum { MONO_START = 1000 };

struct sim_alarm {
	RB_ENTRY(sim_alarm) link;
	struct sim_timeline *timeline;
	kar_time due;
	uint64_t number; /* of its start: first come, first served */
	bool running;
	sim_alarm_fn *fn;
	void *arg;
};
RB_HEAD(alarms, sim_alarm);

struct sim_timeline {
	kar_time mono, wall_offset;
	struct alarms alarms;
	uint64_t starts, steps;
	size_t existing;
};

static int compare(const struct sim_alarm *a, const struct sim_alarm *b)
{
	if (a->due != b->due)
		return a->due < b->due ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

RB_GENERATE_INTERNAL(alarms, sim_alarm, link, compare, KAR_UNUSED static)

struct sim_timeline *sim_timeline_new(kar_time wall)
{
	struct sim_timeline *t = kar_xcalloc(1, sizeof(*t));

	t->mono = MONO_START;
	t->wall_offset = wall - MONO_START;
	RB_INIT(&t->alarms);
	return t;
}

void sim_timeline_free(struct sim_timeline *t)
{
	assert(!t || !t->existing);
	free(t);
}

kar_time sim_timeline_mono(const struct sim_timeline *t)
{
	return t->mono;
}

kar_time sim_timeline_wall(const struct sim_timeline *t)
{
	return t->mono + t->wall_offset;
}

void sim_timeline_set_wall(struct sim_timeline *t, kar_time mono, kar_time wall)
{
	t->wall_offset = wall - mono;
}

struct sim_alarm *sim_alarm_new(struct sim_timeline *t, sim_alarm_fn *fn, void *arg)
{
	struct sim_alarm *a = kar_xcalloc(1, sizeof(*a));

	a->timeline = t;
	a->fn = fn;
	a->arg = arg;
	t->existing++;
	return a;
}

void sim_alarm_start(struct sim_alarm *a, kar_time after)
{
	struct sim_timeline *t = a->timeline;

	assert(after >= 0);
	sim_alarm_stop(a);
	a->due = after < KAR_NEVER - t->mono ? t->mono + after : KAR_NEVER;
	a->number = t->starts++;
	a->running = true;
	RB_INSERT(alarms, &t->alarms, a);
}

void sim_alarm_stop(struct sim_alarm *a)
{
	if (a->running)
		RB_REMOVE(alarms, &a->timeline->alarms, a);
	a->running = false;
}

bool sim_alarm_running(const struct sim_alarm *a)
{
	return a->running;
}

void sim_alarm_free(struct sim_alarm *a)
{
	if (!a)
		return;
	sim_alarm_stop(a);
	a->timeline->existing--;
	free(a);
}

static struct sim_alarm *first(const struct sim_timeline *t)
{
	struct sim_alarm *a = RB_ROOT(&t->alarms);

	while (a && RB_LEFT(a, link))
		a = RB_LEFT(a, link);
	return a;
}

kar_time sim_timeline_next(const struct sim_timeline *t)
{
	const struct sim_alarm *a = first(t);

	return a ? a->due : KAR_NEVER;
}

bool sim_timeline_step(struct sim_timeline *t, kar_time until)
{
	struct sim_alarm *a = first(t);

	if (!a || a->due > until) {
		if (until > t->mono)
			t->mono = until;
		return false;
	}
	sim_alarm_stop(a);
	t->mono = a->due;
	t->steps++;
	a->fn(a->arg); /* may free a */
	return true;
}

void sim_timeline_run(struct sim_timeline *t, kar_time until)
{
	while (sim_timeline_step(t, until))
		;
}

uint64_t sim_timeline_steps(const struct sim_timeline *t)
{
	return t->steps;
}

/* ---- randomness ---- */

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

struct sim_random sim_random_of(uint64_t seed, const char *stream)
{
	uint64_t state = kar_hash_str(seed, stream);
	struct sim_random r;

	for (size_t i = 0; i < KAR_LEN(r.s); i++)
		r.s[i] = splitmix(&state);
	return r;
}

static uint64_t rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t sim_random_next(struct sim_random *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t sim_random_below(struct sim_random *r, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;

	do
		x = sim_random_next(r);
	while (x >= limit);
	return x % n;
}

int64_t sim_random_between(struct sim_random *r, int64_t low, int64_t high)
{
	return low + (int64_t)sim_random_below(r, (uint64_t)(high - low) + 1);
}

bool sim_random_chance(struct sim_random *r, unsigned per_mille)
{
	return sim_random_below(r, 1000) < per_mille;
}
