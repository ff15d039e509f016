/* Lists and watches that come in pieces. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/protobuf.h"
#include "test/unit/protobuf_text.h"
#include "test/unit/zoo.h"

/* What a stream has handed out, as text, and when it is to be stopped. */
struct heard {
	struct kar_buf text;
	const char *stop_at; /* a text that each or document refuses; NULL: none */
};

static int hear(struct heard *h, struct kar_buf *said, struct kar_err *err)
{
	bool stop = h->stop_at && strcmp(kar_buf_cstr(said), h->stop_at) == 0;

	kar_buf_puts(&h->text, kar_buf_cstr(said));
	kar_buf_release(said);
	return stop ? kar_fail(err, KAR_INVALID, "stopped") : 0;
}

static int on_zoo(void *arg, const void *elem, struct kar_err *err)
{
	struct kar_buf said = { 0 };

	kar_buf_puts(&said, "zoo( ");
	zoo_print(&said, elem);
	kar_buf_puts(&said, ") ");
	return hear(arg, &said, err);
}

static int on_list(void *arg, const void *root, struct kar_err *err)
{
	const struct zoo_list *list = root;
	struct kar_buf said = { 0 };

	kar_buf_printf(&said, "list(%s %s) ", list->before ? list->before : "-",
		list->after ? list->after : "-");
	return hear(arg, &said, err);
}

struct row {
	const char *name, *bytes;
	const char *want; /* what is handed out, then "error: ..." if it failed */
	const char *stop_at;
	const struct kar_limits *limits;
};

static struct kar_protobuf_stream *open_stream(const struct row *row, bool frames, struct heard *h)
{
	if (frames)
		return kar_protobuf_stream_new(&zoo_desc, row->limits, KAR_PROTOBUF_FRAMES, NULL, on_zoo, h);
	return kar_protobuf_stream_new(&zoo_list_desc, row->limits, KAR_PROTOBUF_DOCUMENT, on_zoo, on_list,
		h);
}

/* Each chunk is a block of its own, so that the sanitizer sees a read beyond it. */
static int feed(struct kar_protobuf_stream *s, const struct kar_buf *bytes, size_t chunk, struct kar_err *err)
{
	for (size_t at = 0; at < bytes->n; at += chunk) {
		size_t n = bytes->n - at < chunk ? bytes->n - at : chunk;
		char *copy = kar_xmalloc(n);

		memcpy(copy, bytes->p + at, n);
		int rc = kar_protobuf_stream_feed(s, copy, n, err);

		free(copy);
		if (rc)
			return -1;
	}
	return kar_protobuf_stream_finish(s, err);
}

static void check(const struct row *row, bool frames, const struct kar_buf *bytes, size_t chunk)
{
	struct heard h = { .stop_at = row->stop_at };
	struct kar_protobuf_stream *s = open_stream(row, frames, &h);
	struct kar_err err = { 0 };

	if (feed(s, bytes, chunk, &err))
		kar_buf_printf(&h.text, "error: %s", err.msg);
	if (strcmp(kar_buf_cstr(&h.text), row->want) != 0)
		fail_msg("%s, in pieces of %zu:\n  %s\n  got  %s\n  want %s", row->name, chunk, row->bytes,
			kar_buf_cstr(&h.text), row->want);
	kar_protobuf_stream_free(s);
	kar_buf_release(&h.text);
}

static void check_rows(const struct row *rows, size_t n, bool frames)
{
	for (size_t i = 0; i < n; i++) {
		struct kar_buf bytes = { 0 };

		pb_text(rows[i].bytes, &bytes);
		for (size_t chunk = 1; chunk <= bytes.n + 1; chunk++)
			check(&rows[i], frames, &bytes, chunk);
		kar_buf_release(&bytes);
	}
}

static const struct kar_limits tight = { .document = 20 };

