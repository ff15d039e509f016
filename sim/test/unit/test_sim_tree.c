/* JSON values: parsing, printing, sharing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/timeline.h"
#include "sim/test/fixture/sim_value.h"

static void expect_text(const char *row, const struct sim_value *v, const char *json)
{
	struct kar_buf text = { 0 };

	sim_print(v, &text);
	if (strcmp(kar_buf_cstr(&text), json) != 0)
		fail_msg("%s: expected %s, got %s", row, json, kar_buf_cstr(&text));
	kar_buf_release(&text);
}

static void what_is_read_is_printed_again(void **state KAR_UNUSED)
{
	static const struct {
		const char *name, *json, *printed;
	} rows[] = {
		{ "scalars", "[null,true,false,0,-1,\"\"]", "[null,true,false,0,-1,\"\"]" },
		{ "space", " { \"a\" :\t[ 1 ,\n2 ] }\r\n", "{\"a\":[1,2]}" },
		{ "order_of_members", "{\"z\":1,\"a\":2,\"m\":3}", "{\"z\":1,\"a\":2,\"m\":3}" },
		{ "empty_key", "{\"\":1,\"a\":{}}", "{\"\":1,\"a\":{}}" },
		{ "last_of_equal_keys", "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}" },
		{ "keys_that_begin_alike", "{\"abcdefgh\":1,\"abcdefghi\":2,\"abcdefg\":3}",
			"{\"abcdefgh\":1,\"abcdefghi\":2,\"abcdefg\":3}" },
		{ "escapes", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"", "\"\\\"\\\\/\\b\\f\\n\\r\\tA\"" },
		{ "control_characters", "\"\\u0001\\u001f\x7f\"", "\"\\u0001\\u001f\x7f\"" },
		{ "characters_of_each_length", "\"\\u00e9\\u20ac\\ud83d\\ude00\"",
			"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "half_a_pair", "\"\\ud83d-\\ude00\\ud83d\\u0041\"",
			"\"\xef\xbf\xbd-\xef\xbf\xbd\xef\xbf\xbd"
			"A\"" },
		{ "nul", "\"a\\u0000b\"",
			"\"a\xef\xbf\xbd"
			"b\"" },
		{ "bytes_that_are_not_utf8", "\"a\xff\"", "\"a\xef\xbf\xbd\"" },
		{ "integers", "[9223372036854775807,-9223372036854775808]",
			"[9223372036854775807,-9223372036854775808]" },
		{ "integer_that_does_not_fit", "9223372036854775808", "9.223372036854776e+18" },
		{ "whole_reals", "[1e3,5.0,-0.0,1e15]", "[1000,5,0,1e+15]" },
		{ "reals", "[0.1,-1.25e-3,5.1,1e-7]", "[0.1,-0.00125,5.1,1e-07]" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v = parse(rows[i].json);

		expect_text(rows[i].name, v, rows[i].printed);
		sim_unref(v);
	}
}

static void what_is_not_json_is_refused(void **state KAR_UNUSED)
{
	static const struct {
		const char *json, *msg;
	} rows[] = {
		{ "", "unexpected end of JSON input" },
		{ " ", "unexpected end of JSON input" },
		{ "{\"a\":}", "invalid character '}' looking for beginning of value" },
		{ "[1,\n 2 3]", "invalid character '3' after array element" },
		{ "{\"a\" 1}", "invalid character '1' after object key" },
		{ "{a:1}", "invalid character 'a' looking for beginning of object key string" },
		{ "{\"a\":1,}", "invalid character '}' looking for beginning of object key string" },
		{ "[1,]", "invalid character ']' looking for beginning of value" },
		{ "{\"a\":1 \"b\":2}", "invalid character '\"' after object key:value pair" },
		{ "\"a", "unexpected end of JSON input" },
		{ "\"a\nb\"", "invalid character '\\n' in string literal" },
		{ "\"a\x01\"", "invalid character '\\x01' in string literal" },
		{ "\"\\x\"", "invalid character 'x' in string escape code" },
		{ "\"\\'\"", "invalid character '\\'' in string escape code" },
		{ "\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape" },
		{ "\"\\ud83d\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape" },
		{ "01", "invalid character '1' after top-level value" },
		{ "1.", "unexpected end of JSON input" },
		{ "1.x", "invalid character 'x' after decimal point in numeric literal" },
		{ "1ex", "invalid character 'x' in exponent of numeric literal" },
		{ "-", "unexpected end of JSON input" },
		{ "-a", "invalid character 'a' in numeric literal" },
		{ "1e400", "json: cannot unmarshal number 1e400 into Go value of type float64" },
		{ "nul", "unexpected end of JSON input" },
		{ "foo", "invalid character 'o' in literal false (expecting 'a')" },
		{ "1 2", "invalid character '2' after top-level value" },
		{ "\xc3\xa9", "invalid character '\xc3\x83' looking for beginning of value" },
		{ "[[[", "unexpected end of JSON input" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_err err = { 0 };

		if (sim_parse(rows[i].json, strlen(rows[i].json), &err) || strcmp(err.msg, rows[i].msg) != 0)
			fail_msg("%s: expected %s, got %s", rows[i].json, rows[i].msg, err.msg);
		assert_int_equal(err.what, KAR_INVALID);
	}
}

static void depth_and_size_are_bounded(void **state KAR_UNUSED)
{
	enum { DEEPEST = 120, LARGEST = 8 << 20 };
	struct kar_err err = { 0 };
	struct kar_buf text = { .cap = 2 * LARGEST };
	struct sim_value *v;

	for (int i = 0; i < DEEPEST; i++)
		kar_buf_puts(&text, "[");
	for (int i = 0; i < DEEPEST; i++)
		kar_buf_puts(&text, "]");
	v = parse(kar_buf_cstr(&text));
	sim_unref(v);
	kar_buf_clear(&text);
	for (int i = 0; i <= DEEPEST; i++)
		kar_buf_puts(&text, "{\"a\":");
	assert_null(sim_parse(text.p, text.n, &err));
	assert_string_equal(err.msg, "the document is nested more than 120 levels deep");
	kar_buf_clear(&text);
	while (text.n <= LARGEST)
		kar_buf_puts(&text, "                                                                ");
	assert_null(sim_parse(text.p, text.n, &err));
	assert_string_equal(err.msg, "the document has more than 8388608 bytes");
	kar_buf_release(&text);
}

static void paths_are_followed_and_made(void **state KAR_UNUSED)
{
	struct sim_value *v = parse("{\"a\":{\"b\":1},\"s\":5,\"n\":null}");

	assert_int_equal(sim_get_int(v, 0, "a", "b"), 1);
	assert_null(sim_get(v, "a", "b", "c"));
	assert_null(sim_get(v, "x", "y"));
	assert_null(sim_get_text(v, "s"));
	sim_set(&v, sim_int(2), "a", "c");
	sim_set(&v, sim_int(3), "x", "y", "z");
	sim_set(&v, sim_int(4), "n", "m");
	sim_set(&v, sim_int(6), "s", "t");
	expect_text("set", v,
		"{\"a\":{\"b\":1,\"c\":2},\"s\":{\"t\":6},\"n\":{\"m\":4},\"x\":{\"y\":{\"z\":3}}}");
	assert_true(sim_remove(&v, "x", "y", "z"));
	assert_false(sim_remove(&v, "x", "y", "z"));
	assert_false(sim_remove(&v, "q"));
	assert_true(sim_remove(&v, "a"));
	expect_text("remove", v, "{\"s\":{\"t\":6},\"n\":{\"m\":4},\"x\":{\"y\":{}}}");
	sim_unref(v);
}

static void edits_are_not_seen_by_other_holders(void **state KAR_UNUSED)
{
	struct sim_value *v = parse("{\"a\":{\"b\":[1,2,3]},\"c\":{\"d\":1}}"), *held = sim_ref(v), *list,
			 *taken;

	sim_set(&v, sim_int(2), "c", "d");
	assert_ptr_equal(sim_member(v, "a"), sim_member(held, "a")); /* what did not change is shared */
	taken = sim_take(&v, "a");
	list = sim_take(&taken, "b");
	sim_append(&list, sim_int(4));
	sim_insert(&list, 0, sim_int(0));
	sim_replace(&list, 1, sim_string("one"));
	sim_drop(&list, 2);
	sim_set(&taken, list, "b");
	sim_set(&v, taken, "a");
	expect_text("edited", v, "{\"a\":{\"b\":[0,\"one\",3,4]},\"c\":{\"d\":2}}");
	expect_text("held", held, "{\"a\":{\"b\":[1,2,3]},\"c\":{\"d\":1}}");
	assert_false(sim_remove(&v, "a", "x"));
	sim_unref(v);
	sim_unref(held);
}

