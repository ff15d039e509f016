/* One run of an exec plug-in that a small shell script plays. */
#ifndef KAR_TEST_EXEC_FIXTURE_H
#define KAR_TEST_EXEC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/kube/exec.h"
#include "tmpdir.h"

#define V1 "client.authentication.k8s.io/v1"
#define V1BETA1 "client.authentication.k8s.io/v1beta1"
#define CREDENTIAL(version, status) \
	"echo '{\"apiVersion\":\"" version "\",\"kind\":\"ExecCredential\",\"status\":{" status "}}'\n"
#define ANSWER(status) CREDENTIAL(V1, status)
enum { GUARD_MS = 20000 };

/* One run: what came of it. */
struct run {
	struct tmpdir dir;
	struct kar_loop *loop;
	struct kar_exec *exec;
	struct kar_exec_config config;
	int calls;
	struct kar_err err;   /* KAR_OK: it succeeded */
	struct kar_buf shown; /* the result */
};

static inline void on_done(void *arg, const struct kar_exec_result *result, const struct kar_err *err)
{
	struct run *r = arg;

	r->calls++;
	if (err)
		r->err = *err;
	if (result)
		kar_buf_printf(&r->shown, "token=%s cert=%s key=%s expires=%lld",
			result->token ? result->token : "-", result->cert_pem ? result->cert_pem : "-",
			result->key_pem ? result->key_pem : "-",
			result->expires == KAR_NEVER ? -1 : (long long)result->expires);
	kar_loop_stop(r->loop);
}

static inline void on_guard(void *arg)
{
	kar_loop_stop(arg);
}

/* Runs the loop until someone stops it, or the guard. */
static inline void run_loop(struct kar_loop *loop)
{
	struct kar_timer *guard = kar_timer_new(loop, on_guard, loop);

	kar_timer_start(guard, GUARD_MS);
	kar_loop_run(loop);
	if (!kar_timer_running(guard))
		fail_msg("nothing happened for %d ms", GUARD_MS);
	kar_timer_free(guard);
}

static inline void write_script(const struct tmpdir *dir, const char *name, const char *body)
{
	char *text = kar_xasprintf("#!/bin/sh\ncd '%s'\n%s", dir->path, body);
	char *path = tmpdir_join(dir, name);

	tmpdir_write(dir, name, text, 0);
	chmod(path, 0700);
	free(path);
	free(text);
}

static inline void run_init(struct run *r, const char *script)
{
	memset(r, 0, sizeof(*r));
	tmpdir_init(&r->dir);
	write_script(&r->dir, "plugin", script);
	r->loop = kar_loop_new();
	r->config.api_version = V1;
	r->config.command = tmpdir_join(&r->dir, "plugin");
}

static inline void run_start(struct run *r, const char *cluster_json, kar_time timeout)
{
	r->exec = kar_exec_start(r->loop, &r->config, cluster_json, timeout, on_done, r);
	assert_int_equal(r->calls, 0); /* never from inside the start */
	run_loop(r->loop);
	assert_int_equal(r->calls, 1);
}

static inline void run_release(struct run *r)
{
	kar_exec_free(r->exec);
	kar_loop_free(r->loop);
	kar_buf_release(&r->shown);
	tmpdir_release(&r->dir);
}

static inline char *slurp_file(const struct tmpdir *dir, const char *name)
{
	struct kar_arena arena = { 0 };
	char *path = tmpdir_join(dir, name);
	char *text = kar_read_file(&arena, path, 1 << 20, false, NULL, NULL);
	char *copy = kar_xstrdup(text ? text : "(no such file)");

	kar_arena_release(&arena);
	free(path);
	return copy;
}

#endif
