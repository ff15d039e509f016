/* The shell of the QueueJob reconciler: which change wakes which key, what is observed, and whether the job may be believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queuejob/observe.h"
#include "test/unit/queuejob_sync_fixture.h"

#define ELASTIC \
	",\"spec\":{\"schedSpec\":{\"minAvailable\":1},\"taskSpecs\":[{\"name\":\"w\",\"replicas\":4," TEMPLATE \
	"}]}"

/* --- which keys ---------------------------------------------------------------------------------- */

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

enum { RESTED = 1000 };

/* Nothing waits any more, not even what is delayed. */
static void drain(void)
{
	const char *key;

	while ((key = kar_workqueue_take(w.controller.queue, RESTED)) != NULL)
		kar_workqueue_done(w.controller.queue, key);
}

/* A pod that goes, and whether ns/j may have waited for its name. */
static const struct {
	const char *name, *meta;
	bool wakes;
} goners[] = {
	{ "j-w-0", "", true },
	{ "j-w-7", CONTROLLED_BY("ReplicaSet", "rs", "rs-uid"), true },
	{ "j-a-b-1", "", true },
	{ "j-w-0", CONTROLLED_BY("QueueJob", "j-w", "other-uid"), true },
	{ "j-x-0", "", false }, /* no task of that name */
	{ "j-w-a", "", false },
	{ "j", "", false },
	{ "i-w-0", "", false },
};

static void pod_that_goes_wakes_the_job_that_wants_its_name(void **state)
{
	(void)state;
	put_job(",\"spec\":{\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE "},{\"name\":\"a-b\"," TEMPLATE "}]}");
	for (size_t i = 0; i < KAR_LEN(goners); i++) {
		bool woken = false;

		put(w.stores.pods, goners[i].name, "p-uid", goners[i].meta, "");
		drain();
		kar_store_delete(w.stores.pods, "ns", goners[i].name, "p-uid", ++w.rv);
		for (const char *key = take(); *key; key = take())
			woken |= strcmp(key, "ns/j") == 0;
		if (woken != goners[i].wakes)
			fail_msg("%s", goners[i].name);
	}
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

static void change_pod(size_t i)
{
	if (changes[i].new_meta)
		put(w.stores.pods, "j-w-0", "p-uid", changes[i].new_meta, changes[i].new_body);
	else
		kar_store_delete(w.stores.pods, "ns", "j-w-0", "p-uid", ++w.rv);
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
		kar_workqueue_cool_down(w.controller.queue, "ns/j", RESTED);
		change_pod(i);
		if (kar_workqueue_next(w.controller.queue, 0) != (changes[i].waits ? RESTED : 0))
			fail_msg("%s: %s", changes[i].name, changes[i].waits ? "at once" : "waits");
		kar_store_delete(w.stores.pods, "ns", "j-w-0", "p-uid", ++w.rv);
		drain();
	}
	kar_workqueue_cool_down(w.controller.queue, "ns/j", 0);
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
	assert_string_equal(action_of(PODSET_RELEASE, KAR_PATCH)->uid, "p0");
}

/* Somebody took the label off, and the job went at the same time. */
static void pods_of_a_gone_job_are_released_without_their_label(void **state)
{
	(void)state;
	put(w.stores.pods, "j-w-0", "p0", TRACKED CONTROLLED_BY("QueueJob", "j", "old-uid"), "");
	put(w.stores.pods, "k-w-0", "k0", TRACKED CONTROLLED_BY("QueueJob", "k", "other-uid"), "");
	assert_true(sync_key());
	assert_int_equal(w.sync.plan.n_actions, 1);
	assert_string_equal(action_of(PODSET_RELEASE, KAR_PATCH)->uid, "p0");
	put_job(SPEC); /* another job of the name */
	assert_true(sync_key());
	assert_string_equal(action_of(PODSET_RELEASE, KAR_PATCH)->uid, "p0");
}

/* Somebody gave it the group of another job: it is still for its own to say what becomes of it. */
static void pod_with_the_label_of_another_job_stays_with_its_own(void **state)
{
	(void)state;
	put_job(SPEC);
	put(w.stores.pods, "k-w-0", "k0", IN_GROUP TRACKED CONTROLLED_BY("QueueJob", "k", "k-uid"), "");
	assert_true(sync_key());
	assert_null(find_action(PODSET_RELEASE, KAR_PATCH));
	assert_true(sync_named("ns/k")); /* that job is gone */
	assert_string_equal(action_of(PODSET_RELEASE, KAR_PATCH)->uid, "k0");
}

/* And the ownerReference as well: nothing tells whose it was, so the key is its own. */
static void pod_that_is_nobodys_is_released_by_its_own_key(void **state)
{
	(void)state;
	drain();
	put(w.stores.pods, "j", "p0", TRACKED, "");
	put(w.stores.pods, "j-w-1", "p1", "", "");
	assert_string_equal(kar_workqueue_take(w.controller.queue, RESTED), "ns/j");
	kar_workqueue_done(w.controller.queue, "ns/j");
	assert_null(kar_workqueue_take(w.controller.queue, RESTED));
	assert_true(sync_key());
	assert_int_equal(w.sync.plan.n_actions, 1);
	assert_string_equal(action_of(PODSET_RELEASE, KAR_PATCH)->uid, "p0");
}

