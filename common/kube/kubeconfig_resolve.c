#include "common/kube/kubeconfig_file.h"

#include <string.h>

#include "common/codec/json.h"
#include "common/kube/pem.h"

#define EXEC_EXTENSION "client.authentication.k8s.io/exec"

static bool is_set(const char *s)
{
	return s && *s;
}

/* "" and absent mean the same in a kubeconfig. */
static const char *or_null(const char *s)
{
	return is_set(s) ? s : NULL;
}

static bool has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* Decodes the base64 of setting @key into *@out; nothing to do if it is absent. */
static int decode_pem(struct kar_resolver *r, const char *key, const char *data, enum kar_pem_kind kind,
	const char **out)
{
	size_t n, bad_at;
	char *text;

	if (!is_set(data))
		return 0;
	text = kar_base64_decode(r->arena, KAR_BASE64_STD, data, strlen(data), &n, &bad_at);
	if (!text)
		return kar_fail(r->err, KAR_FATAL,
			"%s is not valid base64 (at character %zu); write it with: base64 -w0 FILE", key,
			bad_at + 1);
	if (strlen(text) != n)
		return kar_fail(r->err, KAR_FATAL, "%s holds binary data where PEM text belongs", key);
	if (kar_pem_check(text, kind, r->err)) {
		const char *what = kar_arena_printf(r->arena, "%s", r->err->msg);

		return kar_fail(r->err, KAR_FATAL, "%s %s", key, what);
	}
	*out = text;
	return 0;
}

/* No text of these checks repeats the URL when it may hold a password. */
static int check_server(struct kar_resolver *r, const char *url)
{
	const char *host = url;

	if (has_prefix(url, "https://"))
		host += strlen("https://");
	else if (has_prefix(url, "http://"))
		host += strlen("http://");
	if (strchr(url, '@'))
		return kar_fail(r->err, KAR_FATAL,
			"the server URL holds a user name; put credentials under users");
	if (strpbrk(url, " \t\r\n?#"))
		return kar_fail(r->err, KAR_FATAL,
			"server \"%.128s\" holds white space, \"?\" or \"#\"; want https://host:port", url);
	if (host == url || !*host || *host == '/' || *host == ':')
		return kar_fail(r->err, KAR_FATAL, "server \"%.128s\" is no URL; want https://host:port",
			url);
	return 0;
}

int kar_resolve_server(struct kar_resolver *r, const char *url)
{
	size_t n = strlen(url);

	if (check_server(r, url))
		return -1;
	while (n && url[n - 1] == '/')
		n--;
	r->out->server = kar_arena_strndup(r->arena, url, n);
	return 0;
}

static int check_proxy(struct kar_resolver *r, const char *url)
{
	static const char *const schemes[] = { "http://", "https://", "socks5://", "socks5h://" };

	for (size_t i = 0; i < KAR_LEN(schemes); i++) {
		if (has_prefix(url, schemes[i]) && url[strlen(schemes[i])])
			return 0;
	}
	return kar_fail(r->err, KAR_FATAL,
		"proxy-url must begin with http://, https:// or socks5:// and name a host");
}

int kar_resolve_cluster(struct kar_resolver *r, const struct kar_kubefile_cluster *c,
	const struct kar_kubefile *f)
{
	struct kar_kubeconfig *out = r->out;

	if (!is_set(c->server))
		return kar_fail(r->err, KAR_FATAL, "has no server; set it to https://host:port");
	if (kar_resolve_server(r, c->server))
		return -1;
	if (is_set(c->proxy_url) && check_proxy(r, c->proxy_url))
		return -1;
	if (c->insecure_skip_tls_verify && (is_set(c->ca_data) || is_set(c->ca_file)))
		return kar_fail(r->err, KAR_FATAL,
			"insecure-skip-tls-verify is set together with a certificate-authority; remove one of them");
	if (decode_pem(r, "certificate-authority-data", c->ca_data, KAR_PEM_CERTIFICATE, &out->ca_pem))
		return -1;
	if (!out->ca_pem)
		out->ca_file = kar_kubefile_resolve(f, c->ca_file, r->arena);
	out->tls_server_name = or_null(c->tls_server_name);
	out->proxy_url = or_null(c->proxy_url);
	out->insecure_skip_tls_verify = c->insecure_skip_tls_verify;
	return 0;
}

/* The exec plug-in's own configuration, which a cluster may carry as an extension. */
static struct kar_str exec_extension(const struct kar_kubefile_cluster *c)
{
	const struct kar_kubefile_extension *e = c->extensions.items;

	for (size_t i = 0; i < c->extensions.n; i++) {
		if (e[i].name && strcmp(e[i].name, EXEC_EXTENSION) == 0)
			return e[i].extension;
	}
	return (struct kar_str){ 0 };
}

