/*
 * What becomes of a status that somebody edits: whichever field it is, and whatever is written there, the job ends up where it would
 * have been without the edit, and no pod is lost. Single decisions: test/scenes/queuejob/edited.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queuejob/round.h"
#include "test/fixture/scene.h"

enum { ROUNDS = 50 };

/* A stage of life: the words of the job, and the rest of the scene. */
static const struct {
	const char *job, *rest;
} stages[] = {
	{ "phase=Pending", "task w replicas=2; group waiting=QueueClosed; spec" },
	{ "phase=Starting", "task w replicas=2; pod w-0 Running hash=h1; pod w-1 Pending hash=h1" },
	{ "phase=Starting incarnation=3 restarts=2 restarted-at=9 restart=PodFailed",
		"task w replicas=2; pod w-0 Running hash=h1; pod w-1 Pending hash=h1" },
	{ "phase=Starting min=2 was-min=2 unformed=QuorumRaised",
		"task w replicas=3; quota for=70; pod w-0 Running hash=h1; "
		"refused Denied exceeded quota: q, requested: pods=1, used: pods=4" },
	{ "phase=Starting min=2 was-min=2 unformed=QuorumRaised",
		"task w replicas=2; pod w-0 Running hash=h1; pod w-1 Pending hash=h1" },
	{ "phase=Starting",
		"task w replicas=3; quota; pod w-0 Pending hash=h1; pod w-1 Pending hash=h1; "
		"refused Denied exceeded quota: q, requested: pods=1, used: pods=4" },
	{ "phase=Running formed=2 deadline=900 ttl=0 latest",
		"task w replicas=2; pod w-0 Running hash=h1; pod w-1 Running hash=h1" },
	{ "phase=Running formed=2 latest",
		"task w replicas=2; pod w-0 Running hash=h1; pod w-1 Failed hash=h1" },
	{ "phase=Running min=2 formed=2 podFailures=1",
		"task w replicas=4 done=0-1; pod w-2 Running hash=h1; pod w-3 Running hash=h1" },
	{ "phase=Running min=0", "task w; pod w-0 Running hash=h1" },
	{ "phase=Restarting incarnation=2 restarts=1 restarted-at=9 latest",
		"task w replicas=2; pod w-0 Running deleting hash=h1" },
	{ "phase=Suspended incarnation=2 suspend latest",
		"task w replicas=3 done=0-1; group waiting=QueueClosed; spec; pod w-0 Succeeded untracked hash=h1; pod w-1 Succeeded untracked hash=h1" },
	{ "phase=Completed incarnation=1 finished-at=5 ttl=60",
		"task w replicas=2 done=0-1; pod w-0 Succeeded untracked hash=h1" },
	{ "phase=Failed incarnation=1 finished-at=5 ttl=60",
		"task w replicas=2; pod w-0 Failed untracked hash=h1" },
};

static const char *const edits[] = {
	"phase:-",
	"phase:Pending",
	"phase:Starting",
	"phase:Running",
	"phase:Restarting",
	"phase:Suspended",
	"phase:Completed",
	"phase:Failed",
	"Formed:-",
	"Formed:True",
	"Formed:False",
	"Formed:- wrote=Formed:True", /* replaced as a whole */
	"Formed:- wrote=Formed:False",
	"Complete:-",
	"Complete:True",
	"Complete:False",
	"Failed:-",
	"Failed:True",
	"Failed:False",
	"Suspended:-",
	"Suspended:True",
	"Suspended:False",
	"startTime:-",
	"startTime:99999",
	"startTime:-99999",
	"completionTime:-",
	"completionTime:99999",
	"completionTime:-99999",
	"templateHash:-",
	"templateHash:zz",
	"incarnation:0",
	"formedMinAvailable:0",
	"formedMinAvailable:1",
	"formedMinAvailable:9",
	"formedMinAvailable:0 wrote=minAvailable:1",
	"minAvailable:0",
	"minAvailable:9",
	"succeeded:0",
	"succeeded:9",
	"tasks.succeeded:0",
	"tasks.succeeded:9",
	"done:-",
	"done:0-1",
	"reason:x",
	"message:x",
	"position:9",
};

