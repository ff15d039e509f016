/*
 * cluster - what a real cluster has, for sim_scenario_merge(). Runs a loop of its own; blocks until all is read.
 */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include "sim/tree.h"

/*
 * Lists nodes, queues, PriorityClasses, ResourceQuotas and QueueJobs. @kubeconfig, @context: as kar-controllers' flags; NULL:
 * the usual places. A cluster without our CustomResourceDefinitions has no queues and jobs. New object {"Node": [...], ...}, or NULL with @err.
 */
struct sim_value *sim_cluster_read(const char *kubeconfig, const char *context,
	struct kar_err *err) KAR_MUSTUSE __attribute__((nonnull(3)));

#endif
