/* Structs that are equal with all that they point to, and those that are not (common/base/shape.h), by what pods need (common/sched/needs.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/intern.h"
#include "common/base/mem.h"
#include "common/sched/needs.h"

#define LIST(member, ...) \
	.member = (const __typeof__(*((struct kar_pod_needs *)0)->member)[]){ __VA_ARGS__ }, \
	.n_##member = sizeof((__typeof__(*((struct kar_pod_needs *)0)->member)[]){ __VA_ARGS__ }) / \
		sizeof(*((struct kar_pod_needs *)0)->member)
#define TERM(...) \
	{ \
		(const struct kar_requirement[]){ __VA_ARGS__ }, \
			sizeof((struct kar_requirement[]){ __VA_ARGS__ }) / sizeof(struct kar_requirement) \
	}
#define VALUES(...) \
	(const char *const[]){ __VA_ARGS__ }, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(const char *)

/* No two of them need the same. */
static const struct kar_pod_needs all[] = {
	{ 0 },
	{ .room_only = true },
	{ .has_terms = true },
	{ .node = "" },
	{ .node = "n" },
	{ .unverified = "n" },
	{ LIST(amounts, { "cpu", 1 }) },
	{ LIST(amounts, { "cpu", 2 }) },
	{ LIST(amounts, { "cpu", 1 }, { "memory", 1 }) },
	{ LIST(amounts, { "memory", 1 }, { "cpu", 1 }) },
	{ LIST(ports, { "0.0.0.0", "TCP", 80 }) },
	{ LIST(ports, { "0.0.0.0", "TCP", 81 }) },
	{ LIST(ports, { "0.0.0.0", "UDP", 80 }) },
	{ LIST(ports, { "10.0.0.1", "TCP", 80 }) },
	{ LIST(selector, { "a", "b" }) },
	{ LIST(selector, { "a", "c" }) },
	{ LIST(selector, { "ab", "" }) },
	{ LIST(selector, { "", "ab" }) },
	{ LIST(selector, { "a", "b" }), .room_only = true },
	{ .has_terms = true, LIST(terms, TERM({ "a", KAR_OP_IN, false, VALUES("b") })) },
	{ .has_terms = true, LIST(terms, TERM({ "a", KAR_OP_IN, false, VALUES("b", "c") })) },
	{ .has_terms = true, LIST(terms, TERM({ "a", KAR_OP_IN, false, VALUES("bc") })) },
	{ .has_terms = true, LIST(terms, TERM({ "a", KAR_OP_IN, true, VALUES("b") })) },
	{ .has_terms = true, LIST(terms, TERM({ "a", KAR_OP_NOT_IN, false, VALUES("b") })) },
	{ .has_terms = true, LIST(terms, TERM({ "c", KAR_OP_IN, false, VALUES("b") })) },
	{ .has_terms = true,
		LIST(terms,
			TERM({ "a", KAR_OP_IN, false, VALUES("b") }, { .key = "c", .op = KAR_OP_EXISTS })) },
	{ .has_terms = true,
		LIST(terms, TERM({ "a", KAR_OP_IN, false, VALUES("b") }),
			TERM({ .key = "c", .op = KAR_OP_EXISTS })) },
	{ LIST(tolerations, { .value = "", .exists = true }) },
	{ LIST(tolerations, { .key = "", .value = "", .exists = true }) },
	{ LIST(tolerations, { .key = "a", .value = "" }) },
	{ LIST(tolerations, { .key = "a", .value = "", .exists = true }) },
	{ LIST(tolerations, { .key = "a", .value = "", .unknown = true }) },
	{ LIST(tolerations, { .key = "a", .value = "", .effect = KAR_NO_EXECUTE }) },
	{ LIST(tolerations, { .key = "a", .value = "b" }) },
};

static int sign(int d)
{
	return (d > 0) - (d < 0);
}

static void each_part_makes_a_difference(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(all); i++) {
		for (size_t k = 0; k < KAR_LEN(all); k++) {
			int d = kar_shape_compare(&kar_needs_shape, &all[i], &all[k]);
			bool same = kar_shape_hash(&kar_needs_shape, 1, &all[i]) ==
				kar_shape_hash(&kar_needs_shape, 1, &all[k]);

			if ((d == 0) != (i == k) || same != (i == k) ||
				sign(d) != -sign(kar_shape_compare(&kar_needs_shape, &all[k], &all[i])))
				fail_msg("needs %zu and %zu", i, k);
		}
	}
}

/* All that it points to is in its own bytes, and all of them are used. */
static void copy_is_whole(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(all); i++) {
		size_t n = kar_shape_bytes(&kar_needs_shape, &all[i]);
		char *bytes = kar_xmalloc(2 * n);
		struct kar_pod_needs *copy;

		memset(bytes, 'x', 2 * n);
		copy = kar_shape_copy(&kar_needs_shape, &all[i], bytes);
		assert_ptr_equal(copy, bytes);
		assert_int_equal(kar_shape_compare(&kar_needs_shape, copy, &all[i]), 0);
		assert_true(n == sizeof(*copy) || bytes[n - 1] != 'x');
		assert_true(bytes[n] == 'x' && memcmp(bytes + n, bytes + n + 1, n - 1) == 0);
		if (copy->n_selector)
			assert_in_range((uintptr_t)copy->selector[0].value, (uintptr_t)bytes,
				(uintptr_t)bytes + n - 1);
		free(bytes);
	}
}

static void equal_structs_share_one_copy(void **state KAR_UNUSED)
{
	struct kar_intern *t = kar_intern_new();
	const void *shared[KAR_LEN(all)];
	size_t empty = kar_intern_bytes(t);

	assert_null(kar_share_get(t, &kar_needs_shape, NULL));
	kar_share_put(t, NULL);
	for (size_t i = 0; i < KAR_LEN(all); i++) {
		shared[i] = kar_share_get(t, &kar_needs_shape, &all[i]);
		assert_ptr_not_equal(shared[i], &all[i]);
		assert_int_equal(kar_intern_count(t), i + 1);
	}
	assert_true(kar_intern_bytes(t) > KAR_LEN(all) * sizeof(all[0]));
	for (size_t i = 0; i < KAR_LEN(all); i++) {
		assert_ptr_equal(kar_share_get(t, &kar_needs_shape, &all[i]), shared[i]);
		kar_share_put(t, shared[i]);
		assert_int_equal(kar_shape_compare(&kar_needs_shape, shared[i], &all[i]),
			0); /* one is left */
		kar_share_put(t, shared[i]);
		assert_int_equal(kar_intern_count(t), KAR_LEN(all) - i - 1);
	}
	assert_int_equal(kar_intern_bytes(t), empty);
	kar_intern_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_makes_a_difference),
		cmocka_unit_test(copy_is_whole),
		cmocka_unit_test(equal_structs_share_one_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
