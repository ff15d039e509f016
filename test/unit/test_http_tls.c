/*
 * TLS and HTTP/2 of http.c against nghttpd, with certificates made by openssl(1). Skipped where those are
 * missing.
 */
#include "common/base/buf.h"
#include "common/net/http.h"
#include "test/fixture/connections.h"
#include "test/unit/http_site.h"

struct burst;

struct result {
	struct burst *burst; /* that it is one of, or NULL */
	int dones, status;
	bool ok, http2;
	struct kar_err err;
	size_t bytes;
};

static void burst_on_done(struct result *r);

static void on_head(void *arg, const struct kar_http_head *head)
{
	struct result *r = arg;

	r->status = head->status;
	r->http2 = head->http2;
}

static int on_data(void *arg, const char *bytes KAR_UNUSED, size_t n)
{
	((struct result *)arg)->bytes += n;
	return 0;
}

static void on_done(void *arg, const struct kar_err *err)
{
	struct result *r = arg;

	r->dones++;
	r->ok = !err;
	if (err)
		r->err = *err;
	if (r->burst)
		burst_on_done(r);
}

static bool is_done(void *arg)
{
	return ((struct result *)arg)->dones > 0;
}

static struct kar_http_request *start(struct kar_http *h, struct result *r, const char *method,
	const struct kar_tls *tls, const char *body, size_t n)
{
	struct kar_http_call call = { .method = method,
		.url = site.url,
		.body = body,
		.body_n = n,
		.tls = tls,
		.on_head = on_head,
		.on_data = on_data,
		.on_done = on_done,
		.arg = r };

	return kar_http_start(h, &call);
}

static void fetch(struct kar_loop *l, struct kar_http *h, struct result *r, const char *method,
	const struct kar_tls *tls)
{
	const char *body = strcmp(method, "GET") == 0 ? NULL : "{}";

	*r = (struct result){ 0 };
	(void)!start(h, r, method, tls, body, body ? 2 : 0);
	wait_until(l, is_done, r);
}

/* For a test that needs the site: skips it where there is none. */
static struct kar_loop *new_loop(void)
{
	if (!site.pid)
		skip();
	return kar_loop_new();
}

static struct kar_http *new_pool(struct kar_loop *l, bool http1_only)
{
	struct kar_http_options o = { .http1_only = http1_only };

	return kar_http_new(l, &o);
}

/* --- whom it trusts --- */

static void rows_of_trust(void **state KAR_UNUSED)
{
	const struct {
		const char *name;
		struct kar_tls tls;
		bool expect_ok;
	} rows[] = {
		{ "given_ca_and_name", { .ca_pem = site.cert, .server_name = "kar.test" }, true },
		{ "certificate_is_for_another_name", { .ca_pem = site.cert }, false },
		{ "other_ca", { .ca_pem = site.other_cert, .server_name = "kar.test" }, false },
		{ "only_the_systems_cas", { .server_name = "kar.test" }, false },
		{ "verification_is_switched_off", { .insecure_skip_verify = true }, true },
		{ "client_certificate_without_its_key",
			{ .ca_pem = site.cert,
				.server_name = "kar.test",
				.cert_pem = site.other_cert,
				.key_pem = site.key },
			false },
		{ "client_certificate",
			{ .ca_pem = site.cert,
				.server_name = "kar.test",
				.cert_pem = site.cert,
				.key_pem = site.key },
			true },
		{ "ca_that_is_no_pem", { .ca_pem = "nonsense", .server_name = "kar.test" }, false },
	};
	struct kar_loop *l = new_loop();
	int failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kar_http *h = new_pool(l, false);
		struct result r;

		/* A write that TLS kept from being sent was surely not executed. */
		fetch(l, h, &r, "POST", &rows[i].tls);
		if (r.ok != rows[i].expect_ok || (r.ok && !r.http2) ||
			(!r.ok && (r.err.what != KAR_RETRY || r.err.cause != KAR_CAUSE_CONNECTION))) {
			print_error("%s: %s, http2 %d, status %d (%s)\n", rows[i].name,
				kar_err_class_name(r.err.what), r.http2, r.status, r.err.msg);
			failed++;
		}
		kar_http_free(h);
	}
	kar_loop_free(l);
	assert_int_equal(failed, 0);
}

