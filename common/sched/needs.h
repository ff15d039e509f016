/*
 * needs - what a pod needs of a node, and what a node offers: the two sides of a placement. Pure, and read-only here: whoever fills
 * these structs in owns their memory, and all strings and arrays are borrowed.
 *
 * The rules are those of kube-scheduler v1.37 (plugins NodeResourcesFit, NodePorts, NodeUnschedulable, TaintToleration, NodeAffinity,
 * NodeName); what it also checks and is not modelled here is named by .unverified.
 */
#ifndef KAR_SCHED_NEEDS_H
#define KAR_SCHED_NEEDS_H

#include "common/base/shape.h"

/* Thousandths of "cpu", else whole units, rounded up. At most KAR_SCHED_MOST, so that the sum of what 1000 pods ask for is exact. */
struct kar_sched_amount {
	const char *resource;
	int64_t amount;
};
#define KAR_SCHED_MOST ((int64_t)1 << 53)

struct kar_sched_label {
	const char *key, *value;
};

enum kar_effect { KAR_NO_EFFECT, KAR_NO_SCHEDULE, KAR_PREFER_NO_SCHEDULE, KAR_NO_EXECUTE };

struct kar_taint {
	const char *key, *value; /* value: never NULL */
	enum kar_effect effect;
};

struct kar_toleration {
	const char *key;        /* NULL: all keys, and .exists is set */
	const char *value;      /* never NULL */
	enum kar_effect effect; /* KAR_NO_EFFECT: all */
	bool exists;            /* whatever the value */
	bool unknown;           /* an operator that is not modelled: tolerates nothing here */
};

enum kar_operator { KAR_OP_IN, KAR_OP_NOT_IN, KAR_OP_EXISTS, KAR_OP_DOES_NOT_EXIST, KAR_OP_GT, KAR_OP_LT };

/* Of a label of the node, or (.field) of its name. */
struct kar_requirement {
	const char *key; /* of a label; a field is always metadata.name */
	enum kar_operator op;
	bool field;
	const char *const *values;
	uint32_t n_values;
};

/* Holds if all its requirements hold; a term without any never holds. */
struct kar_node_term {
	const struct kar_requirement *requirements;
	uint32_t n;
};

struct kar_host_port {
	const char *ip;       /* "0.0.0.0" meets every other */
	const char *protocol; /* "TCP" */
	int32_t port;
};

struct kar_pod_needs {
	/* What it requests, by name of the resource, without 0. One of "pods" is added by the scheduler, but for room alone. */
	const struct kar_sched_amount *amounts;
	uint32_t n_amounts;
	bool room_only; /* not a pod: what is held for pods that do not exist yet */
	const struct kar_host_port *ports;
	uint32_t n_ports;
	/* What it asks of the node; absent for a pod that is bound. */
	const struct kar_sched_label *selector; /* spec.nodeSelector: all must be there */
	uint32_t n_selector;
	bool has_terms; /* there is a required node affinity: one of the terms must hold, also if there is none */
	const struct kar_node_term *terms;
	uint32_t n_terms;
	const struct kar_toleration *tolerations;
	uint32_t n_tolerations;
	const char
		*node; /* spec.nodeName of a template: only this node, and only its room counts; NULL: any */
	/* "pod affinity", "topology spread" ...: what else kube-scheduler checks for it; NULL: nothing. A fit is then no promise. */
	const char *unverified;
};

extern const struct kar_pod_needs kar_no_needs;
/* By which equal needs are found, and their parts. */
extern const struct kar_shape kar_needs_shape, kar_port_shape, kar_label_shape, kar_requirement_shape,
	kar_term_shape, kar_toleration_shape;

struct kar_node_offer {
	const char *name;
	const struct kar_sched_amount *allocatable; /* with "pods" */
	uint32_t n_allocatable;
	const struct kar_sched_label *labels;
	uint32_t n_labels;
	const struct kar_taint *taints;
	uint32_t n_taints;
	bool ready;    /* condition Ready=True */
	bool cordoned; /* spec.unschedulable */
};

/* Why a node cannot take a pod, in the order in which it is asked. The room comes last. */
enum kar_obstacle {
	KAR_FITS,
	KAR_OTHER_NODE, /* .node names another */
	KAR_NOT_READY,
	KAR_CORDONED,
	KAR_TAINTED,
	KAR_EXCLUDED, /* by selector or affinity */
	KAR_PORT_IN_USE,
	KAR_LACKS_ROOM,
	KAR_N_OBSTACLES,
};

/*
 * Everything that does not depend on other pods: KAR_FITS, or the first obstacle up to KAR_EXCLUDED. *@taint (may be NULL) becomes the
 * key of the taint for KAR_TAINTED, borrowed from @node.
 */
enum kar_obstacle kar_sched_match(const struct kar_node_offer *node, const struct kar_pod_needs *pod,
	const char **taint) __attribute__((nonnull(1, 2)));
/* The same if the node is ready, not cordoned and not under pressure: what is left may be so for ever. */
enum kar_obstacle kar_sched_match_at_best(const struct kar_node_offer *node, const struct kar_pod_needs *pod,
	const char **taint) __attribute__((nonnull(1, 2)));
/*
 * Is it a node for work? It is ready, not cordoned, and has no taint NoSchedule or NoExecute of Kubernetes itself: node.kubernetes.io/,
 * node-role.kubernetes.io/. Other taints are for pods that tolerate them.
 */
bool kar_sched_usable(const struct kar_node_offer *node) KAR_NONNULL;
/* May two pods with these ports not be on one node? */
bool kar_sched_ports_meet(const struct kar_host_port *a, const struct kar_host_port *b) KAR_NONNULL;

#endif
