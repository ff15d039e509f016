/* Who makes room for a group, in the ways of enum q_way. */
#include <string.h>

#include "common/queue/candidates.h"

/* --- what is short ---------------------------------------------------------------------------------- */

static bool fits_on_nodes(struct taking *t, bool beside_stranded)
{
	struct q_pass *p = t->pass;
	struct q_mark mark = q_mark(p);
	bool fits;

	if (beside_stranded)
		q_place_stranded(p);
	fits = q_has_places(p, &t->ask, Q_FUT);
	q_undo(p, mark);
	return fits;
}

bool q_taker_fits(struct taking *t)
{
	struct q_pass *p = t->pass;
	bool all;

	t->ask = q_ask_of(p, t->taker);
	t->ask.inside = t->inside;
	all = q_rows_fit(p, &t->ask, Q_FUT, &t->lacks);
	if (all) {
		all = fits_on_nodes(t, false) && (!p->plan.n_stranded || fits_on_nodes(t, true));
		t->lacks.nodes = !all && !t->lacks.cluster;
		t->lacks.cluster = all ? 0 : t->lacks.cluster;
	}
	t->resources = t->lacks.cluster;
	for (int i = 0; i < Q_PATH; i++)
		t->resources |= t->lacks.capability[i];
	t->resources = q_with_plain(p, t->resources);
	if (!t->resources)
		t->resources = q_asked(p, t->ask.needs);
	return all;
}

/* --- taking ----------------------------------------------------------------------------------------- */

static void remove_victim(struct taking *t, const struct q_victim *v)
{
	for (uint32_t i = 0; i < t->n_sources; i++)
		t->sources[i].known &= !q_is_below(v->group->queue, t->sources[i].theirs);
	if (v->way == Q_END_HOLDS)
		q_end_hold(t->pass, v->group, t->taker);
	else if (v->way == Q_TAKE_EXTRAS)
		q_lower(t->pass, v->group);
	else
		q_evict(t->pass, v->group, v->way == Q_RECLAIM ? KAR_QUEUE_RECLAIM : KAR_QUEUE_IN_QUEUE,
			t->taker);
}

/* Victims are added one by one until it fits; false: there are not enough. */
static bool take_by(struct taking *t, enum q_way way)
{
	t->way = Q_NO_WAY; /* what was known before may have been undone */
	t->n_sources = 0;
	while (!q_taker_fits(t)) {
		struct q_group *g = t->lacks.closed ? NULL : q_best_victim(t, way);
		struct q_victim v;

		if (!g)
			return false;
		v = (struct q_victim){ g, g->st, way };
		t->victims = kar_arena_grow(t->pass->arena, t->victims, t->n_victims, sizeof(*t->victims));
		t->victims[t->n_victims++] = v;
		remove_victim(t, &v);
	}
	return true;
}

/* The taker is within its right against each queue from which a whole group is taken. */
static bool is_lawful(struct taking *t)
{
	struct q_queue *a, *b;

	for (uint32_t i = 0; i < t->n_victims; i++) {
		if (t->victims[i].way == Q_RECLAIM &&
			q_pair(t->taker->queue, t->victims[i].group->queue, &a, &b) &&
			!q_within(t->pass, a, t->ask.needs))
			return false;
	}
	return true;
}

/*
 * In reverse order, each without which it still fits stays. Extras of one group come back one by one; while a later one of the same group is
 * gone, an earlier one cannot.
 */
static void give_back(struct taking *t)
{
	for (uint32_t i = t->n_victims; i-- > 0;) {
		struct q_victim v = t->victims[i];
		struct q_state gone = v.group->st;
		bool blocked = false;

		for (uint32_t k = i + 1; k < t->n_victims; k++)
			blocked |= t->victims[k].group == v.group;
		if (blocked)
			continue;
		q_retake(t->pass, v.group, &gone, &v.before);
		q_set(t->pass, v.group, &v.before);
		t->n_victims--;
		memmove(&t->victims[i], &t->victims[i + 1], (t->n_victims - i) * sizeof(*t->victims));
		if (q_taker_fits(t) && is_lawful(t))
			continue;
		memmove(&t->victims[i + 1], &t->victims[i], (t->n_victims - i) * sizeof(*t->victims));
		t->victims[i] = v;
		t->n_victims++;
		q_retake(t->pass, v.group, &v.before, &gone);
		q_set(t->pass, v.group, &gone);
	}
}

