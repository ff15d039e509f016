/* The body of a pod, byte for byte, and pod names in both directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/queuejob/queuejob_env.h"
#include "test/fixture/projection.h"

#define ENV(task, index, rank, size, task_size) \
	"{\"name\":\"KAR_QUEUEJOB\",\"value\":\"j\"},{\"name\":\"KAR_TASK\",\"value\":\"" task \
	"\"},{\"name\":\"KAR_INDEX\",\"value\":\"" index "\"},{\"name\":\"KAR_RANK\",\"value\":\"" rank \
	"\"},{\"name\":\"KAR_WORLD_SIZE\",\"value\":\"" size \
	"\"},{\"name\":\"KAR_TASK_SIZE\",\"value\":\"" task_size "\"}"
#define OWN_METADATA(task, index) "\"name\":\"j-" task "-" index "\",\"namespace\":\"ns\""
#define OWN_LABELS(task, index) \
	"\"kube-arbitrator.io/queuejob\":\"j\",\"kube-arbitrator.io/task\":\"" task \
	"\",\"kube-arbitrator.io/index\":\"" index "\",\"kube-arbitrator.io/incarnation\":\"3\"," \
	"\"scheduling.x-k8s.io/pod-group\":\"j\""
#define OWN_REST \
	"\"finalizers\":[\"kube-arbitrator.io/pod-tracking\"],\"ownerReferences\":[{" \
	"\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"job-uid\"," \
	"\"controller\":true,\"blockOwnerDeletion\":true}]"

static void write(const struct kar_queuejob *job, size_t task, int32_t index, struct kar_buf *out)
{
	const struct kar_pod_params p = { .job = job,
		.task = task,
		.index = index,
		.incarnation = 3,
		.template_hash = "h" };
	struct kar_err err = { 0 };

	if (kar_queuejob_pod_write(&p, out, &err))
		fail_msg("%s", err.msg);
}

static void check(const char *json, size_t task, int32_t index, const char *want)
{
	const struct kar_queuejob *job = job_of(json);
	struct kar_buf out = { 0 };

	write(job, task, index, &out);
	assert_string_equal(kar_buf_cstr(&out), want);
	kar_buf_release(&out);
	kar_object_unref(&job->o);
}

static void smallest_template_gets_everything(void **state)
{
	(void)state;
	check(JOB("\"taskSpecs\":[{\"replicas\":2,\"name\":\"w\"," TEMPLATE "}]"), 0, 1,
		"{\"spec\":{\"containers\":[{\"name\":\"c\",\"env\":[" ENV("w", "1", "1", "2",
			"2") "]}],\"restartPolicy\":\"Never\"},"
			     "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{" OWN_METADATA("w",
				     "1") ",\"labels\":{" OWN_LABELS("w",
				     "1") "},\"annotations\":{\"kube-arbitrator.io/template-hash\":\"h\"}," OWN_REST
					  "}}");
}

/* What the template says stays; numbers, order, unknown members and odd white space come through as they are. */
static void template_is_kept_byte_for_byte(void **state)
{
	(void)state;
	check(JOB("\"schedulerName\":\"of-job\",\"schedSpec\":{\"nodeSelector\":{\"zone\":\"z\",\"disk\":\"ssd\"}},"
		  "\"taskSpecs\":[{\"replicas\":3," TEMPLATE "},{\"name\":\"m\",\"template\":"
		  "{\"metadata\":{\"labels\":{\"app\":\"x\",\"kube-arbitrator.io/index\":\"77\"},\"annotations\":{\"k\":\"v\"}},"
		  "\"spec\":{\"zzz\":{ \"future\" : [1.50, 1e3, {\"deep\":\"\\u00e9\"}] },\"nodeSelector\":{\"disk\":\"ssd\"},"
		  "\"initContainers\":[{\"name\":\"i\"}],\"restartPolicy\":\"OnFailure\",\"schedulerName\":\"own\","
		  "\"containers\":[{\"image\":\"a\",\"env\":[{\"name\":\"E\",\"value\":\"$(KAR_RANK)\"}],\"name\":\"c\"},"
		  "{\"name\":\"d\",\"odd\":0.10}]}}}]"),
		1, 0,
		"{\"metadata\":{\"labels\":{\"app\":\"x\",\"kube-arbitrator.io/index\":\"0\",\"kube-arbitrator.io/queuejob\":\"j\","
		"\"kube-arbitrator.io/task\":\"m\",\"kube-arbitrator.io/incarnation\":\"3\",\"scheduling.x-k8s.io/pod-group\":\"j\"},"
		"\"annotations\":{\"k\":\"v\",\"kube-arbitrator.io/template-hash\":\"h\"}," OWN_METADATA("m",
			"0") "," OWN_REST "},"
			     "\"spec\":{\"zzz\":{ \"future\" : [1.50, 1e3, {\"deep\":\"\\u00e9\"}] },\"nodeSelector\":{\"disk\":\"ssd\","
			     "\"zone\":\"z\"},\"initContainers\":[{\"name\":\"i\",\"env\":[" ENV("m", "0",
				     "3", "4",
				     "1") "]}],"
					  "\"restartPolicy\":\"OnFailure\",\"schedulerName\":\"own\","
					  "\"containers\":[{\"image\":\"a\",\"env\":[" ENV("m", "0", "3", "4",
						  "1") ",{\"name\":\"E\",\"value\":\"$(KAR_RANK)\"}],\"name\":\"c\"},"
						       "{\"name\":\"d\",\"odd\":0.10,\"env\":[" ENV("m", "0",
							       "3", "4",
							       "1") "]}]},\"apiVersion\":\"v1\",\"kind\":\"Pod\"}");
}

