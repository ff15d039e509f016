/* QueueJobs as the API serves them, what is kept of them, what is wrong with them, and their status as it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/projection.h"

static void give_back(const struct kar_queuejob *job)
{
	kar_object_unref(&job->o);
}

static const char spec[] =
	"\"spec\":{\"queue\":\"a\",\"suspend\":true,\"schedulerName\":\"s\","
	"\"selector\":{\"matchLabels\":{\"x\":\"1\"},\"matchExpressions\":[{\"key\":\"y\",\"operator\":\"Exists\"},"
	"{\"key\":\"z\",\"operator\":\"NotIn\",\"values\":[\"a\",\"b\"]}]},"
	"\"schedSpec\":{\"minAvailable\":0,\"priority\":-5,\"priorityClassName\":\"high\",\"nodeSelector\":{\"b\":\"2\","
	"\"a\":\"1\"},\"scheduleTimeoutSeconds\":9,\"mode\":\"Strict\",\"matchPolicy\":\"OnlyWaiting\","
	"\"gangGroups\":[\"ns/x\"]},"
	"\"backoffLimit\":0,\"activeDeadlineSeconds\":100,\"ttlSecondsAfterFinished\":0,"
	"\"successPolicy\":{\"minSucceeded\":2,\"tasks\":[\"m\"]},"
	"\"taskSpecs\":[{\"name\":\"m\",\"minAvailable\":1,\"priority\":7,\"template\":{\"metadata\":{\"labels\":{\"x\":\"1\","
	"\"y\":\"\"}},\"spec\":{\"priorityClassName\":\"pc\",\"schedulerName\":\"own\",\"nodeSelector\":{\"a\":\"1\"},"
	"\"containers\":[{\"name\":\"c\"}]}}},{\"replicas\":3," TEMPLATE "}]}";

static void spec_is_projected(void **state)
{
	char json[8192];
	const struct kar_queuejob *job;
	const struct kar_queuejob_spec *s;

	(void)state;
	snprintf(json, sizeof(json), "{" JOB_META ",\"finalizers\":[\"orphan\"]},%s}", spec);
	job = job_of(json);
	s = &job->spec;
	assert_string_equal(job->o.name, "j");
	assert_int_equal(job->generation, 2);
	assert_true(job->has_orphan_finalizer);
	assert_string_equal(s->queue, "a");
	assert_true(s->suspend);
	assert_string_equal(s->scheduler_name, "s");
	assert_string_equal(s->selector, "x=1,y,z notin (a,b)");
	assert_true(s->sched.has_min_available);
	assert_int_equal(kar_queuejob_min_available(s), 0);
	assert_int_equal(s->sched.priority, -5);
	assert_string_equal(((const struct kar_pair *)s->sched.node_selector.items)[0].key, "a");
	assert_int_equal(s->backoff_limit, 0);
	assert_int_equal(s->active_deadline_seconds, 100);
	assert_true(s->has_ttl);
	assert_int_equal(s->min_succeeded, 2);
	assert_int_equal(s->n_tasks, 2);
	assert_int_equal(s->tasks[0].replicas, 1);
	assert_int_equal(s->tasks[0].min_available, 1);
	assert_int_equal(s->tasks[0].priority, 7);
	assert_string_equal(s->tasks[0].template_priority_class, "pc");
	assert_string_equal(s->tasks[0].template_scheduler, "own");
	assert_string_equal(kar_pairs_get(&s->tasks[0].template_labels, "x"), "1");
	assert_string_equal(s->tasks[1].name, "task1");
	assert_memory_equal(s->tasks[1].template_raw.p, "{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}",
		s->tasks[1].template_raw.n);
	assert_int_equal(kar_queuejob_total(s), 4);
	give_back(job);
}

static void absent_members_get_their_defaults(void **state)
{
	const struct kar_queuejob *job = job_of(JOB("\"taskSpecs\":[{\"replicas\":3," TEMPLATE "}]"));
	const struct kar_queuejob_spec *s = &job->spec;

	(void)state;
	assert_string_equal(s->queue, "default");
	assert_string_equal(s->selector, "kube-arbitrator.io/queuejob=j");
	assert_int_equal(s->backoff_limit, 6);
	assert_string_equal(s->tasks[0].name, "task0");
	assert_int_equal(kar_queuejob_min_available(s), 3);
	assert_false(s->has_ttl || s->has_active_deadline || s->has_min_succeeded || s->sched.has_priority);
	assert_int_equal(job->status.phase, KAR_QJ_PHASE_NONE);
	assert_string_equal(job->status.template_hash, "");
	assert_null(job->invalid);
	give_back(job);
}

/* That it selects everything helps nobody. */
static void empty_selector_is_none(void **state)
{
	static const char *const selectors[] = { "{}", "{\"matchLabels\":{}}", "{\"matchExpressions\":[]}" };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(selectors); i++) {
		char json[512];

		snprintf(json, sizeof(json), JOB("\"selector\":%s,\"taskSpecs\":[{" TEMPLATE "}]"),
			selectors[i]);

		const struct kar_queuejob *job = job_of(json);

		assert_string_equal(job->spec.selector, "kube-arbitrator.io/queuejob=j");
		assert_null(job->invalid);
		give_back(job);
	}
}

