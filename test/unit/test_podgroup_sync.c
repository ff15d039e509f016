/* The shell of the PodGroup reconciler: which keys change wakes, what is observed, and the body that is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/log.h"
#include "common/base/str.h"
#include "controllers/podgroup/podgroup.h"
#include "controllers/podgroup/release.h"
#include "test/fixture/reconciler.h"

static int setup(void **state KAR_UNUSED)
{
	static const struct kar_settings settings = { .schedule_timeout = KAR_MINUTE };

	open_world(kar_podgroup_controller, &settings);
	w.controller.start(&w.controller);
	return 0;
}

static void put_owned_pod(const char *name, const char *group, const char *owner, const char *rest)
{
	char meta[512];

	snprintf(meta, sizeof(meta), ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"%s\"}%s", group,
		owner);
	put_named(w.stores.pods, name, meta, rest);
}

static void put_pod(const char *name, const char *group, const char *rest)
{
	put_owned_pod(name, group, "", rest);
}

#define BY_JOB(uid) \
	",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"" uid \
	"\",\"controller\":true}]"
#define BY_OTHER \
	",\"ownerReferences\":[{\"apiVersion\":\"example.com/v1\",\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]"
#define GATED ",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]}"
#define RUNNING ",\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Running\"}"

static const char *phase_of_plan(void)
{
	const struct kar_podgroup_status *st = w.sync.plan.status;

	return st ? kar_pg_phase_name(st->phase) : "unchanged";
}

static void group_that_is_gone_is_forgotten(void **state)
{
	(void)state;
	assert_false(sync_named("ns/g"));
	assert_int_equal(w.sync.plan.requeue_after, KAR_NEVER);
}

static void members_are_those_of_the_same_namespace_and_name(void **state)
{
	(void)state;
	put_named(w.stores.podgroups, "g", "", ",\"spec\":{\"minMember\":2}");
	put_pod("a", "g", RUNNING);
	put_pod("b", "g", RUNNING);
	put_pod("c", "other", RUNNING);
	assert_true(sync_named("ns/g"));
	assert_string_equal(phase_of_plan(), "Running");
	assert_int_equal(((const struct kar_podgroup_status *)w.sync.plan.status)->members, 2);
	assert_ptr_equal(w.sync.object, kar_store_get(w.stores.podgroups, "ns", "g"));
}

static void nothing_is_said_of_what_is_unreadable(void **state)
{
	static const char member[] = ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}";

	(void)state;
	put_named(w.stores.podgroups, "g", "", ",\"spec\":{\"minMember\":2}");
	put_unreadable(w.stores.pods, "a", "uid-a", member, ",\"status\":{\"phase\":5}");
	assert_false(sync_named("ns/g"));
	assert_true(w.sync.plan.requeue_after < KAR_NEVER);
	put_pod("a", "g", RUNNING);
	assert_true(sync_named("ns/g"));
	put_unreadable(w.stores.podgroups, "g", "uid-g", "", ",\"spec\":{\"minMember\":\"two\"}");
	assert_false(sync_named("ns/g"));
	assert_true(w.sync.plan.requeue_after < KAR_NEVER);
}

/* Whether its work is over is not known. */
static void nothing_is_said_while_the_job_is_unreadable(void **state)
{
	(void)state;
	put_named(w.stores.podgroups, "g", BY_JOB("uid-j"), ",\"spec\":{\"minMember\":2}");
	put_unreadable(w.stores.queuejobs, "j", "uid-j", "", ",\"status\":{\"phase\":5}");
	assert_false(sync_named("ns/g"));
	assert_true(w.sync.plan.requeue_after < KAR_NEVER);
	put_unreadable(w.stores.queuejobs, "j", "uid-of-another", "", ",\"status\":{\"phase\":5}");
	assert_true(sync_named("ns/g"));
}

