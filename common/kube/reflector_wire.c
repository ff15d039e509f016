#include "common/kube/reflector_wire.h"

#include <string.h>

#include "common/codec/json.h"
#include "common/kube/client.h"

enum {
	DEPTH = 10000 + 100,      /* Go's decoder stops at 10000; depth costs the reader nothing here */
	OBJECT_BYTES = 8 << 20,   /* etcd takes 1.5 MiB, or what --max-request-bytes says */
	OBJECT_ELEMENTS = 2 << 20 /* more than fit into that, for instance as labels */
};

const struct kar_limits kar_reflector_limits = {
	.depth = DEPTH,
	.string = OBJECT_BYTES,
	.document = OBJECT_BYTES,
	.elements = OBJECT_ELEMENTS,
};

static const struct kar_field list_meta_fields[] = {
	KAR_FIELD_PB(struct kar_list_meta, resource_version, "resourceVersion", 2, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_list_meta, continue_token, "continue", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_list_meta, remaining, "remainingItemCount", 4, KAR_F_INT64),
};
static const struct kar_desc list_meta_desc = KAR_DESC("ListMeta", struct kar_list_meta, list_meta_fields);

struct cause {
	const char *reason;
};

struct details {
	struct kar_array causes;
	int64_t retry_after_seconds;
};

struct error_object {
	const char *message, *reason;
	int64_t code;
	struct details details;
};

static const struct kar_field cause_fields[] = {
	KAR_FIELD_PB(struct cause, reason, "reason", 1, KAR_F_STRING),
};
static const struct kar_desc cause_desc = KAR_DESC("StatusCause", struct cause, cause_fields);
static const struct kar_field details_fields[] = {
	KAR_FIELD_PB_SUB(struct details, causes, "causes", 4, KAR_F_ARRAY, &cause_desc),
	KAR_FIELD_PB(struct details, retry_after_seconds, "retryAfterSeconds", 5, KAR_F_INT64),
};
static const struct kar_desc details_desc = KAR_DESC("StatusDetails", struct details, details_fields);
static const struct kar_field error_fields[] = {
	KAR_FIELD_PB(struct error_object, message, "message", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct error_object, reason, "reason", 4, KAR_F_STRING),
	KAR_FIELD_PB(struct error_object, code, "code", 6, KAR_F_INT64),
	KAR_FIELD_PB_SUB(struct error_object, details, "details", 5, KAR_F_OBJECT, &details_desc),
};
static const struct kar_desc error_desc = KAR_DESC("Status", struct error_object, error_fields);

static bool is(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

/* Go writes "type" first, in JSON and in protobuf, so it is known when the object begins. */
static const struct kar_desc *select_error(const void *parent)
{
	const struct kar_watch_root *root = parent;

	return is(root->type, "ERROR") ? &error_desc : NULL;
}

void kar_reflector_tables_init(struct kar_reflector_tables *t, const struct kar_type *type)
{
	const struct kar_field list[] = {
		KAR_FIELD(struct kar_list_root, kind, "kind", KAR_F_STRING),
		KAR_FIELD_PB_SUB(struct kar_list_root, meta, "metadata", 1, KAR_F_OBJECT, &list_meta_desc),
		KAR_FIELD_PB_SUB(struct kar_list_root, items, "items", 2, KAR_F_STREAM, type->wire),
	};
	const struct kar_field watch[] = {
		KAR_FIELD_PB(struct kar_watch_root, type, "type", 1, KAR_F_STRING),
		{ .name = "object",
			.type = KAR_F_SELECT,
			.pb = 2,
			.offset = offsetof(struct kar_watch_root, object),
			.select = select_error,
			.sub = type->wire },
	};

	memcpy(t->list_fields, list, sizeof(list));
	memcpy(t->watch_fields, watch, sizeof(watch));
	t->list = (struct kar_desc)KAR_DESC("List", struct kar_list_root, t->list_fields);
	t->watch = (struct kar_desc)KAR_DESC("WatchEvent", struct kar_watch_root, t->watch_fields);
	t->protobuf = type->protobuf;
}

/* A Table, a Status or a proxy's greeting must never pass for "there are no objects". */
int kar_list_check(const struct kar_list_root *root, struct kar_err *err)
{
	size_t n = root->kind ? strlen(root->kind) : 0;

	if (n < 4 || strcmp(root->kind + n - 4, "List") != 0)
		return kar_fail(err, KAR_INVALID, "the answer to a list is a \"%s\"",
			root->kind ? root->kind : "");
	if (!root->meta.resource_version || !root->meta.resource_version[0])
		return kar_fail(err, KAR_INVALID, "%s without metadata.resourceVersion", root->kind);
	return 0;
}

int kar_wire_check(const struct kar_wire_object *w, struct kar_err *err)
{
	const struct kar_wire_meta *m = &w->meta;
	const char *missing = NULL;

	if (!m->resource_version || !m->resource_version[0])
		missing = "resourceVersion";
	if (!m->uid || !m->uid[0])
		missing = "uid";
	if (!m->name || !m->name[0])
		missing = "name";
	if (!missing)
		return 0;
	return kar_fail(err, KAR_INVALID, "object \"%s\" without metadata.%s", m->name ? m->name : "",
		missing);
}

struct kar_object *kar_wire_object_make(const struct kar_type *type, const struct kar_wire_object *w,
	struct kar_intern *strings, struct kar_err *err)
{
	if (kar_wire_check(w, err) == 0)
		return type->project(w, strings);
	kar_wrap(err, "%s", type->res.plural);
	return NULL;
}

enum kar_event_kind kar_event_kind(const struct kar_watch_root *root)
{
	if (is(root->type, "ADDED") || is(root->type, "MODIFIED"))
		return KAR_EVENT_CHANGED;
	if (is(root->type, "DELETED"))
		return KAR_EVENT_DELETED;
	if (is(root->type, "BOOKMARK"))
		return KAR_EVENT_BOOKMARK;
	return is(root->type, "ERROR") ? KAR_EVENT_ERROR : KAR_EVENT_OTHER;
}

static void put_string(struct kar_json_writer *w, const char *key, const char *value)
{
	if (value)
		kar_jw_kv_string(w, key, value);
}

static void put_details(struct kar_json_writer *w, const struct details *d)
{
	const struct cause *causes = d->causes.items;

	kar_jw_key(w, "details");
	kar_jw_begin_object(w);
	kar_jw_kv_int(w, "retryAfterSeconds", d->retry_after_seconds);
	kar_jw_key(w, "causes");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < d->causes.n; i++) {
		kar_jw_begin_object(w);
		put_string(w, "reason", causes[i].reason);
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
	kar_jw_end_object(w);
}

/* Written down again for kar_status_error(), so that there is one place that knows what a Status means. */
static void put_status(struct kar_buf *out, const struct error_object *e)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "kind", "Status");
	kar_jw_kv_string(&w, "apiVersion", "v1");
	put_string(&w, "message", e->message);
	put_string(&w, "reason", e->reason);
	put_details(&w, &e->details);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

void kar_event_error(const struct kar_watch_root *root, struct kar_err *err)
{
	const struct error_object none = { 0 };
	const struct error_object *e = root->object ? root->object : &none;
	int code = e->code >= 400 && e->code <= 599 ? (int)e->code : 500;
	struct kar_buf body = { 0 };

	if (is(e->reason, "Expired") || is(e->reason, "Gone"))
		code = 410;
	put_status(&body, e);
	kar_status_error(err, code, "application/json", (struct kar_str){ body.p, body.n }, 0, false,
		"watch");
	kar_buf_release(&body);
}
