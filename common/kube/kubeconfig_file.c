#include "common/kube/kubeconfig_file.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/codec/yaml.h"
#include "common/kube/kubeconfig.h"

enum {
	FILE_MAX = 4 << 20, /* bytes of one kubeconfig */
	NAMES_MAX = 160,    /* bytes of a list of names in a message */
};

static const struct kar_field extension_fields[] = {
	KAR_FIELD(struct kar_kubefile_extension, name, "name", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_extension, extension, "extension", KAR_F_RAW),
};
static const struct kar_desc extension_desc =
	KAR_DESC("extension", struct kar_kubefile_extension, extension_fields);

static const struct kar_field cluster_fields[] = {
	KAR_FIELD(struct kar_kubefile_cluster, server, "server", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_cluster, tls_server_name, "tls-server-name", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_cluster, proxy_url, "proxy-url", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_cluster, ca_file, "certificate-authority", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_cluster, ca_data, "certificate-authority-data", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_cluster, insecure_skip_tls_verify, "insecure-skip-tls-verify",
		KAR_F_BOOL),
	KAR_FIELD(struct kar_kubefile_cluster, disable_compression, "disable-compression", KAR_F_BOOL),
	KAR_FIELD_SUB(struct kar_kubefile_cluster, extensions, "extensions", KAR_F_ARRAY, &extension_desc),
};
static const struct kar_desc cluster_desc = KAR_DESC("cluster", struct kar_kubefile_cluster, cluster_fields);

static const struct kar_field env_fields[] = {
	KAR_FIELD(struct kar_kubefile_env, name, "name", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_env, value, "value", KAR_F_STRING),
};
static const struct kar_desc env_desc = KAR_DESC("env", struct kar_kubefile_env, env_fields);

static const struct kar_field exec_fields[] = {
	KAR_FIELD(struct kar_kubefile_exec, api_version, "apiVersion", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_exec, command, "command", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_exec, install_hint, "installHint", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_exec, interactive_mode, "interactiveMode", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_exec, args, "args", KAR_F_ARRAY),
	KAR_FIELD_SUB(struct kar_kubefile_exec, env, "env", KAR_F_ARRAY, &env_desc),
	KAR_FIELD(struct kar_kubefile_exec, provide_cluster_info, "provideClusterInfo", KAR_F_BOOL),
};
static const struct kar_desc exec_desc = KAR_DESC("exec", struct kar_kubefile_exec, exec_fields);

static const struct kar_field auth_provider_fields[] = {
	KAR_FIELD(struct kar_kubefile_auth_provider, name, "name", KAR_F_STRING),
};
static const struct kar_desc auth_provider_desc =
	KAR_DESC("auth-provider", struct kar_kubefile_auth_provider, auth_provider_fields);

static const struct kar_field user_fields[] = {
	KAR_FIELD(struct kar_kubefile_user, cert_file, "client-certificate", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, cert_data, "client-certificate-data", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, key_file, "client-key", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, key_data, "client-key-data", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, token, "token", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, token_file, "tokenFile", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, username, "username", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, password, "password", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, as_user, "as", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, as_uid, "as-uid", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_user, as_groups, "as-groups", KAR_F_ARRAY),
	KAR_FIELD(struct kar_kubefile_user, as_user_extra, "as-user-extra", KAR_F_RAW),
	KAR_FIELD_SUB(struct kar_kubefile_user, exec, "exec", KAR_F_OBJECT_PTR, &exec_desc),
	KAR_FIELD_SUB(struct kar_kubefile_user, auth_provider, "auth-provider", KAR_F_OBJECT_PTR,
		&auth_provider_desc),
};
static const struct kar_desc user_desc = KAR_DESC("user", struct kar_kubefile_user, user_fields);

