/*
 * keep - deep copies of decoded values into an object's own arena, and their comparison.
 *
 * What a decoder hands out vanishes with its arena; project() functions keep what they need with these.
 */
#ifndef KAR_API_KEEP_H
#define KAR_API_KEEP_H

#include "common/decode.h"
#include "common/mem.h"

/* A copy of @s; NULL for NULL. */
const char *kar_keep(struct kar_arena *arena, const char *s) __attribute__((nonnull(1)));
/* A copy of @s; "" for NULL. */
const char *kar_keep_text(struct kar_arena *arena, const char *s) __attribute__((nonnull(1))) KAR_RETNN;
/* The bytes as a copy, NUL-terminated; an absent value stays absent (n == 0). */
struct kar_str kar_keep_raw(struct kar_arena *arena, struct kar_str s) __attribute__((nonnull(1)));
/* Array of const char *. */
struct kar_array kar_keep_strings(struct kar_arena *arena, const struct kar_array *from) KAR_NONNULL;
/* Array of struct kar_pair, sorted by key, so that equal maps are equal arrays. */
struct kar_array kar_keep_pairs(struct kar_arena *arena, const struct kar_array *from) KAR_NONNULL;

/* strcmp() == 0, where NULL equals only NULL. */
bool kar_same(const char *a, const char *b);
/* Is @s (NULL never is) one of @n texts? */
bool kar_same_any(const char *s, const char *const *texts, size_t n) __attribute__((nonnull(2)));
/* Neither absent (NULL) nor empty? */
bool kar_has_text(const char *s);
bool kar_same_strings(const struct kar_array *a, const struct kar_array *b) KAR_NONNULL;
/* Is @s (NULL never is) among @strings, an array of const char *? */
bool kar_strings_have(const struct kar_array *strings, const char *s) __attribute__((nonnull(1)));
bool kar_same_pairs(const struct kar_array *a, const struct kar_array *b) KAR_NONNULL;

#endif
