#include "controllers/runtime/create_backoff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/base/backoff.h"
#include "common/base/mem.h"

static const kar_time first_hold = KAR_SECOND / 2, longest_hold = 30 * KAR_SECOND;
/* Between two early tries: objects may end all the time without making room for this one. */
static const kar_time longest_early_wait = 5 * KAR_SECOND;
/* The API server updates its usage counts some time after an object has ended, so a second early try is worth it. */
static const kar_time count_lag = KAR_SECOND;
/* Only an edit makes an invalid object valid, and an edit is tried at once. */
static const kar_time longest_hold_of_invalid = 10 * KAR_MINUTE;

/* A refusal stands while the key waits for its own deletions, but not for longer: others could use the room. */
static const kar_time longest_room_making = 5 * KAR_SECOND;

/* The wait for each object that a try had to roll back. It limits roll-backs to 60 writes per second. */
static const kar_time wait_per_roll_back = KAR_SECOND / 20, longest_roll_back_wait = 10 * KAR_MINUTE;

static const char *uid_of(const struct kar_sync *s)
{
	return s->object ? s->object->uid : "";
}

const struct kar_create_backoff *kar_create_backoff_of(const struct kar_sync *s)
{
	const struct kar_create_backoff *r = s->state->backoff;

	return r && r->generation == s->generation && strcmp(r->uid, uid_of(s)) == 0 ? r : NULL;
}

/* --- the order of those that are short of something ----------------------------------------------- */

static int compare_namespaces(const char *a, const char *b)
{
	size_t n = strcspn(a, "/"), m = strcspn(b, "/");
	int order = memcmp(a, b, n < m ? n : m);

	return order ? order : (n > m) - (n < m);
}

static int compare(const struct kar_create_backoff *a, const struct kar_create_backoff *b)
{
	int order = compare_namespaces(a->key, b->key);

	return order ? order : kar_rank_compare(&a->rank, a->key, &b->rank, b->key);
}

RB_GENERATE_INTERNAL(kar_short_of, kar_create_backoff, link, compare, KAR_UNUSED static)

static bool is_first(struct kar_create_backoff *r)
{
	const struct kar_create_backoff *before = RB_PREV(kar_short_of, NULL, r);

	return !before || compare_namespaces(before->key, r->key) != 0;
}

/* Returns the one that comes after @r in its namespace; NULL: none. */
static struct kar_create_backoff *next_of(struct kar_create_backoff *r)
{
	struct kar_create_backoff *next = RB_NEXT(kar_short_of, NULL, r);

	return next && compare_namespaces(next->key, r->key) == 0 ? next : NULL;
}

static void wake(struct kar_controller *c, struct kar_create_backoff *r)
{
	if (r->woken)
		return;
	r->woken = true;
	kar_workqueue_add(c->queue, r->key);
}

void kar_create_backoff_wake(struct kar_controller *c, const char *ns, const char *owner)
{
	struct kar_create_backoff before = { .rank = { .priority = INT32_MAX, .age = INT64_MIN } }, *first;

	snprintf(before.key, sizeof(before.key), "%s/", ns);
	first = RB_NFIND(kar_short_of, &c->short_of, &before);
	if (!first || compare_namespaces(first->key, before.key) != 0)
		return;
	if (!(owner && first->rolled_back && strcmp(first->key, owner) == 0))
		wake(c, first);
}

/* Whoever becomes the first tries early: it was held for the one before. */
static void leave(struct kar_controller *c, struct kar_create_backoff *r)
{
	struct kar_create_backoff *next;

	if (!r->ordered)
		return;
	next = is_first(r) ? next_of(r) : NULL;
	RB_REMOVE(kar_short_of, &c->short_of, r);
	r->ordered = false;
	if (next)
		wake(c, next);
}

/* Puts @r, which is not ordered, where @rank belongs. If that is before the first, the first tries early again when it is the first again. */
static void enter(struct kar_controller *c, struct kar_create_backoff *r, const struct kar_rank *rank)
{
	struct kar_create_backoff *next;

	r->rank = *rank;
	RB_INSERT(kar_short_of, &c->short_of, r);
	r->ordered = true;
	next = is_first(r) ? next_of(r) : NULL;
	if (next)
		next->woken = false;
}

/* Which object of a minimum is next matters to no other key; the number of an extra is its round, which does. */
static struct kar_rank rank_of(const struct kar_action *a)
{
	struct kar_rank rank = a->rank;

	rank.seq = rank.tier == KAR_TIER_EXTRA ? rank.seq : 0;
	return rank;
}

