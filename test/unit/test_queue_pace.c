/* The shell of the Queue reconciler: when it makes a pass, and which writes wait for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

static void second_pass_keeps_its_distance(void **state)
{
	(void)state;
	sync_text(false);
	w.mono += 20;
	assert_string_equal(sync_text(false), "not yet: requeue 0s");
	assert_int_equal(w.sync.plan.requeue_after, 30);
	w.mono += 30;
	assert_string_equal(sync_text(false), "create queues default");
}

/* Group "g" waits at the second place, but is written as waiting at the third. */
static void put_moved_group(void)
{
	put_group("a", "\"priority\":1",
		ADMITTED("False", "QueueCapability",
			"1st of 2 in queue default: maxJobs 0 reached") ",\"position\":1");
	put_group("g", "",
		ADMITTED("False", "QueueCapability",
			"3rd of 3 in queue default: maxJobs 0 reached") ",\"position\":3");
}

static void positions_are_told_every_five_seconds(void **state)
{
	const char *told = "patch podgroups/status ns/g (Admitted=False/QueueCapability position=2)";

	(void)state;
	put_queue("default", "\"maxJobs\":0");
	put_moved_group();
	assert_string_equal(sync_text(true), told);
	w.mono += 1000;
	assert_string_equal(sync_text(true), "");
	w.mono += 1000;
	sync_text(false);
	assert_int_equal(w.sync.plan.requeue_after, 1000 * 3);
	w.mono += 3000;
	assert_string_equal(sync_text(true), told);
}

static void reasons_are_told_at_once(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":0");
	put_moved_group();
	sync_text(true);
	w.mono += 1000;
	put_group("g", "", ADMITTED("False", "QueueClosed", "x") ",\"position\":2");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/QueueCapability position=2)");
}

static void counts_are_told_every_second(void **state)
{
	const char *told =
		"patch queues/status default (Open pending=0 inqueue=1 running=0 completed=0 unknown=0)";

	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("True", "Admitted", ""));
	assert_string_equal(sync_text(false), told);
	w.mono += 400;
	assert_string_equal(sync_text(false), "requeue 0s");
	assert_int_equal(w.sync.plan.requeue_after, 600);
	w.mono += 600;
	assert_string_equal(sync_text(false), told);
}

static void state_is_told_at_once(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("True", "Admitted", ""));
	sync_text(false);
	w.mono += 400;
	put_queue("default", "\"state\":\"Closed\"");
	assert_string_equal(sync_text(false),
		"patch queues/status default (Closing pending=0 inqueue=1 running=0 completed=0 unknown=0)");
}

/* The key that is queued, or "". It lives until the next call. */
static const char *woken(void)
{
	static char text[16];
	const char *key = kar_workqueue_take(w.controller.queue, w.mono);

	snprintf(text, sizeof(text), "%s", key ? key : "");
	if (key)
		kar_workqueue_done(w.controller.queue, key);
	return text;
}

static void changes_that_matter_wake_it(void **state)
{
	(void)state;
	w.controller.start(&w.controller);
	assert_string_equal(woken(), "all"); /* for the default queue, even if nothing ever changes */
	assert_string_equal(woken(), "");
	put_queue("default", "");
	assert_string_equal(woken(), "all");
	put_group("g", "", "");
	assert_string_equal(woken(), "all");
	put_named(w.stores.priorityclasses, "c", "", ",\"value\":1");
	assert_string_equal(woken(), "all");
	put_named_job("j", "", "", "Pending");
	assert_string_equal(woken(), "all");
	put_named_job("j", "", "", "Running");
	assert_string_equal(woken(), "");
	put_named_job("j", "", "", INVALID("0"));
	assert_string_equal(woken(), "all");
	put_named_job("j", "", ",\"suspend\":true", "Running");
	assert_string_equal(woken(), "all");
	put_named_job("j", "", ",\"suspend\":true", "Completed");
	assert_string_equal(woken(), "all");
}

/* A gang that starts writes its group's status several times; a pass for each would do nothing but count. */
static void progress_of_a_group_can_wait(void **state)
{
	(void)state;
	w.controller.start(&w.controller);
	put_group("g", "", "");
	assert_string_equal(woken(), "all");
	put_group("g", "", "\"phase\":\"Scheduling\"");
	assert_string_equal(woken(), "counts");
	put_group("g", "",
		"\"phase\":\"Running\"," ADMITTED("True", "Admitted", "admitted by queue default"));
	assert_string_equal(woken(), "counts");
	put_group("g", "", "\"phase\":\"Finished\"");
	assert_string_equal(woken(), "all"); /* its place is free */
	put_group_of_job("g", "\"phase\":\"Finished\"");
	assert_string_equal(woken(), "all"); /* its owner speaks for it now */
}

static const char *ask_for_pass(void)
{
	w.sync = (struct kar_sync){ .controller = &w.controller,
		.key = "counts",
		.mono = w.mono,
		.state = &w.state };
	kar_plan_init(&w.sync.plan, &w.sync.arena);
	return w.controller.sync(&w.controller, &w.sync) ? "asked" : "not yet";
}

static void passes_for_counts_are_a_second_apart(void **state)
{
	(void)state;
	assert_string_equal(ask_for_pass(), "asked");
	assert_string_equal(woken(), "all");
	w.mono += 400;
	assert_string_equal(ask_for_pass(), "not yet");
	assert_int_equal(w.sync.plan.requeue_after, 600);
	assert_string_equal(woken(), "");
	w.mono += 600;
	assert_string_equal(ask_for_pass(), "asked");
	assert_string_equal(woken(), "all");
}

static void passes_are_rarer_when_there_are_many_groups(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		char name[16];

		snprintf(name, sizeof(name), "g%d", i);
		put_group(name, "", "");
	}
	sync_text(false);
	w.mono += 50;
	assert_string_equal(sync_text(false), "not yet: requeue 0s");
	assert_int_equal(w.sync.plan.requeue_after, 10);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(second_pass_keeps_its_distance),
		TEST(positions_are_told_every_five_seconds),
		TEST(reasons_are_told_at_once),
		TEST(counts_are_told_every_second),
		TEST(state_is_told_at_once),
		TEST(changes_that_matter_wake_it),
		TEST(progress_of_a_group_can_wait),
		TEST(passes_for_counts_are_a_second_apart),
		TEST(passes_are_rarer_when_there_are_many_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
