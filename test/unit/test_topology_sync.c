/* The Topology reconciler: what the status says of the nodes that there are, and when it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "controllers/topology/topology.h"
#include "test/fixture/reconciler.h"

static struct kar_settings settings;

static int setup(void **state KAR_UNUSED)
{
	settings = (struct kar_settings){ 0 };
	open_world(kar_topology_controller, &settings);
	w.controller.start(&w.controller);
	return 0;
}

/* "n1 block=b1 rack=1": a node, and its labels. */
static void put_node(const char *words, const char *status)
{
	char text[256], labels[512] = "", meta[600];
	char *rest = text, *name, *word;
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", words);
	name = strsep(&rest, " ");
	while ((word = strsep(&rest, " ")) != NULL) {
		const char *key = strsep(&word, "=");

		n += (size_t)snprintf(labels + n, sizeof(labels) - n, "%s\"%s\":\"%s\"", n ? "," : "", key,
			word);
	}
	snprintf(meta, sizeof(meta), ",\"labels\":{%s}", labels);
	put_named(w.stores.nodes, name, meta, status);
}

#define LEVEL(label) "{\"nodeLabel\":\"" label "\"}"
#define RACKS LEVEL("block") "," LEVEL("rack")

static void put_topology(const char *levels, const char *status)
{
	char rest[2048];

	snprintf(rest, sizeof(rest), ",\"spec\":{\"levels\":[%s]}%s", levels, status);
	put_named(w.stores.topologies, "t", "", rest);
}

/* "block domains=2 nodes=3 without=1 ambiguous=0; ...", or "unchanged". */
static const char *status_text(void)
{
	static char text[4096];
	const struct kar_topology_status *s;
	size_t n = 0;

	assert_true(sync_named("t"));
	s = w.sync.plan.status;
	if (!s)
		return "unchanged";
	text[0] = '\0';
	for (size_t i = 0; i < s->n_levels; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
			"%s%s domains=%d nodes=%d without=%d ambiguous=%d", i ? "; " : "", s->levels[i].label,
			s->levels[i].domains, s->levels[i].nodes, s->levels[i].without_label,
			s->levels[i].ambiguous);
	return text;
}

static const struct {
	const char *name, *levels, *nodes[6], *status;
} rows[] = {
	{ "no_nodes", RACKS, { NULL },
		"block domains=0 nodes=0 without=0 ambiguous=0; rack domains=0 nodes=0 without=0 ambiguous=0" },
	{ "two_racks_of_one_block", RACKS, { "a block=b rack=1", "b block=b rack=1", "c block=b rack=2" },
		"block domains=1 nodes=3 without=0 ambiguous=0; rack domains=2 nodes=3 without=0 ambiguous=0" },
	{ "racks_of_one_name_in_two_blocks", RACKS,
		{ "a block=b rack=1", "b block=c rack=1", "c block=c rack=2", "d block=d rack=1",
			"e block=d rack=2" },
		"block domains=3 nodes=5 without=0 ambiguous=0; rack domains=5 nodes=5 without=0 ambiguous=2" },
	{ "some_have_no_label", RACKS, { "a block=b rack=1", "b block=b", "c" },
		"block domains=1 nodes=2 without=1 ambiguous=0; rack domains=1 nodes=1 without=2 ambiguous=0" },
	{ "narrower_label_alone_is_no_domain", RACKS, { "a rack=1", "b block=b rack=1" },
		"block domains=1 nodes=1 without=1 ambiguous=0; rack domains=1 nodes=1 without=1 ambiguous=0" },
	{ "other_labels_do_not_matter", LEVEL("rack"), { "a a=1 rack=1 z=1", "b rock=1", "c racks=1" },
		"rack domains=1 nodes=1 without=2 ambiguous=0" },
	{ "three_levels", LEVEL("zone") "," RACKS,
		{ "a zone=x block=b rack=1", "b zone=y block=b rack=1", "c zone=y block=c rack=1",
			"d zone=y block=c" },
		"zone domains=2 nodes=4 without=0 ambiguous=0; block domains=3 nodes=4 without=0 ambiguous=1; rack domains=3 nodes=3 without=1 ambiguous=1" },
};

static void levels_are_counted(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each */
		setup(state);
		put_topology(rows[i].levels, "");
		for (size_t k = 0; k < KAR_LEN(rows[i].nodes) && rows[i].nodes[k]; k++)
			put_node(rows[i].nodes[k], "");
		got = status_text();
		if (strcmp(got, rows[i].status) != 0)
			fail_msg("%s: %s", rows[i].name, got);
	}
}

