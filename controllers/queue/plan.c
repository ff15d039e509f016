#include "controllers/queue/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/text.h"
#include "api/names.h"
#include "api/reasons.h"

#define RUNNING "Running"
enum { HOLDERS_NAMED = 3 };

/* One group, its decision, and the queue that it asks for. */
struct entry {
	const struct queue_group *g;
	struct queue_decision *d;
	const char *queue;
};

/* The groups that ask for one queue and have not finished, in order. */
struct wait_queue {
	const struct kar_queue *queue; /* NULL: there is no queue of this name */
	const char *name;
	struct entry *entries;
	size_t n;
	int32_t jobs; /* groups that are admitted and alive */
	const struct entry
		*head; /* the first group that could not be admitted because the queue is full; NULL: none */
	const char *holders; /* " (default/a1 Running)": who is admitted; "": nobody; NULL: not needed yet */
};

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

const char *queue_reason_name(enum queue_reason r)
{
	static const char *const names[] = {
		[QUEUE_ADMITTED] = kar_reason_Admitted,
		[QUEUE_NOT_FOUND] = kar_reason_QueueNotFound,
		[QUEUE_INVALID] = kar_reason_QueueInvalid,
		[QUEUE_CLOSED] = kar_reason_QueueClosed,
		[QUEUE_MAX_JOBS] = kar_reason_MaxJobsReached,
		[QUEUE_BEHIND_HEAD] = kar_reason_BehindHead,
		[QUEUE_NOT_WAITING] =
			kar_reason_Suspended, /* of these groups only suspended ones are written */
		[QUEUE_JOB_INVALID] = kar_reason_JobInvalid,
	};

	return names[r];
}

/* Groups of one priority are ordered by this time. */
static kar_time waiting_since(const struct kar_podgroup *g)
{
	return g->status.waiting_since ? g->status.waiting_since : g->creation;
}

static kar_time later(kar_time a, kar_time b)
{
	return a > b ? a : b;
}

kar_time queue_empty_for_too_long_in(const struct kar_podgroup *g, size_t members, kar_time now)
{
	const struct kar_condition *admitted = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	const struct kar_condition *scheduled = kar_condition_find(&g->status.conditions, KAR_PG_SCHEDULED);
	kar_time since = later(g->creation, g->status.schedule_start_time);

	if (members || g->status.members)
		return KAR_NEVER;
	if (scheduled) /* it may be the time when the last bound member vanished */
		since = later(since, scheduled->last_transition);
	if (g->orphan)
		return since + QUEUE_ORPHAN_HOLD - now;
	if (admitted)
		since = later(since, admitted->last_transition);
	return since + QUEUE_EMPTY_HOLD - now;
}

int queue_group_compare(const void *a, const void *b)
{
	const struct queue_group *x = a, *y = b;
	const struct kar_object *o = &x->group->o, *p = &y->group->o;
	int order = compare(x->yields, y->yields);

	if (!order)
		order = compare(y->priority, x->priority);
	if (!order)
		order = compare(waiting_since(x->group), waiting_since(y->group));
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

/* Index of the queue @name in the sorted list, or @n. */
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
	return low < n && kar_streq(sorted[low]->o.name, name) ? low : n;
}

static bool is_open(const struct kar_queue *q)
{
	return !q->deletion && q->spec.state == KAR_QUEUE_STATE_OPEN;
}

static bool admits_any(const struct kar_queue *q)
{
	return is_open(q) && !q->spec.has_namespace_selector;
}

static bool is_full(const struct wait_queue *w)
{
	return w->queue->spec.has_max_jobs && w->jobs >= w->queue->spec.max_jobs;
}

/* An admitted group stays admitted, even if its queue has changed since, unless it yields and other groups fill the queue. */
static bool stays_admitted(struct wait_queue *w, const struct queue_group *g)
{
	if (!g->admitted || !g->yields)
		return g->admitted;
	if (w->queue && admits_any(w->queue) && is_full(w))
		return false;
	w->jobs++;
	return true;
}

