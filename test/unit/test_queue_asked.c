/* The queue of a group that names none: that of its oldest member, or of its namespace; and namespaces that a queue selects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controllers/cluster/asked.h"
#include "test/unit/queue_sync_fixture.h"

#define QUEUE(name) "\"kube-arbitrator.io/queue\":\"" name "\""
#define IN(queue) \
	"\"phase\":\"Pending\",\"position\":0,\"admittedQueue\":\"" queue \
	"\"," ADMITTED("True", "Admitted", "admitted by queue " queue)
#define STATE(state) "\"placement\":{\"state\":\"" state "\",\"attempt\":1},"
#define STAYS "" /* the text alone is another */
#define LABEL(name) "patch podgroups ns/g (queue=" name ")"
#define WAITS "patch podgroups/status ns/g (Admitted=False/QueueClosed position=0)"
#define RUNS "patch podgroups/status ns/g (Admitted=True/Admitted position=0)"
#define PLACED "patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)"

/*
 * Of group g; the queues default and open are open, others are closed. @pods: name, its queue (- for none), and what it is: gated, bound, done, of a
 * QueueJob.
 */
static const struct {
	const char *name, *ns, *meta, *spec, *status, *pods, *plan;
} rows[] = {
	{ "nobody_names_one", "", "", "", "", "a - gated", PLACED },
	{ "pod_names_one", "", "", "", "", "a a gated", LABEL("a") },
	{ "oldest_pod_decides", "", "", "", "", "b b gated; a a gated", LABEL("b") },
	{ "also_if_it_names_none", "", "", "", "", "b - gated; a a gated", PLACED },
	{ "pod_that_has_ended_does_not_count", "", "", "", "", "b b done; a a gated", LABEL("a") },
	{ "annotation_of_the_namespace", ",\"annotations\":{" QUEUE("n") "}", "", "", "", "a - gated",
		LABEL("n") },
	{ "label_of_the_namespace", ",\"labels\":{" QUEUE("n") "}", "", "", "", "a - gated", LABEL("n") },
	{ "pod_before_namespace", ",\"annotations\":{" QUEUE("n") "}", "", "", "", "a a gated", LABEL("a") },
	{ "pods_that_are_not_gated", "", "", "", "", "a a", LABEL("a") },
	{ "spec_before_all", ",\"annotations\":{" QUEUE("n") "}", "", "\"queue\":\"open\",", "", "a a gated",
		PLACED },
	{ "label_of_the_group_before_all", ",\"annotations\":{" QUEUE("n") "}",
		",\"labels\":{" QUEUE("open") "}", "", "", "a a gated", PLACED },
	{ "namespace_before_there_are_members", ",\"annotations\":{" QUEUE("n") "}", "", "", "", "", WAITS },
	{ "default_is_not_written", ",\"annotations\":{" QUEUE("n") "}", "", "", "", "a default gated",
		PLACED },
	{ "nor_what_is_no_name", ",\"annotations\":{" QUEUE("No Name") "}", "", "", "", "a - gated",
		"patch podgroups/status ns/g (Admitted=False/QueueNotFound position=0)" },
	{ "members_come_after_an_admission", "", "", "", IN("default"), "a a gated", LABEL("a") },
	{ "or_the_namespace_has_admitted_it", ",\"annotations\":{" QUEUE("open") "}", "", "", IN("open"),
		"a - gated", LABEL("open") },
	{ "group_that_has_started_stays", ",\"annotations\":{" QUEUE("n") "}", "", "",
		STATE("Satisfied") IN("default"), "a a gated", "" },
	{ "group_that_runs_stays_whatever_it_is_labelled", "", ",\"labels\":{" QUEUE("a") "}", "",
		STATE("Satisfied") IN("open"), "p - bound", STAYS },
	{ "or_names", "", "", "\"queue\":\"a\",", STATE("Satisfied") IN("open"), "p - bound; q - gated",
		STAYS },
	{ "or_names_no_more", "", "", "", STATE("Satisfied") IN("open"), "p - bound", STAYS },
	{ "until_its_pods_are_gone", "", ",\"labels\":{" QUEUE("a") "}", "", STATE("Satisfied") IN("open"),
		"p - done; q - gated",
		"patch podgroups/status ns/g (Admitted=False/QueueClosed position=0)" },
	{ "nor_where_there_is_no_queue_any_more", "", ",\"labels\":{" QUEUE("a") "}", "",
		STATE("Satisfied") IN("z"), "p - bound",
		"patch podgroups/status ns/g (Admitted=False/QueueClosed position=0)" },
	{ "group_that_waits_goes", "", "", "",
		"\"phase\":\"Pending\",\"position\":1," ADMITTED("False", "NoFit", "text"), "a a gated",
		LABEL("a") },
	{ "job_names_one", ",\"annotations\":{" QUEUE("n") "}",
		",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"g\",\"uid\":\"uid-g\",\"controller\":true}]",
		"", "", "", RUNS },
};

