/* Names and ranks of a job's pods, in both directions. */
#include "api/queuejob.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bsd/stdlib.h>

const char *kar_queuejob_pod_name(const struct kar_queuejob *job, const char *task, int32_t index,
	char out[KAR_POD_NAME_LEN])
{
	snprintf(out, KAR_POD_NAME_LEN, "%s-%s-%" PRId32, job->o.name, task, index);
	return out;
}

/* "0", "7", "12": as kar_queuejob_pod_name() writes it, so that every pod name has one reading. */
static bool read_index(const char *s, int32_t *index)
{
	const char *problem = NULL;

	if (s[0] < '0' || s[0] > '9' || (s[0] == '0' && s[1]))
		return false;
	*index = (int32_t)strtonum(s, 0, INT32_MAX, &problem);
	return !problem;
}

bool kar_queuejob_pod_index(const struct kar_queuejob *job, const char *pod_name, size_t *task,
	int32_t *index)
{
	size_t n = strlen(job->o.name);

	if (strncmp(pod_name, job->o.name, n) || pod_name[n] != '-')
		return false;

	const char *name = pod_name + n + 1;
	const char *dash = strrchr(name, '-');
	int32_t number;

	if (!dash || !read_index(dash + 1, &number))
		return false;
	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		const char *known = job->spec.tasks[i].name;

		if (strlen(known) == (size_t)(dash - name) &&
			strncmp(known, name, (size_t)(dash - name)) == 0) {
			*task = i;
			*index = number;
			return true;
		}
	}
	return false;
}

int32_t kar_queuejob_pod_rank(const struct kar_queuejob *job, size_t task, int32_t index)
{
	int32_t before = 0;

	for (size_t i = 0; i < task; i++)
		before += job->spec.tasks[i].replicas;
	return before + index;
}
