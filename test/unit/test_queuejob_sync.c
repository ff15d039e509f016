/* The shell of the QueueJob reconciler: which change wakes which key, what is observed, and the bodies that are sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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

static struct kar_store *new_store(const struct kar_type *type)
{
	return kar_store_new(type, w.strings);
}

static int setup(void **state)
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
	};
	w.controller.stores = &w.stores;
	w.controller.settings = &settings;
	w.controller.queue = kar_workqueue_new(&o);
	w.controller.barrier = kar_barrier_new();
	kar_queuejob_controller(&w.controller);
	w.controller.start(&w.controller);
	return 0;
}

static void end_sync(void)
{
	kar_object_unref(w.sync.object);
	kar_arena_release(&w.sync.arena);
	w.sync = (struct kar_sync){ 0 };
}

static int teardown(void **state)
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
	if (kar_intern_count(w.strings))
		return -1;
	kar_intern_free(w.strings);
	return 0;
}

/* Stores an object; @uid and the rest of its metadata and body as JSON members. */
static void put(struct kar_store *s, const char *name, const char *uid, const char *more_meta,
	const char *rest)
{
	const char *ns = kar_store_type(s)->res.namespaced ? "\"namespace\":\"ns\"," : "";
	char json[4096];

	snprintf(json, sizeof(json),
		"{\"metadata\":{%s\"name\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%d\"%s}%s}", ns, name,
		uid, ++w.rv, more_meta, rest);
	kar_store_apply(s, object_from_json(kar_store_type(s), json, w.strings));
}

static void put_job(const char *rest)
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

static void put_children(bool admitted)
{
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB, ",\"spec\":{}");
	put(w.stores.podgroups, "j", "g-uid", BY_JOB,
		admitted
			? ",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0},\"status\":{\"conditions\":[{"
			  "\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"\"}]}"
			: ",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0}");
}

/* A job that is about to create its pods. */
static void put_starting_job(void)
{
	char rest[1024];

	put_job(SPEC);
	snprintf(rest, sizeof(rest), SPEC STARTING,
		kar_as_queuejob(kar_store_get(w.stores.queuejobs, "ns", "j"))->spec_template_hash);
	put_job(rest);
	put_children(true);
}

static bool sync_at(kar_time mono)
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

static bool sync_key(void)
{
	return sync_at(5000);
}

/* The planned action, or NULL. */
static const struct kar_action *find_action(int what, enum kar_verb verb)
{
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		if (w.sync.plan.actions[i].what == what && w.sync.plan.actions[i].verb == verb)
			return &w.sync.plan.actions[i];
	}
	return NULL;
}

/* The same where the test ends if there is none. */
static const struct kar_action *action_of(int what, enum kar_verb verb)
{
	const struct kar_action *a = find_action(what, verb);

	if (!a) {
		fail_msg("no action %d to %s in the plan", what, kar_verb_name(verb));
		abort();
	}
	return a;
}

static size_t count_actions(enum kar_verb verb)
{
	size_t n = 0;

	for (size_t i = 0; i < w.sync.plan.n_actions; i++)
		n += w.sync.plan.actions[i].verb == verb;
	return n;
}

/* The API server has answered a write of the sync. */
static void answer_version(const struct kar_action *a, const char *body, kar_rv rv)
{
	const struct kar_answer an = { .status = 200, .body = { body, strlen(body) }, .rv = rv };

	w.controller.wrote(&w.sync, a, &an);
}

static void answer_uid(const struct kar_action *a, const char *uid)
{
	const struct kar_answer an = { .status = 200, .uid = uid };

	w.controller.wrote(&w.sync, a, &an);
}

static void answer(const struct kar_action *a, const char *body)
{
	answer_version(a, body, w.sync.object ? w.sync.object->rv : 0);
}

/* --- which keys ---------------------------------------------------------------------------------- */

/* The next key that waits, "" if there is none. */
static const char *take(void)
{
	static char key[KAR_KEY_LEN];
	const char *next = kar_workqueue_take(w.controller.queue, 0);

	snprintf(key, sizeof(key), "%s", next ? next : "");
	if (next)
		kar_workqueue_done(w.controller.queue, next);
	return key;
}

