/* Why a group waits: the first reason that holds, and its text. Groups that are alike have the same. */
#include "common/queue/impl.h"

#include <inttypes.h>
#include <string.h>

struct why {
	enum kar_queue_reason reason;
	const char *text;
};

#define TEXT(p, ...) kar_arena_printf((p)->a, __VA_ARGS__)

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

	if (l->lacks <= 0)
		return;
	a = (kar_nano)l->lacks * 1000 / q_max(1, l->limit);
	b = worst->resource ? (kar_nano)worst->lacks * 1000 / q_max(1, worst->limit) : -1;
	if (a < b || (a == b && rank_of(l->resource) < rank_of(worst->resource)) ||
		(a == b && rank_of(l->resource) == rank_of(worst->resource) &&
			strcmp(l->resource, worst->resource) >= 0))
		return;
	*worst = *l;
}

static const char *amount(struct q_pass *p, const struct lack *l, int64_t n)
{
	return q_text_amount(p, l->resource, q_max(0, n), false);
}

static const char *short_of(struct q_pass *p, const struct lack *l)
{
	return q_text_short(p, l->resource, l->lacks, l->wanted);
}

/* Of the cluster; @locked: what is kept for others' guarantees counts. */
static struct lack lack_of_cluster(const struct q_pass *p, const struct q_ask *ask, bool locked)
{
	struct lack worst = { 0 };

	for (uint32_t r = 0; r < p->n_resources && !p->s->no_nodes; r++) {
		struct lack l = { .resource = p->names[r], .wanted = ask->v[r], .limit = p->alloc[r] };

		if (ask->v[r] <= 0)
			continue;
		l.free = p->alloc[r] - p->foreign[r] - q_used(p->root, r);
		if (locked)
			l.free -= q_lock(ask->g->q, r);
		l.lacks = ask->v[r] - l.free;
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
		l.lacks = p->s->no_nodes ? 0 : l.wanted - l.free;
		note_lack(&worst, &l);
	}
	return worst;
}

static struct why why_infeasible(struct q_pass *p, struct q_group *g)
{
	const struct lack l = lack_of_all(p, g);
	struct q_mark mark;
	const char *nodes;
	int32_t fit;

	if (l.queue)
		return (struct why){ KAR_QR_INFEASIBLE,
			TEXT(p, "%s, queue %s has capability %s", short_of(p, &l), l.queue->in->name,
				amount(p, &l, l.limit)) };
	if (l.resource)
		return (struct why){ KAR_QR_INFEASIBLE,
			TEXT(p, "%s, %s of %s can be had", short_of(p, &l), amount(p, &l, l.free),
				amount(p, &l, l.limit)) };
	for (uint32_t i = 0; i < g->kind->n_rows; i++) {
		const struct kar_queue_quota_row *row = &p->s->rows[g->kind->rows[i]];
		int64_t m = g->kind->row_m[i];

		if (m > row->hard)
			return (struct why){ KAR_QR_QUOTA_INFEASIBLE,
				TEXT(p, "%s, quota %s allows %s",
					q_text_short(p, row->resource, m - row->hard, m), row->quota,
					q_text_amount(p, row->resource, row->hard, false)) };
	}
	mark = q_mark(p);
	q_lift_all(p);
	nodes = q_explain_nodes(p, g, &fit);
	q_undo(p, mark);
	return (struct why){ KAR_QR_INFEASIBLE,
		TEXT(p, "%d of %d pods fit on empty nodes: %s", (int)fit, (int)g->min, nodes) };
}

/* --- now --------------------------------------------------------------------------------------------- */

static struct why why_quota(struct q_pass *p, const struct q_ask *ask)
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
	if (worst.row && worst.row->refused)
		return (struct why){ KAR_QR_QUOTA_EXCEEDED,
			TEXT(p, "%s, quota %s has just refused a pod", short_of(p, &worst),
				worst.row->quota) };
	if (worst.row)
		return (struct why){ KAR_QR_QUOTA_EXCEEDED,
			TEXT(p, "%s, quota %s has %s, used %s", short_of(p, &worst), worst.row->quota,
				amount(p, &worst, worst.limit),
				amount(p, &worst, worst.limit - worst.free)) };
	for (uint32_t i = 0; i < k->n_rows; i++) {
		const struct q_group *closer = q_row_closer(p, k->rows[i]);

		if (ask->rows[i] > 0 && closer && closer != ask->g && q_compare_line(&closer, &ask->g) < 0)
			return (struct why){ KAR_QR_QUOTA_EXCEEDED,
				TEXT(p, "%s/%s goes first for %s of quota %s", closer->in->ns,
					closer->in->name, p->s->rows[k->rows[i]].resource,
					p->s->rows[k->rows[i]].quota) };
	}
	return (struct why){ 0 };
}

