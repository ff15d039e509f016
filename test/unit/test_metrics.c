/* The registry of metrics: what it prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/metrics.h"

static const struct kar_buckets wait = { 3, { 0.001, 0.5, 10 } };

#define LIST(X) \
	X(pods_total, KAR_COUNTER, NULL, "", "Pods.") \
	X(calls_total, KAR_COUNTER, NULL, "code,method", "Calls.") \
	X(depth, KAR_GAUGE, NULL, "queue", "Depth.") \
	X(wait_seconds, KAR_HISTOGRAM, &wait, "queue", "Wait.")
LIST(KAR_METRIC_DECLARE)
KAR_METRIC_LIST(families, LIST)

#define PODS "# HELP pods_total Pods.\n# TYPE pods_total counter\n"
#define DEPTH "# HELP depth Depth.\n# TYPE depth gauge\n"

enum what { ADD, SET, OBSERVE, CLEAR };

/* What is done, one after the other; a row whose .want is NULL goes on in the next one. */
static const struct {
	const char *name;
	enum what what;
	const struct kar_metric *metric;
	double value;
	const char *a, *b; /* labels */
	const char *want;
} rows[] = {
	{ "nothing_has_happened", CLEAR, &kar_m_depth, 0, NULL, NULL, PODS "pods_total 0\n" },
	{ "counted", ADD, &kar_m_pods_total, 3, NULL, NULL, PODS "pods_total 3\n" },
	{ "two_labels", ADD, &kar_m_calls_total, 1, "200", "GET",
		PODS "pods_total 0\n# HELP calls_total Calls.\n# TYPE calls_total counter\n"
		     "calls_total{code=\"200\",method=\"GET\"} 1\n" },
	{ "escaped", SET, &kar_m_depth, -1.5, "a\\b\"c\nd", NULL,
		PODS "pods_total 0\n" DEPTH "depth{queue=\"a\\\\b\\\"c\\nd\"} -1.5\n" },
	{ "invalid_utf8", SET, &kar_m_depth, 1, "a\xff\xc3", NULL,
		PODS "pods_total 0\n" DEPTH "depth{queue=\"a\xEF\xBF\xBD\xEF\xBF\xBD\"} 1\n" },
	{ "valid_utf8", SET, &kar_m_depth, 1, "\xc3\xa4", NULL,
		PODS "pods_total 0\n" DEPTH "depth{queue=\"\xc3\xa4\"} 1\n" },
	{ "large_numbers_are_exact", SET, &kar_m_depth, 123456789012345, "q", NULL,
		PODS "pods_total 0\n" DEPTH "depth{queue=\"q\"} 123456789012345\n" },
	{ "set_before", SET, &kar_m_depth, 1, "gone", NULL, NULL },
	{ "cleared", CLEAR, &kar_m_depth, 0, NULL, NULL, PODS "pods_total 0\n" },
	{ "below_a_bound", OBSERVE, &kar_m_wait_seconds, 0.001, "q", NULL, NULL },
	{ "above_it", OBSERVE, &kar_m_wait_seconds, 0.25, "q", NULL, NULL },
	{ "buckets_are_cumulative", OBSERVE, &kar_m_wait_seconds, 99, "q", NULL,
		PODS "pods_total 0\n# HELP wait_seconds Wait.\n# TYPE wait_seconds histogram\n"
		     "wait_seconds_bucket{queue=\"q\",le=\"0.001\"} 1\n"
		     "wait_seconds_bucket{queue=\"q\",le=\"0.5\"} 2\n"
		     "wait_seconds_bucket{queue=\"q\",le=\"10\"} 2\n"
		     "wait_seconds_bucket{queue=\"q\",le=\"+Inf\"} 3\n"
		     "wait_seconds_sum{queue=\"q\"} 99.251\nwait_seconds_count{queue=\"q\"} 3\n" },
};

static void act(struct kar_metrics *m, size_t i)
{
	const char *const pair[] = { rows[i].a, rows[i].b, NULL };
	const char *const *labels = rows[i].a ? pair : NULL;

	switch (rows[i].what) {
	case ADD:
		kar_metric_add(m, rows[i].metric, rows[i].value, labels);
		break;
	case SET:
		kar_metric_set(m, rows[i].metric, rows[i].value, labels);
		break;
	case OBSERVE:
		kar_metric_observe(m, rows[i].metric, rows[i].value, labels);
		break;
	default:
		kar_metric_clear(m, rows[i].metric);
	}
}

static void prints_what_happened(void **state KAR_UNUSED)
{
	struct kar_metrics *m = NULL;

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf out = { 0 };

		if (!m) {
			m = kar_metrics_new();
			kar_metrics_declare(m, families);
		}
		act(m, i);
		if (!rows[i].want)
			continue;
		kar_metrics_print(m, false, &out);
		if (strcmp(kar_buf_cstr(&out), rows[i].want))
			fail_msg("%s: got\n%swant\n%s", rows[i].name, kar_buf_cstr(&out), rows[i].want);
		kar_buf_release(&out);
		kar_metrics_free(m);
		m = NULL;
	}
}

/* A counter's family loses its suffix there, and the text has an end. */
static void speaks_openmetrics(void **state KAR_UNUSED)
{
	struct kar_metrics *m = kar_metrics_new();
	struct kar_buf out = { 0 };

	kar_metrics_declare(m, families);
	kar_metrics_print(m, true, &out);
	assert_string_equal(kar_buf_cstr(&out),
		"# HELP pods Pods.\n# TYPE pods counter\npods_total 0\n# EOF\n");
	kar_buf_release(&out);
	kar_metrics_free(m);
}

/* The bound holds whatever the values are; the sum of all stays right. */
static void series_are_bounded(void **state KAR_UNUSED)
{
	enum { QUEUES = 5000 };
	struct kar_metrics *m = kar_metrics_new();
	struct kar_buf out = { 0 };
	char name[16];
	size_t lines = 0;

	kar_metrics_declare(m, families);
	for (int i = 0; i < QUEUES; i++) {
		snprintf(name, sizeof(name), "%d", i);
		kar_metric_add(m, &kar_m_calls_total, 1, KAR_LABELS(name, i % 2 ? "GET" : "PUT"));
	}
	kar_metrics_print(m, false, &out);
	for (const char *p = kar_buf_cstr(&out); (p = strstr(p, "calls_total{")) != NULL; p++)
		lines++;
	assert_int_equal(lines, KAR_METRIC_SERIES + 2);
	assert_int_equal(kar_metric_value(m, &kar_m_calls_total, KAR_LABELS("other", "GET")),
		(QUEUES - KAR_METRIC_SERIES) / 2);
	assert_int_equal(kar_metric_value(m, &kar_m_calls_total, KAR_LABELS("7", "GET")), 1);
	kar_buf_release(&out);
	kar_metrics_free(m);
}

static void without_a_registry_nothing_happens(void **state KAR_UNUSED)
{
	kar_metric_add(NULL, &kar_m_pods_total, 1, NULL);
	kar_metric_observe(NULL, &kar_m_wait_seconds, 1, KAR_LABELS("q"));
	kar_metric_clear(NULL, &kar_m_depth);
	assert_int_equal(kar_metric_value(NULL, &kar_m_pods_total, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_what_happened),
		cmocka_unit_test(speaks_openmetrics),
		cmocka_unit_test(series_are_bounded),
		cmocka_unit_test(without_a_registry_nothing_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
