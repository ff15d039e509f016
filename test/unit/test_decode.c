#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/json.h"
#include "test/unit/zoo.h"

/* The zoo in @json as text, or "error: ...". */
static void decode_zoo(const char *json, const struct kar_limits *limits, struct kar_buf *out)
{
	struct kar_arena arena = { 0 };
	struct kar_err err = { 0 };
	struct zoo z = { 0 };

	if (kar_json_decode(&arena, &zoo_desc, limits, json, strlen(json), &z, &err) == 0) {
		zoo_print(out, &z);
	} else {
		assert_int_equal(err.what, KAR_INVALID);
		kar_buf_printf(out, "error: %s", err.msg);
	}
	kar_arena_release(&arena);
}

struct row {
	const char *name, *json, *want;
};

static void check_rows(const struct row *rows, size_t n, const struct kar_limits *limits)
{
	for (size_t i = 0; i < n; i++) {
		struct kar_buf got = { 0 };

		decode_zoo(rows[i].json, limits, &got);
		if (strcmp(kar_buf_cstr(&got), rows[i].want) != 0)
			fail_msg("%s:\n  json %s\n  got  %s\n  want %s", rows[i].name, rows[i].json,
				kar_buf_cstr(&got), rows[i].want);
		kar_buf_release(&got);
	}
}

static void values(void **state)
{
	static const struct row rows[] = {
		{ "empty_object_then_all_absent", "{}", "" },
		{ "white_space_around_then_accepted", " \n\t{ } \r\n", "" },
		{ "string", "{\"s\":\"abc\"}", "s=abc " },
		{ "empty_string_then_present", "{\"s\":\"\"}", "s= " },
		{ "escapes_then_decoded", "{\"s\":\"a\\n\\\"\\u00e9\\ud83d\\ude00/\"}",
			"s=a\n\"\xC3\xA9\xF0\x9F\x98\x80/ " },
		{ "unknown_members_then_skipped",
			"{\"u\":{\"s\":[1,{\"s\":2}]},\"v\":[[]],\"w\":null,\"s\":\"a\"}", "s=a " },
		{ "key_prefix_of_a_field_then_unknown",
			"{\"sc\":\"x\",\"scalars\":\"x\",\"\":\"x\",\"s\\u0000\":\"x\"}", "" },
		{ "escaped_key_then_found", "{\"\\u0073\":\"a\"}", "s=a " },
		{ "members_against_table_order", "{\"b\":true,\"i64\":2,\"s\":\"a\"}", "s=a i64=2 b " },
		{ "int32_bounds", "{\"i32\":-2147483648,\"i64\":9223372036854775807}",
			"i32=-2147483648 i64=9223372036854775807 " },
		{ "int64_minimum", "{\"i64\":-9223372036854775808}", "i64=-9223372036854775808 " },
		{ "zero_then_has", "{\"i32\":0}", "i32=0 " },
		{ "minus_zero", "{\"i32\":-0}", "i32=0 " },
		{ "false_then_false", "{\"b\":false}", "" },
		{ "scalar_string", "{\"scalar\":\"100Mi\"}", "scalar=100Mi " },
		{ "scalar_number_then_verbatim", "{\"scalar\":1.50e3}", "scalar=1.50e3 " },
		{ "time", "{\"t\":\"2026-11-21T13:46:27Z\"}", "t=1795268787000 " },
		{ "object_in_place", "{\"sub\":{\"x\":\"a\",\"y\":1,\"tags\":[\"p\",\"q\"]}}",
			"sub(a 1 p,q) " },
		{ "pointer", "{\"ptr\":{}}", "ptr(- 0 ) " },
		{ "array_of_structs", "{\"items\":[{\"x\":\"a\"},{},{\"y\":2,\"tags\":[\"t\"]}]}",
			"item(a 0 ) item(- 0 ) item(- 2 t) " },
		{ "array_of_strings", "{\"strings\":[\"a\",\"\",\"c\"]}", "strings=a,,c " },
		{ "empty_arrays_then_absent", "{\"items\":[],\"strings\":[],\"map\":{}}", "" },
		{ "map_keeps_order_and_numbers", "{\"map\":{\"b\":\"1\",\"a\":2.50}}",
			"map[b]=1 map[a]=2.50 " },
		{ "select_by_what_came_before", "{\"type\":\"sub\",\"object\":{\"x\":\"a\"}}",
			"type=sub object(a 0 ) " },
		{ "select_other_table", "{\"type\":\"text\",\"object\":{\"text\":\"hi\"}}",
			"type=text object(hi) " },
		{ "select_nothing_then_skipped", "{\"object\":{\"x\":\"a\"},\"type\":\"sub\"}", "type=sub " },
		{ "select_nothing_then_any_type_skipped", "{\"object\":[1,2],\"s\":\"a\"}", "s=a " },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), NULL);
}

