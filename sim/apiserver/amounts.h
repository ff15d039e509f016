/*
 * amounts - v1.ResourceList in JSON to and from sets of quantities (common/sched/amounts.h). Pure.
 */
#ifndef SIM_AMOUNTS_H
#define SIM_AMOUNTS_H

#include "common/sched/amounts.h"
#include "sim/apiserver/quantity.h"

/* Adds the members of a v1.ResourceList; @list may be absent. */
void sim_amounts_add_list(struct kar_amounts *a, const struct sim_value *list) __attribute__((nonnull(1)));
/* New object value: the set as a v1.ResourceList. */
struct sim_value *sim_amounts_list(const struct kar_amounts *a) KAR_MUSTUSE KAR_NONNULL KAR_RETNN;

/* Adds what a pod as a whole asks for (common/sched/requests.h). @kind: "requests", or "limits" (without overhead). */
void sim_pod_resources(const struct sim_value *pod, const char *kind, struct kar_amounts *out)
	__attribute__((nonnull(2, 3)));

#endif
