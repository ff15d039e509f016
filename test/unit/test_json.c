#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/json.h"
#include "test/unit/zoo.h"

/* --- streams: what they deliver, as text ----------------------------------------------------------- */

struct story {
	struct kar_buf text;
	int stop_at; /* refuse the element or document with this number, 0: none */
	int seen;
};

static int stopped(struct story *s, struct kar_err *err)
{
	return ++s->seen == s->stop_at ? kar_fail(err, KAR_CONFLICT, "enough") : 0;
}

static int tell_element(void *arg, const void *elem, struct kar_err *err)
{
	struct story *s = arg;

	kar_buf_puts(&s->text, "elem{");
	zoo_print(&s->text, elem);
	kar_buf_puts(&s->text, "} ");
	return stopped(s, err);
}

static int tell_list(void *arg, const void *document, struct kar_err *err)
{
	const struct zoo_list *l = document;
	struct story *s = arg;

	kar_buf_printf(&s->text, "list{%s,%s} ", l->before ? l->before : "-", l->after ? l->after : "-");
	return stopped(s, err);
}

static int tell_zoo(void *arg, const void *document, struct kar_err *err)
{
	struct story *s = arg;

	kar_buf_puts(&s->text, "doc{");
	zoo_print(&s->text, document);
	kar_buf_puts(&s->text, "} ");
	return stopped(s, err);
}

/* Sizes of the chunks that a text is cut into. */
struct chunks {
	size_t split; /* two chunks, cut here; 0: see below */
	size_t fixed; /* chunks of this size; 0: random ones */
	uint64_t random;
	size_t max;
};

static size_t next_chunk(struct chunks *c, size_t at, size_t left)
{
	size_t n = c->fixed;

	if (c->split) {
		n = at == 0 ? c->split : left;
	} else if (n == 0) {
		c->random = c->random * 6364136223846793005u + 1442695040888963407u;
		n = 1 + (size_t)(c->random >> 33) % c->max;
	}
	return n < left ? n : left;
}

/* What a stream says to @text, fed in @chunks. @list: a list, else a sequence of documents. */
static void tell(const char *text, size_t n, bool list, struct chunks chunks, int stop_at,
	const struct kar_limits *limits, struct kar_buf *out)
{
	struct story story = { .stop_at = stop_at };
	struct kar_json_stream *s = kar_json_stream_new(list ? &zoo_list_desc : &zoo_desc, limits,
		tell_element, list ? tell_list : tell_zoo, &story);
	struct kar_err err = { 0 };
	int rc = 0;

	for (size_t at = 0, len; at < n && rc == 0; at += len) {
		len = next_chunk(&chunks, at, n - at);
		char *copy = kar_xmalloc(len); /* so that a sanitizer sees any use after the call */

		memcpy(copy, text + at, len);
		rc = kar_json_stream_feed(s, copy, len, &err);
		free(copy);
	}
	if (rc == 0)
		rc = kar_json_stream_finish(s, &err);
	kar_buf_printf(out, "%s%s", kar_buf_cstr(&story.text), rc ? "error: " : "");
	if (rc)
		kar_buf_puts(out, err.msg);
	kar_buf_release(&story.text);
	kar_json_stream_free(s);
}

