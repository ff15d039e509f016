/* The shell of the Queue reconciler: when it makes a pass, and which writes wait for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controllers/queue/pace.h"
#include "test/unit/queue_sync_fixture.h"

static void second_pass_keeps_its_distance(void **state)
{
	(void)state;
	put_group("g", "", "");
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
		ADMITTED("False", "MaxJobsReached",
			"queue default has 1 of 1 jobs; 1st of 2 in queue default") ",\"position\":1");
	put_group("g", "",
		ADMITTED("False", "MaxJobsReached",
			"queue default has 1 of 1 jobs; 3rd of 3 in queue default") ",\"position\":3");
}

static struct kar_key_state of_positions;

static void forget_positions(void)
{
	static char memory[64];

	assert_true(w.controller.memory_size <= sizeof(memory));
	of_positions = (struct kar_key_state){ .memory = memset(memory, 0, sizeof(memory)) };
}

/* One sync of the key "positions"; its plan, or "not yet". The text lives until the next call. */
static const char *positions_text(void)
{
	static char text[1024];
	struct kar_key_state kept = w.state;
	struct kar_buf out = { 0 };

	w.state = of_positions;
	if (!sync_named("positions"))
		kar_buf_puts(&out, "not yet");
	else
		kar_plan_print(&w.sync.plan, &out);
	of_positions = w.state;
	w.state = kept;
	snprintf(text, sizeof(text), "%s", kar_buf_cstr(&out));
	kar_buf_release(&out);
	return text;
}

static void positions_are_told_every_five_seconds(void **state)
{
	const char *told = "patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=2)";

	(void)state;
	forget_positions();
	put_full_queue();
	put_moved_group();
	assert_string_equal(positions_text(), told);
	w.mono += 2000;
	assert_string_equal(positions_text(), "not yet");
	assert_int_equal(w.sync.plan.requeue_after, 1000 * 3);
	w.mono += 3000;
	assert_string_equal(positions_text(), told);
}

/* A job of one task with a pod of 2000 CPUs, which is twice what there is, and its group, which has waited for @reason so far. */
static void put_large_job(const char *name, const char *reason, const char *message)
{
	char status[512];

	put_named(w.stores.queuejobs, name, "",
		",\"spec\":{\"taskSpecs\":[{\"name\":\"t\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2000\"}}}]}}}]},"
		"\"status\":{\"phase\":\"Pending\"}");
	snprintf(status, sizeof(status),
		"\"phase\":\"Pending\",\"position\":%d,\"placement\":{\"attempt\":1}," ADMITTED("False", "%s",
			"%s"),
		strcmp(reason, "Infeasible") != 0, reason, message);
	put_group_of_job(name, status);
}

#define LARGEST(cpu) "a pod asks for 2000 cpu, the largest node has " cpu

static void new_numbers_of_nodes_are_written_once_a_minute(void **state)
{
	const char *told = "patch podgroups/status ns/g (Admitted=False/Infeasible position=0)";

	(void)state;
	forget_positions();
	put_queue("default", "");
	put_large_job("g", "Infeasible", LARGEST("900"));
	assert_string_equal(positions_text(), told);
	w.mono += 5000;
	assert_string_equal(positions_text(), "requeue 55s");
	w.mono += 55000;
	assert_string_equal(positions_text(), told);
	put_large_job("g", "Infeasible", LARGEST("1000"));
	w.mono += 60000;
	assert_string_equal(positions_text(), "");
}

/* Number @i of a line, which knows that it has place @place of @of. */
static void put_waiting(int i, int place, int of)
{
	static const char *const suffixes[] = { "th", "st", "nd", "rd" };
	char name[16], status[512];

	snprintf(name, sizeof(name), "g%03d", i);
	snprintf(status, sizeof(status),
		"\"position\":%d," ADMITTED("False", "MaxJobsReached",
			"queue default has 1 of 1 jobs; %d%s of %d in queue default"),
		place, place, place % 10 > 3 || place % 100 / 10 == 1 ? "th" : suffixes[place % 10], of);
	put_group(name, "", status);
}

static void put_line(int n, int of)
{
	put_full_queue();
	for (int i = 1; i <= n; i++)
		put_waiting(i, i, of);
}

static void the_first_ten_see_each_move(void **state)
{
	(void)state;
	forget_positions();
	put_line(60, 60);
	assert_string_equal(positions_text(), "");
	put_waiting(10, 11, 60);
	put_waiting(11, 12, 60);
	w.mono += 5000;
	assert_string_equal(positions_text(),
		"patch podgroups/status ns/g010 (Admitted=False/MaxJobsReached position=10)");
}

