/*
 * The shell of the PodGroup reconciler: key = the group's namespace/name, which is also the index value of its pods.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/core/topology_wish.h"
#include "api/podgroup/pg_members.h"
#include "api/podgroup/pg_plan.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/codec/json.h"
#include "controllers/cluster/asked.h"
#include "controllers/cluster/flavors.h"
#include "controllers/cluster/caches.h"
#include "controllers/cluster/group_status.h"
#include "controllers/cluster/owner.h"
#include "controllers/cluster/snapshot.h"
#include "controllers/cluster/suspendable.h"
#include "controllers/cluster/topologies.h"
#include "controllers/cluster/unit.h"
#include "controllers/controllers.h"
#include "controllers/kar_metrics.h"
#include "controllers/podgroup/domain.h"
#include "controllers/podgroup/made.h"
#include "controllers/podgroup/release.h"
#include "controllers/podgroup/tell.h"

enum {
	CACHE_WAIT = 100, /* ms between two checks whether the cache has our own write */
	UNIT_WAIT = 200,  /* ms between two checks whether all gangs that start together have their plans */
};

/* What is remembered of a group: the last member whose start the API server has refused, whose loss costs another try; and what is told. */
struct podgroup_memory {
	struct podgroup_told told;
	kar_time attempt;  /* status.placement.time then: a later attempt knows nothing of it */
	kar_time since;    /* wall ms; 0: none was refused */
	char uid[40];      /* of the pod */
	char message[256]; /* of the API server, cut */
	kar_time
		mark_refused; /* mono, of the last condition DisruptionTarget that was refused; 0: none was */
};

static void on_pod(void *arg, const struct kar_object *o, const struct kar_object *n)
{
	const struct kar_pod *old = o ? kar_as_pod(o) : NULL;
	const struct kar_pod *new = n ? kar_as_pod(n) : NULL;
	const char *was = old ? old->group : NULL;
	const char *is_now = new ? new->group : NULL;

	if (was)
		kar_enqueue_pod(arg, was, old, new);
	if (is_now && is_now != was)
		kar_enqueue_pod(arg, is_now, old, new);
}

static size_t count_stranded(const struct kar_store *pods, const char *key)
{
	const struct kar_object *o;
	size_t n = 0;

	for (struct kar_iter it = kar_store_by_index(pods, KAR_POD_BY_GROUP, key); kar_iter_next(&it, &o);)
		n += podgroup_strands(kar_as_pod(o));
	return n;
}

/* Those with which it starts wait for its plan, or roll back with it. */
static void wake_unit(struct kar_controller *c, const struct kar_podgroup *g)
{
	struct kar_arena a = { 0 };
	struct kar_unit unit = kar_unit_of(c->stores, g, &a);
	char key[KAR_KEY_LEN];

	for (size_t i = 1; i < unit.n; i++)
		kar_enqueue(c, c->stores->podgroups, kar_object_key(&unit.groups[i]->o, key));
	kar_arena_release(&a);
}

static void on_group(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	char key[KAR_KEY_LEN];

	assert(old || new);
	if (old && new &&kar_podgroup_same_content(kar_as_podgroup(old), kar_as_podgroup(new)))
		return;
	kar_object_key(new ? new : old, key);
	kar_enqueue(c, c->stores->podgroups, key);
	if (new) {
		wake_unit(c, kar_as_podgroup(new));
		return;
	}

	size_t stranded = count_stranded(c->stores->pods, key);

	/* The group is gone, so there is no object for an event. */
	if (stranded)
		kar_warn(KAR_MSG("PodGroup deleted, its members stay gated"), KAR_S("podgroup", key),
			KAR_I("gated", (int64_t)stranded));
}

/* An edit of the workload gives its group another try. */
static void on_owner(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	char key[KAR_KEY_LEN];

	if (old && new &&kar_owner_describe(old).generation != kar_owner_describe(new).generation)
		kar_enqueue(c, kar_owner_store(c->stores, new), kar_object_key(new, key));
}

static bool bounds_alike(const struct kar_queue *a, const struct kar_queue *b)
{
	return kar_queue_has_limits(&a->spec) == kar_queue_has_limits(&b->spec) &&
		kar_streq(a->spec.queueing_strategy, b->spec.queueing_strategy) &&
		kar_streq(a->spec.parent, b->spec.parent) && kar_streq(a->status.parent, b->status.parent);
}

