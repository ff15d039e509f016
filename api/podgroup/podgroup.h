/*
 * podgroup - scheduling.x-k8s.io/v1alpha1 PodGroup, with our additions (docs/design/api.md, podgroup.md).
 */
#ifndef KAR_API_PODGROUP_H
#define KAR_API_PODGROUP_H

#include <assert.h>

#include "api/core/topology.h"
#include "api/pod/eviction.h"
#include "api/pod/what_if.h"
#include "api/podgroup/pg_options.h"
#include "api/status/condition.h"
#include "api/status/status_fields.h"
#include "common/kube/object.h"

/* Condition types. */
#define KAR_PG_ADMITTED "Admitted"   /* written by the queue reconciler: its pods may be created */
#define KAR_PG_SCHEDULED "Scheduled" /* minMember members are bound */
#define KAR_PG_PREEMPTED \
	"Preempted" /* written by the queue reconciler: it was evicted, and does not run again yet */
#define KAR_PG_TEMPLATES_ADMITTED \
	"TemplatesAdmitted" /* by the queue reconciler: edited templates may come; .observedGeneration is that of the workload */
#define KAR_PG_QUOTA_RESERVED \
	"QuotaReserved" /* written by the queue reconciler: room in ResourceQuotas is kept for members to come */
#define KAR_PG_FIT_UNVERIFIED \
	"FitUnverified" /* written by the queue reconciler: only kube-scheduler knows where its pods can be */
#define KAR_PG_MEMBER_FAILED "MemberFailed"     /* a member failed although the quorum holds */
#define KAR_PG_UNSCHEDULABLE "Unschedulable"    /* a member cannot be placed */
#define KAR_PG_INVALID_OPTIONS "InvalidOptions" /* an annotation is not acted upon */
#define KAR_PG_TOPOLOGY_CHANGED \
	"TopologyChanged" /* a node of a member is not in the required domain, because its labels are others now */

enum { KAR_PG_OCCUPIED_BY_BYTES = 6144 }; /* of status.occupiedBy, NUL included; 16 owners are named */

struct kar_podgroup_spec {
	int32_t min_member;
	/* Members of the quorum that have succeeded. They are not in min_member, because a scheduler does not see ended pods. */
	int32_t succeeded_members;
	bool has_succeeded_members; /* we always write it, so false means that the CRD does not know it */
	const char *queue;          /* NULL: default */
	const char *priority_class_name; /* NULL: none */
	int32_t priority;                /* the resolved number; only with .has_priority */
	bool has_priority;
	int32_t schedule_timeout_seconds;
	bool has_schedule_timeout;
	struct kar_array min_resources; /* struct kar_pair, quantities as text, sorted by key */
	bool has_min_resources; /* also if it is empty: then the members that it is for need nothing */
	struct kar_topology_ask topology;
	struct kar_array total_resources; /* the same of what is reserved in ResourceQuotas for all members */
};

enum kar_pg_phase {
	KAR_PG_PHASE_NONE, /* the status was never written, or names a phase that we do not know */
	KAR_PG_PHASE_PENDING,
	KAR_PG_PHASE_SCHEDULING,
	KAR_PG_PHASE_SCHEDULED,
	KAR_PG_PHASE_RUNNING,
	KAR_PG_PHASE_UNKNOWN,
	KAR_PG_PHASE_FAILED,
	KAR_PG_PHASE_FINISHED,
};
const char *kar_pg_phase_name(enum kar_pg_phase p) KAR_RETNN; /* "Pending" ...; "" for NONE */
enum kar_pg_phase kar_pg_phase_parse(const char *name);       /* NONE: NULL, or none of the names */

/* The memory of the podgroup reconciler: state that no other field of the status shows. */
struct kar_pg_record {
	bool quorum_lost; /* the group ran, fewer than its quorum are bound since, and it still has members */
};

/*
 * How far the start of a gang is. Whoever creates its pods does so in PLACED, on the nodes of the plan, and anywhere in UNPLACED and
 * SATISFIED; in ROLLING_BACK it deletes those that have not finished; in WAITING, RESERVING, SUSPENDED and DEACTIVATED it does neither.
 * NONE: nobody places the group, and its scheduler does as it likes.
 */