static void values_are_equal_whatever_the_order(void **state KAR_UNUSED)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{ "{\"a\":1,\"b\":[true,null]}", "{\"b\":[true,null],\"a\":1.0}", true },
		{ "[1,2]", "[2,1]", false },
		{ "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
		{ "{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false },
		{ "\"a\"", "\"b\"", false },
		{ "\"a\"", "\"ab\"", false },
		{ "0", "false", false },
		{ "null", "0", false },
		{ "9007199254740993", "9007199254740992", false },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *a = parse(rows[i].a), *b = parse(rows[i].b);

		if (sim_equal(a, b) != rows[i].equal || sim_equal(b, a) != rows[i].equal)
			fail_msg("%s and %s: expected %s", rows[i].a, rows[i].b,
				rows[i].equal ? "equal" : "different");
		if (rows[i].equal)
			assert_int_equal(sim_hash(a), sim_hash(b));
		sim_unref(a);
		sim_unref(b);
	}
	assert_true(sim_equal(NULL, NULL));
	struct sim_value *null = sim_null();

	assert_false(sim_equal(NULL, null));
}

static void absent_values_read_as_nothing(void **state KAR_UNUSED)
{
	assert_int_equal(sim_kind(NULL), SIM_ABSENT);
	assert_null(sim_text(NULL));
	assert_null(sim_member(NULL, "a"));
	assert_null(sim_item(NULL, 0));
	assert_int_equal(sim_count(NULL), 0);
	assert_null(sim_first(NULL).value);
	assert_null(sim_ref(NULL));
	sim_unref(NULL);
}

