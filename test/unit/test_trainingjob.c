/* TrainingJob t: the QueueJob that is made of it, and what its status says. It is 13:46:27. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/trainingjob/trainingjob_queuejob.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/codec/json.h"
#include "controllers/trainingjob/trainingjob.h"
#include "test/fixture/reconciler.h"

#define PLAIN "\"trainer\":{\"min-instance\":2,\"max-instance\":2}"
#define ELASTIC \
	"\"fault_tolerant\":true,\"pserver\":{\"min-instance\":1},\"trainer\":{\"min-instance\":2,\"max-instance\":5}"
#define OWNED \
	",\"ownerReferences\":[{\"apiVersion\":\"paddlepaddle.org/v1\",\"kind\":\"TrainingJob\",\"name\":\"t\",\"uid\":\"uid-t\",\"controller\":true}]"

static int setup(void **state KAR_UNUSED)
{
	static const struct kar_settings settings = { 0 };

	open_world(kar_trainingjob_controller, &settings);
	w.controller.start(&w.controller);
	return 0;
}

static void put_training(const char *meta, const char *spec, const char *rest)
{
	char text[2048], all[256];

	snprintf(text, sizeof(text), ",\"spec\":{%s}%s", spec, rest);
	snprintf(all, sizeof(all), ",\"generation\":1%s", meta);
	put_named(w.stores.trainingjobs, "t", all, text);
}

static const struct kar_trainingjob *training(void)
{
	return kar_as_trainingjob(kar_store_get(w.stores.trainingjobs, "ns", "t"));
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

/* --- what is made of it ------------------------------------------------------------------------------- */

/* The spec of its QueueJob. */
static const char *translated(void)
{
	static char text[16 << 10];
	struct kar_buf out = { 0 };
	struct kar_json_writer writer;

	kar_json_writer_init(&writer, &out);
	kar_training_write_spec(&writer, training(), training()->spec.trainer.max);
	kar_json_writer_release(&writer);
	snprintf(text, sizeof(text), "%s", kar_buf_cstr(&out));
	kar_buf_release(&out);
	return text;
}

