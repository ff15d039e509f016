/* PodGroups that a deletion with --cascade=orphan has left: they stop nobody for long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define BY ",\"admittedQueue\":\"default\""
#define CONDITION(type, status, time) \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" type \
	"\",\"lastTransitionTime\":\"2026-11-21T" time "Z\"}"
#define ADMITTED_AT(time) "\"conditions\":[" CONDITION("Admitted", "True", time) "]" BY
#define UNBOUND_SINCE(time) \
	"\"conditions\":[" CONDITION("Admitted", "True", "13:00:00") "," CONDITION("Scheduled", "False", \
		time) "]" BY

static void put_orphan(const char *name, const char *created, const char *status)
{
	char meta[256], rest[1024];

	snprintf(meta, sizeof(meta),
		",\"creationTimestamp\":\"2026-11-21T%sZ\",\"labels\":{\"kube-arbitrator.io/queuejob\":\"%s\"}",
		created, name);
	snprintf(rest, sizeof(rest), ",\"spec\":{},\"status\":{%s}", status);
	put_named(w.stores.podgroups, name, meta, rest);
}

#define HOLDS "patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=1)"
#define MAKES_ROOM \
	"patch podgroups/status ns/o (Admitted=False/MaxJobsReached position=1)" /* then g gets it */

