#include "common/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"

static const char ellipsis[] = "...";
enum { ELLIPSIS_LEN = sizeof(ellipsis) - 1 };

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* Where the ellipsis begins in @text, which is full: not inside of a character. */
static size_t cut(const char *text, size_t size)
{
	size_t n = size > ELLIPSIS_LEN ? size - 1 - ELLIPSIS_LEN : 0;

	while (n > 0 && continues_character(text[n]))
		n--;
	return n;
}

/* The @size bytes at @text are full, and there was more to come. */
static void end_early(char *text, size_t size)
{
	size_t n = cut(text, size);

	snprintf(text + n, size - n, "%s", ellipsis);
}

void kar_text_vprintf(char *out, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(out, size, fmt, ap);

	if (size > 0 && n >= 0 && (size_t)n >= size)
		end_early(out, size);
}

void kar_text_printf(char *out, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kar_text_vprintf(out, size, fmt, ap);
	va_end(ap);
}

const char *kar_text_fit(struct kar_arena *a, const char *text, size_t size)
{
	char *out;

	if (strlen(text) < size)
		return text;
	out = kar_arena_alloc(a, size, 1);
	kar_text_printf(out, size, "%s", text);
	return out;
}

bool kar_text_is_printable(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;

	if (n == 1)
		return p[0] >= 0x20 && p[0] != 0x7F;
	if (n == 2)
		return p[0] != 0xC2 || p[1] >= 0xA0;
	if (n == 3 && p[0] == 0xE2)
		return !(p[1] == 0x80 &&
			       ((p[2] >= 0x8B && p[2] <= 0x8F) || (p[2] >= 0xA8 && p[2] <= 0xAE))) &&
			!(p[1] == 0x81 && p[2] >= 0xA0 && p[2] <= 0xAF);
	return n != 3 || p[0] != 0xEF || p[1] != 0xBB || p[2] != 0xBF;
}

void kar_text_clean(char *out, size_t size, const char *text)
{
	size_t n = 0, left = strlen(text);
	bool space = false;

	for (size_t step; left > 0; text += step, left -= step) {
		step = kar_utf8_step(text, left);
		if (step == 1 && isspace((unsigned char)text[0])) {
			space = n > 0;
			continue;
		}
		if (step == 0 || !kar_text_is_printable(text, step)) {
			step = step ? step : 1;
			continue;
		}
		if (n + space + step >= size) {
			n = n + ELLIPSIS_LEN < size ? n : cut(out, size);
			snprintf(out + n, size - n, "%s", ellipsis);
			return;
		}
		if (space)
			out[n++] = ' ';
		space = false;
		memcpy(out + n, text, step);
		n += step;
	}
	out[n] = '\0';
}

static const char *skip_digits(const char *s)
{
	while (isdigit((unsigned char)*s))
		s++;
	return s;
}

/* Are both the same, whatever their numbers are? */
static bool same_words(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			a = skip_digits(a);
			b = skip_digits(b);
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

const char *kar_text_steady(struct kar_arena *a, const char *exact, const char *rest, const char *recorded)
{
	size_t n = strlen(exact);

	if (recorded && strncmp(recorded, exact, n) == 0 && same_words(recorded + n, rest))
		return recorded;
	return kar_arena_printf(a, "%s%s", exact, rest);
}
