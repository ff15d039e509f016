/* In which flavor a group is looked for: in one after the other, in the ways in which room is found (decision 119). */
#include "common/queue/impl.h"

/* The queue, or one above, says which; those that one below names are all that there are. */
static bool may_use(const struct q_queue *q, uint32_t flavor)
{
	bool all = true;

	for (; q->in; q = q->parent) {
		bool found = !q->in->n_flavors;

		for (uint32_t i = 0; i < q->in->n_flavors && !found; i++)
			found = q->in->flavors[i].flavor + 1 == flavor;
		all &= found;
	}
	return all;
}

/* If a queue and one above have none in common, those of the lower one: a queue with flavors never uses other nodes. */
static uint32_t list_flavors(const struct q_pass *p, const struct q_queue *leaf, uint32_t *to)
{
	const struct q_queue *q = leaf;
	uint32_t n = 0;

	while (q->in && !q->in->n_flavors)
		q = q->parent;
	for (uint32_t i = 0; q->in && i < q->in->n_flavors; i++) {
		uint32_t f = q->in->flavors[i].flavor + 1;

		assert(f <= p->in->n_flavors);
		if (may_use(leaf, f))
			to[n++] = f;
	}
	if (n || !q->in)
		return n;
	for (; n < q->in->n_flavors; n++)
		to[n] = q->in->flavors[n].flavor + 1;
	return n;
}

uint32_t q_flavors(struct q_pass *p, const struct q_group *g, const uint32_t **out)
{
	struct q_queue *q = g->queue;

	if (!p->in->n_flavors || q_is_admitted(g) || !q->in)
		return 0;
	if (!q->flavors) {
		q->flavors = kar_arena_alloc(p->arena, p->in->n_flavors + 1, sizeof(*q->flavors));
		q->n_flavors = list_flavors(p, q, q->flavors);
	}
	*out = q->flavors;
	return q->n_flavors;
}

void q_look_in(struct q_pass *p, struct q_group *g, uint32_t flavor)
{
	assert(g->st.standing == KAR_QUEUE_WAITING);
	g->st.flavor = flavor;
	q_set_kind(p, g);
}

void q_prefer_flavor(struct q_pass *p, struct q_group *g)
{
	const uint32_t *list;
	uint32_t n = q_flavors(p, g, &list), best = 0;

	if (!n || g->st.standing != KAR_QUEUE_WAITING)
		return;
	for (uint32_t i = n; i-- > 0;) {
		q_look_in(p, g, list[i]);
		if (q_is_feasible(p, g))
			best = list[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		q_look_in(p, g, list[i]);
		if (q_within(p, g->queue, g->kind->minimum) && q_is_feasible(p, g))
			return;
	}
	q_look_in(p, g, best ? best : list[0]);
}

/* In which way room is looked for, in this order. */
enum step { WITHIN, FREE, LATER, BY_RIGHT, ANY, STEPS };

static bool try_step(struct q_pass *p, struct q_group *g, enum step step, struct q_short *s)
{
	bool taken;

	if (step == WITHIN && !q_within(p, g->queue, g->kind->minimum))
		return false;
	if (step == WITHIN || step == FREE)
		return q_admit_now(p, g, s);
	if (step == LATER)
		return q_admit(p, g, s) != Q_NO;
	if (s->closed || g->in->takes_nothing)
		return false;
	p->round.by_right = step == BY_RIGHT;
	taken = q_take_from_others(p, g);
	p->round.by_right = false;
	return taken;
}

/* In all of its flavors, in order, in the ways @from .. @to. */
static bool try_all(struct q_pass *p, struct q_group *g, int from, int to, struct q_short *s)
{
	const uint32_t *list;
	uint32_t n = q_flavors(p, g, &list);
	bool in_order = g->queue->in->flavors_in_order;
	int steps = to - from + 1, all = steps * (int)n;

	for (int i = 0; i < all; i++) {
		int step = from + (in_order ? i % steps : i / (int)n);

		q_look_in(p, g, list[in_order ? i / steps : i % (int)n]);
		if (q_is_feasible(p, g) && try_step(p, g, (enum step)step, s))
			return true;
	}
	return false;
}

static enum q_fit fit_of(const struct q_group *g, bool let_in)
{
	if (!let_in)
		return Q_NO;
	return q_is_admitted(g) ? Q_AT_ONCE : Q_LATER;
}

enum q_fit q_admit_anywhere(struct q_pass *p, struct q_group *g, struct q_short *s)
{
	const uint32_t *list;

	if (!q_flavors(p, g, &list))
		return q_is_feasible(p, g) ? q_admit(p, g, s) : Q_NO;
	return fit_of(g, try_all(p, g, WITHIN, LATER, s));
}

enum q_fit q_admit_claim(struct q_pass *p, struct q_group *g, struct q_short *s)
{
	uint32_t own = g->st.flavor;
	const uint32_t *list;

	if (!q_flavors(p, g, &list) || q_admit_now(p, g, s))
		return q_is_admitted(g) ? Q_AT_ONCE : q_admit(p, g, s);
	if (!g->queue->in->flavors_in_order && try_all(p, g, WITHIN, FREE, s))
		return Q_AT_ONCE;
	q_look_in(p, g, own);
	return q_admit(p, g, s);
}

bool q_try_flavors(struct q_pass *p, struct q_group *g)
{
	struct q_short s = { 0 };

	if (try_all(p, g, WITHIN, ANY, &s))
		return true;
	q_prefer_flavor(p, g);
	return false;
}
