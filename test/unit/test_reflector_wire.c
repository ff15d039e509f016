/* reflector_wire: what a user may put into an object must not stop the reading of all the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/kube/reflector_wire.h"
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

static void read_row(const struct row *row, bool watch)
{
	struct kar_buf text = { .cap = 16 << 20 };
	struct kar_reflector_tables tables;
	struct kar_err err = { 0 };
	int n = 0, rc;

	kar_reflector_tables_init(&tables, &toy_type);
	(watch ? watch_text : list_text)(row, &text);
	struct kar_json_stream *s = watch
		? kar_json_stream_new(&tables.watch, &kar_reflector_limits, NULL, count, &n)
		: kar_json_stream_new(&tables.list, &kar_reflector_limits, count, NULL, &n);

	rc = kar_json_stream_feed(s, text.p, text.n, &err);
	if (row->expect_read != (rc == 0) || (rc == 0 && n != (watch ? 1 : 3)))
		fail_msg("%s (%s): %d read, %s", row->name, watch ? "watch" : "list", n, err.msg);
	kar_json_stream_free(s);
	kar_buf_release(&text);
}

static void rows_of_objects(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		read_row(&rows[i], false);
		read_row(&rows[i], true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
