/*
 * schedulingspec - pods that name no PodGroup, and whose controller has a SchedulingSpec: these are its gang (S0). They become members of a
 * PodGroup of the name of the SchedulingSpec, which is made from it (decision 100); all else is done by those who see the group. The key is
 * a pod.
 *
 * The minimum and the priority of that group are those of the SchedulingSpec, whoever edits which of the two.
 *
 * Invariant: only pods that name a scheduler whose work the manager does (--direct-schedulers) are looked at, and none of a QueueJob.
 */
#ifndef KAR_SCHEDULINGSPEC_RECONCILER_H
#define KAR_SCHEDULINGSPEC_RECONCILER_H

#include "api/types.h"
#include "controllers/runtime/plan.h"

enum {
	SCHEDULINGSPEC_MISSED = 10 * KAR_SECOND
}; /* ms for which a pod waits for one before that is an event */

/* Numbers of struct kar_action.what; the payload is the struct kar_schedulingspec. */
enum {
	SCHEDULINGSPEC_MAKE,   /* the PodGroup */
	SCHEDULINGSPEC_LABEL,  /* the pod becomes a member */
	SCHEDULINGSPEC_FOLLOW, /* the PodGroup gets the minimum and the priority that were edited */
};

struct schedulingspec_view {
	const struct kar_pod *pod;
	bool first; /* by name, of those of its controller: the one that speaks and acts for all; asked only where it matters */
	const struct kar_schedulingspec *spec;  /* the oldest of its controller; NULL: there is none */
	const struct kar_schedulingspec *other; /* another of the same; NULL: none */
	const struct kar_podgroup *group;       /* of the name of .spec; NULL: there is none */
};

/* Is @pod one for which a SchedulingSpec may speak? @served: --direct-schedulers. */
bool schedulingspec_concerns(const struct kar_pod *pod, const char *served) __attribute__((nonnull(1)));
/* Does @pod name a PodGroup that is not of the name of @spec (NULL: any)? Then that counts. */
bool schedulingspec_names_another(const struct kar_pod *pod, const struct kar_schedulingspec *spec)
	__attribute__((nonnull(1)));
/* Is @g a group that was made of @spec, and has not its minimum or its priority? */
bool schedulingspec_differs(const struct kar_schedulingspec *spec, const struct kar_podgroup *g) KAR_NONNULL;
/* The minimum that it asks for: 1 if it says none. */
int32_t schedulingspec_minimum(const struct kar_schedulingspec *spec) KAR_NONNULL;
void schedulingspec_decide(const struct schedulingspec_view *v, kar_time now, struct kar_plan *p) KAR_NONNULL;
int schedulingspec_encode(const struct kar_action *a, struct kar_buf *out) KAR_NONNULL;

#endif
