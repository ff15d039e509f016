/*
 * impl - what the files of the pass share. Private to this folder.
 *
 *   plan.c     the steps, and their result       tree.c    queues: parents, leaves, rights    setup.c, kinds.c groups: needs, which are alike, lines  base.c resources, names, times
 *   accounts.c sums, shares, rights, who goes    rows.c    limits, and what is short          nodes.c   where pods are, in two views
 *   keep.c     KEEP, SHED                        reserve.c RESERVE                            gangs.c   GANGS   race.c  whose turn
 *   ask.c what a group asks for   fit.c (a)   victims.c, sources.c the ways (b), (c), (d)  awaiting.c who asks before                 extras.c  EXTRAS, raising                    explain.c, short.c, never.c, limits.c, texts.c, estimate.c why, when  status.c of queues
 *   growth.c   who may grow   claims.c extras and claims   rebalance.c REBALANCE                    expected.c pods of nobody that are about to be bound
 *
 * Resources are numbers (index, at most 64, so that a set of them is a bit mask). A vector has one amount per resource. Everything is in
 * the arena of the pass. Invariants between two calls: each sum is that of the groups below (q_set() alone changes a group), and the
 * engine has taken exactly the spots of all groups, which is the view `fut`: what leaves is gone.
 */
#ifndef KAR_QUEUE_IMPL_H
#define KAR_QUEUE_IMPL_H

#include <assert.h>

#include "common/quantity.h"
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
	bool key_over;    /* of the candidate, see race.c */
	bool grows_below; /* somebody below may grow (rebalance.c) */
	bool dirty;       /* its sums have changed since it entered the race */
	int64_t *right, *guarantee,
		*capability;   /* per resource; .right: Q_UNNAMED if the queue names it not */
	int64_t *due;          /* per resource: what it is entitled to */
	int64_t *lent;         /* per resource: .due where a sibling has a right, else Q_NO_LIMIT */
	struct q_sum *sum;     /* per resource */
	int64_t *idle;         /* per resource: guarantees of its children that they do not use */
	int64_t share;         /* Its share without any new ask: s(a, 0) of queue.md 5, times Q_SHARE_UNIT. */
	int64_t extras;        /* pods beyond the minima, below */
	int64_t *most;         /* tree over the children: the largest .share of those with .extras, else -1 */
	struct q_group **here; /* groups of its own that are, or were in this pass, admitted or reserving */
	uint32_t n_here;
	int32_t live;                /* groups below that are admitted or reserving */
	uint32_t n_over;             /* children of which that is true */
	int32_t n_unnamed;           /* live groups below that ask nothing of what .right names */
	struct q_group **line;       /* groups that ask for it and have not finished, in line order */
	uint32_t n_line, next;       /* .next: the first that was not tried yet */
	const struct q_group *takes; /* the first that may take from others at some time; NULL: none */
	struct q_group *stopped_by;  /* the head of a StrictFIFO queue that waits; NULL: none */
	struct q_group *grows;       /* waits for new nodes; NULL: nobody does */
	struct q_group *reserved;    /* head of this pool (of the root: of the cluster); NULL: none */
	struct q_group *candidate;   /* of its subtree, whose turn it is; NULL: none */
	int64_t key_share;           /* of the candidate, see race.c */
	const int64_t *want;         /* what the candidate asks for */
	/* growth.c: of a leaf: groups that EXTRAS may raise, as a heap */
	struct q_group **growing;
	uint32_t n_growing;
	/* rebalance.c */
	int64_t *asks_least;             /* of each resource: the least that an extra below asks for */
	int64_t lows[2];                 /* the two least shares that children may grow to */
	const struct q_queue *lowest;    /* whose the first is */
	int32_t fewest[2];               /* the two least numbers of extras in a leaf of who may grow */
	const struct q_group *fewest_of; /* whose the first is */
	struct q_queue **winners;        /* race.c */
};

