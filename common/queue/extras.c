/* EXTRAS: pods beyond the minima, to whom is due the most. REBALANCE: one for one. And when a rise is carried out. */
#include "common/queue/impl.h"

#include <stdlib.h>
#include <string.h>

/* --- who may grow ---------------------------------------------------------------------------------- */

static bool is_starting(struct q_pass *p, const struct q_group *g)
{
	bool old = g->in->standing == KAR_QUEUE_ADMITTED;
	kar_time end = (old ? g->in->admitted_at : p->now) + g->in->schedule_timeout;

	if (!q_is_admitted(g) || (old && g->in->phase == KAR_QUEUE_RUNS) || p->now >= end)
		return false;
	q_note_time(p, end);
	return true;
}

static void note_starting(struct q_pass *p)
{
	for (uint32_t i = 0; i <= p->s->n_queues; i++)
		p->queues[i].starting = false;
	for (uint32_t i = 0; i < p->s->n_rows; i++)
		p->rows[i].starting = false;
	for (uint32_t i = 0; i < p->n_live; i++) {
		const struct q_group *g = p->live[i];

		if (!is_starting(p, g))
			continue;
		g->q->starting = true;
		for (uint32_t k = 0; k < g->kind->n_rows; k++)
			p->rows[g->kind->rows[k]].starting = true;
	}
}

static bool waits_for_start(const struct q_pass *p, const struct q_group *g)
{
	bool starting = g->q->starting;

	for (uint32_t k = 0; k < g->kind->n_rows; k++)
		starting |= p->rows[g->kind->rows[k]].starting;
	return starting;
}

static bool may_grow(struct q_pass *p, const struct q_group *g)
{
	bool runs =
		q_is_admitted(g) && g->in->standing == KAR_QUEUE_ADMITTED && g->in->phase == KAR_QUEUE_RUNS;

	return runs && g->in->elastic && g->q->in && !g->q->n_children && g->st.d >= g->min &&
		g->st.d < g->left && !g->full && !g->q->closed && !waits_for_start(p, g) &&
		(g->st.d != g->desired || !q_is_frozen(p, g));
}

/* --- order in a leaf -------------------------------------------------------------------------------- */

static const int64_t *next_pod(struct q_pass *p, const struct q_group *g)
{
	return q_class_needs(p, g->in->runs[q_run_of(g, g->st.d)].class);
}

