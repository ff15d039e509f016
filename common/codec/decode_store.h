/*
 * decode_store - one scalar into one member: the conversions behind common/codec/decode.c and common/codec/protobuf.c.
 *
 * Private to them. Knows field types and memory layout, not where in the document a value stands.
 */
#ifndef KAR_DECODE_STORE_H
#define KAR_DECODE_STORE_H

#include "common/codec/decode.h"

enum kar_scalar_kind { KAR_SCALAR_STRING, KAR_SCALAR_NUMBER, KAR_SCALAR_BOOL, KAR_SCALAR_NULL };

/* A JSON scalar as the parser gives it; borrowed. */
struct kar_scalar {
	enum kar_scalar_kind kind;
	const char *s; /* text of a string (decoded) or a number (verbatim) */
	size_t n;
	bool b;
};

/* "a string", "a number" ... of the value found; "an integer", "an object" ... of the one wanted. */
const char *kar_scalar_name(enum kar_scalar_kind kind);
const char *kar_store_want(enum kar_field_type type);
/* True if a value of @kind can be a member of @type. */
bool kar_store_accepts(enum kar_field_type type, enum kar_scalar_kind kind);
/* True if a member of @type is an array (or, if not @is_array, an object); not for KAR_F_RAW. */
bool kar_store_accepts_bracket(enum kar_field_type type, bool is_array);

/* A clean copy of @s in @a: valid UTF-8, no U+0000. */
const char *kar_store_text(struct kar_arena *a, const char *s, size_t n) KAR_RETNN;
/* Back to the zero value, and absent. @base is the struct that holds the member. */
void kar_store_clear(const struct kar_field *f, char *base) KAR_NONNULL;
/* Sets the member's "has" flag, if it has one. */
void kar_store_present(const struct kar_field *f, char *base) KAR_NONNULL;
/*
 * Stores @v, whose kind is accepted; @text is its copy if the member is a string. NULL, or what is wrong with
 * the value, as a static string.
 */
const char *kar_store_scalar(const struct kar_field *f, char *base, const struct kar_scalar *v,
	const char *text);
/* Of the pairs in @a with equal keys only the last stays; the order is kept. */
void kar_store_drop_duplicates(struct kar_array *a) KAR_NONNULL;

#endif