static const struct {
	const char *name, *meta, *spec;
	const char *has[4]; /* texts in the spec of the QueueJob; those that begin with '!' are not there */
} made[] = {
	{ "trainers_above_the_minimum_are_extras", "", ELASTIC,
		{ "{\"name\":\"trainer\",\"replicas\":5,\"minAvailable\":2,\"priority\":1",
			"\"schedSpec\":{\"minAvailable\":4,\"priority\":1000}",
			"{\"name\":\"pserver\",\"replicas\":1,\"minAvailable\":1,\"priority\":2",
			"{\"name\":\"master\",\"replicas\":1,\"minAvailable\":1,\"priority\":3" } },
	{ "trainers_decide_about_success", "", PLAIN, { "\"successPolicy\":{\"tasks\":[\"trainer\"]}" } },
	{ "without_a_master_there_is_no_etcd", "", PLAIN,
		{ "!master", "!etcd", "!pserver\",\"replicas", "\"minAvailable\":2,\"priority\":1000" } },
	{ "first_failure_ends_what_is_not_fault_tolerant", "", PLAIN,
		{ "{\"action\":\"FailJob\",\"tasks\":[\"trainer\"],\"onExitCodes\":{\"operator\":\"NotIn\",\"values\":[0]}}" } },
	{ "failed_trainer_comes_again_if_it_is", "", ELASTIC,
		{ "{\"action\":\"RecreatePod\",\"tasks\":[\"trainer\"]}", "\"backoffLimit\":6",
			"!FailJob" } },
	{ "each_trainer_may_fail_once", "",
		"\"fault_tolerant\":true,\"trainer\":{\"min-instance\":1,\"max-instance\":60}",
		{ "\"backoffLimit\":60" } },
	{ "programs_that_are_started", "", ELASTIC,
		{ "[\"paddle_k8s\",\"start_master\"]", "[\"paddle_k8s\",\"start_new_pserver\"]",
			"[\"paddle_k8s\",\"start_new_trainer\"]" } },
	{ "programs_without_fault_tolerance", "", "\"pserver\":{\"min-instance\":3}," PLAIN,
		{ "[\"paddle_k8s\",\"start_pserver\"]", "[\"paddle_k8s\",\"start_trainer\"]",
			"{\"name\":\"PSERVERS\",\"value\":\"3\"}",
			"{\"name\":\"TRAINERS\",\"value\":\"2\"}" } },
	{ "passes_of_the_trainer_count", "", "\"passes\":3,\"trainer\":{\"min-instance\":1,\"passes\":10}",
		{ "{\"name\":\"PADDLE_INIT_NUM_PASSES\",\"value\":\"10\"}" } },
	{ "passes_of_the_job", "", "\"passes\":3," PLAIN,
		{ "{\"name\":\"PADDLE_INIT_NUM_PASSES\",\"value\":\"3\"}" } },
	{ "dead_names_of_gpus_are_rewritten", "",
		"\"trainer\":{\"min-instance\":1,\"resources\":{\"limits\":{\"alpha.kubernetes.io/nvidia-gpu\":2}}}",
		{ "\"limits\":{\"nvidia.com/gpu\":\"2\"}",
			"{\"name\":\"PADDLE_INIT_TRAINER_COUNT\",\"value\":\"2\"}",
			"{\"name\":\"PADDLE_INIT_USE_GPU\",\"value\":\"1\"}", "!alpha" } },
	{ "threads_without_gpus", "",
		"\"trainer\":{\"min-instance\":1,\"resources\":{\"requests\":{\"cpu\":\"2500m\"}}}",
		{ "{\"name\":\"PADDLE_INIT_TRAINER_COUNT\",\"value\":\"3\"}",
			"{\"name\":\"PADDLE_INIT_USE_GPU\",\"value\":\"0\"}" } },
	{ "ports", "", "\"port\":9000,\"ports_num\":1,\"ports_num_for_sparse\":1," PLAIN,
		{ "[{\"name\":\"jobport-9000\",\"containerPort\":9000},{\"name\":\"jobport-9001\",\"containerPort\":9001}]" } },
	{ "volumes", "",
		"\"volumes\":[{\"name\":\"v\"}],\"VolumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/d\"}]," PLAIN,
		{ "\"volumes\":[{\"name\":\"v\"}]",
			"\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/d\"}]" } },
	{ "etcd_beside_the_master", "", ELASTIC, { "{\"name\":\"etcd\",\"image\":", "\"--name=etcd0\"" } },
	{ "etcd_that_exists", "",
		"\"fault_tolerant\":true,\"trainer\":{\"min-instance\":1,\"etcd-endpoint\":\"http://e:2379\"}",
		{ "!--name=etcd0", "{\"name\":\"ETCD_ENDPOINT\",\"value\":\"http://e:2379\"}" } },
	{ "queue_level_and_window",
		",\"labels\":{\"kube-arbitrator.io/queue\":\"q\",\"kube-arbitrator.io/priority-level\":\"production\"},\"annotations\":{\"kube-arbitrator.io/freezing-window-seconds\":\"30\"}",
		PLAIN, { "\"queue\":\"q\"", "\"priority\":10000", "\"freezingWindowSeconds\":30" } },
	{ "priority_class_counts_before_the_level",
		",\"labels\":{\"kube-arbitrator.io/priority-level\":\"production\"}",
		"\"priorityClassName\":\"high\"," PLAIN,
		{ "\"priorityClassName\":\"high\"", "!\"priority\":10000" } },
	{ "labels_by_which_its_programs_find_each_other", "", ELASTIC,
		{ "{\"paddle-job-master\":\"t\"}", "{\"paddle-job-pserver\":\"t\"}",
			"{\"paddle-job\":\"t\"}" } },
	{ "suspended", "", "\"suspend\":true," PLAIN, { "\"suspend\":true" } },
	{ "network_of_the_node", "", "\"hostNetwork\":true," PLAIN, { "\"hostNetwork\":true" } },
};

static void queuejob_is_made_of_it(void **state)
{
	for (size_t i = 0; i < KAR_LEN(made); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_training(made[i].meta, made[i].spec, "");
		assert_null(training()->problem);
		got = translated();
		for (size_t k = 0; k < KAR_LEN(made[i].has) && made[i].has[k]; k++) {
			bool not = made[i].has[k][0] == '!';

			if (!strstr(got, made[i].has[k] + not ) != not )
				fail_msg("%s: '%s' in %s", made[i].name, made[i].has[k], got);
		}
	}
}

