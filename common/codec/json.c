#include "common/codec/json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

#include "common/base/utf8.h"
#include "common/codec/json_events.h"

enum { RECYCLE_ABOVE = 64 * 1024 }; /* yajl's buffers never shrink: a handle that read more is replaced */

/* --- yajl as a source of events ------------------------------------------------------------------ */

/* One yajl handle and where it is. Offsets count from the start of the document being read. */
struct parser {
	yajl_handle h;
	const struct kar_json_events *events;
	void *arg;
	size_t base; /* offset of the current chunk; wraps below 0 when a document starts inside the chunk */
};

enum outcome { READ_ALL, STOPPED, MALFORMED };

/* yajl does not check the results of its allocations. */
static void *alloc_bytes(void *ctx, size_t n)
{
	(void)ctx;
	return kar_xmalloc(n);
}

static void *realloc_bytes(void *ctx, void *p, size_t n)
{
	(void)ctx;
	return kar_xrealloc(p, n, 1);
}

static void free_bytes(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static yajl_alloc_funcs allocators = { .malloc = alloc_bytes, .realloc = realloc_bytes, .free = free_bytes };

/* Offset just after the current token: within callbacks yajl has counted the token already. */
static size_t offset(const struct parser *p)
{
	return p->base + yajl_get_bytes_consumed(p->h);
}

static int on_null(void *ctx)
{
	struct parser *p = ctx;

	return p->events->null(p->arg, offset(p)) == 0;
}

static int on_boolean(void *ctx, int value)
{
	struct parser *p = ctx;

	return p->events->boolean(p->arg, value, offset(p)) == 0;
}

static int on_number(void *ctx, const char *s, size_t n)
{
	struct parser *p = ctx;

	return p->events->number(p->arg, s, n, offset(p)) == 0;
}

static int on_string(void *ctx, const unsigned char *s, size_t n)
{
	struct parser *p = ctx;

	return p->events->string(p->arg, (const char *)s, n, offset(p)) == 0;
}

static int on_key(void *ctx, const unsigned char *s, size_t n)
{
	struct parser *p = ctx;

	return p->events->key(p->arg, (const char *)s, n, offset(p)) == 0;
}

static int on_begin_object(void *ctx)
{
	struct parser *p = ctx;

	return p->events->begin(p->arg, false, offset(p)) == 0;
}

static int on_begin_array(void *ctx)
{
	struct parser *p = ctx;

	return p->events->begin(p->arg, true, offset(p)) == 0;
}

static int on_end(void *ctx)
{
	struct parser *p = ctx;

	return p->events->end(p->arg, offset(p)) == 0;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_begin_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_begin_array,
	.yajl_end_array = on_end,
};

static void parser_init(struct parser *p, const struct kar_json_events *events, void *arg)
{
	*p = (struct parser){ .events = events, .arg = arg };
	p->h = yajl_alloc(&callbacks, &allocators, p);
	yajl_config(p->h, yajl_allow_multiple_values, 1);
	/* Its UTF-8 check lets overlong forms and surrogates through; what is stored is mended instead. */
	yajl_config(p->h, yajl_dont_validate_strings, 1);
}

/* yajl takes \v and \f for white space, JSON does not: it gets a byte in the place of the first one that it refuses. */
static yajl_status scan(struct parser *p, const char *bytes, size_t n)
{
	const char *v = memchr(bytes, '\v', n), *f = memchr(bytes, '\f', v ? (size_t)(v - bytes) : n);
	size_t clean = f ? (size_t)(f - bytes) : v ? (size_t)(v - bytes) : n;

	if (clean == n)
		return yajl_parse(p->h, (const unsigned char *)bytes, n);
	char *copy = kar_xmalloc(clean + 1);

	memcpy(copy, bytes, clean);
	copy[clean] = '\x01';
	yajl_status status = yajl_parse(p->h, (const unsigned char *)copy, clean + 1);

	free(copy);
	return status;
}

static enum outcome parse(struct parser *p, const char *bytes, size_t n)
{
	switch (scan(p, bytes, n)) {
	case yajl_status_ok:
		p->base += n;
		return READ_ALL;
	case yajl_status_client_canceled:
		return STOPPED;
	default:
		return MALFORMED;
	}
}

/* Raises "path: not JSON: lexical error: invalid char in json text (at byte 0)". Always -1. */
static int fail_malformed(struct parser *p, const char *path, struct kar_err *err)
{
	unsigned char *text = yajl_get_error(p->h, 0, NULL, 0);

	kar_fail(err, KAR_INVALID, "%s%snot JSON: %.*s (at byte %zu)", path, path[0] ? ": " : "",
		(int)strcspn((const char *)text, ".\n"), (const char *)text, offset(p));
	yajl_free_error(p->h, text);
	return -1;
}

int kar_json_read(const char *text, size_t n, const struct kar_json_events *events, void *arg,
	struct kar_err *err)
{
	struct parser p;
	int rc = -1;

	parser_init(&p, events, arg);
	enum outcome o = parse(&p, text, n);

	if (o == READ_ALL)
		o = parse(&p, " ", 1); /* a number ends at the byte after it */
	if (o == READ_ALL)
		rc = 0;
	else if (o == MALFORMED)
		fail_malformed(&p, "", err);
	yajl_free(p.h);
	return rc;
}

/* --- a stream of documents into a decoder --------------------------------------------------------- */

struct kar_json_stream {
	struct parser p;
	struct kar_decoder *d;
	kar_each_fn *document;
	void *arg;
	const char *chunk; /* being read */
	size_t tail;       /* where in it the last document ended */
	bool pending; /* between documents, but the beginning of a scalar has been seen (an error, in time) */
	bool recycle; /* a large document has been read */
	struct kar_err err; /* raised by .document */
};

/* A running raw capture gets all bytes up to @at. */
static void give_raw(struct kar_json_stream *s, size_t at)
{
	size_t since;

	if (kar_decoder_capturing(s->d, &since))
		kar_decoder_capture(s->d, s->chunk + (since - s->p.base), at - since);
}

static int finish_document(struct kar_json_stream *s, size_t at)
{
	int rc = s->document ? s->document(s->arg, kar_decoder_root(s->d), &s->err) : 0;

	kar_decoder_reset(s->d);
	s->tail = at - s->p.base;
	s->p.base -= at;
	s->recycle |= at > RECYCLE_ABOVE;
	return rc;
}

static int stream_begin(void *arg, bool is_array, size_t at)
{
	struct kar_json_stream *s = arg;

	return kar_decoder_begin(s->d, is_array, at);
}

static int stream_end(void *arg, size_t at)
{
	struct kar_json_stream *s = arg;

	if (kar_decoder_end(s->d, at))
		return -1;
	give_raw(s, at);
	return kar_decoder_done(s->d) ? finish_document(s, at) : 0;
}

static int stream_key(void *arg, const char *key, size_t n, size_t at)
{
	struct kar_json_stream *s = arg;

	return kar_decoder_key(s->d, key, n, at);
}

static int stream_string(void *arg, const char *text, size_t n, size_t at)
{
	struct kar_json_stream *s = arg;
	int rc = kar_decoder_string(s->d, text, n, at);

	give_raw(s, at);
	return rc;
}

static int stream_number(void *arg, const char *text, size_t n, size_t at)
{
	struct kar_json_stream *s = arg;
	int rc = kar_decoder_number(s->d, text, n, at);

	give_raw(s, at);
	return rc;
}

static int stream_boolean(void *arg, bool value, size_t at)
{
	struct kar_json_stream *s = arg;
	int rc = kar_decoder_bool(s->d, value, at);

	give_raw(s, at);
	return rc;
}

static int stream_null(void *arg, size_t at)
{
	struct kar_json_stream *s = arg;
	int rc = kar_decoder_null(s->d, at);

	give_raw(s, at);
	return rc;
}

static const struct kar_json_events stream_events = {
	.begin = stream_begin,
	.end = stream_end,
	.key = stream_key,
	.string = stream_string,
	.number = stream_number,
	.boolean = stream_boolean,
	.null = stream_null,
};

struct kar_json_stream *kar_json_stream_new(const struct kar_desc *desc, const struct kar_limits *limits,
	kar_each_fn *each, kar_each_fn *document, void *arg)
{
	struct kar_json_stream *s = kar_xcalloc(1, sizeof(*s));

	s->d = kar_decoder_new(desc, limits, each, arg);
	s->document = document;
	s->arg = arg;
	parser_init(&s->p, &stream_events, s);
	return s;
}

void kar_json_stream_free(struct kar_json_stream *s)
{
	if (!s)
		return;
	yajl_free(s->p.h);
	kar_decoder_free(s->d);
	free(s);
}

bool kar_json_stream_idle(const struct kar_json_stream *s)
{
	return kar_decoder_idle(s->d) && !s->pending;
}

static int fail_stream(struct kar_json_stream *s, enum outcome o, struct kar_err *err)
{
	char path[200];

	if (o == MALFORMED) {
		kar_decoder_path(s->d, path, sizeof(path));
		return fail_malformed(&s->p, path, err);
	}
	if (err)
		*err = s->err.what ? s->err : *kar_decoder_error(s->d);
	return -1;
}

static bool blank(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!memchr(" \t\r\n", s[i], 4))
			return false;
	}
	return true;
}

