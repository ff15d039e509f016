/* What queues use, what is theirs by right, and how that changes. */
#include "common/queue/impl.h"

#include <string.h>

/* What one group adds to the sums above it. */
struct part {
	int64_t kept[Q_RESOURCES], reserved[Q_RESOURCES], leaving[Q_RESOURCES],
		minima[Q_RESOURCES]; /* as in struct q_sum */
	int64_t placed[Q_RESOURCES]; /* of .kept: what its live pods have */
	int64_t away_kept[Q_RESOURCES],
		away_leaving[Q_RESOURCES]; /* of .kept and .leaving: on nodes that are not usable; if .away */
	struct q_sum rows[Q_ROWS];
	bool any, live, away;
	bool partly; /* for the cluster only .placed counts: nodes are to be added for the rest */
};

/* A gang that waits for new nodes takes no room that is there but that of its bound pods. */
static bool waits_for_nodes(const struct q_group *g)
{
	return q_is_admitted(g) && (g->st.provisions || g->in->provisioned);
}

/*
 * Its pods on nodes that are not usable are in no sum of the cluster: what these nodes offer is not counted either. Kept and leaving ones
 * are told apart as in the sums of queues.
 */
static void split_away(struct q_pass *p, const struct q_group *g, struct part *part)
{
	int32_t first = 0, kept = q_kept(g);

	part->away = g->away != NULL;
	if (!part->away)
		return;
	assert(g->pods); /* of which those are a part */
	memset(part->away_kept, 0, sizeof(part->away_kept));
	for (uint32_t i = 0; i < g->in->n_runs && first < kept; first += g->in->runs[i++].n) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t at = first;

		for (uint32_t k = 0; k < run->n_seats; at += run->seats[k++].n) {
			if (q_is_away(p, &run->seats[k]))
				q_add_class_on(p, run->class, run->seats[k].node,
					kar_clamp(kept - at, 0, run->seats[k].n), part->away_kept);
		}
	}
	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		int64_t here = q_max(0, (g->pods[r] - g->away[r]) - (part->kept[r] - part->away_kept[r]));

		part->away_leaving[r] = part->leaving[r] - here;
	}
}

static void split(struct q_pass *p, const struct q_group *g, struct part *part)
{
	const struct q_kind *k = g->kind;
	bool admitted = q_is_admitted(g), claims = g->st.standing == KAR_QUEUE_RESERVING;
	int64_t rows[Q_ROWS] = { 0 }, ended[Q_RESOURCES] = { 0 };

	part->live = admitted || claims;
	part->any = part->live || g->pods;
	/* Of members that are let in one by one the scheduler may find no place for some. */
	part->partly = waits_for_nodes(g) || (g->in->joins && !g->in->hold.n);
	if (!part->any)
		return;
	memset(part->kept, 0, sizeof(part->kept));
	if (admitted) {
		q_add_pods(p, g, 0, g->st.n_kept, part->kept, rows);
		q_charge_nodes(p, g, g->st.n_kept, part->kept);
		q_add_hold(p, g, g->st.hold_for ? ended : part->kept);
		if (!g->st.hold_for)
			q_add_charges(k, g->in->hold_charges, g->in->n_hold_charges, 1, rows);
	}
	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		int64_t pods = g->pods ? g->pods[r] : 0;

		part->reserved[r] = claims ? k->minimum[r] : 0;
		part->minima[r] = part->live ? k->minimum[r] - ended[r] : 0;
		part->leaving[r] = q_max(0, pods - part->kept[r]);
		part->placed[r] = q_min(pods, part->kept[r]);
	}
	split_away(p, g, part);
	for (uint32_t i = 0; i < k->n_rows; i++) {
		part->rows[i] = (struct q_sum){ .kept = rows[i], .reserved = claims ? k->row_minimum[i] : 0 };
		part->rows[i].leaving = q_max(0, (g->row_pods ? g->row_pods[i] : 0) - rows[i]);
	}
}

/* What is guaranteed to the queue, or to single queues below it, and not used: what a sibling of those has borrowed is no use of it. */
static int64_t unused(const struct q_queue *q, uint32_t r)
{
	return q_max(q->idle[r], q_max(0, q->guarantee[r] - q_used(q, r)));
}

