#include "common/kube/client_http.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/http.h"
#include "common/log.h"
#include "test/fixture/fake_credential.h"
#include "test/fixture/scripted_server.h"
#include "test/fixture/wait.h"

#define SECRET "s3cr3t-t0ken"
#define POD "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"u-1\",\"resourceVersion\":\"42\"}}"

static const struct kar_resource pods = { "", "v1", "pods", "Pod", true };

struct world {
	struct kar_loop *loop;
	struct server server;
	char url[64];
	struct kar_kubeconfig config;
	struct kar_client *client;
	/* What the server saw. */
	char last_head[4096];
	struct kar_buf heads;    /* all request lines */
	unsigned open, open_max; /* requests waiting for their answer */
	/* What it does. */
	unsigned refuse_first; /* requests that get `refusal` before the others are answered */
	const char *refusal;   /* whole response */
	const char *body;
	bool hold; /* answers nothing by itself */
	struct server_conn *held[1024];
	unsigned n_held;
	struct kar_buf log;
};

struct result {
	struct kar_client *client;
	struct kar_call *call;
	int dones;
	bool ok, cancel_in_data, free_in_done;
	int refuse;
	struct kar_answer answer;
	char uid[16];
	struct kar_buf body, stream;
	struct kar_err err;
	kar_time at;
};

static int on_data(void *arg, const char *bytes, size_t n)
{
	struct result *r = arg;

	kar_buf_append(&r->stream, bytes, n);
	if (r->cancel_in_data)
		kar_client_cancel(r->client, r->call);
	return r->refuse;
}

static void on_done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct result *r = arg;

	r->dones++;
	r->at = kar_clock_mono();
	r->ok = answer != NULL;
	assert_true((answer == NULL) != (err == NULL));
	if (err)
		r->err = *err;
	if (answer) {
		r->answer = *answer;
		kar_buf_append(&r->body, answer->body.p, answer->body.n);
		snprintf(r->uid, sizeof(r->uid), "%s", answer->uid);
	}
	if (r->free_in_done)
		kar_client_free(r->client);
}

static bool is_done(void *arg)
{
	return ((struct result *)arg)->dones > 0;
}

static void serve(struct server_conn *c, const struct server_request *r, void *arg)
{
	struct world *w = arg;

	snprintf(w->last_head, sizeof(w->last_head), "%s\n%.*s", r->head, (int)r->body_n, r->body);
	kar_buf_append(&w->heads, r->head, strcspn(r->head, "\r"));
	kar_buf_puts(&w->heads, "\n");
	if (w->hold && w->n_held < KAR_LEN(w->held)) {
		w->held[w->n_held++] = c;
		w->open++;
		w->open_max = w->open > w->open_max ? w->open : w->open_max;
		return;
	}
	if (r->nth < w->refuse_first)
		server_send(c, w->refusal);
	else
		server_answer(c, 200, "", w->body);
}

static void keep_log(void *arg, const char *line, size_t n)
{
	kar_buf_append(arg, line, n);
}

static void open_world(struct world *w, const struct kar_client_http_options *o)
{
	struct kar_client_http_options plain = { .user_agent = "kar-controllers/test" };
	struct kar_err err;

	memset(w, 0, sizeof(*w));
	memset(&fake_credential, 0, sizeof(fake_credential));
	w->loop = kar_loop_new();
	w->body = POD;
	server_start(&w->server, w->loop, serve, w);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%u", w->server.port);
	w->config = (struct kar_kubeconfig){ .source = "test", .server = w->url, .token = SECRET };
	w->client = kar_client_http_new(w->loop, &w->config, o ? o : &plain, &err);
	assert_non_null(w->client);
	kar_log_init(KAR_LOG_TEXT, 10);
	kar_log_redirect(keep_log, &w->log);
}

static void close_world(struct world *w)
{
	kar_client_free(w->client);
	server_stop(&w->server);
	kar_loop_free(w->loop);
	kar_log_redirect(NULL, NULL);
	assert_null(strstr(kar_buf_cstr(&w->log), SECRET));
	assert_null(strstr(kar_buf_cstr(&w->log), "uid"));
	kar_buf_release(&w->log);
	kar_buf_release(&w->heads);
}

