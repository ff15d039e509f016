#include "common/http.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "test/fixture/scripted_server.h"
#include "test/fixture/wait.h"

/* What the user of one request has been told. */
struct result {
	struct kar_http *http;
	struct kar_http_request *request;
	int heads, chunks, dones;
	int status;
	kar_time retry_after;
	char content_type[64];
	struct kar_buf body;
	bool ok;
	struct kar_err err;
	/* What to do from inside a callback. */
	bool cancel_in_head, cancel_in_data, refuse_data, free_pool_in_data, free_pool_in_done;
	struct result *start_in_done;
	const char *next_url;
};

static struct kar_http_request *start_get(struct kar_http *h, struct result *r, const char *url);

static void on_head(void *arg, const struct kar_http_head *head)
{
	struct result *r = arg;

	r->heads++;
	r->status = head->status;
	r->retry_after = head->retry_after;
	snprintf(r->content_type, sizeof(r->content_type), "%s", head->content_type);
	if (r->cancel_in_head)
		kar_http_cancel(r->request);
}

static int on_data(void *arg, const char *bytes, size_t n)
{
	struct result *r = arg;

	if (r->cancel_in_data)
		kar_http_cancel(r->request);
	if (r->free_pool_in_data)
		kar_http_free(r->http);
	r->chunks++;
	kar_buf_append(&r->body, bytes, n); /* the bytes are still there */
	return r->refuse_data ? -1 : 0;
}

static void on_done(void *arg, const struct kar_err *err)
{
	struct result *r = arg;

	r->dones++;
	r->ok = !err;
	if (err)
		r->err = *err;
	if (r->free_pool_in_done)
		kar_http_free(r->http);
	if (r->start_in_done)
		r->start_in_done->request = start_get(r->http, r->start_in_done, r->next_url);
}

static bool is_done(void *arg)
{
	return ((struct result *)arg)->dones > 0;
}

static bool has_data(void *arg)
{
	return ((struct result *)arg)->chunks > 0;
}

static struct kar_http_request *start_get(struct kar_http *h, struct result *r, const char *url)
{
	struct kar_http_call call = { .method = "GET",
		.url = url,
		.on_head = on_head,
		.on_data = on_data,
		.on_done = on_done,
		.arg = r };

	r->http = h;
	return kar_http_start(h, &call);
}

static struct kar_http_request *start_write(struct kar_http *h, struct result *r, const char *method,
	const char *url, const char *body, bool replayable)
{
	struct kar_http_call call = { .method = method,
		.url = url,
		.body = body,
		.body_n = body ? strlen(body) : 0,
		.replayable = replayable,
		.on_head = on_head,
		.on_data = on_data,
		.on_done = on_done,
		.arg = r };

	r->http = h;
	return kar_http_start(h, &call);
}

/* --- table: what a server may send, and what the user is told --- */

struct row {
	const char *name;
	const char *method;
	const char *script; /* the server's bytes */
	enum server_end end;
	bool slow;             /* one byte at a time */
	enum kar_class expect; /* KAR_OK: done without error */
	int status;
	const char *body;
};

