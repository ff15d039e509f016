/* The shell of the Queue reconciler: caches in, plan and bodies out; when it passes, and what it folds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/json.h"
#include "controllers/controller.h"
#include "controllers/queue/queue.h"

static const kar_time wall = 1795268787123;

struct world {
	struct kar_intern *strings;
	struct kar_stores stores;
	struct kar_controller controller;
	struct kar_key_state state;
	struct kar_sync sync;
	kar_rv rv;
	kar_time mono;
};

static struct world w;

static int setup(void **state)
{
	const struct kar_workqueue_options o = { 0 };

	(void)state;
	w = (struct world){ .strings = kar_intern_new(), .rv = 10, .mono = 1000000 };
	w.stores.podgroups = kar_store_new(&kar_podgroup_type, w.strings);
	w.stores.queues = kar_store_new(&kar_queue_type, w.strings);
	w.stores.queuejobs = kar_store_new(&kar_queuejob_type, w.strings);
	w.stores.priorityclasses = kar_store_new(&kar_priorityclass_type, w.strings);
	w.controller.stores = &w.stores;
	w.controller.queue = kar_workqueue_new(&o);
	w.controller.barrier = kar_barrier_new();
	kar_queue_controller(&w.controller);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kar_arena_release(&w.sync.arena);
	kar_workqueue_free(w.controller.queue);
	kar_barrier_free(w.controller.barrier);
	kar_store_free(w.stores.podgroups);
	kar_store_free(w.stores.queues);
	kar_store_free(w.stores.queuejobs);
	kar_store_free(w.stores.priorityclasses);
	kar_intern_free(w.strings);
	return 0;
}

/* Puts an object into a store, with the next resourceVersion; its UID is "uid-<name>". */
static void put(struct kar_store *s, const char *name, const char *more_meta, const char *rest)
{
	const struct kar_type *t = kar_store_type(s);
	struct kar_arena arena = { 0 };
	void *wire = kar_arena_alloc(&arena, 1, t->wire->size);
	struct kar_err err = { 0 };
	const char *json = kar_arena_printf(&arena,
		"{\"metadata\":{%s\"name\":\"%s\",\"uid\":\"uid-%s\",\"resourceVersion\":\"%d\",\"generation\":1%s}%s}",
		t->res.namespaced ? "\"namespace\":\"ns\"," : "", name, name, (int)++w.rv, more_meta, rest);
	struct kar_object *o;

	if (kar_json_decode(&arena, t->wire, NULL, json, strlen(json), wire, &err))
		fail_msg("%s in %s", err.msg, json);
	o = t->project(wire, w.strings, &err);
	if (!o)
		fail_msg("%s in %s", err.msg, json);
	kar_store_apply(s, o);
	kar_arena_release(&arena);
}

#define ADMITTED(status, reason, message) \
	"\"conditions\":[{\"type\":\"Admitted\",\"status\":\"" status "\",\"reason\":\"" reason \
	"\",\"message\":\"" message "\"," \
	"\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]"

static void put_queue(const char *name, const char *spec)
{
	char rest[512];

	snprintf(rest, sizeof(rest),
		",\"spec\":{%s},\"status\":{\"state\":\"Open\",\"conditions\":["
		"{\"type\":\"Valid\",\"status\":\"True\",\"reason\":\"Valid\",\"message\":\"\",\"observedGeneration\":1},"
		"{\"type\":\"Active\",\"status\":\"True\",\"reason\":\"Open\",\"message\":\"admits jobs\",\"observedGeneration\":1}]}",
		spec);
	put(w.stores.queues, name, "", rest);
}

static void put_group(const char *name, const char *spec, const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest), ",\"spec\":{%s},\"status\":{%s}", spec, status);
	put(w.stores.podgroups, name, "", rest);
}

static void put_group_of_job(const char *name, const char *status)
{
	char rest[1024], owner[256];

	snprintf(rest, sizeof(rest), ",\"spec\":{},\"status\":{%s}", status);
	snprintf(owner, sizeof(owner),
		",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"%s\",\"uid\":\"uid-%s\",\"controller\":true}]",
		name, name);
	put(w.stores.podgroups, name, owner, rest);
}

#define TASKS "\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":[]}}}]"

static void put_job(const char *name, const char *more_meta, const char *spec, const char *phase)
{
	char rest[512];

	snprintf(rest, sizeof(rest), ",\"spec\":{" TASKS "%s},\"status\":{\"phase\":\"%s\"}", spec, phase);
	put(w.stores.queuejobs, name, more_meta, rest);
}

