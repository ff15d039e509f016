/*
 * Losses: a pod is lost as soon as it fails or terminates. Each loss is counted once, and replaced when its object is gone.
 *
 * A rule of the failure policy may restart one task: its pods are deleted, and created again when all of them are gone and the
 * back-off is over; the other tasks go on. status.tasks[].restartTime records the restart before the first pod is deleted, so
 * that these deletions do not count as losses, and no pod is forgotten after a crash (docs/decisions/017). A pod of the task that
 * succeeds meanwhile stays done, unless it was terminating: programs often exit with code 0 on SIGTERM.
 */
#include "controllers/queuejob/reconcile.h"

#include <assert.h>

#include "api/copy.h"
#include "api/pod/pod_direct.h"
#include "common/base/backoff.h"
#include "common/base/str.h"
#include "common/base/timefmt.h"

static const kar_time FIRST_BACKOFF = 10 * KAR_SECOND;
/* How long a pod stays that the kubelet has refused: a lasting refusal must not become a hot loop. */
static const kar_time REFUSED_STAYS = 10 * KAR_SECOND;

/* --- back-off ------------------------------------------------------------------------------------ */

/* The first failed pod is replaced at once, the k-th in a row after 10 s x 2^(k-2). */
static kar_time backoff_delay(int32_t steps)
{
	return steps < 2 ? 0
			 : kar_backoff_delay((unsigned)steps - 2, FIRST_BACKOFF, QUEUEJOB_LONGEST_BACKOFF);
}

kar_time queuejob_backoff_left(const struct queuejob_reconcile *r)
{
	kar_time delay = backoff_delay(r->f->seen->record.backoff_steps);
	kar_time left = r->f->seen->record.last_failure_time + delay - r->f->now;

	/* A clock that was ahead may have recorded a failure in the future; the job must not wait for that time. */
	return left > 0 && left <= 2 * delay ? left : 0;
}

static kar_time formed_since(const struct queuejob_reconcile *r)
{
	const struct kar_condition *formed = kar_condition_find(&r->f->seen->conditions, KAR_QJ_FORMED);

	return formed && formed->status == KAR_COND_TRUE ? formed->last_transition : KAR_NEVER;
}

static bool is_long_ago(const struct queuejob_reconcile *r, kar_time since)
{
	return since != KAR_NEVER && r->f->now - since > QUEUEJOB_LONGEST_BACKOFF;
}

/*
 * The back-off starts again from its first step if the gang stayed formed for longer than the cap. When a single pod failed, the
 * last failure must be that old as well, or a pod above the minimum that keeps crashing would never be slowed down.
 */
static bool was_quiet(const struct queuejob_reconcile *r)
{
	kar_time since = formed_since(r);

	if (!r->loss.broken && since < r->f->seen->record.last_failure_time)
		since = r->f->seen->record.last_failure_time;
	return is_long_ago(r, since);
}

void queuejob_end_backoff(struct queuejob_reconcile *r)
{
	if (!r->loss.by_failure && is_long_ago(r, formed_since(r)))
		r->st.record.backoff_steps = 0;
}

/* A failure that a rule ignores still counts for the back-off, so that a crash loop is slowed down. */
static void count_failure(struct queuejob_reconcile *r, bool ignored)
{
	if (was_quiet(r) && r->st.record.last_failure_time != r->f->second)
		r->st.record.backoff_steps = 0;
	r->st.pod_failures += !ignored;
	r->st.record.backoff_steps++;
	r->st.record.last_failure_time = r->f->second;
}

/* --- counting ------------------------------------------------------------------------------------ */

/* A surplus pod that is wanted again before we deleted it is no longer counted. */
static bool stays_counted(const struct queuejob_reconcile *r, const struct kar_pod *pod, bool surplus)
{
	return podset_is_counted(&r->f->pods, pod) && (kar_pod_lost(pod) || kar_pod_finished(pod) || surplus);
}

