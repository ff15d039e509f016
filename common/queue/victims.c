/* Who makes room for a group: room for members to come (h), extras (b), groups of other queues by right (c), groups of the same queue by priority (d). */
#include <string.h>

#include "common/queue/taking.h"

/* --- what is short ---------------------------------------------------------------------------------- */

/* Does it fit when these are gone? */
static bool fits(struct taking *t)
{
	struct q_pass *p = t->p;
	struct q_mark mark;
	struct q_state st;
	bool all;

	t->ask = q_ask_of(p, t->g);
	all = q_rows_fit(p, &t->ask, Q_FUT, &t->s);
	if (all) {
		mark = q_mark(p);
		st = t->g->st;
		all = q_place(p, &t->ask, Q_FUT, &st);
		q_undo(p, mark);
		t->s.nodes = !all && !t->s.cluster;
		t->s.cluster = all ? 0 : t->s.cluster;
	}
	t->resources = t->s.cluster;
	for (int i = 0; i < Q_PATH; i++)
		t->resources |= t->s.cap[i];
	if (!t->resources)
		t->resources = q_asked(p, t->ask.v);
	return all;
}

/* --- taking ----------------------------------------------------------------------------------------- */

static void remove_victim(struct taking *t, const struct q_victim *v)
{
	for (uint32_t i = 0; i < t->n_sources; i++)
		t->sources[i].known &= !q_is_below(v->g->q, t->sources[i].b);
	if (v->way == 'h')
		q_end_hold(t->p, v->g, t->g);
	else if (v->way == 'b')
		q_lower(t->p, v->g);
	else
		q_evict(t->p, v->g, v->way == 'c' ? KAR_QUEUE_RECLAIM : KAR_QUEUE_IN_QUEUE, t->g);
}

/* Victims are added one by one until it fits; false: there are not enough. */
static bool take_by(struct taking *t, char way)
{
	t->way = 0; /* what was known before may have been undone */
	t->n_sources = 0;
	while (!fits(t)) {
		struct q_group *g = t->s.closed ? NULL : q_best_victim(t, way);
		struct q_victim v;

		if (!g)
			return false;
		v = (struct q_victim){ g, g->st, way };
		t->victims = kar_arena_grow(t->p->a, t->victims, t->n, sizeof(*t->victims));
		t->victims[t->n++] = v;
		remove_victim(t, &v);
	}
	return true;
}

