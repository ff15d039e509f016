/*
 * Room for members of a group of another controller that do not exist yet: what spec.minResources asks for beyond the requests of those
 * that do (docs/design/podgroup.md, 5.3). It is worked out anew in each pass, and lies wherever there is room then.
 */
#include "controllers/queue/pass.h"

#include "api/pg_hold.h"
#include "api/pg_members.h"
#include "common/sched/amounts.h"
#include "common/str.h"

/* What is left of minResources. */
struct rest {
	const struct queue_pass *p;
	struct kar_sched_amount *items;
	size_t n;
};

static void subtract(struct rest *r, kar_class class, int64_t pods)
{
	const struct kar_pod_needs *needs = kar_sched_needs(kar_snapshot_sched(r->p->nodes), class);

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

static size_t read_whole(const struct kar_podgroup *g, struct kar_sched_amount *out)
{
	const struct kar_pair *pairs = g->spec.min_resources.items;
	struct kar_quantity q;
	size_t n = 0;

	for (size_t i = 0; i < g->spec.min_resources.n; i++) {
		if (kar_quantity_parse(pairs[i].value, &q, NULL) == 0 && !kar_streq(pairs[i].key, "pods"))
			out[n++] = kar_amount_rounded(pairs[i].key, &q);
	}
	return n;
}

/* Members that have a node use it; the others get their places of the plan, or of this gang. Who has neither yet is held for like the rest. */
static void subtract_members(struct rest *r, const struct kar_podgroup *g, const struct queue_gang *gang)
{
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	kar_object_key(&g->o, key);
	for (struct kar_iter it = kar_store_by_index(r->p->stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (pod->node && pod->needs)
			subtract(r, kar_snapshot_class_of(r->p->nodes, pod->needs), 1);
	}
	for (size_t i = 0; i < gang->n_held; i++)
		subtract(r, gang->held[i].class, gang->held[i].n);
	for (uint32_t i = 0; i < gang->gang.n_roles; i++)
		subtract(r, gang->gang.roles[i].class,
			(int64_t)gang->gang.roles[i].need + gang->gang.roles[i].want);
}

bool queue_hold(struct queue_pass *p, const struct kar_podgroup *g, struct queue_gang *out)
{
	struct rest r = { .p = p };
	struct kar_gang *gang = &out->gang;
	size_t left = 0;

	if (!g->spec.min_resources.n)
		return false;
	r.items = kar_arena_alloc(&p->s->arena, g->spec.min_resources.n, sizeof(*r.items));
	r.n = read_whole(g, r.items);
	subtract_members(&r, g, out);
	for (size_t i = 0; i < r.n; i++) {
		if (r.items[i].amount > 0)
			r.items[left++] = r.items[i];
	}
	gang->hold = r.items;
	gang->n_hold = (uint32_t)left;
	return left > 0;
}
