/*
 * script_protobuf - the JSON of a reflector's script as a server that speaks protobuf would have sent it.
 *
 * What JSON cuts short becomes protobuf cut short; what is no JSON stays as it is.
 * Header only: each test program is one file.
 */
#ifndef TEST_UNIT_SCRIPT_PROTOBUF_H
#define TEST_UNIT_SCRIPT_PROTOBUF_H

#include "common/codec/json.h"
#include "common/kube/reflector_wire.h"
#include "test/unit/protobuf_writer.h"

struct script_writer {
	struct kar_reflector_tables tables;
	struct kar_buf items, *out;
};

static inline int script_put_event(void *arg, const void *root, struct kar_err *err)
{
	struct script_writer *w = arg;

	(void)err;
	pb_put_frame(w->out, &w->tables.watch, root);
	return 0;
}

static inline int script_put_item(void *arg, const void *item, struct kar_err *err)
{
	struct script_writer *w = arg;
	struct kar_buf message = { 0 };

	(void)err;
	pb_put_struct(&message, w->tables.list.fields[2].sub, item);
	pb_put_message(&w->items, 2, &message);
	return 0;
}

static inline int script_put_list(void *arg, const void *root, struct kar_err *err)
{
	struct script_writer *w = arg;
	struct kar_buf list = { 0 };

	(void)err;
	pb_put_struct(&list, &w->tables.list, root);
	pb_put_envelope(w->out, "v1", pb_member_text(&w->tables.list, root, "kind"), list.n + w->items.n);
	kar_buf_append(w->out, kar_buf_cstr(&list), list.n);
	kar_buf_append(w->out, kar_buf_cstr(&w->items), w->items.n);
	pb_put_envelope_end(w->out);
	kar_buf_clear(&w->items);
	kar_buf_release(&list);
	return 0;
}

/* The beginning of an event, or of a list with the items that came. */
static inline void script_put_cut(struct script_writer *w, bool watch)
{
	enum { MISSING = 20 };

	if (watch) {
		kar_buf_append(w->out,
			"\0\0\0\x40\x0a\x05"
			"ADD",
			9);
		return;
	}
	pb_put_envelope(w->out, "v1", "ToyList", w->items.n + MISSING);
	kar_buf_append(w->out, kar_buf_cstr(&w->items), w->items.n);
}

/* Appends @json, the answer to a list or a watch of @type, to @out. */
static inline void script_to_protobuf(const struct kar_type *type, bool watch, const char *json,
	struct kar_buf *out)
{
	struct script_writer w = { .out = out };

	kar_reflector_tables_init(&w.tables, type);
	struct kar_json_stream *s = watch
		? kar_json_stream_new(&w.tables.watch, &kar_reflector_limits, NULL, script_put_event, &w)
		: kar_json_stream_new(&w.tables.list, &kar_reflector_limits, script_put_item, script_put_list,
			  &w);

	if (kar_json_stream_feed(s, json, strlen(json), NULL))
		kar_buf_puts(out, json);
	else if (!kar_json_stream_idle(s))
		script_put_cut(&w, watch);
	kar_json_stream_free(s);
	kar_buf_release(&w.items);
}

#endif
