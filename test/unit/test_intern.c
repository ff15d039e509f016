#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/intern.h"

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

/* A table whose address ends in 0x10, as the manager's always did; any other if malloc() gives none. */
static struct kar_intern *table_at_10(void)
{
	struct kar_intern *tables[64], *chosen = NULL;

	for (size_t i = 0; i < KAR_LEN(tables); i++) {
		tables[i] = kar_intern_new();
		if (!chosen && ((uintptr_t)tables[i] & 0xff) == 0x10)
			chosen = tables[i];
	}
	for (size_t i = 0; i < KAR_LEN(tables); i++) {
		if (tables[i] != chosen)
			kar_intern_free(tables[i]);
	}
	return chosen ? chosen : kar_intern_new();
}

/*
 * The texts of each pair have one FNV-1a hash behind those before them if the seed ends in 0x10, as it did where the table's
 * address was the seed. So there are 65,536 texts of one hash.
 */
static void chosen_texts_share_no_bucket(void **state)
{
	static const char *const pairs[][2] = {
		{ "40b0dh2e0aa20l12a0", "01gh86360akr00s0e2" },
		{ "31ab201400010ap100", "76b6rr6q00ju0e6742" },
		{ "60b100341a010c03a0", "21gitv2s1aju0cr1e2" },
		{ "40b300341a010c03a0", "01ggtv2s1aju0cr1e2" },
	};
	enum { BLOCKS = 16, BLOCK = 18, MANY = 20000, LONGEST = 16 };
	struct kar_intern *t = table_at_10();
	const char **held = calloc(MANY, sizeof(*held));

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		char text[BLOCKS * BLOCK + 1];

		for (unsigned k = 0; k < BLOCKS; k++)
			memcpy(text + (size_t)k * BLOCK,
				pairs[k < KAR_LEN(pairs) ? k : KAR_LEN(pairs) - 1][i >> k & 1], BLOCK + 1);
		held[i] = kar_intern_get(t, text);
		assert_true(kar_hash_str(0x10, held[i]) == kar_hash_str(0x10, held[0])); /* well chosen */
	}
	assert_int_equal(kar_intern_count(t), MANY);
	assert_in_range(kar_intern_longest_chain(t), 1, LONGEST);
	for (unsigned i = 0; i < MANY; i++)
		kar_intern_put(t, held[i]);
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
		cmocka_unit_test(chosen_texts_share_no_bucket),
		cmocka_unit_test(hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
