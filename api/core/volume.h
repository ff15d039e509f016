/*
 * volume - core/v1 PersistentVolume: on which nodes it can be used, and whether it waits for a claim.
 */
#ifndef KAR_API_VOLUME_H
#define KAR_API_VOLUME_H

#include <assert.h>

#include "common/codec/decode.h"
#include "common/kube/object.h"
#include "common/sched/needs.h"

struct kar_volume {
	struct kar_object o; /* first */
	struct kar_arena mem;
	const struct kar_pod_needs
		*nodes; /* shared: only .has_terms and .terms; NULL: it can be used everywhere */
	const char
		*class; /* if no claim has it: the StorageClass of claims that may be given it; else NULL */
	const char *driver; /* of CSI; NULL: it is of another kind */
	bool unknown;       /* its node affinity, or labels of its zone, are not modelled in part */
};

/* Secondary indexes of a store of PersistentVolumes. */
enum {
	KAR_VOLUME_FREE_BY_CLASS, /* those that no claim has */
};

extern const struct kar_type kar_volume_type;

static inline const struct kar_volume *kar_as_volume(const struct kar_object *o)
{
	assert(o && o->type == &kar_volume_type);
	return (const struct kar_volume *)(const void *)o;
}

#endif
