/* Jobs that ask when they would start: what they are told. It changes nothing for anybody else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define ASKS ",\"annotations\":{\"kube-arbitrator.io/what-if\":\"true\"}"
#define OWNED_BY(name) \
	",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"" name \
	"\",\"uid\":\"uid-" name "\",\"controller\":true}]"
#define ANSWER(what) "patch podgroups/status ns/" what " (Admitted=False/Suspended position=0)"
#define RUNS \
	"\"phase\":\"Running\",\"position\":0,\"admittedQueue\":\"default\",\"placement\":{\"state\":\"Satisfied\",\"satisfiedMember\":1,\"attempt\":1}," ADMITTED( \
		"True", "Admitted", "admitted by queue default")

static void put_group_of(const char *name, int priority, const char *status)
{
	char rest[1024], owner[256];

	snprintf(owner, sizeof(owner),
		",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"%s\",\"uid\":\"uid-%s\",\"controller\":true}]",
		name, name);
	snprintf(rest, sizeof(rest), ",\"spec\":{\"priority\":%d},\"status\":{%s%s}", priority, status,
		usual_conditions(status));
	put_named(w.stores.podgroups, name, owner, rest);
}

static void put_job(const char *name, const char *meta, const char *spec, const char *status, int pods,
	const char *cpu)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{%s\"taskSpecs\":[{\"name\":\"t\",\"replicas\":%d,"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}]},\"status\":{%s}",
		spec, pods, cpu, status);
	put_named(w.stores.queuejobs, name, meta, rest);
}

static void put_question(const char *name, int pods, const char *cpu)
{
	put_job(name, ASKS, "\"suspend\":true,", "", pods, cpu);
	put_group_of(name, 5, "");
}

/* A job of one pod, which runs on n1. */
static void put_running(const char *cpu)
{
	char rest[512];

	put_job("v", "", "", "\"phase\":\"Running\",\"incarnation\":1", 1, cpu);
	put_group_of("v", 1, RUNS);
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]},"
		"\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"}]}",
		cpu);
	put_named(w.stores.pods, "v-t-0",
		",\"labels\":{\"kube-arbitrator.io/queuejob\":\"v\",\"kube-arbitrator.io/task\":\"t\",\"kube-arbitrator.io/index\":\"0\","
		"\"scheduling.x-k8s.io/pod-group\":\"v\"}" OWNED_BY("v"),
		rest);
}

static const struct {
	const char *name, *queue;
	const char *running; /* cpu; NULL: nothing runs */
	int pods;
	const char *cpu;
	const char *says[3];
} rows[] = {
	{ "there_is_room", "", NULL, 2, "4",
		{ "\"answer\":\"FitsNow\"", "\"message\":null", "\"evicts\":null" } },
	{ "it_would_wait", "", "8", 2, "2",
		{ "\"answer\":\"Waits\"", "\"reason\":\"InsufficientCapacity\"",
			"insufficient cpu: 4 requested, 2 of 10 free (2 short)" } },
	{ "no_node_is_large_enough", "", NULL, 1, "11",
		{ "\"answer\":\"Never\"", "\"reason\":\"Infeasible\"", "the largest node has 10" } },
	{ "others_would_go_for_it", "\"preemptionPolicy\":\"LowerPriority\"", "8", 2, "2",
		{ "\"reason\":\"Reserving\"",
			"\"message\":\"it would start when the pods that would be stopped for it are gone\"",
			"\"evicts\":[{\"queue\":\"default\",\"pods\":1}]" } },
	{ "its_queue_is_full", "\"maxJobs\":1", "1", 1, "1",
		{ "\"answer\":\"Waits\"", "\"reason\":\"MaxJobsReached\"", "\"position\":1" } },
};

static void a_job_that_asks_is_told(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", rows[i].queue);
		put_node("n1", "10", "");
		if (rows[i].running)
			put_running(rows[i].running);
		put_question("g", rows[i].pods, rows[i].cpu);
		if (strcmp(sync_text(true), ANSWER("g")) != 0)
			fail_msg("%s: got \"%s\"", rows[i].name, sync_text(true));
		for (size_t k = 0; k < KAR_LEN(rows[i].says); k++)
			check_says(&w.sync.plan.actions[0], rows[i].says[k]);
	}
}

static void the_default_queue_is_made_before_the_answer(void **state)
{
	const char *got;

	(void)state;
	put_node("n1", "10", "");
	put_question("g", 1, "1");
	got = sync_text(true);
	if (!strstr(got, "create queues default"))
		fail_msg("got \"%s\"", got);
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		const struct kar_action *a = &w.sync.plan.actions[i];

		if (a->type == &kar_podgroup_type)
			check_says(a, "\"whatIf\":null");
	}
}

static void the_answer_is_given_once(void **state)
{
	(void)state;
	put_queue("default", "");
	put_node("n1", "10", "");
	put_job("g", ASKS, "\"suspend\":true,", "", 1, "1");
	put_group_of("g", 5,
		"\"phase\":\"Pending\",\"position\":0,\"whatIf\":{\"answer\":\"Waits\",\"time\":\"2026-11-21T10:00:00Z\"}," ADMITTED(
			"False", "Suspended", "the job is suspended"));
	assert_string_equal(sync_text(true), "");
}

static void a_suspended_job_that_does_not_ask_is_told_nothing(void **state)
{
	(void)state;
	put_queue("default", "");
	put_node("n1", "10", "");
	put_job("g", "", "\"suspend\":true,", "", 1, "1");
	put_group_of("g", 5, "");
	assert_string_equal(sync_text(true), ANSWER("g"));
	check_says(&w.sync.plan.actions[0], "\"whatIf\":null");
}

/* Ten at a time in a namespace; one pass answers one of them, and refuses those that are too many. */
static void questions_are_bounded(void **state)
{
	size_t answered = 0, refused = 0;

	(void)state;
	put_queue("default", "");
	put_node("n1", "10", "");
	for (int i = 0; i < 12; i++) {
		char name[8];

		snprintf(name, sizeof(name), "g%02d", i);
		put_question(name, 1, "1");
	}
	sync_text(true);
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };

		assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[i], &out, &err), 0);
		answered += strstr(kar_buf_cstr(&out), "FitsNow") != NULL;
		refused += strstr(kar_buf_cstr(&out), "10 jobs of namespace ns ask already") != NULL;
		kar_buf_release(&out);
	}
	assert_int_equal(answered, 1);
	assert_int_equal(refused, 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_that_asks_is_told),
		TEST(the_default_queue_is_made_before_the_answer),
		TEST(the_answer_is_given_once),
		TEST(a_suspended_job_that_does_not_ask_is_told_nothing),
		TEST(questions_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
