/*
 * The garbage collector (pkg/controller/garbagecollector): deletes what has lost its owners, waits with an owner
 * that is deleted in the foreground until its dependents are gone, and cuts the ties of what is orphaned.
 *
 * An owner whose type is not served, or that is in a namespace while its dependent is in none, counts as there.
 */
#include "sim/apiserver/gc_graph.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum { SHORTEST_DELAY = 1, LONGEST_DELAY = 25 }; /* ms until the collector looks at what changed */
enum { RETRY_DELAY = 1000 };                     /* ms after a refusal */
static const char foreground[] = "foregroundDeletion", orphan[] = "orphan";

TAILQ_HEAD(gc_line, gc_node);

struct sim_gc {
	struct sim_apiserver *s;
	struct sim_random random;
	struct sim_alarm *alarm;
	struct gc_tree nodes;
	struct gc_line line, later; /* @later: refused, to be tried again */
};

/* ---- the line ---- */

static void enqueue(struct sim_gc *g, struct gc_node *n, enum gc_task task)
{
	if (n->tasks == 0)
		TAILQ_INSERT_TAIL(&g->line, n, in_line);
	n->tasks |= task;
	if (!sim_alarm_running(g->alarm))
		sim_alarm_start(g->alarm, sim_random_between(&g->random, SHORTEST_DELAY, LONGEST_DELAY));
}

static void enqueue_dependents(struct sim_gc *g, struct gc_node *n)
{
	struct gc_edge *e;

	TAILQ_FOREACH(e, &n->dependents, of_owner)
		enqueue(g, e->dependent, GC_DELETE);
}

/* ---- objects ---- */

static const struct sim_value *object_of(const struct sim_gc *g, const struct gc_node *n)
{
	const struct sim_value *object = sim_apiserver_peek(g->s, n->group, n->resource, n->ns, n->name);

	if (strcmp(sim_text_or(sim_get(object, "metadata", "uid"), ""), n->uid) != 0)
		return NULL;
	return object;
}

/* ---- writes ---- */

static int send(struct sim_gc *g, const struct gc_node *n, struct sim_request rq, struct sim_value *consumed)
{
	const struct sim_resource *r = sim_resource_find(g->s, n->group, "v1", n->resource);
	int code;

	if (!r)
		r = sim_resource_of_group(g->s, n->group, n->resource);
	if (!r) {
		sim_unref(consumed);
		return 404;
	}
	rq.group = n->group;
	rq.version = r->version;
	rq.resource = n->resource;
	rq.ns = n->ns;
	rq.name = n->name;
	rq.object = consumed;
	rq.user = "system:serviceaccount:kube-system:generic-garbage-collector";
	code = sim_apiserver_do(g->s, rq);
	sim_unref(consumed);
	return code;
}

static bool is_settled(int code)
{
	return code < 300 || code == 404;
}

/* Each returns false if it is to be tried again. */
static bool delete_object(struct sim_gc *g, const struct gc_node *n, const struct sim_value *object,
	const char *policy)
{
	struct sim_value *options = sim_object();

	sim_set_text(&options, "DeleteOptions", "kind");
	sim_set_text(&options, "v1", "apiVersion");
	sim_set_text(&options, policy, "propagationPolicy");
	sim_set_text(&options, n->uid, "preconditions", "uid");
	sim_set(&options, sim_ref(sim_get(object, "metadata", "resourceVersion")), "preconditions",
		"resourceVersion");
	return is_settled(send(g, n, (struct sim_request){ .verb = KAR_DELETE }, options));
}

/* Replaces a list in the object's metadata, if the object is still as it was read. */
static bool patch_list(struct sim_gc *g, const struct gc_node *n, const struct sim_value *object,
	const char *key, struct sim_value *consumed)
{
	struct sim_value *patch = sim_object();

	sim_set_text(&patch, n->uid, "metadata", "uid");
	sim_set(&patch, sim_ref(sim_get(object, "metadata", "resourceVersion")), "metadata",
		"resourceVersion");
	if (sim_count(consumed) > 0) {
		sim_set(&patch, consumed, "metadata", key);
	} else {
		sim_unref(consumed);
		sim_set(&patch, sim_null(), "metadata", key);
	}
	return is_settled(
		send(g, n, (struct sim_request){ .verb = KAR_PATCH, .patch_type = KAR_PATCH_MERGE }, patch));
}