#define DNS "\"network\":{\"enableDNSHostnames\":true}"

/* enableDNSHostnames, publishNotReadyAddresses */
static void network_has_its_defaults(void **state)
{
	static const struct {
		const char *json;
		bool hostnames, publish;
	} rows[] = {
		{ JOB("\"taskSpecs\":[{" TEMPLATE "}]"), false, true },
		{ JOB("\"network\":{},\"taskSpecs\":[{" TEMPLATE "}]"), false, true },
		{ JOB(DNS ",\"taskSpecs\":[{" TEMPLATE "}]"), true, true },
		{ JOB("\"network\":{\"enableDNSHostnames\":true,\"publishNotReadyAddresses\":false},"
		      "\"taskSpecs\":[{" TEMPLATE "}]"),
			true, false },
		{ JOB(DNS ",\"taskSpecs\":[{\"template\":{\"spec\":{\"hostname\":\"\",\"subdomain\":\"j\","
			  "\"containers\":[{}]}}}]"),
			true, true },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob *job = job_of(rows[i].json);

		if (job->invalid || job->spec.dns_hostnames != rows[i].hostnames ||
			job->spec.publish_not_ready != rows[i].publish)
			fail_msg("%s: %s %d %d", rows[i].json, job->invalid ? job->invalid : "",
				job->spec.dns_hostnames, job->spec.publish_not_ready);
		give_back(job);
	}
}

