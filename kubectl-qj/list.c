/* list: the jobs of a namespace, or of all. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"

/* When a group may start. */
struct start {
	const char *ns, *name;
	kar_time at; /* wall ms */
};

struct listing {
	struct qj *q;
	struct qj_table table;
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

static void add_row(struct listing *l, const struct qj_job *j)
{
	struct qj_table *t = &l->table;

	if (l->q->o.all)
		qj_cell(t, "%s", j->meta.ns);
	qj_cell(t, "%s", j->meta.name);
	qj_cell(t, "%s", kar_has_text(j->status.phase) ? j->status.phase : "Pending");
	qj_cell(t, "%s", qj_job_queue(j));
	if (j->status.position)
		qj_cell(t, "%d", (int)j->status.position);
	else
		qj_cell(t, "%s", "");
	add_pods(l, j);
	qj_cell(t, "%s", kar_has_text(j->status.reason) ? j->status.reason : "");
	qj_cell(t, "%s", starts_in(l, j));
	qj_cell(t, "%s", qj_age(l->q, l->q->now - j->meta.creation));
	if (l->q->o.output == QJ_WIDE)
		qj_cell(t, "%d", (int)j->status.restarts);
	qj_cell(t, "%s", kar_has_text(j->status.message) ? j->status.message : "");
}

static int add_page(void *arg, const struct kar_array *items)
{
	struct listing *l = arg;
	const struct qj_job *jobs = items->items;

	for (size_t i = 0; i < items->n; i++) {
		l->any = true;
		if (l->q->o.output == QJ_NAME)
			fprintf(l->q->out, "queuejob.kube-arbitrator.io/%s\n",
				qj_clean(l->q, jobs[i].meta.name));
		else
			add_row(l, &jobs[i]);
	}
	qj_table_flush(&l->table);
	return 0;
}

static const char **heads_of(struct qj *q)
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
	heads[n++] = "STARTS-IN";
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

int qj_cmd_list(struct qj *q)
{
	struct listing l = { .q = q };

	if (q->o.n_args)
		return qj_misused(q);
	if (q->o.output == QJ_JSON || q->o.output == QJ_YAML)
		return print_objects(q);
	l.table = qj_table_begin(q, heads_of(q));
	if (qj_list(q, &(struct qj_query){ &qj_jobs, &qj_job_desc, q->ns, q->o.labels, q->o.fields },
		    add_page, &l))
		return qj_fail(q);
	if (!l.any)
		fprintf(stderr, q->o.all ? "No jobs found\n" : "No jobs found in namespace %s\n", q->ns);
	return 0;
}
