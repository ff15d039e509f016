/*
 * said - what ResourceQuotas said last of the pods of others (docs/design/queue.md section 7). Pure, and kept between passes.
 *
 * When a pod of ours is gone, .status.used counts it until the controller of quotas has looked again. For so long it would seem to belong to
 * others: a claim would end that waits for just this room, and extras come back into it. But while .status.used has not risen nobody has
 * come. So a share of others that rises then counts only when it has lasted (QUEUE_SAID_LASTS).
 */
#ifndef KAR_QUEUE_SAID_H
#define KAR_QUEUE_SAID_H

#include "common/queue/queue.h"

enum { QUEUE_SAID_LASTS = 5000 }; /* ms */

struct queue_said;

struct queue_said *queue_said_new(void) KAR_MUSTUSE KAR_RETNN;
void queue_said_free(struct queue_said *s); /* accepts NULL */
/*
 * What of @used counts as that of others, who have @others of it by what is known of ours: that, or less. *@again_in: in how many ms it may be more, if that is
 * sooner. @now: monotonic ms. Names are copied.
 */
int64_t queue_said_of(struct queue_said *s, const struct kar_queue_quota_row *row, int64_t used,
	int64_t others, kar_time now, kar_time *again_in) KAR_NONNULL;
/* Forgets rows that were not asked for at @now. */
void queue_said_sweep(struct queue_said *s, kar_time now) KAR_NONNULL;

#endif
