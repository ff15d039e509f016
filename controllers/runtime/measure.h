/*
 * measure - what the manager counts about a controller and its queue.
 */
#ifndef KAR_MEASURE_H
#define KAR_MEASURE_H

#include "controllers/runtime/executor.h"
#include "controllers/runtime/runtime_metrics.h"

/* One controller, for the callbacks of its queue. */
struct kar_measure {
	struct kar_loop *loop;
	struct kar_metrics *metrics; /* NULL: nothing is counted */
	const char *name;            /* static; set before the first key */
};

/* Sets the callbacks of @o, which measure for @c. */
void kar_measure_queue(struct kar_workqueue_options *o, struct kar_measure *c) KAR_NONNULL;
/* A sync that began at @since (mono) has ended. @o: NULL: it decided nothing, and @requeue is whether it is to come again. */
void kar_measure_sync(const struct kar_measure *c, kar_time since, const struct kar_outcome *o, bool requeue)
	__attribute__((nonnull(1)));
/* Sets the gauges of @q. */
void kar_measure_collect(const struct kar_measure *c, struct kar_workqueue *q) KAR_NONNULL;

#endif
