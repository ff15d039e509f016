/* client_http: requests, streams, and many at once. */
#include "client_http_fixture.h"

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

static void when_another_form_is_asked_for_then_the_header_says_so(void **state KAR_UNUSED)
{
	struct kar_request list = kar_client_list(&pods, "a"), get = kar_client_get(&pods, "a", "p");
	struct result r = { 0 }, s = { 0 };
	struct world w;

	open_world(&w, NULL);
	list.protobuf = true;
	start(&w, &r, list);
	wait_until(w.loop, is_done, &r);
	assert_non_null(
		strstr(w.last_head, "\r\nAccept: application/vnd.kubernetes.protobuf, application/json\r\n"));
	get.metadata_only = true;
	start(&w, &s, get);
	wait_until(w.loop, is_done, &s);
	assert_non_null(strstr(w.last_head,
		"\r\nAccept: application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;"));
	release(&r);
	release(&s);
	close_world(&w);
}

static bool never(void *arg KAR_UNUSED)
{
	return false;
}

static void when_the_fence_is_closed_then_no_byte_of_a_write_leaves(void **state KAR_UNUSED)
{
	struct kar_request lease = kar_client_create(&pods, "a", text("{}"));
	struct result r = { 0 }, g = { 0 }, l = { 0 };
	struct world w;

	open_world(&w, NULL);
	kar_client_fence(w.client, never, NULL);
	start(&w, &r, kar_client_create(&pods, "a", text("{}")));
	wait_until(w.loop, is_done, &r);
	assert_false(r.ok);
	assert_int_equal(r.err.what, KAR_RETRY);
	assert_string_equal(r.err.msg, "create pods in a: not sent: this process may not write now");
	assert_int_equal(w.heads.n, 0);
	start(&w, &g, kar_client_get(&pods, "a", "p"));
	wait_until(w.loop, is_done, &g);
	assert_true(g.ok);
	lease.lane = KAR_LANE_LEASE;
	start(&w, &l, lease);
	wait_until(w.loop, is_done, &l);
	assert_true(l.ok);
	release(&r);
	release(&g);
	release(&l);
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

static void when_a_watch_has_ended_then_the_next_has_its_connection(void **state KAR_UNUSED)
{
	struct world w;

	open_world(&w, NULL);
	for (unsigned i = 1; i <= 2; i++) {
		struct result r = { 0 };

		start(&w, &r, kar_client_watch(&pods, NULL, "1"));
		wait_until(w.loop, is_done, &r);
		assert_true(r.ok);
		assert_int_equal(w.server.connections, 1);
		release(&r);
	}
	close_world(&w);
}

/* As behind a proxy that has got stuck between two watches: it takes the request and says nothing. */
static void when_the_answer_to_a_watch_does_not_begin_then_the_next_has_another_connection(
	void **state KAR_UNUSED)
{
	struct kar_client_http_options o = { .watch_answer = 50 };
	struct result r[3] = { 0 };
	struct world w;

	open_world(&w, &o);
	for (int i = 0; i < 3; i++) {
		w.hold = i == 1;
		start(&w, &r[i], kar_client_watch(&pods, NULL, "1"));
		wait_until(w.loop, is_done, &r[i]);
		assert_int_equal(r[i].ok, i != 1);
		assert_int_equal(r[i].begun, i != 1);
	}
	assert_int_equal(r[1].err.what, KAR_RETRY);
	assert_non_null(strstr(r[1].err.msg, "watch pods: no answer"));
	assert_int_equal(w.server.connections, 2);
	for (int i = 0; i < 3; i++)
		release(&r[i]);
	close_world(&w);
}

static void when_the_answer_to_a_watch_has_begun_then_it_may_be_silent(void **state KAR_UNUSED)
{
	struct kar_client_http_options o = { .watch_answer = 500 };
	struct result r = { 0 };
	struct world w;

	open_world(&w, &o);
	w.refuse_first = 1;
	w.refusal = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
	start(&w, &r, kar_client_watch(&pods, NULL, "1"));
	wait_for_ms(w.loop, 600);
	assert_int_equal(r.begun, 1);
	assert_int_equal(r.dones, 0);
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

static bool one_is_held(void *arg)
{
	return ((struct world *)arg)->n_held == 1;
}

static bool two_are_held(void *arg)
{
	return ((struct world *)arg)->n_held == 2;
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
	wait_until(w.loop, one_is_held, &w);
	wait_for_ms(w.loop, 5);
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
	wait_until(w.loop, two_are_held, &w);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_created_then_the_request_is_complete_and_the_answer_is_read),
		cmocka_unit_test(when_another_form_is_asked_for_then_the_header_says_so),
		cmocka_unit_test(when_the_fence_is_closed_then_no_byte_of_a_write_leaves),
		cmocka_unit_test(when_impersonating_then_the_headers_say_whom),
		cmocka_unit_test(when_the_config_cannot_work_then_no_client_and_a_reason),
		cmocka_unit_test(when_listing_then_the_bytes_are_streamed),
		cmocka_unit_test(when_the_reader_refuses_then_invalid),
		cmocka_unit_test(when_a_watch_is_refused_then_its_reader_sees_the_error_and_no_bytes),
		cmocka_unit_test(when_a_watch_has_ended_then_the_next_has_its_connection),
		cmocka_unit_test(
			when_the_answer_to_a_watch_does_not_begin_then_the_next_has_another_connection),
		cmocka_unit_test(when_the_answer_to_a_watch_has_begun_then_it_may_be_silent),
		cmocka_unit_test(when_cancelled_in_on_data_then_nothing_more_comes),
		cmocka_unit_test(when_cancelled_or_freed_in_any_state_then_all_is_quiet),
		cmocka_unit_test(when_the_client_is_freed_in_on_done_then_all_is_quiet),
		cmocka_unit_test(when_500_are_started_then_64_are_in_flight_in_order_and_a_lease_overtakes),
		cmocka_unit_test(when_qps_is_set_then_burst_first_and_the_rate_afterwards),
	};

	return cmocka_run_group_tests_name("client_http", tests, init_curl, cleanup_curl);
}
