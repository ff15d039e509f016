/* PodDisruptionBudgets: what is kept of them, which pods they select, and that no gang is evicted beyond them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/names.h"
#include "api/core/disruptionbudget.h"
#include "api/pod/pod.h"
#include "test/unit/queue_sync_fixture.h"

#define BUDGET(spec, status) ",\"spec\":{" spec "},\"status\":{" status "}"
#define SELECTS(labels) "\"selector\":{\"matchLabels\":{" labels "}}"
#define ALLOWS(n) "\"observedGeneration\":1,\"disruptionsAllowed\":" n

/* --- one budget ------------------------------------------------------------------------------------------ */

/* Of a pod of the job j, task w, index 3, with the label a=b in its template. */
static const struct {
	const char *name, *budget;
	bool selects;
	int allowed;
} rows[] = {
	{ "label_of_the_template", BUDGET(SELECTS("\"a\":\"b\""), ALLOWS("2")), true, 2 },
	{ "another_value", BUDGET(SELECTS("\"a\":\"c\""), ALLOWS("2")), false, 2 },
	{ "label_of_the_job", BUDGET(SELECTS("\"kube-arbitrator.io/queuejob\":\"j\""), ALLOWS("0")), true,
		0 },
	{ "label_of_the_task",
		BUDGET(SELECTS("\"kube-arbitrator.io/task\":\"w\",\"kube-arbitrator.io/incarnation\":\"2\""),
			ALLOWS("0")),
		true, 0 },
	{ "label_of_another_task", BUDGET(SELECTS("\"kube-arbitrator.io/task\":\"m\""), ALLOWS("0")), false,
		0 },
	{ "label_of_the_group", BUDGET(SELECTS("\"scheduling.x-k8s.io/pod-group\":\"j\""), ALLOWS("0")), true,
		0 },
	{ "the_index_is_not_known", BUDGET(SELECTS("\"kube-arbitrator.io/index\":\"7\""), ALLOWS("0")), true,
		0 },
	{ "all_of_the_namespace", BUDGET("\"selector\":{}", ALLOWS("1")), true, 1 },
	{ "no_selector", BUDGET("", ALLOWS("1")), false, 1 },
	{ "expressions",
		BUDGET("\"selector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"b\"]}]}",
			ALLOWS("1")),
		false, 1 },
	{ "what_cannot_be_understood_may_select_it",
		BUDGET("\"selector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Like\",\"values\":[\"x\"]}]}",
			ALLOWS("1")),
		true, 1 },
	{ "not_counted_yet", BUDGET("\"selector\":{}", ""), true, 0 },
	{ "counted_before_an_edit",
		BUDGET("\"selector\":{}", "\"observedGeneration\":0,\"disruptionsAllowed\":3"), true, 0 },
	{ "less_than_nothing", BUDGET("\"selector\":{}", ALLOWS("-1")), true, 0 },
};

#define POD_OF_J \
	",\"labels\":{\"a\":\"b\",\"kube-arbitrator.io/queuejob\":\"j\",\"kube-arbitrator.io/task\":\"w\",\"kube-arbitrator.io/index\":\"3\"," \
	"\"kube-arbitrator.io/incarnation\":\"2\",\"scheduling.x-k8s.io/pod-group\":\"j\"},\"ownerReferences\":[{\"apiVersion\":" \
	"\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"u\",\"controller\":true}]"

static void budgets_select_pods(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_arena a = { 0 };
		const struct kar_disruptionbudget *b;
		struct kar_array labels;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_named(w.stores.disruptionbudgets, "b", ",\"generation\":1", rows[i].budget);
		put_named(w.stores.pods, "j-w-3", POD_OF_J, "");
		b = kar_as_disruptionbudget(kar_store_get(w.stores.disruptionbudgets, "ns", "b"));
		labels = kar_pod_labels(kar_as_pod(kar_store_get(w.stores.pods, "ns", "j-w-3")), &a);
		if (kar_disruptionbudget_selects(b, &labels) != rows[i].selects ||
			b->allowed != rows[i].allowed)
			fail_msg("%s: %d, allows %d", rows[i].name, kar_disruptionbudget_selects(b, &labels),
				(int)b->allowed);
		kar_arena_release(&a);
	}
}

