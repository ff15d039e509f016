/* The decision in order: facts, the edited status, the move of the state machine, checks, and the counts of the status. */
#include "controllers/queuejob/reconcile.h"

#include <assert.h>

#include "common/base/str.h"

/* The edit that renamed or removed these tasks may be reverted: their results are kept until then. */
static void keep_results_of_removed_tasks(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;

	for (size_t i = 0; i < r->f->seen->n_tasks && st->n_tasks < KAR_QJ_MAX_TASKS; i++) {
		const struct kar_task_status *known = &r->f->seen->tasks[i];

		if (kar_queuejob_find_task(&r->f->job->spec, known->name) != KAR_NO_TASK)
			continue;
		st->tasks[st->n_tasks++] = (struct kar_task_status){
			.name = known->name,
			.started = known->started,
			.succeeded = known->succeeded,
			.succeeded_indexes = known->succeeded_indexes,
			.failed_indexes = known->failed_indexes,
			.index_failures = known->index_failures,
		};
	}
}

/* A restart drops the results, but the status shows them until the next incarnation starts. */
static bool shows_former_results(const struct queuejob_reconcile *r)
{
	return r->st.phase == KAR_QJ_PHASE_RESTARTING && queuejob_drops_results(r->f->seen);
}

static const char *succeeded_indexes(const struct queuejob_reconcile *r, size_t task)
{
	const struct podset_task *t = &r->f->pods.tasks[task];

	if (shows_former_results(r))
		return r->f->known[task] ? r->f->known[task]->succeeded_indexes : "";
	if (r->want.from_nothing && r->st.phase != KAR_QJ_PHASE_RESTARTING)
		return "";
	return kar_intervals_format(&t->done, r->arena);
}

static int32_t succeeded(const struct queuejob_reconcile *r, size_t task)
{
	const struct podset_task *t = &r->f->pods.tasks[task];

	if (shows_former_results(r))
		return queuejob_count_indexes(r, succeeded_indexes(r, task));
	return r->want.from_nothing && r->st.phase != KAR_QJ_PHASE_RESTARTING ? 0 : t->n_done;
}

static void count_tasks(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;

	st->n_tasks = r->f->pods.n_tasks;
	st->tasks = kar_arena_alloc(r->arena, st->n_tasks + r->f->seen->n_tasks, sizeof(*st->tasks));
	for (size_t i = 0; i < st->n_tasks; i++) {
		const struct podset_task *t = &r->f->pods.tasks[i];

		st->tasks[i] = (struct kar_task_status){
			.name = r->f->job->spec.tasks[i].name,
			.replicas = t->objects,
			.desired = (r->want.from_nothing ? 0 : t->n_done) + r->want.tasks[i].pods,
			.pending = t->pending,
			.running = t->running,
			.succeeded = succeeded(r, i),
			.failed = t->failed,
			.started = r->want.tasks[i].started,
			.restart_time = queuejob_has_gang(st->phase) ? r->want.tasks[i].restart_time : 0,
			.succeeded_indexes = succeeded_indexes(r, i),
			.failed_indexes = queuejob_failed_indexes(r, i),
			.index_failures = queuejob_index_failures(r, i),
		};
		/* Else the job could complete without the work of an index. A restart shows the former number, of other replicas. */
		assert(shows_former_results(r) || st->tasks[i].succeeded <= t->n);
	}
	/* An empty hash means that results of the old templates do not count. */
	if (queuejob_template_is_pending(r) && st->record.template_hash[0] && !r->want.from_nothing)
		keep_results_of_removed_tasks(r);
}

/* A finished job keeps the results with which it finished, but the pods that were left are stopped. */
static void count_what_is_left(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;
	struct kar_task_status *tasks = kar_arena_alloc(r->arena, st->n_tasks, sizeof(*tasks));

	for (size_t i = 0; i < st->n_tasks; i++) {
		size_t task = kar_queuejob_find_task(&r->f->job->spec, st->tasks[i].name);
		const struct podset_task *t = task == KAR_NO_TASK ? NULL : &r->f->pods.tasks[task];

		tasks[i] = st->tasks[i];
		tasks[i].replicas = t ? t->objects : 0;
		tasks[i].pending = t ? t->pending : 0;
		tasks[i].running = t ? t->running : 0;
	}
	st->tasks = tasks;
}

/* Counters are recomputed, never incremented. */
static void fill_in_counts(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;

	st->replicas = r->f->pods.objects;
	st->pending = r->f->pods.pending;
	st->running = r->f->pods.running;
	st->terminating = r->f->pods.terminating;
	if (kar_qj_phase_terminal(r->f->seen->phase)) {
		count_what_is_left(r);
		return;
	}
	if (!queuejob_has_gang(st->phase))
		queuejob_limit(r); /* of the next incarnation: the move may have given up the results */
	queuejob_record_scaling(r);
	if (!r->f->v->priority_class_missing) /* else it keeps the value that a deleted class had */
		st->priority = queuejob_priority(r->f->v);
	st->desired = queuejob_desired(r);
	st->failed = r->f->pods.failed;
	st->min_available = r->want.min;
	count_tasks(r);
	st->succeeded = 0;
	for (size_t i = 0; i < r->f->pods.n_tasks; i++)
		st->succeeded += st->tasks[i].succeeded;
}

