/* When a create that was refused for a shortage is tried again: what wakes it, how long it is held, who goes first, and that nobody tries all the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/barrier.h"
#include "controllers/runtime/create_backoff.h"

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
	w = (struct world){ .controller = { .queue = kar_workqueue_new(&o) } };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < JOBS; i++)
		kar_create_backoff_forget(&w.controller, &w.states[i]);
	kar_workqueue_free(w.controller.queue);
	return 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

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

/* A pod of the job is refused. */
static void refuse_rank(int job, struct kar_rank rank, kar_time mono)
{
	struct kar_sync s = sync_of(job, mono);
	const struct kar_action a = { .verb = KAR_CREATE,
		.type = &pods,
		.ns = ns_of(job),
		.name = "p",
		.rank = rank };
	struct kar_err err = { 0 };

	kar_fail(&err, KAR_DENIED, "create pods in ns: pods \"p\" is forbidden: exceeded quota: q");
	err.cause = KAR_CAUSE_QUOTA;
	kar_create_backoff_note(&s, &a, &err, mono);
}

static struct kar_rank minimum_of(int job, int32_t priority)
{
	return (struct kar_rank){ .tier = KAR_TIER_MINIMUM, .priority = priority, .age = job };
}

static struct kar_rank extra_of(int job, int32_t priority, uint32_t round)
{
	return (struct kar_rank){ .tier = KAR_TIER_EXTRA, .priority = priority, .age = job, .seq = round };
}

static void refuse(int job, int32_t priority, kar_time mono)
{
	refuse_rank(job, minimum_of(job, priority), mono);
}

/* Plans a create with @rank of the job at @mono, as the manager does; does it go out? */
static bool goes_out(int job, struct kar_rank rank, kar_time mono, kar_time *hold)
{
	struct kar_sync s = sync_of(job, mono);
	bool out;

	kar_plan_init(&s.plan, &s.arena);
	kar_plan_add(&s.plan, KAR_CREATE, &pods, ns_of(job), "p")->rank = rank;
	kar_create_backoff_hold_creates(&s);
	out = s.plan.n_actions > 0;
	if (hold)
		*hold = s.plan.requeue_after;
	kar_arena_release(&s.arena);
	return out;
}

