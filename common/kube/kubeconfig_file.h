/*
 * kubeconfig_file - kubeconfig files as they are written, look-up across several, and their meaning.
 *
 * Private to kubeconfig*.c. Nothing is merged by copying: the first file in order that has a name wins, whole
 * entry, so looking a name up in order is the merge. Everything lives in the arena it was read into.
 */
#ifndef KAR_KUBECONFIG_FILE_H
#define KAR_KUBECONFIG_FILE_H

#include "common/codec/decode.h"
#include "common/kube/kubeconfig.h"

struct kar_kubefile_extension {
	const char *name;
	struct kar_str extension; /* JSON */
};

struct kar_kubefile_cluster {
	const char *server, *tls_server_name, *proxy_url;
	const char *ca_file, *ca_data;
	bool insecure_skip_tls_verify, disable_compression;
	struct kar_array extensions; /* struct kar_kubefile_extension */
};

struct kar_kubefile_env {
	const char *name, *value;
};

struct kar_kubefile_exec {
	const char *api_version, *command, *install_hint, *interactive_mode;
	struct kar_array args; /* const char * */
	struct kar_array env;  /* struct kar_kubefile_env */
	bool provide_cluster_info;
};

struct kar_kubefile_auth_provider {
	const char *name;
};

struct kar_kubefile_user {
	const char *cert_file, *cert_data, *key_file, *key_data;
	const char *token, *token_file, *username, *password;
	const char *as_user, *as_uid;
	struct kar_array as_groups;   /* const char * */
	struct kar_str as_user_extra; /* JSON */
	struct kar_kubefile_exec *exec;
	struct kar_kubefile_auth_provider *auth_provider;
};

struct kar_kubefile_context {
	const char *cluster, *user, *ns;
};

/* An entry of one of the three lists: its name and, by kind, what it holds. */
struct kar_kubefile_entry {
	const char *name;
	struct kar_kubefile_cluster *cluster;
	struct kar_kubefile_user *user;
	struct kar_kubefile_context *context;
};

enum kar_kubefile_kind { KAR_KUBEFILE_CLUSTER, KAR_KUBEFILE_USER, KAR_KUBEFILE_CONTEXT, KAR_KUBEFILE_KINDS };

struct kar_kubefile {
	const char *path; /* as given, for messages */
	const char *dir;  /* absolute; what relative paths in the file are relative to */
	const char *kind, *current_context;
	struct kar_array lists[KAR_KUBEFILE_KINDS]; /* struct kar_kubefile_entry */
};

/* Most files that are merged. */
enum { KAR_KUBEFILES_MAX = 32 };

struct kar_kubefiles {
	struct kar_kubefile files[KAR_KUBEFILES_MAX];
	size_t n;
};

/*
 * Reads the file @path into @set. A missing file is KAR_FATAL when @required, else skipped. KAR_FATAL also for
 * one that cannot be read, is not a kubeconfig or has two entries of one kind and name.
 */
int kar_kubefiles_add(struct kar_kubefiles *set, struct kar_arena *arena, const char *path, bool required,
	struct kar_err *err) KAR_NONNULL;
/* "cluster", "user", "context" */
const char *kar_kubefile_kind_name(enum kar_kubefile_kind kind);
/* The winning entry and its file in *@file (may be NULL), or NULL. */
const struct kar_kubefile_entry *kar_kubefiles_find(const struct kar_kubefiles *set,
	enum kar_kubefile_kind kind, const char *name, const struct kar_kubefile **file)
	__attribute__((nonnull(1, 3)));
/* The first current-context that is not empty, or NULL. */
const char *kar_kubefiles_current_context(const struct kar_kubefiles *set) KAR_NONNULL;
/* "a, b, c" for messages, cut to a readable length; "none". In @arena. */
const char *kar_kubefiles_names(const struct kar_kubefiles *set, enum kar_kubefile_kind kind,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;
/* The paths, "a, b", likewise. */
const char *kar_kubefiles_paths(const struct kar_kubefiles *set,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;
/* @path as seen from @file's folder, in @arena; NULL if @path is NULL or empty. */
const char *kar_kubefile_resolve(const struct kar_kubefile *file, const char *path, struct kar_arena *arena)
	__attribute__((nonnull(1, 3)));

/*
 * The second half (kubeconfig_resolve.c): from the entries of one context to struct kar_kubeconfig. The error
 * texts say what is wrong with the entry; the caller puts file and entry in front. KAR_FATAL always.
 */
struct kar_resolver {
	struct kar_arena *arena;
	struct kar_kubeconfig *out;
	struct kar_err *err;
};

/* Checks @url and stores it without trailing slashes. */
int kar_resolve_server(struct kar_resolver *r, const char *url) KAR_NONNULL;
int kar_resolve_cluster(struct kar_resolver *r, const struct kar_kubefile_cluster *c,
	const struct kar_kubefile *f) KAR_NONNULL;
int kar_resolve_user(struct kar_resolver *r, const struct kar_kubefile_user *u,
	const struct kar_kubefile *f) KAR_NONNULL;
/* spec.cluster for the exec plug-in; after the two above. Reads the CA file. */
int kar_resolve_exec_cluster(struct kar_resolver *r, const struct kar_kubefile_cluster *c) KAR_NONNULL;

#endif
