#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/json.h"
#include "test/unit/zoo.h"

/* --- writer ----------------------------------------------------------------------------------------- */

static void write_every_kind(struct kar_json_writer *w)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "text", "a\"b\\c\n\x01/\xC3\xA9");
	kar_jw_kv_int(w, "min", INT64_MIN);
	kar_jw_kv_bool(w, "yes", true);
	kar_jw_kv_time(w, "time", 1795268787999);
	kar_jw_key(w, "list");
	kar_jw_begin_array(w);
	kar_jw_null(w);
	kar_jw_bool(w, false);
	kar_jw_string_n(w, "abcdef", 3);
	kar_jw_raw(w, (struct kar_str){ .p = "{ \"a\" : 1.0 }", .n = 13 });
	kar_jw_begin_object(w);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
}

static void writer(void **state)
{
	struct kar_buf out = { 0 };
	struct kar_json_writer w;

	(void)state;
	kar_json_writer_init(&w, &out);
	write_every_kind(&w);
	kar_json_writer_release(&w);
	kar_json_writer_release(&w); /* harmless twice */
	assert_string_equal(kar_buf_cstr(&out),
		"{\"text\":\"a\\\"b\\\\c\\n\\u0001/\xC3\xA9\",\"min\":-9223372036854775808,"
		"\"yes\":true,\"time\":\"2026-11-21T13:46:27Z\",\"list\":[null,false,\"abc\",{ \"a\" : 1.0 },{}]}");
	kar_buf_release(&out);
}

static void bad_text_is_mended(void **state)
{
	struct kar_buf out = { 0 };
	struct kar_json_writer w;

	(void)state;
	kar_json_writer_init(&w, &out);
	kar_jw_string_n(&w, "a\xFF\0b\xED\xA0\x80", 7);
	kar_json_writer_release(&w);
	assert_string_equal(kar_buf_cstr(&out),
		"\"a\xEF\xBF\xBD\xEF\xBF\xBD"
		"b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
	kar_buf_release(&out);
}

static uint64_t random_state;

static unsigned roll(unsigned sides)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % sides;
}

/* Property: what is written, whatever the bytes, reads back as its mended self. */
static void written_text_reads_back(void **state)
{
	enum { SEED = 7, ROUNDS = 3000, MAX_TEXT = 24 };

	(void)state;
	random_state = SEED;
	for (int round = 0; round < ROUNDS; round++) {
		char text[MAX_TEXT];
		size_t n = roll(MAX_TEXT);
		struct kar_buf out = { 0 };
		struct kar_json_writer w;
		struct kar_arena arena = { 0 };
		struct zoo z;
		struct kar_err err;

		for (size_t i = 0; i < n; i++)
			text[i] = (char)(roll(3) ? roll(256) : roll(128));
		kar_json_writer_init(&w, &out);
		kar_jw_begin_object(&w);
		kar_jw_key(&w, "s");
		kar_jw_string_n(&w, text, n);
		kar_jw_kv_int(&w, "i64", (int64_t)random_state);
		kar_jw_end_object(&w);
		kar_json_writer_release(&w);
		if (kar_json_decode(&arena, &zoo_desc, NULL, out.p, out.n, &z, &err))
			fail_msg("seed %d round %d: %s", SEED, round, err.msg);
		assert_int_equal(z.i64, (int64_t)random_state);

		/* Written once more, it must be the same bytes: mending is done. */
		struct kar_buf again = { 0 };

		kar_json_writer_init(&w, &again);
		kar_jw_begin_object(&w);
		kar_jw_kv_string(&w, "s", z.s);
		kar_jw_kv_int(&w, "i64", z.i64);
		kar_jw_end_object(&w);
		kar_json_writer_release(&w);
		assert_string_equal(kar_buf_cstr(&again), kar_buf_cstr(&out));
		kar_buf_release(&again);
		kar_buf_release(&out);
		kar_arena_release(&arena);
	}
}

/* --- canonical form and merge ---------------------------------------------------------------------------- */

