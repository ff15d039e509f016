/* credential_files: rotation of token, CA, certificate and key files, with the clock in our hands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/credential_files.h"
#include "common/loop/clock.h"
#include "pem_samples.h"
#include "tmpdir.h"

enum {
	TOKEN_PERIOD = 60000,
	TLS_PERIOD = 300000,
	SETTLE = 2000,
	OLD = 60,  /* seconds: a settled file */
	FRESH = 0, /* one that was written this moment */
};

struct files {
	struct tmpdir dir;
	struct kar_kubeconfig config;
	struct kar_credfiles files;
};

static void files_init(struct files *f)
{
	memset(f, 0, sizeof(*f));
	tmpdir_init(&f->dir);
	f->config.token_file = tmpdir_join(&f->dir, "token");
	f->config.ca_file = tmpdir_join(&f->dir, "ca");
	f->config.cert_file = tmpdir_join(&f->dir, "cert");
	f->config.key_file = tmpdir_join(&f->dir, "key");
	tmpdir_write(&f->dir, "token", "first\n", OLD);
	tmpdir_write(&f->dir, "ca", CERT_PEM, OLD);
	tmpdir_write(&f->dir, "cert", CERT_PEM, OLD);
	tmpdir_write(&f->dir, "key", KEY_PEM, OLD);
	kar_credfiles_init(&f->files, &f->config, TOKEN_PERIOD, TLS_PERIOD, SETTLE);
	assert_true(kar_credfiles_refresh(&f->files, 0, kar_clock_wall(), true));
	assert_null(kar_credfiles_error(&f->files));
}

static void files_release(struct files *f)
{
	kar_credfiles_release(&f->files);
	kar_cleanup_free(&f->config.token_file);
	kar_cleanup_free(&f->config.ca_file);
	kar_cleanup_free(&f->config.cert_file);
	kar_cleanup_free(&f->config.key_file);
	tmpdir_release(&f->dir);
}

static bool refresh_at(struct files *f, kar_time mono)
{
	return kar_credfiles_refresh(&f->files, mono, kar_clock_wall(), false);
}

static const char *text_of(const struct files *f, enum kar_credfile id)
{
	return f->files.files[id].text;
}

static void token_is_read_again_after_its_period(void **state KAR_UNUSED)
{
	struct files f;

	files_init(&f);
	assert_string_equal(text_of(&f, KAR_CREDFILE_TOKEN), "first");
	tmpdir_write(&f.dir, "token", " second \n", OLD);
	assert_false(refresh_at(&f, TOKEN_PERIOD - 1));
	assert_string_equal(text_of(&f, KAR_CREDFILE_TOKEN), "first");
	assert_true(refresh_at(&f, TOKEN_PERIOD));
	assert_string_equal(text_of(&f, KAR_CREDFILE_TOKEN), "second");
	assert_false(refresh_at(&f, 2 * TOKEN_PERIOD)); /* the same content is no change */
	files_release(&f);
}

struct bad_row {
	const char *name;
	const char *text; /* NULL: the file is missing */
	int age;
	const char *error; /* NULL: none, it is only too early */
};

static const struct bad_row bad_rows[] = {
	{ "empty", "", OLD, "token: $DIR/token is empty" },
	{ "only_a_line_break", "\n", OLD, "token: $DIR/token is empty" },
	{ "missing", NULL, OLD, "token: cannot read $DIR/token: No such file or directory" },
	{ "two_words", "half s3cret", OLD,
		"token: $DIR/token contains white space, control or non-ASCII characters; a token is one word" },
	{ "written_this_moment", "hal", FRESH, NULL },
};

static void bad_token_file_keeps_the_old_token(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(bad_rows); i++) {
		const struct bad_row *r = &bad_rows[i];
		const struct kar_err *err;
		struct files f;
		char *got;

		files_init(&f);
		if (r->text)
			tmpdir_write(&f.dir, "token", r->text, r->age);
		else
			remove(f.config.token_file);
		if (refresh_at(&f, TOKEN_PERIOD) || strcmp(text_of(&f, KAR_CREDFILE_TOKEN), "first") != 0)
			fail_msg("%s: adopted \"%s\"", r->name, text_of(&f, KAR_CREDFILE_TOKEN));
		err = kar_credfiles_error(&f.files);
		got = replace_all(err ? err->msg : "", f.dir.path, "$DIR");
		if (strcmp(got, r->error ? r->error : "") != 0)
			fail_msg("%s: error \"%s\"", r->name, got);
		free(got);
		tmpdir_write(&f.dir, "token", "second", OLD);
		if (!refresh_at(&f, 2 * TOKEN_PERIOD) || kar_credfiles_error(&f.files))
			fail_msg("%s: not healed by a good file", r->name);
		files_release(&f);
	}
}