static void others_see_a_move_by_a_tenth(void **state)
{
	(void)state;
	forget_positions();
	put_line(60, 60);
	assert_string_equal(positions_text(), "");
	w.mono += 5000;
	put_waiting(45, 50, 60); /* by a tenth */
	put_waiting(44, 48, 60); /* by less */
	assert_string_equal(positions_text(),
		"patch podgroups/status ns/g045 (Admitted=False/MaxJobsReached position=45)");
	put_waiting(45, 45, 60);
	put_waiting(18, 20, 60);
	w.mono += 5000;
	assert_string_equal(positions_text(), "requeue 55s");
	w.mono += 55000;
	assert_string_equal(positions_text(),
		"patch podgroups/status ns/g018 (Admitted=False/MaxJobsReached position=18)");
}

/* Whose text names another job than it should, and nothing else. */
static void put_waiting_for(int i, const char *whom)
{
	char name[16], status[512];

	snprintf(name, sizeof(name), "g%03d", i);
	snprintf(status, sizeof(status),
		"\"position\":%d," ADMITTED("False", "MaxJobsReached",
			"%s goes first; %dth of 60 in queue default"),
		i, whom, i);
	put_group(name, "", status);
}

static void other_names_are_for_the_first_ten(void **state)
{
	(void)state;
	forget_positions();
	put_line(60, 60);
	assert_string_equal(positions_text(), "");
	put_waiting_for(9, "ns/x");
	put_waiting_for(45, "ns/x");
	w.mono += 5000;
	assert_string_equal(positions_text(),
		"patch podgroups/status ns/g009 (Admitted=False/MaxJobsReached position=9)");
	w.mono += 60000;
	put_waiting(9, 9, 60);
	assert_string_equal(positions_text(), "");
}

/* From 60 to 57 in two steps, which is not enough, and then to 54. */
static void others_see_a_line_that_has_moved_by_a_tenth(void **state)
{
	(void)state;
	forget_positions();
	put_line(60, 60);
	assert_string_equal(positions_text(), "");
	for (int n = 60; n > 54;) {
		n -= 3;
		for (int i = n + 1; i <= n + 3; i++) {
			char name[16];

			snprintf(name, sizeof(name), "g%03d", i);
			put_group(name, "", "\"phase\":\"Finished\"");
		}
		w.mono += 60000;
		assert_string_not_equal(positions_text(), "not yet");
		assert_int_equal(w.sync.plan.n_actions, n == 54 ? 54 : 10);
	}
}

static void texts_are_compared_without_their_numbers(void **state)
{
	static const struct {
		const char *recorded, *text;
		bool same;
	} rows[] = {
		{ "insufficient cpu: 4 requested, 1 of 9 free (3 short); 2nd of 5 in queue a",
			"insufficient cpu: 4 requested, 0 of 10 free (12 short)", true },
		{ "insufficient cpu: 4 requested, 1 of 9 free (3 short)",
			"insufficient cpu: 4 requested, 1 of 9 free (1500m short)", true },
		{ "insufficient cpu: 4 requested", "insufficient memory: 4 requested", false },
		{ "insufficient cpu: 4 requested, 1 of 9 free (3 short), 5 held for n/x, which waits since 2026-11-26T10:00:00Z; 1st of 1 in queue a",
			"insufficient cpu: 4 requested, 1 of 9 free (3 short), 5 held for n/x, which waits since 2026-11-26T10:00:05Z",
			true },
		{ "insufficient cpu: 4 requested, 1 of 9 free (3 short), 5 held for n/x-1, which waits since 2026-11-26T10:00:00Z",
			"insufficient cpu: 4 requested, 1 of 9 free (3 short), 5 held for n/x-2, which waits since 2026-11-26T10:00:00Z",
			false },
		{ "queue a has 1 of 1 jobs", "queue a has 12 of 12 jobs", true },
		{ "queue a has 1 of 1 jobs", "queue a has 1 of 1 jobs and more", false },
		{ "queue a has 1 of 1 jobs and more", "queue a has 1 of 1 jobs", false },
		{ "queue a is closed", "queue a is being deleted", false },
		{ "", "queue a is closed", false },
		{ "2", "3", true },
		{ "2; 1st of 1 in queue a", "3", true },
		{ "x 2", "x", false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		if (queue_says_the_same(rows[i].recorded, rows[i].text) != rows[i].same)
			fail_msg("'%s', '%s'", rows[i].recorded, rows[i].text);
	}
}

/* A pass for each job that starts or ends may change it for all that wait. */
static void what_holds_a_group_up_is_written_with_the_positions(void **state)
{
	(void)state;
	forget_positions();
	put_full_queue();
	put_node("n1", "2000", "");
	put_large_job("g", "NoFit",
		"0 of 1 pods fit now: 1 node lacks cpu (short 1); 1st of 1 in queue default");
	assert_string_equal(sync_text(true), "");
	assert_string_equal(positions_text(),
		"patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=1)");
	put_large_job("g", "QueueClosed", "queue default is closed");
	w.mono += 1000;
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=1)");
}

