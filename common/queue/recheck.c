/* KEEP: what holds nothing any more, and claims. SHED: extras beyond what there is. */
#include "common/queue/impl.h"

/* --- KEEP ------------------------------------------------------------------------------------------ */

static bool misses_minimum(const struct q_group *g)
{
	int32_t bound = 0;

	for (uint32_t i = 0; i < g->st.n_spots && bound < g->min; i++)
		bound += g->st.spots[i].bound ? g->st.spots[i].n : 0;
	return bound < g->min;
}

static bool lost_quota(const struct q_pass *p, const struct q_group *g)
{
	for (uint32_t i = 0; i < g->kind->n_rows; i++) {
		uint32_t row = g->kind->rows[i];

		if (g->kind->row_minimum[i] > 0 && q_row_room(p, row) < 0)
			return true;
	}
	return false;
}

static bool keep_admitted(struct q_pass *p, struct q_group *g)
{
	bool old = g->in->standing == KAR_QUEUE_ADMITTED;

	if (g->queue->drain && !g->in->not_evictable) {
		q_evict(p, g, KAR_QUEUE_DRAIN, NULL);
		return true;
	}
	/* It makes room for others, and is admitted after them. */
	if ((old && g->in->yields && p->round.step == 1) ||
		(old && !g->in->released && misses_minimum(g) && lost_quota(p, g))) {
		q_drop(p, g);
		return true;
	}
	return false;
}

static bool has_head(const struct q_pass *p)
{
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++) {
		if (p->in->queues[i].reserved)
			return true;
	}
	return false;
}

void q_forget_heads(struct q_pass *p)
{
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++)
		p->in->queues[i].reserved = NULL;
	q_forget_reservation(p);
}

/* Beside the room of heads; a claim from before there was such a head is met in it. */
static enum q_fit admit_beside_heads(struct q_pass *p, struct q_group *g)
{
	struct q_short s;
	enum q_fit fit;

	fit = q_admit_claim(p, g, &s);
	if (fit != Q_NO || !has_head(p))
		return fit;
	q_forget_heads(p);
	fit = q_admit_claim(p, g, &s);
	q_reserve(p);
	return fit;
}

static bool keep_claim(struct q_pass *p, struct q_group *g)
{
	enum q_fit fit = Q_NO;

	q_drop(p, g);
	if (q_ineligible(g) == KAR_QR_ADMITTED) {
		g->keeps = true;
		fit = admit_beside_heads(p, g);
		g->keeps = false;
		g->first = fit == Q_NO;
	}
	return fit != Q_LATER;
}

static bool is_unit_admitted(const struct q_pass *p, const struct q_group *g)
{
	bool all = q_is_admitted(g);

	for (uint32_t i = 0; i < g->in->n_unit; i++)
		all &= q_is_admitted(&p->in->groups[g->in->unit[i]]);
	return all;
}

/* A unit starts together: members that might start now go on holding their room if not all others might, beside them. */
static bool keep_units(struct q_pass *p)
{
	bool changed = false;

	for (uint32_t i = 0; i < p->in->n_line; i++) {
		struct q_group *g = p->in->line[i];

		if (g->unit_ready && is_unit_admitted(p, g)) {
			g->unit_ready = false;
			changed = true;
		}
	}
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		struct q_group *g = p->in->line[i];
		struct q_state st = g->st;

		if (!g->unit_ready)
			continue;
		st.standing = KAR_QUEUE_RESERVING;
		st.n_kept = 0;
		q_set(p, g, &st);
	}
	return changed;
}

static bool keep_claims(struct q_pass *p)
{
	bool changed = false, knows_heads = false;

	for (uint32_t i = 0; i < p->in->n_line; i++) {
		struct q_group *g = p->in->line[i];
		bool claims = g->st.standing == KAR_QUEUE_RESERVING, moved;

		if (claims && !knows_heads)
			q_reserve(p);
		knows_heads |= claims;
		moved = claims && keep_claim(p, g);
		g->unit_ready = moved && q_is_admitted(g) && g->in->n_unit;
		changed |= moved && !g->unit_ready;
	}
	q_forget_heads(p);
	return keep_units(p) || changed;
}

