#include "controllers/refusal.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/backoff.h"
#include "common/mem.h"

static const kar_time first_hold = KAR_SECOND / 2, longest_hold = 30 * KAR_SECOND;
/* Between two tries of which the second is a wake-up's; pods may end all the time, without any room for this one. */
static const kar_time longest_pace = 5 * KAR_SECOND;
/* The API server's count of what is used follows a pod that has ended with some delay: then it is worth a second try. */
static const kar_time count_lag = KAR_SECOND;
/* Only an edit makes valid what is invalid, and that is tried at once. */
static const kar_time longest_hold_of_invalid = 10 * KAR_MINUTE;

/* A refusal, and a place in a line, stands until deletions of its own are seen; not if they are held up, for others could use the place. */
static const kar_time longest_room_making = 5 * KAR_SECOND;

/* Of a try that had to take back what it had made, for each object of it: so at most 60 writes per second are spent on that. */
static const kar_time take_back_pace = KAR_SECOND / 20, longest_take_back = 10 * KAR_MINUTE;

static const char *uid_of(const struct kar_sync *s)
{
	return s->object ? s->object->uid : "";
}

const struct kar_refusal *kar_refusal_of(const struct kar_sync *s)
{
	const struct kar_refusal *r = s->state->refusal;

	return r && r->generation == s->generation && strcmp(r->uid, uid_of(s)) == 0 ? r : NULL;
}

void kar_refusal_forget(struct kar_key_state *state)
{
	if (state->refusal)
		kar_quota_line_leave(state->refusal->place);
	free(state->refusal);
	state->refusal = NULL;
}

static bool has_scopes(const struct kar_sync *s, const char *text)
{
	const struct kar_controller *c = s->controller;
	char quota[KAR_QUOTA_NAME_LEN];

	kar_quota_read_name(text, quota);
	return c->has_scopes && c->has_scopes(s, quota);
}

/* A place in the line for pods, which others give back; for other things a quota has no such moment. */
static void line_up(struct kar_sync *s, struct kar_refusal *r, const struct kar_action *a)
{
	struct kar_quota_line *line = s->controller->line;
	bool waits = line && a->rank.tier != KAR_TIER_CONTROL && kar_quota_exceeded(r->err.msg);

	if (waits) {
		r->place = kar_quota_line_join(line, r->place, a->ns, s->key, &a->rank, r->err.msg,
			has_scopes(s, r->err.msg));
		return;
	}
	kar_quota_line_leave(r->place);
	r->place = NULL;
}

static kar_time next_try(struct kar_refusal *r, kar_time mono)
{
	kar_time longest = r->err.what == KAR_INVALID ? longest_hold_of_invalid : longest_hold;
	bool woken = r->woken;

	r->woken = false;
	r->misses = woken ? r->misses + 1 : r->misses;
	if (woken)
		return mono + count_lag;
	return mono + kar_backoff_delay(r->tries - 1, first_hold, longest);
}

/* The refusal of @a, as far as it does not matter how it came about. */
static struct kar_refusal *begin(struct kar_sync *s, const struct kar_action *a, kar_time mono)
{
	struct kar_refusal *r = s->state->refusal;
	bool again = kar_refusal_of(s) != NULL;

	if (!r)
		r = s->state->refusal = kar_xcalloc(1, sizeof(*r));
	if (!again) {
		r->tries = r->misses = 0;
		r->taken_back = 0;
		r->at = mono;
	}
	if (!again || r->tier != a->rank.tier)
		r->since = mono;
	r->type = a->type;
	r->tier = a->rank.tier;
	kar_key(a->ns, a->name, r->name);
	strlcpy(r->uid, uid_of(s), sizeof(r->uid));
	r->generation = s->generation;
	r->pods = s->pods;
	r->trying = false;
	r->makes_room_since = KAR_NEVER;
	return r;
}

void kar_refusal_note(struct kar_sync *s, const struct kar_action *a, const struct kar_err *err,
	kar_time mono)
{
	struct kar_refusal *r = begin(s, a, mono);

	r->tries++;
	r->taken_back = 0;
	r->err = *err;
	r->at = mono;
	r->again = next_try(r, mono);
	line_up(s, r, a);
}

