/* Why a QueueJob waits, in its condition Admitted, its status, its position and its events: a scene in (test/fixture/scene.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/scene.h"

#define INVALID_SPEC "the job is invalid: see its condition Invalid"

static const struct {
	const char *name, *scene;
	const char *admitted; /* status, reason and message of the condition */
	const char *reason;   /* of the status */
	int32_t position;
} rows[] = {
	{ "full_queue",
		"job phase=Pending; task w; group waiting=MaxJobsReached message=why position=2; spec",
		"False MaxJobsReached: why", "MaxJobsReached", 2 },
	{ "edited_since_it_was_admitted",
		"job phase=Pending edited; task w; group admitted admitted-before-the-edit; spec",
		"False WaitingForAdmission: waiting for queue default to admit the job",
		"WaitingForAdmission", 0 },
	{ "edited_when_its_pods_were_there_already",
		"job phase=Pending edited; task w; pod w-0 Running; group admitted admitted-before-the-edit; spec",
		"True Admitted: admitted by queue default", "", 0 },
	{ "edited_while_it_restarts",
		"job phase=Restarting incarnation=1 edited; task w; group admitted admitted-before-the-edit; spec",
		"True Admitted: admitted by queue default", "Starting", 0 },
	{ "invalid_job_is_not_queued", "job invalid; task w", "False JobInvalid: " INVALID_SPEC, "Invalid",
		0 },
	{ "invalid_job_has_no_position_before_its_queue_knows",
		"job phase=Pending invalid; task w; group waiting=MaxJobsReached message=why position=2; spec",
		"False JobInvalid: " INVALID_SPEC, "Invalid", 0 },
	{ "refused_template_is_not_queued",
		"job phase=Pending; task w; group waiting=MaxJobsReached message=why position=2; spec; check waits; "
		"impossible w no such volume",
		"False JobInvalid: " INVALID_SPEC, "InvalidTemplate", 0 },
	{ "invalid_job_with_pods_stays_admitted",
		"job phase=Running formed=1 invalid; task w; pod w-0 Running; group admitted; spec",
		"True Admitted: admitted by queue default", "Invalid", 0 },
	{ "missing_priority_class", "job phase=Pending no-class; task w",
		"False PriorityClassNotFound: not in the queue until PriorityClass high exists",
		"PriorityClassNotFound", 0 },
	{ "class_that_is_deleted_while_the_job_waits",
		"job phase=Pending no-class; task w; group waiting=MaxJobsReached message=why position=2; spec",
		"False PriorityClassNotFound: not in the queue until PriorityClass high exists",
		"PriorityClassNotFound", 0 },
};

static const char *condition_text(struct scene *s, const struct kar_queuejob_status *st)
{
	const struct kar_condition *c = kar_condition_find(&st->conditions, KAR_QJ_ADMITTED);

	if (!c)
		return "none";
	return kar_arena_printf(&s->arena, "%s %s: %s", c->status == KAR_COND_TRUE ? "True" : "False",
		c->reason, c->message);
}

static void waits_as_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob_status *st;
		const char *admitted;
		struct kar_plan p;
		struct scene s;

		scene_read(&s, rows[i].scene);
		scene_decide(&s, &p);
		st = p.status;
		assert_non_null(st);
		admitted = condition_text(&s, st);
		if (strcmp(admitted, rows[i].admitted) || strcmp(st->reason, rows[i].reason) ||
			st->position != rows[i].position)
			fail_msg(
				"%s\n  want: Admitted %s, reason %s, position %d\n  got:  Admitted %s, reason %s, position %d",
				rows[i].name, rows[i].admitted, rows[i].reason, (int)rows[i].position,
				admitted, st->reason, (int)st->position);
		scene_release(&s);
	}
}

/* @urgent: the status, and with it the event, is sent at once. */
static const struct {
	const char *name, *scene, *events;
	bool urgent;
} announced[] = {
	{ "first_status_waits_for_an_admission_that_may_come",
		"job; task w; group waiting=MaxJobsReached message=why; spec", "Normal Waiting: why", false },
	{ "nothing_is_known_yet", "job; task w; group; spec", "", false },
	{ "another_reason",
		"job phase=Pending reason=BehindHead; task w; group waiting=MaxJobsReached message=why; spec",
		"Normal Waiting: why", true },
	{ "another_position",
		"job phase=Pending reason=MaxJobsReached message=old; task w; group waiting=MaxJobsReached message=why position=7; spec",
		"", true },
	{ "closed_queue", "job phase=Pending; task w; group waiting=QueueClosed message=why; spec",
		"Normal Waiting: why", true },
	{ "missing_queue", "job phase=Pending; task w; group waiting=QueueNotFound message=why; spec",
		"Warning QueueNotFound: why", true },
	{ "missing_class", "job no-class; task w",
		"Warning PriorityClassNotFound: not in the queue until PriorityClass high exists", false },
	{ "other_events_are_not_held_back", "job invalid; task w",
		"Warning Invalid: task w: template: spec.containers is empty", true },
};

static const char *events_text(struct scene *s, const struct kar_plan *p)
{
	const char *text = "";

	for (size_t i = 0; i < p->n_events; i++)
		text = kar_arena_printf(&s->arena, "%s%s%s %s: %s", text, i ? "; " : "",
			p->events[i].warning ? "Warning" : "Normal", p->events[i].reason, p->events[i].note);
	return text;
}

static void each_kind_of_wait_is_announced_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(announced); i++) {
		const char *events;
		struct kar_plan p;
		struct scene s;

		scene_read(&s, announced[i].scene);
		scene_decide(&s, &p);
		assert_non_null(p.status);
		events = events_text(&s, &p);
		if (strcmp(events, announced[i].events) || p.urgent != announced[i].urgent)
			fail_msg("%s\n  want: %s (urgent %d)\n  got:  %s (urgent %d)", announced[i].name,
				announced[i].events, announced[i].urgent, events, p.urgent);
		scene_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_as_the_table_says),
		cmocka_unit_test(each_kind_of_wait_is_announced_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