static void nulls_and_duplicates(void **state)
{
	static const struct row rows[] = {
		{ "null_then_absent",
			"{\"s\":null,\"i32\":null,\"b\":null,\"sub\":null,\"ptr\":null,\"items\":null,"
			"\"map\":null,\"raw\":null,\"t\":null,\"scalar\":null,\"object\":null}",
			"" },
		{ "null_elements_then_zero_as_in_go",
			"{\"strings\":[\"a\",null,\"b\"],\"items\":[null,{\"y\":1}]}",
			"item(- 0 ) item(- 1 ) strings=a,,b " },
		{ "null_map_value_then_absent", "{\"map\":{\"a\":null,\"b\":\"c\"}}", "map[b]=c " },
		{ "duplicate_string_then_last", "{\"s\":\"a\",\"s\":\"b\"}", "s=b " },
		{ "duplicate_then_null_then_absent", "{\"i32\":5,\"i32\":null}", "" },
		{ "duplicate_object_then_not_merged", "{\"sub\":{\"x\":\"a\",\"y\":1},\"sub\":{\"y\":2}}",
			"sub(- 2 ) " },
		{ "duplicate_array_then_not_appended", "{\"strings\":[\"a\",\"b\"],\"strings\":[\"c\"]}",
			"strings=c " },
		{ "duplicate_map_keys_then_last",
			"{\"map\":{\"k\":\"1\",\"a\":\"2\",\"k\":\"3\",\"z\":\"4\",\"a\":\"5\"}}",
			"map[k]=3 map[z]=4 map[a]=5 " },
		{ "duplicate_raw_then_last", "{\"raw\":[1],\"raw\":{\"a\":2}}", "raw={\"a\":2} " },
		{ "duplicate_raw_then_null", "{\"raw\":[1],\"raw\":null,\"s\":\"a\"}", "s=a " },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), NULL);
}

static void raw(void **state)
{
	static const struct row rows[] = {
		{ "object_then_byte_exact", "{\"raw\" : { \"b\" : 1.0, \"a\":[ ] } ,\"s\":\"x\"}",
			"s=x raw={ \"b\" : 1.0, \"a\":[ ] } " },
		{ "array", "{\"raw\":[1, 2]}", "raw=[1, 2] " },
		{ "string_then_with_quotes_and_escapes", "{\"raw\":\n\"a\\u0041\\\\\"}",
			"raw=\"a\\u0041\\\\\" " },
		{ "number_then_verbatim", "{\"raw\":-0.10E+2}", "raw=-0.10E+2 " },
		{ "number_before_space", "{\"raw\": 12 , \"s\":\"x\"}", "s=x raw=12 " },
		{ "boolean", "{\"raw\": true}", "raw=true " },
		{ "string_with_colon", "{\"raw\": \": :\"}", "raw=\": :\" " },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), NULL);
}

