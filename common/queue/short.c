/* What is short: the limit that stops a group, in words. */
#include "common/queue/explain.h"

#include <string.h>

/* --- SHORT ------------------------------------------------------------------------------------------ */

/* A limit that is too small. */
struct lack {
	const char *resource; /* NULL: none yet */
	int64_t lacks, wanted, limit, free;
	const struct q_queue *queue; /* whose capability it is; NULL: the cluster, or .row */
	const struct kar_queue_quota_row *row;
};

static int rank_of(const char *resource)
{
	static const char *const last[] = { "pods", "memory", "cpu" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(resource, last[i]) == 0)
			return i;
	}
	return 3;
}

/* The largest part of the limit that is short, of equals extended resources first. */
static void note_lack(struct lack *worst, const struct lack *l)
{
	kar_nano a, b;
	int order;

	if (l->lacks <= 0)
		return;
	if (!worst->resource) {
		*worst = *l;
		return;
	}
	a = (kar_nano)l->lacks * 1000 / q_max(1, l->limit);
	b = (kar_nano)worst->lacks * 1000 / q_max(1, worst->limit);
	order = a != b ? (a > b) - (a < b) : rank_of(l->resource) - rank_of(worst->resource);
	if (order < 0 || (!order && strcmp(l->resource, worst->resource) >= 0))
		return;
	*worst = *l;
}

static const char *amount(struct q_pass *p, const struct lack *l, int64_t n)
{
	return q_text_amount(p, l->resource, q_max(0, n), false);
}

static const char *short_of(struct q_pass *p, const struct lack *l)
{
	/* What others have beyond the limit is not what it lacks. */
	return q_text_short(p, l->resource, q_min(l->lacks, l->wanted), l->wanted);
}

/* Of the cluster; @locked: what is kept for others' guarantees counts. */
static struct lack lack_of_cluster(const struct q_pass *p, const struct q_ask *ask, bool locked)
{
	struct lack worst = { 0 };

	for (uint32_t r = 0; r < p->n_resources && !p->s->no_nodes; r++) {
		struct lack l = { .resource = p->names[r], .wanted = ask->v[r], .limit = p->alloc[r] };

		if (ask->v[r] <= 0)
			continue;
		l.free = q_sub(q_sub(p->alloc[r], p->foreign[r]), q_used(p->root, r));
		if (locked)
			l.free = q_sub(l.free, q_lock(ask->g->q, r));
		l.lacks = q_sub(ask->v[r], l.free);
		note_lack(&worst, &l);
	}
	return worst;
}

/* --- without anybody else ---------------------------------------------------------------------------- */

static struct lack lack_of_all(struct q_pass *p, const struct q_group *g)
{
	struct lack worst = { 0 };

	for (uint32_t r = 0; r < p->n_resources; r++) {
		struct lack l = { .resource = p->names[r], .wanted = g->kind->m[r], .limit = p->alloc[r] };
		int64_t others = p->foreign[r];

		if (l.wanted <= 0)
			continue;
		for (const struct q_queue *q = g->q; q->in; q = q->parent) {
			struct lack cap = l;

			for (uint32_t i = 0; i < q->parent->n_children; i++)
				others = q_add(others,
					q->parent->children[i] == q ? 0 : q->parent->children[i]->g[r]);
			cap.limit = q->cap[r];
			cap.lacks = l.wanted - q->cap[r];
			cap.queue = q;
			note_lack(&worst, &cap);
		}
		l.free = l.limit - others;
		l.lacks = p->s->no_nodes ? 0 : q_sub(l.wanted, l.free);
		note_lack(&worst, &l);
	}
	return worst;
}

struct q_why q_why_infeasible(struct q_pass *p, struct q_group *g)
{
	const struct lack l = lack_of_all(p, g);
	struct q_mark mark;
	const char *nodes;
	int32_t fit;

	if (l.queue)
		return (struct q_why){ KAR_QR_INFEASIBLE,
			Q_TEXT(p, "%s, queue %s has capability %s", short_of(p, &l), l.queue->in->name,
				amount(p, &l, l.limit)) };
	if (l.resource)
		return (struct q_why){ KAR_QR_INFEASIBLE,
			Q_TEXT(p, "%s, %s of %s can be had", short_of(p, &l), amount(p, &l, l.free),
				amount(p, &l, l.limit)) };
	for (uint32_t i = 0; i < g->kind->n_rows; i++) {
		const struct kar_queue_quota_row *row = &p->s->rows[g->kind->rows[i]];
		int64_t m = g->kind->row_m[i];

		if (m > row->hard)
			return (struct q_why){ KAR_QR_QUOTA_INFEASIBLE,
				Q_TEXT(p, "%s, quota %s allows %s",
					q_text_short(p, row->resource, m - row->hard, m), row->quota,
					q_text_amount(p, row->resource, row->hard, false)) };
	}
	mark = q_mark(p);
	q_lift_all(p);
	nodes = q_explain_nodes(p, g, &fit);
	q_undo(p, mark);
	return (struct q_why){ KAR_QR_INFEASIBLE,
		Q_TEXT(p, "%d of %d pods fit on empty nodes: %s", (int)fit, (int)g->min, nodes) };
}

