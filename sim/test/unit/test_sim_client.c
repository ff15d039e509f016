/* The in-process client: what it answers, and what each fault of a call looks like to who called it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/test/unit/sim_client_world.h"

static void when_a_call_goes_well_then_the_answer_has_object_version_and_uid(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 1, SIM_FAULT_NONE, 0);
	start(&w, &o, create("a"));
	run(&w, 100);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.status, 201);
	assert_true(o.rv > 0);
	assert_int_equal(strlen(o.uid), 36);
	assert_non_null(strstr(o.body, "\"name\":\"a\""));

	kar_rv created = o.rv;

	start(&w, &o, kar_client_get(&configmaps, "default", "a"));
	run(&w, 100);
	assert_int_equal(o.status, 200);
	assert_int_equal(o.rv, created);
	tear_down(&w);
}

static void when_the_server_refuses_then_the_error_is_that_of_the_http_client(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 1, SIM_FAULT_NONE, 0);
	start(&w, &o, kar_client_get(&configmaps, "default", "b"));
	run(&w, 100);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.err.what, KAR_NOTFOUND);
	assert_int_equal(o.err.http, 404);
	assert_string_equal(o.err.reason, "NotFound");
	assert_string_equal(o.err.msg, "get configmaps default/b: configmaps \"b\" not found");

	write_now(&w, create("a"));
	start(&w, &o, create("a"));
	run(&w, 100);
	assert_int_equal(o.err.what, KAR_EXISTS);
	tear_down(&w);
}

/* --- faults of one call -------------------------------------------------------------------------------- */

/* What a create sees while @fault strikes always. @executed: how often the server did it, at the least and at most. */
static const struct {
	const char *name;
	enum sim_fault fault;
	enum kar_class either, or ;
	int http;
	unsigned low, high;
	bool late; /* it is there only after the client gave up */
} rows[] = {
	{ "lost", SIM_FAULT_LOST, KAR_UNKNOWN, KAR_RETRY, 0, 0, 0, false },
	{ "reply lost", SIM_FAULT_REPLY, KAR_UNKNOWN, KAR_UNKNOWN, 0, 1, 1, false },
	{ "late", SIM_FAULT_LATE, KAR_UNKNOWN, KAR_UNKNOWN, 0, 1, 1, true },
	{ "conflict", SIM_FAULT_CONFLICT, KAR_CONFLICT, KAR_CONFLICT, 409, 0, 0, false },
	{ "throttled", SIM_FAULT_THROTTLED, KAR_RETRY, KAR_RETRY, 429, 0, 0, false },
	{ "error", SIM_FAULT_ERROR, KAR_UNKNOWN, KAR_UNKNOWN, 500, 0, 1, false },
	{ "unavailable", SIM_FAULT_UNAVAILABLE, KAR_RETRY, KAR_RETRY, 503, 0, 0, false },
	{ "time-out", SIM_FAULT_TIMEOUT, KAR_UNKNOWN, KAR_UNKNOWN, 504, 0, 1, false },
	{ "twice", SIM_FAULT_TWICE, KAR_OK, KAR_EXISTS, 409, 2, 2, false },
};

static void check_row(size_t i, uint64_t seed)
{
	const char *name = rows[i].name;
	struct world w;
	struct outcome o = { 0 };
	bool there;

	set_up(&w, seed, rows[i].fault, ALWAYS);
	start(&w, &o, create("a"));
	for (int s = 0; s < 120 && !o.done; s++)
		run(&w, KAR_SECOND);
	there = w.executed > 0;
	run(&w, KAR_MINUTE);
	if (o.done != 1)
		fail_msg("%s, seed %d: answered %d times", name, (int)seed, o.done);
	if (o.err.what != rows[i].either && o.err.what != rows[i].or)
		fail_msg("%s, seed %d: %s: %s", name, (int)seed, kar_err_class_name(o.err.what), o.err.msg);
	if (o.err.what != KAR_OK && o.err.http != rows[i].http)
		fail_msg("%s, seed %d: HTTP %d: %s", name, (int)seed, o.err.http, o.err.msg);
	if (w.executed < rows[i].low || w.executed > rows[i].high || exists(&w, "a") != (w.executed > 0))
		fail_msg("%s, seed %d: executed %u times", name, (int)seed, w.executed);
	if (rows[i].late && there)
		fail_msg("%s, seed %d: it was there before the client gave up", name, (int)seed);
	if (!w.struck || w.last != rows[i].fault)
		fail_msg("%s, seed %d: told of fault %s", name, (int)seed, sim_fault_name(w.last));
	tear_down(&w);
}