/* Keeps a UID only as long as its object exists. */
static void forget_gone(struct queuejob_reconcile *r)
{
	const struct podset_pods *surplus = &r->want.surplus; /* in the same order as the view */
	const char **kept = NULL;
	size_t n = 0, k = 0;

	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		const struct kar_pod *pod = r->f->v->pods[i];
		bool is_surplus = k < surplus->n && surplus->items[k] == pod;

		k += is_surplus;
		if (!stays_counted(r, pod, is_surplus))
			continue;
		kept = kar_arena_grow(r->arena, kept, n, sizeof(*kept));
		kept[n++] = kar_copy_text(r->arena, pod->o.uid);
	}
	r->st.record.counted_pods = (struct kar_array){ .items = kept, .n = n };
}

static void remember(struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	struct kar_array *list = &r->st.record.counted_pods;
	const char **uids = kar_arena_grow(r->arena, list->items, list->n, sizeof(*uids));

	/* Else the loss would count twice against backoffLimit. */
	assert(!podset_is_counted(&r->f->pods, pod));
	uids[list->n++] = kar_copy_text(r->arena, pod->o.uid);
	list->items = uids;
}

/* Pods that we delete ourselves are no losses, even if they are wanted again before they are gone. */
static void remember_surplus(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->want.surplus.n && r->st.record.counted_pods.n < KAR_QJ_MAX_COUNTED_PODS;
		i++) {
		const struct kar_pod *pod = r->want.surplus.items[i];

		if (kar_pod_lost(pod) || kar_pod_finished(pod) || podset_is_counted(&r->f->pods, pod))
			continue;
		remember(r, pod);
		r->remembers_surplus = true;
		if (queuejob_is_stranded(r, podset_find(&r->f->pods, pod)))
			kar_plan_event(r->p, true, kar_reason_Unschedulable, "ReplacePod",
				"pod %s was planned on node %s, which is taken; another is created for %s",
				pod->o.name, pod->pin, queuejob_describe_next_place(r));
	}
}

static kar_time count_loss(struct queuejob_reconcile *r, size_t i)
{
	if (podset_is_disrupted(r->loss.lost.items[i])) {
		r->st.disruptions++;
		queuejob_count_index(r, i);
		return 0;
	}
	count_failure(r, queuejob_loss_action(r, i) == KAR_FAILURE_IGNORE);
	queuejob_count_index(r, i);
	return backoff_delay(r->st.record.backoff_steps);
}

/* Losses of one kind: their number, and the index of the first one. */
struct kind {
	int32_t n;
	size_t first;
};

static void report_losses(struct queuejob_reconcile *r, const char *reason, const struct kind *k)
{
	const char *more = k->n > 1 ? kar_arena_printf(r->arena, ", and %d more", (int)k->n - 1) : "";
	bool ended = kar_streq(reason, kar_reason_IndexFailed);

	if (k->n)
		kar_plan_event(r->p, true, reason, "ReplacePod", "%s%s%s",
			queuejob_describe_ruled(r, r->loss.lost.items[k->first],
				queuejob_loss_rule(r, k->first)),
			more,
			ended ? (k->n > 1 ? "; their indexes are not run again"
					  : "; its index is not run again")
				: r->f->unchecked || r->f->edit_waits ? ""
				: k->n > 1                            ? "; replacing them"
								      : "; replacing it");
}

static void set_cause(struct queuejob_reconcile *r, size_t i)
{
	r->loss.cause = r->loss.lost.items[i];
	r->loss.rule = queuejob_loss_rule(r, i);
	r->loss.by_failure = !podset_is_disrupted(r->loss.cause);
}

