/* Why a group waits, or what it was admitted for, in words. */
#include "controllers/queue/entry.h"

#include <assert.h>

#include "api/pg_members.h"
#include "api/reasons.h"
#include "common/str.h"
#include "common/text.h"
#include "common/timefmt.h"

#define RUNNING "Running"
enum { HOLDERS_NAMED = 3 };

const char *queue_reason_name(enum queue_reason r)
{
	static const char *const names[] = {
		[QUEUE_ADMITTED] = kar_reason_Admitted,
		[QUEUE_NOT_FOUND] = kar_reason_QueueNotFound,
		[QUEUE_INVALID] = kar_reason_QueueInvalid,
		[QUEUE_CLOSED] = kar_reason_QueueClosed,
		[QUEUE_NOT_ALLOWED] = kar_reason_NamespaceNotAllowed,
		[QUEUE_MAX_JOBS] = kar_reason_MaxJobsReached,
		[QUEUE_UNSUPPORTED] = kar_reason_Unsupported,
		[QUEUE_RESERVING] = kar_reason_Reserving,
		[QUEUE_PREEMPTED] = kar_reason_Preempted,
		[QUEUE_GANG_GROUP] = kar_reason_WaitingForGangGroup,
		[QUEUE_FEW_MEMBERS] =
			"WaitingForMembers", /* of no QueueJob, so it is not among their reasons */
		[QUEUE_BACK_OFF] = kar_reason_BackOff,
		[QUEUE_UNAVAILABLE] = kar_reason_BackendUnavailable,
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

const char *queue_describe_eviction(const struct queue_group *victim, const struct queue_group *taker,
	struct kar_arena *a)
{
	return kar_arena_printf(a, "evicted for %s/%s: priority %d over %d", taker->group->o.ns,
		taker->group->o.name, (int)taker->priority, (int)victim->priority);
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

	if (queue_is_rolled_back(g))
		return kar_arena_printf(a, "%s; its pods are being removed", kar_pg_failed_attempt(p, a));
	return kar_pg_next_try(p, a);
}

/* A group of another namespace is named, but not why it waits. */
static const char *explain_unit(const struct entry *e, struct kar_arena *a)
{
	const struct kar_podgroup *other = e->d->partner;

	if (!other)
		return kar_arena_printf(a, "it starts with %s, which does not exist", e->g->missing);
	if (!kar_streq(other->o.ns, e->g->group->o.ns))
		return kar_arena_printf(a, "it starts with %s/%s, which is not ready", other->o.ns,
			other->o.name);
	return kar_arena_printf(a, "it starts with %s/%s, which waits (%s)", other->o.ns, other->o.name,
		queue_reason_name(e->d->partner_reason));
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
		return kar_arena_printf(a,
			"its namespaceSelector is invalid, and admits nothing until that is corrected: %s",
			w->queue->spec.namespaces_problem);
	case QUEUE_CLOSED:
		return "the queue is closed";
	case QUEUE_UNAVAILABLE:
		return kar_arena_printf(a, "backend %s was asked for: %s",
			kar_pg_backend_name(e->g->gang->backend), e->g->gang->unavailable);
	case QUEUE_UNSUPPORTED:
		return e->g->gang->obstacle;
	case QUEUE_PROVISIONING:
		assert(w->grows);
		return d->position ? kar_arena_printf(a, "%s/%s goes first for new nodes",
					     w->grows->g->group->o.ns, w->grows->g->group->o.name)
				   : "others go first for new nodes";
	case QUEUE_DEACTIVATED:
		return kar_pg_failed_attempts(e->g->group, &e->g->group->status.placement, a);
	case QUEUE_RESERVING:
		return kar_arena_printf(a, "room is held; pods of %s are still stopping", d->stopping);
	case QUEUE_PREEMPTED:
		return d->evicted_for ? queue_describe_eviction(e->g, d->evicted_for, a)
				      : e->g->group->status.placement.cause;
	case QUEUE_GANG_GROUP:
		return explain_unit(e, a);
	case QUEUE_FEW_MEMBERS:
		return kar_arena_printf(a, "fewer members can start than spec.minMember %d asks for",
			(int)e->g->group->spec.min_member);
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

bool queue_entry_waits(const struct entry *e)
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
	if (d->reason == QUEUE_NOT_ALLOWED)
		return kar_arena_printf(a, "queue %s does not admit namespace %s", w->name,
			e->g->group->o.ns);
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

const char *queue_explain(struct queue_fit *f, const struct entry *e, struct kar_arena *a)
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