static void start(struct world *w, struct result *r, struct kar_request request)
{
	request.on_data = on_data;
	request.on_done = on_done;
	request.arg = r;
	r->client = w->client;
	r->call = kar_client_start(w->client, &request);
	assert_int_equal(r->dones, 0); /* never from inside the start */
}

static void release(struct result *r)
{
	kar_buf_release(&r->body);
	kar_buf_release(&r->stream);
}

static struct kar_str text(const char *s)
{
	return (struct kar_str){ s, strlen(s) };
}

/* --- one request --- */

static void when_created_then_the_request_is_complete_and_the_answer_is_read(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	char body[] = "{\"kind\":\"Pod\"}", name[] = "default";
	struct world w;

	open_world(&w, NULL);
	start(&w, &r, kar_client_create(&pods, name, text(body)));
	memset(body, 'x', sizeof(body) - 1); /* borrowed for the start only */
	memset(name, 'x', sizeof(name) - 1);
	wait_until(w.loop, is_done, &r);
	assert_true(r.ok);
	assert_int_equal(r.answer.status, 200);
	assert_int_equal(r.answer.rv, 42);
	assert_string_equal(r.uid, "u-1");
	assert_string_equal(r.body.p, POD);
	assert_non_null(strstr(w.last_head, "POST /api/v1/namespaces/default/pods HTTP/1.1\r\n"));
	assert_non_null(strstr(w.last_head, "User-Agent: kar-controllers/test\r\n"));
	assert_non_null(strstr(w.last_head, "Accept: application/json\r\n"));
	assert_non_null(strstr(w.last_head, "Content-Type: application/json\r\n"));
	assert_non_null(strstr(w.last_head, "Authorization: Bearer " SECRET "-1\r\n"));
	assert_non_null(strstr(w.last_head, "{\"kind\":\"Pod\"}"));
	assert_null(strstr(w.last_head, "Accept-Encoding"));
	assert_null(strstr(w.last_head, "Expect"));
	assert_int_equal(kar_client_http_stats(w.client).requests, 1);
	assert_int_equal(kar_client_http_stats(w.client).bytes_received, strlen(POD));
	release(&r);
	close_world(&w);
}

static void when_impersonating_then_the_headers_say_whom(void **state KAR_UNUSED)
{
	static const char *groups[] = { "g1", "g2" };
	struct result r = { 0 };
	struct world w;

	open_world(&w, NULL);
	w.config.as_user = "jane";
	w.config.as_uid = "77";
	w.config.as_groups = groups;
	w.config.n_as_groups = 2;
	start(&w, &r, kar_client_get(&pods, "a", "p"));
	wait_until(w.loop, is_done, &r);
	assert_non_null(strstr(w.last_head, "Impersonate-User: jane\r\n"));
	assert_non_null(strstr(w.last_head, "Impersonate-Uid: 77\r\n"));
	assert_non_null(strstr(w.last_head, "Impersonate-Group: g1\r\n"));
	assert_non_null(strstr(w.last_head, "Impersonate-Group: g2"));
	release(&r);
	close_world(&w);
}

static void when_the_config_cannot_work_then_no_client_and_a_reason(void **state KAR_UNUSED)
{
	struct kar_client_http_options o = { 0 };
	struct kar_loop *l = kar_loop_new();
	struct kar_kubeconfig bad[] = {
		{ .source = "f", .server = NULL },
		{ .source = "f", .server = "127.0.0.1:6443" },
		{ .source = "f", .server = "https://k", .as_user = "a\r\nX: y" },
	};

	for (size_t i = 0; i < KAR_LEN(bad); i++) {
		struct kar_err err = { 0 };

		assert_null(kar_client_http_new(l, &bad[i], &o, &err));
		assert_int_equal(err.what, KAR_FATAL);
		assert_non_null(strstr(err.msg, "f: "));
	}
	kar_loop_free(l);
}

/* --- streams --- */

static void when_listing_then_the_bytes_are_streamed(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, NULL);
	w.body = "{\"items\":[]}";
	start(&w, &r, kar_client_list(&pods, NULL));
	wait_until(w.loop, is_done, &r);
	assert_true(r.ok);
	assert_string_equal(r.stream.p, "{\"items\":[]}");
	assert_int_equal(r.answer.body.n, 0);
	release(&r);
	close_world(&w);
}

