/* The life of a reflector: its requests, its end in the middle of one, watches that fall silent, and its statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/reflector_script.h"

static void freed_in_the_middle_then_nothing_is_left(void **state)
{
	static const struct fake_step steps[] = {
		{ FIRST, MORE("7", "x", TOY("a", "1", "5")) },
		{ .expect = PAGE("x"),
			.hang = true,
			.stop = true,
			.give = "{\"kind\":\"ToyList\",\"items\":[" TOY("b", "2",
				"6") ",{\"metadata\":{\"na" },
		{ 0 },
	};
	struct scene s = { 0 };

	(void)state;
	begin(&s, "freed", steps, 0, (struct kar_reflector_options){ 0 });
	end(&s); /* while its first request is under way */
	s = (struct scene){ 0 };
	begin(&s, "freed", steps, 0, (struct kar_reflector_options){ 0 });
	kar_loop_run(s.fake.loop);
	assert_int_equal(toy_alive, 2);
	end(&s);
}

#define LONG_WATCH(rv) \
	"watch " TOYS "?watch=true&allowWatchBookmarks=true&resourceVersion=" rv "&timeoutSeconds=60"

static void silent_after_bookmarks_then_cut(void **state)
{
	struct kar_reflector_times long_watch = quick;
	static const struct fake_step scripts[][4] = {
		{ { FIRST, LIST("7", "") },
			{ .expect = LONG_WATCH("7"), .give = BOOKMARK("8"), .hang = true }, { 0 } },
		/* What the last watch has taught holds for one that never brings a byte. */
		{ { FIRST, LIST("7", "") }, { LONG_WATCH("7"), BOOKMARK("8") },
			{ .expect = LONG_WATCH("8"), .hang = true }, { 0 } },
	};

	(void)state;
	long_watch.watch_min = long_watch.watch_max = 60000;
	for (size_t i = 0; i < KAR_LEN(scripts); i++) {
		struct scene s = { 0 };

		begin(&s, "silent", scripts[i], 0, (struct kar_reflector_options){ .times = &long_watch });
		kar_loop_run(s.fake.loop); /* the fake's watchdog is sooner than the end of this watch */
		assert_int_equal(s.fake.cancelled, 1);
		end(&s);
	}
}

static void selectors_and_namespace_are_on_every_request(void **state)
{
	static const struct fake_step steps[] = {
		{ "list /apis/example.com/v1/namespaces/team/toys?labelSelector=kar%3Dyes&fieldSelector=a%3Db&limit=500",
			MORE("7", "x", "") },
		{ "list /apis/example.com/v1/namespaces/team/toys?labelSelector=kar%3Dyes&fieldSelector=a%3Db&limit=500"
		  "&continue=x",
			LIST("7", "") },
		{ "watch /apis/example.com/v1/namespaces/team/toys?watch=true&allowWatchBookmarks=true&resourceVersion=7"
		  "&labelSelector=kar%3Dyes&fieldSelector=a%3Db&timeoutSeconds=1",
			"" },
		{ 0 },
	};
	struct scene s = { 0 };

	(void)state;
	begin(&s, "selectors", steps, 0,
		(struct kar_reflector_options){ .ns = "team",
			.label_selector = "kar=yes",
			.field_selector = "a=b" });
	kar_loop_run(s.fake.loop);
	assert_int_equal(s.fake.at, 3);
	end(&s);
}

static void statistics_count_what_happened(void **state)
{
	static const struct fake_step steps[] = {
		{ FIRST, MORE("7", "x", "") },
		{ PAGE("x"), LIST("7", "") },
		{ WATCH("7"), ADDED("a", "1", "8") BOOKMARK("9") EVENT("RENAMED", TOY("a", "1", "8")) },
		{ WATCH("9"), "]" },
		{ 0 },
	};
	struct scene s = { 0 };

	(void)state;
	begin(&s, "statistics", steps, 0, (struct kar_reflector_options){ 0 });
	kar_loop_run(s.fake.loop);

	struct kar_reflector_stats stats = kar_reflector_stats(s.reflector);

	assert_int_equal(stats.lists, 1);
	assert_int_equal(stats.watches, 3);
	assert_int_equal(stats.events, 1);
	assert_int_equal(stats.bookmarks, 1);
	assert_int_equal(stats.parse_errors, 2);
	assert_true(stats.last_event > 0);
	assert_ptr_equal(kar_reflector_store(s.reflector), s.store);
	end(&s);
}

static void retry_now(void *arg)
{
	kar_reflector_retry(((struct scene *)arg)->reflector);
}

static void stop_now(void *arg)
{
	kar_loop_stop(((struct scene *)arg)->fake.loop);
}

/* A back-off of minutes is left out, whatever the server had answered while it started, but not again within the time of hurry. */
static void server_is_back_then_retries_at_once(void **state)
{
	static const struct {
		struct fake_step steps[4];
		size_t at; /* steps used up in the end */
	} scripts[] = {
		{ { { FIRST, NULL, { .what = KAR_RETRY, .cause = KAR_CAUSE_CONNECTION } },
			  { FIRST, LIST("7", "") }, { .expect = WATCH("7"), .hang = true, .stop = true } },
			3 },
		{ { { FIRST, NULL, FORBIDDEN }, { FIRST, LIST("7", "") },
			  { .expect = WATCH("7"), .hang = true, .stop = true } },
			3 },
		{ { { FIRST, NULL, FORBIDDEN }, { FIRST, NULL, FORBIDDEN }, { FIRST, LIST("7", "") } }, 2 },
	};
	struct kar_reflector_times patient = quick;

	(void)state;
	patient.backoff_base = patient.backoff_cap = patient.refused = patient.hurry = 10 * KAR_MINUTE;
	for (size_t i = 0; i < KAR_LEN(scripts); i++) {
		struct scene s = { 0 };
		struct kar_timer *retry, *again, *stop;

		begin(&s, "retry", scripts[i].steps, 0, (struct kar_reflector_options){ .times = &patient });
		retry = kar_timer_new(s.fake.loop, retry_now, &s);
		again = kar_timer_new(s.fake.loop, retry_now, &s);
		stop = kar_timer_new(s.fake.loop, stop_now, &s);
		kar_timer_start(retry, 50);
		kar_timer_start(again, 100);
		kar_timer_start(stop, 200);
		kar_loop_run(s.fake.loop);
		assert_int_equal(s.fake.at, scripts[i].at);
		kar_timer_free(retry);
		kar_timer_free(again);
		kar_timer_free(stop);
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(freed_in_the_middle_then_nothing_is_left),
		cmocka_unit_test(server_is_back_then_retries_at_once),
		cmocka_unit_test(silent_after_bookmarks_then_cut),
		cmocka_unit_test(selectors_and_namespace_are_on_every_request),
		cmocka_unit_test(statistics_count_what_happened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
