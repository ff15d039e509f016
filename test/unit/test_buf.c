#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/mem.h"

static void appends(void **state)
{
	struct kar_buf b = { 0 };

	(void)state;
	assert_string_equal(kar_buf_cstr(&b), "");
	kar_buf_append(&b, NULL, 0);
	assert_string_equal(kar_buf_cstr(&b), "");
	kar_buf_puts(&b, "ab");
	kar_buf_append(&b, "c\0d", 3);
	kar_buf_printf(&b, "%d%s", 12, "x");
	assert_int_equal(b.n, 8);
	assert_memory_equal(b.p, "abc\0d12x", 9); /* the terminator included */
	kar_buf_clear(&b);
	assert_int_equal(b.n, 0);
	assert_string_equal(kar_buf_cstr(&b), "");
	kar_buf_release(&b);
	kar_buf_release(&b);
}

static void stays_terminated_while_growing(void **state)
{
	struct kar_buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		kar_buf_puts(&b, "x");
		assert_int_equal(b.n, i + 1);
		assert_int_equal(strlen(b.p), i + 1);
		assert_true(b.room > b.n);
	}
	kar_buf_release(&b);
}

static void cap(void **state)
{
	static const struct {
		const char *name, *first, *second, *third, *want;
		bool overflow;
	} rows[] = {
		{ "exactly_full_then_fine", "abcd", "efgh", "", "abcdefgh", false },
		{ "one_too_many_then_nothing_of_it", "abcd", "efghi", "", "abcd", true },
		{ "later_appends_are_dropped_too", "abcd", "efghi", "j", "abcd", true },
		{ "too_long_at_once", "abcdefghi", "", "", "", true },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf b = { .cap = 8 };

		kar_buf_puts(&b, rows[i].first);
		kar_buf_puts(&b, rows[i].second);
		kar_buf_printf(&b, "%s", rows[i].third);
		if (strcmp(kar_buf_cstr(&b), rows[i].want) != 0 || b.overflow != rows[i].overflow)
			fail_msg("%s: \"%s\", overflow %d", rows[i].name, kar_buf_cstr(&b), b.overflow);
		kar_buf_release(&b);
		assert_int_equal(b.cap, 8);
		assert_false(b.overflow);
	}
}

static void clear_forgets_an_overflow(void **state)
{
	struct kar_buf b = { .cap = 2 };

	(void)state;
	kar_buf_puts(&b, "abc");
	assert_true(b.overflow);
	kar_buf_clear(&b);
	kar_buf_puts(&b, "ab");
	assert_false(b.overflow);
	assert_string_equal(kar_buf_cstr(&b), "ab");
	kar_buf_release(&b);
}

static void default_cap(void **state)
{
	struct kar_buf b = { 0 };
	char *big = kar_xcalloc(KAR_BUF_DEFAULT_CAP, 1);

	(void)state;
	kar_buf_append(&b, big, KAR_BUF_DEFAULT_CAP);
	assert_false(b.overflow);
	kar_buf_puts(&b, "x");
	assert_true(b.overflow);
	kar_buf_release(&b);
	free(big);
}

static void detach_gives_the_bytes_away(void **state)
{
	struct kar_buf b = { 0 };
	char *p = kar_buf_detach(&b);

	(void)state;
	assert_string_equal(p, "");
	free(p);
	kar_buf_puts(&b, "abc");
	p = kar_buf_detach(&b);
	assert_string_equal(p, "abc");
	assert_int_equal(b.n, 0);
	assert_string_equal(kar_buf_cstr(&b), "");
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appends),
		cmocka_unit_test(stays_terminated_while_growing),
		cmocka_unit_test(cap),
		cmocka_unit_test(clear_forgets_an_overflow),
		cmocka_unit_test(default_cap),
		cmocka_unit_test(detach_gives_the_bytes_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
