#include "api/core/topology.h"

#include <stdlib.h>

#include "api/copy.h"
#include "api/names.h"
#include "common/base/str.h"
#include "common/codec/json.h"

struct wire_level {
	const char *label;
};

struct wire_spec {
	struct kar_array levels; /* struct wire_level */
};

struct wire_status {
	struct kar_topology_status s;
	struct kar_array levels;     /* struct kar_topology_level */
	struct kar_array conditions; /* struct kar_wire_condition */
};

struct wire_topology {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field level_fields[] = {
	KAR_FIELD(struct wire_level, label, "nodeLabel", KAR_F_STRING),
};
static const struct kar_desc level_desc = KAR_DESC("TopologyLevel", struct wire_level, level_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_SUB(struct wire_spec, levels, "levels", KAR_F_ARRAY, &level_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("TopologySpec", struct wire_spec, spec_fields);

static const struct kar_field level_status_fields[] = {
	KAR_STATUS_TEXT(struct kar_topology_level, label, "nodeLabel", KAR_COPY_KEY, KAR_SF_STORY, NULL),
	KAR_STATUS(INT32, struct kar_topology_level, domains, "domains", KAR_SF_COUNTER, "domains"),
	KAR_STATUS(INT32, struct kar_topology_level, nodes, "nodes", KAR_SF_COUNTER, "nodes"),
	KAR_STATUS(INT32, struct kar_topology_level, without_label, "nodesWithoutLabel", KAR_SF_COUNTER,
		"without"),
	KAR_STATUS(INT32, struct kar_topology_level, ambiguous, "ambiguous", KAR_SF_COUNTER, "ambiguous"),
};
static const struct kar_desc level_status_table =
	KAR_DESC("TopologyLevelStatus", struct kar_topology_level, level_status_fields);

static const struct kar_field status_fields[] = {
	KAR_STATUS_STRUCTS(struct wire_status, levels, s.levels, s.n_levels, struct kar_topology_level,
		"levels", &level_status_table, KAR_SF_STORY | KAR_SF_COUNTER, "levels"),
	KAR_STATUS_CONDITIONS(struct wire_status, conditions, s.conditions, "conditions",
		KAR_SF_STORY | KAR_SF_PRINT_REASON, ""),
};
const struct kar_desc kar_topology_status_table =
	KAR_DESC("TopologyStatus", struct wire_status, status_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_topology),
	KAR_FIELD_SUB(struct wire_topology, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_topology, status, "status", KAR_F_OBJECT, &kar_topology_status_table),
};
static const struct kar_desc desc = KAR_WIRE_DESC("Topology", struct wire_topology, fields);

static bool has_level(const struct kar_topology *t, const char *label)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (kar_streq(t->levels[i], label))
			return true;
	}
	return false;
}

/* Of the level that comes next; NULL: there is none. */
static const char *problem_of(const struct kar_topology *t, const char *label)
{
	if (t->n == KAR_TOPOLOGY_LEVELS)
		return "there are more than 16";
	if (!kar_has_text(label))
		return "it has no label";
	return has_level(t, label) ? "a wider one has the same label" : NULL;
}

/* An older CRD may let levels pass that the schema refuses: they end where one means nothing. */
static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_topology *w = wire;
	const struct wire_level *levels = w->spec.levels.items;
	struct kar_topology *t = kar_xcalloc(1, sizeof(*t));

	kar_object_init(&t->o, &kar_topology_type, &w->head, kar_copy_text(&t->mem, w->head.meta.name),
		kar_copy_text(&t->mem, w->head.meta.uid), strings);
	t->generation = w->head.meta.generation;
	for (size_t i = 0; i < w->spec.levels.n && !t->invalid; i++) {
		const char *why = problem_of(t, levels[i].label);

		if (why)
			t->invalid = kar_arena_printf(&t->mem,
				"spec.levels[%zu] and narrower ones are ignored: %s", i, why);
		else
			t->levels[t->n++] = kar_copy_fit(&t->mem, levels[i].label, KAR_COPY_KEY);
	}
	if (!w->spec.levels.n)
		t->invalid = kar_copy_text(&t->mem, "spec.levels is empty");
	kar_status_read(&kar_topology_status_table, &w->status, &t->status, &t->mem);
	return &t->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_topology *t = kar_container_of(o, struct kar_topology, o);

	kar_arena_release(&t->mem);
	free(t);
}

