#include "common/codec/decode.h"

#include <assert.h>
#include <string.h>

#include "common/codec/decode_state.h"
#include "common/codec/decode_store.h"

/* A value of the wrong type for @field: an error, or nothing if the member is lenient. */
static int mismatch(struct kar_decoder *d, const struct kar_field *field, const char *want, const char *got,
	size_t at)
{
	if (field->lenient)
		return 0;
	return kar_decode_unreadable(d, at, "want %s, got %s", want, got);
}

static const char *bracket_name(bool is_array)
{
	return is_array ? "an array" : "an object";
}

/* --- brackets --------------------------------------------------------------------------------- */

static int skip_mismatch(struct kar_decoder *d, const struct kar_field *field, const char *want,
	bool is_array, size_t at)
{
	d->skip = 1;
	return mismatch(d, field, want, bracket_name(is_array), at);
}

static int skip_too_many(struct kar_decoder *d, size_t at)
{
	d->skip = 1;
	return kar_decode_too_many(d, at);
}

static void open_struct(struct kar_decoder *d, const struct kar_desc *desc, void *base)
{
	kar_decode_push(d, KAR_FRAME_OBJECT, desc)->base = base;
}

static int open_root(struct kar_decoder *d, bool is_array, size_t at)
{
	assert(!d->done); /* the parser resets between documents */
	d->unit->start = at - 1;
	if (is_array)
		return kar_decode_fail(d, at, "want an object, got an array");
	d->root = kar_arena_alloc(d->unit->arena, 1, d->desc->size);
	open_struct(d, d->desc, d->root);
	return 0;
}

/* The table for an object in a KAR_F_OBJECT_PTR or KAR_F_SELECT member; NULL: not wanted. */
static const struct kar_desc *pointee(const struct kar_frame *f)
{
	const struct kar_desc *chosen = f->field->type == KAR_F_SELECT ? f->field->select(f->base) : NULL;

	return chosen ? chosen : f->field->sub;
}

static void open_pointer(struct kar_decoder *d, const struct kar_field *field, char *base,
	const struct kar_desc *desc)
{
	void *object = kar_arena_alloc(d->unit->arena, 1, desc->size);

	*(void **)(void *)(base + field->offset) = object;
	open_struct(d, desc, object);
}

static enum kar_frame_kind list_kind(enum kar_field_type type)
{
	if (type == KAR_F_ARRAY)
		return KAR_FRAME_ARRAY;
	return type == KAR_F_MAP ? KAR_FRAME_MAP : KAR_FRAME_STREAM;
}

static void open_list(struct kar_decoder *d, const struct kar_field *field, void *member)
{
	struct kar_frame *f = kar_decode_push(d, list_kind(field->type), field->sub);

	f->field = field;
	f->array = member;
}

static int open_member(struct kar_decoder *d, struct kar_frame *f, bool is_array, size_t at)
{
	const struct kar_field *field = f->field;
	char *base = f->base; /* @f goes stale with the next frame */
	bool pointer = field && (field->type == KAR_F_OBJECT_PTR || field->type == KAR_F_SELECT);
	const struct kar_desc *desc = pointer ? pointee(f) : NULL;

	if (!field || (pointer && !desc)) {
		d->skip = 1;
		return 0;
	}
	if (pointer && !kar_decode_count(d)) /* duplicate keys must not multiply structs without bound */
		return skip_too_many(d, at);
	if (field->type == KAR_F_RAW)
		d->skip = 1;
	else if (!kar_store_accepts_bracket(field->type, is_array))
		return skip_mismatch(d, field, kar_store_want(field->type), is_array, at);
	else if (pointer)
		open_pointer(d, field, base, desc);
	else if (field->type == KAR_F_OBJECT)
		open_struct(d, field->sub, base + field->offset);
	else
		open_list(d, field, base + field->offset);
	kar_store_present(field, base);
	return 0;
}

static void *append(struct kar_decoder *d, struct kar_array *a, size_t size)
{
	a->items = kar_arena_grow(d->unit->arena, a->items, a->n, size);
	return (char *)a->items + a->n++ * size;
}

static int open_element(struct kar_decoder *d, struct kar_frame *f, bool is_array, size_t at)
{
	if (is_array || !f->desc)
		return skip_mismatch(d, f->field, f->desc ? "an object" : "a string", is_array, at);
	if (!kar_decode_count(d))
		return skip_too_many(d, at);
	const struct kar_desc *desc = f->desc;

	open_struct(d, desc, append(d, f->array, desc->size)); /* @f is stale from here */
	return 0;
}

