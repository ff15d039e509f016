#include "test/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/intern.h"
#include "common/base/mem.h"

void fuzz_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("FAILED: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}

void fuzz_check_same(const char *what, const struct kar_buf *one, const struct kar_buf *other)
{
	FUZZ_CHECK(one->n == other->n && memcmp(kar_buf_cstr(one), kar_buf_cstr(other), one->n) == 0,
		"%s differs:\n  %s\n  %s", what, kar_buf_cstr(one), kar_buf_cstr(other));
}

void fuzz_check_error(const struct kar_err *err)
{
	FUZZ_CHECK(err->what != KAR_OK && err->msg[0], "refused without an error");
}

char *fuzz_text(const uint8_t *data, size_t n)
{
	return kar_xstrndup((const char *)data, strnlen((const char *)data, n));
}

const char *fuzz_file(const uint8_t *data, size_t n)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, n, 0) == (ssize_t)n,
		"no file in memory");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

size_t fuzz_choose(const uint8_t *data, size_t n, size_t limit)
{
	return kar_hash(1, data, n) % limit;
}

bool fuzz_turn(const uint8_t *data, size_t n, size_t i, size_t limit)
{
	return getenv("KAR_FUZZ_ALL") || fuzz_choose(data, n, limit) == i;
}

bool fuzz_mentions(const uint8_t *data, size_t n, const char *text)
{
	return memmem(data, n, text, strlen(text)) != NULL;
}
