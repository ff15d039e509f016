/*
 * gather - the members of a group of another controller, and what is said of them together; private to gather.c, stuck.c and members.c. All is in
 * the arena of the sync.
 */
#ifndef KAR_QUEUE_GATHER_H
#define KAR_QUEUE_GATHER_H

#include "api/core/topology_wish.h"
#include "controllers/queue/pass.h"

struct queue_members {
	const struct kar_pod **items;
	size_t n;
};

/* One group while its members are gathered. */
struct gathering {
	struct queue_pass *p;
	const struct kar_podgroup *group;
	struct kar_queue_group *in;
	struct kar_arena *arena;
	bool admitted;
	struct queue_members
		have; /* that need no place any more, or get one from the scheduler at any time */
	struct queue_members released; /* of an admitted group: that are free to start, and have no node */
	struct queue_members leaving;  /* that stop */
	struct queue_members held;     /* whose room the pass counts for the group, not for others */
	struct queue_members charged;  /* whose quota it counts for the group */
	struct queue_members stuck;    /* that are stuck on their nodes, and get others */
	struct queue_members unbound;  /* that may get a place now, in the order in which they get them */
	struct queue_members
		late; /* that wait for the word of their queue, in the order in which it lets them in: not among .unbound */
	bool joins; /* there may be such (late.c) */
	struct kar_array
		domain; /* struct kar_pair: labels of nodes to which members without a node must go */
	int64_t succeeded;
	kar_time youngest;            /* wall ms, creation of its youngest live member */
	size_t n_gated;               /* members that a gate holds, or that wait to be bound by us */
	const struct kar_pod *direct; /* the first that is bound by us; NULL: none is */
	bool default_scheduler;       /* one names the default scheduler */
	const char *other;            /* another scheduler that a member names; NULL: none does */
	bool placed_by_others;        /* a member names another scheduler, or they do not agree on one */
	bool mixed;   /* they do not agree on one: none that waits here starts (podgroup/release.c) */
	bool bound;   /* one has a node */
	int32_t wave; /* OnlyWaiting: how many must start together; 0: it is not so */
	const struct kar_pod
		*unowned; /* the first live one by name that nobody would make again; NULL: there is none */
	bool bare;        /* a member that runs would be made again by nobody, or is not ours to stop */
	struct kar_topology_wishes wishes; /* of its live members */
	struct queue_runs runs;
	const struct kar_pod ***pods; /* per run: its members; NULL: they get no places */
	bool *unverified;             /* per run */
};

/* Fills in what is known of its members, from .p, .group, .arena and .admitted. @started: its minimum was bound once. */
void queue_gather(struct gathering *m, bool started) KAR_NONNULL;
/* Appends one to a list. */
void queue_gather_add(const struct gathering *m, struct queue_members *to,
	const struct kar_pod *pod) KAR_NONNULL;
/* Members without which it is below its quorum, whether they exist or not. What was added to the minimum of one that .joins comes late. */
int64_t queue_minimum_left(const struct gathering *m) KAR_NONNULL;
/* The entry of the plan for @pod; NULL: there is none. */
const struct kar_pg_planned *queue_planned(const struct gathering *m, const struct kar_pod *pod) KAR_NONNULL;
/* The certain node that the plan has for it; NULL: none. */
const char *queue_planned_node(const struct gathering *m, const struct kar_pod *pod) KAR_NONNULL;

/* Why those that wait cannot start: they must be in one domain, and nobody places them; in the arena. NULL: they can. */
const char *queue_not_together(const struct gathering *m) KAR_NONNULL;

/* Members in the order in which they take places that are in the order of ranks. */
void queue_sort_by_rank(const struct kar_pod **pods, size_t n) __attribute__((nonnull(1)));

/* --- lost.c --- */

/* What its minimum asks for, as status.placement.requests; in the arena. */
const char *queue_requests(const struct gathering *m) KAR_NONNULL KAR_RETNN;
/* The room that is kept for members that it has lost; to be called when .runs are known. */
struct kar_queue_amounts queue_hold_lost(const struct gathering *m) KAR_NONNULL;

/* --- late.c --- */

/* Moves members beyond the minimum that wait from .unbound to .late, if it is for their queue to let them in. @bounded: that bounds them. */
void queue_take_late(struct gathering *m, bool bounded) KAR_NONNULL;
/* What is to be known of them after the pass, in the arena; of the first *@held of .late the room is held for members to come. */
const struct queue_late *queue_note_late(struct gathering *m, size_t *held) KAR_NONNULL KAR_RETNN;

/* How many late members the pass before has let in that have not started yet. */
int32_t queue_let_in_before(const struct queue_group *qg) KAR_NONNULL;

/* --- stuck.c --- */

/* Moves members of an attempt that goes on from .have to .stuck if they are stuck on their nodes. */
void queue_take_stuck(struct gathering *m) KAR_NONNULL;
/* How many of @n gated members that are not in the plan, beside @planned ones, have come in the stead of those that were stuck. */
size_t queue_count_new(const struct gathering *m, size_t planned, size_t n) KAR_NONNULL;
/* What of the plan is for pods that exist and is not looked for again, into @out: the @front first of .unbound have no certain place. */
void queue_keep_rest(struct gathering *m, size_t front, struct queue_gang *out) KAR_NONNULL;

#endif
