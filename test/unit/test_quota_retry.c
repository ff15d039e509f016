/* When one whom a quota has refused tries again: what wakes it, how long it is held, and that nobody tries all the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "test/unit/quota_line_fixture.h"

/* Refused at 1000 for the tenth time; when is it tried again? */
static void wake_up_shortens_the_hold(void **state)
{
	kar_time hold = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		refuse(0, 1, "pods=1", 1000);
	assert_false(tries(0, 2000, &hold));
	assert_int_equal(hold, 29000);
	kar_quota_line_wake(shared.quotas, "ns");
	assert_false(tries(0, 1499, &hold));
	assert_int_equal(hold, 1); /* half a second after the refusal, whatever came before */
	assert_true(tries(0, 2000, NULL));
	assert_false(tries(0, 2000, &hold)); /* one try per wake-up, */
	refuse(0, 1, "pods=1", 2010);
	assert_false(tries(0, 2500, &hold));
	assert_int_equal(hold, 510); /* and one a second later, when the quota is surely counted anew */
	assert_true(tries(0, 3010, NULL));
	refuse(0, 1, "pods=1", 3020);
	assert_false(tries(0, 3500, &hold));
	assert_int_equal(hold, 29520);
}

/* The last answer of a try counts, with a wake-up as without. */
static void answer_that_comes_late_holds_the_longer(void **state)
{
	struct kar_sync s = sync_of(0, 4000);
	kar_time hold = 0;

	(void)state;
	refuse(0, 1, "pods=1", 1000);
	w.states[0].backoff->again += 10 * KAR_SECOND; /* as after several tries */
	kar_create_backoff_prolong(&s, 4000);
	assert_false(tries(0, 4000, &hold));
	assert_int_equal(hold, 10500);
	kar_quota_line_wake(shared.quotas, "ns");
	assert_false(tries(0, 4000, &hold));
	assert_int_equal(hold, 500);
}

static void wake_up_during_a_try_counts(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		refuse(0, 1, "pods=1", 1000);
	kar_quota_line_wake(shared.quotas, "ns");
	assert_true(tries(0, 2000, NULL));
	kar_quota_line_wake(shared.quotas, "ns");
	refuse(0, 1, "pods=1", 2100);
	assert_false(tries(0, 2200, NULL));
	assert_true(tries(0, 3100, NULL));
}

static void one_wake_up_of_many_is_enough(void **state)
{
	(void)state;
	refuse(0, 1, "pods=1", 1000);
	for (int i = 0; i < 100; i++)
		kar_quota_line_wake(shared.quotas, "ns");
	assert_string_equal(woken(), "0");
	kar_quota_line_wake(shared.quotas, "ns");
	assert_string_equal(woken(), "");
}

/* What a key has taken back itself tells the others that there is room. */
static void room_that_was_given_back_wakes_the_others(void **state)
{
	(void)state;
	refuse(0, 9, "pods=1", 1000);
	refuse(1, 1, "requests.cpu=1", 1000);
	kar_quota_line_wake_others(shared.quotas, "ns", keys[0]);
	assert_string_equal(woken(), "1");
	assert_false(kar_quota_place_is_woken(w.states[0].backoff->entry));
	assert_true(kar_quota_place_is_woken(w.states[1].backoff->entry));
	kar_quota_line_wake(shared.quotas, "ns"); /* and an earlier wake-up is not forgotten for it */
	kar_quota_line_wake_others(shared.quotas, "ns", keys[0]);
	assert_true(kar_quota_place_is_woken(w.states[0].backoff->entry));
	kar_quota_line_wake_others(shared.quotas, "nobody", keys[0]);
}

/* A pod that is gone does not make anybody look through a long line for whose it was. */
static void far_behind_nobody_looks(void **state)
{
	struct kar_quota_place *places[65];
	char key[32];

	(void)state;
	for (int i = 0; i < 65; i++) {
		const struct kar_rank rank = { .tier = KAR_TIER_MINIMUM, .age = i };

		snprintf(key, sizeof(key), "ns/p%d", i);
		places[i] =
			kar_quota_line_join(shared.quotas, NULL, "ns", key, &rank, "exceeded quota", false);
	}
	kar_quota_line_wake_others(shared.quotas, "ns", "ns/p63");
	assert_false(kar_quota_place_is_woken(places[63]));
	kar_quota_place_try(places[64]);
	kar_quota_line_wake_others(shared.quotas, "ns", "ns/p64");
	assert_true(kar_quota_place_is_woken(places[64]));
	for (int i = 0; i < 65; i++)
		kar_quota_line_leave(places[i]);
}

/* A plan of the job takes @n pods back. */
static void take_back(int job, int32_t n, kar_time mono)
{
	struct kar_sync s = sync_of(job, mono);

	kar_plan_init(&s.plan, &s.arena);
	s.plan.unfinished = true;
	s.plan.rolled_back = n;
	kar_create_backoff_hold_creates(&s);
	kar_arena_release(&s.arena);
}

/* However often it is woken. */
static void try_that_took_back_much_is_the_longer_before_the_next(void **state)
{
	kar_time hold = 0;

	(void)state;
	refuse(0, 1, "pods=1", 1000);
	take_back(0, 100, 1100);
	take_back(0, 40, 1200); /* the rest of them */
	kar_quota_line_wake(shared.quotas, "ns");
	assert_false(tries(0, 2000, &hold));
	assert_int_equal(hold, 4000);
	assert_true(tries(0, 6000, NULL));
	refuse(0, 1, "pods=1", 6100);
	take_back(0, 2, 6200);
	assert_true(tries(0, 6100 + 1000, NULL));
	refuse(0, 1, "pods=1", 8000);
	take_back(0, 1000000, 8100);
	assert_false(tries(0, 8000 + 10 * KAR_MINUTE - 1, NULL));
	assert_true(tries(0, 8000 + 10 * KAR_MINUTE, NULL));
}

/* Every 20 ms a pod ends, and there is never room: how many creates are refused in an hour? */
static void busy_namespace_costs_few_refused_creates(void **state)
{
	int refused = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		refuse(i, i, i % 2 ? "requests.cpu=1" : "requests.memory=1Gi", 0);
	for (kar_time t = 20; t < 60 * KAR_MINUTE; t += 20) {
		kar_quota_line_wake(shared.quotas, "ns");
		for (int i = 0; i < 4; i++) {
			if (!tries(i, t, NULL))
				continue;
			refuse(i, i, i % 2 ? "requests.cpu=1" : "requests.memory=1Gi", t);
			refused++;
		}
	}
	print_message("%d refused creates in an hour\n", refused);
	assert_in_range(refused, 2 * 600, 2 * 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wake_up_shortens_the_hold),
		TEST(answer_that_comes_late_holds_the_longer),
		TEST(wake_up_during_a_try_counts),
		TEST(one_wake_up_of_many_is_enough),
		TEST(busy_namespace_costs_few_refused_creates),
		TEST(room_that_was_given_back_wakes_the_others),
		TEST(try_that_took_back_much_is_the_longer_before_the_next),
		TEST(far_behind_nobody_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
