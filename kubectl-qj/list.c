/* list: the jobs of a namespace, or of all; with -w their changes. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/str.h"
#include "common/loop/clock.h"

enum { PAUSE = 1000 /* ms, before a broken watch is begun again */ };

/* When a group may start. */
struct start {
	const char *ns, *name;
	kar_time at; /* wall ms */
};

/* What was last shown of a job. Hashes: that of its uid, and that of its row without the age. */
struct shown {
	uint64_t job, row;
};

struct listing {
	struct qj *q;
	struct qj_table table;
	struct kar_arena memory; /* of .shown: it outlives the rows */
	struct shown *shown;     /* only with -w */
	size_t n_shown;
	size_t age;           /* the column */
	struct start *starts; /* in the order of names */
	size_t n_starts;
	bool asked; /* .starts are filled, or may not be read */
	bool any;
};

static int by_name(const void *a, const void *b)
{
	const struct start *x = a, *y = b;
	int ns = strcmp(x->ns, y->ns);

	return ns ? ns : strcmp(x->name, y->name);
}

static int add_starts(void *arg, const struct kar_array *items)
{
	struct listing *l = arg;
	const struct qj_group *g = items->items;

	for (size_t i = 0; i < items->n; i++) {
		if (!g[i].status.estimated_start)
			continue;
		l->starts = kar_arena_grow(&l->q->arena, l->starts, l->n_starts, sizeof(*l->starts));
		l->starts[l->n_starts++] =
			(struct start){ g[i].meta.ns, g[i].meta.name, g[i].status.estimated_start };
	}
	return 0;
}

/* Only groups know it. Who may not read them sees "-". */
static const char *starts_in(struct listing *l, const struct qj_job *j)
{
	const struct start key = { j->meta.ns, j->meta.name, 0 }, *found;

	if (!j->status.position)
		return "";
	if (!l->asked) {
		l->asked = true;
		(void)qj_list(l->q, &(struct qj_query){ &qj_groups, &qj_group_desc, l->q->ns, NULL, NULL },
			add_starts, l);
		if (l->n_starts)
			qsort(l->starts, l->n_starts, sizeof(*l->starts), by_name);
	}
	found = l->n_starts ? bsearch(&key, l->starts, l->n_starts, sizeof(*l->starts), by_name) : NULL;
	if (!found)
		return "";
	return found->at > l->q->now ? qj_age(l->q, found->at - l->q->now) : "soon";
}

/* Running of wanted; and of how many, if its queue allows fewer. */
static void add_pods(struct listing *l, const struct qj_job *j)
{
	int64_t all = qj_job_replicas(j), done = j->status.succeeded;
	int64_t want = j->status.desired > 0 ? j->status.desired : all - done;

	if (l->q->terminal && l->q->width > 100)
		qj_cell(&l->table, "%d/%lld %s", (int)j->status.running, (long long)want,
			qj_bar(l->q, all ? (double)(j->status.running + done) / (double)all : 0, 10));
	else if (want + done < all)
		qj_cell(&l->table, "%d/%lld of %lld", (int)j->status.running, (long long)want,
			(long long)all);
	else
		qj_cell(&l->table, "%d/%lld", (int)j->status.running, (long long)want);
}

static void add_row(struct listing *l, const struct qj_job *j, bool gone)
{
	const char *phase = kar_has_text(j->status.phase) ? j->status.phase : "Pending";
	struct qj_table *t = &l->table;

	if (l->q->o.all)
		qj_cell(t, "%s", j->meta.ns);
	qj_cell(t, "%s", j->meta.name);
	qj_cell(t, "%s", gone ? "Gone" : phase);
	qj_cell(t, "%s", qj_job_queue(j));
	if (j->status.position)
		qj_cell(t, "%d", (int)j->status.position);
	else
		qj_cell(t, "%s", "");
	add_pods(l, j);
	qj_cell(t, "%s", kar_has_text(j->status.reason) ? j->status.reason : "");
	if (!l->q->o.watch)
		qj_cell(t, "%s", starts_in(l, j));
	qj_cell(t, "%s", qj_age(l->q, l->q->now - j->meta.creation));
	if (l->q->o.output == QJ_WIDE)
		qj_cell(t, "%d", (int)j->status.restarts);
	qj_cell(t, "%s", kar_has_text(j->status.message) ? j->status.message : "");
}

/* Where what was last shown of it is kept. */
static struct shown *shown_of(struct listing *l, const struct qj_job *j)
{
	uint64_t job = kar_hash_str(0, j->meta.uid ? j->meta.uid : "");

	for (size_t i = 0; i < l->n_shown; i++) {
		if (l->shown[i].job == job)
			return &l->shown[i];
	}
	l->shown = kar_arena_grow(&l->memory, l->shown, l->n_shown, sizeof(*l->shown));
	l->shown[l->n_shown] = (struct shown){ .job = job };
	return &l->shown[l->n_shown++];
}

