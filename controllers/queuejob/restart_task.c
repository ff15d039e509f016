/*
 * One task is restarted, by a rule of the failure policy: its pods are taken away, and created again when all of them are gone
 * and the back-off is over. The other tasks go on.
 *
 * status.tasks[].restartTime records it before the first pod is deleted, so that these deletions are no losses, and no
 * pod is forgotten after a crash (see docs/decisions/017). A pod of the task that succeeds meanwhile stays done, unless it was
 * being deleted: a program that is told to stop and ends with exit code 0 has not done its work.
 */
#include "controllers/queuejob/round.h"

#include "api/keep.h"
#include "common/timefmt.h"

/* --- the decision -------------------------------------------------------------------------------- */

static void give_up(struct queuejob_round *r, size_t loss, kar_time delay)
{
	const struct kar_pod *pod = r->t.lost.items[loss];
	size_t task = r->judged[loss].task;
	const char *what = queuejob_describe_ruled(r, pod, queuejob_loss_rule(r, loss));
	const char *message =
		kar_arena_printf(r->arena, "%s: restarting task %s", what, r->job->spec.tasks[task].name);

	queuejob_tally_give_up(&r->t, task, r->second + delay);
	queuejob_blame(r, loss);
	queuejob_note_restart(r, kar_reason_PodFailurePolicy, message);
	if (!queuejob_over_limit(r))
		kar_plan_event(r->p, true, kar_reason_TaskRestarting, "RestartTask", "%s", message);
}

/* Each task once, however many of its pods were lost. */
static void give_up_tasks(struct queuejob_round *r, bool disrupted)
{
	for (size_t i = 0; i < r->t.lost.n; i++) {
		if (queuejob_loss_action(r, i) == KAR_FAILURE_RESTART_TASK &&
			queuejob_pod_disrupted(r->t.lost.items[i]) == disrupted &&
			!r->t.tasks[r->judged[i].task].restart_time)
			give_up(r, i, queuejob_count_loss(r, i));
	}
}

/* Those of the tasks that are restarted need no answer of their own. */
static void leave_out_answered(struct queuejob_round *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->t.lost.n; i++) {
		if (r->t.tasks[r->judged[i].task].restart_time)
			continue;
		r->judged[n] = r->judged[i];
		r->t.lost.items[n++] = r->t.lost.items[i];
	}
	r->t.lost.n = n;
}

void queuejob_give_up_tasks(struct queuejob_round *r)
{
	give_up_tasks(r, true); /* a disruption explains other losses */
	give_up_tasks(r, false);
	leave_out_answered(r);
	r->rearm = true;
	r->unformed_by = kar_reason_TaskRestarting;
}

/* --- carrying it out ------------------------------------------------------------------------------ */

bool queuejob_restarts_task(const struct queuejob_round *r)
{
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		if (r->t.tasks[i].restart_time)
			return true;
	}
	return false;
}

/*
 * A status that is out of date may tell of a restart that is over: the pods that are there now would be those after it. All are
 * taken away in the round that decides it, whose status write fails then; what is left for later rounds waits for a look.
 */
static bool remove_pods(struct queuejob_round *r, const struct queuejob_task_tally *task)
{
	bool all_gone = true, asks = false;

	for (int32_t k = 0; k < task->n; k++) {
		const struct kar_pod *pod = task->slots[k].pod;

		if (task->slots[k].state != QUEUEJOB_SLOT_LOST)
			continue;
		all_gone = false;
		if (!task->restart_recorded || queuejob_is_known(r, pod))
			queuejob_stop_pod(r, pod);
		else
			asks |= pod->tracked || !pod->deletion;
	}
	if (asks)
		queuejob_check_owner(r);
	return all_gone;
}

static void restart(struct queuejob_round *r, struct queuejob_task_tally *task, const char *name)
{
	kar_time left = task->restart_time - r->now;
	char text[KAR_TIME_LEN];

	if (!remove_pods(r, task)) {
		queuejob_say(r, kar_reason_TaskRestarting, "%s", r->st.last_restart.message);
		return;
	}
	if (left <= 0 || left > QUEUEJOB_LONGEST_BACKOFF) { /* more comes from a clock that was ahead */
		task->restart_time = 0;
		return;
	}
	kar_plan_requeue(r->p, left);
	queuejob_say(r, kar_reason_BackOff, "task %s starts again at %s; %s", name,
		kar_time_format(task->restart_time, text), r->st.last_restart.message);
}

void queuejob_restart_tasks(struct queuejob_round *r)
{
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		if (r->t.tasks[i].restart_time)
			restart(r, &r->t.tasks[i], r->job->spec.tasks[i].name);
	}
}
