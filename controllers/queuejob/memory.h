/*
 * memory - the state that the QueueJob reconciler keeps of a job between two syncs. It is not stored.
 *
 * Above all it remembers which pods of the job the API server accepts; without it, the reconciler would have to ask again for
 * each task. Only a job that waits, or that had a pod refused as invalid, has such a memory. It holds for one UID and for one
 * version of the pod templates: queuejob_refresh_memory() drops it when either changes.
 */
#ifndef KAR_QUEUEJOB_MEMORY_H
#define KAR_QUEUEJOB_MEMORY_H

#include <assert.h>

#include "controllers/cluster/stores.h"
#include "controllers/runtime/controller.h"
#include "controllers/queuejob/queuejob.h"

struct queuejob_memory {
	char uid[64];         /* of the job */
	uint64_t pods;        /* hash of those parts of its spec that become part of a pod */
	uint64_t passed;      /* bit per task: the API server accepts its pods */
	kar_time waits_since; /* mono; 0: it does not wait */
	/* The API server's reason for refusing the pods of .task; NULL: it has refused none */
	char *message;
	bool forbidden; /* the template is valid, but a replacement may not be created now: pods that run are not given up */
	size_t task;
	int64_t generation; /* of the job that .tries and .retry_at hold for */
	unsigned tries;     /* failed ones in a row */
	kar_time retry_at;  /* mono: the earliest time of the next dry run */
};

/* kar_key_state.memory of this reconciler. */
struct queuejob_key {
	struct queuejob_memory *job; /* owned; NULL: nothing is remembered */
	struct kar_pod_renderer
		*renderer;     /* of the pods that the key is creating (pod_renderer.h); owned; NULL: none */
	int32_t owner_checked; /* incarnation for which the job was last read from the API server */
	uint64_t owner_uid;    /* hash of its UID then: another job may have got the name since */
	kar_rv owner_latest;  /* cached version that proved to be the latest when the job was read; 0: none */
	kar_time owner_asked; /* mono, of the last such request; 0: never */
	kar_rv owner_asked_pods;  /* version of the cache of pods at the last such request */
	kar_rv owner_latest_pods; /* and at the one that .owner_latest is from */
	kar_rv status_rv;         /* version of the job that our last status write made; 0: none */
	kar_time status_written;  /* mono, of that write */
	int32_t allowed;     /* pods that the queue allowed when the plan was made; INT32_MAX: any number */
	uint64_t native_uid; /* hash of the UID of the job whose PodGroup of Kubernetes exists; 0: none */
	int32_t native_min;  /* its minCount; 0: not known */
	kar_time
		mark_refused; /* mono, of the last condition DisruptionTarget that was refused; 0: none was */
	uint64_t deleted_uid; /* hash of the UID of the job that we have deleted; 0: none */
};

/* kar_controller.shared of this reconciler, from start() to stop(). */
struct queuejob_shared {
	bool old_crd_reported; /* that the CRD drops status.record */
};

/* Returns the job of @s, which must exist. */
static inline const struct kar_queuejob *queuejob_of(const struct kar_sync *s)
{
	assert(s->object);
	return kar_as_queuejob(s->object);
}

static inline struct queuejob_key *queuejob_key(const struct kar_sync *s)
{
	return s->state->memory;
}

static inline struct queuejob_shared *queuejob_shared(const struct kar_controller *c)
{
	return c->shared;
}

/* Returns the memory of the job of @s (not NULL), up to date; makes one if there is none. */
struct queuejob_memory *queuejob_remember(const struct kar_sync *s) KAR_NONNULL KAR_RETNN;
/* Returns the memory of the job of @s (not NULL), up to date; NULL if nothing is remembered. */
struct queuejob_memory *queuejob_recall(const struct kar_sync *s) KAR_NONNULL;
/* See struct kar_controller. */
void queuejob_forget(void *memory) KAR_NONNULL;

/* The API server has accepted a pod of task number @task, or a dry run of one. */
void queuejob_remember_passed(struct queuejob_memory *m, size_t task) KAR_NONNULL;
/* The create of @pod, or its dry run, failed at @mono while the job had @generation. */
void queuejob_remember_refused(struct queuejob_memory *m, const struct queuejob_new_pod *pod,
	int64_t generation, const struct kar_err *err, kar_time mono) KAR_NONNULL;

/*
 * Brings the memory up to date with the job of @s; call it before observing. @waits: the job is suspended or not admitted, so it
 * gets a memory if it has none, with the time since when it waits.
 */
void queuejob_refresh_memory(const struct kar_sync *s, bool waits) KAR_NONNULL;
/* Is the verdict about a task of the job of @s wanted by the pass of queues (controllers/cluster/templates.h)? */
bool queuejob_is_asked(struct kar_templates *t, const struct kar_sync *s) KAR_NONNULL;
/* Takes over what the API server has said of the same templates of other jobs. Call it after queuejob_refresh_memory(). */
void queuejob_import_verdicts(struct kar_templates *t, const struct kar_sync *s) KAR_NONNULL;
/* Adds to @check when others have asked about the same templates, and that the pass of queues wants to know at once. */
void queuejob_share_check(struct kar_templates *t, const struct kar_sync *s,
	struct queuejob_check *check) KAR_NONNULL;
/* Shares the answer to the create of @pod, or to its dry run: @err, or (NULL) it was accepted, and is stored as @stored (NULL: unknown). */
void queuejob_share_answer(struct kar_templates *t, const struct kar_sync *s,
	const struct queuejob_new_pod *pod, const struct kar_err *err, const struct kar_pod_stored *stored)
	__attribute__((nonnull(1, 2, 3)));
/* Returns what a decision at @mono may know of @m (NULL: nothing is remembered). */
struct queuejob_check queuejob_check_of(const struct queuejob_memory *m, kar_time mono);

#endif
