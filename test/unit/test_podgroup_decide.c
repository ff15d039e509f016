/*
 * The PodGroup reconciler's decisions: a scene in, a plan out.
 *
 * A scene is a list of parts separated by ';'. The first describes the group (min=3 phase=Running
 * Scheduled=False/QuorumLost since=49h owner-terminal deleting), each other one a member (name, phase, and of: bound
 * unschedulable terminating gated reason=R exit=N owner=O). Running and finished pods are bound without saying so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/podgroup/podgroup.h"

enum { MAX_PODS = 32 };

static const kar_time now = 1795268787123;

struct scene {
	struct kar_arena arena;
	struct kar_podgroup group;
	struct kar_pod pods[MAX_PODS];
	struct kar_pod_job jobs[MAX_PODS];
	const struct kar_pod *members[MAX_PODS];
	struct podgroup_view view;
	struct kar_plan plan;
};

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* Does @word start with @prefix? Then *@value is the rest. */
static bool takes(const char *word, const char *prefix, const char **value)
{
	size_t n = strlen(prefix);

	*value = word + n;
	return strncmp(word, prefix, n) == 0;
}

static void read_group_word(struct scene *s, char *word)
{
	struct kar_condition c = { .last_transition = now - now % 1000,
		.message = "",
		.status = KAR_COND_FALSE };
	const char *value;

	if (takes(word, "min=", &value)) {
		s->group.spec.min_member = atoi(value);
	} else if (takes(word, "phase=", &value)) {
		s->group.status.phase = value;
	} else if (takes(word, "since=", &value)) {
		for (size_t i = 0; i < s->group.status.conditions.n; i++)
			s->group.status.conditions.items[i].last_transition =
				now - now % 1000 - atoi(value) * 60 * KAR_MINUTE;
	} else if (is(word, "owner-terminal")) {
		s->view.owner_terminal = true;
	} else if (is(word, "deleting")) {
		s->group.deletion = now;
	} else {
		const char *slash = strchr(word, '/');

		value = strchr(word, '=');
		if (!value || !slash)
			fail_msg("unknown word '%s' about the group", word);
		c.type = kar_arena_strndup(&s->arena, word, (size_t)(value - word));
		c.status = value[1] == 'T' ? KAR_COND_TRUE : KAR_COND_FALSE;
		c.reason = slash + 1;
		kar_condition_set(&s->group.status.conditions, &c, c.last_transition, &s->arena);
	}
}

static bool read_phase(struct kar_pod *p, const char *word)
{
	static const char *const names[] = { "Pending", "Running", "Succeeded", "Failed", "Unknown" };

	for (uint8_t i = 0; i < KAR_LEN(names); i++) {
		if (is(word, names[i])) {
			p->phase = i;
			if (i != KAR_POD_PENDING)
				p->node = "n1";
			return true;
		}
	}
	return false;
}

static void read_pod_word(struct kar_pod *p, struct kar_pod_job *job, const char *word)
{
	const char *value;

	if (!p->o.name)
		p->o.name = word;
	else if (read_phase(p, word))
		return;
	else if (is(word, "bound"))
		p->node = "n1";
	else if (is(word, "unschedulable"))
		p->unschedulable = true;
	else if (is(word, "terminating"))
		p->deletion = now;
	else if (is(word, "gated"))
		p->gate_ours = true;
	else if (takes(word, "owner=", &value))
		p->owner_name = value;
	else if (takes(word, "reason=", &value))
		job->fail_reason = value;
	else if (takes(word, "exit=", &value))
		job->exit_code = atoi(value);
	else
		fail_msg("unknown word '%s' about a pod", word);
}

static void read_scene(struct scene *s, const char *text)
{
	char *copy = kar_arena_strndup(&s->arena, text, strlen(text));
	char *rest = copy, *part, *word;

	s->group = (struct kar_podgroup){ .o = { .ns = "ns", .name = "j", .uid = "u" }, .generation = 1 };
	s->group.status.occupied_by = "";
	for (int i = -1; (part = strsep(&rest, ";")) != NULL; i++) {
		assert_true(i < MAX_PODS);
		if (i >= 0) {
			s->pods[i].job = &s->jobs[i];
			s->members[s->view.n_pods++] = &s->pods[i];
		}
		while ((word = strsep(&part, " ")) != NULL) {
			if (!word[0])
				continue;
			if (i < 0)
				read_group_word(s, word);
			else
				read_pod_word(&s->pods[i], &s->jobs[i], word);
		}
	}
	s->view.group = &s->group;
	s->view.pods = s->members;
}

