/* The Queue reconciler under ResourceQuotas: who is admitted, what the others are told, and what begins a pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define QUOTA(hard, used) \
	",\"spec\":{\"hard\":{" hard "}},\"status\":{\"hard\":{" hard "},\"used\":{" used "}}"
#define PODS(n) "\"pods\":\"" n "\""
#define CONTAINER(requests) "{\"name\":\"x\",\"resources\":{\"requests\":{" requests "}}}"

#define BY_JOB_J \
	",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]"

/* A job of @n pods, all of which are its minimum, and its group. */
static void put_job(const char *name, int n, const char *requests)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"schedSpec\":{\"minAvailable\":%d},\"taskSpecs\":[{\"name\":\"t\",\"replicas\":%d,\"template\":{\"spec\":{"
		"\"containers\":[" CONTAINER("%s") "]}}}]},\"status\":{\"phase\":\"Pending\"}",
		n, n, requests);
	put_named(w.stores.queuejobs, name, "", rest);
	put_group_of_job(name, "\"phase\":\"Pending\"");
}

static void put_pod(const char *name, const char *meta, const char *requests)
{
	char rest[512];

	snprintf(rest, sizeof(rest), ",\"spec\":{\"containers\":[" CONTAINER("%s") "]}", requests);
	put_named(w.stores.pods, name, meta, rest);
}

static const struct row {
	const char *name, *quota, *range, *requests;
	const char *reason, *message;
} rows[] = {
	{ "it_fits", QUOTA(PODS("3"), PODS("0")), NULL, "\"cpu\":1", "Admitted", "" },
	{ "a_pod_of_others_is_in_the_way", QUOTA(PODS("5"), PODS("3")), NULL, "\"cpu\":1", "QuotaExceeded",
		"insufficient pods: 3 requested, 2 of 5 free (1 short), quota c has 5, used 3" },
	{ "it_never_fits", QUOTA(PODS("2"), PODS("0")), NULL, "\"cpu\":1", "QuotaInfeasible",
		"insufficient pods: 3 requested, 2 of 2 free (1 short), quota c allows 2" },
	{ "requests", QUOTA("\"requests.cpu\":4", "\"requests.cpu\":2"), NULL, "\"cpu\":1", "QuotaExceeded",
		"insufficient requests.cpu: 3 requested, 2 of 4 free (1 short), quota c has 4, used 2" },
	{ "defaults_of_a_range", QUOTA("\"requests.cpu\":4", "\"requests.cpu\":0"),
		",\"spec\":{\"limits\":[{\"type\":\"Container\",\"defaultRequest\":{\"cpu\":2}}]}", "",
		"QuotaInfeasible",
		"insufficient requests.cpu: 6 requested, 4 of 4 free (2 short), quota c allows 4" },
	{ "a_container_sets_nothing", QUOTA("\"limits.cpu\":4", "\"limits.cpu\":0"), NULL, "\"cpu\":1",
		"QuotaInvalidTemplate", "quota c needs limits.cpu, container x of task t sets none" },
	{ "not_computed_yet", ",\"spec\":{\"hard\":{" PODS("5") "}}", NULL, "\"cpu\":1", "QuotaExceeded",
		"quota c is not computed yet; 1st of 1 in queue default" },
	{ "use_is_not_computed_yet",
		",\"spec\":{\"hard\":{" PODS("5") "}},\"status\":{\"hard\":{" PODS("5") "}}", NULL,
		"\"cpu\":1", "QuotaExceeded", "quota c is not computed yet" },
	{ "nothing_of_it_is_asked_for", ",\"spec\":{\"hard\":{\"requests.a.b/gpu\":1}}", NULL, "\"cpu\":1",
		"Admitted", "" },
	{ "of_other_objects_not_computed", ",\"spec\":{\"hard\":{\"services\":1}}", NULL, "\"cpu\":1",
		"Admitted", "" },
	{ "negative_requests_give_no_room", QUOTA("\"requests.cpu\":4", "\"requests.cpu\":4"), NULL,
		"\"cpu\":-9", "Admitted", "" },
	{ "three_times_most_is_not_small", QUOTA("\"requests.memory\":\"8Ei\"", "\"requests.memory\":0"),
		NULL, "\"memory\":\"4Ei\"", "Infeasible", "memory, no node has any" },
	{ "more_than_64_bits", QUOTA("\"requests.memory\":\"7Ei\"", "\"requests.memory\":0"), NULL,
		"\"memory\":\"999Ei\"", "Infeasible", "memory, no node has any" },
};

