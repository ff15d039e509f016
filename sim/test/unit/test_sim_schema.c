/*
 * Schemas: causes and results are those that a Kubernetes 1.37 API server gave for the same CustomResourceDefinition and the same
 * objects, causes sorted by field.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "sim/test/fixture/sim_schema_rows.h"
#include "sim/test/unit/sim_schema_fixture.h"

static struct sim_schema *compiled(const char *json)
{
	struct kar_err err = { 0 };
	struct sim_value *v = tree(json);
	struct sim_schema *s = sim_schema_new(v, &err);

	if (!s)
		fail_msg("%s", err.msg);
	sim_unref(v);
	return s;
}

static void refused(void **state)
{
	struct sim_schema *s = compiled(thing);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(refused_specs); i++) {
		struct sim_value *o = object(refused_specs[i].spec);
		struct sim_causes causes = { 0 };

		admit(s, &o, &causes);
		expect_causes(refused_specs[i].name, &causes, refused_specs[i].want);
		sim_unref(o);
	}
	sim_schema_free(s);
}

static void accepted(void **state)
{
	struct sim_schema *s = compiled(thing);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(accepted_specs); i++) {
		struct sim_value *o = object(accepted_specs[i].spec), *before = sim_ref(o);
		struct sim_causes causes = { 0 };

		admit(s, &o, &causes);
		expect_causes(accepted_specs[i].name, &causes, "");
		expect(accepted_specs[i].name, sim_member(o, "spec"), accepted_specs[i].want);
		expect(accepted_specs[i].name, sim_member(before, "spec"),
			accepted_specs[i].spec); /* another holder sees nothing */
		sim_unref(o);
		sim_unref(before);
	}
	sim_schema_free(s);
}

/* What was wrong before the schema became strict and is unchanged is let pass. */
static void updates(void **state)
{
	struct sim_schema *s = compiled(thing);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(updated_specs); i++) {
		struct sim_value *old = object(updated_specs[i].old), *new = object(updated_specs[i].new);
		struct sim_causes causes = { 0 };

		sim_schema_default(s, &old);
		sim_schema_default(s, &new);
		sim_schema_validate_update(s, old, new, false, &causes);
		expect_causes(updated_specs[i].name, &causes, updated_specs[i].want);
		sim_unref(old);
		sim_unref(new);
	}
	sim_schema_free(s);
}

static void status_updates(void **state)
{
	struct sim_schema *s = compiled(thing);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(updated_statuses); i++) {
		struct sim_value *old = object("{'name':'TOO LONG','num':-3}"), *new = sim_ref(old);
		struct sim_causes causes = { 0 };

		if (*updated_statuses[i].old)
			sim_set(&old, tree(updated_statuses[i].old), "status");
		sim_set(&new, tree(updated_statuses[i].new), "status");
		sim_schema_validate_update(s, old, new, true, &causes);
		expect_causes(updated_statuses[i].name, &causes, updated_statuses[i].want);
		sim_unref(old);
		sim_unref(new);
	}
	sim_schema_free(s);
}

static void removed_members(void **state)
{
	static const struct {
		const char *name, *spec, *want, *removed;
	} rows[] = {
		{ "nothing", "{'name':'a','free':{'x':{'y':1}},'any':[{'z':1}]}",
			"{'name':'a','free':{'x':{'y':1}},'any':[{'z':1}]}", "[]" },
		{ "sorted_paths",
			"{'z':1,'name':'a','atom':[{'n':1},{'m':1,'n':2,'b':{'c':1}}],'deep':{'e':1}}",
			"{'name':'a','atom':[{'n':1},{'n':2}],'deep':{}}",
			"['spec.atom[1].b','spec.atom[1].m','spec.deep.e','spec.z']" },
		{ "map_values", "{'lists':{'q':['a']},'labels':{'b':'c'},'pick':{'q':1}}",
			"{'lists':{'q':['a']},'labels':{'b':'c'},'pick':{}}", "['spec.pick.q']" },
		{ "embedded_metadata",
			"{'emb':{'kind':'x','metadata':{'name':'a','foo':{'b':1},'labels':{'l':'1'}},'other':{'c':1}}}",
			"{'emb':{'kind':'x','metadata':{'name':'a','labels':{'l':'1'}},'other':{'c':1}}}",
			"['spec.emb.metadata.foo']" },
		{ "empty_key", "{'':1,'name':'a'}", "{'name':'a'}", "['spec.']" },
		{ "object_where_a_text_should_be", "{'name':{'a':1}}", "{'name':{}}", "['spec.name.a']" },
	};
	struct sim_schema *s = compiled(thing);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *o = object(rows[i].spec), *removed = sim_array();

		sim_schema_prune(s, &o, &removed);
		expect(rows[i].name, sim_member(o, "spec"), rows[i].want);
		expect(rows[i].name, removed, rows[i].removed);
		sim_unref(o);
		sim_unref(removed);
	}
	sim_schema_free(s);
}

