/*
 * copy - deep copies of decoded values into an object's own arena.
 *
 * Decoded values vanish with the arena of the decoder, so project() functions copy the values that they need.
 */
#ifndef KAR_API_COPY_H
#define KAR_API_COPY_H

#include "common/base/intern.h"
#include "common/base/mem.h"
#include "common/codec/decode.h"

/* A copy of @s; NULL for NULL. */
const char *kar_copy(struct kar_arena *arena, const char *s) __attribute__((nonnull(1)));
/* A copy of @s; "" for NULL. */
const char *kar_copy_text(struct kar_arena *arena, const char *s) __attribute__((nonnull(1))) KAR_RETNN;
/* The bytes as a copy, NUL-terminated; an absent value stays absent (n == 0). */
struct kar_str kar_copy_raw(struct kar_arena *arena, struct kar_str s) __attribute__((nonnull(1)));
/*
 * Bounds on texts that tenants write and the API server does not bound, in bytes, NUL included. A longer text is cut and ends in
 * "...", so it never equals a valid name, UID, hash or quantity.
 */
enum {
	KAR_COPY_UID = 64,   /* of an owner, and hashes of templates: 36 and 16 characters */
	KAR_COPY_NAME = 254, /* as long as any name can be */
	KAR_COPY_KEY = 318,  /* of a label or a resource, and "ns/name" */
	KAR_COPY_VALUE = 65, /* of a label, and a quantity */
	KAR_COPY_REASON =
		513,         /* of a condition or a status: 128 characters, as in a rule of a failurePolicy */
	KAR_COPY_PAIRS = 64, /* entries of a map; more end with one whose key is "..." */
	KAR_COPY_STRINGS = 512,
};
#define KAR_COPY_CUT "..." /* the last entry of a map or list that was cut */
/* A copy of @s in at most @size bytes; NULL for NULL. */
const char *kar_copy_fit(struct kar_arena *arena, const char *s, size_t size) __attribute__((nonnull(1)));
/* Likewise as an interned string; @size is at most KAR_COPY_INTERNED. */
enum { KAR_COPY_INTERNED = 513 };
const char *kar_intern_fit(struct kar_intern *strings, const char *s, size_t size)
	__attribute__((nonnull(1)));
/* Array of const char *, each in at most KAR_COPY_REASON bytes; of more than KAR_COPY_STRINGS the last is "...". */
struct kar_array kar_copy_strings(struct kar_arena *arena, const struct kar_array *from) KAR_NONNULL;
/* Likewise names of objects: "ns/name" as it is, and "name" as "@ns/name". */
struct kar_array kar_copy_keys(struct kar_arena *arena, const char *ns, const struct kar_array *from)
	__attribute__((nonnull(1, 3)));
/* Array of struct kar_pair, sorted by key, so that equal maps are equal arrays; with the bounds above. */
struct kar_array kar_copy_pairs(struct kar_arena *arena, const struct kar_array *from) KAR_NONNULL;

#endif