static void when_the_reader_refuses_then_invalid(void **state KAR_UNUSED)
{
	struct result r = { .refuse = -1 };
	struct world w;

	open_world(&w, NULL);
	start(&w, &r, kar_client_list(&pods, NULL));
	wait_until(w.loop, is_done, &r);
	assert_int_equal(r.err.what, KAR_INVALID);
	release(&r);
	close_world(&w);
}

static void when_a_watch_is_refused_then_its_reader_sees_the_error_and_no_bytes(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, NULL);
	w.refuse_first = 100;
	w.refusal =
		"HTTP/1.1 429 X\r\nRetry-After: 5\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nslow";
	start(&w, &r, kar_client_watch(&pods, NULL, "1"));
	wait_until(w.loop, is_done, &r);
	assert_int_equal(r.err.what, KAR_RETRY);
	assert_int_equal(r.err.retry_after, 5000);
	assert_string_equal(r.err.msg, "watch pods: HTTP 429: slow");
	assert_int_equal(r.stream.n, 0);
	assert_int_equal(w.server.requests, 1); /* when to come back is the reader's decision */
	release(&r);
	close_world(&w);
}

static bool client_is_quiet(void *arg)
{
	struct result *r = arg;

	return r->stream.n > 0;
}

static void when_cancelled_in_on_data_then_nothing_more_comes(void **state KAR_UNUSED)
{
	struct result r = { .cancel_in_data = true };
	struct world w;

	open_world(&w, NULL);
	start(&w, &r, kar_client_list(&pods, NULL));
	wait_until(w.loop, client_is_quiet, &r);
	wait_for_ms(w.loop, 5);
	assert_int_equal(r.dones, 0);
	release(&r);
	close_world(&w);
}

static void when_cancelled_or_freed_in_any_state_then_all_is_quiet(void **state KAR_UNUSED)
{
	struct kar_client_http_options o = { .max_in_flight_writes = 1 };
	struct result running = { 0 }, waiting = { 0 }, asking = { 0 }, last = { 0 };
	struct world w;

	open_world(&w, &o);
	w.hold = true;
	start(&w, &running, kar_client_get(&pods, "a", "1"));
	start(&w, &waiting, kar_client_get(&pods, "a", "2"));
	wait_for_ms(w.loop, 20);
	assert_int_equal(w.n_held, 1);
	kar_client_cancel(w.client, waiting.call);
	fake_credential.hold = true;
	start(&w, &asking, kar_client_watch(&pods, NULL, "1"));
	wait_for_ms(w.loop, 5);
	kar_client_cancel(w.client, asking.call);
	assert_int_equal(fake_credential.abandoned, 1);
	fake_credential.hold = false;
	kar_client_cancel(w.client, running.call);
	kar_client_cancel(w.client, NULL);
	start(&w, &last, kar_client_get(&pods, "a", "3")); /* the slot is free again */
	wait_for_ms(w.loop, 20);
	assert_int_equal(w.n_held, 2);
	kar_client_free(w.client);
	w.client = NULL;
	wait_for_ms(w.loop, 5);
	assert_int_equal(running.dones + waiting.dones + asking.dones + last.dones, 0);
	close_world(&w);
}

static void when_the_client_is_freed_in_on_done_then_all_is_quiet(void **state KAR_UNUSED)
{
	struct result r = { .free_in_done = true }, other = { 0 };
	struct world w;

	open_world(&w, NULL);
	start(&w, &r, kar_client_get(&pods, "a", "1"));
	start(&w, &other, kar_client_get(&pods, "a", "2"));
	wait_until(w.loop, is_done, &r);
	w.client = NULL;
	wait_for_ms(w.loop, 5);
	assert_int_equal(other.dones, 0);
	release(&r);
	close_world(&w);
}

/* --- refusals that are waited for, credentials --- */

static void when_throttled_then_it_waits_as_told_and_succeeds(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;
	kar_time begin = kar_clock_mono();

	open_world(&w, NULL);
	w.refuse_first = 1;
	w.refusal = "HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
	start(&w, &r, kar_client_create(&pods, "a", text("{}")));
	wait_until(w.loop, is_done, &r);
	assert_true(r.ok);
	assert_int_equal(w.server.requests, 2);
	assert_in_range(r.at - begin, 1000, 3000);
	release(&r);
	close_world(&w);
}

