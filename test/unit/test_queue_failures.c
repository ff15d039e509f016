/* Nodes on which pods of a gang failed twice are taken last by its next plan (decision 105). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controllers/queue/failures.h"
#include "test/unit/queue_sync_fixture.h"

#define PLACED "patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)"
#define LAST "node n1 is taken last: two pods of this gang failed there"

/* One of the gang that was on n1, as its status says. */
static void put_end(const char *name, const char *meta, const char *status)
{
	char more[256], rest[256];

	snprintf(more, sizeof(more), "%s,\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}", meta);
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\"}]},\"status\":{%s}", status);
	put_named(w.stores.pods, name, more, rest);
}

/* A gated pod that fits on both; n1, which has less room, goes first. */
static const char *place(void)
{
	put_queue("default", "");
	put_node("n1", "2", "");
	put_node("n2", "4", "");
	put_group("g", "\"minMember\":1", "");
	put_named(w.stores.pods, "p",
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"p\",\"uid\":\"uid-p\",\"controller\":true}]",
		",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}");
	return sync_text(true);
}

static const struct {
	const char *name, *meta, *status;
	int times;
	bool last;
} rows[] = {
	{ "twice_by_exit_code", "", "\"phase\":\"Failed\"", 2, true },
	{ "twice_by_refusal", "", "\"phase\":\"Failed\",\"reason\":\"OutOfcpu\"", 2, true },
	{ "once", "", "\"phase\":\"Failed\"", 1, false },
	{ "with_success", "", "\"phase\":\"Succeeded\"", 2, false },
	{ "by_others", "",
		"\"phase\":\"Failed\",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]",
		2, false },
	{ "while_being_deleted", ",\"deletionTimestamp\":\"2026-11-21T13:46:40Z\"", "\"phase\":\"Failed\"", 2,
		false },
};

static void nodes_on_which_pods_failed_are_taken_last(void **state)
{
	static const char *const names[] = { "a", "b" };

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		assert_int_equal(teardown(state), 0); /* a world of its own for each */
		setup(state);
		for (int k = 0; k < rows[i].times; k++) {
			put_end(names[k], rows[i].meta, rows[i].status);
			put_end(names[k], rows[i].meta,
				rows[i].status); /* told once more: it is the same failure */
			kar_store_delete(w.stores.pods, "ns", names[k], NULL, w.rv++);
		}
		print_message("%s\n", rows[i].name);
		assert_string_equal(place(), PLACED);
		check_says(&w.sync.plan.actions[0], rows[i].last ? "\"nodes\":\"n2\"" : "\"nodes\":\"n1\"");
		check_says(&w.sync.plan.actions[0],
			rows[i].last ? "admitted by queue default; " LAST : "\"admitted by queue default\"");
	}
}

static void a_group_that_is_made_anew_begins_with_none(void **state KAR_UNUSED)
{
	put_group("g", "\"minMember\":1", "");
	put_end("a", "", "\"phase\":\"Failed\"");
	put_end("b", "", "\"phase\":\"Failed\"");
	kar_store_delete(w.stores.pods, "ns", "a", NULL, w.rv++);
	kar_store_delete(w.stores.pods, "ns", "b", NULL, w.rv++);
	kar_store_delete(w.stores.podgroups, "ns", "g", NULL, w.rv++);
	assert_string_equal(place(), PLACED);
	check_says(&w.sync.plan.actions[0], "\"nodes\":\"n1\"");
}

static void what_is_remembered_is_bounded(void **state KAR_UNUSED)
{
	struct queue_failures *f = queue_failures_new();
	struct kar_arena a = { 0 };
	const char *const *nodes;
	char node[16];

	for (int i = 0; i < 20; i++) {
		snprintf(node, sizeof(node), "n%02d", i);
		queue_failures_note(f, "ns/g", node);
		queue_failures_note(f, "ns/h", node);
		queue_failures_note(f, "ns/g", node);
	}
	assert_int_equal(queue_failures_of(f, "ns/g", &a, &nodes), QUEUE_FAILURES_NODES);
	assert_string_equal(nodes[0], "n00");
	assert_int_equal(queue_failures_of(f, "ns/h", &a, &nodes), 0);
	queue_failures_forget(f, "ns/g");
	assert_int_equal(queue_failures_of(f, "ns/g", &a, &nodes), 0);
	for (int i = 0; i < 2 * QUEUE_FAILURES_MAX; i++) {
		snprintf(node, sizeof(node), "n%d", i / 2);
		queue_failures_note(f, "ns/i", node);
	}
	queue_failures_note(f, "ns/j", "n");
	queue_failures_note(f, "ns/j", "n");
	assert_int_equal(queue_failures_of(f, "ns/j", &a, &nodes), 0);
	kar_arena_release(&a);
	queue_failures_free(f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nodes_on_which_pods_failed_are_taken_last),
		TEST(a_group_that_is_made_anew_begins_with_none),
		TEST(what_is_remembered_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
