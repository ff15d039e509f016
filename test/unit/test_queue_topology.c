/* Gangs that ask to be together, in a pass: what they ask for, inside which domain they are placed, and where later pods may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define PLACED "(Admitted=True/Admitted position=0 placed)"
#define REFUSED(reason) "(Admitted=False/" reason " position=0)"

/* Nodes of 1000 cpus: block b1 has rack 1 (a, b) and rack 2 (c), block b2 rack 1 (d, e, f); n1 has no labels. */
static void put_nodes(void)
{
	static const char *const nodes[][3] = { { "a", "b1", "1" }, { "b", "b1", "1" }, { "c", "b1", "2" },
		{ "d", "b2", "1" }, { "e", "b2", "1" }, { "f", "b2", "1" } };

	for (size_t i = 0; i < KAR_LEN(nodes); i++) {
		char meta[256];

		snprintf(meta, sizeof(meta), ",\"labels\":{\"e.x/block\":\"%s\",\"e.x/rack\":\"%s\"}",
			nodes[i][1], nodes[i][2]);
		put_named(w.stores.nodes, nodes[i][0], meta,
			",\"status\":{\"allocatable\":{\"cpu\":\"1k\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
	}
}

static void put_topology(const char *name, const char *levels)
{
	char rest[512];

	snprintf(rest, sizeof(rest), ",\"spec\":{\"levels\":[%s]}", levels);
	put_named(w.stores.topologies, name, "", rest);
}

#define BY_DEMO \
	",\"ownerReferences\":[{\"apiVersion\":\"example.com/v1\",\"kind\":\"CRDJob\",\"name\":\"demo\",\"uid\":\"uid-demo\",\"controller\":true}]"

#define LEVEL(label) "{\"nodeLabel\":\"" label "\"}"
#define RACKS LEVEL("e.x/block") "," LEVEL("e.x/rack")

static void put_group_with(const char *ask, const char *status, bool of_job)
{
	char rest[2048];

	snprintf(rest, sizeof(rest), ",\"spec\":{\"minMember\":3%s%s},\"status\":{%s}",
		*ask ? ",\"topology\":" : "", ask, status);
	put_named(w.stores.podgroups, "g",
		of_job ? ",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"g\",\"uid\":\"uid-g\",\"controller\":true}]"
		       : "",
		rest);
}

/* A job of @pods pods of 600 cpus each, with the annotation of a template. @spec: further members. */
static void put_job(int pods, const char *ask, const char *annotation, const char *spec)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{%s%s%s%s\"taskSpecs\":[{\"name\":\"t\",\"replicas\":%d,\"template\":{\"metadata\":{\"annotations\":{%s}},\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]}}}]}",
		spec, *ask ? "\"schedSpec\":{\"topology\":" : "", ask, *ask ? "}," : "", pods,
		annotation ? annotation : "");
	put_named(w.stores.queuejobs, "g", "", rest);
	put_group_with("", "", true); /* another CRD drops the field: that of the job counts */
}

#define REQUIRED(level) "{\"required\":\"e.x/" level "\"}"
#define SLICES(size, level) "{\"slices\":[{\"size\":" size ",\"required\":\"e.x/" level "\"}]}"
#define PREFERRED(level) "{\"preferred\":\"e.x/" level "\"}"
#define DOMAIN(block, rest) "\"domains\":[{\"label\":\"e.x/block\",\"value\":\"" block "\"" rest
#define RACK(rack, rest) "{\"label\":\"e.x/rack\",\"value\":\"" rack "\"" rest
#define MUST ",\"required\":true}"

#define ANYWHERE "\"domains\":[]"
#define IN_B2 DOMAIN("b2", MUST) "," RACK("1", MUST) "]"
#define KUEUE(level) "\"kueue.x-k8s.io/podset-required-topology\":\"e.x/" level "\""

