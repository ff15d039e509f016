/* Limits with their sums: the cluster, capabilities, jobs, quotas. */
#include "common/queue/impl.h"

#include <string.h>

bool q_lacks_a_place(const struct q_state *st)
{
	bool lacks = false;

	for (uint32_t k = 0; k < st->n_spots && !lacks; k++)
		lacks = !st->spots[k].node || st->spots[k].waits;
	return lacks;
}

/* Pods that stay and have no place yet go before whoever is new: where they will be is not known, so that only the sums keep room for them. */
static bool somebody_lacks_a_place(const struct q_pass *p)
{
	if (p->memo->lacks_place_at == p->round.change)
		return p->memo->lacks_place;
	p->memo->lacks_place_at = p->round.change;
	p->memo->lacks_place = false;
	for (uint32_t i = 0; i < p->plan.n_live && !p->memo->lacks_place; i++) {
		const struct q_group *g = p->plan.live[i];

		p->memo->lacks_place = q_is_admitted(g) && !g->in->joins && q_lacks_a_place(&g->st);
	}
	return p->memo->lacks_place;
}

static int64_t foreign_seen(const struct q_pass *p, const struct q_ask *ask, uint32_t r, enum q_view view)
{
	if (view == Q_FUT || !p->plan.foreign.n)
		return q_foreign(p, r);
	return p->in->foreign[r] -
		(!ask->extra && q_may_use_foreign(p, ask->group) ? p->plan.foreign.soon[r] : 0);
}

/*
 * The resources of which the sum over all nodes has too little. Into *@refused those that refuse the ask: where guarantees of others, or
 * room for pods that have no place yet, must stay free, or nodes are not looked at. Else the nodes decide.
 */
static uint64_t short_in_cluster(const struct q_pass *p, const struct q_ask *ask, enum q_view view,
	uint64_t *refused)
{
	bool nodes_decide = !ask->group->in->no_node_check;
	uint64_t all = 0;

	for (uint32_t r = 0; r < p->in->n_resources && !p->in->snapshot->no_nodes; r++) {
		int64_t sum, lock = p->in->has_guarantees && !ask->no_lock ? q_lock(ask->group->queue, r) : 0;

		if (ask->needs[r] <= 0)
			continue;
		sum = q_add(q_add(foreign_seen(p, ask, r, view), q_seen(&p->in->root->sum[r], view)),
			ask->needs[r]);
		if (q_add(sum, lock) <= p->in->alloc[r])
			continue;
		all |= (uint64_t)1 << r;
		*refused |= (uint64_t)(lock > 0 || !nodes_decide || somebody_lacks_a_place(p)) << r;
	}
	return all;
}

/* Of a queue of its path: also if it is the pool of a head. */
static uint64_t short_in_queue(const struct q_pass *p, const struct q_queue *q, const struct q_ask *ask,
	enum q_view view)
{
	const struct q_group *head = q_binds(p, q->reserved, ask) ? q->reserved : NULL;
	uint64_t all = 0;

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		int64_t asked = ask->needs[r], limit;

		if (asked <= 0)
			continue;
		if (head)
			asked = q_add(asked, head->kind->minimum[r]);
		all |= (uint64_t)(asked > q_queue_room(q, r, ask->group, view, &limit)) << r;
	}
	return all;
}

static bool lacks_jobs(const struct q_pass *p, const struct q_queue *q, const struct q_ask *ask)
{
	int32_t head = q_binds(p, q->reserved, ask);

	return ask->job && q->in->max_jobs > 0 && q->live + 1 + head > q->in->max_jobs;
}

int64_t q_row_room(const struct q_pass *p, uint32_t row)
{
	const struct kar_queue_quota_row *in = &p->in->snapshot->rows[row];

	return q_sub(q_sub(in->limit, in->foreign), q_seen(&p->in->rows[row].sum, Q_FUT));
}

bool q_exceeds_load(const struct q_pass *p, const int64_t *u)
{
	for (uint32_t r = 0; r < p->in->n_resources && !p->in->snapshot->no_nodes; r++) {
		if (u[r] > 0 && q_add(q_used(p->in->root, r), u[r]) > p->in->load[r])
			return true;
	}
	return false;
}

/* The bits of the rows that are too small; *@closed: one is held for a group that comes first. */
static uint64_t short_in_quotas(const struct q_pass *p, const struct q_ask *ask, enum q_view view,
	bool *closed)
{
	const struct q_kind *k = ask->group->kind;
	uint64_t all = 0;

	for (uint32_t i = 0; i < k->n_rows; i++) {
		const struct kar_queue_quota_row *in = &p->in->snapshot->rows[k->rows[i]];
		const struct q_group *closer;
		int64_t room;

		if (ask->rows[i] <= 0)
			continue;
		room = q_sub(q_sub(in->limit, in->foreign), q_seen(&p->in->rows[k->rows[i]].sum, view));
		all |= (uint64_t)(ask->rows[i] > room) << i;
		closer = q_row_closer(p, k->rows[i]);
		*closed |= closer && closer != ask->group && !ask->group->keeps &&
			q_compare_line(&closer, &ask->group) < 0;
	}
	return all;
}

