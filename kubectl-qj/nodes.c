/* top: the nodes, and what of them is free, as the manager counts it: by what pods request. */
#include "kubectl-qj/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/core/node.h"
#include "api/pod/pod.h"
#include "common/base/intern.h"
#include "common/base/str.h"
#include "common/sched/amounts.h"

enum { RESOURCES = 8 /* columns at most */, SHOWN = 20 /* nodes on a terminal */ };

struct room {
	const char *name, *state;
	int64_t free[RESOURCES], all[RESOURCES]; /* as the scheduler counts */
	bool has[RESOURCES];
};

struct nodes {
	struct qj *q;
	struct kar_intern *strings;
	const char *resources[RESOURCES]; /* "pods", "cpu", "memory", and extended ones */
	int n_resources;
	struct room *items; /* in the order of names, until they are shown */
	size_t n;
	bool pods_seen; /* else nobody knows what is free */
};

static int number_of(struct nodes *all, const char *resource)
{
	for (int i = 0; i < all->n_resources; i++) {
		if (kar_streq(all->resources[i], resource))
			return i;
	}
	/* Disk of nodes, and huge pages, are of little interest here. */
	if (all->n_resources == RESOURCES || !strchr(resource, '/'))
		return -1;
	all->resources[all->n_resources] = kar_arena_printf(&all->q->arena, "%s", resource);
	return all->n_resources++;
}

static const char *state_of(const struct kar_node_offer *offer)
{
	return !offer->ready              ? "NotReady"
		: offer->cordoned         ? "Cordoned"
		: kar_sched_usable(offer) ? "Ready"
					  : "Tainted";
}

static void add_node(struct nodes *all, const struct kar_node *node)
{
	const struct kar_node_offer *offer = &node->offer;
	struct room *r;

	all->items = kar_arena_grow(&all->q->arena, all->items, all->n, sizeof(*all->items));
	r = &all->items[all->n++];
	*r = (struct room){ .name = kar_arena_printf(&all->q->arena, "%s", node->o.name),
		.state = state_of(offer) };
	for (uint32_t i = 0; i < offer->n_allocatable; i++) {
		int at = number_of(all, offer->allocatable[i].resource);

		if (at >= 0) {
			r->has[at] = true;
			r->free[at] = r->all[at] = offer->allocatable[i].amount;
		}
	}
}

static int add_nodes(void *arg, const struct kar_array *items)
{
	const char *wire = items->items;
	struct nodes *all = arg;

	for (size_t i = 0; i < items->n; i++) {
		struct kar_object *o =
			kar_node_type.project(wire + i * kar_node_type.wire->size, all->strings);

		add_node(all, kar_as_node(o));
		kar_object_unref(o);
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct room *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void take(struct room *r, int resource, int64_t amount)
{
	if (resource >= 0)
		r->free[resource] -= amount;
}

static int subtract_pods(void *arg, const struct kar_array *items)
{
	const char *wire = items->items;
	struct nodes *all = arg;

	for (size_t i = 0; i < items->n; i++) {
		struct kar_object *o = kar_pod_type.project(wire + i * kar_pod_type.wire->size, all->strings);
		const struct kar_pod *pod = kar_as_pod(o);
		const struct room key = { .name = pod->node };
		struct room *r = pod->node && pod->needs
			? bsearch(&key, all->items, all->n, sizeof(key), by_name)
			: NULL;

		for (uint32_t k = 0; r && k < pod->needs->n_amounts; k++)
			take(r, number_of(all, pod->needs->amounts[k].resource),
				pod->needs->amounts[k].amount);
		if (r)
			take(r, 0, 1);
		kar_object_unref(o);
	}
	return 0;
}

/* --- what is printed -------------------------------------------------------------------------------- */

/* Devices are scarcer than CPUs, and these than memory: by the last extended resource first. */
static int by_room(const void *a, const void *b)
{
	const struct room *x = a, *y = b;

	for (int i = RESOURCES - 1; i > 2; i--) {
		if (x->free[i] != y->free[i])
			return x->free[i] > y->free[i] ? -1 : 1;
	}
	if (x->free[1] != y->free[1])
		return x->free[1] > y->free[1] ? -1 : 1;
	if (x->free[2] != y->free[2])
		return x->free[2] > y->free[2] ? -1 : 1;
	return strverscmp(x->name, y->name);
}

static void add_cell(struct qj_table *t, const struct nodes *all, const struct room *r, int i)
{
	char free[KAR_AMOUNT_TEXT], most[KAR_AMOUNT_TEXT];

	if (!r->has[i]) {
		qj_cell(t, "%s", "");
		return;
	}
	kar_amount_text(all->resources[i], r->free[i] > 0 ? r->free[i] : 0, false, free);
	kar_amount_text(all->resources[i], r->all[i], false, most);
	qj_cell(t, "%s of %s", all->pods_seen ? free : "-", most);
}

static const char **heads_of(const struct nodes *all)
{
	const char **heads = kar_arena_alloc(&all->q->arena, RESOURCES + 3, sizeof(*heads));
	int n = 0;

	heads[n++] = "NODE";
	heads[n++] = "STATE";
	for (int i = 0; i < all->n_resources; i++)
		heads[n++] = i < 3 ? (const char *const[]){ "FREE-PODS", "FREE-CPU", "FREE-MEMORY" }[i]
				   : qj_clean(all->q, all->resources[i]);
	return heads;
}

static void print(struct nodes *all)
{
	size_t shown = all->q->terminal && all->n > SHOWN ? SHOWN : all->n;
	struct qj_table t = qj_table_begin(all->q, heads_of(all));

	for (size_t i = 0; i < shown; i++) {
		qj_cell(&t, "%s", all->items[i].name);
		qj_cell(&t, "%s", all->items[i].state);
		for (int k = 0; k < all->n_resources; k++)
			add_cell(&t, all, &all->items[i], k);
	}
	if (!all->n) {
		for (int i = 0; i < all->n_resources + 2; i++)
			qj_cell(&t, "%s", "");
	}
	qj_table_flush(&t);
	if (shown < all->n)
		fprintf(all->q->out, "and %zu more\n", all->n - shown);
}

void qj_print_nodes(struct qj *q)
{
	const struct qj_query nodes = { &kar_node_type.res, kar_node_type.wire, "", NULL, NULL };
	const struct qj_query pods = { &kar_pod_type.res, kar_pod_type.wire, "", NULL,
		"status.phase!=Succeeded,status.phase!=Failed" };
	struct nodes all = { .q = q, .resources = { "pods", "cpu", "memory" }, .n_resources = 3 };

	all.strings = kar_intern_new();
	if (qj_list(q, &nodes, add_nodes, &all) == 0) {
		if (all.n)
			qsort(all.items, all.n, sizeof(*all.items), by_name);
		all.pods_seen = qj_list(q, &pods, subtract_pods, &all) == 0;
		if (all.n)
			qsort(all.items, all.n, sizeof(*all.items), by_room);
	} else {
		all.n = 0;
	}
	print(&all);
	kar_intern_free(all.strings);
}