/* Nothing is created, deleted or written for a job of which a part is unknown; the next look comes by itself. */
static void expect_unknown(const char *what)
{
	bool decided = sync_key();

	if (decided || w.sync.plan.n_actions || w.sync.plan.status)
		fail_msg("%s: something was decided", what);
	if (w.sync.plan.requeue_after == KAR_NEVER)
		fail_msg("%s: the key is forgotten", what);
}

#define BAD_META ",\"finalizers\":[7]"

static void nothing_is_decided_on_what_is_unreadable(void **state)
{
	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	put_unreadable(w.stores.pods, "j-w-0", "p0", BY_JOB, ",\"status\":{\"phase\":5}");
	expect_unknown("a pod of the job");
	put(w.stores.pods, "j-w-0", "p0", BY_JOB, ",\"status\":{\"phase\":\"Running\"}");
	assert_true(sync_key());
	put_unreadable(w.stores.podgroups, "j", "g-uid", BY_JOB BAD_META, "");
	expect_unknown("its PodGroup");
	put_children(true);
	assert_true(sync_key());
	put_unreadable(w.stores.schedulingspecs, "j", "s-uid", BY_JOB BAD_META, "");
	expect_unknown("its SchedulingSpec");
	put_children(true);
	put_unreadable(w.stores.queuejobs, "j", "job-uid", BAD_META, SPEC);
	expect_unknown("the job");
	kar_store_delete(w.stores.queuejobs, "ns", "j", "job-uid", ++w.rv);
	put_unreadable(w.stores.pods, "j-w-0", "p0", IN_GROUP TRACKED BY_JOB, ",\"status\":{\"phase\":5}");
	expect_unknown("a pod of a job that is gone");
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
			",\"status\":{\"phase\":\"Running\",\"incarnation\":1,\"record\":{\"podsResourceVersion\":%s%s%s}" FORMED
			"}",
			rows[i].recorded ? "\"" : "", rows[i].recorded ? version : "null",
			rows[i].recorded ? "\"" : "");
		put_job(rest);
		kar_store_replace_begin(w.stores.pods);
		kar_store_replace_commit(w.stores.pods, rows[i].have);
		decided = sync_key();
		if (decided != rows[i].decides || (!decided && w.sync.plan.requeue_after == KAR_NEVER))
			fail_msg("%s: %s", rows[i].name, decided ? "decided" : "did not decide");
		if (decided &&
			((const struct kar_queuejob_status *)w.sync.plan.status)->record.pods_version !=
				rows[i].have)
			fail_msg("%s: another version is recorded", rows[i].name);
	}
}

/* The cached job has version @rv, and its status does not match its digest. */
static void put_edited_job(kar_rv rv)
{
	struct kar_queuejob *job;

	put_starting_job();
	job = kar_container_of((struct kar_object *)(uintptr_t)kar_store_get(w.stores.queuejobs, "ns", "j"),
		struct kar_queuejob, o);
	job->o.rv = rv;
	job->status.edited = true;
}

/*
 * A CRD of another version drops a field of our status each time: then the job is tried now and then, not in each sync. An edit
 * by a client, which makes a version of its own, is repaired at once.
 */
