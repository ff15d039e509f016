/*
 * suspendable - the workload of another controller that can be suspended, and controls a group (api/suspendable/suspendable.h). Pure.
 */
#ifndef KAR_CLUSTER_SUSPENDABLE_H
#define KAR_CLUSTER_SUSPENDABLE_H

#include "controllers/cluster/stores.h"

/* That which controls @g, borrowed from the cache; NULL: none does, it names no queue, or it is gone. */
const struct kar_suspendable *kar_suspendable_of(const struct kar_stores *stores,
	const struct kar_podgroup *g) KAR_NONNULL;
/* @fn hears of each change of one, as from kar_store_listen(). */
void kar_suspendable_listen(const struct kar_stores *stores, kar_store_fn *fn, void *arg) KAR_NONNULL;

#endif
