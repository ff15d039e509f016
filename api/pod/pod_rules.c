/*
 * What a pod asks of other pods: required affinity and anti-affinity, and topology spread that keeps it from being scheduled.
 *
 * By kube-scheduler v1.37 (plugins InterPodAffinity, PodTopologySpread). The pods that an affinity means are those that all its terms mean, so
 * the terms have one set. What of a pod's own rules cannot be read leaves it unverified. What of those of a bound pod cannot be read makes
 * the set of pods that it keeps away larger than it is, and unsure.
 */
#include "api/pod/pod_wire.h"

#include <string.h>

#include "api/names.h"
#include "api/podgroup/placement_words.h"
#include "common/base/str.h"

enum { RULES_MAX = 16, NAMESPACES_MAX = 32, REQUIREMENTS_MAX = 16, VALUES_MAX = 64 }; /* more are not read */
static const char affinity[] = "pod affinity", anti_affinity[] = "pod anti-affinity",
		  spread[] = "topology spread";

/* Adds a copy of @one to a list that is sorted, and has each element once. False: it has @most already. */
static bool insert(struct kar_arena *a, const struct kar_shape *shape, const void **items, uint32_t *n,
	uint32_t most, const void *one)
{
	char *all = (char *)(uintptr_t)*items;
	size_t size = shape->size, at = 0;
	int d = 1;

	while (at < *n && (d = kar_shape_compare(shape, one, all + at * size)) > 0)
		at++;
	if (at < *n && !d)
		return true;
	if (*n == most)
		return false;
	all = kar_arena_grow(a, all, *n, size);
	memmove(all + (at + 1) * size, all + at * size, (*n - at) * size);
	memcpy(all + at * size, one, size);
	++*n;
	*items = all;
	return true;
}

#define INSERT(a_, shape_, items_, n_, most_, one_) \
	insert(a_, shape_, (const void **)(void *)(items_), n_, most_, one_)

/* --- sets of pods ---------------------------------------------------------------------------------- */

/* The index of a pod is in no cache. */
static bool is_cached(const char *key)
{
	return !kar_streq(key, KAR_LABEL_INDEX);
}

static void add_requirement(struct kar_arena *a, struct kar_pod_set *set, const struct kar_requirement *one)
{
	if (!one->key || !is_cached(one->key) ||
		!INSERT(a, &kar_requirement_shape, &set->labels, &set->n_labels, REQUIREMENTS_MAX, one))
		set->unsure = true;
}

static void add_label(struct kar_arena *a, struct kar_pod_set *set, const struct kar_pair *label)
{
	const char **value = kar_arena_alloc(a, 1, sizeof(*value));
	const struct kar_requirement one = { .key = label->key,
		.op = KAR_OP_IN,
		.values = value,
		.n_values = 1 };

	*value = label->value ? label->value : "";
	add_requirement(a, set, &one);
}

/* False: it cannot be read. */
static bool read_expression(struct kar_arena *a, const struct pod_wire_requirement *r,
	struct kar_requirement *out)
{
	const char *const *values = r->values.items;

	*out = (struct kar_requirement){ .key = r->key };
	if (!kar_operator_read(r->op, &out->op) || out->op == KAR_OP_GT || out->op == KAR_OP_LT)
		return false;
	for (size_t i = 0; i < r->values.n; i++) {
		const char *value = values[i] ? values[i] : "";

		if (!INSERT(a, &kar_text_shape, &out->values, &out->n_values, VALUES_MAX, &value))
			return false;
	}
	return true;
}

/* Without a selector there is no pod in it. */
static void add_selector(struct kar_arena *a, struct kar_pod_set *set, const struct pod_wire_selector *s)
{
	const struct kar_pair *labels = s ? s->labels.items : NULL;
	const struct pod_wire_requirement *expressions = s ? s->expressions.items : NULL;

	set->nothing |= !s;
	for (size_t i = 0; s && i < s->labels.n; i++)
		add_label(a, set, &labels[i]);
	for (size_t i = 0; s && i < s->expressions.n; i++) {
		struct kar_requirement one;

		if (read_expression(a, &expressions[i], &one))
			add_requirement(a, set, &one);
		else
			set->unsure = true;
	}
}

/* The API server has put the values of these labels into the selector of a pod that is stored. */
static bool are_merged(const struct kar_array *keys, const struct pod_wire_selector *s)
{
	const char *const *key = keys->items;
	const struct pod_wire_requirement *r = s ? s->expressions.items : NULL;
	bool all = true;

	for (size_t i = 0; i < keys->n; i++) {
		bool found = false;

		for (size_t k = 0; s && k < s->expressions.n; k++)
			found |= kar_streq(r[k].key, key[i]);
		all &= found;
	}
	return all;
}

static bool is_empty(const struct pod_wire_selector *s)
{
	return !s->labels.n && !s->expressions.n;
}

/* The label that each namespace has: its name. NULL: the selector asks for something else. */
static const char *namespace_label(const struct pod_wire_selector *s)
{
	const struct kar_pair *p = s->labels.items;

	return s->labels.n == 1 && !s->expressions.n && kar_streq(p->key, "kubernetes.io/metadata.name")
		? p->value
		: NULL;
}