static const struct {
	const char *name, *topologies[2];
	int pods;
	const char *ask, *result, *says;
	const char *annotation; /* of the template */
} rows[] = {
	{ "smallest_rack_that_holds_it", { RACKS }, 2, REQUIRED("rack"), PLACED,
		DOMAIN("b1", MUST) "," RACK("1", MUST) "]" },
	{ "larger_gang_larger_rack", { RACKS }, 3, REQUIRED("rack"), PLACED,
		DOMAIN("b2", MUST) "," RACK("1", MUST) "]" },
	{ "racks_of_one_name_are_not_one_rack", { RACKS }, 4, REQUIRED("rack"), REFUSED("Infeasible"),
		"largest e.x/rack holds 3 of 4 pods on empty nodes (b2/1); 1 node has no label e.x/block" },
	{ "of_equal_racks_the_first_by_name", { LEVEL("e.x/block") }, 4, REQUIRED("block"),
		REFUSED("Infeasible"), "largest e.x/block holds 3 of 4 pods on empty nodes (b1)" },
	{ "preferred_binds_nobody", { RACKS }, 2, PREFERRED("rack"), PLACED,
		DOMAIN("b1", "}") "," RACK("1", "}") "]" },
	{ "preferred_level_is_too_small", { RACKS }, 5, PREFERRED("rack"), PLACED, "\"attempt\":1" },
	{ "no_topology", { NULL }, 2, REQUIRED("rack"), REFUSED("TopologyNotFound"),
		"no Topology has the level e.x/rack" },
	{ "another_level", { RACKS }, 2, REQUIRED("leaf"), REFUSED("TopologyNotFound"),
		"no Topology has the level e.x/leaf" },
	{ "one_level_below_two_others", { RACKS, LEVEL("e.x/row") "," LEVEL("e.x/rack") }, 2,
		REQUIRED("rack"), REFUSED("TopologyAmbiguous"),
		"Topologies t0 and t1 both have the level e.x/rack, below different ones" },
	{ "one_level_in_one_place", { RACKS, RACKS "," LEVEL("kubernetes.io/hostname") }, 2, REQUIRED("rack"),
		PLACED, RACK("1", MUST) },
	{ "level_that_no_node_has", { LEVEL("e.x/leaf") }, 2, REQUIRED("leaf"), REFUSED("Infeasible"),
		"no node has label e.x/leaf" },
	{ "no_wish", { RACKS }, 2, "", PLACED, ANYWHERE },
	{ "annotation_of_the_template", { RACKS }, 3, "", PLACED, IN_B2, KUEUE("rack") },
	{ "annotation_of_another_level", { RACKS }, 2, "", REFUSED("TopologyNotFound"),
		"no Topology has the level e.x/leaf", KUEUE("leaf") },
	{ "field_wins", { RACKS }, 3, REQUIRED("rack"), PLACED, IN_B2, KUEUE("leaf") },
	{ "annotation_without_any_topology", { NULL }, 2, "", PLACED, ANYWHERE, KUEUE("leaf") },
	{ "annotation_that_is_no_label", { RACKS }, 2, "", PLACED, ANYWHERE, KUEUE("?") },
	{ "annotation_that_names_the_topology", { RACKS, LEVEL("e.x/row") "," LEVEL("e.x/rack") }, 3, "",
		PLACED, IN_B2, KUEUE("rack") ",\"kai.scheduler/topology\":\"t0\"" },
	{ "annotation_that_names_another", { RACKS }, 3, "", REFUSED("TopologyNotFound"),
		"there is no Topology t1 that has the level e.x/rack",
		KUEUE("rack") ",\"kai.scheduler/topology\":\"t1\"" },
	{ "slices_in_racks", { RACKS }, 4, SLICES("2", "rack"), PLACED, "\"nodes\":\"a b d e\"" },
	{ "last_slice_is_smaller", { RACKS }, 5, SLICES("2", "rack"), PLACED, "\"nodes\":\"a b d e c\"" },
	{ "more_slices_than_racks_hold", { RACKS }, 6, SLICES("2", "rack"), REFUSED("Infeasible"),
		"each 2 in one e.x/rack" },
	{ "slices_of_a_level_that_is_not_there", { RACKS }, 2, SLICES("2", "leaf"),
		REFUSED("TopologyNotFound"), "no Topology has the level e.x/leaf" },
	{ "slices_of_the_annotation", { RACKS }, 4, "", PLACED, "\"nodes\":\"a b d e\"",
		"\"kueue.x-k8s.io/podset-slice-required-topology\":\"e.x/rack\",\"kueue.x-k8s.io/podset-slice-size\":\"2\"" },
	{ "as_full_as_possible", { RACKS }, 4, PREFERRED("rack"), PLACED, "\"nodes\":\"a b c d\"" },
	{ "in_equal_parts", { RACKS }, 4, "{\"preferred\":\"e.x/rack\",\"balance\":true}", PLACED,
		"\"nodes\":\"a b d e\"" },
};

