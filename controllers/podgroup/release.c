#include "controllers/podgroup/release.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/names.h"
#include "api/podgroup/pg_hold.h"
#include "api/podgroup/pg_members.h"
#include "api/podgroup/pg_plan.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "controllers/podset/podset.h"

/* --- what is there --------------------------------------------------------------------------------- */

static bool is_admitted(const struct podgroup_view *v)
{
	return !v->moves && kar_podgroup_admitted_by(v->group, v->queue);
}

static bool is_mixed(const struct podgroup_counts *t)
{
	return t->schedulers.n > 1 || (t->schedulers.n && t->n_default) ||
		(t->n_served && (t->schedulers.n || t->n_default));
}

/* Members that have a node, need none any more, or may get one at any time. */
static int32_t on_the_way(const struct podgroup_counts *t)
{
	return t->active + t->succeeded - t->gated;
}

static bool can_all_start(const struct podgroup_counts *t)
{
	return on_the_way(t) + t->waiting >= t->quorum;
}

/* --- releasing ------------------------------------------------------------------------------------- */

static struct kar_action *act(struct kar_plan *p, enum kar_verb verb, const struct kar_pod *pod,
	enum podgroup_action what)
{
	struct kar_action *a = kar_plan_add(p, verb, &kar_pod_type, kar_copy(p->arena, pod->o.ns),
		kar_copy_text(p->arena, pod->o.name));

	assert(pod->o.uid[0]); /* without it the write could hit another pod of the name */
	a->uid = kar_copy(p->arena, pod->o.uid);
	a->rv = pod->o.rv;
	a->what = (int)what;
	return a;
}

/* No scheduler does it. */
static void bind(struct kar_plan *p, const struct kar_pod *pod, const char *node)
{
	struct podgroup_pod_patch *body = kar_arena_alloc(p->arena, 1, sizeof(*body));
	struct kar_action *a;

	if (!node[0])
		return;
	a = act(p, KAR_CREATE, pod, PODGROUP_BIND);
	body->node = node;
	a->subresource = "binding";
	a->payload = body;
	a->note = kar_arena_printf(p->arena, "bind to %s", node);
}

static void release(const struct podgroup_view *v, struct kar_plan *p, const struct kar_pod *pod,
	const char *node)
{
	struct podgroup_pod_patch *body = kar_arena_alloc(p->arena, 1, sizeof(*body));
	struct kar_action *a;

	if (kar_pg_binds(pod, v->served)) {
		bind(p, pod, node);
		return;
	}
	a = act(p, KAR_PATCH, pod, PODGROUP_RELEASE);
	/* One that is bound by us loses its gate first. */
	body->node = kar_pg_is_unpinnable(pod) || pod->scheduler ? "" : node;
	body->terms = kar_copy(p->arena, pod->terms);
	body->domain = kar_pg_required_domain(&v->group->status.placement, "", p->arena);
	if (v->flavor)
		body->flavor = kar_flavor_terms_copy(&v->flavor->terms, p->arena);
	a->patch_type = KAR_PATCH_STRATEGIC;
	a->payload = body;
	a->note = body->node[0]  ? kar_arena_printf(p->arena, "release to %s", body->node)
		: body->domain.n ? kar_arena_printf(p->arena, "release into %s",
					   kar_pg_domain_text(&v->group->status.placement, p->arena))
				 : "release";
}

static void release_all(const struct podgroup_view *v, struct kar_plan *p)
{
	for (size_t i = 0; i < v->n_pods; i++) {
		if (kar_pg_waits(v->pods[i]))
			release(v, p, v->pods[i], "");
	}
}

