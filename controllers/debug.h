/*
 * debug - the state of the manager as JSON, for whoever asks why something waits (/debug/state).
 */
#ifndef KAR_DEBUG_H
#define KAR_DEBUG_H

#include "common/buf.h"
#include "controllers/runtime/manager.h"

enum { KAR_DEBUG_GROUPS = 1000 }; /* that are shown at most */

/*
 * Queues of keys, caches, and the PodGroups that wait or are being placed, with queue, reason, message and plan. What is left out is
 * counted. @now: wall.
 */
void kar_debug_print(const struct kar_manager *m, kar_time now, struct kar_buf *out) KAR_NONNULL;

#endif