/* Of 5 pods, which all run. */
static void budgets_allow_a_part(void **state)
{
	static const struct {
		const char *spec;
		int64_t allows;
	} specs[] = { { "\"maxUnavailable\":0", 0 }, { "\"maxUnavailable\":2", 2 },
		{ "\"maxUnavailable\":9", 5 }, { "\"maxUnavailable\":\"50%\"", 3 },
		{ "\"maxUnavailable\":\"100%\"", 5 }, { "\"maxUnavailable\":-1", 0 },
		{ "\"minAvailable\":0", 5 }, { "\"minAvailable\":4", 1 }, { "\"minAvailable\":7", 0 },
		{ "\"minAvailable\":\"50%\"", 2 }, { "\"minAvailable\":\"0%\"", 5 },
		{ "\"minAvailable\":\"x\"", 5 }, { "\"selector\":{}", 4 } };

	for (size_t i = 0; i < KAR_LEN(specs); i++) {
		const struct kar_disruptionbudget *b;
		char rest[128];

		assert_int_equal(teardown(state), 0);
		setup(state);
		snprintf(rest, sizeof(rest), ",\"spec\":{%s}", specs[i].spec);
		put_named(w.stores.disruptionbudgets, "b", "", rest);
		b = kar_as_disruptionbudget(kar_store_get(w.stores.disruptionbudgets, "ns", "b"));
		if (kar_disruptionbudget_allows_of(b, 5) != specs[i].allows)
			fail_msg("%s: %d", specs[i].spec, (int)kar_disruptionbudget_allows_of(b, 5));
	}
}

/* --- evictions ------------------------------------------------------------------------------------------- */

#define REQUESTS "\"resources\":{\"requests\":{\"cpu\":\"300\"}}"

static void put_gang(const char *name, int priority, int pods, const char *status)
{
	char rest[1024], owner[256];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"queue\":\"a\",\"schedSpec\":{\"minAvailable\":%d},\"taskSpecs\":[{\"name\":\"t\",\"replicas\":%d,\"template\":{\"metadata\":{\"labels\":{\"team\":\"%s\"}},\"spec\":{"
		"\"containers\":[{\"name\":\"c\"," REQUESTS
		"}]}}}]},\"status\":{\"phase\":\"Pending\",\"incarnation\":1}",
		pods, pods, name);
	put_named(w.stores.queuejobs, name, "", rest);
	snprintf(owner, sizeof(owner),
		",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"%s\",\"uid\":\"uid-%s\",\"controller\":true}]",
		name, name);
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"queue\":\"a\",\"priority\":%d,\"minMember\":%d},\"status\":{%s}", priority,
		pods, status);
	put_named(w.stores.podgroups, name, owner, rest);
}

#define RUNS \
	"\"phase\":\"Running\",\"position\":0,\"admittedQueue\":\"a\",\"placement\":{\"state\":\"Satisfied\",\"satisfiedMember\":1,\"attempt\":1}," ADMITTED( \
		"True", "Admitted", "admitted by queue a")
#define EVICTED \
	"\"phase\":\"Running\",\"position\":0,\"placement\":{\"state\":\"RollingBack\",\"attempt\":1,\"evictedBy\":\"ns/x\",\"cause\":\"y\"}," ADMITTED( \
		"False", "Preempted", "y")

static void put_pod_of(const char *job, const char *task, const char *phase, const char *label)
{
	char name[32], meta[512], rest[512];

	snprintf(name, sizeof(name), "%s-%s-0", job, task);
	snprintf(meta, sizeof(meta),
		",\"labels\":{\"team\":\"%s\",\"kube-arbitrator.io/queuejob\":\"%s\",\"kube-arbitrator.io/task\":\"%s\",\"kube-arbitrator.io/index\":\"0\","
		"\"scheduling.x-k8s.io/pod-group\":\"%s\"},\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\","
		"\"name\":\"%s\",\"uid\":\"uid-%s\",\"controller\":true}]",
		label, job, task, job, job, job);
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\"," REQUESTS
		"}]},\"status\":{\"phase\":\"%s\"}",
		phase);
	put_named(w.stores.pods, name, meta, rest);
}