/* What a chunk leaves behind: bytes of a running capture, a token in the making, or a handle to replace. */
static int end_chunk(struct kar_json_stream *s, const char *bytes, size_t n)
{
	size_t at = s->p.base, since;

	if (kar_decoder_capturing(s->d, &since))
		kar_decoder_capture(s->d, bytes + n - (at - since), at - since);
	if (kar_decoder_idle(s->d) && !blank(bytes + s->tail, n - s->tail))
		s->pending = true;
	if (kar_decoder_progress(s->d, at))
		return -1;
	if (s->recycle && kar_json_stream_idle(s)) {
		yajl_free(s->p.h);
		parser_init(&s->p, &stream_events, s);
		s->recycle = false;
	}
	return 0;
}

int kar_json_stream_feed(struct kar_json_stream *s, const char *bytes, size_t n, struct kar_err *err)
{
	s->chunk = bytes;
	s->tail = 0;
	enum outcome o = parse(&s->p, bytes, n);

	if (o == READ_ALL && end_chunk(s, bytes, n))
		o = STOPPED;
	return o == READ_ALL ? 0 : fail_stream(s, o, err);
}

int kar_json_stream_finish(struct kar_json_stream *s, struct kar_err *err)
{
	char path[200];

	if (kar_json_stream_idle(s))
		return 0;
	size_t end = s->p.base;

	if (kar_json_stream_feed(s, " ", 1, err)) /* a number ends at the byte after it */
		return -1;
	kar_decoder_path(s->d, path, sizeof(path));
	return kar_fail(err, KAR_INVALID, "%s%struncated JSON (at byte %zu)", path, path[0] ? ": " : "", end);
}

