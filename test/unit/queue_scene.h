/*
 * queue_scene - a snapshot of queues and groups in words, for the pass over them (common/queue/queue.h). For one test executable: all
 * functions are static. Include after cmocka.h. test/unit/queue_world.h is for what needs rights and sums.
 *
 * A scene is a list of parts separated by ';': queues (`queue a max=2 strict closed deleting bad-selector preempts provisions`; max=0: it
 * has a job already, which no test sees, and may have no other) and groups (`g1 a admitted prio=5 age=3 still-in=b not-allowed empty finished
 * idle phase=Running started=5`). age is in minutes; the older goes first. empty: it has had no members for too long.
 *
 * With nodes (`node n1 cpu=4`, in the words of sched_words.h) groups may have pods that are placed: needs=3xcpu=1,on=rack=r (a waiting group must start
 * with them, an admitted one lacks them) wants=2 (more) held=n1:2 (what its plan holds, of the same pods) retry rolled-back deactivated;
 * grows (it was admitted without room) asks (the API server is asked once more before others go for it). uses=n1:2xcpu=1: what its pods have, if it may be evicted; protected: it may not; started=5 (minutes
 * ago) evicted-by=ns/g1 lost-to=ns/g1 never (its PriorityClass does not preempt) failed (so did its last start). with=g2,g3: the groups with
 * which it starts; required=rack: all its pods are in one domain of this label; missing=ns/x: one that does not exist. direct (its pods are created bound) unverified (its places are no promise) last=n1 (it takes that node last).
 *
 * Pods of no queue that may be evicted: `other x n1:3xcpu=1 prio=-10 budget=b`, which are x0, x1, x2 of namespace o; young, stops, soon (they stop, and are gone in a
 * moment) kept=why. They come in the order of priorities, of one priority the youngest first. `allows b=2`: a budget.
 */
#ifndef KAR_TEST_QUEUE_SCENE_H
#define KAR_TEST_QUEUE_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/queue/queue.h"
#include "test/unit/sched_words.h"

enum { MAX = 128, HIDDEN = 8 };

static const kar_time scene_now = 1795268787123;

