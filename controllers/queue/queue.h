/*
 * queue - the Queue reconciler: orders all waiting PodGroups and admits whole gangs (design queue.md).
 *
 * One pure pass plan(snapshot) -> decisions: deterministic, independent of the order of its input, and
 * plan(plan(x)) = plan(x). This version admits by queue state, maxJobs, priority and age; capacity, fairness and
 * elasticity enter the same pass later (research section 3.6). Counts are recomputed every pass.
 */
#ifndef KAR_QUEUE_RECONCILER_H
#define KAR_QUEUE_RECONCILER_H

#include "api/types.h"
#include "controllers/plan.h"

/* What a group may ask of its queue. */
enum queue_claim {
	QUEUE_CLAIM_ALIVE,     /* to be admitted, or to stay so */
	QUEUE_CLAIM_NONE,      /* nothing: it is being deleted, or its owner is, or is gone */
	QUEUE_CLAIM_SUSPENDED, /* nothing, until its owner is resumed */
	QUEUE_CLAIM_INVALID,   /* nothing, until somebody mends its owner: none of its pods can exist */
	QUEUE_CLAIM_FINISHED,  /* nothing any more: its work is over, it is only counted */
};

/* One PodGroup as the pass sees it. */
struct queue_group {
	const struct kar_podgroup *group;
	int32_t priority; /* resolved */
	bool admitted;    /* condition Admitted is True now */
	enum queue_claim claim;
};

struct queue_snapshot {
	const struct kar_queue **queues;
	size_t n_queues;
	struct queue_group *groups;
	size_t n_groups;
};

/* Why a group waits (one enum; the text is made from it). */
enum queue_reason {
	QUEUE_ADMITTED,
	QUEUE_NOT_FOUND,   /* QueueNotFound */
	QUEUE_CLOSED,      /* QueueClosed */
	QUEUE_MAX_JOBS,    /* QueueCapability: maxJobs reached */
	QUEUE_BEHIND_HEAD, /* HeadReserved: StrictFIFO, the job before it must go first */
	QUEUE_NOT_WAITING, /* suspended, finished or being deleted */
	QUEUE_JOB_INVALID, /* JobInvalid: its pods are impossible, see controllers/queuejob/valid.c */
};
const char *queue_reason_name(enum queue_reason r) KAR_RETNN; /* CamelCase, as in conditions */

struct queue_decision {
	enum queue_reason reason;
	int32_t position; /* among the waiting groups of its queue, 1 = next; 0: not waiting */
	int32_t waiting;  /* how many wait in that queue */
	/* `2nd of 5 in queue a: maxJobs 3 reached`; in the arena; NULL for a finished group */
	const char *message;
};

/* Order inside a queue: priority (high first), age (old first), namespace/name. For qsort() of struct queue_group. */
int queue_group_compare(const void *a, const void *b) KAR_NONNULL;

/* Pure. @out has one decision per group, in the order of snapshot->groups. */
void queue_plan(const struct queue_snapshot *s, struct kar_arena *arena,
	struct queue_decision *out) KAR_NONNULL;

/*
 * Pure. What the status of each queue is after these decisions: @out has one per queue, in the order of
 * s->queues. A closed queue is Closing while admitted groups of it live. @now: wall ms.
 */
void queue_statuses(const struct queue_snapshot *s, const struct queue_decision *decisions, kar_time now,
	struct kar_arena *arena, struct kar_queue_status *out) KAR_NONNULL;

#endif
