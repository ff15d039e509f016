#include "common/codec/protobuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/codec/decode_store.h"
#include "common/codec/protobuf_impl.h"

enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };

static const int64_t year_1 = -62135596800, year_10000 = 253402300800; /* what RFC 3339 can say */

/* --- messages that Kubernetes builds others from ----------------------------------------------------- */

struct type_meta {
	const char *api_version, *kind;
};

static const struct kar_field type_meta_fields[] = {
	KAR_FIELD_PB(struct type_meta, api_version, "apiVersion", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct type_meta, kind, "kind", 2, KAR_F_STRING),
};
static const struct kar_desc type_meta_desc = KAR_DESC("TypeMeta", struct type_meta, type_meta_fields);

struct timestamp {
	int64_t seconds;
	int32_t nanos;
};

static const struct kar_field time_fields[] = {
	KAR_FIELD_PB(struct timestamp, seconds, "seconds", 1, KAR_F_INT64),
	KAR_FIELD_PB(struct timestamp, nanos, "nanos", 2, KAR_F_INT32),
};
static const struct kar_desc time_desc = KAR_DESC("Time", struct timestamp, time_fields);

static const struct kar_field pair_fields[] = {
	KAR_FIELD_PB(struct kar_pair, key, "key", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_pair, value, "value", 2, KAR_F_STRING),
};
static const struct kar_desc pair_desc = KAR_DESC("entry", struct kar_pair, pair_fields);

/* --- errors and limits ------------------------------------------------------------------------------- */

static void put_path(const struct kar_pb_place *place, char *out, size_t size)
{
	size_t n;

	if (!place)
		return;
	put_path(place->up, out, size);
	n = strlen(out);
	snprintf(out + n, size - n, "%s%s", n ? "." : "", place->field->name);
	n = strlen(out);
	if (place->field->type == KAR_F_ARRAY || place->field->type == KAR_F_STREAM)
		snprintf(out + n, size - n, "[%zu]", place->index);
}

int kar_pb_fail(const struct kar_pb_reader *r, const char *p, const char *fmt, ...)
{
	char path[200] = "", what[160];
	va_list ap;

	put_path(r->place, path, sizeof(path));
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return kar_fail(r->err, KAR_INVALID, "%s: %s (at byte %zu)", path[0] ? path : r->what, what,
		r->at + (size_t)(p - r->bytes));
}

static int count(struct kar_pb_reader *r, const char *p)
{
	if (++r->elements <= r->limits->elements)
		return 0;
	return kar_pb_fail(r, p, "more than %zu elements", r->limits->elements);
}

/* --- fields ------------------------------------------------------------------------------------------ */

/* Takes the first field off @message: 1; 0: there is none left; -1: malformed. */
static int next(struct kar_pb_reader *r, struct kar_str *message, struct kar_pb_field *f)
{
	const char *problem = "truncated";

	if (message->n == 0)
		return 0;
	int used = kar_pb_header(message->p, message->n, f, &problem);
	size_t left = message->n - (used > 0 ? (size_t)used : 0);

	if (used <= 0 || f->payload > left)
		return kar_pb_fail(r, message->p, "%s", problem);
	f->bytes = (struct kar_str){ message->p + used, (size_t)f->payload };
	*message = (struct kar_str){ f->bytes.p + f->bytes.n, left - f->bytes.n };
	return 1;
}

const struct kar_field *kar_pb_find(const struct kar_desc *desc, uint32_t number)
{
	for (size_t i = 0; i < desc->n_fields; i++) {
		if (desc->fields[i].pb == number)
			return &desc->fields[i];
	}
	return NULL;
}

static const struct kar_field *find_by_name(const struct kar_desc *desc, const char *name)
{
	for (size_t i = 0; i < desc->n_fields; i++) {
		if (strcmp(desc->fields[i].name, name) == 0)
			return &desc->fields[i];
	}
	return NULL;
}

