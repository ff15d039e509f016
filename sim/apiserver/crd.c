#include "sim/apiserver/crd.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/core.h"

/* The controllers of the API server look a moment later; what has to wait is looked at again after a while. */
enum { SOONEST = 2, LATEST = 20, AGAIN = 1000 };

static const char group[] = "apiextensions.k8s.io", plural[] = "customresourcedefinitions";

struct crd {
	SLIST_ENTRY(crd) link;
	struct sim_crds *all;
	char *name;
	struct sim_served *served;
	struct sim_alarm *alarm;
};

struct sim_crds {
	struct sim_apiserver *s;
	struct sim_random random;
	SLIST_HEAD(, crd) list;
};

struct sim_crds *sim_crds_new(struct sim_apiserver *s)
{
	struct sim_crds *c = kar_xcalloc(1, sizeof(*c));

	c->s = s;
	c->random = s->system;
	SLIST_INIT(&c->list);
	return c;
}

static void free_crd(struct crd *crd)
{
	sim_served_free(crd->served);
	sim_alarm_free(crd->alarm);
	free(crd->name);
	free(crd);
}

void sim_crds_free(struct sim_crds *c)
{
	struct crd *crd, *next;

	if (!c)
		return;
	SLIST_FOREACH_SAFE(crd, &c->list, link, next)
		free_crd(crd);
	free(c);
}

static struct crd *find(const struct sim_crds *c, const char *name)
{
	struct crd *crd;

	SLIST_FOREACH(crd, &c->list, link) {
		if (!strcmp(crd->name, name))
			return crd;
	}
	return NULL;
}

/* ---- writes of the controllers ---- */

/* New reference to the definition, to be edited; NULL: it is gone. */
static struct sim_value *get(const struct crd *crd)
{
	return sim_ref(sim_apiserver_peek(crd->all->s, group, plural, NULL, crd->name));
}

/* @crd may be gone afterwards. */
static void put(const struct crd *crd, struct sim_value *consumed, const char *subresource)
{
	char *name KAR_CLEANUP(kar_cleanup_free) = kar_xstrdup(crd->name);

	sim_apiserver_do(crd->all->s,
		(struct sim_request){ .verb = KAR_UPDATE,
			.group = group,
			.version = "v1",
			.resource = plural,
			.name = name,
			.subresource = subresource,
			.object = consumed,
			.user = "system:apiserver" });
	sim_unref(consumed);
}

void sim_crd_condition(struct sim_value **crd, const char *type, const char *status, const char *reason,
	const char *message, kar_time now)
{
	const struct sim_value *known = sim_get(*crd, "status", "conditions");
	struct sim_value *list = sim_kind(known) == SIM_ARRAY ? sim_ref(known) : sim_array();
	struct sim_value *condition = sim_object();
	size_t at = 0;

	while (at < sim_count(list) &&
		strcmp(sim_text_or(sim_member(sim_item(list, at), "type"), ""), type) != 0)
		at++;
	const struct sim_value *old = sim_item(list, at);
	bool same = old && !strcmp(sim_text_or(sim_member(old, "status"), ""), status);

	sim_set_text(&condition, type, "type");
	sim_set_text(&condition, status, "status");
	sim_set(&condition, same ? sim_ref(sim_member(old, "lastTransitionTime")) : sim_time(now),
		"lastTransitionTime");
	sim_set_text(&condition, reason, "reason");
	sim_set_text(&condition, message, "message");
	if (old)
		sim_replace(&list, at, condition);
	else
		sim_append(&list, condition);
	sim_set(crd, list, "status", "conditions");
}

/* ---- establishing ---- */

/* What was asked for; no other definition is looked at. */
static void accept_names(struct sim_value **object, kar_time now)
{
	sim_set(object, sim_ref(sim_get(*object, "spec", "names")), "status", "acceptedNames");
	sim_crd_condition(object, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now);
	sim_crd_condition(object, "Established", "True", "InitialNamesAccepted",
		"the initial names have been accepted", now);
}

static void serve(struct crd *crd, const struct sim_value *object)
{
	struct sim_value *new KAR_CLEANUP(sim_cleanup_value) = sim_ref(object);

	accept_names(&new, sim_timeline_wall(crd->all->s->timeline));
	if (!sim_equal(sim_member(object, "status"), sim_member(new, "status")))
		put(crd, sim_ref(new), "status");
	assert(new);
	sim_served_set(crd->served, new);
}

