/* The life of an incarnation: it waits for admission, starts, forms, breaks, and is replaced by the next. */
#include "controllers/queuejob/reconcile.h"

#include <assert.h>

#include "api/queuejob/queuejob_env.h"
#include "common/base/timefmt.h"

/* --- the start ------------------------------------------------------------------------------------ */

/* Without a list the pods start all the same: their names follow a rule. */
static void report_long_lists(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->job->spec.n_tasks; i++) {
		if (!kar_queuejob_hosts_too_long(r->f->job, i))
			continue;
		kar_plan_event(r->p, true, kar_reason_HostsTooLong, "CreatePods",
			"KAR_HOSTS is not set: the host names of the %d pods of task %s have more than %d KiB",
			(int)r->f->job->spec.tasks[i].replicas, r->f->job->spec.tasks[i].name,
			KAR_HOSTS_MAX_BYTES >> 10);
		return;
	}
	if (kar_queuejob_all_hosts_too_long(r->f->job))
		kar_plan_event(r->p, true, kar_reason_HostsTooLong, "CreatePods",
			"KAR_HOSTS_<TASK> is not set: the host names of all tasks have more than %d KiB together",
			KAR_HOSTS_MAX_BYTES >> 10);
}

static void report_start(struct queuejob_reconcile *r)
{
	bool restarted = r->f->seen->phase == KAR_QJ_PHASE_RESTARTING;
	const char *missing = queuejob_count_pods(r, queuejob_missing(r));

	r->st.record.formation = KAR_QJ_FORMATION_FIRST;
	queuejob_set_condition(r, KAR_QJ_FORMED, false, kar_reason_Starting, "%s", "");
	queuejob_report_starting(r, kar_reason_Starting);
	report_long_lists(r);
	if (restarted)
		kar_plan_event(r->p, false, kar_reason_Starting, "CreatePods", "incarnation %d: creating %s",
			(int)r->st.incarnation, missing);
	else if (queuejob_admission(r))
		kar_plan_event(r->p, false, kar_reason_Admitted, "CreatePods",
			"admitted by queue %s; creating %s", r->f->v->queue, missing);
}

/*
 * Only changes the status. Every start but the first is written before anything is created; the first start is folded into
 * the next write (decision 007, begin.c).
 */
void queuejob_start(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;

	st->phase = KAR_QJ_PHASE_STARTING;
	st->incarnation =
		r->f->seen->incarnation > 0 ? r->f->seen->incarnation + 1 : queuejob_incarnation(r->f->v);
	st->record.formed_min_available = 0;
	st->record.counted_pods = (struct kar_array){ 0 };
	st->record.template_hash =
		r->f->seen->incarnation > 0 ? r->f->job->spec_template_hash : queuejob_template_of(r);
	if (!st->start_time) /* a first start is not recorded at once: the time of the admission stays the same until then */
		st->start_time = r->f->seen->incarnation > 0 ? r->f->second : queuejob_admitted_at(r);
	report_start(r);
}

/* --- Pending ------------------------------------------------------------------------------------- */

void queuejob_resume(struct queuejob_reconcile *r)
{
	if (r->f->seen->phase != KAR_QJ_PHASE_SUSPENDED)
		return;
	queuejob_set_condition(r, KAR_QJ_SUSPENDED, false, kar_reason_Resumed, "%s", "");
	kar_plan_event(r->p, false, kar_reason_Resumed, "Resume", "resumed; %d of %s succeeded before",
		(int)r->f->pods.done, queuejob_count_pods(r, r->f->pods.total));
}

static bool is_leftover(const struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	const struct podset_slot *slot = podset_find(&r->f->pods, pod);

	return !slot || slot->state != PODSET_DONE;
}

/* Stops the pods from before a suspension, except those whose success counts. True if none is left. */
static bool clear_leftovers(struct queuejob_reconcile *r)
{
	bool clear = true;

	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		if (!is_leftover(r, r->f->v->pods[i]))
			continue;
		if (queuejob_is_evicted(r))
			queuejob_evict_pod(r, r->f->v->pods[i], queuejob_describe_roll_back(r));
		else
			podset_stop(r->p, r->f->v->pods[i]);
		clear = false;
	}
	return clear;
}