static int64_t named(const struct q_pass *p, const int64_t *v, const char *name)
{
	int64_t sum = 0;

	for (uint32_t r = 0; r < p->n_resources; r++) {
		const char *slash = strrchr(p->names[r], '/');

		if (strcmp(p->names[r], name) == 0 || (slash && strcmp(slash, name) == 0))
			sum = q_add(sum, v[r]);
	}
	return sum;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_growth(struct q_pass *p, const struct q_group *a, const struct q_group *b)
{
	static const char *const resources[] = { "/gpu", "cpu", "memory" };
	int64_t e = q_extras(a), f = q_extras(b);
	int order = compare(e, f);

	if (!order)
		order = compare(b->in->base, a->in->base);
	if (!order)
		order = compare(1000 * e / (a->left - a->min), 1000 * f / (b->left - b->min));
	for (size_t i = 0; i < KAR_LEN(resources) && !order; i++)
		order = compare(named(p, next_pod(p, a), resources[i]),
			named(p, next_pod(p, b), resources[i]));
	if (!order)
		order = compare(a->in->creation, b->in->creation);
	return order ? order : q_compare_names(a, b);
}

static void enter(struct q_pass *p, struct q_queue *leaf)
{
	struct q_group *first = NULL;

	for (uint32_t i = 0; i < leaf->n_growing; i++) {
		struct q_group *g = leaf->growing[i];

		if (may_grow(p, g) && (!first || compare_growth(p, g, first) < 0))
			first = g;
	}
	q_race_enter(p, leaf, first, first ? next_pod(p, first) : NULL);
}

static void begin(struct q_pass *p)
{
	note_starting(p);
	q_race_begin(p);
	for (uint32_t i = 0; i < p->s->n_queues; i++)
		p->queues[i].n_growing = 0;
	for (uint32_t i = 0; i < p->n_live; i++) {
		struct q_group *g = p->live[i];

		g->full = false;
		if (!may_grow(p, g) && !q_extras(g))
			continue;
		if (!g->q->growing)
			g->q->growing = kar_arena_alloc(p->a, g->q->n_line + 1, sizeof(struct q_group *));
		g->q->growing[g->q->n_growing++] = g;
	}
	for (uint32_t i = 0; i < p->s->n_queues; i++) {
		if (p->queues[i].n_growing && !p->queues[i].n_children)
			enter(p, &p->queues[i]);
	}
}

/* --- one more --------------------------------------------------------------------------------------- */

static bool exceeds_load(const struct q_pass *p, const int64_t *u)
{
	for (uint32_t r = 0; r < p->n_resources && !p->s->no_nodes; r++) {
		if (u[r] > 0 && q_add(q_used(p->root, r), u[r]) > p->load[r])
			return true;
	}
	return false;
}

bool q_raise_by_one(struct q_pass *p, struct q_group *g, enum q_view view)
{
	int64_t v[Q_RESOURCES] = { 0 }, rows[Q_ROWS] = { 0 };
	struct q_ask ask = { .g = g,
		.from = g->st.d,
		.to = g->st.d + 1,
		.v = v,
		.rows = rows,
		.extra = true };
	struct q_state st = g->st;
	struct q_short s;
	int bound;

	q_add_pods(p, g, ask.from, ask.to, v, rows);
	if ((g->in->elastic && exceeds_load(p, v)) || !q_rows_fit(p, &ask, view, &s))
		return false;
	bound = q_keep_bound(p, g, g->st.d, &st);
	if (!bound || (bound < 0 && !q_place(p, &ask, view, &st)))
		return false;
	st.d++;
	q_set(p, g, &st);
	return true;
}

/* Gives one pod to the group that is first; NULL: nobody can have one. */
static struct q_group *give_one(struct q_pass *p)
{
	struct q_group *g;

	while ((g = p->root->candidate)) {
		bool given = q_raise_by_one(p, g, Q_FUT);

		g->full = !given;
		enter(p, g->q);
		if (given)
			return g;
	}
	return NULL;
}

bool q_extras_step(struct q_pass *p)
{
	struct q_group *g;
	bool changed = false;

	begin(p);
	while ((g = give_one(p))) {
		g->raised = g->raised ? g->raised : ++p->n_raised;
		changed = true;
	}
	return changed;
}

/* --- REBALANCE -------------------------------------------------------------------------------------- */

struct shares {
	int64_t by_level[Q_PATH][2]; /* of the queues of both, the larger one first; -1: there is none */
	int64_t squares;
};

static struct shares measure(const struct q_pass *p, const struct q_group *y, const struct q_group *z)
{
	struct shares s = { .squares =
				    (int64_t)q_extras(y) * q_extras(y) + (int64_t)q_extras(z) * q_extras(z) };

	for (int i = 0; i < Q_PATH; i++)
		s.by_level[i][0] = s.by_level[i][1] = -1;
	for (const struct q_queue *q = y->q; q->parent; q = q->parent)
		s.by_level[q->depth][0] = q_share(p, q, NULL, Q_SHARE_UNIT);
	for (const struct q_queue *q = z->q; q->parent; q = q->parent) {
		int64_t *l = s.by_level[q->depth], share = q_share(p, q, NULL, Q_SHARE_UNIT), first = l[0];

		if (q_is_below(y->q, q))
			continue;
		l[0] = q_max(first, share);
		l[1] = q_min(first, share);
	}
	return s;
}

static bool is_less(const struct shares *a, const struct shares *b)
{
	for (int i = 1; i < Q_PATH; i++) {
		for (int k = 0; k < 2; k++) {
			if (a->by_level[i][k] != b->by_level[i][k])
				return a->by_level[i][k] < b->by_level[i][k];
		}
	}
	return a->squares < b->squares;
}

/* May @y give up one for @z, by what they had before? */
static bool is_fair(struct q_pass *p, struct q_group *y, struct q_group *z)
{
	const int64_t *u = q_class_needs(p, y->in->runs[q_run_of(y, y->st.d - 1)].class);
	struct q_queue *a, *b;

	if (y->q == z->q)
		return z->in->base >= y->in->base;
	return q_pair(z->q, y->q, &a, &b) && q_over(p, b, u, UINT64_MAX, false);
}

/* One pod goes from @y to whom EXTRAS gives it; undone if it makes nothing better. */
static bool move_one(struct q_pass *p, struct q_group *y)
{
	struct q_mark mark = q_mark(p);
	struct shares before = { 0 }, after;
	struct q_group *z;
	bool better = false;

	q_lower(p, y);
	begin(p);
	z = give_one(p);
	if (z && z != y) {
		after = measure(p, y, z);
		q_undo(p, mark);
		before = measure(p, y, z);
		better = is_less(&after, &before) && is_fair(p, y, z);
	} else {
		q_undo(p, mark);
	}
	if (!better)
		return false;
	mark = q_mark(p);
	q_lower(p, y);
	if (!q_raise_by_one(p, z, Q_FUT)) {
		q_undo(p, mark);
		return false;
	}
	q_keep_changes(p, mark);
	z->raised = z->raised ? z->raised : ++p->n_raised;
	return true;
}

struct by_share {
	const struct q_pass *p;
	struct q_group *g;
};

static int by_shares(const void *a, const void *b)
{
	const struct by_share *x = a, *y = b;

	return q_compare_shares(x->p, y->g, x->g);
}

/* Of groups that are alike in all that counts here, one is enough. */
static bool is_like(const struct q_group *a, const struct q_group *b)
{
	return a->kind == b->kind && a->st.d == b->st.d;
}

static bool is_movable(struct q_pass *p, const struct q_group *g)
{
	return q_extras(g) > 0 && g->q->in && (g->st.d != g->desired || !q_is_frozen(p, g));
}

static bool rebalance_one(struct q_pass *p)
{
	struct by_share *all = kar_arena_alloc(p->a, p->n_live + 1, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_live; i++) {
		if (is_movable(p, p->live[i]))
			all[n++] = (struct by_share){ p, p->live[i] };
	}
	qsort(all, n, sizeof(*all), by_shares);
	for (uint32_t i = 0; i < n; i++) {
		if ((!i || !is_like(all[i].g, all[i - 1].g)) && move_one(p, all[i].g))
			return true;
	}
	return false;
}

bool q_rebalance(struct q_pass *p)
{
	bool changed = false;

	while (rebalance_one(p))
		changed = true;
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
	for (uint32_t i = 0; i < p->n_gone; i++) {
		const struct kar_queue_group *in = p->gone[i]->in;

		for (uint32_t k = 0; k < in->n_leaving; k++) {
			kar_time end = in->leaving[k].deletion;

			if (end > p->now + 60 * KAR_SECOND || end < p->now - 30 * KAR_SECOND)
				return true;
		}
	}
	return false;
}

/* A whole rise once it fits now, or as much of it as does while something lingers. */
static void raise_now(struct q_pass *p, struct q_group *g, int32_t d)
{
	struct q_mark mark = q_mark(p);

	while (g->st.d < d && q_raise_by_one(p, g, Q_NOW))
		continue;
	if (g->st.d < d && !something_lingers(p))
		q_undo(p, mark);
	else
		q_keep_changes(p, mark);
}

bool q_raise(struct q_pass *p)
{
	struct q_group **all = kar_arena_alloc(p->a, p->n_live + 1, sizeof(struct q_group *));
	int32_t *d = kar_arena_alloc(p->a, p->n_live + 1, sizeof(*d));
	uint32_t n = 0;
	bool withdrawn = false;

	for (uint32_t i = 0; i < p->n_live && p->leaving; i++) {
		struct q_group *g = p->live[i];

		if (g->raised && q_is_admitted(g) && g->in->standing == KAR_QUEUE_ADMITTED &&
			g->st.d > g->desired && g->desired >= g->min)
			all[n++] = g;
	}
	qsort(all, n, sizeof(struct q_group *), by_time_raised);
	for (uint32_t i = 0; i < n; i++) {
		struct q_state st = all[i]->st;

		d[i] = st.d;
		st.d = all[i]->desired;
		q_release(p, all[i], &st, st.d);
		q_set(p, all[i], &st);
	}
	for (uint32_t i = 0; i < n; i++) {
		raise_now(p, all[i], d[i]);
		withdrawn |= all[i]->st.d < d[i];
	}
	return withdrawn;
}

/* --- members of others ------------------------------------------------------------------------------- */

/* Members beyond the minimum of groups that the pass does not scale get places in what is left, one per group and round. */
void q_grow_members(struct q_pass *p)
{
	bool again = true;

	for (uint32_t i = 0; i < p->n_line; i++)
		p->line[i]->full = p->line[i]->in->elastic || !p->line[i]->in->replaces;
	while (again) {
		again = false;
		for (uint32_t i = 0; i < p->n_line; i++) {
			struct q_group *g = p->line[i];
			bool grows = !g->full && q_is_admitted(g) && !g->st.provisions && g->st.d < g->left;

			g->full |= !grows || !q_raise_by_one(p, g, Q_NOW);
			again |= !g->full;
		}
	}
}
