/*
 * queue - who runs: orders all groups, admits whole gangs, scales what is above their minima, and says why the rest waits
 * (docs/design/queue.md; the words are defined there). Pure: no I/O, no clock, integers only. It knows no object of Kubernetes.
 *
 * kar_queue_plan(snapshot, now) -> result. The result does not depend on the order of the input, and a plan that is made again after
 * it was carried out changes nothing. Groups, queues and quota rows are named by their index in the snapshot (KAR_QUEUE_NONE: none).
 *
 * The caller supplies amounts and times as they are and lets the pass compare them. What only the caller can know enters as
 * struct kar_queue_group.ineligible with a text. All input is borrowed; everything in the result lives in the arena of the call, or is
 * borrowed from the input. Amounts: cpu in thousandths, else bytes or pieces, 0 or more. Times: wall ms.
 */
#ifndef KAR_QUEUE_QUEUE_H
#define KAR_QUEUE_QUEUE_H

#include "common/sched/sched.h"

#define KAR_QUEUE_NONE UINT32_MAX
enum {
	KAR_QUEUE_LEVELS = 4, /* of queues, below the cluster */
	KAR_QUEUE_FLAVORS_MAX =
		64, /* that queues name, all together, and resources of flavors that they have rights or limits of: */
	KAR_QUEUE_FLAVORED_MAX = 40,
	KAR_QUEUE_POSITIONS = 100, /* waiting groups of a leaf that get a position and a text with numbers */
	KAR_QUEUE_LIMIT_TEXTS =
		100, /* elastic groups of a pass for which a text with numbers says why they have no more pods */
	KAR_QUEUE_ESTIMATES = 10, /* waiting groups of a leaf whose start is estimated */
	KAR_QUEUE_STEPS = 20,     /* a pass that has not settled after as many steps has a bug */
};
/* Seconds for which a group can have waited at most: 100 years. What exceeds that counts as it, what is below 0 as 0. */
#define KAR_QUEUE_MAX_WAITED (100 * 365 * INT64_C(86400))

/* Why a group is not admitted, in the order of precedence: the first that holds is given. */
enum kar_queue_reason {
	KAR_QR_ADMITTED, /* it is admitted; as input: it is eligible */
	/* Given by the caller, with a text: the group asks for nothing. It has no position. */
	KAR_QR_FINISHED, /* its work is over, or it is being deleted: it holds nothing and is not counted */
	KAR_QR_JOB_INVALID,
	KAR_QR_SUSPENDED,
	/* Found by the pass. */
	KAR_QR_QUEUE_NOT_FOUND,
	KAR_QR_QUEUE_INVALID, /* text: struct kar_queue_in.problem, or what is wrong with its parents */
	KAR_QR_QUEUE_NOT_LEAF,
	KAR_QR_QUEUE_CLOSED,
	/* Given by the caller, with a text: it stands in its line, and cannot be admitted now. */
	KAR_QR_NAMESPACE_NOT_ALLOWED,
	KAR_QR_RUN_TIME_TOO_LONG,
	KAR_QR_INVALID_TEMPLATE,
	KAR_QR_PRIORITY_CLASS_NOT_FOUND,
	KAR_QR_FORBIDDEN,
	KAR_QR_CHECKING_TEMPLATE, /* of .unchecked: it does not fit beside all others */
	KAR_QR_UNSUPPORTED,
	KAR_QR_DEACTIVATED,
	KAR_QR_BACKEND_UNAVAILABLE,
	KAR_QR_VOLUME_PENDING,
	KAR_QR_DEVICES_UNKNOWN,
	KAR_QR_TOPOLOGY_NOT_FOUND,
	KAR_QR_TOPOLOGY_AMBIGUOUS,
	KAR_QR_SCHEDULINGSPEC_NOT_FOUND,
	KAR_QR_WAITING_FOR_MEMBERS,
	KAR_QR_WAITING_FOR_TERMINATION,
	KAR_QR_PREEMPTED, /* evicted, by the caller's word a pass ago and its pods are still there, or by this pass */
	KAR_QR_BACK_OFF,
	KAR_QR_QUOTA_INVALID_TEMPLATE,
	/* Found by the pass. All that have one of these are eligible; QUOTA_EXCEEDED may be given, with a text, if the quota is not computed. */
	KAR_QR_INFEASIBLE,
	KAR_QR_QUOTA_INFEASIBLE,
	KAR_QR_RESERVING,
	KAR_QR_GANG_GROUP, /* another group of its unit cannot start, see .partner */
	KAR_QR_BEHIND_HEAD,
	KAR_QR_QUOTA_EXCEEDED,
	KAR_QR_NAMESPACE_LIMIT,
	KAR_QR_MAX_JOBS,
	KAR_QR_QUEUE_CAPABILITY,
	KAR_QR_HEAD_RESERVED,
	KAR_QR_GUARANTEE_RESERVED,
	KAR_QR_WAITING_FOR_RECLAIM,
	KAR_QR_NO_FIT,
	KAR_QR_INSUFFICIENT_CAPACITY,
	KAR_QR_PROVISIONING, /* in the place of INFEASIBLE, NO_FIT, INSUFFICIENT_CAPACITY */
	KAR_N_QUEUE_REASONS
};
const char *kar_queue_reason_name(enum kar_queue_reason r) KAR_RETNN; /* CamelCase, as in conditions */