static void put_pod(char *text, int number)
{
	const char *name = strsep(&text, " "), *queue = strsep(&text, " "), *is = text ? text : "";
	char meta[512], rest[256], label[64] = "";

	if (strcmp(queue, "-") != 0)
		snprintf(label, sizeof(label), "," QUEUE("%s"), queue);
	snprintf(meta, sizeof(meta),
		",\"creationTimestamp\":\"2026-11-21T10:00:0%dZ\",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"%s}",
		number, label);
	snprintf(rest, sizeof(rest), ",\"spec\":{%s},\"status\":{\"phase\":\"%s\"}",
		strcmp(is, "bound") == 0 ? "\"nodeName\":\"n1\""
			: strcmp(is, "gated") == 0
			? "\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]"
			: "",
		strcmp(is, "done") == 0 ? "Succeeded" : "Pending");
	put_named(w.stores.pods, name, meta, rest);
}

static void put_pods(const char *text)
{
	char buf[256], *rest = buf, *part;
	int n = 0;

	snprintf(buf, sizeof(buf), "%s", text);
	while ((part = strsep(&rest, ";")) != NULL) {
		part += strspn(part, " ");
		if (*part)
			put_pod(part, n++);
	}
}

static void put_g(const char *meta, const char *spec, const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest), ",\"spec\":{%s\"minMember\":1},\"status\":{%s}", spec, status);
	put_named(w.stores.podgroups, "g", meta, rest);
}

static void put_queues(void)
{
	static const char *const closed[] = { "a", "b", "n" };

	put_queue("default", "");
	put_queue("open", "");
	for (size_t i = 0; i < KAR_LEN(closed); i++)
		put_queue(closed[i], "\"state\":\"Closed\"");
}

static void group_asks_for(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_queues();
		put_named(w.stores.namespaces, "ns", rows[i].ns, "");
		if (strstr(rows[i].meta, "ownerReferences"))
			put_named_job("g", "", ",\"queue\":\"open\"", "Pending");
		put_pods(rows[i].pods);
		put_g(rows[i].meta, rows[i].spec, rows[i].status);
		got = sync_text(true);
		if (strcmp(got, rows[i].plan) != 0)
			fail_msg("%s:\nwant '%s'\ngot  '%s'", rows[i].name, rows[i].plan, got);
	}
}

#define OF_JOB_G \
	",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"g\",\"uid\":\"uid-g\",\"controller\":true}]"
#define ADMITTED_BY(queue) \
	"Running\",\"queue\":\"" queue \
	"\",\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\"}],\"reason\":\""

