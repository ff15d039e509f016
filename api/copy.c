#include "api/copy.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"

static const char cut[] = KAR_COPY_CUT;

const char *kar_copy(struct kar_arena *arena, const char *s)
{
	return s ? kar_arena_strndup(arena, s, strlen(s)) : NULL;
}

const char *kar_copy_text(struct kar_arena *arena, const char *s)
{
	return s ? kar_arena_strndup(arena, s, strlen(s)) : "";
}

struct kar_str kar_copy_raw(struct kar_arena *arena, struct kar_str s)
{
	if (!s.n)
		return (struct kar_str){ 0 };
	return (struct kar_str){ .p = kar_arena_strndup(arena, s.p, s.n), .n = s.n };
}

const char *kar_copy_fit(struct kar_arena *arena, const char *s, size_t size)
{
	return s && strlen(s) >= size ? kar_text_fit(arena, s, size) : kar_copy(arena, s);
}

const char *kar_intern_fit(struct kar_intern *strings, const char *s, size_t size)
{
	char kept[KAR_COPY_INTERNED];

	if (!s || strlen(s) < size)
		return kar_intern_get(strings, s);
	kar_text_printf(kept, size < sizeof(kept) ? size : sizeof(kept), "%s", s);
	return kar_intern_get(strings, kept);
}

struct kar_array kar_copy_strings(struct kar_arena *arena, const struct kar_array *from)
{
	const char *const *in = from->items;
	size_t n = from->n < KAR_COPY_STRINGS ? from->n : KAR_COPY_STRINGS;
	const char **out = n ? kar_arena_alloc(arena, n + 1, sizeof(*out)) : NULL;

	for (size_t i = 0; i < n; i++)
		out[i] = in[i] ? kar_copy_fit(arena, in[i], KAR_COPY_REASON) : "";
	if (n < from->n)
		out[n++] = cut;
	return (struct kar_array){ .items = out, .n = n };
}

struct kar_array kar_copy_keys(struct kar_arena *arena, const char *ns, const struct kar_array *from)
{
	struct kar_array all = kar_copy_strings(arena, from);
	const char **names = (const char **)(uintptr_t)all.items;

	for (size_t i = 0; i < all.n; i++) {
		if (!strchr(names[i], '/'))
			names[i] = kar_arena_printf(arena, "%s/%s", ns ? ns : "", names[i]);
	}
	return all;
}

static int compare_keys(const void *a, const void *b)
{
	const struct kar_pair *x = a, *y = b;

	return strcmp(x->key, y->key);
}

struct kar_array kar_copy_pairs(struct kar_arena *arena, const struct kar_array *from)
{
	const struct kar_pair *in = from->items;
	size_t n = from->n < KAR_COPY_PAIRS ? from->n : KAR_COPY_PAIRS;
	struct kar_pair *out = n ? kar_arena_alloc(arena, n + 1, sizeof(*out)) : NULL;

	for (size_t i = 0; i < n; i++)
		out[i] = (struct kar_pair){
			in[i].key ? kar_copy_fit(arena, in[i].key, KAR_COPY_KEY) : "",
			in[i].value ? kar_copy_fit(arena, in[i].value, KAR_COPY_VALUE) : "",
		};
	if (n < from->n)
		out[n++] = (struct kar_pair){ cut, "" };
	if (n)
		qsort(out, n, sizeof(*out), compare_keys);
	return (struct kar_array){ .items = out, .n = n };
}
