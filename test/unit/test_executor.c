/* The executor: in which order a plan's writes go out, and what each answer leads to. */
#include "executor_bench.h"
#include "test/fixture/wait.h"

static void empty_plan_is_applied_at_once(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	kar_plan_requeue(&j->s.plan, 70);
	kar_executor_start(b->x, &j->s);
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->outcome.what, KAR_OK);
	assert_int_equal(b->outcome.requeue_after, 70);
	free_job(j);
}

static void status_is_stored_before_anything_is_done(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	j->s.plan.status = "new";
	j->s.plan.urgent = true;
	kar_plan_event(&j->s.plan, false, "Running", "Run", "it runs");
	add(j, KAR_DELETE, "p")->uid = "u";
	kar_executor_start(b->x, &j->s);
	assert_open(b, "patch jobs/status default/j");
	answer(b, "patch jobs/status default/j");
	assert_true(fake_find(b->fake, "delete pods default/p") >= 0);
	assert_true(kar_recorder_pending(b->recorder) == 1);
	answer(b, "delete pods default/p");
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->wrote, 2);
	free_job(j);
}

static void failed_status_write_stops_the_plan_and_its_events(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	j->s.plan.status = "new";
	j->s.plan.urgent = true;
	kar_plan_event(&j->s.plan, false, "Running", "Run", "it runs");
	add(j, KAR_DELETE, "p");
	kar_executor_start(b->x, &j->s);
	refuse(b, "patch jobs/status default/j", KAR_CONFLICT);
	assert_open(b, "");
	assert_false(b->outcome.status_waits);
	assert_int_equal(kar_recorder_pending(b->recorder), 0);
	assert_int_equal(b->outcome.what, KAR_CONFLICT);
	assert_null(j->state.backoff);
	free_job(j);
}

static void counters_alone_wait_for_the_interval(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	j->s.plan.status = "counts";
	j->state.status_written = 4400; /* 600 ms ago */
	kar_executor_start(b->x, &j->s);
	assert_open(b, "");
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->outcome.requeue_after, 400);
	assert_true(b->outcome.status_waits); /* so this was no success either */
	free_job(j);
}

static void urgent_status_does_not_wait(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	j->s.plan.status = "phase";
	j->s.plan.urgent = true;
	j->state.status_written = 4400;
	kar_executor_start(b->x, &j->s);
	answer(b, "patch jobs/status default/j");
	assert_int_equal(b->applied, 1);
	free_job(j);
}

/* A question: it is no create that others would have to wait for, and no answer to it fails the plan. */
static void dry_run_changes_nothing(void **state)
{
	static const enum kar_class answers[] = { KAR_OK, KAR_INVALID, KAR_DENIED, KAR_EXISTS, KAR_RETRY,
		KAR_UNKNOWN };
	struct bench *b = *state;

	for (size_t i = 0; i < KAR_LEN(answers); i++) {
		struct job *j = new_job(b, "j");

		b->applied = b->wrote = b->refused = 0;
		add(j, KAR_CREATE, "q0")->dry_run = true;
		add(j, KAR_CREATE, "q1")->dry_run = true;
		kar_executor_start(b->x, &j->s);
		assert_open(b, "dry-run create pods default/q0; dry-run create pods default/q1");
		if (answers[i])
			refuse(b, "dry-run create pods default/q0", answers[i]);
		else
			answer(b, "dry-run create pods default/q0");
		answer(b, "dry-run create pods default/q1");
		assert_open(b, "");
		assert_int_equal(b->applied, 1);
		assert_int_equal(b->outcome.what, KAR_OK);
		assert_int_equal(b->refused, answers[i] != KAR_OK);
		assert_int_equal(b->wrote, 2 - b->refused);
		assert_null(j->state.backoff);
		free_job(j);
	}
}

/* A plan that creates one pod, for one that has failed, says nothing against as many as the gang has. */
static void creates_stop_at_the_first_refusal(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	add_pod(j, "p1", KAR_TIER_MINIMUM, 0, 1);
	kar_executor_start(b->x, &j->s);
	refuse(b, "create pods default/p0", KAR_DENIED);
	assert_open(b, "");
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->outcome.what, KAR_DENIED);
	assert_non_null(kar_create_backoff_of(&j->s));
	assert_int_equal(j->state.backoff->err.what, KAR_DENIED);
	assert_string_equal(j->state.backoff->name, "default/p0");
	free_job(j);
}

