/* EXTRAS: pods beyond the minima, to whom is due the most; who may grow, and when a rise is carried out. */
#include "common/queue/impl.h"

#include <stdlib.h>
#include <string.h>

/* --- who may grow ---------------------------------------------------------------------------------- */

static bool is_starting(const struct q_pass *p, const struct q_group *g)
{
	bool old = g->in->standing == KAR_QUEUE_ADMITTED;
	kar_time end = (old ? g->in->admitted_at : p->in->now) + g->in->schedule_timeout;

	if (!q_is_admitted(g) || (old && g->in->phase == KAR_QUEUE_RUNS) || p->in->now >= end)
		return false;
	q_note_time(p, end);
	return true;
}

static void note_starting(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->in->snapshot->n_rows; i++)
		p->in->rows[i].starting = false;
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];

		if (!is_starting(p, g))
			continue;
		for (uint32_t k = 0; k < g->kind->n_rows; k++)
			p->in->rows[g->kind->rows[k]].starting = true;
	}
}

/* Room on nodes is held for who starts, but that of a quota goes to whose pods are created first. */
bool q_waits_for_start(const struct q_pass *p, const struct q_group *g)
{
	bool starting = false;

	for (uint32_t k = 0; k < g->kind->n_rows; k++)
		starting |= p->in->rows[g->kind->rows[k]].starting &&
			!p->in->snapshot->rows[g->kind->rows[k]].of_queue; /* the plan itself keeps those */
	return starting;
}

bool q_may_grow(const struct q_pass *p, const struct q_group *g)
{
	bool runs =
		q_is_admitted(g) && g->in->standing == KAR_QUEUE_ADMITTED && g->in->phase == KAR_QUEUE_RUNS;

	return runs && g->in->elastic && g->queue->in && !g->queue->n_children && g->st.n_kept >= g->min &&
		g->st.n_kept < g->left && !g->full && !g->queue->closed && !q_waits_for_start(p, g) &&
		(g->st.n_kept != g->desired || g->in->resized || !q_pauses(p, g));
}

/* --- order in a leaf -------------------------------------------------------------------------------- */

