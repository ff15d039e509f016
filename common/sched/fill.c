/* Where pods go that have rules about other pods, or about which others have some: one after the other, each by what is there then. */
#include "common/sched/impl.h"

#include <stdlib.h>
#include <string.h>

/* --- a gang in the making ------------------------------------------------------------------------- */

void sched_put(struct sched_try *t, uint32_t role, uint32_t node, int32_t n)
{
	struct kar_place *p;

	sched_take(t->s, node, t->gang->roles[role].class, n);
	t->places = kar_arena_grow(t->a, t->places, t->n_places, sizeof(*t->places));
	p = &t->places[t->n_places++];
	*p = (struct kar_place){ .node = t->s->nodes[node].name, .role = role, .n = n };
}

int64_t sched_total(struct sched_try *t, uint32_t class)
{
	const struct sched_hot *h = sched_hot(t->s, class);

	return t->domain == SCHED_NONE ? h->total : h->domain_total[t->key][t->domain];
}

struct candidate {
	uint32_t node, rank;
};

static int by_rank(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void add_candidate(const struct sched_hot *h, uint32_t node, struct candidate *all, uint32_t *n)
{
	if (h->copies[node] > 0)
		all[(*n)++] = (struct candidate){ node, h->bucket[node] };
}

uint32_t *sched_candidates(struct sched_try *t, uint32_t class, uint32_t *n)
{
	const struct kar_sched *s = t->s;
	const struct sched_hot *h = sched_hot(t->s, class);
	struct candidate *all = kar_xmalloc((s->n_nodes + 1) * sizeof(*all));
	uint32_t *nodes;

	*n = 0;
	if (t->domain == SCHED_NONE) {
		for (uint32_t i = 0; i < s->n_nodes; i++)
			add_candidate(h, i, all, n);
	} else {
		for (uint32_t i = s->keys[t->key].first[t->domain]; i != SCHED_NONE;
			i = s->keys[t->key].next[i])
			add_candidate(h, i, all, n);
	}
	qsort(all, *n, sizeof(*all), by_rank);
	nodes = kar_arena_alloc(t->a, *n + 1, sizeof(*nodes));
	for (uint32_t i = 0; i < *n; i++)
		nodes[i] = all[i].node;
	free(all);
	return nodes;
}

/* --- topology spread ------------------------------------------------------------------------------- */

struct spread_rule {
	const struct sched_rule *rule;
	uint32_t *domain; /* per node; SCHED_NONE: it has not the label */
	bool *counted;    /* per node: its pods count */
	int64_t *members; /* per domain */
	bool *exists;     /* per domain: a node of it counts */
	uint32_t n;       /* domains */
	int64_t least;    /* members of the domain that has the fewest, as the rule counts them */
};

struct sched_spread {
	const struct kar_sched *s;
	struct spread_rule *rules;
	uint32_t n;
};

/* Only nodes that have the labels of all its spreads count for any. */
static bool has_labels(const struct sched_class *c, const struct sched_node *n)
{
	for (uint32_t i = 0; i < c->needs->n_rules; i++) {
		if (c->rules[i].rule->kind == KAR_SPREAD && !sched_label(n, c->rules[i].spot->key))
			return false;
	}
	return true;
}

static int64_t fewest(const struct spread_rule *x)
{
	int64_t least = INT64_MAX;
	int32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		if (!x->exists[i])
			continue;
		n++;
		least = x->members[i] < least ? x->members[i] : least;
	}
	return n < x->rule->rule->min_domains || !n ? 0 : least;
}

static void read_spread(const struct kar_sched *s, const struct sched_class *c, struct spread_rule *x,
	struct kar_arena *a)
{
	const struct kar_pod_rule *rule = x->rule->rule;
	struct kar_table values = { 0 };

	x->domain = kar_arena_alloc(a, s->n_nodes + 1, sizeof(*x->domain));
	x->counted = kar_arena_alloc(a, s->n_nodes + 1, sizeof(*x->counted));
	x->members = kar_arena_alloc(a, s->n_nodes + 1, sizeof(*x->members));
	x->exists = kar_arena_alloc(a, s->n_nodes + 1, sizeof(*x->exists));
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct sched_node *n = &s->nodes[i];
		const char *value = n->known ? sched_label(n, x->rule->spot->key) : NULL;
		const uint32_t *known = value ? kar_table_find(&values, value) : NULL;

