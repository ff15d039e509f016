/*
 * observe - collects from the caches everything that one decision about a job may use. Observing has no side effects.
 */
#ifndef KAR_QUEUEJOB_OBSERVE_H
#define KAR_QUEUEJOB_OBSERVE_H

#include "controllers/cluster/stores.h"
#include "controllers/queuejob/queuejob.h"
#include "controllers/runtime/controller.h"

/*
 * Fills in @v for the key and the job (.object, may be NULL) of @s. Lists are in @arena; objects are borrowed from @stores until
 * they change. Returns false if the key can be forgotten, because there is neither a job nor a pod without its job.
 */
bool queuejob_observe(const struct kar_stores *stores, const struct kar_sync *s, struct kar_arena *arena,
	struct queuejob_view *v) KAR_NONNULL;

/* Is an object unreadable that the decision would depend on? Then nothing may be decided. */
bool queuejob_view_is_unreadable(const struct queuejob_view *v) KAR_NONNULL;

/* Does the job of @s (NULL: no) wait because it is suspended, follows others, or its queue has not admitted its PodGroup? */
bool queuejob_waits(const struct kar_stores *stores, const struct kar_sync *s) KAR_NONNULL;

/* Fills in what @v, whose job and group are there, says about jobs of spec.after; in @arena (observe_after.c). */
void queuejob_observe_after(const struct kar_stores *stores, struct kar_arena *arena,
	struct queuejob_view *v) KAR_NONNULL;
/* Does spec.after of @job name @name? */
bool queuejob_names(const struct kar_queuejob *job, const char *name) KAR_NONNULL;

/* The rank of the job among the gangs that wait for nodes. @v->job is not NULL. */
struct kar_rank queuejob_node_rank(const struct queuejob_view *v) KAR_NONNULL;

#endif