static const struct stream_row {
	const char *name, *text;
	bool list;
	const char *want;
	int stop_at;
} stream_rows[] = {
	{ "nothing", "", false, "" },
	{ "only_space", " \n ", false, "" },
	{ "one_document", "{\"s\":\"a\"}", false, "doc{s=a } " },
	{ "documents_on_lines", "{\"s\":\"a\"}\n{\"i32\":2}\n", false, "doc{s=a } doc{i32=2 } " },
	{ "documents_without_space", "{\"s\":\"a\"}{}{\"s\":\"b\"}", false, "doc{s=a } doc{} doc{s=b } " },
	{ "members_do_not_leak_into_the_next", "{\"s\":\"a\",\"raw\":[1],\"ptr\":{}}{\"b\":true}", false,
		"doc{s=a ptr(- 0 ) raw=[1] } doc{b } " },
	{ "raw_of_each_kind",
		"{\"raw\": {\"a\" : [1, \"\\u0041}\"]} ,\"s\":\"x\"}{\"raw\" :-1.50e+3}{\"raw\":\"a\\\"b\"}"
		"{\"raw\":false }{\"raw\":null}",
		false,
		"doc{s=x raw={\"a\" : [1, \"\\u0041}\"]} } doc{raw=-1.50e+3 } doc{raw=\"a\\\"b\" } doc{raw=false } doc{} " },
	{ "raw_null_then_another", "{\"raw\": null ,\"raw\":[1]}", false, "doc{raw=[1] } " },
	{ "watch_events",
		"{\"type\":\"sub\",\"object\":{\"x\":\"a\",\"y\":1}}\n{\"type\":\"text\",\"object\":{\"text\":\"hi\"}}\n"
		"{\"type\":\"BOOKMARK\",\"object\":{\"x\":\"a\"}}\n",
		false, "doc{type=sub object(a 1 ) } doc{type=text object(hi) } doc{type=BOOKMARK } " },
	{ "list",
		"{\"before\":\"b\",\"items\":[{\"s\":\"1\"}, {} ,{\"strings\":[\"x\",\"y\"]}],\"after\":\"a\"}",
		true, "elem{s=1 } elem{} elem{strings=x,y } list{b,a} " },
	{ "empty_list", "{\"items\":[]}", true, "list{-,-} " },
	{ "null_items", "{\"items\":null,\"after\":\"a\"}", true, "list{-,a} " },
	{ "null_element_then_left_out", "{\"items\":[null,{\"s\":\"a\"}]}", true, "elem{s=a } list{-,-} " },
	{ "raw_in_elements", "{\"items\":[{\"raw\":[1 ]},{\"raw\":{ }}]}", true,
		"elem{raw=[1 ] } elem{raw={ } } list{-,-} " },
	{ "escapes_and_long_characters", "{\"s\":\"\\ud83d\\ude00\xF0\x9F\x98\x80\\n\"}", false,
		"doc{s=\xF0\x9F\x98\x80\xF0\x9F\x98\x80\n } " },
	{ "callback_refuses_second_element", "{\"items\":[{},{\"s\":\"a\"},{}]}", true,
		"elem{} elem{s=a } error: enough", 2 },
	{ "callback_refuses_document", "{}{}{}", false, "doc{} doc{} error: enough", 2 },
	{ "element_of_wrong_type", "{\"items\":[{},5]}", true,
		"elem{} error: items[1]: want an object, got a number (at byte 14)" },
	{ "error_in_second_element", "{\"items\":[{},{\"sub\":{\"y\":\"x\"}}]}", true,
		"elem{} error: items[1].sub.y: want an integer, got a string (at byte 28)" },
	{ "error_in_second_document", "{\"s\":\"a\"}{\"s\":1}", false,
		"doc{s=a } error: s: want a string, got a number (at byte 6)" },
	{ "truncated_in_object", "{\"s\":\"a\"", false, "error: s: truncated JSON (at byte 8)" },
	{ "truncated_in_string", "{\"s\":\"a", false, "error: s: truncated JSON (at byte 7)" },
	{ "truncated_second_document", "{}\n{\"sub\":{\"x\"", false,
		"doc{} error: sub.x: truncated JSON (at byte 12)" },
	{ "truncated_before_first_token_ends", "{}\"abc", false, "doc{} error: truncated JSON (at byte 4)" },
	{ "truncated_list", "{\"items\":[{\"s\":\"1\"},", true,
		"elem{s=1 } error: items[1]: truncated JSON (at byte 20)" },
	{ "top_level_number", "12", false, "error: Zoo: want an object, got a number (at byte 2)" },
	{ "top_level_comma", "{},{}", false,
		"doc{} error: not JSON: parse error: unallowed token at this point in JSON text "
		"(at byte 1)" },
	{ "byte_order_mark", "\xEF\xBB\xBF{}", false,
		"error: not JSON: lexical error: invalid char in json text (at byte 1)" },
	{ "html", "<html><body>502 Bad Gateway</body></html>", false,
		"error: not JSON: lexical error: invalid char in json text (at byte 1)" },
	{ "form_feed_between_documents", "{}\f{}", false,
		"doc{} error: not JSON: lexical error: invalid char in json text (at byte 1)" },
	{ "vertical_tab_in_a_raw_value", "{\"raw\":[1,\v2]}", false,
		"error: raw: not JSON: lexical error: invalid char in json text (at byte 11)" },
	{ "word_inside", "{\"sub\":{\"x\":nope}}", false,
		"error: sub.x: not JSON: lexical error: invalid string in json text (at byte 13)" },
	{ "trailing_comma", "{\"strings\":[\"a\",]}", false,
		"error: strings[1]: not JSON: parse error: unallowed token at this point in JSON text (at byte 17)" },
	{ "number_with_leading_zero", "{\"i32\":012}", false,
		"error: i32: not JSON: parse error: after key and value, inside map, I expect ',' or '}' (at byte 8)" },
};

