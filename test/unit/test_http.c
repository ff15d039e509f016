/* http: what a server may send, and what the user of the request is told. */
#include "http_fixture.h"

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

static void when_a_server_does_not_speak_tls_then_the_text_says_so(void **state KAR_UNUSED)
{
	struct kar_tls tls = { .insecure_skip_verify = true };
	struct result r = { 0 };
	char url[64];
	struct world w;

	open_world(&w, play_row);
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/x", w.server.port);
	r.http = w.http;
	r.request = kar_http_start(w.http,
		&(struct kar_http_call){ .method = "GET",
			.url = url,
			.tls = &tls,
			.on_head = on_head,
			.on_data = on_data,
			.on_done = on_done,
			.arg = &r });
	wait_until(w.loop, is_done, &r);
	assert_false(r.ok);
	assert_int_equal(r.err.what, KAR_RETRY);
	assert_non_null(strstr(r.err.msg, "the server does not speak TLS"));
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_answers),
		cmocka_unit_test(rows_of_replays),
		cmocka_unit_test(when_nobody_listens_then_a_write_was_surely_not_executed),
		cmocka_unit_test(when_a_server_does_not_speak_tls_then_the_text_says_so),
	};

	return cmocka_run_group_tests_name("http", tests, init_curl, cleanup_curl);
}
