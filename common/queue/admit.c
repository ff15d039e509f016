/* GANGS: whole groups are admitted, one after the other, those first whose queues are furthest below what they are due. */
#include "common/queue/impl.h"

#include <string.h>

/* === race: whose turn it is ====================================================================== */

/*
 * Whose turn it is: from the root down the child that is furthest below what it is due. Each queue keeps its children in a tree of winners,
 * so that a change of one leaf costs the logarithm of the number of queues.
 */

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Does @a go first? NULL never does. */
static bool goes_first(const struct q_queue *a, const struct q_queue *b)
{
	int order;

	if (!a || !a->candidate || !b || !b->candidate)
		return a && a->candidate;
	order = compare(a->key_over, b->key_over);
	if (!order)
		order = compare(a->key_history, b->key_history);
	if (!order)
		order = compare(a->key_share, b->key_share);
	if (!order)
		order = compare(b->candidate->level, a->candidate->level);
	if (!order)
		order = compare(a->candidate->in->creation, b->candidate->in->creation);
	return order ? order < 0 : a->place < b->place; /* children are in the order of their names */
}

void q_race_begin(struct q_pass *p, bool by_history)
{
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++) {
		struct q_queue *q = &p->in->queues[i];

		q->candidate = NULL;
		q->dirty = true;
		q->key_history = by_history ? q->had : 0;
		if (!q->winners && q->n_children)
			q->winners =
				kar_arena_alloc(p->arena, 2 * (size_t)q->width, sizeof(struct q_queue *));
		else if (q->n_children)
			memset(q->winners, 0, 2 * (size_t)q->width * sizeof(struct q_queue *));
	}
}

static void run_again(struct q_queue *q, struct q_queue *child)
{
	uint32_t i = q->width + child->place;

	q->winners[i] = child;
	while (i > 1) {
		struct q_queue *left = q->winners[i & ~1U], *right = q->winners[i | 1U];

		i /= 2;
		q->winners[i] = goes_first(right, left) ? right : left;
	}
}

void q_race_enter(struct q_pass *p, struct q_queue *leaf, struct q_group *candidate, const int64_t *v)
{
	leaf->candidate = candidate;
	leaf->want = v;
	leaf->dirty = false;
	for (struct q_queue *q = leaf; q->parent; q = q->parent) {
		struct q_queue *best;

		if (q->candidate) {
			q->key_over = !q_within(p, q, q->want);
			q->key_share = q_share(p, q, q->want, Q_SHARE_UNIT);
		}
		run_again(q->parent, q);
		best = q->parent->winners[1];
		q->parent->candidate = best ? best->candidate : NULL;
		q->parent->want = best ? best->want : NULL;
	}
}

/* === gangs ======================================================================================= */

/* --- units ----------------------------------------------------------------------------------------- */

static bool is_untried(const struct q_pass *p, const struct q_group *g)
{
	return g->tried_in != p->round.tried && q_is_candidate(g);
}

/* The turn of a unit comes with its last member. */
static bool is_last_of_unit(const struct q_pass *p, const struct q_group *g)
{
	for (uint32_t i = 0; i < g->in->n_unit; i++) {
		const struct q_group *other = &p->in->groups[g->in->unit[i]];

		if (other != g && is_untried(p, other))
			return false;
	}
	return true;
}

/* Each of the unit waits for the one that cannot start, and that one for what it lacks. */
static void fail_unit(struct q_pass *p, struct q_group *g, struct q_group *failed, enum kar_queue_reason why)
{
	for (uint32_t i = 0; i <= g->in->n_unit && !p->round.trial; i++) {
		struct q_group *m = i < g->in->n_unit ? &p->in->groups[g->in->unit[i]] : g;

		m->unit_failed = true;
		m->partner = m == failed ? NULL : failed;
		m->partner_reason = why;
	}
}

/* Whether it starts; *@nodes: it does not, and nothing but nodes is short. */
static bool start(struct q_pass *p, struct q_group *g, struct q_group *with, bool *later, bool *nodes)
{
	enum kar_queue_reason why = q_ineligible(g);
	struct q_short s = { 0 };
	enum q_fit fit;

	if (g->st.standing != KAR_QUEUE_WAITING)
		return true;
	fit = why ? Q_NO : q_admit_anywhere(p, g, &s);
	*later |= fit == Q_LATER;
	*nodes = fit == Q_NO && s.nodes;
	if (fit != Q_NO)
		return true;
	fail_unit(p, with, g, why);
	return false;
}