static void streams(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(stream_rows); i++) {
		const struct stream_row *r = &stream_rows[i];
		struct kar_buf got = { 0 };

		tell(r->text, strlen(r->text), r->list, (struct chunks){ .fixed = 1 << 20 }, r->stop_at, NULL,
			&got);
		if (strcmp(kar_buf_cstr(&got), r->want) != 0)
			fail_msg("%s:\n  got  %s\n  want %s", r->name, kar_buf_cstr(&got), r->want);
		kar_buf_release(&got);
	}
}

/* Property: where the text is cut changes nothing, the offsets in errors of the scanner excepted. */
static void check_cut(const struct stream_row *r, struct chunks chunks)
{
	const char *offset = strstr(r->want, "not JSON") ? strstr(r->want, " (at byte") : NULL;
	size_t n = offset ? (size_t)(offset - r->want) : SIZE_MAX;
	struct kar_buf got = { 0 };

	tell(r->text, strlen(r->text), r->list, chunks, r->stop_at, NULL, &got);
	if (strncmp(kar_buf_cstr(&got), r->want, n) != 0)
		fail_msg("%s, split %zu, fixed %zu:\n  got  %s\n  want %s", r->name, chunks.split,
			chunks.fixed, kar_buf_cstr(&got), r->want);
	kar_buf_release(&got);
}

static void streams_cut_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(stream_rows); i++) {
		const struct stream_row *r = &stream_rows[i];

		for (size_t split = 1; split < strlen(r->text); split++)
			check_cut(r, (struct chunks){ .split = split });
		for (size_t fixed = 1; fixed <= 7; fixed++)
			check_cut(r, (struct chunks){ .fixed = fixed });
	}
}

static void nul_bytes_then_refused(void **state)
{
	static const char text[] = "{}\0{}";
	struct kar_buf got = { 0 };

	(void)state;
	tell(text, sizeof(text) - 1, false, (struct chunks){ .fixed = 100 }, 0, NULL, &got);
	assert_string_equal(kar_buf_cstr(&got),
		"doc{} error: not JSON: lexical error: invalid char in json text (at byte 1)");
	kar_buf_release(&got);
}

/* CVE-2017-16516: an escape cut short after a high surrogate. */
static void hostile_escapes_then_no_crash(void **state)
{
	static const char *const texts[] = { "{\"s\":\"\\ud800\\\\uzzzz\"}", "{\"s\":\"\\ud800\\uzzzz\"}",
		"\"\\ud800\\\\uzzzz\"", "{\"s\":\"\\ud800", "{\"s\":\"\\ud800\"}",
		"{\"s\":\"\\ud800\\ud800\"}", "{\"s\":\"\\ud800\\u0041\"}", "{\"\\ud800\\\\uzzzz\":1}" };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(texts); i++) {
		for (size_t split = 1; split < strlen(texts[i]); split++) {
			struct kar_buf got = { 0 };

			tell(texts[i], strlen(texts[i]), false, (struct chunks){ .split = split }, 0, NULL,
				&got);
			assert_true(got.n > 0);
			kar_buf_release(&got);
		}
	}
}

/* --- limits and memory of streams ------------------------------------------------------------------------ */

static void limits_hold_per_element(void **state)
{
	static const struct kar_limits tight = { .document = 40, .string = 30, .elements = 3, .depth = 4 };
	static const struct stream_row rows[] = {
		{ "list_larger_than_a_document",
			"{\"items\":[{\"s\":\"aaaaaaaaaa\"},{\"s\":\"bbbbbbbbbb\"},{\"s\":\"c\"}]}", true,
			"elem{s=aaaaaaaaaa } elem{s=bbbbbbbbbb } elem{s=c } list{-,-} " },
		{ "element_too_large", "{\"items\":[{},{\"u\":\"4567890123456789012345678901234567890\"}]}",
			true, "elem{} error: items[1]: larger than 40 bytes (at byte 57)" },
		{ "outside_of_elements_counted_together",
			"{\"u\":\"78901234567890\",\"items\":[{},{}],\"v\":\"5678901234\"}", true,
			"elem{} elem{} error: ZooList: larger than 40 bytes (at byte 54)" },
		{ "elements_counted_anew",
			"{\"items\":[{\"strings\":[\"a\",\"b\"]},{\"strings\":[\"a\",\"b\"]}]}", true,
			"elem{strings=a,b } elem{strings=a,b } list{-,-} " },
		{ "depth_counted_from_the_element", "{\"items\":[{\"u\":[[[]]]}]}", true,
			"elem{} list{-,-} " },
		{ "depth_above_limit", "{\"items\":[{\"u\":[[[[]]]]}]}", true,
			"error: items[0]: nested deeper than 4 levels (at byte 19)" },
		{ "documents_counted_anew",
			"{\"s\":\"aaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n{\"s\":\"bbbbbbbbbbbbbbbbbbbbbb\"}", false,
			"doc{s=aaaaaaaaaaaaaaaaaaaaaaaaaa } doc{s=bbbbbbbbbbbbbbbbbbbbbb } " },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf got = { 0 };

		tell(rows[i].text, strlen(rows[i].text), rows[i].list, (struct chunks){ .fixed = 1000 }, 0,
			&tight, &got);
		if (strcmp(kar_buf_cstr(&got), rows[i].want) != 0)
			fail_msg("%s:\n  got  %s\n  want %s", rows[i].name, kar_buf_cstr(&got), rows[i].want);
		kar_buf_release(&got);
	}
}

