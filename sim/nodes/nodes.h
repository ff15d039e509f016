/*
 * nodes - what runs the pods of a simulated cluster: nodes with their kubelets, the default scheduler, and the controllers of
 * kube-controller-manager that look after nodes and their pods (node life cycle, taint eviction, pod garbage collection,
 * status of PodDisruptionBudgets).
 *
 * They see the cluster through sim_apiserver_listen() and write through sim_apiserver_call(), as the users
 * "system:node:NAME", "system:kube-scheduler" and "system:kube-controller-manager"; every write comes from an alarm of the
 * timeline. Every Node object gets a kubelet, whoever created it. Everything is a function of the seed.
 *
 * A pod chooses what happens to it by annotations; the first five mean the same in test/cluster (stages.yaml there):
 *   test.kube-arbitrator.io/outcome: run | succeed | fail | pending | oom | hang | pull-error | evict
 *     run: until deleted (the default, unless the options say otherwise); pending: bound, never starts; oom: killed, 137;
 *     hang: ignores SIGTERM until the grace period is over; pull-error: ImagePullBackOff; evict: by node pressure
 *   test.kube-arbitrator.io/after: 5s            time from running to the outcome, default 0
 *   test.kube-arbitrator.io/exit-code: "3"       of a container that fails, default 1
 *   test.kube-arbitrator.io/start-after: 2s      time from bound to running
 *   test.kube-arbitrator.io/stop-after: 2s       time from SIGTERM to stopped; the grace period cuts it (137)
 *   test.kube-arbitrator.io/stop-exit-code: "0"  of a container that was told to stop, default 143
 *   test.kube-arbitrator.io/crash-after: 5s      the first runs of the containers end so, with exit-code
 *   test.kube-arbitrator.io/crashes: "2"         how many runs, default 1; restartPolicy decides what follows
 *   test.kube-arbitrator.io/last-words: text     termination message of the containers, however they end
 * Annotations that are changed later are obeyed from then on. What is not such a value counts as absent. All containers of a pod do the same; init containers succeed at once.
 *
 * Differences from the real components: no heartbeats (neither Lease nor status), the silence of a kubelet is noticed 40 to
 * 50 s after it began; the scheduler ignores volumes, topology spread constraints, preferred affinity and, when it
 * preempts, PodDisruptionBudgets, looks at waiting pods after any change of a node, also one that cannot help them, and keeps the
 * back-off of a pod also when it has nothing else to do; kubelets know no
 * probes and no readiness gates, and do not take turns between ErrImagePull and ImagePullBackOff; events are not counted up.
 */
#ifndef SIM_NODES_H
#define SIM_NODES_H

#include "sim/apiserver/apiserver.h"

struct sim_nodes;

/* Milliseconds from @low to @high, drawn per use. */
struct sim_range {
	kar_time low, high;
};

struct sim_nodes_options {
	uint64_t seed;
	/* Pods without the annotation concerned. */
	struct sim_range start;  /* from bound to running */
	struct sim_range stop;   /* from SIGTERM to stopped */
	struct sim_range run;    /* from running to the end; high 0 or restartPolicy Always: until deleted */
	unsigned fail_per_mille; /* of those that end: with exit code 1 */
	kar_time decision;       /* ms the scheduler takes for one pod */
	bool no_scheduler;
	bool no_preemption;
	bool gangs; /* a pod of a PodGroup is not bound before minMember of them are there, by label; ended ones do not count */
	bool events;            /* also write Event objects, for people */
	size_t terminated_pods; /* kept by the pod garbage collector; 0: 12500, as kube-controller-manager */
};

/* @s is borrowed and must outlive the nodes; objects that it already has are taken over. @o is copied. */
struct sim_nodes *sim_nodes_new(struct sim_apiserver *s,
	const struct sim_nodes_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Accepts NULL. @s must not be written to afterwards. */
void sim_nodes_free(struct sim_nodes *n);

struct sim_node_options {
	const char *name;
	const struct sim_value
		*capacity; /* {"cpu": "8", "example.com/gpu": 4}; missing: cpu 64, memory 256Gi, pods 250 */
	const struct sim_value *labels; /* besides those every kubelet sets; may be NULL */
	const struct sim_value *taints; /* may be NULL */
};
/* The following are requests to the API server, answered at once; none may be called by a listener. 0, or -1 with @err. */

/* Creates the Node; its kubelet reports it Ready in the same millisecond. */
int sim_nodes_add(struct sim_nodes *n, const struct sim_node_options *o, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
/* Deletes the Node; its kubelet is gone with it, its pods are left to the pod garbage collector. */
int sim_nodes_remove(struct sim_nodes *n, const char *name, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
int sim_nodes_cordon(struct sim_nodes *n, const char *name, bool on, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
/* kubectl drain: cordons, evicts all pods, tries again every 5 s what a PodDisruptionBudget refused, until the node is empty. */
int sim_nodes_drain(struct sim_nodes *n, const char *name, struct kar_err *err)
	__attribute__((nonnull(1, 2)));

enum sim_loss {
	SIM_LOSS_NETWORK, /* the containers go on; what happened is reported when the node is back */
	SIM_LOSS_POWER,   /* the containers are dead when it is back: exit code 255 */
};
/* The kubelet falls silent. */
int sim_nodes_kill(struct sim_nodes *n, const char *name, enum sim_loss loss, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
int sim_nodes_recover(struct sim_nodes *n, const char *name, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
/*
 * The node is low on memory for @duration ms: condition MemoryPressure, and every 10 s the least important pod is evicted
 * (lowest priority, then the latest started).
 */
int sim_nodes_pressure(struct sim_nodes *n, const char *name, kar_time duration, struct kar_err *err)
	__attribute__((nonnull(1, 2)));

/* --- other_user.c: somebody else's pods --------------------------------------------------------------------- */

struct sim_other_user;
struct sim_other_user_options {
	uint64_t seed;
	const char *ns;             /* must exist; NULL: "default" */
	const char *priority_class; /* one that exists; NULL: none */
	struct sim_range pause;     /* between two pods */
	struct sim_range run;       /* how long each runs */
	int64_t cpu_low, cpu_high;  /* thousandths of a CPU each asks for */
	size_t most;                /* pods that exist at once */
	unsigned delete_per_mille;  /* of the pods: deleted before their time */
};
/* Creates bare pods "other-NUMBER" until freed, and deletes those that have ended. The pods stay when it is freed. */
struct sim_other_user *sim_other_user_new(struct sim_apiserver *s,
	const struct sim_other_user_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void sim_other_user_free(struct sim_other_user *u); /* accepts NULL */

#endif
