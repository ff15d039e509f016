#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/apiserver/selector.h"
#include "sim/apiserver/syntax.h"
#include "sim/test/fixture/sim_value.h"

#define NAME_RULE \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. " \
	"'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_RULE \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with " \
	"an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " \
	"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define SUBDOMAIN_RULE \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with " \
	"an alphanumeric character (e.g. 'example.com', regex used for validation is " \
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define A63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define UNPARSED "unable to parse requirement: "

/* Texts as a Kubernetes 1.37 API server gave them to these selectors. */
static void refused_labels(void **state)
{
	static const struct {
		const char *name, *text, *want;
	} rows[] = {
		{ "two_words", "a b", UNPARSED "found 'b', expected: in, notin, =, ==, !=, gt, lt" },
		{ "two_words_after_value", "a=b c", "found 'c', expected: ',' or 'end of string'" },
		{ "two_commas", "a,,b", "found ',', expected: identifier after ','" },
		{ "comma_at_the_end", "a=b,", "found '', expected: identifier after ','" },
		{ "only_comma", " , ", "found ',', expected: !, identifier, or 'end of string'" },
		{ "set_without_parenthesis", "a in b", UNPARSED "found 'b' expected: '('" },
		{ "set_without_anything", "a in", UNPARSED "found '' expected: '('" },
		{ "set_not_closed", "a in (b", UNPARSED "found '', expected: ',' or ')'" },
		{ "set_ends_with_comma", "a in (b,", UNPARSED "found '', expected: ',', or identifier" },
		{ "set_not_begun", "a in (", UNPARSED "found '', expected: ',', ')' or identifier" },
		{ "two_words_in_set", "a in (b c)", UNPARSED "found 'c', expected: ',' or ')'" },
		{ "operator_in_set", "a in (b=c)", UNPARSED "found '=', expected: ',' or ')'" },
		{ "operator_first_in_set", "a in (=c)",
			UNPARSED "found '=', expected: ',', ')' or identifier" },
		{ "no_key", "=b", "found '=', expected: !, identifier, or 'end of string'" },
		{ "only_not", "!", UNPARSED "found '', expected: identifier" },
		{ "not_before_equation", "!a=b", "found '=', expected: ',' or 'end of string'" },
		{ "not_before_set", "!a in (b)", "found 'in', expected: ',' or 'end of string'" },
		{ "two_equations", "a=b=c", "found '=', expected: ',' or 'end of string'" },
		{ "three_equal_signs", "a===b", UNPARSED "found '=', expected: identifier" },
		{ "not_between", "a!b", UNPARSED "found '!', expected: in, notin, =, ==, !=, gt, lt" },
		{ "parenthesis_as_value", "a=)", UNPARSED "found ')', expected: identifier" },
		{ "not_as_value", "a=!b", UNPARSED "found '!', expected: identifier" },
		{ "greater_than_text", "a>x",
			UNPARSED
			"values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer" },
		{ "second_is_wrong", "a>1,a<x",
			UNPARSED
			"values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer" },
		{ "greater_than_nothing", "a>",
			UNPARSED
			"values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer" },
		{ "greater_than_too_large", "a>9223372036854775808",
			UNPARSED
			"values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer" },
		{ "key_begins_with_dash", "-a=b",
			UNPARSED "<nil>: Invalid value: \"-a\": name part " NAME_RULE },
		{ "value_begins_with_dash", "a=-b",
			UNPARSED "values[0][a]: Invalid value: \"-b\": " VALUE_RULE },
		{ "key_of_three_parts", "a/b/c=d",
			UNPARSED
			"<nil>: Invalid value: \"a/b/c\": a valid label key " NAME_RULE
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')" },
		{ "prefix_empty", "/b=c",
			UNPARSED "<nil>: Invalid value: \"/b\": prefix part must be non-empty" },
		{ "name_empty", "a/=c",
			UNPARSED
			"<nil>: Invalid value: \"a/\": name part must be non-empty; name part " NAME_RULE },
		{ "prefix_with_capital", "A_/b=c",
			UNPARSED "<nil>: Invalid value: \"A_/b\": prefix part " SUBDOMAIN_RULE },
		{ "key_too_long", A63 "a",
			UNPARSED "<nil>: Invalid value: \"" A63
				 "a\": name part must be no more than 63 bytes" },
		{ "value_too_long", "a=" A63 "a",
			UNPARSED "values[0][a]: Invalid value: \"" A63 "a\": must be no more than 63 bytes" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_err err = { 0 };
		struct sim_selector *s = sim_label_selector_new(rows[i].text, &err);

		if (s || err.what != KAR_INVALID || strcmp(err.msg, rows[i].want) != 0)
			fail_msg("%s: %s: %s", rows[i].name, s ? "accepted" : "refused", err.msg);
	}
}

static void labels(void **state)
{
	static const char none[] = "{}",
			  some[] = "{\"a\":\"b\",\"n\":\"5\",\"empty\":\"\",\"x.io/in\":\"in\"}";
	static const struct {
		const char *name, *labels, *selector;
		bool want;
	} rows[] = {
		{ "no_selector_then_all", none, NULL, true },
		{ "empty_then_all", none, "", true },
		{ "blank_then_all", some, "  ", true },
		{ "equal", some, "a=b", true },
		{ "equal_twice_written", some, "a==b", true },
		{ "equal_with_blanks", some, " a = b ", true },
		{ "other_value", some, "a=c", false },
		{ "value_is_prefix", some, "a=bb", false },
		{ "absent_label_is_not_equal", some, "q=b", false },
		{ "not_equal", some, "a!=c", true },
		{ "not_equal_same", some, "a!=b", false },
		{ "not_equal_absent", none, "a!=b", true },
		{ "exists", some, "a", true },
		{ "exists_with_empty_value", some, "empty", true },
		{ "exists_not", none, "a", false },
		{ "absent", none, "!a", true },
		{ "absent_not", some, "!a", false },
		{ "absent_with_blank", some, "! q", true },
		{ "empty_value", some, "empty=", true },
		{ "empty_value_before_comma", some, "empty=,a=b", true },
		{ "in", some, "a in (c,b)", true },
		{ "in_absent", none, "a in (c,b)", false },
		{ "in_no", some, "a in (c,d)", false },
		{ "in_empty_set_is_empty_text", some, "empty in ()", true },
		{ "in_with_empty_first", some, "empty in (,q)", true },
		{ "in_with_empty_middle", some, "empty in (p,,q)", true },
		{ "in_with_empty_last", some, "empty in (p,)", true },
		{ "in_without_empty", some, "empty in (p,q)", false },
		{ "notin", some, "a notin (c,d)", true },
		{ "notin_no", some, "a notin (b)", false },
		{ "notin_absent", none, "a notin (b)", true },
		{ "greater", some, "n>4", true },
		{ "greater_no", some, "n>5", false },
		{ "less", some, "n<6", true },
		{ "less_no", some, "n<5", false },
		{ "greater_of_text", some, "a>4", false },
		{ "greater_of_absent", none, "n>4", false },
		{ "all_of_many", some, "a=b,n=5,!q", true },
		{ "all_of_many_last_fails", some, "a=b,n=5,q", false },
		{ "operator_word_as_key", none, "in", false },
		{ "operator_word_as_value", some, "x.io/in in (in,notin)", true },
		{ "operator_word_as_plain_value", some, "x.io/in=in", true },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_err err = { 0 };
		struct sim_value *v = parse(rows[i].labels);
		struct sim_selector *s = sim_label_selector_new(rows[i].selector, &err);

		if (!s || sim_label_selector_matches(s, v) != rows[i].want)
			fail_msg("%s: %s", rows[i].name, s ? "matches wrongly" : err.msg);
		sim_selector_free(s);
		sim_unref(v);
	}
}

static void absent_map_of_labels(void **state)
{
	struct sim_selector *s = sim_label_selector_new("!a,b!=c", NULL);

	(void)state;
	assert_non_null(s);
	assert_true(sim_label_selector_matches(s, NULL));
	assert_false(sim_selector_is_empty(s));
	sim_selector_free(s);
	sim_selector_free(NULL);
}

static const char *field_of(void *arg, const char *field)
{
	return sim_text(sim_member(arg, field));
}

static void refused_fields(void **state)
{
	static const struct {
		const char *name, *text, *want;
	} rows[] = {
		{ "no_operator", "a", "invalid selector: 'a'; can't understand 'a'" },
		{ "second_has_none", "metadata.name=a,b",
			"invalid selector: 'metadata.name=a,b'; can't understand 'b'" },
		{ "first_in_order_is_reported", "z,a", "invalid selector: 'z,a'; can't understand 'a'" },
		{ "two_equal_signs_apart", "a=b=c",
			"invalid field selector: unescaped character in value: 61" },
		{ "equal_then_not_equal", "a=!=c",
			"invalid field selector: unescaped character in value: 61" },
		{ "unknown_escape", "a=b\\x", "invalid field selector: invalid escape sequence: \\x" },
		{ "unknown_escape_of_a_long_character", "a=\\\xc3\xa4",
			"invalid field selector: invalid escape sequence: \\\xc3\xa4" },
		{ "backslash_at_the_end", "a=b\\", "invalid field selector: invalid escape sequence: \\" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_err err = { 0 };
		struct sim_selector *s = sim_field_selector_new(rows[i].text, &err);

		if (s || err.what != KAR_INVALID || strcmp(err.msg, rows[i].want) != 0)
			fail_msg("%s: %s: %s", rows[i].name, s ? "accepted" : "refused", err.msg);
	}
}

static void fields(void **state)
{
	static const struct {
		const char *name, *selector;
		bool want;
	} rows[] = {
		{ "none", NULL, true },
		{ "empty", "", true },
		{ "equal", "name=x", true },
		{ "equal_twice_written", "name==x", true },
		{ "other", "name=y", false },
		{ "not_equal", "name!=y", true },
		{ "not_equal_same", "name!=x", false },
		{ "empty_value", "node=", true },
		{ "not_empty", "name!=", true },
		{ "both", "name=x,node=", true },
		{ "one_fails", "name=x,node=n", false },
		{ "empty_term", ",name=x,", true },
		{ "escaped_comma", "list=a\\,b", true },
		{ "escaped_others", "odd=a\\=b\\\\c", true },
		{ "unknown_field_is_empty", "q=", true },
		{ "unknown_field_has_no_value", "q=x", false },
	};
	struct sim_value *v = parse("{\"name\":\"x\",\"node\":\"\",\"list\":\"a,b\",\"odd\":\"a=b\\\\c\"}");

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_err err = { 0 };
		struct sim_selector *s = sim_field_selector_new(rows[i].selector, &err);

		if (!s || sim_field_selector_matches(s, field_of, v) != rows[i].want)
			fail_msg("%s: %s", rows[i].name, s ? "matches wrongly" : err.msg);
		sim_selector_free(s);
	}
	sim_unref(v);
}

/* In sorted order, as the server looks at them. */
static void names_of_fields(void **state)
{
	struct sim_selector *s = sim_field_selector_new("z=1,a!=2", NULL);

	(void)state;
	assert_non_null(s);
	assert_string_equal(sim_field_selector_at(s, 0), "a");
	assert_string_equal(sim_field_selector_at(s, 1), "z");
	assert_null(sim_field_selector_at(s, 2));
	sim_selector_free(s);
}

static void selector_objects(void **state)
{
	static const struct {
		const char *name, *selector;
		bool want;
	} rows[] = {
		{ "absent_selects_nothing", NULL, false },
		{ "null_selects_nothing", "null", false },
		{ "empty_selects_all", "{}", true },
		{ "labels", "{\"matchLabels\":{\"a\":\"b\"}}", true },
		{ "one_label_differs", "{\"matchLabels\":{\"a\":\"b\",\"n\":\"6\"}}", false },
		{ "label_missing", "{\"matchLabels\":{\"q\":\"\"}}", false },
		{ "in", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"c\",\"b\"]}]}",
			true },
		{ "in_no", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"c\"]}]}",
			false },
		{ "in_absent",
			"{\"matchExpressions\":[{\"key\":\"q\",\"operator\":\"In\",\"values\":[\"c\"]}]}",
			false },
		{ "not_in",
			"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"c\"]}]}",
			true },
		{ "not_in_no",
			"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"b\"]}]}",
			false },
		{ "not_in_absent",
			"{\"matchExpressions\":[{\"key\":\"q\",\"operator\":\"NotIn\",\"values\":[\"b\"]}]}",
			true },
		{ "not_in_without_values_is_broken",
			"{\"matchExpressions\":[{\"key\":\"q\",\"operator\":\"NotIn\"}]}", false },
		{ "exists", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}", true },
		{ "exists_no", "{\"matchExpressions\":[{\"key\":\"q\",\"operator\":\"Exists\"}]}", false },
		{ "does_not_exist", "{\"matchExpressions\":[{\"key\":\"q\",\"operator\":\"DoesNotExist\"}]}",
			true },
		{ "does_not_exist_no",
			"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"DoesNotExist\"}]}", false },
		{ "unknown_operator_selects_nothing",
			"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\"}]}", false },
		{ "labels_and_expressions",
			"{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"n\",\"operator\":\"DoesNotExist\"}]}",
			false },
	};
	struct sim_value *map = parse("{\"a\":\"b\",\"n\":\"5\"}");

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *s = rows[i].selector ? parse(rows[i].selector) : NULL;

		if (sim_label_selector_object_matches(s, map) != rows[i].want)
			fail_msg("%s", rows[i].name);
		sim_unref(s);
	}
	sim_unref(map);
}

static void names(void **state)
{
	static const struct {
		const char *name;
		struct sim_complaints (*check)(const char *s);
		const char *text, *want;
	} rows[] = {
		{ "label", sim_check_dns_label, "a-1", "" },
		{ "label_with_dot", sim_check_dns_label, "a.b", "must not contain dots" },
		{ "label_too_long", sim_check_dns_label, A63 "a", "must be no more than 63 characters" },
		{ "label_of_63", sim_check_dns_label, A63, "" },
		{ "label_ends_with_dash", sim_check_dns_label, "a-",
			"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
			"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
			"'[a-z0-9]([-a-z0-9]*[a-z0-9])?')" },
		{ "subdomain", sim_check_dns_subdomain, "a-1.b", "" },
		{ "subdomain_with_capital", sim_check_dns_subdomain, "a.B", SUBDOMAIN_RULE },
		{ "subdomain_with_two_dots", sim_check_dns_subdomain, "a..b", SUBDOMAIN_RULE },
		{ "subdomain_part_begins_with_dash", sim_check_dns_subdomain, "a.-b", SUBDOMAIN_RULE },
		{ "subdomain_empty", sim_check_dns_subdomain, "", SUBDOMAIN_RULE },
		{ "subdomain_too_long", sim_check_dns_subdomain, A63 A63 A63 A63 "aa",
			"must be no more than 253 characters" },
		{ "key", sim_check_label_key, "kubernetes.io/my_Name.1", "" },
		{ "key_with_blank", sim_check_label_key, "a b", "name part " NAME_RULE },
		{ "value", sim_check_label_value, "", "" },
		{ "value_with_slash", sim_check_label_value, "a/b", VALUE_RULE },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_complaints c = rows[i].check(rows[i].text);
		struct kar_buf b = { 0 };

		sim_complaints_print(&c, &b);
		if (strcmp(kar_buf_cstr(&b), rows[i].want) != 0)
			fail_msg("%s: \"%s\"", rows[i].name, kar_buf_cstr(&b));
		kar_buf_release(&b);
	}
}

static void quotes(void **state)
{
	struct kar_buf b = { 0 };

	(void)state;
	sim_quote("a\"b\\c\n\t\r\a\v\x01\x7f\xc3\xa4", &b);
	assert_string_equal(kar_buf_cstr(&b), "\"a\\\"b\\\\c\\n\\t\\r\\a\\v\\x01\\x7f\xc3\xa4\"");
	kar_buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_labels),
		cmocka_unit_test(labels),
		cmocka_unit_test(absent_map_of_labels),
		cmocka_unit_test(refused_fields),
		cmocka_unit_test(fields),
		cmocka_unit_test(names_of_fields),
		cmocka_unit_test(selector_objects),
		cmocka_unit_test(names),
		cmocka_unit_test(quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
