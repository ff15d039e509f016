/*
 * The namespace, service account and root CA controllers: what every namespace has from its first moments, and how
 * one ends. The end of events (expiry.h) lives with them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include "common/base/mem.h"
#include "sim/apiserver/expiry.h"
#include "sim/apiserver/store.h"

enum { SHORTEST_DELAY = 2, LONGEST_DELAY = 40 }; /* ms until a namespace is furnished */
#define GRACE_PERIOD (5 * KAR_SECOND)            /* between the deletion and the first attempt to empty it */
#define FINALIZER_ESTIMATE 15                    /* seconds that others may take to finalize what is left */

/* One namespace that something is to be done about. */
struct task {
	TAILQ_ENTRY(task) link;
	struct sim_namespaces *owner;
	struct sim_alarm *alarm;
	char *ns;
};

struct sim_namespaces {
	struct sim_apiserver *s;
	struct sim_random random;
	struct sim_expiry *expiry;
	TAILQ_HEAD(, task) tasks;
};

static void free_task(struct task *t)
{
	TAILQ_REMOVE(&t->owner->tasks, t, link);
	sim_alarm_free(t->alarm);
	free(t->ns);
	free(t);
}

static void add_task(struct sim_namespaces *n, const char *ns, sim_alarm_fn *fn, kar_time after)
{
	struct task *t = kar_xcalloc(1, sizeof(*t));

	t->owner = n;
	t->ns = kar_xstrdup(ns);
	t->alarm = sim_alarm_new(sim_apiserver_timeline(n->s), fn, t);
	TAILQ_INSERT_TAIL(&n->tasks, t, link);
	sim_alarm_start(t->alarm, after);
}

static const struct sim_value *namespace_of(const struct task *t)
{
	return sim_apiserver_peek(t->owner->s, "", "namespaces", NULL, t->ns);
}

/* ---- what every namespace has ---- */

static void create(struct task *t, const char *resource, const char *user, struct sim_value *consumed)
{
	sim_apiserver_do(t->owner->s,
		(struct sim_request){ .verb = KAR_CREATE,
			.group = "",
			.version = "v1",
			.resource = resource,
			.ns = t->ns,
			.object = consumed,
			.user = user });
	sim_unref(consumed);
}

static void create_account(struct task *t)
{
	struct sim_value *account = sim_object();

	if (!sim_apiserver_peek(t->owner->s, "", "serviceaccounts", t->ns, "default")) {
		sim_set_text(&account, "default", "metadata", "name");
		create(t, "serviceaccounts", "system:serviceaccount:kube-system:service-account-controller",
			sim_ref(account));
	}
	sim_unref(account);
}

static void create_root_certificate(struct task *t)
{
	struct sim_value *map = sim_object();

	if (!sim_apiserver_peek(t->owner->s, "", "configmaps", t->ns, "kube-root-ca.crt")) {
		sim_set_text(&map, "kube-root-ca.crt", "metadata", "name");
		sim_set_text(&map,
			"Certificates with which servers inside the cluster prove themselves; here there are none.",
			"metadata", "annotations", "kubernetes.io/description");
		sim_set_text(&map, "", "data", "ca.crt");
		create(t, "configmaps", "system:serviceaccount:kube-system:root-ca-cert-publisher",
			sim_ref(map));
	}
	sim_unref(map);
}

static void furnish(void *arg)
{
	struct task *t = arg;
	const struct sim_value *ns = namespace_of(t);

	if (ns && !sim_get(ns, "metadata", "deletionTimestamp")) {
		create_account(t);
		create_root_certificate(t);
	}
	free_task(t);
}

/* ---- how a namespace ends ---- */

/* What is left in it. */
struct rest {
	size_t objects, pods;
	int64_t longest_grace;                /* seconds, of pods */
	struct kar_buf resources, finalizers; /* texts of the conditions */
};

static void note_finalizers(struct rest *rest, const struct sim_value *object)
{
	const struct sim_value *list = sim_get(object, "metadata", "finalizers");

	for (size_t i = 0; i < sim_count(list); i++)
		kar_buf_printf(&rest->finalizers, "%s%s in 1 resource instances",
			rest->finalizers.n ? ", " : "", sim_text_or(sim_item(list, i), ""));
}

static bool is_pods(const struct sim_resource *r)
{
	return !*r->group && !strcmp(r->plural, "pods");
}