/* A raised minimum takes free room and extras. */
static bool may_evict(const struct q_group *g)
{
	return !g->in->unverified && !q_is_admitted(g);
}

static bool may_evict_in_queue(const struct q_group *g)
{
	return may_evict(g) && g->queue->in->preempts && !g->in->never_preempts;
}

static bool may_find_any(struct taking *t)
{
	return q_may_find(t, Q_END_HOLDS) || q_may_find(t, Q_TAKE_EXTRAS) ||
		(may_evict(t->taker) && q_may_find(t, Q_RECLAIM)) ||
		(may_evict_in_queue(t->taker) && q_may_find(t, Q_PREEMPT)) || q_may_find(t, Q_TAKE_FOREIGN);
}

bool q_may_find_victims(struct q_pass *p, struct q_group *g)
{
	struct taking t = { .pass = p, .taker = g, .ask = q_ask_of(p, g) };

	return may_find_any(&t);
}

/* Groups of other queues are reclaimed, or groups of its own queue preempted, or both: the first that makes it fit. */
static bool take_groups(struct taking *t)
{
	static const enum q_way ways[][4] = { { Q_RECLAIM }, { Q_PREEMPT, Q_TAKE_EXTRAS },
		{ Q_PREEMPT, Q_TAKE_EXTRAS, Q_RECLAIM } };

	for (size_t i = 0; i < KAR_LEN(ways) && may_evict(t->taker); i++) {
		struct q_mark mark;
		uint32_t n = t->n_victims;
		bool enough = false;

		if (ways[i][0] == Q_PREEMPT && (t->pass->round.by_right || !may_evict_in_queue(t->taker)))
			break;
		mark = q_mark(t->pass);
		for (const enum q_way *way = ways[i]; *way && !enough; way++)
			enough = take_by(t, *way);
		if (enough) {
			q_keep_changes(t->pass, mark);
			return true;
		}
		q_undo(t->pass, mark);
		t->n_victims = n;
		q_taker_fits(t); /* what is short is that of before */
	}
	return false;
}

/* --- one domain at a time ---------------------------------------------------------------------------- */

enum { DOMAINS_TRIED = 8 };

/* Which groups have pods in which of the @n domains. */
static void find_groups_inside(struct taking *t, const char *const *paths, uint32_t n)
{
	struct q_pass *p = t->pass;
	uint8_t *in = kar_arena_alloc(p->arena, p->in->snapshot->n_groups + 1, sizeof(*in));

	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];

		for (uint32_t k = 0; k < g->st.n_spots; k++) {
			const char *path = g->st.spots[k].node
				? kar_sched_domain_of(p->in->snapshot->sched, &t->taker->in->topology,
					  g->st.spots[k].node)
				: NULL;

			for (uint32_t d = 0; path && d < n; d++) {
				if (strcmp(path, paths[d]) == 0)
					in[g->index] |= (uint8_t)(1U << d);
			}
		}
	}
	t->in_domains = in;
}

/* What it costs others. */
struct cost {
	int64_t pods;    /* that go; -1: the taker cannot be there */
	int32_t base;    /* the highest priority of those that go */
	kar_time oldest; /* since when the first of them is admitted */
};

static struct cost cost_of(const struct taking *t)
{
	struct cost c = { .base = INT32_MIN, .oldest = INT64_MAX };

