/*
 * release - the pods of other controllers in a PodGroup: which of them lose our gate now, on which node, and which are taken back
 * (docs/design/podgroup.md, 3 and 4). Pure.
 *
 * Invariant: a gated member is released only to a place of the recorded plan, or where nobody places the group; our gate is the only one
 * that is removed; nothing is deleted but released members of an attempt that has failed, by UID, and never one without a controller.
 */
#ifndef KAR_PODGROUP_RELEASE_H
#define KAR_PODGROUP_RELEASE_H

#include "api/core/flavor.h"
#include "controllers/podgroup/attempt.h"

/* Numbers of struct kar_action.what. */
enum podgroup_action {
	PODGROUP_RELEASE, /* patches a pod: our gate goes, and it gets a node if the payload has one */
	PODGROUP_DISRUPT, /* patches its status: DisruptionTarget, so that its controller does not count it as failed */
	PODGROUP_BIND, /* binds a pod that names a served scheduler to the node in the payload */
	PODGROUP_DELETE,
	PODGROUP_MAKE, /* creates the group (made.h); the payload is kar_pod_gang() */
	PODGROUP_UNMAKE,
};

/* Payload of PODGROUP_RELEASE, in the arena of the plan. That of PODGROUP_DISRUPT is a struct podset_disruption. */
struct podgroup_pod_patch {
	const char *node;               /* "": it may go anywhere */
	struct kar_array domain;        /* struct kar_pair: labels that its node must have as well */
	struct kar_flavor_terms flavor; /* of it only the labels, likewise */
	const char *terms;              /* of its own required node affinity, as kar_pod.terms; NULL: none */
};

/* Adds the actions that the recorded placement of the group asks for. @now: wall ms, whole seconds. */
void podgroup_release(const struct podgroup_view *v, const struct podgroup_counts *t, kar_time now,
	struct kar_plan *p) KAR_NONNULL;
/* Why gated members stay so while no attempt is under way; .reason NULL: this does not explain it. */
struct podgroup_text podgroup_gated_text(const struct podgroup_view *v, const struct podgroup_counts *t,
	struct kar_arena *arena) KAR_NONNULL;
/* What condition Admitted says as long as it is False; .reason NULL: it is not. */
struct podgroup_text podgroup_refused_text(const struct kar_podgroup *g) KAR_NONNULL;
/* Appends the body of an action that has one. -1: the affinity or gang of the pod cannot be read. @err may be NULL. */
int podgroup_encode(const struct kar_action *a, struct kar_arena *arena, struct kar_buf *out,
	struct kar_err *err) __attribute__((nonnull(1, 2, 3)));

/* The members by name, in @a: .n_pods of them, for podgroup_named(). */
const struct kar_pod **podgroup_by_name(const struct podgroup_view *v, struct kar_arena *a) KAR_NONNULL;
/* The member @name of podgroup_by_name(); NULL: there is none. */
const struct kar_pod *podgroup_named(const struct kar_pod *const *sorted, size_t n,
	const char *name) KAR_NONNULL;

#endif
