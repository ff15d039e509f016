#include "controllers/flavor/flavor.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/amounts_wire.h"
#include "common/base/str.h"

struct sums {
	struct kar_sched_amount items[KAR_NODE_RESOURCES_MAX];
	uint32_t n;
};

static void add(struct sums *s, const struct kar_sched_amount *x)
{
	uint32_t i = 0;

	while (i < s->n && !kar_streq(s->items[i].resource, x->resource))
		i++;
	if (i == KAR_LEN(s->items))
		return;
	if (i == s->n)
		s->items[s->n++] = (struct kar_sched_amount){ .resource = x->resource };
	if (__builtin_add_overflow(s->items[i].amount, x->amount, &s->items[i].amount))
		s->items[i].amount = INT64_MAX;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct kar_sched_amount *)a)->resource,
		((const struct kar_sched_amount *)b)->resource);
}

static struct kar_array pairs_of(struct sums *s, const struct kar_array *before, struct kar_arena *a)
{
	struct kar_pair *pairs = kar_arena_alloc(a, s->n + 1, sizeof(*pairs));
	const struct kar_array list = { .items = pairs, .n = s->n };

	if (s->n)
		qsort(s->items, s->n, sizeof(*s->items), by_name);
	for (uint32_t i = 0; i < s->n; i++)
		pairs[i] = (struct kar_pair){ s->items[i].resource, kar_amount_quantity(&s->items[i], a) };
	return kar_status_pairs_over(before, &list, a);
}

void flavor_decide(const struct flavor_view *v, struct kar_plan *p)
{
	const struct kar_flavor_status *old = &v->flavor->status;
	struct kar_flavor_status *s = kar_arena_alloc(p->arena, 1, sizeof(*s));
	struct sums *sums = kar_arena_alloc(p->arena, 1, sizeof(*sums));

	*s = (struct kar_flavor_status){ 0 };
	for (size_t i = 0; i < v->n_nodes; i++) {
		const struct kar_node_offer *offer = &v->nodes[i]->offer;
		bool ambiguous;

		if (!kar_flavor_matches(v->flavor, offer) ||
			kar_flavor_of(v->all, v->n_all, offer, &ambiguous) != v->flavor)
			continue;
		s->nodes++;
		s->ambiguous += ambiguous;
		for (uint32_t k = 0; k < offer->n_allocatable && kar_sched_usable(offer); k++)
			add(sums, &offer->allocatable[k]);
	}
	s->allocatable = pairs_of(sums, &old->allocatable, p->arena);
	if (kar_status_equal(&kar_flavor_status_table, old, s, KAR_SF_COUNTER))
		return;
	p->status = s;
	p->status_text = kar_status_print(&kar_flavor_status_table, old, s, p->arena);
	p->counters = true;
}
