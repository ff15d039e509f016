/*
 * pace - when a status write that is not urgent may go out. Pure: the caller passes monotonic time in.
 *
 * Two brakes: an object's writes are at least `interval` apart, and writes that only move counters share a small budget over
 * all objects. The first keeps one busy gang from writing with every pod; the second keeps a thousand gangs
 * that start at once from spending on counters what the API server needs for their pods. A counter is late under load,
 * a phase never is. See docs/decisions/002.
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

#endif
