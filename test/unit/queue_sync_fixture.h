/*
 * queue_sync_fixture - the Queue reconciler with stores of its own: objects are put as JSON, one pass is made, its plan is looked
 * at. For one test executable: all functions are static. Include after cmocka.h.
 */
#ifndef KAR_TEST_QUEUE_SYNC_FIXTURE_H
#define KAR_TEST_QUEUE_SYNC_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "controllers/controller.h"
#include "controllers/queue/queue.h"

static const kar_time wall = 1795268787123;

struct world {
	struct kar_intern *strings;
	struct kar_stores stores;
	struct kar_controller controller;
	struct kar_key_state state;
	struct kar_sync sync;
	kar_rv rv;
	kar_time mono;
};

static struct world w;

static KAR_UNUSED int setup(void **state)
{
	const struct kar_workqueue_options o = { 0 };

	(void)state;
	w = (struct world){ .strings = kar_intern_new(), .rv = 10, .mono = 1000000 };
	w.stores.podgroups = kar_store_new(&kar_podgroup_type, w.strings);
	w.stores.queues = kar_store_new(&kar_queue_type, w.strings);
	w.stores.queuejobs = kar_store_new(&kar_queuejob_type, w.strings);
	w.stores.priorityclasses = kar_store_new(&kar_priorityclass_type, w.strings);
	w.controller.stores = &w.stores;
	w.controller.queue = kar_workqueue_new(&o);
	w.controller.barrier = kar_barrier_new();
	kar_queue_controller(&w.controller);
	return 0;
}

static KAR_UNUSED int teardown(void **state)
{
	(void)state;
	kar_arena_release(&w.sync.arena);
	kar_workqueue_free(w.controller.queue);
	kar_barrier_free(w.controller.barrier);
	kar_store_free(w.stores.podgroups);
	kar_store_free(w.stores.queues);
	kar_store_free(w.stores.queuejobs);
	kar_store_free(w.stores.priorityclasses);
	kar_intern_free(w.strings);
	return 0;
}

/* Puts an object into a store, with the next resourceVersion; its UID is "uid-<name>". */
static KAR_UNUSED void put(struct kar_store *s, const char *name, const char *more_meta, const char *rest)
{
	const struct kar_type *t = kar_store_type(s);
	struct kar_arena arena = { 0 };
	void *wire = kar_arena_alloc(&arena, 1, t->wire->size);
	struct kar_err err = { 0 };
	const char *json = kar_arena_printf(&arena,
		"{\"metadata\":{%s\"name\":\"%s\",\"uid\":\"uid-%s\",\"resourceVersion\":\"%d\",\"generation\":1%s}%s}",
		t->res.namespaced ? "\"namespace\":\"ns\"," : "", name, name, (int)++w.rv, more_meta, rest);
	struct kar_object *o;

	if (kar_json_decode(&arena, t->wire, NULL, json, strlen(json), wire, &err))
		fail_msg("%s in %s", err.msg, json);
	o = t->project(wire, w.strings, &err);
	if (!o)
		fail_msg("%s in %s", err.msg, json);
	kar_store_apply(s, o);
	kar_arena_release(&arena);
}

#define ADMITTED(status, reason, message) \
	"\"conditions\":[{\"type\":\"Admitted\",\"status\":\"" status "\",\"reason\":\"" reason \
	"\",\"message\":\"" message "\"," \
	"\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]"

static KAR_UNUSED void put_queue(const char *name, const char *spec)
{
	char rest[512];

	snprintf(rest, sizeof(rest),
		",\"spec\":{%s},\"status\":{\"state\":\"Open\",\"conditions\":["
		"{\"type\":\"Valid\",\"status\":\"True\",\"reason\":\"Valid\",\"message\":\"\",\"observedGeneration\":1},"
		"{\"type\":\"Active\",\"status\":\"True\",\"reason\":\"Open\",\"message\":\"admits jobs\",\"observedGeneration\":1}]}",
		spec);
	put(w.stores.queues, name, "", rest);
}

static KAR_UNUSED void put_group(const char *name, const char *spec, const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest), ",\"spec\":{%s},\"status\":{%s}", spec, status);
	put(w.stores.podgroups, name, "", rest);
}

static KAR_UNUSED void put_group_of_job(const char *name, const char *status)
{
	char rest[1024], owner[256];

	snprintf(rest, sizeof(rest), ",\"spec\":{},\"status\":{%s}", status);
	snprintf(owner, sizeof(owner),
		",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"%s\",\"uid\":\"uid-%s\",\"controller\":true}]",
		name, name);
	put(w.stores.podgroups, name, owner, rest);
}

#define TASKS "\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":[]}}}]"

static KAR_UNUSED void put_job(const char *name, const char *more_meta, const char *spec, const char *phase)
{
	char rest[512];

	snprintf(rest, sizeof(rest), ",\"spec\":{" TASKS "%s},\"status\":{\"phase\":\"%s\"}", spec, phase);
	put(w.stores.queuejobs, name, more_meta, rest);
}

#define INVALID(pods) \
	"Pending\",\"replicas\":" pods \
	",\"conditions\":[{\"type\":\"Invalid\",\"status\":\"True\"}],\"reason\":\"r"

/* One sync; the plan without what concerns queue statuses if @groups_only. The text lives until the next call. */
static const char *sync_text(bool groups_only)
{
	static char text[4096];
	struct kar_buf out = { 0 };

	kar_arena_release(&w.sync.arena);
	w.sync = (struct kar_sync){ .controller = &w.controller,
		.key = "all",
		.now = wall,
		.mono = w.mono,
		.state = &w.state };
	kar_plan_init(&w.sync.plan, &w.sync.arena);
	if (!w.controller.sync(&w.controller, &w.sync))
		kar_buf_puts(&out, "not yet: ");
	while (groups_only && w.sync.plan.n_actions &&
		w.sync.plan.actions[w.sync.plan.n_actions - 1].type == &kar_queue_type)
		w.sync.plan.n_actions--;
	if (groups_only)
		w.sync.plan.requeue_after = KAR_NEVER;
	kar_plan_print(&w.sync.plan, &out);
	snprintf(text, sizeof(text), "%s", kar_buf_cstr(&out));
	kar_buf_release(&out);
	return text;
}

#endif
