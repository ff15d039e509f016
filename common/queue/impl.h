/*
 * impl - what the files of the pass share. Private to this folder.
 *
 *   pass.c        the steps, and what they decide           admit.c       GANGS: whose turn it is, units, new nodes
 *   setup.c       groups, lines and resources, once         preempt.c     who makes room for a group, in which way
 *   demand.c      what groups ask for, which are alike      candidates.c  whom it may take room from, who goes first
 *   tree.c        queues: parents, leaves, rights           elastic.c     EXTRAS: who may grow, one more, rises
 *   usage.c       sums, shares, rights; q_set(), q_undo()   claims.c      extras leave claims alone
 *   limits.c      limits with their sums, who is blocked    rebalance.c   REBALANCE
 *   nodes.c       a place for each pod                      explain.c     why a group waits: the order of reasons
 *   places.c      spots, the two views, expected pods       shortage.c    room that is short
 *   fit.c         admission where there is room             never.c       what cannot be had at all
 *   recheck.c     KEEP and SHED                             bounds.c      why an elastic group has no more pods
 *   foreign.c     pods of no queue that leave               foreign_take.c  which of them go for a group
 *   edited.c      whether edited templates are let in      joining.c     members of others beyond the minimum
 *   flavors.c     accounts by kinds of nodes               choice.c      in which flavor a group is looked for
 *   reserve.c     RESERVE: room comes together for a head   texts.c, estimate.c, results.c   amounts; starts; statuses
 *
 * A function that takes a const struct q_pass only asks, or changes nothing but what it is given beside that.
 */
#ifndef KAR_QUEUE_IMPL_H
#define KAR_QUEUE_IMPL_H

#include "common/queue/model.h"

enum q_fit { Q_NO, Q_LATER, Q_AT_ONCE };

/* --- tree.c */
/* Sets up queues and rights; @in is that of @p. */
void q_tree(struct q_input *in, struct q_pass *p) KAR_NONNULL;
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

/* --- demand.c */
/* Line order; for qsort() of struct q_group *. */
int q_compare_line(const void *a, const void *b) KAR_NONNULL;
int q_compare_names(const struct q_group *a, const struct q_group *b) KAR_NONNULL;
/* Gives a resource its number, if it has none: vectors are as long as there are resources. Q_RESOURCES: there are too many. */
uint32_t q_number_resource(struct q_input *in, const char *name) KAR_NONNULL;
/* The number of a resource; Q_RESOURCES: it has none. */
uint32_t q_resource(const struct q_pass *p, const char *name) KAR_NONNULL;
/* q_class_needs() has been asked for it. */
bool q_knows_class(const struct q_pass *p, kar_class c) KAR_NONNULL;
const int64_t *q_class_needs(const struct q_pass *p, kar_class c) KAR_NONNULL KAR_RETNN;
/* The run of pod @k. */
uint32_t q_run_of(const struct q_group *g, int32_t k) KAR_NONNULL;
/* A bound pod is on a node that is not usable: no sum of the cluster counts it. */
bool q_is_away(const struct q_pass *p, const struct kar_queue_seat *s) KAR_NONNULL;
/* The place of a quota row among those of the kind; .n_rows: it is not charged. */
uint32_t q_row_of(const struct q_kind *k, uint32_t row) KAR_NONNULL;
/* Adds what pods @from .. @to ask for to @v, and (not NULL) charge rows of the kind with. */
void q_add_pods(const struct q_pass *p, const struct q_group *g, int32_t from, int32_t to, int64_t *v,
	int64_t *rows) __attribute__((nonnull(1, 2, 5)));
/* What @n pods of a class ask for, and are charged. */
void q_add_class(const struct q_pass *p, kar_class c, int64_t n, int64_t *v) KAR_NONNULL;
void q_add_charges(const struct q_kind *k, const struct kar_queue_charge *charges, uint32_t n_charges,
	int64_t n, int64_t *rows) __attribute__((nonnull(1, 5)));