/* A copy of the field's text; NULL with the error raised if it is too long. */
static const char *read_text(struct kar_pb_reader *r, const struct kar_pb_field *f)
{
	if (f->bytes.n <= r->limits->string)
		return kar_store_text(r->arena, f->bytes.p, f->bytes.n);
	kar_pb_fail(r, f->bytes.p, "string longer than %zu bytes", r->limits->string);
	return NULL;
}

static int store_string(struct kar_pb_reader *r, const char **member, const struct kar_pb_field *f)
{
	*member = f->bytes.n ? read_text(r, f) : NULL;
	return f->bytes.n && !*member ? -1 : 0;
}

/* An empty message is Go's zero time. */
static int store_time(struct kar_pb_reader *r, const struct kar_field *field, kar_time *member,
	const struct kar_pb_field *f)
{
	struct timestamp t = { 0 };

	if (kar_pb_message(r, &time_desc, &t, f->bytes))
		return -1;
	if (t.seconds < year_1 || t.seconds >= year_10000 || t.nanos < 0)
		return field->lenient ? 0 : kar_pb_fail(r, f->bytes.p, "time out of range");
	*member = t.seconds * MS_PER_S + t.nanos / NS_PER_MS;
	return 0;
}

static int store_pointer(struct kar_pb_reader *r, void **member, const struct kar_desc *desc,
	const struct kar_pb_field *f)
{
	if (!*member && count(r, f->bytes.p))
		return -1;
	if (!*member)
		*member = kar_arena_alloc(r->arena, 1, desc->size);
	return kar_pb_message(r, desc, *member, f->bytes);
}

/* A zeroed element at the end of @a. */
static void *append(struct kar_pb_reader *r, struct kar_array *a, size_t size)
{
	a->items = kar_arena_grow(r->arena, a->items, a->n, size);
	return memset((char *)a->items + a->n++ * size, 0, size);
}

static int store_element(struct kar_pb_reader *r, struct kar_array *a, const struct kar_desc *desc,
	const struct kar_pb_field *f)
{
	if (count(r, f->bytes.p))
		return -1;
	if (desc)
		return kar_pb_message(r, desc, append(r, a, desc->size), f->bytes);
	const char *text = read_text(r, f);

	if (!text)
		return -1;
	*(const char **)append(r, a, sizeof(text)) = text;
	return 0;
}

/* @entry: NULL: the value of the entry is a text. */
static int store_pair(struct kar_pb_reader *r, struct kar_array *a, const struct kar_desc *entry,
	const struct kar_pb_field *f)
{
	struct kar_pair pair = { 0 };

	if (count(r, f->bytes.p) || kar_pb_message(r, entry ? entry : &pair_desc, &pair, f->bytes))
		return -1;
	pair.key = pair.key ? pair.key : "";
	pair.value = pair.value ? pair.value : "";
	*(struct kar_pair *)append(r, a, sizeof(pair)) = pair;
	return 0;
}

/* --- documents --------------------------------------------------------------------------------------- */

static int store_type_meta(struct kar_pb_reader *r, const struct kar_desc *desc, char *base,
	const struct kar_pb_field *f)
{
	const struct kar_field *api_version = find_by_name(desc, "apiVersion");
	const struct kar_field *kind = find_by_name(desc, "kind");
	struct type_meta type = { 0 };

	if (kar_pb_message(r, &type_meta_desc, &type, f->bytes))
		return -1;
	if (api_version)
		*(const char **)(void *)(base + api_version->offset) = type.api_version;
	if (kind)
		*(const char **)(void *)(base + kind->offset) = type.kind;
	return 0;
}

int kar_pb_store_envelope(struct kar_pb_reader *r, const struct kar_desc *desc, void *base,
	const struct kar_pb_field *f)
{
	if (f->wire != KAR_PB_BYTES)
		return kar_pb_fail(r, f->bytes.p, "the envelope holds %s", kar_pb_wire_name(f->wire));
	if (f->number == KAR_PB_TYPE_META)
		return store_type_meta(r, desc, base, f);
	if (f->number == KAR_PB_CONTENT_ENCODING && f->bytes.n)
		return kar_pb_fail(r, f->bytes.p, "the object is encoded once more");
	return 0;
}