/* --- the snapshot ---------------------------------------------------------------------------------------------------------- */

/* A list of amounts by name; each name at most once. */
struct kar_queue_amounts {
	const struct kar_sched_amount *items;
	uint32_t n;
};

/*
 * A kind of nodes that rights are about. A node is of at most one flavor: its offer in the engine has the label KAR_QUEUE_FLAVOR_LABEL
 * with that name, which no node can have by itself.
 */
#define KAR_QUEUE_FLAVOR_LABEL ":flavor"
struct kar_queue_flavor {
	const char *name;
	const struct kar_toleration *tolerations; /* that pods get which are placed there */
	uint32_t n_tolerations;
	struct kar_queue_amounts alloc; /* of its usable nodes, with "pods" */
	struct kar_queue_amounts taken; /* of that: by all bound pods */
};

/* What a queue has of a flavor, and what it may use there at most. */
struct kar_queue_flavor_right {
	uint32_t flavor; /* in the snapshot */
	struct kar_queue_amounts deserved, capability;
};

/* Queues by their objects. Quantities are rounded down. */
struct kar_queue_in {
	const char *name;
	const char *parent; /* spec.parent; NULL: top */
	const char
		*parent_in_force; /* status.parent of the last valid pass; "root": top; NULL: never valid */
	bool deleting;
	bool closed, drain;
	const char *
		problem; /* why the object cannot be used at all (unreadable, a selector without sense); NULL: it can */
	int32_t weight; /* 1 or more; 0 counts as 1 */
	struct kar_queue_amounts deserved, guarantee, capability;
	const struct kar_queue_flavor_right
		*flavors; /* that its groups may use, in the order in which it likes them; none: all nodes */
	uint32_t n_flavors;
	bool flavors_in_order; /* all ways are tried in the first flavor before the next */
	/*
	 * What it has had of the cluster in the past, as the order of its siblings counts it (any unit that all of these have). It counts if .by_history of
	 * its parent (of top queues: of the flags), and then before shares, in GANGS and EXTRAS alone.
	 */
	int64_t history;
	bool by_history;      /* its children go by what they have had */
	int32_t max_jobs;     /* 0: no limit */
	bool not_reclaimable; /* reclaimable: false */
	bool strict;          /* StrictFIFO */
	bool preempts;        /* preemptionPolicy LowerPriority */
	bool provisions;      /* provisioning Pods */
	int32_t completed;    /* finished groups that ask for it, which are not in the snapshot */
	int32_t n_run_times;  /* completed jobs whose run time is known, and its median, for estimates */
	int64_t median_seconds;
	uint32_t reserved_for; /* group of status.reservation; KAR_QUEUE_NONE: none, or it has gone */
	kar_time reserved_since;
	kar_time reserved_until;   /* when it ends, or has ended; 0: it is not known, and it has not */
	int32_t reserved_pods;     /* the most of its pods that have fitted so far */
	int32_t reserved_gathered; /* percent of its minimum that had come free at its last progress */
	kar_time reserved_start; /* when all of it is free by known ends, as was found first; 0: not known */
};