/* A string without end is refused while it is still being collected. */
static void endless_token_then_refused_early(void **state)
{
	static const char *const starts[] = { "{\"u\":\"", "\"", "{\"raw\":\"", "[" };
	static const struct kar_limits limits = { .document = 100000 };
	char fill[4096];

	(void)state;
	memset(fill, 'x', sizeof(fill));
	for (size_t i = 0; i < KAR_LEN(starts); i++) {
		struct kar_json_stream *s = kar_json_stream_new(&zoo_desc, &limits, NULL, NULL, NULL);
		struct kar_err err = { 0 };
		size_t fed = 0;
		int rc = kar_json_stream_feed(s, starts[i], strlen(starts[i]), &err);

		for (; rc == 0 && fed < 10 * limits.document; fed += sizeof(fill))
			rc = kar_json_stream_feed(s, fill, sizeof(fill), &err);
		assert_int_equal(rc, -1);
		assert_int_equal(err.what, KAR_INVALID);
		if (fed > limits.document + sizeof(fill))
			fail_msg("%s: refused only after %zu bytes", starts[i], fed);
		kar_json_stream_free(s);
	}
}

/* What malloc has handed out. (0 under a sanitizer, whose allocator does not tell.) */
static size_t malloc_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

struct meter {
	size_t count, start, peak; /* elements; bytes that malloc has handed out */
};

static int measure(void *arg, const void *elem, struct kar_err *err)
{
	struct meter *m = arg;
	size_t now = malloc_bytes();

	(void)elem;
	(void)err;
	m->count++;
	m->peak = now > m->peak ? now : m->peak;
	return 0;
}

/* 100000 elements pass through the memory of one. */
static void long_list_in_constant_memory(void **state)
{
	enum { ELEMENTS = 100000, MOST = 256 * 1024 };
	static const char elem[] =
		"{\"s\":\"some name or other\",\"items\":[{\"x\":\"a\"},{\"x\":\"b\"}],\"raw\":[1,2,3]},";
	struct meter m = { .start = malloc_bytes() };
	struct kar_json_stream *s = kar_json_stream_new(&zoo_list_desc, NULL, measure, NULL, &m);
	struct kar_err err = { 0 };

	(void)state;
	assert_int_equal(kar_json_stream_feed(s, "{\"items\":[", 10, &err), 0);
	for (size_t i = 0; i < ELEMENTS; i++)
		assert_int_equal(kar_json_stream_feed(s, elem, sizeof(elem) - 1, &err), 0);
	assert_int_equal(kar_json_stream_feed(s, "{}]}", 4, &err), 0);
	assert_int_equal(kar_json_stream_finish(s, &err), 0);
	assert_int_equal(m.count, ELEMENTS + 1);
	if (m.peak - m.start > MOST)
		fail_msg("%zu bytes in use", m.peak - m.start);
	kar_json_stream_free(s);
}