static struct scene *new_scene(const char *text)
{
	struct scene *s = kar_xcalloc(1, sizeof(*s));

	read_scene(s, text);
	return s;
}

static void free_scene(struct scene *s)
{
	kar_arena_release(&s->arena);
	free(s);
}

/* The plan as text in the scene's arena, "urgent" in front if it is. */
static const char *decide_at(struct scene *s, kar_time at)
{
	struct kar_buf out = { 0 };
	const char *text;

	kar_plan_init(&s->plan, &s->arena);
	podgroup_decide(&s->view, at, &s->plan);
	if (s->plan.urgent)
		kar_buf_puts(&out, "urgent ");
	kar_plan_print(&s->plan, &out);
	text = kar_arena_strndup(&s->arena, kar_buf_cstr(&out), out.n);
	kar_buf_release(&out);
	return text;
}

struct row {
	const char *name, *scene, *plan;
};

/* Shorthands for what the rows have in common. */
#define COUNTS(members, scheduled, running, succeeded, failed) \
	" members=" #members " scheduled=" #scheduled " running=" #running " succeeded=" #succeeded \
	" failed=" #failed
#define SCHEDULED " Scheduled=True/Scheduled"
#define WAITS(reason) " Scheduled=False/" reason
#define LATER "; requeue 2d"

