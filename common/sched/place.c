/* Where the pods of a gang go. */
#include "common/sched/impl.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS_TRIED = 8 };

/* --- one role -------------------------------------------------------------------------------------- */

static int32_t least(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

static int32_t fill_everywhere(struct sched_try *t, uint32_t role, int32_t n)
{
	const struct sched_hot *h = sched_hot(t->s, t->gang->roles[role].class);
	int32_t left = n;

	while (left > 0) {
		uint32_t node = sched_best(h);

		if (node == SCHED_NONE)
			break;
		int32_t here = least(h->copies[node], left);

		sched_put(t, role, node, here);
		left -= here;
	}
	return n - left;
}

static int32_t fill_domain(struct sched_try *t, uint32_t role, int32_t n)
{
	uint32_t class = t->gang->roles[role].class, n_nodes;
	const uint32_t *nodes = sched_candidates(t, class, &n_nodes);
	const struct sched_hot *h = sched_hot(t->s, class);
	int32_t left = n;

	for (uint32_t i = 0; i < n_nodes && left > 0; i++) {
		int32_t here = least(h->copies[nodes[i]], left);

		sched_put(t, role, nodes[i], here);
		left -= here;
	}
	return n - left;
}

int32_t sched_fill_level(struct sched_try *t, uint32_t role, int32_t n)
{
	return t->domain == SCHED_NONE ? fill_everywhere(t, role, n) : fill_domain(t, role, n);
}

int32_t sched_fill(struct sched_try *t, uint32_t role, int32_t n)
{
	if (n <= 0)
		return 0;
	if (t->gang->topology.n_labels)
		return sched_fill_by_wish(t, role, n);
	return sched_is_ruled(&t->s->classes[t->gang->roles[role].class]) || sched_follows_seed(t, role)
		? sched_fill_ruled(t, role, n)
		: sched_fill_level(t, role, n);
}

/* --- orders of roles ------------------------------------------------------------------------------- */

struct ranked_role {
	uint32_t role;
	double rank; /* ascending */
	bool later;  /* after those that are not: it follows them */
};

static int by_rank_of_role(const void *a, const void *b)
{
	const struct ranked_role *x = a, *y = b;

	if (x->later != y->later)
		return x->later ? 1 : -1;
	if (x->rank < y->rank || x->rank > y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->role < y->role ? -1 : x->role > y->role;
}

static uint32_t *sort_roles(struct sched_try *t, struct ranked_role *ranked)
{
	uint32_t n = t->gang->n_roles;
	uint32_t *order = kar_arena_alloc(t->a, n + 1, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		ranked[i].later = sched_goes_after(&t->s->classes[t->gang->roles[ranked[i].role].class]);
	qsort(ranked, n, sizeof(*ranked), by_rank_of_role);
	for (uint32_t i = 0; i < n; i++)
		order[i] = ranked[i].role;
	return order;
}

static int64_t largest(struct kar_sched *s, uint32_t resource)
{
	struct sched_resource *r = &s->resources[resource];

	if (!r->stale)
		return r->largest;
	r->largest = 0;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (sched_allocatable(s, i, resource) > r->largest)
			r->largest = sched_allocatable(s, i, resource);
	}
	r->stale = false;
	return r->largest;
}

/* The largest part of the largest node that a pod of the class asks for; 1: all of it. */
static double size_of(struct kar_sched *s, const struct sched_class *c)
{
	double size = 0;

	for (uint32_t i = 0; i < c->n_shares; i++) {
		int64_t most = largest(s, c->shares[i].resource);
		double part = most ? (double)c->shares[i].amount / (double)most : 2;

		if (part > size)
			size = part;
	}
	return size;
}

uint32_t *sched_order_by_size(struct sched_try *t)
{
	struct ranked_role *ranked = kar_arena_alloc(t->a, t->gang->n_roles + 1, sizeof(*ranked));

	for (uint32_t i = 0; i < t->gang->n_roles; i++)
		ranked[i] = (struct ranked_role){ i, -size_of(t->s, &t->s->classes[t->gang->roles[i].class]),
			false };
	return sort_roles(t, ranked);
}

/* The role with the fewest copies for each pod that it needs comes first. */
static uint32_t *order_by_scarcity(struct sched_try *t)
{
	struct ranked_role *ranked = kar_arena_alloc(t->a, t->gang->n_roles + 1, sizeof(*ranked));

	for (uint32_t i = 0; i < t->gang->n_roles; i++) {
		const struct kar_role *r = &t->gang->roles[i];

		ranked[i] = (struct ranked_role){ i, r->need ? (double)sched_total(t, r->class) / r->need : 0,
			false };
	}
	return sort_roles(t, ranked);
}

/* --- a gang in one scope --------------------------------------------------------------------------- */

/*
 * All needs in this order; nothing is taken if one is not met. Those that are placed stay apart, or together, as they ask for, whichever of
 * them kube-scheduler takes first.
 */
static bool place_in_order(struct sched_try *t, const uint32_t *order, uint32_t n)
{
	size_t mark = kar_sched_mark(t->s);

	for (uint32_t i = 0; i < n; i++) {
		int32_t need = t->gang->roles[order[i]].need;

		if (sched_total(t, t->gang->roles[order[i]].class) < need ||
			sched_fill(t, order[i], need) < need) {
			kar_sched_undo(t->s, mark);
			t->n_places = 0;
			return false;
		}
	}
	if (!sched_rules_hold(t)) {
		kar_sched_undo(t->s, mark);
		t->n_places = 0;
		return false;
	}
	kar_sched_keep(t->s, mark);
	return true;
}

int64_t sched_asked_in_all(const struct kar_sched *s, const struct kar_gang *gang, uint32_t resource)
{
	int64_t all = 0;

	for (uint32_t i = 0; i < gang->n_roles; i++) {
		const struct sched_class *c = &s->classes[gang->roles[i].class];

		for (uint32_t k = 0; k < c->n_shares; k++) {
			int64_t of_role;

			if (c->shares[k].resource != resource)
				continue;
			if (__builtin_mul_overflow(c->shares[k].amount, (int64_t)gang->roles[i].need,
				    &of_role) ||
				__builtin_add_overflow(all, of_role, &all))
				return INT64_MAX;
		}
	}
	return all;
}

/* A role alone, or all together, ask for more than there is. */
static bool cannot_fit(struct sched_try *t)
{
	for (uint32_t i = 0; i < t->gang->n_roles; i++) {
		if (sched_total(t, t->gang->roles[i].class) < t->gang->roles[i].need)
			return true;
	}
	for (uint32_t r = 0; t->gang->n_roles > 1 && r < t->s->n_resources; r++) {
		if (sched_asked_in_all(t->s, t->gang, r) > t->s->resources[r].spare &&
			sched_asked_in_all(t->s, t->gang, r) > 0)
			return true;
	}
	return false;
}

static bool search(struct sched_try *t, bool *proved)
{
	size_t mark = kar_sched_mark(t->s);

	if (!sched_search(t, proved)) {
		kar_sched_keep(t->s, mark);
		return false;
	}
	if (!sched_rules_hold(t)) {
		kar_sched_undo(t->s, mark);
		t->n_places = 0;
		return false;
	}
	kar_sched_keep(t->s, mark);
	if (t->gang->topology.n_labels)
		sched_sort_places(t, 0);
	return true;
}

static bool place_as_they_come(struct sched_try *t, bool *proved)
{
	static const uint32_t alone[] = { 0 };
	const uint32_t n = t->gang->n_roles;

	*proved = n == 1 && sched_fill_is_exact(&t->s->classes[t->gang->roles[0].class]);
	if (n <= 1)
		return place_in_order(t, alone, n);
	if (place_in_order(t, sched_order_by_size(t), n) || place_in_order(t, order_by_scarcity(t), n))
		return true;
	if (sched_is_sliced(t))
		return false; /* the search knows no slices */
	return search(t, proved);
}

/* In a domain of the label for which others are asked for company. @all: also those of the set that ask for none. */
static bool place_by_seeds(struct sched_try *t, const struct sched_seeds *seeds, bool all, bool *proved)
{
	bool fits = false;

	t->seed_key = seeds->key;
	t->seed_set = seeds->set;
	t->seed_all = all;
	for (uint32_t i = 0; i < seeds->n_may && i < SEEDS_TRIED && !fits; i++) {
		t->seed_value = seeds->values[i];
		fits = place_as_they_come(t, proved);
	}
	t->seed_key = NULL; /* those beyond the minimum find company now */
	return fits;
}

static bool place_needs(struct sched_try *t, bool *proved)
{
	struct sched_seeds seeds;
	bool fits;

	*proved = cannot_fit(t);
	if (*proved)
		return false;
	seeds = sched_find_seeds(t);
	if (!seeds.key)
		return place_as_they_come(t, proved);
	fits = place_by_seeds(t, &seeds, true, proved);
	if (fits || t->gang->n_roles == 1) {
		*proved = !seeds.n_may;
		return fits;
	}
	/* Other roles of the set may be where they have no room. */
	fits = place_by_seeds(t, &seeds, false, proved) || place_as_they_come(t, proved);
	*proved = false;
	return fits;
}

/* Pods beyond the minimum, if those that it has are not too many for others then. Returns how many. */
static int32_t add_wanted(struct sched_try *t, uint32_t role)
{
	size_t mark;
	uint32_t before = t->n_places;
	int32_t n;

	if (!t->gang->roles[role].want)
		return 0;
	mark = kar_sched_mark(t->s);
	n = sched_fill(t, role, t->gang->roles[role].want);
	if (sched_rules_hold(t)) {
		kar_sched_keep(t->s, mark);
		return n;
	}
	kar_sched_undo(t->s, mark);
	t->n_places = before;
	return 0;
}

bool sched_place_in_scope(struct sched_try *t, struct kar_placement *out)
{
	size_t mark = kar_sched_mark(t->s);

	if (!place_needs(t, &out->proved) || !sched_hold(t->s, t->gang, t->a, out)) {
		kar_sched_undo(t->s, mark);
		t->n_places = 0;
		return false;
	}
	kar_sched_keep(t->s, mark);
	for (uint32_t i = 0; i < t->gang->n_roles; i++)
		out->extra += add_wanted(t, i);
	out->places = t->places;
	out->n_places = t->n_places;
	return true;
}

bool sched_place(struct kar_sched *s, const struct kar_gang *gang, struct kar_arena *a,
	struct kar_placement *out)
{
	struct sched_try t = { .s = s, .gang = gang, .a = a, .key = SCHED_NONE, .domain = SCHED_NONE };

	*out = (struct kar_placement){ 0 };
	return gang->topology.n_labels ? sched_place_by_wish(&t, out) : sched_place_in_scope(&t, out);
}

/* --- on empty nodes -------------------------------------------------------------------------------- */

int64_t sched_missing_on_empty(struct kar_sched *s, const struct kar_gang *gang, const struct kar_role *role)
{
	const struct sched_class *c = &s->classes[role->class];
	int64_t left = role->need;

	if (gang->topology.slice_depth && sched_missing_slices(s, gang, role, SCHED_NONE, SCHED_NONE))
		return sched_missing_slices(s, gang, role, SCHED_NONE, SCHED_NONE);
	for (uint32_t i = 0; i < s->n_nodes && left > 0; i++) {
		if (s->nodes[i].known && sched_may_suit(&s->nodes[i].offer, c->needs))
			left -= sched_copies(s, c, i, true);
	}
	if (left <= 0 && c->social)
		left = role->need - sched_rules_bound(s, c);
	return left > 0 ? left : 0;
}

bool sched_feasible(struct kar_sched *s, const struct kar_gang *gang)
{
	if (gang->topology.n_labels && gang->topology.required && !sched_largest_domain(s, gang).fits)
		return false;
	for (uint32_t i = 0; i < gang->n_roles; i++) {
		if (sched_missing_on_empty(s, gang, &gang->roles[i]))
			return false;
	}
	for (uint32_t r = 0; r < s->n_resources; r++) {
		int64_t left = sched_asked_in_all(s, gang, r);

		for (uint32_t i = 0; i < s->n_nodes && left > 0; i++)
			left -= s->nodes[i].known ? sched_allocatable(s, i, r) : 0;
		if (left > 0)
			return false;
	}
	return true;
}

/* Of a class that is ruled: those that fit beside each other. */
static int64_t copies_by_rules(struct kar_sched *s, kar_class c)
{
	const struct kar_role role = { .class = c, .need = 1 };
	const struct kar_gang gang = { .roles = &role, .n_roles = 1 };
	struct kar_arena a = { 0 };
	struct sched_try t = { .s = s, .gang = &gang, .a = &a, .key = SCHED_NONE, .domain = SCHED_NONE };
	size_t mark = kar_sched_mark(s);
	int32_t n;

	sched_seed_largest(&t);
	n = sched_fill_ruled(&t, 0, INT32_MAX);
	kar_sched_undo(s, mark);
	kar_arena_release(&a);
	return n;
}

int64_t kar_sched_copies(struct kar_sched *s, kar_class c)
{
	return sched_is_ruled(&s->classes[c]) ? copies_by_rules(s, c) : sched_hot(s, c)->total;
}

bool kar_sched_stays_on(const struct kar_sched *s, kar_class c, const char *node)
{
	const struct sched_class *class = &s->classes[c];
	uint32_t i = sched_find_node(s, node);

	return i != SCHED_NONE && s->nodes[i].known &&
		kar_sched_match(&s->nodes[i].offer, class->needs, NULL) == KAR_FITS &&
		sched_copies(s, class, i, false) > 0;
}

bool kar_sched_fits_on(const struct kar_sched *s, kar_class c, const char *node)
{
	const struct sched_class *class = &s->classes[c];
	uint32_t i = sched_find_node(s, node);

	return i != SCHED_NONE && s->nodes[i].known &&
		kar_sched_match(&s->nodes[i].offer, class->needs, NULL) == KAR_FITS &&
		sched_copies(s, class, i, false) > 0 && (!class->social || sched_rules_allow(s, class, i));
}