/* A job that was deleted with --cascade=orphan has left @status of its group o; the job of g waits. It is 13:46:27. */
static const struct {
	const char *name, *created, *status, *plan;
} orphans[] = {
	{ "orphan_makes_room_after_a_minute", "13:45:27", ADMITTED_AT("13:00:00"), MAKES_ROOM },
	{ "not_before", "13:45:28", ADMITTED_AT("13:00:00"), HOLDS },
	{ "not_soon_after_its_last_bound_pod", "13:00:00", UNBOUND_SINCE("13:45:28"), HOLDS },
	{ "a_minute_after_its_last_bound_pod", "13:00:00", UNBOUND_SINCE("13:45:27"), MAKES_ROOM },
	{ "not_while_it_has_members", "13:00:00", ADMITTED_AT("13:00:00") ",\"members\":1", HOLDS },
	{ "admission_to_free_room_is_worth_nothing_later", "13:00:00", ADMITTED_AT("13:46:27"), MAKES_ROOM },
	{ "orphan_that_waits_goes_behind", "13:00:00", "",
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/o (Admitted=False/MaxJobsReached position=1)" },
};

static void orphan_makes_room_for_jobs(void **state)
{
	for (size_t i = 0; i < KAR_LEN(orphans); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_queue("default", "\"maxJobs\":1");
		put_orphan("o", orphans[i].created, orphans[i].status);
		put_named_job("g", "", "", "Pending");
		put_group_of_job("g", "");
		got = sync_text(true);
		if (strcmp(got, orphans[i].plan) != 0)
			fail_msg("%s:\nwant '%s'\ngot  '%s'", orphans[i].name, orphans[i].plan, got);
	}
}

#define OF_JOB_O \
	",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"o\",\"kube-arbitrator.io/queuejob\":\"o\"}" \
	",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"o\",\"uid\":\"uid-o\"," \
	"\"controller\":true}]"
#define DELETED ",\"deletionTimestamp\":\"2026-11-21T13:46:27Z\",\"deletionGracePeriodSeconds\":30"

/* While the garbage collector removes the owner from what a deleted job leaves. The job of g waits. */
static const struct {
	const char *name;
	const char *job; /* metadata of the job; NULL: it is gone */
	const char *pod; /* metadata of its pod; NULL: it is gone */
	const char *plan;
} owned[] = {
	{ "job_is_orphaning_its_pods", DELETED ",\"finalizers\":[\"orphan\"]", OF_JOB_O, HOLDS },
	{ "job_that_leaves_pods_is_gone", NULL, OF_JOB_O, HOLDS },
	{ "job_that_leaves_pods_is_gone_and_they_stop", NULL, OF_JOB_O DELETED, NULL },
	{ "job_is_deleted_with_its_pods", DELETED ",\"finalizers\":[\"foregroundDeletion\"]", OF_JOB_O,
		NULL },
	{ "job_and_pods_are_gone", NULL, NULL, NULL },
};

static void orphaned_job_keeps_its_place_while_its_pods_are_there(void **state)
{
	for (size_t i = 0; i < KAR_LEN(owned); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_queue("default", "\"maxJobs\":1");
		if (owned[i].job)
			put_named_job("o", owned[i].job, "", "Running");
		put_group_of_job("o", "\"phase\":\"Running\",\"members\":1," ADMITTED_AT("13:00:00"));
		if (owned[i].pod)
			put_named(w.stores.pods, "o-t-0", owned[i].pod, ",\"spec\":{\"nodeName\":\"n1\"}");
		put_named_job("g", "", "", "Pending");
		put_group_of_job("g", "");
		got = sync_text(true);
		if (owned[i].plan ? strcmp(got, owned[i].plan) != 0 : !strstr(got, "ns/g (Admitted=True"))
			fail_msg("%s:\nwant '%s'\ngot  '%s'", owned[i].name,
				owned[i].plan ? owned[i].plan : "g is admitted", got);
	}
}

/* The group of a job was deleted, and the job has made it again; its queue has no place for anybody else. */
static const struct {
	const char *name, *job; /* status of the job */
	const char *pod;        /* spec and status of its pod; NULL: it has none */
	bool keeps;             /* its place */
} remade[] = {
	{ "it_has_a_pod_on_a_node", "\"phase\":\"Running\",\"incarnation\":1",
		",\"spec\":{\"nodeName\":\"n1\"}", true },
	{ "its_pod_has_no_node_yet", "\"phase\":\"Starting\",\"incarnation\":1", ",\"spec\":{}", true },
	{ "its_pods_are_gone", "\"phase\":\"Starting\",\"incarnation\":1", NULL, false },
	{ "it_has_not_started_so_the_pod_is_a_cheat", "\"phase\":\"Pending\"",
		",\"spec\":{\"nodeName\":\"n1\"}", false },
};

static void started_job_whose_group_was_deleted_keeps_its_place(void **state)
{
	for (size_t i = 0; i < KAR_LEN(remade); i++) {
		char job[1024];
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_full_queue();
		snprintf(job, sizeof(job),
			",\"spec\":{\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,\"template\":{}}]},\"status\":{%s,\"tasks\":[{\"name\":\"t\",\"started\":true}]}",
			remade[i].job);
		put_named(w.stores.queuejobs, "o", "", job);
		put_group_of_job("o", "");
		if (remade[i].pod)
			put_named(w.stores.pods, "o-t-0", OF_JOB_O, remade[i].pod);
		got = sync_text(true);
		if (!strstr(got, "ns/o (Admitted=True") == remade[i].keeps)
			fail_msg("%s: got '%s'", remade[i].name, got);
	}
}

/* The same of a job of four pods: it has its place with those that it has, whatever holds them; the others are asked of the queue. */
static const struct {
	const char *name, *pod, *says;
} adopted[] = {
	{ "with_the_pod_that_runs", ",\"spec\":{\"nodeName\":\"n1\"}", "\"desired\":1," },
	{ "with_the_pod_that_starts", ",\"spec\":{}", "\"desired\":1," },
	{ "with_one_that_somebody_has_made_with_our_gate",
		",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]}",
		"\"desired\":1," },
};

static void job_is_adopted_with_the_pods_that_it_has(void **state)
{
	for (size_t i = 0; i < KAR_LEN(adopted); i++) {
		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_queue("default", "\"capability\":{\"pods\":1},\"maxRunSeconds\":60");
		put_named(w.stores.queuejobs, "o", "",
			",\"spec\":{\"taskSpecs\":[{\"name\":\"t\",\"replicas\":4,\"template\":{}}]},\"status\":{\"phase\":\"Starting\",\"incarnation\":1,"
			"\"tasks\":[{\"name\":\"t\",\"started\":true}]}");
		put_group_of_job("o", "");
		put_named(w.stores.pods, "o-t-0", OF_JOB_O, adopted[i].pod);
		if (!strstr(sync_text(true), "ns/o (Admitted=True"))
			fail_msg("%s: it is not adopted", adopted[i].name);
		check_says(&w.sync.plan.actions[0], adopted[i].says);
		check_says(&w.sync.plan.actions[0], "\"runSeconds\":60"); /* as it was admitted with */
	}
}

/* Nothing else would wake it. */
static void pass_comes_when_an_orphan_has_had_its_minute(void **state)
{
	(void)state;
	put_queue("default", "");
	put_orphan("o", "13:46:20", ADMITTED_AT("13:46:20"));
	sync_text(false);
	w.mono += 60000;
	sync_text(false);
	assert_int_equal(w.sync.plan.requeue_after, KAR_MINUTE - 7123);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(orphan_makes_room_for_jobs),
		TEST(orphaned_job_keeps_its_place_while_its_pods_are_there),
		TEST(started_job_whose_group_was_deleted_keeps_its_place),
		TEST(job_is_adopted_with_the_pods_that_it_has),
		TEST(pass_comes_when_an_orphan_has_had_its_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