/* --- one document ---------------------------------------------------------------------------------- */

static int keep_document(void *arg, const void *document, struct kar_err *err)
{
	const void **kept = arg;

	if (*kept)
		return kar_fail(err, KAR_INVALID, "more than one JSON document");
	*kept = document; /* it lives in the caller's arena */
	return 0;
}

int kar_json_decode(struct kar_arena *arena, const struct kar_desc *desc, const struct kar_limits *limits,
	const char *text, size_t n, void *out, struct kar_err *err)
{
	const void *document = NULL;
	struct kar_json_stream *s = kar_json_stream_new(desc, limits, NULL, keep_document, &document);

	kar_decoder_set_arena(s->d, arena);
	int rc = kar_json_stream_feed(s, text, n, err);

	if (rc == 0)
		rc = kar_json_stream_finish(s, err);
	if (rc == 0 && document)
		memcpy(out, document, desc->size);
	else if (rc == 0)
		rc = kar_fail(err, KAR_INVALID, "%s: empty, want a JSON object", desc->what);
	kar_json_stream_free(s);
	return rc;
}

/* --- writer ---------------------------------------------------------------------------------------- */

static void print(void *ctx, const char *s, size_t n)
{
	kar_buf_append(ctx, s, n);
}

/* Anything but "ok" is misuse: a value where a key belongs, too many ends, deeper than 127 levels. */
static void check(yajl_gen_status status)
{
	assert(status == yajl_gen_status_ok);
	(void)status;
}

void kar_json_writer_init(struct kar_json_writer *w, struct kar_buf *out)
{
	w->out = out;
	w->gen = yajl_gen_alloc(&allocators);
	yajl_gen_config(w->gen, yajl_gen_print_callback, print, out);
}

void kar_json_writer_release(struct kar_json_writer *w)
{
	if (w->gen)
		yajl_gen_free(w->gen);
	w->gen = NULL;
}

void kar_jw_begin_object(struct kar_json_writer *w)
{
	check(yajl_gen_map_open(w->gen));
}

void kar_jw_end_object(struct kar_json_writer *w)
{
	check(yajl_gen_map_close(w->gen));
}

void kar_jw_begin_array(struct kar_json_writer *w)
{
	check(yajl_gen_array_open(w->gen));
}

void kar_jw_end_array(struct kar_json_writer *w)
{
	check(yajl_gen_array_close(w->gen));
}

void kar_jw_string_n(struct kar_json_writer *w, const char *s, size_t n)
{
	if (kar_utf8_clean(s, n) == n) {
		check(yajl_gen_string(w->gen, (const unsigned char *)s, n));
		return;
	}
	size_t len = kar_utf8_mended_len(s, n);
	char *mended = kar_xmalloc(len);

	kar_utf8_mend(mended, s, n);
	check(yajl_gen_string(w->gen, (const unsigned char *)mended, len));
	free(mended);
}

void kar_jw_int(struct kar_json_writer *w, int64_t v)
{
	check(yajl_gen_integer(w->gen, v));
}

void kar_jw_bool(struct kar_json_writer *w, bool v)
{
	check(yajl_gen_bool(w->gen, v));
}

void kar_jw_null(struct kar_json_writer *w)
{
	check(yajl_gen_null(w->gen));
}

void kar_jw_raw(struct kar_json_writer *w, struct kar_str value)
{
	check(yajl_gen_number(w->gen, value.p, value.n)); /* yajl prints the bytes of a number as they are */
}