static void changes_wake_the_job_they_concern(void **state)
{
	(void)state;
	put_job(SPEC);
	assert_string_equal(take(), "ns/j");
	put(w.stores.podgroups, "j", "g", "", "");
	assert_string_equal(take(), "ns/j");
	put(w.stores.schedulingspecs, "j", "s", "", "");
	assert_string_equal(take(), "ns/j");
	put(w.stores.services, "j", "n", "", "");
	assert_string_equal(take(), "ns/j");
	put(w.stores.pods, "p", "p-uid", BY_JOB, "");
	assert_string_equal(take(), "ns/j");
	put(w.stores.pods, "p", "p-uid", "", ""); /* loses its owner */
	assert_string_equal(take(), "ns/j");
	put(w.stores.pods, "q", "q-uid", CONTROLLED_BY("ReplicaSet", "j", "rs"), "");
	assert_string_equal(take(), "");
	put(w.stores.pods, "r", "r-uid", IN_GROUP, "");
	assert_string_equal(take(), "");
	put(w.stores.pods, "t", "t-uid", IN_GROUP TRACKED, "");
	assert_string_equal(take(), "ns/j");
	put(w.stores.priorityclasses, "high", "pc", "", ",\"value\":5");
	assert_string_equal(take(), "ns/j");
	assert_string_equal(take(), "");
}

#define MEMBER BY_JOB TRACKED IN_GROUP
#define PHASE(p) ",\"status\":{\"phase\":\"" p "\"}"
#define LEAVING ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\""

/* What happens to one pod of a job with so many that its key rests; NULL: no such pod. */
static const struct {
	const char *name, *meta, *body, *new_meta, *new_body;
	bool waits;
} changes[] = {
	{ "created", NULL, NULL, MEMBER, "", true },
	{ "runs", MEMBER, PHASE("Pending"), MEMBER, PHASE("Running"), true },
	{ "succeeds", MEMBER, PHASE("Running"), MEMBER, PHASE("Succeeded"), true },
	{ "released_by_us", MEMBER, PHASE("Succeeded"), BY_JOB IN_GROUP, PHASE("Succeeded"), true },
	{ "fails", MEMBER, PHASE("Running"), MEMBER, PHASE("Failed"), false },
	{ "is_being_deleted", MEMBER, PHASE("Running"), MEMBER LEAVING, PHASE("Running"), false },
	{ "stops_while_being_deleted", MEMBER LEAVING, PHASE("Running"), MEMBER LEAVING, PHASE("Failed"),
		true },
	{ "gone", MEMBER LEAVING, PHASE("Failed"), NULL, NULL, false },
	{ "loses_its_owner", MEMBER, PHASE("Running"), TRACKED IN_GROUP, PHASE("Running"), false },
	{ "loses_its_group", MEMBER, PHASE("Running"), BY_JOB TRACKED, PHASE("Running"), false },
	{ "appears_as_lost", NULL, NULL, MEMBER, PHASE("Failed"), false },
};

enum { RESTED = 1000 };

/* Nothing waits any more, not even what is delayed. */
static void drain(void)
{
	const char *key;

	while ((key = kar_workqueue_take(w.controller.queue, RESTED)) != NULL)
		kar_workqueue_done(w.controller.queue, key);
}

static void change_pod(size_t i)
{
	if (changes[i].new_meta)
		put(w.stores.pods, "j-w-0", "p-uid", changes[i].new_meta, changes[i].new_body);
	else
		kar_store_delete(w.stores.pods, "ns", "j-w-0", "p-uid", (kar_rv)++w.rv);
}

