#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/selector.h"
#include "sim/nodes/internal.h"

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* ---- nodes by label ---- */

static bool lists(const struct sim_value *values, const char *text)
{
	for (size_t i = 0; i < sim_count(values); i++) {
		if (same(sim_text_or(sim_item(values, i), ""), text))
			return true;
	}
	return false;
}

static bool compares(const struct sim_value *values, const char *text, bool greater)
{
	const char *bound = sim_text_or(sim_item(values, 0), "");
	char *end, *bound_end;
	long long a = strtoll(text, &end, 10), b = strtoll(bound, &bound_end, 10);

	if (*end || *bound_end || !text[0] || !bound[0])
		return false;
	return greater ? a > b : a < b;
}

/* A NodeSelectorRequirement; @text: what the node has for its key, NULL: nothing. */
static bool meets(const struct sim_value *requirement, const char *text)
{
	const char *operator= sim_text_or(sim_member(requirement, "operator"), "");
	const struct sim_value *values = sim_member(requirement, "values");

	if (same(operator, "In"))
		return text && lists(values, text);
	if (same(operator, "NotIn"))
		return !text || !lists(values, text);
	if (same(operator, "Exists"))
		return text != NULL;
	if (same(operator, "DoesNotExist"))
		return text == NULL;
	return text && compares(values, text, same(operator, "Gt"));
}

static bool term_matches(const struct sim_value *term, const struct sim_node *node)
{
	const struct sim_value *labels = sim_get(node->value, "metadata", "labels");
	const struct sim_value *expressions = sim_member(term, "matchExpressions"),
			       *fields = sim_member(term, "matchFields");

	for (size_t i = 0; i < sim_count(expressions); i++) {
		const struct sim_value *e = sim_item(expressions, i);

		if (!meets(e, sim_text(sim_member(labels, sim_text_or(sim_member(e, "key"), "")))))
			return false;
	}
	for (size_t i = 0; i < sim_count(fields); i++) { /* metadata.name is the only one there is */
		if (!meets(sim_item(fields, i), node->name))
			return false;
	}
	return sim_count(expressions) + sim_count(fields) > 0;
}