static const int64_t *next_pod(const struct q_pass *p, const struct q_group *g)
{
	return q_class_needs(p, q_class_of(p, g, q_run_of(g, g->st.n_kept)));
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* By what the next pod asks for: GPUs of any maker, then cpu, then memory. */
static int compare_pods(const struct q_pass *p, const int64_t *u, const int64_t *v)
{
	int order = 0;

	for (size_t i = 0; i < KAR_LEN(p->in->ranked) && !order; i++) {
		int64_t of_u = 0, of_v = 0;

		for (uint32_t r = 0; r < p->in->n_resources; r++) {
			of_u = q_add(of_u, p->in->ranked[i] >> r & 1 ? u[r] : 0);
			of_v = q_add(of_v, p->in->ranked[i] >> r & 1 ? v[r] : 0);
		}
		order = compare(of_u, of_v);
	}
	return order;
}

static int compare_growth(const struct q_pass *p, const struct q_group *a, const struct q_group *b)
{
	int64_t e = q_extras(a), f = q_extras(b);
	int order = compare(e, f);

	if (!order)
		order = compare(b->in->base, a->in->base);
	if (!order)
		order = compare(1000 * e / (a->left - a->min), 1000 * f / (b->left - b->min));
	if (!order)
		order = compare_pods(p, next_pod(p, a), next_pod(p, b));
	if (!order)
		order = compare(a->in->creation, b->in->creation);
	return order ? order : q_compare_names(a, b);
}

/* --- the heap of a leaf ------------------------------------------------------------------------------ */

static void put(struct q_queue *leaf, uint32_t i, struct q_group *g)
{
	leaf->growing[i] = g;
	g->grows_at = i + 1;
}

static void sift(const struct q_pass *p, struct q_queue *leaf, uint32_t i)
{
	struct q_group *g = leaf->growing[i];

	for (; i && compare_growth(p, g, leaf->growing[(i - 1) / 2]) < 0; i = (i - 1) / 2)
		put(leaf, i, leaf->growing[(i - 1) / 2]);
	for (uint32_t k = 2 * i + 1; k < leaf->n_growing; k = 2 * i + 1) {
		if (k + 1 < leaf->n_growing && compare_growth(p, leaf->growing[k + 1], leaf->growing[k]) < 0)
			k++;
		if (compare_growth(p, leaf->growing[k], g) >= 0)
			break;
		put(leaf, i, leaf->growing[k]);
		i = k;
	}
	put(leaf, i, g);
}

static void take_out(const struct q_pass *p, struct q_queue *leaf, struct q_group *g)
{
	uint32_t i = g->grows_at - 1;
	struct q_group *last = leaf->growing[--leaf->n_growing];

	g->grows_at = 0;
	if (last == g)
		return;
	put(leaf, i, last);
	sift(p, leaf, i);
}

static void put_in_heap(struct q_pass *p, struct q_group *g)
{
	struct q_queue *leaf = g->queue;
	bool may = q_may_grow(p, g);

	if (!may && g->grows_at) {
		take_out(p, leaf, g);
	} else if (may) {
		if (!leaf->growing)
			leaf->growing = kar_arena_alloc(p->arena, leaf->n_line + 1, sizeof(struct q_group *));
		if (!g->grows_at)
			put(leaf, leaf->n_growing++, g);
		sift(p, leaf, g->grows_at - 1);
	}
}

static void enter(struct q_pass *p, struct q_queue *leaf)
{
	struct q_group *first = leaf->n_growing ? leaf->growing[0] : NULL;

	q_race_enter(p, leaf, first, first ? next_pod(p, first) : NULL);
}

void q_growth_all(struct q_pass *p)
{
	note_starting(p);
	for (uint32_t i = 0; i < p->plan.n_live; i++)
		p->plan.live[i]->full = false;
}

void q_growth_begin(struct q_pass *p, bool fitting)
{
	q_growth_all(p);
	q_race_begin(p, fitting);
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++)
		p->in->queues[i].n_growing = 0;
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		struct q_group *g = p->plan.live[i];

		g->grows_at = 0;
		g->full = fitting && q_may_grow(p, g) && q_exceeds_load(p, next_pod(p, g));
		put_in_heap(p, g);
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		if (p->in->queues[i].n_growing)
			enter(p, &p->in->queues[i]);
	}
}

void q_growth_note(struct q_pass *p, struct q_group *g)
{
	put_in_heap(p, g);
	enter(p, g->queue);
}

/* --- one more --------------------------------------------------------------------------------------- */

/* Extras of one class fit or fail together, whosesoever they are; but some leave a head its room. */
static bool place(struct q_pass *p, const struct q_ask *ask, enum q_view view, struct q_state *st)
{
	kar_class class = q_class_of(p, ask->group, q_run_of(ask->group, ask->from));
	uint32_t *failed = view == Q_FUT && !ask->group->in->no_node_check ? &p->memo->failed[class] : NULL;
	bool fits;

	if (failed && *failed == p->round.change)
		return false;
	fits = q_place(p, ask, view, st);
	if (failed && !fits && !q_binds(p, p->in->root->reserved, ask))
		*failed = p->round.change;
	return fits;
}

bool q_raise_by_one(struct q_pass *p, struct q_group *g, enum q_view view)
{
	int64_t v[Q_RESOURCES] = { 0 }, rows[Q_ROWS] = { 0 };
	struct q_ask ask = { .group = g,
		.from = g->st.n_kept,
		.to = g->st.n_kept + 1,
		.needs = v,
		.rows = rows,
		.extra = true };
	struct q_state st = g->st;
	struct q_short s;
	int bound;

	q_add_pods(p, g, ask.from, ask.to, v, rows);
	if ((g->in->elastic && q_exceeds_load(p, v)) || !q_rows_fit(p, &ask, view, &s))
		return false;
	bound = q_keep_bound(p, g, g->st.n_kept, &st);
	if (bound < 0 && view == Q_NOW && q_may_stray(p, &ask))
		return false;
	if (!bound || (bound < 0 && !place(p, &ask, view, &st)))
		return false;
	st.n_kept++;
	q_set(p, g, &st);
	return true;
}

/* Gives one pod to the group that is first; NULL: nobody can have one. */
static struct q_group *give_one(struct q_pass *p)
{
	struct q_group *g;

