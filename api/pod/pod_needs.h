/*
 * pod_needs - what a pod needs of a node (common/sched/needs.h), as far as its spec says it.
 *
 * Lists whose order means nothing are sorted, and each element is in them once. So equal needs are equal structs, and all pods of a template
 * share one (kar_share_get()): comparing what two pods need is comparing two pointers. What the scheduler does not ask for, such as
 * preferences, is not in it. A pod that has a node has ports and amounts alone.
 *
 * Needs that take more than KAR_POD_NEEDS_BYTES keep their amounts, and are unverified: "a long list of constraints".
 */
#ifndef KAR_API_POD_NEEDS_H
#define KAR_API_POD_NEEDS_H

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/sched/needs.h"

enum {
	KAR_POD_NEEDS_BYTES = 3072, /* with all that they point to */
	KAR_POD_NEEDS_REQUESTS =
		64, /* resources; those beyond it, or beyond half of the bytes, are left out */
};

/*
 * Of a pod of the PodTemplateSpec @raw (its JSON), in @a, as far as the template says: admission may add to it. *@pin (may be NULL) becomes
 * the only node that its affinity allows, or NULL, as kar_pod.pin. NULL: it cannot be read, with @err.
 */
const struct kar_pod_needs *kar_template_needs(struct kar_str raw, struct kar_arena *a, const char **pin,
	struct kar_err *err) __attribute__((nonnull(2)));

struct pod_wire_node_terms;
/*
 * The terms of a node selector in .terms of @out, which is else empty, in @a and in @required. False: a part of them is not known, and they
 * hold for more nodes than they should.
 */
bool kar_node_terms(const struct pod_wire_node_terms *required, struct kar_arena *a,
	struct kar_pod_needs *out) KAR_NONNULL;

#endif
