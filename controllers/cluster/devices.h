/*
 * devices - what nodes offer by DeviceClasses (DRA, KEP-4381, KEP-5004), kept equal to the caches by their changes.
 *
 * An extended resource that a DeviceClass serves is in no node's allocatable: its devices are in ResourceSlices. Each node has as many
 * of it as there are devices on it that match the class, belong to a complete pool of the newest generation, have no taint, and are not
 * allocated to a claim of another kind. Pods that ask for the resource then take it as any other; the claims that kube-scheduler makes
 * for them are not counted as well. As for kube-scheduler, a node that lists the resource itself offers that amount alone; what claims can
 * have there is not counted, so their requests for what some node lists are not read.
 *
 * What is known to be an upper bound only (a selector that is not read, devices that share counters, classes that share devices, devices
 * of several nodes, which each node is said to offer) is marked in the snapshot (kar_sched_doubt()): gangs that ask for it take idle room
 * and evict nobody.
 *
 * A change costs what it changes: one node, or all of a pool that becomes complete. Only that of a class costs all nodes.
 */
#ifndef KAR_DEVICES_H
#define KAR_DEVICES_H

#include "api/core/deviceclass.h"
#include "api/core/devicerequests.h"
#include "controllers/cluster/capacity.h"
#include "controllers/cluster/snapshot.h"

struct kar_devices;

/* All are borrowed, and must outlive it. */
struct kar_devices_input {
	struct kar_store *nodes, *classes, *slices, *claims;
	struct kar_snapshot *snapshot;
	struct kar_capacity *capacity;
	struct kar_intern *strings; /* of the caches */
};

/* Listens to the four caches, which are empty; to nodes after the snapshot and the capacity. */
struct kar_devices *kar_devices_new(const struct kar_devices_input *in) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_devices_free(struct kar_devices *d); /* accepts NULL */

/* @changed is called after each change of what a node offers by classes, or of which resources they serve. At most one. */
void kar_devices_listen(struct kar_devices *d, void (*changed)(void *arg), void *arg)
	__attribute__((nonnull(1, 2)));

/* Pods ask by this name: if it is the implicit one of a class, it counts from now on. May change all nodes of the snapshot. */
void kar_devices_ask(struct kar_devices *d, const char *resource) KAR_NONNULL;

/* By which resources a request of a claim is counted: each of its devices takes one of both. */
struct kar_device_asked {
	const char *resource; /* of its class; NULL: there is no such DeviceClass */
	const char *part;     /* of its selectors; NULL: it has none, or they are not counted */
	const char *unread;   /* static: why that is not all that kube-scheduler looks at; NULL: it is */
};
/* Of a claim in namespace @ns. Both count from now on. May change all nodes of the snapshot. What it points to lives until a class changes. */
struct kar_device_asked kar_devices_ask_for(struct kar_devices *d, const char *ns,
	const struct kar_device_request *r) KAR_NONNULL;
/* What claims have of usable nodes, in *@out (in @a); how many resources. */
uint32_t kar_devices_claimed(const struct kar_devices *d, struct kar_arena *a,
	struct kar_sched_amount **out) KAR_NONNULL;
/* Of that, what the claims have that were made for the pod with this UID. */
uint32_t kar_devices_claimed_by(const struct kar_devices *d, const char *uid, struct kar_arena *a,
	struct kar_sched_amount **out) KAR_NONNULL;
/* The class that serves the extended resource; NULL: none. */
const struct kar_deviceclass *kar_devices_class(const struct kar_devices *d,
	const char *resource) KAR_NONNULL;

#endif
