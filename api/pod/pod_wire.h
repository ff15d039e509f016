/*
 * pod_wire - the decoded form of a pod, shared by the files that read it.
 */
#ifndef KAR_API_POD_WIRE_H
#define KAR_API_POD_WIRE_H

#include "api/pod/pod.h"
#include "common/sched/amounts.h"

struct pod_wire_gate {
	const char *name;
};

struct pod_wire_resources {
	struct kar_array requests, limits; /* struct kar_pair */
};

struct pod_wire_port {
	const char *protocol, *ip; /* .ip: of the host */
	int32_t host, container;   /* host 0: none */
};

/* A container in the spec: what it asks for. */
struct pod_wire_asking {
	const char *name, *restart_policy;
	struct pod_wire_resources resources;
	struct kar_array ports; /* struct pod_wire_port */
	struct kar_array rules; /* struct pod_wire_restart_rule */
};

/* What is done when the container ends in a certain way. */
struct pod_wire_restart_rule {
	const char *action;
};

struct pod_wire_requirement {
	const char *key, *op;
	struct kar_array values; /* const char * */
};

struct pod_wire_term {
	struct kar_array labels, fields; /* struct pod_wire_requirement */
};

struct pod_wire_node_terms {
	struct kar_array terms; /* struct pod_wire_term */
};

/* Something that is only asked whether it is there. */
struct pod_wire_present {
	char unused;
};

struct pod_wire_selector {
	struct kar_array labels;      /* struct kar_pair */
	struct kar_array expressions; /* struct pod_wire_requirement */
};

/* Of pod affinity or anti-affinity. */
struct pod_wire_pod_term {
	const char *key;
	const struct pod_wire_selector *selector, *ns_selector; /* NULL: absent */
	struct kar_array namespaces, label_keys, other_keys;    /* const char * */
};

struct pod_wire_affinity {
	struct {
		const struct pod_wire_node_terms *required;
	} node;
	struct pod_wire_pod_terms {
		struct kar_array required; /* struct pod_wire_pod_term */
	} pod, anti;
};

struct pod_wire_toleration {
	const char *key, *op, *value, *effect;
};

struct pod_wire_spread {
	const char *key, *otherwise;                /* .otherwise: whenUnsatisfiable */
	const char *affinity_policy, *taint_policy; /* NULL: absent */
	const struct pod_wire_selector *selector;   /* NULL: absent */
	struct kar_array label_keys;                /* const char * */
	int32_t max_skew, min_domains;              /* .min_domains 0: absent */
};

struct pod_wire_claim {
	const char *name;
};

/* Of spec.resourceClaims. */
struct pod_wire_device_claim {
	const char *name, *claim, *template;
};

/* A volume whose claim is made with the pod. */
struct pod_wire_ephemeral {
	struct {
		struct {
			const char *class; /* NULL: the default one */
		} spec;
	} template;
};

/* Of the volumes that kube-scheduler asks about: NULL: the volume is none of that kind. */
struct pod_wire_volume {
	const struct pod_wire_claim *claim;
	const struct pod_wire_ephemeral *ephemeral;
	const struct pod_wire_present *gce, *aws, *iscsi, *rbd;
};

struct pod_wire_group {
	const char *name;
};

struct pod_wire_spec {
	const char *node, *restart_policy, *scheduler, *priority_class;
	int64_t deadline; /* activeDeadlineSeconds */
	int32_t priority;
	bool has_deadline, host_network;
	bool host_users, has_host_users;              /* without it it is true */
	struct kar_array gates;                       /* struct pod_wire_gate */
	struct kar_array containers, init_containers; /* struct pod_wire_asking */
	struct pod_wire_resources resources;
	struct kar_array overhead, selector; /* struct kar_pair */
	struct pod_wire_affinity affinity;
	struct pod_wire_group group;  /* PodGroup of Kubernetes itself */
	struct kar_array tolerations; /* struct pod_wire_toleration */
	struct kar_array spread;      /* struct pod_wire_spread */
	struct kar_array claims;      /* struct pod_wire_device_claim */
	struct kar_array volumes;     /* struct pod_wire_volume */
};
extern const struct kar_desc pod_wire_spec_desc;
/* The spec in a PodTemplateSpec (its JSON), in @a; NULL: it cannot be read, with @err (may be NULL). */
const struct pod_wire_spec *pod_wire_template(struct kar_str raw, struct kar_arena *a, struct kar_err *err)
	__attribute__((nonnull(2)));
extern const struct kar_desc pod_wire_resources_desc, pod_wire_node_terms_desc;

struct pod_wire_condition {
	const char *type, *status, *reason, *message;
	kar_time since;
};

struct pod_wire_terminated {
	const char *reason, *message;
	int32_t exit_code;
	kar_time finished;
};

struct pod_wire_waiting {
	const char *reason, *message;
};

