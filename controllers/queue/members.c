/* What a pass places of a group of another controller: its members, which exist and are gated. */
#include "controllers/queue/pass.h"

#include <stdlib.h>

#include "api/names.h"
#include "api/pg_hold.h"
#include "api/pg_members.h"
#include "api/pg_plan.h"
#include "api/queuejob_direct.h"
#include "common/str.h"

/* One group while its gang is made. */
struct making {
	struct queue_pass *p;
	const struct kar_podgroup *group;
	struct kar_arena *arena;
	const struct kar_pod *
		*unbound; /* members that may get a place now, in the order in which they get them */
	size_t n_unbound;
	int64_t have; /* members that need no place any more, or get one from the scheduler at any time */
	kar_time youngest;            /* wall ms, creation of its youngest live member */
	size_t n_gated;               /* members with our gate, whatever else holds them */
	const struct kar_pod *direct; /* the first that is bound by us; NULL: none is */
	bool default_scheduler;       /* one names the default scheduler */
	const char *other;            /* another scheduler that a member names; NULL: none does */
	bool placed_by_others;        /* a member names another scheduler, or they do not agree on one */
	bool mixed; /* they do not agree on one: none that waits here starts (podgroup/release.c) */
	bool bound; /* one has a node */
};

static int64_t quorum_of(const struct kar_podgroup *g, int64_t succeeded)
{
	int64_t min = g->spec.min_member > 0 ? g->spec.min_member : 1, left_out = g->spec.succeeded_members;

	return min + kar_clamp(left_out, 0, succeeded);
}

static struct kar_iter members(const struct making *m)
{
	char key[KAR_KEY_LEN];

	return kar_store_by_index(m->p->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&m->group->o, key));
}

/* A gang that has started lacks all that have no node; a new one only what is not released, or is to be bound by us. */
static bool needs_place(const struct making *m, const struct kar_pod *pod, bool started)
{
	return !pod->node && (started || kar_pg_is_gated(pod) || kar_pg_binds(pod, m->p->served));
}

static void note_scheduler(struct making *m, const struct kar_pod *pod)
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

static void compare_schedulers(struct making *m)
{
	m->mixed |= (m->direct || m->other) && m->default_scheduler;
	m->mixed |= m->direct && m->other;
	m->placed_by_others = m->mixed || m->other;
}

/* Returns how many of the minimum have no place yet. */
static int64_t collect(struct making *m, bool started)
{
	const struct kar_object *o;
	int64_t succeeded = 0;

	for (struct kar_iter it = members(m); kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		succeeded += pod->phase == KAR_POD_SUCCEEDED;
		if (!kar_pod_alive(pod))
			continue;
		note_scheduler(m, pod);
		m->bound |= pod->node != NULL;
		m->n_gated += kar_pg_is_gated(pod);
		m->youngest = pod->creation > m->youngest ? pod->creation : m->youngest;
		if (!needs_place(m, pod, started)) {
			m->have++;
		} else if (started || kar_pg_waits(pod) || kar_pg_binds(pod, m->p->served)) {
			m->unbound = kar_arena_grow(m->arena, m->unbound, m->n_unbound, sizeof(*m->unbound));
			m->unbound[m->n_unbound++] = pod;
		}
	}
	compare_schedulers(m);
	if (m->n_unbound)
		qsort(m->unbound, m->n_unbound, sizeof(*m->unbound), kar_pg_compare_members);
	return quorum_of(m->group, succeeded) - succeeded - m->have;
}

/* --- the gang -------------------------------------------------------------------------------------- */

struct roles {
	struct kar_role *items;
	const char **names;
	bool *unverified;
	uint32_t n;
};

/* The role of the pods of this class; a new one if there is none. */
static uint32_t role_of(const struct making *m, struct roles *r, const struct kar_pod *pod)
{
	kar_class class = kar_snapshot_class_of(m->p->nodes, pod->needs ? pod->needs : "{}");
	const struct kar_pod_needs *needs = kar_sched_needs(kar_snapshot_sched(m->p->nodes), class);
	bool unverified = needs->unverified || kar_pg_is_unpinnable(pod);

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->items[i].class == class && r->unverified[i] == unverified)
			return i;
	}
	r->items[r->n] = (struct kar_role){ .class = class };
	r->names[r->n] = pod->o.name;
	r->unverified[r->n] = unverified;
	return r->n++;
}

/* The names of the members, by role, each in their order. @roles: per member. */
static const char *const *const *name_pods(const struct making *m, const struct roles *r,
	const uint32_t *roles)
{
	const char ***pods = kar_arena_alloc(m->arena, r->n, sizeof(char **));
	int32_t *n = kar_arena_alloc(m->arena, r->n, sizeof(*n));

	for (uint32_t i = 0; i < r->n; i++)
		pods[i] = kar_arena_alloc(m->arena, (size_t)r->items[i].need + (size_t)r->items[i].want,
			sizeof(char *));
	for (size_t i = 0; i < m->n_unbound; i++)
		pods[roles[i]][n[roles[i]]++] = m->unbound[i]->o.name;
	return (const char *const *const *)pods;
}