/* Above the quorum, or before the gang has formed, each loss counts. */
static void count_singly(struct queuejob_reconcile *r)
{
	struct kind failures = { 0 }, disruptions = { 0 }, ended = { 0 };

	for (size_t i = 0; i < r->loss.lost.n && r->st.record.counted_pods.n < KAR_QJ_MAX_COUNTED_PODS; i++) {
		const struct kar_pod *pod = r->loss.lost.items[i];
		struct kind *k = queuejob_ends_index(r, i) ? &ended
			: podset_is_disrupted(pod)         ? &disruptions
							   : &failures;

		remember(r, pod);
		count_loss(r, i);
		k->first = k->n++ ? k->first : i;
	}
	if (failures.n)
		set_cause(r, failures.first);
	report_losses(r, kar_reason_PodDisrupted, &disruptions);
	report_losses(r, kar_reason_IndexFailed, &ended);
	if (!queuejob_over_limit(r))
		report_losses(r, kar_reason_PodFailed, &failures);
}

/*
 * How likely loss number @i caused the other losses of this sync; 0 is the most likely. Pods often fail because a peer was
 * disrupted, or because a peer failed in a way that a rule ignores.
 */
static int cause_rank(const struct queuejob_reconcile *r, size_t i)
{
	enum kar_failure_action action = queuejob_loss_action(r, i);

	if (podset_is_disrupted(r->loss.lost.items[i]))
		return 0;
	return action == KAR_FAILURE_IGNORE ? 1 : action == KAR_FAILURE_NONE ? 2 : 3;
}

/* A kubelet that restarts may refuse a pod that ran: the gang lacks it, but no work has failed, so it counts as nothing. */
static const struct kar_pod *first_refused(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			if (task->slots[k].state == PODSET_LOST && kar_pod_is_refused(task->slots[k].pod))
				return task->slots[k].pod;
		}
	}
	return NULL;
}

/* Counts all losses as one. Only losses with @action in their rule are considered, or all if it is NONE. */
static void count_together(struct queuejob_reconcile *r, enum kar_failure_action action)
{
	size_t best = r->loss.lost.n;

	for (size_t i = 0; i < r->loss.lost.n; i++) {
		bool counts = action == KAR_FAILURE_NONE || queuejob_loss_action(r, i) == action;

		if (counts && (best == r->loss.lost.n || cause_rank(r, i) < cause_rank(r, best)))
			best = i;
	}
	if (best == r->loss.lost.n) {
		r->loss.cause = first_refused(r);
		r->st.disruptions += !r->loss.cause; /* the pods were deleted before their end was seen */
		return;
	}
	set_cause(r, best);
	count_loss(r, best);
}

/* Does the default apply to a gang below its quorum? Not if a rule of the policy covers all of its losses. */
static bool uses_defaults(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->loss.lost.n; i++) {
		if (queuejob_loss_action(r, i) <= KAR_FAILURE_IGNORE && !queuejob_ends_index(r, i))
			return true;
	}
	return r->loss.lost.n == 0;
}

/* Counts losses that no rule covers, or whose rule replaces a single pod. */
static void count_by_default(struct queuejob_reconcile *r, bool below_quorum)
{
	bool edited = r->f->job->generation != r->f->seen->observed_generation;

	r->loss.broken = below_quorum && !(edited && !r->loss.lost.n) && uses_defaults(r);
	r->loss.rearm |= below_quorum && !r->loss.broken;
	if (r->loss.rearm && r->loss.lost.n && !r->loss.unformed_by)
		r->loss.unformed_by = KAR_QJ_FORMATION_RECREATED;
	if (r->loss.broken)
		count_together(r, KAR_FAILURE_NONE);
	else
		count_singly(r);
}

/* --- restarting one task: the decision -------------------------------------------------------------- */

static void restart_task(struct queuejob_reconcile *r, size_t loss, kar_time delay)
{
	const struct kar_pod *pod = r->loss.lost.items[loss];
	size_t task = r->loss.classified[loss].task;
	const char *what = queuejob_describe_ruled(r, pod, queuejob_loss_rule(r, loss));
	const char *message =
		kar_arena_printf(r->arena, "%s: restarting task %s", what, r->f->job->spec.tasks[task].name);

	r->want.tasks[task].restart_time = r->f->second + delay;
	set_cause(r, loss);
	queuejob_record_restart(r, KAR_QJ_RESTART_TASK, kar_reason_PodFailurePolicy, message);
	if (!queuejob_over_limit(r))
		kar_plan_event(r->p, true, kar_reason_TaskRestarting, "RestartTask", "%s", message);
}

