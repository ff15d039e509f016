#include "controllers/queue/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/keep.h"
#include "api/names.h"
#include "api/reasons.h"

/* One group in line. */
struct entry {
	const struct queue_group *g;
	struct queue_decision *d;
	const char *queue;
};

/* All groups of one queue whose work is not over, in order. */
struct line {
	const struct kar_queue *queue; /* NULL: there is none of this name */
	const char *name;
	struct entry *entries;
	size_t n;
	int32_t jobs;             /* admitted and alive */
	const struct entry *head; /* the first that could not be admitted */
};

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static const char *queue_name(const struct kar_podgroup *g)
{
	return kar_has_text(g->spec.queue) ? g->spec.queue : KAR_DEFAULT_QUEUE;
}

const char *queue_reason_name(enum queue_reason r)
{
	static const char *const names[] = {
		[QUEUE_ADMITTED] = kar_reason_Admitted,
		[QUEUE_NOT_FOUND] = kar_reason_QueueNotFound,
		[QUEUE_CLOSED] = kar_reason_QueueClosed,
		[QUEUE_MAX_JOBS] = kar_reason_QueueCapability,
		[QUEUE_BEHIND_HEAD] = kar_reason_HeadReserved,
		[QUEUE_NOT_WAITING] = kar_reason_Suspended, /* the one case of it that is written */
		[QUEUE_JOB_INVALID] = kar_reason_JobInvalid,
	};

	return names[r];
}

int queue_group_compare(const void *a, const void *b)
{
	const struct queue_group *x = a, *y = b;
	const struct kar_object *o = &x->group->o, *p = &y->group->o;
	int order = compare(y->priority, x->priority);

	if (!order)
		order = compare(x->group->creation, y->group->creation);
	if (!order)
		order = strcmp(o->ns ? o->ns : "", p->ns ? p->ns : "");
	return order ? order : strcmp(o->name, p->name);
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->queue, y->queue);

	return order ? order : queue_group_compare(x->g, y->g);
}

static int compare_queues(const void *a, const void *b)
{
	const struct kar_queue *const *x = a, *const *y = b;

	return strcmp((*x)->o.name, (*y)->o.name);
}

static const struct kar_queue **sort_queues(const struct queue_snapshot *s, struct kar_arena *arena)
{
	const struct kar_queue **sorted = kar_arena_alloc(arena, s->n_queues, sizeof(struct kar_queue *));

	for (size_t i = 0; i < s->n_queues; i++)
		sorted[i] = s->queues[i];
	qsort(sorted, s->n_queues, sizeof(struct kar_queue *), compare_queues);
	return sorted;
}

/* Place of the queue @name in the sorted list, or @n. */
static size_t find_queue(const struct kar_queue *const *sorted, size_t n, const char *name)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(sorted[middle]->o.name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && kar_same(sorted[low]->o.name, name) ? low : n;
}

static bool is_open(const struct kar_queue *q)
{
	return !q->deletion && (!q->spec.state || kar_same(q->spec.state, "Open"));
}

/* Admits @e if nothing speaks against it. */
static enum queue_reason judge(struct line *l, const struct entry *e)
{
	if (e->g->claim != QUEUE_CLAIM_ALIVE)
		return e->g->claim == QUEUE_CLAIM_INVALID ? QUEUE_JOB_INVALID : QUEUE_NOT_WAITING;
	if (e->g->admitted)
		return QUEUE_ADMITTED; /* whatever became of the queue since */
	if (!l->queue)
		return QUEUE_NOT_FOUND;
	if (!is_open(l->queue))
		return QUEUE_CLOSED;
	if (l->head && kar_same(l->queue->spec.queueing_strategy, "StrictFIFO"))
		return QUEUE_BEHIND_HEAD;
	if (l->queue->spec.has_max_jobs && l->jobs >= l->queue->spec.max_jobs) {
		if (!l->head)
			l->head = e;
		return QUEUE_MAX_JOBS;
	}
	l->jobs++;
	return QUEUE_ADMITTED;
}

static const char *ordinal(int32_t n)
{
	static const char *const suffixes[] = { "th", "st", "nd", "rd" };

	return n % 10 > 3 || n % 100 / 10 == 1 ? "th" : suffixes[n % 10];
}

static const char *why(const struct line *l, enum queue_reason reason, struct kar_arena *a)
{
	switch (reason) {
	case QUEUE_NOT_FOUND:
		return "there is no such queue";
	case QUEUE_CLOSED:
		return "the queue is closed";
	case QUEUE_MAX_JOBS:
		assert(l->queue);
		return kar_arena_printf(a, "maxJobs %d reached", l->queue->spec.max_jobs);
	default:
		assert(l->head);
		return kar_arena_printf(a, "StrictFIFO, %s/%s goes first", l->head->g->group->o.ns,
			l->head->g->group->o.name);
	}
}

static bool waits(const struct entry *e)
{
	return e->d->reason != QUEUE_ADMITTED && e->g->claim == QUEUE_CLAIM_ALIVE;
}

static const char *explain(const struct line *l, const struct entry *e, struct kar_arena *a)
{
	if (e->d->reason == QUEUE_ADMITTED)
		return kar_arena_printf(a, "admitted by queue %s", l->name);
	if (e->d->reason == QUEUE_NOT_WAITING)
		return "the job is suspended";
	if (e->d->reason == QUEUE_JOB_INVALID)
		return "the job is invalid: see its condition Invalid";
	return kar_arena_printf(a, "%d%s of %d in queue %s: %s", e->d->position, ordinal(e->d->position),
		e->d->waiting, l->name, why(l, e->d->reason, a));
}

