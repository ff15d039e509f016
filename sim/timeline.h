/*
 * timeline - virtual time: a queue of things to be done at a moment, and the clock that jumps from one to the next.
 *
 * Everything that lives in the simulated cluster (API server, controllers, kubelets, the managers' loops) hangs on one
 * timeline; nothing else calls a clock. Things that are due at the same millisecond run in the order in which they were
 * asked for, so that a run is a function of its seed. Not thread-safe.
 */
#ifndef SIM_TIMELINE_H
#define SIM_TIMELINE_H

#include "common/base/base.h"

struct sim_timeline;
struct sim_alarm;

/* @wall: wall ms at the start; virtual monotonic time starts at 1 s, so that 0 can mean "never". */
struct sim_timeline *sim_timeline_new(kar_time wall) KAR_MUSTUSE KAR_RETNN;
void sim_timeline_free(struct sim_timeline *t); /* accepts NULL; every alarm must be gone */

kar_time sim_timeline_mono(const struct sim_timeline *t) KAR_NONNULL; /* ms */
kar_time sim_timeline_wall(const struct sim_timeline *t) KAR_NONNULL; /* ms */

/* For a process that lives with a real clock (sim/pacemaker.h): when mono time is @mono, wall time is @wall. */
void sim_timeline_set_wall(struct sim_timeline *t, kar_time mono, kar_time wall) KAR_NONNULL;

typedef void sim_alarm_fn(void *arg);
/* Belongs to the caller, who frees it before the timeline. */
struct sim_alarm *sim_alarm_new(struct sim_timeline *t, sim_alarm_fn *fn, void *arg) KAR_MUSTUSE KAR_RETNN;
/* Once, @after ms from now (0: still at this millisecond, after what is already due); restarts a running alarm. */
void sim_alarm_start(struct sim_alarm *a, kar_time after) KAR_NONNULL;
void sim_alarm_stop(struct sim_alarm *a) KAR_NONNULL;
bool sim_alarm_running(const struct sim_alarm *a) KAR_NONNULL;
void sim_alarm_free(struct sim_alarm *a); /* accepts NULL; also from inside its own function */

/* Mono time of the next alarm; KAR_NEVER: none. */
kar_time sim_timeline_next(const struct sim_timeline *t) KAR_NONNULL;
/*
 * Runs the one next alarm if it is due at or before @until (mono), setting the clock to its time; else sets the clock to
 * @until and returns false.
 */
bool sim_timeline_step(struct sim_timeline *t, kar_time until) KAR_NONNULL;
/* Runs everything up to and including @until (mono). */
void sim_timeline_run(struct sim_timeline *t, kar_time until) KAR_NONNULL;
/* Alarms run so far. */
uint64_t sim_timeline_steps(const struct sim_timeline *t) KAR_NONNULL;

/* --- randomness: one generator per source of chance, all derived from the seed of the run --------------- */

struct sim_random {
	uint64_t s[4]; /* xoshiro256** (Blackman, Vigna 2018) */
};
/* @stream names the user ("kubelet", "faults"), so that adding one does not change what the others draw. */
struct sim_random sim_random_of(uint64_t seed, const char *stream) KAR_NONNULL;
uint64_t sim_random_next(struct sim_random *r) KAR_NONNULL;
/* Uniform in [0, n); n > 0. */
uint64_t sim_random_below(struct sim_random *r, uint64_t n) KAR_NONNULL;
/* Uniform in [low, high]. */
int64_t sim_random_between(struct sim_random *r, int64_t low, int64_t high) KAR_NONNULL;
/* True @per_mille times of a thousand. */
bool sim_random_chance(struct sim_random *r, unsigned per_mille) KAR_NONNULL;

#endif
