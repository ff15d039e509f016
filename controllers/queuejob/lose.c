/* Losses: recognised as soon as a pod fails or is being deleted, counted once, replaced when its object is gone. */
#include "controllers/queuejob/round.h"

#include "api/keep.h"
#include "common/timefmt.h"

enum {
	COUNTED_MAX = 500, /* UIDs in status; further losses wait for the next round */
	SIGNAL_BASE = 128, /* exit code of a process that died of a signal */
};

static const kar_time BACKOFF_BASE = 10 * KAR_SECOND, BACKOFF_CAP = 10 * KAR_MINUTE;

/* --- back-off ------------------------------------------------------------------------------------ */

/* The first failure is answered at once, the k-th after 10 s x 2^(k-2). */
static kar_time backoff_delay(int32_t steps)
{
	kar_time delay = BACKOFF_BASE;

	if (steps < 2)
		return 0;
	for (int32_t k = 2; k < steps && delay < BACKOFF_CAP; k++)
		delay *= 2;
	return delay < BACKOFF_CAP ? delay : BACKOFF_CAP;
}

kar_time queuejob_backoff_left(const struct queuejob_round *r)
{
	kar_time delay = backoff_delay(r->seen->backoff_steps);
	kar_time left = r->seen->last_failure_time + delay - r->now;

	/* A failure far in the future was recorded by a clock that was ahead; the job must not wait for that moment. */
	return left > 0 && left <= 2 * delay ? left : 0;
}

/*
 * An incarnation that stayed formed for longer than the cap was a good one: counting starts anew. For a single pod
 * the same time must have passed without a failure, else a crashing extra would never be slowed down.
 */
static bool was_quiet(const struct queuejob_round *r)
{
	const struct kar_condition *formed = kar_condition_find(&r->seen->conditions, KAR_QJ_FORMED);
	kar_time since = formed && formed->status == KAR_COND_TRUE ? formed->last_transition : KAR_NEVER;

	if (!r->broken && since < r->seen->last_failure_time)
		since = r->seen->last_failure_time;
	return since != KAR_NEVER && r->now - since > BACKOFF_CAP;
}

static void count_failure(struct queuejob_round *r)
{
	if (was_quiet(r) && r->st.last_failure_time != r->second)
		r->st.backoff_steps = 0;
	r->st.pod_failures++;
	r->st.backoff_steps++;
	r->st.last_failure_time = r->second;
}

/* --- what happened ------------------------------------------------------------------------------- */