bool q_keep(struct q_pass *p)
{
	bool changed = false;

	q_forget_heads(p);
	for (uint32_t i = p->in->n_line; i-- > 0;) { /* the last of the line gives up its quota first */
		if (q_is_admitted(p->in->line[i]))
			changed |= keep_admitted(p, p->in->line[i]);
	}
	return keep_claims(p) || changed;
}

/* --- SHED ------------------------------------------------------------------------------------------ */

int q_compare_shares(const struct q_group *a, const struct q_group *b)
{
	const struct q_queue *x[Q_PATH] = { 0 }, *y[Q_PATH] = { 0 };
	int order = 0;

	for (const struct q_queue *q = a->queue; q->parent; q = q->parent)
		x[q->depth] = q;
	for (const struct q_queue *q = b->queue; q->parent; q = q->parent)
		y[q->depth] = q;
	for (int i = 1; i < Q_PATH && !order && x[i] && y[i]; i++) {
		int64_t s = x[i]->share, t = y[i]->share;

		order = x[i] == y[i] ? 0 : (s > t) - (s < t);
	}
	if (!order)
		order = (b->in->base > a->in->base) - (b->in->base < a->in->base);
	if (!order)
		order = (q_extras(a) > q_extras(b)) - (q_extras(a) < q_extras(b));
	if (!order)
		order = (a->in->creation > b->in->creation) - (a->in->creation < b->in->creation);
	return order ? order : q_compare_names(a, b);
}

struct q_group *q_last_by_shares(const struct q_pass *p, const struct q_queue *below, uint64_t resources)
{
	struct q_group *last = NULL;

	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		struct q_group *g = p->plan.live[i];
		const int64_t *u;

		if (!q_extras(g) || !q_is_below(g->queue, below))
			continue;
		u = q_class_needs(p, q_class_of(p, g, q_run_of(g, g->st.n_kept - 1)));
		if ((q_asked(p, u) & resources) && (!last || q_compare_shares(g, last) > 0))
			last = g;
	}
	return last;
}

static bool shed_until(struct q_pass *p, struct q_queue *q, uint32_t r, int64_t limit)
{
	bool changed = false;

	while (q_used(q, r) > limit) {
		struct q_group *g = q_last_by_shares(p, q, (uint64_t)1 << r);

		if (!g)
			break;
		q_lower(p, g);
		changed = true;
	}
	return changed;
}

/* An extra without a node that fits on none. */
static bool has_no_place(const struct q_pass *p, const struct q_group *g)
{
	const struct q_spot *last = g->st.n_spots ? &g->st.spots[g->st.n_spots - 1] : NULL;

	return q_extras(g) && last && !last->node && !last->none && !p->in->snapshot->no_nodes &&
		!g->in->no_node_check && !g->in->provisioned && !g->st.provisions;
}

/* Children first, in the order of their names. */
static bool shed_below(struct q_pass *p, struct q_queue *q)
{
	bool changed = false;

	for (uint32_t i = 0; i < q->n_children; i++)
		changed |= shed_below(p, q->children[i]);
	for (uint32_t r = 0; q->in && r < p->in->n_resources; r++)
		changed |= shed_until(p, q, r, q->capability[r]);
	return changed;
}

bool q_shed(struct q_pass *p)
{
	bool changed = false;

	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		for (; has_no_place(p, p->plan.live[i]); changed = true)
			q_lower(p, p->plan.live[i]);
	}
	changed |= shed_below(p, p->in->root);
	for (uint32_t r = 0; r < p->in->n_resources && !p->in->snapshot->no_nodes; r++)
		changed |= shed_until(p, p->in->root, r, p->in->load[r]);
	return changed;
}
