/* What the pods of the job use, and have used, for its status (decision 134). */
#include "controllers/queuejob/reconcile.h"

#include "api/core/amounts_wire.h"
#include "api/status/usage.h"

/* It holds room on its node. */
static bool holds_room(const struct kar_pod *pod)
{
	return pod->node && pod->needs;
}

/* With one of "pods", as queues count it. */
static void add_times(struct kar_amounts *to, const struct kar_pod_needs *needs, int32_t times)
{
	const struct kar_quantity one = kar_quantity_units(times);

	if (!times)
		return;
	kar_amounts_add(to, "pods", &one);
	for (uint32_t i = 0; i < needs->n_amounts; i++) {
		const struct kar_sched_amount *x = &needs->amounts[i];
		struct kar_quantity q = kar_amount_exact(x);

		kar_quantity_times(&q, times);
		kar_amounts_add(to, x->resource, &q);
	}
}

/* Pods of a task share their needs, so that thousands of them cost one addition. */
static struct kar_array allocated(const struct queuejob_reconcile *r)
{
	KAR_CLEANUP(kar_amounts_cleanup) struct kar_amounts all = { 0 };
	const struct kar_pod_needs *needs = NULL;
	int32_t n = 0;

	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		const struct kar_pod *pod = r->f->v->pods[i];

		if (!holds_room(pod))
			continue;
		if (pod->needs != needs) {
			add_times(&all, needs, n);
			needs = pod->needs;
			n = 0;
		}
		n++;
	}
	add_times(&all, needs, n);
	return kar_usage_pairs(&all, r->arena);
}

/* Until now: what was allocated when the status was written, and pods that have been bound since. */
static struct kar_array used(const struct queuejob_reconcile *r, const struct kar_usage *was)
{
	KAR_CLEANUP(kar_amounts_cleanup) struct kar_amounts all = { 0 };

	kar_amounts_read(&was->seconds, &all);
	kar_usage_add(&all, &was->allocated, r->f->second - was->time);
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		const struct kar_pod *pod = r->f->v->pods[i];

		if (holds_room(pod) && pod->bound > was->time && r->f->second > pod->bound)
			add_times(&all, pod->needs,
				(int32_t)kar_clamp((r->f->second - pod->bound) / KAR_SECOND, 0, INT32_MAX));
	}
	return kar_usage_pairs(&all, r->arena);
}

bool queuejob_use_has_changed(const struct queuejob_reconcile *r)
{
	struct kar_array now;

	if (r->f->pods.pending)
		return false;
	now = allocated(r);
	return !kar_status_same_pairs(&now, &r->f->recorded->usage.allocated);
}

void queuejob_record_use(struct queuejob_reconcile *r)
{
	const struct kar_usage *was = &r->f->recorded->usage;
	const struct kar_array now = allocated(r), seconds = used(r, was);

	if (!now.n && !was->time)
		return;
	r->st.usage = (struct kar_usage){ .seconds = kar_status_pairs_over(&was->seconds, &seconds, r->arena),
		.allocated = kar_status_pairs_over(&was->allocated, &now, r->arena),
		.time = r->f->second };
}