static void own_write_is_awaited(void **state)
{
	(void)state;
	put_named(w.stores.podgroups, "g", "", ",\"spec\":{\"minMember\":2}");
	kar_barrier_wrote(w.controller.barrier, "ns/g", &kar_podgroup_type, w.rv + 1);
	assert_false(sync_named("ns/g"));
	assert_true(w.sync.plan.requeue_after > 0 && w.sync.plan.requeue_after < KAR_SECOND);
	put_named(w.stores.podgroups, "g", "", ",\"spec\":{\"minMember\":2}");
	assert_true(sync_named("ns/g"));
}

#define PLACED_AT \
	",\"spec\":{\"minMember\":1},\"status\":{\"phase\":\"Pending\",\"position\":0,\"placement\":{\"state\":\"Placed\",\"attempt\":1,\"time\":\"2026-11-21T%sZ\"," \
	"\"deadline\":\"2026-11-21T14:00:00Z\",\"plan\":[{\"role\":\"a\",\"nodes\":\"n\"}]},\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\"," \
	"\"reason\":\"Admitted\",\"message\":\"m\",\"lastTransitionTime\":\"2026-11-21T13:46:00Z\"}]}"

/* A policy of the API server does not let the gate go: the attempt ends when that has lasted for five seconds. */
static void refused_release_ends_the_attempt(void **state)
{
	static const struct {
		const char *attempt; /* status.placement.time */
		kar_time refused;    /* ms ago; 0: it is not */
		enum kar_class as;
		bool ends;
	} rows[] = {
		{ "13:46:20", 4 * KAR_SECOND, KAR_DENIED, false },
		{ "13:46:19", 6 * KAR_SECOND, KAR_DENIED, true },
		{ "13:46:18", 0, KAR_OK, false }, /* another attempt knows nothing of it */
		{ "13:46:17", 6 * KAR_SECOND, KAR_NOTFOUND, false },
	};

	(void)state;
	put_named(w.stores.nodes, "n", "",
		",\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
	put_owned_pod("a", "g",
		",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]",
		GATED);
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_podgroup_status *st;
		struct kar_err err;
		char group[512];

		snprintf(group, sizeof(group), PLACED_AT, rows[i].attempt);
		put_named(w.stores.podgroups, "g", "", group);
		assert_true(sync_named("ns/g"));
		assert_int_equal(w.sync.plan.n_actions, 1); /* it is tried */
		if (rows[i].refused) {
			kar_fail(&err, rows[i].as, "cannot patch pods ns/a: a policy denied it");
			w.sync.now -= rows[i].refused;
			w.controller.refused(&w.sync, &w.sync.plan.actions[0], &err);
		}
		assert_true(sync_named("ns/g"));
		st = w.sync.plan.status;
		assert_true((st && st->placement.state == KAR_PG_STATE_ROLLING_BACK) == rows[i].ends);
	}
}

/* The condition is a help, so a role or a policy that refuses it keeps no pod. */
static void evicted_pod_goes_though_its_mark_is_refused(void **state)
{
	struct kar_err err;

	(void)state;
	put_owned_pod("a", "g",
		",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}],"
		"\"annotations\":{\"kube-arbitrator.io/released\":\"true\"}",
		",\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Running\"}");
	put_named(w.stores.podgroups, "g", "",
		",\"spec\":{\"minMember\":1},\"status\":{\"phase\":\"Running\",\"position\":0,\"placement\":{\"state\":\"RollingBack\",\"attempt\":1,"
		"\"time\":\"2026-11-21T13:46:20Z\",\"evictedBy\":\"ns/x\",\"cause\":\"evicted for ns/x\"}}");
	assert_true(sync_named("ns/g"));
	assert_int_equal(w.sync.plan.n_actions, 1);
	assert_int_equal(w.sync.plan.actions[0].what, PODGROUP_DISRUPT);
	kar_fail(&err, KAR_DENIED, "cannot patch pods/status ns/a: forbidden");
	w.controller.refused(&w.sync, &w.sync.plan.actions[0], &err);
	assert_true(sync_named("ns/g"));
	assert_int_equal(w.sync.plan.n_actions, 1);
	assert_int_equal(w.sync.plan.actions[0].what, PODGROUP_DELETE);
}

