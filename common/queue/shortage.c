/* What is short: the limit that stops a group now, in words. */
#include "common/queue/explain.h"

#include <inttypes.h>
#include <string.h>

/* Groups in a pass for which nodes are listed although the sums are short already. */
enum { NODES_LISTED = 20 };

/* --- SHORT ------------------------------------------------------------------------------------------ */

static int rank_of(const char *resource)
{
	static const char *const last[] = { "pods", "memory", "cpu" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(resource, last[i]) == 0)
			return i;
	}
	return 3;
}

/* Keeps the resource with the largest shortage relative to its limit; ties: extended resources before cpu, memory, pods. */
void q_note_lack(struct q_lack *worst, const struct q_lack *l)
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

const char *q_short_of(const struct q_pass *p, const struct q_lack *l)
{
	return kar_queue_short_text(p->arena, l->resource, l->wanted, l->free, l->limit);
}

/* Of the cluster; @locked: what is kept for others' guarantees counts. */
struct q_lack q_lack_of_cluster(const struct q_pass *p, const struct q_ask *ask, bool locked)
{
	struct q_lack worst = { 0 };

	for (uint32_t r = 0; r < p->in->n_resources && !p->in->snapshot->no_nodes; r++) {
		struct q_lack l = { .resource = p->in->names[r],
			.number = r,
			.wanted = ask->needs[r],
			.limit = p->in->alloc[r] };

		if (ask->needs[r] <= 0)
			continue;
		l.free = q_sub(q_sub(p->in->alloc[r], q_foreign(p, r)), q_used(p->in->root, r));
		if (locked)
			l.free = q_sub(l.free, q_lock(ask->group->queue, r));
		l.lacks = q_sub(ask->needs[r], l.free);
		q_note_lack(&worst, &l);
	}
	return worst;
}

/* --- guarantees --------------------------------------------------------------------------------------- */

/* What is kept free for the queue, and its children. */
static int64_t kept_free(const struct q_queue *q, uint32_t r)
{
	return q_max(0, q_max(q_sub(q->guarantee[r], q_used(q, r)), q->idle[r]));
}

/* "64 cpu are free but guaranteed to queue a"; @free: what is kept free, as far as it is, else all that is guaranteed. */
static const char *name_guaranteed(const struct q_pass *p, const struct q_queue *leaf, uint32_t r, bool free)
{
	int64_t all = 0, room = q_sub(q_sub(p->in->alloc[r], q_foreign(p, r)), q_used(p->in->root, r));
	const char *names = NULL;
	int n = 0;

	for (const struct q_queue *q = leaf; q->parent; q = q->parent) {
		for (uint32_t i = 0; i < q->parent->n_children; i++) {
			const struct q_queue *other = q->parent->children[i];
			int64_t part = other == q ? 0 : free ? kept_free(other, r) : other->guarantee[r];

			if (part <= 0)
				continue;
			all = q_add(all, part);
			if (++n <= 3)
				names = names ? Q_TEXT(p, "%s, %s", names, other->in->name) : other->in->name;
		}
	}
	if (!names || (free && room <= 0))
		return NULL;
	all = free ? q_min(all, room) : all;
	if (n > 3)
		names = Q_TEXT(p, "%s and %d more", names, n - 3);
	return Q_TEXT(p, "%s %s are %sguaranteed to queue%s %s",
		q_text_amount(p, p->in->names[r], all, false), p->in->names[r], free ? "free but " : "",
		n > 1 ? "s" : "", names);
}

struct q_why q_why_guaranteed(const struct q_pass *p, const struct q_ask *ask, const char *what, uint32_t r)
{
	const char *whose = name_guaranteed(p, ask->group->queue, r, true);

	if (!whose)
		whose = name_guaranteed(p, ask->group->queue, r, false);
	return (struct q_why){ KAR_QR_GUARANTEE_RESERVED,
		Q_TEXT(p, "%s, held for guarantees of other queues%s%s", what, whose ? ": " : "",
			whose ? whose : "") };
}

/* --- now --------------------------------------------------------------------------------------------- */

/* Of the rows themselves: the same for all that are alike. */
struct q_why q_why_rows(const struct q_pass *p, const struct q_ask *ask)
{
	const struct q_kind *k = ask->group->kind;
	struct q_lack worst = { 0 };