#define LABELLED_POD_OF(uid, labels) \
	"{\"metadata\":{\"name\":\"p0\",\"uid\":\"x\",\"resourceVersion\":\"5\",\"labels\":{" labels \
	"},\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"" uid \
	"\",\"controller\":true}]}}"
#define POD_OF(uid) LABELLED_POD_OF(uid, "")
#define POD_OF_KIND(kind, owner) \
	"{\"metadata\":{\"name\":\"p0\",\"uid\":\"x\",\"ownerReferences\":[{\"kind\":\"" kind \
	"\",\"name\":\"" owner "\",\"uid\":\"other\",\"controller\":true}]}}"

static const struct {
	const char *name, *existing;
	const char *seen_by; /* of the action */
	enum kar_class want;
	const char *words; /* that people read */
} exists_rows[] = {
	{ "own_object_is_a_lost_reply", POD_OF("uid-1"), NULL, KAR_OK, "" },
	{ "object_of_an_older_owner_of_the_same_name", POD_OF("uid-0"), NULL, KAR_EXISTS,
		"Pod p0 exists and belongs to a former Job j; waiting until it is deleted" },
	{ "object_nobody_controls", "{\"metadata\":{\"name\":\"p0\",\"uid\":\"x\"}}", NULL, KAR_EXISTS,
		"Pod p0 exists and was not made for this Job (no owner); delete it, or rename the Job. The Job goes on by itself then." },
	{ "object_of_somebody_else", POD_OF_KIND("CRDJob", "demo"), NULL, KAR_EXISTS,
		"Pod p0 exists and belongs to CRDJob demo; rename the Job, or delete what has the name. The Job goes on by itself then." },
	{ "own_object_that_the_caches_will_show", LABELLED_POD_OF("uid-1", "\"l\":\"j\""), "l", KAR_OK, "" },
	{ "own_object_without_the_label_by_which_it_is_found", POD_OF("uid-1"), "l", KAR_EXISTS,
		"Pod p0 of this Job exists already, but without the label l=j, by which it is found; add the label or delete the Pod" },
	{ "foreign_object_without_the_label", POD_OF("uid-0"), "l", KAR_EXISTS,
		"Pod p0 exists and belongs to a former Job j; waiting until it is deleted" },
};

static void already_exists_is_judged_by_the_owner(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; i < KAR_LEN(exists_rows); i++) {
		struct job *j = new_job(b, "j");

		add(j, KAR_CREATE, "p0")->seen_by = exists_rows[i].seen_by;
		kar_executor_start(b->x, &j->s);
		refuse(b, "create pods default/p0", KAR_EXISTS);
		assert_open(b, "get pods default/p0");
		fake_answer(b->fake, fake_find(b->fake, "get pods default/p0"), exists_rows[i].existing, 5);
		if (b->outcome.what != exists_rows[i].want || b->applied != (int)i + 1 ||
			strcmp(b->outcome.err.msg, exists_rows[i].words) != 0)
			fail_msg("%s: outcome %s, %s", exists_rows[i].name,
				kar_err_class_name(b->outcome.what), b->outcome.err.msg);
		/* A refusal is remembered. */
		assert_int_equal(kar_create_backoff_of(&j->s) != NULL, exists_rows[i].want != KAR_OK);
		free_job(j);
	}
}

static void delete_names_what_it_was_decided_on(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");
	struct kar_action *a = add(j, KAR_DELETE, "p0");

	a->uid = "u";
	a->rv = 77;
	kar_executor_start(b->x, &j->s);
	assert_non_null(strstr(b->fake->requests[0].body,
		"\"preconditions\":{\"uid\":\"u\",\"resourceVersion\":\"77\"}"));
	answer(b, "delete pods default/p0");
	free_job(j);
}

static void counters_do_not_wait_for_ever_behind_actions(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	j->s.mono = 20000;
	j->s.plan.status = "counts";
	j->s.plan.counters = true;
	j->state.status_written = 9000;
	add(j, KAR_DELETE, "p0")->uid = "u";
	kar_executor_start(b->x, &j->s);
	assert_open(b, "patch jobs/status default/j");
	answer(b, "patch jobs/status default/j");
	answer(b, "delete pods default/p0");
	assert_int_equal(b->applied, 1);
	free_job(j);
}