/* Admits @e, or returns why not. */
static enum queue_reason try_to_admit(struct wait_queue *w, const struct entry *e)
{
	if (e->g->claim != QUEUE_CLAIM_ALIVE)
		return e->g->claim == QUEUE_CLAIM_INVALID ? QUEUE_JOB_INVALID : QUEUE_NOT_WAITING;
	if (stays_admitted(w, e->g))
		return QUEUE_ADMITTED;
	if (!w->queue)
		return QUEUE_NOT_FOUND;
	if (w->queue->o.unreadable || w->queue->spec.has_namespace_selector)
		return QUEUE_INVALID;
	if (!is_open(w->queue))
		return QUEUE_CLOSED;
	if (w->head && kar_streq(w->queue->spec.queueing_strategy, "StrictFIFO"))
		return QUEUE_BEHIND_HEAD;
	if (is_full(w)) {
		if (!w->head)
			w->head = e;
		return QUEUE_MAX_JOBS;
	}
	w->jobs++;
	return QUEUE_ADMITTED;
}

static const char *ordinal(int32_t n)
{
	static const char *const suffixes[] = { "th", "st", "nd", "rd" };

	return n % 10 > 3 || n % 100 / 10 == 1 ? "th" : suffixes[n % 10];
}

static bool runs(const struct entry *e)
{
	return kar_streq(e->g->state, RUNNING);
}

/* Those that do not run are named first, because they may be why no room comes free. The order is that of the queue. */
static const char *name_holders(const struct wait_queue *w, struct kar_arena *a)
{
	const char *text = "";
	int32_t named = 0;

	for (size_t i = 0; i < 2 * w->n && named < HOLDERS_NAMED; i++) {
		bool second = i >= w->n;
		const struct entry *e = &w->entries[second ? i - w->n : i];

		if (e->d->reason != QUEUE_ADMITTED || runs(e) != second)
			continue;
		text = kar_arena_printf(a, "%s%s%s/%s %s", text, named++ ? ", " : " (", e->g->group->o.ns,
			e->g->group->o.name, kar_has_text(e->g->state) ? e->g->state : "Pending");
	}
	if (!named)
		return "";
	return w->jobs > named ? kar_arena_printf(a, "%s, and %d more)", text, (int)(w->jobs - named))
			       : kar_arena_printf(a, "%s)", text);
}

static const char *holders(struct wait_queue *w, const struct queue_decision *d, struct kar_arena *a)
{
	if (!d->position || d->position > QUEUE_NAMING)
		return "";
	if (!w->holders)
		w->holders = name_holders(w, a);
	return w->holders;
}

/* If the group has no position, the text must not change whenever a group ahead moves. */
static const char *why(struct wait_queue *w, const struct queue_decision *d, struct kar_arena *a)
{
	switch (d->reason) {
	case QUEUE_INVALID:
		assert(w->queue);
		if (w->queue->o.unreadable)
			return "the queue has a field that kar-controllers cannot read, and admits nothing until that is corrected (see the events of the queue)";
		return "it has a namespaceSelector, which kar-controllers does not act on yet, and admits nothing until it is removed";
	case QUEUE_CLOSED:
		return "the queue is closed";
	case QUEUE_MAX_JOBS:
		assert(w->queue);
		return kar_arena_printf(a, "maxJobs %d reached%s", w->queue->spec.max_jobs, holders(w, d, a));
	default:
		assert(w->head);
		if (!d->position)
			return "StrictFIFO, others go first";
		return kar_arena_printf(a, "StrictFIFO, %s/%s goes first", w->head->g->group->o.ns,
			w->head->g->group->o.name);
	}
}

static bool waits(const struct entry *e)
{
	return e->d->reason != QUEUE_ADMITTED && e->g->claim == QUEUE_CLAIM_ALIVE;
}

