/*
 * kubeconfig_fixture - loads a kubeconfig from files and an environment that a test writes, and shows the result as
 * text. For one test executable: all functions are static.
 */
#ifndef KAR_TEST_KUBECONFIG_FIXTURE_H
#define KAR_TEST_KUBECONFIG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/kube/kubeconfig.h"
#include "tmpdir.h"

enum { MAX_FILES = 4, MAX_VARIABLES = 4 };

struct row {
	const char *name;
	struct {
		const char *path, *text;
	} files[MAX_FILES];
	const char *env[MAX_VARIABLES]; /* "NAME=value"; $DIR is the temporary folder */
	const char *kubeconfig, *context, *master;
	bool home_first;
	/* Exactly one of the two. $DIR again stands for the folder. Only what is set is listed. */
	const char *config;
	const char *error;
};

/* The environment of the running row: kar_kubeconfig_options.getenv has no argument of its own. */
static char *variables[MAX_VARIABLES + 1];

static const char *row_getenv(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; variables[i]; i++) {
		if (strncmp(variables[i], name, n) == 0 && variables[i][n] == '=')
			return variables[i] + n + 1;
	}
	return NULL;
}

#define SIMPLE_CLUSTER "clusters:\n- name: c\n  cluster: {server: 'https://c:6443'}\n"
#define SIMPLE_CONTEXT "current-context: dev\ncontexts:\n- name: dev\n  context: {cluster: c, user: u}\n"
#define USER(body) "users:\n- name: u\n  user: {" body "}\n"
#define CLUSTER(body) "clusters:\n- name: c\n  cluster: {" body "}\n"

static void show(struct kar_buf *b, const char *name, const char *value)
{
	if (value)
		kar_buf_printf(b, "%s=%s\n", name, value);
}

static void show_exec(struct kar_buf *b, const struct kar_kubeconfig *c)
{
	const struct kar_exec_config *x = c->exec;

	if (!x)
		return;
	kar_buf_printf(b, "exec=%s v=%s\n", x->command, x->api_version);
	for (size_t i = 0; i < x->n_args; i++)
		show(b, " arg", x->args[i]);
	for (size_t i = 0; i < x->n_env; i++)
		show(b, " env", x->env[i]);
	show(b, " hint", x->install_hint);
	show(b, " cluster", c->exec_cluster_json);
}

static void show_config(struct kar_buf *b, const struct kar_kubeconfig *c)
{
	show(b, "source", c->source);
	show(b, "server", c->server);
	show(b, "ns", c->ns);
	show(b, "tls_server_name", c->tls_server_name);
	show(b, "proxy_url", c->proxy_url);
	if (c->insecure_skip_tls_verify)
		kar_buf_puts(b, "insecure\n");
	show(b, "ca_pem", c->ca_pem);
	show(b, "ca_file", c->ca_file);
	show(b, "cert_pem", c->cert_pem);
	show(b, "key_pem", c->key_pem);
	show(b, "cert_file", c->cert_file);
	show(b, "key_file", c->key_file);
	show(b, "token", c->token);
	show(b, "token_file", c->token_file);
	show(b, "username", c->username);
	show(b, "password", c->password);
	show(b, "as_user", c->as_user);
	show(b, "as_uid", c->as_uid);
	for (size_t i = 0; i < c->n_as_groups; i++)
		show(b, "as_group", c->as_groups[i]);
	show_exec(b, c);
}

static KAR_UNUSED char *here(const struct tmpdir *dir, const char *text)
{
	return text ? replace_all(text, "$DIR", dir->path) : NULL;
}

/* What loading gave, with the folder spelled $DIR: the configuration or the error. */
static KAR_UNUSED char *load_row(const struct row *r, const struct tmpdir *dir)
{
	char *account = tmpdir_join(dir, "sa");
	char *kubeconfig = here(dir, r->kubeconfig);
	const struct kar_kubeconfig_options o = { .kubeconfig = kubeconfig,
		.context = r->context,
		.master = r->master,
		.home_first = r->home_first,
		.getenv = row_getenv,
		.service_account_dir = account };
	struct kar_kubeconfig config = { .source = "untouched" };
	struct kar_arena arena = { 0 };
	struct kar_err err = { .msg = "" };
	struct kar_buf shown = { 0 };
	char *text;

	if (kar_kubeconfig_load(&arena, &o, &config, &err) == 0)
		show_config(&shown, &config);
	else
		kar_buf_printf(&shown, "%s%s%s", err.what == KAR_FATAL ? "" : "not fatal: ",
			strcmp(config.source, "untouched") == 0 ? "" : "output touched: ", err.msg);
	text = replace_all(kar_buf_cstr(&shown), dir->path, "$DIR");
	kar_buf_release(&shown);
	kar_arena_release(&arena);
	free(kubeconfig);
	free(account);
	return text;
}

#endif