static struct why why_queue(struct q_pass *p, const struct q_ask *ask, const struct q_short *s)
{
	struct lack worst = { 0 };

	for (const struct q_queue *q = ask->g->q; q->in; q = q->parent) {
		if (s->jobs >> q->depth & 1)
			return (struct why){ KAR_QR_MAX_JOBS,
				TEXT(p, "queue %s has %d of %d jobs", q->in->name, (int)q->live,
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
			l.lacks = ask->v[r] - l.free;
			note_lack(&worst, &l);
		}
	}
	if (!worst.queue)
		return (struct why){ 0 };
	return (struct why){ KAR_QR_QUEUE_CAPABILITY,
		TEXT(p, "%s short %s: queue %s has capability %s, used %s", worst.resource,
			q_text_amount(p, worst.resource, worst.lacks, true), worst.queue->in->name,
			amount(p, &worst, worst.limit), amount(p, &worst, worst.limit - worst.free)) };
}

/* Does it fit in fut, if some limits are not looked at? */
static bool would_fit(struct q_pass *p, const struct q_ask *ask)
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
static struct lack lack_beside_head(const struct q_pass *p, const struct q_queue *pool, const struct q_ask *ask)
{
	struct lack worst = { 0 };

	for (uint32_t r = 0; r < p->n_resources; r++) {
		struct lack l = { .resource = p->names[r], .wanted = ask->v[r], .limit = pool->cap[r] };

		l.free = pool->cap[r] - q_used(pool, r) - pool->reserved->kind->m[r];
		l.lacks = l.wanted > 0 && pool->cap[r] != Q_NO_LIMIT ? l.wanted - l.free : 0;
		note_lack(&worst, &l);
	}
	return worst;
}

static const char *what_is_short(struct q_pass *p, const struct q_ask *ask, bool locked)
{
	const struct lack l = lack_of_cluster(p, ask, locked);
	int32_t fit;

	if (l.resource)
		return short_of(p, &l);
	q_explain_nodes(p, ask->g, &fit);
	return TEXT(p, "%d of %d pods fit now", (int)fit, (int)ask->g->min);
}

static struct why why_reserved(struct q_pass *p, const struct q_ask *ask)
{
	const struct q_queue *pool = pool_above(ask);
	const struct q_group *head = pool ? pool->reserved : NULL;
	struct q_ask without = *ask;
	struct lack l = { 0 };

	without.no_reservation = true;
	if (head && would_fit(p, &without)) {
		if (pool->in)
			l = lack_beside_head(p, pool, ask);
		return (struct why){ KAR_QR_HEAD_RESERVED,
			TEXT(p, "%s, held for %s/%s, which waits since %s",
				l.resource ? short_of(p, &l) : what_is_short(p, ask, true), head->in->ns,
				head->in->name, q_text_time(p, p->now - head->wait * KAR_SECOND)) };
	}
	without.no_lock = true;
	if (p->has_guarantees && would_fit(p, &without))
		return (struct why){ KAR_QR_GUARANTEE_RESERVED,
			TEXT(p, "%s, held for guarantees of other queues", what_is_short(p, ask, true)) };
	return (struct why){ 0 };
}

static struct why why_time(struct q_pass *p, const struct q_ask *ask)
{
	struct q_mark mark;
	const char *what;
	bool can;

	if (!q_may_take(p, ask->g->q))
		return (struct why){ 0 };
	mark = q_mark(p);
	p->ignore_time = true;
	p->free_at = 0;
	can = q_take_from_others(p, ask->g);
	p->ignore_time = false;
	q_undo(p, mark);
	if (!can || !p->free_at)
		return (struct why){ 0 };
	what = what_is_short(p, ask, false);
	return (struct why){ KAR_QR_WAITING_FOR_RECLAIM,
		TEXT(p, "%s, can be taken from others at %s", what, q_text_time(p, p->free_at)) };
}

static struct why why_no_room(struct q_pass *p, const struct q_ask *ask)
{
	const struct lack l = lack_of_cluster(p, ask, true);
	const char *nodes;
	int32_t fit;

