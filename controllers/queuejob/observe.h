/*
 * observe - from the caches to a view of one job.
 */
#ifndef KAR_QUEUEJOB_OBSERVE_H
#define KAR_QUEUEJOB_OBSERVE_H

#include "controllers/controller.h"
#include "controllers/queuejob/queuejob.h"

/*
 * Fills @v for the key and the job (object, may be NULL) of @s; lists live in its arena, objects are borrowed from the stores until they change. False: there
 * is neither a job nor a pod left by one, so the key can be forgotten.
 */
bool queuejob_observe(const struct kar_stores *stores, const struct kar_sync *s, struct kar_arena *arena,
	struct queuejob_view *v) KAR_NONNULL;

/* The place of a job among those that wait for nodes. @v->job is not NULL. */
struct kar_rank queuejob_node_rank(const struct queuejob_view *v) KAR_NONNULL;

#endif
