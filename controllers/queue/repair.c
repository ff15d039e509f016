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

/* The places that a repair has found, as they are given away. */
struct new_places {
	const struct kar_placement *all;
	uint32_t at;  /* the first that may have some left */
	int32_t used; /* of it */
};

/* The next place of the role, for at most @most pods; .n 0: there is none. */
static struct kar_pg_seat next_place(const struct queue_gang *g, struct new_places *from, const char *role,
	int32_t most)
{
	for (; from->at < from->all->n_places; from->at++, from->used = 0) {
		const struct kar_place *p = &from->all->places[from->at];
		bool ours = g->tasks[p->role] && kar_streq(g->tasks[p->role], role);
		int32_t n = p->n - from->used < most ? p->n - from->used : most;

		if (!ours || n <= 0)
			continue;
		from->used += n;
		return (struct kar_pg_seat){ p->node, n };
	}
	return (struct kar_pg_seat){ 0 };
}

/*
 * The nodes of the role: those that stay, and as many of @places as it lacks, each where the place was that is lost: other pods keep their
 * ranks. NULL: there are not so many.
 */
static const char *nodes_of(const struct queue_group *qg, const struct kar_pg_planned *kept,
	const struct kar_placement *places, struct kar_arena *a)
{
	const struct kar_pg_placement rest = { .plan = (struct kar_pg_planned[]){ *kept }, .n_plan = 1 };
	struct kar_pg_seats old = kar_pg_plan_seats(&qg->group->status.placement, kept->role, a);
	struct kar_pg_seats stay = kar_pg_plan_seats(&rest, kept->role, a);
	struct kar_pg_seat *seats = kar_arena_alloc(a, 2 * old.n + places->n_places + 1, sizeof(*seats));
	struct new_places from = { .all = places };
	size_t n = 0;

	for (size_t i = 0; i < old.n; i++) {
		int32_t missing = old.items[i].n;

		while (missing > 0 && kar_pg_seats_take(&stay, old.items[i].node))
			missing--;
		seats[n++] = (struct kar_pg_seat){ old.items[i].node, old.items[i].n - missing };
		while (missing > 0) {
			seats[n] = next_place(qg->gang, &from, kept->role, missing);
			if (!seats[n].n)
				return NULL;
			missing -= seats[n++].n;
		}
	}
	return queue_seats_text(qg->gang, seats, n, a);
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
