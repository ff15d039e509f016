#include "common/queue/explain.h"

enum { ROUNDS = 3 };

/* Does the plan differ from what it was before the step, in what is decided? */
static bool let_in(struct q_pass *p)
{
	bool changed = q_keep(p);

	changed |= q_shed(p);
	q_reserve(p);
	return q_gangs(p) || changed;
}

static bool step(struct q_pass *p)
{
	bool changed = let_in(p);

	changed |= q_extras_step(p);
	changed |= q_rebalance(p);
	return changed;
}

static const char *evicted_text(const struct q_pass *p, const struct q_group *g)
{
	const struct q_group *taker = g->st.evicted_for;
	struct q_queue *a, *b;

	if (!taker)
		return kar_arena_printf(p->arena, "queue %s is drained", g->in->queue_name);
	if (g->st.cause == KAR_QUEUE_IN_QUEUE)
		return kar_arena_printf(p->arena, "evicted for %s/%s: priority %d over %d", taker->in->ns,
			taker->in->name, (int)taker->in->base, (int)g->in->base);
	q_pair(taker->queue, g->queue, &a, &b);
	return kar_arena_printf(p->arena, "evicted: queue %s reclaims its deserved share for %s/%s%s%s",
		a->in->name, taker->in->ns, taker->in->name, a == taker->queue ? "" : " of queue ",
		a == taker->queue ? "" : taker->in->queue_name);
}

/* It uses more than what its queues are entitled to, and nobody could have that back. */
static bool is_lent_no_more(const struct q_pass *p, const struct q_group *g)
{
	bool above = false;

	for (const struct q_queue *q = g->queue; g->in->not_returnable && q->in && q->lent; q = q->parent) {
		for (uint32_t r = 0; r < p->in->n_resources; r++)
			above |= g->kind->minimum[r] > 0 && q->sum[r].minima > q->lent[r];
	}
	return above;
}

/* Pods of its minimum have no place. */
static bool lacks(const struct q_group *g)
{
	int32_t at = 0;

	for (uint32_t i = 0; i < g->st.n_spots && at < g->min; i++) {
		const struct q_spot *s = &g->st.spots[i];

		if (!s->bound && !s->none && (!s->node || (!s->fresh && s->waits)))
			return true;
		at += s->n;
	}
	return false;
}

static void put_decision(struct q_pass *p, struct q_group *g, struct kar_queue_decision *d)
{
	bool was = g->in->standing == KAR_QUEUE_ADMITTED, is = q_is_admitted(g);

	*d = (struct kar_queue_decision){ .standing = g->st.standing,
		.desired = g->st.n_kept,
		.flavor = g->st.standing != KAR_QUEUE_WAITING ? g->st.flavor : 0,
		.scaled = was && is && g->in->elastic && g->st.n_kept != g->desired && g->desired >= g->min &&
			!(g->in->resized && g->st.n_kept > g->desired),
		.evicted_for = KAR_QUEUE_NONE,
		.hold_ends_for = KAR_QUEUE_NONE,
		.partner = KAR_QUEUE_NONE,
		.level = g->level,
		.cause = g->st.cause,
		.asks = g->asks,
		.took_extras = g->st.took,
		.provisions = g->st.provisions };
	if (is && (!was || g->in->replaces))
		d->places = q_placement(p, g);
	d->lent_no_more = was && is && is_lent_no_more(p, g);
	d->lacks = was && is && g->in->replaces && lacks(g);
	if (g->st.hold_for && was && is)
		d->hold_ends_for = g->st.hold_for->index;
	if (g->st.evicted_for)
		d->evicted_for = g->st.evicted_for->index;
	if (g->st.cause)
		d->evicted_text = evicted_text(p, g);
}

static void finish(struct q_pass *p, struct kar_queue_result *out)
{
	uint32_t *order = kar_arena_alloc(p->arena, p->in->n_line + 1, sizeof(*order));

	for (uint32_t i = 0; i < p->in->n_line; i++)
		order[i] = p->in->line[i]->index;
	out->order = order;
	out->n_order = p->in->n_line;
	out->groups = kar_arena_alloc(p->arena, p->in->snapshot->n_groups + 1, sizeof(*out->groups));
	for (uint32_t i = 0; i < p->in->snapshot->n_groups; i++)
		put_decision(p, &p->in->groups[i], &out->groups[i]);
	q_foreign_settle(p);
	out->takers = p->plan.foreign.takers;
	q_judge_edits(p, out);
	q_explain(p, out);
	q_estimate(p, out);
	q_messages(p, out);
	q_queue_results(p, out);
	out->again_at = p->memo->again_at;
}

/* A gang that was admitted without room goes on waiting for new nodes, and nobody else of its queue does. */
static void find_provisioned(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		if (p->plan.live[i]->in->provisioned && !p->plan.live[i]->in->no_provisioning &&
			q_is_admitted(p->plan.live[i]))
			p->plan.live[i]->queue->grows = p->plan.live[i];
	}
}

/*
 * The next pass sees the room of a rise that waits as free: whoever would take it then, or get more than one rise of that size, takes it in
 * this one. False: that changes nothing any more. On several nodes it may go to and fro, as the same rise finds another place each time: of
 * rises alone there are few rounds.
 */
static bool withdraw(struct q_pass *p, int32_t *before, int round)
{
	bool withdrawn = q_raise(p), changed;

	changed = withdrawn && let_in(p);
	for (uint32_t i = 0; i < p->in->snapshot->n_groups && withdrawn; i++) {
		int32_t d = p->in->groups[i].st.n_kept;

		changed |= before[i] != d && round < ROUNDS;
		before[i] = d;
	}
	return changed;
}

void kar_queue_plan(const struct kar_queue_snapshot *s, kar_time now, struct kar_arena *a,
	struct kar_queue_result *out)
{
	struct q_input *in = kar_arena_alloc(a, 1, sizeof(*in));
	struct q_pass *p = kar_arena_alloc(a, 1, sizeof(*p));
	size_t mark = kar_sched_mark(s->sched);
	int32_t *d = kar_arena_alloc(a, s->n_groups + 1, sizeof(*d)); /* of the last round */
	bool changed = true;

	*in = (struct q_input){ .snapshot = s, .now = now };
	*p = (struct q_pass){ .in = in, .arena = a, .memo = kar_arena_alloc(a, 1, sizeof(struct q_memo)) };
	p->memo->again_at = KAR_NEVER;
	*out = (struct kar_queue_result){ 0 };
	q_setup(in, p);
	find_provisioned(p);
	q_nodes_begin(p);
	q_keep_joined(p);
	for (int round = 0; changed; round++) {
		while (changed && out->steps < KAR_QUEUE_STEPS) {
			p->round.step = (uint32_t)++out->steps;
			changed = step(p);
			if (s->recounts)
				q_recount(p);
		}
		out->unsettled = changed;
		changed = withdraw(p, d, round) && !out->unsettled;
	}
	q_grow_members(p);
	q_join(p);
	if (q_hold_back(p)) { /* who asks is a head as before */
		q_foreign_settle(p);
		q_forget_heads(p);
		q_reserve(p);
	}
	if (s->recounts)
		q_recount(p);
	finish(p, out);
	q_forget_reservation(p);
	kar_sched_undo(s->sched, mark);
	for (uint32_t i = 0; i < p->memo->n_made; i++)
		kar_sched_class_put(s->sched, p->memo->made[i]);
}