bool sim_node_selected(const struct sim_pod *p, const struct sim_node *node)
{
	const struct sim_value *spec = sim_member(p->value, "spec"),
			       *labels = sim_get(node->value, "metadata", "labels");
	const struct sim_value *required =
		sim_get(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution");
	const struct sim_value *terms = sim_member(required, "nodeSelectorTerms");

	for (struct sim_member m = sim_first(sim_member(spec, "nodeSelector")); m.value; m = sim_next(m)) {
		if (!same(sim_text_or(m.value, ""), sim_text_or(sim_member(labels, m.key), "\xff")))
			return false;
	}
	for (size_t i = 0; i < sim_count(terms); i++) {
		if (term_matches(sim_item(terms, i), node))
			return true;
	}
	return required == NULL;
}

/* ---- pods by label, in domains of nodes ---- */

static const struct sim_value *terms_of(const struct sim_pod *p, const char *kind)
{
	return sim_get(p->value, "spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution");
}

static bool in_namespaces(const struct sim_value *term, const struct sim_pod *owner, const struct sim_pod *p)
{
	const struct sim_value *namespaces = sim_member(term, "namespaces"),
			       *selector = sim_member(term, "namespaceSelector");
	const struct sim_value *ns;

	if (sim_count(namespaces) == 0 && !selector)
		return same(owner->ns, p->ns);
	if (lists(namespaces, p->ns))
		return true;
	if (!selector)
		return false;
	ns = sim_apiserver_peek(p->nodes->server, "", "namespaces", NULL, p->ns);
	return sim_label_selector_object_matches(selector, sim_get(ns, "metadata", "labels"));
}

/* Does the PodAffinityTerm of @owner speak of @p? */
static bool speaks_of(const struct sim_value *term, const struct sim_pod *owner, const struct sim_pod *p)
{
	return in_namespaces(term, owner, p) &&
		sim_label_selector_object_matches(sim_member(term, "labelSelector"),
			sim_get(p->value, "metadata", "labels"));
}

static bool all_speak_of(const struct sim_value *terms, const struct sim_pod *owner, const struct sim_pod *p)
{
	for (size_t i = 0; i < sim_count(terms); i++) {
		if (!speaks_of(sim_item(terms, i), owner, p))
			return false;
	}
	return sim_count(terms) > 0;
}

static bool has_domain(const struct sim_domains *d, const char *key, const char *value)
{
	for (size_t i = 0; i < d->n; i++) {
		if (same(d->items[i].key, key) && same(d->items[i].value, value))
			return true;
	}
	return false;
}

/* The domain of @node that @term means; a node without the label is in none. */
static void add_domain(struct sim_domains *d, const struct sim_value *term, const struct sim_node *node)
{
	const char *key = sim_text_or(sim_member(term, "topologyKey"), "");
	const char *value = sim_text(sim_member(sim_get(node->value, "metadata", "labels"), key));

	if (!value || has_domain(d, key, value))
		return;
	d->items = kar_xrealloc(d->items, d->n + 1, sizeof(*d->items));
	d->items[d->n++] = (struct sim_domain){ key, value };
}

static void read_own_terms(struct sim_cycle *c, const struct sim_pod *other)
{
	const struct sim_value *want = terms_of(c->pod, "podAffinity"),
			       *shun = terms_of(c->pod, "podAntiAffinity");

	if (all_speak_of(want, c->pod, other)) {
		for (size_t i = 0; i < sim_count(want); i++)
			add_domain(&c->attracted, sim_item(want, i), other->node);
	}
	for (size_t i = 0; i < sim_count(shun); i++) {
		if (speaks_of(sim_item(shun, i), c->pod, other))
			add_domain(&c->repelled, sim_item(shun, i), other->node);
	}
}

static void read_others_terms(struct sim_cycle *c)
{
	const struct sim_pod *other;

	TAILQ_FOREACH(other, &c->pod->nodes->anti, anti) {
		const struct sim_value *terms = terms_of(other, "podAntiAffinity");

		for (size_t i = 0; !other->queued.away && i < sim_count(terms); i++) {
			if (speaks_of(sim_item(terms, i), other, c->pod))
				add_domain(&c->refused, sim_item(terms, i), other->node);
		}
	}
}

void sim_cycle_refresh(struct sim_cycle *c)
{
	struct sim_pod *other;

	if (!c->uses_pods)
		return;
	c->attracted.n = c->repelled.n = c->refused.n = 0;
	if (c->pod->has_affinity || c->pod->has_anti_affinity) {
		RB_FOREACH(other, sim_pods, &c->pod->nodes->pods) {
			if (other->counted && !other->queued.away)
				read_own_terms(c, other);
		}
	}
	read_others_terms(c);
	c->first_of_kind =
		c->attracted.n == 0 && all_speak_of(terms_of(c->pod, "podAffinity"), c->pod, c->pod);
}

void sim_cycle_init(struct sim_cycle *c, struct sim_pod *p)
{
	*c = (struct sim_cycle){ .pod = p };
	c->uses_pods = p->has_affinity || p->has_anti_affinity || !TAILQ_EMPTY(&p->nodes->anti);
	sim_cycle_refresh(c);
}

void sim_cycle_release(struct sim_cycle *c)
{
	free(c->attracted.items);
	free(c->repelled.items);
	free(c->refused.items);
}

/* Is the node in one of the domains? */
static bool touches(const struct sim_domains *d, const struct sim_node *node)
{
	const struct sim_value *labels = sim_get(node->value, "metadata", "labels");

	for (size_t i = 0; i < d->n; i++) {
		const char *value = sim_text(sim_member(labels, d->items[i].key));

		if (value && same(value, d->items[i].value))
			return true;
	}
	return false;
}

static bool is_attracted(const struct sim_cycle *c, const struct sim_node *node)
{
	const struct sim_value *terms = terms_of(c->pod, "podAffinity");
	bool found = true;

	for (size_t i = 0; i < sim_count(terms); i++) {
		const char *key = sim_text_or(sim_member(sim_item(terms, i), "topologyKey"), "");
		const char *value = sim_text(sim_member(sim_get(node->value, "metadata", "labels"), key));

		if (!value)
			return false;
		found = found && has_domain(&c->attracted, key, value);
	}
	return found || c->first_of_kind;
}

bool sim_pods_agree(const struct sim_cycle *c, const struct sim_node *node, const char **why,
	bool *resolvable)
{
	*resolvable = true;
	if (!is_attracted(c, node)) {
		*resolvable = false;
		*why = "node(s) didn't match pod affinity rules";
		return false;
	}
	if (touches(&c->repelled, node)) {
		*why = "node(s) didn't match pod anti-affinity rules";
		return false;
	}
	if (touches(&c->refused, node)) {
		*why = "node(s) didn't satisfy existing pods anti-affinity rules";
		return false;
	}
	return true;
}
