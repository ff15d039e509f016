/* Which members a group of another controller has, and what they are waiting for. */
#include "controllers/queue/gather.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/pod/pod_direct.h"
#include "api/podgroup/pg_members.h"
#include "api/podgroup/pg_plan.h"
#include "common/base/str.h"

static int64_t quorum_of(const struct kar_podgroup *g, int64_t succeeded)
{
	int64_t min = g->spec.min_member > 0 ? g->spec.min_member : 1, left_out = g->spec.succeeded_members;

	return min + kar_clamp(left_out, 0, succeeded);
}

static struct kar_iter members(const struct gathering *m)
{
	char key[KAR_KEY_LEN];

	return kar_store_by_index(m->p->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&m->group->o, key));
}

/* A gang that has started lacks all that have no node; a new one only what a gate holds, or is to be bound by us. */
static bool needs_place(const struct gathering *m, const struct kar_pod *pod, bool started)
{
	return !pod->node &&
		(started || kar_pg_is_gated(pod) || kar_pg_is_held(pod) || kar_pg_binds(pod, m->p->served));
}

static void note_scheduler(struct gathering *m, const struct kar_pod *pod)
{
	if (kar_scheduler_is_served(pod->scheduler, m->p->served))
		m->direct = m->direct ? m->direct : pod;
	else if (!pod->scheduler)
		m->default_scheduler = true;
	else if (!m->other)
		m->other = pod->scheduler;
	else
		m->mixed |= !kar_streq(m->other, pod->scheduler);
}

static void compare_schedulers(struct gathering *m)
{
	m->mixed |= (m->direct || m->other) && m->default_scheduler;
	m->mixed |= m->direct && m->other;
	m->placed_by_others = m->mixed || m->other;
}

void queue_gather_add(const struct gathering *m, struct queue_members *to, const struct kar_pod *pod)
{
	to->items = kar_arena_grow(m->arena, to->items, to->n, sizeof(*to->items));
	to->items[to->n++] = pod;
}

static void collect_live(struct gathering *m, const struct kar_pod *pod, bool started)
{
	note_scheduler(m, pod);
	kar_topology_wishes_add(&m->wishes, kar_pod_topology(pod));
	m->bound |= pod->node != NULL;
	m->n_gated += needs_place(m, pod, false);
	if (m->admitted && !pod->node && !needs_place(m, pod, false))
		queue_gather_add(m, &m->released, pod);
	m->youngest = pod->creation > m->youngest ? pod->creation : m->youngest;
	if (!needs_place(m, pod, started))
		queue_gather_add(m, &m->have, pod);
	else if (!kar_pg_is_held(pod) && (started || kar_pg_waits(pod) || kar_pg_binds(pod, m->p->served)))
		queue_gather_add(m, &m->unbound, pod);
	if (!pod->owner_name && (!m->unowned || strcmp(pod->o.name, m->unowned->o.name) < 0))
		m->unowned = pod;
	if (!needs_place(m, pod, false) && (!pod->owner_name || !kar_pg_was_started(pod, m->p->served)))
		m->bare = true;
}

/* Of a start that is given up, whose admission is gone: it is about to be deleted, and room for others then. */
static bool is_taken_back(const struct gathering *m, const struct kar_pod *pod)
{
	return !m->admitted && queue_is_rolled_back(m->group) && pod->node &&
		kar_pg_was_started(pod, m->p->served);
}

void queue_gather(struct gathering *m, bool started)
{
	const struct kar_object *o;

	assert(!m->have.n && !m->unbound.n && !m->succeeded); /* once per observation */
	for (struct kar_iter it = members(m); kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		m->succeeded += pod->phase == KAR_POD_SUCCEEDED;
		if (kar_pod_finished(pod))
			continue;
		if (kar_pod_alive(pod) && !is_taken_back(m, pod))
			collect_live(m, pod, started);
		else if (pod->node)
			queue_gather_add(m, &m->leaving, pod);
	}
	compare_schedulers(m);
	if (m->unbound.n)
		qsort(m->unbound.items, m->unbound.n, sizeof(*m->unbound.items), kar_pg_compare_members);
}

int64_t queue_minimum_left(const struct gathering *m)
{
	int64_t quorum = quorum_of(m->group, m->succeeded);

	return (m->joins ? kar_pg_formed(m->group, quorum) : quorum) - m->succeeded;
}

const struct kar_pg_planned *queue_planned(const struct gathering *m, const struct kar_pod *pod)
{
	const struct kar_pg_placement *pl = &m->group->status.placement;

	for (size_t i = 0; i < pl->n_plan; i++) {
		if (kar_streq(pl->plan[i].role, pod->o.name))
			return &pl->plan[i];
	}
	return NULL;
}

const char *queue_planned_node(const struct gathering *m, const struct kar_pod *pod)
{
	const struct kar_pg_planned *entry = queue_planned(m, pod);
	const char *node = entry ? kar_pg_planned_node(entry, m->arena) : "";

	return node[0] ? node : NULL;
}

const char *queue_not_together(const struct gathering *m)
{
	const char *who = NULL;

	if (m->placed_by_others)
		who = QUEUE_NOT_BY_ITS_SCHEDULER;
	else if (m->unbound.n > kar_pg_plan_pods(m->group))
		who = kar_arena_printf(m->arena, "no more than %zu pods are placed",
			kar_pg_plan_pods(m->group));
	else if (!m->p->nodes || !kar_pg_keeps_placement(m->group))
		who = "nobody places its pods";
	if (!who || !m->unbound.n)
		return NULL;
	return queue_why_not_together(m->p, (uint32_t)(m->in - m->p->in), &m->wishes, who);
}

/* Those without a rank behind the others. */
static int by_rank(const void *a, const void *b)
{
	const struct kar_pod *x = *(const struct kar_pod *const *)a, *y = *(const struct kar_pod *const *)b;

	uint64_t of_x = (uint64_t)kar_pod_rank(x), of_y = (uint64_t)kar_pod_rank(y);

	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return strcmp(x->o.name, y->o.name);
}

void queue_sort_by_rank(const struct kar_pod **pods, size_t n)
{
	qsort(pods, n, sizeof(*pods), by_rank);
}