/* A queue bounds how many members start, or does so no more: those that wait may start without its word. */
static void on_queue(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	if (old && new &&bounds_alike(kar_as_queue(old), kar_as_queue(new)))
		return;
	for (struct kar_iter it = kar_store_all(c->stores->podgroups); kar_iter_next(&it, &o);) {
		if (kar_pg_of_others(kar_as_podgroup(o)))
			kar_enqueue(c, c->stores->podgroups, kar_object_key(o, key));
	}
}

/* Annotations of members may mean something now, or nothing any more. */
static void on_topology(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	if (old && new)
		return;
	for (struct kar_iter it = kar_store_all(c->stores->podgroups); kar_iter_next(&it, &o);)
		kar_enqueue(c, c->stores->podgroups, kar_object_key(o, key));
}

static void start(struct kar_controller *c)
{
	podgroup_follow_nodes(c);
	kar_store_listen(c->stores->topologies, on_topology, c);
	kar_store_listen(c->stores->queues, on_queue, c);
	kar_owner_listen(c->stores, on_owner, c);
	kar_store_listen(c->stores->pods, on_pod, c);
	kar_store_listen(c->stores->podgroups, on_group, c);
}

/* @w: its workload; NULL: none, or it is gone. */
static enum podgroup_owner owner_of(const struct kar_podgroup *g, const struct kar_workload *w)
{
	if (kar_pg_of_others(g) || !g->owner_name)
		return PODGROUP_OWNER_UNKNOWN;
	return w && (w->ended || w->rests) ? PODGROUP_OWNER_TERMINAL : PODGROUP_OWNER_WORKS;
}

static void collect_pods(const struct kar_store *pods, const char *key, struct kar_arena *a,
	struct podgroup_view *v)
{
	size_t room = kar_store_index_count(pods, KAR_POD_BY_GROUP, key);
	const struct kar_object *o;

	v->pods = kar_arena_alloc(a, room, sizeof(struct kar_pod *));
	for (struct kar_iter it = kar_store_by_index(pods, KAR_POD_BY_GROUP, key); kar_iter_next(&it, &o);)
		v->pods[v->n_pods++] = kar_as_pod(o);
}

/* Is the group or a member unreadable? Then its counts would be wrong. */
static bool is_unreadable(const struct podgroup_view *v)
{
	for (size_t i = 0; i < v->n_pods; i++) {
		if (v->pods[i]->o.unreadable)
			return true;
	}
	return v->group->o.unreadable;
}

/* Members of a group whose spec asks for a topology, or that nobody places, are not asked. */
static const char *what_is_ignored(const struct kar_stores *stores, const struct podgroup_view *v,
	struct kar_arena *a)
{
	struct kar_topology_wishes wishes = { 0 };
	const struct kar_topology_ask *own = &v->group->spec.topology;
	const char *invalid;

	if (v->unplaced || kar_topology_asks(own))
		return NULL;
	for (size_t i = 0; i < v->n_pods; i++) {
		if (kar_pod_alive(v->pods[i]))
			kar_topology_wishes_add(&wishes, kar_pod_topology(v->pods[i]));
	}
	invalid = kar_topology_wishes_invalid(&wishes, a);
	if (invalid || kar_topology_exists(stores))
		return invalid;
	const struct kar_topology_ask ask = kar_topology_wishes_ask(&wishes, a);

	return kar_topology_asks(&ask)
		? "annotations of pods are ignored: they ask for a topology, and there is no Topology"
		: NULL;
}

static void observe_unit(const struct kar_stores *stores, struct kar_arena *a, struct podgroup_view *v)
{
	struct kar_unit unit = kar_unit_of(stores, v->group, a);

	v->unit_waits = unit.waits;
	v->unit_failing =
		unit.failing ? kar_arena_printf(a, "%s/%s", unit.failing->o.ns, unit.failing->o.name) : NULL;
}

/* The caches contain what this key has written. */
static bool has_own_writes(const struct kar_controller *c, const char *key)
{
	bool groups = kar_barrier_passed(c->barrier, key, c->stores->podgroups);
	bool pods = kar_barrier_passed(c->barrier, key, c->stores->pods);

	return groups && pods;
}

