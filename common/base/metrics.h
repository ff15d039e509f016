/*
 * metrics - counters, gauges and histograms, and their text for Prometheus. Pure.
 *
 * A metric is one declaration and one call: a row in a list (below), and a call with the values of its labels:
 *
 *   kar_metric_add(m, &kar_m_workqueue_adds_total, 1, KAR_LABELS("podgroup"));
 *
 * A label takes no value that users can make without bound. As a second line of defence a family has at most
 * KAR_METRIC_SERIES series; beyond them the first label becomes "other", and its further labels must be bounded by us.
 * Without a registry (NULL) every call does nothing, so that libraries and tests need none.
 */
#ifndef KAR_METRICS_H
#define KAR_METRICS_H

#include "common/base/buf.h"

enum { KAR_METRIC_SERIES = 1000, KAR_METRIC_LABELS = 4 }; /* at most, of a family */

enum kar_metric_kind { KAR_COUNTER, KAR_GAUGE, KAR_HISTOGRAM };

/* Upper bounds, ascending; the last one, infinity, is not among them. */
struct kar_buckets {
	size_t n;
	double at[16];
};

/* A family. Its address identifies it, so it is static. */
struct kar_metric {
	const char *name; /* with its unit; a counter ends in _total */
	const char *help; /* one sentence, without quotes */
	enum kar_metric_kind kind;
	const struct kar_buckets *buckets; /* of a histogram; else NULL */
	const char *labels;                /* "code,method"; "": none */
};

/*
 * A list of families: #define LIST(X) X(name, KAR_COUNTER, buckets or NULL, labels, help) ...
 * A header has LIST(KAR_METRIC_DECLARE), one .c file KAR_METRIC_LIST(array, LIST).
 */
#define KAR_METRIC_DECLARE(name_, kind_, buckets_, labels_, help_) \
	extern const struct kar_metric kar_m_##name_;
#define KAR_METRIC_DEFINE(name_, kind_, buckets_, labels_, help_) \
	const struct kar_metric kar_m_##name_ = { #name_, (help_), (kind_), (buckets_), (labels_) };
#define KAR_METRIC_ADDRESS(name_, kind_, buckets_, labels_, help_) &kar_m_##name_,
#define KAR_METRIC_LIST(array, list) \
	list(KAR_METRIC_DEFINE) const struct kar_metric *const array[] = { list(KAR_METRIC_ADDRESS) NULL };

/* The values of the labels of one series, in the order of the declaration. Without labels: NULL. */
#define KAR_LABELS(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct kar_metrics;

struct kar_metrics *kar_metrics_new(void) KAR_MUSTUSE KAR_RETNN;
void kar_metrics_free(struct kar_metrics *m); /* accepts NULL */
/* Adds the families of @list, which ends with NULL. Those without labels begin with 0; the others with their first series. */
void kar_metrics_declare(struct kar_metrics *m, const struct kar_metric *const *list)
	__attribute__((nonnull(2)));

/* Adds @by, not negative, to a counter or a gauge. Values of labels are copied. */
void kar_metric_add(struct kar_metrics *m, const struct kar_metric *d, double by, const char *const *labels)
	__attribute__((nonnull(2)));
/* Sets a gauge, or a counter that another module counts. */
void kar_metric_set(struct kar_metrics *m, const struct kar_metric *d, double value,
	const char *const *labels) __attribute__((nonnull(2)));
/* Sets a gauge, or a counter that another module counts, unless it is higher already. */
void kar_metric_raise(struct kar_metrics *m, const struct kar_metric *d, double value,
	const char *const *labels) __attribute__((nonnull(2)));
void kar_metric_observe(struct kar_metrics *m, const struct kar_metric *d, double value,
	const char *const *labels) __attribute__((nonnull(2)));
/* Forgets the series of a gauge that is set as a whole: what is not set again has no value any more. */
void kar_metric_clear(struct kar_metrics *m, const struct kar_metric *d) __attribute__((nonnull(2)));
/* Of a family that is only raised: forgets the series that were not since this was called last. */
void kar_metric_drop_unset(struct kar_metrics *m, const struct kar_metric *d) __attribute__((nonnull(2)));
/* The value of a series, of a histogram its number of observations; 0 if there is none. For tests. */
double kar_metric_value(const struct kar_metrics *m, const struct kar_metric *d, const char *const *labels)
	__attribute__((nonnull(2)));

/* Prometheus text format 0.0.4, or OpenMetrics 1.0. Families in the order of their declaration. */
void kar_metrics_print(const struct kar_metrics *m, bool openmetrics, struct kar_buf *out) KAR_NONNULL;
/* For documentation: "| name | type | labels | help |" per family. */
void kar_metrics_print_table(const struct kar_metrics *m, struct kar_buf *out) KAR_NONNULL;

#endif
