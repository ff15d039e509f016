/*
 * plan - what people and machines do to the cluster in one run: drawn from a seed, or a reduced one that still fails.
 *
 * A plan is data: the size of the cluster, the jobs that may be submitted, and a list of actions with their times. What
 * the system under test does plays no part in it, so the same plan can be carried out with and without faults, and any
 * action can be left out.
 */
#ifndef TEST_SIM_PLAN_H
#define TEST_SIM_PLAN_H

#include <stdio.h>

#include "api/queuejob/queuejob_policy.h"
#include "sim/faults.h"
#include "sim/tree.h"

/*
 * What plan_draw() draws now. A seed on the regression list is worth something only as long as the same plan comes of it, so what is
 * added to the drawing is left out for older versions, and draws from a stream of its own (plan_more.c).
 */
enum { PLAN_VERSION = 20 };

enum {
	PLAN_TASKS = 4,
	PLAN_QUEUES = 3,
	PLAN_NAMESPACES = 2,
	PLAN_CLASSES = 3,
	PLAN_RULES = 3,
	PLAN_UNSET = -1
};

enum plan_match {
	PLAN_ANY_LOSS,
	PLAN_EXIT_IN,
	PLAN_EXIT_NOT_IN,
	PLAN_DISRUPTED, /* condition DisruptionTarget */
	PLAN_DELETED,   /* reason Deleted */
	PLAN_KILLED,    /* reason OOMKilled */
	PLAN_MATCHES,
};

/* Of a failure policy. */
struct plan_rule {
	enum kar_failure_action action;
	enum plan_match match;
	int task; /* PLAN_UNSET: all */
	int code;
};

enum plan_outcome { PLAN_SUCCEED, PLAN_FAIL, PLAN_RUN, PLAN_CRASH_ONCE, PLAN_OOM, PLAN_OUTCOMES };

struct plan_task {
	int replicas, min; /* min: PLAN_UNSET: none */
	int priority;      /* likewise */
	enum plan_outcome outcome;
	int after, start,
		stop; /* s: from running to the end; from bound to running; from SIGTERM to stopped */
	int exit_code;
	int cpu;                                 /* thousandths */
	bool stops_well;                         /* with exit code 0 after SIGTERM */
	bool labelled;                           /* as selectors of people want it */
	bool best_effort, terminating;           /* scopes of quotas */
	unsigned after_running, after_succeeded; /* dependsOn: sets of task numbers */
};

enum plan_selector {
	PLAN_SELECTOR_NONE,
	PLAN_SELECTOR_LABEL,
	PLAN_SELECTOR_LABELS,
	PLAN_SELECTOR_IN,
	PLAN_SELECTOR_EXISTS,
	PLAN_SELECTOR_OTHER, /* does not match the templates, nor does the next */
	PLAN_SELECTOR_NOT_IN,
	PLAN_SELECTORS,
};

enum plan_place { PLAN_ANYWHERE, PLAN_ZONE_0, PLAN_ZONE_1, PLAN_NOWHERE, PLAN_PLACES };

/* The last one is the manager itself: it is not drawn before version 14. */
enum plan_scheduler {
	PLAN_UNNAMED,
	PLAN_DEFAULT_SCHEDULER,
	PLAN_NO_SCHEDULER,
	PLAN_SCHEDULERS,
	PLAN_KAR_SCHEDULER = PLAN_SCHEDULERS
};

/* Which pods a quota is about. */
enum plan_scope { PLAN_SCOPE_CLASS, PLAN_SCOPE_TERMINATING, PLAN_SCOPE_BEST_EFFORT, PLAN_SCOPES };