	for (uint32_t i = 0; i < k->n_rows; i++) {
		const struct kar_queue_quota_row *row = &p->in->snapshot->rows[k->rows[i]];
		struct q_lack l = { .resource = row->resource,
			.wanted = ask->rows[i],
			.limit = row->limit,
			.row = row };

		l.free = q_row_room(p, k->rows[i]);
		l.lacks = ask->rows[i] > 0 ? ask->rows[i] - q_max(0, l.free) : 0;
		q_note_lack(&worst, &l);
	}
	if (!worst.row)
		return (struct q_why){ 0 };
	if (worst.row->of_queue)
		return (struct q_why){ KAR_QR_NAMESPACE_LIMIT,
			Q_TEXT(p, "%s, queue %s allows namespace %s %s, used %s", q_short_of(p, &worst),
				worst.row->quota, worst.row->ns,
				q_text_amount(p, worst.resource, worst.limit, false),
				q_text_amount(p, worst.resource, q_max(0, q_sub(worst.limit, worst.free)),
					true)) };
	return (struct q_why){ KAR_QR_QUOTA_EXCEEDED,
		Q_TEXT(p, "%s, quota %s has %s, used %s", q_short_of(p, &worst), worst.row->quota,
			q_text_amount(p, worst.resource, worst.limit, false),
			q_text_amount(p, worst.resource, q_max(0, q_sub(worst.limit, worst.free)), true)) };
}

struct q_why q_why_closed(const struct q_pass *p, const struct q_ask *ask)
{
	const struct q_kind *k = ask->group->kind;

	for (uint32_t i = 0; i < k->n_rows; i++) {
		if (ask->rows[i] > 0 && ask->rows[i] > q_row_room(p, k->rows[i]))
			return (struct q_why){ 0 };
	}
	for (uint32_t i = 0; i < k->n_rows; i++) {
		const struct kar_queue_quota_row *row = &p->in->snapshot->rows[k->rows[i]];
		const struct q_group *closer = ask->rows[i] > 0 ? q_row_closer(p, k->rows[i]) : NULL;

		if (closer && closer != ask->group && q_compare_line(&closer, &ask->group) < 0)
			return (struct q_why){ row->of_queue ? KAR_QR_NAMESPACE_LIMIT : KAR_QR_QUOTA_EXCEEDED,
				Q_TEXT(p, "%s/%s goes first for %s of %s %s", closer->in->ns,
					closer->in->name, row->resource,
					row->of_queue ? "its namespace in queue" : "quota", row->quota) };
	}
	return (struct q_why){ 0 };
}

bool q_is_lent_nothing(const struct q_group *g, const struct q_lack *l)
{
	return g->in->not_returnable && l->limit < l->queue->capability[l->number];
}

const char *q_limit_text(const struct q_pass *p, const struct q_group *g, const struct q_lack *l)
{
	const char *limit = q_text_amount(p, l->resource, l->limit, false);

	if (!q_is_lent_nothing(g, l))
		return Q_TEXT(p, "queue %s has capability %s", l->queue->in->name, limit);
	return Q_TEXT(p, "queue %s is entitled to %s and lends it nothing: %s", l->queue->in->name, limit,
		g->in->not_returnable);
}

struct q_why q_why_queue(const struct q_pass *p, const struct q_ask *ask, const struct q_short *s)
{
	struct q_lack worst = { 0 };

	for (const struct q_queue *q = ask->group->queue; q->in; q = q->parent) {
		if (s->jobs >> q->depth & 1)
			return (struct q_why){ KAR_QR_MAX_JOBS,
				Q_TEXT(p, "queue %s has %d of %d jobs", q->in->name, (int)q->live,
					(int)q->in->max_jobs) };
	}
	for (const struct q_queue *q = ask->group->queue; q->in; q = q->parent) {
		for (uint32_t r = 0; r < p->in->n_resources; r++) {
			struct q_lack l = { .resource = p->in->names[r],
				.wanted = ask->needs[r],
				.number = r,
				.queue = q };

			if (!(s->capability[q->depth] >> r & 1))
				continue;
			l.free = q_queue_room(q, r, ask->group, Q_FUT, &l.limit);
			l.lacks = q_sub(ask->needs[r], l.free);
			q_note_lack(&worst, &l);
		}
	}
	if (!worst.queue)
		return (struct q_why){ 0 };
	return (struct q_why){ KAR_QR_QUEUE_CAPABILITY,
		Q_TEXT(p, "%s, %s", q_short_of(p, &worst), q_limit_text(p, ask->group, &worst)) };
}

