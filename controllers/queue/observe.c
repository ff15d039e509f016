/* The groups as the pass sees them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/podgroup/pg_members.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "controllers/cluster/asked.h"
#include "controllers/cluster/owner.h"
#include "controllers/cluster/topologies.h"
#include "controllers/cluster/suspendable.h"
#include "controllers/cluster/unit.h"
#include "controllers/queue/failures.h"
#include "controllers/queue/pass.h"
#include "controllers/queue/preemptible.h"
#include "controllers/queue/promised.h"

static kar_time later(kar_time a, kar_time b)
{
	return a > b ? a : b;
}

/* Since when it has no members, as far as its status says. */
static kar_time empty_since(const struct kar_podgroup *g)
{
	const struct kar_condition *admitted = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	const struct kar_condition *scheduled = kar_condition_find(&g->status.conditions, KAR_PG_SCHEDULED);
	kar_time since = later(g->creation, g->status.schedule_start_time);

	since = later(since, g->status.placement.time);
	if (scheduled) /* it may be the time when the last bound member vanished */
		since = later(since, scheduled->last_transition);
	return admitted && !g->orphan ? later(since, admitted->last_transition) : since;
}

enum kar_queue_yields queue_yields_to(const struct kar_podgroup *g, bool admitted, size_t members,
	kar_time now, kar_time *left)
{
	bool had_members = g->status.schedule_start_time != 0;
	kar_time hold = g->orphan ? QUEUE_ORPHAN_HOLD : had_members ? QUEUE_GONE_HOLD : QUEUE_EMPTY_HOLD;

	*left = KAR_NEVER;
	if (members || g->status.members)
		return KAR_QUEUE_YIELDS_TO_NOBODY;
	if (!admitted &&
		!g->orphan) /* those that have yielded once stand behind all, as long as they have none */
		return g->status.waiting_since ? KAR_QUEUE_YIELDS_TO_ALL : KAR_QUEUE_YIELDS_TO_MEMBERS;
	*left = empty_since(g) + hold - now;
	if (*left <= 0)
		return KAR_QUEUE_YIELDS_TO_ALL;
	return g->orphan || had_members ? KAR_QUEUE_YIELDS_TO_NOBODY : KAR_QUEUE_YIELDS_TO_MEMBERS;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

int queue_group_compare(const void *a, const void *b)
{
	const struct queue_group *x = a, *y = b;
	const struct kar_object *o = &x->group->o, *p = &y->group->o;
	int order = compare((int)x->yields, (int)y->yields);

	if (!order)
		order = compare(y->priority, x->priority);
	if (!order)
		order = compare(x->group->creation, y->group->creation);
	if (!order)
		order = strcmp(o->ns ? o->ns : "", p->ns ? p->ns : "");
	return order ? order : strcmp(o->name, p->name);
}

/*
 * A group that no workload controls may never get members, so it is admitted after those that have some, and yields to all after some time
 * without any. Then groups that wait may take its room, so the pass needs to know when that will be. An orphan also yields while it waits.
 */
static enum kar_queue_yields yields(struct queue_pass *p, const struct kar_podgroup *g,
	const struct kar_suspendable *s, bool admitted)
{
	enum kar_queue_yields to;
	kar_time left;
	char key[KAR_KEY_LEN];

	if (queue_is_owned(g) || (s && (s->suspended || s->resumed)))
		return KAR_QUEUE_YIELDS_TO_NOBODY;
	to = queue_yields_to(g, admitted,
		kar_store_index_count(p->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&g->o, key)), p->now,
		&left);
	if (left > 0 && left < p->yields_in)
		p->yields_in = left;
	return to;
}

static bool is_unreadable(const struct kar_podgroup *g, const struct kar_object *owner)
{
	return g->o.unreadable || (owner && owner->unreadable);
}

/* Its status has so many conditions of others that no admission can be written. */
static bool has_no_room_for_ours(const struct kar_podgroup *g)
{
	return g->status.conditions.n >= KAR_MAX_CONDITIONS &&
		!kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
}

static const char *class_name(const struct queue_pass *p, const struct kar_podgroup *g)
{
	const struct kar_schedulingspec *s = queue_spec_beside(p, g);

	return s ? s->spec.priority_class_name : g->spec.priority_class_name;
}

