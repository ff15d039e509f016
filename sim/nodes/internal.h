/*
 * internal - what the parts of sim/nodes know of each other. Private to this folder.
 *
 *   nodes.c      wiring, operations on nodes         mirror.c   the copy of pods and nodes that all parts look at
 *   calls.c      the writes                          conditions.c  conditions, taints and tolerations as trees   words.c  texts
 *   kubelet.c    one pod's life on a node            kubelet_status.c  the status it reports   kubelet_node.c  the node's own
 *   scheduler.c  the queue   scheduler_cycle.c  one decision   scheduler_filter.c, scheduler_affinity.c  which nodes
 *   scheduler_preempt.c
 *   lifecycle.c  silent nodes and their taints       eviction.c  pods that do not tolerate these   podgc.c   disruption.c   drain.c
 *
 * The one listener (mirror.c) brings the mirror up to date and tells the parts, in a fixed order, through their _see_
 * functions. These only start alarms; what has to be written is written when the alarm rings. A write changes the mirror
 * before it returns, and may free the pod it was about.
 */
#ifndef SIM_NODES_INTERNAL_H
#define SIM_NODES_INTERNAL_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "sim/nodes/requests.h"
#include "sim/nodes/behaviour.h"

enum { SIM_NAME_MAX = 254 }; /* bytes of the longest namespace or object name with its NUL */

/* Ms of so many seconds, which API objects may have any number of. */
static inline kar_time sim_seconds(int64_t seconds)
{
	const int64_t most = (int64_t)1 << 32;

	return (seconds < 0 ? 0 : seconds < most ? seconds : most) * KAR_SECOND;
}

/* --- a pod ------------------------------------------------------------------------------------------------------ */

enum sim_run {
	SIM_RUN_NONE,     /* not on a node, or not noticed by its kubelet */
	SIM_RUN_STARTING, /* until its start delay is over */
	SIM_RUN_WAITING,  /* will never start: outcome pending or pull-error */
	SIM_RUN_RUNNING,
	SIM_RUN_CRASHED,  /* waits for its restart */
	SIM_RUN_STOPPING, /* told to stop */
	SIM_RUN_ENDED,    /* its last status is written */
};

/* What the kubelet knows of a pod. */
struct sim_pod_run {
	enum sim_run state;
	struct sim_behaviour behaviour;
	struct sim_value *annotations; /* that it was read from */
	struct sim_alarm *alarm;
	kar_time due, deadline;  /* mono: next step, activeDeadlineSeconds; KAR_NEVER */
	kar_time started;        /* wall: this run of the containers */
	kar_time stopping_since; /* mono */
	struct sim_end end;      /* how what happens now will end */
	const char *reason,
		*message; /* of the pod, when it has ended: "DeadlineExceeded"; static, may be NULL */
	unsigned restarts, backoff; /* all, and those since the containers last ran well */
	unsigned address;           /* last parts of the pod's IP; 0: none yet */
	bool admitted;              /* there was room for it */
	bool reported;              /* that it is starting */
};

enum sim_where { SIM_OUT, SIM_ACTIVE, SIM_BACKING_OFF, SIM_UNSCHEDULABLE };

/* Why nodes did not fit: which news are worth another try. */
enum { SIM_NEEDS_ROOM = 1, SIM_NEEDS_NODE = 2, SIM_NEEDS_PODS = 4 };

/* What the scheduler knows of a pod. */
struct sim_pod_queued {
	enum sim_where where;
	RB_ENTRY(sim_pod) link;     /* ACTIVE: by priority and time; BACKING_OFF: by ready */
	TAILQ_ENTRY(sim_pod) waits; /* UNSCHEDULABLE */
	kar_time since;             /* mono: of being queued */
	kar_time ready;             /* mono: end of the back-off */
	unsigned attempts;
	unsigned needs; /* SIM_NEEDS_ */
	uint64_t shape; /* equal: what fits one fits the other; 0: not computed yet */
	struct sim_node *nominated;
	TAILQ_ENTRY(sim_pod) nominees;
	bool away; /* taken from its node while a preemption is tried out */
};