static void put_member(const char *job, const char *phase, const char *label)
{
	put_pod_of(job, "t", phase, label);
}

/* Gangs of one pod of 300 cpu, v of priority 1 and w of priority 5, run on 1000 cpu; a third, u, may be evicted already. t comes. */
static const struct {
	const char *name, *budget, *phase; /* of the pod of v */
	const char *other;                 /* status of u; NULL: there is none */
	int pods;                          /* of t, with priority 9 */
	const char *evicted;               /* v, w; "": nobody */
} evictions[] = {
	{ "nobody_protects", BUDGET(SELECTS("\"team\":\"x\""), ALLOWS("0")), "Running", NULL, 2, "v" },
	{ "budget_spares_v", BUDGET(SELECTS("\"team\":\"v\""), ALLOWS("0")), "Running", NULL, 2, "w" },
	{ "budget_is_enough", BUDGET(SELECTS("\"team\":\"v\""), ALLOWS("1")), "Running", NULL, 2, "v" },
	{ "pod_that_does_not_run_is_not_protected", BUDGET(SELECTS("\"team\":\"v\""), ALLOWS("0")), "Pending",
		NULL, 2, "v" },
	{ "not_both_together", BUDGET("\"selector\":{}", ALLOWS("1")), "Running", NULL, 3, "" },
	{ "both_if_the_budget_allows", BUDGET("\"selector\":{}", ALLOWS("2")), "Running", NULL, 3, "w v" },
	{ "what_is_being_evicted_counts", BUDGET("\"selector\":{}", ALLOWS("1")), "Running", EVICTED, 2, "" },
};

static const char *evicted(void)
{
	static char text[16];

	text[0] = '\0';
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		const struct kar_action *a = &w.sync.plan.actions[i];

		if (a->type == &kar_podgroup_type && a->note && strstr(a->note, "evicted"))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", text[0] ? " " : "",
				a->name);
	}
	return text;
}

static void nobody_is_evicted_beyond_a_budget(void **state)
{
	for (size_t i = 0; i < KAR_LEN(evictions); i++) {
		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("a", "\"preemptionPolicy\":\"LowerPriority\"");
		put_queue("default", "");
		put_named(w.stores.disruptionbudgets, "b", ",\"generation\":1", evictions[i].budget);
		put_gang("v", 1, 1, RUNS);
		put_gang("w", 5, 1, RUNS);
		put_member("v", evictions[i].phase, "v");
		put_member("w", "Running", "w");
		if (evictions[i].other) {
			put_gang("u", 1, 1, evictions[i].other);
			put_member("u", "Running", "u");
		}
		put_gang("t", 9, evictions[i].pods, "\"phase\":\"Pending\"");
		assert_true(sync_named("all"));
		if (strcmp(evicted(), evictions[i].evicted) != 0)
			fail_msg("%s: %s", evictions[i].name, evicted());
	}
}

/* It has run for longer than ten minutes since its attempt failed. */
static void evicted_gang_that_has_run_has_no_failures(void **state)
{
	(void)state;
	put_queue("a", "\"preemptionPolicy\":\"LowerPriority\",\"maxJobs\":1");
	put_queue("default", "");
	put_gang("v", 1, 1,
		"\"phase\":\"Running\",\"position\":0,\"admittedQueue\":\"a\",\"placement\":{\"state\":\"Satisfied\",\"satisfiedMember\":1,\"attempt\":2,\"failures\":1,\"time\":\"2026-11-21T10:00:00Z\"}," ADMITTED(
			"True", "Admitted", "admitted by queue a"));
	put_member("v", "Running", "v");
	put_gang("t", 9, 1, "\"phase\":\"Pending\"");
	assert_true(sync_named("all"));
	assert_string_equal(evicted(), "v");
	check_says(&w.sync.plan.actions[0], "\"failures\":null");
}

static bool is_written(const char *name)
{
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		if (strcmp(w.sync.plan.actions[i].name, name) == 0)
			return true;
	}
	return false;
}

