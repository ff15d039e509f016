/*
 * exec_spawn - starting a plug-in: which file, which arguments, which environment, which descriptors.
 *
 * Private to exec.c. Uses posix_spawn: a process with threads and TLS state must not fork without an exec.
 */
#ifndef KAR_EXEC_SPAWN_H
#define KAR_EXEC_SPAWN_H

#include "common/kube/kubeconfig.h"

/* A running plug-in, leader of its own process group. The owner closes the descriptors and collects @pid. */
struct kar_exec_process {
	int pid;
	int out, err; /* reading ends of its standard output and error; non-blocking, close-on-exec */
};

/* KAR_FATAL with the reason (and the install hint if nothing is found), or KAR_RETRY if resources lack. */
int kar_exec_spawn(const struct kar_exec_config *config, const char *cluster_json, struct kar_exec_process *p,
	struct kar_err *err) __attribute__((nonnull(1, 3, 4)));

#endif
