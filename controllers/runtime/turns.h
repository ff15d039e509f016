/*
 * turns - which of the waiting plans sends the next write when the in-flight or rate limit of the client is reached.
 *
 * Control writes and creates alternate, write by write, so that many statuses do not delay creates, and a large job does not
 * delay a status. While a control write has a higher priority than the next create, up to 8 control writes go before that create.
 * KAR_TIER_BACKGROUND is sent when nothing else waits. Namespaces take turns among the control writes, and among
 * the background writes (keys without a namespace count as one namespace), so that each is as fast as if every other namespace had
 * one plan. Within a namespace priority decides, then the order of arrival. Creates of all namespaces are sent in the order of
 * kar_rank_compare(), by priority and age. How many extras may be sent at once is the caller's own limit: while it is reached, the other
 * writes go on.
 *
 * Pure; O(log n) for each write. The order of the writes of one plan is the plan's own.
 */
#ifndef KAR_TURNS_H
#define KAR_TURNS_H

#include <bsd/sys/tree.h>

#include "controllers/runtime/plan.h"

struct kar_turns;

/* One plan that waits, part of the caller's struct. While it waits, the caller changes nothing in it. */
struct kar_turn {
	const char *key; /* the plan's, "namespace/name" */
	uint64_t number; /* order of arrival; no two have the same */
	/* Private; zero at first. */
	const struct kar_rank *rank;
	RB_ENTRY(kar_turn) link, by_priority;
	struct kar_turns_tenant *tenant;
	bool waits;
};

struct kar_turns *kar_turns_new(void) KAR_MUSTUSE KAR_RETNN;
void kar_turns_free(struct kar_turns *t); /* accepts NULL; no plan may be waiting */
/* @w, which is not waiting, waits from now on; its next write has @rank. Both are borrowed until @w is removed or taken. */
void kar_turns_add(struct kar_turns *t, struct kar_turn *w, const struct kar_rank *rank) KAR_NONNULL;
/* @w does not wait any more. No effect if it did not. */
void kar_turns_remove(struct kar_turns *t, struct kar_turn *w) KAR_NONNULL;
/* The rank of the extra that is the next create, borrowed while it waits. NULL: the next create is no extra, or none waits. */
const struct kar_rank *kar_turns_extra(struct kar_turns *t) KAR_NONNULL;
/* The plan whose write is next; it does not wait any more. @extras: it may be an extra. NULL: no such plan waits. */
struct kar_turn *kar_turns_take(struct kar_turns *t, bool extras) KAR_NONNULL;

#endif
