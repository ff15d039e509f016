/* A bad object never hides a good one: whatever the second of three objects of a list or a watch is, the other two are read. */
#include "api/types.h"
#include "common/base/intern.h"
#include "common/codec/json.h"
#include "common/kube/reflector_stream.h"
#include "test/fuzz/fuzz.h"
#include "test/unit/protobuf_writer.h"

#define NEIGHBOUR(name) \
	"{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"5\"}}"

struct reader {
	const struct kar_type *type;
	struct kar_intern *strings;
	struct kar_buf heard; /* the neighbours */
	int n;
};

static void hear(struct reader *r, const struct kar_wire_object *w)
{
	struct kar_err err = { 0 };
	struct kar_object *o = kar_wire_object_make(r->type, w, r->strings, &err);

	if (r->n++ != 1)
		kar_buf_printf(&r->heard, "%s%s ", w->meta.name ? w->meta.name : "?",
			w->problem ? " (unreadable)" : "");
	else if (!o)
		fuzz_check_error(&err);
	kar_object_unref(o);
}

static int on_item(void *arg, const void *item, struct kar_err *err KAR_UNUSED)
{
	hear(arg, item);
	return 0;
}

static int on_event(void *arg, const void *root, struct kar_err *err KAR_UNUSED)
{
	const struct kar_watch_root *event = root;

	FUZZ_CHECK(event->object, "an event without its object");
	hear(arg, event->object);
	return 0;
}

static void read_all(const struct kar_type *type, bool watch, const struct kar_buf *bytes)
{
	struct reader r = { .type = type, .strings = kar_intern_new() };
	struct kar_reflector_tables tables;
	struct kar_err err = { 0 };

	kar_reflector_tables_init(&tables, type);
	struct kar_reflector_stream *s = watch ? kar_reflector_stream_watch(&tables, on_event, &r)
					       : kar_reflector_stream_list(&tables, on_item, NULL, &r);

	FUZZ_CHECK(!kar_reflector_stream_feed(s, bytes->p, bytes->n, &err), "%s", err.msg);
	FUZZ_CHECK(!kar_reflector_stream_finish(s, &err), "%s", err.msg);
	FUZZ_CHECK(r.n == 3 && strcmp(kar_buf_cstr(&r.heard), "a c ") == 0, "%d objects were read: %s", r.n,
		kar_buf_cstr(&r.heard));
	kar_reflector_stream_free(s);
	FUZZ_CHECK(kar_intern_count(r.strings) == 0, "strings are still held");
	kar_intern_free(r.strings);
	kar_buf_release(&r.heard);
}

/* --- JSON: an API server sends one object, whatever is in it --------------------------------------- */

static bool is_json_object(const char *text, size_t n)
{
	static const struct kar_desc any = { .what = "object", .size = 1 };
	struct kar_arena arena = { 0 };
	char out;
	bool read = kar_json_decode(&arena, &any, &kar_reflector_limits, text, n, &out, NULL) == 0;

	kar_arena_release(&arena);
	return read;
}

static void try_json(const char *text, size_t n)
{
	static const struct kar_type *const types[] = { &kar_queuejob_type, &kar_podgroup_type,
		&kar_pod_type };

	if (!is_json_object(text, n))
		return;
	for (size_t i = 0; i < KAR_LEN(types); i++) {
		struct kar_buf list = { 0 }, watch = { 0 };

		kar_buf_puts(&list,
			"{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[" NEIGHBOUR(
				"a") ",");
		kar_buf_append(&list, text, n);
		kar_buf_puts(&list, "," NEIGHBOUR("c") "]}");
		read_all(types[i], false, &list);
		kar_buf_puts(&watch,
			"{\"type\":\"ADDED\",\"object\":" NEIGHBOUR("a") "}{\"type\":\"ADDED\",\"object\":");
		kar_buf_append(&watch, text, n);
		kar_buf_puts(&watch, "}{\"type\":\"ADDED\",\"object\":" NEIGHBOUR("c") "}");
		read_all(types[i], true, &watch);
		kar_buf_release(&list);
		kar_buf_release(&watch);
	}
}

/* --- protobuf: the lengths of the objects are the list's, their bytes may be anything -------------- */

static void put_neighbour(struct kar_buf *out, const char *name)
{
	struct kar_buf meta = { 0 };

	pb_put_text(&meta, 1, name);
	pb_put_text(&meta, 5, "u");
	pb_put_text(&meta, 6, "5");
	pb_put_message(out, 1, &meta);
}

static void put_pod(struct kar_buf *out, int i, const char *bytes, size_t n)
{
	if (i == 1)
		kar_buf_append(out, bytes, n);
	else
		put_neighbour(out, i ? "c" : "a");
}

static void put_item(struct kar_buf *out, struct kar_buf *pod)
{
	pb_put_message(out, 2, pod);
}

static void put_event(struct kar_buf *out, struct kar_buf *pod)
{
	struct kar_buf document = { 0 }, extension = { 0 }, event = { 0 };

	pb_put_envelope(&document, "v1", "Pod", pod->n);
	kar_buf_append(&document, kar_buf_cstr(pod), pod->n);
	pb_put_envelope_end(&document);
	pb_put_message(&extension, 1, &document);
	pb_put_text(&event, 1, "ADDED");
	pb_put_message(&event, 2, &extension);
	for (int shift = 24; shift >= 0; shift -= 8) {
		char byte = (char)(event.n >> shift & 0xff);

		kar_buf_append(out, &byte, 1);
	}
	kar_buf_append(out, kar_buf_cstr(&event), event.n);
	kar_buf_release(&event);
	kar_buf_release(pod);
}

static void try_protobuf(const char *bytes, size_t n)
{
	struct kar_buf items = { 0 }, list = { 0 }, watch = { 0 };

	for (int i = 0; i < 3; i++) {
		struct kar_buf one = { 0 }, other = { 0 };

		put_pod(&one, i, bytes, n);
		put_pod(&other, i, bytes, n);
		put_item(&items, &one);
		put_event(&watch, &other);
	}
	pb_put_envelope(&list, "v1", "PodList", items.n);
	kar_buf_append(&list, kar_buf_cstr(&items), items.n);
	read_all(&kar_pod_type, false, &list);
	read_all(&kar_pod_type, true, &watch);
	kar_buf_release(&items);
	kar_buf_release(&list);
	kar_buf_release(&watch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	try_json((const char *)data, n);
	try_protobuf((const char *)data, n);
	return 0;
}
