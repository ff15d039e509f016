/* A job whose pods are pinned to the places of a plan, of which others have taken some: what the Queue reconciler writes in their stead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controllers/queue/backoffs.h"
#include "controllers/queue/pass.h"
#include "test/unit/queue_sync_fixture.h"

/* Three nodes of 10 CPUs. */
static int begin(void **state)
{
	setup(state);
	put_queue("default", "");
	put_node("n1", "10", "");
	put_node("n2", "10", "");
	put_node("n3", "10", "");
	return 0;
}

#define GANG \
	",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\",\"kube-arbitrator.io/queuejob\":\"g\",\"kube-arbitrator.io/task\":\"t\"}," \
	"\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"g\",\"uid\":\"uid-g\",\"controller\":true}]"

/* A job of @replicas pods of 6 CPUs each, which is being started on the places of @plan. */
static void put_job(int replicas, int min, const char *plan, const char *rest_of_placement)
{
	char text[900];

	snprintf(text, sizeof(text),
		",\"spec\":{\"schedSpec\":{\"minAvailable\":%d},\"taskSpecs\":[{\"name\":\"t\",\"replicas\":%d,"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"6\"}}}]}}}]},"
		"\"status\":{\"phase\":\"Starting\",\"incarnation\":1,\"tasks\":[{\"name\":\"t\",\"started\":true}]}",
		min, replicas);
	put_named(w.stores.queuejobs, "g", "", text);
	snprintf(text, sizeof(text),
		"\"phase\":\"Pending\",\"position\":0,\"desired\":%d,\"placement\":{\"state\":\"Placed\",\"attempt\":1,"
		"\"time\":\"2026-11-21T13:46:00Z\",\"deadline\":\"2026-11-21T13:47:00Z\"%s,\"plan\":[{\"role\":\"t\",\"nodes\":\"%s\"}]}," ADMITTED(
			"True", "Admitted", "admitted by queue default") ",\"admittedQueue\":\"default\"",
		replicas, rest_of_placement, plan);
	put_group_of_job("g", text);
}

/* A pod of the job on @node, or pinned to it, where it does not fit since @since ("13:46:27" is now). */
static void put_pod(int index, const char *node, const char *since)
{
	char name[32], rest[1024];

	snprintf(name, sizeof(name), "g-t-%d", index);
	if (since)
		snprintf(rest, sizeof(rest),
			",\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"6\"}}}],"
			"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
			"{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"%s\"]}]}]}}}},"
			"\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\","
			"\"lastTransitionTime\":\"2026-11-21T%sZ\"}]}",
			node, since);
	else
		snprintf(rest, sizeof(rest),
			",\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"6\"}}}]},"
			"\"status\":{\"phase\":\"Pending\"}",
			node);
	put_named(w.stores.pods, name, GANG, rest);
}

/* Somebody else's pod. */
static void put_thief(const char *name, const char *node)
{
	char rest[256];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"8\"}}}]},\"status\":{\"phase\":\"Running\"}",
		node);
	put_named(w.stores.pods, name, "", rest);
}

#define REPAIRED "patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)"

/* Two pods are the minimum; the first is on n1, the second is pinned to n2, where it does not fit, since a pod of somebody else is there. */
static const struct {
	const char *name, *plan, *placement, *since;
	int replicas;
	bool full; /* n3 is taken as well */
	const char *writes, *says;
} rows[] = {
	{ "it_alone_gets_another", "n1 n2", "", "13:46:24", 2, false, REPAIRED,
		"\"repairs\":1,\"satisfiedMember\":null,\"time\":\"2026-11-21T13:46:27Z\",\"deadline\":\"2026-11-21T13:47:00Z\"" },
	{ "the_other_keeps_its_own", "n1 n2", "", "13:46:24", 2, false, REPAIRED,
		"\"plan\":[{\"role\":\"t\",\"nodes\":\"n1 n3\"}]" },
	{ "the_scheduler_may_be_behind", "n1 n2", "", "13:46:25", 2, false, "", NULL },
	{ "there_is_no_other", "n1 n2", "", "13:46:20", 2, true, "", NULL },
	{ "it_has_had_three", "n1 n2", ",\"repairs\":3", "13:46:20", 2, false, "", NULL },
	{ "it_had_two", "n1 n2", ",\"repairs\":2", "13:46:20", 2, false, REPAIRED, "\"repairs\":3" },
	{ "its_successor_is_still_to_come", "n1 n3", ",\"repairs\":1", "13:46:20", 2, false, "", NULL },
	{ "extras_wait_for_the_minimum", "n1 n2", "", "13:46:20", 3, false, REPAIRED, "\"nodes\":\"n1 n3\"" },
};

static void stuck_pods_get_other_nodes(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		begin(state);
		put_job(rows[i].replicas, 2, rows[i].plan, rows[i].placement);
		put_pod(0, "n1", NULL);
		put_pod(1, "n2", rows[i].since);
		put_thief("x", "n2");
		if (rows[i].full)
			put_thief("y", "n3");
		got = sync_text(true);
		if (strcmp(got, rows[i].writes) != 0)
			fail_msg("%s: want '%s', got '%s'", rows[i].name, rows[i].writes, got);
		if (rows[i].says)
			check_says(&w.sync.plan.actions[0], rows[i].says);
	}
}

