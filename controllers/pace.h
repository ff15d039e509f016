/*
 * pace - when a status write that is not urgent may go out, and when a key with many objects is looked at again.
 * Pure: the caller passes monotonic time in.
 *
 * Status writes have two brakes: an object's writes are at least `interval` apart, and writes that only move
 * counters share a small budget over all objects. The first keeps one busy gang from writing with every pod; the
 * second keeps a thousand gangs that start at once from spending on counters what the API server needs for their
 * pods. A counter is late under load, a phase never is. See docs/decisions/002.
 */
#ifndef KAR_PACE_H
#define KAR_PACE_H

#include "common/base.h"

struct kar_pace {
	kar_time interval; /* ms between two writes of one object */
	int rate;          /* counter writes per second over all objects, and as many at once */
	kar_time earned;   /* ms worth of budget, at most 1000 */
	kar_time asked;    /* mono, of the last look at the budget; 0: none yet */
};

/*
 * 0 if the write may go out at @now, and then its share of the budget is spent; else ms until it should be tried again.
 * @written: mono, of the object's last write, 0: none. @counters: nothing but counters moved.
 */
kar_time kar_pace_delay(struct kar_pace *p, kar_time written, bool counters, kar_time now) KAR_NONNULL;

/*
 * The rest of a key. A sync costs as much as the key has objects, and each of them makes events, so without rest the work
 * would grow with the square of their number. A small gang rests for 20 ms, one of 10,000 pods for 200 ms, which is how late
 * its progress may be seen. What cannot wait (a loss, an edit) is answered at once, but not without end: after
 * a burst of such syncs they too keep the distance.
 */
struct kar_rest {
	kar_time interval; /* ms, that the last sync is worth */
	kar_time due;      /* mono, when all syncs so far would have been made at that distance */
};

/* A sync that has looked at @objects was made at @now. Returns until when (mono) progress should wait. */
kar_time kar_rest_after(struct kar_rest *r, size_t objects, kar_time now) KAR_NONNULL;
/* ms until the next sync may be made, however urgent it is; mostly 0. */
kar_time kar_rest_left(const struct kar_rest *r, kar_time now) KAR_NONNULL;

#endif
