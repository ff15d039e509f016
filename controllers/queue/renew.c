/* The record of a gang whose pods are created bound, and of which some lack a place: its plan with places added. */
#include <assert.h>

#include "controllers/queue/pass.h"

#include "api/podgroup/pg_plan.h"
#include "common/base/str.h"

/* ms in which nothing is placed after places were held in vain, because of a quota for example. */
static const kar_time PAUSE = KAR_MINUTE;

/* The nodes of the role: those of the plan as it is, if it stays, and those of @places. */
static const char *nodes_of(const struct queue_group *qg, const char *role,
	const struct kar_placement *places, struct kar_arena *a)
{
	const struct queue_gang *g = qg->gang;
	size_t n_places = places ? places->n_places : 0, n = 0;
	struct kar_pg_seats old = { 0 };
	struct kar_pg_seat *seats;

	if (g->keeps_plan)
		old = kar_pg_plan_seats(&qg->group->status.placement, role, a);
	seats = kar_arena_alloc(a, old.n + n_places + 1, sizeof(*seats));
	for (; n < old.n; n++)
		seats[n] = old.items[n];
	for (size_t i = 0; i < n_places; i++) {
		const struct kar_place *p = &places->places[i];

		if (kar_streq(g->tasks[p->role], role))
			seats[n++] = (struct kar_pg_seat){ p->node, p->n };
	}
	return queue_seats_text(g, seats, n, a);
}

static bool has_role(const struct kar_pg_roles *plan, const char *role)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (kar_streq(plan->items[i].role, role))
			return true;
	}
	return false;
}

static void add_role(struct kar_pg_roles *plan, const struct queue_group *qg, const char *role,
	const struct kar_placement *places, struct kar_arena *a)
{
	const char *nodes = has_role(plan, role) ? "" : nodes_of(qg, role, places, a);

	if (nodes[0])
		plan->items[plan->n++] = (struct kar_pg_planned){ role, nodes };
}

bool queue_lacks_places(const struct queue_group *qg, const struct kar_queue_decision *d)
{
	return qg->gang->waits ? qg->group->status.placement.deadline != 0 : d->lacks;
}

static struct kar_pg_roles plan_of_tasks(const struct queue_group *qg, const struct kar_placement *places,
	struct kar_arena *a)
{
	const struct kar_pg_placement *old = &qg->group->status.placement;
	const struct queue_gang *g = qg->gang;
	uint32_t n_roles = places ? g->n_runs : 0;
	struct kar_pg_roles plan = { .items = kar_arena_alloc(a, old->n_plan + n_roles + 1,
					     sizeof(*plan.items)) };

	for (size_t i = 0; i < old->n_plan; i++)
		add_role(&plan, qg, old->plan[i].role, places, a);
	for (uint32_t i = 0; i < n_roles; i++) {
		if (g->tasks[i])
			add_role(&plan, qg, g->tasks[i], places, a);
	}
	return plan;
}

struct kar_pg_placement queue_renew_places(const struct queue_group *qg, const struct kar_queue_decision *d,
	kar_time now, struct kar_arena *a)
{
	const struct kar_pg_placement *old = &qg->group->status.placement;
	const struct queue_gang *g = qg->gang;
	struct kar_pg_renewal r = { .deadline = old->deadline };

	assert(qg->admitted && g->renews);
	if (g->pods) {
		r.plan = queue_plan_of_pods(qg, d->places, a);
		return kar_pg_renew(old, &r, now);
	}
	r.plan = plan_of_tasks(qg, d->places, a);
	r.begins = (d->places || g->ends_plan) && !g->keeps_plan;
	if (!queue_lacks_places(qg, d))
		r.deadline = 0;
	else if (!r.deadline)
		r.deadline = now + g->timeout;
	r.pause = g->expired ? PAUSE : 0;
	return kar_pg_renew(old, &r, now);
}