/* How many of the line may be active: those of the minimum that was formed, and those that its queue has let in; if others have come or gone, it looks again. */
static size_t count_let_in(const struct podgroup_view *v, const struct podgroup_counts *t,
	const struct kar_pg_line *line)
{
	const struct kar_podgroup_status *st = &v->group->status;
	int64_t least = kar_clamp(kar_pg_formed(v->group, t->quorum) - t->succeeded, 0, (int64_t)line->n);
	size_t n = st->has_desired && st->desired > 0 ? (size_t)st->desired : 0;

	if (n > (size_t)least && n <= line->n && kar_pg_digest(line->items, n) == st->desired_of)
		return n;
	return (size_t)least;
}

static void release_let_in(const struct podgroup_view *v, const struct podgroup_counts *t, struct kar_plan *p)
{
	struct kar_pg_line line;

	if (!v->bounded) {
		release_all(v, p);
		return;
	}
	line = kar_pg_line(v->pods, v->n_pods, v->served, p->arena);
	for (size_t i = line.started, n = count_let_in(v, t, &line); i < n; i++)
		release(v, p, line.items[i], "");
}

static int by_name(const void *a, const void *b)
{
	const struct kar_pod *const *x = a, *const *y = b;

	return strcmp((*x)->o.name, (*y)->o.name);
}

const struct kar_pod **podgroup_by_name(const struct podgroup_view *v, struct kar_arena *a)
{
	const struct kar_pod **sorted = kar_arena_alloc(a, v->n_pods + 1, sizeof(struct kar_pod *));

	for (size_t i = 0; i < v->n_pods; i++)
		sorted[i] = v->pods[i];
	qsort(sorted, v->n_pods, sizeof(struct kar_pod *), by_name);
	return sorted;
}

const struct kar_pod *podgroup_named(const struct kar_pod *const *sorted, size_t n, const char *name)
{
	const struct kar_pod wanted = { .o = { .type = &kar_pod_type, .name = name } }, *key = &wanted;
	const struct kar_pod *const *found = bsearch(&key, sorted, n, sizeof(struct kar_pod *), by_name);

	return found ? *found : NULL;
}

/* Returns whether there was any. */
static bool release_planned(const struct podgroup_view *v, struct kar_plan *p)
{
	const struct kar_pg_placement *pl = &v->group->status.placement;
	const struct kar_pod **sorted = podgroup_by_name(v, p->arena);
	bool any = false;

	for (size_t i = 0; i < pl->n_plan; i++) {
		const struct kar_pod *pod = podgroup_named(sorted, v->n_pods, pl->plan[i].role);

		if (pod && (kar_pg_waits(pod) || kar_pg_binds(pod, v->served))) {
			release(v, p, pod, kar_pg_planned_node(&pl->plan[i], p->arena));
			any = true;
		}
	}
	return any;
}

/* All of the plan have started, and members come for which room is held. */
static bool starts_in_stages(const struct podgroup_view *v, kar_time now)
{
	return v->group->status.placement.n_plan && kar_pg_holds(v->group, now);
}

/* Nobody chooses nodes for these members: they start when all of them can, or when their gang has its minimum without them. */
static bool starts_unplaced(const struct podgroup_view *v, const struct podgroup_counts *t)
{
	if (!is_admitted(v) || is_mixed(t))
		return false;
	if (v->group->options.only_waiting)
		return (v->unplaced || t->schedulers.n) && t->waiting >= podgroup_wave(t);
	return on_the_way(t) - t->stopping >= t->quorum ||
		((v->unplaced || t->schedulers.n) && can_all_start(t));
}

/* --- taking back ----------------------------------------------------------------------------------- */

/*
 * Its controller sees first that the pod has not failed by itself (the condition with @cause), then that it goes. A condition that the API
 * server has refused does not keep the pod.
 */
