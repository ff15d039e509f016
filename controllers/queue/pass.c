/* What the files that look at objects share. */
#include <assert.h>
#include <string.h>

#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "controllers/cluster/owner.h"
#include "controllers/queue/pass.h"

/* The group of a workload has its name. A group of another name is not the workload's, even if that controls it. */
bool queue_is_owned(const struct kar_podgroup *g)
{
	return !kar_pg_of_others(g) && kar_streq(g->o.name, g->owner_name);
}

const struct kar_object *queue_owner_of(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	return queue_is_owned(g) ? kar_owner_of(stores, g) : NULL;
}

bool queue_is_rolled_back(const struct kar_podgroup *g)
{
	return g->status.placement.state == KAR_PG_STATE_ROLLING_BACK;
}

bool queue_is_evicted(const struct kar_podgroup *g)
{
	return queue_is_rolled_back(g) && kar_has_text(g->status.placement.evicted_by);
}

bool queue_holds_claim(const struct kar_podgroup *g)
{
	return g->status.placement.state == KAR_PG_STATE_RESERVING;
}

void queue_come_again(struct queue_pass *p, kar_time in)
{
	if (in > 0 && in < p->retry_in)
		p->retry_in = in;
}

bool queue_is_overdue(struct queue_pass *p, const struct kar_pod *pod)
{
	kar_time left = kar_pod_overdue_in(pod, p->now);

	queue_come_again(p, left);
	return left <= 0;
}

uint32_t queue_named(const struct queue_pass *p, const char *name)
{
	uint32_t low = 0, high = p->n_queues;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(p->queues[middle]->o.name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->n_queues && kar_streq(p->queues[low]->o.name, name) ? low : KAR_QUEUE_NONE;
}

bool queue_waits_for_places(const struct kar_podgroup *g)
{
	enum kar_pg_state state = g->status.placement.state;

	return state == KAR_PG_STATE_WAITING || state == KAR_PG_STATE_DEACTIVATED ||
		state == KAR_PG_STATE_RESERVING || state == KAR_PG_STATE_SUSPENDED;
}

void queue_refuse(struct kar_queue_group *in, enum kar_queue_reason reason, const char *why)
{
	assert(reason != KAR_QR_ADMITTED);
	if (in->ineligible != KAR_QR_ADMITTED && in->ineligible < reason)
		return;
	in->ineligible = reason;
	in->why = why;
}

void queue_fill_gang(struct queue_pass *p, uint32_t i, struct queue_gang *out)
{
	const struct kar_podgroup *g = p->groups[i].group;

	assert(i < p->n_groups);
	out->timeout = kar_podgroup_timeout(g, p->settings->schedule_timeout);
	queue_come_again(p, g->status.placement.retry_after - p->now);
}

int32_t queue_highest_priority(const struct queue_pass *p, const struct kar_podgroup *g)
{
	int32_t highest = p->default_priority;
	const struct kar_object *o;
	char key[KAR_KEY_LEN];
	bool any = false;

	kar_object_key(&g->o, key);
	for (struct kar_iter it = kar_store_by_index(p->stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (kar_pod_alive(pod) && (!any || pod->priority > highest)) {
			highest = pod->priority;
			any = true;
		}
	}
	return highest;
}
