/*
 * Room for members of a group of another controller that do not exist yet: what spec.minResources asks for beyond the requests of those
 * that do (docs/design/podgroup.md, 5.3). It is worked out anew in each pass, and lies wherever there is room then.
 */
#include "controllers/queue/pass.h"

#include "api/podgroup/pg_hold.h"
#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "common/sched/amounts.h"

/* What is left of minResources. */
struct rest {
	const struct queue_pass *p;
	struct kar_sched_amount *items;
	size_t n;
};

static void subtract(struct rest *r, kar_class class, int64_t pods)
{
	const struct kar_pod_needs *needs =
		kar_sched_needs(kar_snapshot_sched(r->p->stores->snapshot), class);

	for (uint32_t i = 0; i < needs->n_amounts; i++) {
		for (size_t k = 0; k < r->n; k++) {
			struct kar_sched_amount *left = &r->items[k];

			if (!kar_streq(left->resource, needs->amounts[i].resource) || pods <= 0)
				continue;
			if (needs->amounts[i].amount > left->amount / pods)
				left->amount = 0;
			else
				left->amount -= pods * needs->amounts[i].amount;
		}
	}
}

uint32_t queue_hold_whole(const struct kar_podgroup *g, struct kar_sched_amount *out)
{
	const struct kar_pair *pairs = g->spec.min_resources.items;
	struct kar_quantity q;
	uint32_t n = 0;

	for (size_t i = 0; i < g->spec.min_resources.n; i++) {
		if (kar_quantity_parse(pairs[i].value, &q, NULL) == 0 && !kar_streq(pairs[i].key, "pods"))
			out[n++] = kar_amount_rounded(pairs[i].key, &q);
	}
	return n;
}

uint32_t queue_hold_rest(const struct queue_pass *p, struct kar_sched_amount *amounts, size_t n,
	const struct queue_runs *runs)
{
	struct rest r = { .p = p, .items = amounts, .n = n };
	uint32_t left = 0;

	for (uint32_t i = 0; i < runs->n; i++)
		subtract(&r, runs->items[i].class, runs->items[i].n);
	for (size_t i = 0; i < n; i++) {
		if (amounts[i].amount > 0)
			amounts[left++] = amounts[i];
	}
	return left;
}

struct kar_queue_amounts queue_hold(struct queue_pass *p, const struct kar_podgroup *g,
	const struct queue_runs *runs, const struct queue_runs *others)
{
	struct rest r = { .p = p };

	if (!g->spec.min_resources.n)
		return (struct kar_queue_amounts){ 0 };
	r.items = kar_arena_alloc(p->arena, g->spec.min_resources.n, sizeof(*r.items));
	r.n = queue_hold_whole(g, r.items);
	r.n = queue_hold_rest(p, r.items, r.n, runs);
	return (struct kar_queue_amounts){ r.items, queue_hold_rest(p, r.items, r.n, others) };
}
