#include "test/fuzz/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "test/fuzz/fuzz.h"

/* Each piece is a block of its own, so that the sanitizer sees a read beyond it. */
static int feed(const struct fuzz_reader *r, void *stream, const char *bytes, size_t n, struct kar_err *err)
{
	char *copy = kar_xmalloc(n);
	int rc;

	memcpy(copy, bytes, n);
	rc = r->feed(stream, copy, n, err);
	free(copy);
	return rc;
}

/* Where the scanner of JSON gives up depends on how far it could look ahead; why does not. */
static void put_error(const struct kar_err *err, struct kar_buf *heard)
{
	const char *offset = strstr(err->msg, "not JSON") ? strstr(err->msg, " (at byte") : NULL;
	size_t n = offset ? (size_t)(offset - err->msg) : strlen(err->msg);

	fuzz_check_error(err);
	kar_buf_puts(heard, "error: ");
	kar_buf_append(heard, err->msg, n);
}

static void read_in_pieces(const struct fuzz_reader *r, const uint8_t *data, size_t n, size_t piece,
	struct kar_buf *heard)
{
	void *stream = r->open(heard);
	struct kar_err err = { 0 };
	int rc = 0;

	for (size_t at = 0; at < n && rc == 0; at += piece)
		rc = feed(r, stream, (const char *)data + at, n - at < piece ? n - at : piece, &err);
	if (rc == 0)
		rc = r->finish(stream, &err);
	if (rc)
		put_error(&err, heard);
	r->close(stream);
}

void fuzz_pieces(const struct fuzz_reader *r, const uint8_t *data, size_t n)
{
	const size_t pieces[] = { 1, 1 + fuzz_choose(data, n, n + 1) };
	struct kar_buf whole = { .cap = SIZE_MAX };

	read_in_pieces(r, data, n, n + 1, &whole);
	for (size_t i = 0; i < KAR_LEN(pieces); i++) {
		struct kar_buf heard = { .cap = SIZE_MAX };

		read_in_pieces(r, data, n, pieces[i], &heard);
		if (whole.n != heard.n || memcmp(kar_buf_cstr(&whole), kar_buf_cstr(&heard), whole.n) != 0)
			fuzz_fail("%s, in pieces of %zu:\n  %s\n  as a whole:\n  %s", r->name, pieces[i],
				kar_buf_cstr(&heard), kar_buf_cstr(&whole));
		kar_buf_release(&heard);
	}
	kar_buf_release(&whole);
}