static void text_is_mended(void **state)
{
	static const struct row rows[] = {
		{ "u0000_then_replaced", "{\"s\":\"a\\u0000b\"}",
			"s=a\xEF\xBF\xBD"
			"b " },
		{ "overlong_then_replaced", "{\"s\":\"a\xC0\x80z\"}", "s=a\xEF\xBF\xBD\xEF\xBF\xBDz " },
		{ "encoded_surrogate_then_replaced", "{\"s\":\"\xED\xA0\x80\"}",
			"s=\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD " },
		{ "above_10ffff_then_replaced", "{\"s\":\"\xF4\x90\x80\x80\"}",
			"s=\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD " },
		{ "cut_character_then_replaced", "{\"s\":\"a\xE2\x82\"}", "s=a\xEF\xBF\xBD\xEF\xBF\xBD " },
		{ "lone_low_surrogate_then_replaced", "{\"s\":\"\\udc00\"}",
			"s=\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD " },
		{ "map_keys_too", "{\"map\":{\"\xFF\":\"\xFE\"}}", "map[\xEF\xBF\xBD]=\xEF\xBF\xBD " },
		{ "array_elements_too", "{\"strings\":[\"\xFF\"]}", "strings=\xEF\xBF\xBD " },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), NULL);
}

static void wrong_types(void **state)
{
	static const struct row rows[] = {
		{ "top_array", "[1]", "error: Zoo: want an object, got an array (at byte 1)" },
		{ "top_string", "\"a\"", "error: Zoo: want an object, got a string (at byte 3)" },
		{ "top_number", "12", "error: Zoo: want an object, got a number (at byte 2)" },
		{ "top_null", "null", "error: Zoo: want an object, got null (at byte 4)" },
		{ "string_wants_string", "{\"s\":1}", "error: s: want a string, got a number (at byte 6)" },
		{ "string_got_object", "{\"s\":{}}", "error: s: want a string, got an object (at byte 6)" },
		{ "integer_got_string", "{\"i32\":\"1\"}",
			"error: i32: want an integer, got a string (at byte 10)" },
		{ "integer_got_fraction", "{\"i32\":1.5}",
			"error: i32: want an integer, got a number with a fraction or an exponent (at byte 10)" },
		{ "integer_got_exponent", "{\"i64\":1e3}",
			"error: i64: want an integer, got a number with a fraction or an exponent (at byte 10)" },
		{ "int32_too_large", "{\"i32\":2147483648}",
			"error: i32: integer out of range (at byte 17)" },
		{ "int32_too_small", "{\"i32\":-2147483649}",
			"error: i32: integer out of range (at byte 18)" },
		{ "int64_too_large", "{\"i64\":9223372036854775808}",
			"error: i64: integer out of range (at byte 26)" },
		{ "int64_too_small", "{\"i64\":-9223372036854775809}",
			"error: i64: integer out of range (at byte 27)" },
		{ "boolean_got_string", "{\"b\":\"true\"}",
			"error: b: want a boolean, got a string (at byte 11)" },
		{ "scalar_got_boolean", "{\"scalar\":true}",
			"error: scalar: want a string or a number, got a boolean (at byte 14)" },
		{ "time_got_text", "{\"t\":\"yesterday\"}", "error: t: not an RFC 3339 time (at byte 16)" },
		{ "object_got_array", "{\"sub\":[]}",
			"error: sub: want an object, got an array (at byte 8)" },
		{ "pointer_got_string", "{\"ptr\":\"a\"}",
			"error: ptr: want an object, got a string (at byte 10)" },
		{ "array_got_object", "{\"items\":{}}",
			"error: items: want an array, got an object (at byte 10)" },
		{ "map_got_array", "{\"map\":[]}", "error: map: want an object, got an array (at byte 8)" },
		{ "map_value_object", "{\"map\":{\"a\":{}}}",
			"error: map[\"a\"]: want a string or a number, got an object (at byte 13)" },
		{ "map_value_boolean", "{\"map\":{\"a.b/c\":true}}",
			"error: map[\"a.b/c\"]: want a string or a number, got a boolean (at byte 20)" },
		{ "long_key_is_cut_between_two_characters",
			"{\"map\":{\"0123456789012345678901234567890123456789012345678901234567890\xC3\xA9 and more\":{}}}",
			"error: map[\"0123456789012345678901234567890123456789012345678901234567890...\"]: want a string or a number, "
			"got an object (at byte 84)" },
		{ "element_got_number", "{\"strings\":[\"a\",1]}",
			"error: strings[1]: want a string, got a number (at byte 17)" },
		{ "struct_element_got_string", "{\"items\":[{},\"a\"]}",
			"error: items[1]: want an object, got a string (at byte 16)" },
		{ "deep_path", "{\"items\":[{},{\"tags\":[\"a\",\"b\",3]}]}",
			"error: items[1].tags[2]: want a string, got a number (at byte 31)" },
		{ "select_got_array", "{\"type\":\"sub\",\"object\":[]}",
			"error: object: want an object, got an array (at byte 24)" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), NULL);
}

