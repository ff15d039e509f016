/*
 * taskSpecs[].dependsOn: what a job says while a task waits, and whole lives of jobs with an order. The single decisions are
 * scenes: test/scenes/queuejob/order.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "test/fixture/scene.h"

enum { SETTLE_ROUNDS = 50, JOB_TASKS = 64, WALKS = 300, WALK_STEPS = 400 };

/* --- what it says -------------------------------------------------------------------------------- */

static void test_a_waiting_task_is_explained(void **state)
{
	static const struct {
		const char *scene, *reason, *message;
	} rows[] = {
		{ "job phase=Starting; task ps replicas=2; task worker after=ps; pod ps-0 Running; pod ps-1 Pending",
			"TaskWaiting", "task worker waits until task ps runs: 1 of 2" },
		{ "job phase=Running formed=2; task prep replicas=2 done=0; task w after-done=prep; pod prep-1 Running",
			"TaskWaiting", "task w waits until task prep has succeeded: 1 of 2" },
		{ "job phase=Starting; task ps replicas=5 min=3; task w after=ps; pod ps-0 Running",
			"TaskWaiting", "task w waits until task ps runs: 1 of 3" },
		{ "job min=1 phase=Running formed=1; task a replicas=4 done=0 wants=2; task b after=a wants=0; group desired=1; pod a-1 Running",
			"TaskWaiting",
			"task b waits until task a runs: 2 of 4, but queue default allows only 2" },
		{ "job min=1 phase=Running formed=1; task a replicas=2 wants=1; task b after-done=a wants=0; group desired=1; pod a-0 Running",
			"TaskWaiting", "task b waits until task a has succeeded: 0 of 2" },
		{ "job phase=Starting; task c after=b; task b after=a; task a replicas=2", "TaskWaiting",
			"task b waits until task a runs: 0 of 2; 1 more task waits" },
		{ "job phase=Starting; task a; task b; task c after=a,b; task d after=a; task e after=b; pod a-0 Running",
			"TaskWaiting", "task c waits until task b runs: 0 of 1; 1 more task waits" },
		{ "job phase=Starting; task a; task b after=a; task c after=a; task d after=a", "TaskWaiting",
			"task b waits until task a runs: 0 of 1; 2 more tasks wait" },
		{ "job phase=Starting; task a; task b after=a; pod a-0 Pending unschedulable",
			"Unschedulable", "1 of 2 pods has no node" },
		{ "job phase=Running formed=0; task a; task b after=a started; pod a-0 Running; pod b-0 Pending",
			"TaskStarting", "waiting until the quorum of 2 of 2 pods runs" },
		{ "job phase=Running min=1 formed=1; task a; task b after=a started; pod a-0 Running; pod b-0 Pending",
			"", "" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene s;

		scene_read(&s, rows[i].scene);
		assert_true(scene_settle(&s, SETTLE_ROUNDS));
		if (strcmp(s.job.status.reason, rows[i].reason) ||
			strcmp(s.job.status.message, rows[i].message))
			fail_msg("%s\n  want: %s: %s\n  got:  %s: %s", rows[i].scene, rows[i].reason,
				rows[i].message, s.job.status.reason, s.job.status.message);
		scene_release(&s);
	}
}

/* A task of many pods that start one by one must not cost as many status writes at once. */
static void test_the_message_may_wait_and_the_start_of_a_task_may_not(void **state)
{
	struct scene s;
	struct kar_plan p;

	(void)state;
	scene_read(&s,
		"job phase=Starting; task ps replicas=2; task w after=ps; pod ps-0 Pending; pod ps-1 Pending");
	assert_true(scene_settle(&s, SETTLE_ROUNDS));
	s.pods[0]->phase = KAR_POD_RUNNING;
	scene_decide(&s, &p);
	assert_true(p.status && p.counters && !p.urgent);
	s.pods[1]->phase = KAR_POD_RUNNING;
	scene_decide(&s, &p);
	assert_true(p.status && p.urgent);
	scene_release(&s);
}

/* It may wait for the counters, but it is written. */
static void test_the_message_is_compared(void **state)
{
	static const struct kar_queuejob_status one = { .reason = "TaskWaiting", .message = "0 of 2" };
	struct kar_queuejob_status other = one;

	(void)state;
	other.message = "1 of 2";
	assert_true(kar_queuejob_status_same_story(&one, &other));
	assert_false(kar_queuejob_status_equal(&one, &other));
	other.reason = "Starting";
	assert_false(kar_queuejob_status_same_story(&one, &other));
}

/* --- lives --------------------------------------------------------------------------------------- */

static struct kar_pod *find_pod(struct scene *s, const char *name)
{
	size_t i = 0;

	while (i < s->n_pods && strcmp(s->pods[i]->o.name, name) != 0)
		i++;
	if (i == s->n_pods)
		fail_msg("there is no pod %s", name);
	return s->pods[i];
}

static void set_phase(struct scene *s, const char *name, enum kar_pod_phase phase)
{
	find_pod(s, name)->phase = (uint8_t)phase;
	assert_true(scene_settle(s, SETTLE_ROUNDS));
}

static void test_64_tasks_start_one_after_the_other(void **state)
{
	struct kar_buf text = { 0 };
	struct scene s;

	(void)state;
	kar_buf_puts(&text, "job phase=Starting");
	for (int i = JOB_TASKS - 1; i > 0; i--) /* the list may have any order */
		kar_buf_printf(&text, ";task t%d after%s=t%d", i, i % 2 ? "" : "-done", i - 1);
	kar_buf_puts(&text, ";task t0");
	scene_read(&s, kar_buf_cstr(&text));
	assert_true(scene_settle(&s, SETTLE_ROUNDS));
	for (int i = 0; i < JOB_TASKS; i++) {
		char name[32];

		assert_int_equal(s.n_pods, i + 1);
		assert_int_equal(s.group.spec.min_member, i + 1 - s.group.spec.succeeded_members);
		assert_int_equal(s.group.spec.succeeded_members, i - i % 2); /* when it started */
		assert_int_equal(s.job.status.min_available, i + 1);
		snprintf(name, sizeof(name), "j-t%d-0", i);
		set_phase(&s, name, KAR_POD_RUNNING);
		set_phase(&s, name, KAR_POD_SUCCEEDED);
	}
	assert_int_equal(s.job.status.phase, KAR_QJ_PHASE_COMPLETED);
	assert_int_equal(s.job.status.restarts, 0);
	scene_release(&s);
	kar_buf_release(&text);
}

static void test_a_restart_goes_through_the_order_again(void **state)
{
	struct scene s;

	(void)state;
	scene_read(&s, "job phase=Starting min=2; task ps; task w after=ps");
	assert_true(scene_settle(&s, SETTLE_ROUNDS));
	set_phase(&s, "j-ps-0", KAR_POD_RUNNING);
	set_phase(&s, "j-w-0", KAR_POD_RUNNING);
	assert_int_equal(s.job.status.phase, KAR_QJ_PHASE_RUNNING);
	assert_int_equal(s.job.status.record.formed_min_available, 2);
	set_phase(&s, "j-ps-0", KAR_POD_FAILED);
	assert_int_equal(s.job.status.incarnation, 2);
	assert_int_equal(s.n_pods, 1);
	assert_string_equal(s.pods[0]->o.name, "j-ps-0");
	assert_int_equal(s.group.spec.min_member, 1);
	set_phase(&s, "j-ps-0", KAR_POD_RUNNING);
	assert_int_equal(find_pod(&s, "j-w-0")->phase, KAR_POD_PENDING);
	assert_int_equal(s.job.status.phase, KAR_QJ_PHASE_STARTING);
	set_phase(&s, "j-w-0", KAR_POD_RUNNING);
	assert_int_equal(s.job.status.phase, KAR_QJ_PHASE_RUNNING);
	assert_int_equal(s.job.status.restarts, 1);
	scene_release(&s);
}

/* prep has succeeded before the suspension, ps has to run again before the workers go on. */
static void test_resuming_keeps_what_has_succeeded(void **state)
{
	struct scene s;

	(void)state;
	scene_read(&s, "job phase=Starting; task prep; task ps after-done=prep; task w replicas=2 after=ps");
	assert_true(scene_settle(&s, SETTLE_ROUNDS));
	set_phase(&s, "j-prep-0", KAR_POD_SUCCEEDED);
	set_phase(&s, "j-ps-0", KAR_POD_RUNNING);
	set_phase(&s, "j-w-0", KAR_POD_SUCCEEDED);
	assert_int_equal(s.n_pods, 4);
	s.job.spec.suspend = true;
	s.job.generation++;
	assert_true(scene_settle(&s, SETTLE_ROUNDS));
	assert_false(s.job.status.tasks[2].started);
	s.job.spec.suspend = false;
	s.job.generation++;
	assert_true(scene_settle(&s, SETTLE_ROUNDS));
	assert_int_equal(s.job.status.incarnation, 2);
	assert_int_equal(s.n_pods, 3); /* those that succeeded, and ps */
	assert_int_equal(find_pod(&s, "j-ps-0")->phase, KAR_POD_PENDING);
	assert_int_equal(s.job.status.min_available, 2); /* prep and ps */
	set_phase(&s, "j-ps-0", KAR_POD_RUNNING);
	assert_int_equal(find_pod(&s, "j-w-1")->phase, KAR_POD_PENDING);
	scene_release(&s);
}

/* A cycle that an edit makes stops nothing that runs, starts nothing, and is mended by the next edit. */
static void test_an_impossible_order_is_mended_by_an_edit(void **state)
{
	struct scene s;
	struct kar_dependency *d;

	(void)state;
	scene_read(&s,
		"job phase=Running formed=1; task a; task b after-done=a; task c after=b; pod a-0 Running");
	assert_true(scene_settle(&s, SETTLE_ROUNDS));
	d = s.tasks[1].depends_on.items;
	d->task = 2;
	s.job.invalid = "dependsOn: tasks wait for each other: b -> c -> b";
	s.job.generation++;
	set_phase(&s, "j-a-0", KAR_POD_SUCCEEDED);
	assert_true(kar_condition_is_true(&s.job.status.conditions, KAR_QJ_INVALID));
	assert_string_equal(s.job.status.message, s.job.invalid);
	assert_int_equal(s.job.status.phase, KAR_QJ_PHASE_RUNNING);
	assert_int_equal(s.n_pods, 1);
	d->task = 0;
	s.job.invalid = NULL;
	s.job.generation++;
	assert_true(scene_settle(&s, SETTLE_ROUNDS));
	assert_false(kar_condition_is_true(&s.job.status.conditions, KAR_QJ_INVALID));
	assert_int_equal(find_pod(&s, "j-b-0")->phase, KAR_POD_PENDING);
	scene_release(&s);
}

/* --- random orders ------------------------------------------------------------------------------- */

struct walk {
	struct scene s;
	uint64_t random, seed;
	bool reached[2][SCENE_TASKS]; /* in this incarnation: it ran, it had succeeded */
	int32_t incarnation;
};

static uint32_t draw(struct walk *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % n;
}

static void draw_job(struct walk *w, int tasks)
{
	struct kar_buf text = { 0 };

	kar_buf_puts(&text, "job backoff=9999");
	if (draw(w, 2))
		kar_buf_printf(&text, " min=%u", draw(w, 3));
	for (int i = tasks - 1; i >= 0; i--) {
		kar_buf_printf(&text, ";task t%d replicas=%u", i, i ? draw(w, 4) : 3);
		for (int k = 0; k < i; k++) {
			if (draw(w, 3) == 0)
				kar_buf_printf(&text, " after%s=t%d", draw(w, 2) ? "" : "-done", k);
		}
	}
	kar_buf_puts(&text, ";spec;group admitted");
	scene_read(&w->s, kar_buf_cstr(&text));
	kar_buf_release(&text);
}

/* An observer's own account of what has been reached. */
static void note_reached(struct walk *w)
{
	if (w->s.job.status.incarnation != w->incarnation)
		memset(w->reached, 0, sizeof(w->reached));
	w->incarnation = w->s.job.status.incarnation;
	for (size_t t = 0; t < w->s.job.spec.n_tasks; t++) {
		int32_t up = 0, done = 0;

		for (size_t i = 0; i < w->s.n_pods; i++) {
			const struct kar_pod *pod = w->s.pods[i];
			bool counts = kar_streq(scene_pod_job(w->s.pods[i])->task, w->s.tasks[t].name) &&
				(!pod->deletion || pod->phase == KAR_POD_SUCCEEDED);

			up += counts && (pod->phase == KAR_POD_RUNNING || pod->phase == KAR_POD_SUCCEEDED);
			done += counts && pod->phase == KAR_POD_SUCCEEDED;
		}
		w->reached[0][t] |= up >= w->s.tasks[t].replicas;
		w->reached[1][t] |= done >= w->s.tasks[t].replicas;
	}
}

static void check_creates(struct walk *w, const struct kar_plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		const struct queuejob_new_pod *pod = p->actions[i].payload;
		const struct kar_array *list;
		const struct kar_dependency *d;

		if (p->actions[i].what != QUEUEJOB_CREATE_POD)
			continue;
		list = &w->s.tasks[pod->task].depends_on;
		d = list->items;
		for (size_t k = 0; k < list->n; k++) {
			if (!w->reached[d[k].succeeded][d[k].task])
				fail_msg("seed %llu: %s is created before task %s is there",
					(unsigned long long)w->seed, p->actions[i].name, d[k].name);
		}
	}
}

