/* The pods that a QueueJob has, in the order in which it keeps them when its number is lowered (controllers/queuejob/limit.c). */
#include <stdlib.h>
#include <string.h>

#include "api/queuejob_gang.h"
#include "common/str.h"
#include "controllers/queue/making.h"

/* A pod that stays. */
struct live {
	const struct kar_pod *pod;
	size_t task;
	int32_t index;
};

struct live_list {
	struct live *items;
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

static void add_live(struct making *m, struct live_list *to, const struct live *which)
{
	to->items = kar_arena_grow(m->arena, to->items, to->n, sizeof(*to->items));
	to->items[to->n++] = *which;
}

static void count_pod(struct making *m, const struct live *which, struct live_list *live)
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
	m->pending[which->task] += !pod->node;
	if (!pod->node && !pod->gate_ours)
		queue_unbound_add(&m->runs, class_of_pod(m, pod, which->task));
	add_live(m, live, which);
}

static bool runs(const struct kar_pod *pod)
{
	return pod->phase == KAR_POD_RUNNING;
}

/* Those that have a node are kept first, of them those that run, and equals in the order of their creation. */
static int compare_live(const void *a, const void *b)
{
	const struct live *x = a, *y = b;

	if (!x->pod->node != !y->pod->node)
		return x->pod->node ? -1 : 1;
	if (runs(x->pod) != runs(y->pod))
		return runs(x->pod) ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* What one needs and is charged, behind those that are kept before it. */
static void store(struct making *m, const struct live *which)
{
	struct stored_list *of = &m->stored[which->task];
	const struct stored_pods one = { .class = class_of_pod(m, which->pod, which->task),
		.charges = queue_quota_of_pod(m->p->quota, which->pod),
		.n = 1 };
	struct stored_pods *last = of->n ? &of->items[of->n - 1] : NULL;

	if (last && last->class == one.class && last->charges == one.charges) {
		last->n++;
		return;
	}
	of->items = kar_arena_grow(m->arena, of->items, of->n, sizeof(*of->items));
	of->items[of->n++] = one;
}

static void seat_live(struct making *m, struct live_list *live)
{
	if (live->n)
		qsort(live->items, live->n, sizeof(*live->items), compare_live);
	for (size_t i = 0; i < live->n; i++) {
		const struct live *w = &live->items[i];

		store(m, w);
		if (!w->pod->node)
			continue;
		queue_seat_add(&m->seats[w->task], w->pod->node, 1, true, w->pod->creation, m->arena);
		m->running[w->task] += runs(w->pod);
	}
}

void queue_count_pods(struct making *m)
{
	struct live_list live = { 0 };
	const struct kar_object *o;

	for (struct kar_iter it = queue_pods_of(m); kar_iter_next(&it, &o);) {
		struct live w = { .pod = kar_as_pod(o) };

		m->youngest = w.pod->creation > m->youngest ? w.pod->creation : m->youngest;
		if (!kar_pod_finished(w.pod) && is_of(m, w.pod, &w.task, &w.index))
			count_pod(m, &w, &live);
	}
	seat_live(m, &live);
}
