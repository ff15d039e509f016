/*
 * snapshot - the placement engine (common/sched/sched.h), kept equal to the caches of nodes and pods by their changes.
 *
 * Invariant, between two changes: the engine has each cached node as it offers itself, and each cached pod that has not ended
 * takes room on the node that it has, or that the scheduler frees for it as a member of a gang, Terminating ones too. What others take besides
 * (plans, holds) is theirs to take and to give back. A change that changes neither an offer nor needs costs a comparison.
 *
 * Needs with rules about other pods (rules.h) are those of the namespace and the labels of a pod.
 *
 * It knows the pods of its cache alone: a manager of one namespace sees nodes emptier than they are.
 */
#ifndef KAR_SNAPSHOT_H
#define KAR_SNAPSHOT_H

#include "api/core/node.h"
#include "api/pod/pod.h"
#include "common/kube/store.h"
#include "common/sched/sched.h"

struct kar_snapshot;

/* Empty. @strings (borrowed) are those of the caches. */
struct kar_snapshot *kar_snapshot_new(struct kar_intern *strings) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Nodes get the label KAR_QUEUE_FLAVOR_LABEL in the engine, with the flavor that they are of: kept equal to the cache by its changes. After listen(). */
void kar_snapshot_use_flavors(struct kar_snapshot *s, struct kar_store *flavors) KAR_NONNULL;
void kar_snapshot_free(struct kar_snapshot *s); /* accepts NULL */
/* Follows the two caches, which are empty and outlive it. Listeners that are registered later find their change in the snapshot. */
void kar_snapshot_listen(struct kar_snapshot *s, struct kar_store *nodes, struct kar_store *pods) KAR_NONNULL;

/* A change, as a cache tells it: @old NULL: it is new; @new NULL: it is gone. */
void kar_snapshot_node(struct kar_snapshot *s, const struct kar_node *old, const struct kar_node *new)
	__attribute__((nonnull(1)));
void kar_snapshot_pod(struct kar_snapshot *s, const struct kar_pod *old, const struct kar_pod *new)
	__attribute__((nonnull(1)));

/* Owned by the snapshot. */
struct kar_sched *kar_snapshot_sched(const struct kar_snapshot *s) KAR_NONNULL KAR_RETNN;
/*
 * The class of pods with these needs, for what they ask for: rules about other pods are not looked at. Valid until the next change of a
 * cache; who needs it for longer takes a reference (kar_sched_class_ref()).
 */
kar_class kar_snapshot_class_of(struct kar_snapshot *s, const struct kar_pod_needs *needs) KAR_NONNULL;
/* The class of this pod, if it has these needs in the place of its own. Likewise valid. */
kar_class kar_snapshot_class_of_pod(struct kar_snapshot *s, const struct kar_pod *pod,
	const struct kar_pod_needs *needs) KAR_NONNULL;
/* Do their labels decide of which class pods with these needs are? */
bool kar_snapshot_minds_labels(const struct kar_snapshot *s, const struct kar_pod_needs *needs) KAR_NONNULL;
/* The class of pods to come. Likewise valid. */
kar_class kar_snapshot_class_to_come(struct kar_snapshot *s, const struct kar_pod_needs *needs,
	const char *ns, const struct kar_array *labels) KAR_NONNULL;
/*
 * Rules about other pods count from the next call of this on, or do not any more; then classes are other ones. Returns whether something has
 * changed. Not while the engine has a mark.
 */
bool kar_snapshot_settle_rules(struct kar_snapshot *s) KAR_NONNULL;

/* How many needs are known, with those that no pod has any more; for tests and metrics. */
size_t kar_snapshot_needs(const struct kar_snapshot *s) KAR_NONNULL;

#endif