static const struct row rows[] = {
	/* the phase table, from the bottom */
	{ "group_without_pods_never_written_is_pending_without_haste", "min=3",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "fewer_members_than_minimum_is_pending", "min=3 phase=Pending; j-0 Pending; j-1 Pending",
		"status phase=Pending" COUNTS(2, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "minimum_exists_is_scheduling", "min=2 phase=Pending; j-0 Pending; j-1 Pending bound",
		"status phase=Scheduling" COUNTS(2, 1, 0, 0, 0) WAITS("Pending") LATER },
	{ "minimum_bound_is_scheduled", "min=2 phase=Scheduling; j-0 Pending bound; j-1 Pending bound",
		"status phase=Scheduled" COUNTS(2, 2, 0, 0, 0) SCHEDULED },
	{ "bound_and_succeeded_count_as_scheduled",
		"min=2 phase=Scheduling; j-0 Pending bound; j-1 Succeeded",
		"status phase=Scheduled" COUNTS(2, 2, 0, 1, 0) SCHEDULED },
	{ "failed_pod_does_not_count_as_scheduled",
		"min=2 phase=Scheduling; j-0 Pending bound; j-1 Failed; j-2 Pending",
		"status phase=Scheduling" COUNTS(3, 1, 0, 0, 1) WAITS("Pending") LATER },
	{ "minimum_runs_is_running_at_once",
		"min=2 phase=Scheduled Scheduled=True/Scheduled; j-0 Running; j-1 Running",
		"urgent status phase=Running" COUNTS(2, 2, 2, 0, 0) SCHEDULED },
	{ "running_and_succeeded_make_up_the_minimum", "min=2 phase=Scheduled; j-0 Running; j-1 Succeeded",
		"urgent status phase=Running" COUNTS(2, 2, 1, 1, 0) SCHEDULED },
	{ "from_nothing_to_running_in_one_write", "min=1; j-0 Running",
		"urgent status phase=Running" COUNTS(1, 1, 1, 0, 0) SCHEDULED },
	{ "extras_pending_do_not_matter", "min=1 phase=Scheduled; j-0 Running; j-1 Pending",
		"urgent status phase=Running" COUNTS(2, 1, 1, 0, 0) SCHEDULED },
	{ "more_running_is_only_a_count", "min=1 phase=Running; j-0 Running; j-1 Running",
		"status phase=Running" COUNTS(2, 2, 2, 0, 0) SCHEDULED },
	{ "minimum_succeeded_and_nobody_active_is_finished",
		"min=2 phase=Running; j-0 Succeeded; j-1 Succeeded",
		"urgent status phase=Finished" COUNTS(2, 2, 0, 2, 0) SCHEDULED },
	{ "minimum_succeeded_but_one_active_is_running",
		"min=2 phase=Running; j-0 Succeeded; j-1 Succeeded; j-2 Running",
		"status phase=Running" COUNTS(3, 3, 1, 2, 0) SCHEDULED },
	{ "minimum_succeeded_but_one_pending_is_running",
		"min=2 phase=Running; j-0 Succeeded; j-1 Succeeded; j-2 Pending",
		"status phase=Running" COUNTS(3, 2, 0, 2, 0) SCHEDULED },
	{ "finished_with_a_failed_extra_says_so", "min=1 phase=Running; j-0 Succeeded; j-1 Failed",
		"urgent status phase=Finished" COUNTS(2, 1, 0, 1, 1) SCHEDULED
		" MemberFailed=True/MemberFailed" },
	{ "finished_group_that_gets_a_new_pod_runs_again", "min=1 phase=Finished; j-0 Succeeded; j-1 Running",
		"urgent status phase=Running" COUNTS(2, 2, 1, 1, 0) SCHEDULED },
	{ "finished_is_not_sticky_while_the_owner_lives", "min=1 phase=Finished",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "finished_stays_when_the_owner_is_terminal", "min=1 phase=Finished owner-terminal", "" },
	{ "finished_stays_even_if_a_pod_is_left", "min=1 phase=Finished owner-terminal; j-0 Failed", "" },
	{ "terminal_owner_alone_does_not_finish", "min=2 phase=Running owner-terminal; j-0 Succeeded",
		"status phase=Pending" COUNTS(1, 1, 0, 1, 0) WAITS("QuorumLost") },

	/* failures */
	{ "failed_without_replacement_is_failed", "min=2 phase=Running; j-0 Running; j-1 Failed",
		"urgent status phase=Failed" COUNTS(2, 1, 1, 0, 1) WAITS("QuorumLost") },
	{ "failed_before_all_members_exist_is_failed", "min=3 phase=Pending; j-0 Failed; j-1 Pending",
		"urgent status phase=Failed" COUNTS(2, 0, 0, 0, 1) WAITS("NotEnoughMembers") },
	{ "all_failed_is_failed", "min=2 phase=Running; j-0 Failed; j-1 Failed",
		"urgent status phase=Failed" COUNTS(2, 0, 0, 0, 2) WAITS("QuorumLost") },
	{ "failed_leaves_when_the_pod_is_replaced",
		"min=2 phase=Failed Scheduled=False/QuorumLost; j-0 Running; j-1 Failed; j-2 Pending",
		"status phase=Scheduling" COUNTS(3, 1, 1, 0, 1) WAITS("QuorumLost") },
	{ "failed_leaves_when_the_pod_is_removed",
		"min=2 phase=Failed Scheduled=False/QuorumLost; j-0 Running",
		"status phase=Pending" COUNTS(1, 1, 1, 0, 0) WAITS("QuorumLost") },
	{ "failed_and_running_again_is_running", "min=2 phase=Failed; j-0 Running; j-1 Failed; j-2 Running",
		"urgent status phase=Running" COUNTS(3, 2, 2, 0, 1) SCHEDULED
		" MemberFailed=True/MemberFailed" },
	{ "failed_extra_is_a_condition_not_a_phase",
		"min=2 phase=Running; j-0 Running; j-1 Running; j-2 Failed",
		"status phase=Running" COUNTS(3, 2, 2, 0, 1) SCHEDULED " MemberFailed=True/MemberFailed" },
	{ "failed_extra_gone_clears_the_condition",
		"min=1 phase=Running MemberFailed=True/MemberFailed; j-0 Running",
		"status phase=Running" COUNTS(1, 1, 1, 0, 0) SCHEDULED " MemberFailed=False/NoFailedMember" },

	/* unschedulable members */
	{ "unschedulable_member_is_told_at_once",
		"min=2 phase=Scheduling; j-0 Pending bound; j-1 Pending unschedulable",
		"urgent status phase=Scheduling" COUNTS(2, 1, 0, 0, 0) WAITS(
			"Unschedulable") " Unschedulable=True/Unschedulable; "
					 "event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable" LATER },
	{ "was_running_and_a_member_is_unschedulable_is_unknown",
		"min=2 phase=Running Unschedulable=True/Unschedulable; j-0 Running; j-1 Pending unschedulable",
		"urgent status phase=Unknown" COUNTS(2, 1, 1, 0, 0)
			WAITS("QuorumLost") " Unschedulable=True/Unschedulable" },
	{ "unknown_stays_while_the_member_is_unschedulable",
		"min=2 phase=Unknown Unschedulable=True/Unschedulable; j-0 Running; j-1 Pending unschedulable",
		"status phase=Unknown" COUNTS(2, 1, 1, 0, 0)
			WAITS("QuorumLost") " Unschedulable=True/Unschedulable" },
	{ "loss_is_remembered_until_the_replacement_is_tried",
		"min=2 phase=Scheduling Scheduled=False/QuorumLost; j-0 Running; j-1 Pending unschedulable",
		"urgent status phase=Unknown" COUNTS(2, 1, 1, 0, 0) WAITS(
			"QuorumLost") " Unschedulable=True/Unschedulable; "
				      "event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable" },
	{ "unknown_leaves_when_the_member_is_placed",
		"min=2 phase=Unknown Unschedulable=True/Unschedulable; j-0 Running; j-1 Pending bound",
		"status phase=Scheduled" COUNTS(2, 2, 1, 0, 0) SCHEDULED " Unschedulable=False/Schedulable" },
	{ "unknown_group_whose_pods_are_all_gone_is_pending",
		"min=2 phase=Unknown Unschedulable=True/Unschedulable",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0)
			WAITS("NotEnoughMembers") " Unschedulable=False/Schedulable" LATER },
	{ "unschedulable_extra_of_a_running_group_is_a_condition",
		"min=1 phase=Running; j-0 Running; j-1 Pending unschedulable",
		"urgent status phase=Running" COUNTS(2, 1, 1, 0, 0) SCHEDULED
		" Unschedulable=True/Unschedulable; "
		"event Warning Unschedulable: 1/1 members bound; j-1: Unschedulable" },
	{ "many_unschedulable_members_are_summed_up",
		"min=6 phase=Scheduling; j-4 Pending unschedulable; j-3 Pending unschedulable; j-0 Pending bound; "
		"j-5 Pending unschedulable; j-2 Pending unschedulable; j-1 Pending unschedulable",
		"urgent status phase=Scheduling" COUNTS(6, 1, 0, 0, 0) WAITS(
			"Unschedulable") " Unschedulable=True/Unschedulable; event Warning Unschedulable: "
					 "1/6 members bound; j-1, j-2, j-3 and 2 more: Unschedulable" LATER },

	/* terminating members */
	{ "terminating_running_pod_runs_until_it_is_gone",
		"min=2 phase=Running; j-0 Running; j-1 Running terminating",
		"status phase=Running" COUNTS(2, 2, 2, 0, 0) SCHEDULED },
	{ "terminating_bound_pod_counts_as_running",
		"min=2 phase=Running; j-0 Running; j-1 Pending bound terminating",
		"status phase=Running" COUNTS(2, 2, 2, 0, 0) SCHEDULED },
	{ "terminating_unbound_pod_does_not_count",
		"min=2 phase=Scheduling; j-0 Pending; j-1 Pending terminating unschedulable",
		"status phase=Pending" COUNTS(1, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "terminating_finished_pod_counts_by_phase", "min=1 phase=Running; j-0 Succeeded terminating",
		"urgent status phase=Finished" COUNTS(1, 1, 0, 1, 0) SCHEDULED },
	{ "pod_of_unknown_phase_is_active_but_does_not_run",
		"min=2 phase=Running; j-0 Succeeded; j-1 Unknown",
		"status phase=Scheduled" COUNTS(2, 2, 0, 1, 0) SCHEDULED },
	{ "pod_lost_below_the_quorum_falls_back", "min=2 phase=Running; j-0 Running",
		"status phase=Pending" COUNTS(1, 1, 1, 0, 0) WAITS("QuorumLost") },

	/* corners */
	{ "minimum_absent_means_one", "min=0; j-0 Pending",
		"status phase=Scheduling" COUNTS(1, 0, 0, 0, 0) WAITS("Pending") LATER },
	{ "minimum_absent_and_no_pods_is_pending", "min=0",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "two_days_without_anything_running_is_a_warning",
		"min=2 phase=Scheduling Scheduled=False/Pending since=48; j-0 Pending bound; j-1 Pending",
		"status phase=Scheduling" COUNTS(2, 1, 0, 0, 0) WAITS(
			"Timeout") "; "
				   "event Warning Timeout: nothing has run for 48 hours: 1/2 members bound" },
	{ "warning_is_given_once",
		"min=2 phase=Scheduling Scheduled=False/Timeout since=49; j-0 Pending; j-1 Pending",
		"status phase=Scheduling" COUNTS(2, 0, 0, 0, 0) WAITS("Timeout") },
	{ "no_warning_while_something_runs",
		"min=2 phase=Pending Scheduled=False/NotEnoughMembers since=49; j-0 Running",
		"status phase=Pending" COUNTS(1, 1, 1, 0, 0) WAITS("NotEnoughMembers") },
	{ "no_warning_when_the_owner_is_terminal",
		"min=2 phase=Pending Scheduled=False/NotEnoughMembers since=49 owner-terminal",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS("NotEnoughMembers") },
	{ "deleted_group_is_left_alone", "min=2 phase=Running deleting; j-0 Running", "" },
	{ "deleted_group_with_gated_members_is_a_warning", "min=2 phase=Pending deleting; j-0 Pending gated",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS(
			"DeletedWithGatedMembers") "; event Warning "
						   "DeletedWithGatedMembers: the PodGroup is being deleted; 1 of its members stay SchedulingGated" },
	{ "deleted_group_warns_once",
		"min=2 phase=Pending deleting Scheduled=False/DeletedWithGatedMembers; j-0 Pending gated",
		"" },
};

static void check_text(const struct row *r, const char *got, const char *want, const char *what)
{
	if (strcmp(got, want) != 0)
		fail_msg("%s (%s)\n  scene: %s\n  want:  %s\n  got:   %s", r->name, what, r->scene, want,
			got);
}

static void decides_as_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene *s = new_scene(rows[i].scene);

		check_text(&rows[i], decide_at(s, now), rows[i].plan, "plan");
		free_scene(s);
	}
}

