/*
 * model - what the pass knows: queues, groups and their states, sums, and the pass itself. Private to this folder.
 *
 *   struct q_pass   .in     what it decides about: const after setup.c      .round  what is being tried
 *                   .plan   what it has decided, and what follows from it   .memo   what was found out when it was asked for
 *
 * Resources are numbers (index, at most 64, so that a set of them is a bit mask). A vector has one amount per resource. Everything is in
 * the arena of the pass. Invariants between two calls: each sum is that of the groups below (q_set() alone changes a group), and the
 * engine has taken exactly the spots of all groups, which is the view `fut`: what leaves is gone.
 */
#ifndef KAR_QUEUE_MODEL_H
#define KAR_QUEUE_MODEL_H

#include <assert.h>

#include "common/codec/quantity.h"
#include "common/queue/queue.h"
#include "common/sched/table.h"

enum { Q_RESOURCES = 64, Q_ROWS = 64, Q_PATH = KAR_QUEUE_LEVELS + 1 };
#define Q_UNNAMED (-1)           /* of a right: the queue does not name this resource */
#define Q_NO_LIMIT INT64_MAX     /* of a capability */
#define Q_SHARE_UNIT 1000000000L /* Z, to compare shares */

enum q_view { Q_FUT, Q_NOW };

/* Of the groups below a queue, or of those that a quota row charges, per resource. */
struct q_sum {
	int64_t kept; /* what the pods that stay ask for, beyond the minima too, and room for members to come */
	int64_t reserved; /* the minima of groups that reserve */
	int64_t leaving;  /* bound pods that leave */
	int64_t minima;   /* of .kept and .reserved: without what is beyond the minima */
};

struct q_queue {
	const struct kar_queue_in *in; /* NULL: the root */
	struct q_queue *parent;        /* NULL: the root, or (.in_force) it has no place */
	struct q_queue **children;
	uint32_t n_children, index, place; /* .place: among the children of its parent */
	uint32_t width;                    /* of trees over the children: the power of two for all of them */
	int depth;                         /* 0: the root */
	enum kar_queue_validity validity;
	bool checked; /* .validity is known */
	bool in_force, closed, drain;
	bool names_any;   /* .right names a resource */
	bool may_be_over; /* whole groups of it may go for others' rights */
	bool skipped;     /* before .next one has failed, and may not the next time */
	bool key_over;    /* of the candidate, see admit.c */
	bool grows_below; /* somebody below may grow (rebalance.c) */
	bool dirty;       /* its sums have changed since it entered the race */
	int64_t *right, *guarantee,
		*capability; /* per resource; .right: Q_UNNAMED if the queue names it not */
	int64_t *
		floor; /* .right; of a resource that it names only by flavors, the sum of these (Q_UNNAMED: none) */
	int64_t *due;          /* per resource: what it is entitled to */
	int64_t *lent;         /* per resource: .due where a sibling has a right, else Q_NO_LIMIT */
	struct q_sum *sum;     /* per resource */
	int64_t *idle;         /* per resource: guarantees of its children that they do not use */
	int64_t share;         /* Its share without any new ask: s(a, 0) of queue.md 5, times Q_SHARE_UNIT. */
	int64_t extras;        /* pods beyond the minima, below */
	int64_t *most;         /* tree over the children: the largest .share of those with .extras, else -1 */
	struct q_group **here; /* groups of its own that are, or were in this pass, admitted or reserving */
	uint32_t n_here;
	int32_t live;      /* groups below that are admitted or reserving */
	uint32_t n_over;   /* children of which that is true */
	int32_t n_unnamed; /* live groups below that ask nothing of what .right names */
	uint32_t *flavors; /* that its groups may use (flavors.c); NULL: not asked yet */
	uint32_t n_flavors;
	struct q_group **line;       /* groups that ask for it and have not finished, in line order */
	uint32_t n_line, next;       /* .next: the first that was not tried yet */
	const struct q_group *takes; /* the first that may take from others at some time; NULL: none */
	struct q_group *stopped_by;  /* the head of a StrictFIFO queue that waits; NULL: none */
	struct q_group *grows;       /* waits for new nodes; NULL: nobody does */
	struct q_group *reserved;    /* head of this pool (of the root: of the cluster); NULL: none */
	struct q_group *candidate;   /* of its subtree, whose turn it is; NULL: none */
	int64_t key_share;           /* of the candidate, see admit.c */
	int64_t had;                 /* in the past, by weight; 0: its parent does not go by that */
	int64_t key_history;         /* that, or 0 in a race that goes by shares alone, see admit.c */
	const int64_t *want;         /* what the candidate asks for */
	/* elastic.c: of a leaf: groups that EXTRAS may raise, as a heap */
	struct q_group **growing;
	uint32_t n_growing;
	/* rebalance.c */
	int64_t *asks_least;             /* of each resource: the least that an extra below asks for */
	int64_t lows[2];                 /* the two least shares that children may grow to */
	const struct q_queue *lowest;    /* whose the first is */
	int32_t fewest[2];               /* the two least numbers of extras in a leaf of who may grow */
	const struct q_group *fewest_of; /* whose the first is */
	struct q_queue **winners;        /* admit.c */
};

