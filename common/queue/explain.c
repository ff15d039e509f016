/* Why a group waits: the first reason that holds, and its text. Groups that are alike have the same. */
#include "common/queue/explain.h"

#include <inttypes.h>
#include <string.h>

/* --- one group --------------------------------------------------------------------------------------- */

static bool exists(const struct q_pass *p, const char *queue)
{
	for (uint32_t i = 0; queue && i < p->in->snapshot->n_queues; i++) {
		if (strcmp(p->in->snapshot->queues[i].name, queue) == 0)
			return true;
	}
	return false;
}

struct q_why q_why_ineligible(const struct q_pass *p, const struct q_group *g, enum kar_queue_reason reason)
{
	static const char *const words[] = { "", "does not exist", "is in a cycle", "is too deep" };
	const char *name = g->in->queue_name;
	const struct q_queue *q, *closed;

	if (reason == KAR_QR_QUEUE_NOT_FOUND || g->in->queue == KAR_QUEUE_NONE)
		return (struct q_why){ reason,
			reason == KAR_QR_QUEUE_NOT_FOUND && !name[0]
				? "name a queue: this cluster has no default queue"
				: reason == KAR_QR_QUEUE_NOT_FOUND
				? Q_TEXT(p, "there is no queue %s; it is admitted when somebody creates one",
					  name)
				: g->in->why };
	closed = q = &p->in->queues[g->in->queue];
	switch (reason) {
	case KAR_QR_QUEUE_INVALID:
		if (q->in->problem)
			return (struct q_why){ reason,
				Q_TEXT(p, "queue %s is invalid: %s", name, q->in->problem) };
		if (q->validity == KAR_QUEUE_PARENT_NOT_FOUND && exists(p, q->in->parent))
			return (struct q_why){ reason,
				Q_TEXT(p, "queue %s is invalid: a parent of its parent %s does not exist",
					name, q->in->parent) };
		return (struct q_why){ reason,
			Q_TEXT(p, "queue %s is invalid: parent %s %s", name,
				q->in->parent ? q->in->parent : "root", words[q->validity]) };
	case KAR_QR_QUEUE_NOT_LEAF:
		return (struct q_why){ reason,
			Q_TEXT(p, "queue %s has child queues: name one of them", name) };
	case KAR_QR_QUEUE_CLOSED:
		while (closed->parent->closed && !closed->in->closed && !closed->in->deleting)
			closed = closed->parent;
		if (closed != q)
			return (struct q_why){ reason,
				Q_TEXT(p, "queue %s is closed: its parent %s is", name, closed->in->name) };
		return (struct q_why){ reason,
			Q_TEXT(p, "queue %s is %s", name, q->in->deleting ? "being deleted" : "closed") };
	default:
		return (struct q_why){ reason, g->in->why ? g->in->why : "" };
	}
}

/* The next by name of those whose pods it waits for, after @last; NULL: there is none. */
static const struct q_group *next_stopping(const struct q_pass *p, const struct q_group *g,
	const struct q_group *last)
{
	const struct q_group *next = NULL;

	for (uint32_t i = 0; i < p->plan.n_gone; i++) {
		const struct q_group *v = p->plan.gone[i];

		if (v->n_gone && (v->st.evicted_for == g || v->in->evicted_by == g->index) &&
			(!last || q_compare_names(v, last) > 0) && (!next || q_compare_names(v, next) < 0))
			next = v;
	}
	return next;
}

static const char *count_pods(const struct q_pass *p, int64_t n)
{
	return Q_TEXT(p, "%" PRId64 " pod%s", n, n == 1 ? "" : "s");
}

/* "4 pods of n/v, 1 of n/w are" */
static const char *name_stopping(const struct q_pass *p, const struct q_group *g)
{
	const struct q_group *v = next_stopping(p, g, NULL);
	const char *text = NULL;
	const char *foreign = q_name_foreign(p, g);
	int64_t n = v || foreign ? 0 : p->plan.leaving;

	for (int named = 0; v && named < 3; named++) {
		text = text ? Q_TEXT(p, "%s, %d of %s/%s", text, (int)v->n_gone, v->in->ns, v->in->name)
			    : Q_TEXT(p, "%s of %s/%s", count_pods(p, v->n_gone), v->in->ns, v->in->name);
		n += v->n_gone;
		v = next_stopping(p, g, v);
	}
	if (foreign)
		return text ? Q_TEXT(p, "%s, %s", text, foreign) : foreign;
	return Q_TEXT(p, "%s %s", text ? text : count_pods(p, n), n == 1 ? "is" : "are");
}