static void progress_waits_until_the_key_has_rested_a_loss_does_not(void **state)
{
	(void)state;
	kar_store_replace_begin(w.stores.pods);
	kar_store_replace_commit(w.stores.pods, 5);
	for (size_t i = 0; i < KAR_LEN(changes); i++) {
		if (changes[i].meta)
			put(w.stores.pods, "j-w-0", "p-uid", changes[i].meta, changes[i].body);
		drain();
		kar_workqueue_rest(w.controller.queue, "ns/j", RESTED);
		change_pod(i);
		if (kar_workqueue_next(w.controller.queue, 0) != (changes[i].waits ? RESTED : 0))
			fail_msg("%s: %s", changes[i].name, changes[i].waits ? "at once" : "waits");
		kar_store_delete(w.stores.pods, "ns", "j-w-0", "p-uid", (kar_rv)++w.rv);
		drain();
	}
	kar_workqueue_rest(w.controller.queue, "ns/j", 0);
}

/* --- what is observed ---------------------------------------------------------------------------- */

static void job_that_is_gone_is_forgotten(void **state)
{
	(void)state;
	assert_false(sync_key());
	assert_int_equal(w.sync.plan.requeue_after, KAR_NEVER);
}

static void pods_of_a_gone_job_are_released(void **state)
{
	(void)state;
	put(w.stores.pods, "j-w-0", "p0", IN_GROUP TRACKED CONTROLLED_BY("QueueJob", "j", "old-uid"), "");
	put(w.stores.pods, "j-w-1", "p1", IN_GROUP CONTROLLED_BY("QueueJob", "j", "old-uid"), "");
	put(w.stores.pods, "j-w-2", "p2", IN_GROUP TRACKED, ""); /* orphaned by the garbage collector */
	assert_true(sync_key());
	assert_null(w.sync.object);
	assert_int_equal(w.sync.plan.n_actions, 2);
	assert_string_equal(w.sync.plan.actions[0].uid, "p0");
	assert_string_equal(w.sync.plan.actions[1].uid, "p2");
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
	answer(&w.sync.plan.actions[0], "{}");
	put_job(SPEC); /* another job of the name; the pod without an owner may be of either, and runs */
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_PATCH), 1);
	assert_string_equal(action_of(QUEUEJOB_RELEASE_POD, KAR_PATCH)->uid, "p0");
}

static void own_writes_are_awaited(void **state)
{
	(void)state;
	put_job(SPEC);
	kar_barrier_wrote(w.controller.barrier, "ns/j", &kar_pod_type, 1000);
	assert_false(sync_key());
	assert_true(w.sync.plan.requeue_after < KAR_NEVER);
	kar_store_bookmark(w.stores.pods, 1000);
	assert_true(sync_key());
}

/* The status was made by another manager, which had seen more of the pods. */
static void pods_older_than_the_status_are_not_believed(void **state)
{
	static const struct {
		const char *name;
		kar_rv have, recorded;
		bool decides;
	} rows[] = {
		{ "older pods", 40, 50, false },
		{ "the same pods", 50, 50, true },
		{ "newer pods", 60, 50, true },
		{ "no version recorded", 40, 0, true },
		{ "no version of the cache", 0, 50, true },
		{ "a version that the status itself does not have", 40, 5000, true },
	};

	(void)state;
	w.rv = 100;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char rest[1024], version[24];
		bool decided;

		snprintf(version, sizeof(version), "%ju", (uintmax_t)rows[i].recorded);
		snprintf(rest, sizeof(rest),
			SPEC
			",\"status\":{\"phase\":\"Running\",\"incarnation\":1,\"podsResourceVersion\":%s%s%s}",
			rows[i].recorded ? "\"" : "", rows[i].recorded ? version : "null",
			rows[i].recorded ? "\"" : "");
		put_job(rest);
		kar_store_replace_begin(w.stores.pods);
		kar_store_replace_commit(w.stores.pods, rows[i].have);
		decided = sync_key();
		if (decided != rows[i].decides || (!decided && w.sync.plan.requeue_after == KAR_NEVER))
			fail_msg("%s: %s", rows[i].name, decided ? "decided" : "did not decide");
		if (decided &&
			((const struct kar_queuejob_status *)w.sync.plan.status)->pods_version !=
				rows[i].have)
			fail_msg("%s: another version is recorded", rows[i].name);
	}
}

