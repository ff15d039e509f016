#include "api/core/resourceclaim.h"

#include <stdlib.h>

#include "api/copy.h"
#include "api/core/resourceslice.h"
#include "api/pod/pod_needs.h"
#include "api/pod/pod_wire.h"
#include "common/base/mem.h"
#include "common/base/str.h"

#define BY_EXTENDED_RESOURCE "resource.kubernetes.io/extended-resource-claim"

struct wire_result {
	const char *driver, *pool, *device;
	bool admin;
};

struct wire_devices {
	struct kar_array results; /* struct wire_result */
};

struct wire_allocation {
	struct wire_devices devices;
	const struct pod_wire_node_terms *nodes;
};

/* Something that is only asked whether it is there. */
struct wire_present {
	char unused;
};

struct wire_status {
	const struct wire_allocation *allocation;
	struct kar_array reserved; /* struct wire_present */
};

struct wire_claim {
	struct kar_wire_object head;
	struct wire_status status;
};

static const struct kar_field result_fields[] = {
	KAR_FIELD(struct wire_result, driver, "driver", KAR_F_STRING),
	KAR_FIELD(struct wire_result, pool, "pool", KAR_F_STRING),
	KAR_FIELD(struct wire_result, device, "device", KAR_F_STRING),
	KAR_FIELD(struct wire_result, admin, "adminAccess", KAR_F_BOOL),
};
static const struct kar_desc result_desc =
	KAR_DESC("DeviceRequestAllocationResult", struct wire_result, result_fields);

static const struct kar_field devices_fields[] = {
	KAR_FIELD_SUB(struct wire_devices, results, "results", KAR_F_ARRAY, &result_desc),
};
static const struct kar_desc devices_desc =
	KAR_DESC("DeviceAllocationResult", struct wire_devices, devices_fields);

static const struct kar_field allocation_fields[] = {
	KAR_FIELD_SUB(struct wire_allocation, devices, "devices", KAR_F_OBJECT, &devices_desc),
	KAR_FIELD_SUB(struct wire_allocation, nodes, "nodeSelector", KAR_F_OBJECT_PTR,
		&pod_wire_node_terms_desc),
};
static const struct kar_desc allocation_desc =
	KAR_DESC("AllocationResult", struct wire_allocation, allocation_fields);

static const struct kar_desc present_desc = { .what = "object", .size = sizeof(struct wire_present) };

static const struct kar_field status_fields[] = {
	KAR_FIELD_SUB(struct wire_status, allocation, "allocation", KAR_F_OBJECT_PTR, &allocation_desc),
	KAR_FIELD_SUB(struct wire_status, reserved, "reservedFor", KAR_F_ARRAY, &present_desc),
};
static const struct kar_desc status_desc = KAR_DESC("ResourceClaimStatus", struct wire_status, status_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_claim),
	KAR_FIELD_SUB(struct wire_claim, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("ResourceClaim", struct wire_claim, fields);

static void read_devices(struct kar_resourceclaim *c, const struct kar_array *results)
{
	const struct wire_result *r = results->items;
	char key[KAR_KEY_LEN];

	c->devices = kar_arena_alloc(&c->mem, results->n + 1, sizeof(*c->devices));
	for (size_t i = 0; i < results->n && c->n_devices < KAR_CLAIM_DEVICES; i++) {
		if (r[i].admin || !r[i].driver || !r[i].pool || !kar_has_text(r[i].device))
			continue;
		c->devices[c->n_devices++] =
			(struct kar_claimed_device){ .pool_key = kar_intern_get(c->o.strings,
							     kar_pool_key(r[i].driver, r[i].pool, key)),
				.device = kar_intern_fit(c->o.strings, r[i].device, KAR_COPY_NAME) };
	}
}

static void read_allocation(struct kar_resourceclaim *c, const struct wire_allocation *w,
	struct kar_intern *strings)
{
	struct kar_arena scratch = { 0 };
	struct kar_pod_needs nodes = { 0 };

	read_devices(c, &w->devices.results);
	if (w->nodes)
		c->unknown_nodes = !kar_node_terms(w->nodes, &scratch, &nodes) ||
			kar_shape_bytes(&kar_needs_shape, &nodes) > KAR_POD_NEEDS_BYTES;
	if (!c->unknown_nodes && nodes.has_terms)
		c->nodes = kar_share_get(strings, &kar_needs_shape, &nodes);
	kar_arena_release(&scratch);
}

static const char *pod_of(const struct kar_wire_meta *m, struct kar_intern *strings)
{
	const struct kar_wire_owner *o = kar_wire_controller(m);

	return o && kar_streq(o->kind, "Pod") && kar_streq(o->api_version, "v1")
		? kar_intern_fit(strings, o->uid, KAR_COPY_UID)
		: NULL;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_claim *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	struct kar_resourceclaim *c = kar_xcalloc(1, sizeof(*c));

	kar_object_init(&c->o, &kar_resourceclaim_type, &w->head, kar_copy_text(&c->mem, m->name),
		kar_copy_text(&c->mem, m->uid), strings);
	c->by_extended_resource = kar_streq(kar_pairs_get(&m->annotations, BY_EXTENDED_RESOURCE), "true");
	c->pod_uid = pod_of(m, strings);
	c->allocated = w->status.allocation != NULL;
	c->reserved = w->status.reserved.n > 0;
	if (c->allocated)
		read_allocation(c, w->status.allocation, strings);
	return &c->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct kar_resourceclaim *c = kar_container_of(o, struct kar_resourceclaim, o);

	for (uint32_t i = 0; i < c->n_devices; i++) {
		kar_intern_put(strings, c->devices[i].pool_key);
		kar_intern_put(strings, c->devices[i].device);
	}
	kar_intern_put(strings, c->pod_uid);
	kar_share_put(strings, c->nodes);
	kar_arena_release(&c->mem);
	free(c);
}

static const char *index_key(const struct kar_object *o, int i)
{
	assert(i == KAR_CLAIM_BY_POD);
	return kar_as_resourceclaim(o)->pod_uid;
}

const struct kar_type kar_resourceclaim_type = {
	.res = { .group = "resource.k8s.io",
		.version = "v1",
		.plural = "resourceclaims",
		.kind = "ResourceClaim",
		.namespaced = true },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
	.n_index = 1,
};
