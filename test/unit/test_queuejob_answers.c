/* The shell of the QueueJob reconciler: what the API server's answers to creates and dry runs lead to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/runtime/create_backoff.h"
#include "test/unit/queuejob_sync_fixture.h"
#include "test/fixture/needs_text.h"

/* --- what the API server thinks of the pods ------------------------------------------------------ */

static void put_waiting_job(void)
{
	put_job(SPEC);
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB, ",\"spec\":{\"minAvailable\":2}");
	put(w.stores.podgroups, "j", "g-uid", BY_JOB,
		",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0},\"status\":{\"conditions\":[{"
		"\"type\":\"Admitted\",\"status\":\"False\",\"reason\":\"QueueClosed\",\"message\":\"m\"}]}");
}

/* The dry run that a job asks for when it has waited for a while. */
static const struct kar_action *asked(kar_time after)
{
	assert_true(sync_at(5000));
	assert_null(find_action(QUEUEJOB_CREATE_POD, KAR_CREATE));
	assert_true(sync_at(5000 + after));
	return find_action(QUEUEJOB_CREATE_POD, KAR_CREATE);
}

static void waiting_job_is_checked_early_and_once(void **state)
{
	const struct kar_action *a;

	(void)state;
	put_waiting_job();
	a = asked(999);
	assert_null(a);
	a = asked(1000);
	assert_non_null(a);
	assert_true(a->dry_run);
	assert_string_equal(a->name, "j-w-0");
	take_all();
	answer(a, "{}");
	assert_string_equal(take(), "ns/j");
	assert_true(sync_at(90000));
	assert_null(find_action(QUEUEJOB_CREATE_POD, KAR_CREATE));
}

static void objection_makes_the_job_invalid(void **state)
{
	const struct kar_err no = { .what = KAR_INVALID, .msg = "create pods in ns: Pod is invalid: no" };
	const struct kar_queuejob_status *st;
	const struct kar_action *a;

	(void)state;
	put_waiting_job();
	a = asked(1000);
	assert_non_null(a);
	take_all();
	w.controller.refused(&w.sync, a, &no);
	assert_string_equal(take(), "ns/j");
	assert_true(sync_at(7000));
	st = w.sync.plan.status;
	assert_string_equal(st->message, "task w: Pod is invalid: no");
	assert_true(kar_condition_is_true(&st->conditions, KAR_QJ_INVALID));
}

static void refused_create_makes_it_invalid_too(void **state)
{
	const struct kar_err quota = { .what = KAR_DENIED,
		.cause = KAR_CAUSE_QUOTA,
		.msg = "exceeded quota" };
	const struct kar_err no = { .what = KAR_INVALID, .msg = "create pods in ns: Pod is invalid: no" };
	const struct kar_queuejob_status *st;

	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	w.controller.refused(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &quota);
	assert_null(key_memory()->job);
	w.controller.refused(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &no);
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "InvalidTemplate");
	assert_int_equal(count_actions(KAR_CREATE), 0);
}

/* One shows what its like are stored as: what admission adds, and gates of others. */
static void one_created_pod_a_minute_is_shown(void **state)
{
	static const char stored[] =
		"{\"spec\":{\"schedulingGates\":[{\"name\":\"example.com/hold\"}],\"containers\":[{\"name\":\"c\",\"resources\":"
		"{\"requests\":{\"cpu\":\"2\"}}}]}}";
	const struct kar_template *e;
	const struct kar_action *a;
	int shown = 0;

	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	assert_true(count_actions(KAR_CREATE) > 1);
	for (size_t i = 0; i < w.sync.plan.n_actions; i++)
		shown += w.sync.plan.actions[i].whole_answer;
	assert_int_equal(shown, 1);
	a = action_of(QUEUEJOB_CREATE_POD, KAR_CREATE);
	e = kar_templates_find(w.stores.templates, kar_as_queuejob(w.sync.object), 0, w.sync.mono);
	assert_true(a->whole_answer);
	answer(a, "{}"); /* the metadata only */
	assert_true(kar_template_is_old(e, w.sync.mono));
	answer(a, stored);
	assert_false(kar_template_is_old(e, w.sync.mono));
	assert_string_equal(e->gate, "example.com/hold");
	assert_int_equal(kar_shape_compare(&kar_needs_shape, e->needs, NEEDS_OF("cpu", 2000)), 0);
}

