/*
 * queue_lawful - what a group may take from others, by the words of section 6 of docs/design/queue.md (b, c, d), for I5: after a plan
 * nobody who waits could get its room that way. Only for clusters of one node, where sums are all there is.
 */
#ifndef KAR_TEST_QUEUE_LAWFUL_H
#define KAR_TEST_QUEUE_LAWFUL_H

#include "test/unit/queue_invariants.h"

/* Rows that a group exceeds. */
struct lawful_short {
	bool cluster[MODEL_RESOURCES], cap[WORLD_QUEUES][MODEL_RESOURCES], quota[WORLD_ROWS];
	bool any[MODEL_RESOURCES]; /* of cluster and capabilities */
};

static inline struct lawful_short lawful_short_of(const struct model *m, const struct model_state *st,
	uint32_t j)
{
	struct lawful_short s = { 0 };
	struct vec v = model_minimum(m, j), lock = model_lock(m, st, m->s->groups[j].queue),
		   view = model_view(m, st, MODEL_ROOT, true);

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		s.cluster[r] =
			v.of[r] && m->foreign.of[r] + view.of[r] + v.of[r] + lock.of[r] > m->alloc.of[r];
		s.any[r] = s.cluster[r];
	}
	for (uint32_t a = m->s->groups[j].queue; a != MODEL_ROOT; a = model_parent(m, a)) {
		struct vec cap = model_capability(m, a), used = model_view(m, st, a, true);

		for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
			s.cap[a][r] = v.of[r] && cap.of[r] != INT64_MAX && used.of[r] + v.of[r] > cap.of[r];
			s.any[r] |= s.cap[a][r];
		}
	}
	for (uint32_t i = 0; i < m->s->n_rows; i++)
		s.quota[i] = model_charge(m, j, 1, i) && exceeds(m, st, j, i);
	return s;
}

static inline int64_t lawful_share(const struct model *m, const struct model_state *st, uint32_t q,
	struct vec v)
{
	struct vec used = model_used(m, st, q), n = model_right(m, q);
	int64_t most = 0, weight = m->s->queues[q].weight > 0 ? m->s->queues[q].weight : 1;

	for (uint32_t r = 0; r < MODEL_PODS; r++) {
		int64_t above = used.of[r] + v.of[r] - (n.of[r] > 0 ? n.of[r] : 0);
		int64_t share = above <= 0 ? 0
			: !m->alloc.of[r]  ? (int64_t)1 << 62
					   : above * 1000000000 / (m->alloc.of[r] * weight);

		most = share > most ? share : most;
	}
	return most;
}

static inline bool lawful_within(const struct model *m, const struct model_state *st, uint32_t a,
	struct vec v)
{
	struct vec used = model_used(m, st, a), n = model_right(m, a);
	bool asks = false;

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		if (!v.of[r] || n.of[r] < 0)
			continue;
		if (used.of[r] + v.of[r] > n.of[r])
			return false;
		asks = true;
	}
	return asks;
}

static inline bool lawful_over(const struct model *m, const struct model_state *st, uint32_t b, struct vec v,
	const bool *shorts, bool minima)
{
	struct vec used = minima ? model_total(m, st, b, MODEL_U0) : model_used(m, st, b),
		   n = model_right(m, b);
	bool names = false, asks_named = false, above = false;

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		names |= n.of[r] >= 0;
		asks_named |= n.of[r] >= 0 && v.of[r];
		above |= n.of[r] >= 0 && v.of[r] && used.of[r] > n.of[r];
	}
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		if (!shorts[r] || !v.of[r])
			continue;
		if (!names || (n.of[r] >= 0 ? used.of[r] > n.of[r] : !asks_named || above))
			return true;
	}
	return false;
}

/* The different children of the lowest common ancestor. */
static inline bool lawful_pair(const struct model *m, uint32_t j, uint32_t v, uint32_t *a, uint32_t *b)
{
	uint32_t q = m->s->groups[j].queue, o = model_queue_of(m, v);

	if (o == MODEL_ROOT || model_below(m, q, o) || model_below(m, o, q))
		return false;
	for (*a = q; model_parent(m, *a) != MODEL_ROOT && !model_below(m, o, model_parent(m, *a));)
		*a = model_parent(m, *a);
	for (*b = o; model_parent(m, *b) != MODEL_ROOT && !model_below(m, q, model_parent(m, *b));)
		*b = model_parent(m, *b);
	return true;
}

static inline struct vec lawful_last_pod(const struct model *m, const struct model_state *st, uint32_t v)
{
	struct vec more = model_pods(m, v, st->d[v]), less = model_pods(m, v, st->d[v] - 1);

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
		more.of[r] -= less.of[r];
	return more;
}

struct lawful_key {
	int64_t share, base, extras;
	kar_time time; /* creation, or admission */
	uint32_t group;
};

/* Is x taken before y? */
static inline bool lawful_first(const struct model *m, const struct lawful_key *x, const struct lawful_key *y)
{
	if (x->share != y->share)
		return x->share > y->share;
	if (x->base != y->base)
		return x->base < y->base;
	if (x->extras != y->extras)
		return x->extras > y->extras;
	if (x->time != y->time)
		return x->time > y->time;
	return model_compare_names(&m->s->groups[x->group], &m->s->groups[y->group]) > 0;
}

static inline bool lawful_scaled(const struct model *m, const struct kar_queue_result *res, uint32_t g)
{
	return freezing_window(m, g) && (is_frozen(m, g) || res->groups[g].scaled);
}

