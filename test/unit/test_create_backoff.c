/* Creates that the API server refuses: what is remembered of them, and when they are tried again. */
#include "executor_bench.h"

static void refuse_action(struct job *j, const struct kar_action *a, enum kar_class what, kar_time mono)
{
	struct kar_err err = { 0 };

	kar_fail(&err, what, "no");
	kar_create_backoff_note(&j->s, a, &err, mono);
}

/* A create of @j was refused at @mono. */
static void refuse_create(struct job *j, enum kar_class what, kar_time mono)
{
	const struct kar_action a = { .verb = KAR_CREATE, .type = &pods, .ns = "default", .name = "p0" };

	refuse_action(j, &a, what, mono);
}

static void refused_create_is_held_back(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	refuse_create(j, KAR_DENIED, j->s.mono - 100);
	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	add(j, KAR_DELETE, "p1")->uid = "u";
	kar_create_backoff_hold_creates(&j->s);
	assert_int_equal(j->s.plan.requeue_after, 400);
	kar_executor_start(b->x, &j->s);
	assert_open(b, "delete pods default/p1");
	answer(b, "delete pods default/p1");
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->outcome.what, KAR_OK);
	assert_non_null(kar_create_backoff_of(&j->s)); /* a success without a create proves nothing */
	free_job(j);
}

static void dry_run_is_not_held_back(void **state)
{
	struct job *j = new_job(*state, "j");

	refuse_create(j, KAR_DENIED, j->s.mono - 100);
	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	add(j, KAR_CREATE, "p1")->dry_run = true;
	kar_create_backoff_hold_creates(&j->s);
	assert_int_equal(j->s.plan.n_actions, 1);
	assert_true(j->s.plan.actions[0].dry_run);
	free_job(j);
}

static void plan_without_creates_forgets_what_was_refused(void **state)
{
	struct job *j = new_job(*state, "j");

	refuse_create(j, KAR_DENIED, j->s.mono);
	kar_create_backoff_hold_creates(&j->s);
	assert_null(j->state.backoff);
	free_job(j);
}

/* Looks at @j, whose plan has no create, because pods that it takes away are to go first. Does the refusal stand? */
static bool stands_while_room_is_made(struct job *j, kar_time mono, kar_time again)
{
	j->s.mono = mono;
	j->s.plan.n_actions = 0;
	j->s.plan.makes_room = true;
	j->s.plan.requeue_after = KAR_NEVER;
	kar_create_backoff_hold_creates(&j->s);
	assert_int_equal(j->s.plan.requeue_after, again);
	return j->state.backoff;
}

/* Something may hold them for ever, and others could use its place in a line. */
static void refusal_stands_for_a_while_if_room_is_made(void **state)
{
	struct job *j = new_job(*state, "j");

	refuse_create(j, KAR_DENIED, 1000);
	assert_true(stands_while_room_is_made(j, 2000, 5000));
	assert_true(stands_while_room_is_made(j, 6999, 1));
	assert_false(stands_while_room_is_made(j, 7000, 1));
	assert_false(stands_while_room_is_made(j, 7001, KAR_NEVER));
	free_job(j);
}

static void each_time_that_room_is_made_counts_by_itself(void **state)
{
	struct job *j = new_job(*state, "j");

	refuse_create(j, KAR_DENIED, 1000);
	assert_true(stands_while_room_is_made(j, 2000, 5000));
	j->s.mono = 3000;
	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0); /* they have gone */
	kar_create_backoff_hold_creates(&j->s);
	assert_true(stands_while_room_is_made(j, 8000, 5000));
	refuse_create(j, KAR_DENIED, 9000);
	assert_true(stands_while_room_is_made(j, 14000, 5000));
	free_job(j);
}

