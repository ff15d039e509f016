/* Batch Job j, which names queue q: when it is suspended and resumed, and the PodGroup that is made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "controllers/suspend/suspend.h"
#include "test/fixture/reconciler.h"

#define LABEL "\"labels\":{\"kube-arbitrator.io/queue\":\"q\"}"
#define BY_QUEUE ",\"annotations\":{\"kube-arbitrator.io/suspended-by\":\"queue\"}"
#define RESUMED ",\"annotations\":{\"kube-arbitrator.io/resumed-by\":\"queue\"}"
#define OF(kind) \
	",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"" kind \
	"\",\"name\":\"o\",\"uid\":\"uid-o\",\"controller\":true}]"
#define POD "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]"
#define PLAIN ",\"parallelism\":2,\"completions\":2,\"template\":{" POD "}}"
#define READY \
	",\"parallelism\":2,\"completions\":2,\"template\":{\"metadata\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}}," POD \
	",\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]}}"
#define STARTED ",\"status\":{\"startTime\":\"2026-11-21T13:00:00Z\"}"

#define MADE \
	"\"labels\":{\"kube-arbitrator.io/queue\":\"q\",\"kube-arbitrator.io/made-for-pods\":\"workload\"}"
#define OWNED \
	"," MADE \
	",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]"
#define ADMITTED(status, reason) \
	"\"admittedQueue\":\"q\",\"conditions\":[{\"type\":\"Admitted\",\"status\":\"" status \
	"\",\"reason\":\"" reason "\",\"message\":\"m\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]"
#define TRUE ADMITTED("True", "Admitted")
#define FALSE ADMITTED("False", "NoFit")
#define PATCH "patch jobs ns/j "
/* The first operations of a JSON patch that resumes it. */
#define RESUMES \
	"{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"uid-j\"},{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"11\"},{\"op\":\"remove\",\"path\":\"/metadata/annotations/kube-arbitrator.io~1suspended-by\"},{\"op\":\"add\",\"path\":\"/metadata/annotations/kube-arbitrator.io~1resumed-by\",\"value\":\"queue\"},"

static int setup(void **state KAR_UNUSED)
{
	static const struct kar_settings settings = { 0 };

	open_world(kar_suspend_batchjobs_controller, &settings);
	w.controller.start(&w.controller);
	return 0;
}

static void put_job(const char *meta, bool suspended, const char *spec, const char *rest)
{
	char text[2048], all[512];

	snprintf(all, sizeof(all), "," LABEL "%s", meta);
	snprintf(text, sizeof(text), ",\"spec\":{\"suspend\":%s%s}%s", suspended ? "true" : "false", spec,
		rest);
	put_named(w.stores.batchjobs, "j", all, text);
}

static void put_group(const char *meta, const char *minimum, const char *status)
{
	char text[1024];

	snprintf(text, sizeof(text), ",\"spec\":{\"minMember\":%s},\"status\":{%s}", minimum, status);
	put_named(w.stores.podgroups, "j", meta, text);
}

static const char *printed(void)
{
	static char text[2048];
	struct kar_buf out = { 0 };

	kar_plan_print(&w.sync.plan, &out);
	snprintf(text, sizeof(text), "%s", kar_buf_cstr(&out));
	kar_buf_release(&out);
	return text;
}

/* --- what is done ------------------------------------------------------------------------------------- */

