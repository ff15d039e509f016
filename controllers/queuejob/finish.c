/* How a job ends, and how it pauses. Completed and Failed are final: no pod is ever created again. */
#include "controllers/queuejob/round.h"

#include "api/keep.h"

/* --- success ------------------------------------------------------------------------------------- */

static bool counts_for_success(const struct kar_queuejob_spec *s, const char *task)
{
	return !s->success_tasks.n || kar_strings_have(&s->success_tasks, task);
}

/* Pods of the tasks that count; *@done: those that have succeeded. */
static int32_t count_for_success(const struct queuejob_round *r, int32_t *done)
{
	const struct kar_queuejob_spec *s = &r->job->spec;
	int32_t all = 0;

	*done = 0;
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		if (!counts_for_success(s, s->tasks[i].name))
			continue;
		all += r->t.tasks[i].n;
		*done += r->t.tasks[i].n_done;
	}
	return all;
}

/* A job that asks for no pod at all is neither complete nor failed: it waits for replicas. */
bool queuejob_is_complete(const struct queuejob_round *r)
{
	const struct kar_queuejob_spec *s = &r->job->spec;
	int32_t done, want = count_for_success(r, &done);

	if (s->has_min_succeeded && s->min_succeeded > 0)
		want = s->min_succeeded;
	return want > 0 && done >= want;
}

bool queuejob_can_complete(const struct queuejob_round *r)
{
	int32_t done;

	return count_for_success(r, &done) > 0;
}

/* --- the end ------------------------------------------------------------------------------------- */

static void end(struct queuejob_round *r, enum kar_qj_phase phase, const char *condition, const char *reason,
	const char *message)
{
	struct kar_queuejob_status *st = &r->st;

	st->phase = phase;
	st->completion_time = r->second;
	st->counted_pods = (struct kar_array){ 0 };
	st->position = 0;
	queuejob_say(r, reason, "%s", message);
	queuejob_set_condition(r, condition, true, reason, "%s", message);
	kar_plan_event(r->p, phase == KAR_QJ_PHASE_FAILED,
		phase == KAR_QJ_PHASE_FAILED ? reason : kar_qj_phase_name(phase), "FinishJob", "%s", message);
	queuejob_remove_live(r);
	queuejob_release_done(r);
	r->p->frees_nodes = true;
}

void queuejob_complete(struct queuejob_round *r)
{
	const struct kar_queuejob_spec *s = &r->job->spec;
	const char *message = s->has_min_succeeded || s->success_tasks.n
		? kar_arena_printf(r->arena, "%d of %s succeeded, which fulfils the success policy",
			  (int)r->t.done, queuejob_count_pods(r, r->t.total))
		: kar_arena_printf(r->arena, "%d of %s succeeded", (int)r->t.done,
			  queuejob_count_pods(r, r->t.total));

	end(r, KAR_QJ_PHASE_COMPLETED, KAR_QJ_COMPLETE, kar_reason_Completed, message);
}

bool queuejob_over_limit(const struct queuejob_round *r)
{
	return r->st.pod_failures > r->job->spec.backoff_limit;
}

void queuejob_end_by_rule(struct queuejob_round *r)
{
	const char *message = queuejob_describe_ruled(r, r->cause, r->rule);

	if (r->verdict == KAR_FAILURE_FAIL_JOB)
		end(r, KAR_QJ_PHASE_FAILED, KAR_QJ_FAILED, kar_reason_PodFailurePolicy, message);
	else
		end(r, KAR_QJ_PHASE_COMPLETED, KAR_QJ_COMPLETE, kar_reason_PodFailurePolicy, message);
}

void queuejob_fail_limit(struct queuejob_round *r)
{
	const char *last = r->cause && r->by_failure
		? kar_arena_printf(r->arena, "; last: %s", queuejob_describe_loss(r, r->cause))
		: "";
	const char *message =
		kar_arena_printf(r->arena, "%d failure%s, backoffLimit is %d%s", (int)r->st.pod_failures,
			r->st.pod_failures == 1 ? "" : "s", (int)r->job->spec.backoff_limit, last);

	end(r, KAR_QJ_PHASE_FAILED, KAR_QJ_FAILED, kar_reason_BackoffLimitExceeded, message);
}