static void unusable_specs_say_why(void **state)
{
	static const struct {
		const char *json, *problem;
	} rows[] = {
		{ JOB("\"taskSpecs\":[]"), "taskSpecs is empty" },
		{ JOB("\"taskSpecs\":[{\"name\":\"w\"}]"), "task w: template: is missing" },
		{ JOB("\"taskSpecs\":[{\"template\":{\"spec\":{\"containers\":[]}}}]"),
			"task task0: template: spec.containers is empty" },
		{ JOB("\"taskSpecs\":[{\"template\":{\"spec\":{}}}]"),
			"task task0: template: spec.containers is empty" },
		{ JOB("\"taskSpecs\":[{\"template\":{\"spec\":{\"containers\":[1]}}}]"),
			"task task0: template: spec.containers is not an array of objects" },
		{ JOB("\"taskSpecs\":[{\"template\":{\"spec\":{\"containers\":{}}}}]"),
			"task task0: template: spec.containers is not an array of objects" },
		{ JOB("\"taskSpecs\":[{\"template\":{\"spec\":{\"containers\":[{}],\"initContainers\":[[]]}}}]"),
			"task task0: template: spec.initContainers is not an array of objects" },
		{ JOB("\"taskSpecs\":[{\"template\":{\"spec\":{\"containers\":[{},{\"env\":\"x\"}]}}}]"),
			"task task0: template: spec.containers[1]: env is not an array of objects" },
		{ JOB("\"taskSpecs\":[{\"template\":{\"spec\":{\"restartPolicy\":\"Always\",\"containers\":[{}]}}}]"),
			"task task0: template: spec.restartPolicy is Always, and the pods of a job must end" },
		{ JOB("\"schedSpec\":{\"minAvailable\":2},\"taskSpecs\":[{" TEMPLATE "}]"),
			"schedSpec.minAvailable 2 is more than the 1 replicas of all tasks" },
		{ JOB("\"taskSpecs\":[{\"replicas\":60000," TEMPLATE "},{\"replicas\":60000," TEMPLATE "}]"),
			"all tasks together want 120000 pods, and a job can have at most 100000" },
		{ JOB("\"taskSpecs\":[{\"replicas\":2147483647," TEMPLATE
		      "},{\"replicas\":2147483647," TEMPLATE "}]"),
			"all tasks together want 2147483647 pods, and a job can have at most 100000" },
		{ JOB("\"taskSpecs\":[{\"name\":\"task1\"," TEMPLATE "},{" TEMPLATE "}]"),
			"two tasks have the name task1" },
		{ JOB("\"schedSpec\":{\"nodeSelector\":{\"disk\":\"hdd\"}},\"taskSpecs\":[{\"template\":{\"spec\":{"
		      "\"nodeSelector\":{\"disk\":\"ssd\"},\"containers\":[{}]}}}]"),
			"task task0: nodeSelector disk=ssd of the template contradicts disk=hdd of schedSpec.nodeSelector" },
		{ JOB(DNS ",\"taskSpecs\":[{\"template\":{\"spec\":{\"hostname\":\"h\",\"containers\":[{}]}}}]"),
			"task task0: hostname h of the template contradicts network.enableDNSHostnames, "
			"by which it is the name of the pod" },
		{ JOB(DNS ",\"taskSpecs\":[{\"template\":{\"spec\":{\"subdomain\":\"s\",\"containers\":[{}]}}}]"),
			"task task0: subdomain s of the template contradicts network.enableDNSHostnames, "
			"by which it is the name of the job" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob *job = job_of(rows[i].json);

		if (!job->invalid || strcmp(job->invalid, rows[i].problem))
			fail_msg("%s\n  want: %s\n  got:  %s", rows[i].json, rows[i].problem,
				job->invalid ? job->invalid : "nothing wrong");
		give_back(job);
	}
}

/* Against the labels {a: 1, b: ""}. */
static void selector_must_match_the_template(void **state)
{
	static const struct {
		const char *selector;
		bool matches;
	} rows[] = {
		{ "{}", true },
		{ "{\"matchLabels\":{\"a\":\"1\"}}", true },
		{ "{\"matchLabels\":{\"a\":\"2\"}}", false },
		{ "{\"matchLabels\":{\"c\":\"1\"}}", false },
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"0\",\"1\"]}]}",
			true },
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"0\"]}]}", false },
		{ "{\"matchExpressions\":[{\"key\":\"c\",\"operator\":\"In\",\"values\":[\"0\"]}]}", false },
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"1\"]}]}",
			false },
		{ "{\"matchExpressions\":[{\"key\":\"c\",\"operator\":\"NotIn\",\"values\":[\"1\"]}]}",
			true },
		{ "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\"}]}", true },
		{ "{\"matchExpressions\":[{\"key\":\"c\",\"operator\":\"Exists\"}]}", false },
		{ "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"DoesNotExist\"}]}", false },
		{ "{\"matchExpressions\":[{\"key\":\"c\",\"operator\":\"DoesNotExist\"}]}", true },
		{ "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"0\"]}]}", false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char json[1024];
		const struct kar_queuejob *job;

		snprintf(json, sizeof(json),
			JOB("\"selector\":%s,\"taskSpecs\":[{\"template\":{\"metadata\":{\"labels\":{"
			    "\"a\":\"1\",\"b\":\"\"}},\"spec\":{\"containers\":[{}]}}}]"),
			rows[i].selector);
		job = job_of(json);
		if ((job->invalid == NULL) != rows[i].matches)
			fail_msg("%s: %s", rows[i].selector, job->invalid ? job->invalid : "matches");
		give_back(job);
	}
}

