/* Pods of a controller that has a SchedulingSpec, and no PodGroup: what is done about the pod "a" of CRDJob demo. It is 13:46:27. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/log.h"
#include "common/base/str.h"
#include "controllers/cluster/lookups.h"
#include "controllers/schedulingspec/schedulingspec.h"
#include "test/fixture/reconciler.h"

#define OWNED(api, kind, name) \
	",\"ownerReferences\":[{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"name\":\"" name \
	"\",\"uid\":\"uid-" name "\",\"controller\":true}]"
#define BY_DEMO OWNED("example.com/v1", "CRDJob", "demo")
#define BY_JOB OWNED("kube-arbitrator.io/v1alpha1", "QueueJob", "demo")
#define AT(time) ",\"creationTimestamp\":\"2026-11-21T" time "Z\""
#define IN(group) ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"" group "\"}"
#define OURS ",\"spec\":{\"schedulerName\":\"kar-scheduler\"}"
#define BOUND ",\"spec\":{\"schedulerName\":\"kar-scheduler\",\"nodeName\":\"n1\"}"
#define POD(name, meta, rest) \
	{ \
		'p', name, meta, rest \
	}
#define SPEC(name, meta) \
	{ \
		's', name, meta, ",\"spec\":{\"minAvailable\":2}" \
	}
#define GROUP(name, meta) \
	{ \
		'g', name, meta, ",\"spec\":{\"minMember\":2}" \
	}
#define MADE(spec) \
	{ \
		'g', "s", BY_DEMO ",\"labels\":{\"kube-arbitrator.io/made-for-pods\":\"true\"}", \
			",\"spec\":{" spec "}" \
	}
#define OLD AT("13:46:00") BY_DEMO

static const struct {
	const char *name;
	struct {
		char kind;
		const char *name, *meta, *rest;
	} objects[4];
	const char *plan; /* NULL: it is not looked at */
} rows[] = {
	{ "group_is_made_of_the_schedulingspec", { POD("a", OLD, OURS), POD("b", OLD, OURS), SPEC("s", OLD) },
		"create podgroups ns/s (for CRDJob demo)" },
	{ "by_the_first_pod_alone", { POD("a", OLD, OURS), POD("0", OLD, OURS), SPEC("s", OLD) }, "" },
	{ "then_each_pod_joins_it",
		{ POD("a", OLD, OURS), POD("0", OLD, OURS), SPEC("s", OLD), GROUP("s", BY_DEMO) },
		"patch pods ns/a (group=s)" },
	{ "pods_that_are_bound_count_as_well", { POD("a", OLD, BOUND), SPEC("s", OLD), GROUP("s", BY_DEMO) },
		"patch pods ns/a (group=s)" },
	{ "who_has_joined_is_left_alone",
		{ POD("a", OLD IN("s"), OURS), SPEC("s", OLD), GROUP("s", BY_DEMO) }, "" },
	{ "edited_minimum_goes_to_the_group",
		{ POD("a", OLD IN("s"), OURS), SPEC("s", OLD), MADE("\"minMember\":3") },
		"patch podgroups ns/s (minMember=2)" },
	{ "priority_that_was_taken_away_too",
		{ POD("a", OLD IN("s"), OURS), SPEC("s", OLD), MADE("\"minMember\":2,\"priority\":7") },
		"patch podgroups ns/s (minMember=2)" },
	{ "once_for_all_pods",
		{ POD("a", OLD IN("s"), OURS), POD("0", OLD IN("s"), OURS), SPEC("s", OLD),
			MADE("\"minMember\":3") },
		"" },
	{ "group_that_says_the_same_is_left_alone",
		{ POD("a", OLD IN("s"), OURS), SPEC("s", OLD), MADE("\"minMember\":2") }, "" },
	{ "group_that_somebody_else_has_made_is_left_alone",
		{ POD("a", OLD IN("s"), OURS), SPEC("s", OLD),
			{ 'g', "s", BY_DEMO, ",\"spec\":{\"minMember\":3}" } },
		"" },
	{ "group_that_was_deleted_is_made_again", { POD("a", OLD IN("s"), OURS), SPEC("s", OLD) },
		"create podgroups ns/s (for CRDJob demo)" },
	{ "who_names_another_group_is_in_that", { POD("a", OLD IN("x"), OURS), SPEC("s", OLD) }, "" },
	{ "without_one_an_event_says_what_is_missing", { POD("a", OLD, OURS), POD("b", OLD, OURS) },
		"event Warning SchedulingSpecNotFound: no SchedulingSpec has CRDJob demo as its controller (ownerReferences, controller: true), and the pod names no PodGroup: it is not scheduled until there is one of them" },
	{ "not_at_once", { POD("a", AT("13:46:20") BY_DEMO, OURS) }, "requeue 2s" },
	{ "and_not_of_each_pod", { POD("a", OLD, OURS), POD("0", OLD, OURS) }, "" },
	{ "nor_of_one_that_runs", { POD("a", OLD, BOUND) }, "" },
	{ "schedulingspec_of_another_is_none_of_its",
		{ POD("a", OLD, OURS), SPEC("s", OWNED("example.com/v1", "CRDJob", "x")) },
		"event Warning SchedulingSpecNotFound: no SchedulingSpec has CRDJob demo as its controller (ownerReferences, controller: true), and the pod names no PodGroup: it is not scheduled until there is one of them" },
	{ "nothing_starts_when_it_is_being_deleted",
		{ POD("a", OLD, OURS), SPEC("s", OLD ",\"deletionTimestamp\":\"2026-11-21T13:46:26Z\"") },
		"" },
	{ "nothing_joins_a_group_that_is_being_deleted",
		{ POD("a", OLD, OURS), SPEC("s", OLD),
			GROUP("s", BY_DEMO ",\"deletionTimestamp\":\"2026-11-21T13:46:26Z\"") },
		"" },
	{ "group_of_somebody_else_has_the_name", { POD("a", OLD, OURS), SPEC("s", OLD), GROUP("s", "") },
		"event Warning NameConflict: PodGroup s is not of CRDJob demo: rename the SchedulingSpec" },
	{ "the_older_of_two_counts",
		{ POD("a", OLD, OURS), SPEC("s", AT("13:46:02") BY_DEMO), SPEC("t", AT("13:46:01") BY_DEMO),
			GROUP("t", BY_DEMO) },
		"event Warning NameConflict: CRDJob demo has more than one SchedulingSpec: the oldest, t, counts, and not s; patch pods ns/a (group=t)" },
	{ "pods_of_another_scheduler_are_left_to_it", { POD("a", OLD, ",\"spec\":{}"), SPEC("s", OLD) },
		NULL },
	{ "pods_of_nobody_too", { POD("a", AT("13:46:00"), OURS) }, NULL },
	{ "queuejobs_make_their_groups_themselves",
		{ POD("a", AT("13:46:00") BY_JOB, OURS), SPEC("s", BY_JOB) }, NULL },
	{ "pods_that_have_ended_need_nothing",
		{ POD("a", OLD, OURS ",\"status\":{\"phase\":\"Succeeded\"}"), SPEC("s", OLD) }, NULL },
};