static const struct row rows[] = {
	{ "when_length_is_kept_then_ok", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", SERVER_KEEP,
		false, KAR_OK, 200, "{}" },
	{ "when_sent_byte_by_byte_then_the_same", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
		SERVER_KEEP, true, KAR_OK, 200, "{}" },
	{ "when_chunked_then_ok", "GET",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
		SERVER_KEEP, false, KAR_OK, 200, "{}" },
	{ "when_chunked_byte_by_byte_then_ok", "GET",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
		SERVER_KEEP, true, KAR_OK, 200, "{}" },
	{ "when_cut_inside_a_chunk_then_retry", "GET",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{\"a\"", SERVER_FIN, false,
		KAR_RETRY, 200, "{\"a\"" },
	{ "when_last_chunk_is_missing_then_retry", "GET",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", SERVER_FIN, false,
		KAR_RETRY, 200, "{}" },
	{ "when_reply_to_a_write_is_cut_then_unknown", "POST",
		"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{\"a\"", SERVER_FIN, false,
		KAR_UNKNOWN, 201, "{\"a\"" },
	{ "when_shorter_than_its_length_then_retry", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
		SERVER_FIN, false, KAR_RETRY, 200, "{}" },
	{ "when_ended_cleanly_in_mid_json_then_ok_here", "GET",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n0\r\n\r\n", SERVER_KEEP,
		false, KAR_OK, 200, "{\"a\"" },
	{ "when_closed_as_end_in_mid_json_then_ok_here", "GET",
		"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"a\"", SERVER_FIN, false, KAR_OK, 200,
		"{\"a\"" },
	{ "when_closed_without_a_byte_then_retry", "GET", "", SERVER_FIN, false, KAR_RETRY, 0, "" },
	{ "when_write_is_closed_without_a_byte_then_unknown", "POST", "", SERVER_FIN, false, KAR_UNKNOWN, 0,
		"" },
	{ "when_reset_then_retry", "GET", "", SERVER_RST, false, KAR_RETRY, 0, "" },
	{ "when_write_is_reset_then_unknown", "POST", "", SERVER_RST, false, KAR_UNKNOWN, 0, "" },
	{ "when_write_without_a_body_is_reset_then_unknown", "DELETE", "", SERVER_RST, false, KAR_UNKNOWN, 0,
		"" },
	{ "when_it_is_not_http_then_retry", "GET", "220 mail.example.com ESMTP\r\n", SERVER_FIN, false,
		KAR_RETRY, 0, "" },
	{ "when_a_write_is_answered_by_no_http_then_unknown", "POST", "220 mail.example.com ESMTP\r\n",
		SERVER_FIN, false, KAR_UNKNOWN, 0, "" },
	{ "when_redirected_then_told_and_not_followed", "GET",
		"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
		SERVER_KEEP, false, KAR_OK, 302, "" },
	{ "when_100_comes_first_then_the_final_head_counts", "POST",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}",
		SERVER_KEEP, false, KAR_OK, 201, "{}" },
	{ "when_trailers_follow_then_they_are_no_second_head", "GET",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n2\r\n{}\r\n0\r\nX: 1\r\n\r\n",
		SERVER_KEEP, false, KAR_OK, 200, "{}" },
	{ "when_gzip_comes_unasked_then_the_bytes_stay", "GET",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", SERVER_KEEP,
		false, KAR_OK, 200, "{}" },
	{ "when_the_body_is_empty_then_ok", "GET", "HTTP/1.1 204 No Content\r\n\r\n", SERVER_KEEP, false,
		KAR_OK, 204, "" },
};

struct world {
	struct kar_loop *loop;
	struct kar_http *http;
	struct server server;
	char url[64];
	const struct row *row;
	/* of the scripted handler used by a test */
	unsigned posts, deletes;
	const char *held; /* bytes that open a stream which stays open */
	struct server_conn *held_conn;
	char last_head[2048];
};

static void open_world(struct world *w, server_fn *fn)
{
	struct kar_http_options o = { .user_agent = "kar-controllers/test" };

	*w = (struct world){ .loop = kar_loop_new() };
	server_start(&w->server, w->loop, fn, w);
	w->http = kar_http_new(w->loop, &o);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%u/x", w->server.port);
}

static void close_world(struct world *w)
{
	kar_http_free(w->http);
	server_stop(&w->server);
	kar_loop_free(w->loop);
}

static void play_row(struct server_conn *c, const struct server_request *r KAR_UNUSED, void *arg)
{
	struct world *w = arg;

	if (w->row->slow)
		server_one_byte_at_a_time(c);
	server_send(c, w->row->script);
	c->end = w->row->end;
}

static bool check_row(const struct row *row, const struct result *r)
{
	bool class_ok = row->expect == KAR_OK ? r->ok : !r->ok && r->err.what == row->expect;

	if (class_ok && r->dones == 1 && r->status == row->status && r->heads == (row->status != 0) &&
		strcmp(kar_buf_cstr(&r->body), row->body) == 0 && (r->ok || r->err.msg[0]))
		return true;
	print_error("%s: done %d times, %s (%s), status %d, %d heads, body \"%s\"\n", row->name, r->dones,
		r->ok ? "ok" : kar_err_class_name(r->err.what), r->err.msg, r->status, r->heads,
		kar_buf_cstr(&r->body));
	return false;
}