bool q_would_fit(struct q_pass *p, const struct q_ask *ask)
{
	struct q_mark mark;
	struct q_state st = ask->group->st;
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
static const struct q_queue *pool_above(const struct q_pass *p, const struct q_ask *ask)
{
	for (const struct q_queue *q = ask->group->queue; q; q = q->parent) {
		if (q_binds(p, q->reserved, ask))
			return q;
	}
	return NULL;
}

/* Of a queue that is the pool of a head: what it lacks for both. */
static struct q_lack lack_beside_head(const struct q_pass *p, const struct q_queue *pool,
	const struct q_ask *ask)
{
	struct q_lack worst = { 0 };

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		struct q_lack l = { .resource = p->in->names[r],
			.number = r,
			.wanted = ask->needs[r],
			.limit = pool->capability[r] };

		l.free = q_sub(q_sub(pool->capability[r], q_used(pool, r)), pool->reserved->kind->minimum[r]);
		l.lacks = l.wanted > 0 && pool->capability[r] != Q_NO_LIMIT ? q_sub(l.wanted, l.free) : 0;
		q_note_lack(&worst, &l);
	}
	return worst;
}

static int64_t held_in_rooms(const struct q_pass *p, uint32_t r)
{
	int64_t all = 0;

	for (uint32_t i = 0; i < p->plan.n_reserved; i++)
		all = q_add(all, q_max(0, p->plan.reserved[i].needs[r]));
	return all;
}

/* Of the cluster, whose room for its head nobody else may take. */
static struct q_lack lack_beside_rooms(const struct q_pass *p, const struct q_ask *ask)
{
	struct q_lack worst = { 0 };

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		struct q_lack l = { .resource = p->in->names[r],
			.number = r,
			.wanted = ask->needs[r],
			.limit = p->in->alloc[r] };

		l.free = q_sub(q_sub(p->in->alloc[r], q_foreign(p, r)), q_used(p->in->root, r));
		l.free = q_sub(l.free, q_add(q_lock(ask->group->queue, r), held_in_rooms(p, r)));
		l.lacks = l.wanted > 0 ? q_sub(l.wanted, l.free) : 0;
		q_note_lack(&worst, &l);
	}
	return worst;
}

/* "insufficient cpu: 1 requested, 0 of 8 free (1 short), 7": so much of it is free, and held. */
static const char *short_beside_head(struct q_pass *p, const struct q_ask *ask, const struct q_queue *pool)
{
	const struct q_lack l = pool->in ? lack_beside_head(p, pool, ask) : lack_beside_rooms(p, ask);

	if (l.resource) {
		int64_t held =
			pool->in ? pool->reserved->kind->minimum[l.number] : held_in_rooms(p, l.number);

		held = q_min(held, q_add(l.free, held));
		return Q_TEXT(p, "%s,%s%s", q_short_of(p, &l), held > 0 ? " " : "",
			held > 0 ? q_text_amount(p, l.resource, held, false) : "");
	}
	/* No node has enough in one piece. */
	return Q_TEXT(p, "%d of %d pods fit now,", (int)q_explain_beside_head(p, ask).placed,
		(int)(ask->to - ask->from));
}

static const char *what_is_short(struct q_pass *p, const struct q_ask *ask, const struct q_lack *l)
{
	if (l->resource)
		return q_short_of(p, l);
	return Q_TEXT(p, "%d of %d pods fit now", (int)q_explain_nodes(p, ask).placed,
		(int)(ask->to - ask->from));
}

/* What its user can do: say when it ends. */
static const char *who_may_use_it(const struct q_pass *p, const struct q_ask *ask, const struct q_queue *pool)
{
	return pool->in || ask->extra || p->plan.shadow <= p->in->now
		? ""
		: Q_TEXT(p, "; jobs that end by %s may use it", q_text_time(p, p->plan.shadow));
}

static struct q_why why_reserved(struct q_pass *p, const struct q_ask *ask)
{
	const struct q_queue *pool = pool_above(p, ask);
	const struct q_group *head = pool ? pool->reserved : NULL;
	struct q_ask without = *ask;
	struct q_lack l;

	without.no_reservation = true;
	if (head && q_would_fit(p, &without))
		return (struct q_why){ KAR_QR_HEAD_RESERVED,
			Q_TEXT(p, "%s held for %s/%s, which waits since %s%s",
				short_beside_head(p, ask, pool), head->in->ns, head->in->name,
				q_text_time(p, p->in->now - head->wait * KAR_SECOND),
				who_may_use_it(p, ask, pool)) };
	without.no_lock = true;
	if (!p->in->has_guarantees || !q_would_fit(p, &without))
		return (struct q_why){ 0 };
	l = q_lack_of_cluster(p, ask, true);
	return q_why_guaranteed(p, ask, what_is_short(p, ask, &l), l.number);
}

