/*
 * logs -f: two watches, of the job and of its pods, and a log for each run of a container. A watch without a version begins with what there is,
 * so it is simply asked for again when it ends. What was followed before is known by the UID of its pod and the number of its restarts.
 */
#include "kubectl-qj/logs.h"

#include <stdio.h>
#include <stdlib.h>

#include <bsd/sys/queue.h>

#include "common/base/str.h"
#include "common/codec/json.h"
#include "common/loop/loop.h"

kar_time qj_log_patience = 3000;

enum {
	MOST = 64,    /* logs at once: each has a connection */
	PAUSE = 1000, /* ms, before what has broken is asked for again */
	REST = 2000,  /* ms that pods may still be heard of when their job has ended */
};

struct follow;

struct change {
	const char *type;
	struct kar_str object;
};
static const struct kar_field change_fields[] = {
	KAR_FIELD(struct change, type, "type", KAR_F_STRING),
	KAR_FIELD(struct change, object, "object", KAR_F_RAW),
};
static const struct kar_desc change_desc = KAR_DESC("event", struct change, change_fields);

/* The changes of the job, or of the pods. */
struct watch {
	struct follow *f;
	struct kar_request request;
	struct kar_call *call;
	struct kar_timer *again;
	struct kar_json_stream *json;
	kar_each_fn *seen;
};

/* One run of a container. */
struct log {
	TAILQ_ENTRY(log) link;
	struct follow *f;
	const char *pod, *container, *uid; /* of the pod */
	int32_t restarts;
	struct kar_call *call;
	struct kar_timer *again;
	struct qj_lines lines;
	kar_time heard; /* mono, of the last bytes; 0: none yet */
	int tries;
	bool last; /* the container has ended, or its pod is gone: the log has an end */
	bool well; /* it has ended without an error, and it is not known yet if that was the end */
	bool done;
};

struct follow {
	struct qj *q;
	struct watch job, pods;
	TAILQ_HEAD(logs, log) logs;
	struct kar_timer *rest; /* runs when the job has ended */
	size_t open;
	bool ended, over;
	int status;
};

static void stop(struct follow *f, int status)
{
	f->status |= status;
	f->over = true;
	kar_loop_stop(f->q->loop);
}

/* The job has ended, and all that its pods have said is printed. */
static void on_rest(void *arg)
{
	struct follow *f = arg;

	if (!f->open)
		stop(f, 0);
	else
		kar_timer_start(f->rest, REST);
}

/* --- logs ------------------------------------------------------------------------------------------- */

static void end_log(struct log *l)
{
	l->done = true;
	l->well = false;
	l->f->open--;
	qj_lines_end(&l->lines);
	if (l->f->ended)
		kar_timer_start(l->f->rest, l->f->open ? REST : PAUSE);
}

static int on_log(void *arg, const char *bytes, size_t n)
{
	struct log *l = arg;

	l->heard = kar_loop_mono_now(l->f->q->loop);
	l->tries = 0;
	qj_lines_put(&l->lines, bytes, n);
	return 0;
}

static void on_log_done(void *arg, const struct kar_answer *answer KAR_UNUSED, const struct kar_err *err)
{
	enum { TRIES = 10 };
	struct log *l = arg;

	l->call = NULL;
	/* 400: the container is about to start; it was seen a moment too early. */
	if (err && (err->what == KAR_RETRY || err->http == 400) && l->tries++ < TRIES) {
		kar_timer_start(l->again, PAUSE);
		return;
	}
	/* The status is a moment behind the container; a kubelet that starts again, or a proxy, ends the logs of those that run. */
	if (!err && !l->last && !l->f->ended) {
		l->well = true;
		kar_timer_start(l->again, qj_log_patience);
		return;
	}
	if (err && err->what != KAR_NOTFOUND) { /* a pod that is gone says no more */
		fprintf(stderr, "%s error: %s\n", l->lines.prefix, err->msg);
		l->f->status = 1;
	}
	end_log(l);
}

static void ask_log(void *arg)
{
	struct log *l = arg;
	struct qj *q = l->f->q;
	struct kar_request r;

	if (l->well && l->f->ended) {
		end_log(l);
		return;
	}
	l->well = false;
	r = qj_log_request(q, l->pod, l->container, l->heard ? kar_loop_mono_now(q->loop) - l->heard + 1 : 0);
	r.on_data = on_log;
	r.on_done = on_log_done;
	r.arg = l;
	l->call = kar_client_start(q->client, &r);
}

static bool is_log_of(const struct log *l, const struct qj_pod *pod, const struct qj_container *c)
{
	return kar_streq(l->uid, pod->meta.uid ? pod->meta.uid : "") && kar_streq(l->container, c->name) &&
		l->restarts == c->restarts;
}

/* Does what @l follows run, as its pod says? */
static bool does_run(const struct log *l, const struct qj_pod *pod)
{
	const struct qj_container *c = pod->status.containers.items;

	for (size_t i = 0; i < pod->status.containers.n; i++) {
		if (is_log_of(l, pod, &c[i]) && c[i].state.has_running)
			return true;
	}
	return false;
}

/* Logs of containers of @pod, or of one of its name before it, that have an end now. */
static void note_ends(struct follow *f, const struct qj_pod *pod, bool deleted)
{
	struct log *l;

	TAILQ_FOREACH(l, &f->logs, link) {
		if (l->last || !kar_streq(l->pod, pod->meta.name) || (!deleted && does_run(l, pod)))
			continue;
		l->last = true;
		if (l->well) {
			kar_timer_stop(l->again);
			end_log(l);
		}
	}
}