/* The object comes last, because its members may be selected by what the envelope says. */
static int read_document(struct kar_pb_reader *r, const struct kar_desc *desc, void *base,
	struct kar_str bytes)
{
	struct kar_str object = { 0 };
	struct kar_pb_field f;

	if (bytes.n < sizeof(KAR_PB_MAGIC) || memcmp(bytes.p, KAR_PB_MAGIC, sizeof(KAR_PB_MAGIC)) != 0)
		return kar_pb_fail(r, bytes.p, "not Kubernetes protobuf");
	bytes.p += sizeof(KAR_PB_MAGIC);
	bytes.n -= sizeof(KAR_PB_MAGIC);
	int more = next(r, &bytes, &f);

	while (more > 0) {
		if (f.number == KAR_PB_RAW && f.wire == KAR_PB_BYTES)
			object = f.bytes;
		else if (kar_pb_store_envelope(r, desc, base, &f))
			return -1;
		more = next(r, &bytes, &f);
	}
	if (more == 0 && !object.p)
		return kar_pb_fail(r, bytes.p, "an envelope without an object");
	return more ? -1 : kar_pb_message(r, desc, base, object);
}

/* runtime.RawExtension: its only field is the document. */
static int store_extension(struct kar_pb_reader *r, void **member, const struct kar_desc *desc,
	const struct kar_pb_field *f)
{
	struct kar_str rest = f->bytes;
	struct kar_pb_field raw = { 0 };

	if (!desc)
		return 0;
	if (next(r, &rest, &raw) < 0 || count(r, f->bytes.p))
		return -1;
	if (raw.number != 1 || rest.n)
		return kar_pb_fail(r, f->bytes.p, "not one embedded object");
	*member = kar_arena_alloc(r->arena, 1, desc->size);
	return read_document(r, desc, *member, raw.bytes);
}

/* --- messages ---------------------------------------------------------------------------------------- */

static enum kar_pb_wire wire_of(enum kar_field_type type)
{
	return type == KAR_F_INT32 || type == KAR_F_INT64 || type == KAR_F_BOOL ? KAR_PB_VARINT
										: KAR_PB_BYTES;
}

/* For KAR_F_SELECT; NULL: not wanted. */
static const struct kar_desc *selected(const struct kar_field *field, const void *base)
{
	const struct kar_desc *chosen = field->select ? field->select(base) : NULL;

	return chosen ? chosen : field->sub;
}

/* @f has the wire type of @field. */
static int store_value(struct kar_pb_reader *r, const struct kar_field *field, void *base,
	const struct kar_pb_field *f)
{
	void *member = (char *)base + field->offset;

	switch (field->type) {
	case KAR_F_STRING:
		return store_string(r, member, f);
	case KAR_F_INT32:
		*(int32_t *)member = (int32_t)(uint32_t)f->varint; /* of a negative one, 64 bits are sent */
		return 0;
	case KAR_F_INT64:
		*(int64_t *)member = (int64_t)f->varint;
		return 0;
	case KAR_F_BOOL:
		*(bool *)member = f->varint != 0;
		return 0;
	case KAR_F_TIME:
		return store_time(r, field, member, f);
	case KAR_F_OBJECT:
		return kar_pb_message(r, field->sub, member, f->bytes);
	case KAR_F_OBJECT_PTR:
		return store_pointer(r, member, field->sub, f);
	case KAR_F_ARRAY:
		return store_element(r, member, field->sub, f);
	case KAR_F_MAP:
		return store_pair(r, member, field->sub, f);
	case KAR_F_SELECT:
		return store_extension(r, member, selected(field, base), f);
	default:
		return kar_pb_fail(r, f->bytes.p, "%s has no protobuf form", kar_store_want(field->type));
	}
}

