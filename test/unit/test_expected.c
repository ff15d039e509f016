/* Which pods are about to be bound (controllers/cluster/expected.h), and what the pass of queues makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/timefmt.h"
#include "test/unit/queue_sync_fixture.h"

/* A pod that was created @ago seconds before now. */
static void put_pod(const char *name, int ago, const char *meta, const char *spec, const char *status)
{
	char more[512], rest[512], time[KAR_TIME_LEN];

	snprintf(more, sizeof(more), ",\"creationTimestamp\":\"%s\"%s",
		kar_time_format(wall - ago * KAR_SECOND, time), meta);
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]%s},\"status\":{\"phase\":\"Pending\"%s}",
		spec, status);
	put_named(w.stores.pods, name, more, rest);
}

/* "a b": their names, in order. */
static const char *list(void)
{
	static char text[256];
	struct kar_arena a = { 0 };
	const struct kar_pod **pods;
	uint32_t n = kar_expected_list(w.stores.expected, wall, KAR_MINUTE, &a, &pods);

	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			pods[i]->o.name);
	kar_arena_release(&a);
	return text;
}

static const struct {
	const char *name, *meta, *spec, *status;
	int ago;
	bool expected;
} pods[] = {
	{ "young", "", "", "", 5, true },
	{ "of_a_scheduler_that_may_not_exist", "", ",\"schedulerName\":\"nobody\"", "", 5, true },
	{ "a_minute_old", "", "", "", 61, false },
	{ "old_with_a_node_that_is_freed_for_it", "", "", ",\"nominatedNodeName\":\"n1\"", 500, true },
	{ "that_no_scheduler_can_bind", "", "",
		",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]",
		5, false },
	{ "for_which_a_node_is_freed", "", "",
		",\"nominatedNodeName\":\"n1\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]",
		5, true },
	{ "bound", "", ",\"nodeName\":\"n1\"", "", 5, false },
	{ "gated", "", ",\"schedulingGates\":[{\"name\":\"x\"}]", "", 5, false },
	{ "gated_by_us", "", ",\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]", "", 5, false },
	{ "member_of_a_gang", ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}", "", "", 5, false },
	{ "being_deleted", ",\"deletionTimestamp\":\"2026-11-21T10:05:00Z\"", "", "", 5, false },
};

static void which_pods_are_expected(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(pods); i++) {
		put_pod("p", pods[i].ago, pods[i].meta, pods[i].spec, pods[i].status);
		if (strcmp(list(), pods[i].expected ? "p" : "") != 0)
			fail_msg("%s: \"%s\"", pods[i].name, list());
		kar_store_delete(w.stores.pods, "ns", "p", "uid-p", ++w.rv);
		assert_string_equal(list(), "");
	}
}

static void the_highest_priority_is_first_then_the_oldest(void **state KAR_UNUSED)
{
	put_pod("a", 5, "", "", "");
	put_pod("b", 9, "", "", "");
	put_pod("c", 1, "", ",\"priority\":7", "");
	assert_string_equal(list(), "c b a");
	put_pod("b", 9, "", ",\"nodeName\":\"n1\"", "");
	put_pod("c", 1, "", ",\"priority\":7", ",\"conditions\":[]");
	assert_string_equal(list(), "c a");
}

/* A pod that is older and changes is no pod that is about to be bound. */
static void old_pod_that_changes_stays_old(void **state KAR_UNUSED)
{
	put_pod("a", 70, "", "", "");
	assert_string_equal(list(), "");
	put_pod("a", 70, "", "", ",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\"}]");
	assert_string_equal(list(), "");
}

/* A group of two pods, 500 cpus each, on the only node, of 1000. */
static void put_gang(void)
{
	put_queue("default", "");
	put_named(w.stores.queuejobs, "g", "",
		",\"spec\":{\"taskSpecs\":[{\"name\":\"t\",\"replicas\":2,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"resources\":{\"requests\":{\"cpu\":\"500\"}}}]}}}]},\"status\":{\"phase\":\"Pending\"}");
	put_group_of_job("g", "\"phase\":\"Pending\"");
}

static void gang_waits_for_a_young_pod_until_it_is_a_minute_old(void **state KAR_UNUSED)
{
	put_gang();
	put_pod("p", 58, "", "", "");
	assert_true(sync_named("all"));
	check_says(&w.sync.plan.actions[0], "1 pod about to be bound takes 600 cpu");
	assert_in_range(w.sync.plan.requeue_after, 1, 2 * KAR_SECOND);
}

static void pass_is_made_when_it_is_bound_or_gone(void **state KAR_UNUSED)
{
	put_gang();
	put_pod("p", 5, "", "", "");
	assert_true(sync_named("all"));
	drain();
	kar_store_delete(w.stores.pods, "ns", "p", "uid-p", ++w.rv);
	assert_string_equal(kar_workqueue_take(w.controller.queue, w.mono), "all");
	kar_workqueue_done(w.controller.queue, "all");
	w.mono += 100000;
	assert_true(sync_named("all"));
	check_says(&w.sync.plan.actions[0], "\"reason\":\"Admitted\"");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(which_pods_are_expected),
		TEST(the_highest_priority_is_first_then_the_oldest),
		TEST(old_pod_that_changes_stays_old),
		TEST(gang_waits_for_a_young_pod_until_it_is_a_minute_old),
		TEST(pass_is_made_when_it_is_bound_or_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
