/*
 * What a plan of the QueueJob reconciler says besides its actions: their rank, whether the status is urgent, whether more is wanted;
 * and how large it may be. A scene in (test/fixture/scene.h). What it does: test_queuejob_decide.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/podset/podset.h"
#include "controllers/queuejob/observe.h"
#include "test/fixture/scene.h"

static void test_no_plan_creates_more_than_500_pods(void **state)
{
	struct scene s;
	struct kar_plan p;

	(void)state;
	scene_read(&s, "job phase=Starting min=1; task w replicas=502");
	scene_decide(&s, &p);
	assert_int_equal(p.n_actions, 500);
	assert_int_equal(p.requeue_after, 0);
	scene_apply(&s, &p, true, p.n_actions);
	scene_decide(&s, &p);
	assert_int_equal(p.n_actions, 2);
	assert_true(p.requeue_after == KAR_NEVER);
	scene_release(&s);
}

static void test_no_status_lists_more_than_500_lost_pods(void **state)
{
	struct scene s;
	struct kar_plan p;
	char name[32];
	const struct kar_queuejob_status *st;

	(void)state;
	scene_read(&s, "job phase=Starting min=0 backoff=9999; task w replicas=600");
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "j-w-%d", i);
		scene_add_pod(&s, name, KAR_POD_FAILED, 1);
	}
	scene_decide(&s, &p);
	st = p.status;
	assert_int_equal(st->record.counted_pods.n, 500);
	assert_int_equal(st->pod_failures, 500);
	assert_int_equal(p.n_actions, 0);
	scene_apply(&s, &p, true, p.n_actions);
	s.now += KAR_MINUTE * 20;
	for (int i = 0; i < 20 && s.job.status.pod_failures < 600; i++) {
		scene_decide(&s, &p);
		scene_apply(&s, &p, true, p.n_actions);
	}
	assert_int_equal(s.job.status.pod_failures, 600);
	scene_release(&s);
}

static void check_deletes_are_recorded(const struct scene *s, const struct kar_plan *p)
{
	const struct kar_array *counted = &s->job.status.record.counted_pods;

	for (size_t i = 0; i < p->n_actions; i++) {
		/* The mark of an eviction comes first, so it is recorded as well. */
		bool recorded = p->actions[i].verb != KAR_DELETE && p->actions[i].what != PODSET_DISRUPT;

		for (size_t k = 0; k < counted->n && !recorded; k++)
			recorded = strcmp(((const char *const *)counted->items)[k], p->actions[i].uid) == 0;
		if (!recorded)
			fail_msg("%s is deleted, and not recorded as our own doing", p->actions[i].name);
	}
}

/* The record has its bound, so a large step down is several. Else the rest might be losses if they are wanted again. */
static void check_scaled_away(const char *scene)
{
	struct scene s;
	struct kar_plan p;
	char name[32];

	scene_read(&s, scene);
	for (int i = 1; i <= 600; i++) {
		snprintf(name, sizeof(name), "j-w-%d", i);
		scene_add_pod(&s, name, KAR_POD_RUNNING, 1);
	}
	s.job.status.desired = 601;
	for (int i = 0; i < 40 && s.n_pods > 1; i++) {
		scene_decide(&s, &p);
		check_deletes_are_recorded(&s, &p);
		scene_apply(&s, &p, true, p.n_actions);
	}
	assert_int_equal(s.n_pods, 1);
	scene_release(&s);
}

static void test_what_is_scaled_away_is_recorded_first(void **state)
{
	(void)state;
	check_scaled_away("job phase=Running min=1 formed=1 edited; task w; pod w-0 Running"); /* by a user */
	check_scaled_away(
		"job phase=Running min=1 formed=1; task w replicas=601; group desired=1; pod w-0 Running");
}