void queuejob_wait_for_admission(struct queuejob_reconcile *r)
{
	bool admitted, clear;

	r->st.phase = KAR_QJ_PHASE_PENDING;
	queuejob_resume(r);
	if (r->f->template_changed)
		r->st.record.template_hash = ""; /* results of the old templates do not count */
	clear = clear_leftovers(r);
	admitted = queuejob_keep_children(r);
	podset_release_done(r->p, &r->f->pods);
	if (!clear)
		queuejob_report(r, kar_reason_WaitingForTermination,
			"waiting until the pods of incarnation %d are gone%s", (int)r->f->seen->incarnation,
			queuejob_describe_not_gone(r));
	else if (admitted && queuejob_has_places(r) && r->f->seen->phase != KAR_QJ_PHASE_SUSPENDED)
		queuejob_start(r);
}

/* --- Restarting ---------------------------------------------------------------------------------- */

static void leave_incarnation(struct queuejob_reconcile *r, enum kar_qj_restart_kind kind, const char *reason,
	const char *message)
{
	struct kar_queuejob_status *st = &r->st;

	st->phase = KAR_QJ_PHASE_RESTARTING;
	st->record.formed_min_available = 0;
	st->record.formation = KAR_QJ_FORMATION_NONE;
	st->record.counted_pods = (struct kar_array){ 0 };
	queuejob_end_backoff(r);
	queuejob_reset_order(r);
	queuejob_record_restart(r, kind, reason, message);
	queuejob_set_condition(r, KAR_QJ_FORMED, false, reason, "%s", message);
	queuejob_report(r, reason, "%s", message);
}

static void enter_restarting(struct queuejob_reconcile *r, enum kar_qj_restart_kind kind, const char *reason,
	const char *message)
{
	r->want.from_nothing = true;
	leave_incarnation(r, kind, reason, message);
	for (size_t i = 0; i < r->f->v->n_pods; i++)
		podset_remove(r->p, r->f->v->pods[i]);
}

void queuejob_restart_broken(struct queuejob_reconcile *r)
{
	bool by_policy = r->loss.action == KAR_FAILURE_RESTART_JOB,
	     by_failure = r->loss.cause && r->loss.by_failure;
	enum kar_qj_restart_kind kind = by_policy ? KAR_QJ_RESTART_POLICY
		: by_failure                      ? KAR_QJ_RESTART_FAILURE
						  : KAR_QJ_RESTART_DISRUPTION;
	const char *reason = by_policy            ? kar_reason_PodFailurePolicy
		: by_failure                      ? kar_reason_PodFailed
		: !r->loss.cause                  ? kar_reason_PodsMissing
		: podset_never_ran(r->loss.cause) ? kar_reason_PodRefused
						  : kar_reason_PodDisrupted;
	const char *message = r->loss.cause ? queuejob_describe_ruled(r, r->loss.cause, r->loss.rule)
					    : "pods of the gang are gone";

	r->st.restarts++;
	kar_plan_event(r->p, true, kar_reason_Restarting, "RestartGang",
		"%s; %d of %s left, quorum %d: restarting the gang", message,
		(int)(r->f->pods.running + r->f->pods.done), queuejob_count_pods(r, queuejob_desired(r)),
		(int)r->want.min);
	enter_restarting(r, kind, reason, message);
}

/* No rolling update: a gang of two versions is no gang. Not counted as a restart. */
void queuejob_restart_with_new_template(struct queuejob_reconcile *r)
{
	static const char message[] = "a pod template was changed";

	kar_plan_event(r->p, false, kar_reason_Restarting, "RestartGang", "%s: re-creating all pods",
		message);
	enter_restarting(r, KAR_QJ_RESTART_TEMPLATE, kar_reason_TemplateChanged, message);
}

/* A part of the minimum is useless, and others may wait for the quota that it uses. Not counted as a restart. */
void queuejob_restart_for_quota(struct queuejob_reconcile *r)
{
	r->p->rolled_back = queuejob_count_live(r);
	r->p->unfinished = true;
	queuejob_report_refusal(r);
	enter_restarting(r, KAR_QJ_RESTART_QUOTA, kar_reason_QuotaExceeded, r->st.message);
}

