/* The shell of the QueueJob reconciler where ResourceQuotas are in force: what is observed, who is woken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queuejob/observe.h"
#include "test/unit/queuejob_quota_fixture.h"

#define COUNT(pods) \
	",\"spec\":{\"hard\":{\"count/pods\":\"" pods "\"}},\"status\":{\"hard\":{\"pods\":\"" pods "\"}}"

/* --- observed ------------------------------------------------------------------------------------ */

static void quotas_of_the_namespace_count(void **state)
{
	(void)state;
	put_starting_job();
	check_owner();
	put(w.stores.resourcequotas, "objects", "q0", "", ",\"spec\":{\"hard\":{\"services\":\"4\"}}");
	assert_true(sync_key());
	assert_false(w.sync.plan.metered);
	put(w.stores.resourcequotas, "some", "q1", "", HARD("4"));
	put(w.stores.resourcequotas, "more", "q2", "", HARD("7"));
	assert_true(sync_key());
	assert_true(w.sync.plan.metered);
}

static void gate_is_removed_by_its_name(void **state)
{
	char want[256];

	(void)state;
	put_starting_job();
	put(w.stores.pods, "j-w-0", "p0", MEMBER, GATED);
	snprintf(want, sizeof(want),
		"{\"metadata\":{\"uid\":\"p0\",\"resourceVersion\":\"%d\"},\"spec\":{\"schedulingGates\":[{"
		"\"$patch\":\"delete\",\"name\":\"kube-arbitrator.io/gang\"}]}}",
		(int)w.rv);
	put(w.stores.pods, "j-w-1", "p1", MEMBER, GATED);
	assert_true(sync_key());
	check_body(action_of(PODSET_UNGATE, KAR_PATCH), want);
	assert_int_equal(action_of(PODSET_UNGATE, KAR_PATCH)->patch_type, KAR_PATCH_STRATEGIC);
	assert_int_equal(count_actions(KAR_PATCH), 4); /* two more put the labels back */
}

/* --- woken --------------------------------------------------------------------------------------- */

static void changed_quota_wakes_who_waits(void **state)
{
	(void)state;
	start_refused();
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4")); /* only what is used has changed */
	assert_string_equal(take(), "");
	put(w.stores.resourcequotas, "few", "q1", "",
		",\"spec\":{\"hard\":{\"pods\":\"4\"}},\"status\":{\"hard\":{\"pods\":\"5\"}}");
	assert_string_equal(take(), "ns/j");
	w.state.backoff->woken = false;
	kar_store_delete(w.stores.resourcequotas, "ns", "few", "q1", 5000);
	assert_string_equal(take(), "ns/j");
	assert_true(w.state.backoff->woken);
}

/* Whether or not they wait. */
static void new_limit_is_looked_at_by_all_jobs(void **state)
{
	(void)state;
	synced(w.stores.resourcequotas);
	put_job(SPEC);
	take_all();
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	assert_string_equal(take(), "ns/j");
	put(w.stores.resourcequotas, "few", "q1", "", HARD("3"));
	assert_string_equal(take(), "ns/j");
	put(w.stores.resourcequotas, "few", "q1", "", HARD("3"));
	assert_string_equal(take(), "");
}

static void limit_concerns_neither_other_namespaces_nor_what_is_over(void **state)
{
	static const char elsewhere[] =
		"{\"metadata\":{\"namespace\":\"other\",\"name\":\"j\",\"uid\":\"o-uid\","
		"\"resourceVersion\":\"9\"}" SPEC "}";

	(void)state;
	synced(w.stores.resourcequotas);
	put_job(SPEC COMPLETED);
	kar_store_apply(w.stores.queuejobs, object_from_json(&kar_queuejob_type, elsewhere, w.strings));
	take_all();
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	assert_string_equal(take(), "");
}

/* "count/pods" is charged for what has ended until its object is gone; "pods" is not, and others are woken by the end. */
static void ended_pod_that_is_gone_is_room_where_objects_are_counted(void **state)
{
	static const char *const quotas[] = { HARD("4"), COUNT("4") };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(quotas); i++) {
		start_refused();
		put(w.stores.resourcequotas, "few", "q1", "", quotas[i]);
		put(w.stores.pods, "other", "p0", "", ",\"status\":{\"phase\":\"Succeeded\"}");
		w.state.backoff->woken = false;
		kar_store_delete(w.stores.pods, "ns", "other", "p0", ++w.rv);
		assert_int_equal(w.state.backoff->woken, i == 1);
		kar_create_backoff_forget(&w.controller, &w.state);
	}
}

/* The room that a job has released by a roll back is news to the others, and not to itself. */
static void pods_taken_back_wake_the_others_only(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		start_refused();
		w.state.backoff->rolled_back = i;
		put(w.stores.pods, "j-w-0", "p0", MEMBER, "");
		kar_store_delete(w.stores.pods, "ns", "j-w-0", "p0", ++w.rv);
		assert_int_equal(w.state.backoff->woken, i == 0);
		kar_create_backoff_forget(&w.controller, &w.state);
	}
}

/* What is said of the job at @mono; "" if that is nothing new. */
static const char *reason_at(kar_time mono)
{
	const struct kar_queuejob_status *st;

	assert_true(sync_at(mono));
	kar_create_backoff_hold_creates(&w.sync);
	st = w.sync.plan.status;
	return st ? st->reason : "";
}

/* It takes a moment for a surplus pod to go; if it does not, because something holds up its deletion, others could use the place. */
static void turn_is_kept_while_a_surplus_pod_goes(void **state)
{
	(void)state;
	start_refused();
	put(w.stores.pods, "j-w-7", "p7", MEMBER, ",\"status\":{\"phase\":\"Running\"}");
	put(w.stores.pods, "j-w-8", "p8", MEMBER, ",\"status\":{\"phase\":\"Running\"}");
	assert_string_equal(reason_at(6000), "QuotaExceeded");
	assert_int_equal(count_actions(KAR_CREATE), 0);
	assert_int_equal(w.sync.plan.requeue_after, 5000);
	assert_string_equal(reason_at(10999), "QuotaExceeded");
	assert_true(w.state.backoff->ordered);
	assert_string_equal(reason_at(11000), "QuotaExceeded");
	assert_null(w.state.backoff);
	assert_int_equal(w.sync.plan.requeue_after, 1);
	assert_string_equal(reason_at(11001), "Starting");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(quotas_of_the_namespace_count),
		TEST(gate_is_removed_by_its_name),
		TEST(changed_quota_wakes_who_waits),
		TEST(new_limit_is_looked_at_by_all_jobs),
		TEST(limit_concerns_neither_other_namespaces_nor_what_is_over),
		TEST(pods_taken_back_wake_the_others_only),
		TEST(turn_is_kept_while_a_surplus_pod_goes),
		TEST(ended_pod_that_is_gone_is_room_where_objects_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
