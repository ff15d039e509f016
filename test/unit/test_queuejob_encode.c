/* The shell of the QueueJob reconciler: the bodies that are sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queuejob_sync_fixture.h"

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
			"PodGroup") ",\"spec\":{\"minMember\":1,\"succeededMembers\":0,\"queue\":\"default\",\"priority\":0,\"scheduleTimeoutSeconds\":45}}");
	put(w.stores.podgroups, "j", "g-uid", BY_JOB,
		",\"spec\":{\"minMember\":7,\"queue\":\"default\",\"priority\":0}");
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB, ",\"spec\":{}");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_PATCH_PODGROUP, KAR_PATCH),
		"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"g-uid\"},{\"op\":\"add\",\"path\":\"/spec\",\"value\":"
		"{\"minMember\":1,\"succeededMembers\":0,\"queue\":\"default\",\"priority\":0}}]");
	assert_int_equal(action_of(QUEUEJOB_PATCH_PODGROUP, KAR_PATCH)->patch_type, KAR_PATCH_JSON);
	check_body(action_of(QUEUEJOB_PATCH_SCHEDULINGSPEC, KAR_PATCH),
		"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"s-uid\"},{\"op\":\"add\",\"path\":\"/spec\",\"value\":"
		"{\"minAvailable\":1}}]");
}

/* With the minimum that holds, which the job need not name. */
static void schedulingspec_has_the_minimum(void **state)
{
	(void)state;
	put_job(SPEC);
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_CREATE_SCHEDULINGSPEC, KAR_CREATE),
		CHILD("kube-arbitrator.io/v1alpha1", "SchedulingSpec") ",\"spec\":{\"minAvailable\":2}}");
	put_job(",\"spec\":{\"schedSpec\":{\"minAvailable\":0,\"priority\":7},\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE
		"}]}");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_CREATE_SCHEDULINGSPEC, KAR_CREATE),
		CHILD("kube-arbitrator.io/v1alpha1",
			"SchedulingSpec") ",\"spec\":{\"minAvailable\":0,\"priority\":7}}");
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
		"}]}" COMPLETED);
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
	check_body(action_of(PODSET_RELABEL, KAR_PATCH),
		"{\"metadata\":{\"uid\":\"p0\",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\",\"kube-arbitrator.io/task\":\"w\","
		"\"kube-arbitrator.io/index\":\"0\",\"kube-arbitrator.io/incarnation\":\"1\","
		"\"scheduling.x-k8s.io/pod-group\":\"j\"},\"finalizers\":[\"kube-arbitrator.io/pod-tracking\"]}}");
	assert_int_equal(action_of(PODSET_RELABEL, KAR_PATCH)->patch_type, KAR_PATCH_STRATEGIC);
	put(w.stores.queuejobs, "j", "job-uid",
		",\"generation\":1,\"finalizers\":[\"orphan\"],"
		"\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"",
		SPEC);
	assert_true(sync_key());
	check_body(action_of(PODSET_RELEASE, KAR_PATCH),
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
		(int)w.rv);
	assert_memory_equal(kar_buf_cstr(&out), want, strlen(want));
	kar_buf_release(&out);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(children_are_encoded),
		TEST(schedulingspec_has_the_minimum),
		TEST(what_an_orphaned_job_left_is_adopted),
		TEST(finished_job_is_deleted_only_as_it_was_read),
		TEST(pod_patches_are_encoded),
		TEST(pod_is_encoded_from_the_template),
		TEST(status_patch_applies_only_to_what_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