static const char *explain_wait(struct wait_queue *w, const struct queue_decision *d, struct kar_arena *a)
{
	if (d->reason == QUEUE_NOT_FOUND)
		return kar_arena_printf(a,
			"queue \"%s\" does not exist; the job starts when somebody creates it", w->name);
	if (!d->position)
		return kar_arena_printf(a, "%d or more are ahead in queue %s: %s", QUEUE_POSITIONS, w->name,
			why(w, d, a));
	return kar_arena_printf(a, "%d%s of %d in queue %s: %s", d->position, ordinal(d->position),
		d->waiting, w->name, why(w, d, a));
}

static const char *explain(struct wait_queue *w, const struct entry *e, struct kar_arena *a)
{
	const char *text;

	if (e->d->reason == QUEUE_NOT_WAITING)
		return "the job is suspended";
	if (e->d->reason == QUEUE_JOB_INVALID)
		return KAR_NOT_QUEUED_INVALID;
	text = e->d->reason == QUEUE_ADMITTED ? kar_arena_printf(a, "admitted by queue %s", w->name)
					      : explain_wait(w, e->d, a);
	if (e->g->asked > e->g->priority)
		text = kar_arena_printf(a, "%s; " KAR_QUEUE_CLAMPED, text, e->g->asked, e->g->priority);
	return kar_text_fit(a, text,
		KAR_MAX_MESSAGE_BYTES); /* as it is stored, or it would be written again and again */
}

/* The number of live groups that ask for another queue while the admission by @queue is still recorded. */
static int32_t count_leaving(const struct queue_snapshot *s, const char *queue)
{
	int32_t n = 0;

	for (size_t i = 0; i < s->n_groups; i++)
		n += s->groups[i].claim == QUEUE_CLAIM_ALIVE && kar_streq(s->groups[i].still_in, queue);
	return n;
}

static void decide_queue(struct wait_queue *w, struct kar_arena *arena)
{
	int32_t waiting = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct queue_group *g = w->entries[i].g;

		w->jobs += g->admitted && !g->yields && g->claim == QUEUE_CLAIM_ALIVE;
	}
	for (size_t i = 0; i < w->n; i++) {
		struct entry *e = &w->entries[i];

		*e->d = (struct queue_decision){ .reason = try_to_admit(w, e) };
		if (waits(e) && ++waiting <= QUEUE_POSITIONS && w->queue)
			e->d->position = waiting;
	}
	for (size_t i = 0; i < w->n; i++) {
		w->entries[i].d->waiting = waiting;
		w->entries[i].d->message = explain(w, &w->entries[i], arena);
	}
}

void queue_plan(const struct queue_snapshot *s, struct kar_arena *arena, struct queue_decision *out)
{
	const struct kar_queue **queues = sort_queues(s, arena);
	struct entry *entries = kar_arena_alloc(arena, s->n_groups, sizeof(*entries));
	size_t n = 0;
	bool moved = false;

	for (size_t i = 0; i < s->n_groups; i++) {
		moved |= s->groups[i].still_in != NULL;
		out[i] = (struct queue_decision){ .reason = QUEUE_NOT_WAITING };
		if (s->groups[i].claim != QUEUE_CLAIM_FINISHED)
			entries[n++] = (struct entry){ &s->groups[i], &out[i],
				kar_podgroup_queue(s->groups[i].group) };
	}
	qsort(entries, n, sizeof(*entries), compare_entries);
	for (size_t first = 0, next; first < n; first = next) {
		struct wait_queue w = { .name = entries[first].queue, .entries = &entries[first] };
		size_t at = find_queue(queues, s->n_queues, w.name);

		for (next = first; next < n && kar_streq(entries[next].queue, w.name); next++)
			w.n++;
		if (at < s->n_queues)
			w.queue = queues[at];
		if (moved && w.queue && w.queue->spec.has_max_jobs)
			w.jobs = count_leaving(s, w.name);
		decide_queue(&w, arena);
	}
}

