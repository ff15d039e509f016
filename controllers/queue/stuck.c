/* Members of another controller's gang that do not fit where the plan has them, and those that come in their stead (repair.c). */
#include <assert.h>

#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "controllers/queue/gather.h"

/* It has left its gate, and waits in vain for the node of the plan. Nobody would make a bare one again. */
static bool is_stuck_member(const struct gathering *m, const struct kar_pod *pod)
{
	return !pod->node && pod->owner_name && kar_pg_was_started(pod, m->p->served) &&
		queue_is_stuck(m->p, m->group, pod) && kar_streq(queue_planned_node(m, pod), pod->pin);
}

/* Of an attempt that goes on. Those of a wave (OnlyWaiting) start together or not at all. */
void queue_take_stuck(struct gathering *m)
{
	struct queue_members have = { 0 };

	assert(m->admitted);
	if (m->group->options.only_waiting)
		return;
	for (size_t i = 0; i < m->have.n; i++) {
		bool stuck = is_stuck_member(m, m->have.items[i]);

		queue_gather_add(m, stuck ? &m->stuck : &have, m->have.items[i]);
		if (stuck)
			queue_gather_add(m, &m->held, m->have.items[i]);
	}
	m->have = have;
}

size_t queue_count_new(const struct gathering *m, size_t planned, size_t n)
{
	int64_t lacks = queue_minimum_left(m) - (int64_t)(m->have.n + m->stuck.n + planned);

	return m->group->status.placement.repairs ? (size_t)kar_clamp(lacks, 0, (int64_t)n) : 0;
}

static bool is_among(const struct queue_members *all, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (kar_streq(all->items[i]->o.name, name))
			return true;
	}
	return false;
}

void queue_keep_rest(struct gathering *m, size_t front, struct queue_gang *out)
{
	const struct kar_pg_placement *pl = &m->group->status.placement;
	struct kar_pg_planned *kept = kar_arena_alloc(m->arena, pl->n_plan + 1, sizeof(*kept));

	assert(front <= m->unbound.n);
	for (size_t i = 0; i < pl->n_plan; i++) {
		if (!is_among(&m->stuck, m->stuck.n, pl->plan[i].role) &&
			!is_among(&m->unbound, front, pl->plan[i].role) &&
			kar_store_get(m->p->stores->pods, m->group->o.ns, pl->plan[i].role))
			kept[out->n_kept++] = pl->plan[i];
	}
	out->kept = kept;
}
