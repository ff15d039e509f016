/* A temporary folder per test, with files written, aged and removed. */
#ifndef KAR_TEST_TMPDIR_H
#define KAR_TEST_TMPDIR_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/base.h"
#include "common/base/mem.h"

struct tmpdir {
	char path[64];
};

static inline void tmpdir_init(struct tmpdir *d)
{
	strcpy(d->path, "/tmp/kar-test.XXXXXX");
	if (!mkdtemp(d->path)) {
		perror("mkdtemp");
		abort();
	}
}

static inline int tmpdir_remove_one(const char *path, const struct stat *st KAR_UNUSED, int type KAR_UNUSED,
	struct FTW *ftw KAR_UNUSED)
{
	return remove(path);
}

static inline void tmpdir_release(struct tmpdir *d)
{
	enum { MAX_OPEN = 8 };

	nftw(d->path, tmpdir_remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* "$DIR/name", to be freed. */
static inline char *tmpdir_join(const struct tmpdir *d, const char *name)
{
	return kar_xasprintf("%s/%s", d->path, name);
}

/* Writes a file last changed @age seconds ago; makes the one folder of a name like "sub/file". */
static inline void tmpdir_write(const struct tmpdir *d, const char *name, const char *text, int age)
{
	char *path = tmpdir_join(d, name);
	char *slash = strrchr(path, '/');
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	FILE *f;

	*slash = '\0';
	mkdir(path, 0700);
	*slash = '/';
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
		perror(path);
		abort();
	}
	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= age;
	utimensat(AT_FDCWD, path, times, 0);
	free(path);
}

/* @text with every @from replaced by @to; to be freed. */
static inline char *replace_all(const char *text, const char *from, const char *to)
{
	size_t n_from = strlen(from), n_to = strlen(to), n = 0;
	char *out = kar_xmalloc(strlen(text) * (n_to + 1) + 1);

	while (*text) {
		if (strncmp(text, from, n_from) == 0) {
			memcpy(out + n, to, n_to);
			n += n_to;
			text += n_from;
		} else {
			out[n++] = *text++;
		}
	}
	out[n] = '\0';
	return out;
}

#endif
