/* The end of a job, and its suspension. Completed and Failed are final: no pod is ever created again. */
#include "controllers/queuejob/reconcile.h"

#include "api/copy.h"

/* --- the end ------------------------------------------------------------------------------------- */

static void end(struct queuejob_reconcile *r, enum kar_qj_phase phase, const char *condition,
	const char *reason, const char *message)
{
	struct kar_queuejob_status *st = &r->st;

	st->phase = phase;
	st->completion_time = r->f->second;
	st->record.counted_pods = (struct kar_array){ 0 };
	st->position = 0;
	queuejob_report(r, reason, "%s", message);
	queuejob_set_condition(r, condition, true, reason, "%s", message);
	kar_plan_event(r->p, phase == KAR_QJ_PHASE_FAILED,
		phase == KAR_QJ_PHASE_FAILED ? reason : kar_qj_phase_name(phase), "FinishJob", "%s", message);
	queuejob_remove_live(r);
	podset_release_done(r->p, &r->f->pods);
}

void queuejob_complete(struct queuejob_reconcile *r)
{
	const struct kar_queuejob_spec *s = &r->f->job->spec;
	const char *message = s->has_min_succeeded || s->success_tasks.n
		? kar_arena_printf(r->arena, "%d of %s succeeded, which fulfils the success policy",
			  (int)r->f->pods.done, queuejob_count_pods(r, r->f->pods.total))
		: kar_arena_printf(r->arena, "%d of %s succeeded", (int)r->f->pods.done,
			  queuejob_count_pods(r, r->f->pods.total));

	end(r, KAR_QJ_PHASE_COMPLETED, KAR_QJ_COMPLETE, kar_reason_Completed, message);
}

void queuejob_fail(struct queuejob_reconcile *r, const char *reason, const char *message)
{
	end(r, KAR_QJ_PHASE_FAILED, KAR_QJ_FAILED, reason, message);
}

void queuejob_end_by_rule(struct queuejob_reconcile *r)
{
	const char *message = queuejob_describe_ruled(r, r->loss.cause, r->loss.rule);

	if (r->loss.action == KAR_FAILURE_FAIL_JOB)
		queuejob_fail(r, kar_reason_PodFailurePolicy, message);
	else
		end(r, KAR_QJ_PHASE_COMPLETED, KAR_QJ_COMPLETE, kar_reason_PodFailurePolicy, message);
}

void queuejob_fail_indexes(struct queuejob_reconcile *r)
{
	const char *message, *reason = queuejob_describe_failed_indexes(r, &message);

	queuejob_fail(r, reason, message);
}

void queuejob_fail_limit(struct queuejob_reconcile *r)
{
	const char *last = r->loss.cause && r->loss.by_failure
		? kar_arena_printf(r->arena, "; last: %s", queuejob_describe_loss(r, r->loss.cause))
		: "";
	const char *message =
		kar_arena_printf(r->arena, "%d failure%s, backoffLimit is %d%s", (int)r->st.pod_failures,
			r->st.pod_failures == 1 ? "" : "s", (int)r->f->job->spec.backoff_limit, last);

	queuejob_fail(r, kar_reason_BackoffLimitExceeded, message);
}

/* True if @seconds have passed since @from (wall ms); else requests a sync at that time. */
static bool has_passed(struct queuejob_reconcile *r, kar_time from, int64_t seconds)
{
	kar_time due = from + kar_clamp(seconds, 0, INT32_MAX) * KAR_SECOND;

	if (r->f->now >= due)
		return true;
	kar_plan_requeue(r->p, due - r->f->now);
	return false;
}

/* Seconds for which its queue has let it run; INT64_MAX: no limit. */
static int64_t allowed_seconds(const struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);

	return g && g->status.run_seconds > 0 ? g->status.run_seconds : INT64_MAX;
}

/* By its spec; INT64_MAX: no limit. */
static int64_t asked_seconds(const struct queuejob_reconcile *r)
{
	const struct kar_queuejob_spec *s = &r->f->job->spec;

	return s->has_active_deadline ? s->active_deadline_seconds : INT64_MAX;
}

static int64_t run_seconds(const struct queuejob_reconcile *r)
{
	int64_t asked = asked_seconds(r), allowed = allowed_seconds(r);

	return allowed < asked ? allowed : asked;
}

bool queuejob_past_deadline(struct queuejob_reconcile *r)
{
	int64_t seconds = run_seconds(r);

	return seconds < INT64_MAX && r->f->seen->start_time &&
		has_passed(r, r->f->seen->start_time, seconds);
}