static void begin(void)
{
	put_queue("default", "");
	kar_store_replace_begin(w.stores.topologies);
	kar_store_replace_commit(w.stores.topologies, 1);
	put_nodes();
}

static void jobs_are_placed_inside_domains(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;
		char want[128];

		assert_int_equal(teardown(state), 0); /* a world of its own for each */
		setup(state);
		begin();
		for (size_t k = 0; k < KAR_LEN(rows[i].topologies); k++) {
			if (rows[i].topologies[k])
				put_topology(k ? "t1" : "t0", rows[i].topologies[k]);
		}
		put_job(rows[i].pods, rows[i].ask, rows[i].annotation, "");
		snprintf(want, sizeof(want), "patch podgroups/status ns/g %s", rows[i].result);
		got = sync_text(true);
		if (strcmp(got, want) != 0)
			fail_msg("%s: want %s, got %s", rows[i].name, want, got);
		check_says(&w.sync.plan.actions[0], rows[i].says);
	}
}

#define TASK(name, n, asks) \
	"{\"name\":\"" name "\",\"replicas\":" #n "," asks \
	"\"template\":{\"metadata\":{},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]}}}"
#define ASKS(what) "\"topology\":" what ","
#define TOGETHER(group) "\"topologyGroup\":\"" group "\","
#define OF(role, must) ",\"role\":\"" role "\"" must
#define ROLE_IN(block, rack, role) \
	"{\"label\":\"e.x/block\",\"value\":\"" block "\"" OF(role, MUST) "," RACK(rack, OF(role, MUST))

static const struct {
	const char *name, *sched, *tasks, *result, *says;
} by_task[] = {
	{ "each_task_by_itself", "",
		TASK("w", 3, ASKS(REQUIRED("rack"))) "," TASK("p", 1, ASKS(REQUIRED("rack"))), PLACED,
		"\"domains\":[" ROLE_IN("b2", "1", "w") "," ROLE_IN("b1", "2", "p") "]" },
	{ "leader_beside_its_workers", "",
		TASK("l", 1, TOGETHER("x")) "," TASK("w", 2,
			TOGETHER("x") ASKS(REQUIRED("rack"))) "," TASK("p", 2, ""),
		PLACED, "\"domains\":[" ROLE_IN("b2", "1", "l") "," ROLE_IN("b2", "1", "w") "]" },
	{ "groups_ask_for_what_the_job_asks_for", REQUIRED("rack"),
		TASK("a", 2, TOGETHER("x")) "," TASK("b", 1, TOGETHER("y")) "," TASK("c", 2, TOGETHER("y")),
		PLACED,
		"\"domains\":[" ROLE_IN("b1", "1", "a") "," ROLE_IN("b2", "1", "b") "," ROLE_IN("b2", "1",
			"c") "]" },
	{ "own_wish_in_the_place_of_that_of_the_job", REQUIRED("rack"),
		TASK("w", 2, "") "," TASK("p", 2, ASKS(PREFERRED("block"))), PLACED,
		"\"domains\":[" ROLE_IN("b1", "1",
			"w") ",{\"label\":\"e.x/block\",\"value\":\"b2\",\"role\":\"p\"}]" },
	{ "without_a_level", "", TASK("w", 1, "") "," TASK("p", 1, ASKS(REQUIRED("leaf"))),
		REFUSED("TopologyNotFound"), "no Topology has the level e.x/leaf" },
	{ "too_large_for_a_rack", "", TASK("p", 1, "") "," TASK("w", 4, ASKS(REQUIRED("rack"))),
		REFUSED("Infeasible"), "w: largest e.x/rack holds 3 of 4 pods on empty nodes (b2/1)" },
};

