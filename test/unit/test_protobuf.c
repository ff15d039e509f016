/* One message, and one document, in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/protobuf.h"
#include "test/unit/protobuf_text.h"
#include "test/unit/zoo.h"

struct row {
	const char *name, *bytes, *want;
};

/* The zoo in the document as text, or "error: ...". Only its bytes may be read: they are at the end of a block. */
static void decode_zoo(const char *p, size_t n, const struct kar_limits *limits, struct kar_buf *out)
{
	struct kar_arena arena = { 0 };
	struct kar_err err = { 0 };
	struct zoo z = { 0 };
	char *copy = kar_xmalloc(n ? n : 1);

	memcpy(copy, p, n);
	if (kar_protobuf_decode(&arena, &zoo_desc, limits, copy, n, &z, &err) == 0) {
		memset(copy, 'x', n); /* nothing points into it */
		zoo_print(out, &z);
	} else {
		assert_int_equal(err.what, KAR_INVALID);
		kar_buf_printf(out, "error: %s", err.msg);
	}
	free(copy);
	kar_arena_release(&arena);
}

static void check_document(const struct row *row, const struct kar_buf *document,
	const struct kar_limits *limits)
{
	struct kar_buf got = { 0 };

	decode_zoo(kar_buf_cstr(document), document->n, limits, &got);
	if (strcmp(kar_buf_cstr(&got), row->want) != 0)
		fail_msg("%s:\n  %s\n  got  %s\n  want %s", row->name, row->bytes, kar_buf_cstr(&got),
			row->want);
	kar_buf_release(&got);
}

/* Rows whose bytes are those of a Zoo. Six bytes of envelope come before them, which offsets in errors count. */
static void check_messages(const struct row *rows, size_t n, const struct kar_limits *limits)
{
	for (size_t i = 0; i < n; i++) {
		struct kar_buf message = { 0 }, document = { 0 };

		pb_text(rows[i].bytes, &message);
		kar_buf_append(&document, "k8s", 4);
		pb_put_message(&document, 2, &message);
		check_document(&rows[i], &document, limits);
		kar_buf_release(&document);
	}
}

/* Rows whose bytes are whole documents. */
static void check_documents(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct kar_buf document = { 0 };

		pb_text(rows[i].bytes, &document);
		check_document(&rows[i], &document, NULL);
		kar_buf_release(&document);
	}
}

static void numbers(void **state)
{
	static const struct row rows[] = {
		{ "int32", "4#05", "i32=5 " },
		{ "zero_then_present", "4#00", "i32=0 " },
		{ "largest_int32", "4#ff ff ff ff 07", "i32=2147483647 " },
		{ "smallest_int32_then_ten_bytes", "4#80 80 80 80 f8 ff ff ff ff 01", "i32=-2147483648 " },
		{ "negative_int32_then_ten_bytes", "4#ff ff ff ff ff ff ff ff ff 01", "i32=-1 " },
		{ "negative_int32_of_a_frugal_writer_then_five_bytes", "4#ff ff ff ff 0f", "i32=-1 " },
		{ "largest_int64", "5#ff ff ff ff ff ff ff ff 7f", "i64=9223372036854775807 " },
		{ "smallest_int64", "5#80 80 80 80 80 80 80 80 80 01", "i64=-9223372036854775808 " },
		{ "true", "6#01", "b " },
		{ "false", "6#00", "" },
		{ "any_other_number_then_true", "6#80 01", "b " },
		{ "longer_than_needed_then_read", "4#85 80 80 80 80 80 80 80 80 00", "i32=5 " },
		{ "twice_then_last", "4#05 4#06", "i32=6 " },
		{ "sixty_five_bits_then_refused", "4#ff ff ff ff ff ff ff ff ff 02",
			"error: Zoo: a number of more than 64 bits (at byte 6)" },
		{ "eleven_bytes_then_refused", "4#80 80 80 80 80 80 80 80 80 80 00",
			"error: Zoo: a number of more than 64 bits (at byte 6)" },
		{ "skipped_number_of_eleven_bytes_then_refused", "99#80 80 80 80 80 80 80 80 80 80 00",
			"error: Zoo: a number of more than 64 bits (at byte 6)" },
	};

	(void)state;
	check_messages(rows, KAR_LEN(rows), NULL);
}

