/*
 * parents - which parent of each queue is in force (docs/design/queue.md, 2). Pure.
 *
 * A queue is valid if all queues above it exist, none of them is being deleted, they form no cycle, and it is at most on level
 * QUEUE_LEVELS (1: it has no parent). Then the parent of its spec is in force, else the one that was when it was valid last
 * (status.parent). Invariant: the parents in force exist, form no cycle, and no queue is below level QUEUE_LEVELS.
 */
#ifndef KAR_QUEUE_PARENTS_H
#define KAR_QUEUE_PARENTS_H

#include "api/queue.h"

enum { QUEUE_LEVELS = 4 };

enum queue_parent_problem {
	QUEUE_PARENT_VALID,
	QUEUE_PARENT_MISSING,
	QUEUE_PARENT_DELETED, /* it is being deleted */
	QUEUE_PARENT_CYCLE,
	QUEUE_PARENT_TOO_DEEP,
};

struct queue_parent {
	enum queue_parent_problem problem;
	const char *blamed; /* of a problem: the name of the parent that has it */
	const char
		*in_force; /* the name of a queue, or KAR_QUEUE_ROOT; "": none, so the queue admits nothing */
	bool is_parent;    /* a valid queue names it, so it admits nothing itself */
};

/* @sorted: by name, each once. @out has one per queue, whose texts are those of the queues. */
void queue_parents(const struct kar_queue *const *sorted, size_t n, struct queue_parent *out,
	struct kar_arena *a) KAR_NONNULL;
/* "parent b does not exist", in @a. Only of a problem. */
const char *queue_parent_text(const struct queue_parent *p, struct kar_arena *a) KAR_NONNULL KAR_RETNN;

#endif
