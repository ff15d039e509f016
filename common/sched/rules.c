/*
 * What pods ask of each other. A set is known while a class has a rule about it or is in it. Each node has tallies of its pods in sets, and the
 * domains of labels that rules name have the sums. Classes that have no rule and are in no set do not come here.
 */
#include "common/sched/impl.h"

#include <stdlib.h>
#include <string.h>

static int compare_domains(const struct sched_domain *a, const struct sched_domain *b)
{
	return (a->value > b->value) - (a->value < b->value); /* interned */
}

static int compare_sets(const struct sched_set *a, const struct sched_set *b)
{
	return kar_shape_compare(&kar_set_shape, a->of, b->of);
}

RB_GENERATE_INTERNAL(sched_domains, sched_domain, link, compare_domains, KAR_UNUSED static)
RB_GENERATE_INTERNAL(sched_sets, sched_set, link, compare_sets, KAR_UNUSED static)

/* --- domains --------------------------------------------------------------------------------------- */

static struct sched_domain *find_domain(const struct sched_spot *x, const char *value)
{
	const struct sched_domain key = { .value = value };

	return RB_FIND(sched_domains, (struct sched_domains *)(uintptr_t)&x->domains,
		(struct sched_domain *)(uintptr_t)&key);
}

/* NULL: there is nobody in it, or the node is in none. */
static const struct sched_domain *domain_of(const struct sched_spot *x, const struct sched_node *n)
{
	const char *value = sched_label(n, x->key);

	return value ? find_domain(x, value) : NULL;
}

static void add_to_domain(struct kar_sched *s, struct sched_spot *x, uint32_t node, int64_t members,
	int64_t carriers)
{
	const char *value = sched_label(&s->nodes[node], x->key);
	struct sched_domain *d;

	if (!value)
		return;
	d = find_domain(x, value);
	if (!d) {
		d = kar_xcalloc(1, sizeof(*d));
		d->value = sched_value_get(s, value);
		RB_INSERT(sched_domains, &x->domains, d);
	}
	d->members += members;
	d->carriers += carriers;
	x->members += members;
	x->carriers += carriers;
	if (d->members || d->carriers)
		return;
	RB_REMOVE(sched_domains, &x->domains, d);
	sched_value_put(s, d->value);
	free(d);
}

static void free_spots(struct kar_sched *s, struct sched_set *set)
{
	struct sched_spot *x, *next;
	struct sched_domain *d;

	for (x = set->spots; x; x = next) {
		next = x->next;
		while ((d = RB_ROOT(&x->domains))) {
			RB_REMOVE(sched_domains, &x->domains, d);
			sched_value_put(s, d->value);
			free(d);
		}
		kar_intern_put(s->strings, x->key);
		free(x);
	}
}

/* --- sets ------------------------------------------------------------------------------------------ */

static struct sched_set *get_set(struct kar_sched *s, const struct kar_pod_set *of)
{
	struct sched_set key = { .of = of }, *set = RB_FIND(sched_sets, &s->sets, &key);

	if (!set) {
		set = kar_xcalloc(1, sizeof(*set));
		set->of = kar_share_get(s->shared, &kar_set_shape, of);
		RB_INSERT(sched_sets, &s->sets, set);
	}
	set->refs++;
	return set;
}

static void put_set(struct kar_sched *s, struct sched_set *set)
{
	if (--set->refs)
		return;
	RB_REMOVE(sched_sets, &s->sets, set);
	free_spots(s, set);
	kar_share_put(s->shared, set->of);
	free(set);
}

int64_t sched_members_on(const struct sched_node *n, const struct sched_set *set)
{
	for (uint32_t i = 0; i < n->n_tallies; i++) {
		if (n->tallies[i].set == set && !n->tallies[i].spot)
			return n->tallies[i].n;
	}
	return 0;
}

static struct sched_spot *get_spot(struct kar_sched *s, struct sched_set *set, const char *key)
{
	const char *known = kar_intern_find(s->strings, key);
	struct sched_spot *x = set->spots;

	while (x && x->key != known)
		x = x->next;
	if (x)
		return x;
	x = kar_xcalloc(1, sizeof(*x));
	x->key = kar_intern_get(s->strings, key);
	x->next = set->spots;
	set->spots = x;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		int64_t n = sched_members_on(&s->nodes[i], set);

		if (n)
			add_to_domain(s, x, i, n, 0);
	}
	return x;
}

/* --- classes --------------------------------------------------------------------------------------- */

void sched_rules_read(struct kar_sched *s, struct sched_class *c)
{
	const struct kar_pod_needs *n = c->needs;

	c->social = n->n_rules || n->n_sets;
	if (!c->social)
		return;
	c->rules = kar_xcalloc(n->n_rules + 1, sizeof(*c->rules));
	c->sets = kar_xcalloc(n->n_sets + 1, sizeof(*c->sets));
	for (uint32_t i = 0; i < n->n_sets; i++)
		c->sets[i] = get_set(s, &n->sets[i]);
	for (uint32_t i = 0; i < n->n_rules; i++) {
		struct sched_rule *r = &c->rules[i];

		r->rule = &n->rules[i];
		r->set = get_set(s, &r->rule->of);
		r->spot = get_spot(s, r->set, r->rule->key);
		for (uint32_t k = 0; k < n->n_sets; k++)
			r->self |= c->sets[k] == r->set;
	}
}