	if (l.resource)
		return (struct why){ KAR_QR_INSUFFICIENT_CAPACITY,
			TEXT(p, "%s, %s free of %s", short_of(p, &l), amount(p, &l, l.free),
				amount(p, &l, l.limit)) };
	nodes = q_explain_nodes(p, ask->g, &fit);
	return (struct why){ KAR_QR_NO_FIT,
		TEXT(p, "%d of %d pods fit now: %s", (int)fit, (int)(ask->to - ask->from), nodes) };
}

/* Of an ask that nothing but room stops. */
static struct why why_now(struct q_pass *p, const struct q_ask *ask)
{
	struct q_short s;
	struct why w;

	q_rows_fit(p, ask, Q_FUT, &s);
	w = why_quota(p, ask);
	if (!w.text)
		w = why_queue(p, ask, &s);
	if (!w.text)
		w = why_reserved(p, ask);
	if (!w.text)
		w = why_time(p, ask);
	return w.text ? w : why_no_room(p, ask);
}

/* --- one group --------------------------------------------------------------------------------------- */

static struct why why_ineligible(struct q_pass *p, const struct q_group *g, enum kar_queue_reason reason)
{
	static const char *const words[] = { "", "does not exist", "is in a cycle", "is too deep" };
	const char *name = g->in->queue_name;
	const struct q_queue *q = g->in->queue == KAR_QUEUE_NONE ? NULL : &p->queues[g->in->queue];
	const struct q_queue *closed = q;

	switch (reason) {
	case KAR_QR_QUEUE_NOT_FOUND:
		return (struct why){ reason,
			TEXT(p, "there is no queue %s; it is admitted when somebody creates one", name) };
	case KAR_QR_QUEUE_INVALID:
		if (q->in->problem)
			return (struct why){ reason,
				TEXT(p, "queue %s is invalid: %s", name, q->in->problem) };
		return (struct why){ reason,
			TEXT(p, "queue %s is invalid: parent %s %s", name,
				q->in->parent ? q->in->parent : "root", words[q->validity]) };
	case KAR_QR_QUEUE_NOT_LEAF:
		return (struct why){ reason, TEXT(p, "queue %s has child queues: name one of them", name) };
	case KAR_QR_QUEUE_CLOSED:
		while (closed->parent->closed && !closed->in->closed && !closed->in->deleting)
			closed = closed->parent;
		if (closed != q)
			return (struct why){ reason,
				TEXT(p, "queue %s is closed: its parent %s is", name, closed->in->name) };
		return (struct why){ reason,
			TEXT(p, "queue %s is %s", name, q->in->deleting ? "being deleted" : "closed") };
	default:
		return (struct why){ reason, g->in->why ? g->in->why : "" };
	}
}

/* Whose pods it waits for. */
static const char *name_stopping(struct q_pass *p, const struct q_group *g)
{
	const char *text = NULL;
	int named = 0;

	for (uint32_t i = 0; i < p->n_gone && named < 3; i++) {
		const struct q_group *v = p->gone[i];

		if (!v->n_gone || (v->st.evicted_for != g && v->in->evicted_by != g->index))
			continue;
		text = text ? TEXT(p, "%s, %d of %s/%s", text, (int)v->n_gone, v->in->ns, v->in->name)
			    : TEXT(p, "%d pods of %s/%s", (int)v->n_gone, v->in->ns, v->in->name);
		named++;
	}
	return text ? text : TEXT(p, "%" PRId64 " pods", p->leaving);
}

static bool waits_for_nodes(const struct q_group *g, const struct why *w)
{
	return w->reason == KAR_QR_NO_FIT || w->reason == KAR_QR_INSUFFICIENT_CAPACITY ||
		(w->reason == KAR_QR_INFEASIBLE && !g->in->no_provisioning);
}

/* Of groups that are alike; the same for all of them. */
static struct why why_kind(struct q_pass *p, struct q_group *g)
{
	struct q_kind *k = g->kind;
	const struct q_group *first = g->q->grows;
	struct why w = { k->why, k->text };

	if (!k->why_known || g->in->evicted_by != KAR_QUEUE_NONE) {
		const struct q_ask ask = q_ask_minimum(g);

		w = q_is_feasible(p, g) ? why_now(p, &ask) : why_infeasible(p, g);
		k->why = w.reason;
		k->text = w.text;
		k->why_known = true;
	}
	if (g->q->in->provisions && first && first != g && waits_for_nodes(g, &w) &&
		(w.reason != KAR_QR_INFEASIBLE || !lack_of_all(p, g).queue))
		return (struct why){ KAR_QR_PROVISIONING,
			TEXT(p, "%s/%s goes first for new nodes", first->in->ns, first->in->name) };
	return w;
}

static struct why why_unit(struct q_pass *p, const struct q_group *g)
{
	const struct q_group *other = g->partner;

