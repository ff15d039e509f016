/*
 * queue - the Queue reconciler: orders all waiting PodGroups and admits whole gangs (docs/design/queue.md).
 *
 * One pure pass plan(snapshot) -> decisions: deterministic, independent of the order of its input, and
 * plan(plan(x)) = plan(x). This version admits by queue state, maxJobs, priority, age, and whether all pods of the minimum
 * fit on the nodes now; fairness and elasticity enter the same pass later (docs/design/queue.md). Counts are recomputed every pass.
 */
#ifndef KAR_QUEUE_RECONCILER_H
#define KAR_QUEUE_RECONCILER_H

#include "api/types.h"
#include "common/sched/sched.h"
#include "controllers/runtime/plan.h"

/* ms for which an admitted group without members keeps its admission (--hold-timeout of the design). */
#define QUEUE_EMPTY_HOLD (30 * KAR_MINUTE)
/* The same for the group of a QueueJob that was deleted with --cascade=orphan: nothing creates members for it any more. */
#define QUEUE_ORPHAN_HOLD KAR_MINUTE
enum {
	QUEUE_POSITIONS = 100, /* positions of a queue that are written: those of the first groups */
	/*
	 * Groups of a full queue whose message names jobs that are admitted. More would be rewritten whenever one of these jobs changes,
	 * which is one write per group and POSITION_INTERVAL (sync.c) at most.
	 */
	QUEUE_NAMING = 10,
};

/* The claim of a group on its queue. */
enum queue_claim {
	QUEUE_CLAIM_ALIVE,     /* an admission, or to keep it */
	QUEUE_CLAIM_NONE,      /* nothing: it is being deleted, or its owner is, or is gone */
	QUEUE_CLAIM_SUSPENDED, /* nothing, until its owner is resumed */
	QUEUE_CLAIM_INVALID,   /* nothing, until its owner is corrected: none of its pods can exist */
	QUEUE_CLAIM_FINISHED,  /* nothing: its work is over, and it is only counted */
};

/* Room that a plan holds for pods that are not bound yet. */
struct queue_seat {
	const char *node;
	kar_class class;
	int32_t n;
};

/* The pods of a group that is placed by the pass: it is admitted only with a place for each of its minimum. */
struct queue_gang {
	struct kar_gang
		gang; /* what it must start with, without what needs no place any more; an admitted group: what it lacks */
	const char *const *names; /* of the roles */
	const bool *unverified;   /* per role: the scheduler checks more than was modelled; NULL: none */
	const char *const *const
		*pods; /* per role: the pods that get its places, in order; NULL: they do not exist yet */
	const struct kar_pg_planned *kept; /* of .renews with .pods: what stays of the plan */
	size_t n_kept;
	const struct queue_seat *held; /* of an admitted group: what its plan still holds */
	size_t n_held;
	bool incomplete;      /* members are missing, so it is not placed yet; it has no roles */
	bool direct;          /* its pods are created bound: without a place none exists */
	const char *obstacle; /* of .direct: why it is not placed at all; NULL: nothing is against it */
	/*
	 * Of an admitted .direct gang whose minimum is bound: .gang is what has no place in the plan yet. Its need is placed whole or not, the
	 * rest as far as it fits.
	 */
	bool renews;
	bool keeps_plan; /* of .renews: pods are still to be created for places of the plan: new ones are added to them */
	bool ends_plan; /* of .renews: no place of the plan is of use any more */
	bool waits;     /* of .renews: nothing is placed in this pass */
	bool expired; /* of .renews: nobody has created pods for places of the plan: they are free for a while */
	enum kar_pg_backend backend; /* of the next attempt */
	const char
		*unavailable; /* why that backend cannot be had, so that the group waits; NULL: it can be */
	bool deactivated;     /* too many attempts have failed: it waits for an edit */
	kar_time retry_in;    /* ms until it may be placed after an attempt that failed; <= 0: now */
	kar_time timeout;     /* ms in which its minimum must be bound once it is placed */
};

/* One PodGroup as the pass sees it. */
struct queue_group {
	const struct kar_podgroup *group;
	const char *queue; /* that it asks for */
	const char *
		label; /* the same, to be written as its label KAR_LABEL_QUEUE (controllers/asked.h); NULL: nothing is */
	bool not_allowed; /* that queue admits no groups of its namespace */
	int32_t priority; /* resolved, at most the queue's maxPriority */
	int32_t asked;    /* resolved, without that bound */
	bool admitted;    /* by the queue that it asks for now */
	/* Another queue whose admission it still has, and where it counts until that ends. NULL: none. */
	const char *still_in;
	/* Without members for QUEUE_EMPTY_HOLD (_ORPHAN_HOLD): it is ordered after all others, and makes room for them. */
	bool yields;
	enum queue_claim claim;
	const struct queue_gang
		*gang; /* NULL: the pass does not place it, so it is admitted without regard to nodes */
	/* What its pods use now, if it may be evicted, or is being evicted; NULL: neither. */
	const struct queue_seat *used;
	size_t n_used;
	kar_time started;    /* wall ms, when it was admitted */
	bool never_preempts; /* its PriorityClass says so */
	/* The gangs that it starts with, itself first, as far as they have not started (controllers/unit.h); NULL: it starts alone. */
	const struct kar_podgroup *const *unit;
	size_t n_unit;
	const char *missing; /* "ns/name" of one that does not exist; NULL: all do */
	const char *
		state; /* what it does, if it is admitted: "Running", "Unschedulable"; NULL or "": nothing yet */
};

