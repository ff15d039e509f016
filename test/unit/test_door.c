/* An address is opened when it can be, and shows the certificate that its files have now. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/string.h>
#include <cmocka.h>

#include "common/base/log.h"
#include "common/net/cert.h"
#include "common/net/http.h"
#include "common/net/listen.h"
#include "controllers/process/door.h"
#include "test/fixture/curl.h"
#include "test/fixture/wait.h"

enum { SOON = 20 };

static void on_request(void *arg KAR_UNUSED, struct kar_exchange *x,
	const struct kar_server_request *rq KAR_UNUSED)
{
	struct kar_buf body = { 0 };

	kar_buf_puts(&body, "hello");
	kar_exchange_answer(x, 200, "text/plain", &body);
}

struct log {
	int listening, troubles, old;
	char trouble[512]; /* the last one */
};

static void on_line(void *arg, const char *line, size_t n KAR_UNUSED)
{
	struct log *l = arg;

	l->listening += strstr(line, "Listening") != NULL;
	l->troubles += line[0] == 'E';
	if (line[0] == 'E')
		strlcpy(l->trouble, line, sizeof(l->trouble));
	l->old += strstr(line, "expires soon") || strstr(line, "has expired");
}

static bool is_open(void *arg)
{
	return kar_door_port(arg) != 0;
}

static void a_taken_port_is_waited_for(void **state KAR_UNUSED)
{
	struct kar_loop *l = kar_loop_new();
	struct kar_listen_address at;
	struct log log = { 0 };
	char address[32];
	int other;

	kar_log_redirect(on_line, &log);
	assert_int_equal(kar_listen_parse("127.0.0.1:0", &at, NULL), 0);
	other = kar_listen_open(&at, NULL);
	snprintf(address, sizeof(address), "127.0.0.1:%d", kar_listen_port(other));

	const struct kar_door_options o = { .what = "test",
		.address = address,
		.on_request = on_request,
		.retry = SOON };
	struct kar_door *d = kar_door_new(l, &o);

	wait_for_ms(l, 5 * SOON);
	assert_int_equal(kar_door_port(d), 0);
	assert_int_equal(log.troubles, 1); /* said once */
	close(other);
	wait_until(l, is_open, d);
	assert_int_equal(log.listening, 1);
	kar_door_free(d);
	kar_loop_free(l);
	kar_log_redirect(NULL, NULL);
}

/* ---- certificates ---- */

struct files {
	char folder[32], cert[64], key[64];
};

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	fclose(f);
}

static void put_cert(const struct files *f, kar_time lifetime, struct kar_cert *out)
{
	struct kar_err err;

	assert_int_equal(kar_cert_make("test", "127.0.0.1", lifetime, out, &err), 0);
	write_file(f->key, out->key);
	write_file(f->cert, out->certificate);
}

struct call {
	struct kar_loop *loop;
	int status;
	bool done;
};

static void on_head(void *arg, const struct kar_http_head *head)
{
	((struct call *)arg)->status = head->status;
}

static void on_done(void *arg, const struct kar_err *err KAR_UNUSED)
{
	((struct call *)arg)->done = true;
}

static bool is_done(void *arg)
{
	return ((struct call *)arg)->done;
}

/* Does a client that trusts nothing but @ca get an answer? A new connection each time. */
static bool trusts(struct kar_loop *l, uint16_t port, const char *ca)
{
	static const char *const none[] = { NULL };
	const struct kar_http_options o = { .user_agent = "test" };
	const struct kar_tls tls = { .ca_pem = ca };
	struct kar_http *client = kar_http_new(l, &o);
	struct call call = { .loop = l };
	char url[64];
	const struct kar_http_request *started;

	snprintf(url, sizeof(url), "https://127.0.0.1:%d/", port);
	started = kar_http_start(client,
		&(const struct kar_http_call){ .method = "GET",
			.url = url,
			.headers = none,
			.tls = &tls,
			.on_head = on_head,
			.on_done = on_done,
			.arg = &call });
	(void)started;
	wait_until(l, is_done, &call);
	kar_http_free(client);
	return call.status == 200;
}

