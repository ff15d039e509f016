/* The PodGroup reconciler: what it says of annotations of members that ask for a topology, and are not acted upon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "controllers/podgroup/podgroup.h"
#include "test/fixture/reconciler.h"

static struct kar_settings settings;

static int setup(void **state KAR_UNUSED)
{
	settings = (struct kar_settings){ .schedule_timeout = KAR_MINUTE };
	open_world(kar_podgroup_controller, &settings);
	w.controller.start(&w.controller);
	return 0;
}

static void put_member(const char *name, const char *annotations)
{
	char meta[512];

	snprintf(meta, sizeof(meta),
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"annotations\":{%s}", annotations);
	put_named(w.stores.pods, name, meta,
		",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]}");
}

/* All keys that are queued, in order, joined by spaces. */
static const char *woken(void)
{
	static char text[256];
	const char *key;

	text[0] = '\0';
	while ((key = kar_workqueue_take(w.controller.queue, 0)) != NULL) {
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "", key);
		kar_workqueue_done(w.controller.queue, key);
	}
	return text;
}

#define RACK "\"kueue.x-k8s.io/podset-required-topology\":\"rack\""

/* What is said of the members @a and @b of a group, by their annotations. */
static void annotations_without_effect_are_told(void **state)
{
	static const struct {
		const char *name, *spec, *a, *b, *says;
		bool topology; /* there is one */
		bool unplaced; /* the manager places nothing */
	} rows[] = {
		{ "no_topology", "", RACK, RACK,
			"annotations of pods are ignored: they ask for a topology, and there is no Topology",
			false },
		{ "a_topology", "", RACK, RACK, NULL, true },
		{ "they_differ", "", RACK, "",
			"annotations of pods are ignored: some ask for topology none, others for required rack",
			true },
		{ "field_wins", ",\"topology\":{\"required\":\"e.x/rack\"}", RACK, "", NULL, true },
		{ "nobody_places_it", "", RACK, RACK, NULL, false, true },
		{ "no_wish", "", "", "", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_condition *c;
		char spec[256];

		snprintf(spec, sizeof(spec), ",\"spec\":{\"minMember\":2%s}", rows[i].spec);
		put_named(w.stores.podgroups, "g", "", spec);
		put_member("a", rows[i].a);
		put_member("b", rows[i].b);
		if (rows[i].topology)
			put_named(w.stores.topologies, "t", "",
				",\"spec\":{\"levels\":[{\"nodeLabel\":\"rack\"}]}");
		else
			kar_store_delete(w.stores.topologies, NULL, "t", "uid-t", ++w.rv);
		settings.one_namespace = rows[i].unplaced;
		assert_true(sync_named("ns/g"));
		c = kar_condition_find(&((const struct kar_podgroup_status *)w.sync.plan.status)->conditions,
			KAR_PG_INVALID_OPTIONS);
		if (!kar_streq(c ? c->message : NULL, rows[i].says))
			fail_msg("%s: says '%s'", rows[i].name, c ? c->message : "nothing");
	}
}

static void topologies_wake_all_groups(void **state)
{
	(void)state;
	put_named(w.stores.podgroups, "g", "", "");
	assert_string_equal(woken(), "ns/g");
	put_named(w.stores.topologies, "t", "", ",\"spec\":{\"levels\":[{\"nodeLabel\":\"rack\"}]}");
	assert_string_equal(woken(), "ns/g");
	put_named(w.stores.topologies, "t", "", ",\"spec\":{\"levels\":[{\"nodeLabel\":\"row\"}]}");
	assert_string_equal(woken(), "");
	kar_store_delete(w.stores.topologies, NULL, "t", "uid-t", ++w.rv);
	assert_string_equal(woken(), "ns/g");
}

static void put_rack_node(const char *name, const char *rack, const char *more)
{
	char meta[256];

	snprintf(meta, sizeof(meta), ",\"labels\":{\"rack\":\"%s\"%s}", rack, more);
	put_named(w.stores.nodes, name, meta, "");
}

static void put_running(const char *name, const char *node)
{
	char spec[256];

	snprintf(spec, sizeof(spec), ",\"spec\":{\"nodeName\":\"%s\"},\"status\":{\"phase\":\"Running\"}",
		node);
	put_named(w.stores.pods, name, ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}", spec);
}

static void put_in_rack(const char *required)
{
	char status[512];

	snprintf(status, sizeof(status),
		",\"spec\":{\"minMember\":2},\"status\":{\"placement\":{\"state\":\"Satisfied\",\"satisfiedMember\":2,\"domains\":[{\"label\":\"rack\",\"value\":\"r1\",\"required\":%s}]}}",
		required);
	put_named(w.stores.podgroups, "g", "", status);
}

static const char *says_of_topology(void)
{
	const struct kar_condition *c;

	assert_true(sync_named("ns/g"));
	c = kar_condition_find(&((const struct kar_podgroup_status *)w.sync.plan.status)->conditions,
		KAR_PG_TOPOLOGY_CHANGED);
	return c ? c->message : NULL;
}

static void changed_labels_are_told(void **state)
{
	(void)state;
	put_rack_node("n1", "r1", "");
	put_rack_node("n2", "r1", "");
	put_running("a", "n1");
	put_running("b", "n2");
	put_in_rack("true");
	assert_null(says_of_topology());
	put_rack_node("n2", "r2", "");
	assert_string_equal(says_of_topology(),
		"labels were changed: node n2 of its pods is not in rack=r1 any more; the pods stay");
	put_rack_node("n1", "r2", "");
	assert_string_equal(says_of_topology(),
		"labels were changed: node n1 and others of its pods are not in rack=r1 any more; the pods stay");
	put_in_rack("false");
	assert_null(says_of_topology());
	put_in_rack("true");
	kar_store_delete(w.stores.nodes, NULL, "n1", "uid-n1", ++w.rv);
	kar_store_delete(w.stores.nodes, NULL, "n2", "uid-n2", ++w.rv);
	assert_null(says_of_topology());
}

static void changed_labels_wake_groups_of_the_node(void **state)
{
	(void)state;
	put_rack_node("n1", "r1", "");
	put_rack_node("n2", "r1", "");
	put_running("a", "n1");
	(void)woken();
	put_rack_node("n1", "r1", ",\"other\":\"x\"");
	assert_string_equal(woken(), "ns/g");
	put_rack_node("n1", "r1", ",\"other\":\"x\"");
	put_rack_node("n2", "r2", "");
	assert_string_equal(woken(), "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(annotations_without_effect_are_told),
		TEST(topologies_wake_all_groups),
		TEST(changed_labels_are_told),
		TEST(changed_labels_wake_groups_of_the_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