static void read_namespaces(struct kar_arena *a, const struct pod_wire_pod_term *t, struct kar_pod_set *set)
{
	const char *const *names = t->namespaces.items,
			  *one = t->ns_selector ? namespace_label(t->ns_selector) : NULL;
	bool all = t->ns_selector && !one;

	set->own = !t->ns_selector && !t->namespaces.n;
	if (all && !is_empty(t->ns_selector)) {
		/* Nobody may make pods of other namespaces unsure. What this pod has against them kube-scheduler sees. */
		set->unsure = set->own = true;
		return;
	}
	for (size_t i = 0; i < t->namespaces.n && !all; i++)
		all |= names[i] &&
			!INSERT(a, &kar_text_shape, &set->namespaces, &set->n_namespaces, NAMESPACES_MAX,
				&names[i]);
	if (one && !all)
		all |= !INSERT(a, &kar_text_shape, &set->namespaces, &set->n_namespaces, NAMESPACES_MAX,
			&one);
	if (!all)
		return;
	set->unsure |= set->n_namespaces > 0; /* there are more than are read */
	set->namespaces = NULL;
	set->n_namespaces = 0;
}

static bool is_same_namespaces(const struct kar_pod_set *x, const struct kar_pod_set *y)
{
	struct kar_pod_set a = *x, b = *y;

	a.n_labels = b.n_labels = 0;
	a.nothing = b.nothing = a.unsure = b.unsure = false;
	return kar_shape_compare(&kar_set_shape, &a, &b) == 0;
}

/* --- rules ----------------------------------------------------------------------------------------- */

static void note_unverified(struct pod_rules *out, const char *what)
{
	for (uint32_t i = 0; i < out->n_unverified; i++) {
		if (out->unverified[i] == what)
			return;
	}
	out->unverified[out->n_unverified++] = what;
}

static void add_rule(struct kar_arena *a, struct pod_rules *out, const struct kar_pod_rule *one,
	const char *what)
{
	if (!kar_has_text(one->key) || !INSERT(a, &kar_rule_shape, &out->items, &out->n, RULES_MAX, one))
		note_unverified(out, what);
}

static struct kar_pod_set set_of(struct kar_arena *a, const struct pod_wire_pod_term *t)
{
	struct kar_pod_set set = { 0 };

	read_namespaces(a, t, &set);
	add_selector(a, &set, t->selector);
	set.unsure |= !are_merged(&t->label_keys, t->selector) || !are_merged(&t->other_keys, t->selector);
	return set;
}

static void read_anti_affinity(const struct kar_array *terms, bool bound, struct kar_arena *a,
	struct pod_rules *out)
{
	const struct pod_wire_pod_term *t = terms->items;

	for (size_t i = 0; i < terms->n; i++) {
		const struct kar_pod_rule one = { .kind = KAR_ANTI_AFFINITY,
			.key = t[i].key,
			.of = set_of(a, &t[i]) };

		if (one.of.unsure && !bound)
			note_unverified(out, anti_affinity);
		else if (!one.of.nothing)
			add_rule(a, out, &one, anti_affinity);
	}
}

static void read_affinity(const struct kar_array *terms, struct kar_arena *a, struct pod_rules *out)
{
	const struct pod_wire_pod_term *t = terms->items;
	struct kar_pod_rule one = { .kind = KAR_AFFINITY };

	for (size_t i = 0; i < terms->n; i++) {
		struct kar_pod_set set = set_of(a, &t[i]);

		one.of.unsure |= set.unsure || (i && !is_same_namespaces(&one.of, &set));
		if (!i) {
			one.of = set;
			continue;
		}
		one.of.nothing |= set.nothing;
		for (uint32_t k = 0; k < set.n_labels; k++)
			add_requirement(a, &one.of, &set.labels[k]);
	}
	if (one.of.unsure) {
		note_unverified(out, affinity);
		return;
	}
	for (size_t i = 0; i < terms->n; i++) {
		one.key = t[i].key;
		add_rule(a, out, &one, affinity);
	}
}

/*
 * A pod that is pinned counts its own node alone, if nodes count that its affinity allows. Then it is refused nowhere, but if it asks for a number
 * of domains.
 */
static bool is_refused_when_pinned(const struct pod_wire_spread *c)
{
	return c->min_domains > 1 && !kar_streq(c->affinity_policy, "Ignore");
}

static void read_spread(const struct kar_array *constraints, struct kar_arena *a, struct pod_rules *out)
{
	const struct pod_wire_spread *c = constraints->items;

	for (size_t i = 0; i < constraints->n; i++) {
		struct kar_pod_rule one = { .kind = KAR_SPREAD,
			.key = c[i].key,
			.of = { .own = true, .living = true },
			.max_skew = c[i].max_skew,
			.min_domains = c[i].min_domains,
			.any_affinity = kar_streq(c[i].affinity_policy, "Ignore"),
			.only_tolerated = kar_streq(c[i].taint_policy, "Honor") };

		if (kar_streq(c[i].otherwise, "ScheduleAnyway"))
			continue;
		add_selector(a, &one.of, c[i].selector);
		if (one.of.unsure || (c[i].selector && is_empty(c[i].selector)) ||
			!are_merged(&c[i].label_keys, c[i].selector) || is_refused_when_pinned(&c[i]))
			note_unverified(out, spread);
		else
			add_rule(a, out, &one, spread);
	}
}

void pod_rules_read(const struct pod_wire_spec *spec, bool bound, struct kar_arena *a, struct pod_rules *out)
{
	*out = (struct pod_rules){ 0 };
	if (!bound)
		read_affinity(&spec->affinity.pod.required, a, out);
	read_anti_affinity(&spec->affinity.anti.required, bound, a, out);
	if (!bound)
		read_spread(&spec->spread, a, out);
	if (bound)
		out->n_unverified = 0;
}
