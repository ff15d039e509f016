/* The columns that CRDs give to custom resources. */
#include "sim/test/unit/table_rows.h"

static void custom_columns_follow_their_paths(void **state)
{
	static const struct {
		const char *name, *path, *type, *want;
	} rows[] = {
		{ "member", ".spec.queue", "string", "\"default\"" },
		{ "missing", ".spec.nope.deeper", "string", "null" },
		{ "number_as_text", ".status.running", "string", "\"3\"" },
		{ "number", ".status.running", "integer", "3" },
		{ "fraction_as_integer", ".spec.weight", "integer", "1" },
		{ "fraction", ".spec.weight", "number", "1.5" },
		{ "text_as_integer", ".spec.queue", "integer", "null" },
		{ "boolean", ".spec.suspend", "boolean", "true" },
		{ "text_as_boolean", ".spec.queue", "boolean", "null" },
		{ "boolean_as_text", ".spec.suspend", "string", "\"true\"" },
		{ "null", ".spec.nothing", "string", "null" },
		{ "date", ".metadata.creationTimestamp", "date", "\"30s\"" },
		{ "no_date", ".spec.queue", "date", "\"<invalid>\"" },
		{ "number_as_date", ".status.running", "date", "null" },
		{ "filter", ".status.conditions[?(@.type==\"Ready\")].status", "string", "\"True\"" },
		{ "filter_with_spaces", ".status.conditions[?(@.type == 'Ready')].status", "string",
			"\"True\"" },
		{ "filter_unequal", ".status.conditions[?(@.type!=\"Ready\")].type", "string", "\"Failed\"" },
		{ "filter_without_match", ".status.conditions[?(@.type==\"X\")].status", "string", "null" },
		{ "element", ".status.conditions[0].type", "string", "\"Failed\"" },
		{ "all_elements_give_the_first", ".status.conditions[*].type", "string", "\"Failed\"" },
		{ "element_beyond", ".status.conditions[7].type", "string", "null" },
		{ "element_of_an_object", ".status[0]", "string", "null" },
		{ "quoted_member", ".metadata.annotations['a.b/c']", "string", "\"d\"" },
		{ "escaped_dots", ".metadata.annotations.a\\.b/c", "string", "\"d\"" },
		{ "object_as_text", ".metadata.annotations", "string", "\"{\\\"a.b/c\\\":\\\"d\\\"}\"" },
		{ "empty_path", "", "string", NULL },
		{ "no_path", "spec", "string", "null" },
		{ "open_bracket", ".status.conditions[", "string", "null" },
		{ "open_filter", ".status.conditions[?(@.type==\"Ready\"", "string", "null" },
		{ "negative_index", ".status.conditions[-1]", "string", "null" },
		{ "dots_only", "...", "string", "null" },
	};
	static const char json[] =
		"{\"metadata\":{\"name\":\"q\"," CREATED
		",\"annotations\":{\"a.b/c\":\"d\"}},\"spec\":{\"queue\":\"default\",\"weight\":1.5,"
		"\"suspend\":true,\"nothing\":null},\"status\":{\"running\":3,\"conditions\":[{\"type\":\"Failed\",\"status\":\"False\"},"
		"{\"type\":\"Ready\",\"status\":\"True\"}]}}";
	struct sim_value *object KAR_CLEANUP(sim_cleanup_value) = parse(json);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *cell KAR_CLEANUP(sim_cleanup_value) =
			sim_custom_cell(object, rows[i].path, rows[i].type, now());
		struct kar_buf got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

		sim_print(cell, &got);
		if (rows[i].want && strcmp(kar_buf_cstr(&got), rows[i].want) != 0)
			fail_msg("%s: got %s, want %s", rows[i].name, kar_buf_cstr(&got), rows[i].want);
	}
}

static void custom_resource_has_the_columns_of_its_definition(void **state)
{
	struct sim_value *columns KAR_CLEANUP(sim_cleanup_value) = parse(
		"[{\"name\":\"Phase\",\"type\":\"string\",\"jsonPath\":\".status.phase\",\"description\":\"Where it is.\"},"
		"{\"name\":\"Queue\",\"type\":\"string\",\"jsonPath\":\".spec.queue\",\"priority\":1}]");
	const struct sim_resource resource = { .group = "x.io",
		.plural = "xs",
		.custom = true,
		.columns = columns };
	struct sim_value *table KAR_CLEANUP(sim_cleanup_value) =
		table_of(&resource, "{" META("a") ",\"status\":{\"phase\":\"Running\"}}", "None");
	struct kar_buf got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	(void)state;
	sim_print(table, &got);
	assert_string_equal(kar_buf_cstr(&got),
		"{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{},\"columnDefinitions\":["
		"{\"name\":\"Name\",\"type\":\"string\",\"format\":\"name\",\"description\":\"Name of the object.\",\"priority\":0},"
		"{\"name\":\"Phase\",\"type\":\"string\",\"format\":\"\",\"description\":\"Where it is.\",\"priority\":0},"
		"{\"name\":\"Queue\",\"type\":\"string\",\"format\":\"\",\"description\":\"Custom resource definition column (in JSONPath format): .spec.queue\",\"priority\":1}],"
		"\"rows\":[{\"cells\":[\"a\",\"Running\",null],\"object\":null}]}");
}

static void custom_resource_without_columns_has_an_age(void **state)
{
	const struct sim_resource resource = { .group = "x.io", .plural = "xs", .custom = true };

	(void)state;
	check_cells("age", &resource, "{" META("a") "}", "[\"a\",\"30s\"]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(custom_columns_follow_their_paths),
		cmocka_unit_test(custom_resource_has_the_columns_of_its_definition),
		cmocka_unit_test(custom_resource_without_columns_has_an_age),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
