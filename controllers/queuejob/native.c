/*
 * The PodGroup of Kubernetes itself (api/podgroup/native_group.h), for a gang that kube-scheduler starts whole. It has the name of the job, which
 * owns it, and exists before the first pod that names it; before a pod is created, and while one waits for a node, its minCount is the
 * minMember of our PodGroup. It is not cached: what was written last is remembered.
 */
#include "controllers/queuejob/reconcile.h"

#include "api/copy.h"

static bool is_asked_for(const struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);

	return g && g->status.backend == KAR_PG_BACKEND_NATIVE;
}

/* A gang that has started goes on without it, as one that we have placed does. */
static bool goes_without(const struct queuejob_reconcile *r)
{
	return r->f->v->native.lost &&
		queuejob_own_group(r)->status.placement.state == KAR_PG_STATE_SATISFIED;
}

bool queuejob_is_native(const struct queuejob_reconcile *r)
{
	return is_asked_for(r) && !goes_without(r);
}

static bool is_missing(const struct queuejob_reconcile *r, const struct podset_slot *s)
{
	return s->state == PODSET_MISSING && !queuejob_is_scaled_down(r, s);
}

/* A pod is to be created, or has no node yet. */
static bool needs_scheduler(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *t = &r->f->pods.tasks[i];

		for (int32_t k = 0; k < t->n && r->want.tasks[i].started; k++) {
			const struct podset_slot *s = &t->slots[k];

			if (is_missing(r, s) || (s->state == PODSET_PENDING && !s->pod->node))
				return true;
		}
	}
	return false;
}

static void put(struct queuejob_reconcile *r)
{
	const struct queuejob_native *n = &r->f->v->native;
	struct kar_native_spec *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	struct kar_action *a = queuejob_child_action(r, n->exists ? KAR_PATCH : KAR_CREATE, n->type,
		n->exists ? QUEUEJOB_PATCH_NATIVE : QUEUEJOB_CREATE_NATIVE, NULL);

	*payload = (struct kar_native_spec){ r->min_member,
		kar_copy_text(r->arena, kar_queuejob_pod_class(r->f->job, 0)) };
	a->patch_type = KAR_PATCH_MERGE;
	a->payload = payload;
	a->note = kar_arena_printf(r->arena, "minCount=%d", (int)r->min_member);
	r->p->unfinished = true;
}

bool queuejob_keep_native(struct queuejob_reconcile *r)
{
	const struct queuejob_native *n = &r->f->v->native;

	if (!queuejob_is_native(r) || !needs_scheduler(r))
		return true;
	if (n->lost)
		queuejob_report(r, kar_reason_BackendUnavailable,
			"the gang was placed with backend Native, and the cluster has no PodGroups of its own any more");
	if (!n->type) {
		kar_plan_requeue(r->p, n->lost ? n->again : KAR_SECOND);
		return false;
	}
	if (n->exists && n->min_count == r->min_member)
		return true;
	queuejob_report_refusal(r);
	put(r);
	return false;
}
