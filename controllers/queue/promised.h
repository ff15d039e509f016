/*
 * promised - the pods that a workload of another controller makes when it is resumed (controllers/suspend), as the pass sees them before
 * they exist. Private to the observation of groups.
 */
#ifndef KAR_QUEUE_PROMISED_H
#define KAR_QUEUE_PROMISED_H

#include "controllers/queue/pass.h"

/* Does @s run, or is it about to run, although its queue has not been asked? It is about to be suspended; an admission of its group is of no use. */
bool queue_is_not_asked_yet(const struct kar_suspendable *s) KAR_NONNULL;
/*
 * Group number @i waits, and its workload is suspended by its queue: it asks for the pods of the template. One that is not suspended
 * yet is refused until it is, and so is one whose workload is not known. False: it does not wait so, or has pods, which count.
 */
bool queue_observe_promised(struct queue_pass *p, uint32_t i) KAR_NONNULL;
/* Group number @i was admitted a moment ago, and its pods are still to come: room is held for those that do not exist. */
void queue_hold_promised(struct queue_pass *p, uint32_t i) KAR_NONNULL;
/* ms for which pods of @qg are still to come since it was admitted; <= 0: they are not, or no more. @now: wall ms. */
kar_time queue_promised_for(const struct queue_group *qg, kar_time now) KAR_NONNULL;

/* ms for which those that are missing may come, because the group was admitted a moment ago, or has lost all that ran; <= 0: no more. */
kar_time queue_members_come_for(const struct queue_group *qg, kar_time now) KAR_NONNULL;

#endif
