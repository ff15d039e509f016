/*
 * Server-side apply: what comes out and who owns what is what a Kubernetes 1.37 API server answered to the same requests, for a
 * CustomResourceDefinition with this schema.
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
#include "sim/apiserver/patch.h"
#include "sim/test/fixture/sim_apply_stories.h"
#include "sim/test/unit/sim_apply_fixture.h"

static struct sim_schema *compiled(void)
{
	struct kar_err err = { 0 };
	struct sim_value *v = tree(thing);
	struct sim_schema *s = sim_schema_new(v, &err);

	if (!s)
		fail_msg("%s", err.msg);
	sim_unref(v);
	return s;
}

static bool is(const struct sim_value *v, const char *json)
{
	struct sim_value *want = tree(json);
	bool same = sim_equal(v, want);

	sim_unref(want);
	return same;
}

/* The object without what is the same in all, and without defaults. */
static struct sim_value *bare(const struct sim_value *object)
{
	static const char *const same[] = { "apiVersion", "kind" };
	struct sim_value *v = sim_ref(object);

	for (size_t i = 0; i < KAR_LEN(same); i++)
		sim_remove(&v, same[i]);
	sim_remove(&v, "metadata", "name");
	sim_remove(&v, "metadata", "managedFields");
	if (sim_count(sim_member(v, "metadata")) == 0)
		sim_remove(&v, "metadata");
	if (is(sim_get(v, "spec", "deep"), "{'d':1}"))
		sim_remove(&v, "spec", "deep");
	if (is(sim_get(v, "spec", "def"), "'x'"))
		sim_remove(&v, "spec", "def");
	return v;
}

struct play {
	struct sim_schema *schema;
	struct sim_value *live;
};

static void settle(const struct play *p, bool status, struct sim_value **new)
{
	static const char *const maps[] = { "labels", "annotations" };
	struct sim_value *kept = sim_ref(sim_member(p->live, "status"));

	sim_schema_default(p->schema, new);
	sim_schema_prune(p->schema, new, NULL);
	for (size_t i = 0; i < KAR_LEN(maps); i++) {
		if (sim_count(sim_get(*new, "metadata", maps[i])) == 0)
			sim_remove(new, "metadata", maps[i]);
	}
	if (!status && kept)
		sim_set(new, sim_ref(kept), "status");
	else if (!status)
		sim_remove(new, "status");
	sim_unref(kept);
}

/* Through the status subresource only status changes. */
static void keep_all_but_status(const struct play *p, struct sim_value **new)
{
	struct sim_value *v = sim_ref(p->live),
			 *managed = sim_ref(sim_get(*new, "metadata", "managedFields"));
	struct sim_value *status = sim_ref(sim_member(*new, "status"));

	if (status)
		sim_set(&v, status, "status");
	else
		sim_remove(&v, "status");
	if (managed)
		sim_set(&v, managed, "metadata", "managedFields");
	sim_unref(*new);
	*new = v;
}

/* -1 with the text in @why. */
static int request(struct play *p, const struct step *s, struct kar_buf *why)
{
	bool status = strstr(s->who, " status"), update = strstr(s->who, " update");
	char *manager = kar_xstrndup(s->who, strcspn(s->who, " "));
	struct sim_causes conflicts = { 0 };
	struct sim_apply a = { .manager = manager,
		.api_version = "s2.io/v1",
		.subresource = status ? "status" : NULL,
		.force = strstr(s->who, " force"),
		.now = 1795268787000,
		.schema = p->schema,
		.conflicts = &conflicts };
	struct sim_value *v = update ? tree(s->request) : config_of(s->request), *new = sim_ref(p->live);
	struct kar_err err = { 0 };
	int rc = 0;

	if (update)
		sim_patch_merge(&new, v);
	else
		rc = sim_apply(&new, v, &a, &err);
	if (rc == 0) {
		settle(p, status, &new);
		if (status)
			keep_all_but_status(p, &new);
		if (update)
			sim_apply_track(p->live, &new, &a);
		sim_unref(p->live);
		p->live = sim_ref(new);
	} else if (err.what == KAR_CONFLICT) {
		sim_apply_conflict_text(&conflicts, why);
	} else {
		kar_buf_puts(why, err.msg);
	}
	sim_causes_release(&conflicts);
	sim_unref(v);
	sim_unref(new);
	free(manager);
	return rc;
}

