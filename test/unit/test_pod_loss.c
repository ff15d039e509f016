/* What is kept of a pod that was lost, for failure policies: how its containers ended, its conditions, why it went. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "test/fixture/projection.h"

#define POD(meta, status) \
	"{\"metadata\":{\"name\":\"j-w-0\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\"," \
	"\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}" meta "},\"status\":{" status "}}"
/* Its deletion was asked for at 10:00:10. */
#define GOING ",\"deletionTimestamp\":\"2026-11-21T10:00:40Z\",\"deletionGracePeriodSeconds\":30"
#define ENDED(container, code, reason, at) \
	"{\"name\":\"" container "\",\"state\":{\"terminated\":{\"exitCode\":" #code ",\"reason\":\"" reason \
	"\",\"finishedAt\":" at "}}}"
#define AT(s) "\"2026-11-21T10:00:" s "Z\""
#define RUNS "{\"name\":\"main\",\"state\":{\"running\":{}}}"
#define FAILED(containers) "\"phase\":\"Failed\",\"containerStatuses\":[" containers "]"
#define RUNNING(containers) "\"phase\":\"Running\",\"containerStatuses\":[" containers "]"
#define CONDITION(type, status, reason) \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason "\"}"

static const char *print(const struct kar_pod_loss *loss, struct kar_buf *out)
{
	if (!loss)
		return "none";
	if (loss->pod_reason)
		kar_buf_printf(out, " pod=%s", loss->pod_reason);
	if (loss->disruption)
		kar_buf_printf(out, " disruption=%s", loss->disruption);
	for (size_t i = 0; i < loss->n_exits; i++)
		kar_buf_printf(out, " %s=%d:%s", loss->exits[i].container, (int)loss->exits[i].code,
			loss->exits[i].reason ? loss->exits[i].reason : "");
	for (size_t i = 0; i < loss->n_conditions; i++)
		kar_buf_printf(out, " %s:%s", loss->conditions[i].type, loss->conditions[i].status);
	return out->n ? kar_buf_cstr(out) + 1 : "nothing";
}

static const struct {
	const char *name, *json, *want;
} rows[] = {
	{ "running", POD("", RUNNING(RUNS)), "none" },
	{ "failed_sidecar_of_a_running_pod", POD("", RUNNING(ENDED("side", 1, "Error", AT("01")))), "none" },
	{ "succeeded", POD("", "\"phase\":\"Succeeded\""), "none" },
	{ "succeeded_and_deleted", POD(GOING, "\"phase\":\"Succeeded\""), "none" },
	{ "failed_without_a_word", POD("", FAILED("")), "nothing" },
	{ "every_container_that_failed",
		POD("",
			FAILED(ENDED("main", 3, "Error", AT("01")) "," ENDED("ok", 0, "Completed",
				AT("02")) "," ENDED("side", 137, "OOMKilled", AT("03")))),
		"main=3:Error side=137:OOMKilled" },
	{ "init_containers_come_first",
		POD("",
			"\"initContainerStatuses\":[" ENDED("prepare", 2, "Error", AT("01")) "]," FAILED(
				ENDED("main", 1, "Error", AT("02")))),
		"prepare=2:Error main=1:Error" },
	{ "end_without_a_time", POD("", FAILED(ENDED("main", 137, "ContainerStatusUnknown", "null"))),
		"main=137:ContainerStatusUnknown" },
	{ "reason_of_the_pod", POD("", "\"reason\":\"Evicted\"," FAILED("")), "pod=Evicted" },
	{ "conditions_as_they_are",
		POD("",
			"\"conditions\":[" CONDITION("Ready", "False", "PodFailed") "," CONDITION("Other",
				"True", "") "," CONDITION("Third", "Unknown", "x") "]," FAILED("")),
		"Ready:False Other:True Third:Unknown" },
	{ "disruption",
		POD(GOING,
			"\"conditions\":[" CONDITION("DisruptionTarget", "True",
				"EvictionByEvictionAPI") "]," RUNNING(RUNS)),
		"disruption=EvictionByEvictionAPI DisruptionTarget:True" },
	{ "disruption_that_was_called_off",
		POD(GOING,
			"\"conditions\":[" CONDITION("DisruptionTarget", "False",
				"PreemptionByScheduler") "]," RUNNING(RUNS)),
		"DisruptionTarget:False" },
	{ "deleted", POD(GOING, RUNNING(RUNS)), "nothing" },
	{ "stopped_by_its_deletion", POD(GOING, FAILED(ENDED("main", 143, "Error", AT("12")))), "nothing" },
	{ "stopped_in_the_same_second", POD(GOING, FAILED(ENDED("main", 143, "Error", AT("10")))),
		"nothing" },
	{ "failed_before_it_was_deleted", POD(GOING, FAILED(ENDED("main", 3, "Error", AT("09")))),
		"main=3:Error" },
	{ "deleted_before_it_started",
		POD(GOING, FAILED(ENDED("main", 137, "ContainerStatusUnknown", "null"))), "nothing" },
};