enum kar_pg_state {
	KAR_PG_STATE_NONE,
	KAR_PG_STATE_WAITING, /* it was placed before, and waits to be placed again */
	KAR_PG_STATE_PLACED, /* each missing pod of the minimum has a place in the plan, which is held while members come */
	KAR_PG_STATE_UNPLACED, /* no member came for 30 s, because of a quota for example, or it waits for new nodes: no room is held */
	KAR_PG_STATE_SATISFIED,    /* the minimum is bound, or done */
	KAR_PG_STATE_ROLLING_BACK, /* the attempt has failed */
	KAR_PG_STATE_DEACTIVATED,  /* too many attempts have failed: it waits until its owner is edited */
	KAR_PG_STATE_RESERVING, /* it is not admitted yet: room is held for it until the pods that have it are gone */
	KAR_PG_STATE_SUSPENDED, /* its job is suspended */
	KAR_PG_STATES,
};
const char *kar_pg_state_name(enum kar_pg_state s) KAR_RETNN; /* "Placed" ...; "" for NONE */

enum {
	KAR_PG_PLAN_BYTES = 256 << 10,   /* of the nodes of one role, NUL included */
	KAR_PG_REQUESTS_BYTES = 4 << 10, /* NUL included */
};

/* Where the pods of one role go. */
struct kar_pg_planned {
	const char *role;  /* task of a QueueJob; name of a pod of any other controller */
	const char *nodes; /* "n1*4 n2 *3": four pods on n1, one on n2, and three anywhere (pg_plan.h) */
};

/* One level of the domain that was chosen for the gang, or for one role of it. */
struct kar_pg_domain {
	const char *label, *value;
	const char *role; /* that asks for another topology than others; "": all */
	bool required;    /* later pods of the gang must have a node with this label as well */
};

/* status.placement: the memory of placing. */
struct kar_pg_placement {
	enum kar_pg_state state;
	int32_t attempt;  /* number of the present attempt, or of the last one; counts from 1 */
	int32_t failures; /* failed attempts since the gang last ran for ten minutes */
	int32_t repairs; /* of PLACED: how often members that were stuck have got other nodes in this attempt */
	int32_t satisfied_member; /* of SATISFIED: members that were bound or done then; it is broken below that */
	kar_time
		time; /* wall ms, of the last change of .state or repair, or (bound pods) when .plan was begun */
	kar_time deadline; /* of PLACED; 0: none */
	int64_t generation; /* of the owner, when the last attempt failed; 0: none has, or the owner is not known */
	kar_time retry_after; /* of WAITING: not placed before; 0: at once */
	const char *
		evicted_by; /* of ROLLING_BACK, and until it is placed again: "ns/name" of the group for which it was evicted; "": none */
	const char *
		hold_ended_for; /* until it is placed again: "ns/name" of the group that has got the room for members to come; "": none */
	const char *
		requests; /* of others: what its minimum asked for when it was placed, "pods=2,cpu=8000m,memory=1024"; "": not known */
	const char *cause; /* why the last attempt has failed; "" if none has since the minimum was bound */
	struct kar_pg_planned
		*plan; /* of PLACED; of SATISFIED: where further pods that are created bound go */
	size_t n_plan;
	struct kar_pg_domain *
		domains; /* by role, the widest first; inside which it was placed last; none: it has not asked for one */
	size_t n_domains;
};

/* Copies of those of .domains of the role that are required, in their order; struct kar_pair, in @a. */
struct kar_array kar_pg_required_domain(const struct kar_pg_placement *p, const char *role,
	struct kar_arena *a) KAR_NONNULL;
/* Of those without a role: "b1/r3"; in @a; "": none. */
const char *kar_pg_domain_text(const struct kar_pg_placement *p, struct kar_arena *a) KAR_NONNULL KAR_RETNN;

/* The failed attempts that still count at @now (wall ms): none do once the gang has run for ten minutes (decision 053). */
int32_t kar_pg_failures(const struct kar_pg_placement *p, kar_time now) KAR_NONNULL;

/* What makes the group all-or-nothing. NONE: nothing does, or nobody knows yet. */
enum kar_pg_backend {
	KAR_PG_BACKEND_NONE,
	KAR_PG_BACKEND_GATES, /* we place it: its pods are created for, or released to, the places of the plan */
	KAR_PG_BACKEND_NATIVE, /* kube-scheduler, by a PodGroup of Kubernetes itself (api/podgroup/native_group.h) */
	KAR_PG_BACKEND_DIRECT, /* we place it, and its pods are created bound */
	KAR_PG_BACKEND_LABELS, /* another scheduler, which its members name */
	KAR_PG_BACKENDS,
};
const char *kar_pg_backend_name(enum kar_pg_backend b) KAR_RETNN; /* "Gates" ...; "" for NONE */

