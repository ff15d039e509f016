/*
 * flavor - Flavor (cluster-scoped, kube-arbitrator.io/v1alpha1): a kind of nodes, by their labels, of which queues have rights of their own
 * (docs/QUEUES.md).
 */
#ifndef KAR_API_FLAVOR_H
#define KAR_API_FLAVOR_H

#include <assert.h>

#include "api/status/status_fields.h"
#include "common/codec/decode.h"
#include "common/kube/object.h"
#include "common/sched/needs.h"

struct kar_flavor_status {
	int32_t nodes;     /* that are of it */
	int32_t ambiguous; /* of these: another flavor matches with as many labels, and comes after it by name */
	struct kar_array allocatable; /* struct kar_pair: of all its nodes that are usable */
};

/* Table of the status (api/status/status_fields.h). */
extern const struct kar_desc kar_flavor_status_table;

/* What a pod gets that goes to nodes of it. */
struct kar_flavor_terms {
	struct kar_array labels; /* struct kar_pair, for its nodeSelector; none: it has no flavor */
	const char *tolerations; /* JSON objects, separated by commas; NULL or "": none */
};
struct kar_flavor_terms kar_flavor_terms_copy(const struct kar_flavor_terms *from,
	struct kar_arena *a) KAR_NONNULL;

enum { KAR_FLAVOR_LABELS = 16, KAR_FLAVOR_TOLERATIONS = 16 };

struct kar_flavor {
	struct kar_object o; /* first */
	struct kar_arena mem;
	struct kar_flavor_terms terms; /* at most KAR_FLAVOR_LABELS labels; without any no node is of it */
	struct kar_toleration tolerations[KAR_FLAVOR_TOLERATIONS];
	uint32_t n_tolerations;
	struct kar_flavor_status status;
};

extern const struct kar_type kar_flavor_type;

static inline const struct kar_flavor *kar_as_flavor(const struct kar_object *o)
{
	assert(o && o->type == &kar_flavor_type);
	return (const struct kar_flavor *)(const void *)o;
}

/* Do both have the same spec? */
bool kar_flavor_same(const struct kar_flavor *a, const struct kar_flavor *b) KAR_NONNULL;
/* How many labels of the node it names; 0: it does not match. The labels are sorted. */
uint32_t kar_flavor_matches(const struct kar_flavor *f, const struct kar_node_offer *node) KAR_NONNULL;
/*
 * The flavor of the node: the one of @all that matches with most labels, of equals the first by name; NULL: none does. *@ambiguous (may be NULL):
 * another one matches with as many.
 */
const struct kar_flavor *kar_flavor_of(const struct kar_flavor *const *all, uint32_t n,
	const struct kar_node_offer *node, bool *ambiguous) __attribute__((nonnull(3)));

#endif
