/*
 * pieces - a reader of a stream must say the same however the bytes were cut.
 */
#ifndef TEST_FUZZ_PIECES_H
#define TEST_FUZZ_PIECES_H

#include "common/base/buf.h"
#include "common/base/err.h"

/* A kind of reader. What it hands out goes as text to the buffer that it was opened with. */
struct fuzz_reader {
	const char *name;
	void *(*open)(struct kar_buf *heard);
	int (*feed)(void *stream, const char *bytes, size_t n, struct kar_err *err);
	int (*finish)(void *stream, struct kar_err *err);
	void (*close)(void *stream);
};

/* Reads the input as a whole, byte by byte, and in pieces of a size in between; fails unless all say the same. */
void fuzz_pieces(const struct fuzz_reader *r, const uint8_t *data, size_t n) KAR_NONNULL;

#endif
