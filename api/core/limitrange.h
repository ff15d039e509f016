/*
 * limitrange - core/v1 LimitRange: what containers get that set no request or limit of their own.
 *
 * Only its defaults for containers are kept, because they change what a ResourceQuota charges for a pod; a pod as a whole has no
 * defaults, and its minima and maxima are the API server's to enforce.
 */
#ifndef KAR_API_LIMITRANGE_H
#define KAR_API_LIMITRANGE_H

#include <assert.h>

#include "common/codec/decode.h"
#include "common/kube/object.h"

struct kar_limitrange {
	struct kar_object o; /* first */
	struct kar_arena mem;
	/* struct kar_pair, resource and quantity, sorted by resource; bounded (kar_copy_pairs()). Of two items the later one counts. */
	struct kar_array requests, limits;
};

enum { KAR_LIMITRANGE_BY_NAMESPACE };
extern const struct kar_type kar_limitrange_type;

static inline const struct kar_limitrange *kar_as_limitrange(const struct kar_object *o)
{
	assert(o && o->type == &kar_limitrange_type);
	return (const struct kar_limitrange *)(const void *)o;
}

/* Do both give the same to containers? */
bool kar_limitrange_same(const struct kar_limitrange *a, const struct kar_limitrange *b) KAR_NONNULL;

#endif
