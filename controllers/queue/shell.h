/*
 * shell - what the Queue reconciler does beside its decisions: the bodies of its writes and its metrics (sync.c, write.c). Everything
 * else of this folder is pure and in kardecide.
 */
#ifndef KAR_QUEUE_SHELL_H
#define KAR_QUEUE_SHELL_H

#include "controllers/queue/pass.h"
#include "controllers/runtime/controller.h"

/* Counts in @m (may be NULL) what the pass has decided. */
void queue_count_pass(const struct queue_pass *p, struct kar_metrics *m) __attribute__((nonnull(1)));
/* See struct kar_controller. */
int queue_encode(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err) KAR_NONNULL;
bool queue_still_wanted(const struct kar_sync *s, const struct kar_action *a) KAR_NONNULL;
/* Remembers pods that the API server has not let go. */
void queue_refused(const struct kar_sync *s, const struct kar_action *a,
	const struct kar_err *err) KAR_NONNULL;
/* Measures how long an admission has taken. */
void queue_wrote(const struct kar_sync *s, const struct kar_action *a, const struct kar_answer *answer)
	__attribute__((nonnull(1)));

/* --- watch.c ---------------------------------------------------------------------------------------- */

/* The keys of this reconciler. */
#define QUEUE_KEY_ALL "all"
/* Its sync only asks for a pass, at most once a second: for changes that affect nothing but counts of queues. */
#define QUEUE_KEY_COUNTS "counts"
/* Its sync writes changed positions. They have a plan of their own, because they may wait for long and admissions must not. */
#define QUEUE_KEY_POSITIONS "positions"

/* Adds a key whenever something changes that its sync depends on. */
void queue_listen(struct kar_controller *c) KAR_NONNULL;

#endif
