/*
 * volumeclaim - core/v1 PersistentVolumeClaim: which volume it has, or which StorageClass makes one for it.
 */
#ifndef KAR_API_VOLUMECLAIM_H
#define KAR_API_VOLUMECLAIM_H

#include <assert.h>

#include "common/codec/decode.h"
#include "common/kube/object.h"

struct kar_volumeclaim {
	struct kar_object o; /* first */
	struct kar_arena mem;
	kar_time deletion;  /* 0: it is not being deleted */
	const char *volume; /* which it has, or is to have; NULL: none yet */
	const char *class;  /* spec.storageClassName; NULL: the default class is written there; "": none */
	bool bound, lost;   /* status.phase */
	bool one_pod;       /* ReadWriteOncePod: only one pod may use it at a time */
};

extern const struct kar_type kar_volumeclaim_type;

/* Do both say the same about the nodes that a pod can have with it? */
bool kar_volumeclaim_same(const struct kar_volumeclaim *a, const struct kar_volumeclaim *b) KAR_NONNULL;

static inline const struct kar_volumeclaim *kar_as_volumeclaim(const struct kar_object *o)
{
	assert(o && o->type == &kar_volumeclaim_type);
	return (const struct kar_volumeclaim *)(const void *)o;
}

#endif