static void somebody_deleted_it_first(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add(j, KAR_DELETE, "p0")->uid = "u";
	add(j, KAR_PATCH, "p1")->uid = "u";
	kar_executor_start(b->x, &j->s);
	refuse(b, "delete pods default/p0", KAR_NOTFOUND);
	refuse(b, "patch pods default/p1", KAR_NOTFOUND);
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->outcome.what, KAR_OK);
	free_job(j);
}

static void one_refused_delete_does_not_hold_up_the_others(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	for (int i = 0; i < 6; i++) {
		static const char *const names[] = { "p0", "p1", "p2", "p3", "p4", "p5" };

		add(j, KAR_DELETE, names[i])->uid = "u";
	}
	kar_executor_start(b->x, &j->s);
	refuse(b, "delete pods default/p0", KAR_DENIED);
	refuse(b, "delete pods default/p1", KAR_CONFLICT);
	assert_open(b,
		"delete pods default/p2; delete pods default/p3; delete pods default/p4; delete pods default/p5");
	for (int i = 2; i < 6; i++)
		fake_answer(b->fake, i, "{}", 1);
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->refused, 1); /* a conflict is no refusal */
	assert_int_equal(b->outcome.what, KAR_DENIED);
	free_job(j);
}

/* What is answered to an eviction: a budget, or two of them, say no to this one. Of anything else it is about load, or the server fails. */
static void an_eviction_may_be_refused_and_the_plan_goes_on(void **state)
{
	static const struct {
		int http;
		enum kar_class what;
		bool may, goes_on;
	} answers[] = {
		{ 429, KAR_RETRY, false, false },
		{ 429, KAR_RETRY, true, true },
		{ 500, KAR_UNKNOWN, false, false },
		{ 500, KAR_UNKNOWN, true, true },
		{ 503, KAR_UNKNOWN, true, false },
	};
	struct bench *b = *state;

	for (size_t k = 0; k < KAR_LEN(answers); k++) {
		struct job *j = new_job(b, "j");

		b->applied = b->wrote = b->refused = 0;
		for (int i = 0; i < 2; i++) {
			struct kar_action *a = add(j, KAR_CREATE, i ? "p1" : "p0");

			a->subresource = "eviction";
			a->may_refuse = answers[k].may;
		}
		add(j, KAR_DELETE, "p2")->uid = "u";
		kar_executor_start(b->x, &j->s);
		fake_refuse_with(b->fake, fake_find(b->fake, "create pods/eviction default/p0"),
			answers[k].what, answers[k].http, "no");
		answer(b, "create pods/eviction default/p1");
		answer(b, "delete pods default/p2");
		assert_int_equal(b->applied, 1);
		assert_int_equal(b->outcome.what, answers[k].goes_on ? KAR_OK : answers[k].what);
		assert_int_equal(b->refused, answers[k].goes_on);
		free_job(j);
	}
}

static void unreachable_server_ends_the_plan(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	for (int i = 0; i < 6; i++)
		add(j, KAR_DELETE, "p")->uid = "u";
	kar_executor_start(b->x, &j->s);
	for (int i = 0; i < 4; i++)
		refuse(b, "delete pods default/p", KAR_RETRY);
	assert_open(b, "");
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->outcome.what, KAR_RETRY);
	free_job(j);
}

static void unknown_outcome_is_not_repeated(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	add_pod(j, "p1", KAR_TIER_MINIMUM, 0, 1);
	kar_executor_start(b->x, &j->s);
	refuse(b, "create pods default/p0", KAR_UNKNOWN);
	assert_open(b, "");
	assert_int_equal(b->outcome.what, KAR_UNKNOWN);
	assert_null(j->state.backoff);
	free_job(j);
}

static void only_deletes_with_a_precondition_may_be_replayed(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add(j, KAR_CREATE, "p0");
	add(j, KAR_PATCH, "p1");
	add(j, KAR_DELETE, "p2");
	add(j, KAR_DELETE, "p3")->uid = "u";
	kar_executor_start(b->x, &j->s);
	assert_int_equal(b->fake->n, 4);
	for (int i = 0; i < 3; i++)
		assert_false(b->fake->requests[i].replayable);
	assert_true(b->fake->requests[3].replayable);
	for (int i = 0; i < 4; i++)
		fake_answer(b->fake, i, "{}", 1);
	free_job(j);
}

