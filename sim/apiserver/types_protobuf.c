/* Kubernetes protobuf to JSON, by the tables of types.h. Pure; everything is bounded by the size of the body. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/timefmt.h"
#include "common/codec/protobuf_wire.h"
#include "common/kube/pem.h"
#include "sim/apiserver/types.h"

enum { MAX_DEPTH = 60, MAGIC_LEN = 4 };

/* Fields of the messages that are written as one scalar in JSON, and of the envelope. */
enum { UNKNOWN_TYPE_META = 1, UNKNOWN_RAW = 2 };
enum { TYPE_META_API_VERSION = 1, TYPE_META_KIND = 2 };
enum { TIME_SECONDS = 1, TIME_NANOS = 2 };
enum { QUANTITY_STRING = 1, DURATION_NANOS = 1, RAW_BYTES = 1, LIST_ITEMS = 1 };
enum { INT_OR_STRING_TYPE = 1, INT_OR_STRING_INT = 2, INT_OR_STRING_STRING = 3 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };

struct reader {
	const char *p;
	size_t n;
	int depth;
	struct kar_err *err;
};

/* The next field of the message: 1, 0 at its end, -1. */
static int next_field(struct reader *r, struct kar_pb_field *f)
{
	const char *problem = "it is cut off";
	int used;

	if (!r->n)
		return 0;
	used = kar_pb_header(r->p, r->n, f, &problem);
	if (used <= 0 || f->payload > r->n - (size_t)used)
		return kar_fail(r->err, KAR_INVALID, "not valid protobuf: %s",
			used < 0 ? problem : "it is cut off");
	f->bytes = (struct kar_str){ r->p + used, f->wire == KAR_PB_VARINT ? 0 : (size_t)f->payload };
	r->p += (size_t)used + f->bytes.n;
	r->n -= (size_t)used + f->bytes.n;
	return 1;
}

static struct reader inside(const struct reader *r, struct kar_str bytes)
{
	return (struct reader){ bytes.p, bytes.n, r->depth + 1, r->err };
}

/* A message of scalars: varints and strings by number, the last one wins. */
enum { SCALARS = 4 };
struct scalars {
	int64_t varint[SCALARS];
	struct kar_str bytes[SCALARS];
	bool any;
};

static int read_scalars(const struct reader *up, struct kar_str message, struct scalars *out)
{
	struct reader r = inside(up, message);
	struct kar_pb_field f;
	int more;

	*out = (struct scalars){ 0 };
	while ((more = next_field(&r, &f)) > 0) {
		if (f.number >= SCALARS)
			continue;
		out->any = true;
		out->varint[f.number] = (int64_t)f.varint;
		out->bytes[f.number] = f.bytes;
	}
	return more;
}

static struct sim_value *text_of(struct kar_str s)
{
	return sim_string_n(s.n ? s.p : "", s.n);
}

static char *copy_of(struct kar_str s)
{
	return kar_xstrndup(s.n ? s.p : "", s.n);
}

static struct sim_value *time_value(const struct scalars *s, bool micro)
{
	const int64_t limit = INT64_C(253402300800); /* the year 10000 */
	int64_t seconds = s->varint[TIME_SECONDS], nanos = s->varint[TIME_NANOS];
	char text[KAR_TIME_LEN];

	if (!s->any || seconds < -limit || seconds > limit || nanos < 0 || nanos > INT64_C(999999999))
		return sim_null();
	kar_time wall = seconds * KAR_SECOND + nanos / 1000000;

	return sim_string(micro ? kar_time_format_micro(wall, text) : kar_time_format(wall, text));
}

static struct sim_value *base64_value(struct kar_str s)
{
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { .cap = 2 * s.n + 8 };

	kar_base64_encode(&out, s.p, s.n);
	return sim_string_n(kar_buf_cstr(&out), out.n);
}

static struct sim_value *wrapped_value(enum sim_field_kind kind, const struct scalars *s, struct kar_err *err)
{
	switch (kind) {
	case SIM_FIELD_TIME:
	case SIM_FIELD_MICROTIME:
		return time_value(s, kind == SIM_FIELD_MICROTIME);
	case SIM_FIELD_QUANTITY:
		return text_of(s->bytes[QUANTITY_STRING]);
	case SIM_FIELD_INT_OR_STRING:
		return s->varint[INT_OR_STRING_TYPE] ? text_of(s->bytes[INT_OR_STRING_STRING])
						     : sim_int((int32_t)s->varint[INT_OR_STRING_INT]);
	case SIM_FIELD_DURATION:
		return sim_printf("%gs", (double)s->varint[DURATION_NANOS] / 1e9);
	default: /* SIM_FIELD_RAW */
		if (!s->bytes[RAW_BYTES].n)
			return sim_null();
		return sim_parse(s->bytes[RAW_BYTES].p, s->bytes[RAW_BYTES].n, err);
	}
}

