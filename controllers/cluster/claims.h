/*
 * claims - which devices pods ask for by ResourceClaims (DRA, KEP-4381), as amounts of what nodes offer (docs/design/room.md, 2; decision 095).
 * It reads caches; what is asked for the first time is counted from then on (devices.h).
 *
 * | a claim of the pod | then |
 * | made of a template | each request adds its count of the resource of its class, and of what its selectors choose |
 * | named, and allocated, and some pod has it | the pod can be where its devices can be used; the devices are taken already |
 * | named, and not allocated, or no pod has it | whoever comes first decides where it is: unverified |
 * | named or made of a template that does not exist; of a DeviceClass that does not exist | the pod waits: kar_claims_pending() |
 *
 * What a request asks for besides a number of devices (alternatives, all devices, constraints among devices, tolerations, capacity) is
 * unverified.
 */
#ifndef KAR_CLAIMS_H
#define KAR_CLAIMS_H

#include "api/pod/pod.h"
#include "common/base/mem.h"
#include "common/sched/needs.h"

struct kar_stores;

/* @needs of a pod in namespace @ns with those of its claims, in @a or borrowed; it has no claims then. May change all nodes of the snapshot. */
const struct kar_pod_needs *kar_claims_add(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs, struct kar_arena *a) KAR_NONNULL KAR_RETNN;
/* The needs of @pod, which has claims and a node, with what its claims have in their place: as it is taken from the node. In @a. */
const struct kar_pod_needs *kar_claims_of_bound(const struct kar_stores *s, const struct kar_pod *pod,
	struct kar_arena *a) KAR_NONNULL KAR_RETNN;
/* Why pods in namespace @ns with these needs cannot have a node yet, in @a; NULL: no claim keeps them from it. */
const char *kar_claims_pending(const struct kar_stores *s, const char *ns, const struct kar_pod_needs *needs,
	struct kar_arena *a) KAR_NONNULL;

#endif
