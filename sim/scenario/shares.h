/*
 * shares - how much of the cpu of all nodes each queue has over time, and how much its waiting jobs ask for, as means over equal steps.
 */
#ifndef SIM_SHARES_H
#define SIM_SHARES_H

#include "sim/scenario/record.h"

struct sim_shares {
	kar_time step; /* ms; the steps cover the run */
	size_t n_steps, n_queues;
	const char **queues; /* in the order of their first jobs; of the record */
	/* [queue * n_steps + step]: parts of the cpu that the nodes had then, 1 is all; what is asked for may be more. */
	double *used, *asked;
};

/* @node: of one node alone, with nothing asked; SIZE_MAX: of all. @step > 0. To be released before the record. */
void sim_shares_of(const struct sim_record *r, size_t node, kar_time step,
	struct sim_shares *out) KAR_NONNULL;
void sim_shares_release(struct sim_shares *s) KAR_NONNULL;

#endif