/* The text of the status says nothing about messages and order, so the whole structs are compared through it. */
static const char *full_text(struct scene *s)
{
	const char *text = decide_at(s, now);
	const struct kar_podgroup_status *st = s->plan.status;

	for (size_t i = 0; st && i < st->conditions.n; i++)
		text = kar_arena_printf(&s->arena, "%s|%s: %s", text, st->conditions.items[i].type,
			st->conditions.items[i].message);
	return st ? kar_arena_printf(&s->arena, "%s|%s", text, st->occupied_by) : text;
}

static void order_of_pods_does_not_matter(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene *s = new_scene(rows[i].scene);
		const char *first = full_text(s);

		for (size_t k = 0; k < s->view.n_pods / 2; k++) {
			const struct kar_pod *p = s->members[k];

			s->members[k] = s->members[s->view.n_pods - 1 - k];
			s->members[s->view.n_pods - 1 - k] = p;
		}
		check_text(&rows[i], full_text(s), first, "reversed order");
		free_scene(s);
	}
}

static void written_status_is_not_written_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene *s = new_scene(rows[i].scene);
		const char *second;

		decide_at(s, now);
		if (s->plan.status)
			s->group.status = *(const struct kar_podgroup_status *)s->plan.status;
		second = decide_at(s, now + 10);
		if (s->plan.status || s->plan.n_events)
			check_text(&rows[i], second, "", "decided again after the write");
		free_scene(s);
	}
}

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
		cmocka_unit_test(decides_as_the_table_says),
		cmocka_unit_test(order_of_pods_does_not_matter),
		cmocka_unit_test(written_status_is_not_written_again),
		cmocka_unit_test(messages_say_what_a_person_needs),
		cmocka_unit_test(schedule_start_time_is_set_on_entry),
		cmocka_unit_test(occupied_by_names_each_owner_once_and_sorted),
		cmocka_unit_test(admitted_and_position_are_not_touched),
		cmocka_unit_test(looks_again_when_two_days_are_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
