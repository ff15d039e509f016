/*
 * queuejob - QueueJob (kube-arbitrator.io/v1alpha1): a batch job of one or more task types that runs as a gang.
 *
 * Fields and meanings: docs/design/api.md. Pod templates are cached as the raw bytes that the API server sent, so that
 * nothing in them is dropped or reordered; only the fields that the manager needs are decoded as well.
 */
#ifndef KAR_API_QUEUEJOB_H
#define KAR_API_QUEUEJOB_H

#include <assert.h>

#include "api/core/flavor.h"
#include "api/pod/eviction.h"
#include "api/pod/what_if.h"
#include "api/status/usage.h"
#include "api/queuejob/queuejob_policy.h"
#include "api/queuejob/schedulingspec.h"
#include "api/status/condition.h"
#include "api/status/status_fields.h"
#include "common/base/buf.h"
#include "common/kube/object.h"

/* Condition types. */
#define KAR_QJ_ADMITTED "Admitted"
#define KAR_QJ_FORMED "Formed"
#define KAR_QJ_COMPLETE "Complete"
#define KAR_QJ_FAILED "Failed"
#define KAR_QJ_SUSPENDED "Suspended"
#define KAR_QJ_PREEMPTED "Preempted"
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
	size_t task;    /* its number in spec.tasks; KAR_NO_TASK: no task has that name */
	bool succeeded; /* status Succeeded; else Running */
};

struct kar_pod_needs;
struct kar_pod_counted;
struct kar_taskspec {
	const char *name; /* defaulted to task<i> */
	int32_t replicas;
	int32_t min_available;
	bool has_min_available;
	int32_t priority;
	bool has_priority;
	struct kar_array depends_on; /* struct kar_dependency */
	struct kar_str
		template_raw; /* the template's JSON, as served; n == 0: the job is invalid, or has ended */
	const char *template_priority_class; /* NULL: none */
	struct kar_array template_labels;    /* struct kar_pair */
	const char *template_scheduler;      /* schedulerName of the template; NULL: none */
	const char *
		template_topology; /* what its annotations ask for (api/core/topology_wish.h); NULL: nothing */
	struct kar_topology_ask topology; /* of its pods alone, or of those of its group */
	const char
		*topology_group; /* the tasks of one name are together what asks for a topology; NULL: none */
	/* Shared; what a pod needs of a node (api/pod/pod_needs.h), without the node selector of the job; NULL: not known. */
	const struct kar_pod_needs *needs;
	const struct kar_pod_counted *
		charge; /* shared; what a ResourceQuota counts of a pod (api/pod/pod_charge.h); NULL: not known */
	bool template_has_priority; /* as a number */
	uint64_t admission;         /* api/pod/template_admission.h */
};

/* What is set for programs of these frameworks. */
enum kar_framework { KAR_FRAMEWORK_TORCH = 1, KAR_FRAMEWORK_JAX = 2, KAR_FRAMEWORK_MPI = 4 };

/* A job of the same namespace that must have ended, and how, before this one joins its queue. */
enum kar_after_on { KAR_AFTER_COMPLETED, KAR_AFTER_FAILED, KAR_AFTER_ENDED };
struct kar_after {
	const char *name;
	enum kar_after_on on;
};

