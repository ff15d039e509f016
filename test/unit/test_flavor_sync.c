/* Flavors: which node is of which, what their status says, and how the pass of queues sees them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "controllers/flavor/flavor.h"
#include "test/unit/queue_sync_fixture.h"

static void put_flavor(const char *name, const char *labels, const char *more)
{
	char rest[1024];

	snprintf(rest, sizeof(rest), ",\"spec\":{\"nodeSelector\":{\"matchLabels\":{%s}}%s}", labels, more);
	put_named(w.stores.flavors, name, "", rest);
}

static void put_labelled(const char *name, const char *labels, const char *cpu)
{
	char meta[256], rest[512];

	snprintf(meta, sizeof(meta), ",\"labels\":{%s}", labels);
	snprintf(rest, sizeof(rest),
		",\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"%s\",\"memory\":\"1Gi\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}",
		cpu);
	put_named(w.stores.nodes, name, meta, rest);
}

/* Of the engine; "-": none. */
static const char *flavor_of(const char *node)
{
	const char *name =
		kar_sched_label_of(kar_snapshot_sched(w.stores.snapshot), node, KAR_QUEUE_FLAVOR_LABEL);

	return name ? name : "-";
}

#define H100 "\"model\":\"h100\""
#define SPOT "\"spot\":\"yes\""

static void node_is_of_the_flavor_with_most_labels(void **state KAR_UNUSED)
{
	put_labelled("a", H100, "4");
	put_labelled("b", H100 "," SPOT, "4");
	put_labelled("c", SPOT, "4");
	assert_string_equal(flavor_of("a"), "-");
	put_flavor("h100", H100, "");
	put_flavor("h100-spot", H100 "," SPOT, "");
	assert_string_equal(flavor_of("a"), "h100");
	assert_string_equal(flavor_of("b"), "h100-spot");
	assert_string_equal(flavor_of("c"), "-");
	put_flavor("cheap", SPOT, "");
	assert_string_equal(flavor_of("b"), "h100-spot");
	assert_string_equal(flavor_of("c"), "cheap");
	put_flavor("h100-spot", "\"model\":\"other\"", ""); /* of two with one label the first by name */
	assert_string_equal(flavor_of("b"), "cheap");
	put_labelled("c", H100, "4");
	assert_string_equal(flavor_of("c"), "h100");
}

static void nodes_of_a_flavor_are_counted(void **state)
{
	const struct kar_flavor_status *s;

	assert_int_equal(teardown(state), 0);
	open_world(kar_flavor_controller, &settings);
	w.controller.start(&w.controller);
	put_flavor("h100", H100, "");
	put_flavor("cheap", SPOT, "");
	put_labelled("a", H100, "4");
	put_labelled("b", H100 "," SPOT, "8");
	put_labelled("c", SPOT, "2500m");
	put_named(w.stores.nodes, "d", ",\"labels\":{" SPOT "}",
		",\"spec\":{\"unschedulable\":true},\"status\":{\"allocatable\":{\"cpu\":\"100\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
	assert_true(sync_named("cheap"));
	s = w.sync.plan.status;
	assert_non_null(s);
	assert_int_equal(s->nodes, 3);
	assert_int_equal(s->ambiguous, 1);
	assert_string_equal(kar_pairs_get(&s->allocatable, "cpu"), "10500m");
	assert_string_equal(kar_pairs_get(&s->allocatable, "memory"), "2Gi");
	assert_true(sync_named("h100"));
	s = w.sync.plan.status;
	assert_int_equal(s->nodes, 1);
	assert_int_equal(s->ambiguous, 0);
	put_named(w.stores.flavors, "h100", "",
		",\"spec\":{\"nodeSelector\":{\"matchLabels\":{" H100
		"}}},\"status\":{\"nodes\":1,\"allocatable\":{\"cpu\":\"4\",\"memory\":\"1Gi\",\"pods\":\"110\"}}");
	assert_true(sync_named("h100"));
	assert_null(w.sync.plan.status);
}

static void put_queue_of(const char *flavors)
{
	char spec[128];

	snprintf(spec, sizeof(spec), "\"flavors\":[%s]", flavors);
	put_queue("default", spec);
}

/* A group of one gated pod of 2 cpu, that tolerates @tolerations. */
static void put_gated(const char *tolerations)
{
	char rest[512];

	put_group("g", "\"minMember\":1", "");
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"tolerations\":[%s],\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}",
		tolerations);
	put_named(w.stores.pods, "p",
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"o\",\"uid\":\"uid-o\",\"controller\":true}]",
		rest);
}

