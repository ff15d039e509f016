#include "common/codec/decode_state.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/codec/decode_store.h"

enum {
	DEFAULT_DEPTH = 120, /* what kar_json_merge() can still write */
	DEFAULT_STRING = 1 << 20,
	DEFAULT_DOCUMENT = 8 << 20,
	DEFAULT_ELEMENTS = 100000,
	KEEP_RAW = 64 * 1024, /* a larger capture buffer is not kept for the next value */
};

struct kar_limits kar_limits_filled(const struct kar_limits *limits)
{
	struct kar_limits l = limits ? *limits : (struct kar_limits){ 0 };

	l.depth = l.depth ? l.depth : DEFAULT_DEPTH;
	l.string = l.string ? l.string : DEFAULT_STRING;
	l.document = l.document ? l.document : DEFAULT_DOCUMENT;
	l.elements = l.elements ? l.elements : DEFAULT_ELEMENTS;
	return l;
}

struct kar_decoder *kar_decoder_new(const struct kar_desc *desc, const struct kar_limits *limits,
	kar_each_fn *each, void *arg)
{
	struct kar_decoder *d = kar_xcalloc(1, sizeof(*d));

	d->desc = desc;
	d->limits = kar_limits_filled(limits);
	d->each = each;
	d->arg = arg;
	d->raw.cap = d->limits.document + 1;
	d->document.arena = &d->own;
	d->element.arena = &d->elem;
	d->unit = &d->document;
	return d;
}

void kar_decoder_free(struct kar_decoder *d)
{
	if (!d)
		return;
	kar_arena_release(&d->own);
	kar_arena_release(&d->elem);
	kar_buf_release(&d->raw);
	free(d->frames);
	free(d);
}

void kar_decoder_set_arena(struct kar_decoder *d, struct kar_arena *arena)
{
	assert(kar_decoder_idle(d));
	d->document.arena = arena;
}

const void *kar_decoder_root(const struct kar_decoder *d)
{
	return d->root;
}

bool kar_decoder_done(const struct kar_decoder *d)
{
	return d->done;
}

bool kar_decoder_idle(const struct kar_decoder *d)
{
	return !d->root;
}

const struct kar_err *kar_decoder_error(const struct kar_decoder *d)
{
	return &d->err;
}

void kar_decoder_reset(struct kar_decoder *d)
{
	kar_arena_reset(&d->own);
	kar_arena_reset(&d->elem);
	d->document = (struct kar_decode_unit){ .arena = d->document.arena };
	d->unit = &d->document;
	d->root = NULL;
	d->done = false;
	d->n_frames = 0;
	d->depth = 0;
	d->skip = 0;
	d->raw_out = NULL;
	d->raw_complete = false;
	kar_buf_clear(&d->raw);
}

/* --- where we are --------------------------------------------------------------------------- */

struct kar_frame *kar_decode_top(struct kar_decoder *d)
{
	return d->n_frames ? &d->frames[d->n_frames - 1] : NULL;
}

struct kar_frame *kar_decode_push(struct kar_decoder *d, enum kar_frame_kind kind,
	const struct kar_desc *desc)
{
	if (d->n_frames == d->room) {
		d->room = d->room ? 2 * d->room : 16;
		d->frames = kar_xrealloc(d->frames, d->room, sizeof(*d->frames));
	}
	struct kar_frame *f = &d->frames[d->n_frames++];

	*f = (struct kar_frame){ .kind = kind, .desc = desc };
	return f;
}

static void path_step(const struct kar_frame *f, bool first, char *out, size_t size)
{
	size_t n = strlen(out);
	char key[64 + 1];

	if (f->kind == KAR_FRAME_ARRAY || f->kind == KAR_FRAME_STREAM) {
		kar_text_printf(out + n, size - n, "[%zu]", f->index);
	} else if (f->kind == KAR_FRAME_MAP && f->key) {
		kar_text_printf(key, sizeof(key), "%s", f->key);
		kar_text_printf(out + n, size - n, "[\"%s\"]", key);
	} else if (f->kind == KAR_FRAME_OBJECT && f->field) {
		kar_text_printf(out + n, size - n, "%s%s", first ? "" : ".", f->field->name);
	}
}

/* The path from frame @first on. */
static void put_path(const struct kar_decoder *d, size_t first, char *out, size_t size)
{
	if (size == 0)
		return;
	out[0] = '\0';
	for (size_t i = first; i < d->n_frames; i++)
		path_step(&d->frames[i], out[0] == '\0', out, size);
}