struct scene {
	struct kar_arena arena;
	struct kar_queue_in queues[MAX];
	struct kar_queue_group groups[MAX + HIDDEN];
	struct kar_queue_run runs[MAX][2];
	struct kar_queue_seat seats[MAX];
	struct kar_queue_leaving leaving[MAX];
	struct kar_queue_snapshot snapshot;
	struct kar_queue_result result;
	struct kar_queue_decision *decisions; /* of the result */
	uint32_t n;                           /* groups that the scene names */
	const char *others[MAX];              /* "ns/g1" that has evicted it; NULL: nobody */
	char *units[MAX];                     /* names of the others, separated by commas; NULL: none */
	const char *moves[MAX];               /* the queue that it leaves */
	const char *full[HIDDEN];             /* queues that have a job that no test sees */
	uint32_t n_full;
	struct kar_sched_amount alloc[8];
	struct kar_queue_preemptible others_here[MAX];
	struct kar_sched_amount foreign[8];
	const char *budget_names[8];
	int32_t budgets[8];
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

static void read_queue_word(struct scene *s, struct kar_queue_in *q, const char *word)
{
	const char *value;

	if (!q->name)
		q->name = word;
	else if (is(word, "max=0")) {
		q->max_jobs = 1;
		s->full[s->n_full++] = q->name;
	} else if (takes(word, "max=", &value))
		q->max_jobs = atoi(value);
	else if (is(word, "bad-selector"))
		q->problem = "its selector means nothing";
	else if (is(word, "provisions"))
		q->provisions = true;
	else if (is(word, "preempts"))
		q->preempts = true;
	else if (is(word, "strict"))
		q->strict = true;
	else if (is(word, "closed"))
		q->closed = true;
	else if (is(word, "deleting"))
		q->deleting = true;
	else
		fail_msg("unknown word '%s' about a queue", word);
}

static void refuse(struct kar_queue_group *g, enum kar_queue_reason reason, const char *why)
{
	g->ineligible = reason;
	g->why = why;
}

static bool read_state(struct kar_queue_group *g, const char *word)
{
	if (is(word, "finished"))
		refuse(g, KAR_QR_FINISHED, "");
	else if (is(word, "not-allowed"))
		refuse(g, KAR_QR_NAMESPACE_NOT_ALLOWED, "not allowed");
	else if (is(word, "idle"))
		refuse(g, KAR_QR_SUSPENDED, "the job is suspended");
	else if (is(word, "retry"))
		refuse(g, KAR_QR_BACK_OFF, "next try soon");
	else if (is(word, "rolled-back"))
		refuse(g, KAR_QR_BACK_OFF, "its pods are being removed");
	else if (is(word, "deactivated"))
		refuse(g, KAR_QR_DEACTIVATED, "too many attempts");
	else if (is(word, "phase=Running"))
		g->phase = KAR_QUEUE_RUNS;
	else if (is(word, "phase=Unknown"))
		g->phase = KAR_QUEUE_UNKNOWN;
	else
		return false;
	return true;
}

static void read_group_word(struct scene *s, uint32_t i, const char *word)
{
	struct kar_queue_group *g = &s->groups[i];
	const char *value;

	if (!g->name)
		g->name = word;
	else if (takes(word, "prio=", &value))
		g->base = atoi(value);
	else if (takes(word, "still-in=", &value))
		s->moves[i] = value;
	else if (is(word, "empty"))
		g->yields = KAR_QUEUE_YIELDS_TO_ALL;
	else if (takes(word, "age=", &value))
		g->creation = scene_now - atoi(value) * KAR_MINUTE;
	else if (is(word, "admitted"))
		g->standing = KAR_QUEUE_ADMITTED;
	else if (is(word, "reserving"))
		g->standing = KAR_QUEUE_RESERVING;
	else if (!g->queue_name)
		g->queue_name = word;
	else
		fail_msg("unknown word '%s' about a group", word);
}

/* "3xcpu=1" */
static int32_t read_needs(struct scene *s, uint32_t i, const char *value)
{
	int32_t want = 0, n = atoi(words_part(&s->arena, &value, "x"));
	char *needs = kar_arena_strndup(&s->arena, value, strlen(value));

	for (char *comma; (comma = strchr(needs, ',')) != NULL;)
		*comma = ' ';
	s->runs[i][0] =
		(struct kar_queue_run){ .class = words_class(s->snapshot.sched, &s->arena, needs, &want),
			.n = n };
	s->groups[i].runs = s->runs[i];
	s->groups[i].n_runs = 1;
	s->groups[i].min = s->groups[i].desired = n;
	return n;
}

static void read_seat(struct scene *s, uint32_t i, const char *node, int32_t n, bool bound)
{
	s->seats[i] = (struct kar_queue_seat){ .node = node, .n = n, .bound = bound };
	s->runs[i][0].seats = &s->seats[i];
	s->runs[i][0].n_seats = 1;
}

static void read_use(struct scene *s, uint32_t i, const char *value)
{
	const char *node = words_part(&s->arena, &value, ":");
	int32_t n = read_needs(s, i, value);

	kar_sched_take(s->snapshot.sched, node, s->runs[i][0].class, n);
	read_seat(s, i, node, n, true);
	s->groups[i].not_evictable = false;
	s->groups[i].phase = KAR_QUEUE_RUNS;
}

static bool read_gang_word(struct scene *s, uint32_t i, const char *word)
{
	struct kar_queue_group *g = &s->groups[i];
	const char *value;

	if (takes(word, "needs=", &value)) {
		read_needs(s, i, value);
	} else if (takes(word, "wants=", &value)) {
		s->runs[i][1] = (struct kar_queue_run){ .class = s->runs[i][0].class, .n = atoi(value) };
		kar_sched_class_ref(s->snapshot.sched, s->runs[i][1].class);
		g->n_runs = 2;
		g->elastic = true;
	} else if (takes(word, "held=", &value)) {
		const char *node = words_part(&s->arena, &value, ":");

		read_seat(s, i, node, atoi(value), false);
	} else if (takes(word, "uses=", &value)) {
		read_use(s, i, value);
	} else if (takes(word, "started=", &value)) {
		g->admitted_at = scene_now - atoi(value) * KAR_MINUTE;
	} else if (takes(word, "evicted-by=", &value)) {
		s->others[i] = value;
		refuse(g, KAR_QR_PREEMPTED, "evicted");
	} else if (takes(word, "lost-to=", &value)) {
		s->others[i] = value;
	} else if (is(word, "protected")) {
		g->not_evictable = true;
	} else if (is(word, "never") || is(word, "failed")) {
		g->never_preempts = true;
	} else if (takes(word, "with=", &value)) {
		s->units[i] = kar_arena_strndup(&s->arena, value, strlen(value));
	} else if (takes(word, "missing=", &value)) {
		g->unit_missing = value;
	} else if (takes(word, "last=", &value)) {
		const char **list = kar_arena_alloc(&s->arena, 1, sizeof(*list));

		*list = value;
		g->last = list;
		g->n_last = 1;
	} else if (is(word, "direct")) {
		g->created_bound = true;
	} else if (is(word, "unverified")) {
		g->unverified = true;
	} else if (takes(word, "required=", &value)) {
		const char **labels = kar_arena_alloc(&s->arena, 1, sizeof(*labels));

		labels[0] = value;
		g->topology = (struct kar_topology_wish){ .labels = labels, .n_labels = 1, .required = 1 };
	} else if (is(word, "grows")) {
		g->provisioned = true;
	} else if (is(word, "asks")) {
		g->asks = true;
	} else {
		return read_state(g, word);
	}
	return true;
}

static void read_part(struct scene *s, char *part)
{
	struct kar_queue_in *q = NULL;
	char *word;
	bool group = false;

	while ((word = strsep(&part, " ")) != NULL) {
		if (!word[0])
			continue;
		if (!q && !group && is(word, "queue")) {
			q = &s->queues[s->snapshot.n_queues++];
			*q = (struct kar_queue_in){ .weight = 1, .reserved_for = KAR_QUEUE_NONE };
			continue;
		}
		if (!q && !group) {
			group = true;
			s->groups[s->n++] = (struct kar_queue_group){ .ns = "ns",
				.creation = scene_now,
				.not_evictable = true,
				.released = true,
				.also_in = KAR_QUEUE_NONE,
				.evicted_by = KAR_QUEUE_NONE,
				.schedule_timeout = KAR_MINUTE };
		}
		if (q)
			read_queue_word(s, q, word);
		else if (!read_gang_word(s, s->n - 1, word))
			read_group_word(s, s->n - 1, word);
	}
}

static uint32_t find_queue(const struct scene *s, const char *name)
{
	for (uint32_t i = 0; i < s->snapshot.n_queues; i++) {
		if (is(s->queues[i].name, name))
			return i;
	}
	return KAR_QUEUE_NONE;
}

static uint32_t find_group(const struct scene *s, const char *name)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (is(s->groups[i].name, name))
			return i;
	}
	return KAR_QUEUE_NONE;
}

