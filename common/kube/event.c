#include "common/kube/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/codec/json.h"
#include "common/kube/event_filter.h"
#include "common/loop/clock.h"

enum {
	MAX_PENDING = 1000,
	MAX_RECENT = 1000, /* sent ones that may still become series */
	MAX_IN_FLIGHT = 2,
	BUSY_WAIT = 5000, /* ms an event lets more important writes go first */
	MAX_TRIES = 12,
	MAX_NOTE = 1024, /* bytes; the API's limit */
	MAX_NAME = 253,
	BACKOFF_BASE = 200,  /* ms */
	BACKOFF_CAP = 30000, /* ms */
	HTTP_TOO_MANY_REQUESTS = 429,
};
#define SERIES_WINDOW (6 * KAR_MINUTE) /* silent for so long, a series is over (as in client-go) */
#define SERIES_PERIOD KAR_MINUTE       /* between two updates of one series */

static const struct kar_resource events = { .group = "events.k8s.io",
	.version = "v1",
	.plural = "events",
	.kind = "Event",
	.namespaced = true };

enum state { QUEUED, SENDING, RECENT };

struct event {
	RB_ENTRY(event) by_identity; // kar_recorder.all
	TAILQ_ENTRY(event) in_line;  // kar_recorder.lines[state]
	enum state state;
	struct kar_recorder *recorder;
	struct kar_call *call;  /* if SENDING */
	char *ns, *name;        /* of the Event object */
	char *body;             /* to create it; NULL once it exists */
	int64_t count, sent;    /* how often it happened; what the API server knows of that */
	kar_time last;          /* wall, of the latest */
	kar_time seen, sent_at; /* mono */
	int tries;
	char identity[]; /* what must be equal in a series */
};

static int compare(const struct event *a, const struct event *b)
{
	return strcmp(a->identity, b->identity);
}

RB_HEAD(event_tree, event);
RB_GENERATE_INTERNAL(event_tree, event, by_identity, compare, KAR_UNUSED static)
TAILQ_HEAD(event_line, event);

struct kar_recorder {
	struct kar_loop *loop;
	struct kar_client *client;
	char *controller, *instance;
	struct event_tree all;
	struct event_line lines[RECENT + 1];
	size_t n[RECENT + 1];
	struct kar_event_filter *filter;
	struct kar_timer *pause; /* runs after a failed attempt: nothing is sent meanwhile */
	struct kar_backoff backoff;
	uint32_t counter; /* of names */
	bool busy;        /* more important writes wait */
	bool refused;     /* told, and none has got through since */
};

static void pump(struct kar_recorder *r);

/* Lines. */

static void enter(struct event *e, enum state state, bool front)
{
	struct kar_recorder *r = e->recorder;

	e->state = state;
	r->n[state]++;
	if (front)
		TAILQ_INSERT_HEAD(&r->lines[state], e, in_line);
	else
		TAILQ_INSERT_TAIL(&r->lines[state], e, in_line);
}

static void leave(struct event *e)
{
	struct kar_recorder *r = e->recorder;

	r->n[e->state]--;
	TAILQ_REMOVE(&r->lines[e->state], e, in_line);
}

static void forget(struct event *e)
{
	leave(e);
	RB_REMOVE(event_tree, &e->recorder->all, e);
	free(e->ns);
	free(e->name);
	free(e->body);
	free(e);
}

/* Life. */

static void on_pause_over(void *arg)
{
	pump(arg);
}

struct kar_recorder *kar_recorder_new(struct kar_loop *l, struct kar_client *client, const char *controller,
	const char *instance, uint64_t seed)
{
	struct kar_recorder *r = kar_xcalloc(1, sizeof(*r));

	r->loop = l;
	r->client = client;
	r->controller = kar_xstrdup(controller);
	r->instance = kar_xstrdup(instance);
	RB_INIT(&r->all);
	for (size_t i = 0; i < KAR_LEN(r->lines); i++)
		TAILQ_INIT(&r->lines[i]);
	r->filter = kar_event_filter_new();
	r->pause = kar_timer_new(l, on_pause_over, r);
	r->counter = (uint32_t)(seed ^ seed >> 32);
	r->backoff = (struct kar_backoff){ .base = BACKOFF_BASE,
		.cap = BACKOFF_CAP,
		.jitter = 1.0,
		.random = seed };
	return r;
}

void kar_recorder_free(struct kar_recorder *r)
{
	if (!r)
		return;
	while (!RB_EMPTY(&r->all)) {
		struct event *e = RB_ROOT(&r->all);

		if (e->state == SENDING)
			kar_client_cancel(r->client, e->call);
		forget(e);
	}
	kar_timer_free(r->pause);
	kar_event_filter_free(r->filter);
	free(r->controller);
	free(r->instance);
	free(r);
}

size_t kar_recorder_pending(const struct kar_recorder *r)
{
	return r->n[QUEUED] + r->n[SENDING];
}

/* The documents. */