static void lenient_members(void **state)
{
	static const struct row rows[] = {
		{ "right_type_then_stored", "{\"soft\":3}", "soft=3 " },
		{ "string_then_absent", "{\"soft\":\"x\",\"s\":\"a\"}", "s=a " },
		{ "object_then_absent", "{\"soft\":{\"a\":[1]},\"s\":\"a\"}", "s=a " },
		{ "fraction_then_absent", "{\"soft\":1.5,\"s\":\"a\"}", "s=a " },
		{ "out_of_range_then_absent", "{\"soft\":99999999999,\"s\":\"a\"}", "s=a " },
		{ "earlier_value_then_cleared", "{\"soft\":1,\"soft\":\"x\"}", "" },
		{ "bad_time_then_absent", "{\"softTime\":\"soon\",\"s\":\"a\"}", "s=a " },
		{ "not_an_array_then_absent", "{\"softItems\":{\"a\":1},\"s\":\"a\"}", "s=a " },
		{ "bad_elements_then_left_out", "{\"softItems\":[1,{\"x\":\"k\"},[{}],\"z\"]}",
			"soft(k 0 ) " },
		{ "place_counts_skipped_elements", "{\"softItems\":[[0],{},{\"x\":1}]}",
			"error: softItems[2].x: want a string, got a number (at byte 27)" },
		{ "strict_member_inside_then_error", "{\"softItems\":[0,{\"x\":1}]}",
			"error: softItems[1].x: want a string, got a number (at byte 22)" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), NULL);
}

static void limits(void **state)
{
	static const struct kar_limits tight = { .depth = 3, .string = 4, .document = 60, .elements = 3 };
	static const struct row rows[] = {
		{ "depth_at_limit", "{\"u\":[[]]}", "" },
		{ "depth_above_limit_in_skipped", "{\"u\":[[[]]]}",
			"error: Zoo: nested deeper than 3 levels (at byte 8)" },
		{ "depth_above_limit_in_raw", "{\"raw\":[[[]]]}",
			"error: raw: nested deeper than 3 levels (at byte 10)" },
		{ "string_at_limit", "{\"s\":\"abcd\"}", "s=abcd " },
		{ "string_above_limit", "{\"s\":\"abcde\"}",
			"error: s: string longer than 4 bytes (at byte 12)" },
		{ "skipped_string_above_limit", "{\"u\":\"abcde\"}", "" },
		{ "map_key_above_limit", "{\"map\":{\"abcde\":\"x\"}}",
			"error: map: string longer than 4 bytes (at byte 15)" },
		{ "elements_at_limit", "{\"strings\":[\"a\",\"b\",\"c\"]}", "strings=a,b,c " },
		{ "elements_above_limit", "{\"strings\":[\"a\",\"b\",\"c\",\"d\"]}",
			"error: strings[3]: more than 3 elements (at byte 27)" },
		{ "elements_counted_together", "{\"strings\":[\"a\",\"b\"],\"items\":[{},{}]}",
			"error: items[1]: more than 3 elements (at byte 34)" },
		{ "pairs_counted", "{\"map\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1}}",
			"error: map[\"d\"]: more than 3 elements (at byte 31)" },
		{ "duplicate_pointers_counted", "{\"ptr\":{},\"ptr\":{},\"ptr\":{},\"ptr\":{}}",
			"error: ptr: more than 3 elements (at byte 35)" },
		{ "document_at_limit", "{\"u\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"} ",
			"" },
		{ "document_above_limit", "{\"u\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}",
			"error: Zoo: larger than 60 bytes (at byte 61)" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), &tight);
}