static void strings(void **state)
{
	static const struct row rows[] = {
		{ "string", "1={'abc'}", "s=abc " },
		{ "empty_then_absent", "1={}", "" },
		{ "twice_then_last", "1={'a'} 1={'b'}", "s=b " },
		{ "text_then_empty_then_absent", "1={'a'} 1={}", "" },
		{ "u0000_then_replaced", "1={'a' 00 'b'}",
			"s=a\xEF\xBF\xBD"
			"b " },
		{ "overlong_then_replaced", "1={'a' c0 80 'z'}", "s=a\xEF\xBF\xBD\xEF\xBF\xBDz " },
		{ "surrogate_then_replaced", "1={ed a0 80}", "s=\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD " },
		{ "cut_character_then_replaced", "1={'a' e2 82}", "s=a\xEF\xBF\xBD\xEF\xBF\xBD " },
		{ "valid_text_then_kept", "1={f0 9f 98 80}", "s=\xF0\x9F\x98\x80 " },
		{ "map_keys_and_values_mended", "12={1={ff} 2={fe}}", "map[\xEF\xBF\xBD]=\xEF\xBF\xBD " },
		{ "elements_mended", "11={ff}", "strings=\xEF\xBF\xBD " },
	};

	(void)state;
	check_messages(rows, KAR_LEN(rows), NULL);
}

static void times(void **state)
{
	static const struct row rows[] = {
		{ "seconds_and_nanos", "7={1#b3 c1 86 d8 06 2#80 ca b5 ee 01}", "t=1795268787500 " },
		{ "before_1970", "7={1#c4 ff ff ff ff ff ff ff ff 01}", "t=-60000 " },
		{ "empty_then_absent", "7={}", "" },
		{ "last_that_rfc_3339_can_say", "7={1#ff 82 d1 ff af 07}", "t=253402300799000 " },
		{ "first", "7={1#80 92 b8 c3 98 fe ff ff ff 01}", "t=-62135596800000 " },
		{ "year_10000_then_refused", "7={1#80 83 d1 ff af 07}",
			"error: t: time out of range (at byte 8)" },
		{ "year_0_then_refused", "7={1#ff 91 b8 c3 98 fe ff ff ff 01}",
			"error: t: time out of range (at byte 8)" },
		{ "negative_nanos_then_refused", "7={1#05 2#ff ff ff ff 0f}",
			"error: t: time out of range (at byte 8)" },
	};

	(void)state;
	check_messages(rows, KAR_LEN(rows), NULL);
}

static void objects_and_arrays(void **state)
{
	static const struct row rows[] = {
		{ "nothing_then_all_absent", "", "" },
		{ "object_in_place", "8={1={'a'} 2#01 3={'p'} 3={'q'}}", "sub(a 1 p,q) " },
		{ "object_twice_then_merged", "8={1={'a'} 3={'p'}} 8={2#02 3={'q'}}", "sub(a 2 p,q) " },
		{ "pointer", "9={}", "ptr(- 0 ) " },
		{ "pointer_twice_then_merged", "9={1={'a'}} 9={2#02}", "ptr(a 2 ) " },
		{ "array_of_structs", "10={1={'a'}} 10={} 10={2#02 3={'t'}}",
			"item(a 0 ) item(- 0 ) item(- 2 t) " },
		{ "array_of_strings_keeps_empty_ones", "11={'a'} 11={} 11={'c'}", "strings=a,,c " },
		{ "arrays_in_turn", "11={'a'} 10={1={'x'}} 11={'b'} 10={1={'y'}}",
			"item(x 0 ) item(y 0 ) strings=a,b " },
		{ "more_elements_than_the_first_allocation",
			"11={'a'} 11={'b'} 11={'c'} 11={'d'} 11={'e'} 11={'f'} 11={'g'} 11={'h'} 11={'i'}",
			"strings=a,b,c,d,e,f,g,h,i " },
		{ "map_keeps_order", "12={1={'b'} 2={'1'}} 12={1={'a'} 2={'2'}}", "map[b]=1 map[a]=2 " },
		{ "map_without_key_or_value_then_empty", "12={2={'1'}} 12={1={'a'}} 12={1={'b'} 2={}}",
			"map[]=1 map[a]= map[b]= " },
		{ "duplicate_map_keys_then_last",
			"12={1={'k'} 2={'1'}} 12={1={'a'} 2={'2'}} 12={1={'k'} 2={'3'}}",
			"map[a]=2 map[k]=3 " },
		{ "select_by_what_came_before", "3={'sub'} 13={1={'k8s' 00 2={1={'a'}}}}",
			"type=sub object(a 0 ) " },
		{ "select_other_table", "3={'text'} 13={1={'k8s' 00 2={1={'hi'}}}}",
			"type=text object(hi) " },
		{ "select_nothing_then_not_looked_at", "13={ff ff} 1={'a'}", "s=a " },
	};

	(void)state;
	check_messages(rows, KAR_LEN(rows), NULL);
}