static const struct kar_field context_fields[] = {
	KAR_FIELD(struct kar_kubefile_context, cluster, "cluster", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_context, user, "user", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile_context, ns, "namespace", KAR_F_STRING),
};
static const struct kar_desc context_desc = KAR_DESC("context", struct kar_kubefile_context, context_fields);

static const struct kar_field entry_fields[] = {
	KAR_FIELD(struct kar_kubefile_entry, name, "name", KAR_F_STRING),
	KAR_FIELD_SUB(struct kar_kubefile_entry, cluster, "cluster", KAR_F_OBJECT_PTR, &cluster_desc),
	KAR_FIELD_SUB(struct kar_kubefile_entry, user, "user", KAR_F_OBJECT_PTR, &user_desc),
	KAR_FIELD_SUB(struct kar_kubefile_entry, context, "context", KAR_F_OBJECT_PTR, &context_desc),
};
static const struct kar_desc entry_desc = KAR_DESC("entry", struct kar_kubefile_entry, entry_fields);

static const struct kar_field file_fields[] = {
	KAR_FIELD(struct kar_kubefile, kind, "kind", KAR_F_STRING),
	KAR_FIELD(struct kar_kubefile, current_context, "current-context", KAR_F_STRING),
	KAR_FIELD_SUB(struct kar_kubefile, lists[KAR_KUBEFILE_CLUSTER], "clusters", KAR_F_ARRAY, &entry_desc),
	KAR_FIELD_SUB(struct kar_kubefile, lists[KAR_KUBEFILE_USER], "users", KAR_F_ARRAY, &entry_desc),
	KAR_FIELD_SUB(struct kar_kubefile, lists[KAR_KUBEFILE_CONTEXT], "contexts", KAR_F_ARRAY, &entry_desc),
};
static const struct kar_desc file_desc = KAR_DESC("Config", struct kar_kubefile, file_fields);

const char *kar_kubefile_kind_name(enum kar_kubefile_kind kind)
{
	static const char *const names[] = {
		[KAR_KUBEFILE_CLUSTER] = "cluster",
		[KAR_KUBEFILE_USER] = "user",
		[KAR_KUBEFILE_CONTEXT] = "context",
	};

	return names[kind];
}

static const struct kar_kubefile_entry *find_in(const struct kar_array *list, const char *name, size_t from)
{
	const struct kar_kubefile_entry *entries = list->items;

	for (size_t i = from; i < list->n; i++) {
		if (entries[i].name && strcmp(entries[i].name, name) == 0)
			return &entries[i];
	}
	return NULL;
}

/* Within one file a name has one meaning; which entry wins would be an accident. */
static int check_names(const struct kar_kubefile *f, enum kar_kubefile_kind kind, struct kar_err *err)
{
	const struct kar_array *list = &f->lists[kind];
	const struct kar_kubefile_entry *entries = list->items;

	for (size_t i = 0; i < list->n; i++) {
		if (!entries[i].name || !*entries[i].name)
			return kar_fail(err, KAR_FATAL, "%s: %ss[%zu] has no name", f->path,
				kar_kubefile_kind_name(kind), i);
		if (find_in(list, entries[i].name, i + 1))
			return kar_fail(err, KAR_FATAL, "%s: %s \"%s\" is defined twice; remove one of them",
				f->path, kar_kubefile_kind_name(kind), entries[i].name);
	}
	return 0;
}

static int check_file(const struct kar_kubefile *f, struct kar_err *err)
{
	if (f->kind && *f->kind && strcmp(f->kind, "Config") != 0)
		return kar_fail(err, KAR_FATAL, "%s: is no kubeconfig: its kind is \"%.64s\", not \"Config\"",
			f->path, f->kind);
	for (enum kar_kubefile_kind kind = 0; kind < KAR_KUBEFILE_KINDS; kind++) {
		if (check_names(f, kind, err))
			return -1;
	}
	return 0;
}