static void take_stock_of(const struct task *t, const struct sim_resource *r, struct rest *rest)
{
	struct sim_version *v = sim_collection_next(r->objects, t->ns, NULL, NULL);
	size_t n = 0;

	while (v) {
		int64_t grace = sim_get_int(v->value, 0, "spec", "terminationGracePeriodSeconds");

		n++;
		note_finalizers(rest, v->value);
		if (is_pods(r) && grace > rest->longest_grace)
			rest->longest_grace = grace;
		v = sim_collection_next(r->objects, t->ns, t->ns,
			sim_text_or(sim_get(v->value, "metadata", "name"), ""));
	}
	rest->objects += n;
	if (is_pods(r))
		rest->pods += n;
	if (n > 0)
		kar_buf_printf(&rest->resources, "%s%s.%s has %zu resource instances",
			rest->resources.n ? ", " : "", r->plural, r->group, n);
}

static bool is_content(const struct sim_resource *r)
{
	return r->namespaced && r->objects && !r->stored_as &&
		(r->verbs == 0 || r->verbs & 1u << KAR_DELETECOLLECTION);
}

static struct rest take_stock(const struct task *t)
{
	struct rest rest = { 0 };
	const struct sim_resource *r;

	for (size_t i = 0; (r = sim_resource_at(t->owner->s, i)); i++) {
		if (is_content(r))
			take_stock_of(t, r, &rest);
	}
	return rest;
}

static void delete_all(struct task *t, const struct sim_resource *r)
{
	if (!sim_collection_next(r->objects, t->ns, NULL, NULL))
		return;
	sim_apiserver_do(t->owner->s,
		(struct sim_request){ .verb = KAR_DELETECOLLECTION,
			.group = r->group,
			.version = r->version,
			.resource = r->plural,
			.ns = t->ns,
			.propagation_policy = "Background",
			.user = "system:serviceaccount:kube-system:namespace-controller" });
}

/* Pods first: while one is there, nothing that it may need is taken away (KEP-5080). */
static void delete_content(struct task *t)
{
	struct sim_resource *pods = sim_resource_find(t->owner->s, "", "v1", "pods"), *r;

	delete_all(t, pods);
	if (sim_collection_next(pods->objects, t->ns, NULL, NULL))
		return;
	for (size_t i = 0; (r = sim_resource_at(t->owner->s, i)); i++) {
		if (is_content(r))
			delete_all(t, r);
	}
}

/* @old: the conditions so far, in the same order. */
static void add_condition(struct sim_value **list, const struct sim_value *old, kar_time now,
	const char *type, const char *status, const char *reason, const char *message)
{
	const struct sim_value *before = sim_item(old, sim_count(*list)),
			       *since = sim_member(before, "lastTransitionTime");
	struct sim_value *condition = sim_object();
	bool same = since && !strcmp(sim_text_or(sim_member(before, "status"), ""), status);

	sim_set_text(&condition, type, "type");
	sim_set_text(&condition, status, "status");
	sim_set(&condition, same ? sim_ref(since) : sim_time(now), "lastTransitionTime");
	sim_set_text(&condition, reason, "reason");
	sim_set_text(&condition, message, "message");
	sim_append(list, condition);
}

static struct sim_value *conditions_of(const struct sim_value *old, const struct rest *rest, kar_time now)
{
	struct kar_buf left KAR_CLEANUP(kar_cleanup_buf) = { 0 }, held KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_value *list = sim_array();
	bool some = rest->objects > 0 && rest->pods == 0, finalizers = some && rest->finalizers.n > 0;

	kar_buf_printf(&left, "Some resources are remaining: %s", kar_buf_cstr(&rest->resources));
	kar_buf_printf(&held, "Some content in the namespace has finalizers remaining: %s",
		kar_buf_cstr(&rest->finalizers));
	add_condition(&list, old, now, "NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered",
		"All resources successfully discovered");
	add_condition(&list, old, now, "NamespaceDeletionGroupVersionParsingFailure", "False",
		"ParsedGroupVersions", "All legacy kube types successfully parsed");
	add_condition(&list, old, now, "NamespaceDeletionContentFailure", "False", "ContentDeleted",
		"All content successfully deleted, may be waiting on finalization");
	add_condition(&list, old, now, "NamespaceContentRemaining", some ? "True" : "False",
		some ? "SomeResourcesRemain" : "ContentRemoved",
		some ? kar_buf_cstr(&left) : "All content successfully removed");
	add_condition(&list, old, now, "NamespaceFinalizersRemaining", finalizers ? "True" : "False",
		finalizers ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
		finalizers ? kar_buf_cstr(&held) : "All content-preserving finalizers finished");
	return list;
}