		x->domain[i] = known ? *known : value ? x->n : SCHED_NONE;
		if (!value)
			continue;
		if (!known)
			kar_table_add(&values, value, x->n++);
		x->counted[i] = has_labels(c, n) &&
			kar_sched_counts_for_spread(&n->offer, c->needs, !rule->any_affinity,
				rule->only_tolerated);
		if (!x->counted[i])
			continue;
		x->exists[x->domain[i]] = true;
		x->members[x->domain[i]] += sched_members_on(n, x->rule->set);
	}
	kar_table_release(&values);
	x->least = fewest(x);
}

struct sched_spread *sched_spread(const struct kar_sched *s, const struct sched_class *c, struct kar_arena *a)
{
	struct sched_spread *x;

	if (!c->social || !c->needs->n_rules)
		return NULL;
	x = kar_arena_alloc(a, 1, sizeof(*x));
	x->s = s;
	x->rules = kar_arena_alloc(a, c->needs->n_rules, sizeof(*x->rules));
	for (uint32_t i = 0; i < c->needs->n_rules; i++) {
		if (c->rules[i].rule->kind != KAR_SPREAD)
			continue;
		x->rules[x->n].rule = &c->rules[i];
		read_spread(s, c, &x->rules[x->n++], a);
	}
	return x->n ? x : NULL;
}

const struct sched_rule *sched_spread_obstacle(const struct sched_spread *x, uint32_t node)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct spread_rule *r = &x->rules[i];
		uint32_t d = r->domain[node];

		if (d == SCHED_NONE || r->members[d] + r->rule->self - r->least > r->rule->rule->max_skew)
			return r->rule;
	}
	return NULL;
}

static void count_in_spread(struct sched_spread *x, uint32_t node, int32_t n)
{
	for (uint32_t i = 0; i < x->n; i++) {
		if (!x->rules[i].rule->self || !x->rules[i].counted[node])
			continue;
		x->rules[i].members[x->rules[i].domain[node]] += n;
		x->rules[i].least = fewest(&x->rules[i]);
	}
}

static int64_t members_around(const struct sched_spread *x, uint32_t node)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < x->n; i++)
		n += x->rules[i].members[x->rules[i].domain[node]];
	return n;
}

bool sched_rules_allow(const struct kar_sched *s, const struct sched_class *c, uint32_t node)
{
	struct kar_arena a = { 0 };
	const struct sched_spread *x;
	bool allowed;

	if (sched_rule_obstacle(s, c, node, NULL, NULL) != KAR_FITS)
		return false;
	x = sched_spread(s, c, &a);
	allowed = !x || !sched_spread_obstacle(x, node);
	kar_arena_release(&a);
	return allowed;
}

/* --- one role -------------------------------------------------------------------------------------- */

static bool has_kind(const struct sched_class *c, enum kar_rule_kind kind)
{
	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++) {
		if (c->rules[i].rule->kind == kind)
			return true;
	}
	return false;
}

/* A pod of the class decides where the next may go. */
static bool minds_itself(const struct sched_class *c)
{
	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++) {
		if (c->rules[i].self)
			return true;
	}
	return has_kind(c, KAR_SPREAD);
}

static bool is_about(const struct sched_class *c, const struct sched_set *set)
{
	for (uint32_t i = 0; c->social && i < c->needs->n_sets; i++) {
		if (c->sets[i] == set)
			return true;
	}
	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++) {
		if (c->rules[i].rule->kind == KAR_AFFINITY && c->rules[i].set == set)
			return true;
	}
	return false;
}

bool sched_follows_seed(const struct sched_try *t, uint32_t role)
{
	return t->seed_key && t->seed_all &&
		is_about(&t->s->classes[t->gang->roles[role].class], t->seed_set);
}

static bool is_seeded(const struct sched_try *t, const struct sched_class *c, uint32_t node)
{
	return !t->seed_key || !is_about(c, t->seed_set) ||
		sched_label(&t->s->nodes[node], t->seed_key) == t->seed_value;
}

struct filling {
	struct sched_try *t;
	const struct sched_class *c;
	const struct sched_hot *hot;
	struct sched_spread *spread;
	const uint32_t *nodes; /* in the order of the policy */
	uint32_t n, first;     /* those before .first take none any more */
};