static void play(const char *story, const struct step *steps, size_t n)
{
	struct play p = { .schema = compiled() };

	for (size_t i = 0; i < n; i++) {
		const struct step *s = &steps[i];
		struct kar_buf why = { 0 }, shown = { 0 };
		bool forget = !strcmp(s->who, "forget");
		int rc = forget ? 0 : request(&p, s, &why);
		char *owners = rc ? kar_buf_detach(&why) : NULL;
		struct sim_value *v;

		if (forget)
			sim_remove(&p.live, "metadata", "managedFields");
		if (!owners)
			owners = owners_of(p.live);
		if ((rc != 0) != !*s->object || strcmp(owners, s->owners) != 0)
			fail_msg("%s, step %zu:\n%s\ninstead of\n%s", story, i, owners, s->owners);
		v = bare(p.live);
		if (*s->object && !is(v, s->object)) {
			sim_print(v, &shown);
			fail_msg("%s, step %zu: %s instead of %s", story, i, kar_buf_cstr(&shown), s->object);
		}
		sim_unref(v);
		free(owners);
		kar_buf_release(&why);
	}
	sim_unref(p.live);
	sim_schema_free(p.schema);
}

static void stories(void **state)
{
	static const struct {
		const char *name;
		const struct step *steps;
		size_t n;
	} rows[] = {
		{ "same_again", same_again, KAR_LEN(same_again) },
		{ "what_is_no_longer_applied_goes", what_is_no_longer_applied_goes,
			KAR_LEN(what_is_no_longer_applied_goes) },
		{ "a_field_of_two_stays_until_both_leave_it", a_field_of_two_stays_until_both_leave_it,
			KAR_LEN(a_field_of_two_stays_until_both_leave_it) },
		{ "conflicts_are_refused", conflicts_are_refused, KAR_LEN(conflicts_are_refused) },
		{ "conflicts_with_two", conflicts_with_two, KAR_LEN(conflicts_with_two) },
		{ "items_of_a_map_list", items_of_a_map_list, KAR_LEN(items_of_a_map_list) },
		{ "order_of_a_map_list", order_of_a_map_list, KAR_LEN(order_of_a_map_list) },
		{ "list_of_two_keys", list_of_two_keys, KAR_LEN(list_of_two_keys) },
		{ "items_of_a_set", items_of_a_set, KAR_LEN(items_of_a_set) },
		{ "lists_without_type_are_atomic", lists_without_type_are_atomic,
			KAR_LEN(lists_without_type_are_atomic) },
		{ "nothing_is_known_about_it", nothing_is_known_about_it,
			KAR_LEN(nothing_is_known_about_it) },
		{ "empty_ones", empty_ones, KAR_LEN(empty_ones) },
		{ "null_is_a_value_where_it_may_be", null_is_a_value_where_it_may_be,
			KAR_LEN(null_is_a_value_where_it_may_be) },
		{ "metadata_is_owned_too", metadata_is_owned_too, KAR_LEN(metadata_is_owned_too) },
		{ "status_has_owners_of_its_own", status_has_owners_of_its_own,
			KAR_LEN(status_has_owners_of_its_own) },
		{ "updates_take_fields_over", updates_take_fields_over, KAR_LEN(updates_take_fields_over) },
		{ "before_the_first_apply", before_the_first_apply, KAR_LEN(before_the_first_apply) },
		{ "kubectl_takes_over_what_it_applied_before", kubectl_takes_over_what_it_applied_before,
			KAR_LEN(kubectl_takes_over_what_it_applied_before) },
		{ "status_updates", status_updates, KAR_LEN(status_updates) },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		play(rows[i].name, rows[i].steps, rows[i].n);
}

#define TYPED "failed to create typed patch object (/ap; s2.io/v1, Kind=Thing): "

static void refused_configurations(void **state)
{
	static const struct {
		const char *name, *config;
		int http;
		const char *want;
	} rows[] = {
		{ "unknown_field", "{'spec':{'name':'a','foo':1}}", 500,
			TYPED ".spec.foo: field not declared in schema" },
		{ "unknown_in_metadata", "{'metadata':{'foo':1}}", 500,
			TYPED ".metadata.foo: field not declared in schema" },
		{ "number_for_text", "{'spec':{'name':3}}", 500,
			TYPED ".spec.name: expected string, got &value.valueUnstructured{Value:3}" },
		{ "text_for_number", "{'spec':{'num':'x'}}", 500,
			TYPED ".spec.num: expected numeric (int or float), got string" },
		{ "text_for_boolean", "{'spec':{'flag':'x'}}", 500,
			TYPED ".spec.flag: expected boolean, got &{x}" },
		{ "text_for_list", "{'spec':{'map':'x'}}", 500, TYPED ".spec.map: expected list, got &{x}" },
		{ "list_for_map", "{'spec':{'labels':['x']}}", 500,
			TYPED ".spec.labels: expected map, got &{[x]}" },
		{ "text_for_object", "{'spec':'x'}", 500, TYPED ".spec: expected map, got &{x}" },
		{ "value_of_map", "{'spec':{'labels':{'a':1}}}", 500,
			TYPED ".spec.labels.a: expected string, got &value.valueUnstructured{Value:1}" },
		{ "no_key", "{'spec':{'map':[{'v':1}]}}", 500,
			TYPED
			".spec.map: element 0: associative list with keys has an element that omits all key fields [\"k\"] (and doesn't have "
			"default values for any key fields)" },
		{ "same_key", "{'spec':{'map':[{'k':'a'},{'k':'a'}]}}", 500,
			TYPED ".spec.map: duplicate entries for key [k=\"a\"]" },
		{ "text_in_map_list", "{'spec':{'map':['x']}}", 500,
			TYPED
			".spec.map: element 0: associative list with keys may not have non-map elements" },
		{ "same_item", "{'spec':{'set':['a','a']}}", 500,
			TYPED ".spec.set: duplicate entries for key [=\"a\"]" },
		{ "object_in_set", "{'spec':{'set':[{'a':1}]}}", 500,
			TYPED
			".spec.set: element 0: associative list without keys has an element that's a map type" },
		{ "null_in_set", "{'spec':{'set':[null]}}", 500,
			TYPED
			".spec.set: element 0: associative list without keys has an element that's an explicit null" },
		{ "managed_fields", "{'metadata':{'managedFields':[]}}", 400,
			"metadata.managedFields must be nil" },
		{ "managed_fields_null_is_none", "{'metadata':{'managedFields':null}}", 0, "" },
		{ "null_in_any_place", "{'spec':{'name':null,'map':null,'labels':null}}", 0, "" },
		{ "anything_where_all_is_preserved",
			"{'spec':{'any':{'a':[{'b':1},'c']},'free':{'q':[[1]]},'ios':true}}", 0, "" },
	};
	struct sim_schema *s = compiled();

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_apply a = { .manager = "m", .api_version = "s2.io/v1", .schema = s };
		struct sim_value *v = NULL, *config = config_of(rows[i].config);
		struct kar_err err = { 0 };

		if (sim_apply(&v, config, &a, &err) != (rows[i].http ? -1 : 0) || err.http != rows[i].http ||
			strcmp(err.msg, rows[i].want) != 0)
			fail_msg("%s: %d %s", rows[i].name, err.http, err.msg);
		if (rows[i].http && (v || err.what != KAR_INVALID))
			fail_msg("%s: %s", rows[i].name, kar_err_class_name(err.what));
		sim_unref(v);
		sim_unref(config);
	}
	sim_schema_free(s);
}

