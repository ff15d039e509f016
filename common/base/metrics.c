#include "common/base/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/mem.h"
#include "common/base/utf8.h"

#define OTHER "other"

struct series {
	RB_ENTRY(series) link;
	double value;     /* of a histogram: the sum */
	uint64_t n;       /* of a histogram: observations */
	uint64_t *bucket; /* observations per bucket, not cumulative */
	bool set;         /* since kar_metric_drop_unset() */
	char labels[];    /* as they are printed: a="b",c="d" */
};
RB_HEAD(series_tree, series);

static int compare(const struct series *a, const struct series *b)
{
	return strcmp(a->labels, b->labels);
}

RB_GENERATE_INTERNAL(series_tree, series, link, compare, KAR_UNUSED static)

struct family {
	const struct kar_metric *metric;
	struct series_tree series;
	size_t n_series;
};

struct kar_metrics {
	struct family *families;
	size_t n;
	struct kar_buf text; /* of the labels of one series */
};

struct kar_metrics *kar_metrics_new(void)
{
	return kar_xcalloc(1, sizeof(struct kar_metrics));
}

static void drop_one(struct family *f, struct series *s)
{
	RB_REMOVE(series_tree, &f->series, s);
	free(s->bucket);
	free(s);
	f->n_series--;
}

static void drop_series(struct family *f)
{
	struct series *s;

	while ((s = RB_ROOT(&f->series)) != NULL)
		drop_one(f, s);
}

void kar_metrics_free(struct kar_metrics *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++)
		drop_series(&m->families[i]);
	free(m->families);
	kar_buf_release(&m->text);
	free(m);
}

static struct family *find_family(const struct kar_metrics *m, const struct kar_metric *d)
{
	struct family *f = m->families;

	while (f < m->families + m->n && f->metric != d)
		f++;
	assert(f < m->families + m->n); /* else nobody has declared the metric */
	return f;
}

/* One invalid byte would make Prometheus refuse everything. */
static void escape(struct kar_buf *out, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		size_t n = kar_utf8_step(text, left);

		if (*text == '"' || *text == '\\')
			kar_buf_append(out, "\\", 1);
		if (!n)
			kar_buf_puts(out, "\xEF\xBF\xBD");
		else if (*text == '\n')
			kar_buf_puts(out, "\\n");
		else
			kar_buf_append(out, text, n);
		n += !n;
		text += n;
		left -= n;
	}
}

/* The labels of @d with the values @labels, as printed. With @other the first value is replaced. */
static const char *render(struct kar_buf *out, const struct kar_metric *d, const char *const *labels,
	bool other)
{
	const char *name = d->labels;

	kar_buf_clear(out);
	for (size_t i = 0; *name; i++) {
		size_t n = strcspn(name, ",");

		assert(labels && labels[i]); /* as many values as names */
		kar_buf_puts(out, i ? "," : "");
		kar_buf_append(out, name, n);
		kar_buf_puts(out, "=\"");
		escape(out, other && i == 0 ? OTHER : labels[i]);
		kar_buf_puts(out, "\"");
		name += n + (name[n] == ',');
		assert(*name || !labels[i + 1]);
	}
	return kar_buf_cstr(out);
}

static struct series *find_series(const struct family *f, const char *labels)
{
	struct series *s = RB_ROOT(&f->series);

	while (s) {
		int order = strcmp(labels, s->labels);

		if (!order)
			break;
		s = order < 0 ? RB_LEFT(s, link) : RB_RIGHT(s, link);
	}
	return s;
}

static struct series *add_series(struct family *f, const char *labels)
{
	size_t n = strlen(labels) + 1;
	struct series *s = kar_xcalloc(1, sizeof(*s) + n);

	memcpy(s->labels, labels, n);
	if (f->metric->buckets)
		s->bucket = kar_xcalloc(f->metric->buckets->n + 1, sizeof(*s->bucket));
	RB_INSERT(series_tree, &f->series, s);
	f->n_series++;
	return s;
}

static struct series *series_of(struct kar_metrics *m, const struct kar_metric *d, const char *const *labels)
{
	struct family *f = find_family(m, d);
	const char *text = render(&m->text, d, labels, false);
	struct series *s = find_series(f, text);

	if (s)
		return s;
	if (f->n_series < KAR_METRIC_SERIES || !*d->labels)
		return add_series(f, text);
	text = render(&m->text, d, labels, true);
	s = find_series(f, text);
	return s ? s : add_series(f, text);
}

static bool ends_in_total(const char *name)
{
	size_t n = strlen(name), suffix = strlen("_total");

	return n > suffix && !strcmp(name + n - suffix, "_total");
}

void kar_metrics_declare(struct kar_metrics *m, const struct kar_metric *const *list)
{
	for (; m && *list; list++) {
		const struct kar_metric *d = *list;

		assert((d->kind == KAR_COUNTER) == ends_in_total(d->name)); /* OpenMetrics demands it */
		assert((d->kind == KAR_HISTOGRAM) == (d->buckets != NULL));
		m->families = kar_xrealloc(m->families, m->n + 1, sizeof(*m->families));
		m->families[m->n++] = (struct family){ .metric = d };
		RB_INIT(&m->families[m->n - 1].series);
		if (!*d->labels)
			add_series(&m->families[m->n - 1], "");
	}
}

