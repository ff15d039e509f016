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

/* Pods, by their namespace and their labels. */
struct kar_pod_set {
	const char *const *namespaces; /* sorted; none: all, but for .own */
	uint32_t n_namespaces;
	const struct kar_requirement *labels; /* sorted; all must hold; none: whatever labels they have */
	uint32_t n_labels;
	bool own;     /* the namespace of whoever has the rule; nobody has it in the placement engine */
	bool nothing; /* no pod is in it */
	bool living;  /* without pods that terminate */
	bool unsure;  /* not all that is asked of its pods can be read: some of them may not be meant */
};

enum kar_rule_kind {
	KAR_ANTI_AFFINITY, /* no pod of the set in the domain of the node */
	KAR_AFFINITY,      /* at least one; the first of all may go anywhere if it is in the set itself */
	KAR_SPREAD,        /* at most .max_skew more of them than in the domain that has the fewest */
};

/* What a pod asks of the pods in the domain of its node: the nodes that have the same value of a label. */
struct kar_pod_rule {
	enum kar_rule_kind kind;
	const char *key; /* of the label */
	struct kar_pod_set of;
	int32_t max_skew, min_domains; /* of KAR_SPREAD, as all below */
	bool any_affinity;             /* nodes count that its selector and affinity exclude, too */
	bool only_tolerated;           /* nodes count only if it tolerates their taints */
};

#define KAR_HOSTNAME_LABEL "kubernetes.io/hostname"

/* A volume of a pod whose PersistentVolumeClaim says on which nodes it can be. */
struct kar_volume_need {
	const char *claim; /* in the namespace of the pod; NULL: it is made with the pod */
	const char *class; /* StorageClass of one that is made with the pod; NULL: the default class */
};

/* Devices of a pod (spec.resourceClaims). */
struct kar_claim_need {
	const char *name;     /* in the pod */
	const char *claim;    /* ResourceClaim of its namespace; NULL: it is made with the pod */
	const char *template; /* ResourceClaimTemplate of which that one is made; NULL: .claim is named */
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
	/* What it asks of other pods; of a pod that is bound anti-affinity alone, which keeps others away. */
	const struct kar_pod_rule *rules;
	/* The sets in which it is, as far as somebody has rules about them. */
	const struct kar_pod_set *sets;
	uint32_t n_rules, n_sets;
	/* Volumes that have not been looked up: a class of needs with any is for their room alone (controllers/cluster/volumes.h). */
	const struct kar_volume_need *volumes;
	/* Likewise devices (controllers/cluster/claims.h); those of a bound pod, too. */
	const struct kar_claim_need *claims;
	uint32_t n_volumes, n_claims;
	const char
		*node; /* spec.nodeName of a template: only this node, and only its room counts; NULL: any */
	/* "pod affinity", "topology spread" ...: what else kube-scheduler checks for it; NULL: nothing. A fit is then no promise. */
	const char *unverified;
};

extern const struct kar_pod_needs kar_no_needs;
/* By which equal needs are found, and their parts. */
extern const struct kar_shape kar_needs_shape, kar_port_shape, kar_volume_shape, kar_claim_shape,
	kar_label_shape, kar_requirement_shape, kar_term_shape, kar_toleration_shape, kar_set_shape,
	kar_rule_shape;

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
	KAR_TAKEN,          /* by its own anti-affinity, which it meets itself: a copy is there */
	KAR_UNLIKED,        /* by its own anti-affinity */
	KAR_UNLIKED_THERE,  /* by that of a pod there */
	KAR_LACKS_COMPANY,  /* by its affinity */
	KAR_SPREAD_TOO_FAR, /* by its topology spread */
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
/* Does it suit by selector and affinity? @taints: and by its tolerations. */
bool kar_sched_counts_for_spread(const struct kar_node_offer *node, const struct kar_pod_needs *pod,
	bool affinity, bool taints) KAR_NONNULL;
/* Is a pod of namespace @ns with these labels in the set? Of .own the namespace is not looked at. @dying: it terminates. */
bool kar_pod_set_has(const struct kar_pod_set *set, const char *ns, const struct kar_sched_label *labels,
	uint32_t n, bool dying) __attribute__((nonnull(1, 2)));
/* May two pods with these ports not be on one node? */
bool kar_sched_ports_meet(const struct kar_host_port *a, const struct kar_host_port *b) KAR_NONNULL;

#endif
