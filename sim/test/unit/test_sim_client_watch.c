/* Lists and watches of the in-process client, their faults, and who is told what they showed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/test/unit/sim_client_world.h"

static unsigned count(const struct outcome *o, const char *what)
{
	unsigned n = 0;

	for (const char *p = o->stream.n ? kar_buf_cstr(&o->stream) : ""; (p = strstr(p, what)) != NULL; p++)
		n++;
	return n;
}

/* Without the one that each namespace gets. */
#define OURS "metadata.name!=kube-root-ca.crt"

static struct kar_request list(void)
{
	struct kar_request rq = kar_client_list(&configmaps, "default");

	rq.field_selector = OURS;
	return rq;
}

static struct kar_request watch(void)
{
	struct kar_request rq = kar_client_watch(&configmaps, "default", "1");

	rq.field_selector = OURS;
	rq.bookmarks = true;
	rq.timeout_seconds = 600;
	return rq;
}

static void when_listed_then_the_bytes_are_the_list(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 9, SIM_FAULT_CHUNKS, ALWAYS);
	write_now(&w, create("a"));
	write_now(&w, create("b"));
	start(&w, &o, list());
	run(&w, KAR_MINUTE);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.status, 200);
	assert_int_equal(count(&o, "ConfigMapList"), 1);
	assert_int_equal(count(&o, "\"data\""), 2);
	kar_buf_release(&o.stream);
	tear_down(&w);
}

/* In lists, in events, and alone; beside it there is another one, of which nobody asked that. */
static void when_an_object_is_garbled_then_clients_read_it_so_and_the_server_knows_nothing(
	void **state KAR_UNUSED)
{
	static const char garble[] =
		"{\"metadata\":{\"annotations\":{\"" SIM_GARBLE "\":\"{\\\"data\\\":{\\\"a\\\":[7]}}\"}}}";
	const struct sim_value *stored;
	struct outcome o = { 0 };
	struct world w;

	set_up(&w, 9, SIM_FAULT_NONE, 0);
	write_now(&w, create("a"));
	write_now(&w, create("b"));
	write_now(&w, kar_client_patch(&configmaps, "default", "a", KAR_PATCH_MERGE, text(garble)));
	start(&w, &o, list());
	run(&w, KAR_MINUTE);
	assert_int_equal(count(&o, "\"data\":{\"a\":[7]}"), 1);
	assert_int_equal(count(&o, "\"data\":{\"a\":\"1\"}"), 1);
	kar_buf_release(&o.stream);

	start(&w, &o, watch());
	run(&w, KAR_SECOND);
	assert_int_equal(count(&o, "\"data\":{\"a\":[7]}"), 1);
	assert_int_equal(count(&o, "\n"), 3);
	kar_client_cancel(w.client, o.call);
	kar_buf_release(&o.stream);

	start(&w, &o, kar_client_get(&configmaps, "default", "a"));
	run(&w, KAR_MINUTE);
	assert_non_null(strstr(o.body, "\"data\":{\"a\":[7]}"));
	stored = sim_apiserver_peek(w.server, "", "configmaps", "default", "a");
	assert_string_equal(sim_get_text(stored, "data", "a"), "1");
	tear_down(&w);
}

static void when_watched_then_events_come_in_order_and_the_server_ends_it(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 10, SIM_FAULT_CHUNKS, ALWAYS / 2);
	start(&w, &o, watch());
	run(&w, KAR_SECOND);
	for (int i = 0; i < 20; i++) {
		char value[16];

		snprintf(value, sizeof(value), "v%d", i);
		write_now(&w, i ? update_data("a", value) : create("a"));
		run(&w, i % 3);
	}
	run(&w, KAR_SECOND);
	assert_int_equal(count(&o, "ADDED"), 1);
	assert_int_equal(count(&o, "MODIFIED"), 19);
	assert_int_equal(o.done, 0);
	run(&w, 11 * KAR_MINUTE);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.status, 200);
	assert_true(count(&o, "BOOKMARK") > 0);
	kar_buf_release(&o.stream);
	tear_down(&w);
}