/* The queue of the job g, and of its group, which names none: until its job has repaired that it stays where it is admitted. */
static const struct {
	const char *name, *ns, *meta, *spec, *phase;
	const char *group;         /* status */
	const char *default_queue; /* NULL: the flag is not set */
	const char *queue;
} jobs[] = {
	{ "spec", ",\"annotations\":{" QUEUE("n") "}", ",\"labels\":{" QUEUE("l") "}", ",\"queue\":\"s\"",
		"Pending", "", NULL, "s" },
	{ "label", ",\"annotations\":{" QUEUE("n") "}", ",\"labels\":{" QUEUE("l") "}", "", "Pending", "",
		NULL, "l" },
	{ "empty_label", ",\"annotations\":{" QUEUE("n") "}", ",\"labels\":{" QUEUE("") "}", "", "Pending",
		"", NULL, "n" },
	{ "annotation_is_none", "", ",\"annotations\":{" QUEUE("l") "}", "", "Pending", "", NULL, "default" },
	{ "annotation_of_the_namespace", ",\"annotations\":{" QUEUE("n") "}", "", "", "Pending", "", NULL,
		"n" },
	{ "label_of_the_namespace", ",\"labels\":{" QUEUE("m") "},\"annotations\":{" QUEUE("n") "}", "", "",
		"Pending", "", NULL, "m" },
	{ "nobody_names_one", "", "", "", "Pending", "", NULL, "default" },
	{ "default_queue_is_another", "", "", "", "Pending", "", "open", "open" },
	{ "there_is_no_default_queue", "", "", "", "Pending", "", "none", "" },
	{ "queue_may_be_called_none", "", ",\"labels\":{" QUEUE("none") "}", "", "Pending", "", "none",
		"none" },
	{ "admitted_job_stays", ",\"annotations\":{" QUEUE("n") "}", ",\"labels\":{" QUEUE("l") "}",
		",\"queue\":\"s\"", ADMITTED_BY("a"), IN("a"), NULL, "a" },
	{ "admitted_job_that_names_no_queue_any_more_stays", "", "", "", ADMITTED_BY("a"), IN("a"), NULL,
		"a" },
	{ "admitted_job_whose_label_changes_stays", "", ",\"labels\":{" QUEUE("l") "}", "", ADMITTED_BY("a"),
		IN("a"), NULL, "a" },
	{ "admitted_job_that_names_a_queue_stays", "", "", ",\"queue\":\"s\"", ADMITTED_BY("a"), IN("a"),
		NULL, "a" },
	{ "admission_was_of_a_former_job", "", "", ",\"queue\":\"s\"", "Pending", IN("a"), NULL, "s" },
	{ "group_was_moved", "", "", ",\"queue\":\"s\"", ADMITTED_BY("s"), IN("a"), NULL, "s" },
	{ "admission_is_taken_back", "", "", ",\"queue\":\"s\"", ADMITTED_BY("a"),
		"\"admittedQueue\":\"a\"," ADMITTED("False", "NoFit", "text"), NULL, "s" },
};

static void job_asks_for(void **state)
{
	for (size_t i = 0; i < KAR_LEN(jobs); i++) {
		const char *of_group;
		const struct kar_object *job, *group;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		w.stores.default_queue = jobs[i].default_queue;
		put_named(w.stores.namespaces, "ns", jobs[i].ns, "");
		put_named_job("g", jobs[i].meta, jobs[i].spec, jobs[i].phase);
		put_g(OF_JOB_G, "", jobs[i].group);
		job = kar_store_get(w.stores.queuejobs, "ns", "g");
		group = kar_store_get(w.stores.podgroups, "ns", "g");
		of_group = kar_asked_queue(&w.stores, kar_as_podgroup(group)).queue;
		if (strcmp(kar_asked_queue_of_job(&w.stores, kar_as_queuejob(job)), jobs[i].queue) != 0 ||
			strcmp(of_group, strstr(jobs[i].group, "True") ? "a" : jobs[i].queue) != 0)
			fail_msg("%s: want '%s', got '%s', and '%s' of the group", jobs[i].name,
				jobs[i].queue, kar_asked_queue_of_job(&w.stores, kar_as_queuejob(job)),
				of_group);
	}
}

/* Neither is anything created for him who names no queue. */
static void without_a_default_queue_one_must_be_named(void **state)
{
	(void)state;
	w.stores.default_queue = "none";
	put_g("", "\"queue\":\"default\",", "");
	assert_string_equal(sync_text(false),
		"patch podgroups/status ns/g (Admitted=False/QueueNotFound position=0)");
	w.mono += 1000;
	put_g("", "", "");
	assert_string_equal(sync_text(false),
		"patch podgroups/status ns/g (Admitted=False/QueueNotFound position=0)");
	check_says(&w.sync.plan.actions[0],
		"\"message\":\"name a queue: this cluster has no default queue\"");
}

