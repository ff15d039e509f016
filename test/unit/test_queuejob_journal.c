/* The log of the QueueJob reconciler at -v 2: what becomes of a job, one line for each change of its phase. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/log.h"
#include "controllers/kar_metrics.h"
#include "controllers/queuejob/journal.h"
#include "test/unit/queuejob_sync_fixture.h"

#define STATUS(phase, reason, message) \
	",\"status\":{\"phase\":\"" phase "\",\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define RESTARTED \
	",\"status\":{\"phase\":\"Restarting\",\"reason\":\"BackOff\",\"message\":\"next start at 10:00\",\"restarts\":1," \
	"\"lastRestart\":{\"time\":\"2026-11-21T10:00:00Z\",\"reason\":\"PodFailed\",\"message\":\"pod j-w-1 on node n1 failed with exit code 1 (Error)\"}}"
#define J " job=\"ns/j\" phase="

/* clang-format off: tables and texts */
/* Versions of a job, one after the other, and perhaps its deletion. */
static const struct {
	const char *name, *version[5];
	const char *lines;
	bool deleted;
} rows[] = {
	{ "created", { "", STATUS("Pending", "WaitingForAdmission", "waiting for queue a") },
		"\"Job waits\"" J
		"\"Pending\" reason=\"WaitingForAdmission\" restarts=0 cause=\"waiting for queue a\"\n" },
	{ "admitted, and runs; numbers and messages change without a line",
		{ STATUS("Pending", "QueueCapability", "2nd of 2"),
			STATUS("Pending", "QueueCapability", "1st of 1"),
			STATUS("Starting", "Starting", "0 of 2 pods run"), STATUS("Running", "", "") },
		"\"Job waits\"" J "\"Pending\" reason=\"QueueCapability\" restarts=0 cause=\"2nd of 2\"\n"
		"\"Job admitted\"" J "\"Starting\" restarts=0\n"
		"\"Job runs\"" J "\"Running\" restarts=0\n" },
	{ "restarts because a pod failed",
		{ STATUS("Running", "", ""), RESTARTED,
			",\"status\":{\"phase\":\"Starting\",\"restarts\":1}" },
		"\"Job runs\"" J "\"Running\" restarts=0\n"
		"\"Job restarts\"" J
		"\"Restarting\" reason=\"PodFailed\" restarts=1 cause=\"pod j-w-1 on node n1 failed with exit code 1 (Error)\"\n"
		"\"Job starts again\"" J "\"Starting\" restarts=1\n" },
	{ "suspended and resumed",
		{ STATUS("Suspended", "Suspended", "spec.suspend is true"), STATUS("Pending", "", ""),
			STATUS("Starting", "Starting", "") },
		"\"Job suspended\"" J
		"\"Suspended\" reason=\"Suspended\" restarts=0 cause=\"spec.suspend is true\"\n"
		"\"Job resumed\"" J "\"Pending\" restarts=0\n"
		"\"Job admitted\"" J "\"Starting\" restarts=0\n" },
	{ "failed, and deleted", { STATUS("Failed", "DeadlineExceeded", "not complete after 3 s") },
		"\"Job failed\"" J
		"\"Failed\" reason=\"DeadlineExceeded\" restarts=0 cause=\"not complete after 3 s\"\n"
		"\"Job deleted\"" J "\"Failed\"\n",
		true },
	{ "completed", { STATUS("Completed", "Completed", "2 of 2 pods succeeded") },
		"\"Job completed\"" J
		"\"Completed\" reason=\"Completed\" restarts=0 cause=\"2 of 2 pods succeeded\"\n" },
};
/* clang-format on */

static void collect(void *arg, const char *line, size_t n)
{
	const char *text = strstr(line, "] ");

	assert_int_equal(line[0], 'I');
	kar_buf_append(arg, text + 2, (size_t)(line + n - text - 2));
}

static void put_version(const char *uid, const char *status)
{
	struct kar_buf rest = { 0 };

	if (!status) {
		kar_store_delete(w.stores.queuejobs, "ns", "j", uid, ++w.rv);
		return;
	}
	kar_buf_printf(&rest, "%s%s", SPEC, status);
	put(w.stores.queuejobs, "j", uid, ",\"generation\":1", kar_buf_cstr(&rest));
	kar_buf_release(&rest);
}

static void list_is_complete(void)
{
	kar_store_replace_begin(w.stores.queuejobs);
	kar_store_replace_commit(w.stores.queuejobs, ++w.rv);
}

static void expect_lines(const char *name, int verbosity, struct kar_buf *lines, const char *want)
{
	kar_log_init(KAR_LOG_TEXT, 0);
	kar_log_redirect(NULL, NULL);
	if (strcmp(kar_buf_cstr(lines), want) != 0)
		fail_msg("%s, -v %d:\n%swant\n%s", name, verbosity, kar_buf_cstr(lines), want);
	kar_buf_release(lines);
}

static void begin_lines(int verbosity, struct kar_buf *lines)
{
	kar_log_init(KAR_LOG_TEXT, verbosity);
	kar_log_redirect(collect, lines);
}