/* If one of them waits for what leaves, all of them do. */
static void reserve_all(struct q_pass *p, struct q_group *g)
{
	for (uint32_t i = 0; i <= g->in->n_unit; i++) {
		struct q_group *m = i < g->in->n_unit ? &p->in->groups[g->in->unit[i]] : g;
		struct q_state st = m->st;

		if (st.standing != KAR_QUEUE_ADMITTED || m->in->standing == KAR_QUEUE_ADMITTED)
			continue;
		st.standing = KAR_QUEUE_RESERVING;
		st.n_kept = 0;
		q_set(p, m, &st);
	}
}

enum { UNIT_ORDERS = 4 }; /* in which the groups of a unit are placed, at most */

/* The groups of the unit in the order of its list, @g last. */
static struct q_group **unit_of(const struct q_pass *p, struct q_group *g)
{
	struct q_group **unit = kar_arena_alloc(p->arena, g->in->n_unit + 1, sizeof(struct q_group *));

	for (uint32_t i = 0; i < g->in->n_unit; i++)
		unit[i] = &p->in->groups[g->in->unit[i]];
	unit[g->in->n_unit] = g;
	return unit;
}

/* Returns the number of the first that does not start; @n: all do. */
static uint32_t start_in_order(struct q_pass *p, struct q_group *const *unit, uint32_t n, struct q_group *g,
	bool *later, bool *nodes)
{
	uint32_t i = 0;

	while (i < n && start(p, unit[i], g, later, nodes))
		i++;
	return i;
}

static void move_to_front(struct q_group **unit, uint32_t i)
{
	struct q_group *first = unit[i];

	for (; i > 0; i--)
		unit[i] = unit[i - 1];
	unit[0] = first;
}

/* Whether all of the unit start in this order. If not, *@failed is the number of the one that was short of nodes alone; 0: it is not so. */
static bool start_unit(struct q_pass *p, struct q_group *g, struct q_group *const *unit, uint32_t *failed)
{
	struct q_mark mark = q_mark(p);
	uint32_t n = g->in->n_unit + 1, at;
	bool later = false, nodes = false;

	at = start_in_order(p, unit, n, g, &later, &nodes);
	*failed = nodes ? at : 0;
	if (at < n) {
		q_undo(p, mark);
		return false;
	}
	if (later)
		reserve_all(p, g);
	q_keep_changes(p, mark);
	return true;
}

/*
 * Who is placed first may take the nodes that only another one can use. So the one for which there were none is placed first
 * next time.
 */
static bool try_unit(struct q_pass *p, struct q_group *g)
{
	struct q_group **unit = unit_of(p, g);
	uint32_t failed;

	if (!p->round.trial) {
		g->unit_failed = g->in->unit_missing;
		g->partner = NULL;
	}
	if (g->in->unit_missing)
		return false;
	for (int order = 0; order < UNIT_ORDERS; order++) {
		if (start_unit(p, g, unit, &failed))
			return true;
		if (!failed)
			return false;
		move_to_front(unit, failed);
	}
	return false;
}

/* --- nodes on demand -------------------------------------------------------------------------------- */

/* In a queue whose nodes come on demand, one gang at a time goes on without room, if nothing else is against it. */
static bool provision(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_of(p, g);
	struct q_state st = g->st;
	struct q_short s;
	bool others = false;

	if (!g->queue->in->provisions || g->in->no_provisioning || g->in->takes_nothing || g->queue->grows ||
		q_is_admitted(g))
		return false;
	q_rows_fit(p, &ask, Q_FUT, &s);
	for (int i = 0; i < Q_PATH; i++)
		others |= s.capability[i] != 0;
	if (others || s.jobs || s.quota || s.closed)
		return false;
	st.standing = KAR_QUEUE_ADMITTED;
	st.n_kept = g->min;
	st.provisions = !q_is_feasible(p, g) ? KAR_QR_INFEASIBLE
		: s.cluster                  ? KAR_QR_INSUFFICIENT_CAPACITY
					     : KAR_QR_NO_FIT;
	st.awaits |= q_is_behind_question(p, g, false);
	q_set(p, g, &st);
	g->queue->grows = g;
	return true;
}