/* A big object against an array of flags: every kind of edit, with and without another holder. */
static void large_objects_keep_order_and_members(void **state KAR_UNUSED)
{
	enum { KEYS = 300, STEPS = 4000 };
	struct sim_random random = sim_random_of(1, "tree");
	int64_t model[KEYS], clock = 0;
	struct sim_value *v = sim_object(), *held = NULL;

	memset(model, 0, sizeof(model));
	for (int step = 0; step < STEPS; step++) {
		unsigned k = (unsigned)sim_random_below(&random, KEYS);
		char key[32];

		snprintf(key, sizeof(key), "%s%u", k % 2 ? "a-longer-key-" : "k", k);
		if (sim_random_chance(&random, 20)) {
			sim_unref(held);
			held = sim_ref(v);
		}
		if (sim_random_chance(&random, 450)) {
			assert_int_equal(sim_remove(&v, key), model[k] != 0);
			model[k] = 0;
		} else {
			model[k] = ++clock;
			sim_set(&v, sim_int(clock), key);
		}
	}
	size_t live = 0, seen = 0;

	for (size_t k = 0; k < KEYS; k++) {
		char key[32];

		snprintf(key, sizeof(key), "%s%zu", k % 2 ? "a-longer-key-" : "k", k);
		assert_int_equal(sim_int_of(sim_member(v, key), 0), model[k]);
		live += model[k] != 0;
	}
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m))
		seen++;
	assert_int_equal(seen, live);
	assert_int_equal(sim_count(v), live);
	sim_unref(held);
	sim_unref(v);
}

/* With a search per member these would take minutes. */
static void many_members_are_no_burden(void **state KAR_UNUSED)
{
	enum { MANY = 60000 };
	struct kar_buf forward = { .cap = 8 << 20 }, backward = { .cap = 8 << 20 };

	for (int i = 0; i < MANY; i++) {
		kar_buf_printf(&forward, "%s\"member-%d\":%d", i ? "," : "{", i, i);
		kar_buf_printf(&backward, "%s\"member-%d\":%d", i ? "," : "{", MANY - 1 - i, MANY - 1 - i);
	}
	kar_buf_puts(&forward, "}");
	kar_buf_puts(&backward, "}");
	struct sim_value *a = parse(kar_buf_cstr(&forward)), *b = parse(kar_buf_cstr(&backward));

	assert_true(sim_equal(a, b));
	for (int i = 0; i < MANY; i++) {
		char key[32];

		snprintf(key, sizeof(key), "member-%d", i);
		assert_true(sim_remove(&a, key));
	}
	assert_int_equal(sim_count(a), 0);
	sim_unref(a);
	sim_unref(b);
	kar_buf_release(&forward);
	kar_buf_release(&backward);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_printed_again),
		cmocka_unit_test(what_is_not_json_is_refused),
		cmocka_unit_test(depth_and_size_are_bounded),
		cmocka_unit_test(paths_are_followed_and_made),
		cmocka_unit_test(edits_are_not_seen_by_other_holders),
		cmocka_unit_test(values_are_equal_whatever_the_order),
		cmocka_unit_test(absent_values_read_as_nothing),
		cmocka_unit_test(large_objects_keep_order_and_members),
		cmocka_unit_test(many_members_are_no_burden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