/* A group of others that names none has the highest of its pods. */
static int32_t priority_of(const struct queue_pass *p, const struct kar_podgroup *g)
{
	const struct kar_schedulingspec *s = queue_spec_beside(p, g);
	const struct kar_priorityclass *class;

	if (s ? s->spec.has_priority : g->spec.has_priority)
		return s ? s->spec.priority : g->spec.priority;
	class = kar_stores_priorityclass(p->stores, class_name(p, g));
	if (class)
		return class->value;
	return kar_pg_of_others(g) ? queue_highest_priority(p, g) : p->default_priority;
}

static bool never_preempts(const struct queue_pass *p, const struct kar_podgroup *g)
{
	const struct kar_priorityclass *class = kar_stores_priorityclass(p->stores, class_name(p, g));

	return class && class->never_preempts;
}

/* The queue whose admission the group has; NULL: it has none, or one that does not name its queue. */
static const char *admitting_queue(const struct kar_podgroup *g)
{
	bool admitted = kar_condition_is_true(&g->status.conditions, KAR_PG_ADMITTED);

	return admitted && kar_has_text(g->status.admitted_queue) ? g->status.admitted_queue : NULL;
}

static const struct kar_workload *copy_workload(struct queue_pass *p, const struct kar_workload *w)
{
	struct kar_workload *copy = kar_arena_alloc(p->arena, 1, sizeof(*copy));

	*copy = *w;
	return copy;
}

/* @owner: its workload, and @w what that says of itself; NULL: it has none. */
static struct queue_group observe_group(struct queue_pass *p, const struct kar_podgroup *g,
	const struct kar_object *owner, const struct kar_workload *w, const struct kar_suspendable *s,
	enum queue_claim claim)
{
	const struct kar_asked which = kar_asked_queue(p->stores, g);
	bool recorded = kar_podgroup_admitted_by(g, which.queue),
	     admitted = recorded && !queue_waits_for_places(g) && !(s && queue_is_not_asked_yet(s));

	assert(recorded || !admitted); /* a pass believes only what is written */
	if (!admitted && (is_unreadable(g, owner) || has_no_room_for_ours(g)))
		claim = QUEUE_CLAIM_NONE; /* nothing is done for it, so it must not take room */
	return (struct queue_group){
		.group = g,
		.workload = w ? copy_workload(p, w) : NULL,
		.owner = owner,
		.suspendable = s,
		.queue = which.queue,
		.next = which.next,
		.label = which.label,
		.claim = claim,
		.asked = priority_of(p, g),
		.priority = kar_asked_priority(p->stores, which.queue, priority_of(p, g)),
		.recorded = recorded,
		.admitted = admitted,
		.yields = yields(p, g, s, admitted),
		.bounded = kar_pg_of_others(g) && kar_asked_bounds(p->stores, g, which.queue),
	};
}

/* --- one group for the pass ------------------------------------------------------------------------- */

static const char *describe_failure(const struct kar_podgroup *g, struct kar_arena *a)
{
	const struct kar_pg_placement *p = &g->status.placement;

	if (queue_is_rolled_back(g))
		return kar_arena_printf(a, "%s; its pods are being removed", kar_pg_failed_attempt(p, a));
	return kar_pg_next_try(p, a);
}

/* What keeps a group that is not admitted from being so, as far as the pass cannot see it. */
/* What its pods need beside their own specs is nowhere any more: they would go anywhere (decision 100). */
static void check_spec(const struct queue_pass *p, const struct kar_podgroup *g, struct kar_queue_group *in)
{
	const struct kar_schedulingspec *s = g->made_of_spec && g->owner_uid
		? kar_spec_of_group(p->stores, g->o.ns, g->o.name, g->owner_uid)
		: NULL;

	if (!g->made_of_spec || (s && !s->deletion && !s->o.unreadable))
		return;
	queue_refuse(in, KAR_QR_SCHEDULINGSPEC_NOT_FOUND,
		kar_arena_printf(p->arena,
			"SchedulingSpec %s of %s is gone or is being deleted, and says on which nodes its pods go",
			g->o.name, g->owner));
}