/* There is no group of this key: what is told is about a pod. False: nobody asks for one, or waits for it, either. */
static bool make_group(const struct kar_controller *c, struct kar_sync *s, const char *ns, const char *name)
{
	struct podgroup_view v = { 0 };
	const struct kar_pod *about;

	collect_pods(c->stores->pods, s->key, &s->arena, &v);
	s->objects = v.n_pods;
	about = podgroup_make(v.pods, v.n_pods, ns, name, &s->plan);
	if (!about)
		about = podgroup_miss(v.pods, v.n_pods, s->key, s->now, &s->plan);
	if (about)
		s->object = kar_object_ref(&about->o);
	return about != NULL;
}

static void observe_refusal(const struct kar_sync *s, struct podgroup_view *v)
{
	const struct podgroup_memory *m = s->state->memory;

	v->mark_refused = m->mark_refused && s->mono - m->mark_refused < KAR_MARK_AGAIN;
	if (!m->since || m->attempt != v->group->status.placement.time)
		return;
	v->release_refused = m->message;
	v->refused_since = m->since;
}

static bool any_is_released(const struct podgroup_view *v)
{
	for (size_t i = 0; i < v->n_pods; i++) {
		const struct kar_pod *pod = v->pods[i];

		if (kar_pod_alive(pod) && (pod->node || kar_pg_was_started(pod, v->served)))
			return true;
	}
	return false;
}

struct planned_place {
	const char *node;
	kar_class class;
};

/* One after the other, in any order: a pod may be allowed only after another one. */
static bool all_fit(struct kar_sched *sched, struct planned_place *left, size_t n)
{
	size_t mark = kar_sched_mark(sched), before = n + 1;

	while (n && n < before) {
		before = n;
		n = 0;
		for (size_t i = 0; i < before; i++) {
			if (kar_sched_fits_on(sched, left[i].class, left[i].node))
				kar_sched_take(sched, left[i].node, left[i].class, 1);
			else
				left[n++] = left[i];
		}
	}
	kar_sched_undo(sched, mark);
	return !n;
}

/*
 * Is there no room any more for the members that the plan has places for, before the first is released? The plan may be older than
 * this process.
 */
static bool is_outdated(const struct kar_stores *stores, const struct podgroup_view *v, struct kar_arena *a)
{
	const struct kar_pg_placement *pl = &v->group->status.placement;
	const struct kar_pod **sorted;
	struct planned_place *left;
	size_t n = 0;

	if (!v->of_others || v->unplaced || pl->state != KAR_PG_STATE_PLACED || any_is_released(v))
		return false;
	sorted = podgroup_by_name(v, a);
	left = kar_arena_alloc(a, pl->n_plan + 1, sizeof(*left));
	for (size_t i = 0; i < pl->n_plan; i++) {
		const struct kar_pod *pod = podgroup_named(sorted, v->n_pods, pl->plan[i].role);
		const char *node = kar_pg_planned_node(&pl->plan[i], a);

		if (pod && pod->needs && node[0])
			left[n++] = (struct planned_place){ node, kar_needs_class_of_pod(stores, pod) };
	}
	return !all_fit(kar_snapshot_sched(stores->snapshot), left, n);
}