/* When a create that was refused @tries times in a row at mono 1000 is tried again. */
static const struct {
	const char *name;
	enum kar_class what;
	int tries;
	const char *uid;
	int64_t generation;
	int32_t pods;
	kar_time now, want;
} hold_rows[] = {
	{ "first_refusal", KAR_DENIED, 1, "uid-1", 1, 5, 1000, 500 },
	{ "time_is_over", KAR_DENIED, 1, "uid-1", 1, 5, 1500, 0 },
	{ "third_refusal", KAR_DENIED, 3, "uid-1", 1, 5, 1000, 2000 },
	{ "many", KAR_DENIED, 40, "uid-1", 1, 5, 1000, 30000 },
	{ "many_of_an_invalid_object", KAR_INVALID, 40, "uid-1", 1, 5, 1000, 600000 },
	{ "more_pods_change_nothing", KAR_DENIED, 1, "uid-1", 1, 6, 1000, 500 },
	{ "fewer_pods_make_room", KAR_DENIED, 40, "uid-1", 1, 4, 1000, 0 },
	{ "object_was_edited", KAR_INVALID, 40, "uid-1", 2, 5, 1000, 0 },
	{ "another_object_of_the_name", KAR_INVALID, 40, "uid-2", 1, 5, 1000, 0 },
};

static void refusals_hold_for_a_while(void **state)
{
	for (size_t i = 0; i < KAR_LEN(hold_rows); i++) {
		struct job *j = new_job(*state, "j");
		kar_time got;

		j->s.generation = 1;
		j->s.live = 5;
		for (int n = 0; n < hold_rows[i].tries; n++)
			refuse_create(j, hold_rows[i].what, 1000);
		j->object.uid = hold_rows[i].uid;
		j->s.generation = hold_rows[i].generation;
		j->s.live = hold_rows[i].pods;
		j->s.mono = hold_rows[i].now;
		got = kar_create_backoff_hold(&j->s);
		if (got != hold_rows[i].want)
			fail_msg("%s: %d ms, want %d", hold_rows[i].name, (int)got, (int)hold_rows[i].want);
		free_job(j);
	}
}

/* The pods that it has taken back itself make no room, and the more they were, the longer it rests. */
static void what_was_taken_back_delays_the_next_try(void **state)
{
	struct job *j = new_job(*state, "j");

	j->s.live = 30;
	refuse_create(j, KAR_DENIED, 1000);
	j->s.plan.unfinished = true;
	j->s.plan.rolled_back = 29;
	kar_create_backoff_hold_creates(&j->s);
	j->s.live = 0;
	j->s.mono = 1000;
	assert_int_equal(kar_create_backoff_hold(&j->s), 1450);
	j->s.mono = 2449;
	assert_int_equal(kar_create_backoff_hold(&j->s), 1);
	j->s.mono = 2450;
	assert_int_equal(kar_create_backoff_hold(&j->s), 0);
	j->s.live = 30;
	refuse_create(j, KAR_DENIED, 2500);
	j->s.mono = 2500;
	assert_int_equal(kar_create_backoff_hold(&j->s), 1000); /* nothing was taken back for this one */
	free_job(j);
}

static void success_clears_the_refusal(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	refuse_create(j, KAR_DENIED, 0);
	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	kar_executor_start(b->x, &j->s);
	answer(b, "create pods default/p0");
	assert_null(j->state.backoff);
	free_job(j);
}

/* What was refused last, and which creates of an unfinished plan have gone well since: does the refusal stand? */
static const struct {
	enum kar_tier refused, created;
	bool stands;
} unfinished_rows[] = {
	{ KAR_TIER_MINIMUM, KAR_TIER_CONTROL, true },
	{ KAR_TIER_MINIMUM, KAR_TIER_MINIMUM, true },
	{ KAR_TIER_CONTROL, KAR_TIER_CONTROL, false },
};

static void unfinished_plan_clears_what_it_has_carried_out(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; i < KAR_LEN(unfinished_rows); i++) {
		struct job *j = new_job(b, "j");

		add_pod(j, "p0", unfinished_rows[i].refused, 0, 0);
		refuse_action(j, &j->s.plan.actions[0], KAR_DENIED, 0);
		j->s.plan.actions[0].rank.tier = unfinished_rows[i].created;
		j->s.plan.unfinished = true;
		kar_executor_start(b->x, &j->s);
		answer(b, "create pods default/p0");
		assert_int_equal(j->state.backoff != NULL, unfinished_rows[i].stands);
		free_job(j);
	}
}

