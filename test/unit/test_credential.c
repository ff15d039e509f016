/* credential: settings become headers and TLS parameters; what has expired; a refused token file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "credential_fixture.h"
#include "pem_samples.h"
#include "tmpdir.h"

enum {
	OLD = 60,  /* seconds: a settled file */
	FRESH = 0, /* one that was written this moment */
};

/* {"exp":4922996645}, 2126-01-02T03:04:05Z; {"exp":1577934245}, 2020-01-02T03:04:05Z */
#define JWT_VALID "eyJhbGciOiJub25lIn0.eyJleHAiOjQ5MjI5OTY2NDV9.c2ln"
#define JWT_EXPIRED "eyJhbGciOiJub25lIn0.eyJleHAiOjE1Nzc5MzQyNDV9.c2ln"
enum { NO_EXPIRY = -1 };
static const kar_time in_2126 = 4922996645000;

struct static_row {
	const char *name;
	struct kar_kubeconfig config;
	const char *authorization;
	kar_time expires;  /* NO_EXPIRY: unknown */
	const char *error; /* of the start; NULL: none */
};

static const struct static_row static_rows[] = {
	{ "nothing_then_anonymous", { .server = "http://x" }, "none", NO_EXPIRY },
	{ "token_then_bearer", { .token = "t0k" }, "Bearer t0k", NO_EXPIRY },
	{ "password_then_basic", { .username = "Aladdin", .password = "open sesame" },
		"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", NO_EXPIRY },
	{ "jwt_then_its_expiry", { .token = JWT_VALID }, "Bearer " JWT_VALID, in_2126 },
	{ "certificate_then_its_expiry", { .cert_pem = VALID_PEM, .key_pem = KEY_PEM }, "none", in_2126 },
	{ "dots_but_no_jwt_then_no_expiry", { .token = "a.b.c" }, "Bearer a.b.c", NO_EXPIRY },
	{ "expired_jwt_then_error", { .source = "f, context dev", .token = JWT_EXPIRED },
		.error =
			"f, context dev: the token expired at 2020-01-02T03:04:05Z; renew it, or check the clock" },
	{ "expired_certificate_then_error",
		{ .source = "f, context dev",
			.cert_pem = EXPIRED_PEM,
			.key_pem = KEY_PEM,
			.token = JWT_VALID },
		.error =
			"f, context dev: the client certificate expired at 2020-01-02T03:04:05Z; renew it, or check the "
			"clock" },
	{ "missing_token_file_then_error", { .source = "in-cluster", .token_file = "/nonexistent/token" },
		.error = "in-cluster: token: cannot read /nonexistent/token: No such file or directory" },
	{ "missing_ca_file_then_error", { .source = "f, context dev", .ca_file = "/nonexistent/ca" },
		.error =
			"f, context dev: certificate authority: cannot read /nonexistent/ca: No such file or directory" },
	{ "ca_file_is_no_pem_then_error", { .source = "f, context dev", .ca_file = "/proc/self/comm" },
		.error =
			"f, context dev: certificate authority: /proc/self/comm holds no certificate in PEM form "
			"(-----BEGIN ...)" },
};

static void settings_become_headers(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(static_rows); i++) {
		const struct static_row *r = &static_rows[i];
		struct kar_loop *loop = kar_loop_new();
		struct kar_err err = { .msg = "" };
		struct kar_credential *c = kar_credential_new(loop, &r->config, &err);

		if (strcmp(err.msg, r->error ? r->error : "") != 0 || !c != !!r->error)
			fail_msg("%s: \"%s\"", r->name, err.msg);
		if (c) {
			struct answer a = acquire_at_once(c, loop);
			kar_time expires = kar_credential_expiry(c);

			if (strcmp(a.authorization, r->authorization) != 0)
				fail_msg("%s: got %s", r->name, a.authorization);
			if (expires != (r->expires == NO_EXPIRY ? KAR_NEVER : r->expires))
				fail_msg("%s: expires %lld", r->name, (long long)expires);
		}
		kar_credential_free(c);
		kar_loop_free(loop);
	}
}

static void check_tls(void *arg, const struct kar_auth *auth, const struct kar_err *err)
{
	const struct kar_kubeconfig *k = arg;

	assert_null(err);
	assert_string_equal(auth->tls.ca_pem, CERT2_PEM);
	assert_string_equal(auth->tls.cert_pem, CERT_PEM);
	assert_string_equal(auth->tls.key_pem, KEY_PEM);
	assert_string_equal(auth->tls.server_name, k->tls_server_name);
	assert_true(auth->tls.insecure_skip_verify);
}

static void tls_settings_arrive(void **state KAR_UNUSED)
{
	struct kar_kubeconfig k = { .ca_pem = CERT2_PEM,
		.cert_pem = CERT_PEM,
		.tls_server_name = "n",
		.insecure_skip_tls_verify = true };
	struct kar_loop *loop = kar_loop_new();
	struct kar_credential *c;
	struct kar_err err;
	struct tmpdir dir;

	tmpdir_init(&dir);
	tmpdir_write(&dir, "key", KEY_PEM, OLD);
	k.key_file = tmpdir_join(&dir, "key");
	c = kar_credential_new(loop, &k, &err);
	if (!c)
		fail_msg("%s", err.msg);
	kar_credential_acquire(c, check_tls, &k);
	kar_credential_free(c);
	kar_loop_free(loop);
	kar_cleanup_free(&k.key_file);
	tmpdir_release(&dir);
}

static void refused_token_file_is_read_at_once(void **state KAR_UNUSED)
{
	struct kar_kubeconfig k = { 0 };
	struct kar_loop *loop = kar_loop_new();
	struct kar_credential *c;
	struct answer a;
	struct kar_err err;
	struct tmpdir dir;

	tmpdir_init(&dir);
	tmpdir_write(&dir, "token", "first", OLD);
	k.token_file = tmpdir_join(&dir, "token");
	c = kar_credential_new(loop, &k, &err);
	assert_non_null(c);
	a = acquire_at_once(c, loop);
	assert_string_equal(a.authorization, "Bearer first");
	tmpdir_write(&dir, "token", "second", FRESH);
	a = acquire_at_once(c, loop);
	assert_string_equal(a.authorization, "Bearer first"); /* its time has not come */
	kar_credential_rejected(c, a.generation + 1);         /* not what we gave out */
	a = acquire_at_once(c, loop);
	assert_string_equal(a.authorization, "Bearer first");
	kar_credential_rejected(c, a.generation);
	a = acquire_at_once(c, loop);
	assert_string_equal(a.authorization, "Bearer second");
	assert_int_equal(a.generation, 2);

	/* Lost altogether: the last one stays, and the answer says why. */
	remove(k.token_file);
	kar_credential_free(c);
	tmpdir_write(&dir, "token", "third", OLD);
	c = kar_credential_new_with(loop, &k, &(struct kar_credential_options){ .token_period = 1 }, &err);
	assert_non_null(c);
	remove(k.token_file);
	run_for(loop, 5);
	a = acquire_at_once(c, loop);
	assert_string_equal(a.authorization, "Bearer third");
	assert_non_null(strstr(a.problem, "/token: No such file or directory"));
	kar_credential_free(c);
	kar_loop_free(loop);
	kar_cleanup_free(&k.token_file);
	tmpdir_release(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_become_headers),
		cmocka_unit_test(tls_settings_arrive),
		cmocka_unit_test(refused_token_file_is_read_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
