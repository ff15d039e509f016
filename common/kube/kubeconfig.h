/*
 * kubeconfig - which cluster, and as whom: kubeconfig files and the in-cluster environment.
 *
 * The rules of client-go's clientcmd: --kubeconfig names one file that must exist; else $KUBECONFIG is a list
 * (missing files skipped); else the pod's service account; else ~/.kube/config, which with .home_first comes before the
 * service account, as in kubectl. When files are merged,
 * the first file wins per cluster, user and context, and for current-context. Relative paths are relative to
 * the file that holds them. *-data beats the file, tokenFile beats token. Unknown keys are ignored.
 * Blocking file reads: called at start and when credentials are re-read, never per request.
 */
#ifndef KAR_KUBECONFIG_H
#define KAR_KUBECONFIG_H

#include "common/base/base.h"
#include "common/base/err.h"
#include "common/base/mem.h"

struct kar_exec_config {
	const char *api_version; /* client.authentication.k8s.io/v1 or v1beta1 */
	const char *command;
	const char **args; /* n_args strings */
	size_t n_args;
	const char **env; /* n_env strings "NAME=value" */
	size_t n_env;
	bool provide_cluster_info;
	const char *install_hint; /* or NULL */
	bool attended; /* a person waits for it: what it says is shown, and it has ten minutes. Set by who has loaded it. */
};

/* One resolved context. All strings live in the arena that it was loaded into. */
struct kar_kubeconfig {
	const char *source; /* for messages: "/root/.kube/config, context dev" or "in-cluster" */
	const char *server; /* https://host:port, without a trailing slash */
	const char *ns;     /* the context's namespace, "default" if it has none */
	const char *tls_server_name, *proxy_url;
	const char *
		no_proxy; /* with a proxy of the environment, which whoever has loaded it may set; else NULL */
	bool insecure_skip_tls_verify;
	const char *ca_pem;               /* from certificate-authority-data, or NULL */
	const char *ca_file;              /* re-read when it changes; or NULL */
	const char *cert_pem, *key_pem;   /* from *-data, or NULL */
	const char *cert_file, *key_file; /* or NULL */
	const char *token;                /* or NULL */
	const char *token_file;           /* re-read every 60 s; or NULL */
	const char *username, *password;
	const char *as_user, *as_uid;
	const char **as_groups;
	size_t n_as_groups;
	struct kar_exec_config *exec;  /* or NULL */
	const char *exec_cluster_json; /* the cluster as ExecCredential spec.cluster, if wanted */
};

struct kar_kubeconfig_options {
	const char *kubeconfig; /* --kubeconfig, or NULL */
	const char *context;    /* --context, or NULL: current-context */
	const char *master;     /* --master: overrides the server, or NULL */
	bool home_first; /* a person's tool: in a pod, too, ~/.kube/config says more than the service account */
	/* Environment, so that tests need not change the process's own; NULL: getenv. */
	const char *(*getenv)(const char *name);
	const char *service_account_dir; /* NULL: /var/run/secrets/kubernetes.io/serviceaccount */
};

/*
 * Loads and resolves. KAR_FATAL with a text that names file, line or key, and what to do: unreadable file, bad
 * YAML, unknown context, contradictory settings (CA together with insecure-skip-tls-verify, exec together with
 * token ...), an unsupported auth-provider, bad base64, a certificate that is not PEM.
 */
int kar_kubeconfig_load(struct kar_arena *arena, const struct kar_kubeconfig_options *o,
	struct kar_kubeconfig *out, struct kar_err *err);

/* Most bytes of a CA bundle, certificate, key or token file. */
enum { KAR_CREDENTIAL_FILE_MAX = 4 << 20 };

/*
 * Reads a whole file of at most @limit bytes into @arena, NUL-terminated. KAR_FATAL with the path on failure.
 * An empty file is a failure when @want_content.
 */
char *kar_read_file(struct kar_arena *arena, const char *path, size_t limit, bool want_content, size_t *n,
	struct kar_err *err);

#endif
