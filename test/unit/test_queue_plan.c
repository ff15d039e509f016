/* The pass over queues and groups: a snapshot in (queue_scene.h), decisions out, as rows and as properties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queue_scene.h"

enum { ROUNDS = 400 };

static const struct {
	const char *name, *scene, *decisions;
} rows[] = {
	{ "nothing_at_all", "", "" },
	{ "open_queue_admits_all", "queue a; g1 a; g2 a", "g1 Admitted; g2 Admitted" },
	{ "no_queue_named_is_default", "queue default; g1", "g1 Admitted" },
	{ "missing_queue", "queue a; g1 b",
		"g1 QueueNotFound queue \"b\" does not exist; the job starts when somebody creates it" },
	{ "missing_queue_says_the_same_however_many_wait", "g1 b age=1; g2 b age=2",
		"g1 QueueNotFound queue \"b\" does not exist; the job starts when somebody creates it; "
		"g2 QueueNotFound queue \"b\" does not exist; the job starts when somebody creates it" },
	{ "queue_whose_selector_means_nothing_admits_nothing", "queue a bad-selector; g1 a",
		"g1 QueueInvalid 1st of 1 in queue a: its namespaceSelector is invalid, and admits nothing until that is corrected: "
		"an expression has no key" },
	{ "admitted_group_stays_in_a_queue_whose_selector_means_nothing",
		"queue a bad-selector; g1 a admitted", "g1 Admitted" },
	{ "namespace_that_is_not_selected", "queue a; g1 a not-allowed; g2 a",
		"g1 NamespaceNotAllowed queue a does not admit namespace ns; g2 Admitted" },
	{ "group_that_is_not_allowed_goes_before_nobody",
		"queue a strict max=0; g1 a not-allowed prio=9; g2 a",
		"g1 NamespaceNotAllowed queue a does not admit namespace ns; "
		"g2 MaxJobsReached 1st of 1 in queue a: maxJobs 0 reached" },
	{ "admitted_group_stays_when_its_namespace_is_not_selected_any_more",
		"queue a max=1; g1 a admitted not-allowed does=Running; g2 a",
		"g1 Admitted; g2 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g1 Running)" },
	{ "closed_is_said_first", "queue a closed; g1 a not-allowed",
		"g1 QueueClosed 1st of 1 in queue a: the queue is closed" },
	{ "priority_above_the_maximum_is_said_while_it_waits", "queue a max=0; g1 a prio=10 asks=5000",
		"g1 MaxJobsReached 1st of 1 in queue a: maxJobs 0 reached; priority 5000 counts as 10, the maxPriority of the queue" },
	{ "group_that_moves_counts_where_it_was_until_that_is_recorded",
		"queue a max=1; queue b; g1 b still-in=a; g2 a",
		"g1 Admitted; g2 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached" },
	{ "empty_group_makes_room", "queue a max=1; g1 a admitted empty; g2 a",
		"g1 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g2 Pending); "
		"g2 Admitted" },
	{ "empty_group_makes_room_whatever_its_priority", "queue a max=1; g1 a admitted empty prio=99; g2 a",
		"g1 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g2 Pending); "
		"g2 Admitted" },
	{ "empty_group_stays_while_there_is_room", "queue a max=2; g1 a admitted empty; g2 a",
		"g1 Admitted; g2 Admitted" },
	{ "of_two_empty_groups_as_many_stay_as_there_is_room_for",
		"queue a max=2; g1 a admitted empty age=2; g2 a admitted empty age=1; g3 a",
		"g1 Admitted; "
		"g2 MaxJobsReached 1st of 1 in queue a: maxJobs 2 reached (ns/g3 Pending, ns/g1 Pending); "
		"g3 Admitted" },
	{ "empty_group_that_made_room_goes_behind_all",
		"queue a max=0; g1 a empty prio=9 age=9 since=1; g2 a",
		"g1 MaxJobsReached 2nd of 2 in queue a: maxJobs 0 reached; "
		"g2 MaxJobsReached 1st of 2 in queue a: maxJobs 0 reached" },
	{ "group_that_has_members_at_last_goes_behind_those_of_its_rank",
		"queue a max=0; g1 a age=9 since=1; g2 a age=2; g3 a age=1 prio=-1",
		"g1 MaxJobsReached 2nd of 3 in queue a: maxJobs 0 reached; "
		"g2 MaxJobsReached 1st of 3 in queue a: maxJobs 0 reached; "
		"g3 MaxJobsReached 3rd of 3 in queue a: maxJobs 0 reached" },
	{ "empty_group_does_not_hold_up_a_strict_queue",
		"queue a strict max=1; g1 a admitted empty prio=9; g2 a",
		"g1 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g2 Pending); "
		"g2 Admitted" },
	{ "admitted_group_survives_its_queue", "g1 a admitted", "g1 Admitted" },
	{ "closed_queue_admits_nothing", "queue a closed; g1 a",
		"g1 QueueClosed 1st of 1 in queue a: the queue is closed" },
	{ "queue_being_deleted_is_closed", "queue a deleting; g1 a",
		"g1 QueueClosed 1st of 1 in queue a: the queue is closed" },
	{ "queue_of_unknown_state_is_closed", "queue a state=Ajar; g1 a",
		"g1 QueueClosed 1st of 1 in queue a: the queue is closed" },
	{ "queue_of_state_open_is_open", "queue a state=Open; g1 a", "g1 Admitted" },
	{ "admitted_group_stays_in_a_closed_queue", "queue a closed; g1 a admitted", "g1 Admitted" },
	{ "other_queues_are_not_concerned", "queue a closed; queue b; g1 a; g2 b",
		"g1 QueueClosed 1st of 1 in queue a: the queue is closed; g2 Admitted" },
	{ "max_jobs_is_a_limit", "queue a max=1; g1 a age=2; g2 a age=1",
		"g1 Admitted; "
		"g2 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g1 Pending)" },
	{ "max_jobs_zero_admits_nothing", "queue a max=0; g1 a",
		"g1 MaxJobsReached 1st of 1 in queue a: maxJobs 0 reached" },
	{ "priority_goes_before_age", "queue a max=1; g1 a age=9 prio=1; g2 a age=1 prio=2",
		"g1 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g2 Pending); "
		"g2 Admitted" },
	{ "age_goes_before_name", "queue a max=1; g1 a age=1; g2 a age=2",
		"g1 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g2 Pending); "
		"g2 Admitted" },
	{ "name_breaks_the_tie", "queue a max=1; g2 a; g1 a",
		"g2 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g1 Pending); "
		"g1 Admitted" },
	{ "running_jobs_take_their_place", "queue a max=2; g1 a admitted; g2 a admitted; g3 a prio=99",
		"g1 Admitted; "
		"g2 Admitted; "
		"g3 MaxJobsReached 1st of 1 in queue a: maxJobs 2 reached (ns/g1 Pending, ns/g2 Pending)" },
	{ "lowered_limit_evicts_nobody", "queue a max=1; g1 a admitted; g2 a admitted",
		"g1 Admitted; g2 Admitted" },
	{ "finished_jobs_hold_no_place", "queue a max=1; g1 a admitted finished; g2 a",
		"g1 Suspended; g2 Admitted" },
	{ "idle_jobs_hold_no_place", "queue a max=1; g1 a admitted idle; g2 a", "g1 Suspended; g2 Admitted" },
	{ "idle_jobs_do_not_wait", "queue a closed; g1 a age=2 idle; g2 a age=1",
		"g1 Suspended; g2 QueueClosed 1st of 1 in queue a: the queue is closed" },
	{ "positions_follow_the_order", "queue a max=0; g1 a age=1; g2 a age=3; g3 a age=2",
		"g1 MaxJobsReached 3rd of 3 in queue a: maxJobs 0 reached; "
		"g2 MaxJobsReached 1st of 3 in queue a: maxJobs 0 reached; "
		"g3 MaxJobsReached 2nd of 3 in queue a: maxJobs 0 reached" },
	{ "strict_fifo_waits_for_its_head", "queue a strict max=1; g1 a age=3; g2 a age=2; g3 a age=1",
		"g1 Admitted; "
		"g2 MaxJobsReached 1st of 2 in queue a: maxJobs 1 reached (ns/g1 Pending); "
		"g3 BehindHead 2nd of 2 in queue a: StrictFIFO, ns/g2 goes first" },
	{ "full_queue_names_who_is_admitted", "queue a max=1; g1 a admitted does=Running; g2 a",
		"g1 Admitted; g2 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g1 Running)" },
	{ "who_does_not_run_is_named_first_and_three_are_named",
		"queue a max=5; g1 a admitted does=Running age=9; g2 a admitted does=Running age=8; "
		"g3 a admitted does=Unschedulable age=7; g4 a admitted age=6; g5 a admitted does=BackOff age=5; g6 a",
		"g1 Admitted; g2 Admitted; g3 Admitted; g4 Admitted; g5 Admitted; "
		"g6 MaxJobsReached 1st of 1 in queue a: maxJobs 5 reached "
		"(ns/g3 Unschedulable, ns/g4 Pending, ns/g5 BackOff, and 2 more)" },
	{ "who_leaves_the_queue_is_counted_but_not_named",
		"queue a max=2; queue b; g1 b still-in=a; g2 a admitted does=Running; g3 a",
		"g1 Admitted; g2 Admitted; g3 MaxJobsReached 1st of 1 in queue a: maxJobs 2 reached (ns/g2 Running, and 1 more)" },
	{ "suspended_and_finished_groups_are_not_named",
		"queue a max=1; g1 a admitted idle; g2 a admitted finished; g3 a admitted does=Running; g4 a",
		"g1 Suspended; g2 Suspended; g3 Admitted; g4 MaxJobsReached 1st of 1 in queue a: maxJobs 1 reached (ns/g3 Running)" },
	{ "strict_fifo_admits_as_far_as_it_goes", "queue a strict max=2; g1 a age=3; g2 a age=2",
		"g1 Admitted; g2 Admitted" },
};

static const char *decisions_text(struct scene *s)
{
	const char *text = "";

	for (size_t i = 0; i < s->snapshot.n_groups; i++) {
		const struct queue_decision *d = &s->decisions[i];
		bool waits = d->reason != QUEUE_ADMITTED && s->group_list[i].claim == QUEUE_CLAIM_ALIVE;

		text = kar_arena_printf(&s->arena, "%s%s%s %s%s%s", text, i ? "; " : "",
			s->group_list[i].group->o.name, queue_reason_name(d->reason), waits ? " " : "",
			waits ? d->message : "");
	}
	return text;
}

static void decides_as_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene *s = new_scene(rows[i].scene);

		plan(s);
		if (strcmp(decisions_text(s), rows[i].decisions) != 0)
			fail_msg("%s\n  scene: %s\n  want:  %s\n  got:   %s", rows[i].name, rows[i].scene,
				rows[i].decisions, decisions_text(s));
		free_scene(s);
	}
}

/* A message that is cut only when it is stored would differ from the wanted one permanently, and be written again and again. */
static void long_names_fit_into_a_message(void **state)
{
	char name[254], text[2048];
	struct scene *s;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text),
		"queue a max=3; %sa a admitted; %sb a admitted; %sc a admitted; %sd a; %se a", name, name,
		name, name, name);
	s = new_scene(text);
	for (size_t i = 0; i < s->snapshot.n_groups; i++)
		s->groups[i].o.ns = &name[sizeof(name) - 64];
	plan(s);
	assert_int_equal(s->decisions[3].position, 1);
	assert_true(strlen(s->decisions[3].message) < KAR_MAX_MESSAGE_BYTES);
	assert_non_null(strstr(s->decisions[3].message, "maxJobs 3 reached (nnn"));
	free_scene(s);
}

