/*
 * run - a scenario played in virtual time: simulated cluster and the real manager in one process.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "sim/scenario/record.h"
#include "sim/scenario/scenario.h"

struct sim_run_options {
	const char *crds; /* folder of the CustomResourceDefinitions */
	int64_t (*clock)(
		void); /* of the time that the manager takes (sim_loop_charge()); NULL: it takes none */
	/* Told now and then how far it is; NULL: nobody is. */
	void (*progress)(void *arg, kar_time simulated, size_t ended, size_t jobs);
	void *arg;
};

/*
 * Plays @s to its end and leaves what happened in @out (sim_record_release()). -1 with @err: an object of the scenario was
 * refused (the API server's words), or something that must not happen did.
 */
int sim_run(const struct sim_scenario *s, const struct sim_run_options *o, struct sim_record *out,
	struct kar_err *err) KAR_NONNULL;

/* `kar-sim run ...`; see its --help. Returns the exit status. */
int sim_run_command(int argc, char **argv);

#endif