static int open_stream_element(struct kar_decoder *d, struct kar_frame *f, bool is_array, size_t at)
{
	if (is_array)
		return skip_mismatch(d, f->field, "an object", is_array, at);
	assert(d->unit == &d->document); /* streams do not nest */
	d->document.before += at - 1 - d->document.start;
	d->element = (struct kar_decode_unit){ .arena = &d->elem, .start = at - 1, .depth = d->depth - 1 };
	d->unit = &d->element;
	open_struct(d, f->desc, kar_arena_alloc(&d->elem, 1, f->desc->size));
	return 0;
}

int kar_decoder_begin(struct kar_decoder *d, bool is_array, size_t at)
{
	struct kar_frame *f = kar_decode_top(d);

	if (++d->depth - d->unit->depth > d->limits.depth)
		return kar_decode_fail(d, at, "nested deeper than %zu levels", d->limits.depth);
	if (d->skip) {
		d->skip++;
		return 0;
	}
	if (!f)
		return open_root(d, is_array, at);
	switch (f->kind) {
	case KAR_FRAME_OBJECT:
		return open_member(d, f, is_array, at);
	case KAR_FRAME_ARRAY:
		return open_element(d, f, is_array, at);
	case KAR_FRAME_STREAM:
		return open_stream_element(d, f, is_array, at);
	case KAR_FRAME_MAP:
		return skip_mismatch(d, f->field, kar_store_want(KAR_F_SCALAR), is_array, at);
	}
	return -1;
}

/* A value is complete: move on in the surrounding array. */
static void value_done(struct kar_frame *f)
{
	if (f && (f->kind == KAR_FRAME_ARRAY || f->kind == KAR_FRAME_STREAM))
		f->index++;
}

static int end_skipped(struct kar_decoder *d, size_t at)
{
	if (--d->skip)
		return 0;
	d->raw_complete = d->raw_out != NULL;
	value_done(kar_decode_top(d));
	return kar_decode_check_size(d, at);
}

static int hand_out(struct kar_decoder *d, const void *elem, size_t at)
{
	int rc = d->each ? d->each(d->arg, elem, &d->err) : 0;

	kar_arena_reset(&d->elem);
	d->unit = &d->document;
	d->document.start = at;
	return rc;
}

int kar_decoder_end(struct kar_decoder *d, size_t at)
{
	d->depth--;
	if (d->skip)
		return end_skipped(d, at);
	if (kar_decode_check_size(d, at))
		return -1;
	struct kar_frame closed = d->frames[--d->n_frames];
	struct kar_frame *f = kar_decode_top(d);
	int rc = 0;

	if (closed.kind == KAR_FRAME_MAP)
		kar_store_drop_duplicates(closed.array);
	if (!f)
		d->done = true;
	else if (f->kind == KAR_FRAME_STREAM)
		rc = hand_out(d, closed.base, at);
	value_done(f);
	return rc;
}

/* --- keys and scalars --------------------------------------------------------------------------- */

static const struct kar_field *find_field(struct kar_frame *f, const char *s, size_t n)
{
	const struct kar_field *fields = f->desc->fields;
	size_t count = f->desc->n_fields;

	for (size_t i = 0, j = f->hint; n > 0 && i < count; i++, j++) {
		if (j >= count)
			j = 0;
		const char *name = fields[j].name;

		if (name[0] == s[0] && strlen(name) == n && memcmp(name, s, n) == 0) {
			f->hint = j + 1;
			return &fields[j];
		}
	}
	return NULL;
}

int kar_decoder_key(struct kar_decoder *d, const char *s, size_t n, size_t at)
{
	struct kar_frame *f = kar_decode_top(d);

	if (d->skip)
		return 0;
	if (f->kind == KAR_FRAME_MAP) {
		f->key = kar_decode_text(d, s, n, at);
		return f->key ? 0 : -1;
	}
	f->field = find_field(f, s, n);
	if (!f->field)
		return 0;
	kar_store_clear(f->field, f->base); /* of duplicate keys the last one wins */
	if (f->field->type == KAR_F_RAW) {
		d->raw_out = (struct kar_str *)(void *)(f->base + f->field->offset);
		d->raw_since = at;
	}
	return 0;
}

static int store_raw(struct kar_decoder *d, const struct kar_frame *f, const struct kar_scalar *v)
{
	if (v->kind == KAR_SCALAR_NULL) {
		d->raw_out = NULL;
		kar_buf_clear(&d->raw);
		return 0;
	}
	d->raw_complete = true;
	kar_store_present(f->field, f->base);
	return 0;
}

