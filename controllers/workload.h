/*
 * workload - what a queue and a group may ask of any kind of workload: the contract between the reconcilers of queues and groups, which
 * name no kind, and the kinds (KAR_WORKLOADS of controllers.h). Pure.
 *
 * A workload is an object of one of our kinds whose controller creates the pods of a group, and the group: a QueueJob. Which workload
 * controls a group says controllers/owner.h. Times are wall ms; 0: it has not happened. What an answer points to is borrowed from the
 * object, if nothing else is said.
 */
#ifndef KAR_WORKLOAD_H
#define KAR_WORKLOAD_H

#include "common/kube/object.h"

/* What a workload says of itself as a whole. */
struct kar_workload {
	int64_t generation;
	const char *queue_label; /* value of its label KAR_LABEL_QUEUE; NULL: none */
	const char *conflict; /* why it cannot have a name that it needs; NULL: it can, as far as it knows */
	const struct kar_array *gang_groups; /* const char *: "ns/name" of groups that start with its own */
	kar_time formed_at;                  /* its minimum has run since then */
	kar_time started_at, completed_at;   /* .completed_at: with success */
	kar_time ends_at;                    /* at the latest; 0: not known */
	kar_time freezing_window;            /* ms, between two scalings; 0: as for all; -1: none */
	int64_t succeeded;                   /* pods, as far as it has recorded them */
	int32_t pods;                        /* that it asks for in all, at most INT32_MAX */
	bool deleting;
	bool orphans;   /* .deleting, and its pods stay and run on */
	bool ended;     /* it needs no pods any more */
	bool suspended; /* by its user: it gets no pods */
	bool unusable; /* no pod can be created for it as it is: it must be edited, or a check of it must succeed */
	bool invalid;    /* .unusable, and it has no pods either: it must not take room */
	bool begun;      /* it has had pods that were created for it */
	bool ran;        /* and of its templates as they are now */
	bool raised;     /* it runs on with the minimum that it had before an edit */
	bool non_strict; /* a member without room fails an attempt only when its time is over */
};

/* One kind. */
struct kar_workload_kind {
	const struct kar_type *type;
	void (*describe)(const struct kar_object *o, struct kar_workload *out);
	/* Does the manager bind its pods itself: do they name a scheduler in @served ("a,b"; NULL: none)? */
	bool (*is_direct)(const struct kar_object *o, const char *served);
};

extern const struct kar_workload_kind kar_queuejob_workload; /* queuejob/roles.c */

#endif