static void pass_comes_again_when_a_pod_may_be_stuck(void **state)
{
	(void)state;
	put_job(2, 2, "n1 n2", "");
	put_pod(0, "n1", NULL);
	drain();
	put_pod(1, "n2", "13:46:25");
	assert_string_equal(kar_workqueue_take(w.controller.queue, w.mono), "all");
	kar_workqueue_done(w.controller.queue, "all");
	sync_text(false);
	assert_in_range(w.sync.plan.requeue_after, 1, 1000);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, teardown)

/* A job of three pods and a minimum of one, which the queue has told to keep one at @scaled; it is 13:46:27. */
static void pods_that_nobody_stops_stay(void **state)
{
	static const struct {
		const char *scaled, *plan;
	} told[] = { { "13:46:18", "" },
		{ "13:46:17", "patch podgroups/status ns/g (Admitted=True/Admitted position=0)" } };

	for (size_t i = 0; i < KAR_LEN(told); i++) {
		char text[600];
		const char *got;

		assert_int_equal(teardown(state), 0);
		begin(state);
		put_job(3, 1, "", "");
		snprintf(text, sizeof(text),
			"\"phase\":\"Running\",\"position\":0,\"desired\":1,\"lastScaleTime\":\"2026-11-21T%sZ\",\"placement\":{\"state\":\"Satisfied\",\"attempt\":1}," ADMITTED(
				"True", "Admitted",
				"admitted by queue default") ",\"admittedQueue\":\"default\"",
			told[i].scaled);
		put_group_of_job("g", text);
		put_pod(0, "n1", NULL);
		put_pod(1, "n2", NULL);
		put_pod(2, "n3", NULL);
		settings.freezing_window = KAR_MINUTE;
		got = sync_text(true);
		if (strcmp(got, told[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", told[i].scaled, told[i].plan, got);
		if (told[i].plan[0])
			check_says(&w.sync.plan.actions[0], "\"desired\":3");
	}
}

/* A job of three pods and a minimum of one has two, and there is room. */
static void who_lost_a_pod_to_others_pauses(void **state)
{
	const struct queue_shared *shared = w.controller.shared;

	(void)state;
	put_job(3, 1, "", "");
	put_group_of_job("g",
		"\"phase\":\"Running\",\"position\":0,\"desired\":2,\"desiredOf\":3,\"lastScaleTime\":\"2026-11-21T13:46:20Z\",\"placement\":{\"state\":\"Satisfied\",\"attempt\":1}," ADMITTED(
			"True", "Admitted", "admitted by queue default") ",\"admittedQueue\":\"default\"");
	put_pod(0, "n1", NULL);
	put_pod(1, "n2", NULL);
	queue_backoffs_note(shared->backoffs, "uid-g", "it lost a pod to others", KAR_MINUTE, w.mono);
	assert_null(strstr(sync_text(true), "podgroups"));
	w.mono += 10 * KAR_SECOND;
	assert_non_null(strstr(sync_text(true), "podgroups/status ns/g"));
	check_says(&w.sync.plan.actions[0], "\"desired\":3,\"desiredOf\":3");
}

/* The minimum of a gang of four pods is raised to six in a queue for four. Of the task that is listed first two pods run, and four are to come. */
static void raised_minimum_is_not_what_stays(void **state)
{
	static const char job[] =
		",\"spec\":{\"schedSpec\":{\"minAvailable\":6},\"taskSpecs\":["
		"{\"name\":\"w\",\"replicas\":6,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}},"
		"{\"name\":\"p\",\"replicas\":2,\"minAvailable\":2,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]},"
		"\"status\":{\"phase\":\"Starting\",\"incarnation\":1,\"tasks\":[{\"name\":\"w\",\"started\":true},{\"name\":\"p\",\"started\":true}]}";
	static const char *const names[] = { "g-w-0", "g-w-1", "g-p-0", "g-p-1" };

	(void)state;
	put_queue("default", "\"capability\":{\"cpu\":4}");
	put_named(w.stores.queuejobs, "g", "", job);
	put_group_of_job("g",
		"\"phase\":\"Running\",\"position\":0,\"desired\":4,\"lastScaleTime\":\"2026-11-21T13:40:00Z\",\"placement\":{\"state\":\"Satisfied\",\"attempt\":1}," ADMITTED(
			"True", "Admitted", "admitted by queue default") ",\"admittedQueue\":\"default\"");
	for (size_t i = 0; i < KAR_LEN(names); i++)
		put_named(w.stores.pods, names[i], GANG,
			",\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
			"\"status\":{\"phase\":\"Running\"}");
	assert_string_equal(sync_text(true), ""); /* it stays as it is: 4 of 4 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pods_that_nobody_stops_stay, begin, teardown),
		TEST(who_lost_a_pod_to_others_pauses),
		TEST(raised_minimum_is_not_what_stays),
		TEST(stuck_pods_get_other_nodes),
		TEST(pass_comes_again_when_a_pod_may_be_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
