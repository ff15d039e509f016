/*
 * lookup - queues by name, within one pass; internal to the pure part of the Queue reconciler. Pure.
 */
#ifndef KAR_QUEUE_LOOKUP_H
#define KAR_QUEUE_LOOKUP_H

#include "controllers/queue/queue.h"

/* The queues of the snapshot by name, in the arena. */
const struct kar_queue **queue_sort(const struct queue_snapshot *s,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;
/* Index of the queue @name in the sorted list, or @n. */
size_t queue_find(const struct kar_queue *const *sorted, size_t n, const char *name) KAR_NONNULL;
/* Does it admit jobs, as far as its state says? */
bool queue_is_open(const struct kar_queue *q) KAR_NONNULL;

#endif