static void answers_are_asked_for_without_spec_and_status(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	j->s.plan.status = "new";
	j->s.plan.urgent = true;
	add(j, KAR_PATCH, "p1");
	add(j, KAR_GET, "p2");
	add(j, KAR_CREATE, "p3");
	add(j, KAR_DELETE, "p0");
	kar_executor_start(b->x, &j->s);
	answer(b, "patch jobs/status default/j");
	refuse(b, "create pods default/p3", KAR_EXISTS);
	assert_int_equal(b->fake->n, 6); /* the last one looks whose p3 it is */
	for (int i = 0; i < 6; i++) {
		if (!b->fake->requests[i].metadata_only)
			fail_msg("the whole object is wanted of: %s", b->fake->requests[i].text);
		if (b->fake->requests[i].open)
			fake_answer(b->fake, i, "{}", 1);
	}
	free_job(j);
}

static void whole_answer_is_asked_for_once(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add(j, KAR_CREATE, "p0")->whole_answer = true;
	kar_executor_start(b->x, &j->s);
	assert_false(b->fake->requests[0].metadata_only);
	refuse(b, "create pods default/p0", KAR_EXISTS);
	assert_true(b->fake->requests[1].metadata_only); /* whose is it? */
	fake_answer(b->fake, 1, "{}", 1);
	free_job(j);
}

/* Ten thousand deletes of one job do not hold up the status of another for seconds. */
static void a_large_plan_lets_the_others_have_their_turn(void **state)
{
	struct bench *b = *state;
	struct job *large = new_job(b, "large"), *small = new_job(b, "small");
	size_t before = 0;

	for (int i = 0; i < 200; i++)
		add(large, KAR_DELETE, kar_arena_printf(&large->s.arena, "p-%d", i));
	add(small, KAR_DELETE, "other");
	kar_executor_start(b->x, &large->s);
	kar_executor_start(b->x, &small->s);
	while (fake_find(b->fake, "delete pods default/other") < 0)
		answer(b, kar_arena_printf(&large->s.arena, "delete pods default/p-%zu", before++));
	assert_in_range(before, 50, 64);
	answer(b, "delete pods default/other");
	while (before < 200)
		answer(b, kar_arena_printf(&large->s.arena, "delete pods default/p-%zu", before++));
	assert_int_equal(b->applied, 2);
	free_job(large);
	free_job(small);
}

static bool one_is_open(void *arg)
{
	char open[4096];

	return *fake_open(((struct bench *)arg)->fake, open, sizeof(open)) != '\0';
}

/* With one write at a time the order in which they go out is the order of the ranks. */
static void ranks_decide_across_plans(void **state)
{
	static const char *const want[] = { "create pods default/hold", "create pods default/hi-0",
		"create pods default/lo-0", "create pods default/lo-1", "create pods default/hi-x0",
		"create pods default/lo-x0", "create pods default/hi-x1", "create pods default/lo-x1" };
	struct bench *b = *state;
	const struct kar_executor_options one = { .max_in_flight = 1 };
	struct job *hold = new_job(b, "hold"), *lo = new_job(b, "lo"), *hi = new_job(b, "hi");

	kar_executor_free(b->x);
	b->x = kar_executor_new(b->loop, &b->fake->client, b->recorder, &one, on_applied, b);
	add_pod(hold, "hold", KAR_TIER_MINIMUM, 0, 0);
	add_pod(lo, "lo-0", KAR_TIER_MINIMUM, 1, 0);
	add_pod(lo, "lo-1", KAR_TIER_MINIMUM, 1, 1);
	add_pod(lo, "lo-x0", KAR_TIER_EXTRA, 1, 0);
	add_pod(lo, "lo-x1", KAR_TIER_EXTRA, 1, 1);
	add_pod(hi, "hi-0", KAR_TIER_MINIMUM, 9, 0);
	add_pod(hi, "hi-x0", KAR_TIER_EXTRA, 9, 0);
	add_pod(hi, "hi-x1", KAR_TIER_EXTRA, 9, 1);
	kar_executor_start(b->x, &hold->s);
	kar_executor_start(b->x, &lo->s);
	kar_executor_start(b->x, &hi->s);
	for (size_t i = 0; i < KAR_LEN(want); i++) {
		wait_until(b->loop, one_is_open,
			b); /* an extra of the less important job waits a moment (extras_limit.h) */
		assert_open(b, want[i]);
		answer(b, want[i]);
	}
	assert_int_equal(b->applied, 3);
	free_job(hold);
	free_job(lo);
	free_job(hi);
}

