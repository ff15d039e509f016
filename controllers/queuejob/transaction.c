/*
 * The minimum is a transaction where a ResourceQuota limits pods: all of its pods exist before one of them may be scheduled, or
 * none is kept (see docs/decisions/021).
 *
 * Pods are created with our scheduling gate while several of the minimum are missing. Nothing is remembered of it: a pod that
 * has the gate has never run, so it may be let go, or taken back without a trace, by whoever sees it.
 */
#include "controllers/queuejob/round.h"

#include "api/keep.h"
#include "controllers/quota_line.h"

/* A gang that has not formed, and waits for a quota, keeps the pods that it could start for so long. */
static const kar_time PATIENCE = KAR_MINUTE;

/* Calls @fn for each pod of a wanted index of one task for which it is true; returns how often. */
static int32_t each_pod_of(struct queuejob_round *r, const struct queuejob_task_tally *task,
	bool (*is)(const struct queuejob_slot *s),
	void (*fn)(struct queuejob_round *r, const struct kar_pod *pod))
{
	int32_t n = 0;

	if (!task->started || task->restart_time)
		return 0; /* no pod of it is created */
	for (int32_t k = 0; k < task->n; k++) {
		if (!is(&task->slots[k]))
			continue;
		n++;
		if (fn)
			fn(r, task->slots[k].pod);
	}
	return n;
}

/* The same for all tasks. */
static int32_t each_pod(struct queuejob_round *r, bool (*is)(const struct queuejob_slot *s),
	void (*fn)(struct queuejob_round *r, const struct kar_pod *pod))
{
	int32_t n = 0;

	for (size_t i = 0; i < r->t.n_tasks; i++)
		n += each_pod_of(r, &r->t.tasks[i], is, fn);
	return n;
}

/* Not one that the queue takes away: that never runs. */
static bool is_gated(const struct queuejob_slot *s)
{
	return s->state == QUEUEJOB_SLOT_PENDING && s->pod->gate_ours && !s->held;
}

static bool is_withdrawn(const struct queuejob_slot *s)
{
	return s->state == QUEUEJOB_SLOT_LOST && kar_pod_withdrawn(s->pod);
}

static bool is_let_go(const struct queuejob_slot *s)
{
	return s->state == QUEUEJOB_SLOT_RUNNING || (s->state == QUEUEJOB_SLOT_PENDING && !s->pod->gate_ours);
}

/* An index at which a pod may come. */
static bool is_open(const struct queuejob_slot *s)
{
	return s->state == QUEUEJOB_SLOT_MISSING || s->state == QUEUEJOB_SLOT_LOST;
}

static void ungate(struct queuejob_round *r, const struct kar_pod *pod)
{
	queuejob_ungate_pod(r->p, pod);
}

/*
 * Only as it was read, with the gate: another manager may have let it go since. Our finalizer goes when it is seen to be
 * deleted.
 */
static void withdraw(struct queuejob_round *r, const struct kar_pod *pod)
{
	queuejob_pod_action(r->p, KAR_DELETE, pod, QUEUEJOB_DELETE_POD)->rv = pod->o.rv;
}

/* By whatever: a quota, a policy, a webhook. */
static bool pod_is_refused(const struct queuejob_round *r)
{
	return r->v->refused && r->v->refusal_stands && queuejob_refused_is_pod(r);
}

/* A quota has refused a pod of the minimum, or others who wait for it go first. */
static bool minimum_lacks_quota(const struct queuejob_round *r)
{
	return pod_is_refused(r) && !r->v->refused_extra && kar_quota_exceeded(r->v->refused->msg);
}

/* Only what is sure: where other resources are short, the API server says so when it is tried. */
static bool can_never_fit(const struct queuejob_round *r)
{
	return r->v->quota.name && queuejob_minimum_left(r) > r->v->quota.pods;
}

static void say_infeasible(struct queuejob_round *r)
{
	queuejob_say(r, kar_reason_QuotaInfeasible,
		"the minimum of %s does not fit into ResourceQuota %s, which allows %lld",
		queuejob_count_pods(r, queuejob_minimum_left(r)), r->v->quota.name,
		(long long)r->v->quota.pods);
	if (kar_same(r->st.reason, kar_reason_QuotaInfeasible) && !kar_same(r->seen->reason, r->st.reason))
		kar_plan_event(r->p, true, kar_reason_QuotaInfeasible, "CreatePods", "%s", r->st.message);
}

