/* What the groups of a queue are told of their positions, and what its status says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queue_scene.h"

static void positions_are_english_ordinals(void **state)
{
	static const struct {
		int place;
		const char *text;
	} want[] = { { 1, "1st of 24 " }, { 2, "2nd of 24 " }, { 3, "3rd of 24 " }, { 4, "4th of 24 " },
		{ 11, "11th of 24 " }, { 12, "12th of 24 " }, { 13, "13th of 24 " }, { 21, "21st of 24 " },
		{ 22, "22nd of 24 " }, { 24, "24th of 24 " } };
	struct scene *s = new_scene("queue a max=0");

	(void)state;
	for (int i = 0; i < 24; i++) {
		char part[64];

		snprintf(part, sizeof(part), "g%d a age=%d", i + 1, 24 - i);
		read_part(s, kar_arena_strndup(&s->arena, part, strlen(part)));
	}
	plan(s);
	for (size_t i = 0; i < KAR_LEN(want); i++) {
		const char *message = s->decisions[want[i].place - 1].message;

		if (strncmp(message, want[i].text, strlen(want[i].text)) != 0)
			fail_msg("want '%s...', got '%s'", want[i].text, message);
	}
	free_scene(s);
}

/* Of many in a queue: those behind the first 100 are not told of each move of one ahead. */
static struct scene *crowd(const char *queue, int n)
{
	struct scene *s = new_scene(queue);
	char part[64];

	assert_true(n <= MAX);
	for (int i = 0; i < n; i++) {
		snprintf(part, sizeof(part), "g%d a age=%d", i + 1, n - i);
		read_part(s, kar_arena_strndup(&s->arena, part, strlen(part)));
	}
	plan(s);
	return s;
}

static void only_the_first_hundred_have_positions(void **state)
{
	struct scene *s = crowd("queue a max=0", 102);

	(void)state;
	assert_int_equal(s->decisions[99].position, 100);
	assert_string_equal(s->decisions[99].message, "100th of 102 in queue a: maxJobs 0 reached");
	for (int i = 100; i < 102; i++) {
		assert_int_equal(s->decisions[i].position, 0);
		assert_string_equal(s->decisions[i].message,
			"100 or more are ahead in queue a: maxJobs 0 reached");
	}
	free_scene(s);
}

static void the_others_are_not_told_who_goes_first(void **state)
{
	struct scene *s = crowd("queue a strict max=0", 102);

	(void)state;
	assert_string_equal(s->decisions[1].message, "2nd of 102 in queue a: StrictFIFO, ns/g1 goes first");
	assert_string_equal(s->decisions[101].message,
		"100 or more are ahead in queue a: StrictFIFO, others go first");
	free_scene(s);
}

static const struct {
	const char *name, *scene, *state;
	int pending, inqueue, running, completed, unknown;
	bool valid, active;
} statuses[] = {
	{ "empty", "queue a", "Open", 0, 0, 0, 0, 0, true, true },
	{ "each_group_counts_once",
		"queue a max=3; g1 a admitted phase=Running; g2 a admitted phase=Unknown; g3 a admitted phase=Pending; g4 a; "
		"g5 a finished; g6 a idle; g7 a finished admitted; g8 b",
		"Open", 1, 1, 1, 2, 1, true, true },
	{ "just_admitted_is_inqueue", "queue a; g1 a phase=Pending", "Open", 0, 1, 0, 0, 0, true, true },
	{ "closed_and_empty", "queue a closed", "Closed", 0, 0, 0, 0, 0, true, false },
	{ "closed_with_live_groups", "queue a closed; g1 a admitted phase=Running", "Closing", 0, 0, 1, 0, 0,
		true, false },
	{ "closed_with_waiting_groups", "queue a closed; g1 a", "Closed", 1, 0, 0, 0, 0, true, false },
	{ "closed_with_finished_groups", "queue a closed; g1 a finished admitted", "Closed", 0, 0, 0, 1, 0,
		true, false },
	{ "deleting", "queue a deleting; g1 a admitted", "Closing", 0, 1, 0, 0, 0, true, false },
	{ "unknown_state", "queue a state=Ajar", "Unknown", 0, 0, 0, 0, 0, false, false },
	{ "selector_that_means_nothing_closes_it", "queue a bad-selector; g1 a", "Open", 1, 0, 0, 0, 0, false,
		false },
	{ "other_ignored_fields_do_not", "queue a ignores=drain; g1 a", "Open", 0, 1, 0, 0, 0, false, true },
};

static void queue_says_what_is_not_acted_upon(void **state)
{
	static const struct {
		const char *scene, *type, *reason, *message;
	} want[] = {
		{ "queue a bad-selector", "Valid", "InvalidNamespaceSelector",
			"no job is admitted: spec.namespaceSelector: an expression has no key" },
		{ "queue a bad-selector", "Active", "InvalidNamespaceSelector",
			"admits no job until spec.namespaceSelector is corrected" },
		{ "queue a ignores=drain", "Valid", "Unsupported",
			"kar-controllers does not act on drain yet: jobs are admitted without regard to it" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(want); i++) {
		struct scene *s = new_scene(want[i].scene);
		struct kar_queue_status st;
		const struct kar_condition *c;

		plan(s);
		queue_statuses(&s->snapshot, s->decisions, now, &s->arena, &st);
		c = kar_condition_find(&st.conditions, want[i].type);
		assert_non_null(c);
		assert_string_equal(c->reason, want[i].reason);
		assert_string_equal(c->message, want[i].message);
		free_scene(s);
	}
}

static void queue_status_is_state_and_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(statuses); i++) {
		struct scene *s = new_scene(statuses[i].scene);
		struct kar_queue_status st;

		plan(s);
		queue_statuses(&s->snapshot, s->decisions, now, &s->arena, &st);
		if (!is(kar_queue_state_name(st.state), statuses[i].state) ||
			st.pending != statuses[i].pending || st.inqueue != statuses[i].inqueue ||
			st.running != statuses[i].running || st.completed != statuses[i].completed ||
			st.unknown != statuses[i].unknown ||
			kar_condition_is_true(&st.conditions, "Valid") != statuses[i].valid ||
			kar_condition_is_true(&st.conditions, "Active") != statuses[i].active)
			fail_msg("%s: got %s %d %d %d %d %d", statuses[i].name,
				kar_queue_state_name(st.state), st.pending, st.inqueue, st.running,
				st.completed, st.unknown);
		free_scene(s);
	}
}

static void status_of_several_queues_keeps_their_order(void **state)
{
	struct scene *s = new_scene("queue b; queue a; g1 b; g2 a; g3 a");
	struct kar_queue_status st[2];

	(void)state;
	plan(s);
	queue_statuses(&s->snapshot, s->decisions, now, &s->arena, st);
	assert_int_equal(st[0].inqueue, 1);
	assert_int_equal(st[1].inqueue, 2);
	free_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(positions_are_english_ordinals),
		cmocka_unit_test(only_the_first_hundred_have_positions),
		cmocka_unit_test(the_others_are_not_told_who_goes_first),
		cmocka_unit_test(queue_status_is_state_and_counts),
		cmocka_unit_test(queue_says_what_is_not_acted_upon),
		cmocka_unit_test(status_of_several_queues_keeps_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
