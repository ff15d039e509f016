/*
 * storageclass - storage.k8s.io/v1 StorageClass and CSIDriver: when a volume is made for a claim, and on which nodes that can be.
 */
#ifndef KAR_API_STORAGECLASS_H
#define KAR_API_STORAGECLASS_H

#include <assert.h>

#include "common/codec/decode.h"
#include "common/kube/object.h"
#include "common/sched/needs.h"

struct kar_storageclass {
	struct kar_object o; /* first */
	struct kar_arena mem;
	kar_time creation;
	const char *provisioner;
	const struct kar_pod_needs *nodes; /* shared: allowedTopologies as .terms; NULL: everywhere */
	bool waits;                        /* WaitForFirstConsumer: the scheduler chooses the node first */
	bool is_default;
	bool unknown; /* its topologies are too many to be kept */
};

extern const struct kar_type kar_storageclass_type;

static inline const struct kar_storageclass *kar_as_storageclass(const struct kar_object *o)
{
	assert(o && o->type == &kar_storageclass_type);
	return (const struct kar_storageclass *)(const void *)o;
}

struct kar_csidriver {
	struct kar_object o; /* first */
	struct kar_arena mem;
	bool storage_capacity; /* the scheduler asks how much storage a node can have */
	bool attaches;         /* its volumes are attached to nodes, which may have a limit of them */
};

extern const struct kar_type kar_csidriver_type;

static inline const struct kar_csidriver *kar_as_csidriver(const struct kar_object *o)
{
	assert(o && o->type == &kar_csidriver_type);
	return (const struct kar_csidriver *)(const void *)o;
}

#endif