/* The plan was written by a manager that has ended since, and other pods have come meanwhile. */
static void old_plan_is_carried_out_only_if_its_places_are_free(void **state)
{
	static const struct {
		const char *cpu; /* of a pod that nobody knows on the node of 4 */
		bool carried_out;
	} rows[] = { { "2", true }, { "3", false } };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char group[512], taken[256];

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_named(w.stores.nodes, "n", "",
			",\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
		put_owned_pod("a", "g",
			",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]",
			",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}");
		snprintf(taken, sizeof(taken),
			",\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]},\"status\":{\"phase\":\"Running\"}",
			rows[i].cpu);
		put_pod("x", "other", taken);
		snprintf(group, sizeof(group), PLACED_AT, "13:46:20");
		put_named(w.stores.podgroups, "g", "", group);
		assert_true(sync_named("ns/g"));
		assert_int_equal(w.sync.plan.n_actions, rows[i].carried_out ? 1 : 0);
	}
}

static void first_write_may_be_held_back_too(void **state)
{
	(void)state;
	put_named(w.stores.podgroups, "g", "", ",\"spec\":{\"minMember\":2}");
	sync_named("ns/g");
	assert_false(w.sync.plan.urgent);
	assert_false(w.sync.plan.counters); /* only for a moment: it does not compete with counters */
}

#define GANG "gang.scheduling.koordinator.sh/"
#define ASKS(minimum) \
	",\"annotations\":{\"" GANG "name\":\"g\",\"" GANG "min-available\":\"" minimum "\",\"" GANG \
	"mode\":\"NonStrict\"}"
#define MADE_AT(time) \
	",\"labels\":{\"kube-arbitrator.io/made-for-pods\":\"true\"},\"creationTimestamp\":\"2026-11-21T" time \
	"Z\""

static const char *printed(void)
{
	static char text[256];
	struct kar_buf out = { 0 };

	kar_plan_print(&w.sync.plan, &out);
	snprintf(text, sizeof(text), "%s", kar_buf_cstr(&out));
	kar_buf_release(&out);
	return text;
}

static void group_is_made_for_pods_that_ask_for_one(void **state)
{
	(void)state;
	put_named(w.stores.pods, "no-minimum", ASKS("0") ",\"creationTimestamp\":\"2026-11-21T13:46:26Z\"",
		GATED);
	assert_false(sync_named("ns/g"));
	put_named(w.stores.pods, "ended", ASKS("9") ",\"creationTimestamp\":\"2026-11-21T13:46:26Z\"",
		",\"status\":{\"phase\":\"Failed\"}");
	assert_false(sync_named("ns/g"));
	put_named(w.stores.pods, "a", ASKS("4") ",\"creationTimestamp\":\"2026-11-21T13:02:00Z\"", GATED);
	put_named(w.stores.pods, "b", ASKS("3") ",\"creationTimestamp\":\"2026-11-21T13:01:00Z\"", GATED);
	put_named(w.stores.pods, "c", ASKS("2") ",\"creationTimestamp\":\"2026-11-21T13:01:00Z\"", GATED);
	assert_true(sync_named("ns/g"));
	assert_string_equal(printed(), "create podgroups ns/g (for b)");
	assert_string_equal(w.sync.object->name, "b"); /* there a refusal is told */
	check_body(&w.sync.plan.actions[0],
		"{\"apiVersion\":\"scheduling.x-k8s.io/v1alpha1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"g\",\"namespace\":\"ns\","
		"\"labels\":{\"kube-arbitrator.io/made-for-pods\":\"true\"},\"annotations\":{\"" GANG
		"mode\":\"NonStrict\"}},\"spec\":{\"minMember\":3}}");
	kar_barrier_wrote(w.controller.barrier, "ns/g", &kar_podgroup_type, w.rv + 1);
	assert_false(sync_named("ns/g"));
	assert_true(w.sync.plan.requeue_after < KAR_SECOND);
	put_named(w.stores.podgroups, "g", MADE_AT("13:46:00"), ",\"spec\":{\"minMember\":3}");
	assert_true(sync_named("ns/g"));
	assert_int_equal(w.sync.plan.n_actions, 0);
}

