/*
 * pod - a pod as the manager caches it.
 *
 * Pods are by far the most numerous objects (100k and more), so each must cost only a few hundred bytes: a pod is one allocation
 * with its strings behind it, repeated strings are interned, and members that only pods of a QueueJob have are in an optional part.
 */
#ifndef KAR_API_POD_H
#define KAR_API_POD_H

#include <assert.h>

#include "common/base/mem.h"
#include "common/codec/decode.h"
#include "common/kube/object.h"

enum kar_pod_phase {
	KAR_POD_PENDING, /* also when the phase is absent */
	KAR_POD_RUNNING,
	KAR_POD_SUCCEEDED,
	KAR_POD_FAILED,
	KAR_POD_UNKNOWN,
};

/* One container that failed. A container that was stopped by the deletion of its pod has not failed, and a native sidecar never does. */
struct kar_pod_exit {
	const char *container; /* interned */
	const char *reason;    /* interned; NULL: none */
	int32_t code;          /* never 0 */
};

struct kar_pod_condition {
	const char *type, *status; /* interned: "DisruptionTarget", "True" */
};

/*
 * The container that keeps a pending or running pod from its work: it does not start; or it fails again and again and the kubelet
 * restarts it in place, which does not end the pod; or it has ended for good while another one keeps the pod running.
 */
struct kar_pod_trouble {
	const char *container; /* interned; NULL: it has no name */
	/* Interned. Why it does not start, such as "ImagePullBackOff"; or how it ended last, such as "Error" or NULL. */
	const char *reason;
	const char *message; /* interned; the kubelet's, or the last words of the container; NULL: none */
	const char *
		beside; /* interned; a container that still runs although .container has ended for good; NULL: .container has not */
	int32_t code;     /* its last exit code; 0 without .beside: it does not start */
	int32_t restarts; /* of this container */
	kar_time ended;   /* wall ms; its last end; 0: unknown */
	kar_time since;   /* wall ms; it runs again since then; 0: it does not run */
};

enum { KAR_POD_EXITS_MAX = 64, KAR_POD_CONDITIONS_MAX = 64 }; /* per pod; further ones are not cached */
/* Bounds of texts that the API does not bound, NUL included: */
enum {
	KAR_POD_OTHER_NAME_BYTES = 254, /* of its node and of its owner, as long as any name can be */
	KAR_POD_KIND_BYTES = 65,        /* of its owner; a kind is at most as long as a DNS label */
	KAR_POD_SENTENCE_BYTES = 513,   /* of the scheduler */
	KAR_POD_ASKS_BYTES = 129,
	KAR_POD_WORDS_BYTES =
		257, /* last words of a container, and the kubelet's about one that does not start */
	KAR_POD_TERMS_BYTES = 1025, /* required node affinity of a gated pod */
	KAR_POD_GANG_BYTES = 4097,  /* of kar_pod_gang(); what is longer does not count */
	KAR_POD_REASON_BYTES = 513, /* a rule of a failurePolicy may ask for one of 128 characters */
};

/*
 * Why a pod was lost, with everything that a failurePolicy may match, why it does not start, or which of its containers crashes. It
 * may be large, because only few pods are lost, stuck or crash at a time.
 */
struct kar_pod_loss {
	/* Interned. For a failed pod: status.reason, or the reason of the container that failed first; NULL: none. */
	const char *reason;
	const char
		*words; /* interned; the last words of that container (its termination message); NULL: none */
	int32_t exit_code; /* of that container; 0: none failed */
	/*
	 * Restarts of all containers and init containers of a pending or running pod, as batch/v1 counts them against backoffLimit, but
	 * without native sidecars: 0 unless the restartPolicy of the pod is OnFailure.
	 */
	int32_t restarts;
	const char *pod_reason; /* interned; status.reason; NULL: none */
	const char *disruption; /* interned; reason of the condition DisruptionTarget=True; NULL: none */
	const struct kar_pod_trouble *trouble; /* NULL: all containers work */
	const struct kar_pod_exit *exits;
	const struct kar_pod_condition *conditions;
	uint32_t n_exits, n_conditions;
};