static void a_gang_is_admitted_if_its_quotas_have_room(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct row *r = &rows[i];
		char want[128];

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_queue("default", "");
		put_named(w.stores.resourcequotas, "c", "", r->quota);
		if (r->range)
			put_named(w.stores.limitranges, "l", "", r->range);
		put_job("j", 3, r->requests);
		if (!sync_named("all"))
			fail_msg("%s: no pass", r->name);
		snprintf(want, sizeof(want), "\"reason\":\"%s\"", r->reason);
		check_says(&w.sync.plan.actions[0], want);
		check_says(&w.sync.plan.actions[0], r->message);
	}
}

/* The first in the line of the namespace closes the row, whichever their queues are. */
static void rows_are_closed_behind_the_first_that_waits(void **state)
{
	(void)state;
	put_queue("default", "");
	put_named(w.stores.resourcequotas, "c", "", QUOTA(PODS("5"), PODS("0")));
	put_job("a", 3, "\"cpu\":1");
	put_job("b", 3, "\"cpu\":1");
	put_job("d", 2, "\"cpu\":1");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/a (Admitted=True/Admitted position=0 placed); "
		"patch podgroups/status ns/b (Admitted=False/QuotaExceeded position=1); "
		"patch podgroups/status ns/d (Admitted=False/QuotaExceeded position=2)");
	check_says(&w.sync.plan.actions[1],
		"insufficient pods: 3 requested, 2 of 5 free (1 short), quota c has 5, used 3");
	check_says(&w.sync.plan.actions[2], "ns/b goes first for pods of quota c");
}

/* Pods that name a group or a job and belong to neither are pods of others, in the account of their namespace. */
static void pods_that_pretend_are_charged_to_nobody_else(void **state)
{
	static const char *const pretend[] = {
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\",\"kube-arbitrator.io/queuejob\":\"j\",\"kube-arbitrator.io/task\":\"t\"}",
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"},\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\","
		"\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"stale\",\"controller\":true}]",
	};

	for (size_t i = 0; i < KAR_LEN(pretend); i++) {
		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		put_named(w.stores.resourcequotas, "c", "", QUOTA(PODS("3"), PODS("0")));
		put_pod("j-t-0", pretend[i], "\"cpu\":1");
		put_job("j", 3, "\"cpu\":1");
		assert_true(sync_named("all"));
		check_says(&w.sync.plan.actions[0],
			"insufficient pods: 3 requested, 2 of 3 free (1 short), quota c has 3, used 1");
	}
}

#define MEMBER(name) \
	",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"" name \
	"\"%s},\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\"," \
	"\"kind\":\"QueueJob\",\"name\":\"" name "\",\"uid\":\"uid-" name "\",\"controller\":true}]"
#define GATED "\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],"
#define BOUND "\"nodeName\":\"n1\","

/* @n pods of the job "a", which its queue has admitted; with @labels more, and with @spec, of 1 cpu each. */
static void put_pods_of_a(int n, const char *labels, const char *spec)
{
	for (int i = 0; i < n; i++) {
		char name[16], meta[512], rest[256];

		snprintf(name, sizeof(name), "a-t-%d", i);
		snprintf(meta, sizeof(meta), MEMBER("a"), labels);
		snprintf(rest, sizeof(rest),
			",\"spec\":{%s\"containers\":[" CONTAINER(
				"\"cpu\":1") "]},\"status\":{\"phase\":\"%s\"}",
			spec, strcmp(spec, BOUND) == 0 ? "Running" : "Pending");
		put_named(w.stores.pods, name, meta, rest);
	}
}