static void scheduler_of_the_job_is_for_templates_without_one(void **state)
{
	const struct kar_queuejob *job =
		job_of(JOB("\"schedulerName\":\"of-job\",\"taskSpecs\":[{" TEMPLATE "}]"));
	struct kar_buf out = { 0 };

	(void)state;
	write(job, 0, 0, &out);
	assert_non_null(strstr(kar_buf_cstr(&out), "\"schedulerName\":\"of-job\""));
	kar_buf_release(&out);
	kar_object_unref(&job->o);
}

/* The name of the pod in the domain of the job: what the headless Service makes addresses of. */
static void host_name_of_a_pod_is_its_name(void **state)
{
	(void)state;
	check(JOB("\"network\":{\"enableDNSHostnames\":true},\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE "}]"),
		0, 0,
		"{\"spec\":{\"containers\":[{\"name\":\"c\",\"env\":[" ENV("w", "0", "0", "1",
			"1") ",{\"name\":\"KAR_HOSTS\",\"value\":\"j-w-0.j\"}]}],\"restartPolicy\":\"Never\",\"hostname\":\"j-w-0\",\"subdomain\":\"j\"},"
			     "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{" OWN_METADATA("w",
				     "0") ",\"labels\":{" OWN_LABELS("w",
				     "0") "},\"annotations\":{\"kube-arbitrator.io/template-hash\":\"h\"}," OWN_REST
					  "}}");
}

static const char *env_of(const char *json, size_t task, int32_t index, struct kar_buf *out)
{
	const struct kar_queuejob *job = job_of(json);

	assert_null(job->invalid);
	write(job, task, index, out);
	kar_object_unref(&job->o);
	return strstr(kar_buf_cstr(out), "\"env\":[");
}

#define ELASTIC(min) "\"schedSpec\":{\"minAvailable\":" #min "},"
#define FRAMEWORKS(names) "\"network\":{\"enableDNSHostnames\":true,\"frameworks\":[" names "]},"
#define TWO_TASKS \
	"\"taskSpecs\":[{\"name\":\"master\"," TEMPLATE "},{\"replicas\":2,\"name\":\"my-w\"," TEMPLATE "}]"