/* Succeeded indexes stay done, as in a suspension. Not counted as a restart. */
void queuejob_roll_back(struct queuejob_reconcile *r)
{
	const char *message = queuejob_describe_roll_back(r);
	bool evicted = queuejob_is_evicted(r); /* that is said as a reason to wait (report.c) */

	if (!evicted)
		kar_plan_event(r->p, true, kar_reason_RolledBack, "RestartGang",
			"%s; its pods are deleted, and it is placed again", message);
	leave_incarnation(r, KAR_QJ_RESTART_NODES, evicted ? kar_reason_Preempted : kar_reason_RolledBack,
		message);
	podset_release_done(r->p, &r->f->pods);
	(void)clear_leftovers(r);
}

/* Only restarts that were caused by a failure have a back-off. */
static kar_time restart_backoff(const struct queuejob_reconcile *r)
{
	const struct kar_qj_record *record = &r->f->seen->record;
	bool may_be = record->restart_kind == KAR_QJ_RESTART_FAILURE ||
		record->restart_kind == KAR_QJ_RESTART_POLICY;
	bool by_failure = may_be && r->f->seen->last_restart.time == record->last_failure_time;

	return by_failure ? queuejob_backoff_left(r) : 0;
}

/* Deletes the pods of the incarnation. True if none is left. */
static bool clear_incarnation(struct queuejob_reconcile *r)
{
	if (queuejob_was_rolled_back(r)) {
		podset_release_done(r->p, &r->f->pods);
		return clear_leftovers(r);
	}
	r->want.from_nothing = true;
	for (size_t i = 0; i < r->f->v->n_pods; i++)
		podset_remove(r->p, r->f->v->pods[i]);
	return !r->f->v->n_pods;
}

/* Its queue has given its place to others, or its attempt to start has failed. */
static bool has_lost_place(const struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	const struct kar_condition *c = g ? kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED) : NULL;

	return c && c->status == KAR_COND_FALSE && !queuejob_admission(r);
}

/* What the job itself has brought about does not extend its deadline. Else it counts from the next start, as after a suspension. */
static bool keeps_deadline(enum kar_qj_restart_kind kind)
{
	return kind == KAR_QJ_RESTART_FAILURE || kind == KAR_QJ_RESTART_POLICY ||
		kind == KAR_QJ_RESTART_TEMPLATE;
}

/* Nothing of it is left, so it waits like one that has never started. Why, queuejob_keep_children() has reported. */
static void wait_in_queue(struct queuejob_reconcile *r)
{
	r->st.phase = KAR_QJ_PHASE_PENDING;
	if (queuejob_drops_results(r->f->seen))
		r->st.record.template_hash =
			""; /* a late success of the given-up incarnation does not count */
	if (!keeps_deadline(r->f->seen->record.restart_kind))
		r->st.start_time = 0;
}

bool queuejob_start_is_over(struct queuejob_reconcile *r)
{
	return r->f->seen->record.formation == KAR_QJ_FORMATION_FIRST && !r->f->v->n_pods &&
		!r->f->pods.done && has_lost_place(r);
}

void queuejob_wait_again(struct queuejob_reconcile *r)
{
	(void)queuejob_keep_children(r);
	r->st.phase = KAR_QJ_PHASE_PENDING;
	r->st.record.formation = KAR_QJ_FORMATION_NONE;
	r->st.record.counted_pods = (struct kar_array){ 0 };
	r->st.start_time = 0;
	queuejob_reset_order(r);
}

void queuejob_wait_until_gone(struct queuejob_reconcile *r)
{
	kar_time left = restart_backoff(r);
	bool admitted = queuejob_keep_children(r), gone = clear_incarnation(r);
	char text[KAR_TIME_LEN];

	if (r->f->seen->record.restart_kind == KAR_QJ_RESTART_QUOTA)
		r->p->unfinished = true; /* the refusal is remembered until its back-off is over */
	if (gone && left) {
		kar_plan_requeue(r->p, left);
		queuejob_report(r, kar_reason_BackOff, "next start at %s; %s",
			kar_time_format(r->f->now + left, text), r->f->seen->last_restart.message);
	} else if (gone && has_lost_place(r)) {
		wait_in_queue(r);
	} else if (admitted && queuejob_has_places(r) && gone) {
		queuejob_start(r);
	}
	queuejob_report(r, r->f->seen->last_restart.reason, "%s%s", r->f->seen->last_restart.message,
		queuejob_describe_not_gone(r));
}

