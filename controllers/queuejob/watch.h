/*
 * watch - enqueues the keys of the jobs that a change in the caches concerns, and lets the journal write down what became of a job.
 *
 * A change that no decision reads enqueues nothing. Each object of a job has the job's name, or names the job as its owner or its
 * group.
 */
#ifndef KAR_QUEUEJOB_WATCH_H
#define KAR_QUEUEJOB_WATCH_H

#include "controllers/cluster/stores.h"

/* start() and stop() of struct kar_controller. They register the listeners, and make and free .shared (struct queuejob_shared). */
void queuejob_watch(struct kar_controller *c) KAR_NONNULL;
void queuejob_unwatch(struct kar_controller *c) KAR_NONNULL;

#endif
