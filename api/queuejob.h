/*
 * queuejob - QueueJob (kube-arbitrator.io/v1alpha1): a batch job of one or more task types that runs as a gang.
 *
 * Fields and meanings: design api.md. Pod templates are kept as the raw bytes the API server sent, so nothing in
 * them is lost or reordered; only what the manager must know of them is decoded besides.
 */
#ifndef KAR_API_QUEUEJOB_H
#define KAR_API_QUEUEJOB_H

#include <assert.h>

#include "api/condition.h"
#include "api/queuejob_policy.h"
#include "api/schedulingspec.h"
#include "common/buf.h"
#include "common/kube/object.h"

/* Condition types. */
#define KAR_QJ_ADMITTED "Admitted"
#define KAR_QJ_FORMED "Formed"
#define KAR_QJ_COMPLETE "Complete"
#define KAR_QJ_FAILED "Failed"
#define KAR_QJ_SUSPENDED "Suspended"
#define KAR_QJ_INVALID "Invalid"

enum kar_qj_phase {
	KAR_QJ_PHASE_NONE, /* status never written */
	KAR_QJ_PHASE_PENDING,
	KAR_QJ_PHASE_STARTING,
	KAR_QJ_PHASE_RUNNING,
	KAR_QJ_PHASE_RESTARTING,
	KAR_QJ_PHASE_SUSPENDED,
	KAR_QJ_PHASE_COMPLETED,
	KAR_QJ_PHASE_FAILED,
};
const char *kar_qj_phase_name(enum kar_qj_phase p) KAR_RETNN; /* "Pending" ...; "" for NONE */
static inline bool kar_qj_phase_terminal(enum kar_qj_phase p)
{
	return p == KAR_QJ_PHASE_COMPLETED || p == KAR_QJ_PHASE_FAILED;
}

/* A task waits until another one runs, or has succeeded. */
#define KAR_NO_TASK SIZE_MAX
struct kar_dependency {
	const char *name;
	size_t task;    /* its number in spec.tasks; KAR_NO_TASK: there is none of that name */
	bool succeeded; /* status Succeeded; else Running */
};

struct kar_taskspec {
	const char *name; /* defaulted to task<i> */
	int32_t replicas;
	int32_t min_available;
	bool has_min_available;
	int32_t priority;
	bool has_priority;
	struct kar_array depends_on;             /* struct kar_dependency */
	struct kar_str template_raw;             /* the template's JSON, as served */
	const char *template_priority_class;     /* NULL: none */
	const char *template_scheduler;          /* spec.schedulerName; NULL: none */
	const char *template_hostname;           /* spec.hostname; NULL: none */
	const char *template_subdomain;          /* spec.subdomain; NULL: none */
	struct kar_array template_labels;        /* struct kar_pair */
	struct kar_array template_node_selector; /* struct kar_pair */
};

struct kar_queuejob_spec {
	const char *queue;          /* never NULL; "default" when absent */
	const char *scheduler_name; /* NULL: none */
	const char *selector;       /* the effective one, as a string: "a=b,c in (d,e)" */
	struct kar_schedspec sched;
	struct kar_taskspec *tasks;
	size_t n_tasks;
	int64_t active_deadline_seconds;
	int64_t ttl_seconds_after_finished;
	struct kar_array success_tasks; /* successPolicy; const char *: names; n == 0: all */
	struct kar_failure_policy failure_policy;
	int32_t min_succeeded; /* successPolicy */
	int32_t backoff_limit; /* defaulted to 6; 0 means 0 */
	bool suspend;
	bool has_active_deadline, has_ttl, has_min_succeeded;
	bool dns_hostnames;     /* network.enableDNSHostnames: pods get the names <pod>.<job> */
	bool publish_not_ready; /* network.publishNotReadyAddresses; defaulted to true */
};

struct kar_task_status {
	const char *name;
	int32_t replicas; /* pods that exist */
	int32_t desired;  /* pods now wanted */
	int32_t pending, running, succeeded, failed;
	bool started;                  /* in this incarnation; the others wait for their dependencies */
	const char *succeeded_indexes; /* interval notation "0-57,59"; "" none (see api/intervals.h) */
	kar_time
		restart_time; /* wall ms; its pods are taken away, and come back not before then; 0: they are not */
};

/* What the last restart was caused by: the answer to "why did it restart?". */
struct kar_restart {
	kar_time time; /* 0: there was none */
	const char *reason, *message, *pod, *node;
	int32_t exit_code;
};

struct kar_queuejob_status {
	enum kar_qj_phase phase;
	const char *reason, *message; /* "" when there is nothing to say */
	int64_t observed_generation;
	const char *selector; /* the effective one, as a string */
	int32_t replicas;     /* pods that exist (this incarnation, not finished away) */
	int32_t desired;      /* sum of replicas now wanted */
	int32_t pending, running, succeeded, failed, terminating;
	int32_t min_available;
	struct kar_task_status *tasks;
	size_t n_tasks;
	int32_t incarnation;          /* 0 before the first */
	int32_t formed_min_available; /* quorum for which the gang was Formed in this incarnation; 0: not formed */
	int32_t restarts;             /* gang restarts below quorum, whatever the cause */
	int32_t pod_failures; /* restarts and single recreations caused by failure: what backoffLimit limits */
	int32_t disruptions;  /* restarts and single recreations caused by disruptions */
	int32_t backoff_steps;      /* failures in a row that the back-off counts */
	int32_t schedule_timeouts;  /* turns lost to others that wait for nodes, since it formed last */
	kar_time last_failure_time; /* wall ms; 0: none */
	/* const char *: UIDs of lost pods already counted whose objects still exist */
	struct kar_array counted_pods;
	const char *template_hash; /* of the running incarnation */
	kar_rv pods_version;       /* of the pods that this status was made from; 0: not known */
	kar_time start_time, completion_time, last_scale_time; /* wall ms; 0: absent */
	struct kar_restart last_restart;
	int32_t position; /* in its queue, 1 = next; 0: not waiting */
	struct kar_conditions conditions;
};

