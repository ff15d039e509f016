/*
 * queue_scene - a snapshot of queues and groups in words, for the pass over them. For one test executable: all functions are
 * static. Include after cmocka.h.
 *
 * A scene is a list of parts separated by ';': queues (`queue a max=2 strict closed deleting bad-selector ignores=drain`) and groups
 * (`g1 a prio=5 asks=9 age=3 since=1 admitted does=Running still-in=b not-allowed empty finished idle phase=Running`). age and since (when it began to wait anew) are in
 * minutes; the older goes first. empty: it has had no members for too long.
 *
 * With nodes (`node n1 cpu=4`, in the words of sched_words.h) groups may have pods that are placed: needs=3xcpu=1 (a waiting group must start
 * with them, an admitted one lacks them) wants=2 (more) held=n1:2 (what its plan holds, of the same pods) retry deactivated; grows (it was
 * admitted without room). uses=n1:2xcpu=1: what its pods have, if it may be evicted; protected: it may not; started=5 (minutes ago) evicted-by=ns/g1
 * never (its PriorityClass does not preempt). with=g2,g3: the groups with which it starts; missing=ns/x: one that does not exist; others: its pods are of another controller.
 */
#ifndef KAR_TEST_QUEUE_SCENE_H
#define KAR_TEST_QUEUE_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controllers/queue/queue.h"
#include "test/unit/sched_words.h"

enum { MAX = 128 };

static const kar_time now = 1795268787123;

struct scene {
	struct kar_arena arena;
	struct kar_queue queues[MAX];
	struct kar_podgroup groups[MAX];
	const struct kar_queue *queue_list[MAX];
	struct queue_group group_list[MAX];
	struct queue_snapshot snapshot;
	struct queue_decision decisions[MAX];
	struct queue_gang gangs[MAX];
	struct kar_role roles[MAX];
	struct queue_seat seats[MAX], used[MAX];
	char *units[MAX]; /* names of the others, separated by commas; NULL: none */
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

static void set_state(struct kar_queue *q, const char *name)
{
	q->spec.state_text = name;
	q->spec.state = is(name, "Open") ? KAR_QUEUE_STATE_OPEN
		: is(name, "Closed")     ? KAR_QUEUE_STATE_CLOSED
					 : KAR_QUEUE_STATE_UNKNOWN;
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
		set_state(q, value);
	else if (takes(word, "ignores=", &value))
		q->spec.unsupported = value;
	else if (is(word, "bad-selector"))
		q->spec.namespaces_problem = "an expression has no key";
	else if (is(word, "provisions"))
		q->spec.provisions = true;
	else if (is(word, "preempts"))
		q->spec.preempts = true;
	else if (is(word, "strict"))
		q->spec.queueing_strategy = "StrictFIFO";
	else if (is(word, "closed"))
		set_state(q, "Closed");
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
		qg->priority = qg->asked = atoi(value);
	else if (takes(word, "asks=", &value))
		qg->asked = atoi(value);
	else if (takes(word, "since=", &value))
		g->status.waiting_since = now - atoi(value) * KAR_MINUTE;
	else if (takes(word, "still-in=", &value))
		qg->still_in = value;
	else if (is(word, "empty"))
		qg->yields = true;
	else if (takes(word, "age=", &value))
		g->creation = now - atoi(value) * KAR_MINUTE;
	else if (takes(word, "phase=", &value))
		g->status.phase = kar_pg_phase_parse(value);
	else if (is(word, "admitted"))
		qg->admitted = true;
	else if (takes(word, "does=", &value))
		qg->state = value;
	else if (is(word, "finished"))
		qg->claim = QUEUE_CLAIM_FINISHED;
	else if (is(word, "not-allowed"))
		qg->not_allowed = true;
	else if (is(word, "idle"))
		qg->claim = QUEUE_CLAIM_SUSPENDED;
	else if (!g->spec.queue)
		g->spec.queue = word;
	else
		fail_msg("unknown word '%s' about a group", word);
}

/* "3xcpu=1" */
static void read_needs(struct scene *s, size_t i, const char *value)
{
	static const char *const names[] = { "w" };
	int32_t want = 0;

	s->roles[i].need = atoi(words_part(&s->arena, &value, "x"));
	s->roles[i].class = words_class(s->snapshot.sched, &s->arena, value, &want);
	s->gangs[i].gang = (struct kar_gang){ .roles = &s->roles[i], .n_roles = 1 };
	s->gangs[i].names = names;
	s->group_list[i].gang = &s->gangs[i];
}

static bool read_gang_word(struct scene *s, size_t i, const char *word)
{
	struct kar_pg_placement *p = &s->groups[i].status.placement;
	const char *value;

	if (takes(word, "needs=", &value)) {
		read_needs(s, i, value);
	} else if (takes(word, "wants=", &value)) {
		s->roles[i].want = atoi(value);
	} else if (takes(word, "held=", &value)) {
		s->seats[i] = (struct queue_seat){ .node = words_part(&s->arena, &value, ":"),
			.class = s->roles[i].class,
			.n = atoi(value) };
		s->gangs[i].held = &s->seats[i];
		s->gangs[i].n_held = 1;
		s->gangs[i].gang.n_roles = 0;
	} else if (is(word, "retry")) {
		s->gangs[i].retry_in = 5000;
		*p = (struct kar_pg_placement){ .attempt = 2, .cause = "x", .retry_after = now + 5000 };
	} else if (is(word, "deactivated")) {
		s->gangs[i].deactivated = true;
		*p = (struct kar_pg_placement){ .failures = 20, .cause = "x" };
	} else if (is(word, "rolled-back")) {
		*p = (struct kar_pg_placement){ .state = KAR_PG_STATE_ROLLING_BACK,
			.attempt = 2,
			.cause = "x" };
	} else if (takes(word, "uses=", &value)) {
		int32_t none = 0;

		s->used[i].node = words_part(&s->arena, &value, ":");
		s->used[i].n = atoi(words_part(&s->arena, &value, "x"));
		s->used[i].class = s->roles[i].class =
			words_class(s->snapshot.sched, &s->arena, value, &none);
		kar_sched_take(s->snapshot.sched, s->used[i].node, s->used[i].class, s->used[i].n);
		s->group_list[i].used = &s->used[i];
		s->group_list[i].n_used = 1;
	} else if (takes(word, "started=", &value)) {
		s->group_list[i].started = now - atoi(value) * KAR_MINUTE;
	} else if (takes(word, "evicted-by=", &value)) {
		*p = (struct kar_pg_placement){ .state = KAR_PG_STATE_ROLLING_BACK,
			.cause = "evicted",
			.evicted_by = value };
	} else if (is(word, "failed")) {
		p->failures = 1;
	} else if (takes(word, "lost-to=", &value)) {
		p->evicted_by = value;
	} else if (is(word, "protected")) {
		s->group_list[i].used = NULL;
	} else if (is(word, "never")) {
		s->group_list[i].never_preempts = true;
	} else if (takes(word, "with=", &value)) {
		s->units[i] = kar_arena_strndup(&s->arena, value, strlen(value));
	} else if (takes(word, "missing=", &value)) {
		s->group_list[i].missing = value;
		s->group_list[i].unit = kar_arena_alloc(&s->arena, 1, sizeof(struct kar_podgroup *));
	} else if (is(word, "others")) {
		s->groups[i].owner_is_queuejob = false;
	} else if (is(word, "grows")) {
		*p = (struct kar_pg_placement){ .state = KAR_PG_STATE_UNPLACED, .deadline = now };
	} else {
		return false;
	}
	return true;
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
			set_state(q, "Open");
			s->queue_list[s->snapshot.n_queues++] = q;
			continue;
		}
		if (!q && !g) {
			g = &s->groups[s->snapshot.n_groups];
			g->o.ns = "ns";
			g->creation = now;
			g->owner_uid = "uid-of-job";
			g->owner_is_queuejob = true;
			s->group_list[s->snapshot.n_groups++] =
				(struct queue_group){ .group = g, .claim = QUEUE_CLAIM_ALIVE };
		}
		if (q)
			read_queue_word(q, word);
		else if (!read_gang_word(s, s->snapshot.n_groups - 1, word))
			read_group_word(g, &s->group_list[s->snapshot.n_groups - 1], word);
	}
	if (g)
		s->group_list[s->snapshot.n_groups - 1].queue = kar_podgroup_queue(g);
}