/* What a gang scheduler would wait for exists, or will as soon as a back-off is over: else it would wait for ever. */
static void check_no_deadlock(struct walk *w)
{
	int32_t members = (int32_t)w->s.n_pods;

	if (w->s.job.status.phase == KAR_QJ_PHASE_STARTING || w->s.job.status.phase == KAR_QJ_PHASE_RUNNING) {
		if (w->s.group.spec.min_member > (members > 1 ? members : 1))
			fail_msg("seed %llu: minMember is %d, but there are %d pods",
				(unsigned long long)w->seed, w->s.group.spec.min_member, members);
	}
}

static bool settle(struct walk *w)
{
	struct kar_plan p;

	for (int i = 0; i < SETTLE_ROUNDS; i++) {
		note_reached(w);
		scene_decide(&w->s, &p);
		if (!p.status && !p.n_actions)
			return true;
		check_creates(w, &p);
		scene_apply(&w->s, &p, true, p.n_actions);
	}
	return false;
}

static void happen(struct walk *w)
{
	struct kar_pod *pod;

	w->s.now += KAR_MINUTE * 20;
	if (!w->s.n_pods)
		return;
	pod = w->s.pods[draw(w, (uint32_t)w->s.n_pods)];
	if (pod->phase == KAR_POD_PENDING)
		pod->phase = KAR_POD_RUNNING;
	else if (pod->phase == KAR_POD_RUNNING)
		pod->phase = draw(w, 12) ? KAR_POD_SUCCEEDED : KAR_POD_FAILED;
}