/* A connection that was verified with one CA must not serve a request that names another. */
static void when_the_ca_changes_then_the_old_connection_is_not_used(void **state KAR_UNUSED)
{
	struct kar_tls good = { .ca_pem = site.cert, .server_name = "kar.test" };
	struct kar_tls bad = { .ca_pem = site.other_cert, .server_name = "kar.test" };
	struct kar_loop *l = new_loop();
	struct kar_http *h = new_pool(l, false);
	struct result r;

	fetch(l, h, &r, "GET", &good);
	assert_true(r.ok);
	fetch(l, h, &r, "GET", &bad);
	assert_false(r.ok);
	fetch(l, h, &r, "GET", &good);
	assert_true(r.ok);
	kar_http_free(h);
	kar_loop_free(l);
}

/* --- HTTP/2 --- */

/* The server speaks HTTP/2 only: whoever is not to negotiate it gets no answer. */
static void when_http1_is_forced_then_http2_is_not_negotiated(void **state KAR_UNUSED)
{
	struct kar_tls tls = { .ca_pem = site.cert, .server_name = "kar.test" };
	struct kar_loop *l = new_loop();
	struct kar_http *h = new_pool(l, true);
	struct result r;

	fetch(l, h, &r, "GET", &tls);
	assert_false(r.ok || r.http2);
	assert_int_equal(r.err.what, KAR_RETRY);
	kar_http_free(h);
	kar_loop_free(l);
}

static bool all_done(void *arg)
{
	return kar_http_in_flight(arg) == 0;
}

static void when_many_streams_share_a_connection_then_handles_can_be_reused(void **state KAR_UNUSED)
{
	enum { ROUNDS = 3, AT_ONCE = 50 };
	static struct result r[AT_ONCE];
	struct kar_tls tls = { .ca_pem = site.cert, .server_name = "kar.test" };
	struct kar_loop *l = new_loop();
	struct kar_http *h = new_pool(l, false);

	for (int round = 0; round < ROUNDS; round++) {
		memset(r, 0, sizeof(r));
		for (int i = 0; i < AT_ONCE; i++)
			(void)!start(h, &r[i], i % 2 ? "GET" : "POST", &tls, "{}", i % 2 ? 0 : 2);
		wait_until(l, all_done, h);
		for (int i = 0; i < AT_ONCE; i++) {
			if (!r[i].ok || !r[i].http2)
				print_error("round %d, request %d: %s\n", round, i, r[i].err.msg);
			assert_true(r[i].ok && r[i].http2 && r[i].status == 200);
		}
	}
	kar_http_free(h);
	kar_loop_free(l);
}

static void when_connections_are_not_shared_then_each_request_has_one_that_is_kept(void **state KAR_UNUSED)
{
	enum { ROUNDS = 3, AT_ONCE = 4 };
	struct kar_tls tls = { .ca_pem = site.cert, .server_name = "kar.test" };
	struct kar_http_options own = { .own_connections = true };
	struct kar_loop *l = new_loop();
	struct kar_http *h = kar_http_new(l, &own);

	for (int round = 0; round < ROUNDS; round++) {
		struct result r[AT_ONCE] = { 0 };

		for (int i = 0; i < AT_ONCE; i++)
			(void)!start(h, &r[i], "GET", &tls, NULL, 0);
		for (int i = 0; i < AT_ONCE; i++) {
			wait_until(l, is_done, &r[i]);
			assert_true(r[i].ok && r[i].http2);
		}
		assert_int_equal(connections_to(site.port), AT_ONCE);
	}
	kar_http_free(h);
	kar_loop_free(l);
}

/* Each answer starts another request, and the last one stops the loop: no timer wakes it up in between. */
struct burst {
	struct kar_loop *loop;
	struct kar_http *http;
	const struct kar_tls *tls;
	int started, ok;
	int64_t gathered_before; /* the requests go on until events have gathered, which they do not on a machine that is late anyway */
	bool too_late;
};

enum { BURST = 400, BURST_AT_ONCE = 50 };

static void start_another(struct result *r)
{
	struct burst *b = r->burst;
	bool write = b->started++ % 2;

	(void)!start(b->http, r, write ? "POST" : "GET", b->tls, "{}", write ? 2 : 0);
}

static void burst_on_done(struct result *r)
{
	struct burst *b = r->burst;

	b->ok += r->ok && r->http2 && r->status == 200;
	if (b->started < BURST || wait_gathered_us <= b->gathered_before)
		start_another(r);
	else if (b->ok == b->started)
		kar_loop_stop(b->loop);
}

static void burst_too_late(void *arg)
{
	struct burst *b = arg;

	b->too_late = true;
	kar_loop_stop(b->loop);
}

