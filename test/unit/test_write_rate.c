/* When status writes go out: one object's interval, and the budget that counters share. When a key is looked at again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controllers/runtime/write_rate.h"

static const struct {
	const char *name;
	kar_time written;
	bool counters;
	kar_time now, want;
} rows[] = {
	{ "first_write_goes_out", 0, false, 5000, 0 },
	{ "within_the_interval_it_waits_for_the_rest", 4400, false, 5000, 400 },
	{ "at_the_end_of_the_interval_it_goes_out", 4000, false, 5000, 0 },
	{ "counters_wait_for_the_interval_too", 4400, true, 5000, 400 },
	{ "counters_go_out_while_there_is_budget", 4000, true, 5000, 0 },
};

static void one_object(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_write_rate p = { .interval = 1000, .rate = 10 };
		kar_time got = kar_write_rate_delay(&p, rows[i].written, rows[i].counters, rows[i].now);

		if (got != rows[i].want)
			fail_msg("%s: %d ms, want %d", rows[i].name, (int)got, (int)rows[i].want);
	}
}

/* How many of 100 objects may write their counters at @now. */
static int allowed(struct kar_write_rate *p, kar_time now)
{
	int n = 0;

	for (int i = 0; i < 100; i++)
		n += kar_write_rate_delay(p, 1, true, now) == 0;
	return n;
}

static void counters_of_all_objects_share_a_budget(void **state)
{
	struct kar_write_rate p = { .interval = 1000, .rate = 10 };

	(void)state;
	assert_int_equal(allowed(&p, 5000), 10);
	assert_int_equal(allowed(&p, 5000), 0);
	assert_int_equal(allowed(&p, 5100), 1);
	assert_int_equal(allowed(&p, 5500), 4);
	assert_int_equal(allowed(&p, 60000), 10); /* a quiet minute saves up no more than a second's worth */
}

static void stories_do_not_spend_the_budget(void **state)
{
	struct kar_write_rate p = { .interval = 1000, .rate = 10 };

	(void)state;
	assert_int_equal(allowed(&p, 5000), 10);
	assert_int_equal(kar_write_rate_delay(&p, 1, false, 5000), 0);
}

/* How many of 100 new objects get their first status, which says why they wait, at @now. */
static int answered(struct kar_write_rate *p, kar_time now, bool busy)
{
	struct kar_plan plan = { .answers = true };
	int n = 0;

	for (int i = 0; i < 100; i++)
		n += kar_write_rate_status(p, &plan, now, busy, now) == 0;
	return n;
}

static void first_answers_are_at_once_but_in_a_burst(void **state)
{
	struct kar_write_rate p = { .interval = 1000, .rate = 10 };
	struct kar_plan later = { .n_actions = 0 };

	(void)state;
	assert_int_equal(answered(&p, 5000, true), 0); /* other writes wait to be sent */
	assert_int_equal(answered(&p, 5000, false), 10);
	assert_int_equal(answered(&p, 5100, false), 1);
	assert_int_equal(kar_write_rate_status(&p, &later, 5100, false, 5100), 1000);
}

/* --- the rest of a key --------------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t objects;
	kar_time want; /* ms that progress waits */
} rests[] = {
	{ "a_small_gang_20_ms", 20, 20 },
	{ "a_thousand_pods_20_ms", 1000, 20 },
	{ "two_thousand_pods_40_ms", 2000, 40 },
	{ "ten_thousand_pods_200_ms", 10000, 200 },
	{ "the_largest_job_2_s", 100000, 2000 },
};

static void rest_grows_with_the_number_of_objects(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rests); i++) {
		struct kar_cooldown r = { 0 };
		kar_time until = kar_cooldown_after(&r, rests[i].objects, 5000);

		if (until != 5000 + rests[i].want)
			fail_msg("%s: until %d", rests[i].name, (int)until);
		if (kar_cooldown_left(&r, 5000))
			fail_msg("%s: the next urgent sync waits", rests[i].name);
	}
}

/* How many syncs of 10,000 pods are made from @from to @to if every ms something urgent happens. */
static int urgent_syncs(struct kar_cooldown *r, kar_time from, kar_time to)
{
	int n = 0;

	for (kar_time now = from; now < to; now++) {
		if (kar_cooldown_left(r, now))
			continue;
		(void)kar_cooldown_after(r, 10000, now);
		n++;
	}
	return n;
}

static void urgent_syncs_are_a_burst_and_then_keep_the_distance(void **state)
{
	struct kar_cooldown r = { 0 };

	(void)state;
	assert_int_equal(urgent_syncs(&r, 5000, 5100), 10); /* one loss takes a handful, at once */
	assert_int_equal(urgent_syncs(&r, 5100, 15100),
		50); /* thousands, one after the other: five per second */
	assert_int_equal(urgent_syncs(&r, 60000, 60100),
		10); /* after a quiet time there is room for a burst again */
}

static void small_gangs_are_answered_at_once_whatever_happens(void **state)
{
	struct kar_cooldown r = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		(void)kar_cooldown_after(&r, 20, 5000);
		assert_int_equal(kar_cooldown_left(&r, 5000), 0);
	}
}

static void steady_progress_leaves_room_for_a_loss(void **state)
{
	struct kar_cooldown r = { 0 };
	kar_time now = 5000;

	(void)state;
	for (int i = 0; i < 1000; i++)
		now = kar_cooldown_after(&r, 10000, now);
	assert_int_equal(kar_cooldown_left(&r, now - 199), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_object),
		cmocka_unit_test(counters_of_all_objects_share_a_budget),
		cmocka_unit_test(stories_do_not_spend_the_budget),
		cmocka_unit_test(first_answers_are_at_once_but_in_a_burst),
		cmocka_unit_test(rest_grows_with_the_number_of_objects),
		cmocka_unit_test(urgent_syncs_are_a_burst_and_then_keep_the_distance),
		cmocka_unit_test(small_gangs_are_answered_at_once_whatever_happens),
		cmocka_unit_test(steady_progress_leaves_room_for_a_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
