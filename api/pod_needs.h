/*
 * pod_needs - what a pod needs of a node (common/sched/needs.h), as one text.
 *
 * The text is canonical JSON: equal needs have equal texts, whatever the order of maps and lists that have none. So all pods of a
 * template share one interned string, and comparing two needs is comparing two pointers. What the scheduler does not ask for, such as
 * preferences, is not in it.
 *
 *   {"affinity":[{"all":[{"key":"zone","op":"In","values":["a"]},{"field":true,"op":"NotIn","values":["n1"]}]}],"node":"n",
 *    "ports":[{"ip":"10.0.0.1","port":80,"protocol":"UDP"}],"requests":{"cpu":1500,"nvidia.com/gpu":1},"selector":{"disk":"ssd"},
 *    "tolerations":[{"effect":"NoSchedule","key":"infra","value":"x"}],"unverified":"volumes"}
 *
 * Absent is: the IP address 0.0.0.0, the protocol TCP, the value of a toleration of any value, and whatever is empty but for
 * "affinity", which no node satisfies then. A pod that has a node has "ports" and "requests" alone.
 *
 * A text has less than KAR_POD_NEEDS_BYTES. Needs that are longer keep their requests, and are unverified: "a long list of constraints".
 */
#ifndef KAR_API_POD_NEEDS_H
#define KAR_API_POD_NEEDS_H

#include "common/err.h"
#include "common/mem.h"
#include "common/sched/needs.h"

enum {
	KAR_POD_NEEDS_BYTES = 2048,
	KAR_POD_NEEDS_REQUESTS =
		64, /* resources; those beyond it, or beyond half of the bytes, are left out */
};

/* Fills in @out, its arrays and strings in @a. -1: @text is no such text (KAR_INVALID). */
int kar_pod_needs_parse(const char *text, struct kar_arena *a, struct kar_pod_needs *out, struct kar_err *err)
	__attribute__((nonnull(1, 2, 3)));

/*
 * The text for a pod of the PodTemplateSpec @raw (its JSON), in @a, as far as the template says: admission may add to it. *@pin (may be
 * NULL) becomes the only node that its affinity allows, or NULL, as kar_pod.pin. NULL: it cannot be read, with @err.
 */
const char *kar_template_needs(struct kar_str raw, struct kar_arena *a, const char **pin, struct kar_err *err)
	__attribute__((nonnull(2)));

#endif