static void hash_ignores_what_does_not_matter(void **state)
{
	static const struct {
		const char *json;
		bool same;
	} rows[] = {
		{ JOB("\"taskSpecs\":[{\"name\":\"w\",\"template\":{\"a\":1,\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}]"),
			true },
		{ JOB("\"taskSpecs\":[{\"name\":\"w\",\"replicas\":5,\"template\":{ \"spec\" : {\"containers\": "
		      "[{\"name\":\"\\u0063\"}]},\"a\":1}}],\"backoffLimit\":3"),
			true },
		{ JOB("\"taskSpecs\":[{\"name\":\"w\",\"template\":{\"a\":2,\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}]"),
			false },
		{ JOB("\"network\":{\"publishNotReadyAddresses\":false},\"taskSpecs\":[{\"name\":\"w\",\"template\":{"
		      "\"a\":1,\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}]"),
			true },
		{ JOB(DNS ",\"taskSpecs\":[{\"name\":\"w\",\"template\":{\"a\":1,"
			  "\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}]"),
			false },
		{ JOB("\"taskSpecs\":[{\"name\":\"v\",\"template\":{\"a\":1,\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}]"),
			false },
		{ JOB("\"schedSpec\":{\"priorityClassName\":\"high\",\"nodeSelector\":{}},\"taskSpecs\":[{\"name\":\"w\","
		      "\"template\":{\"a\":1,\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}]"),
			true },
	};
	const struct kar_queuejob *first = job_of(rows[0].json);

	(void)state;
	/* Written out: another version of the manager must come to the same result. */
	assert_string_equal(first->spec_template_hash, "d05e9af7e34b794a");
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob *job = job_of(rows[i].json);

		if ((strcmp(job->spec_template_hash, first->spec_template_hash) == 0) != rows[i].same)
			fail_msg("row %zu: %s", i, job->spec_template_hash);
		give_back(job);
	}
	give_back(first);
}

#define SELECTED(pairs, more) \
	JOB("\"schedSpec\":{\"nodeSelector\":{" pairs "}},\"taskSpecs\":[{" TEMPLATE "}]" more)
#define SCHEDULED(text, scheduler) \
	JOB(text "\"taskSpecs\":[{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]" scheduler "}}}]")

/* What the job adds to its pods changes them as an edit of their template does. */
static void hash_is_of_what_the_job_adds_too(void **state)
{
	static const struct {
		const char *name, *a, *b;
		bool same;
	} rows[] = {
		{ "node selector is added", SELECTED("", ""), SELECTED("\"a\":\"1\"", ""), false },
		{ "its value", SELECTED("\"a\":\"1\"", ""), SELECTED("\"a\":\"2\"", ""), false },
		{ "its key", SELECTED("\"a\":\"1\"", ""), SELECTED("\"b\":\"1\"", ""), false },
		{ "values that change places", SELECTED("\"a\":\"1\",\"b\":\"2\"", ""),
			SELECTED("\"a\":\"2\",\"b\":\"1\"", ""), false },
		{ "another order", SELECTED("\"a\":\"1\",\"b\":\"2\"", ""),
			SELECTED("\"b\":\"2\",\"a\":\"1\"", ""), true },
		{ "what is no part of a pod", SELECTED("\"a\":\"1\"", ""),
			SELECTED("\"a\":\"1\"", ",\"backoffLimit\":3"), true },
		{ "scheduler is set", SCHEDULED("", ""), SCHEDULED("\"schedulerName\":\"x\",", ""), false },
		{ "its name", SCHEDULED("\"schedulerName\":\"x\",", ""),
			SCHEDULED("\"schedulerName\":\"y\",", ""), false },
		{ "the template has its own",
			SCHEDULED("\"schedulerName\":\"x\",", ",\"schedulerName\":\"z\""),
			SCHEDULED("\"schedulerName\":\"y\",", ",\"schedulerName\":\"z\""), true },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob *a = job_of(rows[i].a), *b = job_of(rows[i].b);

		if ((strcmp(a->spec_template_hash, b->spec_template_hash) == 0) != rows[i].same)
			fail_msg("%s: %s %s", rows[i].name, a->spec_template_hash, b->spec_template_hash);
		give_back(a);
		give_back(b);
	}
}