/* One sync; the plan without what concerns queue statuses if @groups_only. The text lives until the next call. */
static const char *sync_text(bool groups_only)
{
	static char text[4096];
	struct kar_buf out = { 0 };

	kar_arena_release(&w.sync.arena);
	w.sync = (struct kar_sync){ .controller = &w.controller,
		.key = "all",
		.now = wall,
		.mono = w.mono,
		.state = &w.state };
	kar_plan_init(&w.sync.plan, &w.sync.arena);
	if (!w.controller.sync(&w.controller, &w.sync))
		kar_buf_puts(&out, "not yet: ");
	while (groups_only && w.sync.plan.n_actions &&
		w.sync.plan.actions[w.sync.plan.n_actions - 1].type == &kar_queue_type)
		w.sync.plan.n_actions--;
	if (groups_only)
		w.sync.plan.requeue_after = KAR_NEVER;
	kar_plan_print(&w.sync.plan, &out);
	snprintf(text, sizeof(text), "%s", kar_buf_cstr(&out));
	kar_buf_release(&out);
	return text;
}

static void check_body(size_t action, const char *want)
{
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };

	assert_true(action < w.sync.plan.n_actions);
	assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[action], &out, &err), 0);
	assert_string_equal(kar_buf_cstr(&out), want);
	kar_buf_release(&out);
}

static void empty_cluster_gets_the_default_queue(void **state)
{
	(void)state;
	assert_string_equal(sync_text(false), "create queues default");
	check_body(0,
		"{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"default\"},"
		"\"spec\":{}}");
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
}

static void default_queue_is_created_once(void **state)
{
	(void)state;
	put_queue("default", "");
	assert_string_equal(sync_text(false), "");
}

static void group_is_admitted_with_preconditions(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "\"minMember\":1",
		"\"phase\":\"Pending\",\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":\"NotEnoughMembers\","
		"\"message\":\"m\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]");
	assert_string_equal(sync_text(false),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0); "
		"patch queues/status default (Open pending=0 inqueue=1 running=0 completed=0 unknown=0)");
	check_body(0,
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"12\"},\"status\":{\"position\":0,\"conditions\":["
		"{\"type\":\"Scheduled\",\"status\":\"False\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\","
		"\"reason\":\"NotEnoughMembers\",\"message\":\"m\"},"
		"{\"type\":\"Admitted\",\"status\":\"True\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:27Z\","
		"\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"}]}}");
	assert_int_equal(w.sync.plan.actions[0].patch_type, KAR_PATCH_MERGE);
	assert_string_equal(w.sync.plan.actions[0].uid, "uid-g");
}

/* One write less for each gang: the first status says what is obvious. */
static void first_status_of_a_group_is_pending(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "\"minMember\":1", "");
	sync_text(false);
	check_body(0,
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"12\"},\"status\":{\"phase\":\"Pending\",\"members\":0,"
		"\"scheduled\":0,\"running\":0,\"succeeded\":0,\"failed\":0,\"position\":0,\"conditions\":["
		"{\"type\":\"Admitted\",\"status\":\"True\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:27Z\","
		"\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"}]}}");
}

static void admitted_group_is_not_written_again(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("True", "Admitted", "admitted by another queue"));
	assert_string_equal(sync_text(true), "");
}

static void contradictory_condition_is_mended(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("False", "Admitted", "edited by hand"));
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)");
}

