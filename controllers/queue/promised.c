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

static kar_class class_of(const struct queue_pass *p, const struct kar_suspendable *s)
{
	const struct kar_array none = { 0 };

	return kar_needs_class_to_come(p->stores, s->set.needs, s->o.ns, &none);
}

static const struct queue_charges *charges_of(struct queue_pass *p, const struct kar_suspendable *s)
{
	const struct kar_workload_role role = { .name = s->o.name,
		.needs = s->set.needs,
		.charge = s->set.charge,
		.charged_class = s->set.priority_class };

	return s->set.charge ? queue_quota_of_role(p->quota, s->o.ns, &role) : NULL;
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

	if (s->set.count > 0)
		queue_run_add(&runs, class_of(p, s), s->set.count, charges_of(p, s));
	queue_runs_give(&runs, in);
	in->min = in->desired = s->set.count > 0 ? s->set.count : 0;
	in->no_node_check = !p->nodes || !kar_streq(s->set.scheduler, KAR_DEFAULT_SCHEDULER);
	in->no_provisioning = true; /* its pods do not exist, so nobody sees that nodes are missing */
	kar_topology_wishes_add(&wishes, s->set.topology);
	queue_ask_topology(p, i, &wishes, &unrecorded);
}

bool queue_observe_promised(struct queue_pass *p, uint32_t i)
{
	struct queue_group *qg = &p->groups[i];
	const struct kar_suspendable *s = qg->suspendable;

	if (qg->admitted || (!s && !qg->group->made_for_workload) || count_pods(p, qg->group, COUNT_ALL))
		return false;
	if (!s)
		return wait_for_workload(p, i,
			"the workload that it was made for names no queue, or cannot be read");
	if (queue_is_not_asked_yet(s))
		return wait_for_workload(p, i, "its workload is about to be suspended");
	if (!s->suspended || !s->set.needs)
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

void queue_hold_promised(struct queue_pass *p, uint32_t i)
{
	const struct queue_group *qg = &p->groups[i];
	kar_time left = queue_promised_for(qg, p->now);
	const struct kar_suspendable *s = qg->suspendable;
	struct kar_queue_group *in = &p->in[i];
	const struct kar_pod_needs *needs;
	struct kar_sched_amount *hold;
	int32_t missing;

	if (!qg->admitted || left <= 0 || !s->set.needs || in->hold.n)
		return;
	queue_come_again(p, left);
	missing = s->set.count -
		count_pods(p, qg->group, COUNT_ON_NODES); /* those that wait at the gate hold nothing */
	needs = kar_sched_needs(kar_snapshot_sched(p->stores->snapshot), class_of(p, s));
	hold = kar_arena_alloc(p->arena, needs->n_amounts + 1, sizeof(*hold));
	for (uint32_t k = 0; k < needs->n_amounts && missing > 0; k++)
		hold[in->hold.n++] = (struct kar_sched_amount){ needs->amounts[k].resource,
			kar_clamp(needs->amounts[k].amount > KAR_SCHED_MOST / missing
					? KAR_SCHED_MOST
					: needs->amounts[k].amount * missing,
				0, KAR_SCHED_MOST) };
	in->hold.items = hold;
}
