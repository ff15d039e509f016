/*
 * queue - Queue (cluster-scoped, kube-arbitrator.io/v1alpha1): who may run, and how many count (design queue.md).
 */
#ifndef KAR_API_QUEUE_H
#define KAR_API_QUEUE_H

#include <assert.h>

#include "api/condition.h"
#include "common/kube/object.h"

struct kar_queue_spec {
	int32_t weight;
	int32_t max_jobs;
	bool has_max_jobs;
	const char *state;             /* "Open" or "Closed"; NULL: Open */
	const char *queueing_strategy; /* "BestEffortFIFO" (default) or "StrictFIFO" */
};

struct kar_queue_status {
	const char *state; /* "Open", "Closing", "Closed", "Unknown"; NULL: never written */
	int32_t pending, inqueue, running, completed, unknown; /* PodGroups by what they are doing */
	struct kar_conditions conditions;
};

struct kar_queue {
	struct kar_object o; /* first */
	struct kar_arena mem;
	int64_t generation;
	kar_time creation, deletion;
	struct kar_queue_spec spec;
	struct kar_queue_status status;
};

extern const struct kar_type kar_queue_type;

static inline const struct kar_queue *kar_as_queue(const struct kar_object *o)
{
	assert(o && o->type == &kar_queue_type);
	return (const struct kar_queue *)(const void *)o;
}

#endif
