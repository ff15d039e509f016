/* Whom a group may take room from, and who of them goes first. */
#include <string.h>

#include "common/queue/candidates.h"

/* --- what is short ---------------------------------------------------------------------------------- */

/* Would @row be freed by pods of @g? */
static bool uses_quota(const struct taking *t, const struct q_group *g, const int64_t *rows)
{
	for (uint32_t i = 0; i < t->taker->kind->n_rows; i++) {
		for (uint32_t k = 0; t->lacks.quota >> i & 1 && k < g->kind->n_rows; k++) {
			if (g->kind->rows[k] == t->taker->kind->rows[i] && rows[k] > 0)
				return true;
		}
	}
	return false;
}

static bool uses_short(const struct taking *t, const struct q_group *g, uint64_t asked, bool job)
{
	uint64_t cluster = t->lacks.nodes ? q_asked(t->pass, t->ask.needs) : t->lacks.cluster;

	if (q_with_plain(t->pass, cluster) & asked)
		return true;
	for (const struct q_queue *q = t->taker->queue; q->in; q = q->parent) {
		bool jobs = job && t->lacks.jobs >> q->depth & 1;

		if ((jobs || t->lacks.capability[q->depth] & asked) && q_is_below(g->queue, q))
			return true;
	}
	return false;
}

/* --- order ----------------------------------------------------------------------------------------- */

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
		order = compare(r->evictions, q->evictions);
	if (!order)
		order = compare(q->extras, r->extras);
	if (!order)
		order = compare(q->young, r->young);
	return order ? order < 0 : q_compare_names(g, h) > 0;
}

static void note_first(struct source *from, struct q_group *g, const struct rank *r)
{
	if (from->first && !goes_before(r, g, &from->rank, from->first))
		return;
	from->first = g;
	from->rank = *r;
}

/* --- extras ---------------------------------------------------------------------------------------- */

/* Of @from (NULL: for a row of a quota that is short, whose extra it is does not matter). */
static bool may_take_extra(struct taking *t, struct q_group *y, const struct source *from, struct rank *r)
{
	struct q_pass *p = t->pass;
	const int64_t *u;

	if (y == t->taker || !q_extras(y))
		return false;
	u = q_class_needs(p, q_class_of(p, y, q_run_of(y, y->st.n_kept - 1)));
	if (from &&
		(!uses_short(t, y, q_asked(p, u), false) ||
			(from->ours != from->theirs && !q_over(p, from->theirs, u, t->resources, false))))
		return false;
	*r = (struct rank){ .share = from && from->ours != from->theirs ? from->theirs->share : 0,
		.base = y->in->base,
		.extras = q_extras(y),
		.young = y->in->creation };
	return !q_is_frozen(p, y);
}

/* --- whole groups ----------------------------------------------------------------------------------- */

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
		if (v->in->budgets[i].pods > p->plan.budgets[v->in->budgets[i].budget])
			return true;
	}
	return false;
}

/* Their pods are on nodes of different flavors. */
static bool in_other_flavor(const struct q_group *taker, const struct q_group *v)
{
	return taker->st.flavor && v->st.flavor && taker->st.flavor != v->st.flavor;
}

/* Not both ways: who was evicted by a group never evicts that one back. */
static bool is_spared(const struct taking *t, const struct q_group *v)
{
	bool elsewhere = t->inside && !(t->in_domains[v->index] & t->domain);

	return v == t->taker || elsewhere || in_other_flavor(t->taker, v) || !is_live(v) ||
		v->in->not_evictable || t->taker->in->evicted_by == v->index || exceeds_a_budget(t->pass, v);
}

static bool may_reclaim(struct taking *t, struct q_group *v, const struct source *from, struct rank *r)
{
	struct q_pass *p = t->pass;

	if (is_spared(t, v) || !is_reclaimable(v->queue, from->theirs) ||
		!uses_short(t, v, q_asked(p, v->kind->minimum), true) ||
		!q_over(p, from->theirs, v->kind->minimum, t->resources, true))
		return false;
	*r = (struct rank){ .share = from->theirs->share,
		.base = v->in->base,
		.evictions = v->in->evictions,
		.young = admitted_at(v) };
	return !q_is_protected(p, v, p->in->snapshot->flags.min_runtime);
}

/* Who was evicted before has the more time to get on: the doubled one, up to an hour. Rights are not delayed by that. */
static kar_time protection(const struct q_pass *p, const struct q_group *v)
{
	kar_time least = p->in->snapshot->flags.min_runtime, most = q_max(least, 60 * KAR_MINUTE);
	int times = (int)kar_clamp(v->in->evictions, 0, 30);

	return q_min(q_mul(least, (int64_t)1 << times), most);
}

