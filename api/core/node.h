/*
 * node - a node as the manager caches it: what it offers to pods, and nothing else.
 *
 * The kubelet writes a node every few minutes, other controllers now and then; next to none of these writes changes an offer.
 */
#ifndef KAR_API_NODE_H
#define KAR_API_NODE_H

#include <assert.h>

#include "common/kube/object.h"
#include "common/sched/needs.h"

enum {
	KAR_NODE_LABELS_MAX = 512,
	KAR_NODE_TAINTS_MAX = 64,
	KAR_NODE_RESOURCES_MAX = 64
}; /* further ones are not cached */

struct kar_node {
	struct kar_object o; /* first */
	/*
	 * Its arrays are sorted by name, but for the taints, and without amounts of 0 and taints that keep no pod away. A node of which a
	 * part is unreadable is not .ready. The name is that of .o, the other texts are interned.
	 */
	struct kar_node_offer offer;
};

extern const struct kar_type kar_node_type;

static inline const struct kar_node *kar_as_node(const struct kar_object *o)
{
	assert(o && o->type == &kar_node_type);
	return (const struct kar_node *)(const void *)o;
}

/* Do two nodes, cached with the same strings, offer the same? */
bool kar_node_same_offer(const struct kar_node *a, const struct kar_node *b) KAR_NONNULL;

#endif