static const struct {
	const char *name, *meta;
	bool suspended;
	const char *spec, *rest;
	const char *group, *status; /* NULL: there is no group */
	const char *plan;           /* NULL: nothing is decided */
} rows[] = {
	{ "new_one_gets_a_group", BY_QUEUE, true, PLAIN, "", NULL, NULL,
		"create podgroups ns/j (minMember=2 queue=q)" },
	{ "one_that_runs_is_suspended", "", false, PLAIN, STARTED, NULL, NULL, PATCH "(suspend)" },
	{ "an_admission_of_what_was_not_asked_about_is_none", "", false, PLAIN, STARTED, OWNED, TRUE,
		PATCH "(suspend)" },
	{ "its_group_was_deleted", RESUMED, false, READY, STARTED, NULL, NULL,
		"create podgroups ns/j (minMember=2 queue=q)" },
	{ "one_that_was_made_again_from_its_own_yaml",
		",\"annotations\":{\"kube-arbitrator.io/suspended-by\":\"queue\",\"kube-arbitrator.io/resumed-by\":\"queue\"}",
		true, READY, "", OWNED, TRUE, PATCH "(resume)" },
	{ "no_pods", BY_QUEUE, true, ",\"parallelism\":0,\"template\":{" POD "}}", "", NULL, NULL,
		"create podgroups ns/j (minMember=1 queue=q)" },
	{ "more_pods_than_it_started_with_join_later", RESUMED, false,
		",\"parallelism\":5,\"template\":{\"metadata\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}}," POD
		",\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]}}",
		STARTED, OWNED, TRUE, "" },
	{ "fewer_pods_than_it_started_with", RESUMED, false,
		",\"parallelism\":1,\"template\":{\"metadata\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}}," POD
		",\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]}}",
		STARTED, OWNED, TRUE, "patch podgroups ns/j (minMember=1 queue=q)" },
	{ "its_template_names_a_node", BY_QUEUE, true,
		",\"template\":{\"spec\":{\"nodeName\":\"n1\",\"containers\":[]}}", "", NULL, NULL,
		"event Warning Unsupported: its template names a node, or cannot be read: no queue can place it" },
	{ "it_waits_and_says_why", BY_QUEUE, true, PLAIN, "", OWNED, FALSE,
		"event Normal Waiting: NoFit: m" },
	{ "admitted_it_is_resumed", BY_QUEUE, true, PLAIN, "", OWNED, TRUE, PATCH "(resume)" },
	{ "and_runs", RESUMED, false, READY, STARTED, OWNED, TRUE, "" },
	{ "by_another_queue_it_is_not_admitted", BY_QUEUE, true, PLAIN, "", OWNED,
		"\"admittedQueue\":\"other\",\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\"}]",
		"" },
	{ "the_template_of_what_has_started_is_opened_first", BY_QUEUE, true, PLAIN, STARTED, OWNED, TRUE,
		"patch jobs/status ns/j (not started)" },
	{ "one_that_was_resumed_before_needs_no_new_template", BY_QUEUE, true, READY, STARTED, OWNED, TRUE,
		PATCH "(resume)" },
	{ "its_pods_wait_at_the_gate", RESUMED, false, READY, STARTED, OWNED, FALSE, "" },
	{ "evicted_it_is_suspended", RESUMED, false, READY, STARTED, OWNED,
		FALSE ",\"placement\":{\"state\":\"RollingBack\",\"evictedBy\":\"ns/other\"}",
		PATCH "(suspend)" },
	{ "its_user_suspends_it", "", true, PLAIN, "", OWNED, TRUE, "" },
	{ "its_user_suspends_it_while_it_runs", RESUMED, true, READY, STARTED, OWNED, TRUE,
		PATCH "(suspended by its user)" },
	{ "its_user_resumes_what_waits", BY_QUEUE, false, PLAIN, "", OWNED, FALSE,
		"event Warning Suspended: its queue q resumes it when there is room: it is suspended again; " PATCH
		"(suspend)" },
	{ "its_user_resumes_what_he_suspended", "", false, READY, "", OWNED, FALSE, PATCH "(suspend)" },
	{ "edited_replicas_are_decided_about_first", BY_QUEUE, true,
		",\"parallelism\":3,\"completions\":3,\"template\":{" POD "}}", "", OWNED, TRUE,
		"patch podgroups ns/j (minMember=3 queue=q)" },
	{ "another_queue", BY_QUEUE, true, PLAIN, "",
		",\"labels\":{\"kube-arbitrator.io/queue\":\"old\"},\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]",
		TRUE, "patch podgroups ns/j (minMember=2 queue=q)" },
	{ "a_group_of_another_is_in_the_way", BY_QUEUE, true, PLAIN, "", "", TRUE,
		"event Warning NameConflict: PodGroup j is not of it: delete that, or give it another name" },
	{ "it_does_not_start_while_it_is_in_the_way", "", false, PLAIN, "", "", TRUE,
		"event Warning NameConflict: PodGroup j is not of it: delete that, or give it another name; " PATCH
		"(suspend)" },
	{ "its_template_names_another_group", BY_QUEUE, true,
		",\"template\":{\"metadata\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"x\"}}," POD
		"}}",
		"", NULL, NULL,
		"event Warning Unsupported: its template names PodGroup x: remove that label, or the label kube-arbitrator.io/queue of the Job" },
	{ "one_of_a_cronjob", BY_QUEUE OF("CronJob"), true, PLAIN, "", NULL, NULL,
		"create podgroups ns/j (minMember=2 queue=q)" },
	{ "one_of_another_controller_is_left_alone", OF("JobSet"), false, PLAIN, "", NULL, NULL, NULL },
	{ "one_that_is_managed_elsewhere_is_left_alone", "", false,
		",\"managedBy\":\"kueue.x-k8s.io/multikueue\"" PLAIN, "", NULL, NULL, NULL },
	{ "its_own_controller_is_no_other", BY_QUEUE, true,
		",\"managedBy\":\"kubernetes.io/job-controller\"" PLAIN, "", NULL, NULL,
		"create podgroups ns/j (minMember=2 queue=q)" },
	{ "one_that_has_ended_is_left_alone", RESUMED, false, READY,
		",\"status\":{\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]}", OWNED, FALSE,
		NULL },
	{ "one_that_is_deleted_is_left_alone", ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"", false,
		PLAIN, "", NULL, NULL, NULL },
};