void kar_refusal_prolong(struct kar_sync *s, kar_time mono)
{
	struct kar_refusal *r = s->state->refusal;

	if (!r)
		return;
	r->again += mono - r->at;
	r->at = mono;
}

static kar_time rest_of(const struct kar_refusal *r)
{
	kar_time rest = r->taken_back * take_back_pace;

	return rest < longest_take_back ? rest : longest_take_back;
}

/* Of one that waits for a quota, along with others. */
static kar_time hold_in_line(const struct kar_refusal *r, kar_time mono)
{
	kar_time woken = r->at + kar_backoff_delay(r->misses, first_hold, longest_pace);
	kar_time due = r->again;

	if (!kar_quota_place_is_head(r->place))
		return longest_hold; /* it is woken when it becomes one */
	if (kar_quota_place_is_woken(r->place) && woken < due)
		due = woken;
	if (due < r->at + rest_of(r))
		due = r->at + rest_of(r);
	return due > mono ? due - mono : 0;
}

/* Of one that waits for something else. */
static kar_time hold_alone(struct kar_refusal *r, int32_t pods, kar_time mono)
{
	kar_time due = r->at + rest_of(r);

	if (due < r->again)
		due = r->again;
	/* That it has taken back pods itself makes no room. */
	if ((pods < r->pods && !r->taken_back) || mono >= due)
		return 0;
	r->pods = pods;
	return due - mono;
}

/* What was let out has made pods, and is not refused: it goes on to the end. */
static bool goes_on(const struct kar_sync *s)
{
	const struct kar_refusal *r = kar_refusal_of(s);

	return r && r->trying && s->pods > r->tried_with;
}

kar_time kar_refusal_hold(struct kar_sync *s)
{
	struct kar_refusal *r = s->state->refusal;

	if (goes_on(s))
		return 0;
	if (kar_refusal_of(s) && r->place)
		return hold_in_line(r, s->mono);
	return kar_refusal_of(s) ? hold_alone(r, s->pods, s->mono) : 0;
}

static const struct kar_action *first_create(const struct kar_plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (kar_action_creates(&p->actions[i]))
			return &p->actions[i];
	}
	return NULL;
}

/* That pods are refused, which may last for long, says nothing of the children that they depend on. */
static bool is_beside(const struct kar_refusal *r, const struct kar_action *a)
{
	return r && r->tier != KAR_TIER_CONTROL && a->rank.tier == KAR_TIER_CONTROL && a->type != r->type;
}

