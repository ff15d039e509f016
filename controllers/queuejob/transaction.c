/*
 * Where a ResourceQuota limits pods, the minimum is a transaction: all of its pods exist before one of them may be scheduled, or
 * they are rolled back (see docs/decisions/021). The queue has counted that they fit (controllers/queue/ledger.h); this is for what it
 * does not see, and for pods of others that were faster. Which pods the minimum is made of is known here only, so they are released here.
 *
 * Pods are created with our scheduling gate while several pods of the minimum are missing. The transaction is not recorded: a
 * pod with the gate has never run, so any later sync, of any manager, may release or delete it.
 */
#include "controllers/queuejob/reconcile.h"

#include <assert.h>

#include "common/str.h"

/* How long a gang that waits for quota and has not formed keeps the pods that it could start. */
static const kar_time QUOTA_WAIT = KAR_MINUTE;

/* Calls @fn (may be NULL) for the pod of each index of task number @i for which @is is true; returns the number of such indexes. */
static int32_t each_pod_of(struct queuejob_reconcile *r, size_t i,
	bool (*is)(const struct queuejob_reconcile *r, const struct podset_slot *s),
	void (*fn)(struct queuejob_reconcile *r, const struct kar_pod *pod))
{
	const struct podset_task *task = &r->f->pods.tasks[i];
	int32_t n = 0;

	if (!r->want.tasks[i].started || r->want.tasks[i].restart_time)
		return 0; /* none of its pods is created now */
	for (int32_t k = 0; k < task->n; k++) {
		if (!is(r, &task->slots[k]))
			continue;
		n++;
		if (fn)
			fn(r, task->slots[k].pod);
	}
	return n;
}

/* each_pod_of() for all tasks. */
static int32_t each_pod(struct queuejob_reconcile *r,
	bool (*is)(const struct queuejob_reconcile *r, const struct podset_slot *s),
	void (*fn)(struct queuejob_reconcile *r, const struct kar_pod *pod))
{
	int32_t n = 0;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++)
		n += each_pod_of(r, i, is, fn);
	return n;
}

/* A scaled down pod is deleted with its gate, because it must not run. */
static bool is_gated(const struct queuejob_reconcile *r, const struct podset_slot *s)
{
	return s->state == PODSET_PENDING && s->pod->gate_ours && !queuejob_is_scaled_down(r, s);
}

static bool is_rolled_back(const struct queuejob_reconcile *r KAR_UNUSED, const struct podset_slot *s)
{
	return s->state == PODSET_LOST && kar_pod_rolled_back(s->pod);
}

static bool is_ungated(const struct queuejob_reconcile *r KAR_UNUSED, const struct podset_slot *s)
{
	return s->state == PODSET_RUNNING || (s->state == PODSET_PENDING && !s->pod->gate_ours);
}

/* A pod may be created at this index, now or later. */
static bool is_open(const struct queuejob_reconcile *r KAR_UNUSED, const struct podset_slot *s)
{
	return s->state == PODSET_MISSING || s->state == PODSET_LOST;
}

static void remove_pod(struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	podset_remove(r->p, pod);
}

static void ungate(struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	podset_ungate(r->p, pod);
}

/*
 * Deletes the pod only at the version we read, which has the gate: another manager may have released it since. Our finalizer is
 * removed when the deletion is seen.
 */
static void roll_back(struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	assert(pod->gate_ours); /* only such a pod has surely never run, so that its deletion is no loss */
	podset_delete(r->p, pod, true);
}

/* The cause does not matter: a quota, a policy or a webhook. */
static bool pod_is_refused(const struct queuejob_reconcile *r)
{
	return r->f->v->refused && r->f->v->refusal_stands && queuejob_refused_is_pod(r);
}

/* A quota has refused a pod of the minimum. */
static bool minimum_lacks_quota(const struct queuejob_reconcile *r)
{
	return pod_is_refused(r) && !r->f->v->refused_extra && r->f->v->refused->cause == KAR_CAUSE_QUOTA;
}

/* A rule of the failure policy replaced a pod, or restarted a task, instead of restarting the gang. */
static bool forms_again(const struct queuejob_reconcile *r)
{
	return r->st.record.formation == KAR_QJ_FORMATION_RECREATED ||
		r->st.record.formation == KAR_QJ_FORMATION_TASK;
}

bool queuejob_is_transaction(struct queuejob_reconcile *r)
{
	return queuejob_lacks(r) > 0 && !queuejob_waits_for_raised(r) &&
		(r->f->v->quota_limits_pods || queuejob_is_raised(r) || each_pod(r, is_gated, NULL) > 0);
}

/* Pods of other owners have names that the minimum needs, so it cannot be completed. */
static bool lacks_a_name(struct queuejob_reconcile *r)
{
	if (!r->f->pods.blocker || !queuejob_is_transaction(r))
		return false;
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (each_pod_of(r, i, is_open, NULL) < queuejob_task_lacks(r, i))
			return true;
	}
	return each_pod(r, is_open, NULL) < queuejob_lacks(r);
}

/* Can the minimum be completed, by what is known without a request? Reports why not. */
static bool can_complete(struct queuejob_reconcile *r)
{
	if (!lacks_a_name(r))
		return true;
	queuejob_report_blocker(r);
	return false;
}

/* Rolls back the gated pods, because another pod of the minimum was refused. False: none is left. */
static bool roll_back_all(struct queuejob_reconcile *r)
{
	int32_t n = each_pod(r, is_gated, roll_back) + each_pod(r, is_rolled_back, NULL);

	if (!n)
		return false;
	r->p->unfinished = true;
	r->p->rolled_back = n;
	queuejob_report_refusal(r);
	return true;
}

bool queuejob_settle_minimum(struct queuejob_reconcile *r, bool admitted)
{
	each_pod(r, is_rolled_back, remove_pod); /* removes our finalizer */
	if (!queuejob_lacks(r) || (admitted && queuejob_waits_for_raised(r))) {
		each_pod(r, is_gated, ungate);
		return admitted;
	}
	if (!admitted || !can_complete(r)) {
		each_pod(r, is_gated, roll_back);
		return false;
	}
	return !pod_is_refused(r) || !roll_back_all(r);
}

/* No stage of the job has ever run. */
static bool never_formed(const struct queuejob_reconcile *r)
{
	return r->f->seen->phase == KAR_QJ_PHASE_STARTING &&
		r->f->seen->record.formation == KAR_QJ_FORMATION_FIRST;
}

/* Tasks with dependencies have started: a restart would begin with fewer tasks, so the minimum is not one transaction. */
static bool has_grown(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (r->want.tasks[i].started && r->f->job->spec.tasks[i].depends_on.n)
			return true;
	}
	return false;
}

/*
 * May the gang release its pods to leave the quota to others? The first of the refused jobs keeps its pods, if it has several stages
 * or forms again: the others release the quota that it lacks, and wait until it has it. If it released its pods as well,
 * all gangs could restart together without end.
 */
static bool may_release(const struct queuejob_reconcile *r)
{
	if (r->f->v->comes_after_others)
		return never_formed(r) || queuejob_grows(r) || forms_again(r);
	return never_formed(r) && !has_grown(r);
}

bool queuejob_lacks_quota_for_long(struct queuejob_reconcile *r)
{
	kar_time left = QUOTA_WAIT - r->f->v->refused_for;

	if (r->f->pods.done || !queuejob_lacks(r) || !each_pod(r, is_ungated, NULL))
		return false;
	if (!minimum_lacks_quota(r) || !may_release(r))
		return false;
	if (left > 0)
		kar_plan_requeue(r->p, left);
	return left <= 0;
}