static void tasks_are_placed_by_what_they_ask_for(void **state)
{
	for (size_t i = 0; i < KAR_LEN(by_task); i++) {
		const char *got;
		char want[128], rest[2048];

		assert_int_equal(teardown(state), 0);
		setup(state);
		begin();
		put_topology("t0", RACKS);
		snprintf(rest, sizeof(rest), ",\"spec\":{%s%s%s\"taskSpecs\":[%s]}",
			*by_task[i].sched ? "\"schedSpec\":{\"topology\":" : "", by_task[i].sched,
			*by_task[i].sched ? "}," : "", by_task[i].tasks);
		put_named(w.stores.queuejobs, "g", "", rest);
		put_group_with("", "", true);
		snprintf(want, sizeof(want), "patch podgroups/status ns/g %s", by_task[i].result);
		got = sync_text(true);
		if (strcmp(got, want) != 0)
			fail_msg("%s: want %s, got %s", by_task[i].name, want, got);
		check_says(&w.sync.plan.actions[0], by_task[i].says);
	}
}

static void put_on(const char *name, const char *node, const char *owner)
{
	char meta[256], spec[256];

	snprintf(meta, sizeof(meta),
		",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"%s\",\"name\":\"o\",\"uid\":\"uid-o\",\"controller\":true}]",
		owner);
	snprintf(spec, sizeof(spec),
		",\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"100\"}}}]}",
		node);
	put_named(w.stores.pods, name, meta, spec);
}

/* Jobs without a wish go to the rack in which pods are, but for those that each node has. */
static void whole_racks_are_broken_last(void **state)
{
	static const struct {
		const char *node, *rack; /* where a pod is; the nodes of its rack */
	} busy[] = { { "a", "ab" }, { "b", "ab" }, { "c", "c" }, { "d", "def" }, { "e", "def" },
		{ "f", "def" } };

	for (size_t i = 0; i < KAR_LEN(busy); i++) {
		struct kar_buf body = { 0 };
		struct kar_err err = { 0 };
		char text[64];
		size_t found = 0;

		assert_int_equal(teardown(state), 0);
		setup(state);
		begin();
		kar_store_delete(w.stores.nodes, NULL, "n1", "uid-n1", ++w.rv);
		put_topology("t0", LEVEL("kubernetes.io/hostname"));
		put_topology("t1", RACKS "," LEVEL("kubernetes.io/hostname"));
		for (const char *node = "abcdef"; *node; node++) {
			snprintf(text, sizeof(text), "%c", *node);
			put_on(text, text, "DaemonSet");
		}
		put_on("busy", busy[i].node, "ReplicaSet");
		put_job(1, "", NULL, "");
		assert_string_equal(sync_text(true), "patch podgroups/status ns/g " PLACED);
		assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[0], &body, &err), 0);
		for (const char *node = busy[i].rack; *node; node++) {
			snprintf(text, sizeof(text), "\"nodes\":\"%c\"", *node);
			found += strstr(kar_buf_cstr(&body), text) != NULL;
		}
		if (found != 1)
			fail_msg("with a pod on %s: %s", busy[i].node, kar_buf_cstr(&body));
		kar_buf_release(&body);
	}
}

/* Of group g, whose members are gated and of another controller. @annotations: of each member. */
static const struct {
	const char *name, *topology, *ask, *annotations[3], *result, *says;
} members[] = {
	{ "equal_annotations", RACKS, "", { KUEUE("rack"), KUEUE("rack"), KUEUE("rack") }, PLACED, IN_B2 },
	{ "only_one_has_it", RACKS, "", { KUEUE("rack"), "", "" }, PLACED, ANYWHERE },
	{ "they_differ", RACKS, "", { KUEUE("rack"), KUEUE("rack"), KUEUE("block") }, PLACED, ANYWHERE },
	{ "field_of_the_group_wins", RACKS, REQUIRED("rack"),
		{ KUEUE("leaf"), KUEUE("rack"), KUEUE("block") }, PLACED, IN_B2 },
	{ "no_level", RACKS, "", { KUEUE("leaf"), KUEUE("leaf"), KUEUE("leaf") }, REFUSED("TopologyNotFound"),
		"no Topology has the level e.x/leaf" },
	{ "no_topology", NULL, "", { KUEUE("rack"), KUEUE("rack"), KUEUE("rack") }, PLACED, ANYWHERE },
};