/* There is room on the nodes for both, but the queue has one place. The second write could arrive first, or alone. */
static void taker_is_admitted_when_the_eviction_is_recorded(void **state)
{
	(void)state;
	put_queue("a", "\"preemptionPolicy\":\"LowerPriority\",\"maxJobs\":1");
	put_gang("v", 1, 1, RUNS);
	put_member("v", "Running", "v");
	put_gang("t", 9, 1, "\"phase\":\"Pending\"");
	assert_true(sync_named("all"));
	assert_string_equal(evicted(), "v");
	assert_false(is_written("t"));
	put_gang("v", 1, 1, EVICTED);
	w.mono += KAR_SECOND;
	if (!strstr(sync_text(true), "ns/t (Admitted=True"))
		fail_msg("%s", sync_text(true));
}

/* The API server refuses the write about v, again and again. */
static void taker_does_not_wait_for_ever(void **state)
{
	(void)state;
	put_queue("a", "\"preemptionPolicy\":\"LowerPriority\",\"maxJobs\":1");
	put_queue("default", "");
	put_gang("v", 1, 1, RUNS);
	put_member("v", "Running", "v");
	put_gang("t", 9, 1, "\"phase\":\"Pending\"");
	for (int i = 0; i < 5; i++) {
		assert_true(sync_named("all"));
		assert_false(is_written("t"));
		put_gang("v", 1, 1, RUNS); /* so that the next pass does not wait to see its own write */
		w.mono += KAR_SECOND;
	}
	assert_true(sync_named("all"));
	assert_true(is_written("t"));
}

