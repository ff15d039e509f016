/*
 * text - texts for people in a room of fixed size. What is too long ends in "..." and is never cut inside a character.
 *
 * The writer of JSON puts U+FFFD in the place of half a character. The text that comes back is then another than the one that
 * was written, and whoever compares the two finds a difference for ever.
 */
#ifndef KAR_TEXT_H
#define KAR_TEXT_H

#include <stdarg.h>

#include "common/base/mem.h"

/* As snprintf() into the @size bytes of @out, which the arguments must not point into. */
void kar_text_printf(char *out, size_t size, const char *fmt, ...) KAR_NONNULL KAR_PRINTF(3, 4);
void kar_text_vprintf(char *out, size_t size, const char *fmt, va_list ap) KAR_NONNULL KAR_PRINTF(3, 0);
/* @text if it takes at most @size bytes, NUL included; else what fits, in the arena. */
const char *kar_text_fit(struct kar_arena *a, const char *text, size_t size) KAR_NONNULL KAR_RETNN;

/* May the character of @n bytes at @s be shown? Controls, and what has no width or turns the direction of a text, may not. */
bool kar_text_is_printable(const char *s, size_t n) KAR_NONNULL;
/*
 * Copies @text in one line: white space becomes single spaces, what cannot be printed is left out, and a text of @size bytes or more,
 * NUL included, is cut.
 */
void kar_text_clean(char *out, size_t size, const char *text) KAR_NONNULL;
/*
 * Returns @exact and @rest, one after the other; or @recorded, if it begins with @exact and differs from that in nothing but numbers
 * behind it. For texts of others whose numbers change all the time: a status that repeats them must not be written each time.
 */
const char *kar_text_steady(struct kar_arena *a, const char *exact, const char *rest, const char *recorded)
	__attribute__((nonnull(1, 2, 3))) KAR_RETNN;

#endif