/* Else a refusal would be forgotten at each look, and what was refused be asked for at once. */
static const struct {
	const char *scene;
	bool unfinished, makes_room;
} unfinished_rows[] = {
	/* a look at the job comes first */
	{ "job min=1 phase=Running formed=1; task w replicas=3 done=0; pod w-0 Succeeded untracked inc=7; pod w-1 Running",
		true, false },
	{ "job phase=Starting min=1; task w replicas=2", false, false },
	{ "job phase=Starting min=1; task w replicas=502", true, false },
	/* one of several waits for a pod that is to go */
	{ "job min=1 phase=Running formed=1; task w replicas=2; task v replicas=2; pod w-0 Running; pod w-2 Running counted",
		true, false },
	/* the pods of a minimum that a quota has refused are to go before it is tried again */
	{ "job phase=Restarting restart=QuotaExceeded min=2; task w replicas=2; quota; pod w-0 Pending deleting untracked; refused Denied exceeded quota: q",
		true, false },
	/* the only one does */
	{ "job min=1 phase=Running formed=1; task w replicas=2; pod w-0 Running; pod w-2 Running counted",
		false, true },
	/* the pod goes: nothing waits for it any more */
	{ "job min=1 phase=Running formed=1; task w replicas=2; pod w-0 Running; pod w-2 Running counted deleting",
		false, false },
	/* what is created bound waits for a place; what has one is created, and nothing is left of its refusal */
	{ "job phase=Running min=1 formed=1 direct; task w replicas=3; pod w-0 Running node=n1 made=50; group admitted place=Satisfied planned=60",
		true, false },
	{ "job phase=Running min=1 formed=1 direct; task w replicas=3; pod w-0 Running node=n1 made=50; group admitted place=Satisfied planned=5 plan=w:n1",
		false, false },
	/* a pod is to go, and none is to come */
	{ "job min=1 phase=Running formed=1; task w; pod w-0 Running; pod w-2 Running counted", false,
		false },
};

static void test_plan_tells_that_more_is_wanted(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(unfinished_rows); i++) {
		struct scene s;
		struct kar_plan p;

		scene_read(&s, unfinished_rows[i].scene);
		scene_decide(&s, &p);
		if (p.unfinished != unfinished_rows[i].unfinished ||
			p.makes_room != unfinished_rows[i].makes_room)
			fail_msg("%s: unfinished=%d makes_room=%d", unfinished_rows[i].scene, p.unfinished,
				p.makes_room);
		scene_release(&s);
	}
}

static kar_time looks_again_after(const char *text)
{
	struct scene s;
	struct kar_plan p;

	scene_read(&s, text);
	scene_decide(&s, &p);
	kar_time after = p.requeue_after;

	scene_release(&s);
	return after;
}

/* What is left over of a large job is created in the next plan, unless nothing can be created now. */
static void test_what_is_left_over_is_looked_at_at_once(void **state)
{
	(void)state;
	assert_int_equal(looks_again_after("job phase=Starting min=1; task w replicas=502"), 0);
	assert_int_equal(looks_again_after(
				 "job phase=Starting min=1; task w replicas=1; pod w-700 Running counted"),
		KAR_NEVER);
}

/* 601 are missing, 550 are to go, and their record has room for 500: what is left over is created all the same. */
static void test_bound_holds_for_what_is_created(void **state)
{
	struct scene s;
	struct kar_plan p;
	char name[32];

	(void)state;
	scene_read(&s,
		"job phase=Running min=0; task v replicas=601 priority=1; task w replicas=1; pod w-0 Running");
	for (int i = 1; i <= 550; i++) {
		snprintf(name, sizeof(name), "j-w-%d", i);
		scene_add_pod(&s, name, KAR_POD_RUNNING, 1);
	}
	scene_decide(&s, &p);
	assert_int_equal(p.n_actions, 51);
	scene_release(&s);
}

