/* Where the pods of a workload are, and where those that it lacks are to be. */
#include <assert.h>

#include "controllers/queue/making.h"

#include "api/names.h"
#include "api/podgroup/pg_members.h"
#include "api/podgroup/pg_plan.h"
#include "api/status/intervals.h"
#include "common/base/str.h"

/* --- where they are --------------------------------------------------------------------------------- */

void queue_let_go(struct making *m, size_t role)
{
	struct queue_seats *s = &m->seats[role];

	for (uint32_t i = 0; i < s->n; i++) {
		for (int32_t left = s->items[i].bound ? s->items[i].n : 0; left > 0;) {
			const struct stored_pods pods = queue_next_pods(m, role, left);

			queue_leaving_add(&m->runs,
				&(struct kar_queue_leaving){ .node = s->items[i].node,
					.class = pods.class,
					.n = pods.n },
				pods.charges);
			left -= pods.n;
		}
	}
	s->n = 0;
}

static void seat(struct making *m, size_t role, struct queue_seats *seats)
{
	for (uint32_t i = 0; i < m->runs.n; i++) {
		if (m->role_of[i] == role)
			queue_run_seat(&m->runs, i, seats);
	}
}

void queue_seat_bound(struct making *m)
{
	for (size_t i = 0; i < m->roles.n; i++) {
		seat(m, i, &m->seats[i]);
		queue_let_go(m, i);
	}
}

/* The places of pods of the role that are stuck are those of @planned no longer, and the plan is to have others in their stead. */
static void unseat_stuck(struct making *m, size_t role, struct kar_pg_seats *planned, struct queue_gang *out)
{
	const char *name = m->roles.items[role].name;
	struct kar_pg_seats kept = kar_pg_plan_seats(&m->group->status.placement, name, m->arena);
	const struct kar_object *o;
	bool any = false;

	for (struct kar_iter it = queue_pods_of(m); planned->n && kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (pod->node || !kar_pod_alive(pod) || !queue_is_stuck(m->p, m->group, pod) ||
			queue_role_of(m, pod) != role || !kar_pg_seats_take(planned, pod->pin))
			continue;
		kar_pg_seats_take(&kept, pod->pin);
		any = true;
	}
	if (any)
		queue_keep_role(out, name, kar_pg_plan_text(kept.items, kept.n, m->arena));
}

void queue_seat_planned(struct making *m, struct queue_gang *out)
{
	const struct kar_pg_placement *plan = &m->group->status.placement;
	const struct kar_object *o;

	assert(plan->state == KAR_PG_STATE_PLACED);
	queue_keep_plan(out, plan, m->arena);
	for (size_t i = 0; i < m->roles.n; i++) {
		struct kar_pg_seats planned = kar_pg_plan_seats(plan, m->roles.items[i].name, m->arena);
		struct queue_seats seats = { 0 };

		for (struct kar_iter it = queue_pods_of(m); planned.n && kar_iter_next(&it, &o);) {
			const struct kar_pod *pod = kar_as_pod(o);

			if (pod->node && queue_role_of(m, pod) == i &&
				!kar_pg_seats_take(&planned, pod->node))
				kar_pg_seats_take(&planned, ""); /* it has its place now, or had it */
		}
		unseat_stuck(m, i, &planned, out);
		for (size_t k = 0; k < planned.n; k++) {
			if (planned.items[k].n && planned.items[k].node[0])
				queue_seat_add(&seats, planned.items[k].node, planned.items[k].n, false,
					plan->time, m->arena);
		}
		seat(m, i, &seats);
	}
	m->in->replaces = m->in->at_once = out->repairs;
}

void queue_seat_nowhere(struct making *m)
{
	for (uint32_t i = 0; i < m->runs.n; i++) {
		struct queue_seats seats = { 0 };

		queue_seat_add(&seats, NULL, queue_run_unseated(&m->runs, i), false, 0, m->arena);
		queue_run_seat(&m->runs, i, &seats);
	}
}

/* --- what a gang of bound pods lacks ---------------------------------------------------------------- */

/* ms for which places are held for pods that nobody creates. */
static const kar_time RENEWED_STAYS = 30 * KAR_SECOND;
/* ms until it is looked again whether a pod of somebody else still has the name of one that is missing. */
static const kar_time LOOK_AGAIN = 30 * KAR_SECOND;

/*
 * A pod that has failed stays until its back-off is over, and one of somebody else may have the name: for that pod no room is kept. One that has
 * succeeded is not made again, though the job may not have recorded that yet. Until then its room is kept where it was, for the next
 * index. Returns whether the name is taken in the way that is asked for, and *@node is where.
 */
