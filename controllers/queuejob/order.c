/*
 * The order between the tasks of a job (taskSpecs[].dependsOn): which tasks have started, and the quorum of those.
 *
 * A task starts once per incarnation. The start is recorded, so that a started task stays started when its dependencies lose pods
 * later. A task that waits has no pods and does not count for the quorum, so that the gang never waits for pods that wait for the
 * gang (see docs/decisions/015).
 */
#include "api/queuejob/queuejob_gang.h"
#include "controllers/queuejob/reconcile.h"

static int32_t needed(const struct queuejob_reconcile *r, const struct kar_dependency *d)
{
	return kar_dependency_needs(&r->f->job->spec, d);
}

static int32_t present(const struct queuejob_reconcile *r, const struct kar_dependency *d)
{
	const struct podset_task *t = &r->f->pods.tasks[d->task];
	bool has_gang = queuejob_has_gang(r->st.phase);

	if (r->want.from_nothing)
		return 0;
	return t->n_done + (d->succeeded || !has_gang ? 0 : t->running);
}

/* The order is transitive: a dependency that waits itself is not reached, even if it has no replicas. */
static bool is_reached(const struct queuejob_reconcile *r, const struct kar_dependency *d)
{
	return d->task != KAR_NO_TASK && r->want.tasks[d->task].started && present(r, d) >= needed(r, d);
}

/* The first dependency that the task still waits for; NULL: none. */
static const struct kar_dependency *obstacle(const struct queuejob_reconcile *r, size_t task)
{
	const struct kar_array *list = &r->f->job->spec.tasks[task].depends_on;
	const struct kar_dependency *d = list->items;

	for (size_t i = 0; i < list->n; i++) {
		if (!is_reached(r, &d[i]))
			return &d[i];
	}
	return NULL;
}

/* Starts one task whose dependencies are reached; false: there is none. */
static bool start_next(struct queuejob_reconcile *r, size_t *task)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (r->want.tasks[i].started || obstacle(r, i))
			continue;
		r->want.tasks[i].started = true;
		*task = i;
		return true;
	}
	return false;
}

bool queuejob_can_start_task(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (!r->want.tasks[i].started && !obstacle(r, i))
			return true;
	}
	return false;
}

static int32_t quorum(const struct queuejob_reconcile *r)
{
	bool *started = kar_arena_alloc(r->arena, r->f->pods.n_tasks + 1, sizeof(*started));

	for (size_t i = 0; i < r->f->pods.n_tasks; i++)
		started[i] = r->want.tasks[i].started;
	return kar_queuejob_quorum(&r->f->job->spec, started);
}

void queuejob_reset_order(struct queuejob_reconcile *r)
{
	size_t task;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++)
		r->want.tasks[i].started = false;
	while (start_next(r, &task))
		;
	r->want.min = quorum(r);
}

/* Pods prove a start as well as the record, which another client may have cleared. */
static bool has_started(const struct queuejob_reconcile *r, size_t i)
{
	const struct podset_task *t = &r->f->pods.tasks[i];

	return r->want.tasks[i].started || t->objects > 0 ||
		(!r->f->known[i] && !r->f->job->spec.tasks[i].depends_on.n);
}

void queuejob_want_started(struct queuejob_reconcile *r)
{
	if (!queuejob_has_gang(r->f->seen->phase) && !kar_qj_phase_terminal(r->f->seen->phase)) {
		queuejob_reset_order(r);
		return;
	}
	for (size_t i = 0; i < r->f->pods.n_tasks; i++)
		r->want.tasks[i].started = has_started(r, i);
	r->want.min = quorum(r);
	r->want.raised = r->want.min > r->f->seen->min_available;
}

void queuejob_start_tasks(struct queuejob_reconcile *r)
{
	size_t *started = kar_arena_alloc(r->arena, r->f->pods.n_tasks, sizeof(*started)), n = 0;
	int32_t pods = 0;

	if (r->f->job->invalid || r->f->unchecked || r->f->edit_waits)
		return; /* its pods could not be created; the running tasks go on */
	while (start_next(r, &started[n])) {
		/* A task without dependencies that starts only now was added, or freed of them, by an edit. */
		r->want.raised |= !r->f->job->spec.tasks[started[n++]].depends_on.n;
	}
	if (!n)
		return;
	r->want.starts_tasks = true;
	r->want.min = quorum(r);
	queuejob_limit(r);
	for (size_t i = 0; i < n; i++)
		pods += r->want.tasks[started[i]].pods;
	kar_plan_event(r->p, false, kar_reason_TaskStarted, "CreatePods", "task %s%s: creating %s",
		r->f->job->spec.tasks[started[0]].name,
		n > 1 ? kar_arena_printf(r->arena, " and %d more start", (int)n - 1) : " starts",
		queuejob_count_pods(r, pods));
}

bool queuejob_grows(const struct queuejob_reconcile *r)
{
	bool ordered = false;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++)
		ordered |= r->f->job->spec.tasks[i].depends_on.n > 0;
	return ordered && r->f->seen->phase == KAR_QJ_PHASE_RUNNING && !r->want.raised && !r->loss.rearm &&
		!r->loss.unformed_by;
}

int32_t queuejob_missing(const struct queuejob_reconcile *r)
{
	int32_t n = 0;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (r->want.tasks[i].started)
			n += r->want.tasks[i].pods;
	}
	return n;
}

/* The unmet dependency to report: one that has started. One that waits itself is not worth a message. */
static const struct kar_dependency *unmet_dependency(const struct queuejob_reconcile *r, size_t task)
{
	const struct kar_dependency *d = r->want.tasks[task].started ? NULL : obstacle(r, task);

	return d && d->task != KAR_NO_TASK && r->want.tasks[d->task].started ? d : NULL;
}

/* The queue holds back what is waited for. */
static const char *describe_limit(const struct queuejob_reconcile *r, const struct kar_dependency *d)
{
	const struct podset_task *t = &r->f->pods.tasks[d->task];

	if (d->succeeded || r->want.from_nothing || t->n_done + r->want.tasks[d->task].pods >= needed(r, d))
		return "";
	return kar_arena_printf(r->arena, ", but queue %s allows only %d", r->f->v->queue,
		(int)(t->n_done + r->want.tasks[d->task].pods));
}

void queuejob_report_waiting_task(struct queuejob_reconcile *r)
{
	const struct kar_dependency *why = NULL;
	const char *name = "", *more = "";
	int32_t waiting = 0;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct kar_dependency *d = unmet_dependency(r, i);

		waiting += !r->want.tasks[i].started;
		name = d && !why ? r->f->job->spec.tasks[i].name : name;
		why = why ? why : d;
	}
	if (!why)
		return;
	if (waiting > 1)
		more = kar_arena_printf(r->arena, "; %d more task%s", (int)waiting - 1,
			waiting > 2 ? "s wait" : " waits");
	queuejob_report(r, kar_reason_TaskWaiting, "task %s waits until task %s %s: %d of %d%s%s", name,
		why->name, why->succeeded ? "has succeeded" : "runs", (int)present(r, why),
		(int)needed(r, why), describe_limit(r, why), more);
}