/* They may wait for long, and who is admitted must not wait for them: so they are a plan of their own, of the lowest class. */
static void positions_are_the_lowest_class_of_writes(void **state)
{
	(void)state;
	forget_positions();
	put_queue("default", "\"maxJobs\":1");
	put_moved_group();
	put_group("n", "\"priority\":9", "");
	drain();
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/n (Admitted=True/Admitted position=0)");
	assert_int_equal(w.sync.plan.actions[0].rank.tier, KAR_TIER_CONTROL);
	assert_string_equal(take(), "positions");
	assert_string_equal(positions_text(),
		"patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=2)");
	for (size_t i = 0; i < w.sync.plan.n_actions; i++)
		assert_int_equal(w.sync.plan.actions[i].rank.tier, KAR_TIER_BACKGROUND);
}

/* However many wait: those behind the first hundred have been told so, and that stays true when those ahead move. */
static void a_round_of_positions_is_a_hundred_writes(void **state)
{
	enum { GROUPS = 300 };

	(void)state;
	forget_positions();
	put_full_queue();
	for (int i = 0; i < GROUPS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "g%03d", i);
		put_group(name, "", ADMITTED("False", "MaxJobsReached", "queue default has 1 of 1 jobs"));
	}
	assert_string_equal(sync_text(true), "");
	assert_string_not_equal(positions_text(), "not yet");
	assert_int_equal(w.sync.plan.n_actions, KAR_QUEUE_POSITIONS);
	assert_string_equal(w.sync.plan.actions[KAR_QUEUE_POSITIONS - 1].name, "g099");
}

/* Its own writes are awaited, as those of the pass are. */
static void positions_wait_for_the_caches(void **state)
{
	(void)state;
	forget_positions();
	put_full_queue();
	put_moved_group();
	kar_barrier_wrote(w.controller.barrier, "positions", &kar_podgroup_type, w.rv + 1);
	assert_string_equal(positions_text(), "not yet");
	put_moved_group();
	assert_string_not_equal(positions_text(), "not yet");
}

static void reasons_are_told_at_once(void **state)
{
	(void)state;
	put_full_queue();
	put_moved_group();
	sync_text(true);
	w.mono += 1000;
	put_group("g", "", ADMITTED("False", "QueueClosed", "x") ",\"position\":2");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=2)");
}

static void counts_are_told_every_second(void **state)
{
	const char *told =
		"patch queues/status default (state=Open pending=0 inqueue=1 running=0 completed=0 unknown=0)";

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
		"patch queues/status default (state=Closing pending=0 inqueue=1 running=0 completed=0 unknown=0)");
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
	put_queue("default", "");
	assert_string_equal(woken(), "all");
	put_node("n1", "2000", ""); /* nobody waits for it */
	assert_string_equal(woken(), "counts");
	put_node("n1", "2000", "");
	assert_string_equal(woken(), "");
	kar_store_delete(w.stores.nodes, NULL, "n1", "uid-n1", ++w.rv);
	assert_string_equal(woken(), "counts");
	put_group("g", "", "");
	assert_string_equal(woken(), "all");
	put_named(w.stores.priorityclasses, "c", "", ",\"value\":1");
	assert_string_equal(woken(), "all");
	put_named_job("j", "", "", "Pending");
	assert_string_equal(woken(), "all");
	put_named_job("j", "", "", "Pending\",\"reason\":\"MaxJobsReached");
	assert_string_equal(woken(), "");
	put_named_job("j", "", "", "Starting\",\"reason\":\"Unschedulable");
	assert_string_equal(woken(), "");
	put_named_job("j", "", "", "Running");
	assert_string_equal(woken(), "");
	put_named_job("j", "", "", INVALID("0"));
	assert_string_equal(woken(), "all");
	put_named_job("j", "", ",\"suspend\":true", "Running");
	assert_string_equal(woken(), "all");
	put_named_job("j", "", ",\"suspend\":true", "Completed");
	assert_string_equal(woken(), "all");
}

