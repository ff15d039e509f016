/*
 * pod_wire - the decoded form of a pod, shared by the files that read it.
 */
#ifndef KAR_API_POD_WIRE_H
#define KAR_API_POD_WIRE_H

#include "api/pod.h"

struct pod_wire_gate {
	const char *name;
};

struct pod_wire_resources {
	struct kar_array requests; /* struct kar_pair */
};

/* A container in the spec: what it asks for. */
struct pod_wire_asking {
	const char *restart_policy;
	struct pod_wire_resources resources;
};

struct pod_wire_spec {
	const char *node, *restart_policy;
	int32_t priority;
	struct kar_array gates;                       /* struct pod_wire_gate */
	struct kar_array containers, init_containers; /* struct pod_wire_asking */
	struct pod_wire_resources resources;
	struct kar_array overhead; /* struct kar_pair */
};

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
};

struct pod_wire_status {
	const char *phase, *reason;
	struct kar_array conditions;                  /* struct pod_wire_condition */
	struct kar_array init_containers, containers; /* struct pod_wire_container */
};

struct pod_wire {
	struct kar_wire_object head;
	struct pod_wire_spec spec;
	struct pod_wire_status status;
};

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