/* Each variable is "NAME=value" here. */
static void frameworks_have_their_variables(void **state)
{
	static const struct {
		const char *json, *want[12], *absent;
	} rows[] = {
		{ JOB(FRAMEWORKS("\"torch\"") TWO_TASKS),
			{ "MASTER_ADDR=j-master-0.j", "MASTER_PORT=29500", "WORLD_SIZE=3", "RANK=2",
				"PET_MASTER_ADDR=j-master-0.j", "PET_MASTER_PORT=29500", "PET_NNODES=3",
				"PET_NODE_RANK=2", "KAR_TASK_SIZE=2", "KAR_HOSTS=j-my-w-0.j,j-my-w-1.j" },
			"PET_RDZV" },
		{ JOB(FRAMEWORKS("\"torch\"") ELASTIC(2) TWO_TASKS),
			{ "PET_NNODES=2:3", "PET_RDZV_BACKEND=c10d", "PET_RDZV_ID=j",
				"PET_RDZV_ENDPOINT=j-master-0.j:29500", "RANK=2",
				"MASTER_ADDR=j-master-0.j" },
			"\"WORLD_SIZE\"" },
		{ JOB(FRAMEWORKS("\"torch\"") ELASTIC(0) TWO_TASKS), { "PET_NNODES=1:3" }, "\"WORLD_SIZE\"" },
		{ JOB(FRAMEWORKS("\"torch\"") ELASTIC(3) TWO_TASKS), { "PET_NNODES=3", "WORLD_SIZE=3" },
			":3" },
		{ JOB(FRAMEWORKS("\"jax\"") TWO_TASKS),
			{ "JAX_COORDINATOR_ADDRESS=j-master-0.j:1234", "JAX_NUM_PROCESSES=3",
				"JAX_PROCESS_ID=2" } },
		{ JOB(FRAMEWORKS("\"mpi\"") TWO_TASKS),
			{ "KAR_HOSTS_MASTER=j-master-0.j", "KAR_HOSTS_MY_W=j-my-w-0.j,j-my-w-1.j",
				"OMPI_MCA_orte_keep_fqdn_hostnames=true" } },
		{ JOB(FRAMEWORKS("\"torch\"") "\"taskSpecs\":[{\"replicas\":0,\"name\":\"none\"," TEMPLATE
					      "},{\"replicas\":3,\"name\":\"w\"," TEMPLATE "}]"),
			{ "MASTER_ADDR=j-w-0.j", "RANK=1" } },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf out = { 0 };
		const char *env = env_of(rows[i].json, 1, 1, &out);

		for (size_t k = 0; rows[i].want[k]; k++) {
			char text[256];
			size_t name = strcspn(rows[i].want[k], "=");

			snprintf(text, sizeof(text), "{\"name\":\"%.*s\",\"value\":\"%s\"}", (int)name,
				rows[i].want[k], rows[i].want[k] + name + 1);
			if (!strstr(env, text))
				fail_msg("%s is not in %s", text, env);
		}
		if (rows[i].absent && strstr(env, rows[i].absent))
			fail_msg("%s is in %s", rows[i].absent, env);
		kar_buf_release(&out);
	}
}

static void variable_of_the_template_wins(void **state)
{
	static const char want[] = "\"MASTER_PORT\",\"value\":\"1\"";
	struct kar_buf out = { 0 };
	const char *env = env_of(
		JOB(FRAMEWORKS(
			"\"torch\"") "\"taskSpecs\":[{\"name\":\"w\",\"template\":{\"spec\":{"
				     "\"containers\":[{\"name\":\"c\",\"env\":[{\"name\":\"MASTER_PORT\",\"value\":\"1\"}]}]}}}]"),
		0, 0, &out);
	const char *port = strstr(env, "\"MASTER_PORT\"");

	(void)state;
	assert_non_null(port);
	assert_int_equal(strncmp(port, want, strlen(want)), 0);
	assert_null(strstr(port + 1, "\"MASTER_PORT\"")); /* it is there once */
	kar_buf_release(&out);
}

