/* Who tries first when a quota may have room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/quota_line_fixture.h"

static void highest_priority_is_woken_first(void **state)
{
	(void)state;
	refuse(0, 1, "pods=1", 1000);
	refuse(1, 9, "pods=1", 1000);
	refuse(2, 5, "pods=1", 1000);
	kar_quota_line_wake(shared.quotas, "ns");
	assert_string_equal(woken(), "1");
	assert_false(tries(0, 60000, NULL));
	assert_false(tries(2, 60000, NULL));
	assert_true(tries(1, 60000, NULL));
}

static void next_one_is_woken_when_the_first_has_its_pods(void **state)
{
	(void)state;
	refuse(0, 9, "pods=1", 1000);
	refuse(1, 1, "pods=1", 1000);
	kar_quota_line_wake(shared.quotas, "ns");
	assert_string_equal(woken(), "0");
	kar_create_backoff_forget(&w.controller, &w.states[0]);
	assert_string_equal(woken(), "1");
	assert_true(tries(1, 2000, NULL));
}

/* `requested:` of two jobs in the order of priority; may both try? */
static const struct {
	const char *name, *first, *second;
	bool both;
} claims[] = {
	{ "the_same", "pods=1", "pods=1", false },
	{ "another_amount", "requests.cpu=1", "requests.cpu=5", false },
	{ "another_resource", "requests.cpu=1", "requests.memory=5Gi", true },
	{ "one_in_common", "requests.cpu=1,requests.memory=1Gi", "pods=1,requests.memory=1Gi", false },
	{ "name_within_a_name", "requests.cpu=1", "cpu=1", true },
	{ "beginning_of_a_name", "cpu=1", "cpus=1", true },
	{ "none_named", "", "requests.cpu=1", false },
};

static void only_those_that_lack_the_same_wait_for_each_other(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(claims); i++) {
		refuse(0, 9, claims[i].first, 1000);
		refuse(1, 1, claims[i].second, 1000);
		if (tries(1, 60000, NULL) != claims[i].both)
			fail_msg("%s", claims[i].name);
		if (!tries(0, 60000, NULL))
			fail_msg("%s: the first does not try", claims[i].name);
		kar_create_backoff_forget(&w.controller, &w.states[1]);
		kar_create_backoff_forget(&w.controller, &w.states[0]);
	}
}

static void namespaces_do_not_wait_for_each_other(void **state)
{
	(void)state;
	refuse(0, 9, "pods=1", 1000);
	refuse(4, 1, "pods=1", 1000);
	kar_quota_line_wake(shared.quotas, "other");
	assert_string_equal(woken(), "4");
	kar_quota_line_wake(shared.quotas, "nobody");
	assert_string_equal(woken(), "");
}

/* Those who were refused, and those who wait behind them, in the order of their rank. */
static void newcomers_wait_behind(void **state)
{
	kar_time hold = 0;

	(void)state;
	refuse(1, 9, "pods=1", 1000);
	assert_false(tries_as(0, 5, 1000, &hold));
	assert_int_equal(hold, 1); /* so that the status tells it */
	assert_false(tries_as(0, 5, 1001, &hold));
	assert_int_equal(hold, 30000);
	assert_false(tries_as(2, 1, 1002, NULL));
	assert_true(tries_as(3, 10, 1002, NULL)); /* a higher priority goes first */
	assert_true(tries_as(4, 1, 1002, NULL));  /* in another namespace */
	kar_quota_line_wake(shared.quotas, "ns");
	assert_string_equal(woken(), "1");
	kar_create_backoff_forget(&w.controller, &w.states[1]);
	assert_string_equal(woken(), "0");
	assert_true(tries_as(0, 5, 2000, NULL));
	assert_false(tries_as(2, 1, 2000, NULL));
	kar_create_backoff_forget(&w.controller, &w.states[0]);
	assert_string_equal(woken(), "2");
	assert_true(tries_as(2, 1, 2000, NULL));
}

/* The one that goes first changes while others wait behind; they say which it is, and nothing that changes with each of its tries. */
static void who_goes_first_is_kept_up_to_date(void **state)
{
	kar_time hold = 0;

	(void)state;
	refuse(1, 9, "pods=1,requests.cpu=1", 1000);
	assert_false(tries_as(0, 5, 1000, NULL));
	assert_false(tries_as(2, 1, 1000, NULL));
	assert_non_null(
		strstr(w.states[2].backoff->err.msg, "ns/j1 goes first and lacks pods,requests.cpu:"));
	refuse(1, 9, "pods=1,requests.cpu=2", 2000);
	assert_false(tries_as(2, 1, 2000, &hold));
	assert_int_equal(hold, 30000);
	kar_create_backoff_forget(&w.controller, &w.states[1]);
	assert_false(tries_as(2, 1, 31000, &hold));
	assert_int_equal(hold, 1); /* so that the status tells it */
	assert_non_null(strstr(w.states[2].backoff->err.msg, "ns/j0 goes first"));
	assert_false(tries_as(2, 1, 31001, &hold));
	assert_int_equal(hold, 30000);
}

