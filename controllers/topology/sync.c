/* The shell of the Topology reconciler: key = the name. A manager of one namespace sees no nodes, and counts nothing. */
#include "controllers/topology/topology.h"

#include <string.h>

#include "controllers/cluster/caches.h"
#include "controllers/cluster/status_patch.h"
#include "controllers/controllers.h"

enum { CACHE_WAIT = 100 }; /* ms between two checks whether the cache has our own write */

static void on_topology(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	char key[KAR_KEY_LEN];

	kar_enqueue(c, c->stores->topologies, kar_object_key(new ? new : old, key));
}

/* Labels are sorted, and interned. */
static bool same_labels(const struct kar_node *a, const struct kar_node *b)
{
	return a->offer.n_labels == b->offer.n_labels &&
		(!a->offer.n_labels ||
			memcmp(a->offer.labels, b->offer.labels,
				a->offer.n_labels * sizeof(*a->offer.labels)) == 0);
}

static void on_node(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	if (old && new &&same_labels(kar_as_node(old), kar_as_node(new)))
		return;
	for (struct kar_iter it = kar_store_all(c->stores->topologies); kar_iter_next(&it, &o);)
		kar_enqueue(c, c->stores->nodes, kar_object_key(o, key));
}

static void start(struct kar_controller *c)
{
	if (c->settings->one_namespace)
		return;
	kar_store_listen(c->stores->topologies, on_topology, c);
	kar_store_listen(c->stores->nodes, on_node, c);
}

static void collect_nodes(const struct kar_store *nodes, struct topology_view *v, struct kar_arena *a)
{
	const struct kar_node **all =
		kar_arena_alloc(a, kar_store_count(nodes) + 1, sizeof(struct kar_node *));
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(nodes); kar_iter_next(&it, &o);)
		all[v->n_nodes++] = kar_as_node(o);
	v->nodes = all;
}

static bool sync_topology(struct kar_controller *c, struct kar_sync *s)
{
	const struct kar_object *o = kar_store_get(c->stores->topologies, NULL, s->key);
	struct topology_view v = { 0 };

	if (!o || o->unreadable)
		return false;
	if (!kar_barrier_passed(c->barrier, s->key, c->stores->topologies)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}
	s->object = kar_object_ref(o);
	v.topology = kar_as_topology(o);
	collect_nodes(c->stores->nodes, &v, &s->arena);
	s->objects = v.n_nodes;
	topology_decide(&v, s->now, &s->plan);
	return true;
}

static const char *encode_status(const struct kar_sync *s, struct kar_buf *out)
{
	kar_write_status_patch(out, s->object, &kar_topology_status_table, s->plan.status, KAR_SF_ALL);
	return "status";
}

void kar_topology_controller(struct kar_controller *c)
{
	c->name = "topology";
	c->start = start;
	c->sync = sync_topology;
	c->encode_status = encode_status;
}
