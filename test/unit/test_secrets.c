/*
 * No memory that is given back to malloc() still holds a token, a password or a key. The test is linked with --wrap=free and
 * --wrap=realloc, so that it sees each block of ours before it goes.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/kube/credential_files.h"
#include "credential_fixture.h"
#include "tmpdir.h"

#define SECRET "Zm9yYmlkZGVu"           /* what all secrets here have in common */
#define BASIC "dXNlcjpabTl5WW1sa1pHVnU" /* base64 of user:Zm9yYmlkZGVu, without the last bits */

static size_t found, seen;

void __real_free(void *p);
void *__real_realloc(void *p, size_t size);
void __wrap_free(void *p);
void *__wrap_realloc(void *p, size_t size);

static void look_into(const void *p)
{
	size_t n = p ? malloc_usable_size((void *)(uintptr_t)p) : 0;

	seen += n;
	found += n && (memmem(p, n, SECRET, sizeof(SECRET) - 1) || memmem(p, n, BASIC, sizeof(BASIC) - 1));
}

void __wrap_free(void *p)
{
	look_into(p);
	__real_free(p);
}

void *__wrap_realloc(void *p, size_t size)
{
	look_into(p); /* it may move, and leaves what was there */
	return __real_realloc(p, size);
}

static int begin(void **state KAR_UNUSED)
{
	found = seen = 0;
	return 0;
}

static void nothing_was_found(void)
{
	assert_true(seen > 0);
	assert_int_equal(found, 0);
}

static void the_test_would_find_it(void **state KAR_UNUSED)
{
	free(kar_xstrdup("a " SECRET));
	assert_int_equal(found, 1);
	free(kar_xrealloc(kar_xstrdup(SECRET), 100000, 1));
	assert_in_range(found, 2, 3);
}

static void buffers_and_arenas(void **state KAR_UNUSED)
{
	struct kar_buf b = { .secret = true };
	struct kar_arena a = { 0 };

	for (int i = 0; i < 1000; i++) {
		kar_buf_puts(&b, SECRET);
		assert_string_equal(kar_arena_printf(&a, "%s", SECRET), SECRET);
	}
	assert_int_equal(b.n, 1000 * strlen(SECRET));
	assert_memory_equal(b.p, SECRET SECRET, 2 * strlen(SECRET));
	kar_buf_release(&b);
	assert_true(b.secret);
	kar_arena_wipe(&a);
	kar_wipe_free(kar_xstrdup(SECRET));
	kar_wipe_free(NULL);
	nothing_was_found();
}

static void rotated_files(void **state KAR_UNUSED)
{
	struct kar_credfiles files;
	struct kar_kubeconfig config = { 0 };
	struct tmpdir dir;
	char *path;

	tmpdir_init(&dir);
	path = tmpdir_join(&dir, "token");
	config.token_file = path;
	kar_credfiles_init(&files, &config, 1000, 1000, 0);
	for (int i = 0; i < 3; i++) {
		char token[64];

		snprintf(token, sizeof(token), SECRET "-%d\n", i);
		tmpdir_write(&dir, "token", token, 60);
		assert_true(kar_credfiles_refresh(&files, i, 0, true));
	}
	assert_string_equal(files.files[KAR_CREDFILE_TOKEN].text, SECRET "-2");
	kar_credfiles_release(&files);
	free(path);
	tmpdir_release(&dir);
	nothing_was_found();
}

static void authorizations(void **state KAR_UNUSED)
{
	static const struct {
		const char *name;
		struct kar_kubeconfig config;
		const char *want;
	} rows[] = {
		{ "token", { .token = SECRET }, "Bearer " SECRET },
		{ "password", { .username = "user", .password = SECRET }, "Basic dXNlcjpabTl5WW1sa1pHVnU=" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_loop *loop = kar_loop_new();
		struct kar_err err = { 0 };
		struct kar_credential *c = kar_credential_new(loop, &rows[i].config, &err);

		assert_non_null(c);
		assert_string_equal(acquire_at_once(c, loop).authorization, rows[i].want);
		kar_credential_free(c);
		kar_loop_free(loop);
		if (found)
			fail_msg("%s", rows[i].name);
	}
	nothing_was_found();
}

static void plugins(void **state KAR_UNUSED)
{
	struct kar_loop *loop = kar_loop_new();
	/* The secret is put together by the script: the script itself is none. */
	const char *args[] = { "-c",
		"echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
		"\"ExecCredential\",\"status\":{\"token\":\"Zm9yYm''lkZGVu\"}}'" };
	struct kar_exec_config exec = { .command = "/bin/sh",
		.args = args,
		.n_args = KAR_LEN(args),
		.api_version = "client.authentication.k8s.io/v1" };
	const struct kar_kubeconfig config = { .exec = &exec };
	struct kar_err err = { 0 };
	struct kar_credential *c = kar_credential_new(loop, &config, &err);

	assert_non_null(c);
	assert_string_equal(acquire(c, loop).authorization, "Bearer " SECRET);
	kar_credential_free(c);
	kar_loop_free(loop);
	nothing_was_found();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_test_would_find_it, begin),
		cmocka_unit_test_setup(buffers_and_arenas, begin),
		cmocka_unit_test_setup(rotated_files, begin),
		cmocka_unit_test_setup(authorizations, begin),
		cmocka_unit_test_setup(plugins, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
