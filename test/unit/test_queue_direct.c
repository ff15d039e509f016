/* The Queue reconciler and jobs whose pods are created bound: what it refuses, and which places it adds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/timefmt.h"
#include "test/unit/queue_sync_fixture.h"

static int begin(void **state)
{
	setup(state);
	settings.direct_schedulers = "kar-scheduler";
	put_queue("default", "");
	put_node("n2", "1000", "");
	return 0;
}

/* A job of @replicas pods, 600 cpus each, and its group. */
static void put_job(const char *scheduler, int replicas, int min, const char *spec, const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"schedulerName\":\"%s\",\"schedSpec\":{\"minAvailable\":%d},\"taskSpecs\":[{\"name\":\"t\",\"replicas\":%d,"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]%s}}}]},"
		"\"status\":{\"phase\":\"Running\",\"incarnation\":1,\"tasks\":[{\"name\":\"t\",\"started\":true}]}",
		scheduler, min, replicas, spec);
	put_named(w.stores.queuejobs, "g", "", rest);
	put_group_of_job("g", status);
}

static void put_direct(int replicas, int min, const char *spec, const char *status)
{
	put_job("kar-scheduler", replicas, min, spec, status);
}

/* A pod of the job, created @ago seconds before now. */
static void put_pod(int index, const char *node, int ago, const char *phase)
{
	char name[32], meta[1024], rest[256], time[KAR_TIME_LEN];

	snprintf(name, sizeof(name), "g-t-%d", index);
	snprintf(meta, sizeof(meta),
		",\"creationTimestamp\":\"%s\",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\",\"kube-arbitrator.io/queuejob\":\"g\"},"
		"\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"g\",\"uid\":\"uid-g\",\"controller\":true}]",
		kar_time_format(wall - ago * KAR_SECOND, time));
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]},"
		"\"status\":{\"phase\":\"%s\"}",
		node, phase);
	put_named(w.stores.pods, name, meta, rest);
}

/* "13:46:27" is now. */
#define SATISFIED(time, rest) \
	"\"phase\":\"Running\",\"position\":0,\"placement\":{\"state\":\"Satisfied\",\"attempt\":1,\"satisfiedMember\":1," \
	"\"time\":\"2026-11-21T" time "Z\"" rest \
	"}," ADMITTED("True", "Admitted", "admitted by queue default") ",\"admittedQueue\":\"default\""
#define PLAN(nodes) ",\"plan\":[{\"role\":\"t\",\"nodes\":\"" nodes "\"}]"
#define RENEWED "patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)"
#define ENDED "patch podgroups/status ns/g (Admitted=True/Admitted position=0)"

struct pod {
	const char *node;
	int ago;
	const char *phase;
};

static const struct {
	const char *name, *status;
	int replicas;
	struct pod pods[3];
	const char *plan, *says;
} rows[] = {
	{ "extra_gets_a_place", SATISFIED("13:40:00", ""), 2, { { "n1", 60, "Running" } }, RENEWED,
		"\"plan\":[{\"role\":\"t\",\"nodes\":\"n2\"}]" },
	{ "nothing_is_missing", SATISFIED("13:40:00", ""), 1, { { "n1", 60, "Running" } }, "", NULL },
	{ "there_is_no_room", SATISFIED("13:40:00", ""), 3,
		{ { "n1", 60, "Running" }, { "n2", 60, "Running" } }, ENDED, "\"desired\":2" },
	{ "place_is_kept_until_its_pod_is_there", SATISFIED("13:46:20", PLAN("n2")), 2,
		{ { "n1", 60, "Running" } }, "", NULL },
	{ "its_pod_is_there", SATISFIED("13:46:20", PLAN("n2")), 2,
		{ { "n1", 60, "Running" }, { "n2", 5, "Pending" } }, ENDED, "\"plan\":[]" },
	{ "older_pod_on_that_node_is_not_it", SATISFIED("13:46:20", PLAN("n2")), 2,
		{ { "n2", 60, "Running" } }, "", NULL },
	{ "places_that_nobody_takes_are_free", SATISFIED("13:45:50", PLAN("n2")), 2,
		{ { "n1", 60, "Running" } }, ENDED, "\"retryAfter\":\"2026-11-21T13:47:27Z\"" },
	{ "for_a_while", SATISFIED("13:46:20", ",\"retryAfter\":\"2026-11-21T13:46:30Z\""), 2,
		{ { "n1", 60, "Running" } }, "", NULL },
	{ "plan_is_younger_than_all_pods", SATISFIED("13:40:00", ""), 2, { { "n1", 0, "Running" } }, "",
		NULL },
	{ "failed_pod_keeps_its_name", SATISFIED("13:40:00", ""), 2,
		{ { "n1", 60, "Running" }, { "n2", 60, "Failed" } }, "", NULL },
	{ "success_that_is_not_recorded_yet_gets_no_place", SATISFIED("13:40:00", ""), 2,
		{ { "n1", 60, "Running" }, { "n2", 60, "Succeeded" } }, "", NULL },
	{ "and_its_room_is_kept_for_the_next_index", SATISFIED("13:40:00", ""), 3,
		{ { "n1", 60, "Running" }, { "n2", 60, "Succeeded" } }, ENDED, "\"desired\":2" },
	{ "broken_gang_gets_all_that_it_lacks", SATISFIED("13:40:00", ""), 2, { { NULL, 0, NULL } }, RENEWED,
		"\"nodes\":\"n1 n2\"" },
};