bool q_is_above_capability(struct q_pass *p, const struct q_group *g)
{
	return lack_of_all(p, g).queue != NULL;
}

/* --- now --------------------------------------------------------------------------------------------- */

/* Of the rows themselves: the same for all that are alike. */
static struct q_why why_quota(struct q_pass *p, const struct q_ask *ask)
{
	const struct q_kind *k = ask->g->kind;
	struct lack worst = { 0 };

	for (uint32_t i = 0; i < k->n_rows; i++) {
		const struct kar_queue_quota_row *row = &p->s->rows[k->rows[i]];
		struct lack l = { .resource = row->resource,
			.wanted = ask->rows[i],
			.limit = row->limit,
			.row = row };

		l.free = q_row_room(p, k->rows[i]);
		l.lacks = ask->rows[i] > 0 ? ask->rows[i] - q_max(0, l.free) : 0;
		note_lack(&worst, &l);
	}
	if (!worst.row)
		return (struct q_why){ 0 };
	return (struct q_why){ KAR_QR_QUOTA_EXCEEDED,
		Q_TEXT(p, "%s, quota %s has %s, used %s", short_of(p, &worst), worst.row->quota,
			amount(p, &worst, worst.limit), amount(p, &worst, q_sub(worst.limit, worst.free))) };
}

struct q_why q_why_closed(struct q_pass *p, const struct q_ask *ask)
{
	const struct q_kind *k = ask->g->kind;

	for (uint32_t i = 0; i < k->n_rows; i++) {
		if (ask->rows[i] > 0 && ask->rows[i] > q_row_room(p, k->rows[i]))
			return (struct q_why){ 0 };
	}
	for (uint32_t i = 0; i < k->n_rows; i++) {
		const struct q_group *closer = ask->rows[i] > 0 ? q_row_closer(p, k->rows[i]) : NULL;

		if (closer && closer != ask->g && q_compare_line(&closer, &ask->g) < 0)
			return (struct q_why){ KAR_QR_QUOTA_EXCEEDED,
				Q_TEXT(p, "%s/%s goes first for %s of quota %s", closer->in->ns,
					closer->in->name, p->s->rows[k->rows[i]].resource,
					p->s->rows[k->rows[i]].quota) };
	}
	return (struct q_why){ 0 };
}

static struct q_why why_queue(struct q_pass *p, const struct q_ask *ask, const struct q_short *s)
{
	struct lack worst = { 0 };

	for (const struct q_queue *q = ask->g->q; q->in; q = q->parent) {
		if (s->jobs >> q->depth & 1)
			return (struct q_why){ KAR_QR_MAX_JOBS,
				Q_TEXT(p, "queue %s has %d of %d jobs", q->in->name, (int)q->live,
					(int)q->in->max_jobs) };
	}
	for (const struct q_queue *q = ask->g->q; q->in; q = q->parent) {
		for (uint32_t r = 0; r < p->n_resources; r++) {
			struct lack l = { .resource = p->names[r],
				.wanted = ask->v[r],
				.limit = q->cap[r],
				.queue = q };

			if (!(s->cap[q->depth] >> r & 1))
				continue;
			l.free = q->cap[r] - q_used(q, r);
			l.lacks = q_sub(ask->v[r], l.free);
			note_lack(&worst, &l);
		}
	}
	if (!worst.queue)
		return (struct q_why){ 0 };
	return (struct q_why){ KAR_QR_QUEUE_CAPABILITY,
		Q_TEXT(p, "%s short %s: queue %s has capability %s, used %s", worst.resource,
			q_text_amount(p, worst.resource, worst.lacks, true), worst.queue->in->name,
			amount(p, &worst, worst.limit), amount(p, &worst, q_sub(worst.limit, worst.free))) };
}

bool q_would_fit(struct q_pass *p, const struct q_ask *ask)
{
	struct q_mark mark;
	struct q_state st = ask->g->st;
	struct q_short s;
	bool fits;

	if (!q_rows_fit(p, ask, Q_FUT, &s))
		return false;
	mark = q_mark(p);
	fits = q_place(p, ask, Q_FUT, &st);
	q_undo(p, mark);
	return fits;
}

/* The lowest pool of its path, or the cluster, whose head may stop it; NULL: none. */
static const struct q_queue *pool_above(const struct q_ask *ask)
{
	for (const struct q_queue *q = ask->g->q; q; q = q->parent) {
		if (q_binds(q->reserved, ask))
			return q;
	}
	return NULL;
}

/* Of a queue that is the pool of a head: what it lacks for both. */
static struct lack lack_beside_head(const struct q_pass *p, const struct q_queue *pool,
	const struct q_ask *ask)
{
	struct lack worst = { 0 };

	for (uint32_t r = 0; r < p->n_resources; r++) {
		struct lack l = { .resource = p->names[r], .wanted = ask->v[r], .limit = pool->cap[r] };

		l.free = q_sub(q_sub(pool->cap[r], q_used(pool, r)), pool->reserved->kind->m[r]);
		l.lacks = l.wanted > 0 && pool->cap[r] != Q_NO_LIMIT ? q_sub(l.wanted, l.free) : 0;
		note_lack(&worst, &l);
	}
	return worst;
}

