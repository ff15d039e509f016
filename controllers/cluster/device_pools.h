/*
 * device_pools - which ResourceSlices count: those of the newest generation of their pool, once all of them are there (KEP-4381).
 *
 * A pool is looked at when one of its slices changes, and remembered. So a change concerns the other slices of a pool only when that
 * becomes complete, incomplete or another one.
 */
#ifndef KAR_DEVICE_POOLS_H
#define KAR_DEVICE_POOLS_H

#include "api/core/resourceslice.h"
#include "common/kube/store.h"

struct kar_device_pools;

/* Both are borrowed, and outlive it. @slices is empty. */
struct kar_device_pools *kar_device_pools_new(struct kar_store *slices,
	struct kar_intern *strings) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_device_pools_free(struct kar_device_pools *p); /* accepts NULL */

/* A slice of the pool has changed. Returns whether others of it count now, or do so no longer. */
bool kar_device_pools_look(struct kar_device_pools *p, const char *pool_key) KAR_NONNULL;
bool kar_device_pools_counts(const struct kar_device_pools *p, const struct kar_resourceslice *s) KAR_NONNULL;

#endif