static void rows_of_answers(void **state KAR_UNUSED)
{
	int failed = 0;

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct result r = { 0 };
		struct world w;

		open_world(&w, play_row);
		w.row = &rows[i];
		if (strcmp(rows[i].method, "GET") == 0)
			r.request = start_get(w.http, &r, w.url);
		else
			r.request = start_write(w.http, &r, rows[i].method, w.url,
				strcmp(rows[i].method, "DELETE") == 0 ? NULL : "{}", false);
		assert_int_equal(r.dones, 0); /* never from inside the start */
		wait_until(w.loop, is_done, &r);
		failed += !check_row(&rows[i], &r);
		assert_int_equal(kar_http_in_flight(w.http), 0);
		kar_buf_release(&r.body);
		close_world(&w);
	}
	assert_int_equal(failed, 0);
}

/* --- writes and connections that die --- */

/* Answers GETs; takes a write completely, then kills the connection. The second write is answered. */
static void kill_first_write(struct server_conn *c, const struct server_request *r, void *arg)
{
	struct world *w = arg;
	bool first;

	if (strncmp(r->head, "GET", 3) == 0) {
		server_answer(c, 200, "", "{}");
		return;
	}
	first = w->posts++ == 0;
	if (first)
		c->end = w->row->end;
	else
		server_answer(c, 201, "", "{}");
}

struct replay_row {
	const char *name;
	const char *method, *body;
	enum server_end end;
	bool replayable;
	unsigned expect_executed;
	enum kar_class expect;
};

static const struct replay_row replay_rows[] = {
	{ "when_a_reused_connection_is_closed_after_a_post_then_one_post", "POST", "{}", SERVER_FIN, false, 1,
		KAR_UNKNOWN },
	{ "when_a_reused_connection_is_reset_after_a_post_then_one_post", "POST", "{}", SERVER_RST, false, 1,
		KAR_UNKNOWN },
	{ "when_a_reused_connection_is_reset_after_a_patch_then_one_patch", "PATCH", "{}", SERVER_RST, false,
		1, KAR_UNKNOWN },
	{ "when_a_delete_has_no_body_then_it_is_not_replayed_either", "DELETE", NULL, SERVER_RST, false, 1,
		KAR_UNKNOWN },
	{ "when_it_may_be_replayed_then_it_is", "PUT", "{}", SERVER_RST, true, 2, KAR_OK },
};

static void rows_of_replays(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(replay_rows); i++) {
		const struct replay_row *row = &replay_rows[i];
		struct row how = { .end = row->end };
		struct result first = { 0 }, write = { 0 };
		struct world w;

		open_world(&w, kill_first_write);
		w.row = &how;
		first.request =
			start_get(w.http, &first, w.url); /* so that the write finds a connection to reuse */
		wait_until(w.loop, is_done, &first);
		assert_int_equal(w.server.connections, 1);
		write.request = start_write(w.http, &write, row->method, w.url, row->body, row->replayable);
		wait_until(w.loop, is_done, &write);
		if (w.posts != row->expect_executed || (write.ok ? KAR_OK : write.err.what) != row->expect)
			print_error("%s: executed %u times, %s (%s)\n", row->name, w.posts,
				write.ok ? "ok" : kar_err_class_name(write.err.what), write.err.msg);
		assert_int_equal(w.posts, row->expect_executed);
		assert_int_equal(write.ok ? KAR_OK : write.err.what, row->expect);
		kar_buf_release(&first.body);
		kar_buf_release(&write.body);
		close_world(&w);
	}
}

static void when_nobody_listens_then_a_write_was_surely_not_executed(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, play_row);
	server_stop(&w.server);
	r.request = start_write(w.http, &r, "POST", w.url, "{}", false);
	wait_until(w.loop, is_done, &r);
	assert_false(r.ok);
	assert_int_equal(r.err.what, KAR_RETRY);
	assert_non_null(strstr(r.err.msg, "connect"));
	close_world(&w);
}

/* --- users who cancel, refuse, free and start from their callbacks --- */

static void hold_open(struct server_conn *c, const struct server_request *r, void *arg)
{
	struct world *w = arg;

	snprintf(w->last_head, sizeof(w->last_head), "%s", r->head);
	w->held_conn = c;
	if (w->held)
		server_send(c, w->held);
	if (r->nth > 0 && !w->held)
		server_answer(c, 200, "", "{}");
}