static void take_back(const struct podgroup_view *v, const struct kar_pod *pod, const char *cause,
	kar_time now, struct kar_plan *p)
{
	bool evicted = kar_has_text(v->group->status.placement.evicted_by);
	struct podset_disruption *body;
	struct kar_action *a;

	if (pod->disrupted || v->mark_refused) {
		act(p, KAR_DELETE, pod, PODGROUP_DELETE);
		return;
	}
	body = kar_arena_alloc(p->arena, 1, sizeof(*body));
	*body = (struct podset_disruption){ .reason = evicted ? PODSET_EVICTED : "GangRolledBack",
		.message = cause,
		.now = now };
	a = act(p, KAR_PATCH, pod, PODGROUP_DISRUPT);
	a->subresource = "status";
	a->patch_type = KAR_PATCH_STRATEGIC;
	a->payload = body;
	a->note = "disrupt";
}

static void take_all_back(const struct podgroup_view *v, kar_time now, struct kar_plan *p)
{
	for (size_t i = 0; i < v->n_pods; i++) {
		const struct kar_pod *pod = v->pods[i];

		if (kar_pod_alive(pod) && pod->owner_name && kar_pg_was_started(pod, v->served) &&
			!podgroup_keeps(v->group, pod))
			take_back(v, pod, v->group->status.placement.cause, now, p);
	}
}

/* The node that the plan names for a member that was released to another one, and is stuck there; NULL: it is not so. */
static const char *new_place(const struct podgroup_view *v, const struct kar_pod *pod, struct kar_arena *a)
{
	const struct kar_pg_placement *pl = &v->group->status.placement;

	if (!pl->repairs || !kar_pod_alive(pod) || pod->node || !pod->pin || !pod->unschedulable ||
		!pod->owner_name || !kar_pg_was_started(pod, v->served))
		return NULL;
	for (size_t i = 0; i < pl->n_plan; i++) {
		const char *node;

		if (!kar_streq(pl->plan[i].role, pod->o.name))
			continue;
		node = kar_pg_planned_node(&pl->plan[i], a);
		return node[0] && !kar_streq(node, pod->pin) ? node : NULL;
	}
	return NULL;
}

/* A member cannot be moved: its controller makes another one, which gets a place when it is there. */
static void replace_stuck(const struct podgroup_view *v, kar_time now, struct kar_plan *p)
{
	for (size_t i = 0; i < v->n_pods; i++) {
		const struct kar_pod *pod = v->pods[i];
		const char *node = new_place(v, pod, p->arena), *cause;

		if (!node)
			continue;
		cause = kar_arena_printf(p->arena,
			"%s was unschedulable on %s; there is room for another on %s", pod->o.name, pod->pin,
			node);
		if (!pod->disrupted)
			kar_plan_event(p, true, kar_reason_Unschedulable, "ReplaceMember", "%s", cause);
		take_back(v, pod, cause, now, p);
	}
}

/* All that is bound terminates: what waits is a new gang, when all of the old one is gone. One member of several is replaced at once. */
static bool is_restarting(const struct podgroup_counts *t)
{
	return t->stopping && t->scheduled - t->succeeded <= t->stopping;
}

/* Members of a gang that has started. */
static bool start_singly(const struct podgroup_view *v, const struct podgroup_counts *t)
{
	return !is_restarting(t) && !v->group->options.only_waiting;
}

/*
 * A workload that is suspended deletes its pods itself, and counts none of them as failed. Only if it does not within SUSPENDED_WITHIN they are
 * deleted here.
 */
static bool leaves_it_to_its_workload(const struct podgroup_view *v, kar_time now, struct kar_plan *p)
{
	enum { SUSPENDED_WITHIN = 30 * KAR_SECOND };
	kar_time left = v->group->status.placement.time + SUSPENDED_WITHIN - now;

	if (!v->suspended || left <= 0)
		return false;
	kar_plan_requeue(p, left);
	return true;
}

void podgroup_release(const struct podgroup_view *v, const struct podgroup_counts *t, kar_time now,
	struct kar_plan *p)
{
	enum kar_pg_state state = v->group->status.placement.state;