static void priority_comes_from_its_class(void **state)
{
	static const struct {
		const char *spec;
		int32_t priority; /* -1: the class is missing, no group */
	} rows[] = {
		{ "\"schedSpec\":{\"priority\":3,\"priorityClassName\":\"high\"}", 3 },
		{ "\"schedSpec\":{\"priorityClassName\":\"high\"}", 9 },
		{ "\"schedSpec\":{}", 4 },
		{ "\"schedSpec\":{\"priorityClassName\":\"none\"}", -1 },
	};

	(void)state;
	put(w.stores.priorityclasses, "high", "pc1", "", ",\"value\":9");
	put(w.stores.priorityclasses, "usual", "pc2", "", ",\"value\":4,\"globalDefault\":true");
	put(w.stores.priorityclasses, "other", "pc3", "", ",\"value\":6,\"globalDefault\":true");
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_action *a;
		char rest[512];

		snprintf(rest, sizeof(rest), ",\"spec\":{%s,\"taskSpecs\":[{" TEMPLATE "}]}", rows[i].spec);
		put_job(rest);
		assert_true(sync_key());
		a = find_action(QUEUEJOB_CREATE_PODGROUP, KAR_CREATE);
		if ((rows[i].priority < 0) != !a ||
			(a && ((const struct kar_podgroup_spec *)a->payload)->priority != rows[i].priority))
			fail_msg("%s", rows[i].spec);
	}
}

static void check_owner(void)
{
	w.state.owner_checked = 1;
	w.state.owner_uid = kar_hash_str(1, "job-uid");
}

static void foreign_pod_under_our_name_blocks(void **state)
{
	(void)state;
	put_starting_job();
	put(w.stores.pods, "j-w-0", "p0", CONTROLLED_BY("ReplicaSet", "rs", "rs-uid"), "");
	check_owner();
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_CREATE), 1);
	assert_string_equal(action_of(QUEUEJOB_CREATE_POD, KAR_CREATE)->name, "j-w-1");
}

static void refusal_of_a_create_is_told(void **state)
{
	const struct kar_err no = { .what = KAR_DENIED, .msg = "no" };
	const struct kar_queuejob_status *st;

	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	kar_refusal_note(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &no, 5000);
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_string_equal(st->message, "cannot create pods ns/j-w-0: no");
	w.state.refusal->generation = 7; /* the job was edited since */
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "Starting");
}

static void check_body(const struct kar_action *a, const char *want)
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

/* --- what the API server thinks of the pods ------------------------------------------------------ */

static void put_waiting_job(void)
{
	put_job(SPEC);
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB, ",\"spec\":{}");
	put(w.stores.podgroups, "j", "g-uid", BY_JOB,
		",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0},\"status\":{\"conditions\":[{"
		"\"type\":\"Admitted\",\"status\":\"False\",\"reason\":\"QueueClosed\",\"message\":\"m\"}]}");
}

/* The dry run that a job asks for when it has waited for a while. */
static const struct kar_action *asked(kar_time after)
{
	assert_true(sync_at(5000));
	assert_null(find_action(QUEUEJOB_CREATE_POD, KAR_CREATE));
	assert_true(sync_at(5000 + after));
	return find_action(QUEUEJOB_CREATE_POD, KAR_CREATE);
}

static void empty_queue(void)
{
	while (*take())
		continue;
}

static void waiting_job_is_checked_early_and_once(void **state)
{
	const struct kar_action *a;

	(void)state;
	put_waiting_job();
	a = asked(999);
	assert_null(a);
	a = asked(1000);
	assert_non_null(a);
	assert_true(a->dry_run);
	assert_string_equal(a->name, "j-w-0");
	empty_queue();
	answer(a, "{}");
	assert_string_equal(take(), "ns/j");
	assert_true(sync_at(90000));
	assert_null(find_action(QUEUEJOB_CREATE_POD, KAR_CREATE));
}