/* Where pods are: @n of a run on a node. NULL: they have or need no place now (back-off, a name in use), but count in sums. */
struct kar_queue_seat {
	const char *node;
	int32_t n;
	bool bound; /* a pod is there, so the snapshot of the nodes has it; false: a plan holds the place for one */
	kar_time created; /* of the youngest of these pods; of a plan: its time */
};

/* @amount of a quota row that each pod of a run is charged with. */
struct kar_queue_charge {
	uint32_t row;
	int64_t amount;
};

/* Pods that are alike and follow each other in the order in which the job keeps them. Their needs are those of the class and `pods` 1. */
struct kar_queue_run {
	kar_class class;
	int32_t n;
	const struct kar_queue_seat *seats; /* of the first of them; together at most .n pods */
	uint32_t n_seats;
	const struct kar_queue_charge *charges;
	uint32_t n_charges;
	uint32_t ask; /* as of struct kar_role: which topology its pods ask for */
};

/* Pods that stop and are replaced by none of the runs. */
struct kar_queue_leaving {
	const char *node; /* NULL: never bound, counted in sums only */
	kar_class class;
	int32_t n;
	kar_time deletion;                      /* deletionTimestamp: when it is to be gone */
	const struct kar_queue_charge *charges; /* of each; the API server charges it until it is gone */
	uint32_t n_charges;
};

/* Running pods of a group that a budget for disruptions protects (a PodDisruptionBudget). */
struct kar_queue_protected {
	uint32_t budget; /* its index */
	int32_t pods;
};

enum kar_queue_standing {
	KAR_QUEUE_WAITING,   /* Admitted=False */
	KAR_QUEUE_RESERVING, /* Admitted=False, reason Reserving: capacity is held */
	KAR_QUEUE_ADMITTED,  /* Admitted=True */
};

/* A group of others without members: after whom it stands in its line. If it is admitted, it is so only as long as those leave room. */
enum kar_queue_yields {
	KAR_QUEUE_YIELDS_TO_NOBODY,  /* it has members, or had some a moment ago */
	KAR_QUEUE_YIELDS_TO_MEMBERS, /* after groups with members */
	KAR_QUEUE_YIELDS_TO_ALL,     /* it has had none for too long: after all others */
};

/* What an admitted group does, for the counts of its queue. */
enum kar_queue_phase { KAR_QUEUE_STARTS, KAR_QUEUE_RUNS, KAR_QUEUE_UNKNOWN };

enum kar_queue_edit {
	KAR_QUEUE_NOT_EDITED,
	KAR_QUEUE_EDIT_WAITS, /* whether it is let in is to be found out */
	KAR_QUEUE_EDIT_COMES, /* a pass has let it in, and its pods have not gone yet: nobody has that room any more */
};

struct kar_queue_group {
	const char *ns, *name;
	uint32_t queue; /* that it asks for; KAR_QUEUE_NONE: it does not exist */
	uint32_t
		also_in; /* another queue whose admission it still has: it counts there for maxJobs; KAR_QUEUE_NONE: none */
	const char *queue_name; /* that it asks for, also if there is none */
	enum kar_queue_standing standing;
	uint32_t flavor; /* of who is admitted or reserves: 1 + the flavor that it has; 0: none */
	enum kar_queue_reason ineligible; /* KAR_QR_ADMITTED: it is eligible */
	const char *why;                  /* text of that */
	int32_t base;                     /* resolved priority, at most the maxPriority of the queue */
	enum kar_queue_yields yields;
	kar_time creation, waiting_since; /* waiting_since 0: since its creation */
	int64_t waited_seconds;