/* Its unit as controllers/unit.c would make it: the words name all of it, and what has started is not in it. */
static void read_unit(struct scene *s, size_t i)
{
	const struct kar_podgroup **unit = kar_arena_alloc(&s->arena, MAX, sizeof(*unit));
	struct queue_group *qg = &s->group_list[i];
	char *name;

	unit[qg->n_unit++] = &s->groups[i];
	while ((name = strsep(&s->units[i], ",")) != NULL) {
		for (size_t k = 0; k < s->snapshot.n_groups; k++) {
			if (is(s->groups[k].o.name, name))
				unit[qg->n_unit++] = &s->groups[k];
		}
	}
	qg->unit = unit;
}

static struct scene *new_scene(const char *text)
{
	struct scene *s = kar_xcalloc(1, sizeof(*s));
	char *rest = kar_arena_strndup(&s->arena, text, strlen(text)), *part;

	s->snapshot.queues = s->queue_list;
	s->snapshot.groups = s->group_list;
	s->snapshot.sched = kar_sched_new();
	while ((part = strsep(&rest, ";")) != NULL) {
		part += strspn(part, " ");
		if (strncmp(part, "node ", 5) == 0)
			words_node(s->snapshot.sched, &s->arena, part + 5);
		else
			read_part(s, part);
	}
	for (size_t k = 0; k < s->snapshot.n_groups; k++) {
		if (s->units[k])
			read_unit(s, k);
	}
	return s;
}

static void free_scene(struct scene *s)
{
	for (size_t i = 0; i < s->snapshot.n_groups; i++) {
		if (s->roles[i].class)
			kar_sched_class_put(s->snapshot.sched, s->roles[i].class);
	}
	kar_sched_free(s->snapshot.sched);
	kar_arena_release(&s->arena);
	free(s);
}

static void plan(struct scene *s)
{
	queue_plan(&s->snapshot, &s->arena, s->decisions);
}

#endif
