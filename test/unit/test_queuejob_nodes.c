/* The reconciler and the line of those who wait for nodes: what it sees there, and how it says that it waits itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queuejob/node_line.h"
#include "test/unit/queuejob_sync_fixture.h"

static const struct kar_rank high = { .tier = KAR_TIER_MINIMUM, .priority = 9 };
static struct kar_node_place *other;

static int set_up(void **state)
{
	setup(state);
	other = NULL;
	return 0;
}

static int tear_down(void **state)
{
	kar_node_line_leave(other);
	return teardown(state);
}

static void another_holds_a_part(void)
{
	const struct kar_node_wish p = { .how = KAR_NODES_HOLDS };

	other = kar_node_line_move(queuejob_shared(&w.controller)->nodes, other, "ns/other", &high, &p,
		w.mono);
}

#define POD_OF_JOB \
	BY_JOB TRACKED \
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\",\"kube-arbitrator.io/queuejob\":\"j\"," \
		"\"kube-arbitrator.io/task\":\"w\",\"kube-arbitrator.io/incarnation\":\"1\",\"kube-arbitrator.io/index\":\""
#define LONG_AGO "2026-11-21T13:00:00Z"
#define OF_LATE "2026-11-21T13:46:00Z" /* 27 s before the sync */

/* One of two pods got its node at @bound; the scheduler has none for the other. */
static void put_stuck_job(const char *bound)
{
	char status[512];

	put_starting_job();
	snprintf(status, sizeof(status),
		",\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"PodScheduled\","
		"\"status\":\"True\",\"lastTransitionTime\":\"%s\"}]}",
		bound);
	put(w.stores.pods, "j-w-0", "p0", POD_OF_JOB "0\"},\"creationTimestamp\":\"" LONG_AGO "\"", status);
	put(w.stores.pods, "j-w-1", "p1", POD_OF_JOB "1\"},\"creationTimestamp\":\"" LONG_AGO "\"",
		",\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
		"\"reason\":\"Unschedulable\",\"lastTransitionTime\":\"" LONG_AGO "\"}]}");
}

static const char *new_reason(void)
{
	const struct kar_queuejob_status *st = w.sync.plan.status;

	return st && st->reason ? st->reason : "";
}

static void gang_that_holds_a_part_stands_in_the_line(void **state)
{
	(void)state;
	put_stuck_job(LONG_AGO);
	assert_true(sync_key());
	assert_non_null(key_memory()->nodes);
	assert_string_equal(new_reason(), "Unschedulable");
	put_job(SPEC); /* one that has no status any more */
	kar_store_delete(w.stores.queuejobs, "ns", "j", "job-uid", ++w.rv);
	w.controller.forget(w.state.memory);
	assert_null(key_memory()->nodes);
}

static void it_gives_back_to_one_that_goes_first(void **state)
{
	(void)state;
	put_stuck_job(LONG_AGO);
	another_holds_a_part();
	assert_true(sync_key());
	assert_string_equal(new_reason(), "ScheduleTimeout");
	assert_non_null(
		strstr(((const struct kar_queuejob_status *)w.sync.plan.status)->message, "ns/other"));
	assert_int_equal(count_actions(KAR_DELETE), 2);
}

static void pod_that_got_its_node_of_late_is_progress(void **state)
{
	(void)state;
	put_stuck_job(OF_LATE);
	another_holds_a_part();
	assert_true(sync_key());
	assert_string_equal(new_reason(), "Unschedulable");
	assert_int_equal(w.sync.plan.requeue_after, 45000 - 27123);
}

static void it_is_woken_when_a_rival_comes(void **state)
{
	(void)state;
	put_stuck_job(LONG_AGO);
	assert_true(sync_key());
	take_all();
	another_holds_a_part();
	assert_string_equal(take(), "ns/j");
}

/* Nobody else may wait for it: as long as it cannot be read, it can neither go on nor give back. */
static void job_that_cannot_be_read_stands_in_no_line(void **state)
{
	(void)state;
	put_stuck_job(LONG_AGO);
	assert_true(sync_key());
	assert_non_null(key_memory()->nodes);
	put_unreadable(w.stores.podgroups, "j", "g-uid", BY_JOB ",\"finalizers\":[7]", "");
	assert_false(sync_key());
	assert_null(key_memory()->nodes);
	put_children(true);
	assert_true(sync_key());
	assert_non_null(key_memory()->nodes);
}

/* Whose seat is free then: one that rests after lost turns need not wait as long as it would. */
static void job_that_ends_makes_room(void **state)
{
	const struct kar_rank rank = { 0 };

	(void)state;
	put_stuck_job(LONG_AGO);
	assert_true(sync_key());
	assert_int_equal(kar_node_line_look(queuejob_shared(&w.controller)->nodes, NULL, "ns/x", &rank, 0,
				 w.mono)
				 .room,
		0);
	put(w.stores.pods, "j-w-0", "p0", POD_OF_JOB "0\"},\"creationTimestamp\":\"" LONG_AGO "\"",
		",\"status\":{\"phase\":\"Succeeded\"}");
	put(w.stores.pods, "j-w-1", "p1", POD_OF_JOB "1\"},\"creationTimestamp\":\"" LONG_AGO "\"",
		",\"status\":{\"phase\":\"Succeeded\"}");
	assert_true(sync_key());
	assert_string_equal(new_reason(), "Completed");
	assert_null(key_memory()->nodes);
	assert_int_equal(kar_node_line_look(queuejob_shared(&w.controller)->nodes, NULL, "ns/x", &rank, 0,
				 w.mono + 9)
				 .room,
		10);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gang_that_holds_a_part_stands_in_the_line),
		TEST(it_gives_back_to_one_that_goes_first),
		TEST(pod_that_got_its_node_of_late_is_progress),
		TEST(it_is_woken_when_a_rival_comes),
		TEST(job_that_cannot_be_read_stands_in_no_line),
		TEST(job_that_ends_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
