/*
 * wire_text - a wire struct as text, by its table: only what is not zero, so that two structs are equal when their texts
 * are. Header only: each test program is one file.
 */
#ifndef TEST_UNIT_WIRE_TEXT_H
#define TEST_UNIT_WIRE_TEXT_H

#include <stdio.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/codec/decode.h"

/* The members that have been printed, by table. */
enum { WIRE_SEEN = 256 };
struct wire_seen {
	const struct kar_field *fields[WIRE_SEEN];
	size_t n;
};

static inline bool wire_was_seen(const struct wire_seen *seen, const struct kar_field *f)
{
	for (size_t i = 0; i < seen->n; i++) {
		if (seen->fields[i] == f)
			return true;
	}
	return false;
}

static inline void wire_note(struct wire_seen *seen, const struct kar_field *f)
{
	if (wire_was_seen(seen, f))
		return;
	if (seen->n == WIRE_SEEN)
		abort();
	seen->fields[seen->n++] = f;
}

static inline void wire_print(struct kar_buf *out, const struct kar_desc *desc, const void *base,
	struct wire_seen *seen);

static inline void wire_print_array(struct kar_buf *out, const struct kar_field *f, const struct kar_array *a,
	struct wire_seen *seen)
{
	const struct kar_pair *pairs = a->items;

	for (size_t i = 0; i < a->n; i++) {
		if (f->type == KAR_F_MAP)
			kar_buf_printf(out, "%s=%s ", pairs[i].key, pairs[i].value);
		else if (!f->sub)
			kar_buf_printf(out, "%s ", ((const char *const *)a->items)[i]);
		else
			wire_print(out, f->sub, (const char *)a->items + i * f->sub->size, seen);
	}
}

/* The value alone, nothing if it is zero. */
static inline void wire_print_value(struct kar_buf *out, const struct kar_field *f, const void *base,
	struct wire_seen *seen)
{
	const void *member = (const char *)base + f->offset;
	int64_t number = 0;

	switch (f->type) {
	case KAR_F_STRING:
		if (*(const char *const *)member)
			kar_buf_printf(out, "'%s' ", *(const char *const *)member);
		break;
	case KAR_F_INT32:
		number = *(const int32_t *)member;
		break;
	case KAR_F_INT64:
	case KAR_F_TIME:
		number = *(const int64_t *)member;
		break;
	case KAR_F_BOOL:
		number = *(const bool *)member;
		break;
	case KAR_F_OBJECT:
		wire_print(out, f->sub, member, seen);
		break;
	case KAR_F_OBJECT_PTR:
		if (*(const void *const *)member)
			wire_print(out, f->sub, *(const void *const *)member, seen);
		break;
	case KAR_F_ARRAY:
	case KAR_F_MAP:
		wire_print_array(out, f, member, seen);
		break;
	default:
		break;
	}
	if (number)
		kar_buf_printf(out, "%jd ", (intmax_t)number);
}

static inline void wire_print(struct kar_buf *out, const struct kar_desc *desc, const void *base,
	struct wire_seen *seen)
{
	kar_buf_printf(out, "%s{ ", desc->what);
	for (size_t i = 0; i < desc->n_fields; i++) {
		const struct kar_field *f = &desc->fields[i];
		struct kar_buf value = { 0 };

		wire_print_value(&value, f, base, seen);
		if (value.n) {
			wire_note(seen, f);
			kar_buf_printf(out, "%s: %s", f->name, value.p);
		}
		kar_buf_release(&value);
	}
	kar_buf_puts(out, "} ");
}

/* Appends the names of the members in @desc and below it that have a protobuf number, but have never been printed. */
static inline void wire_missing(struct kar_buf *out, const struct kar_desc *desc,
	const struct wire_seen *seen)
{
	for (size_t i = 0; i < desc->n_fields; i++) {
		const struct kar_field *f = &desc->fields[i];

		if (f->pb && f->type != KAR_F_STREAM && f->type != KAR_F_SELECT && !wire_was_seen(seen, f))
			kar_buf_printf(out, "%s.%s ", desc->what, f->name);
		if (f->sub && f->type != KAR_F_MAP) /* whose .sub is the form of an entry */
			wire_missing(out, f->sub, seen);
	}
}

#endif