/* The taker is within its right against each queue from which a whole group is taken. */
static bool is_lawful(struct taking *t)
{
	struct q_queue *a, *b;

	for (uint32_t i = 0; i < t->n; i++) {
		if (t->victims[i].way == 'c' && q_pair(t->g->q, t->victims[i].g->q, &a, &b) &&
			!q_within(t->p, a, t->ask.v))
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
	for (uint32_t i = t->n; i-- > 0;) {
		struct q_victim v = t->victims[i];
		struct q_state gone = v.g->st;
		bool blocked = false;

		for (uint32_t k = i + 1; k < t->n; k++)
			blocked |= t->victims[k].g == v.g;
		if (blocked)
			continue;
		q_retake(t->p, v.g, &gone, &v.before);
		q_set(t->p, v.g, &v.before);
		t->n--;
		memmove(&t->victims[i], &t->victims[i + 1], (t->n - i) * sizeof(*t->victims));
		if (fits(t) && is_lawful(t))
			continue;
		memmove(&t->victims[i + 1], &t->victims[i], (t->n - i) * sizeof(*t->victims));
		t->victims[i] = v;
		t->n++;
		q_retake(t->p, v.g, &v.before, &gone);
		q_set(t->p, v.g, &gone);
	}
}

/* A raised minimum uses a and b. */
static bool may_evict(const struct q_group *g)
{
	return !g->in->unverified && !q_is_admitted(g);
}

static bool may_evict_in_queue(const struct q_group *g)
{
	return may_evict(g) && g->q->in->preempts && !g->in->never_preempts;
}

static bool may_find_any(struct taking *t)
{
	return q_may_find(t, 'h') || q_may_find(t, 'b') || (may_evict(t->g) && q_may_find(t, 'c')) ||
		(may_evict_in_queue(t->g) && q_may_find(t, 'd'));
}

bool q_may_find_victims(struct q_pass *p, struct q_group *g)
{
	struct taking t = { .p = p, .g = g, .ask = q_ask_of(p, g) };

	return may_find_any(&t);
}

/*
 * "h", "h, b", "h, b, c", "h, b, d", "h, b, d, b, c": the first that makes it fit. When groups of its own queue have gone, the queue may have a right to extras
 * that it had not before.
 */
static bool choose(struct taking *t)
{
	static const char *const ways[] = { "c", "db", "dbc" };

	if ((may_evict(t->g) && take_by(t, 'h')) || take_by(t, 'b'))
		return true;
	for (size_t i = 0; i < KAR_LEN(ways) && may_evict(t->g); i++) {
		struct q_mark mark;
		uint32_t n = t->n;
		bool enough = false;

		if (ways[i][0] == 'd' && !may_evict_in_queue(t->g))
			break;
		mark = q_mark(t->p);
		for (const char *way = ways[i]; *way && !enough; way++)
			enough = take_by(t, *way);
		if (enough) {
			q_keep_changes(t->p, mark);
			return true;
		}
		q_undo(t->p, mark);
		t->n = n;
		fits(t); /* what is short is that of before */
	}
	return false;
}

bool q_may_take(const struct q_pass *p, const struct q_queue *leaf)
{
	return p->has_rights || (leaf->in && leaf->in->preempts) || p->extras > 0;
}

bool q_take_from_others(struct q_pass *p, struct q_group *g)
{
	struct taking t = { .p = p, .g = g };
	struct q_mark mark;
	bool extras = false, groups = false;

	t.ask = q_ask_of(p, g);
	if (g->in->yields || !may_find_any(&t))
		return false;
	mark = q_mark(p);
	if (!choose(&t)) {
		q_undo(p, mark);
		return false;
	}
	give_back(&t);
	for (uint32_t i = 0; i < t.n; i++) {
		extras |= t.victims[i].way == 'b';
		groups |= t.victims[i].way != 'b' && t.victims[i].way != 'h' &&
			t.victims[i].g->in->standing == KAR_QUEUE_ADMITTED;
	}
	if (q_admit(p, g, &t.s) == Q_NO) {
		q_undo(p, mark);
		return false;
	}
	if (t.n) {
		struct q_state st = g->st;

		st.took |= extras;
		st.evicts |= groups;
		q_set(p, g, &st);
		q_note_victims(p, g, t.victims, t.n);
	}
	q_keep_changes(p, mark);
	return true;
}

/* --- in vain ---------------------------------------------------------------------------------------- */

/* It is gone so that its queue may take back from others what is its right. */
static bool makes_lawful(const struct q_pass *p, const struct q_group *g)
{
	bool reclaims = false;

	for (uint32_t i = 0; i < p->n_live && g->st.cause == KAR_QUEUE_IN_QUEUE; i++) {
		const struct q_state *st = &p->live[i]->st;

		reclaims |= st->cause == KAR_QUEUE_RECLAIM && st->evicted_for == g->st.evicted_for;
	}
	return reclaims;
}

/* Its pods fit where they were. Then that is taken. */
static bool retake_all(struct q_pass *p, const struct q_group *g, const struct q_state *st)
{
	for (uint32_t i = 0; i < st->n_spots; i++) {
		const struct q_spot *s = &st->spots[i];
		kar_class class = g->in->runs[s->run].class;

		for (int32_t n = 0; n < s->n && s->node; n++) {
			if (!kar_sched_fits_on(p->s->sched, class, s->node))
				return false;
			kar_sched_take(p->s->sched, s->node, class, 1);
		}
	}
	return true;
}

/* For guarantees more is held beside one group than beside another: does that leave room for all whom this pass has let in? */
static bool leaves_guarantees(const struct q_pass *p)
{
	for (uint32_t i = 0; i < p->n_live && p->has_guarantees; i++) {
		const struct q_group *g = p->live[i];
		bool new = g->in->standing != KAR_QUEUE_ADMITTED && g->st.standing != KAR_QUEUE_WAITING;

		for (uint32_t r = 0; r < p->n_resources && new; r++) {
			int64_t used = q_add(p->foreign[r], q_used(p->root, r));

			if (g->kind->m[r] > 0 && q_add(used, q_lock(g->q, r)) > p->alloc[r])
				return false;
		}
	}
	return true;
}

static bool spare(struct q_pass *p, struct q_group *g)
{
	struct q_ask ask = q_ask_pods(p, g, 0, g->st.before->d);
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

	for (uint32_t i = 0; i < p->n_line && !p->root->reserved; i++) {
		struct q_group *g = p->line[i];
		bool evicted = g->st.cause && g->st.cause != KAR_QUEUE_DRAIN;

		if (evicted && !g->spared && !g->in->hold.n && !makes_lawful(p, g))
			changed |= spare(p, g);
	}
	return changed;
}