static int32_t walk(uint64_t seed)
{
	struct walk w = { .seed = seed, .random = seed * 2654435761u + 1 };
	int32_t restarts;

	draw_job(&w, 2 + (int)draw(&w, 6));
	for (int i = 0; i < WALK_STEPS && !kar_qj_phase_terminal(w.s.job.status.phase); i++) {
		happen(&w);
		if (!settle(&w))
			fail_msg("seed %llu: does not come to rest", (unsigned long long)seed);
		check_no_deadlock(&w);
	}
	if (w.s.job.status.phase != KAR_QJ_PHASE_COMPLETED)
		fail_msg("seed %llu: is %s after all this time: %s", (unsigned long long)seed,
			kar_qj_phase_name(w.s.job.status.phase), w.s.job.status.message);
	restarts = w.s.job.status.restarts;
	scene_release(&w.s);
	return restarts;
}

/* Pods run, succeed and sometimes fail: every job completes, whatever its order. */
static void test_jobs_of_any_order_complete(void **state)
{
	int32_t restarts = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= WALKS; seed++)
		restarts += walk(seed);
	print_message("%d restarts\n", (int)restarts);
	assert_true(restarts > WALKS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_waiting_task_is_explained),
		cmocka_unit_test(test_the_message_may_wait_and_the_start_of_a_task_may_not),
		cmocka_unit_test(test_the_message_is_compared),
		cmocka_unit_test(test_64_tasks_start_one_after_the_other),
		cmocka_unit_test(test_a_restart_goes_through_the_order_again),
		cmocka_unit_test(test_resuming_keeps_what_has_succeeded),
		cmocka_unit_test(test_an_impossible_order_is_mended_by_an_edit),
		cmocka_unit_test(test_jobs_of_any_order_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