static void canonical(void **state)
{
	static const struct {
		const char *name, *in, *want; /* want NULL: refused */
	} rows[] = {
		{ "white_space_goes", " { \"a\" : [ 1 , 2 ] } \n", "{\"a\":[1,2]}" },
		{ "keys_sorted_by_bytes", "{\"b\":1,\"a\":2,\"B\":3,\"\xC3\xA9\":4,\"aa\":5,\"\":6}",
			"{\"\":6,\"B\":3,\"a\":2,\"aa\":5,\"b\":1,\"\xC3\xA9\":4}" },
		{ "nested_keys_too", "[{\"b\":{\"d\":1,\"c\":2},\"a\":3}]",
			"[{\"a\":3,\"b\":{\"c\":2,\"d\":1}}]" },
		{ "arrays_keep_order", "[3,1,2]", "[3,1,2]" },
		{ "numbers_verbatim", "[1.0,1e3,-0,18446744073709551616]",
			"[1.0,1e3,-0,18446744073709551616]" },
		{ "escapes_made_equal", "{\"\\u0062\":\"\\u0041\\/\",\"a\":\"A/\"}",
			"{\"a\":\"A/\",\"b\":\"A/\"}" },
		{ "duplicate_keys_then_last", "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}" },
		{ "words", "[null,true,false]", "[null,true,false]" },
		{ "single_number", "12", "12" },
		{ "single_string", " \"a\" ", "\"a\"" },
		{ "empty_containers", "[{},[],\"\"]", "[{},[],\"\"]" },
		{ "empty_text_then_refused", "", NULL },
		{ "truncated_then_refused", "{\"a\":1", NULL },
		{ "two_documents_then_refused", "{} {}", NULL },
		{ "two_documents_the_second_cut_then_refused", "{} \"a", NULL },
		{ "garbage_then_refused", "{]", NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };

		kar_buf_puts(&out, "x");
		int rc = kar_json_canonical(rows[i].in, strlen(rows[i].in), &out, &err);

		if (rc != (rows[i].want ? 0 : -1) || strcmp(out.p + 1, rows[i].want ? rows[i].want : "") != 0)
			fail_msg("%s:\n  got  %s %s\n  want %s", rows[i].name, out.p + 1, err.msg,
				rows[i].want);
		assert_int_equal(err.what, rows[i].want ? KAR_OK : KAR_INVALID);
		kar_buf_release(&out);
	}
}

/* A random value; @shuffle only turns the order of members, drawn from its own generator. */
static void random_value(struct kar_buf *out, int depth, bool shuffle)
{
	static const char *const leaves[] = { "1", "-2.50", "\"a\"", "null", "true", "\"\\u00e9 \\n\"", "[]",
		"{}" };
	unsigned n = roll(5);

	if (depth == 0 || n == 0) {
		kar_buf_puts(out, leaves[roll(KAR_LEN(leaves))]);
		return;
	}
	bool object = roll(2);
	struct kar_buf parts[4] = { { 0 } };
	unsigned first = roll(4); /* drawn in both cases, so that the values are the same */

	for (unsigned i = 0; i < n; i++) {
		if (object)
			kar_buf_printf(&parts[i], "\"k%c%u\" : ", 'a' + (int)roll(3), i);
		random_value(&parts[i], depth - 1, shuffle);
	}
	kar_buf_puts(out, object ? "{" : "[");
	for (unsigned i = 0; i < n; i++) {
		unsigned from = object && shuffle ? (first + n - i) % n : i;

		kar_buf_printf(out, "%s%s", i ? " ," : "", kar_buf_cstr(&parts[from]));
	}
	kar_buf_puts(out, object ? "}" : "]");
	for (unsigned i = 0; i < n; i++)
		kar_buf_release(&parts[i]);
}

static void canonical_properties(void **state)
{
	enum { SEEDS = 500 };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct kar_buf a = { 0 }, b = { 0 }, ca = { 0 }, cb = { 0 }, again = { 0 };
		struct kar_err err;

		random_state = seed;
		random_value(&a, 4, false);
		random_state = seed;
		random_value(&b, 4, true);
		assert_int_equal(kar_json_canonical(a.p, a.n, &ca, &err), 0);
		assert_int_equal(kar_json_canonical(b.p, b.n, &cb, &err), 0);
		assert_int_equal(kar_json_canonical(ca.p, ca.n, &again, &err), 0);
		if (strcmp(ca.p, cb.p) != 0)
			fail_msg("seed %ju: order of keys matters:\n  %s\n  %s", (uintmax_t)seed, a.p, b.p);
		if (strcmp(ca.p, again.p) != 0)
			fail_msg("seed %ju: not idempotent:\n  %s\n  %s", (uintmax_t)seed, ca.p, again.p);
		kar_buf_release(&a);
		kar_buf_release(&b);
		kar_buf_release(&ca);
		kar_buf_release(&cb);
		kar_buf_release(&again);
	}
}