/* The row that was added last, from the cell @begin on, stays only if it says something new. */
static void keep_news(struct listing *l, const struct qj_job *j, size_t begin, bool gone)
{
	struct shown *s = shown_of(l, j);
	uint64_t row = 1;

	for (size_t i = begin; i < l->table.n_cells; i++) {
		if (i - begin != l->age)
			row = kar_hash_str(row, l->table.cells[i]);
	}
	if (s->row == row)
		l->table.n_cells = begin;
	s->row = row;
	if (gone)
		*s = l->shown[--l->n_shown];
}

static void add_job(struct listing *l, const struct qj_job *j, bool gone)
{
	size_t begin = l->table.n_cells;

	l->any = true;
	if (l->q->o.output == QJ_NAME) {
		fprintf(l->q->out, "queuejob.kube-arbitrator.io/%s\n", qj_clean(l->q, j->meta.name));
		return;
	}
	add_row(l, j, gone);
	if (l->q->o.watch)
		keep_news(l, j, begin, gone);
}

static int add_page(void *arg, const struct kar_array *items)
{
	struct listing *l = arg;
	const struct qj_job *jobs = items->items;

	for (size_t i = 0; i < items->n; i++)
		add_job(l, &jobs[i], false);
	qj_table_flush(&l->table);
	return 0;
}

static const char **heads_of(struct qj *q, size_t *age)
{
	const char **heads = kar_arena_alloc(&q->arena, QJ_COLUMNS, sizeof(*heads));
	int n = 0;

	if (q->o.all)
		heads[n++] = "NAMESPACE";
	heads[n++] = "NAME";
	heads[n++] = "PHASE";
	heads[n++] = "QUEUE";
	heads[n++] = "POS";
	heads[n++] = "PODS";
	heads[n++] = "REASON";
	if (!q->o.watch)
		heads[n++] = "STARTS-IN";
	*age = (size_t)n;
	heads[n++] = "AGE";
	if (q->o.output == QJ_WIDE)
		heads[n++] = "RESTARTS";
	heads[n] = "MESSAGE";
	return heads;
}

static int print_objects(struct qj *q)
{
	struct kar_request r = kar_client_list(&qj_jobs, q->ns);

	r.lane = KAR_LANE_LISTS;
	r.label_selector = q->o.labels;
	r.field_selector = q->o.fields;
	if (qj_ask(q, r))
		return qj_fail(q);
	return qj_print_object(q, kar_buf_cstr(&q->answer));
}

/* --- its changes ------------------------------------------------------------------------------------ */

/* What is printed for a change is forgotten: it may go on for days. */
static struct kar_arena begin_row(struct listing *l)
{
	struct kar_arena kept = l->q->arena;

	l->q->arena = (struct kar_arena){ 0 };
	l->q->now = kar_clock_wall();
	l->table.cells = NULL;
	return kept;
}

static void end_row(struct listing *l, struct kar_arena kept)
{
	fflush(l->q->out);
	kar_arena_release(&l->q->arena);
	l->q->arena = kept;
	l->table.cells = NULL;
}

static void on_change(void *arg, const void *job, bool gone)
{
	struct listing *l = arg;
	struct kar_arena kept = begin_row(l);

	add_job(l, job, gone);
	qj_table_flush(&l->table);
	end_row(l, kept);
}

static int list_again(struct listing *l, const struct qj_query *jobs)
{
	struct kar_arena kept = begin_row(l);
	int status = qj_list(l->q, jobs, add_page, l);

	end_row(l, kept);
	return status;
}

/* Over the end of a watch, and over the restart of a server. */
static int follow(struct listing *l, const struct qj_query *jobs)
{
	struct qj *q = l->q;

	fflush(q->out);
	for (;;) {
		enum qj_streamed end = q->version[0] ? qj_watch_list(q, jobs, on_change, l) : QJ_ENDED;

		if (end == QJ_BROKEN) {
			if (q->err.what != KAR_RETRY && q->err.what != KAR_GONE)
				return qj_fail(q);
			q->version[0] = '\0';
		}
		qj_pause(q, PAUSE);
		if (!q->version[0] && list_again(l, jobs) && q->err.what != KAR_RETRY)
			return qj_fail(q);
	}
}

int qj_cmd_list(struct qj *q)
{
	const struct qj_query jobs = { &qj_jobs, &qj_job_desc, q->ns, q->o.labels, q->o.fields };
	bool whole = q->o.output == QJ_JSON || q->o.output == QJ_YAML;
	struct listing l = { .q = q };
	int status = 0;

	if (q->o.n_args)
		return qj_misused(q);
	if (q->o.watch && (whole || q->o.output == QJ_NAME)) {
		fprintf(stderr, "error: --watch prints columns: want --output wide, or none\n");
		return 1;
	}
	if (whole)
		return print_objects(q);
	l.table = qj_table_begin(q, heads_of(q, &l.age));
	if (qj_list(q, &jobs, add_page, &l))
		status = qj_fail(q);
	else if (q->o.watch)
		status = follow(&l, &jobs);
	else if (!l.any)
		fprintf(stderr, q->o.all ? "No jobs found\n" : "No jobs found in namespace %s\n", q->ns);
	kar_arena_release(&l.memory);
	return status;
}
