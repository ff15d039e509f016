/* The shell of the Queue reconciler: caches in, plan and bodies out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

static void check_nth_body(size_t action, const char *want)
{
	assert_true(action < w.sync.plan.n_actions);
	check_body(&w.sync.plan.actions[action], want);
}

static void empty_cluster_gets_the_default_queue(void **state)
{
	(void)state;
	assert_string_equal(sync_text(false), "create queues default");
	check_nth_body(0,
		"{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"default\"},"
		"\"spec\":{}}");
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
}

static void default_queue_is_created_once(void **state)
{
	(void)state;
	put_queue("default", "");
	assert_string_equal(sync_text(false), "");
}

/* The patch leaves alone what it does not name, desired as well. */
static void group_is_admitted_with_preconditions(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "\"minMember\":1",
		"\"phase\":\"Pending\",\"desired\":6,\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":\"NotEnoughMembers\","
		"\"message\":\"m\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]");
	assert_string_equal(sync_text(false),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0); "
		"patch queues/status default (Open pending=0 inqueue=1 running=0 completed=0 unknown=0)");
	check_nth_body(0,
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"12\"},\"status\":{\"position\":0,\"conditions\":["
		"{\"type\":\"Scheduled\",\"status\":\"False\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\","
		"\"reason\":\"NotEnoughMembers\",\"message\":\"m\"},"
		"{\"type\":\"Admitted\",\"status\":\"True\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:27Z\","
		"\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"}]}}");
	assert_int_equal(w.sync.plan.actions[0].patch_type, KAR_PATCH_MERGE);
	assert_string_equal(w.sync.plan.actions[0].uid, "uid-g");
}

/* One write less for each gang: the first status says what is obvious. */
static void first_status_of_a_group_is_pending(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "\"minMember\":1", "");
	sync_text(false);
	check_nth_body(0,
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"12\"},\"status\":{\"phase\":\"Pending\",\"members\":0,"
		"\"scheduled\":0,\"running\":0,\"succeeded\":0,\"failed\":0,\"position\":0,\"conditions\":["
		"{\"type\":\"Admitted\",\"status\":\"True\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:27Z\","
		"\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"}]}}");
}

static void admitted_group_is_not_written_again(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("True", "Admitted", "admitted by another queue"));
	assert_string_equal(sync_text(true), "");
}

static void contradictory_condition_is_mended(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("False", "Admitted", "edited by hand"));
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)");
}

static void most_urgent_group_is_written_first(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":2");
	put_group("a", "\"priority\":1", "");
	put_group("b", "\"priority\":2", "");
	put_group("c", "\"priority\":3", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/c (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/b (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/a (Admitted=False/QueueCapability position=1)");
}

static void priority_is_resolved_from_classes(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":1");
	put_named(w.stores.priorityclasses, "low", "", ",\"value\":-10");
	put_named(w.stores.priorityclasses, "usual", "", ",\"value\":5,\"globalDefault\":true");
	put_group("a", "\"priorityClassName\":\"low\"", "");
	put_group("b", "\"priority\":4,\"priorityClassName\":\"usual\"", "");
	put_group("c", "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/c (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/b (Admitted=False/QueueCapability position=1); "
		"patch podgroups/status ns/a (Admitted=False/QueueCapability position=2)");
}

static const struct {
	const char *name, *meta, *spec, *phase, *plan;
} owners[] = {
	{ "live_job_is_admitted", "", "", "Pending",
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)" },
	{ "suspended_job_waits_for_nothing", "", ",\"suspend\":true", "Pending",
		"patch podgroups/status ns/j (Admitted=False/Suspended position=0)" },
	{ "job_being_deleted_is_left_alone", ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"", "", "Pending",
		"" },
	{ "completed_job_is_left_alone", "", "", "Completed", "" },
	{ "failed_job_is_left_alone", "", "", "Failed", "" },
	{ "phase_alone_ends_no_job", "", "", "Completed\",\"message\":\"",
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)" },
	{ "completed_before_suspended", "", ",\"suspend\":true", "Completed", "" },
	{ "invalid_job_without_pods_waits_for_nothing", "", "", INVALID("0"),
		"patch podgroups/status ns/j (Admitted=False/JobInvalid position=0)" },
	{ "invalid_job_with_pods_keeps_its_place", "", "", INVALID("1"),
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)" },
};

static void owner_decides_whether_a_group_waits(void **state)
{
	for (size_t i = 0; i < KAR_LEN(owners); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_queue("default", "");
		put_named_job("j", owners[i].meta, owners[i].spec, owners[i].phase);
		put_group_of_job("j", "");
		got = sync_text(true);
		if (strcmp(got, owners[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", owners[i].name, owners[i].plan, got);
	}
}

static void group_whose_job_is_gone_is_left_alone(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group_of_job("j", "");
	assert_string_equal(sync_text(true), "");
}

static void resumed_job_is_admitted_again(void **state)
{
	(void)state;
	put_queue("default", "");
	put_named_job("j", "", "", "Suspended");
	put_group_of_job("j", ADMITTED("False", "Suspended", "the job is suspended"));
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)");
}

static void own_writes_are_awaited(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", "");
	kar_barrier_wrote(w.controller.barrier, "all", &kar_podgroup_type, w.rv + 1);
	assert_string_equal(sync_text(false), "not yet: requeue 0s");
	put_group("g", "", ADMITTED("True", "Admitted", ""));
	assert_string_equal(sync_text(true), "");
}

static void stale_patch_is_not_sent(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", "");
	sync_text(false);
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[1]));
	put_group("g", "", "\"phase\":\"Pending\"");
	assert_false(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[1]));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(empty_cluster_gets_the_default_queue),
		TEST(default_queue_is_created_once),
		TEST(group_is_admitted_with_preconditions),
		TEST(admitted_group_is_not_written_again),
		TEST(contradictory_condition_is_mended),
		TEST(most_urgent_group_is_written_first),
		TEST(first_status_of_a_group_is_pending),
		TEST(priority_is_resolved_from_classes),
		TEST(owner_decides_whether_a_group_waits),
		TEST(group_whose_job_is_gone_is_left_alone),
		TEST(resumed_job_is_admitted_again),
		TEST(own_writes_are_awaited),
		TEST(stale_patch_is_not_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