static void it_is_suspended_and_resumed(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_job(rows[i].meta, rows[i].suspended, rows[i].spec, rows[i].rest);
		if (rows[i].group)
			put_group(rows[i].group, "2", rows[i].status);
		got = sync_named("ns/j") ? printed() : NULL;
		if (!kar_streq(got, rows[i].plan))
			fail_msg("%s: want '%s', got '%s'", rows[i].name,
				rows[i].plan ? rows[i].plan : "nothing", got ? got : "nothing");
	}
}

/* --- what is written ---------------------------------------------------------------------------------- */

static const struct {
	const char *name, *meta;
	bool suspended;
	const char *spec, *rest, *group, *status;
	const char *body;
} bodies[] = {
	{ "group", BY_QUEUE, true, PLAIN, "", NULL, NULL,
		"{\"apiVersion\":\"scheduling.x-k8s.io/v1alpha1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"j\",\"namespace\":\"ns\",\"labels\":{\"kube-arbitrator.io/queue\":\"q\",\"kube-arbitrator.io/made-for-pods\":\"workload\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]},\"spec\":{\"minMember\":2}}" },
	{ "suspend", "", false, PLAIN, "", OWNED, FALSE,
		"{\"metadata\":{\"uid\":\"uid-j\",\"resourceVersion\":\"11\",\"annotations\":{\"kube-arbitrator.io/suspended-by\":\"queue\",\"kube-arbitrator.io/resumed-by\":null}},\"spec\":{\"suspend\":true}}" },
	{ "resume_keeps_gates_of_others", BY_QUEUE, true,
		",\"parallelism\":2,\"completions\":2,\"template\":{" POD
		",\"schedulingGates\":[{\"name\":\"a.b/c\"}]}}",
		"", OWNED, TRUE,
		"[" RESUMES
		"{\"op\":\"add\",\"path\":\"/spec/template/metadata\",\"value\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}}},{\"op\":\"add\",\"path\":\"/spec/template/spec/schedulingGates\",\"value\":[{\"name\":\"a.b/c\"},{\"name\":\"kube-arbitrator.io/gang\"}]},{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":false}]" },
	{ "resume_keeps_labels_of_others", BY_QUEUE, true,
		",\"parallelism\":2,\"completions\":2,\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}," POD
		",\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]}}",
		"", OWNED, TRUE,
		"[" RESUMES
		"{\"op\":\"add\",\"path\":\"/spec/template/metadata/labels/scheduling.x-k8s.io~1pod-group\",\"value\":\"j\"},{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":false}]" },
	{ "resume_keeps_annotations_of_others", BY_QUEUE, true,
		",\"parallelism\":2,\"completions\":2,\"template\":{\"metadata\":{\"annotations\":{\"a\":\"b\"}}," POD
		",\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]}}",
		"", OWNED, TRUE,
		"[" RESUMES
		"{\"op\":\"add\",\"path\":\"/spec/template/metadata/labels\",\"value\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}},{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":false}]" },
	{ "resume_once_more", BY_QUEUE, true, READY, STARTED, OWNED, TRUE,
		"{\"metadata\":{\"uid\":\"uid-j\",\"resourceVersion\":\"11\",\"annotations\":{\"kube-arbitrator.io/suspended-by\":null,\"kube-arbitrator.io/resumed-by\":\"queue\"}},\"spec\":{\"suspend\":false}}" },
	{ "forget", RESUMED, true, READY, STARTED, OWNED, TRUE,
		"{\"metadata\":{\"uid\":\"uid-j\",\"annotations\":{\"kube-arbitrator.io/suspended-by\":null,\"kube-arbitrator.io/resumed-by\":null}}}" },
	{ "reset", BY_QUEUE, true, PLAIN, STARTED, OWNED, TRUE,
		"{\"metadata\":{\"uid\":\"uid-j\",\"resourceVersion\":\"11\"},\"status\":{\"startTime\":null}}" },
	{ "edit", BY_QUEUE, true, ",\"parallelism\":5,\"template\":{" POD "}}", "", OWNED, TRUE,
		"{\"metadata\":{\"uid\":\"uid-j\",\"resourceVersion\":\"12\",\"labels\":{\"kube-arbitrator.io/queue\":\"q\"}},\"spec\":{\"minMember\":5}}" },
};

