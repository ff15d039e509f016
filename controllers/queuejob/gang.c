/* An incarnation: how it forms, breaks and makes way for the next. */
#include "controllers/queuejob/round.h"

#include "api/keep.h"
#include "common/text.h"
#include "common/timefmt.h"

/* --- Pending ------------------------------------------------------------------------------------- */

static void resume(struct queuejob_round *r)
{
	queuejob_set_condition(r, KAR_QJ_SUSPENDED, false, kar_reason_Resumed, "%s", "");
	kar_plan_event(r->p, false, kar_reason_Resumed, "Resume", "resumed; %d of %s succeeded before",
		(int)r->t.done, queuejob_count_pods(r, r->t.total));
}

static bool stands_in_the_way(const struct queuejob_round *r, const struct kar_pod *pod)
{
	const struct queuejob_slot *slot = queuejob_find_slot(&r->t, r->job, pod);

	return !slot || slot->state != QUEUEJOB_SLOT_DONE;
}

/* What is left from before a suspension, except the work that counts as done. True if there is nothing. */
static bool clear_leftovers(struct queuejob_round *r)
{
	bool clear = true;

	for (size_t i = 0; i < r->v->n_pods; i++) {
		if (!stands_in_the_way(r, r->v->pods[i]))
			continue;
		queuejob_stop_pod(r, r->v->pods[i]);
		clear = false;
	}
	return clear;
}

void queuejob_wait_for_admission(struct queuejob_round *r)
{
	bool admitted, clear;

	r->st.phase = KAR_QJ_PHASE_PENDING;
	if (r->seen->phase == KAR_QJ_PHASE_SUSPENDED)
		resume(r);
	if (r->template_changed)
		r->st.template_hash = ""; /* what was done with the old templates counts no more */
	clear = clear_leftovers(r);
	admitted = queuejob_keep_children(r);
	queuejob_release_done(r);
	if (!clear)
		queuejob_say(r, kar_reason_WaitingForTermination,
			"waiting until the pods of incarnation %d are gone%s", (int)r->seen->incarnation,
			queuejob_tell_not_gone(r));
	else if (admitted && r->seen->phase != KAR_QJ_PHASE_SUSPENDED)
		queuejob_start(r);
}

/* --- Restarting ---------------------------------------------------------------------------------- */

void queuejob_note_restart(struct queuejob_round *r, const char *reason, const char *message)
{
	const struct kar_pod *pod = r->cause;

	r->st.last_restart = (struct kar_restart){
		.time = r->second,
		.reason = reason,
		.message = kar_text_fit(r->arena, message, KAR_MAX_MESSAGE_BYTES),
		.pod = kar_keep_text(r->arena, pod ? pod->o.name : NULL),
		.node = kar_keep_text(r->arena, pod ? pod->node : NULL),
		.exit_code = pod ? kar_pod_loss_of(pod)->exit_code : 0,
	};
}

static void leave_incarnation(struct queuejob_round *r, const char *reason, const char *message)
{
	struct kar_queuejob_status *st = &r->st;

	st->phase = KAR_QJ_PHASE_RESTARTING;
	st->formed_min_available = 0;
	st->counted_pods = (struct kar_array){ 0 };
	queuejob_end_backoff(r);
	queuejob_order_anew(r);
	queuejob_note_restart(r, reason, message);
	queuejob_set_condition(r, KAR_QJ_FORMED, false, reason, "%s", message);
	queuejob_say(r, reason, "%s", message);
}

static void enter_restarting(struct queuejob_round *r, const char *reason, const char *message)
{
	r->forget = true;
	leave_incarnation(r, reason, message);
	for (size_t i = 0; i < r->v->n_pods; i++)
		queuejob_remove_pod(r, r->v->pods[i]);
}

static void restart_broken(struct queuejob_round *r)
{
	const char *reason = !r->cause ? kar_reason_PodsMissing
		: r->by_failure        ? kar_reason_PodFailed
				       : kar_reason_PodDisrupted;
	const char *message =
		r->cause ? queuejob_describe_ruled(r, r->cause, r->rule) : "pods of the gang are gone";

	if (r->verdict == KAR_FAILURE_RESTART_JOB)
		reason = kar_reason_PodFailurePolicy;

	r->st.restarts++;
	kar_plan_event(r->p, true, kar_reason_Restarting, "RestartGang",
		"%s; %d of %s left, quorum %d: restarting the gang", message, (int)(r->t.running + r->t.done),
		queuejob_count_pods(r, queuejob_desired(r)), (int)r->min);
	enter_restarting(r, reason, message);
}

/* No rolling update: a gang of two versions is no gang. Not counted as a restart. */
static void restart_with_new_template(struct queuejob_round *r)
{
	static const char message[] = "a pod template was changed";

	kar_plan_event(r->p, false, kar_reason_Restarting, "RestartGang", "%s: re-creating all pods",
		message);
	r->st.schedule_timeouts = 0;
	enter_restarting(r, kar_reason_TemplateChanged, message);
}

