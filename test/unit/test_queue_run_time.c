/* Queues that limit for how long jobs run: who waits, and what an admission records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define LETS_IN "patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)"
#define REFUSES "patch podgroups/status ns/g (Admitted=False/RunTimeTooLong position=0)"
#define DEADLINE(s) "\"activeDeadlineSeconds\":" s ","

static void put_job(const char *spec, const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{%s\"schedSpec\":{\"minAvailable\":1},\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"6\"}}}]}}}]}%s",
		spec, status);
	put_named(w.stores.queuejobs, "g", "", rest);
}

static void put_batch_job(const char *spec)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"suspend\":true,%s\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"6\"}}}]}}}",
		spec);
	put_named(w.stores.batchjobs, "g", ",\"annotations\":{\"kube-arbitrator.io/suspended-by\":\"queue\"}",
		rest);
	put_named(w.stores.podgroups, "g",
		",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"g\",\"uid\":\"uid-g\",\"controller\":true}]",
		",\"spec\":{\"minMember\":1}");
}

static const struct {
	const char *name, *above, *queue; /* specs of the queues t and, below it, default */
	const char *job;
	bool batch;
	const char *plan, *says;
} rows[] = {
	{ "no_limit", "", "", DEADLINE("10800"), false, LETS_IN, "\"runSeconds\":null" },
	{ "asks_for_more", "", "\"maxRunSeconds\":3600", DEADLINE("10800"), false, REFUSES,
		"3 h asked, queue default allows 1 h" },
	{ "asks_for_as_much", "", "\"maxRunSeconds\":3600", DEADLINE("3600"), false, LETS_IN,
		"\"runSeconds\":3600" },
	{ "minutes_and_seconds", "", "\"maxRunSeconds\":90", DEADLINE("5400"), false, REFUSES,
		"90 min asked, queue default allows 90 s" },
	{ "queue_above_allows_less", "\"maxRunSeconds\":60", "\"maxRunSeconds\":3600", DEADLINE("600"), false,
		REFUSES, "10 min asked, queue t allows 1 min" },
	{ "default_is_recorded", "", "\"defaultRunSeconds\":600,\"maxRunSeconds\":3600", "", false, LETS_IN,
		"\"runSeconds\":600" },
	{ "least_default_counts", "\"defaultRunSeconds\":60", "\"defaultRunSeconds\":600", "", false, LETS_IN,
		"\"runSeconds\":60" },
	{ "default_is_at_most_the_maximum_above", "\"maxRunSeconds\":60", "\"defaultRunSeconds\":600", "",
		false, LETS_IN, "\"runSeconds\":60" },
	{ "maximum_is_the_default", "", "\"maxRunSeconds\":3600", "", false, LETS_IN, "\"runSeconds\":3600" },
	{ "own_time_goes_before_the_default", "", "\"defaultRunSeconds\":600", DEADLINE("1200"), false,
		LETS_IN, "\"runSeconds\":null" },
	{ "batch_job_asks_for_more", "", "\"maxRunSeconds\":3600", DEADLINE("10800"), true, REFUSES,
		"3 h asked, queue default allows 1 h" },
	{ "batch_job_has_to_name_a_time", "", "\"maxRunSeconds\":3600", "", true, REFUSES,
		"no activeDeadlineSeconds asked, queue default allows 1 h" },
	{ "batch_job_within_it", "", "\"maxRunSeconds\":3600", DEADLINE("60"), true, LETS_IN,
		"\"runSeconds\":null" },
	{ "nobody_ends_a_batch_job_by_a_default", "", "\"defaultRunSeconds\":60", "", true, LETS_IN,
		"\"runSeconds\":null" },
};

static void queue_limits_for_how_long_jobs_run(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char below[256];
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		snprintf(below, sizeof(below), "\"parent\":\"t\"%s%s", rows[i].queue[0] ? "," : "",
			rows[i].queue);
		put_queue("t", rows[i].above);
		put_queue("default", below);
		put_node("n1", "10", "");
		if (rows[i].batch) {
			put_batch_job(rows[i].job);
		} else {
			put_job(rows[i].job, "");
			put_group_of_job("g", "");
		}
		got = sync_text(true);
		if (strcmp(got, rows[i].plan))
			fail_msg("%s: got \"%s\", want \"%s\"", rows[i].name, got, rows[i].plan);
		check_says(&w.sync.plan.actions[0], rows[i].says);
	}
}

/* Whoever was let in with another limit keeps it. */
static void admitted_job_goes_on_when_the_limit_is_lowered(void **state)
{
	(void)state;
	put_queue("default", "\"maxRunSeconds\":60");
	put_node("n1", "10", "");
	put_job(DEADLINE("10800"), ",\"status\":{\"phase\":\"Running\",\"incarnation\":1}");
	put_group_of_job("g",
		"\"phase\":\"Running\",\"position\":0,\"admittedQueue\":\"default\",\"desired\":1,\"runSeconds\":20000,"
		"\"placement\":{\"state\":\"Satisfied\",\"attempt\":1,\"satisfiedMember\":1,\"time\":\"2026-11-21T13:46:20Z\"}," ADMITTED(
			"True", "Admitted", "admitted by queue default"));
	assert_string_equal(sync_text(true), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(queue_limits_for_how_long_jobs_run, setup, teardown),
		cmocka_unit_test_setup_teardown(admitted_job_goes_on_when_the_limit_is_lowered, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