struct kar_queuejob_spec {
	const char *queue;          /* NULL: it names none (controllers/cluster/asked.h) */
	struct kar_array after;     /* struct kar_after, at most KAR_QJ_MAX_AFTER */
	const char *scheduler_name; /* NULL: none */
	bool of_others; /* managedBy names another controller, perhaps in another cluster: nothing of it is touched */
	const char *selector; /* the effective one, as a string: "a=b,c in (d,e)" */
	struct kar_schedspec sched;
	struct kar_taskspec *tasks;
	size_t n_tasks;
	int64_t active_deadline_seconds;
	int64_t ttl_seconds_after_finished;
	struct kar_array success_tasks; /* successPolicy; const char *: names; n == 0: all */
	struct kar_failure_policy failure_policy;
	int32_t min_succeeded;           /* successPolicy */
	int32_t backoff_limit;           /* defaulted to 6; 0 means 0; without meaning with .per_index */
	int32_t backoff_limit_per_index; /* failures that an index may have; only with .per_index */
	int32_t max_failed_indexes; /* failed indexes that the job may have, over all tasks; only with .has_max_failed_indexes */
	int32_t freezing_window; /* s after a scaling in which the queue does not scale it again; only with .has_freezing_window */
	bool suspend;
	bool per_index, has_max_failed_indexes;
	bool has_freezing_window;
	bool has_active_deadline, has_ttl, has_min_succeeded;
	bool dns_hostnames;     /* network.enableDNSHostnames: pods get the names <pod>.<job> */
	unsigned frameworks;    /* network.frameworks: enum kar_framework, or'ed; needs .dns_hostnames */
	bool publish_not_ready; /* network.publishNotReadyAddresses; defaulted to true */
};

struct kar_task_status {
	const char *name;
	int32_t replicas; /* pods that exist */
	int32_t desired;  /* pods now wanted */
	int32_t pending, running, succeeded, failed;
	bool started;                  /* in this incarnation; false: it waits for its dependencies */
	const char *succeeded_indexes; /* interval notation "0-57,59"; "" none (see api/status/intervals.h) */
	const char *
		failed_indexes; /* likewise, those that have failed for good (backoffLimitPerIndex); "" none */
	const char *
		index_failures; /* failures of those that have neither succeeded nor failed, as in api/queuejob/index_counts.h; "" none */
	kar_time
		restart_time; /* wall ms; the task restarts, and gets no pods before this time; 0: it does not restart */
};

/* The cause of the last restart. */
struct kar_restart {
	kar_time time; /* 0: there was none */
	const char *reason, *message, *pod, *node;
	int32_t exit_code;
};

/* The kind of the last restart decides which rules apply while the phase is Restarting. */
enum kar_qj_restart_kind {
	KAR_QJ_RESTART_NONE,
	KAR_QJ_RESTART_FAILURE,    /* a pod failed; back-off applies */
	KAR_QJ_RESTART_DISRUPTION, /* pods were disrupted, or their objects are gone */
	KAR_QJ_RESTART_POLICY,     /* a rule of the failure policy; back-off applies if the pod failed */
	KAR_QJ_RESTART_TEMPLATE,   /* a template was edited */
	KAR_QJ_RESTART_QUOTA,      /* a ResourceQuota refused the rest of the minimum */
	KAR_QJ_RESTART_NODES,      /* an attempt to start was rolled back; succeeded indexes still count */
	KAR_QJ_RESTART_TASK,       /* only one task restarted; the gang went on */
};

const char *kar_qj_restart_name(enum kar_qj_restart_kind k) KAR_RETNN; /* "Failure" ...; "" for NONE */

/* Has the gang formed, and if not, why? */
enum kar_qj_formation {
	KAR_QJ_FORMATION_NONE,   /* no incarnation is at work */
	KAR_QJ_FORMATION_FIRST,  /* it has not formed in this incarnation yet */
	KAR_QJ_FORMATION_RAISED, /* an edit raised the quorum; running pods go on */
	KAR_QJ_FORMATION_RECREATED, /* a rule of the failure policy replaces a single pod instead of restarting the gang */
	KAR_QJ_FORMATION_TASK, /* a rule of the failure policy restarts one task */
	KAR_QJ_FORMATION_DONE,
	KAR_QJ_FORMATIONS,
};

/* Why the spec cannot be run now. All but FORBIDDEN are shown as condition Invalid. */
enum kar_qj_objection {
	KAR_QJ_OBJECTION_NONE,
	KAR_QJ_OBJECTION_SPEC,     /* this program cannot run it */
	KAR_QJ_OBJECTION_TEMPLATE, /* the API server rejects a pod as invalid */
	KAR_QJ_OBJECTION_OBJECT, /* the API server rejects the SchedulingSpec, the PodGroup or the Service as invalid */
	KAR_QJ_OBJECTION_FORBIDDEN, /* the API server forbids a pod of the new templates */
};

