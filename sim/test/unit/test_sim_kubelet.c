/*
 * Simulated kubelets: what becomes of a pod on a node, told as stories (sim/test/fixture/story.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/nodes/behaviour.h"
#include "sim/test/fixture/story.h"

#define BOUND "0s p1 Pending\n 0s p1 Pending @n1\n"
#define RUNS BOUND "0s p1 Running @n1 ready\n"

static const struct {
	const char *name, *steps, *story;
} stories[] = {
	{ "without_annotations_it_runs_until_deleted", "pod p1; wait 1h; delete p1; wait 1s",
		RUNS "3600s p1 Running @n1 ready terminating\n"
		     "3600s p1 Failed @n1 Error(143) terminating\n"
		     "3600s p1 gone" },
	{ "succeeds_after_its_time", "pod p1 outcome=succeed after=5s; wait 1h",
		RUNS "5s p1 Succeeded @n1 Completed(0)" },
	{ "fails_with_its_exit_code", "pod p1 outcome=fail after=5s exit-code=3; wait 1h",
		RUNS "5s p1 Failed @n1 Error(3)" },
	{ "fails_with_1_if_not_told_otherwise", "pod p1 outcome=fail; wait 1h",
		RUNS "0s p1 Failed @n1 Error(1)" },
	{ "a_slow_start_is_seen", "pod p1 start-after=3s; wait 1h",
		BOUND "0s p1 Pending @n1 ContainerCreating\n"
		      "3s p1 Running @n1 ready" },
	{ "out_of_memory_is_killed", "pod p1 outcome=oom after=4s; wait 1h",
		RUNS "4s p1 Failed @n1 OOMKilled(137)" },
	{ "a_pending_pod_never_starts_and_can_be_deleted",
		"pod p1 outcome=pending; wait 1h; delete p1; wait 1s",
		BOUND "0s p1 Pending @n1 ContainerCreating\n"
		      "3600s p1 Pending @n1 ContainerCreating terminating\n"
		      "3600s p1 Failed @n1 ContainerStatusUnknown(137) terminating\n"
		      "3600s p1 gone" },
	{ "an_image_that_is_not_there_is_never_pulled", "pod p1 outcome=pull-error; wait 1h",
		BOUND "0s p1 Pending @n1 ErrImagePull\n"
		      "1s p1 Pending @n1 ImagePullBackOff" },
	{ "node_pressure_evicts_as_told", "pod p1 outcome=evict after=2s; wait 1h",
		RUNS "2s p1 Failed @n1 Evicted Error(137) TerminationByKubelet" },
	{ "annotations_can_be_changed_while_it_runs",
		"pod p1; wait 5s; annotate p1 outcome=fail after=2s exit-code=7; wait 1h",
		RUNS "7s p1 Failed @n1 Error(7)" },
	{ "annotations_can_let_it_start", "pod p1 outcome=pending; wait 5s; annotate p1 outcome=run; wait 1h",
		BOUND "0s p1 Pending @n1 ContainerCreating\n"
		      "5s p1 Running @n1 ready" },

	{ "restarts_with_growing_back_off",
		"pod p1 restart=OnFailure outcome=succeed after=5s crash-after=2s crashes=3; wait 1h",
		RUNS "2s p1 Running @n1 Error(1)\n"
		     "3s p1 Running @n1 ready restarts=1 after Error(1)\n"
		     "5s p1 Running @n1 CrashLoopBackOff restarts=1 after Error(1)\n"
		     "15s p1 Running @n1 ready restarts=2 after Error(1)\n"
		     "17s p1 Running @n1 CrashLoopBackOff restarts=2 after Error(1)\n"
		     "37s p1 Running @n1 ready restarts=3 after Error(1)\n"
		     "42s p1 Succeeded @n1 Completed(0) restarts=3 after Error(1)" },
	{ "a_crash_is_final_if_nothing_is_restarted",
		"pod p1 outcome=succeed after=5s crash-after=2s exit-code=9; wait 1h",
		RUNS "2s p1 Failed @n1 Error(9)" },
	{ "restart_always_also_after_success", "pod p1 restart=Always outcome=succeed after=2s; wait 16s",
		RUNS "2s p1 Running @n1 Completed(0)\n"
		     "3s p1 Running @n1 ready restarts=1 after Completed(0)\n"
		     "5s p1 Running @n1 CrashLoopBackOff restarts=1 after Completed(0)\n"
		     "15s p1 Running @n1 ready restarts=2 after Completed(0)" },
	{ "a_long_good_run_forgets_the_back_off",
		"pod p1 restart=OnFailure outcome=fail after=10m; wait 1201s; wait 610s",
		RUNS "600s p1 Running @n1 Error(1)\n"
		     "601s p1 Running @n1 ready restarts=1 after Error(1)\n"
		     "1201s p1 Running @n1 Error(1) restarts=1 after Error(1)\n"
		     "1202s p1 Running @n1 ready restarts=2 after Error(1)\n"
		     "1802s p1 Running @n1 Error(1) restarts=2 after Error(1)\n"
		     "1803s p1 Running @n1 ready restarts=3 after Error(1)" },
	{ "deleted_while_it_waits_for_its_restart",
		"pod p1 restart=OnFailure outcome=fail after=2s; wait 10s; delete p1; wait 1h",
		RUNS "2s p1 Running @n1 Error(1)\n"
		     "3s p1 Running @n1 ready restarts=1 after Error(1)\n"
		     "5s p1 Running @n1 CrashLoopBackOff restarts=1 after Error(1)\n"
		     "10s p1 Running @n1 CrashLoopBackOff restarts=1 after Error(1) terminating\n"
		     "10s p1 Failed @n1 Error(1) restarts=1 after Error(1) terminating\n"
		     "10s p1 gone" },

	{ "the_deadline_stops_it_with_grace", "pod p1 deadline=3 stop-after=2s; wait 1h",
		RUNS "5s p1 Failed @n1 DeadlineExceeded Error(143)" },
	{ "the_deadline_also_ends_what_never_started", "pod p1 deadline=3 outcome=pending; wait 1h",
		BOUND "0s p1 Pending @n1 ContainerCreating\n"
		      "3s p1 Failed @n1 DeadlineExceeded ContainerStatusUnknown(137)" },
	{ "the_deadline_does_not_touch_what_has_ended", "pod p1 deadline=3 outcome=succeed after=2s; wait 1h",
		RUNS "2s p1 Succeeded @n1 Completed(0)" },

	{ "a_slow_stop_is_terminating_meanwhile", "pod p1 stop-after=4s; wait 1s; delete p1; wait 1h",
		RUNS "1s p1 Running @n1 ready terminating\n"
		     "5s p1 Failed @n1 Error(143) terminating\n"
		     "5s p1 gone" },
	{ "a_good_stop_succeeds", "pod p1 stop-after=2s stop-exit-code=0; wait 1s; delete p1; wait 1h",
		RUNS "1s p1 Running @n1 ready terminating\n"
		     "3s p1 Succeeded @n1 Completed(0) terminating\n"
		     "3s p1 gone" },
	{ "what_stops_too_slowly_is_killed_when_the_grace_period_ends",
		"pod p1 stop-after=1m grace=5; wait 1s; delete p1; wait 1h",
		RUNS "1s p1 Running @n1 ready terminating\n"
		     "6s p1 Failed @n1 Error(137) terminating\n"
		     "6s p1 gone" },
	{ "what_hangs_is_killed_when_the_grace_period_ends",
		"pod p1 outcome=hang grace=5; wait 1s; delete p1; wait 1h",
		RUNS "1s p1 Running @n1 ready terminating\n"
		     "6s p1 Failed @n1 Error(137) terminating\n"
		     "6s p1 gone" },
	{ "a_second_delete_shortens_the_grace_period",
		"pod p1 stop-after=20s; wait 1s; delete p1; wait 2s; delete p1 1; wait 1h",
		RUNS "1s p1 Running @n1 ready terminating\n"
		     "4s p1 Failed @n1 Error(137) terminating\n"
		     "4s p1 gone" },
	{ "an_edit_does_not_prolong_the_grace_period",
		"pod p1 outcome=hang grace=5 unending; wait 1s; delete p1; wait 3s; release p1; wait 1h",
		RUNS "1s p1 Running @n1 ready terminating\n"
		     "6s p1 Failed @n1 Error(137) terminating\n"
		     "6s p1 gone" },
	{ "a_pod_that_ends_while_it_is_stopped_was_stopped",
		"pod p1 outcome=succeed after=5s stop-after=9s; wait 1s; delete p1; wait 1h",
		RUNS "1s p1 Running @n1 ready terminating\n"
		     "10s p1 Failed @n1 Error(143) terminating\n"
		     "10s p1 gone" },
	{ "an_ended_pod_is_gone_at_once", "pod p1 outcome=succeed stop-after=9s; wait 1m; delete p1; wait 1h",
		RUNS "0s p1 Succeeded @n1 Completed(0)\n"
		     "60s p1 Succeeded @n1 Completed(0) terminating\n"
		     "60s p1 gone" },
	{ "finalizers_outlast_the_kubelet", "pod p1 unending; wait 1s; delete p1; wait 1h; release p1",
		RUNS "1s p1 Running @n1 ready terminating\n"
		     "1s p1 Failed @n1 Error(143) terminating\n"
		     "3601s p1 gone" },
	{ "a_status_that_somebody_else_ended_is_final",
		"pod p1 outcome=succeed after=5s; wait 1s; fail p1; wait 1h", RUNS "1s p1 Failed @n1 ready" },
	{ "a_pod_put_on_a_node_by_name_runs_there", "pod p1 on=n1 outcome=succeed after=5s; wait 1h",
		"0s p1 Pending @n1\n"
		"0s p1 Running @n1 ready\n"
		"5s p1 Succeeded @n1 Completed(0)" },
	{ "a_pod_on_a_node_that_comes_later_waits_for_it", "pod p1 on=n2; wait 5s; node n2; wait 1h",
		"0s p1 Pending @n2\n"
		"5s p1 Running @n2 ready" },
	{ "a_node_takes_no_more_than_it_can_run",
		"node n2 cpu=3 pods=3; pod p1 on=n2 cpu=2; pod p2 on=n2 cpu=2; pod p3 on=n2; pod p4 on=n2; pod p5 on=n2; wait 1h",
		"0s p1 Pending @n2\n0s p2 Pending @n2\n0s p3 Pending @n2\n0s p4 Pending @n2\n0s p5 Pending @n2\n"
		"0s p1 Running @n2 ready\n"
		"0s p2 Failed @n2 OutOfcpu\n"
		"0s p3 Running @n2 ready\n"
		"0s p4 Running @n2 ready\n"
		"0s p5 Failed @n2 OutOfpods" },
	{ "the_largest_numbers_are_just_large",
		"pod p1 on=n1 memory=7Ei; pod p2 on=n1 memory=7Ei; pod p3 cpu=1 grace=2147483647 outcome=hang; wait 1s; delete p3; wait 1h",
		"0s p1 Pending @n1\n0s p2 Pending @n1\n0s p3 Pending\n"
		"0s p1 Failed @n1 OutOfmemory\n0s p2 Failed @n1 OutOfmemory\n"
		"0s p3 Pending @n1\n0s p3 Running @n1 ready\n1s p3 Running @n1 ready terminating" },
	{ "values_that_are_none_count_as_absent", "pod p1 outcome=explode after=soon exit-code=x; wait 1h",
		RUNS },
};

static void pods_live_as_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(stories); i++) {
		struct story s = { 0 };

		story_begin(&s, NULL, "node n1");
		story_do(&s, stories[i].steps);
		story_expect(&s, stories[i].name, stories[i].story);
		story_end(&s);
	}
}

/* ---- the whole status ---- */