/* Of the cluster, whose room for its head nobody else may take. */
static struct lack lack_beside_rooms(const struct q_pass *p, const struct q_ask *ask)
{
	struct lack worst = { 0 };

	for (uint32_t r = 0; r < p->n_resources; r++) {
		struct lack l = { .resource = p->names[r], .wanted = ask->v[r], .limit = p->alloc[r] };

		l.free = q_sub(q_sub(p->alloc[r], p->foreign[r]), q_used(p->root, r));
		l.free = q_sub(l.free, q_lock(ask->g->q, r));
		for (uint32_t i = 0; i < p->n_reserved; i++)
			l.free = q_sub(l.free, q_max(0, p->reserved[i].v[r]));
		l.lacks = l.wanted > 0 ? q_sub(l.wanted, l.free) : 0;
		note_lack(&worst, &l);
	}
	return worst;
}

static const char *short_beside_head(struct q_pass *p, const struct q_ask *ask, const struct q_queue *pool)
{
	const struct lack l = pool->in ? lack_beside_head(p, pool, ask) : lack_beside_rooms(p, ask);
	int32_t fit;

	if (l.resource)
		return short_of(p, &l);
	q_explain_beside_head(p, ask->g, &fit); /* no node has enough in one piece */
	return Q_TEXT(p, "%d of %d pods fit now", (int)fit, (int)ask->g->min);
}

static const char *what_is_short(struct q_pass *p, const struct q_ask *ask, bool locked)
{
	const struct lack l = lack_of_cluster(p, ask, locked);
	int32_t fit;

	if (l.resource)
		return short_of(p, &l);
	q_explain_nodes(p, ask->g, &fit);
	return Q_TEXT(p, "%d of %d pods fit now", (int)fit, (int)ask->g->min);
}

static struct q_why why_reserved(struct q_pass *p, const struct q_ask *ask)
{
	const struct q_queue *pool = pool_above(ask);
	const struct q_group *head = pool ? pool->reserved : NULL;
	struct q_ask without = *ask;

	without.no_reservation = true;
	if (head && q_would_fit(p, &without))
		return (struct q_why){ KAR_QR_HEAD_RESERVED,
			Q_TEXT(p, "%s, held for %s/%s, which waits since %s", short_beside_head(p, ask, pool),
				head->in->ns, head->in->name,
				q_text_time(p, p->now - head->wait * KAR_SECOND)) };
	without.no_lock = true;
	if (p->has_guarantees && q_would_fit(p, &without))
		return (struct q_why){ KAR_QR_GUARANTEE_RESERVED,
			Q_TEXT(p, "%s, held for guarantees of other queues", what_is_short(p, ask, true)) };
	return (struct q_why){ 0 };
}

static struct q_why why_time(struct q_pass *p, const struct q_ask *ask)
{
	struct q_mark mark;
	const char *what;
	bool can;

	if (!q_may_take(p, ask->g->q))
		return (struct q_why){ 0 };
	mark = q_mark(p);
	p->ignore_time = true;
	p->free_at = 0;
	can = q_take_from_others(p, ask->g);
	p->ignore_time = false;
	q_undo(p, mark);
	if (!can || !p->free_at)
		return (struct q_why){ 0 };
	what = what_is_short(p, ask, false);
	return (struct q_why){ KAR_QR_WAITING_FOR_RECLAIM,
		Q_TEXT(p, "%s, can be taken from others at %s", what, q_text_time(p, p->free_at)) };
}

static struct q_why why_no_room(struct q_pass *p, const struct q_ask *ask)
{
	const struct lack l = lack_of_cluster(p, ask, true);
	const char *nodes;
	int32_t fit;

	if (l.resource)
		return (struct q_why){ KAR_QR_INSUFFICIENT_CAPACITY,
			Q_TEXT(p, "%s, %s free of %s", short_of(p, &l), amount(p, &l, l.free),
				amount(p, &l, l.limit)) };
	nodes = q_explain_nodes(p, ask->g, &fit);
	return (struct q_why){ KAR_QR_NO_FIT,
		Q_TEXT(p, "%d of %d pods fit now: %s", (int)fit, (int)(ask->to - ask->from), nodes) };
}

/* Of an ask that nothing but room stops. */
struct q_why q_why_now(struct q_pass *p, const struct q_ask *ask)
{
	struct q_short s;
	struct q_why w;

	q_rows_fit(p, ask, Q_FUT, &s);
	w = q_why_closed(p, ask);
	if (!w.text)
		w = why_quota(p, ask);
	if (!w.text)
		w = why_queue(p, ask, &s);
	if (!w.text)
		w = why_reserved(p, ask);
	if (!w.text)
		w = why_time(p, ask);
	return w.text ? w : why_no_room(p, ask);
}
