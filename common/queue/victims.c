/* Who makes room for a group: extras (b), groups of other queues by right (c), groups of the same queue by priority (d). */
#include "common/queue/impl.h"

#include <string.h>

struct victim {
	struct q_group *g;
	struct q_state before;
	char way; /* 'b', 'c', 'd' */
};

struct taking {
	struct q_pass *p;
	struct q_group *g;
	struct q_ask ask;
	struct q_short s;
	uint64_t resources; /* that are short, for rights */
	struct victim *victims;
	uint32_t n;
};

/* --- time ------------------------------------------------------------------------------------------ */

/* Does something hold until @end? In a dry run it does not, but then the run is about a later time. */
static bool holds_until(struct q_pass *p, kar_time end)
{
	if (p->now >= end)
		return false;
	if (p->ignore_time) {
		p->free_at = q_max(p->free_at, end);
		return false;
	}
	q_note_time(p, end);
	return true;
}

bool q_is_frozen(struct q_pass *p, const struct q_group *g)
{
	/* Since then it has started anew, with its minimum. */
	if (!g->in->last_scale || g->in->last_scale < g->in->formed_at)
		return false;
	return holds_until(p, g->in->last_scale + p->s->flags.freezing_window);
}

bool q_is_protected(struct q_pass *p, const struct q_group *g)
{
	kar_time since = g->in->formed_at ? g->in->formed_at : g->in->admitted_at;

	if (g->in->standing != KAR_QUEUE_ADMITTED)
		since = p->now;
	if (g->st.readmitted || g->st.evicts)
		return true;
	return q_is_admitted(g) && since && holds_until(p, since + p->s->flags.min_runtime);
}

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
		t->s.nodes = !all;
	}
	t->resources = t->s.cluster;
	for (int i = 0; i < Q_PATH; i++)
		t->resources |= t->s.cap[i];
	if (!t->resources)
		t->resources = q_asked(p, t->ask.v);
	return all;
}

/* Would @row be freed by pods of @g? */
static bool uses_quota(const struct taking *t, const struct q_group *g, const int64_t *rows)
{
	for (uint32_t i = 0; i < t->g->kind->n_rows; i++) {
		for (uint32_t k = 0; t->s.quota >> i & 1 && k < g->kind->n_rows; k++) {
			if (g->kind->rows[k] == t->g->kind->rows[i] && rows[k] > 0)
				return true;
		}
	}
	return false;
}

static bool uses_short(const struct taking *t, const struct q_group *g, uint64_t asked, bool job)
{
	uint64_t cluster = t->s.nodes ? q_asked(t->p, t->ask.v) : t->s.cluster;

	if (cluster & asked)
		return true;
	for (const struct q_queue *q = t->g->q; q->in; q = q->parent) {
		bool jobs = job && t->s.jobs >> q->depth & 1;

		if ((jobs || t->s.cap[q->depth] & asked) && q_is_below(g->q, q))
			return true;
	}
	return false;
}

/* --- order ----------------------------------------------------------------------------------------- */

struct rank {
	int64_t share;
	int32_t base, extras;
	kar_time young; /* admitted or created */
};

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Is (@r, @g) taken before (@q, @h)? */
static bool goes_before(const struct rank *r, const struct q_group *g, const struct rank *q,
	const struct q_group *h)
{
	int order = compare(q->share, r->share);

	if (!order)
		order = compare(r->base, q->base);
	if (!order)
		order = compare(q->extras, r->extras);
	if (!order)
		order = compare(q->young, r->young);
	return order ? order < 0 : q_compare_names(g, h) > 0;
}

/* --- b --------------------------------------------------------------------------------------------- */

static bool may_take_extra(struct taking *t, struct q_group *y, struct rank *r)
{
	struct q_pass *p = t->p;
	const struct kar_queue_run *run;
	const int64_t *u;
	int64_t rows[Q_ROWS] = { 0 }, v[Q_RESOURCES] = { 0 };
	struct q_queue *a, *b;
	bool quota;

	if (y == t->g || !q_extras(y))
		return false;
	run = &y->in->runs[q_run_of(y, y->st.d - 1)];
	u = q_class_needs(p, run->class);
	q_add_pods(p, y, y->st.d - 1, y->st.d, v, rows);
	quota = t->s.quota && uses_quota(t, y, rows);
	if (!quota && !uses_short(t, y, q_asked(p, u), false))
		return false;
	*r = (struct rank){ .base = y->in->base, .extras = q_extras(y), .young = y->in->creation };
	if (!quota && y->q != t->g->q) {
		if (!q_pair(t->g->q, y->q, &a, &b) || !q_over(p, b, u, t->resources, false))
			return false;
		r->share = q_share(p, b, NULL, Q_SHARE_UNIT);
		if (!q_within(p, a, t->ask.v) && q_share(p, a, t->ask.v, Q_SHARE_UNIT) >= r->share)
			return false;
	}
	return !q_is_frozen(p, y);
}

/* --- c and d ---------------------------------------------------------------------------------------- */

static bool is_live(const struct q_group *g)
{
	return g->st.standing != KAR_QUEUE_WAITING;
}

static bool is_reclaimable(const struct q_queue *from, const struct q_queue *to)
{
	for (; from->depth > to->depth; from = from->parent) {
		if (from->in->not_reclaimable)
			return false;
	}
	return !to->in->not_reclaimable;
}

static kar_time admitted_at(const struct q_group *g)
{
	return g->in->standing == KAR_QUEUE_ADMITTED ? g->in->admitted_at : INT64_MAX;
}