static void when_a_fault_strikes_a_create_then_it_looks_as_it_would_over_http(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			check_row(i, seed);
	}
}

static void when_throttled_once_then_the_client_waits_and_repeats_by_itself(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 3, SIM_FAULT_THROTTLED, ALWAYS);
	w.once = true;
	start(&w, &o, create("a"));
	run(&w, 30 * KAR_SECOND);
	assert_int_equal(o.status, 201);
	assert_in_range(o.at, sim_timeline_mono(w.timeline) - 29 * KAR_SECOND,
		sim_timeline_mono(w.timeline) - 20 * KAR_SECOND);
	tear_down(&w);
}

static void when_a_call_is_throttled_then_it_was_sent_once_and_heard_once(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 4, SIM_FAULT_THROTTLED, ALWAYS);
	w.once = true;
	start(&w, &o, create("a"));
	assert_int_equal(w.sent, 1);
	run(&w, KAR_MINUTE);
	assert_int_equal(o.status, 201);
	assert_int_equal(w.sent, 1);
	assert_int_equal(w.heard, 1);
	tear_down(&w);
}

static void when_a_read_is_lost_then_it_is_harmless(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 4, SIM_FAULT_LOST, ALWAYS);
	start(&w, &o, kar_client_get(&configmaps, "default", "a"));
	run(&w, KAR_MINUTE);
	assert_int_equal(o.err.what, KAR_RETRY);
	tear_down(&w);
}

static void when_the_server_is_slow_then_a_call_takes_long(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };
	kar_time began;

	set_up(&w, 5, SIM_FAULT_SLOW, ALWAYS);
	began = sim_timeline_mono(w.timeline);
	start(&w, &o, create("a"));
	run(&w, KAR_MINUTE);
	assert_int_equal(o.status, 201);
	assert_in_range(o.at - began, 200, 20000);
	tear_down(&w);
}

/* --- the life of the process --------------------------------------------------------------------------- */

static void when_a_write_is_cancelled_then_it_is_executed_but_not_answered(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 6, SIM_FAULT_NONE, 0);
	start(&w, &o, create("a"));
	kar_client_cancel(w.client, o.call);
	run(&w, KAR_SECOND);
	assert_int_equal(o.done, 0);
	assert_int_equal(w.executed, 1);
	assert_true(exists(&w, "a"));
	tear_down(&w);
}

static void when_the_process_dies_then_calls_end_at_once_and_what_was_sent_arrives(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 }, after = { 0 };

	set_up(&w, 7, SIM_FAULT_NONE, 0);
	start(&w, &o, create("a"));
	sim_client_kill(w.client);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.err.what, KAR_UNKNOWN);
	start(&w, &after, create("b"));
	run(&w, KAR_MINUTE);
	assert_int_equal(o.done, 1);
	assert_int_equal(after.done, 0);
	assert_true(exists(&w, "a"));
	assert_false(exists(&w, "b"));
	tear_down(&w);
}

static void when_the_process_crashes_at_a_write_then_it_is_told_when_that_has_arrived(void **state KAR_UNUSED)
{
	unsigned done = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;
		struct outcome o = { 0 };

		set_up(&w, seed, SIM_FAULT_CRASH, ALWAYS);
		start(&w, &o, create("a"));
		assert_int_equal(w.struck, 0);
		run(&w, KAR_MINUTE);
		assert_int_equal(w.struck, 1);
		assert_int_equal(o.done, 0); /* whoever is told kills it */
		assert_int_equal(exists(&w, "a"), w.executed);
		done += w.executed;
		tear_down(&w);
	}
	assert_in_range(done, 1, SEEDS - 1);
}

static void when_the_process_is_frozen_then_its_request_arrives_and_the_answer_waits(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 8, SIM_FAULT_NONE, 0);
	start(&w, &o, create("a"));
	sim_loop_freeze(w.loop);
	run(&w, KAR_SECOND);
	assert_true(exists(&w, "a"));
	assert_int_equal(o.done, 0);
	sim_loop_thaw(w.loop);
	run(&w, 1);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.status, 201);
	tear_down(&w);
}

