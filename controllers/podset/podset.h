/*
 * podset - the pods of one owner by index: counted, stopped, released, relabelled. Pure.
 *
 * A workload reconciler wants a number of replicas of each of its tasks. The name of a pod contains its task and index, and a label
 * its incarnation. The caller lists only pods whose controller has the owner's UID.
 * podset_count() sorts the pods into slots, one per wanted replica, and counts them. The other functions add actions on pods to a
 * plan (controllers/runtime/plan.h); podset_encode() writes their bodies. Pods are created by
 * the workload reconciler, which knows the templates.
 */
#ifndef KAR_PODSET_H
#define KAR_PODSET_H

#include "api/pod/pod.h"
#include "api/status/intervals.h"
#include "controllers/runtime/plan.h"

struct kar_json_writer;

/* Reason of the condition DisruptionTarget of a pod that is evicted by its queue. */
#define PODSET_EVICTED "EvictedByQueue"

/* --- counting ------------------------------------------------------------------------------------ */

enum podset_state {
	PODSET_MISSING, /* no object has the pod's name */
	PODSET_BLOCKED, /* a pod of another owner has the name */
	PODSET_PENDING, /* .pod exists and has not run yet */
	PODSET_RUNNING,
	PODSET_DONE,     /* succeeded; .pod may be gone */
	PODSET_LOST,     /* .pod has failed, terminates, or is about to be deleted */
	PODSET_GIVEN_UP, /* the index has failed for good, and gets no pod; .pod may be gone */
	PODSET_OLD,      /* .pod belongs to an older incarnation */
};

/* One index. */
struct podset_slot {
	enum podset_state state;
	bool recorded;             /* the status already has this index as done, or as given up */
	size_t number;             /* among the slots of all tasks */
	const struct kar_pod *pod; /* the pod with the name of this index; NULL: none */
};

struct podset_task {
	struct podset_slot *slots; /* one per wanted replica */
	int32_t n;
	struct kar_intervals done;     /* indexes that have succeeded, recorded or not */
	struct kar_intervals given_up; /* indexes that have failed for good; none of them is in .done */
	struct kar_intervals given_up_before; /* those that are recorded */
	int32_t n_done, n_given_up;
	int32_t pending, running, failed;
	int32_t objects; /* pods that exist, in any state */
};

struct podset_pods {
	const struct kar_pod **items; /* borrowed from the view */
	size_t n;
};

/* Adds @pod, borrowed, to @list, whose array is in @arena. */
void podset_append(struct podset_pods *list, const struct kar_pod *pod, struct kar_arena *arena) KAR_NONNULL;

/* How a name is mapped to an index. No member is NULL. */
struct podset_owner {
	const void *owner;
	/* True if @pod_name names an index of @owner; fills in the number of the task, and the index, which may be >= replicas. */
	bool (*index_of)(const void *owner, const char *pod_name, size_t *task, int32_t *index);
};

struct podset {
	struct podset_owner owner;
	struct podset_task *tasks; /* as in the spec */
	size_t n_tasks;
	size_t n_slots; /* of all tasks */
	int32_t total;  /* replicas of all tasks */
	/* Pods of this incarnation that do not terminate: */
	int32_t pending, running, done, failed, given_up;
	int32_t terminating; /* pods of any incarnation */
	int32_t objects;
	struct podset_pods lost; /* PODSET_LOST pods that are not counted yet, in the order of indexes */
	struct podset_pods
		surplus; /* pods of this incarnation at no index of the spec, in the order of the view */
	struct podset_pods
		old; /* pods of older incarnations, except succeeded ones at an index that stays done */
	const char **counted; /* UIDs of losses that are counted, sorted */
	size_t n_counted;
	const struct kar_pod *blocker; /* first pod of another owner under a name of ours; NULL: none */
	struct kar_unplaced unplaced;  /* pending pods that the scheduler finds no node for */
	const struct kar_pod *
		stuck; /* first pending pod with a container that does not start, and none that crashes; NULL: none */
	int32_t n_stuck;
};

/* The wanted and recorded state of one task. */
struct podset_task_input {
	int32_t replicas;
	const char *done;            /* recorded indexes that still count, in interval notation; "": none */
	const char *given_up;        /* indexes that have failed for good, likewise; NULL or "": none */
	const char *given_up_before; /* those of them that are recorded; likewise */
	bool restarts; /* the task restarts: its pods that are not done become PODSET_LOST, but not .lost */
	bool restart_recorded; /* the restart is in the recorded status */
};