/* One QueueJob as it is submitted; several may have the same name, one after the other. */
struct plan_job {
	int number; /* of its name: "j7" */
	int ns;     /* 0 .. PLAN_NAMESPACES - 1 */
	int queue;  /* 0: default, else "q1" ... */
	int class;  /* PriorityClass, or PLAN_UNSET */
	struct plan_task tasks[PLAN_TASKS];
	int n_tasks;
	int min;                    /* schedSpec.minAvailable, or PLAN_UNSET */
	int backoff, deadline, ttl; /* or PLAN_UNSET; s */
	int min_succeeded;          /* successPolicy, or PLAN_UNSET */
	bool success_first_task;    /* successPolicy.tasks names the first one only */
	struct plan_rule rules[PLAN_RULES];
	int n_rules;
	bool suspend;
	bool network;   /* enableDNSHostnames */
	int impossible; /* the task whose template is, or PLAN_UNSET */
	enum plan_selector selector;
	enum plan_place place; /* schedSpec.nodeSelector */
	bool together;         /* schedSpec.topology: all pods in one zone */
	enum plan_scheduler scheduler;
};

/* Where the pods of a gang of another controller may go by themselves. */
enum plan_room {
	PLAN_ROOM_ANY,
	PLAN_ROOM_NODE,   /* nodeSelector: .node only */
	PLAN_ROOM_OTHERS, /* required affinity: not .node */
	PLAN_ROOM_EITHER, /* required affinity of two terms: .node, or any other */
	PLAN_ROOMS,
};

/* A PodGroup whose pods another controller makes, gated; in the namespace of such controllers. Its name is its place in the plan: "g0". */
struct plan_gang {
	int min, pods;     /* spec.minMember; pods that its controller keeps in the end */
	int queue;         /* PLAN_UNSET: names none */
	bool pods_name_it; /* .queue is named by the label of its pods, not by the group */
	int timeout;       /* scheduleTimeoutSeconds, or PLAN_UNSET */
	struct plan_task task;
	int bare;   /* of its pods: the first so many have no controller */
	bool grows; /* every other pod asks for twice as much (plan_bounds.c) */
	bool held;  /* its first pod has somebody else's gate at first */
	enum plan_room room;
	int node;
};

/* Of dependsOn. */
enum plan_order_edit {
	PLAN_ORDER_NONE,
	PLAN_ORDER_AS_DRAWN,
	PLAN_ORDER_RUNNING, /* as drawn, but none has to succeed */
	PLAN_ORDER_EDITS,
};

enum plan_service_edit {
	PLAN_SERVICE_SELECTOR,
	PLAN_SERVICE_LABEL, /* off, or back on */
	PLAN_SERVICE_PUBLISH,
	PLAN_SERVICE_DELETED,
	PLAN_SERVICE_EDITS,
};

/* In the name of the job, as one that a former job left; or one of nobody's, that is never a job's. */
enum plan_group { PLAN_GROUP_OF_JOB, PLAN_GROUP_OF_NOBODY, PLAN_GROUPS };

/* Which of its objects a trick is about: .task modulo PLAN_KINDS. */
enum plan_kind {
	PLAN_KIND_JOB,
	PLAN_KIND_GROUP,
	PLAN_KIND_SPEC,
	PLAN_KIND_SERVICE,
	PLAN_KIND_POD,
	PLAN_KIND_QUOTA,
	PLAN_KINDS,
};

/* Of a hostile tenant, in the name of a job of somebody else but in a namespace of its own. .task: which variant of it. */
enum plan_trick {
	PLAN_TRICK_JOB,        /* a job that may run */
	PLAN_TRICK_IMPOSSIBLE, /* one that fits on no node, before all others */
	PLAN_TRICK_INVALID,    /* one whose pods the API server refuses */
	PLAN_TRICK_SQUAT,      /* takes the name of one of its children */
	PLAN_TRICK_FORGE,      /* a pod that says it is one of the other's job */
	PLAN_TRICK_GROUPS,     /* PodGroups without pods */
	PLAN_TRICK_SNEAK,      /* lets one queue admit the group of a job of another */
	PLAN_TRICK_UNREADABLE, /* what the manager cannot decode (sim/wire.h, SIM_GARBLE) */
	PLAN_TRICK_READABLE,   /* and can again */
	PLAN_TRICK_STATUS,     /* garbage in a status */
	PLAN_TRICK_HUGE,       /* long texts */
	PLAN_TRICK_FLOOD,      /* hundreds of edits in a moment */
	PLAN_TRICK_PRIORITIES, /* of all its PodGroups without pods */
	PLAN_TRICK_CHURN,      /* deletes and creates */
	PLAN_TRICK_DELETE,     /* one of its objects */
	PLAN_TRICKS,
};

