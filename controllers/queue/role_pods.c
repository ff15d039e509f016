/* The pods that a workload has, per role in the order in which it keeps them when its number is lowered. */
#include <assert.h>
#include <string.h>

#include "common/base/str.h"
#include "controllers/queue/making.h"

size_t queue_role_of(const struct making *m, const struct kar_pod *pod)
{
	return m->kind->role_of(m->owner, pod);
}

struct kar_iter queue_pods_of(const struct making *m)
{
	char key[KAR_KEY_LEN];

	return kar_store_by_index(m->p->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&m->group->o, key));
}

static int32_t class_value(const void *arg, const char *name)
{
	const struct kar_priorityclass *class = kar_stores_priorityclass(arg, name);

	return class ? class->value : 0;
}

void queue_find_roles(struct making *m)
{
	char key[KAR_KEY_LEN];
	size_t room = kar_store_index_count(m->p->stores->pods, KAR_POD_BY_GROUP,
		kar_object_key(&m->group->o, key));
	const struct kar_pod **pods = kar_arena_alloc(m->arena, room + 1, sizeof(struct kar_pod *));
	struct kar_roles_input in = { .pods = pods,
		.class_value = class_value,
		.arg = m->p->stores,
		.arena = m->arena };
	const struct kar_object *o;

	for (struct kar_iter it = queue_pods_of(m); kar_iter_next(&it, &o);)
		pods[in.n_pods++] = kar_as_pod(o);
	m->kind->roles(m->owner, &in, &m->roles);
}

/* Of a pod that exists its own needs count, even if the template was edited. */
static kar_class class_of_pod(const struct making *m, const struct kar_pod *pod, size_t role)
{
	return pod->needs ? kar_needs_class_of_pod(m->p->stores, pod) : m->classes[role];
}

static void count_leaving(struct making *m, const struct kar_pod *pod, size_t role)
{
	const struct kar_queue_leaving l = { .node = pod->node,
		.class = class_of_pod(m, pod, role),
		.n = 1,
		.deletion = pod->deletion };

	queue_owns(m->p, pod);
	if (queue_is_overdue(m->p, pod)) {
		if (!m->overdue || strcmp(pod->o.name, m->overdue->o.name) < 0)
			m->overdue = pod;
		return;
	}
	queue_quota_owns(m->p->quota, pod);
	if (pod->node)
		queue_leaving_add(&m->runs, &l, queue_quota_of_pod(m->p->quota, pod));
}

static void count_live(struct making *m, const struct kar_pod *pod, size_t role)
{
	queue_owns(m->p, pod);
	queue_quota_owns(m->p->quota, pod);
	m->live++;
	m->let_go += !pod->gate_ours;
	m->pending[role] += !pod->node;
	if (!pod->node && !pod->gate_ours)
		queue_unbound_add(&m->runs, class_of_pod(m, pod, role));
}

/* What one needs and is charged, behind those that are kept before it. */
static void store(struct making *m, size_t role, const struct kar_pod *pod)
{
	struct stored_list *of = &m->stored[role];
	const struct stored_pods one = { .class = class_of_pod(m, pod, role),
		.charges = queue_quota_of_pod(m->p->quota, pod),
		.n = 1 };
	struct stored_pods *last = of->n ? &of->items[of->n - 1] : NULL;

	if (last && last->class == one.class && last->charges == one.charges) {
		last->n++;
		return;
	}
	of->items = kar_arena_grow(m->arena, of->items, of->n, sizeof(*of->items));
	of->items[of->n++] = one;
}

/* Those that have a node are first. */
static void seat_live(struct making *m, size_t role)
{
	const struct kar_workload_role *r = &m->roles.items[role];

	for (size_t i = 0; i < r->n_pods; i++) {
		const struct kar_pod *pod = r->pods[i];

		count_live(m, pod, role);
		if (!pod->node)
			continue;
		store(m, role, pod);
		queue_seat_add(&m->seats[role], pod->node, 1, true, pod->creation, m->arena);
		m->running[role] += pod->phase == KAR_POD_RUNNING;
	}
	for (size_t i = 0; i < r->n_pods; i++) {
		if (!r->pods[i]->node)
			store(m, role, r->pods[i]);
	}
	assert((size_t)m->running[role] + (size_t)m->pending[role] <= r->n_pods);
}

void queue_count_pods(struct making *m)
{
	const struct kar_object *o;

	for (struct kar_iter it = queue_pods_of(m); kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);
		size_t role = pod->deletion && !kar_pod_finished(pod) ? queue_role_of(m, pod) : KAR_NO_ROLE;

		m->youngest = pod->creation > m->youngest ? pod->creation : m->youngest;
		if (role != KAR_NO_ROLE)
			count_leaving(m, pod, role);
	}
	for (size_t i = 0; i < m->roles.n; i++)
		seat_live(m, i);
	assert(m->let_go <= m->live);
}
