/* The status of each queue after a pass. */
#include "controllers/queue/lookup.h"
#include "controllers/queue/parents.h"

#include "common/str.h"

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
	if (queue_is_open(q))
		return KAR_QUEUE_STATE_OPEN;
	if (!q->deletion && q->spec.state != KAR_QUEUE_STATE_CLOSED)
		return KAR_QUEUE_STATE_UNKNOWN;
	return counts->inqueue + counts->running + counts->unknown > 0 ? KAR_QUEUE_STATE_CLOSING
								       : KAR_QUEUE_STATE_CLOSED;
}

/* The new status of one queue, and what it is made from. */
struct update {
	const struct kar_queue *q;
	const struct queue_parent *parent;
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
	set_condition(u, "Valid", false, "Unsupported",
		kar_arena_printf(u->arena,
			"kar-controllers does not act on %s yet: jobs are admitted without regard to it",
			u->q->spec.unsupported));
}

static void set_parent_problem(const struct update *u)
{
	static const char *const reasons[] = {
		[QUEUE_PARENT_MISSING] = "ParentNotFound",
		[QUEUE_PARENT_DELETED] = "ParentNotFound",
		[QUEUE_PARENT_CYCLE] = "ParentCycle",
		[QUEUE_PARENT_TOO_DEEP] = "TooDeep",
	};

	set_condition(u, "Valid", false, reasons[u->parent->problem], queue_parent_text(u->parent, u->arena));
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
	else if (spec->namespaces_problem)
		set_condition(u, "Valid", false, "InvalidNamespaceSelector",
			kar_arena_printf(u->arena, "no job is admitted: spec.namespaceSelector: %s",
				spec->namespaces_problem));
	else if (u->parent->problem != QUEUE_PARENT_VALID)
		set_parent_problem(u);
	else if (kar_has_text(spec->unsupported))
		set_unsupported(u);
	else
		set_condition(u, "Valid", true, "Valid", "the spec is valid");
}

static void set_active(const struct update *u)
{
	bool open = queue_is_open(u->q);

	if (open && u->q->spec.namespaces_problem)
		set_condition(u, "Active", false, "InvalidNamespaceSelector",
			"admits no job until spec.namespaceSelector is corrected");
	else
		set_condition(u, "Active", open, kar_queue_state_name(u->status->state),
			open ? "admits jobs" : "admits no further job");
}

static void finish_status(const struct update *u)
{
	u->status->state = state_of(u->q, u->status);
	u->status->parent = u->parent->in_force;
	u->status->conditions = kar_conditions_copy(&u->q->status.conditions, u->arena);
	set_valid(u);
	set_active(u);
}

void queue_statuses(const struct queue_snapshot *s, const struct queue_decision *decisions, kar_time now,
	struct kar_arena *arena, struct kar_queue_status *out)
{
	const struct kar_queue **sorted = queue_sort(s, arena);
	struct kar_queue_status *counts = kar_arena_alloc(arena, s->n_queues, sizeof(*counts));
	struct queue_parent *parents = kar_arena_alloc(arena, s->n_queues + 1, sizeof(*parents));

	queue_parents(sorted, s->n_queues, parents, arena);
	for (size_t i = 0; i < s->n_groups; i++) {
		size_t at = queue_find(sorted, s->n_queues, s->groups[i].queue);

		if (at < s->n_queues)
			count(&counts[at], &s->groups[i], &decisions[i]);
	}
	for (size_t i = 0; i < s->n_queues; i++) {
		size_t at = queue_find(sorted, s->n_queues, s->queues[i]->o.name);

		out[i] = counts[at];
		finish_status(&(struct update){ s->queues[i], &parents[at], &out[i], now, arena });
	}
}