static struct q_why why_time(struct q_pass *p, const struct q_ask *ask)
{
	struct q_mark mark;
	struct q_lack l;
	bool can;

	if (ask->group->in->takes_nothing || !q_may_take(p, ask->group->queue))
		return (struct q_why){ 0 };
	mark = q_mark(p);
	p->round.ignore_time = true;
	p->memo->free_at = 0;
	can = q_take_from_others(p, ask->group);
	p->round.ignore_time = false;
	q_undo(p, mark);
	if (!can || !p->memo->free_at)
		return (struct q_why){ 0 };
	l = q_lack_of_cluster(p, ask, false);
	return (struct q_why){ KAR_QR_WAITING_FOR_RECLAIM,
		Q_TEXT(p, "%s, can be taken from others at %s", what_is_short(p, ask, &l),
			q_text_time(p, p->memo->free_at)) };
}

const char *q_why_after(struct q_pass *p, const struct q_ask *ask, const struct q_group *first)
{
	const struct q_lack l = q_lack_of_cluster(p, ask, false);

	return Q_TEXT(p, "%s, what can be taken from others goes to %s/%s first", what_is_short(p, ask, &l),
		first->in->ns, first->in->name);
}

/* --- pods that are about to be bound ------------------------------------------------------------------ */

/* Of the resource, by one pod. Its number in the pass is not asked for: the pass may have none. */
static int64_t asked_by(const struct q_pass *p, kar_class class, const char *resource)
{
	const struct kar_pod_needs *needs = kar_sched_needs(p->in->snapshot->sched, class);
	int64_t amount = strcmp(resource, "pods") == 0;

	for (uint32_t i = 0; i < needs->n_amounts; i++) {
		if (strcmp(needs->amounts[i].resource, resource) == 0)
			amount = needs->amounts[i].amount;
	}
	return amount;
}

static bool fits_without(struct q_pass *p, const struct q_ask *ask)
{
	struct q_mark mark = q_mark(p);
	bool fits;

	q_forget_expected(p);
	fits = q_would_fit(p, ask);
	q_undo(p, mark);
	return fits;
}

/* ", 3 pods about to be bound take 6 cpu", if the ask would fit without these; else "". The pass comes again when that ends. */
static const char *name_expected(struct q_pass *p, const struct q_ask *ask, const char *resource)
{
	int64_t pods = 0, amount = 0;

	if (!resource || !p->plan.expected.n || !fits_without(p, ask))
		return "";
	for (uint32_t i = 0; i < p->plan.expected.n; i++) {
		const struct q_expected *e = &p->plan.expected.items[i];
		int64_t each = asked_by(p, e->in->class, resource);

		if (each <= 0 || q_goes_before(p, ask, e->in))
			continue;
		pods += e->n;
		amount = q_add(amount, q_mul(each, e->n));
		if (!e->in->nominated)
			q_note_time(p,
				e->in->priority < ask->group->in->base && !ask->extra
					? q_add(e->in->created, KAR_QUEUE_BOUND_AT_ONCE)
					: q_add(e->in->created, KAR_QUEUE_EXPECTED));
	}
	return pods ? kar_arena_printf(p->arena, ", %" PRId64 " pod%s about to be bound take%s %s %s", pods,
			      pods == 1 ? "" : "s", pods == 1 ? "s" : "",
			      q_text_amount(p, resource, amount, true), resource)
		    : "";
}

/* --- no room ----------------------------------------------------------------------------------------- */

/* ", taken by pods of no queue: 156 cpu", if the gang would have @lacks without these, or they are why it cannot have it at all. */
static const char *name_foreign(const struct q_pass *p, const struct q_ask *ask, uint32_t r, int64_t lacks)
{
	bool never = q_add(ask->group->kind->minimum[r], p->in->foreign[r]) > p->in->alloc[r];

	if (p->in->foreign[r] <= 0 || (p->in->foreign[r] < lacks && !never))
		return "";
	return Q_TEXT(p, ", taken by pods of no queue: %s %s",
		q_text_amount(p, p->in->names[r], p->in->foreign[r], true), p->in->names[r]);
}

/*
 * ", nodes: 60 cordoned, 37 lack cpu (short 3)", if something else than room stands in the way on some. As that is a walk over all
 * nodes, it is done for the first groups of the line only: the others wait for these anyway.
 */
static const char *list_nodes(struct q_pass *p, const struct q_ask *ask)
{
	struct kar_sched_why o;

	if (p->in->snapshot->no_nodes || ask->group->in->no_node_check || p->memo->n_listed >= NODES_LISTED ||
		q_nodes_are_alike(p, ask->group))
		return "";
	p->memo->n_listed++;
	o = q_explain_nodes(p, ask);
	return o.only_room || o.placed >= ask->to - ask->from ? "" : Q_TEXT(p, ", nodes: %s", o.text);
}

