/* What a group asks for, and whether a reservation for another one stops it. */
#include "common/queue/impl.h"

bool q_is_candidate(const struct q_group *g)
{
	if (g->st.standing == KAR_QUEUE_WAITING)
		return !g->st.cause && q_ineligible(g) == KAR_QR_ADMITTED;
	return q_is_admitted(g) && g->in->elastic && g->st.n_kept < g->min && g->st.n_kept > 0 &&
		g->queue->in; /* its minimum was raised */
}

struct q_ask q_ask_minimum(struct q_group *g)
{
	return (struct q_ask){ .group = g,
		.from = 0,
		.to = g->min,
		.needs = g->kind->minimum,
		.rows = g->kind->row_minimum,
		.job = true };
}

struct q_ask q_ask_pods(const struct q_pass *p, struct q_group *g, int32_t from, int32_t to)
{
	int64_t *v = q_vector(p);
	int64_t *rows = kar_arena_alloc(p->arena, g->kind->n_rows + 1, sizeof(*rows));

	q_add_pods(p, g, from, to, v, rows);
	return (struct q_ask){ .group = g,
		.from = from,
		.to = to,
		.needs = v,
		.rows = rows,
		.extra = from >= g->min };
}

struct q_ask q_ask_of(const struct q_pass *p, struct q_group *g)
{
	return q_is_admitted(g) ? q_ask_pods(p, g, g->st.n_kept, g->min) : q_ask_minimum(g);
}

static bool is_guaranteed(const struct q_pass *p, const struct q_queue *q, const int64_t *v)
{
	bool asks = false;

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		if (v[r] <= 0 || q->guarantee[r] <= 0)
			continue;
		if (q_add(q_used(q, r), v[r]) > q->guarantee[r])
			return false;
		asks = true;
	}
	return asks;
}

/* Of a whole group against the queue of the head: its guarantee or its right has room for it. */
static bool is_its_right(const struct q_pass *p, const struct q_group *head, const struct q_ask *ask)
{
	struct q_queue *a, *b;

	return q_pair(ask->group->queue, head->queue, &a, &b) &&
		(is_guaranteed(p, a, ask->needs) || q_within(p, a, ask->needs));
}

bool q_binds(const struct q_pass *p, const struct q_group *head, const struct q_ask *ask)
{
	if (!head || head == ask->group || ask->no_reservation ||
		(head->binds_own && head->queue != ask->group->queue))
		return false;
	return ask->extra ||
		(ask->group->level <= head->level && ask->group->in->base <= head->in->base &&
			!is_its_right(p, head, ask));
}
