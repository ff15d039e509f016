#include "api/core/resourceclaimtemplate.h"

#include <stdlib.h>

#include "api/copy.h"
#include "common/base/mem.h"

struct wire_claim_spec {
	struct kar_wire_device_requests devices;
};

struct wire_spec {
	struct wire_claim_spec spec;
};

struct wire_template {
	struct kar_wire_object head;
	struct wire_spec spec;
};

static const struct kar_field claim_spec_fields[] = {
	KAR_FIELD_SUB(struct wire_claim_spec, devices, "devices", KAR_F_OBJECT,
		&kar_wire_device_requests_desc),
};
static const struct kar_desc claim_spec_desc =
	KAR_DESC("ResourceClaimSpec", struct wire_claim_spec, claim_spec_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_SUB(struct wire_spec, spec, "spec", KAR_F_OBJECT, &claim_spec_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("ResourceClaimTemplateSpec", struct wire_spec, spec_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_template),
	KAR_FIELD_SUB(struct wire_template, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("ResourceClaimTemplate", struct wire_template, fields);

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_template *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	struct kar_resourceclaimtemplate *t = kar_xcalloc(1, sizeof(*t));

	kar_object_init(&t->o, &kar_resourceclaimtemplate_type, &w->head, kar_copy_text(&t->mem, m->name),
		kar_copy_text(&t->mem, m->uid), strings);
	t->requests = kar_device_requests_read(&w->spec.spec.devices, &t->mem);
	return &t->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_resourceclaimtemplate *t = kar_container_of(o, struct kar_resourceclaimtemplate, o);

	kar_arena_release(&t->mem);
	free(t);
}

const struct kar_type kar_resourceclaimtemplate_type = {
	.res = { .group = "resource.k8s.io",
		.version = "v1",
		.plural = "resourceclaimtemplates",
		.kind = "ResourceClaimTemplate",
		.namespaced = true },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
};
