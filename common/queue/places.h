/*
 * places - spots of pods and the two views of the nodes. Private to the files that place pods.
 */
#ifndef KAR_QUEUE_PLACES_H
#define KAR_QUEUE_PLACES_H

#include "common/queue/impl.h"

/* Pods on a node that leave, or wait for room there. */
struct q_per_node {
	const char *node;
	kar_class class;
	int32_t n;
	bool leaves;
};

struct q_overlap {
	struct q_per_node *all;
	uint32_t n;
	bool any_waits;
	struct q_reserved *both; /* what counts twice, by node */
	uint32_t n_both;
};

/* Is called with @n pods of a class on a node. */
typedef void q_pod_visitor(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n);

/* What the head of the cluster needs on a node. */
struct q_room {
	const char *node;
	int64_t v[Q_RESOURCES];
};

/* --- backfill.c */
/*
 * BACKFILL: when the rooms are free by known ends, in struct q_plan.shadow. Who has ended by then may use them. .reserved_at has their numbers.
 */
void q_find_shadow(struct q_pass *p, const struct q_group *head, bool held, const struct q_room *rooms,
	uint32_t n) KAR_NONNULL;
/* With it: pods that have ended by then are in the rooms until then, all others have to leave those free. */
void q_leave_room_to_those_in_time(const struct q_pass *p, struct q_room *rooms) KAR_NONNULL;
/* As the snapshot has it, whether or not this pass evicts it. */
bool q_ended_in_time(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;

/* --- places.c */
void q_take_spot(struct q_pass *p, const struct q_group *g, const struct q_spot *s, int32_t n) KAR_NONNULL;
/* The list is copied, as an older state may be restored. */
void q_push(struct q_pass *p, struct q_state *st, struct q_spot spot) KAR_NONNULL;

/* --- places.c */
void q_lift_gone(struct q_pass *p, const struct q_group *g) KAR_NONNULL; /* what leaves is gone */
void q_find_overlap(struct q_pass *p, struct q_overlap *o) KAR_NONNULL;
/* 1: from `fut` to `now`; -1: back. */
void q_switch_view(struct q_pass *p, const struct q_overlap *o, int32_t sign) KAR_NONNULL;
/* Of pods @from .. @to of the group: those that were bound before the reservation, or if it is known when the head can start, that have ended by then. */
void q_visit_old(struct q_pass *p, const struct q_group *g, int32_t from, int32_t to, q_pod_visitor *visit,
	void *context) __attribute__((nonnull(1, 2, 5)));

#endif
