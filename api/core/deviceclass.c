#include "api/core/deviceclass.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/device/selector.h"

struct wire_cel {
	const char *expression;
};

struct wire_selector {
	struct wire_cel cel;
};

struct wire_spec {
	struct kar_array selectors; /* struct wire_selector */
	const char *resource;
};

struct wire_deviceclass {
	struct kar_wire_object head;
	struct wire_spec spec;
};

static const struct kar_field cel_fields[] = {
	KAR_FIELD(struct wire_cel, expression, "expression", KAR_F_STRING),
};
static const struct kar_desc cel_desc = KAR_DESC("CELDeviceSelector", struct wire_cel, cel_fields);

static const struct kar_field selector_fields[] = {
	KAR_FIELD_SUB(struct wire_selector, cel, "cel", KAR_F_OBJECT, &cel_desc),
};
static const struct kar_desc selector_desc =
	KAR_DESC("DeviceSelector", struct wire_selector, selector_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_SUB(struct wire_spec, selectors, "selectors", KAR_F_ARRAY, &selector_desc),
	KAR_FIELD(struct wire_spec, resource, "extendedResourceName", KAR_F_STRING),
};
static const struct kar_desc spec_desc = KAR_DESC("DeviceClassSpec", struct wire_spec, spec_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_deviceclass),
	KAR_FIELD_SUB(struct wire_deviceclass, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("DeviceClass", struct wire_deviceclass, fields);

static struct kar_array copy_selectors(const struct kar_array *from, struct kar_arena *mem)
{
	const struct wire_selector *s = from->items;
	const char **out = kar_arena_alloc(mem, from->n + 1, sizeof(*out));

	for (size_t i = 0; i < from->n; i++)
		out[i] = kar_copy_fit(mem, s[i].cel.expression, KAR_SELECTOR_BYTES + 1);
	return (struct kar_array){ .items = out, .n = from->n };
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_deviceclass *w = wire;
	struct kar_deviceclass *c = kar_xcalloc(1, sizeof(*c));

	kar_object_init(&c->o, &kar_deviceclass_type, &w->head, kar_copy_text(&c->mem, w->head.meta.name),
		kar_copy_text(&c->mem, w->head.meta.uid), strings);
	c->creation = w->head.meta.creation;
	c->resource = kar_copy_fit(&c->mem, w->spec.resource, KAR_COPY_KEY);
	c->selectors = copy_selectors(&w->spec.selectors, &c->mem);
	return &c->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_deviceclass *c = kar_container_of(o, struct kar_deviceclass, o);

	kar_arena_release(&c->mem);
	free(c);
}

bool kar_deviceclass_same(const struct kar_deviceclass *a, const struct kar_deviceclass *b)
{
	const char *const *x = a->selectors.items, *const *y = b->selectors.items;

	if (a->creation != b->creation || !kar_streq(a->resource, b->resource) ||
		a->selectors.n != b->selectors.n)
		return false;
	for (size_t i = 0; i < a->selectors.n; i++) {
		if (!kar_streq(x[i], y[i]))
			return false;
	}
	return true;
}

const struct kar_type kar_deviceclass_type = {
	.res = { .group = "resource.k8s.io",
		.version = "v1",
		.plural = "deviceclasses",
		.kind = "DeviceClass",
		.namespaced = false },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
};
