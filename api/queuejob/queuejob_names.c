/* Names, ranks and numbers of a job's tasks and pods: what all other files about QueueJobs stand on. */
#include "api/queuejob/queuejob.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "api/copy.h"
#include "api/names.h"
#include "common/base/str.h"

const char *kar_queuejob_pod_name(const struct kar_queuejob *job, const char *task, int32_t index,
	char out[KAR_POD_NAME_LEN])
{
	snprintf(out, KAR_POD_NAME_LEN, "%s-%s-%" PRId32, job->o.name, task, index);
	return out;
}

const char *kar_queuejob_pod_class(const struct kar_queuejob *job, size_t task)
{
	const char *own = job->spec.tasks[task].template_priority_class,
		   *of_job = job->spec.sched.priority_class_name;

	if (kar_has_text(own))
		return own;
	return of_job ? of_job : "";
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

size_t kar_queuejob_find_task(const struct kar_queuejob_spec *s, const char *name)
{
	for (size_t i = 0; i < s->n_tasks; i++) {
		if (strcmp(s->tasks[i].name, name) == 0)
			return i;
	}
	return KAR_NO_TASK;
}

int32_t kar_queuejob_total(const struct kar_queuejob_spec *s)
{
	int64_t total = 0;

	for (size_t i = 0; i < s->n_tasks; i++)
		total += s->tasks[i].replicas;
	return total > INT32_MAX ? INT32_MAX : (int32_t)total;
}

int32_t kar_queuejob_min_available(const struct kar_queuejob_spec *s)
{
	return s->sched.has_min_available ? s->sched.min_available : kar_queuejob_total(s);
}

bool kar_queuejob_is_owner(const struct kar_wire_owner *owner)
{
	static const char group[] = KAR_GROUP "/";

	return kar_streq(owner->kind, "QueueJob") && owner->api_version &&
		strncmp(owner->api_version, group, strlen(group)) == 0;
}

bool kar_queuejob_orphan(const struct kar_wire_meta *m)
{
	return !m->owners.n && kar_streq(kar_pairs_get(&m->labels, KAR_LABEL_QUEUEJOB), m->name);
}

const char *kar_owner_text(const struct kar_wire_meta *m, struct kar_arena *mem)
{
	const struct kar_wire_owner *owner = kar_wire_controller(m);
	struct kar_arena scratch = { 0 };
	const char *text;

	if (!owner)
		return NULL;
	text = kar_copy_fit(mem,
		kar_arena_printf(&scratch, "%s %s", owner->kind ? owner->kind : "an object",
			owner->name ? owner->name : ""),
		KAR_COPY_KEY);
	kar_arena_release(&scratch);
	return text;
}
