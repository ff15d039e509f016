/* Why a group that is not feasible waits: what no change could cure, or what must happen. */
#include "common/queue/explain.h"

#include <string.h>

static struct q_lack lack_of_capability(const struct q_pass *p, const struct q_group *g)
{
	struct q_lack worst = { 0 };

	for (const struct q_queue *q = g->queue; q->in; q = q->parent) {
		for (uint32_t r = 0; r < p->in->n_resources; r++) {
			struct q_lack l = { .resource = p->in->names[r],
				.wanted = g->kind->minimum[r],
				.number = r,
				.limit = q_limit(q, r, g),
				.free = q_limit(q, r, g),
				.queue = q };

			l.lacks = l.wanted > 0 ? q_sub(l.wanted, l.limit) : 0;
			q_note_lack(&worst, &l);
		}
	}
	return worst;
}

/* Of all nodes, cordoned and not ready ones included, with nothing on them. */
static struct q_lack lack_of_all_nodes(const struct q_pass *p, const struct q_group *g)
{
	struct q_lack worst = { 0 };

	for (uint32_t r = 0; r < p->in->n_resources && !p->in->snapshot->no_nodes; r++) {
		struct q_lack l = { .resource = p->in->names[r], .wanted = g->kind->minimum[r] };

		if (l.wanted <= 0)
			continue;
		l.free = l.limit = kar_sched_offered(p->in->snapshot->sched, l.resource);
		l.lacks = q_sub(l.wanted, l.limit);
		q_note_lack(&worst, &l);
	}
	return worst;
}

static const char *describe_excess(const struct q_pass *p, const struct kar_sched_excess *x)
{
	const char *asked = q_text_amount(p, x->resource, x->asked, true);
	const char *which = x->elsewhere ? " that it may use" : "";

	if (x->most <= 0)
		return Q_TEXT(p, "a pod asks for %s %s, no node%s has any", asked, x->resource, which);
	return Q_TEXT(p, "a pod asks for %s %s, the largest node%s has %s", asked, x->resource, which,
		q_text_amount(p, x->resource, x->most, false));
}

static const char *describe_empty_nodes(struct q_pass *p, struct q_group *g)
{
	const struct kar_sched_why o = q_explain_empty_nodes(p, g);

	if (!g->in->n_wishes && g->in->topology.n_labels && g->in->topology.required)
		return o.text;
	return Q_TEXT(p, "%d of %d pods fit on empty nodes: %s", (int)o.placed, (int)g->min, o.text);
}

/* What no change of pods, cordons or readiness could cure. What a queue does not lend is its affair, and none of the nodes. */
static struct q_why why_never(struct q_pass *p, struct q_group *g)
{
	struct q_lack l = lack_of_capability(p, g);
	struct kar_sched_excess excess;
	bool fits_nodes;

	if (l.resource)
		return (struct q_why){ q_is_lent_nothing(g, &l) ? KAR_QR_QUEUE_CAPABILITY : KAR_QR_INFEASIBLE,
			Q_TEXT(p, "%s, %s", q_short_of(p, &l), q_limit_text(p, g, &l)) };
	l = lack_of_all_nodes(p, g);
	fits_nodes = q_fits_empty_nodes(p, g);
	if (!fits_nodes && q_exceeds_nodes(p, g, &excess))
		return (struct q_why){ KAR_QR_INFEASIBLE, describe_excess(p, &excess) };
	if (l.resource)
		return (struct q_why){ KAR_QR_INFEASIBLE, q_short_of(p, &l) };
	if (!fits_nodes)
		return (struct q_why){ KAR_QR_INFEASIBLE, describe_empty_nodes(p, g) };
	return (struct q_why){ 0 };
}

bool q_is_above_capability(const struct q_pass *p, const struct q_group *g)
{
	return lack_of_capability(p, g).queue != NULL;
}

/* Each row of a quota, or of a limit for the namespace, that is too small, so that one correction is enough. */
static struct q_why why_never_by_rows(const struct q_pass *p, const struct q_group *g, bool of_queue)
{
	const struct q_kind *k = g->kind;
	const char *text = NULL;

	for (uint32_t i = 0; i < k->n_rows; i++) {
		const struct kar_queue_quota_row *row = &p->in->snapshot->rows[k->rows[i]];

		if (k->row_minimum[i] <= row->hard || row->of_queue != of_queue)
			continue;
		text = Q_TEXT(p, "%s%s%s, %s %s allows %s%s%s%s", text ? text : "", text ? "; " : "",
			kar_queue_short_text(p->arena, row->resource, k->row_minimum[i], row->hard,
				row->hard),
			of_queue ? "queue" : "quota", row->quota, of_queue ? "namespace " : "",
			of_queue ? row->ns : "", of_queue ? " " : "",
			q_text_amount(p, row->resource, row->hard, false));
	}
	return (struct q_why){ !text ? KAR_QR_ADMITTED
			: of_queue   ? KAR_QR_INFEASIBLE
				     : KAR_QR_QUOTA_INFEASIBLE,
		text };
}

static int64_t guaranteed_to_others(const struct q_queue *leaf, uint32_t r)
{
	int64_t all = 0;

	for (const struct q_queue *q = leaf; q->parent; q = q->parent) {
		for (uint32_t i = 0; i < q->parent->n_children; i++)
			all = q_add(all,
				q->parent->children[i] == q ? 0 : q->parent->children[i]->guarantee[r]);
	}
	return all;
}

/* The cluster would do with nothing managed on it, were it not for guarantees of others. */
static struct q_why why_never_for_guarantees(const struct q_pass *p, const struct q_ask *ask)
{
	const int64_t *yielded = q_yielded_to(p, ask->group);
	struct q_lack worst = { 0 };

	for (uint32_t r = 0; r < p->in->n_resources && p->in->has_guarantees && !p->in->snapshot->no_nodes;
		r++) {
		struct q_lack l = { .resource = p->in->names[r],
			.number = r,
			.wanted = ask->needs[r],
			.limit = p->in->alloc[r],
			.free = q_sub(p->in->alloc[r], p->in->foreign[r] - yielded[r]) };

		if (l.wanted > 0 && l.wanted > l.free)
			return (struct q_why){ 0 };
		l.free = q_sub(l.free, guaranteed_to_others(ask->group->queue, r));
		l.lacks = l.wanted > 0 ? q_sub(l.wanted, l.free) : 0;
		q_note_lack(&worst, &l);
	}
	if (!worst.resource)
		return (struct q_why){ 0 };
	return q_why_guaranteed(p, ask, q_short_of(p, &worst), worst.number);
}

struct q_why q_why_infeasible(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);
	struct q_why w = why_never(p, g);

	if (!w.text)
		w = why_never_by_rows(p, g, true);
	if (!w.text)
		w = why_never_by_rows(p, g, false);
	if (!w.text)
		w = why_never_for_guarantees(p, &ask);
	return w.text ? w : q_why_no_room(p, &ask);
}
