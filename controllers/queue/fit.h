/*
 * fit - whether gangs fit on the nodes, within one pass; internal to the pure part of the Queue reconciler. Pure.
 *
 * All of it works on the snapshot of the pass between queue_fit_begin() and queue_fit_end(): what one group takes, the next one does not
 * have. The end takes everything back.
 */
#ifndef KAR_QUEUE_FIT_H
#define KAR_QUEUE_FIT_H

#include "controllers/queue/queue.h"

struct queue_fit; /* in the arena */

/*
 * Takes what admitted groups hold or lack: first what plans hold, then, in the order of @groups, a place for each pod that they lack, as far
 * as there is room. So no new group takes the room of a gang that is being repaired.
 */
struct queue_fit *queue_fit_begin(const struct queue_snapshot *s, const struct queue_group *const *groups,
	size_t n, struct kar_arena *a) KAR_NONNULL KAR_RETNN;
/* What that has placed of the gang of group number @at, if it renews its plan (struct queue_gang); NULL: nothing. */
const struct kar_placement *queue_fit_renewed(const struct queue_fit *f, size_t at) KAR_NONNULL;
void queue_fit_end(struct queue_fit *f) KAR_NONNULL;
/* QUEUE_ADMITTED: it fits, its places are taken and in *@out. Else QUEUE_NO_FIT or QUEUE_INFEASIBLE. */
enum queue_reason queue_fit_place(struct queue_fit *f, const struct queue_gang *gang,
	const struct kar_placement **out) KAR_NONNULL;
/*
 * Would @gang fit if all pods of @leaving were gone? If so, and @hold, its room is taken, also that of their pods, which stay where they
 * are: nobody else gets any of it.
 */
bool queue_fit_after(struct queue_fit *f, const struct queue_gang *gang,
	const struct queue_group *const *leaving, size_t n, bool hold) KAR_NONNULL;
/* What is placed after a mark can be undone or kept, the last mark first. */
size_t queue_fit_mark(struct queue_fit *f) KAR_NONNULL;
void queue_fit_undo(struct queue_fit *f, size_t mark) KAR_NONNULL;
void queue_fit_keep(struct queue_fit *f, size_t mark) KAR_NONNULL;
/* "1/3 pods placed: 2 nodes lack cpu (short 3)", in the arena. */
const char *queue_fit_explain(struct queue_fit *f, const struct queue_gang *gang,
	enum queue_reason reason) KAR_NONNULL KAR_RETNN;

#endif