/* The flavor that is liked best and has no other obstacle. */
static bool provision_anywhere(struct q_pass *p, struct q_group *g)
{
	const uint32_t *list;
	uint32_t n = q_flavors(p, g, &list);
	bool done = provision(p, g);

	for (uint32_t i = 0; i < n && !done; i++) {
		q_look_in(p, g, list[i]);
		done = provision(p, g);
	}
	if (n && !done)
		q_prefer_flavor(p, g);
	return done;
}

/* --- the round -------------------------------------------------------------------------------------- */

/* Groups with a unit, or that were evicted, may fail for reasons of their own. */
static bool fails_by_kind(const struct q_group *g)
{
	return !g->in->n_unit && !g->in->unit_missing && g->in->evicted_by == KAR_QUEUE_NONE &&
		!q_is_admitted(g);
}

/* In some flavor that it may use. */
static bool may_find_victims(struct q_pass *p, struct q_group *g)
{
	const uint32_t *list;
	uint32_t n = q_flavors(p, g, &list), own = g->st.flavor;
	bool may = !n && q_may_find_victims(p, g);

	for (uint32_t i = 0; i < n && !may; i++) {
		q_look_in(p, g, list[i]);
		may = q_may_find_victims(p, g);
	}
	if (n)
		q_look_in(p, g, own);
	return may;
}

/* Nothing has changed; or nothing has come free, and there is nobody to take from: what is charged by a quota may be of any queue. */
static bool is_known_to_fail(struct q_pass *p, struct q_group *g)
{
	const struct q_kind *k = g->kind;
	const struct q_failure *f = &k->failures[q_ends_in_time(p, g)];

	if (!fails_by_kind(g) || f->since != p->round.freed)
		return false;
	return f->at == p->round.change || !q_may_take(p, g->queue) ||
		(!k->n_rows && !may_find_victims(p, g));
}

static void note_failure(struct q_pass *p, struct q_group *g)
{
	const uint32_t *list;
	uint32_t n = q_flavors(p, g, &list);

	for (uint32_t i = 0; i < q_max(n, 1); i++) {
		struct q_kind *k = n && g->kind->in_flavors ? g->kind->in_flavors[list[i]] : g->kind;

		if (!k)
			continue;
		k->failures[q_ends_in_time(p, g)].at = p->round.change;
		k->failures[q_ends_in_time(p, g)].since = p->round.freed;
	}
}

/* With room that is free, or that of others. */
static bool let_in(struct q_pass *p, struct q_group *g)
{
	const uint32_t *list;
	struct q_short s;

	if (q_flavors(p, g, &list))
		return q_try_flavors(p, g);
	if (!q_is_feasible(p, g) && !q_is_admitted(g))
		return false;
	return q_admit(p, g, &s) != Q_NO || (!s.closed && !g->in->takes_nothing && q_take_from_others(p, g));
}

static bool try_group(struct q_pass *p, struct q_group *g)
{
	g->tried_in = p->round.tried;
	if (g->in->n_unit || g->in->unit_missing)
		return is_last_of_unit(p, g) && try_unit(p, g);
	if (is_known_to_fail(p, g))
		return false;
	if (let_in(p, g) || provision_anywhere(p, g))
		return true;
	if (fails_by_kind(g))
		note_failure(p, g);
	return false;
}

static bool stops_its_leaf(const struct q_pass *p, struct q_group *g)
{
	return g->queue->in->strict && q_is_feasible(p, g) && !q_is_quota_blocked(p, g) && !q_is_admitted(g);
}

/* The head of the cluster goes before all of its level. */
static bool must_wait_for_head(const struct q_pass *p, const struct q_group *g)
{
	const struct q_group *head = p->in->root->reserved;

	return head && head != g && is_untried(p, head) && g->level <= head->level;
}

