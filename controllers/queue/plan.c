#include "controllers/queue/fit.h"
#include "controllers/queue/lookup.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/text.h"
#include "common/timefmt.h"
#include "api/names.h"
#include "api/reasons.h"

#define RUNNING "Running"
enum { HOLDERS_NAMED = 3 };

/* One group, its decision, and the queue that it asks for. */
struct entry {
	const struct queue_group *g;
	struct queue_decision *d;
	const char *queue;
	struct wait_queue *w;
};

/* The groups that ask for one queue and have not finished, in order. */
struct wait_queue {
	const struct kar_queue *queue; /* NULL: there is no queue of this name */
	const char *name;
	struct entry *entries;
	size_t n;
	int32_t jobs;    /* groups that are admitted and alive */
	int32_t waiting; /* groups so far that wait */
	const struct entry
		*head; /* the first group that could not be admitted because there is no room; NULL: none */
	const struct entry *grows; /* the group for which nodes are to be added; NULL: none */
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
		[QUEUE_UNSUPPORTED] = kar_reason_Unsupported,
		[QUEUE_BACK_OFF] = kar_reason_BackOff,
		[QUEUE_DEACTIVATED] = kar_reason_Deactivated,
		[QUEUE_NO_FIT] = kar_reason_NoFit,
		[QUEUE_INFEASIBLE] = kar_reason_Infeasible,
		[QUEUE_PROVISIONING] = kar_reason_Provisioning,
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

static bool admits_any(const struct kar_queue *q)
{
	return queue_is_open(q) && !q->spec.has_namespace_selector;
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

static bool is_rolled_back(const struct kar_podgroup *g)
{
	return g->status.placement.state == KAR_PG_STATE_ROLLING_BACK;
}

/* Why its queue does not admit it; QUEUE_ADMITTED: nothing is against it. */
static enum queue_reason obstacle(const struct wait_queue *w, const struct entry *e)
{
	if (!w->queue)
		return QUEUE_NOT_FOUND;
	if (w->queue->o.unreadable || w->queue->spec.has_namespace_selector)
		return QUEUE_INVALID;
	if (!queue_is_open(w->queue))
		return QUEUE_CLOSED;
	if (e->g->gang && e->g->gang->obstacle)
		return QUEUE_UNSUPPORTED;
	if (e->g->gang && e->g->gang->deactivated)
		return QUEUE_DEACTIVATED;
	if (e->g->gang && (e->g->gang->retry_in > 0 || is_rolled_back(e->g->group)))
		return QUEUE_BACK_OFF;
	if (w->head && kar_streq(w->queue->spec.queueing_strategy, "StrictFIFO"))
		return QUEUE_BEHIND_HEAD;
	return is_full(w) ? QUEUE_MAX_JOBS : QUEUE_ADMITTED;
}

/* In a queue whose nodes come on demand, one gang at a time goes on without room, if its pods can exist without a node. */
static enum queue_reason find_room(struct queue_fit *f, const struct entry *e)
{
	enum queue_reason reason = queue_fit_place(f, e->g->gang, &e->d->places);

	if (reason == QUEUE_ADMITTED || !e->w->queue->spec.provisions || e->g->gang->direct)
		return reason;
	if (e->w->grows)
		return QUEUE_PROVISIONING;
	e->w->grows = e;
	e->d->provisions = reason;
	return QUEUE_ADMITTED;
}

/* Admits @e, or returns why not. */
static enum queue_reason try_to_admit(struct queue_fit *f, const struct entry *e)
{
	struct wait_queue *w = e->w;
	enum queue_reason reason;

	if (e->g->claim != QUEUE_CLAIM_ALIVE)
		return e->g->claim == QUEUE_CLAIM_INVALID ? QUEUE_JOB_INVALID : QUEUE_NOT_WAITING;
	if (stays_admitted(w, e->g))
		return QUEUE_ADMITTED;
	reason = obstacle(w, e);
	if (reason == QUEUE_ADMITTED && e->g->gang)
		reason = find_room(f, e);
	if (reason == QUEUE_ADMITTED)
		w->jobs++;
	else if (!w->head && (reason == QUEUE_MAX_JOBS || reason == QUEUE_NO_FIT))
		w->head = e;
	return reason;
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

static const char *explain_failure(const struct kar_podgroup *g, struct kar_arena *a)
{
	const struct kar_pg_placement *p = &g->status.placement;
	char text[KAR_TIME_LEN];

	if (is_rolled_back(g))
		return kar_arena_printf(a,
			"attempt %d to start the gang failed: %s; its pods are being removed",
			(int)p->attempt, p->cause);
	return kar_arena_printf(a, "attempt %d to start the gang failed: %s; next try at %s", (int)p->attempt,
		p->cause, kar_time_format(p->retry_after, text));
}

/* If the group has no position, the text must not change whenever a group ahead moves. */
static const char *why(struct queue_fit *f, const struct entry *e, struct kar_arena *a)
{
	const struct queue_decision *d = e->d;
	struct wait_queue *w = e->w;

	switch (d->reason) {
	case QUEUE_INVALID:
		assert(w->queue);
		if (w->queue->o.unreadable)
			return "the queue has a field that kar-controllers cannot read, and admits nothing until that is corrected (see the events of the queue)";
		return "it has a namespaceSelector, which kar-controllers does not act on yet, and admits nothing until it is removed";
	case QUEUE_CLOSED:
		return "the queue is closed";
	case QUEUE_UNSUPPORTED:
		return e->g->gang->obstacle;
	case QUEUE_PROVISIONING:
		assert(w->grows);
		return d->position ? kar_arena_printf(a, "%s/%s goes first for new nodes",
					     w->grows->g->group->o.ns, w->grows->g->group->o.name)
				   : "others go first for new nodes";
	case QUEUE_DEACTIVATED:
		return kar_arena_printf(a,
			"%d attempts to start the gang failed, the last: %s; " KAR_PG_REACTIVATE,
			(int)e->g->group->status.placement.failures, e->g->group->status.placement.cause);
	case QUEUE_BACK_OFF:
		return explain_failure(e->g->group, a);
	case QUEUE_NO_FIT:
	case QUEUE_INFEASIBLE:
		return d->position ? queue_fit_explain(f, e->g->gang, d->reason)
				   : "there is no room for all of its pods";
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

static const char *explain_wait(struct queue_fit *f, const struct entry *e, struct kar_arena *a)
{
	const struct queue_decision *d = e->d;
	const struct wait_queue *w = e->w;

	if (d->reason == QUEUE_NOT_FOUND)
		return kar_arena_printf(a,
			"queue \"%s\" does not exist; the job starts when somebody creates it", w->name);
	if (!d->position)
		return kar_arena_printf(a, "%d or more are ahead in queue %s: %s", QUEUE_POSITIONS, w->name,
			why(f, e, a));
	return kar_arena_printf(a, "%d%s of %d in queue %s: %s", d->position, ordinal(d->position),
		d->waiting, w->name, why(f, e, a));
}

static const char *explain_admission(struct queue_fit *f, const struct entry *e, struct kar_arena *a)
{
	if (!e->d->provisions)
		return kar_arena_printf(a, "admitted by queue %s", e->w->name);
	return kar_arena_printf(a, "admitted by queue %s to wait for new nodes: %s", e->w->name,
		queue_fit_explain(f, e->g->gang, e->d->provisions));
}

static const char *explain(struct queue_fit *f, const struct entry *e, struct kar_arena *a)
{
	const char *text;

	if (e->d->reason == QUEUE_NOT_WAITING)
		return "the job is suspended";
	if (e->d->reason == QUEUE_JOB_INVALID)
		return KAR_NOT_QUEUED_INVALID;
	text = e->d->reason == QUEUE_ADMITTED ? explain_admission(f, e, a) : explain_wait(f, e, a);
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

/* It was admitted without room. */
static bool waits_for_nodes(const struct queue_group *g)
{
	const struct kar_pg_placement *p = &g->group->status.placement;

	return g->admitted && g->claim == QUEUE_CLAIM_ALIVE && p->state == KAR_PG_STATE_UNPLACED &&
		p->deadline;
}

/* The groups of each queue stand together in @entries. Returns the number of queues. */
static size_t make_queues(const struct queue_snapshot *s, struct entry *entries, size_t n,
	struct wait_queue *out, struct kar_arena *arena)
{
	const struct kar_queue **queues = queue_sort(s, arena);
	size_t n_queues = 0;

	for (size_t i = 0; i < n; i++) {
		struct wait_queue *w = &out[n_queues];
		bool first = !i || !kar_streq(entries[i].queue, entries[i - 1].queue);
		size_t at;

		if (first) {
			at = queue_find(queues, s->n_queues, entries[i].queue);
			*w = (struct wait_queue){ .name = entries[i].queue, .entries = &entries[i] };
			w->queue = at < s->n_queues ? queues[at] : NULL;
			n_queues++;
		}
		w = &out[n_queues - 1];
		w->n++;
		w->jobs += entries[i].g->admitted && !entries[i].g->yields &&
			entries[i].g->claim == QUEUE_CLAIM_ALIVE;
		entries[i].w = w;
		if (waits_for_nodes(entries[i].g))
			w->grows = &entries[i];
	}
	return n_queues;
}

/* There is no room for what it needs; a pass that places nothing does not know. */
static bool lacks_room(const struct entry *e)
{
	const struct queue_gang *g = e->g->gang;
	int64_t need = 0;

	if (!g || !g->renews)
		return false;
	if (g->waits)
		return e->g->group->status.placement.deadline != 0;
	for (uint32_t i = 0; i < g->gang.n_roles; i++)
		need += g->gang.roles[i].need;
	return need && !e->d->places;
}

/* @at: its number in the order of all. */
static void decide_entry(struct queue_fit *f, struct entry *e, size_t at)
{
	*e->d = (struct queue_decision){ .reason = QUEUE_NOT_WAITING };
	e->d->reason = try_to_admit(f, e);
	if (e->g->admitted && e->d->reason == QUEUE_ADMITTED) {
		e->d->places = queue_fit_renewed(f, at);
		e->d->lacks = lacks_room(e);
	}
	if (waits(e) && ++e->w->waiting <= QUEUE_POSITIONS && e->w->queue)
		e->d->position = e->w->waiting;
}

static int compare_ordered(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;

	return queue_group_compare((*x)->g, (*y)->g);
}

/* All queues share the nodes, so their groups are decided about in one order. */
static struct entry **order_all(struct entry *entries, size_t n, struct kar_arena *arena)
{
	struct entry **ordered = kar_arena_alloc(arena, n + 1, sizeof(struct entry *));

	for (size_t i = 0; i < n; i++)
		ordered[i] = &entries[i];
	qsort(ordered, n, sizeof(struct entry *), compare_ordered);
	return ordered;
}

static void decide_all(const struct queue_snapshot *s, struct entry *entries, size_t n,
	struct kar_arena *arena)
{
	struct entry **ordered = order_all(entries, n, arena);
	const struct queue_group **groups = kar_arena_alloc(arena, n + 1, sizeof(struct queue_group *));
	struct queue_fit *f;

	for (size_t i = 0; i < n; i++)
		groups[i] = ordered[i]->g;
	f = queue_fit_begin(s, groups, n, arena);
	for (size_t i = 0; i < n; i++)
		decide_entry(f, ordered[i], i);
	for (size_t i = 0; i < n; i++) {
		entries[i].d->waiting = entries[i].w->waiting;
		entries[i].d->message = explain(f, &entries[i], arena);
	}
	queue_fit_end(f);
}

void queue_plan(const struct queue_snapshot *s, struct kar_arena *arena, struct queue_decision *out)
{
	struct entry *entries = kar_arena_alloc(arena, s->n_groups, sizeof(*entries));
	struct wait_queue *queues = kar_arena_alloc(arena, s->n_groups + 1, sizeof(*queues));
	size_t n = 0, n_queues;
	bool moved = false;

	for (size_t i = 0; i < s->n_groups; i++) {
		moved |= s->groups[i].still_in != NULL;
		out[i] = (struct queue_decision){ .reason = QUEUE_NOT_WAITING };
		if (s->groups[i].claim != QUEUE_CLAIM_FINISHED)
			entries[n++] = (struct entry){ &s->groups[i], &out[i],
				kar_podgroup_queue(s->groups[i].group), NULL };
	}
	qsort(entries, n, sizeof(*entries), compare_entries);
	n_queues = make_queues(s, entries, n, queues, arena);
	for (size_t i = 0; i < n_queues && moved; i++) {
		if (queues[i].queue && queues[i].queue->spec.has_max_jobs)
			queues[i].jobs += count_leaving(s, queues[i].name);
	}
	decide_all(s, entries, n, arena);
}