/* What the pass knows of groups that are alike, and that all may use the room of the head of the cluster, or all may not. */
struct q_failure {
	uint32_t at, since; /* struct q_round.change and .freed when one failed; 0: none has */
	const char *text;   /* why it waits; NULL: not asked yet */
	const char *after;  /* the same of those that are not first to take from others */
	enum kar_queue_reason why;
	bool why_known;
};

/* Groups that are alike for the pass: they fit or fail together. */
struct q_kind {
	const struct q_group *first; /* one of them */
	struct q_kind *next;         /* with the same hash */
	uint64_t hash;
	uint32_t flavor; /* as in struct q_state */
	struct q_kind **
		in_flavors; /* by flavor: the same groups there; NULL: there are no flavors, or not asked yet */
	int64_t *minimum;   /* vector of the minimum and the hold */
	uint32_t *rows;     /* quota rows that its pods are charged with */
	int64_t *row_minimum; /* per row: by the minimum */
	uint32_t n_rows;
	int8_t feasible;              /* -1: not asked yet */
	uint32_t starved_at;          /* struct q_round.change when it was found not to fit; 0: never */
	struct q_failure failures[2]; /* the second: of those that end in time (q_ends_in_time()) */
};

/* @n pods of a run, in the order of its pods. */
struct q_spot {
	const char *node; /* NULL: nowhere */
	uint32_t run;
	int32_t n;
	bool bound; /* as in the snapshot */
	bool fresh; /* placed by this pass */
	bool waits; /* placed in the room of what leaves */
	bool none;  /* without a node: it needs none now */
};

/* What the pass may change of a group. */
struct q_state {
	enum kar_queue_standing standing;
	uint32_t flavor; /* of its pods, 0: any; of one that waits: the one that is looked at (flavors.c) */
	int32_t n_kept;  /* d: pods that it is to have, the first of its order */
	struct q_spot
		*spots; /* of the first .n_kept pods, if it is admitted; of the minimum, if it reserves */
	uint32_t n_spots;
	struct kar_held *held; /* room for members to come */
	uint32_t n_held;
	struct q_group *hold_for;   /* for whom that ends in this pass; NULL: it does not */
	enum kar_queue_cause cause; /* of its eviction by this pass */
	struct q_group *evicted_for;
	const struct q_state *before; /* of its eviction */
	bool readmitted;              /* after an eviction by this pass: nobody evicts it again */
	bool took;                    /* extras of others */
	bool evicts;                  /* whole groups go for it, so nobody evicts it again in this pass */
	bool awaits; /* it was let in behind a group that asks, or is that: it has its room in this pass alone */
	enum kar_queue_reason provisions;
};