static void expect_status(struct story *s, const char *name, const char *expected)
{
	const struct sim_value *status =
		sim_get(sim_apiserver_peek(s->server, "", "pods", "default", "p1"), "status");
	struct sim_value *wanted = sim_parse(expected, strlen(expected), NULL);
	struct kar_buf text = { 0 };

	assert_non_null(wanted);
	sim_print(status, &text);
	if (!sim_equal(status, wanted))
		fail_msg("%s: expected\n%s\nbut the status is\n%s", name, expected, kar_buf_cstr(&text));
	kar_buf_release(&text);
	sim_unref(wanted);
}

#define AT "\"2026-11-21T13:46:27Z\""
#define COND(type, status, time, more) \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"observedGeneration\":1,\"lastProbeTime\":null," \
	"\"lastTransitionTime\":\"2026-11-21T13:46:" time "Z\"" more "}"
#define REASON(text) ",\"reason\":\"" text "\""
#define ADDRESSES \
	"\"qosClass\":\"Burstable\",\"observedGeneration\":1,\"startTime\":" AT \
	",\"hostIP\":\"172.16.0.1\"," \
	"\"hostIPs\":[{\"ip\":\"172.16.0.1\"}],"
#define POD_IP "\"podIP\":\"10.1.0.1\",\"podIPs\":[{\"ip\":\"10.1.0.1\"}],"

