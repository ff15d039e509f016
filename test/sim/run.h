/*
 * run - one plan from beginning to end: with its faults, and once more without, for comparison.
 */
#ifndef TEST_SIM_RUN_H
#define TEST_SIM_RUN_H

#include "test/sim/world.h"

struct run_options {
	bool no_oracle; /* not the second time */
	bool twice;     /* with the same faults once more: every write must be the same */
	FILE *trace;    /* of the first; NULL: none */
};

struct run_result {
	bool ok;
	char rule[64], story[1024]; /* what was broken, if not ok */
	kar_time at;                /* ms after the start */
	double hours;               /* of virtual time, of both */
	uint64_t writes, manager_writes, crashes, kills, overlaps, freezes, jumps, stops, terms;
	uint64_t struck[SIM_FAULT_COUNT];
	uint64_t hash; /* of everything that was written in the first */
	size_t judged; /* jobs whose end the plan foretells */
};

void run_plan(const struct plan *p, const struct run_options *o, struct run_result *r) KAR_NONNULL;

/* Takes away what the failure does not need; at most @tries runs. @p becomes smaller, @r what it does then. */
void shrink_plan(struct plan *p, struct run_result *r, unsigned tries, FILE *progress) KAR_NONNULL;

#endif