static bool remove_finalizer(struct sim_gc *g, const struct gc_node *n, const struct sim_value *object,
	const char *finalizer)
{
	const struct sim_value *list = sim_get(object, "metadata", "finalizers");
	struct sim_value *rest = sim_array();

	for (size_t i = 0; i < sim_count(list); i++) {
		if (strcmp(sim_text_or(sim_item(list, i), ""), finalizer) != 0)
			sim_append(&rest, sim_ref(sim_item(list, i)));
	}
	return patch_list(g, n, object, "finalizers", rest);
}

/* ---- an object whose owners are looked at ---- */

enum standing { SOLID, DANGLING, WAITING };

static enum standing standing_of(const struct sim_gc *g, const struct gc_node *n,
	const struct sim_value *reference)
{
	const char *version = sim_text_or(sim_member(reference, "apiVersion"), ""),
		   *slash = strchr(version, '/');
	const char *kind = sim_text_or(sim_member(reference, "kind"), ""),
		   *name = sim_text_or(sim_member(reference, "name"), "");
	char *group KAR_CLEANUP(kar_cleanup_free) =
		kar_xstrndup(version, slash ? (size_t)(slash - version) : 0);
	const struct sim_resource *r = sim_resource_of_kind(g->s, group, kind);
	const struct sim_value *owner;

	if (!r || (r->namespaced && !n->ns))
		return SOLID;
	owner = sim_apiserver_peek(g->s, r->group, r->plural, r->namespaced ? n->ns : NULL, name);
	if (!owner || !sim_equal(sim_get(owner, "metadata", "uid"), sim_member(reference, "uid")))
		return DANGLING;
	return gc_is_deleting(owner, foreground) ? WAITING : SOLID;
}

struct owners {
	size_t n[WAITING + 1];
	struct sim_value *solid; /* references that stay */
};

static struct owners classify(const struct sim_gc *g, const struct gc_node *n,
	const struct sim_value *references)
{
	struct owners o = { .solid = sim_array() };

	for (size_t i = 0; i < sim_count(references); i++) {
		enum standing standing = standing_of(g, n, sim_item(references, i));

		o.n[standing]++;
		if (standing == SOLID)
			sim_append(&o.solid, sim_ref(sim_item(references, i)));
	}
	return o;
}

static const struct sim_value *dependent_in_foreground(const struct sim_gc *g, const struct gc_node *n)
{
	struct gc_edge *e;

	TAILQ_FOREACH(e, &n->dependents, of_owner) {
		const struct sim_value *dependent = object_of(g, e->dependent);

		if (gc_is_deleting(dependent, foreground))
			return dependent;
	}
	return NULL;
}

/* A ring of owners, all waiting for each other, is broken by letting one wait no longer. */
static bool unblock_owners(struct sim_gc *g, const struct gc_node *n, const struct sim_value *object)
{
	struct sim_value *references = sim_ref(sim_get(object, "metadata", "ownerReferences"));

	for (size_t i = 0; i < sim_count(references); i++) {
		struct sim_value *reference = sim_ref(sim_item(references, i));

		if (sim_bool_of(sim_member(reference, "blockOwnerDeletion"), false))
			sim_set(&reference, sim_bool(false), "blockOwnerDeletion");
		sim_replace(&references, i, reference);
	}
	return patch_list(g, n, object, "ownerReferences", references);
}

static bool delete_in_foreground(struct sim_gc *g, const struct gc_node *n)
{
	if (dependent_in_foreground(g, n) && !unblock_owners(g, n, object_of(g, n)))
		return false;
	return delete_object(g, n, object_of(g, n), "Foreground");
}

static bool collect(struct sim_gc *g, const struct gc_node *n, const struct sim_value *object)
{
	const struct sim_value *references = sim_get(object, "metadata", "ownerReferences");
	struct owners o;
	bool done = true;

	if (sim_count(references) == 0)
		return true;
	o = classify(g, n, references);
	if (o.n[SOLID] > 0) {
		if (o.n[SOLID] < sim_count(references))
			done = patch_list(g, n, object, "ownerReferences", sim_ref(o.solid));
	} else if (o.n[WAITING] > 0 && !TAILQ_EMPTY(&n->dependents)) {
		done = delete_in_foreground(g, n);
	} else if (gc_has_finalizer(object, orphan)) {
		done = delete_object(g, n, object, "Orphan");
	} else {
		done = delete_object(g, n, object,
			gc_has_finalizer(object, foreground) ? "Foreground" : "Background");
	}
	sim_unref(o.solid);
	return done;
}

/* ---- owners that wait ---- */

