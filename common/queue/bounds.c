/* Why an elastic group has no more pods: what stops the next one, by the plan as it is at its end. */
#include "common/queue/explain.h"

/* What a walk over all elastic groups needs. */
struct limits {
	int64_t **beyond; /* by queue: what pods beyond the minima below it use; NULL: not summed up yet */
	int texts;        /* with numbers, that were given */
	int kept_off; /* how often it was looked at whether a minimum is in the way, which is a walk over all groups */
};

struct limit {
	enum kar_queue_limit limit;
	const char *text;
};

/* --- the shares of others ---------------------------------------------------------------------------- */

static int64_t *beyond_minimum(const struct q_pass *p, const struct q_group *g)
{
	int64_t *v = q_vector(p);
	int64_t *rows = kar_arena_alloc(p->arena, g->kind->n_rows + 1, sizeof(*rows));

	if (q_extras(g))
		q_add_pods(p, g, g->min, g->st.n_kept, v, rows);
	return v;
}

/* Of the pods below @q. */
static int64_t *beyond_of(const struct q_pass *p, const struct limits *l, const struct q_queue *q)
{
	return l->beyond[q - p->in->queues];
}

static void add_to_path(const struct q_pass *p, const struct limits *l, const struct q_queue *q,
	const int64_t *v)
{
	for (; q; q = q->parent) {
		int64_t *sum = beyond_of(p, l, q);

		for (uint32_t r = 0; r < p->in->n_resources; r++)
			sum[r] = q_add(sum[r], v[r]);
	}
}

static void sum_up(const struct q_pass *p, struct limits *l)
{
	uint32_t n = p->in->snapshot->n_queues + 1;

	l->beyond = kar_arena_alloc(p->arena, n, sizeof(*l->beyond));
	for (uint32_t i = 0; i < n; i++)
		l->beyond[i] = q_vector(p);
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];

		if (q_extras(g))
			add_to_path(p, l, g->queue, beyond_minimum(p, g));
	}
}

/* Where it is too little of what: the queue whose capability is short, or the root, and the resources. */
struct scarce {
	const struct q_queue *at;
	uint64_t resources;
};

static struct scarce find_scarce(const struct q_pass *p, const struct q_ask *ask)
{
	struct scarce all = { .at = p->in->root };
	struct q_short s;

	q_rows_fit(p, ask, Q_FUT, &s);
	for (const struct q_queue *q = ask->group->queue; q->in; q = q->parent) {
		if (s.capability[q->depth])
			return (struct scarce){ .at = q, .resources = s.capability[q->depth] };
	}
	for (uint32_t r = 0; r < p->in->n_resources; r++)
		all.resources |= (uint64_t)(ask->needs[r] > 0 && r != p->in->pods) << r;
	if (s.cluster)
		all.resources = s.cluster;
	return all;
}

/* "4 cpu beyond minima are used by other jobs of queue a, 12 by other queues"; NULL: by nobody else. */
static const char *name_sharers(const struct q_pass *p, struct limits *l, const struct q_group *g,
	const struct scarce *s)
{
	const int64_t *own = beyond_minimum(p, g);

	if (!l->beyond)
		sum_up(p, l);
	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		int64_t leaf = beyond_of(p, l, g->queue)[r], here = q_sub(leaf, own[r]);
		int64_t others = q_sub(beyond_of(p, l, s->at)[r], leaf);
		const char *name = p->in->names[r];

		if (!(s->resources >> r & 1) || (here <= 0 && others <= 0))
			continue;
		if (here <= 0)
			return Q_TEXT(p, "other queues use %s %s beyond the minima of their jobs",
				q_text_amount(p, name, others, true), name);
		return Q_TEXT(p, "other jobs of queue %s use %s %s beyond their minima%s", g->queue->in->name,
			q_text_amount(p, name, here, true), name,
			others <= 0 ? ""
				    : Q_TEXT(p, ", other queues %s", q_text_amount(p, name, others, true)));
	}
	return NULL;
}

/* --- one group --------------------------------------------------------------------------------------- */

static bool can_rise(struct q_pass *p, struct q_group *g, enum q_view view)
{
	struct q_mark mark = q_mark(p);
	bool can = q_raise_by_one(p, g, view);

	q_undo(p, mark);
	return can;
}