/* --- determinism, names -------------------------------------------------------------------------------- */

/* When everything was answered, in one number. */
static uint64_t transcript(uint64_t seed)
{
	struct world w;
	struct outcome o[8] = { { 0 } };
	uint64_t hash = 0;

	set_up(&w, seed, SIM_FAULT_TWICE, ALWAYS / 2);
	for (size_t i = 0; i < KAR_LEN(o); i++)
		start(&w, &o[i], i % 2 ? update_data("a", "3") : create("a"));
	run(&w, KAR_MINUTE);
	for (size_t i = 0; i < KAR_LEN(o); i++)
		hash = hash * 31 + (uint64_t)o[i].at * 7 + (uint64_t)o[i].err.what;
	tear_down(&w);
	return hash;
}

static void when_the_seed_is_the_same_then_so_is_everything(void **state KAR_UNUSED)
{
	assert_int_equal(transcript(1), transcript(1));
	assert_int_not_equal(transcript(1), transcript(2));
}

static void when_faults_are_named_then_the_set_has_them(void **state KAR_UNUSED)
{
	static const struct {
		const char *text;
		int rc;
		uint32_t set;
	} names[] = {
		{ "none", 0, 0 },
		{ "all", 0, SIM_FAULTS_ALL },
		{ "lost", 0, 1u << SIM_FAULT_LOST },
		{ "cut,crash", 0, 1u << SIM_FAULT_CUT | 1u << SIM_FAULT_CRASH },
		{ "all,-clock", 0, SIM_FAULTS_ALL & ~(1u << SIM_FAULT_CLOCK) },
		{ "", -1, 77 },
		{ "cut,", -1, 77 },
		{ "cuts", -1, 77 },
		{ "-", -1, 77 },
	};

	for (size_t i = 0; i < KAR_LEN(names); i++) {
		struct kar_err err = { 0 };
		uint32_t set = 77;
		int rc = sim_faults_parse(names[i].text, &set, &err);

		if (rc != names[i].rc || set != names[i].set)
			fail_msg("\"%s\": %d, set %x, %s", names[i].text, rc, (unsigned)set, err.msg);
	}
}

static void when_a_plan_is_drawn_then_only_allowed_faults_are_in_it(void **state KAR_UNUSED)
{
	struct sim_faults all = sim_faults_draw(7, SIM_FAULTS_ALL),
			  some = sim_faults_draw(7, 1u << SIM_FAULT_CUT);
	unsigned on = 0;

	for (enum sim_fault f = 0; f < SIM_FAULT_COUNT; f++) {
		on += all.rate[f] > 0;
		assert_int_equal(some.rate[f], f == SIM_FAULT_CUT ? all.rate[f] : 0);
	}
	assert_in_range(on, 1, SIM_FAULT_COUNT - 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_a_call_goes_well_then_the_answer_has_object_version_and_uid),
		cmocka_unit_test(when_the_server_refuses_then_the_error_is_that_of_the_http_client),
		cmocka_unit_test(when_a_fault_strikes_a_create_then_it_looks_as_it_would_over_http),
		cmocka_unit_test(when_throttled_once_then_the_client_waits_and_repeats_by_itself),
		cmocka_unit_test(when_a_call_is_throttled_then_it_was_sent_once_and_heard_once),
		cmocka_unit_test(when_a_read_is_lost_then_it_is_harmless),
		cmocka_unit_test(when_the_server_is_slow_then_a_call_takes_long),
		cmocka_unit_test(when_a_write_is_cancelled_then_it_is_executed_but_not_answered),
		cmocka_unit_test(when_the_process_dies_then_calls_end_at_once_and_what_was_sent_arrives),
		cmocka_unit_test(when_the_process_crashes_at_a_write_then_it_is_told_when_that_has_arrived),
		cmocka_unit_test(when_the_process_is_frozen_then_its_request_arrives_and_the_answer_waits),
		cmocka_unit_test(when_the_seed_is_the_same_then_so_is_everything),
		cmocka_unit_test(when_faults_are_named_then_the_set_has_them),
		cmocka_unit_test(when_a_plan_is_drawn_then_only_allowed_faults_are_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