/* The first write is that of the group. */
static void check_group(const char *text)
{
	sync_text(true);
	assert_true(w.sync.plan.n_actions > 0);
	check_says(&w.sync.plan.actions[0], text);
}

static void admission_names_the_flavor(void **state KAR_UNUSED)
{
	put_flavor("h100", H100, "");
	put_labelled("a", H100, "4");
	put_queue_of("{\"name\":\"h100\",\"capability\":{\"cpu\":\"3\"}}");
	put_gated("");
	check_group("\"flavor\":\"h100\"");
}

static void limit_of_a_flavor_stops_it(void **state KAR_UNUSED)
{
	put_flavor("h100", H100, "");
	put_labelled("a", H100, "4");
	put_queue_of("{\"name\":\"h100\",\"capability\":{\"cpu\":\"1\"}}");
	put_gated("");
	check_group(
		"h100: insufficient cpu: 2 requested, 1 of 1 free (1 short), queue default has capability 1");
}

static void pods_that_exist_tolerate_by_themselves(void **state)
{
	static const char taint[] =
		",\"spec\":{\"taints\":[{\"key\":\"dear\",\"effect\":\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}";

	for (int own = 0; own < 2; own++) {
		assert_int_equal(teardown(state), 0);
		setup(state);
		put_flavor("h100", H100,
			",\"tolerations\":[{\"key\":\"dear\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}]");
		put_named(w.stores.nodes, "a", ",\"labels\":{" H100 "}", taint);
		put_queue_of("{\"name\":\"h100\"}");
		put_gated(own ? "{\"key\":\"dear\",\"operator\":\"Exists\"}" : "");
		check_group(own ? "\"flavor\":\"h100\"" : "1 tainted (dear)");
	}
}

static void flavor_without_nodes_is_a_warning(void **state KAR_UNUSED)
{
	char *text = NULL;

	put_flavor("h100", H100, "");
	put_queue_of("{\"name\":\"h100\"},{\"name\":\"x\"}");
	put_gated("");
	sync_text(false);
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };

		assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[i], &out, &err), 0);
		if (w.sync.plan.actions[i].type == &kar_queue_type)
			text = kar_xstrdup(kar_buf_cstr(&out));
		kar_buf_release(&out);
	}
	assert_non_null(text);
	assert_non_null(strstr(text, "\"reason\":\"ValidWithWarnings\""));
	assert_non_null(strstr(text, "flavor h100 has no usable node; flavor x does not exist"));
	free(text);
}

static void too_many_flavors_make_a_queue_invalid(void **state KAR_UNUSED)
{
	char flavors[8192], rest[9000];
	size_t n = 0;

	for (int i = 0; i < 41; i++)
		n += (size_t)snprintf(flavors + n, sizeof(flavors) - n,
			"%s{\"name\":\"f%d\",\"deserved\":{\"cpu\":\"1\"}}", i ? "," : "", i);
	snprintf(rest, sizeof(rest), ",\"spec\":{\"flavors\":[%s]},\"status\":{}", flavors);
	put_named(w.stores.queues, "default", HELD, rest);
	put_gated("");
	check_group("have rights to more than 40 resources of them");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(node_is_of_the_flavor_with_most_labels, setup, teardown),
		cmocka_unit_test_setup_teardown(nodes_of_a_flavor_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(admission_names_the_flavor, setup, teardown),
		cmocka_unit_test_setup_teardown(limit_of_a_flavor_stops_it, setup, teardown),
		cmocka_unit_test_setup_teardown(pods_that_exist_tolerate_by_themselves, setup, teardown),
		cmocka_unit_test_setup_teardown(flavor_without_nodes_is_a_warning, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_flavors_make_a_queue_invalid, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
