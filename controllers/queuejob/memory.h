/*
 * memory - what the QueueJob reconciler remembers of a job between two syncs, in memory only: which of its pods the API
 * server would take, and a Service that it cannot see. Losing it costs a request for each.
 *
 * Only jobs that need it have one: those that wait, and those of whose pods one was refused as invalid. What it says is
 * about one UID, and about pods as the job specifies them; of other ones nothing is known.
 */
#ifndef KAR_QUEUEJOB_MEMORY_H
#define KAR_QUEUEJOB_MEMORY_H

#include "controllers/controller.h"
#include "controllers/queuejob/queuejob.h"

struct queuejob_memory {
	char uid[64];         /* of the job that this is about */
	uint64_t pods;        /* hash of all in its spec that goes into a pod */
	uint64_t passed;      /* bit per task: the API server has nothing against a pod of it */
	kar_time waits_since; /* mono; 0: it does not wait */
	/* Why the pod of a task is invalid, in the API server's words; NULL: none is known to be */
	char *message;
	bool forbidden; /* it is not, but may not be created now: no reason to give up what runs */
	size_t task;
	int64_t generation; /* of the job then */
	unsigned tries;     /* in a row without a pass */
	kar_time retry_at;  /* mono: not asked before */
	char service[64];   /* UID of the job's Service that lost our label; "": none is known */
};

/* Of the job of @s as it is now, which is not NULL; a new one if there was none. */
struct queuejob_memory *queuejob_remember(const struct kar_sync *s) KAR_NONNULL KAR_RETNN;
/* The same, but NULL if nothing is remembered. */
struct queuejob_memory *queuejob_recall(const struct kar_sync *s) KAR_NONNULL;
/* See struct kar_controller. */
void queuejob_forget(struct kar_key_state *state) KAR_NONNULL;

/* The API server takes, or would take, a pod of task number @task. */
void queuejob_note_passed(struct queuejob_memory *m, size_t task) KAR_NONNULL;
/* The create of @pod, or its dry run, failed at @mono while the job had @generation. */
void queuejob_note_refused(struct queuejob_memory *m, const struct queuejob_new_pod *pod, int64_t generation,
	const struct kar_err *err, kar_time mono) KAR_NONNULL;

/* What is remembered as the decision sees it. @waits: the job is suspended, or its queue has told it to wait. */
struct queuejob_check queuejob_check_of(const struct kar_sync *s, bool waits) KAR_NONNULL;

#endif
