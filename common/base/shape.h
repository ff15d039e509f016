/*
 * shape - what a struct is made of, as a table: by it structs are compared, hashed and copied, with all that they point to. Pure.
 *
 * So equal ones are found, whoever has made them. One copy of each is kept by kar_share_get() (common/base/intern.h).
 */
#ifndef KAR_SHAPE_H
#define KAR_SHAPE_H

#include "common/base/base.h"

enum kar_part_type {
	KAR_PART_VALUE, /* a number, a bool or an enum */
	KAR_PART_TEXT,  /* const char *, or NULL */
	KAR_PART_LIST,  /* a pointer to structs of .of, and a number that says how many they are */
};

struct kar_shape;
struct kar_part {
	enum kar_part_type type;
	uint16_t offset, size; /* .size: of the value, or of the number */
	uint16_t n;            /* offset of the number */
	const struct kar_shape *of;
};

struct kar_shape {
	size_t size; /* of the struct */
	const struct kar_part *parts;
	size_t n_parts;
};

/* clang-format would take each for a block. */
/* clang-format off */
#define KAR_SHAPE(struct_, parts_) { .size = sizeof(struct_), .parts = (parts_), .n_parts = KAR_LEN(parts_) }
#define KAR_VALUE(struct_, member_) \
	{ .type = KAR_PART_VALUE, .offset = offsetof(struct_, member_), .size = sizeof(((struct_ *)0)->member_) }
#define KAR_TEXT(struct_, member_) { .type = KAR_PART_TEXT, .offset = offsetof(struct_, member_) }
#define KAR_LIST(struct_, member_, n_, of_) \
	{ .type = KAR_PART_LIST, .offset = offsetof(struct_, member_), .size = sizeof(((struct_ *)0)->n_), \
	  .n = offsetof(struct_, n_), .of = (of_) }
/* clang-format on */

extern const struct kar_shape kar_text_shape; /* const char *, as an element of a list */

/* 0: they are equal. Else which of them comes first; the same in each process. */
int kar_shape_compare(const struct kar_shape *shape, const void *a, const void *b) KAR_NONNULL;
/* As kar_hash(). */
uint64_t kar_shape_hash(const struct kar_shape *shape, uint64_t seed, const void *of) KAR_NONNULL;
/* Of a copy, with all that it points to. */
size_t kar_shape_bytes(const struct kar_shape *shape, const void *of) KAR_NONNULL;
/* Copies @of to @at, which is aligned as by malloc() and has as many bytes. Returns @at. */
void *kar_shape_copy(const struct kar_shape *shape, const void *of, void *at) KAR_NONNULL KAR_RETNN;

#endif
