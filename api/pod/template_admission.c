#include "api/pod/template_admission.h"

#include "common/base/intern.h"
#include "common/codec/json.h"

/* Each value is the JSON of a field, as served; n == 0: absent. */
struct judged_container {
	struct kar_str values[5];
};

struct judged_spec {
	struct kar_str values[12];
	struct kar_array containers, init_containers; /* struct judged_container */
};

struct judged_meta {
	struct kar_str values[1];
};

struct judged_template {
	struct judged_meta meta;
	struct judged_spec spec;
};

#define VALUE(struct_, i, name) KAR_FIELD(struct_, values[i], name, KAR_F_RAW)

static const struct kar_field container_fields[] = {
	VALUE(struct judged_container, 0, "image"),
	VALUE(struct judged_container, 1, "imagePullPolicy"),
	VALUE(struct judged_container, 2, "securityContext"),
	VALUE(struct judged_container, 3, "ports"),
	VALUE(struct judged_container, 4, "volumeMounts"),
};
static const struct kar_desc container_desc =
	KAR_DESC("Container", struct judged_container, container_fields);

static const struct kar_field spec_fields[] = {
	VALUE(struct judged_spec, 0, "serviceAccountName"),
	VALUE(struct judged_spec, 1, "serviceAccount"),
	VALUE(struct judged_spec, 2, "automountServiceAccountToken"),
	VALUE(struct judged_spec, 3, "securityContext"),
	VALUE(struct judged_spec, 4, "imagePullSecrets"),
	VALUE(struct judged_spec, 5, "volumes"),
	VALUE(struct judged_spec, 6, "runtimeClassName"),
	VALUE(struct judged_spec, 7, "schedulingGates"),
	VALUE(struct judged_spec, 8, "hostNetwork"),
	VALUE(struct judged_spec, 9, "hostPID"),
	VALUE(struct judged_spec, 10, "hostIPC"),
	VALUE(struct judged_spec, 11, "hostUsers"),
	KAR_FIELD_SUB(struct judged_spec, containers, "containers", KAR_F_ARRAY, &container_desc),
	KAR_FIELD_SUB(struct judged_spec, init_containers, "initContainers", KAR_F_ARRAY, &container_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("PodSpec", struct judged_spec, spec_fields);

static const struct kar_field meta_fields[] = {
	VALUE(struct judged_meta, 0, "labels"),
};
static const struct kar_desc meta_desc = KAR_DESC("ObjectMeta", struct judged_meta, meta_fields);

static const struct kar_field template_fields[] = {
	KAR_FIELD_SUB(struct judged_template, meta, "metadata", KAR_F_OBJECT, &meta_desc),
	KAR_FIELD_SUB(struct judged_template, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc template_desc =
	KAR_DESC("PodTemplateSpec", struct judged_template, template_fields);

static uint64_t hash_values(uint64_t h, const struct kar_str *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = kar_hash(kar_hash(h, &values[i].n, sizeof(values[i].n)), values[i].p, values[i].n);
	return h;
}

static uint64_t hash_containers(uint64_t h, const struct kar_array *containers)
{
	const struct judged_container *c = containers->items;

	h = kar_hash(h, &containers->n, sizeof(containers->n));
	for (size_t i = 0; i < containers->n; i++)
		h = hash_values(h, c[i].values, KAR_LEN(c[i].values));
	return h;
}

uint64_t kar_template_admission(struct kar_str raw, struct kar_arena *scratch)
{
	struct judged_template t = { 0 };
	uint64_t h;

	if (!raw.n || kar_json_decode(scratch, &template_desc, NULL, raw.p, raw.n, &t, NULL))
		return 0;
	h = hash_values(1, t.meta.values, KAR_LEN(t.meta.values));
	h = hash_values(h, t.spec.values, KAR_LEN(t.spec.values));
	h = hash_containers(h, &t.spec.containers);
	return hash_containers(h, &t.spec.init_containers);
}