static const struct row lists[] = {
	{ "as_kubernetes_writes_it",
		"'k8s' 00 1={1={'v1'} 2={'ZooList'}} 2={1={'b'} 2={1={'one'}} 2={} 2={4#07 12={1={'k'} 2={'v'}}}} 3={} 4={}",
		"zoo( s=one ) zoo( ) zoo( i32=7 map[k]=v ) list(b -) " },
	{ "members_around_the_items", "'k8s' 00 2={2={1={'x'}} 1={'b'} 2={1={'y'}} 3={'a'}}",
		"zoo( s=x ) zoo( s=y ) list(b a) " },
	{ "no_items", "'k8s' 00 2={1={'b'}} 3={}", "list(b -) " },
	{ "empty_list", "'k8s' 00 2={}", "list(- -) " },
	{ "unknown_fields_then_skipped",
		"'k8s' 00 99={'zz'} 2={99#05 2={1={'x'}} 9d 06 01 02 03 04 99={ff ff}}",
		"zoo( s=x ) list(- -) " },
	{ "nothing_at_all", "", "" },
	{ "not_protobuf", "'<html>'", "error: ZooList: not Kubernetes protobuf (at byte 0)" },
	{ "magic_alone", "'k8s' 00", "error: ZooList: truncated protobuf (at byte 4)" },
	{ "half_of_the_magic", "'k8'", "error: ZooList: truncated protobuf (at byte 2)" },
	{ "ends_before_the_list", "'k8s' 00 1={2={'L'}}", "error: ZooList: truncated protobuf (at byte 9)" },
	{ "ends_between_two_items", "'k8s' 00 12 40 2={1={'x'}}",
		"zoo( s=x ) error: ZooList: truncated protobuf (at byte 11)" },
	{ "ends_inside_an_item", "'k8s' 00 12 40 2={1={'x'}} 12 09 0a",
		"zoo( s=x ) error: ZooList: truncated protobuf (at byte 14)" },
	{ "item_longer_than_the_list", "'k8s' 00 12 04 12 05 'xxxxx'",
		"error: ZooList: truncated (at byte 6)" },
	{ "list_ends_inside_a_tag", "'k8s' 00 12 01 80 80", "error: ZooList: truncated (at byte 6)" },
	{ "second_object", "'k8s' 00 2={1={'b'}} 2={1={'c'}}",
		"list(b -) error: ZooList: a second object (at byte 9)" },
	{ "compressed", "'k8s' 00 2={} 3={'gzip'}",
		"list(- -) error: ZooList: the object is encoded once more (at byte 8)" },
	{ "malformed_item_then_its_place", "'k8s' 00 2={2={} 2={10={} 10={1#05}}}",
		"zoo( ) error: items[1].items[1].x: want a string, got a number (at byte 16)" },
	{ "items_that_are_no_messages", "'k8s' 00 2={2#05}",
		"error: items[0]: want an array, got a number (at byte 8)" },
	{ "group_in_the_list", "'k8s' 00 2={0b 0c}",
		"error: ZooList: a group, or a wire type that does not exist (at byte 6)" },
	{ "refused_item_then_stopped", "'k8s' 00 2={2={1={'x'}} 2={1={'y'}}}", "zoo( s=x ) error: stopped",
		.stop_at = "zoo( s=x ) " },
	{ "refused_list_then_failed", "'k8s' 00 2={1={'b'}} 3={}", "list(b -) error: stopped",
		.stop_at = "list(b -) " },
	{ "item_above_the_limit", "'k8s' 00 2={2={1={'012345678901234567'}} 2={1={'0123456789012345678'}}}",
		"zoo( s=012345678901234567 ) error: ZooList: larger than 20 bytes (at byte 28)",
		.limits = &tight },
	{ "member_above_the_limit", "'k8s' 00 2={1={'012345678901234567890'}}",
		"error: ZooList: larger than 20 bytes (at byte 6)", .limits = &tight },
	{ "many_members_above_the_limit",
		"'k8s' 00 2={1={'0123456'} 2={1={'0123456789'}} 99={'0123456'} 98#00}",
		"zoo( s=0123456789 ) error: ZooList: larger than 20 bytes (at byte 39)", .limits = &tight },
};

static void rows_of_lists(void **state)
{
	(void)state;
	check_rows(lists, KAR_LEN(lists), false);
}

static const struct row watches[] = {
	{ "frames", "00 00 00 05 1={'one'} 00 00 00 02 4#07 00 00 00 03 1={'x'}",
		"zoo( s=one ) zoo( i32=7 ) zoo( s=x ) " },
	{ "empty_frame", "00 00 00 00 00 00 00 03 1={'x'}", "zoo( ) zoo( s=x ) " },
	{ "nothing_at_all", "", "" },
	{ "ends_inside_a_length", "00 00 00 03 1={'x'} 00 00",
		"zoo( s=x ) error: Zoo: truncated protobuf (at byte 9)" },
	{ "ends_after_a_length", "00 00 00 03", "error: Zoo: truncated protobuf (at byte 4)" },
	{ "ends_inside_a_frame", "00 00 00 03 0a 01", "error: Zoo: truncated protobuf (at byte 6)" },
	{ "message_longer_than_its_frame", "00 00 00 03 0a 05 'xxxxx'", "error: Zoo: truncated (at byte 4)" },
	{ "error_names_the_byte_of_the_stream", "00 00 00 03 1={'x'} 00 00 00 02 1#05",
		"zoo( s=x ) error: s: want a string, got a number (at byte 13)" },
	{ "frame_at_the_limit", "00 00 00 14 1={'012345678901234567'}", "zoo( s=012345678901234567 ) ",
		.limits = &tight },
	{ "frame_above_the_limit_then_refused_at_once", "00 00 00 15",
		"error: Zoo: larger than 20 bytes (at byte 0)", .limits = &tight },
	{ "absurd_length_then_refused_at_once", "ff ff ff ff",
		"error: Zoo: larger than 8388608 bytes (at byte 0)" },
	{ "refused_event_then_stopped", "00 00 00 03 1={'x'} 00 00 00 03 1={'y'}",
		"zoo( s=x ) error: stopped", .stop_at = "zoo( s=x ) " },
};

