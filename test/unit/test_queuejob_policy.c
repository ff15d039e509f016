/* spec.failurePolicy as the API serves it, what is kept of it, and what is wrong with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "test/fixture/projection.h"

#define TASKS "\"taskSpecs\":[{\"name\":\"a\"," TEMPLATE "},{" TEMPLATE "}]"

static const struct kar_queuejob *job_with_rules(const char *rules)
{
	char json[16384];

	snprintf(json, sizeof(json), JOB("\"failurePolicy\":{\"rules\":%s}," TASKS), rules);
	return job_of(json);
}

/* --- reading ------------------------------------------------------------------------------------- */

static void put_strings(struct kar_buf *out, const char *what, const struct kar_array *list)
{
	const char *const *items = list->items;

	for (size_t i = 0; i < list->n; i++)
		kar_buf_printf(out, "%s%s", i ? "," : what, items[i]);
}

/* "FailJob tasks=a in=1,2 container=c condition=X:True reasons=R" */
static const char *print(const struct kar_failure_rule *r, struct kar_buf *out)
{
	static const char *const operators[] = { "", " in=", " notin=", " op?=" };
	const struct kar_pod_condition *conditions = r->conditions.items;

	kar_buf_printf(out, "%s", kar_failure_action_name(r->action));
	put_strings(out, " tasks=", &r->tasks);
	kar_buf_puts(out, operators[r->exit_operator]);
	for (size_t i = 0; i < r->n_codes; i++)
		kar_buf_printf(out, "%s%d", i ? "," : "", (int)r->codes[i]);
	if (r->container)
		kar_buf_printf(out, " container=%s", r->container);
	for (size_t i = 0; i < r->conditions.n; i++)
		kar_buf_printf(out, " condition=%s:%s", conditions[i].type, conditions[i].status);
	put_strings(out, " reasons=", &r->reasons);
	return kar_buf_cstr(out);
}

static void rules_are_read(void **state)
{
	static const struct {
		const char *rule, *want;
	} rows[] = {
		{ "{\"action\":\"FailJob\"}", "FailJob" },
		{ "{\"action\":\"CompleteJob\",\"tasks\":[\"a\",\"task1\"]}", "CompleteJob tasks=a,task1" },
		{ "{\"action\":\"RestartJob\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[1,42,-1]}}",
			"RestartJob in=1,42,-1" },
		{ "{\"action\":\"RestartTask\",\"onExitCodes\":{\"containerName\":\"c\",\"operator\":\"NotIn\",\"values\":[ 0 ]}}",
			"RestartTask notin=0 container=c" },
		{ "{\"action\":\"RecreatePod\",\"onPodConditions\":[{\"type\":\"DisruptionTarget\"},"
		  "{\"type\":\"Ready\",\"status\":\"False\"}]}",
			"RecreatePod condition=DisruptionTarget:True condition=Ready:False" },
		{ "{\"action\":\"Ignore\",\"onReasons\":[\"OOMKilled\",\"Deleted\"]}",
			"Ignore reasons=OOMKilled,Deleted" },
		{ "{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[2147483647,-2147483648]}}",
			"Ignore in=2147483647,-2147483648" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char list[512];
		struct kar_buf out = { 0 };

		snprintf(list, sizeof(list), "[{\"action\":\"Ignore\"},%s]", rows[i].rule);

		const struct kar_queuejob *job = job_with_rules(list);

		assert_int_equal(job->spec.failure_policy.n, 2);
		assert_string_equal(print(&job->spec.failure_policy.rules[1], &out), rows[i].want);
		assert_null(job->invalid);
		kar_buf_release(&out);
		kar_object_unref(&job->o);
	}
}

static void a_job_without_a_policy_has_no_rules(void **state)
{
	const struct kar_object *o = object_of(&kar_queuejob_type, JOB(TASKS));

	(void)state;
	assert_int_equal(kar_as_queuejob(o)->spec.failure_policy.n, 0);
	assert_null(kar_as_queuejob(o)->invalid);
	kar_object_unref(o);
}

/* The CRD allows 20 rules and 255 codes; an older one may allow more. */
static void rules_and_codes_are_bounded(void **state)
{
	struct kar_buf list = { 0 };

	(void)state;
	kar_buf_puts(&list, "[{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[1");
	for (int i = 2; i <= 300; i++)
		kar_buf_printf(&list, ",%d", i);
	kar_buf_puts(&list, "]}}");
	for (int i = 0; i < 30; i++)
		kar_buf_puts(&list, ",{\"action\":\"Ignore\"}");
	kar_buf_puts(&list, "]");

	const struct kar_queuejob *job = job_with_rules(kar_buf_cstr(&list));

	assert_int_equal(job->spec.failure_policy.n, KAR_FAILURE_RULES_MAX);
	assert_int_equal(job->spec.failure_policy.rules[0].n_codes, KAR_EXIT_CODES_MAX);
	assert_int_equal(job->spec.failure_policy.rules[0].codes[KAR_EXIT_CODES_MAX - 1], 255);
	kar_object_unref(&job->o);
	kar_buf_release(&list);
}

/* --- the check ----------------------------------------------------------------------------------- */

/* What the CRD refuses, in case it is missing or older. */
static void unusable_rules_say_why(void **state)
{
	static const struct {
		const char *rules, *problem;
	} rows[] = {
		{ "[{\"action\":\"Ignore\"},{\"action\":\"Panic\"}]",
			"failurePolicy.rules[1].action is unknown" },
		{ "[{}]", "failurePolicy.rules[0].action is unknown" },
		{ "[{\"action\":\"Ignore\",\"tasks\":[\"a\",\"b\"]}]",
			"failurePolicy.rules[0].tasks names b, which is not a task of this job" },
		{ "[{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"Gt\",\"values\":[1]}}]",
			"failurePolicy.rules[0].onExitCodes.operator is neither In nor NotIn" },
		{ "[{\"action\":\"Ignore\",\"onExitCodes\":{\"values\":[1]}}]",
			"failurePolicy.rules[0].onExitCodes.operator is neither In nor NotIn" },
		{ "[{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"In\"}}]",
			"failurePolicy.rules[0].onExitCodes.values contains no exit code" },
		{ "[{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"NotIn\",\"values\":[]}}]",
			"failurePolicy.rules[0].onExitCodes.values contains no exit code" },
		{ "[{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[\"3\"]}}]",
			"failurePolicy.rules[0].onExitCodes.values contains no exit code" },
		{ "[{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[1.5]}}]",
			"failurePolicy.rules[0].onExitCodes.values contains no exit code" },
		{ "[{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[99999999999]}}]",
			"failurePolicy.rules[0].onExitCodes.values contains no exit code" },
		{ "[{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"In\",\"values\":{\"x\":1}}}]",
			"failurePolicy.rules[0].onExitCodes.values contains no exit code" },
		{ "[{\"action\":\"Ignore\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[1,0]}}]",
			"failurePolicy.rules[0].onExitCodes.values contains 0, which is not a failure" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob *job = job_with_rules(rows[i].rules);

		if (!job->invalid || strcmp(job->invalid, rows[i].problem))
			fail_msg("%s\n  want: %s\n  got:  %s", rows[i].rules, rows[i].problem,
				job->invalid ? job->invalid : "nothing wrong");
		kar_object_unref(&job->o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rules_are_read),
		TEST(a_job_without_a_policy_has_no_rules),
		TEST(rules_and_codes_are_bounded),
		TEST(unusable_rules_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