/* A watch during which @n changes happen under one fault. */
static void watch_under(struct world *w, struct outcome *o, uint64_t seed, enum sim_fault f, int n)
{
	set_up(w, seed, f, ALWAYS);
	start(w, o, watch());
	run(w, KAR_SECOND);
	write_now(w, create("a"));
	for (int i = 0; i < n; i++) {
		char value[16];

		snprintf(value, sizeof(value), "v%d", i);
		write_now(w, update_data("a", value));
	}
}

static void finish_watch(struct world *w, struct outcome *o)
{
	kar_client_cancel(w->client, o->call);
	kar_buf_release(&o->stream);
	tear_down(w);
}

static void when_a_watch_is_cut_then_what_came_is_a_beginning_of_what_happened(void **state KAR_UNUSED)
{
	unsigned broken = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;
		struct outcome o = { 0 };

		watch_under(&w, &o, seed, SIM_FAULT_CUT, 3);
		run(&w, KAR_MINUTE);
		assert_int_equal(o.done, 1);
		assert_true(count(&o, "\n") <= 4);
		assert_true(o.err.what == KAR_OK || o.err.what == KAR_RETRY);
		if (o.err.what == KAR_OK)
			assert_int_equal(count(&o, "\n"), 4);
		broken += o.err.what != KAR_OK;
		finish_watch(&w, &o);
	}
	assert_in_range(broken, 1, SEEDS - 1);
}

static void when_a_watch_lags_then_the_events_come_later_and_complete(void **state KAR_UNUSED)
{
	unsigned late = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;
		struct outcome o = { 0 };

		watch_under(&w, &o, seed, SIM_FAULT_LAG, 3);
		w.once = true;
		run(&w, 50);
		late += count(&o, "\n") == 0;
		run(&w, 3 * KAR_MINUTE);
		if (count(&o, "ADDED") != 1 || count(&o, "MODIFIED") != 3)
			fail_msg("seed %d: %s", (int)seed, kar_buf_cstr(&o.stream));
		finish_watch(&w, &o);
	}
	assert_int_equal(late, SEEDS);
}

static void when_a_watch_skips_then_it_ends_with_gone_instead_of_the_events(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	watch_under(&w, &o, 11, SIM_FAULT_SKIP, 3);
	run(&w, 3 * KAR_MINUTE);
	assert_int_equal(o.done, 1);
	assert_int_equal(count(&o, "MODIFIED"), 0);
	assert_int_equal(count(&o, "ERROR"), 1);
	assert_int_equal(count(&o, "\"code\":410"), 1);
	finish_watch(&w, &o);
}

static void when_a_watch_is_silent_then_no_bookmarks_come(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	watch_under(&w, &o, 12, SIM_FAULT_SILENT, 0);
	run(&w, 5 * KAR_MINUTE);
	assert_int_equal(count(&o, "ADDED"), 1);
	assert_int_equal(count(&o, "BOOKMARK"), 0);
	finish_watch(&w, &o);
}

static void when_a_first_list_travels_then_it_shows_the_past(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };
	unsigned old = 0;

	set_up(&w, 13, SIM_FAULT_TRAVEL, ALWAYS);
	for (int i = 0; i < 90; i++) { /* the wire learns versions from what passes */
		start(&w, &o, i ? update_data("a", "2") : create("a"));
		run(&w, KAR_SECOND);
	}
	start(&w, &o, create("new"));
	run(&w, KAR_SECOND);
	start(&w, &o, list());
	run(&w, KAR_SECOND);
	old = count(&o, "\"name\":\"new\"") == 0;
	assert_int_equal(o.status, 200);
	assert_int_equal(count(&o, "\"name\":\"a\""), 1);
	kar_buf_release(&o.stream);
	assert_int_equal(old, 1);
	tear_down(&w);
}

/* A watch at the latest version, after a minute in which "a" has changed each second and "gone" came and went. */
static void replay(uint64_t seed, struct world *w, struct outcome *o)
{
	struct kar_request rq = watch();
	char position[24];

	set_up(w, seed, SIM_FAULT_REPLAY, ALWAYS);
	for (int i = 0; i < 70; i++) {
		start(w, o, i ? update_data("a", i % 2 ? "2" : "3") : create("a"));
		run(w, KAR_SECOND);
		if (i == 20)
			write_now(w, create("gone"));
	}
	write_now(w, kar_client_delete(&configmaps, "default", "gone", text("{}")));
	snprintf(position, sizeof(position), "%lld", (long long)sim_apiserver_rv(w->server));
	rq.resource_version = position;
	start(w, o, rq);
	run(w, KAR_SECOND);
}