/* False: q_over() is so for no group below, whatever is short. */
static bool may_be_over(const struct q_pass *p, const struct q_queue *q)
{
	bool over = q->names_any ? q->n_unnamed > 0 : q->live > 0;

	for (uint32_t r = 0; r < p->in->n_resources && !over; r++)
		over = q->right[r] != Q_UNNAMED && q->sum[r].minima > q->right[r];
	return over;
}

static bool asks_named(const struct q_pass *p, const struct q_queue *q, const struct part *part)
{
	bool asks = false;

	for (uint32_t r = 0; r < p->in->n_resources && !asks; r++)
		asks = q->right[r] != Q_UNNAMED && part->minima[r] > 0;
	return asks;
}

static void note_over(const struct q_pass *p, struct q_queue *q)
{
	bool over = may_be_over(p, q);

	if (over != q->may_be_over && q->parent)
		q->parent->n_over += over ? 1 : UINT32_MAX;
	q->may_be_over = over;
}

/* @idle: by how much .idle changes, and then that of the parent. */
static void add_to_queue(struct q_pass *p, struct q_queue *q, const struct part *part, int64_t sign,
	int64_t *idle)
{
	bool partly = part->partly && !q->in, away = part->away && !q->in;

	q->dirty = true;
	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		struct q_sum *s = &q->sum[r];
		int64_t before = q->parent ? unused(q, r) : 0;

		q->idle[r] = q_add(q->idle[r], idle[r]);
		s->kept = q_add(s->kept,
			sign *
				((partly ? part->placed[r] : part->kept[r]) -
					(away ? part->away_kept[r] : 0)));
		s->reserved = q_add(s->reserved, sign * part->reserved[r]);
		s->leaving =
			q_add(s->leaving, sign * (part->leaving[r] - (away ? part->away_leaving[r] : 0)));
		s->minima = q_add(s->minima, sign * part->minima[r]);
		idle[r] = q->parent ? unused(q, r) - before : 0;
	}
	q->live += (int32_t)(part->live ? sign : 0);
	q->n_unnamed += (int32_t)(part->live && !asks_named(p, q, part) ? sign : 0);
	note_over(p, q);
}

static void add_part(struct q_pass *p, const struct q_group *g, const struct part *part, int64_t sign)
{
	int64_t idle[Q_RESOURCES];

	if (!part->any)
		return;
	memset(idle, 0, sizeof(*idle) * p->in->n_resources);
	for (struct q_queue *q = g->queue; q; q = q->parent)
		add_to_queue(p, q, part, sign, idle);
	for (uint32_t i = 0; i < g->kind->n_rows; i++) {
		struct q_sum *s = &p->in->rows[g->kind->rows[i]].sum;

		s->kept = q_add(s->kept, sign * part->rows[i].kept);
		s->reserved = q_add(s->reserved, sign * part->rows[i].reserved);
		s->leaving = q_add(s->leaving, sign * part->rows[i].leaving);
	}
}

static void note_lists(struct q_pass *p, struct q_group *g)
{
	if (g->pods) {
		int32_t n = q_count_gone(p, g);

		p->plan.leaving += n - g->n_gone;
		g->n_gone = n;
	}
	if (g->pods && !g->in_gone) {
		p->plan.gone =
			kar_arena_grow(p->arena, p->plan.gone, p->plan.n_gone, sizeof(struct q_group *));
		p->plan.gone[p->plan.n_gone++] = g;
	}
	g->in_gone |= g->pods != NULL;
	if (g->st.standing != KAR_QUEUE_WAITING && !g->in_live) {
		p->plan.live =
			kar_arena_grow(p->arena, p->plan.live, p->plan.n_live, sizeof(struct q_group *));
		p->plan.live[p->plan.n_live++] = g;
		g->queue->here = g->queue->here
			? g->queue->here
			: kar_arena_alloc(p->arena, g->queue->n_line + 1, sizeof(struct q_group *));
		g->queue->here[g->queue->n_here++] = g;
	}
	g->in_live |= g->st.standing != KAR_QUEUE_WAITING;
}

static void take_budgets(struct q_pass *p, const struct q_group *g, int64_t sign)
{
	for (uint32_t i = 0; i < g->in->n_budgets && g->st.cause; i++)
		p->plan.budgets[g->in->budgets[i].budget] -= sign * g->in->budgets[i].pods;
}

