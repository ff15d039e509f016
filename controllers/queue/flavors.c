/* The flavors that queues name, as the pass sees them: their nodes, and what queues have of them. */
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "controllers/cluster/flavors.h"
#include "controllers/queue/pass.h"

struct list {
	const char *names[KAR_QUEUE_FLAVORS_MAX];
	uint32_t n;
	struct pair {
		const char *flavor, *resource;
	} pairs[KAR_QUEUE_FLAVORED_MAX]; /* of which some queue has a right or a limit */
	uint32_t n_pairs;
};

static bool add_name(struct list *l, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (kar_streq(l->names[i], name))
			return true;
	}
	if (l->n == KAR_LEN(l->names))
		return false;
	l->names[l->n++] = name;
	return true;
}

static bool add_pairs(struct list *l, const char *flavor, const struct kar_queue_amounts *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const struct pair one = { flavor, list->items[i].resource };
		uint32_t k = 0;

		while (k < l->n_pairs &&
			!(kar_streq(l->pairs[k].flavor, one.flavor) &&
				kar_streq(l->pairs[k].resource, one.resource)))
			k++;
		if (k == KAR_LEN(l->pairs))
			return false;
		l->pairs[k] = one;
		l->n_pairs += k == l->n_pairs;
	}
	return true;
}

static bool add_queue(struct list *l, const struct kar_queue_spec *s)
{
	struct list before = *l;

	for (uint32_t i = 0; i < s->n_flavors; i++) {
		const struct kar_queue_flavor_spec *f = &s->flavors[i];

		if (!add_name(l, f->name) || !add_pairs(l, f->name, &f->deserved) ||
			!add_pairs(l, f->name, &f->capability)) {
			*l = before;
			return false;
		}
	}
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

uint32_t queue_flavor_number(const struct queue_pass *p, const char *name)
{
	uint32_t i = kar_has_text(name) ? p->snapshot.n_flavors : 0;

	while (i > 0 && !kar_streq(p->snapshot.flavors[i - 1].name, name))
		i--;
	return i;
}

static void name_flavors(struct queue_pass *p, uint32_t i)
{
	const struct kar_queue_spec *s = &p->queues[i]->spec;
	struct kar_queue_flavor_right *all = kar_arena_alloc(p->arena, s->n_flavors + 1, sizeof(*all));

	for (uint32_t k = 0; k < s->n_flavors; k++)
		all[k] = (struct kar_queue_flavor_right){
			.flavor = queue_flavor_number(p, s->flavors[k].name) - 1,
			.deserved = s->flavors[k].deserved,
			.capability = s->flavors[k].capability,
		};
	p->queue_in[i].flavors = all;
	p->queue_in[i].n_flavors = s->n_flavors;
	p->queue_in[i].flavors_in_order = s->flavors_in_order;
}

static void add(struct kar_sched_amount *items, uint32_t *n, const char *resource, int64_t amount)
{
	uint32_t i = 0;

	while (i < *n && !kar_streq(items[i].resource, resource))
		i++;
	if (i == KAR_SCHED_RESOURCES)
		return;
	if (i == *n)
		items[(*n)++] = (struct kar_sched_amount){ .resource = resource };
	if (__builtin_add_overflow(items[i].amount, amount, &items[i].amount))
		items[i].amount = INT64_MAX;
}

/* What the node offers, and what is taken of that. */
static void add_node(const struct queue_pass *p, const struct kar_node_offer *node,
	struct kar_queue_flavor *f)
{
	struct kar_sched_amount *alloc = (struct kar_sched_amount *)(uintptr_t)f->alloc.items,
				*taken = (struct kar_sched_amount *)(uintptr_t)f->taken.items;

	for (uint32_t i = 0; i < node->n_allocatable; i++) {
		const struct kar_sched_amount *x = &node->allocatable[i];

		add(alloc, &f->alloc.n, x->resource, x->amount);
		add(taken, &f->taken.n, x->resource,
			x->amount -
				kar_sched_node_free(kar_snapshot_sched(p->nodes), node->name, x->resource));
	}
}

static void count_nodes(const struct queue_pass *p, struct kar_queue_flavor *all)
{
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(p->stores->nodes); p->nodes && kar_iter_next(&it, &o);) {
		const struct kar_node_offer *node = &kar_as_node(o)->offer;
		const char *label =
			kar_sched_label_of(kar_snapshot_sched(p->nodes), node->name, KAR_QUEUE_FLAVOR_LABEL);
		uint32_t f = label ? queue_flavor_number(p, label) : 0;

		if (f && kar_sched_usable(node))
			add_node(p, node, &all[f - 1]);
	}
}

static struct kar_queue_flavor begin_flavor(const struct queue_pass *p, const char *name)
{
	const struct kar_flavor *f = kar_flavor_named(p->stores->flavors, name);

	return (struct kar_queue_flavor){ .name = name,
		.tolerations = f ? f->tolerations : NULL,
		.n_tolerations = f ? f->n_tolerations : 0,
		.alloc.items =
			kar_arena_alloc(p->arena, KAR_SCHED_RESOURCES, sizeof(struct kar_sched_amount)),
		.taken.items =
			kar_arena_alloc(p->arena, KAR_SCHED_RESOURCES, sizeof(struct kar_sched_amount)) };
}

void queue_observe_flavors(struct queue_pass *p)
{
	struct list *l = kar_arena_alloc(p->arena, 1, sizeof(*l));
	struct kar_queue_flavor *all;

	for (uint32_t i = 0; i < p->n_queues; i++) {
		if (!add_queue(l, &p->queues[i]->spec) && !p->queue_in[i].problem)
			p->queue_in[i].problem = kar_arena_printf(p->arena,
				"with its spec.flavors queues name more than %d flavors, or have rights to more than %d resources of them",
				KAR_QUEUE_FLAVORS_MAX, KAR_QUEUE_FLAVORED_MAX);
	}
	if (!l->n)
		return;
	qsort(l->names, l->n, sizeof(*l->names), by_name);
	all = kar_arena_alloc(p->arena, l->n, sizeof(*all));
	for (uint32_t i = 0; i < l->n; i++)
		all[i] = begin_flavor(p, l->names[i]);
	p->snapshot.flavors = all;
	p->snapshot.n_flavors = l->n;
	for (uint32_t i = 0; i < p->n_queues; i++) {
		if (!p->queue_in[i].problem)
			name_flavors(p, i);
	}
	count_nodes(p, all);
}

const char *queue_flavor_warning(const struct queue_pass *p, uint32_t i)
{
	const struct kar_queue_in *q = &p->snapshot.queues[i];
	const char *text = NULL;

	for (uint32_t k = 0; k < q->n_flavors && p->nodes; k++) {
		const struct kar_queue_flavor *f = &p->snapshot.flavors[q->flavors[k].flavor];
		const char *what = kar_flavor_named(p->stores->flavors, f->name) ? "has no usable node"
										 : "does not exist";

		if (!f->alloc.n)
			text = kar_arena_printf(p->arena, "%s%sflavor %s %s", text ? text : "",
				text ? "; " : "", f->name, what);
	}
	return text;
}