/* Who names it must get it, although nothing is written for the default queue. */
static void queue_default_is_no_default(void **state)
{
	(void)state;
	w.stores.default_queue = "open";
	put_queues();
	put_g("", "", "");
	put_pods("a default gated");
	assert_string_equal(sync_text(true), LABEL("default"));
	w.mono += 1000;
	put_pods("a - gated");
	assert_string_equal(sync_text(true), PLACED);
}

static void label_has_preconditions(void **state)
{
	(void)state;
	put_queue("a", "");
	put_pods("a a gated");
	put_g("", "", "");
	assert_string_equal(sync_text(true), LABEL("a"));
	check_says(&w.sync.plan.actions[0],
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"13\",\"labels\":{" QUEUE("a") "}}}");
}

/* It says where it goes when its pods are gone. */
static void group_that_moves_says_so(void **state)
{
	(void)state;
	put_queues();
	put_pods("p - bound");
	put_g("", "\"queue\":\"a\",", STATE("Satisfied") IN("open"));
	sync_text(true);
	w.mono += 10000;
	sync_named("positions");
	check_says(&w.sync.plan.actions[0],
		"admitted by queue open; it moves to queue a when its pods are gone");
}

/* While the label is on its way, the group counts in the queue that it leaves and in the one that it will be in. */
static void group_on_its_way_holds_its_place(void **state)
{
	(void)state;
	put_queue("default", "");
	put_queue("a", "\"maxJobs\":1");
	put_pods("a a gated");
	put_g("", "\"priority\":5,", IN("default"));
	put_group("h", "\"minMember\":1,\"queue\":\"a\",\"priority\":1", "");
	assert_string_equal(sync_text(true),
		LABEL("a") "; patch podgroups/status ns/h (Admitted=False/MaxJobsReached position=1)");
}

/* A pass is due: 1, or not: 0. */
static int wakes(const char *meta)
{
	int n = 0;

	put_named(w.stores.namespaces, "ns", meta, "");
	for (const char *key; (key = kar_workqueue_take(w.controller.queue, w.mono)); n++) {
		assert_string_equal(key, "all");
		kar_workqueue_done(w.controller.queue, key);
	}
	return n;
}

static void change_of_a_namespace_begins_a_pass(void **state)
{
	(void)state;
	assert_int_equal(wakes(""), 1);
	assert_int_equal(wakes(""), 0);
	assert_int_equal(wakes(",\"annotations\":{\"x\":\"y\"}"), 0);
	assert_int_equal(wakes(",\"annotations\":{" QUEUE("a") "}"), 1);
	assert_int_equal(wakes(",\"labels\":{\"team\":\"vip\"}"), 1);
	assert_int_equal(wakes(",\"labels\":{\"team\":\"red\"}"), 1);
}

static const struct {
	const char *name, *labels, *status, *plan;
} selected[] = {
	{ "selected", "\"team\":\"vip\"", "", RUNS },
	{ "not_selected", "\"team\":\"red\"", "",
		"patch podgroups/status ns/g (Admitted=False/NamespaceNotAllowed position=0)" },
	{ "admitted_before", "\"team\":\"red\"", IN("vip"), "" },
};

static void queue_admits_the_namespaces_that_it_selects(void **state)
{
	for (size_t i = 0; i < KAR_LEN(selected); i++) {
		char meta[128];
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		snprintf(meta, sizeof(meta), ",\"labels\":{%s}", selected[i].labels);
		put_named(w.stores.namespaces, "ns", meta, "");
		put_queue("default", "");
		put_queue("vip", "\"namespaceSelector\":{\"matchLabels\":{\"team\":\"vip\"}}");
		put_g("", "\"queue\":\"vip\",", selected[i].status);
		got = sync_text(true);
		if (strcmp(got, selected[i].plan) != 0)
			fail_msg("%s:\nwant '%s'\ngot  '%s'", selected[i].name, selected[i].plan, got);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(group_asks_for),
		TEST(job_asks_for),
		TEST(without_a_default_queue_one_must_be_named),
		TEST(queue_default_is_no_default),
		TEST(label_has_preconditions),
		TEST(group_that_moves_says_so),
		TEST(group_on_its_way_holds_its_place),
		TEST(change_of_a_namespace_begins_a_pass),
		TEST(queue_admits_the_namespaces_that_it_selects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