static bool sync_group(struct kar_controller *c, struct kar_sync *s)
{
	const struct kar_stores *stores = c->stores;
	char buf[KAR_KEY_LEN];
	const char *ns, *name;

	kar_key_split(s->key, buf, &ns, &name);

	const struct kar_object *o = kar_store_get(stores->podgroups, ns, name);

	if (!o && !kar_store_index_count(stores->pods, KAR_POD_BY_GROUP, s->key))
		return false;
	if (!has_own_writes(c, s->key)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}
	if (!o)
		return make_group(c, s, ns, name);
	s->object = kar_object_ref(o);

	const char *served = kar_settings_served(c->settings);
	const struct kar_object *owner = kar_owner_of(stores, kar_as_podgroup(o));
	const struct kar_workload w = kar_owner_describe(owner);
	const struct kar_asked asked = kar_asked_queue(stores, kar_as_podgroup(o));
	struct podgroup_view v = { .group = kar_as_podgroup(o),
		.owner = owner_of(kar_as_podgroup(o), owner ? &w : NULL),
		.queue = asked.queue,
		.moves = asked.label != NULL,
		.of_others = kar_pg_of_others(kar_as_podgroup(o)),
		.suspended = kar_suspendable_of(stores, kar_as_podgroup(o)) != NULL,
		.bounded = kar_pg_of_others(kar_as_podgroup(o)) &&
			kar_asked_bounds(stores, kar_as_podgroup(o), asked.queue),
		.flavor = kar_flavor_named(stores->flavors, kar_as_podgroup(o)->status.flavor),
		.served = served,
		.direct = owner && kar_owner_kind(owner)->is_direct(owner, served),
		.non_strict = owner ? w.non_strict : kar_as_podgroup(o)->options.non_strict,
		.native_interval = kar_native_interval(c->settings),
		.native_lost = kar_native_is_lost(c->settings),
		.raised = w.raised,
		.owner_generation = w.generation,
		.default_timeout = c->settings->schedule_timeout };

	observe_unit(stores, &s->arena, &v);
	observe_refusal(s, &v);
	if (v.unit_waits && v.group->status.placement.state == KAR_PG_STATE_PLACED)
		kar_plan_requeue(&s->plan, UNIT_WAIT);
	collect_pods(stores->pods, s->key, &s->arena, &v);
	if (is_unreadable(&v) || (owner && owner->unreadable)) {
		kar_plan_requeue(&s->plan, KAR_UNREADABLE_RETRY);
		return false;
	}
	v.unplaced = c->settings->one_namespace || !kar_pg_keeps_placement(v.group) ||
		v.n_pods > kar_pg_plan_pods(v.group);
	v.ignored = what_is_ignored(stores, &v, &s->arena);
	v.outside = podgroup_outside(stores, &v, &s->arena);
	v.outdated = is_outdated(stores, &v, &s->arena);
	s->objects = v.n_pods;
	s->plan.priority = v.group->spec.has_priority ? v.group->spec.priority : 0;
	podgroup_decide(&v, s->now, &s->plan);
	podgroup_unmake(&v, s->now, &s->plan);
	v.told = ((const struct podgroup_memory *)s->state->memory)->told;
	((struct podgroup_memory *)s->state->memory)->told = podgroup_tell(&v, s->now, &s->plan);
	return true;
}

static int encode(const struct kar_sync *s KAR_UNUSED, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err)
{
	struct kar_arena scratch = { 0 };
	int rc = podgroup_encode(a, &scratch, out, err);

	kar_arena_release(&scratch);
	return rc;
}

/* The patch replaces the list of conditions as a whole, so the group must still be the one that was read. */
static const char *encode_status(const struct kar_sync *s, struct kar_buf *out)
{
	return kar_group_status_patch(kar_as_podgroup(s->object), s->plan.status, KAR_PG_MEMBERS, out);
}

/* May the same request succeed only if somebody changes a policy or a role? */
static bool is_final(const struct kar_err *err)
{
	return err->what == KAR_DENIED || err->what == KAR_INVALID;
}

static bool starts_member(const struct kar_action *a)
{
	return a->what == PODGROUP_RELEASE || a->what == PODGROUP_BIND;
}

static void refused(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err)
{
	struct podgroup_memory *m = s->state->memory;
	kar_time attempt;

	if (a->what == PODGROUP_DISRUPT)
		m->mark_refused = s->mono;
	if (!starts_member(a) || !is_final(err) || !s->object || s->object->type != &kar_podgroup_type)
		return;
	attempt = kar_as_podgroup(s->object)->status.placement.time;
	if (!m->since || m->attempt != attempt)
		m->since = s->now;
	m->attempt = attempt;
	snprintf(m->uid, sizeof(m->uid), "%s", a->uid);
	snprintf(m->message, sizeof(m->message), "%.*s", (int)sizeof(m->message) - 1, err->msg);
	m->message[kar_utf8_clean(m->message, strlen(m->message))] = '\0';
}

static void wrote(const struct kar_sync *s, const struct kar_action *a,
	const struct kar_answer *answer KAR_UNUSED)
{
	struct podgroup_memory *m = s->state->memory;

	if (a && starts_member(a) && m->since && kar_streq(a->uid, m->uid))
		m->since = 0;
	kar_count_write(s, a);
}

void kar_podgroup_controller(struct kar_controller *c)
{
	c->name = "podgroup";
	c->start = start;
	c->sync = sync_group;
	c->encode = encode;
	c->encode_status = encode_status;
	c->wrote = wrote;
	c->refused = refused;
	c->memory_size = sizeof(struct podgroup_memory);
}