static void job_whose_status_loses_fields_is_retried_slowly(void **state)
{
	static const struct {
		const char *name;
		kar_rv cached;
		kar_time at;    /* ms */
		kar_time waits; /* ms; 0: it is decided */
		kar_rv written; /* version that our write makes */
	} rows[] = {
		{ "an edit", 1000, 5000, 0, 1001 },
		{ "the next edit", 1002, 5001, 0, 1003 },
		{ "what our own write made", 1003, 7000, 28001, 0 },
		{ "still", 1003, 35000, 1, 0 },
		{ "after the pause; the write changes nothing", 1003, 35001, 0, 1003 },
		{ "again", 1003, 35002, 29999, 0 },
		{ "an edit in the pause", 1004, 36000, 0, 1005 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		put_edited_job(rows[i].cached);
		if (sync_at(rows[i].at) != !rows[i].waits)
			fail_msg("%s: %s", rows[i].name, rows[i].waits ? "decided" : "did not decide");
		if (rows[i].waits)
			assert_int_equal(w.sync.plan.requeue_after, rows[i].waits);
		else
			answer_version(NULL, "{}", rows[i].written);
	}
}

/* A write that changes nothing causes no event, so nothing else would enqueue the key. */
static void job_with_an_edited_status_is_looked_at_again(void **state)
{
	(void)state;
	put_edited_job(1000);
	assert_true(sync_at(5000));
	drain();
	answer_version(NULL, "{}", 1000);
	assert_string_equal(take(), "ns/j");
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

static void put_limit(const char *limit)
{
	char status[256];

	snprintf(status, sizeof(status),
		",\"spec\":{\"minMember\":1},\"status\":{%s\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\"}]}",
		limit);
	put(w.stores.podgroups, "j", "g-uid", BY_JOB, status);
}

/* The job may have 4 pods, its minimum is 1, and the queue lets @limit of them be active; "": any number. */
static void put_limited_job(const char *limit)
{
	put_starting(ELASTIC);
	put_limit(limit);
	check_owner();
}

/* A queue that has admitted a group allows less than its minimum only if that was raised. */
static void limit_is_read_from_the_podgroup(void **state)
{
	static const struct {
		const char *limit;
		size_t creates;
	} rows[] = { { "", 4 }, { "\"desired\":9,", 4 }, { "\"desired\":3,", 3 }, { "\"desired\":0,", 0 },
		{ "\"desired\":null,", 4 } };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		put_limited_job(rows[i].limit);
		assert_true(sync_key());
		if (count_actions(KAR_CREATE) != rows[i].creates)
			fail_msg("%s: %zu pods", rows[i].limit, count_actions(KAR_CREATE));
	}
}

/* The queue takes back what it allowed while the extras of a plan wait for their turn. */
static void extras_that_are_not_allowed_any_more_are_not_sent(void **state)
{
	static const struct {
		const char *then, *now;
		bool sent;
	} rows[] = { { "\"desired\":3,", "\"desired\":3,", true },
		{ "\"desired\":3,", "\"desired\":4,", true }, { "\"desired\":3,", "\"desired\":2,", false },
		{ "", "\"desired\":3,", false }, { "\"desired\":3,", "", true } };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		size_t minimum = 0, extras = 0;

		put_limited_job(rows[i].then);
		assert_true(sync_key());
		put_limit(rows[i].now);
		for (size_t k = 0; k < w.sync.plan.n_actions; k++) {
			const struct kar_action *a = &w.sync.plan.actions[k];

			if (a->what != QUEUEJOB_CREATE_POD)
				continue;
			if (a->rank.tier == KAR_TIER_EXTRA) {
				extras++;
				assert_int_equal(w.controller.still_wanted(&w.sync, a), rows[i].sent);
			} else {
				minimum++;
				assert_true(w.controller.still_wanted(&w.sync, a));
			}
		}
		assert_int_equal(minimum, 1);
		assert_true(extras >= 2);
	}
}

/* It costs a look at each name, so it is not taken in every round of a job that will not have all of its pods for long. */
static void names_are_not_looked_up_for_pods_that_are_held_back(void **state)
{
	struct queuejob_view v;

	(void)state;
	put_limited_job("\"desired\":1,");
	put(w.stores.pods, "j-w-3", "p3", CONTROLLED_BY("ReplicaSet", "rs", "rs-uid"), "");
	assert_true(sync_key());
	assert_true(queuejob_observe(&w.stores, &w.sync, &w.sync.arena, &v));
	assert_int_equal(v.n_blocking, 1);
	put(w.stores.pods, "j-w-0", "p0", BY_JOB, "");
	assert_true(sync_key());
	assert_true(queuejob_observe(&w.stores, &w.sync, &w.sync.arena, &v));
	assert_int_equal(v.n_blocking, 0);
}

static void refusal_of_a_create_is_told(void **state)
{
	const struct kar_err no = { .what = KAR_DENIED, .msg = "no" };
	const struct kar_queuejob_status *st;

	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	kar_create_backoff_note(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &no, 5000);
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_string_equal(st->message, "cannot create pods ns/j-w-0: no");
	w.state.backoff->generation = 7; /* the job was edited since */
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "Starting");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(changes_wake_the_job_they_concern),
		TEST(pod_that_goes_wakes_the_job_that_wants_its_name),
		TEST(progress_waits_until_the_key_has_rested_a_loss_does_not),
		TEST(job_that_is_gone_is_forgotten),
		TEST(pods_of_a_gone_job_are_released),
		TEST(pods_of_a_gone_job_are_released_without_their_label),
		TEST(pod_with_the_label_of_another_job_stays_with_its_own),
		TEST(pod_that_is_nobodys_is_released_by_its_own_key),
		TEST(nothing_is_decided_on_what_is_unreadable),
		TEST(own_writes_are_awaited),
		TEST(pods_older_than_the_status_are_not_believed),
		TEST(job_whose_status_loses_fields_is_retried_slowly),
		TEST(job_with_an_edited_status_is_looked_at_again),
		TEST(priority_comes_from_its_class),
		TEST(foreign_pod_under_our_name_blocks),
		TEST(limit_is_read_from_the_podgroup),
		TEST(extras_that_are_not_allowed_any_more_are_not_sent),
		TEST(names_are_not_looked_up_for_pods_that_are_held_back),
		TEST(refusal_of_a_create_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