static void refuse(struct queue_pass *p, const struct queue_group *qg, struct kar_queue_group *in)
{
	const struct kar_podgroup *g = qg->group;
	const struct kar_pg_placement *pl = &g->status.placement;
	struct kar_arena *a = p->arena;

	if (in->queue != KAR_QUEUE_NONE && !kar_asked_admits(p->stores, p->queues[in->queue], g))
		queue_refuse(in, KAR_QR_NAMESPACE_NOT_ALLOWED,
			kar_arena_printf(a, "queue %s does not admit namespace %s", qg->queue, g->o.ns));
	queue_check_run_time(p, qg, in);
	check_spec(p, g, in);
	if ((qg->gang || qg->promised) && pl->state == KAR_PG_STATE_DEACTIVATED)
		queue_refuse(in, KAR_QR_DEACTIVATED, kar_pg_failed_attempts(g, pl, a));
	if (queue_is_evicted(g))
		queue_refuse(in, KAR_QR_PREEMPTED, pl->cause);
	if (in->ineligible == KAR_QR_BACK_OFF)
		return; /* what is said already is the cause behind */
	if (queue_is_rolled_back(g) || ((qg->gang || qg->promised) && pl->retry_after > p->now))
		queue_refuse(in, KAR_QR_BACK_OFF, describe_failure(g, a));
}

static uint32_t number_of_key(const struct queue_pass *p, const char *key)
{
	char buf[KAR_KEY_LEN];
	const char *ns, *name;
	const struct kar_object *o;

	if (!kar_has_text(key) || !strchr(key, '/') || strlen(key) >= sizeof(buf))
		return KAR_QUEUE_NONE;
	kar_key_split(key, buf, &ns, &name);
	o = kar_store_get(p->stores->podgroups, ns, name);
	return o ? queue_number_of(p, kar_as_podgroup(o)) : KAR_QUEUE_NONE;
}

/* A group of others whose members are not all there: it is admitted without them, but nobody starts with it. */
static bool is_empty(const struct queue_group *qg)
{
	return kar_pg_of_others(qg->group) && !qg->gang &&
		kar_pg_lasting_state(qg->group) == KAR_PG_STATE_NONE;
}

static void wait_for(struct queue_pass *p, const struct queue_group *qg, struct kar_queue_group *in,
	const struct kar_podgroup *other)
{
	bool same = kar_streq(other->o.ns, qg->group->o.ns);

	queue_refuse(in, KAR_QR_GANG_GROUP,
		kar_arena_printf(p->arena, "it starts with %s/%s, which %s", other->o.ns, other->o.name,
			same ? "waits (WaitingForMembers)" : "is not ready"));
}

/* Of another namespace the words are those of a group that does not exist: nobody learns from them whether it does. */
static void wait_for_start(struct queue_pass *p, const struct queue_group *qg, struct kar_queue_group *in,
	const struct kar_podgroup *other)
{
	bool same = kar_streq(other->o.ns, qg->group->o.ns);

	queue_refuse(in, KAR_QR_GANG_GROUP,
		kar_arena_printf(p->arena, "it starts %s %s/%s, which %s", same ? "after" : "with",
			other->o.ns, other->o.name,
			same ? "has not started and does not name it" : "is not ready"));
}

/* The unit of a group that has not started: the same for all of it, so it is found once. */
static const struct kar_unit *find_unit(struct queue_pass *p, struct queue_group *qg)
{
	struct kar_unit *unit;

	if (qg->unit)
		return qg->unit;
	unit = kar_arena_alloc(p->arena, 1, sizeof(*unit));
	*unit = kar_unit_of(p->stores, qg->group, p->arena);
	qg->unit = unit;
	for (size_t i = 1; i < unit->n; i++) {
		uint32_t number = queue_number_of(p, unit->groups[i]);

		if (number != KAR_QUEUE_NONE)
			p->groups[number].unit = unit;
	}
	return unit;
}

/* Once the pods of all are known. */
static void observe_unit(struct queue_pass *p, struct queue_group *qg, struct kar_queue_group *in)
{
	const struct kar_unit *unit;
	uint32_t *numbers;

	assert(!qg->admitted && qg->claim == QUEUE_CLAIM_ALIVE);
	if (is_empty(qg) || (qg->workload && !qg->workload->gang_groups->n))
		return;
	unit = find_unit(p, qg);
	numbers = kar_arena_alloc(p->arena, unit->n + 1, sizeof(*numbers));
	for (size_t i = 0; i < unit->n; i++) {
		uint32_t number = queue_number_of(p, unit->groups[i]);

		if (number == KAR_QUEUE_NONE || unit->groups[i] == qg->group)
			continue;
		if (is_empty(&p->groups[number]))
			wait_for(p, qg, in, unit->groups[i]);
		numbers[in->n_unit++] = number;
	}
	if (unit->awaited)
		wait_for_start(p, qg, in, unit->awaited);
	assert(in->n_unit < unit->n || !unit->n); /* it is not a partner of itself */
	in->unit = numbers;
	in->unit_missing = unit->missing;
	in->no_provisioning |= in->n_unit > 0 || unit->missing;
}

