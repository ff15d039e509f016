/* RESERVE: who has waited for too long gets its room together. */
#include "common/queue/places.h"

/* --- when a reservation ends --------------------------------------------------------------------------- */

enum {
	PROGRESS = 6
}; /* percent of the minimum: so a reservation makes progress 16 times at most, and once for each pod */

/* Leaves of which five jobs have run, by their median run time. */
static uint32_t by_median(const struct q_pass *p, const struct kar_queue_in **leaves)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		const struct kar_queue_in *q = p->in->queues[i].in;
		uint32_t k = n;

		if (q->n_run_times < 5)
			continue;
		for (; k > 0 && leaves[k - 1]->median_seconds > q->median_seconds; k--)
			leaves[k] = leaves[k - 1];
		leaves[k] = q;
		n++;
	}
	return n;
}

/* The median of the run times that are known: of each leaf its own median stands for all its jobs. 0: none is known. */
static kar_time usual_run_time(const struct q_pass *p)
{
	const struct kar_queue_in **leaves =
		kar_arena_alloc(p->arena, p->in->snapshot->n_queues + 1, sizeof(const struct kar_queue_in *));
	uint32_t n = by_median(p, leaves), i = 0;
	int64_t all = 0, so_far = 0;

	for (uint32_t k = 0; k < n; k++)
		all += leaves[k]->n_run_times;
	while (i < n && 2 * (so_far += leaves[i]->n_run_times) < all)
		i++;
	return i < n ? leaves[i]->median_seconds * KAR_SECOND : 0;
}

/* ms of the usual run time that count: where jobs run for days, no room is kept free for so long. */
static const kar_time USUAL_AT_MOST = 4 * 60 * KAR_MINUTE;

/* ms in which a queue has no reservation after one without progress. */
static kar_time cooling(const struct q_pass *p)
{
	return 2 * p->in->snapshot->flags.starvation_timeout;
}

/* ms without progress: where jobs run for hours, nothing may come free for as long. */
static kar_time longest(const struct q_pass *p)
{
	if (!p->memo->longest)
		p->memo->longest = q_max(cooling(p), q_min(usual_run_time(p), USUAL_AT_MOST));
	return p->memo->longest;
}

static bool has_ended(const struct q_pass *p, const struct q_queue *q)
{
	return q->in->reserved_until > 0 && q->in->reserved_until <= p->in->now;
}

/* A reservation has ended without progress, and the queue has no other for a while. */
static bool cools_down(const struct q_pass *p, const struct q_queue *q)
{
	kar_time again;

	if (!has_ended(p, q))
		return false;
	again = q_add(q->in->reserved_until, cooling(p));
	if (again > p->in->now)
		q_note_time(p, again);
	return again > p->in->now;
}

/* In the last pass, and still. */
static bool is_held_for(const struct q_pass *p, const struct q_group *g)
{
	return g->queue->in->reserved_for == g->index && !has_ended(p, g->queue);
}

/* How many pods of its minimum its queues have room for. */
static int32_t pods_in_rows(const struct q_pass *p, struct q_group *g)
{
	int32_t least = 0, most = g->min;

	while (least < most) {
		int32_t pods = least + (most - least + 1) / 2;
		int64_t asked[Q_RESOURCES] = { 0 }, limit;
		bool fits = true;

		q_add_pods(p, g, 0, pods, asked, NULL);
		for (const struct q_queue *q = g->queue; q->in; q = q->parent) {
			for (uint32_t r = 0; r < p->in->n_resources; r++)
				fits &= asked[r] <= 0 || asked[r] <= q_queue_room(q, r, g, Q_FUT, &limit);
		}
		if (fits)
			least = pods;
		else
			most = pods - 1;
	}
	return least;
}

/* How much of @asked is in @room, in percent. */
static int64_t percent(int64_t room, int64_t asked)
{
	if (asked <= 0 || room >= asked)
		return 100;
	return room > 0 ? q_min(q_mul(room, 100) / asked, 99) : 0;
}

/* How much of its minimum has come free in its queues, and on the nodes that are kept for it: a large pod needs more than one that ends. */
static int32_t gathered_by(const struct q_pass *p, const struct q_group *g)
{
	int64_t least = g == p->in->root->reserved && !g->in->no_node_check ? p->plan.gathered : 100, limit;

	for (const struct q_queue *q = g->queue; q->in; q = q->parent) {
		for (uint32_t r = 0; r < p->in->n_resources; r++)
			least = q_min(least,
				percent(q_queue_room(q, r, g, Q_FUT, &limit), g->kind->minimum[r]));
	}
	return (int32_t)least;
}

static int32_t pods_that_fit(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);
	int32_t pods = pods_in_rows(p, g);

	if (p->in->snapshot->no_nodes || g->in->no_node_check)
		return pods;
	return (int32_t)q_min(pods, q_explain_nodes(p, &ask).placed);
}