/* Of a child, which is tried again in the same way as a pod: after an edit, else rarely. */
static void refused_child_makes_it_invalid_too(void **state)
{
	const struct kar_err no = { .what = KAR_INVALID,
		.msg = "create schedulingspecs in ns: SchedulingSpec \"j\" is invalid: no" };
	const struct kar_queuejob_status *st;

	(void)state;
	put_job(SPEC);
	assert_true(sync_key());
	for (int i = 0; i < 20; i++)
		kar_create_backoff_note(&w.sync, action_of(QUEUEJOB_CREATE_SCHEDULINGSPEC, KAR_CREATE), &no,
			5000);
	assert_true(sync_at(5001));
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "InvalidObject");
	assert_string_equal(st->message,
		"cannot create schedulingspecs in ns: SchedulingSpec \"j\" is invalid: no");
	assert_true(kar_condition_is_true(&st->conditions, KAR_QJ_INVALID));
	kar_create_backoff_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	assert_int_equal(w.sync.plan.requeue_after, 10 * KAR_MINUTE - 1);
	kar_create_backoff_forget(&w.controller, &w.state);
}

/* Of a gang at work, before it is restarted. */
static void new_template_is_checked_once(void **state)
{
	const struct kar_queuejob_status *st;
	const struct kar_action *a;

	(void)state;
	put_job(SPEC
		",\"status\":{\"phase\":\"Running\",\"incarnation\":1,\"record\":{\"templateHash\":\"old\"}" FORMED
		"}");
	put_children(true);
	assert_true(sync_key());
	a = action_of(QUEUEJOB_CREATE_POD, KAR_CREATE);
	assert_true(a->dry_run);
	answer(a, "{}");
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_int_equal(st->phase, KAR_QJ_PHASE_RESTARTING);
}

#define RECORD(hash) "\"record\":{\"formation\":\"First\",\"templateHash\":\"" hash "\"}"
#define RUNS(counters, hash) "\"phase\":\"Starting\"," counters "," RECORD(hash) NOT_FORMED
#define SUSPENDED(incarnation, hash) \
	"\"phase\":\"Suspended\",\"incarnation\":" incarnation "," RECORD( \
		hash) ",\"conditions\":[{" \
		      "\"type\":\"Suspended\",\"status\":\"True\",\"reason\":\"Suspended\",\"message\":\"\"}]"
#define REFUSED \
	"\"phase\":\"Starting\",\"incarnation\":1,\"record\":{\"formation\":\"First\",\"objection\":\"Template\"," \
	"\"templateHash\":\"=\"},\"conditions\":[{\"type\":\"Invalid\",\"status\":\"True\"," \
	"\"reason\":\"InvalidTemplate\",\"message\":\"no\"},{\"type\":\"Formed\",\"status\":\"False\"," \
	"\"reason\":\"Starting\",\"message\":\"\"}]"

/* Until a pod of the task was accepted, a field that the API server does not know is an error; a job that ran goes on (042). */
static const struct strict_row {
	const char *name;
	bool suspend;
	const char *status; /* "=" in it stands for the hash of the templates */
	bool has_pod;
	bool dry_run, strict;
} strict_rows[] = {
	{ "first_create", false, RUNS("\"incarnation\":1", "="), false, false, true },
	{ "task_that_has_a_pod", false, RUNS("\"incarnation\":1", "="), true, false, false },
	{ "after_a_restart", false, RUNS("\"incarnation\":2,\"restarts\":1", "="), false, false, false },
	{ "replacement", false, RUNS("\"incarnation\":1,\"disruptions\":1", "="), false, false, false },
	{ "replacement_after_a_failure", false, RUNS("\"incarnation\":1,\"podFailures\":1", "="), false,
		false, false },
	{ "edited_while_it_runs", false, RUNS("\"incarnation\":3,\"restarts\":2", "old"), true, true, true },
	{ "suspended_from_the_beginning", true, SUSPENDED("0", ""), false, true, true },
	{ "suspended_after_it_ran", true, SUSPENDED("1", "="), false, true, false },
	{ "edited_while_suspended", true, SUSPENDED("2", "old"), false, true, true },
	{ "refused_before", false, REFUSED, false, true, true },
};

