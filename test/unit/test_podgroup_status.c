/* The PodGroup reconciler: what the status says in detail, and when it looks again. */
#include "podgroup_scene.h"

#include "common/base/str.h"

static const struct kar_podgroup_status *decide_status(struct scene *s)
{
	decide_at(s, now);
	assert_non_null(s->plan.status);
	return s->plan.status;
}

static const struct {
	const char *name, *scene, *type, *message;
} messages[] = {
	{ "nothing_exists", "min=3", KAR_PG_SCHEDULED, "0/3 members bound; 0/3 created" },
	{ "label_of_a_job_is_not_on_its_template", "others min=3", KAR_PG_SCHEDULED,
		"0/3 members bound; 0/3 created; no pod names this group: its label belongs on the pod template (spec.template.metadata.labels)" },
	{ "its_pods_have_gone", "others min=3 had-members", KAR_PG_SCHEDULED,
		"0/3 members bound; 0/3 created" },
	{ "some_exist", "min=3; j-0 Pending bound", KAR_PG_SCHEDULED, "1/3 members bound; 1/3 created" },
	{ "one_is_unschedulable", "min=3; j-0 Running; j-1 Pending; j-2 Pending unschedulable",
		KAR_PG_SCHEDULED, "1/3 members bound; j-2: Unschedulable" },
	{ "same_words_in_both_conditions", "min=3; j-0 Running; j-1 Pending; j-2 Pending unschedulable",
		KAR_PG_UNSCHEDULABLE, "1/3 members bound; j-2: Unschedulable" },
	{ "one_failed", "min=2; j-0 Running; j-1 Failed reason=OOMKilled exit=137", KAR_PG_SCHEDULED,
		"1/2 members bound; failed: j-1 (OOMKilled, exit code 137)" },
	{ "failed_without_reason", "min=1; j-0 Running; j-1 Failed exit=3", KAR_PG_MEMBER_FAILED,
		"1 of 2 members failed: j-1 (Error, exit code 3)" },
	{ "failed_without_exit_code", "min=1; j-0 Running; j-1 Failed reason=Evicted", KAR_PG_MEMBER_FAILED,
		"1 of 2 members failed: j-1 (Evicted)" },
	{ "foreign_pod_failed", "min=1; j-0 Running; j-1 Failed", KAR_PG_MEMBER_FAILED,
		"1 of 2 members failed: j-1" },
	{ "scheduled", "min=2; j-0 Running; j-1 Running; j-2 Running", KAR_PG_SCHEDULED,
		"minMember 2 reached" },
};

static void messages_say_what_a_person_needs(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(messages); i++) {
		struct scene *s = new_scene(messages[i].scene);
		const struct kar_condition *c =
			kar_condition_find(&decide_status(s)->conditions, messages[i].type);

		if (!c || strcmp(c->message, messages[i].message) != 0)
			fail_msg("%s: want '%s', got '%s'", messages[i].name, messages[i].message,
				c ? c->message : "none");
		assert_int_equal(c->observed_generation, 1);
		free_scene(s);
	}
}

/* @told: what the status says already; NULL: nothing; "": that no annotation is ignored any more. */
static const struct {
	const char *name, *scene, *told, *says;
	bool event;
} options[] = {
	{ "none_was_ever_ignored", "min=1 phase=Pending; j-0 Running", NULL, NULL, false },
	{ "one_is_ignored_at_first", "min=1 invalid=mode", NULL, "mode", true },
	{ "one_is_ignored_after_the_start", "min=1 phase=Running invalid=mode; j-0 Running; j-1 Running",
		NULL, "mode", true },
	{ "another_one_is_ignored", "min=1 phase=Running invalid=mode; j-0 Running; j-1 Running", "groups",
		"mode", true },
	{ "the_same_is_told_once", "min=1 phase=Running invalid=mode; j-0 Running; j-1 Running", "mode",
		"mode", false },
	{ "none_is_ignored_any_more", "min=1 phase=Running; j-0 Running; j-1 Running", "mode", "", false },
	{ "of_members", "min=1 phase=Running ignored=racks; j-0 Running; j-1 Running", NULL, "racks", true },
	{ "of_the_group_and_of_members", "min=1 invalid=mode ignored=racks", "mode", "mode; racks", true },
	{ "again_after_that", "min=1 phase=Running invalid=mode; j-0 Running; j-1 Running", "", "mode",
		true },
};

