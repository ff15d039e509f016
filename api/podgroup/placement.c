#include "api/podgroup/placement.h"

#include <assert.h>

#include "common/base/backoff.h"
#include "common/base/intern.h"
#include "common/base/str.h"

static const kar_time FIRST_PAUSE = 5 * KAR_SECOND, LONGEST_PAUSE = 10 * KAR_MINUTE,
		      POSTPONED_FOR = KAR_MINUTE;

/* --- the table of states --------------------------------------------------------------------------- */

#define IN(state) (1u << KAR_PG_STATE_##state)
#define BEGUN (IN(PLACED) | IN(UNPLACED))
#define RUNS (BEGUN | IN(SATISFIED))
#define HELD (IN(RESERVING) | IN(SUSPENDED))

/* From each state, those that it may have next. docs/design/podgroup.md, 4, says when. */
static const unsigned allowed[KAR_PG_STATES] = {
	[KAR_PG_STATE_NONE] = RUNS | IN(WAITING) | HELD,
	[KAR_PG_STATE_WAITING] = RUNS | IN(NONE) | HELD,
	/* It begins again if another queue than before admits it. */
	[KAR_PG_STATE_PLACED] = RUNS | IN(ROLLING_BACK) | IN(WAITING) | IN(NONE) | IN(SUSPENDED),
	[KAR_PG_STATE_UNPLACED] = RUNS | IN(ROLLING_BACK) | IN(WAITING) | IN(SUSPENDED),
	[KAR_PG_STATE_SATISFIED] = BEGUN | IN(ROLLING_BACK) | IN(WAITING) | IN(NONE) | IN(SUSPENDED),
	[KAR_PG_STATE_ROLLING_BACK] = IN(WAITING) | IN(DEACTIVATED) | IN(SUSPENDED),
	[KAR_PG_STATE_DEACTIVATED] = IN(WAITING) | IN(NONE) | IN(SUSPENDED),
	[KAR_PG_STATE_RESERVING] = RUNS | IN(NONE) | IN(SUSPENDED),
	[KAR_PG_STATE_SUSPENDED] = BEGUN | IN(NONE) | IN(RESERVING),
};

static bool is_in(const struct kar_pg_placement *p, unsigned states)
{
	return p->state < KAR_PG_STATES && (1u << p->state & states);
}

bool kar_pg_state_allows(enum kar_pg_state from, enum kar_pg_state to)
{
	return from < KAR_PG_STATES && to < KAR_PG_STATES && (allowed[from] & 1u << to);
}

/* What belongs to one state only ends with it. */
static struct kar_pg_placement enter(const struct kar_pg_placement *old, enum kar_pg_state to, kar_time now)
{
	struct kar_pg_placement p = *old;

	assert(kar_pg_state_allows(old->state, to));
	p.failures = kar_pg_failures(old, now);
	p.state = to;
	p.time = now;
	p.deadline = 0;
	p.repairs = 0;
	p.plan = NULL;
	p.n_plan = 0;
	return p;
}

static void set_plan(struct kar_pg_placement *p, struct kar_pg_roles plan)
{
	p->plan = plan.items;
	p->n_plan = plan.n;
}

/* --- the queue reconciler's steps ------------------------------------------------------------------ */

struct kar_pg_placement kar_pg_begin(const struct kar_pg_placement *old, const struct kar_pg_beginning *b,
	kar_time now)
{
	struct kar_pg_placement p = enter(old, b->placed ? KAR_PG_STATE_PLACED : KAR_PG_STATE_UNPLACED, now);

	assert(b->placed || !b->plan.n);
	if (p.attempt < INT32_MAX)
		p.attempt++;
	if (!b->of_others)
		p.satisfied_member = 0;
	p.deadline = b->deadline;
	p.generation = 0;
	p.retry_after = 0;
	if (kar_has_text(old->evicted_by))
		p.cause = "";
	p.evicted_by = "";
	p.hold_ended_for = "";
	p.requests = b->requests;
	p.domains = b->domains;
	p.n_domains = b->n_domains;
	if (b->placed)
		set_plan(&p, b->plan);
	return p;
}

struct kar_pg_placement kar_pg_adopt(const struct kar_pg_placement *old, int32_t members, kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_SATISFIED, now);

	assert(is_in(old, IN(NONE)));
	p.satisfied_member = members;
	return p;
}

struct kar_pg_placement kar_pg_renew(const struct kar_pg_placement *old, const struct kar_pg_renewal *r,
	kar_time now)
{
	struct kar_pg_placement p = *old;

	assert(is_in(old, RUNS));
	set_plan(&p, r->plan);
	if (r->begins)
		p.time = now;
	p.deadline = r->deadline;
	if (r->pause)
		p.retry_after = now + r->pause;
	return p;
}

struct kar_pg_placement kar_pg_repair(const struct kar_pg_placement *old, struct kar_pg_roles plan,
	kar_time now)
{
	struct kar_pg_placement p = *old;

	assert(is_in(old, IN(PLACED)));
	set_plan(&p, plan);
	p.repairs++;
	p.time = now;
	return p;
}

struct kar_pg_placement kar_pg_yield_hold(const struct kar_pg_placement *old, const char *taker)
{
	struct kar_pg_placement p = *old;

	assert(is_in(old, IN(PLACED) | IN(SATISFIED)) && kar_has_text(taker));
	p.hold_ended_for = taker;
	return p;
}