static bool may_preempt(struct taking *t, struct q_group *v, struct rank *r)
{
	if (is_spared(t, v) || v->in->base >= t->taker->in->base)
		return false;
	*r = (struct rank){ .base = v->in->base, .evictions = v->in->evictions, .young = admitted_at(v) };
	return !q_is_protected(t->pass, v, protection(t->pass, v));
}

/* --- room for members to come ------------------------------------------------------------------------ */

/* It costs nobody a pod. It goes as the whole group would: by right of another queue, or by priority in its own. */
static bool may_end_hold(struct taking *t, const struct q_group *v, struct rank *r)
{
	struct q_pass *p = t->pass;
	struct q_queue *a = t->taker->queue, *b = v->queue;
	int64_t hold[Q_RESOURCES] = { 0 };

	if (v == t->taker || !v->in->hold_yields || v->st.hold_for || !q_is_admitted(v) ||
		v->in->standing != KAR_QUEUE_ADMITTED)
		return false;
	*r = (struct rank){ .base = v->in->base, .evictions = v->in->evictions, .young = admitted_at(v) };
	q_add_hold(p, v, hold);
	if (!uses_short(t, v, q_asked(p, hold), false))
		return false;
	if (a == b)
		return a->in->preempts && !t->taker->in->never_preempts && v->in->base < t->taker->in->base;
	return q_pair(t->taker->queue, v->queue, &a, &b) && is_reclaimable(v->queue, b) &&
		q_within(p, a, t->ask.needs) && q_over(p, b, hold, t->resources, true);
}

static struct q_group *best_hold(struct taking *t)
{
	struct source any = { 0 };
	struct rank r;

	for (uint32_t i = 0; i < t->pass->plan.n_live; i++) {
		if (may_end_hold(t, t->pass->plan.live[i], &r))
			note_first(&any, t->pass->plan.live[i], &r);
	}
	return any.first;
}

/* --- who goes first --------------------------------------------------------------------------------- */

/* The taker against the siblings of each queue of its path, as things are now. */
static void measure(struct taking *t)
{
	for (struct q_queue *a = t->taker->queue; a->parent; a = a->parent) {
		t->within[a->depth] = q_within(t->pass, a, t->ask.needs);
		t->share[a->depth] = q_share(t->pass, a, t->ask.needs, Q_SHARE_UNIT);
	}
}

/* May it take from siblings with this share? */
static bool is_due(const struct taking *t, const struct source *from, enum q_way way)
{
	if (from->ours == from->theirs || t->within[from->ours->depth])
		return true;
	return way == Q_TAKE_EXTRAS && t->share[from->ours->depth] < from->theirs->share;
}

static bool has_some(const struct q_queue *b, enum q_way way)
{
	return way == Q_TAKE_EXTRAS ? b->extras > 0 : b->may_be_over && b->live > 0;
}

static void find_sources(struct taking *t, enum q_way way)
{
	struct q_queue *leaf = t->taker->queue;
	uint32_t n = 1;

	for (const struct q_queue *a = leaf; a->parent; a = a->parent)
		n += a->parent->n_children;
	t->sources = kar_arena_alloc(t->pass->arena, n, sizeof(*t->sources));
	t->n_sources = 0;
	t->way = way;
	if (way == Q_TAKE_EXTRAS && leaf->extras > 0)
		t->sources[t->n_sources++] = (struct source){ .ours = leaf, .theirs = leaf };
	for (struct q_queue *a = leaf; a->parent; a = a->parent) {
		for (uint32_t i = 0; i < a->parent->n_children; i++) {
			struct q_queue *b = a->parent->children[i];

			if (b != a && has_some(b, way))
				t->sources[t->n_sources++] = (struct source){ .ours = a, .theirs = b };
		}
	}
}

static void look_below(struct taking *t, struct source *from, const struct q_queue *q)
{
	struct rank r;

	for (uint32_t i = 0; i < q->n_here; i++) {
		if (t->way == Q_TAKE_EXTRAS ? may_take_extra(t, q->here[i], from, &r)
					    : may_reclaim(t, q->here[i], from, &r))
			note_first(from, q->here[i], &r);
	}
	for (uint32_t i = 0; i < q->n_children; i++) {
		if (t->way == Q_TAKE_EXTRAS ? q->children[i]->extras > 0 : q->children[i]->live > 0)
			look_below(t, from, q->children[i]);
	}
}

static bool is_same(const struct q_short *a, const struct q_short *b)
{
	return a->cluster == b->cluster && memcmp(a->capability, b->capability, sizeof(a->capability)) == 0 &&
		a->quota == b->quota && a->jobs == b->jobs && a->nodes == b->nodes && a->closed == b->closed;
}

