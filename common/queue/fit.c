/* (a): a group is admitted, or reserves, where there is room. */
#include "common/queue/impl.h"

static void admit(struct q_pass *p, struct q_group *g, struct q_state *st, bool at_once)
{
	st->standing = at_once || q_is_admitted(g) ? KAR_QUEUE_ADMITTED : KAR_QUEUE_RESERVING;
	st->n_kept = st->standing == KAR_QUEUE_ADMITTED ? g->min : 0;
	st->awaits |= q_is_behind_question(p, g, at_once);
	q_set(p, g, st);
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
	if (g->in->takes_nothing || !p->plan.leaving || !q_place(p, &ask, Q_FUT, &st)) {
		s->nodes = !s->cluster;
		return Q_NO;
	}
	admit(p, g, &st,
		g->in->yields && g->in->standing == KAR_QUEUE_ADMITTED); /* then it goes on having it */
	return Q_LATER;
}