static void when_the_wait_is_long_then_the_caller_is_told_at_once(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, NULL);
	w.refuse_first = 100;
	w.refusal = "HTTP/1.1 429 X\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n";
	start(&w, &r, kar_client_create(&pods, "a", text("{}")));
	wait_until(w.loop, is_done, &r);
	assert_int_equal(r.err.what, KAR_RETRY);
	assert_int_equal(r.err.retry_after, 30000);
	assert_int_equal(w.server.requests, 1);
	assert_int_equal(kar_client_http_stats(w.client).errors, 1);
	close_world(&w);
}

struct once_row {
	const char *name, *response;
	enum server_end end;
	enum kar_class expect;
};

/* Outcomes of a write that must never be sent again from here. */
static void rows_of_writes_that_are_sent_once(void **state KAR_UNUSED)
{
	static const struct once_row rows[] = {
		{ "server_error", "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", SERVER_KEEP, KAR_UNKNOWN },
		{ "gateway_timeout", "HTTP/1.1 504 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
			SERVER_KEEP, KAR_UNKNOWN },
		{ "unavailable_without_a_word", "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n", SERVER_KEEP,
			KAR_UNKNOWN },
		{ "conflict", "HTTP/1.1 409 X\r\nContent-Length: 0\r\n\r\n", SERVER_KEEP, KAR_CONFLICT },
		{ "reset", "", SERVER_RST, KAR_UNKNOWN },
		{ "closed", "", SERVER_FIN, KAR_UNKNOWN },
		{ "answer_cut_cleanly", "HTTP/1.1 201 X\r\nContent-Length: 5\r\n\r\n{\"a\":", SERVER_KEEP,
			KAR_UNKNOWN },
		{ "answer_is_a_page", "HTTP/1.1 200 X\r\nContent-Length: 6\r\n\r\n<html>", SERVER_KEEP,
			KAR_UNKNOWN },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct result r = { 0 }, warm = { 0 };
		struct world w;

		open_world(&w, NULL);
		start(&w, &warm, kar_client_get(&pods, "a", "p")); /* a connection to reuse */
		wait_until(w.loop, is_done, &warm);
		w.hold = true;
		start(&w, &r, kar_client_create(&pods, "a", text("{}")));
		while (!w.n_held)
			wait_for_ms(w.loop, 1);
		w.hold = false;
		server_send(w.held[0], rows[i].response);
		w.held[0]->end = rows[i].end;
		(void)server_flush(w.held[0]);
		wait_until(w.loop, is_done, &r);
		if (r.err.what != rows[i].expect || w.server.requests != 2)
			print_error("%s: %s, %u requests (%s)\n", rows[i].name,
				kar_err_class_name(r.err.what), w.server.requests, r.err.msg);
		assert_int_equal(r.err.what, rows[i].expect);
		assert_int_equal(w.server.requests, 2);
		release(&warm);
		close_world(&w);
	}
}

static void when_nobody_listens_then_retry(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, NULL);
	server_stop(&w.server);
	start(&w, &r, kar_client_create(&pods, "a", text("{}")));
	wait_until(w.loop, is_done, &r);
	assert_int_equal(r.err.what, KAR_RETRY);
	assert_int_equal(strncmp(r.err.msg, "create pods in a: ", 18), 0);
	close_world(&w);
}

#define UNAUTHORIZED "HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n"

static void when_the_token_is_rejected_then_it_is_refreshed_once(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, NULL);
	w.refuse_first = 1;
	w.refusal = UNAUTHORIZED;
	start(&w, &r, kar_client_create(&pods, "a", text("{}")));
	wait_until(w.loop, is_done, &r);
	assert_true(r.ok);
	assert_int_equal(fake_credential.rejected, 1);
	assert_non_null(strstr(w.last_head, "Bearer " SECRET "-2\r\n"));
	assert_int_equal(w.server.connections, 1); /* a token is not a part of the connection */
	release(&r);
	close_world(&w);
}