enum plan_verb {
	/* .job: index of the plan's jobs */
	PLAN_SUBMIT,
	PLAN_DELETE, /* .value: 0 background, 1 foreground, 2 orphan */
	PLAN_SUSPEND,
	PLAN_RESUME,
	PLAN_SCALE,    /* .task, .value: replicas */
	PLAN_QUORUM,   /* .value: minAvailable */
	PLAN_TEMPLATE, /* .task, .value: a number that goes into the template */
	PLAN_LIMITS,   /* .value: backoffLimit */
	PLAN_TTL,      /* .value: ttlSecondsAfterFinished */
	PLAN_ORDER,    /* .task, .value: enum plan_order_edit */
	PLAN_STATUS,   /* .value: which counter of the status somebody overwrites */
	PLAN_CLEAR,    /* somebody empties the status */
	/* .job, .task, .value: index */
	PLAN_DELETE_POD,
	PLAN_KILL_POD, /* with grace period 0 */
	PLAN_EVICT_POD,
	PLAN_RELABEL_POD, /* takes the label of the incarnation away */
	PLAN_RAISE_POD,   /* makes that label a later incarnation */
	PLAN_LOWER_POD,   /* or an earlier one */
	PLAN_STRIP_POD,   /* takes all labels away */
	PLAN_UNTRACK_POD, /* takes our finalizer away */
	PLAN_DISOWN_POD,  /* takes the ownerReference away */
	PLAN_BLOCK_POD,   /* somebody else's pod takes the name */
	PLAN_STEAL_POD,   /* the same, of a pod that is killed for it */
	PLAN_CROWD_POD,   /* the same, when the first of its task is created */
	PLAN_HURRY_POD,   /* makes it succeed in the moment in which its job is suspended */
	PLAN_UNBLOCK_POD,
	/* .job: its children of the same name */
	PLAN_DELETE_GROUP,
	PLAN_EDIT_GROUP, /* .value: minMember */
	PLAN_DELETE_SPEC,
	PLAN_EDIT_SPEC, /* of the SchedulingSpec; .value: minAvailable */
	PLAN_LIMIT,     /* the queue sets desired in its PodGroup; PLAN_UNSET: takes it away */
	/* .task: enum plan_group, .value: queue; PLAN_UNSET: names none */
	PLAN_MAKE_GROUP, /* somebody creates a PodGroup */
	PLAN_MOVE_GROUP, /* sets, or takes away, its queue, as far as the API server lets him */
	/* .job */
	PLAN_NETWORK,      /* .value: enableDNSHostnames */
	PLAN_IMPOSSIBLE,   /* .task: its template asks for a volume that is not there */
	PLAN_MEND,         /* .task */
	PLAN_EDIT_SERVICE, /* .value: enum plan_service_edit */
	PLAN_TAKE_SERVICE, /* somebody else's Service takes the name */
	PLAN_FREE_SERVICE,
	PLAN_SELECT,      /* .value: enum plan_selector */
	PLAN_PLACE,       /* .value: enum plan_place */
	PLAN_SCHEDULER,   /* .value: enum plan_scheduler */
	PLAN_RENAME_TASK, /* .task, .value: 1: to another name; 0: back */
	PLAN_DROP_TASK,   /* .task */
	PLAN_DEADLINE,    /* .value: activeDeadlineSeconds; PLAN_UNSET: takes it away */
	PLAN_KEEP,        /* takes the TTL away when it is over; .value: so many ms later */
	PLAN_NEEDS,       /* .task: its template asks for .value thousandths of a CPU */
	PLAN_RESIZE_POD,  /* .task, .value: index: it asks for twice as much from now on */
	PLAN_STEAL_ROOM, /* when it is placed next, a pod of somebody else goes to a node of the plan; .value: for so many s */
	/* .value, .task: see users.c */
	PLAN_QUOTA,  /* .task: namespace, .value: pods allowed; PLAN_UNSET: removes it */
	PLAN_SCOPED, /* likewise; .task: namespace + PLAN_NAMESPACES * enum plan_scope */
	PLAN_QUEUE,  /* .task: queue, .value: maxJobs; 0: closed; PLAN_UNSET: open without limit */
	PLAN_CORDON, /* .value: node */
	PLAN_UNCORDON,
	PLAN_DRAIN,
	PLAN_NODE_LOST, /* .task: 0 network, 1 power */
	PLAN_NODE_BACK,
	PLAN_NODE_GONE,
	PLAN_NODE_ADDED,
	PLAN_PRESSURE,
	PLAN_HOSTILE, /* .job, .value: enum plan_trick, .task */
	/* .value: gang of another controller */
	PLAN_GANG_GROUP,  /* its PodGroup is created */
	PLAN_GANG_PODS,   /* its controller keeps .task pods from now on */
	PLAN_GANG_UNGATE, /* the gate of somebody else goes */
	PLAN_GANG_LOSE,   /* somebody deletes its pod number .task of those that there are */
	PLAN_GANG_ROB,    /* when it is placed next, its room is stolen for .task s */
	PLAN_GANG_END,    /* its owner is deleted, and its PodGroup before (.task 0) or after that (1) */
	/* .task: queue */
	PLAN_RIGHTS, /* .value: 1: it has those of the plan; 0: none */
	PLAN_VERBS,
};