#define STREAM "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n"

static bool pool_is_empty(void *arg)
{
	return kar_http_in_flight(arg) == 0;
}

static void when_cancelled_in_on_head_then_nothing_more_comes(void **state KAR_UNUSED)
{
	struct result r = { .cancel_in_head = true };
	struct world w;

	open_world(&w, hold_open);
	w.held = STREAM;
	r.request = start_get(w.http, &r, w.url);
	wait_until(w.loop, pool_is_empty, w.http);
	wait_for_ms(w.loop, 5);
	assert_int_equal(r.heads, 1);
	assert_int_equal(r.chunks + r.dones, 0);
	close_world(&w);
}

static void when_cancelled_in_on_data_then_nothing_more_comes_and_the_bytes_are_valid(void **state KAR_UNUSED)
{
	struct result r = { .cancel_in_data = true };
	struct world w;

	open_world(&w, hold_open);
	w.held = STREAM "3\r\ntwo\r\n0\r\n\r\n";
	r.request = start_get(w.http, &r, w.url);
	wait_until(w.loop, pool_is_empty, w.http);
	assert_int_equal(r.chunks, 1);
	assert_string_equal(r.body.p, "onetwo");
	assert_int_equal(r.dones, 0);
	kar_buf_release(&r.body);
	close_world(&w);
}

static void when_data_is_refused_then_done_says_invalid(void **state KAR_UNUSED)
{
	struct result r = { .refuse_data = true };
	struct world w;

	open_world(&w, hold_open);
	w.held = STREAM;
	r.request = start_get(w.http, &r, w.url);
	wait_until(w.loop, is_done, &r);
	assert_int_equal(r.err.what, KAR_INVALID);
	assert_int_equal(r.chunks, 1);
	kar_buf_release(&r.body);
	close_world(&w);
}

static void when_the_pool_is_freed_in_on_data_then_all_is_quiet(void **state KAR_UNUSED)
{
	struct result r = { .free_pool_in_data = true }, other = { 0 };
	struct world w;

	open_world(&w, hold_open);
	w.held = STREAM;
	r.request = start_get(w.http, &r, w.url);
	other.request = start_get(w.http, &other, w.url);
	wait_until(w.loop, has_data, &r);
	wait_for_ms(w.loop, 5);
	assert_int_equal(r.dones + other.dones, 0);
	kar_buf_release(&r.body);
	kar_buf_release(&other.body);
	w.http = NULL;
	close_world(&w);
}

static void when_the_pool_is_freed_in_on_done_then_all_is_quiet(void **state KAR_UNUSED)
{
	struct result r = { .free_pool_in_done = true }, other = { 0 };
	struct world w;

	open_world(&w, hold_open);
	other.request = start_get(w.http, &other, w.url); /* is never answered */
	r.request = start_get(w.http, &r, w.url);
	wait_until(w.loop, is_done, &r);
	wait_for_ms(w.loop, 5);
	assert_int_equal(other.dones, 0);
	kar_buf_release(&r.body);
	w.http = NULL;
	close_world(&w);
}

static void when_one_is_started_in_on_done_then_it_runs_on_the_same_connection(void **state KAR_UNUSED)
{
	struct result second = { 0 }, first = { .start_in_done = &second };
	struct row answer = { .script = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" };
	struct world w;

	open_world(&w, play_row);
	w.row = &answer;
	first.next_url = w.url;
	first.request = start_get(w.http, &first, w.url);
	wait_until(w.loop, is_done, &second);
	assert_true(first.ok && second.ok);
	assert_int_equal(w.server.connections, 1);
	kar_buf_release(&first.body);
	kar_buf_release(&second.body);
	close_world(&w);
}

/* --- time --- */

static void when_the_server_is_silent_then_the_timeout_is_exact_and_the_loop_sleeps(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;
	kar_time start = kar_clock_mono();
	unsigned turns;

	open_world(&w, hold_open);
	struct kar_http_call call = { .method = "POST",
		.url = w.url,
		.body = "{}",
		.body_n = 2,
		.timeout = 80,
		.on_done = on_done,
		.arg = &r };
	r.request = kar_http_start(w.http, &call);
	turns = wait_for_ms(w.loop, 120);
	assert_int_equal(r.dones, 1);
	assert_int_equal(r.err.what, KAR_UNKNOWN);
	assert_in_range(kar_clock_mono() - start, 80, 1000);
	assert_in_range(turns, 1, 25);
	close_world(&w);
}

static void when_a_watch_is_idle_then_nothing_wakes_the_process(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, hold_open);
	w.held = STREAM;
	r.request = start_get(w.http, &r, w.url);
	wait_until(w.loop, has_data, &r);
	wait_for_ms(w.loop, 250); /* libcurl's own short timers of the connection phase */
	assert_in_range(wait_for_ms(w.loop, 200), 1, 2);
	kar_http_cancel(r.request);
	kar_buf_release(&r.body);
	close_world(&w);
}