static bool wait_for_dependents(struct sim_gc *g, const struct gc_node *n, const struct sim_value *object)
{
	struct gc_edge *e;
	size_t blocking = 0;

	TAILQ_FOREACH(e, &n->dependents, of_owner) {
		if (!e->blocks)
			continue;
		blocking++;
		if (!gc_is_deleting(object_of(g, e->dependent), foreground))
			enqueue(g, e->dependent, GC_DELETE);
	}
	return blocking > 0 || remove_finalizer(g, n, object, foreground);
}

static bool cut_tie(struct sim_gc *g, const struct gc_node *dependent, const char *owner_uid)
{
	const struct sim_value *object = object_of(g, dependent),
			       *references = sim_get(object, "metadata", "ownerReferences");
	struct sim_value *rest;

	if (!object)
		return true;
	rest = sim_array();
	for (size_t i = 0; i < sim_count(references); i++) {
		if (strcmp(sim_text_or(sim_member(sim_item(references, i), "uid"), ""), owner_uid) != 0)
			sim_append(&rest, sim_ref(sim_item(references, i)));
	}
	return patch_list(g, dependent, object, "ownerReferences", rest);
}

static bool orphan_dependents(struct sim_gc *g, struct gc_node *n)
{
	struct gc_edge *e, *next;
	bool done = true;

	/* Cutting a tie comes back to the listener, which removes the edge. */
	TAILQ_FOREACH_SAFE(e, &n->dependents, of_owner, next)
		done &= cut_tie(g, e->dependent, n->uid);
	const struct sim_value *object = object_of(g, n);

	if (!done || !gc_is_deleting(object, orphan))
		return done;
	return remove_finalizer(g, n, object, orphan);
}

/* ---- work ---- */

static bool attempt(struct sim_gc *g, struct gc_node *n, unsigned tasks)
{
	const struct sim_value *object = object_of(g, n);

	if (!object)
		return true;
	if (tasks & GC_ORPHAN && gc_is_deleting(object, orphan))
		return orphan_dependents(g, n);
	if (!(tasks & GC_DELETE))
		return true;
	if (gc_is_deleting(object, foreground))
		return wait_for_dependents(g, n, object);
	/* What is on its way already needs no push. */
	return sim_get(object, "metadata", "deletionTimestamp") || collect(g, n, object);
}

static void put_off(struct sim_gc *g, struct gc_node *n, unsigned tasks)
{
	if (n->tasks == 0)
		TAILQ_INSERT_TAIL(&g->later, n, in_line);
	n->tasks |= tasks;
}

static void work(void *arg)
{
	struct sim_gc *g = arg;
	struct gc_line line = TAILQ_HEAD_INITIALIZER(line);
	struct gc_node *n;

	TAILQ_CONCAT(&line, &g->line, in_line);
	TAILQ_CONCAT(&line, &g->later, in_line);
	while ((n = TAILQ_FIRST(&line))) {
		unsigned tasks = n->tasks;

		TAILQ_REMOVE(&line, n, in_line);
		n->tasks = 0;
		n->held = true;
		if (!attempt(g, n, tasks))
			put_off(g, n, tasks);
		n->held = false;
		gc_node_release(&g->nodes, n);
	}
	if (!TAILQ_EMPTY(&g->later) && !sim_alarm_running(g->alarm))
		sim_alarm_start(g->alarm, RETRY_DELAY);
}

/* ---- what happens in the store ---- */

static struct gc_node *owner_node(struct sim_gc *g, const struct sim_value *reference, const char *ns)
{
	const char *version = sim_text_or(sim_member(reference, "apiVersion"), ""),
		   *slash = strchr(version, '/');
	char *group KAR_CLEANUP(kar_cleanup_free) =
		kar_xstrndup(version, slash ? (size_t)(slash - version) : 0);
	const struct sim_resource *r =
		sim_resource_of_kind(g->s, group, sim_text_or(sim_member(reference, "kind"), ""));

	return gc_node_at(&g->nodes, sim_text_or(sim_member(reference, "uid"), ""), group, r ? r->plural : "",
		r && r->namespaced ? ns : NULL, sim_text_or(sim_member(reference, "name"), ""));
}

static bool names_owner(const struct sim_value *references, const char *uid)
{
	for (size_t i = 0; i < sim_count(references); i++) {
		if (!strcmp(sim_text_or(sim_member(sim_item(references, i), "uid"), ""), uid))
			return true;
	}
	return false;
}

/* Owners that waited for this dependent may go on. */
static void let_go(struct sim_gc *g, struct gc_edge *e)
{
	struct gc_node *owner = e->owner;

	if (e->blocks && gc_is_deleting(object_of(g, owner), foreground))
		enqueue(g, owner, GC_DELETE);
	gc_edge_remove(e);
	gc_node_release(&g->nodes, owner);
}