static void put(struct kar_json_writer *w, const char *key, const char *value)
{
	if (value && value[0])
		kar_jw_kv_string(w, key, value);
}

static void put_micro_time(struct kar_json_writer *w, const char *key, kar_time wall)
{
	char text[KAR_TIME_LEN];

	kar_jw_kv_string(w, key, kar_time_format_micro(wall, text));
}

/* All of it: `kubectl describe` joins on name, namespace, kind and uid. */
static void put_regarding(struct kar_json_writer *w, const struct kar_object_ref *about)
{
	kar_jw_key(w, "regarding");
	kar_jw_begin_object(w);
	put(w, "apiVersion", about->api_version);
	put(w, "kind", about->kind);
	put(w, "namespace", about->ns);
	put(w, "name", about->name);
	put(w, "uid", about->uid);
	put(w, "resourceVersion", about->resource_version);
	kar_jw_end_object(w);
}

static const char *type_name(enum kar_event_type type)
{
	return type == KAR_WARNING ? "Warning" : "Normal";
}

static char *event_body(const struct event *e, const struct kar_object_ref *about, enum kar_event_type type,
	const char *reason, const char *action, const char *note)
{
	struct kar_buf body = { 0 };
	struct kar_json_writer w;

	kar_json_writer_init(&w, &body);
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "apiVersion", "events.k8s.io/v1");
	kar_jw_kv_string(&w, "kind", "Event");
	kar_jw_key(&w, "metadata");
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "name", e->name);
	kar_jw_kv_string(&w, "namespace", e->ns);
	kar_jw_end_object(&w);
	put_micro_time(&w, "eventTime", e->last);
	kar_jw_kv_string(&w, "reportingController", e->recorder->controller);
	kar_jw_kv_string(&w, "reportingInstance", e->recorder->instance);
	kar_jw_kv_string(&w, "type", type_name(type));
	kar_jw_kv_string(&w, "reason", reason);
	kar_jw_kv_string(&w, "action", action);
	put(&w, "note", note);
	put_regarding(&w, about);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	return kar_buf_detach(&body);
}

static void series_patch(const struct event *e, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_key(&w, "series");
	kar_jw_begin_object(&w);
	kar_jw_kv_int(&w, "count", e->count);
	put_micro_time(&w, "lastObservedTime", e->last);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

/* "<object>.<hex of time and counter>", a DNS subdomain again: the object's name is cut if need be. */
static char *event_name(struct kar_recorder *r, const char *object, kar_time wall)
{
	char suffix[32];
	int n = snprintf(suffix, sizeof(suffix), "%jx%08x", (uintmax_t)wall, (unsigned)r->counter++);
	size_t room = MAX_NAME - 1 - (size_t)n;
	size_t keep = strnlen(object, room);

	while (keep > 0 && (object[keep - 1] == '.' || object[keep - 1] == '-'))
		keep--;
	return kar_xasprintf("%.*s.%s", (int)keep, object, suffix);
}

/* Sending. */

static bool is_worth_another_try(const struct kar_err *err)
{
	return err->http == HTTP_TOO_MANY_REQUESTS ||
		(!err->http && (err->what == KAR_RETRY || err->what == KAR_UNKNOWN));
}

/* The name is ours alone: if it exists, a lost reply was a success. */
static bool is_done(const struct event *e, const struct kar_err *err)
{
	return !err || (e->body && err->what == KAR_EXISTS);
}

static void keep_recent(struct event *e)
{
	struct kar_recorder *r = e->recorder;

	enter(e, RECENT, false);
	if (r->n[RECENT] > MAX_RECENT)
		forget(TAILQ_FIRST(&r->lines[RECENT]));
}

static void sent(struct event *e)
{
	bool begins_series = e->body && e->count > 1;

	free(e->body);
	e->body = NULL;
	e->tries = 0;
	e->sent_at = kar_loop_mono(e->recorder->loop);
	e->recorder->refused = false;
	kar_backoff_reset(&e->recorder->backoff);
	leave(e);
	if (begins_series)
		enter(e, QUEUED, false);
	else
		keep_recent(e);
}

static void try_again(struct event *e, const struct kar_err *err)
{
	struct kar_recorder *r = e->recorder;

	e->tries++;
	if (e->tries >= MAX_TRIES) {
		forget(e);
	} else {
		leave(e);
		enter(e, QUEUED, true);
	}
	if (!kar_timer_running(r->pause))
		kar_timer_start(r->pause, kar_backoff_next(&r->backoff, err->retry_after));
}

/* Nobody misses an event before looking for one, so the log says why there are none. A namespace may be leaving. */
static void tell_refusal(struct event *e, const struct kar_err *err)
{
	bool leaving = err->what == KAR_NOTFOUND || err->cause == KAR_CAUSE_NAMESPACE_ENDS;

	if (leaving || e->recorder->refused)
		return;
	e->recorder->refused = true;
	kar_error(KAR_MSG("Events cannot be recorded"), KAR_S("namespace", e->ns), KAR_S("err", err->msg));
}

static void on_done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct event *e = arg;
	struct kar_recorder *r = e->recorder;

	(void)answer;
	e->call = NULL;
	if (is_done(e, err)) {
		sent(e);
	} else if (is_worth_another_try(err)) {
		try_again(e, err);
	} else {
		tell_refusal(e, err);
		forget(e);
	}
	pump(r);
}

