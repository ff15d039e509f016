/*
 * queuejob_gang - which pods a job must have together before any of them is of use: its quorum, cut into roles. Pure.
 *
 * Only tasks that have started count: one that waits for another (dependsOn) is not part of the gang yet (decision 015).
 */
#ifndef KAR_API_QUEUEJOB_GANG_H
#define KAR_API_QUEUEJOB_GANG_H

#include "api/queuejob/queuejob.h"

/* A task with pods that are missing. */
struct kar_gang_role {
	size_t task;  /* number in spec.tasks */
	int32_t need; /* pods without which the gang is below its quorum */
	int32_t want; /* more that its replicas ask for */
};

/*
 * The quorum: minAvailable of the job, but at least the sum of the started tasks' own minimums, and while tasks wait, at most the replicas
 * of the started tasks. 0: the job is no gang. @started: per task.
 */
int32_t kar_queuejob_quorum(const struct kar_queuejob_spec *s, const bool *started) KAR_NONNULL;
/* How many pods of the task that @d names (not KAR_NO_TASK) must run, or have succeeded, before the task that has it starts. */
int32_t kar_dependency_needs(const struct kar_queuejob_spec *s, const struct kar_dependency *d) KAR_NONNULL;
/* How many pods of the task have succeeded, as far as that counts for the next start. */
int32_t kar_queuejob_done(const struct kar_queuejob *job, size_t task) KAR_NONNULL;
/* Which ones: "0-2,4"; "": none are recorded. */
const char *kar_queuejob_done_indexes(const struct kar_queuejob *job, size_t task) KAR_NONNULL KAR_RETNN;
/* How many indexes of the task have failed for good (backoffLimitPerIndex), and which ones. */
int32_t kar_queuejob_failed(const struct kar_queuejob *job, size_t task, struct kar_arena *arena) KAR_NONNULL;
const char *kar_queuejob_failed_indexes(const struct kar_queuejob *job, size_t task) KAR_NONNULL KAR_RETNN;
/* Fills in, per task, whether it has started: as recorded while a gang is at work, else whether it will when the gang starts. */
void kar_queuejob_started(const struct kar_queuejob *job, bool *out) KAR_NONNULL;
/*
 * Fills in @out, in the order of the tasks, which has room for all of them; returns how many. @have: per task, pods that need no place any
 * more; @failed: indexes that have failed for good; @priority: per task, by which the rest of the quorum is chosen, high first. Together the roles want at most @most pods beyond their needs.
 */
size_t kar_queuejob_roles(const struct kar_queuejob_spec *s, const bool *started, const int32_t *have,
	const int32_t *failed, const int32_t *priority, int32_t most, struct kar_gang_role *out) KAR_NONNULL;

#endif