static void members_are_placed_by_their_annotations(void **state)
{
	for (size_t i = 0; i < KAR_LEN(members); i++) {
		static const char *const names[] = { "p0", "p1", "p2" };
		const char *got;
		char want[128];

		assert_int_equal(teardown(state), 0);
		setup(state);
		begin();
		if (members[i].topology)
			put_topology("t0", members[i].topology);
		put_group_with(members[i].ask, "", false);
		for (size_t k = 0; k < KAR_LEN(names); k++) {
			char meta[512];

			snprintf(meta, sizeof(meta),
				",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"annotations\":{%s},"
				"\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]",
				members[i].annotations[k]);
			put_named(w.stores.pods, names[k], meta,
				",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\","
				"\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]}");
		}
		snprintf(want, sizeof(want), "patch podgroups/status ns/g %s", members[i].result);
		got = sync_text(true);
		if (strcmp(got, want) != 0)
			fail_msg("%s: want %s, got %s", members[i].name, want, got);
		check_says(&w.sync.plan.actions[0], members[i].says);
	}
}

/* Members of one size, one on each node, in the order of their names p0, p1 ...: labels, and the node of each in the plan. Node a is the first of b1/1. */
static const struct {
	const char *name, *ask, *labels[3], *nodes[3];
} ranked[] = {
	{ "index_of_a_job", PREFERRED("rack"),
		{ "\"batch.kubernetes.io/job-completion-index\":\"10\"",
			"\"batch.kubernetes.io/job-completion-index\":\"9\"",
			"\"batch.kubernetes.io/job-completion-index\":\"0\"" },
		{ "f", "e", "d" } },
	{ "job_of_a_jobset_and_index_in_it", PREFERRED("rack"),
		{ "\"jobset.sigs.k8s.io/job-index\":\"1\",\"batch.kubernetes.io/job-completion-index\":\"0\"",
			"\"jobset.sigs.k8s.io/job-index\":\"0\",\"batch.kubernetes.io/job-completion-index\":\"1\"",
			"\"jobset.sigs.k8s.io/job-index\":\"0\",\"batch.kubernetes.io/job-completion-index\":\"0\"" },
		{ "f", "e", "d" } },
	{ "worker_of_a_leaderworkerset", PREFERRED("rack"),
		{ "\"leaderworkerset.sigs.k8s.io/worker-index\":\"2\",\"apps.kubernetes.io/pod-index\":\"2\"",
			"\"leaderworkerset.sigs.k8s.io/worker-index\":\"0\",\"apps.kubernetes.io/pod-index\":\"7\"",
			"\"leaderworkerset.sigs.k8s.io/worker-index\":\"1\",\"apps.kubernetes.io/pod-index\":\"1\"" },
		{ "f", "d", "e" } },
	{ "without_a_rank_behind_those_that_have_one", PREFERRED("rack"),
		{ "\"x\":\"\"", "\"apps.kubernetes.io/pod-index\":\"x\"",
			"\"apps.kubernetes.io/pod-index\":\"5\"" },
		{ "e", "f", "d" } },
};

static void member_of_a_rank_has_its_place(void **state)
{
	for (size_t i = 0; i < KAR_LEN(ranked); i++) {
		static const char *const names[] = { "p0", "p1", "p2" };

		assert_int_equal(teardown(state), 0);
		setup(state);
		begin();
		put_topology("t0", RACKS);
		put_group_with(ranked[i].ask, "", false);
		for (size_t k = 0; k < KAR_LEN(names); k++) {
			char meta[512];

			snprintf(meta, sizeof(meta),
				",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\",%s}" BY_DEMO,
				ranked[i].labels[k]);
			put_named(w.stores.pods, names[k], meta,
				",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\","
				"\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]}");
		}
		assert_string_equal(sync_text(true), "patch podgroups/status ns/g " PLACED);
		for (size_t k = 0; k < KAR_LEN(names); k++) {
			char want[64];

			snprintf(want, sizeof(want), "{\"role\":\"%s\",\"nodes\":\"%s\"}", names[k],
				ranked[i].nodes[k]);
			check_says(&w.sync.plan.actions[0], want);
		}
	}
}

