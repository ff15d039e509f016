/*
 * suspend - workloads of other controllers that can be suspended, and name a queue in their label: each is suspended until its queue admits
 * it, and resumed then (docs/WORKLOADS.md, decision 115). One reconciler for each kind (KAR_SUSPENDABLES); the key is an object of it.
 *
 * The queue sees a PodGroup of the name of the object, which is made here. Until the object is resumed the pods of its template are placed
 * as if they existed (controllers/queue/promised.c). When it is resumed its template gets the label of the group and our gate, so its pods
 * are members, and start together.
 *
 * Invariant: what its user has suspended is not resumed. Pods are made and deleted by the controller of the object alone.
 */
#ifndef KAR_SUSPEND_RECONCILER_H
#define KAR_SUSPEND_RECONCILER_H

#include "api/types.h"
#include "controllers/runtime/plan.h"

/* Numbers of struct kar_action.what; the payload is the struct suspend_view. */
enum {
	SUSPEND_MAKE,    /* the PodGroup */
	SUSPEND_FOLLOW,  /* the PodGroup gets the minimum and the queue that were edited */
	SUSPEND_SUSPEND, /* the object */
	SUSPEND_RESET,   /* its status says no more that it has started: its template may be changed */
	SUSPEND_OPEN, /* it is resumed, and its pods become members: a JSON patch, because templates may be in lists */
	SUSPEND_RESUME,
	SUSPEND_FORGET, /* that it was resumed by us: its user has suspended it since */
};

enum {
	SUSPEND_CONTESTED = 3, /* so often within SUSPEND_WITHIN somebody else resumes it: it is left alone */
	SUSPEND_WITHIN = 60 * KAR_SECOND,
};

struct suspend_view {
	const struct kar_suspendable *s;
	const struct kar_podgroup *group; /* of its name; NULL: there is none */
	bool admitted;                    /* by the queue that it asks for */
	int32_t succeeded; /* pods that have, as far as they are members of .group: its minimum counts them */
	/*
	 * struct kar_pair: minResources of the group, what all its pods need; empty: none. Its first pods do not wait at the gate for the others
	 * then, which come only when they run.
	 */
	struct kar_array resources;
	bool waits_anew; /* it is suspended by us, and waits for a reason that was not said yet */
	int32_t contested; /* how often somebody else has resumed it within SUSPEND_WITHIN, this time included */
};

/* Does nobody but the manager decide when it runs? Then its group, and whether it is suspended, are looked after. */
bool suspend_is_ours(const struct kar_suspendable *s) KAR_NONNULL;
/* Without so many members the group is not whole. */
int32_t suspend_minimum(const struct suspend_view *v) KAR_NONNULL;
/* .resources of a view of @s. */
struct kar_array suspend_resources(const struct kar_suspendable *s, struct kar_arena *a) KAR_NONNULL;
/* Has somebody else resumed it, although it has no place in its queue? */
bool suspend_is_contested(const struct suspend_view *v) KAR_NONNULL;
void suspend_decide(const struct suspend_view *v, struct kar_plan *p) KAR_NONNULL;
int suspend_encode(const struct kar_action *a, struct kar_buf *out) KAR_NONNULL;

#endif
