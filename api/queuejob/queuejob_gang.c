#include "api/queuejob/queuejob_gang.h"

#include "api/status/intervals.h"
#include "common/base/str.h"

static int32_t least(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

static int32_t own_minimum(const struct kar_taskspec *t)
{
	return t->has_min_available ? least(t->min_available, t->replicas) : 0;
}

int32_t kar_queuejob_quorum(const struct kar_queuejob_spec *s, const bool *started)
{
	int32_t min = kar_queuejob_min_available(s), available = 0, own = 0;

	for (size_t i = 0; i < s->n_tasks; i++) {
		if (!started[i])
			continue;
		available += s->tasks[i].replicas;
		own += own_minimum(&s->tasks[i]);
	}
	if (min > 0 && min < own)
		min = own;
	return available < kar_queuejob_total(s) && available < min ? available : min;
}

static const struct kar_task_status *recorded(const struct kar_queuejob_status *s, const char *task)
{
	for (size_t i = 0; i < s->n_tasks; i++) {
		if (kar_streq(s->tasks[i].name, task))
			return &s->tasks[i];
	}
	return NULL;
}

int32_t kar_queuejob_done(const struct kar_queuejob *job, size_t task)
{
	const struct kar_queuejob_status *s = &job->status;
	const struct kar_task_status *t = recorded(s, job->spec.tasks[task].name);
	bool from_nothing =
		s->phase == KAR_QJ_PHASE_RESTARTING && s->record.restart_kind != KAR_QJ_RESTART_NODES;

	return t && !from_nothing ? t->succeeded : 0;
}

const char *kar_queuejob_done_indexes(const struct kar_queuejob *job, size_t task)
{
	const struct kar_task_status *t = recorded(&job->status, job->spec.tasks[task].name);

	return t && t->succeeded_indexes ? t->succeeded_indexes : "";
}

const char *kar_queuejob_failed_indexes(const struct kar_queuejob *job, size_t task)
{
	const struct kar_task_status *t = recorded(&job->status, job->spec.tasks[task].name);

	return job->spec.per_index && t && t->failed_indexes ? t->failed_indexes : "";
}

int32_t kar_queuejob_failed(const struct kar_queuejob *job, size_t task, struct kar_arena *arena)
{
	struct kar_intervals failed = { 0 };

	if (kar_intervals_parse(kar_queuejob_failed_indexes(job, task), arena, &failed))
		return 0;
	kar_intervals_truncate(&failed, job->spec.tasks[task].replicas);
	return kar_intervals_count(&failed);
}

int32_t kar_dependency_needs(const struct kar_queuejob_spec *s, const struct kar_dependency *d)
{
	const struct kar_taskspec *t = &s->tasks[d->task];
	int32_t min = t->min_available > 1 ? t->min_available : 1; /* a dependency on 0 pods would not wait */

	return !d->succeeded && t->has_min_available ? least(t->replicas, min) : t->replicas;
}

/* Before any pod runs, only what has succeeded counts (controllers/queuejob/order.c). */
static bool is_reached(const struct kar_queuejob *job, const struct kar_dependency *d, const bool *started)
{
	return d->task != KAR_NO_TASK && started[d->task] &&
		kar_queuejob_done(job, d->task) >= kar_dependency_needs(&job->spec, d);
}

static bool may_start(const struct kar_queuejob *job, size_t task, const bool *started)
{
	const struct kar_array *list = &job->spec.tasks[task].depends_on;
	const struct kar_dependency *d = list->items;

	for (size_t i = 0; i < list->n; i++) {
		if (!is_reached(job, &d[i], started))
			return false;
	}
	return true;
}

/* In one round each task may start that depends on tasks of earlier rounds only. */
static bool start_more(const struct kar_queuejob *job, bool *started)
{
	bool more = false;

	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		if (started[i] || !may_start(job, i, started))
			continue;
		started[i] = true;
		more = true;
	}
	return more;
}

void kar_queuejob_started(const struct kar_queuejob *job, bool *out)
{
	bool at_work =
		job->status.phase == KAR_QJ_PHASE_STARTING || job->status.phase == KAR_QJ_PHASE_RUNNING;

	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		const struct kar_task_status *known =
			at_work ? recorded(&job->status, job->spec.tasks[i].name) : NULL;

		out[i] = known && known->started;
	}
	while (!at_work && start_more(job, out))
		;
}

/* The task of the highest priority from which pods can still be needed; the first of equals. */
static struct kar_gang_role *next_role(struct kar_gang_role *roles, size_t n, const int32_t *priority)
{
	struct kar_gang_role *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (roles[i].want && (!best || priority[roles[i].task] > priority[best->task]))
			best = &roles[i];
	}
	return best;
}

/* What no task's own minimum covers of the quorum may be of any task. */
static void need_rest(struct kar_gang_role *roles, size_t n, const int32_t *priority, int64_t rest)
{
	struct kar_gang_role *r;

	while (rest > 0 && (r = next_role(roles, n, priority))) {
		int32_t more = (int32_t)kar_clamp(rest, 0, r->want);

		r->need += more;
		r->want -= more;
		rest -= more;
	}
}

static size_t drop_empty(struct kar_gang_role *roles, size_t n, int32_t most)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		roles[i].want = least(roles[i].want, most);
		most -= roles[i].want;
		if (roles[i].need || roles[i].want)
			roles[left++] = roles[i];
	}
	return left;
}

size_t kar_queuejob_roles(const struct kar_queuejob_spec *s, const bool *started, const int32_t *have,
	const int32_t *failed, const int32_t *priority, int32_t most, struct kar_gang_role *out)
{
	int32_t quorum = kar_queuejob_quorum(s, started);
	int64_t rest = quorum;
	size_t n = 0;

	for (size_t i = 0; i < s->n_tasks; i++) {
		int32_t missing = s->tasks[i].replicas - have[i] - failed[i],
			own = quorum > 0 ? own_minimum(&s->tasks[i]) - have[i] : 0;

		if (!started[i])
			continue;
		missing = missing > 0 ? missing : 0;
		own = least(own > 0 ? own : 0, missing);
		out[n++] = (struct kar_gang_role){ .task = i, .need = own, .want = missing - own };
		rest -= (int64_t)have[i] + own;
	}
	need_rest(out, n, priority, rest);
	return drop_empty(out, n, most);
}
