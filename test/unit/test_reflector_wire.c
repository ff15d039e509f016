/* reflector_wire: what a user may put into an object must not stop the reading of all the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/kube/reflector_stream.h"
#include "test/unit/protobuf_writer.h"
#include "test/unit/toy.h"

static void repeat(struct kar_buf *out, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		kar_buf_puts(out, text);
}

static void deep(struct kar_buf *out, size_t n)
{
	kar_buf_puts(out, ",\"ignored\":");
	repeat(out, "{\"a\":", n);
	kar_buf_puts(out, "1");
	repeat(out, "}", n);
}

static void labels(struct kar_buf *out, size_t n)
{
	kar_buf_puts(out,
		",\"metadata\":{\"name\":\"a\",\"uid\":\"1\",\"resourceVersion\":\"5\",\"labels\":{");
	for (size_t i = 0; i < n; i++)
		kar_buf_printf(out, "%s\"l%zu\":\"\"", i ? "," : "", i);
	kar_buf_puts(out, "}}");
}

static void colour(struct kar_buf *out, size_t n)
{
	kar_buf_puts(out, ",\"colour\":\"");
	repeat(out, "x", n);
	kar_buf_puts(out, "\"");
}

static const struct row {
	const char *name;
	void (*put)(struct kar_buf *out, size_t n);
	size_t n;
	bool expect_read;
} rows[] = {
	{ "when_it_is_as_deep_as_the_api_server_decodes_then_read", deep, 10000, true },
	{ "when_it_is_endlessly_deep_then_refused", deep, 1000000, false },
	{ "when_it_has_as_many_labels_as_fit_then_read", labels, 200000, true },
	{ "when_a_string_is_as_long_as_fits_then_read", colour, 3 << 20, true },
	{ "when_a_string_is_longer_than_an_object_can_be_then_refused", colour, 9 << 20, false },
};

static int count(void *arg, const void *elem, struct kar_err *err)
{
	(void)elem;
	(void)err;
	++*(int *)arg;
	return 0;
}

/* A row's object as the second of three items of a list. */
static void list_text(const struct row *row, struct kar_buf *out)
{
	kar_buf_puts(out, "{\"kind\":\"ToyList\",\"items\":[{},{\"kind\":\"Toy\"");
	row->put(out, row->n);
	kar_buf_puts(out, "},{}]}");
}

static void watch_text(const struct row *row, struct kar_buf *out)
{
	kar_buf_puts(out, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Toy\"");
	row->put(out, row->n);
	kar_buf_puts(out, "}}\n");
}

/* Feeds all of @text to a reader of toys. */
static void read_text(const char *name, const struct kar_buf *text, bool watch, bool expect_read)
{
	struct kar_reflector_tables tables;
	struct kar_err err = { 0 };
	int n = 0;

	assert_false(text->overflow);
	kar_reflector_tables_init(&tables, &toy_type);
	struct kar_reflector_stream *s = watch ? kar_reflector_stream_watch(&tables, count, &n)
					       : kar_reflector_stream_list(&tables, count, NULL, &n);
	int rc = kar_reflector_stream_feed(s, text->p, text->n, &err);

	if (expect_read != (rc == 0) || (rc == 0 && n != (watch ? 1 : 3)))
		fail_msg("%s (%s): %d read, %s", name, watch ? "watch" : "list", n, err.msg);
	kar_reflector_stream_free(s);
}

static void rows_of_objects(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		for (int watch = 0; watch < 2; watch++) {
			struct kar_buf text = { .cap = 16 << 20 };

			(watch ? watch_text : list_text)(&rows[i], &text);
			read_text(rows[i].name, &text, watch, rows[i].expect_read);
			kar_buf_release(&text);
		}
	}
}

/* The same in protobuf. */

static void labels_in_protobuf(struct kar_buf *toy, size_t n)
{
	struct kar_buf meta = { .cap = PB_CAP };

	for (size_t i = 0; i < n; i++) {
		struct kar_buf entry = { 0 };
		char key[24];

		snprintf(key, sizeof(key), "l%zu", i);
		pb_put_text(&entry, 1, key);
		pb_put_message(&meta, 11, &entry);
	}
	pb_put_message(toy, 1, &meta);
}

static void colour_in_protobuf(struct kar_buf *toy, size_t n)
{
	struct kar_buf text = { .cap = PB_CAP };

	repeat(&text, "x", n);
	pb_put_message(toy, 2, &text);
}