/*
 * Why an elastic group that is admitted has fewer pods than it asks for: what stops the next one (status.scalingLimit).
 */
enum kar_pg_limit {
	KAR_PG_LIMIT_NONE,
	KAR_PG_LIMIT_STARTING, /* its minimum does not run yet */
	KAR_PG_LIMIT_QUEUE_CLOSED,
	KAR_PG_LIMIT_FREEZING_WINDOW, /* its number of pods has changed a moment ago */
	KAR_PG_LIMIT_MAX_LOAD,        /* --max-load-desired */
	KAR_PG_LIMIT_QUOTA_EXCEEDED,
	KAR_PG_LIMIT_NAMESPACE_LIMIT,
	KAR_PG_LIMIT_QUEUE_CAPABILITY,
	KAR_PG_LIMIT_FAIR_SHARE, /* others have their share of the room */
	KAR_PG_LIMIT_HEAD_RESERVED,
	KAR_PG_LIMIT_GUARANTEE_RESERVED,
	KAR_PG_LIMIT_INSUFFICIENT_CAPACITY,
	KAR_PG_LIMIT_NO_FIT,
	KAR_PG_LIMIT_WAITING_FOR_TERMINATION, /* pods that stop have the room */
	KAR_PG_LIMITS,
};
const char *kar_pg_limit_name(enum kar_pg_limit l) KAR_RETNN; /* "FreezingWindow" ...; "" for NONE */

/* Texts are "" when absent, never NULL, once read. */
struct kar_podgroup_status {
	enum kar_pg_phase phase;
	const char *occupied_by; /* "ns/owner,..." */
	int32_t scheduled, running, succeeded, failed, members;
	kar_time schedule_start_time; /* 0: absent */
	struct kar_pg_record record;
	struct kar_pg_placement placement; /* of both reconcilers */
	enum kar_pg_backend backend;       /* likewise; it stays while .placement has a state */
	int32_t desired;                   /* members that may be active at once; only with .has_desired */
	bool has_desired;                  /* false: no limit */
	/* The queue reconciler's, from here to .what_if, like .desired. */
	int32_t desired_of; /* pods that its job asked for when .desired was chosen; of others: kar_pg_digest(); 0: not known */
	kar_time last_scale_time; /* when it has changed .desired of a gang that was admitted; 0: never */
	enum kar_pg_limit scaling_limit;   /* why .desired is less than .desired_of */
	const char *scaling_limit_message; /* of it, for people; "": the name says it all */
	int32_t position; /* among the waiting groups of its queue, 1 = next; 0: not waiting, or not among the first */
	/* It is always written: if it is missing beside condition Admitted, the CRD knows none of our additions. */
	bool has_position;
	/* The queue that gave condition Admitted; "": none, or the CRD, or the version that wrote it, does not know it. */
	const char *admitted_queue;
	const char *flavor; /* of nodes, where it is admitted, or holds room; "": any nodes */
	/* metadata.generation of the workload whose pods that queue has admitted; 0: not known, or it has no workload. */
	int64_t admitted_generation;
	/*
	 * Seconds for which its queue lets the job run at most, from status.startTime of the job, as was so when it was admitted; 0: for as long
	 * as it likes.
	 */
	int64_t run_seconds;
	kar_time
		waiting_since; /* since when it waits without a break; 0: since its creation, or it does not */
	int64_t waited_seconds;   /* for how long it had waited before that */
	kar_time estimated_start; /* when it may start; 0: nobody can say */
	int32_t evictions;        /* by its queue, since the group was created */
	struct kar_eviction last_eviction;
	struct kar_what_if what_if; /* the answer to its job, if that asks */
	struct kar_conditions conditions;
};

/* Table of the status (api/status/status_fields.h), and the masks of what each of its two writers writes. */
extern const struct kar_desc kar_podgroup_status_table;
enum {
	KAR_PG_MEMBERS = KAR_SF_COUNTER | KAR_SF_STORY | KAR_SF_INTERNAL, /* the podgroup reconciler's part */
	KAR_PG_QUEUE = KAR_SF_OWN,                                        /* the queue reconciler's part */
	/* Where each row is if the CRD drops what is not in its schema: in the status all the same, or in one of two annotations. */
	KAR_PG_IN_STATUS = KAR_SF_OWN << 1,
	KAR_PG_IN_PLACEMENT = KAR_SF_OWN << 2,
	KAR_PG_IN_QUEUE_STATUS = KAR_SF_OWN << 3,
};

