/* How many extras are sent at once, and that they make room for what brings a more important job to its minimum. */
#include "executor_bench.h"

#include "controllers/runtime/extras_limit.h"
#include "controllers/runtime/slow_start.h"
#include "test/fixture/wait.h"

/* Steps of a job of priority 5 at 1000 ms, of one of priority 2 at 1100 ms; the last extra was sent at 1000 ms. Answered: all. */
static const struct {
	const char *name;
	int32_t priority;
	int in_flight;
	kar_time now, want;
} rows[] = {
	{ "an_extra_of_a_lower_priority_waits", 1, 0, 1010, 40 },
	{ "and_is_sent_then", 1, 0, 1050, 0 },
	{ "one_of_the_same_priority_does_not_wait", 5, 0, 1010, 0 },
	{ "nor_one_of_a_higher_priority", 6, 0, 1010, 0 },
	{ "a_less_important_step_does_not_end_the_wait_of_others", 3, 0, 1120, 0 },
	{ "when_no_step_follows_nothing_waits", 1, 0, 1200, 0 },
	{ "few_may_be_in_flight", 6, 11, 1500, 0 },
	{ "and_no_more", 6, 12, 1500, KAR_NEVER },
};

static void extras_wait_for_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_extras_limit l = { 0 };
		kar_time got;

		kar_extras_limit_sent(&l, 1000);
		kar_extras_limit_answered(&l);
		kar_extras_limit_step(&l, 5, 1000);
		if (rows[i].now >= 1100)
			kar_extras_limit_step(&l, 2, 1100);
		for (int k = 0; k < rows[i].in_flight; k++)
			kar_extras_limit_sent(&l, 1200);
		got = kar_extras_limit_wait(&l, rows[i].priority, rows[i].now);
		if (got != rows[i].want)
			fail_msg("%s: %jd ms, want %jd", rows[i].name, (intmax_t)got, (intmax_t)rows[i].want);
	}
}

static const struct {
	const char *name;
	enum kar_verb verb;
	enum kar_tier tier;
	bool firm, want;
} steps[] = {
	{ "object_of_a_job", KAR_CREATE, KAR_TIER_CONTROL, false, true },
	{ "admission", KAR_PATCH, KAR_TIER_CONTROL, true, true },
	{ "pod_of_a_minimum", KAR_CREATE, KAR_TIER_MINIMUM, false, true },
	{ "extra", KAR_CREATE, KAR_TIER_EXTRA, false, false },
	{ "news_that_may_be_late", KAR_PATCH, KAR_TIER_CONTROL, false, false },
	{ "delete", KAR_DELETE, KAR_TIER_CONTROL, false, false },
	{ "position", KAR_PATCH, KAR_TIER_BACKGROUND, false, false },
};

static void what_is_a_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(steps); i++) {
		const struct kar_action a = { .verb = steps[i].verb,
			.firm = steps[i].firm,
			.rank.tier = steps[i].tier };

		if (kar_is_step(&a) != steps[i].want)
			fail_msg("%s", steps[i].name);
	}
}

/* --- in the executor ----------------------------------------------------------------------------- */

static int set_up_wide(void **state)
{
	const struct kar_executor_options many = { .max_in_flight = 200 };
	struct bench *b;

	set_up(state);
	b = *state;
	kar_executor_free(b->x);
	b->x = kar_executor_new(b->loop, &b->fake->client, b->recorder, &many, on_applied, b);
	return 0;
}

/* Starts a job of this priority with 20 pods, all of which may be in flight, or with one object. */
static struct job *start_job(struct bench *b, const char *name, enum kar_tier tier, int32_t priority)
{
	struct job *j = new_job(b, name);

	j->s.plan.priority = priority;
	kar_slow_start_went_through(&j->s, 32);
	for (unsigned i = 0; i < (tier == KAR_TIER_CONTROL ? 1 : 20); i++)
		add_pod(j, kar_arena_printf(&j->s.arena, "%s%u", name, i), tier, priority, i);
	kar_executor_start(b->x, &j->s);
	return j;
}

static int count_open(struct bench *b, const char *text)
{
	int n = 0;

	for (size_t i = 0; i < b->fake->n; i++)
		n += b->fake->requests[i].open && strstr(b->fake->requests[i].text, text);
	return n;
}

static void answer_all(struct bench *b, const char *text)
{
	size_t sent = b->fake->n;

	for (size_t i = 0; i < sent; i++) {
		if (b->fake->requests[i].open && strstr(b->fake->requests[i].text, text))
			fake_answer(b->fake, (int)i, "{}", 7);
	}
}

static bool any_is_open_or_all_is_done(void *arg)
{
	struct bench *b = arg;

	return count_open(b, "create") || b->applied == 3;
}

static void finish(struct bench *b, struct job *jobs_of[3])
{
	size_t n = 3;

	while (b->applied < 3) {
		wait_until(b->loop, any_is_open_or_all_is_done, b);
		answer_all(b, "create");
	}
	while (n)
		free_job(jobs_of[--n]);
}

static int extras_open(struct bench *b)
{
	return count_open(b, "/x") + count_open(b, "/y");
}

static void only_some_extras_are_in_flight(void **state)
{
	struct bench *b = *state;
	struct job *jobs_of[] = { start_job(b, "x", KAR_TIER_EXTRA, 0), start_job(b, "y", KAR_TIER_EXTRA, 0),
		start_job(b, "m", KAR_TIER_MINIMUM, 0) };

	assert_int_equal(extras_open(b), 12);
	assert_int_equal(count_open(b, "/m"), 20);
	answer(b, "create pods default/x3");
	assert_int_equal(extras_open(b), 12);
	finish(b, jobs_of);
}

static bool one_is_open(void *arg)
{
	return extras_open(arg) == 1;
}

static bool several_are_open(void *arg)
{
	return extras_open(arg) > 1;
}

static void extras_make_room_for_an_important_job(void **state)
{
	struct bench *b = *state;
	struct job *jobs_of[] = { start_job(b, "x", KAR_TIER_EXTRA, 0), start_job(b, "y", KAR_TIER_EXTRA, 0),
		start_job(b, "c", KAR_TIER_CONTROL, 1) };

	answer_all(b, "/x");
	answer_all(b, "/y");
	assert_int_equal(extras_open(b), 0);
	assert_int_equal(count_open(b, "/c"), 1);
	wait_until(b->loop, one_is_open, b);
	answer_all(b, "/c");
	wait_until(b->loop, several_are_open, b); /* no other step has followed */
	finish(b, jobs_of);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up_wide, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extras_wait_for_steps),
		cmocka_unit_test(what_is_a_step),
		TEST(only_some_extras_are_in_flight),
		TEST(extras_make_room_for_an_important_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
