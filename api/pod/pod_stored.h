/*
 * pod_stored - what the API server makes of a pod that it is asked to create: what admission adds to the template counts, such as defaults
 * of a LimitRange, overhead of a RuntimeClass, tolerations, and scheduling gates. Pure.
 */
#ifndef KAR_API_POD_STORED_H
#define KAR_API_POD_STORED_H

#include "common/base/mem.h"
#include "common/base/str.h"

struct kar_pod_needs;
struct kar_pod_stored {
	const char *gate; /* the first scheduling gate that is not ours; NULL: it has none */
	/* As pod_needs.h says, without the pin; NULL: it has a node, so this would say less than the pod needs. */
	const struct kar_pod_needs *needs;
};

struct pod_wire;

/* @w: the answer to the create of a pod, or to a dry run of that. All is in @a, with texts of @w. */
struct kar_pod_stored kar_pod_stored_of(const struct pod_wire *w, struct kar_arena *a) KAR_NONNULL;

#endif
