/* logs: what the pods of a job have printed, or print, each line behind the name of its pod. */
#include "kubectl-qj/logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"

enum { LONGEST = 64 << 10 /* bytes of a line that are kept before it is printed */ };

/* --- lines ------------------------------------------------------------------------------------------ */

/* On a terminal, as all text of the cluster; a file gets the bytes as they are. */
static void print_line(struct qj_lines *l)
{
	const char *text = kar_buf_cstr(&l->part);

	if (l->q->terminal) {
		struct kar_arena kept = l->q->arena;

		l->q->arena = (struct kar_arena){ 0 };
		fprintf(l->q->out, "%s %s\n", l->prefix, qj_clean(l->q, text));
		kar_arena_release(&l->q->arena);
		l->q->arena = kept;
	} else {
		fprintf(l->q->out, "%s ", l->prefix);
		fwrite(text, 1, l->part.n, l->q->out);
		fputc('\n', l->q->out);
	}
	kar_buf_clear(&l->part);
}

void qj_lines_put(struct qj_lines *l, const char *bytes, size_t n)
{
	while (n) {
		const char *end = memchr(bytes, '\n', n);
		size_t more = end ? (size_t)(end - bytes) : n;

		kar_buf_append(&l->part, bytes, more);
		if (end || l->part.n > LONGEST)
			print_line(l);
		more += end != NULL;
		bytes += more;
		n -= more;
	}
	fflush(l->q->out);
}

void qj_lines_end(struct qj_lines *l)
{
	if (l->part.n)
		print_line(l);
	fflush(l->q->out);
	kar_buf_release(&l->part);
}

/* --- requests --------------------------------------------------------------------------------------- */

static bool is_label(const char *name)
{
	return name && *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

struct kar_request qj_log_request(struct qj *q, const char *pod, const char *container, kar_time last)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf path = { 0 };
	struct kar_request r = kar_client_get(&qj_pods, q->ns, pod);

	r.subresource = "log";
	kar_request_path(&r, &path);
	/* A name that the API server would refuse is left out: then it says so. */
	kar_buf_printf(&path, "?container=%s", is_label(container) ? container : "");
	if (q->o.previous)
		kar_buf_puts(&path, "&previous=true");
	if (q->o.follow)
		kar_buf_puts(&path, "&follow=true");
	if (last) /* no time of day: the clock of the node may differ from ours */
		kar_buf_printf(&path, "&sinceSeconds=%lld",
			(long long)((last + KAR_SECOND - 1) / KAR_SECOND));
	r.verb = KAR_LIST; /* its bytes come as they are, and need not be a document */
	r.path = kar_arena_strndup(&q->arena, path.p, path.n);
	r.lane = q->o.follow ? KAR_LANE_WATCHES : KAR_LANE_LISTS;
	r.timeout = q->o.follow ? 365 * 24 * 60 * KAR_MINUTE : 60 * KAR_MINUTE;
	return r;
}

const char *qj_log_labels(struct qj *q)
{
	const char *labels = kar_arena_printf(&q->arena, KAR_LABEL_QUEUEJOB "=%s", q->o.args[0]);

	if (q->o.task)
		labels = kar_arena_printf(&q->arena, "%s," KAR_LABEL_TASK "=%s", labels, q->o.task);
	if (q->o.index >= 0)
		labels = kar_arena_printf(&q->arena, "%s," KAR_LABEL_INDEX "=%d", labels, (int)q->o.index);
	return labels;
}

const char *qj_log_prefix(struct qj *q, const struct qj_pod *pod, const char *container)
{
	const char *name = qj_clean(q, pod->meta.name ? pod->meta.name : "");

	return pod->spec.containers.n > 1
		? kar_arena_printf(&q->arena, "[%s/%s]", name, qj_clean(q, container))
		: kar_arena_printf(&q->arena, "[%s]", name);
}

/* --- once ------------------------------------------------------------------------------------------- */

struct logs {
	struct qj *q;
	struct qj_pod *pods;
	size_t n;
};

static int add_pods(void *arg, const struct kar_array *items)
{
	const struct qj_pod *from = items->items;
	struct logs *l = arg;

	for (size_t i = 0; i < items->n; i++) {
		l->pods = kar_arena_grow(&l->q->arena, l->pods, l->n, sizeof(*l->pods));
		l->pods[l->n++] = from[i];
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct qj_pod *x = a, *y = b;

	return strverscmp(x->meta.name, y->meta.name);
}

static int put(void *arg, const char *bytes, size_t n)
{
	qj_lines_put(arg, bytes, n);
	return 0;
}

static int print_container(struct qj *q, const struct qj_pod *pod, const char *container)
{
	struct qj_lines lines = { .q = q, .prefix = qj_log_prefix(q, pod, container) };
	enum qj_streamed end = qj_stream(q, qj_log_request(q, pod->meta.name, container, 0), -1, put, &lines);

	qj_lines_end(&lines);
	if (end != QJ_BROKEN)
		return 0;
	fprintf(stderr, "%s error: %s\n", lines.prefix, q->err.msg);
	return 1;
}

static int print_pod(struct qj *q, const struct qj_pod *pod)
{
	const struct qj_container *c = pod->spec.containers.items;
	int status = 0;

	if (kar_streq(pod->status.phase, "Pending")) {
		fprintf(stderr, "%s has not started\n", qj_log_prefix(q, pod, "*"));
		return 0;
	}
	for (size_t i = 0; i < pod->spec.containers.n; i++)
		status |= print_container(q, pod, c[i].name ? c[i].name : "");
	return status;
}

static int print_all(struct qj *q, const struct qj_job *job)
{
	const struct qj_query query = { &qj_pods, &qj_pod_desc, q->ns, qj_log_labels(q), NULL };
	struct logs l = { .q = q };
	int status = 0;

	if (qj_list(q, &query, add_pods, &l))
		return qj_fail(q);
	if (!l.n) {
		fprintf(stderr, "error: %s has no such pods: it is %s%s%s\n", qj_clean(q, job->meta.name),
			qj_clean(q, kar_has_text(job->status.phase) ? job->status.phase : "Pending"),
			kar_has_text(job->status.message) ? ", " : "",
			qj_clean(q, job->status.message ? job->status.message : ""));
		return 1;
	}
	qsort(l.pods, l.n, sizeof(*l.pods), by_name);
	for (size_t i = 0; i < l.n; i++)
		status |= print_pod(q, &l.pods[i]);
	return status;
}

int qj_cmd_logs(struct qj *q)
{
	struct qj_job job = { 0 };

	if (q->o.n_args != 1 || q->o.all)
		return qj_misused(q);
	if (q->o.follow && q->o.previous) {
		fprintf(stderr, "error: --follow and --previous contradict each other\n");
		return 1;
	}
	if (qj_get(q, &qj_jobs, q->ns, q->o.args[0], &qj_job_desc, &job))
		return qj_fail(q);
	return q->o.follow ? qj_logs_follow(q) : print_all(q, &job);
}
