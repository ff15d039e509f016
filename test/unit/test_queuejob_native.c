/* The PodGroup of Kubernetes itself, for the gang of a QueueJob: what is sent, and what is remembered of the answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queuejob_sync_fixture.h"

#define CLASS \
	",\"spec\":{\"schedSpec\":{\"priorityClassName\":\"high\"},\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2," TEMPLATE \
	"}]}"

enum { OK = 200, CREATED = 201 };

static int setup_native(void **state)
{
	static const char *const versions[] = { "v1alpha3" };

	setup(state);
	settings.gang_backend = KAR_GANGS_BY_NATIVE;
	settings.native = (struct kar_native){ .known = true, .type = kar_native_type(versions, 1) };
	return 0;
}

/* A job with a place for each of its pods, of which @min are the minimum. */
static void put_placed(const char *spec, const char *min)
{
	char rest[512];

	put(w.stores.priorityclasses, "high", "c-uid", "", ",\"value\":5");
	put_starting(spec);
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB,
		strstr(spec, "high") ? ",\"spec\":{\"minAvailable\":2,\"priorityClassName\":\"high\"}"
				     : ",\"spec\":{\"minAvailable\":2}");
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"minMember\":%s,\"queue\":\"default\",\"priority\":%s},\"status\":{\"backend\":\"Native\",\"placement\":{\"state\":\"Placed\","
		"\"plan\":[{\"role\":\"w\",\"nodes\":\"*2\"}]},\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\","
		"\"message\":\"\"}]}",
		min, strstr(spec, "high") ? "5,\"priorityClassName\":\"high\"" : "0");
	put(w.stores.podgroups, "j", "g-uid", BY_JOB, rest);
	check_owner();
	take_all();
}

static void accept(const struct kar_action *a, int http)
{
	const struct kar_answer answer = { .status = http, .body = { "{}", 2 }, .rv = 1, .uid = "" };

	w.controller.wrote(&w.sync, a, &answer);
}

static void it_is_created_in_the_version_that_is_served(void **state)
{
	const struct kar_action *a;

	(void)state;
	put_placed(CLASS, "2");
	assert_true(sync_key());
	a = action_of(QUEUEJOB_CREATE_NATIVE, KAR_CREATE);
	check_body(a,
		CHILD("scheduling.k8s.io/v1alpha3",
			"PodGroup") ",\"spec\":{\"schedulingPolicy\":{\"gang\":{\"minCount\":2}},\"priorityClassName\":\"high\"}}");
	assert_int_equal(count_actions(KAR_CREATE), 1); /* no pod yet */
}

static void pods_follow_it(void **state)
{
	(void)state;
	put_placed(SPEC, "2");
	assert_true(sync_key());
	accept(action_of(QUEUEJOB_CREATE_NATIVE, KAR_CREATE), CREATED);
	assert_string_equal(take(), "ns/j");
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_CREATE), 2);
	assert_true(((const struct queuejob_new_pod *)action_of(QUEUEJOB_CREATE_POD, KAR_CREATE)->payload)
			    ->native);
}

/* Another manager made it, or this one before it was restarted: it may have another minCount. */
static void one_that_exists_is_put_right(void **state)
{
	const struct kar_action *a;

	(void)state;
	put_placed(SPEC, "2");
	assert_true(sync_key());
	accept(action_of(QUEUEJOB_CREATE_NATIVE, KAR_CREATE), OK);
	assert_true(sync_key());
	a = action_of(QUEUEJOB_PATCH_NATIVE, KAR_PATCH);
	assert_int_equal(a->patch_type, KAR_PATCH_MERGE);
	check_body(a, "{\"spec\":{\"schedulingPolicy\":{\"gang\":{\"minCount\":2}}}}");
	assert_int_equal(count_actions(KAR_CREATE), 0);
	accept(a, OK);
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_CREATE), 2);
}

/* A patch of one that is gone has no answer that shows an object. */
static void deleted_one_is_created_again(void **state)
{
	(void)state;
	put_placed(SPEC, "2");
	assert_true(sync_key());
	accept(action_of(QUEUEJOB_CREATE_NATIVE, KAR_CREATE), OK);
	assert_true(sync_key());
	assert_non_null(find_action(QUEUEJOB_PATCH_NATIVE, KAR_PATCH));
	assert_int_equal(w.sync.plan.requeue_after, KAR_SECOND);
	assert_true(sync_key());
	assert_non_null(find_action(QUEUEJOB_CREATE_NATIVE, KAR_CREATE));
}

static void another_job_of_the_name_has_another_one(void **state)
{
	(void)state;
	put_placed(SPEC, "2");
	assert_true(sync_key());
	accept(action_of(QUEUEJOB_CREATE_NATIVE, KAR_CREATE), CREATED);
	key_memory()->native_uid++;
	assert_true(sync_key());
	assert_non_null(find_action(QUEUEJOB_CREATE_NATIVE, KAR_CREATE));
}

static void refusal_is_in_the_words_of_the_api_server(void **state)
{
	const struct kar_queuejob_status *st;
	struct kar_err no;

	(void)state;
	kar_fail(&no, KAR_DENIED, "podgroups.scheduling.k8s.io is forbidden");
	put_placed(SPEC, "2");
	assert_true(sync_key());
	kar_create_backoff_note(&w.sync, action_of(QUEUEJOB_CREATE_NATIVE, KAR_CREATE), &no, 5000);
	assert_true(sync_at(5001));
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "Forbidden");
	assert_non_null(strstr(st->message, no.msg));
	kar_create_backoff_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	assert_int_equal(w.sync.plan.requeue_after, 500 - 1);
}

#define NATIVE(fn) cmocka_unit_test_setup_teardown(fn, setup_native, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NATIVE(it_is_created_in_the_version_that_is_served),
		NATIVE(pods_follow_it),
		NATIVE(one_that_exists_is_put_right),
		NATIVE(deleted_one_is_created_again),
		NATIVE(another_job_of_the_name_has_another_one),
		NATIVE(refusal_is_in_the_words_of_the_api_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