/* --- heads, connections, refusals --- */

static void when_the_head_says_more_then_it_is_told(void **state KAR_UNUSED)
{
	struct row answer = {
		.script = "HTTP/1.1 429 Too Many Requests\r\nretry-after:  7 \r\nContent-Type: text/plain"
			  "\r\nContent-Length: 0\r\n\r\n"
	};
	struct result r = { 0 };
	struct world w;

	open_world(&w, play_row);
	w.row = &answer;
	r.request = start_get(w.http, &r, w.url);
	wait_until(w.loop, is_done, &r);
	assert_true(r.ok);
	assert_int_equal(r.status, 429);
	assert_int_equal(r.retry_after, 7 * KAR_SECOND);
	assert_string_equal(r.content_type, "text/plain");
	close_world(&w);
}

static void when_connections_are_reset_then_busy_ones_finish_and_new_requests_get_new_ones(
	void **state KAR_UNUSED)
{
	struct result busy = { 0 }, next = { 0 };
	struct world w;

	open_world(&w, hold_open);
	w.held = STREAM;
	busy.request = start_get(w.http, &busy, w.url);
	wait_until(w.loop, has_data, &busy);
	struct server_conn *first = w.held_conn;

	kar_http_reset_connections(w.http);
	w.held = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
	next.request = start_get(w.http, &next, w.url);
	wait_until(w.loop, is_done, &next);
	assert_int_equal(w.server.connections, 2);
	server_send(first, "0\r\n\r\n");
	assert_true(server_flush(first));
	wait_until(w.loop, is_done, &busy);
	assert_true(busy.ok && next.ok);
	kar_buf_release(&busy.body);
	kar_buf_release(&next.body);
	close_world(&w);
}

static void when_a_header_would_start_another_one_then_nothing_is_sent(void **state KAR_UNUSED)
{
	const char *headers[] = { "Authorization: Bearer x\r\nImpersonate-User: root", NULL };
	struct result r = { 0 };
	struct world w;

	open_world(&w, hold_open);
	struct kar_http_call call = { .method = "GET",
		.url = w.url,
		.headers = headers,
		.on_done = on_done,
		.arg = &r };
	r.request = kar_http_start(w.http, &call);
	wait_until(w.loop, is_done, &r);
	assert_int_equal(r.err.what, KAR_INVALID);
	assert_null(strstr(r.err.msg, "Bearer"));
	assert_int_equal(w.server.requests, 0);
	close_world(&w);
}

static void when_the_url_is_none_then_done_says_invalid(void **state KAR_UNUSED)
{
	static const char *const urls[] = { "", "nonsense", "file:///etc/passwd", "ftp://127.0.0.1/x",
		"http://u@127.0.0.1/" };
	struct world w;

	open_world(&w, hold_open);
	for (size_t i = 0; i < KAR_LEN(urls); i++) {
		struct result r = { 0 };

		r.request = start_get(w.http, &r, urls[i]);
		wait_until(w.loop, is_done, &r);
		if (r.err.what != KAR_INVALID)
			print_error("%s: %s\n", urls[i], kar_err_class_name(r.err.what));
		assert_int_equal(r.err.what, KAR_INVALID);
	}
	close_world(&w);
}