/* 64 KiB: exactly, and a host more. */
static void too_long_a_list_of_hosts_is_left_out(void **state)
{
	/* "j-w-9.j," has 8 bytes: 10 of 8, 90 of 9, 900 of 10 and the rest of 11, without the last comma. */
	static const struct {
		int replicas;
		bool there;
	} rows[] = { { 6058, true }, { 6059, false }, { 20000, false }, { 0, true } };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char json[512];
		struct kar_buf list = { 0 };

		snprintf(json, sizeof(json),
			JOB("\"network\":{\"enableDNSHostnames\":true},\"taskSpecs\":[{\"replicas\":%d,\"name\":\"w\"," TEMPLATE
			    "}]"),
			rows[i].replicas);

		const struct kar_queuejob *job = job_of(json);

		if (kar_queuejob_hosts(job, 0, &list) != rows[i].there ||
			kar_queuejob_hosts_too_long(job, 0) == rows[i].there || list.n > KAR_HOSTS_MAX_BYTES)
			fail_msg("%d hosts: %zu bytes", rows[i].replicas, list.n);
		kar_buf_release(&list);
		kar_object_unref(&job->o);
	}
}

/* The first member @key is @want, which begins with it; NULL: there is none. */
static void check_member(const char *row, const char *pod, const char *key, const char *want)
{
	const char *found = strstr(pod, key);

	if (want ? !found || strncmp(found, want, strlen(want)) != 0 : found != NULL)
		fail_msg("%s: %s", row, pod);
}

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PIN "{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n7\"]}"
#define TERMS(list) "\"nodeAffinity\":{\"" REQUIRED "\":{\"nodeSelectorTerms\":[" list "]}}"
#define ZONE "\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"Exists\"}]"

/* What the template says of affinity, and what a pod that is pinned to n7 has then. */
static const struct {
	const char *name, *spec;
	const char *want; /* NULL: no affinity */
} pins[] = {
	{ "none", "", "\"affinity\":{" TERMS("{\"matchFields\":[" PIN "]}") "}" },
	{ "each_term",
		",\"affinity\":{" TERMS(
			"{" ZONE
			"},{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"NotIn\",\"values\":[\"a\"]}]}") "}",
		"\"affinity\":{" TERMS(
			"{" ZONE ",\"matchFields\":[" PIN
			"]},{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"NotIn\",\"values\":[\"a\"]}," PIN
			"]}") "}" },
	{ "empty_term_never_holds", ",\"affinity\":{" TERMS("{},{" ZONE "}") "}",
		"\"affinity\":{" TERMS("{},{" ZONE ",\"matchFields\":[" PIN "]}") "}" },
	{ "preferred_and_pods_stay",
		",\"affinity\":{\"podAntiAffinity\":{\"x\":1},\"nodeAffinity\":{\"preferred\":[1]}}",
		"\"affinity\":{\"podAntiAffinity\":{\"x\":1},\"nodeAffinity\":{\"preferred\":[1],\"" REQUIRED
		"\":{\"nodeSelectorTerms\":[{\"matchFields\":[" PIN "]}]}}}" },
	{ "null", ",\"affinity\":null", "\"affinity\":{" TERMS("{\"matchFields\":[" PIN "]}") "}" },
	{ "node_is_named", ",\"nodeName\":\"n1\"", NULL },
};

static void pin_is_added_to_each_term(void **state)
{
	struct kar_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(pins); i++) {
		const struct kar_queuejob *job = job_of(kar_arena_printf(&arena,
			JOB("\"taskSpecs\":[{\"name\":\"w\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]%s}}}]"),
			pins[i].spec));
		const struct kar_pod_params p = { .job = job, .template_hash = "h", .pin = "n7" };
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };

		if (kar_queuejob_pod_write(&p, &out, &err))
			fail_msg("%s: %s", pins[i].name, err.msg);
		check_member(pins[i].name, kar_buf_cstr(&out), "\"affinity\"", pins[i].want);
		kar_buf_release(&out);
		kar_object_unref(&job->o);
	}
	kar_arena_release(&arena);
}

