/* wait: until a job runs, or has ended. */
#include "kubectl-qj/qj.h"

#include <stdio.h>

#include "common/base/str.h"

struct waiting {
	struct qj *q;
	const char *name;
	/* What was seen last. */
	const char *phase, *why; /* .why "": nothing is said */
	const char *shown;       /* the last line */
	bool drawn;              /* it stands on the terminal */
	bool reached, gone;
};

static bool has_ended(const struct qj_job *j)
{
	return j->status.completion || kar_streq(j->status.phase, "Completed") ||
		kar_streq(j->status.phase, "Failed");
}

/* Pods that have done what is waited for, of all. */
static const char *progress(const struct waiting *w, const struct qj_job *j)
{
	int64_t all = qj_job_replicas(j), done = j->status.succeeded;
	double part = w->q->o.start ? (double)(j->status.running + done) : (double)done;
	const char *counts = kar_arena_printf(&w->q->arena, "%d running, %lld of %lld succeeded  %s",
		(int)j->status.running, (long long)done, (long long)all, w->phase);

	if (w->q->terminal)
		counts = kar_arena_printf(&w->q->arena, "%s %s",
			qj_bar(w->q, all ? part / (double)all : 0, 24), counts);
	return *w->why ? kar_arena_printf(&w->q->arena, "%s, %s", counts, w->why) : counts;
}

/* On a terminal the line is drawn over the one before, and is cut where it would be broken. */
static void draw(struct waiting *w, const char *line)
{
	if (kar_streq(w->shown, line))
		return;
	w->shown = line;
	if (w->q->terminal)
		fprintf(w->q->out, "\r\033[K%s", qj_cut(w->q, line, w->q->width - 1));
	else
		fprintf(w->q->out, "%s\n", line);
	w->drawn = w->q->terminal;
	fflush(w->q->out);
}

static int look(void *arg, const void *object)
{
	const struct qj_job *j = object;
	struct waiting *w = arg;

	if (!j) {
		w->gone = true;
		return 1;
	}
	w->phase = qj_clean(w->q, kar_has_text(j->status.phase) ? j->status.phase : "Pending");
	w->why = "";
	if (kar_has_text(j->status.reason))
		w->why = qj_clean(w->q,
			kar_arena_printf(&w->q->arena, "%s: %s", j->status.reason,
				j->status.message ? j->status.message : ""));
	if (w->q->o.progress)
		draw(w, progress(w, j));
	w->reached = kar_streq(w->phase, "Completed") || (w->q->o.start && kar_streq(w->phase, "Running"));
	return w->reached || has_ended(j);
}

static int fail(const struct waiting *w, enum qj_streamed end)
{
	const char *what = w->q->o.start ? "to run" : "to end", *more = *w->why ? ", " : "";

	if (end == QJ_BROKEN)
		return qj_fail(w->q);
	if (w->gone)
		fprintf(stderr, "error: queuejob.kube-arbitrator.io/%s has been deleted\n", w->name);
	else if (end == QJ_LATE)
		fprintf(stderr,
			"error: timed out waiting for queuejob.kube-arbitrator.io/%s %s: it is %s%s%s\n",
			w->name, what, w->phase, more, w->why);
	else
		fprintf(stderr, "error: queuejob.kube-arbitrator.io/%s has ended: %s%s%s\n", w->name,
			w->phase, more, w->why);
	return 1;
}

int qj_cmd_wait(struct qj *q)
{
	struct waiting w = { .q = q, .phase = "Pending", .why = "" };
	struct qj_watch job = { &qj_jobs, &qj_job_desc, NULL, look, &w };
	enum qj_streamed end;

	if (q->o.n_args != 1 || q->o.all)
		return qj_misused(q);
	job.name = w.name = q->o.args[0];
	end = qj_watch(q, &job, q->o.timeout);
	if (w.drawn)
		fprintf(q->out, "\n");
	if (!w.reached)
		return fail(&w, end);
	fprintf(q->out, "queuejob.kube-arbitrator.io/%s %s\n", w.name, w.phase);
	return 0;
}