static void put_strict_row(const struct strict_row *row)
{
	const char *more = row->suspend ? ",\"spec\":{\"suspend\":true,\"taskSpecs\":[{\"name\":\"w\","
					  "\"replicas\":2," TEMPLATE "}]}"
					: SPEC;
	const char *hash = strchr(row->status, '=');
	struct kar_buf rest = { 0 };

	put_job(more);
	kar_buf_printf(&rest, "%s,\"status\":{%.*s%s%s}", more,
		(int)(hash ? (size_t)(hash - row->status) : strlen(row->status)), row->status,
		hash ? spec_hash() : "", hash ? hash + 1 : "");
	put_job(kar_buf_cstr(&rest));
	kar_buf_release(&rest);
	put_children(true);
	if (row->has_pod)
		put(w.stores.pods, "j-w-0", "p-uid",
			BY_JOB TRACKED
			",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\","
			"\"kube-arbitrator.io/incarnation\":\"1\","
			"\"scheduling.x-k8s.io/pod-group\":\"j\","
			"\"kube-arbitrator.io/task\":\"w\",\"kube-arbitrator.io/index\":\"0\"}",
			"");
}

static void first_pod_may_have_no_unknown_field(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(strict_rows); i++) {
		const struct strict_row *row = &strict_rows[i];
		const struct kar_action *a;

		if (i) {
			teardown(NULL);
			setup(NULL);
		}
		put_strict_row(row);
		(void)sync_at(5000);
		key_memory()->owner_checked = kar_as_queuejob(w.sync.object)->status.incarnation;
		key_memory()->owner_uid = kar_hash_str(1, "job-uid");
		(void)sync_at(9000);
		a = find_action(QUEUEJOB_CREATE_POD, KAR_CREATE);
		if (!a || a->dry_run != row->dry_run || a->strict != row->strict) {
			print_error("%s: %s\n", row->name,
				!a                  ? "no create"
					: a->strict ? "strict"
						    : "not strict");
			failed++;
		}
	}
	assert_int_equal(failed, 0);
}

static void gang_goes_on_while_its_new_pods_are_forbidden(void **state)
{
	const struct kar_err no = { .what = KAR_DENIED, .msg = "create pods in ns: no such class" };
	const struct kar_queuejob_status *st;

	(void)state;
	put_job(SPEC
		",\"status\":{\"phase\":\"Starting\",\"incarnation\":1,\"record\":{\"templateHash\":\"old\"}" NOT_FORMED
		"}");
	put_children(true);
	assert_true(sync_key());
	w.controller.refused(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &no);
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_true(queuejob_has_gang(st->phase));
	assert_string_equal(st->reason, "Forbidden");
	assert_string_equal(st->message, "cannot replace the pods of task w: no such class");
}

