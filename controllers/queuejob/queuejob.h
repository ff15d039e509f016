/*
 * queuejob - the QueueJob reconciler: view and decision (docs/design/queuejob.md is the specification).
 *
 * Creates the SchedulingSpec and the PodGroup of each job; once the PodGroup is admitted, creates the pods, minimum
 * first; replaces single lost pods above the quorum; restarts the whole gang below it; completes, fails, suspends.
 * Reads no Node objects.
 *
 * Phases; moves.c has the table of all moves:
 *
 *   Pending --admitted--> Starting --quorum runs--> Running
 *      ^                   ^    ^                      |
 *      | resumed           |    +-- must form again ---+
 *      |                   |
 *   Suspended              +-- old pods gone -- Restarting
 *
 *   Starting, Running                       --broken, new template, quota, nodes-->  Restarting
 *   Pending, Starting, Running, Restarting  --spec.suspend-->                        Suspended
 *   Starting, Running                       --failure policy-->                      Completed, Failed
 *   all but Completed, Failed               --success policy-->                      Completed
 *   all but Completed, Failed               --backoffLimit, deadline-->              Failed
 *
 * Completed and Failed are final. A first start is recorded together with the next phase (decision 007), so the recorded
 * status may go from Pending to Running at once.
 */
#ifndef KAR_QUEUEJOB_RECONCILER_H
#define KAR_QUEUEJOB_RECONCILER_H

#include "api/podgroup/native_group.h"
#include "api/types.h"
#include "common/base/err.h"
#include "controllers/runtime/plan.h"

/* Whether the API server would take the job's pods, as far as it has been asked (see memory.h). */
struct queuejob_check {
	bool waits;      /* the job is suspended, or its queue makes it wait: time for an early check */
	uint64_t passed; /* bit per task: the API server accepts its pods */
	/* Why a pod of .task is invalid, in the API server's words; NULL: none is known to be. */
	const char *refused;
	bool forbidden; /* .refused denies a create that may be allowed later; only for pods that replace running ones */
	size_t task;
	kar_time retry_in; /* ms until it may be asked again */
	kar_time early_in; /* ms until a waiting job is checked: most do not wait that long */
};

/* The PodGroups of Kubernetes itself (api/podgroup/native_group.h), and that of the job. */
struct queuejob_native {
	const struct kar_type *type; /* as the cluster has them; NULL: it has none, or is not known to */
	kar_time again;              /* ms until the API server may say something else */
	bool lost;                   /* it is known to have none */
	bool exists;                 /* the job has one, as the last answer said */
	int32_t min_count;           /* as we wrote it last; 0: not known */
};

/* An entry of spec.after, and what is known of the job. */
struct queuejob_after {
	const char *name;
	enum kar_after_on on;
	enum kar_qj_phase phase; /* of the job, or as recorded; NONE: it does not exist, or has none yet */
	bool exists;
	bool ended; /* in .phase, which is final */
};

struct queuejob_view {
	const struct kar_queuejob *job; /* NULL: no job has the key's name; then only the orphans count */
	const struct kar_schedulingspec *sched; /* of the job's name; NULL: none */
	const struct kar_podgroup *group;       /* likewise */
	const struct kar_flavor
		*flavor;   /* in which the group is admitted, or holds room; NULL: its pods may be anywhere */
	const char *queue; /* in force (controllers/cluster/asked.h); "": none */
	const struct kar_service *service; /* likewise; only one with our label is seen */
	const struct kar_pod **pods;       /* all with a controller ownerReference to the job's UID */
	size_t n_pods;
	const struct kar_pod **blocking; /* pods under a name of ours that are not the job's own */
	size_t n_blocking;
	/* Pods of the key's PodGroup with our finalizer that the job does not control: left by one that is gone. */
	const struct kar_pod **orphans;
	size_t n_orphans;
	const struct kar_queue
		*queues[KAR_QUEUE_LEVELS]; /* of the job, and those above; NULL: there are no more */
	/*
	 * The requested one: schedSpec.priority, else of the PriorityClass of schedSpec, else the highest of the templates' classes, else of the
	 * global default, else 0. See queuejob_priority().
	 */
	int32_t priority;
	const char
		*priority_class; /* that of schedSpec, else that of the templates which counts; NULL: none */
	const char *missing_class; /* the name of .priority_class_missing; NULL: none */
	const int32_t
		*task_priority; /* per task: taskSpec.priority, else the template's class value, else 0 */
	const struct kar_err *refused;       /* of a create for the job as it is now; NULL: none */
	const char *refused_what;            /* "pods default/j-w-0"; NULL with .refused */
	const struct kar_type *refused_type; /* of the object that was to be created; NULL with .refused */
	bool priority_class_missing; /* schedSpec, or a task with replicas, names a class that does not exist */
	bool refusal_stands;         /* no retry of the refused create is on its way */
	bool refused_extra;          /* the refused pod was not one of the minimum */
	int32_t rolled_back;         /* pods that were rolled back because of the last refusal */
	bool mark_refused; /* the API server has refused the condition DisruptionTarget: pods are deleted without it */
	bool quota_limits_pods; /* a ResourceQuota of the namespace does */
	struct queuejob_check check;
	struct queuejob_native native;
	const struct queuejob_after *after; /* as in the spec; none for a job that has had pods */
	size_t n_after;
	bool joined; /* it has a PodGroup, so it waits for none of .after any more */
	const char
		*circle; /* "a, b, a": jobs that wait for each other, from this one on; NULL: it is in none */
	bool is_awaited; /* another job waits for the end of this one and has not recorded it */
	/* ms until the job may be read again, if the last answer did not show that it is alive; 0: now */
	kar_time owner_check_in;
	const char *obstacle;             /* of .direct: why it cannot be placed at all; NULL: it can */
	int32_t schedule_timeout_seconds; /* default for the PodGroups of jobs that set none; 0: none */
	bool unit_waits; /* it starts with other gangs, and one of them has no plan yet (controllers/cluster/unit.h) */
	bool direct;        /* its pods are created bound, and never without a node (queuejob_direct.h) */
	bool owner_checked; /* a read from the API server in this incarnation has shown .job as it is here, alive */
	bool latest;        /* the last read from the API server has shown that .job is the latest version */
	kar_rv latest_pods;  /* version of the cache of pods at that read */
	kar_rv pods_version; /* of the cache of pods now; 0: not known */
	kar_rv jobs_version; /* of the cache of jobs now; 0: not known */
};

