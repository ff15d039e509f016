#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/text.h"
#include "common/base/utf8.h"

#define E_ACUTE "\xC3\xA9"
#define EURO "\xE2\x82\xAC"
#define FACE "\xF0\x9F\x98\x80"

static const struct {
	const char *name;
	size_t size; /* of the room, NUL included */
	char text[24];
	const char *want;
} rows[] = {
	{ "empty", 4, "", "" },
	{ "fits", 8, "abc", "abc" },
	{ "fits_exactly", 4, "abc", "abc" },
	{ "fits_exactly_with_a_character_at_the_end", 4, "a" E_ACUTE, "a" E_ACUTE },
	{ "one_too_many", 8, "abcdefgh", "abcd..." },
	{ "cut_between_two_characters", 10, E_ACUTE EURO "abcdefgh", E_ACUTE EURO "a..." },
	{ "cut_in_a_character_of_two", 8, "abc" E_ACUTE "defgh", "abc..." },
	{ "cut_after_the_first_of_three", 8, "abc" EURO "defgh", "abc..." },
	{ "cut_after_the_second_of_three", 8, "ab" EURO "defgh", "ab..." },
	{ "cut_after_the_third_of_three", 8, "a" EURO "defgh", "a" EURO "..." },
	{ "cut_after_the_third_of_four", 8, "a" FACE "defgh", "a..." },
	{ "text_of_one_kind_of_characters", 8, EURO EURO EURO, EURO "..." },
	{ "cut_again_has_one_ellipsis", 8, "abcdef...", "abcd..." },
	{ "room_for_the_ellipsis_alone", 4, "abcdef", "..." },
	{ "no_room_for_the_ellipsis", 3, "abcdef", ".." },
	{ "no_room_at_all", 1, "abcdef", "" },
	{ "no_text_but_what_follows_of_one", 8, "\x80\x80\x80\x80\x80\x80\x80\x80\x80", "..." },
};

static void printf_and_fit(void **state)
{
	struct kar_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char *exact = kar_arena_alloc(&arena, rows[i].size, 1);
		const char *fit = kar_text_fit(&arena, rows[i].text, rows[i].size);

		kar_text_printf(exact, rows[i].size, "%s", rows[i].text);
		if (strcmp(exact, rows[i].want) != 0 || strcmp(fit, rows[i].want) != 0)
			fail_msg("%s: got %s and %s, want %s", rows[i].name, exact, fit, rows[i].want);
		if ((fit == rows[i].text) != (strlen(rows[i].text) < rows[i].size))
			fail_msg("%s: copied although it fits, or the reverse", rows[i].name);
	}
	kar_arena_release(&arena);
}

static void nothing_is_written_where_there_is_no_room(void **state)
{
	char byte = 'x';

	(void)state;
	kar_text_printf(&byte, 0, "%s", "abc");
	assert_int_equal(byte, 'x');
}

/* Property: in any room, text stays text, and what is cut is as long as whole characters allow. */
static void any_room(void **state)
{
	static const char text[] = "a" E_ACUTE "b" EURO FACE FACE "cde" EURO E_ACUTE "f" FACE "g" EURO;
	char out[sizeof(text)];

	(void)state;
	for (size_t size = 5; size <= sizeof(text); size++) {
		size_t n;

		kar_text_printf(out, size, "%s", text);
		n = strlen(out);
		assert_int_equal(kar_utf8_clean(out, n), n);
		assert_in_range(n, size == sizeof(text) ? size - 1 : size - 4, size - 1);
		if (size < sizeof(text))
			assert_string_equal(out + n - 3, "...");
	}
}

static void clean_is_one_printable_line(void **state)
{
	static const struct {
		size_t size;
		const char *text, *want;
	} samples[] = {
		{ 32, "", "" },
		{ 32, " \n\t ", "" },
		{ 32, "  CUDA\r\n\tout of  memory\n", "CUDA out of memory" },
		{ 32, "\x1b[31mred\x7f", "[31mred" },
		{ 32,
			"a\xC2\x85"
			"b\xE2\x80\xAE"
			"c\xEF\xBB\xBF"
			"d\xC3"
			"e" E_ACUTE EURO FACE,
			"abcde" E_ACUTE EURO FACE },
		{ 8, "abcdefg", "abcdefg" },
		{ 8, "abcdefgh", "abcd..." },
		{ 8, "abcdef  \n", "abcdef" },
		{ 8, "abc" E_ACUTE "defgh", "abc..." },
		{ 3, "abcdef", ".." },
		{ 1, "abcdef", "" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(samples); i++) {
		char out[32];

		memset(out, 'x', sizeof(out));
		kar_text_clean(out, samples[i].size, samples[i].text);
		assert_string_equal(out, samples[i].want);
		for (size_t k = samples[i].size; k < sizeof(out); k++)
			assert_int_equal(out[k], 'x');
	}
}

static void numbers_alone_change_no_steady_text(void **state)
{
	static const char known[] = "1 of 2: 0/4 nodes: 4 cpu";
	struct kar_arena a = { 0 };

	(void)state;
	assert_ptr_equal(kar_text_steady(&a, "1 of 2: ", "0/12 nodes: 12 cpu", known), known);
	assert_string_equal(kar_text_steady(&a, "2 of 2: ", "0/4 nodes: 4 cpu", known),
		"2 of 2: 0/4 nodes: 4 cpu");
	assert_string_equal(kar_text_steady(&a, "1 of 2: ", "0/4 nodes: 4 memory", known),
		"1 of 2: 0/4 nodes: 4 memory");
	assert_string_equal(kar_text_steady(&a, "1 of 2: ", "0/4 nodes", known), "1 of 2: 0/4 nodes");
	assert_string_equal(kar_text_steady(&a, "1 of 2: ", "x", NULL), "1 of 2: x");
	kar_arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printf_and_fit),
		cmocka_unit_test(nothing_is_written_where_there_is_no_room),
		cmocka_unit_test(any_room),
		cmocka_unit_test(clean_is_one_printable_line),
		cmocka_unit_test(numbers_alone_change_no_steady_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