static bool may_go(const struct filling *f, uint32_t node)
{
	return f->hot->copies[node] > 0 && is_seeded(f->t, f->c, node) &&
		sched_rule_obstacle(f->t->s, f->c, node, NULL, NULL) == KAR_FITS &&
		(!f->spread || !sched_spread_obstacle(f->spread, node));
}

/* The first, or where the fewest of its like are if it is to be spread; SCHED_NONE: there is none. */
static uint32_t next_node(struct filling *f)
{
	bool comes_back = f->spread || has_kind(f->c, KAR_AFFINITY);
	uint32_t best = SCHED_NONE;

	for (uint32_t i = f->first; i < f->n; i++) {
		uint32_t node = f->nodes[i];

		if (!may_go(f, node)) {
			f->first += !comes_back && i == f->first;
			continue;
		}
		if (!f->spread)
			return node;
		if (best == SCHED_NONE || members_around(f->spread, node) < members_around(f->spread, best))
			best = node;
	}
	return best;
}

int32_t sched_fill_ruled(struct sched_try *t, uint32_t role, int32_t n)
{
	uint32_t class = t->gang->roles[role].class, node;
	struct filling f = { .t = t, .c = &t->s->classes[class] };
	bool one = minds_itself(f.c);
	int32_t left = n;

	f.nodes = sched_candidates(t, class, &f.n);
	f.hot = sched_hot(t->s, class);
	f.spread = sched_spread(t->s, f.c, t->a);
	while (left > 0 && (node = next_node(&f)) != SCHED_NONE) {
		int32_t here = one ? 1 : f.hot->copies[node] < left ? f.hot->copies[node] : left;

		sched_put(t, role, node, here);
		left -= here;
		if (f.spread)
			count_in_spread(f.spread, node, here);
	}
	return n - left;
}

/* Of the pods of one role. */
static bool spread_holds(const struct sched_try *t, uint32_t role, struct kar_arena *a)
{
	const struct sched_class *c = &t->s->classes[t->gang->roles[role].class];
	const struct sched_spread *x = sched_spread(t->s, c, a);
	bool holds = true;

	for (uint32_t i = 0; x && i < t->n_places && holds; i++) {
		uint32_t node = sched_find_node(t->s, t->places[i].node);

		for (uint32_t k = 0; t->places[i].role == role && k < x->n; k++) {
			const struct spread_rule *r = &x->rules[k];

			holds &= r->members[r->domain[node]] - r->least <= r->rule->rule->max_skew;
		}
	}
	return holds;
}

/*
 * A pod that its affinity lets be the first anywhere is not that if others of the gang come before it: then it needs one of them in its
 * domain.
 */
static bool company_holds(const struct sched_try *t, uint32_t role)
{
	const struct sched_class *c = &t->s->classes[t->gang->roles[role].class];
	bool holds = true;

	for (uint32_t i = 0; i < t->n_places && holds; i++) {
		if (t->places[i].role == role)
			holds = sched_has_company(t->s, c, sched_find_node(t->s, t->places[i].node));
	}
	return holds;
}

bool sched_rules_hold(const struct sched_try *t)
{
	bool holds = true;

	for (uint32_t i = 0; t->gang->n_roles > 1 && i < t->gang->n_roles && holds; i++) {
		const struct sched_class *c = &t->s->classes[t->gang->roles[i].class];
		struct kar_arena a = { 0 };

		if (has_kind(c, KAR_SPREAD))
			holds = spread_holds(t, i, &a);
		if (has_kind(c, KAR_AFFINITY))
			holds = holds && company_holds(t, i);
		kar_arena_release(&a);
	}
	return holds;
}

bool sched_is_spread(const struct sched_class *c)
{
	return has_kind(c, KAR_SPREAD);
}

bool sched_is_orderless(const struct sched_class *c)
{
	return !has_kind(c, KAR_AFFINITY) && !has_kind(c, KAR_SPREAD);
}

bool sched_fill_is_exact(const struct sched_class *c)
{
	uint32_t own = 0;

	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++)
		own += c->rules[i].self || c->rules[i].rule->kind == KAR_SPREAD;
	return !has_kind(c, KAR_AFFINITY) && own <= 1;
}