void q_reservation_result(struct q_pass *p, struct q_group *head, struct kar_queue_status_out *o)
{
	const struct kar_queue_in *in = head->queue->in;
	int32_t pods = pods_that_fit(p, head), gathered = gathered_by(p, head);
	bool held = is_held_for(p, head);
	bool goes_on = held && in->reserved_until > 0 && pods <= in->reserved_pods &&
		gathered < in->reserved_gathered + PROGRESS;

	o->reserved_since = held ? in->reserved_since : p->in->now;
	o->reserved_pods = held && in->reserved_pods > pods ? in->reserved_pods : pods;
	o->reserved_gathered =
		goes_on || (held && in->reserved_gathered > gathered) ? in->reserved_gathered : gathered;
	o->reserved_until = goes_on ? in->reserved_until : q_add(p->in->now, longest(p));
	if (head == p->in->root->reserved && !head->binds_own)
		o->reserved_start = p->plan.shadow;
	if (o->reserved_start) /* what comes free only then is no lack of progress before */
		o->reserved_until = q_max(o->reserved_until, q_add(o->reserved_start, cooling(p)));
	q_note_time(p, o->reserved_until);
}

bool q_keeps_reservation(const struct q_pass *p, const struct q_queue *q)
{
	uint32_t group = q->in->reserved_for;

	if (!has_ended(p, q) || p->in->snapshot->flags.starvation_timeout <= 0)
		return false;
	if (group == KAR_QUEUE_NONE)
		return q_add(q->in->reserved_until, cooling(p)) > p->in->now;
	return p->in->groups[group].st.standing == KAR_QUEUE_WAITING;
}

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

/* Else it stops groups of its own queue alone: the others keep no room free for what its queue is not due. */
static bool is_entitled(const struct q_pass *p, const struct q_group *g)
{
	bool all = true;

	for (uint32_t r = 0; r < p->in->n_resources && !p->in->snapshot->no_nodes; r++)
		all &= g->kind->minimum[r] <= 0 || g->kind->minimum[r] <= g->queue->due[r];
	return all;
}

static bool starves(struct q_pass *p, struct q_group *g)
{
	int64_t limit = p->in->snapshot->flags.starvation_timeout / KAR_SECOND;

	if (g->st.standing != KAR_QUEUE_WAITING || !q_is_candidate(g) || g->wait < limit || g->in->n_unit ||
		g->in->takes_nothing)
		return false;
	if (!q_is_feasible(p, g) || q_is_quota_blocked(p, g))
		return false;
	/* Its room has come together: if it were no head now, those that it has held up would take that. */
	if (is_held_for(p, g))
		return true;
	if (g->kind->starved_at == p->round.change && !q_ends_in_time(p, g))
		return true;
	if (fits_later(p, g))
		return false;
	g->kind->starved_at = p->round.change;
	return true;
}

/* --- pools ------------------------------------------------------------------------------------------ */

/* The lowest queue on the path of @g whose capability or maxJobs stops it; the root if only the cluster does. */
static struct q_queue *pool_of(const struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);
	struct q_queue *q = g->queue;
	struct q_short s;

	q_rows_fit(p, &ask, Q_FUT, &s);
	while (q->in && !s.capability[q->depth] && !(s.jobs >> q->depth & 1))
		q = q->parent;
	return q;
}

static bool is_before(const struct q_group *a, const struct q_group *b)
{
	if (a->level != b->level)
		return a->level > b->level;
	if (a->wait != b->wait)
		return a->wait > b->wait;
	return q_compare_names(a, b) < 0;
}

/*
 * Its turn was: the last reservation of its queue was for it or one behind it, and has ended without progress. Or it is the turn of one
 * behind it, which keeps that until its own has ended: only a higher level takes it over.
 */
static bool has_had_its_turn(const struct q_pass *p, const struct q_group *g)
{
	const struct kar_queue_in *in = g->queue->in;
	const struct q_group *last;

	if (in->reserved_for == KAR_QUEUE_NONE)
		return false;
	last = &p->in->groups[in->reserved_for];
	if (has_ended(p, g->queue))
		return !is_before(last, g);
	return last->st.standing == KAR_QUEUE_WAITING && last->level == g->level && is_before(g, last);
}

static bool goes_first(const struct q_pass *p, const struct q_group *a, const struct q_group *b)
{
	bool had_a = has_had_its_turn(p, a), had_b = has_had_its_turn(p, b);

	if (a->binds_own != b->binds_own)
		return b->binds_own;
	return had_a != had_b ? had_b : is_before(a, b);
}

/* --- the room of the head of the cluster -------------------------------------------------------------- */

/* It ran for twice the usual time already when the reservation began: it may do so for as long again. */
static bool may_stay(const struct q_pass *p, const struct q_group *g, kar_time since)
{
	return g->in->started_at && g->in->started_at < since - 2 * longest(p);
}

/* Equal nodes in the order of their names, whatever was lifted. */
static bool place_settled(struct q_pass *p, const struct q_ask *ask, struct q_state *st)
{
	const struct kar_queue_group *in = ask->group->in;

	for (uint32_t i = 0; i < in->n_runs; i++)
		kar_sched_settle(p->in->snapshot->sched, in->runs[i].class);
	return q_place(p, ask, Q_FUT, st);
}