/* A long text on its way in leaves nothing behind: neither in the parser nor in a raw capture. */
static void memory_after_a_large_document(void **state)
{
	enum { FILL = 1 << 20, MOST = 96 * 1024 };
	struct kar_json_stream *s = kar_json_stream_new(&zoo_desc, NULL, NULL, NULL, NULL);
	struct kar_err err;
	char *fill = kar_xmalloc(FILL);
	size_t start = malloc_bytes();

	(void)state;
	memset(fill, 'x', FILL);
	assert_int_equal(kar_json_stream_feed(s, "{\"raw\":\"", 8, &err), 0);
	assert_int_equal(kar_json_stream_feed(s, fill, FILL, &err), 0);
	assert_int_equal(kar_json_stream_feed(s, "\"}\n", 3, &err), 0);
	if (malloc_bytes() > start + MOST)
		fail_msg("%zu bytes more than before", malloc_bytes() - start);
	assert_int_equal(kar_json_stream_feed(s, "{}", 2, &err), 0);
	assert_int_equal(kar_json_stream_finish(s, &err), 0);
	kar_json_stream_free(s);
	free(fill);
}

/* Documents above and below the size at which the parser's handle is replaced, in chunks of any size. */
static void large_documents_in_random_chunks(void **state)
{
	enum { SEED = 20261121 };
	struct kar_buf text = { 0 }, want = { 0 };

	(void)state;
	for (int i = 0; i < 6; i++) {
		kar_buf_printf(&text, "{\"i32\":%d,\"raw\":[", i);
		kar_buf_printf(&want, "doc{i32=%d raw=[", i);
		for (int j = 0; j < (i % 2 ? 20000 : 300); j++) {
			kar_buf_printf(&text, "\"%d\\n\", ", j);
			kar_buf_printf(&want, "\"%d\\n\", ", j);
		}
		kar_buf_puts(&text, "0]} \n");
		kar_buf_puts(&want, "0] } ");
	}
	for (int round = 0; round < 12; round++) {
		struct chunks chunks = { .random = SEED + (uint64_t)round, .max = (size_t)1 << (round + 5) };
		struct kar_buf got = { 0 };

		tell(text.p, text.n, false, chunks, 0, NULL, &got);
		if (strcmp(kar_buf_cstr(&got), kar_buf_cstr(&want)) != 0)
			fail_msg("seed %ju, chunks up to %zu: result differs", (uintmax_t)chunks.random,
				chunks.max);
		kar_buf_release(&got);
	}
	kar_buf_release(&text);
	kar_buf_release(&want);
}

static void idle_only_between_documents(void **state)
{
	static const struct {
		const char *feed;
		bool idle;
	} steps[] = { { "", true }, { " \n", true }, { "{", false }, { "\"s\":\"a\"", false }, { "}", true },
		{ "\n", true }, { "{}{", false }, { "} {}", true }, { "\"a", false } };
	struct kar_json_stream *s = kar_json_stream_new(&zoo_desc, NULL, NULL, NULL, NULL);
	struct kar_err err;

	(void)state;
	assert_true(kar_json_stream_idle(s));
	for (size_t i = 0; i < KAR_LEN(steps); i++) {
		assert_int_equal(kar_json_stream_feed(s, steps[i].feed, strlen(steps[i].feed), &err), 0);
		if (kar_json_stream_idle(s) != steps[i].idle)
			fail_msg("step %zu, after \"%s\": idle is %d", i, steps[i].feed, !steps[i].idle);
	}
	kar_json_stream_free(s);
	kar_json_stream_free(NULL);
}

static void decode_leaves_output_alone_on_failure(void **state)
{
	static const char *const bad[] = { "", "  ", "{\"s\":\"a\"", "{\"s\":\"a\"} {}", "{\"s\":\"a\"} x",
		"{\"s\":\"a\"} \"", "{\"s\":1}", "[]" };
	struct kar_arena arena = { 0 };
	struct zoo z = { .i32 = 7 }, before = z;
	struct kar_err err;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(bad); i++) {
		if (kar_json_decode(&arena, &zoo_desc, NULL, bad[i], strlen(bad[i]), &z, &err) != -1)
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(err.what, KAR_INVALID);
		assert_memory_equal(&z, &before, sizeof(z));
	}
	assert_int_equal(kar_json_decode(&arena, &zoo_desc, NULL, "{", 1, &z, NULL), -1);
	kar_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams),
		cmocka_unit_test(streams_cut_anywhere),
		cmocka_unit_test(nul_bytes_then_refused),
		cmocka_unit_test(hostile_escapes_then_no_crash),
		cmocka_unit_test(limits_hold_per_element),
		cmocka_unit_test(endless_token_then_refused_early),
		cmocka_unit_test(long_list_in_constant_memory),
		cmocka_unit_test(memory_after_a_large_document),
		cmocka_unit_test(large_documents_in_random_chunks),
		cmocka_unit_test(idle_only_between_documents),
		cmocka_unit_test(decode_leaves_output_alone_on_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
