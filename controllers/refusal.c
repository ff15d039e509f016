#include "controllers/refusal.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/mem.h"

static const kar_time first_hold = KAR_SECOND / 2, longest_hold = 30 * KAR_SECOND;
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
	free(state->refusal);
	state->refusal = NULL;
}

static kar_time hold_after(unsigned tries, enum kar_class what)
{
	kar_time longest = what == KAR_INVALID ? longest_hold_of_invalid : longest_hold;
	kar_time hold = first_hold;

	for (unsigned n = 1; n < tries && hold < longest; n++)
		hold *= 2;
	return hold < longest ? hold : longest;
}

void kar_refusal_note(struct kar_sync *s, const struct kar_action *a, const struct kar_err *err,
	kar_time mono)
{
	struct kar_refusal *r = s->state->refusal;
	bool again = kar_refusal_of(s) != NULL;

	if (!r)
		r = s->state->refusal = kar_xmalloc(sizeof(*r));
	r->tries = again ? r->tries + 1 : 1;
	r->err = *err;
	r->type = a->type;
	kar_key(a->ns, a->name, r->name);
	strlcpy(r->uid, uid_of(s), sizeof(r->uid));
	r->generation = s->generation;
	r->pods = s->pods;
	r->again = mono + hold_after(r->tries, err->what);
}

kar_time kar_refusal_hold(struct kar_sync *s)
{
	struct kar_refusal *r = s->state->refusal;

	if (!kar_refusal_of(s) || s->pods < r->pods || s->mono >= r->again)
		return 0;
	r->pods = s->pods;
	return r->again - s->mono;
}

static bool has_creates(const struct kar_plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (p->actions[i].verb == KAR_CREATE)
			return true;
	}
	return false;
}

static void drop_creates(struct kar_plan *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_actions; i++) {
		if (p->actions[i].verb != KAR_CREATE)
			p->actions[kept++] = p->actions[i];
	}
	p->n_actions = kept;
}

void kar_refusal_hold_creates(struct kar_sync *s)
{
	struct kar_plan *p = &s->plan;
	kar_time hold = kar_refusal_hold(s);

	if (!has_creates(p))
		kar_refusal_forget(s->state);
	if (!s->state->refusal || !hold)
		return;
	drop_creates(p);
	if (!p->requeue_after || hold < p->requeue_after) /* "at once" would be for more creates */
		p->requeue_after = hold;
}