/* What it holds is of no use to it, and others may wait for just that. Not counted as a restart. */
static void give_back(struct queuejob_round *r)
{
	const char *message = kar_arena_printf(r->arena,
		"a ResourceQuota lets only a part of the minimum of %s be created, so none is kept",
		queuejob_count_pods(r, r->min));

	kar_plan_event(r->p, false, kar_reason_Restarting, "RestartGang", "%s", message);
	enter_restarting(r, kar_reason_QuotaExceeded, message);
}

/* Others can use what it holds. What has succeeded stays done, as when it is suspended. Not counted as a restart. */
static void give_nodes_back(struct queuejob_round *r, const char *message)
{
	kar_plan_event(r->p, true, kar_reason_ScheduleTimeout, "RestartGang", "%s", message);
	leave_incarnation(r, kar_reason_ScheduleTimeout, message);
	queuejob_release_done(r);
	(void)clear_leftovers(r);
}

/* Back-off slows down restarts that were caused by failures; disruptions are answered at once. */
static kar_time restart_backoff(const struct queuejob_round *r)
{
	static const char *const others[] = { kar_reason_PodDisrupted, kar_reason_PodsMissing,
		kar_reason_TemplateChanged, kar_reason_QuotaExceeded, kar_reason_ScheduleTimeout };
	const struct kar_restart *last = &r->seen->last_restart;
	bool by_failure = last->time == r->seen->last_failure_time &&
		!kar_same_any(last->reason, others, KAR_LEN(others));

	return by_failure ? queuejob_backoff_left(r) : 0;
}

/* Takes away what is left of the incarnation. True if it is gone. */
static bool clear_incarnation(struct queuejob_round *r)
{
	if (queuejob_gave_nodes_back(r)) {
		queuejob_release_done(r);
		return clear_leftovers(r);
	}
	r->forget = true;
	for (size_t i = 0; i < r->v->n_pods; i++)
		queuejob_remove_pod(r, r->v->pods[i]);
	return !r->v->n_pods;
}

void queuejob_wait_until_gone(struct queuejob_round *r)
{
	kar_time left = restart_backoff(r);
	bool admitted = queuejob_keep_children(r), gone = clear_incarnation(r);
	char text[KAR_TIME_LEN];

	if (gone && left) {
		kar_plan_requeue(r->p, left);
		queuejob_say(r, kar_reason_BackOff, "next start at %s; %s",
			kar_time_format(r->now + left, text), r->seen->last_restart.message);
	} else if (admitted && queuejob_may_try_nodes(r, gone) && gone) {
		queuejob_start(r);
	}
	queuejob_say(r, r->seen->last_restart.reason, "%s%s", r->seen->last_restart.message,
		queuejob_tell_not_gone(r));
}

/* --- Starting, Running --------------------------------------------------------------------------- */

static void form(struct queuejob_round *r)
{
	struct kar_queuejob_status *st = &r->st;

	st->formed_min_available = r->min;
	st->schedule_timeouts = 0;
	if (st->phase == KAR_QJ_PHASE_RUNNING)
		return;
	st->phase = KAR_QJ_PHASE_RUNNING;
	queuejob_set_condition(r, KAR_QJ_FORMED, true, kar_reason_QuorumReached, "%s", "");
	kar_plan_event(r->p, false, kar_reason_Running, "FormGang",
		"gang formed: %d of %s running or succeeded, quorum %d", (int)(r->t.running + r->t.done),
		queuejob_count_pods(r, queuejob_desired(r)), (int)r->min);
}

/*
 * minAvailable was raised, an edit has let a task start, or a rule spares the gang a restart: it must form anew, but those that
 * run go on.
 */
static void unform(struct queuejob_round *r)
{
	r->st.formed_min_available = 0;
	if (r->st.phase == KAR_QJ_PHASE_STARTING || queuejob_grows(r))
		return;
	r->st.phase = KAR_QJ_PHASE_STARTING;
	queuejob_set_condition(r, KAR_QJ_FORMED, false,
		r->unformed_by ? r->unformed_by : kar_reason_QuorumRaised, "%s", "");
}

void queuejob_keep_gang(struct queuejob_round *r)
{
	const char *gives;
	bool admitted;

	if (r->replaces_template) {
		restart_with_new_template(r);
		return;
	}
	if (r->broken) {
		restart_broken(r);
		return;
	}
	if (queuejob_gives_back(r)) {
		give_back(r);
		return;
	}
	gives = queuejob_wants_to_give_nodes_back(r);
	if (gives) {
		give_nodes_back(r, gives);
		return;
	}
	queuejob_start_tasks(r);
	if (queuejob_has_quorum(r) && !queuejob_restarts_task(r))
		form(r);
	else if (r->rearm || r->starts_tasks || !queuejob_was_formed(r))
		unform(r);
	admitted = queuejob_keep_children(r);
	queuejob_release_done(r);
	queuejob_remove_surplus(r);
	queuejob_remove_all(r, &r->t.old);
	queuejob_repair_pods(r);
	queuejob_restart_tasks(r);
	queuejob_replace_lost(r);
	if (queuejob_settle_minimum(r, admitted))
		queuejob_create_pods(r);
	queuejob_explain(r);
}