static bool waits_for_nodes(const struct q_pass *p, struct q_group *g, const struct q_why *w)
{
	if (q_is_feasible(p, g))
		return w->reason == KAR_QR_NO_FIT || w->reason == KAR_QR_INSUFFICIENT_CAPACITY;
	return w->reason != KAR_QR_QUOTA_INFEASIBLE && !g->in->no_provisioning &&
		!q_is_above_capability(p, g);
}

/* Where nodes come on demand, what fits on none of them waits for what else stops it: its queue. */
static struct q_why why_not(struct q_pass *p, struct q_group *g, const struct q_ask *ask)
{
	struct q_why w;

	if (q_is_feasible(p, g))
		return q_why_now(p, ask);
	if (g->queue->in->provisions && !g->in->no_provisioning && !q_is_above_capability(p, g)) {
		w = q_why_now(p, ask);
		if (w.reason == KAR_QR_MAX_JOBS || w.reason == KAR_QR_QUEUE_CAPABILITY)
			return w;
	}
	return q_why_infeasible(p, g);
}

/* Of groups that are alike; the same for all of them. */
static struct q_why why_here(struct q_pass *p, struct q_group *g)
{
	struct q_failure *f = &g->kind->failures[q_ends_in_time(p, g)];
	const struct q_group *first = g->queue->grows;
	const struct q_ask ask = q_ask_minimum(g);
	bool own = g->in->evicted_by != KAR_QUEUE_NONE; /* what it may take depends on that */
	struct q_why w = { 0 };

	if (q_is_feasible(p, g))
		w = q_why_closed(p, &ask);
	if (w.text)
		return w;
	w = (struct q_why){ f->why, f->text };
	if (!f->why_known || own) {
		w = why_not(p, g, &ask);
		f->why = own ? f->why : w.reason;
		f->text = own ? f->text : w.text;
		f->why_known |= !own;
	}
	if (w.reason == KAR_QR_WAITING_FOR_RECLAIM && !g->queue->takes)
		g->queue->takes = g;
	if (w.reason == KAR_QR_WAITING_FOR_RECLAIM && g->queue->takes != g) {
		f->after = f->after ? f->after : q_why_after(p, &ask, g->queue->takes);
		w.text = f->after;
	}
	if (g->queue->in->provisions && first && first != g && waits_for_nodes(p, g, &w))
		return (struct q_why){ KAR_QR_PROVISIONING,
			Q_TEXT(p, "waiting for %s/%s, for which nodes are being added", first->in->ns,
				first->in->name) };
	return w;
}

enum { FLAVORS_NAMED = 4 };

/* No node of the flavor could have it, whoever is there. */
static bool is_excluded(struct q_pass *p, const struct q_group *g)
{
	return !q_fits_empty_nodes(p, g) && !q_is_above_capability(p, g);
}

/* "no node of flavors h100, a100"; NULL: there are some. */
static const char *name_empty_flavors(const struct q_pass *p, const uint32_t *list, uint32_t n)
{
	const char *names = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct kar_queue_flavor *f = &p->in->snapshot->flavors[list[i] - 1];

		if (f->alloc.n)
			return NULL;
		if (i < FLAVORS_NAMED)
			names = names ? Q_TEXT(p, "%s, %s", names, f->name) : f->name;
	}
	return Q_TEXT(p, "no node of flavor%s %s%s", n > 1 ? "s" : "", names,
		n > FLAVORS_NAMED ? " ..." : "");
}

/* One obstacle per flavor, the one first that is overcome most easily. A flavor where it could never be is not named, if there are others. */
static struct q_why why_by_flavor(struct q_pass *p, struct q_group *g, const uint32_t *list, uint32_t n)
{
	struct q_why *all = kar_arena_alloc(p->arena, n, sizeof(*all)), out = { 0 };
	const char **names = kar_arena_alloc(p->arena, n, sizeof(*names));
	uint32_t found = 0;
	bool excluded = true;