static void write_exec_cluster(struct kar_json_writer *w, const struct kar_kubefile_cluster *c,
	const struct kar_kubeconfig *config, const char *ca_pem)
{
	struct kar_buf ca = { .cap = 2 * KAR_CREDENTIAL_FILE_MAX };
	struct kar_str extension = exec_extension(c);

	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "server", config->server);
	if (config->tls_server_name)
		kar_jw_kv_string(w, "tls-server-name", config->tls_server_name);
	if (config->insecure_skip_tls_verify)
		kar_jw_kv_bool(w, "insecure-skip-tls-verify", true);
	if (ca_pem) {
		kar_base64_encode(&ca, ca_pem, strlen(ca_pem));
		kar_jw_kv_string(w, "certificate-authority-data", kar_buf_cstr(&ca));
	}
	if (config->proxy_url)
		kar_jw_kv_string(w, "proxy-url", config->proxy_url);
	if (c->disable_compression)
		kar_jw_kv_bool(w, "disable-compression", true);
	if (extension.n) {
		kar_jw_key(w, "config");
		kar_jw_raw(w, extension);
	}
	kar_jw_end_object(w);
	kar_buf_release(&ca);
}

/* spec.cluster of ExecCredential: the plug-in gets the CA's contents, never its path. */
int kar_resolve_exec_cluster(struct kar_resolver *r, const struct kar_kubefile_cluster *c)
{
	struct kar_buf json = { .cap = 4 * KAR_CREDENTIAL_FILE_MAX };
	const char *ca_pem = r->out->ca_pem;
	struct kar_json_writer w;

	if (r->out->ca_file) {
		ca_pem =
			kar_read_file(r->arena, r->out->ca_file, KAR_CREDENTIAL_FILE_MAX, true, NULL, r->err);
		if (!ca_pem)
			return kar_wrap(r->err, "certificate-authority");
	}
	kar_json_writer_init(&w, &json);
	write_exec_cluster(&w, c, r->out, ca_pem);
	kar_json_writer_release(&w);
	r->out->exec_cluster_json = kar_arena_strndup(r->arena, kar_buf_cstr(&json), json.n);
	kar_buf_release(&json);
	return 0;
}

static int check_exec(struct kar_resolver *r, const struct kar_kubefile_exec *e)
{
	static const char *const versions[] = {
		"client.authentication.k8s.io/v1",
		"client.authentication.k8s.io/v1beta1",
	};
	const struct kar_kubefile_env *env = e->env.items;
	const char *const *args = e->args.items;

	if (!is_set(e->command))
		return kar_fail(r->err, KAR_FATAL, "exec has no command");
	if (!is_set(e->api_version))
		return kar_fail(r->err, KAR_FATAL, "exec has no apiVersion; set it to %s", versions[0]);
	if (strcmp(e->api_version, versions[0]) != 0 && strcmp(e->api_version, versions[1]) != 0)
		return kar_fail(r->err, KAR_FATAL, "exec apiVersion \"%.64s\" is not supported; use %s",
			e->api_version, versions[0]);
	if (is_set(e->interactive_mode) && strcmp(e->interactive_mode, "Always") == 0)
		return kar_fail(r->err, KAR_FATAL,
			"exec interactiveMode is Always, but nobody is there to answer; use Never or IfAvailable");
	for (size_t i = 0; i < e->env.n; i++) {
		if (!is_set(env[i].name) || strchr(env[i].name, '='))
			return kar_fail(r->err, KAR_FATAL, "exec env[%zu] has no usable name", i);
	}
	for (size_t i = 0; i < e->args.n; i++) {
		if (!args[i])
			return kar_fail(r->err, KAR_FATAL, "exec args[%zu] is null", i);
	}
	return 0;
}

/* A bare name is looked up in $PATH; a path with a slash is relative to the file. */
static int fill_exec(struct kar_resolver *r, const struct kar_kubefile_exec *e, const struct kar_kubefile *f)
{
	struct kar_exec_config *x = kar_arena_alloc(r->arena, 1, sizeof(*x));
	const struct kar_kubefile_env *env = e->env.items;

	if (check_exec(r, e))
		return -1;
	x->api_version = e->api_version;
	x->command = strchr(e->command, '/') ? kar_kubefile_resolve(f, e->command, r->arena) : e->command;
	x->args = e->args.items;
	x->n_args = e->args.n;
	x->n_env = e->env.n;
	x->env = kar_arena_alloc(r->arena, x->n_env, sizeof(*x->env));
	for (size_t i = 0; i < x->n_env; i++)
		x->env[i] =
			kar_arena_printf(r->arena, "%s=%s", env[i].name, env[i].value ? env[i].value : "");
	x->provide_cluster_info = e->provide_cluster_info;
	x->install_hint = or_null(e->install_hint);
	r->out->exec = x;
	return 0;
}