/* The taint eviction's timer. */
struct sim_call_eviction {
	struct sim_alarm *alarm; /* NULL: never needed */
	kar_time since, due;     /* mono */
	bool done;               /* evicted for the taints there are */
};

struct sim_pod {
	RB_ENTRY(sim_pod) link; /* sim_nodes.pods */
	struct sim_nodes *nodes;
	char *ns, *name, *uid;
	struct sim_value *value; /* the newest version */
	uint64_t number;         /* in order of appearance */
	struct sim_node *node;   /* NULL: not bound; the Node object need not exist */
	TAILQ_ENTRY(sim_pod) on_node;
	int32_t priority;
	bool terminal, deleting, counted /* in its node's usage */, suspect;
	bool has_ports, has_affinity, has_anti_affinity, has_node_affinity; /* required ones */
	TAILQ_ENTRY(sim_pod) anti;                                          /* sim_nodes.anti */
	TAILQ_ENTRY(sim_pod) suspects;                                      /* of the garbage collector */
	struct sim_requests requests;
	struct sim_pod_run run;
	struct sim_pod_queued queued;
	struct sim_call_eviction eviction;
};
RB_HEAD(sim_pods, sim_pod);
TAILQ_HEAD(sim_pod_list, sim_pod);

/* --- a node ----------------------------------------------------------------------------------------------------- */

enum sim_verdict { SIM_FITS, SIM_UNSUITABLE /* preemption may help */, SIM_UNRESOLVABLE };

struct sim_node {
	RB_ENTRY(sim_node) link; /* sim_nodes.nodes */
	struct sim_nodes *nodes;
	char *name;
	unsigned number;         /* for addresses */
	struct sim_value *value; /* NULL: no such object (any more), but pods name it */
	kar_time gone;           /* mono: since when `value` is NULL */
	struct sim_pod_list pods;
	/* scheduler */
	struct sim_resources allocatable, used, scored; /* scored: cpu and memory with sim_requests.scored */
	int64_t most_pods;
	size_t n_pods; /* counted ones */
	bool unschedulable, tainted /* NoSchedule or NoExecute */, evicts /* NoExecute */, ready;
	struct sim_pod_list nominees;
	enum sim_verdict verdict; /* of the decision being made */
	/* kubelet */
	bool silent, powerless;
	struct sim_alarm *kubelet; /* has something to say about the node */
	kar_time pressure_until;   /* mono; 0: none */
	unsigned addresses;        /* given out */
	/* controllers */
	struct sim_alarm *health; /* rings when the silence is noticed */
	struct sim_alarm *taints;
	struct sim_alarm *drain; /* NULL: not being drained */
};
RB_HEAD(sim_node_tree, sim_node);

/* --- all of it -------------------------------------------------------------------------------------------------- */

struct sim_scheduler {
	RB_HEAD(sim_active, sim_pod) active;
	RB_HEAD(sim_backing_off, sim_pod) backing_off;
	struct sim_pod_list unschedulable; /* in order of .since */
	struct sim_alarm *next, *wake;
	unsigned heard; /* needs that news came for since the present decision began */
	/* The last failure: pods of the same shape fail the same way as long as nothing changed. */
	uint64_t failed_shape, failed_version;
	char *failed_message;
	unsigned failed_needs;
};

struct sim_podgc {
	struct sim_alarm *alarm;
	struct sim_pod_list suspects;
	size_t terminal; /* pods in a terminal phase */
};

struct sim_moment {
	kar_time second;
	struct sim_value *value;
};

struct sim_zone;   /* lifecycle.c */
struct sim_budget; /* disruption.c */

struct sim_nodes {
	struct sim_apiserver *server;
	struct sim_timeline *timeline;
	struct sim_nodes_options options;
	struct sim_random random; /* of the node controllers; pods have their own, see mirror.c */
	struct sim_resource_names names;
	struct sim_pods pods;
	struct sim_node_tree nodes;
	struct sim_pod_list anti; /* counted pods with required anti-affinity */
	uint64_t n_seen_pods, version /* of what scheduling depends on */, events;
	unsigned n_seen_nodes;
	size_t n_nodes, n_ready; /* Node objects */
	struct sim_scheduler scheduler;
	struct sim_podgc podgc;
	TAILQ_HEAD(, sim_zone) zones;
	TAILQ_HEAD(, sim_budget) budgets;
	struct sim_alarm *disruption;
	struct sim_value *words[256]; /* words.c */
	struct sim_moment moments[16];
};

