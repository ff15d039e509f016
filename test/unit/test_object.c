#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/json.h"
#include "common/kube/object.h"
#include "test/unit/toy.h"

static void rv_parse(void **state)
{
	static const struct {
		const char *name, *text;
		kar_rv want;
	} rows[] = {
		{ "absent_then_0", NULL, 0 },
		{ "empty_then_0", "", 0 },
		{ "zero_is_no_live_version", "0", 0 },
		{ "decimal_then_its_value", "12746", 12746 },
		{ "leading_zero_then_not_comparable", "0123", 0 },
		{ "letters_then_not_comparable", "12a", 0 },
		{ "sign_then_not_comparable", "+12", 0 },
		{ "space_then_not_comparable", "12 ", 0 },
		{ "largest_64_bits_then_its_value", "18446744073709551615", UINT64_MAX },
		{ "one_more_than_64_bits_then_not_comparable", "18446744073709551616", 0 },
		{ "far_too_long_then_not_comparable", "99999999999999999999999", 0 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		kar_rv got = kar_rv_parse(rows[i].text);

		if (got != rows[i].want)
			fail_msg("%s: %ju, want %ju", rows[i].name, (uintmax_t)got, (uintmax_t)rows[i].want);
	}
}

static void keys(void **state)
{
	static const struct {
		const char *name, *ns, *object, *key;
	} rows[] = {
		{ "namespaced", "team-a", "train-0", "team-a/train-0" },
		{ "cluster_scoped", "", "default", "default" },
		{ "dots_in_name", "n", "a.b.c", "n/a.b.c" },
	};
	char key[KAR_KEY_LEN], buf[KAR_KEY_LEN];
	const char *ns, *name;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		print_message("%s\n", rows[i].name);
		assert_string_equal(kar_key(rows[i].ns, rows[i].object, key), rows[i].key);
		kar_key_split(key, buf, &ns, &name);
		assert_string_equal(ns, rows[i].ns);
		assert_string_equal(name, rows[i].object);
	}
	assert_string_equal(kar_key(NULL, "x", key), "x");
}

static void longest_key_fits(void **state)
{
	char ns[64] = { 0 }, name[254] = { 0 }, key[KAR_KEY_LEN], buf[KAR_KEY_LEN];
	const char *got_ns, *got_name;

	(void)state;
	memset(ns, 'n', 63);
	memset(name, 'o', 253);
	kar_key_split(kar_key(ns, name, key), buf, &got_ns, &got_name);
	assert_string_equal(got_ns, ns);
	assert_string_equal(got_name, name);
}

static void references(void **state)
{
	struct kar_intern *strings = kar_intern_new();
	struct kar_object *o = toy_object(strings, "ns", "a", "uid-a", "7", "red", NULL);

	(void)state;
	assert_string_equal(o->ns, "ns");
	assert_int_equal(o->rv, 7);
	assert_ptr_equal(kar_object_ref(o), o);
	kar_object_unref(o);
	assert_int_equal(toy_alive, 1);
	kar_object_unref(o);
	assert_int_equal(toy_alive, 0);
	assert_int_equal(kar_intern_count(strings), 0);
	kar_object_unref(NULL);
	assert_null(kar_object_ref(NULL));
	kar_intern_free(strings);
}

static const char meta_text[] =
	"{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"42\",\"generation\":3,"
	"\"creationTimestamp\":\"2026-11-21T13:46:27Z\",\"deletionTimestamp\":null,"
	"\"labels\":{\"k\":\"v\"},\"annotations\":{\"x\":\"y\"},\"finalizers\":[\"f1\",\"f2\"],"
	"\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:a\":{}}}],"
	"\"ownerReferences\":["
	"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u1\"},"
	"{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"u2\",\"controller\":true}]}";

static void metadata_is_read(void **state)
{
	struct kar_arena arena = { 0 };
	struct kar_wire_meta m = { 0 };
	struct kar_err err = { 0 };

	(void)state;
	if (kar_json_decode(&arena, &kar_wire_meta_desc, NULL, meta_text, strlen(meta_text), &m, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(m.name, "a");
	assert_string_equal(m.ns, "n");
	assert_string_equal(m.uid, "u");
	assert_string_equal(m.resource_version, "42");
	assert_int_equal(m.generation, 3);
	assert_int_equal(m.creation, 1795268787000);
	assert_int_equal(m.deletion, 0);
	assert_string_equal(kar_pairs_get(&m.labels, "k"), "v");
	assert_string_equal(kar_pairs_get(&m.annotations, "x"), "y");
	assert_int_equal(m.finalizers.n, 2);
	assert_string_equal(((const char *const *)m.finalizers.items)[1], "f2");
	assert_string_equal(kar_wire_controller(&m)->name, "j");
	kar_arena_release(&arena);
}

static void without_controller_then_null(void **state)
{
	struct kar_wire_owner owner = { .name = "a" };
	struct kar_wire_meta m = { .owners = { .items = &owner, .n = 1 } };

	(void)state;
	assert_null(kar_wire_controller(&m));
	owner.controller = true;
	assert_ptr_equal(kar_wire_controller(&m), &owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv_parse),
		cmocka_unit_test(keys),
		cmocka_unit_test(longest_key_fits),
		cmocka_unit_test(references),
		cmocka_unit_test(metadata_is_read),
		cmocka_unit_test(without_controller_then_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