static void objection_makes_the_job_invalid(void **state)
{
	const struct kar_err no = { .what = KAR_INVALID, .msg = "create pods in ns: Pod is invalid: no" };
	const struct kar_queuejob_status *st;
	const struct kar_action *a;

	(void)state;
	put_waiting_job();
	a = asked(1000);
	assert_non_null(a);
	empty_queue();
	w.controller.refused(&w.sync, a, &no);
	assert_string_equal(take(), "ns/j");
	assert_true(sync_at(7000));
	st = w.sync.plan.status;
	assert_string_equal(st->message, "task w: Pod is invalid: no");
	assert_true(kar_condition_is_true(&st->conditions, KAR_QJ_INVALID));
}

static void refused_create_makes_it_invalid_too(void **state)
{
	const struct kar_err quota = { .what = KAR_DENIED, .msg = "exceeded quota" };
	const struct kar_err no = { .what = KAR_INVALID, .msg = "create pods in ns: Pod is invalid: no" };
	const struct kar_queuejob_status *st;

	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	w.controller.refused(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &quota);
	assert_null(w.state.job);
	w.controller.refused(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &no);
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "InvalidTemplate");
	assert_int_equal(count_actions(KAR_CREATE), 0);
}

/* Of a gang at work, before it is restarted. */
static void new_template_is_checked_once(void **state)
{
	const struct kar_queuejob_status *st;
	const struct kar_action *a;

	(void)state;
	put_job(SPEC ",\"status\":{\"phase\":\"Running\",\"incarnation\":1,\"templateHash\":\"old\"}");
	put_children(true);
	assert_true(sync_key());
	a = action_of(QUEUEJOB_CREATE_POD, KAR_CREATE);
	assert_true(a->dry_run);
	answer(a, "{}");
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_int_equal(st->phase, KAR_QJ_PHASE_RESTARTING);
}

static void service_without_our_label_gets_it_back(void **state)
{
	(void)state;
	put_job(",\"spec\":{\"network\":{\"enableDNSHostnames\":true},\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE
		"}]}");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_CREATE_SERVICE, KAR_CREATE),
		CHILD("v1",
			"Service") ",\"spec\":{\"clusterIP\":\"None\",\"selector\":{"
				   "\"kube-arbitrator.io/queuejob\":\"j\"},\"publishNotReadyAddresses\":true}}");
	empty_queue();
	answer_uid(action_of(QUEUEJOB_CREATE_SERVICE, KAR_CREATE), "n-uid"); /* it exists */
	assert_string_equal(take(), "ns/j");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_LABEL_SERVICE, KAR_PATCH),
		"{\"metadata\":{\"uid\":\"n-uid\",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}}}");
	assert_true(sync_key());
	action_of(QUEUEJOB_CREATE_SERVICE, KAR_CREATE);
}

static void service_just_made_is_no_riddle(void **state)
{
	const struct kar_answer made = { .status = 201, .uid = "n-uid" };

	(void)state;
	put_job(",\"spec\":{\"network\":{\"enableDNSHostnames\":true},\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE
		"}]}");
	assert_true(sync_key());
	w.controller.wrote(&w.sync, action_of(QUEUEJOB_CREATE_SERVICE, KAR_CREATE), &made);
	assert_null(w.state.job);
}

/* Whosever it is. */
static void pod_that_ends_wakes_who_waits_for_a_quota(void **state)
{
	const struct kar_err full = { .what = KAR_DENIED,
		.msg = "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2" };

	(void)state;
	w.controller.line = kar_quota_line_new(w.controller.queue);
	put_starting_job();
	put(w.stores.pods, "x", "x-uid", "", ",\"status\":{\"phase\":\"Running\"}");
	put(w.stores.pods, "y", "y-uid", "", ",\"status\":{\"phase\":\"Running\"}");
	check_owner();
	assert_true(sync_key());
	kar_refusal_note(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &full, 5000);
	empty_queue();
	put(w.stores.pods, "x", "x-uid", "", ",\"status\":{\"phase\":\"Running\",\"reason\":\"r\"}");
	assert_string_equal(take(), "");
	put(w.stores.pods, "x", "x-uid", "", ",\"status\":{\"phase\":\"Succeeded\"}");
	assert_string_equal(take(), "ns/j");
	kar_quota_place_try(w.state.refusal->place);
	kar_store_delete(w.stores.pods, "ns", "x", "x-uid", 5000); /* its room was free before */
	assert_string_equal(take(), "");
	kar_store_delete(w.stores.pods, "ns", "y", "y-uid", 5001);
	assert_string_equal(take(), "ns/j");
	kar_refusal_forget(&w.state);
	kar_quota_line_free(w.controller.line);
}

