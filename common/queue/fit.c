/* Admission where there is room (a), and groups that wait until the API server has answered a question. */
#include "common/queue/impl.h"

static void admit(struct q_pass *p, struct q_group *g, struct q_state *st, bool at_once)
{
	st->standing = at_once || q_is_admitted(g) ? KAR_QUEUE_ADMITTED : KAR_QUEUE_RESERVING;
	st->n_kept = st->standing == KAR_QUEUE_ADMITTED ? g->min : 0;
	st->awaits |= q_is_behind_question(p, g, at_once) || q_awaits_needs(p, g);
	q_set(p, g, st);
}

bool q_admit_now(struct q_pass *p, struct q_group *g, struct q_short *s)
{
	const struct q_ask ask = q_ask_of(p, g);
	struct q_state st = g->st;

	if (!q_rows_fit(p, &ask, Q_NOW, s) || !q_place(p, &ask, Q_NOW, &st))
		return false;
	admit(p, g, &st, true);
	return true;
}

enum q_fit q_admit(struct q_pass *p, struct q_group *g, struct q_short *s)
{
	const struct q_ask ask = q_ask_of(p, g);
	struct q_state st = g->st;
	struct q_short now;

	if (!q_rows_fit(p, &ask, Q_FUT, s))
		return Q_NO;
	if (q_rows_fit(p, &ask, Q_NOW, &now) && q_place(p, &ask, Q_NOW, &st)) {
		admit(p, g, &st, true);
		return Q_AT_ONCE;
	}
	if (g->in->takes_nothing || !q_leaves(p) || !q_place(p, &ask, Q_FUT, &st)) {
		s->nodes = !s->cluster;
		return Q_NO;
	}
	admit(p, g, &st,
		g->in->yields && g->in->standing == KAR_QUEUE_ADMITTED); /* then it goes on having it */
	return Q_LATER;
}

/* === who asks before ============================================================================= */

/*
 * Before others go for a group the API server may have to be asked once more about its pods. Until the answer nobody goes for it, and nobody
 * behind it has what it would take: the pass decides as if the answer were known, and takes that back in the end.
 */

static bool is_new(const struct q_group *g)
{
	return g->in->standing == KAR_QUEUE_WAITING && !g->keeps;
}

bool q_is_behind_question(const struct q_pass *p, const struct q_group *g, bool at_once)
{
	return p->plan.asks_first && is_new(g) && (!at_once || p->plan.frees);
}

bool q_awaits_needs(struct q_pass *p, struct q_group *g)
{
	bool guesses = g->in->guesses;

	if (p->round.trial || !is_new(g))
		return false;
	for (uint32_t i = 0; i < g->in->n_unit; i++) /* they start together or not at all */
		guesses |= p->in->groups[g->in->unit[i]].in->guesses;
	g->asks |= guesses;
	p->plan.guessed |= guesses;
	return guesses;
}

/* Not only groups go that this pass itself has let in. */
static bool takes_from_old(const struct q_victim *victims, uint32_t n)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		any |= victims[i].group->in->standing != KAR_QUEUE_WAITING;
	return any;
}

/* Who goes leaves the slot of a job at once, though its pods still stop. */
static bool frees_a_slot(const struct q_victim *victims, uint32_t n)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		for (const struct q_queue *q = victims[i].group->queue; q->in; q = q->parent)
			any |= q->in->max_jobs > 0 && victims[i].group->st.standing == KAR_QUEUE_WAITING;
	}
	return any;
}

void q_note_victims(struct q_pass *p, struct q_group *g, const struct q_victim *victims, uint32_t n,
	bool foreign)
{
	struct q_state st = g->st;

	if (p->round.trial || !is_new(g) || !(foreign || takes_from_old(victims, n)) ||
		!(g->in->asks || p->plan.asks_first))
		return;
	for (uint32_t i = 0; i < n; i++) {
		p->plan.held_back = kar_arena_grow(p->arena, p->plan.held_back, p->plan.n_held_back,
			sizeof(*p->plan.held_back));
		p->plan.held_back[p->plan.n_held_back++] = victims[i];
	}
	p->plan.asks_first = p->plan.asks_first ? p->plan.asks_first : g;
	p->plan.frees |= q_is_admitted(g) || frees_a_slot(victims, n);
	g->asks = g->in->asks;
	st.awaits = true;
	q_set(p, g, &st);
}

static void take_back(struct q_pass *p, struct q_group *g)
{
	struct q_state st = q_without_pods(p, g);

	st.took = false;
	st.provisions = KAR_QR_ADMITTED;
	q_set(p, g, &st);
	if (g->queue->grows == g)
		g->queue->grows = NULL;
}

bool q_hold_back(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->in->n_line && (p->plan.asks_first || p->plan.guessed); i++) {
		struct q_group *g = p->in->line[i];
		bool awaits = g->st.awaits && g->st.standing != KAR_QUEUE_WAITING;

		g->asks &= awaits;
		if (awaits)
			take_back(p, g);
	}
	for (uint32_t i = p->plan.n_held_back; i-- > 0;) {
		const struct q_victim *v = &p->plan.held_back[i];

		if (v->group->in->standing == KAR_QUEUE_WAITING)
			continue; /* it comes again in the next pass */
		q_retake(p, v->group, &v->group->st, &v->before);
		q_set(p, v->group, &v->before);
	}
	return p->plan.asks_first || p->plan.guessed;
}