struct kar_pg_placement kar_pg_evict(const struct kar_pg_placement *old, const char *taker, const char *cause,
	kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_ROLLING_BACK, now);

	assert(is_in(old, RUNS) && kar_has_text(taker));
	p.cause = cause;
	p.evicted_by = taker;
	return p;
}

struct kar_pg_placement kar_pg_reserve(const struct kar_pg_placement *old)
{
	return enter(old, KAR_PG_STATE_RESERVING, old->time);
}

struct kar_pg_placement kar_pg_suspend(const struct kar_pg_placement *old, kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_SUSPENDED, now);

	if (is_in(old, IN(DEACTIVATED)))
		p.failures = 0;
	return p;
}

struct kar_pg_placement kar_pg_queue_again(const struct kar_pg_placement *old)
{
	assert(is_in(old, HELD | IN(WAITING)));
	return enter(old, KAR_PG_STATE_NONE, old->time);
}

struct kar_pg_placement kar_pg_end(const struct kar_pg_placement *old KAR_UNUSED)
{
	assert(is_in(old, IN(WAITING) | IN(DEACTIVATED) | HELD));
	return (struct kar_pg_placement){ .cause = "", .requests = "" };
}

/* --- the podgroup reconciler's steps --------------------------------------------------------------- */

struct kar_pg_placement kar_pg_satisfy(const struct kar_pg_placement *old, int32_t members, kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_SATISFIED, now);

	assert(!is_in(old, IN(SATISFIED)));
	p.satisfied_member = members;
	p.retry_after = 0;
	p.cause = "";
	return p;
}

struct kar_pg_placement kar_pg_count_formed(const struct kar_pg_placement *old, int32_t members)
{
	struct kar_pg_placement p = *old;

	assert(is_in(old, IN(SATISFIED)));
	p.satisfied_member = members;
	return p;
}

struct kar_pg_placement kar_pg_roll_back(const struct kar_pg_placement *old, const char *cause,
	bool keeps_plan, kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_ROLLING_BACK, now);

	if (keeps_plan) {
		p.plan = old->plan;
		p.n_plan = old->n_plan;
	}
	p.cause = cause;
	return p;
}

struct kar_pg_placement kar_pg_give_up(const struct kar_pg_placement *old, enum kar_pg_state to, bool anew,
	kar_time now)
{
	struct kar_pg_placement p = enter(old, to, now);

	assert(is_in(old, IN(PLACED) | IN(SATISFIED)));
	assert(to == KAR_PG_STATE_NONE || to == KAR_PG_STATE_WAITING || to == KAR_PG_STATE_UNPLACED);
	if (anew)
		p.satisfied_member = 0;
	if (old->state != KAR_PG_STATE_SATISFIED)
		p.requests = ""; /* nothing has run: no room is kept for what comes in its stead */
	return p;
}

struct kar_pg_placement kar_pg_postpone(const struct kar_pg_placement *old, const char *cause, kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_WAITING, now);

	p.cause = cause;
	p.retry_after = now + POSTPONED_FOR;
	return p;
}

struct kar_pg_placement kar_pg_wait(const struct kar_pg_placement *old, kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_WAITING, now);

	assert(is_in(old, IN(ROLLING_BACK)));
	p.retry_after = 0;
	return p;
}

static void count_failure(struct kar_pg_placement *p, int64_t generation)
{
	if (p->failures < INT32_MAX)
		p->failures++;
	p->generation = generation;
}

/* 5 s, 10 s, 20 s ... 10 min, each up to a tenth shorter or longer, so that gangs that failed together do not try together. */
static kar_time pause_after(int32_t failures, uint64_t seed)
{
	kar_time pause = kar_backoff_delay((unsigned)failures - 1, FIRST_PAUSE, LONGEST_PAUSE);
	uint64_t hash = kar_hash(seed, &failures, sizeof(failures));

	pause += pause * ((kar_time)(hash % 21) - 10) / 100;
	return (pause + KAR_SECOND - 1) / KAR_SECOND * KAR_SECOND;
}

struct kar_pg_placement kar_pg_back_off(const struct kar_pg_placement *old, int64_t generation, uint64_t seed,
	kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_WAITING, now);

	assert(is_in(old, IN(ROLLING_BACK)));
	count_failure(&p, generation);
	p.retry_after = now + pause_after(p.failures, seed);
	return p;
}

struct kar_pg_placement kar_pg_deactivate(const struct kar_pg_placement *old, int64_t generation,
	kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_DEACTIVATED, now);

	count_failure(&p, generation);
	return p;
}

struct kar_pg_placement kar_pg_reactivate(const struct kar_pg_placement *old, kar_time now)
{
	struct kar_pg_placement p = enter(old, KAR_PG_STATE_WAITING, now);

	assert(is_in(old, BEGUN | IN(DEACTIVATED)));
	p.failures = 0;
	p.retry_after = 0;
	return p;
}

struct kar_pg_placement kar_pg_set_clock_back(const struct kar_pg_placement *old, kar_time now)
{
	struct kar_pg_placement p = *old;

	assert(now < old->time);
	if (p.deadline)
		p.deadline -= p.time - now;
	if (p.retry_after > now + LONGEST_PAUSE)
		p.retry_after = now + LONGEST_PAUSE;
	p.time = now;
	return p;
}
