/*
 * behaviour - what the annotations of a pod make a kubelet do with it (nodes.h lists them). Pure.
 */
#ifndef SIM_BEHAVIOUR_H
#define SIM_BEHAVIOUR_H

#include "sim/nodes/nodes.h"

enum sim_outcome {
	SIM_OUTCOME_RUN,
	SIM_OUTCOME_SUCCEED,
	SIM_OUTCOME_FAIL,
	SIM_OUTCOME_PENDING,
	SIM_OUTCOME_OOM,
	SIM_OUTCOME_HANG,
	SIM_OUTCOME_PULL_ERROR,
	SIM_OUTCOME_EVICT,
};

enum { SIM_EXIT_KILLED = 137, SIM_EXIT_TERMINATED = 143, SIM_EXIT_LOST = 255 };

struct sim_behaviour {
	enum sim_outcome outcome;
	kar_time after, start, stop, crash_after; /* ms */
	int exit_code, stop_exit_code;
	unsigned crashes; /* runs that end by a crash before the outcome comes to pass */
};

/* @annotations: the map, may be absent. What they leave open comes from @o; @r draws the same number for every pod. */
struct sim_behaviour sim_behaviour_of(const struct sim_value *annotations, const struct sim_nodes_options *o,
	struct sim_random *r) __attribute__((nonnull(2, 3)));

/* How run number @run (0: the first) of the containers ends. */
struct sim_end {
	kar_time after; /* KAR_NEVER: it does not end by itself */
	int exit_code;
	const char *reason; /* of the terminated container, static */
	bool evicted;
};
struct sim_end sim_behaviour_end(const struct sim_behaviour *b, unsigned run) KAR_NONNULL;

/*
 * What is left of a container that is told to stop with @grace ms to do so: time until it is gone, and exit code.
 */
struct sim_end sim_behaviour_stop(const struct sim_behaviour *b, kar_time grace) KAR_NONNULL;

/* Wait before restart number @restart (1: the first) of a container: 0, then 10 s doubling up to 5 min. */
kar_time sim_behaviour_backoff(unsigned restart);

#endif
