/*
 * eviction - what a PodGroup and a QueueJob say of the last time that their queue took their places (status.lastEviction).
 *
 * A gang is evicted for another one that has a right to its room (Reclaim) or goes before it in the same queue (InQueue), or because its
 * queue is drained (Drain). Loss of a node and eviction of single pods by others are disruptions, and none of these.
 */
#ifndef KAR_API_EVICTION_H
#define KAR_API_EVICTION_H

#include "common/base/mem.h"

struct kar_desc;

struct kar_eviction {
	kar_time time;      /* wall ms, whole seconds; 0: there was none */
	const char *reason; /* "Reclaim", "InQueue", "Drain" */
	const char *by;     /* "ns/name" of the group for which it went; "": of a drained queue */
	const char *queue;  /* of that group; of a drained queue that one */
};

extern const struct kar_desc kar_eviction_table; /* its status_fields, each with KAR_SF_STORY */

#endif
