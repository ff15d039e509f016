/* JSON and merge patches; the strategic one is in test_sim_strategic.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/apiserver/patch.h"
#include "sim/test/fixture/sim_value.h"

static void merge(void **state)
{
	static const struct {
		const char *name, *target, *patch, *want;
	} rows[] = {
		/* RFC 7386, appendix A, in its order. */
		{ "replaces", "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "adds", "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "null_then_removes", "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
		{ "null_then_removes_only_that", "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}",
			"{\"b\":\"c\"}" },
		{ "array_by_text", "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "text_by_array", "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
		{ "inside", "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
			"{\"a\":{\"b\":\"d\"}}" },
		{ "arrays_are_replaced", "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
		{ "array_documents", "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
		{ "object_document_by_array", "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
		{ "document_by_null", "{\"a\":\"foo\"}", "null", "null" },
		{ "document_by_text", "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
		{ "null_in_target_stays", "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
		{ "array_document_by_object", "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
		{ "nulls_of_new_objects_vanish", "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}",
			"{\"a\":{\"bb\":{}}}" },
		/* What the API server does beyond it. */
		{ "nulls_in_new_arrays_vanish_from_objects_only", "{}",
			"{\"a\":[null,{\"b\":null,\"c\":[{\"d\":null}]}]}", "{\"a\":[null,{\"c\":[{}]}]}" },
		{ "null_target_is_absent", "{\"a\":null}", "{\"a\":{\"b\":null,\"c\":1}}",
			"{\"a\":{\"c\":1}}" },
		{ "nothing_to_do", "{\"a\":{\"b\":[1]}}", "{\"a\":{\"b\":[1],\"c\":null},\"d\":null}",
			"{\"a\":{\"b\":[1]}}" },
		{ "empty_patch", "{\"a\":1}", "{}", "{\"a\":1}" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v = tree(rows[i].target), *before = sim_ref(v),
				 *patch = tree(rows[i].patch);

		sim_patch_merge(&v, patch);
		expect(rows[i].name, v, rows[i].want);
		expect(rows[i].name, before, rows[i].target); /* another holder sees nothing */
		expect(rows[i].name, patch, rows[i].patch);
		sim_unref(v);
		sim_unref(before);
		sim_unref(patch);
	}
}

static void json(void **state)
{
	static const struct {
		const char *name, *target, *patch, *want; /* want NULL: refused with 422 */
	} rows[] = {
		/* RFC 6902, appendix A, in its order. */
		{ "add_member", "{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
			"{\"baz\":\"qux\",\"foo\":\"bar\"}" },
		{ "add_item", "{\"foo\":[\"bar\",\"baz\"]}",
			"[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
			"{\"foo\":[\"bar\",\"qux\",\"baz\"]}" },
		{ "remove_member", "{\"baz\":\"qux\",\"foo\":\"bar\"}",
			"[{\"op\":\"remove\",\"path\":\"/baz\"}]", "{\"foo\":\"bar\"}" },
		{ "remove_item", "{\"foo\":[\"bar\",\"qux\",\"baz\"]}",
			"[{\"op\":\"remove\",\"path\":\"/foo/1\"}]", "{\"foo\":[\"bar\",\"baz\"]}" },
		{ "replace", "{\"baz\":\"qux\",\"foo\":\"bar\"}",
			"[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
			"{\"baz\":\"boo\",\"foo\":\"bar\"}" },
		{ "move_member",
			"{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
			"[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
			"{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}" },
		{ "move_item", "{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
			"[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
			"{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}" },
		{ "test_holds", "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
			"[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2}]",
			"{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}" },
		{ "test_fails", "{\"baz\":\"qux\"}",
			"[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", NULL },
		{ "add_nested", "{\"foo\":\"bar\"}",
			"[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
			"{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}" },
		{ "unknown_members_are_ignored", "{\"foo\":\"bar\"}",
			"[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]",
			"{\"foo\":\"bar\",\"baz\":\"qux\"}" },
		{ "add_below_nothing", "{\"foo\":\"bar\"}",
			"[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]", NULL },
		{ "escapes_in_order", "{\"/\":9,\"~1\":10}",
			"[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]", "{\"/\":9,\"~1\":10}" },
		{ "text_is_no_number", "{\"/\":9,\"~1\":10}",
			"[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]", NULL },
		{ "add_array_as_item", "{\"foo\":[\"bar\"]}",
			"[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
			"{\"foo\":[\"bar\",[\"abc\",\"def\"]]}" },
		/* More of it. */
		{ "slash_in_key", "{}", "[{\"op\":\"add\",\"path\":\"/a.io~1b\",\"value\":\"x\"}]",
			"{\"a.io/b\":\"x\"}" },
		{ "tilde_before_other_letter", "{}", "[{\"op\":\"add\",\"path\":\"/a~2\",\"value\":1}]",
			"{\"a~2\":1}" },
		{ "empty_key", "{}", "[{\"op\":\"add\",\"path\":\"/\",\"value\":1}]", "{\"\":1}" },
		{ "copy", "{\"a\":{\"b\":[1]}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/c\"}]",
			"{\"a\":{\"b\":[1],\"c\":{\"b\":[1]}}}" },
		{ "copy_then_change_one", "{\"a\":{\"b\":[1]}}",
			"[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c\"},{\"op\":\"add\",\"path\":\"/c/b/-\",\"value\":2}]",
			"{\"a\":{\"b\":[1]},\"c\":{\"b\":[1,2]}}" },
		{ "move_to_itself_below", "{\"a\":{\"b\":1}}",
			"[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", NULL },
		{ "second_fails_then_nothing_is_changed", "{\"a\":1}",
			"[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/a\"}]", NULL },
		{ "append_by_count", "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":2}]",
			"{\"a\":[1,2]}" },
		{ "behind_the_end", "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/2\",\"value\":2}]", NULL },
		{ "remove_behind_the_end", "{\"a\":[1]}", "[{\"op\":\"remove\",\"path\":\"/a/1\"}]", NULL },
		{ "replace_behind_the_end", "{\"a\":[1]}",
			"[{\"op\":\"replace\",\"path\":\"/a/1\",\"value\":2}]", NULL },
		{ "index_is_no_number", "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/x\",\"value\":2}]",
			NULL },
		{ "index_is_too_large", "{\"a\":[1]}",
			"[{\"op\":\"add\",\"path\":\"/a/99999999999999999999\",\"value\":2}]", NULL },
		{ "below_a_text", "{\"a\":\"b\"}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":2}]", NULL },
		{ "test_below_a_text", "{\"a\":\"b\"}", "[{\"op\":\"test\",\"path\":\"/a/b\",\"value\":2}]",
			NULL },
		{ "replace_document", "{\"a\":\"b\"}",
			"[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"c\":1}}]", "{\"c\":1}" },
		{ "replace_document_by_number", "{\"a\":\"b\"}",
			"[{\"op\":\"replace\",\"path\":\"\",\"value\":3}]", NULL },
		{ "test_document", "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"\",\"value\":{\"a\":1}}]",
			"{\"a\":1}" },
		{ "test_in_any_order", "{\"a\":{\"b\":1,\"c\":2}}",
			"[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"c\":2,\"b\":1}}]",
			"{\"a\":{\"b\":1,\"c\":2}}" },
		{ "no_operation", "{\"a\":1}", "[]", "{\"a\":1}" },
		{ "null_patch", "{\"a\":1}", "null", "{\"a\":1}" },
		{ "unknown_operation", "{\"a\":1}", "[{\"op\":\"foo\",\"path\":\"/a\"}]", NULL },
		{ "no_operation_named", "{\"a\":1}", "[{\"path\":\"/a\"}]", NULL },
		{ "no_path", "{\"a\":1}", "[{\"op\":\"remove\"}]", NULL },
		{ "no_from", "{\"a\":1}", "[{\"op\":\"move\",\"path\":\"/b\"}]", NULL },
		{ "null_operation", "{\"a\":1}", "[null]", NULL },
		/* What the API server does differently from the RFC. */
		{ "replace_absent_member", "{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]",
			"{\"a\":1}" },
		{ "absent_value_is_null", "{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", "{\"a\":null}" },
		{ "absent_member_is_null_for_test", "{}",
			"[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", "{}" },
		{ "absent_member_is_not_something", "{}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]",
			NULL },
		{ "null_is_not_something", "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]",
			NULL },
		{ "copy_of_absent_member_is_null", "{}",
			"[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]", "{\"b\":null}" },
		{ "move_of_absent_member", "{}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]",
			NULL },
		{ "index_from_the_end", "{\"a\":[1,2,3]}", "[{\"op\":\"remove\",\"path\":\"/a/-1\"}]",
			"{\"a\":[1,2]}" },
		{ "add_counts_from_behind_the_end", "{\"a\":[1,2]}",
			"[{\"op\":\"add\",\"path\":\"/a/-1\",\"value\":3}]", "{\"a\":[1,2,3]}" },
		{ "before_the_first", "{\"a\":[1]}", "[{\"op\":\"remove\",\"path\":\"/a/-2\"}]", NULL },
		{ "path_without_slash", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"a\"}]", NULL },
		{ "text_before_the_first_slash", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"x/a\"}]",
			"{}" },
		{ "document_cannot_be_added", "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":{}}]",
			NULL },
		{ "document_without_members", "3", "[{\"op\":\"add\",\"path\":\"/-\",\"value\":1}]", NULL },
		{ "document_cannot_be_removed", "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"\"}]", NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v = tree(rows[i].target), *before = sim_ref(v),
				 *patch = tree(rows[i].patch);
		struct kar_err err = { 0 };
		int rc = sim_patch_json(&v, patch, &err);

		if ((rc == 0) != (rows[i].want != NULL))
			fail_msg("%s: %d %s", rows[i].name, rc, err.msg);
		if (rc &&
			(err.what != KAR_INVALID || err.http != 422 || v != before ||
				strcmp(err.msg,
					"the server rejected our request due to an error in our request") !=
					0))
			fail_msg("%s: %d %s", rows[i].name, err.http, err.msg);
		expect(rows[i].name, v, rows[i].want ? rows[i].want : rows[i].target);
		expect(rows[i].name, before, rows[i].target);
		sim_unref(v);
		sim_unref(before);
		sim_unref(patch);
	}
}

static void broken_json_patch(void **state)
{
	static const struct {
		const char *name, *patch, *want;
	} rows[] = {
		{ "object", "{\"op\":\"add\"}",
			"error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp" },
		{ "item_is_number", "[3]",
			"error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp" },
		{ "op_is_number", "[{\"op\":3,\"path\":\"/a\"}]",
			"error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string" },
		{ "path_is_bool", "[{\"op\":\"add\",\"path\":true}]",
			"error decoding patch: json: cannot unmarshal bool into Go struct field jsonPatchOp.path of type string" },
		{ "second_is_broken", "[{\"op\":\"remove\",\"path\":\"/a\"},{\"from\":[]}]",
			"error decoding patch: json: cannot unmarshal array into Go struct field jsonPatchOp.from of type string" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v = tree("{\"a\":1}"), *patch = tree(rows[i].patch);
		struct kar_err err = { 0 };

		if (sim_patch_json(&v, patch, &err) != -1 || err.http != 400 ||
			strcmp(err.msg, rows[i].want) != 0)
			fail_msg("%s: %d %s", rows[i].name, err.http, err.msg);
		expect(rows[i].name, v, "{\"a\":1}");
		sim_unref(v);
		sim_unref(patch);
	}
}

/* @times times the JSON text @step in an array. */
static struct sim_value *repeated(const char *step, size_t times)
{
	struct sim_value *one = tree(step), *all = sim_array();

	for (size_t i = 0; i < times; i++)
		sim_append(&all, sim_ref(one));
	sim_unref(one);
	return all;
}

/* Documents that would grow without bound from a small patch. */
static void json_bombs(void **state)
{
	static const struct {
		const char *name, *target, *step;
		size_t times;
		int http; /* 0: accepted */
	} rows[] = {
		{ "doubling", "{\"a\":[\"0123456789\"]}",
			"{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}", 60, 422 },
		{ "deeper_by_one", "{\"a\":{}}", "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/a\"}", 100,
			0 },
		{ "too_deep_by_copies", "{\"a\":{}}", "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/a\"}",
			130, 422 },
		{ "many", "{\"a\":1}", "{\"op\":\"test\",\"path\":\"/a\",\"value\":1}", 10000, 0 },
		{ "too_many", "{\"a\":1}", "{\"op\":\"test\",\"path\":\"/a\",\"value\":1}", 10001, 413 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v = tree(rows[i].target), *patch = repeated(rows[i].step, rows[i].times);
		struct kar_err err = { 0 };

		if (sim_patch_json(&v, patch, &err) != (rows[i].http ? -1 : 0) || err.http != rows[i].http)
			fail_msg("%s: %d %s", rows[i].name, err.http, err.msg);
		sim_unref(v);
		sim_unref(patch);
	}
}

/* Each turn hangs the tree below another one, so that moves alone make the document deep: 10 levels per turn. */
static int hang_below(int turns)
{
	static const char fresh[] = "{\"op\":\"add\",\"path\":\"/b\",\"value\":[[[[[[[[[[]]]]]]]]]]}",
			  down[] = "{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b/0/0/0/0/0/0/0/0/0/0\"}",
			  back[] = "{\"op\":\"move\",\"from\":\"/b\",\"path\":\"/a\"}";
	struct sim_value *v = tree("{\"a\":[]}"), *patch = sim_array();
	struct kar_err err = { 0 };

	for (int i = 0; i < turns; i++) {
		sim_append(&patch, tree(fresh));
		sim_append(&patch, tree(down));
		sim_append(&patch, tree(back));
	}
	sim_patch_json(&v, patch, &err);
	sim_unref(v);
	sim_unref(patch);
	return err.http;
}

static void moves_do_not_make_a_document_too_deep(void **state)
{
	(void)state;
	assert_int_equal(hang_below(11), 0);
	assert_int_equal(hang_below(12), 422);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merge),
		cmocka_unit_test(json),
		cmocka_unit_test(broken_json_patch),
		cmocka_unit_test(json_bombs),
		cmocka_unit_test(moves_do_not_make_a_document_too_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
