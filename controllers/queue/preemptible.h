/*
 * preemptible - pods of no queue that a pass may evict for a gang (decision 092).
 */
#ifndef KAR_QUEUE_PREEMPTIBLE_H
#define KAR_QUEUE_PREEMPTIBLE_H

#include "controllers/queue/pass.h"

/* Fills in .preemptible of the pass, without budgets. */
void queue_observe_preemptible(struct queue_pass *p) KAR_NONNULL;
/* Adds the evictions that the pass has decided about, with the number @what. */
void queue_evict_preemptible(struct queue_pass *p, int what) KAR_NONNULL;
/* "evicts pods n/a, n/b and 2 more of no queue for it", of those that go for group number @group; NULL: nobody does. */
const char *queue_name_evicted(const struct queue_pass *p, uint32_t group) KAR_NONNULL;

#endif
