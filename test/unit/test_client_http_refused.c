/* client_http: what the server refuses, and credentials. */
#include "client_http_fixture.h"

#include "common/kube/request.h"

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

static void when_the_rejected_credentials_have_expired_then_the_error_says_when(void **state KAR_UNUSED)
{
	static const struct {
		const char *name;
		kar_time expiry; /* wall ms; 0: never */
		bool told;
	} rows[] = {
		{ "expired", 1767225600000, true },
		{ "still_valid", 32503680000000, false },
		{ "never_expires", 0, false },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct result r = { 0 };
		struct world w;

		open_world(&w, NULL);
		fake_credential.expiry = rows[i].expiry;
		w.refuse_first = 100;
		w.refusal = UNAUTHORIZED;
		start(&w, &r, kar_client_get(&pods, "a", "p"));
		wait_until(w.loop, is_done, &r);
		if (r.err.what != KAR_UNAUTHORIZED ||
			rows[i].told !=
				(strstr(r.err.msg,
					 " (the credentials expired at 2026-01-01T00:00:00Z; log in again)") !=
					NULL) ||
			rows[i].told != (strstr(r.err.msg, "expired") != NULL))
			fail_msg("%s: %s", rows[i].name, r.err.msg);
		close_world(&w);
	}
}

static unsigned occurrences(const char *text, const char *word)
{
	unsigned n = 0;

	for (text = strstr(text, word); text; text = strstr(text + 1, word))
		n++;
	return n;
}

static void get_one(struct world *w)
{
	struct result r = { 0 };

	start(w, &r, kar_client_get(&pods, "a", "p"));
	wait_until(w->loop, is_done, &r);
	assert_true(r.ok);
	release(&r);
}

static void when_credentials_cannot_be_refreshed_then_each_reason_is_logged_once(void **state KAR_UNUSED)
{
	static const char *const problems[] = { "plug-in is down", "plug-in is down", NULL, "file is empty",
		"plug-in is down" };
	struct world w;

	open_world(&w, NULL);
	for (size_t i = 0; i < KAR_LEN(problems); i++) {
		fake_credential.problem = problems[i];
		get_one(&w);
	}
	assert_int_equal(occurrences(kar_buf_cstr(&w.log), "plug-in is down"), 1);
	assert_int_equal(occurrences(kar_buf_cstr(&w.log), "file is empty"), 1);
	assert_int_equal(occurrences(kar_buf_cstr(&w.log), "\n"), 2);
	close_world(&w);
}

static void when_the_server_warns_then_each_text_is_logged_once(void **state KAR_UNUSED)
{
	struct world w;

	open_world(&w, NULL);
	w.refuse_first = 100;
	w.refusal = "HTTP/1.1 200 X\r\nWarning: 299 - \"pods v0 is old\"\r\nContent-Length: 2\r\n\r\n{}";
	for (int i = 0; i < 3; i++)
		get_one(&w);
	assert_int_equal(occurrences(kar_buf_cstr(&w.log), "pods v0 is old"), 1);
	close_world(&w);
}

/* Its path would be that of the collection: the DELETE would delete all objects of the namespace. */
static void when_the_name_is_empty_then_nothing_is_sent(void **state KAR_UNUSED)
{
	struct kar_request rows[] = {
		kar_client_delete(&pods, "a", "", text("{}")),
		kar_client_delete(&pods, "a", NULL, text("{}")),
		kar_client_patch(&pods, "a", "", KAR_PATCH_MERGE, text("{}")),
		kar_client_update(&pods, "a", "", text("{}")),
		kar_client_get(&pods, "a", ""),
	};
	const struct kar_request group = kar_client_get(&pods, NULL, NULL);
	struct world w;

	assert_true(kar_request_is_whole(&group)); /* what a group of the API has is asked like this */
	open_world(&w, NULL);
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct result r = { 0 };

		start(&w, &r, rows[i]);
		assert_int_equal(r.dones, 0); /* from the loop, as all errors */
		wait_until(w.loop, is_done, &r);
		assert_int_equal(r.err.what, KAR_INVALID);
		assert_non_null(strstr(r.err.msg, "the name is empty"));
		release(&r);
	}
	assert_int_equal(w.server.requests, 0);
	get_one(&w);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_throttled_then_it_waits_as_told_and_succeeds),
		cmocka_unit_test(when_the_wait_is_long_then_the_caller_is_told_at_once),
		cmocka_unit_test(rows_of_writes_that_are_sent_once),
		cmocka_unit_test(when_nobody_listens_then_retry),
		cmocka_unit_test(when_the_token_is_rejected_then_it_is_refreshed_once),
		cmocka_unit_test(when_the_ca_is_rotated_then_a_new_connection_is_made),
		cmocka_unit_test(when_an_answer_is_too_long_then_it_is_refused_and_a_write_unknown),
		cmocka_unit_test(when_the_new_token_is_rejected_too_then_unauthorized),
		cmocka_unit_test(when_there_are_no_credentials_then_the_reason_is_told),
		cmocka_unit_test(when_the_rejected_credentials_have_expired_then_the_error_says_when),
		cmocka_unit_test(when_credentials_cannot_be_refreshed_then_each_reason_is_logged_once),
		cmocka_unit_test(when_the_server_warns_then_each_text_is_logged_once),
		cmocka_unit_test(when_the_name_is_empty_then_nothing_is_sent),
	};

	return cmocka_run_group_tests_name("client_http_refused", tests, init_curl, cleanup_curl);
}