static void decide_line(struct line *l, struct kar_arena *arena)
{
	int32_t waiting = 0;

	for (size_t i = 0; i < l->n; i++)
		l->jobs += l->entries[i].g->admitted && l->entries[i].g->claim == QUEUE_CLAIM_ALIVE;
	for (size_t i = 0; i < l->n; i++) {
		struct entry *e = &l->entries[i];

		*e->d = (struct queue_decision){ .reason = judge(l, e) };
		if (waits(e))
			e->d->position = ++waiting;
	}
	for (size_t i = 0; i < l->n; i++) {
		l->entries[i].d->waiting = waiting;
		l->entries[i].d->message = explain(l, &l->entries[i], arena);
	}
}

void queue_plan(const struct queue_snapshot *s, struct kar_arena *arena, struct queue_decision *out)
{
	const struct kar_queue **queues = sort_queues(s, arena);
	struct entry *entries = kar_arena_alloc(arena, s->n_groups, sizeof(*entries));
	size_t n = 0;

	for (size_t i = 0; i < s->n_groups; i++) {
		out[i] = (struct queue_decision){ .reason = QUEUE_NOT_WAITING };
		if (s->groups[i].claim != QUEUE_CLAIM_FINISHED)
			entries[n++] =
				(struct entry){ &s->groups[i], &out[i], queue_name(s->groups[i].group) };
	}
	qsort(entries, n, sizeof(*entries), compare_entries);
	for (size_t first = 0, next; first < n; first = next) {
		struct line l = { .name = entries[first].queue, .entries = &entries[first] };
		size_t at = find_queue(queues, s->n_queues, l.name);

		for (next = first; next < n && kar_same(entries[next].queue, l.name); next++)
			l.n++;
		if (at < s->n_queues)
			l.queue = queues[at];
		decide_line(&l, arena);
	}
}

static void count(struct kar_queue_status *s, const struct queue_group *g, const struct queue_decision *d)
{
	const char *phase = g->group->status.phase;

	if (g->claim == QUEUE_CLAIM_FINISHED)
		s->completed++;
	else if (g->claim != QUEUE_CLAIM_ALIVE)
		return;
	else if (d->reason != QUEUE_ADMITTED)
		s->pending++;
	else if (kar_same(phase, "Running"))
		s->running++;
	else if (kar_same(phase, "Unknown"))
		s->unknown++;
	else
		s->inqueue++;
}

static const char *state_of(const struct kar_queue *q, const struct kar_queue_status *counts)
{
	if (is_open(q))
		return "Open";
	if (!q->deletion && !kar_same(q->spec.state, "Closed"))
		return "Unknown";
	return counts->inqueue + counts->running + counts->unknown > 0 ? "Closing" : "Closed";
}

/* The status of one queue in the making. */
struct update {
	const struct kar_queue *q;
	struct kar_queue_status *status;
	kar_time now;
	struct kar_arena *arena;
};

static void set_condition(const struct update *u, const char *type, bool status, const char *reason,
	const char *message)
{
	const struct kar_condition c = {
		.type = type,
		.status = status ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = u->q->generation,
		.reason = reason,
		.message = message,
	};

	kar_condition_set(&u->status->conditions, &c, u->now, u->arena);
}

static void set_valid(const struct update *u)
{
	const struct kar_queue_spec *spec = &u->q->spec;
	const char *strategy = spec->queueing_strategy;

	if (kar_same(u->status->state, "Unknown"))
		set_condition(u, "Valid", false, "UnknownState",
			kar_arena_printf(u->arena, "spec.state %s is neither Open nor Closed", spec->state));
	else if (strategy && !kar_same(strategy, "StrictFIFO") && !kar_same(strategy, "BestEffortFIFO"))
		set_condition(u, "Valid", false, "UnknownQueueingStrategy",
			kar_arena_printf(u->arena, "spec.queueingStrategy %s works as BestEffortFIFO",
				strategy));
	else
		set_condition(u, "Valid", true, "Valid", "");
}

static void finish_status(const struct update *u)
{
	bool open = is_open(u->q);

	u->status->state = state_of(u->q, u->status);
	u->status->conditions = kar_conditions_copy(&u->q->status.conditions, u->arena);
	set_valid(u);
	set_condition(u, "Active", open, u->status->state, open ? "admits jobs" : "admits no further job");
}

void queue_statuses(const struct queue_snapshot *s, const struct queue_decision *decisions, kar_time now,
	struct kar_arena *arena, struct kar_queue_status *out)
{
	const struct kar_queue **sorted = sort_queues(s, arena);
	struct kar_queue_status *counts = kar_arena_alloc(arena, s->n_queues, sizeof(*counts));

	for (size_t i = 0; i < s->n_groups; i++) {
		size_t at = find_queue(sorted, s->n_queues, queue_name(s->groups[i].group));

		if (at < s->n_queues)
			count(&counts[at], &s->groups[i], &decisions[i]);
	}
	for (size_t i = 0; i < s->n_queues; i++) {
		out[i] = counts[find_queue(sorted, s->n_queues, s->queues[i]->o.name)];
		finish_status(&(struct update){ s->queues[i], &out[i], now, arena });
	}
}