static void move(struct kar_controller *c, struct kar_create_backoff *r, const struct kar_action *a)
{
	const struct kar_rank rank = rank_of(a);
	struct kar_create_backoff *next = is_first(r) ? next_of(r) : NULL;

	if (kar_rank_compare(&rank, r->key, &r->rank, r->key) == 0)
		return;
	RB_REMOVE(kar_short_of, &c->short_of, r);
	enter(c, r, &rank);
	if (next && !is_first(r))
		wake(c, next);
}

/* @r has just been refused @a. Control writes are not ordered. */
static void order(struct kar_sync *s, struct kar_create_backoff *r, const struct kar_action *a)
{
	const struct kar_rank rank = rank_of(a);

	if (rank.tier == KAR_TIER_CONTROL || !kar_err_is_shortage(&r->err)) {
		leave(s->controller, r);
	} else if (r->ordered) {
		move(s->controller, r, a);
	} else {
		strlcpy(r->key, s->key, sizeof(r->key));
		r->woken = false;
		enter(s->controller, r, &rank);
	}
}

/* --- the back-off ---------------------------------------------------------------------------------- */

void kar_create_backoff_forget(struct kar_controller *c, struct kar_key_state *state)
{
	if (state->backoff)
		leave(c, state->backoff);
	free(state->backoff);
	state->backoff = NULL;
}

static void forget(const struct kar_sync *s)
{
	kar_create_backoff_forget(s->controller, s->state);
}

static kar_time next_try(struct kar_create_backoff *r, kar_time mono)
{
	kar_time longest = r->err.what == KAR_INVALID ? longest_hold_of_invalid : longest_hold;
	bool early = r->early;

	r->early = false;
	r->misses = early ? r->misses + 1 : r->misses;
	if (early)
		return mono + count_lag;
	return mono + kar_backoff_delay(r->tries - 1, first_hold, longest);
}

/* The back-off of the key, renewed for @a. The caller adds the answer. */
static struct kar_create_backoff *begin(struct kar_sync *s, const struct kar_action *a)
{
	struct kar_create_backoff *r = s->state->backoff;
	bool again = kar_create_backoff_of(s) != NULL;

	if (!r)
		r = s->state->backoff = kar_xcalloc(1, sizeof(*r));
	if (!again)
		r->tries = r->misses = 0;
	r->type = a->type;
	r->tier = a->rank.tier;
	kar_key(a->ns, a->name, r->name);
	strlcpy(r->uid, uid_of(s), sizeof(r->uid));
	r->generation = s->generation;
	r->live = s->live;
	r->trying = false;
	r->makes_room_since = KAR_NEVER;
	return r;
}

void kar_create_backoff_note(struct kar_sync *s, const struct kar_action *a, const struct kar_err *err,
	kar_time mono)
{
	struct kar_create_backoff *r = begin(s, a);

	r->tries++;
	r->rolled_back = 0;
	r->err = *err;
	r->at = mono;
	r->again = next_try(r, mono);
	order(s, r, a);
}

void kar_create_backoff_prolong(struct kar_sync *s, kar_time mono)
{
	struct kar_create_backoff *r = s->state->backoff;

	if (!r)
		return;
	r->again += mono - r->at;
	r->at = mono;
}

static kar_time roll_back_wait(const struct kar_create_backoff *r)
{
	kar_time wait = r->rolled_back * wait_per_roll_back;

	return wait < longest_roll_back_wait ? wait : longest_roll_back_wait;
}

static kar_time hold_in_order(const struct kar_sync *s, struct kar_create_backoff *r)
{
	kar_time early = r->at + kar_backoff_delay(r->misses, first_hold, longest_early_wait);
	kar_time due = is_first(r) ? r->again : r->at + longest_hold;

	if (is_first(r) && r->woken && early < due)
		due = early;
	if (due < r->at + roll_back_wait(r))
		due = r->at + roll_back_wait(r);
	return due > s->mono ? due - s->mono : 0;
}

/* The same of one that no other key may end. */
static kar_time hold_alone(struct kar_create_backoff *r, int32_t live, kar_time mono)
{
	kar_time due = r->at + roll_back_wait(r);

	if (due < r->again)
		due = r->again;
	/* Fewer live objects make room, unless the key has rolled them back itself. */
	if ((live < r->live && !r->rolled_back) || mono >= due)
		return 0;
	r->live = live;
	return due - mono;
}

/* The creates that were allowed have made objects and were not refused since, so the rest of them may follow. */
static bool goes_on(const struct kar_sync *s)
{
	const struct kar_create_backoff *r = kar_create_backoff_of(s);

	return r && r->trying && s->live > r->tried_with;
}

kar_time kar_create_backoff_hold(struct kar_sync *s)
{
	struct kar_create_backoff *r = s->state->backoff;

	if (goes_on(s))
		return 0;
	if (kar_create_backoff_of(s) && r->ordered)
		return hold_in_order(s, r);
	return kar_create_backoff_of(s) ? hold_alone(r, s->live, s->mono) : 0;
}