static const char status[] =
	"{\"phase\":\"Restarting\",\"reason\":\"PodFailed\",\"message\":\"m\",\"observedGeneration\":2,\"selector\":\"a=b\","
	"\"replicas\":9,\"desired\":8,\"pending\":1,\"running\":2,\"succeeded\":3,\"failed\":4,\"terminating\":5,"
	"\"minAvailable\":6,\"incarnation\":2,\"formedMinAvailable\":6,\"restarts\":1,\"podFailures\":7,\"disruptions\":10,"
	"\"backoffSteps\":11,\"scheduleTimeouts\":14,\"lastFailureTime\":\"2026-11-21T10:00:01Z\",\"templateHash\":\"h\",\"podsResourceVersion\":\"77\","
	"\"startTime\":\"2026-11-21T10:00:02Z\",\"completionTime\":\"2026-11-21T10:00:03Z\","
	"\"lastScaleTime\":\"2026-11-21T10:00:04Z\",\"lastRestart\":{\"time\":\"2026-11-21T10:00:05Z\",\"reason\":\"r\","
	"\"message\":\"mm\",\"pod\":\"p\",\"node\":\"n\",\"exitCode\":12},\"position\":13,"
	"\"tasks\":[{\"name\":\"w\",\"replicas\":1,\"desired\":2,\"pending\":3,\"running\":4,\"succeeded\":5,\"failed\":6,"
	"\"started\":true,\"succeededIndexes\":\"0-4\",\"restartTime\":\"2026-11-21T10:00:07Z\"}],\"countedPods\":[\"u1\",\"u2\"],"
	"\"conditions\":[{\"type\":\"Formed\",\"status\":\"False\",\"observedGeneration\":2,"
	"\"lastTransitionTime\":\"2026-11-21T10:00:06Z\",\"reason\":\"R\",\"message\":\"\"}]}";

static void write(const struct kar_queuejob_status *s, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_queuejob_status_write(&w, s);
	kar_json_writer_release(&w);
}

static const struct kar_queuejob *job_with_status(const char *text)
{
	char json[8192];

	snprintf(json, sizeof(json), "{" JOB_META "},\"spec\":{},\"status\":%s}", text);
	return job_of(json);
}

static void status_survives_the_round_trip(void **state)
{
	const struct kar_queuejob *job = job_with_status(status);
	struct kar_buf out = { 0 };

	(void)state;
	write(&job->status, &out);
	assert_string_equal(kar_buf_cstr(&out), status);
	kar_buf_release(&out);
	give_back(job);
}

/* A merge patch removes only what is null, and 0 is shown. */
static void absent_status_members_are_written_as_null(void **state)
{
	const struct kar_queuejob *job = job_with_status("{}");
	struct kar_buf out = { 0 };

	(void)state;
	write(&job->status, &out);
	assert_string_equal(kar_buf_cstr(&out),
		"{\"phase\":\"\",\"reason\":null,\"message\":null,\"observedGeneration\":0,\"selector\":null,\"replicas\":0,"
		"\"desired\":0,\"pending\":0,\"running\":0,\"succeeded\":0,\"failed\":0,\"terminating\":0,\"minAvailable\":0,"
		"\"incarnation\":0,\"formedMinAvailable\":0,\"restarts\":0,\"podFailures\":0,\"disruptions\":0,\"backoffSteps\":0,\"scheduleTimeouts\":0,"
		"\"lastFailureTime\":null,\"templateHash\":null,\"podsResourceVersion\":null,\"startTime\":null,\"completionTime\":null,\"lastScaleTime\":null,"
		"\"lastRestart\":null,\"position\":0,\"tasks\":[],\"countedPods\":null,\"conditions\":[]}");
	kar_buf_release(&out);
	give_back(job);
}

