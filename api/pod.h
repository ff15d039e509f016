/*
 * pod - what the manager remembers of a pod.
 *
 * Pods are by far the most numerous objects (100k and more), so each costs a few hundred bytes: one
 * allocation with its strings behind it; whatever repeats is interned; what only pods of a QueueJob have sits in
 * an optional part.
 */
#ifndef KAR_API_POD_H
#define KAR_API_POD_H

#include <assert.h>

#include "common/kube/object.h"

enum kar_pod_phase {
	KAR_POD_PENDING, /* also when the phase is absent */
	KAR_POD_RUNNING,
	KAR_POD_SUCCEEDED,
	KAR_POD_FAILED,
	KAR_POD_UNKNOWN,
};

/* One container that failed; one that was stopped by the deletion of its pod did not. */
struct kar_pod_exit {
	const char *container; /* interned */
	const char *reason;    /* interned; NULL: none */
	int32_t code;          /* never 0 */
};

struct kar_pod_condition {
	const char *type, *status; /* interned: "DisruptionTarget", "True" */
};

enum { KAR_POD_EXITS_MAX = 64, KAR_POD_CONDITIONS_MAX = 64 }; /* kept of one pod */
/* Kept of texts that the API does not bound, NUL included: */
enum {
	KAR_POD_OTHER_NAME_BYTES = 254, /* of its node and of its owner, as long as any name can be */
	KAR_POD_REASON_BYTES = 513,     /* a rule of a failurePolicy may ask for one of 128 characters */
};

/*
 * How a pod was lost: what a failurePolicy may ask for. Or why it does not start. Few pods are lost or stuck at a time, so that
 * this may be large.
 */
struct kar_pod_loss {
	/* Of a pod that failed, interned: status.reason, else that of the container that failed first; NULL: none. */
	const char *reason;
	int32_t exit_code;      /* of that container; 0: none failed */
	const char *pod_reason; /* interned; status.reason; NULL: none */
	const char *disruption; /* interned; reason of the condition DisruptionTarget=True; NULL: none */
	/* Interned; of a pending pod, why a container of it does not start: "ImagePullBackOff"; NULL: it is about to. */
	const char *waiting;
	const struct kar_pod_exit *exits;
	const struct kar_pod_condition *conditions;
	size_t n_exits, n_conditions;
};

/* Of pods that carry our labels (kube-arbitrator.io/queuejob). */
struct kar_pod_job {
	const char *task;          /* interned; label /task */
	int32_t index;             /* label /index; -1 if absent or no number */
	int32_t incarnation;       /* label; 0 if absent or no number */
	const char *template_hash; /* interned; annotation; NULL if absent */
	const struct kar_pod_loss
		*loss; /* NULL unless it has failed, or is being deleted and has not succeeded, or .waiting */
};

struct kar_pod {
	struct kar_object o;    /* first */
	const char *node;       /* interned; NULL: not bound */
	const char *group;      /* interned "ns/name" of its PodGroup by label or annotation; NULL: none */
	const char *owner_uid;  /* interned; controller ownerReference; NULL: none */
	const char *owner_name; /* interned */
	const char *owner_kind; /* interned */
	kar_time creation;      /* wall ms */
	kar_time deletion;      /* wall ms; 0: not being deleted */
	kar_time bound;         /* wall ms, when it got its node; 0: not known */
	int32_t priority;       /* spec.priority, 0 if absent */
	uint8_t phase;          /* enum kar_pod_phase */
	bool ready : 1;
	bool unschedulable : 1; /* PodScheduled=False, reason Unschedulable */
	bool disrupted : 1; /* condition DisruptionTarget=True, or status.reason Evicted, Preempted, NodeLost ... */
	bool gate_ours : 1;    /* has our scheduling gate */
	bool gate_foreign : 1; /* has another scheduling gate */
	bool tracked : 1;      /* has our pod-tracking finalizer */
	bool labelled : 1;     /* our label /queuejob has the name of its controller, whatever that is */
	bool stray : 1;        /* tracked, and not in the group of the QueueJob that controls it */
	const struct kar_pod_job *job; /* NULL: no pod of a QueueJob */
};

enum {
	KAR_POD_BY_OWNER, /* its UID */
	KAR_POD_BY_NODE,
	KAR_POD_BY_GROUP,
	KAR_POD_STRAY, /* of a .stray: the name of its QueueJob; there are few */
};
extern const struct kar_type kar_pod_type;

static inline const struct kar_pod *kar_as_pod(const struct kar_object *o)
{
	assert(o && o->type == &kar_pod_type);
	return (const struct kar_pod *)(const void *)o;
}

static inline bool kar_pod_finished(const struct kar_pod *p)
{
	return p->phase == KAR_POD_SUCCEEDED || p->phase == KAR_POD_FAILED;
}

/* Neither finished nor on its way out. */
static inline bool kar_pod_alive(const struct kar_pod *p)
{
	return !p->deletion && !kar_pod_finished(p);
}

/* Never NULL. All is 0 if nothing is known: it is not lost, is no pod of a QueueJob, or somebody took our labels off. */
static inline const struct kar_pod_loss *kar_pod_loss_of(const struct kar_pod *p)
{
	static const struct kar_pod_loss nothing_known = { 0 };

	return p->job && p->job->loss ? p->job->loss : &nothing_known;
}

/* Has our finalizer, but nothing tells whose it is. */
static inline bool kar_pod_is_nobodys(const struct kar_pod *p)
{
	return p->tracked && !p->group && !p->owner_uid;
}

/* Failed, or on its way out: no member of its gang any more, unless it has succeeded. */
static inline bool kar_pod_lost(const struct kar_pod *p)
{
	return p->deletion || p->phase == KAR_POD_FAILED;
}

/* Being deleted before it could be bound to a node: nothing is lost with it, whatever its phase becomes. */
static inline bool kar_pod_withdrawn(const struct kar_pod *p)
{
	return p->gate_ours && p->deletion;
}

#endif
