#include "common/base/shape.h"

#include <string.h>

#include "common/base/intern.h"

static const struct kar_part text_parts[] = { { .type = KAR_PART_TEXT } };
const struct kar_shape kar_text_shape = { sizeof(const char *), text_parts, KAR_LEN(text_parts) };

/* --- parts ------------------------------------------------------------------------------------------- */

static const char *pointer_at(const struct kar_part *p, const void *of)
{
	const char *pointer;

	memcpy(&pointer, (const char *)of + p->offset, sizeof(pointer));
	return pointer;
}

static size_t count_of(const struct kar_part *p, const void *of)
{
	uint32_t small;
	size_t n;

	if (p->size == sizeof(small)) {
		memcpy(&small, (const char *)of + p->n, sizeof(small));
		return small;
	}
	memcpy(&n, (const char *)of + p->n, sizeof(n));
	return n;
}

/* --- equal or not ------------------------------------------------------------------------------------ */

static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_lists(const struct kar_part *p, const void *a, const void *b)
{
	const char *x = pointer_at(p, a), *y = pointer_at(p, b);
	size_t n = count_of(p, a), m = count_of(p, b);
	int d = (n > m) - (n < m);

	for (size_t i = 0; !d && i < n; i++)
		d = kar_shape_compare(p->of, x + i * p->of->size, y + i * p->of->size);
	return d;
}

int kar_shape_compare(const struct kar_shape *shape, const void *a, const void *b)
{
	int d = 0;

	for (size_t i = 0; a != b && !d && i < shape->n_parts; i++) {
		const struct kar_part *p = &shape->parts[i];

		if (p->type == KAR_PART_VALUE)
			d = memcmp((const char *)a + p->offset, (const char *)b + p->offset, p->size);
		else if (p->type == KAR_PART_TEXT)
			d = compare_texts(pointer_at(p, a), pointer_at(p, b));
		else
			d = compare_lists(p, a, b);
	}
	return d;
}

uint64_t kar_shape_hash(const struct kar_shape *shape, uint64_t seed, const void *of)
{
	for (size_t i = 0; i < shape->n_parts; i++) {
		const struct kar_part *p = &shape->parts[i];
		const char *at = p->type == KAR_PART_VALUE ? (const char *)of + p->offset : pointer_at(p, of);
		size_t n = p->type == KAR_PART_LIST ? count_of(p, of) : at != NULL;

		if (p->type == KAR_PART_VALUE)
			seed = kar_hash(seed, at, p->size);
		else
			seed = kar_hash(seed, &n, sizeof(n));
		if (p->type == KAR_PART_TEXT && at)
			seed = kar_hash(seed, at, strlen(at) + 1);
		for (size_t k = 0; p->type == KAR_PART_LIST && k < n; k++)
			seed = kar_shape_hash(p->of, seed, at + k * p->of->size);
	}
	return seed;
}

/* --- a copy ------------------------------------------------------------------------------------------ */

struct copying {
	char *to; /* NULL: only measured */
	size_t n;
};

static char *put(struct copying *c, const void *from, size_t n, size_t align)
{
	size_t at = (c->n + align - 1) / align * align;

	c->n = at + n;
	return c->to && n ? memcpy(c->to + at, from, n) : NULL;
}

/* What @from points to; @to is a copy of it alone. */
static void put_parts(struct copying *c, const struct kar_shape *shape, const void *from, char *to)
{
	for (size_t i = 0; i < shape->n_parts; i++) {
		const struct kar_part *p = &shape->parts[i];
		const char *of = p->type == KAR_PART_VALUE ? NULL : pointer_at(p, from);
		size_t n = p->type == KAR_PART_LIST ? count_of(p, from) : 0;
		char *copy = NULL;

		if (p->type == KAR_PART_TEXT && of)
			copy = put(c, of, strlen(of) + 1, 1);
		else if (n)
			copy = put(c, of, n * p->of->size, sizeof(void *));
		for (size_t k = 0; k < n; k++)
			put_parts(c, p->of, of + k * p->of->size, copy ? copy + k * p->of->size : NULL);
		if (to && p->type != KAR_PART_VALUE)
			memcpy(to + p->offset, &copy, sizeof(copy));
	}
}

size_t kar_shape_bytes(const struct kar_shape *shape, const void *of)
{
	struct copying c = { .n = shape->size };

	put_parts(&c, shape, of, NULL);
	return c.n;
}

void *kar_shape_copy(const struct kar_shape *shape, const void *of, void *at)
{
	struct copying c = { .to = at };

	put_parts(&c, shape, of, put(&c, of, shape->size, 1));
	return at;
}
