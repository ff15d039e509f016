/* The metrics of the manager: what is read from the caches, and that docs/METRICS.md has all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/kubeconfig.h"
#include "controllers/cluster/stores.h"
#include "controllers/kar_metrics.h"
#include "controllers/runtime/runtime_metrics.h"
#include "test/fixture/from_json.h"

#define NOW INT64_C(1795268787000) /* 2026-11-21T13:46:27Z */
#define ADMITTED(status, reason) \
	"\"conditions\":[{\"type\":\"Admitted\",\"status\":\"" status "\",\"reason\":\"" reason \
	"\",\"lastTransitionTime\":\"2026-11-21T13:00:00Z\"}]"
#define GROUP(name, queue, status) \
	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"uid\":\"" name \
	"\",\"resourceVersion\":\"3\"," \
	"\"creationTimestamp\":\"2026-11-21T13:46:17Z\"},\"spec\":{\"minMember\":1,\"queue\":\"" queue \
	"\"},\"status\":{" status "}}"
#define A_JOB(name, phase) \
	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"uid\":\"" name \
	"\",\"resourceVersion\":\"3\"},\"spec\":{},\"status\":{\"phase\":\"" phase "\"}}"

/* clang-format off: texts */
static const char *const groups[] = {
	GROUP("a", "q", ADMITTED("False", "NoFit")),
	GROUP("b", "q", ADMITTED("False", "NoFit") ",\"waitingSince\":\"2026-11-21T13:44:47Z\""),
	GROUP("c", "q", ADMITTED("False", "MaxJobsReached")),
	GROUP("d", "q", ""),
	/* A user can name any queue, and an edited status any reason. */
	GROUP("e", "made-up-1", ADMITTED("False", "QueueNotFound")),
	GROUP("f", "made-up-2", ADMITTED("False", "QueueNotFound")),
	GROUP("g", "q", ADMITTED("False", "WhateverSomebodyWrites")),
	/* These do not wait. */
	GROUP("h", "q", ADMITTED("True", "Admitted")),
	GROUP("i", "q", ADMITTED("False", "Suspended") ",\"placement\":{\"state\":\"Suspended\"}"),
	GROUP("j", "q", "\"phase\":\"Finished\",\"placement\":{\"state\":\"Satisfied\"}"),
	GROUP("k", "q", ADMITTED("True", "Admitted") ",\"placement\":{\"state\":\"Placed\"}"),
};
static const char *const jobs[] = { A_JOB("a", "Running"), A_JOB("b", "Running"), A_JOB("c", ""),
	A_JOB("d", "Failed"), A_JOB("e", "Nonsense") };
static const char queue[] =
	"{\"metadata\":{\"name\":\"q\",\"uid\":\"q\",\"resourceVersion\":\"3\"},\"spec\":{},\"status\":{\"pending\":4,\"running\":2,"
	"\"allocated\":{\"cpu\":\"1500m\",\"memory\":\"2Gi\",\"example.com/made-up\":\"7\",\"pods\":\"x\"},"
	"\"entitled\":{\"cpu\":\"3\",\"memory\":\"1Gi\",\"pods\":\"9\",\"nvidia.com/gpu\":\"4\"},"
	"\"flavors\":[{\"name\":\"h100\",\"allocated\":{\"cpu\":\"1\"}}],"
	"\"usage\":{\"time\":\"2026-11-21T13:46:17Z\",\"seconds\":{\"cpu\":\"100\",\"nvidia.com/gpu\":\"7\"},"
	"\"flavors\":[{\"name\":\"h100\",\"seconds\":{\"cpu\":\"60\"}},{\"name\":\"old\",\"seconds\":{\"cpu\":\"5\"}}]}}}";
#define OVER(name, status) \
	"{\"metadata\":{\"name\":\"" name "\",\"uid\":\"" name "\",\"resourceVersion\":\"3\"},\"spec\":{}," \
	"\"status\":{\"conditions\":[{\"type\":\"OverCapability\",\"status\":\"" status \
	"\",\"reason\":\"x\"}]}}"
static const char *const queues[] = { queue, OVER("over", "True"), OVER("within", "False") };
/* clang-format on */

