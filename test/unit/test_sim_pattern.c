/* How large patterns of schemas are when they are written out, and which repetitions RE2 refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/apiserver/schema_impl.h"

static const struct {
	const char *name, *pattern;
	size_t least, most; /* characters */
	const char *refused;
} rows[] = {
	{ "nothing", "", 0, 1, "" },
	{ "plain_text_is_its_length", "abc", 3, 4, "" },
	{ "repetition_counts_the_larger_number", "a{2,50}", 50, 52, "" },
	{ "open_end_counts_the_smaller_number", "a{20,}", 20, 22, "" },
	{ "list_in_brackets_is_one", "[]{}(]{10}", 10, 12, "" },
	{ "negated_list_is_one", "[^]{5}]{10}", 10, 12, "" },
	{ "escape_is_one", "\\({10}", 10, 12, "" },
	{ "group_is_its_contents", "(ab){10}", 20, 40, "" },
	{ "groups_multiply", "((a{3}){3}){3}", 27, 100, "" },
	{ "star_of_a_character_does_not_count", "a*b*", 2, 4, "" },
	{ "loop_of_a_group_is_costly", "(a*)*", 8, 30, "" },
	{ "loops_of_loops_are_more_so", "((((a*)*)*)*)*", 2001, SIZE_MAX, "" },
	{ "repetition_of_a_repetition_is_refused", "ab*+c", 0, SIZE_MAX, "*+" },
	{ "brace_without_number_is_text", "a{x}", 4, 5, "" },
	{ "thousand_is_allowed", "a{1000}", 1000, 1002, "" },
	{ "more_than_a_thousand_is_refused", "ba{1,1001}", 0, SIZE_MAX, "{1,1001}" },
	{ "product_of_more_than_a_thousand_is_refused", "((a{1,40}){9}b){5}c{3}", 0, SIZE_MAX, "{5}" },
	{ "number_beyond_64_bits_is_refused", "a{99999999999999999999}", 0, SIZE_MAX,
		"{99999999999999999999}" },
	{ "side_by_side_they_add_up", "a{900}b{900}c{900}", 2700, 2710, "" },
	{ "closes_nothing", "a)b){3}", 3, 12, "" },
	{ "never_closed", "((a{5}", 5, 10, "" },
	{ "cut_off_count", "a{5", 3, 7, "" },
	{ "cut_off_list", "[a{5}", 3, 7, "" },
};

static void rows_of_patterns(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct schema_extent e = schema_pattern_extent(rows[i].pattern);
		size_t n = strlen(rows[i].refused);

		if (e.refused.n != n || (n && memcmp(e.refused.p, rows[i].refused, n) != 0))
			fail_msg("%s: refused \"%.*s\"", rows[i].name, (int)e.refused.n,
				e.refused.n ? e.refused.p : "");
		if (e.characters < rows[i].least || e.characters > rows[i].most)
			fail_msg("%s: %zu characters", rows[i].name, e.characters);
	}
}

/* Neither this nor the library that compiles it may use up the stack. */
static void depth_is_bounded(void **state KAR_UNUSED)
{
	static char pattern[10001];

	memset(pattern, '(', sizeof(pattern) - 1);
	struct schema_extent e = schema_pattern_extent(pattern);

	assert_true(e.characters == SIZE_MAX);
	assert_int_equal(e.refused.n, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_patterns),
		cmocka_unit_test(depth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