static const struct {
	const char *name, *levels, *condition;
} specs[] = {
	{ "valid", RACKS, "True/Valid: the levels are valid" },
	{ "same_label_twice", RACKS "," LEVEL("block"),
		"False/InvalidLevels: spec.levels[2] and narrower ones are ignored: a wider one has the same label" },
	{ "no_label", LEVEL("block") "," LEVEL(""),
		"False/InvalidLevels: spec.levels[1] and narrower ones are ignored: it has no label" },
	{ "no_levels", "", "False/InvalidLevels: spec.levels is empty" },
	{ "more_than_16",
		LEVEL("1") "," LEVEL("2") "," LEVEL("3") "," LEVEL("4") "," LEVEL("5") "," LEVEL("6") "," LEVEL("7") "," LEVEL("8") "," LEVEL("9") "," LEVEL(
			"10") "," LEVEL("11") "," LEVEL("12") "," LEVEL("13") "," LEVEL("14") "," LEVEL("15") "," LEVEL("16") "," LEVEL("17"),
		"False/InvalidLevels: spec.levels[16] and narrower ones are ignored: there are more than 16" },
};

static void what_the_schema_should_have_refused_is_told(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(specs); i++) {
		const struct kar_condition *c;
		char got[256];

		put_topology(specs[i].levels, "");
		assert_string_not_equal(status_text(), "unchanged");
		c = kar_condition_find(&((const struct kar_topology_status *)w.sync.plan.status)->conditions,
			"Valid");
		snprintf(got, sizeof(got), "%s/%s: %s", c->status == KAR_COND_TRUE ? "True" : "False",
			c->reason, c->message);
		if (strcmp(got, specs[i].condition) != 0)
			fail_msg("%s: %s", specs[i].name, got);
		assert_int_equal(w.sync.plan.n_events, c->status == KAR_COND_FALSE);
	}
}

#define COUNTED(nodes) \
	",\"status\":{\"levels\":[{\"nodeLabel\":\"rack\",\"domains\":1,\"nodes\":" nodes \
	",\"nodesWithoutLabel\":0,\"ambiguous\":0}],\"conditions\":[{\"type\":\"Valid\",\"status\":\"True\"," \
	"\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:27Z\",\"reason\":\"Valid\",\"message\":\"the levels are valid\"}]}"

static void it_is_written_only_if_it_changes(void **state KAR_UNUSED)
{
	struct kar_buf out = { 0 };

	put_node("a rack=1", "");
	put_topology(LEVEL("rack"), "");
	assert_string_equal(status_text(), "rack domains=1 nodes=1 without=0 ambiguous=0");
	assert_true(w.sync.plan.urgent);
	assert_string_equal(w.controller.encode_status(&w.sync, &out), "status");
	assert_string_equal(kar_buf_cstr(&out),
		"{\"metadata\":{\"uid\":\"uid-t\",\"resourceVersion\":\"12\"}" COUNTED("1") "}");
	kar_buf_release(&out);
	put_topology(LEVEL("rack"), COUNTED("1"));
	assert_string_equal(status_text(), "unchanged");
	put_node("b rack=1", "");
	assert_string_equal(status_text(), "rack domains=1 nodes=2 without=0 ambiguous=0");
	assert_false(w.sync.plan.urgent); /* numbers alone may wait, and share a write */
	assert_true(w.sync.plan.counters);
	put_topology(LEVEL("rack"), COUNTED("2"));
	assert_string_equal(status_text(), "unchanged");
}

static bool wakes(void)
{
	const char *key = kar_workqueue_take(w.controller.queue, 0);

	if (key)
		kar_workqueue_done(w.controller.queue, key);
	return key != NULL;
}

static void labels_of_nodes_wake_it(void **state KAR_UNUSED)
{
	put_topology(LEVEL("rack"), "");
	assert_true(wakes());
	put_node("a rack=1", "");
	assert_true(wakes());
	put_node("a rack=1", ",\"status\":{\"allocatable\":{\"cpu\":\"1\"}}");
	assert_false(wakes());
	put_node("a rack=2", "");
	assert_true(wakes());
	kar_store_delete(w.stores.nodes, NULL, "a", "uid-a", ++w.rv);
	assert_true(wakes());
}

static void it_waits_for_its_own_write(void **state KAR_UNUSED)
{
	put_topology(LEVEL("rack"), "");
	kar_barrier_wrote(w.controller.barrier, "t", &kar_topology_type, w.rv + 1);
	assert_false(sync_named("t"));
	assert_true(w.sync.plan.requeue_after > 0 && w.sync.plan.requeue_after < KAR_SECOND);
	put_topology(LEVEL("rack"), "");
	assert_true(sync_named("t"));
	kar_store_delete(w.stores.topologies, NULL, "t", "uid-t", ++w.rv);
	assert_false(sync_named("t"));
}

/* It sees no nodes. */
static void manager_of_one_namespace_counts_nothing(void **state)
{
	assert_int_equal(teardown(state), 0);
	settings.one_namespace = true;
	open_world(kar_topology_controller, &settings);
	w.controller.start(&w.controller);
	put_topology(LEVEL("rack"), "");
	assert_false(wakes());
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(levels_are_counted),
		TEST(what_the_schema_should_have_refused_is_told),
		TEST(it_is_written_only_if_it_changes),
		TEST(labels_of_nodes_wake_it),
		TEST(it_waits_for_its_own_write),
		TEST(manager_of_one_namespace_counts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