/* It is 13:46:27. */
static const struct {
	const char *name, *created, *rest;
	bool event;
	kar_time requeue;
} missed[] = {
	{ "gated_for_long", "13:46:00", GATED, true, 0 },
	{ "gated_a_moment_ago", "13:46:20", GATED, false, 3 * KAR_SECOND },
	{ "not_gated", "13:46:00", "", false, 0 },
};

static void pods_that_wait_for_a_group_that_is_missing_say_so(void **state)
{
	for (size_t i = 0; i < KAR_LEN(missed); i++) {
		char created[64];

		assert_int_equal(teardown(state), 0);
		setup(state);
		snprintf(created, sizeof(created), ",\"creationTimestamp\":\"2026-11-21T%sZ\"",
			missed[i].created);
		put_owned_pod("a", "g", created, missed[i].rest);
		if (sync_named("ns/g") != missed[i].event)
			fail_msg("%s: %s", missed[i].name, printed());
		if (missed[i].event) {
			assert_string_equal(printed(),
				"event Warning PodGroupNotFound: PodGroup ns/g does not exist; 1 pod that names it stays gated until somebody creates it");
			assert_string_equal(w.sync.object->name, "a");
		}
		if (missed[i].requeue &&
			(w.sync.plan.requeue_after > missed[i].requeue ||
				w.sync.plan.requeue_after <= missed[i].requeue - KAR_SECOND))
			fail_msg("%s: again in %lld ms", missed[i].name,
				(long long)w.sync.plan.requeue_after);
	}
}

/* It is 13:46:27. */
static const struct {
	const char *name, *meta, *status, *member;
	bool deleted;
	kar_time requeue;
} empty[] = {
	{ "made_and_empty", MADE_AT("13:45:27"), "", NULL, true, 0 },
	{ "for_less_than_a_minute", MADE_AT("13:45:28"), "", NULL, false, KAR_SECOND },
	{ "its_last_member_was_there_then", MADE_AT("13:00:00"),
		"\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":\"r\",\"message\":\"m\",\"lastTransitionTime\":\"2026-11-21T13:46:00Z\"}]",
		NULL, false, 33 * KAR_SECOND },
	{ "with_a_member", MADE_AT("13:00:00"), "", RUNNING, false, 0 },
	{ "of_somebody_else", ",\"creationTimestamp\":\"2026-11-21T13:00:00Z\"", "", NULL, false, 0 },
	{ "somebody_owns_it", MADE_AT("13:00:00") BY_OTHER, "", NULL, false, 0 },
	{ "being_deleted", MADE_AT("13:00:00") ",\"deletionTimestamp\":\"2026-11-21T13:46:00Z\"", "", NULL,
		false, 0 },
};

static void group_that_was_made_goes_when_it_is_empty(void **state)
{
	for (size_t i = 0; i < KAR_LEN(empty); i++) {
		const struct kar_action *a;
		char rest[512];

		assert_int_equal(teardown(state), 0);
		setup(state);
		snprintf(rest, sizeof(rest), ",\"spec\":{\"minMember\":1},\"status\":{%s}", empty[i].status);
		put_named(w.stores.podgroups, "g", empty[i].meta, rest);
		if (empty[i].member)
			put_pod("a", "g", empty[i].member);
		assert_true(sync_named("ns/g"));
		a = w.sync.plan.n_actions ? &w.sync.plan.actions[0] : NULL;
		if (!a != !empty[i].deleted || (a && (a->verb != KAR_DELETE || !kar_streq(a->uid, "uid-g"))))
			fail_msg("%s: %s", empty[i].name, printed());
		if (empty[i].requeue &&
			(w.sync.plan.requeue_after > empty[i].requeue ||
				w.sync.plan.requeue_after <= empty[i].requeue - KAR_SECOND))
			fail_msg("%s: again in %lld ms", empty[i].name, (long long)w.sync.plan.requeue_after);
	}
}

