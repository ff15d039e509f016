#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/intern.h"

static void equal_strings_share_one_copy(void **state)
{
	struct kar_intern *t = kar_intern_new();
	char other[] = "node-1";
	const char *a = kar_intern_get(t, "node-1"), *b = kar_intern_get(t, other),
		   *c = kar_intern_get(t, "node-2");

	(void)state;
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_ptr_not_equal(a, other);
	assert_string_equal(a, "node-1");
	assert_int_equal(kar_intern_count(t), 2);
	assert_ptr_equal(kar_intern_find(t, "node-1"), a);
	kar_intern_put(t, a);
	assert_ptr_equal(kar_intern_find(t, "node-1"), b); /* one reference is left */
	kar_intern_put(t, b);
	assert_null(kar_intern_find(t, "node-1"));
	assert_int_equal(kar_intern_count(t), 1);
	kar_intern_put(t, c);
	kar_intern_free(t);
}

static void ref_counts(void **state)
{
	struct kar_intern *t = kar_intern_new();
	const char *a = kar_intern_get(t, "x");

	(void)state;
	assert_ptr_equal(kar_intern_ref(t, a), a);
	kar_intern_put(t, a);
	assert_int_equal(kar_intern_count(t), 1);
	kar_intern_put(t, a);
	assert_int_equal(kar_intern_count(t), 0);
	kar_intern_free(t);
}

static void nothing_then_null(void **state)
{
	struct kar_intern *t = kar_intern_new();

	(void)state;
	assert_null(kar_intern_get(t, NULL));
	assert_null(kar_intern_get(t, ""));
	assert_null(kar_intern_find(t, NULL));
	assert_null(kar_intern_find(t, ""));
	assert_null(kar_intern_ref(t, NULL));
	kar_intern_put(t, NULL);
	kar_intern_free(t);
	kar_intern_free(NULL);
}

/* Through many growths, pointers stay and every string is found. */
static void many_strings(void **state)
{
	enum { MANY = 20000 };
	struct kar_intern *t = kar_intern_new();
	const char **held = calloc(MANY, sizeof(*held));
	char text[32];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "string-%d", i);
		held[i] = kar_intern_get(t, text);
	}
	assert_int_equal(kar_intern_count(t), MANY);
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "string-%d", i);
		assert_ptr_equal(kar_intern_find(t, text), held[i]);
	}
	for (int i = 0; i < MANY; i += 2)
		kar_intern_put(t, held[i]);
	assert_int_equal(kar_intern_count(t), MANY / 2);
	for (int i = 1; i < MANY; i += 2) {
		assert_string_equal(kar_intern_find(t, held[i]), held[i]);
		kar_intern_put(t, held[i]);
	}
	kar_intern_free(t);
	free(held);
}

static void hash(void **state)
{
	(void)state;
	/* The published FNV-1a values. */
	assert_true(kar_hash(0, "", 0) == 0xcbf29ce484222325u);
	assert_true(kar_hash_str(0, "a") == 0xaf63dc4c8601ec8cu);
	assert_true(kar_hash_str(0, "foobar") == 0x85944171f73967e8u);
	assert_true(kar_hash_str(1, "a") != kar_hash_str(0, "a"));
	assert_true(kar_hash_str(kar_hash_str(0, "a"), "b") != kar_hash_str(kar_hash_str(0, "b"), "a"));
	assert_true(kar_hash(0, "a\0b", 3) != kar_hash(0, "a", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_share_one_copy),
		cmocka_unit_test(ref_counts),
		cmocka_unit_test(nothing_then_null),
		cmocka_unit_test(many_strings),
		cmocka_unit_test(hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
