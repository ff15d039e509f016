#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "sim/apiserver/schema_impl.h"

struct schema_node *schema_property(const struct schema_node *n, const char *key)
{
	size_t at;

	if (n->n_properties == 0)
		return NULL;
	for (at = kar_hash_str(0, key) & n->mask; n->slots[at]; at = (at + 1) & n->mask) {
		const struct schema_property *p = &n->properties[n->slots[at] - 1];

		if (p->name == key || !strcmp(p->name, key)) /* equal keys of trees are mostly one */
			return p->node;
	}
	return NULL;
}

struct schema_node *schema_member(const struct schema_node *n, const char *key)
{
	struct schema_node *named = schema_property(n, key);

	return named ? named : n->additional;
}

/* ---- validation ---- */

static int by_field(const void *a, const void *b)
{
	const struct sim_cause *const *x = a, *const *y = b;
	int order = strcmp((*x)->field, (*y)->field);

	return order ? order : (*x > *y) - (*x < *y); /* else in the order they were found */
}

static void sort(struct sim_causes *c)
{
	struct sim_cause *sorted = kar_xcalloc(c->n + 1, sizeof(*sorted));
	struct sim_cause **order = kar_xcalloc(c->n + 1, sizeof(struct sim_cause *));

	for (size_t i = 0; i < c->n; i++)
		order[i] = &c->items[i];
	qsort(order, c->n, sizeof(struct sim_cause *), by_field);
	for (size_t i = 0; i < c->n; i++)
		sorted[i] = *order[i];
	memcpy(c->items, sorted, c->n * sizeof(*sorted));
	free(order);
	free(sorted);
}

/* Failures after which the server does not evaluate the rules of x-kubernetes-validations. */
static bool blocks_rules(const struct sim_causes *c)
{
	static const char *const reasons[] = { "FieldValueNotSupported", "FieldValueRequired",
		"FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid" };

	for (size_t i = 0; i < c->n; i++) {
		for (size_t j = 0; j < KAR_LEN(reasons); j++) {
			if (!strcmp(c->items[i].reason, reasons[j]))
				return true;
		}
	}
	return false;
}

static void finish(const struct sim_schema *s, struct schema_result *r, struct sim_causes *out)
{
	if (r->causes.n > 1)
		sort(&r->causes);
	for (size_t i = 0; i < r->causes.n; i++)
		sim_cause_add(out, r->causes.items[i].reason, r->causes.items[i].field, "%s",
			r->causes.items[i].message);
	if (s->rules && blocks_rules(out)) /* also when it is metadata that is wrong */
		sim_cause_add(out, "FieldValueInvalid", "<nil>",
			"Invalid value: null: some validation rules were not checked because the object was invalid; correct the "
			"existing errors to complete validation");
	sim_causes_release(&r->causes);
}

void sim_schema_validate(const struct sim_schema *s, const struct sim_value *v, struct sim_causes *out)
{
	struct schema_result r = { 0 };

	schema_validate_value(s->root, v, NULL, NULL, &r);
	schema_validate_embedded(s->root, v, NULL, &r);
	schema_validate_lists(s->root, v, NULL, NULL, &r);
	finish(s, &r, out);
}

/* Repetitions in lists are let pass if there was any before. */
static void validate_lists_of_update(const struct sim_schema *s, const struct sim_value *old,
	const struct sim_value *new, struct schema_result *r)
{
	struct schema_result before = { 0 };
	size_t since = r->causes.n;

	schema_validate_lists(s->root, new, old, NULL, r);
	if (r->causes.n == since)
		return;
	schema_validate_lists(s->root, old, NULL, NULL, &before);
	if (before.causes.n > 0)
		schema_forget(&r->causes, since);
	sim_causes_release(&before.causes);
}

static void validate_status(const struct sim_schema *s, const struct sim_value *old,
	const struct sim_value *new, struct schema_result *r)
{
	const struct schema_node *n = schema_property(s->root, "status");
	const struct sim_value *status = sim_member(new, "status");

	r->prefix = "status";
	if (n && status)
		schema_validate_value(n, status, sim_member(old, "status"), NULL, r);
	r->prefix = NULL;
}

void sim_schema_validate_update(const struct sim_schema *s, const struct sim_value *old,
	const struct sim_value *new, bool status, struct sim_causes *out)
{
	struct schema_result r = { 0 };

	if (status) {
		validate_status(s, old, new, &r);
	} else {
		schema_validate_value(s->root, new, old, NULL, &r);
		schema_validate_embedded(s->root, new, NULL, &r);
	}
	validate_lists_of_update(s, old, new, &r);
	finish(s, &r, out);
}

/* ---- list types ---- */

const char *sim_schema_list_type(const struct sim_schema *s, const char *const *path, size_t n,
	const struct sim_value **keys)
{
	static const char
		*const names[] = { [LIST_ATOMIC] = "atomic", [LIST_SET] = "set", [LIST_MAP] = "map" };
	const struct schema_node *node = s->root;

	*keys = NULL;
	for (size_t i = 0; node && i < n; i++) {
		while (node->items)
			node = node->items;
		node = schema_member(node, path[i]);
	}
	if (!node)
		return names[LIST_ATOMIC];
	*keys = node->list_keys;
	return names[node->list];
}
