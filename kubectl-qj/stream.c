/* Answers that come bit by bit: the changes of one object or of a list, and what a program has printed. */
#include "kubectl-qj/qj.h"

#include <string.h>

#include "common/base/str.h"
#include "common/codec/json.h"
#include "common/loop/loop.h"

enum { PAUSE = 1000 /* ms, before a broken stream is asked for again */ };

struct stream {
	struct qj *q;
	struct kar_call *call; /* NULL: it has ended */
	qj_bytes_fn *bytes;
	void *arg;
	bool late, enough;
};

static int on_data(void *arg, const char *bytes, size_t n)
{
	struct stream *s = arg;

	if (s->bytes(s->arg, bytes, n) == 0)
		return 0;
	s->enough = true;
	return -1;
}

static void on_done(void *arg, const struct kar_answer *answer KAR_UNUSED, const struct kar_err *err)
{
	struct stream *s = arg;

	s->call = NULL;
	s->q->err = err ? *err : (struct kar_err){ 0 };
	kar_loop_stop(s->q->loop);
}

static void on_late(void *arg)
{
	struct stream *s = arg;

	s->late = true;
	kar_loop_stop(s->q->loop);
}

enum qj_streamed qj_stream(struct qj *q, struct kar_request r, kar_time limit, qj_bytes_fn *bytes, void *arg)
{
	struct stream s = { .q = q, .bytes = bytes, .arg = arg };
	struct kar_timer *timer = kar_timer_new(q->loop, on_late, &s);

	r.on_data = on_data;
	r.on_done = on_done;
	r.arg = &s;
	if (limit >= 0)
		kar_timer_start(timer, limit);
	s.call = kar_client_start(q->client, &r);
	while (s.call && !s.late)
		kar_loop_run(q->loop);
	kar_client_cancel(q->client, s.call);
	kar_timer_free(timer);
	return s.enough ? QJ_ENOUGH : s.late ? QJ_LATE : q->err.what ? QJ_BROKEN : QJ_ENDED;
}

/* --- the changes of one object ---------------------------------------------------------------------- */

struct change {
	const char *type;
	struct kar_str object;
};
static const struct kar_field change_fields[] = {
	KAR_FIELD(struct change, type, "type", KAR_F_STRING),
	KAR_FIELD(struct change, object, "object", KAR_F_RAW),
};
static const struct kar_desc change_desc = KAR_DESC("event", struct change, change_fields);

struct head {
	struct kar_wire_meta meta;
};
static const struct kar_field head_fields[] = { KAR_FIELD_SUB(struct head, meta, "metadata", KAR_F_OBJECT,
	&kar_wire_meta_desc) };
static const struct kar_desc head_desc = KAR_DESC("object", struct head, head_fields);

struct watching {
	struct qj *q;
	const struct qj_watch *what;
	struct kar_json_stream *json;
	struct kar_arena arena; /* of the last object */
	char rv[32];            /* its version; "": it must be read again */
	bool enough;
};

/* Hands @json to who watches. -1: it cannot be read. */
static int show(struct watching *w, const char *json, size_t n, struct kar_err *err)
{
	struct head head = { 0 };
	void *object;

	kar_arena_reset(&w->arena);
	object = kar_arena_alloc(&w->arena, 1, w->what->desc->size);
	if (kar_json_decode(&w->arena, &head_desc, NULL, json, n, &head, err) ||
		kar_json_decode(&w->arena, w->what->desc, NULL, json, n, object, err))
		return -1;
	snprintf(w->rv, sizeof(w->rv), "%s", head.meta.resource_version ? head.meta.resource_version : "");
	w->enough |= w->what->seen(w->what->arg, object) != 0;
	return 0;
}

static int on_change(void *arg, const void *document, struct kar_err *err)
{
	const struct change *c = document;
	struct watching *w = arg;

	if (kar_streq(c->type, "ERROR")) { /* its version is too old, as a rule */
		w->rv[0] = '\0';
		return kar_fail(err, KAR_RETRY, "the watch has ended");
	}
	if (kar_streq(c->type, "DELETED"))
		w->enough |= w->what->seen(w->what->arg, NULL) != 0;
	else if (!kar_streq(c->type, "BOOKMARK"))
		return show(w, c->object.p, c->object.n, err);
	return 0;
}

static int on_bytes(void *arg, const char *bytes, size_t n)
{
	struct watching *w = arg;
	struct kar_err err = { 0 };

	if (kar_json_stream_feed(w->json, bytes, n, &err))
		w->rv[0] = '\0';
	return w->enough || !w->rv[0] ? -1 : 0;
}

static kar_time left(const struct qj *q, kar_time deadline)
{
	kar_time more = deadline - kar_loop_mono_now(q->loop);

	return deadline < 0 ? -1 : more > 0 ? more : 0;
}

