#include "controllers/queue/promised.h"

#include "api/core/topology_wish.h"
#include "api/names.h"
#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "controllers/cluster/lookups.h"
#include "controllers/queue/quota.h"

enum { COME_WITHIN = 60 * KAR_SECOND }; /* of its admission; a controller makes a thousand pods in less */

enum counted { COUNT_ALL, COUNT_ON_NODES }; /* the second: that stay there */

/* Those that have not ended. */
static int32_t count_pods(const struct queue_pass *p, const struct kar_podgroup *g, enum counted which)
{
	const struct kar_object *o;
	char key[KAR_KEY_LEN];
	int32_t n = 0;

	for (struct kar_iter it =
			kar_store_by_index(p->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&g->o, key));
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		n += !kar_pod_finished(pod) && (which == COUNT_ALL || (pod->node && !pod->deletion));
	}
	return n;
}

static kar_class class_of(const struct queue_pass *p, const struct kar_suspendable *s,
	const struct kar_suspendable_set *set)
{
	const struct kar_array none = { 0 };

	return kar_needs_class_to_come(p->stores, set->needs, s->o.ns, &none);
}

static const struct queue_charges *charges_of(struct queue_pass *p, const struct kar_suspendable *s,
	const struct kar_suspendable_set *set)
{
	const struct kar_workload_role role = { .name = set->name,
		.needs = set->needs,
		.charge = set->charge,
		.charged_class = set->priority_class };

	return set->charge ? queue_quota_of_role(p->quota, s->o.ns, &role) : NULL;
}

bool queue_is_not_asked_yet(const struct kar_suspendable *s)
{
	return !s->resumed && !s->suspended;
}

static bool wait_for_workload(struct queue_pass *p, uint32_t i, const char *why)
{
	queue_refuse(&p->in[i], KAR_QR_WAITING_FOR_MEMBERS, why);
	p->in[i].no_node_check = true;
	return true;
}

static void ask_for(struct queue_pass *p, uint32_t i, const struct kar_suspendable *s)
{
	struct queue_runs runs = { .arena = p->arena };
	struct kar_queue_group *in = &p->in[i];
	struct kar_topology_wishes wishes = { 0 };
	struct queue_gang unrecorded = { 0 };

	in->no_node_check = !p->nodes;
	for (size_t k = 0; k < s->n_sets; k++) {
		const struct kar_suspendable_set *set = &s->sets[k];

		if (set->count > 0)
			queue_run_add(&runs, class_of(p, s, set), set->count, charges_of(p, s, set));
		in->no_node_check |= !kar_streq(set->scheduler, KAR_DEFAULT_SCHEDULER);
		kar_topology_wishes_add(&wishes, set->topology);
	}
	queue_runs_give(&runs, in);
	in->min = in->desired = kar_suspendable_count(s);
	in->no_provisioning = true; /* its pods do not exist, so nobody sees that nodes are missing */
	queue_ask_topology(p, i, &wishes, &unrecorded);
}

/* What is said of one that is not suspended by its queue, or of which pods exist. NULL: nothing. */
static const char *not_ready(const struct queue_pass *p, const struct queue_group *qg)
{
	const struct kar_suspendable *s = qg->suspendable;

	if (!s)
		return "the workload that it was made for names no queue, or cannot be read";
	if (queue_is_not_asked_yet(s))
		return "its workload is about to be suspended";
	if (s->suspended && s->by_queue && count_pods(p, qg->group, COUNT_ALL))
		return "it is suspended: it starts when its pods of before are gone";
	return NULL;
}

/*
 * Its user may have resumed it: the pods that come then, none of which has a node, go when it is suspended again. They are no members of a
 * gang that come one after the other (members.c).
 */