static void budget_that_allows_more_begins_a_pass(void **state)
{
	(void)state;
	put_queue("a", "\"preemptionPolicy\":\"LowerPriority\"");
	put_named(w.stores.disruptionbudgets, "b", ",\"generation\":1",
		BUDGET("\"selector\":{}", ALLOWS("0")));
	put_gang("v", 1, 3, RUNS);
	put_member("v", "Running", "v");
	put_gang("t", 9, 3, "\"phase\":\"Pending\"");
	assert_null(strstr(sync_text(true), "evicted"));
	drain();
	put_named(w.stores.disruptionbudgets, "b", ",\"generation\":1,\"labels\":{\"x\":\"y\"}",
		BUDGET("\"selector\":{}", ALLOWS("0")));
	assert_null(kar_workqueue_take(w.controller.queue, w.mono));
	put_named(w.stores.disruptionbudgets, "b", ",\"generation\":1",
		BUDGET("\"selector\":{}", ALLOWS("1")));
	assert_string_equal(kar_workqueue_take(w.controller.queue, w.mono), "all");
	kar_workqueue_done(w.controller.queue, "all");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* --- what is lent ---------------------------------------------------------------------------------------- */

#define TASK(name, labels) \
	"{\"name\":\"" name \
	"\",\"replicas\":1,\"template\":{\"metadata\":{\"labels\":{\"team\":\"t\"" labels \
	"}},\"spec\":{\"containers\":[{\"name\":\"c\"," REQUESTS "}]}}}"
#define DRIVER_AND_WORKER \
	",\"spec\":{\"queue\":\"a\",\"schedSpec\":{\"minAvailable\":2},\"taskSpecs\":[" TASK("d", \
		",\"role\":\"driver\"") "," TASK("w", \
		"") "]},\"status\":{\"phase\":\"Pending\",\"incarnation\":1}"

/* Queue a, which has a right to 300 of 1000 cpu, lends itself more: another one has a right to the rest. t asks for two pods of 300. */
static void what_could_not_come_back_is_not_lent(void **state)
{
	static const struct {
		const char *budget, *says; /* NULL: it is admitted */
	} lends[] = { { BUDGET(SELECTS("\"team\":\"v\"") ",\"maxUnavailable\":0", ""), NULL },
		{ BUDGET(SELECTS("\"team\":\"t\"") ",\"maxUnavailable\":0", ""),
			"PodDisruptionBudget b allows less than all of its pods" },
		{ BUDGET(SELECTS("\"kube-arbitrator.io/queuejob\":\"t\"") ",\"minAvailable\":1", ""),
			"PodDisruptionBudget b" },
		{ BUDGET("\"selector\":{},\"maxUnavailable\":0", ""), "queue a is entitled to 300" },
		{ BUDGET(SELECTS("\"" KAR_LABEL_INCARNATION "\":\"2\"") ",\"maxUnavailable\":0", ""),
			"queue a is entitled to 300" },
		{ BUDGET(SELECTS("\"" KAR_LABEL_INCARNATION "\":\"1\"") ",\"maxUnavailable\":0", ""), NULL },
		{ BUDGET("\"selector\":{},\"maxUnavailable\":2", ""), NULL },
		{ BUDGET(SELECTS("\"role\":\"driver\"") ",\"maxUnavailable\":1", ""), NULL },
		{ BUDGET(SELECTS("\"role\":\"driver\"") ",\"minAvailable\":1", ""),
			"PodDisruptionBudget b" } };

	for (size_t i = 0; i < KAR_LEN(lends); i++) {
		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("a", "\"deserved\":{\"cpu\":300}");
		put_queue("o", "\"deserved\":{\"cpu\":700}");
		put_named(w.stores.disruptionbudgets, "b", ",\"generation\":1", lends[i].budget);
		put_gang("t", 9, 2, "");
		put_named(w.stores.queuejobs, "t", "", DRIVER_AND_WORKER);
		sync_text(true);
		check_says(&w.sync.plan.actions[0], lends[i].says ? lends[i].says : "admitted by queue a");
	}
}

/* It runs with 600 of them: its budget has come later. */
static void queue_lends_no_more_and_says_so(void **state)
{
	(void)state;
	put_queue("a", "\"deserved\":{\"cpu\":300}");
	put_queue("o", "\"deserved\":{\"cpu\":700}");
	put_gang("v", 1, 2, RUNS);
	put_member("v", "Running", "v");
	put_named(w.stores.disruptionbudgets, "b", ",\"generation\":1",
		BUDGET("\"selector\":{},\"maxUnavailable\":0", ""));
	sync_text(true);
	w.mono += 10000;
	sync_named("positions");
	check_says(&w.sync.plan.actions[0],
		"admitted by queue a; queue a lends it no more: PodDisruptionBudget b allows less than all of its pods");
}

/* One pod of the task may be disrupted, and it has no more: those of the other task are not counted, whichever is the first. */
static void budget_of_a_task_is_compared_with_its_pods(void **state)
{
	static const char *const budgets[] = {
		BUDGET(SELECTS("\"" KAR_LABEL_TASK "\":\"d\"") ",\"maxUnavailable\":1", ""),
		BUDGET(SELECTS("\"" KAR_LABEL_TASK "\":\"w\"") ",\"maxUnavailable\":1", "")
	};

	for (size_t i = 0; i < KAR_LEN(budgets); i++) {
		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("a", "\"deserved\":{\"cpu\":300}");
		put_queue("o", "\"deserved\":{\"cpu\":700}");
		put_gang("t", 1, 2, RUNS);
		put_named(w.stores.queuejobs, "t", "", DRIVER_AND_WORKER);
		put_pod_of("t", "d", "Running", "t");
		put_pod_of("t", "w", "Running", "t");
		put_named(w.stores.disruptionbudgets, "b", ",\"generation\":1", budgets[i]);
		sync_text(true);
		w.mono += 10000;
		sync_named("positions");
		assert_false(is_written("t"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(budgets_allow_a_part, setup, teardown),
		cmocka_unit_test_setup_teardown(what_could_not_come_back_is_not_lent, setup, teardown),
		cmocka_unit_test_setup_teardown(queue_lends_no_more_and_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(budget_of_a_task_is_compared_with_its_pods, setup, teardown),
		TEST(budgets_select_pods),
		TEST(nobody_is_evicted_beyond_a_budget),
		TEST(evicted_gang_that_has_run_has_no_failures),
		TEST(taker_is_admitted_when_the_eviction_is_recorded),
		TEST(taker_does_not_wait_for_ever),
		TEST(budget_that_allows_more_begins_a_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
