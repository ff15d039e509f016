/* RESERVE: who has waited for too long gets its room together. */
#include "common/queue/impl.h"

/* --- who starves ------------------------------------------------------------------------------------ */

static bool fits_later(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);
	struct q_state st = g->st;
	struct q_short s;
	struct q_mark mark;
	bool fits;

	if (!q_rows_fit(p, &ask, Q_FUT, &s))
		return false;
	mark = q_mark(p);
	fits = q_place(p, &ask, Q_FUT, &st);
	q_undo(p, mark);
	return fits;
}

/* Nobody keeps room free for what its queue is not due, whoever waits for it. */
static bool is_entitled(const struct q_pass *p, const struct q_group *g)
{
	bool all = true;

	for (uint32_t r = 0; r < p->n_resources && !p->s->no_nodes; r++)
		all &= g->kind->m[r] <= 0 || g->kind->m[r] <= g->q->due[r];
	return all;
}

static bool starves(struct q_pass *p, struct q_group *g)
{
	int64_t limit = p->s->flags.starvation_timeout / KAR_SECOND;

	if (g->st.standing != KAR_QUEUE_WAITING || !q_is_candidate(g) || g->wait < limit || g->in->n_unit ||
		g->in->takes_nothing)
		return false;
	if (!q_is_feasible(p, g) || !is_entitled(p, g) || q_is_quota_blocked(p, g))
		return false;
	/* Its room has come together: if it were no head now, those that it has held up would take that. */
	if (g->q->in->reserved_for == g->index)
		return true;
	if (g->kind->starved_at == p->change)
		return true;
	if (fits_later(p, g))
		return false;
	g->kind->starved_at = p->change;
	return true;
}

/* --- pools ------------------------------------------------------------------------------------------ */

/* The lowest queue of its path that is short of something for it, else the cluster. */
static struct q_queue *pool_of(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);
	struct q_queue *q = g->q;
	struct q_short s;

	q_rows_fit(p, &ask, Q_FUT, &s);
	while (q->in && !s.cap[q->depth] && !(s.jobs >> q->depth & 1))
		q = q->parent;
	return q;
}

static bool goes_first(const struct q_group *a, const struct q_group *b)
{
	if (a->level != b->level)
		return a->level > b->level;
	if (a->wait != b->wait)
		return a->wait > b->wait;
	return q_compare_names(a, b) < 0;
}

/* --- the room of the head of the cluster -------------------------------------------------------------- */

typedef void pod_visitor(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n);

struct room {
	const char *node;
	int64_t v[Q_RESOURCES];
};

void q_lift_all(struct q_pass *p)
{
	const struct q_state none = { 0 };

	for (uint32_t i = 0; i < p->n_live; i++)
		q_retake(p, p->live[i], &p->live[i]->st, &none);
}

/*
 * Where the head would be without any managed pod: in every pass on the same nodes. Those that it was not to have in the last pass have been
 * filled since.
 */
static struct room *place_alone(struct q_pass *p, struct q_group *head, struct kar_table *by_node,
	uint32_t *n)
{
	const struct q_ask ask = q_ask_minimum(head);
	struct q_mark mark = q_mark(p);
	struct q_state st = head->st;
	struct room *rooms = NULL;

	q_lift_all(p);
	for (uint32_t i = 0; i < head->in->n_runs; i++)
		kar_sched_settle(p->s->sched, head->in->runs[i].class);
	if (q_place(p, &ask, Q_FUT, &st)) {
		rooms = kar_arena_alloc(p->a, st.n_spots + 1, sizeof(*rooms));
		for (uint32_t i = 0; i < st.n_spots; i++) {
			const struct q_spot *s = &st.spots[i];
			uint32_t *at = s->node ? kar_table_find(by_node, s->node) : NULL;

			if (!s->node)
				continue;
			if (!at) {
				rooms[*n].node = s->node;
				kar_table_add(by_node, s->node, *n);
			}
			q_add_class(p, head->in->runs[s->run].class, s->n, rooms[at ? *at : (*n)++].v);
		}
	}
	q_undo(p, mark);
	return rooms;
}