static void deep_in_protobuf(struct kar_buf *toy, size_t n)
{
	struct kar_buf inner = { .cap = PB_CAP };

	for (size_t i = 0; i < n; i++) {
		struct kar_buf outer = { .cap = PB_CAP };

		pb_put_message(&outer, 99, &inner);
		inner = outer;
	}
	pb_put_message(toy, 99, &inner);
}

static const struct row protobuf_rows[] = {
	{ "when_it_is_deep_then_not_looked_at", deep_in_protobuf, 1000, true },
	{ "when_it_has_as_many_labels_as_fit_then_read", labels_in_protobuf, 200000, true },
	{ "when_a_string_is_as_long_as_fits_then_read", colour_in_protobuf, 3 << 20, true },
	{ "when_a_string_is_longer_than_an_object_can_be_then_refused", colour_in_protobuf, 9 << 20, false },
};

static void put_list(const struct kar_buf *toy, struct kar_buf *out)
{
	struct kar_buf list = { .cap = PB_CAP };

	pb_put_bytes(&list, 2, "", 0);
	pb_put_bytes(&list, 2, kar_buf_cstr(toy), toy->n);
	pb_put_bytes(&list, 2, "", 0);
	pb_put_envelope(out, "v1", "ToyList", list.n);
	kar_buf_append(out, list.p, list.n);
	kar_buf_release(&list);
}

static void put_watch(const struct kar_buf *toy, struct kar_buf *out)
{
	struct kar_buf document = { .cap = PB_CAP }, extension = { .cap = PB_CAP }, event = { .cap = PB_CAP };

	pb_put_envelope(&document, "v1", "Toy", toy->n);
	kar_buf_append(&document, kar_buf_cstr(toy), toy->n);
	pb_put_message(&extension, 1, &document);
	pb_put_text(&event, 1, "ADDED");
	pb_put_message(&event, 2, &extension);
	const unsigned n = (unsigned)event.n;
	const char length[] = { (char)(n >> 24), (char)(n >> 16 & 0xff), (char)(n >> 8 & 0xff),
		(char)(n & 0xff) };

	kar_buf_append(out, length, sizeof(length));
	kar_buf_append(out, event.p, event.n);
	kar_buf_release(&event);
}

static void rows_of_objects_in_protobuf(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(protobuf_rows); i++) {
		const struct row *row = &protobuf_rows[i];

		for (int watch = 0; watch < 2; watch++) {
			struct kar_buf toy = { .cap = PB_CAP }, bytes = { .cap = PB_CAP };

			row->put(&toy, row->n);
			(watch ? put_watch : put_list)(&toy, &bytes);
			read_text(row->name, &bytes, watch, row->expect_read);
			kar_buf_release(&toy);
			kar_buf_release(&bytes);
		}
	}
}

/* A type that has no protobuf numbers would be read as if it were empty. */
static void protobuf_that_nobody_asked_for_then_refused(void **state)
{
	struct kar_type plain = toy_type;
	struct kar_reflector_tables tables;
	struct kar_buf toy = { 0 }, bytes = { 0 };
	struct kar_err err = { 0 };
	int n = 0;

	(void)state;
	plain.protobuf = false;
	kar_reflector_tables_init(&tables, &plain);
	put_list(&toy, &bytes);
	struct kar_reflector_stream *s = kar_reflector_stream_list(&tables, count, NULL, &n);

	assert_int_equal(kar_reflector_stream_feed(s, bytes.p, bytes.n, &err), -1);
	assert_non_null(strstr(err.msg, "not JSON"));
	assert_int_equal(n, 0);
	kar_reflector_stream_free(s);
	kar_buf_release(&bytes);
}

static void nothing_came_then_no_error(void **state)
{
	struct kar_reflector_tables tables;

	(void)state;
	kar_reflector_tables_init(&tables, &toy_type);
	struct kar_reflector_stream *s = kar_reflector_stream_watch(&tables, count, NULL);

	assert_int_equal(kar_reflector_stream_feed(s, "", 0, NULL), 0);
	assert_int_equal(kar_reflector_stream_finish(s, NULL), 0);
	kar_reflector_stream_free(s);
	kar_reflector_stream_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_objects),
		cmocka_unit_test(rows_of_objects_in_protobuf),
		cmocka_unit_test(protobuf_that_nobody_asked_for_then_refused),
		cmocka_unit_test(nothing_came_then_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