static void all_spellings_mean_the_same(void **state)
{
	static const char *const specs[] = {
		"\"fault_tolerant\":true,\"ports_num\":2,\"host_network\":true,\"trainer\":{\"min-instance\":2,\"max-instance\":6,\"etcd-endpoint\":\"e\"}",
		"\"fault-tolerant\":true,\"ports-num\":2,\"host-network\":true,\"trainer\":{\"min_instance\":2,\"max_instance\":6,\"etcd_endpoint\":\"e\"}",
		"\"faultTolerant\":true,\"portsNum\":2,\"hostNetwork\":true,\"trainer\":{\"minInstance\":2,\"maxInstance\":6,\"etcdEndpoint\":\"e\"}",
	};
	char first[16 << 10] = "";

	for (size_t i = 0; i < KAR_LEN(specs); i++) {
		assert_int_equal(teardown(state), 0);
		setup(state);
		put_training("", specs[i], "");
		if (!i)
			snprintf(first, sizeof(first), "%s", translated());
		assert_string_equal(translated(), first);
	}
}

/* --- what is done -------------------------------------------------------------------------------------- */

static const char *job_status(const char *phase, int trainers, int running, int succeeded, const char *more)
{
	static char text[1024];

	snprintf(text, sizeof(text),
		",\"spec\":{\"taskSpecs\":[{\"name\":\"trainer\",\"replicas\":5}]},\"status\":{\"phase\":\"%s\",\"tasks\":[{\"name\":\"trainer\",\"desired\":%d,\"running\":%d,\"succeeded\":%d,\"pending\":%d}]%s}",
		phase, trainers, running, succeeded, trainers - running - succeeded, more);
	return text;
}

/* The QueueJob of t, made of it as it is now for so many trainers. */
static void put_job(int32_t of, const char *status)
{
	struct kar_arena arena = { 0 };
	char meta[512];

	snprintf(meta, sizeof(meta), OWNED ",\"annotations\":{\"kube-arbitrator.io/made-of\":\"%s\"}",
		kar_training_digest(training(), of, &arena));
	put_named(w.stores.queuejobs, "t", meta, status);
	kar_arena_release(&arena);
}

#define RECORDED(phase, trainers, running) \
	",\"status\":{\"phase\":\"" phase "\",\"observedGeneration\":1,\"trainers\":" #trainers \
	",\"runningTrainers\":" #running "}"

static const struct {
	const char *name, *spec, *recorded;
	int32_t made_of; /* 0: there is no QueueJob */
	const char *phase;
	int trainers, running, succeeded;
	const char *more, *plan;
} steps[] = {
	{ "new_one_gets_a_queuejob", ELASTIC, "", 0, NULL, 0, 0, 0, "",
		"status phase=creating; create queuejobs ns/t (trainers=5)" },
	{ "what_it_waits_for_is_shown", ELASTIC, RECORDED("creating", 0, 0), 5, "Pending", 0, 0, 0,
		",\"reason\":\"NoFit\",\"message\":\"no room\"",
		"status phase=creating reason=NoFit: no room" },
	{ "it_runs", ELASTIC, RECORDED("creating", 0, 0), 5, "Running", 2, 2, 0, "",
		"status phase=running trainers=2 running=2; event Normal Running: 2 of at most 5 trainers run" },
	{ "it_grows", ELASTIC, RECORDED("running", 2, 2), 5, "Running", 4, 2, 0, "",
		"status phase=scaling trainers=4; event Normal Scaled: 2 more trainers: 4 wanted now" },
	{ "it_has_grown", ELASTIC, RECORDED("scaling", 4, 2), 5, "Running", 4, 4, 0, "",
		"status phase=running running=4" },
	{ "it_shrinks", ELASTIC, RECORDED("running", 4, 4), 5, "Running", 3, 3, 0, "",
		"status phase=running trainers=3 running=3; event Normal Scaled: 1 fewer trainer: 3 wanted now" },
	{ "no_trainer_comes_after_the_first_success", ELASTIC, RECORDED("running", 3, 2), 5, "Running", 3, 2,
		1, "", "status phase=running; patch queuejobs ns/t (trainers=3)" },
	{ "it_succeeds", ELASTIC, RECORDED("running", 3, 3), 3, "Completed", 3, 0, 3,
		",\"completionTime\":\"2026-11-21T13:46:26Z\",\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\",\"reason\":\"Completed\"}]",
		"status phase=succeeded running=0; event Normal Completed: all trainers have succeeded" },
	{ "it_fails", PLAIN, RECORDED("running", 2, 2), 2, "Failed", 2, 0, 0,
		",\"reason\":\"PodFailurePolicy\",\"message\":\"t-trainer-0\",\"completionTime\":\"2026-11-21T13:46:26Z\",\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\",\"reason\":\"PodFailurePolicy\"}]",
		"status phase=failed reason=PodFailurePolicy: t-trainer-0 running=0; event Warning PodFailurePolicy: t-trainer-0" },
	{ "edit_reaches_the_queuejob", ELASTIC, RECORDED("running", 2, 2), 4, "Running", 2, 2, 0, "",
		"status phase=running; patch queuejobs ns/t (trainers=5)" },
	{ "what_has_ended_is_not_made_again", ELASTIC,
		",\"status\":{\"phase\":\"succeeded\",\"observedGeneration\":1,\"completionTime\":\"2026-11-21T13:46:00Z\"}",
		0, NULL, 0, 0, 0, "", "" },
	{ "invalid_says_why", "\"trainer\":{\"min-instance\":2,\"max-instance\":6}", "", 0, NULL, 0, 0, 0, "",
		"status phase=failed reason=Invalid: trainer.max-instance must equal min-instance while fault_tolerant is false; event Warning Invalid: trainer.max-instance must equal min-instance while fault_tolerant is false" },
	{ "mended_it_goes_on", PLAIN, RECORDED("failed", 0, 0), 0, NULL, 0, 0, 0, "",
		"status phase=creating; create queuejobs ns/t (trainers=2)" },
	{ "no_trainer", "\"image\":\"x\"", RECORDED("failed", 0, 0), 0, NULL, 0, 0, 0, "",
		"status phase=failed reason=Invalid: spec.trainer is missing: it says what is trained" },
	{ "minimum_above_maximum",
		"\"fault_tolerant\":true,\"trainer\":{\"min-instance\":3,\"max-instance\":2}",
		RECORDED("failed", 0, 0), 0, NULL, 0, 0, 0, "",
		"status phase=failed reason=Invalid: trainer.min-instance is 3, and max-instance only 2" },
};