/* Returns the priority that ranks the job: the requested one, but at most the maxPriority of its queue and of those above. */
static inline int32_t queuejob_priority(const struct queuejob_view *v)
{
	int32_t priority = v->priority;

	for (int i = 0; i < KAR_QUEUE_LEVELS; i++)
		priority = kar_queue_priority(v->queues[i], priority);
	return priority;
}

/* Values of struct kar_action.what; those for existing pods are in controllers/podset/podset.h. */
enum queuejob_action {
	QUEUEJOB_CREATE_SCHEDULINGSPEC, /* payload: struct kar_schedspec */
	QUEUEJOB_PATCH_SCHEDULINGSPEC,
	QUEUEJOB_CREATE_PODGROUP, /* payload: struct kar_podgroup_spec */
	QUEUEJOB_PATCH_PODGROUP,
	QUEUEJOB_CREATE_SERVICE, /* payload: struct kar_service_spec */
	QUEUEJOB_PATCH_SERVICE,
	QUEUEJOB_DELETE_SERVICE,
	QUEUEJOB_CREATE_NATIVE, /* payload: struct kar_native_spec */
	QUEUEJOB_PATCH_NATIVE,  /* likewise; only minCount changes */
	QUEUEJOB_ADOPT,         /* patch: makes the job the owner of a child */
	QUEUEJOB_CREATE_POD,    /* payload: struct queuejob_new_pod; may be a dry run */
	QUEUEJOB_DELETE_JOB,    /* ttlSecondsAfterFinished is over */
	QUEUEJOB_CHECK_OWNER, /* get; proves that the job is alive (see owner_checked); payload: int32_t, the incarnation */
};

struct queuejob_new_pod {
	size_t task;
	int32_t index;
	int32_t incarnation;
	const char *pin;                /* node of the plan; "": any */
	struct kar_array domain;        /* struct kar_pair: labels that its node must have as well */
	struct kar_flavor_terms flavor; /* likewise, with tolerations */
	bool bound;                     /* created bound to .pin */
	bool native;                    /* it names the PodGroup of Kubernetes */
	bool replaces; /* of a dry run: if it succeeds, the running gang is restarted with such pods */
};

/*
 * Pure: returns the running incarnation. That is the recorded one, if its number is possible. Without a recorded one it is
 * the newest among the pods, or the one before, if at least as many live pods have that; without pods 1. @v->job is not NULL.
 */
int32_t queuejob_incarnation(const struct queuejob_view *v) KAR_NONNULL;

/* True if pods of an incarnation are created and kept in phase @p. */
static inline bool queuejob_has_gang(enum kar_qj_phase p)
{
	return p == KAR_QJ_PHASE_STARTING || p == KAR_QJ_PHASE_RUNNING;
}

/* Why the index of a live pod is kept, best first (limit.c has more, of indexes without a live pod). */
enum queuejob_kept { QUEUEJOB_KEPT_RUNS, QUEUEJOB_KEPT_EXISTS };
static inline enum queuejob_kept queuejob_kept(const struct kar_pod *pod)
{
	return pod->phase == KAR_POD_PENDING ? QUEUEJOB_KEPT_EXISTS : QUEUEJOB_KEPT_RUNS;
}
/* The numbers of @n tasks in the order in which their pods are created, in @arena: by priority, high first, then as they are listed. */
size_t *queuejob_order(const int32_t *priority, size_t n, struct kar_arena *arena)
	__attribute__((nonnull(3))) KAR_RETNN; /* roles.c */

/*
 * Pure: decides about the view @v at @now (wall ms) and fills in the plan @p; p->status is a struct kar_queuejob_status.
 * Cannot fail. The same view gives the same plan; a plan never both creates and deletes one index.
 */
void queuejob_decide(const struct queuejob_view *v, kar_time now, struct kar_plan *p) KAR_NONNULL;

#endif