/* It is created bound to n7, and no affinity is needed; the template's own node stays. */
static void pod_is_created_bound(void **state)
{
	static const struct {
		const char *name, *spec, *want;
	} bound[] = {
		{ "by_the_plan", "", "\"nodeName\":\"n7\"" },
		{ "by_its_template", ",\"nodeName\":\"n1\"", "\"nodeName\":\"n1\"" },
	};
	struct kar_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(bound); i++) {
		const struct kar_queuejob *job = job_of(kar_arena_printf(&arena,
			JOB("\"taskSpecs\":[{\"name\":\"w\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]%s}}}]"),
			bound[i].spec));
		const struct kar_pod_params p = { .job = job,
			.template_hash = "h",
			.pin = "n7",
			.bound = true };
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };

		if (kar_queuejob_pod_write(&p, &out, &err))
			fail_msg("%s: %s", bound[i].name, err.msg);
		check_member(bound[i].name, kar_buf_cstr(&out), "\"nodeName\"", bound[i].want);
		check_member(bound[i].name, kar_buf_cstr(&out), "\"affinity\"", NULL);
		kar_buf_release(&out);
		kar_object_unref(&job->o);
	}
	kar_arena_release(&arena);
}

static void pod_names_the_group_of_kubernetes(void **state)
{
	const struct kar_queuejob *job = job_of(JOB(
		"\"taskSpecs\":[{\"template\":{\"spec\":{\"schedulingGroup\":{\"podGroupName\":\"x\"},\"containers\":[{\"name\":\"c\"}]}}}]"));
	struct kar_pod_params p = { .job = job, .template_hash = "h" };

	(void)state;
	for (int native = 0; native < 2; native++) {
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };

		p.native = native;
		assert_int_equal(kar_queuejob_pod_write(&p, &out, &err), 0);
		check_member(native ? "ours" : "of_the_template", kar_buf_cstr(&out), "\"schedulingGroup\"",
			native ? "\"schedulingGroup\":{\"podGroupName\":\"j\"}"
			       : "\"schedulingGroup\":{\"podGroupName\":\"x\"}");
		kar_buf_release(&out);
	}
	kar_object_unref(&job->o);
}

/* What the job says of priority, what the template says, and what the pod has then. */
static const struct {
	const char *name, *sched, *spec;
	const char *want; /* NULL: as in the template, which names no class */
} classes[] = {
	{ "of_the_job", "\"priorityClassName\":\"high\"", "", "\"priorityClassName\":\"high\"" },
	{ "the_number_is_for_the_queue", "\"priorityClassName\":\"high\",\"priority\":5", "",
		"\"priorityClassName\":\"high\"" },
	{ "only_a_number", "\"priority\":5", "", NULL },
	{ "none", "", "", NULL },
	{ "of_the_template", "\"priorityClassName\":\"high\"", ",\"priorityClassName\":\"low\"",
		"\"priorityClassName\":\"low\"" },
	{ "empty_in_the_template", "\"priorityClassName\":\"high\"", ",\"priorityClassName\":\"\"",
		"\"priorityClassName\":\"high\"" },
	/* The API server would refuse it together with a class of another value. */
	{ "number_in_the_template", "\"priorityClassName\":\"high\"", ",\"priority\":0", NULL },
};

static void class_of_the_job_is_for_templates_without_one(void **state)
{
	struct kar_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(classes); i++) {
		const struct kar_queuejob *job = job_of(kar_arena_printf(&arena,
			JOB("\"schedSpec\":{%s},\"taskSpecs\":[{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]%s}}}]"),
			classes[i].sched, classes[i].spec));
		struct kar_buf out = { 0 };

		write(job, 0, 0, &out);
		check_member(classes[i].name, kar_buf_cstr(&out), "\"priorityClassName\"", classes[i].want);
		kar_buf_release(&out);
		kar_object_unref(&job->o);
	}
	kar_arena_release(&arena);
}

