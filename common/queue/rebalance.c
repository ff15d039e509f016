/* REBALANCE: one pod for one, while that makes shares more equal, or extras in a leaf. */
#include "common/queue/impl.h"

#include <stdlib.h>

/* --- what is better ------------------------------------------------------------------------------------ */

struct shares {
	int64_t by_level[Q_PATH][2]; /* of the queues of both, the larger one first; -1: there is none */
	int64_t squares;
};

static struct shares measure(const struct q_group *y, const struct q_group *z)
{
	struct shares s = { .squares =
				    (int64_t)q_extras(y) * q_extras(y) + (int64_t)q_extras(z) * q_extras(z) };

	for (int i = 0; i < Q_PATH; i++)
		s.by_level[i][0] = s.by_level[i][1] = -1;
	for (const struct q_queue *q = y->queue; q->parent; q = q->parent)
		s.by_level[q->depth][0] = q->share;
	for (const struct q_queue *q = z->queue; q->parent; q = q->parent) {
		int64_t *l = s.by_level[q->depth], share = q->share, first = l[0];

		if (q_is_below(y->queue, q))
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
static bool is_fair(const struct q_pass *p, struct q_group *y, struct q_group *z)
{
	const int64_t *u = q_class_needs(p, q_class_of(p, y, q_run_of(y, y->st.n_kept - 1)));
	struct q_queue *a, *b;

	return y->queue == z->queue ||
		(q_pair(z->queue, y->queue, &a, &b) && q_over(p, b, u, UINT64_MAX, false));
}

/* --- who can give one up in vain ---------------------------------------------------------------------- */

static void least_of(const struct q_pass *p, int64_t *to, const int64_t *v, bool first)
{
	for (uint32_t r = 0; r < p->in->n_resources; r++)
		to[r] = first ? v[r] : q_min(to[r], v[r]);
}

/* Per queue the least that the next pod of anybody below asks for, of each resource. */
static void find_least_asks(struct q_pass *p)
{
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++)
		p->in->queues[i].asks_least = NULL;
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];

		for (uint32_t k = 0; k < g->in->n_runs && g->in->elastic; k++) {
			const int64_t *v = q_class_needs(p, q_class_of(p, g, k));

			for (struct q_queue *q = g->queue; q; q = q->parent) {
				bool first = !q->asks_least;

				if (first)
					q->asks_least = q_vector(p);
				least_of(p, q->asks_least, v, first);
			}
		}
	}
}

static void note_low(struct q_queue *q, int64_t low)
{
	struct q_queue *parent = q->parent;

	if (low < parent->lows[0]) {
		parent->lows[1] = parent->lows[0];
		parent->lows[0] = low;
		parent->lowest = q;
	} else {
		parent->lows[1] = q_min(parent->lows[1], low);
	}
}

/* Per queue below which somebody may grow: the least share that this can give it; and per leaf who has the fewest extras. */
static void find_lows(struct q_pass *p)
{
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++) {
		struct q_queue *q = &p->in->queues[i];

		q->lows[0] = q->lows[1] = INT64_MAX;
		q->fewest[0] = q->fewest[1] = INT32_MAX;
		q->lowest = NULL;
		q->grows_below = false;
	}
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		struct q_group *g = p->plan.live[i];
		int32_t e = q_extras(g);

		if (!q_may_grow(p, g))
			continue;
		if (e < g->queue->fewest[0]) {
			g->queue->fewest[1] = g->queue->fewest[0];
			g->queue->fewest[0] = e;
			g->queue->fewest_of = g;
		} else if (e < g->queue->fewest[1]) {
			g->queue->fewest[1] = e;
		}
		for (struct q_queue *q = g->queue; q && !q->grows_below; q = q->parent)
			q->grows_below = true;
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		struct q_queue *q = &p->in->queues[i];

		if (q->grows_below)
			note_low(q, q_share(p, q, q->asks_least, Q_SHARE_UNIT));
	}
}

/* Can it be that its share is less once @u was given up below and something else was given? */
static bool may_fall(const struct q_pass *p, const struct q_queue *q, const int64_t *u)
{
	int64_t change[Q_RESOURCES];

	if (!q->grows_below)
		return false;
	for (uint32_t r = 0; r < p->in->n_resources; r++)
		change[r] = q_sub(q->asks_least[r], u[r]);
	return q_share(p, q, change, Q_SHARE_UNIT) < q->share;
}

