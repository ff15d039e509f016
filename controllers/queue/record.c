/* The record of places in the status of a group: the plan of an attempt that begins. */
#include "controllers/queue/pass.h"

#include "api/pg_members.h"
#include "api/pg_plan.h"
#include "common/str.h"

/* After so many failures no node is named any more: what this one lacks is not modelled, or is taken by others faster. */
enum { FAILURES_WITH_PINS = 2 };

/* A node that cannot be promised is not named: the scheduler looks for one that suits in all that is not modelled. */
static bool is_named(const struct queue_gang *g, const struct kar_pg_placement *old, uint32_t role)
{
	if (g->backend == KAR_PG_BACKEND_NATIVE)
		return false;
	return g->direct || (old->failures < FAILURES_WITH_PINS && !(g->unverified && g->unverified[role]));
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
	return kar_pg_plan_text(seats, n, a);
}

/* Each pod of a group of another controller is a role of its own, because it exists. */
static void record_pods(const struct queue_gang *g, const struct kar_pg_placement *old,
	const struct kar_placement *places, struct kar_arena *a, struct kar_pg_placement *out)
{
	int32_t *used = kar_arena_alloc(a, g->n_runs + 1, sizeof(*used));

	for (uint32_t i = 0; i < places->n_places; i++) {
		const struct kar_place *p = &places->places[i];
		const struct kar_pg_seat seat = { is_named(g, old, p->role) ? p->node : "", 1 };
		const char *node = kar_pg_plan_text(&seat, 1, a);

		if (!g->pods[p->role])
			continue; /* it has its node */

		for (int32_t k = 0; k < p->n; k++) {
			out->plan = kar_arena_grow(a, out->plan, out->n_plan, sizeof(*out->plan));
			out->plan[out->n_plan++] =
				(struct kar_pg_planned){ g->pods[p->role][used[p->role]++], node };
		}
	}
}

static void record_roles(const struct queue_gang *g, const struct kar_pg_placement *old,
	const struct kar_placement *places, struct kar_arena *a, struct kar_pg_placement *out)
{
	out->plan = kar_arena_alloc(a, g->n_runs + 1, sizeof(*out->plan));
	for (uint32_t i = 0; i < g->n_runs; i++) {
		bool again = !g->tasks[i];

		for (size_t k = 0; k < out->n_plan && !again; k++)
			again = kar_streq(out->plan[k].role, g->tasks[i]);
		if (again)
			continue;
		const char *nodes = nodes_of_task(g, old, places, g->tasks[i], a);

		if (nodes[0])
			out->plan[out->n_plan++] = (struct kar_pg_planned){ g->tasks[i], nodes };
	}
}

struct kar_pg_placement queue_record_places(const struct queue_group *qg, const struct kar_placement *places,
	kar_time now, struct kar_arena *a)
{
	const struct kar_pg_placement *old = &qg->group->status.placement;
	const struct queue_gang *g = qg->gang;
	struct kar_pg_placement p = { .state = KAR_PG_STATE_PLACED,
		.attempt = old->attempt < INT32_MAX ? old->attempt + 1 : old->attempt,
		.failures = kar_pg_failures(old, now),
		.satisfied_member = kar_pg_of_others(qg->group) ? old->satisfied_member : 0,
		.time = now,
		.deadline = now + g->timeout,
		.evicted_by = "",
		.hold_ended_for = "",
		.requests = g->requests ? g->requests : "",
		.cause = kar_has_text(old->evicted_by) ? "" : old->cause };

	if (!places) {
		p.state = KAR_PG_STATE_UNPLACED;
		p.deadline = now + QUEUE_PROVISION_TIMEOUT;
		return p;
	}
	(g->pods ? record_pods : record_roles)(g, old, places, a, &p);
	return p;
}

struct kar_pg_placement queue_renew_pods(const struct queue_group *qg, const struct kar_placement *places,
	struct kar_arena *a)
{
	const struct queue_gang *g = qg->gang;
	struct kar_pg_placement p = qg->group->status.placement;

	p.plan = NULL;
	for (p.n_plan = 0; p.n_plan < g->n_kept; p.n_plan++) {
		p.plan = kar_arena_grow(a, p.plan, p.n_plan, sizeof(*p.plan));
		p.plan[p.n_plan] = g->kept[p.n_plan];
	}
	if (places)
		record_pods(g, &qg->group->status.placement, places, a, &p);
	return p;
}