/* The absolute folder of @path. */
static const char *folder_of(const char *path, struct kar_arena *arena)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;
	char cwd[PATH_MAX];

	if (*path == '/')
		return n ? kar_arena_strndup(arena, path, n) : "/";
	return kar_arena_printf(arena, "%s%s%.*s", getcwd(cwd, sizeof(cwd)) ? cwd : ".", n ? "/" : "", (int)n,
		path);
}

int kar_kubefiles_add(struct kar_kubefiles *set, struct kar_arena *arena, const char *path, bool required,
	struct kar_err *err)
{
	const struct kar_limits limits = { .string = FILE_MAX, .document = 2 * FILE_MAX };
	struct kar_kubefile f = { 0 };
	size_t n;
	char *text;

	if (!required && access(path, F_OK) != 0)
		return 0;
	if (set->n == KAR_KUBEFILES_MAX)
		return kar_fail(err, KAR_FATAL, "$KUBECONFIG names more than %d files", KAR_KUBEFILES_MAX);
	text = kar_read_file(arena, path, FILE_MAX, false, &n, err);
	if (!text)
		return -1;
	/* An empty file (/dev/null) holds nothing, as for kubectl. */
	if (n && kar_yaml_decode(arena, &file_desc, &limits, text, n, &f, err)) {
		err->what = KAR_FATAL;
		return kar_wrap(err, "%s", path);
	}
	f.path = kar_arena_strndup(arena, path, strlen(path));
	f.dir = folder_of(path, arena);
	if (check_file(&f, err))
		return -1;
	set->files[set->n++] = f;
	return 0;
}

const struct kar_kubefile_entry *kar_kubefiles_find(const struct kar_kubefiles *set,
	enum kar_kubefile_kind kind, const char *name, const struct kar_kubefile **file)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct kar_kubefile_entry *e = find_in(&set->files[i].lists[kind], name, 0);

		if (e && file)
			*file = &set->files[i];
		if (e)
			return e;
	}
	return NULL;
}

const char *kar_kubefiles_current_context(const struct kar_kubefiles *set)
{
	for (size_t i = 0; i < set->n; i++) {
		const char *name = set->files[i].current_context;

		if (name && *name)
			return name;
	}
	return NULL;
}

/* A list of names for a message. */
struct names {
	struct kar_buf text;
	bool cut;
};

/* Appends ", @name" while the list is short enough, then "..." once. */
static void add_name(struct names *l, const char *name)
{
	if (l->cut)
		return;
	if (l->text.n)
		kar_buf_puts(&l->text, ", ");
	l->cut = l->text.n + strlen(name) > NAMES_MAX;
	kar_buf_puts(&l->text, l->cut ? "..." : name);
}

static const char *names_text(struct names *l, struct kar_arena *arena)
{
	const char *text = l->text.n ? kar_arena_strndup(arena, l->text.p, l->text.n) : "none";

	kar_buf_release(&l->text);
	return text;
}

const char *kar_kubefiles_names(const struct kar_kubefiles *set, enum kar_kubefile_kind kind,
	struct kar_arena *arena)
{
	struct names l = { 0 };

	for (size_t i = 0; i < set->n; i++) {
		const struct kar_array *list = &set->files[i].lists[kind];
		const struct kar_kubefile_entry *entries = list->items;

		for (size_t k = 0; k < list->n; k++)
			add_name(&l, entries[k].name);
	}
	return names_text(&l, arena);
}

const char *kar_kubefiles_paths(const struct kar_kubefiles *set, struct kar_arena *arena)
{
	struct names l = { 0 };

	for (size_t i = 0; i < set->n; i++)
		add_name(&l, set->files[i].path);
	return names_text(&l, arena);
}

const char *kar_kubefile_resolve(const struct kar_kubefile *file, const char *path, struct kar_arena *arena)
{
	if (!path || !*path)
		return NULL;
	if (*path == '/')
		return path;
	return kar_arena_printf(arena, "%s/%s", file->dir, path);
}