void sched_rules_forget(struct kar_sched *s, struct sched_class *c)
{
	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++)
		put_set(s, c->rules[i].set);
	for (uint32_t i = 0; c->social && i < c->needs->n_sets; i++)
		put_set(s, c->sets[i]);
	free(c->rules);
	free(c->sets);
}

/* --- pods ------------------------------------------------------------------------------------------ */

static void add_tally(struct sched_node *n, struct sched_set *set, struct sched_spot *spot, int64_t by)
{
	uint32_t i = 0;

	while (i < n->n_tallies && (n->tallies[i].set != set || n->tallies[i].spot != spot))
		i++;
	if (i == n->room_tallies) {
		n->room_tallies = n->room_tallies ? 2 * n->room_tallies : 2;
		n->tallies = kar_xrealloc(n->tallies, n->room_tallies, sizeof(*n->tallies));
	}
	if (i == n->n_tallies)
		n->tallies[n->n_tallies++] = (struct sched_tally){ .set = set, .spot = spot };
	n->tallies[i].n += by;
	if (!n->tallies[i].n)
		n->tallies[i] = n->tallies[--n->n_tallies];
}

void sched_rules_take(struct kar_sched *s, uint32_t node, const struct sched_class *c, int32_t n)
{
	for (uint32_t i = 0; i < c->needs->n_sets; i++) {
		add_tally(&s->nodes[node], c->sets[i], NULL, n);
		for (struct sched_spot *x = c->sets[i]->spots; x; x = x->next)
			add_to_domain(s, x, node, n, 0);
	}
	for (uint32_t i = 0; i < c->needs->n_rules; i++) {
		const struct sched_rule *r = &c->rules[i];

		if (r->rule->kind != KAR_ANTI_AFFINITY)
			continue;
		add_tally(&s->nodes[node], r->set, r->spot, n);
		add_to_domain(s, r->spot, node, 0, n);
	}
}

void sched_rules_move(struct kar_sched *s, uint32_t node, int sign)
{
	const struct sched_node *n = &s->nodes[node];

	for (uint32_t i = 0; i < n->n_tallies; i++) {
		const struct sched_tally *t = &n->tallies[i];

		if (t->spot)
			add_to_domain(s, t->spot, node, 0, sign * t->n);
		for (struct sched_spot *x = t->spot ? NULL : t->set->spots; x; x = x->next)
			add_to_domain(s, x, node, sign * t->n, 0);
	}
}

/* --- questions ------------------------------------------------------------------------------------- */

bool sched_is_ruled(const struct sched_class *c)
{
	if (!c->social)
		return false;
	for (uint32_t i = 0; i < c->needs->n_sets; i++) {
		for (const struct sched_spot *x = c->sets[i]->spots; x; x = x->next) {
			if (x->carriers)
				return true;
		}
	}
	return c->needs->n_rules;
}

/* No pod that its affinity asks for is anywhere, and it is one itself. */
static bool is_first(const struct sched_class *c)
{
	for (uint32_t i = 0; i < c->needs->n_rules; i++) {
		const struct sched_rule *r = &c->rules[i];

		if (r->rule->kind == KAR_AFFINITY && (r->spot->members || !r->self))
			return false;
	}
	return true;
}

bool sched_has_company(const struct kar_sched *s, const struct sched_class *c, uint32_t node)
{
	bool beside = true, alone = true;

	for (uint32_t i = 0; i < c->needs->n_rules; i++) {
		const struct sched_rule *r = &c->rules[i];
		const struct sched_domain *d = domain_of(r->spot, &s->nodes[node]);

		if (r->rule->kind != KAR_AFFINITY)
			continue;
		beside &= d && d->members > r->self;
		alone &= r->self && r->spot->members == 1;
	}
	return beside || alone;
}

static enum kar_obstacle obstacle_of(const struct sched_class *c, const struct sched_rule *r,
	const struct sched_node *n)
{
	const struct sched_domain *d = domain_of(r->spot, n);

	switch (r->rule->kind) {
	case KAR_ANTI_AFFINITY:
		if (!d || !d->members)
			return KAR_FITS;
		return r->self ? KAR_TAKEN : KAR_UNLIKED;
	case KAR_AFFINITY:
		if (d && d->members)
			return KAR_FITS;
		return sched_label(n, r->spot->key) && is_first(c) ? KAR_FITS : KAR_LACKS_COMPANY;
	default:
		return KAR_FITS;
	}
}

enum kar_obstacle sched_rule_obstacle(const struct kar_sched *s, const struct sched_class *c, uint32_t node,
	const struct sched_rule **rule, const struct sched_spot **spot)
{
	const struct sched_node *n = &s->nodes[node];

	for (uint32_t i = 0; c->social && i < c->needs->n_rules; i++) {
		enum kar_obstacle o = obstacle_of(c, &c->rules[i], n);

		if (rule)
			*rule = &c->rules[i];
		if (o != KAR_FITS)
			return o;
	}
	for (uint32_t i = 0; c->social && i < c->needs->n_sets; i++) {
		for (const struct sched_spot *x = c->sets[i]->spots; x; x = x->next) {
			const struct sched_domain *d = x->carriers ? domain_of(x, n) : NULL;

			if (!d || !d->carriers)
				continue;
			if (rule)
				*rule = NULL;
			if (spot)
				*spot = x;
			return KAR_UNLIKED_THERE;
		}
	}
	return KAR_FITS;
}

void kar_sched_name_pods(struct kar_sched *s, kar_sched_who *who, void *arg)
{
	s->who = who;
	s->who_arg = arg;
}