/* Pods from before the reservation are in that room as long as they run; others must leave it free. */
static void subtract_old(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	struct room *rooms = context;
	const uint32_t *at = kar_table_find(&p->reserved_at, node);

	if (at)
		q_add_class(p, class, -(int64_t)n, rooms[*at].v);
}

/* Of pods @from .. @to of the group: those that were bound before the reservation. */
static void visit_old(struct q_pass *p, const struct q_group *g, int32_t from, int32_t to, pod_visitor *visit,
	void *context)
{
	int32_t first = 0;

	for (uint32_t i = 0; i < g->in->n_runs && first < to; first += g->in->runs[i++].n) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t at = first;

		for (uint32_t k = 0; k < run->n_seats; k++) {
			const struct kar_queue_seat *s = &run->seats[k];
			int32_t begin = from > at ? from : at, end = to < at + s->n ? to : at + s->n;

			at += s->n;
			if (begin < end && s->node && s->bound && s->created < p->reserved_since)
				visit(p, context, s->node, run->class, end - begin);
		}
	}
}

static void take_old(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	const int32_t *sign = context;

	if (kar_table_find(&p->reserved_at, node))
		kar_sched_take(p->s->sched, node, class, *sign * n);
}

void q_reserve_room(struct q_pass *p, int32_t sign)
{
	for (uint32_t i = 0; i < p->n_reserved; i++)
		kar_sched_take(p->s->sched, p->reserved[i].node, p->reserved[i].class, sign);
	for (uint32_t i = 0; i < p->n_gone && p->leaving > p->left_before; i++) {
		const struct q_group *g = p->gone[i];
		int32_t kept = q_kept(g), before = p->kept_before[g->index];

		if (kept < before)
			visit_old(p, g, kept, before, take_old, &sign);
	}
}

void q_forget_reservation(struct q_pass *p)
{
	p->n_reserved = 0;
	p->left_before = INT64_MAX;
	kar_table_release(&p->reserved_at);
	p->reserved_at = (struct kar_table){ 0 };
}

static void reserve_nodes(struct q_pass *p, struct q_group *head)
{
	const struct kar_queue_in *in = head->q->in;
	kar_time since = in->reserved_for == head->index ? in->reserved_since : p->now;
	uint32_t n = 0;
	struct room *rooms = place_alone(p, head, &p->reserved_at, &n);

	if (!rooms) {
		p->root->reserved = NULL;
		return;
	}
	p->reserved_since = since;
	p->kept_before = kar_arena_alloc(p->a, p->s->n_groups, sizeof(*p->kept_before));
	for (uint32_t i = 0; i < p->n_live; i++) {
		const struct q_group *g = p->live[i];

		p->kept_before[g->index] = q_kept(g);
		visit_old(p, g, 0, q_kept(g), subtract_old, rooms);
	}
	p->left_before = p->leaving;
	p->reserved = kar_arena_alloc(p->a, n + 1, sizeof(*p->reserved));
	for (uint32_t i = 0; i < n; i++) {
		kar_class class = q_room_class(p, rooms[i].v);

		if (class)
			p->reserved[p->n_reserved++] =
				(struct q_reserved){ rooms[i].node, class, rooms[i].v };
	}
}

void q_reserve(struct q_pass *p)
{
	struct q_group **heads = kar_arena_alloc(p->a, p->s->n_queues + 1, sizeof(struct q_group *));

	if (p->s->flags.starvation_timeout <= 0)
		return;
	for (uint32_t i = 0; i < p->s->n_queues; i++) {
		struct q_queue *q = &p->queues[i];

		for (uint32_t k = 0; k < q->n_line; k++) {
			struct q_group *g = q->line[k];

			if (starves(p, g)) {
				const struct q_queue *pool = pool_of(p, g);
				struct q_group **head = &heads[pool->in ? pool->index : p->s->n_queues];

				if (!*head || goes_first(g, *head))
					*head = g;
			}
			if (q->in->strict && q_is_candidate(g))
				break; /* the others are behind a head */
		}
	}
	for (uint32_t i = 0; i <= p->s->n_queues; i++)
		p->queues[i].reserved = heads[i];
	if (p->root->reserved && !p->s->no_nodes)
		reserve_nodes(p, p->root->reserved);
}
