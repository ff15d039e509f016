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

#endif