/* What is counted in it is no reason for a pass. */
static void levels_wake_the_pass_and_numbers_do_not(void **state KAR_UNUSED)
{
	static const struct {
		const char *levels;
		bool wakes;
	} steps[] = { { RACKS, true },
		{ RACKS "]},\"status\":{\"levels\":[{\"nodeLabel\":\"e.x/block\",\"nodes\":4}", false },
		{ RACKS "," LEVEL("e.x/leaf"), true }, { LEVEL("e.x/block") "," LEVEL("e.x/row"), true } };

	drain();
	for (size_t i = 0; i < KAR_LEN(steps); i++) {
		const char *key;

		put_topology("t0", steps[i].levels);
		key = kar_workqueue_take(w.controller.queue, w.mono);
		if ((key != NULL) != steps[i].wakes)
			fail_msg("step %zu", i);
		if (key)
			kar_workqueue_done(w.controller.queue, key);
	}
}

/* The CRD is missing, or a rule of the ClusterRole. */
static void topologies_that_cannot_be_read_are_not_said_to_be_missing(void **state)
{
	(void)state;
	put_queue("default", "");
	put_nodes();
	put_job(2, REQUIRED("rack"), NULL, "");
	assert_string_equal(sync_text(true), "patch podgroups/status ns/g " REFUSED("TopologyNotFound"));
	check_says(&w.sync.plan.actions[0],
		"Topologies cannot be read: install their CRD, and let the manager read them (ClusterRole kar-controllers)");
}

/* The CRD of another project has dropped the field of the group, which was made of the SchedulingSpec. */
static void schedulingspec_says_what_its_group_has_lost(void **state)
{
	(void)state;
	settings.direct_schedulers = "kar-scheduler";
	begin();
	put_topology("t0", RACKS);
	put_queue("default", "\"maxPriority\":5");
	put_named(w.stores.schedulingspecs, "g", BY_DEMO,
		",\"spec\":{\"priority\":7,\"topology\":" REQUIRED("leaf") "}");
	put_named(w.stores.podgroups, "g",
		",\"labels\":{\"kube-arbitrator.io/made-for-pods\":\"true\"}" BY_DEMO,
		",\"spec\":{\"minMember\":1},\"status\":{\"phase\":\"Pending\"}");
	put_named(w.stores.pods, "a", ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}" BY_DEMO,
		",\"spec\":{\"schedulerName\":\"kar-scheduler\",\"containers\":[{\"name\":\"c\"}]}");
	assert_non_null(strstr(sync_text(true), "Admitted=False/TopologyNotFound"));
	check_says(&w.sync.plan.actions[0], "priority 7 counts as 5, the maxPriority of the queue");
}

/* Of a gang of two that nobody here places. */
static const struct {
	const char *name, *ask, *scheduler;
	bool of_job, one_namespace;
	const char *result, *says;
} unplaced[] = {
	{ "pods_of_another_scheduler", REQUIRED("rack"), "x", true, false, REFUSED("Unsupported"),
		"it must be in one e.x/rack, and its pods name a scheduler that does not keep to that" },
	{ "who_prefers_a_rack_starts", PREFERRED("rack"), "x", true, false,
		"(Admitted=True/Admitted position=0)", "admitted" },
	{ "slices_of_another_scheduler", SLICES("2", "rack"), "x", true, false, REFUSED("Unsupported"),
		"each 2 of its pods must be in one e.x/rack, and its pods name a scheduler that does not keep to that" },
	{ "manager_of_one_namespace", REQUIRED("rack"), "default-scheduler", true, true,
		REFUSED("Unsupported"),
		"it must be in one e.x/rack, and a manager of one namespace places no pods" },
	{ "members_of_another_scheduler", REQUIRED("rack"), "x", false, false, REFUSED("Unsupported"),
		"it must be in one e.x/rack, and its pods name a scheduler that does not keep to that" },
	{ "members_in_one_namespace", REQUIRED("rack"), "default-scheduler", false, true,
		REFUSED("Unsupported"),
		"it must be in one e.x/rack, and a manager of one namespace places no pods" },
};