/* ---- properties, on random snapshots ---- */

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static struct scene *random_scene(void)
{
	static const char *const queue_options[] = { "", " closed", " strict", " max=0", " max=2",
		" max=3 strict", " deleting", " bad-selector" };
	static const char *const group_options[] = { "", "", "", " admitted", " admitted", " finished",
		" idle", " admitted finished", " admitted empty", " empty", " since=1", " not-allowed" };
	struct scene *s = new_scene("");
	char part[128];

	for (char name = 'a'; name < 'a' + 4; name++) {
		snprintf(part, sizeof(part), "queue %c%s", name,
			queue_options[random_below(KAR_LEN(queue_options))]);
		read_part(s, kar_arena_strndup(&s->arena, part, strlen(part)));
	}
	for (uint32_t i = random_below(40); i > 0; i--) {
		snprintf(part, sizeof(part), "g%u %c prio=%u age=%u%s", i, (char)('a' + random_below(5)),
			random_below(3), random_below(4),
			group_options[random_below(KAR_LEN(group_options))]);
		read_part(s, kar_arena_strndup(&s->arena, part, strlen(part)));
	}
	return s;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct queue_group *)a)->group->o.name,
		((const struct queue_group *)b)->group->o.name);
}

static void shuffle(struct scene *s)
{
	for (size_t i = s->snapshot.n_groups; i > 1; i--) {
		size_t k = random_below((uint32_t)i);
		struct queue_group g = s->group_list[i - 1];

		s->group_list[i - 1] = s->group_list[k];
		s->group_list[k] = g;
	}
	for (size_t i = s->snapshot.n_queues; i > 1; i--) {
		size_t k = random_below((uint32_t)i);
		const struct kar_queue *q = s->queue_list[i - 1];

		s->queue_list[i - 1] = s->queue_list[k];
		s->queue_list[k] = q;
	}
}