struct kar_podgroup {
	struct kar_object o; /* first */
	struct kar_arena mem;
	int64_t generation;
	kar_time creation, deletion;
	const char *owner_uid; /* interned; of its controller; NULL: none */
	const char *owner_name;
	const char *owner;      /* "CRDJob demo" */
	bool owner_is_queuejob; /* a QueueJob of our API group: other projects have a kind of that name too */
	bool orphan;            /* see kar_queuejob_orphan() */
	bool made_of_spec;      /* the manager has made it of a SchedulingSpec of its owner */
	bool made_for_workload; /* it has made it for a workload that can be suspended */
	bool made;              /* the manager has made it for pods without a PodGroup (kar_pod_gang()) */
	bool pruned; /* its CRD has dropped our part of its status, which is in annotations then (api/podgroup/pg_kept.h) */
	/* Value of its label KAR_LABEL_QUEUE; NULL: none, or it is of a QueueJob, whose spec says it. */
	const char *queue_label;
	struct kar_podgroup_spec spec;
	struct kar_pg_options options;
	struct kar_podgroup_status status;
};

extern const struct kar_type kar_podgroup_type;
enum { KAR_PG_BY_OWNER };

static inline const struct kar_podgroup *kar_as_podgroup(const struct kar_object *o)
{
	assert(o && o->type == &kar_podgroup_type);
	return (const struct kar_podgroup *)(const void *)o;
} /*
 * How many pods of a job that asks for @pods, and of which @left have not succeeded, its queue allows at once; only with .has_desired. Of
 * those for which it has chosen the number some may have succeeded since: what the job asks for beyond that is to be asked for anew.
 */
int32_t kar_podgroup_allows(const struct kar_podgroup *g, int64_t pods, int64_t left) KAR_NONNULL;
/*
 * Its queue has let in the templates of generation @generation of its workload. True, too, of a group whose CRD keeps no answer: nothing could
 * be waited for. Before its queue has looked at the group for the first time that is
 * not known, so it is false.
 */
bool kar_podgroup_has_let_in(const struct kar_podgroup *g, int64_t generation) KAR_NONNULL;
/*
 * Was it for another generation of its workload than @generation that its queue admitted it? Its pods may be others by now: while it has none,
 * none is created, and its queue decides again.
 */
bool kar_podgroup_admission_is_old(const struct kar_podgroup *g, int64_t generation) KAR_NONNULL;

/* The queue that @g names: in its spec, else by its label; NULL: none (controllers/cluster/asked.h). */
const char *kar_podgroup_queue(const struct kar_podgroup *g) KAR_NONNULL;
/* ms in which its minimum must be bound once it is placed. @otherwise: of a group that does not say so; <= 0: a minute. */
kar_time kar_podgroup_timeout(const struct kar_podgroup *g, kar_time otherwise) KAR_NONNULL;
/*
 * How its attempts ended, in @a: the last one ("attempt 2 to start the gang failed: ..."), with the time of the next, or all of a group
 * that is DEACTIVATED. @p is its placement.
 */
const char *kar_pg_failed_attempt(const struct kar_pg_placement *p,
	struct kar_arena *a) KAR_NONNULL KAR_RETNN;
const char *kar_pg_next_try(const struct kar_pg_placement *p, struct kar_arena *a) KAR_NONNULL KAR_RETNN;
const char *kar_pg_failed_attempts(const struct kar_podgroup *g, const struct kar_pg_placement *p,
	struct kar_arena *a) KAR_NONNULL KAR_RETNN;
/*
 * Is @g admitted by @queue? An admission belongs to the queue that gave it. If the status does not name that queue, the admission
 * counts as given by the queue that @g asks for; if it names none either, as with a foreign CRD, it counts for any queue.
 */
bool kar_podgroup_admitted_by(const struct kar_podgroup *g, const char *queue) KAR_NONNULL;

/* Writes the spec object value. */
void kar_podgroup_spec_write(struct kar_json_writer *w, const struct kar_podgroup_spec *s) KAR_NONNULL;
bool kar_podgroup_spec_equal(const struct kar_podgroup_spec *a,
	const struct kar_podgroup_spec *b) KAR_NONNULL;
/* Do both differ at most in members that the manager does not read: annotations, managedFields, labels that are not ours? */
bool kar_podgroup_same_content(const struct kar_podgroup *a, const struct kar_podgroup *b) KAR_NONNULL;

#endif