	/* --- its pods: V(k) is the first k pods of the runs, M is V(min) and the hold. A waiting group has no live pods but those that leave */
	const struct kar_queue_run *runs; /* all .left pods; those of the minimum first */
	uint32_t n_runs;
	int32_t min;     /* m: at least 1 while pods are left */
	int32_t desired; /* d of an admitted group; of others' groups: released members, at least m */
	uint32_t n_hold_charges;
	const struct kar_queue_charge *hold_charges; /* of .hold, as if those members existed */
	struct kar_queue_amounts hold;               /* room for members to come (minResources) */
	struct kar_topology_wish topology;      /* of all its pods together, but those of runs with an .ask */
	const struct kar_topology_wish *wishes; /* of these, by .ask - 1 */
	const struct kar_queue_leaving *leaving; /* pods that stop */
	uint32_t n_leaving;
	uint32_t n_unbound;
	const struct kar_queue_run
		*unbound; /* of admitted groups: pods that exist, have left our gate and have no node yet */
	bool hold_yields; /* of an admitted group: .hold ends before anybody is evicted for whom its pods would go too */
	bool own_tolerations; /* its pods exist: on nodes of a flavor they get no tolerations that they have not */
	bool elastic; /* the pass scales it between m and left; false: its members come from elsewhere, or all are its minimum */
	/*
	 * Members beyond .desired wait at our gate, and the pass lets them in one by one, as far as the limits of its queues, and who waits in them,
	 * allow. So many were let in before; they go first. Nodes are looked for by the scheduler.
	 */
	bool joins;
	int32_t joined;
	bool no_node_check; /* somebody else looks for nodes: only sums count */
	bool released; /* pods of its minimum have left their gates, or it is bound: an admission is not taken back for room */
	bool replaces; /* an admitted group whose pods without a seat get places by this pass: they are in .places */
	bool at_once;    /* of .replaces: only room that is free now is a place, not that of pods that stop */
	bool unverified; /* a fit is no promise, so it evicts nobody */
	const char *const *last; /* nodes that are taken last, because pods of it failed there */
	uint32_t n_last, n_wishes;
	const char *const *run_names; /* per run, for texts; NULL: none */
	/*
	 * Of an admitted group whose templates were edited: the pods of its minimum as they would be made in the place of those that it has.
	 * Until the pass lets them in, the caller leaves those alone.
	 */
	enum kar_queue_edit edit;
	uint32_t n_edited;
	const struct kar_queue_run *edited;

	/* --- times; 0: never */
	kar_time admitted_at, formed_at, last_scale;
	kar_time grows_at;         /* no extra comes before that */
	kar_time freezing_window;  /* of its own, in ms; 0: that of the flags; -1: none */
	kar_time schedule_timeout; /* ms in which it must run once it is admitted */
	kar_time ends_at;          /* start and activeDeadlineSeconds */
	kar_time runs_for;         /* ms after which it ends once it has started; 0: not known */
	kar_time started_at;       /* job status startTime */
	enum kar_queue_phase phase;
	bool resized; /* its owner has changed how many pods it wants since .desired was chosen: to grow by that is no scaling */

	/* --- eviction */
	int32_t evictions; /* how often it was evicted for others; each doubles its protection against others of its queue */
	uint32_t evicted_by; /* group for which it was evicted and is still waiting; KAR_QUEUE_NONE */
	const struct kar_queue_protected *budgets; /* of its members; each at most once */
	/*
	 * Why others could not have its room back once it runs: it is admitted, and grows, only within what its queues are entitled to where siblings
	 * of these have rights. "PodDisruptionBudget b protects its pods"; NULL: they could.
	 */
	const char *not_returnable;
	uint32_t n_budgets;
	bool not_evictable; /* a bare member, another scheduler */
	bool never_preempts; /* preemptionPolicy Never of its class, or an attempt of it has failed: it uses no d */
	bool provisioned; /* admitted without room: it waits for new nodes, and nobody else of its queue does */
	/*
	 * It may have only what is free now: it evicts nobody, and neither a claim, a reservation, a quota nor new nodes are held for it. The API
	 * server has not accepted its pods yet (.unchecked), or somebody else holds them up.
	 */
	bool takes_nothing, unchecked;
	/* Before others go for it the API server is asked once more about its pods. As long as it is set, those stay, and nobody else has its room. */
	bool asks;
	/*
	 * What its pods need is read from their template, and nobody has seen what the API server makes of it. It is let in for this pass alone, as if
	 * it were so, and .asks of its decision is set: the next pass knows.
	 */
	bool guesses;
	const char *
		gate; /* of .takes_nothing: a scheduling gate of others that its pods have; NULL: none is known */
	bool created_bound; /* its pods are created bound: no scheduler sees what else is about to be bound */
	bool no_provisioning; /* its pods are created bound, or it was admitted otherwise: it does not wait for new nodes */

