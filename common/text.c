#include "common/text.h"

#include <stdio.h>
#include <string.h>

static const char ellipsis[] = "...";
enum { ELLIPSIS_LEN = sizeof(ellipsis) - 1 };

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* The @size bytes at @text are full, and there was more to come. */
static void end_early(char *text, size_t size)
{
	size_t n = size > ELLIPSIS_LEN ? size - 1 - ELLIPSIS_LEN : 0;

	while (n > 0 && continues_character(text[n]))
		n--;
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
