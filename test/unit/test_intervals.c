/* Sets of indexes as text, and what adding and truncating makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/queuejob/index_counts.h"
#include "api/status/intervals.h"

static struct kar_arena arena;

static int teardown(void **state)
{
	(void)state;
	kar_arena_release(&arena);
	return 0;
}

static void canonical_text_comes_back(void **state)
{
	static const char *const rows[] = { "", "0", "7", "0-57,59", "1,3,5", "10-11,13-2147483647" };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_intervals set;

		if (kar_intervals_parse(rows[i], &arena, &set))
			fail_msg("refuses `%s`", rows[i]);
		assert_string_equal(kar_intervals_format(&set, &arena), rows[i]);
	}
}

/* Text, and what is printed of what was read. */
static void numbers_of_indexes(void **state)
{
	static const struct {
		const char *text, *printed;
	} rows[] = {
		{ "", "" },
		{ "3:1", "3:1" },
		{ "0-2:1,5:7,7-9:2", "0-2:1,5:7,7-9:2" },
		{ "0:1,1:1", "0-1:1" },        /* neighbours are one run */
		{ "3:1,2:1", "3:1" },          /* what does not ascend ends it */
		{ "3-3:1", "" },               /* no run */
		{ "3:0,4:1", "" },             /* no failure is not written */
		{ "8:1,12:1", "8:1" },         /* an index that is no more */
		{ "8-2147483647:1", "8-9:1" }, /* likewise */
		{ "3:99999999999", "" },       /* no number */
		{ "3", "" },
		{ "3:", "" },
		{ "x", "" },
		{ "3:1,", "3:1" },
		{ "03:1", "" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		assert_string_equal(kar_index_counts_format(kar_index_counts_parse(rows[i].text, 10, &arena),
					    10, &arena),
			rows[i].printed);
}

static void other_text_is_refused(void **state)
{
	static const char *const rows[] = {
		",",
		"1,",
		",1",
		"1,,2",
		"-1",
		"1-",
		"1-1",
		"2-1",
		"1,1",
		"1,2",
		"0-3,4",
		"3,1",
		"0-5,2-9",
		"01",
		"00",
		"1-02",
		" 1",
		"1 ",
		"a",
		"1;2",
		"2147483648",
		"99999999999999999999",
		"1-2-3",
		"+1",
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_intervals set = { .n = 77 };

		if (kar_intervals_parse(rows[i], &arena, &set) == 0)
			fail_msg("accepts `%s`", rows[i]);
		assert_int_equal(set.n, 77); /* untouched */
	}
}

static void added_members_join(void **state)
{
	static const struct {
		const char *before;
		int32_t add;
		const char *after;
	} rows[] = {
		{ "", 5, "5" },
		{ "5", 5, "5" },
		{ "5", 6, "5-6" },
		{ "5", 4, "4-5" },
		{ "5", 7, "5,7" },
		{ "5", 3, "3,5" },
		{ "3,5", 4, "3-5" },
		{ "0-2,8-9", 5, "0-2,5,8-9" },
		{ "0-2,4-5,7", 6, "0-2,4-7" },
		{ "1-3", 2, "1-3" },
		{ "2147483646", 2147483647, "2147483646-2147483647" },
		{ "1", 0, "0-1" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_intervals set;

		assert_int_equal(kar_intervals_parse(rows[i].before, &arena, &set), 0);
		kar_intervals_add(&set, rows[i].add, &arena);
		assert_string_equal(kar_intervals_format(&set, &arena), rows[i].after);
	}
}

static void truncation_takes_the_limit_and_above(void **state)
{
	static const struct {
		const char *before;
		int32_t limit;
		const char *after;
		int32_t count;
	} rows[] = {
		{ "0-9", 10, "0-9", 10 },
		{ "0-9", 9, "0-8", 9 },
		{ "0-9", 1, "0", 1 },
		{ "0-9", 0, "", 0 },
		{ "0,2-4,9", 4, "0,2-3", 3 },
		{ "0,2-4,9", 2, "0", 1 },
		{ "", 3, "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_intervals set;

		assert_int_equal(kar_intervals_parse(rows[i].before, &arena, &set), 0);
		kar_intervals_truncate(&set, rows[i].limit);
		assert_string_equal(kar_intervals_format(&set, &arena), rows[i].after);
		assert_int_equal(kar_intervals_count(&set), rows[i].count);
	}
}

/* Against an array of booleans. */
static void random_sets_agree_with_a_model(void **state)
{
	enum { N = 200, ROUNDS = 200 };
	unsigned seed = 20261121;

	(void)state;
	print_message("seed %u\n", seed);
	for (int round = 0; round < ROUNDS; round++) {
		struct kar_intervals set = { 0 }, again;
		bool model[N] = { false };
		int32_t members = 0;
		int adds = rand_r(&seed) % N;

		for (int i = 0; i < adds; i++) {
			int32_t value = rand_r(&seed) % N;

			members += !model[value];
			model[value] = true;
			kar_intervals_add(&set, value, &arena);
		}
		assert_int_equal(kar_intervals_count(&set), members);
		for (int32_t i = 0; i < N; i++)
			assert_int_equal(kar_intervals_has(&set, i), model[i]);
		assert_int_equal(kar_intervals_parse(kar_intervals_format(&set, &arena), &arena, &again), 0);
		assert_int_equal(again.n, set.n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_indexes),
		cmocka_unit_test_teardown(canonical_text_comes_back, teardown),
		cmocka_unit_test_teardown(other_text_is_refused, teardown),
		cmocka_unit_test_teardown(added_members_join, teardown),
		cmocka_unit_test_teardown(truncation_takes_the_limit_and_above, teardown),
		cmocka_unit_test_teardown(random_sets_agree_with_a_model, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
