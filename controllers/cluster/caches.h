/*
 * caches - how the stores are filled by the manager, and how a change of a pod enqueues a key of a reconciler.
 */
#ifndef KAR_CACHES_H
#define KAR_CACHES_H

#include "controllers/cluster/stores.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/manager.h"

/* Fills in @out with the caches for the manager, in the order of KAR_STORES. */
void kar_stores_list(const struct kar_stores *s, struct kar_cache out[KAR_N_STORES]) KAR_NONNULL;

/*
 * Like kar_enqueue(), for a change of a pod of @key from @old (NULL: it is new) to @new (NULL: it is gone). Progress (the pod was
 * created or bound, runs or has succeeded) waits for the cool-down of the key (write_rate.h), because each of its pods causes such
 * changes. A loss does not wait.
 */
void kar_enqueue_pod(struct kar_controller *c, const char *key, const struct kar_pod *old,
	const struct kar_pod *new) __attribute__((nonnull(1, 2)));

#endif
