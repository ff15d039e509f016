/*
 * credential_files - the last good content of the token, CA, certificate and key files.
 *
 * Files are opened by path each time (the kubelet swaps a symbolic link above them). A reading that fails, or
 * finds a file that is empty, damaged or was written a moment ago, changes nothing: what was read before stays. A
 * certificate and its key are adopted together. Private to credential.c. Reads no clock.
 */
#ifndef KAR_CREDENTIAL_FILES_H
#define KAR_CREDENTIAL_FILES_H

#include "common/kube/kubeconfig.h"

enum kar_credfile { KAR_CREDFILE_TOKEN, KAR_CREDFILE_CA, KAR_CREDFILE_CERT, KAR_CREDFILE_KEY, KAR_CREDFILES };
enum { KAR_CREDGROUPS = 3 };

struct kar_credfiles {
	struct {
		const char *path; /* NULL: not from a file; borrowed from the configuration */
		char *text;       /* last good content */
		char *candidate;  /* just read, and different */
	} files[KAR_CREDFILES];
	struct {
		kar_time period;
		kar_time due;       /* mono: when to read again */
		struct kar_err err; /* of the last reading; KAR_OK if it went well */
	} groups[KAR_CREDGROUPS];
	kar_time settle; /* ms: a file younger than this is perhaps still being written */
};

/* The files that @config (borrowed) names. Times in ms. */
void kar_credfiles_init(struct kar_credfiles *f, const struct kar_kubeconfig *config, kar_time token_period,
	kar_time tls_period, kar_time settle) KAR_NONNULL;
void kar_credfiles_release(struct kar_credfiles *f) KAR_NONNULL;
/*
 * Reads the files whose time has come by @mono, all with @force (the server refused what they held). True if a
 * content changed. Failures are kept in the groups.
 */
bool kar_credfiles_refresh(struct kar_credfiles *f, kar_time mono, kar_time wall, bool force) KAR_NONNULL;
/* The first group's failed last reading, or NULL. */
const struct kar_err *kar_credfiles_error(const struct kar_credfiles *f) KAR_NONNULL;

#endif