static void read_unit(struct scene *s, uint32_t i)
{
	uint32_t *unit = kar_arena_alloc(&s->arena, MAX, sizeof(*unit));
	char *rest = s->units[i], *name;

	s->groups[i].n_unit = 0;
	while ((name = strsep(&rest, ",")) != NULL)
		unit[s->groups[i].n_unit++] = find_group(s, name);
	s->groups[i].unit = unit;
	s->groups[i].no_provisioning = true;
	s->units[i] = NULL;
}

/* Pods of a group that is not admitted stop. */
static void let_go(struct scene *s, uint32_t i)
{
	struct kar_queue_group *g = &s->groups[i];

	if (g->standing == KAR_QUEUE_ADMITTED || !g->n_runs || !s->seats[i].bound)
		return;
	s->leaving[i] = (struct kar_queue_leaving){ s->seats[i].node, s->runs[i][0].class, s->seats[i].n, 0 };
	g->leaving = &s->leaving[i];
	g->n_leaving = 1;
	s->runs[i][0].n_seats = 0;
}

/* What refers to others. */
static void link_group(struct scene *s, uint32_t i)
{
	struct kar_queue_group *g = &s->groups[i];

	if (!g->queue_name)
		g->queue_name = "default";
	g->queue = find_queue(s, g->queue_name);
	if (s->moves[i])
		g->also_in = find_queue(s, s->moves[i]);
	if (s->others[i])
		g->evicted_by = find_group(s, strchr(s->others[i], '/') + 1);
	if (s->units[i])
		read_unit(s, i);
	let_go(s, i);
}

static void add_hidden(struct scene *s)
{
	s->snapshot.n_groups = s->n;
	for (uint32_t i = 0; i < s->n_full; i++)
		s->groups[s->snapshot.n_groups++] = (struct kar_queue_group){ .ns = "ns",
			.name = kar_arena_printf(&s->arena, "hidden%u", i),
			.queue = find_queue(s, s->full[i]),
			.queue_name = s->full[i],
			.standing = KAR_QUEUE_ADMITTED,
			.not_evictable = true,
			.also_in = KAR_QUEUE_NONE,
			.evicted_by = KAR_QUEUE_NONE };
}

/* All that the nodes have: cpu and pods alone are asked for. */
static void read_node(struct scene *s, const char *words)
{
	const char *cpu = strstr(words, "cpu=");

	words_node(s->snapshot.sched, &s->arena, words);
	s->alloc[0] =
		(struct kar_sched_amount){ "cpu", s->alloc[0].amount + (cpu ? atoi(cpu + 4) * 1000 : 0) };
	s->alloc[1] = (struct kar_sched_amount){ "pods", s->alloc[1].amount + 1000 };
	s->snapshot.alloc = (struct kar_queue_amounts){ s->alloc, 2 };
	s->snapshot.no_nodes = false;
}

static void read_budget(struct scene *s, const char *text)
{
	uint32_t i = s->snapshot.n_budgets++;

	s->budget_names[i] = kar_arena_printf(&s->arena, "o/%s", words_part(&s->arena, &text, "="));
	s->budgets[i] = atoi(text);
	s->snapshot.budgets = s->budgets;
	s->snapshot.budget_names = s->budget_names;
}

