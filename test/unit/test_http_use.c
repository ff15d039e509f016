/* http: users who cancel, refuse, free and start from their callbacks; time; heads. */
#include "http_fixture.h"

/* --- users who cancel, refuse, free and start from their callbacks --- */

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

/* --- heads, refusals, many --- */

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

static void when_the_environment_names_a_proxy_then_it_is_not_asked(void **state KAR_UNUSED)
{
	static const char *const names[] = { "http_proxy", "all_proxy", "ALL_PROXY" };
	struct row answer = { .script = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" };
	struct result r = { 0 };
	struct world w;

	for (size_t i = 0; i < KAR_LEN(names); i++)
		assert_int_equal(setenv(names[i], "http://127.0.0.1:1", 1), 0); /* where nobody listens */
	open_world(&w, play_row);
	w.row = &answer;
	r.request = start_get(w.http, &r, w.url);
	wait_until(w.loop, is_done, &r);
	for (size_t i = 0; i < KAR_LEN(names); i++)
		unsetenv(names[i]);
	assert_true(r.ok);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_cancelled_in_on_head_then_nothing_more_comes),
		cmocka_unit_test(when_cancelled_in_on_data_then_nothing_more_comes_and_the_bytes_are_valid),
		cmocka_unit_test(when_data_is_refused_then_done_says_invalid),
		cmocka_unit_test(when_the_pool_is_freed_in_on_data_then_all_is_quiet),
		cmocka_unit_test(when_the_pool_is_freed_in_on_done_then_all_is_quiet),
		cmocka_unit_test(when_one_is_started_in_on_done_then_it_runs_on_the_same_connection),
		cmocka_unit_test(when_the_server_is_silent_then_the_timeout_is_exact_and_the_loop_sleeps),
		cmocka_unit_test(when_a_watch_is_idle_then_nothing_wakes_the_process),
		cmocka_unit_test(when_the_head_says_more_then_it_is_told),
		cmocka_unit_test(when_a_header_would_start_another_one_then_nothing_is_sent),
		cmocka_unit_test(when_the_url_is_none_then_done_says_invalid),
		cmocka_unit_test(when_a_body_is_large_then_it_arrives_whole_without_expect),
		cmocka_unit_test(when_gzip_is_asked_for_then_the_user_sees_the_plain_bytes),
		cmocka_unit_test(when_the_environment_names_a_proxy_then_it_is_not_asked),
		cmocka_unit_test(when_many_run_at_once_then_each_is_answered_once),
	};

	return cmocka_run_group_tests_name("http_use", tests, init_curl, cleanup_curl);
}