#define SIM_USER_SCHEDULER "system:kube-scheduler"
#define SIM_USER_CONTROLLER "system:kube-controller-manager"

/* --- mirror.c --- */
RB_PROTOTYPE(sim_pods, sim_pod, link, unused)
RB_PROTOTYPE(sim_node_tree, sim_node, link, unused)
/* Takes over what is there and listens. */
void sim_mirror_start(struct sim_nodes *n) KAR_NONNULL;
void sim_mirror_stop(struct sim_nodes *n) KAR_NONNULL;
struct sim_pod *sim_mirror_pod(struct sim_nodes *n, const char *ns, const char *name) KAR_NONNULL;
/* Also a node without an object; NULL: not even that. */
struct sim_node *sim_mirror_node(struct sim_nodes *n, const char *name) KAR_NONNULL;
/* Adds (+1) or takes away (-1) a pod from the usage of its node. */
void sim_mirror_count(struct sim_node *node, const struct sim_pod *p, int sign) KAR_NONNULL;

/* --- calls.c: every write; each returns the HTTP code --- */
/* @consumed: the new status of the pod or node. */
int sim_put_pod_status(struct sim_pod *p, const char *user, struct sim_value *consumed) KAR_NONNULL;
int sim_put_node_status(struct sim_node *node, const char *user, struct sim_value *consumed) KAR_NONNULL;
/* @consumed: the new spec. */
int sim_put_node_spec(struct sim_node *node, const char *user, struct sim_value *consumed) KAR_NONNULL;
/* @budget: the PodDisruptionBudget as it is. */
int sim_put_budget_status(struct sim_nodes *n, const struct sim_value *budget,
	struct sim_value *consumed) KAR_NONNULL;
/* With the pod's UID as precondition. @grace in seconds, -1: the pod's own. @p may be freed by it. */
int sim_call_delete(struct sim_pod *p, const char *user, int64_t grace) KAR_NONNULL;
int sim_call_evict(struct sim_pod *p, const char *user) KAR_NONNULL;
int sim_call_bind(struct sim_pod *p, const struct sim_node *node) KAR_NONNULL;
/* Sets condition DisruptionTarget, unless it is already so; phase Failed too if @fail and the phase is not terminal. */
void sim_call_disrupt(struct sim_pod *p, const char *user, const char *reason, const char *message, bool fail)
	__attribute__((nonnull(1, 2)));
/* "system:node:NAME" in @out, which is returned. */
const char *sim_node_user(const struct sim_node *node, char out[SIM_NAME_MAX + 16]) KAR_NONNULL KAR_RETNN;
/* Writes an Event about @object (of @kind), if events are wanted. */
void sim_nodes_event(struct sim_nodes *n, const char *kind, const struct sim_value *object,
	const char *component, const char *type, const char *reason, const char *fmt, ...) KAR_PRINTF(7, 8);

/* --- words.c: new references to texts that are shared --- */
struct sim_value *sim_word(struct sim_nodes *n, const char *text) KAR_MUSTUSE KAR_NONNULL KAR_RETNN;
struct sim_value *sim_moment(struct sim_nodes *n, kar_time wall) KAR_MUSTUSE KAR_NONNULL KAR_RETNN;
struct sim_value *sim_now(struct sim_nodes *n) KAR_MUSTUSE KAR_NONNULL KAR_RETNN;
void sim_words_release(struct sim_nodes *n) KAR_NONNULL;

/* --- conditions.c: trees --- */
/* @object may be absent. */
const struct sim_value *sim_find_condition(const struct sim_value *object, const char *type)
	__attribute__((nonnull(2)));
bool sim_has_condition(const struct sim_value *object, const char *type, const char *status)
	__attribute__((nonnull(2, 3)));
struct sim_condition {
	const char *type, *status, *reason, *message; /* reason, message: NULL: none */
};
/*
 * Sets the condition in *@conditions (an array, or NULL), now. lastTransitionTime changes with the status only. False if
 * there was nothing to change. @generation: observedGeneration, 0: none.
 */