struct podset_input {
	struct podset_owner owner;
	const struct podset_task_input *tasks;
	size_t n_tasks;
	int32_t max_pods; /* bound on the slots of all tasks; further replicas get no slot */
	const struct kar_pod *const *pods;
	size_t n_pods;
	const struct kar_pod *const *blocking; /* pods of other owners under names of ours */
	size_t n_blocking;
	int32_t incarnation;       /* recorded; pods with a lower label are old */
	const char *template_hash; /* of this incarnation; "": unknown */
	struct kar_array counted;  /* const char *: UIDs of losses that are counted */
	bool at_work; /* the gang is not being stopped: terminating pods that succeed count, and older labels may be wrong */
	bool record; /* pods that are seen Succeeded become done, unless we stopped them */
};

/* Sorts and counts the pods of @in. Lists of @out live in @arena; pods and UIDs are borrowed. */
void podset_count(const struct podset_input *in, struct kar_arena *arena, struct podset *out) KAR_NONNULL;
/* The slot with the name of @pod; NULL: the spec has none. The slot may hold another pod of that name. */
const struct podset_slot *podset_find(const struct podset *set, const struct kar_pod *pod) KAR_NONNULL;
/* True if the loss of @pod has been counted. */
bool podset_is_counted(const struct podset *set, const struct kar_pod *pod) KAR_NONNULL;
/* True if @pod never ran, so that it is no loss: the kubelet has refused it, or it was rolled back. */
bool podset_never_ran(const struct kar_pod *pod) KAR_NONNULL;
/* True if the lost pod was deleted, evicted, preempted or lost with its node; false if it failed. */
bool podset_is_disrupted(const struct kar_pod *pod) KAR_NONNULL;

/* --- actions ------------------------------------------------------------------------------------- */

/* Numbers of struct kar_action.what, above those of every reconciler. */
enum podset_action {
	PODSET_DELETE = 1000,
	PODSET_RELEASE, /* patch: removes our finalizer */
	PODSET_UNGATE,  /* patch: removes our scheduling gate */
	PODSET_RELABEL, /* patch: labels, and our finalizer; payload: struct kar_array of struct kar_pair */
	PODSET_DISRUPT, /* patch of the status: condition DisruptionTarget; payload: struct podset_disruption */
};

/* Why a pod is evicted. */
struct podset_disruption {
	const char *reason;  /* "EvictedByQueue" */
	const char *message; /* a sentence that names for whom */
	kar_time now;        /* wall ms */
};

/* Deletes @pod, in any state; with @as_read only if it is still as it was read. */
void podset_delete(struct kar_plan *p, const struct kar_pod *pod, bool as_read) KAR_NONNULL;
/* Deletes @pod unless it terminates already, and removes our finalizer, so that nothing holds it. */
void podset_remove(struct kar_plan *p, const struct kar_pod *pod) KAR_NONNULL;
/*
 * As podset_remove(), but keeps a success that comes in between: the delete is refused if the pod has changed, and the next sync
 * sees the success.
 */
void podset_stop(struct kar_plan *p, const struct kar_pod *pod) KAR_NONNULL;
/*
 * Evicts @pod: marks it with the condition DisruptionTarget, so that its program can save its state; when the mark is seen, a later plan
 * deletes it as podset_stop() does. One without a node has nothing to save and is stopped at once. @message is copied; @now: wall ms.
 */
void podset_evict(struct kar_plan *p, const struct kar_pod *pod, const char *message,
	kar_time now) KAR_NONNULL;
void podset_remove_all(struct kar_plan *p, const struct podset_pods *pods) KAR_NONNULL;
/* Removes our finalizer, if @pod has it. */
void podset_release(struct kar_plan *p, const struct kar_pod *pod) KAR_NONNULL;
/* Releases succeeded pods whose success is recorded, and failed pods of indexes that are recorded as given up; stops others of those. */
void podset_release_done(struct kar_plan *p, const struct podset *set) KAR_NONNULL;
/* Removes our gate, only at the version of @pod that was read: a pod rolled back since needs its gate as the evidence that it never ran. */
void podset_ungate(struct kar_plan *p, const struct kar_pod *pod) KAR_NONNULL;
/* Releases a pod that goes on without its owner. Removes our gate first, and our finalizer in a later sync when the gate is gone. */
void podset_orphan(struct kar_plan *p, const struct kar_pod *pod) KAR_NONNULL;
/* Releases pods whose owner is gone. The garbage collector deletes those with an ownerReference; the others go on. */
void podset_release_unowned(struct kar_plan *p, const struct kar_pod *const *pods, size_t n)
	__attribute__((nonnull(1)));
/* Sets @labels (struct kar_pair, in the arena of @p) and our finalizer. */
void podset_relabel(struct kar_plan *p, const struct kar_pod *pod, struct kar_array labels) KAR_NONNULL;

/* Writes the member "status" of a patch with the condition DisruptionTarget=True. */
void podset_write_disruption(struct kar_json_writer *w, const struct podset_disruption *d) KAR_NONNULL;
/* Appends the body of @a to @out; false: @a is not one of these actions, or has no body. */
bool podset_encode(const struct kar_action *a, struct kar_buf *out) KAR_NONNULL;

#endif
