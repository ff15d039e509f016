/* What the status says while an incarnation is at work: why it waits, as far as no rule has said so already. */
#include "controllers/queuejob/round.h"

#include "api/keep.h"

/* --- pods that are not gone ---------------------------------------------------------------------- */

/* An incarnation that is given up waits for all of them, a gang at work for those that are replaced. */
static bool is_awaited(const struct queuejob_round *r, const struct kar_pod *pod)
{
	const struct queuejob_slot *slot;

	if (!pod->deletion || !queuejob_has_gang(r->st.phase))
		return pod->deletion;
	slot = queuejob_find_slot(&r->t, r->job, pod);
	return slot && slot->pod == pod && !slot->held &&
		(slot->state == QUEUEJOB_SLOT_LOST || slot->state == QUEUEJOB_SLOT_OLD);
}

struct awaited {
	const struct kar_pod *first; /* NULL: none */
	int32_t n;
};

static void await(struct awaited *a, const struct kar_pod *pod)
{
	a->first = a->first ? a->first : pod;
	a->n++;
}

const char *queuejob_tell_not_gone(const struct queuejob_round *r)
{
	struct awaited a = { 0 };
	const char *where = "";

	for (size_t i = 0; i < r->t.surplus.n && r->lacks_room; i++) {
		if (kar_pod_alive(r->t.surplus.items[i]))
			await(&a, r->t.surplus.items[i]);
	}
	for (size_t i = 0; i < r->v->n_pods; i++) {
		if (is_awaited(r, r->v->pods[i]))
			await(&a, r->v->pods[i]);
	}
	if (!a.first)
		return "";
	if (a.first->node)
		where = kar_arena_printf(r->arena, " on node %s", a.first->node);
	if (a.n == 1)
		return kar_arena_printf(r->arena, "; pod %s%s is not gone yet", a.first->o.name, where);
	return kar_arena_printf(r->arena, "; %s are not gone yet, as %s%s", queuejob_count_pods(r, a.n),
		a.first->o.name, where);
}

/* --- pods that do not start ---------------------------------------------------------------------- */

static void say_stuck(struct queuejob_round *r)
{
	const struct kar_pod *pod = r->t.stuck;

	if (r->t.unschedulable)
		queuejob_say(r, kar_reason_Unschedulable,
			"pods wait for a node that fits; podgroup %s says which", r->job->o.name);
	if (!pod)
		return;
	queuejob_say(r, kar_reason_ContainerWaiting, "pod %s%s%s does not start: %s%s", pod->o.name,
		pod->node ? " on node " : "", pod->node ? pod->node : "", kar_pod_loss_of(pod)->waiting,
		r->t.n_stuck > 1 ? kar_arena_printf(r->arena, ", and %d more", (int)r->t.n_stuck - 1) : "");
}

/* --- the whole ----------------------------------------------------------------------------------- */

void queuejob_say_starting(struct queuejob_round *r, const char *reason)
{
	if (!r->t.total)
		queuejob_say(r, kar_reason_NoReplicas,
			"no task has replicas; the job goes on when some are given it");
	if (!r->wanted)
		queuejob_say_limit(r);
	queuejob_say_waiting_task(r);
	if (reason)
		queuejob_say(r, reason, "waiting until the quorum of %d of %s runs%s", (int)r->min,
			queuejob_count_pods(r, queuejob_desired(r)), queuejob_tell_not_gone(r));
}

void queuejob_explain(struct queuejob_round *r)
{
	bool starts = r->st.phase == KAR_QJ_PHASE_STARTING, grows = r->min > 0 && !r->st.formed_min_available;
	const char *not_gone = queuejob_tell_not_gone(r);

	say_stuck(r);
	queuejob_say_starting(r, starts ? kar_reason_Starting : grows ? kar_reason_TaskStarting : NULL);
	if (not_gone[0])
		queuejob_say(r, kar_reason_WaitingForTermination, "%s%s",
			r->lacks_room ? "a pod that is not wanted any more goes first"
				      : "a pod is replaced when it is gone",
			not_gone);
	queuejob_say_limit(r);
	if (!queuejob_can_complete(r))
		queuejob_say(r, kar_reason_NoReplicas,
			"no task of successPolicy has replicas, so the job does not complete");
	queuejob_say(r, "", "%s", "");
}