/* Restarts each task once, however many of its pods were lost. */
static void restart_tasks(struct queuejob_reconcile *r, bool disrupted)
{
	for (size_t i = 0; i < r->loss.lost.n; i++) {
		if (queuejob_loss_action(r, i) == KAR_FAILURE_RESTART_TASK &&
			podset_is_disrupted(r->loss.lost.items[i]) == disrupted &&
			!r->want.tasks[r->loss.classified[i].task].restart_time)
			restart_task(r, i, count_loss(r, i));
	}
}

/* The restart of their task covers these losses, so they are not counted one by one. */
static void drop_answered(struct queuejob_reconcile *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->loss.lost.n; i++) {
		if (r->want.tasks[r->loss.classified[i].task].restart_time)
			continue;
		r->loss.classified[n] = r->loss.classified[i];
		r->loss.lost.items[n++] = r->loss.lost.items[i];
	}
	r->loss.lost.n = n;
}

static void begin_task_restarts(struct queuejob_reconcile *r)
{
	restart_tasks(r, true); /* first: a disruption may have caused the failures */
	restart_tasks(r, false);
	drop_answered(r);
	queuejob_count_again(r);
	r->loss.rearm = true;
	r->loss.unformed_by = KAR_QJ_FORMATION_TASK;
}

/* --- what the losses cause ---------------------------------------------------------------------------- */

static void answer_losses(struct queuejob_reconcile *r)
{
	bool below_quorum = r->want.min > 0 && queuejob_was_formed(r) && !queuejob_has_quorum(r);

	if (r->loss.action >= KAR_FAILURE_RESTART_JOB) {
		r->loss.broken = r->loss.action == KAR_FAILURE_RESTART_JOB;
		count_together(r, r->loss.action);
		return;
	}
	if (r->loss.action == KAR_FAILURE_RESTART_TASK) {
		begin_task_restarts(r);
		count_singly(r);
		return;
	}
	count_by_default(r, below_quorum);
}

void queuejob_count_losses(struct queuejob_reconcile *r)
{
	forget_gone(r);
	if (r->f->replaces_template)
		return; /* the gang restarts anyway */
	remember_surplus(r);
	queuejob_classify_losses(r);
	answer_losses(r);
	if (!r->gives_up)
		return;
	queuejob_count_again(r);
	queuejob_limit(r);
}

/* --- replacing ----------------------------------------------------------------------------------- */

/*
 * The kubelet sets status.reason when it refuses a pod, or ends it at its deadline, but not when it stops a deleted pod. The
 * grace period is no evidence: the kubelet sets it to 0 when it has stopped a pod, too.
 */
static bool failed_before_deletion(const struct kar_pod *pod)
{
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);

	return loss->n_exits > 0 || loss->pod_reason;
}

/* The pod failed before anybody deleted it. */
static bool has_failed(const struct kar_pod *pod)
{
	return pod->phase == KAR_POD_FAILED && !pod->disrupted &&
		(!pod->deletion || failed_before_deletion(pod));
}

/*
 * ms until the pod is replaced. With failures per index the others of the job do not matter: an index that has failed k times starts
 * no more often than its back-off says, counted from the creation of its last pod.
 */
static kar_time replaced_in(const struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	kar_time delay, left;

	if (!r->f->job->spec.per_index)
		return queuejob_backoff_left(r);
	delay = backoff_delay(queuejob_failures_of(r, pod));
	left = pod->creation + delay - r->f->now;
	return left > 0 && left <= 2 * delay ? left : 0;
}