static int store_member(struct kar_decoder *d, struct kar_frame *f, const struct kar_scalar *v, size_t at)
{
	const struct kar_field *field = f->field;
	const char *text = NULL;

	if (!field)
		return 0;
	if (field->type == KAR_F_RAW)
		return store_raw(d, f, v);
	if (v->kind == KAR_SCALAR_NULL || (field->type == KAR_F_SELECT && !pointee(f)))
		return 0;
	if (!kar_store_accepts(field->type, v->kind))
		return mismatch(d, field, kar_store_want(field->type), kar_scalar_name(v->kind), at);
	if (field->type == KAR_F_STRING || field->type == KAR_F_SCALAR) {
		text = kar_decode_text(d, v->s, v->n, at);
		if (!text)
			return -1;
	}
	const char *problem = kar_store_scalar(field, f->base, v, text);

	if (problem)
		return field->lenient ? 0 : kar_decode_unreadable(d, at, "%s", problem);
	kar_store_present(field, f->base);
	return 0;
}

/* null in an array of strings or structs is their zero value, as in Go. */
static int store_element(struct kar_decoder *d, struct kar_frame *f, const struct kar_scalar *v, size_t at)
{
	bool null = v->kind == KAR_SCALAR_NULL;

	if (!null && (f->desc || v->kind != KAR_SCALAR_STRING))
		return mismatch(d, f->field, f->desc ? "an object" : "a string", kar_scalar_name(v->kind),
			at);
	if (!kar_decode_count(d))
		return kar_decode_too_many(d, at);
	if (f->desc) {
		memset(append(d, f->array, f->desc->size), 0, f->desc->size);
		return 0;
	}
	const char *text = null ? "" : kar_decode_text(d, v->s, v->n, at);

	if (!text)
		return -1;
	*(const char **)append(d, f->array, sizeof(text)) = text;
	return 0;
}

static int store_pair(struct kar_decoder *d, struct kar_frame *f, const struct kar_scalar *v, size_t at)
{
	if (v->kind == KAR_SCALAR_NULL)
		return 0;
	if (!kar_store_accepts(KAR_F_SCALAR, v->kind))
		return mismatch(d, f->field, kar_store_want(KAR_F_SCALAR), kar_scalar_name(v->kind), at);
	const char *text = kar_decode_text(d, v->s, v->n, at);

	if (!text)
		return -1;
	if (!kar_decode_count(d))
		return kar_decode_too_many(d, at);
	*(struct kar_pair *)append(d, f->array, sizeof(struct kar_pair)) =
		(struct kar_pair){ .key = f->key, .value = text };
	return 0;
}

static int store(struct kar_decoder *d, const struct kar_scalar *v, size_t at)
{
	struct kar_frame *f = kar_decode_top(d);
	int rc = 0;

	if (d->skip)
		return 0;
	if (!f)
		return kar_decode_fail(d, at, "want an object, got %s", kar_scalar_name(v->kind));
	if (kar_decode_check_size(d, at))
		return -1;
	switch (f->kind) {
	case KAR_FRAME_OBJECT:
		rc = store_member(d, f, v, at);
		break;
	case KAR_FRAME_ARRAY:
		rc = store_element(d, f, v, at);
		break;
	case KAR_FRAME_MAP:
		rc = store_pair(d, f, v, at);
		break;
	case KAR_FRAME_STREAM:
		if (v->kind != KAR_SCALAR_NULL)
			rc = mismatch(d, f->field, "an object", kar_scalar_name(v->kind), at);
		break;
	}
	value_done(f);
	return rc;
}

int kar_decoder_string(struct kar_decoder *d, const char *s, size_t n, size_t at)
{
	return store(d, &(struct kar_scalar){ .kind = KAR_SCALAR_STRING, .s = s, .n = n }, at);
}

int kar_decoder_number(struct kar_decoder *d, const char *s, size_t n, size_t at)
{
	return store(d, &(struct kar_scalar){ .kind = KAR_SCALAR_NUMBER, .s = s, .n = n }, at);
}

int kar_decoder_bool(struct kar_decoder *d, bool value, size_t at)
{
	return store(d, &(struct kar_scalar){ .kind = KAR_SCALAR_BOOL, .b = value }, at);
}

int kar_decoder_null(struct kar_decoder *d, size_t at)
{
	return store(d, &(struct kar_scalar){ .kind = KAR_SCALAR_NULL }, at);
}
