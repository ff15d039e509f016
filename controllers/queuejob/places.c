/*
 * Where the pods of a gang go, as its PodGroup says (status.placement, docs/design/podgroup.md 4). The job does not choose: it creates
 * pods for the places of a plan, pinned to them, and deletes them when the attempt is rolled back. A group that nobody places has pods
 * without a certain node. Pods that are created bound (Direct) always wait for a place: once the minimum is bound, the queue writes a
 * plan whenever one is missing.
 */
#include "controllers/queuejob/reconcile.h"

#include "common/base/str.h"

/* What the scheduler says of a pod may be older than what it knows of its node; it tries again within this time. */
static const kar_time STRANDED_AFTER = 30 * KAR_SECOND;

static const struct kar_pg_placement *placement(const struct queuejob_reconcile *r)
{
	static const struct kar_pg_placement none = { 0 };
	const struct kar_podgroup *g = queuejob_own_group(r);

	return g ? &g->status.placement : &none;
}

bool queuejob_has_places(const struct queuejob_reconcile *r)
{
	enum kar_pg_state s = placement(r)->state;

	return s != KAR_PG_STATE_WAITING && s != KAR_PG_STATE_ROLLING_BACK && s != KAR_PG_STATE_DEACTIVATED;
}

/* Pods of tasks that an edit has renamed or removed have no index, but run on until the edit is let in. */
static bool has_live_pods(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.surplus.n; i++) {
		if (kar_pod_alive(r->f->pods.surplus.items[i]))
			return true;
	}
	return queuejob_count_live(r) > 0;
}

bool queuejob_is_rolled_back(struct queuejob_reconcile *r)
{
	return !queuejob_has_places(r) && has_live_pods(r);
}

static bool is_live(const struct podset_slot *slot)
{
	return slot->state == PODSET_PENDING || slot->state == PODSET_RUNNING;
}

/* Notes the pods of task number @i that have no place in the repaired plan, which was written at @since. */
static void find_unplanned(struct queuejob_reconcile *r, size_t i, kar_time since)
{
	const struct podset_task *task = &r->f->pods.tasks[i];
	struct kar_pg_seats seats = kar_pg_plan_seats(placement(r), r->f->job->spec.tasks[i].name, r->arena);

	for (int unschedulable = 0; unschedulable < 2; unschedulable++) {
		for (int32_t k = 0; k < task->n; k++) {
			const struct podset_slot *slot = &task->slots[k];
			const char *node;

			if (!is_live(slot) || slot->pod->unschedulable != unschedulable)
				continue;
			node = slot->pod->pin ? slot->pod->pin : slot->pod->node;
			if (node && !kar_pg_seats_take(&seats, node))
				r->want.unplanned[slot->number] =
					unschedulable && slot->pod->creation <= since;
		}
	}
}

void queuejob_find_unplanned(struct queuejob_reconcile *r)
{
	const struct kar_pg_placement *p = placement(r);

	r->want.unplanned = NULL;
	if (p->state != KAR_PG_STATE_PLACED || !p->repairs)
		return;
	r->want.unplanned = kar_arena_alloc(r->arena, r->f->pods.n_slots, sizeof(*r->want.unplanned));
	for (size_t i = 0; i < r->f->pods.n_tasks; i++)
		find_unplanned(r, i, p->time);
}

bool queuejob_is_stranded(struct queuejob_reconcile *r, const struct podset_slot *slot)
{
	const struct kar_pg_placement *p = placement(r);
	kar_time left = p->time + STRANDED_AFTER - r->f->now;

	if (!slot || slot->state != PODSET_PENDING || !slot->pod->pin || !slot->pod->unschedulable)
		return false;
	if (p->state == KAR_PG_STATE_PLACED)
		return r->want.unplanned && r->want.unplanned[slot->number];
	if (p->state != KAR_PG_STATE_SATISFIED || slot->pod->creation > p->time)
		return false; /* one that is younger has its pin from its template */
	if (left <= 0 || left > STRANDED_AFTER)
		return true;
	kar_plan_requeue(r->p, left);
	return false;
}

bool queuejob_is_evicted(const struct queuejob_reconcile *r)
{
	return kar_has_text(placement(r)->evicted_by);
}

const char *queuejob_describe_next_place(const struct queuejob_reconcile *r)
{
	return placement(r)->state == KAR_PG_STATE_PLACED ? "the one that the plan names now" : "any node";
}

const char *queuejob_describe_roll_back(const struct queuejob_reconcile *r)
{
	const struct kar_pg_placement *p = placement(r);

	if (!p->cause || !p->cause[0])
		return "the gang has no places";
	if (queuejob_is_evicted(r))
		return p->cause;
	return kar_pg_failed_attempt(p, r->arena);
}

/* --- pins ------------------------------------------------------------------------------------------ */

