#include "api/core/node.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/core/amounts_wire.h"
#include "api/podgroup/placement_words.h"
#include "common/base/str.h"

struct wire_taint {
	const char *key, *value, *effect;
};

struct wire_spec {
	bool unschedulable;
	struct kar_array taints; /* struct wire_taint */
};

struct wire_condition {
	const char *type, *status;
};

struct wire_status {
	struct kar_array allocatable; /* struct kar_pair */
	struct kar_array conditions;  /* struct wire_condition */
};

struct wire_node {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field taint_fields[] = {
	KAR_FIELD_PB(struct wire_taint, key, "key", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct wire_taint, value, "value", 2, KAR_F_STRING),
	KAR_FIELD_PB(struct wire_taint, effect, "effect", 3, KAR_F_STRING),
};
static const struct kar_desc taint_desc = KAR_DESC("Taint", struct wire_taint, taint_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_PB(struct wire_spec, unschedulable, "unschedulable", 4, KAR_F_BOOL),
	KAR_FIELD_PB_SUB(struct wire_spec, taints, "taints", 5, KAR_F_ARRAY, &taint_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("NodeSpec", struct wire_spec, spec_fields);

static const struct kar_field condition_fields[] = {
	KAR_FIELD_PB(struct wire_condition, type, "type", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct wire_condition, status, "status", 2, KAR_F_STRING),
};
static const struct kar_desc condition_desc =
	KAR_DESC("NodeCondition", struct wire_condition, condition_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD_PB_SUB(struct wire_status, allocatable, "allocatable", 2, KAR_F_MAP, &kar_amount_wire_desc),
	KAR_FIELD_PB_SUB(struct wire_status, conditions, "conditions", 4, KAR_F_ARRAY, &condition_desc),
};
static const struct kar_desc status_desc = KAR_DESC("NodeStatus", struct wire_status, status_fields);

static const struct kar_field node_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_node),
	KAR_FIELD_PB_SUB(struct wire_node, spec, "spec", 2, KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_PB_SUB(struct wire_node, status, "status", 3, KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc node_desc = KAR_WIRE_DESC("Node", struct wire_node, node_fields);

/* --- what is kept ---------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct kar_pair *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static int by_resource(const void *a, const void *b)
{
	const struct kar_pair *x = a, *y = b;

	return kar_resource_order(x->key, y->key);
}

/* The first @most pairs in this order; how many there are. */
static size_t first_pairs(const struct kar_array *from, int (*order)(const void *, const void *), size_t most,
	struct kar_arena *a, const struct kar_pair **out)
{
	struct kar_pair *copy = kar_arena_alloc(a, from->n + 1, sizeof(*copy));

	if (from->n) {
		memcpy(copy, from->items, from->n * sizeof(*copy));
		qsort(copy, from->n, sizeof(*copy), order);
	}
	*out = copy;
	return from->n < most ? from->n : most;
}

/* Is not interned; one for all, so that equal texts have equal pointers all the same. */
static const char empty[] = "";

static const char *intern_text(struct kar_intern *strings, const char *s, size_t size)
{
	const char *kept = kar_intern_fit(strings, s, size);

	return kept ? kept : empty;
}

static void forget_text(struct kar_intern *strings, const char *s)
{
	if (s != empty)
		kar_intern_put(strings, s);
}

static uint32_t keep_labels(const struct kar_pair *pairs, size_t n, struct kar_sched_label *out,
	struct kar_intern *strings)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (struct kar_sched_label){ intern_text(strings, pairs[i].key, KAR_COPY_KEY),
			intern_text(strings, pairs[i].value, KAR_COPY_VALUE) };
	return (uint32_t)n;
}

static uint32_t keep_amounts(const struct kar_pair *pairs, size_t n, struct kar_sched_amount *out,
	struct kar_intern *strings)
{
	uint32_t kept = 0;
	struct kar_quantity q;

	for (size_t i = 0; i < n; i++) {
		struct kar_sched_amount a;

		if (kar_quantity_parse(pairs[i].value, &q, NULL))
			continue;
		a = kar_amount_rounded(pairs[i].key, &q);
		if (!a.amount)
			continue;
		a.resource = intern_text(strings, a.resource, KAR_COPY_KEY);
		out[kept++] = a;
	}
	return kept;
}

static bool keeps_pods_away(const struct wire_taint *t, enum kar_effect *effect)
{
	return kar_effect_read(t->effect, effect) &&
		(*effect == KAR_NO_SCHEDULE || *effect == KAR_NO_EXECUTE);
}

static size_t count_taints(const struct kar_array *taints)
{
	const struct wire_taint *t = taints->items;
	enum kar_effect effect;
	size_t n = 0;

	for (size_t i = 0; i < taints->n; i++)
		n += keeps_pods_away(&t[i], &effect);
	return n < KAR_NODE_TAINTS_MAX ? n : KAR_NODE_TAINTS_MAX;
}

static uint32_t keep_taints(const struct kar_array *taints, size_t most, struct kar_taint *out,
	struct kar_intern *strings)
{
	const struct wire_taint *t = taints->items;
	uint32_t n = 0;

	for (size_t i = 0; i < taints->n && n < most; i++) {
		enum kar_effect effect;

		if (keeps_pods_away(&t[i], &effect))
			out[n++] = (struct kar_taint){ .key = intern_text(strings, t[i].key, KAR_COPY_KEY),
				.value = intern_text(strings, t[i].value, KAR_COPY_VALUE),
				.effect = effect };
	}
	return n;
}

static bool is_ready(const struct wire_node *w)
{
	const struct wire_condition *c = w->status.conditions.items;

	for (size_t i = 0; i < w->status.conditions.n; i++) {
		if (kar_streq(c[i].type, "Ready"))
			return kar_streq(c[i].status, "True") && !w->head.problem;
	}
	return false;
}

/* --- the node -------------------------------------------------------------------------------------- */

/* One allocation: the node, its amounts, labels, taints, name and UID. */
static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_node *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	const struct kar_pair *resources, *labels;
	struct kar_arena scratch = { 0 };
	size_t n_resources = first_pairs(&w->status.allocatable, by_resource, KAR_NODE_RESOURCES_MAX,
		       &scratch, &resources),
	       n_labels = first_pairs(&m->labels, by_key, KAR_NODE_LABELS_MAX, &scratch, &labels),
	       n_taints = count_taints(&w->spec.taints), name_size = strlen(m->name) + 1,
	       uid_size = strlen(m->uid) + 1;
	struct kar_node *node = kar_xmalloc(sizeof(*node) + n_resources * sizeof(struct kar_sched_amount) +
		n_labels * sizeof(struct kar_sched_label) + n_taints * sizeof(struct kar_taint) + name_size +
		uid_size);
	struct kar_sched_amount *amounts = (void *)(node + 1);
	struct kar_sched_label *kept_labels = (void *)(amounts + n_resources);
	struct kar_taint *taints = (void *)(kept_labels + n_labels);
	char *name = (void *)(taints + n_taints);

	memcpy(name, m->name, name_size);
	memcpy(name + name_size, m->uid, uid_size);
	*node = (struct kar_node){ .offer = { .name = name,
					   .allocatable = amounts,
					   .labels = kept_labels,
					   .taints = taints,
					   .ready = is_ready(w),
					   .cordoned = w->spec.unschedulable } };
	node->offer.n_allocatable = keep_amounts(resources, n_resources, amounts, strings);
	node->offer.n_labels = keep_labels(labels, n_labels, kept_labels, strings);
	node->offer.n_taints = keep_taints(&w->spec.taints, n_taints, taints, strings);
	kar_object_init(&node->o, &kar_node_type, &w->head, name, name + name_size, strings);
	kar_arena_release(&scratch);
	return &node->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	const struct kar_node_offer *offer = &kar_as_node(o)->offer;

	for (uint32_t i = 0; i < offer->n_allocatable; i++)
		forget_text(strings, offer->allocatable[i].resource);
	for (uint32_t i = 0; i < offer->n_labels; i++) {
		forget_text(strings, offer->labels[i].key);
		forget_text(strings, offer->labels[i].value);
	}
	for (uint32_t i = 0; i < offer->n_taints; i++) {
		forget_text(strings, offer->taints[i].key);
		forget_text(strings, offer->taints[i].value);
	}
	free(o);
}

const struct kar_type kar_node_type = {
	.res = { .group = "", .version = "v1", .plural = "nodes", .kind = "Node", .namespaced = false },
	.wire = &node_desc,
	.protobuf = true,
	.project = project,
	.destroy = destroy,
};

/* --- comparison ------------------------------------------------------------------------------------ */

static bool same_amounts(const struct kar_node_offer *a, const struct kar_node_offer *b)
{
	for (uint32_t i = 0; i < a->n_allocatable; i++) {
		if (a->allocatable[i].resource != b->allocatable[i].resource ||
			a->allocatable[i].amount != b->allocatable[i].amount)
			return false;
	}
	return true;
}

static bool same_labels(const struct kar_node_offer *a, const struct kar_node_offer *b)
{
	for (uint32_t i = 0; i < a->n_labels; i++) {
		if (a->labels[i].key != b->labels[i].key || a->labels[i].value != b->labels[i].value)
			return false;
	}
	return true;
}

static bool same_taints(const struct kar_node_offer *a, const struct kar_node_offer *b)
{
	for (uint32_t i = 0; i < a->n_taints; i++) {
		if (a->taints[i].key != b->taints[i].key || a->taints[i].value != b->taints[i].value ||
			a->taints[i].effect != b->taints[i].effect)
			return false;
	}
	return true;
}

bool kar_node_same_offer(const struct kar_node *a, const struct kar_node *b)
{
	const struct kar_node_offer *x = &a->offer, *y = &b->offer;

	assert(a->o.strings == b->o.strings);
	return strcmp(x->name, y->name) == 0 && x->ready == y->ready && x->cordoned == y->cordoned &&
		x->n_allocatable == y->n_allocatable && x->n_labels == y->n_labels &&
		x->n_taints == y->n_taints && same_amounts(x, y) && same_labels(x, y) && same_taints(x, y);
}