static const struct {
	const char *name, *owner, *job_name, *job_phase, *phase;
} owners[] = {
	{ "completed_job_keeps_it_finished", BY_JOB("uid-j"), "j", "Completed", "unchanged" },
	{ "failed_job_keeps_it_finished", BY_JOB("uid-j"), "j", "Failed", "unchanged" },
	{ "phase_alone_does_not", BY_JOB("uid-j"), "j", "Completed\",\"message\":\"", "Pending" },
	{ "running_job_does_not", BY_JOB("uid-j"), "j", "Running", "Pending" },
	{ "another_job_does_not", BY_JOB("uid-j"), "k", "Completed", "Pending" },
	{ "later_job_of_the_same_name_does_not", BY_JOB("uid-old"), "j", "Completed", "Pending" },
	{ "owner_of_another_kind_cannot_be_asked", BY_OTHER, "j", "Running", "unchanged" },
	{ "without_an_owner_nobody_can_be_asked", "", "j", "Running", "unchanged" },
};

static void terminal_owner_is_looked_up(void **state)
{
	for (size_t i = 0; i < KAR_LEN(owners); i++) {
		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_named(w.stores.podgroups, "g", owners[i].owner,
			",\"spec\":{\"minMember\":1},\"status\":{\"phase\":\"Finished\"}");
		put_named_job(owners[i].job_name, "", "", owners[i].job_phase);
		sync_named("ns/g");
		if (strcmp(phase_of_plan(), owners[i].phase) != 0)
			fail_msg("%s: want %s, got %s", owners[i].name, owners[i].phase, phase_of_plan());
	}
}

/* What it does not name stays: desired and position are the queue's. */
static void body_has_preconditions_and_nulls(void **state)
{
	struct kar_buf out = { 0 };

	(void)state;
	put_named(w.stores.podgroups, "g", "",
		",\"spec\":{\"minMember\":2},\"status\":{\"desired\":6,\"position\":3,\"conditions\":[{\"type\":"
		"\"Admitted\",\"status\":\"False\",\"reason\":\"QueueClosed\",\"message\":\"m\",\"observedGeneration\":1,"
		"\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]}");
	sync_named("ns/g");
	w.controller.encode_status(&w.sync, &out);
	assert_string_equal(kar_buf_cstr(&out),
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"11\"},\"status\":{\"phase\":\"Pending\",\"occupiedBy\":null,"
		"\"members\":0,\"scheduled\":0,\"running\":0,\"succeeded\":0,\"failed\":0,\"scheduleStartTime\":null,\"record\":null,\"placement\":null,\"backend\":null,\"conditions\":["
		"{\"type\":\"Admitted\",\"status\":\"False\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\","
		"\"reason\":\"QueueClosed\",\"message\":\"m\"},"
		"{\"type\":\"Scheduled\",\"status\":\"False\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:27Z\","
		"\"reason\":\"NotEnoughMembers\",\"message\":\"0/2 members bound; 0/2 created; no pod names this group: its label belongs on the pod template (spec.template.metadata.labels)\"}]}}");
	kar_buf_release(&out);
}

static const char *encode_pruned(const char *meta, const char *shown, struct kar_buf *out)
{
	kar_buf_release(out);
	put_named(w.stores.podgroups, "g", meta, shown);
	sync_named("ns/g");
	return w.sync.plan.status ? w.controller.encode_status(&w.sync, out) : "nothing";
}

#define SHOWN(running) \
	",\"spec\":{\"minMember\":2},\"status\":{\"phase\":\"Pending\",\"running\":" running "}"

