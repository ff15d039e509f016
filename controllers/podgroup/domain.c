#include "controllers/podgroup/domain.h"

#include <string.h>

#include "common/base/str.h"
#include "controllers/cluster/caches.h"
#include "controllers/cluster/stores.h"
#include "controllers/runtime/controller.h"

static const char *label_of(const struct kar_node_offer *node, const char *label)
{
	for (uint32_t i = 0; i < node->n_labels; i++) {
		if (strcmp(node->labels[i].key, label) == 0)
			return node->labels[i].value;
	}
	return NULL;
}

/* A node that is gone has taken its pods along, or will. */
static bool is_outside(const struct kar_stores *stores, const char *node, const struct kar_array *domain)
{
	const struct kar_object *o = kar_store_get(stores->nodes, NULL, node);
	const struct kar_pair *levels = domain->items;

	for (size_t i = 0; i < domain->n && o; i++) {
		if (!kar_streq(label_of(&kar_as_node(o)->offer, levels[i].key), levels[i].value))
			return true;
	}
	return false;
}

static bool is_placed(const struct kar_podgroup *g)
{
	enum kar_pg_state state = g->status.placement.state;

	return state == KAR_PG_STATE_PLACED || state == KAR_PG_STATE_UNPLACED ||
		state == KAR_PG_STATE_SATISFIED;
}

const char *podgroup_outside(const struct kar_stores *stores, const struct podgroup_view *v,
	struct kar_arena *a)
{
	const struct kar_pg_placement *p = &v->group->status.placement;
	struct kar_array left = { 0 };
	const struct kar_pair *levels;
	const char *first = NULL, *path = "";
	bool more = false;

	for (size_t i = 0; i < v->n_pods && p->n_domains && is_placed(v->group); i++) {
		const char *node = kar_pod_alive(v->pods[i]) ? v->pods[i]->node : NULL;
		struct kar_array domain;

		if (!node)
			continue;
		domain = kar_pg_required_domain(p, kar_pod_role(v->pods[i]), a);
		if (!is_outside(stores, node, &domain))
			continue;
		more |= first && !kar_streq(node, first);
		if (first && strcmp(node, first) >= 0)
			continue;
		first = node;
		left = domain;
	}
	levels = left.items;
	for (size_t i = 0; i < left.n; i++)
		path = kar_arena_printf(a, "%s%s%s", path, i ? "/" : "", levels[i].value);
	return first
		? kar_arena_printf(a,
			  "labels were changed: node %s%s of its pods %s not in %s=%s any more; the pods stay",
			  first, more ? " and others" : "", more ? "are" : "is", levels[left.n - 1].key, path)
		: NULL;
}

static bool same_labels(const struct kar_node_offer *a, const struct kar_node_offer *b)
{
	bool same = a->n_labels == b->n_labels;

	for (uint32_t i = 0; i < a->n_labels && same; i++)
		same = strcmp(a->labels[i].key, b->labels[i].key) == 0 &&
			strcmp(a->labels[i].value, b->labels[i].value) == 0;
	return same;
}

static void on_node(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct kar_object *o;

	if (!old || !new || same_labels(&kar_as_node(old)->offer, &kar_as_node(new)->offer))
		return;
	for (struct kar_iter it = kar_store_by_index(c->stores->pods, KAR_POD_BY_NODE, new->name);
		kar_iter_next(&it, &o);) {
		if (kar_as_pod(o)->group)
			kar_enqueue(c, c->stores->podgroups, kar_as_pod(o)->group);
	}
}

void podgroup_follow_nodes(struct kar_controller *c)
{
	kar_store_listen(c->stores->nodes, on_node, c);
}