static int setup(void **state KAR_UNUSED)
{
	static const struct kar_settings settings = { .direct_schedulers = "kar-scheduler" };

	open_world(kar_schedulingspec_controller, &settings);
	w.controller.start(&w.controller);
	return 0;
}

static const char *printed(void)
{
	static char text[512];
	struct kar_buf out = { 0 };

	kar_plan_print(&w.sync.plan, &out);
	snprintf(text, sizeof(text), "%s", kar_buf_cstr(&out));
	kar_buf_release(&out);
	return text;
}

/* The keys that were woken. */
static const char *drain(void)
{
	static char text[512];

	text[0] = '\0';
	for (const char *key; (key = kar_workqueue_take(w.controller.queue, w.mono));) {
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "", key);
		kar_workqueue_done(w.controller.queue, key);
	}
	return text;
}

static struct kar_store *store_of(char kind)
{
	return kind == 'p' ? w.stores.pods : kind == 's' ? w.stores.schedulingspecs : w.stores.podgroups;
}

static void pods_are_a_gang_by_the_schedulingspec_of_their_owner(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		for (size_t k = 0; k < KAR_LEN(rows[i].objects) && rows[i].objects[k].kind; k++)
			put_named(store_of(rows[i].objects[k].kind), rows[i].objects[k].name,
				rows[i].objects[k].meta, rows[i].objects[k].rest);
		got = sync_named("ns/a") ? printed() : NULL;
		if (!kar_streq(got, rows[i].plan))
			fail_msg("%s: want '%s', got '%s'", rows[i].name, rows[i].plan ? rows[i].plan : "-",
				got ? got : "-");
	}
}

static void bodies_have_the_owner_and_the_requests_of_the_schedulingspec(void **state KAR_UNUSED)
{
	put_named(w.stores.pods, "a", OLD, OURS);
	put_named(w.stores.schedulingspecs, "s", OLD,
		",\"spec\":{\"minAvailable\":3,\"priority\":7,\"scheduleTimeoutSeconds\":9,\"topology\":{\"required\":\"e.x/rack\"}}");
	assert_true(sync_named("ns/a"));
	check_body(&w.sync.plan.actions[0],
		"{\"apiVersion\":\"scheduling.x-k8s.io/v1alpha1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"s\",\"namespace\":\"ns\","
		"\"labels\":{\"kube-arbitrator.io/made-for-pods\":\"true\"},\"ownerReferences\":[{\"apiVersion\":\"example.com/v1\",\"kind\":\"CRDJob\","
		"\"name\":\"demo\",\"uid\":\"uid-demo\",\"controller\":true}]},\"spec\":{\"minMember\":3,\"priority\":7,\"scheduleTimeoutSeconds\":9,\"topology\":{\"required\":\"e.x/rack\"}}}");
	put_named(w.stores.podgroups, "s", BY_DEMO, "");
	assert_true(sync_named("ns/a"));
	check_body(&w.sync.plan.actions[0],
		"{\"metadata\":{\"uid\":\"uid-a\",\"resourceVersion\":\"11\",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"s\"}}}");
	put_named(w.stores.podgroups, "s",
		BY_DEMO ",\"labels\":{\"kube-arbitrator.io/made-for-pods\":\"true\"}",
		",\"spec\":{\"minMember\":2,\"priority\":7}");
	assert_true(sync_named("ns/a"));
	check_body(&w.sync.plan.actions[0],
		"{\"metadata\":{\"uid\":\"uid-s\",\"resourceVersion\":\"14\"},\"spec\":{\"minMember\":3,\"priority\":7,\"priorityClassName\":null}}");
}

