#include "common/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

static void free_bytes(struct kar_buf *b)
{
	if (b->secret && b->p)
		explicit_bzero(b->p, b->room);
	free(b->p);
}

static void resize(struct kar_buf *b, size_t room)
{
	char *old = b->p;

	if (!b->secret) {
		b->p = kar_xrealloc(old, room, 1);
	} else { /* realloc() would leave the old bytes behind */
		char *p = kar_xmalloc(room);

		memcpy(p, old ? old : "", old ? b->n + 1 : 1);
		free_bytes(b);
		b->p = p;
	}
	b->room = room;
}

/* Makes room for @n more bytes and the terminator, or marks the overflow. */
static bool reserve(struct kar_buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : KAR_BUF_DEFAULT_CAP;
	size_t room = b->room ? b->room : 64;

	if (b->overflow || n > cap || b->n > cap - n) {
		b->overflow = true;
		return false;
	}
	while (room < b->n + n + 1)
		room *= 2;
	if (room != b->room)
		resize(b, room);
	return true;
}

void kar_buf_append(struct kar_buf *b, const void *data, size_t n)
{
	if (!reserve(b, n))
		return;
	if (n)
		memcpy(b->p + b->n, data, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void kar_buf_puts(struct kar_buf *b, const char *s)
{
	kar_buf_append(b, s, strlen(s));
}

void kar_buf_printf(struct kar_buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0 && reserve(b, (size_t)n)) {
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
}

void kar_buf_clear(struct kar_buf *b)
{
	b->n = 0;
	b->overflow = false;
	if (b->p)
		b->p[0] = '\0';
}

void kar_buf_release(struct kar_buf *b)
{
	free_bytes(b);
	*b = (struct kar_buf){ .cap = b->cap, .secret = b->secret };
}

char *kar_buf_detach(struct kar_buf *b)
{
	char *p = b->p ? b->p : kar_xstrdup("");

	b->p = NULL;
	kar_buf_release(b);
	return p;
}

void kar_cleanup_buf(struct kar_buf *b)
{
	kar_buf_release(b);
}

const char *kar_buf_cstr(const struct kar_buf *b)
{
	return b->p ? b->p : "";
}