struct kar_queuejob {
	struct kar_object o;  /* first */
	struct kar_arena mem; /* of everything below */
	int64_t generation;
	kar_time creation, deletion;
	bool has_orphan_finalizer; /* being deleted with propagationPolicy Orphan: its pods stay and run on */
	struct kar_queuejob_spec spec;
	struct kar_queuejob_status status;
	/* Canonical hash of all task templates, and of what is added to them, as specified now; 16 hex digits */
	const char *spec_template_hash;
	const char *invalid; /* why no pod can be made of this spec, for people; NULL: nothing is wrong */
};

enum { KAR_QUEUEJOB_BY_NAMESPACE };
extern const struct kar_type kar_queuejob_type;

static inline const struct kar_queuejob *kar_as_queuejob(const struct kar_object *o)
{
	assert(o && o->type == &kar_queuejob_type);
	return (const struct kar_queuejob *)(const void *)o;
}

enum { KAR_QJ_MAX_PODS = 100000 }; /* of one job; the CRD's own bound */
enum { KAR_QJ_MAX_TASKS = 64 };    /* likewise */
/*
 * etcd takes objects of 1.5 MiB, and a job that has been accepted must not become too large for its own status, of which
 * succeededIndexes may take 400 KB.
 */
enum {
	KAR_QJ_MAX_TEMPLATE_BYTES = 512 << 10, /* of all templates of a job together */
	KAR_QJ_MAX_COUNTED_PODS = 500,         /* in its status; further losses wait for the next round */
};
/* The number of the task @name; KAR_NO_TASK: there is none. */
size_t kar_queuejob_find_task(const struct kar_queuejob_spec *s, const char *name) KAR_NONNULL;
/* Sum of replicas over all tasks, at most INT32_MAX. */
int32_t kar_queuejob_total(const struct kar_queuejob_spec *s) KAR_NONNULL;
/* The quorum: schedSpec.minAvailable, or the sum of replicas; 0: no gang. */
int32_t kar_queuejob_min_available(const struct kar_queuejob_spec *s) KAR_NONNULL;
/* Phase and condition say so. One of them alone may have been edited (see docs/decisions/025). */
bool kar_queuejob_has_ended(const struct kar_queuejob_status *s) KAR_NONNULL;
/* Equality of all that is written to /status, but for pods_version. */
bool kar_queuejob_status_equal(const struct kar_queuejob_status *a,
	const struct kar_queuejob_status *b) KAR_NONNULL;
/*
 * As above but leaving out the counters of pods and what changes with them (succeededIndexes): false means
 * "worth writing at once" (see controllers/apply.h).
 */
bool kar_queuejob_status_same_story(const struct kar_queuejob_status *a,
	const struct kar_queuejob_status *b) KAR_NONNULL;
/*
 * Writes the status object value. What is absent is written as null, so that a merge patch removes it.
 */
void kar_queuejob_status_write(struct kar_json_writer *w, const struct kar_queuejob_status *s) KAR_NONNULL;

/* Writes the member "ownerReferences" with @job as controller, for every object that a job owns. */
void kar_queuejob_write_owner(struct kar_json_writer *w, const struct kar_queuejob *job) KAR_NONNULL;

/*
 * Was the object with this metadata made for the QueueJob of its name, and is owned by nobody any more? So it is left by a
 * deletion with propagationPolicy Orphan, and the next job of that name may adopt it.
 */
bool kar_queuejob_orphan(const struct kar_wire_meta *m) KAR_NONNULL;

/*
 * The pod of one index, ready to POST: the template with name, labels, annotations, owner, finalizer, scheduler,
 * PriorityClass, node selector and environment added. KAR_INVALID if the template cannot be used.
 */
struct kar_pod_params {
	const struct kar_queuejob *job;
	size_t task;   /* number in spec.tasks */
	int32_t index; /* in the task */
	int32_t incarnation;
	const char *template_hash;
	bool gated; /* with our scheduling gate, unless the template names its node, which goes with no gate */
	bool marked; /* the marks stand where index and rank would (see pod_stencil.h) */
};
/* U+E000 and U+E001, which nobody uses. */
#define KAR_POD_INDEX_MARK "\xee\x80\x80"
#define KAR_POD_RANK_MARK "\xee\x80\x81"
/* @err may be NULL. */
int kar_queuejob_pod_write(const struct kar_pod_params *p, struct kar_buf *out, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
/* Index over all tasks in list order, of index @index of task number @task. */
int32_t kar_queuejob_pod_rank(const struct kar_queuejob *job, size_t task, int32_t index) KAR_NONNULL;
/* Can a pod be made of @template_raw (as served)? -1 with the reason in @err: "spec.containers is empty". */
int kar_queuejob_template_check(struct kar_str template_raw, struct kar_err *err) KAR_NONNULL;
/* "<job>-<task>-<index>" into @out. */
#define KAR_POD_NAME_LEN 256
const char *kar_queuejob_pod_name(const struct kar_queuejob *job, const char *task, int32_t index,
	char out[KAR_POD_NAME_LEN]) KAR_NONNULL;
/*
 * The reverse: is @pod_name that of an index of @job? Fills in task number and index (which may be >= replicas).
 * A name cannot be edited, so it, and not the labels, says which index a pod is.
 */
bool kar_queuejob_pod_index(const struct kar_queuejob *job, const char *pod_name, size_t *task,
	int32_t *index) KAR_NONNULL;

#endif