/* Job 0 was refused @was and wants @is next; job 1 was refused a pod of its minimum, with priority 5. */
static const struct {
	const char *name;
	struct kar_rank was, is;
	bool first; /* now */
} moves[] = {
	{ "extra_refused_now_its_minimum", { KAR_TIER_EXTRA, 9, 0, 0 }, { KAR_TIER_MINIMUM, 9, 0, 0 }, true },
	{ "minimum_refused_now_an_extra", { KAR_TIER_MINIMUM, 9, 0, 0 }, { KAR_TIER_EXTRA, 9, 0, 0 }, false },
	{ "priority_was_raised", { KAR_TIER_MINIMUM, 1, 0, 0 }, { KAR_TIER_MINIMUM, 9, 0, 0 }, true },
	{ "priority_was_lowered", { KAR_TIER_MINIMUM, 9, 0, 0 }, { KAR_TIER_MINIMUM, 1, 0, 0 }, false },
	{ "another_of_its_name_is_younger", { KAR_TIER_MINIMUM, 5, 0, 0 }, { KAR_TIER_MINIMUM, 5, 2, 0 },
		false },
};

static void place_is_that_of_what_is_wanted_next(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(moves); i++) {
		refuse(1, 5, "pods=1", 1000);
		kar_quota_line_wake(shared.quotas, "ns"); /* while it was alone */
		woken();
		refuse_rank(0, moves[i].was, "pods=1", 1000);
		if (goes_out(0, moves[i].is, 60000, NULL) != moves[i].first)
			fail_msg("%s", moves[i].name);
		if (strcmp(woken(), moves[i].first ? "" : "1") != 0)
			fail_msg("%s: who is first now is not told, or somebody else is", moves[i].name);
		if (tries_as(1, 5, 60000, NULL) == moves[i].first)
			fail_msg("%s: the other", moves[i].name);
		kar_create_backoff_forget(&w.controller, &w.states[1]);
		kar_create_backoff_forget(&w.controller, &w.states[0]);
		woken();
	}
}

/* Who is refused something else than before is in the way of others. */
static void who_lacks_something_else_makes_way(void **state)
{
	(void)state;
	refuse(0, 9, "pods=1", 1000);
	refuse(1, 1, "pods=1", 1000);
	kar_quota_line_wake(shared.quotas, "ns");
	assert_string_equal(woken(), "0");
	assert_true(tries(0, 2000, NULL));
	refuse(0, 9, "pods=1", 2100);
	assert_string_equal(woken(), "");
	refuse(0, 9, "requests.cpu=1", 2200);
	assert_string_equal(woken(), "1");
	assert_false(kar_quota_place_is_woken(w.states[0].backoff->entry));
	assert_true(tries(1, 3000, NULL));
}

/* Which of its pods is refused may change with each try; others, who lack something else, need not try because of that. */
static void who_lacks_another_amount_wakes_nobody(void **state)
{
	(void)state;
	refuse(0, 9, "pods=1,requests.cpu=1", 1000);
	refuse(1, 1, "requests.nvidia.com/gpu=1", 1000);
	refuse(0, 9, "requests.cpu=2,pods=1", 2000);
	assert_string_equal(woken(), "");
	assert_false(kar_quota_place_is_woken(w.states[1].backoff->entry));
	refuse(0, 9, "", 3000); /* it may be anything */
	assert_string_equal(woken(), "");
	refuse(0, 9, "pods=1", 4000);
	assert_string_equal(woken(), "1");
}

/* The round of an extra says whose turn it is; which of its minimum is created next does not matter to others. */
static void next_pod_of_the_minimum_wakes_nobody(void **state)
{
	struct kar_rank rank = minimum_of(0, 9);

	(void)state;
	refuse(0, 9, "pods=1", 1000);
	refuse(1, 1, "requests.cpu=1", 1000);
	rank.seq = 3;
	assert_true(goes_out(0, rank, 2000, NULL));
	assert_string_equal(woken(), "");
	refuse_rank(0, extra_of(0, 9, 3), "pods=1", 3000);
	refuse_rank(1, extra_of(1, 1, 2), "pods=1", 3000);
	assert_false(goes_out(0, extra_of(0, 9, 3), 60000, NULL));
	assert_true(goes_out(0, extra_of(0, 9, 2), 60000, NULL));
}

/* Other refusals, and other things than pods, have nothing to do with it. */
static void no_quota_no_line(void **state)
{
	struct kar_sync s = sync_of(0, 1000);
	struct kar_action a = { .verb = KAR_CREATE,
		.type = &pods,
		.ns = "ns",
		.name = "p",
		.rank = { .tier = KAR_TIER_MINIMUM } };
	struct kar_err err = { 0 };

	(void)state;
	kar_fail(&err, KAR_DENIED, "pods \"p\" is forbidden: no");
	kar_create_backoff_note(&s, &a, &err, 1000);
	kar_quota_line_wake(shared.quotas, "ns");
	assert_string_equal(woken(), "");
	kar_fail(&err, KAR_DENIED, "exceeded quota: q, requested: count/services=1, used: ");
	err.cause = KAR_CAUSE_QUOTA;
	a.rank.tier = KAR_TIER_CONTROL;
	kar_create_backoff_note(&s, &a, &err, 1000);
	kar_quota_line_wake(shared.quotas, "ns");
	assert_string_equal(woken(), "");
	refuse(0, 1, "pods=1", 1000);
	refuse(1, 0, "pods=1", 1000);
	kar_create_backoff_note(&s, &a, &err, 1000); /* leaves the line */
	assert_string_equal(woken(), "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(highest_priority_is_woken_first),
		TEST(next_one_is_woken_when_the_first_has_its_pods),
		TEST(only_those_that_lack_the_same_wait_for_each_other),
		TEST(namespaces_do_not_wait_for_each_other),
		TEST(no_quota_no_line),
		TEST(newcomers_wait_behind),
		TEST(who_goes_first_is_kept_up_to_date),
		TEST(place_is_that_of_what_is_wanted_next),
		TEST(who_lacks_something_else_makes_way),
		TEST(who_lacks_another_amount_wakes_nobody),
		TEST(next_pod_of_the_minimum_wakes_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