static void unknown_fields(void **state)
{
	static const struct row rows[] = {
		{ "number", "99#ff 01 1={'a'}", "s=a " },
		{ "bytes_then_not_looked_at", "99={ff ff 0b 0c} 1={'a'}", "s=a " },
		{ "fixed_32", "9d 06 01 02 03 04 1={'a'}", "s=a " },
		{ "fixed_64", "99 06 01 02 03 04 05 06 07 08 1={'a'}", "s=a " },
		{ "largest_number_of_a_field", "f8 ff ff ff 0f 00 1={'a'}", "s=a " },
		{ "number_that_equals_one_of_ours_in_16_bits", "82 80 20 {'x'}", "" },
		{ "member_without_protobuf_form", "2={'x'} 1={'a'}", "s=a " },
		{ "inside_an_object", "8={99={'zz'} 1={'a'}}", "sub(a 0 ) " },
		{ "field_0_then_refused", "00 00", "error: Zoo: a field number out of range (at byte 6)" },
		{ "field_number_too_large_then_refused", "80 80 80 80 10 00",
			"error: Zoo: a field number out of range (at byte 6)" },
		{ "group_then_refused", "0b 0c",
			"error: Zoo: a group, or a wire type that does not exist (at byte 6)" },
		{ "unknown_group_then_refused", "9b 06 9c 06",
			"error: Zoo: a group, or a wire type that does not exist (at byte 6)" },
		{ "end_of_a_group_then_refused", "1={'a'} 0c",
			"error: Zoo: a group, or a wire type that does not exist (at byte 9)" },
		{ "wire_type_6_then_refused", "0e",
			"error: Zoo: a group, or a wire type that does not exist (at byte 6)" },
		{ "wire_type_7_then_refused", "0f",
			"error: Zoo: a group, or a wire type that does not exist (at byte 6)" },
	};

	(void)state;
	check_messages(rows, KAR_LEN(rows), NULL);
}

static void wrong_wire_types(void **state)
{
	static const struct row rows[] = {
		{ "string_got_number", "1#05", "error: s: want a string, got a number (at byte 8)" },
		{ "string_got_fixed_32", "0d 01 02 03 04",
			"error: s: want a string, got a 32-bit value (at byte 7)" },
		{ "int32_got_bytes", "4={05}", "error: i32: want an integer, got bytes (at byte 8)" },
		{ "int64_got_fixed_64", "29 01 02 03 04 05 06 07 08",
			"error: i64: want an integer, got a 64-bit value (at byte 7)" },
		{ "boolean_got_bytes", "6={01}", "error: b: want a boolean, got bytes (at byte 8)" },
		{ "time_got_number", "7#05", "error: t: want a time, got a number (at byte 8)" },
		{ "object_got_number", "8#05", "error: sub: want an object, got a number (at byte 8)" },
		{ "pointer_got_number", "9#05", "error: ptr: want an object, got a number (at byte 8)" },
		{ "array_got_number", "10={} 10#05",
			"error: items[1]: want an array, got a number (at byte 10)" },
		{ "map_got_number", "12#05", "error: map: want an object, got a number (at byte 8)" },
		{ "map_value_got_number", "12={1={'a'} 2#05}",
			"error: map.value: want a string, got a number (at byte 13)" },
		{ "deep_path", "10={} 10={3={'a'} 3={'b'} 3#05}",
			"error: items[1].tags[2]: want an array, got a number (at byte 18)" },
		{ "path_of_an_embedded_object", "3={'sub'} 13={1={'k8s' 00 2={1#05}}}",
			"error: object.x: want a string, got a number (at byte 23)" },
		{ "lenient_then_absent", "14={'x'} 1={'a'}", "s=a " },
		{ "lenient_time_out_of_range_then_absent", "82 01 {} 7a {1#80 83 d1 ff af 07} 1={'a'}",
			"s=a soft(- 0 ) " },
		{ "lenient_array_got_number_then_left_out", "16#05 16={1={'k'}}", "soft(k 0 ) " },
		{ "strict_member_inside_a_lenient_one_then_error", "16={1#05}",
			"error: softItems[0].x: want a string, got a number (at byte 11)" },
	};

	(void)state;
	check_messages(rows, KAR_LEN(rows), NULL);
}