/* The CRD of scheduler-plugins keeps the phase and the counts: all else is written before these, as annotations. */
static void what_the_crd_drops_is_written_as_annotations(void **state)
{
	char meta[2048];
	struct kar_buf out = { 0 };

	(void)state;
	assert_null(encode_pruned("", SHOWN("1"), &out));
	snprintf(meta, sizeof(meta), "%s", strstr(kar_buf_cstr(&out), ",\"annotations\""));
	assert_non_null(strstr(meta,
		"\"kube-arbitrator.io/message\":\"NotEnoughMembers: 0/2 members bound; 0/2 created"));
	meta[strlen(meta) - 2] = '\0';
	assert_string_equal(encode_pruned(meta, SHOWN("1"), &out), "status");
	assert_string_equal(encode_pruned(meta, SHOWN("0"), &out), "nothing");
	kar_buf_release(&out);
}

static void body_has_the_start_time(void **state)
{
	struct kar_buf out = { 0 };

	(void)state;
	put_named(w.stores.podgroups, "g", "", ",\"spec\":{\"minMember\":1}");
	put_pod("a", "g", "");
	sync_named("ns/g");
	w.controller.encode_status(&w.sync, &out);
	assert_non_null(strstr(kar_buf_cstr(&out), "\"scheduleStartTime\":\"2026-11-21T13:46:27Z\""));
	kar_buf_release(&out);
}

#define EURO "\xE2\x82\xAC"
#define A_60 "a23456789-123456789-123456789-123456789-123456789-123456789-"

/* They failed for reasons without end, in characters of three bytes. @n: shifts where the message is cut. */
static void put_pods_failed_at_length(size_t n)
{
	struct kar_buf rest = { 0 };
	char name[64];

	kar_buf_puts(&rest, ",\"status\":{\"phase\":\"Failed\",\"reason\":\"");
	for (int i = 0; i < 5000; i++)
		kar_buf_puts(&rest, EURO);
	kar_buf_puts(&rest, "\"}");
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%.*s%d", (int)n, A_60, i);
		put_named(w.stores.pods, name,
			",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\",\"kube-arbitrator.io/queuejob\":\"j\"}",
			kar_buf_cstr(&rest));
	}
	kar_buf_release(&rest);
}