static void most_urgent_group_is_written_first(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":2");
	put_group("a", "\"priority\":1", "");
	put_group("b", "\"priority\":2", "");
	put_group("c", "\"priority\":3", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/c (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/b (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/a (Admitted=False/QueueCapability position=1)");
}

static void priority_is_resolved_from_classes(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":1");
	put(w.stores.priorityclasses, "low", "", ",\"value\":-10");
	put(w.stores.priorityclasses, "usual", "", ",\"value\":5,\"globalDefault\":true");
	put_group("a", "\"priorityClassName\":\"low\"", "");
	put_group("b", "\"priority\":4,\"priorityClassName\":\"usual\"", "");
	put_group("c", "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/c (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/b (Admitted=False/QueueCapability position=1); "
		"patch podgroups/status ns/a (Admitted=False/QueueCapability position=2)");
}

#define INVALID(pods) \
	"Pending\",\"replicas\":" pods \
	",\"conditions\":[{\"type\":\"Invalid\",\"status\":\"True\"}],\"reason\":\"r"

static const struct {
	const char *name, *meta, *spec, *phase, *plan;
} owners[] = {
	{ "live_job_is_admitted", "", "", "Pending",
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)" },
	{ "suspended_job_waits_for_nothing", "", ",\"suspend\":true", "Pending",
		"patch podgroups/status ns/j (Admitted=False/Suspended position=0)" },
	{ "job_being_deleted_is_left_alone", ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"", "", "Pending",
		"" },
	{ "completed_job_is_left_alone", "", "", "Completed", "" },
	{ "failed_job_is_left_alone", "", "", "Failed", "" },
	{ "completed_before_suspended", "", ",\"suspend\":true", "Completed", "" },
	{ "invalid_job_without_pods_waits_for_nothing", "", "", INVALID("0"),
		"patch podgroups/status ns/j (Admitted=False/JobInvalid position=0)" },
	{ "invalid_job_with_pods_keeps_its_place", "", "", INVALID("1"),
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)" },
};

static void owner_decides_whether_a_group_waits(void **state)
{
	for (size_t i = 0; i < KAR_LEN(owners); i++) {
		const char *got;

		teardown(state); /* a world of its own for each row */
		setup(state);
		put_queue("default", "");
		put_job("j", owners[i].meta, owners[i].spec, owners[i].phase);
		put_group_of_job("j", "");
		got = sync_text(true);
		if (strcmp(got, owners[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", owners[i].name, owners[i].plan, got);
	}
}

static void group_whose_job_is_gone_is_left_alone(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group_of_job("j", "");
	assert_string_equal(sync_text(true), "");
}

static void resumed_job_is_admitted_again(void **state)
{
	(void)state;
	put_queue("default", "");
	put_job("j", "", "", "Suspended");
	put_group_of_job("j", ADMITTED("False", "Suspended", "the job is suspended"));
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)");
}

static void second_pass_keeps_its_distance(void **state)
{
	(void)state;
	sync_text(false);
	w.mono += 20;
	assert_string_equal(sync_text(false), "not yet: requeue 0s");
	assert_int_equal(w.sync.plan.requeue_after, 30);
	w.mono += 30;
	assert_string_equal(sync_text(false), "create queues default");
}

/* Group "g" waits at the second place, but is written as waiting at the third. */
static void put_moved_group(void)
{
	put_group("a", "\"priority\":1",
		ADMITTED("False", "QueueCapability",
			"1st of 2 in queue default: maxJobs 0 reached") ",\"position\":1");
	put_group("g", "",
		ADMITTED("False", "QueueCapability",
			"3rd of 3 in queue default: maxJobs 0 reached") ",\"position\":3");
}

static void positions_are_told_every_five_seconds(void **state)
{
	const char *told = "patch podgroups/status ns/g (Admitted=False/QueueCapability position=2)";

	(void)state;
	put_queue("default", "\"maxJobs\":0");
	put_moved_group();
	assert_string_equal(sync_text(true), told);
	w.mono += 1000;
	assert_string_equal(sync_text(true), "");
	w.mono += 1000;
	sync_text(false);
	assert_int_equal(w.sync.plan.requeue_after, 1000 * 3);
	w.mono += 3000;
	assert_string_equal(sync_text(true), told);
}

static void reasons_are_told_at_once(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":0");
	put_moved_group();
	sync_text(true);
	w.mono += 1000;
	put_group("g", "", ADMITTED("False", "QueueClosed", "x") ",\"position\":2");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/QueueCapability position=2)");
}

static void counts_are_told_every_second(void **state)
{
	const char *told =
		"patch queues/status default (Open pending=0 inqueue=1 running=0 completed=0 unknown=0)";

	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("True", "Admitted", ""));
	assert_string_equal(sync_text(false), told);
	w.mono += 400;
	assert_string_equal(sync_text(false), "requeue 0s");
	assert_int_equal(w.sync.plan.requeue_after, 600);
	w.mono += 600;
	assert_string_equal(sync_text(false), told);
}

static void state_is_told_at_once(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("True", "Admitted", ""));
	sync_text(false);
	w.mono += 400;
	put_queue("default", "\"state\":\"Closed\"");
	assert_string_equal(sync_text(false),
		"patch queues/status default (Closing pending=0 inqueue=1 running=0 completed=0 unknown=0)");
}

static void own_writes_are_awaited(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", "");
	kar_barrier_wrote(w.controller.barrier, "all", &kar_podgroup_type, w.rv + 1);
	assert_string_equal(sync_text(false), "not yet: requeue 0s");
	put_group("g", "", ADMITTED("True", "Admitted", ""));
	assert_string_equal(sync_text(true), "");
}