static void when_a_watch_replays_then_older_versions_of_what_exists_come_again(void **state KAR_UNUSED)
{
	unsigned again = 0, whole = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;
		struct outcome o = { 0 };

		replay(seed, &w, &o);
		again += count(&o, "\"type\":\"MODIFIED\"") > 0;
		assert_int_equal(count(&o, "\"gone\""), 0); /* neither as it was nor that it went */
		assert_true(w.told >= sim_apiserver_rv(w.server));
		whole += o.done == 0; /* the others end in the middle of it */
		finish_watch(&w, &o);
	}
	assert_in_range(again, SEEDS / 2, SEEDS);
	assert_in_range(whole, 1, SEEDS - 1);
}

/* --- who watches the wire ------------------------------------------------------------------------------- */

static void when_a_client_lists_and_watches_then_it_is_known_what_it_was_told(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 3, SIM_FAULT_NONE, 0);
	start(&w, &o, list());
	assert_int_equal(w.told, 0);
	run(&w, KAR_SECOND);
	assert_int_equal(w.told, 0); /* a list alone tells nothing: its client may refuse it */
	kar_buf_release(&o.stream);
	start(&w, &o, watch());
	run(&w, KAR_SECOND);
	assert_true(w.told > 0);
	write_now(&w, create("a"));
	assert_true(w.told < sim_apiserver_rv(w.server));
	run(&w, KAR_SECOND);
	assert_true(w.told == sim_apiserver_rv(w.server));
	finish_watch(&w, &o);
}

static void when_history_is_compacted_then_an_old_watch_is_refused(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 14, SIM_FAULT_COMPACT, ALWAYS);
	write_now(&w, create("a"));
	run(&w, KAR_SECOND);
	start(&w, &o, watch());
	run(&w, KAR_SECOND);
	assert_true(o.err.what == KAR_GONE || count(&o, "\"code\":410") == 1);
	kar_client_cancel(w.client, o.call);
	kar_buf_release(&o.stream);
	tear_down(&w);
}

static void when_the_receiver_refuses_or_cancels_then_the_stream_ends(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { .refuse = true };

	set_up(&w, 15, SIM_FAULT_NONE, 0);
	write_now(&w, create("a"));
	start(&w, &o, list());
	run(&w, KAR_SECOND);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.err.what, KAR_INVALID);
	kar_buf_release(&o.stream);

	o = (struct outcome){ .cancel = true };
	start(&w, &o, watch());
	run(&w, KAR_SECOND);
	write_now(&w, update_data("a", "2"));
	run(&w, KAR_MINUTE);
	assert_int_equal(o.done, 0);
	assert_null(o.call);
	assert_true(o.stream.n > 0);
	kar_buf_release(&o.stream);
	tear_down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_listed_then_the_bytes_are_the_list),
		cmocka_unit_test(
			when_an_object_is_garbled_then_clients_read_it_so_and_the_server_knows_nothing),
		cmocka_unit_test(when_watched_then_events_come_in_order_and_the_server_ends_it),
		cmocka_unit_test(when_a_watch_is_cut_then_what_came_is_a_beginning_of_what_happened),
		cmocka_unit_test(when_a_watch_lags_then_the_events_come_later_and_complete),
		cmocka_unit_test(when_a_watch_skips_then_it_ends_with_gone_instead_of_the_events),
		cmocka_unit_test(when_a_watch_is_silent_then_no_bookmarks_come),
		cmocka_unit_test(when_a_first_list_travels_then_it_shows_the_past),
		cmocka_unit_test(when_a_watch_replays_then_older_versions_of_what_exists_come_again),
		cmocka_unit_test(when_a_client_lists_and_watches_then_it_is_known_what_it_was_told),
		cmocka_unit_test(when_history_is_compacted_then_an_old_watch_is_refused),
		cmocka_unit_test(when_the_receiver_refuses_or_cancels_then_the_stream_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