/* ", 64 cpu are free but guaranteed to queue a", if these are among what it cannot have. */
static const char *name_kept(const struct q_pass *p, const struct q_ask *ask, uint32_t r)
{
	const char *whose =
		q_lock(ask->group->queue, r) > 0 ? name_guaranteed(p, ask->group->queue, r, true) : NULL;

	return whose ? Q_TEXT(p, ", %s", whose) : "";
}

static uint32_t number_of(const struct q_pass *p, const char *resource)
{
	uint32_t r = 0;

	while (r < p->in->n_resources && strcmp(p->in->names[r], resource) != 0)
		r++;
	return r;
}

/* ", held for members to come of ns/g: 16 cpu": nodes that are free have that room, too. */
static const char *name_held(const struct q_pass *p, const struct q_ask *ask, const char *resource)
{
	const struct kar_queue_group *first = NULL;
	int64_t amount = 0;

	for (uint32_t i = 0; resource && p->plan.n_held && i < p->in->snapshot->n_groups; i++) {
		const struct q_group *g = &p->in->groups[i];

		for (uint32_t k = 0; g != ask->group && q_is_admitted(g) && k < g->in->hold.n; k++) {
			if (strcmp(g->in->hold.items[k].resource, resource) != 0)
				continue;
			amount = q_add(amount, g->in->hold.items[k].amount);
			first = first ? first : g->in;
		}
	}
	return first ? Q_TEXT(p, ", held for members to come of %s/%s: %s %s", first->ns, first->name,
			       q_text_amount(p, resource, amount, true), resource)
		     : "";
}

/* The sums suffice, the nodes do not: "3 of 4 pods fit now: 2 nodes lack cpu (short 3)". */
static const char *describe_no_fit(struct q_pass *p, const struct q_ask *ask)
{
	const struct kar_sched_why o = q_explain_nodes(p, ask);
	int64_t more = ask->to - ask->from - o.placed, lacks;
	const char *each = "", *foreign = "", *expected, *held = name_held(p, ask, o.resource);
	uint32_t r = o.resource ? number_of(p, o.resource) : p->in->n_resources;

	if (o.resource && more > 1)
		each = Q_TEXT(p, ", each of %d more asks for %s %s and a node has at most %s free", (int)more,
			q_text_amount(p, o.resource, o.asked, true), o.resource,
			q_text_amount(p, o.resource, o.free, false));
	lacks = q_mul(q_sub(o.asked, o.free), more);
	if (r < p->in->n_resources && p->in->foreign[r] >= lacks)
		foreign = name_foreign(p, ask, r, lacks);
	expected = name_expected(p, ask, o.resource);
	if (ask->extra)
		return Q_TEXT(p, "no node has room for one more pod: %s%s%s%s", o.text, foreign, held,
			expected);
	return Q_TEXT(p, "%d of %d pods fit now: %s%s%s%s%s", (int)o.placed, (int)(ask->to - ask->from),
		o.text, each, foreign, held, expected);
}

struct q_why q_why_no_room(struct q_pass *p, const struct q_ask *ask)
{
	const struct q_lack l = q_lack_of_cluster(p, ask, true);
	const char *kept = ask->job ? q_name_kept(p, ask->group) : "";

	if (!l.resource)
		return (struct q_why){ KAR_QR_NO_FIT, Q_TEXT(p, "%s%s", describe_no_fit(p, ask), kept) };
	return (struct q_why){ KAR_QR_INSUFFICIENT_CAPACITY,
		Q_TEXT(p, "%s%s%s%s%s%s%s", q_short_of(p, &l),
			name_foreign(p, ask, l.number, q_min(l.lacks, l.wanted)), kept,
			name_kept(p, ask, l.number), name_held(p, ask, l.resource), list_nodes(p, ask),
			name_expected(p, ask, l.resource)) };
}

struct q_why q_why_now(struct q_pass *p, const struct q_ask *ask)
{
	struct q_short s;
	struct q_why w;

	q_rows_fit(p, ask, Q_FUT, &s);
	w = q_why_closed(p, ask);
	if (!w.text)
		w = q_why_rows(p, ask);
	if (!w.text)
		w = q_why_queue(p, ask, &s);
	if (!w.text)
		w = why_reserved(p, ask);
	if (!w.text && !ask->extra)
		w = why_time(p, ask);
	return w.text ? w : q_why_no_room(p, ask);
}