static void tell_of_options(struct scene *s, const char *told)
{
	const struct kar_condition c = { .type = KAR_PG_INVALID_OPTIONS,
		.status = told[0] ? KAR_COND_TRUE : KAR_COND_FALSE,
		.reason = told[0] ? "Ignored" : "Valid",
		.message = told };

	kar_condition_set(&s->group.status.conditions, &c, now - now % 1000, &s->arena);
}

static void ignored_annotations_are_told_at_any_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(options); i++) {
		struct scene *s = new_scene(options[i].scene);
		const struct kar_condition *c;
		const char *says;
		bool event;

		if (options[i].told)
			tell_of_options(s, options[i].told);
		c = kar_condition_find(&decide_status(s)->conditions, KAR_PG_INVALID_OPTIONS);
		says = !c ? NULL : c->status == KAR_COND_TRUE ? c->message : "";
		event = s->plan.n_events && strcmp(s->plan.events[0].reason, "InvalidOptions") == 0;
		if (!kar_streq(says, options[i].says) || event != options[i].event)
			fail_msg("%s: says %s%s", options[i].name, says ? says : "nothing",
				event ? ", and an event" : "");
		free_scene(s);
	}
}

static const struct {
	const char *name, *scene;
	bool set;
} starts[] = {
	{ "entry_sets_it", "min=1 phase=Pending; j-0 Pending", true },
	{ "entry_from_running_sets_it", "min=2 phase=Running; j-0 Running; j-1 Pending", true },
	{ "passing_by_sets_it", "min=1 phase=Pending; j-0 Running", true },
	{ "staying_does_not", "min=1 phase=Scheduling; j-0 Pending unschedulable", false },
	{ "leaving_does_not", "min=1 phase=Scheduling; j-0 Running", false },
	{ "pending_does_not", "min=2; j-0 Pending", false },
};

static void schedule_start_time_is_set_on_entry(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(starts); i++) {
		struct scene *s = new_scene(starts[i].scene);
		kar_time want = starts[i].set ? now - now % 1000 : 0,
			 got = decide_status(s)->schedule_start_time;

		if (want != got)
			fail_msg("%s: want %lld, got %lld", starts[i].name, (long long)want, (long long)got);
		free_scene(s);
	}
}

static void occupied_by_names_each_owner_once_and_sorted(void **state)
{
	struct scene *s =
		new_scene("min=1; a Running owner=z; b Running owner=x; c Running owner=z; d Running");

	(void)state;
	assert_string_equal(decide_status(s)->occupied_by, "ns/x,ns/z");
	free_scene(s);
}

static void admitted_and_position_are_not_touched(void **state)
{
	struct scene *s = new_scene("min=1 Admitted=True/Admitted since=1; j-0 Running");
	const struct kar_podgroup_status *st;
	const struct kar_condition *c;

	(void)state;
	s->group.status.position = 4;
	st = decide_status(s);
	c = kar_condition_find(&st->conditions, KAR_PG_ADMITTED);
	assert_non_null(c);
	assert_int_equal(c->status, KAR_COND_TRUE);
	assert_int_equal(c->last_transition, now - now % 1000 - 60 * KAR_MINUTE);
	assert_int_equal(st->position, 4);
	free_scene(s);
}

static void looks_again_when_two_days_are_over(void **state)
{
	struct scene *s = new_scene("min=1 phase=Pending Scheduled=False/NotEnoughMembers since=47");

	(void)state;
	decide_at(s, now);
	assert_int_equal(s->plan.requeue_after, 60 * KAR_MINUTE);
	free_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_say_what_a_person_needs),
		cmocka_unit_test(ignored_annotations_are_told_at_any_time),
		cmocka_unit_test(schedule_start_time_is_set_on_entry),
		cmocka_unit_test(occupied_by_names_each_owner_once_and_sorted),
		cmocka_unit_test(admitted_and_position_are_not_touched),
		cmocka_unit_test(looks_again_when_two_days_are_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
