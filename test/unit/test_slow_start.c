/* How many creates a plan begins with, and what becomes of those that are in flight together (slow_start.h, create_backoff.h). */
#include "executor_bench.h"

static void creates_start_slowly(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	for (unsigned i = 0; i < 7; i++) {
		static const char *const names[] = { "p0", "p1", "p2", "p3", "p4", "p5", "p6" };

		add_pod(j, names[i], KAR_TIER_MINIMUM, 0, i);
	}
	kar_executor_start(b->x, &j->s);
	assert_open(b, "create pods default/p0");
	answer(b, "create pods default/p0");
	assert_open(b, "create pods default/p1; create pods default/p2");
	answer(b, "create pods default/p1");
	answer(b, "create pods default/p2");
	/* The in-flight limit of the bench is 4. */
	assert_open(b,
		"create pods default/p3; create pods default/p4; create pods default/p5; create pods default/p6");
	assert_int_equal(b->applied, 0);
	for (int i = 3; i < 7; i++)
		fake_answer(b->fake, i, "{}", 9);
	assert_int_equal(b->applied, 1);
	free_job(j);
}

/* What the last plan of a key leaves behind for the next, and how many creates that one begins with. */
static const struct {
	const char *name;
	enum kar_tier tier;
	enum kar_class what; /* of the second create */
	bool edited, replaced, metered;
	size_t begins_with;
} window_rows[] = {
	{ "pods that went through", KAR_TIER_MINIMUM, .begins_with = 2 },
	{ "a pod that was refused", KAR_TIER_MINIMUM, KAR_DENIED, .begins_with = 1 },
	{ "a pod of which nothing is known", KAR_TIER_MINIMUM, KAR_UNKNOWN, .begins_with = 1 },
	{ "another object of the name", KAR_TIER_MINIMUM, .replaced = true, .begins_with = 1 },
	{ "another spec may have other pods", KAR_TIER_MINIMUM, .edited = true, .begins_with = 1 },
	{ "a quota may be full by now", KAR_TIER_MINIMUM, .metered = true, .begins_with = 1 },
	{ "children that went through", KAR_TIER_CONTROL, .begins_with = 1 },
};

static void begin_again(struct job *j, size_t row)
{
	kar_plan_init(&j->s.plan, &j->s.arena);
	for (unsigned i = 0; i < 3; i++) {
		static const char *const names[] = { "q0", "q1", "q2" };

		add_pod(j, names[i], KAR_TIER_MINIMUM, 0, i);
	}
	j->s.generation += window_rows[row].edited;
	j->object.uid = window_rows[row].replaced ? "uid-2" : "uid-1";
	j->s.plan.metered = window_rows[row].metered;
}

static void creates_that_went_through_make_the_next_begin_faster(void **state)
{
	static const char *const begins_with[] = { "", "create pods default/q0",
		"create pods default/q0; create pods default/q1" };
	struct bench *b = *state;

	for (size_t i = 0; i < KAR_LEN(window_rows); i++) {
		struct job *j = new_job(b, "j");

		add_pod(j, "p0", window_rows[i].tier, 0, 0);
		add_pod(j, "p1", window_rows[i].tier, 0, 1);
		kar_executor_start(b->x, &j->s);
		answer(b, "create pods default/p0");
		if (window_rows[i].what)
			refuse(b, "create pods default/p1", window_rows[i].what);
		else
			answer(b, "create pods default/p1");
		begin_again(j, i);
		kar_executor_start(b->x, &j->s);
		print_message("%s\n", window_rows[i].name);
		assert_open(b, begins_with[window_rows[i].begins_with]);
		for (unsigned k = 0; k < 3; k++) {
			static const char *const requests[] = { "create pods default/q0",
				"create pods default/q1", "create pods default/q2" };

			answer(b, requests[k]);
		}
		free_job(j);
	}
}

static void smaller_plan_does_not_make_the_next_slower(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	for (unsigned plan = 0; plan < 2; plan++) {
		static const char *const requests[] = { "create pods default/p0", "create pods default/p1" };

		kar_plan_init(&j->s.plan, &j->s.arena);
		for (unsigned i = 0; i < 2 - plan; i++)
			add_pod(j, i ? "p1" : "p0", KAR_TIER_MINIMUM, 0, i);
		kar_executor_start(b->x, &j->s);
		for (unsigned i = 0; i < 2 - plan; i++)
			answer(b, requests[i]);
	}
	begin_again(j, 0);
	kar_executor_start(b->x, &j->s);
	assert_open(b, "create pods default/q0; create pods default/q1");
	answer(b, "create pods default/q0");
	answer(b, "create pods default/q1");
	answer(b, "create pods default/q2");
	free_job(j);
}

/* A plan whose two creates went through, and the next, which begins with as many. */
static void begin_with_two(struct bench *b, struct job *j)
{
	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	add_pod(j, "p1", KAR_TIER_MINIMUM, 0, 1);
	kar_executor_start(b->x, &j->s);
	answer(b, "create pods default/p0");
	answer(b, "create pods default/p1");
	begin_again(j, 0);
	kar_executor_start(b->x, &j->s);
}

/* Two creates that were on their way together are one try, however they end; the next plan begins with one. */
static const struct {
	const char *name;
	enum kar_class first, second, remembered;
} together_rows[] = {
	{ "both are refused", KAR_DENIED, KAR_DENIED, KAR_DENIED },
	{ "in two ways", KAR_DENIED, KAR_INVALID, KAR_DENIED },
	{ "one is lost, the other refused", KAR_RETRY, KAR_DENIED, KAR_DENIED },
	{ "one is refused, the other lost", KAR_DENIED, KAR_UNKNOWN, KAR_DENIED },
	{ "both are lost", KAR_RETRY, KAR_UNKNOWN, KAR_OK },
};

static void creates_refused_together_are_one_try(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; i < KAR_LEN(together_rows); i++) {
		struct job *j = new_job(b, "j");

		begin_with_two(b, j);
		refuse(b, "create pods default/q0", together_rows[i].first);
		refuse(b, "create pods default/q1", together_rows[i].second);
		print_message("%s\n", together_rows[i].name);
		assert_int_equal(j->state.backoff ? j->state.backoff->tries : 0,
			together_rows[i].remembered != KAR_OK);
		assert_int_equal(j->state.backoff ? j->state.backoff->err.what : KAR_OK,
			together_rows[i].remembered);
		begin_again(j, 0);
		kar_executor_start(b->x, &j->s);
		assert_open(b, "create pods default/q0");
		refuse(b, "create pods default/q0", KAR_DENIED);
		free_job(j);
	}
}

/* The client tries one of them again, for seconds, when the server is busy; the next try is not due as soon as that has ended. */
static void hold_begins_with_the_last_answer(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");
	kar_time first;

	begin_with_two(b, j);
	refuse(b, "create pods default/q0", KAR_DENIED);
	first = j->state.backoff->at;
	j->state.backoff->at -= 4 * KAR_SECOND; /* as if it had come long ago */
	j->state.backoff->again -= 4 * KAR_SECOND;
	refuse(b, "create pods default/q1", KAR_DENIED);
	assert_true(j->state.backoff->at >= first);
	assert_int_equal(j->state.backoff->again - j->state.backoff->at, KAR_SECOND / 2);
	free_job(j);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(creates_start_slowly),
		TEST(creates_that_went_through_make_the_next_begin_faster),
		TEST(smaller_plan_does_not_make_the_next_slower),
		TEST(creates_refused_together_are_one_try),
		TEST(hold_begins_with_the_last_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
