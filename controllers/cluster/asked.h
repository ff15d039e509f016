/*
 * asked - the queue that a group asks for, and whether that admits groups of its namespace (decision 058).
 *
 * It is named by the spec of the group, else by its label KAR_LABEL_QUEUE. A group of another controller that has neither and has not started is
 * in the queue of its oldest member's label, else in that of its namespace, else in the default queue. What the pods or the namespace say
 * becomes the label of the group, written by the queue reconciler, as soon as it has members; until then nobody admits it, and afterwards it
 * does not change with them. A group that runs stays in the queue that has admitted it until its pods are gone, whatever it asks for since.
 *
 * A QueueJob names its queue by its spec, else by its label, else it is in that of its namespace, else in the default queue. The queuejob
 * reconciler writes that into the spec of its group (decision 073).
 */
#ifndef KAR_ASKED_H
#define KAR_ASKED_H

#include "controllers/cluster/stores.h"

struct kar_asked {
	const char *queue; /* borrowed from the cache; "": none is named, and there is no default queue */
	const char *next;  /* that it asks for since; NULL: no other */
	const char *label; /* the same as .queue, if it is still to become the label; else NULL */
};
struct kar_asked kar_asked_queue(const struct kar_stores *stores, const struct kar_podgroup *g) KAR_NONNULL;
/*
 * The queue in force of @job, borrowed from the cache; "": as above. A job that has been admitted stays in the queue that admitted it until
 * it has no admission any more, whatever is edited meanwhile.
 */
const char *kar_asked_queue_of_job(const struct kar_stores *stores,
	const struct kar_queuejob *job) KAR_NONNULL KAR_RETNN;
/*
 * The queue @name, and the queues above it that are in force, from the bottom up. Returns how many there are; fewer than all, if one is
 * missing.
 */
size_t kar_asked_path(const struct kar_stores *stores, const char *name,
	const struct kar_queue *path[KAR_QUEUE_LEVELS]) __attribute__((nonnull(1, 3)));
/* Is @name the queue @above, or below it? @above need not exist. */
bool kar_asked_is_below(const struct kar_stores *stores, const char *name, const char *above) KAR_NONNULL;
/* The priority in the queue @name of a group that asks for @asked: at most the maxPriority of it, and of each queue above it. */
int32_t kar_asked_priority(const struct kar_stores *stores, const char *name, int32_t asked)
	__attribute__((nonnull(1)));
/* For how many seconds jobs may run in the queue @name: the fewest of it and of the queues above it. */
struct kar_run_limits {
	int64_t most;        /* 0: no limit */
	int64_t by_default;  /* of a QueueJob that names no time itself, at most .most; 0: no limit */
	const char *most_of; /* the queue that says .most, borrowed from the cache; NULL: none does */
};
struct kar_run_limits kar_asked_run_limits(const struct kar_stores *stores, const char *name)
	__attribute__((nonnull(1)));
/*
 * Does the queue @name bound how many members of @g, which is of others, start beyond its minimum? It, or a queue above it, has a capability, of all nodes, of a flavor or for each namespace,
 * or it is StrictFIFO, and the group can hold its word (decision 087).
 */
bool kar_asked_bounds(const struct kar_stores *stores, const struct kar_podgroup *g, const char *name)
	__attribute__((nonnull(1, 2)));
/* Does the namespaceSelector of @q select the namespace of @g? A namespace that is not known has no labels. */
bool kar_asked_admits(const struct kar_stores *stores, const struct kar_queue *q,
	const struct kar_podgroup *g) KAR_NONNULL;

#endif