/* The object as it is; gone or never there: who watches is told so. */
static int read_again(struct watching *w, bool known)
{
	struct qj *q = w->q;
	struct kar_err err = { 0 };

	if (qj_ask(q, kar_client_get(w->what->res, q->ns, w->what->name))) {
		if (q->err.what != KAR_NOTFOUND || !known)
			return -1;
		w->enough |= w->what->seen(w->what->arg, NULL) != 0;
		return 0;
	}
	if (show(w, kar_buf_cstr(&q->answer), q->answer.n, &err)) {
		q->err = err;
		return -1;
	}
	return 0;
}

static enum qj_streamed follow(struct watching *w, kar_time limit)
{
	struct kar_request r = kar_client_watch(w->what->res, w->q->ns, w->rv);
	enum qj_streamed end;

	w->json = kar_json_stream_new(&change_desc, NULL, NULL, on_change, w);
	r.field_selector = kar_arena_printf(&w->q->arena, "metadata.name=%s", w->what->name);
	end = qj_stream(w->q, r, limit, on_bytes, w);
	kar_json_stream_free(w->json);
	if (end == QJ_BROKEN)
		w->rv[0] = '\0';
	return end;
}

/* Once: reads it if it must be read, and follows its changes until that ends. */
static enum qj_streamed look(struct watching *w, bool known, kar_time limit)
{
	if (!w->rv[0] && read_again(w, known))
		return QJ_BROKEN;
	return w->enough || !w->rv[0] ? QJ_ENDED : follow(w, limit);
}

enum qj_streamed qj_watch(struct qj *q, const struct qj_watch *what, kar_time limit)
{
	kar_time deadline = limit < 0 ? -1 : kar_loop_mono_now(q->loop) + limit;
	struct watching w = { .q = q, .what = what };
	enum qj_streamed end = QJ_ENDED;
	bool known = false;

	while (!w.enough) {
		end = look(&w, known, left(q, deadline));
		if (end == QJ_BROKEN && !(known && q->err.what == KAR_RETRY) && q->err.what != KAR_GONE)
			break;
		known = true;
		if (!w.enough && end != QJ_LATE) /* also behind an event ERROR: the next may come at once */
			qj_pause(q, PAUSE);
		if (!w.enough && left(q, deadline) == 0)
			end = QJ_LATE;
		if (end == QJ_LATE)
			break;
	}
	kar_arena_release(&w.arena);
	return w.enough ? QJ_ENOUGH : end;
}

/* --- the changes of a list -------------------------------------------------------------------------- */

struct following {
	struct qj *q;
	const struct kar_desc *desc;
	qj_change_fn *seen;
	void *arg;
	struct kar_json_stream *json;
	struct kar_arena arena; /* of the last object */
};

static int on_change_of_list(void *arg, const void *document, struct kar_err *err)
{
	const struct change *c = document;
	struct following *f = arg;
	struct head head = { 0 };
	void *object;

	kar_arena_reset(&f->arena);
	if (kar_streq(c->type, "ERROR") ||
		kar_json_decode(&f->arena, &head_desc, NULL, c->object.p, c->object.n, &head, err) ||
		!kar_has_text(head.meta.resource_version)) {
		f->q->version[0] = '\0'; /* it is too old, as a rule */
		return kar_fail(err, KAR_RETRY, "the watch has ended");
	}
	if (!kar_streq(c->type, "BOOKMARK")) {
		object = kar_arena_alloc(&f->arena, 1, f->desc->size);
		if (kar_json_decode(&f->arena, f->desc, NULL, c->object.p, c->object.n, object, err) == 0)
			f->seen(f->arg, object, kar_streq(c->type, "DELETED"));
	}
	snprintf(f->q->version, sizeof(f->q->version), "%s", head.meta.resource_version);
	return 0;
}

static int on_bytes_of_list(void *arg, const char *bytes, size_t n)
{
	struct following *f = arg;
	struct kar_err err = { 0 };

	if (kar_json_stream_feed(f->json, bytes, n, &err))
		f->q->version[0] = '\0';
	return f->q->version[0] ? 0 : -1;
}

enum qj_streamed qj_watch_list(struct qj *q, const struct qj_query *query, qj_change_fn *seen, void *arg)
{
	struct following f = { .q = q, .desc = query->item, .seen = seen, .arg = arg };
	struct kar_request r = kar_client_watch(query->res, query->ns, q->version);
	enum qj_streamed end;

	r.label_selector = query->labels;
	r.field_selector = query->fields;
	f.json = kar_json_stream_new(&change_desc, NULL, NULL, on_change_of_list, &f);
	end = qj_stream(q, r, -1, on_bytes_of_list, &f);
	kar_json_stream_free(f.json);
	kar_arena_release(&f.arena);
	return end == QJ_ENOUGH ? QJ_ENDED : end;
}