/* What it was refused before decides. */
static bool tries(int job, kar_time mono, kar_time *hold)
{
	return goes_out(job, (struct kar_rank){ .tier = KAR_TIER_CONTROL }, mono, hold);
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

/* Refused at 1000 for the tenth time; when is it tried again? */
static void wake_up_shortens_the_hold(void **state)
{
	kar_time hold = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		refuse(0, 1, 1000);
	assert_false(tries(0, 2000, &hold));
	assert_int_equal(hold, 29000);
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_false(tries(0, 1499, &hold));
	assert_int_equal(hold, 1); /* half a second after the refusal, whatever came before */
	assert_true(tries(0, 2000, NULL));
	assert_false(tries(0, 2000, &hold)); /* one try per wake-up, */
	refuse(0, 1, 2010);
	assert_false(tries(0, 2500, &hold));
	assert_int_equal(hold, 510); /* and one a second later, when the quota is surely counted anew */
	assert_true(tries(0, 3010, NULL));
	refuse(0, 1, 3020);
	assert_false(tries(0, 3500, &hold));
	assert_int_equal(hold, 29520);
}

/* The last answer of a try counts, with a wake-up as without. */
static void answer_that_comes_late_holds_the_longer(void **state)
{
	struct kar_sync s = sync_of(0, 4000);
	kar_time hold = 0;

	(void)state;
	refuse(0, 1, 1000);
	w.states[0].backoff->again += 10 * KAR_SECOND; /* as after several tries */
	kar_create_backoff_prolong(&s, 4000);
	assert_false(tries(0, 4000, &hold));
	assert_int_equal(hold, 10500);
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_false(tries(0, 4000, &hold));
	assert_int_equal(hold, 500);
}

static void wake_up_during_a_try_counts(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		refuse(0, 1, 1000);
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_true(tries(0, 2000, NULL));
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	refuse(0, 1, 2100);
	assert_false(tries(0, 2200, NULL));
	assert_true(tries(0, 3100, NULL));
}

static void one_wake_up_of_many_is_enough(void **state)
{
	(void)state;
	refuse(0, 1, 1000);
	for (int i = 0; i < 100; i++)
		kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_string_equal(woken(), "0");
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_string_equal(woken(), "");
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

/* What a key has rolled back itself is no news to it. */
static void rolled_back_room_wakes_only_others(void **state)
{
	(void)state;
	refuse(0, 9, 1000);
	refuse(1, 1, 1000);
	kar_create_backoff_wake(&w.controller, "ns", keys[1]);
	assert_string_equal(woken(), "0");
	assert_true(tries(0, 2000, NULL));
	refuse(0, 9, 2000);
	take_back(0, 2, 2100);
	kar_create_backoff_wake(&w.controller, "ns", keys[0]);
	assert_string_equal(woken(), "");
	kar_create_backoff_wake(&w.controller, "ns", keys[1]);
	assert_string_equal(woken(), "0");
}

/* However often it is woken. */
static void try_that_took_back_much_is_the_longer_before_the_next(void **state)
{
	kar_time hold = 0;

	(void)state;
	refuse(0, 1, 1000);
	take_back(0, 100, 1100);
	take_back(0, 40, 1200); /* the rest of them */
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_false(tries(0, 2000, &hold));
	assert_int_equal(hold, 4000);
	assert_true(tries(0, 6000, NULL));
	refuse(0, 1, 6100);
	take_back(0, 2, 6200);
	assert_true(tries(0, 6100 + 1000, NULL));
	refuse(0, 1, 8000);
	take_back(0, 1000000, 8100);
	assert_false(tries(0, 8000 + 10 * KAR_MINUTE - 1, NULL));
	assert_true(tries(0, 8000 + 10 * KAR_MINUTE, NULL));
}

/* Every 20 ms a pod ends, and there is never room: how many creates are refused in an hour? One every 5 s, and one per job in 30 s. */
static void busy_namespace_costs_few_refused_creates(void **state)
{
	int refused = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		refuse(i, i, 0);
	for (kar_time t = 20; t < 60 * KAR_MINUTE; t += 20) {
		kar_create_backoff_wake(&w.controller, "ns", NULL);
		for (int i = 0; i < 4; i++) {
			if (!tries(i, t, NULL))
				continue;
			refuse(i, i, t);
			refused++;
		}
	}
	print_message("%d refused creates in an hour\n", refused);
	assert_in_range(refused, 600, 1500 + 3 * 120);
}

/* --- who goes first ------------------------------------------------------------------------------ */

static void highest_priority_is_woken_first(void **state)
{
	kar_time hold = 0;

	(void)state;
	refuse(0, 1, 1000);
	refuse(1, 9, 1000);
	refuse(2, 5, 1000);
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_string_equal(woken(), "1");
	assert_false(tries(0, 2000, &hold));
	assert_int_equal(hold, 29000);
	assert_false(tries(2, 2000, NULL));
	assert_true(tries(1, 2000, NULL));
}

static void next_one_is_woken_when_the_first_has_its_pods(void **state)
{
	(void)state;
	refuse(0, 9, 1000);
	refuse(1, 1, 1000);
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_string_equal(woken(), "0");
	kar_create_backoff_forget(&w.controller, &w.states[0]);
	assert_string_equal(woken(), "1");
	assert_true(tries(1, 2000, NULL));
	refuse(0, 0, 2000);
	kar_create_backoff_forget(&w.controller, &w.states[0]); /* nobody has waited for it */
	assert_string_equal(woken(), "");
}

/* Whoever goes first may never fit: the quota may hold for it alone. */
static void others_try_after_half_a_minute(void **state)
{
	(void)state;
	refuse(0, 9, 1000);
	refuse(1, 1, 1000);
	assert_false(tries(1, 30999, NULL));
	assert_true(tries(1, 31000, NULL));
	refuse(1, 1, 31100);
	assert_false(tries(1, 61099, NULL));
	assert_true(tries(1, 61100, NULL));
}

static void namespaces_do_not_wait_for_each_other(void **state)
{
	(void)state;
	refuse(0, 9, 1000);
	refuse(4, 1, 1000);
	kar_create_backoff_wake(&w.controller, "other", NULL);
	assert_string_equal(woken(), "4");
	kar_create_backoff_wake(&w.controller, "nobody", NULL);
	assert_string_equal(woken(), "");
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

static void order_is_that_of_what_is_wanted_next(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(moves); i++) {
		refuse(1, 5, 1000);
		kar_create_backoff_wake(&w.controller, "ns", NULL); /* while it was alone */
		woken();
		refuse_rank(0, moves[i].was, 1000);
		if (goes_out(0, moves[i].is, 2000, NULL) != moves[i].first)
			fail_msg("%s", moves[i].name);
		if (strcmp(woken(), moves[i].first ? "" : "1") != 0)
			fail_msg("%s: who is first now is not told, or somebody else is", moves[i].name);
		if (goes_out(1, minimum_of(1, 5), 2000, NULL) == moves[i].first)
			fail_msg("%s: the other", moves[i].name);
		kar_create_backoff_forget(&w.controller, &w.states[1]);
		kar_create_backoff_forget(&w.controller, &w.states[0]);
		woken();
	}
}

/* The first was told that there may be room, was overtaken before it tried, and is the first again. */
static void who_is_first_again_is_told_again(void **state)
{
	(void)state;
	refuse(0, 5, 1000);
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_string_equal(woken(), "0");
	refuse(1, 9, 1100);
	kar_create_backoff_forget(&w.controller, &w.states[1]);
	assert_string_equal(woken(), "0");
}

/* The round of an extra says whose turn it is; which of its minimum is created next does not matter to others. */
static void next_pod_of_the_minimum_wakes_nobody(void **state)
{
	struct kar_rank rank = minimum_of(0, 9);

	(void)state;
	refuse(0, 9, 1000);
	refuse(1, 1, 1000);
	rank.seq = 3;
	assert_true(goes_out(0, rank, 2000, NULL));
	assert_string_equal(woken(), "");
	refuse_rank(0, extra_of(0, 9, 3), 3000);
	refuse_rank(1, extra_of(1, 1, 2), 3000);
	assert_false(goes_out(0, extra_of(0, 9, 3), 4000, NULL));
	assert_true(goes_out(0, extra_of(0, 9, 2), 4000, NULL));
}

/* Other refusals, and other things than pods, have nothing to do with it. */
static void no_quota_no_order(void **state)
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
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_string_equal(woken(), "");
	kar_fail(&err, KAR_DENIED, "exceeded quota: q, requested: count/services=1, used: ");
	err.cause = KAR_CAUSE_QUOTA;
	a.rank.tier = KAR_TIER_CONTROL;
	kar_create_backoff_note(&s, &a, &err, 1000);
	kar_create_backoff_wake(&w.controller, "ns", NULL);
	assert_string_equal(woken(), "");
	refuse(0, 1, 1000);
	refuse(1, 0, 1000);
	kar_create_backoff_note(&s, &a, &err, 1000); /* leaves the order */
	assert_string_equal(woken(), "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wake_up_shortens_the_hold),
		TEST(answer_that_comes_late_holds_the_longer),
		TEST(wake_up_during_a_try_counts),
		TEST(one_wake_up_of_many_is_enough),
		TEST(busy_namespace_costs_few_refused_creates),
		TEST(rolled_back_room_wakes_only_others),
		TEST(try_that_took_back_much_is_the_longer_before_the_next),
		TEST(highest_priority_is_woken_first),
		TEST(next_one_is_woken_when_the_first_has_its_pods),
		TEST(others_try_after_half_a_minute),
		TEST(namespaces_do_not_wait_for_each_other),
		TEST(order_is_that_of_what_is_wanted_next),
		TEST(who_is_first_again_is_told_again),
		TEST(next_pod_of_the_minimum_wakes_nobody),
		TEST(no_quota_no_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