static void unusable_template_is_refused(void **state)
{
	const struct kar_queuejob *job =
		job_of(JOB("\"taskSpecs\":[{\"template\":{\"spec\":{\"containers\":[]}}}]"));
	const struct kar_pod_params p = { .job = job, .incarnation = 1, .template_hash = "h" };
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };

	(void)state;
	assert_int_equal(kar_queuejob_pod_write(&p, &out, &err), -1);
	assert_int_equal(err.what, KAR_INVALID);
	assert_string_equal(err.msg, "task task0: template: spec.containers is empty");
	assert_int_equal(out.n, 0);
	kar_object_unref(&job->o);
}

static void names_are_read_back(void **state)
{
	static const struct {
		const char *name;
		int task; /* -1: none of ours */
		int32_t index;
	} rows[] = {
		{ "j-w-0", 0, 0 },
		{ "j-w-12", 0, 12 },
		{ "j-w-2147483647", 0, 2147483647 },
		{ "j-a-b-7", 1, 7 },
		{ "j-w-00", -1, 0 },
		{ "j-w-01", -1, 0 },
		{ "j-w-", -1, 0 },
		{ "j-w", -1, 0 },
		{ "j-x-0", -1, 0 },
		{ "j-w-1a", -1, 0 },
		{ "j-w--1", -1, 0 },
		{ "j-w-2147483648", -1, 0 },
		{ "jw-0", -1, 0 },
		{ "k-w-0", -1, 0 },
		{ "j-b-7", -1, 0 },
		{ "j", -1, 0 },
		{ "", -1, 0 },
		{ "j-ww-0", -1, 0 },
	};
	const struct kar_queuejob *job =
		job_of(JOB("\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE "},{\"name\":\"a-b\"," TEMPLATE "}]"));

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		size_t task = 99;
		int32_t index = 0;
		char name[KAR_POD_NAME_LEN];
		bool ours = kar_queuejob_pod_index(job, rows[i].name, &task, &index);

		if (ours != (rows[i].task >= 0) ||
			(ours && ((int)task != rows[i].task || index != rows[i].index)))
			fail_msg("%s: %d %zu %d", rows[i].name, ours, task, index);
		if (ours)
			assert_string_equal(kar_queuejob_pod_name(job, job->spec.tasks[task].name, index,
						    name),
				rows[i].name);
	}
	kar_object_unref(&job->o);
}

static void pods_of_a_flavor_get_its_labels_and_tolerations(void **state KAR_UNUSED)
{
	struct kar_pair label = { "spot", "yes" };
	const struct kar_queuejob *job = job_of(JOB(
		"\"taskSpecs\":[{\"replicas\":1,\"name\":\"w\",\"template\":{\"spec\":{\"tolerations\":[{\"key\":\"own\"}],\"containers\":[{\"name\":\"c\"}]}}}]"));
	struct kar_buf out = { 0 };
	const struct kar_pod_params p = { .job = job,
		.template_hash = "h",
		.flavor = { .labels = { .items = &label, .n = 1 },
			.tolerations = "{\"key\":\"spot\",\"operator\":\"Exists\"}" } };

	assert_int_equal(kar_queuejob_pod_write(&p, &out, NULL), 0);
	assert_non_null(strstr(kar_buf_cstr(&out), "\"nodeSelector\":{\"spot\":\"yes\"}"));
	assert_non_null(strstr(kar_buf_cstr(&out),
		"\"tolerations\":[{\"key\":\"own\"},{\"key\":\"spot\",\"operator\":\"Exists\"}]"));
	kar_buf_release(&out);
	kar_object_unref(&job->o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pods_of_a_flavor_get_its_labels_and_tolerations),
		TEST(smallest_template_gets_everything),
		TEST(template_is_kept_byte_for_byte),
		TEST(scheduler_of_the_job_is_for_templates_without_one),
		TEST(host_name_of_a_pod_is_its_name),
		TEST(frameworks_have_their_variables),
		TEST(variable_of_the_template_wins),
		TEST(too_long_a_list_of_hosts_is_left_out),
		TEST(pin_is_added_to_each_term),
		TEST(pod_is_created_bound),
		TEST(pod_names_the_group_of_kubernetes),
		TEST(class_of_the_job_is_for_templates_without_one),
		TEST(unusable_template_is_refused),
		TEST(names_are_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
