#include "common/base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ARENA_ALIGN = 16,
	ARENA_FIRST_BLOCK = 512,      /* many cached objects own an arena each */
	ARENA_KEEP_BLOCK = 64 * 1024, /* larger blocks are not kept across a reset */
};

struct kar_arena_block {
	struct kar_arena_block *next;
	size_t used;
	size_t size; /* of data[] */
	_Alignas(ARENA_ALIGN) char data[];
};

static KAR_NORETURN void out_of_memory(size_t size)
{
	fprintf(stderr, "kar-controllers: out of memory: cannot allocate %zu bytes\n", size);
	abort();
}

static size_t multiply(size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		out_of_memory(SIZE_MAX);
	return total;
}

void *kar_xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		out_of_memory(size);
	return p;
}

void *kar_xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory(multiply(n, size));
	return p;
}

void *kar_xrealloc(void *p, size_t n, size_t size)
{
	size_t total = multiply(n, size);
	void *q = realloc(p, total ? total : 1);

	if (!q)
		out_of_memory(total);
	return q;
}

char *kar_xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = kar_xmalloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *kar_xstrdup(const char *s)
{
	return kar_xstrndup(s, strlen(s));
}

char *kar_xasprintf(const char *fmt, ...)
{
	char *out;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&out, fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory(0);
	return out;
}

void kar_wipe_free(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

void kar_cleanup_free(void *p)
{
	free(*(void **)p);
}

static struct kar_arena_block *add_block(struct kar_arena *a, size_t need)
{
	size_t size = a->head ? a->head->size * 2 : ARENA_FIRST_BLOCK;
	struct kar_arena_block *b;

	if (size > ARENA_KEEP_BLOCK)
		size = ARENA_KEEP_BLOCK;
	if (size < need)
		size = need;
	b = kar_xmalloc(sizeof(*b) + size);
	b->next = a->head;
	b->used = 0;
	b->size = size;
	a->head = b;
	return b;
}

void *kar_arena_alloc(struct kar_arena *a, size_t n, size_t size)
{
	size_t want = multiply(n, size);
	struct kar_arena_block *b = a->head;
	void *p;

	if (want > SIZE_MAX - sizeof(*b) - ARENA_ALIGN)
		out_of_memory(want);
	want = (want + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (!b || b->size - b->used < want)
		b = add_block(a, want);
	p = b->data + b->used;
	b->used += want;
	memset(p, 0, want);
	return p;
}

char *kar_arena_strndup(struct kar_arena *a, const char *s, size_t n)
{
	char *p = kar_arena_alloc(a, n + 1, 1);

	memcpy(p, s, n);
	return p;
}

char *kar_arena_printf(struct kar_arena *a, const char *fmt, ...)
{
	char small[256]; /* nearly all fit: they need not be formatted once more to be measured */
	va_list ap, again;
	char *p;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory(0);
	p = kar_arena_alloc(a, (size_t)n + 1, 1);
	if ((size_t)n < sizeof(small))
		memcpy(p, small, (size_t)n + 1);
	else
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}

void *kar_arena_grow(struct kar_arena *a, void *items, size_t n, size_t size)
{
	void *bigger;

	if (n && (n < 4 || (n & (n - 1))))
		return items;
	bigger = kar_arena_alloc(a, n ? 2 * n : 4, size);
	if (n)
		memcpy(bigger, items, n * size);
	return bigger;
}

static void free_blocks(struct kar_arena_block *b)
{
	while (b) {
		struct kar_arena_block *next = b->next;

		free(b);
		b = next;
	}
}

void kar_arena_reset(struct kar_arena *a)
{
	struct kar_arena_block *keep = a->head;

	if (!keep)
		return;
	free_blocks(keep->next);
	keep->next = NULL;
	keep->used = 0;
	if (keep->size > ARENA_KEEP_BLOCK)
		kar_arena_release(a);
}

void kar_arena_release(struct kar_arena *a)
{
	free_blocks(a->head);
	a->head = NULL;
}

void kar_arena_wipe(struct kar_arena *a)
{
	for (struct kar_arena_block *b = a->head; b; b = b->next)
		explicit_bzero(b->data, b->size);
	kar_arena_release(a);
}

size_t kar_arena_bytes(const struct kar_arena *a)
{
	size_t total = 0;

	for (const struct kar_arena_block *b = a->head; b; b = b->next)
		total += sizeof(*b) + b->size;
	return total;
}
