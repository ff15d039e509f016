/* taskSpecs[].dependsOn as the API serves it: what is read of it, and what is wrong with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "api/queuejob/queuejob.h"
#include "common/base/buf.h"
#include "test/fixture/from_json.h"

enum { JOB_TASKS = 64 };

static const struct kar_queuejob *job_of(const char *json, struct kar_intern *strings)
{
	return kar_as_queuejob(object_from_json(&kar_queuejob_type, json, strings));
}

static void test_dependencies_are_read(void **state)
{
	struct kar_intern *strings = kar_intern_new();
	const struct kar_queuejob *job = job_of(
		JOB("\"taskSpecs\":[{\"name\":\"a\",\"dependsOn\":[{\"name\":\"b\",\"status\":\"Succeeded\"},{\"name\":\"task2\"},"
		    "{\"name\":\"x\",\"status\":\"Running\"}]," TEMPLATE "},{\"name\":\"b\"," TEMPLATE
		    "},{" TEMPLATE "}]"),
		strings);
	const struct kar_dependency *d = job->spec.tasks[0].depends_on.items;

	(void)state;
	assert_int_equal(job->spec.tasks[0].depends_on.n, 3);
	assert_int_equal(job->spec.tasks[1].depends_on.n, 0);
	assert_int_equal(d[0].task, 1);
	assert_true(d[0].succeeded);
	assert_int_equal(d[1].task, 2);
	assert_string_equal(d[1].name, "task2");
	assert_false(d[1].succeeded);
	assert_true(d[2].task == KAR_NO_TASK);
	kar_object_unref(&job->o);
	kar_intern_free(strings);
}

/* "a:b,c b" is task a, which waits for b and c, and task b. */
static void put_tasks(struct kar_buf *json, const char *order)
{
	char copy[4096], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", order);
	kar_buf_puts(json, "{" JOB_META "},\"spec\":{\"taskSpecs\":[");
	for (char *task; (task = strsep(&rest, " ")) != NULL;) {
		char *after = task, *name = strsep(&after, ":");
		const char *comma = "";

		kar_buf_printf(json, "%s{\"name\":\"%s\",\"dependsOn\":[", task == copy ? "" : ",", name);
		for (char *d; (d = strsep(&after, ",")) != NULL; comma = ",")
			kar_buf_printf(json, "%s{\"name\":\"%s\"}", comma, d);
		kar_buf_puts(json, "]," TEMPLATE "}");
	}
	kar_buf_puts(json, "]}}");
}

static void check_order(const char *order, const char *problem)
{
	struct kar_intern *strings = kar_intern_new();
	struct kar_buf json = { 0 };
	const struct kar_queuejob *job;

	put_tasks(&json, order);
	job = job_of(kar_buf_cstr(&json), strings);
	if (!kar_streq(job->invalid, problem))
		fail_msg("%s\n  want: %s\n  got:  %s", order, problem ? problem : "nothing wrong",
			job->invalid ? job->invalid : "nothing wrong");
	kar_object_unref(&job->o);
	kar_intern_free(strings);
	kar_buf_release(&json);
}

static void test_impossible_orders_say_why(void **state)
{
	static const struct {
		const char *order, *problem;
	} rows[] = {
		{ "a", NULL },
		{ "a:b b", NULL },
		{ "a b:a c:a,b d:b,c", NULL },
		{ "top left:top right:top end:left,right", NULL },
		{ "a:x", "task a: dependsOn: there is no task x" },
		{ "a b:a,task1", "task b: dependsOn: there is no task task1" },
		{ "a:a", "dependsOn: tasks wait for each other: a -> a" },
		{ "a:b b:a", "dependsOn: tasks wait for each other: a -> b -> a" },
		{ "a:b b:c c:a", "dependsOn: tasks wait for each other: a -> b -> c -> a" },
		{ "free in:c c:d d:c out:in,free", "dependsOn: tasks wait for each other: c -> d -> c" },
		{ "end:b a b:a,b", "dependsOn: tasks wait for each other: b -> b" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		check_order(rows[i].order, rows[i].problem);
}

/* t0 waits for t1, which waits for t2 ...; the last one for t0 if it is a cycle. */
static void test_long_chains_are_fine_and_long_cycles_are_found(void **state)
{
	(void)state;
	for (int n = 2; n <= JOB_TASKS; n++) {
		struct kar_buf chain = { 0 }, problem = { 0 };

		for (int i = 0; i < n - 1; i++)
			kar_buf_printf(&chain, "t%d:t%d ", i, i + 1);
		kar_buf_printf(&chain, "t%d", n - 1);
		check_order(kar_buf_cstr(&chain), NULL);
		kar_buf_puts(&chain, ":t0");
		kar_buf_puts(&problem, "dependsOn: tasks wait for each other: ");
		for (int i = 0; i < n && i < 8; i++)
			kar_buf_printf(&problem, "t%d -> ", i);
		if (n > 8)
			kar_buf_printf(&problem, "(%d more) -> ", n - 8);
		kar_buf_puts(&problem, "t0");
		check_order(kar_buf_cstr(&chain), kar_buf_cstr(&problem));
		kar_buf_release(&chain);
		kar_buf_release(&problem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dependencies_are_read),
		cmocka_unit_test(test_impossible_orders_say_why),
		cmocka_unit_test(test_long_chains_are_fine_and_long_cycles_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