/* What is known of the sources holds for what is short, and until something below is taken; or from a budget, which may be of any. */
static void refresh_sources(struct taking *t, enum q_way way)
{
	bool same = t->way == way && t->sources_short == t->resources &&
		is_same(&t->sources_lacks, &t->lacks) &&
		(way == Q_TAKE_EXTRAS || !t->pass->in->snapshot->n_budgets);

	if (t->way != way)
		find_sources(t, way);
	for (uint32_t i = 0; i < t->n_sources && !same; i++)
		t->sources[i].known = false;
	t->sources_short = t->resources;
	t->sources_lacks = t->lacks;
}

/* The largest share below @limit of which somebody may go; -1: there is none. */
static int64_t next_share(const struct taking *t, int64_t limit)
{
	int64_t most = -1;

	for (uint32_t i = 0; i < t->n_sources; i++) {
		const struct source *s = &t->sources[i];
		int64_t share = s->ours == s->theirs ? 0 : s->theirs->share;

		if (share < limit && share > most && !(s->known && !s->first) && is_due(t, s, t->way))
			most = share;
	}
	return most;
}

static struct q_group *best_of_share(struct taking *t, int64_t share)
{
	struct source *found = NULL;

	for (uint32_t i = 0; i < t->n_sources; i++) {
		struct source *s = &t->sources[i];

		if ((s->ours == s->theirs ? 0 : s->theirs->share) != share || !is_due(t, s, t->way))
			continue;
		if (!s->known) {
			s->first = NULL;
			look_below(t, s, s->theirs);
			s->known = true;
		}
		if (s->first && (!found || goes_before(&s->rank, s->first, &found->rank, found->first)))
			found = s;
	}
	return found ? found->first : NULL;
}

static struct q_group *best_of_sources(struct taking *t, enum q_way way)
{
	struct q_group *found = NULL;

	refresh_sources(t, way);
	for (int64_t share = next_share(t, INT64_MAX); share >= 0 && !found; share = next_share(t, share))
		found = best_of_share(t, share);
	return found;
}

/* A row of a quota is short: extras that free it are wherever its namespace is, and go as those of the own leaf do. */
static struct q_group *best_with_quota(struct taking *t)
{
	struct source any = { 0 };
	struct rank r;

	for (uint32_t i = 0; i < t->pass->plan.n_live; i++) {
		struct q_group *y = t->pass->plan.live[i];
		struct source from = { .ours = t->taker->queue, .theirs = y->queue };
		int64_t rows[Q_ROWS] = { 0 }, v[Q_RESOURCES] = { 0 };
		bool quota, paired;

		if (!q_extras(y))
			continue;
		q_add_pods(t->pass, y, y->st.n_kept - 1, y->st.n_kept, v, rows);
		quota = uses_quota(t, y, rows);
		paired = y->queue == t->taker->queue ||
			q_pair(t->taker->queue, y->queue, &from.ours, &from.theirs);
		if (!quota && !(paired && is_due(t, &from, Q_TAKE_EXTRAS)))
			continue;
		if (may_take_extra(t, y, quota ? NULL : &from, &r))
			note_first(&any, y, &r);
	}
	return any.first;
}

static struct q_group *best_of_leaf(struct taking *t)
{
	const struct q_queue *leaf = t->taker->queue;
	struct source any = { 0 };
	struct rank r;

	for (uint32_t i = 0; i < leaf->n_here; i++) {
		if (may_preempt(t, leaf->here[i], &r))
			note_first(&any, leaf->here[i], &r);
	}
	return any.first;
}

/* Is there anybody to be looked at? In a full cluster most queues are within their rights, or have no less than the others. */
bool q_may_find(struct taking *t, enum q_way way)
{
	const struct q_pass *p = t->pass;

	if (way == Q_PREEMPT)
		return t->taker->queue->live > 0;
	if (way == Q_END_HOLDS)
		return p->plan.n_holding > 0;
	if (way == Q_TAKE_FOREIGN)
		return q_may_use_foreign(p, t->taker) && !q_is_admitted(t->taker);
	if (way == Q_TAKE_EXTRAS &&
		(t->taker->queue->extras > 0 || (p->plan.extras > 0 && t->taker->kind->n_rows)))
		return true;
	for (const struct q_queue *a = t->taker->queue; a->parent; a = a->parent) {
		bool any = way == Q_TAKE_EXTRAS ? q_most_beside(a) >= 0 : a->parent->n_over > a->may_be_over;

		if (any &&
			(q_within(p, a, t->ask.needs) ||
				(way == Q_TAKE_EXTRAS &&
					q_share(p, a, t->ask.needs, Q_SHARE_UNIT) < q_most_beside(a))))
			return true;
	}
	return false;
}

struct q_group *q_best_victim(struct taking *t, enum q_way way)
{
	if (!q_may_find(t, way))
		return NULL;
	if (way == Q_PREEMPT)
		return best_of_leaf(t);
	if (way == Q_END_HOLDS)
		return best_hold(t);
	measure(t);
	return way == Q_TAKE_EXTRAS && t->lacks.quota ? best_with_quota(t) : best_of_sources(t, way);
}