/* Until the group is admitted again nothing is wanted, and the refusal is forgotten: so the pods would be tried too soon. */
static kar_time hold_child(const struct kar_sync *s, const struct kar_refusal *r)
{
	kar_time latest = r->at + longest_hold, due = r->again < latest ? r->again : latest;

	return kar_refusal_of(s) && due > s->mono ? due - s->mono : 0;
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

/* --- order --------------------------------------------------------------------------------------- */

static bool may_need(const void *arg, const char *quota, const char *resource)
{
	const struct kar_sync *s = arg;
	const struct kar_controller *c = s->controller;

	return !c->may_need || c->may_need(s, quota, resource);
}

/* Returns whether that is news. */
static bool wait_behind(struct kar_sync *s, const struct kar_action *a, const struct kar_quota_place *ahead)
{
	struct kar_refusal *r = begin(s, a, s->mono);
	const char *requested = kar_quota_place_requested(ahead), *quota = kar_quota_place_quota(ahead);
	char before[sizeof(r->err.msg)];

	strlcpy(before, r->err.msg, sizeof(before));
	/* Of no class that a server's word has: nobody has refused anything. */
	kar_fail(&r->err, KAR_RETRY, "%s goes first and lacks %s: exceeded quota%s%s",
		kar_quota_place_key(ahead), requested[0] ? requested : "what the quota refused",
		quota[0] ? " " : "", quota);
	r->again = s->mono;
	r->place = kar_quota_line_stand_behind(ahead, r->place, s->key, &a->rank);
	return strcmp(before, r->err.msg) != 0;
}

static bool waits_behind(const struct kar_refusal *r)
{
	return r && r->place && r->err.what == KAR_RETRY;
}

/*
 * Where others go first who lack what the pods of @s may need, it does not even try: what it got, they would lack. Returns ms
 * to wait, 0: it may try.
 */
static kar_time let_others_go_first(struct kar_sync *s, const struct kar_action *a)
{
	struct kar_quota_line *line = s->controller->line;
	const struct kar_quota_place *ahead = NULL;

	if (line && a->rank.tier != KAR_TIER_CONTROL && !goes_on(s))
		ahead = kar_quota_line_ahead(line, a->ns, s->key, &a->rank, may_need, s);
	if (!ahead)
		return 0;
	return wait_behind(s, a, ahead) ? 1 : longest_hold; /* the status is to tell it */
}

/* --- holding back -------------------------------------------------------------------------------- */

static void let_out(struct kar_sync *s)
{
	struct kar_refusal *r = s->state->refusal;

	if (!r)
		return;
	if (!goes_on(s))
		r->tried_with = s->pods;
	r->trying = true;
	if (!r->place)
		return;
	r->woken = kar_quota_place_is_woken(r->place) && s->mono < r->again;
	kar_quota_place_try(r->place);
}

/* What is wanted next may be of another rank than what was refused: of the minimum, or of another priority. */
static void keep_place(const struct kar_refusal *r, const struct kar_action *next)
{
	if (r && r->place && next->rank.tier != KAR_TIER_CONTROL)
		kar_quota_place_move(r->place, &next->rank);
}

/* A try that does not go on is none: what it has made is of no use now, and is looked at again at once. */
static void hold_back(struct kar_sync *s, kar_time hold)
{
	struct kar_refusal *r = s->state->refusal;
	struct kar_plan *p = &s->plan;

	if (r && r->trying) {
		r->trying = false;
		hold = 1;
	}
	drop_creates(p);
	if (!p->requeue_after || hold < p->requeue_after) /* "at once" would be for more creates */
		p->requeue_after = hold;
}

static kar_time time_to_wait(struct kar_sync *s, const struct kar_action *next)
{
	kar_time hold = kar_refusal_hold(s), behind = 0;

	if (!hold || waits_behind(kar_refusal_of(s))) /* it may be others now who go first */
		behind = let_others_go_first(s, next);
	return behind ? behind : hold;
}

/* Deletions of its own are to be seen before it creates any. Whether what was refused stands meanwhile. */
static bool waits_for_room(struct kar_sync *s)
{
	struct kar_refusal *r = s->state->refusal;
	kar_time left;

	if (!r || !s->plan.makes_room)
		return false;
	if (r->makes_room_since == KAR_NEVER)
		r->makes_room_since = s->mono;
	left = r->makes_room_since + longest_room_making - s->mono;
	kar_plan_requeue(&s->plan, left > 0 ? left : 1); /* the status is to tell that it no longer stands */
	return left > 0;
}

/* The plan wants no create, now or at all. */
static void note_none(struct kar_sync *s)
{
	struct kar_refusal *r = s->state->refusal;

	if (!s->plan.unfinished && !waits_for_room(s))
		kar_refusal_forget(s->state);
	else if (r && s->plan.taken_back > r->taken_back)
		r->taken_back = s->plan.taken_back;
}

void kar_refusal_hold_creates(struct kar_sync *s)
{
	const struct kar_action *first = first_create(&s->plan);
	struct kar_refusal *r = s->state->refusal;
	kar_time hold;

	if (!first) {
		note_none(s);
		return;
	}
	keep_place(r, first);
	if (r)
		r->makes_room_since = KAR_NEVER;
	hold = is_beside(r, first) ? hold_child(s, r) : time_to_wait(s, first);
	if (hold)
		hold_back(s, hold);
	else if (is_beside(r, first))
		s->plan.unfinished = true; /* the pods come later */
	else
		let_out(s);
}

void kar_refusal_all_created(struct kar_sync *s)
{
	const struct kar_refusal *r = s->state->refusal;

	if (r && (r->tier == KAR_TIER_CONTROL || !s->plan.unfinished))
		kar_refusal_forget(s->state);
}