/* --- shares that are kept --------------------------------------------------------------------------- */

static void keep_most(struct q_queue *q)
{
	struct q_queue *parent = q->parent;
	uint32_t i = parent->width + q->place;

	parent->most[i] = q->extras > 0 ? q->share : -1;
	for (; i > 1; i /= 2)
		parent->most[i / 2] = q_max(parent->most[i & ~1U], parent->most[i | 1U]);
}

static void keep_shares(const struct q_pass *p, struct q_queue *q)
{
	for (; q->parent; q = q->parent) {
		q->share = q_share(p, q, NULL, Q_SHARE_UNIT);
		if (q->in_force)
			keep_most(q);
	}
}

static void count_shares(struct q_pass *p)
{
	assert(p->in->queues);
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++) {
		struct q_queue *q = &p->in->queues[i];

		q->most = kar_arena_alloc(p->arena, 2 * (size_t)q->width, sizeof(*q->most));
		memset(q->most, -1, 2 * (size_t)q->width * sizeof(*q->most));
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		struct q_queue *q = &p->in->queues[i];

		q->share = q_share(p, q, NULL, Q_SHARE_UNIT);
		if (q->in_force && q->extras > 0)
			keep_most(q);
	}
}

int64_t q_most_beside(const struct q_queue *q)
{
	const struct q_queue *parent = q->parent;
	int64_t most = -1;

	for (uint32_t i = parent->width + q->place; i > 1; i /= 2)
		most = q_max(most, parent->most[i ^ 1U]);
	return most;
}

/* --- one group ---------------------------------------------------------------------------------------- */

static void count_extras(struct q_pass *p, const struct q_group *g, int64_t sign)
{
	int64_t n = sign * q_extras(g);

	p->plan.extras += n;
	for (struct q_queue *q = g->queue; q && n; q = q->parent)
		q->extras += n;
}

static void move(struct q_pass *p, struct q_group *g, const struct q_state *st)
{
	struct part before, after;

	assert(st->n_kept >= 0 && (st->standing != KAR_QUEUE_WAITING || !st->n_kept));
	if (g->st.standing != KAR_QUEUE_WAITING &&
		(st->standing == KAR_QUEUE_WAITING || st->n_kept < g->st.n_kept ||
			(st->hold_for && !g->st.hold_for)))
		p->round.freed = ++p->round.changes;
	split(p, g, &before);
	add_part(p, g, &before, -1);
	count_extras(p, g, -1);
	take_budgets(p, g, -1);
	g->st = *st;
	q_set_kind(p, g);
	take_budgets(p, g, 1);
	count_extras(p, g, 1);
	split(p, g, &after);
	add_part(p, g, &after, 1);
	keep_shares(p, g->queue);
	note_lists(p, g);
	p->round.change = ++p->round.changes;
}

void q_set(struct q_pass *p, struct q_group *g, const struct q_state *st)
{
	if (p->plan.logging) {
		p->plan.log = kar_arena_grow(p->arena, p->plan.log, p->plan.n_log, sizeof(*p->plan.log));
		p->plan.log[p->plan.n_log++] = (struct q_saved){ g, g->st };
	}
	move(p, g, st);
}

struct q_mark q_mark(struct q_pass *p)
{
	p->plan.logging++;
	return (struct q_mark){ kar_sched_mark(p->in->snapshot->sched), p->plan.n_log, p->round.change,
		p->round.freed, p->plan.expected, p->plan.foreign };
}

void q_undo(struct q_pass *p, struct q_mark m)
{
	assert(p->plan.logging && p->plan.n_log >= m.log);
	while (p->plan.n_log > m.log) {
		const struct q_saved *s = &p->plan.log[--p->plan.n_log];

		move(p, s->group, &s->st);
	}
	kar_sched_undo(p->in->snapshot->sched, m.sched);
	p->round.change = m.change;
	p->round.freed = m.freed;
	p->plan.expected = m.expected;
	p->plan.foreign = m.foreign;
	p->plan.logging--;
}

void q_keep_changes(struct q_pass *p, struct q_mark m)
{
	assert(p->plan.logging && p->plan.n_log >= m.log);
	kar_sched_keep(p->in->snapshot->sched, m.sched);
	if (!--p->plan.logging)
		p->plan.n_log = 0;
}

