#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/backoff.h"

static const struct {
	const char *name;
	unsigned n;
	kar_time first, longest, want;
} rows[] = {
	{ "the_first_delay", 0, 500, 30000, 500 },
	{ "is_doubled_once", 1, 500, 30000, 1000 },
	{ "is_doubled_twice", 2, 500, 30000, 2000 },
	{ "the_last_below_the_longest", 5, 500, 30000, 16000 },
	{ "no_longer_than_the_longest", 6, 500, 30000, 30000 },
	{ "the_longest_may_be_reached_exactly", 3, 500, 4000, 4000 },
	{ "after_very_many_tries", UINT_MAX, 500, 30000, 30000 },
	{ "a_first_that_is_too_long", 0, 60000, 30000, 30000 },
	{ "no_overflow", UINT_MAX, 3, KAR_NEVER, KAR_NEVER },
	{ "none_one_step_before_either", 62, 1, KAR_NEVER, INT64_C(1) << 62 },
};

static void delays_double_up_to_the_longest(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		kar_time got = kar_backoff_delay(rows[i].n, rows[i].first, rows[i].longest);

		if (got != rows[i].want)
			fail_msg("%s: %lld ms, want %lld", rows[i].name, (long long)got,
				(long long)rows[i].want);
	}
}

static void backoff_doubles_up_to_its_cap_with_jitter(void **state KAR_UNUSED)
{
	static const kar_time expect[] = { 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000 };
	bool differ = false;

	for (uint64_t seed = 0; seed < 50; seed++) {
		struct kar_backoff b = { .base = 800, .cap = 30000, .jitter = 1.0, .random = seed };
		struct kar_backoff same = b;

		for (size_t i = 0; i < KAR_LEN(expect); i++) {
			kar_time d = kar_backoff_next(&b, 0);

			assert_in_range(d, expect[i], 2 * expect[i]);
			assert_int_equal(d, kar_backoff_next(&same, 0)); /* same seed, same delays */
			differ = differ || d != expect[i];
		}
		kar_backoff_reset(&b);
		assert_in_range(kar_backoff_next(&b, 0), 800, 1600);
		assert_in_range(kar_backoff_next(&b, 60000), 60000, 60000 + 1600);
	}
	assert_true(differ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delays_double_up_to_the_longest),
		cmocka_unit_test(backoff_doubles_up_to_its_cap_with_jitter),
	};

	return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
