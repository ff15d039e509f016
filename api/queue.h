/*
 * queue - Queue (cluster-scoped, kube-arbitrator.io/v1alpha1): admits groups, and counts them (docs/design/queue.md).
 */
#ifndef KAR_API_QUEUE_H
#define KAR_API_QUEUE_H

#include <assert.h>

#include "api/core/selector.h"
#include "api/status/condition.h"
#include "api/status/status_fields.h"
#include "api/status/usage.h"
#include "common/kube/object.h"
#include "common/queue/queue.h"

/* status.parent of a queue that has no parent. No queue has this name. */
#define KAR_QUEUE_ROOT "root"

enum kar_queue_state {
	KAR_QUEUE_STATE_NONE, /* of a status: never written */
	KAR_QUEUE_STATE_OPEN,
	KAR_QUEUE_STATE_CLOSING, /* of a status: closed, and groups that it admitted are still at work */
	KAR_QUEUE_STATE_CLOSED,
	KAR_QUEUE_STATE_UNKNOWN, /* the spec asks for none of these */
};
const char *kar_queue_state_name(enum kar_queue_state s) KAR_RETNN; /* "Open" ...; "" for NONE */

/* What a queue has of a flavor. */
struct kar_queue_flavor_spec {
	const char *name;
	struct kar_queue_amounts deserved, capability; /* as in the spec */
};

struct kar_queue_spec {
	const char *parent; /* NULL: none */
	int32_t weight;     /* at least 1 */
	/* Rounded down, in the order of names. Without "pods", which would mean nothing there: */
	struct kar_queue_amounts deserved, guarantee;
	struct kar_queue_amounts capability;
	const struct kar_queue_flavor_spec
		*flavors; /* that its groups may use, in the order in which it likes them; none: all nodes */
	uint32_t n_flavors;
	bool flavors_in_order; /* flavorPolicy InOrder: a group waits, or evicts, in the first before the next is looked at */
	bool never_reclaimed; /* reclaimable false: its gangs are not evicted for the rights of others */
	bool drain;           /* if it is closed, what runs is evicted */
	int32_t max_jobs;
	bool has_max_jobs;
	struct kar_queue_amounts per_namespace; /* perNamespace.capability */
	int32_t per_namespace_jobs;             /* perNamespace.maxJobs; 0: any number */
	int32_t max_priority; /* a group that asks for more counts as this; only with .has_max_priority */
	bool has_max_priority;
	int32_t max_run_seconds;     /* a group that may run for longer is not admitted; 0: no limit */
	int32_t default_run_seconds; /* of a QueueJob without activeDeadlineSeconds; 0: none */
	int32_t half_life; /* s, fairness.halfLifeSeconds: its children go by what they have had; 0: by shares */
	bool charge_idle; /* fairness.chargeIdle: also what they had while no other child waited */
	struct kar_selector namespaces; /* namespaceSelector: whose groups it admits; empty: of all */
	const char
		*namespaces_problem;   /* why that means nothing, so that it admits none; NULL: it is valid */
	enum kar_queue_state state;    /* OPEN (default), CLOSED or UNKNOWN */
	const char *state_text;        /* as it was written, for a message; NULL: it is absent */
	const char *queueing_strategy; /* "BestEffortFIFO" (default) or "StrictFIFO" */
	bool preempts; /* preemptionPolicy LowerPriority: a group may evict gangs of this queue that have a lower priority */
	bool provisions; /* provisioning Pods: a gang without room gets its pods, so that a cluster autoscaler sees them */
};

/* The group that is next. Texts are "" when absent. */
struct kar_queue_head {
	const char *ns, *name, *uid;
	kar_time since; /* wall ms, since when it waits */
};

/* A group that has waited for too long, and for which capacity is kept free. */
struct kar_queue_reservation {
	const char *job; /* "ns/name" */
	const char *uid; /* of the group */
	kar_time since;
	kar_time
		until; /* when it ends if no more of its pods fit until then; past: it has ended. 0: not known */
	int32_t pods;     /* the most of its pods that have fitted so far */
	kar_time start;   /* when all of it is free by known ends, as was found first; 0: not known */
	int32_t gathered; /* percent of its minimum that had come free at the last progress */
	struct kar_array resources; /* struct kar_pair */
};