static void rows_of_watches(void **state)
{
	(void)state;
	check_rows(watches, KAR_LEN(watches), true);
}

struct meter {
	size_t units, most;
};

static size_t memory_in_use(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static int measure(void *arg, const void *elem, struct kar_err *err)
{
	struct meter *m = arg;
	size_t now = memory_in_use();

	(void)elem;
	(void)err;
	m->units++;
	m->most = now > m->most ? now : m->most;
	return 0;
}

enum { UNITS = 10000, UNIT = 2000, ROOM = 200000 };

/* UNITS times @unit, in two chunks each that end anywhere; at no time may more than ROOM bytes be in use. */
static void feed_many(struct kar_protobuf_stream *s, const struct kar_buf *unit, struct meter *m)
{
	size_t before = memory_in_use();

	*m = (struct meter){ 0 };
	for (int i = 0; i < UNITS; i++) {
		size_t cut = (size_t)i % unit->n;

		assert_int_equal(kar_protobuf_stream_feed(s, unit->p, cut, NULL), 0);
		assert_int_equal(kar_protobuf_stream_feed(s, unit->p + cut, unit->n - cut, NULL), 0);
	}
	assert_int_equal(m->units, UNITS);
	if (m->most > before + ROOM)
		fail_msg("%zu bytes in use, %zu before", m->most, before);
}

/* A zoo with a string of @n bytes. */
static void put_zoo(struct kar_buf *out, size_t n)
{
	char *text = kar_xmalloc(n);

	memset(text, 'x', n);
	pb_put_bytes(out, 1, text, n);
	free(text);
}

static void list_of_any_length_then_one_item_in_memory(void **state)
{
	struct kar_buf item = { 0 }, field = { 0 }, head = { 0 };
	struct meter m;
	struct kar_protobuf_stream *s =
		kar_protobuf_stream_new(&zoo_list_desc, NULL, KAR_PROTOBUF_DOCUMENT, measure, NULL, &m);

	(void)state;
	put_zoo(&item, UNIT);
	pb_put_message(&field, 2, &item);
	pb_put_envelope(&head, "v1", "ZooList", UNITS * field.n);
	assert_int_equal(kar_protobuf_stream_feed(s, head.p, head.n, NULL), 0);
	feed_many(s, &field, &m);
	assert_int_equal(kar_protobuf_stream_finish(s, NULL), 0);
	kar_protobuf_stream_free(s);
	kar_protobuf_stream_free(NULL);
	kar_buf_release(&head);
	kar_buf_release(&field);
}

static void watch_of_any_length_then_one_event_in_memory(void **state)
{
	const struct zoo zoo = { .s = "a string that is kept as long as the event" };
	struct kar_buf frame = { 0 }, large = { 0 }, message = { 0 };
	struct meter m;
	struct kar_protobuf_stream *s =
		kar_protobuf_stream_new(&zoo_desc, NULL, KAR_PROTOBUF_FRAMES, NULL, measure, &m);
	size_t before;

	(void)state;
	pb_put_frame(&frame, &zoo_desc, &zoo);
	feed_many(s, &frame, &m);
	put_zoo(&message, 1 << 20);
	pb_text("00 10 00 04", &large);
	kar_buf_append(&large, message.p, message.n);
	before = memory_in_use();
	assert_int_equal(kar_protobuf_stream_feed(s, large.p, 5, NULL), 0);
	assert_int_equal(kar_protobuf_stream_feed(s, large.p + 5, large.n - 5, NULL), 0);
	assert_int_equal(m.units, UNITS + 1);
	assert_in_range(memory_in_use(), 0, before + ROOM); /* what a large event took is given back */
	kar_protobuf_stream_free(s);
	kar_buf_release(&frame);
	kar_buf_release(&large);
	kar_buf_release(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_lists),
		cmocka_unit_test(rows_of_watches),
		cmocka_unit_test(list_of_any_length_then_one_item_in_memory),
		cmocka_unit_test(watch_of_any_length_then_one_event_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