static void bodies_are_preconditioned(void **state)
{
	for (size_t i = 0; i < KAR_LEN(bodies); i++) {
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_job(bodies[i].meta, bodies[i].suspended, bodies[i].spec, bodies[i].rest);
		if (bodies[i].group)
			put_group(bodies[i].group, "2", bodies[i].status);
		assert_true(sync_named("ns/j"));
		assert_int_equal(w.sync.plan.n_actions, 1);
		assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[0], &out, &err), 0);
		if (strstr(bodies[i].body, "edit"))
			assert_string_equal(w.sync.plan.actions[0].uid, "uid-j");
		if (!kar_streq(kar_buf_cstr(&out), bodies[i].body))
			fail_msg("%s: want '%s', got '%s'", bodies[i].name, bodies[i].body,
				kar_buf_cstr(&out));
		kar_buf_release(&out);
	}
}

/* --- over some time ----------------------------------------------------------------------------------- */

/* The write of the only action, by whoever reads the answer. */
static void succeed(void)
{
	assert_true(w.sync.plan.n_actions == 1);
	w.controller.wrote(&w.sync, &w.sync.plan.actions[0], NULL);
}

static void whoever_resumes_it_again_and_again_is_left_alone(void **state KAR_UNUSED)
{
	put_group(OWNED, "2", FALSE);
	for (int i = 0; i < 2; i++) {
		put_job(BY_QUEUE, false, PLAIN, "");
		assert_true(sync_named("ns/j"));
		assert_non_null(strstr(printed(), "(suspend)"));
		succeed();
		w.mono += 10 * KAR_SECOND;
	}
	put_job(BY_QUEUE, false, PLAIN, "");
	assert_true(sync_named("ns/j"));
	assert_string_equal(printed(),
		"event Warning Contested: somebody resumes it again and again while its queue has no room: it is left alone for a minute, and its pods run; requeue 1m");
	w.mono += 61 * KAR_SECOND;
	assert_true(sync_named("ns/j"));
	assert_non_null(strstr(printed(), "(suspend)"));
}