static const struct {
	const struct kar_metric *metric;
	const char *a, *b;
	double want;
	const char *c;
} rows[] = {
	{ &kar_m_kar_queuejobs, "Running", NULL, 2 },
	{ &kar_m_kar_queuejobs, "Pending", NULL, 2 }, /* no status, or one that nobody understands */
	{ &kar_m_kar_queuejobs, "Failed", NULL, 1 }, { &kar_m_kar_queuejobs, "Completed", NULL, 0 },
	{ &kar_m_kar_pending_groups, "q", "NoFit", 2 },
	{ &kar_m_kar_pending_longest_seconds, "q", "NoFit", 100 },
	{ &kar_m_kar_pending_groups, "q", "MaxJobsReached", 1 },
	{ &kar_m_kar_pending_longest_seconds, "q", "MaxJobsReached", 10 },
	{ &kar_m_kar_pending_groups, "q", "WaitingForAdmission", 1 },
	{ &kar_m_kar_pending_groups, "q", "other", 1 },
	{ &kar_m_kar_pending_groups, "other", "QueueNotFound", 2 },
	{ &kar_m_kar_pending_groups, "made-up-1", "QueueNotFound", 0 },
	{ &kar_m_kar_pending_groups, "q", "Suspended", 0 }, { &kar_m_kar_gangs, "Satisfied", NULL, 1 },
	{ &kar_m_kar_gangs, "Placed", NULL, 1 }, { &kar_m_kar_gangs, "RollingBack", NULL, 0 },
	{ &kar_m_kar_queue_groups, "q", "pending", 4 }, { &kar_m_kar_queue_groups, "q", "running", 2 },
	{ &kar_m_kar_queue_usage, "q", "cpu", 1.5 }, { &kar_m_kar_queue_usage, "q", "memory", 2147483648.0 },
	{ &kar_m_kar_queue_usage, "q", "pods", 0 }, /* a status that somebody has edited */
	{ &kar_m_kar_queue_usage, "q", "nvidia.com/gpu", 0 },
	{ &kar_m_kar_queue_usage, "q", "example.com/made-up", 0 },
	/* Until the status was written, and the ten seconds since. */
	{ &kar_m_kar_queue_usage_seconds_total, "q", "cpu", 115 },
	{ &kar_m_kar_queue_usage_seconds_total, "q", "nvidia.com/gpu", 7 },
	{ &kar_m_kar_queue_usage_seconds_total, "q", "memory", 21474836480.0 },
	{ &kar_m_kar_queue_flavor_usage_seconds_total, "q", "h100", 70, "cpu" },
	{ &kar_m_kar_queue_flavor_usage_seconds_total, "q", "old", 5, "cpu" },
	{ &kar_m_kar_queue_over_capability, "over", NULL, 1 },
	{ &kar_m_kar_queue_over_capability, "within", NULL, 0 },
	{ &kar_m_kar_queue_over_capability, "q", NULL, 0 }, /* it was never over */
};

static void put(struct kar_intern *strings, struct kar_store *store, const char *json)
{
	struct kar_object *o = object_from_json(kar_store_type(store), json, strings);

	kar_store_apply(store, o);
}

static void objects_are_counted(void **state KAR_UNUSED)
{
	struct kar_intern *strings = kar_intern_new();
	struct kar_stores s;
	struct kar_metrics *m = kar_all_metrics_new();
	struct kar_buf text = { 0 };

	kar_stores_init(&s, strings);
	for (size_t i = 0; i < KAR_LEN(queues); i++)
		put(strings, s.queues, queues[i]);
	for (size_t i = 0; i < KAR_LEN(jobs); i++)
		put(strings, s.queuejobs, jobs[i]);
	for (size_t i = 0; i < KAR_LEN(groups); i++)
		put(strings, s.podgroups, groups[i]);
	for (int again = 0; again < 2; again++) { /* gauges are set, not summed up */
		kar_collect_objects(m, &s, NOW);
		for (size_t i = 0; i < KAR_LEN(rows); i++) {
			const char *const labels[] = { rows[i].a, rows[i].b, rows[i].c, NULL };
			double got = kar_metric_value(m, rows[i].metric, labels);

			if (got < rows[i].want || got > rows[i].want)
				fail_msg("%s{%s,%s}: %g, want %g", rows[i].metric->name, rows[i].a,
					rows[i].b ? rows[i].b : "", got, rows[i].want);
		}
	}
	kar_metrics_print(m, false, &text);
	assert_non_null(
		strstr(kar_buf_cstr(&text), "kar_queue_usage{queue=\"q\",resource=\"nvidia.com/gpu\"} 0\n"));
	assert_non_null(strstr(kar_buf_cstr(&text), "kar_queue_over_capability{queue=\"q\"} 0\n"));
	kar_buf_clear(&text);
	kar_store_delete(s.queues, NULL, "q", "q", 9);
	kar_collect_objects(m, &s, NOW);
	kar_metrics_print(m, false, &text);
	assert_null(strstr(kar_buf_cstr(&text), "{queue=\"q\",resource")); /* nor of counters */
	assert_null(strstr(kar_buf_cstr(&text), "{queue=\"q\",flavor"));
	kar_buf_release(&text);
	kar_metrics_free(m);
	kar_stores_release(&s);
	kar_intern_free(strings);
}

/* Update the table with: KAR_WRITE_METRICS=1 build/test/unit/test_kar_metrics */
static void the_document_has_them_all(void **state KAR_UNUSED)
{
	struct kar_metrics *m = kar_all_metrics_new();
	struct kar_buf table = { 0 };
	struct kar_arena arena = { 0 };
	struct kar_err err = { 0 };
	size_t n;
	const char *text = kar_read_file(&arena, KAR_DOCS "/METRICS.md", 1 << 20, true, &n, &err);

	if (!text)
		fail_msg("%s", err.msg);
	kar_metrics_print_table(m, &table);
	if (getenv("KAR_WRITE_METRICS"))
		fputs(kar_buf_cstr(&table), stdout);
	else if (text && !strstr(text, kar_buf_cstr(&table)))
		fail_msg("the table of docs/METRICS.md should be:\n%s", kar_buf_cstr(&table));
	kar_arena_release(&arena);
	kar_buf_release(&table);
	kar_metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_counted),
		cmocka_unit_test(the_document_has_them_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