/* Groups that are alike for the pass: they fit or fail together. */
struct q_kind {
	const struct q_group *first; /* one of them */
	struct q_kind *next;         /* with the same hash */
	uint64_t hash;
	int64_t *minimum;     /* vector of the minimum and the hold */
	uint32_t *rows;       /* quota rows that its pods are charged with */
	int64_t *row_minimum; /* per row: by the minimum */
	uint32_t n_rows;
	int8_t feasible;                  /* -1: not asked yet */
	uint32_t starved_at;              /* struct q_pass.change when it was found not to fit; 0: never */
	uint32_t failed_at, failed_since; /* struct q_pass.change and .freed when it failed; 0: it has not */
	const char *text;                 /* why it waits; NULL: not asked yet */
	const char *after;                /* the same of those that are not first to take from others */
	enum kar_queue_reason why;
	bool why_known;
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
	int32_t n_kept; /* d: pods that it is to have, the first of its order */
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
	bool in_gone, in_live; /* it is in struct q_pass.gone, .live */
	bool unit_failed;
	bool unit_ready; /* in KEEP: its claim would start now, if the others of its unit did */
	bool keeps; /* its claim is asked for anew: what it holds of a quota was not held for those ahead of it */
	bool asks; /* others would go for it, and the API server is to be asked first */
};