/* Why the scheduler finds no node for a pod. The pods of a gang share both texts. */
struct kar_pod_unplaced {
	const char
		*message; /* interned; "0/4 nodes are available: 4 Insufficient cpu"; NULL: it says nothing */
	const char *asks; /* interned; "cpu 100, memory 32Mi", as the scheduler counts; NULL: for nothing */
	kar_time since;   /* wall ms, when it became so; 0: unknown */
};

/* Only for pods that carry our labels (kube-arbitrator.io/queuejob). */
struct kar_pod_job {
	const char *task;          /* interned; label /task */
	int32_t index;             /* label /index; -1 if absent or no number */
	int32_t incarnation;       /* label; 0 if absent or no number */
	const char *template_hash; /* interned; annotation; NULL if absent */
	const struct kar_pod_loss *
		loss; /* NULL unless the pod has failed, is being deleted without having succeeded, or has .trouble or .restarts */
};

#define KAR_POD_NAME_LEN 256 /* 253 + NUL, rounded up */

struct kar_pod_needs;
struct kar_pod_counted;
struct kar_pod {
	struct kar_object o; /* first */
	const char *node;    /* interned; NULL: not bound */
	/* Interned. Not bound: the node on which the scheduler has evicted others for it; NULL: none, or it is pinned. */
	const char *nominated;
	const struct kar_pod_needs
		*needs; /* shared; what it needs of a node (pod_needs.h); NULL: it has ended */
	const struct kar_pod_counted
		*charge; /* shared; what a ResourceQuota counts of it (pod_charge.h); NULL: it has ended */
	const char *
		pin; /* interned; the only node that its affinity allows, which .needs leaves out; NULL: it names none */
	/* Interned; of a pod with our gate: the nodeSelectorTerms that it requires, as JSON; NULL: none; "": too long to be kept. */
	const char *terms;
	const char *scheduler;  /* interned; NULL: the default one */
	const char *group;      /* interned "ns/name" of its PodGroup by label or annotation; NULL: none */
	const char *owner_uid;  /* interned; controller ownerReference; NULL: none */
	const char *owner_name; /* interned */
	const char *owner_kind; /* interned */
	kar_time creation;      /* wall ms */
	kar_time deletion;      /* wall ms; 0: not being deleted */
	kar_time bound;         /* wall ms, when it got its node; 0: unknown */
	int32_t priority;       /* spec.priority, 0 if absent */
	uint8_t phase;          /* enum kar_pod_phase */
	bool ready : 1;
	bool unschedulable : 1; /* PodScheduled=False, reason Unschedulable */
	bool seen : 1; /* a scheduler has written condition PodScheduled (reason SchedulingGated is the API server's) */
	bool disrupted : 1; /* condition DisruptionTarget=True, or status.reason Evicted, Preempted, NodeLost ... */
	bool gate_ours : 1;         /* has our scheduling gate */
	bool gate_foreign : 1;      /* has another scheduling gate */
	bool released : 1;          /* had our gate, as an annotation says */
	bool native : 1;            /* names a PodGroup of Kubernetes itself (native_group.h) */
	bool tracked : 1;           /* has our pod-tracking finalizer */
	bool labelled : 1;          /* our label /queuejob has the name of its controller, of any kind */
	bool asks_for_gang : 1;     /* see kar_pod_gang() */
	bool asks_for_queue : 1;    /* see kar_pod_queue() */
	bool more_labels : 1;       /* see kar_pod_more_labels() */
	bool asks_for_topology : 1; /* see kar_pod_topology() */
	bool ranked : 1;            /* see kar_pod_rank() */
	bool outside_group : 1;     /* tracked, controlled by a QueueJob, and not labelled for its PodGroup */
	const struct kar_pod_unplaced *unplaced; /* NULL: not .unschedulable, or it is in no PodGroup */
	const struct kar_pod_job *job;           /* NULL: the pod has no label of a QueueJob */
};

