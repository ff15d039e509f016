/* A pod from the renderer against the same pod written in full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/pod/pod_renderer.h"
#include "test/fixture/projection.h"

#define TASKS(template) \
	JOB("\"taskSpecs\":[{\"name\":\"a\",\"replicas\":7," TEMPLATE \
	    "},{\"name\":\"w\",\"replicas\":200,\"template\":" template "}]")

static const struct {
	const char *name, *json;
	const char *pin;
	bool native;
} rows[] = {
	{ "one_container", TASKS("{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}") },
	{ "several_containers_with_env",
		TASKS("{\"metadata\":{\"labels\":{\"x\":\"y\"}},\"spec\":{\"initContainers\":[{\"name\":\"i\"}],"
		      "\"containers\":[{\"name\":\"c\",\"env\":[{\"name\":\"A\",\"value\":\"$(KAR_INDEX)\"}]},{\"name\":\"d\"}]}}") },
	{ "pin", TASKS("{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"), "n1" },
	{ "native", TASKS("{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"), NULL, true },
	{ "pin_mark_in_the_template",
		TASKS("{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"" KAR_POD_PIN_MARK "\"}]}}"),
		"n1" },
	{ "host_names",
		JOB("\"network\":{\"enableDNSHostnames\":true},\"taskSpecs\":[{\"name\":\"a\"," TEMPLATE
		    "},{\"name\":\"w\"," TEMPLATE "}]") },
	{ "our_mark_in_the_template",
		TASKS("{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"" KAR_POD_INDEX_MARK
		      "\"}]}}") },
	{ "half_a_mark_in_the_template",
		TASKS("{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"\xee\x80\x82\"}]}}") },
	{ "our_mark_escaped",
		TASKS("{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"\\ue000 \\ue001\"}]}}") },
};

static void check_pod(struct kar_pod_renderer **s, const struct kar_pod_params *p, const char *name)
{
	struct kar_buf want = { 0 }, got = { 0 };
	struct kar_err err = { 0 };

	kar_buf_puts(&got, "before ");
	kar_buf_puts(&want, "before ");
	assert_int_equal(kar_queuejob_pod_write(p, &want, &err), 0);
	assert_int_equal(kar_pod_renderer_write(s, p, &got, &err), 0);
	if (strcmp(kar_buf_cstr(&got), kar_buf_cstr(&want)) != 0)
		fail_msg("%s, index %d: got %s\nwant %s", name, p->index, kar_buf_cstr(&got),
			kar_buf_cstr(&want));
	kar_buf_release(&want);
	kar_buf_release(&got);
}

static void it_writes_what_the_template_says(void **state KAR_UNUSED)
{
	static const int32_t indexes[] = { 3, 0, 1, 9, 10, 123, 3 };

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob *job = job_of(rows[i].json);
		struct kar_pod_renderer *s = NULL;

		for (size_t k = 0; k < KAR_LEN(indexes); k++) {
			const struct kar_pod_params p = { .job = job,
				.task = 1,
				.index = indexes[k],
				.incarnation = 2,
				.template_hash = "h",
				.pin = rows[i].pin,
				.native = rows[i].native };

			check_pod(&s, &p, rows[i].name);
		}
		kar_pod_renderer_drop(&s);
		assert_null(s);
		kar_object_unref(&job->o);
	}
}

/* Whatever of it changes, between two pods from the same renderer. */
static void it_is_for_the_pods_of_one_task_incarnation_hash_pin_and_group(void **state KAR_UNUSED)
{
	const struct kar_queuejob *job = job_of(rows[0].json);
	const struct kar_pod_params p[] = {
		{ .job = job, .task = 1, .incarnation = 1, .template_hash = "h" },
		{ .job = job, .task = 0, .incarnation = 1, .template_hash = "h" },
		{ .job = job, .task = 0, .incarnation = 2, .template_hash = "h" },
		{ .job = job, .task = 0, .incarnation = 2, .template_hash = "i" },
		{ .job = job, .task = 0, .incarnation = 2, .template_hash = "i", .pin = "n1" },
		{ .job = job, .task = 0, .incarnation = 2, .template_hash = "i", .pin = "node-2" },
		{ .job = job,
			.task = 0,
			.incarnation = 2,
			.template_hash = "i",
			.pin = "node-2",
			.bound = true },
		{ .job = job, .task = 0, .incarnation = 2, .template_hash = "i", .native = true },
		{ .job = job, .task = 1, .incarnation = 1, .template_hash = "h" },
	};
	struct kar_pod_renderer *s = NULL;

	for (size_t i = 0; i < KAR_LEN(p); i++) {
		for (int repeat = 0; repeat < 3; repeat++)
			check_pod(&s, &p[i], "changing");
	}
	kar_pod_renderer_drop(&s);
	kar_object_unref(&job->o);
}

/* The third one has another template, which only an edit can bring, and then also another generation. */
static void the_template_is_read_twice_at_most(void **state KAR_UNUSED)
{
	const struct kar_queuejob *job = job_of(TASKS("{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"));
	const struct kar_queuejob *other =
		job_of(TASKS("{\"spec\":{\"containers\":[{\"name\":\"other\"}]}}"));
	struct kar_pod_params p = { .job = job, .task = 1, .incarnation = 1, .template_hash = "h" };
	struct kar_pod_renderer *s = NULL;
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };

	for (p.index = 0; p.index < 2; p.index++)
		check_pod(&s, &p, "first");
	p.job = other;
	assert_int_equal(kar_pod_renderer_write(&s, &p, &out, &err), 0);
	assert_non_null(strstr(kar_buf_cstr(&out), "j-w-2"));
	assert_null(strstr(kar_buf_cstr(&out), "other"));
	kar_buf_release(&out);
	kar_pod_renderer_drop(&s);
	kar_object_unref(&job->o);
	kar_object_unref(&other->o);
}

static void a_template_that_is_of_no_use_is_refused_each_time(void **state KAR_UNUSED)
{
	const struct kar_queuejob *job = job_of(TASKS("{\"spec\":{\"containers\":[]}}"));
	const struct kar_pod_params p = { .job = job, .task = 1, .incarnation = 1, .template_hash = "h" };
	struct kar_pod_renderer *s = NULL;
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };

	for (int i = 0; i < 3; i++) {
		assert_int_equal(kar_pod_renderer_write(&s, &p, &out, &err), -1);
		assert_string_equal(err.msg, "task w: template: spec.containers is empty");
		assert_int_equal(out.n, 0);
	}
	kar_pod_renderer_drop(&s);
	kar_object_unref(&job->o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_writes_what_the_template_says),
		TEST(it_is_for_the_pods_of_one_task_incarnation_hash_pin_and_group),
		TEST(the_template_is_read_twice_at_most),
		TEST(a_template_that_is_of_no_use_is_refused_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