	while ((g = p->in->root->candidate)) {
		bool given = q_raise_by_one(p, g, Q_FUT);

		g->full = !given;
		q_growth_note(p, g);
		if (given)
			return g;
	}
	return NULL;
}

bool q_extras_step(struct q_pass *p)
{
	struct q_group *g;
	bool changed = false;

	q_growth_begin(p, true);
	while ((g = give_one(p))) {
		g->raised = g->raised ? g->raised : ++p->plan.n_raised;
		changed = true;
	}
	return changed;
}

/* --- when a rise is carried out ---------------------------------------------------------------------- */

static int by_time_raised(const void *a, const void *b)
{
	const struct q_group *const *x = a, *const *y = b;

	return ((*x)->raised > (*y)->raised) - ((*x)->raised < (*y)->raised);
}

/* Something that stops takes long, or longer than it was to take. */
static bool something_lingers(const struct q_pass *p)
{
	for (uint32_t i = 0; i < p->plan.n_gone; i++) {
		const struct kar_queue_group *in = p->plan.gone[i]->in;

		for (uint32_t k = 0; k < in->n_leaving; k++) {
			kar_time end = in->leaving[k].deletion;

			if (end > p->in->now + 60 * KAR_SECOND || end < p->in->now - 30 * KAR_SECOND)
				return true;
		}
	}
	return false;
}

/* All of it if it fits now, or (@partly) as much as does. */
static bool raise_now(struct q_pass *p, struct q_group *g, int32_t d, bool partly)
{
	struct q_mark mark = q_mark(p);
	bool whole;

	while (g->st.n_kept < d && q_raise_by_one(p, g, Q_NOW))
		continue;
	whole = g->st.n_kept >= d;
	if (whole || partly)
		q_keep_changes(p, mark);
	else
		q_undo(p, mark);
	return whole;
}

bool q_raise(struct q_pass *p)
{
	struct q_group **all = kar_arena_alloc(p->arena, p->plan.n_raised + 1, sizeof(struct q_group *));
	int32_t *d = kar_arena_alloc(p->arena, p->plan.n_raised + 1, sizeof(*d));
	uint32_t n = 0;
	bool withdrawn = false, lingers, may_wait = p->plan.n_raised && (q_leaves(p) || q_awaits_room(p));

	for (uint32_t i = 0; i < p->plan.n_live && may_wait; i++) {
		struct q_group *g = p->plan.live[i];

		if (g->raised && q_is_admitted(g) && g->in->standing == KAR_QUEUE_ADMITTED &&
			g->st.n_kept > g->desired && g->desired >= g->min)
			all[n++] = g;
	}
	qsort(all, n, sizeof(struct q_group *), by_time_raised);
	for (uint32_t i = 0; i < n; i++) {
		struct q_state st = all[i]->st;

		d[i] = st.n_kept;
		st.n_kept = all[i]->desired;
		q_release(p, all[i], &st, st.n_kept);
		q_set(p, all[i], &st);
	}
	lingers = n && something_lingers(p);
	for (uint32_t i = 0; i < n; i++) {
		if (raise_now(p, all[i], d[i], lingers))
			continue;
		withdrawn = true;
		if (all[i]->moved >
			0) /* what it has from EXTRAS does not wait for what others are to give up */
			raise_now(p, all[i], d[i] - all[i]->moved, lingers);
	}
	return withdrawn;
}

/* --- members of others ------------------------------------------------------------------------------- */

/* Members beyond the minimum of groups that the pass does not scale get places in what is left, one per group and round. */
void q_grow_members(struct q_pass *p)
{
	bool again = true;

	for (uint32_t i = 0; i < p->in->n_line; i++)
		p->in->line[i]->full = p->in->line[i]->in->elastic || !p->in->line[i]->in->replaces;
	while (again) {
		again = false;
		for (uint32_t i = 0; i < p->in->n_line; i++) {
			struct q_group *g = p->in->line[i];
			bool grows = !g->full && q_is_admitted(g) && !g->st.provisions &&
				g->st.n_kept < g->left &&
				(g->st.n_kept < g->min || !q_is_behind_strict_head(g));

			g->full |= !grows || !q_raise_by_one(p, g, Q_NOW);
			again |= !g->full;
		}
	}
}
