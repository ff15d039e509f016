/*
 * requests - what a pod as a whole asks for. Pure.
 *
 * By the rules of kube-scheduler (KEP-753, KEP-2837): its containers together with all sidecars, or the most that is
 * asked for at one time while the init containers run, whichever is more of each resource; what the pod itself asks for
 * replaces that; overhead on top. Quantities are added exactly and rounded by the caller, once. The resource "pods" is
 * not counted.
 */
#ifndef KAR_SCHED_REQUESTS_H
#define KAR_SCHED_REQUESTS_H

#include "common/sched/amounts.h"

struct kar_container_requests {
	struct kar_amounts amounts; /* owned by whoever fills it in */
	bool sidecar; /* an init container with restartPolicy Always: it goes on beside all later ones */
};

/* All is borrowed. Init containers are in the order of the spec. */
struct kar_pod_requests {
	const struct kar_container_requests *containers, *init_containers;
	size_t n_containers, n_init_containers;
	const struct kar_amounts *pod;      /* spec.resources; may be NULL */
	const struct kar_amounts *overhead; /* may be NULL; of limits there is none */
};

/* Adds the total to @out, which is empty at first. Limits are added by the same rules. */
void kar_pod_requests_total(const struct kar_pod_requests *pod, struct kar_amounts *out) KAR_NONNULL;

#endif