	for (uint32_t i = 0; i < t->n_victims; i++) {
		const struct q_group *g = t->victims[i].group;

		c.pods += t->victims[i].before.n_kept - g->st.n_kept;
		c.base = g->in->base > c.base ? g->in->base : c.base;
		c.oldest = g->in->admitted_at < c.oldest ? g->in->admitted_at : c.oldest;
	}
	return c;
}

/* Fewer pods, then a lower priority, then those that were admitted last. */
static bool is_cheaper(const struct cost *a, const struct cost *b)
{
	if (a->pods != b->pods)
		return a->pods < b->pods;
	if (a->base != b->base)
		return a->base < b->base;
	return a->oldest > b->oldest;
}

/* What it costs if the taker is to be in that domain. What goes is undone. */
static struct cost try_inside(struct taking *t)
{
	struct q_mark mark = q_mark(t->pass);
	struct q_victim *before = kar_arena_alloc(t->pass->arena, t->n_victims + 1, sizeof(*before));
	struct cost cost = { .pods = -1 };
	uint32_t n = t->n_victims;

	if (n)
		memcpy(before, t->victims, n * sizeof(*before));
	if (take_groups(t)) {
		give_back(t);
		cost = cost_of(t);
	}
	q_undo(t->pass, mark);
	t->n_victims = n;
	if (n)
		memcpy(t->victims, before, n * sizeof(*before));
	return cost;
}

/* Of a taker that must be in one domain: only who is in that goes, and it is the one where that costs least. */
static bool take_groups_of_one_domain(struct taking *t)
{
	const char *paths[DOMAINS_TRIED], *best = NULL;
	uint32_t n = q_domains_for(t->pass, &t->ask, DOMAINS_TRIED, paths);
	struct cost least = { .pods = -1 };
	uint8_t domain = 0;

	find_groups_inside(t, paths, n);
	for (uint32_t d = 0; d < n; d++) {
		struct cost cost;

		t->inside = paths[d];
		t->domain = (uint8_t)(1U << d);
		cost = try_inside(t);
		if (cost.pods < 0 || (best && !is_cheaper(&cost, &least)))
			continue;
		best = t->inside;
		domain = t->domain;
		least = cost;
	}
	t->inside = best;
	t->domain = domain;
	return best && take_groups(t);
}

/* Who asks for several domains takes as anybody does. */
static bool must_be_together(const struct taking *t)
{
	return t->ask.job && !t->taker->in->n_wishes && t->taker->in->topology.n_labels &&
		t->taker->in->topology.required && !t->taker->in->no_node_check &&
		!t->pass->in->snapshot->no_nodes && may_evict(t->taker);
}

/*
 * Holds end, and extras are taken; if that is not enough, whole groups go; last of all pods of no queue. When groups of its own queue have gone,
 * the queue may have a right to extras that it had not before.
 */
static bool choose(struct taking *t)
{
	if ((may_evict(t->taker) && take_by(t, Q_END_HOLDS)) || take_by(t, Q_TAKE_EXTRAS))
		return true;
	if (must_be_together(t) && take_groups_of_one_domain(t))
		return true;
	t->inside = NULL;
	if (take_groups(t))
		return true;
	return !t->pass->round.by_right && q_may_find(t, Q_TAKE_FOREIGN) && q_take_foreign(t);
}

bool q_may_take(const struct q_pass *p, const struct q_queue *leaf)
{
	return p->in->has_rights || (leaf->in && leaf->in->preempts) || p->plan.extras > 0 ||
		p->in->snapshot->n_preemptible;
}

