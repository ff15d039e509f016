#include "api/core/resourceslice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/core/device_values.h"
#include "common/base/mem.h"
#include "common/base/str.h"

struct wire_taint {
	const char *effect;
};

/* Something that is only asked whether it is there. */
struct wire_present {
	char unused;
};

struct wire_device {
	const char *name;
	struct kar_str attributes, capacity; /* JSON objects */
	struct kar_array taints;             /* struct wire_taint */
	struct kar_array counters;           /* struct wire_present */
	bool several;
};

struct wire_pool {
	const char *name;
	int64_t generation, slices;
};

struct wire_spec {
	const char *driver, *node;
	struct wire_pool pool;
	struct kar_array devices; /* struct wire_device */
};

struct wire_slice {
	struct kar_wire_object head;
	struct wire_spec spec;
};

static const struct kar_field taint_fields[] = {
	KAR_FIELD(struct wire_taint, effect, "effect", KAR_F_STRING),
};
static const struct kar_desc taint_desc = KAR_DESC("DeviceTaint", struct wire_taint, taint_fields);

static const struct kar_desc present_desc = { .what = "value", .size = sizeof(struct wire_present) };

static const struct kar_field device_fields[] = {
	KAR_FIELD(struct wire_device, name, "name", KAR_F_STRING),
	KAR_FIELD(struct wire_device, attributes, "attributes", KAR_F_RAW),
	KAR_FIELD(struct wire_device, capacity, "capacity", KAR_F_RAW),
	KAR_FIELD_SUB(struct wire_device, taints, "taints", KAR_F_ARRAY, &taint_desc),
	KAR_FIELD_SUB(struct wire_device, counters, "consumesCounters", KAR_F_ARRAY, &present_desc),
	KAR_FIELD(struct wire_device, several, "allowMultipleAllocations", KAR_F_BOOL),
};
static const struct kar_desc device_desc = KAR_DESC("Device", struct wire_device, device_fields);

static const struct kar_field pool_fields[] = {
	KAR_FIELD(struct wire_pool, name, "name", KAR_F_STRING),
	KAR_FIELD(struct wire_pool, generation, "generation", KAR_F_INT64),
	KAR_FIELD(struct wire_pool, slices, "resourceSliceCount", KAR_F_INT64),
};
static const struct kar_desc pool_desc = KAR_DESC("ResourcePool", struct wire_pool, pool_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, driver, "driver", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, node, "nodeName", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_spec, pool, "pool", KAR_F_OBJECT, &pool_desc),
	KAR_FIELD_SUB(struct wire_spec, devices, "devices", KAR_F_ARRAY, &device_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("ResourceSliceSpec", struct wire_spec, spec_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_slice),
	KAR_FIELD_SUB(struct wire_slice, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("ResourceSlice", struct wire_slice, fields);

const char *kar_pool_key(const char *driver, const char *pool, char out[KAR_KEY_LEN])
{
	snprintf(out, KAR_KEY_LEN, "%s/%s", driver, pool);
	return out;
}

static bool is_tainted(const struct kar_array *taints)
{
	const struct wire_taint *t = taints->items;

	for (size_t i = 0; i < taints->n; i++) {
		if (kar_streq(t[i].effect, "NoSchedule") || kar_streq(t[i].effect, "NoExecute"))
			return true;
	}
	return false;
}

static void read_device(struct kar_resourceslice *s, const struct wire_device *w, struct kar_device *out)
{
	uint32_t left = KAR_DEVICE_ATTRIBUTES;

	*out = (struct kar_device){ .name = w->name ? kar_copy_fit(&s->mem, w->name, KAR_COPY_NAME) : "",
		.tainted = is_tainted(&w->taints),
		.partial = w->counters.n > 0 || w->several };
	out->view.driver = s->driver;
	out->view.attributes =
		kar_device_values_read(w->attributes, left, s->o.strings, &s->mem, &out->view.n_attributes);
	left -= out->view.n_attributes;
	out->view.capacity =
		kar_device_values_read(w->capacity, left, s->o.strings, &s->mem, &out->view.n_capacity);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_slice *w = wire;
	const struct wire_device *devices = w->spec.devices.items;
	struct kar_resourceslice *s = kar_xcalloc(1, sizeof(*s));
	char key[KAR_KEY_LEN];

	kar_object_init(&s->o, &kar_resourceslice_type, &w->head, kar_copy_text(&s->mem, w->head.meta.name),
		kar_copy_text(&s->mem, w->head.meta.uid), strings);
	s->driver = w->spec.driver ? kar_copy_fit(&s->mem, w->spec.driver, KAR_COPY_NAME) : "";
	s->pool = w->spec.pool.name ? kar_copy_fit(&s->mem, w->spec.pool.name, KAR_COPY_NAME) : "";
	s->generation = w->spec.pool.generation;
	s->pool_slices = w->spec.pool.slices;
	s->pool_key = kar_intern_get(strings, kar_pool_key(s->driver, s->pool, key));
	s->node_key = kar_intern_fit(strings,
		kar_has_text(w->spec.node) ? w->spec.node : KAR_SLICE_OF_SEVERAL, KAR_COPY_NAME);
	s->n_devices = (uint32_t)kar_clamp((int64_t)w->spec.devices.n, 0, KAR_SLICE_DEVICES);
	s->devices = kar_arena_alloc(&s->mem, s->n_devices + 1, sizeof(*s->devices));
	for (uint32_t i = 0; i < s->n_devices; i++)
		read_device(s, &devices[i], &s->devices[i]);
	return &s->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct kar_resourceslice *s = kar_container_of(o, struct kar_resourceslice, o);

	for (uint32_t i = 0; i < s->n_devices; i++) {
		kar_device_values_release(s->devices[i].view.attributes, s->devices[i].view.n_attributes,
			strings);
		kar_device_values_release(s->devices[i].view.capacity, s->devices[i].view.n_capacity,
			strings);
	}
	kar_intern_put(strings, s->pool_key);
	kar_intern_put(strings, s->node_key);
	kar_arena_release(&s->mem);
	free(s);
}

static const char *index_key(const struct kar_object *o, int i)
{
	const struct kar_resourceslice *s = kar_as_resourceslice(o);

	return i == KAR_SLICE_BY_POOL ? s->pool_key : s->node_key;
}

const struct kar_type kar_resourceslice_type = {
	.res = { .group = "resource.k8s.io",
		.version = "v1",
		.plural = "resourceslices",
		.kind = "ResourceSlice",
		.namespaced = false },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
	.n_index = 2,
};

static bool same_device(const struct kar_device *a, const struct kar_device *b)
{
	return kar_streq(a->name, b->name) && a->tainted == b->tainted && a->partial == b->partial &&
		kar_device_values_same(a->view.attributes, a->view.n_attributes, b->view.attributes,
			b->view.n_attributes) &&
		kar_device_values_same(a->view.capacity, a->view.n_capacity, b->view.capacity,
			b->view.n_capacity);
}

bool kar_resourceslice_same(const struct kar_resourceslice *a, const struct kar_resourceslice *b)
{
	if (a->pool_key != b->pool_key || a->node_key != b->node_key || a->generation != b->generation ||
		a->pool_slices != b->pool_slices || a->n_devices != b->n_devices)
		return false;
	for (uint32_t i = 0; i < a->n_devices; i++) {
		if (!same_device(&a->devices[i], &b->devices[i]))
			return false;
	}
	return true;
}