/* Elements of .field that are there already: the place of the next one. */
static size_t index_in(const struct kar_field *field, const char *base)
{
	return field->type == KAR_F_ARRAY
		? ((const struct kar_array *)(const void *)(base + field->offset))->n
		: 0;
}

int kar_pb_store(struct kar_pb_reader *r, const struct kar_desc *desc, void *base,
	const struct kar_pb_field *f)
{
	const struct kar_field *field = kar_pb_find(desc, f->number);

	if (!field)
		return 0;
	struct kar_pb_place place = { .up = r->place, .field = field, .index = index_in(field, base) };

	if (f->wire != wire_of(field->type) && field->lenient)
		return 0;
	r->place = &place;
	if (f->wire != wire_of(field->type))
		return kar_pb_fail(r, f->bytes.p, "want %s, got %s", kar_store_want(field->type),
			kar_pb_wire_name(f->wire));
	if (store_value(r, field, base, f))
		return -1;
	kar_store_present(field, base);
	r->place = place.up;
	return 0;
}

static void drop_duplicates(const struct kar_desc *desc, char *base)
{
	for (size_t i = 0; i < desc->n_fields; i++) {
		if (desc->fields[i].type == KAR_F_MAP)
			kar_store_drop_duplicates((void *)(base + desc->fields[i].offset));
	}
}

static void note_problem(struct kar_pb_reader *r, const struct kar_desc *desc, void *base)
{
	const char **problem = (const char **)(void *)((char *)base + desc->problem);

	if (!*problem)
		*problem = kar_arena_strndup(r->arena, r->err->msg, strlen(r->err->msg));
}

/* Of a struct with a .problem, a member that cannot be read stays as far as it was. Paths begin at the struct. */
static void read_tolerantly(struct kar_pb_reader *r, const struct kar_desc *desc, void *base,
	struct kar_str message)
{
	const struct kar_pb_reader before = *r;
	struct kar_err why = { 0 };
	struct kar_pb_field f;
	int more = 1;

	r->err = &why;
	r->what = desc->what;
	while (more > 0) {
		r->place = NULL;
		r->depth = before.depth;
		more = next(r, &message, &f);
		if (more < 0 || (more > 0 && kar_pb_store(r, desc, base, &f)))
			note_problem(r, desc, base);
	}
	r->err = before.err;
	r->what = before.what;
	r->place = before.place;
	r->depth = before.depth - 1;
	drop_duplicates(desc, base);
}

int kar_pb_message(struct kar_pb_reader *r, const struct kar_desc *desc, void *base, struct kar_str message)
{
	struct kar_pb_field f;

	if (++r->depth > r->limits->depth)
		return kar_pb_fail(r, message.p, "nested deeper than %zu levels", r->limits->depth);
	if (desc->problem) {
		read_tolerantly(r, desc, base, message);
		return 0;
	}
	int more = next(r, &message, &f);

	while (more > 0) {
		if (kar_pb_store(r, desc, base, &f))
			return -1;
		more = next(r, &message, &f);
	}
	r->depth--;
	drop_duplicates(desc, base);
	return more;
}

int kar_protobuf_decode(struct kar_arena *arena, const struct kar_desc *desc, const struct kar_limits *limits,
	const char *bytes, size_t n, void *out, struct kar_err *err)
{
	const struct kar_limits filled = kar_limits_filled(limits);
	void *document = kar_arena_alloc(arena, 1, desc->size);
	struct kar_pb_reader r = { .arena = arena,
		.limits = &filled,
		.what = desc->what,
		.bytes = bytes,
		.err = err };

	if (n > filled.document)
		return kar_pb_fail(&r, bytes, "larger than %zu bytes", filled.document);
	if (read_document(&r, desc, document, (struct kar_str){ bytes, n }))
		return -1;
	memcpy(out, document, desc->size);
	return 0;
}
