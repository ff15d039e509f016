/* Members of others beyond the minimum of a group that runs: they wait at our gate, and are let in one by one (decision 087). */
#include "common/queue/explain.h"
#include "common/queue/places.h"

/* Somebody of its level, or above, waits as the head of a StrictFIFO queue: what comes beyond a minimum stands behind that, however old its group is. */
bool q_is_behind_strict_head(const struct q_group *g)
{
	const struct q_group *head = g->queue->stopped_by;

	return head && head != g && head->level >= g->level;
}

static bool join(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_pods(p, g, g->st.n_kept, g->st.n_kept + 1);
	struct q_state st = g->st;
	struct q_short s = { 0 };

	if (!q_queues_allow(p, &ask, Q_NOW, &s))
		return false;
	q_push(p, &st, (struct q_spot){ .run = q_run_of(g, st.n_kept), .n = 1, .none = true });
	st.n_kept++;
	q_set(p, g, &st);
	return true;
}

void q_keep_joined(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		struct q_group *g = p->in->line[i];

		while (g->in->joins && q_is_admitted(g) && g->st.n_kept < g->left &&
			g->st.n_kept < g->in->joined && join(p, g))
			continue;
	}
}

void q_join(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		struct q_group *g = p->in->line[i];

		while (g->in->joins && q_is_admitted(g) && g->st.n_kept < g->left &&
			!q_is_behind_strict_head(g) && join(p, g))
			continue;
	}
}

/* --- why not ------------------------------------------------------------------------------------------ */

/* The head of a queue of its path for which room comes together; NULL: there is none that stops it. */
static const struct q_group *head_of(const struct q_pass *p, const struct q_ask *ask)
{
	for (const struct q_queue *q = ask->group->queue; q->in; q = q->parent) {
		if (q_binds(p, q->reserved, ask))
			return q->reserved;
	}
	return NULL;
}

void q_explain_joining(struct q_pass *p, struct q_group *g, struct kar_queue_decision *d)
{
	const struct q_ask ask = q_ask_pods(p, g, g->st.n_kept, g->st.n_kept + 1);
	const struct q_group *head = g->queue->stopped_by;
	struct q_short s = { 0 };

	if (q_is_behind_strict_head(g)) {
		d->limit = KAR_QUEUE_LIMIT_HEAD;
		d->limit_text = Q_TEXT(p, "queue %s is StrictFIFO: %s/%s goes first", g->queue->in->name,
			head->in->ns, head->in->name);
		return;
	}
	head = head_of(p, &ask);
	d->limit = KAR_QUEUE_LIMIT_STOPPING;
	d->limit_text = "its queue has room when pods that stop have gone";
	if (q_queues_allow(p, &ask, Q_FUT, &s))
		return;
	d->limit = s.quota ? KAR_QUEUE_LIMIT_NAMESPACE : KAR_QUEUE_LIMIT_CAPABILITY;
	d->limit_text = s.quota ? q_why_rows(p, &ask).text : q_why_queue(p, &ask, &s).text;
	if (d->limit_text)
		return;
	d->limit = KAR_QUEUE_LIMIT_HEAD;
	d->limit_text = head ? Q_TEXT(p, "room is held for %s/%s", head->in->ns, head->in->name) : NULL;
}