/* However long pods that are invalid are held back. */
static void child_is_held_back_for_less(void **state)
{
	struct job *j = new_job(*state, "j");

	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	for (int i = 0; i < 40; i++)
		refuse_action(j, &j->s.plan.actions[0], KAR_INVALID, 1000);
	j->s.plan.actions[0].rank.tier = KAR_TIER_CONTROL;
	j->s.plan.actions[0].type = &jobs;
	j->s.mono = 1000 + 30000;
	kar_create_backoff_hold_creates(&j->s);
	assert_int_equal(j->s.plan.n_actions, 1);
	assert_true(j->s.plan.unfinished);
	j->s.mono--;
	kar_create_backoff_hold_creates(&j->s);
	assert_int_equal(j->s.plan.n_actions, 0);
	assert_int_equal(j->s.plan.requeue_after, 1);
	free_job(j);
}

static const struct kar_type services = { .res = { "", "v1", "services", "Service", true } };

/* A Service that could not be created is there, or wanted no more: what comes after it does not wait for its back-off. */
static void child_that_is_settled_holds_nothing_back(void **state)
{
	struct job *j = new_job(*state, "j");
	const struct kar_action a = { .verb = KAR_CREATE, .type = &services, .ns = "default", .name = "j" };

	refuse_action(j, &a, KAR_EXISTS, j->s.mono - 100);
	kar_plan_add(&j->s.plan, KAR_CREATE, &services, "default", "j");
	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	kar_create_backoff_hold_creates(&j->s);
	assert_int_equal(j->s.plan.n_actions, 0);
	assert_int_equal(j->s.plan.requeue_after, 400);
	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	kar_create_backoff_hold_creates(&j->s);
	assert_int_equal(j->s.plan.n_actions, 1);
	assert_null(j->state.backoff);
	free_job(j);
}

static void body_that_cannot_be_built_is_a_refusal(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add(j, KAR_CREATE, "p0")->what = 99;
	kar_executor_start(b->x, &j->s);
	assert_open(b, "");
	assert_int_equal(b->applied, 1);
	assert_non_null(kar_create_backoff_of(&j->s));
	assert_int_equal(j->state.backoff->err.what, KAR_INVALID);
	free_job(j);
}

static void object_in_the_way_vanishes(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	kar_executor_start(b->x, &j->s);
	refuse(b, "create pods default/p0", KAR_EXISTS);
	refuse(b, "get pods default/p0", KAR_NOTFOUND);
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->outcome.what, KAR_CONFLICT);
	assert_null(j->state.backoff);
	free_job(j);
}

static void refused_patch_is_no_refusal_of_a_create(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add(j, KAR_PATCH, "p0")->uid = "u";
	kar_executor_start(b->x, &j->s);
	refuse(b, "patch pods default/p0", KAR_DENIED);
	assert_int_equal(b->outcome.what, KAR_DENIED);
	assert_null(j->state.backoff);
	free_job(j);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refused_create_is_held_back),
		TEST(dry_run_is_not_held_back),
		TEST(plan_without_creates_forgets_what_was_refused),
		TEST(refusal_stands_for_a_while_if_room_is_made),
		TEST(each_time_that_room_is_made_counts_by_itself),
		TEST(refusals_hold_for_a_while),
		TEST(what_was_taken_back_delays_the_next_try),
		TEST(success_clears_the_refusal),
		TEST(unfinished_plan_clears_what_it_has_carried_out),
		TEST(child_is_held_back_for_less),
		TEST(child_that_is_settled_holds_nothing_back),
		TEST(body_that_cannot_be_built_is_a_refusal),
		TEST(refused_patch_is_no_refusal_of_a_create),
		TEST(object_in_the_way_vanishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