/* The time of a manager moves only when it changed the object; without any change it has none. */
static void times(void **state)
{
	struct sim_schema *s = compiled();
	struct sim_value *v = NULL, *config = config_of("{'spec':{'name':'a'}}");
	struct sim_apply a = { .manager = "m1",
		.api_version = "s2.io/v1",
		.schema = s,
		.now = 1795268787000 };
	struct kar_err err = { 0 };
	const struct sim_value *entries;

	(void)state;
	assert_int_equal(sim_apply(&v, config, &a, &err), 0);
	a.now += 5000;
	assert_int_equal(sim_apply(&v, config, &a, &err), 0);
	a.manager = "m2";
	assert_int_equal(sim_apply(&v, config, &a, &err), 0);
	entries = sim_get(v, "metadata", "managedFields");
	assert_int_equal(sim_count(entries), 2);
	assert_string_equal(sim_get_text(sim_item(entries, 0), "manager"), "m2");
	assert_null(sim_member(sim_item(entries, 0), "time"));
	assert_string_equal(sim_get_text(sim_item(entries, 1), "time"), "2026-11-21T13:46:27Z");
	assert_string_equal(sim_get_text(sim_item(entries, 1), "fieldsType"), "FieldsV1");
	assert_string_equal(sim_get_text(sim_item(entries, 1), "apiVersion"), "s2.io/v1");
	sim_unref(v);
	sim_unref(config);
	sim_schema_free(s);
}