struct q_group {
	const struct kar_queue_group *in;
	struct q_queue *queue; /* where it counts; the root, if its queue has no place */
	struct q_kind *kind;
	uint32_t index;
	int32_t min, left, desired; /* .desired: in->desired, at most .left */
	int32_t level;
	bool binds_own; /* of a head: it asks for more than its queue is due, and stops groups of its own queue alone */
	uint32_t tried_in; /* the round of GANGS in which it was tried last */
	int64_t wait;      /* in seconds */
	int64_t *pods;     /* vector of its live pods, those that stop included; NULL: there are none */
	int64_t *row_pods; /* per row of the kind, likewise */
	int64_t *away;     /* of .pods: those on nodes that are not usable; NULL: there are none */
	struct q_state st;
	struct q_group *partner;
	enum kar_queue_reason partner_reason;
	uint32_t grows_at;     /* 1 + its place in the heap of its leaf; 0: it is in none */
	uint32_t raised;       /* when EXTRAS raised it first; 0: never */
	int32_t moved;         /* pods that REBALANCE has given it */
	int32_t n_gone;        /* bound pods that leave */
	bool full;             /* EXTRAS cannot give it one more */
	bool stays;            /* REBALANCE: somebody who waits would take what it gives up */
	bool spared;           /* it was evicted in vain, which is revoked once */
	bool first;            /* it has lost its claim in this step, and is tried before all others */
	bool in_gone, in_live; /* it is in struct q_plan.gone, .live */
	bool unit_failed;
	bool unit_ready; /* in KEEP: its claim would start now, if the others of its unit did */
	bool keeps; /* its claim is asked for anew: what it holds of a quota was not held for those ahead of it */
	bool asks; /* others would go for it, and the API server is to be asked first */
};

/* The ways in which a group that does not fit takes room from others (docs/design/queue.md, 6). */
enum q_way {
	Q_NO_WAY,
	Q_END_HOLDS,    /* room for members to come ends: nobody loses a pod */
	Q_TAKE_EXTRAS,  /* b: pods beyond the minima, of queues above their share */
	Q_RECLAIM,      /* c: whole groups of queues above their rights, for the right of its own queue */
	Q_PREEMPT,      /* d: whole groups of lower priority in its own queue */
	Q_TAKE_FOREIGN, /* e: pods of no queue (foreign.c) */
};

/* Who goes for another group, in which way, and what it was before. */
struct q_victim {
	struct q_group *group;
	struct q_state before;
	enum q_way way;
};

/* Limits that an ask exceeds. */
struct q_short {
	uint64_t cluster;            /* resources */
	uint64_t capability[Q_PATH]; /* per depth of the path: resources */
	uint64_t quota;              /* bits by row of the kind */
	uint32_t jobs;               /* bits by depth */
	bool nodes, closed;
};

/* What is asked for: pods @from .. @to of a group, or its minimum. */
struct q_ask {
	struct q_group *group;
	int32_t from, to;
	const int64_t *needs;
	const int64_t *rows; /* per row of the kind */
	bool extra;          /* beyond its minimum */
	bool job;            /* a new live group */
	const char *inside;  /* of .job: the path of the only required domain that is looked at; NULL: any */
	bool no_lock, no_reservation; /* for explanations */
};

struct q_saved {
	struct q_group *group;
	struct q_state st;
};

struct q_row {
	struct q_sum sum;
	struct q_group *closer; /* the first that it blocks; valid if .closer_at is the change of the model */
	uint32_t closer_at;
	struct q_group **line; /* groups of its namespace that are charged by it, in line order */
	uint32_t n_line, room_line;
	int64_t largest; /* of what the minima of these ask for */
	bool starting;   /* a group that it charges has been admitted and does not run yet */
};

/* Room of the head of the cluster on a node that nobody of its level may take. */
struct q_reserved {
	const char *node;
	kar_class class;
	const int64_t *needs; /* that the class asks for; what is below 0 counts as nothing */
};

