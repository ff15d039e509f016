/*
 * runs - makes the pods of one group for the pass: runs, seats and what leaves (struct kar_queue_group). Internal to the shell of the
 * Queue reconciler. Everything is in the arena of the sync.
 */
#ifndef KAR_QUEUE_RUNS_H
#define KAR_QUEUE_RUNS_H

#include "controllers/queue/ledger.h"

struct queue_seats {
	struct kar_queue_seat *items;
	uint32_t n;
};

struct queue_runs {
	struct kar_arena *arena;
	struct kar_queue_run *items;
	uint32_t n;
	struct kar_queue_leaving *leaving;
	uint32_t n_leaving;
	struct kar_queue_run *unbound; /* as in struct kar_queue_group */
	uint32_t n_unbound;
};

/* Each of its pods is charged with @c (NULL: nothing). Returns its number. */
uint32_t queue_run_add(struct queue_runs *r, kar_class class, int32_t n, const struct queue_charges *c)
	__attribute__((nonnull(1)));
/* @n more pods on @node (NULL: they have or need no place now). Equal neighbours become one seat. */
void queue_seat_add(struct queue_seats *s, const char *node, int32_t n, bool bound, kar_time created,
	struct kar_arena *a) __attribute__((nonnull(1, 6)));
/* Moves the first seats of @from to the end of the run, until each of its pods has one or there are no more. */
void queue_run_seat(struct queue_runs *r, uint32_t run, struct queue_seats *from) KAR_NONNULL;
/* Pods of the run that have no seat. */
int32_t queue_run_unseated(const struct queue_runs *r, uint32_t run) KAR_NONNULL;
/* Pods of all runs. */
int32_t queue_runs_pods(const struct queue_runs *r) KAR_NONNULL;
/* A pod that exists and is free to start, and has no node. */
void queue_unbound_add(struct queue_runs *r, kar_class class) KAR_NONNULL;
/* What stops. @c as for a run. */
void queue_leaving_add(struct queue_runs *r, const struct kar_queue_leaving *l, const struct queue_charges *c)
	__attribute__((nonnull(1, 2)));
/* Both ways of observing a gang end here (decision 110): all of it is what the pass is told of the pods of @in. Borrowed. */
void queue_runs_give(const struct queue_runs *r, struct kar_queue_group *in) KAR_NONNULL;

#endif
