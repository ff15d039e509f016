/* What is remembered of the API server's opinion of a job's pods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queuejob/memory.h"

static struct kar_queuejob job;
static struct queuejob_key memory;
static struct kar_key_state key = { .memory = &memory };

static int set_up(void **state)
{
	(void)state;
	memory = (struct queuejob_key){ 0 };
	job = (struct kar_queuejob){ .o = { .type = &kar_queuejob_type, .name = "j", .uid = "u1" },
		.generation = 1,
		.spec_template_hash = "h1" };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	queuejob_forget(&memory);
	assert_null(memory.job);
	return 0;
}

static struct kar_sync sync_at(kar_time mono)
{
	return (struct kar_sync){ .state = &key,
		.object = &job.o,
		.mono = mono,
		.generation = job.generation };
}

static struct queuejob_check check_at(kar_time mono, bool waits)
{
	struct kar_sync s = sync_at(mono);

	queuejob_refresh_memory(&s, waits);
	return queuejob_check_of(memory.job, mono);
}

static void refuse_pod(const struct queuejob_new_pod *pod, enum kar_class what, const char *text,
	kar_time mono)
{
	struct kar_sync s = sync_at(mono);
	struct kar_err err = { 0 };

	kar_fail(&err, what, "%s", text);
	err.cause = strstr(text, "exceeded quota") ? KAR_CAUSE_QUOTA
		: strstr(text, "failed quota")     ? KAR_CAUSE_QUOTA_NEEDS
						   : KAR_CAUSE_NONE;
	queuejob_remember_refused(queuejob_remember(&s), pod, job.generation, &err, mono);
}

static void refuse(size_t task, enum kar_class what, const char *text, kar_time mono)
{
	const struct queuejob_new_pod pod = { .task = task };

	refuse_pod(&pod, what, text, mono);
}

static void pass(size_t task)
{
	struct kar_sync s = sync_at(0);

	queuejob_remember_passed(queuejob_remember(&s), task);
}

static void job_that_does_not_wait_costs_nothing(void **state)
{
	(void)state;
	assert_false(check_at(5000, false).waits);
	assert_null(memory.job);
}

static void waiting_job_is_checked_after_a_second(void **state)
{
	(void)state;
	assert_int_equal(check_at(5000, true).early_in, 1000);
	assert_int_equal(check_at(5400, true).early_in, 600);
	assert_int_equal(check_at(6000, true).early_in, 0);
	check_at(6100, false);
	assert_int_equal(check_at(9000, true).early_in, 1000);
}

static void need_of_a_quota_is_for_the_queue_to_say(void **state)
{
	(void)state;
	check_at(5000, true);
	refuse(0, KAR_DENIED, "failed quota: q: must specify limits.cpu for: main", 6000);
	assert_int_equal(check_at(7000, true).passed, 1);
	assert_null(check_at(7000, true).refused);
}

static void new_template_is_checked_after_another_second(void **state)
{
	(void)state;
	check_at(5000, true);
	pass(0);
	assert_int_equal(check_at(7000, true).passed, 1);
	job.spec_template_hash = "h2";
	assert_int_equal(check_at(7000, true).passed, 0);
	assert_int_equal(check_at(7000, true).early_in, 1000);
}

/* What an edit leaves of one that passed and one that was refused. */
static void edits_that_make_other_pods_are_seen(void **state)
{
	(void)state;
	pass(0);
	job.generation = 2; /* replicas, say */
	assert_int_equal(check_at(1000, true).passed, 1);
	job.spec.sched.priority_class_name = "high"; /* no part of the hash */
	assert_int_equal(check_at(1000, true).passed, 0);
	pass(0);
	job.o.uid = "u2";
	assert_int_equal(check_at(1000, true).passed, 0);
}