/* Does a budget allow less than all that would be gone with it? */
static bool exceeds_a_budget(const struct q_pass *p, const struct q_group *v)
{
	for (uint32_t i = 0; i < v->in->n_budgets; i++) {
		if (v->in->budgets[i].pods > p->budgets[v->in->budgets[i].budget])
			return true;
	}
	return false;
}

/* Not both ways: who was evicted by a group never evicts that one back. */
static bool is_spared(const struct taking *t, const struct q_group *v)
{
	return v == t->g || !is_live(v) || v->in->not_evictable || t->g->in->evicted_by == v->index ||
		exceeds_a_budget(t->p, v);
}

static bool may_reclaim(struct taking *t, struct q_group *v, struct rank *r)
{
	struct q_pass *p = t->p;
	struct q_queue *a, *b;

	if (is_spared(t, v) || v->q == t->g->q || !v->q->in || !q_pair(t->g->q, v->q, &a, &b))
		return false;
	if (!is_reclaimable(v->q, b) || !q_within(p, a, t->ask.v) ||
		!uses_short(t, v, q_asked(p, v->kind->m), true) ||
		!q_over(p, b, v->kind->m, t->resources, true))
		return false;
	*r = (struct rank){ q_share(p, b, NULL, Q_SHARE_UNIT), v->in->base, 0, admitted_at(v) };
	return !q_is_protected(p, v);
}

static bool may_preempt(struct taking *t, struct q_group *v, struct rank *r)
{
	if (is_spared(t, v) || v->q != t->g->q || v->in->base >= t->g->in->base)
		return false;
	*r = (struct rank){ 0, v->in->base, 0, admitted_at(v) };
	return !q_is_protected(t->p, v);
}

/* --- taking ----------------------------------------------------------------------------------------- */

/* Is there anybody to be looked at? In a full cluster without extras most queues are within their rights. */
static bool may_find(struct taking *t, char way)
{
	bool may = false;

	if (way != 'c')
		return way == 'd' || t->p->extras > 0;
	for (const struct q_queue *a = t->g->q; a->parent && !may; a = a->parent)
		may = a->parent->n_over > a->may_be_over && q_within(t->p, a, t->ask.v);
	return may;
}

static struct q_group *best(struct taking *t, char way)
{
	struct q_group *found = NULL;
	struct rank of_found = { 0 }, r = { 0 };

	if (!may_find(t, way))
		return NULL;
	for (uint32_t i = 0; i < t->p->n_live; i++) {
		struct q_group *g = t->p->live[i];
		bool may = way == 'b' ? may_take_extra(t, g, &r)
			: way == 'c'  ? may_reclaim(t, g, &r)
				      : may_preempt(t, g, &r);

		if (may && (!found || goes_before(&r, g, &of_found, found))) {
			found = g;
			of_found = r;
		}
	}
	return found;
}

void q_evict(struct q_pass *p, struct q_group *g, enum kar_queue_cause cause, struct q_group *taker)
{
	struct q_state st = g->st;

	q_release(p, g, &st, 0);
	st.standing = KAR_QUEUE_WAITING;
	st.d = 0;
	if (g->in->standing == KAR_QUEUE_ADMITTED && q_is_admitted(g)) {
		st.cause = cause;
		st.evicted_for = taker;
	} else {
		st.readmitted = true; /* it loses a claim, and may have another one */
	}
	q_set(p, g, &st);
}

void q_lower(struct q_pass *p, struct q_group *g)
{
	struct q_state st = g->st;

	st.d--;
	q_release(p, g, &st, st.d);
	q_set(p, g, &st);
}

static void remove_victim(struct taking *t, const struct victim *v)
{
	if (v->way == 'b')
		q_lower(t->p, v->g);
	else
		q_evict(t->p, v->g, v->way == 'c' ? KAR_QUEUE_RECLAIM : KAR_QUEUE_IN_QUEUE, t->g);
}

/* Victims are added one by one until it fits; false: there are not enough. */
static bool take_by(struct taking *t, char way)
{
	while (!fits(t)) {
		struct q_group *g = t->s.closed ? NULL : best(t, way);
		struct victim v;

		if (!g)
			return false;
		v = (struct victim){ g, g->st, way };
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
		struct victim v = t->victims[i];
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

/* "b", "b, c", "b, d", "b, d, c": the first that makes it fit. */
static bool choose(struct taking *t)
{
	static const char *const ways[] = { "c", "d", "dc" };
	const struct kar_queue_group *in = t->g->in;
	bool minima = !in->unverified && !q_is_admitted(t->g); /* a raised minimum uses a and b */
	bool inner = t->g->q->in->preempts && !in->never_preempts;

	if (take_by(t, 'b'))
		return true;
	for (size_t i = 0; i < KAR_LEN(ways) && minima; i++) {
		struct q_mark mark;
		uint32_t n = t->n;
		bool enough = false;

		if (ways[i][0] == 'd' && !inner)
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

	if (!q_may_take(p, g->q) || g->in->yields)
		return false;
	mark = q_mark(p);
	if (!choose(&t)) {
		q_undo(p, mark);
		return false;
	}
	give_back(&t);
	for (uint32_t i = 0; i < t.n; i++) {
		extras |= t.victims[i].way == 'b';
		groups |= t.victims[i].way != 'b' && t.victims[i].g->in->standing == KAR_QUEUE_ADMITTED;
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
	}
	q_keep_changes(p, mark);
	return true;
}
