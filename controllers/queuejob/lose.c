/* Losses: recognised as soon as a pod fails or is being deleted, counted once, replaced when its object is gone. */
#include "controllers/queuejob/round.h"

#include "api/keep.h"
#include "common/backoff.h"
#include "common/timefmt.h"

enum { SIGNAL_BASE = 128 }; /* exit code of a process that died of a signal */

static const kar_time FIRST_BACKOFF = 10 * KAR_SECOND;

/* --- back-off ------------------------------------------------------------------------------------ */

/* The first failure is answered at once, the k-th after 10 s x 2^(k-2). */
static kar_time backoff_delay(int32_t steps)
{
	return steps < 2 ? 0
			 : kar_backoff_delay((unsigned)steps - 2, FIRST_BACKOFF, QUEUEJOB_LONGEST_BACKOFF);
}

kar_time queuejob_backoff_left(const struct queuejob_round *r)
{
	kar_time delay = backoff_delay(r->seen->backoff_steps);
	kar_time left = r->seen->last_failure_time + delay - r->now;

	/* A failure far in the future was recorded by a clock that was ahead; the job must not wait for that moment. */
	return left > 0 && left <= 2 * delay ? left : 0;
}

static kar_time formed_since(const struct queuejob_round *r)
{
	const struct kar_condition *formed = kar_condition_find(&r->seen->conditions, KAR_QJ_FORMED);

	return formed && formed->status == KAR_COND_TRUE ? formed->last_transition : KAR_NEVER;
}

static bool is_long_ago(const struct queuejob_round *r, kar_time since)
{
	return since != KAR_NEVER && r->now - since > QUEUEJOB_LONGEST_BACKOFF;
}

/*
 * An incarnation that stayed formed for longer than the cap was a good one: counting starts anew. For a single pod
 * the same time must have passed without a failure, else a crashing extra would never be slowed down.
 */
static bool was_quiet(const struct queuejob_round *r)
{
	kar_time since = formed_since(r);

	if (!r->broken && since < r->seen->last_failure_time)
		since = r->seen->last_failure_time;
	return is_long_ago(r, since);
}

void queuejob_end_backoff(struct queuejob_round *r)
{
	if (!r->by_failure && is_long_ago(r, formed_since(r)))
		r->st.backoff_steps = 0;
}

/* One that a rule ignores slows its replacement down all the same: a crash loop must not be hot. */
static void count_failure(struct queuejob_round *r, bool ignored)
{
	if (was_quiet(r) && r->st.last_failure_time != r->second)
		r->st.backoff_steps = 0;
	r->st.pod_failures += !ignored;
	r->st.backoff_steps++;
	r->st.last_failure_time = r->second;
}

/* --- what happened ------------------------------------------------------------------------------- */

static const char *describe_failure(const struct queuejob_round *r, const struct kar_pod *pod)
{
	const char *reason = kar_pod_loss_of(pod)->reason;
	int code = (int)kar_pod_loss_of(pod)->exit_code;

	if (!code)
		return kar_arena_printf(r->arena, "failed%s%s", reason ? ": " : "", reason ? reason : "");
	if (code > SIGNAL_BASE)
		return kar_arena_printf(r->arena, "failed with exit code %d (signal %d%s%s)", code,
			code - SIGNAL_BASE, reason ? ", " : "", reason ? reason : "");
	return kar_arena_printf(r->arena, "failed with exit code %d%s%s%s", code, reason ? " (" : "",
		reason ? reason : "", reason ? ")" : "");
}

/* "Evicted", "EvictionByEvictionAPI"; NULL: it is not known. */
static const char *why_disrupted(const struct kar_pod *pod)
{
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);

	return loss->pod_reason ? loss->pod_reason : loss->disruption ? loss->disruption : loss->reason;
}

const char *queuejob_describe_loss(const struct queuejob_round *r, const struct kar_pod *pod)
{
	const char *why = why_disrupted(pod);
	const char *what;

	if (pod->disrupted)
		what = kar_arena_printf(r->arena, "%s%s%s",
			pod->phase == KAR_POD_FAILED ? "was disrupted"
						     : "is being deleted because of a disruption",
			why ? ": " : "", why ? why : "");
	else if (pod->deletion)
		what = "is being deleted";
	else
		what = describe_failure(r, pod);
	return kar_arena_printf(r->arena, "pod %s%s%s %s", pod->o.name, pod->node ? " on node " : "",
		pod->node ? pod->node : "", what);
}