static bool place_beside_old(struct q_pass *p, const struct q_ask *ask, kar_time since, struct q_state *st)
{
	const struct q_state none = { 0 };
	bool any = false;

	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		any |= may_stay(p, p->plan.live[i], since);
		if (!may_stay(p, p->plan.live[i], since))
			q_retake(p, p->plan.live[i], &p->plan.live[i]->st, &none);
	}
	if (place_settled(p, ask, st))
		return true;
	for (uint32_t i = 0; any && i < p->plan.n_live; i++) {
		if (may_stay(p, p->plan.live[i], since))
			q_retake(p, p->plan.live[i], &p->plan.live[i]->st, &none);
	}
	return any && place_settled(p, ask, st);
}

/*
 * Where the head would be without any managed pod, or beside those that have run for long, if it fits there: in every pass on the same nodes.
 * Those that it was not to have in the last pass have been filled since.
 */
static struct q_room *place_alone(struct q_pass *p, struct q_group *head, kar_time since,
	struct kar_table *by_node, uint32_t *n)
{
	const struct q_ask ask = q_ask_minimum(head);
	struct q_mark mark = q_mark(p);
	struct q_state st = head->st;
	struct q_room *rooms = NULL;

	if (place_beside_old(p, &ask, since, &st)) {
		rooms = kar_arena_alloc(p->arena, st.n_spots + 1, sizeof(*rooms));
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
	struct q_room *rooms = context;
	const uint32_t *at = kar_table_find(&p->plan.reserved_at, node);

	if (at)
		q_add_class(p, class, -(int64_t)n, rooms[*at].v);
}

void q_forget_reservation(struct q_pass *p)
{
	p->plan.n_reserved = 0;
	p->plan.left_before = INT64_MAX;
	p->plan.shadow = 0;
	kar_table_release(&p->plan.reserved_at);
	p->plan.reserved_at = (struct kar_table){ 0 };
}

/* What is free now of the room that the head would have on the nodes without any managed pod. */
static int64_t gathered_on(const struct q_pass *p, const struct q_group *head, const struct q_room *rooms,
	uint32_t n)
{
	int64_t least = 100;

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		int64_t sum = 0;

		for (uint32_t i = 0; i < n && head->kind->minimum[r] > 0; i++)
			sum = q_add(sum,
				q_max(0,
					q_min(rooms[i].v[r],
						kar_sched_node_free(p->in->snapshot->sched, rooms[i].node,
							p->in->names[r]))));
		least = q_min(least, percent(sum, head->kind->minimum[r]));
	}
	return least;
}

static void reserve_nodes(struct q_pass *p, struct q_group *head)
{
	const struct kar_queue_in *in = head->queue->in;
	kar_time since = is_held_for(p, head) ? in->reserved_since : p->in->now;
	uint32_t n = 0;
	struct q_room *rooms = place_alone(p, head, since, &p->plan.reserved_at, &n);

	if (!rooms) {
		p->in->root->reserved = NULL;
		return;
	}
	q_find_shadow(p, head, is_held_for(p, head), rooms, n);
	p->plan.reserved_since = since;
	p->plan.gathered = gathered_on(p, head, rooms, n);
	p->plan.kept_before =
		kar_arena_alloc(p->arena, p->in->snapshot->n_groups, sizeof(*p->plan.kept_before));
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];

		p->plan.kept_before[g->index] = q_kept(g);
		if (!p->plan.shadow)
			q_visit_old(p, g, 0, q_kept(g), subtract_old, rooms);
	}
	if (p->plan.shadow)
		q_leave_room_to_those_in_time(p, rooms);
	p->plan.left_before = p->plan.leaving;
	p->plan.reserved = kar_arena_alloc(p->arena, n + 1, sizeof(*p->plan.reserved));
	for (uint32_t i = 0; i < n; i++) {
		kar_class class = q_room_class(p, rooms[i].v);

		if (class)
			p->plan.reserved[p->plan.n_reserved++] =
				(struct q_reserved){ rooms[i].node, class, rooms[i].v };
	}
}

void q_reserve(struct q_pass *p)
{
	struct q_group **heads =
		kar_arena_alloc(p->arena, p->in->snapshot->n_queues + 1, sizeof(struct q_group *));

	if (p->in->snapshot->flags.starvation_timeout <= 0)
		return;
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		struct q_queue *q = &p->in->queues[i];

		for (uint32_t k = 0; k < q->n_line && !cools_down(p, q); k++) {
			struct q_group *g = q->line[k];

			if (starves(p, g)) {
				g->binds_own = !is_entitled(p, g);
				const struct q_queue *pool = pool_of(p, g);
				struct q_group **head =
					&heads[pool->in ? pool->index : p->in->snapshot->n_queues];

				if (!*head || goes_first(p, g, *head))
					*head = g;
			}
			if (q->in->strict && q_is_candidate(g))
				break; /* the others are behind a head */
		}
	}
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++)
		p->in->queues[i].reserved = heads[i];
	if (p->in->root->reserved && !p->in->snapshot->no_nodes)
		reserve_nodes(p, p->in->root->reserved);
}