static void missing_pods_get_places(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		begin(state);
		put_direct(rows[i].replicas, 1, "", rows[i].status);
		for (int k = 0; k < 3 && rows[i].pods[k].node; k++)
			put_pod(k, rows[i].pods[k].node, rows[i].pods[k].ago, rows[i].pods[k].phase);
		got = sync_text(true);
		if (strcmp(got, rows[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", rows[i].name, rows[i].plan, got);
		if (rows[i].says)
			check_says(&w.sync.plan.actions[0], rows[i].says);
	}
}

/* Two pods of the minimum, and room for one. */
static void missing_minimum_is_placed_whole_or_not(void **state)
{
	(void)state;
	put_direct(2, 2, "", SATISFIED("13:40:00", ""));
	put_node("n2", "100", "");
	assert_string_equal(sync_text(true), ENDED);
	check_says(&w.sync.plan.actions[0], "\"deadline\":\"2026-11-21T13:47:27Z\"");
	put_group_of_job("g", SATISFIED("13:40:00", ",\"deadline\":\"2026-11-21T13:46:30Z\""));
	w.mono += 1000;
	assert_string_equal(sync_text(true), "");
	put_node("n2", "1000", "");
	w.mono += 1000;
	assert_string_equal(sync_text(true), RENEWED);
	check_says(&w.sync.plan.actions[0], "\"deadline\":null");
}

static void gang_is_placed_with_nodes_after_any_number_of_failures(void **state)
{
	(void)state;
	put_direct(2, 2, "",
		"\"phase\":\"Pending\",\"placement\":{\"state\":\"Waiting\",\"attempt\":7,\"failures\":7,\"cause\":\"x\"}");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)");
	check_says(&w.sync.plan.actions[0], "\"nodes\":\"n1 n2\"");
}

/* Somebody may write the status of his group, and admits a job of 4 pods for which there are no nodes. */
static void admission_without_places_takes_no_room(void **state)
{
	(void)state;
	put_direct(4, 4, "",
		ADMITTED("True", "Admitted",
			"mine") ",\"admittedQueue\":\"default\",\"position\":0,\"desired\":4");
	put_pod(0, "", 60, "Pending");
	put_named(w.stores.queuejobs, "h", "",
		",\"spec\":{\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]}}}]}");
	put_group_of_job("h", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/h (Admitted=True/Admitted position=0 placed)");
}

static void what_it_cannot_check_is_refused(void **state)
{
	(void)state;
	put_direct(1, 1, ",\"resourceClaims\":[{\"name\":\"x\"}]", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/Unsupported position=0)");
	check_says(&w.sync.plan.actions[0],
		"only kube-scheduler allocates devices (resource claim x of task t): use default-scheduler");
}

/* Which namespaces it means is not read: the pods may be among those that it keeps away. */
static void pods_that_may_refuse_it_are_named(void **state)
{
	(void)state;
	put_node("n1", "2000", "");
	put_named(w.stores.pods, "lonely", "",
		",\"spec\":{\"nodeName\":\"n1\",\"containers\":[],\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
		"[{\"labelSelector\":{},\"namespaceSelector\":{\"matchLabels\":{\"a\":\"b\"}},\"topologyKey\":\"kubernetes.io/hostname\"}]}}},"
		"\"status\":{\"phase\":\"Running\"}");
	put_direct(1, 1, "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/Unsupported position=0)");
	check_says(&w.sync.plan.actions[0],
		"kar-scheduler does not place anti-affinity of other pods (task t): use default-scheduler");
}

/* Nobody would bind pods that wait for nodes. */
static void it_never_waits_for_new_nodes_with_pods(void **state)
{
	(void)state;
	put_queue("default", "\"provisioning\":\"Pods\"");
	put_direct(3, 3, "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/Infeasible position=0)");
}

/* Pods of another scheduler may wait, for whoever makes nodes to see them. */
static void pods_of_another_scheduler_call_for_new_nodes(void **state)
{
	(void)state;
	put_queue("default", "\"provisioning\":\"Pods\"");
	put_job("default-scheduler", 3, 3, "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0 provisions)");
}

/* Without the flag, they are left to whoever serves them. */
static void nobody_is_served_without_the_flag(void **state)
{
	(void)state;
	settings.direct_schedulers = "";
	put_direct(3, 3, "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)");
}

static void lost_pod_begins_a_pass(void **state)
{
	(void)state;
	put_direct(1, 1, "", SATISFIED("13:40:00", ""));
	drain();
	put_pod(0, "n1", 9, "Running");
	assert_string_equal(kar_workqueue_take(w.controller.queue, w.mono), "counts");
	kar_workqueue_done(w.controller.queue, "counts");
	put_pod(0, "n1", 9, "Failed");
	assert_string_equal(kar_workqueue_take(w.controller.queue, w.mono), "all");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, teardown)

/* One scheduler cannot see the pods of another one, so a part of the gang would start. */
static void gang_of_two_schedulers_is_refused(void **state)
{
	static const struct {
		const char *name, *other;
		int min, replicas; /* .replicas: of the task of the other one */
		const char *plan, *says;
	} jobs[] = {
		{ "two", "volcano", 2, 1,
			"patch podgroups/status ns/g (Admitted=False/Unsupported position=0)",
			"its tasks name two schedulers, a gang needs one: default-scheduler (task a), volcano (task b)" },
		{ "one_by_both_of_its_names", "default-scheduler", 2, 1,
			"patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)", NULL },
		{ "one_has_no_pods", "volcano", 1, 0,
			"patch podgroups/status ns/g (Admitted=True/Admitted position=0)", NULL },
		{ "no_gang", "volcano", 0, 1,
			"patch podgroups/status ns/g (Admitted=True/Admitted position=0)", NULL },
	};

	for (size_t i = 0; i < KAR_LEN(jobs); i++) {
		const char *got;
		char rest[1024];

		assert_int_equal(teardown(state), 0);
		begin(state);
		snprintf(rest, sizeof(rest),
			",\"spec\":{\"schedSpec\":{\"minAvailable\":%d},\"taskSpecs\":[{\"name\":\"a\",\"replicas\":1,"
			"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}},{\"name\":\"b\",\"replicas\":%d,"
			"\"template\":{\"spec\":{\"schedulerName\":\"%s\",\"containers\":[{\"name\":\"c\"}]}}}]},\"status\":{\"phase\":\"Pending\"}",
			jobs[i].min, jobs[i].replicas, jobs[i].other);
		put_named(w.stores.queuejobs, "g", "", rest);
		put_group_of_job("g", "");
		got = sync_text(true);
		if (strcmp(got, jobs[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", jobs[i].name, jobs[i].plan, got);
		if (jobs[i].says)
			check_says(&w.sync.plan.actions[0], jobs[i].says);
	}
}

/* A job of one pod that asks for one device of the class gpu, by @resource. */
#define BY_DEMO \
	",\"ownerReferences\":[{\"apiVersion\":\"example.com/v1\",\"kind\":\"CRDJob\",\"name\":\"demo\",\"uid\":\"uid-demo\",\"controller\":true}]"
#define MADE ",\"labels\":{\"kube-arbitrator.io/made-for-pods\":\"true\"}" BY_DEMO
#define STOPS ",\"deletionTimestamp\":\"2026-11-21T13:46:26Z\"" BY_DEMO
#define REFUSED "patch podgroups/status ns/g (Admitted=False/SchedulingSpecNotFound position=0)"
#define PLACED "patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)"

static const struct {
	const char *name, *group, *spec, *status, *plan;
} gangs_of_specs[] = {
	{ "it_starts_on_nodes_that_its_schedulingspec_selects", MADE, BY_DEMO, "", PLACED },
	{ "without_that_it_would_start_anywhere", MADE, NULL, "", REFUSED },
	{ "nor_does_it_start_while_that_is_being_deleted", MADE, STOPS, "", REFUSED },
	{ "that_of_another_controller_is_none", MADE, "", "", REFUSED },
	{ "gang_that_somebody_has_made_needs_none", BY_DEMO, NULL, "", PLACED },
	{ "nor_does_one_that_has_started", MADE, NULL, SATISFIED("13:40:00", ""), PLACED },
};

/* A pod of CRDJob demo, which names kar-scheduler and is in the group. */
static void gang_of_a_schedulingspec_needs_that(void **state)
{
	for (size_t i = 0; i < KAR_LEN(gangs_of_specs); i++) {
		char rest[1024];
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		begin(state);
		snprintf(rest, sizeof(rest), ",\"spec\":{\"minMember\":1},\"status\":{%s}",
			gangs_of_specs[i].status);
		put_named(w.stores.podgroups, "g", gangs_of_specs[i].group, rest);
		put_named(w.stores.pods, "a", ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}" BY_DEMO,
			",\"spec\":{\"schedulerName\":\"kar-scheduler\",\"containers\":[{\"name\":\"c\"}]}");
		drain();
		if (gangs_of_specs[i].spec) {
			put_named(w.stores.schedulingspecs, "g", gangs_of_specs[i].spec,
				",\"spec\":{\"minAvailable\":1}");
			assert_int_equal(*gangs_of_specs[i].spec ? 1 : 0,
				(int)kar_workqueue_ready(w.controller.queue));
		}
		got = sync_text(true);
		if (strcmp(got, gangs_of_specs[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", gangs_of_specs[i].name, gangs_of_specs[i].plan,
				got);
	}
}

static void put_job_of_devices(const char *scheduler, const char *resource)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"schedulerName\":\"%s\",\"schedSpec\":{\"minAvailable\":1},\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"%s\":\"1\"}}}]}}}]},"
		"\"status\":{\"phase\":\"Pending\"}",
		scheduler, resource);
	put_named(w.stores.queuejobs, "g", "", rest);
	put_group_of_job("g", "");
}

static void devices_come_from_classes(void **state)
{
	static const struct {
		const char *name, *scheduler, *resource,
			*slice; /* .slice: the rest of the only device of n1 */
		const char *plan, *says;
	} jobs[] = {
		{ "by_its_own_name", "default-scheduler", "a.b/gpu", "",
			"patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)", NULL },
		{ "by_its_implicit_name", "default-scheduler", KAR_DEVICECLASS_PREFIX "gpu", "",
			"patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)", NULL },
		{ "bound_at_creation", "kar-scheduler", "a.b/gpu", "",
			"patch podgroups/status ns/g (Admitted=False/Unsupported position=0)",
			"only kube-scheduler allocates devices (a.b/gpu of DeviceClass gpu): use default-scheduler" },
		{ "none_is_free", "default-scheduler", "a.b/gpu",
			",\"taints\":[{\"key\":\"bad\",\"effect\":\"NoExecute\"}]",
			"patch podgroups/status ns/g (Admitted=False/DevicesUnknown position=0)",
			"no node offers a.b/gpu: no complete pool of ResourceSlices has a device of DeviceClass gpu without a taint" },
		{ "nobody_serves_it", "default-scheduler", "a.b/cpu", "",
			"patch podgroups/status ns/g (Admitted=False/Infeasible position=0)", NULL },
	};

	for (size_t i = 0; i < KAR_LEN(jobs); i++) {
		const char *got;
		char rest[512];

		assert_int_equal(teardown(state), 0);
		begin(state);
		put_named(w.stores.deviceclasses, "gpu", "",
			",\"spec\":{\"extendedResourceName\":\"a.b/gpu\"}");
		snprintf(rest, sizeof(rest),
			",\"spec\":{\"driver\":\"d\",\"nodeName\":\"n1\",\"pool\":{\"name\":\"n1\",\"generation\":1,\"resourceSliceCount\":1},"
			"\"devices\":[{\"name\":\"d0\"%s}]}",
			jobs[i].slice);
		put_named(w.stores.resourceslices, "s", "", rest);
		put_job_of_devices(jobs[i].scheduler, jobs[i].resource);
		got = sync_text(true);
		if (strcmp(got, jobs[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", jobs[i].name, jobs[i].plan, got);
		if (jobs[i].says)
			check_says(&w.sync.plan.actions[0], jobs[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(missing_pods_get_places),
		TEST(missing_minimum_is_placed_whole_or_not),
		TEST(gang_is_placed_with_nodes_after_any_number_of_failures),
		TEST(admission_without_places_takes_no_room),
		TEST(what_it_cannot_check_is_refused),
		TEST(pods_that_may_refuse_it_are_named),
		TEST(it_never_waits_for_new_nodes_with_pods),
		TEST(pods_of_another_scheduler_call_for_new_nodes),
		TEST(nobody_is_served_without_the_flag),
		TEST(gang_of_two_schedulers_is_refused),
		TEST(gang_of_a_schedulingspec_needs_that),
		TEST(devices_come_from_classes),
		TEST(lost_pod_begins_a_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