static void when_a_body_is_large_then_it_arrives_whole_without_expect(void **state KAR_UNUSED)
{
	enum { LARGE = 2 << 20 };
	char *body = kar_xcalloc(1, LARGE + 1);
	struct row answer = { .script = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}" };
	struct result r = { 0 };
	struct world w;

	memset(body, 'a', LARGE);
	open_world(&w, play_row);
	w.row = &answer;
	r.request = start_write(w.http, &r, "POST", w.url, body, false);
	wait_until(w.loop, is_done, &r);
	assert_true(r.ok);
	assert_int_equal(r.status, 201);
	assert_int_equal(w.server.requests, 1);
	kar_buf_release(&r.body);
	free(body);
	close_world(&w);
}

static void zip_on_demand(struct server_conn *c, const struct server_request *r, void *arg KAR_UNUSED)
{
	static const unsigned char zipped[] = { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
		0xab, 0xae, 0x05, 0x00, 0x43, 0xbf, 0xa6, 0xa3, 0x02, 0x00, 0x00, 0x00 };

	assert_non_null(strstr(r->head, "Accept-Encoding: gzip"));
	kar_buf_printf(&c->out, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
		sizeof(zipped));
	kar_buf_append(&c->out, zipped, sizeof(zipped));
}

static void when_gzip_is_asked_for_then_the_user_sees_the_plain_bytes(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;

	open_world(&w, zip_on_demand);
	struct kar_http_call call = { .method = "GET",
		.url = w.url,
		.accept_gzip = true,
		.on_data = on_data,
		.on_done = on_done,
		.arg = &r };
	r.request = kar_http_start(w.http, &call);
	wait_until(w.loop, is_done, &r);
	assert_true(r.ok);
	assert_string_equal(r.body.p, "{}");
	kar_buf_release(&r.body);
	close_world(&w);
}

static void when_many_run_at_once_then_each_is_answered_once(void **state KAR_UNUSED)
{
	enum { MANY = 100 };
	static struct result r[MANY];
	struct row answer = { .script = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" };
	struct world w;

	memset(r, 0, sizeof(r));
	open_world(&w, play_row);
	w.row = &answer;
	for (size_t i = 0; i < MANY; i++)
		r[i].request = start_get(w.http, &r[i], w.url);
	assert_int_equal(kar_http_in_flight(w.http), MANY);
	wait_until(w.loop, pool_is_empty, w.http);
	for (size_t i = 0; i < MANY; i++) {
		assert_true(r[i].ok && r[i].dones == 1);
		kar_buf_release(&r[i].body);
	}
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
		cmocka_unit_test(rows_of_answers),
		cmocka_unit_test(rows_of_replays),
		cmocka_unit_test(when_nobody_listens_then_a_write_was_surely_not_executed),
		cmocka_unit_test(when_cancelled_in_on_head_then_nothing_more_comes),
		cmocka_unit_test(when_cancelled_in_on_data_then_nothing_more_comes_and_the_bytes_are_valid),
		cmocka_unit_test(when_data_is_refused_then_done_says_invalid),
		cmocka_unit_test(when_the_pool_is_freed_in_on_data_then_all_is_quiet),
		cmocka_unit_test(when_the_pool_is_freed_in_on_done_then_all_is_quiet),
		cmocka_unit_test(when_one_is_started_in_on_done_then_it_runs_on_the_same_connection),
		cmocka_unit_test(when_the_server_is_silent_then_the_timeout_is_exact_and_the_loop_sleeps),
		cmocka_unit_test(when_a_watch_is_idle_then_nothing_wakes_the_process),
		cmocka_unit_test(when_the_head_says_more_then_it_is_told),
		cmocka_unit_test(
			when_connections_are_reset_then_busy_ones_finish_and_new_requests_get_new_ones),
		cmocka_unit_test(when_a_header_would_start_another_one_then_nothing_is_sent),
		cmocka_unit_test(when_the_url_is_none_then_done_says_invalid),
		cmocka_unit_test(when_a_body_is_large_then_it_arrives_whole_without_expect),
		cmocka_unit_test(when_gzip_is_asked_for_then_the_user_sees_the_plain_bytes),
		cmocka_unit_test(when_many_run_at_once_then_each_is_answered_once),
	};

	return cmocka_run_group_tests_name("http", tests, init_curl, cleanup_curl);
}