static void stale_patch_is_not_sent(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", "");
	sync_text(false);
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[1]));
	put_group("g", "", "\"phase\":\"Pending\"");
	assert_false(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[1]));
}

/* The key that is queued, or "". It lives until the next call. */
static const char *woken(void)
{
	static char text[16];
	const char *key = kar_workqueue_take(w.controller.queue, w.mono);

	snprintf(text, sizeof(text), "%s", key ? key : "");
	if (key)
		kar_workqueue_done(w.controller.queue, key);
	return text;
}

static void changes_that_matter_wake_it(void **state)
{
	(void)state;
	w.controller.start(&w.controller);
	assert_string_equal(woken(), "all"); /* for the default queue, even if nothing ever changes */
	assert_string_equal(woken(), "");
	put_queue("default", "");
	assert_string_equal(woken(), "all");
	put_group("g", "", "");
	assert_string_equal(woken(), "all");
	put(w.stores.priorityclasses, "c", "", ",\"value\":1");
	assert_string_equal(woken(), "all");
	put_job("j", "", "", "Pending");
	assert_string_equal(woken(), "all");
	put_job("j", "", "", "Running");
	assert_string_equal(woken(), "");
	put_job("j", "", "", INVALID("0"));
	assert_string_equal(woken(), "all");
	put_job("j", "", ",\"suspend\":true", "Running");
	assert_string_equal(woken(), "all");
	put_job("j", "", ",\"suspend\":true", "Completed");
	assert_string_equal(woken(), "all");
}

/* A gang that starts writes its group's status several times; a pass for each would do nothing but count. */
static void progress_of_a_group_can_wait(void **state)
{
	(void)state;
	w.controller.start(&w.controller);
	put_group("g", "", "");
	assert_string_equal(woken(), "all");
	put_group("g", "", "\"phase\":\"Scheduling\"");
	assert_string_equal(woken(), "counts");
	put_group("g", "",
		"\"phase\":\"Running\"," ADMITTED("True", "Admitted", "admitted by queue default"));
	assert_string_equal(woken(), "counts");
	put_group("g", "", "\"phase\":\"Finished\"");
	assert_string_equal(woken(), "all"); /* its place is free */
	put_group_of_job("g", "\"phase\":\"Finished\"");
	assert_string_equal(woken(), "all"); /* its owner speaks for it now */
}

static const char *ask_for_pass(void)
{
	w.sync = (struct kar_sync){ .controller = &w.controller,
		.key = "counts",
		.mono = w.mono,
		.state = &w.state };
	kar_plan_init(&w.sync.plan, &w.sync.arena);
	return w.controller.sync(&w.controller, &w.sync) ? "asked" : "not yet";
}

static void passes_for_counts_are_a_second_apart(void **state)
{
	(void)state;
	assert_string_equal(ask_for_pass(), "asked");
	assert_string_equal(woken(), "all");
	w.mono += 400;
	assert_string_equal(ask_for_pass(), "not yet");
	assert_int_equal(w.sync.plan.requeue_after, 600);
	assert_string_equal(woken(), "");
	w.mono += 600;
	assert_string_equal(ask_for_pass(), "asked");
	assert_string_equal(woken(), "all");
}

static void passes_are_rarer_when_there_are_many_groups(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		char name[16];

		snprintf(name, sizeof(name), "g%d", i);
		put_group(name, "", "");
	}
	sync_text(false);
	w.mono += 50;
	assert_string_equal(sync_text(false), "not yet: requeue 0s");
	assert_int_equal(w.sync.plan.requeue_after, 10);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(empty_cluster_gets_the_default_queue),
		TEST(default_queue_is_created_once),
		TEST(group_is_admitted_with_preconditions),
		TEST(admitted_group_is_not_written_again),
		TEST(contradictory_condition_is_mended),
		TEST(most_urgent_group_is_written_first),
		TEST(first_status_of_a_group_is_pending),
		TEST(priority_is_resolved_from_classes),
		TEST(owner_decides_whether_a_group_waits),
		TEST(group_whose_job_is_gone_is_left_alone),
		TEST(resumed_job_is_admitted_again),
		TEST(second_pass_keeps_its_distance),
		TEST(positions_are_told_every_five_seconds),
		TEST(reasons_are_told_at_once),
		TEST(counts_are_told_every_second),
		TEST(state_is_told_at_once),
		TEST(own_writes_are_awaited),
		TEST(stale_patch_is_not_sent),
		TEST(changes_that_matter_wake_it),
		TEST(progress_of_a_group_can_wait),
		TEST(passes_for_counts_are_a_second_apart),
		TEST(passes_are_rarer_when_there_are_many_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