static const char *describe_failure(const struct queuejob_round *r, const struct kar_pod *pod)
{
	const struct kar_pod_job *j = pod->job;
	const char *reason = j && j->fail_reason ? j->fail_reason : NULL;

	if (!j || !j->exit_code)
		return kar_arena_printf(r->arena, "failed%s%s", reason ? ": " : "", reason ? reason : "");
	if (j->exit_code > SIGNAL_BASE)
		return kar_arena_printf(r->arena, "failed with exit code %d (signal %d%s%s)",
			(int)j->exit_code, (int)j->exit_code - SIGNAL_BASE, reason ? ", " : "",
			reason ? reason : "");
	return kar_arena_printf(r->arena, "failed with exit code %d%s%s%s", (int)j->exit_code,
		reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
}

const char *queuejob_describe_loss(const struct queuejob_round *r, const struct kar_pod *pod)
{
	const char *what;

	if (pod->phase == KAR_POD_FAILED && pod->disrupted)
		what = kar_arena_printf(r->arena, "was disrupted%s%s",
			pod->job && pod->job->fail_reason ? ": " : "",
			pod->job && pod->job->fail_reason ? pod->job->fail_reason : "");
	else if (pod->disrupted)
		what = "is being deleted because of a disruption";
	else if (pod->deletion)
		what = "is being deleted";
	else
		what = describe_failure(r, pod);
	return kar_arena_printf(r->arena, "pod %s%s%s %s", pod->o.name, pod->node ? " on node " : "",
		pod->node ? pod->node : "", what);
}

static const struct kar_pod *first_loss(const struct queuejob_round *r, bool disrupted)
{
	for (size_t i = 0; i < r->t.lost.n; i++) {
		if (queuejob_pod_disrupted(r->t.lost.items[i]) == disrupted)
			return r->t.lost.items[i];
	}
	return NULL;
}

/* --- counting ------------------------------------------------------------------------------------ */

static bool is_surplus(const struct queuejob_round *r, const struct kar_pod *pod)
{
	for (size_t i = 0; i < r->t.surplus.n; i++) {
		if (r->t.surplus.items[i] == pod)
			return true;
	}
	return false;
}

/* One that was to be scaled away, and is wanted again before anything was done to it, is like any other. */
static bool stays_counted(const struct queuejob_round *r, const struct kar_pod *pod)
{
	return queuejob_pod_counted(r->seen, pod) &&
		(queuejob_pod_lost(pod) || kar_pod_finished(pod) || is_surplus(r, pod));
}

/* UIDs stay in the list for as long as their objects exist. */
static void forget_gone(struct queuejob_round *r)
{
	const char **kept = NULL;
	size_t n = 0;

	for (size_t i = 0; i < r->v->n_pods; i++) {
		if (!stays_counted(r, r->v->pods[i]))
			continue;
		kept = kar_arena_grow(r->arena, kept, n, sizeof(*kept));
		kept[n++] = kar_keep_text(r->arena, r->v->pods[i]->o.uid);
	}
	r->st.counted_pods = (struct kar_array){ .items = kept, .n = n };
}

static void remember(struct queuejob_round *r, const struct kar_pod *pod)
{
	struct kar_array *list = &r->st.counted_pods;
	const char **uids = kar_arena_grow(r->arena, list->items, list->n, sizeof(*uids));

	uids[list->n++] = kar_keep_text(r->arena, pod->o.uid);
	list->items = uids;
}

/* What we take away ourselves is no loss, even if it is wanted again before it is gone. */
static void remember_surplus(struct queuejob_round *r)
{
	for (size_t i = 0; i < r->t.surplus.n && r->st.counted_pods.n < COUNTED_MAX; i++) {
		const struct kar_pod *pod = r->t.surplus.items[i];

		if (!queuejob_pod_lost(pod) && !kar_pod_finished(pod) && !queuejob_pod_counted(r->seen, pod))
			remember(r, pod);
	}
}

static void tell_losses(struct queuejob_round *r, bool disrupted, int32_t n)
{
	const struct kar_pod *pod = first_loss(r, disrupted);
	const char *more = n > 1 ? kar_arena_printf(r->arena, ", and %d more", (int)n - 1) : "";

	if (n)
		kar_plan_event(r->p, true, disrupted ? "PodDisrupted" : "PodFailed", "ReplacePod",
			"%s%s; it is replaced", queuejob_describe_loss(r, pod), more);
}

/* Above the quorum, or before the gang has formed: each loss by itself. */
static void count_singly(struct queuejob_round *r)
{
	int32_t failures = 0, disruptions = 0;

	for (size_t i = 0; i < r->t.lost.n && r->st.counted_pods.n < COUNTED_MAX; i++) {
		const struct kar_pod *pod = r->t.lost.items[i];

		remember(r, pod);
		if (queuejob_pod_disrupted(pod)) {
			r->st.disruptions++;
			disruptions++;
		} else {
			count_failure(r);
			failures++;
		}
	}
	r->cause = first_loss(r, false);
	r->by_failure = failures > 0;
	tell_losses(r, true, disruptions);
	if (!queuejob_over_limit(r))
		tell_losses(r, false, failures);
}

/*
 * One restart, however many pods were lost. A disruption among them explains the others: peers of a pod that was taken
 * away fail because of it.
 */
static void count_restart(struct queuejob_round *r)
{
	r->cause = first_loss(r, true);
	if (!r->cause)
		r->cause = first_loss(r, false);
	r->by_failure = r->cause && !queuejob_pod_disrupted(r->cause);
	if (r->by_failure)
		count_failure(r);
	else
		r->st.disruptions++;
}

void queuejob_count_losses(struct queuejob_round *r)
{
	bool undercut = r->min > 0 && queuejob_was_formed(r) && !queuejob_has_quorum(r);
	bool edited = r->job->generation != r->seen->observed_generation;

	forget_gone(r);
	if (r->template_changed && !r->job->invalid)
		return; /* the incarnation is given up anyway */
	remember_surplus(r);
	r->rearm = undercut && edited && !r->t.lost.n;
	r->broken = undercut && !r->rearm;
	if (r->broken)
		count_restart(r);
	else
		count_singly(r);
}

/* --- replacing ----------------------------------------------------------------------------------- */

static void replace(struct queuejob_round *r, const struct kar_pod *pod, kar_time left)
{
	char text[KAR_TIME_LEN];

	if (left == 0 || queuejob_pod_disrupted(pod)) {
		queuejob_remove_pod(r, pod);
		return;
	}
	queuejob_release_pod(r, pod);
	/* The failed object keeps its name, and its logs, until its replacement is due. */
	kar_plan_requeue(r->p, left);
	queuejob_say(r, "BackOff", "pod %s is replaced at %s", pod->o.name,
		kar_time_format(r->now + left, text));
}

void queuejob_replace_lost(struct queuejob_round *r)
{
	kar_time left = queuejob_backoff_left(r);

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		const struct queuejob_task_tally *task = &r->t.tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			const struct queuejob_slot *slot = &task->slots[k];

			if (slot->state == QUEUEJOB_SLOT_LOST && queuejob_pod_counted(r->seen, slot->pod))
				replace(r, slot->pod, left);
		}
	}
}