enum {
	KAR_POD_BY_OWNER, /* its UID */
	KAR_POD_BY_NODE,
	KAR_POD_BY_GROUP,
	KAR_POD_BY_UNLABELLED, /* only pods with .outside_group, by the name of their QueueJob; there are few */
};
extern const struct kar_type kar_pod_type;

static inline const struct kar_pod *kar_as_pod(const struct kar_object *o)
{
	assert(o && o->type == &kar_pod_type);
	return (const struct kar_pod *)(const void *)o;
}

/*
 * Interned; JSON {"minMember":3,"annotations":{}}: what its PodGroup is made from if there is none. NULL: it does not say, because its
 * controller or somebody else makes the group. Few pods have it, behind their struct.
 */
static inline const char *kar_pod_gang(const struct kar_pod *p)
{
	return p->asks_for_gang ? *(const char *const *)(const void *)(p + 1) : NULL;
}

/*
 * Interned; value of its label KAR_LABEL_QUEUE: the queue of its PodGroup, if that names none. NULL: it has none, or is in no PodGroup. Few
 * pods have it, behind their struct.
 */
static inline const char *kar_pod_queue(const struct kar_pod *p)
{
	return p->asks_for_queue ? ((const char *const *)(const void *)(p + 1))[p->asks_for_gang] : NULL;
}

/*
 * Interned; labels of a pod beside those that a QueueJob gives to its pods, as one text that all pods of a task share; NULL: it has none.
 * Behind the struct.
 */
static inline const char *kar_pod_more_labels(const struct kar_pod *p)
{
	return p->more_labels
		? ((const char *const *)(const void *)(p + 1))[p->asks_for_gang + p->asks_for_queue]
		: NULL;
}

/* The role of a pod of a workload in its group, as status.placement of that names it; "": it is none of a workload's. */
static inline const char *kar_pod_role(const struct kar_pod *p)
{
	return p->job && p->job->task ? p->job->task : "";
}

/*
 * Interned; what its annotations ask for of a topology (api/core/topology_wish.h). NULL: nothing, or it is in no PodGroup. Few pods have it, behind
 * their struct.
 */
static inline const char *kar_pod_topology(const struct kar_pod *p)
{
	return p->asks_for_topology ? ((const char *const *)(const void *)(p +
					      1))[p->asks_for_gang + p->asks_for_queue + p->more_labels]
				    : NULL;
}

/*
 * The number of a pod of a gang as its controller counts them: only their order means anything. -1: it has none, is in no PodGroup, or is of a
 * QueueJob (.job). Behind the struct.
 */
static inline int64_t kar_pod_rank(const struct kar_pod *p)
{
	return p->ranked
		? ((const int64_t *)(const void *)(p +
			  1))[p->asks_for_gang + p->asks_for_queue + p->more_labels + p->asks_for_topology]
		: -1;
}

/* The labels of a pod (struct kar_pair, bounded by kar_copy_pairs()), in @a, but for the index of a pod of a QueueJob. */
struct kar_array kar_pod_labels(const struct kar_pod *p, struct kar_arena *a) KAR_NONNULL;

static inline bool kar_pod_finished(const struct kar_pod *p)
{
	return p->phase == KAR_POD_SUCCEEDED || p->phase == KAR_POD_FAILED;
}

/* Neither finished nor being deleted. */
static inline bool kar_pod_alive(const struct kar_pod *p)
{
	return !p->deletion && !kar_pod_finished(p);
}

/* It is in no gang, of whomsoever. */
static inline bool kar_pod_is_alone(const struct kar_pod *p)
{
	return !p->group && !p->native && !p->job && !p->tracked;
}

/*
 * The node on which it takes room, bound or not; NULL: none. A node that the scheduler frees for a member of a gang is not for others; one
 * that it frees for another pod is not for gangs of its priority or below (controllers/cluster/expected.h).
 */
static inline const char *kar_pod_room(const struct kar_pod *p)
{
	if (kar_pod_finished(p))
		return NULL;
	return p->node || kar_pod_is_alone(p) ? p->node : p->nominated;
}

