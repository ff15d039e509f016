#include "api/keep.h"

#include <stdlib.h>
#include <string.h>

const char *kar_keep(struct kar_arena *arena, const char *s)
{
	return s ? kar_arena_strndup(arena, s, strlen(s)) : NULL;
}

const char *kar_keep_text(struct kar_arena *arena, const char *s)
{
	return s ? kar_arena_strndup(arena, s, strlen(s)) : "";
}

struct kar_str kar_keep_raw(struct kar_arena *arena, struct kar_str s)
{
	if (!s.n)
		return (struct kar_str){ 0 };
	return (struct kar_str){ .p = kar_arena_strndup(arena, s.p, s.n), .n = s.n };
}

struct kar_array kar_keep_strings(struct kar_arena *arena, const struct kar_array *from)
{
	const char *const *in = from->items;
	const char **out = from->n ? kar_arena_alloc(arena, from->n, sizeof(*out)) : NULL;

	for (size_t i = 0; i < from->n; i++)
		out[i] = kar_keep_text(arena, in[i]);
	return (struct kar_array){ .items = out, .n = from->n };
}

static int compare_keys(const void *a, const void *b)
{
	const struct kar_pair *x = a, *y = b;

	return strcmp(x->key, y->key);
}

struct kar_array kar_keep_pairs(struct kar_arena *arena, const struct kar_array *from)
{
	const struct kar_pair *in = from->items;
	struct kar_pair *out = from->n ? kar_arena_alloc(arena, from->n, sizeof(*out)) : NULL;

	for (size_t i = 0; i < from->n; i++)
		out[i] = (struct kar_pair){ kar_keep_text(arena, in[i].key),
			kar_keep_text(arena, in[i].value) };
	if (from->n)
		qsort(out, from->n, sizeof(*out), compare_keys);
	return (struct kar_array){ .items = out, .n = from->n };
}

bool kar_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool kar_same_any(const char *s, const char *const *texts, size_t n)
{
	for (size_t i = 0; s && i < n; i++) {
		if (kar_same(texts[i], s))
			return true;
	}
	return false;
}

bool kar_has_text(const char *s)
{
	return s && s[0];
}

bool kar_same_strings(const struct kar_array *a, const struct kar_array *b)
{
	const char *const *x = a->items, *const *y = b->items;

	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (!kar_same(x[i], y[i]))
			return false;
	}
	return true;
}

bool kar_strings_have(const struct kar_array *strings, const char *s)
{
	return strings->n && kar_same_any(s, strings->items, strings->n);
}

bool kar_same_pairs(const struct kar_array *a, const struct kar_array *b)
{
	const struct kar_pair *x = a->items, *y = b->items;

	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (!kar_same(x[i].key, y[i].key) || !kar_same(x[i].value, y[i].value))
			return false;
	}
	return true;
}
