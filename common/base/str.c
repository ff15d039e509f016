#include "common/base/str.h"

#include <string.h>

bool kar_streq(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool kar_streq_any(const char *s, const char *const *texts, size_t n)
{
	for (size_t i = 0; s && i < n; i++) {
		if (kar_streq(texts[i], s))
			return true;
	}
	return false;
}

bool kar_has_text(const char *s)
{
	return s && s[0];
}

bool kar_strings_equal(const struct kar_array *a, const struct kar_array *b)
{
	const char *const *x = a->items, *const *y = b->items;

	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (!kar_streq(x[i], y[i]))
			return false;
	}
	return true;
}

bool kar_strings_have(const struct kar_array *strings, const char *s)
{
	return strings->n && kar_streq_any(s, strings->items, strings->n);
}

bool kar_pairs_equal(const struct kar_array *a, const struct kar_array *b)
{
	const struct kar_pair *x = a->items, *y = b->items;

	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (!kar_streq(x[i].key, y[i].key) || !kar_streq(x[i].value, y[i].value))
			return false;
	}
	return true;
}
