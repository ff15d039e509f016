/*
 * exec - one run of an exec credential plug-in (client.authentication.k8s.io/v1 and v1beta1).
 *
 * The plug-in gets an argument vector, never a shell; its own process group; /dev/null as standard input; the
 * request in $KUBERNETES_EXEC_INFO; no other descriptor of this process. It is bounded in time and in what it
 * prints on standard output (1 MiB); of its standard error only the last line is kept, for the error text; a person who waits for it
 * (.attended) sees all of it at once, as a browser may have to be opened. It is
 * killed with its whole process group when a bound is passed. What it prints on standard output is never logged
 * and never part of an error text. Descendants that outlive a plug-in that has ended are left alone, and are
 * not waited for even if they keep its pipes open.
 */
#ifndef KAR_EXEC_H
#define KAR_EXEC_H

#include "common/kube/kubeconfig.h"
#include "common/loop/loop.h"

struct kar_exec; /* one run */

/* What a plug-in answered: a token, or a certificate with its key, or both. The rest is NULL. */
struct kar_exec_result {
	const char *token;
	const char *cert_pem, *key_pem;
	kar_time expires; /* wall ms; KAR_NEVER if the plug-in does not say */
};

/*
 * Called once, from the loop. Exactly one of @result and @err is not NULL; both are borrowed for the call. The
 * run may be freed from inside. KAR_FATAL: the plug-in cannot be started or speaks another version; KAR_RETRY: it
 * failed this time.
 */
typedef void kar_exec_fn(void *arg, const struct kar_exec_result *result, const struct kar_err *err);

/*
 * Starts the plug-in of @config (borrowed for the life of the run). @cluster_json: spec.cluster, or NULL.
 * @timeout in ms, 0: 60 s, or 10 min if it is .attended. Never fails here: errors arrive in @done. The caller frees with kar_exec_free().
 */
struct kar_exec *kar_exec_start(struct kar_loop *l, const struct kar_exec_config *config,
	const char *cluster_json, kar_time timeout, kar_exec_fn *done, void *arg) KAR_MUSTUSE KAR_RETNN
	__attribute__((nonnull(1, 2, 5)));
/*
 * Accepts NULL. Kills the plug-in if it is still running; no further callback. Does not block, and so does not
 * collect a plug-in that it killed: that stays a zombie until this process ends.
 */
void kar_exec_free(struct kar_exec *x);

#endif
