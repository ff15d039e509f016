/*
 * slow_start - how many creates a plan begins with.
 *
 * One, so that a quota or a webhook that says no costs one request; one more in flight for each that goes through (apply.c).
 * After the first plan of an object as many as one plan of it has created, at most 32, until the create of a pod fails: a gang that is restarted
 * does not wait for four answers one after the other. Where a quota limits pods it is one each time: others may have taken the room.
 * An object: one UID and generation. In memory, one number per key.
 */
#ifndef KAR_SLOW_START_H
#define KAR_SLOW_START_H

#include "controllers/controller.h"

/* Creates that the plan of @s may have in flight at first: 1..32. */
int kar_slow_start_first(const struct kar_sync *s) KAR_NONNULL;
/* The plan of @s has created @pods pods, more than none, and nothing of it failed. */
void kar_slow_start_went_through(struct kar_sync *s, size_t pods) KAR_NONNULL;
/* A pod of the plan of @s could not be created. */
void kar_slow_start_failed(struct kar_sync *s) KAR_NONNULL;

#endif