	if (!other)
		return (struct why){ KAR_QR_GANG_GROUP,
			TEXT(p, "it starts with %s, which does not exist", g->in->unit_missing) };
	if (strcmp(other->in->ns, g->in->ns) != 0)
		return (struct why){ KAR_QR_GANG_GROUP,
			TEXT(p, "it starts with %s/%s, which is not ready", other->in->ns, other->in->name) };
	return (struct why){ KAR_QR_GANG_GROUP,
		TEXT(p, "it starts with %s/%s, which waits (%s)", other->in->ns, other->in->name,
			kar_queue_reason_name(g->partner_reason)) };
}

static struct why why_waiting(struct q_pass *p, struct q_group *g)
{
	enum kar_queue_reason reason = q_ineligible(g);
	const struct q_group *head = g->q->stopped_by;
	struct why w;

	if (g->st.cause)
		return (struct why){ KAR_QR_PREEMPTED, NULL };
	if (reason)
		return why_ineligible(p, g, reason);
	if (g->st.standing == KAR_QUEUE_RESERVING)
		return (struct why){ KAR_QR_RESERVING,
			TEXT(p, "capacity is held; %s are still stopping", name_stopping(p, g)) };
	if (g->unit_failed && (g->partner || g->in->unit_missing)) {
		if (g->partner && !g->partner_reason)
			g->partner_reason = why_kind(p, g->partner).reason;
		return why_unit(p, g);
	}
	if (!head || head == g || q_compare_line(&head, &g) > 0)
		return why_kind(p, g);
	w = q_is_feasible(p, g) ? (struct why){ 0 } : why_kind(p, g);
	if (w.text)
		return w;
	return (struct why){ KAR_QR_BEHIND_HEAD,
		TEXT(p, "queue %s is StrictFIFO: %s/%s goes first", g->q->in->name, head->in->ns,
			head->in->name) };
}

static struct why why_admitted(struct q_pass *p, struct q_group *g)
{
	int32_t fit;

	if (g->st.provisions && !p->s->no_nodes)
		return (struct why){ KAR_QR_ADMITTED, q_explain_nodes(p, g, &fit) };
	if (g->in->elastic && g->st.d > 0 && g->st.d < g->min && g->q->in) {
		const struct q_ask ask = q_ask_of(p, g);

		return (struct why){ KAR_QR_ADMITTED,
			TEXT(p, "minimum raised to %d: %s", (int)g->min, why_now(p, &ask).text) };
	}
	return (struct why){ 0 };
}

void q_explain(struct q_pass *p, struct kar_queue_result *out)
{
	for (uint32_t i = 0; i < p->s->n_groups; i++) {
		struct q_group *g = &p->groups[i];
		struct kar_queue_decision *d = &out->groups[i];
		struct why w = q_is_admitted(g) ? why_admitted(p, g) : why_waiting(p, g);

		d->reason = w.reason;
		d->text = w.text ? w.text : d->evicted_text;
		d->partner = w.reason == KAR_QR_GANG_GROUP && g->partner ? g->partner->index : KAR_QUEUE_NONE;
		d->partner_reason = g->partner_reason;
	}
	for (uint32_t i = 0; i <= p->s->n_queues; i++) {
		struct q_queue *q = &p->queues[i];
		int32_t n = 0;

		for (uint32_t k = 0; k < q->n_line && q->in; k++) {
			struct kar_queue_decision *d = &out->groups[q->line[k]->index];

			if (d->reason >= KAR_QR_RESERVING && ++n <= KAR_QUEUE_POSITIONS)
				d->position = n;
		}
		for (uint32_t k = 0; k < q->n_line; k++)
			out->groups[q->line[k]->index].line = n;
	}
}

void q_messages(struct q_pass *p, struct kar_queue_result *out)
{
	for (uint32_t i = 0; i < p->s->n_groups; i++) {
		struct kar_queue_decision *d = &out->groups[i];

		d->message = d->text;
		if (d->position && d->text)
			d->message = TEXT(p, "%s; %d%s of %d in queue %s", d->text, (int)d->position,
				q_text_ordinal(d->position), (int)d->line, p->groups[i].in->queue_name);
		if (d->estimated_start && d->text)
			d->message = TEXT(p, "%s; may start about %s (%s)", d->message,
				q_text_time(p, d->estimated_start), d->basis);
	}
}