struct pod_wire_running {
	kar_time started;
};

struct pod_wire_state {
	const struct pod_wire_waiting *waiting;
	const struct pod_wire_running *running;
	const struct pod_wire_terminated *terminated;
};

struct pod_wire_container {
	const char *name, *image;
	struct pod_wire_state state, last;
	int32_t restarts;
	struct kar_array allocated;          /* struct kar_pair; what the node has set aside for it */
	struct pod_wire_resources resources; /* what it has */
};

struct pod_wire_status {
	const char *phase, *reason, *nominated;
	struct kar_array conditions;                  /* struct pod_wire_condition */
	struct kar_array init_containers, containers; /* struct pod_wire_container */
	struct kar_array allocated; /* struct kar_pair; as of a container, of a pod with spec.resources */
	struct pod_wire_resources resources; /* likewise */
};

struct pod_wire {
	struct kar_wire_object head;
	struct pod_wire_spec spec;
	struct pod_wire_status status;
};

/*
 * Adds what the pod as a whole requests, by common/sched/requests.h, to @out, which is empty. As the API server does, a limit stands in
 * for a request that is absent. @status (NULL: of a template): a pod that is being resized counts with the largest of what it
 * should have, what the node has set aside for it, and what it has.
 *
 * Returns false if it has so many amounts that it cannot be meant seriously; then @out has those of cpu, memory and ephemeral-storage.
 */
bool pod_wire_requests(const struct pod_wire_spec *spec, const struct pod_wire_status *status,
	struct kar_amounts *out) __attribute__((nonnull(1, 3)));
/* Likewise the limits. */
bool pod_wire_limits(const struct pod_wire_spec *spec, struct kar_amounts *out) KAR_NONNULL;

/* Fills in .charge of a pod that has not ended. */
void pod_charge_read(const struct pod_wire *w, struct kar_pod *p, struct kar_intern *strings) KAR_NONNULL;

/* What a pod asks of other pods. */
struct pod_rules {
	const struct kar_pod_rule *items; /* sorted */
	uint32_t n;
	const char *unverified[3]; /* what of it is not modelled, static texts */
	uint32_t n_unverified;
};
/* All is in @a, with texts of @spec. @bound: only what keeps others away from its node. */
void pod_rules_read(const struct pod_wire_spec *spec, bool bound, struct kar_arena *a,
	struct pod_rules *out) KAR_NONNULL;

/* What a pod of @spec that has no node needs (pod_needs.h), in @a, with texts of @spec. */
const struct kar_pod_needs *pod_needs_of(const struct pod_wire_spec *spec,
	struct kar_arena *a) KAR_NONNULL KAR_RETNN;
/* Fills in .needs and .pin of a pod that has not ended. */
void pod_needs_read(const struct pod_wire *w, struct kar_pod *p, struct kar_intern *strings) KAR_NONNULL;
/* The required terms of its node affinity as JSON, interned; NULL: it has none; "": they have more than KAR_POD_TERMS_BYTES. */
const char *pod_terms_read(const struct pod_wire_spec *spec, struct kar_intern *strings) KAR_NONNULL;

/* What kar_pod_more_labels() returns. */
const char *pod_labels_read(const struct kar_array *labels, struct kar_intern *strings) KAR_NONNULL;

/* What kar_pod_gang() returns. */
const char *pod_gang_read(const struct kar_wire_meta *m, struct kar_intern *strings) KAR_NONNULL;

/* The scheduler finds no node for it. */
bool pod_unplaced_is(const struct pod_wire *w) KAR_NONNULL;
/* Fills in the interned texts of @out. */
void pod_unplaced_read(const struct pod_wire *w, struct kar_pod_unplaced *out,
	struct kar_intern *strings) KAR_NONNULL;

enum kar_pod_phase pod_wire_phase(const char *name);
/* Interned, for texts that the API does not bound. A text that is cut ends in "...", so it matches no name and no reason of a rule. */
const char *pod_wire_name(struct kar_intern *strings, const char *name);
const char *pod_wire_reason(struct kar_intern *strings, const char *reason);

/* The loss and its lists, one after the other in memory. */
struct pod_loss_block {
	bool trouble;
	size_t n_exits, n_conditions,
		size; /* bytes; 0: the pod is not lost or stuck, and restarts no container */
};
struct pod_loss_block pod_loss_measure(const struct pod_wire *w, struct kar_intern *strings) KAR_NONNULL;
/* Fills the block at @at. */
const struct kar_pod_loss *pod_loss_read(const struct pod_wire *w, const struct pod_loss_block *b, char *at,
	struct kar_intern *strings) KAR_NONNULL;
/* Releases its interned strings. */
void pod_loss_forget(const struct kar_pod_loss *loss, struct kar_intern *strings) KAR_NONNULL;

#endif
