#include "sim/scenario/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/base/timefmt.h"
#include "sim/scenario/shares.h"

enum {
	PER_CENT = 10 /* in thousandths */,
	SHARE = 1000,
	NINE_IN_TEN = 90,
	ALL = 100,
	TABLE_COLUMNS = 11,
	TIMES = 10, /* columns of times, at most */
	POINTS = 100,
	RESOURCES = 2
};

const char *sim_report_time(kar_time ms, char out[32])
{
	if (ms == KAR_NEVER)
		snprintf(out, 32, "-");
	else
		kar_duration_format(ms, out);
	return out;
}

/* ---- summary ---- */

static int compare_times(const void *a, const void *b)
{
	const kar_time *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void summarize_waits(const struct sim_record *r, struct sim_summary *s)
{
	kar_time *waits = kar_xcalloc(r->n_jobs + 1, sizeof(*waits)), sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n_jobs; i++) {
		if (r->jobs[i].running == KAR_NEVER)
			continue;
		waits[n] = r->jobs[i].running - r->jobs[i].submitted;
		sum += waits[n++];
	}
	s->wait_mean = s->wait_p50 = s->wait_p90 = s->wait_max = KAR_NEVER;
	qsort(waits, n, sizeof(*waits), compare_times);
	if (n) {
		s->wait_mean = sum / (kar_time)n;
		s->wait_p50 = (waits[(n - 1) / 2] + waits[n / 2]) / 2;
		s->wait_p90 = waits[(n * NINE_IN_TEN + ALL - 1) / ALL - 1];
		s->wait_max = waits[n - 1];
	}
	free(waits);
}

static void summarize_job(const struct sim_job_record *j, struct sim_summary *s)
{
	s->restarts += j->restarts;
	if (kar_streq(j->phase, "Completed"))
		s->completed++;
	else if (kar_streq(j->phase, "Failed"))
		s->failed++;
	else if (j->deleted != KAR_NEVER)
		s->deleted++;
	else if (kar_streq(j->phase, "Pending") || kar_streq(j->phase, "Suspended") ||
		j->running == KAR_NEVER)
		s->waiting++;
	else
		s->running++;
}

struct sim_summary sim_record_summary(const struct sim_record *r)
{
	struct sim_summary s = { .cpu_use = sim_record_use(r, "cpu") };
	kar_time first = KAR_NEVER, last = 0;

	for (size_t i = 0; i < r->n_jobs; i++) {
		const struct sim_job_record *j = &r->jobs[i];
		kar_time end = j->ended < j->deleted ? j->ended : j->deleted;

		summarize_job(j, &s);
		first = j->submitted < first ? j->submitted : first;
		last = end > last ? end : last;
	}
	s.makespan = last == KAR_NEVER || first == KAR_NEVER ? KAR_NEVER : last - first;
	summarize_waits(r, &s);
	return s;
}

/* ---- table ---- */

/* Rows of cells, printed with aligned columns. */
struct table {
	char ***rows;
	size_t n, columns;
	struct kar_arena arena;
};

static void begin_row(struct table *t)
{
	t->rows = kar_arena_grow(&t->arena, t->rows, t->n, sizeof(*t->rows));
	t->rows[t->n++] = kar_arena_alloc(&t->arena, TABLE_COLUMNS, sizeof(char *));
	t->columns = 0;
}

static KAR_PRINTF(2, 3) void cell(struct table *t, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t->rows[t->n - 1][t->columns++] = kar_arena_strndup(&t->arena, text, strlen(text));
}

static void heads(struct table *t, const char *const *names)
{
	begin_row(t);
	for (; *names; names++)
		cell(t, "%s", *names);
}

static void print_table(struct table *t, struct kar_buf *out)
{
	size_t width[TABLE_COLUMNS] = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		for (size_t k = 0; k < t->columns; k++) {
			size_t n = strlen(t->rows[i][k]);

			width[k] = n > width[k] ? n : width[k];
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		for (size_t k = 0; k + 1 < t->columns; k++)
			kar_buf_printf(out, "%-*s   ", (int)width[k], t->rows[i][k]);
		kar_buf_printf(out, "%s\n", t->rows[i][t->columns - 1]);
	}
	kar_arena_release(&t->arena);
}

