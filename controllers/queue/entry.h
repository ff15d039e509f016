/*
 * entry - one group in the pure pass, and its queue; internal to plan.c, units.c and explain.c.
 */
#ifndef KAR_QUEUE_ENTRY_H
#define KAR_QUEUE_ENTRY_H

#include "common/str.h"
#include "controllers/queue/fit.h"

/* One group, its decision, and the queue that it asks for. */
struct entry {
	const struct queue_group *g;
	struct queue_decision *d;
	const char *queue;
	struct wait_queue *w;
	size_t rank;  /* among all entries */
	bool decided; /* about itself or with its unit */
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

/* All entries in their order, and by group. */
struct order {
	struct entry **entries;  /* by rank */
	struct entry **by_group; /* by address, if any group has a unit */
	size_t n;
};

static inline bool queue_is_rolled_back(const struct kar_podgroup *g)
{
	return g->status.placement.state == KAR_PG_STATE_ROLLING_BACK;
}

/* Because it was evicted for another one. */
static inline bool queue_is_evicted(const struct kar_podgroup *g)
{
	return queue_is_rolled_back(g) && kar_has_text(g->status.placement.evicted_by);
}

/* --- plan.c ---------------------------------------------------------------------------------------- */

/* Admits @e, which takes its room and its place in the queue, or returns why not. */
enum queue_reason queue_try_to_admit(struct queue_fit *f, const struct entry *e) KAR_NONNULL;
/* Decides about @e alone. */
void queue_decide_entry(struct queue_fit *f, struct entry *e, struct kar_arena *a) KAR_NONNULL;
/* The first that waits for room is the head of its queue. */
void queue_note_head(const struct entry *e) KAR_NONNULL;

/* --- units.c --------------------------------------------------------------------------------------- */

/* All queues share the nodes, so their groups are decided about in one order. */
struct order queue_order(struct entry *entries, size_t n, struct kar_arena *arena) KAR_NONNULL;
/* Decides about all; each unit has its turn with its last member. */
void queue_decide_in_order(struct queue_fit *f, const struct order *o, struct kar_arena *a) KAR_NONNULL;

/* --- victims.c ------------------------------------------------------------------------------------- */

/*
 * If @e waits for room, and its queue allows it: decides that gangs of lower priority are evicted, as few as let all of @e start, or goes on
 * with that. Then @e holds their room, and nobody else gets it.
 */
void queue_preempt(struct queue_fit *f, struct entry *e, struct kar_arena *a) KAR_NONNULL;

/* --- explain.c ------------------------------------------------------------------------------------- */

/* It stands in its queue, and is not admitted. */
bool queue_entry_waits(const struct entry *e) KAR_NONNULL;
/* The message of its decision, in @a. */
const char *queue_explain(struct queue_fit *f, const struct entry *e, struct kar_arena *a) KAR_NONNULL;

#endif
