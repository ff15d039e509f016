/* What others write in any length and any language, in the status of a QueueJob: bounded, and the same when it is read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/status/condition.h"
#include "common/base/utf8.h"
#include "test/unit/queuejob_sync_fixture.h"

#define EURO "\xE2\x82\xAC" /* three bytes: two of three cuts fall inside one */
enum { EURO_LEN = sizeof(EURO) - 1, SHIFTS = EURO_LEN };

/* @shift letters, and then more characters than any message has room for. */
static const char *long_text(int shift)
{
	static char text[SHIFTS + 5000 * EURO_LEN];

	snprintf(text, sizeof(text), "%.*s", shift, "abc");
	while (strlen(text) + EURO_LEN < sizeof(text))
		strcpy(text + strlen(text), EURO);
	return text;
}

static void check_steady(void)
{
	assert_true(sync_key());
	assert_null(w.sync.plan.status);
	assert_int_equal(w.sync.plan.n_events, 0);
}

static void check_cut(const char *text)
{
	size_t n = strlen(text);

	assert_in_range(n, 900, KAR_MAX_MESSAGE_BYTES - 1);
	assert_int_equal(kar_utf8_clean(text, n), n);
	assert_string_equal(text + n - 3, "...");
}

/* A pod is refused with a text that ends within a character, and the refusal stands. */
static void long_refusal_is_told_once(void **state)
{
	for (int shift = 0; shift < SHIFTS; shift++) {
		const struct kar_queuejob_status *st;
		struct kar_err no;

		teardown(state);
		setup(state);
		put_starting_job();
		check_owner();
		assert_true(sync_key());
		kar_fail(&no, KAR_DENIED, "create pods ns/j-w-0: %s", long_text(shift));
		kar_create_backoff_note(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &no, 5000);
		assert_true(sync_key());
		st = w.sync.plan.status;
		assert_non_null(st);
		check_cut(st->message);
		assert_int_equal(w.sync.plan.n_events, 1);
		store_status(w.stores.queuejobs, SPEC);
		check_steady();
	}
}

/* What became of the others is said after the refusal, however long that is. */
static void refusal_leaves_room_for_what_follows(void **state)
{
	const struct kar_queuejob_status *st;
	struct kar_err no;

	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	kar_fail(&no, KAR_DENIED, "exceeded quota: %s", long_text(0));
	no.cause = KAR_CAUSE_QUOTA;
	kar_create_backoff_note(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &no, 5000);
	w.state.backoff->rolled_back = 100000;
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_non_null(st);
	assert_non_null(strstr(st->message,
		"100000 of 2 pods fitted and were deleted again; waits until the quota has room for all"));
}

#define NAME_63 "a23456789-123456789-123456789-123456789-123456789-123456789-123"
#define TASK_54 "a23456789-123456789-123456789-123456789-123456789-1234"
#define NODE_250 NAME_63 "." NAME_63 "." NAME_63 ".123456789-123456789-123456789-123456789-123456789-12345678"
#define LONGEST_SPEC \
	",\"spec\":{\"failurePolicy\":{\"rules\":[{\"action\":\"RestartTask\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[3]}}]}," \
	"\"taskSpecs\":[{\"name\":\"" TASK_54 "\",\"replicas\":1," TEMPLATE "}]}"

static void put_formed_job(const char *spec)
{
	struct kar_buf rest = { 0 };

	put_job(spec);
	kar_buf_printf(&rest,
		"%s,\"status\":{\"phase\":\"Running\",\"incarnation\":1,\"record\":{\"formedMinAvailable\":1,\"formation\":\"Formed\",\"templateHash\":\"%s\"},"
		"\"observedGeneration\":1" FORMED "}",
		spec, spec_hash());
	put_job(kar_buf_cstr(&rest));
	kar_buf_release(&rest);
	put_children(true);
}

/* It failed on a node with a long name, for a reason without end. */
static void put_failed_pod(int shift)
{
	struct kar_buf rest = { 0 };

	kar_buf_printf(&rest,
		",\"spec\":{\"nodeName\":\"" NODE_250
		"%.*s\"},\"status\":{\"phase\":\"Failed\",\"reason\":\"%s\",\"containerStatuses\":["
		"{\"name\":\"a\",\"state\":{\"terminated\":{\"exitCode\":4}}},"
		"{\"name\":\"" NAME_63 "\",\"state\":{\"terminated\":{\"exitCode\":3,"
		"\"finishedAt\":\"2026-11-21T10:00:00Z\"}}}]}",
		shift, "xyz", long_text(0));
	put(w.stores.pods, "j-" TASK_54 "-0", "p-uid",
		BY_JOB TRACKED
		",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\",\"kube-arbitrator.io/task\":\"" TASK_54
		"\",\"kube-arbitrator.io/index\":\"0\",\"kube-arbitrator.io/incarnation\":\"1\","
		"\"scheduling.x-k8s.io/pod-group\":\"j\"}",
		kar_buf_cstr(&rest));
	kar_buf_release(&rest);
}

static void cause_of_a_restart_is_bounded(void **state)
{
	for (int shift = 0; shift < SHIFTS; shift++) {
		const struct kar_queuejob_status *st;

		teardown(state);
		setup(state);
		put_formed_job(LONGEST_SPEC);
		check_owner();
		put_failed_pod(shift);
		assert_true(sync_key());
		st = w.sync.plan.status;
		assert_non_null(st);
		assert_string_equal(st->last_restart.reason, "PodFailurePolicy");
		check_cut(st->last_restart.message);
		check_cut(st->message);
		store_status(w.stores.queuejobs, LONGEST_SPEC);
		check_steady();
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(long_refusal_is_told_once),
		TEST(refusal_leaves_room_for_what_follows),
		TEST(cause_of_a_restart_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