/* It is never in the cache: what the executor says about it is in the status for as long as the create is refused. */
static void service_without_our_label_is_a_conflict(void **state)
{
	static const char words[] =
		"Service j of this QueueJob exists already, but without the label kube-arbitrator.io/queuejob=j";
	const struct kar_queuejob_status *st;
	const struct kar_action *a;
	struct kar_err exists;

	(void)state;
	kar_fail(&exists, KAR_EXISTS, words);
	put_job(",\"spec\":{\"network\":{\"enableDNSHostnames\":true},\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE
		"}]}");
	assert_true(sync_key());
	a = action_of(QUEUEJOB_CREATE_SERVICE, KAR_CREATE);
	assert_string_equal(a->seen_by, "kube-arbitrator.io/queuejob");
	check_body(a,
		CHILD("v1",
			"Service") ",\"spec\":{\"clusterIP\":\"None\",\"selector\":{"
				   "\"kube-arbitrator.io/queuejob\":\"j\"},\"publishNotReadyAddresses\":true}}");
	for (int i = 0; i < 20; i++)
		kar_create_backoff_note(&w.sync, a, &exists, 5000);
	assert_true(sync_at(5001));
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "NameConflict");
	assert_non_null(strstr(st->message, words));
	assert_int_equal(w.sync.plan.n_events, 1);
	assert_string_equal(w.sync.plan.events[0].reason, "NameConflict");
	kar_create_backoff_hold_creates(&w.sync);
	assert_null(find_action(QUEUEJOB_CREATE_SERVICE, KAR_CREATE));
	assert_int_equal(w.sync.plan.requeue_after,
		30 * KAR_SECOND - 1); /* the longest time to the next try */
	put_children(false);
	put(w.stores.services, "j", "n-uid", BY_JOB,
		",\"spec\":{\"clusterIP\":\"None\",\"publishNotReadyAddresses\":true,"
		"\"selector\":{\"kube-arbitrator.io/queuejob\":\"j\"}}");
	assert_true(sync_at(5002));
	st = w.sync.plan.status;
	assert_true(!st || strcmp(st->reason, "NameConflict") != 0);
	kar_create_backoff_hold_creates(&w.sync);
	assert_null(kar_create_backoff_of(&w.sync)); /* the label is back */
}

/* Seen in the caches: whose it is. */
static void conflict_names_the_owner(void **state)
{
	static const struct {
		bool of_group;
		const char *owner, *words;
	} owners[] = {
		{ true, CONTROLLED_BY("CRDJob", "demo", "x"),
			"PodGroup j exists and belongs to CRDJob demo; rename the job, or delete what has the name. The job goes on by "
			"itself then." },
		{ false, CONTROLLED_BY("CRDJob", "demo", "x"),
			"SchedulingSpec j exists and belongs to CRDJob demo; rename the job, or delete what has the name. The job goes on "
			"by itself then." },
		{ true, CONTROLLED_BY("QueueJob", "j", "old"),
			"PodGroup j exists and belongs to a former QueueJob j; waiting until it is deleted" },
	};

	(void)state;
	put_job(SPEC);
	for (size_t i = 0; i < KAR_LEN(owners); i++) {
		put_children(true);
		put(owners[i].of_group ? w.stores.podgroups : w.stores.schedulingspecs, "j", "o-uid",
			owners[i].owner, "");
		assert_true(sync_key());
		assert_string_equal(((const struct kar_queuejob_status *)w.sync.plan.status)->message,
			owners[i].words);
	}
}

/* Whosever it is. */
static void pod_that_ends_wakes_who_waits_for_a_quota(void **state)
{
	const struct kar_err full = { .what = KAR_DENIED,
		.cause = KAR_CAUSE_QUOTA,
		.msg = "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2" };

	(void)state;
	put_starting_job();
	put(w.stores.pods, "x", "x-uid", "", ",\"status\":{\"phase\":\"Running\"}");
	put(w.stores.pods, "y", "y-uid", "", ",\"status\":{\"phase\":\"Running\"}");
	check_owner();
	assert_true(sync_key());
	kar_create_backoff_note(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &full, 5000);
	take_all();
	put(w.stores.pods, "x", "x-uid", "", ",\"status\":{\"phase\":\"Running\",\"reason\":\"r\"}");
	assert_string_equal(take(), "");
	put(w.stores.pods, "x", "x-uid", "", ",\"status\":{\"phase\":\"Succeeded\"}");
	assert_string_equal(take(), "ns/j");
	w.state.backoff->woken = false;
	kar_store_delete(w.stores.pods, "ns", "x", "x-uid", 5000); /* its room was free before */
	assert_string_equal(take(), "");
	kar_store_delete(w.stores.pods, "ns", "y", "y-uid", 5001);
	assert_string_equal(take(), "ns/j");
}