static bool has_reloaded(void *arg)
{
	return ((struct log *)arg)->listening == 2;
}

static bool has_complained(void *arg)
{
	return ((struct log *)arg)->troubles == 2;
}

static void a_certificate_is_read_again(void **state KAR_UNUSED)
{
	struct kar_loop *l = kar_loop_new();
	struct files f = { .folder = "/tmp/kar-test-XXXXXX" };
	struct kar_cert first, second;
	struct log log = { 0 };

	kar_log_redirect(on_line, &log);
	assert_non_null(mkdtemp(f.folder));
	snprintf(f.cert, sizeof(f.cert), "%s/tls.crt", f.folder);
	snprintf(f.key, sizeof(f.key), "%s/tls.key", f.folder);

	const struct kar_door_options o = { .what = "test",
		.address = "127.0.0.1:0",
		.tls = true,
		.cert_file = f.cert,
		.key_file = f.key,
		.on_request = on_request,
		.retry = SOON,
		.reload = SOON };
	struct kar_door *d = kar_door_new(l, &o);

	wait_for_ms(l, 3 * SOON);
	assert_int_equal(log.troubles, 1); /* it is not there yet */
	put_cert(&f, 365LL * KAR_CERT_DAY, &first);
	wait_for_ms(l, 5 * SOON);
	assert_int_equal(log.listening, 1);
	assert_true(trusts(l, kar_door_port(d), first.certificate));

	put_cert(&f, 365LL * KAR_CERT_DAY, &second);
	wait_until(l, has_reloaded, &log);
	assert_true(trusts(l, kar_door_port(d), second.certificate));
	assert_false(trusts(l, kar_door_port(d), first.certificate));

	/* What cannot be used does not replace what can. */
	write_file(f.cert, "no certificate");
	wait_until(l, has_complained, &log);
	assert_true(trusts(l, kar_door_port(d), second.certificate));
	assert_int_equal(log.listening, 2);

	kar_door_free(d);
	kar_cert_release(&first);
	kar_cert_release(&second);
	unlink(f.cert);
	unlink(f.key);
	rmdir(f.folder);
	kar_loop_free(l);
	kar_log_redirect(NULL, NULL);
}