struct plan_action {
	kar_time at; /* ms after the start */
	enum plan_verb verb;
	int job, task, value;
	int number; /* in the plan as it was drawn */
};

/* Of a queue; amounts in CPUs, PLAN_UNSET: it is not set. */
struct plan_rights {
	int weight, guarantee, deserved, capability;
	bool preempts;        /* preemptionPolicy: LowerPriority */
	bool keeps;           /* reclaimable: false */
	bool in_team;         /* its parent is PLAN_TEAM */
	bool drains;          /* when it is closed */
	int ns_cpus, ns_jobs; /* perNamespace; 0: no limit */
};
#define PLAN_TEAM "team"

struct plan {
	uint64_t seed;
	kar_time length; /* ms in which people act and faults happen */
	int nodes, node_cpu;
	int max_jobs[PLAN_QUEUES]; /* of each queue, PLAN_UNSET: none */
	bool strict[PLAN_QUEUES];  /* StrictFIFO */
	bool default_times;        /* of queues: those that the manager has by default; else all are off */
	bool has_rights;
	bool shares; /* nothing but elastic jobs that never end; queues keep their weights (plan_shares.c) */
	struct plan_rights rights[PLAN_QUEUES];
	bool bounds; /* queues with capabilities, and what grows in them (plan_bounds.c) */
	int team_deserves, team_capability; /* CPUs, or PLAN_UNSET */
	int half_life,
		team_half_life; /* s, of what top queues, and those of the team, have had; 0: they go by shares */
	bool other_user;
	bool gangs;        /* a gang scheduler places the pods */
	bool zones;        /* nodes have labels by which jobs choose them */
	bool topology;     /* there is a Topology of these (plan_topology.c) */
	int max_in_flight; /* writes of a manager; 0: its default */
	bool leases; /* two managers, of which one is elected; else one, and now and then a second beside it */
	struct plan_job *jobs;
	size_t n_jobs;
	struct plan_gang *others; /* gangs of other controllers */
	size_t n_others;
	struct plan_action *actions; /* in the order of time */
	size_t n_actions;
	uint32_t fault_set;
	struct sim_faults faults; /* drawn from the seed over the set */
};