/* The queue of the admission is not known if somebody has emptied the status. */
static const char *who_limits(const struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);

	if (asked_seconds(r) <= allowed_seconds(r))
		return "activeDeadlineSeconds";
	if (!g || !kar_has_text(g->status.admitted_queue))
		return "limit of its queue";
	return kar_arena_printf(r->arena, "limit of queue %s", g->status.admitted_queue);
}

void queuejob_fail_deadline(struct queuejob_reconcile *r)
{
	const char *message =
		kar_arena_printf(r->arena, "%d of %s succeeded after %lld s (%s)", (int)r->f->pods.done,
			queuejob_count_pods(r, r->f->pods.total), (long long)run_seconds(r), who_limits(r));

	queuejob_fail(r, kar_reason_DeadlineExceeded, message);
}

/* The resourceVersion makes the delete fail if the job has changed: ttlSecondsAfterFinished may have been raised. */
static void delete_job(struct queuejob_reconcile *r)
{
	struct kar_action *a = kar_plan_add(r->p, KAR_DELETE, &kar_queuejob_type,
		kar_copy(r->arena, r->f->job->o.ns), kar_copy_text(r->arena, r->f->job->o.name));

	a->what = QUEUEJOB_DELETE_JOB;
	a->uid = kar_copy(r->arena, r->f->job->o.uid);
	a->rv = r->f->job->o.rv;
}

void queuejob_stay_finished(struct queuejob_reconcile *r)
{
	const struct kar_queuejob_spec *s = &r->f->job->spec;

	const struct kar_condition *end = kar_condition_find(&r->f->seen->conditions,
		r->f->seen->phase == KAR_QJ_PHASE_COMPLETED ? KAR_QJ_COMPLETE : KAR_QJ_FAILED);

	if (end)
		queuejob_report(r, kar_copy_text(r->arena, end->reason), "%s", end->message);
	queuejob_remove_live(r);
	queuejob_release_ended(r);
	if (r->f->v->is_awaited)
		return; /* that job records this end first, and its status enqueues this job again */
	if (s->has_ttl && has_passed(r, r->f->seen->completion_time, s->ttl_seconds_after_finished))
		delete_job(r);
}

/* --- suspension ---------------------------------------------------------------------------------- */

static void enter_suspended(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;

	st->phase = KAR_QJ_PHASE_SUSPENDED;
	if (queuejob_drops_results(r->f->seen))
		st->record.template_hash = ""; /* a late success of the given-up incarnation does not count */
	queuejob_end_backoff(r);
	queuejob_reset_order(r);
	st->start_time = 0; /* the deadline starts again on resume, as for batch/v1 */
	st->record.formed_min_available = 0;
	st->record.formation = KAR_QJ_FORMATION_NONE;
	st->record.counted_pods = (struct kar_array){ 0 };
	st->position = 0;
	queuejob_set_condition(r, KAR_QJ_SUSPENDED, true, kar_reason_Suspended, "%s", "");
	queuejob_set_condition(r, KAR_QJ_ADMITTED, false, kar_reason_Suspended, "%s", "");
	queuejob_set_condition(r, KAR_QJ_FORMED, false, kar_reason_Suspended, "%s", "");
	if (r->f->recorded->phase == KAR_QJ_PHASE_SUSPENDED || r->f->job->asks)
		return; /* an edit of the status is no second suspension, and a question none at all */
	kar_plan_event(r->p, false, kar_reason_Suspended, "Suspend", "stopped %s; %d succeeded before",
		queuejob_count_pods(r, r->f->pods.running), (int)r->f->pods.done);
}

/* Nobody needs a job that only asks for longer than it takes to read the answer. */
static const int64_t ASKS_SECONDS = 60;

static void answer(struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);

	if (r->f->seen->incarnation)
		return;
	if (g)
		r->st.what_if = kar_what_if_copy(&g->status.what_if, r->arena);
	if (has_passed(r, r->f->job->creation, ASKS_SECONDS))
		delete_job(r);
}

void queuejob_suspend(struct queuejob_reconcile *r)
{
	if (r->f->seen->phase == KAR_QJ_PHASE_SUSPENDED)
		queuejob_release_ended(r);
	else
		enter_suspended(r);
	queuejob_report(r, kar_reason_Suspended, "suspended by spec.suspend; %d of %s had succeeded",
		(int)r->f->pods.done, queuejob_count_pods(r, r->f->pods.total));
	queuejob_stop_live(r);
	if (r->f->job->asks)
		answer(r);
	if (r->f->job->asks || r->f->seen->incarnation > 0 || r->f->v->group || r->f->v->sched) {
		(void)queuejob_repair_children(r);
		return;
	}
	queuejob_drop_service(r); /* a job that was created suspended needs no children yet */
	(void)queuejob_is_valid(r);
}
