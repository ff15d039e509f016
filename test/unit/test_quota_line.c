/* Who tries first when a quota may have room, and that nobody tries all the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/barrier.h"
#include "controllers/quota_line.h"
#include "controllers/refusal.h"

enum { JOBS = 8 };

static const struct kar_type pods = { .res = { "", "v1", "pods", "Pod", true } };

struct world {
	struct kar_controller controller;
	struct kar_key_state states[JOBS];
};

static struct world w;

static int set_up(void **state)
{
	const struct kar_workqueue_options o = { 0 };

	(void)state;
	w = (struct world){ .controller.queue = kar_workqueue_new(&o) };
	w.controller.line = kar_quota_line_new(w.controller.queue);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < JOBS; i++)
		kar_refusal_forget(&w.states[i]);
	kar_quota_line_free(w.controller.line);
	kar_workqueue_free(w.controller.queue);
	return 0;
}

static const char *const keys[JOBS] = { "ns/j0", "ns/j1", "ns/j2", "ns/j3", "other/j4", "ns/j5", "ns/j6",
	"ns/j7" };

static const char *ns_of(int job)
{
	return keys[job][0] == 'n' ? "ns" : "other";
}

static struct kar_sync sync_of(int job, kar_time mono)
{
	return (struct kar_sync){ .controller = &w.controller,
		.key = keys[job],
		.state = &w.states[job],
		.mono = mono };
}

/* A pod of the job is refused: it lacks @what. */
static void refuse_rank(int job, struct kar_rank rank, const char *what, kar_time mono)
{
	struct kar_sync s = sync_of(job, mono);
	const struct kar_action a = { .verb = KAR_CREATE,
		.type = &pods,
		.ns = ns_of(job),
		.name = "p",
		.rank = rank };
	struct kar_err err = { 0 };

	kar_fail(&err, KAR_DENIED,
		"create pods in ns: pods \"p\" is forbidden: exceeded quota: q, requested: %s, used: %s, limited: %s",
		what, what, what);
	kar_refusal_note(&s, &a, &err, mono);
}

static struct kar_rank minimum_of(int job, int32_t priority)
{
	return (struct kar_rank){ .tier = KAR_TIER_MINIMUM, .priority = priority, .age = job };
}

static struct kar_rank extra_of(int job, int32_t priority, uint32_t round)
{
	return (struct kar_rank){ .tier = KAR_TIER_EXTRA, .priority = priority, .age = job, .seq = round };
}

static void refuse(int job, int32_t priority, const char *what, kar_time mono)
{
	refuse_rank(job, minimum_of(job, priority), what, mono);
}

/* Plans a create with @rank of the job at @mono, as the manager does; does it go out? */
static bool goes_out(int job, struct kar_rank rank, kar_time mono, kar_time *hold)
{
	struct kar_sync s = sync_of(job, mono);
	bool out;

	kar_plan_init(&s.plan, &s.arena);
	kar_plan_add(&s.plan, KAR_CREATE, &pods, ns_of(job), "p")->rank = rank;
	kar_refusal_hold_creates(&s);
	out = s.plan.n_actions > 0;
	if (hold)
		*hold = s.plan.requeue_after;
	kar_arena_release(&s.arena);
	return out;
}

/* One that is in the line by what it was refused alone. */
static bool tries(int job, kar_time mono, kar_time *hold)
{
	return goes_out(job, (struct kar_rank){ .tier = KAR_TIER_CONTROL }, mono, hold);
}

static bool tries_as(int job, int32_t priority, kar_time mono, kar_time *hold)
{
	return goes_out(job, minimum_of(job, priority), mono, hold);
}

/* Jobs whose keys wait in the work queue, "0 2". */
static const char *woken(void)
{
	static char text[64];
	const char *key;
	int n = 0;

	text[0] = '\0';
	while ((key = kar_workqueue_take(w.controller.queue, 0)) != NULL) {
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%c", n ? " " : "", key[strlen(key) - 1]);
		kar_workqueue_done(w.controller.queue, key);
	}
	return text;
}

static void highest_priority_is_woken_first(void **state)
{
	(void)state;
	refuse(0, 1, "pods=1", 1000);
	refuse(1, 9, "pods=1", 1000);
	refuse(2, 5, "pods=1", 1000);
	kar_quota_line_wake(w.controller.line, "ns");
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
	kar_quota_line_wake(w.controller.line, "ns");
	assert_string_equal(woken(), "0");
	kar_refusal_forget(&w.states[0]);
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
		kar_refusal_forget(&w.states[1]);
		kar_refusal_forget(&w.states[0]);
	}
}