static bool passes(struct queuejob_round *r, kar_time from, int64_t seconds)
{
	kar_time due = from + kar_clamp(seconds, 0, INT32_MAX) * KAR_SECOND;

	if (r->now >= due)
		return true;
	kar_plan_requeue(r->p, due - r->now);
	return false;
}

bool queuejob_past_deadline(struct queuejob_round *r)
{
	if (!r->job->spec.has_active_deadline || !r->seen->start_time)
		return false;
	return passes(r, r->seen->start_time, r->job->spec.active_deadline_seconds);
}

void queuejob_fail_deadline(struct queuejob_round *r)
{
	const char *message = kar_arena_printf(r->arena, "not complete after activeDeadlineSeconds %lld",
		(long long)r->job->spec.active_deadline_seconds);

	end(r, KAR_QJ_PHASE_FAILED, KAR_QJ_FAILED, kar_reason_DeadlineExceeded, message);
}

/* Only as it was read: an edit of ttlSecondsAfterFinished that the cache does not show yet must not come too late. */
static void delete_job(struct queuejob_round *r)
{
	struct kar_action *a = kar_plan_add(r->p, KAR_DELETE, &kar_queuejob_type,
		kar_keep(r->arena, r->job->o.ns), kar_keep_text(r->arena, r->job->o.name));

	a->what = QUEUEJOB_DELETE_JOB;
	a->uid = kar_keep(r->arena, r->job->o.uid);
	a->rv = r->job->o.rv;
}

void queuejob_stay_finished(struct queuejob_round *r)
{
	const struct kar_queuejob_spec *s = &r->job->spec;

	queuejob_remove_live(r);
	queuejob_release_ended(r);
	if (s->has_ttl && passes(r, r->seen->completion_time, s->ttl_seconds_after_finished))
		delete_job(r);
}

/* --- pause --------------------------------------------------------------------------------------- */

static void enter_suspended(struct queuejob_round *r)
{
	struct kar_queuejob_status *st = &r->st;

	st->phase = KAR_QJ_PHASE_SUSPENDED;
	if (r->seen->phase == KAR_QJ_PHASE_RESTARTING && !queuejob_gave_nodes_back(r))
		st->template_hash =
			""; /* what the pods of the incarnation that was given up still do counts no more */
	queuejob_end_backoff(r);
	queuejob_order_anew(r);
	st->start_time = 0; /* the deadline's time starts anew on resume, as for batch/v1 */
	st->formed_min_available = 0;
	st->counted_pods = (struct kar_array){ 0 };
	st->position = 0;
	queuejob_set_condition(r, KAR_QJ_SUSPENDED, true, kar_reason_Suspended, "%s", "");
	queuejob_set_condition(r, KAR_QJ_ADMITTED, false, kar_reason_Suspended, "%s", "");
	queuejob_set_condition(r, KAR_QJ_FORMED, false, kar_reason_Suspended, "%s", "");
	kar_plan_event(r->p, false, kar_reason_Suspended, "Suspend", "stopped %s; %d succeeded before",
		queuejob_count_pods(r, r->t.running), (int)r->t.done);
}

void queuejob_suspend(struct queuejob_round *r)
{
	if (r->seen->phase == KAR_QJ_PHASE_SUSPENDED)
		queuejob_release_ended(r);
	else
		enter_suspended(r);
	queuejob_say(r, kar_reason_Suspended, "%s", "spec.suspend is true");
	queuejob_stop_live(r);
	if (r->seen->incarnation > 0 || r->v->group || r->v->sched) {
		(void)queuejob_repair_children(r);
		return;
	}
	queuejob_drop_service(r); /* a job that was never more than suspended needs no children yet */
	(void)queuejob_is_valid(r);
}