static void when_the_ca_is_rotated_then_a_new_connection_is_made(void **state KAR_UNUSED)
{
	struct result first = { 0 }, r = { 0 };
	struct world w;

	open_world(&w, NULL);
	w.config.ca_pem = "old";
	start(&w, &first, kar_client_get(&pods, "a", "p"));
	wait_until(w.loop, is_done, &first);
	w.config.ca_pem = "new";
	w.refuse_first = 2;
	w.refusal = UNAUTHORIZED; /* makes the credentials refresh */
	start(&w, &r, kar_client_get(&pods, "a", "p"));
	wait_until(w.loop, is_done, &r);
	assert_true(r.ok);
	assert_int_equal(w.server.requests, 3);
	assert_int_equal(w.server.connections, 2);
	release(&first);
	release(&r);
	close_world(&w);
}

static void when_an_answer_is_too_long_then_it_is_refused_and_a_write_unknown(void **state KAR_UNUSED)
{
	enum { LONG = 9 << 20 };
	struct result get = { 0 }, create = { 0 };
	struct world w;
	char *body = kar_xcalloc(1, LONG + 1);

	memset(body, ' ', LONG);
	open_world(&w, NULL);
	w.body = body;
	start(&w, &get, kar_client_get(&pods, "a", "p"));
	wait_until(w.loop, is_done, &get);
	assert_int_equal(get.err.what, KAR_INVALID);
	start(&w, &create, kar_client_create(&pods, "a", text("{}")));
	wait_until(w.loop, is_done, &create);
	assert_int_equal(create.err.what, KAR_UNKNOWN);
	close_world(&w);
	free(body);
}

static void when_the_new_token_is_rejected_too_then_unauthorized(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, NULL);
	w.refuse_first = 100;
	w.refusal = UNAUTHORIZED;
	start(&w, &r, kar_client_list(&pods, "a"));
	wait_until(w.loop, is_done, &r);
	assert_int_equal(r.err.what, KAR_UNAUTHORIZED);
	assert_int_equal(w.server.requests, 2);
	assert_null(strstr(r.err.msg, SECRET));
	close_world(&w);
}

static void when_there_are_no_credentials_then_the_reason_is_told(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, NULL);
	fake_credential.fail = true;
	start(&w, &r, kar_client_get(&pods, "a", "p"));
	wait_until(w.loop, is_done, &r);
	assert_int_equal(r.err.what, KAR_UNAUTHORIZED);
	assert_string_equal(r.err.msg, "get pods a/p: the plug-in failed");
	assert_int_equal(w.server.requests, 0);
	close_world(&w);
}

/* --- many --- */

enum { MANY = 500, AT_ONCE = 64 };

struct crowd {
	struct world *w;
	struct result *results;
};

/* Answers all that are open, so that the client may send more. */
static bool crowd_is_done(void *arg)
{
	struct crowd *crowd = arg;
	struct world *w = crowd->w;

	for (; w->open; w->open--) {
		struct server_conn *c = w->held[w->n_held - w->open];

		server_answer(c, 200, "", POD);
		(void)server_flush(c);
	}
	for (size_t i = 0; i < MANY; i++) {
		if (!crowd->results[i].dones)
			return false;
	}
	return true;
}

static void when_500_are_started_then_64_are_in_flight_in_order_and_a_lease_overtakes(void **state KAR_UNUSED)
{
	static struct result r[MANY];
	static struct world w;
	struct crowd crowd = { .w = &w, .results = r };
	struct result lease = { 0 };
	struct kar_request renew = kar_client_get(&pods, "a", "lease");
	char name[16];

	memset(r, 0, sizeof(r));
	open_world(&w, NULL);
	w.hold = true;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "p-%d", i);
		start(&w, &r[i], kar_client_get(&pods, "a", name));
	}
	renew.lane = KAR_LANE_LEASE;
	start(&w, &lease, renew);
	while (w.n_held < AT_ONCE + 1)
		wait_for_ms(w.loop, 1);
	wait_for_ms(w.loop, 10);
	assert_int_equal(w.n_held, AT_ONCE + 1); /* the lease has a lane of its own */
	assert_non_null(strstr(w.heads.p, "/lease "));
	wait_until(w.loop, crowd_is_done, &crowd);
	assert_int_equal(w.open_max, AT_ONCE + 1);
	assert_int_equal(w.server.requests, MANY + 1);
	assert_true(lease.ok);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "/p-%d ", i);
		assert_true(r[i].ok && r[i].dones == 1 && strstr(w.heads.p, name));
		release(&r[i]);
	}
	release(&lease);
	assert_true(strstr(w.heads.p, "/p-499 ") > strstr(w.heads.p, "/p-0 "));
	close_world(&w);
}