static kar_time true_since(const struct kar_conditions *list, const char *type)
{
	const struct kar_condition *c = kar_condition_find(list, type);

	return c && c->status == KAR_COND_TRUE ? c->last_transition : 0;
}

/* How often the queue may change the number of its pods, and when it ends. */
static void observe_workload(const struct kar_workload *w, const struct kar_podgroup_status *st,
	struct kar_queue_group *in)
{
	in->freezing_window = w->freezing_window;
	in->resized = st->desired_of && st->desired_of != w->pods;
	in->started_at = w->started_at;
}

static void observe_times(const struct queue_pass *p, const struct queue_group *qg,
	struct kar_queue_group *in)
{
	const struct kar_podgroup_status *st = &qg->group->status;
	enum kar_pg_phase phase = st->phase;

	in->admitted_at = true_since(&st->conditions, KAR_PG_ADMITTED);
	in->formed_at = qg->workload ? qg->workload->formed_at : 0;
	if (!in->formed_at) {
		kar_time scheduled = true_since(&st->conditions, KAR_PG_SCHEDULED);

		/* Members that have succeeded keep it true while the gang is evicted and admitted again. */
		in->formed_at = scheduled >= in->admitted_at ? scheduled : 0;
	}
	in->last_scale = st->last_scale_time;
	in->grows_at = queue_grows_at(p, qg->group);
	if (qg->workload)
		observe_workload(qg->workload, st, in);
	queue_observe_end(p, qg, in);
	in->phase = phase == KAR_PG_PHASE_RUNNING ? KAR_QUEUE_RUNS
		: phase == KAR_PG_PHASE_UNKNOWN   ? KAR_QUEUE_UNKNOWN
						  : KAR_QUEUE_STARTS;
}

/* It was placed here, and is no other scheduler's. */
static bool is_evictable(const struct queue_pass *p, const struct kar_podgroup *g)
{
	enum kar_pg_state state = g->status.placement.state;

	return p->nodes &&
		(state == KAR_PG_STATE_PLACED || state == KAR_PG_STATE_SATISFIED ||
			state == KAR_PG_STATE_UNPLACED);
}

static void observe_pods(struct queue_pass *p, uint32_t i)
{
	const struct queue_group *qg = &p->groups[i];

	if (qg->claim != QUEUE_CLAIM_ALIVE && qg->claim != QUEUE_CLAIM_ASKS)
		queue_observe_leaving(p, i);
	else if (qg->workload)
		queue_observe_gang(p, i);
	else if (!kar_pg_of_others(qg->group))
		p->in[i].no_node_check = true;
	else if (!queue_observe_promised(p, i))
		queue_observe_members(p, i);
}

static void observe_one(struct queue_pass *p, uint32_t i)
{
	struct queue_group *qg = &p->groups[i];
	struct kar_queue_group *in = &p->in[i];
	const struct kar_pg_placement *pl = &qg->group->status.placement;
	bool asks = qg->claim == QUEUE_CLAIM_ASKS;
	char key[KAR_KEY_LEN];

	observe_pods(p, i);
	queue_hold_promised(p, i);
	queue_quota_hold(p->quota, qg->group, in);
	if (qg->claim != QUEUE_CLAIM_ALIVE && !asks)
		queue_refuse(in, queue_reason_of_claim(qg->claim), queue_why_of_claim(qg->claim));
	else if (!qg->admitted)
		refuse(p, qg, in);
	queue_check_devices(p, in, (qg->claim == QUEUE_CLAIM_ALIVE || asks) && !qg->admitted);
	in->standing = qg->admitted                               ? KAR_QUEUE_ADMITTED
		: queue_holds_claim(qg->group) || qg->keeps_place ? KAR_QUEUE_RESERVING
								  : KAR_QUEUE_WAITING;
	in->flavor = queue_flavor_number(p, qg->group->status.flavor);
	in->own_tolerations = kar_pg_of_others(qg->group);
	in->not_evictable |= !is_evictable(p, qg->group);
	in->provisioned |= pl->state == KAR_PG_STATE_UNPLACED && pl->deadline;
	in->provisioned &= qg->admitted;
	in->schedule_timeout = kar_podgroup_timeout(qg->group, p->settings->schedule_timeout);
	kar_object_key(&qg->group->o, key);
	in->n_last = p->shared ? queue_failures_of(p->shared->failures, key, p->arena, &in->last) : 0;
	in->evicted_by = qg->admitted ? KAR_QUEUE_NONE : number_of_key(p, pl->evicted_by);
	in->never_preempts = never_preempts(p, qg->group) || pl->failures > 0;
	observe_times(p, qg, in);
}

