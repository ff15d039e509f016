/*
 * making - the pods of one workload while they are made for the pass; private to gangs.c, seats.c and needs.c. All is in the arena of the sync.
 */
#ifndef KAR_QUEUE_MAKING_H
#define KAR_QUEUE_MAKING_H

#include "api/core/topology_wish.h"
#include "controllers/queue/pass.h"

/* Live pods of one role that are alike: what they need, and what a quota charges for each, is what the API server has stored. */
struct stored_pods {
	kar_class class;
	const struct queue_charges *charges; /* NULL: nothing */
	int32_t n;
};

/* The live pods of one role: bound ones in the order in which the workload keeps them, then those without a node. */
struct stored_list {
	struct stored_pods *items;
	size_t n;
	size_t next; /* the first of which not all have a run; only while runs are made */
};

/* One job while its pods are made. */
struct making {
	struct queue_pass *p;
	const struct queue_group *qg;
	struct kar_queue_group *in;
	const struct kar_podgroup *group;
	const struct kar_object *owner;
	const struct kar_workload_kind *kind;
	struct kar_roles roles;
	struct kar_arena *arena;
	/* Per role. */
	kar_class *classes;         /* for pods to come; 0: not known */
	struct stored_list *stored; /* of the pods that exist */
	struct queue_seats *seats;  /* of its bound pods, in the order in which the workload keeps them */
	int32_t *running;           /* of these, those that run: the first ones */
	int32_t *pending;           /* live pods without a node */
	int64_t live;               /* pods of all roles */
	int64_t let_go;             /* of .live: those without our gate, which may run */
	const struct kar_pod
		*overdue;  /* the first by name that should have been gone for a while; NULL: none */
	kar_time youngest; /* wall ms, when its youngest pod was created */
	struct kar_topology_wishes wishes;
	struct queue_runs runs;
	size_t *role_of; /* per run */
};

/* KAR_NO_ROLE: it is of none. */
size_t queue_role_of(const struct making *m, const struct kar_pod *pod) KAR_NONNULL;
/* All that have the label of the group. */
struct kar_iter queue_pods_of(const struct making *m) KAR_NONNULL;
/* Fills in .roles. */
void queue_find_roles(struct making *m) KAR_NONNULL;
/* Fills in .seats, .stored, .running, .pending, .live, .let_go, .overdue, .youngest, and what leaves in .runs; from .classes. */
void queue_count_pods(struct making *m) KAR_NONNULL;
/* Fills in .classes. False: the needs of a role are not known. */
bool queue_find_classes(struct making *m) KAR_NONNULL;
/* Of a job that is not admitted: refuses it if the API server does, and lets it take nothing as long as that is not known (accepted.c). */
void queue_check_accepted(struct making *m) KAR_NONNULL;
/* The API server refuses the first pods of a job that was let in before it was asked, or that it accepted then: it gives its place back. */
bool queue_is_refused_at_its_start(const struct making *m) KAR_NONNULL;
/* Its spec was edited after it was let in, and it has no pods yet: what was let in are not the pods that it would have. */
bool queue_is_edited_at_its_start(const struct making *m) KAR_NONNULL;
/*
 * The next pods of the role that are alike, 1 to @most, and counts them as used: those that exist are as they are stored, those to come as
 * another of the template was stored, or as the template says.
 */
struct stored_pods queue_next_pods(struct making *m, size_t role, int32_t most) KAR_NONNULL;
/* Makes the runs of all pods that are left, from .stored too, whose counts it uses up: the minimum first, then the others as they come. */
void queue_add_runs(struct making *m) KAR_NONNULL;

/* --- seats.c: of the runs, places */
void queue_seat_bound(struct making *m) KAR_NONNULL;
/* More pods of the role than the job asks for are about to stop. */
void queue_let_go(struct making *m, size_t role) KAR_NONNULL;
/* Places of the plan for pods that have no node yet. What it names no node for is looked for again by each pass. */
void queue_seat_planned(struct making *m, struct queue_gang *out) KAR_NONNULL;
/* Nothing is looked for now for pods that have no place: they only count. */
void queue_seat_nowhere(struct making *m) KAR_NONNULL;
/* Its minimum is bound; what is missing gets places, in addition to those for which pods are still to be created. */
void queue_renew_plan(struct making *m, struct queue_gang *out) KAR_NONNULL;

#endif