static const struct kar_action *first_create(const struct kar_plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (kar_action_creates(&p->actions[i]))
			return &p->actions[i];
	}
	return NULL;
}

/* Creates of a lower tier may be refused for long. That does not hold back the control writes they depend on. */
static bool is_independent(const struct kar_create_backoff *r, const struct kar_action *a)
{
	return r && r->tier != KAR_TIER_CONTROL && a->rank.tier == KAR_TIER_CONTROL && a->type != r->type;
}

/*
 * A refused control write that is not wanted any more: the obstacle is gone, or the object that was wanted is seen now. It holds
 * back nothing else.
 */
static bool is_settled(const struct kar_create_backoff *r, const struct kar_plan *p)
{
	if (!r || r->tier != KAR_TIER_CONTROL)
		return false;
	for (size_t i = 0; i < p->n_actions; i++) {
		if (kar_action_creates(&p->actions[i]) && p->actions[i].type == r->type)
			return false;
	}
	return true;
}

/*
 * A child that is recreated is delayed too: while it is missing the plan wants no other create, so the refusal would be
 * forgotten and the other creates would be tried too soon.
 */
static kar_time hold_child(const struct kar_sync *s, const struct kar_create_backoff *r)
{
	kar_time latest = r->at + longest_hold, due = r->again < latest ? r->again : latest;

	return kar_create_backoff_of(s) && due > s->mono ? due - s->mono : 0;
}

static void drop_creates(struct kar_plan *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_actions; i++) {
		if (!kar_action_creates(&p->actions[i]))
			p->actions[kept++] = p->actions[i];
	}
	p->n_actions = kept;
}

/* --- holding back -------------------------------------------------------------------------------- */

static void allow_creates(struct kar_sync *s)
{
	struct kar_create_backoff *r = s->state->backoff;

	if (!r)
		return;
	if (!goes_on(s))
		r->tried_with = s->live;
	r->trying = true;
	if (!r->ordered)
		return;
	r->early = is_first(r) && r->woken && s->mono < r->again;
	r->woken = false;
}

/* The next create may have another tier or priority than the refused one. */
static void update_order(const struct kar_sync *s, const struct kar_action *next)
{
	struct kar_create_backoff *r = s->state->backoff;

	if (r && r->ordered && next->rank.tier != KAR_TIER_CONTROL)
		move(s->controller, r, next);
}

/* A try that is interrupted does not count. The objects it has made are useless by themselves, so the key is synced again at once. */
static void hold_back(struct kar_sync *s, kar_time hold)
{
	struct kar_create_backoff *r = s->state->backoff;
	struct kar_plan *p = &s->plan;

	if (r && r->trying) {
		r->trying = false;
		hold = 1;
	}
	drop_creates(p);
	if (!p->requeue_after || hold < p->requeue_after) /* 0 asks for more creates at once */
		p->requeue_after = hold;
}

/* The key creates nothing until it has seen its own deletions. Does the refusal stand until then? */
static bool waits_for_room(struct kar_sync *s)
{
	struct kar_create_backoff *r = s->state->backoff;
	kar_time left;

	if (!r || !s->plan.makes_room)
		return false;
	if (r->makes_room_since == KAR_NEVER)
		r->makes_room_since = s->mono;
	left = r->makes_room_since + longest_room_making - s->mono;
	kar_plan_requeue(&s->plan, left > 0 ? left : 1); /* the status is to show that it no longer stands */
	return left > 0;
}

/* The plan has no create. */
static void on_no_create(struct kar_sync *s)
{
	struct kar_create_backoff *r = s->state->backoff;

	if (!s->plan.unfinished && !waits_for_room(s))
		forget(s);
	else if (r && s->plan.rolled_back > r->rolled_back)
		r->rolled_back = s->plan.rolled_back;
}

void kar_create_backoff_hold_creates(struct kar_sync *s)
{
	const struct kar_action *first = first_create(&s->plan);
	struct kar_create_backoff *r;
	kar_time hold;

	if (!first) {
		on_no_create(s);
		return;
	}
	if (is_settled(s->state->backoff, &s->plan))
		forget(s);
	r = s->state->backoff;
	update_order(s, first);
	if (r)
		r->makes_room_since = KAR_NEVER;
	hold = is_independent(r, first) ? hold_child(s, r) : kar_create_backoff_hold(s);
	if (hold)
		hold_back(s, hold);
	else if (is_independent(r, first))
		s->plan.unfinished = true; /* the others come later */
	else
		allow_creates(s);
}

void kar_create_backoff_all_created(struct kar_sync *s)
{
	const struct kar_create_backoff *r = s->state->backoff;

	if (r && (r->tier == KAR_TIER_CONTROL || !s->plan.unfinished))
		forget(s);
}
