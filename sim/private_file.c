#include "sim/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"

static bool write_all(int fd, struct kar_str text)
{
	FILE *out = fdopen(fd, "w");
	bool ok = out && fwrite(text.p, 1, text.n, out) == text.n;

	if (!out) {
		close(fd);
		return false;
	}
	return fclose(out) == 0 && ok;
}

/* A name that nobody can guess, made with O_EXCL and mode 0600: it is neither a link nor a file of somebody else. */
int sim_private_file_write(const char *path, struct kar_str text, struct kar_err *err)
{
	char *temporary = kar_xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC);
	bool ok = fd >= 0 && write_all(fd, text) && rename(temporary, path) == 0;

	if (!ok) {
		kar_fail(err, KAR_FATAL, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			unlink(temporary);
	}
	free(temporary);
	return ok ? 0 : -1;
}
