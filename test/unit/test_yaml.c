#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/yaml.h"
#include "test/unit/zoo.h"

struct row {
	const char *name, *yaml, *want; /* JSON, or "error: ..." */
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };
		int rc = kar_yaml_to_json(rows[i].yaml, strlen(rows[i].yaml), 0, &out, &err);

		if (rc < 0) {
			assert_int_equal(err.what, KAR_INVALID);
			assert_int_equal(out.n, 0);
			kar_buf_printf(&out, "error: %s", err.msg);
		}
		if (rc == 0)
			kar_buf_puts(&out, "nothing");
		if (strcmp(kar_buf_cstr(&out), rows[i].want) != 0)
			fail_msg("%s:\n  got  %s\n  want %s", rows[i].name, kar_buf_cstr(&out), rows[i].want);
		kar_buf_release(&out);
	}
}

static void structure(void **state)
{
	static const struct row rows[] = {
		{ "mapping", "a: 1\nb: x\n", "{\"a\":1,\"b\":\"x\"}" },
		{ "nested", "a:\n  b:\n  - c\n  - d: 1\n    e: 2\n",
			"{\"a\":{\"b\":[\"c\",{\"d\":1,\"e\":2}]}}" },
		{ "flow", "{a: [1, {b: c}], d: {}}", "{\"a\":[1,{\"b\":\"c\"}],\"d\":{}}" },
		{ "json_is_yaml", "{\"a\": [true, null, 1.5], \"b\": \"c\\n\"}",
			"{\"a\":[true,null,1.5],\"b\":\"c\\n\"}" },
		{ "top_sequence", "- a\n- b\n", "[\"a\",\"b\"]" },
		{ "top_scalar", "abc", "\"abc\"" },
		{ "comments", "# c\na: 1 # d\n", "{\"a\":1}" },
		{ "block_literal", "a: |\n  x\n  y\n", "{\"a\":\"x\\ny\\n\"}" },
		{ "folded", "a: >-\n  x\n  y\n", "{\"a\":\"x y\"}" },
		{ "keys_become_strings", "1: a\ntrue: b\n~: c\n",
			"{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\"}" },
		{ "missing_value_then_null", "a:\nb: 1\n", "{\"a\":null,\"b\":1}" },
		{ "document_marker", "---\na: 1\n...\n", "{\"a\":1}" },
		{ "tags_ignored", "a: !thing 1\nb: !!map {c: d}\n", "{\"a\":1,\"b\":{\"c\":\"d\"}}" },
		{ "empty_text_then_nothing", "", "nothing" },
		{ "only_comment_then_nothing", "# x\n", "nothing" },
		{ "empty_document_then_null", "---\n", "null" },
		{ "byte_order_mark_then_skipped",
			"\xEF\xBB\xBF"
			"a: 1\n",
			"{\"a\":1}" },
		{ "quoted_merge_sign_is_a_key", "\"<<\": 1\n", "{\"<<\":1}" },
		{ "same_key_in_different_mappings", "a: {x: 1}\nb: {x: 1}\nc:\n- x: 1\n- x: 2\n",
			"{\"a\":{\"x\":1},\"b\":{\"x\":1},\"c\":[{\"x\":1},{\"x\":2}]}" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

static void scalars(void **state)
{
	static const struct row rows[] = {
		{ "nulls", "[null, Null, NULL, ~, nUll]", "[null,null,null,null,\"nUll\"]" },
		{ "booleans", "[true, True, TRUE, false, False, FALSE, tRue]",
			"[true,true,true,false,false,false,\"tRue\"]" },
		{ "yes_and_no_are_text", "[yes, no, on, off, y, n, Yes]",
			"[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\",\"Yes\"]" },
		{ "integers", "[0, -1, +2, 007, -0]", "[0,-1,2,7,-0]" },
		{ "large_integers_verbatim", "[9223372036854775808, 123456789012345678901234567890]",
			"[9223372036854775808,123456789012345678901234567890]" },
		{ "octal_and_hexadecimal", "[0o14, 0x1F, 0xffffffffffffffff, 0o8, 0xg, 0x, -0x1]",
			"[12,31,18446744073709551615,\"0o8\",\"0xg\",\"0x\",\"-0x1\"]" },
		{ "floats", "[1.5, .5, 5., -.5e3, +1.e-2, 1e3, 00.10, 1E+05]",
			"[1.5,0.5,5,-0.5e3,1e-2,1e3,0.10,1E+05]" },
		{ "nearly_numbers", "[., -, +, 1.2.3, 1e, e5, 1_000, 1.5Gi, 100m, 2026-11-21, 1:30, +., .e1]",
			"[\".\",\"-\",\"+\",\"1.2.3\",\"1e\",\"e5\",\"1_000\",\"1.5Gi\",\"100m\",\"2026-11-21\",\"1:30\",\"+.\",\".e1\"]" },
		{ "quoted_are_strings", "['1', \"true\", '~', \"\", 'it''s']",
			"[\"1\",\"true\",\"~\",\"\",\"it's\"]" },
		{ "block_scalar_is_string", "a: |-\n  12\n", "{\"a\":\"12\"}" },
		{ "infinity_refused", "a: .inf",
			"error: line 1, column 4: .inf: not a number that JSON has" },
		{ "minus_infinity_refused", "a: -.Inf",
			"error: line 1, column 4: -.Inf: not a number that JSON has" },
		{ "nan_refused", "- 1\n- .NaN", "error: line 2, column 3: .NaN: not a number that JSON has" },
		{ "hexadecimal_above_64_bits_refused", "0x10000000000000000",
			"error: line 1, column 1: 0x10000000000000000: not a number that JSON has" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

static void anchors(void **state)
{
	static const struct row rows[] = {
		{ "scalar", "a: &x 5\nb: *x\n", "{\"a\":5,\"b\":5}" },
		{ "mapping", "a: &x {k: [1]}\nb: *x\nc: [*x, *x]\n",
			"{\"a\":{\"k\":[1]},\"b\":{\"k\":[1]},\"c\":[{\"k\":[1]},{\"k\":[1]}]}" },
		{ "first_in_sequence", "- &x [a]\n- *x\n", "[[\"a\"],[\"a\"]]" },
		{ "later_in_sequence", "- 1\n- &x \"a,:\"\n- *x\n", "[1,\"a,:\",\"a,:\"]" },
		{ "whole_document", "&x {a: 1}", "{\"a\":1}" },
		{ "anchor_within_anchor", "a: &x {k: &y [1]}\nb: *y\nc: *x\n",
			"{\"a\":{\"k\":[1]},\"b\":[1],\"c\":{\"k\":[1]}}" },
		{ "redefined_then_latest", "a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}" },
		{ "unknown", "a: *x\n",
			"error: line 1, column 4: alias *x has no complete anchor before it" },
		{ "unknown_among_others", "a: &y 1\nb: *x\n",
			"error: line 2, column 4: alias *x has no complete anchor before it" },
		{ "inside_itself", "a: &x {b: *x}\n",
			"error: line 1, column 11: alias *x has no complete anchor before it" },
		{ "alias_as_key", "a: &x b\n*x : 1\n",
			"error: line 2, column 1: an alias as a key is not supported" },
		{ "anchor_on_key", "&x a: 1\n",
			"error: line 1, column 1: an anchor on a key is not supported" },
		{ "merge_key", "a: &x {k: 1}\nb:\n  <<: *x\n",
			"error: line 3, column 3: merge keys (<<) are not supported; write the members out" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

static void mistakes(void **state)
{
	static const struct row rows[] = {
		{ "duplicate_key", "a: 1\nb: 2\na: 3\n", "error: line 3, column 1: duplicate key \"a\"" },
		{ "duplicate_key_nested", "m:\n- b: 1\n  \"b\": 2\n",
			"error: line 3, column 3: duplicate key \"b\"" },
		{ "complex_key", "? [a, b]\n: 1\n", "error: line 1, column 3: a key must be a scalar" },
		{ "tab_indent", "a:\n\tb: 1\n",
			"error: line 2, column 1: not YAML: while scanning for the next token: "
			"found character that cannot start any token" },
		{ "unclosed_bracket", "a: [1, 2\nb: 3\n",
			"error: line 2, column 2: not YAML: while parsing a flow sequence: did not find expected ',' or ']'" },
		{ "unclosed_quote", "a: \"x\n",
			"error: line 2, column 1: not YAML: while scanning a quoted scalar: found unexpected end of stream" },
		{ "invalid_utf8", "a: \xFF\n",
			"error: line 1, column 4: not YAML: invalid leading UTF-8 octet" },
		{ "control_character", "a: \x01\n",
			"error: line 1, column 4: not YAML: control characters are not allowed" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

/* Nine lines whose aliases multiply to 10^9 elements. */
static void billion_laughs_then_refused(void **state)
{
	struct kar_buf yaml = { 0 }, out = { .cap = 1 << 20 };
	struct kar_err err;

	(void)state;
	kar_buf_puts(&yaml, "a0: &a0 lol\n");
	for (int i = 1; i < 10; i++) {
		kar_buf_printf(&yaml, "a%d: &a%d [", i, i);
		for (int j = 0; j < 10; j++)
			kar_buf_printf(&yaml, "%s*a%d", j ? "," : "", i - 1);
		kar_buf_puts(&yaml, "]\n");
	}
	assert_int_equal(kar_yaml_to_json(yaml.p, yaml.n, 0, &out, &err), -1);
	assert_int_equal(err.what, KAR_INVALID);
	assert_non_null(strstr(err.msg, "too large"));
	assert_int_equal(out.n, 0);
	kar_buf_release(&yaml);
	kar_buf_release(&out);
}

static void check_refused(struct kar_buf *yaml, const char *want)
{
	struct kar_buf out = { 0 };
	struct kar_err err;

	assert_int_equal(kar_yaml_to_json(yaml->p, yaml->n, 0, &out, &err), -1);
	if (!strstr(err.msg, want))
		fail_msg("got \"%s\", want \"%s\"", err.msg, want);
	kar_buf_release(yaml);
	kar_buf_release(&out);
}

static void bounds(void **state)
{
	struct kar_buf deep = { 0 }, many = { 0 };

	(void)state;
	for (int i = 0; i < 10000; i++)
		kar_buf_puts(&deep, "[");
	check_refused(&deep, "nested deeper than 120 levels");
	for (int i = 0; i < 1001; i++)
		kar_buf_printf(&many, "- &a%d x\n", i);
	check_refused(&many, "more than 1000 anchors");
}

static void documents_by_index(void **state)
{
	static const char yaml[] = "a: 1\n---\n# second\nb: 2\n...\n---\n[3]\n";
	static const char *const want[] = { "{\"a\":1}", "{\"b\":2}", "[3]" };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };
		int rc = kar_yaml_to_json(yaml, sizeof(yaml) - 1, i, &out, &err);

		assert_int_equal(rc, i < KAR_LEN(want));
		assert_string_equal(kar_buf_cstr(&out), i < KAR_LEN(want) ? want[i] : "");
		kar_buf_release(&out);
	}
}

static void decode_zoo(const char *yaml, struct kar_buf *out)
{
	struct kar_arena arena = { 0 };
	struct kar_err err = { 0 };
	struct zoo z;

	if (kar_yaml_decode(&arena, &zoo_desc, NULL, yaml, strlen(yaml), &z, &err) == 0)
		zoo_print(out, &z);
	else
		kar_buf_printf(out, "error: %s", err.msg);
	kar_arena_release(&arena);
}

static void decode(void **state)
{
	static const struct row rows[] = {
		{ "struct", "s: a\nitems:\n- x: b\n  tags: [c, \"1\"]\nmap: {k: v}\nraw: {q: [1, 0x10]}\n",
			"s=a item(b 0 c,1) map[k]=v raw={\"q\":[1,16]} " },
		{ "first_document_only", "s: a\n---\ns: b\n", "s=a " },
		{ "wrong_type_then_path_without_offset", "s: a\nitems:\n- x: 1\n",
			"error: items[0].x: want a string, got a number" },
		{ "yaml_error_then_line", "s: a\ns: b\n", "error: line 2, column 1: duplicate key \"s\"" },
		{ "empty", "# nothing\n", "error: Zoo: empty YAML document" },
		{ "null", "---\n", "error: Zoo: want an object, got null" },
		{ "reader_error_keeps_offset", "s: \xFF",
			"error: line 1, column 4: not YAML: invalid leading UTF-8 octet" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf got = { 0 };

		decode_zoo(rows[i].yaml, &got);
		if (strcmp(kar_buf_cstr(&got), rows[i].want) != 0)
			fail_msg("%s:\n  got  %s\n  want %s", rows[i].name, kar_buf_cstr(&got), rows[i].want);
		kar_buf_release(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structure),
		cmocka_unit_test(scalars),
		cmocka_unit_test(anchors),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(billion_laughs_then_refused),
		cmocka_unit_test(bounds),
		cmocka_unit_test(documents_by_index),
		cmocka_unit_test(decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
