/*
 * namespace - a Namespace (v1) as the manager caches it: its labels, which queues select by, and the queue that it names.
 */
#ifndef KAR_API_NAMESPACE_H
#define KAR_API_NAMESPACE_H

#include <assert.h>

#include "common/kube/object.h"

struct kar_namespace {
	struct kar_object o; /* first */
	struct kar_arena mem;
	struct kar_array labels; /* struct kar_pair, sorted by key; bounded (kar_copy_pairs()) */
	/* The queue of groups in it that name none: its label KAR_LABEL_QUEUE, else its annotation of that key; NULL: none. */
	const char *queue;
};

extern const struct kar_type kar_namespace_type;

static inline const struct kar_namespace *kar_as_namespace(const struct kar_object *o)
{
	assert(o && o->type == &kar_namespace_type);
	return (const struct kar_namespace *)(const void *)o;
}

/* Do both say the same about jobs? The status, and annotations that are not ours, do not matter. */
bool kar_namespace_same(const struct kar_namespace *a, const struct kar_namespace *b) KAR_NONNULL;

#endif
