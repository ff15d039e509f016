/*
 * pacemaker - lets virtual time pass with real time, or N times faster, in the loop of a real process.
 *
 * Everything that waits (kubelets, back-offs, time-outs) waits N times shorter; but the wall clock of the cluster stays that of
 * the machine, so that timestamps mean to people, kubectl and controllers outside what they say.
 */
#ifndef SIM_PACEMAKER_H
#define SIM_PACEMAKER_H

#include "common/loop/loop.h"
#include "sim/timeline.h"

struct sim_pacemaker;

/* Both are borrowed. @speed: 1 to 1000. */
struct sim_pacemaker *sim_pacemaker_new(struct kar_loop *l, struct sim_timeline *t,
	unsigned speed) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void sim_pacemaker_free(struct sim_pacemaker *p); /* accepts NULL */
/*
 * Runs what is due by now, for at most some milliseconds: what a machine is too slow for happens later, not never. To be
 * called before anything else looks at the timeline.
 */
void sim_pacemaker_catch_up(struct sim_pacemaker *p) KAR_NONNULL;
/* Sets the timer for what comes next. To be called after anybody used the timeline. */
void sim_pacemaker_rest(struct sim_pacemaker *p) KAR_NONNULL;

#endif