static void add_roles(const struct making *m, struct queue_gang *out, int64_t need)
{
	size_t n = m->n_unbound;
	uint32_t *roles = kar_arena_alloc(m->arena, n, sizeof(*roles));
	struct roles r = { kar_arena_alloc(m->arena, n, sizeof(*r.items)),
		kar_arena_alloc(m->arena, n, sizeof(char *)), kar_arena_alloc(m->arena, n, sizeof(bool)), 0 };

	for (size_t i = 0; i < n; i++) {
		roles[i] = role_of(m, &r, m->unbound[i]);
		if ((int64_t)i < need)
			r.items[roles[i]].need++;
		else
			r.items[roles[i]].want++;
	}
	out->gang = (struct kar_gang){ .roles = r.items, .n_roles = r.n };
	out->names = r.names;
	out->unverified = r.unverified;
	out->pods = name_pods(m, &r, roles);
}

/* Members of the plan that have no node yet hold their places. */
static void hold_plan(struct making *m, struct queue_gang *out)
{
	const struct kar_pg_placement *pl = &m->group->status.placement;
	struct queue_seat *held = kar_arena_alloc(m->arena, pl->n_plan + 1, sizeof(*held));
	struct kar_role *roles = kar_arena_alloc(m->arena, pl->n_plan + 1, sizeof(*roles));

	for (size_t i = 0; i < pl->n_plan; i++) {
		const struct kar_object *o =
			kar_store_get(m->p->stores->pods, m->group->o.ns, pl->plan[i].role);
		const struct kar_pod *pod = o ? kar_as_pod(o) : NULL;
		const char *node = kar_pg_planned_node(&pl->plan[i], m->arena);
		kar_class class;

		if (!pod || pod->node || !pod->needs || !kar_pod_alive(pod))
			continue;
		class = kar_snapshot_class_of(m->p->nodes, pod->needs);
		if (node[0])
			held[out->n_held++] = (struct queue_seat){ node, class, 1 };
		else
			roles[out->gang.n_roles++] = (struct kar_role){ .class = class, .need = 1 };
	}
	out->held = held;
	out->gang.roles = roles;
}

/* --- members that are bound by us ------------------------------------------------------------------- */

/* Members wait here that do not start, and nothing of the gang is there: it holds no place in its queue. */
static bool is_stuck(const struct making *m, bool started)
{
	return m->mixed && m->n_unbound && !m->bound && !started;
}

/* Why they cannot be: the first that asks for something that nobody would check. NULL: they can. */
static const char *obstacle(const struct making *m)
{
	for (size_t i = 0; m->direct && i < m->n_unbound; i++) {
		const struct kar_pod *pod = m->unbound[i];
		kar_class class = kar_snapshot_class_of(m->p->nodes, pod->needs ? pod->needs : "{}");
		const char *what = kar_sched_needs(kar_snapshot_sched(m->p->nodes), class)->unverified;

		if (what || pod->pin)
			return kar_arena_printf(m->arena,
				"%s does not place %s (pod %s): use " KAR_DEFAULT_SCHEDULER,
				pod->scheduler ? pod->scheduler : KAR_DEFAULT_SCHEDULER,
				what ? what : "an affinity to one node", pod->o.name);
	}
	return NULL;
}

/* The entry of the plan for @pod; NULL: there is none. */
static const struct kar_pg_planned *planned(const struct making *m, const struct kar_pod *pod)
{
	const struct kar_pg_placement *pl = &m->group->status.placement;

	for (size_t i = 0; i < pl->n_plan; i++) {
		if (kar_streq(pl->plan[i].role, pod->o.name))
			return &pl->plan[i];
	}
	return NULL;
}

/* The gang has started: members that come later get places as far as there is room; those that have one in the plan keep it. */
static void renew(struct making *m, struct queue_gang *out)
{
	struct kar_pg_planned *kept = kar_arena_alloc(m->arena, m->n_unbound + 1, sizeof(*kept));
	struct queue_seat *held = kar_arena_alloc(m->arena, m->n_unbound + 1, sizeof(*held));
	size_t n = 0;

	for (size_t i = 0; i < m->n_unbound; i++) {
		const struct kar_pod *pod = m->unbound[i];
		const struct kar_pg_planned *entry = planned(m, pod);

		if (!entry) {
			m->unbound[n++] = pod;
			continue;
		}
		kept[out->n_kept++] = *entry;
		held[out->n_held++] = (struct queue_seat){ kar_pg_planned_node(entry, m->arena),
			kar_snapshot_class_of(m->p->nodes, pod->needs ? pod->needs : "{}"), 1 };
	}
	m->n_unbound = n;
	out->kept = kept;
	out->held = held;
	out->renews = true;
	if (n)
		add_roles(m, out, 0);
}

/* Whether the members of a group that is whole must be looked at all the same: those that come later are bound by us. */
static bool is_direct(const struct making *m)
{
	struct kar_iter it = members(m);
	const struct kar_object *o;

	return m->p->served && kar_iter_next(&it, &o) &&
		kar_scheduler_is_served(kar_as_pod(o)->scheduler, m->p->served);
}