static void service_is_repaired_and_removed(void **state)
{
	(void)state;
	put_job(",\"spec\":{\"network\":{\"enableDNSHostnames\":true},\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE
		"}]}");
	put(w.stores.services, "j", "n-uid", BY_JOB,
		",\"spec\":{\"clusterIP\":\"None\",\"selector\":{\"a\":\"b\"}}");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_PATCH_SERVICE, KAR_PATCH),
		"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"n-uid\"},"
		"{\"op\":\"add\",\"path\":\"/spec/selector\",\"value\":{\"kube-arbitrator.io/queuejob\":\"j\"}},"
		"{\"op\":\"add\",\"path\":\"/spec/publishNotReadyAddresses\",\"value\":true}]");
	assert_int_equal(action_of(QUEUEJOB_PATCH_SERVICE, KAR_PATCH)->patch_type, KAR_PATCH_JSON);
	put_job(SPEC);
	assert_true(sync_key());
	assert_string_equal(action_of(QUEUEJOB_DELETE_SERVICE, KAR_DELETE)->uid, "n-uid");
}

/* --- the owner, before the first create ---------------------------------------------------------- */

#define ANSWER(uid, more) "{\"metadata\":{\"name\":\"j\",\"uid\":\"" uid "\"" more "}}"

static void creates_wait_for_an_answer_that_shows_the_job_alive(void **state)
{
	const struct kar_action *get;

	(void)state;
	put_starting_job();
	assert_true(sync_key());
	get = action_of(QUEUEJOB_CHECK_OWNER, KAR_GET);
	assert_non_null(get);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	answer(get, ANSWER("another-uid", ""));
	answer(get, ANSWER("job-uid", ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\""));
	answer(get, "not JSON");
	answer_version(get, ANSWER("job-uid", ""), w.sync.object->rv + 1); /* it may be suspended by now */
	assert_int_equal(w.state.owner_checked, 0);
	assert_true(sync_key()); /* not at once again: the cache may take its time to learn the truth */
	assert_int_equal(w.sync.plan.n_actions, 0);
	assert_int_equal(w.sync.plan.requeue_after, 1000);
	w.state.owner_asked = 0;
	assert_true(sync_key());
	get = action_of(QUEUEJOB_CHECK_OWNER, KAR_GET);
	answer(get, ANSWER("job-uid", ""));
	assert_int_equal(w.state.owner_checked, 1);
	w.state.owner_uid++; /* what was read was another job of this name */
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_CREATE), 0);
	w.state.owner_uid--;
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_CREATE), 2);
}

static void status_write_proves_it_too(void **state)
{
	(void)state;
	put_job(SPEC ",\"status\":{\"phase\":\"Pending\"}");
	put_children(true);
	assert_true(sync_key());
	assert_int_equal(((const struct kar_queuejob_status *)w.sync.plan.status)->phase,
		KAR_QJ_PHASE_STARTING);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	answer(NULL, ANSWER("job-uid", ""));
	assert_int_equal(w.state.owner_checked, 1);
}