static void removed_at_the_root(void **state)
{
	struct sim_schema *s = compiled(thing);
	struct sim_value *o = tree(
				 "{'kind':'Thing','metadata':{'name':'x','foo':1},'spec':{},'more':1,'':2}"),
			 *removed = sim_array();

	(void)state;
	sim_schema_prune(s, &o, &removed);
	expect("object", o, "{'kind':'Thing','metadata':{'name':'x'},'spec':{}}");
	expect("paths", removed, "['','metadata.foo','more']");
	sim_unref(o);
	sim_unref(removed);
	sim_schema_free(s);
}

/* What needs no change is not copied: the simulation is quick because versions share their parts. */
static void unchanged_is_shared(void **state)
{
	struct sim_schema *s = compiled(thing);
	struct sim_value *o = object("{'name':'a','def':'x','deep':{'d':1},'map':[{'k':'x','v':1}]}"),
			 *before = sim_ref(o);

	(void)state;
	sim_schema_default(s, &o);
	sim_schema_prune(s, &o, NULL);
	assert_ptr_equal(o, before);
	sim_unref(o);
	sim_unref(before);
	sim_schema_free(s);
}

static void not_structural(void **state)
{
	static const char at[] = "spec.validation.openAPIV3Schema";
	static const struct {
		const char *name, *schema, *want;
	} rows[] = {
		{ "root_without_type", "{'properties':{}}",
			".type: Required value: must not be empty at the root" },
		{ "root_is_text", "{'type':'string'}", ".type: Invalid value: must be object at the root" },
		{ "field_without_type", "{'type':'object','properties':{'spec':{'description':'x'}}}",
			".properties[spec].type: Required value: must not be empty for specified object fields" },
		{ "items_without_type", "{'type':'object','properties':{'a':{'type':'array','items':{}}}}",
			".properties[a].items.type: Required value: must not be empty for specified array items" },
		{ "array_without_items", "{'type':'object','properties':{'a':{'type':'array'}}}",
			".properties[a].items: Required value: must be specified" },
		{ "map_value_without_type",
			"{'type':'object','properties':{'a':{'type':'object','additionalProperties':{}}}}",
			".properties[a].additionalProperties.type: Required value: must not be empty for specified object fields" },
		{ "properties_and_map",
			"{'type':'object','properties':{'a':{'type':'object','properties':{'b':{'type':'string'}},'additionalProperties':"
			"{'type':'string'}}}}",
			".properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive" },
		{ "type_of_alternative", "{'type':'object','anyOf':[{'type':'object'}]}",
			".anyOf[0].type: Forbidden: must be empty to be structural" },
		{ "default_of_alternative", "{'type':'object','not':{'properties':{'a':{'default':1}}}}",
			".not.properties[a].default: Forbidden: must be undefined to be structural" },
		{ "default_with_an_unknown_field",
			"{'type':'object','properties':{'a':{'type':'object','properties':{'b':{'type':'string'}},'default':{'b':'x','c':1}}}}",
			".properties[a].default: Invalid value: {\"b\":\"x\",\"c\":1}: must not have unknown fields" },
		{ "map_without_keys",
			"{'type':'object','properties':{'a':{'type':'array','x-kubernetes-list-type':'map','items':{'type':'object'}}}}",
			".properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map" },
		{ "list_type_of_object",
			"{'type':'object','properties':{'a':{'type':'object','x-kubernetes-list-type':'set'}}}",
			".properties[a].type: Invalid value: must be array if x-kubernetes-list-type is specified" },
		{ "embedded_text",
			"{'type':'object','properties':{'a':{'type':'string','x-kubernetes-embedded-resource':true}}}",
			".properties[a].type: Invalid value: must be object if x-kubernetes-embedded-resource is true" },
		{ "reference", "{'type':'object','$ref':'#/a'}", ".$ref: Forbidden: $ref is not supported" },
		{ "unique_items",
			"{'type':'object','properties':{'a':{'type':'array','uniqueItems':true,'items':{'type':'string'}}}}",
			".properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes "
			"quadratic" },
		{ "no_schema", "{'type':'object','properties':{'a':3}}",
			".properties[a]: Invalid value: must be a schema" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v = tree(rows[i].schema);
		struct kar_err err = { 0 };
		struct sim_schema *s = sim_schema_new(v, &err);

		if (s || err.what != KAR_INVALID || strncmp(err.msg, at, strlen(at)) != 0 ||
			strcmp(err.msg + strlen(at), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].name, err.msg);
		sim_unref(v);
	}
}

static void broken_pattern(void **state)
{
	struct sim_value *v = tree("{'type':'object','properties':{'a':{'type':'string','pattern':'a['}}}");
	struct kar_err err = { 0 };
	static const char want[] =
		"spec.validation.openAPIV3Schema.properties[a].pattern: Invalid value: \"a[\": must be a valid regular "
		"expression, but isn't: ";

	(void)state;
	assert_null(sim_schema_new(v, &err));
	assert_memory_equal(err.msg, want, strlen(want));
	sim_unref(v);
}

static void patterns(void **state)
{
	static const struct {
		const char *name, *pattern, *text;
		bool want;
	} rows[] = {
		{ "digits", "^\\\\d{2}$", "42", true },
		{ "digits_no", "^\\\\d{2}$", "4x", false },
		{ "group_without_number", "^(?:ab)+$", "abab", true },
		{ "group_without_number_no", "^(?:ab)+$", "aba", false },
		{ "dot", "^a\\\\.b$", "axb", false },
		{ "part", "b", "abc", true },
		{ "lazy", "^a+?$", "b", false },
		{ "flag", "^(?i)a$", "A", true },
		{ "class", "^[\\\\w]$", "-", false },
		{ "character_of_two_bytes", "^.$", "\u00e4", true },
		{ "end_is_not_before_a_line_feed", "^a$", "a\n", false },
		{ "repetitions_of_groups", "^((a+)+)*$", "aaab", false },
		{ "what_takes_too_long_is_let_pass", "^((a+)+)+$",
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", true },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char *json =
			kar_xasprintf("{'type':'object','properties':{'a':{'type':'string','pattern':'%s'}}}",
				rows[i].pattern);
		struct sim_schema *s = compiled(json);
		struct sim_value *v = sim_object();
		struct sim_causes causes = { 0 };

		sim_set_text(&v, rows[i].text, "a");
		sim_schema_validate(s, v, &causes);
		if ((causes.n == 0) != rows[i].want)
			fail_msg("%s: %zu causes", rows[i].name, causes.n);
		sim_causes_release(&causes);
		sim_unref(v);
		sim_schema_free(s);
		free(json);
	}
}

/* Texts of other formats are let pass; numbers where they should be are told as the server does. */
static void formats(void **state)
{
	static const struct {
		const char *name, *type, *format, *value, *want;
	} rows[] = {
		{ "date", "string", "date", "'2026-02-28'", "" },
		{ "no_such_day", "string", "date", "'2026-02-30'",
			"a TypeInvalid Invalid value: \"2026-02-30\": a in body must be of type date: \"2026-02-30\"" },
		{ "date_without_noughts", "string", "date", "'2026-2-3'",
			"a TypeInvalid Invalid value: \"2026-2-3\": a in body must be of type date: \"2026-2-3\"" },
		{ "date_is_a_number", "string", "date", "3",
			"a TypeInvalid Invalid value: \"int64\": a in body must be of type date: \"int64\"" },
		{ "short_name", "string", "k8s-short-name", "'a-b'", "" },
		{ "short_name_with_a_dot", "string", "k8s-short-name", "'a.b'",
			"a TypeInvalid Invalid value: \"a.b\": a in body must be of type k8s-short-name: \"a.b\"" },
		{ "short_name_without_dashes", "string", "k8sshortname", "'A'",
			"a TypeInvalid Invalid value: \"A\": a in body must be of type k8sshortname: \"A\"" },
		{ "long_name", "string", "k8s-long-name", "'a.b'", "" },
		{ "long_name_in_capitals", "string", "k8s-long-name", "'A'",
			"a TypeInvalid Invalid value: \"A\": a in body must be of type k8s-long-name: \"A\"" },
		{ "not_checked", "string", "uri", "'%'", "" },
		{ "not_checked_is_a_flag", "string", "email", "true",
			"a TypeInvalid Invalid value: \"\": a in body must be of type email: \"\"" },
		{ "unknown", "string", "no-such", "'x'", "" },
		{ "unknown_is_a_number", "string", "no-such", "3",
			"a TypeInvalid Invalid value: \"integer\": a in body must be of type string: \"integer\"" },
		{ "float", "number", "float", "1.5", "" },
		{ "float_too_large", "number", "float", "1e300",
			"<nil> Invalid Invalid value: \"\": Checked value must be of type number with format float in a" },
		{ "format_of_an_object", "object", "date", "{}", "" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char *json = kar_xasprintf("{'type':'object','properties':{'a':{'type':'%s','format':'%s'}}}",
			rows[i].type, rows[i].format);
		char *object = kar_xasprintf("{'a':%s}", rows[i].value);
		struct sim_schema *s = compiled(json);
		struct sim_value *v = tree(object);
		struct sim_causes causes = { 0 };

		sim_schema_validate(s, v, &causes);
		expect_causes(rows[i].name, &causes, rows[i].want);
		sim_unref(v);
		sim_schema_free(s);
		free(object);
		free(json);
	}
}

static void list_types(void **state)
{
	static const struct {
		const char *name, *path[4], *type, *keys;
	} rows[] = {
		{ "set", { "spec", "set" }, "set", NULL },
		{ "map", { "spec", "map" }, "map", "['k']" },
		{ "map_of_two_keys", { "spec", "map2" }, "map", "['port','proto']" },
		{ "plain", { "spec", "atom" }, "atomic", NULL },
		{ "below_a_map_of_anything", { "spec", "lists", "q" }, "set", NULL },
		{ "unknown", { "spec", "nothing", "there" }, "atomic", NULL },
		{ "below_a_list", { "status", "conditions", "type" }, "atomic", NULL },
		{ "conditions", { "status", "conditions" }, "map", "['type']" },
	};
	struct sim_schema *s = compiled(thing);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct sim_value *keys;
		size_t n = 0;

		while (n < KAR_LEN(rows[i].path) && rows[i].path[n])
			n++;
		assert_string_equal(sim_schema_list_type(s, rows[i].path, n, &keys), rows[i].type);
		if (rows[i].keys)
			expect(rows[i].name, keys, rows[i].keys);
		else
			assert_null(keys);
	}
	sim_schema_free(s);
}

/* Long lists are compared in another way than short ones. */
static void long_lists(void **state)
{
	struct sim_schema *s = compiled(
		"{'type':'object','properties':{'l':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'integer'}}}}");
	struct sim_value *v = sim_object(), *list = sim_array();
	struct sim_causes causes = { 0 };

	(void)state;
	for (int i = 0; i < 100000; i++)
		sim_append(&list, sim_int(i));
	sim_set(&v, sim_ref(list), "l");
	sim_schema_validate(s, v, &causes);
	expect_causes("all_differ", &causes, "");
	sim_replace(&list, 70000, sim_int(5));
	sim_replace(&list, 90000, sim_int(5));
	sim_replace(&list, 80000, sim_int(90001));
	sim_set(&v, list, "l");
	sim_schema_validate(s, v, &causes);
	expect_causes("some_repeat", &causes,
		"l[70000] Duplicate Duplicate value: 5\nl[90001] Duplicate Duplicate value: 90001");
	sim_unref(v);
	sim_schema_free(s);
}

static void many_causes_are_bounded(void **state)
{
	struct sim_schema *s =
		compiled("{'type':'object','properties':{'l':{'type':'array','items':{'type':'integer'}}}}");
	struct sim_value *v = sim_object(), *list = sim_array();
	struct sim_causes causes = { 0 };

	(void)state;
	for (int i = 0; i < 100000; i++)
		sim_append(&list, sim_string("x"));
	sim_set(&v, list, "l");
	sim_schema_validate(s, v, &causes);
	assert_int_equal(causes.n, 1000);
	sim_causes_release(&causes);
	sim_unref(v);
	sim_schema_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(accepted),
		cmocka_unit_test(updates),
		cmocka_unit_test(status_updates),
		cmocka_unit_test(removed_members),
		cmocka_unit_test(removed_at_the_root),
		cmocka_unit_test(unchanged_is_shared),
		cmocka_unit_test(not_structural),
		cmocka_unit_test(broken_pattern),
		cmocka_unit_test(patterns),
		cmocka_unit_test(formats),
		cmocka_unit_test(list_types),
		cmocka_unit_test(long_lists),
		cmocka_unit_test(many_causes_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