	/* --- gangGroups: groups that start with it, as far as they have not started; itself need not be among them */
	const uint32_t *unit;
	const char *unit_missing; /* "ns/name" of one that does not exist; NULL: all do */
	uint32_t n_unit;
};

/*
 * One resource of one ResourceQuota, or of what a queue allows a namespace; its room is limit - foreign - what groups of the snapshot are
 * charged with.
 */
struct kar_queue_quota_row {
	const char *ns, *quota, *resource;
	bool of_queue; /* .quota is the name of the queue whose limit for .ns it is; else that of a ResourceQuota */
	int64_t limit;   /* min(spec.hard, status.hard) */
	int64_t hard;    /* spec.hard, for feasibility */
	int64_t foreign; /* F of section 7 */
	bool unknown; /* status.hard is not there yet: nothing is charged; who would be waits (.ineligible) */
};

/* ms for which an unbound pod of nobody is expected to be bound soon; and in which the scheduler has bound it if it can. */
#define KAR_QUEUE_EXPECTED (60 * KAR_SECOND)
#define KAR_QUEUE_BOUND_AT_ONCE (2 * KAR_SECOND)

/*
 * Equal pods that belong to no gang, have no node and no gate. Groups of their priority or below leave them the room where they will be:
 * for as long as .nominated, else until they are KAR_QUEUE_EXPECTED old. They are no part of any sum.
 */
struct kar_queue_expected {
	kar_class class;
	int32_t priority, n;
	const char *node; /* the only one that they may be on; NULL: any */
	bool nominated;   /* the scheduler frees .node for them, which may be full */
	kar_time created;
};

/*
 * A bound pod that belongs to no gang and no queue, has a controller that would make it again, and a priority that is low enough (--preemptible-below).
 * It is a part of .foreign. The lowest priority comes first, and of one priority the youngest.
 */
struct kar_queue_preemptible {
	const char *ns, *name;
	kar_class class;
	const char *node; /* usable */
	int32_t priority;
	const uint32_t *budgets; /* that protect it */
	uint32_t n_budgets;
	const char *kept; /* why nobody evicts it now: "PodDisruptionBudget ns/b"; NULL: it may be evicted */
	bool leaving;     /* it stops: its room comes free */
	bool soon;        /* of .leaving: pods that the scheduler binds may wait for its room from now on */
	bool young;       /* it may have come in the stead of one that has left for a claim */
};

struct kar_queue_flags {
	int32_t max_load_permille; /* --max-load-desired; 0: 1000 */
	kar_time aging_interval, starvation_timeout, min_runtime, freezing_window; /* 0: off */
	bool by_history; /* top queues go by what they have had */
};

struct kar_queue_snapshot {
	const struct kar_queue_in *queues;
	uint32_t n_queues;
	const struct kar_queue_group *groups; /* finished ones may be left out */
	uint32_t n_groups;
	const struct kar_queue_quota_row *rows;
	uint32_t n_rows;
	const int32_t
		*budgets; /* pods of each that may be disrupted: nobody is evicted for others beyond that */
	const char *const *budget_names; /* "ns/b"; NULL: no pod of .preemptible has one */
	uint32_t n_budgets;
	const struct kar_queue_preemptible *preemptible;
	const struct kar_queue_flavor *flavors; /* those that queues name, by name */
	uint32_t n_preemptible, n_flavors;
	struct kar_queue_amounts alloc;   /* of usable nodes, with "pods" */
	struct kar_queue_amounts foreign; /* F: of pods that no group of the snapshot owns */
	const struct kar_queue_expected *
		expected; /* in the order in which the scheduler takes them: the highest priority first, then the oldest */
	uint32_t n_expected;
	/* All bound pods are taken in it. It is as it was when the call returns. Its classes give the needs of runs. */
	struct kar_sched *sched;
	bool no_nodes; /* nodes are not read: neither cluster rows nor the node check */
	bool recounts; /* of tests: after each step all sums are counted again, and must be the same */
	struct kar_queue_flags flags;
};