/* The UID is drawn from the server's seed; it stands in container IDs. */
static void read_id(const struct story *s, char id[128])
{
	const struct sim_value *pod = sim_apiserver_peek(s->server, "", "pods", "default", "p1");

	snprintf(id, 128, "sim://%s", sim_get_text(pod, "metadata", "uid"));
}

static void the_status_is_as_kubelets_write_it(void **state)
{
	struct story s = { 0 };
	char id[128], expected[4096];

	(void)state;
	story_begin(&s, NULL, "node n1; pod p1 cpu=1 start-after=2s outcome=succeed after=3s; wait 1s");
	expect_status(&s, "starting",
		"{\"phase\":\"Pending\"," ADDRESSES "\"conditions\":["
		"{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":" AT
		"}," COND("PodReadyToStartContainers", "False", "27", "") "," COND("Initialized", "True",
			"27", "") "," COND("Ready", "False", "27",
			REASON("ContainersNotReady") ",\"message\":\"containers with unready status: [main]\"") "," COND("ContainersReady",
			"False", "27",
			REASON("ContainersNotReady") ",\"message\":\"containers with unready status: [main]\"") "],"
														"\"containerStatuses\":[{\"name\":\"main\",\"state\":{\"waiting\":{\"reason\":\"ContainerCreating\"}},\"lastState\":{},"
														"\"ready\":false,\"restartCount\":0,\"image\":\"image\",\"imageID\":\"\",\"started\":false}]}");
	story_do(&s, "wait 2s");
	read_id(&s, id);
	snprintf(expected, sizeof(expected),
		"{\"phase\":\"Running\"," ADDRESSES POD_IP "\"conditions\":["
		"{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":" AT
		"}," COND("PodReadyToStartContainers", "True", "29", "") "," COND("Initialized", "True", "27",
			"") "," COND("Ready", "True", "29", "") "," COND("ContainersReady", "True", "29",
			"") "],"
			    "\"containerStatuses\":[{\"name\":\"main\",\"state\":{\"running\":{\"startedAt\":\"2026-11-21T13:46:29Z\"}},\"lastState\":{},"
			    "\"ready\":true,\"restartCount\":0,\"image\":\"image\",\"imageID\":\"\",\"containerID\":\"%s/main/0\",\"started\":true}]}",
		id);
	expect_status(&s, "running", expected);
	story_do(&s, "wait 3s");
	snprintf(expected, sizeof(expected),
		"{\"phase\":\"Succeeded\"," ADDRESSES POD_IP "\"conditions\":["
		"{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":" AT
		"}," COND("PodReadyToStartContainers", "True", "29", "") "," COND("Initialized", "True", "27",
			REASON("PodCompleted")) "," COND("Ready", "False", "32",
			REASON("PodCompleted")) "," COND("ContainersReady", "False", "32",
			REASON("PodCompleted")) "],"
						"\"containerStatuses\":[{\"name\":\"main\",\"state\":{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\","
						"\"startedAt\":\"2026-11-21T13:46:29Z\",\"finishedAt\":\"2026-11-21T13:46:32Z\",\"containerID\":\"%s/main/0\"}},"
						"\"lastState\":{},\"ready\":false,\"restartCount\":0,\"image\":\"image\",\"imageID\":\"\",\"containerID\":\"%s/main/0\",\"started\":false}]}",
		id, id);
	expect_status(&s, "succeeded", expected);
	story_end(&s);
}

