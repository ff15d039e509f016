/*
 * placement - the states of status.placement of a PodGroup, and every step from one to the next (docs/design/podgroup.md, 4). Pure.
 *
 * Two reconcilers write the placement: the queue's begins attempts and ends them for others, the one of PodGroups follows the members. Both
 * make a new placement here only. Each function returns the placement after its step: a copy of @old with what the step changes. Texts and
 * plans are borrowed from @old and from the arguments. @now: wall ms. A step that the table of states does not allow is a bug of the caller
 * (assert).
 */
#ifndef KAR_API_PLACEMENT_H
#define KAR_API_PLACEMENT_H

#include "api/podgroup/podgroup.h"

/* May a placement in state @from have state @to after one step? A step may also stay in its state. */
bool kar_pg_state_allows(enum kar_pg_state from, enum kar_pg_state to);

/* --- the queue reconciler's steps ------------------------------------------------------------------ */

/* Where the pods of each role go. */
struct kar_pg_roles {
	struct kar_pg_planned *items;
	size_t n;
};

struct kar_pg_beginning {
	struct kar_pg_roles plan; /* of .placed */
	bool placed;              /* false: without places, because it waits for new nodes */
	bool of_others;           /* its members are pods of other controllers */
	kar_time deadline;        /* wall ms */
	const char *requests;     /* as in the placement */
	struct kar_pg_domain *domains;
	size_t n_domains;
};
/* An attempt begins: it is PLACED, or UNPLACED. */
struct kar_pg_placement kar_pg_begin(const struct kar_pg_placement *old, const struct kar_pg_beginning *b,
	kar_time now) KAR_NONNULL;
/* A gang that was admitted without places runs already: it is SATISFIED with @members. */
struct kar_pg_placement kar_pg_adopt(const struct kar_pg_placement *old, int32_t members,
	kar_time now) KAR_NONNULL;
struct kar_pg_renewal {
	struct kar_pg_roles plan;
	bool begins;       /* pods that exist are not of the plan any more */
	kar_time deadline; /* wall ms, for the places that it lacks; 0: it lacks none */
	kar_time pause;    /* ms from now in which it gets no places; 0: none */
};
/* The plan is another one now. */
struct kar_pg_placement kar_pg_renew(const struct kar_pg_placement *old, const struct kar_pg_renewal *r,
	kar_time now) KAR_NONNULL;
/* The plan is another one now, because members were stuck on nodes of the old one. */
struct kar_pg_placement kar_pg_repair(const struct kar_pg_placement *old, struct kar_pg_roles plan,
	kar_time now) KAR_NONNULL;
/* The room for members to come goes to @taker, "ns/name". */
struct kar_pg_placement kar_pg_yield_hold(const struct kar_pg_placement *old, const char *taker) KAR_NONNULL;
/* Its room goes to @taker, "ns/name" or a queue that is drained: it is ROLLING_BACK, but has not failed. */
struct kar_pg_placement kar_pg_evict(const struct kar_pg_placement *old, const char *taker, const char *cause,
	kar_time now) KAR_NONNULL;
/* It is not admitted yet, and room is held for it: RESERVING. What it remembers stays, .time too. */
struct kar_pg_placement kar_pg_reserve(const struct kar_pg_placement *old) KAR_NONNULL;
/* Its job is suspended: SUSPENDED. An attempt ends, and has not failed; after DEACTIVATED the failures are forgotten. */
struct kar_pg_placement kar_pg_suspend(const struct kar_pg_placement *old, kar_time now) KAR_NONNULL;
/*
 * It is RESERVING or SUSPENDED no more, and waits in its queue; or it is WAITING no more, and its members are still to be made: NONE. Its
 * failures and its back-off stay.
 */
struct kar_pg_placement kar_pg_queue_again(const struct kar_pg_placement *old) KAR_NONNULL;
/* Nobody places it any more: NONE, and nothing is remembered. */
struct kar_pg_placement kar_pg_end(const struct kar_pg_placement *old) KAR_NONNULL;

/* --- the podgroup reconciler's steps --------------------------------------------------------------- */

/* The minimum, @members, is bound or done: SATISFIED. */
/* The minimum that is bound has become another one. */
struct kar_pg_placement kar_pg_count_formed(const struct kar_pg_placement *old, int32_t members) KAR_NONNULL;
struct kar_pg_placement kar_pg_satisfy(const struct kar_pg_placement *old, int32_t members,
	kar_time now) KAR_NONNULL;
/* The attempt has failed: ROLLING_BACK. @keeps_plan: the plan tells who is to be removed. */
struct kar_pg_placement kar_pg_roll_back(const struct kar_pg_placement *old, const char *cause,
	bool keeps_plan, kar_time now) KAR_NONNULL;
/*
 * Members do not come, or are gone, and that is no failure: no room is held any more. @to: NONE, WAITING or UNPLACED. @anew: what comes
 * from now on is a new gang.
 */
struct kar_pg_placement kar_pg_give_up(const struct kar_pg_placement *old, enum kar_pg_state to, bool anew,
	kar_time now) KAR_NONNULL;
/* It cannot be without places, and is placed again a while later: WAITING. */
struct kar_pg_placement kar_pg_postpone(const struct kar_pg_placement *old, const char *cause,
	kar_time now) KAR_NONNULL;
/* It was rolled back without a failure: WAITING. */
struct kar_pg_placement kar_pg_wait(const struct kar_pg_placement *old, kar_time now) KAR_NONNULL;
/*
 * It was rolled back after a failure: WAITING for 5 s, 10 s, 20 s ... 10 min. @generation: of its owner. @seed: of the part of the pause that
 * is random.
 */
struct kar_pg_placement kar_pg_back_off(const struct kar_pg_placement *old, int64_t generation, uint64_t seed,
	kar_time now) KAR_NONNULL;
/* It was rolled back after too many failures: DEACTIVATED until its owner has another generation. */
struct kar_pg_placement kar_pg_deactivate(const struct kar_pg_placement *old, int64_t generation,
	kar_time now) KAR_NONNULL;
/* It is placed again at once, and its failures are forgotten: WAITING. */
struct kar_pg_placement kar_pg_reactivate(const struct kar_pg_placement *old, kar_time now) KAR_NONNULL;
/* The clock was set back to before the last step: that step is made now. */
struct kar_pg_placement kar_pg_set_clock_back(const struct kar_pg_placement *old, kar_time now) KAR_NONNULL;

#endif