static void follow_log(struct follow *f, const struct qj_pod *pod, const struct qj_container *c)
{
	struct kar_arena *a = &f->q->arena;
	struct log *l;

	TAILQ_FOREACH(l, &f->logs, link) {
		if (is_log_of(l, pod, c))
			return;
	}
	if (f->open == MOST) {
		fprintf(stderr,
			"error: more than %d containers print at once; choose by --task and --index\n", MOST);
		stop(f, 1);
		return;
	}
	l = kar_arena_alloc(a, 1, sizeof(*l));
	l->f = f;
	l->uid = kar_arena_printf(a, "%s", pod->meta.uid ? pod->meta.uid : "");
	l->restarts = c->restarts;
	l->last = !c->state.has_running;
	l->pod = kar_arena_printf(a, "%s", pod->meta.name);
	l->container = kar_arena_printf(a, "%s", c->name);
	l->lines = (struct qj_lines){ .q = f->q, .prefix = qj_log_prefix(f->q, pod, c->name) };
	l->again = kar_timer_new(f->q->loop, ask_log, l);
	f->open++;
	TAILQ_INSERT_TAIL(&f->logs, l, link);
	ask_log(l);
}

/* --- watches ---------------------------------------------------------------------------------------- */

static int on_pod(void *arg, const void *document, struct kar_err *err)
{
	const struct change *c = document;
	struct follow *f = ((struct watch *)arg)->f;
	const struct qj_container *containers;
	struct kar_arena arena = { 0 };
	struct qj_pod pod = { 0 };
	bool deleted;

	if (kar_streq(c->type, "ERROR"))
		return kar_fail(err, KAR_RETRY, "the watch has ended");
	if (kar_json_decode(&arena, &qj_pod_desc, NULL, c->object.p, c->object.n, &pod, err)) {
		kar_arena_release(&arena);
		return 0;
	}
	deleted = kar_streq(c->type, "DELETED");
	note_ends(f, &pod, deleted);
	containers = pod.status.containers.items;
	for (size_t i = 0; i < pod.status.containers.n && !deleted && !f->over; i++) {
		if (containers[i].name &&
			(containers[i].state.has_running || containers[i].state.has_terminated))
			follow_log(f, &pod, &containers[i]);
	}
	kar_arena_release(&arena);
	return 0;
}

static int on_job(void *arg, const void *document, struct kar_err *err)
{
	const struct change *c = document;
	struct follow *f = ((struct watch *)arg)->f;
	struct kar_arena arena = { 0 };
	struct qj_job job = { 0 };
	bool ended = kar_streq(c->type, "DELETED");

	if (kar_streq(c->type, "ERROR"))
		return kar_fail(err, KAR_RETRY, "the watch has ended");
	if (!ended && kar_json_decode(&arena, &qj_job_desc, NULL, c->object.p, c->object.n, &job, err) == 0)
		ended = kar_streq(job.status.phase, "Completed") || kar_streq(job.status.phase, "Failed");
	if (ended && !f->ended)
		kar_timer_start(f->rest, PAUSE);
	f->ended |= ended;
	kar_arena_release(&arena);
	return 0;
}

static int on_bytes(void *arg, const char *bytes, size_t n)
{
	struct watch *w = arg;
	struct kar_err err;

	return kar_json_stream_feed(w->json, bytes, n, &err) || w->f->over ? -1 : 0;
}

static void on_watch_done(void *arg, const struct kar_answer *answer KAR_UNUSED, const struct kar_err *err)
{
	struct watch *w = arg;

	w->call = NULL;
	kar_json_stream_free(w->json);
	w->json = NULL;
	if (w->f->over)
		return;
	if (err && err->what != KAR_RETRY && err->what != KAR_GONE && err->what != KAR_INVALID) {
		w->f->q->err = *err;
		stop(w->f, qj_fail(w->f->q));
		return;
	}
	kar_timer_start(w->again, PAUSE);
}

static void ask_watch(void *arg)
{
	struct watch *w = arg;
	struct kar_request r = w->request;

	r.on_data = on_bytes;
	r.on_done = on_watch_done;
	r.arg = w;
	w->json = kar_json_stream_new(&change_desc, NULL, NULL, w->seen, w);
	w->call = kar_client_start(w->f->q->client, &r);
}

static void begin_watch(struct follow *f, struct watch *w, const struct kar_resource *res, kar_each_fn *seen)
{
	w->f = f;
	w->seen = seen;
	w->request = kar_client_watch(res, f->q->ns, NULL);
	w->again = kar_timer_new(f->q->loop, ask_watch, w);
}

static void end_watch(struct watch *w)
{
	kar_client_cancel(w->f->q->client, w->call);
	kar_json_stream_free(w->json);
	kar_timer_free(w->again);
}

int qj_logs_follow(struct qj *q)
{
	struct follow f = { .q = q };
	struct log *l;

	TAILQ_INIT(&f.logs);
	f.rest = kar_timer_new(q->loop, on_rest, &f);
	begin_watch(&f, &f.pods, &qj_pods, on_pod);
	f.pods.request.label_selector = qj_log_labels(q);
	begin_watch(&f, &f.job, &qj_jobs, on_job);
	f.job.request.field_selector = kar_arena_printf(&q->arena, "metadata.name=%s", q->o.args[0]);
	ask_watch(&f.pods);
	ask_watch(&f.job);
	while (!f.over)
		kar_loop_run(q->loop);
	end_watch(&f.pods);
	end_watch(&f.job);
	TAILQ_FOREACH(l, &f.logs, link) {
		kar_client_cancel(q->client, l->call);
		kar_timer_free(l->again);
		if (!l->done)
			qj_lines_end(&l->lines);
	}
	kar_timer_free(f.rest);
	return f.status;
}
