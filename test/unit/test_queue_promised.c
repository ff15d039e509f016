/* A batch Job that is suspended until its queue admits it, in a pass: its pods do not exist, and are placed by its template. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define ADMITTED_WITHOUT_PLACES "patch podgroups/status ns/j (Admitted=True/Admitted position=0 placed)"
#define REFUSED(reason) "patch podgroups/status ns/j (Admitted=False/" reason " position=0)"
#define WAITS(reason) "patch podgroups/status ns/j (Admitted=False/" reason " position=1)"
#define BY_QUEUE ",\"annotations\":{\"kube-arbitrator.io/suspended-by\":\"queue\"}"
#define RESUMED ",\"annotations\":{\"kube-arbitrator.io/resumed-by\":\"queue\"}"
#define COMPLETE ",\"status\":{\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]}"
#define JUST_NOW \
	"\"position\":0,\"admittedQueue\":\"default\",\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"admitted by queue default\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:20Z\"}]"

/* Two pods of @cpu each. */
static void put_batch_job(const char *meta, bool suspended, const char *cpu, const char *more,
	const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"suspend\":%s,\"parallelism\":2,\"completions\":2,\"template\":{\"spec\":{%s\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}%s",
		suspended ? "true" : "false", more, cpu, status);
	put_named(w.stores.batchjobs, "j", meta, rest);
}

static void put_its_group(const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest), ",\"spec\":{\"minMember\":2},\"status\":{%s%s}", status,
		usual_conditions(status));
	put_named(w.stores.podgroups, "j",
		",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]",
		rest);
}

static const struct {
	const char *name, *meta;
	bool suspended;
	const char *cpu, *more, *status;
	const char *plan, *says; /* .says: in the body of the patch; NULL: not looked at */
} rows[] = {
	{ "there_is_room", BY_QUEUE, true, "4", "", "", ADMITTED_WITHOUT_PLACES, "\"placement\":null" },
	{ "one_on_each_node", BY_QUEUE, true, "8", "", "", ADMITTED_WITHOUT_PLACES, "\"placement\":null" },
	{ "no_node_is_large_enough", BY_QUEUE, true, "11", "", "", REFUSED("Infeasible"),
		"a pod asks for 11 cpu, the largest node has 10" },
	{ "it_selects_what_no_node_has", BY_QUEUE, true, "8", "\"nodeSelector\":{\"disk\":\"ssd\"},", "",
		REFUSED("Infeasible"), NULL },
	{ "it_is_not_suspended_yet", "", false, "4", "", "", REFUSED("WaitingForMembers"),
		"its workload is about to be suspended" },
	{ "its_user_has_suspended_it", "", true, "4", "", "", REFUSED("Suspended"), "the job is suspended" },
};

static void pods_of_a_template_are_placed(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		put_node("n1", "10", "");
		put_node("n2", "10", "");
		put_batch_job(rows[i].meta, rows[i].suspended, rows[i].cpu, rows[i].more, rows[i].status);
		put_its_group("");
		got = sync_text(true);
		if (strcmp(got, rows[i].plan))
			fail_msg("%s: got \"%s\", want \"%s\"", rows[i].name, got, rows[i].plan);
		if (rows[i].says)
			check_says(&w.sync.plan.actions[0], rows[i].says);
	}
}

/* A job of one pod, which would have the room. */
static void put_rival(const char *cpu)
{
	char rest[512];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}]}",
		cpu);
	put_named(w.stores.queuejobs, "rival", "", rest);
	put_group_of_job("rival", "");
}

static const struct {
	const char *name, *cpu, *plan;
} rivals[] = {
	{ "what_is_left_is_free", "4",
		"patch podgroups/status ns/rival (Admitted=True/Admitted position=0 placed)" },
	{ "no_more_than_that", "9",
		"patch podgroups/status ns/rival (Admitted=False/InsufficientCapacity position=1)" },
};

static void room_is_held_until_its_pods_come(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rivals); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		put_node("n1", "10", "");
		put_batch_job(RESUMED, false, "3", "", "");
		put_its_group(JUST_NOW);
		put_rival(rivals[i].cpu);
		got = sync_text(true);
		if (strcmp(got, rivals[i].plan))
			fail_msg("%s: got \"%s\", want \"%s\"", rivals[i].name, got, rivals[i].plan);
	}
}

/* One driver and two workers of so many CPUs. */
static void put_jobset(const char *meta, bool suspended, const char *driver, const char *worker)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"suspend\":%s,\"replicatedJobs\":[{\"name\":\"driver\",\"template\":{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}}},"
		"{\"name\":\"workers\",\"replicas\":2,\"template\":{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}}}]}",
		suspended ? "true" : "false", driver, worker);
	put_named(w.stores.jobsets, "j", meta, rest);
}

static void put_group_of_jobset(const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest), ",\"spec\":{\"minMember\":3},\"status\":{%s%s}", status,
		usual_conditions(status));
	put_named(w.stores.podgroups, "j",
		",\"ownerReferences\":[{\"apiVersion\":\"jobset.x-k8s.io/v1alpha2\",\"kind\":\"JobSet\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]",
		rest);
}

static const struct {
	const char *name, *driver, *worker, *plan;
} templates[] = {
	{ "all_of_them_fit", "4", "6", ADMITTED_WITHOUT_PLACES },
	{ "one_on_each_node_and_the_driver_beside_it", "1", "9", ADMITTED_WITHOUT_PLACES },
	{ "the_driver_has_no_room_beside_the_workers", "2", "9", WAITS("NoFit") },
	{ "the_driver_alone_is_too_large", "11", "1", REFUSED("Infeasible") },
	{ "a_worker_is_too_large", "1", "11", REFUSED("Infeasible") },
};