/* The nodes of live pods are taken: of all, or (@since) of those that were created for this plan. */
static void take_used(struct kar_pg_seats *seats, const struct podset_task *task, kar_time since)
{
	for (int32_t k = 0; k < task->n; k++) {
		const struct podset_slot *slot = &task->slots[k];

		const char *node;

		if ((slot->state != PODSET_PENDING && slot->state != PODSET_RUNNING) ||
			slot->pod->creation < since)
			continue;
		node = slot->pod->pin ? slot->pod->pin : slot->pod->node;
		if (!node || !kar_pg_seats_take(seats, node))
			kar_pg_seats_take(seats, "");
	}
}

static bool has_free_seat(const struct kar_pg_seats *seats)
{
	bool any = false;

	for (size_t i = 0; i < seats->n; i++)
		any |= seats->items[i].n > 0;
	return any;
}

/* A pod of it stops, and the next one of its index has a place of the plan. */
static bool has_returning(const struct podset_task *task, const struct kar_pg_seats *seats)
{
	bool any = false;

	for (int32_t k = 0; k < task->n && !any; k++)
		any = task->slots[k].state == PODSET_LOST && task->slots[k].pod->deletion;
	return any && has_free_seat(seats);
}

struct kar_array queuejob_domain(const struct queuejob_reconcile *r, size_t task)
{
	const struct kar_pg_placement *p = placement(r);

	if (p->state != KAR_PG_STATE_PLACED && p->state != KAR_PG_STATE_UNPLACED &&
		p->state != KAR_PG_STATE_SATISFIED)
		return (struct kar_array){ 0 };
	return kar_pg_required_domain(p, r->f->job->spec.tasks[task].name, r->arena);
}

struct kar_flavor_terms queuejob_flavor(const struct queuejob_reconcile *r)
{
	const struct kar_flavor *f = r->f->v->flavor;

	return f ? kar_flavor_terms_copy(&f->terms, r->arena) : (struct kar_flavor_terms){ 0 };
}

/* Which rank each place is for, and which each pod has: of a plan for all pods that have not succeeded, before any place is taken. */
static void count_ranks(struct task_seats *t, const struct podset_task *task, struct kar_arena *a)
{
	int64_t seats = 0;
	int32_t rank = 0;

	t->start = kar_arena_alloc(a, t->seats.n + 1, sizeof(*t->start));
	for (size_t i = 0; i < t->seats.n; i++) {
		t->start[i] = seats;
		seats += t->seats.items[i].n;
	}
	t->rank = kar_arena_alloc(a, (size_t)task->n + 1, sizeof(*t->rank));
	for (int32_t k = 0; k < task->n; k++) {
		t->rank[k] = rank;
		rank += task->slots[k].state != PODSET_DONE && task->slots[k].state != PODSET_GIVEN_UP;
	}
}

struct pod_pins *pod_pins_new(const struct queuejob_reconcile *r)
{
	struct pod_pins *pins = kar_arena_alloc(r->arena, 1, sizeof(*pins));

	const struct kar_pg_placement *p = placement(r);

	pins->bound = r->f->v->direct;
	pins->planned = pins->bound || p->state == KAR_PG_STATE_PLACED;
	pins->tasks = kar_arena_alloc(r->arena, r->f->pods.n_tasks, sizeof(*pins->tasks));
	for (size_t i = 0; i < r->f->pods.n_tasks && pins->planned; i++) {
		struct task_seats *t = &pins->tasks[i];

		t->seats = kar_pg_plan_seats(p, r->f->job->spec.tasks[i].name, r->arena);
		if (p->state == KAR_PG_STATE_PLACED)
			count_ranks(t, &r->f->pods.tasks[i], r->arena);
		take_used(&t->seats, &r->f->pods.tasks[i], p->state == KAR_PG_STATE_PLACED ? 0 : p->time);
		pins->returning |= has_returning(&r->f->pods.tasks[i], &t->seats);
	}
	return pins;
}

/* The place for the pod of this index; NULL: it has none, or another pod is there. */
static struct kar_pg_seat *seat_of_rank(const struct task_seats *t, int32_t index)
{
	size_t low = 0, high = t->seats.n;

	if (!t->start)
		return NULL;
	while (low < high) { /* the last one that begins at or before its rank */
		size_t middle = low + (high - low) / 2;

		if (t->start[middle] <= t->rank[index])
			low = middle + 1;
		else
			high = middle;
	}
	return low && t->seats.items[low - 1].n ? &t->seats.items[low - 1] : NULL;
}

/* The first place that no pod has; NULL: there is none. */
static struct kar_pg_seat *first_free(struct task_seats *t)
{
	while (t->first < t->seats.n && !t->seats.items[t->first].n)
		t->first++;
	return t->first < t->seats.n ? &t->seats.items[t->first] : NULL;
}

bool queuejob_next_pin(struct pod_pins *pins, size_t task, int32_t index, bool minimum, const char **pin)
{
	struct task_seats *t = &pins->tasks[task];
	struct kar_pg_seat *seat = seat_of_rank(t, index);

	if (!seat)
		seat = first_free(t);
	while (seat && pins->bound && !seat->node[0]) {
		seat->n = 0; /* it needs a certain node */
		seat = first_free(t);
	}
	if (seat) {
		seat->n--;
		*pin = seat->node;
		return true;
	}
	*pin = "";
	return !pins->bound && ((minimum && !pins->returning) || !pins->planned);
}