/* ---- cleaning up ---- */

/* Deletes every object; some may have finalizers and stay for now. */
static void delete_objects(struct crd *crd)
{
	const struct sim_resource *r = sim_served_resource(crd->served);
	struct sim_slot *slot = r ? sim_slot_from(r->objects, "") : NULL;

	while (slot) {
		struct sim_value *object = sim_ref(slot->version->value);
		const struct sim_value *meta = sim_member(object, "metadata");
		char after[SIM_KEY_MAX];

		memcpy(after, slot->key, strlen(slot->key) + 1);
		if (!sim_member(meta, "deletionTimestamp"))
			sim_apiserver_do(crd->all->s,
				(struct sim_request){ .verb = KAR_DELETE,
					.group = r->group,
					.version = r->version,
					.resource = r->plural,
					.ns = sim_text(sim_member(meta, "namespace")),
					.name = sim_text(sim_member(meta, "name")),
					.user = "system:apiserver" });
		sim_unref(object);
		slot = sim_slot_from(r->objects, after);
		if (slot && !strcmp(slot->key, after))
			slot = sim_slot_after(slot);
	}
}

static void clean_up(struct crd *crd, const struct sim_value *object)
{
	static const char finalizer[] = "customresourcecleanup.apiextensions.k8s.io";
	const struct sim_resource *r = sim_served_resource(crd->served);
	struct sim_value *new = sim_ref(object);

	sim_served_close(crd->served);
	sim_crd_condition(&new, "Terminating", "True", "InstanceDeletionInProgress",
		"CustomResource deletion is in progress", sim_timeline_wall(crd->all->s->timeline));
	put(crd, new, "status");
	delete_objects(crd);
	if (r && sim_collection_count(r->objects) > 0) {
		sim_alarm_start(crd->alarm, AGAIN);
		return;
	}
	new = get(crd);
	const struct sim_value *before = sim_get(new, "metadata", "finalizers");
	struct sim_value *after = sim_array();

	for (size_t i = 0; i < sim_count(before); i++) {
		if (strcmp(sim_text_or(sim_item(before, i), ""), finalizer) != 0)
			sim_append(&after, sim_ref(sim_item(before, i)));
	}
	sim_set(&new, after, "metadata", "finalizers");
	put(crd, new, NULL);
}

static void work(struct crd *crd)
{
	struct sim_value *object KAR_CLEANUP(sim_cleanup_value) = get(crd);

	if (!object)
		return;
	if (sim_get(object, "metadata", "deletionTimestamp"))
		clean_up(crd, object); /* may free crd */
	else
		serve(crd, object);
}

static void on_alarm(void *arg)
{
	work(arg);
}

void sim_crds_establish(struct sim_crds *c, const char *name)
{
	struct crd *crd = find(c, name);

	if (!crd)
		return;
	sim_alarm_stop(crd->alarm);
	work(crd);
}

static struct crd *add(struct sim_crds *c, const char *name)
{
	struct crd *crd = kar_xcalloc(1, sizeof(*crd));

	crd->all = c;
	crd->name = kar_xstrdup(name);
	crd->served = sim_served_new(c->s);
	crd->alarm = sim_alarm_new(c->s->timeline, on_alarm, crd);
	SLIST_INSERT_HEAD(&c->list, crd, link);
	return crd;
}

static void forget(struct sim_crds *c, struct crd *crd)
{
	if (!crd)
		return;
	SLIST_REMOVE(&c->list, crd, crd, link);
	free_crd(crd);
}

/* There is something to do: not if only status or labels changed. */
static bool matters(const struct sim_value *old, const struct sim_value *new)
{
	bool deleted = sim_get(new, "metadata", "deletionTimestamp") &&
		!sim_get(old, "metadata", "deletionTimestamp");

	return deleted || !sim_equal(sim_member(old, "spec"), sim_member(new, "spec"));
}

void sim_crds_changed(struct sim_crds *c, const struct sim_value *old, const struct sim_value *new)
{
	const char *name = sim_text_or(sim_get(new ? new : old, "metadata", "name"), "");
	struct crd *crd = find(c, name);

	if (!new) {
		forget(c, crd);
		return;
	}
	if (crd && !matters(old, new))
		return;
	crd = crd ? crd : add(c, name);
	sim_alarm_start(crd->alarm, sim_random_between(&c->random, SOONEST, LATEST));
}
