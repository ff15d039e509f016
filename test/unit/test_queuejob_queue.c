/* What a QueueJob has to do with its queue: how much its priority counts there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "controllers/queuejob/observe.h"
#include "test/unit/queuejob_sync_fixture.h"

/* Of the job as the reconciler observes it. */
static int32_t observed_priority(void)
{
	struct queuejob_view v;

	sync_key();
	assert_true(queuejob_observe(&w.stores, &w.sync, &w.sync.arena, &v));
	return queuejob_priority(&v);
}

static void priority_counts_at_most_as_its_queue_allows(void **state)
{
	static const struct {
		const char *job, *queue, *limit;
		int32_t counts;
	} rows[] = {
		{ "\"schedSpec\":{\"priority\":100}", "default", "\"maxPriority\":10", 10 },
		{ "\"schedSpec\":{\"priority\":9}", "default", "\"maxPriority\":10", 9 },
		{ "\"schedSpec\":{\"priorityClassName\":\"high\"}", "default", "\"maxPriority\":10", 10 },
		{ "\"schedSpec\":{\"priority\":100}", "default", "", 100 },
		{ "\"schedSpec\":{\"priority\":100}", "other", "\"maxPriority\":10", 100 },
		{ "\"queue\":\"other\",\"schedSpec\":{\"priority\":100}", "other", "\"maxPriority\":-10",
			-10 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char rest[512], queue[128];

		assert_int_equal(teardown(state), 0);
		setup(state);
		put(w.stores.priorityclasses, "high", "pc1", "", ",\"value\":5000");
		snprintf(queue, sizeof(queue), ",\"spec\":{%s}", rows[i].limit);
		put_named(w.stores.queues, rows[i].queue, "", queue);
		snprintf(rest, sizeof(rest), ",\"spec\":{%s,\"taskSpecs\":[{" TEMPLATE "}]}", rows[i].job);
		put_job(rest);
		assert_int_equal(observed_priority(), rows[i].counts);
	}
}

/* What the job says, else the highest class of its templates, else the global default, else 0. A class that is missing has no value. */
static void priority_comes_from_the_job_its_templates_or_the_default(void **state)
{
#define TASK(name, class) \
	"{\"name\":\"" name \
	"\",\"replicas\":1,\"template\":{\"spec\":{" class "\"containers\":[{\"name\":\"c\"}]}}}"
#define CLASS(name) "\"priorityClassName\":\"" name "\","
	static const struct {
		const char *name, *job, *tasks;
		bool no_default;
		int32_t priority;
	} rows[] = {
		{ "priority of the job", "\"priority\":3", TASK("a", CLASS("high")), false, 3 },
		{ "class of the job, though it is lower", "\"priorityClassName\":\"low\"",
			TASK("a", CLASS("high")), false, 1 },
		{ "highest of the templates", "", TASK("a", CLASS("low")) "," TASK("b", CLASS("high")), false,
			9 },
		{ "in any order", "", TASK("a", CLASS("high")) "," TASK("b", CLASS("low")), false, 9 },
		{ "beside a template without one", "", TASK("a", "") "," TASK("b", CLASS("low")), false, 1 },
		{ "below the default", "", TASK("a", CLASS("low")), false, 1 },
		{ "global default", "", TASK("a", "") "," TASK("b", ""), false, 4 },
		{ "nothing", "", TASK("a", ""), true, 0 },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char rest[1024];
		int32_t found;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put(w.stores.priorityclasses, "high", "pc1", "", ",\"value\":9");
		put(w.stores.priorityclasses, "low", "pc2", "", ",\"value\":1");
		if (!rows[i].no_default)
			put(w.stores.priorityclasses, "usual", "pc3", "",
				",\"value\":4,\"globalDefault\":true");
		snprintf(rest, sizeof(rest), ",\"spec\":{\"schedSpec\":{%s},\"taskSpecs\":[%s]}", rows[i].job,
			rows[i].tasks);
		put_job(rest);
		found = observed_priority();
		if (found != rows[i].priority)
			fail_msg("%s: %d, not %d", rows[i].name, (int)found, (int)rows[i].priority);
	}
#undef TASK
#undef CLASS
}

/* q is below t, or was and is not any more, or is to be and cannot. */
static void and_as_those_above_allow(void **state)
{
	static const struct {
		const char *top, *leaf, *in_force;
		int32_t counts;
	} rows[] = {
		{ "\"maxPriority\":10", "\"parent\":\"t\"", "t", 10 },
		{ "\"maxPriority\":10", "\"parent\":\"t\"", "", 10 },
		{ "\"maxPriority\":10", "\"parent\":\"t\",\"maxPriority\":5", "t", 5 },
		{ "\"maxPriority\":5", "\"parent\":\"t\",\"maxPriority\":10", "t", 5 },
		{ "\"maxPriority\":10", "\"parent\":\"gone\"", "t", 10 },
		{ "\"maxPriority\":10", "\"parent\":\"t\"", "root", 100 },
		{ "\"maxPriority\":10", "", "root", 100 }, { "", "\"parent\":\"t\"", "t", 100 },
		{ "\"parent\":\"q\",\"maxPriority\":10", "\"parent\":\"t\"", "t", 10 }, /* a circle */
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char rest[512];

		assert_int_equal(teardown(state), 0);
		setup(state);
		snprintf(rest, sizeof(rest), ",\"spec\":{%s}", rows[i].top);
		put_named(w.stores.queues, "t", "", rest);
		snprintf(rest, sizeof(rest), ",\"spec\":{%s},\"status\":{\"parent\":\"%s\"}", rows[i].leaf,
			rows[i].in_force);
		put_named(w.stores.queues, "q", "", rest);
		put_job(",\"spec\":{\"queue\":\"q\",\"schedSpec\":{\"priority\":100},\"taskSpecs\":[{" TEMPLATE
			"}]}");
		if (observed_priority() != rows[i].counts)
			fail_msg("row %zu: %d", i, (int)observed_priority());
	}
}

/* The number is handed on as it was asked for: the queue says what it counts as. */
static void group_asks_for_what_the_job_asks_for(void **state)
{
	const struct kar_podgroup_spec *spec;

	(void)state;
	put_named(w.stores.queues, "default", "", ",\"spec\":{\"maxPriority\":10}");
	put_job(",\"spec\":{\"schedSpec\":{\"priority\":100},\"taskSpecs\":[{" TEMPLATE "}]}");
	assert_true(sync_key());
	spec = action_of(QUEUEJOB_CREATE_PODGROUP, KAR_CREATE)->payload;
	assert_int_equal(spec->priority, 100);
}

static void put_limit(const char *queue, const char *limit)
{
	char rest[128];

	snprintf(rest, sizeof(rest), ",\"spec\":{%s}", limit);
	put_named(w.stores.queues, queue, "", rest);
}

/* Only that limit has to do with jobs. */
static void jobs_of_a_queue_are_woken_when_its_limit_changes(void **state)
{
	(void)state;
	put_job(SPEC);
	assert_string_equal(take(), "ns/j");
	put_limit("default", "\"maxPriority\":9");
	assert_string_equal(take(), ""); /* nothing was decided before the caches were synced */
	kar_store_replace_begin(w.stores.queues);
	kar_store_replace_commit(w.stores.queues, ++w.rv);
	put_limit("default", "\"maxPriority\":9");
	assert_string_equal(take(), "ns/j");
	put_limit("default", "\"maxPriority\":9,\"maxJobs\":4");
	assert_string_equal(take(), "");
	put_limit("other", "\"maxPriority\":9");
	assert_string_equal(take(), "");
	put_limit("default", "\"maxJobs\":4");
	assert_string_equal(take(), "ns/j");
	put_named(w.stores.queues, "default", "", ",\"spec\":{},\"status\":{\"parent\":\"root\"}");
	assert_string_equal(take(), "");
	put_named(w.stores.queues, "default", "", ",\"spec\":{},\"status\":{\"parent\":\"t\"}");
	assert_string_equal(take(), "ns/j");
	put_limit("t", "\"maxPriority\":9");
	assert_string_equal(take(), "ns/j");
	put_limit("other", "\"maxPriority\":8");
	assert_string_equal(take(), "");
	put_named(w.stores.queues, "default", "", ",\"spec\":{},\"status\":{\"parent\":\"root\"}");
	assert_string_equal(take(), "ns/j");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* The group of a job that waits says that it is admitted: of whom does it speak? */
static void admission_of_somebody_else_starts_no_pods(void **state)
{
	static const struct {
		const char *name, *status;
		bool starts;
	} rows[] = {
		{ "for this job", "\"position\":0,\"admittedGeneration\":1,", true },
		{ "for the job before it was edited", "\"position\":0,\"admittedGeneration\":7,", false },
		{ "for a group of somebody without pods", "\"position\":0,", false },
		{ "by a CRD that keeps nothing of that", "", true },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char rest[512];
		bool starts;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_job(SPEC ",\"status\":{\"phase\":\"Pending\",\"observedGeneration\":1}");
		put_children(false);
		snprintf(rest, sizeof(rest),
			",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0},\"status\":{%s\"conditions\":[{"
			"\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"\"}]}",
			rows[i].status);
		put(w.stores.podgroups, "j", "g-uid", BY_JOB, rest);
		assert_true(sync_key());
		assert_non_null(w.sync.plan.status);
		starts = kar_condition_is_true(&((const struct kar_queuejob_status *)w.sync.plan.status)
							->conditions,
			KAR_QJ_ADMITTED);
		if (starts != rows[i].starts)
			fail_msg("%s: it is %s to start", rows[i].name, starts ? "about" : "not");
	}
}

static void job_of_another_manager_is_left_alone(void **state)
{
	static const struct {
		const char *name, *managed_by, *meta;
		bool acts;
	} rows[] = {
		{ "nobody is named", "", "", true },
		{ "we are", "\"managedBy\":\"kube-arbitrator.io/queuejob-controller\",", "", true },
		{ "another one", "\"managedBy\":\"example.com/far-away\",", "", false },
		{ "and the job goes", "\"managedBy\":\"example.com/far-away\",",
			",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"", false },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char rest[512], meta[128];

		assert_int_equal(teardown(state), 0);
		setup(state);
		snprintf(meta, sizeof(meta), ",\"generation\":1%s", rows[i].meta);
		snprintf(rest, sizeof(rest),
			",\"spec\":{%s\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2," TEMPLATE "}]}",
			rows[i].managed_by);
		put(w.stores.queuejobs, "j", "job-uid", meta, rest);
		sync_key();
		if ((w.sync.plan.n_actions || w.sync.plan.n_events || w.sync.plan.status) != rows[i].acts)
			fail_msg("%s", rows[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(job_of_another_manager_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(admission_of_somebody_else_starts_no_pods, setup, teardown),
		TEST(priority_counts_at_most_as_its_queue_allows),
		TEST(priority_comes_from_the_job_its_templates_or_the_default),
		TEST(and_as_those_above_allow),
		TEST(group_asks_for_what_the_job_asks_for),
		TEST(jobs_of_a_queue_are_woken_when_its_limit_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
