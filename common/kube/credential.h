/*
 * credential - the current token and certificates, kept fresh.
 *
 * Token files are re-read by path at most every 60 s (projected tokens rotate), certificate and CA files every
 * 5 min, by the first acquire after that time; an empty, half-written or missing file keeps the last good
 * content. Exec plug-ins (client.authentication.k8s.io/v1) run through posix_spawn, without a shell, with a
 * time limit and bounded output; their result is used until it expires, a new run starts shortly before that, and
 * after a failed run with back-off. A 401 makes the next acquire refresh, once per credential.
 * Tokens are never logged and never part of an error text.
 */
#ifndef KAR_CREDENTIAL_H
#define KAR_CREDENTIAL_H

#include "common/kube/kubeconfig.h"
#include "common/loop/loop.h"
#include "common/net/http.h"

struct kar_credential;

/* Times in ms; 0 means the default. */
struct kar_credential_options {
	kar_time token_period; /* between two readings of a token file: 60 s */
	kar_time tls_period;   /* of CA, certificate and key files: 5 min */
	kar_time settle;       /* a file younger than this is perhaps still being written: 2 s */
	kar_time exec_timeout; /* of one run of the plug-in: 60 s */
	kar_time exec_margin;  /* from a new run's start to the expiry: 30 s, at most a tenth of the life */
	kar_time retry_base;   /* wait after its first failure, doubled up to 60 s: 1 s */
	kar_time forced_gap;   /* least time between two refreshes forced by a 401: 30 s */
};

/* As kar_credential_new(), with other times. @o is copied. */
struct kar_credential *kar_credential_new_with(struct kar_loop *l, const struct kar_kubeconfig *config,
	const struct kar_credential_options *o, struct kar_err *err) KAR_MUSTUSE;

/* Keeps @config (borrowed, must outlive it). Reads files once now: KAR_FATAL if there is nothing usable
 * (a file that is missing, empty or damaged; a certificate or token that has expired). */
struct kar_credential *kar_credential_new(struct kar_loop *l, const struct kar_kubeconfig *config,
	struct kar_err *err) KAR_MUSTUSE;
/* Accepts NULL; kills a running plug-in. Not from inside a kar_auth_fn. */
void kar_credential_free(struct kar_credential *c);

/* What a request needs. Borrowed until the next call of any function here. */
struct kar_auth {
	struct kar_tls tls;
	const char *authorization; /* "Bearer ...", "Basic ...", or NULL */
	uint64_t generation;       /* changes when any of the above changes */
	/* Why the last refresh failed although these are still used (to be logged once per text), or "". */
	const char *problem;
};

/*
 * Calls @ready with the current credentials: at once if they are fresh (from inside this call), else
 * when the refresh has ended. @err tells why there are none (plug-in failed: with its stderr's last line).
 */
typedef void kar_auth_fn(void *arg, const struct kar_auth *auth, const struct kar_err *err);
void kar_credential_acquire(struct kar_credential *c, kar_auth_fn *ready, void *arg) KAR_NONNULL;
/* Forgets an acquire that has not been answered. */
void kar_credential_abandon(struct kar_credential *c, void *arg) KAR_NONNULL;
/* The server answered 401 to credentials of @generation: refresh before they are used again. */
void kar_credential_rejected(struct kar_credential *c, uint64_t generation) KAR_NONNULL;
/* When the current credentials expire (wall ms), KAR_NEVER if unknown. */
kar_time kar_credential_expiry(const struct kar_credential *c) KAR_NONNULL;

#endif
