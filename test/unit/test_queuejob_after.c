/* Jobs that start after others (spec.after): which changes wake them, what they see in the cache, and what keeps their jobs from being deleted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queuejob_sync_fixture.h"

#define AFTER(list, more) \
	",\"spec\":{\"after\":[" list "]" more ",\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE "}]}"
#define ON(name) "{\"name\":\"" name "\",\"status\":\"Completed\"}"
#define PLAIN ",\"spec\":{\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE "}]}"
#define RUNS ",\"status\":{\"phase\":\"Running\",\"incarnation\":1}"

static void put_other(const char *name, const char *rest)
{
	put(w.stores.queuejobs, name, name, ",\"generation\":1", rest);
}

static void take_away(const char *name)
{
	kar_store_delete(w.stores.queuejobs, "ns", name, name, ++w.rv);
}

/* What the status of job j says, or the action of its plan. */
static const char *says(void)
{
	const struct kar_queuejob_status *st;

	assert_true(sync_named("ns/j"));
	st = w.sync.plan.status;
	return st ? st->message : "";
}

static bool is_woken(const char *want)
{
	bool found = false;

	for (const char *key = take(); *key; key = take())
		found |= strcmp(key, want) == 0;
	return found;
}

/* --- what it sees --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	const char *own;         /* job j */
	const char *pre, *b, *c; /* others; NULL: they do not exist */
	const char *want;        /* message of the status of j */
} views[] = {
	{ "nobody_is_there", AFTER(ON("pre"), ""), NULL, NULL, NULL, "pre does not exist" },
	{ "it_runs", AFTER(ON("pre"), ""), PLAIN RUNS, NULL, NULL, "pre is Running" },
	{ "it_has_ended", AFTER(ON("pre"), ""), PLAIN COMPLETED, NULL, NULL,
		"waiting for queue default to admit the job" },
	{ "a_phase_without_its_condition_is_no_end", AFTER(ON("pre"), ""),
		PLAIN ",\"status\":{\"phase\":\"Completed\"}", NULL, NULL, "pre is Completed" },
	{ "it_waits_for_itself", AFTER(ON("j"), ""), NULL, NULL, NULL,
		"spec.after is a circle: each of j, j waits for the next" },
	{ "circle_of_three", AFTER(ON("pre"), ""), AFTER(ON("b"), ""), AFTER(ON("c") "," ON("j"), ""),
		AFTER(ON("j"), ""), "spec.after is a circle: each of j, pre, b, j waits for the next" },
	{ "circle_of_others", AFTER(ON("pre"), ""), AFTER(ON("b"), ""), AFTER(ON("pre"), ""), NULL,
		"pre is new" },
	{ "one_that_runs_closes_no_circle", AFTER(ON("pre"), ""), AFTER(ON("j"), "") RUNS, NULL, NULL,
		"pre is Running" },
};

static void job_sees_those_that_it_follows(void **state)
{
	for (size_t i = 0; i < KAR_LEN(views); i++) {
		put_job(views[i].own);
		if (views[i].pre)
			put_other("pre", views[i].pre);
		if (views[i].b)
			put_other("b", views[i].b);
		if (views[i].c)
			put_other("c", views[i].c);
		if (strcmp(says(), views[i].want))
			fail_msg("%s: %s", views[i].name, says());
		teardown(state);
		setup(state);
	}
}

/* --- what wakes it -------------------------------------------------------------------------------- */

static void followers_are_woken_by_what_they_wait_for(void **state)
{
	(void)state;
	put_job(AFTER(ON("pre"), ""));
	take_all();
	put_other("x", PLAIN RUNS);
	assert_false(is_woken("ns/j"));
	put_other("pre", PLAIN);
	assert_true(is_woken("ns/j"));
	put_other("pre", PLAIN RUNS);
	assert_true(is_woken("ns/j"));
	put_other("pre", PLAIN ",\"status\":{\"phase\":\"Running\",\"incarnation\":1,\"running\":1}");
	assert_false(is_woken("ns/j"));
	put_other("pre", PLAIN COMPLETED);
	assert_true(is_woken("ns/j"));
	take_away("pre");
	assert_true(is_woken("ns/j"));
}

static void a_circle_that_is_opened_wakes_all_of_it(void **state)
{
	(void)state;
	put_job(AFTER(ON("pre"), ""));
	put_other("pre", AFTER(ON("j"), ""));
	take_all();
	put(w.stores.queuejobs, "pre", "pre", ",\"generation\":2", PLAIN);
	assert_true(is_woken("ns/j"));
}

/* --- how long an ended job is kept ---------------------------------------------------------------- */

#define ENDED_WITH_TTL \
	",\"spec\":{\"ttlSecondsAfterFinished\":0,\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE "}]}" COMPLETED

static bool is_deleted(void)
{
	assert_true(sync_named("ns/j"));
	return w.sync.plan.n_actions && w.sync.plan.actions[0].what == QUEUEJOB_DELETE_JOB;
}

static void ended_job_is_kept_until_its_followers_have_recorded_that(void **state)
{
	(void)state;
	put_job(ENDED_WITH_TTL);
	assert_true(is_deleted());
	put_other("b", AFTER(ON("j"), ""));
	take_all();
	assert_false(is_deleted());
	take_away("b");
	assert_true(is_woken("ns/j"));
	assert_true(is_deleted());
}

/* Its status may be written later than its group is created. */
static void nor_for_those_that_have_joined_their_queue(void **state)
{
	(void)state;
	put_job(ENDED_WITH_TTL);
	put_other("b", AFTER(ON("j"), ""));
	assert_false(is_deleted());
	put(w.stores.podgroups, "b", "g-uid", CONTROLLED_BY("QueueJob", "b", "b"),
		",\"spec\":{\"minMember\":1}");
	assert_true(is_deleted());
}

/* The digest of the status shows that it is the manager's. */
static void recorded_end_outlives_the_job(void **state)
{
	(void)state;
	put_job(AFTER(ON("pre") "," ON("b"), ""));
	put_other("pre", PLAIN COMPLETED);
	assert_string_equal(says(), "b does not exist");
	store_status(w.stores.queuejobs, AFTER(ON("pre") "," ON("b"), ""));
	take_away("pre");
	assert_string_equal(says(), "");
	assert_int_equal(kar_as_queuejob(kar_store_get(w.stores.queuejobs, "ns", "j"))->status.n_after, 1);
	put(w.stores.queuejobs, "pre", "new-pre", ",\"generation\":1", AFTER(ON("j"), ""));
	assert_string_equal(says(), ""); /* no circle: the former pre has ended */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(job_sees_those_that_it_follows, setup, teardown),
		cmocka_unit_test_setup_teardown(followers_are_woken_by_what_they_wait_for, setup, teardown),
		cmocka_unit_test_setup_teardown(a_circle_that_is_opened_wakes_all_of_it, setup, teardown),
		cmocka_unit_test_setup_teardown(ended_job_is_kept_until_its_followers_have_recorded_that,
			setup, teardown),
		cmocka_unit_test_setup_teardown(nor_for_those_that_have_joined_their_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(recorded_end_outlives_the_job, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
