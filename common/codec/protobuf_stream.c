/*
 * Cuts a stream into what must be in memory at once: a frame, or one field of the list or of its envelope. Units that lie
 * within one chunk are read where they are; of others the beginning is kept until the rest has come.
 */
#include "common/codec/protobuf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "common/base/buf.h"
#include "common/codec/protobuf_impl.h"

enum {
	FRAME_HEADER = 4,       /* length, big endian */
	KEEP_PARTIAL = 1 << 16, /* a larger buffer is not kept for the next unit */
	SPARE = 64,             /* above the limit on a unit: its header */
};

/* What comes next. */
enum where { AT_FRAME, AT_MAGIC, IN_ENVELOPE, IN_LIST, BEHIND_LIST };

struct kar_protobuf_stream {
	const struct kar_desc *desc;
	struct kar_limits limits;
	kar_each_fn *each, *document;
	void *arg;
	struct kar_arena own, elem;
	void *root;
	enum where where;
	size_t at;              /* bytes of all units before this one */
	uint64_t left;          /* IN_LIST: bytes of the list still to come */
	size_t outside;         /* bytes outside of elements so far */
	size_t index;           /* elements so far */
	struct kar_buf partial; /* the beginning of this unit */
	size_t need;            /* bytes that it must have before it can be looked at again */
};

static struct kar_pb_reader reader_of(const struct kar_protobuf_stream *s, struct kar_arena *arena,
	const char *p, struct kar_err *err)
{
	return (struct kar_pb_reader){ .arena = arena,
		.limits = &s->limits,
		.what = s->desc->what,
		.bytes = p,
		.at = s->at,
		.err = err };
}

static int fail(const struct kar_protobuf_stream *s, struct kar_err *err, const char *problem)
{
	return kar_fail(err, KAR_INVALID, "%s: %s (at byte %zu)", s->desc->what, problem, s->at);
}

static int fail_size(const struct kar_protobuf_stream *s, struct kar_err *err)
{
	return kar_fail(err, KAR_INVALID, "%s: larger than %zu bytes (at byte %zu)", s->desc->what,
		s->limits.document, s->at);
}

/* --- units: each returns the bytes it took, 0 if it needs `need` bytes first, or -1 ------------------ */

static ssize_t wait_for(struct kar_protobuf_stream *s, size_t need)
{
	s->need = need;
	return 0;
}

static int finish_document(struct kar_protobuf_stream *s, struct kar_err *err)
{
	int rc = s->document ? s->document(s->arg, s->root, err) : 0;

	kar_arena_reset(&s->own);
	s->root = kar_arena_alloc(&s->own, 1, s->desc->size);
	return rc;
}

static ssize_t take_frame(struct kar_protobuf_stream *s, const char *p, size_t n, struct kar_err *err)
{
	struct kar_pb_reader r = reader_of(s, &s->own, p, err);
	size_t length = 0;

	if (n < FRAME_HEADER)
		return wait_for(s, FRAME_HEADER);
	for (size_t i = 0; i < FRAME_HEADER; i++)
		length = length << 8 | (unsigned char)p[i];
	if (length > s->limits.document)
		return fail_size(s, err);
	if (n < FRAME_HEADER + length)
		return wait_for(s, FRAME_HEADER + length);
	if (kar_pb_message(&r, s->desc, s->root, (struct kar_str){ p + FRAME_HEADER, length }) ||
		finish_document(s, err))
		return -1;
	return (ssize_t)(FRAME_HEADER + length);
}

static ssize_t take_magic(struct kar_protobuf_stream *s, const char *p, size_t n, struct kar_err *err)
{
	if (n < sizeof(KAR_PB_MAGIC))
		return wait_for(s, sizeof(KAR_PB_MAGIC));
	if (memcmp(p, KAR_PB_MAGIC, sizeof(KAR_PB_MAGIC)) != 0)
		return fail(s, err, "not Kubernetes protobuf");
	s->where = IN_ENVELOPE;
	return sizeof(KAR_PB_MAGIC);
}

static int hand_out(struct kar_protobuf_stream *s, const struct kar_field *field, const char *p,
	const struct kar_pb_field *f, struct kar_err *err)
{
	const struct kar_pb_place place = { .field = field, .index = s->index++ };
	struct kar_pb_reader r = reader_of(s, &s->elem, p, err);
	void *elem = kar_arena_alloc(&s->elem, 1, field->sub->size);

	r.place = &place;
	int rc = kar_pb_message(&r, field->sub, elem, f->bytes);

	if (rc == 0 && s->each)
		rc = s->each(s->arg, elem, err);
	kar_arena_reset(&s->elem);
	return rc;
}

/* A complete field of the list or of its envelope, whose first byte is at @p. */
static int store_field(struct kar_protobuf_stream *s, const char *p, const struct kar_pb_field *f,
	struct kar_err *err)
{
	const struct kar_field *field = kar_pb_find(s->desc, f->number);
	struct kar_pb_reader r = reader_of(s, &s->own, p, err);

	if (s->where == IN_LIST && field && field->type == KAR_F_STREAM && f->wire == KAR_PB_BYTES)
		return hand_out(s, field, p, f, err);
	s->outside += (size_t)(f->bytes.p + f->bytes.n - p);
	if (s->outside > s->limits.document)
		return fail_size(s, err);
	return s->where == IN_LIST ? kar_pb_store(&r, s->desc, s->root, f)
				   : kar_pb_store_envelope(&r, s->desc, s->root, f);
}