/* When it ended, was deleted, or the run was over. */
static kar_time end_of(const struct sim_record *r, const struct sim_job_record *j)
{
	kar_time end = j->ended < j->deleted ? j->ended : j->deleted;

	return end < r->end ? end : r->end;
}

/* KAR_NEVER: it has not run. */
static kar_time lost_of(const struct sim_record *r, const struct sim_job_record *j)
{
	return j->running == KAR_NEVER ? KAR_NEVER : sim_record_lost(r, j);
}

static void job_row(struct table *t, const struct sim_record *r, const struct sim_job_record *j)
{
	char text[32];
	kar_time end = end_of(r, j);

	begin_row(t);
	cell(t, "%s/%s", j->ns, j->name);
	cell(t, "%s", j->queue);
	cell(t, "%lld", (long long)j->pods);
	cell(t, "%s", sim_report_time(j->submitted, text));
	cell(t, "%s", sim_report_time((j->running == KAR_NEVER ? end : j->running) - j->submitted, text));
	cell(t, "%s", sim_report_time(j->running == KAR_NEVER ? KAR_NEVER : end - j->running, text));
	cell(t, "%s", sim_report_time(lost_of(r, j), text));
	cell(t, "%s", sim_report_time(j->ended, text));
	cell(t, "%lld", (long long)j->restarts);
	cell(t, "%s%s", j->phase, j->deleted < KAR_NEVER ? " (deleted)" : "");
	cell(t, "%s", j->waited_for);
}

static void job_table(const struct sim_record *r, struct kar_buf *out)
{
	static const char *const names[] = { "JOB", "QUEUE", "PODS", "SUBMITTED", "WAITED", "RAN", "LOST",
		"ENDED", "RESTARTS", "RESULT", "WAITED FOR", NULL };
	struct table t = { 0 };

	heads(&t, names);
	for (size_t i = 0; i < r->n_jobs; i++)
		job_row(&t, r, &r->jobs[i]);
	print_table(&t, out);
}

static void per_cent(struct table *t, int thousandths)
{
	if (thousandths < 0)
		cell(t, "-");
	else
		cell(t, "%d.%d%%", thousandths / PER_CENT, thousandths % PER_CENT);
}

static void node_table(const struct sim_record *r, struct kar_buf *out)
{
	static const char *const names[] = { "NODE", "PODS", "CPU USED", "MEMORY USED", NULL };
	struct table t = { 0 };

	heads(&t, names);
	for (size_t i = 0; i < r->n_nodes; i++) {
		begin_row(&t);
		cell(&t, "%s", r->nodes[i].name);
		cell(&t, "%zu", r->nodes[i].n_pods);
		per_cent(&t, sim_record_node_use(r, i, "cpu"));
		per_cent(&t, sim_record_node_use(r, i, "memory"));
	}
	print_table(&t, out);
}

/* About a part of the run, in whole minutes, or seconds. */
static kar_time round_step(const struct sim_record *r, int parts)
{
	kar_time step = r->end / parts + 1, unit = step > KAR_MINUTE ? KAR_MINUTE : KAR_SECOND;

	return (step + unit - 1) / unit * unit;
}

/* What queues have of the cpu of all nodes over time. */
static void share_table(const struct sim_record *r, struct kar_buf *out)
{
	struct table t = { 0 };
	struct sim_shares s;
	char text[32];

	sim_shares_of(r, SIZE_MAX, round_step(r, TIMES), &s);
	begin_row(&t);
	cell(&t, "CPU FROM");
	for (size_t k = 0; k < s.n_steps; k++)
		cell(&t, "%s", sim_report_time((kar_time)k * s.step, text));
	for (size_t q = 0; q < s.n_queues; q++) {
		begin_row(&t);
		cell(&t, "%s", s.queues[q]);
		for (size_t k = 0; k < s.n_steps; k++)
			per_cent(&t, (int)(s.used[q * s.n_steps + k] * SHARE + 0.5));
	}
	print_table(&t, out);
	sim_shares_release(&s);
}

