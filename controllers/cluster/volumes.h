/*
 * volumes - on which nodes a pod can be with its volumes, as the volume binder of kube-scheduler (plugin VolumeBinding) and the volumes
 * themselves say it (docs/design/room.md, 3; decision 090). Pure: it reads caches.
 *
 * | a claim | then |
 * | bound, its volume can be used everywhere | nothing |
 * | bound, its volume has a node affinity | the terms of that hold for the pod, too |
 * | unbound, its class makes the volume when a pod has a node: the first of the pods that share it decides | unverified |
 * | any other that is unbound; it, or its volume, does not exist, or it goes | the pod waits: kar_volumes_pending() |
 * | of a class without a provisioner, with volumes made before, or whose driver has a storage capacity; used by one pod at a time | unverified |
 *
 * A generic ephemeral volume is made for its pod: the topologies that its class allows hold for it. Limits of volumes per node are not modelled.
 */
#ifndef KAR_VOLUMES_H
#define KAR_VOLUMES_H

#include "api/pod/pod.h"
#include "common/sched/sched.h"

struct kar_stores;

/* @needs of a pod in namespace @ns with those of its volumes, in @a or borrowed; it has no volumes then. */
const struct kar_pod_needs *kar_volumes_add(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs, struct kar_arena *a) KAR_NONNULL KAR_RETNN;
/* Why pods in namespace @ns with these needs cannot have a node yet, in @a; NULL: no volume keeps them from it. */
const char *kar_volumes_pending(const struct kar_stores *s, const char *ns, const struct kar_pod_needs *needs,
	struct kar_arena *a) KAR_NONNULL;

/* Volumes of such pods for which kube-scheduler does more than to choose among those nodes: "volumes that are made for a node"; NULL: none. */
const char *kar_volumes_by_scheduler(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs) KAR_NONNULL;

#endif