	for (uint32_t i = 0; i < n; i++) {
		q_look_in(p, g, list[i]);
		excluded &= is_excluded(p, g);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct q_why w;
		uint32_t at = found;

		q_look_in(p, g, list[i]);
		if (!excluded && is_excluded(p, g))
			continue;
		w = why_here(p, g);
		for (; at > 0 && all[at - 1].reason < w.reason; at--) {
			all[at] = all[at - 1];
			names[at] = names[at - 1];
		}
		all[at] = w;
		names[at] = p->in->snapshot->flavors[list[i] - 1].name;
		found++;
	}
	for (uint32_t i = 0; i < found && i < FLAVORS_NAMED; i++)
		out.text = Q_TEXT(p, "%s%s%s: %s", i ? out.text : "", i ? "; " : "", names[i],
			all[i].text ? all[i].text : "");
	out.reason = all[0].reason;
	q_prefer_flavor(p, g);
	return out;
}

static struct q_why why_kind(struct q_pass *p, struct q_group *g)
{
	const uint32_t *list;
	uint32_t n = q_flavors(p, g, &list);
	const char *none = n ? name_empty_flavors(p, list, n) : NULL;

	if (none)
		return (struct q_why){ KAR_QR_INFEASIBLE, none };
	return n ? why_by_flavor(p, g, list, n) : why_here(p, g);
}

/* Of groups of another namespace nothing is said, not even whether they exist: who asks may not be allowed to read them. */
static bool is_of_same_namespace(const struct q_group *g, const char *key)
{
	size_t n = strlen(g->in->ns);

	return strncmp(key, g->in->ns, n) == 0 && key[n] == '/';
}

static struct q_why why_unit(const struct q_pass *p, const struct q_group *g)
{
	const struct q_group *other = g->partner;

	if (!other)
		return (struct q_why){ KAR_QR_GANG_GROUP,
			Q_TEXT(p, "it starts with %s, which %s", g->in->unit_missing,
				is_of_same_namespace(g, g->in->unit_missing) ? "does not exist"
									     : "is not ready") };
	if (strcmp(other->in->ns, g->in->ns) != 0)
		return (struct q_why){ KAR_QR_GANG_GROUP,
			Q_TEXT(p, "it starts with %s/%s, which is not ready", other->in->ns,
				other->in->name) };
	return (struct q_why){ KAR_QR_GANG_GROUP,
		Q_TEXT(p, "it starts with %s/%s, which waits (%s)", other->in->ns, other->in->name,
			kar_queue_reason_name(g->partner_reason)) };
}

/* The one of its unit that had no room any more, although it has by itself: it waits for the others too. */
static void blame_others(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);

	if (g->partner || !g->in->n_unit || !q_is_feasible(p, g) || !q_would_fit(p, &ask))
		return;
	g->partner = &p->in->groups[g->in->unit[0]];
	g->partner_reason = KAR_QR_NO_FIT;
}

/* There is room, and it is held for whom the API server is asked about. */
static bool is_behind_question(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);

	return !g->in->n_unit && q_would_fit(p, &ask);
}

/* Who goes first in a StrictFIFO queue; NULL: nobody is before it. */
static const char *name_head(const struct q_pass *p, const struct q_group *g)
{
	const struct q_group *head = g->queue->stopped_by;

	if (!head || head == g || q_compare_line(&head, &g) > 0)
		return NULL;
	return Q_TEXT(p, "queue %s is StrictFIFO: %s/%s goes first", g->queue->in->name, head->in->ns,
		head->in->name);
}

static struct q_why why_waiting(struct q_pass *p, struct q_group *g)
{
	enum kar_queue_reason reason = q_ineligible(g);
	const char *behind;

