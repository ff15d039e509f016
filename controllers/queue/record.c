/* The record of places in the status of a group: the plan of an attempt that begins. */
#include <assert.h>

#include "controllers/queue/pass.h"

#include "api/podgroup/pg_members.h"
#include "api/podgroup/pg_plan.h"
#include "common/base/str.h"

/* After so many failures no node is named any more: what this one lacks is not modelled, or is taken by others faster. */
enum { FAILURES_WITH_PINS = 2 };

/* A node that cannot be promised is not named: the scheduler looks for one that suits in all that is not modelled. */
static bool is_named(const struct queue_gang *g, const struct kar_pg_placement *old, uint32_t role)
{
	if (g->backend == KAR_PG_BACKEND_NATIVE)
		return false;
	return g->direct || (old->failures < FAILURES_WITH_PINS && !(g->unverified && g->unverified[role]));
}

const char *queue_seats_text(const struct queue_gang *g, struct kar_pg_seat *seats, size_t n,
	struct kar_arena *a)
{
	if (!g->in_order)
		kar_pg_seats_sort(seats, n);
	return kar_pg_plan_text(seats, n, a);
}

static const char *nodes_of_task(const struct queue_gang *g, const struct kar_pg_placement *old,
	const struct kar_placement *places, const char *task, struct kar_arena *a)
{
	struct kar_pg_seat *seats = kar_arena_alloc(a, places->n_places + 1, sizeof(*seats));
	size_t n = 0;

	for (uint32_t i = 0; i < places->n_places; i++) {
		const struct kar_place *p = &places->places[i];

		if (kar_streq(g->tasks[p->role], task))
			seats[n++] = (struct kar_pg_seat){ is_named(g, old, p->role) ? p->node : "", p->n };
	}
	return queue_seats_text(g, seats, n, a);
}

static void add(struct kar_pg_roles *to, const char *role, const char *nodes, struct kar_arena *a)
{
	to->items = kar_arena_grow(a, to->items, to->n, sizeof(*to->items));
	to->items[to->n++] = (struct kar_pg_planned){ role, nodes };
}

/* Each pod of a group of another controller is a role of its own, because it exists. */
static void add_pods(struct kar_pg_roles *to, const struct queue_gang *g, const struct kar_pg_placement *old,
	const struct kar_placement *places, struct kar_arena *a)
{
	int32_t *used = kar_arena_alloc(a, g->n_runs + 1, sizeof(*used));

	for (uint32_t i = 0; i < places->n_places; i++) {
		const struct kar_place *p = &places->places[i];
		const struct kar_pg_seat seat = { is_named(g, old, p->role) ? p->node : "", 1 };
		const char *node = kar_pg_plan_text(&seat, 1, a);

		if (!g->pods[p->role])
			continue; /* it has its node */
		for (int32_t k = 0; k < p->n; k++)
			add(to, g->pods[p->role][used[p->role]++], node, a);
	}
}

static void add_tasks(struct kar_pg_roles *to, const struct queue_gang *g, const struct kar_pg_placement *old,
	const struct kar_placement *places, struct kar_arena *a)
{
	for (uint32_t i = 0; i < g->n_runs; i++) {
		bool again = !g->tasks[i];

		for (size_t k = 0; k < to->n && !again; k++)
			again = kar_streq(to->items[k].role, g->tasks[i]);
		if (again)
			continue;
		const char *nodes = nodes_of_task(g, old, places, g->tasks[i], a);

		if (nodes[0])
			add(to, g->tasks[i], nodes, a);
	}
}

struct kar_pg_placement queue_record_places(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_placement *places, kar_time now)
{
	struct kar_arena *a = p->arena;
	const struct kar_pg_placement *old = &qg->group->status.placement;
	const struct queue_gang *g = qg->gang;
	struct kar_pg_beginning begins = { .placed = places,
		.of_others = kar_pg_of_others(qg->group),
		.deadline = now + (places ? g->timeout : QUEUE_PROVISION_TIMEOUT),
		.requests = g->requests ? g->requests : "" };

	assert(now % KAR_SECOND == 0);
	if (places) {
		(g->pods ? add_pods : add_tasks)(&begins.plan, g, old, places, a);
		begins.n_domains = queue_domains_of(p, (uint32_t)(qg - p->groups), places, &begins.domains);
	}
	return kar_pg_begin(old, &begins, now);
}

struct kar_pg_roles queue_plan_of_pods(const struct queue_group *qg, const struct kar_placement *places,
	struct kar_arena *a)
{
	const struct queue_gang *g = qg->gang;
	struct kar_pg_roles plan = { 0 };

	assert(g->pods);
	for (size_t i = 0; i < g->n_kept; i++)
		add(&plan, g->kept[i].role, g->kept[i].nodes, a);
	if (places)
		add_pods(&plan, g, &qg->group->status.placement, places, a);
	return plan;
}
