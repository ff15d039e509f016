/*
 * write - what a pass writes about groups (write.c), and in which order (write_order.c, docs/design/queue.md, 9). Private to the two.
 */
#ifndef KAR_QUEUE_WRITE_H
#define KAR_QUEUE_WRITE_H

#include "controllers/queue/next.h"
#include "controllers/queue/pass.h"

/* The turns of the groups of a pass, in order: whoever gets room must find that others have given it up. */
enum queue_turn { QUEUE_RESERVES, QUEUE_KEEPS_OR_LOSES, QUEUE_GIVES, QUEUE_WAITS };

enum queue_turn queue_turn_of(const struct queue_pass *p, uint32_t i) KAR_NONNULL;
/* Nothing more is written about a group that goes away, nor about one that cannot be read. */
static inline bool queue_is_written(const struct queue_group *qg)
{
	return qg->claim != QUEUE_CLAIM_NONE && !qg->group->o.unreadable;
}
/* Is what is decided about the group to be written at once? */
bool queue_is_news(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d) KAR_NONNULL;
/* Adds the write of group @i to the plan, if there is one: a new reason at once, a new position when it is time. */
void queue_write_group(struct queue_pass *p, uint32_t i) KAR_NONNULL;
/* Groups whose work is over have no reservation any longer. */
void queue_write_finished(struct queue_pass *p) KAR_NONNULL;
/* Evictions of pods of no queue. */
void queue_write_evictions(struct queue_pass *p) KAR_NONNULL;

#endif