static void what_is_no_longer_wanted_is_not_sent(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	add_pod(j, "p1", KAR_TIER_MINIMUM, 0, 1);
	kar_executor_start(b->x, &j->s);
	b->unwanted = true;
	answer(b, "create pods default/p0");
	assert_open(b, "");
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->outcome.requeue_after, 0);
	free_job(j);
}

/* The bench's controller no longer wants patches of pods named "old". */
static void overtaken_patch_is_skipped_and_the_others_go_out(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");

	add(j, KAR_PATCH, "p0");
	add(j, KAR_PATCH, "old");
	add(j, KAR_PATCH, "p1");
	kar_executor_start(b->x, &j->s);
	assert_open(b, "patch pods default/p0; patch pods default/p1");
	answer(b, "patch pods default/p0");
	answer(b, "patch pods default/p1");
	assert_int_equal(b->applied, 1);
	assert_int_equal(b->outcome.requeue_after, 0);
	free_job(j);
}

static void drain_waits_for_what_was_sent_and_drops_the_rest(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j"), *waiting = new_job(b, "waiting");

	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	add_pod(j, "p1", KAR_TIER_MINIMUM, 0, 1);
	kar_executor_start(b->x, &j->s);
	kar_executor_drain(b->x);
	assert_int_equal(kar_executor_in_flight(b->x), 1);
	answer(b, "create pods default/p0");
	assert_open(b, "");
	assert_int_equal(b->applied, 1);
	add_pod(waiting, "p2", KAR_TIER_MINIMUM, 0, 0);
	kar_executor_start(b->x, &waiting->s);
	assert_open(b, "");
	assert_int_equal(b->applied, 2);
	free_job(j);
	free_job(waiting);
}

static void own_writes_are_remembered_for_the_barrier(void **state)
{
	struct bench *b = *state;
	struct job *j = new_job(b, "j");
	struct kar_intern *strings = kar_intern_new();
	struct kar_store *store = kar_store_new(&pods, strings);

	add(j, KAR_CREATE, "q")->dry_run = true;
	add_pod(j, "p0", KAR_TIER_MINIMUM, 0, 0);
	kar_executor_start(b->x, &j->s);
	answer(b, "dry-run create pods default/q");
	assert_true(kar_barrier_passed(b->controller.barrier, "j", store));
	answer(b, "create pods default/p0"); /* with version 7 */
	assert_false(kar_barrier_passed(b->controller.barrier, "j", store));
	kar_store_bookmark(store, 6);
	assert_false(kar_barrier_passed(b->controller.barrier, "j", store));
	kar_store_bookmark(store, 7);
	assert_true(kar_barrier_passed(b->controller.barrier, "j", store));
	kar_store_free(store);
	kar_intern_free(strings);
	free_job(j);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(empty_plan_is_applied_at_once),
		TEST(status_is_stored_before_anything_is_done),
		TEST(failed_status_write_stops_the_plan_and_its_events),
		TEST(counters_alone_wait_for_the_interval),
		TEST(urgent_status_does_not_wait),
		TEST(dry_run_changes_nothing),
		TEST(creates_stop_at_the_first_refusal),
		TEST(already_exists_is_judged_by_the_owner),
		TEST(delete_names_what_it_was_decided_on),
		TEST(counters_do_not_wait_for_ever_behind_actions),
		TEST(somebody_deleted_it_first),
		TEST(one_refused_delete_does_not_hold_up_the_others),
		TEST(an_eviction_may_be_refused_and_the_plan_goes_on),
		TEST(unreachable_server_ends_the_plan),
		TEST(unknown_outcome_is_not_repeated),
		TEST(only_deletes_with_a_precondition_may_be_replayed),
		TEST(answers_are_asked_for_without_spec_and_status),
		TEST(whole_answer_is_asked_for_once),
		TEST(a_large_plan_lets_the_others_have_their_turn),
		TEST(ranks_decide_across_plans),
		TEST(what_is_no_longer_wanted_is_not_sent),
		TEST(overtaken_patch_is_skipped_and_the_others_go_out),
		TEST(drain_waits_for_what_was_sent_and_drops_the_rest),
		TEST(own_writes_are_remembered_for_the_barrier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