static void summary_lines(const struct sim_record *r, struct kar_buf *out)
{
	struct sim_summary s = sim_record_summary(r);
	char a[32], b[32], c[32], d[32];

	kar_buf_printf(out, "%zu job%s in %s: %zu completed, %zu failed, %zu running, %zu waiting", r->n_jobs,
		r->n_jobs == 1 ? "" : "s", sim_report_time(r->end, a), s.completed, s.failed, s.running,
		s.waiting);
	if (s.deleted)
		kar_buf_printf(out, ", %zu deleted", s.deleted);
	kar_buf_printf(out, "; %lld gang restart%s\n", (long long)s.restarts, s.restarts == 1 ? "" : "s");
	kar_buf_printf(out, "waited for the first run: mean %s, median %s, nine in ten <= %s, longest %s\n",
		sim_report_time(s.wait_mean, a), sim_report_time(s.wait_p50, b),
		sim_report_time(s.wait_p90, c), sim_report_time(s.wait_max, d));
	if (s.makespan != KAR_NEVER)
		kar_buf_printf(out, "from the first submission to the last end: %s\n",
			sim_report_time(s.makespan, a));
	if (s.cpu_use >= 0)
		kar_buf_printf(out, "cpu in use: %d.%d%%\n", s.cpu_use / PER_CENT, s.cpu_use % PER_CENT);
}

void sim_report_table(const struct sim_record *r, struct kar_buf *out)
{
	summary_lines(r, out);
	kar_buf_puts(out, "\n");
	job_table(r, out);
	kar_buf_puts(out, "\n");
	share_table(r, out);
	kar_buf_puts(out, "\n");
	node_table(r, out);
}

/* ---- JSON ---- */

static struct sim_value *seconds(kar_time ms)
{
	return ms == KAR_NEVER ? sim_null() : sim_real((double)ms / (double)KAR_SECOND);
}

static struct sim_value *stretches_json(const struct sim_stretch *list, size_t n)
{
	struct sim_value *array = sim_array();

	for (size_t i = 0; i < n; i++) {
		struct sim_value *v = sim_object();

		sim_set_text(&v, list[i].phase, "phase");
		if (list[i].reason[0])
			sim_set_text(&v, list[i].reason, "reason");
		sim_set(&v, seconds(list[i].from), "from");
		sim_set(&v, seconds(list[i].to), "to");
		sim_append(&array, v);
	}
	return array;
}

static struct sim_value *job_json(const struct sim_record *r, const struct sim_job_record *j)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, j->ns, "namespace");
	sim_set_text(&v, j->name, "name");
	sim_set_text(&v, j->queue, "queue");
	sim_set(&v, sim_int(j->pods), "pods");
	sim_set(&v, seconds(j->submitted), "submitted");
	sim_set(&v, seconds(j->admitted), "admitted");
	sim_set(&v, seconds(j->running), "running");
	sim_set(&v, seconds(lost_of(r, j)), "lost");
	sim_set(&v, seconds(j->ended), "ended");
	sim_set(&v, seconds(j->deleted), "deleted");
	sim_set(&v, sim_int(j->restarts), "restarts");
	sim_set_text(&v, j->phase, "phase");
	sim_set_text(&v, j->reason, "reason");
	sim_set_text(&v, j->waited_for, "waitedFor");
	sim_set(&v, stretches_json(j->stretches, j->n_stretches), "phases");
	return v;
}

static struct sim_value *pod_json(const struct sim_record *r, const struct sim_pod_record *p)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, p->name, "name");
	sim_set_text(&v, p->node, "node");
	if (p->job != SIZE_MAX)
		sim_set_text(&v, r->jobs[p->job].name, "job");
	sim_set(&v, seconds(p->bound), "bound");
	sim_set(&v, seconds(p->started), "started");
	sim_set(&v, seconds(p->ended), "ended");
	sim_set(&v, sim_bool(p->failed), "failed");
	sim_set(&v, sim_ref(p->requests), "requests");
	return v;
}

static struct sim_value *use_json(const struct sim_record *r, size_t node)
{
	static const char *const resources[RESOURCES] = { "cpu", "memory" };
	struct sim_value *v = sim_object();

