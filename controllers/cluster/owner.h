/*
 * owner - which workload controls a group or a pod, whatever its kind (controllers/workload.h).
 */
#ifndef KAR_OWNER_H
#define KAR_OWNER_H

#include "controllers/cluster/stores.h"
#include "controllers/workload.h"

/* The workload that controls @g, readable or not; borrowed from the cache. NULL: none of our kinds does, or it is gone. */
const struct kar_object *kar_owner_of(const struct kar_stores *stores,
	const struct kar_podgroup *g) KAR_NONNULL;
/* Likewise of a pod. */
const struct kar_object *kar_owner_of_pod(const struct kar_stores *stores,
	const struct kar_pod *pod) KAR_NONNULL;
/* The kind of @o, a workload. */
const struct kar_workload_kind *kar_owner_kind(const struct kar_object *o) KAR_NONNULL KAR_RETNN;
/* What @o, a workload, says of itself; of NULL, nothing: all is 0. */
struct kar_workload kar_owner_describe(const struct kar_object *o);
/* @fn hears of each change of a workload, as from kar_store_listen(). */
void kar_owner_listen(const struct kar_stores *stores, kar_store_fn *fn, void *arg) KAR_NONNULL;
/* The cache of the kind of @o, a workload. */
const struct kar_store *kar_owner_store(const struct kar_stores *stores,
	const struct kar_object *o) KAR_NONNULL KAR_RETNN;

#endif
