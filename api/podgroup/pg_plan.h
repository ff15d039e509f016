/*
 * pg_plan - the text of a plan, "n1*4 n2 *3": which nodes take how many pods of a role (struct kar_pg_planned). Pure.
 *
 * It is in the order of ranks: the pod of rank r takes seat r, counted from the front. Of a gang that asks for a topology that is the order of
 * the domains, so that neighbours sit together; else that of the names of nodes.
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
	struct kar_pg_seat *items; /* as they are written; a node may come back behind another one */
	size_t n;
	struct kar_pg_seat **by_node;
};

/*
 * The nodes of the role in the arena; none if the plan has no such role, or one that cannot be read: whoever edited it gets pods
 * without a certain node.
 */
struct kar_pg_seats kar_pg_plan_seats(const struct kar_pg_placement *p, const char *role,
	struct kar_arena *a) KAR_NONNULL;
/* The node of a role that is one pod, in the arena; "": not a certain one. */
const char *kar_pg_planned_node(const struct kar_pg_planned *role, struct kar_arena *a) KAR_NONNULL KAR_RETNN;
/* By the names of nodes. */
void kar_pg_seats_sort(struct kar_pg_seat *seats, size_t n) __attribute__((nonnull(1)));
/* One pod less on @node, on the first of its seats that has one left. False: there was none. */
bool kar_pg_seats_take(struct kar_pg_seats *s, const char *node) KAR_NONNULL;
/*
 * The text of these seats, in their order; in the arena. If it is too long for a status, the pods have
 * no certain nodes.
 */
const char *kar_pg_plan_text(const struct kar_pg_seat *seats, size_t n, struct kar_arena *a) KAR_RETNN
	__attribute__((nonnull(3)));

#endif