static void causes_of_conflicts(void **state)
{
	struct sim_schema *s = compiled();
	struct sim_value *v = NULL, *config = config_of("{'spec':{'name':'a'}}");
	struct sim_causes causes = { 0 };
	struct sim_apply a = { .manager = "m1",
		.api_version = "s2.io/v1",
		.schema = s,
		.conflicts = &causes };
	struct kar_err err = { 0 };

	(void)state;
	assert_int_equal(sim_apply(&v, config, &a, &err), 0);
	sim_set_text(&config, "b", "spec", "name");
	a.manager = "m2";
	assert_int_equal(sim_apply(&v, config, &a, &err), -1);
	assert_int_equal(err.what, KAR_CONFLICT);
	assert_string_equal(err.msg, "Apply failed with 1 conflict: conflict with \"m1\": .spec.name");
	assert_int_equal(causes.n, 1);
	assert_string_equal(causes.items[0].reason, "FieldManagerConflict");
	assert_string_equal(causes.items[0].message, "conflict with \"m1\"");
	assert_string_equal(causes.items[0].field, ".spec.name");
	sim_causes_release(&causes);
	sim_unref(v);
	sim_unref(config);
	sim_schema_free(s);
}

/* Of updaters there are at most ten: the oldest become one. */
static void many_updaters(void **state)
{
	struct sim_schema *s = compiled();
	struct sim_value *v = NULL, *config = config_of("{'spec':{'name':'a'}}");
	struct sim_apply a = { .manager = "m", .api_version = "s2.io/v1", .schema = s, .now = 1795268787000 };
	struct kar_err err = { 0 };
	char *owners;

	(void)state;
	assert_int_equal(sim_apply(&v, config, &a, &err), 0);
	for (int i = 0; i < 12; i++) {
		struct sim_value *old = sim_ref(v);
		char name[16], key[16];

		snprintf(name, sizeof(name), "u%02d", i);
		snprintf(key, sizeof(key), "k%02d", i);
		a.manager = name;
		a.now += 1000;
		sim_set_text(&v, "1", "metadata", "labels", key);
		sim_apply_track(old, &v, &a);
		sim_unref(old);
	}
	owners = owners_of(v);
	assert_memory_equal(owners,
		"ancient-changes Update .metadata.labels .metadata.labels.k00 .metadata.labels.k01 .metadata.labels.k02\n"
		"m Apply .spec.name\nu03 Update .metadata.labels.k03\n",
		100);
	assert_int_equal(sim_count(sim_get(v, "metadata", "managedFields")), 11);
	free(owners);
	sim_unref(v);
	sim_unref(config);
	sim_schema_free(s);
}

/* Whatever stands in managedFields, nothing breaks; what cannot be read is dropped. */
static void broken_managed_fields(void **state)
{
	static const char *const rows[] = {
		"'x'",
		"[3]",
		"[{}]",
		"[{'manager':'a','operation':'Apply','apiVersion':'v1','fieldsV1':{'f:spec':3}}]",
		"[{'manager':'a','operation':'Apply','apiVersion':'v1','fieldsV1':{'f':{}}}]",
		"[{'manager':'a','operation':'Apply','apiVersion':'v1','fieldsV1':{'k:x':{}}}]",
		"[{'manager':'a','operation':'Apply','apiVersion':'v1','fieldsV1':{'v:':{}}}]",
		"[{'manager':'a','operation':'Apply','apiVersion':'v1','fieldsV1':{'q:a':{}}}]",
		"[{'manager':'a','operation':'Apply','apiVersion':'v1','fieldsV1':{}}]",
		"[{'manager':'a','operation':'Apply','fieldsV1':{'f:spec':{}}}]",
		"[{'manager':'a','operation':'Steal','apiVersion':'v1','fieldsV1':{'f:spec':{}}}]",
	};
	struct sim_schema *s = compiled();

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_apply a = { .manager = "m",
			.api_version = "s2.io/v1",
			.schema = s,
			.force = true };
		struct sim_value *v = config_of("{'spec':{'name':'b'}}"),
				 *config = config_of("{'spec':{'name':'a'}}");
		struct kar_err err = { 0 };
		char *owners;

		sim_set(&v, tree(rows[i]), "metadata", "managedFields");
		assert_int_equal(sim_apply(&v, config, &a, &err), 0);
		owners = owners_of(v);
		if (strcmp(owners, "before-first-apply Update .spec\nm Apply .spec.name") != 0)
			fail_msg("%s: %s", rows[i], owners);
		free(owners);
		sim_unref(v);
		sim_unref(config);
	}
	sim_schema_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stories),
		cmocka_unit_test(refused_configurations),
		cmocka_unit_test(times),
		cmocka_unit_test(causes_of_conflicts),
		cmocka_unit_test(many_updaters),
		cmocka_unit_test(broken_managed_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
