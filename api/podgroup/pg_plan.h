/*
 * pg_plan - the text of a plan, "n1*4 n2 *3": which nodes take how many pods of a role (struct kar_pg_planned). Pure.
 */
#ifndef KAR_API_PG_PLAN_H
#define KAR_API_PG_PLAN_H

#include "api/podgroup/podgroup.h"

/* One node of a plan. */
struct kar_pg_seat {
	const char *node; /* "": not a certain one */
	int32_t n;        /* pods; 0: all are taken */
};

struct kar_pg_seats {
	struct kar_pg_seat *items; /* by node, no node twice */
	size_t n;
};

/*
 * The nodes of the role in the arena, sorted; none if the plan has no such role, or one that cannot be read: whoever edited it gets pods
 * without a certain node.
 */
struct kar_pg_seats kar_pg_plan_seats(const struct kar_pg_placement *p, const char *role,
	struct kar_arena *a) KAR_NONNULL;
/* The node of a role that is one pod, in the arena; "": not a certain one. */
const char *kar_pg_planned_node(const struct kar_pg_planned *role, struct kar_arena *a) KAR_NONNULL KAR_RETNN;
/* One pod less on @node. False: there was none. */
bool kar_pg_seats_take(struct kar_pg_seats *s, const char *node) KAR_NONNULL;
/*
 * The text of these seats, which are in any order and may name a node twice; in the arena. If it is too long for a status, the pods have
 * no certain nodes.
 */
const char *kar_pg_plan_text(const struct kar_pg_seat *seats, size_t n, struct kar_arena *a) KAR_RETNN
	__attribute__((nonnull(3)));

#endif
