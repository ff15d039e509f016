#include "common/kube/credential_files.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/kube/pem.h"

enum { NS_PER_MS = 1000000 };

/* Files that are read and adopted together: a new certificate is useless with the old key. */
static const struct {
	enum kar_credfile first, last;
} members[KAR_CREDGROUPS] = {
	{ KAR_CREDFILE_TOKEN, KAR_CREDFILE_TOKEN },
	{ KAR_CREDFILE_CA, KAR_CREDFILE_CA },
	{ KAR_CREDFILE_CERT, KAR_CREDFILE_KEY },
};

void kar_credfiles_init(struct kar_credfiles *f, const struct kar_kubeconfig *config, kar_time token_period,
	kar_time tls_period, kar_time settle)
{
	*f = (struct kar_credfiles){ .settle = settle };
	f->files[KAR_CREDFILE_TOKEN].path = config->token_file;
	f->files[KAR_CREDFILE_CA].path = config->ca_file;
	f->files[KAR_CREDFILE_CERT].path = config->cert_file;
	f->files[KAR_CREDFILE_KEY].path = config->key_file;
	for (size_t g = 0; g < KAR_CREDGROUPS; g++)
		f->groups[g].period = members[g].first == KAR_CREDFILE_TOKEN ? token_period : tls_period;
}

void kar_credfiles_release(struct kar_credfiles *f)
{
	for (enum kar_credfile id = 0; id < KAR_CREDFILES; id++) {
		kar_wipe_free(f->files[id].text);
		kar_wipe_free(f->files[id].candidate);
		f->files[id].text = f->files[id].candidate = NULL;
	}
}

/* Without the white space around it: most token files end in a line break. */
static void trim(char *s)
{
	const char *blanks = " \t\r\n";
	size_t lead = strspn(s, blanks);
	size_t n = strlen(s + lead);

	memmove(s, s + lead, n + 1);
	while (n && strchr(blanks, s[n - 1]))
		s[--n] = '\0';
}

static int check_text(enum kar_credfile id, const char *text, size_t n, struct kar_err *err)
{
	if (strlen(text) != n)
		return kar_fail(err, KAR_FATAL, "holds binary data");
	if (id == KAR_CREDFILE_TOKEN)
		return kar_token_check(text, err);
	return kar_pem_check(text, id == KAR_CREDFILE_KEY ? KAR_PEM_PRIVATE_KEY : KAR_PEM_CERTIFICATE, err);
}

/* The checked content of file @id in @arena, or NULL with the error. */
static char *read_checked(struct kar_arena *arena, enum kar_credfile id, const char *path,
	struct kar_err *err)
{
	struct kar_err why = { .what = KAR_OK };
	size_t n = 0;
	char *text = kar_read_file(arena, path, KAR_CREDENTIAL_FILE_MAX, true, &n, err);

	if (!text)
		return NULL;
	if (id == KAR_CREDFILE_TOKEN && strlen(text) == n) {
		trim(text);
		n = strlen(text);
	}
	if (check_text(id, text, n, &why)) {
		kar_fail(err, KAR_FATAL, "%.250s %s", path, why.msg);
		return NULL;
	}
	return text;
}

/* What differs from the last good content becomes the candidate. */
static int read_file(struct kar_credfiles *f, enum kar_credfile id, struct kar_err *err)
{
	static const char *const names[] = {
		[KAR_CREDFILE_TOKEN] = "token",
		[KAR_CREDFILE_CA] = "certificate authority",
		[KAR_CREDFILE_CERT] = "client certificate",
		[KAR_CREDFILE_KEY] = "client key",
	};
	struct kar_arena arena = { 0 };
	assert(id < KAR_CREDFILES);

	const char *old = f->files[id].text;
	char *text = read_checked(&arena, id, f->files[id].path, err);
	int rc = text ? 0 : kar_wrap(err, "%s", names[id]);

	if (text && (!old || strcmp(old, text) != 0))
		f->files[id].candidate = kar_xstrdup(text);
	kar_arena_wipe(&arena);
	return rc;
}

/* A file written this moment may be half a file; one from far in the future only shows a wrong clock. */
static bool is_settled(const struct kar_credfiles *f, enum kar_credfile id, kar_time wall)
{
	struct stat st;
	kar_time written;

	if (!f->files[id].text || !f->files[id].candidate || stat(f->files[id].path, &st) != 0)
		return true;
	written = (kar_time)st.st_mtim.tv_sec * KAR_SECOND + st.st_mtim.tv_nsec / NS_PER_MS;
	return wall - written >= f->settle || written - wall >= f->settle;
}

static bool adopt(struct kar_credfiles *f, enum kar_credfile id)
{
	if (!f->files[id].candidate)
		return false;
	kar_wipe_free(f->files[id].text);
	f->files[id].text = f->files[id].candidate;
	f->files[id].candidate = NULL;
	return true;
}

static void drop_candidates(struct kar_credfiles *f, size_t g)
{
	for (enum kar_credfile id = members[g].first; id <= members[g].last; id++) {
		kar_wipe_free(f->files[id].candidate);
		f->files[id].candidate = NULL;
	}
}

/* All files of group @g or none are adopted. */
static bool refresh_group(struct kar_credfiles *f, size_t g, kar_time mono, kar_time wall, bool force)
{
	struct kar_err err = { .what = KAR_OK };
	bool settled = true, changed = false;
	int rc = 0;

	for (enum kar_credfile id = members[g].first; id <= members[g].last && rc == 0; id++) {
		if (!f->files[id].path)
			continue;
		rc = read_file(f, id, &err);
		settled = settled && is_settled(f, id, wall);
	}
	f->groups[g].err = err;
	f->groups[g].due = mono + (settled ? f->groups[g].period : f->settle);
	if (rc == 0 && (settled || force)) {
		for (enum kar_credfile id = members[g].first; id <= members[g].last; id++)
			changed = adopt(f, id) || changed;
	}
	drop_candidates(f, g);
	return changed;
}

bool kar_credfiles_refresh(struct kar_credfiles *f, kar_time mono, kar_time wall, bool force)
{
	bool changed = false;

	for (size_t g = 0; g < KAR_CREDGROUPS; g++) {
		if (force || mono >= f->groups[g].due)
			changed = refresh_group(f, g, mono, wall, force) || changed;
	}
	return changed;
}

const struct kar_err *kar_credfiles_error(const struct kar_credfiles *f)
{
	for (size_t g = 0; g < KAR_CREDGROUPS; g++) {
		if (f->groups[g].err.what != KAR_OK)
			return &f->groups[g].err;
	}
	return NULL;
}
