/*
 * queuejob_env - the environment variables that the containers of a job get: who the pod is, who the others are, and what
 * frameworks for distributed programs read (docs/NETWORK.md). Pure.
 */
#ifndef KAR_API_QUEUEJOB_ENV_H
#define KAR_API_QUEUEJOB_ENV_H

#include "api/queuejob/queuejob.h"

enum { KAR_HOSTS_MAX_BYTES = 64 << 10 }; /* of a list of host names */

/*
 * Appends the host names of the pods of task number @task, parted by commas, to @out. False, and @out is as it was: the job has no host
 * names, or they have more than KAR_HOSTS_MAX_BYTES together.
 */
bool kar_queuejob_hosts(const struct kar_queuejob *job, size_t task, struct kar_buf *out) KAR_NONNULL;
/* True if the host names of the task are known, but too long for a list. */
bool kar_queuejob_hosts_too_long(const struct kar_queuejob *job, size_t task) KAR_NONNULL;
/* True if a job for MPI, whose pods get the lists of all tasks (KAR_HOSTS_<TASK>), gets none of these: together they are too long. */
bool kar_queuejob_all_hosts_too_long(const struct kar_queuejob *job) KAR_NONNULL;
/* Writes the array "env" of a container, of which @own (struct kar_str) are the items of the template; these win. */
void kar_queuejob_write_env(struct kar_json_writer *w, const struct kar_pod_params *p,
	const struct kar_array *own) KAR_NONNULL;

#endif