/* Other objects show a first start as well (decision 007), so its write need not be sent at once. */
static bool only_starts(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->p->n_events; i++) {
		if (!kar_streq(r->p->events[i].reason, kar_reason_Admitted))
			return false;
	}
	return r->st.phase == KAR_QJ_PHASE_STARTING && !r->f->recorded->incarnation &&
		(r->f->recorded->phase == KAR_QJ_PHASE_NONE || r->f->recorded->phase == KAR_QJ_PHASE_PENDING);
}

/* Most jobs are admitted a moment after their first sync, so its phase Pending is not written at once. */
static bool is_first_sync(const struct queuejob_reconcile *r)
{
	return r->f->recorded->phase == KAR_QJ_PHASE_NONE && r->st.phase == KAR_QJ_PHASE_PENDING &&
		r->p->n_events == r->announced;
}

/* The status is what the next decision believes, so a wrong number in it would show only there. */
static void check_numbers(const struct queuejob_reconcile *r)
{
	const struct kar_queuejob_status *was = r->f->recorded, *is = &r->st;

	if (was->edited)
		return;
	assert(is->incarnation >=
		was->incarnation); /* else the pods of two incarnations would have one label */
	assert(is->restarts >= was->restarts && is->pod_failures >= was->pod_failures &&
		is->disruptions >= was->disruptions); /* else the limits would never be reached */
	assert(!queuejob_has_gang(is->phase) ||
		is->incarnation > 0); /* else its pods would look unrecorded */
}

/* Names are the keys of the list: the API server refuses a status in which one occurs twice. */
static void drop_equal_names(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;
	size_t n = 0;

	for (size_t i = 0; i < st->n_tasks; i++) {
		bool known = false;

		for (size_t k = 0; k < n; k++)
			known |= kar_streq(st->tasks[k].name, st->tasks[i].name);
		if (!known)
			st->tasks[n++] = st->tasks[i];
	}
	st->n_tasks = n;
}

static void fill_in_status(struct queuejob_reconcile *r)
{
	if (r->f->recorded->edited)
		queuejob_drop_false_ends(
			r); /* after the move: the same end, if it is reached again, keeps its time */
	fill_in_counts(r);
	check_numbers(r);
	if (r->f->job->invalid)
		drop_equal_names(r);
	r->st.observed_generation = r->f->job->generation;
	r->st.selector = r->f->job->spec.selector;
	if (!kar_queuejob_has_ended(&r->st) ||
		!kar_has_text(r->st.queue)) /* nothing moves a job that has ended */
		r->st.queue = r->f->v->queue;
	r->st.record.pods_version = r->f->v->pods_version;
	if (kar_queuejob_status_equal(r->f->recorded, &r->st) && !r->f->recorded->edited &&
		!queuejob_use_has_changed(r))
		return;
	queuejob_record_use(r);

	struct kar_queuejob_status *st = kar_arena_alloc(r->arena, 1, sizeof(*st));

	*st = r->st;
	r->p->status = st;
	r->p->status_text = kar_status_print(&kar_queuejob_status_table, r->f->recorded, st, r->arena);
	r->p->counters = !r->remembers_surplus && !r->f->recorded->edited &&
		(kar_queuejob_status_same_story(r->f->recorded, st) || only_starts(r));
	r->p->urgent = !r->p->counters && !is_first_sync(r);
	r->p->answers = !r->p->urgent && r->announced;
}

/*
 * A first start is not recorded by itself (decision 007): the move that creates the pods follows in this decision. Repairs
 * of the children are carried out first, in a plan of their own.
 */
static void continue_first_start(struct queuejob_reconcile *r)
{
	if (r->p->n_actions) {
		r->p->unfinished = true;
		return;
	}
	count_tasks(r);
	queuejob_assume_recorded(r);
	queuejob_move(r);
}

static void decide(struct queuejob_reconcile *r)
{
	if (r->f->job->spec.of_others)
		return;
	if (r->f->job->deletion) {
		queuejob_release_pods(r);
		return;
	}
	/*
	 * The cached job may be older than its pods: read it before anything is decided. If instead somebody has edited a
	 * pod's label or cleared the status, the read shows that the job is the latest, and the pods are known.
	 */
	if (queuejob_is_behind(r)) {
		queuejob_check_owner(r);
		r->p->unfinished = true;
		return;
	}
	if (r->f->recorded->edited) {
		queuejob_derive_status(r);
	} else if (queuejob_runs_unrecorded(r)) {
		queuejob_start(r);
		count_tasks(r);
		queuejob_assume_recorded(r);
	}
	queuejob_move(r);
	if (r->st.phase == KAR_QJ_PHASE_STARTING && !r->f->seen->incarnation)
		continue_first_start(r);
	queuejob_record_ends(r);
	queuejob_check_templates(r);
	queuejob_announce_wait(r);
	fill_in_status(r);
}

void queuejob_decide(const struct queuejob_view *v, kar_time now, struct kar_plan *p)
{
	struct queuejob_reconcile r;

	podset_release_unowned(p, v->orphans, v->n_orphans);
	if (!v->job)
		return;
	r = (struct queuejob_reconcile){
		.p = p,
		.arena = p->arena,
	};
	queuejob_begin(&r, v, &v->job->status, now);
	decide(&r);
}
