/*
 * virtual_loop - the event loop of a process that lives in virtual time: the second kind of struct kar_loop.
 *
 * So the very objects that run in production run in a simulation. A loop is one process: many loops share a timeline, and
 * each has a wall clock that may be wrong, and may be stopped for a while. It has timers; descriptors, signals and children
 * do not exist here: making one is a programming error (assert). kar_loop_run() runs the whole timeline until
 * kar_loop_stop(), or until nothing is left to happen; worlds of several processes run the timeline themselves.
 */
#ifndef SIM_VIRTUAL_LOOP_H
#define SIM_VIRTUAL_LOOP_H

#include "common/loop/loop.h"
#include "sim/timeline.h"

/*
 * @t is borrowed and outlives the loop. Free it with kar_loop_free(), after its timers. common/loop/clock.h (log lines) shows the
 * time of the loop that was made last.
 */
struct kar_loop *sim_loop_new(struct sim_timeline *t) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* The wall clock of this process moves by @ms (NTP, an operator); it keeps the difference. Timers are not touched. */
void sim_loop_jump_wall(struct kar_loop *l, kar_time ms) KAR_NONNULL;
/* Stops the process (SIGSTOP, a suspended machine): what falls due meanwhile fires, in order, when it is thawed. */
void sim_loop_freeze(struct kar_loop *l) KAR_NONNULL;
void sim_loop_thaw(struct kar_loop *base) KAR_NONNULL;
bool sim_loop_frozen(const struct kar_loop *l) KAR_NONNULL;
/*
 * From now on callbacks take time: as much passes as @clock (ns, never back) has gone on during each, and what falls due before that
 * fires, in order, afterwards. Such a loop is frozen and thawed by nobody else.
 */
void sim_loop_charge(struct kar_loop *base, int64_t (*clock)(void)) KAR_NONNULL;

#endif
