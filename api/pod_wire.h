/*
 * pod_wire - the decoded form of a pod, shared by the files that read it.
 */
#ifndef KAR_API_POD_WIRE_H
#define KAR_API_POD_WIRE_H

#include "api/pod.h"

struct pod_wire_gate {
	const char *name;
};

struct pod_wire_spec {
	const char *node;
	int32_t priority;
	struct kar_array gates; /* struct pod_wire_gate */
};

struct pod_wire_condition {
	const char *type, *status, *reason;
	kar_time since;
};

struct pod_wire_terminated {
	const char *reason;
	int32_t exit_code;
	kar_time finished;
};

struct pod_wire_waiting {
	const char *reason;
};

struct pod_wire_state {
	const struct pod_wire_waiting *waiting;
	const struct pod_wire_terminated *terminated;
};

struct pod_wire_container {
	const char *name;
	struct pod_wire_state state;
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

enum kar_pod_phase pod_wire_phase(const char *name);
/* Interned; of texts that nothing in the API bounds. What is cut ends in "...", so that it equals no name, and no reason of a rule. */
const char *pod_wire_name(struct kar_intern *strings, const char *name);
const char *pod_wire_reason(struct kar_intern *strings, const char *reason);

/* The loss and its lists in a row. */
struct pod_loss_block {
	size_t n_exits, n_conditions, size; /* bytes; 0: the pod is neither lost nor stuck */
};
struct pod_loss_block pod_loss_measure(const struct pod_wire *w, struct kar_intern *strings) KAR_NONNULL;
/* Fills the block at @at. */
const struct kar_pod_loss *pod_loss_read(const struct pod_wire *w, const struct pod_loss_block *b, char *at,
	struct kar_intern *strings) KAR_NONNULL;
/* Gives its strings back. */
void pod_loss_forget(const struct kar_pod_loss *loss, struct kar_intern *strings) KAR_NONNULL;

#endif