bool sched_goes_after(const struct sched_class *c)
{
	if (sched_is_spread(c)) /* those that are not are where they are then */
		return true;
	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++) {
		if (c->rules[i].rule->kind == KAR_AFFINITY && !c->rules[i].self && !c->rules[i].spot->members)
			return true;
	}
	return false;
}

/* --- pods that want to be together ------------------------------------------------------------------ */

struct seed {
	const char *value;
	int64_t copies;
	bool may;
};

/* Those that may do, the one with the least room first; then the others, the one with the most first. */
static int by_room(const void *a, const void *b)
{
	const struct seed *x = a, *y = b;

	if (x->may != y->may)
		return x->may ? -1 : 1;
	if (x->copies != y->copies)
		return (x->copies < y->copies) == x->may ? -1 : 1;
	return strcmp(x->value, y->value);
}

static const struct sched_rule *needs_seed(const struct sched_class *c)
{
	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++) {
		if (c->rules[i].rule->kind == KAR_AFFINITY && c->rules[i].self && !c->rules[i].spot->members)
			return &c->rules[i];
	}
	return NULL;
}

static struct sched_seeds seeds_of(struct sched_try *t, const struct kar_role *role,
	const struct sched_rule *rule)
{
	struct sched_seeds out = { .key = rule->spot->key, .set = rule->set };
	struct kar_table values = { 0 };
	uint32_t n;
	const uint32_t *nodes = sched_candidates(t, role->class, &n);
	const struct sched_hot *h = sched_hot(t->s, role->class);
	struct seed *all = kar_arena_alloc(t->a, n + 1, sizeof(*all));

	for (uint32_t i = 0; i < n; i++) {
		const char *value = sched_label(&t->s->nodes[nodes[i]], out.key);
		const uint32_t *known = value ? kar_table_find(&values, value) : NULL;

		if (!value)
			continue;
		if (!known) {
			kar_table_add(&values, value, out.n);
			all[out.n].value = value;
		}
		all[known ? *known : out.n++].copies += h->copies[nodes[i]];
	}
	kar_table_release(&values);
	for (uint32_t i = 0; i < out.n; i++)
		out.n_may += all[i].may = all[i].copies >= role->need;
	qsort(all, out.n, sizeof(*all), by_room);
	out.values = kar_arena_alloc(t->a, out.n + 1, sizeof(*out.values));
	for (uint32_t i = 0; i < out.n; i++)
		out.values[i] = all[i].value;
	return out;
}

struct sched_seeds sched_find_seeds(struct sched_try *t)
{
	for (uint32_t i = 0; i < t->gang->n_roles; i++) {
		const struct kar_role *role = &t->gang->roles[i];
		const struct sched_rule *rule =
			role->need > 0 ? needs_seed(&t->s->classes[role->class]) : NULL;

		if (rule)
			return seeds_of(t, role, rule);
	}
	return (struct sched_seeds){ 0 };
}

void sched_seed_largest(struct sched_try *t)
{
	const struct sched_seeds seeds = sched_find_seeds(t);

	if (!seeds.n)
		return;
	t->seed_key = seeds.key;
	t->seed_set = seeds.set;
	t->seed_value = seeds.values[seeds.n_may ? seeds.n_may - 1 : 0];
}

/* --- on empty nodes -------------------------------------------------------------------------------- */

static int64_t bound_of(const struct kar_sched *s, const struct sched_class *c, const struct sched_rule *r)
{
	struct kar_table seen = { 0 };
	int64_t n = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct sched_node *node = &s->nodes[i];
		const char *value;
		int32_t copies;

		if (!node->known || !sched_may_suit(&node->offer, c->needs))
			continue;
		copies = sched_copies(s, c, i, true);
		value = sched_label(node, r->spot->key);
		if (!value)
			n += copies;
		else if (copies > 0 && !kar_table_find(&seen, value))
			kar_table_add(&seen, value, 0), n++;
	}
	kar_table_release(&seen);
	return n;
}

int64_t sched_rules_bound(const struct kar_sched *s, const struct sched_class *c)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++) {
		const struct sched_rule *r = &c->rules[i];
		int64_t n;

		if (r->rule->kind != KAR_ANTI_AFFINITY || !r->self)
			continue;
		n = bound_of(s, c, r);
		least = n < least ? n : least;
	}
	return least;
}
