#include "api/core/volume.h"

#include <stdlib.h>

#include "api/copy.h"
#include "api/pod/pod_needs.h"
#include "api/pod/pod_wire.h"
#include "common/base/mem.h"

struct wire_affinity {
	const struct pod_wire_node_terms *required;
};

struct wire_csi {
	const char *driver;
};

struct wire_spec {
	struct wire_affinity affinity;
	struct wire_csi csi;
	const char *class;
	const struct pod_wire_present *claim;
};

struct wire_volume {
	struct kar_wire_object head;
	struct wire_spec spec;
};

static const struct kar_field affinity_fields[] = {
	KAR_FIELD_SUB(struct wire_affinity, required, "required", KAR_F_OBJECT_PTR,
		&pod_wire_node_terms_desc),
};
static const struct kar_desc affinity_desc =
	KAR_DESC("VolumeNodeAffinity", struct wire_affinity, affinity_fields);

static const struct kar_desc claim_desc = { .what = "ObjectReference",
	.size = sizeof(struct pod_wire_present) };

static const struct kar_field csi_fields[] = {
	KAR_FIELD(struct wire_csi, driver, "driver", KAR_F_STRING),
};
static const struct kar_desc csi_desc = KAR_DESC("CSIPersistentVolumeSource", struct wire_csi, csi_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_SUB(struct wire_spec, affinity, "nodeAffinity", KAR_F_OBJECT, &affinity_desc),
	KAR_FIELD_SUB(struct wire_spec, csi, "csi", KAR_F_OBJECT, &csi_desc),
	KAR_FIELD(struct wire_spec, class, "storageClassName", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_spec, claim, "claimRef", KAR_F_OBJECT_PTR, &claim_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("PersistentVolumeSpec", struct wire_spec, spec_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_volume),
	KAR_FIELD_SUB(struct wire_volume, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("PersistentVolume", struct wire_volume, fields);

/* Labels by which kube-scheduler (plugin VolumeZone) compares it with nodes that have any of them; new volumes have an affinity instead. */
static const char *const zone_labels[] = {
	"topology.kubernetes.io/zone",
	"topology.kubernetes.io/region",
	"failure-domain.beta.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region",
};

static bool has_zone(const struct kar_array *labels)
{
	bool has = false;

	for (size_t i = 0; i < KAR_LEN(zone_labels); i++)
		has |= kar_pairs_get(labels, zone_labels[i]) != NULL;
	return has;
}

/* Kube-scheduler shows the terms of a volume only the labels of nodes: what they ask of names never holds, or always. */
static bool asks_for_names(const struct kar_pod_needs *nodes)
{
	bool asks = false;

	for (uint32_t i = 0; i < nodes->n_terms; i++) {
		for (uint32_t k = 0; k < nodes->terms[i].n; k++)
			asks |= nodes->terms[i].requirements[k].field;
	}
	return asks;
}

static void read_affinity(const struct pod_wire_node_terms *required, struct kar_volume *v,
	struct kar_intern *strings)
{
	struct kar_arena scratch = { 0 };
	struct kar_pod_needs nodes;

	v->unknown = !kar_node_terms(required, &scratch, &nodes) || asks_for_names(&nodes) ||
		kar_shape_bytes(&kar_needs_shape, &nodes) > KAR_POD_NEEDS_BYTES;
	if (!v->unknown && nodes.has_terms)
		v->nodes = kar_share_get(strings, &kar_needs_shape, &nodes);
	kar_arena_release(&scratch);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_volume *w = wire;
	struct kar_volume *v = kar_xcalloc(1, sizeof(*v));

	kar_object_init(&v->o, &kar_volume_type, &w->head, kar_copy_text(&v->mem, w->head.meta.name),
		kar_copy_text(&v->mem, w->head.meta.uid), strings);
	if (w->spec.affinity.required)
		read_affinity(w->spec.affinity.required, v, strings);
	v->unknown |= has_zone(&w->head.meta.labels);
	if (!w->spec.claim && kar_has_text(w->spec.class))
		v->class = kar_intern_get(strings, w->spec.class);
	v->driver = kar_copy_fit(&v->mem, w->spec.csi.driver, KAR_COPY_KEY);
	return &v->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct kar_volume *v = kar_container_of(o, struct kar_volume, o);

	if (v->nodes)
		kar_share_put(strings, v->nodes);
	if (v->class)
		kar_intern_put(strings, v->class);
	kar_arena_release(&v->mem);
	free(v);
}

static const char *index_key(const struct kar_object *o, int i)
{
	assert(i == KAR_VOLUME_FREE_BY_CLASS);
	return kar_as_volume(o)->class;
}

const struct kar_type kar_volume_type = {
	.res = { .group = "", .version = "v1", .plural = "persistentvolumes", .kind = "PersistentVolume" },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
	.n_index = 1,
};