static void fresh_file_is_looked_at_again_soon_or_by_force(void **state KAR_UNUSED)
{
	struct files f;

	files_init(&f);
	tmpdir_write(&f.dir, "token", "second", FRESH);
	assert_false(refresh_at(&f, TOKEN_PERIOD));
	tmpdir_write(&f.dir, "token", "second", OLD); /* it has settled */
	assert_false(refresh_at(&f, TOKEN_PERIOD + SETTLE - 1));
	assert_true(refresh_at(&f, TOKEN_PERIOD + SETTLE));
	tmpdir_write(&f.dir, "token", "third", FRESH);
	assert_true(kar_credfiles_refresh(&f.files, TOKEN_PERIOD + SETTLE, kar_clock_wall(), true));
	assert_string_equal(text_of(&f, KAR_CREDFILE_TOKEN), "third");
	tmpdir_write(&f.dir, "token", "fourth",
		-3600); /* its writer's clock is wrong: that must not block it */
	assert_true(refresh_at(&f, 3 * TOKEN_PERIOD));
	files_release(&f);
}

/* As the kubelet does it: token -> ..data/token, ..data -> a folder, replaced by rename. */
static void swapped_link_is_followed(void **state KAR_UNUSED)
{
	struct files f;
	char *data, *next;

	files_init(&f);
	data = tmpdir_join(&f.dir, "..data");
	next = tmpdir_join(&f.dir, "..data_tmp");
	tmpdir_write(&f.dir, "v1/token", "from-v1", OLD);
	tmpdir_write(&f.dir, "v2/token", "from-v2", OLD);
	assert_int_equal(symlink("v1", data), 0);
	remove(f.config.token_file);
	assert_int_equal(symlink("..data/token", f.config.token_file), 0);
	assert_true(refresh_at(&f, TOKEN_PERIOD));
	assert_string_equal(text_of(&f, KAR_CREDFILE_TOKEN), "from-v1");
	assert_int_equal(symlink("v2", next), 0);
	assert_int_equal(rename(next, data), 0);
	assert_true(refresh_at(&f, 2 * TOKEN_PERIOD));
	assert_string_equal(text_of(&f, KAR_CREDFILE_TOKEN), "from-v2");
	free(data);
	free(next);
	files_release(&f);
}

static void certificate_and_key_change_together(void **state KAR_UNUSED)
{
	struct files f;

	files_init(&f);
	tmpdir_write(&f.dir, "cert", CERT2_PEM, OLD);
	tmpdir_write(&f.dir, "key", "-----BEGIN PRIVATE KEY-----\nMAM", OLD);
	tmpdir_write(&f.dir, "ca", CERT2_PEM, OLD);
	assert_false(refresh_at(&f, TLS_PERIOD - 1));
	assert_true(refresh_at(&f, TLS_PERIOD)); /* the CA: it does not wait for the key */
	assert_string_equal(text_of(&f, KAR_CREDFILE_CA), CERT2_PEM);
	assert_string_equal(text_of(&f, KAR_CREDFILE_CERT), CERT_PEM);
	assert_string_equal(text_of(&f, KAR_CREDFILE_KEY), KEY_PEM);
	assert_non_null(strstr(kar_credfiles_error(&f.files)->msg, "client key: "));

	tmpdir_write(&f.dir, "key", KEY2_PEM, FRESH);
	assert_false(
		refresh_at(&f, 2 * TLS_PERIOD)); /* the key may still be written: the certificate waits too */
	assert_string_equal(text_of(&f, KAR_CREDFILE_CERT), CERT_PEM);
	tmpdir_write(&f.dir, "key", KEY2_PEM, OLD);
	assert_true(refresh_at(&f, 2 * TLS_PERIOD + SETTLE));
	assert_string_equal(text_of(&f, KAR_CREDFILE_CERT), CERT2_PEM);
	assert_string_equal(text_of(&f, KAR_CREDFILE_KEY), KEY2_PEM);
	files_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(token_is_read_again_after_its_period),
		cmocka_unit_test(bad_token_file_keeps_the_old_token),
		cmocka_unit_test(fresh_file_is_looked_at_again_soon_or_by_force),
		cmocka_unit_test(swapped_link_is_followed),
		cmocka_unit_test(certificate_and_key_change_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
