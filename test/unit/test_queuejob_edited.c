/*
 * A status that another client edits: whichever field it is, and whatever is written there, no live pod is stopped for it, nothing is
 * created beside pods that terminate, and the job settles. Single decisions: test/scenes/queuejob/edited.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queuejob/reconcile.h"
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
		"task w replicas=3; quota; pod w-0 Running hash=h1; "
		"refused Denied exceeded quota: q, requested: pods=1, used: pods=4" },
	{ "phase=Running formed=2 deadline=900 ttl=0 latest",
		"task w replicas=2; pod w-0 Running hash=h1; pod w-1 Running hash=h1" },
	{ "phase=Running min=2 formed=2 podFailures=1",
		"task w replicas=4 done=0-1; pod w-2 Running hash=h1; pod w-3 Running hash=h1" },
	{ "phase=Running min=0", "task w; pod w-0 Running hash=h1" },
	{ "phase=Restarting incarnation=2 restarts=1 restarted-at=9 latest",
		"task w replicas=2; pod w-0 Running deleting hash=h1" },
	{ "phase=Suspended incarnation=2 suspend latest",
		"task w replicas=3 done=0-1; group waiting=QueueClosed; spec; pod w-0 Succeeded untracked hash=h1; pod w-1 Succeeded untracked hash=h1" },
	{ "phase=Completed incarnation=1 finished-at=5 ttl=60",
		"task w replicas=2 done=0-1; pod w-0 Succeeded untracked hash=h1" },
};

static const char *const edits[] = { "phase:-", "phase:Pending", "phase:Starting", "phase:Running",
	"phase:Restarting", "phase:Suspended", "phase:Completed", "phase:Failed", "Formed:-", "Formed:True",
	"Formed:False", "Complete:-", "Complete:True", "Complete:False", "Failed:True", "Failed:False",
	"Suspended:-", "Suspended:True", "Suspended:False", "startTime:-", "startTime:99999",
	"startTime:-99999", "completionTime:-", "completionTime:99999", "completionTime:-99999",
	"templateHash:-", "templateHash:zz", "incarnation:0", "formedMinAvailable:0", "formedMinAvailable:1",
	"formedMinAvailable:9", "formedMinAvailable:0 wrote=minAvailable:1", "minAvailable:0",
	"minAvailable:9", "succeeded:0", "succeeded:9", "tasks.succeeded:0", "tasks.succeeded:9", "done:-",
	"done:0-1", "reason:x", "message:x", "position:9", "conditions:-", "tasks:-" };

static int count_edits(const struct kar_plan *p)
{
	int n = 0;

	for (size_t i = 0; i < p->n_events; i++)
		n += strcmp(p->events[i].reason, kar_reason_StatusEdited) == 0;
	return n;
}

static size_t count_live(const struct scene *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_pods; i++)
		n += kar_pod_alive(s->pods[i]);
	return n;
}

static size_t count_terminating(const struct scene *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_pods; i++)
		n += s->pods[i]->deletion != 0;
	return n;
}

/* The first decision; returns how often it reports the edit. */
static int check_first(const char *text, struct scene *s)
{
	size_t live = count_live(s), terminating = count_terminating(s);
	struct kar_plan p;

	scene_decide(s, &p);
	if (count_edits(&p) > 1)
		fail_msg("%s: reported %d times", text, count_edits(&p));
	for (size_t i = 0; i < p.n_actions && count_edits(&p); i++) {
		const struct kar_action *a = &p.actions[i];

		if (a->what == QUEUEJOB_DELETE_JOB)
			fail_msg("%s: deletes the job", text);
		if (a->what == QUEUEJOB_CREATE_POD && !a->dry_run && terminating)
			fail_msg("%s: creates %s beside pods that terminate", text, a->name);
	}
	scene_apply(s, &p, true, p.n_actions);
	if (count_live(s) < live)
		fail_msg("%s: stops a pod", text);
	return count_edits(&p);
}

static void check(size_t stage, const char *edit)
{
	char text[512];
	struct scene s;
	struct kar_plan p;
	int reported;

	snprintf(text, sizeof(text), "job %s wrote=%s; %s", stages[stage].job, edit, stages[stage].rest);
	scene_read(&s, text);
	reported = check_first(text, &s);
	if (!s.gone) {
		scene_decide(&s, &p);
		if (reported + count_edits(&p) > 1)
			fail_msg("%s: reported again", text);
	}
	if (!scene_settle(&s, ROUNDS))
		fail_msg("%s: does not settle", text);
	scene_release(&s);
}

static void an_edited_field_stops_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(stages); i++) {
		for (size_t k = 0; k < KAR_LEN(edits); k++)
			check(i, edits[k]);
	}
}

/* A job that ends as it would have ended. */
static void a_job_that_runs_runs_on_after_an_edit(void **state)
{
	(void)state;
	for (size_t k = 0; k < KAR_LEN(edits); k++) {
		char text[256];
		struct scene s;

		snprintf(text, sizeof(text),
			"job phase=Running formed=2 latest wrote=%s; task w replicas=2; pod w-0 Running; pod w-1 Running",
			edits[k]);
		scene_read(&s, text);
		assert_true(scene_settle(&s, ROUNDS));
		if (s.job.status.phase != KAR_QJ_PHASE_RUNNING ||
			s.job.status.record.formed_min_available != 2 || s.job.status.incarnation != 1 ||
			count_live(&s) != 2)
			fail_msg("%s: in the end it is %s", text, kar_qj_phase_name(s.job.status.phase));
		scene_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edited_field_stops_nothing),
		cmocka_unit_test(a_job_that_runs_runs_on_after_an_edit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
