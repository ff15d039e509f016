/* QueueJobs as the API serves them, what is kept of them, and what is wrong with them. */
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
	assert_null(s->queue);
	assert_string_equal(s->selector, "kube-arbitrator.io/queuejob=j");
	assert_int_equal(s->backoff_limit, 6);
	assert_string_equal(s->tasks[0].name, "task0");
	assert_int_equal(kar_queuejob_min_available(s), 3);
	assert_false(s->has_ttl || s->has_active_deadline || s->has_min_succeeded || s->sched.has_priority);
	assert_int_equal(job->status.phase, KAR_QJ_PHASE_NONE);
	assert_string_equal(job->status.record.template_hash, "");
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

static void gang_groups_are_of_the_own_namespace(void **state)
{
	const struct kar_queuejob *job = job_of(JOB(
		"\"schedSpec\":{\"gangGroups\":[\"solver\",\"o/solver\"]},\"taskSpecs\":[{" TEMPLATE "}]"));
	const char *const *names = job->spec.sched.gang_groups.items;

	(void)state;
	assert_int_equal(job->spec.sched.gang_groups.n, 2);
	assert_string_equal(names[0], "ns/solver");
	assert_string_equal(names[1], "o/solver");
	give_back(job);
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
			"task task0: template: spec.restartPolicy is Always, but pods of a job must end; use Never or OnFailure" },
		{ JOB("\"schedSpec\":{\"minAvailable\":2},\"taskSpecs\":[{" TEMPLATE "}]"),
			"schedSpec.minAvailable 2 is more than the 1 replicas of all tasks" },
		{ JOB("\"taskSpecs\":[{\"replicas\":60000," TEMPLATE "},{\"replicas\":60000," TEMPLATE "}]"),
			"the tasks have 120000 replicas together, but a job can have at most 100000" },
		{ JOB("\"taskSpecs\":[{\"replicas\":2147483647," TEMPLATE
		      "},{\"replicas\":2147483647," TEMPLATE "}]"),
			"the tasks have 2147483647 replicas together, but a job can have at most 100000" },
		{ JOB("\"taskSpecs\":[{\"name\":\"task1\"," TEMPLATE "},{" TEMPLATE "}]"),
			"two tasks have the name task1" },
		{ JOB("\"taskSpecs\":[{\"topologyGroup\":\"x\",\"topology\":{\"required\":\"a\"}," TEMPLATE
		      "},{\"topologyGroup\":\"x\"," TEMPLATE
		      "},{\"topologyGroup\":\"x\",\"topology\":{\"required\":\"b\"}," TEMPLATE "}]"),
			"tasks task0 and task2 of topologyGroup x ask for different topologies" },
		{ JOB("\"taskSpecs\":[{\"name\":\"a23456789-123456789-123456789-123456789-123456789-12345678\"," TEMPLATE
		      "}]"),
			"the name of the QueueJob and the name of task a23456789-123456789-123456789-123456789-123456789-12345678 have "
			"59 characters together, but at most 55 are allowed, because <job>-<task>-<index> is the host name of a pod" },
		{ JOB("\"schedSpec\":{\"nodeSelector\":{\"disk\":\"hdd\"}},\"taskSpecs\":[{\"template\":{\"spec\":{"
		      "\"nodeSelector\":{\"disk\":\"ssd\"},\"containers\":[{}]}}}]"),
			"task task0: nodeSelector disk=ssd of the template conflicts with disk=hdd of schedSpec.nodeSelector" },
		{ JOB(DNS ",\"taskSpecs\":[{\"template\":{\"spec\":{\"hostname\":\"h\",\"containers\":[{}]}}}]"),
			"task task0: remove hostname h from the template, because network.enableDNSHostnames "
			"sets it to the name of the pod" },
		{ JOB(DNS ",\"taskSpecs\":[{\"template\":{\"spec\":{\"subdomain\":\"s\",\"containers\":[{}]}}}]"),
			"task task0: remove subdomain s from the template, because network.enableDNSHostnames "
			"sets it to the name of the job" },
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
#define TORCH "\"network\":{\"enableDNSHostnames\":true,\"frameworks\":[\"torch\"]}"
#define NAMED(network, replicas) \
	JOB(network "\"taskSpecs\":[{\"name\":\"w\",\"replicas\":" replicas "," TEMPLATE "}]")

/* A job with host names that the version before has started keeps the hash of that version, whatever its replicas. */
static void new_version_restarts_nothing(void **state)
{
	static const struct {
		const char *recorded, *network, *replicas;
		bool kept;
	} rows[] = {
		{ "49353911b1bc8ef3", DNS ",", "2", true },
		{ "49353911b1bc8ef3", DNS ",", "3", true },
		{ "49353911b1bc8ef3", TORCH ",", "2", false }, /* an edit */
		{ "0000000000000001", DNS ",", "2", false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char json[1024];

		snprintf(json, sizeof(json),
			JOB("%s\"taskSpecs\":[{\"name\":\"w\",\"replicas\":%s," TEMPLATE
			    "}]},\"status\":{\"record\":{\"templateHash\":\"%s\"}"),
			rows[i].network, rows[i].replicas, rows[i].recorded);

		const struct kar_queuejob *job = job_of(json);

		if ((strcmp(job->spec_template_hash, rows[i].recorded) == 0) != rows[i].kept)
			fail_msg("row %zu: %s", i, job->spec_template_hash);
		give_back(job);
	}
}

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
		{ "replicas", NAMED("", "2"), NAMED("", "3"), true },
		{ "replicas of a job with host names", NAMED(DNS ",", "2"), NAMED(DNS ",", "3"), false },
		{ "so many that there is no list of them", NAMED(DNS ",", "20000"), NAMED(DNS ",", "30000"),
			true },
		{ "so many, and a framework", NAMED(TORCH ",", "20000"), NAMED(TORCH ",", "30000"), false },
		{ "framework is set", NAMED(DNS ",", "2"), NAMED(TORCH ",", "2"), false },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(spec_is_projected),
		TEST(absent_members_get_their_defaults),
		TEST(empty_selector_is_none),
		TEST(gang_groups_are_of_the_own_namespace),
		TEST(network_has_its_defaults),
		TEST(unusable_specs_say_why),
		TEST(selector_must_match_the_template),
		TEST(hash_ignores_what_does_not_matter),
		TEST(hash_is_of_what_the_job_adds_too),
		TEST(new_version_restarts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