static void truncated_messages(void **state)
{
	static const struct row rows[] = {
		{ "bytes", "0a 03 'ab'", "error: Zoo: truncated (at byte 6)" },
		{ "length", "0a 80", "error: Zoo: truncated (at byte 6)" },
		{ "length_absent", "0a", "error: Zoo: truncated (at byte 6)" },
		{ "length_of_64_bits", "0a ff ff ff ff ff ff ff ff ff 01",
			"error: Zoo: truncated (at byte 6)" },
		{ "tag", "1={'a'} 80", "error: Zoo: truncated (at byte 9)" },
		{ "number", "20 80", "error: Zoo: truncated (at byte 6)" },
		{ "fixed_32", "9d 06 01 02 03", "error: Zoo: truncated (at byte 6)" },
		{ "fixed_64", "99 06 01 02 03 04 05 06 07", "error: Zoo: truncated (at byte 6)" },
		{ "object_whose_member_is_longer", "8={0a 05 'a'}", "error: sub: truncated (at byte 8)" },
		{ "map_entry_whose_value_is_longer", "12={1={'a'} 12 05 'a'}",
			"error: map: truncated (at byte 11)" },
	};

	(void)state;
	check_messages(rows, KAR_LEN(rows), NULL);
}

static void envelopes(void **state)
{
	static const struct row rows[] = {
		{ "as_kubernetes_writes_it", "'k8s' 00 1={1={'v1'} 2={'Zoo'}} 2={1={'a'}} 3={} 4={}",
			"s=a " },
		{ "type_after_the_object", "'k8s' 00 2={3={'sub'}} 1={}", "type=sub " },
		{ "empty_object", "'k8s' 00 2={}", "" },
		{ "nothing", "", "error: Zoo: not Kubernetes protobuf (at byte 0)" },
		{ "json", "'{\"s\":1}'", "error: Zoo: not Kubernetes protobuf (at byte 0)" },
		{ "magic_without_its_end", "'k8s'", "error: Zoo: not Kubernetes protobuf (at byte 0)" },
		{ "magic_alone", "'k8s' 00", "error: Zoo: an envelope without an object (at byte 4)" },
		{ "object_that_is_a_number", "'k8s' 00 2#05",
			"error: Zoo: the envelope holds a number (at byte 6)" },
		{ "compressed_object", "'k8s' 00 2={} 3={'gzip'}",
			"error: Zoo: the object is encoded once more (at byte 8)" },
		{ "type_of_the_wrong_form", "'k8s' 00 1={2#05} 2={}",
			"error: kind: want a string, got a number (at byte 8)" },
		{ "embedded_object_without_envelope", "'k8s' 00 2={3={'sub'} 13={1={1={'a'}}}}",
			"error: object: not Kubernetes protobuf (at byte 15)" },
		{ "nothing_embedded", "'k8s' 00 2={3={'sub'} 13={}}",
			"error: object: not one embedded object (at byte 13)" },
		{ "two_embedded_objects", "'k8s' 00 2={3={'sub'} 13={1={} 1={}}}",
			"error: object: not one embedded object (at byte 13)" },
		{ "embedded_number", "'k8s' 00 2={3={'sub'} 13={1#05}}",
			"error: object: not Kubernetes protobuf (at byte 15)" },
	};

	(void)state;
	check_documents(rows, KAR_LEN(rows));
}

struct typed {
	const char *api_version, *kind, *s;
};

static void type_of_the_envelope_goes_into_members_of_that_name(void **state)
{
	static const struct kar_field fields[] = {
		KAR_FIELD(struct typed, api_version, "apiVersion", KAR_F_STRING),
		KAR_FIELD(struct typed, kind, "kind", KAR_F_STRING),
		KAR_FIELD_PB(struct typed, s, "s", 1, KAR_F_STRING),
	};
	static const struct kar_desc desc = KAR_DESC("Typed", struct typed, fields);
	struct kar_arena arena = { 0 };
	struct kar_buf document = { 0 };
	struct typed t = { 0 };

	(void)state;
	pb_text("'k8s' 00 1={1={'apps/v1'} 2={'Typed'}} 2={1={'a'}}", &document);
	assert_int_equal(kar_protobuf_decode(&arena, &desc, NULL, document.p, document.n, &t, NULL), 0);
	assert_string_equal(t.api_version, "apps/v1");
	assert_string_equal(t.kind, "Typed");
	assert_string_equal(t.s, "a");
	kar_arena_release(&arena);
	kar_buf_release(&document);
}

