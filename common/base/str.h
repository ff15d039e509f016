/*
 * str - questions about texts, and about arrays of them: equal, one of, present. Pure.
 *
 * A text may be NULL, which stands for an absent value. Arrays are those of common/codec/decode.h; nothing is copied or kept.
 */
#ifndef KAR_STR_H
#define KAR_STR_H

#include "common/codec/decode.h"

/* strcmp() == 0, where NULL equals only NULL. */
bool kar_streq(const char *a, const char *b);
/* Is @s (NULL never is) one of @n texts? */
bool kar_streq_any(const char *s, const char *const *texts, size_t n) __attribute__((nonnull(2)));
/* Neither absent (NULL) nor empty? */
bool kar_has_text(const char *s);
bool kar_strings_equal(const struct kar_array *a, const struct kar_array *b) KAR_NONNULL;
/* Is @s (NULL never is) among @strings, an array of const char *? */
bool kar_strings_have(const struct kar_array *strings, const char *s) __attribute__((nonnull(1)));
bool kar_pairs_equal(const struct kar_array *a, const struct kar_array *b) KAR_NONNULL;

#endif