static void send(struct event *e)
{
	struct kar_recorder *r = e->recorder;
	struct kar_buf patch = { 0 };
	struct kar_request q;

	if (e->body) {
		q = kar_client_create(&events, e->ns, (struct kar_str){ e->body, strlen(e->body) });
	} else {
		series_patch(e, &patch);
		q = kar_client_patch(&events, e->ns, e->name, KAR_PATCH_MERGE,
			(struct kar_str){ patch.p, patch.n });
	}
	q.metadata_only = true; /* the answer does not matter */
	q.replayable = true;    /* a name of its own, an absolute count: twice is the same as once */
	q.on_done = on_done;
	q.arg = e;
	e->sent = e->body ? 1 : e->count;
	leave(e);
	enter(e, SENDING, false);
	e->call = kar_client_start(r->client, &q);
	kar_buf_release(&patch);
}

static bool may_send(const struct kar_recorder *r)
{
	const struct event *first = TAILQ_FIRST(&r->lines[QUEUED]);

	if (!first || r->n[SENDING] >= MAX_IN_FLIGHT || kar_timer_running(r->pause))
		return false;
	return !r->busy || kar_loop_mono(r->loop) - first->seen >= BUSY_WAIT;
}

static void pump(struct kar_recorder *r)
{
	while (may_send(r))
		send(TAILQ_FIRST(&r->lines[QUEUED]));
}

void kar_recorder_busy(struct kar_recorder *r, bool busy)
{
	r->busy = busy;
	pump(r);
}

/* Recording. */

static struct event *find(struct kar_recorder *r, const char *identity)
{
	struct event *e = RB_ROOT(&r->all);

	while (e) {
		int order = strcmp(identity, e->identity);

		if (!order)
			return e;
		e = order < 0 ? RB_LEFT(e, by_identity) : RB_RIGHT(e, by_identity);
	}
	return NULL;
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* It happened again: the first time that is news, then once a minute at most. */
static void recur(struct event *e)
{
	struct kar_recorder *r = e->recorder;
	kar_time now = kar_loop_mono(r->loop);

	e->count++;
	e->seen = now;
	e->last = kar_loop_wall(r->loop);
	if (e->state != RECENT || (e->sent > 1 && now - e->sent_at < SERIES_PERIOD))
		return;
	leave(e);
	enter(e, QUEUED, false);
	pump(r);
}

static struct event *add(struct kar_recorder *r, const char *identity, const struct kar_object_ref *about)
{
	size_t n = strlen(identity) + 1;
	struct event *e = kar_xcalloc(1, sizeof(*e) + n);

	memcpy(e->identity, identity, n);
	e->recorder = r;
	e->count = 1;
	e->last = kar_loop_wall(r->loop);
	e->seen = kar_loop_mono(r->loop);
	e->ns = kar_xstrdup(
		about->ns && about->ns[0] ? about->ns : "default"); /* where kubectl looks for these */
	e->name = event_name(r, about->name, e->last);
	RB_INSERT(event_tree, &r->all, e);
	enter(e, QUEUED, false);
	return e;
}

static bool is_over(const struct event *e)
{
	return e->state == RECENT && kar_loop_mono(e->recorder->loop) - e->seen > SERIES_WINDOW;
}

static void record(struct kar_recorder *r, const struct kar_object_ref *about, enum kar_event_type type,
	const char *reason, const char *action, const char *note)
{
	KAR_CLEANUP(kar_cleanup_free)
	char *object = kar_xasprintf("%s\n%s\n%s\n%s\n%s", or_empty(about->api_version),
		or_empty(about->kind), or_empty(about->ns), about->name, or_empty(about->uid));
	KAR_CLEANUP(kar_cleanup_free)
	char *identity = kar_xasprintf("%s\n%d\n%s\n%s\n%s", object, (int)type, reason, action, note);
	struct event *e = find(r, identity);

	if (e && is_over(e)) {
		forget(e);
		e = NULL;
	}
	if (e) {
		recur(e);
		return;
	}
	if (kar_recorder_pending(r) >= MAX_PENDING ||
		!kar_event_filter_admit(r->filter, object, kar_loop_mono(r->loop)))
		return;
	e = add(r, identity, about);
	e->body = event_body(e, about, type, reason, action, note);
	pump(r);
}

void kar_recorder_event(struct kar_recorder *r, const struct kar_object_ref *about, enum kar_event_type type,
	const char *reason, const char *action, const char *note)
{
	char kept[MAX_NOTE + 1];

	kar_text_printf(kept, sizeof(kept), "%s", note);
	record(r, about, type, reason, action, kept);
}