const struct kar_type kar_topology_type = {
	.res = {
		.group = KAR_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.plural = "topologies",
		.kind = "Topology",
		.namespaced = false,
	},
	.wire = &desc,
	.project = project,
	.destroy = destroy,
};

bool kar_topology_same(const struct kar_topology *a, const struct kar_topology *b)
{
	bool same = a->n == b->n;

	for (uint32_t i = 0; i < a->n && same; i++)
		same = kar_streq(a->levels[i], b->levels[i]);
	return same;
}

/* --- what pods ask for ------------------------------------------------------------------------------ */

static const struct kar_field slice_fields[] = {
	KAR_FIELD(struct kar_topology_slice, size, "size", KAR_F_INT32),
	KAR_FIELD(struct kar_topology_slice, required, "required", KAR_F_STRING),
};
static const struct kar_desc slice_desc = KAR_DESC("TopologySlice", struct kar_topology_slice, slice_fields);

static const struct kar_field ask_fields[] = {
	KAR_FIELD(struct kar_topology_ask, required, "required", KAR_F_STRING),
	KAR_FIELD(struct kar_topology_ask, preferred, "preferred", KAR_F_STRING),
	KAR_FIELD_SUB(struct kar_topology_ask, slices, "slices", KAR_F_ARRAY, &slice_desc),
	KAR_FIELD(struct kar_topology_ask, balance, "balance", KAR_F_BOOL),
};
const struct kar_desc kar_topology_ask_desc = KAR_DESC("TopologyAsk", struct kar_topology_ask, ask_fields);

static const char *label_of(const char *text, struct kar_arena *a)
{
	return kar_has_text(text) ? kar_copy_fit(a, text, KAR_COPY_KEY) : NULL;
}

/* The first: what an older schema lets pass beyond that, or without a size, is ignored. */
static struct kar_array slices_of(const struct kar_array *from, struct kar_arena *a)
{
	const struct kar_topology_slice *first = from->items;
	struct kar_topology_slice *copy;

	if (!from->n || first->size < 1 || !kar_has_text(first->required))
		return (struct kar_array){ 0 };
	copy = kar_arena_alloc(a, 1, sizeof(*copy));
	*copy = (struct kar_topology_slice){ first->size, label_of(first->required, a) };
	return (struct kar_array){ .items = copy, .n = 1 };
}

struct kar_topology_ask kar_topology_ask_copy(const struct kar_topology_ask *from, struct kar_arena *a)
{
	return (struct kar_topology_ask){ .required = label_of(from->required, a),
		.preferred = label_of(from->preferred, a),
		.slices = slices_of(&from->slices, a),
		.balance = from->balance };
}

static bool same_slices(const struct kar_topology_slice *a, const struct kar_topology_slice *b)
{
	return !a == !b && (!a || (a->size == b->size && kar_streq(a->required, b->required)));
}

bool kar_topology_ask_equal(const struct kar_topology_ask *a, const struct kar_topology_ask *b)
{
	return kar_streq(a->required, b->required) && kar_streq(a->preferred, b->preferred) &&
		a->balance == b->balance && same_slices(kar_topology_slices(a), kar_topology_slices(b));
}

void kar_topology_ask_write(struct kar_json_writer *w, const struct kar_topology_ask *ask)
{
	const struct kar_topology_slice *slices = kar_topology_slices(ask);

	if (!kar_topology_asks(ask))
		return;
	kar_jw_key(w, "topology");
	kar_jw_begin_object(w);
	if (ask->required)
		kar_jw_kv_string(w, "required", ask->required);
	if (ask->preferred)
		kar_jw_kv_string(w, "preferred", ask->preferred);
	if (slices) {
		kar_jw_key(w, "slices");
		kar_jw_begin_array(w);
		kar_jw_begin_object(w);
		kar_jw_kv_int(w, "size", slices->size);
		kar_jw_kv_string(w, "required", slices->required);
		kar_jw_end_object(w);
		kar_jw_end_array(w);
	}
	if (ask->balance)
		kar_jw_kv_bool(w, "balance", true);
	kar_jw_end_object(w);
}
