/*
 * tally - the pods of a job sorted into the indexes of its spec, and counted.
 *
 * Pure. Which index a pod is, its name says; whether it is the job's, its owner's UID (already looked at by whoever made
 * the view); to which incarnation it belongs, its label.
 */
#ifndef KAR_QUEUEJOB_TALLY_H
#define KAR_QUEUEJOB_TALLY_H

#include "api/intervals.h"
#include "controllers/queuejob/queuejob.h"

enum queuejob_slot_state {
	QUEUEJOB_SLOT_MISSING, /* no object has the pod's name */
	QUEUEJOB_SLOT_BLOCKED, /* somebody else's pod has it */
	QUEUEJOB_SLOT_PENDING, /* .pod exists and has not run yet */
	QUEUEJOB_SLOT_RUNNING,
	QUEUEJOB_SLOT_DONE, /* succeeded; .pod may be gone */
	QUEUEJOB_SLOT_LOST, /* .pod has failed, or is being deleted or shall be */
	QUEUEJOB_SLOT_OLD,  /* .pod belongs to an older incarnation */
};

/* One index. */
struct queuejob_slot {
	enum queuejob_slot_state state;
	bool recorded;             /* done, and the status says so already */
	bool held;                 /* not wanted now, because of the queue (limit.c); never with DONE */
	const struct kar_pod *pod; /* the object under its name; NULL: none */
};

struct queuejob_task_tally {
	struct queuejob_slot *slots; /* one per wanted replica */
	int32_t n;
	bool known;                /* the recorded status has the task */
	bool started;              /* as recorded; later in the round: as it is (see order.c) */
	struct kar_intervals done; /* indexes that have succeeded: recorded, and newly seen */
	int32_t n_done;
	int32_t wanted; /* that have not succeeded, and are wanted now (limit.c) */
	int32_t pending, running, failed;
	int32_t objects; /* pods that exist, in any state */
	/* Not 0: it is being restarted (restart_task.c). Those of its pods that are not done are SLOT_LOST, but no losses. */
	kar_time restart_time;
	bool restart_recorded; /* not only decided in this round */
};

struct queuejob_pods {
	const struct kar_pod **items;
	size_t n;
};

struct queuejob_tally {
	struct queuejob_task_tally *tasks; /* as in the spec */
	size_t n_tasks;
	int32_t total; /* replicas of all tasks */
	/* This incarnation, without those being deleted. done: see above. */
	int32_t pending, running, done, failed;
	int32_t terminating; /* of any incarnation */
	int32_t objects;
	struct queuejob_pods
		lost; /* SLOT_LOST whose UID is not in status.counted_pods, in the order of indexes */
	struct queuejob_pods
		beyond; /* of this incarnation, at no index of the spec; in the order of the view */
	struct queuejob_pods surplus; /* likewise; and live ones that the queue does not want (limit.c) */
	struct queuejob_pods
		old;          /* of older incarnations, except succeeded ones at an index that stays done */
	const char **counted; /* status.counted_pods, sorted: it is looked at for every pod */
	size_t n_counted;
	const struct kar_pod *blocker; /* first pod in the way; NULL: none */
	bool unschedulable;            /* a pending pod waits for a node */
	const struct kar_pod *stuck;   /* first pending pod of which a container does not start; NULL: none */
	int32_t n_stuck;
};

/*
 * Counts v->pods. @keep_done: the succeeded indexes that v->job->status records still count; false: the next incarnation
 * starts from nothing. @record: pods that are seen Succeeded become done, unless they were told to stop. Lists live in @arena.
 */
void queuejob_tally(const struct queuejob_view *v, bool keep_done, bool record, struct kar_arena *arena,
	struct queuejob_tally *out) KAR_NONNULL;

/* The pods of task number @i are to go, and may be created again at @restart_time: they are members of the gang no more. */
void queuejob_tally_give_up(struct queuejob_tally *t, size_t i, kar_time restart_time) KAR_NONNULL;

/* A lost pod that somebody took away (deletion, eviction, preemption, node loss), rather than one that failed. */
bool queuejob_pod_disrupted(const struct kar_pod *pod) KAR_NONNULL;
/* Of the index that the name of @pod says; NULL: the spec has none. It may be that of another pod. */
const struct queuejob_slot *queuejob_find_slot(const struct queuejob_tally *t, const struct kar_queuejob *job,
	const struct kar_pod *pod) KAR_NONNULL;
/* Is the loss of @pod recorded in the status that was counted from? */
bool queuejob_pod_counted(const struct queuejob_tally *t, const struct kar_pod *pod) KAR_NONNULL;

#endif