/* The ways in which a group that does not fit takes room from others (docs/design/queue.md, 6). */
enum q_way {
	Q_NO_WAY,
	Q_END_HOLDS,   /* room for members to come ends: nobody loses a pod */
	Q_TAKE_EXTRAS, /* b: pods beyond the minima, of queues above their share */
	Q_RECLAIM,     /* c: whole groups of queues above their rights, for the right of its own queue */
	Q_PREEMPT,     /* d: whole groups of lower priority in its own queue */
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
	const int64_t *rows;          /* per row of the kind */
	bool extra;                   /* beyond its minimum */
	bool job;                     /* a new live group */
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

struct q_pass {
	const struct kar_queue_snapshot *snapshot;
	kar_time now, again_at;
	struct kar_arena *arena;
	const char *names[Q_RESOURCES];
	uint32_t n_resources, pods; /* .pods: the number of `pods` */
	uint64_t ranked[3];         /* resources by which pods are compared: GPUs, cpu, memory */
	int64_t alloc[Q_RESOURCES], foreign[Q_RESOURCES], load[Q_RESOURCES];
	const int64_t **class_needs; /* by class; NULL: not asked yet */
	uint32_t *failed;            /* by class: .change when an extra of it had no node; 0: never */
	uint32_t n_class_needs, n_line, kind_slots, n_gone; /* of .class_needs, .line, .kinds, .gone */
	struct q_queue *queues, *root;                      /* the root is the last */
	struct q_group *groups;
	struct q_group **line; /* all that have not finished, in line order */
	struct q_row *rows;
	int64_t *budgets;      /* what is left of each; below 0 after a drain */
	struct q_kind **kinds; /* hash table */
	struct q_group **gone; /* groups of which pods may leave */
	int64_t leaving;       /* bound pods that leave */
	int64_t extras;        /* pods beyond the minima */
	struct q_group **live; /* groups that are, or were in this pass, admitted or reserving */
	struct q_saved *log;   /* states to go back to */
	uint32_t n_live, n_log, logging;
	/* Names of the state of all groups, and of what has come free: new with each change, and the old one after q_undo(). */
	uint32_t change, freed, changes;
	uint32_t round;     /* of GANGS: what was tried before is forgotten */
	uint32_t n_holding; /* admitted groups with room for members to come */
	struct q_expected_list
		expected; /* taken in the engine, as far as nobody was placed there who goes before them */
	struct q_reserved *reserved;
	struct kar_table reserved_at; /* the nodes of these */
	kar_time reserved_since;
	kar_time longest;     /* ms for which a reservation lasts without progress; 0: not looked at yet */
	int64_t gathered;     /* percent of the minimum of their head that has come free on them */
	int32_t *kept_before; /* by group: pods that stayed when the reservation was looked at */
	int64_t left_before;  /* .leaving then; INT64_MAX: there is none */
	uint32_t n_reserved, n_raised, step;
	uint32_t lacks_place_at; /* struct q_pass.change when .lacks_place was found (rows.c); 0: never */
	uint32_t n_listed;       /* groups whose nodes were listed for a text though the sums are short */
	uint32_t n_held_back;    /* of .held_back; 0: nobody asks */
	kar_time free_at;        /* of a dry run: when all that it took may be taken */
	struct q_victim *
		held_back; /* who goes for those who ask, and for others behind them, in the order of the pass */
	struct q_group *asks_first; /* of those who ask */
	kar_class *made;            /* classes to give back at the end */
	uint32_t n_made;
	bool frees; /* of those who ask, some have room that is free at once */
	bool has_guarantees, has_rights, has_inner_preemption;
	bool lacks_place;
	bool trial;       /* q_would_let_in() runs: nothing is found out about units */
	bool ignore_time; /* of a dry run: nothing is frozen or protected */
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
static inline int64_t *q_vector(struct q_pass *p)
{
	return kar_arena_alloc(p->arena, p->n_resources, sizeof(int64_t));
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

static inline int64_t q_used(const struct q_queue *q, uint32_t r)
{
	return q_add(q->sum[r].kept, q->sum[r].reserved);
}

static inline int64_t q_seen(const struct q_sum *s, enum q_view view)
{
	return q_add(s->kept, view == Q_FUT ? s->reserved : q_max(s->reserved, s->leaving));
}

/* --- tree.c */
void q_tree(struct q_pass *p) KAR_NONNULL;
bool q_is_below(const struct q_queue *q, const struct q_queue *a) KAR_NONNULL; /* or the same */
/* The limit of the queue for @g: its capability, and what it is entitled to if nobody could have its room back. */
int64_t q_limit(const struct q_queue *q, uint32_t r, const struct q_group *g) KAR_NONNULL;
/*
 * What @q has left for @g, below 0 if it is exceeded; Q_NO_LIMIT: all. *@limit: the limit that decides. Beside what a queue is entitled
 * to the minima of its groups count and no extras, because these are given up again.
 */
int64_t q_queue_room(const struct q_queue *q, uint32_t r, const struct q_group *g, enum q_view view,
	int64_t *limit) KAR_NONNULL;
/* The different children of their lowest common ancestor; false: one is above the other, or they are the same. */
bool q_pair(struct q_queue *q, struct q_queue *v, struct q_queue **a, struct q_queue **b) KAR_NONNULL;

/* --- base.c */
/* Line order; for qsort() of struct q_group *. */
int q_compare_line(const void *a, const void *b) KAR_NONNULL;
int q_compare_names(const struct q_group *a, const struct q_group *b) KAR_NONNULL;
/* The number of a resource; Q_RESOURCES: there are too many. */
uint32_t q_resource(struct q_pass *p, const char *name) KAR_NONNULL;
const int64_t *q_class_needs(struct q_pass *p, kar_class c) KAR_NONNULL KAR_RETNN;
/* The run of pod @k. */
uint32_t q_run_of(const struct q_group *g, int32_t k) KAR_NONNULL;
/* A bound pod is on a node that is not usable: no sum of the cluster counts it. */
bool q_is_away(const struct q_pass *p, const struct kar_queue_seat *s) KAR_NONNULL;
/* The place of a quota row among those of the kind; .n_rows: it is not charged. */
uint32_t q_row_of(const struct q_kind *k, uint32_t row) KAR_NONNULL;
/* Adds what pods @from .. @to ask for to @v, and (not NULL) charge rows of the kind with. */
void q_add_pods(struct q_pass *p, const struct q_group *g, int32_t from, int32_t to, int64_t *v,
	int64_t *rows) __attribute__((nonnull(1, 2, 5)));
/* What @n pods of a class ask for, and are charged. */
void q_add_class(struct q_pass *p, kar_class c, int64_t n, int64_t *v) KAR_NONNULL;
void q_add_charges(const struct q_kind *k, const struct kar_queue_charge *charges, uint32_t n_charges,
	int64_t n, int64_t *rows) __attribute__((nonnull(1, 5)));
void q_add_list(struct q_pass *p, const struct kar_queue_amounts *list, int64_t *to) KAR_NONNULL;
/* Why it is not eligible; ADMITTED: it is. */
enum kar_queue_reason q_ineligible(const struct q_group *g) KAR_NONNULL;
void q_note_time(struct q_pass *p, kar_time at) KAR_NONNULL; /* the pass is to be made again then */
bool q_is_frozen(struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* When that ends, wall ms; 0: it was never scaled. */
kar_time q_frozen_until(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* It has not run for @runtime ms yet. */
bool q_is_protected(struct q_pass *p, const struct q_group *g, kar_time runtime) KAR_NONNULL;

/* --- setup.c */
void q_setup(struct q_pass *p) KAR_NONNULL;

/* --- kinds.c */
struct q_kind *q_kind_of(struct q_pass *p, struct q_group *g) KAR_NONNULL KAR_RETNN; /* .level is known */

/* --- accounts.c */
/* The group has this state from now on, and all sums follow. What its old one was can be restored (q_mark()). */
void q_set(struct q_pass *p, struct q_group *g, const struct q_state *st) KAR_NONNULL;
void q_count_all(struct q_pass *p) KAR_NONNULL;
/* States since the mark can be taken back, with what the engine has taken, the last mark first. */
struct q_mark {
	size_t sched;
	uint32_t log, change, freed;
	struct q_expected_list expected;
};
struct q_mark q_mark(struct q_pass *p) KAR_NONNULL;
void q_undo(struct q_pass *p, struct q_mark m) KAR_NONNULL;
void q_keep_changes(struct q_pass *p, struct q_mark m) KAR_NONNULL;
int64_t q_share(const struct q_pass *p, const struct q_queue *q, const int64_t *v, int64_t unit)
	__attribute__((nonnull(1, 2)));
/* The largest share of siblings with extras; -1: none has some. */
int64_t q_most_beside(const struct q_queue *q) KAR_NONNULL;
bool q_within(const struct q_pass *p, const struct q_queue *q, const int64_t *v) KAR_NONNULL;
/* @minima: only these count of what its groups use. */
bool q_over(const struct q_pass *p, const struct q_queue *q, const int64_t *v, uint64_t resources,
	bool minima) KAR_NONNULL;
uint64_t q_asked(const struct q_pass *p,
	const int64_t *v) KAR_NONNULL; /* the resources of which it asks for some */
int64_t q_lock(const struct q_queue *q, uint32_t r) KAR_NONNULL;
/* It has one pod less, which leaves. */
void q_lower(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* Its room for members to come ends, so that @taker has it. */
void q_end_hold(struct q_pass *p, struct q_group *g, struct q_group *taker) KAR_NONNULL;
/* It loses its admission, for @taker (NULL: nobody), or a claim that it may have again. */
void q_evict(struct q_pass *p, struct q_group *g, enum kar_queue_cause cause, struct q_group *taker)
	__attribute__((nonnull(1, 2)));

/* --- ask.c */
/* It waits in its line, for its minimum or for what its raised minimum lacks. */
bool q_is_candidate(const struct q_group *g) KAR_NONNULL;
/* Its minimum, or what its raised minimum lacks. */
struct q_ask q_ask_of(struct q_pass *p, struct q_group *g) KAR_NONNULL;
struct q_ask q_ask_minimum(struct q_group *g) KAR_NONNULL;
/* Pods @from .. @to of an admitted group. */
struct q_ask q_ask_pods(struct q_pass *p, struct q_group *g, int32_t from, int32_t to) KAR_NONNULL;
/* May a reservation for @head (NULL: there is none) stop it? Extras, and groups of its level and base or below, but not within their right. */
bool q_binds(const struct q_pass *p, const struct q_group *head, const struct q_ask *ask)
	__attribute__((nonnull(1, 3)));

/* --- rows.c */
/* What is short is in @s, without the nodes. The sum of the cluster refuses only for guarantees, and for pods without a place: else nodes decide. */
bool q_rows_fit(struct q_pass *p, const struct q_ask *ask, enum q_view view, struct q_short *s) KAR_NONNULL;
/* A pod that stays has no node, or waits for room there that is to come free. */
bool q_lacks_a_place(const struct q_state *st) KAR_NONNULL;
bool q_is_feasible(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* It waits, and a row of its own is too small for it now, or is closed to it. */
bool q_is_quota_blocked(struct q_pass *p, const struct q_group *g) KAR_NONNULL;
struct q_group *q_row_closer(struct q_pass *p, uint32_t row) KAR_NONNULL;
int64_t q_row_room(const struct q_pass *p, uint32_t row) KAR_NONNULL; /* fut */
/* With @u more, more of a resource of the cluster is used than --max-load-desired allows. */
bool q_exceeds_load(const struct q_pass *p, const int64_t *u) KAR_NONNULL;

/* --- nodes.c */
void q_nodes_begin(struct q_pass *p) KAR_NONNULL;
/* Places pods for @ask in the view; they are in *@st, which is the state of the group then, and taken. */
bool q_place(struct q_pass *p, const struct q_ask *ask, enum q_view view, struct q_state *st) KAR_NONNULL;
/* What a group has taken beyond its first @d pods is free; @st follows. */
void q_release(struct q_pass *p, const struct q_group *g, struct q_state *st, int32_t d) KAR_NONNULL;
/* Bound pods of the group that leave. */
int32_t q_count_gone(struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* What the engine has taken for the one state, it has for the other. */
void q_retake(struct q_pass *p, const struct q_group *g, const struct q_state *from,
	const struct q_state *to) KAR_NONNULL;
const struct kar_placement *q_placement(struct q_pass *p,
	const struct q_group *g) KAR_NONNULL; /* of fresh spots; NULL: none */
/* Why @ask has no place: "2 nodes lack cpu (short 3), 1 cordoned". */
struct kar_sched_why q_explain_nodes(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* The same beside what is kept free for the head of the cluster. */
struct kar_sched_why q_explain_beside_head(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* kar_sched_exceeds_nodes(), kar_sched_all_alike() of its minimum. */
bool q_exceeds_nodes(struct q_pass *p, struct q_group *g, struct kar_sched_excess *out) KAR_NONNULL;
bool q_nodes_are_alike(struct q_pass *p, struct q_group *g) KAR_NONNULL;
bool q_fits_empty_nodes(struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* Takes (@sign 1), or gives back, what is held for the head of the cluster: also the room of old pods that have gone since. */
void q_reserve_room(struct q_pass *p, int32_t sign) KAR_NONNULL;

/* --- expected.c */
/* Pods that are about to be bound take the room that is free now, beside all that is decided. */
void q_lay_expected(struct q_pass *p) KAR_NONNULL;
/* Such a pod would leave the ask its room. */
bool q_goes_before(const struct q_pass *p, const struct q_ask *ask,
	const struct kar_queue_expected *e) KAR_NONNULL;
/* Some of them would. */
bool q_goes_before_expected(const struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* The engine has what these take as free; to be undone, or settled when pods were placed there: then those stay that still fit where they were. */
void q_lift_expected(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
void q_settle_expected(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* There are none, until the mark before is undone. */
void q_forget_expected(struct q_pass *p) KAR_NONNULL;

/* --- the steps; true: something has changed */
bool q_keep(struct q_pass *p) KAR_NONNULL;
bool q_shed(struct q_pass *p) KAR_NONNULL;
void q_reserve(struct q_pass *p) KAR_NONNULL;
/* Since when, until when and with how many pods room comes together for the head of a pool. */
void q_reservation_result(struct q_pass *p, struct q_group *head, struct kar_queue_status_out *o) KAR_NONNULL;
/* The reservation of the queue has ended, and who had it is to be known: while it cools down, and so that others come first then. */
bool q_keeps_reservation(struct q_pass *p, const struct q_queue *q) KAR_NONNULL;
void q_forget_reservation(struct q_pass *p) KAR_NONNULL;
void q_forget_heads(struct q_pass *p) KAR_NONNULL; /* with the reservation */
bool q_gangs(struct q_pass *p) KAR_NONNULL;
/* GANGS would let somebody in, as things are. It is tried and undone. *@last (NULL: nobody yet): of whom that was found last, for speed. */
bool q_would_let_in(struct q_pass *p, struct q_group **last) KAR_NONNULL;
bool q_extras_step(struct q_pass *p) KAR_NONNULL;
bool q_rebalance(struct q_pass *p) KAR_NONNULL;
void q_grow_members(struct q_pass *p) KAR_NONNULL;
bool q_raise(struct q_pass *p)
	KAR_NONNULL; /* at the end of all: rises that do not fit now are taken back; true: some were */

/* It has one pod more; false: there is no room. */
bool q_raise_by_one(struct q_pass *p, struct q_group *g, enum q_view view) KAR_NONNULL;
/*
 * Might the one more pod of @ask, which no plan binds, be bound to room of a claim, or of a minimum that starts? All extras without a node are counted, as
 * kube-scheduler may put them all on one.
 */
bool q_awaits_room(struct q_pass *p) KAR_NONNULL; /* is there such a claim or minimum? */
bool q_may_stray(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* Room of a class without its pods: given back at the end of the pass. 0: nothing of it, or there are too many. */
kar_class q_room_class(struct q_pass *p, const int64_t *v) KAR_NONNULL;
/* If pod @k of the group is bound in the snapshot, it stays there: 1. 0: there is no room for it any more. -1: it is not bound. */
int q_keep_bound(struct q_pass *p, const struct q_group *g, int32_t k, struct q_state *st) KAR_NONNULL;
/* The group with extras that is the last by D among those for which @uses holds; NULL: none. */
struct q_group *q_last_by_shares(struct q_pass *p, const struct q_queue *below,
	uint64_t resources) KAR_NONNULL;
int q_compare_shares(const struct q_group *a, const struct q_group *b) KAR_NONNULL;

/* --- fit.c */
enum q_fit { Q_NO, Q_LATER, Q_AT_ONCE };
/* (a): the minimum, or what a raised one lacks. Then it is taken. Else *@s says what is short. */
enum q_fit q_admit(struct q_pass *p, struct q_group *g, struct q_short *s) KAR_NONNULL;

/* --- victims.c */
/* Can a way but the free room do anything for groups of this queue? Then a failure is remembered until the next change only. */
bool q_may_take(const struct q_pass *p, const struct q_queue *leaf) KAR_NONNULL;
/* False: no way finds anybody for @g, as things are. */
bool q_may_find_victims(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* Some that make @g fit have gone, and it is admitted or reserves; or nothing has changed. */
bool q_take_from_others(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/*
 * awaiting.c: @victims go for @g, which has been let in. If it asks, or is behind somebody who does, that is so in this pass alone:
 * nobody behind it finds their room, and in the end q_hold_back() makes it as it was.
 */
void q_note_victims(struct q_pass *p, struct q_group *g, const struct q_victim *victims,
	uint32_t n) KAR_NONNULL;
/* A group that is let in now has its room in this pass alone. */
bool q_is_behind_question(const struct q_pass *p, const struct q_group *g, bool at_once) KAR_NONNULL;
bool q_hold_back(struct q_pass *p) KAR_NONNULL; /* true: there was such a group */
/* Whoever was evicted by this pass and fits beside all who have been let in since goes on; true: somebody does. */
bool q_spare(struct q_pass *p) KAR_NONNULL;

/* --- race.c */
void q_race_begin(struct q_pass *p) KAR_NONNULL;
/* The leaf has another candidate (NULL: none) that asks for @v, or its sums have changed: the keys of its path are made anew. */
void q_race_enter(struct q_pass *p, struct q_queue *leaf, struct q_group *candidate, const int64_t *v)
	__attribute__((nonnull(1, 2)));

/* --- growth.c */
bool q_may_grow(struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* A quota that charges it is kept for groups that have been admitted and do not run yet. */
bool q_waits_for_start(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* Nobody is .full. */
void q_growth_all(struct q_pass *p) KAR_NONNULL;
/* The race begins; @fitting: without those whose next pod the cluster has no room for. */
void q_growth_begin(struct q_pass *p, bool fitting) KAR_NONNULL;
/* The group, or what its leaf uses, has changed. */
void q_growth_note(struct q_pass *p, struct q_group *g) KAR_NONNULL;

/* --- explain.c, texts.c, estimate.c */
void q_explain(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;
void q_messages(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;
void q_lift_all(struct q_pass *p) KAR_NONNULL; /* no managed pod is anywhere, and none is about to be bound */
/* As kar_amount_text(), in the arena of the pass. */
const char *q_text_amount(struct q_pass *p, const char *resource, int64_t amount,
	bool up) KAR_NONNULL KAR_RETNN;
const char *q_text_time(struct q_pass *p, kar_time at) KAR_NONNULL KAR_RETNN;
const char *q_text_ordinal(int32_t n) KAR_RETNN;
void q_estimate(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;
void q_queue_results(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;

#endif