/* The decisions as text, each with its group, independent of the order of the snapshot. */
static const char *sorted_text(struct scene *s)
{
	struct scene *copy = kar_xcalloc(1, sizeof(*copy));
	const char *text;

	*copy = *s;
	for (size_t i = 0; i < s->snapshot.n_groups; i++)
		copy->group_list[i].priority = (int32_t)i; /* remember the place */
	qsort(copy->group_list, copy->snapshot.n_groups, sizeof(copy->group_list[0]), by_name);
	for (size_t i = 0; i < s->snapshot.n_groups; i++)
		copy->decisions[i] = s->decisions[copy->group_list[i].priority];
	text = decisions_text(copy);
	s->arena = copy->arena;
	free(copy);
	return text;
}

static void check_same(const char *what, const char *a, const char *b, uint64_t from)
{
	if (strcmp(a, b) != 0)
		fail_msg("%s (seed %llu)\n  first:  %s\n  second: %s", what, (unsigned long long)from, a, b);
}

static void order_of_the_input_does_not_matter(struct scene *s, uint64_t from)
{
	const char *first;

	plan(s);
	first = sorted_text(s);
	shuffle(s);
	plan(s);
	check_same("another order of input decides otherwise", first, sorted_text(s), from);
}

static void second_pass_changes_nothing(struct scene *s, uint64_t from)
{
	const char *first;

	plan(s);
	first = sorted_text(s);
	for (size_t i = 0; i < s->snapshot.n_groups; i++) {
		if (s->group_list[i].claim == QUEUE_CLAIM_ALIVE)
			s->group_list[i].admitted = s->decisions[i].reason == QUEUE_ADMITTED;
	}
	plan(s);
	check_same("a second pass decides otherwise", first, sorted_text(s), from);
}