bool queue_observe_promised(struct queue_pass *p, uint32_t i)
{
	struct queue_group *qg = &p->groups[i];
	const struct kar_suspendable *s = qg->suspendable;
	const char *why = not_ready(p, qg);

	if (qg->admitted || (!s && (!qg->group->made_for_workload || count_pods(p, qg->group, COUNT_ALL))) ||
		count_pods(p, qg->group, COUNT_ON_NODES))
		return false;
	if (why)
		return wait_for_workload(p, i, why);
	if (!s->suspended || !kar_suspendable_is_known(s) || count_pods(p, qg->group, COUNT_ALL))
		return false;
	qg->promised = true;
	ask_for(p, i, s);
	return true;
}

kar_time queue_promised_for(const struct queue_group *qg, kar_time now)
{
	const struct kar_condition *c = kar_condition_find(&qg->group->status.conditions, KAR_PG_ADMITTED);

	if (!qg->suspendable || !qg->recorded || kar_pg_lasting_state(qg->group) != KAR_PG_STATE_NONE || !c ||
		c->status != KAR_COND_TRUE)
		return 0;
	return c->last_transition + COME_WITHIN - now;
}

kar_time queue_members_come_for(const struct queue_group *qg, kar_time now)
{
	enum { WITHIN = 5 * KAR_SECOND };
	const struct kar_condition *c = kar_condition_find(&qg->group->status.conditions, KAR_PG_ADMITTED);
	kar_time left = c && c->status == KAR_COND_TRUE ? c->last_transition + WITHIN - now : 0,
		 begins = queue_keeps_room_for(qg->group, now), promised = queue_promised_for(qg, now);

	left = left > begins ? left : begins;
	return left > promised ? left : promised;
}

struct room {
	struct kar_sched_amount *items;
	uint32_t n;
};

static void add_amount(struct room *r, const struct kar_sched_amount *of_pod, int32_t pods,
	struct kar_arena *a)
{
	int64_t amount = of_pod->amount > KAR_SCHED_MOST / pods ? KAR_SCHED_MOST : of_pod->amount * pods;
	uint32_t i = 0;

	while (i < r->n && !kar_streq(r->items[i].resource, of_pod->resource))
		i++;
	if (i == r->n) {
		r->items = kar_arena_grow(a, r->items, r->n++, sizeof(*r->items));
		r->items[i] = (struct kar_sched_amount){ of_pod->resource, 0 };
	}
	r->items[i].amount = kar_clamp(r->items[i].amount + amount, 0, KAR_SCHED_MOST);
}

/* For @missing pods of @set. */
static void hold_for(struct queue_pass *p, struct room *r, const struct kar_suspendable *s,
	const struct kar_suspendable_set *set, int32_t missing)
{
	const struct kar_pod_needs *needs =
		kar_sched_needs(kar_snapshot_sched(p->stores->snapshot), class_of(p, s, set));

	for (uint32_t k = 0; k < needs->n_amounts && missing > 0; k++)
		add_amount(r, &needs->amounts[k], missing, p->arena);
}

void queue_hold_promised(struct queue_pass *p, uint32_t i)
{
	const struct queue_group *qg = &p->groups[i];
	kar_time left = queue_promised_for(qg, p->now);
	const struct kar_suspendable *s = qg->suspendable;
	struct kar_queue_group *in = &p->in[i];
	struct room room = { 0 };
	int32_t there;

	if (!qg->admitted || left <= 0 || !kar_suspendable_is_known(s) || in->hold.n)
		return;
	queue_come_again(p, left);
	there = count_pods(p, qg->group, COUNT_ON_NODES); /* those that wait at the gate hold nothing */
	for (size_t k = 0; k < s->n_sets; k++) {
		int32_t count = s->sets[k].count, of_it = there < count ? there : count;

		there -=
			of_it; /* nobody knows of which template a pod is: they come, and start, all together */
		hold_for(p, &room, s, &s->sets[k], count - of_it);
	}
	in->hold = (struct kar_queue_amounts){ .items = room.items, .n = room.n };
}
