#include "api/queuejob/queuejob_direct.h"

#include "api/pod/pod_direct.h"
#include "common/base/str.h"
#include "common/sched/needs.h"

#define DEFAULT_SCHEDULER "default-scheduler"

const char *kar_queuejob_scheduler(const struct kar_queuejob *job, size_t task)
{
	const char *own = job->spec.tasks[task].template_scheduler;

	if (kar_has_text(own))
		return own;
	return kar_has_text(job->spec.scheduler_name) ? job->spec.scheduler_name : DEFAULT_SCHEDULER;
}

/* The first task that names a served scheduler; KAR_NO_TASK: none does. */
static size_t first_served(const struct kar_queuejob *job, const char *served)
{
	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		if (kar_scheduler_is_served(kar_queuejob_scheduler(job, i), served))
			return i;
	}
	return KAR_NO_TASK;
}

bool kar_queuejob_is_direct(const struct kar_queuejob *job, const char *served)
{
	return first_served(job, served) != KAR_NO_TASK;
}

/* NULL: all that the scheduler would check is modelled. */
static const char *unverified(const struct kar_taskspec *t)
{
	return t->needs ? t->needs->unverified : "what cannot be read";
}

const char *kar_queuejob_direct_obstacle(const struct kar_queuejob *job, const char *served,
	struct kar_arena *a)
{
	size_t first = first_served(job, served);
	const char *name;

	if (first == KAR_NO_TASK)
		return NULL;
	name = kar_queuejob_scheduler(job, first);
	if (kar_queuejob_min_available(&job->spec) <= 0)
		return kar_arena_printf(a, "%s does not place a job with minAvailable 0: use %s", name,
			DEFAULT_SCHEDULER);
	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		const struct kar_taskspec *t = &job->spec.tasks[i];
		const char *other = kar_queuejob_scheduler(job, i), *feature = unverified(t);

		if (!kar_streq(name, other))
			return kar_arena_printf(a,
				"%s places all tasks of a job or none, and task %s names %s: use one scheduler",
				name, t->name, other);
		if (feature)
			return kar_arena_printf(a, "%s does not place %s (task %s): use %s", name, feature,
				t->name, DEFAULT_SCHEDULER);
	}
	return NULL;
}

const char *kar_queuejob_mixed_schedulers(const struct kar_queuejob *job, struct kar_arena *a)
{
	size_t first = KAR_NO_TASK;

	if (kar_queuejob_min_available(&job->spec) <= 0)
		return NULL;
	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		const char *other = kar_queuejob_scheduler(job, i);

		if (!job->spec.tasks[i].replicas) /* it has no pods */
			continue;
		if (first == KAR_NO_TASK)
			first = i;
		if (!kar_streq(kar_queuejob_scheduler(job, first), other))
			return kar_arena_printf(a,
				"its tasks name two schedulers, a gang needs one: %s (task %s), %s (task %s)",
				kar_queuejob_scheduler(job, first), job->spec.tasks[first].name, other,
				job->spec.tasks[i].name);
	}
	return NULL;
}