/* status.record: state that only the controller needs. A digest over all believed members shows edits by other clients. */
struct kar_qj_record {
	enum kar_qj_restart_kind restart_kind;
	enum kar_qj_formation formation;
	enum kar_qj_objection objection;
	int32_t formed_min_available; /* quorum for which the gang has formed in this incarnation; 0: it has not */
	int32_t backoff_steps;        /* failures in a row; they determine the back-off */
	kar_time last_failure_time; /* wall ms; 0: none */
	/* const char *: UIDs of lost pods already counted whose objects still exist */
	struct kar_array counted_pods;
	const char *
		template_hash; /* of the running incarnation; "" although there is an incarnation: its successes do not count */
	kar_rv pods_version; /* version of the pod cache that the status was made from; 0: unknown */
	const char *digest;  /* as it was read; kar_queuejob_status_write() computes a new one */
};

/* One of spec.after that has ended. */
struct kar_after_status {
	const char *name;
	const char *phase; /* "Completed", "Failed" */
};

struct kar_queuejob_status {
	enum kar_qj_phase phase;
	const char *reason, *message; /* "" when there is nothing to say */
	int64_t observed_generation;
	const char *selector; /* the effective one, as a string */
	const char *queue;    /* in force; "": not known yet, or none is */
	int32_t replicas;     /* pods of this incarnation that exist */
	int32_t desired;      /* sum of replicas now wanted */
	int32_t pending, running, succeeded, failed, terminating;
	int32_t min_available;
	struct kar_task_status *tasks;
	size_t n_tasks;
	int32_t incarnation;  /* 0 before the first */
	int32_t restarts;     /* gang restarts below quorum, whatever the cause */
	int32_t pod_failures; /* restarts and single recreations caused by failure: what backoffLimit limits */
	int32_t disruptions;  /* restarts and single recreations caused by disruptions */
	kar_time start_time, completion_time, last_scale_time; /* wall ms; 0: absent */
	struct kar_restart last_restart;
	int32_t evictions; /* by its queue, since the job was created; none of .restarts or .disruptions */
	struct kar_eviction last_eviction;
	struct kar_what_if what_if; /* if it .asks */
	struct kar_usage usage;
	struct kar_after_status *after;
	size_t n_after;
	int32_t priority; /* in use: as asked for, but at most what the queue allows */
	int32_t position; /* in its queue, 1 = next; 0: not waiting */
	struct kar_conditions conditions;
	struct kar_qj_record record;
	/* Set on reading: the digest does not match, so another client has edited the status. */
	bool edited;
};

/* Table of the status (api/status/status_fields.h). A new member needs a member of the struct, a row, and a property in the CRD. */
extern const struct kar_desc kar_queuejob_status_table;
enum {
	KAR_QJ_BELIEVED = KAR_SF_OWN, /* flag of a row: later decisions rely on it, so the digest covers it */
	KAR_QJ_WRITTEN = KAR_SF_STORY | KAR_SF_COUNTER, /* mask: a change is a reason to write the status */
};

struct kar_queuejob {
	struct kar_object o;  /* first */
	struct kar_arena mem; /* of everything below */
	int64_t generation;
	kar_time creation, deletion;
	const char *queue_label;       /* value of its label KAR_LABEL_QUEUE; NULL: none */
	const char *owner_uid, *owner; /* of its controller, "TrainingJob demo"; NULL: it has none */
	const char *made_of;           /* its annotation KAR_ANNOTATION_MADE_OF; NULL: none */
	bool annotated;                /* it has annotations, of any key */
	bool asks;                     /* it is suspended, and asks when it would start (api/pod/what_if.h) */
	bool has_orphan_finalizer; /* being deleted with propagationPolicy Orphan: its pods stay and run on */
	struct kar_queuejob_spec spec;
	struct kar_queuejob_status status;
	/* Canonical hash of all task templates, and of what is added to them, as specified now; 16 hex digits */
	const char *spec_template_hash;
	const char
		*invalid; /* why no pod can be made of this spec, as a message for users; NULL: it is valid */
};

