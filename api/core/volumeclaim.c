#include "api/core/volumeclaim.h"

#include <stdlib.h>

#include "api/copy.h"
#include "common/base/mem.h"
#include "common/base/str.h"

struct wire_spec {
	const char *volume, *class;
	struct kar_array modes; /* const char * */
};

struct wire_claim {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct {
		const char *phase;
	} status;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, volume, "volumeName", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, class, "storageClassName", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, modes, "accessModes", KAR_F_ARRAY),
};
static const struct kar_desc spec_desc = KAR_DESC("PersistentVolumeClaimSpec", struct wire_spec, spec_fields);

static const struct kar_field status_fields[] = {
	{ .name = "phase", .type = KAR_F_STRING },
};
static const struct kar_desc status_desc = { .what = "PersistentVolumeClaimStatus",
	.size = sizeof(const char *),
	.fields = status_fields,
	.n_fields = KAR_LEN(status_fields) };

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_claim),
	KAR_FIELD_SUB(struct wire_claim, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_claim, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("PersistentVolumeClaim", struct wire_claim, fields);

static bool is_for_one_pod(const struct kar_array *modes)
{
	const char *const *m = modes->items;

	for (size_t i = 0; i < modes->n; i++) {
		if (kar_streq(m[i], "ReadWriteOncePod"))
			return true;
	}
	return false;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_claim *w = wire;
	struct kar_volumeclaim *c = kar_xcalloc(1, sizeof(*c));

	kar_object_init(&c->o, &kar_volumeclaim_type, &w->head, kar_copy_text(&c->mem, w->head.meta.name),
		kar_copy_text(&c->mem, w->head.meta.uid), strings);
	c->deletion = w->head.meta.deletion;
	c->volume = kar_has_text(w->spec.volume) ? kar_copy_fit(&c->mem, w->spec.volume, KAR_COPY_KEY) : NULL;
	c->class = kar_copy_fit(&c->mem, w->spec.class, KAR_COPY_KEY);
	c->bound = kar_streq(w->status.phase, "Bound");
	c->lost = kar_streq(w->status.phase, "Lost");
	c->one_pod = is_for_one_pod(&w->spec.modes);
	return &c->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_volumeclaim *c = kar_container_of(o, struct kar_volumeclaim, o);

	kar_arena_release(&c->mem);
	free(c);
}

bool kar_volumeclaim_same(const struct kar_volumeclaim *a, const struct kar_volumeclaim *b)
{
	return !a->deletion == !b->deletion && kar_streq(a->volume, b->volume) &&
		kar_streq(a->class, b->class) && a->bound == b->bound && a->lost == b->lost &&
		a->one_pod == b->one_pod;
}

const struct kar_type kar_volumeclaim_type = {
	.res = { .group = "",
		.version = "v1",
		.plural = "persistentvolumeclaims",
		.kind = "PersistentVolumeClaim",
		.namespaced = true },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
};
