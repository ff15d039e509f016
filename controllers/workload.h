/*
 * workload - what a queue and a group may ask of any kind of workload: the contract between the reconcilers of queues and groups, which
 * name no kind, and the kinds (KAR_WORKLOADS). Pure.
 *
 * A workload is an object of one of our kinds whose controller creates the pods of a group, and the group: a QueueJob. Which workload
 * controls a group says controllers/cluster/owner.h. Times are wall ms; 0: it has not happened. What an answer points to is borrowed from the
 * object, if nothing else is said.
 */
#ifndef KAR_WORKLOAD_H
#define KAR_WORKLOAD_H

#include "api/core/topology.h"
#include "api/pod/pod.h"

/* What a workload says of itself as a whole. */
struct kar_workload {
	int64_t generation;
	const char *queue_label;    /* value of its label KAR_LABEL_QUEUE; NULL: none */
	const char *priority_class; /* that it names itself, and that counts; NULL: none */
	const char *conflict; /* why it cannot have a name that it needs; NULL: it can, as far as it knows */
	const struct kar_topology_ask
		*topology; /* where its pods are to be together: a PodGroup may have lost it (decision 099) */
	const struct kar_array *gang_groups; /* const char *: "ns/name" of groups that start with its own */
	kar_time formed_at;                  /* its minimum has run since then */
	kar_time started_at, completed_at;   /* .completed_at: with success */
	kar_time ended_at;                   /* with or without */
	int64_t run_seconds; /* from .started_at on, after which it fails if it has not ended; 0: it names no such time */
	kar_time freezing_window; /* ms, between two scalings; 0: as for all; -1: none */
	int64_t succeeded;        /* pods, as far as it has recorded them */
	int32_t pods;             /* that it asks for in all, at most INT32_MAX */
	int32_t minimum;          /* pods that must run together; 0: it is no gang */
	bool deleting;
	bool orphans;   /* .deleting, and its pods stay and run on */
	bool ended;     /* it needs no pods any more */
	bool rests;     /* it has not ended, and wants no more pods than have succeeded */
	bool suspended; /* by its user: it gets no pods */
	bool asks;      /* .suspended, and asks when it would start (api/pod/what_if.h) */
	bool unusable; /* no pod can be created for it as it is: it must be edited, or a check of it must succeed */
	bool invalid; /* .unusable, and it has no pods either: it must not take room */
	bool begun;   /* it has had pods that were created for it */
	bool ran;     /* and of its templates as they are now */
	bool edited; /* its pods run on with the templates that it had before an edit, until its queue lets that in */
	bool waits;      /* it has no incarnation that runs or ends: pods come when it is admitted */
	bool starts;     /* its first pods are about to be created, and none exists yet */
	bool raised;     /* it runs on with the minimum that it had before an edit */
	bool non_strict; /* a member without room fails an attempt only when its time is over */
};

/* Its pods of one template. They have the indexes from 0 on. */
struct kar_workload_role {
	const char *name;
	const struct kar_pod_needs
		*needs; /* of a node (api/pod/pod_needs.h), without .selector; NULL: not known */
	const struct kar_array *selector; /* struct kar_pair, which the node selector of each pod has, too */
	const struct kar_pod_counted *
		charge; /* shared: what a ResourceQuota counts of a pod (api/pod/pod_charge.h); NULL: not known */
	const char *charged_class;  /* the PriorityClass for that; NULL: the one that admission takes */
	const char *priority_class; /* of its pods; "": none */
	const char *template_class; /* that the template names; NULL: none */
	const char *scheduler;      /* of its pods */
	const char *
		topology; /* what annotations of its pods ask for (api/core/topology_wish.h); NULL: nothing */
	const struct kar_topology_ask *asks_for; /* if .ask: NULL: what the workload asks for */
	uint32_t
		ask; /* 0: that of the workload; roles of one number ask for one thing, and each number is an ask of its own; from 1 on without gaps */
	const char *done, *failed; /* indexes that get no pods any more, "0-57,59"; "": none */
	int32_t n_done, n_failed;  /* of them, as far as they count now */
	int32_t replicas;
	int32_t need; /* pods that exist or are to come, without which the gang is below its minimum */
	int32_t want; /* more that it asks for */
	bool started; /* false: it gets no pods before others run */
	const struct kar_pod *
		*pods; /* those that live and are not being deleted, the ones first that are kept longest */
	size_t n_pods;
};

struct kar_roles {
	struct kar_workload_role *items;
	size_t n;
	size_t *order; /* numbers of all roles, in the order in which their pods are created */
};

/* KAR_NO_ROLE: the pod is of none. */
#define KAR_NO_ROLE SIZE_MAX

struct kar_roles_input {
	const struct kar_pod *const *pods; /* members of the group, whoever controls them */
	size_t n_pods;
	/* The value of the PriorityClass @name (NULL: none); 0: there is none. */
	int32_t (*class_value)(const void *arg, const char *name);
	const void *arg;
	struct kar_arena *arena; /* of the answer */
};

struct kar_template;
struct kar_template_needs;
struct kar_templates;

/* One kind. */
struct kar_workload_kind {
	const struct kar_type *type;
	void (*describe)(const struct kar_object *o, struct kar_workload *out);
	void (*roles)(const struct kar_object *o, const struct kar_roles_input *in, struct kar_roles *out);
	/* The number of the role of @pod, by its name and owner; KAR_NO_ROLE: it is of none. */
	size_t (*role_of)(const struct kar_object *o, const struct kar_pod *pod);
	void (*pod_name)(const struct kar_object *o, size_t role, int32_t index, char out[KAR_POD_NAME_LEN]);
	/* The labels of pods of the role in @arena, struct kar_pair: of those that run, or of those that are to come. */
	struct kar_array (
		*labels)(const struct kar_object *o, size_t role, bool runs, struct kar_arena *arena);
	/* Why no scheduler, or none in @served that it names, can start its gang whole, in @arena; NULL: one can. */
	const char *(*why_mixed)(const struct kar_object *o, struct kar_arena *arena);
	const char *(
		*why_not_direct)(const struct kar_object *o, const char *served, struct kar_arena *arena);
	/* What the API server has said of pods of the role (controllers/cluster/templates.h); NULL: nothing. The second asks for it. */
	const struct kar_template *(
		*template)(const struct kar_object *o, size_t role, struct kar_templates *t, kar_time mono);
	void (*want_template)(const struct kar_object *o, size_t role, struct kar_templates *t,
		kar_time mono);
	/* What is known of its pods as they are stored. The second asks for it, once for all that ask for the same. */
	struct kar_template_needs (
		*needs)(const struct kar_object *o, size_t role, struct kar_templates *t, kar_time mono);
	void (*want_needs)(const struct kar_object *o, size_t role, struct kar_templates *t, kar_time mono);
	/* Why @t, what it has said, is a refusal, in the words of a message; in @arena, or borrowed. */
	const char *(*why_refused)(const struct kar_object *o, size_t role, const struct kar_template *t,
		struct kar_arena *arena);
	/* Does the manager bind its pods itself: do they name a scheduler in @served ("a,b"; NULL: none)? */
	bool (*is_direct)(const struct kar_object *o, const char *served);
};

extern const struct kar_workload_kind kar_queuejob_workload; /* queuejob/roles.c */

/* X(name of the cache, its entry): the kinds of workloads, whose controllers create pods for their own groups. */
#define KAR_WORKLOADS(X) X(queuejobs, kar_queuejob_workload)

#endif