static void create_is_dropped_when_the_job_has_changed(void **state)
{
	const struct kar_action *create;

	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	create = action_of(QUEUEJOB_CREATE_POD, KAR_CREATE);
	assert_true(w.controller.still_wanted(&w.sync, create));
	put(w.stores.queuejobs, "j", "job-uid", ",\"generation\":2", SPEC);
	assert_false(w.controller.still_wanted(&w.sync, create));
	put(w.stores.queuejobs, "j", "job-uid",
		",\"generation\":1,\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"", SPEC);
	assert_false(w.controller.still_wanted(&w.sync, create));
	kar_store_delete(w.stores.queuejobs, "ns", "j", "job-uid", 5000);
	assert_false(w.controller.still_wanted(&w.sync, create));
}

/* --- bodies -------------------------------------------------------------------------------------- */

static void children_are_encoded(void **state)
{
	(void)state;
	put_job(",\"spec\":{\"schedSpec\":{\"minAvailable\":1},\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2," TEMPLATE
		"}]}");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_CREATE_SCHEDULINGSPEC, KAR_CREATE),
		CHILD("kube-arbitrator.io/v1alpha1", "SchedulingSpec") ",\"spec\":{\"minAvailable\":1}}");
	check_body(action_of(QUEUEJOB_CREATE_PODGROUP, KAR_CREATE),
		CHILD("scheduling.x-k8s.io/v1alpha1",
			"PodGroup") ",\"spec\":{\"minMember\":1,\"queue\":\"default\",\"priority\":0,\"scheduleTimeoutSeconds\":45}}");
	put(w.stores.podgroups, "j", "g-uid", BY_JOB,
		",\"spec\":{\"minMember\":7,\"queue\":\"default\",\"priority\":0}");
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB, ",\"spec\":{}");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_PATCH_PODGROUP, KAR_PATCH),
		"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"g-uid\"},{\"op\":\"add\",\"path\":\"/spec\",\"value\":"
		"{\"minMember\":1,\"queue\":\"default\",\"priority\":0}}]");
	assert_int_equal(action_of(QUEUEJOB_PATCH_PODGROUP, KAR_PATCH)->patch_type, KAR_PATCH_JSON);
	check_body(action_of(QUEUEJOB_PATCH_SCHEDULINGSPEC, KAR_PATCH),
		"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"s-uid\"},{\"op\":\"add\",\"path\":\"/spec\",\"value\":"
		"{\"minAvailable\":1}}]");
}

#define OWNED ",\"ownerReferences\":[{\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"n-uid\"}]"
#define OURS ",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}"

static void what_an_orphaned_job_left_is_adopted(void **state)
{
	(void)state;
	put_job(SPEC);
	put(w.stores.schedulingspecs, "j", "s-uid", OURS, ",\"spec\":{}");
	put(w.stores.podgroups, "j", "g-uid", OURS, ",\"spec\":{\"minMember\":1}"); /* version 13 */
	assert_true(sync_key());
	assert_int_equal(w.sync.plan.n_actions, 2);
	check_body(&w.sync.plan.actions[1],
		"{\"metadata\":{\"uid\":\"g-uid\",\"resourceVersion\":\"13\",\"ownerReferences\":[{"
		"\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"job-uid\","
		"\"controller\":true,\"blockOwnerDeletion\":true}]}}");
	assert_int_equal(w.sync.plan.actions[1].patch_type, KAR_PATCH_MERGE);
	put(w.stores.podgroups, "j", "g-uid", "", ",\"spec\":{\"minMember\":1}"); /* somebody's own */
	assert_true(sync_key());
	assert_int_equal(w.sync.plan.n_actions, 1);
	put(w.stores.schedulingspecs, "j", "s-uid", OURS OWNED, ",\"spec\":{}"); /* belongs to something */
	assert_true(sync_key());
	assert_int_equal(w.sync.plan.n_actions, 0);
}

static void finished_job_is_deleted_only_as_it_was_read(void **state)
{
	(void)state;
	put_job(",\"spec\":{\"ttlSecondsAfterFinished\":1,\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE
		"}]},\"status\":{\"phase\":\"Completed\",\"completionTime\":\"2026-11-21T10:00:00Z\"}");
	assert_true(sync_key());
	assert_int_equal(action_of(QUEUEJOB_DELETE_JOB, KAR_DELETE)->rv, w.rv);
	assert_string_equal(action_of(QUEUEJOB_DELETE_JOB, KAR_DELETE)->uid, "job-uid");
	answer(action_of(QUEUEJOB_DELETE_JOB, KAR_DELETE), "{}");
	assert_false(sync_key()); /* nor twice, because the cache still has it */
	assert_true(w.sync.plan.requeue_after < KAR_NEVER);
	put(w.stores.queuejobs, "j", "next-uid", "", SPEC); /* another of the name */
	assert_true(sync_key());
}

