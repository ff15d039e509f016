#include "sim/apiserver/core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/crd.h"
#include "sim/apiserver/types.h"

enum { DEFAULT_HISTORY = 10000 };

static const char *const namespaces[] = { "default", "kube-system", "kube-public", "kube-node-lease" };
/* Name, value: what a cluster is born with. */
static const struct {
	const char *name, *description;
	int64_t value;
} priority_classes[] = {
	{ "system-cluster-critical",
		"Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
		2000000000 },
	{ "system-node-critical",
		"Used for system critical pods that must not be moved from their current node.", 2000001000 },
};

/* ---- what is there from the start ---- */

static void create(struct sim_apiserver *s, const char *group, const char *resource, struct sim_value *object)
{
	int code = sim_apiserver_do(s,
		(struct sim_request){ .verb = KAR_CREATE,
			.group = group,
			.version = "v1",
			.resource = resource,
			.object = object,
			.user = "system:apiserver" });

	assert(code == 201 || code == 404 /* a server without this type, in tests */);
	(void)code;
	sim_unref(object);
}

static void create_namespaces(struct sim_apiserver *s)
{
	for (size_t i = 0; i < KAR_LEN(namespaces); i++) {
		struct sim_value *ns = sim_object();

		sim_set_text(&ns, namespaces[i], "metadata", "name");
		create(s, "", "namespaces", ns);
	}
}

static void create_priority_classes(struct sim_apiserver *s)
{
	for (size_t i = 0; i < KAR_LEN(priority_classes); i++) {
		struct sim_value *class = sim_object();

		sim_set_text(&class, priority_classes[i].name, "metadata", "name");
		sim_set(&class, sim_int(priority_classes[i].value), "value");
		sim_set_text(&class, priority_classes[i].description, "description");
		create(s, "scheduling.k8s.io", "priorityclasses", class);
	}
}

struct sim_apiserver *sim_apiserver_new(struct sim_timeline *t, const struct sim_apiserver_options *o)
{
	struct sim_apiserver *s = kar_xcalloc(1, sizeof(*s));

	s->timeline = t;
	s->no_initial_events = o->no_initial_events;
	s->history = o->history ? o->history : DEFAULT_HISTORY;
	s->uids = sim_random_of(o->seed, "apiserver uids");
	s->names = sim_random_of(o->seed, "apiserver names");
	s->timeouts = sim_random_of(o->seed, "apiserver timeouts");
	s->system = sim_random_of(o->seed, "apiserver controllers");
	s->rv = 1; /* etcd's first revision holds nothing */
	SLIST_INIT(&s->kept);
	s->types = sim_types_new();
	sim_builtin_register(s);
	s->crds = sim_crds_new(s);
	s->gc = sim_gc_new(s);
	s->namespaces = sim_namespaces_new(s);
	s->quota = sim_quota_new(s);
	create_namespaces(s);
	create_priority_classes(s);
	return s;
}

static void free_resources(struct sim_resource **list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!list[i]->stored_as)
			sim_collection_free(list[i]->objects);
		free(list[i]);
	}
	free(list);
}

void sim_apiserver_free(struct sim_apiserver *s)
{
	struct sim_kept *kept;

	if (!s)
		return;
	sim_quota_free(s->quota);
	sim_namespaces_free(s->namespaces);
	sim_gc_free(s->gc);
	sim_crds_free(s->crds);
	free_resources(s->resources, s->n_resources);
	free_resources(s->retired, s->n_retired);
	free(s->buckets);
	sim_types_free(s->types);
	for (kept = SLIST_FIRST(&s->kept); kept; kept = SLIST_FIRST(&s->kept)) {
		SLIST_REMOVE_HEAD(&s->kept, link);
		free(kept);
	}
	free(s->listeners);
	free(s);
}

/* ---- for the other inhabitants ---- */

int sim_apiserver_do(struct sim_apiserver *s, struct sim_request rq)
{
	struct sim_response out;
	int code;

	if (!rq.user)
		rq.user = "system:kube-controller-manager";
	sim_apiserver_call(s, &rq, &out);
	code = out.code;
	sim_response_release(&out);
	return code;
}

struct sim_random *sim_apiserver_random(struct sim_apiserver *s)
{
	return &s->system;
}

const struct sim_types *sim_apiserver_types(const struct sim_apiserver *s)
{
	return s->types;
}

void sim_apiserver_listen(struct sim_apiserver *s, sim_change_fn *fn, void *arg)
{
	s->listeners = kar_xrealloc(s->listeners, s->n_listeners + 1, sizeof(*s->listeners));
	s->listeners[s->n_listeners++] = (struct sim_listener){ fn, arg };
}

/* The collection of the resource in any version; NULL: not served. */
static const struct sim_collection *objects_of(const struct sim_apiserver *s, const char *group,
	const char *resource)
{
	const struct sim_resource *r = sim_resource_find(s, group, "v1", resource);

	if (!r)
		r = sim_resource_of_group(s, group, resource);
	return r ? r->objects : NULL;
}

const struct sim_value *sim_apiserver_peek(const struct sim_apiserver *s, const char *group,
	const char *resource, const char *ns, const char *name)
{
	const struct sim_collection *c = objects_of(s, group, resource);
	const struct sim_version *v = c ? sim_collection_get(c, ns, name) : NULL;

	return v ? v->value : NULL;
}

void sim_apiserver_each(const struct sim_apiserver *s, const char *group, const char *resource,
	void (*fn)(void *arg, const struct sim_value *object), void *arg)
{
	const struct sim_collection *c = objects_of(s, group, resource);

	for (struct sim_slot *slot = c ? sim_slot_from(c, "") : NULL; slot; slot = sim_slot_after(slot))
		fn(arg, slot->version->value);
}

size_t sim_apiserver_count(const struct sim_apiserver *s, const char *group, const char *resource)
{
	const struct sim_collection *c = objects_of(s, group, resource);

	return c ? c->count : 0;
}

int64_t sim_apiserver_rv(const struct sim_apiserver *s)
{
	return s->rv;
}

struct sim_timeline *sim_apiserver_timeline(const struct sim_apiserver *s)
{
	return s->timeline;
}

void sim_apiserver_compact(struct sim_apiserver *s)
{
	for (size_t i = 0; i < s->n_resources; i++) {
		if (!s->resources[i]->stored_as)
			sim_collection_compact(s->resources[i]->objects, s->rv);
	}
}