static void service_is_repaired_and_removed(void **state)
{
	(void)state;
	put_job(",\"spec\":{\"network\":{\"enableDNSHostnames\":true},\"taskSpecs\":[{\"name\":\"w\"," TEMPLATE
		"}]}");
	put(w.stores.services, "j", "n-uid", BY_JOB,
		",\"spec\":{\"clusterIP\":\"None\",\"selector\":{\"a\":\"b\"}}");
	assert_true(sync_key());
	check_body(action_of(QUEUEJOB_PATCH_SERVICE, KAR_PATCH),
		"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"n-uid\"},"
		"{\"op\":\"add\",\"path\":\"/spec/selector\",\"value\":{\"kube-arbitrator.io/queuejob\":\"j\"}},"
		"{\"op\":\"add\",\"path\":\"/spec/publishNotReadyAddresses\",\"value\":true}]");
	assert_int_equal(action_of(QUEUEJOB_PATCH_SERVICE, KAR_PATCH)->patch_type, KAR_PATCH_JSON);
	put_job(SPEC);
	assert_true(sync_key());
	assert_string_equal(action_of(QUEUEJOB_DELETE_SERVICE, KAR_DELETE)->uid, "n-uid");
}

/* The condition is a help, so a role or a policy that refuses it keeps no pod. */
static void evicted_pod_goes_though_its_mark_is_refused(void **state)
{
	struct kar_err err;

	(void)state;
	put_starting_job();
	put(w.stores.podgroups, "j", "g-uid", BY_JOB,
		",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0},\"status\":{\"placement\":{\"state\":\"RollingBack\","
		"\"attempt\":1,\"evictedBy\":\"ns/x\",\"cause\":\"evicted for ns/x\"}}");
	put(w.stores.pods, "j-w-0", "p-uid", BY_JOB TRACKED IN_GROUP,
		",\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Running\"}");
	assert_true(sync_at(5000));
	check_body(action_of(PODSET_DISRUPT, KAR_PATCH),
		"{\"metadata\":{\"uid\":\"p-uid\"},\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
		"\"reason\":\"EvictedByQueue\",\"message\":\"evicted for ns/x\",\"lastTransitionTime\":\"2026-11-21T13:46:27Z\"}]}}");
	assert_null(find_action(PODSET_DELETE, KAR_DELETE));
	kar_fail(&err, KAR_DENIED, "cannot patch pods/status ns/j-w-0: forbidden");
	w.controller.refused(&w.sync, action_of(PODSET_DISRUPT, KAR_PATCH), &err);
	assert_true(sync_at(5001));
	assert_null(find_action(PODSET_DISRUPT, KAR_PATCH));
	assert_string_equal(action_of(PODSET_DELETE, KAR_DELETE)->uid, "p-uid");
	assert_true(sync_at(5000 + KAR_MARK_AGAIN)); /* the role may have been corrected */
	action_of(PODSET_DISRUPT, KAR_PATCH);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(waiting_job_is_checked_early_and_once),
		TEST(objection_makes_the_job_invalid),
		TEST(refused_create_makes_it_invalid_too),
		TEST(one_created_pod_a_minute_is_shown),
		TEST(refused_child_makes_it_invalid_too),
		TEST(new_template_is_checked_once),
		TEST(first_pod_may_have_no_unknown_field),
		TEST(gang_goes_on_while_its_new_pods_are_forbidden),
		TEST(service_without_our_label_is_a_conflict),
		TEST(conflict_names_the_owner),
		TEST(service_is_repaired_and_removed),
		TEST(evicted_pod_goes_though_its_mark_is_refused),
		TEST(pod_that_ends_wakes_who_waits_for_a_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
