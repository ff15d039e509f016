/*
 * The pass over queues and groups: a snapshot in, decisions out, as rows and as properties.
 *
 * A scene is a list of parts separated by ';': queues (`queue a max=2 strict closed deleting`) and groups
 * (`g1 a prio=5 age=3 admitted finished idle phase=Running`). age is in minutes; the older goes first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queue/queue.h"

enum { MAX = 64, ROUNDS = 400 };

static const kar_time now = 1795268787123;

struct scene {
	struct kar_arena arena;
	struct kar_queue queues[MAX];
	struct kar_podgroup groups[MAX];
	const struct kar_queue *queue_list[MAX];
	struct queue_group group_list[MAX];
	struct queue_snapshot snapshot;
	struct queue_decision decisions[MAX];
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

static void read_queue_word(struct kar_queue *q, const char *word)
{
	const char *value;

	if (!q->o.name)
		q->o.name = word;
	else if (takes(word, "max=", &value)) {
		q->spec.max_jobs = atoi(value);
		q->spec.has_max_jobs = true;
	} else if (takes(word, "state=", &value))
		q->spec.state = value;
	else if (is(word, "strict"))
		q->spec.queueing_strategy = "StrictFIFO";
	else if (is(word, "closed"))
		q->spec.state = "Closed";
	else if (is(word, "deleting"))
		q->deletion = now;
	else
		fail_msg("unknown word '%s' about a queue", word);
}

static void read_group_word(struct kar_podgroup *g, struct queue_group *qg, const char *word)
{
	const char *value;

	if (!g->o.name)
		g->o.name = word;
	else if (takes(word, "prio=", &value))
		qg->priority = atoi(value);
	else if (takes(word, "age=", &value))
		g->creation = now - atoi(value) * KAR_MINUTE;
	else if (takes(word, "phase=", &value))
		g->status.phase = value;
	else if (is(word, "admitted"))
		qg->admitted = true;
	else if (is(word, "finished"))
		qg->claim = QUEUE_CLAIM_FINISHED;
	else if (is(word, "idle"))
		qg->claim = QUEUE_CLAIM_SUSPENDED;
	else if (!g->spec.queue)
		g->spec.queue = word;
	else
		fail_msg("unknown word '%s' about a group", word);
}

static void read_part(struct scene *s, char *part)
{
	struct kar_queue *q = NULL;
	struct kar_podgroup *g = NULL;
	char *word;

	while ((word = strsep(&part, " ")) != NULL) {
		if (!word[0])
			continue;
		if (!q && !g && is(word, "queue")) {
			q = &s->queues[s->snapshot.n_queues];
			s->queue_list[s->snapshot.n_queues++] = q;
			continue;
		}
		if (!q && !g) {
			g = &s->groups[s->snapshot.n_groups];
			g->o.ns = "ns";
			g->creation = now;
			s->group_list[s->snapshot.n_groups++] =
				(struct queue_group){ .group = g, .claim = QUEUE_CLAIM_ALIVE };
		}
		if (q)
			read_queue_word(q, word);
		else
			read_group_word(g, &s->group_list[s->snapshot.n_groups - 1], word);
	}
}

static struct scene *new_scene(const char *text)
{
	struct scene *s = kar_xcalloc(1, sizeof(*s));
	char *rest = kar_arena_strndup(&s->arena, text, strlen(text)), *part;

	s->snapshot.queues = s->queue_list;
	s->snapshot.groups = s->group_list;
	while ((part = strsep(&rest, ";")) != NULL)
		read_part(s, part);
	return s;
}

static void free_scene(struct scene *s)
{
	kar_arena_release(&s->arena);
	free(s);
}

static void plan(struct scene *s)
{
	queue_plan(&s->snapshot, &s->arena, s->decisions);
}

static const struct {
	const char *name, *scene, *decisions;
} rows[] = {
	{ "nothing_at_all", "", "" },
	{ "open_queue_admits_all", "queue a; g1 a; g2 a", "g1 Admitted; g2 Admitted" },
	{ "no_queue_named_is_default", "queue default; g1", "g1 Admitted" },
	{ "missing_queue", "queue a; g1 b", "g1 QueueNotFound 1st of 1 in queue b: there is no such queue" },
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
		"g1 Admitted; g2 QueueCapability 1st of 1 in queue a: maxJobs 1 reached" },
	{ "max_jobs_zero_admits_nothing", "queue a max=0; g1 a",
		"g1 QueueCapability 1st of 1 in queue a: maxJobs 0 reached" },
	{ "priority_goes_before_age", "queue a max=1; g1 a age=9 prio=1; g2 a age=1 prio=2",
		"g1 QueueCapability 1st of 1 in queue a: maxJobs 1 reached; g2 Admitted" },
	{ "age_goes_before_name", "queue a max=1; g1 a age=1; g2 a age=2",
		"g1 QueueCapability 1st of 1 in queue a: maxJobs 1 reached; g2 Admitted" },
	{ "name_breaks_the_tie", "queue a max=1; g2 a; g1 a",
		"g2 QueueCapability 1st of 1 in queue a: maxJobs 1 reached; g1 Admitted" },
	{ "running_jobs_take_their_place", "queue a max=2; g1 a admitted; g2 a admitted; g3 a prio=99",
		"g1 Admitted; g2 Admitted; g3 QueueCapability 1st of 1 in queue a: maxJobs 2 reached" },
	{ "lowered_limit_evicts_nobody", "queue a max=1; g1 a admitted; g2 a admitted",
		"g1 Admitted; g2 Admitted" },
	{ "finished_jobs_hold_no_place", "queue a max=1; g1 a admitted finished; g2 a",
		"g1 Suspended; g2 Admitted" },
	{ "idle_jobs_hold_no_place", "queue a max=1; g1 a admitted idle; g2 a", "g1 Suspended; g2 Admitted" },
	{ "idle_jobs_do_not_wait", "queue a closed; g1 a age=2 idle; g2 a age=1",
		"g1 Suspended; g2 QueueClosed 1st of 1 in queue a: the queue is closed" },
	{ "positions_follow_the_order", "queue a max=0; g1 a age=1; g2 a age=3; g3 a age=2",
		"g1 QueueCapability 3rd of 3 in queue a: maxJobs 0 reached; "
		"g2 QueueCapability 1st of 3 in queue a: maxJobs 0 reached; "
		"g3 QueueCapability 2nd of 3 in queue a: maxJobs 0 reached" },
	{ "strict_fifo_waits_for_its_head", "queue a strict max=1; g1 a age=3; g2 a age=2; g3 a age=1",
		"g1 Admitted; g2 QueueCapability 1st of 2 in queue a: maxJobs 1 reached; "
		"g3 HeadReserved 2nd of 2 in queue a: StrictFIFO, ns/g2 goes first" },
	{ "strict_fifo_admits_as_far_as_it_goes", "queue a strict max=2; g1 a age=3; g2 a age=2",
		"g1 Admitted; g2 Admitted" },
};

static const char *decisions_text(struct scene *s)
{
	const char *text = "";

	for (size_t i = 0; i < s->snapshot.n_groups; i++) {
		const struct queue_decision *d = &s->decisions[i];
		bool waits = d->position > 0;

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
};

static void queue_status_is_state_and_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(statuses); i++) {
		struct scene *s = new_scene(statuses[i].scene);
		struct kar_queue_status st;

		plan(s);
		queue_statuses(&s->snapshot, s->decisions, now, &s->arena, &st);
		if (!is(st.state, statuses[i].state) || st.pending != statuses[i].pending ||
			st.inqueue != statuses[i].inqueue || st.running != statuses[i].running ||
			st.completed != statuses[i].completed || st.unknown != statuses[i].unknown ||
			kar_condition_is_true(&st.conditions, "Valid") != statuses[i].valid ||
			kar_condition_is_true(&st.conditions, "Active") != statuses[i].active)
			fail_msg("%s: got %s %d %d %d %d %d", statuses[i].name, st.state, st.pending,
				st.inqueue, st.running, st.completed, st.unknown);
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
		" max=3 strict", " deleting" };
	static const char *const group_options[] = { "", "", "", " admitted", " admitted", " finished",
		" idle", " admitted finished" };
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

		if (g->admitted && g->claim == QUEUE_CLAIM_ALIVE && s->decisions[i].reason != QUEUE_ADMITTED)
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
		if (!q || q->deletion || q->spec.state || (q->spec.has_max_jobs && jobs > q->spec.max_jobs))
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
		cmocka_unit_test(positions_are_english_ordinals),
		cmocka_unit_test(queue_status_is_state_and_counts),
		cmocka_unit_test(status_of_several_queues_keeps_their_order),
		cmocka_unit_test(properties_hold_on_random_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
