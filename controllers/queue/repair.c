/*
 * Members of a gang that is being started, stuck on their nodes because others have taken these since: they alone get other nodes, if there is
 * room for all of them; those that are bound stay. The plan then names the new nodes; who owns the members replaces those that are pinned to the old ones.
 */
#include <assert.h>
#include <string.h>

#include "controllers/queue/next.h"
#include "controllers/queue/pass.h"

#include "api/podgroup/pg_members.h"
#include "api/podgroup/pg_plan.h"
#include "common/base/str.h"

bool queue_is_stuck(struct queue_pass *p, const struct kar_podgroup *g, const struct kar_pod *pod)
{
	kar_time left =
		g->status.placement.repairs < KAR_PG_REPAIRS ? kar_pg_stuck_in(g, pod, p->now) : KAR_NEVER;

	if (left != KAR_NEVER)
		queue_come_again(p, left);
	return left <= 0;
}

void queue_keep_plan(struct queue_gang *g, const struct kar_pg_placement *plan, struct kar_arena *a)
{
	g->n_kept = plan->n_plan;
	g->kept = kar_arena_alloc(a, plan->n_plan + 1, sizeof(*g->kept));
	if (plan->n_plan)
		memcpy(g->kept, plan->plan, plan->n_plan * sizeof(*g->kept));
}

void queue_keep_role(struct queue_gang *g, const char *role, const char *nodes)
{
	for (size_t i = 0; i < g->n_kept; i++) {
		if (kar_streq(g->kept[i].role, role))
			g->kept[i].nodes = nodes;
	}
	g->repairs = g->stuck = true;
}

static int32_t pods_of(const struct kar_pg_seats *s)
{
	int32_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->items[i].n;
	return n;
}

/* The nodes of the role: those that stay, and as many of @places as it lacks; NULL: there are not so many. */
static const char *nodes_of(const struct queue_group *qg, const struct kar_pg_planned *kept,
	const struct kar_placement *places, struct kar_arena *a)
{
	const struct queue_gang *g = qg->gang;
	const struct kar_pg_placement rest = { .plan = (struct kar_pg_planned[]){ *kept }, .n_plan = 1 };
	struct kar_pg_seats old = kar_pg_plan_seats(&qg->group->status.placement, kept->role, a);
	struct kar_pg_seats new = kar_pg_plan_seats(&rest, kept->role, a);
	int32_t missing = pods_of(&old) - pods_of(&new);
	struct kar_pg_seat *seats = kar_arena_alloc(a, new.n + places->n_places + 1, sizeof(*seats));
	size_t n = 0;

	for (; n < new.n; n++)
		seats[n] = new.items[n];
	for (uint32_t i = 0; i < places->n_places && missing > 0; i++) {
		const struct kar_place *p = &places->places[i];
		int32_t taken = p->n < missing ? p->n : missing;

		if (!g->tasks[p->role] || !kar_streq(g->tasks[p->role], kept->role))
			continue;
		seats[n++] = (struct kar_pg_seat){ p->node, taken };
		missing -= taken;
	}
	return missing ? NULL : kar_pg_plan_text(seats, n, a);
}

/* False: pods that are stuck have no place. */
static bool repair_roles(const struct queue_group *qg, const struct kar_placement *places,
	struct kar_arena *a, struct kar_pg_roles *plan)
{
	const struct queue_gang *g = qg->gang;

	plan->items = kar_arena_alloc(a, g->n_kept + 1, sizeof(*plan->items));
	for (size_t i = 0; i < g->n_kept; i++) {
		const char *nodes = nodes_of(qg, &g->kept[i], places, a);

		if (!nodes)
			return false;
		if (nodes[0])
			plan->items[plan->n++] = (struct kar_pg_planned){ g->kept[i].role, nodes };
	}
	return true;
}

static bool has_entry(const struct kar_pg_roles *plan, const struct kar_pg_planned *wanted)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (kar_streq(plan->items[i].role, wanted->role))
			return kar_streq(plan->items[i].nodes, wanted->nodes);
	}
	return false;
}

/* The order of roles tells nothing. */
static bool is_same_plan(const struct kar_pg_roles *plan, const struct kar_pg_placement *old)
{
	bool same = plan->n == old->n_plan;

	for (size_t i = 0; i < old->n_plan && same; i++)
		same = has_entry(plan, &old->plan[i]);
	return same;
}

bool queue_repairs_plan(const struct queue_group *qg, const struct kar_queue_decision *d, kar_time now,
	struct kar_arena *a, struct kar_pg_placement *out)
{
	const struct kar_pg_placement *old = &qg->group->status.placement;
	const struct queue_gang *g = qg->gang;
	struct kar_pg_renewal r = { .deadline = old->deadline };

	if (!queue_is_admitted(d) || !qg->admitted || !g || !g->repairs || d->lacks || !d->places)
		return false;
	assert(!g->renews); /* an attempt that goes on, not a gang that runs */
	if (g->pods)
		r.plan = queue_plan_of_pods(qg, d->places, a);
	else if (!repair_roles(qg, d->places, a, &r.plan))
		return false;
	*out = g->stuck ? kar_pg_repair(old, r.plan, now) : kar_pg_renew(old, &r, now);
	return !is_same_plan(&r.plan, old);
}
