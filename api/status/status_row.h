/*
 * status_row - the values of a row of a status table (api/status/status_fields.h), for the files that implement it.
 *
 * Pure. @f: a row with an extra; @status: a status struct of its table.
 */
#ifndef KAR_API_STATUS_ROW_H
#define KAR_API_STATUS_ROW_H

#include <assert.h>
#include <string.h>

#include "api/status/status_fields.h"
#include "common/base/str.h"

static inline const struct kar_field_extra *kar_row_extra(const struct kar_field *f)
{
	assert(f->extra);
	return f->extra;
}

static inline const void *kar_row_at(const struct kar_field *f, const void *status)
{
	return (const char *)status + kar_row_extra(f)->offset;
}

static inline bool kar_row_chosen(const struct kar_field *f, unsigned mask)
{
	return mask == KAR_SF_ALL || (kar_row_extra(f)->flags & mask);
}

/* The wire struct begins with the status struct, so the flag has one offset in both. */
static inline bool kar_row_has(const struct kar_field *f, const void *status)
{
	return !f->has || *((const bool *)status + f->has);
}

static inline int64_t kar_row_number(const struct kar_field *f, const void *status)
{
	const void *p = kar_row_at(f, status);
	int64_t wide = 0;
	int32_t narrow = 0;

	switch (f->extra->form) {
	case KAR_SF_BOOL:
		return *(const bool *)p;
	case KAR_SF_INT32:
	case KAR_SF_ENUM:
		memcpy(&narrow, p, sizeof(narrow));
		return narrow;
	default:
		memcpy(&wide, p, sizeof(wide));
		return wide;
	}
}

static inline const char *kar_row_text(const struct kar_field *f, const void *status)
{
	const char *s;

	memcpy(&s, kar_row_at(f, status), sizeof(s));
	return s ? s : "";
}

/* Also of pairs. */
static inline const struct kar_array *kar_row_strings(const struct kar_field *f, const void *status)
{
	return kar_row_at(f, status);
}

static inline const struct kar_conditions *kar_row_conditions(const struct kar_field *f, const void *status)
{
	return kar_row_at(f, status);
}

static inline size_t kar_row_count(const struct kar_field *f, const void *status)
{
	return *(const size_t *)(const void *)((const char *)status + kar_row_extra(f)->n);
}

/* Of pairs, of which those with the value "" are to go. */
static inline bool kar_row_same_pairs(const struct kar_array *a, const struct kar_array *b)
{
	const struct kar_pair *x = a->items, *y = b->items;

	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (strcmp(x[i].key, y[i].key) != 0 || strcmp(x[i].value, y[i].value) != 0)
			return false;
	}
	return true;
}

/* Number @i of an array of structs; NULL: there are fewer. */
static inline const void *kar_row_element(const struct kar_field *f, const void *status, size_t i)
{
	const char *first;

	memcpy(&first, kar_row_at(f, status), sizeof(first));
	return i < kar_row_count(f, status) ? first + i * f->extra->size : NULL;
}

static inline const char *kar_row_name(const struct kar_field *f, int64_t value)
{
	const char *const *names = f->extra->names;

	for (int64_t i = 0; names[i]; i++) {
		if (i == value)
			return names[i];
	}
	return "";
}

static inline bool kar_row_is_zero(const struct kar_field *f, const void *status)
{
	bool zero = true;

	switch (kar_row_extra(f)->form) {
	case KAR_SF_TEXT:
		return !kar_row_text(f, status)[0];
	case KAR_SF_STRINGS:
	case KAR_SF_PAIRS:
		return !kar_row_strings(f, status)->n;
	case KAR_SF_STRUCT:
		for (size_t i = 0; zero && i < f->sub->n_fields; i++)
			zero = kar_row_is_zero(&f->sub->fields[i], kar_row_at(f, status));
		return zero;
	case KAR_SF_STRUCTS:
		return !kar_row_count(f, status);
	case KAR_SF_CONDITIONS:
		return !kar_row_conditions(f, status)->n;
	default:
		return !kar_row_has(f, status) || !kar_row_number(f, status);
	}
}

static inline bool kar_row_is_absent(const struct kar_field *f, const void *status)
{
	switch (kar_row_extra(f)->form) {
	case KAR_SF_INT32:
	case KAR_SF_INT64:
	case KAR_SF_BOOL:
		return !kar_row_has(f, status) ||
			((f->extra->flags & KAR_SF_OMIT_ZERO) && !kar_row_number(f, status));
	case KAR_SF_STRUCTS:
		return (f->extra->flags & KAR_SF_OMIT_ZERO) && !kar_row_count(f, status);
	case KAR_SF_CONDITIONS:
		return false;
	default:
		return kar_row_is_zero(f, status);
	}
}

/* Not for nested structs and arrays of structs, which kar_status_equal() compares row by row. */
static inline bool kar_row_same(const struct kar_field *f, const void *a, const void *b)
{
	switch (f->extra->form) {
	case KAR_SF_TEXT:
		return strcmp(kar_row_text(f, a), kar_row_text(f, b)) == 0;
	case KAR_SF_STRINGS:
		return kar_strings_equal(kar_row_strings(f, a), kar_row_strings(f, b));
	case KAR_SF_PAIRS:
		return kar_row_same_pairs(kar_row_strings(f, a), kar_row_strings(f, b));
	case KAR_SF_CONDITIONS:
		return kar_conditions_equal(kar_row_conditions(f, a), kar_row_conditions(f, b));
	default:
		return kar_row_has(f, a) == kar_row_has(f, b) &&
			(!kar_row_has(f, a) || kar_row_number(f, a) == kar_row_number(f, b));
	}
}

#endif
