/* The queues as the pass sees them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "controllers/cluster/asked.h"
#include "controllers/cluster/owner.h"
#include "controllers/queue/pass.h"

enum { MEASURED = 256 }; /* run times of finished jobs per queue that count for its median */

static int compare_queues(const void *a, const void *b)
{
	const struct kar_queue *const *x = a, *const *y = b;

	return strcmp((*x)->o.name, (*y)->o.name);
}

/* Why it admits nothing at all; NULL: it may. */
static const char *problem_of(const struct kar_queue *q, struct kar_arena *a)
{
	if (q->o.unreadable)
		return "it has a field that kar-controllers cannot read (see its events)";
	if (q->spec.namespaces_problem)
		return kar_arena_printf(a, "its namespaceSelector: %s", q->spec.namespaces_problem);
	return NULL;
}

static struct kar_queue_in observe_queue(const struct kar_queue *q, struct kar_arena *a)
{
	const struct kar_queue_spec *s = &q->spec;

	return (struct kar_queue_in){
		.name = q->o.name,
		.parent = s->parent,
		.parent_in_force = kar_has_text(q->status.parent) ? q->status.parent : NULL,
		.deleting = q->deletion != 0,
		.closed = s->state != KAR_QUEUE_STATE_OPEN,
		.drain = s->drain,
		.problem = problem_of(q, a),
		.weight = s->weight,
		.deserved = s->deserved,
		.guarantee = s->guarantee,
		.capability = s->capability,
		.max_jobs = s->has_max_jobs ? s->max_jobs : 0,
		.not_reclaimable = s->never_reclaimed,
		.strict = kar_streq(s->queueing_strategy, "StrictFIFO"),
		.preempts = s->preempts,
		.provisions = s->provisions,
		.reserved_for = KAR_QUEUE_NONE,
	};
}

void queue_observe_queues(struct queue_pass *p)
{
	const struct kar_store *store = p->stores->queues;
	struct kar_arena *a = p->arena;
	const struct kar_object *o;

	p->queues = kar_arena_alloc(a, kar_store_count(store) + 1, sizeof(struct kar_queue *));
	for (struct kar_iter it = kar_store_all(store); kar_iter_next(&it, &o);)
		p->queues[p->n_queues++] = kar_as_queue(o);
	if (p->n_queues)
		qsort(p->queues, p->n_queues, sizeof(struct kar_queue *), compare_queues);
	p->queue_in = kar_arena_alloc(a, p->n_queues + 1, sizeof(*p->queue_in));
	for (uint32_t i = 0; i < p->n_queues; i++)
		p->queue_in[i] = observe_queue(p->queues[i], a);
	for (uint32_t i = 0; i < p->n_queues; i++)
		queue_observe_history(p, i, &p->queue_in[i]);
	p->snapshot.queues = p->queue_in;
	p->snapshot.n_queues = p->n_queues;
	queue_observe_flavors(p);
}

bool queue_comes_by_itself(const struct queue_pass *p, const char *queue)
{
	return !p->queues_are_read_only && kar_streq(queue, KAR_DEFAULT_QUEUE) &&
		kar_streq(kar_stores_default_queue(p->stores), KAR_DEFAULT_QUEUE) &&
		!kar_store_get(p->stores->queues, NULL, KAR_DEFAULT_QUEUE);
}

/* --- finished groups -------------------------------------------------------------------------------- */

/* Run times of the jobs of one queue, in seconds. */
struct times {
	int64_t *items;
	int32_t n;
};

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void measure(struct queue_pass *p, const struct kar_podgroup *g, struct times *t)
{
	const struct kar_object *owner = queue_owner_of(p->stores, g);
	const struct kar_workload w = kar_owner_describe(owner);

	if (!w.completed_at || !w.started_at || w.completed_at < w.started_at)
		return;
	if (!t->items)
		t->items = kar_arena_alloc(p->arena, MEASURED, sizeof(*t->items));
	assert(t->n < MEASURED);
	t->items[t->n++] = (w.completed_at - w.started_at) / KAR_SECOND;
}

void queue_observe_finished(struct queue_pass *p, const struct kar_podgroup *const *finished, size_t n)
{
	struct times *times = kar_arena_alloc(p->arena, p->n_queues + 1, sizeof(*times));

	for (size_t i = 0; i < n; i++) {
		uint32_t queue = queue_named(p, kar_asked_queue(p->stores, finished[i]).queue);

		if (queue == KAR_QUEUE_NONE)
			continue;
		p->queue_in[queue].completed++;
		if (times[queue].n < MEASURED)
			measure(p, finished[i], &times[queue]);
	}
	for (uint32_t i = 0; i < p->n_queues; i++) {
		struct times *t = &times[i];

		if (!t->n)
			continue;
		qsort(t->items, (size_t)t->n, sizeof(*t->items), compare_times);
		p->queue_in[i].n_run_times = t->n;
		p->queue_in[i].median_seconds = t->items[t->n / 2];
	}
}

/* --- reservations ----------------------------------------------------------------------------------- */

static bool has_uid(const struct queue_pass *p, uint32_t group, const char *uid)
{
	return kar_streq(p->groups[group].group->o.uid, uid);
}

void queue_finish_queues(struct queue_pass *p)
{
	for (uint32_t i = 0; i < p->n_queues; i++) {
		const struct kar_queue_reservation *r = &p->queues[i]->status.reservation;

		for (uint32_t k = 0; kar_has_text(r->uid) && k < p->n_groups; k++) {
			if (!has_uid(p, k, r->uid))
				continue;
			p->queue_in[i].reserved_for = k;
			break;
		}
		p->queue_in[i].reserved_since = r->since;
		p->queue_in[i].reserved_until = r->until;
		p->queue_in[i].reserved_start = r->start;
		p->queue_in[i].reserved_pods = r->pods;
		p->queue_in[i].reserved_gathered = r->gathered;
	}
}
