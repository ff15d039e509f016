/*
 * buf - a growing run of bytes with a hard cap.
 *
 * Invariant: p[n] == '\0' whenever p is not NULL, so p is always a C string too. The first append that
 * would pass the cap sets `overflow` and appends nothing; later appends are no-ops. Callers test
 * `overflow` once, at the end. The owner frees with kar_buf_release().
 */
#ifndef KAR_BUF_H
#define KAR_BUF_H

#include "common/base/base.h"

#define KAR_BUF_DEFAULT_CAP ((size_t)4 << 20) /* above the API server's 3 MiB limit on a request body */

struct kar_buf {
	char *p;
	size_t n;
	size_t room;
	size_t cap; /* most bytes it may hold; 0 means KAR_BUF_DEFAULT_CAP */
	bool overflow;
	bool secret; /* what it held is overwritten when it grows and when it is released */
};

void kar_buf_append(struct kar_buf *b, const void *data, size_t n);
void kar_buf_puts(struct kar_buf *b, const char *s) KAR_NONNULL;
void kar_buf_printf(struct kar_buf *b, const char *fmt, ...) KAR_PRINTF(2, 3);
/* Empties it; keeps the memory. */
void kar_buf_clear(struct kar_buf *b) KAR_NONNULL;
/* Frees the memory; cap and .secret stay; @b may be used again. */
void kar_buf_release(struct kar_buf *b) KAR_NONNULL;
/* Gives the bytes to the caller, who frees them; @b is empty afterwards. Never NULL. */
char *kar_buf_detach(struct kar_buf *b) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* For KAR_CLEANUP. */
void kar_cleanup_buf(struct kar_buf *b) KAR_NONNULL;
/* The bytes as a C string; "" when empty. Valid until the next change. */
const char *kar_buf_cstr(const struct kar_buf *b) KAR_RETNN KAR_NONNULL;

#endif