/* Of .allocated and .entitled: what is of a flavor, of resources for which some queue names it. */
struct kar_queue_flavor_status {
	const char *name;
	struct kar_array allocated, entitled; /* struct kar_pair */
};

/* What was used until .time of struct kar_queue_usage on nodes of a flavor. */
struct kar_queue_flavor_usage {
	const char *name;
	struct kar_array seconds; /* as of struct kar_usage */
};

/* What its pods have used until .time. Since then they use .allocated of the status, and of each of its .flavors. */
struct kar_queue_usage {
	kar_time time;            /* 0: nothing was ever allocated */
	struct kar_array seconds; /* as of struct kar_usage */
	struct kar_queue_flavor_usage *flavors;
	size_t n_flavors;
};

/*
 * What it has had of the cluster, if its parent goes by that: the larger it is, the later its groups have their turn. It halves with each half-life
 * of the parent.
 */
struct kar_queue_history {
	kar_time time; /* 0: it has had nothing */
	int64_t value; /* at .time: millionths of the cluster times seconds */
	int32_t rate;  /* what it has since then, in millionths of the cluster; 0 while nothing is charged */
};

struct kar_queue_status {
	enum kar_queue_state state;
	int32_t pending, inqueue, running, completed, unknown; /* PodGroups by what they are doing */
	const char *parent; /* in force: the name of a queue, or KAR_QUEUE_ROOT; "": none was ever valid */
	struct kar_array allocated, entitled; /* struct kar_pair: quantities by resource */
	struct kar_queue_flavor_status *flavors;
	size_t n_flavors;
	struct kar_queue_usage usage;
	struct kar_queue_history history;
	int64_t share; /* thousandths */
	struct kar_queue_head head;
	struct kar_queue_reservation reservation;
	struct kar_conditions conditions;
};

/* Table of the status (api/status/status_fields.h). */
extern const struct kar_desc kar_queue_status_table;

struct kar_queue {
	struct kar_object o; /* first */
	struct kar_arena mem;
	int64_t generation;
	kar_time creation, deletion;
	struct kar_array finalizers; /* const char *; with the bounds of api/copy.h */
	struct kar_queue_spec spec;
	struct kar_queue_status status;
};

/* Message of a group or job that the queue skips because the job is invalid. */
#define KAR_NOT_QUEUED_INVALID "the job is invalid: see its condition Invalid"
#define KAR_NOT_QUEUED_CLASS "not in the queue until PriorityClass %s exists"
/* For printf: the priority that was asked for, and the priority that counts. */
#define KAR_QUEUE_CLAMPED "priority %d counts as %d, the maxPriority of the queue"
/* For printf: the queue that a running group asks for since it was admitted by another. */
#define KAR_QUEUE_MOVES "it moves to queue %s when its pods are gone"

extern const struct kar_type kar_queue_type;

/* The priority in @q (NULL: no such queue) of a group that asks for @asked. An unreadable queue may have a limit, so it gives at most 0. */
static inline int32_t kar_queue_priority(const struct kar_queue *q, int32_t asked)
{
	if (q && q->spec.has_max_priority)
		return asked > q->spec.max_priority ? q->spec.max_priority : asked;
	return q && q->o.unreadable && asked > 0 ? 0 : asked;
}

/* Does it limit what its pods have together: on all nodes, on those of a flavor, or of one namespace? */
bool kar_queue_has_limits(const struct kar_queue_spec *s) KAR_NONNULL;

/* Is it a name that a Queue may have? */
bool kar_queue_may_be_called(const char *name) KAR_NONNULL;

static inline const struct kar_queue *kar_as_queue(const struct kar_object *o)
{
	assert(o && o->type == &kar_queue_type);
	return (const struct kar_queue *)(const void *)o;
}

#endif