static void drop_edges(struct sim_gc *g, struct gc_node *n, const struct sim_value *references)
{
	struct gc_edge *e, *next;

	TAILQ_FOREACH_SAFE(e, &n->owners, of_dependent, next) {
		if (!names_owner(references, e->owner->uid))
			let_go(g, e);
	}
}

static void add_edge(struct sim_gc *g, struct gc_node *n, const struct sim_value *reference)
{
	bool blocks = sim_bool_of(sim_member(reference, "blockOwnerDeletion"), false);
	struct gc_node *owner = owner_node(g, reference, n->ns);
	struct gc_edge *e = gc_edge_find(n, owner);

	if (!e) {
		gc_edge_add(n, owner, blocks);
		if (standing_of(g, n, reference) != SOLID)
			enqueue(g, n, GC_DELETE);
		return;
	}
	if (e->blocks && !blocks && gc_is_deleting(object_of(g, owner), foreground))
		enqueue(g, owner, GC_DELETE);
	e->blocks = blocks;
}

static struct gc_node *seen(struct sim_gc *g, const struct sim_change *c, const char *uid)
{
	struct gc_node *n = gc_node_at(&g->nodes, uid, c->group, c->resource, c->ns, c->name);

	gc_node_place(n, c->group, c->resource, c->ns, c->name);
	return n;
}

static void owners_changed(struct sim_gc *g, const struct sim_change *c, const char *uid)
{
	const struct sim_value *references = sim_get(c->new, "metadata", "ownerReferences");
	struct gc_node *n = gc_node_find(&g->nodes, uid);

	if (!n && sim_count(references) == 0)
		return;
	n = seen(g, c, uid);
	for (size_t i = 0; i < sim_count(references); i++)
		add_edge(g, n, sim_item(references, i));
	drop_edges(g, n, references);
	gc_node_release(&g->nodes, n);
}

/* The deletion of an owner has begun: its dependents are freed, or go first. */
static void deletion_changed(struct sim_gc *g, const struct sim_change *c, const char *uid)
{
	bool orphans = gc_is_deleting(c->new, orphan) && !gc_is_deleting(c->old, orphan);
	bool waits = gc_is_deleting(c->new, foreground) && !gc_is_deleting(c->old, foreground);
	struct gc_node *n;

	if (!orphans && !waits)
		return;
	n = seen(g, c, uid);
	if (orphans)
		enqueue(g, n, GC_ORPHAN);
	if (!waits)
		return;
	enqueue_dependents(g, n);
	enqueue(g, n, GC_DELETE);
}

static void removed(struct sim_gc *g, const char *uid)
{
	struct gc_node *n = gc_node_find(&g->nodes, uid);

	if (!n)
		return;
	enqueue_dependents(g, n);
	drop_edges(g, n, NULL);
	gc_node_release(&g->nodes, n);
}

static void on_change(void *arg, const struct sim_change *c)
{
	struct sim_gc *g = arg;
	const struct sim_value *was = sim_member(c->old, "metadata"), *is = sim_member(c->new, "metadata");
	const char *uid = sim_text_or(sim_member(c->new ? is : was, "uid"), "");

	if (!strcmp(c->resource, "events"))
		return;
	if (!c->new) {
		removed(g, uid);
		return;
	}
	if (sim_member(was, "ownerReferences") != sim_member(is, "ownerReferences"))
		owners_changed(g, c, uid);
	if (sim_member(was, "deletionTimestamp") != sim_member(is, "deletionTimestamp") ||
		sim_member(was, "finalizers") != sim_member(is, "finalizers"))
		deletion_changed(g, c, uid);
}

struct sim_gc *sim_gc_new(struct sim_apiserver *s)
{
	struct sim_gc *g = kar_xcalloc(1, sizeof(*g));

	g->s = s;
	g->random = sim_random_of(sim_random_next(sim_apiserver_random(s)), "garbage collector");
	g->alarm = sim_alarm_new(sim_apiserver_timeline(s), work, g);
	RB_INIT(&g->nodes);
	TAILQ_INIT(&g->line);
	TAILQ_INIT(&g->later);
	sim_apiserver_listen(s, on_change, g);
	return g;
}

void sim_gc_free(struct sim_gc *g)
{
	if (!g)
		return;
	sim_alarm_free(g->alarm);
	gc_graph_free(&g->nodes);
	free(g);
}