static bool ten_requests(void *arg)
{
	return ((struct world *)arg)->server.requests >= 10;
}

static void when_qps_is_set_then_burst_first_and_the_rate_afterwards(void **state KAR_UNUSED)
{
	struct kar_client_http_options o = { .qps = 50, .burst = 5 };
	struct result r[10] = { { 0 } };
	struct world w;
	kar_time begin;

	open_world(&w, &o);
	begin = kar_clock_mono();
	for (size_t i = 0; i < KAR_LEN(r); i++)
		start(&w, &r[i], kar_client_get(&pods, "a", "p"));
	wait_until(w.loop, ten_requests, &w);
	assert_in_range(kar_clock_mono() - begin, 95, 1000); /* 5 at once, 5 more at 20 ms each */
	wait_until(w.loop, is_done, &r[9]);
	for (size_t i = 0; i < KAR_LEN(r); i++)
		release(&r[i]);
	close_world(&w);
}

static void when_the_server_warns_then_each_text_is_logged_once(void **state KAR_UNUSED)
{
	struct result r[3] = { { 0 } };
	struct world w;
	const char *first;

	open_world(&w, NULL);
	w.refuse_first = 100;
	w.refusal = "HTTP/1.1 200 X\r\nWarning: 299 - \"pods v0 is old\"\r\nContent-Length: 2\r\n\r\n{}";
	for (size_t i = 0; i < KAR_LEN(r); i++) {
		start(&w, &r[i], kar_client_get(&pods, "a", "p"));
		wait_until(w.loop, is_done, &r[i]);
		release(&r[i]);
	}
	first = strstr(kar_buf_cstr(&w.log), "pods v0 is old");
	assert_non_null(first);
	assert_null(strstr(first + 1, "pods v0 is old"));
	close_world(&w);
}

static int init_curl(void **state KAR_UNUSED)
{
	return kar_http_global_init(NULL);
}

static int cleanup_curl(void **state KAR_UNUSED)
{
	kar_http_global_cleanup();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_created_then_the_request_is_complete_and_the_answer_is_read),
		cmocka_unit_test(when_impersonating_then_the_headers_say_whom),
		cmocka_unit_test(when_the_config_cannot_work_then_no_client_and_a_reason),
		cmocka_unit_test(when_listing_then_the_bytes_are_streamed),
		cmocka_unit_test(when_the_reader_refuses_then_invalid),
		cmocka_unit_test(when_a_watch_is_refused_then_its_reader_sees_the_error_and_no_bytes),
		cmocka_unit_test(when_cancelled_in_on_data_then_nothing_more_comes),
		cmocka_unit_test(when_cancelled_or_freed_in_any_state_then_all_is_quiet),
		cmocka_unit_test(when_the_client_is_freed_in_on_done_then_all_is_quiet),
		cmocka_unit_test(when_throttled_then_it_waits_as_told_and_succeeds),
		cmocka_unit_test(when_the_wait_is_long_then_the_caller_is_told_at_once),
		cmocka_unit_test(rows_of_writes_that_are_sent_once),
		cmocka_unit_test(when_nobody_listens_then_retry),
		cmocka_unit_test(when_the_token_is_rejected_then_it_is_refreshed_once),
		cmocka_unit_test(when_the_ca_is_rotated_then_a_new_connection_is_made),
		cmocka_unit_test(when_an_answer_is_too_long_then_it_is_refused_and_a_write_unknown),
		cmocka_unit_test(when_the_new_token_is_rejected_too_then_unauthorized),
		cmocka_unit_test(when_there_are_no_credentials_then_the_reason_is_told),
		cmocka_unit_test(when_500_are_started_then_64_are_in_flight_in_order_and_a_lease_overtakes),
		cmocka_unit_test(when_qps_is_set_then_burst_first_and_the_rate_afterwards),
		cmocka_unit_test(when_the_server_warns_then_each_text_is_logged_once),
	};

	return cmocka_run_group_tests_name("client_http", tests, init_curl, cleanup_curl);
}