/* "insufficient cpu: 8 requested, 5 of 9 free (3 short)", in @a. @free below 0 counts as 0. */
const char *kar_queue_short_text(struct kar_arena *a, const char *resource, int64_t requested, int64_t free,
	int64_t limit) KAR_NONNULL KAR_RETNN;

/* --- the result ------------------------------------------------------------------------------------------------------------ */

enum kar_queue_cause { KAR_QUEUE_NOT_EVICTED, KAR_QUEUE_RECLAIM, KAR_QUEUE_IN_QUEUE, KAR_QUEUE_DRAIN };
const char *kar_queue_cause_name(enum kar_queue_cause c) KAR_RETNN; /* reason of the condition Preempted */

/* Why an elastic group that is admitted has fewer pods than it asks for: what stops the next one. */
enum kar_queue_limit {
	KAR_QUEUE_UNLIMITED,      /* it has all, is not elastic, or lacks pods of its minimum */
	KAR_QUEUE_LIMIT_STARTING, /* its minimum does not run yet: pods beyond it come after that */
	KAR_QUEUE_LIMIT_CLOSED,   /* its queue, or a parent, is closed */
	KAR_QUEUE_LIMIT_FREEZING, /* there is room, and its number of pods has changed a moment ago */
	KAR_QUEUE_LIMIT_LOAD,     /* struct kar_queue_flags.max_load_permille */
	KAR_QUEUE_LIMIT_QUOTA,
	KAR_QUEUE_LIMIT_NAMESPACE,  /* what a queue allows a namespace */
	KAR_QUEUE_LIMIT_CAPABILITY, /* of a queue; or it lends it no more */
	KAR_QUEUE_LIMIT_SHARE, /* there is no room, and others have pods beyond their minima there by their shares */
	KAR_QUEUE_LIMIT_HEAD, /* room is kept for a group that waits long */
	KAR_QUEUE_LIMIT_GUARANTEE,
	KAR_QUEUE_LIMIT_CAPACITY, /* the sums over all nodes are short */
	KAR_QUEUE_LIMIT_NODES,    /* no node has room for the next pod */
	KAR_QUEUE_LIMIT_STOPPING, /* there is room when pods that stop have gone */
	KAR_QUEUE_LIMITS
};

struct kar_queue_decision {
	enum kar_queue_standing standing;
	enum kar_queue_reason reason; /* KAR_QR_ADMITTED: .standing is ADMITTED */
	int32_t desired;              /* d; 0 unless it is admitted */
	uint32_t flavor;              /* as in the snapshot; 0: none, or it waits */
	bool scaled;                  /* lastScaleTime = now: SHED, b, EXTRAS or REBALANCE has changed d */
	/*
	 * Of a group that this pass admits: a place for each pod of its minimum. Of one that .replaces: places for pods that had none, those
	 * of its minimum all or none. Role: the index of the run. NULL: none.
	 */
	const struct kar_placement *places;
	bool lacks; /* of one that .replaces: pods of its minimum have no seat and there is no room for them */

	enum kar_queue_cause cause; /* NOT_EVICTED: it is not evicted by this pass */
	uint32_t evicted_for;       /* the taker; KAR_QUEUE_NONE: DRAIN, or not evicted */
	uint32_t
		hold_ends_for; /* its .hold ends now, and this group has the room; KAR_QUEUE_NONE: it does not */
	const char
		*evicted_text; /* "evicted: queue o reclaims its deserved share for n/j"; NULL: not evicted */
	bool takes_edit; /* of one with .edited: its pods may go, and those of the edited templates come in their place */
	const char *
		edit_text; /* why they may not, "insufficient cpu: ..."; NULL: they may, or nothing was edited */
	bool lent_no_more; /* admitted, .not_returnable, and a queue of it uses more than it is entitled to */
	enum kar_queue_limit limit;
	const char *
		limit_text; /* of .limit, "the freezing window ends at ..."; NULL: the limit says it all, or it is beyond LIMIT_TEXTS */
	bool asks; /* it would be let in now, if it did not .asks (others would go for it) or .guesses: the question is due */
	bool took_extras; /* of a taker: others give up extras for it in this pass */

