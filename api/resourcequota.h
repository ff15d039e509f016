/*
 * resourcequota - core/v1 ResourceQuota: whether a namespace limits its pods, and whether that has changed.
 *
 * Nothing is computed from amounts but that of pods: what fits, the API server says.
 */
#ifndef KAR_API_RESOURCEQUOTA_H
#define KAR_API_RESOURCEQUOTA_H

#include <assert.h>

#include "common/kube/object.h"

struct kar_resourcequota {
	struct kar_object o; /* first */
	bool limits_pods;    /* spec.hard names something that pods are charged for */
	bool scoped;         /* it holds only for some pods */
	bool counts_objects; /* spec.hard names count/pods, which is charged for pods that have ended too */
	/* spec.hard["pods"] or ["count/pods"], the smaller; -1: neither is there, or it is scoped */
	int64_t pods;
	uint64_t enforced; /* hash of status.hard, which is what the API server goes by */
};

enum { KAR_RESOURCEQUOTA_BY_NAMESPACE };
extern const struct kar_type kar_resourcequota_type;

static inline const struct kar_resourcequota *kar_as_resourcequota(const struct kar_object *o)
{
	assert(o && o->type == &kar_resourcequota_type);
	return (const struct kar_resourcequota *)(const void *)o;
}

#endif
