/*
 * explain - a reason with its text. Private to shortage.c, never.c, bounds.c and explain.c.
 */
#ifndef KAR_QUEUE_EXPLAIN_H
#define KAR_QUEUE_EXPLAIN_H

#include "common/queue/impl.h"

struct q_why {
	enum kar_queue_reason reason;
	const char *text; /* NULL: none */
};

/* A limit that is too small. */
struct q_lack {
	const char *resource; /* NULL: none yet */
	uint32_t number;      /* its number, unless it is of .row */
	int64_t lacks, wanted, limit, free;
	const struct q_queue *queue; /* whose capability it is; NULL: the cluster, or .row */
	const struct kar_queue_quota_row *row;
};

#define Q_TEXT(p, ...) kar_arena_printf((p)->arena, __VA_ARGS__)

/* Of an ask that nothing but room stops; also of one more pod of a group that is admitted. */
struct q_why q_why_now(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* Of an ask that exceeds a limit of its queues, as *@s says; .text NULL: it does not, though others may have to go first. */
struct q_why q_why_queue(const struct q_pass *p, const struct q_ask *ask,
	const struct q_short *s) KAR_NONNULL;
/* What may be taken from others goes to @first, which is ahead of it in its queue. */
const char *q_why_after(struct q_pass *p, const struct q_ask *ask, const struct q_group *first) KAR_NONNULL;
/* Which row of a quota, or of what a queue allows the namespace, is short; no reason: none. */
struct q_why q_why_rows(const struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* A quota row that would do is held for a group ahead of it. Of groups that are alike some may be ahead of that one. */
struct q_why q_why_closed(const struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/*
 * Of a group that is not feasible (queue.md 5). INFEASIBLE only if no change of pods, cordons or readiness could cure it; else
 * what must happen. It has a text.
 */
struct q_why q_why_infeasible(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* It is a capability that makes it so. */
bool q_is_above_capability(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;

/* *@worst becomes @l if that is the larger part of its limit; of equals extended resources go first, then cpu, memory, pods. */
void q_note_lack(struct q_lack *worst, const struct q_lack *l) KAR_NONNULL;
/* "insufficient cpu: 8 requested, 5 of 9 free (3 short)" */
const char *q_short_of(const struct q_pass *p, const struct q_lack *l) KAR_NONNULL KAR_RETNN;
/* @l is about what a queue of @g is entitled to, and not about its capability: the queue would lend it more if it could be evicted. */
bool q_is_lent_nothing(const struct q_group *g, const struct q_lack *l) KAR_NONNULL;
/* "queue a has capability 4", or what it is entitled to, and why it lends no more. */
const char *q_limit_text(const struct q_pass *p, const struct q_group *g,
	const struct q_lack *l) KAR_NONNULL KAR_RETNN;
/* What the cluster lacks in fut; @locked: what is kept free for guarantees of others counts as used. */
struct q_lack q_lack_of_cluster(const struct q_pass *p, const struct q_ask *ask, bool locked) KAR_NONNULL;
/* @what is short of resource @r, which is held for guarantees of others. */
struct q_why q_why_guaranteed(const struct q_pass *p, const struct q_ask *ask, const char *what,
	uint32_t r) KAR_NONNULL;
/* Does it fit in fut, if the limits that .no_reservation and .no_lock name are not looked at? */
bool q_would_fit(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* The sums of the cluster, or its nodes, are what stops it. */
struct q_why q_why_no_room(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;

/* Why a group is not eligible, if the pass has found that: @reason. */
struct q_why q_why_ineligible(const struct q_pass *p, const struct q_group *g,
	enum kar_queue_reason reason) KAR_NONNULL;

/* --- edited.c: which edited templates are let in, and why not the others, into the decisions. */
void q_judge_edits(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;

/* --- joining.c: why the next member of a group that .joins is not let in. */
void q_explain_joining(struct q_pass *p, struct q_group *g, struct kar_queue_decision *d) KAR_NONNULL;

/* Why elastic groups have no more pods: into the decisions of those that have fewer than are left. */
void q_explain_limits(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;

#endif