/* @hours: 0: as the seed says. @version: 1 .. PLAN_VERSION. */
void plan_draw(struct plan *p, uint64_t seed, double hours, uint32_t fault_set, int version) KAR_NONNULL;
/* Adds what version 2 has more (plan_more.c); to be sorted. */
void plan_draw_more(struct plan *p) KAR_NONNULL;
/* Adds what version 3 has more (plan_order.c): tasks that depend on others. */
void plan_draw_order(struct plan *p) KAR_NONNULL;
/* One that is meant for measuring: @nodes nodes, always @jobs jobs of 2 to 8 pods that run 2 to 13 hours; no faults, no trouble. */
void plan_draw_steady(struct plan *p, uint64_t seed, double hours, int nodes, int jobs) KAR_NONNULL;
void plan_copy(struct plan *to, const struct plan *from) KAR_NONNULL;
void plan_release(struct plan *p) KAR_NONNULL;
/* Leaves only the actions whose numbers are in @list: "0-3,7". -1: it is no such list. */
int plan_keep(struct plan *p, const char *list) KAR_NONNULL;
/* The reverse: the numbers of the plan's actions. */
void plan_kept(const struct plan *p, struct kar_buf *out) KAR_NONNULL;

/* Adds what version 4 has more (plan_policy.c): failure policies. */
void plan_draw_policies(struct plan *p) KAR_NONNULL;
/* Adds what version 5 has more (plan_network.c): host names, impossible templates. */
void plan_draw_network(struct plan *p) KAR_NONNULL;
/* Adds what version 6 has more (plan_quota.c): gangs that collide under a quota. */
void plan_draw_quotas(struct plan *p) KAR_NONNULL;
/* Adds what version 7 has more (plan_life.c): edits and accidents at the moments in which they hurt most. */
void plan_draw_life(struct plan *p) KAR_NONNULL;
/* Adds what version 8 has more (plan_limit.c): queues that scale jobs. */
void plan_draw_limits(struct plan *p) KAR_NONNULL;
/* Adds what version 9 has more (plan_spec.c): selectors, places, schedulers, tasks that get other names, quotas with scopes. */
void plan_draw_specs(struct plan *p) KAR_NONNULL;
/* Adds what version 11 has more (plan_queue.c): PodGroups of people, and groups that change their queues. */
void plan_draw_queues(struct plan *p) KAR_NONNULL;
/* Adds what version 14 has more (plan_direct.c): jobs whose pods are created bound. */
void plan_draw_direct(struct plan *p) KAR_NONNULL;
/* Adds what version 10 has more (plan_nodes.c): gangs that collide on too few nodes. */
void plan_draw_nodes(struct plan *p) KAR_NONNULL;
/* Adds what version 12 has more (plan_hostile.c): a hostile tenant. */
void plan_draw_hostile(struct plan *p) KAR_NONNULL;
/* Adds what version 13 has more (plan_room.c): gangs on small nodes, whose room is taken. */
void plan_draw_room(struct plan *p) KAR_NONNULL;
/* Adds what version 15 has more (plan_gangs.c): gated pods of other controllers. */
void plan_draw_gangs(struct plan *p) KAR_NONNULL;
/* Adds what version 16 has more (plan_rights.c): queues with rights, and gangs that compete for them. */
void plan_draw_rights(struct plan *p) KAR_NONNULL;
/* Makes some plans, since version 18, ones of queues with limits alone (plan_bounds.c). */
void plan_draw_bounds(struct plan *p) KAR_NONNULL;
/* Adds what version 19 has more (plan_topology.c): jobs that must be in one zone. */
void plan_draw_topology(struct plan *p) KAR_NONNULL;
/* Adds what version 20 has more (plan_teams.c): limits of namespaces, and queues that go by what they have had. */
void plan_draw_teams(struct plan *p) KAR_NONNULL;
/* What the versions before have drawn is not done: no jobs, actions or limits; queues may have rights (plan_shares.c). */
void plan_forget(struct plan *p) KAR_NONNULL;
/* Makes some plans, since version 17, ones of elastic jobs alone (plan_shares.c). */
void plan_draw_shares(struct plan *p) KAR_NONNULL;
/* A pod of a gang; @owner: UID of what controls it. New. */
struct sim_value *plan_gang_pod(const struct plan *p, int gang, int number,
	const char *owner) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* The PodGroup. New. */
