/*
 * resourcequota - core/v1 ResourceQuota: whether a namespace limits its pods, and whether the limit has changed.
 *
 * The API server decides whether a pod fits. The amounts only show what can never fit (docs/QUOTA.md).
 */
#ifndef KAR_API_RESOURCEQUOTA_H
#define KAR_API_RESOURCEQUOTA_H

#include <assert.h>

#include "api/template_amounts.h"
#include "common/kube/object.h"

struct kar_resourcequota {
	struct kar_object o; /* first */
	struct kar_arena mem;
	bool limits_pods;    /* spec.hard names a resource that pods use */
	bool scoped;         /* it holds only for some pods */
	bool counts_objects; /* spec.hard names count/pods, which counts pods that have ended too */
	/* spec.hard["pods"] or ["count/pods"], the smaller; -1: neither is there, or it is scoped */
	int64_t pods;
	/* struct kar_quota_amount: spec.hard of what pods ask for, at most KAR_MAX_AMOUNTS; none if it is scoped */
	struct kar_array amounts;
	uint64_t specified; /* hash of spec.hard */
	uint64_t enforced;  /* hash of status.hard, which the API server enforces */
};

enum { KAR_RESOURCEQUOTA_BY_NAMESPACE };
extern const struct kar_type kar_resourcequota_type;

static inline const struct kar_resourcequota *kar_as_resourcequota(const struct kar_object *o)
{
	assert(o && o->type == &kar_resourcequota_type);
	return (const struct kar_resourcequota *)(const void *)o;
}

#endif