/* An array that cannot end is refused by its size, not by running out of memory. */
static void default_depth(void **state)
{
	struct kar_buf json = { 0 }, got = { 0 };

	(void)state;
	kar_buf_puts(&json, "{\"u\":");
	for (int i = 0; i < 1000000; i++)
		kar_buf_puts(&json, "[");
	decode_zoo(kar_buf_cstr(&json), NULL, &got);
	assert_string_equal(kar_buf_cstr(&got), "error: Zoo: nested deeper than 120 levels (at byte 125)");
	kar_buf_release(&json);
	kar_buf_release(&got);
}

static void pairs_get(void **state)
{
	struct kar_pair pairs[] = { { "a", "1" }, { "b", "2" } };
	struct kar_array map = { pairs, 2 }, empty = { 0 };

	(void)state;
	assert_string_equal(kar_pairs_get(&map, "b"), "2");
	assert_null(kar_pairs_get(&map, "c"));
	assert_null(kar_pairs_get(&empty, "a"));
}

/* Events by hand, as a parser gives them. */
static void life_of_a_decoder(void **state)
{
	struct kar_decoder *d = kar_decoder_new(&zoo_desc, NULL, NULL, NULL);
	char path[64];

	(void)state;
	assert_true(kar_decoder_idle(d));
	assert_null(kar_decoder_root(d));
	assert_int_equal(kar_decoder_begin(d, false, 1), 0);
	assert_false(kar_decoder_idle(d));
	assert_int_equal(kar_decoder_key(d, "items", 5, 8), 0);
	assert_int_equal(kar_decoder_begin(d, true, 10), 0);
	assert_int_equal(kar_decoder_begin(d, false, 11), 0);
	assert_int_equal(kar_decoder_key(d, "x", 1, 14), 0);
	kar_decoder_path(d, path, sizeof(path));
	assert_string_equal(path, "items[0].x");
	kar_decoder_path(d, path, 6);
	assert_string_equal(path, "items");
	assert_int_equal(kar_decoder_string(d, "v", 1, 18), 0);
	assert_int_equal(kar_decoder_end(d, 19), 0);
	assert_int_equal(kar_decoder_end(d, 20), 0);
	assert_false(kar_decoder_done(d));
	assert_int_equal(kar_decoder_end(d, 21), 0);
	assert_true(kar_decoder_done(d));
	const struct zoo *z = kar_decoder_root(d);

	assert_int_equal(z->items.n, 1);
	assert_string_equal(((const struct zoo_sub *)z->items.items)->x, "v");
	kar_decoder_reset(d);
	assert_true(kar_decoder_idle(d));
	assert_false(kar_decoder_done(d));
	kar_decoder_free(d);
	kar_decoder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(nulls_and_duplicates),
		cmocka_unit_test(raw),
		cmocka_unit_test(text_is_mended),
		cmocka_unit_test(wrong_types),
		cmocka_unit_test(lenient_members),
		cmocka_unit_test(limits),
		cmocka_unit_test(default_depth),
		cmocka_unit_test(pairs_get),
		cmocka_unit_test(life_of_a_decoder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