static void nodes_are_selected_by_the_schedulingspec(void **state KAR_UNUSED)
{
	static const char *const selectors[] = { "", "{\"disk\":\"ssd\"}", "{\"disk\":\"hdd\"}" };

	for (size_t i = 0; i < KAR_LEN(selectors); i++) {
		char spec[128];
		const struct kar_object *pod;
		kar_class class;

		put(w.stores.nodes, "n1", "uid-n1", ",\"labels\":{\"disk\":\"ssd\"}",
			",\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"9\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
		put_named(w.stores.pods, "a", OLD IN("s"), OURS);
		snprintf(spec, sizeof(spec), ",\"spec\":{\"minAvailable\":1%s%s}",
			selectors[i][0] ? ",\"nodeSelector\":" : "", selectors[i]);
		put_named(w.stores.schedulingspecs, "s", OLD, spec);
		pod = kar_store_get(w.stores.pods, "ns", "a");
		class = kar_needs_class_of_pod(&w.stores, kar_as_pod(pod));
		assert_int_equal(kar_sched_fits_on(kar_snapshot_sched(w.stores.snapshot), class, "n1"),
			i < 2);
		class = kar_needs_class_within(&w.stores, kar_as_pod(pod), &(struct kar_array){ 0 });
		assert_int_equal(kar_sched_fits_on(kar_snapshot_sched(w.stores.snapshot), class, "n1"),
			i < 2);
	}
}

static const struct {
	const char *name, *second; /* of the metadata of the second pod of three */
	bool group, ends;          /* the group exists; the first pod ends, and does not go */
	const char *woken;
} successions[] = {
	{ "the_next_by_name_speaks_for_all", "", false, false, "ns/b" },
	{ "also_when_the_first_has_ended", "", false, true, "ns/b" },
	{ "one_that_is_in_a_group_does_not", IN("s"), true, false, "ns/c" },
};

/* The pod a goes, b and c stay. */
static void who_speaks_for_all_has_a_successor(void **state)
{
	for (size_t i = 0; i < KAR_LEN(successions); i++) {
		const char *got;
		char meta[512];

		assert_int_equal(teardown(state), 0);
		setup(state);
		if (successions[i].group)
			put_named(w.stores.podgroups, "s", BY_DEMO, "");
		put_named(w.stores.pods, "a", OLD, OURS);
		snprintf(meta, sizeof(meta), "%s%s", BY_DEMO, successions[i].second);
		put_named(w.stores.pods, "b", meta, OURS);
		put_named(w.stores.pods, "c", OLD, OURS);
		drain();
		if (successions[i].ends)
			put_named(w.stores.pods, "a", OLD, OURS ",\"status\":{\"phase\":\"Failed\"}");
		else
			kar_store_delete(w.stores.pods, "ns", "a", "uid-a", ++w.rv);
		got = drain();
		if (!kar_streq(got, successions[i].woken))
			fail_msg("%s: want '%s', got '%s'", successions[i].name, successions[i].woken, got);
		put_named(w.stores.pods, "d", OLD, OURS);
		drain();
		kar_store_delete(w.stores.pods, "ns", "d", "uid-d", ++w.rv);
		assert_string_equal(drain(), ""); /* it was not the first */
	}
}

/* Only the pods of its controller. */
static void schedulingspec_and_group_wake_the_pods(void **state KAR_UNUSED)
{
	put_named(w.stores.pods, "a", OLD, OURS);
	put_named(w.stores.pods, "b", OWNED("example.com/v1", "CRDJob", "x"), OURS);
	drain();
	put_named(w.stores.schedulingspecs, "s", OLD, ",\"spec\":{}");
	assert_string_equal(drain(), "ns/a");
	put_named(w.stores.podgroups, "s", BY_DEMO, "");
	assert_string_equal(drain(), "ns/a");
	put_named(w.stores.podgroups, "s", BY_DEMO, ",\"status\":{\"running\":1}");
	assert_string_equal(drain(), "");
	put_named(w.stores.podgroups, "s", BY_DEMO, ",\"spec\":{\"minMember\":4}");
	assert_string_equal(drain(), "ns/a");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pods_are_a_gang_by_the_schedulingspec_of_their_owner),
		TEST(bodies_have_the_owner_and_the_requests_of_the_schedulingspec),
		TEST(nodes_are_selected_by_the_schedulingspec),
		TEST(who_speaks_for_all_has_a_successor),
		TEST(schedulingspec_and_group_wake_the_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
