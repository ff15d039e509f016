/*
 * resourceclaimtemplate - resource.k8s.io/v1 ResourceClaimTemplate: what the claim that is made of it for a pod asks for.
 */
#ifndef KAR_API_RESOURCECLAIMTEMPLATE_H
#define KAR_API_RESOURCECLAIMTEMPLATE_H

#include <assert.h>

#include "api/core/devicerequests.h"
#include "common/kube/object.h"

struct kar_resourceclaimtemplate {
	struct kar_object o; /* first */
	struct kar_arena mem;
	struct kar_device_requests requests;
};

extern const struct kar_type kar_resourceclaimtemplate_type;

static inline const struct kar_resourceclaimtemplate *kar_as_resourceclaimtemplate(const struct kar_object *o)
{
	assert(o && o->type == &kar_resourceclaimtemplate_type);
	return (const struct kar_resourceclaimtemplate *)(const void *)o;
}

#endif