static void loss_is_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_pod *p = pod_of(rows[i].json);
		struct kar_buf out = { 0 };
		const char *got = print(p->job->loss, &out);

		if (strcmp(got, rows[i].want))
			fail_msg("%s: want %s, got %s", rows[i].name, rows[i].want, got);
		kar_buf_release(&out);
		kar_object_unref(&p->o);
	}
}

static void loss_is_bounded(void **state)
{
	struct kar_buf containers = { 0 }, json = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++)
		kar_buf_printf(&containers, "%s" ENDED("main", 3, "Error", "null"), i ? "," : "");
	kar_buf_puts(&json,
		"{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\","
		"\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}},\"status\":{\"phase\":\"Failed\",");
	kar_buf_printf(&json, "\"initContainerStatuses\":[%s],\"containerStatuses\":[%s],\"conditions\":[",
		kar_buf_cstr(&containers), kar_buf_cstr(&containers));
	for (int i = 0; i < 100; i++)
		kar_buf_printf(&json, "%s" CONDITION("A", "True", ""), i ? "," : "");
	kar_buf_puts(&json, "]}}");

	const struct kar_pod *p = pod_of(kar_buf_cstr(&json));

	assert_int_equal(p->job->loss->n_exits, KAR_POD_EXITS_MAX);
	assert_int_equal(p->job->loss->n_conditions, KAR_POD_CONDITIONS_MAX);
	kar_object_unref(&p->o);
	kar_buf_release(&containers);
	kar_buf_release(&json);
}

/* Nothing in the API bounds them; what a person or a rule may ask for is far shorter. */
static void texts_are_bounded(void **state)
{
	struct kar_buf json = { 0 };
	char text[20000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	kar_buf_printf(&json,
		"{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\","
		"\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"},"
		"\"ownerReferences\":[{\"kind\":\"%s\",\"name\":\"%s\",\"uid\":\"o\",\"controller\":true}]},"
		"\"spec\":{\"nodeName\":\"%s\"},\"status\":{\"phase\":\"Failed\",\"reason\":\"%s\",",
		text, text, text, text);
	kar_buf_printf(&json,
		"\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"%s\"}],"
		"\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":1,\"reason\":\"%s\"}}}]}}",
		text, text);

	const struct kar_pod *p = pod_of(kar_buf_cstr(&json));
	const struct kar_pod_loss *loss = p->job->loss;

	assert_int_equal(strlen(loss->reason), KAR_POD_REASON_BYTES - 1);
	assert_ptr_equal(loss->pod_reason, loss->reason);
	assert_ptr_equal(loss->disruption, loss->reason);
	assert_ptr_equal(loss->exits[0].reason, loss->reason);
	assert_int_equal(strlen(p->node), KAR_POD_OTHER_NAME_BYTES - 1);
	assert_string_equal(p->node + KAR_POD_OTHER_NAME_BYTES - 5, "x...");
	assert_ptr_equal(p->owner_name, p->node);
	assert_int_equal(strlen(p->owner_kind), KAR_POD_KIND_BYTES - 1);
	kar_object_unref(&p->o);
	kar_buf_release(&json);
}

#define WAITS(phase, reasons) POD("", "\"phase\":\"" phase "\",\"containerStatuses\":[" reasons "]")
#define FOR(reason) "{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":\"" reason "\",\"message\":\"m\"}}}"