/* The first of the line that may be tried; NULL: none. */
static struct q_group *next_of(struct q_pass *p, struct q_queue *q)
{
	for (; q->next < q->n_line && !q->stopped_by; q->next++) {
		struct q_group *g = q->line[q->next];

		if (!is_untried(p, g))
			continue;
		if (must_wait_for_head(p, g))
			return NULL;
		if (!is_known_to_fail(p, g) || g == p->in->root->reserved)
			return g; /* others wait until the head was tried */
		g->tried_in = p->round.tried;
		q->skipped = true;
		if (stops_its_leaf(p, g))
			q->stopped_by = g;
	}
	return NULL;
}

static void enter(struct q_pass *p, struct q_queue *q)
{
	struct q_group *g = next_of(p, q);

	if (g)
		q_prefer_flavor(p, g);
	q_race_enter(p, q, g, g ? q_ask_of(p, g).needs : NULL);
}

static bool may_admit(const struct q_queue *q)
{
	return q->in && q->in_force && !q->n_children;
}

/* Everything is tried again, also what had failed. @all: who has waited for the head of the cluster is free to go. */
static void begin_round(struct q_pass *p, bool all)
{
	p->round.tried++;
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		struct q_queue *q = &p->in->queues[i];

		if (!may_admit(q) ||
			!(all || q->skipped || q->stopped_by || q->dirty || p->in->root->reserved))
			continue;
		q->next = 0;
		q->skipped = false;
		q->stopped_by = NULL;
		enter(p, q);
	}
}

/* NULL: nobody is left. */
static struct q_group *choose(const struct q_pass *p)
{
	struct q_group *head = p->in->root->reserved;

	if (p->in->root->candidate || !head || !is_untried(p, head))
		return p->in->root->candidate;
	return head;
}

/* Those that have lost their claims come first. */
static bool try_first(struct q_pass *p)
{
	bool changed = false;

	p->round.tried++;
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		if (p->in->line[i]->first && q_is_candidate(p->in->line[i]))
			changed |= try_group(p, p->in->line[i]);
		p->in->line[i]->first = false;
	}
	return changed;
}

bool q_gangs(struct q_pass *p)
{
	bool changed;
	struct q_group *g;

	p->round.change = p->round.freed =
		++p->round.changes; /* reservations may be others: nothing is known to fail */
	changed = try_first(p);
	q_race_begin(p, true);
	begin_round(p, true);
	while ((g = choose(p))) {
		bool is_head = g == p->in->root->reserved;

		if (try_group(p, g)) {
			changed = true;
			if (is_head) { /* what was held for it is free */
				p->in->root->reserved = NULL;
				p->round.freed = ++p->round.changes;
			}
			if (q_may_take(p, g->queue) || is_head || p->in->root->reserved)
				begin_round(p, is_head);
			else
				enter(p, g->queue);
			continue;
		}
		g->queue->skipped = true;
		if (stops_its_leaf(p, g))
			g->queue->stopped_by = g;
		for (uint32_t i = 0; i < p->in->snapshot->n_queues && is_head; i++) {
			if (may_admit(&p->in->queues[i]))
				enter(p, &p->in->queues[i]);
		}
		enter(p, g->queue);
	}
	return q_spare(p) || changed;
}

/* --- who would be let in ---------------------------------------------------------------------------- */

/* The state is the same again: no group changes it before it is let in. */
static bool would_start(struct q_pass *p, struct q_group *g)
{
	struct q_group *grows = g->queue->grows;
	struct q_mark mark = q_mark(p);
	bool starts = try_group(p, g);

	q_undo(p, mark);
	g->queue->grows = grows;
	return starts;
}

static struct q_group *first_to_start(struct q_pass *p, const struct q_queue *q)
{
	for (uint32_t i = 0; i < q->n_line; i++) {
		struct q_group *g = q->line[i];

		if (!is_untried(p, g))
			continue;
		if (would_start(p, g))
			return g;
		if (stops_its_leaf(p, g))
			break;
	}
	return NULL;
}

bool q_would_let_in(struct q_pass *p, struct q_group **last)
{
	struct q_group *g = NULL;

	p->round.tried++;
	p->round.trial = true;
	if (*last && q_is_candidate(*last) && would_start(p, *last))
		g = *last;
	for (uint32_t i = 0; i < p->in->snapshot->n_queues && !g; i++)
		g = may_admit(&p->in->queues[i]) ? first_to_start(p, &p->in->queues[i]) : NULL;
	p->round.trial = false;
	*last = g ? g : *last;
	return g;
}
