/*
 * world - caches with one large QueueJob in them, and its reconciler, for hack/bench/sync.
 */
#ifndef KAR_BENCH_SYNC_WORLD_H
#define KAR_BENCH_SYNC_WORLD_H

#include "controllers/cluster/stores.h"

enum world_pod {
	WORLD_NONE, /* missing */
	WORLD_PENDING,
	WORLD_RUNNING,
	WORLD_SUCCEEDED,
	WORLD_FAILED,
	WORLD_LEAVING, /* Running, with a deletionTimestamp */
};

struct world {
	struct kar_intern *strings;
	struct kar_stores stores;
	struct kar_controller controller;
	struct kar_key_state state;
	struct kar_sync sync;
	int32_t pods;
};

/* The job wants @pods pods. */
void world_init(struct world *w, int32_t pods) KAR_NONNULL;
/* Stores the job: @replicas wanted, quorum @min, members of its status and of its record as JSON (",..." or ""). */
void world_job(struct world *w, int32_t replicas, int32_t min, const char *phase, const char *more,
	const char *record) KAR_NONNULL;
/* Stores the pod of @index. */
void world_pod(struct world *w, int32_t index, enum world_pod as) KAR_NONNULL;
/* One sync of the job, with the body of its status write. Measured: nothing else of a bench is. */
void world_sync(struct world *w) KAR_NONNULL;
/* The measured part of one change of a pod: from the cached object to the waiting key. */
void world_change(struct world *w, struct kar_object *pod) KAR_NONNULL;
/* The object that world_pod() would store. */
struct kar_object *world_make_pod(struct world *w, int32_t index, enum world_pod as) KAR_NONNULL KAR_RETNN;

#endif