static void play(size_t i)
{
	for (const char *const *version = rows[i].version; *version; version++)
		put_version("a", *version);
	if (rows[i].deleted)
		put_version("a", NULL);
}

static void each_change_of_the_phase_is_one_line(void **state)
{
	(void)state;
	list_is_complete();
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		for (int verbosity = 1; verbosity <= 2; verbosity++) {
			struct kar_buf lines = { 0 };

			begin_lines(verbosity, &lines);
			play(i);
			expect_lines(rows[i].name, verbosity, &lines, verbosity == 2 ? rows[i].lines : "");
			put_version("a", NULL);
		}
	}
}

/* What was so before the manager started is no news. */
static void first_list_is_no_news(void **state)
{
	struct kar_buf lines = { 0 };

	(void)state;
	begin_lines(2, &lines);
	put_version("a", STATUS("Running", "", ""));
	list_is_complete();
	expect_lines("first list", 2, &lines, "");
}

/* A list shows a job that was deleted and made again while the watch was away. */
static void job_of_the_same_name_is_another_job(void **state)
{
	struct kar_buf lines = { 0 };

	(void)state;
	list_is_complete();
	put_version("a", STATUS("Running", "", ""));
	begin_lines(2, &lines);
	put_version("b", STATUS("Running", "", ""));
	expect_lines("made again", 2, &lines,
		"\"Job deleted\"" J "\"Running\"\n"
		"\"Job runs\"" J "\"Running\" restarts=0\n");
}

#define LIFE(phase, incarnation, failures, disruptions, kind) \
	",\"status\":{\"phase\":\"" phase "\",\"incarnation\":" incarnation ",\"podFailures\":" failures \
	",\"disruptions\":" disruptions ",\"record\":{\"restartKind\":\"" kind "\"}}"

/* clang-format off: tables and texts */
static const struct {
	const char *name, *version[5];
	const char *cause; /* of restarts; NULL: none */
	int restarts, replaced;
} counted[] = {
	{ "nothing happens", { LIFE("Running", "1", "0", "0", ""), LIFE("Completed", "1", "0", "0", "") },
		NULL, 0, 0 },
	{ "a gang restarts",
		{ LIFE("Running", "1", "0", "0", ""), LIFE("Restarting", "1", "1", "0", "Failure"),
			LIFE("Restarting", "1", "1", "0", "Failure"),
			LIFE("Starting", "2", "1", "0", "Failure") },
		"Failure", 1, 0 },
	{ "an attempt is rolled back",
		{ LIFE("Starting", "1", "0", "0", ""), LIFE("Restarting", "1", "0", "0", "Nodes") }, "Nodes",
		1, 0 },
	{ "three pods are replaced",
		{ LIFE("Running", "1", "1", "0", ""), LIFE("Running", "1", "2", "1", ""),
			LIFE("Running", "1", "2", "2", "") },
		NULL, 0, 3 },
	{ "somebody forges counts",
		{ LIFE("Running", "1", "2147483647", "0", ""), LIFE("Running", "1", "2147483647", "3", "") },
		NULL, 0, 3 },
	{ "it was so before", { LIFE("Restarting", "1", "3", "3", "Failure") }, NULL, 0, 0 },
};
/* clang-format on */

static struct kar_object *version_of(const char *status)
{
	struct kar_buf json = { 0 };
	struct kar_object *o;

	kar_buf_printf(&json, "{" JOB_META "}%s%s}", SPEC, status);
	o = object_from_json(&kar_queuejob_type, kar_buf_cstr(&json), w.strings);
	kar_buf_release(&json);
	return o;
}

/* Counts the way from each version of row @i to the next. */
static void count_versions(struct kar_metrics *m, size_t i)
{
	for (const char *const *version = counted[i].version; version[1]; version++) {
		struct kar_object *was = version_of(version[0]), *is = version_of(version[1]);

		queuejob_count_written(m, &kar_as_queuejob(was)->status, &kar_as_queuejob(is)->status);
		kar_object_unref(was);
		kar_object_unref(is);
	}
}

static void lives_are_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(counted); i++) {
		struct kar_metrics *m = kar_all_metrics_new();
		const char *const *cause = KAR_LABELS(counted[i].cause ? counted[i].cause : "Failure");
		double restarts, replaced;

		count_versions(m, i);
		restarts = kar_metric_value(m, &kar_m_kar_gang_restarts_total, cause);
		replaced = kar_metric_value(m, &kar_m_kar_pods_replaced_total, NULL);
		if ((int)restarts != counted[i].restarts || (int)replaced != counted[i].replaced)
			fail_msg("%s: %g restarts, %g replaced", counted[i].name, restarts, replaced);
		kar_metrics_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_change_of_the_phase_is_one_line, setup, teardown),
		cmocka_unit_test_setup_teardown(first_list_is_no_news, setup, teardown),
		cmocka_unit_test_setup_teardown(lives_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(job_of_the_same_name_is_another_job, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
