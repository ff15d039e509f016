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

/* A place in the line for pods, which others give back; for other things a quota has no such moment. */
static void line_up(struct kar_sync *s, struct kar_refusal *r, const struct kar_action *a)
{
	struct kar_quota_line *line = s->controller->line;
	bool waits = line && a->rank.tier != KAR_TIER_CONTROL && kar_quota_exceeded(r->err.msg);

	if (waits) {
		r->place = kar_quota_line_join(line, r->place, a->ns, s->key, &a->rank, r->err.msg);
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

void kar_refusal_note(struct kar_sync *s, const struct kar_action *a, const struct kar_err *err,
	kar_time mono)
{
	struct kar_refusal *r = s->state->refusal;
	bool again = kar_refusal_of(s) != NULL;

	if (!r)
		r = s->state->refusal = kar_xcalloc(1, sizeof(*r));
	r->tries = again ? r->tries + 1 : 1;
	r->misses = again ? r->misses : 0;
	r->err = *err;
	r->type = a->type;
	kar_key(a->ns, a->name, r->name);
	strlcpy(r->uid, uid_of(s), sizeof(r->uid));
	r->generation = s->generation;
	r->pods = s->pods;
	r->at = mono;
	r->again = next_try(r, mono);
	line_up(s, r, a);
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
	return due > mono ? due - mono : 0;
}

kar_time kar_refusal_hold(struct kar_sync *s)
{
	struct kar_refusal *r = s->state->refusal;

	if (kar_refusal_of(s) && r->place)
		return hold_in_line(r, s->mono);
	if (!kar_refusal_of(s) || s->pods < r->pods || s->mono >= r->again)
		return 0;
	r->pods = s->pods;
	return r->again - s->mono;
}

static bool has_creates(const struct kar_plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (kar_action_creates(&p->actions[i]))
			return true;
	}
	return false;
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

void kar_refusal_hold_creates(struct kar_sync *s)
{
	struct kar_plan *p = &s->plan;
	struct kar_refusal *r = s->state->refusal;
	kar_time hold;

	if (!has_creates(p)) {
		kar_refusal_forget(s->state);
		return;
	}
	hold = kar_refusal_hold(s);
	if (r && r->place && !hold) {
		r->woken = kar_quota_place_is_woken(r->place) && s->mono < r->again;
		kar_quota_place_try(r->place);
	}
	if (!r || !hold)
		return;
	drop_creates(p);
	if (!p->requeue_after || hold < p->requeue_after) /* "at once" would be for more creates */
		p->requeue_after = hold;
}
