/* The HTTP server and the addresses that it listens on: real sockets, raw requests. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "common/net/cert.h"
#include "common/net/http.h"
#include "common/net/listen.h"
#include "common/net/serve.h"
#include "test/fixture/wait.h"

enum {
	PATIENCE = 300,
	CONNECTIONS = 16,
	ANSWER_MAX = 4096,
	CROWD = 300,
	LARGE = 1 << 14,
	HOGS = CONNECTIONS + 64 + 20,
	BUSY = 20 * 1000 /* us of CPU that /busy takes */
};

struct world {
	struct kar_loop *loop;
	int fd;
	uint16_t port;
	struct kar_server *server;
	struct kar_exchange *later; /* asked for /later, not answered yet */
	struct kar_timer *timer;
	int busy; /* requests for /busy */
};

static void answer(struct kar_exchange *x, const struct kar_server_request *rq)
{
	struct kar_buf body = { 0 };

	for (int i = 0; strcmp(rq->path, "/large") == 0 && i < LARGE; i++)
		kar_buf_puts(&body, "0123456789abcdef");
	kar_buf_printf(&body, "%s %s?%s %s %.*s", rq->method, rq->path, rq->query,
		rq->authorization ? rq->authorization : "-", (int)rq->body.n, rq->body.p);
	kar_exchange_answer(x, strcmp(rq->path, "/secret") ? 200 : 401, "text/plain", &body);
}

static void burn(int64_t us)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begun.tv_sec) * 1000000 + (now.tv_nsec - begun.tv_nsec) / 1000 < us);
}

static void on_request(void *arg, struct kar_exchange *x, const struct kar_server_request *rq)
{
	struct world *w = arg;

	if (strcmp(rq->path, "/busy") == 0) {
		burn(BUSY);
		w->busy++;
	}
	if (strcmp(rq->path, "/later")) {
		answer(x, rq);
		return;
	}
	w->later = x;
	kar_timer_start(w->timer, 20);
}

static void on_later(void *arg)
{
	struct world *w = arg;
	struct kar_buf body = { 0 };

	kar_buf_puts(&body, "late");
	kar_exchange_answer(w->later, 200, "text/plain", &body);
	w->later = NULL;
}

static void open_world_with(struct world *w, const struct kar_cert *cert, unsigned share)
{
	struct kar_listen_address at;
	struct kar_err err = { 0 };
	const struct kar_server_options o = { .connections = CONNECTIONS,
		.certificate = cert ? cert->certificate : NULL,
		.key = cert ? cert->key : NULL,
		.patience = PATIENCE,
		.share = share,
		.on_request = on_request,
		.arg = w };

	*w = (struct world){ .loop = kar_loop_new() };
	assert_int_equal(kar_listen_parse("127.0.0.1:0", &at, &err), 0);
	w->fd = kar_listen_open(&at, &err);
	assert_true(w->fd >= 0);
	w->port = kar_listen_port(w->fd);
	w->timer = kar_timer_new(w->loop, on_later, w);
	w->server = kar_server_new(w->loop, w->fd, &o, &err);
	if (!w->server)
		fail_msg("%s", err.msg);
}

static void open_world(struct world *w, const struct kar_cert *cert)
{
	open_world_with(w, cert, 0);
}

static void close_world(struct world *w)
{
	kar_server_free(w->server);
	kar_timer_free(w->timer);
	close(w->fd);
	kar_loop_free(w->loop);
}

/* ---- a client ---- */

struct client {
	int fd;
	size_t n;
	bool ended;
	char got[ANSWER_MAX];
	const char *until; /* the end of the text that is waited for; NULL: the end of the connection */
};