static void init_containers_are_told_of(void **state)
{
	struct story s = { 0 };
	const struct sim_value *init;

	(void)state;
	story_begin(&s, NULL, "node n1; pod p1 cpu=1 init=1 sidecar=1; wait 1s");
	init = sim_get(sim_apiserver_peek(s.server, "", "pods", "default", "p1"), "status",
		"initContainerStatuses");
	assert_int_equal(sim_count(init), 2);
	assert_string_equal(sim_get_text(sim_item(init, 0), "state", "terminated", "reason"), "Completed");
	assert_true(sim_bool_of(sim_get(sim_item(init, 0), "ready"), false));
	assert_non_null(sim_get(sim_item(init, 1), "state", "running"));
	assert_true(sim_bool_of(sim_get(sim_item(init, 1), "started"), false));
	story_end(&s);
}

/* ---- options ---- */

static void options_decide_where_annotations_do_not(void **state)
{
	const struct sim_nodes_options o = {
		.seed = 7,
		.start = { 2000, 2000 },
		.run = { 10000, 10000 },
		.stop = { 3000, 3000 },
	};
	struct story s = { 0 };

	(void)state;
	story_begin(&s, &o, "node n1; pod p1; pod p2 outcome=run; wait 20s; delete p2; wait 1m");
	story_expect(&s, "options",
		"0s p1 Pending\n0s p2 Pending\n"
		"0s p1 Pending @n1\n0s p1 Pending @n1 ContainerCreating\n"
		"0s p2 Pending @n1\n0s p2 Pending @n1 ContainerCreating\n"
		"2s p1 Running @n1 ready\n2s p2 Running @n1 ready\n"
		"12s p1 Succeeded @n1 Completed(0)\n"
		"20s p2 Running @n1 ready terminating\n23s p2 Failed @n1 Error(143) terminating\n23s p2 gone");
	story_end(&s);
}