/*
 * False: whoever gets what @y gives up, no share becomes less, and extras are no more even. So in a state that is as it should be nobody
 * tries. Conditions that are necessary, from the leaf up: a queue beside its path would not have more than its path has; or with smaller
 * pods a queue of the path itself would have less; or another of its leaf has two extras less.
 */
static bool may_get_better(const struct q_pass *p, const struct q_group *y)
{
	const int64_t *u = q_class_needs(p, q_class_of(p, y, q_run_of(y, y->st.n_kept - 1)));
	const struct q_queue *leaf = y->queue;
	int32_t others = leaf->fewest[leaf->fewest_of == y];
	bool over = true;

	if (others < q_extras(y) - 1)
		return true;
	for (const struct q_queue *q = leaf; q->parent; q = q->parent) {
		int64_t low = q->parent->lows[q->parent->lowest == q];

		if (over && may_fall(p, q, u))
			return true;
		over = q_over(p, q, u, UINT64_MAX, false);
		if (over && low <= q->share)
			return true;
	}
	return false;
}

/* --- one for one -------------------------------------------------------------------------------------- */

struct move {
	struct q_group *from, *to;
	uint32_t raised; /* .raised of .to before */
	int32_t moved;   /* .moved of .from before */
};

struct moving {
	struct q_pass *p;
	struct q_group **givers, **failed; /* room for all that are live */
	uint32_t n_failed;
	bool racing, changed; /* the race has begun; a move was made for good */
	/* Moves that may be taken back: looked at together, when there are .limit of them. */
	struct move *moves;
	uint32_t n, limit;
	struct q_mark mark;     /* before the first of them */
	struct q_group *waiter; /* who took the room of a move last; NULL: nobody did */
};

/*
 * Gives what @y has given up to the group that is first; NULL: nobody can have it. Who could not is in .failed, and who is of its leaf and
 * has a lower priority: that one would only be in the way of others of the leaf.
 */
static struct q_group *give(struct moving *m, const struct q_group *y)
{
	struct q_pass *p = m->p;
	struct q_group *g;

	while ((g = p->in->root->candidate)) {
		bool lower = g->queue == y->queue && g->in->base < y->in->base;
		bool given = !lower && q_raise_by_one(p, g, Q_FUT);

		g->full = !given;
		q_growth_note(p, g);
		if (given)
			return g;
		m->failed[m->n_failed++] = g;
	}
	return NULL;
}

/* Whom EXTRAS gives the pod that @y gives up; NULL: nobody. Nothing has changed then, but *@after is how it would be. */
static struct q_group *find_taker(struct moving *m, struct q_group *y, struct shares *after)
{
	struct q_pass *p = m->p;
	struct q_mark mark = q_mark(p);
	struct q_group *z;

	m->n_failed = 0;
	q_lower(p, y);
	q_growth_note(p, y);
	z = give(m, y);
	if (z)
		*after = measure(y, z);
	q_undo(p, mark);
	q_growth_note(p, y);
	if (z)
		q_growth_note(p, z);
	for (uint32_t i = 0; i < m->n_failed; i++) {
		m->failed[i]->full = false;
		q_growth_note(p, m->failed[i]);
	}
	return z;
}

/*
 * A pod beyond the minimum that it may have already has no node: it is not created yet, as its task waits for another, or its node went to
 * somebody else. Nobody stops a pod for one more of these.
 */
static bool awaits_extras(const struct q_group *g)
{
	int32_t end = g->desired < g->st.n_kept ? g->desired : g->st.n_kept, at = 0;
	bool awaits = false;

	for (uint32_t i = 0; i < g->st.n_spots && at < end; i++) {
		at += g->st.spots[i].n;
		awaits |= !g->st.spots[i].bound && at > g->min;
	}
	return awaits;
}

/* One pod goes from @y to whom EXTRAS gives it; undone if it makes nothing better. */
static bool move_one(struct moving *m, struct q_group *y)
{
	struct q_pass *p = m->p;
	struct shares before, after;
	struct q_group *z = find_taker(m, y, &after);
	struct q_mark mark;

	if (!z || z == y || awaits_extras(z))
		return false;
	before = measure(y, z);
	if (!is_less(&after, &before) || !is_fair(p, y, z))
		return false;
	mark = q_mark(p);
	q_lower(p, y);
	if (!q_raise_by_one(p, z, Q_FUT)) {
		q_undo(p, mark);
		return false;
	}
	q_keep_changes(p, mark);
	q_growth_note(p, y);
	q_growth_note(p, z);
	m->moves = kar_arena_grow(p->arena, m->moves, m->n, sizeof(*m->moves));
	m->moves[m->n++] = (struct move){ y, z, z->raised, y->moved };
	y->moved -= y->moved > 0;
	z->moved++;
	z->raised = z->raised ? z->raised : ++p->plan.n_raised;
	return true;
}