/* Never NULL. All members are 0 if the pod is not lost or stuck and restarts no container, or has no label of a QueueJob. */
static inline const struct kar_pod_loss *kar_pod_loss_of(const struct kar_pod *p)
{
	static const struct kar_pod_loss nothing_known = { 0 };

	return p->job && p->job->loss ? p->job->loss : &nothing_known;
}

/* The container that does not start, or that crashes; NULL: there is none. */
static inline const struct kar_pod_trouble *kar_pod_waits(const struct kar_pod *p)
{
	const struct kar_pod_trouble *t = kar_pod_loss_of(p)->trouble;

	return t && !t->code && !t->beside ? t : NULL;
}

static inline const struct kar_pod_trouble *kar_pod_crashes(const struct kar_pod *p)
{
	const struct kar_pod_trouble *t = kar_pod_loss_of(p)->trouble;

	return t && t->code && !t->beside ? t : NULL;
}

/* The container that has ended for good while .beside runs; NULL: there is none. */
static inline const struct kar_pod_trouble *kar_pod_half_ended(const struct kar_pod *p)
{
	const struct kar_pod_trouble *t = kar_pod_loss_of(p)->trouble;

	return t && t->beside ? t : NULL;
}

/* Pods without a node, summed up. Zero-initialise. */
struct kar_unplaced {
	const struct kar_pod *first; /* by name, so that it does not depend on the order; NULL: none */
	int32_t n;
	bool differ; /* they do not all ask for the same */
};
void kar_unplaced_add(struct kar_unplaced *all, const struct kar_pod *pod) KAR_NONNULL;
/*
 * Returns "0/4 nodes are available: 4 Insufficient cpu (each asks for cpu 100, memory 32Mi)", of the first pod, in @a; "" if there
 * is no pod, or nothing is known.
 */
const char *kar_unplaced_describe(const struct kar_unplaced *all, struct kar_arena *a) KAR_NONNULL KAR_RETNN;

/* ms for which a pod waits for the first look of the scheduler that it names, until that scheduler is asked for. */
#define KAR_POD_UNSEEN ((kar_time)10000)
/*
 * ms until no scheduler has looked at @p for that long since @from (wall ms, when it lost its gate; 0: since its creation); <= 0: it is so.
 * KAR_NEVER: one has; or it is gated, bound or over; or it is a pod of the default scheduler, which can be busy for long.
 */
kar_time kar_pod_unseen_in(const struct kar_pod *p, kar_time from, kar_time now) KAR_NONNULL;
/* "no scheduler has looked at 3 pods: is "volcano" running?", of @n pods like @p, in @a. */
const char *kar_pod_describe_unseen(const struct kar_pod *p, int32_t n,
	struct kar_arena *a) KAR_NONNULL KAR_RETNN;

/* An unowned pod: it has our finalizer, and neither a group nor a controller. */
static inline bool kar_pod_is_unreferenced(const struct kar_pod *p)
{
	return p->tracked && !p->group && !p->owner_uid;
}

/* ms after the time at which a pod that terminates should be gone (.deletion) in which it still counts as one that goes. */
#define KAR_POD_OVERDUE ((kar_time)10000)

/* ms until it should have been gone for so long that it may stay permanently, for example on a node that is lost; KAR_NEVER: it does not terminate. */
static inline kar_time kar_pod_overdue_in(const struct kar_pod *p, kar_time now)
{
	return p->deletion ? p->deletion + KAR_POD_OVERDUE - now : KAR_NEVER;
}

/* Failed or being deleted: no longer a member of its gang, unless it has succeeded. */
static inline bool kar_pod_lost(const struct kar_pod *p)
{
	return p->deletion || p->phase == KAR_POD_FAILED;
}

/* Deleted while our gate kept it from being bound: it never ran, so it is no loss, even if its phase becomes Failed. */
static inline bool kar_pod_rolled_back(const struct kar_pod *p)
{
	return p->gate_ours && p->deletion;
}

#endif
