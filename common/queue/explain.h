/*
 * explain - a reason with its text. Private to short.c and explain.c.
 */
#ifndef KAR_QUEUE_EXPLAIN_H
#define KAR_QUEUE_EXPLAIN_H

#include "common/queue/impl.h"

struct q_why {
	enum kar_queue_reason reason;
	const char *text; /* NULL: none */
};

#define Q_TEXT(p, ...) kar_arena_printf((p)->a, __VA_ARGS__)

/* Of an ask that nothing but room stops. */
struct q_why q_why_now(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* A quota row that would do is held for a group ahead of it. Of groups that are alike some may be ahead of that one. */
struct q_why q_why_closed(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
struct q_why q_why_infeasible(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* It is a capability that makes it so. */
bool q_is_above_capability(struct q_pass *p, const struct q_group *g) KAR_NONNULL;

#endif
