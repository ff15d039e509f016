/*
 * What the nodes offer together, and what pods use of it that belong to no group of the pass (docs/design/queue.md, 3).
 *
 * How many pods of each kind there are is kept (controllers/cluster/capacity.h), and what belongs to groups is taken off: so a pod is in exactly
 * one of the two.
 */
#include "controllers/queue/pass.h"

#include <assert.h>
#include <string.h>

#include "common/base/str.h"
#include "common/codec/quantity.h"

struct amounts {
	struct kar_sched_amount items[KAR_SCHED_RESOURCES];
	uint32_t n;
};

/* Pods on usable nodes that are in no group, by class, and the devices of claims that are of no pod of a group. */
struct queue_sums {
	int64_t *on_nodes;
	kar_class n;
	struct amounts devices;
};

static void grow(struct queue_pass *p, kar_class class)
{
	struct queue_sums *q = p->sums;
	kar_class n = 2 * class + 64;
	int64_t *all = kar_arena_alloc(p->arena, n, sizeof(*all));

	if (q->n)
		memcpy(all, q->on_nodes, q->n * sizeof(*all));
	q->on_nodes = all;
	q->n = n;
}

static void add(struct queue_pass *p, kar_class class, int64_t n)
{
	if (class >= p->sums->n)
		grow(p, class);
	p->sums->on_nodes[class] += n;
}

static void add_amount(struct amounts *s, const char *resource, int64_t each, int64_t n)
{
	uint32_t i = 0;
	int64_t amount;

	while (i < s->n && !kar_streq(s->items[i].resource, resource))
		i++;
	if (i == KAR_SCHED_RESOURCES)
		return; /* as the placement engine, which knows no more resources */
	if (i == s->n)
		s->items[s->n++] = (struct kar_sched_amount){ .resource = resource };
	if (__builtin_mul_overflow(each, n, &amount) ||
		__builtin_add_overflow(s->items[i].amount, amount, &s->items[i].amount))
		s->items[i].amount = INT64_MAX;
}

/* What it has by claims is in what its group needs of nodes (kar_needs_class_of_pod()). */
static void own_devices(struct queue_pass *p, const struct kar_pod *pod)
{
	struct kar_sched_amount *all;
	uint32_t n = kar_devices_claimed_by(p->stores->devices, pod->o.uid, p->arena, &all);

	for (uint32_t i = 0; i < n; i++)
		add_amount(&p->sums->devices, all[i].resource, all[i].amount, -1);
}

void queue_owns(struct queue_pass *p, const struct kar_pod *pod)
{
	if (!p->nodes || kar_capacity_use(p->stores->capacity, pod) != KAR_CAPACITY_ON_NODE)
		return;
	add(p, kar_snapshot_class_of(p->nodes, pod->needs), -1);
	if (pod->needs->n_claims)
		own_devices(p, pod);
}

static void add_kind(void *arg, const struct kar_pod_needs *needs, int64_t on_nodes)
{
	struct queue_pass *p = arg;

	add(p, kar_snapshot_class_of(p->nodes, needs), on_nodes);
}

void queue_count_capacity(struct queue_pass *p)
{
	struct kar_sched_amount *claimed;
	uint32_t n;

	p->sums = kar_arena_alloc(p->arena, 1, sizeof(*p->sums));
	if (!p->nodes)
		return;
	kar_capacity_each(p->stores->capacity, add_kind, p);
	n = kar_devices_claimed(p->stores->devices, p->arena, &claimed);
	for (uint32_t i = 0; i < n; i++)
		add_amount(&p->sums->devices, claimed[i].resource, claimed[i].amount, 1);
}

/* --- amounts ------------------------------------------------------------------------------------------ */

static void add_class(struct queue_pass *p, struct amounts *s, kar_class class)
{
	const struct kar_pod_needs *needs;
	int64_t n = p->sums->on_nodes[class];

	if (n <= 0)
		return;
	needs = kar_sched_needs(kar_snapshot_sched(p->nodes), class);
	for (uint32_t i = 0; i < needs->n_amounts; i++)
		add_amount(s, needs->amounts[i].resource, needs->amounts[i].amount, n);
	add_amount(s, "pods", 1, n);
}

/* --- pods that are about to be bound ---------------------------------------------------------------------- */

/* Different needs that are looked at: more would drive those of gangs out of what the engine keeps at hand (KAR_SCHED_HOT). */
enum { KINDS = 16 };

static bool is_alike(const struct kar_queue_expected *a, const struct kar_queue_expected *b)
{
	return a->class == b->class && a->priority == b->priority && a->node == b->node &&
		a->nominated == b->nominated && a->created == b->created;
}

/* It is one of the kinds, or becomes one. */
static bool is_of_kind(kar_class *kinds, uint32_t *n, kar_class class)
{
	uint32_t i = 0;

	while (i < *n && kinds[i] != class)
		i++;
	if (i == *n && i < KINDS)
		kinds[(*n)++] = class;
	return i < KINDS;
}

static void expect_pods(struct queue_pass *p)
{
	const struct kar_pod **pods;
	uint32_t n = kar_expected_list(p->stores->expected, p->now, KAR_QUEUE_EXPECTED, p->arena, &pods);
	struct kar_queue_expected *all = kar_arena_alloc(p->arena, n + 1, sizeof(*all));
	kar_class kinds[KINDS];
	uint32_t n_kinds = 0, k = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct kar_pod *pod = pods[i];
		struct kar_queue_expected e = { .class = kar_needs_class_of_pod(p->stores, pod),
			.priority = pod->priority,
			.n = 1,
			.node = pod->nominated ? pod->nominated : pod->pin,
			.nominated = pod->nominated != NULL,
			.created = pod->creation };

		if (k && is_alike(&all[k - 1], &e))
			all[k - 1].n++;
		else if (is_of_kind(kinds, &n_kinds, e.class))
			all[k++] = e;
	}
	assert(k <= n && n_kinds <= KINDS);
	p->snapshot.expected = all;
	p->snapshot.n_expected = k;
}

void queue_finish_capacity(struct queue_pass *p)
{
	struct amounts *used = kar_arena_alloc(p->arena, 1, sizeof(*used));
	struct kar_sched_amount *offers = NULL;
	uint32_t n = p->nodes ? kar_capacity_offers(p->stores->capacity, p->arena, &offers) : 0;

	for (kar_class class = 1; p->nodes && class < p->sums->n; class ++)
		add_class(p, used, class);
	for (uint32_t i = 0; p->nodes && i < p->sums->devices.n; i++) {
		const struct kar_sched_amount *one = &p->sums->devices.items[i];

		if (one->amount > 0)
			add_amount(used, one->resource, one->amount, 1);
	}
	p->snapshot.alloc = (struct kar_queue_amounts){ offers, n };
	p->snapshot.foreign = (struct kar_queue_amounts){ used->items, used->n };
	if (p->nodes)
		expect_pods(p);
}