	if (g->st.cause)
		return (struct q_why){ KAR_QR_PREEMPTED, NULL };
	if (reason)
		return q_why_ineligible(p, g, reason);
	if (g->st.standing == KAR_QUEUE_RESERVING)
		return (struct q_why){ KAR_QR_RESERVING,
			Q_TEXT(p, "capacity is held; %s still stopping", name_stopping(p, g)) };
	if (g->in->unchecked || g->asks)
		return (struct q_why){ KAR_QR_CHECKING_TEMPLATE,
			"the API server is asked whether it accepts the pods" };
	if (p->plan.asks_first && is_behind_question(p, g))
		return (struct q_why){ KAR_QR_CHECKING_TEMPLATE,
			Q_TEXT(p,
				"room is held for %s/%s, while the API server is asked whether it accepts its pods",
				p->plan.asks_first->in->ns, p->plan.asks_first->in->name) };
	if (g->unit_failed)
		blame_others(p, g);
	if (g->unit_failed && (g->partner || g->in->unit_missing)) {
		if (g->partner && !g->partner_reason)
			g->partner_reason = why_kind(p, g->partner).reason;
		return why_unit(p, g);
	}
	behind = q_is_feasible(p, g) ? name_head(p, g) : NULL;
	return behind ? (struct q_why){ KAR_QR_BEHIND_HEAD, behind } : why_kind(p, g);
}

/* Why it has not what its raised minimum lacks. */
static const char *name_what_minimum_lacks(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_of(p, g);
	const char *behind = name_head(p, g);

	if (g->queue->n_children)
		return q_why_ineligible(p, g, KAR_QR_QUEUE_NOT_LEAF).text;
	if (g->queue->closed)
		return q_why_ineligible(p, g, KAR_QR_QUEUE_CLOSED).text;
	return behind ? behind : q_why_now(p, &ask).text;
}

/* @edit: why its edited templates wait; NULL: none do. */
static struct q_why why_admitted(struct q_pass *p, struct q_group *g, const char *edit)
{
	const struct q_ask minimum = q_ask_minimum(g);

	if (g->st.provisions && !p->in->snapshot->no_nodes)
		return (struct q_why){ KAR_QR_ADMITTED, q_explain_nodes(p, &minimum).text };
	if (edit)
		return (struct q_why){ KAR_QR_ADMITTED, Q_TEXT(p, "templates edited: %s", edit) };
	if (g->in->elastic && g->st.n_kept < g->min && g->queue->in)
		return (struct q_why){ KAR_QR_ADMITTED,
			Q_TEXT(p, "minimum raised to %d: %s", (int)g->min, name_what_minimum_lacks(p, g)) };
	return (struct q_why){ 0 };
}

static void explain_group(struct q_pass *p, struct q_group *g, struct kar_queue_decision *d)
{
	struct q_why w = q_is_admitted(g) ? why_admitted(p, g, d->edit_text) : why_waiting(p, g);

	d->reason = w.reason;
	d->held_by_gate = g->in->takes_nothing && w.reason >= KAR_QR_QUOTA_EXCEEDED ? g->in->gate : NULL;
	d->text = w.text ? w.text : d->evicted_text;
	d->partner = w.reason == KAR_QR_GANG_GROUP && g->partner ? g->partner->index : KAR_QUEUE_NONE;
	d->partner_reason = g->partner_reason;
}

void q_explain(struct q_pass *p, struct kar_queue_result *out)
{
	/* In line order, so that the first of those that are alike gives the text. */
	for (uint32_t i = 0; i < p->in->n_line; i++)
		explain_group(p, p->in->line[i], &out->groups[p->in->line[i]->index]);
	for (uint32_t i = 0; i < p->in->snapshot->n_groups; i++) {
		if (p->in->groups[i].in->ineligible == KAR_QR_FINISHED)
			explain_group(p, &p->in->groups[i], &out->groups[i]);
	}
	q_explain_limits(p, out);
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++) {
		struct q_queue *q = &p->in->queues[i];
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
	for (uint32_t i = 0; i < p->in->snapshot->n_groups; i++) {
		struct kar_queue_decision *d = &out->groups[i];

		d->message = d->text;
		if (d->held_by_gate && d->text)
			d->message = Q_TEXT(p,
				"%s; nobody is evicted for it: its pods have the scheduling gate %s", d->text,
				d->held_by_gate);
		if (d->position && d->text)
			d->message = Q_TEXT(p, "%s; %d%s of %d in queue %s", d->message, (int)d->position,
				q_text_ordinal(d->position), (int)d->line, p->in->groups[i].in->queue_name);
		if (d->estimated_start && d->text)
			d->message = Q_TEXT(p, "%s; may start about %s (%s)", d->message,
				q_text_time(p, d->estimated_start), d->basis);
	}
}