static void count(struct kar_queue_status *s, const struct queue_group *g, const struct queue_decision *d)
{
	enum kar_pg_phase phase = g->group->status.phase;

	if (g->claim == QUEUE_CLAIM_FINISHED)
		s->completed++;
	else if (g->claim != QUEUE_CLAIM_ALIVE)
		return;
	else if (d->reason != QUEUE_ADMITTED)
		s->pending++;
	else if (phase == KAR_PG_PHASE_RUNNING)
		s->running++;
	else if (phase == KAR_PG_PHASE_UNKNOWN)
		s->unknown++;
	else
		s->inqueue++;
}

static enum kar_queue_state state_of(const struct kar_queue *q, const struct kar_queue_status *counts)
{
	if (is_open(q))
		return KAR_QUEUE_STATE_OPEN;
	if (!q->deletion && q->spec.state != KAR_QUEUE_STATE_CLOSED)
		return KAR_QUEUE_STATE_UNKNOWN;
	return counts->inqueue + counts->running + counts->unknown > 0 ? KAR_QUEUE_STATE_CLOSING
								       : KAR_QUEUE_STATE_CLOSED;
}

/* The new status of one queue, and what it is made from. */
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

/* The spec sets fields that have no effect yet. */
static void set_unsupported(const struct update *u)
{
	const struct kar_queue_spec *spec = &u->q->spec;

	set_condition(u, "Valid", false, "Unsupported",
		kar_arena_printf(u->arena, "kar-controllers does not act on %s yet: %s", spec->unsupported,
			spec->has_namespace_selector
				? "until spec.namespaceSelector is removed, no job is admitted"
				: "jobs are admitted without regard to it"));
}

static void set_valid(const struct update *u)
{
	const struct kar_queue_spec *spec = &u->q->spec;
	const char *strategy = spec->queueing_strategy;

	if (u->status->state == KAR_QUEUE_STATE_UNKNOWN)
		set_condition(u, "Valid", false, "UnknownState",
			kar_arena_printf(u->arena, "spec.state %s is neither Open nor Closed",
				spec->state_text));
	else if (strategy && !kar_streq(strategy, "StrictFIFO") && !kar_streq(strategy, "BestEffortFIFO"))
		set_condition(u, "Valid", false, "UnknownQueueingStrategy",
			kar_arena_printf(u->arena, "unknown spec.queueingStrategy %s; using BestEffortFIFO",
				strategy));
	else if (kar_has_text(spec->unsupported))
		set_unsupported(u);
	else
		set_condition(u, "Valid", true, "Valid", "the spec is valid");
}

static void set_active(const struct update *u)
{
	bool open = is_open(u->q);

	if (open && u->q->spec.has_namespace_selector)
		set_condition(u, "Active", false, "Unsupported",
			"admits no job until spec.namespaceSelector is removed");
	else
		set_condition(u, "Active", open, kar_queue_state_name(u->status->state),
			open ? "admits jobs" : "admits no further job");
}

static void finish_status(const struct update *u)
{
	u->status->state = state_of(u->q, u->status);
	u->status->conditions = kar_conditions_copy(&u->q->status.conditions, u->arena);
	set_valid(u);
	set_active(u);
}

void queue_statuses(const struct queue_snapshot *s, const struct queue_decision *decisions, kar_time now,
	struct kar_arena *arena, struct kar_queue_status *out)
{
	const struct kar_queue **sorted = sort_queues(s, arena);
	struct kar_queue_status *counts = kar_arena_alloc(arena, s->n_queues, sizeof(*counts));

	for (size_t i = 0; i < s->n_groups; i++) {
		size_t at = find_queue(sorted, s->n_queues, kar_podgroup_queue(s->groups[i].group));

		if (at < s->n_queues)
			count(&counts[at], &s->groups[i], &decisions[i]);
	}
	for (size_t i = 0; i < s->n_queues; i++) {
		out[i] = counts[find_queue(sorted, s->n_queues, s->queues[i]->o.name)];
		finish_status(&(struct update){ s->queues[i], &out[i], now, arena });
	}
}