bool sim_set_condition(struct sim_nodes *n, struct sim_value **conditions, const struct sim_condition *c,
	int64_t generation) KAR_NONNULL;
/* For a node: with lastHeartbeatTime instead of lastProbeTime. */
bool sim_set_node_condition(struct sim_nodes *n, struct sim_value **conditions,
	const struct sim_condition *c) KAR_NONNULL;
/* metav1.Condition: without times of looks. */
bool sim_set_plain_condition(struct sim_nodes *n, struct sim_value **conditions,
	const struct sim_condition *c, int64_t generation) KAR_NONNULL;
const struct sim_value *sim_taint_find(const struct sim_value *node, const char *key,
	const char *effect) KAR_NONNULL;
bool sim_tolerates(const struct sim_value *toleration, const struct sim_value *taint) KAR_NONNULL;
/* The first toleration in the pod's list that tolerates @taint; NULL: none. */
const struct sim_value *sim_toleration_of(const struct sim_value *pod,
	const struct sim_value *taint) KAR_NONNULL;

/* --- kubelet.c --- */
void sim_kubelet_init(struct sim_pod *p) KAR_NONNULL;
void sim_kubelet_release(struct sim_pod *p) KAR_NONNULL;
void sim_kubelet_see_pod(struct sim_pod *p) KAR_NONNULL;
/* The node fell silent, or is back: its pods' alarms stop or go on. */
void sim_kubelet_pause(struct sim_node *node) KAR_NONNULL;
void sim_kubelet_resume(struct sim_node *node) KAR_NONNULL;
/* Ends the pod at once for want of memory. */
void sim_kubelet_evict(struct sim_pod *p) KAR_NONNULL;

/* --- kubelet_status.c --- */
enum sim_state { SIM_STATE_WAITING, SIM_STATE_RUNNING, SIM_STATE_TERMINATED };
struct sim_report {
	const char *phase, *reason, *message;     /* of the pod; reason, message may be NULL */
	enum sim_state state;                     /* of all containers */
	const char *state_reason, *state_message; /* waiting, terminated; may be NULL */
	bool was_terminated;                      /* lastState: how the run before ended (run.end) */
	bool evicted;                             /* condition DisruptionTarget, with `message` */
};
/* The pod's status as its kubelet reports it now; new value. */
struct sim_value *sim_kubelet_status(const struct sim_pod *p,
	const struct sim_report *r) KAR_MUSTUSE KAR_NONNULL KAR_RETNN;

/* --- kubelet_node.c --- */
void sim_kubelet_see_node(struct sim_node *node) KAR_NONNULL;
/* Alarm of sim_node.kubelet. */
void sim_kubelet_report_node(void *arg);

/* --- scheduler.c --- */
void sim_scheduler_init(struct sim_nodes *n) KAR_NONNULL;
void sim_scheduler_release(struct sim_nodes *n) KAR_NONNULL;
/* @changed: what the scheduler looks at (spec, labels) is new. */
void sim_scheduler_see_pod(struct sim_pod *p, bool changed) KAR_NONNULL;
void sim_scheduler_forget(struct sim_pod *p) KAR_NONNULL;
/* Something happened that may help pods that wait for one of @needs. */
void sim_scheduler_news(struct sim_nodes *n, unsigned needs) KAR_NONNULL;
void sim_scheduler_nominate(struct sim_pod *p, struct sim_node *node) __attribute__((nonnull(1)));

/* --- scheduler_cycle.c --- */
/* Decides about one pod that was taken from the queue. False: not bound; its needs are set, or 0 if a call failed. */
bool sim_scheduler_try(struct sim_pod *p) KAR_NONNULL;

/* --- scheduler_gang.c --- */
/* Its PodGroup has fewer pods than minMember. */
bool sim_scheduler_gang_waits(const struct sim_pod *p) KAR_NONNULL;