static void namespaces_do_not_wait_for_each_other(void **state)
{
	(void)state;
	refuse(0, 9, "pods=1", 1000);
	refuse(4, 1, "pods=1", 1000);
	kar_quota_line_wake(w.controller.line, "other");
	assert_string_equal(woken(), "4");
	kar_quota_line_wake(w.controller.line, "nobody");
	assert_string_equal(woken(), "");
}

/* Refused at 1000 for the tenth time; when is it tried again? */
static void wake_up_shortens_the_hold(void **state)
{
	kar_time hold = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		refuse(0, 1, "pods=1", 1000);
	assert_false(tries(0, 2000, &hold));
	assert_int_equal(hold, 29000);
	kar_quota_line_wake(w.controller.line, "ns");
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

static void wake_up_during_a_try_counts(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		refuse(0, 1, "pods=1", 1000);
	kar_quota_line_wake(w.controller.line, "ns");
	assert_true(tries(0, 2000, NULL));
	kar_quota_line_wake(w.controller.line, "ns");
	refuse(0, 1, "pods=1", 2100);
	assert_false(tries(0, 2200, NULL));
	assert_true(tries(0, 3100, NULL));
}

static void one_wake_up_of_many_is_enough(void **state)
{
	(void)state;
	refuse(0, 1, "pods=1", 1000);
	for (int i = 0; i < 100; i++)
		kar_quota_line_wake(w.controller.line, "ns");
	assert_string_equal(woken(), "0");
	kar_quota_line_wake(w.controller.line, "ns");
	assert_string_equal(woken(), "");
}

/* What a key has taken back itself tells the others that there is room. */
static void room_that_was_given_back_wakes_the_others(void **state)
{
	(void)state;
	refuse(0, 9, "pods=1", 1000);
	refuse(1, 1, "requests.cpu=1", 1000);
	kar_quota_line_wake_others(w.controller.line, "ns", keys[0]);
	assert_string_equal(woken(), "1");
	assert_false(kar_quota_place_is_woken(w.states[0].refusal->place));
	assert_true(kar_quota_place_is_woken(w.states[1].refusal->place));
	kar_quota_line_wake(w.controller.line, "ns"); /* and an earlier wake-up is not forgotten for it */
	kar_quota_line_wake_others(w.controller.line, "ns", keys[0]);
	assert_true(kar_quota_place_is_woken(w.states[0].refusal->place));
	kar_quota_line_wake_others(w.controller.line, "nobody", keys[0]);
}

/* A plan of the job takes @n pods back. */
static void take_back(int job, int32_t n, kar_time mono)
{
	struct kar_sync s = sync_of(job, mono);

	kar_plan_init(&s.plan, &s.arena);
	s.plan.unfinished = true;
	s.plan.taken_back = n;
	kar_refusal_hold_creates(&s);
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
	kar_quota_line_wake(w.controller.line, "ns");
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
	kar_quota_line_wake(w.controller.line, "ns");
	assert_string_equal(woken(), "1");
	kar_refusal_forget(&w.states[1]);
	assert_string_equal(woken(), "0");
	assert_true(tries_as(0, 5, 2000, NULL));
	assert_false(tries_as(2, 1, 2000, NULL));
	kar_refusal_forget(&w.states[0]);
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
		strstr(w.states[2].refusal->err.msg, "ns/j1 goes first and lacks pods,requests.cpu:"));
	refuse(1, 9, "pods=1,requests.cpu=2", 2000);
	assert_false(tries_as(2, 1, 2000, &hold));
	assert_int_equal(hold, 30000);
	kar_refusal_forget(&w.states[1]);
	assert_false(tries_as(2, 1, 31000, &hold));
	assert_int_equal(hold, 1); /* so that the status tells it */
	assert_non_null(strstr(w.states[2].refusal->err.msg, "ns/j0 goes first"));
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
		kar_quota_line_wake(w.controller.line, "ns"); /* while it was alone */
		woken();
		refuse_rank(0, moves[i].was, "pods=1", 1000);
		if (goes_out(0, moves[i].is, 60000, NULL) != moves[i].first)
			fail_msg("%s", moves[i].name);
		if (strcmp(woken(), moves[i].first ? "" : "1") != 0)
			fail_msg("%s: who is first now is not told, or somebody else is", moves[i].name);
		if (tries_as(1, 5, 60000, NULL) == moves[i].first)
			fail_msg("%s: the other", moves[i].name);
		kar_refusal_forget(&w.states[1]);
		kar_refusal_forget(&w.states[0]);
		woken();
	}
}