/* --- Starting, Running --------------------------------------------------------------------------- */

static void form(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;

	/* Pending pods do not count. */
	assert(r->f->pods.running + r->f->pods.done >= r->want.min);
	st->record.formed_min_available = r->want.min;
	st->record.formation = KAR_QJ_FORMATION_DONE;
	if (st->phase == KAR_QJ_PHASE_RUNNING)
		return;
	st->phase = KAR_QJ_PHASE_RUNNING;
	queuejob_set_condition(r, KAR_QJ_FORMED, true, kar_reason_QuorumReached,
		"%d of %s running or succeeded, minimum %d", (int)(r->f->pods.running + r->f->pods.done),
		queuejob_count_pods(r, queuejob_desired(r)), (int)r->want.min);
	if (r->f->recorded->phase == KAR_QJ_PHASE_RUNNING)
		return; /* an edit of the status has made it form again, which is no news */
	kar_plan_event(r->p, false, kar_reason_Running, "FormGang",
		"gang formed: %d of %s running or succeeded, quorum %d",
		(int)(r->f->pods.running + r->f->pods.done), queuejob_count_pods(r, queuejob_desired(r)),
		(int)r->want.min);
}

/* After an edit of the status the condition may be wrong or missing. */
static bool is_shown_unformed(const struct queuejob_reconcile *r)
{
	const struct kar_condition *c = kar_condition_find(&r->st.conditions, KAR_QJ_FORMED);

	return c && c->status == KAR_COND_FALSE;
}

/*
 * The gang must form again, but its running pods stay: minAvailable was raised, a task has started, or a rule of the failure
 * policy replaces pods without a restart.
 */
static void unform(struct queuejob_reconcile *r)
{
	static const char *const reasons[KAR_QJ_FORMATIONS] = {
		[KAR_QJ_FORMATION_FIRST] = kar_reason_Starting,
		[KAR_QJ_FORMATION_RAISED] = kar_reason_QuorumRaised,
		[KAR_QJ_FORMATION_RECREATED] = kar_reason_PodRecreated,
		[KAR_QJ_FORMATION_TASK] = kar_reason_TaskRestarting,
	};

	r->st.record.formed_min_available = 0;
	if (queuejob_grows(r) ||
		(r->st.phase == KAR_QJ_PHASE_STARTING && is_shown_unformed(r) && !r->f->recorded->edited))
		return;
	/* After an edit the condition is set again, for the reason that was derived. */
	if (r->st.phase != KAR_QJ_PHASE_STARTING || r->loss.unformed_by)
		r->st.record.formation = r->loss.unformed_by ? r->loss.unformed_by : KAR_QJ_FORMATION_RAISED;
	r->st.phase = KAR_QJ_PHASE_STARTING;
	queuejob_set_condition(r, KAR_QJ_FORMED, false, reasons[r->st.record.formation], "%s", "");
}

void queuejob_keep_gang(struct queuejob_reconcile *r)
{
	bool admitted;

	queuejob_start_tasks(r);
	if (queuejob_has_quorum(r) && !queuejob_restarts_task(r))
		form(r);
	else if (r->loss.rearm || r->want.starts_tasks || !queuejob_was_formed(r))
		unform(r);
	admitted = queuejob_keep_children(r);
	podset_release_done(r->p, &r->f->pods);
	queuejob_remove_surplus(r);
	podset_remove_all(r->p, &r->f->pods.old);
	queuejob_repair_pods(r);
	queuejob_continue_task_restarts(r);
	queuejob_replace_lost(r);
	if (admitted && queuejob_keep_native(r))
		queuejob_create_pods(r);
	queuejob_explain(r);
}
