/*
 * queuejob_direct - jobs whose pods are created bound (Direct): their templates name a scheduler that does not exist, and whose work
 * kar-controllers does (--direct-schedulers). Pure.
 */
#ifndef KAR_API_QUEUEJOB_DIRECT_H
#define KAR_API_QUEUEJOB_DIRECT_H

#include "api/queuejob/queuejob.h"

/* The schedulerName of the pods of task number @task; "default-scheduler" if neither the template nor the job names one. */
const char *kar_queuejob_scheduler(const struct kar_queuejob *job, size_t task) KAR_NONNULL KAR_RETNN;
/*
 * Does a task of @job name one of the schedulers in @served ("a,b"; NULL or "": none)? Then no pod of the job is ever created without a
 * node.
 */
bool kar_queuejob_is_direct(const struct kar_queuejob *job, const char *served) __attribute__((nonnull(1)));
/*
 * Why such a job cannot be placed at all: "kar-scheduler does not place topology spread (task w): use default-scheduler", in @a. NULL: it
 * can.
 */
const char *kar_queuejob_direct_obstacle(const struct kar_queuejob *job, const char *served,
	struct kar_arena *a) __attribute__((nonnull(1, 3)));
/* Why no scheduler can start such a gang whole: "its tasks name two schedulers, a gang needs one: a (task t), b (task u)", in @a. NULL: one can, or it is no gang. */
const char *kar_queuejob_mixed_schedulers(const struct kar_queuejob *job, struct kar_arena *a) KAR_NONNULL;

#endif
