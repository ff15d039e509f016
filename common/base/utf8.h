/*
 * utf8 - strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
 *
 * A string is "clean" when it is valid UTF-8 without U+0000, i.e. valid text and a C string. Mending
 * replaces every byte that is not by U+FFFD (three bytes), one for one as Go does.
 */
#ifndef KAR_UTF8_H
#define KAR_UTF8_H

#include "common/base/base.h"

/* Length (1 to 4) of the valid character at the start of the @n bytes at @s; 0 if there is none. */
size_t kar_utf8_step(const char *s, size_t n);
/* How many of the @n bytes at @s come before the first one that is not clean; @n if all are. */
size_t kar_utf8_clean(const char *s, size_t n);
/* Bytes that the mended copy of @s takes, without a terminator. At most 3 * @n. */
size_t kar_utf8_mended_len(const char *s, size_t n);
/* Writes kar_utf8_mended_len() bytes to @out, without a terminator. */
void kar_utf8_mend(char *out, const char *s, size_t n);

#endif
