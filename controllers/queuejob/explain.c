/* Reports why a gang waits, as far as no earlier step of the decision has reported a more important reason. */
#include "controllers/queuejob/reconcile.h"

#include <string.h>

#include "common/base/str.h"
#include "common/base/text.h"

/* --- pods that are not gone ---------------------------------------------------------------------- */

/* A restart waits until all terminating pods are gone, a gang in Starting or Running only for those it replaces. */
static bool is_awaited(const struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	const struct podset_slot *slot;

	if (!pod->deletion || !queuejob_has_gang(r->st.phase))
		return pod->deletion;
	slot = podset_find(&r->f->pods, pod);
	return slot && slot->pod == pod && !queuejob_is_scaled_down(r, slot) &&
		(slot->state == PODSET_LOST || slot->state == PODSET_OLD);
}

struct awaited {
	const struct kar_pod *first; /* NULL: none */
	int32_t n;
};

static void add_awaited(struct awaited *a, const struct kar_pod *pod)
{
	a->first = a->first ? a->first : pod;
	a->n++;
}

const char *queuejob_describe_not_gone(const struct queuejob_reconcile *r)
{
	struct awaited a = { 0 };
	const char *where = "";

	for (size_t i = 0; i < r->want.surplus.n && r->lacks_room; i++) {
		if (kar_pod_alive(r->want.surplus.items[i]))
			add_awaited(&a, r->want.surplus.items[i]);
	}
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		if (is_awaited(r, r->f->v->pods[i]))
			add_awaited(&a, r->f->v->pods[i]);
	}
	if (!a.first)
		return "";
	if (a.first->node)
		where = kar_arena_printf(r->arena, " on node %s", a.first->node);
	if (a.n == 1)
		return kar_arena_printf(r->arena, "; pod %s%s is not gone yet", a.first->o.name, where);
	return kar_arena_printf(r->arena, "; %s are not gone yet, for example %s%s",
		queuejob_count_pods(r, a.n), a.first->o.name, where);
}

/* --- pods that do not start ---------------------------------------------------------------------- */

/* The numbers of nodes in the words of the scheduler change with each of its attempts, which is no news. */
static void report_unplaced(struct queuejob_reconcile *r)
{
	const struct kar_unplaced *all = &r->f->pods.unplaced;
	const char *why = kar_unplaced_describe(all, r->arena), *exact;
	bool known = kar_streq(r->f->seen->reason, kar_reason_Unschedulable);

	if (!all->n)
		return;
	exact = kar_arena_printf(r->arena, "%d of %s ha%s no node", (int)all->n,
		queuejob_count_pods(r, queuejob_desired(r)), all->n == 1 ? "s" : "ve");
	queuejob_report(r, kar_reason_Unschedulable, "%s",
		kar_text_steady(r->arena, exact, why[0] ? kar_arena_printf(r->arena, ": %s", why) : "",
			known ? r->f->seen->message : NULL));
	queuejob_warn_once(r, kar_reason_Unschedulable, "Schedule");
}

/* The ports in the words of the kubelet change with each of its attempts, which is no news. */
static void report_container(struct queuejob_reconcile *r, const struct kar_pod *pod,
	const struct kar_pod_trouble *wait)
{
	bool known = kar_streq(r->f->seen->reason, kar_reason_ContainerWaiting);
	const char *exact = kar_arena_printf(r->arena, "%s do%s not start: container %s of %s%s%s: %s",
		queuejob_count_pods(r, r->f->pods.n_stuck), r->f->pods.n_stuck == 1 ? "es" : "",
		wait->container ? wait->container : "?", pod->o.name, pod->node ? " on node " : "",
		pod->node ? pod->node : "", wait->reason);

	queuejob_report(r, kar_reason_ContainerWaiting, "%s",
		kar_text_steady(r->arena, exact,
			wait->message ? kar_arena_printf(r->arena, ": %s", wait->message) : "",
			known ? r->f->seen->message : NULL));
}

/* Nobody serves the schedulerName of these pods. Those that are created bound need no scheduler. */
static void report_unseen(struct queuejob_reconcile *r)
{
	const struct kar_pod *first = NULL;
	int32_t n = 0;

	if (!r->f->pods.pending || r->f->v->direct)
		return;
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		const struct kar_pod *pod = r->f->v->pods[i];
		kar_time left = kar_pod_unseen_in(pod, 0, r->f->now);

		if (left > 0 && left != KAR_NEVER)
			kar_plan_requeue(r->p, left);
		if (left > 0)
			continue;
		first = first && strcmp(first->o.name, pod->o.name) < 0 ? first : pod;
		n++;
	}
	if (!first)
		return;
	queuejob_report(r, kar_reason_NoScheduler, "%s", kar_pod_describe_unseen(first, n, r->arena));
	queuejob_warn_once(r, kar_reason_NoScheduler, "Schedule");
}

static void report_stuck(struct queuejob_reconcile *r)
{
	const struct kar_pod *pod = r->f->pods.stuck;
	const struct kar_pod_trouble *wait = pod ? kar_pod_waits(pod) : NULL;

	report_unplaced(r);
	report_unseen(r);
	if (wait)
		report_container(r, pod, wait);
}

/* --- the whole ----------------------------------------------------------------------------------- */

void queuejob_report_starting(struct queuejob_reconcile *r, const char *reason)
{
	if (!r->f->pods.total)
		queuejob_report(r, kar_reason_NoReplicas,
			"no task has replicas; set replicas of a task to continue");
	queuejob_report_raised(r, kar_reason_Starting);
	if (!r->want.pods)
		queuejob_report_limit(r);
	queuejob_report_waiting_task(r);
	if (reason)
		queuejob_report(r, reason, "waiting until the quorum of %d of %s runs%s", (int)r->want.min,
			queuejob_count_pods(r, queuejob_desired(r)), queuejob_describe_not_gone(r));
}

void queuejob_explain(struct queuejob_reconcile *r)
{
	bool starts = r->st.phase == KAR_QJ_PHASE_STARTING,
	     grows = r->want.min > 0 && !r->st.record.formed_min_available;
	const char *not_gone = queuejob_describe_not_gone(r);

	queuejob_report_edit(r);
	report_stuck(r);
	queuejob_report_crashes(r);
	queuejob_warn_once(r, kar_reason_ContainerWaiting, "StartPods");
	queuejob_report_half_ended(r);
	queuejob_report_starting(r, starts ? kar_reason_Starting : grows ? kar_reason_TaskStarting : NULL);
	if (not_gone[0])
		queuejob_report(r, kar_reason_WaitingForTermination, "%s%s",
			r->lacks_room ? "waiting for a surplus pod to terminate"
				      : "waiting for a lost pod to terminate before it is replaced",
			not_gone);
	queuejob_report_limit(r);
	if (!queuejob_can_complete(r))
		queuejob_report(r, kar_reason_NoReplicas,
			"no task of successPolicy has replicas, so the job cannot complete");
	queuejob_report(r, "", "%s", "");
}
