/*
 * The order between the tasks of a job (taskSpecs[].dependsOn): which of them have started, and the quorum that these make.
 *
 * A task starts once in an incarnation: that is recorded, so what becomes of its dependencies later takes nothing away
 * from it. As long as it waits none of its pods is created, and the gang is made up of the others, so that nobody waits for
 * pods that wait for him (see docs/decisions/015).
 */
#include "controllers/queuejob/round.h"

#include "api/keep.h"

/* What there must be of a task for those that wait for it. */
static int32_t needed(const struct queuejob_round *r, const struct kar_dependency *d)
{
	const struct kar_taskspec *spec = &r->job->spec.tasks[d->task];
	int32_t n = r->t.tasks[d->task].n, min = n;

	if (!d->succeeded && spec->has_min_available)
		min = spec->min_available > 1 ? spec->min_available : 1; /* "0 run" would be no condition */
	return min < n ? min : n;
}

static int32_t present(const struct queuejob_round *r, const struct kar_dependency *d)
{
	const struct queuejob_task_tally *t = &r->t.tasks[d->task];
	bool has_gang = queuejob_has_gang(r->st.phase);

	if (r->forget)
		return 0;
	return t->n_done + (d->succeeded || !has_gang ? 0 : t->running);
}

/* A task that waits itself lets nobody start, even if it wants no pods: the order is transitive. */
static bool is_reached(const struct queuejob_round *r, const struct kar_dependency *d)
{
	return d->task != KAR_NO_TASK && r->t.tasks[d->task].started && present(r, d) >= needed(r, d);
}

/* The first dependency of a task that keeps it from starting; NULL: none does. */
static const struct kar_dependency *obstacle(const struct queuejob_round *r, size_t task)
{
	const struct kar_array *list = &r->job->spec.tasks[task].depends_on;
	const struct kar_dependency *d = list->items;

	for (size_t i = 0; i < list->n; i++) {
		if (!is_reached(r, &d[i]))
			return &d[i];
	}
	return NULL;
}

/* Starts one task that may; false: there is none. */
static bool start_next(struct queuejob_round *r, size_t *task)
{
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		if (r->t.tasks[i].started || obstacle(r, i))
			continue;
		r->t.tasks[i].started = true;
		*task = i;
		return true;
	}
	return false;
}

static int32_t own_minimum(const struct kar_taskspec *spec, int32_t n)
{
	int32_t min = spec->has_min_available ? spec->min_available : 0;

	return min < n ? min : n;
}

/*
 * As the spec says, but no less than the own minimums of the tasks that have started come to; as long as others wait, at most what
 * those can muster.
 */
static int32_t quorum(const struct queuejob_round *r)
{
	int32_t min = kar_queuejob_min_available(&r->job->spec), available = 0, own = 0;

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		if (!r->t.tasks[i].started)
			continue;
		available += r->t.tasks[i].n;
		own += own_minimum(&r->job->spec.tasks[i], r->t.tasks[i].n);
	}
	if (min > 0 && min < own) /* 0: there is no gang */
		min = own;
	return available < r->t.total && available < min ? available : min;
}

void queuejob_order_anew(struct queuejob_round *r)
{
	size_t task;

	for (size_t i = 0; i < r->t.n_tasks; i++)
		r->t.tasks[i].started = false;
	while (start_next(r, &task))
		;
	r->min = quorum(r);
}

/* Pods show it as well as the record does, which somebody may have cleared. */
static bool has_started(const struct queuejob_round *r, size_t i)
{
	const struct queuejob_task_tally *t = &r->t.tasks[i];

	return t->started || t->objects > 0 || (!t->known && !r->job->spec.tasks[i].depends_on.n);
}

void queuejob_look_at_order(struct queuejob_round *r)
{
	if (!queuejob_has_gang(r->seen->phase) && !kar_qj_phase_terminal(r->seen->phase)) {
		queuejob_order_anew(r);
		return;
	}
	for (size_t i = 0; i < r->t.n_tasks; i++)
		r->t.tasks[i].started = has_started(r, i);
	r->min = quorum(r);
	r->raised = r->min > r->seen->min_available;
}

void queuejob_start_tasks(struct queuejob_round *r)
{
	size_t *started = kar_arena_alloc(r->arena, r->t.n_tasks, sizeof(*started)), n = 0;
	int32_t pods = 0;

	if (r->job->invalid || r->unchecked)
		return; /* its pods could not be created: what runs stays as it is */
	while (start_next(r, &started[n])) {
		/* Once the gang runs, one that waits for nothing has waited until an edit. */
		r->raised |= !r->job->spec.tasks[started[n++]].depends_on.n;
	}
	if (!n)
		return;
	r->starts_tasks = true;
	r->min = quorum(r);
	queuejob_limit(r);
	for (size_t i = 0; i < n; i++)
		pods += r->t.tasks[started[i]].wanted;
	kar_plan_event(r->p, false, kar_reason_TaskStarted, "CreatePods", "task %s%s: creating %s",
		r->job->spec.tasks[started[0]].name,
		n > 1 ? kar_arena_printf(r->arena, " and %d more start", (int)n - 1) : " starts",
		queuejob_count_pods(r, pods));
}

bool queuejob_grows(const struct queuejob_round *r)
{
	bool ordered = false;

	for (size_t i = 0; i < r->t.n_tasks; i++)
		ordered |= r->job->spec.tasks[i].depends_on.n > 0;
	return ordered && r->seen->phase == KAR_QJ_PHASE_RUNNING && !r->raised && !r->rearm &&
		!r->unformed_by;
}

int32_t queuejob_missing(const struct queuejob_round *r)
{
	int32_t n = 0;

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		if (r->t.tasks[i].started)
			n += r->t.tasks[i].wanted;
	}
	return n;
}

/* Of a task whose dependency is at work: what a task waits for that waits itself is no news. */
static const struct kar_dependency *telling_obstacle(const struct queuejob_round *r, size_t task)
{
	const struct kar_dependency *d = r->t.tasks[task].started ? NULL : obstacle(r, task);

	return d && d->task != KAR_NO_TASK && r->t.tasks[d->task].started ? d : NULL;
}

/* The queue holds back what is waited for. */
static const char *tell_limit(const struct queuejob_round *r, const struct kar_dependency *d)
{
	const struct queuejob_task_tally *t = &r->t.tasks[d->task];

	if (d->succeeded || r->forget || t->n_done + t->wanted >= needed(r, d))
		return "";
	return kar_arena_printf(r->arena, ", but queue %s lets only %d", r->job->spec.queue,
		(int)(t->n_done + t->wanted));
}

void queuejob_say_waiting_task(struct queuejob_round *r)
{
	const struct kar_dependency *why = NULL;
	const char *name = "", *more = "";
	int32_t waiting = 0;

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		const struct kar_dependency *d = telling_obstacle(r, i);

		waiting += !r->t.tasks[i].started;
		name = d && !why ? r->job->spec.tasks[i].name : name;
		why = why ? why : d;
	}
	if (!why)
		return;
	if (waiting > 1)
		more = kar_arena_printf(r->arena, "; %d more task%s", (int)waiting - 1,
			waiting > 2 ? "s wait" : " waits");
	queuejob_say(r, kar_reason_TaskWaiting, "task %s waits until task %s %s: %d of %d%s%s", name,
		why->name, why->succeeded ? "has succeeded" : "runs", (int)present(r, why),
		(int)needed(r, why), tell_limit(r, why), more);
}