static void pod_patches_are_encoded(void **state)
{
	(void)state;
	put_starting_job();
	put(w.stores.pods, "j-w-0", "p0", TRACKED CONTROLLED_BY("QueueJob", "j", "job-uid"), "");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_REPAIR_POD, KAR_PATCH),
		"{\"metadata\":{\"uid\":\"p0\",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\",\"kube-arbitrator.io/task\":\"w\","
		"\"kube-arbitrator.io/index\":\"0\",\"kube-arbitrator.io/incarnation\":\"1\","
		"\"scheduling.x-k8s.io/pod-group\":\"j\"},\"finalizers\":[\"kube-arbitrator.io/pod-tracking\"]}}");
	assert_int_equal(action_of(QUEUEJOB_REPAIR_POD, KAR_PATCH)->patch_type, KAR_PATCH_STRATEGIC);
	put(w.stores.queuejobs, "j", "job-uid",
		",\"generation\":1,\"finalizers\":[\"orphan\"],"
		"\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"",
		SPEC);
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_RELEASE_POD, KAR_PATCH),
		"{\"metadata\":{\"uid\":\"p0\",\"$deleteFromPrimitiveList/finalizers\":[\"kube-arbitrator.io/pod-tracking\"]}}");
}

static void pod_is_encoded_from_the_template(void **state)
{
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };

	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	assert_int_equal(w.controller.encode(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &out, &err),
		0);
	assert_non_null(strstr(kar_buf_cstr(&out), "\"name\":\"j-w-0\""));
	assert_non_null(strstr(kar_buf_cstr(&out), "\"kube-arbitrator.io/incarnation\":\"1\""));
	kar_buf_release(&out);
}

static void status_patch_applies_only_to_what_was_read(void **state)
{
	struct kar_buf out = { 0 };
	char want[256];

	(void)state;
	put_job(SPEC);
	assert_true(sync_key());
	w.controller.encode_status(&w.sync, &out);
	snprintf(want, sizeof(want),
		"{\"metadata\":{\"uid\":\"job-uid\",\"resourceVersion\":\"%d\"},\"status\":{\"phase\":\"Pending\",",
		w.rv);
	assert_memory_equal(kar_buf_cstr(&out), want, strlen(want));
	kar_buf_release(&out);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(changes_wake_the_job_they_concern),
		TEST(progress_waits_until_the_key_has_rested_a_loss_does_not),
		TEST(job_that_is_gone_is_forgotten),
		TEST(pods_of_a_gone_job_are_released),
		TEST(own_writes_are_awaited),
		TEST(pods_older_than_the_status_are_not_believed),
		TEST(priority_comes_from_its_class),
		TEST(foreign_pod_under_our_name_blocks),
		TEST(refusal_of_a_create_is_told),
		TEST(waiting_job_is_checked_early_and_once),
		TEST(objection_makes_the_job_invalid),
		TEST(refused_create_makes_it_invalid_too),
		TEST(new_template_is_checked_once),
		TEST(service_without_our_label_gets_it_back),
		TEST(service_just_made_is_no_riddle),
		TEST(service_is_repaired_and_removed),
		TEST(pod_that_ends_wakes_who_waits_for_a_quota),
		TEST(creates_wait_for_an_answer_that_shows_the_job_alive),
		TEST(status_write_proves_it_too),
		TEST(create_is_dropped_when_the_job_has_changed),
		TEST(children_are_encoded),
		TEST(what_an_orphaned_job_left_is_adopted),
		TEST(finished_job_is_deleted_only_as_it_was_read),
		TEST(pod_patches_are_encoded),
		TEST(pod_is_encoded_from_the_template),
		TEST(status_patch_applies_only_to_what_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