	enum kar_queue_reason
		provisions; /* admitted without room for this reason, so that nodes are added; ADMITTED: it has room */
	uint32_t partner; /* of GANG_GROUP: which cannot start; KAR_QUEUE_NONE: .unit_missing */
	enum kar_queue_reason partner_reason;

	int32_t position; /* in its leaf among the waiting ones whose reason is RESERVING or later; 0: none, or beyond POSITIONS */
	int32_t line; /* how many these are */
	const char *
		text; /* why it waits, without position; of an admitted one: NULL, or why a raised minimum or edited templates wait */
	const char *
		held_by_gate; /* it waits for room, and nobody is evicted for it because of this scheduling gate of its pods */
	const char *message;      /* text with position and estimate, as it is written to the status */
	kar_time estimated_start; /* 0: not known */
	const char *basis;        /* of that: "deadlines", "median of 12 jobs" */
	int64_t level;            /* section 4 */
};

enum kar_queue_validity {
	KAR_QUEUE_VALID,
	KAR_QUEUE_PARENT_NOT_FOUND,
	KAR_QUEUE_PARENT_CYCLE,
	KAR_QUEUE_TOO_DEEP
};
const char *kar_queue_validity_name(enum kar_queue_validity v) KAR_RETNN; /* reason of the condition Valid */

struct kar_queue_counts {
	int32_t pending, inqueue, running, completed, unknown; /* of the subtree */
	int32_t live;                                          /* admitted or reserving */
};

/* .allocated and .entitled of one flavor: of resources for which some queue names it. */
struct kar_queue_flavor_use {
	const char *name;
	struct kar_queue_amounts allocated, entitled;
};

struct kar_queue_status_out {
	enum kar_queue_validity validity;
	uint32_t parent; /* in force; KAR_QUEUE_NONE: top, or (.validity) never valid */
	bool in_force;   /* it has a place in the tree */
	bool leaf;
	bool closed;  /* it or a parent is closed or being deleted */
	bool closing; /* closed, and a live group is below */
	struct kar_queue_counts counts;
	struct kar_queue_amounts allocated,
		entitled; /* by names of resources, without what is 0 or not limited; of live pods of the subtree as they are stored */
	const struct kar_queue_flavor_use *flavors; /* those that its rights name, or that it uses, by name */
	uint32_t n_flavors;
	const char *over; /* what of these exceeds its capability: "cpu 12 of 8 (4 over)"; NULL: nothing */
	int64_t share;    /* in thousandths */
	int32_t waits;    /* groups of the subtree that wait for room or for their turn */
	int32_t part; /* what its live pods have of the cluster: the largest of its parts of a resource, in millionths */
	uint32_t head;         /* first waiting group of a leaf; KAR_QUEUE_NONE: none */
	uint32_t reserved_for; /* group for which capacity comes together */
	kar_time reserved_since;
	kar_time reserved_until; /* when that ends without progress */
	int32_t reserved_pods; /* the most of its pods that have fitted so far: more than ever is progress */
	int32_t reserved_gathered; /* percent of its minimum that had come free at its last progress: a good deal more is progress */
	kar_time
		reserved_start; /* when all of it is free by known ends: the first that was found, or an earlier one; 0: not known */
	bool keeps_reservation; /* it has ended: nothing is reserved, and the old one is kept as it was given */
	struct kar_queue_amounts reserved; /* its M */
};

struct kar_queue_result {
	struct kar_queue_decision *groups;   /* by index of the snapshot */
	struct kar_queue_status_out *queues; /* likewise */
	int32_t steps;                       /* until nothing changed */
	bool unsettled;                      /* KAR_QUEUE_STEPS were not enough: a bug, to be counted */
	kar_time again_at; /* when an age, a window, a protection or a starvation time ends; KAR_NEVER */
	const uint32_t *
		takers; /* per .preemptible: the group for which it is evicted now; KAR_QUEUE_NONE: it stays, or stops */
	/* Groups that are not finished (.n_order), in line order, for the order of writes. */
	const uint32_t *order;
	uint32_t n_order;
};

/* Pure. @now: wall ms. */
void kar_queue_plan(const struct kar_queue_snapshot *s, kar_time now, struct kar_arena *a,
	struct kar_queue_result *out) KAR_NONNULL;

#endif