static bool name_is_taken(const struct making *m, size_t role, int32_t index, bool succeeded,
	const char **node)
{
	char name[KAR_POD_NAME_LEN];
	const struct kar_object *o;
	const struct kar_pod *pod;

	m->kind->pod_name(m->owner, role, index, name);
	o = kar_store_get(m->p->stores->pods, m->owner->ns, name);
	if (!o)
		return false;
	pod = kar_as_pod(o);
	if (kar_streq(pod->owner_uid, m->owner->uid)) {
		*node = succeeded ? pod->node : NULL;
		return succeeded ? pod->phase == KAR_POD_SUCCEEDED
				 : pod->phase == KAR_POD_FAILED && !pod->deletion;
	}
	*node = NULL;
	if (!succeeded)
		queue_come_again(m->p, LOOK_AGAIN);
	return !succeeded;
}

/* Seats of pods that are missing, and whose names are taken by one that has succeeded, or in another way. */
static void seat_taken(struct making *m, bool succeeded)
{
	for (size_t i = 0; i < m->roles.n; i++) {
		struct kar_intervals done = { 0 }, failed = { 0 };
		const struct kar_workload_role *r = &m->roles.items[i];
		struct queue_seats seats = { 0 };
		const char *node;

		if (r->n_done)
			kar_intervals_parse(r->done, m->arena, &done);
		if (r->n_failed)
			kar_intervals_parse(r->failed, m->arena, &failed);
		for (int32_t k = 0; k < r->replicas; k++) {
			if (!kar_intervals_has(&done, k) && !kar_intervals_has(&failed, k) &&
				name_is_taken(m, i, k, succeeded, &node))
				queue_seat_add(&seats, node, 1, false, 0, m->arena);
		}
		seat(m, i, &seats);
	}
}

/* Places of the plan for which no pod was created since it was written. Returns how many are of use. */
static int64_t seat_rest(struct making *m)
{
	const struct kar_pg_placement *plan = &m->group->status.placement;
	const struct kar_object *o;
	int64_t used = 0;

	for (size_t i = 0; i < m->roles.n; i++) {
		struct kar_pg_seats planned = kar_pg_plan_seats(plan, m->roles.items[i].name, m->arena);
		struct queue_seats seats = { 0 };

		for (struct kar_iter it = queue_pods_of(m); planned.n && kar_iter_next(&it, &o);) {
			const struct kar_pod *pod = kar_as_pod(o);

			if (pod->node && pod->creation >= plan->time && queue_role_of(m, pod) == i)
				kar_pg_seats_take(&planned, pod->node);
		}
		for (size_t k = 0; k < planned.n; k++) {
			if (!planned.items[k].node[0])
				continue;
			queue_seat_add(&seats, planned.items[k].node, planned.items[k].n, false, plan->time,
				m->arena);
			used += planned.items[k].n;
		}
		seat(m, i, &seats);
		for (uint32_t k = 0; k < seats.n; k++)
			used -= seats.items[k].n;
	}
	return used;
}

static void unseat_planned(struct making *m)
{
	for (uint32_t i = 0; i < m->runs.n; i++) {
		struct kar_queue_run *run = &m->runs.items[i];
		struct queue_seats rest = { 0 };

		for (uint32_t k = 0; k < run->n_seats; k++) {
			const struct kar_queue_seat *s = &run->seats[k];

			if (s->bound || !s->node)
				queue_seat_add(&rest, s->node, s->n, s->bound, s->created, m->arena);
		}
		run->seats = rest.items;
		run->n_seats = rest.n;
	}
}

/* A plan is younger than all pods that were there before it: so its time tells which pods were created for it. */
void queue_renew_plan(struct making *m, struct queue_gang *out)
{
	const struct kar_pg_placement *plan = &m->group->status.placement;
	kar_time now = m->p->now, age = now - plan->time, retry_in = plan->retry_after - now;

	assert(out->direct && plan->state == KAR_PG_STATE_SATISFIED);
	out->renews = true;
	/*
	 * No pod can be created from an impossible template; somebody edits it, or the check of it succeeds. Nor for a job that asks for another queue
	 * than the one on whose account the group is, as long as pods of a former job run on there.
	 */
	out->waits = retry_in > 0 || m->qg->next || m->qg->workload->unusable;
	seat_taken(m, false);
	out->keeps_plan = seat_rest(m) > 0;
	out->expired = out->keeps_plan && age > RENEWED_STAYS;
	if (out->expired || (plan->n_plan && !out->keeps_plan)) {
		unseat_planned(m);
		out->keeps_plan = false;
		out->ends_plan = true;
	} else if (out->keeps_plan) {
		queue_come_again(m->p, RENEWED_STAYS + KAR_SECOND - age);
	}
	if (!out->keeps_plan && m->youngest >= now - now % KAR_SECOND && m->youngest < now + RENEWED_STAYS) {
		queue_come_again(m->p, m->youngest + KAR_SECOND - now);
		out->waits = true;
	}
	seat_taken(m, true);
	assert(!(out->keeps_plan && out->ends_plan));
	m->in->replaces = !out->waits && !out->expired;
	if (!m->in->replaces)
		queue_seat_nowhere(m);
}
