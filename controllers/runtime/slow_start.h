/*
 * slow_start - how many creates of a plan are in flight at first.
 *
 * One, so that a webhook that refuses costs one request; each success adds one (executor.c). A later plan for the same object (UID
 * and generation) begins with as many as an earlier one has created, at most 32, until a create fails; a failed control write (plan.h)
 * changes nothing. Otherwise a gang that restarts would wait for four answers one after the other. A plan that is .metered always begins
 * with one in flight, because others may have used up what it needs. The memory is one number per key.
 */
#ifndef KAR_SLOW_START_H
#define KAR_SLOW_START_H

#include "controllers/runtime/controller.h"

/* Creates that the plan of @s may have in flight at first: 1..32. */
int kar_slow_start_first(const struct kar_sync *s) KAR_NONNULL;
/* The plan of @s has created @created objects, more than none, and nothing of it failed. */
void kar_slow_start_went_through(struct kar_sync *s, size_t created) KAR_NONNULL;
/* A create of the plan of @s failed. */
void kar_slow_start_failed(struct kar_sync *s) KAR_NONNULL;

#endif
