#include "common/base/utf8.h"

#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD";
enum { REPLACEMENT_LEN = sizeof(replacement) - 1 };

/* Lengths, and the range of the second byte that rules out overlong forms, surrogates and > U+10FFFF. */
static size_t lead(unsigned char c, unsigned char *low, unsigned char *high)
{
	*low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
	*high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
	if (c < 0x80)
		return 1;
	if (c >= 0xC2 && c <= 0xDF)
		return 2;
	if (c >= 0xE0 && c <= 0xEF)
		return 3;
	return c >= 0xF0 && c <= 0xF4 ? 4 : 0;
}

size_t kar_utf8_step(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned char low, high;

	if (n == 0)
		return 0;
	size_t len = lead(p[0], &low, &high);

	if (len <= 1)
		return len;
	if (len > n || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	}
	return len;
}

/* Bytes from @s that are plain ASCII without NUL, found eight at a time. */
static size_t ascii(const char *s, size_t n)
{
	const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
	size_t i = 0;

	for (; n - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
		uint64_t w;

		memcpy(&w, s + i, sizeof(w));
		if ((w | (w - ones)) & tops)
			break;
	}
	while (i < n && (unsigned char)(s[i] - 1) < 0x7F)
		i++;
	return i;
}

size_t kar_utf8_clean(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		i += ascii(s + i, n - i);
		size_t len = kar_utf8_step(s + i, n - i);

		if (len == 0 || s[i] == '\0')
			break;
		i += len;
	}
	return i;
}

size_t kar_utf8_mended_len(const char *s, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		size_t clean = kar_utf8_clean(s + i, n - i);

		len += clean;
		i += clean;
		if (i < n)
			len += REPLACEMENT_LEN;
	}
	return len;
}

void kar_utf8_mend(char *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t clean = kar_utf8_clean(s + i, n - i);

		memcpy(out, s + i, clean);
		out += clean;
		i += clean;
		if (i < n) {
			memcpy(out, replacement, REPLACEMENT_LEN);
			out += REPLACEMENT_LEN;
		}
	}
}
