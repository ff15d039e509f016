/* http: connections that are not there yet, that answer nothing, that are kept, closed and renewed. */
#include <netdb.h>
#include <poll.h>
#include <stdatomic.h>

#include "http_fixture.h"
#include "test/fixture/connections.h"

/* --- a name server that does not answer --- */

static atomic_bool lookups_may_end;
static atomic_int lookups;

/* Takes the place of the C library's for libcurl, which calls it from a thread. Addresses need no lookup. */
int getaddrinfo(const char *name KAR_UNUSED, const char *service KAR_UNUSED,
	const struct addrinfo *hints KAR_UNUSED, struct addrinfo **found KAR_UNUSED)
{
	enum { HANGS_MS = 2000 };

	lookups++;
	for (int ms = 0; ms < HANGS_MS && !lookups_may_end; ms++)
		poll(NULL, 0, 1);
	lookups--;
	return EAI_AGAIN;
}

static bool is_looking_up(void *arg KAR_UNUSED)
{
	return lookups > 0;
}

static bool no_lookup_is_left(void *arg KAR_UNUSED)
{
	return lookups == 0;
}

enum { STALL_MS = 500 };

static void end_lookups(struct world *w)
{
	lookups_may_end = true;
	wait_until(w->loop, no_lookup_is_left, NULL);
	lookups_may_end = false;
	close_world(w);
}

static void when_cancelled_during_a_lookup_then_it_is_not_waited_for(void **state KAR_UNUSED)
{
	struct result r = { 0 };
	struct world w;
	kar_time start;

	open_world(&w, hold_open);
	r.request = start_get(w.http, &r, "http://slow.test/x");
	wait_until(w.loop, is_looking_up, NULL);
	start = kar_clock_mono();
	kar_http_cancel(r.request);
	assert_in_range(kar_clock_mono() - start, 0, STALL_MS);
	end_lookups(&w);
}

static void when_the_connect_timeout_ends_during_a_lookup_then_the_loop_does_not_stand_still(
	void **state KAR_UNUSED)
{
	struct kar_http_options o = { .connect_timeout = 50 };
	struct result r = { 0 };
	struct world w;
	kar_time start;

	open_world(&w, hold_open);
	kar_http_free(w.http);
	w.http = kar_http_new(w.loop, &o);
	r.request = start_get(w.http, &r, "http://slow.test/x");
	wait_until(w.loop, is_looking_up, NULL);
	start = kar_clock_mono();
	wait_until(w.loop, is_done, &r);
	assert_int_equal(r.err.what, KAR_RETRY);
	assert_in_range(kar_clock_mono() - start, 0, STALL_MS);
	end_lookups(&w);
}

/* --- connections that nobody has closed but that answer nothing --- */

struct silence_row {
	const char *name;
	kar_time timeout;         /* of the request that hears nothing; 0: it is cancelled */
	kar_time cancelled_after; /* ms */
	unsigned connections;     /* used in the end */
};

static const struct silence_row silence_rows[] = {
	{ "when_cancelled_soon_then_the_idle_connection_is_used_again", 0, 0, 2 },
	{ "when_cancelled_after_a_long_silence_then_no_old_connection_is_trusted", 0, 60, 3 },
	{ "when_it_times_out_after_a_long_silence_then_no_old_connection_is_trusted", 60, 0, 3 },
	{ "when_it_times_out_sooner_than_that_then_the_idle_connection_is_used_again", 5, 0, 2 },
};

static bool is_held(void *arg)
{
	return ((struct world *)arg)->held_conn != NULL;
}

static unsigned connections_used(const struct silence_row *row)
{
	struct kar_http_options o = { .silence = 40 };
	struct result silent = { 0 }, other = { 0 }, next = { 0 };
	struct world w;
	unsigned used;

	open_world(&w, hold_open);
	kar_http_free(w.http);
	w.http = kar_http_new(w.loop, &o);
	struct kar_http_call call = { .method = "GET",
		.url = w.url,
		.timeout = row->timeout,
		.on_done = on_done,
		.arg = &silent };
	silent.request = kar_http_start(w.http, &call);
	wait_until(w.loop, is_held, &w);
	other.request = start_get(w.http, &other, w.url); /* leaves an idle connection behind */
	wait_until(w.loop, is_done, &other);
	if (row->timeout) {
		wait_until(w.loop, is_done, &silent);
	} else {
		wait_for_ms(w.loop, row->cancelled_after);
		kar_http_cancel(silent.request);
	}
	next.request = start_get(w.http, &next, w.url);
	wait_until(w.loop, is_done, &next);
	used = w.server.connections;
	kar_buf_release(&other.body);
	kar_buf_release(&next.body);
	close_world(&w);
	return used;
}

static void rows_of_silence(void **state KAR_UNUSED)
{
	int failed = 0;

	for (size_t i = 0; i < KAR_LEN(silence_rows); i++) {
		unsigned used = connections_used(&silence_rows[i]);

		if (used == silence_rows[i].connections)
			continue;
		print_error("%s: %u connections\n", silence_rows[i].name, used);
		failed++;
	}
	assert_int_equal(failed, 0);
}

/* --- which connection a request gets --- */

static void when_connections_are_not_shared_then_the_next_request_has_the_last_ones(void **state KAR_UNUSED)
{
	struct row answer = { .script = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" };
	struct kar_http_options own = { .own_connections = true };
	struct world w;

	open_world(&w, play_row);
	w.row = &answer;
	kar_http_free(w.http);
	w.http = kar_http_new(w.loop, &own);
	for (unsigned i = 1; i <= 2; i++) {
		struct result r = { 0 };

		r.request = start_get(w.http, &r, w.url);
		wait_until(w.loop, is_done, &r);
		assert_true(r.ok);
		assert_int_equal(w.server.connections, 1);
		kar_buf_release(&r.body);
	}
	close_world(&w);
}

static void when_a_pool_is_idle_then_its_connections_are_closed(void **state KAR_UNUSED)
{
	enum { IDLE_MS = 40 };
	/* The server closes what it has answered, as one that is restarted does. */
	struct row answer = { .script = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", .end = SERVER_FIN };
	struct kar_http_options seldom = { .idle = IDLE_MS };
	struct result r = { 0 }, next = { 0 };
	struct world w;

	open_world(&w, play_row);
	w.row = &answer;
	kar_http_free(w.http);
	w.http = kar_http_new(w.loop, &seldom);
	r.request = start_get(w.http, &r, w.url);
	wait_until(w.loop, is_done, &r);
	assert_int_equal(connections_to(w.server.port), 1);
	assert_in_range(wait_for_ms(w.loop, 2 * IDLE_MS), 1, 4);
	assert_int_equal(connections_to(w.server.port), 0);
	next.request = start_get(w.http, &next, w.url);
	wait_until(w.loop, is_done, &next);
	assert_true(r.ok && next.ok);
	kar_buf_release(&r.body);
	kar_buf_release(&next.body);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_cancelled_during_a_lookup_then_it_is_not_waited_for),
		cmocka_unit_test(
			when_the_connect_timeout_ends_during_a_lookup_then_the_loop_does_not_stand_still),
		cmocka_unit_test(rows_of_silence),
		cmocka_unit_test(when_connections_are_not_shared_then_the_next_request_has_the_last_ones),
		cmocka_unit_test(when_a_pool_is_idle_then_its_connections_are_closed),
		cmocka_unit_test(
			when_connections_are_reset_then_busy_ones_finish_and_new_requests_get_new_ones),
	};

	return cmocka_run_group_tests_name("http_connections", tests, init_curl, cleanup_curl);
}