/* @n pods that are about to be bound to the node. */
struct q_expected {
	const struct kar_queue_expected *in;
	const char *node;
	int32_t n;
};
struct q_expected_list {
	const struct q_expected *items;
	uint32_t n;
};

/* What the pass decides about: const once q_setup() has returned. What is decided of the queues, groups and rows is in these. */
struct q_input {
	const struct kar_queue_snapshot *snapshot;
	kar_time now;
	uint32_t n_resources, pods; /* .pods: the number of `pods` */
	uint32_t
		n_plain; /* the resources behind these are of one flavor each: .names are those of the plain ones */
	uint32_t n_flavors;
	uint8_t plain_of[Q_RESOURCES], flavor_of[Q_RESOURCES]; /* .flavor_of: 0 for plain ones */
	uint8_t (*by_flavor)
		[Q_RESOURCES]; /* per flavor and plain resource: its number there; Q_RESOURCES: no queue names it */
	uint32_t n_line;
	bool has_guarantees, has_rights;
	const char *names[Q_RESOURCES];
	int64_t alloc[Q_RESOURCES], foreign[Q_RESOURCES], load[Q_RESOURCES];
	uint64_t ranked[3];            /* resources by which pods are compared: GPUs, cpu, memory */
	struct q_queue *queues, *root; /* the root is the last */
	struct q_group *groups;
	struct q_group **line; /* all that have not finished, in line order */
	struct q_row *rows;
	struct q_kind **kinds; /* hash table */
	uint32_t kind_slots;
};

/* What leaves of struct kar_queue_snapshot.preemptible. The arrays are never changed once others can see them: an older one can be restored. */
struct q_foreign {
	uint32_t *
		takers; /* per pod: the group for which it goes; KAR_QUEUE_NONE: it stays, or stopped before */
	bool *gone;     /* per pod: it leaves */
	int64_t *freed; /* per resource: what all that leave have */
	int64_t *soon;  /* of these, those that are gone soon */
	uint32_t n;     /* how many leave */
};

/* What has been decided so far, and what follows from it: q_set() alone changes a group, and q_undo() takes that back. */
struct q_plan {
	struct q_group **live; /* groups that are, or were in this pass, admitted or reserving */
	struct q_group **gone; /* groups of which pods may leave */
	struct q_saved *log;   /* states to go back to */
	uint32_t n_live, n_gone, n_log, logging;
	int64_t leaving;           /* bound pods that leave */
	int64_t extras;            /* pods beyond the minima */
	int64_t *budgets;          /* what is left of each; below 0 after a drain */
	struct q_group **stranded; /* admitted, and some of their pods found no node when the pass began */
	uint32_t n_stranded;
	uint32_t n_held;    /* groups with room for members to come */
	uint32_t n_holding; /* of them, admitted ones whose room yields */
	uint32_t n_raised;  /* rises by EXTRAS and REBALANCE, for their order */
	/* Taken in the engine, as far as nobody was placed there who goes before them. */
	struct q_expected_list expected;
	struct q_foreign foreign;
	/* The reservation of the head of the cluster. */
	struct q_reserved *reserved;
	struct kar_table reserved_at; /* the nodes of these */
	kar_time reserved_since;
	kar_time shadow;      /* when all of that is free by known ends (backfill.c); 0: not known */
	int64_t gathered;     /* percent of the minimum of its head that has come free on them */
	int64_t left_before;  /* .leaving when the reservation was looked at; INT64_MAX: there is none */
	int32_t *kept_before; /* by group: pods that stayed then */
	uint32_t n_reserved;
	uint32_t n_held_back; /* of .held_back */
	/* Who goes for those who ask, and for others behind them, in the order of the pass. */
	struct q_victim *held_back;
	struct q_group *asks_first; /* of those who ask; NULL: nobody does */
	bool guessed;               /* somebody was let in for this pass alone, as its needs are not known */
	bool frees;                 /* of those who ask, some have room that is free at once */
};