/* Both by namespace: all jobs, and those that wait for jobs of spec.after, or may. */
enum { KAR_QUEUEJOB_BY_NAMESPACE, KAR_QUEUEJOB_FOLLOWERS };
extern const struct kar_type kar_queuejob_type;

static inline const struct kar_queuejob *kar_as_queuejob(const struct kar_object *o)
{
	assert(o && o->type == &kar_queuejob_type);
	return (const struct kar_queuejob *)(const void *)o;
}

enum { KAR_QJ_MAX_PODS = 100000 }; /* of one job; the CRD has the same bound */
enum { KAR_QJ_MAX_TASKS = 64 };    /* as the CRD */
enum { KAR_QJ_MAX_AFTER = 16 };    /* likewise */
/* Of a job with backoffLimitPerIndex: its status has a number for each index that has failed, 170 KB at most. */
enum { KAR_QJ_MAX_COUNTED_INDEXES = 10000 };
/*
 * etcd accepts objects of up to 1.5 MiB, and an accepted job must leave room for its status, whose succeededIndexes may need
 * 400 KB.
 */
enum {
	KAR_QJ_MAX_TEMPLATE_BYTES = 512 << 10, /* of all templates of a job together */
	KAR_QJ_MAX_COUNTED_PODS = 500,         /* in its status; further losses wait for the next sync */
	KAR_QJ_INDEXES_BYTES = 512 << 10,      /* of the succeededIndexes of a task, NUL included */
	KAR_QJ_SELECTOR_BYTES = 32 << 10,      /* of the selector as a text; the CRD allows 28 KB */
};
/* The number of the task @name; KAR_NO_TASK: there is none. */
size_t kar_queuejob_find_task(const struct kar_queuejob_spec *s, const char *name) KAR_NONNULL;
/* Sum of replicas over all tasks, at most INT32_MAX. */
int32_t kar_queuejob_total(const struct kar_queuejob_spec *s) KAR_NONNULL;
/* The quorum: schedSpec.minAvailable, or the sum of replicas; 0: no gang. */
int32_t kar_queuejob_min_available(const struct kar_queuejob_spec *s) KAR_NONNULL;
/* No incarnation runs or restarts: it has not begun, waits in its queue, or is suspended. */
bool kar_queuejob_waits(const struct kar_queuejob_status *s) KAR_NONNULL;
/* It has jobs to wait for, and has never had pods. */
bool kar_queuejob_follows(const struct kar_queuejob *job) KAR_NONNULL;
/* Phase and condition agree that the job has ended. If only one of them does, it was edited (see docs/decisions/025). */
bool kar_queuejob_has_ended(const struct kar_queuejob_status *s) KAR_NONNULL;
/* Numbers that are read are clamped to this, so that counting up does not overflow. */
#define KAR_QJ_COUNT_MAX 2000000000
/*
 * Digest of the rows KAR_QJ_BELIEVED, and of status and time of our own conditions. It shows that another client has edited the
 * status, or has written only a part of it. It is not a signature, and a status that is restored as a whole still matches.
 */
uint64_t kar_queuejob_status_digest(const struct kar_queuejob_status *s) KAR_NONNULL;
/* Equality of the rows KAR_QJ_WRITTEN: false means "worth writing". */
bool kar_queuejob_status_equal(const struct kar_queuejob_status *a,
	const struct kar_queuejob_status *b) KAR_NONNULL;
/*
 * Equality of the rows KAR_SF_STORY, and of reason, message and desired unless they just follow the counters. False means "worth
 * writing at once" (see controllers/runtime/executor.h).
 */
bool kar_queuejob_status_same_story(const struct kar_queuejob_status *a,
	const struct kar_queuejob_status *b) KAR_NONNULL;
