/*
 * lookups - what pods need whose specs name other objects: PersistentVolumeClaims (volumes.h) and ResourceClaims (claims.h). These are
 * looked up in caches each time, because they may change while the pods stay as they are.
 */
#ifndef KAR_LOOKUPS_H
#define KAR_LOOKUPS_H

#include "api/pod/pod.h"
#include "common/sched/sched.h"

struct kar_stores;
struct kar_schedulingspec;

/*
 * The class of a pod, that of no needs if it has ended, as kar_snapshot_class_of_pod(), with what the objects need that it names. Valid as long as that,
 * and until one of these objects changes. May change all nodes of the snapshot (kar_devices_ask()), so nothing of it may be marked.
 */
kar_class kar_needs_class_of_pod(const struct kar_stores *s, const struct kar_pod *pod) KAR_NONNULL;
/* Likewise, if it may only be on nodes with these labels (struct kar_pair) as well. */
kar_class kar_needs_class_within(const struct kar_stores *s, const struct kar_pod *pod,
	const struct kar_array *labels) KAR_NONNULL;
/* Likewise kar_snapshot_class_to_come(). */
kar_class kar_needs_class_to_come(const struct kar_stores *s, const struct kar_pod_needs *needs,
	const char *ns, const struct kar_array *labels) KAR_NONNULL;
/* @needs of a pod in namespace @ns with those of the objects that it names, in @a or borrowed; it names none then. Likewise. */
const struct kar_pod_needs *kar_needs_looked_up(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs, struct kar_arena *a) KAR_NONNULL KAR_RETNN;

/* The SchedulingSpec by which pods of the controller @owner_uid are in the group @name; NULL: none. */
const struct kar_schedulingspec *kar_spec_of_group(const struct kar_stores *s, const char *ns,
	const char *name, const char *owner_uid) KAR_NONNULL;

/* Why pods in namespace @ns with these needs cannot have a node yet. */
struct kar_needs_pending {
	const char *why; /* in the arena; NULL: no object that they name keeps them from it */
	bool devices;    /* it is about devices, not about volumes */
};
struct kar_needs_pending kar_needs_pending(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs, struct kar_arena *a) KAR_NONNULL;

/* The terms of @more, which is about nodes alone, hold as well: each with each. False: they are too many, and left out. */
bool kar_needs_add_terms(struct kar_pod_needs *needs, const struct kar_pod_needs *more,
	struct kar_arena *a) KAR_NONNULL;

#endif