/*
 * Its controller makes some members only after others run, and spec.minResources says what they need: those that exist start, if there is
 * room for all.
 */
static bool starts_in_stages(const struct making *m)
{
	kar_time left = m->youngest + KAR_PG_STAGED_AFTER - m->p->s->now;

	if (!m->group->spec.has_min_resources || !m->n_unbound)
		return false;
	if (left > 0 && left < m->p->retry_in)
		m->p->retry_in = left;
	return left <= 0;
}

/* Its controller makes more members than the minimum, and some of them have come a moment ago. */
static bool expects_more(const struct making *m, bool started)
{
	kar_time left = m->youngest + KAR_PG_STAGED_AFTER - m->p->s->now;

	if (started || m->group->options.total <= m->have + (int64_t)m->n_unbound || left <= 0)
		return false;
	m->p->retry_in = left < m->p->retry_in ? left : m->p->retry_in;
	return true;
}

/*
 * A group is admitted without members, because its controller may wait for that. If some have come, the rest follows within moments; else
 * it has no place in the queue until they are all there.
 */
static bool may_be_incomplete(struct queue_pass *p, const struct kar_podgroup *g, size_t gated)
{
	enum { WITHIN = 5 * KAR_SECOND };
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	kar_time left = c && c->status == KAR_COND_TRUE ? c->last_transition + WITHIN - p->s->now : 0;

	if (g->status.placement.state != KAR_PG_STATE_NONE)
		return false;
	if (gated && left > 0 && left < p->retry_in)
		p->retry_in = left;
	return !gated || left > 0;
}

/* What it lacks, or must start with; NULL: nothing is placed. @holds: room is held for members to come. */
static const struct queue_gang *gang_of(struct making *m, struct queue_gang *out, bool started, bool admitted,
	bool holds)
{
	int64_t need = collect(m, started);

	out->direct = m->direct != NULL;
	out->backend = out->direct ? KAR_PG_BACKEND_DIRECT : KAR_PG_BACKEND_GATES;
	if (is_stuck(m, started)) {
		out->obstacle = "its members name more than one scheduler, a gang needs one";
		return out;
	}
	out->obstacle = m->placed_by_others ? NULL : obstacle(m);
	if (out->obstacle)
		return admitted ? NULL : out;
	if (out->direct && started && admitted && !m->placed_by_others) {
		renew(m, out);
		return out;
	}
	if (holds && need <= 0)
		return queue_hold(m->p, m->group, out) ? out : NULL;
	if (need <= 0 || m->n_unbound > KAR_PG_PLAN_PODS || m->placed_by_others)
		return NULL; /* nothing to place, or not here (controllers/podgroup/release.c) */
	if (need > (int64_t)m->n_unbound && starts_in_stages(m))
		need = (int64_t)m->n_unbound;
	out->incomplete = need > (int64_t)m->n_unbound || expects_more(m, started);
	if (out->incomplete)
		return started || may_be_incomplete(m->p, m->group, m->n_gated) ? NULL : out;
	/* What is beyond the minimum is released without a node once that is bound: one that was pinned could not be made anew. */
	if (!out->direct)
		m->n_unbound = (size_t)need;
	add_roles(m, out, need);
	if (!started || holds)
		queue_hold(m->p, m->group, out);
	return out;
}

/* Nothing of it is placed now: its minimum is bound, or it goes away. */
static bool needs_nothing(const struct making *m, bool holds)
{
	return (queue_is_whole(m->group) && !holds && !is_direct(m)) ||
		m->group->status.placement.state == KAR_PG_STATE_ROLLING_BACK;
}

const struct queue_gang *queue_observe_members(struct queue_pass *p, const struct kar_podgroup *g,
	bool admitted)
{
	struct making m = { .p = p, .group = g, .arena = &p->s->arena };
	enum kar_pg_state state = g->status.placement.state;
	bool started = state == KAR_PG_STATE_SATISFIED || state == KAR_PG_STATE_UNPLACED;
	bool holds = admitted && kar_pg_holds(g, p->s->now);
	struct queue_gang *out;

	if (!p->nodes || !kar_pg_keeps_placement(g) || (admitted && needs_nothing(&m, holds)))
		return NULL;
	if (holds && kar_pg_hold_ends(g) - p->s->now < p->retry_in)
		p->retry_in = kar_pg_hold_ends(g) - p->s->now; /* its room is free then */
	out = kar_arena_alloc(m.arena, 1, sizeof(*out));
	queue_fill_gang(p, g, out);
	if (!admitted || state != KAR_PG_STATE_PLACED)
		return gang_of(&m, out, started, admitted, holds);
	hold_plan(&m, out);
	if (holds)
		queue_hold(p, g, out);
	return out;
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

bool queue_has_new_gang(const struct kar_podgroup *g, const struct queue_gang *gang)
{
	return gang && kar_pg_of_others(g) && g->status.placement.state == KAR_PG_STATE_NONE;
}