void kar_decoder_path(const struct kar_decoder *d, char *out, size_t size)
{
	put_path(d, 0, out, size);
}

KAR_PRINTF(3, 0) static int vfail(struct kar_decoder *d, size_t at, const char *fmt, va_list ap)
{
	char path[200], what[160];

	kar_decoder_path(d, path, sizeof(path));
	kar_text_vprintf(what, sizeof(what), fmt, ap);
	return kar_fail(&d->err, KAR_INVALID, "%s: %s (at byte %zu)", path[0] ? path : d->desc->what, what,
		at);
}

int kar_decode_fail(struct kar_decoder *d, size_t at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfail(d, at, fmt, ap);
	va_end(ap);
	return -1;
}

/* The innermost open struct with a .problem; n_frames: none. */
static size_t find_tolerant(const struct kar_decoder *d)
{
	for (size_t i = d->n_frames; i > 0; i--) {
		const struct kar_frame *f = &d->frames[i - 1];

		if (f->kind == KAR_FRAME_OBJECT && f->desc->problem)
			return i - 1;
	}
	return d->n_frames;
}

KAR_PRINTF(3, 0) static void note_problem(struct kar_decoder *d, size_t frame, const char *fmt, va_list ap)
{
	const struct kar_frame *f = &d->frames[frame];
	const char **problem = (const char **)(void *)(f->base + f->desc->problem);
	char path[200], what[160];

	if (*problem)
		return;
	put_path(d, frame, path, sizeof(path));
	kar_text_vprintf(what, sizeof(what), fmt, ap);
	*problem = kar_arena_printf(d->unit->arena, "%s: %s", path, what);
}

int kar_decode_unreadable(struct kar_decoder *d, size_t at, const char *fmt, ...)
{
	size_t frame = find_tolerant(d);
	va_list ap;

	va_start(ap, fmt);
	if (frame < d->n_frames)
		note_problem(d, frame, fmt, ap);
	else
		vfail(d, at, fmt, ap);
	va_end(ap);
	return frame < d->n_frames ? 0 : -1;
}

int kar_decode_check_size(struct kar_decoder *d, size_t at)
{
	const struct kar_decode_unit *u = d->unit;

	if (u->before + (at - u->start) <= d->limits.document)
		return 0;
	return kar_decode_fail(d, at, "larger than %zu bytes", d->limits.document);
}

int kar_decoder_progress(struct kar_decoder *d, size_t at)
{
	return kar_decode_check_size(d, at);
}

bool kar_decode_count(struct kar_decoder *d)
{
	return ++d->unit->elements <= d->limits.elements;
}

int kar_decode_too_many(struct kar_decoder *d, size_t at)
{
	return kar_decode_unreadable(d, at, "more than %zu elements", d->limits.elements);
}

const char *kar_decode_text(struct kar_decoder *d, const char *s, size_t n, size_t at)
{
	if (n <= d->limits.string)
		return kar_store_text(d->unit->arena, s, n);
	kar_decode_fail(d, at, "string longer than %zu bytes", d->limits.string);
	return NULL;
}

/* --- raw capture ---------------------------------------------------------------------------------- */

bool kar_decoder_capturing(const struct kar_decoder *d, size_t *since)
{
	*since = d->raw_since;
	return d->raw_out;
}

/* What was captured begins after the key: white space, the colon and white space come before the value. */
static void finish_capture(struct kar_decoder *d)
{
	const char *p = d->raw.p, *end = d->raw.p + d->raw.n;

	assert(!d->raw.overflow); /* the size limit is checked first */
	while (p < end && strchr(" \t\r\n:", *p))
		p++;
	size_t n = (size_t)(end - p);

	*d->raw_out = (struct kar_str){ .p = kar_arena_strndup(d->unit->arena, p, n), .n = n };
	d->raw_out = NULL;
	d->raw_complete = false;
	kar_buf_clear(&d->raw);
	if (d->raw.room > KEEP_RAW)
		kar_buf_release(&d->raw);
}

void kar_decoder_capture(struct kar_decoder *d, const char *bytes, size_t n)
{
	kar_buf_append(&d->raw, bytes, n);
	d->raw_since += n;
	if (d->raw_complete)
		finish_capture(d);
}