static void put_admitted_a(int n, const char *more)
{
	char status[512];

	put_job("a", n, "\"cpu\":1");
	snprintf(status, sizeof(status),
		"%s,\"admittedQueue\":\"default\"," ADMITTED("True", "Admitted", "admitted by queue default"),
		more);
	put_group_of_job("a", status);
}

#define RUNS "\"phase\":\"Running\",\"placement\":{\"state\":\"Satisfied\",\"satisfiedMember\":3}"
#define STARTS \
	"\"phase\":\"Pending\",\"placement\":{\"state\":\"Placed\",\"time\":\"2026-11-21T10:00:00Z\",\"deadline\":\"2036-11-21T10:00:00Z\"}"

/*
 * A gang of three runs under a quota of four pods; another one, of two, waits. What a user does to the first gives the second no room: it
 * stays charged for three, or is charged for what it grows to.
 */
static const struct {
	const char *name, *labels; /* of its pods */
	const char *group;         /* label of its group */
	int size;                  /* all of it is its minimum */
	const char *message;       /* of the second */
} changed[] = {
	{ "nothing", "", "", 3,
		"insufficient pods: 2 requested, 1 of 4 free (1 short), quota c has 4, used 3" },
	{ "queue_of_its_pods", ",\"kube-arbitrator.io/queue\":\"other\"", "", 3,
		"insufficient pods: 2 requested, 1 of 4 free (1 short), quota c has 4, used 3" },
	{ "queue_of_its_group", "", ",\"labels\":{\"kube-arbitrator.io/queue\":\"other\"}", 3,
		"insufficient pods: 2 requested, 1 of 4 free (1 short), quota c has 4, used 3" },
	{ "size_raised_after_its_admission", "", "", 9,
		"insufficient pods: 2 requested, 0 of 4 free (2 short), quota c has 4, used 9" },
};

static void what_runs_stays_charged_whatever_is_changed(void **state)
{
	for (size_t i = 0; i < KAR_LEN(changed); i++) {
		char owner[512];

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		put_queue("other", "");
		put_named(w.stores.resourcequotas, "c", "", QUOTA(PODS("4"), PODS("3")));
		put_admitted_a(changed[i].size, RUNS);
		if (changed[i].group[0]) {
			snprintf(owner, sizeof(owner),
				"%s,\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"a\",\"uid\":\"uid-a\",\"controller\":true}]",
				changed[i].group);
			put_named(w.stores.podgroups, "a", owner,
				",\"spec\":{},\"status\":{" RUNS
				",\"admittedQueue\":\"default\"," ADMITTED("True", "Admitted",
					"admitted by queue default") "}");
		}
		put_pods_of_a(3, changed[i].labels, BOUND);
		put_job("b", 2, "\"cpu\":1");
		if (!strstr(sync_text(true), "ns/b (Admitted=False/QuotaExceeded"))
			fail_msg("%s: %s", changed[i].name, sync_text(true));
		for (size_t k = 0; k < w.sync.plan.n_actions; k++) {
			if (strcmp(w.sync.plan.actions[k].name, "b") == 0)
				check_says(&w.sync.plan.actions[k], changed[i].message);
		}
	}
}

/*
 * A gang of two pods runs, whose template asks for 1 cpu, in a queue or under a quota of 8 cpu. Its pods were resized, or their requests
 * are what the API server made of the template. Another gang, of two pods of 1 cpu, waits.
 */