static void words_are_those_of_the_server(void **state)
{
	(void)state;
	refuse(1, KAR_INVALID, "create pods in ns: Pod \"j-w-0\" is invalid: spec.x: Not found", 1000);
	assert_string_equal(check_at(1000, false).refused, "Pod \"j-w-0\" is invalid: spec.x: Not found");
	assert_int_equal(check_at(1000, false).task, 1);
	refuse(1, KAR_INVALID, "create pods j-w-0: Pod j-w-0 is too large to be sent", 1000);
	assert_string_equal(check_at(1000, false).refused, "Pod j-w-0 is too large to be sent");
}

static void refused_is_tried_again_after_long(void **state)
{
	static const kar_time holds[] = { 30000, 60000, 120000, 240000, 480000, 600000, 600000 };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(holds); i++) {
		refuse(0, KAR_INVALID, "no", 1000);
		assert_int_equal(check_at(1000, false).retry_in, holds[i]);
	}
	job.generation = 2;
	assert_int_equal(check_at(1000, false).retry_in, 0);
	assert_non_null(check_at(1000, false).refused);
	refuse(0, KAR_INVALID, "no", 1000);
	assert_int_equal(check_at(1000, false).retry_in, 30000);
	job.spec_template_hash = "h2";
	assert_null(check_at(1000, false).refused);
	assert_int_equal(check_at(1000, false).retry_in, 0);
}

/* What an error says of the pods of task 0: nothing against them, or when it is worth asking again. */
static const struct {
	enum kar_class what;
	uint64_t passed;
	kar_time retry_in;
	bool refused;
} answers[] = {
	{ KAR_DENIED, 0, 1000, true },
	{ KAR_EXISTS, 1, 0 },
	{ KAR_NOTFOUND, 0, 1000, true },
	{ KAR_CONFLICT, 0, 1000 }, /* somebody else was faster: it says nothing about the pod */
	{ KAR_INVALID, 0, 30000, true },
	{ KAR_RETRY, 0, 1000 },
	{ KAR_UNKNOWN, 0, 1000 },
	{ KAR_UNAUTHORIZED, 0, 1000 },
};

static void answers_are_understood(void **state)
{
	for (size_t i = 0; i < KAR_LEN(answers); i++) {
		struct queuejob_check c;

		set_up(state);
		refuse(0, answers[i].what, "text", 1000);
		c = check_at(1000, false);
		if (c.passed != answers[i].passed || c.retry_in != answers[i].retry_in ||
			(c.refused != NULL) != answers[i].refused ||
			c.forbidden != (answers[i].refused && answers[i].what != KAR_INVALID))
			fail_msg("%s: passed %d, again in %d, %s", kar_err_class_name(answers[i].what),
				(int)c.passed, (int)c.retry_in, c.refused);
		tear_down(state);
	}
}

/* What the same says of pods for which a gang that runs would be given up. */
static const struct {
	enum kar_class what;
	const char *text;
	bool passes, forbidden;
	kar_time retry_in, at_last;
} answers_to_a_gang[] = {
	{ KAR_DENIED, "no PriorityClass with name typo was found", false, true, 1000, 30000 },
	{ KAR_NOTFOUND, "namespaces \"ns\" not found", false, true, 1000, 30000 },
	{ KAR_DENIED, "exceeded quota: q", true, false, 0, 0 }, /* its own pods make room when they go */
	{ KAR_DENIED, "failed quota: q: must specify limits.cpu for: main", false, true, 1000, 30000 },
	{ KAR_EXISTS, "exists", true, false, 0, 0 },
	{ KAR_INVALID, "no", false, false, 30000, 600000 },
	{ KAR_RETRY, "down", false, false, 1000, 600000 },
};