	if ((state == KAR_PG_STATE_ROLLING_BACK || (t->gated && v->of_others)) && t->overdue_in != KAR_NEVER)
		kar_plan_requeue(p, t->overdue_in);
	if (state == KAR_PG_STATE_ROLLING_BACK && v->of_others) {
		if (!leaves_it_to_its_workload(v, now, p))
			take_all_back(v, now, p);
	} else if (state == KAR_PG_STATE_PLACED && v->of_others && !v->unit_waits) {
		replace_stuck(v, now, p);
		if (!release_planned(v, p) && starts_in_stages(v, now))
			release_let_in(v, t, p);
	} else if (state == KAR_PG_STATE_SATISFIED && t->n_served) {
		release_planned(v, p);
	} else if ((state == KAR_PG_STATE_SATISFIED && start_singly(v, t)) ||
		state == KAR_PG_STATE_UNPLACED || (state == KAR_PG_STATE_NONE && starts_unplaced(v, t))) {
		release_let_in(v, t, p);
	}
}

/* --- why not --------------------------------------------------------------------------------------- */

static const char *describe_mixed(const struct podgroup_view *v, const struct podgroup_counts *t,
	struct kar_arena *arena)
{
	return kar_arena_printf(arena, "members name %d schedulers, a gang needs one: %s%s%s",
		(int)t->schedulers.n + (t->n_default > 0) + (t->n_served > 0),
		t->n_default ? KAR_DEFAULT_SCHEDULER ", " : "",
		t->schedulers.n ? t->schedulers.items[0].name : v->served,
		t->schedulers.n > 1 || (t->schedulers.n && t->n_served) ? ", ..." : "");
}

/* Condition Admitted, if it says why the group waits; NULL: it is admitted, or nobody has decided yet. */
static const struct kar_condition *refusal(const struct kar_podgroup *g)
{
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);

	return c && c->status == KAR_COND_FALSE ? c : NULL;
}

/* Those that exist would start, if there were room for all (spec.minResources). */
static bool lacks_more_than_members(const struct kar_podgroup *g)
{
	const struct kar_condition *c = refusal(g);

	return g->spec.has_min_resources && c && !kar_streq(c->reason, kar_reason_WaitingForMembers);
}

struct podgroup_text podgroup_refused_text(const struct kar_podgroup *g)
{
	const struct kar_condition *c = refusal(g);

	if (!c)
		return (struct podgroup_text){ NULL, NULL };
	return (struct podgroup_text){ c->reason, c->message };
}

/* NULL: there is none, or more than one. */
static const struct kar_pod *only_member(const struct podgroup_view *v)
{
	const struct kar_pod *only = NULL;

	for (size_t i = 0; i < v->n_pods; i++) {
		if (!kar_pod_alive(v->pods[i]))
			continue;
		if (only)
			return NULL;
		only = v->pods[i];
	}
	return only;
}

struct podgroup_text podgroup_gated_text(const struct podgroup_view *v, const struct podgroup_counts *t,
	struct kar_arena *arena)
{
	int32_t members = t->active + t->succeeded;

	if (!t->gated)
		return (struct podgroup_text){ NULL, NULL };
	if (is_mixed(t))
		return (struct podgroup_text){ kar_reason_MixedSchedulers, describe_mixed(v, t, arena) };
	if (members < t->quorum && !lacks_more_than_members(v->group))
		return (struct podgroup_text){ kar_reason_WaitingForMembers,
			kar_arena_printf(arena, "%d of %d members exist; none starts before all exist%s%s",
				(int)members, (int)t->quorum,
				v->group->spec.has_min_resources
					? " or no more come for 5s"
					: ", unless spec.minResources says what the rest needs",
				kar_pg_about_order(only_member(v), arena)) };
	if (members >= t->quorum && !can_all_start(t))
		return (struct podgroup_text){ kar_reason_ForeignGate,
			kar_arena_printf(arena, "%d of %d members can start; with gates of others: %s",
				(int)(on_the_way(t) + t->waiting), (int)t->quorum,
				podgroup_list(&t->held, arena)) };
	return podgroup_refused_text(v->group);
}
