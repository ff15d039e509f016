/*
 * queuejob_sync_fixture - the QueueJob reconciler with stores of its own: objects are put as JSON, one key is synced, its plan is
 * looked at, and the API server's answers are given by hand. For one test executable: all functions are static. Include
 * after cmocka.h.
 */
#ifndef KAR_TEST_QUEUEJOB_SYNC_FIXTURE_H
#define KAR_TEST_QUEUEJOB_SYNC_FIXTURE_H

#include "api/types.h"
#include "controllers/controller.h"
#include "controllers/queuejob/queuejob.h"
#include "controllers/refusal.h"
#include "test/unit/job_from_json.h"

static const kar_time wall = 1795268787123;
static const struct kar_settings settings = { .schedule_timeout = 45 * KAR_SECOND };

struct world {
	struct kar_intern *strings;
	struct kar_stores stores;
	struct kar_controller controller;
	struct kar_key_state state;
	struct kar_sync sync;
	int rv;
};

static struct world w;

static KAR_UNUSED struct kar_store *new_store(const struct kar_type *type)
{
	return kar_store_new(type, w.strings);
}

static KAR_UNUSED int setup(void **state)
{
	const struct kar_workqueue_options o = { 0 };

	(void)state;
	w = (struct world){ .strings = kar_intern_new(), .rv = 10 };
	w.stores = (struct kar_stores){
		.pods = new_store(&kar_pod_type),
		.queuejobs = new_store(&kar_queuejob_type),
		.podgroups = new_store(&kar_podgroup_type),
		.schedulingspecs = new_store(&kar_schedulingspec_type),
		.priorityclasses = new_store(&kar_priorityclass_type),
		.services = new_store(&kar_service_type),
		.resourcequotas = new_store(&kar_resourcequota_type),
	};
	w.controller.stores = &w.stores;
	w.controller.settings = &settings;
	w.controller.queue = kar_workqueue_new(&o);
	w.controller.barrier = kar_barrier_new();
	kar_queuejob_controller(&w.controller);
	w.controller.start(&w.controller);
	return 0;
}

static KAR_UNUSED void end_sync(void)
{
	kar_object_unref(w.sync.object);
	kar_arena_release(&w.sync.arena);
	w.sync = (struct kar_sync){ 0 };
}

static KAR_UNUSED int teardown(void **state)
{
	(void)state;
	end_sync();
	kar_refusal_forget(&w.state);
	w.controller.forget(&w.state);
	kar_workqueue_free(w.controller.queue);
	kar_barrier_free(w.controller.barrier);
	kar_store_free(w.stores.pods);
	kar_store_free(w.stores.queuejobs);
	kar_store_free(w.stores.podgroups);
	kar_store_free(w.stores.schedulingspecs);
	kar_store_free(w.stores.priorityclasses);
	kar_store_free(w.stores.services);
	kar_store_free(w.stores.resourcequotas);
	if (kar_intern_count(w.strings))
		return -1;
	kar_intern_free(w.strings);
	return 0;
}

/* Stores an object; @uid and the rest of its metadata and body as JSON members. */
static KAR_UNUSED void put(struct kar_store *s, const char *name, const char *uid, const char *more_meta,
	const char *rest)
{
	const char *ns = kar_store_type(s)->res.namespaced ? "\"namespace\":\"ns\"," : "";
	char json[4096];

	snprintf(json, sizeof(json),
		"{\"metadata\":{%s\"name\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%d\"%s}%s}", ns, name,
		uid, ++w.rv, more_meta, rest);
	kar_store_apply(s, object_from_json(kar_store_type(s), json, w.strings));
}

static KAR_UNUSED void put_job(const char *rest)
{
	put(w.stores.queuejobs, "j", "job-uid", ",\"generation\":1", rest);
}

#define SPEC ",\"spec\":{\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2," TEMPLATE "}]}"
#define STARTING \
	",\"status\":{\"phase\":\"Starting\",\"incarnation\":1,\"templateHash\":\"%s\",\"observedGeneration\":1}"
#define CONTROLLED_BY(kind, name, uid) \
	",\"ownerReferences\":[{\"kind\":\"" kind "\",\"name\":\"" name "\",\"uid\":\"" uid \
	"\",\"controller\":true}]"