static const struct {
	const char *name, *queue, *quota;
	int first, second;   /* cpu of the pods that run */
	const char *message; /* of the gang that waits; NULL: it is admitted */
} stored[] = {
	{ "as_the_template", "\"capability\":{\"cpu\":8}", NULL, 1, 1, NULL },
	{ "larger_than_the_template", "\"capability\":{\"cpu\":8}", NULL, 4, 4,
		"insufficient cpu: 2 requested, 0 of 8 free (2 short), queue default has capability 8" },
	{ "one_of_them_is_larger", "\"capability\":{\"cpu\":8}", NULL, 1, 6,
		"insufficient cpu: 2 requested, 1 of 8 free (1 short), queue default has capability 8" },
	{ "one_of_them_by_less_than_is_free", "\"capability\":{\"cpu\":8}", NULL, 1, 5, NULL },
	{ "larger_under_a_quota", "", QUOTA("\"requests.cpu\":8", "\"requests.cpu\":8"), 4, 4,
		"insufficient requests.cpu: 2 requested, 0 of 8 free (2 short), quota c has 8, used 8" },
};

static void put_stored_pod(const char *name, int cpu)
{
	char meta[512], rest[256];

	snprintf(meta, sizeof(meta), MEMBER("a"), "");
	snprintf(rest, sizeof(rest),
		",\"spec\":{" BOUND
		"\"containers\":[" CONTAINER("\"cpu\":%d") "]},\"status\":{\"phase\":\"Running\"}",
		cpu);
	put_named(w.stores.pods, name, meta, rest);
}

static void pods_that_exist_count_as_they_are_stored(void **state)
{
	for (size_t i = 0; i < KAR_LEN(stored); i++) {
		const char *text;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", stored[i].queue);
		put_node("n1", "64", "");
		if (stored[i].quota)
			put_named(w.stores.resourcequotas, "c", "", stored[i].quota);
		put_admitted_a(2, RUNS);
		put_stored_pod("a-t-0", stored[i].first);
		put_stored_pod("a-t-1", stored[i].second);
		put_job("b", 2, "\"cpu\":1");
		text = sync_text(true);
		if (!strstr(text, stored[i].message ? "ns/b (Admitted=False" : "ns/b (Admitted=True"))
			fail_msg("%s: %s", stored[i].name, text);
		for (size_t k = 0; k < w.sync.plan.n_actions && stored[i].message; k++) {
			if (strcmp(w.sync.plan.actions[k].name, "b") == 0)
				check_says(&w.sync.plan.actions[k], stored[i].message);
		}
	}
}

/* Pods of a gang that was evicted, and that nobody has deleted yet, leave as they are stored. */
static void pods_of_an_evicted_gang_leave_as_they_are_stored(void **state)
{
	const char *text;

	(void)state;
	put_queue("default", "\"capability\":{\"cpu\":8}");
	put_node("n1", "64", "");
	put_job("a", 2, "\"cpu\":1");
	put_group_of_job("a",
		"\"phase\":\"Running\",\"placement\":{\"state\":\"RollingBack\",\"evictedBy\":\"ns/b\"}," ADMITTED(
			"False", "Preempted", "x"));
	put_stored_pod("a-t-0", 4);
	put_stored_pod("a-t-1", 4);
	put_job("b", 2, "\"cpu\":1");
	text = sync_text(true);
	if (!strstr(text, "ns/b (Admitted=False/Reserving"))
		fail_msg("%s", text);
}

/* The quota was lowered before any of its pods could run: they wait for the rest with our gate. */
static void admission_is_taken_back_while_nothing_is_let_go(void **state)
{
	(void)state;
	put_queue("default", "");
	put_named(w.stores.resourcequotas, "c", "", QUOTA(PODS("2"), PODS("2")));
	put_admitted_a(3, STARTS);
	put_pods_of_a(2, "", GATED);
	if (!strstr(sync_text(true), "ns/a (Admitted=False/QuotaInfeasible"))
		fail_msg("%s", sync_text(true));
	put_pods_of_a(2, "", "");
	assert_null(strstr(sync_text(true), "ns/a ("));
}

/* --- reservations (PodGroup spec.totalResources) --- */