static void count_in(struct q_pass *p, struct q_group *g)
{
	struct part part;

	split(p, g, &part);
	add_part(p, g, &part, 1);
	count_extras(p, g, 1);
	note_lists(p, g);
}

/* In line order, and so are the lists: the order of the snapshot says nothing. */
void q_count_all(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		uint32_t also = p->in->line[i]->in->also_in;

		count_in(p, p->in->line[i]);
		for (struct q_queue *q = also == KAR_QUEUE_NONE ? NULL : &p->in->queues[also]; q;
			q = q->parent)
			q->live++;
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_groups; i++) {
		if (p->in->groups[i].in->ineligible == KAR_QR_FINISHED)
			count_in(p, &p->in->groups[i]);
	}
	count_shares(p);
	p->round.change = p->round.freed = p->round.changes = 1;
}

/* --- the sums again, from nothing --------------------------------------------------------------------- */

/* Amounts that do not fit into 64 bits are cut, and then the order in which they were added matters. */
static bool is_same(int64_t kept, int64_t counted)
{
	enum { BITS = 61 };

	return kept == counted || kept >= (int64_t)1 << BITS || counted >= (int64_t)1 << BITS;
}

static bool same_sum(const struct q_sum *a, const struct q_sum *b)
{
	return is_same(a->kept, b->kept) && is_same(a->reserved, b->reserved) &&
		is_same(a->leaving, b->leaving) && is_same(a->minima, b->minima);
}

static void add_sum(const struct part *part, uint32_t r, bool cluster, struct q_sum *to)
{
	bool away = cluster && part->away;

	to->kept = q_add(to->kept,
		(cluster && part->partly ? part->placed[r] : part->kept[r]) -
			(away ? part->away_kept[r] : 0));
	to->reserved = q_add(to->reserved, part->reserved[r]);
	to->leaving = q_add(to->leaving, part->leaving[r] - (away ? part->away_leaving[r] : 0));
	to->minima = q_add(to->minima, part->minima[r]);
}

static int64_t unused_below(const struct q_queue *q, uint32_t r)
{
	int64_t idle = 0;

	for (uint32_t i = 0; i < q->n_children; i++)
		idle = q_add(idle, unused(q->children[i], r));
	return idle;
}

static void recount_queue(struct q_pass *p, const struct q_queue *q)
{
	struct q_sum *counted = kar_arena_alloc(p->arena, p->in->n_resources, sizeof(*counted));
	int64_t extras = 0;

	for (uint32_t i = 0; i < p->in->snapshot->n_groups; i++) {
		const struct q_group *g = &p->in->groups[i];
		struct part part;

		if (!q_is_below(g->queue, q))
			continue;
		extras += q_extras(g);
		split(p, g, &part);
		for (uint32_t r = 0; r < p->in->n_resources && part.any; r++)
			add_sum(&part, r, !q->in, &counted[r]);
	}
	assert(q->extras == extras);
	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		assert(same_sum(&q->sum[r], &counted[r]));
		assert(is_same(q->idle[r], unused_below(q, r)));
	}
	assert(!q->parent || q->share == q_share(p, q, NULL, Q_SHARE_UNIT));
}

static void recount_group(const struct q_group *g)
{
	int32_t spots = 0;

	for (uint32_t i = 0; i < g->st.n_spots; i++)
		spots += g->st.spots[i].n;
	assert(g->st.n_kept >= 0 && g->st.n_kept <= g->left);
	assert(g->st.standing != KAR_QUEUE_WAITING || !g->st.n_kept);
	assert(g->st.standing != KAR_QUEUE_WAITING || !spots);
	assert(!q_is_admitted(g) || spots == g->st.n_kept || waits_for_nodes(g));
	assert(!g->st.hold_for || !g->st.n_held);
	assert(!g->st.cause || !q_is_admitted(g));
}

void q_recount(struct q_pass *p)
{
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++)
		recount_queue(p, &p->in->queues[i]);
	for (uint32_t i = 0; i < p->in->snapshot->n_groups; i++)
		recount_group(&p->in->groups[i]);
}

/* --- who goes --------------------------------------------------------------------------------------- */