/* Two nodes of ten CPUs. */
static void pods_of_several_templates_are_placed_together(void **state)
{
	for (size_t i = 0; i < KAR_LEN(templates); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		put_node("n1", "10", "");
		put_node("n2", "10", "");
		put_jobset(BY_QUEUE, true, templates[i].driver, templates[i].worker);
		put_group_of_jobset("");
		got = sync_text(true);
		if (strcmp(got, templates[i].plan))
			fail_msg("%s: got \"%s\", want \"%s\"", templates[i].name, got, templates[i].plan);
	}
}

/* It holds 2 + 2 * 3 of twenty CPUs. */
static void room_is_held_for_each_template(void **state)
{
	static const struct {
		const char *cpu, *plan;
	} left[] = {
		{ "12", "ns/rival (Admitted=True/Admitted position=0 placed)" },
		{ "13", "ns/rival (Admitted=False/InsufficientCapacity" },
	};

	for (size_t i = 0; i < KAR_LEN(left); i++) {
		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		put_node("n1", "20", "");
		put_jobset(RESUMED, false, "2", "3");
		put_group_of_jobset(JUST_NOW);
		put_rival(left[i].cpu);
		assert_non_null(strstr(sync_text(true), left[i].plan));
	}
}

static void pods_at_the_gate_hold_as_those_to_come(void **state KAR_UNUSED)
{
	put_queue("default", "");
	put_node("n1", "10", "");
	put_batch_job(RESUMED, false, "3", "", "");
	put_its_group(JUST_NOW);
	put_named(w.stores.pods, "j-a", ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}",
		",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}");
	put_rival("5");
	assert_non_null(strstr(sync_text(true), "ns/rival (Admitted=False/InsufficientCapacity"));
}

#define BEGAN \
	"\"placement\":{\"attempt\":1,\"requests\":\"pods=2,cpu=16000m\",\"time\":\"2026-11-21T13:46:25Z\"}"
static const struct {
	const char *name, *by, *meta, *status, *says;
} former[] = {
	{ "deleted", BY_QUEUE, ",\"deletionTimestamp\":\"2026-11-21T13:46:57Z\"", "",
		"it starts when its pods of before are gone" },
	/* a gang that has begun a moment ago may come one by one otherwise */
	{ "not_deleted_yet", BY_QUEUE, "", BEGAN, "it starts when its pods of before are gone" },
	{ "not_suspended_yet", "", "", BEGAN, "its workload is about to be suspended" },
};

/* Its user has resumed it, and it was suspended again. There would be room for its two pods, or for what is left of them. */
static void pods_of_before_go_first(void **state)
{
	for (size_t i = 0; i < KAR_LEN(former); i++) {
		char meta[256];
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		put_node("n1", "10", "");
		put_node("n2", "10", "");
		put_batch_job(former[i].by, former[i].by[0] != '\0', "8", "", "");
		put_its_group(former[i].status);
		snprintf(meta, sizeof(meta), ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}%s",
			former[i].meta);
		put_named(w.stores.pods, "j-a", meta,
			",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"8\"}}}]}");
		got = sync_text(true);
		if (!strstr(got, "ns/j (Admitted=False/WaitingForMembers"))
			fail_msg("%s: got \"%s\"", former[i].name, got);
		check_says(&w.sync.plan.actions[0], former[i].says);
	}
}

static void failed_start_is_not_tried_at_once(void **state KAR_UNUSED)
{
	put_queue("default", "");
	put_node("n1", "10", "");
	put_batch_job(BY_QUEUE, true, "3", "", "");
	put_its_group(
		"\"placement\":{\"state\":\"Waiting\",\"attempt\":1,\"failures\":1,\"time\":\"2026-11-21T13:46:20Z\",\"retryAfter\":\"2026-11-21T13:47:00Z\",\"cause\":\"late\"}");
	assert_non_null(strstr(sync_text(true), "ns/j (Admitted=False/BackOff"));
}

static void failures_of_a_start_are_not_forgotten(void **state KAR_UNUSED)
{
	put_queue("default", "");
	put_node("n1", "10", "");
	put_batch_job(BY_QUEUE, true, "3", "", "");
	put_its_group(
		"\"placement\":{\"state\":\"Waiting\",\"attempt\":1,\"failures\":1,\"time\":\"2026-11-21T13:46:20Z\",\"retryAfter\":\"2026-11-21T13:46:21Z\",\"cause\":\"late\"}");
	assert_non_null(strstr(sync_text(true), "ns/j (Admitted=True/Admitted"));
	check_says(&w.sync.plan.actions[0], "\"failures\":1");
}

static void one_that_has_ended_holds_nothing(void **state KAR_UNUSED)
{
	put_queue("default", "");
	put_node("n1", "10", "");
	put_batch_job(RESUMED, false, "3", "", COMPLETE);
	put_its_group(JUST_NOW);
	put_rival("9");
	assert_non_null(strstr(sync_text(true), "ns/rival (Admitted=True/Admitted position=0 placed)"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pods_of_a_template_are_placed),
		TEST(room_is_held_until_its_pods_come),
		TEST(pods_of_several_templates_are_placed_together),
		TEST(room_is_held_for_each_template),
		TEST(pods_at_the_gate_hold_as_those_to_come),
		TEST(pods_of_before_go_first),
		TEST(failed_start_is_not_tried_at_once),
		TEST(failures_of_a_start_are_not_forgotten),
		TEST(one_that_has_ended_holds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