/* Nobody makes room in a queue that would not have it back. */
static bool may_return(const struct queue_pass *p, const struct queue_group *qg)
{
	uint32_t i = queue_named(p, qg->queue);

	return i != KAR_QUEUE_NONE && !p->queue_in[i].closed && !p->queue_in[i].deleting &&
		!p->queue_in[i].problem && kar_asked_admits(p->stores, p->queues[i], qg->group);
}

static struct kar_queue_group begin_group(const struct queue_pass *p, const struct queue_group *qg)
{
	const struct kar_podgroup *g = qg->group;
	const char *other = qg->recorded ? NULL : admitting_queue(g);

	return (struct kar_queue_group){
		.ns = g->o.ns,
		.name = g->o.name,
		.queue = queue_named(p, qg->queue),
		.also_in = other && qg->claim == QUEUE_CLAIM_ALIVE ? queue_named(p, other) : KAR_QUEUE_NONE,
		.queue_name = qg->queue,
		.base = qg->priority,
		.creation = g->creation,
		.waiting_since = g->status.waiting_since,
		.waited_seconds = g->status.waited_seconds,
		.yields = !qg->admitted || may_return(p, qg) ? qg->yields : KAR_QUEUE_YIELDS_TO_NOBODY,
		.evicted_by = KAR_QUEUE_NONE,
		.evictions = g->status.evictions,
		.why = "",
	};
}

/* For the pass it is suspended as any other; what it would be is looked at afterwards (what_if.c). */
static void set_question_aside(struct queue_pass *p, uint32_t i)
{
	struct queue_group *qg = &p->groups[i];
	struct kar_queue_group *question = kar_arena_alloc(p->arena, 1, sizeof(*question));

	*question = p->in[i];
	qg->question = question;
	qg->gang = NULL;
	qg->claim = QUEUE_CLAIM_SUSPENDED;
	p->in[i] = begin_group(p, qg);
	observe_one(p, i);
}

static void observe_rest(struct queue_pass *p, uint32_t i)
{
	observe_one(p, i);
	if (p->groups[i].claim == QUEUE_CLAIM_ASKS)
		set_question_aside(p, i);
}

/* --- all of them ------------------------------------------------------------------------------------ */

static int compare_numbers(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct queue_number *)a)->group,
		  y = (uintptr_t)((const struct queue_number *)b)->group;

	return (x > y) - (x < y);
}

uint32_t queue_number_of(const struct queue_pass *p, const struct kar_podgroup *g)
{
	const struct queue_number wanted = { g, 0 };
	const struct queue_number *found =
		bsearch(&wanted, p->numbers, p->n_groups, sizeof(wanted), compare_numbers);

	assert(!found || p->groups[found->number].group == g);
	return found ? found->number : KAR_QUEUE_NONE;
}

static void number_groups(struct queue_pass *p)
{
	p->numbers = kar_arena_alloc(p->arena, p->n_groups + 1, sizeof(*p->numbers));
	for (uint32_t i = 0; i < p->n_groups; i++)
		p->numbers[i] = (struct queue_number){ p->groups[i].group, i };
	qsort(p->numbers, p->n_groups, sizeof(*p->numbers), compare_numbers);
}

/* ms after its end in which pods of a workload are looked for that stop: most groups have ended long ago. */
static const kar_time STOPS_WITHIN = 10 * KAR_MINUTE;

