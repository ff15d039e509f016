/*
 * capacity - what usable nodes offer together, and how many pods of each kind of needs count against it, kept equal to the caches of
 * nodes and pods by their changes (docs/design/queue.md, 3).
 *
 * So that a pass of queues costs as much as there are different needs, not as there are nodes and pods. Sums are of 128 bits inside, so
 * that they are exact whatever comes and goes; what is given out ends at INT64_MAX.
 */
#ifndef KAR_CAPACITY_H
#define KAR_CAPACITY_H

#include "api/core/node.h"
#include "api/pod/pod.h"

struct kar_capacity;

/* Empty. @strings (borrowed) are those of the caches. */
struct kar_capacity *kar_capacity_new(struct kar_intern *strings) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_capacity_free(struct kar_capacity *c); /* accepts NULL */

/* A change, as a cache tells it: @old NULL: it is new; @new NULL: it is gone. */
void kar_capacity_node(struct kar_capacity *c, const struct kar_node *old, const struct kar_node *new)
	__attribute__((nonnull(1)));
void kar_capacity_pod(struct kar_capacity *c, const struct kar_pod *old, const struct kar_pod *new)
	__attribute__((nonnull(1)));

/* @sign 1: usable nodes offer this, too; -1: no longer. */
void kar_capacity_add(struct kar_capacity *c, const struct kar_sched_amount *amounts, uint32_t n,
	int sign) KAR_NONNULL;

/* Where a pod counts. */
enum kar_capacity_use {
	KAR_CAPACITY_NOWHERE, /* it has ended, has no node, or its node is not usable */
	KAR_CAPACITY_ON_NODE, /* on a usable node (kar_pod_room()) */
};
enum kar_capacity_use kar_capacity_use(const struct kar_capacity *c, const struct kar_pod *pod) KAR_NONNULL;

/* What the usable nodes offer, each resource once, in *@out (in @a). Returns how many resources. */
uint32_t kar_capacity_offers(const struct kar_capacity *c, struct kar_arena *a,
	struct kar_sched_amount **out) KAR_NONNULL;
/* For all needs (kar_pod.needs) of which pods count: how many. */
typedef void kar_capacity_fn(void *arg, const struct kar_pod_needs *needs, int64_t on_nodes);
void kar_capacity_each(const struct kar_capacity *c, kar_capacity_fn *fn, void *arg)
	__attribute__((nonnull(1, 2)));

#endif