static void gang_that_runs_is_not_given_up_for_forbidden_pods(void **state)
{
	const struct queuejob_new_pod pod = { .replaces = true };

	for (size_t i = 0; i < KAR_LEN(answers_to_a_gang); i++) {
		struct queuejob_check c;

		set_up(state);
		refuse_pod(&pod, answers_to_a_gang[i].what, answers_to_a_gang[i].text, 1000);
		c = check_at(1000, false);
		if (c.passed != answers_to_a_gang[i].passes ||
			c.forbidden != answers_to_a_gang[i].forbidden ||
			c.retry_in != answers_to_a_gang[i].retry_in)
			fail_msg("%s: passed %d, forbidden %d, again in %d", answers_to_a_gang[i].text,
				(int)c.passed, c.forbidden, (int)c.retry_in);
		for (int k = 0; k < 20; k++)
			refuse_pod(&pod, answers_to_a_gang[i].what, answers_to_a_gang[i].text, 1000);
		assert_int_equal(check_at(1000, false).retry_in, answers_to_a_gang[i].at_last);
		pass(0);
		assert_false(check_at(1000, false).forbidden);
		tear_down(state);
	}
}

static void first_of_two_objections_is_told(void **state)
{
	(void)state;
	refuse(2, KAR_INVALID, "two", 1000);
	refuse(1, KAR_INVALID, "one", 1000);
	refuse(3, KAR_INVALID, "three", 1000);
	assert_string_equal(check_at(1000, false).refused, "one");
	pass(3);
	assert_string_equal(check_at(1000, false).refused, "one");
	pass(1);
	assert_null(check_at(1000, false).refused);
	assert_int_equal(check_at(1000, false).passed, 1 << 1 | 1 << 3);
}

/* Another job with the same templates has asked, or is asking. */
static void jobs_with_the_same_templates_ask_once(void **state)
{
	const struct queuejob_new_pod pod = { .task = 0 };
	struct kar_templates *t = kar_templates_new();
	struct kar_taskspec task = { .name = "w", .replicas = 1 };
	struct kar_sync s = sync_at(5000);
	struct queuejob_check c;
	struct kar_err err = { 0 };

	(void)state;
	job.spec.tasks = &task;
	job.spec.n_tasks = 1;
	c = check_at(5000, true);
	queuejob_share_check(t, &s, &c);
	assert_int_equal(c.early_in, 1000);
	kar_templates_want(t, &job, 0, 5000); /* by the pass of queues: at once */
	assert_true(queuejob_is_asked(t, &s));
	queuejob_share_check(t, &s, &c);
	assert_int_equal(c.early_in, 0);
	assert_int_equal(c.retry_in, 0);
	kar_templates_of(t, &job, 0, 5000)->asked = 4000;
	queuejob_share_check(t, &s, &c);
	assert_int_equal(c.retry_in, 9000);

	kar_fail(&err, KAR_DENIED, "create pods in ns: no account");
	queuejob_share_answer(t, &s, &pod, &err, NULL);
	assert_false(queuejob_is_asked(t, &s));
	queuejob_import_verdicts(t, &s);
	c = check_at(5000, true);
	assert_string_equal(c.refused, "no account");
	assert_true(c.forbidden);
	queuejob_share_answer(t, &s, &pod, NULL, &(struct kar_pod_stored){ 0 });
	queuejob_import_verdicts(t, &s);
	c = check_at(5000, true);
	assert_null(c.refused);
	assert_int_equal(c.passed, 1);
	job.spec.n_tasks = 0;
	kar_templates_free(t);
}

/* The API server names the pod that it was asked about: each job reads the name of one of its own. */
static void shared_refusal_names_a_pod_of_the_job(void **state)
{
	static const struct {
		const char *answer, *told;
	} rows[] = {
		{ "pods \"other-w-0\" is forbidden: no account", "pods \"j-w-0\" is forbidden: no account" },
		{ "pods \"j-w-3\" is forbidden: no account", "pods \"j-w-3\" is forbidden: no account" },
		{ "Pod \"other-w-0\" is invalid: spec.x", "Pod \"j-w-0\" is invalid: spec.x" },
		{ "admission webhook \"x\" denied the request",
			"admission webhook \"x\" denied the request" },
		{ "pods \"other", "pods \"other" },
	};
	struct kar_taskspec task = { .name = "w", .replicas = 1 };
	struct kar_sync s = sync_at(5000);

	(void)state;
	job.spec.tasks = &task;
	job.spec.n_tasks = 1;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_templates *t = kar_templates_new();
		struct kar_template *e = kar_templates_of(t, &job, 0, 5000);

		check_at(5000, true);
		kar_templates_answer(t, e, KAR_TEMPLATE_FORBIDDEN, rows[i].answer, NULL, 5000);
		queuejob_import_verdicts(t, &s);
		assert_string_equal(check_at(5000, true).refused, rows[i].told);
		kar_templates_free(t);
	}
	job.spec.n_tasks = 0;
}

