/* Lists and watches of pods, in JSON or protobuf: where the bytes are cut changes nothing, and every object can be let go. */
#include "common/kube/reflector_stream.h"

#include "api/pod/pod.h"
#include "common/base/intern.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/pieces.h"
#include "test/unit/wire_text.h"

struct reader {
	struct kar_reflector_tables tables;
	struct kar_reflector_stream *stream;
	struct kar_intern *strings;
	struct kar_buf *heard;
};

static void tell_error(struct kar_buf *heard, const struct kar_err *err)
{
	fuzz_check_error(err);
	kar_buf_printf(heard, "(%s) ", err->msg);
}

static void tell_object(struct reader *r, const struct kar_wire_object *w)
{
	struct wire_seen seen = { .n = 0 };
	struct kar_err err = { 0 };
	struct kar_object *o = kar_wire_object_make(&kar_pod_type, w, r->strings, &err);

	wire_print(r->heard, kar_pod_type.wire, w, &seen);
	if (!o)
		tell_error(r->heard, &err);
	kar_object_unref(o);
}

static int hear_item(void *arg, const void *item, struct kar_err *err KAR_UNUSED)
{
	tell_object(arg, item);
	return 0;
}

static int hear_page(void *arg, const void *root, struct kar_err *err KAR_UNUSED)
{
	const struct kar_list_root *list = root;
	struct reader *r = arg;
	struct kar_err refused = { 0 };

	if (kar_list_check(list, &refused))
		tell_error(r->heard, &refused);
	else
		kar_buf_printf(r->heard, "%s at %s ", list->kind, list->meta.resource_version);
	return 0;
}

static int hear_event(void *arg, const void *root, struct kar_err *err KAR_UNUSED)
{
	const struct kar_watch_root *event = root;
	struct reader *r = arg;
	struct kar_err said = { 0 };

	if (kar_event_kind(event) == KAR_EVENT_ERROR) {
		kar_event_error(event, &said);
		tell_error(r->heard, &said);
	} else if (event->object) {
		tell_object(r, event->object);
	}
	return 0;
}

static struct reader *open_reader(struct kar_buf *heard)
{
	struct reader *r = kar_xcalloc(1, sizeof(*r));

	kar_reflector_tables_init(&r->tables, &kar_pod_type);
	r->strings = kar_intern_new();
	r->heard = heard;
	return r;
}

static void *open_list(struct kar_buf *heard)
{
	struct reader *r = open_reader(heard);

	r->stream = kar_reflector_stream_list(&r->tables, hear_item, hear_page, r);
	return r;
}

static void *open_watch(struct kar_buf *heard)
{
	struct reader *r = open_reader(heard);

	r->stream = kar_reflector_stream_watch(&r->tables, hear_event, r);
	return r;
}

static int feed(void *stream, const char *bytes, size_t n, struct kar_err *err)
{
	struct reader *r = stream;

	return kar_reflector_stream_feed(r->stream, bytes, n, err);
}

static int finish(void *stream, struct kar_err *err)
{
	struct reader *r = stream;

	return kar_reflector_stream_finish(r->stream, err);
}

static void close_reader(void *stream)
{
	struct reader *r = stream;

	FUZZ_CHECK(kar_intern_count(r->strings) == 0, "%zu strings are still held",
		kar_intern_count(r->strings));
	kar_reflector_stream_free(r->stream);
	kar_intern_free(r->strings);
	free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct fuzz_reader readers[] = {
		{ "list", open_list, feed, finish, close_reader },
		{ "watch", open_watch, feed, finish, close_reader },
	};

	for (size_t i = 0; i < KAR_LEN(readers); i++)
		fuzz_pieces(&readers[i], data, n);
	return 0;
}