static void it_is_kept_in_step_with_its_queuejob(void **state)
{
	for (size_t i = 0; i < KAR_LEN(steps); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_training("", steps[i].spec, steps[i].recorded);
		if (steps[i].made_of)
			put_job(steps[i].made_of,
				job_status(steps[i].phase, steps[i].trainers, steps[i].running,
					steps[i].succeeded, steps[i].more));
		for (int k = 0; k < steps[i].running + steps[i].succeeded; k++) {
			char name[32];

			snprintf(name, sizeof(name), "t-trainer-%d", k);
			put_named(w.stores.pods, name,
				",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"t\",\"uid\":\"uid-t\",\"controller\":true}]",
				"");
		}
		got = sync_named("ns/t") ? printed() : NULL;
		if (!kar_streq(got, steps[i].plan))
			fail_msg("%s: want '%s', got '%s'", steps[i].name, steps[i].plan, got ? got : "-");
	}
}

static void steady_state_writes_nothing(void **state KAR_UNUSED)
{
	put_training("", ELASTIC, "");
	put_job(5, job_status("Running", 2, 2, 0, ""));
	assert_true(sync_named("ns/t"));
	store_status(w.stores.trainingjobs, ",\"spec\":{" ELASTIC "}");
	assert_true(sync_named("ns/t"));
	assert_string_equal(printed(), "");
}

static void names_of_others_are_left_alone(void **state KAR_UNUSED)
{
	put_training("", PLAIN, "");
	put_named(w.stores.queuejobs, "t", "", ",\"spec\":{}");
	assert_true(sync_named("ns/t"));
	assert_string_equal(printed(),
		"status phase=creating reason=NameConflict: QueueJob t exists and has no owner; delete it, or rename the TrainingJob; "
		"event Warning NameConflict: QueueJob t exists and has no owner; delete it, or rename the TrainingJob; requeue 30s");
}

