#include "api/core/storageclass.h"

#include <stdlib.h>

#include "api/copy.h"
#include "api/pod/pod_needs.h"
#include "common/base/mem.h"
#include "common/base/str.h"

struct wire_label {
	const char *key;
	struct kar_array values; /* const char * */
};

struct wire_topology {
	struct kar_array labels; /* struct wire_label */
};

struct wire_class {
	struct kar_wire_object head;
	const char *provisioner, *mode;
	struct kar_array topologies; /* struct wire_topology */
};

static const struct kar_field label_fields[] = {
	KAR_FIELD(struct wire_label, key, "key", KAR_F_STRING),
	KAR_FIELD(struct wire_label, values, "values", KAR_F_ARRAY),
};
static const struct kar_desc label_desc =
	KAR_DESC("TopologySelectorLabelRequirement", struct wire_label, label_fields);

static const struct kar_field topology_fields[] = {
	KAR_FIELD_SUB(struct wire_topology, labels, "matchLabelExpressions", KAR_F_ARRAY, &label_desc),
};
static const struct kar_desc topology_desc =
	KAR_DESC("TopologySelectorTerm", struct wire_topology, topology_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_class),
	KAR_FIELD(struct wire_class, provisioner, "provisioner", KAR_F_STRING),
	KAR_FIELD(struct wire_class, mode, "volumeBindingMode", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_class, topologies, "allowedTopologies", KAR_F_ARRAY, &topology_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("StorageClass", struct wire_class, fields);

static const char *const default_annotations[] = {
	"storageclass.kubernetes.io/is-default-class",
	"storageclass.beta.kubernetes.io/is-default-class",
};

static bool is_default(const struct kar_array *annotations)
{
	bool is = false;

	for (size_t i = 0; i < KAR_LEN(default_annotations); i++)
		is |= kar_streq(kar_pairs_get(annotations, default_annotations[i]), "true");
	return is;
}

static struct kar_node_term term_of(const struct wire_topology *t, struct kar_arena *a)
{
	const struct wire_label *l = t->labels.items;
	struct kar_requirement *all = kar_arena_alloc(a, t->labels.n + 1, sizeof(*all));

	for (size_t i = 0; i < t->labels.n; i++)
		all[i] = (struct kar_requirement){ .key = l[i].key ? l[i].key : "",
			.op = KAR_OP_IN,
			.values = l[i].values.items,
			.n_values = (uint32_t)l[i].values.n };
	return (struct kar_node_term){ .requirements = all, .n = (uint32_t)t->labels.n };
}

/* Where the volumes of the class may be; one of the terms must hold. Too many are forgotten: then the scheduler knows better. */
static void read_topologies(const struct kar_array *topologies, struct kar_storageclass *c,
	struct kar_intern *strings)
{
	const struct wire_topology *t = topologies->items;
	struct kar_arena scratch = { 0 };
	struct kar_node_term *terms = kar_arena_alloc(&scratch, topologies->n + 1, sizeof(*terms));
	const struct kar_pod_needs nodes = { .has_terms = true,
		.terms = terms,
		.n_terms = (uint32_t)topologies->n };

	for (size_t i = 0; i < topologies->n; i++)
		terms[i] = term_of(&t[i], &scratch);
	if (topologies->n && kar_shape_bytes(&kar_needs_shape, &nodes) <= KAR_POD_NEEDS_BYTES)
		c->nodes = kar_share_get(strings, &kar_needs_shape, &nodes);
	c->unknown = topologies->n && !c->nodes;
	kar_arena_release(&scratch);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_class *w = wire;
	struct kar_storageclass *c = kar_xcalloc(1, sizeof(*c));

	kar_object_init(&c->o, &kar_storageclass_type, &w->head, kar_copy_text(&c->mem, w->head.meta.name),
		kar_copy_text(&c->mem, w->head.meta.uid), strings);
	c->creation = w->head.meta.creation;
	c->provisioner = kar_copy_fit(&c->mem, w->provisioner, KAR_COPY_KEY);
	c->waits = kar_streq(w->mode, "WaitForFirstConsumer");
	c->is_default = is_default(&w->head.meta.annotations);
	read_topologies(&w->topologies, c, strings);
	return &c->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct kar_storageclass *c = kar_container_of(o, struct kar_storageclass, o);

	if (c->nodes)
		kar_share_put(strings, c->nodes);
	kar_arena_release(&c->mem);
	free(c);
}

const struct kar_type kar_storageclass_type = {
	.res = { .group = "storage.k8s.io",
		.version = "v1",
		.plural = "storageclasses",
		.kind = "StorageClass" },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
};

/* --- CSIDriver -------------------------------------------------------------------------------------- */

struct wire_driver_spec {
	bool storage_capacity, attaches, says; /* .says: whether it attaches */
};

struct wire_driver {
	struct kar_wire_object head;
	struct wire_driver_spec spec;
};

static const struct kar_field driver_spec_fields[] = {
	KAR_FIELD(struct wire_driver_spec, storage_capacity, "storageCapacity", KAR_F_BOOL),
	KAR_FIELD_OPT(struct wire_driver_spec, attaches, says, "attachRequired", KAR_F_BOOL),
};
static const struct kar_desc driver_spec_desc =
	KAR_DESC("CSIDriverSpec", struct wire_driver_spec, driver_spec_fields);

static const struct kar_field driver_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_driver),
	KAR_FIELD_SUB(struct wire_driver, spec, "spec", KAR_F_OBJECT, &driver_spec_desc),
};
static const struct kar_desc driver_desc = KAR_WIRE_DESC("CSIDriver", struct wire_driver, driver_fields);

static struct kar_object *project_driver(const void *wire, struct kar_intern *strings)
{
	const struct wire_driver *w = wire;
	struct kar_csidriver *d = kar_xcalloc(1, sizeof(*d));

	kar_object_init(&d->o, &kar_csidriver_type, &w->head, kar_copy_text(&d->mem, w->head.meta.name),
		kar_copy_text(&d->mem, w->head.meta.uid), strings);
	d->storage_capacity = w->spec.storage_capacity;
	d->attaches = w->spec.attaches || !w->spec.says;
	return &d->o;
}

static void destroy_driver(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_csidriver *d = kar_container_of(o, struct kar_csidriver, o);

	kar_arena_release(&d->mem);
	free(d);
}

const struct kar_type kar_csidriver_type = {
	.res = { .group = "storage.k8s.io", .version = "v1", .plural = "csidrivers", .kind = "CSIDriver" },
	.wire = &driver_desc,
	.project = project_driver,
	.destroy = destroy_driver,
};