#define BY_JOB CONTROLLED_BY("QueueJob", "j", "job-uid")
#define TRACKED ",\"finalizers\":[\"kube-arbitrator.io/pod-tracking\"]"
#define IN_GROUP ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}"

static KAR_UNUSED void put_children(bool admitted)
{
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB, ",\"spec\":{}");
	put(w.stores.podgroups, "j", "g-uid", BY_JOB,
		admitted
			? ",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0},\"status\":{\"conditions\":[{"
			  "\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"\"}]}"
			: ",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0}");
}

/* A job that is about to create its pods. */
static KAR_UNUSED void put_starting_job(void)
{
	char rest[1024];

	put_job(SPEC);
	snprintf(rest, sizeof(rest), SPEC STARTING,
		kar_as_queuejob(kar_store_get(w.stores.queuejobs, "ns", "j"))->spec_template_hash);
	put_job(rest);
	put_children(true);
}

static KAR_UNUSED bool sync_at(kar_time mono)
{
	end_sync();
	w.sync = (struct kar_sync){ .controller = &w.controller,
		.key = "ns/j",
		.now = wall,
		.mono = mono,
		.state = &w.state };
	kar_plan_init(&w.sync.plan, &w.sync.arena);
	return w.controller.sync(&w.controller, &w.sync);
}

static KAR_UNUSED bool sync_key(void)
{
	return sync_at(5000);
}

/* The planned action, or NULL. */
static KAR_UNUSED const struct kar_action *find_action(int what, enum kar_verb verb)
{
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		if (w.sync.plan.actions[i].what == what && w.sync.plan.actions[i].verb == verb)
			return &w.sync.plan.actions[i];
	}
	return NULL;
}

/* The same where the test ends if there is none. */
static KAR_UNUSED const struct kar_action *action_of(int what, enum kar_verb verb)
{
	const struct kar_action *a = find_action(what, verb);

	if (!a) {
		fail_msg("no action %d to %s in the plan", what, kar_verb_name(verb));
		abort();
	}
	return a;
}

static KAR_UNUSED size_t count_actions(enum kar_verb verb)
{
	size_t n = 0;

	for (size_t i = 0; i < w.sync.plan.n_actions; i++)
		n += w.sync.plan.actions[i].verb == verb;
	return n;
}

/* The API server has answered a write of the sync. */
static KAR_UNUSED void answer_version(const struct kar_action *a, const char *body, kar_rv rv)
{
	const struct kar_answer an = { .status = 200, .body = { body, strlen(body) }, .rv = rv };

	w.controller.wrote(&w.sync, a, &an);
}

static KAR_UNUSED void answer_uid(const struct kar_action *a, const char *uid)
{
	const struct kar_answer an = { .status = 200, .uid = uid };

	w.controller.wrote(&w.sync, a, &an);
}

static KAR_UNUSED void answer(const struct kar_action *a, const char *body)
{
	answer_version(a, body, w.sync.object ? w.sync.object->rv : 0);
}

static KAR_UNUSED void check_owner(void)
{
	w.state.owner_checked = 1;
	w.state.owner_uid = kar_hash_str(1, "job-uid");
}

static KAR_UNUSED void check_body(const struct kar_action *a, const char *want)
{
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };

	assert_non_null(a);
	assert_int_equal(w.controller.encode(&w.sync, a, &out, &err), 0);
	assert_string_equal(kar_buf_cstr(&out), want);
	kar_buf_release(&out);
}

#define CHILD(api, kind) \
	"{\"apiVersion\":\"" api "\",\"kind\":\"" kind \
	"\",\"metadata\":{\"name\":\"j\",\"namespace\":\"ns\",\"labels\":{" \
	"\"kube-arbitrator.io/queuejob\":\"j\"},\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\"," \
	"\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"job-uid\",\"controller\":true,\"blockOwnerDeletion\":true}]}"

/* The next key that waits, "" if there is none. */
static KAR_UNUSED const char *take(void)
{
	static char key[KAR_KEY_LEN];
	const char *next = kar_workqueue_take(w.controller.queue, 0);

	snprintf(key, sizeof(key), "%s", next ? next : "");
	if (next)
		kar_workqueue_done(w.controller.queue, next);
	return key;
}

#endif