void kar_metric_add(struct kar_metrics *m, const struct kar_metric *d, double by, const char *const *labels)
{
	assert(d->kind != KAR_HISTOGRAM && by >= 0);
	if (m)
		series_of(m, d, labels)->value += by;
}

void kar_metric_set(struct kar_metrics *m, const struct kar_metric *d, double value,
	const char *const *labels)
{
	assert(d->kind != KAR_HISTOGRAM);
	if (m)
		series_of(m, d, labels)->value = value;
}

void kar_metric_raise(struct kar_metrics *m, const struct kar_metric *d, double value,
	const char *const *labels)
{
	struct series *s = m ? series_of(m, d, labels) : NULL;

	assert(d->kind != KAR_HISTOGRAM);
	if (!s)
		return;
	s->set = true;
	if (value > s->value)
		s->value = value;
}

void kar_metric_observe(struct kar_metrics *m, const struct kar_metric *d, double value,
	const char *const *labels)
{
	struct series *s;
	size_t i = 0;

	assert(d->kind == KAR_HISTOGRAM);
	if (!m)
		return;
	s = series_of(m, d, labels);
	while (i < d->buckets->n && value > d->buckets->at[i])
		i++;
	s->bucket[i]++;
	s->n++;
	s->value += value;
}

void kar_metric_clear(struct kar_metrics *m, const struct kar_metric *d)
{
	if (m)
		drop_series(find_family(m, d));
}

void kar_metric_drop_unset(struct kar_metrics *m, const struct kar_metric *d)
{
	struct family *f = m ? find_family(m, d) : NULL;
	struct series *s, *next;

	for (s = f ? RB_MIN(series_tree, &f->series) : NULL; s; s = next) {
		next = RB_NEXT(series_tree, &f->series, s);
		if (!s->set)
			drop_one(f, s);
		else
			s->set = false;
	}
}

double kar_metric_value(const struct kar_metrics *m, const struct kar_metric *d, const char *const *labels)
{
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	const struct series *s = m ? find_series(find_family(m, d), render(&text, d, labels, false)) : NULL;

	if (!s)
		return 0;
	return d->kind == KAR_HISTOGRAM ? (double)s->n : s->value;
}

/* ---- printing ---- */

static void print_number(struct kar_buf *out, double v)
{
	if (isnan(v))
		kar_buf_puts(out, "NaN");
	else if (isinf(v))
		kar_buf_puts(out, v < 0 ? "-Inf" : "+Inf");
	else
		kar_buf_printf(out, "%.15g", v);
}

static void print_sample(struct kar_buf *out, const char *name, const char *suffix, const char *labels,
	double v)
{
	kar_buf_puts(out, name);
	kar_buf_puts(out, suffix);
	if (*labels)
		kar_buf_printf(out, "{%s}", labels);
	kar_buf_puts(out, " ");
	print_number(out, v);
	kar_buf_puts(out, "\n");
}

static void print_buckets(struct kar_buf *out, const struct kar_metric *d, const struct series *s)
{
	uint64_t below = 0;

	for (size_t i = 0; i <= d->buckets->n; i++) {
		below += s->bucket[i];
		kar_buf_printf(out, "%s_bucket{%s%sle=\"", d->name, s->labels, *s->labels ? "," : "");
		print_number(out, i < d->buckets->n ? d->buckets->at[i] : INFINITY);
		kar_buf_printf(out, "\"} %ju\n", (uintmax_t)below);
	}
}

static void print_series(struct kar_buf *out, const struct kar_metric *d, const struct series *s)
{
	if (d->kind != KAR_HISTOGRAM) {
		print_sample(out, d->name, "", s->labels, s->value);
		return;
	}
	print_buckets(out, d, s);
	print_sample(out, d->name, "_sum", s->labels, s->value);
	print_sample(out, d->name, "_count", s->labels, (double)s->n);
}

static const char *const kinds[] = {
	[KAR_COUNTER] = "counter",
	[KAR_GAUGE] = "gauge",
	[KAR_HISTOGRAM] = "histogram",
};

/* OpenMetrics names the family of a counter without the suffix of its samples. */
static void print_head(struct kar_buf *out, const struct kar_metric *d, bool openmetrics)
{
	size_t n = strlen(d->name);

	if (openmetrics && d->kind == KAR_COUNTER)
		n -= strlen("_total");
	kar_buf_printf(out, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)n, d->name, d->help, (int)n, d->name,
		kinds[d->kind]);
}

void kar_metrics_print(const struct kar_metrics *m, bool openmetrics, struct kar_buf *out)
{
	for (size_t i = 0; i < m->n; i++) {
		struct family *f = &m->families[i];
		struct series *s;

		if (!f->n_series)
			continue;
		print_head(out, f->metric, openmetrics);
		RB_FOREACH(s, series_tree, &f->series)
			print_series(out, f->metric, s);
	}
	if (openmetrics)
		kar_buf_puts(out, "# EOF\n");
}

void kar_metrics_print_table(const struct kar_metrics *m, struct kar_buf *out)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct kar_metric *d = m->families[i].metric;

		kar_buf_printf(out, "| `%s` | %s | %s | %s |\n", d->name, kinds[d->kind], d->labels, d->help);
	}
}
