/* What the pods of a gang use that may be evicted. */
#include "controllers/queue/pass.h"

#include "api/pg_members.h"
#include "common/str.h"

/* Wall ms since when it runs, or since its admission if it has not started. */
static kar_time running_since(const struct kar_podgroup *g)
{
	const struct kar_condition *scheduled = kar_condition_find(&g->status.conditions, KAR_PG_SCHEDULED);
	const struct kar_condition *admitted = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);

	if (scheduled && scheduled->status == KAR_COND_TRUE)
		return scheduled->last_transition;
	return admitted ? admitted->last_transition : 0;
}

/* It was placed here, and has run for long enough. */
static bool may_be_evicted(struct queue_pass *p, const struct kar_podgroup *g)
{
	enum kar_pg_state state = g->status.placement.state;
	kar_time left = running_since(g) + p->min_runtime - p->s->now;

	if (state != KAR_PG_STATE_PLACED && state != KAR_PG_STATE_SATISFIED && state != KAR_PG_STATE_UNPLACED)
		return false;
	if (left > 0 && left < p->retry_in)
		p->retry_in = left;
	return left <= 0;
}

static bool is_being_evicted(const struct kar_podgroup *g)
{
	return g->status.placement.state == KAR_PG_STATE_ROLLING_BACK &&
		kar_has_text(g->status.placement.evicted_by);
}

/* What should have been gone for a while may stay permanently, on a node that is lost: nobody waits for its room. */
static bool is_leaving(struct queue_pass *p, const struct kar_pod *pod)
{
	kar_time left = kar_pod_overdue_in(pod, p->s->now);

	if (left > 0 && left < p->retry_in)
		p->retry_in = left;
	return left > 0;
}

struct queue_used queue_observe_used(struct queue_pass *p, const struct kar_podgroup *g, bool admitted)
{
	static const struct queue_seat nothing = { 0 };
	struct queue_used out = { 0 };
	struct queue_seat *seats = NULL;
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	const struct kar_object *o;
	char key[KAR_KEY_LEN];
	bool others = kar_pg_of_others(g);

	if (!p->nodes || !(admitted ? may_be_evicted(p, g) : is_being_evicted(g)))
		return out;
	for (struct kar_iter it =
			kar_store_by_index(p->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&g->o, key));
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (kar_pod_finished(pod) || kar_pg_is_gated(pod) || kar_pg_binds(pod, p->served))
			continue;
		if (!pod->owner_name || (others && !kar_pg_was_started(pod, p->served)))
			return (struct queue_used){
				0
			}; /* nobody would make it again, or it is not ours to stop */
		if (!pod->node || !pod->needs || !is_leaving(p, pod))
			continue;
		seats = kar_arena_grow(&p->s->arena, seats, out.n, sizeof(*seats));
		seats[out.n++] =
			(struct queue_seat){ pod->node, kar_snapshot_class_of(p->nodes, pod->needs), 1 };
	}
	out.seats = seats ? seats : &nothing;
	out.started = c ? c->last_transition : 0;
	return out;
}