/* --- counting ------------------------------------------------------------------------------------ */

/* One that was to be scaled away, and is wanted again before anything was done to it, is like any other. */
static bool stays_counted(const struct queuejob_round *r, const struct kar_pod *pod, bool surplus)
{
	return queuejob_pod_counted(&r->t, pod) && (kar_pod_lost(pod) || kar_pod_finished(pod) || surplus);
}

/* UIDs stay in the list for as long as their objects exist. */
static void forget_gone(struct queuejob_round *r)
{
	const struct queuejob_pods *surplus = &r->t.surplus; /* in the same order as the view */
	const char **kept = NULL;
	size_t n = 0, k = 0;

	for (size_t i = 0; i < r->v->n_pods; i++) {
		const struct kar_pod *pod = r->v->pods[i];
		bool is_surplus = k < surplus->n && surplus->items[k] == pod;

		k += is_surplus;
		if (!stays_counted(r, pod, is_surplus))
			continue;
		kept = kar_arena_grow(r->arena, kept, n, sizeof(*kept));
		kept[n++] = kar_keep_text(r->arena, pod->o.uid);
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
	for (size_t i = 0; i < r->t.surplus.n && r->st.counted_pods.n < KAR_QJ_MAX_COUNTED_PODS; i++) {
		const struct kar_pod *pod = r->t.surplus.items[i];

		if (kar_pod_lost(pod) || kar_pod_finished(pod) || queuejob_pod_counted(&r->t, pod))
			continue;
		remember(r, pod);
		r->remembers_surplus = true;
	}
}

kar_time queuejob_count_loss(struct queuejob_round *r, size_t i)
{
	if (queuejob_pod_disrupted(r->t.lost.items[i])) {
		r->st.disruptions++;
		return 0;
	}
	count_failure(r, queuejob_loss_action(r, i) == KAR_FAILURE_IGNORE);
	return backoff_delay(r->st.backoff_steps);
}

/* Losses of one kind: how many, and which was the first. */
struct kind {
	int32_t n;
	size_t first;
};

static void tell_losses(struct queuejob_round *r, const char *reason, const struct kind *k)
{
	const char *more = k->n > 1 ? kar_arena_printf(r->arena, ", and %d more", (int)k->n - 1) : "";

	if (k->n)
		kar_plan_event(r->p, true, reason, "ReplacePod", "%s%s%s",
			queuejob_describe_ruled(r, r->t.lost.items[k->first],
				queuejob_loss_rule(r, k->first)),
			more, r->unchecked ? "" : "; it is replaced");
}

void queuejob_blame(struct queuejob_round *r, size_t i)
{
	r->cause = r->t.lost.items[i];
	r->rule = queuejob_loss_rule(r, i);
	r->by_failure = !queuejob_pod_disrupted(r->cause);
}

/* Above the quorum, or before the gang has formed: each loss by itself. */
static void count_singly(struct queuejob_round *r)
{
	struct kind failures = { 0 }, disruptions = { 0 };

	for (size_t i = 0; i < r->t.lost.n && r->st.counted_pods.n < KAR_QJ_MAX_COUNTED_PODS; i++) {
		const struct kar_pod *pod = r->t.lost.items[i];
		struct kind *k = queuejob_pod_disrupted(pod) ? &disruptions : &failures;

		remember(r, pod);
		queuejob_count_loss(r, i);
		k->first = k->n++ ? k->first : i;
	}
	if (failures.n)
		queuejob_blame(r, failures.first);
	tell_losses(r, kar_reason_PodDisrupted, &disruptions);
	if (!queuejob_over_limit(r))
		tell_losses(r, kar_reason_PodFailed, &failures);
}

/*
 * How well the loss number @i explains others at the same time, 0 best: peers of a pod that was taken away, or that ended in
 * a way that its rule ignores, fail because of it.
 */
static int explains(const struct queuejob_round *r, size_t i)
{
	enum kar_failure_action action = queuejob_loss_action(r, i);

	if (queuejob_pod_disrupted(r->t.lost.items[i]))
		return 0;
	return action == KAR_FAILURE_IGNORE ? 1 : action == KAR_FAILURE_NONE ? 2 : 3;
}

/* One for all, however many pods were lost; only those whose rule says @verdict, unless that is NONE. */
static void count_together(struct queuejob_round *r, enum kar_failure_action verdict)
{
	size_t best = r->t.lost.n;

	for (size_t i = 0; i < r->t.lost.n; i++) {
		bool counts = verdict == KAR_FAILURE_NONE || queuejob_loss_action(r, i) == verdict;

		if (counts && (best == r->t.lost.n || explains(r, i) < explains(r, best)))
			best = i;
	}
	if (best == r->t.lost.n) {
		r->st.disruptions++; /* pods are gone without a trace */
		return;
	}
	queuejob_blame(r, best);
	queuejob_count_loss(r, best);
}

/* Is it up to the table of defaults what becomes of a gang that is below its quorum? */
static bool falls_to_defaults(const struct queuejob_round *r)
{
	for (size_t i = 0; i < r->t.lost.n; i++) {
		if (queuejob_loss_action(r, i) <= KAR_FAILURE_IGNORE)
			return true;
	}
	return r->t.lost.n == 0;
}

/* What no rule answers, or one by which a single pod is replaced. */
static void count_by_default(struct queuejob_round *r, bool undercut)
{
	bool edited = r->job->generation != r->seen->observed_generation;

	r->broken = undercut && !(edited && !r->t.lost.n) && falls_to_defaults(r);
	r->rearm |= undercut && !r->broken;
	if (r->rearm && r->t.lost.n && !r->unformed_by)
		r->unformed_by = kar_reason_PodRecreated;
	if (r->broken)
		count_together(r, KAR_FAILURE_NONE);
	else
		count_singly(r);
}

void queuejob_count_losses(struct queuejob_round *r)
{
	bool undercut = r->min > 0 && queuejob_was_formed(r) && !queuejob_has_quorum(r);

	forget_gone(r);
	if (r->replaces_template)
		return; /* the incarnation is given up anyway */
	remember_surplus(r);
	queuejob_judge_losses(r);
	if (r->verdict >= KAR_FAILURE_RESTART_JOB) {
		r->broken = r->verdict == KAR_FAILURE_RESTART_JOB;
		count_together(r, r->verdict);
		return;
	}
	if (r->verdict == KAR_FAILURE_RESTART_TASK) {
		queuejob_give_up_tasks(r);
		count_singly(r);
		return;
	}
	count_by_default(r, undercut);
}

/* --- replacing ----------------------------------------------------------------------------------- */

/*
 * A kubelet gives the pod a reason when it refuses it, or ends it at its deadline, and none when it stops it because it is
 * deleted. The grace period tells nothing: of a pod that has been stopped it is 0 as well, as soon as its kubelet is done.
 */
static bool failed_before_deletion(const struct kar_pod *pod)
{
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);

	return loss->n_exits > 0 || loss->pod_reason;
}