/* Why a pod does not start; what every pod goes through is no reason. */
static void stuck_containers_are_told(void **state)
{
	static const struct {
		const char *json, *want;
	} samples[] = {
		{ WAITS("Pending", FOR("ContainerCreating")), NULL },
		{ WAITS("Pending", FOR("PodInitializing")), NULL },
		{ WAITS("Pending", FOR("ImagePullBackOff")), "ImagePullBackOff" },
		{ WAITS("Pending", FOR("ErrImagePull")), "ImagePullBackOff" },
		{ WAITS("Pending", FOR("ContainerCreating") "," FOR("CreateContainerConfigError")),
			"CreateContainerConfigError" },
		{ WAITS("Running", FOR("CrashLoopBackOff")), NULL },
		{ POD("",
			  "\"phase\":\"Pending\",\"initContainerStatuses\":[" FOR(
				  "InvalidImageName") "],"
						      "\"containerStatuses\":[" FOR("ImagePullBackOff") "]"),
			"InvalidImageName" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(samples); i++) {
		const struct kar_pod *p = pod_of(samples[i].json);
		const char *got = kar_pod_waits(p) ? kar_pod_waits(p)->reason : NULL;

		if (!got != !samples[i].want || (got && strcmp(got, samples[i].want) != 0))
			fail_msg("%s: %s", samples[i].json, got ? got : "none");
		assert_int_equal(!p->job->loss, !samples[i].want);
		kar_object_unref(&p->o);
	}
}

#define SAYS(reason, message) \
	"{\"name\":\"c\",\"image\":\"busybox\",\"state\":{\"waiting\":{\"reason\":\"" reason \
	"\",\"message\":\"" message "\"}}}"
#define LAST_WORDS(code, at, message) \
	"{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":" #code ",\"finishedAt\":" at \
	",\"message\":\"" message "\"}}}"

/* What the kubelet says of a container that does not start, and a container before it ends: one printable line, bounded. */
static void words_are_kept(void **state)
{
	static const char back_off[] = "Back-off pulling image \"busybox\": ErrImagePull: not found";
	static const struct {
		const char *json, *want;
	} samples[] = {
		{ WAITS("Pending", SAYS("CreateContainerConfigError", "secret \\\"s\\\"\\n not  found")),
			"secret \"s\" not found" },
		{ WAITS("Pending", SAYS("ErrImagePull", "not found")), back_off },
		{ WAITS("Pending",
			  SAYS("ImagePullBackOff",
				  "Back-off pulling image \\\"busybox\\\": ErrImagePull: not found")),
			back_off },
		{ WAITS("Pending", SAYS("ImagePullBackOff", "")), NULL },
		{ POD("",
			  FAILED(LAST_WORDS(1, AT("02"), "killed") "," LAST_WORDS(1, AT("01"),
				  "\\tCUDA out of\\n\\u001b memory\\n"))),
			"CUDA out of memory" },
		{ POD("", FAILED(LAST_WORDS(1, AT("02"), ""))), NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(samples); i++) {
		const struct kar_pod *p = pod_of(samples[i].json);
		const struct kar_pod_trouble *t = kar_pod_waits(p);
		const char *got = t ? t->message : kar_pod_loss_of(p)->words;

		if (!kar_streq(got, samples[i].want))
			fail_msg("%s: %s", samples[i].json, got ? got : "none");
		kar_object_unref(&p->o);
	}
}

static void words_are_bounded(void **state)
{
	struct kar_buf json = { 0 };
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	kar_buf_printf(&json,
		POD("", FAILED("{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":1,\"message\":\"%s\"}}}")),
		text);

	const struct kar_pod *p = pod_of(kar_buf_cstr(&json));

	assert_int_equal(strlen(p->job->loss->words), KAR_POD_WORDS_BYTES - 1);
	kar_object_unref(&p->o);
	kar_buf_release(&json);
}

/* A pod with a native sidecar "proxy" and the containers "main" and "helper". */
#define WITH_SPEC(policy, status) \
	"{\"metadata\":{\"name\":\"j-w-0\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\"," \
	"\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}},\"spec\":{\"restartPolicy\":\"" policy \
	"\",\"initContainers\":[{\"name\":\"proxy\",\"restartPolicy\":\"Always\"}]," \
	"\"containers\":[{\"name\":\"main\"},{\"name\":\"helper\"}]},\"status\":{" status "}}"
#define KILLED "\"terminated\":{\"exitCode\":137,\"reason\":\"Error\",\"finishedAt\":" AT("04") "}"
#define PROXY(state) \
	"\"initContainerStatuses\":[{\"name\":\"proxy\",\"restartCount\":2,\"state\":{" state "}}],"
#define HELPER_RUNS "{\"name\":\"helper\",\"state\":{\"running\":{\"startedAt\":" AT("00") "}}}"

static void sidecars_decide_nothing(void **state)
{
	static const struct {
		const char *name, *json, *want;
		int32_t code, restarts;
	} samples[] = {
		{ "killed_first_and_in_the_same_second",
			WITH_SPEC("Never", PROXY(KILLED) FAILED(ENDED("main", 42, "Error", AT("05")))),
			"main=42:Error", 42, 0 },
		{ "alone", WITH_SPEC("Never", PROXY(KILLED) FAILED("")), "nothing", 0, 0 },
		{ "restarts_of_a_sidecar", WITH_SPEC("OnFailure", PROXY(KILLED) RUNNING(RUNS)), "nothing", 0,
			0 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(samples); i++) {
		const struct kar_pod *p = pod_of(samples[i].json);
		struct kar_buf out = { 0 };
		const char *got = print(p->job->loss, &out);

		if (strcmp(got, samples[i].want))
			fail_msg("%s: want %s, got %s", samples[i].name, samples[i].want, got);
		assert_int_equal(kar_pod_loss_of(p)->exit_code, samples[i].code);
		assert_int_equal(kar_pod_loss_of(p)->restarts, samples[i].restarts);
		kar_buf_release(&out);
		kar_object_unref(&p->o);
	}
}

/* A container that is not restarted, in a pod that another one keeps running. */
static void containers_that_ended_beside_others_are_known(void **state)
{
	static const struct {
		const char *name, *json, *want;
	} samples[] = {
		{ "main_failed",
			WITH_SPEC("Never",
				RUNNING(ENDED("main", 137, "OOMKilled", AT("05")) "," HELPER_RUNS)),
			"main=137:OOMKilled beside helper" },
		{ "helper_failed",
			WITH_SPEC("Never", RUNNING(RUNS "," ENDED("helper", 1, "Error", AT("05")))),
			"helper=1:Error beside main" },
		{ "main_succeeded",
			WITH_SPEC("OnFailure",
				RUNNING(ENDED("main", 0, "Completed", AT("05")) "," HELPER_RUNS)),
			"main=0:Completed beside helper" },
		{ "helper_succeeded",
			WITH_SPEC("Never", RUNNING(RUNS "," ENDED("helper", 0, "Completed", AT("05")))),
			NULL },
		{ "will_be_restarted",
			WITH_SPEC("OnFailure", RUNNING(ENDED("main", 1, "Error", AT("05")) "," HELPER_RUNS)),
			NULL },
		{ "only_the_sidecar_runs",
			WITH_SPEC("Never",
				PROXY("\"running\":{}") RUNNING(ENDED("main", 1, "Error", AT("05")))),
			NULL },
		{ "all_run", WITH_SPEC("Never", RUNNING(RUNS "," HELPER_RUNS)), NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(samples); i++) {
		const struct kar_pod *p = pod_of(samples[i].json);
		const struct kar_pod_trouble *t = kar_pod_half_ended(p);
		struct kar_buf out = { 0 };
		const char *got = NULL;

		if (t) {
			kar_buf_printf(&out, "%s=%d:%s beside %s", t->container, (int)t->code, t->reason,
				t->beside);
			got = kar_buf_cstr(&out);
		}
		if (!kar_streq(got, samples[i].want))
			fail_msg("%s: %s", samples[i].name, got ? got : "none");
		assert_null(kar_pod_waits(p));
		assert_null(kar_pod_crashes(p));
		kar_buf_release(&out);
		kar_object_unref(&p->o);
	}
}

#define CRASHED(name, restarts, state, last) \
	"{\"name\":\"" name "\",\"restartCount\":" #restarts ",\"state\":{" state "},\"lastState\":{" last \
	"}}"
#define END(code, reason, at) \
	"\"terminated\":{\"exitCode\":" #code ",\"reason\":\"" reason "\",\"finishedAt\":" at "}"
#define BACKS_OFF "\"waiting\":{\"reason\":\"CrashLoopBackOff\"}"
#define RUNS_SINCE(at) "\"running\":{\"startedAt\":" at "}"
#define ON_FAILURE(phase, init, containers) \
	"{\"metadata\":{\"name\":\"j-w-0\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\"," \
	"\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}},\"spec\":{\"restartPolicy\":\"OnFailure\"}," \
	"\"status\":{\"phase\":\"" phase "\",\"initContainerStatuses\":[" init \
	"],\"containerStatuses\":[" containers "]}}"

/* How often the containers of a pod were restarted, and which one crashes. */
static void restarts_are_counted(void **state)
{
	static const struct {
		const char *name, *json, *want;
	} samples[] = {
		{ "waits_for_its_restart",
			ON_FAILURE("Running", "", CRASHED("main", 3, BACKS_OFF, END(1, "Error", AT("05")))),
			"3 main=1:Error x3 ended" },
		{ "between_end_and_restart",
			ON_FAILURE("Running", "",
				CRASHED("main", 1, END(2, "Error", AT("09")), END(1, "Error", AT("05")))),
			"1 main=2:Error x1 ended" },
		{ "runs_again",
			ON_FAILURE("Running", "",
				CRASHED("main", 1, RUNS_SINCE(AT("07")), END(137, "OOMKilled", AT("05")))),
			"1 main=137:OOMKilled x1 ended runs" },
		{ "first_failure_is_no_restart",
			ON_FAILURE("Running", "", CRASHED("main", 0, END(1, "Error", AT("05")), "")), "0" },
		{ "success_after_a_crash",
			ON_FAILURE("Running", "",
				CRASHED("main", 1, END(0, "Completed", AT("09")), END(1, "Error", AT("05")))),
			"1" },
		{ "restart_of_a_container_that_ended_well",
			ON_FAILURE("Running", "",
				CRASHED("main", 1, RUNS_SINCE(AT("07")), END(0, "Completed", AT("05")))),
			"1" },
		{ "last_failure_is_shown_all_restarts_count",
			ON_FAILURE("Running",
				CRASHED("init", 2, END(0, "Completed", AT("03")), END(1, "Error", AT("02"))),
				CRASHED("a", 1, BACKS_OFF, END(4, "A", AT("05"))) "," CRASHED("b", 5,
					BACKS_OFF, END(5, "B", AT("06"))) "," CRASHED("c", 1, BACKS_OFF,
					END(6, "C", AT("04")))),
			"9 b=5:B x5 ended" },
		{ "init_container_crashes",
			ON_FAILURE("Pending", CRASHED("init", 2, BACKS_OFF, END(1, "Error", AT("02"))),
				FOR("PodInitializing")),
			"2 init=1:Error x2 ended" },
		{ "pod_that_has_failed",
			ON_FAILURE("Failed", "", CRASHED("main", 3, END(1, "Error", AT("05")), "")), "0" },
		{ "negative_counts_are_none",
			ON_FAILURE("Running", "", CRASHED("main", -3, BACKS_OFF, END(1, "Error", AT("05")))),
			"0" },
		{ "sum_is_bounded",
			ON_FAILURE("Running", "",
				CRASHED("a", 2147483647, RUNS_SINCE(AT("07")), "") "," CRASHED("b",
					2147483647, RUNS_SINCE(AT("07")), "")),
			"2147483647" },
		{ "never_counts_nothing",
			POD("", RUNNING(CRASHED("side", 3, BACKS_OFF, END(1, "Error", AT("05"))))),
			"0 side=1:Error x3 ended" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(samples); i++) {
		const struct kar_pod *p = pod_of(samples[i].json);
		const struct kar_pod_trouble *t = kar_pod_crashes(p);
		struct kar_buf out = { 0 };

		kar_buf_printf(&out, "%d", (int)kar_pod_loss_of(p)->restarts);
		if (t)
			kar_buf_printf(&out, " %s=%d:%s x%d%s%s", t->container, (int)t->code, t->reason,
				(int)t->restarts, t->ended ? " ended" : "", t->since ? " runs" : "");
		if (strcmp(kar_buf_cstr(&out), samples[i].want))
			fail_msg("%s: want %s, got %s", samples[i].name, samples[i].want, kar_buf_cstr(&out));
		kar_buf_release(&out);
		kar_object_unref(&p->o);
	}
}

static size_t size_of(const char *json)
{
	const struct kar_pod *p = pod_of(json);
	size_t n = malloc_usable_size((void *)(uintptr_t)p);

	kar_object_unref(&p->o);
	return n;
}

/* Others' pods, and ours as long as they are there, cost nothing more. */
static void only_lost_pods_pay(void **state)
{
	static const char others[] =
		"{\"metadata\":{\"name\":\"j-w-0\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\"},"
		"\"status\":{\"phase\":\"Failed\",\"containerStatuses\":[" ENDED("main", 3, "Error",
			AT("01")) "]}}";

	(void)state;
	assert_true(
		size_of(POD("", RUNNING(RUNS))) <= sizeof(struct kar_pod) + sizeof(struct kar_pod_job) + 24);
	assert_true(size_of(others) <= sizeof(struct kar_pod) + 24);
	assert_true(size_of(POD("", FAILED(ENDED("main", 3, "Error", AT("01"))))) >
		size_of(POD("", RUNNING(RUNS))) + sizeof(struct kar_pod_exit));
	assert_true(sizeof(struct kar_pod_job) <= 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(loss_is_kept),
		TEST(loss_is_bounded),
		TEST(texts_are_bounded),
		TEST(stuck_containers_are_told),
		TEST(sidecars_decide_nothing),
		TEST(containers_that_ended_beside_others_are_known),
		TEST(words_are_kept),
		TEST(words_are_bounded),
		TEST(restarts_are_counted),
		TEST(only_lost_pods_pay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
