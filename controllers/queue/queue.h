/*
 * queue - what the shell of the Queue reconciler knows about one PodGroup beside the input of the pass (common/queue/queue.h).
 */
#ifndef KAR_QUEUE_RECONCILER_H
#define KAR_QUEUE_RECONCILER_H

#include "api/types.h"
#include "common/queue/queue.h"
#include "controllers/runtime/plan.h"
#include "controllers/workload.h"

/* ms for which an admitted group that has no members yet keeps its admission against others without members. */
#define QUEUE_EMPTY_HOLD (30 * KAR_SECOND)
/* ms for which one whose last members have gone keeps it against all. */
#define QUEUE_GONE_HOLD (10 * KAR_SECOND)
/* The same for the group of a workload that was deleted with --cascade=orphan: nothing creates members for it any more. */
#define QUEUE_ORPHAN_HOLD KAR_MINUTE

/* The claim of a group on its queue. */
enum queue_claim {
	QUEUE_CLAIM_ALIVE,     /* an admission, or to keep it */
	QUEUE_CLAIM_NONE,      /* nothing: it is being deleted, or its owner is, or is gone */
	QUEUE_CLAIM_SUSPENDED, /* nothing, until its owner is resumed */
	QUEUE_CLAIM_ASKS, /* likewise, and to know when it would start; while it is observed, then it is SUSPENDED */
	QUEUE_CLAIM_INVALID,  /* nothing, until its owner is corrected: none of its pods can exist */
	QUEUE_CLAIM_FINISHED, /* nothing: its work is over, and it is only counted */
};

/* How the places that a pass finds for the pods of a group are recorded. Its runs are those of the input of the pass. */
struct queue_gang {
	/* Per run: the task whose pods they are; NULL: one that has not started, whose places are not recorded. */
	const char *const *tasks;
	/* Per run, of a group of others: the pods that get its places, in order. NULL: of a workload. */
	const char *const *const *pods;
	const bool *unverified; /* per run: the scheduler checks more than was modelled */
	const char *doubts;     /* why, as condition FitUnverified says it; NULL: nothing is .unverified */
	uint32_t n_runs;
	bool in_order;               /* it asks for a topology: places of a run are in the order of ranks */
	struct kar_pg_planned *kept; /* of .repairs, and of .renews with .pods: what stays of the plan */
	size_t n_kept;
	const char *
		requests; /* of a group of others: what its minimum asks for (status.placement.requests); NULL: of a workload */
	bool repairs; /* in PLACED: members that are stuck on their nodes, or new ones in their stead, get others */
	bool stuck;  /* of .repairs: there are some that are stuck */
	bool direct; /* its pods are created bound: without a place none exists */
	bool renews; /* admitted and .direct, its minimum is bound: what has no place in the plan gets one */
	bool keeps_plan; /* of .renews: pods are still to be created for places of the plan: new ones are added to them */
	bool ends_plan; /* of .renews: no place of the plan is of use any more */
	bool waits;     /* of .renews: nothing is placed in this pass */
	bool expired; /* of .renews: nobody has created pods for places of the plan: they are free for a while */
	enum kar_pg_backend backend; /* of the next attempt */
	kar_time timeout;            /* ms in which its minimum must be bound once it is placed */
};

/* Members of a group of others whose queue lets them in one by one: those that have started, then those that wait, in order. */
struct queue_late {
	const struct kar_pod *const *members;
	size_t n;
	size_t n_late; /* the last of them: those that wait beyond the minimum */
	size_t before; /* the first of them: those that start without the word of the pass */
};

struct queue_reservation;

/* One PodGroup. */
struct queue_group {
	const struct kar_podgroup *group;
	const struct kar_workload *workload; /* whose group it is; NULL: of none */
	const struct kar_object *owner;      /* that is it, as an object */
	const struct kar_suspendable *
		suspendable; /* of another controller, which makes its pods when it is resumed; NULL: of none */
	const struct kar_roles *roles; /* of it, with a claim that is ALIVE; NULL: of none */
	const char *queue;             /* that it asks for */
	const char
		*next; /* that it asks for since it runs, and gets when its pods are gone; NULL: no other */
	const char *
		label; /* the same as .queue, to be written as its label KAR_LABEL_QUEUE (controllers/cluster/asked.h); NULL: nothing is */
	enum queue_claim claim;
	int32_t priority; /* resolved, at most the queue's maxPriority */
	int32_t asked;    /* resolved, without that bound */
	bool recorded;    /* its status has an admission by the queue that it asks for */
	bool taken_back;  /* that admission: it has no pods, and what was admitted is not what it is now */
	bool admitted;    /* and it holds what that gave: it does not wait to be placed anew */
	enum kar_queue_yields yields;
	bool promised; /* its pods are those of the template of .suspendable: they do not exist */
	bool keeps_place; /* of others: all of its members were gone and are there again: it goes before others as if it had a claim */
	bool waits_for_pods;           /* of its job that should be gone: a pass is due when they are */
	const struct queue_gang *gang; /* NULL: the pass finds no places for it */
	const struct queue_late *late; /* NULL: its members are not let in one by one */
	bool bounded; /* of others: the queue bounds how many of its members start (controllers/cluster/asked.h) */
	const struct queue_reservation *reservation; /* NULL: it asks for none (controllers/queue/ledger.h) */
	const struct kar_queue_group
		*question; /* as the pass would see it if it were not suspended; NULL: it does not ask */
	const struct kar_what_if *answer; /* by this pass, to that; NULL: none */
	const struct kar_unit *unit; /* those with which it starts, in the pass; NULL: not asked for yet */
};

/*
 * To whom @g, a group that no workload controls and that is @admitted, yields; *@left: ms until that is another, KAR_NEVER: as long as it
 * has so many members. An orphan yields a minute after its last members, however late it is admitted; the time of any other group begins with
 * its admission. @members: number of cached members; @now: wall ms. Pure.
 */
enum kar_queue_yields queue_yields_to(const struct kar_podgroup *g, bool admitted, size_t members,
	kar_time now, kar_time *left) __attribute__((nonnull(1, 5)));
/*
 * Order of groups: yielding ones last, then priority (high first), creation (old first), namespace/name. For qsort() of
 * struct queue_group.
 */
int queue_group_compare(const void *a, const void *b) KAR_NONNULL;

#endif
