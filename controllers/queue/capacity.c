/*
 * What the nodes offer together, and what pods use of it that belong to no group of the pass (docs/design/queue.md, 3).
 *
 * All pods are summed up, and what belongs to groups is taken off again: so a pod is in exactly one of the two.
 */
#include <string.h>

#include "api/node.h"
#include "common/str.h"
#include "controllers/queue/pass.h"

enum { MOST = KAR_SCHED_RESOURCES };

struct sums {
	struct kar_sched_amount items[MOST];
	uint32_t n;
};

struct queue_sums {
	struct sums alloc, used;
	bool *fits; /* per class: it would fit an empty node */
	bool *known;
	kar_class n_classes;
};

static void add(struct sums *s, const char *resource, int64_t amount)
{
	uint32_t i = 0;

	while (i < s->n && !kar_streq(s->items[i].resource, resource))
		i++;
	if (i == MOST)
		return; /* as the placement engine, which knows no more resources */
	if (i == s->n)
		s->items[s->n++] = (struct kar_sched_amount){ .resource = resource };
	if (__builtin_add_overflow(s->items[i].amount, amount, &s->items[i].amount))
		s->items[i].amount = amount > 0 ? INT64_MAX : INT64_MIN;
}

/* A node on which only special pods are welcome offers nothing to jobs. Other taints are for the check of nodes. */
static bool is_usable(const struct kar_node_offer *n)
{
	static const char own[] = "node.kubernetes.io/", role[] = "node-role.kubernetes.io/";

	for (uint32_t i = 0; i < n->n_taints; i++) {
		const struct kar_taint *t = &n->taints[i];

		if (t->effect != KAR_PREFER_NO_SCHEDULE &&
			(strncmp(t->key, own, strlen(own)) == 0 || strncmp(t->key, role, strlen(role)) == 0))
			return false;
	}
	return n->ready && !n->cordoned;
}

static bool fits_somewhere(struct queue_pass *p, kar_class class)
{
	struct queue_sums *q = p->sums;
	const struct kar_role role = { .class = class, .need = 1 };
	const struct kar_gang gang = { .roles = &role, .n_roles = 1 };

	if (class >= q->n_classes) {
		kar_class n = 2 * class + 64;
		bool *fits = kar_arena_alloc(&p->s->arena, n, sizeof(*fits)),
		     *known = kar_arena_alloc(&p->s->arena, n, sizeof(*known));

		if (q->n_classes) {
			memcpy(fits, q->fits, q->n_classes);
			memcpy(known, q->known, q->n_classes);
		}
		q->fits = fits;
		q->known = known;
		q->n_classes = n;
	}
	if (!q->known[class]) {
		q->known[class] = true;
		q->fits[class] = kar_sched_feasible(kar_snapshot_sched(p->nodes), &gang);
	}
	return q->fits[class];
}

/* On a usable node, or without a node and soon on one. */
static bool counts(struct queue_pass *p, const struct kar_pod *pod)
{
	const char *room = kar_pod_room(pod);
	const struct kar_object *node;

	if (kar_pod_finished(pod) || !pod->needs)
		return false;
	if (!room)
		return kar_pod_alive(pod) && !pod->gate_ours && !pod->gate_foreign &&
			fits_somewhere(p, kar_snapshot_class_of(p->nodes, pod->needs));
	node = kar_store_get(p->stores->nodes, NULL, room);
	return node && is_usable(&kar_as_node(node)->offer);
}

static void count(struct queue_pass *p, const struct kar_pod *pod, int64_t sign)
{
	const struct kar_pod_needs *needs;

	if (!p->nodes || !counts(p, pod))
		return;
	needs = kar_sched_needs(kar_snapshot_sched(p->nodes), kar_snapshot_class_of(p->nodes, pod->needs));
	for (uint32_t i = 0; i < needs->n_amounts; i++)
		add(&p->sums->used, needs->amounts[i].resource, sign * needs->amounts[i].amount);
	add(&p->sums->used, "pods", sign);
}

void queue_owns(struct queue_pass *p, const struct kar_pod *pod)
{
	count(p, pod, -1);
}

void queue_count_capacity(struct queue_pass *p)
{
	const struct kar_object *o;

	p->sums = kar_arena_alloc(&p->s->arena, 1, sizeof(*p->sums));
	if (!p->nodes)
		return;
	for (struct kar_iter it = kar_store_all(p->stores->nodes); kar_iter_next(&it, &o);) {
		const struct kar_node_offer *n = &kar_as_node(o)->offer;

		for (uint32_t i = 0; is_usable(n) && i < n->n_allocatable; i++)
			add(&p->sums->alloc, n->allocatable[i].resource, n->allocatable[i].amount);
	}
	for (struct kar_iter it = kar_store_all(p->stores->pods); kar_iter_next(&it, &o);)
		count(p, kar_as_pod(o), 1);
}

void queue_finish_capacity(struct queue_pass *p)
{
	p->snapshot.alloc = (struct kar_queue_amounts){ p->sums->alloc.items, p->sums->alloc.n };
	p->snapshot.foreign = (struct kar_queue_amounts){ p->sums->used.items, p->sums->used.n };
}