#define TOTAL(pods) "\"minMember\":1,\"totalResources\":{\"pods\":" pods "}"
#define RESERVED(status) \
	"{\"type\":\"QuotaReserved\",\"status\":\"" status \
	"\",\"reason\":\"Reserved\",\"message\":\"m\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}"
#define KEPT(status) "\"phase\":\"Pending\",\"position\":0,\"conditions\":[" RESERVED(status) "]"

/* A group of another controller reserves pods of a quota of five; a job of three pods waits in the same namespace. */
static const struct {
	const char *name, *quota, *spec, *status; /* of the group */
	int members;                              /* pods of it that exist */
	const char *condition, *job; /* what is written of the group and of the job; "": no condition */
} reserves[] = {
	{ "granted", QUOTA(PODS("5"), PODS("0")), TOTAL("2"), "", 0, "\"status\":\"True\"", "Admitted" },
	{ "kept_from_others", QUOTA(PODS("5"), PODS("0")), TOTAL("3"), "", 0, "\"status\":\"True\"",
		"insufficient pods: 3 requested, 2 of 5 free (1 short), quota c has 5, used 3" },
	{ "too_much", QUOTA(PODS("5"), PODS("1")), TOTAL("5"), "", 0,
		"insufficient pods: 5 requested, 4 of 5 free (1 short), quota c has 5, used 1", "Admitted" },
	{ "members_use_it_up", QUOTA(PODS("5"), PODS("2")), TOTAL("2"), KEPT("True"), 2, "", "Admitted" },
	{ "members_use_a_part", QUOTA(PODS("5"), PODS("1")), TOTAL("3"), KEPT("True"), 1, "",
		"insufficient pods: 3 requested, 2 of 5 free (1 short), quota c has 5, used 3" },
	{ "withdrawn", QUOTA(PODS("5"), PODS("4")), TOTAL("2"), KEPT("True"), 0,
		"insufficient pods: 2 requested, 1 of 5 free (1 short), quota c has 5, used 4", "used 4" },
	{ "no_quota", NULL, TOTAL("9"), "", 0, "no ResourceQuota of the namespace limits pods", "Admitted" },
	{ "asked_for_no_longer", QUOTA(PODS("5"), PODS("0")), "\"minMember\":1", KEPT("True"), 0,
		"NotRequested", "Admitted" },
	{ "finished", QUOTA(PODS("5"), PODS("0")), TOTAL("5"),
		"\"phase\":\"Finished\",\"conditions\":[" RESERVED("True") "]", 0, "NotRequested",
		"Admitted" },
	{ "of_a_job", QUOTA(PODS("5"), PODS("0")), NULL, "", 0, "", "Admitted" },
};

/* The body of the last write about @name, "": there is none. */
static const char *written(const char *name, struct kar_buf *out)
{
	struct kar_err err = { 0 };

	kar_buf_clear(out);
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		const struct kar_action *a = &w.sync.plan.actions[i];

		if (a->type == &kar_podgroup_type && strcmp(a->name, name) == 0) {
			kar_buf_clear(out);
			assert_int_equal(w.controller.encode(&w.sync, a, out, &err), 0);
		}
	}
	return kar_buf_cstr(out);
}

static void room_is_kept_for_members_to_come(void **state)
{
	for (size_t i = 0; i < KAR_LEN(reserves); i++) {
		struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
		const char *found;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		if (reserves[i].quota)
			put_named(w.stores.resourcequotas, "c", "", reserves[i].quota);
		if (reserves[i].spec)
			put_group("g", reserves[i].spec, reserves[i].status);
		for (int k = 0; k < reserves[i].members; k++) {
			char name[16];

			snprintf(name, sizeof(name), "m%d", k);
			put_pod(name, ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}", "");
		}
		put_job("j", 3, "\"cpu\":1");
		if (!reserves[i].spec)
			put_named(w.stores.podgroups, "j", BY_JOB_J, ",\"spec\":{" TOTAL("5") "}");
		assert_true(sync_named("all"));
		found = strstr(written("g", &out), "QuotaReserved");
		if (reserves[i].condition[0] ? !found || !strstr(kar_buf_cstr(&out), reserves[i].condition)
					     : found && strstr(found, "\"False\""))
			fail_msg("%s: %s", reserves[i].name, kar_buf_cstr(&out));
		if (!strstr(written("j", &out), reserves[i].job))
			fail_msg("%s: %s", reserves[i].name, kar_buf_cstr(&out));
	}
}

