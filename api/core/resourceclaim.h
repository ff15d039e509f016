/*
 * resourceclaim - resource.k8s.io/v1 ResourceClaim: the devices that are allocated to it, and whose it is.
 */
#ifndef KAR_API_RESOURCECLAIM_H
#define KAR_API_RESOURCECLAIM_H

#include <assert.h>

#include "common/codec/decode.h"
#include "common/kube/object.h"
#include "common/sched/needs.h"

struct kar_claimed_device {
	const char *pool_key; /* of kar_pool_key(); interned */
	const char *device;   /* interned */
};

enum { KAR_CLAIM_DEVICES = 128 /* that are kept, four times as many as the API allows */ };

struct kar_resourceclaim {
	struct kar_object o; /* first */
	struct kar_arena mem;
	/* Of one that kube-scheduler made because a pod asks for an extended resource: the requests of the pod count already. */
	bool by_extended_resource;
	bool allocated;
	bool reserved; /* some pod has it; of one that none has kube-scheduler may choose the devices anew */
	bool unknown_nodes; /* a part of where its devices can be used is not read */
	const struct kar_pod_needs
		*nodes; /* shared: where they can be used, only .has_terms and .terms; NULL: everywhere */
	const char *
		pod_uid; /* interned: of the pod that it was made for by a template; NULL: somebody made it himself */
	/* With administrator's access a claim has a device beside others: such ones are left out. */
	struct kar_claimed_device *devices;
	uint32_t n_devices;
};

enum { KAR_CLAIM_BY_POD }; /* .pod_uid */
extern const struct kar_type kar_resourceclaim_type;

static inline const struct kar_resourceclaim *kar_as_resourceclaim(const struct kar_object *o)
{
	assert(o && o->type == &kar_resourceclaim_type);
	return (const struct kar_resourceclaim *)(const void *)o;
}

#endif
