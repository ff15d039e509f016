/*
 * topology_wish - what annotations of Kueue and KAI on pods, or on a template, ask for (docs/TOPOLOGY.md). They are read, and never written.
 *
 * A wish is one text, because the pods of a gang share it. NULL: none. A wish that cannot be acted upon is a text too, that says why.
 */
#ifndef KAR_API_TOPOLOGY_WISH_H
#define KAR_API_TOPOLOGY_WISH_H

#include "api/core/topology.h"
#include "api/copy.h"

#define KAR_ANNOTATION_TOPOLOGY_REQUIRED "kueue.x-k8s.io/podset-required-topology"
#define KAR_ANNOTATION_TOPOLOGY_PREFERRED "kueue.x-k8s.io/podset-preferred-topology"
#define KAR_ANNOTATION_TOPOLOGY_NONE "kueue.x-k8s.io/podset-unconstrained-topology"
#define KAR_ANNOTATION_TOPOLOGY_SLICES "kueue.x-k8s.io/podset-slice-required-topology"
#define KAR_ANNOTATION_TOPOLOGY_SLICE_SIZE "kueue.x-k8s.io/podset-slice-size"
#define KAR_ANNOTATION_TOPOLOGY_REQUIRED_KAI "kai.scheduler/topology-required-placement"
#define KAR_ANNOTATION_TOPOLOGY_PREFERRED_KAI "kai.scheduler/topology-preferred-placement"
#define KAR_ANNOTATION_TOPOLOGY_KAI "kai.scheduler/topology"

enum { KAR_TOPOLOGY_WISH_BYTES = 3 * KAR_COPY_KEY + KAR_COPY_NAME + 16 };

/* The wish of a pod with these annotations, in @out; NULL: it has none. */
const char *kar_topology_wish_read(const struct kar_array *annotations,
	char out[KAR_TOPOLOGY_WISH_BYTES]) KAR_NONNULL;

/* The wishes of several pods together, in any order. Zero-initialise. */
struct kar_topology_wishes {
	const char *first,
		*last; /* by strcmp(), borrowed; "" is of those without a wish; NULL: there are no pods yet */
};
void kar_topology_wishes_add(struct kar_topology_wishes *w, const char *wish) __attribute__((nonnull(1)));
/* Why they are not acted upon, as a message: they cannot be, or differ; NULL: they are. */
const char *kar_topology_wishes_invalid(const struct kar_topology_wishes *w, struct kar_arena *a) KAR_NONNULL;
/* What they ask for, in @a; nothing if they are invalid. */
struct kar_topology_ask kar_topology_wishes_ask(const struct kar_topology_wishes *w,
	struct kar_arena *a) KAR_NONNULL;

#endif
