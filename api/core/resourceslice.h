/*
 * resourceslice - resource.k8s.io/v1 ResourceSlice: devices that a driver offers on a node, as far as placement asks about them.
 *
 * The slices of one pool are one list. It counts only when all slices of its newest generation are there (KEP-4381).
 */
#ifndef KAR_API_RESOURCESLICE_H
#define KAR_API_RESOURCESLICE_H

#include <assert.h>

#include "common/device/selector.h"
#include "common/codec/decode.h"
#include "common/kube/object.h"

enum { KAR_SLICE_DEVICES = 128 /* of one slice that are kept, as many as the API allows */ };

struct kar_device {
	const char *name;
	struct kar_device_view view; /* what selectors see */
	bool tainted; /* NoSchedule or NoExecute: no pod that asks by an extended resource gets it */
	bool partial; /* it shares counters or capacity with others: how many can be had is not known, only that no more */
};

struct kar_resourceslice {
	struct kar_object o; /* first */
	struct kar_arena mem;
	const char *driver, *pool;
	int64_t generation;
	int64_t pool_slices; /* of this generation */
	const char *pool_key,
		*node_key; /* interned: for the indexes; .node_key: the node, or KAR_SLICE_OF_SEVERAL */
	struct kar_device *devices;
	uint32_t n_devices;
};

enum { KAR_SLICE_BY_POOL, KAR_SLICE_BY_NODE };
#define KAR_SLICE_OF_SEVERAL \
	"*" /* in the place of the name of a node: its devices are of several, or each of its own */
extern const struct kar_type kar_resourceslice_type;

static inline const struct kar_resourceslice *kar_as_resourceslice(const struct kar_object *o)
{
	assert(o && o->type == &kar_resourceslice_type);
	return (const struct kar_resourceslice *)(const void *)o;
}

/* "driver/pool", by which slices of a pool are found. */
const char *kar_pool_key(const char *driver, const char *pool, char out[KAR_KEY_LEN]) KAR_NONNULL KAR_RETNN;
/* Do both offer the same devices in the same place? */
bool kar_resourceslice_same(const struct kar_resourceslice *a, const struct kar_resourceslice *b) KAR_NONNULL;

#endif