static void client_open(struct client *c, uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	*c = (struct client){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	assert_int_equal(connect(c->fd, (struct sockaddr *)&at, sizeof(at)), 0);
}

static void client_send(const struct client *c, const char *text)
{
	assert_int_equal(send(c->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static bool client_has(void *arg)
{
	struct client *c = arg;
	ssize_t n = recv(c->fd, c->got + c->n, sizeof(c->got) - c->n - 1, MSG_DONTWAIT);

	if (n > 0)
		c->n += (size_t)n;
	c->ended = c->ended || n == 0 || (n < 0 && errno != EAGAIN);
	c->got[c->n] = '\0';
	return c->until ? c->n >= strlen(c->until) && !strcmp(c->got + c->n - strlen(c->until), c->until)
			: c->ended;
}

/* ---- */

static const struct {
	const char *name, *request;
	const char *begins; /* the answer */
	const char *ends;
} rows[] = {
	{ "at_once", "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\n", "GET /livez? - " },
	{ "later", "GET /later HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\n", "\r\n\r\nlate" },
	{ "with_a_query", "GET /livez?verbose&a=b HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\n",
		"GET /livez?verbose&a=b - " },
	{ "with_a_token", "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\n",
		"HTTP/1.1 200 OK\r\n", "GET /? Bearer x " },
	{ "with_a_body", "PUT /v HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n42", "HTTP/1.1 200 OK\r\n",
		"PUT /v? - 42" },
	{ "in_pieces",
		"PUT /v HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n4\r\n1\r\n2\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\n", "PUT /v? - 42" },
	{ "the_secret", "GET /secret HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 401 Unauthorized\r\n",
		"GET /secret? - " },
	{ "two_on_one_connection", "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /later HTTP/1.1\r\nHost: a\r\n\r\n",
		"HTTP/1.1 200 OK\r\n", "\r\n\r\nlate" },
	/* The connection is cut, with or without an answer. */
	{ "no_http", "\x16\x03\x01 hello\r\n\r\n", "", NULL },
	{ "half_a_request", "GET /livez HTTP/1.1\r\nHost:", "", NULL },
	{ "nothing", "", "", NULL },
};

static void requests_are_answered(void **state KAR_UNUSED)
{
	struct world w;

	open_world(&w, NULL);
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct client c;

		client_open(&c, w.port);
		c.until = rows[i].ends;
		client_send(&c, rows[i].request);
		wait_until(w.loop, client_has, &c);
		if (strncmp(c.got, rows[i].begins, strlen(rows[i].begins)))
			fail_msg("%s: got %s", rows[i].name, c.got);
		close(c.fd);
	}
	close_world(&w);
}

static void a_large_body_is_refused(void **state KAR_UNUSED)
{
	struct world w;
	struct client c;
	char body[KAR_SERVE_BODY_MAX + 2];

	memset(body, 'a', sizeof(body) - 1);
	body[sizeof(body) - 1] = '\0';
	open_world(&w, NULL);
	client_open(&c, w.port);
	client_send(&c, "PUT /v HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n");
	client_send(&c, body);
	c.until = "too large\n";
	wait_until(w.loop, client_has, &c);
	assert_memory_equal(c.got, "HTTP/1.1 413 ", 13);
	close(c.fd);
	close_world(&w);
}

/* Whoever only connects is closed in favour of newer ones; one whose request has not been answered is not. */
static void a_crowd_keeps_nobody_out(void **state KAR_UNUSED)
{
	static struct client crowd[CROWD];
	struct world w;
	struct client waits, c;

	open_world(&w, NULL);
	client_open(&waits, w.port);
	client_send(&waits, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
	waits.until = "late";
	for (size_t i = 0; i < CROWD; i++)
		client_open(&crowd[i], w.port);
	client_open(&c, w.port);
	client_send(&c, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
	c.until = "GET /livez? - ";
	wait_until(w.loop, client_has, &c);
	assert_in_range(kar_server_connections(w.server), 1, CONNECTIONS + 64);
	wait_until(w.loop, client_has, &waits);
	wait_until(w.loop, client_has, &crowd[0]);
	close(waits.fd);
	close(c.fd);
	for (size_t i = 0; i < CROWD; i++)
		close(crowd[i].fd);
	close_world(&w);
}

/* Answers that nobody takes hold no connection for long, though they come faster than they go. */
static void unread_answers_keep_nobody_out(void **state KAR_UNUSED)
{
	static struct client hogs[HOGS];
	int small = 4096;
	struct world w;
	struct client c;

	open_world(&w, NULL);
	assert_int_equal(setsockopt(w.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	for (size_t i = 0; i < HOGS; i++) {
		client_open(&hogs[i], w.port);
		client_send(&hogs[i],
			"GET /large HTTP/1.1\r\nHost: a\r\n\r\nGET /large HTTP/1.1\r\nHost: a\r\n\r\n");
	}
	client_open(&c, w.port);
	client_send(&c, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
	c.until = "GET /livez? - ";
	wait_until(w.loop, client_has, &c);
	close(c.fd);
	for (size_t i = 0; i < HOGS; i++)
		close(hogs[i].fd);
	close_world(&w);
}

/* A quarter of a second in one second, and what came at once: strangers do not take the thread from the jobs. */
static void clients_have_their_share_of_the_time(void **state KAR_UNUSED)
{
	enum { CLIENTS = 8, REQUESTS = 10, ALLOWED = 15 /* (50 ms + 1 s / 4) / BUSY */ };
	static struct client all[CLIENTS];
	struct world w;

	open_world_with(&w, NULL, 4);
	for (size_t i = 0; i < CLIENTS; i++) {
		client_open(&all[i], w.port);
		for (int k = 0; k < REQUESTS; k++)
			client_send(&all[i], "GET /busy HTTP/1.1\r\nHost: a\r\n\r\n");
	}
	wait_for_ms(w.loop, 1000);
	assert_in_range(w.busy, 1, ALLOWED + CLIENTS); /* each may be served once more before the pause */
	for (size_t i = 0; i < CLIENTS; i++)
		close(all[i].fd);
	close_world(&w);
}

/* A connection is closed after some requests, so that nobody holds one by asking on and on. */
static void connection_ends_after_some_requests(void **state KAR_UNUSED)
{
	struct world w;
	struct client c;

	open_world(&w, NULL);
	client_open(&c, w.port);
	for (int i = 0; i < 40; i++)
		client_send(&c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
	wait_until(w.loop, client_has, &c);
	assert_non_null(strstr(c.got, "Connection: close"));
	close(c.fd);
	close_world(&w);
}

/* The loop sleeps while nothing comes. */
static void idle_connections_cost_nothing(void **state KAR_UNUSED)
{
	struct world w;
	struct client c;

	open_world(&w, NULL);
	client_open(&c, w.port);
	client_send(&c, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
	c.until = "GET /livez? - ";
	wait_until(w.loop, client_has, &c);
	wait_for_ms(w.loop, 50);
	assert_in_range(wait_for_ms(w.loop, 2 * PATIENCE), 0, 4);
	assert_false(client_has(&c) && c.ended); /* it is kept for the next request */
	close(c.fd);
	close_world(&w);
}

static bool was_asked(void *arg)
{
	return ((struct world *)arg)->later != NULL;
}

/* A retired server still answers; one that is freed closes. Another one goes on at the same socket. */
static void servers_follow_each_other(void **state KAR_UNUSED)
{
	struct world w;
	struct client old, new;
	struct kar_err err = { 0 };

	open_world(&w, NULL);
	client_open(&old, w.port);
	client_send(&old, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
	wait_until(w.loop, was_asked, &w);

	struct kar_server *first = w.server;
	const struct kar_server_options o = { .on_request = on_request, .arg = &w };

	kar_server_retire(first);
	w.server = kar_server_new(w.loop, w.fd, &o, &err);
	assert_non_null(w.server);
	client_open(&new, w.port);
	client_send(&new, "GET /new HTTP/1.1\r\nHost: a\r\n\r\n");
	new.until = "GET /new? - ";
	wait_until(w.loop, client_has, &new);
	old.until = "late";
	wait_until(w.loop, client_has, &old);
	client_send(&old, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
	wait_until(w.loop, was_asked, &w);
	kar_timer_stop(w.timer);
	kar_server_free(first);
	old.until = NULL;
	wait_until(w.loop, client_has, &old);
	close(old.fd);
	close(new.fd);
	close_world(&w);
}

/* ---- TLS ---- */

struct tls_answer {
	int status;
	bool done;
	struct kar_err err;
};

static void on_head(void *arg, const struct kar_http_head *head)
{
	((struct tls_answer *)arg)->status = head->status;
}

static void on_done(void *arg, const struct kar_err *err)
{
	struct tls_answer *a = arg;

	a->done = true;
	if (err)
		a->err = *err;
}

static bool tls_is_done(void *arg)
{
	return ((struct tls_answer *)arg)->done;
}

static void speaks_tls(void **state KAR_UNUSED)
{
	static const char *const none[] = { NULL };
	const struct kar_http_options o = { .user_agent = "test" };
	struct world w;
	struct kar_cert cert = { 0 };
	struct kar_err err = { 0 };
	struct tls_answer a = { 0 };
	char url[64];

	assert_int_equal(kar_http_global_init(&err), 0);
	assert_int_equal(kar_cert_make("kar-controllers", "127.0.0.1", 365LL * KAR_CERT_DAY, &cert, &err), 0);
	open_world(&w, &cert);

	struct kar_http *client = kar_http_new(w.loop, &o);
	const struct kar_tls tls = { .ca_pem = cert.certificate };

	snprintf(url, sizeof(url), "https://127.0.0.1:%d/later", w.port);
	const struct kar_http_request *started = kar_http_start(client,
		&(const struct kar_http_call){ .method = "GET",
			.url = url,
			.headers = none,
			.tls = &tls,
			.on_head = on_head,
			.on_done = on_done,
			.arg = &a });
	(void)started;
	wait_until(w.loop, tls_is_done, &a);
	assert_string_equal(a.err.msg, "");
	assert_int_equal(a.status, 200);
	kar_http_free(client);
	close_world(&w);
	kar_cert_release(&cert);
	kar_http_global_cleanup();
}

/* A TLS handshake that stands still costs next to nothing, and ends with the patience. */
static void half_a_handshake_costs_nothing(void **state KAR_UNUSED)
{
	static const char half[] = { 0x16, 3, 1, 2, 0, 1 };
	struct world w;
	struct kar_cert cert = { 0 };
	struct kar_err err = { 0 };
	struct client c;

	assert_int_equal(kar_cert_make("kar-controllers", "127.0.0.1", 365LL * KAR_CERT_DAY, &cert, &err), 0);
	open_world(&w, &cert);
	client_open(&c, w.port);
	assert_int_equal(send(c.fd, half, sizeof(half), MSG_NOSIGNAL), sizeof(half));
	assert_in_range(wait_for_ms(w.loop, PATIENCE - 50), 1, 40);
	assert_false(client_has(&c));
	wait_until(w.loop, client_has, &c);
	close(c.fd);
	close_world(&w);
	kar_cert_release(&cert);
}

static void a_bad_certificate_is_refused(void **state KAR_UNUSED)
{
	struct kar_loop *l = kar_loop_new();
	const struct kar_server_options o = { .certificate = "no PEM",
		.key = "none",
		.on_request = on_request };
	struct kar_listen_address at;
	struct kar_err err = { 0 };
	int fd;

	assert_int_equal(kar_listen_parse("127.0.0.1:0", &at, &err), 0);
	fd = kar_listen_open(&at, &err);
	assert_null(kar_server_new(l, fd, &o, &err));
	assert_string_equal(err.msg, "the HTTP server does not start: the certificate or its key is refused");
	close(fd);
	kar_loop_free(l);
}

/* ---- addresses ---- */

static const struct {
	const char *text, *want; /* want: any, loopback, address, or the error */
} addresses[] = {
	{ ":8443", "any" },
	{ "127.0.0.1:1", "loopback" },
	{ "127.9.9.9:1", "loopback" },
	{ "localhost:65535", "loopback" },
	{ "[::1]:0", "loopback" },
	{ "10.0.0.1:80", "address" },
	{ "[fe80::1]:80", "address" },
	{ "[::]:80", "address" },
	{ "0.0.0.0:80", "address" },
	{ "8443", "bad" },
	{ ":", "bad" },
	{ ":65536", "bad" },
	{ ":-1", "bad" },
	{ "::1:80", "bad" },
	{ "[:80", "bad" },
	{ "[]:80", "bad" },
	{ "example.com:80", "bad" },
	{ "127.0.0.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1:80", "bad" },
	{ "", "bad" },
};

static void addresses_are_read(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(addresses); i++) {
		struct kar_listen_address a = { 0 };
		struct kar_err err = { 0 };
		const char *got = kar_listen_parse(addresses[i].text, &a, &err) ? "bad"
			: a.any                                                 ? "any"
			: a.loopback                                            ? "loopback"
										: "address";

		if (strcmp(got, addresses[i].want))
			fail_msg("%s: got %s, want %s", addresses[i].text, got, addresses[i].want);
	}
}

static void a_taken_port_is_an_error(void **state KAR_UNUSED)
{
	struct kar_listen_address at;
	struct kar_err err = { 0 };
	char text[32];
	int first, second;

	assert_int_equal(kar_listen_parse(":0", &at, &err), 0);
	first = kar_listen_open(&at, &err);
	assert_true(first >= 0);
	snprintf(text, sizeof(text), ":%d", kar_listen_port(first));
	assert_int_equal(kar_listen_parse(text, &at, &err), 0);
	second = kar_listen_open(&at, &err);
	assert_int_equal(second, -1);
	assert_string_equal(err.msg, "Address already in use");
	close(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_answered),
		cmocka_unit_test(a_large_body_is_refused),
		cmocka_unit_test(a_crowd_keeps_nobody_out),
		cmocka_unit_test(unread_answers_keep_nobody_out),
		cmocka_unit_test(clients_have_their_share_of_the_time),
		cmocka_unit_test(connection_ends_after_some_requests),
		cmocka_unit_test(idle_connections_cost_nothing),
		cmocka_unit_test(servers_follow_each_other),
		cmocka_unit_test(speaks_tls),
		cmocka_unit_test(half_a_handshake_costs_nothing),
		cmocka_unit_test(a_bad_certificate_is_refused),
		cmocka_unit_test(addresses_are_read),
		cmocka_unit_test(a_taken_port_is_an_error),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