/* One way to say who one is. A client certificate is another layer and may come with any of them. */
static int check_methods(struct kar_resolver *r, const struct kar_kubefile_user *u)
{
	bool token = is_set(u->token) || is_set(u->token_file);
	bool basic = is_set(u->username) || is_set(u->password);
	const char *both = NULL;

	if (u->auth_provider)
		return kar_fail(r->err, KAR_FATAL,
			"auth-provider \"%.64s\" is not supported (Kubernetes removed it in 1.26); use an exec plug-in",
			is_set(u->auth_provider->name) ? u->auth_provider->name : "");
	if (token && basic)
		both = "token and username/password";
	else if (u->exec && token)
		both = "exec and token";
	else if (u->exec && basic)
		both = "exec and username/password";
	if (both)
		return kar_fail(r->err, KAR_FATAL, "has both %s; remove one of them", both);
	if (u->username && strchr(u->username, ':'))
		return kar_fail(r->err, KAR_FATAL, "username contains \":\"");
	return 0;
}

static int fill_certificate(struct kar_resolver *r, const struct kar_kubefile_user *u,
	const struct kar_kubefile *f)
{
	struct kar_kubeconfig *out = r->out;
	bool cert = is_set(u->cert_data) || is_set(u->cert_file);
	bool key = is_set(u->key_data) || is_set(u->key_file);

	if (cert && !key)
		return kar_fail(r->err, KAR_FATAL, "has a client-certificate but no client-key; add the key");
	if (key && !cert)
		return kar_fail(r->err, KAR_FATAL,
			"has a client-key but no client-certificate; add the certificate");
	if (decode_pem(r, "client-certificate-data", u->cert_data, KAR_PEM_CERTIFICATE, &out->cert_pem) ||
		decode_pem(r, "client-key-data", u->key_data, KAR_PEM_PRIVATE_KEY, &out->key_pem))
		return -1;
	if (!out->cert_pem)
		out->cert_file = kar_kubefile_resolve(f, u->cert_file, r->arena);
	if (!out->key_pem)
		out->key_file = kar_kubefile_resolve(f, u->key_file, r->arena);
	return 0;
}

static int fill_token(struct kar_resolver *r, const struct kar_kubefile_user *u, const struct kar_kubefile *f)
{
	r->out->token_file = kar_kubefile_resolve(f, u->token_file, r->arena);
	if (r->out->token_file || !is_set(u->token))
		return 0;
	if (kar_token_check(u->token, r->err))
		return kar_wrap(r->err, "token");
	r->out->token = u->token;
	return 0;
}

/* It becomes a header. */
static bool is_header_text(const char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	}
	return true;
}

static int fill_impersonation(struct kar_resolver *r, const struct kar_kubefile_user *u)
{
	bool more = is_set(u->as_uid) || u->as_groups.n;
	const char *const *groups = u->as_groups.items;

	if (u->as_user_extra.n > strlen("{}") && strncmp(u->as_user_extra.p, "null", u->as_user_extra.n) != 0)
		return kar_fail(r->err, KAR_FATAL, "as-user-extra is not supported; remove it");
	if (more && !is_set(u->as_user))
		return kar_fail(r->err, KAR_FATAL,
			"has as-uid or as-groups without as; add the user to impersonate");
	if ((u->as_user && !is_header_text(u->as_user)) || (u->as_uid && !is_header_text(u->as_uid)))
		return kar_fail(r->err, KAR_FATAL, "as or as-uid contains control characters");
	for (size_t i = 0; i < u->as_groups.n; i++) {
		if (!is_set(groups[i]) || !is_header_text(groups[i]))
			return kar_fail(r->err, KAR_FATAL,
				"as-groups[%zu] is empty or contains control characters", i);
	}
	r->out->as_user = or_null(u->as_user);
	r->out->as_uid = or_null(u->as_uid);
	r->out->as_groups = u->as_groups.items;
	r->out->n_as_groups = u->as_groups.n;
	return 0;
}

int kar_resolve_user(struct kar_resolver *r, const struct kar_kubefile_user *u, const struct kar_kubefile *f)
{
	if (check_methods(r, u) || fill_certificate(r, u, f) || fill_token(r, u, f) ||
		fill_impersonation(r, u))
		return -1;
	r->out->username = or_null(u->username);
	r->out->password =
		is_set(u->password) || is_set(u->username) ? (u->password ? u->password : "") : NULL;
	return u->exec ? fill_exec(r, u->exec, f) : 0;
}