static void long_reasons_are_cut_once_and_for_all(void **state)
{
	for (size_t n = 57; n < 60; n++) {
		const struct kar_podgroup_status *st;
		const struct kar_condition *c;

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_named(w.stores.podgroups, "g", "", ",\"spec\":{\"minMember\":3}");
		put_pods_failed_at_length(n);
		sync_named("ns/g");
		st = w.sync.plan.status;
		assert_non_null(st);
		c = kar_condition_find(&st->conditions, KAR_PG_SCHEDULED);
		assert_in_range(strlen(c->message), KAR_MAX_MESSAGE_BYTES - 4, KAR_MAX_MESSAGE_BYTES - 1);
		assert_string_equal(c->message + strlen(c->message) - 3, "...");
		store_status(w.stores.podgroups, ",\"spec\":{\"minMember\":3}");
		sync_named("ns/g");
		assert_null(w.sync.plan.status);
		assert_int_equal(w.sync.plan.n_events, 0);
	}
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

static void changes_wake_the_groups_they_concern(void **state)
{
	(void)state;
	put_named(w.stores.podgroups, "g", "", "");
	assert_string_equal(woken(), "ns/g");
	put_named(w.stores.podgroups, "g", ",\"annotations\":{\"note\":\"x\"}", "");
	assert_string_equal(woken(), "");
	put_named(w.stores.podgroups, "g", "", ",\"status\":{\"phase\":\"Pending\"}");
	assert_string_equal(woken(), "ns/g");
	put_pod("a", "g", "");
	assert_string_equal(woken(), "ns/g");
	put_pod("a", "g", RUNNING);
	assert_string_equal(woken(), "ns/g");
	put_pod("a", "h", RUNNING);
	assert_string_equal(woken(), "ns/g ns/h");
	put_named(w.stores.pods, "b", "", "");
	assert_string_equal(woken(), "");
	kar_store_delete(w.stores.pods, "ns", "a", "uid-a", ++w.rv);
	assert_string_equal(woken(), "ns/h");
	kar_store_delete(w.stores.podgroups, "ns", "g", "uid-g", ++w.rv);
	assert_string_equal(woken(), "ns/g");
}

/* Only a limit that comes or goes says who starts without its word. */
static void limits_of_queues_wake_groups_of_others(void **state)
{
	(void)state;
	put_named(w.stores.queues, "q", "", "");
	put_named(w.stores.podgroups, "g", "", ",\"spec\":{\"minMember\":1,\"queue\":\"q\"}");
	put_named(w.stores.podgroups, "j", BY_JOB("uid-j"), ",\"spec\":{\"minMember\":1,\"queue\":\"q\"}");
	woken();
	put_named(w.stores.queues, "q", "", ",\"spec\":{\"capability\":{\"cpu\":3}}");
	assert_string_equal(woken(), "ns/g");
	put_named(w.stores.queues, "q", "", ",\"spec\":{\"capability\":{\"cpu\":5}}");
	assert_string_equal(woken(), "");
	put_named(w.stores.queues, "q", "", "");
	assert_string_equal(woken(), "ns/g");
	put_named(w.stores.queues, "q", "", ",\"spec\":{\"queueingStrategy\":\"StrictFIFO\"}");
	assert_string_equal(woken(), "ns/g");
	put_named(w.stores.queues, "q", "",
		",\"spec\":{\"queueingStrategy\":\"StrictFIFO\",\"parent\":\"t\"}");
	assert_string_equal(woken(), "ns/g");
}

static char logged[512];

static void keep_line(void *arg, const char *line, size_t n)
{
	(void)arg;
	snprintf(logged, sizeof(logged), "%.*s", (int)n, line);
}

static void deleting_a_group_with_gated_members_is_a_warning(void **state)
{
	(void)state;
	put_named(w.stores.podgroups, "g", "", "");
	put_named(w.stores.podgroups, "h", "", "");
	put_pod("a", "g", GATED);
	put_pod("b", "h", "");
	put_owned_pod("c", "h", BY_JOB("uid-j"), GATED); /* the job's reconciler releases it */
	put_owned_pod("d", "h", ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"", GATED);
	logged[0] = '\0';
	kar_log_redirect(keep_line, NULL);
	kar_store_delete(w.stores.podgroups, "ns", "h", "uid-h", ++w.rv);
	assert_string_equal(logged, "");
	kar_store_delete(w.stores.podgroups, "ns", "g", "uid-g", ++w.rv);
	kar_log_redirect(NULL, NULL);
	assert_non_null(strstr(logged, "podgroup=\"ns/g\" gated=1"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(group_that_is_gone_is_forgotten),
		TEST(members_are_those_of_the_same_namespace_and_name),
		TEST(nothing_is_said_of_what_is_unreadable),
		TEST(nothing_is_said_while_the_job_is_unreadable),
		TEST(own_write_is_awaited),
		TEST(group_is_made_for_pods_that_ask_for_one),
		TEST(pods_that_wait_for_a_group_that_is_missing_say_so),
		TEST(group_that_was_made_goes_when_it_is_empty),
		TEST(first_write_may_be_held_back_too),
		TEST(old_plan_is_carried_out_only_if_its_places_are_free),
		TEST(refused_release_ends_the_attempt),
		TEST(evicted_pod_goes_though_its_mark_is_refused),
		TEST(terminal_owner_is_looked_up),
		TEST(body_has_preconditions_and_nulls),
		TEST(what_the_crd_drops_is_written_as_annotations),
		TEST(body_has_the_start_time),
		TEST(long_reasons_are_cut_once_and_for_all),
		TEST(changes_wake_the_groups_they_concern),
		TEST(limits_of_queues_wake_groups_of_others),
		TEST(deleting_a_group_with_gated_members_is_a_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