	for (size_t i = 0; i < RESOURCES; i++) {
		int use = sim_record_node_use(r, node, resources[i]);

		if (use >= 0)
			sim_set(&v, sim_real(use / (double)SHARE), resources[i]);
	}
	return v;
}

static struct sim_value *node_json(const struct sim_record *r, size_t i)
{
	const struct sim_node_record *n = &r->nodes[i];
	struct sim_value *v = sim_object();

	sim_set_text(&v, n->name, "name");
	sim_set(&v, seconds(n->added), "added");
	sim_set(&v, seconds(n->removed), "removed");
	if (n->allocatable)
		sim_set(&v, sim_ref(n->allocatable), "allocatable");
	sim_set(&v, use_json(r, i), "used");
	sim_set(&v, stretches_json(n->down, n->n_down), "down");
	return v;
}

static struct sim_value *writes_json(const struct sim_record *r)
{
	struct sim_value *v = sim_object();

	for (size_t i = 0; i < r->n_writes; i++)
		sim_set(&v, sim_int(r->writes[i].n), r->writes[i].what);
	return v;
}

static struct sim_value *summary_json(const struct sim_record *r)
{
	struct sim_summary s = sim_record_summary(r);
	struct sim_value *v = sim_object();

	sim_set(&v, seconds(r->end), "simulated");
	sim_set(&v, sim_int((int64_t)s.completed), "completed");
	sim_set(&v, sim_int((int64_t)s.failed), "failed");
	sim_set(&v, sim_int((int64_t)s.running), "running");
	sim_set(&v, sim_int((int64_t)s.waiting), "waiting");
	sim_set(&v, sim_int((int64_t)s.deleted), "deleted");
	sim_set(&v, sim_int(s.restarts), "restarts");
	sim_set(&v, seconds(s.wait_mean), "waitMean");
	sim_set(&v, seconds(s.wait_p50), "waitMedian");
	sim_set(&v, seconds(s.wait_p90), "waitP90");
	sim_set(&v, seconds(s.wait_max), "waitMax");
	sim_set(&v, seconds(s.makespan), "makespan");
	if (s.cpu_use >= 0)
		sim_set(&v, sim_real(s.cpu_use / (double)SHARE), "cpuUsed");
	sim_set(&v, writes_json(r), "writes");
	return v;
}

static struct sim_value *numbers(const double *row, size_t n)
{
	struct sim_value *v = sim_array();

	for (size_t i = 0; i < n; i++)
		sim_append(&v, sim_real((double)(int64_t)(row[i] * SHARE + 0.5) / SHARE));
	return v;
}

static struct sim_value *shares_json(const struct sim_record *r)
{
	struct sim_value *v = sim_object(), *queues = sim_array();
	struct sim_shares s;

	sim_shares_of(r, SIZE_MAX, round_step(r, POINTS), &s);
	for (size_t q = 0; q < s.n_queues; q++) {
		struct sim_value *queue = sim_object();

		sim_set_text(&queue, s.queues[q], "queue");
		sim_set(&queue, numbers(s.used + q * s.n_steps, s.n_steps), "used");
		sim_set(&queue, numbers(s.asked + q * s.n_steps, s.n_steps), "asked");
		sim_append(&queues, queue);
	}
	sim_set(&v, seconds(s.step), "step");
	sim_set(&v, queues, "queues");
	sim_shares_release(&s);
	return v;
}

void sim_report_json(const struct sim_record *r, struct kar_buf *out)
{
	struct sim_value *v = sim_object(), *jobs = sim_array(), *pods = sim_array(), *nodes = sim_array();

	for (size_t i = 0; i < r->n_jobs; i++)
		sim_append(&jobs, job_json(r, &r->jobs[i]));
	for (size_t i = 0; i < r->n_pods; i++)
		sim_append(&pods, pod_json(r, &r->pods[i]));
	for (size_t i = 0; i < r->n_nodes; i++)
		sim_append(&nodes, node_json(r, i));
	sim_set(&v, summary_json(r), "summary");
	sim_set(&v, jobs, "jobs");
	sim_set(&v, pods, "pods");
	sim_set(&v, nodes, "nodes");
	sim_set(&v, shares_json(r), "cpu");
	sim_print(v, out);
	kar_buf_puts(out, "\n");
	sim_unref(v);
}