static void when_events_gather_then_a_burst_of_streams_is_answered(void **state KAR_UNUSED)
{
	static struct result r[BURST_AT_ONCE];
	struct kar_tls tls = { .ca_pem = site.cert, .server_name = "kar.test" };
	struct burst b = { .loop = new_loop(), .tls = &tls, .gathered_before = wait_gathered_us };
	struct kar_timer *deadline = kar_timer_new(b.loop, burst_too_late, &b);

	b.http = new_pool(b.loop, false);
	kar_timer_start(deadline, 10 * KAR_SECOND);
	for (int i = 0; i < BURST_AT_ONCE; i++) {
		r[i] = (struct result){ .burst = &b };
		start_another(&r[i]);
	}
	kar_loop_run(b.loop);
	if (b.too_late)
		print_error("%d of %d, gathered for %lld us\n", b.ok, b.started, (long long)wait_gathered_us);
	kar_timer_free(deadline);
	kar_http_free(b.http);
	kar_loop_free(b.loop);
	if (b.too_late && b.ok >= BURST)
		skip(); /* all were answered, and the machine was late all the time */
	assert_false(b.too_late);
}

/*
 * The server stands still: the upload fills the HTTP/2 window, and then there is nothing to do but to
 * sleep.
 */
static void when_the_window_of_an_upload_is_full_then_the_loop_does_not_spin(void **state KAR_UNUSED)
{
	enum { LARGE = 1 << 20, QUIET_MS = 100, TURNS_MAX = 3 * (QUIET_MS / 5) * 5 };
	struct kar_tls tls = { .ca_pem = site.cert, .server_name = "kar.test" };
	struct kar_loop *l = new_loop();
	struct kar_http *h = new_pool(l, false);
	char *body = kar_xcalloc(1, LARGE);
	struct result r;
	unsigned turns;

	fetch(l, h, &r, "GET", &tls);
	kill(site.pid, SIGSTOP);
	r = (struct result){ 0 };
	(void)!start(h, &r, "POST", &tls, body, LARGE);
	wait_for_ms(l, 50);
	turns = wait_for_ms(l, QUIET_MS);
	kill(site.pid, SIGCONT);
	wait_until(l, is_done, &r);
	if (turns > TURNS_MAX)
		print_error("%u turns in %d ms\n", turns, QUIET_MS);
	assert_in_range(turns, 1, TURNS_MAX);
	assert_true(r.ok && r.status == 200);
	free(body);
	kar_http_free(h);
	kar_loop_free(l);
}

static void when_the_server_dies_after_a_post_then_unknown(void **state KAR_UNUSED)
{
	struct kar_tls tls = { .ca_pem = site.cert, .server_name = "kar.test" };
	struct kar_loop *l = new_loop();
	struct kar_http *h = new_pool(l, false);
	struct result r;

	fetch(l, h, &r, "GET", &tls);
	kill(site.pid, SIGSTOP);
	r = (struct result){ 0 };
	(void)!start(h, &r, "POST", &tls, "{}", 2);
	wait_for_ms(l,
		20); /* it is in the server's socket buffer now, and nobody can know whether it was read */
	kill(site.pid, SIGKILL);
	waitpid(site.pid, NULL, 0);
	site.pid = 0;
	wait_until(l, is_done, &r);
	assert_false(r.ok);
	assert_int_equal(r.err.what, KAR_UNKNOWN);
	kar_http_free(h);
	kar_loop_free(l);
}

static int set_up(void **state KAR_UNUSED)
{
	open_site();
	return kar_http_global_init(NULL);
}

static int tear_down(void **state KAR_UNUSED)
{
	kar_http_global_cleanup();
	close_site();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_trust),
		cmocka_unit_test(when_the_ca_changes_then_the_old_connection_is_not_used),
		cmocka_unit_test(when_http1_is_forced_then_http2_is_not_negotiated),
		cmocka_unit_test(when_connections_are_not_shared_then_each_request_has_one_that_is_kept),
		cmocka_unit_test(when_many_streams_share_a_connection_then_handles_can_be_reused),
		cmocka_unit_test(when_events_gather_then_a_burst_of_streams_is_answered),
		cmocka_unit_test(when_the_window_of_an_upload_is_full_then_the_loop_does_not_spin),
		cmocka_unit_test(
			when_the_server_dies_after_a_post_then_unknown), /* last: there is no server afterwards */
	};

	return cmocka_run_group_tests_name("http_tls", tests, set_up, tear_down);
}
