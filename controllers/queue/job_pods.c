/* The pods that a QueueJob has, in the order in which it keeps them when its number is lowered (controllers/queuejob/limit.c). */
#include <stdlib.h>
#include <string.h>

#include "api/queuejob_gang.h"
#include "common/str.h"
#include "controllers/queue/making.h"

/* A pod on a node, which stays. */
struct placed {
	const struct kar_pod *pod;
	size_t task;
	int32_t index;
};

struct placed_list {
	struct placed *items;
	size_t n;
};

static bool is_of(const struct making *m, const struct kar_pod *pod, size_t *task, int32_t *index)
{
	return kar_streq(pod->owner_uid, m->job->o.uid) &&
		kar_queuejob_pod_index(m->job, pod->o.name, task, index);
}

size_t queue_task_of(const struct making *m, const struct kar_pod *pod)
{
	size_t task;
	int32_t index;

	return is_of(m, pod, &task, &index) ? task : KAR_NO_TASK;
}

struct kar_iter queue_pods_of(const struct making *m)
{
	char key[KAR_KEY_LEN];

	return kar_store_by_index(m->p->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&m->group->o, key));
}

/* Of a pod that exists its own needs count, even if the template was edited. */
static kar_class class_of_pod(const struct making *m, const struct kar_pod *pod, size_t task)
{
	return pod->needs ? kar_snapshot_class_of(m->p->stores->snapshot, pod->needs) : m->classes[task];
}

static void add_placed(struct making *m, struct placed_list *to, const struct placed *which)
{
	to->items = kar_arena_grow(m->arena, to->items, to->n, sizeof(*to->items));
	to->items[to->n++] = *which;
}

static void count_pod(struct making *m, const struct placed *which, struct placed_list *placed)
{
	const struct kar_pod *pod = which->pod;

	queue_owns(m->p, pod);
	if (queue_is_overdue(m->p, pod)) {
		if (!m->overdue || strcmp(pod->o.name, m->overdue->o.name) < 0)
			m->overdue = pod;
		return;
	}
	queue_quota_owns(m->p->quota, pod);
	if (pod->deletion) {
		const struct kar_queue_leaving l = { .node = pod->node,
			.class = class_of_pod(m, pod, which->task),
			.n = 1,
			.deletion = pod->deletion };

		if (pod->node)
			queue_leaving_add(&m->runs, &l, queue_quota_of_pod(m->p->quota, pod));
		return;
	}
	m->live++;
	m->let_go += !pod->gate_ours;
	if (pod->node)
		add_placed(m, placed, which);
	else
		m->pending[which->task]++;
}

static bool runs(const struct kar_pod *pod)
{
	return pod->phase == KAR_POD_RUNNING;
}

/* Those that run are kept first, and equals in the order of their creation. */
static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (runs(x->pod) != runs(y->pod))
		return runs(x->pod) ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static bool may_shrink(const struct making *m)
{
	int64_t replicas = 0;

	for (size_t i = 0; i < m->job->spec.n_tasks; i++)
		replicas += m->job->spec.tasks[i].replicas;
	return replicas > kar_queuejob_min_available(&m->job->spec);
}

static void seat_placed(struct making *m, struct placed_list *placed)
{
	if (placed->n && may_shrink(m))
		qsort(placed->items, placed->n, sizeof(*placed->items), compare_placed);
	for (size_t i = 0; i < placed->n; i++) {
		const struct placed *w = &placed->items[i];

		queue_seat_add(&m->seats[w->task], w->pod->node, 1, true, w->pod->creation, m->arena);
		m->running[w->task] += runs(w->pod);
	}
}

void queue_count_pods(struct making *m)
{
	struct placed_list placed = { 0 };
	const struct kar_object *o;

	for (struct kar_iter it = queue_pods_of(m); kar_iter_next(&it, &o);) {
		struct placed w = { .pod = kar_as_pod(o) };

		m->youngest = w.pod->creation > m->youngest ? w.pod->creation : m->youngest;
		if (!kar_pod_finished(w.pod) && is_of(m, w.pod, &w.task, &w.index))
			count_pod(m, &w, &placed);
	}
	seat_placed(m, &placed);
}