static void merge(void **state)
{
	static const struct {
		const char *name, *base, *patch, *want; /* want NULL: refused */
	} rows[] = {
		/* The test cases of RFC 7386, appendix A. */
		{ "replace", "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "add", "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "remove_last", "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
		{ "remove_one", "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
		{ "array_by_string", "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "string_by_array", "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
		{ "nested", "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
			"{\"a\":{\"b\":\"d\"}}" },
		{ "arrays_are_values", "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
		{ "array_by_array", "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
		{ "object_by_array", "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
		{ "object_by_null", "{\"a\":\"foo\"}", "null", "null" },
		{ "object_by_string", "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
		{ "null_in_base_stays", "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
		{ "array_by_object", "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
		{ "nulls_in_new_objects_go", "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
		/* What pods from templates need. */
		{ "untouched_parts_byte_exact",
			"{\"a\": {\"x\" : 1.0, \"x\":[ ] },\"b\":\"\\u0041\", \"c\":{\"d\" : 1}}",
			"{\"c\":{\"e\":2}}",
			"{\"a\":{\"x\" : 1.0, \"x\":[ ] },\"b\":\"\\u0041\",\"c\":{\"d\":1,\"e\":2}}" },
		{ "empty_patch_then_byte_exact", "{\"a\": { }}", "{\"a\":{}}", "{\"a\":{ }}" },
		{ "escaped_key_is_the_same_key", "{\"a\":1}", "{\"\\u0061\":2}", "{\"a\":2}" },
		{ "duplicate_keys_then_last", "{\"a\":1,\"b\":2,\"a\":3}",
			"{\"b\":4,\"c\":7,\"b\":5,\"c\":6}", "{\"b\":5,\"a\":3,\"c\":6}" },
		{ "bad_base", "{", "{}", NULL },
		{ "bad_patch", "{}", "{\"a\":}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_str base = { rows[i].base, strlen(rows[i].base) },
			       patch = { rows[i].patch, strlen(rows[i].patch) };
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };
		int rc = kar_json_merge(base, patch, &out, &err);

		if (rc != (rows[i].want ? 0 : -1) ||
			strcmp(kar_buf_cstr(&out), rows[i].want ? rows[i].want : "") != 0)
			fail_msg("%s:\n  got  %s %s\n  want %s", rows[i].name, kar_buf_cstr(&out), err.msg,
				rows[i].want);
		kar_buf_release(&out);
	}
}

static void errors_say_which_document(void **state)
{
	struct kar_str good = { "{}", 2 }, bad = { "{x", 2 };
	struct kar_buf out = { 0 };
	struct kar_err err;

	(void)state;
	assert_int_equal(kar_json_merge(bad, good, &out, &err), -1);
	assert_non_null(strstr(err.msg, "object to patch: not JSON"));
	assert_int_equal(kar_json_merge(good, bad, &out, &err), -1);
	assert_non_null(strstr(err.msg, "merge patch: not JSON"));
	kar_buf_release(&out);
}

static void bounds(void **state)
{
	static const struct {
		const char *name;
		int times;
		int rc;
	} rows[] = {
		{ "depth_120_then_accepted", 120, 0 },
		{ "depth_121_then_refused", 121, -1 },
		{ "depth_1e6_then_refused", 1000000, -1 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf text = { 0 }, out = { 0 };
		struct kar_err err;

		for (int j = 0; j < rows[i].times; j++)
			kar_buf_puts(&text, "[");
		for (int j = 0; j < rows[i].times; j++)
			kar_buf_puts(&text, "]");
		if (kar_json_canonical(text.p, text.n, &out, &err) != rows[i].rc)
			fail_msg("%s", rows[i].name);
		kar_buf_release(&text);
		kar_buf_release(&out);
	}
}

static void too_many_values_then_refused(void **state)
{
	struct kar_buf text = { 0 }, out = { 0 };
	struct kar_err err;

	(void)state;
	kar_buf_puts(&text, "[1");
	for (int i = 0; i < 300000; i++)
		kar_buf_puts(&text, ",1");
	kar_buf_puts(&text, "]");
	assert_int_equal(kar_json_canonical(text.p, text.n, &out, &err), -1);
	assert_int_equal(err.what, KAR_INVALID);
	assert_int_equal(out.n, 0);
	kar_buf_release(&text);
	kar_buf_release(&out);
}

static void result_above_the_cap_then_refused_whole(void **state)
{
	struct kar_buf out = { .cap = 8 };
	struct kar_err err;

	(void)state;
	kar_buf_puts(&out, "123");
	assert_int_equal(kar_json_canonical("[1,2,3]", 7, &out, &err), -1);
	assert_int_equal(err.what, KAR_INVALID);
	assert_string_equal(kar_buf_cstr(&out), "123");
	kar_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writer),
		cmocka_unit_test(bad_text_is_mended),
		cmocka_unit_test(written_text_reads_back),
		cmocka_unit_test(canonical),
		cmocka_unit_test(canonical_properties),
		cmocka_unit_test(merge),
		cmocka_unit_test(errors_say_which_document),
		cmocka_unit_test(bounds),
		cmocka_unit_test(too_many_values_then_refused),
		cmocka_unit_test(result_above_the_cap_then_refused_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