static void read_other_word(struct scene *s, struct kar_queue_preemptible *e, const char *word)
{
	const char *value;

	if (takes(word, "prio=", &value))
		e->priority = atoi(value);
	else if (takes(word, "kept=", &value))
		e->kept = value;
	else if (is(word, "stops") || is(word, "soon"))
		e->leaving = true;
	else if (is(word, "young"))
		e->young = true;
	else if (!takes(word, "budget=", &value))
		fail_msg("unknown word '%s' about pods of no queue", word);
	else {
		uint32_t *budget = kar_arena_alloc(&s->arena, 1, sizeof(*budget));

		while (*budget < s->snapshot.n_budgets && !is(s->budget_names[*budget] + 2, value))
			++*budget;
		e->budgets = budget;
		e->n_budgets = 1;
	}
	e->soon |= is(word, "soon");
}

/* "x n1:3xcpu=1 prio=-10": the pods are bound. */
static void read_other(struct scene *s, char *text)
{
	const char *name = strsep(&text, " "), *where = strsep(&text, " ");
	struct kar_queue_preemptible e = { .ns = "o", .node = words_part(&s->arena, &where, ":") };
	int32_t want = 0, n = atoi(words_part(&s->arena, &where, "x")), cpu = atoi(strchr(where, '=') + 1);
	char *word;

	e.class = words_class(s->snapshot.sched, &s->arena, where, &want);
	while ((word = strsep(&text, " ")) != NULL)
		read_other_word(s, &e, word);
	kar_sched_take(s->snapshot.sched, e.node, e.class, n);
	for (int32_t i = 0; i < n; i++) {
		e.name = kar_arena_printf(&s->arena, "%s%d", name, (int)i);
		s->others_here[s->snapshot.n_preemptible++] = e;
	}
	s->foreign[0] = (struct kar_sched_amount){ "cpu", s->foreign[0].amount + n * cpu * 1000 };
	s->foreign[1] = (struct kar_sched_amount){ "pods", s->foreign[1].amount + n };
	s->snapshot.foreign = (struct kar_queue_amounts){ s->foreign, 2 };
	s->snapshot.preemptible = s->others_here;
}

static struct scene *new_scene(const char *text)
{
	struct scene *s = kar_xcalloc(1, sizeof(*s));
	char *rest = kar_arena_strndup(&s->arena, text, strlen(text)), *part;

	s->snapshot.queues = s->queues;
	s->snapshot.groups = s->groups;
	s->snapshot.sched = kar_sched_new(NULL);
	s->snapshot.no_nodes = true;
	while ((part = strsep(&rest, ";")) != NULL) {
		part += strspn(part, " ");
		if (strncmp(part, "node ", 5) == 0)
			read_node(s, part + 5);
		else if (strncmp(part, "other ", 6) == 0)
			read_other(s, part + 6);
		else if (strncmp(part, "allows ", 7) == 0)
			read_budget(s, part + 7);
		else
			read_part(s, part);
	}
	return s;
}

static void free_scene(struct scene *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		for (uint32_t k = 0; k < s->groups[i].n_runs; k++)
			kar_sched_class_put(s->snapshot.sched, s->runs[i][k].class);
	}
	kar_sched_free(s->snapshot.sched);
	kar_arena_release(&s->arena);
	free(s);
}

static void plan(struct scene *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		link_group(s, i);
	add_hidden(s);
	s->snapshot.recounts = true;
	kar_queue_plan(&s->snapshot, scene_now, &s->arena, &s->result);
	s->decisions = s->result.groups;
}

struct scene_row {
	const char *name, *scene, *decisions; /* what @print of check_scenes() has to say of the scene */
};

static KAR_UNUSED void check_scenes(const struct scene_row *rows, size_t n,
	void (*print)(const struct scene *s, struct kar_buf *out))
{
	int failed = 0;

	for (size_t i = 0; i < n; i++) {
		struct scene *s = new_scene(rows[i].scene);
		struct kar_buf first = { 0 }, second = { 0 };

		plan(s);
		print(s, &first);
		plan(s); /* a pass leaves no trace in the snapshot */
		print(s, &second);
		if (strcmp(kar_buf_cstr(&first), rows[i].decisions) != 0 ||
			strcmp(kar_buf_cstr(&first), kar_buf_cstr(&second)) != 0) {
			print_error("%s:\n  want  %s\n  got   %s\n  again %s\n", rows[i].name,
				rows[i].decisions, kar_buf_cstr(&first), kar_buf_cstr(&second));
			failed++;
		}
		kar_buf_release(&first);
		kar_buf_release(&second);
		free_scene(s);
	}
	assert_int_equal(failed, 0);
}

#endif
