/*
 * queuejob - the QueueJob reconciler: view, decision and life cycle (design queuejob.md is the specification).
 *
 * Creates the SchedulingSpec and the PodGroup of each job; once the PodGroup is admitted, creates the pods, minimum
 * first; replaces single lost pods above the quorum; restarts the whole gang below it; completes, fails, suspends.
 * Never looks at nodes.
 *
 * Phases (terminal ones are sticky):
 *
 *   Pending --admitted--> Starting --R+S >= quorum--> Running --success policy--> Completed
 *      ^                     ^                           |  \--limit, deadline--> Failed
 *      |                     |  all old pods gone        | R+S < quorum ("broken")
 *   Suspended <--suspend--   +------- Restarting <-------+
 */
#ifndef KAR_QUEUEJOB_RECONCILER_H
#define KAR_QUEUEJOB_RECONCILER_H

#include "api/types.h"
#include "common/err.h"
#include "controllers/node_line.h"
#include "controllers/plan.h"

/* Whether the API server would take the job's pods, as far as it has been asked (see memory.h). */
struct queuejob_check {
	bool waits;      /* it is suspended, or its queue has told it to wait: time for an early check */
	uint64_t passed; /* bit per task: nothing is said against its pods */
	/* Why a pod of .task is invalid, in the API server's words; NULL: none is known to be. */
	const char *refused;
	bool forbidden; /* it is not, but may not be created now; only of pods that replace what runs */
	size_t task;
	kar_time retry_in; /* ms until it may be asked again */
	kar_time early_in; /* ms until a waiting job is checked: most do not wait that long */
};

/* What the ResourceQuotas of the namespace say about pods. */
struct queuejob_quota {
	bool limits_pods;
	const char *name; /* of the one that allows the fewest; NULL: none limits their number */
	int64_t pods;     /* that it allows */
};

struct queuejob_view {
	const struct kar_queuejob
		*job; /* NULL: there is none of the key's name; then only the orphans count */
	const struct kar_schedulingspec *sched; /* of the job's name; NULL: none */
	const struct kar_podgroup *group;       /* likewise */
	const struct kar_service *service;      /* likewise; only one with our label is seen */
	/* UID of one of the job's own that was not found by the label; NULL: none is known. */
	const char *hidden_service;
	const struct kar_pod **pods; /* all with a controller ownerReference to the job's UID */
	size_t n_pods;
	const struct kar_pod **blocking; /* pods under a name of ours that are not the job's own */
	size_t n_blocking;
	/* Pods of the key's PodGroup with our finalizer that the job does not control: left by one that is gone. */
	const struct kar_pod **orphans;
	size_t n_orphans;
	int32_t priority;            /* resolved from schedSpec.priority, PriorityClass, global default, 0 */
	bool priority_class_missing; /* schedSpec.priorityClassName names no class */
	const int32_t
		*task_priority; /* per task: taskSpec.priority, else the template's class value, else 0 */
	const struct kar_err *refused; /* of a create for the job as it is now; NULL: none */
	const char *refused_what;      /* "pods default/j-w-0"; NULL with .refused */
	bool refusal_stands;           /* it is not being tried anew */
	bool stands_behind;            /* others, who wait for the same quota, are tried first */
	bool refused_extra;            /* it was none of the minimum */
	kar_time refused_for;          /* ms since the first refusal in a row, of the minimum or not */
	int32_t taken_back;            /* pods that were of no use without the one that was refused last */
	struct queuejob_quota quota;
	struct queuejob_check check;
	struct kar_node_outlook nodes; /* all 0: nobody else waits for nodes */
	/* ms until the job may be read again, if the last answer did not show it alive; 0: now */
	kar_time owner_check_in;
	int32_t schedule_timeout_seconds; /* for jobs that set none, at the creation of the PodGroup; 0: leave it out */
	bool owner_checked; /* the job was read from the API server for this incarnation: alive, as it is here */
	bool latest;        /* when it was read last, .job was its latest version, */
	kar_rv latest_pods;  /* and this that of the cache that .pods is from */
	kar_rv pods_version; /* of the cache that .pods is from; 0: not known */
	kar_rv jobs_version; /* of the cache that .job is from; 0: not known */
};

/* Numbers of struct kar_action.what. */
enum queuejob_action {
	QUEUEJOB_CREATE_SCHEDULINGSPEC, /* payload: struct kar_schedspec */
	QUEUEJOB_PATCH_SCHEDULINGSPEC,
	QUEUEJOB_CREATE_PODGROUP, /* payload: struct kar_podgroup_spec */
	QUEUEJOB_PATCH_PODGROUP,
	QUEUEJOB_CREATE_SERVICE, /* payload: struct kar_service_spec */
	QUEUEJOB_PATCH_SERVICE,
	QUEUEJOB_LABEL_SERVICE, /* patch: our label, without which it is not seen */
	QUEUEJOB_DELETE_SERVICE,
	QUEUEJOB_ADOPT,      /* patch: makes the job the owner of a child */
	QUEUEJOB_CREATE_POD, /* payload: struct queuejob_new_pod; a dry run only asks whether it would be taken */
	QUEUEJOB_UNGATE_POD,  /* patch: removes our scheduling gate */
	QUEUEJOB_RELEASE_POD, /* patch: removes our finalizer */
	QUEUEJOB_DELETE_POD,
	QUEUEJOB_REPAIR_POD, /* patch: labels and finalizer as they were; payload: struct queuejob_new_pod */
	QUEUEJOB_DELETE_JOB, /* ttlSecondsAfterFinished is over */
	QUEUEJOB_CHECK_OWNER, /* get: proves that the job is alive (see owner_checked); payload: int32_t, the incarnation */
};

struct queuejob_new_pod {
	size_t task;
	int32_t index;
	int32_t incarnation;
	bool gated;    /* with our scheduling gate */
	bool replaces; /* dry run: as soon as it passes, the gang that runs is given up for such pods */
};

/* No job counts so far: a number above it, in status or label, was edited. There is room to count on up to INT32_MAX. */
#define QUEUEJOB_COUNT_MAX 2000000000
/*
 * Pure: the incarnation that runs, or would be the first to start: the recorded one, if that is possible; else the newest of the pods (its start has
 * not been recorded yet), unless more of them are of one before; else 1. @v->job is not NULL.
 */
int32_t queuejob_incarnation(const struct queuejob_view *v) KAR_NONNULL;

/* Pure: in this phase an incarnation is at work. */
bool queuejob_has_gang(enum kar_qj_phase p);

/*
 * Pure: reads the view, fills the plan (p->status is a struct kar_queuejob_status). @now: wall ms. Total: it cannot fail.
 * Deciding twice on the same view gives the same plan; a plan never both creates and deletes one index.
 */
void queuejob_decide(const struct queuejob_view *v, kar_time now, struct kar_plan *p) KAR_NONNULL;

#endif