/* Pods of it are stopped with its end, or are about to be, and have their room still: that comes free. */
static bool still_stops(const struct queue_pass *p, const struct kar_podgroup *g,
	const struct kar_workload *w)
{
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	if (w->ended_at + STOPS_WITHIN < p->now)
		return false;
	kar_object_key(&g->o, key);
	for (struct kar_iter it = kar_store_by_index(p->stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (pod->node && !kar_pod_finished(pod))
			return true;
	}
	return false;
}

static void observe_groups(struct queue_pass *p)
{
	const struct kar_store *store = p->stores->podgroups;
	size_t most = kar_store_count(store), n_finished = 0;
	const struct kar_podgroup **finished = kar_arena_alloc(p->arena, most + 1, sizeof(*finished));
	const struct kar_object *o;

	p->groups = kar_arena_alloc(p->arena, most + 1, sizeof(*p->groups));
	/* Finished groups are only counted, and may be ten times as many as the others. */
	for (struct kar_iter it = kar_store_all(store); kar_iter_next(&it, &o);) {
		const struct kar_podgroup *g = kar_as_podgroup(o);
		const struct kar_object *owner = queue_owner_of(p->stores, g);
		const struct kar_workload w = kar_owner_describe(owner);
		const struct kar_suspendable *s = kar_suspendable_of(p->stores, g);
		enum queue_claim claim = queue_claim_of(p, g, owner ? &w : NULL, s);

		if (claim == QUEUE_CLAIM_FINISHED)
			finished[n_finished++] = g;
		if (claim == QUEUE_CLAIM_FINISHED && owner && still_stops(p, g, &w))
			claim = QUEUE_CLAIM_NONE;
		if (claim != QUEUE_CLAIM_FINISHED)
			p->groups[p->n_groups++] = observe_group(p, g, owner, owner ? &w : NULL, s, claim);
	}
	/* The writes of a namespace are sent in this order, so that when requests are scarce its first group is admitted first. */
	qsort(p->groups, p->n_groups, sizeof(*p->groups), queue_group_compare);
	number_groups(p);
	queue_observe_finished(p, finished, n_finished);
	p->finished = finished;
	p->n_finished = n_finished;
}

void queue_observe(struct queue_pass *p)
{
	p->default_priority = kar_stores_default_priority(p->stores);
	p->yields_in = KAR_NEVER;
	p->retry_in = KAR_NEVER;
	if (p->nodes)
		kar_topology_keep_whole(p->stores);
	queue_observe_queues(p);
	observe_groups(p);
	p->in = kar_arena_alloc(p->arena, p->n_groups + 1, sizeof(*p->in));
	queue_count_capacity(p);
	p->quota = queue_quota_begin(p->stores, p->arena);
	for (uint32_t i = 0; i < p->n_groups; i++)
		p->in[i] = begin_group(p, &p->groups[i]);
	for (uint32_t i = 0; i < p->n_groups; i++)
		observe_rest(p, i);
	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (!p->groups[i].admitted && p->groups[i].claim == QUEUE_CLAIM_ALIVE)
			observe_unit(p, &p->groups[i], &p->in[i]);
	}
	queue_finish_capacity(p);
	for (uint32_t i = 0; i < p->n_groups; i++)
		queue_quota_group(p->quota, &p->in[i]);
	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (p->groups[i].claim == QUEUE_CLAIM_ALIVE)
			p->groups[i].reservation = queue_quota_reserve(p->quota, p->groups[i].group, p->now);
	}
	assert(p->snapshot.n_queues == p->n_queues);
	queue_quota_end(p->quota, &p->snapshot, p->shared ? p->shared->said : NULL, p->mono, &p->retry_in);
	queue_observe_namespaces(p);
	queue_observe_preemptible(p);
	queue_observe_budgets(p);
	queue_finish_queues(p);
	p->snapshot.groups = p->in;
	p->snapshot.n_groups = p->n_groups;
	p->snapshot.sched = kar_snapshot_sched(p->stores->snapshot);
	p->snapshot.no_nodes = !p->nodes;
	p->snapshot.recounts = p->settings->recounts;
	p->snapshot.flags = (struct kar_queue_flags){
		.max_load_permille = p->settings->max_load_permille,
		.aging_interval = p->settings->aging_interval,
		.starvation_timeout = p->settings->starvation_timeout,
		.min_runtime = p->settings->min_runtime,
		.freezing_window = p->settings->freezing_window,
		.by_history = p->settings->usage_half_life > 0,
	};
}