static void each_reason_is_said_once(void **state KAR_UNUSED)
{
	put_job(BY_QUEUE, true, PLAIN, "");
	put_group(OWNED, "2", FALSE);
	assert_true(sync_named("ns/j"));
	assert_string_equal(printed(), "event Normal Waiting: NoFit: m");
	assert_true(sync_named("ns/j"));
	assert_string_equal(printed(), "");
	put_group(OWNED, "2", ADMITTED("False", "QueueClosed"));
	assert_true(sync_named("ns/j"));
	assert_string_equal(printed(), "event Normal Waiting: QueueClosed: m");
}

/* --- how many pods are a gang -------------------------------------------------------------------------- */

static const struct {
	const char *name, *spec, *status;
	int succeeded; /* members that have */
	int32_t count, minimum;
} counts[] = {
	{ "one_if_nothing_is_said", "", "", 0, 1, 1 },
	{ "parallelism", ",\"parallelism\":4", "", 0, 4, 4 },
	{ "no_more_than_are_to_complete", ",\"parallelism\":4,\"completions\":3", "", 0, 3, 3 },
	{ "what_has_succeeded_is_not_made_again", ",\"parallelism\":4,\"completions\":6",
		",\"status\":{\"succeeded\":4}", 4, 2, 6 },
	{ "what_has_succeeded_without_the_label_is_no_member", ",\"parallelism\":4,\"completions\":6",
		",\"status\":{\"succeeded\":4}", 0, 2, 2 },
	{ "what_its_controller_has_not_counted_yet_is_not_made_again_either",
		",\"parallelism\":4,\"completions\":4", "", 1, 4, 4 },
	{ "none", ",\"parallelism\":0", "", 0, 0, 1 },
	{ "nonsense", ",\"parallelism\":-3,\"completions\":-1", "", 0, 0, 1 },
};

static void pods_of_a_job_are_counted(void **state)
{
	for (size_t i = 0; i < KAR_LEN(counts); i++) {
		const struct kar_suspendable *s;
		char name[32];

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_job(BY_QUEUE, true, counts[i].spec, counts[i].status);
		for (int k = 0; k < counts[i].succeeded; k++) {
			snprintf(name, sizeof(name), "j-%d", k);
			put_named(w.stores.pods, name,
				",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}",
				",\"status\":{\"phase\":\"Succeeded\"}");
		}
		s = kar_as_suspendable(kar_store_get(w.stores.batchjobs, "ns", "j"));
		assert_true(sync_named("ns/j"));
		if (kar_suspendable_count(s) != counts[i].count ||
			suspend_minimum(&(struct suspend_view){ .s = s, .succeeded = counts[i].succeeded }) !=
				counts[i].minimum)
			fail_msg("%s: %d pods at once", counts[i].name, (int)kar_suspendable_count(s));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_suspended_and_resumed, setup, teardown),
		cmocka_unit_test_setup_teardown(bodies_are_preconditioned, setup, teardown),
		cmocka_unit_test_setup_teardown(whoever_resumes_it_again_and_again_is_left_alone, setup,
			teardown),
		cmocka_unit_test_setup_teardown(each_reason_is_said_once, setup, teardown),
		cmocka_unit_test_setup_teardown(pods_of_a_job_are_counted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