/* The pass of queues wants to hear it again before it makes others go. */
static void what_has_passed_is_asked_about_once_more(void **state)
{
	const struct queuejob_new_pod pod = { .task = 0 };
	struct kar_templates *t = kar_templates_new();
	struct kar_taskspec task = { .name = "w", .replicas = 1 };
	struct kar_sync s = sync_at(5000);

	(void)state;
	job.spec.tasks = &task;
	job.spec.n_tasks = 1;
	check_at(5000, true);
	queuejob_share_answer(t, &s, &pod, NULL, &(struct kar_pod_stored){ 0 });
	queuejob_import_verdicts(t, &s);
	assert_int_equal(check_at(5000, true).passed, 1);
	assert_false(kar_template_is_old(kar_templates_of(t, &job, 0, 5000), 5000 + 10 * KAR_SECOND));
	s = sync_at(5001 + 10 * KAR_SECOND);
	assert_true(kar_template_is_old(kar_templates_of(t, &job, 0, s.mono), s.mono));
	kar_templates_want(t, &job, 0, s.mono);
	assert_true(queuejob_is_asked(t, &s));
	queuejob_import_verdicts(t, &s);
	assert_int_equal(check_at(s.mono, true).passed, 0);
	queuejob_share_answer(t, &s, &pod, NULL, &(struct kar_pod_stored){ 0 });
	queuejob_import_verdicts(t, &s);
	assert_int_equal(check_at(s.mono, true).passed, 1);
	job.spec.n_tasks = 0;
	kar_templates_free(t);
}

/* A refused template is asked about again at once after an edit of a job that has it. */
static void edit_ends_the_pause_for_all(void **state)
{
	const struct queuejob_new_pod pod = { .task = 0 };
	struct kar_templates *t = kar_templates_new();
	struct kar_taskspec task = { .name = "w", .replicas = 1 };
	struct kar_sync s = sync_at(1000);
	struct queuejob_check c;
	struct kar_err err = { 0 };

	(void)state;
	job.spec.tasks = &task;
	job.spec.n_tasks = 1;
	check_at(1000, true);
	kar_fail(&err, KAR_INVALID, "no");
	queuejob_remember_refused(queuejob_remember(&s), &pod, job.generation, &err, 1000);
	queuejob_share_answer(t, &s, &pod, &err, NULL);
	assert_int_equal(kar_templates_of(t, &job, 0, 1000)->retry_at, 31000);
	job.generation = 2;
	s = sync_at(2000);
	queuejob_import_verdicts(t, &s);
	c = check_at(2000, true);
	queuejob_share_check(t, &s, &c);
	assert_int_equal(c.retry_in, 0);
	job.spec.n_tasks = 0;
	kar_templates_free(t);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(job_that_does_not_wait_costs_nothing),
		TEST(waiting_job_is_checked_after_a_second),
		TEST(need_of_a_quota_is_for_the_queue_to_say),
		TEST(new_template_is_checked_after_another_second),
		TEST(edits_that_make_other_pods_are_seen),
		TEST(words_are_those_of_the_server),
		TEST(refused_is_tried_again_after_long),
		TEST(answers_are_understood),
		TEST(gang_that_runs_is_not_given_up_for_forbidden_pods),
		TEST(first_of_two_objections_is_told),
		TEST(jobs_with_the_same_templates_ask_once),
		TEST(shared_refusal_names_a_pod_of_the_job),
		TEST(what_has_passed_is_asked_about_once_more),
		TEST(edit_ends_the_pause_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