static int read_message(const struct reader *up, struct kar_str message, const struct sim_type *t,
	struct sim_value **into);

static struct sim_value *message_value(const struct reader *r, const struct sim_field *f,
	struct kar_str bytes)
{
	struct sim_value *v = sim_object();

	if (read_message(r, bytes, f->type, &v) == 0)
		return v;
	sim_unref(v);
	return NULL;
}

/* One value of the field, whatever surrounds it. New value, or NULL with the error set. */
static struct sim_value *value_of(const struct reader *r, const struct sim_field *f,
	const struct kar_pb_field *w)
{
	bool number = f->kind == SIM_FIELD_BOOL || f->kind == SIM_FIELD_INT;
	struct scalars s;

	if (f->kind == SIM_FIELD_NUMBER || (w->wire == KAR_PB_VARINT) != number ||
		(w->wire != KAR_PB_VARINT && w->wire != KAR_PB_BYTES)) {
		kar_fail(r->err, KAR_INVALID, "not valid protobuf: field %s is %s", f->name,
			kar_pb_wire_name(w->wire));
		return NULL;
	}
	switch (f->kind) {
	case SIM_FIELD_BOOL:
		return sim_bool(w->varint != 0);
	case SIM_FIELD_INT:
		return sim_int((int64_t)w->varint);
	case SIM_FIELD_STRING:
		return text_of(w->bytes);
	case SIM_FIELD_BYTES:
		return base64_value(w->bytes);
	case SIM_FIELD_MESSAGE:
		return message_value(r, f, w->bytes);
	default:
		return read_scalars(r, w->bytes, &s) == 0 ? wrapped_value(f->kind, &s, r->err) : NULL;
	}
}

static int add_to_list(const struct reader *r, const struct sim_field *f, const struct kar_pb_field *w,
	struct sim_value **into)
{
	struct sim_value *item = value_of(r, f, w), *list;

	if (!item)
		return -1;
	list = sim_take(into, f->name);
	if (!list)
		list = sim_array();
	sim_append(&list, item);
	sim_set(into, list, f->name);
	return 0;
}

/* A list that is the value of a map is a message with the items as its field 1. */
static struct sim_value *list_message(const struct reader *up, const struct sim_field *f,
	struct kar_str bytes)
{
	struct reader r = inside(up, bytes);
	struct sim_value *list = sim_array();
	struct kar_pb_field w;
	int more;

	while ((more = next_field(&r, &w)) > 0) {
		struct sim_value *item = w.number == LIST_ITEMS ? value_of(&r, f, &w) : sim_null();

		if (!item)
			break;
		sim_append(&list, item);
	}
	if (!more)
		return list;
	sim_unref(list);
	return NULL;
}

static struct sim_value *empty_entry(const struct sim_field *f)
{
	return f->kind == SIM_FIELD_MESSAGE ? sim_object() : sim_string("");
}

static int add_to_map(const struct reader *up, const struct sim_field *f, struct kar_str entry,
	struct sim_value **into)
{
	struct reader r = inside(up, entry);
	struct sim_value *map, *value = empty_entry(f);
	struct kar_str key = { "", 0 };
	struct kar_pb_field w;
	int more;

	while (value && (more = next_field(&r, &w)) > 0) {
		if (w.number == ENTRY_KEY)
			key = w.bytes;
		if (w.number != ENTRY_VALUE)
			continue;
		sim_unref(value);
		value = f->list ? list_message(&r, f, w.bytes) : value_of(&r, f, &w);
	}
	if (!value || more) {
		sim_unref(value);
		return -1;
	}
	map = sim_take(into, f->name);
	if (!map)
		map = sim_object();
	struct sim_value *name = text_of(key); /* mended, if it is no UTF-8 */

	sim_set(&map, value, sim_text(name));
	sim_unref(name);
	sim_set(into, map, f->name);
	return 0;
}

/* What omitempty leaves out. */
static bool is_empty(const struct sim_value *v)
{
	switch (sim_kind(v)) {
	case SIM_NULL:
		return true;
	case SIM_BOOL:
		return !sim_bool_of(v, false);
	case SIM_INT:
		return sim_int_of(v, 0) == 0;
	case SIM_STRING:
		return !*sim_text(v);
	default:
		return false;
	}
}

