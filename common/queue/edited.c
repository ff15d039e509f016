/* Edited templates: would the group be let in with them, in the place of the pods that it has? */
#include "common/queue/explain.h"

#include "common/base/str.h"

/* The group as it would stand in its line without its pods, with those of the edited templates. */
static struct q_group *stand_in(struct q_pass *p, const struct q_group *g)
{
	struct kar_queue_group *in = kar_arena_alloc(p->arena, 1, sizeof(*in));
	struct q_group *e = kar_arena_alloc(p->arena, 1, sizeof(*e));

	*in = *g->in;
	in->standing = KAR_QUEUE_WAITING;
	in->runs = g->in->edited;
	in->n_runs = g->in->n_edited;
	in->min = 0;
	for (uint32_t i = 0; i < in->n_runs; i++)
		in->min = (int32_t)q_min(INT32_MAX, q_add(in->min, in->runs[i].n));
	in->desired = in->min;
	in->leaving = NULL;
	in->unbound = NULL;
	in->n_leaving = in->n_unbound = 0;
	in->released = in->replaces = false;
	in->ineligible = KAR_QR_ADMITTED;
	*e = (struct q_group){ .in = in,
		.queue = g->queue,
		.index = g->index,
		.min = in->min,
		.left = in->min,
		.desired = in->min,
		.level = g->level,
		.wait = g->wait,
		.st.flavor = g->st.flavor };
	e->kind = q_kind_of(p, e);
	return e;
}

/* Does it have more with the edited templates than now? */
static bool grows(struct q_pass *p, const struct q_group *g, const struct q_group *e)
{
	int64_t *has = q_vector(p);
	bool more = false;

	q_add_pods(p, g, 0, g->st.n_kept, has, NULL);
	for (uint32_t r = 0; r < p->in->n_resources; r++)
		more |= e->kind->minimum[r] > has[r];
	return more;
}

/* As many pods with the same needs: they go where the old ones were. */
static bool is_alike(const struct q_group *g, const struct q_group *e)
{
	bool alike = true;

	for (uint32_t i = 0; i < e->in->n_runs; i++) {
		int64_t have = 0, want = 0;

		for (uint32_t k = 0; k < e->in->n_runs; k++)
			want += e->in->runs[k].class == e->in->runs[i].class ? e->in->runs[k].n : 0;
		for (uint32_t k = 0; k < g->in->n_runs; k++)
			have += g->in->runs[k].class == e->in->runs[i].class ? g->in->runs[k].n : 0;
		alike &= want <= have;
	}
	return alike;
}

/* Limits bind what becomes more. Whoever asks for no more than it has only needs nodes. */
static const char *why_not(struct q_pass *p, struct q_group *e, bool more)
{
	const struct q_ask ask = q_ask_minimum(e);
	struct q_short s;

	if (more && !q_is_feasible(p, e))
		return q_why_infeasible(p, e).text;
	if (more && !q_rows_fit(p, &ask, Q_FUT, &s))
		return q_why_now(p, &ask).text;
	if (q_place(p, &ask, Q_FUT, &e->st))
		return NULL;
	return more ? q_why_now(p, &ask).text : q_explain_nodes(p, &ask).text;
}

static const char *judge(struct q_pass *p, struct q_group *g, struct q_group *e, bool more)
{
	struct q_mark mark = q_mark(p);
	const char *why;

	q_drop(p, g);
	why = why_not(p, e, more);
	q_undo(p, mark);
	return why;
}

/* What waits at the head of a StrictFIFO queue goes before whoever would have more than now. */
static const char *name_strict_head(struct q_pass *p, const struct q_group *g)
{
	const struct q_group *head = g->queue->stopped_by;

	return !head ? NULL
		     : Q_TEXT(p, "queue %s is StrictFIFO: %s/%s goes first", g->in->queue_name, head->in->ns,
			       head->in->name);
}

/* Why nobody of its queue has more now, whatever there is; @comes: another one that gets more. NULL: it may. */
static const char *why_no_more(struct q_pass *p, const struct q_group *g, const struct q_group *e,
	const struct q_group *comes)
{
	enum kar_queue_reason reason = q_ineligible(e);

	if (reason != KAR_QR_ADMITTED)
		return q_why_ineligible(p, e, reason).text;
	if (g->queue->stopped_by)
		return name_strict_head(p, g);
	if (!comes)
		return NULL;
	return kar_streq(comes->in->ns, g->in->ns)
		? Q_TEXT(p, "the templates of %s were edited, too, and go first", comes->in->name)
		: "edited templates of another job go first";
}

static bool is_edited(const struct q_group *g, enum kar_queue_edit how)
{
	return g->in->edit == how && g->in->standing == KAR_QUEUE_ADMITTED && q_is_admitted(g);
}

/*
 * Those that grow are let in one after the other: what the last one takes is in the sums only when its pods are made anew. So a pass in
 * which such a one has not been yet lets no other in.
 */
void q_judge_edits(struct q_pass *p, struct kar_queue_result *out)
{
	const struct q_group *comes = NULL;

	for (uint32_t i = 0; i < p->in->snapshot->n_groups && !comes; i++) {
		struct q_group *g = &p->in->groups[i];

		comes = is_edited(g, KAR_QUEUE_EDIT_COMES) && grows(p, g, stand_in(p, g)) ? g : NULL;
	}
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		struct q_group *g = p->in->line[i], *e;
		struct kar_queue_decision *d = &out->groups[g->index];
		bool more;

		if (!is_edited(g, KAR_QUEUE_EDIT_WAITS))
			continue;
		e = stand_in(p, g);
		more = grows(p, g, e);
		d->edit_text = more ? why_no_more(p, g, e, comes) : NULL;
		if (!d->edit_text && (more || !is_alike(g, e)))
			d->edit_text = judge(p, g, e, more);
		d->takes_edit = !d->edit_text;
		comes = d->takes_edit && more ? g : comes;
	}
}