/* One of two members stops: both are charged until it is gone, and the job has just enough room beside them. */
static void member_that_stops_is_charged_once(void **state)
{
	(void)state;
	put_queue("default", "");
	put_named(w.stores.resourcequotas, "c", "", QUOTA(PODS("5"), PODS("2")));
	put_group("g", "\"minMember\":1",
		"\"phase\":\"Running\",\"position\":0,\"placement\":{\"state\":\"Satisfied\",\"satisfiedMember\":1},\"admittedQueue\":\"default\"," ADMITTED(
			"True", "Admitted", "admitted by queue default"));
	for (int k = 0; k < 2; k++) {
		put_named(w.stores.pods, k ? "m1" : "m0",
			k ? ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"deletionTimestamp\":\"2036-11-21T10:00:00Z\""
			  : ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}",
			",\"spec\":{" BOUND
			"\"containers\":[" CONTAINER("\"cpu\":1") "]},\"status\":{\"phase\":\"Running\"}");
	}
	put_job("j", 3, "\"cpu\":1");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0 placed)");
}

static bool begins_a_pass(void)
{
	const char *key = kar_workqueue_take(w.controller.queue, w.mono);
	bool is = key && strcmp(key, "all") == 0;

	if (key)
		kar_workqueue_done(w.controller.queue, key);
	drain();
	return is;
}

static void what_changes_the_ledger_begins_a_pass(void **state)
{
	(void)state;
	put_queue("default", "");
	put_named(w.stores.resourcequotas, "c", "", QUOTA(PODS("3"), PODS("1")));
	put_pod("p", "", "\"cpu\":1");
	put_job("j", 3, "\"cpu\":1");
	assert_true(sync_named("all"));
	drain();
	put_named(w.stores.resourcequotas, "c", ",\"labels\":{\"a\":\"b\"}", QUOTA(PODS("3"), PODS("1")));
	assert_false(begins_a_pass()); /* only its labels have changed */
	put_named(w.stores.resourcequotas, "c", "", QUOTA(PODS("4"), PODS("1")));
	assert_true(begins_a_pass());
	put_named(w.stores.limitranges, "l", "", ",\"spec\":{\"limits\":[]}");
	assert_true(begins_a_pass());
	put_named(w.stores.limitranges, "l", ",\"labels\":{\"a\":\"b\"}", ",\"spec\":{\"limits\":[]}");
	assert_false(begins_a_pass());
	put_named(w.stores.limitranges, "l", "",
		",\"spec\":{\"limits\":[{\"type\":\"Container\",\"defaultRequest\":{\"cpu\":2}}]}");
	assert_true(begins_a_pass());
	put_pod("q", "", "\"cpu\":1");
	assert_false(begins_a_pass()); /* it takes room, and gives none */
	put_pod("p", ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"", "\"cpu\":1");
	assert_true(begins_a_pass());
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_gang_is_admitted_if_its_quotas_have_room),
		TEST(rows_are_closed_behind_the_first_that_waits),
		TEST(pods_that_pretend_are_charged_to_nobody_else),
		TEST(what_runs_stays_charged_whatever_is_changed),
		TEST(pods_that_exist_count_as_they_are_stored),
		TEST(pods_of_an_evicted_gang_leave_as_they_are_stored),
		TEST(admission_is_taken_back_while_nothing_is_let_go),
		TEST(room_is_kept_for_members_to_come),
		TEST(member_that_stops_is_charged_once),
		TEST(what_changes_the_ledger_begins_a_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