void q_add_list(const struct q_pass *p, const struct kar_queue_amounts *list, int64_t *to) KAR_NONNULL;
/* Why it is not eligible; ADMITTED: it is. */
enum kar_queue_reason q_ineligible(const struct q_group *g) KAR_NONNULL;
void q_note_time(const struct q_pass *p, kar_time at) KAR_NONNULL; /* the pass is to be made again then */
bool q_is_frozen(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* When that ends, wall ms; 0: it was never scaled. */
kar_time q_frozen_until(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* When it may have more extras, wall ms, or 0. Is that still to come? */
kar_time q_grows_at(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
bool q_pauses(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* It has not run for @runtime ms yet. */
bool q_is_protected(const struct q_pass *p, const struct q_group *g, kar_time runtime) KAR_NONNULL;
/* It waits in its line, for its minimum or for what its raised minimum lacks. */
bool q_is_candidate(const struct q_group *g) KAR_NONNULL;
/* Its minimum, or what its raised minimum lacks. */
struct q_ask q_ask_of(const struct q_pass *p, struct q_group *g) KAR_NONNULL;
struct q_ask q_ask_minimum(struct q_group *g) KAR_NONNULL;
/* Pods @from .. @to of an admitted group. */
struct q_ask q_ask_pods(const struct q_pass *p, struct q_group *g, int32_t from, int32_t to) KAR_NONNULL;
struct q_kind *q_kind_of(struct q_pass *p, struct q_group *g) KAR_NONNULL KAR_RETNN; /* .level is known */

/* --- flavors.c */
/* Numbers what queues name by flavors, when all plain resources have a number. */
void q_number_flavors(struct q_input *in, struct q_pass *p) KAR_NONNULL;
/* What of the flavors is not in use by groups of the pass, when all groups are set up. */
void q_count_flavors(struct q_input *in, const struct q_pass *p) KAR_NONNULL;
/* Reads the rights of a queue by flavor. */
void q_read_flavor_rights(const struct q_pass *p, struct q_queue *q) KAR_NONNULL;
/* The needs of the class on nodes of the flavor alone; with 0 its own. */
kar_class q_class_in(const struct q_pass *p, kar_class c, uint32_t flavor) KAR_NONNULL;
/* Adds to @v, what the class of @needs asks for, the same by its flavor. */
void q_add_flavored(const struct q_pass *p, const struct kar_pod_needs *needs, int64_t *v) KAR_NONNULL;
/* The class of a run, in the flavor of the state of the group. */
kar_class q_class_of(const struct q_pass *p, const struct q_group *g, uint32_t run) KAR_NONNULL;
uint32_t q_flavor_of_node(const struct q_pass *p, const char *node) __attribute__((nonnull(1)));
/* @n pods of @c on a node (NULL: nowhere) are charged to the flavor of that. */
void q_add_class_on(const struct q_pass *p, kar_class c, const char *node, int64_t n, int64_t *v)
	__attribute__((nonnull(1, 5)));
/* Of @v, what the first @n pods ask for: those that have a node are charged to its flavor. */
void q_charge_nodes(const struct q_pass *p, const struct q_group *g, int32_t n, int64_t *v) KAR_NONNULL;
/* With the plain ones of those that are of a flavor: groups that may be anywhere may be there, too. */
uint64_t q_with_plain(const struct q_pass *p, uint64_t resources) KAR_NONNULL;
/* Adds its room for members to come. */
void q_add_hold(const struct q_pass *p, const struct q_group *g, int64_t *v) KAR_NONNULL;
/* The kind of the group in the flavor of its state. */
void q_set_kind(struct q_pass *p, struct q_group *g) KAR_NONNULL;

/* --- choice.c */
/* The flavors that the group may have, in the order of its queue; 0: it has no choice, and they need not be looked at. */
uint32_t q_flavors(struct q_pass *p, const struct q_group *g, const uint32_t **out) KAR_NONNULL;
/* The group, which waits, is looked at in the flavor. */
void q_look_in(struct q_pass *p, struct q_group *g, uint32_t flavor) KAR_NONNULL;
/* The first flavor where it has a right to its minimum, else the first where it could be at all, is looked at. */
void q_prefer_flavor(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* As q_admit(), in any flavor: first where room is free now. */
enum q_fit q_admit_anywhere(struct q_pass *p, struct q_group *g, struct q_short *s) KAR_NONNULL;
/* The same of a claim: its own flavor goes first. */
enum q_fit q_admit_claim(struct q_pass *p, struct q_group *g, struct q_short *s) KAR_NONNULL;
/* Free room or that of others, in the order of its queue's policy. */
bool q_try_flavors(struct q_pass *p, struct q_group *g) KAR_NONNULL;

/* --- setup.c */
/* Fills in @in, which is that of @p and const from then on, and the plan as the snapshot has it. */
void q_setup(struct q_input *in, struct q_pass *p) KAR_NONNULL;

/* --- usage.c */
/* Counts all sums again and compares them with those that are kept; for tests (struct kar_queue_snapshot, .recounts), as it asks for each queue and group. */
void q_recount(struct q_pass *p) KAR_NONNULL;
/* The group has this state from now on, and all sums follow. What its old one was can be restored (q_mark()). */
void q_set(struct q_pass *p, struct q_group *g, const struct q_state *st) KAR_NONNULL;
void q_count_all(struct q_pass *p) KAR_NONNULL;
/* States since the mark can be taken back, with what the engine has taken, the last mark first. */
struct q_mark {
	size_t sched;
	uint32_t log, change, freed;
	struct q_expected_list expected;
	struct q_foreign foreign;
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

/* --- limits.c */
/* What is short is in @s, without the nodes. The sum of the cluster refuses only for guarantees, and for pods without a place: else nodes decide. */
bool q_rows_fit(const struct q_pass *p, const struct q_ask *ask, enum q_view view,
	struct q_short *s) KAR_NONNULL;
/* Of that only what concerns the queues of its path: their capabilities, and what is held there for a head. */
bool q_queues_allow(const struct q_pass *p, const struct q_ask *ask, enum q_view view,
	struct q_short *s) KAR_NONNULL;
/* A pod that stays has no node, or waits for room there that is to come free. */
bool q_lacks_a_place(const struct q_state *st) KAR_NONNULL;
bool q_is_feasible(const struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* It waits, and a row of its own is too small for it now, or is closed to it. */
bool q_is_quota_blocked(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
struct q_group *q_row_closer(const struct q_pass *p, uint32_t row) KAR_NONNULL;
int64_t q_row_room(const struct q_pass *p, uint32_t row) KAR_NONNULL; /* fut */
/* With @u more, more of a resource of the cluster is used than --max-load-desired allows. */
bool q_exceeds_load(const struct q_pass *p, const int64_t *u) KAR_NONNULL;

/* --- nodes.c, places.c */
/* May a reservation for @head (NULL: there is none) stop it? Extras, and groups of its level and base or below, but not within their right. */
bool q_binds(const struct q_pass *p, const struct q_group *head, const struct q_ask *ask)
	__attribute__((nonnull(1, 3)));
/* It has ended when the head of the cluster has its room, so that it may use that until then (backfill.c). */
bool q_ends_in_time(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
void q_nodes_begin(struct q_pass *p) KAR_NONNULL;
/* Pods that found no node then take what has come free since. */
void q_place_stranded(struct q_pass *p) KAR_NONNULL;
/* Places pods for @ask in the view; they are in *@st, which is the state of the group then, and taken. */
bool q_place(struct q_pass *p, const struct q_ask *ask, enum q_view view, struct q_state *st) KAR_NONNULL;
/* As q_place(), for who only asks, over and over, and takes all back: the places are in nobody's state, and cost no memory of the pass. */
bool q_has_places(struct q_pass *p, const struct q_ask *ask, enum q_view view) KAR_NONNULL;
/* What a group has taken beyond its first @d pods is free; @st follows. */
void q_release(struct q_pass *p, const struct q_group *g, struct q_state *st, int32_t d) KAR_NONNULL;
/* The group as it waits, without pods; q_drop() makes it so. */
struct q_state q_without_pods(struct q_pass *p, const struct q_group *g) KAR_NONNULL;
void q_drop(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* Bound pods of the group that leave. */
int32_t q_count_gone(struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* What the engine has taken for the one state, it has for the other. */
void q_retake(struct q_pass *p, const struct q_group *g, const struct q_state *from,
	const struct q_state *to) KAR_NONNULL;
const struct kar_placement *q_placement(struct q_pass *p,
	const struct q_group *g) KAR_NONNULL; /* of fresh spots; NULL: none */
/* Why @ask has no place: "2 nodes lack cpu (short 3), 1 cordoned". */
struct kar_sched_why q_explain_nodes(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
struct kar_sched_why q_explain_empty_nodes(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* The same beside what is kept free for the head of the cluster. */
struct kar_sched_why q_explain_beside_head(struct q_pass *p, const struct q_ask *ask) KAR_NONNULL;
/* kar_sched_exceeds_nodes(), kar_sched_all_alike() of its minimum. */
bool q_exceeds_nodes(const struct q_pass *p, struct q_group *g, struct kar_sched_excess *out) KAR_NONNULL;
bool q_nodes_are_alike(const struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* The domains that could have the pods of an .ask that must be in one, were they empty: at most @most, that with most room first; how many. */
uint32_t q_domains_for(struct q_pass *p, const struct q_ask *ask, uint32_t most,
	const char **out) KAR_NONNULL;
bool q_fits_empty_nodes(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* Takes (@sign 1), or gives back, what is held for the head of the cluster: also the room of old pods that have gone since. */
void q_reserve_room(struct q_pass *p, int32_t sign) KAR_NONNULL;

/* --- pods that are about to be bound */
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

/* --- foreign.c, foreign_take.c: pods of no queue that may be evicted, by their numbers */
void q_foreign_copy(struct q_pass *p)
	KAR_NONNULL; /* the list is a new one, to be changed: an older one can be restored */
void q_foreign_goes(struct q_pass *p, uint32_t i, const struct q_group *taker) KAR_NONNULL;
void q_foreign_stays(struct q_pass *p, uint32_t i) KAR_NONNULL;
bool q_foreign_goes_before(const struct q_pass *p, const struct q_group *g,
	uint32_t i) KAR_NONNULL;                    /* @g does, by priority */
void q_foreign_begin(struct q_pass *p) KAR_NONNULL; /* those that stop leave in the view `fut` */
/* Such pods may make room for @g, if there are some. */
bool q_may_use_foreign(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* What those have that stop, or may go for @g if need be; in the arena. */
int64_t *q_yielded_to(const struct q_pass *p, const struct q_group *g) KAR_NONNULL KAR_RETNN;
/* The engine has those that are young and of a lower priority than @g as gone (@sign 1), or back; false: there are none. */
bool q_lift_young(struct q_pass *p, const struct q_group *g, int32_t sign) KAR_NONNULL;
/* Some of them go for the group. */
bool q_foreign_goes_for(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* Who goes for groups that have no claim any more stays. */
void q_foreign_settle(struct q_pass *p) KAR_NONNULL;
/* "pods n/a, n/b and 2 more of no queue are", of those that leave for @g or stopped before; NULL: there are none. */
const char *q_name_foreign(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* ", pod n/a of no queue stays: PodDisruptionBudget n/b", if @g would have room without that and is among the first that ask; else "". */
const char *q_name_kept(struct q_pass *p, struct q_group *g) KAR_NONNULL KAR_RETNN;

/* --- the steps; true: something has changed */
bool q_keep(struct q_pass *p) KAR_NONNULL;
bool q_shed(struct q_pass *p) KAR_NONNULL;
void q_reserve(struct q_pass *p) KAR_NONNULL;
/* Since when, until when and with how many pods room comes together for the head of a pool. */
void q_reservation_result(struct q_pass *p, struct q_group *head, struct kar_queue_status_out *o) KAR_NONNULL;
/* The reservation of the queue has ended, and who had it is to be known: while it cools down, and so that others come first then. */
bool q_keeps_reservation(const struct q_pass *p, const struct q_queue *q) KAR_NONNULL;
void q_forget_reservation(struct q_pass *p) KAR_NONNULL;
void q_forget_heads(struct q_pass *p) KAR_NONNULL; /* with the reservation */
bool q_gangs(struct q_pass *p) KAR_NONNULL;
/* GANGS would let somebody in, as things are. It is tried and undone. *@last (NULL: nobody yet): of whom that was found last, for speed. */
bool q_would_let_in(struct q_pass *p, struct q_group **last) KAR_NONNULL;
bool q_extras_step(struct q_pass *p) KAR_NONNULL;
bool q_rebalance(struct q_pass *p) KAR_NONNULL;
void q_grow_members(struct q_pass *p) KAR_NONNULL;
/* Members of groups that .joins: those that had been let in before, first of all, and in the end as many more as may come. */
void q_keep_joined(struct q_pass *p) KAR_NONNULL;
void q_join(struct q_pass *p) KAR_NONNULL;
bool q_is_behind_strict_head(const struct q_group *g) KAR_NONNULL;
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
struct q_group *q_last_by_shares(const struct q_pass *p, const struct q_queue *below,
	uint64_t resources) KAR_NONNULL;
int q_compare_shares(const struct q_group *a, const struct q_group *b) KAR_NONNULL;

/* --- fit.c */
/* (a): the minimum, or what a raised one lacks. Then it is taken. Else *@s says what is short. */
enum q_fit q_admit(struct q_pass *p, struct q_group *g, struct q_short *s) KAR_NONNULL;
/* Only if it can start at once. */
bool q_admit_now(struct q_pass *p, struct q_group *g, struct q_short *s) KAR_NONNULL;

/* --- preempt.c */
/* Can a way but the free room do anything for groups of this queue? Then a failure is remembered until the next change only. */
bool q_may_take(const struct q_pass *p, const struct q_queue *leaf) KAR_NONNULL;
/* False: no way finds anybody for @g, as things are. */
bool q_may_find_victims(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/* Some that make @g fit have gone, and it is admitted or reserves; or nothing has changed. */
bool q_take_from_others(struct q_pass *p, struct q_group *g) KAR_NONNULL;
/*
 * @victims, and (@foreign) pods of no queue, go for @g, which has been let in. If it asks, or is behind somebody who does, that is so in this pass alone:
 * nobody behind it finds their room, and in the end q_hold_back() makes it as it was.
 */
void q_note_victims(struct q_pass *p, struct q_group *g, const struct q_victim *victims, uint32_t n,
	bool foreign) __attribute__((nonnull(1, 2)));
/* A group that is let in now has its room in this pass alone. */
bool q_is_behind_question(const struct q_pass *p, const struct q_group *g, bool at_once) KAR_NONNULL;
/* Likewise, because what a pod of it, or of a group that starts with it, needs is not known. */
bool q_awaits_needs(struct q_pass *p, struct q_group *g) KAR_NONNULL;
bool q_hold_back(struct q_pass *p) KAR_NONNULL; /* true: there was such a group */
/* Whoever was evicted by this pass and fits beside all who have been let in since goes on; true: somebody does. */
bool q_spare(struct q_pass *p) KAR_NONNULL;

/* --- whose turn it is (admit.c) */
/* @by_history: what queues have had goes before their shares, where parents say so; of GANGS and EXTRAS. */
void q_race_begin(struct q_pass *p, bool by_history) KAR_NONNULL;
/* The leaf has another candidate (NULL: none) that asks for @v, or its sums have changed: the keys of its path are made anew. */
void q_race_enter(struct q_pass *p, struct q_queue *leaf, struct q_group *candidate, const int64_t *v)
	__attribute__((nonnull(1, 2)));

/* --- who may grow (elastic.c) */
bool q_may_grow(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* A quota that charges it is kept for groups that have been admitted and do not run yet. */
bool q_waits_for_start(const struct q_pass *p, const struct q_group *g) KAR_NONNULL;
/* Nobody is .full. */
void q_growth_all(struct q_pass *p) KAR_NONNULL;
/*
 * The race begins. @fitting: of EXTRAS, without those whose next pod the cluster has no room for; else of REBALANCE, which goes by shares
 * alone, or nobody would give one to a queue that has had more.
 */
void q_growth_begin(struct q_pass *p, bool fitting) KAR_NONNULL;
/* The group, or what its leaf uses, has changed. */
void q_growth_note(struct q_pass *p, struct q_group *g) KAR_NONNULL;

/* --- explain.c, texts.c, estimate.c, results.c */
void q_explain(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;
void q_messages(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;
/* As kar_amount_text(), in the arena of the pass. */
const char *q_text_amount(const struct q_pass *p, const char *resource, int64_t amount,
	bool up) KAR_NONNULL KAR_RETNN;
const char *q_text_time(const struct q_pass *p, kar_time at) KAR_NONNULL KAR_RETNN;
const char *q_text_ordinal(int32_t n) KAR_RETNN;
void q_estimate(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;
void q_queue_results(struct q_pass *p, struct kar_queue_result *out) KAR_NONNULL;

#endif