/* True if both differ only in metadata that the manager does not read: annotations, managedFields, other labels. */
bool kar_queuejob_same_content(const struct kar_queuejob *a, const struct kar_queuejob *b) KAR_NONNULL;
/* Writes the status as a JSON object, with its digest. Absent members are written as null, so that a merge patch removes them. */
void kar_queuejob_status_write(struct kar_json_writer *w, const struct kar_queuejob_status *s) KAR_NONNULL;

/* Writes the member "ownerReferences" with @job as controller, for every object that a job owns. */
void kar_queuejob_write_owner(struct kar_json_writer *w, const struct kar_queuejob *job) KAR_NONNULL;

/*
 * True if the object with this metadata was created for the QueueJob of its name and has no owner now. A deletion with
 * propagationPolicy Orphan leaves such objects, and the next job of that name may adopt them.
 */
bool kar_queuejob_orphan(const struct kar_wire_meta *m) KAR_NONNULL;
/* Is this reference to a QueueJob? */
bool kar_queuejob_is_owner(const struct kar_wire_owner *owner) KAR_NONNULL;
/* The controller of an object as people read it, "CRDJob demo", in @mem; NULL: it has none. */
const char *kar_owner_text(const struct kar_wire_meta *m, struct kar_arena *mem) KAR_NONNULL;

/*
 * The pod of one index, ready to POST: the template with name, labels, annotations, owner, finalizer, scheduler,
 * PriorityClass, node selector and environment added. KAR_INVALID if the job is invalid.
 */
struct kar_pod_params {
	const struct kar_queuejob *job;
	size_t task;   /* number in spec.tasks */
	int32_t index; /* in the task */
	int32_t incarnation;
	const char *template_hash;
	/* Node that the pod must be bound to, whoever binds it, in addition to what the template asks for; NULL or "": any */
	const char *pin;
	struct kar_array domain;        /* struct kar_pair: labels that its node must have as well */
	struct kar_flavor_terms flavor; /* likewise, with tolerations */
	bool bound;  /* the pod is created bound to .pin, if it has one: no scheduler looks at it */
	bool native; /* names the PodGroup of Kubernetes that has the name of the job */
	bool marked; /* with marks in place of index, rank and pin (see pod_renderer.h) */
};
/* U+E000 to U+E002, characters for private use. */
#define KAR_POD_INDEX_MARK "\xee\x80\x80"
#define KAR_POD_RANK_MARK "\xee\x80\x81"
#define KAR_POD_PIN_MARK "\xee\x80\x82"
/* @err may be NULL. */
int kar_queuejob_pod_write(const struct kar_pod_params *p, struct kar_buf *out, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
/* The PriorityClass of the pods of task number @task; "": none. */
const char *kar_queuejob_pod_class(const struct kar_queuejob *job, size_t task) KAR_NONNULL KAR_RETNN;
/* The rank of index @index of task number @task: its number over all tasks in list order. */
int32_t kar_queuejob_pod_rank(const struct kar_queuejob *job, size_t task, int32_t index) KAR_NONNULL;
/* Can a pod be made of @template_raw (as served)? -1 with the reason in @err: "spec.containers is empty". */
int kar_queuejob_template_check(struct kar_str template_raw, struct kar_err *err) KAR_NONNULL;
/* "<job>-<task>-<index>" into @out. */
/* characters of the names of a job and of a task together, as the CRD has it: the name of a pod is its host name */
#define KAR_QJ_MAX_NAMES 55
const char *kar_queuejob_pod_name(const struct kar_queuejob *job, const char *task, int32_t index,
	char out[KAR_POD_NAME_LEN]) KAR_NONNULL;
/*
 * The reverse: true if @pod_name names an index of @job; fills in task number and index (which may be >= replicas).
 * The name and not the labels identifies the index of a pod, because a name cannot be edited.
 */
bool kar_queuejob_pod_index(const struct kar_queuejob *job, const char *pod_name, size_t *task,
	int32_t *index) KAR_NONNULL;

#endif
