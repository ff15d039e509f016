#include "common/kube/kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/kube/kubeconfig_file.h"

enum { NAMESPACE_MAX = 253 + 2 }; /* with a line break */

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

static bool is_set(const char *s)
{
	return s && *s;
}

/* "" and absent mean the same in a kubeconfig. */
static const char *or_null(const char *s)
{
	return is_set(s) ? s : NULL;
}

static const char *environment(const struct kar_kubeconfig_options *o, const char *name)
{
	return or_null(o->getenv ? o->getenv(name) : getenv(name));
}

/* Reads @fd to its end into @b. 0, or errno. */
static int read_all(int fd, struct kar_buf *b)
{
	char chunk[16 * 1024];

	while (!b->overflow) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : 0;
		kar_buf_append(b, chunk, (size_t)n);
		explicit_bzero(chunk, (size_t)n);
	}
	return EFBIG;
}

/* A regular file that had another size when it was opened is being written right now. */
static bool is_torn(const struct stat *before, const struct kar_buf *b)
{
	return S_ISREG(before->st_mode) && before->st_size > 0 && (size_t)before->st_size != b->n;
}

char *kar_read_file(struct kar_arena *arena, const char *path, size_t limit, bool want_content, size_t *n,
	struct kar_err *err)
{
	struct kar_buf b = { .cap = limit, .secret = true };
	struct stat st = { 0 };
	char *text = NULL;
	int fd, why;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		kar_fail(err, KAR_FATAL, "cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	why = fstat(fd, &st) ? errno : read_all(fd, &b);
	close(fd);
	if (why == EFBIG)
		kar_fail(err, KAR_FATAL, "%s is larger than %zu bytes", path, limit);
	else if (why)
		kar_fail(err, KAR_FATAL, "cannot read %s: %s", path, strerror(why));
	else if (is_torn(&st, &b))
		kar_fail(err, KAR_FATAL, "%s changed while it was read", path);
	else if (want_content && !b.n)
		kar_fail(err, KAR_FATAL, "%s is empty", path);
	else
		text = kar_arena_strndup(arena, kar_buf_cstr(&b), b.n);
	if (text && n)
		*n = b.n;
	kar_buf_release(&b);
	return text;
}

/* ---- where the configuration comes from ---- */

/* $KUBECONFIG: paths separated by ":"; those that do not exist are skipped. */
static int read_list(struct kar_kubefiles *set, struct kar_arena *arena, const char *list,
	struct kar_err *err)
{
	while (*list) {
		size_t n = strcspn(list, ":");

		if (n && kar_kubefiles_add(set, arena, kar_arena_strndup(arena, list, n), false, err))
			return -1;
		list += n + (list[n] == ':');
	}
	return 0;
}

/* The file that kubectl uses by default, or NULL. */
static const char *home_file(const struct kar_kubeconfig_options *o, struct kar_arena *arena)
{
	const char *home = environment(o, "HOME");

	return home ? kar_arena_printf(arena, "%s/.kube/config", home) : NULL;
}

static const char *account_file(const struct kar_kubeconfig_options *o, struct kar_arena *arena,
	const char *name)
{
	const char *dir = o->service_account_dir ? o->service_account_dir : SERVICE_ACCOUNT_DIR;

	return kar_arena_printf(arena, "%s/%s", dir, name);
}

static bool in_cluster(const struct kar_kubeconfig_options *o, struct kar_arena *arena)
{
	return environment(o, "KUBERNETES_SERVICE_HOST") && environment(o, "KUBERNETES_SERVICE_PORT") &&
		access(account_file(o, arena, "token"), F_OK) == 0;
}

/* The pod's namespace; a pod without the file still has a namespace, but only "default" can be guessed. */
static const char *pod_namespace(const struct kar_kubeconfig_options *o, struct kar_arena *arena)
{
	struct kar_err ignored;
	char *ns = kar_read_file(arena, account_file(o, arena, "namespace"), NAMESPACE_MAX, true, NULL,
		&ignored);

	if (!ns)
		return "default";
	ns[strcspn(ns, " \t\r\n")] = '\0';
	return *ns ? ns : "default";
}

static int load_in_cluster(struct kar_resolver *r, const struct kar_kubeconfig_options *o)
{
	const char *host = environment(o, "KUBERNETES_SERVICE_HOST");
	const char *port = environment(o, "KUBERNETES_SERVICE_PORT");
	bool bare_ipv6 = strchr(host, ':') && *host != '[';
	const char *url =
		kar_arena_printf(r->arena, bare_ipv6 ? "https://[%s]:%s" : "https://%s:%s", host, port);

	if (kar_resolve_server(r, url))
		return kar_wrap(r->err, "$KUBERNETES_SERVICE_HOST and $KUBERNETES_SERVICE_PORT");
	r->out->source = "in-cluster";
	r->out->ns = pod_namespace(o, r->arena);
	r->out->token_file = account_file(o, r->arena, "token");
	r->out->ca_file = account_file(o, r->arena, "ca.crt");
	return 0;
}

static int nothing_found(struct kar_resolver *r, const struct kar_kubeconfig_options *o, const char *home)
{
	const char *list = environment(o, "KUBECONFIG");

	if (list)
		return kar_fail(r->err, KAR_FATAL,
			"no file named by $KUBECONFIG exists (%.200s); correct it, unset it or "
			"use --kubeconfig FILE",
			list);
	if (environment(o, "KUBERNETES_SERVICE_HOST"))
		return kar_fail(r->err, KAR_FATAL,
			"this pod has no service account token (%s); set "
			"automountServiceAccountToken: true or use --kubeconfig FILE",
			account_file(o, r->arena, "token"));
	return kar_fail(r->err, KAR_FATAL,
		"no cluster is configured: no --kubeconfig, $KUBECONFIG is not set, this is "
		"not a pod and %s does not exist; use --kubeconfig FILE",
		home ? home : "$HOME/.kube/config");
}

/* ---- one context of the files ---- */

static int unknown_context(struct kar_resolver *r, const struct kar_kubefiles *set, const char *name)
{
	return kar_fail(r->err, KAR_FATAL, "context \"%.64s\" is not in %s; contexts there: %s", name,
		kar_kubefiles_paths(set, r->arena), kar_kubefiles_names(set, KAR_KUBEFILE_CONTEXT, r->arena));
}

/* The entry that context @context names, or NULL with the error. */
static const struct kar_kubefile_entry *referred(struct kar_resolver *r, const struct kar_kubefiles *set,
	const char *context, enum kar_kubefile_kind kind, const char *name, const struct kar_kubefile **file)
{
	const struct kar_kubefile_entry *e = kar_kubefiles_find(set, kind, name, file);
	const char *what = kar_kubefile_kind_name(kind);

	if (!e)
		kar_fail(r->err, KAR_FATAL,
			"context \"%.64s\" names %s \"%.64s\", which is not in %s; %ss there: %s", context,
			what, name, kar_kubefiles_paths(set, r->arena), what,
			kar_kubefiles_names(set, kind, r->arena));
	return e;
}

static int load_cluster(struct kar_resolver *r, const struct kar_kubefile_entry *e,
	const struct kar_kubefile *f)
{
	static const struct kar_kubefile_cluster empty;

	if (kar_resolve_cluster(r, e->cluster ? e->cluster : &empty, f))
		return kar_wrap(r->err, "%s: cluster \"%.64s\"", f->path, e->name);
	return 0;
}

static int load_user(struct kar_resolver *r, const struct kar_kubefile_entry *e, const struct kar_kubefile *f)
{
	static const struct kar_kubefile_user empty;

	if (kar_resolve_user(r, e->user ? e->user : &empty, f))
		return kar_wrap(r->err, "%s: user \"%.64s\"", f->path, e->name);
	return 0;
}

/* An overridden server is another machine: the name to verify belonged to the one in the file. */
static int override_server(struct kar_resolver *r, const struct kar_kubeconfig_options *o)
{
	if (!is_set(o->master))
		return 0;
	r->out->tls_server_name = NULL;
	return kar_resolve_server(r, o->master) ? kar_wrap(r->err, "--master") : 0;
}

static bool is_plain_http(const struct kar_kubeconfig *c)
{
	return strncmp(c->server, "http://", strlen("http://")) == 0;
}

/* The context that is asked for, and its name in *@name; NULL with the error. */
static const struct kar_kubefile_entry *choose_context(struct kar_resolver *r,
	const struct kar_kubeconfig_options *o, const struct kar_kubefiles *set,
	const struct kar_kubefile **file)
{
	const char *name = is_set(o->context) ? o->context : kar_kubefiles_current_context(set);
	const struct kar_kubefile_entry *e;

	if (!name) {
		kar_fail(r->err, KAR_FATAL,
			"%s: current-context is not set; set it with kubectl config use-context, or "
			"use --context; contexts there: %s",
			kar_kubefiles_paths(set, r->arena),
			kar_kubefiles_names(set, KAR_KUBEFILE_CONTEXT, r->arena));
		return NULL;
	}
	e = kar_kubefiles_find(set, KAR_KUBEFILE_CONTEXT, name, file);
	if (!e)
		unknown_context(r, set, name);
	return e;
}

static int load_context(struct kar_resolver *r, const struct kar_kubeconfig_options *o,
	const struct kar_kubefiles *set)
{
	static const struct kar_kubefile_context empty;
	const struct kar_kubefile *file = NULL, *user_file = NULL, *cluster_file = NULL;
	const struct kar_kubefile_entry *e = choose_context(r, o, set, &file), *cluster, *user;
	const struct kar_kubefile_context *c;

	if (!e)
		return -1;
	c = e->context ? e->context : &empty;
	if (!is_set(c->cluster))
		return kar_fail(r->err, KAR_FATAL, "%s: context \"%.64s\" names no cluster", file->path,
			e->name);
	cluster = referred(r, set, e->name, KAR_KUBEFILE_CLUSTER, c->cluster, &cluster_file);
	if (!cluster || load_cluster(r, cluster, cluster_file) || override_server(r, o))
		return -1;
	r->out->source = kar_arena_printf(r->arena, "%s, context %s", file->path, e->name);
	r->out->ns = is_set(c->ns) ? c->ns : "default";
	if (!is_set(c->user) || is_plain_http(r->out))
		return 0; /* credentials never travel without TLS: as clientcmd, they are not even read */
	user = referred(r, set, e->name, KAR_KUBEFILE_USER, c->user, &user_file);
	if (!user || load_user(r, user, user_file))
		return -1;
	if (r->out->exec && r->out->exec->provide_cluster_info && cluster->cluster &&
		kar_resolve_exec_cluster(r, cluster->cluster))
		return kar_wrap(r->err, "%s: cluster \"%.64s\"", cluster_file->path, cluster->name);
	return 0;
}

/* No configuration but an address, as given to kubectl proxy's clients. */
static int load_master_only(struct kar_resolver *r, const struct kar_kubeconfig_options *o)
{
	r->out->source = "--master";
	r->out->ns = "default";
	return override_server(r, o);
}

static int load_pod(struct kar_resolver *r, const struct kar_kubeconfig_options *o)
{
	if (is_set(o->context) && o->home_first)
		return kar_fail(r->err, KAR_FATAL,
			"context \"%.64s\": there is no kubeconfig, and the service account of this pod has no contexts; "
			"use --kubeconfig FILE",
			o->context);
	if (load_in_cluster(r, o) || override_server(r, o))
		return -1;
	if (is_plain_http(r->out))
		r->out->token_file = r->out->ca_file = NULL;
	return 0;
}

static int load(struct kar_resolver *r, const struct kar_kubeconfig_options *o, struct kar_kubefiles *set)
{
	const char *list = environment(o, "KUBECONFIG");
	const char *home = home_file(o, r->arena);

	if (is_set(o->kubeconfig)) {
		if (kar_kubefiles_add(set, r->arena, o->kubeconfig, true, r->err))
			return -1;
		return load_context(r, o, set);
	}
	if (list && read_list(set, r->arena, list, r->err))
		return -1;
	if (!list && o->home_first && home && kar_kubefiles_add(set, r->arena, home, false, r->err))
		return -1;
	if (!list && !set->n && in_cluster(o, r->arena))
		return load_pod(r, o);
	if (!list && !o->home_first && home && kar_kubefiles_add(set, r->arena, home, false, r->err))
		return -1;
	if (set->n)
		return load_context(r, o, set);
	return is_set(o->master) ? load_master_only(r, o) : nothing_found(r, o, home);
}

int kar_kubeconfig_load(struct kar_arena *arena, const struct kar_kubeconfig_options *o,
	struct kar_kubeconfig *out, struct kar_err *err)
{
	struct kar_kubeconfig config = { 0 };
	struct kar_err local;
	struct kar_resolver r = { .arena = arena, .out = &config, .err = err ? err : &local };
	struct kar_kubefiles set = { .n = 0 };

	if (load(&r, o, &set))
		return -1;
	*out = config;
	return 0;
}