enum { MANY = 200 };

/* What happens to pods by chance must not depend on the order of other pods. */
static void chance_is_each_pods_own(void **state)
{
	const struct sim_nodes_options o = { .run = { 1000, 60000 }, .fail_per_mille = 300 };
	struct sim_behaviour first[MANY], again[MANY];
	unsigned failures = 0, different = 0;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		struct sim_random r = sim_random_of(i, "kubelet");

		first[i] = sim_behaviour_of(NULL, &o, &r);
		failures += first[i].outcome == SIM_OUTCOME_FAIL;
		different += i > 0 && first[i].after != first[i - 1].after;
		assert_in_range(first[i].after, 1000, 60000);
	}
	for (size_t i = MANY; i-- > 0;) {
		struct sim_random r = sim_random_of(i, "kubelet");

		again[i] = sim_behaviour_of(NULL, &o, &r);
		assert_int_equal(first[i].after, again[i].after);
		assert_int_equal(first[i].outcome, again[i].outcome);
	}
	assert_in_range(failures, MANY / 5, MANY * 2 / 5); /* about 3 in 10 */
	assert_true(different > MANY / 2);
}

/* As under kar-sim serve --run. */
static void pods_run_as_long_as_the_options_say(void **state)
{
	const struct sim_nodes_options o = { .seed = 1, .run = { 10 * KAR_SECOND, 10 * KAR_SECOND } };
	struct story s = { 0 };

	(void)state;
	story_begin(&s, &o,
		"node n1; pod p1; pod p2 restart=OnFailure; pod p3 restart=Always; pod p4 outcome=run; pod p5 outcome=fail after=20s; wait 1h");
	story_expect(&s, "run_10s",
		"0s p1 Pending\n 0s p2 Pending\n 0s p3 Pending\n 0s p4 Pending\n 0s p5 Pending\n"
		"0s p1 Pending @n1\n 0s p1 Running @n1 ready\n 0s p2 Pending @n1\n 0s p2 Running @n1 ready\n"
		"0s p3 Pending @n1\n 0s p3 Running @n1 ready\n 0s p4 Pending @n1\n 0s p4 Running @n1 ready\n"
		"0s p5 Pending @n1\n 0s p5 Running @n1 ready\n"
		"10s p1 Succeeded @n1 Completed(0)\n 10s p2 Succeeded @n1 Completed(0)\n 20s p5 Failed @n1 Error(1)");
	story_end(&s);
}

static void events_tell_people_what_happened(void **state)
{
	const struct sim_nodes_options o = { .seed = 1, .events = true };
	struct story s = { 0 };

	(void)state;
	story_begin(&s, &o, "node n1; pod p1; wait 1s; delete p1; wait 1s; pod p2 cpu=1000; wait 1s");
	assert_int_equal(sim_apiserver_count(s.server, "", "events"),
		4); /* Scheduled, Started, Killing, FailedScheduling */
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_live_as_told),
		cmocka_unit_test(the_status_is_as_kubelets_write_it),
		cmocka_unit_test(init_containers_are_told_of),
		cmocka_unit_test(options_decide_where_annotations_do_not),
		cmocka_unit_test(chance_is_each_pods_own),
		cmocka_unit_test(pods_run_as_long_as_the_options_say),
		cmocka_unit_test(events_tell_people_what_happened),
	};

	return cmocka_run_group_tests_name("sim_kubelet", tests, NULL, NULL);
}