bool q_queues_allow(const struct q_pass *p, const struct q_ask *ask, enum q_view view, struct q_short *s)
{
	bool fits = true;

	for (uint32_t i = 0; i < ask->group->kind->n_rows; i++) {
		uint32_t row = ask->group->kind->rows[i];
		bool lacks = p->in->snapshot->rows[row].of_queue && ask->rows[i] > 0 &&
			ask->rows[i] >
				q_sub(p->in->snapshot->rows[row].limit, q_seen(&p->in->rows[row].sum, view));

		s->quota |= (uint64_t)lacks << i;
		fits &= !lacks;
	}
	for (const struct q_queue *q = ask->group->queue; q->in; q = q->parent) {
		s->capability[q->depth] = short_in_queue(p, q, ask, view);
		s->jobs |= (uint32_t)lacks_jobs(p, q, ask) << q->depth;
		fits &= !s->capability[q->depth];
	}
	return fits && !s->jobs;
}

bool q_rows_fit(const struct q_pass *p, const struct q_ask *ask, enum q_view view, struct q_short *s)
{
	uint64_t refused = 0;
	bool fits;

	*s = (struct q_short){ .cluster = short_in_cluster(p, ask, view, &refused) };
	s->quota = short_in_quotas(p, ask, view, &s->closed);
	fits = !refused && !s->quota && !s->closed;
	return q_queues_allow(p, ask, view, s) && fits;
}

/* --- without anybody else -------------------------------------------------------------------------- */

/* Guarantees of others that nobody ever frees: those of the siblings of its path. */
static int64_t guaranteed_to_others(const struct q_pass *p, const struct q_queue *q, uint32_t r)
{
	int64_t all = 0;

	for (; p->in->has_guarantees && q->parent; q = q->parent) {
		for (uint32_t i = 0; i < q->parent->n_children; i++) {
			if (q->parent->children[i] != q)
				all = q_add(all, q->parent->children[i]->guarantee[r]);
		}
	}
	return all;
}

static bool fits_empty_rows(const struct q_pass *p, const struct q_group *g)
{
	const int64_t *m = g->kind->minimum, *yielded = q_yielded_to(p, g);

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		int64_t others;

		if (m[r] <= 0)
			continue;
		for (const struct q_queue *q = g->queue; q->in; q = q->parent) {
			if (m[r] > q_limit(q, r, g))
				return false;
		}
		others = q_add(p->in->foreign[r] - yielded[r], guaranteed_to_others(p, g->queue, r));
		if (!p->in->snapshot->no_nodes && q_add(m[r], others) > p->in->alloc[r])
			return false;
	}
	for (uint32_t i = 0; i < g->kind->n_rows; i++) {
		if (g->kind->row_minimum[i] > p->in->snapshot->rows[g->kind->rows[i]].hard)
			return false;
	}
	return true;
}

bool q_is_feasible(const struct q_pass *p, struct q_group *g)
{
	if (g->kind->feasible < 0)
		g->kind->feasible = fits_empty_rows(p, g) && q_fits_empty_nodes(p, g);
	return g->kind->feasible;
}

/* --- who is blocked -------------------------------------------------------------------------------- */

/* It waits for an admission that nothing but the room of its queue, the cluster or a quota can refuse. */
static bool is_waiting(const struct q_group *g)
{
	return g->st.standing == KAR_QUEUE_WAITING && q_ineligible(g) == KAR_QR_ADMITTED && !g->st.cause &&
		!g->in->takes_nothing;
}

struct q_group *q_row_closer(const struct q_pass *p, uint32_t row)
{
	struct q_row *r = &p->in->rows[row];
	int64_t room;

	if (r->closer_at == p->round.change)
		return r->closer;
	r->closer = NULL;
	r->closer_at = p->round.change;
	room = q_row_room(p, row);
	for (uint32_t i = 0; r->largest > room && i < r->n_line && !r->closer; i++) {
		struct q_group *g = r->line[i];

		for (uint32_t k = 0; k < g->kind->n_rows; k++) {
			if (g->kind->rows[k] == row && g->kind->row_minimum[k] > room && is_waiting(g) &&
				q_is_feasible(p, g))
				r->closer = g;
		}
	}
	return r->closer;
}

bool q_is_quota_blocked(const struct q_pass *p, const struct q_group *g)
{
	for (uint32_t i = 0; i < g->kind->n_rows; i++) {
		const struct q_group *closer;

		if (g->kind->row_minimum[i] <= 0)
			continue;
		if (g->kind->row_minimum[i] > q_row_room(p, g->kind->rows[i]))
			return true;
		closer = q_row_closer(p, g->kind->rows[i]);
		if (closer && closer != g && q_compare_line(&closer, &g) < 0)
			return true;
	}
	return false;
}
