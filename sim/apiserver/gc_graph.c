#include "sim/apiserver/gc_graph.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

static int compare(const struct gc_node *a, const struct gc_node *b)
{
	return strcmp(a->uid, b->uid);
}

RB_GENERATE_INTERNAL(gc_tree, gc_node, by_uid, compare, KAR_UNUSED static)

struct gc_node *gc_node_find(struct gc_tree *t, const char *uid)
{
	struct gc_node *n = RB_ROOT(t);

	while (n) {
		int order = strcmp(uid, n->uid);

		if (order == 0)
			return n;
		n = order < 0 ? RB_LEFT(n, by_uid) : RB_RIGHT(n, by_uid);
	}
	return NULL;
}

struct gc_node *gc_node_at(struct gc_tree *t, const char *uid, const char *group, const char *resource,
	const char *ns, const char *name)
{
	struct gc_node *n = gc_node_find(t, uid);
	size_t size = strlen(uid) + 1;

	if (n)
		return n;
	n = kar_xcalloc(1, sizeof(*n) + size);
	memcpy(n->uid, uid, size);
	n->group = kar_xstrdup(group);
	n->resource = kar_xstrdup(resource);
	n->ns = ns ? kar_xstrdup(ns) : NULL;
	n->name = kar_xstrdup(name);
	TAILQ_INIT(&n->owners);
	TAILQ_INIT(&n->dependents);
	RB_INSERT(gc_tree, t, n);
	return n;
}

static bool is_at(const struct gc_node *n, const char *group, const char *resource, const char *ns,
	const char *name)
{
	return !strcmp(n->name, name) && !strcmp(n->resource, resource) && !strcmp(n->group, group) &&
		!strcmp(n->ns ? n->ns : "", ns ? ns : "");
}

void gc_node_place(struct gc_node *n, const char *group, const char *resource, const char *ns,
	const char *name)
{
	if (is_at(n, group, resource, ns, name))
		return;
	free(n->group);
	free(n->resource);
	free(n->ns);
	free(n->name);
	n->group = kar_xstrdup(group);
	n->resource = kar_xstrdup(resource);
	n->ns = ns ? kar_xstrdup(ns) : NULL;
	n->name = kar_xstrdup(name);
}

static void free_node(struct gc_tree *t, struct gc_node *n)
{
	RB_REMOVE(gc_tree, t, n);
	free(n->group);
	free(n->resource);
	free(n->ns);
	free(n->name);
	free(n);
}

void gc_node_release(struct gc_tree *t, struct gc_node *n)
{
	if (!n->held && n->tasks == 0 && TAILQ_EMPTY(&n->owners) && TAILQ_EMPTY(&n->dependents))
		free_node(t, n);
}

void gc_graph_free(struct gc_tree *t)
{
	struct gc_node *n, *next;

	RB_FOREACH_SAFE(n, gc_tree, t, next) {
		while (!TAILQ_EMPTY(&n->owners))
			gc_edge_remove(TAILQ_FIRST(&n->owners));
		while (!TAILQ_EMPTY(&n->dependents))
			gc_edge_remove(TAILQ_FIRST(&n->dependents));
		free_node(t, n);
	}
}

struct gc_edge *gc_edge_find(const struct gc_node *dependent, const struct gc_node *owner)
{
	struct gc_edge *e;

	TAILQ_FOREACH(e, &dependent->owners, of_dependent) {
		if (e->owner == owner)
			return e;
	}
	return NULL;
}

void gc_edge_add(struct gc_node *dependent, struct gc_node *owner, bool blocks)
{
	struct gc_edge *e = kar_xcalloc(1, sizeof(*e));

	e->owner = owner;
	e->dependent = dependent;
	e->blocks = blocks;
	TAILQ_INSERT_TAIL(&dependent->owners, e, of_dependent);
	TAILQ_INSERT_TAIL(&owner->dependents, e, of_owner);
}

void gc_edge_remove(struct gc_edge *e)
{
	TAILQ_REMOVE(&e->dependent->owners, e, of_dependent);
	TAILQ_REMOVE(&e->owner->dependents, e, of_owner);
	free(e);
}

bool gc_has_finalizer(const struct sim_value *object, const char *finalizer)
{
	const struct sim_value *list = sim_get(object, "metadata", "finalizers");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (!strcmp(sim_text_or(sim_item(list, i), ""), finalizer))
			return true;
	}
	return false;
}

bool gc_is_deleting(const struct sim_value *object, const char *finalizer)
{
	return sim_get(object, "metadata", "deletionTimestamp") && gc_has_finalizer(object, finalizer);
}
