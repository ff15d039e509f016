#include "controllers/queue/entry.h"
#include "controllers/queue/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/reasons.h"
#include "common/str.h"

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
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
	return queue_is_open(q) && !q->spec.namespaces_problem;
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

/* Why its queue does not admit it; QUEUE_ADMITTED: nothing is against it. */
static enum queue_reason obstacle(const struct wait_queue *w, const struct entry *e)
{
	if (!w->queue)
		return QUEUE_NOT_FOUND;
	if (w->queue->o.unreadable || w->queue->spec.namespaces_problem)
		return QUEUE_INVALID;
	if (!queue_is_open(w->queue))
		return QUEUE_CLOSED;
	if (e->g->not_allowed)
		return QUEUE_NOT_ALLOWED;
	if (e->g->gang && e->g->gang->obstacle)
		return QUEUE_UNSUPPORTED;
	if (e->g->gang && e->g->gang->deactivated)
		return QUEUE_DEACTIVATED;
	if (e->g->gang && e->g->gang->unavailable)
		return QUEUE_UNAVAILABLE;
	if (queue_is_evicted(e->g->group))
		return QUEUE_PREEMPTED;
	if (e->g->gang && (e->g->gang->retry_in > 0 || queue_is_rolled_back(e->g->group)))
		return QUEUE_BACK_OFF;
	if (e->g->gang && e->g->gang->incomplete)
		return QUEUE_FEW_MEMBERS;
	if (w->head && kar_streq(w->queue->spec.queueing_strategy, "StrictFIFO"))
		return QUEUE_BEHIND_HEAD;
	return is_full(w) ? QUEUE_MAX_JOBS : QUEUE_ADMITTED;
}

/* In a queue whose nodes come on demand, one gang at a time goes on without room, if its pods can exist without a node. */
static enum queue_reason find_room(struct queue_fit *f, const struct entry *e)
{
	enum queue_reason reason = queue_fit_place(f, e->g->gang, &e->d->places);

	if (reason == QUEUE_ADMITTED || !e->w->queue->spec.provisions || e->g->unit || e->g->gang->direct)
		return reason;
	if (e->w->grows)
		return QUEUE_PROVISIONING;
	e->w->grows = e;
	e->d->provisions = reason;
	return QUEUE_ADMITTED;
}

/* Admits @e, or returns why not. */
enum queue_reason queue_try_to_admit(struct queue_fit *f, const struct entry *e)
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
	w->jobs += reason == QUEUE_ADMITTED;
	return reason;
}

/* The first that waits for room is the head of its queue. */
void queue_note_head(const struct entry *e)
{
	enum queue_reason r = e->d->reason;

	if (!e->w->head && (r == QUEUE_MAX_JOBS || r == QUEUE_NO_FIT || r == QUEUE_PROVISIONING))
		e->w->head = e;
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

void queue_decide_entry(struct queue_fit *f, struct entry *e, struct kar_arena *a)
{
	*e->d = (struct queue_decision){ .reason = QUEUE_NOT_WAITING };
	e->d->reason = queue_try_to_admit(f, e);
	if (e->g->admitted && e->d->reason == QUEUE_ADMITTED) {
		e->d->places = queue_fit_renewed(f, e->rank);
		e->d->lacks = lacks_room(e);
	}
	e->decided = true;
	queue_preempt(f, e, a);
	queue_note_head(e);
}

static void give_position(const struct entry *e)
{
	if (queue_entry_waits(e) && e->d->reason != QUEUE_NOT_ALLOWED && ++e->w->waiting <= QUEUE_POSITIONS &&
		e->w->queue)
		e->d->position = e->w->waiting;
}

static void decide_all(const struct queue_snapshot *s, struct entry *entries, size_t n,
	struct kar_arena *arena)
{
	const struct order o = queue_order(entries, n, arena);
	const struct queue_group **groups = kar_arena_alloc(arena, n + 1, sizeof(struct queue_group *));
	struct queue_fit *f;

	for (size_t i = 0; i < n; i++)
		groups[i] = o.entries[i]->g;
	f = queue_fit_begin(s, groups, n, arena);
	queue_decide_in_order(f, &o, arena);
	for (size_t i = 0; i < n; i++)
		give_position(o.entries[i]);
	for (size_t i = 0; i < n; i++) {
		entries[i].d->waiting = entries[i].w->waiting;
		entries[i].d->message = queue_explain(f, &entries[i], arena);
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
			entries[n++] = (struct entry){ &s->groups[i], &out[i], s->groups[i].queue, NULL };
	}
	qsort(entries, n, sizeof(*entries), compare_entries);
	n_queues = make_queues(s, entries, n, queues, arena);
	for (size_t i = 0; i < n_queues && moved; i++) {
		if (queues[i].queue && queues[i].queue->spec.has_max_jobs)
			queues[i].jobs += count_leaving(s, queues[i].name);
	}
	decide_all(s, entries, n, arena);
}