bool q_take_from_others(struct q_pass *p, struct q_group *g)
{
	struct taking t = { .pass = p, .taker = g };
	struct q_mark mark;
	bool extras = false, groups = false, foreign;

	t.ask = q_ask_of(p, g);
	if (g->in->yields || !may_find_any(&t))
		return false;
	mark = q_mark(p);
	if (!choose(&t)) {
		q_undo(p, mark);
		return false;
	}
	give_back(&t);
	for (uint32_t i = 0; i < t.n_victims; i++) {
		extras |= t.victims[i].way == Q_TAKE_EXTRAS;
		groups |= t.victims[i].way != Q_TAKE_EXTRAS && t.victims[i].way != Q_END_HOLDS &&
			t.victims[i].group->in->standing == KAR_QUEUE_ADMITTED;
	}
	foreign = q_foreign_goes_for(p, g);
	if (t.n_victims || foreign)
		q_place_stranded(p);
	if (q_admit(p, g, &t.lacks) == Q_NO) {
		q_undo(p, mark);
		return false;
	}
	if (t.n_victims || foreign) {
		struct q_state st = g->st;

		st.took |= extras;
		st.evicts |= groups || foreign;
		q_set(p, g, &st);
		q_note_victims(p, g, t.victims, t.n_victims, foreign);
	}
	q_keep_changes(p, mark);
	return true;
}

/* --- in vain ---------------------------------------------------------------------------------------- */

/* It is gone so that its queue may take back from others what is its right. */
static bool makes_lawful(const struct q_pass *p, const struct q_group *g)
{
	bool reclaims = false;

	for (uint32_t i = 0; i < p->plan.n_live && g->st.cause == KAR_QUEUE_IN_QUEUE; i++) {
		const struct q_state *st = &p->plan.live[i]->st;

		reclaims |= st->cause == KAR_QUEUE_RECLAIM && st->evicted_for == g->st.evicted_for;
	}
	return reclaims;
}

/* Takes the former places of @g again. False, with some of them taken, if one does not fit any more. */
static bool retake_all(struct q_pass *p, const struct q_group *g, const struct q_state *st)
{
	for (uint32_t i = 0; i < st->n_spots; i++) {
		const struct q_spot *s = &st->spots[i];
		kar_class class = g->in->runs[s->run].class;

		for (int32_t n = 0; n < s->n && s->node; n++) {
			if (!(s->bound ? kar_sched_stays_on : kar_sched_fits_on)(p->in->snapshot->sched,
				    class, s->node))
				return false;
			kar_sched_take(p->in->snapshot->sched, s->node, class, 1);
		}
	}
	return true;
}

/* For guarantees more is held beside one group than beside another: does that leave room for all whom this pass has let in? */
static bool leaves_guarantees(const struct q_pass *p)
{
	for (uint32_t i = 0; i < p->plan.n_live && p->in->has_guarantees; i++) {
		const struct q_group *g = p->plan.live[i];
		bool new = g->in->standing != KAR_QUEUE_ADMITTED && g->st.standing != KAR_QUEUE_WAITING;

		for (uint32_t r = 0; r < p->in->n_resources && new; r++) {
			int64_t used = q_add(q_foreign(p, r), q_used(p->in->root, r));

			if (g->kind->minimum[r] > 0 && q_add(used, q_lock(g->queue, r)) > p->in->alloc[r])
				return false;
		}
	}
	return true;
}

static bool spare(struct q_pass *p, struct q_group *g)
{
	struct q_ask ask = q_ask_pods(p, g, 0, g->st.before->n_kept);
	struct q_mark mark = q_mark(p);
	struct q_short s;

	ask.job = true;
	if (!q_rows_fit(p, &ask, Q_FUT, &s) || (s.cluster && q_lacks_a_place(g->st.before)) ||
		!retake_all(p, g, g->st.before)) {
		q_undo(p, mark);
		return false;
	}
	g->spared = true;
	q_set(p, g, g->st.before);
	if (!leaves_guarantees(p)) {
		q_undo(p, mark);
		return false;
	}
	q_keep_changes(p, mark);
	return true;
}

bool q_spare(struct q_pass *p)
{
	bool changed = false;

	for (uint32_t i = 0; i < p->in->n_line && !p->in->root->reserved; i++) {
		struct q_group *g = p->in->line[i];
		bool evicted = g->st.cause && g->st.cause != KAR_QUEUE_DRAIN;

		if (evicted && !g->spared && !g->in->hold.n && !makes_lawful(p, g))
			changed |= spare(p, g);
	}
	return changed;
}
