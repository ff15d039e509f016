/*
 * priorityclass - scheduling.k8s.io/v1 PriorityClass: a name for a number.
 */
#ifndef KAR_API_PRIORITYCLASS_H
#define KAR_API_PRIORITYCLASS_H

#include <assert.h>

#include "common/kube/object.h"

struct kar_priorityclass {
	struct kar_object o; /* first */
	int32_t value;
	bool global_default;
	bool never_preempts; /* preemptionPolicy Never: who has it takes room from nobody */
};

extern const struct kar_type kar_priorityclass_type;

static inline const struct kar_priorityclass *kar_as_priorityclass(const struct kar_object *o)
{
	assert(o && o->type == &kar_priorityclass_type);
	return (const struct kar_priorityclass *)(const void *)o;
}

#endif
