/* The shell of the Flavor reconciler: key = the name. A manager of one namespace sees no nodes, and counts nothing. */
#include "controllers/flavor/flavor.h"

#include "controllers/cluster/caches.h"
#include "controllers/cluster/flavors.h"
#include "controllers/cluster/status_patch.h"
#include "controllers/controllers.h"

enum { CACHE_WAIT = 100 }; /* ms between two checks whether the cache has our own write */

static void enqueue_all(struct kar_controller *c)
{
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	for (struct kar_iter it = kar_store_all(c->stores->flavors); kar_iter_next(&it, &o);)
		kar_enqueue(c, c->stores->flavors, kar_object_key(o, key));
}

/* A node that one gets, another one loses. */
static void on_flavor(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	char key[KAR_KEY_LEN];

	if (old && new &&kar_flavor_same(kar_as_flavor(old), kar_as_flavor(new)))
		kar_enqueue(c, c->stores->flavors, kar_object_key(new, key));
	else
		enqueue_all(c);
}

/* May the node be of the flavor? Another flavor may have it, as it matches with more labels. */
static bool is_of(const struct kar_object *flavor, const struct kar_object *node)
{
	return node && kar_flavor_matches(kar_as_flavor(flavor), &kar_as_node(node)->offer);
}

static void on_node(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	if (old && new &&kar_node_same_offer(kar_as_node(old), kar_as_node(new)))
		return;
	for (struct kar_iter it = kar_store_all(c->stores->flavors); kar_iter_next(&it, &o);) {
		if (is_of(o, old) || is_of(o, new))
			kar_enqueue(c, c->stores->nodes, kar_object_key(o, key));
	}
}

static void start(struct kar_controller *c)
{
	if (c->settings->one_namespace)
		return;
	kar_store_listen(c->stores->flavors, on_flavor, c);
	kar_store_listen(c->stores->nodes, on_node, c);
}

static void collect_nodes(const struct kar_store *nodes, struct flavor_view *v, struct kar_arena *a)
{
	const struct kar_node **all =
		kar_arena_alloc(a, kar_store_count(nodes) + 1, sizeof(struct kar_node *));
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(nodes); kar_iter_next(&it, &o);)
		all[v->n_nodes++] = kar_as_node(o);
	v->nodes = all;
}

static bool sync_flavor(struct kar_controller *c, struct kar_sync *s)
{
	const struct kar_object *o = kar_store_get(c->stores->flavors, NULL, s->key);
	const struct kar_flavor **all;
	struct flavor_view v = { 0 };

	if (!o || o->unreadable)
		return false;
	if (!kar_barrier_passed(c->barrier, s->key, c->stores->flavors)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}
	s->object = kar_object_ref(o);
	v.flavor = kar_as_flavor(o);
	collect_nodes(c->stores->nodes, &v, &s->arena);
	v.n_all = kar_flavors_list(c->stores->flavors, &s->arena, &all);
	v.all = all;
	s->objects = v.n_nodes;
	flavor_decide(&v, &s->plan);
	return true;
}

static const char *encode_status(const struct kar_sync *s, struct kar_buf *out)
{
	kar_write_status_patch(out, s->object, &kar_flavor_status_table, s->plan.status, KAR_SF_ALL);
	return "status";
}

void kar_flavor_controller(struct kar_controller *c)
{
	c->name = "flavor";
	c->start = start;
	c->sync = sync_flavor;
	c->encode_status = encode_status;
}