static void first_pass_comes_although_nothing_changes(void **state)
{
	assert_int_equal(teardown(state), 0);
	open_world(kar_queue_controller, &settings);
	w.controller.start(&w.controller);
	assert_string_equal(woken(), "all");
	assert_string_equal(woken(), "");
}

/* It was left out while it could not be read, and nothing else need change when it can. */
static void job_that_becomes_readable_wakes_it(void **state)
{
	(void)state;
	put_unreadable(w.stores.queuejobs, "j", "uid-j", "",
		",\"spec\":{" TASKS "},\"status\":{\"position\":\"first\"}");
	while (woken()[0])
		continue;
	put_named_job("j", "", "", "Pending");
	assert_string_equal(woken(), "all");
}

/* A gang that starts writes its group's status several times; a pass for each would do nothing but count. */
static void progress_of_a_group_can_wait(void **state)
{
	(void)state;
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

/* What groups cost that have ended is little. */
static void passes_are_rarer_when_there_are_many_groups(void **state)
{
	(void)state;
	for (int i = 0; i < 2500; i++) {
		char name[16];

		snprintf(name, sizeof(name), "g%d", i);
		put_group(name, "", i < 500 ? "" : "\"phase\":\"Finished\"");
	}
	sync_text(false);
	w.mono += 50;
	assert_string_equal(sync_text(false), "not yet: requeue 0s");
	assert_int_equal(w.sync.plan.requeue_after, 7);
}

/* Groups of other namespaces, although they come last in the line, are told as soon as the first. */
static void many_are_told_why_they_wait_in_parts(void **state)
{
	size_t here = 0, elsewhere = 0;

	(void)state;
	put_full_queue();
	for (int i = 0; i < 1503; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%s%04d", i < 1500 ? "g" : "h", i);
		put_named(w.stores.podgroups, name, i < 1500 ? "" : ",\"namespace\":\"other\"",
			i < 1500 ? ",\"spec\":{\"priority\":1}" : "");
	}
	assert_true(sync_named("all"));
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		const struct kar_action *a = &w.sync.plan.actions[i];

		here += a->ns && strcmp(a->ns, "ns") == 0;
		elsewhere += a->ns && strcmp(a->ns, "other") == 0;
	}
	assert_int_equal(here, 997);
	assert_int_equal(elsewhere, 3);
	assert_int_equal(w.sync.plan.requeue_after, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* No admission can be written into it: that is not tried, and others get the only place. */
static void group_without_room_for_a_condition_is_left_out(void **state)
{
	struct kar_buf rest = { 0 };

	(void)state;
	put_queue("default", "\"maxJobs\":1");
	kar_buf_puts(&rest, ",\"spec\":{\"priority\":9},\"status\":{\"phase\":\"Pending\",\"conditions\":[");
	for (int i = 0; i < KAR_MAX_CONDITIONS; i++)
		kar_buf_printf(&rest,
			"%s{\"type\":\"T%d\",\"status\":\"True\",\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}",
			i ? "," : "", i);
	kar_buf_puts(&rest, "]}");
	put_named(w.stores.podgroups, "full", "", kar_buf_cstr(&rest));
	kar_buf_release(&rest);
	put_group("g", "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(group_without_room_for_a_condition_is_left_out),
		TEST(second_pass_keeps_its_distance),
		TEST(positions_are_told_every_five_seconds),
		TEST(positions_are_the_lowest_class_of_writes),
		TEST(new_numbers_of_nodes_are_written_once_a_minute),
		TEST(the_first_ten_see_each_move),
		TEST(others_see_a_move_by_a_tenth),
		TEST(other_names_are_for_the_first_ten),
		TEST(others_see_a_line_that_has_moved_by_a_tenth),
		cmocka_unit_test(texts_are_compared_without_their_numbers),
		TEST(what_holds_a_group_up_is_written_with_the_positions),
		TEST(a_round_of_positions_is_a_hundred_writes),
		TEST(positions_wait_for_the_caches),
		TEST(reasons_are_told_at_once),
		TEST(counts_are_told_every_second),
		TEST(state_is_told_at_once),
		TEST(changes_that_matter_wake_it),
		TEST(first_pass_comes_although_nothing_changes),
		TEST(job_that_becomes_readable_wakes_it),
		TEST(progress_of_a_group_can_wait),
		TEST(passes_for_counts_are_a_second_apart),
		TEST(passes_are_rarer_when_there_are_many_groups),
		TEST(many_are_told_why_they_wait_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