void q_evict(struct q_pass *p, struct q_group *g, enum kar_queue_cause cause, struct q_group *taker)
{
	struct q_state st = q_without_pods(p, g);

	assert(g->st.standing != KAR_QUEUE_WAITING && taker != g);
	if (g->in->standing == KAR_QUEUE_ADMITTED && q_is_admitted(g)) {
		struct q_state *before = kar_arena_alloc(p->arena, 1, sizeof(*before));

		*before = g->st;
		st.before = before;
		st.cause = cause;
		st.evicted_for = taker;
	} else {
		st.readmitted = true; /* it loses a claim, and may have another one */
	}
	q_set(p, g, &st);
}

void q_end_hold(struct q_pass *p, struct q_group *g, struct q_group *taker)
{
	struct q_state st = g->st;

	assert(q_is_admitted(g) && taker != g);
	for (uint32_t i = 0; i < st.n_held; i++)
		kar_sched_take(p->in->snapshot->sched, st.held[i].node, st.held[i].class, -1);
	st.n_held = 0;
	st.hold_for = taker;
	q_set(p, g, &st);
}

void q_lower(struct q_pass *p, struct q_group *g)
{
	struct q_state st = g->st;

	assert(q_extras(g) > 0);
	st.n_kept--;
	q_release(p, g, &st, st.n_kept);
	q_set(p, g, &st);
}

/* --- shares and rights ----------------------------------------------------------------------------- */

static int64_t share_of(int64_t above, int64_t alloc, int64_t weight, int64_t unit)
{
	static const int64_t endless = (int64_t)1 << 62;
	kar_nano share;

	if (above <= 0)
		return 0;
	if (alloc <= 0)
		return endless;
	share = (kar_nano)above * unit / ((kar_nano)alloc * weight);
	return share > endless ? endless : (int64_t)share;
}

int64_t q_share(const struct q_pass *p, const struct q_queue *q, const int64_t *v, int64_t unit)
{
	int64_t most = 0, weight = q->in && q->in->weight > 0 ? q->in->weight : 1;

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		int64_t used = q_add(q_used(q, r), v ? v[r] : 0);

		if (p->in->plain_of[r] == p->in->pods || (p->in->alloc[r] <= 0 && unit != Q_SHARE_UNIT))
			continue; /* of what no node has any more, no share can be shown */
		if (r >= p->in->n_plain && q->right[r] == Q_UNNAMED)
			continue; /* its rights are about all nodes */
		if (used > 0)
			most = q_max(most,
				share_of(used - q_max(q->floor[r], 0), p->in->alloc[r], weight, unit));
	}
	return most;
}

bool q_within(const struct q_pass *p, const struct q_queue *q, const int64_t *v)
{
	bool asks = false;

	for (uint32_t r = 0; r < p->in->n_resources && q->names_any; r++) {
		if (v[r] <= 0 || q->right[r] == Q_UNNAMED)
			continue;
		if (q_add(q_used(q, r), v[r]) > q->right[r])
			return false;
		asks = true;
	}
	return asks;
}

static bool is_above(const struct q_queue *q, uint32_t r, bool minima)
{
	return (minima ? q->sum[r].minima : q_used(q, r)) > q->right[r];
}

bool q_over(const struct q_pass *p, const struct q_queue *q, const int64_t *v, uint64_t resources,
	bool minima)
{
	bool asks_named = false, named_above = false;

	if (!q->names_any)
		return (resources & q_asked(p, v)) != 0;
	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		if (v[r] <= 0 || q->right[r] == Q_UNNAMED)
			continue;
		asks_named = true;
		named_above |= is_above(q, r, minima);
	}
	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		if (!(resources >> r & 1) || v[r] <= 0)
			continue;
		if (q->right[r] == Q_UNNAMED ? !asks_named || named_above : is_above(q, r, minima))
			return true;
	}
	return false;
}

uint64_t q_asked(const struct q_pass *p, const int64_t *v)
{
	uint64_t asked = 0;

	for (uint32_t r = 0; r < p->in->n_resources; r++)
		asked |= (uint64_t)(v[r] > 0) << r;
	return asked;
}

int64_t q_lock(const struct q_queue *q, uint32_t r)
{
	int64_t lock = 0;

	for (; q->parent; q = q->parent)
		lock = q_add(lock, q->parent->idle[r] - unused(q, r));
	return lock;
}
