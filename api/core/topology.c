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

struct wire_topology {
	struct kar_wire_object head;
	struct wire_spec spec;
};

static const struct kar_field level_fields[] = {
	KAR_FIELD(struct wire_level, label, "nodeLabel", KAR_F_STRING),
};
static const struct kar_desc level_desc = KAR_DESC("TopologyLevel", struct wire_level, level_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_SUB(struct wire_spec, levels, "levels", KAR_F_ARRAY, &level_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("TopologySpec", struct wire_spec, spec_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_topology),
	KAR_FIELD_SUB(struct wire_topology, spec, "spec", KAR_F_OBJECT, &spec_desc),
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

/* An older CRD may let levels pass that the schema refuses: they end where one means nothing. */
static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_topology *w = wire;
	const struct wire_level *levels = w->spec.levels.items;
	struct kar_topology *t = kar_xcalloc(1, sizeof(*t));

	kar_object_init(&t->o, &kar_topology_type, &w->head, kar_copy_text(&t->mem, w->head.meta.name),
		kar_copy_text(&t->mem, w->head.meta.uid), strings);
	for (size_t i = 0; i < w->spec.levels.n && t->n < KAR_TOPOLOGY_LEVELS; i++) {
		if (!kar_has_text(levels[i].label) || has_level(t, levels[i].label))
			break;
		t->levels[t->n++] = kar_copy_fit(&t->mem, levels[i].label, KAR_COPY_KEY);
	}
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

/* --- what pods ask for ------------------------------------------------------------------------------ */

static const struct kar_field ask_fields[] = {
	KAR_FIELD(struct kar_topology_ask, required, "required", KAR_F_STRING),
	KAR_FIELD(struct kar_topology_ask, preferred, "preferred", KAR_F_STRING),
};
const struct kar_desc kar_topology_ask_desc = KAR_DESC("TopologyAsk", struct kar_topology_ask, ask_fields);

static const char *label_of(const char *text, struct kar_arena *a)
{
	return kar_has_text(text) ? kar_copy_fit(a, text, KAR_COPY_KEY) : NULL;
}

struct kar_topology_ask kar_topology_ask_copy(const struct kar_topology_ask *from, struct kar_arena *a)
{
	return (struct kar_topology_ask){ .required = label_of(from->required, a),
		.preferred = label_of(from->preferred, a) };
}

bool kar_topology_ask_equal(const struct kar_topology_ask *a, const struct kar_topology_ask *b)
{
	return kar_streq(a->required, b->required) && kar_streq(a->preferred, b->preferred);
}

void kar_topology_ask_write(struct kar_json_writer *w, const struct kar_topology_ask *ask)
{
	if (!kar_topology_asks(ask))
		return;
	kar_jw_key(w, "topology");
	kar_jw_begin_object(w);
	if (ask->required)
		kar_jw_kv_string(w, "required", ask->required);
	if (ask->preferred)
		kar_jw_kv_string(w, "preferred", ask->preferred);
	kar_jw_end_object(w);
}