/* Of the load alone: if the sums are short too, these are what is said. */
static struct limit by_load(const struct q_pass *p, const struct q_ask *ask)
{
	struct q_lack worst = { 0 };

	for (uint32_t r = 0; r < p->in->n_resources && !p->in->snapshot->no_nodes; r++) {
		int64_t used = q_used(p->in->root, r);
		struct q_lack l = { .resource = p->in->names[r],
			.number = r,
			.wanted = ask->needs[r],
			.limit = q_add(p->in->load[r], p->in->foreign[r]),
			.free = q_sub(p->in->load[r], used) };

		if (ask->needs[r] <= 0)
			continue;
		if (q_add(q_add(used, p->in->foreign[r]), ask->needs[r]) > p->in->alloc[r])
			return (struct limit){ KAR_QUEUE_UNLIMITED, NULL };
		l.lacks = q_sub(l.wanted, l.free);
		q_note_lack(&worst, &l);
	}
	if (!worst.resource)
		return (struct limit){ KAR_QUEUE_UNLIMITED, NULL };
	return (struct limit){ KAR_QUEUE_LIMIT_LOAD,
		Q_TEXT(p, "%s, --max-load-desired keeps the rest of %s free", q_short_of(p, &worst),
			q_text_amount(p, worst.resource, p->in->alloc[worst.number], false)) };
}

static enum kar_queue_limit limit_of(enum kar_queue_reason reason)
{
	switch (reason) {
	case KAR_QR_QUOTA_EXCEEDED:
		return KAR_QUEUE_LIMIT_QUOTA;
	case KAR_QR_NAMESPACE_LIMIT:
		return KAR_QUEUE_LIMIT_NAMESPACE;
	case KAR_QR_QUEUE_CAPABILITY:
		return KAR_QUEUE_LIMIT_CAPABILITY;
	case KAR_QR_HEAD_RESERVED:
		return KAR_QUEUE_LIMIT_HEAD;
	case KAR_QR_GUARANTEE_RESERVED:
		return KAR_QUEUE_LIMIT_GUARANTEE;
	case KAR_QR_NO_FIT:
		return KAR_QUEUE_LIMIT_NODES;
	default:
		return KAR_QUEUE_LIMIT_CAPACITY;
	}
}

static bool may_be_shared(enum kar_queue_limit limit)
{
	return limit == KAR_QUEUE_LIMIT_CAPABILITY || limit == KAR_QUEUE_LIMIT_NODES ||
		limit == KAR_QUEUE_LIMIT_CAPACITY;
}

/* The next pod runs on a node where this pass has given its room to others: it goes, and another one may come elsewhere. */
static bool has_lost_its_node(struct q_pass *p, const struct q_ask *ask)
{
	struct q_mark mark = q_mark(p);
	struct q_state st = ask->group->st;
	bool lost = !q_keep_bound(p, ask->group, ask->from, &st);

	q_undo(p, mark);
	return lost;
}

static struct limit by_words(struct q_pass *p, const struct q_ask *ask)
{
	const struct q_why w = q_why_now(p, ask);

	if (w.reason == KAR_QR_NO_FIT && has_lost_its_node(p, ask) && q_would_fit(p, ask))
		return (struct limit){ KAR_QUEUE_LIMIT_NODES, "others go first on the node of its next pod" };
	return (struct limit){ limit_of(w.reason), w.text };
}

/* Without a text, which may be a walk over all nodes: what is kept for others is not told from what is used. */
static struct limit by_sums(const struct q_pass *p, const struct q_ask *ask)
{
	struct limit found = { KAR_QUEUE_LIMIT_NODES, NULL };
	struct q_short s;

	q_rows_fit(p, ask, Q_FUT, &s);
	if (s.cluster)
		found.limit = KAR_QUEUE_LIMIT_CAPACITY;
	for (const struct q_queue *q = ask->group->queue; q->in; q = q->parent)
		found.limit = s.capability[q->depth] ? KAR_QUEUE_LIMIT_CAPABILITY : found.limit;
	if (s.quota || s.closed)
		found.limit = KAR_QUEUE_LIMIT_QUOTA;
	for (uint32_t i = 0; i < ask->group->kind->n_rows; i++) {
		if (s.quota >> i & 1 && p->in->snapshot->rows[ask->group->kind->rows[i]].of_queue)
			found.limit = KAR_QUEUE_LIMIT_NAMESPACE;
	}
	return found;
}