static void refusal_is_said_and_not_repeated(void **state KAR_UNUSED)
{
	struct kar_err err = { .what = KAR_INVALID, .msg = "name is too long" };

	put_training("", PLAIN, "");
	assert_true(sync_named("ns/t"));
	w.controller.refused(&w.sync, &w.sync.plan.actions[0], &err);
	assert_true(sync_named("ns/t"));
	assert_string_equal(printed(),
		"status phase=creating reason=InvalidObject: name is too long; event Warning InvalidObject: name is too long; requeue 10m");
	store_status(w.stores.trainingjobs, ",\"spec\":{" PLAIN "}");
	assert_true(sync_named("ns/t"));
	assert_string_equal(printed(), "requeue 10m");
	w.mono += 601 * KAR_SECOND;
	assert_true(sync_named("ns/t")); /* and is not unsaid while it is tried again */
	assert_string_equal(printed(), "create queuejobs ns/t (trainers=2)");
	w.controller.refused(&w.sync, &w.sync.plan.actions[0], &err);
	assert_true(sync_named("ns/t"));
	assert_string_equal(printed(), "requeue 10m");
	w.mono += 601 * KAR_SECOND;
	assert_true(sync_named("ns/t"));
	err = (struct kar_err){ .what = KAR_DENIED, .msg = "a policy" };
	w.controller.refused(&w.sync, &w.sync.plan.actions[0], &err);
	assert_true(sync_named("ns/t"));
	assert_string_equal(printed(),
		"status phase=creating reason=Forbidden: a policy; event Warning Forbidden: a policy; requeue 30s");
	w.mono += 31 * KAR_SECOND;
	assert_true(sync_named("ns/t"));
	w.controller.wrote(&w.sync, &w.sync.plan.actions[0], NULL);
	put_job(2, job_status("Pending", 0, 0, 0, ""));
	assert_true(sync_named("ns/t"));
	assert_string_equal(printed(), "status phase=creating reason=-");
}

/* Whoever takes our annotation off, perhaps to have it written again, has it back, and no other is lost. */
static void annotation_that_was_taken_off_comes_back(void **state KAR_UNUSED)
{
	static const struct {
		const char *annotations, *patch;
	} rows[] = {
		{ "", "\"path\":\"/metadata/annotations\",\"value\":{\"kube-arbitrator.io/made-of\":\"" },
		{ ",\"annotations\":{\"a\":\"b\"}",
			"\"path\":\"/metadata/annotations/kube-arbitrator.io~1made-of\",\"value\":\"" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf out = { 0 };
		char meta[256];

		put_training("", PLAIN, "");
		snprintf(meta, sizeof(meta), OWNED "%s", rows[i].annotations);
		put_named(w.stores.queuejobs, "t", meta, job_status("Running", 2, 2, 0, ""));
		assert_true(sync_named("ns/t"));
		assert_int_equal(w.sync.plan.n_actions, 1);
		assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[0], &out, NULL), 0);
		assert_non_null(strstr(kar_buf_cstr(&out), rows[i].patch));
		kar_buf_release(&out);
	}
}

static void what_is_rewritten_or_ignored_is_a_condition(void **state KAR_UNUSED)
{
	const struct kar_trainingjob_status *st;

	put_training("",
		"\"pserver\":{\"min-instance\":1,\"max-instance\":2},\"trainer\":{\"min-instance\":1,\"resources\":{\"limits\":{\"alpha.kubernetes.io/nvidia-gpu\":2}}}",
		"");
	assert_true(sync_named("ns/t"));
	st = w.sync.plan.status;
	assert_string_equal(kar_condition_find(&st->conditions, KAR_TRAINING_RENAMED)->message,
		"alpha.kubernetes.io/nvidia-gpu is called nvidia.com/gpu");
	assert_string_equal(kar_condition_find(&st->conditions, KAR_TRAINING_FIXED_PSERVERS)->message,
		"pservers are not scaled: there are min-instance, 1, and max-instance, 2, is ignored");
}

static void queuejob_and_its_end_wake_it(void **state KAR_UNUSED)
{
	const char *key;

	put_training("", PLAIN, "");
	while ((key = kar_workqueue_take(w.controller.queue, w.mono)))
		kar_workqueue_done(w.controller.queue, key);
	put_job(2, job_status("Running", 2, 2, 0, ""));
	key = kar_workqueue_take(w.controller.queue, w.mono);
	assert_non_null(key);
	assert_string_equal(key, "ns/t");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(queuejob_is_made_of_it),
		TEST(annotation_that_was_taken_off_comes_back),
		TEST(all_spellings_mean_the_same),
		TEST(it_is_kept_in_step_with_its_queuejob),
		TEST(steady_state_writes_nothing),
		TEST(names_of_others_are_left_alone),
		TEST(refusal_is_said_and_not_repeated),
		TEST(what_is_rewritten_or_ignored_is_a_condition),
		TEST(queuejob_and_its_end_wake_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