static void settle(struct scene *s, const char *text)
{
	scene_read(s, text);
	if (!scene_settle(s, ROUNDS))
		fail_msg("%s: does not come to rest", text);
}

static void compare_pods(const char *text, const struct scene *edited, const struct scene *plain)
{
	if (edited->n_pods != plain->n_pods || edited->uids != plain->uids)
		fail_msg("%s: %zu pods of %u, without the edit %zu of %u", text, edited->n_pods, edited->uids,
			plain->n_pods, plain->uids);
	for (size_t i = 0; i < plain->n_pods; i++) {
		assert_string_equal(edited->pods[i]->o.uid, plain->pods[i]->o.uid);
		assert_int_equal(edited->pods[i]->deletion, plain->pods[i]->deletion);
		assert_int_equal(edited->pods[i]->job->incarnation, plain->pods[i]->job->incarnation);
	}
}

/* How it ended. What else was written into the status is of no consequence any more. */
static void compare_end(const char *text, const struct kar_queuejob_status *a,
	const struct kar_queuejob_status *b)
{
	if (a->phase != b->phase || strcmp(a->reason, b->reason) != 0 ||
		strcmp(a->message, b->message) != 0 || a->succeeded != b->succeeded || !a->completion_time)
		fail_msg("%s: in the end it is %s: %s, %d succeeded", text, kar_qj_phase_name(a->phase),
			a->reason, (int)a->succeeded);
	for (size_t i = 0; i < 2; i++) {
		const char *type = i ? KAR_QJ_FAILED : KAR_QJ_COMPLETE;

		assert_int_equal(kar_condition_is_true(&a->conditions, type),
			kar_condition_is_true(&b->conditions, type));
	}
}

/* Of a gang that starts nobody knows any more whether it has formed before, if a pod of it runs. */
static void compare_formed(const char *text, const struct kar_queuejob_status *a,
	const struct kar_queuejob_status *b)
{
	const struct kar_condition *x = kar_condition_find(&a->conditions, KAR_QJ_FORMED);
	const struct kar_condition *y = kar_condition_find(&b->conditions, KAR_QJ_FORMED);

	if (a->running > 0 && y && strcmp(y->reason, kar_reason_Starting) == 0)
		return;
	if (x && y && strcmp(x->reason, y->reason) != 0)
		fail_msg("%s: Formed because of %s, without the edit %s", text, x->reason, y->reason);
}

/* What is told of it in words: phase, reason, conditions, counts. Of a time that was lost there is another. */
static void compare_status(const char *text, const struct scene *edited, const struct scene *plain)
{
	const struct kar_queuejob_status *a = &edited->job.status, *b = &plain->job.status;
	struct kar_queuejob_status same = *a;
	struct kar_arena arena = { 0 };
	const char *differs;
	char want[64], or_want[96];

	if (kar_qj_phase_terminal(b->phase)) {
		compare_end(text, a, b);
		return;
	}
	if ((a->start_time != 0) == (b->start_time != 0))
		same.start_time = b->start_time;
	snprintf(want, sizeof(want), "phase=%s", kar_qj_phase_name(b->phase));
	snprintf(or_want, sizeof(or_want), "%s Suspended=False", want); /* which is as good as none */
	differs = queuejob_status_text(b, &same, &arena);
	if (strcmp(differs, want) != 0 && strcmp(differs, or_want) != 0)
		fail_msg("%s: in the end it differs: %s", text, differs);
	compare_formed(text, a, b);
	assert_string_equal(a->message, b->message);
	assert_string_equal(a->template_hash, b->template_hash);
	kar_arena_release(&arena);
}

static void compare(size_t stage, const char *edit)
{
	char plain_text[512], text[512];
	struct scene edited, plain;

	snprintf(plain_text, sizeof(plain_text), "job %s; %s", stages[stage].job, stages[stage].rest);
	snprintf(text, sizeof(text), "job %s wrote=%s; %s", stages[stage].job, edit, stages[stage].rest);
	settle(&plain, plain_text);
	settle(&edited, text);
	if (edited.gone != plain.gone)
		fail_msg("%s: the job is deleted", text);
	compare_pods(text, &edited, &plain);
	compare_status(text, &edited, &plain);
	scene_release(&plain);
	scene_release(&edited);
}

