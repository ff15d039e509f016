/*
 * flavors - the Flavors of the cache. Pure.
 */
#ifndef KAR_CLUSTER_FLAVORS_H
#define KAR_CLUSTER_FLAVORS_H

#include "api/core/flavor.h"
#include "common/kube/store.h"

/* All that can be read, in any order, in *@out (in @a). */
uint32_t kar_flavors_list(const struct kar_store *flavors, struct kar_arena *a,
	const struct kar_flavor ***out) KAR_NONNULL;
/* NULL: there is none of that name ("": none is asked for), or it cannot be read. */
const struct kar_flavor *kar_flavor_named(const struct kar_store *flavors, const char *name)
	__attribute__((nonnull(1)));

#endif