static const struct kar_queue *queue_named(const struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->snapshot.n_queues; i++) {
		if (is(s->queue_list[i]->o.name, name))
			return s->queue_list[i];
	}
	return NULL;
}

/* Admits only into open queues with room; takes nothing back; nobody is overtaken inside a queue. */
static void limits_hold(struct scene *s, uint64_t from)
{
	plan(s);
	for (size_t i = 0; i < s->snapshot.n_groups; i++) {
		const struct queue_group *g = &s->group_list[i];
		const struct kar_queue *q = queue_named(s, g->group->spec.queue);
		int32_t jobs = 0;

		if (g->admitted && g->claim == QUEUE_CLAIM_ALIVE && !g->yields &&
			s->decisions[i].reason != QUEUE_ADMITTED)
			fail_msg("seed %llu: %s lost its admission", (unsigned long long)from,
				g->group->o.name);
		if (s->decisions[i].reason != QUEUE_ADMITTED || g->admitted)
			continue;
		for (size_t k = 0; k < s->snapshot.n_groups; k++) {
			const struct queue_group *other = &s->group_list[k];

			if (!is(other->group->spec.queue, g->group->spec.queue))
				continue;
			jobs += s->decisions[k].reason == QUEUE_ADMITTED;
			if (s->decisions[k].position > 0 && queue_group_compare(other, g) < 0)
				fail_msg("seed %llu: %s overtakes %s", (unsigned long long)from,
					g->group->o.name, other->group->o.name);
		}
		if (!q || q->deletion || q->spec.state != KAR_QUEUE_STATE_OPEN ||
			q->spec.namespaces_problem || g->not_allowed ||
			(q->spec.has_max_jobs && jobs > q->spec.max_jobs))
			fail_msg("seed %llu: %s should not be admitted", (unsigned long long)from,
				g->group->o.name);
	}
}

static void properties_hold_on_random_snapshots(void **state)
{
	static void (*const properties[])(struct scene *, uint64_t) = { order_of_the_input_does_not_matter,
		second_pass_changes_nothing, limits_hold };
	const char *given = getenv("SEED");

	(void)state;
	seed = given ? strtoull(given, NULL, 10) : 20261121;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t from = seed;
		size_t which = random_below(KAR_LEN(properties)); /* part of what the seed replays */
		struct scene *s = random_scene();

		properties[which](s, from);
		free_scene(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decides_as_the_table_says),
		cmocka_unit_test(long_names_fit_into_a_message),
		cmocka_unit_test(properties_hold_on_random_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