static void who_must_be_together_starts_nowhere_else(void **state)
{
	for (size_t i = 0; i < KAR_LEN(unplaced); i++) {
		char text[256];
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		begin();
		put_topology("t0", RACKS);
		settings.one_namespace = unplaced[i].one_namespace;
		snprintf(text, sizeof(text), "\"schedulerName\":\"%s\",", unplaced[i].scheduler);
		if (unplaced[i].of_job)
			put_job(2, unplaced[i].ask, NULL, text);
		else
			put_group_with(unplaced[i].ask, "", false);
		for (int k = 0; k < 2 && !unplaced[i].of_job; k++) {
			char name[8];

			snprintf(name, sizeof(name), "p%d", k);
			snprintf(text, sizeof(text),
				",\"spec\":{\"schedulerName\":\"%s\",\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\"}]}",
				unplaced[i].scheduler);
			put_named(w.stores.pods, name,
				",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}", text);
		}
		snprintf(text, sizeof(text), "patch podgroups/status ns/g %s", unplaced[i].result);
		got = sync_text(true);
		if (strcmp(got, text) != 0)
			fail_msg("%s: want %s, got %s", unplaced[i].name, text, got);
		check_says(&w.sync.plan.actions[0], unplaced[i].says);
	}
}

#define SATISFIED_IN(block, rack) \
	"\"phase\":\"Running\",\"position\":0,\"admittedQueue\":\"default\"," ADMITTED("True", "Admitted", \
		"admitted by queue default") ",\"placement\":{\"state\":\"Satisfied\",\"attempt\":1,\"time\":\"2026-11-21T13:40:00Z\"," DOMAIN(block, \
		MUST) "," RACK(rack, MUST) "]}"

/* The gang runs in rack 2 of b1, which is node c, with a pod of 600 cpus; another pod has come. */
static const struct {
	const char *name, *cpu, *result, *says;
} later[] = {
	{ "there_is_room_in_its_rack", "400", "(Admitted=True/Admitted position=0 placed)",
		"\"plan\":[{\"role\":\"p1\",\"nodes\":\"c\"}]" },
	{ "others_have_room_and_its_rack_has_not", "600", "(Admitted=True/Admitted position=0)",
		"\"retryAfter\"" },
};

static void pods_that_come_later_are_in_the_domain_of_the_gang(void **state)
{
	for (size_t i = 0; i < KAR_LEN(later); i++) {
		char want[256];
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		settings.direct_schedulers = "kar-scheduler";
		begin();
		put_topology("t0", RACKS);
		put_group_with(REQUIRED("rack"), SATISFIED_IN("b1", "2"), false);
		for (int k = 0; k < 2; k++) {
			char name[8], rest[512];

			snprintf(name, sizeof(name), "p%d", k);
			snprintf(rest, sizeof(rest),
				",\"spec\":{\"schedulerName\":\"kar-scheduler\"%s,\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}%s",
				k ? "" : ",\"nodeName\":\"c\"", k ? later[i].cpu : "600",
				k ? "" : ",\"status\":{\"phase\":\"Running\"}");
			put_named(w.stores.pods, name,
				",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}" BY_DEMO, rest);
		}
		snprintf(want, sizeof(want), "patch podgroups/status ns/g %s", later[i].result);
		got = sync_text(true);
		if (strcmp(got, want) != 0)
			fail_msg("%s: want %s, got %s", later[i].name, want, got);
		check_says(&w.sync.plan.actions[0], later[i].says);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(member_of_a_rank_has_its_place, setup, teardown),
		cmocka_unit_test_setup_teardown(levels_wake_the_pass_and_numbers_do_not, setup, teardown),
		cmocka_unit_test_setup_teardown(members_are_placed_by_their_annotations, setup, teardown),
		cmocka_unit_test_setup_teardown(whole_racks_are_broken_last, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_are_placed_inside_domains, setup, teardown),
		cmocka_unit_test_setup_teardown(tasks_are_placed_by_what_they_ask_for, setup, teardown),
		cmocka_unit_test_setup_teardown(pods_that_come_later_are_in_the_domain_of_the_gang, setup,
			teardown),
		cmocka_unit_test_setup_teardown(schedulingspec_says_what_its_group_has_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(topologies_that_cannot_be_read_are_not_said_to_be_missing,
			setup, teardown),
		cmocka_unit_test_setup_teardown(who_must_be_together_starts_nowhere_else, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
