/*
 * deviceclass - resource.k8s.io/v1 DeviceClass: which devices it stands for, and the extended resource by which old pod specs ask for
 * them (KEP-5004).
 */
#ifndef KAR_API_DEVICECLASS_H
#define KAR_API_DEVICECLASS_H

#include <assert.h>

#include "common/codec/decode.h"
#include "common/kube/object.h"

/* Every class has an extended resource of this name and its own. */
#define KAR_DEVICECLASS_PREFIX "deviceclass.resource.kubernetes.io/"

enum { KAR_DEVICECLASS_NAME = sizeof(KAR_DEVICECLASS_PREFIX) + KAR_KEY_LEN };

struct kar_deviceclass {
	struct kar_object o; /* first */
	struct kar_arena mem;
	kar_time creation;
	const char *resource; /* spec.extendedResourceName; NULL: it has none of its own */
	struct kar_array
		selectors; /* const char *, in CEL: a device must match all; NULL: one that is not CEL */
};

extern const struct kar_type kar_deviceclass_type;

/* Do both stand for the same devices, by the same names? */
bool kar_deviceclass_same(const struct kar_deviceclass *a, const struct kar_deviceclass *b) KAR_NONNULL;

static inline const struct kar_deviceclass *kar_as_deviceclass(const struct kar_object *o)
{
	assert(o && o->type == &kar_deviceclass_type);
	return (const struct kar_deviceclass *)(const void *)o;
}

#endif