/* It failed of its own accord, whatever was done to it afterwards. */
static bool has_failed(const struct kar_pod *pod)
{
	return pod->phase == KAR_POD_FAILED && !pod->disrupted &&
		(!pod->deletion || failed_before_deletion(pod));
}

static void replace(struct queuejob_round *r, const struct queuejob_slot *slot, kar_time left)
{
	const struct kar_pod *pod = slot->pod;
	char text[KAR_TIME_LEN];

	if (left == 0 || !has_failed(pod)) {
		queuejob_remove_pod(r, pod);
		return;
	}
	/*
	 * The failed object keeps its name, and its logs, until its replacement is due. So that nobody who deletes it makes
	 * that come earlier, it keeps our finalizer as well.
	 */
	kar_plan_requeue(r->p, left);
	if (slot->held) /* nothing replaces it now */
		return;
	queuejob_say(r, kar_reason_BackOff, "pod %s is replaced at %s%s", pod->o.name,
		kar_time_format(r->now + left, text),
		pod->deletion ? " (its deletion waits until then)" : "");
}

void queuejob_replace_lost(struct queuejob_round *r)
{
	kar_time left = queuejob_backoff_left(r);

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		const struct queuejob_task_tally *task = &r->t.tasks[i];

		for (int32_t k = 0; k < task->n && !task->restart_time; k++) {
			const struct queuejob_slot *slot = &task->slots[k];

			/* One that was withdrawn is no loss: transaction.c sees to it. */
			if (slot->state == QUEUEJOB_SLOT_LOST && queuejob_pod_counted(&r->t, slot->pod) &&
				!kar_pod_withdrawn(slot->pod))
				replace(r, slot, left);
		}
	}
}