static void replace(struct queuejob_reconcile *r, const struct podset_slot *slot)
{
	const struct kar_pod *pod = slot->pod;
	kar_time left = replaced_in(r, pod);
	char text[KAR_TIME_LEN];

	if (left == 0 || !has_failed(pod)) {
		podset_remove(r->p, pod);
		return;
	}
	/*
	 * The failed pod keeps its logs until its replacement is due. It also keeps our finalizer, so that deleting it by hand
	 * does not cut the back-off short.
	 */
	kar_plan_requeue(r->p, left);
	if (queuejob_is_scaled_down(r, slot)) /* it gets no replacement now */
		return;
	queuejob_report(r, kar_reason_BackOff, "pod %s is replaced at %s%s", pod->o.name,
		kar_time_format(r->f->now + left, text),
		pod->deletion ? " (its deletion waits until then)" : "");
}

/* It never ran, so it is no loss. When it is gone, the queue looks for another place. */
static void remove_refused(struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	kar_time left = pod->creation + REFUSED_STAYS - r->f->now;

	if (left <= 0 || left > REFUSED_STAYS || pod->deletion || !queuejob_has_places(r)) {
		podset_remove(r->p, pod);
		return;
	}
	kar_plan_requeue(r->p, left);
	queuejob_report(r, kar_reason_PodRefused, "pod %s was refused by node %s: %s; it is placed again",
		pod->o.name, pod->node ? pod->node : "?", kar_pod_loss_of(pod)->pod_reason);
	queuejob_warn_once(r, kar_reason_PodRefused, "ReplacePod");
}

void queuejob_replace_lost(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[i];

		for (int32_t k = 0; k < task->n && !r->want.tasks[i].restart_time; k++) {
			const struct podset_slot *slot = &task->slots[k];

			if (slot->state != PODSET_LOST)
				continue;
			if (kar_pod_is_refused(slot->pod))
				remove_refused(r, slot->pod);
			else if (podset_is_counted(&r->f->pods, slot->pod))
				replace(r, slot);
		}
	}
}

/* --- restarting one task: its pods ------------------------------------------------------------------- */

/*
 * An outdated status may show a restart that is over; the pods that exist now were then created after it and must not be deleted.
 * The sync that decides the restart may delete all pods, because they go only after its status write has succeeded. Later syncs
 * first read the job from the API server. Returns true when no pod is left.
 */
static bool remove_pods(struct queuejob_reconcile *r, size_t number)
{
	const struct podset_task *task = &r->f->pods.tasks[number];
	const struct kar_task_status *known = r->f->known[number];
	bool recorded = known && known->restart_time;
	bool all_gone = true, asks = false;

	for (int32_t k = 0; k < task->n; k++) {
		const struct kar_pod *pod = task->slots[k].pod;

		if (task->slots[k].state != PODSET_LOST)
			continue;
		all_gone = false;
		if (!recorded || queuejob_is_known(r, pod))
			podset_stop(r->p, pod);
		else
			asks |= pod->tracked || !pod->deletion;
	}
	if (asks)
		queuejob_check_owner(r);
	return all_gone;
}

static void continue_restart(struct queuejob_reconcile *r, size_t task)
{
	kar_time *at = &r->want.tasks[task].restart_time, left = *at - r->f->now;
	char text[KAR_TIME_LEN];

	if (!remove_pods(r, task)) {
		queuejob_report(r, kar_reason_TaskRestarting, "%s", r->st.last_restart.message);
		return;
	}
	if (left <= 0 ||
		left > QUEUEJOB_LONGEST_BACKOFF) { /* a longer wait was recorded by a clock that was ahead */
		*at = 0;
		return;
	}
	kar_plan_requeue(r->p, left);
	queuejob_report(r, kar_reason_BackOff, "task %s starts again at %s; %s",
		r->f->job->spec.tasks[task].name, kar_time_format(*at, text), r->st.last_restart.message);
}

void queuejob_continue_task_restarts(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (r->want.tasks[i].restart_time)
			continue_restart(r, i);
	}
}