/* Replaces one value of the status above by another and compares. */
static void every_status_member_matters(void **state)
{
	static const struct {
		const char *old, *new;
		bool counter;
	} rows[] = {
		{ "Restarting", "Running", false },
		{ "PodFailed", "X", false },
		{ "\"m\"", "\"x\"", true }, /* while it restarts it counts pods */
		{ "Generation\":2,\"sel", "Generation\":3,\"sel", false },
		{ "a=b", "a=c", false },
		{ "\"replicas\":9", "\"replicas\":0", true },
		{ "\"desired\":8", "\"desired\":0", false },
		{ "\"pending\":1", "\"pending\":0", true },
		{ "\"running\":2", "\"running\":0", true },
		{ "\"succeeded\":3", "\"succeeded\":0", true },
		{ "\"failed\":4", "\"failed\":0", true },
		{ "\"terminating\":5", "\"terminating\":0", true },
		{ "\"minAvailable\":6", "\"minAvailable\":0", false },
		{ "\"incarnation\":2", "\"incarnation\":3", false },
		{ "formedMinAvailable\":6", "formedMinAvailable\":0", false },
		{ "\"restarts\":1", "\"restarts\":2", false },
		{ "\"podFailures\":7", "\"podFailures\":8", false },
		{ "\"disruptions\":10", "\"disruptions\":9", false },
		{ "\"backoffSteps\":11", "\"backoffSteps\":0", false },
		{ "\"scheduleTimeouts\":14", "\"scheduleTimeouts\":0", false },
		{ "00:01Z", "01:01Z", false },
		{ "\"h\"", "\"i\"", false },
		{ "00:02Z", "01:02Z", false },
		{ "00:03Z", "01:03Z", false },
		{ "00:04Z", "01:04Z", false },
		{ "00:05Z", "01:05Z", false },
		{ "00:07Z", "01:07Z", false },
		{ "\"r\"", "\"s\"", false },
		{ "\"mm\"", "\"m\"", false },
		{ "\"p\"", "\"q\"", false },
		{ "\"n\"", "\"o\"", false },
		{ "exitCode\":12", "exitCode\":1", false },
		{ "\"position\":13", "\"position\":1", false },
		{ "\"w\"", "\"v\"", true },
		{ "\"replicas\":1", "\"replicas\":0", true },
		{ "\"desired\":2", "\"desired\":0", true },
		{ "\"pending\":3", "\"pending\":0", true },
		{ "\"running\":4", "\"running\":0", true },
		{ "\"succeeded\":5", "\"succeeded\":0", true },
		{ "\"failed\":6", "\"failed\":0", true },
		{ "\"started\":true", "\"started\":false", false },
		{ "0-4", "0-3", true },
		{ "\"u2\"", "\"u3\"", true },
		{ ",\"u2\"", "", true },
		{ "\"False\"", "\"True\"", false },
	};
	const struct kar_queuejob *a = job_with_status(status);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *at = strstr(status, rows[i].old);
		char changed[4096];
		const struct kar_queuejob *b;

		assert_non_null(at);
		snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - status), status, rows[i].new,
			at + strlen(rows[i].old));
		b = job_with_status(changed);
		if (kar_queuejob_status_equal(&a->status, &b->status))
			fail_msg("%s: not looked at", rows[i].old);
		if (kar_queuejob_status_same_story(&a->status, &b->status) != rows[i].counter)
			fail_msg("%s: counter or story?", rows[i].old);
		give_back(b);
	}
	assert_true(kar_queuejob_status_equal(&a->status, &a->status));
	give_back(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(spec_is_projected),
		TEST(absent_members_get_their_defaults),
		TEST(empty_selector_is_none),
		TEST(network_has_its_defaults),
		TEST(unusable_specs_say_why),
		TEST(selector_must_match_the_template),
		TEST(hash_ignores_what_does_not_matter),
		TEST(hash_is_of_what_the_job_adds_too),
		TEST(status_survives_the_round_trip),
		TEST(absent_status_members_are_written_as_null),
		TEST(every_status_member_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
