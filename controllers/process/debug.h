/*
 * debug - the state of the manager as JSON, for whoever asks why something waits (/debug/state).
 */
#ifndef KAR_DEBUG_H
#define KAR_DEBUG_H

#include "common/base/buf.h"
#include "common/codec/json.h"
#include "controllers/runtime/manager.h"

enum { KAR_DEBUG_GROUPS = 1000, KAR_DEBUG_OBJECTS = 2000 }; /* that are shown at most; objects of each kind */

struct kar_debug_lease {
	const char *ns, *name, *identity; /* identity: of this process */
	const char *holder;               /* "": nobody */
	bool may_write;                   /* this process */
};

/*
 * Queues of keys, caches, the PodGroups that wait or are being placed, with queue, reason, message and plan; and what kar-sim needs to play
 * the cluster. What is left out is counted. @lease: NULL: there is no election. @now: wall.
 */
void kar_debug_print(const struct kar_manager *m, const struct kar_debug_lease *lease, kar_time now,
	struct kar_buf *out) __attribute__((nonnull(1, 4)));

struct kar_stores;
/* The members for kar-sim. */
void kar_debug_print_cluster(const struct kar_stores *s, struct kar_json_writer *w) KAR_NONNULL;

#endif
