/* Lists of strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/str.h"

static const char *const some[] = { "a", "bc", NULL, "d" };

static const struct {
	const char *name;
	size_t n;
	const char *s;
	bool want;
} rows[] = {
	{ "nothing_is_in_an_empty_list", 0, "a", false },
	{ "the_first", 4, "a", true },
	{ "one_in_between", 4, "bc", true },
	{ "the_last", 4, "d", true },
	{ "one_behind_the_end", 3, "d", false },
	{ "a_beginning_is_not_enough", 4, "b", false },
	{ "the_empty_string_is_one_like_others", 4, "", false },
	{ "what_is_absent_is_nowhere", 4, NULL, false },
};

static void list_has_a_string(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_array list = { .items = (void *)(uintptr_t)some, .n = rows[i].n };

		if (kar_strings_have(&list, rows[i].s) != rows[i].want)
			fail_msg("%s", rows[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_has_a_string),
	};

	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