/* What the executor sorts by: every minimum before any extra, then the job's priority and age, rounds. */
static void test_creates_carry_their_rank(void **state)
{
	struct scene s;
	struct kar_plan p;

	(void)state;
	scene_read(&s,
		"job phase=Starting min=1 priority=9 max-priority=7; task w replicas=3; group admitted priority=9");
	scene_decide(&s, &p);
	assert_int_equal(p.n_actions, 3);
	assert_int_equal(p.actions[0].rank.tier, KAR_TIER_MINIMUM);
	assert_int_equal(p.actions[1].rank.tier, KAR_TIER_EXTRA);
	assert_int_equal(p.actions[2].rank.seq, 1);
	assert_int_equal(p.actions[2].rank.priority, 7);
	assert_int_equal(p.actions[2].rank.age, s.job.creation);
	scene_release(&s);
}

/* A job's own number is what it asks for; its queue says what that counts as. */
static void test_priority_counts_at_most_as_the_maximum_of_the_queue(void **state)
{
	static const struct {
		const char *scene;
		int32_t rank;
		const char *message;
	} rows[] = {
		{ "priority=7 max-priority=8", 7, "admitted by queue default" },
		{ "priority=8 max-priority=8", 8, "admitted by queue default" },
		{ "priority=2147483647 max-priority=8", 8,
			"admitted by queue default; priority 2147483647 counts as 8, the maxPriority of the queue" },
		{ "priority=0 max-priority=-5", -5,
			"admitted by queue default; priority 0 counts as -5, the maxPriority of the queue" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob_status *st;
		struct queuejob_view v;
		struct scene s;
		struct kar_plan p;

		char text[128];

		snprintf(text, sizeof(text), "job phase=Pending %s; task w; group admitted; spec",
			rows[i].scene);
		scene_read(&s, text);
		v = scene_view(&s);
		scene_decide(&s, &p);
		st = p.status;
		assert_int_equal(queuejob_priority(&v), rows[i].rank);
		assert_non_null(st);
		assert_string_equal(kar_condition_find(&st->conditions, KAR_QJ_ADMITTED)->message,
			rows[i].message);
		scene_release(&s);
	}
}

/* Counters may wait for the next write, stories may not. */
static void test_only_stories_are_urgent(void **state)
{
	static const struct {
		const char *scene;
		bool urgent;
	} rows[] = {
		{ "job phase=Running min=1 formed=1; task w replicas=2; pod w-0 Running; pod w-1 Succeeded",
			false },
		{ "job phase=Running min=1 formed=1; task w replicas=2; pod w-0 Running; pod w-1 Failed",
			true },
		{ "job phase=Starting; task w; pod w-0 Running", true },
		{ "job phase=Running min=1 formed=1; task w replicas=4 wants=2; group desired=2; pod w-0 Succeeded; pod w-1 Running",
			false }, /* desired moves with what succeeds */
		{ "job phase=Running min=1 formed=1; task w replicas=2; group desired=1; pod w-0 Running; pod w-1 Running",
			true },
		/* what is deleted is recorded before, and another waits for that */
		{ "job min=2 phase=Starting unformed=QuorumRaised; task w replicas=3 min=2; task v replicas=2 priority=1 min=1 wants=0; group desired=3; pod w-0..1 Running; pod w-2 Pending",
			true },
		{ "job; task w replicas=2", false }, /* it may be admitted in a moment */
		{ "job suspend; task w replicas=2", true },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene s;
		struct kar_plan p;

		scene_read(&s, rows[i].scene);
		scene_decide(&s, &p);
		assert_non_null(p.status);
		if (p.urgent != rows[i].urgent)
			fail_msg("%s: urgent=%d", rows[i].scene, p.urgent);
		scene_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_plan_creates_more_than_500_pods),
		cmocka_unit_test(test_no_status_lists_more_than_500_lost_pods),
		cmocka_unit_test(test_what_is_scaled_away_is_recorded_first),
		cmocka_unit_test(test_bound_holds_for_what_is_created),
		cmocka_unit_test(test_plan_tells_that_more_is_wanted),
		cmocka_unit_test(test_what_is_left_over_is_looked_at_at_once),
		cmocka_unit_test(test_creates_carry_their_rank),
		cmocka_unit_test(test_priority_counts_at_most_as_the_maximum_of_the_queue),
		cmocka_unit_test(test_only_stories_are_urgent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