struct queue_snapshot {
	const struct kar_queue **queues;
	size_t n_queues;
	struct queue_group *groups;
	size_t n_groups;
	/* The room of all nodes; as it was when the plan is made. NULL: no group has a gang. */
	struct kar_sched *sched;
};

/* Why a group waits (one enum; the text is made from it). */
enum queue_reason {
	QUEUE_ADMITTED,
	QUEUE_NOT_FOUND, /* QueueNotFound */
	QUEUE_INVALID,   /* QueueInvalid: it cannot be read, or its namespaceSelector means nothing */
	QUEUE_CLOSED,    /* QueueClosed */
	QUEUE_NOT_ALLOWED, /* NamespaceNotAllowed: its namespaceSelector does not select the namespace of the group */
	QUEUE_MAX_JOBS,   /* MaxJobsReached: maxJobs reached */
	QUEUE_RESERVING,  /* Reserving: gangs were evicted for it, and their pods are still stopping */
	QUEUE_PREEMPTED,  /* Preempted: it is evicted for another group */
	QUEUE_GANG_GROUP, /* WaitingForGangGroup: a gang that it starts with does not exist, or cannot start */
	QUEUE_FEW_MEMBERS, /* WaitingForMembers: a group of another controller whose members do not all exist */
	QUEUE_BACK_OFF,    /* BackOff: an attempt to start it has failed a moment ago */
	QUEUE_UNSUPPORTED, /* Unsupported: created bound, and something of it cannot be checked */
	QUEUE_UNAVAILABLE, /* BackendUnavailable: the cluster lacks what is asked for to start it whole */
	QUEUE_DEACTIVATED, /* Deactivated: too many attempts to start it have failed */
	QUEUE_NO_FIT,      /* NoFit: its minimum does not fit on the nodes now */
	QUEUE_INFEASIBLE,  /* Infeasible: not even on empty nodes */
	QUEUE_PROVISIONING, /* Provisioning: no room, and another group of the queue waits for new nodes already */
	QUEUE_BEHIND_HEAD, /* BehindHead: StrictFIFO, and a job ahead must be admitted first */
	QUEUE_NOT_WAITING, /* suspended, finished or being deleted */
	QUEUE_JOB_INVALID, /* JobInvalid: its pods are impossible, see controllers/queuejob/valid.c */
};
const char *queue_reason_name(enum queue_reason r) KAR_RETNN; /* CamelCase, as in conditions */

struct queue_decision {
	enum queue_reason reason;
	/* Among the waiting groups of its queue, 1 = next, up to QUEUE_POSITIONS; 0: it does not wait, or is further behind. */
	int32_t position;
	int32_t waiting; /* number of groups that wait in that queue */
	/* Why it has no room, if it is admitted all the same, so that nodes are added for it; QUEUE_ADMITTED: it has room. */
	enum queue_reason provisions;
	const struct queue_group
		*evicted_for; /* of QUEUE_PREEMPTED, only in the pass that evicts; else NULL */
	const char *stopping; /* of QUEUE_RESERVING: "ns/a, ns/b", whose pods are still there */
	const struct kar_podgroup
		*partner; /* of QUEUE_GANG_GROUP: the gang that cannot start; NULL: it does not exist */
	enum queue_reason partner_reason; /* why not */
	bool lacks;                       /* of a gang that renews its plan: there is no room for its need */
	const struct kar_placement *places; /* where it goes, or what is added (.renews); NULL: nothing new */
	/* `2nd of 5 in queue a: maxJobs 3 reached`; in the arena; NULL for a finished group */
	const char *message;
};

/*
 * ms until @g, a group that no QueueJob controls, yields; <= 0: it yields now. KAR_NEVER: it has members. An orphan yields a minute
 * after its last members, however late it is admitted; the time of any other group begins with its admission. @members: number of
 * cached members; @now: wall ms. Pure.
 */
kar_time queue_empty_for_too_long_in(const struct kar_podgroup *g, size_t members, kar_time now) KAR_NONNULL;
/*
 * Order inside a queue: yielding groups last, then priority (high first), time of waiting (old first), namespace/name. For qsort()
 * of struct queue_group.
 */
int queue_group_compare(const void *a, const void *b) KAR_NONNULL;

/* "evicted for ns/j: priority 1000 over 10", in @a. */
const char *queue_describe_eviction(const struct queue_group *victim, const struct queue_group *taker,
	struct kar_arena *a) KAR_NONNULL KAR_RETNN;

/* Pure. @out has one decision per group, in the order of snapshot->groups. */
void queue_plan(const struct queue_snapshot *s, struct kar_arena *arena,
	struct queue_decision *out) KAR_NONNULL;

/*
 * Pure. The status of each queue after these decisions: @out has one per queue, in the order of s->queues. A closed queue is
 * Closing while groups that it admitted are alive. @now: wall ms.
 */
void queue_statuses(const struct queue_snapshot *s, const struct queue_decision *decisions, kar_time now,
	struct kar_arena *arena, struct kar_queue_status *out) KAR_NONNULL;

#endif