/* With its file and the cause. */
static void a_wrong_certificate_is_named(void **state KAR_UNUSED)
{
	struct kar_cert one, other;
	struct files f = { .folder = "/tmp/kar-test-XXXXXX" };
	struct kar_err err;

	assert_int_equal(kar_cert_make("one", "127.0.0.1", KAR_CERT_DAY, &one, &err), 0);
	assert_int_equal(kar_cert_make("other", "127.0.0.1", KAR_CERT_DAY, &other, &err), 0);
	assert_non_null(mkdtemp(f.folder));
	snprintf(f.cert, sizeof(f.cert), "%s/tls.crt", f.folder);
	snprintf(f.key, sizeof(f.key), "%s/tls.key", f.folder);

	const struct {
		const char *certificate, *key, *want;
	} rows[] = {
		{ "garbage", one.key, "tls.crt: cannot read the certificate: the file has none in PEM form" },
		{ one.key, one.key, "tls.crt: cannot read the certificate: the file has none in PEM form" },
		{ one.certificate, "garbage", "tls.key: cannot read the key: the file has none in PEM form" },
		{ one.certificate, one.certificate,
			"tls.key: cannot read the key: the file has none in PEM form" },
		{ one.certificate, other.key, "tls.key: the key is not the one of the certificate" },
		{ "", "", "tls.crt is empty" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_loop *l = kar_loop_new();
		struct log log = { 0 };
		const struct kar_door_options o = { .what = "test",
			.address = "127.0.0.1:0",
			.tls = true,
			.cert_file = f.cert,
			.key_file = f.key,
			.on_request = on_request };

		kar_log_redirect(on_line, &log);
		write_file(f.cert, rows[i].certificate);
		write_file(f.key, rows[i].key);
		kar_door_free(kar_door_new(l, &o));
		kar_log_redirect(NULL, NULL);
		if (!strstr(log.trouble, rows[i].want))
			fail_msg("%s, want %s", log.trouble, rows[i].want);
		kar_loop_free(l);
	}
	kar_cert_release(&one);
	kar_cert_release(&other);
	unlink(f.cert);
	unlink(f.key);
	rmdir(f.folder);
}

static void the_age_of_a_certificate(void **state KAR_UNUSED)
{
	static const struct kar_cert_validity v = { .from = 1000, .until = 2000 };
	static const struct {
		kar_time now;
		enum kar_cert_age age;
	} rows[] = { { 999, KAR_CERT_TOO_NEW }, { 1000, KAR_CERT_VALID }, { 1900, KAR_CERT_VALID },
		{ 1901, KAR_CERT_OLD }, { 1999, KAR_CERT_OLD }, { 2000, KAR_CERT_EXPIRED } };

	for (size_t i = 0; i < KAR_LEN(rows); i++)
		assert_int_equal(kar_cert_age(&v, rows[i].now), rows[i].age);
}

/* Valid since yesterday and for an hour more: that is the last tenth of its lifetime. */
static void a_made_certificate_is_made_again_before_it_expires(void **state KAR_UNUSED)
{
	struct kar_loop *l = kar_loop_new();
	struct log log = { 0 };
	struct kar_door_options o = { .what = "test",
		.address = "127.0.0.1:0",
		.tls = true,
		.on_request = on_request,
		.reload = SOON };
	struct kar_door *d = kar_door_new(l, &o);

	kar_log_redirect(on_line, &log);
	assert_in_range(kar_door_valid_until(d) - kar_loop_wall(l), 364LL * KAR_CERT_DAY,
		365LL * KAR_CERT_DAY);
	wait_for_ms(l, 5 * SOON);
	assert_int_equal(log.listening, 0); /* it lasts for a year */
	kar_door_free(d);

	o.lifetime = 3600 * KAR_SECOND;
	d = kar_door_new(l, &o);
	wait_until(l, has_reloaded, &log);
	assert_int_equal(log.troubles, 0);
	kar_door_free(d);
	kar_loop_free(l);
	kar_log_redirect(NULL, NULL);
}

static bool has_said_it_twice(void *arg)
{
	return ((struct log *)arg)->old == 2;
}

static void an_old_certificate_in_files_is_reported(void **state KAR_UNUSED)
{
	struct kar_loop *l = kar_loop_new();
	struct files f = { .folder = "/tmp/kar-test-XXXXXX" };
	struct kar_cert old, expired;
	struct log log = { 0 };

	kar_log_redirect(on_line, &log);
	assert_non_null(mkdtemp(f.folder));
	snprintf(f.cert, sizeof(f.cert), "%s/tls.crt", f.folder);
	snprintf(f.key, sizeof(f.key), "%s/tls.key", f.folder);
	put_cert(&f, 3600 * KAR_SECOND, &old);

	const struct kar_door_options o = { .what = "test",
		.address = "127.0.0.1:0",
		.tls = true,
		.cert_file = f.cert,
		.key_file = f.key,
		.on_request = on_request,
		.reload = SOON };
	struct kar_door *d = kar_door_new(l, &o);

	wait_for_ms(l, 5 * SOON);
	assert_int_equal(log.old, 1); /* said once */
	put_cert(&f, -3600 * KAR_SECOND, &expired);
	wait_until(l, has_said_it_twice, &log);
	assert_true(kar_door_valid_until(d) < kar_loop_wall(l));

	kar_door_free(d);
	kar_cert_release(&old);
	kar_cert_release(&expired);
	unlink(f.cert);
	unlink(f.key);
	rmdir(f.folder);
	kar_loop_free(l);
	kar_log_redirect(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_taken_port_is_waited_for),
		cmocka_unit_test(a_certificate_is_read_again),
		cmocka_unit_test(a_wrong_certificate_is_named),
		cmocka_unit_test(the_age_of_a_certificate),
		cmocka_unit_test(a_made_certificate_is_made_again_before_it_expires),
		cmocka_unit_test(an_old_certificate_in_files_is_reported),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, init_curl, cleanup_curl);
}