static void an_edited_field_changes_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(stages); i++) {
		for (size_t k = 0; k < KAR_LEN(edits); k++)
			compare(i, edits[k]);
	}
}

/* The failure is still of the incarnation that runs: the pods tell which that is. */
static void an_impossible_incarnation_loses_no_failure(void **state)
{
	struct scene s;

	(void)state;
	settle(&s,
		"job phase=Running formed=2 latest wrote=incarnation:2147483647; task w replicas=2; "
		"pod w-0 Running hash=h1; pod w-1 Failed hash=h1");
	assert_int_equal(s.job.status.pod_failures, 1);
	assert_string_equal(s.job.status.last_restart.reason, kar_reason_PodFailed);
	assert_int_equal(s.job.status.incarnation, 2);
	scene_release(&s);
}

/* An annotation, and the record of what it should be: one of them may be lost without anything being stopped. */
static void a_removed_hash_is_that_of_any_pod_as_specified(void **state)
{
	struct scene s;

	(void)state;
	settle(&s,
		"job phase=Running formed=2 latest wrote=templateHash:-; task w replicas=2; "
		"pod w-0 Running hash=zz; pod w-1 Running hash=h1");
	assert_string_equal(s.job.status.template_hash, "h1");
	assert_int_equal(s.job.status.incarnation, 1);
	scene_release(&s);
}

/* --- clocks -------------------------------------------------------------------------------------- */

/* Lives for ROUNDS seconds; returns how often the status is put right. */
static int live(struct scene *s)
{
	int n = 0;

	for (int i = 0; i < ROUNDS && !s->gone; i++, s->now += KAR_SECOND) {
		struct kar_plan p;

		scene_decide(s, &p);
		n += scene_repair(&p) != NULL;
		scene_apply(s, &p, true, p.n_actions);
	}
	return n;
}

/* By a clock that is wrong by days, and when it is right again. Only a start that was before the job is not believed then. */
static void a_wrong_clock_is_no_edit(void **state)
{
	static const int hours[] = { -240, -5, 5, 240 };
	struct scene s;
	char text[512];

	(void)state;
	for (size_t i = 0; i < KAR_LEN(stages) * KAR_LEN(hours); i++) {
		kar_time wrong = hours[i % KAR_LEN(hours)] * 60 * KAR_MINUTE;
		size_t stage = i / KAR_LEN(hours);

		snprintf(text, sizeof(text), "job %s; %s", stages[stage].job, stages[stage].rest);
		scene_read(&s, text);
		s.now += wrong;
		if (live(&s) > 0)
			fail_msg("%s: put right by a clock that is off by %d h", text,
				hours[i % KAR_LEN(hours)]);
		s.now -= wrong;
		if (live(&s) > 0)
			fail_msg("%s: put right after one that was off by %d h", text,
				hours[i % KAR_LEN(hours)]);
		scene_release(&s);
	}
}

static void a_start_by_a_clock_that_is_behind_is_put_right_once(void **state)
{
	struct scene s;

	(void)state;
	scene_read(&s, "job phase=Suspended incarnation=1; task w replicas=2; group admitted; spec");
	s.now -= 240 * 60 * KAR_MINUTE;
	assert_int_equal(live(&s), 0);
	assert_int_equal(s.job.status.phase, KAR_QJ_PHASE_STARTING);
	s.now += 240 * 60 * KAR_MINUTE;
	assert_int_equal(live(&s), 1);
	assert_true(s.job.status.start_time >= s.job.creation);
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edited_field_changes_nothing),
		cmocka_unit_test(an_impossible_incarnation_loses_no_failure),
		cmocka_unit_test(a_removed_hash_is_that_of_any_pod_as_specified),
		cmocka_unit_test(a_wrong_clock_is_no_edit),
		cmocka_unit_test(a_start_by_a_clock_that_is_behind_is_put_right_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