/* What is being tried: nothing of it outlives the step, or the question, for which it is set. */
struct q_round {
	/* Names of the state of all groups, and of what has come free: new with each change, and the old one after q_undo(). */
	uint32_t change, freed, changes;
	uint32_t step;
	uint32_t tried;            /* the number of this round of GANGS: what was tried before is forgotten */
	bool by_right;             /* nobody is evicted for a priority, nor are pods of no queue */
	bool trial;                /* q_would_let_in() runs: nothing is found out about units */
	bool ignore_time;          /* a dry run: nothing is frozen or protected */
	bool ignore_budgets;       /* likewise: pods of no queue go whatever keeps them */
	struct kar_arena *scratch; /* for places that nobody keeps; NULL: they are kept */
	bool early; /* what the view `now` is asked for may wait for pods of no queue that are gone soon */
};

/* What is found out when it is first asked for, and changes no decision: who only asks may fill it in. */
struct q_memo {
	const int64_t **class_needs; /* by class; NULL: not asked yet */
	uint32_t *failed;            /* by class: .change when an extra of it had no node; 0: never */
	kar_class **
		in_flavors; /* by class, then twice by flavor: what it needs there without, and with its tolerations; 0: not asked yet */
	uint32_t n_in_flavors;
	kar_class *made; /* classes to give back at the end */
	uint32_t n_class_needs, n_made;
	uint32_t n_listed;       /* groups whose nodes were listed for a text though the sums are short */
	uint32_t n_kept_asked;   /* groups for which it was looked who of no queue stays, for a text */
	kar_time again_at;       /* when the pass is to be made again */
	kar_time free_at;        /* of a dry run: when all that it took may be taken */
	kar_time longest;        /* ms for which a reservation lasts without progress; 0: not asked yet */
	uint32_t lacks_place_at; /* struct q_round.change when .lacks_place was found (limits.c); 0: never */
	bool lacks_place;
};

struct q_pass {
	const struct q_input *in;
	struct kar_arena *arena;
	struct q_memo *memo;
	struct q_plan plan;
	struct q_round round;
};

static inline int64_t q_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Of amounts of any size; what is below the least number is it. */
static inline int64_t q_sub(int64_t a, int64_t b)
{
	int64_t rest;

	return __builtin_sub_overflow(a, b, &rest) ? (b > 0 ? INT64_MIN : INT64_MAX) : rest;
}

static inline int64_t q_mul(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static inline int64_t q_max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t q_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* One amount per resource, all 0. */
static inline int64_t *q_vector(const struct q_pass *p)
{
	return kar_arena_alloc(p->arena, p->in->n_resources, sizeof(int64_t));
}

static inline bool q_is_admitted(const struct q_group *g)
{
	return g->st.standing == KAR_QUEUE_ADMITTED;
}

/* Pods that stay: the first of its order. */
static inline int32_t q_kept(const struct q_group *g)
{
	return q_is_admitted(g) ? g->st.n_kept : 0;
}

static inline int32_t q_extras(const struct q_group *g)
{
	return q_is_admitted(g) && g->in->elastic && g->st.n_kept > g->min ? g->st.n_kept - g->min : 0;
}

/* Bound pods leave. */
static inline bool q_leaves(const struct q_pass *p)
{
	return p->plan.leaving || p->plan.foreign.n;
}

/* What pods of no queue have that stay, in the view `fut`. */
static inline int64_t q_foreign(const struct q_pass *p, uint32_t r)
{
	return p->in->foreign[r] - (p->plan.foreign.n ? p->plan.foreign.freed[r] : 0);
}

static inline int64_t q_used(const struct q_queue *q, uint32_t r)
{
	return q_add(q->sum[r].kept, q->sum[r].reserved);
}

static inline int64_t q_seen(const struct q_sum *s, enum q_view view)
{
	return q_add(s->kept, view == Q_FUT ? s->reserved : q_max(s->reserved, s->leaving));
}

#endif