static int by_shares(const void *a, const void *b)
{
	const struct q_group *const *x = a, *const *y = b;

	return q_compare_shares(*y, *x);
}

/* Of groups that are alike in all that counts here, one is enough. */
static bool is_like(const struct q_group *a, const struct q_group *b)
{
	return a->kind == b->kind && a->st.n_kept == b->st.n_kept;
}

static bool is_movable(const struct q_pass *p, const struct q_group *g)
{
	return q_extras(g) > 0 && g->queue->in && (g->st.n_kept != g->desired || !q_is_frozen(p, g));
}

/* --- nobody gives one up for those who wait ------------------------------------------------------------ */

/* A rise that has to wait leaves its room free until then: would GANGS let somebody in there? */
static bool goes_to_others(struct moving *m)
{
	struct q_mark mark = q_mark(m->p);
	bool goes = q_raise(m->p) && q_would_let_in(m->p, &m->waiter);

	q_undo(m->p, mark);
	return goes;
}

static void take_back(struct moving *m)
{
	q_undo(m->p, m->mark);
	while (m->n) {
		const struct move *last = &m->moves[--m->n];

		if (!last->raised)
			m->p->plan.n_raised--;
		last->to->raised = last->raised;
		last->to->moved--;
		last->from->moved = last->moved;
		q_growth_note(m->p, last->from);
		q_growth_note(m->p, last->to);
	}
}

/*
 * The moves since the mark are made for good, or taken back: of several the one that is in the way is looked for then, one by one, and a
 * single one is not tried again.
 */
static bool accept(struct moving *m)
{
	struct q_group *from = m->moves[0].from;
	bool single = m->n == 1;

	if (goes_to_others(m)) {
		take_back(m);
		from->stays |= single;
		m->limit = 1;
		return false;
	}
	q_keep_changes(m->p, m->mark);
	m->n = 0;
	m->limit = m->limit < UINT32_MAX / 2 ? 2 * m->limit : m->limit;
	m->changed = true;
	return true;
}

static bool try_move(struct moving *m, struct q_group *y)
{
	if (!m->n)
		m->mark = q_mark(m->p);
	if (move_one(m, y))
		return true;
	if (!m->n)
		q_keep_changes(m->p, m->mark);
	return false;
}

static uint32_t find_givers(struct moving *m)
{
	struct q_pass *p = m->p;
	uint32_t n = 0;

	find_lows(p);
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		if (is_movable(p, p->plan.live[i]) && may_get_better(p, p->plan.live[i]))
			m->givers[n++] = p->plan.live[i];
	}
	qsort(m->givers, n, sizeof(struct q_group *), by_shares);
	if (n && !m->racing)
		q_growth_begin(p, false);
	m->racing |= n > 0;
	return n;
}

/* False: there is none. */
static bool rebalance_one(struct moving *m)
{
	uint32_t n = find_givers(m);

	for (uint32_t i = 0; i < n; i++) {
		struct q_group *y = m->givers[i];
		bool single = m->n == 0;

		y->stays |= i && m->givers[i - 1]->stays && is_like(y, m->givers[i - 1]);
		if (y->stays || (i && is_like(y, m->givers[i - 1])) || !try_move(m, y))
			continue;
		if (m->n < m->limit || accept(m) || !single)
			return true;
	}
	return m->n && !accept(m);
}

bool q_rebalance(struct q_pass *p)
{
	struct moving m = { .p = p, .limit = 1 };

	if (!p->plan.extras)
		return false;
	m.givers = kar_arena_alloc(p->arena, p->plan.n_live + 1, sizeof(struct q_group *));
	m.failed = kar_arena_alloc(p->arena, p->plan.n_live + 1, sizeof(struct q_group *));
	q_growth_all(p);
	find_least_asks(p);
	for (uint32_t i = 0; i < p->plan.n_live; i++)
		p->plan.live[i]->stays = false;
	while (rebalance_one(&m))
		continue;
	return m.changed;
}
