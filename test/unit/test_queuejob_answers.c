/* The shell of the QueueJob reconciler: what the API server's answers to creates and dry runs lead to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queuejob_sync_fixture.h"

/* --- what the API server thinks of the pods ------------------------------------------------------ */

static void put_waiting_job(void)
{
	put_job(SPEC);
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB, ",\"spec\":{\"minAvailable\":2}");
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
	take_all();
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
	take_all();
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

/* Of a child, which is tried again in the same way as a pod: after an edit, else rarely. */
static void refused_child_makes_it_invalid_too(void **state)
{
	const struct kar_err no = { .what = KAR_INVALID,
		.msg = "create schedulingspecs in ns: SchedulingSpec \"j\" is invalid: no" };
	const struct kar_queuejob_status *st;

	(void)state;
	put_job(SPEC);
	assert_true(sync_key());
	for (int i = 0; i < 20; i++)
		kar_refusal_note(&w.sync, action_of(QUEUEJOB_CREATE_SCHEDULINGSPEC, KAR_CREATE), &no, 5000);
	assert_true(sync_at(5001));
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "InvalidObject");
	assert_string_equal(st->message,
		"cannot create schedulingspecs in ns: SchedulingSpec \"j\" is invalid: no");
	assert_true(kar_condition_is_true(&st->conditions, KAR_QJ_INVALID));
	kar_refusal_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	assert_int_equal(w.sync.plan.requeue_after, 10 * KAR_MINUTE - 1);
	kar_refusal_forget(&w.state);
}

/* Of a gang at work, before it is restarted. */
static void new_template_is_checked_once(void **state)
{
	const struct kar_queuejob_status *st;
	const struct kar_action *a;

	(void)state;
	put_job(SPEC ",\"status\":{\"phase\":\"Running\",\"incarnation\":1,\"templateHash\":\"old\"" FORMED
		     "}");
	put_children(true);
	assert_true(sync_key());
	a = action_of(QUEUEJOB_CREATE_POD, KAR_CREATE);
	assert_true(a->dry_run);
	answer(a, "{}");
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_int_equal(st->phase, KAR_QJ_PHASE_RESTARTING);
}

static void gang_goes_on_while_its_new_pods_are_forbidden(void **state)
{
	const struct kar_err no = { .what = KAR_DENIED, .msg = "create pods in ns: no such class" };
	const struct kar_queuejob_status *st;

	(void)state;
	put_job(SPEC
		",\"status\":{\"phase\":\"Starting\",\"incarnation\":1,\"templateHash\":\"old\"" NOT_FORMED
		"}");
	put_children(true);
	assert_true(sync_key());
	w.controller.refused(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &no);
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_true(queuejob_has_gang(st->phase));
	assert_string_equal(st->reason, "Forbidden");
	assert_string_equal(st->message, "cannot replace the pods of task w: no such class");
}

static void service_without_our_label_gets_it_back(void **state)
{
	const struct kar_err denied = { .what = KAR_DENIED, .msg = "patch services j: no" };

	(void)state;
	put_job(",\"spec\":{\"network\":{\"enableDNSHostnames\":true},\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE
		"}]}");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_CREATE_SERVICE, KAR_CREATE),
		CHILD("v1",
			"Service") ",\"spec\":{\"clusterIP\":\"None\",\"selector\":{"
				   "\"kube-arbitrator.io/queuejob\":\"j\"},\"publishNotReadyAddresses\":true}}");
	take_all();
	answer_uid(action_of(QUEUEJOB_CREATE_SERVICE, KAR_CREATE), "n-uid"); /* it exists */
	assert_string_equal(take(), "ns/j");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_LABEL_SERVICE, KAR_PATCH),
		"{\"metadata\":{\"uid\":\"n-uid\",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}}}");
	w.controller.refused(&w.sync, action_of(QUEUEJOB_LABEL_SERVICE, KAR_PATCH), &denied);
	assert_true(sync_key());
	assert_string_equal(action_of(QUEUEJOB_LABEL_SERVICE, KAR_PATCH)->uid, "n-uid");
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
	take_all();
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(waiting_job_is_checked_early_and_once),
		TEST(objection_makes_the_job_invalid),
		TEST(refused_create_makes_it_invalid_too),
		TEST(refused_child_makes_it_invalid_too),
		TEST(new_template_is_checked_once),
		TEST(gang_goes_on_while_its_new_pods_are_forbidden),
		TEST(service_without_our_label_gets_it_back),
		TEST(service_just_made_is_no_riddle),
		TEST(service_is_repaired_and_removed),
		TEST(pod_that_ends_wakes_who_waits_for_a_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