static int read_single(const struct reader *r, const struct sim_field *f, const struct kar_pb_field *w,
	struct sim_value **into)
{
	struct sim_value *v = value_of(r, f, w);

	if (!v)
		return -1;
	if (is_empty(v) && !f->pointer && !f->always)
		sim_unref(v);
	else
		sim_set(into, v, f->name);
	return 0;
}

static const struct sim_field *numbered(const struct sim_type *t, uint32_t number)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->fields[i].number == number)
			return &t->fields[i];
	}
	return NULL;
}

static int read_field(const struct reader *r, const struct sim_type *t, const struct kar_pb_field *w,
	struct sim_value **into)
{
	const struct sim_field *f = numbered(t, w->number);

	if (!f)
		return 0;
	if (f->map && w->wire == KAR_PB_BYTES)
		return add_to_map(r, f, w->bytes, into);
	if (f->list)
		return add_to_list(r, f, w, into);
	if (f->inlined)
		return read_message(r, w->bytes, f->type, into);
	return read_single(r, f, w, into);
}

static int read_message(const struct reader *up, struct kar_str message, const struct sim_type *t,
	struct sim_value **into)
{
	struct reader r = inside(up, message);
	struct kar_pb_field w;
	int more;

	if (r.depth > MAX_DEPTH)
		return kar_fail(r.err, KAR_INVALID, "the document is nested more than %d levels deep",
			MAX_DEPTH);
	while ((more = next_field(&r, &w)) > 0) {
		if (read_field(&r, t, &w, into))
			return -1;
	}
	return more;
}

/* ---- the envelope ---- */

struct envelope {
	char *api_version, *kind; /* owned */
	struct kar_str raw;
};

static int read_type_meta(const struct reader *r, struct kar_str message, struct envelope *e)
{
	struct scalars s;

	if (read_scalars(r, message, &s))
		return -1;
	free(e->api_version);
	free(e->kind);
	e->api_version = copy_of(s.bytes[TYPE_META_API_VERSION]);
	e->kind = copy_of(s.bytes[TYPE_META_KIND]);
	return 0;
}

static int read_envelope(const char *bytes, size_t n, struct envelope *e, struct kar_err *err)
{
	struct reader r = { bytes + MAGIC_LEN, n - MAGIC_LEN, 0, err };
	struct kar_pb_field f;
	int more;

	while ((more = next_field(&r, &f)) > 0) {
		if (f.number == UNKNOWN_RAW)
			e->raw = f.bytes;
		if (f.number == UNKNOWN_TYPE_META && read_type_meta(&r, f.bytes, e))
			return -1;
	}
	return more;
}

/* Options are registered in every group; the others in that of their apiVersion. */
static const struct sim_type *type_of(const struct sim_types *t, const char *api_version, const char *kind,
	struct kar_err *err)
{
	const char *slash = strchr(api_version, '/');
	char *group = kar_xstrndup(api_version, slash ? (size_t)(slash - api_version) : 0);
	const struct sim_type *type = sim_types_find(t, strcmp(kind, "DeleteOptions") ? group : "meta", kind);

	free(group);
	if (!type)
		kar_fail(err, KAR_INVALID, "no kind \"%s\" is registered for version \"%s\" in protobuf",
			kind, api_version);
	return type;
}

static struct sim_value *read_object(const struct sim_types *t, const struct envelope *e, struct kar_err *err)
{
	const struct reader r = { .err = err };
	const struct sim_type *type;
	struct sim_value *v;

	if (!e->api_version || !e->kind || !*e->kind) {
		kar_fail(err, KAR_INVALID, "the document names no apiVersion and kind");
		return NULL;
	}
	type = type_of(t, e->api_version, e->kind, err);
	if (!type)
		return NULL;
	v = sim_object();
	sim_set_text(&v, e->kind, "kind");
	sim_set_text(&v, e->api_version, "apiVersion");
	if (read_message(&r, e->raw, type, &v) == 0)
		return v;
	sim_unref(v);
	return NULL;
}

struct sim_value *sim_types_from_protobuf(const struct sim_types *t, const char *bytes, size_t n,
	struct kar_err *err)
{
	struct envelope e = { 0 };
	struct sim_value *v = NULL;

	if (n < MAGIC_LEN || memcmp(bytes, "k8s", MAGIC_LEN) != 0) {
		kar_fail(err, KAR_INVALID,
			"provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
		return NULL;
	}
	if (read_envelope(bytes, n, &e, err) == 0)
		v = read_object(t, &e, err);
	free(e.api_version);
	free(e.kind);
	return v;
}