/* --- scheduler_filter.c --- */
struct sim_domain {
	const char *key, *value; /* of a node label; borrowed */
};
struct sim_domains {
	struct sim_domain *items; /* owned */
	size_t n;
};
/* Reasons and the number of nodes each holds for. */
struct sim_reasons {
	struct {
		const char *text; /* static, or of sim_resource_names */
		unsigned nodes;
	} items[64];
	size_t n;
	unsigned needs; /* SIM_NEEDS_: what may help */
};
void sim_reasons_add(struct sim_reasons *r, const char *text, unsigned nodes) KAR_NONNULL;
/* " 2 Insufficient cpu, 1 Too many pods." appended, in the order of the texts; nothing if there is none. */
void sim_reasons_print(const struct sim_reasons *r, struct kar_buf *out) KAR_NONNULL;

/* One decision about one pod. */
struct sim_cycle {
	struct sim_pod *pod;
	struct sim_domains attracted, repelled,
		refused;    /* by own affinity, own anti-affinity, other pods' anti-affinity */
	bool first_of_kind; /* own affinity: no pod matches anywhere, but it matches itself */
	bool uses_pods;     /* any of these three can matter */
};
void sim_cycle_init(struct sim_cycle *c, struct sim_pod *p) KAR_NONNULL;
/* Reads the pods again (some were taken away, or put back). */
void sim_cycle_refresh(struct sim_cycle *c) KAR_NONNULL;
void sim_cycle_release(struct sim_cycle *c) KAR_NONNULL;
/* Does the pod fit? Why not is added to @why (may be NULL). */
enum sim_verdict sim_scheduler_filter(const struct sim_cycle *c, struct sim_node *node,
	struct sim_reasons *why) __attribute__((nonnull(1, 2)));

/* --- scheduler_affinity.c --- */
bool sim_node_selected(const struct sim_pod *p,
	const struct sim_node *node) KAR_NONNULL; /* nodeSelector, node affinity */
bool sim_pods_agree(const struct sim_cycle *c, const struct sim_node *node, const char **why,
	bool *resolvable) KAR_NONNULL;

/* --- scheduler_preempt.c --- */
/*
 * Tries to make room on one of the nodes with verdict SIM_UNSUITABLE: deletes pods of lower priority. The node, or NULL;
 * appends to @message what a preemption has to say.
 */
struct sim_node *sim_scheduler_preempt(struct sim_cycle *c, struct kar_buf *message) KAR_NONNULL;

/* --- lifecycle.c, eviction.c, podgc.c, disruption.c, drain.c --- */
void sim_lifecycle_see_node(struct sim_node *node, bool readiness_changed) KAR_NONNULL;
/* The kubelet fell silent, or was heard again. */
void sim_lifecycle_silent(struct sim_node *node) KAR_NONNULL;
void sim_lifecycle_heard(struct sim_node *node) KAR_NONNULL;
void sim_lifecycle_notice(void *arg); /* alarm of sim_node.health */
void sim_lifecycle_taint(void *arg);  /* alarm of sim_node.taints */
void sim_lifecycle_release(struct sim_nodes *n) KAR_NONNULL;
void sim_eviction_see_pod(struct sim_pod *p) KAR_NONNULL;
void sim_eviction_see_node(struct sim_node *node) KAR_NONNULL;
void sim_eviction_release(struct sim_pod *p) KAR_NONNULL;
void sim_podgc_init(struct sim_nodes *n) KAR_NONNULL;
void sim_podgc_release(struct sim_nodes *n) KAR_NONNULL;
void sim_podgc_see_pod(struct sim_pod *p) KAR_NONNULL;
void sim_podgc_see_node(struct sim_node *node) KAR_NONNULL;
void sim_podgc_forget(struct sim_pod *p) KAR_NONNULL;
void sim_disruption_init(struct sim_nodes *n) KAR_NONNULL;
void sim_disruption_release(struct sim_nodes *n) KAR_NONNULL;
void sim_disruption_see_pods(struct sim_nodes *n) KAR_NONNULL;
/* @value NULL: it is gone. */
void sim_disruption_see_budget(struct sim_nodes *n, const char *ns, const char *name,
	const struct sim_value *value) __attribute__((nonnull(1, 2, 3)));
void sim_drain_start(struct sim_node *node) KAR_NONNULL;

#endif