static inline bool lawful_extra(const struct model *m, const struct model_state *st,
	const struct lawful_short *s, uint32_t j, uint32_t v, struct lawful_key *key)
{
	struct vec u = lawful_last_pod(m, st, v), ask = model_minimum(m, j);
	uint32_t a, b, leaf = m->s->groups[j].queue;
	bool uses = false, quota = false;

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		uses |= s->cluster[r] && u.of[r];
		for (uint32_t q = 0; q < m->s->n_queues; q++)
			uses |= s->cap[q][r] && u.of[r] && model_counts(m, v, q);
	}
	for (uint32_t i = 0; i < m->s->n_rows; i++)
		quota |= s->quota[i] && model_charge(m, v, 1, i);
	*key = (struct lawful_key){ 0, m->s->groups[v].base, model_extras(m, st, v), m->s->groups[v].creation,
		v };
	if (quota || (uses && m->s->groups[v].queue == leaf))
		return true;
	if (!uses || !lawful_pair(m, j, v, &a, &b))
		return false;
	key->share = lawful_share(m, st, b, model_nothing);
	return lawful_over(m, st, b, u, s->any, false) &&
		(lawful_within(m, st, a, ask) || lawful_share(m, st, a, ask) < key->share);
}

/* Who was let in by this plan is the youngest. */
static inline kar_time lawful_admitted_at(const struct model *m, uint32_t v)
{
	return is_admitted(&m->before, v) ? m->s->groups[v].admitted_at : m->now;
}

static inline bool lawful_reclaimable(const struct model *m, uint32_t v, uint32_t b)
{
	for (uint32_t q = m->s->groups[v].queue;; q = model_parent(m, q)) {
		if (m->s->queues[q].not_reclaimable)
			return false;
		if (q == b)
			return true;
	}
}

static inline bool lawful_group(const struct model *m, const struct model_state *st,
	const struct lawful_short *s, uint32_t j, uint32_t v, struct lawful_key *key)
{
	uint32_t a, b;

	if (!lawful_pair(m, j, v, &a, &b) || !lawful_within(m, st, a, model_minimum(m, j)) ||
		!lawful_reclaimable(m, v, b))
		return false;
	*key = (struct lawful_key){ lawful_share(m, st, b, model_nothing), m->s->groups[v].base, 0,
		lawful_admitted_at(m, v), v };
	return lawful_over(m, st, b, model_minimum(m, v), s->any, true);
}

static inline bool lawful_in_queue(const struct model *m, uint32_t j, uint32_t v, struct lawful_key *key)
{
	const struct kar_queue_group *x = &m->s->groups[v];

	*key = (struct lawful_key){ 0, x->base, 0, lawful_admitted_at(m, v), v };
	return x->queue == m->s->groups[j].queue && m->s->queues[x->queue].preempts &&
		x->base < m->s->groups[j].base;
}

/* Takes the next of this kind; false: there is none. */
static inline bool lawful_take(const struct model *m, const struct kar_queue_result *res,
	struct model_state *st, uint32_t j, char kind)
{
	struct lawful_short s = lawful_short_of(m, st, j);
	struct lawful_key best = { .group = KAR_QUEUE_NONE }, key;

	for (uint32_t v = 0; v < m->s->n_groups; v++) {
		bool may,
			whole = model_is_live(st, v) && !m->s->groups[v].not_evictable &&
			!exceeds_a_budget(m, res, st, v) && !has_victims(res, m->s->n_groups, v) &&
			!(was_started(m, v) && m->s->flags.min_runtime) &&
			(m->after.standing[v] == KAR_QUEUE_RESERVING || !is_protected(m, v));

		if (kind == 'b')
			may = model_extras(m, st, v) && !lawful_scaled(m, res, v) &&
				lawful_extra(m, st, &s, j, v, &key);
		else if (kind == 'c')
			may = whole && lawful_group(m, st, &s, j, v, &key);
		else
			may = whole && lawful_in_queue(m, j, v, &key);
		if (v != j && may && (best.group == KAR_QUEUE_NONE || lawful_first(m, &key, &best)))
			best = key;
	}
	/* Who was let in by this plan may have been evicted before, and is then protected: that is not in the result. */
	if (best.group == KAR_QUEUE_NONE || (kind != 'b' && !model_is_live(&m->before, best.group)))
		return false;
	if (kind == 'b') {
		st->d[best.group]--;
	} else {
		st->standing[best.group] = KAR_QUEUE_WAITING;
		st->d[best.group] = 0;
	}
	return true;
}

static inline bool lawful_makes_room(const struct model *m, const struct kar_queue_result *res, uint32_t j,
	const char *kinds)
{
	struct model_state st = m->after;

	for (;; kinds++) {
		do {
			if (rows_fit(m, &st, j, true, true))
				return true;
		} while (*kinds && lawful_take(m, res, &st, j, *kinds));
		if (!*kinds)
			return false;
	}
}

static inline const char *i5_nobody_may_take(const struct model *m, const struct kar_queue_result *res)
{
	static const char *const ways[] = { "", "b", "bc", "bd", "bdc" };

	if (m->s->flags.starvation_timeout || !m->one_node)
		return NULL;
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (res->groups[g].scaled && freezing_window(m, g))
			return NULL; /* it was not frozen in this plan */
	}
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (res->groups[g].cause || !asks(m, &m->after, g) || is_behind_head(m, &m->after, g) ||
			is_quota_blocked(m, &m->after, g) || !is_feasible(m, g))
			continue;
		for (size_t i = 0; i < KAR_LEN(ways); i++) {
			if (lawful_makes_room(m, res, g, ways[i]))
				return wrong("I5: %s waits and (%s) makes room: %s: %s", group_name(m, g),
					ways[i], kar_queue_reason_name(res->groups[g].reason),
					res->groups[g].text);
		}
	}
	return NULL;
}

#endif