static void limits(void **state)
{
	static const struct kar_limits tight = { .depth = 2, .string = 4, .document = 60, .elements = 3 };
	static const struct row rows[] = {
		{ "depth_at_limit", "10={3={'a'}}", "item(- 0 a) " },
		{ "skipped_depth", "99={99={99={99={}}}}", "" },
		{ "string_at_limit", "1={'abcd'}", "s=abcd " },
		{ "string_above_limit", "1={'abcde'}", "error: s: string longer than 4 bytes (at byte 8)" },
		{ "skipped_string_above_limit", "99={'abcde'}", "" },
		{ "map_key_above_limit", "12={1={'abcde'}}",
			"error: map.key: string longer than 4 bytes (at byte 10)" },
		{ "element_above_limit", "11={'abcde'}",
			"error: strings[0]: string longer than 4 bytes (at byte 8)" },
		{ "elements_at_limit", "11={'a'} 11={'b'} 11={'c'}", "strings=a,b,c " },
		{ "elements_above_limit", "11={'a'} 11={'b'} 11={'c'} 11={'d'}",
			"error: strings[3]: more than 3 elements (at byte 17)" },
		{ "elements_counted_together", "11={'a'} 10={} 12={} 9={}",
			"error: ptr: more than 3 elements (at byte 15)" },
		{ "document_above_limit", "99={'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}",
			"error: Zoo: larger than 60 bytes (at byte 0)" },
	};

	static const struct kar_limits flat = { .depth = 1 };
	static const struct row deep[] = {
		{ "depth_at_limit", "1={'a'} 11={'b'}", "s=a strings=b " },
		{ "object_above_limit", "8={}", "error: sub: nested deeper than 1 levels (at byte 8)" },
		{ "embedded_object_above_limit", "3={'sub'} 13={1={'k8s' 00 2={}}}",
			"error: object: nested deeper than 1 levels (at byte 21)" },
	};

	(void)state;
	check_messages(rows, KAR_LEN(rows), &tight);
	check_messages(deep, KAR_LEN(deep), &flat);
}

/* Everything there is, once. */
static const char everything[] =
	"'k8s' 00 1={1={'v1'} 2={'Zoo'}} 2={1={'abc'} 3={'sub'} 4#05 5#ff ff 03 6#01 7={1#b3 c1 86 d8 06 2#00}"
	" 8={1={'a'} 3={'p'}} 9={2#02} 10={1={'x'}} 11={'q'} 12={1={'k'} 2={'v'}} 13={1={'k8s' 00 2={1={'o'}}}}"
	" 99#ff 01 9d 06 01 02 03 04}";

static void cut_at_every_byte_then_refused(void **state)
{
	struct kar_buf document = { 0 };

	(void)state;
	pb_text(everything, &document);
	for (size_t n = 0; n <= document.n; n++) {
		struct kar_buf got = { 0 };

		decode_zoo(document.p, n, NULL, &got);
		if ((n < document.n) != (strncmp(got.p, "error: ", 7) == 0))
			fail_msg("cut at %zu of %zu: %s", n, document.n, got.p);
		kar_buf_release(&got);
	}
	kar_buf_release(&document);
}

/* Whatever one byte becomes, nothing is read that is not there (the sanitizers look on). */
static void any_byte_changed_then_no_harm(void **state)
{
	struct kar_buf document = { 0 };
	size_t refused = 0, read = 0;

	(void)state;
	pb_text(everything, &document);
	for (size_t i = 0; i < document.n; i++) {
		const char was = document.p[i];

		for (int value = 0; value < 256; value++) {
			struct kar_buf got = { 0 };

			document.p[i] = (char)value;
			decode_zoo(document.p, document.n, NULL, &got);
			*(strncmp(kar_buf_cstr(&got), "error: ", 7) ? &read : &refused) += 1;
			kar_buf_release(&got);
		}
		document.p[i] = was;
	}
	assert_true(read > 1000 && refused > 1000);
	kar_buf_release(&document);
}

static void failure_leaves_the_result_alone(void **state)
{
	struct kar_arena arena = { 0 };
	struct zoo z = { .i32 = 7 };

	(void)state;
	assert_int_equal(kar_protobuf_decode(&arena, &zoo_desc, NULL, "k8s\0\x12\x03\x20\x05\x80", 9, &z,
				 NULL),
		-1);
	assert_int_equal(z.i32, 7);
	kar_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(strings),
		cmocka_unit_test(times),
		cmocka_unit_test(objects_and_arrays),
		cmocka_unit_test(unknown_fields),
		cmocka_unit_test(wrong_wire_types),
		cmocka_unit_test(truncated_messages),
		cmocka_unit_test(envelopes),
		cmocka_unit_test(type_of_the_envelope_goes_into_members_of_that_name),
		cmocka_unit_test(limits),
		cmocka_unit_test(cut_at_every_byte_then_refused),
		cmocka_unit_test(any_byte_changed_then_no_harm),
		cmocka_unit_test(failure_leaves_the_result_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
