#include "common/codec/decode_store.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/timefmt.h"
#include "common/base/utf8.h"

enum { TIME_TEXT = 64 }; /* longer than any RFC 3339 time with a sane fraction */

static const struct {
	size_t size; /* of the member; 0: .sub->size, or nothing to clear */
	const char *want;
	bool string, number, boolean, object;
} types[] = {
	[KAR_F_STRING] = { sizeof(const char *), "a string", .string = true },
	[KAR_F_INT32] = { sizeof(int32_t), "an integer", .number = true },
	[KAR_F_INT64] = { sizeof(int64_t), "an integer", .number = true },
	[KAR_F_BOOL] = { sizeof(bool), "a boolean", .boolean = true },
	[KAR_F_SCALAR] = { sizeof(const char *), "a string or a number", .string = true, .number = true },
	[KAR_F_TIME] = { sizeof(kar_time), "a time", .string = true },
	[KAR_F_OBJECT] = { 0, "an object", .object = true },
	[KAR_F_OBJECT_PTR] = { sizeof(void *), "an object", .object = true },
	[KAR_F_ARRAY] = { sizeof(struct kar_array), "an array" },
	[KAR_F_MAP] = { sizeof(struct kar_array), "an object", .object = true },
	[KAR_F_RAW] = { sizeof(struct kar_str), "a value" },
	[KAR_F_SELECT] = { sizeof(void *), "an object", .object = true },
	[KAR_F_STREAM] = { 0, "an array" },
};

const char *kar_scalar_name(enum kar_scalar_kind kind)
{
	static const char *const names[] = { "a string", "a number", "a boolean", "null" };

	return names[kind];
}

const char *kar_store_want(enum kar_field_type type)
{
	return types[type].want;
}

bool kar_store_accepts(enum kar_field_type type, enum kar_scalar_kind kind)
{
	return (kind == KAR_SCALAR_STRING && types[type].string) ||
		(kind == KAR_SCALAR_NUMBER && types[type].number) ||
		(kind == KAR_SCALAR_BOOL && types[type].boolean);
}

bool kar_store_accepts_bracket(enum kar_field_type type, bool is_array)
{
	if (type == KAR_F_ARRAY || type == KAR_F_STREAM)
		return is_array;
	return !is_array && types[type].object;
}

const char *kar_store_text(struct kar_arena *a, const char *s, size_t n)
{
	if (kar_utf8_clean(s, n) == n)
		return kar_arena_strndup(a, s, n);
	char *mended = kar_arena_alloc(a, kar_utf8_mended_len(s, n) + 1, 1);

	kar_utf8_mend(mended, s, n);
	return mended;
}

void kar_store_clear(const struct kar_field *f, char *base)
{
	size_t size = f->type == KAR_F_OBJECT ? f->sub->size : types[f->type].size;

	memset(base + f->offset, 0, size);
	if (f->has)
		*(bool *)(base + f->has) = false;
}

void kar_store_present(const struct kar_field *f, char *base)
{
	if (f->has)
		*(bool *)(base + f->has) = true;
}

/* Strict: a sign and digits only, so that neither 1.0 nor 1e3 is an integer (as in Go). */
static const char *parse_integer(const struct kar_scalar *v, int64_t min, int64_t max, int64_t *out)
{
	bool negative = v->n > 0 && v->s[0] == '-';
	int64_t sum = 0;

	for (size_t i = negative; i < v->n; i++) {
		int digit = v->s[i] - '0';

		if (digit < 0 || digit > 9)
			return "want an integer, got a number with a fraction or an exponent";
		if (__builtin_mul_overflow(sum, 10, &sum) ||
			__builtin_add_overflow(sum, negative ? -digit : digit, &sum))
			return "integer out of range";
	}
	if (sum < min || sum > max)
		return "integer out of range";
	*out = sum;
	return NULL;
}

static const char *parse_time(const struct kar_scalar *v, kar_time *out)
{
	char text[TIME_TEXT];

	if (v->n >= sizeof(text) || memchr(v->s, '\0', v->n))
		return "not an RFC 3339 time";
	memcpy(text, v->s, v->n);
	text[v->n] = '\0';
	return kar_time_parse(text, out) ? "not an RFC 3339 time" : NULL;
}

const char *kar_store_scalar(const struct kar_field *f, char *base, const struct kar_scalar *v,
	const char *text)
{
	void *member = base + f->offset;
	const char *problem = NULL;
	int64_t i = 0;

	switch (f->type) {
	case KAR_F_INT32:
		problem = parse_integer(v, INT32_MIN, INT32_MAX, &i);
		*(int32_t *)member = (int32_t)i;
		return problem;
	case KAR_F_INT64:
		return parse_integer(v, INT64_MIN, INT64_MAX, member);
	case KAR_F_TIME:
		return parse_time(v, member);
	case KAR_F_BOOL:
		*(bool *)member = v->b;
		return NULL;
	default:
		*(const char **)member = text;
		return NULL;
	}
}

static int by_key_then_place(const void *a, const void *b)
{
	const struct kar_pair *x = *(const struct kar_pair *const *)a;
	const struct kar_pair *y = *(const struct kar_pair *const *)b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x > y) - (x < y);
}

static bool sorted(const struct kar_pair *pairs, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (strcmp(pairs[i - 1].key, pairs[i].key) >= 0)
			return false;
	}
	return true;
}

void kar_store_drop_duplicates(struct kar_array *a)
{
	struct kar_pair *pairs = a->items;
	size_t kept = 0;

	if (sorted(pairs, a->n))
		return; /* the API server sorts keys, so this is nearly always the end */
	struct kar_pair **order = kar_xmalloc(a->n * sizeof(*order));

	for (size_t i = 0; i < a->n; i++)
		order[i] = &pairs[i];
	qsort(order, a->n, sizeof(*order), by_key_then_place);
	for (size_t i = 1; i < a->n; i++) {
		if (strcmp(order[i - 1]->key, order[i]->key) == 0)
			order[i - 1]->value = NULL;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (pairs[i].value)
			pairs[kept++] = pairs[i];
	}
	a->n = kept;
	free(order);
}

const char *kar_pairs_get(const struct kar_array *pairs, const char *key)
{
	const struct kar_pair *p = pairs->items;

	for (size_t i = 0; i < pairs->n; i++) {
		if (strcmp(p[i].key, key) == 0)
			return p[i].value;
	}
	return NULL;
}
