/*
 * pod_pin - the required node affinity of a template, with one node added to it.
 *
 * A pod is pinned by the field metadata.name in each term of its required node affinity: kube-scheduler then looks at this node only, and
 * checks everything else as well. What the template asks for stays: the terms keep their order, and one without any requirement, which
 * never matches, stays as it is.
 */
#ifndef KAR_API_POD_PIN_H
#define KAR_API_POD_PIN_H

#include "common/codec/decode.h"
#include "common/codec/json.h"

/* The part of "affinity" that a pin changes. */
struct kar_template_required {
	struct kar_str terms; /* nodeSelectorTerms, as served */
};
struct kar_template_node_affinity {
	struct kar_template_required required;
};
struct kar_template_affinity {
	struct kar_template_node_affinity node;
};
extern const struct kar_desc kar_template_affinity_desc;

/*
 * Writes the member "affinity" of an overlay over the template (kar_json_merge()) that pins the pod to @node. -1 with KAR_INVALID: the
 * template's own cannot be read. @arena: for what is needed meanwhile. @err may be NULL.
 */
int kar_pin_write(struct kar_json_writer *w, const struct kar_template_affinity *own, const char *node,
	struct kar_arena *arena, struct kar_err *err) __attribute__((nonnull(1, 2, 3, 4)));

#endif