/* @n bytes of the list have been taken. */
static int count_down(struct kar_protobuf_stream *s, size_t n, struct kar_err *err)
{
	if (s->where != IN_LIST)
		return 0;
	s->left -= n;
	if (s->left)
		return 0;
	s->where = BEHIND_LIST;
	return finish_document(s, err);
}

/* The list itself is a field of its envelope that is entered, not read. */
static ssize_t enter_list(struct kar_protobuf_stream *s, size_t header, const struct kar_pb_field *f,
	struct kar_err *err)
{
	if (s->where == BEHIND_LIST)
		return fail(s, err, "a second object");
	s->left = f->payload;
	s->where = IN_LIST;
	return count_down(s, 0, err) ? -1 : (ssize_t)header;
}

static ssize_t take_field(struct kar_protobuf_stream *s, const char *p, size_t n, struct kar_err *err)
{
	size_t seen = s->where == IN_LIST && s->left < n ? (size_t)s->left : n;
	const char *problem = "truncated";
	struct kar_pb_field f;
	int used = kar_pb_header(p, seen, &f, &problem);
	size_t header = used > 0 ? (size_t)used : 0;

	if (used < 0 || (used == 0 && seen < n))
		return fail(s, err, problem);
	if (used == 0)
		return wait_for(s, n + 1);
	if (s->where == IN_LIST && f.payload > s->left - header)
		return fail(s, err, problem);
	if (s->where != IN_LIST && f.number == KAR_PB_RAW && f.wire == KAR_PB_BYTES)
		return enter_list(s, header, &f, err);
	if (f.payload > s->limits.document)
		return fail_size(s, err);
	if (n < header + f.payload)
		return wait_for(s, header + (size_t)f.payload);
	f.bytes = (struct kar_str){ p + header, (size_t)f.payload };
	if (store_field(s, p, &f, err) || count_down(s, header + f.bytes.n, err))
		return -1;
	return (ssize_t)(header + f.bytes.n);
}

static ssize_t take(struct kar_protobuf_stream *s, const char *p, size_t n, struct kar_err *err)
{
	ssize_t used;

	s->need = 0;
	if (s->where == AT_FRAME)
		used = take_frame(s, p, n, err);
	else if (s->where == AT_MAGIC)
		used = take_magic(s, p, n, err);
	else
		used = take_field(s, p, n, err);
	if (used > 0)
		s->at += (size_t)used;
	return used;
}

/* --- chunks ------------------------------------------------------------------------------------------ */

/* Adds to the unit begun earlier what it needs, no more. Returns the bytes of the chunk used, or -1. */
static ssize_t feed_partial(struct kar_protobuf_stream *s, const char *bytes, size_t n, struct kar_err *err)
{
	size_t missing = s->need - s->partial.n;
	size_t used = missing < n ? missing : n;

	kar_buf_append(&s->partial, bytes, used);
	if (s->partial.n < s->need)
		return (ssize_t)used;
	ssize_t taken = take(s, s->partial.p, s->partial.n, err);

	if (taken < 0)
		return -1;
	assert(taken == 0 || taken == (ssize_t)s->partial.n);
	if (taken) {
		kar_buf_clear(&s->partial);
		if (s->partial.room > KEEP_PARTIAL)
			kar_buf_release(&s->partial);
	}
	return (ssize_t)used;
}

int kar_protobuf_stream_feed(struct kar_protobuf_stream *s, const char *bytes, size_t n, struct kar_err *err)
{
	while (n) {
		ssize_t used = s->partial.n ? feed_partial(s, bytes, n, err) : take(s, bytes, n, err);

		if (used < 0)
			return -1;
		if (used == 0) { /* it needs more than there is */
			kar_buf_append(&s->partial, bytes, n);
			return 0;
		}
		bytes += used;
		n -= (size_t)used;
	}
	return 0;
}

int kar_protobuf_stream_finish(const struct kar_protobuf_stream *s, struct kar_err *err)
{
	bool between = s->where == AT_FRAME || s->where == AT_MAGIC || s->where == BEHIND_LIST;

	if (between && s->partial.n == 0)
		return 0;
	return kar_fail(err, KAR_INVALID, "%s: truncated protobuf (at byte %zu)", s->desc->what,
		s->at + s->partial.n);
}

struct kar_protobuf_stream *kar_protobuf_stream_new(const struct kar_desc *desc,
	const struct kar_limits *limits, enum kar_protobuf_framing framing, kar_each_fn *each,
	kar_each_fn *document, void *arg)
{
	struct kar_protobuf_stream *s = kar_xcalloc(1, sizeof(*s));

	s->desc = desc;
	s->limits = kar_limits_filled(limits);
	s->each = each;
	s->document = document;
	s->arg = arg;
	s->where = framing == KAR_PROTOBUF_FRAMES ? AT_FRAME : AT_MAGIC;
	s->root = kar_arena_alloc(&s->own, 1, desc->size);
	s->partial.cap = s->limits.document + SPARE;
	return s;
}

void kar_protobuf_stream_free(struct kar_protobuf_stream *s)
{
	if (!s)
		return;
	kar_arena_release(&s->own);
	kar_arena_release(&s->elem);
	kar_buf_release(&s->partial);
	free(s);
}