static void write_conditions(struct task *t, const struct rest *rest)
{
	kar_time now = sim_timeline_wall(sim_apiserver_timeline(t->owner->s));
	struct sim_value *ns = sim_ref(namespace_of(t));

	sim_set(&ns, conditions_of(sim_get(ns, "status", "conditions"), rest, now), "status", "conditions");
	sim_apiserver_do(t->owner->s,
		(struct sim_request){ .verb = KAR_UPDATE,
			.group = "",
			.version = "v1",
			.resource = "namespaces",
			.name = t->ns,
			.subresource = "status",
			.object = ns,
			.user = "system:serviceaccount:kube-system:namespace-controller" });
	sim_unref(ns);
}

static void finalize(struct task *t)
{
	struct sim_value *ns = sim_ref(namespace_of(t)), *rest = sim_array();
	const struct sim_value *finalizers = sim_get(ns, "spec", "finalizers");

	for (size_t i = 0; i < sim_count(finalizers); i++) {
		if (strcmp(sim_text_or(sim_item(finalizers, i), ""), "kubernetes") != 0)
			sim_append(&rest, sim_ref(sim_item(finalizers, i)));
	}
	sim_set(&ns, rest, "spec", "finalizers");
	sim_apiserver_do(t->owner->s,
		(struct sim_request){ .verb = KAR_UPDATE,
			.group = "",
			.version = "v1",
			.resource = "namespaces",
			.name = t->ns,
			.subresource = "finalize",
			.object = ns,
			.user = "system:serviceaccount:kube-system:namespace-controller" });
	sim_unref(ns);
}

static void empty(void *arg)
{
	struct task *t = arg;
	const struct sim_value *ns = namespace_of(t);
	struct rest rest;
	int64_t before;
	bool told;

	if (!ns || !sim_get(ns, "metadata", "deletionTimestamp") ||
		sim_count(sim_get(ns, "spec", "finalizers")) == 0) {
		free_task(t);
		return;
	}
	delete_content(t);
	rest = take_stock(t);
	before = sim_apiserver_rv(t->owner->s);
	write_conditions(t, &rest);
	told = sim_apiserver_rv(t->owner->s) != before;
	if (rest.objects == 0)
		finalize(t);
	/*
	 * As long as an estimate says that others need, and once more for finalizers of the namespace that are not
	 * ours. The controller sees its own status update too, as any of a namespace that is going, and comes back for it.
	 */
	int64_t estimate = rest.pods > 0 ? rest.longest_grace : FINALIZER_ESTIMATE;
	kar_time after = (estimate / 2 + 1) * KAR_SECOND;

	sim_alarm_start(t->alarm, told && after > GRACE_PERIOD ? GRACE_PERIOD : after);
	kar_buf_release(&rest.resources);
	kar_buf_release(&rest.finalizers);
}

/* ---- what happens in the store ---- */

static void furnish_soon(struct sim_namespaces *n, const char *ns)
{
	add_task(n, ns, furnish, sim_random_between(&n->random, SHORTEST_DELAY, LONGEST_DELAY));
}

static void on_change(void *arg, const struct sim_change *c)
{
	struct sim_namespaces *n = arg;

	if (*c->group)
		return;
	if (!strcmp(c->resource, "namespaces")) {
		if (!c->old)
			furnish_soon(n, c->name);
		else if (c->new &&sim_get(c->new, "metadata", "deletionTimestamp") &&
			!sim_get(c->old, "metadata", "deletionTimestamp"))
			add_task(n, c->name, empty, GRACE_PERIOD);
	} else if (!c->new &&
		((!strcmp(c->resource, "serviceaccounts") && !strcmp(c->name, "default")) ||
			(!strcmp(c->resource, "configmaps") && !strcmp(c->name, "kube-root-ca.crt")))) {
		furnish_soon(n, c->ns);
	}
}

struct sim_namespaces *sim_namespaces_new(struct sim_apiserver *s)
{
	struct sim_namespaces *n = kar_xcalloc(1, sizeof(*n));

	n->s = s;
	n->random = sim_random_of(sim_random_next(sim_apiserver_random(s)), "namespace controller");
	n->expiry = sim_expiry_new(s);
	TAILQ_INIT(&n->tasks);
	sim_apiserver_listen(s, on_change, n);
	return n;
}

void sim_namespaces_free(struct sim_namespaces *n)
{
	if (!n)
		return;
	while (!TAILQ_EMPTY(&n->tasks))
		free_task(TAILQ_FIRST(&n->tasks));
	sim_expiry_free(n->expiry);
	free(n);
}