static bool is_unformed_by(const struct queuejob_round *r, const char *reason)
{
	const struct kar_condition *c = kar_condition_find(&r->st.conditions, KAR_QJ_FORMED);

	return c && c->status == KAR_COND_FALSE && kar_same(c->reason, reason);
}

bool queuejob_is_raised(const struct queuejob_round *r)
{
	return is_unformed_by(r, kar_reason_QuorumRaised);
}

/* A rule of the failure policy has spared it a restart. */
static bool forms_anew(const struct queuejob_round *r)
{
	return is_unformed_by(r, kar_reason_PodRecreated) || is_unformed_by(r, kar_reason_TaskRestarting);
}

bool queuejob_is_transaction(struct queuejob_round *r)
{
	return queuejob_lacks(r) > 0 &&
		(r->v->quota.limits_pods || queuejob_is_raised(r) || each_pod(r, is_gated, NULL) > 0);
}

/* Somebody else's pods have names of the minimum: it cannot be completed, and what there is of it is of no use. */
static bool lacks_a_name(struct queuejob_round *r)
{
	if (!r->t.blocker || !queuejob_is_transaction(r))
		return false;
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		if (each_pod_of(r, &r->t.tasks[i], is_open, NULL) < queuejob_task_lacks(r, i))
			return true;
	}
	return each_pod(r, is_open, NULL) < queuejob_lacks(r);
}

/* As far as is known without asking the API server. If it cannot, says why. */
static bool can_complete(struct queuejob_round *r)
{
	if (can_never_fit(r)) {
		say_infeasible(r);
		return false;
	}
	if (lacks_a_name(r)) {
		queuejob_tell_blocker(r);
		return false;
	}
	return true;
}

/* Takes the gated pods back, since another of the minimum was refused. False: none is left. */
static bool rolls_back(struct queuejob_round *r)
{
	int32_t n = each_pod(r, is_gated, withdraw) + each_pod(r, is_withdrawn, NULL);

	if (!n)
		return false;
	r->p->unfinished = true;
	r->p->taken_back = n;
	queuejob_tell_refusal(r);
	return true;
}

bool queuejob_settle_minimum(struct queuejob_round *r, bool admitted)
{
	each_pod(r, is_withdrawn, queuejob_remove_pod); /* until nothing holds them */
	if (!queuejob_lacks(r)) {
		each_pod(r, is_gated, ungate);
		return admitted;
	}
	if (!admitted || !can_complete(r)) {
		each_pod(r, is_gated, withdraw);
		return false;
	}
	return !pod_is_refused(r) || !rolls_back(r);
}

/* No stage of it ever ran. */
static bool never_formed(const struct queuejob_round *r)
{
	const struct kar_condition *c = kar_condition_find(&r->seen->conditions, KAR_QJ_FORMED);

	return r->seen->phase == KAR_QJ_PHASE_STARTING && c && kar_same(c->reason, kar_reason_Starting);
}

/* It has more stages than it would begin anew with, so that it is no longer one transaction. */
static bool has_grown(const struct queuejob_round *r)
{
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		if (r->t.tasks[i].started && r->job->spec.tasks[i].depends_on.n)
			return true;
	}
	return false;
}

/*
 * Of those with several stages, or that form anew, the first in the line keeps what it has: the others give back what it
 * lacks, and do not take it again before it has it. If it gave back as well, all could begin anew together, for ever.
 */
static bool may_give_back(const struct queuejob_round *r)
{
	if (r->v->stands_behind)
		return never_formed(r) || queuejob_grows(r) || forms_anew(r);
	return never_formed(r) && !has_grown(r);
}

bool queuejob_gives_back(struct queuejob_round *r)
{
	kar_time left = PATIENCE - r->v->refused_for;

	if (r->t.done || !queuejob_lacks(r) || !each_pod(r, is_let_go, NULL))
		return false;
	if (never_formed(r) && !has_grown(r) && can_never_fit(r))
		return true;
	if (!minimum_lacks_quota(r) || !may_give_back(r))
		return false;
	if (left > 0)
		kar_plan_requeue(r->p, left);
	return left <= 0;
}
