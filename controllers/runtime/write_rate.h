/*
 * write_rate - when a status write that is not urgent may be sent, and when a key with many objects is synced again.
 * Pure: the caller passes monotonic time in.
 *
 * Status writes have two brakes: an object's writes are at least `interval` apart, and writes that only move
 * counters, and first answers to those who have created an object, share a small budget over all objects. The first keeps one busy gang from writing with every change; the
 * second keeps a thousand gangs that start at once from spending on counters what the API server needs for their
 * creates. A counter is late under load, a phase never is. See docs/decisions/002.
 */
#ifndef KAR_WRITE_RATE_H
#define KAR_WRITE_RATE_H

#include "controllers/runtime/plan.h"

struct kar_write_rate {
	kar_time interval; /* ms between two writes of one object */
	int rate;          /* counter writes per second over all objects, and as many at once */
	kar_time earned;   /* ms worth of budget, at most 1000 */
	kar_time asked;    /* mono, when the budget was last used; 0: never */
};

/*
 * 0 if the write may be sent at @now, which spends its share of the budget; else ms until it should be tried again.
 * @written: mono, of the object's last write, 0: none. @counters: nothing but counters moved.
 */
kar_time kar_write_rate_delay(struct kar_write_rate *p, kar_time written, bool counters,
	kar_time now) KAR_NONNULL;

/*
 * ms until the status write of @plan, which has one, may be sent; 0: now. An urgent one is sent now. A status that is not urgent is sent
 * last: after the actions of its plan, which do not depend on it, and after writes of other plans that wait (@busy), at most 10 s late.
 */
kar_time kar_write_rate_status(struct kar_write_rate *p, const struct kar_plan *plan, kar_time written,
	bool busy, kar_time now) KAR_NONNULL;

/*
 * The cool-down of a key. A sync costs as much as the key has objects, and each of them makes events, so without a cool-down the
 * work would grow with the square of their number. A small gang cools down for 20 ms, one of 10,000 objects for 200 ms, and its
 * progress is seen that much later. A loss or an edit is synced at once; after a burst of 10 such syncs they wait as well.
 */
struct kar_cooldown {
	kar_time interval; /* ms that the last sync costs */
	kar_time due;      /* mono, when the cost of all syncs so far is paid */
};

/* A sync that read @objects was made at @now. Returns until when (mono) progress should wait. */
kar_time kar_cooldown_after(struct kar_cooldown *r, size_t objects, kar_time now) KAR_NONNULL;
/* ms until the next sync may be made, even an urgent one; mostly 0. */
kar_time kar_cooldown_left(const struct kar_cooldown *r, kar_time now) KAR_NONNULL;

#endif