/* One more pod does not fit. */
static struct limit by_room(struct q_pass *p, struct limits *l, struct q_group *g)
{
	const struct q_ask ask = q_ask_pods(p, g, g->st.n_kept, g->st.n_kept + 1);
	struct limit found = by_load(p, &ask);
	const char *sharers;
	struct scarce scarce;

	if (found.limit)
		return found;
	found = l->texts < KAR_QUEUE_LIMIT_TEXTS ? by_words(p, &ask) : by_sums(p, &ask);
	if (!may_be_shared(found.limit))
		return found;
	scarce = find_scarce(p, &ask);
	sharers = name_sharers(p, l, g, &scarce);
	if (!sharers)
		return found;
	return (struct limit){ KAR_QUEUE_LIMIT_SHARE,
		found.text ? Q_TEXT(p, "%s; %s", found.text, sharers) : NULL };
}

/* No pod that stops is in the way, but a minimum that is to be bound soon. */
static bool is_kept_off(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_pods(p, g, g->st.n_kept, g->st.n_kept + 1);

	return q_awaits_room(p) && (!q_leaves(p) || q_may_stray(p, &ask));
}

static bool runs(const struct q_group *g)
{
	return g->in->standing == KAR_QUEUE_ADMITTED && g->in->phase == KAR_QUEUE_RUNS;
}

/* What stops the next pod: room first, because a window that ends would not help without it. */
static struct limit find_limit(struct q_pass *p, struct limits *l, struct q_group *g)
{
	if (g->queue->closed)
		return (struct limit){ KAR_QUEUE_LIMIT_CLOSED, NULL };
	if (g->queue->n_children)
		return (struct limit){ KAR_QUEUE_LIMIT_CLOSED,
			Q_TEXT(p, "queue %s has child queues: name one of them", g->queue->in->name) };
	if (!runs(g))
		return (struct limit){ KAR_QUEUE_LIMIT_STARTING, NULL };
	if (!can_rise(p, g, Q_FUT))
		return by_room(p, l, g);
	if (q_waits_for_start(p, g))
		return (struct limit){ KAR_QUEUE_LIMIT_QUOTA,
			"jobs of the namespace that start go first for its quota" };
	if (g->st.n_kept == g->desired && !g->in->resized && q_pauses(p, g))
		return (struct limit){ KAR_QUEUE_LIMIT_FREEZING,
			Q_TEXT(p, "%s %s",
				g->in->grows_at > q_frozen_until(p, g)
					? "it lost a pod to others, and gets the next one at"
					: "the freezing window ends at",
				q_text_time(p, q_grows_at(p, g))) };
	/* All that it may have comes at once, when there is room for that: one more pod may fit now (q_raise()). */
	return (struct limit){ KAR_QUEUE_LIMIT_STOPPING,
		l->kept_off++ < KAR_QUEUE_LIMIT_TEXTS && is_kept_off(p, g)
			? "a gang is about to start, and more pods might take its room"
			: NULL };
}

static bool is_limited(const struct q_group *g)
{
	return q_is_admitted(g) && g->in->elastic && g->queue->in && g->st.n_kept >= g->min &&
		g->st.n_kept < g->left;
}

void q_explain_limits(struct q_pass *p, struct kar_queue_result *out)
{
	struct limits l = { 0 };

	for (uint32_t i = 0; i < p->in->n_line; i++) {
		struct q_group *g = p->in->line[i];
		struct kar_queue_decision *d = &out->groups[g->index];
		struct limit found;

		if (g->in->joins && q_is_admitted(g) && g->st.n_kept < g->left)
			q_explain_joining(p, g, d);
		if (!is_limited(g))
			continue;
		found = find_limit(p, &l, g);
		d->limit = found.limit;
		if (found.text &&
			(found.limit == KAR_QUEUE_LIMIT_FREEZING || ++l.texts <= KAR_QUEUE_LIMIT_TEXTS))
			d->limit_text = found.text;
	}
}
