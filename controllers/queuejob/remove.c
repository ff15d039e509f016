/* Taking pods away, and our hands off them. */
#include "controllers/queuejob/round.h"

#include "api/keep.h"

struct kar_action *queuejob_pod_action(struct kar_plan *p, enum kar_verb verb, const struct kar_pod *pod,
	int what)
{
	/* The pod may be gone from the cache when the plan is carried out. */
	struct kar_action *a = kar_plan_add(p, verb, &kar_pod_type, kar_keep(p->arena, pod->o.ns),
		kar_keep_text(p->arena, pod->o.name));

	a->uid = kar_keep(p->arena, pod->o.uid);
	a->what = what;
	return a;
}

static void release(struct kar_plan *p, const struct kar_pod *pod)
{
	struct kar_action *a;

	if (!pod->tracked)
		return;
	a = queuejob_pod_action(p, KAR_PATCH, pod, QUEUEJOB_RELEASE_POD);
	a->patch_type = KAR_PATCH_STRATEGIC;
	a->note = "release";
}

void queuejob_ungate_pod(struct kar_plan *p, const struct kar_pod *pod)
{
	struct kar_action *a = queuejob_pod_action(p, KAR_PATCH, pod, QUEUEJOB_UNGATE_POD);

	a->patch_type = KAR_PATCH_STRATEGIC;
	a->rv = pod->o.rv;
	a->note = "ungate";
}

void queuejob_remove_pod(struct queuejob_round *r, const struct kar_pod *pod)
{
	release(r->p, pod);
	if (!pod->deletion)
		queuejob_pod_action(r->p, KAR_DELETE, pod, QUEUEJOB_DELETE_POD);
}

/*
 * One that succeeds before the delete arrives is another than the one that was looked at: then the API server refuses, and the
 * next round sees the success. Our finalizer goes when the deletion is seen.
 */
void queuejob_stop_pod(struct queuejob_round *r, const struct kar_pod *pod)
{
	if (pod->deletion || kar_pod_finished(pod))
		queuejob_remove_pod(r, pod);
	else
		queuejob_pod_action(r->p, KAR_DELETE, pod, QUEUEJOB_DELETE_POD)->rv = pod->o.rv;
}

void queuejob_remove_live(struct queuejob_round *r)
{
	for (size_t i = 0; i < r->v->n_pods; i++) {
		if (!kar_pod_finished(r->v->pods[i]))
			queuejob_remove_pod(r, r->v->pods[i]);
	}
}

void queuejob_stop_live(struct queuejob_round *r)
{
	for (size_t i = 0; i < r->v->n_pods; i++) {
		if (!kar_pod_finished(r->v->pods[i]))
			queuejob_stop_pod(r, r->v->pods[i]);
	}
}

void queuejob_remove_all(struct queuejob_round *r, const struct queuejob_pods *pods)
{
	for (size_t i = 0; i < pods->n; i++)
		queuejob_remove_pod(r, pods->items[i]);
}

void queuejob_remove_surplus(struct queuejob_round *r)
{
	for (size_t i = 0; i < r->t.surplus.n; i++) {
		const struct kar_pod *pod = r->t.surplus.items[i];

		if (!kar_pod_lost(pod) && !kar_pod_finished(pod) && !queuejob_pod_counted(&r->t, pod))
			continue;
		if (queuejob_find_slot(&r->t, r->job, pod)) /* an index of the spec: its success counts */
			queuejob_stop_pod(r, pod);
		else
			queuejob_remove_pod(r, pod);
	}
}

void queuejob_release_done(struct queuejob_round *r)
{
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		const struct queuejob_task_tally *task = &r->t.tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			const struct queuejob_slot *slot = &task->slots[k];

			if (slot->state == QUEUEJOB_SLOT_DONE && slot->recorded && slot->pod &&
				kar_pod_finished(slot->pod))
				release(r->p, slot->pod);
		}
	}
}

/* Its success is not in the status yet. */
static bool is_news(const struct queuejob_round *r, const struct kar_pod *pod)
{
	const struct queuejob_slot *slot = queuejob_find_slot(&r->t, r->job, pod);

	return slot && slot->pod == pod && slot->state == QUEUEJOB_SLOT_DONE && !slot->recorded;
}

void queuejob_release_ended(struct queuejob_round *r)
{
	for (size_t i = 0; i < r->v->n_pods; i++) {
		if (kar_pod_finished(r->v->pods[i]) && !is_news(r, r->v->pods[i]))
			release(r->p, r->v->pods[i]);
	}
}

/* It stays without its job, and nobody else would ever take our gate off it. Our finalizer goes when that is seen. */
static void leave_behind(struct kar_plan *p, const struct kar_pod *pod)
{
	if (pod->gate_ours && kar_pod_alive(pod))
		queuejob_ungate_pod(p, pod);
	else
		release(p, pod);
}

void queuejob_let_go(struct queuejob_round *r)
{
	for (size_t i = 0; i < r->v->n_pods; i++) {
		const struct kar_pod *pod = r->v->pods[i];

		if (r->job->has_orphan_finalizer)
			leave_behind(r->p, pod);
		else if (!kar_pod_alive(pod))
			release(r->p, pod);
	}
}

void queuejob_release_orphans(const struct queuejob_view *v, struct kar_plan *p)
{
	for (size_t i = 0; i < v->n_orphans; i++) {
		if (v->orphans[i]->owner_uid) /* the garbage collector takes it away */
			release(p, v->orphans[i]);
		else
			leave_behind(p, v->orphans[i]);
	}
}

/* --- repair -------------------------------------------------------------------------------------- */

static bool is_intact(const struct queuejob_round *r, const struct kar_pod *pod, size_t task, int32_t index,
	const char *group)
{
	return pod->tracked && pod->job && kar_same(pod->job->task, r->job->spec.tasks[task].name) &&
		pod->job->index == index && pod->job->incarnation == r->seen->incarnation &&
		kar_same(pod->group, group) && pod->labelled;
}

static void repair_pod(struct queuejob_round *r, const struct kar_pod *pod, size_t task, int32_t index)
{
	struct queuejob_new_pod *as = kar_arena_alloc(r->arena, 1, sizeof(*as));
	struct kar_action *a = queuejob_pod_action(r->p, KAR_PATCH, pod, QUEUEJOB_REPAIR_POD);

	*as = (struct queuejob_new_pod){ .task = task, .index = index, .incarnation = r->seen->incarnation };
	a->patch_type = KAR_PATCH_STRATEGIC;
	a->payload = as;
	a->note = "repair";
}

/* Not one that the queue does not want any more, and that goes now. */
static bool is_kept(const struct queuejob_round *r, const struct queuejob_slot *slot)
{
	bool live = slot->state == QUEUEJOB_SLOT_PENDING || slot->state == QUEUEJOB_SLOT_RUNNING;

	return live && !(slot->held && queuejob_pod_counted(&r->t, slot->pod));
}

void queuejob_repair_pods(struct queuejob_round *r)
{
	char key[KAR_KEY_LEN];
	const char *group = kar_object_key(&r->job->o, key);

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		const struct queuejob_task_tally *task = &r->t.tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			const struct queuejob_slot *slot = &task->slots[k];

			if (is_kept(r, slot) && !is_intact(r, slot->pod, i, k, group))
				repair_pod(r, slot->pod, i, k);
		}
	}
}