struct sim_value *plan_gang_group(const struct plan *p, int gang) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Thousandths of CPUs that gangs of others keep until the end. */
int64_t plan_gangs_keep(const struct plan *p) KAR_NONNULL;
/* The gate of somebody else. */
#define PLAN_GANG_GATE "test.kube-arbitrator.io/held"
/* Where other controllers make their pods. No job of the plan is there. */
#define PLAN_GANG_NS "operators"
/* Is there a hostile tenant? */
bool plan_is_hostile(const struct plan *p) KAR_NONNULL;
/* The same without it. */
void plan_copy_honest(struct plan *to, const struct plan *from) KAR_NONNULL;
const char *plan_trick_name(enum plan_trick t) KAR_RETNN;
/* Where it lives. No job of the plan does. */
#define PLAN_HOSTILE_NS "mallory"
/* spec.selector; NULL: none. New. */
struct sim_value *plan_selector_object(enum plan_selector s) KAR_MUSTUSE;
/* Do the templates of people match it? */
bool plan_selects(enum plan_selector s);
/* Sets what of the job belongs to version 9, or takes it away. */
void plan_set_place(struct sim_value **job, enum plan_place place) KAR_NONNULL;
void plan_set_scheduler(struct sim_value **job, enum plan_scheduler s) KAR_NONNULL;
/* Its value of the label PLAN_ZONE_LABEL. */
const char *plan_zone_name(int node) KAR_RETNN;
#define PLAN_ZONE_LABEL "test.kube-arbitrator.io/zone"
/* Do people stand in the way of creates, with impossible templates or taken names? */
bool plan_is_obstructed(const struct plan *p) KAR_NONNULL;
/* Makes the API server refuse the pods of @template. */
void plan_make_impossible(struct sim_value **template) KAR_NONNULL;
bool plan_has_rule(const struct plan_job *j, enum kar_failure_action action) KAR_NONNULL;
/* spec.failurePolicy.rules. New. */
struct sim_value *plan_rules_object(const struct plan_job *j) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;

/* The QueueJob object. New. */
struct sim_value *plan_job_object(const struct plan *p,
	const struct plan_job *j) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Replicas of all its tasks. */
int plan_total(const struct plan_job *j) KAR_NONNULL;
/*
 * Does the task surely start? One that depends on pods that run for ever to succeed never does; what fails ends the job
 * before, so nothing that depends on it need be told.
 */
bool plan_task_starts(const struct plan_job *j, int task) KAR_NONNULL;
/* Does one of its tasks depend on another? */
bool plan_has_order(const struct plan_job *j) KAR_NONNULL;
/* The list dependsOn of a task. New. */
struct sim_value *plan_dependencies(const struct plan_task *t) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* The template of one task; @edit: what PLAN_TEMPLATE put into it, 0: nothing. New. */
struct sim_value *plan_template(const struct plan_task *t, int edit) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;

enum { PLAN_NAME = 64 };
const char *plan_group_name(const struct plan_job *j, enum plan_group g,
	char out[PLAN_NAME]) KAR_NONNULL KAR_RETNN;
const char *plan_ns_name(int ns) KAR_RETNN;
const char *plan_queue_name(int queue) KAR_RETNN;
const char *plan_class_name(int class) KAR_RETNN;
const char *plan_scope_name(enum plan_scope s) KAR_RETNN;
const char *plan_task_name(int task) KAR_RETNN;
const char *plan_job_name(const struct plan_job *j, char out[PLAN_NAME]) KAR_NONNULL KAR_RETNN;
const char *plan_pod_name(const struct plan_job *j, int task, int index,
	char out[PLAN_NAME]) KAR_NONNULL KAR_RETNN;
const char *plan_node_name(int node, char out[PLAN_NAME]) KAR_NONNULL KAR_RETNN;
const char *plan_gang_name(int gang, char out[PLAN_NAME]) KAR_NONNULL KAR_RETNN;

/* "12m3.456s scale default/j3 task w1 to 5" without the time. */
void plan_action_text(const struct plan *p, const struct plan_action *a, struct kar_buf *out) KAR_NONNULL;
/* All of it, for people. */
void plan_print(const struct plan *p, FILE *out) KAR_NONNULL;

#endif