/* Who is refused something else than before is in the way of others. */
static void who_lacks_something_else_makes_way(void **state)
{
	(void)state;
	refuse(0, 9, "pods=1", 1000);
	refuse(1, 1, "pods=1", 1000);
	kar_quota_line_wake(w.controller.line, "ns");
	assert_string_equal(woken(), "0");
	assert_true(tries(0, 2000, NULL));
	refuse(0, 9, "pods=1", 2100);
	assert_string_equal(woken(), "");
	refuse(0, 9, "requests.cpu=1", 2200);
	assert_string_equal(woken(), "1");
	assert_false(kar_quota_place_is_woken(w.states[0].refusal->place));
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
	assert_false(kar_quota_place_is_woken(w.states[1].refusal->place));
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

/* Nor does a pod that is gone make somebody look through a long line for whose it was. */
static void far_behind_nobody_looks(void **state)
{
	struct kar_quota_place *places[65];
	char key[32];

	(void)state;
	for (int i = 0; i < 65; i++) {
		const struct kar_rank rank = { .tier = KAR_TIER_MINIMUM, .age = i };

		snprintf(key, sizeof(key), "ns/p%d", i);
		places[i] = kar_quota_line_join(w.controller.line, NULL, "ns", key, &rank, "exceeded quota",
			false);
	}
	kar_quota_line_wake_others(w.controller.line, "ns", "ns/p63");
	assert_false(kar_quota_place_is_woken(places[63]));
	kar_quota_place_try(places[64]);
	kar_quota_line_wake_others(w.controller.line, "ns", "ns/p64");
	assert_true(kar_quota_place_is_woken(places[64]));
	for (int i = 0; i < 65; i++)
		kar_quota_line_leave(places[i]);
}

/* Every 20 ms a pod ends, and there is never room: how many creates are refused in an hour? */
static void busy_namespace_costs_few_refused_creates(void **state)
{
	int refused = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		refuse(i, i, i % 2 ? "requests.cpu=1" : "requests.memory=1Gi", 0);
	for (kar_time t = 20; t < 60 * KAR_MINUTE; t += 20) {
		kar_quota_line_wake(w.controller.line, "ns");
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
	kar_refusal_note(&s, &a, &err, 1000);
	kar_quota_line_wake(w.controller.line, "ns");
	assert_string_equal(woken(), "");
	kar_fail(&err, KAR_DENIED, "exceeded quota: q, requested: count/services=1, used: ");
	a.rank.tier = KAR_TIER_CONTROL;
	kar_refusal_note(&s, &a, &err, 1000);
	kar_quota_line_wake(w.controller.line, "ns");
	assert_string_equal(woken(), "");
	refuse(0, 1, "pods=1", 1000);
	refuse(1, 0, "pods=1", 1000);
	kar_refusal_note(&s, &a, &err, 1000); /* leaves the line */
	assert_string_equal(woken(), "1");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(highest_priority_is_woken_first),
		TEST(next_one_is_woken_when_the_first_has_its_pods),
		TEST(only_those_that_lack_the_same_wait_for_each_other),
		TEST(namespaces_do_not_wait_for_each_other),
		TEST(wake_up_shortens_the_hold),
		TEST(wake_up_during_a_try_counts),
		TEST(one_wake_up_of_many_is_enough),
		TEST(busy_namespace_costs_few_refused_creates),
		TEST(no_quota_no_line),
		TEST(room_that_was_given_back_wakes_the_others),
		TEST(try_that_took_back_much_is_the_longer_before_the_next),
		TEST(newcomers_wait_behind),
		TEST(who_goes_first_is_kept_up_to_date),
		TEST(place_is_that_of_what_is_wanted_next),
		TEST(who_lacks_something_else_makes_way),
		TEST(who_lacks_another_amount_wakes_nobody),
		TEST(next_pod_of_the_minimum_wakes_nobody),
		TEST(far_behind_nobody_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
