#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "common/base/utf8.h"

#define BAD "\xEF\xBF\xBD"

static const struct {
	const char *name, *text;
	size_t n;
	const char *want;
} rows[] = {
	{ "empty", "", 0, "" },
	{ "ascii", "hello, world", 12, "hello, world" },
	{ "two_bytes", "\xC2\x80\xDF\xBF", 4, "\xC2\x80\xDF\xBF" },
	{ "three_bytes", "\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", 12,
		"\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF" },
	{ "four_bytes", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8, "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF" },
	{ "nul", "a\0b", 3, "a" BAD "b" },
	{ "stray_continuation",
		"a\x80"
		"b",
		3, "a" BAD "b" },
	{ "overlong_two", "\xC1\xBF", 2, BAD BAD },
	{ "overlong_three", "\xE0\x9F\xBF", 3, BAD BAD BAD },
	{ "overlong_four", "\xF0\x8F\xBF\xBF", 4, BAD BAD BAD BAD },
	{ "surrogate", "\xED\xA0\x80", 3, BAD BAD BAD },
	{ "above_10ffff", "\xF4\x90\x80\x80", 4, BAD BAD BAD BAD },
	{ "f5_and_up", "\xF5\xFF", 2, BAD BAD },
	{ "cut_short", "ab\xF0\x9F\x98", 5, "ab" BAD BAD BAD },
	{ "broken_inside", "\xE2\x28\xA1", 3, BAD "(" BAD },
	{ "bad_third_byte", "\xE2\x82(", 3, BAD BAD "(" },
	{ "last_of_eight",
		"1234567\xFF"
		"12345678",
		16, "1234567" BAD "12345678" },
	{ "character_across_words",
		"1234567\xC3\xA9"
		"1234567",
		16,
		"1234567\xC3\xA9"
		"1234567" },
	{ "delete_is_clean", "\x7F", 1, "\x7F" },
};

static void mend(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char *exact = kar_xmalloc(rows[i].n); /* so that a sanitizer sees any over-read */

		memcpy(exact, rows[i].text, rows[i].n);
		size_t len = kar_utf8_mended_len(exact, rows[i].n);
		char *got = kar_xcalloc(len + 1, 1);

		kar_utf8_mend(got, exact, rows[i].n);
		if (len != strlen(rows[i].want) || strcmp(got, rows[i].want) != 0)
			fail_msg("%s: got %s, want %s", rows[i].name, got, rows[i].want);
		bool same = len == rows[i].n && memcmp(got, exact, len) == 0;

		if ((kar_utf8_clean(exact, rows[i].n) == rows[i].n) != same)
			fail_msg("%s: clean although mended, or mended although clean", rows[i].name);
		assert_int_equal(kar_utf8_clean(got, len), len);
		free(got);
		free(exact);
	}
}

static void step(void **state)
{
	(void)state;
	assert_int_equal(kar_utf8_step("a", 1), 1);
	assert_int_equal(kar_utf8_step("\0", 1), 1);
	assert_int_equal(kar_utf8_step("\xC3\xA9x", 3), 2);
	assert_int_equal(kar_utf8_step("\xF0\x9F\x98\x80", 4), 4);
	assert_int_equal(kar_utf8_step("\xF0\x9F\x98\x80", 3), 0);
	assert_int_equal(kar_utf8_step("", 0), 0);
}

/* Property: for every code point, its encoding is clean unless it is a surrogate or 0. */
static void every_code_point(void **state)
{
	(void)state;
	for (uint32_t c = 0; c < 0x110000; c++) {
		char s[4];
		size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };

		for (size_t i = n; i-- > 1;)
			s[i] = (char)(0x80 | ((c >> (6 * (n - 1 - i))) & 0x3F));
		s[0] = (char)(lead[n] | (c >> (6 * (n - 1))));
		bool want = c != 0 && (c < 0xD800 || c > 0xDFFF);

		if ((kar_utf8_clean(s, n) == n) != want)
			fail_msg("U+%04X", c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mend),
		cmocka_unit_test(step),
		cmocka_unit_test(every_code_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
