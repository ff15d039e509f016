/*
 * pass - the state of one pass of the Queue reconciler; internal to its shell (sync.c, observe.c).
 */
#ifndef KAR_QUEUE_PASS_H
#define KAR_QUEUE_PASS_H

#include "controllers/stores.h"
#include "controllers/queue/queue.h"

struct queue_pass {
	const struct kar_stores *stores; /* borrowed, like .s; the rest is in the arena of .s */
	struct kar_sync *s;
	struct queue_snapshot snapshot;
	struct queue_decision *decisions;
	int32_t default_priority; /* of the global default PriorityClass */
	kar_time yields_in;       /* ms until the next group without members yields; KAR_NEVER: none will */
	bool for_positions;       /* the pass writes only positions */
	bool moved;               /* a group has only a new position */
	/* ms until statuses of queues may be written in which only counts changed; <= 0: now */
	kar_time counts_in;
	bool counts_written;
	bool queues_are_read_only; /* decision 032 */
};

/* Fills in the snapshot from the caches; groups are in order. */
void queue_observe(struct queue_pass *p) KAR_NONNULL;
/*
 * @job has no pods and its pods cannot be created, so it must not take room in the queue. A job that has pods (of another task, or
 * from before an edit) keeps its admission.
 */
bool queue_job_is_invalid(const struct kar_queuejob *job) KAR_NONNULL;
/*
 * Returns one word for what an admitted job does, for the messages of those that wait: the reason while its gang starts or restarts,
 * else the phase. It changes a few times in the life of a job, never with a counter.
 */
const char *queue_job_state(const struct kar_queuejob *job) KAR_NONNULL KAR_RETNN;

#endif
