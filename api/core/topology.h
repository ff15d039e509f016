/*
 * topology - Topology (cluster-scoped, kube-arbitrator.io/v1alpha1): the labels of nodes that say where these are, the widest first; and
 * what pods ask for by them (docs/TOPOLOGY.md).
 */
#ifndef KAR_API_TOPOLOGY_H
#define KAR_API_TOPOLOGY_H

#include <assert.h>

#include "api/status/condition.h"
#include "api/status/status_fields.h"
#include "common/codec/decode.h"
#include "common/kube/object.h"

enum { KAR_TOPOLOGY_LEVELS = 16 };

#define KAR_TOPOLOGY_VALID "Valid" /* type of a condition */

/* What a level means for the nodes that there are. */
struct kar_topology_level {
	const char *label;
	int32_t domains;
	int32_t nodes;         /* that are in one of them */
	int32_t without_label; /* the others: they have not this label, or not that of a wider level */
	int32_t ambiguous;     /* values that stand for more than one domain, below different ones */
};

struct kar_topology_status {
	struct kar_topology_level *levels;
	size_t n_levels;
	struct kar_conditions conditions;
};

/* Table of the status (api/status/status_fields.h). */
extern const struct kar_desc kar_topology_status_table;

struct kar_topology {
	struct kar_object o; /* first */
	struct kar_arena mem;
	int64_t generation;
	const char *levels[KAR_TOPOLOGY_LEVELS]; /* labels */
	uint32_t n;
	const char *invalid; /* why further levels are ignored, as a message for users; NULL: none are */
	struct kar_topology_status status;
};

extern const struct kar_type kar_topology_type;

static inline const struct kar_topology *kar_as_topology(const struct kar_object *o)
{
	assert(o && o->type == &kar_topology_type);
	return (const struct kar_topology *)(const void *)o;
}

/* Do both have the same levels? Their statuses do not matter. */
bool kar_topology_same(const struct kar_topology *a, const struct kar_topology *b) KAR_NONNULL;

/* Every .size pods of a task that follow each other are in one domain of the level. */
struct kar_topology_slice {
	int32_t size;
	const char *required;
};

/* Labels of levels. NULL: not asked for. */
struct kar_topology_ask {
	const char *required;  /* all pods in one domain of this level */
	const char *preferred; /* of this one if possible, else of the next wider one ... */
	const char *
		name; /* of the Topology whose levels they are; only annotations say it (topology_wish.h); NULL: of any */
	struct kar_array slices; /* struct kar_topology_slice; one, or none */
	bool balance;            /* domains get equally many pods, or slices */
};
extern const struct kar_desc kar_topology_ask_desc;

struct kar_json_writer;

static inline bool kar_topology_asks(const struct kar_topology_ask *a)
{
	return a->required || a->preferred || a->slices.n;
}

/* NULL: none are asked for. */
static inline const struct kar_topology_slice *kar_topology_slices(const struct kar_topology_ask *a)
{
	return a->slices.n ? a->slices.items : NULL;
}

struct kar_topology_ask kar_topology_ask_copy(const struct kar_topology_ask *from,
	struct kar_arena *a) KAR_NONNULL;
bool kar_topology_ask_equal(const struct kar_topology_ask *a, const struct kar_topology_ask *b) KAR_NONNULL;
/* Writes the member "topology"; nothing if nothing is asked for. */
void kar_topology_ask_write(struct kar_json_writer *w, const struct kar_topology_ask *ask) KAR_NONNULL;

#endif
