/*
 * disruptionbudget - policy/v1 PodDisruptionBudget: how many of the pods that it selects may be disrupted now.
 *
 * Its own controller counts. The queue asks it before it evicts a gang for another one (docs/design/podgroup.md, 6).
 */
#ifndef KAR_API_DISRUPTIONBUDGET_H
#define KAR_API_DISRUPTIONBUDGET_H

#include <assert.h>

#include "api/core/selector.h"
#include "common/kube/object.h"

struct kar_disruptionbudget {
	struct kar_object o; /* first */
	struct kar_arena mem;
	struct kar_selector selector;
	bool selects_none; /* it has no selector */
	/* It is not known which: its selector cannot be understood, or asks for the index of a pod, which is not cached as a label. */
	bool selects_all;
	int64_t generation;
	/* What may be missing of the pods that it selects, at most: these are -1 if its spec does not say so. Percents are of all. */
	int64_t max_unavailable, max_unavailable_percent, min_available, min_available_percent;
	int32_t allowed; /* status.disruptionsAllowed; 0 also if it was counted for an earlier spec, or not yet */
};

enum { KAR_DISRUPTIONBUDGET_BY_NAMESPACE };
extern const struct kar_type kar_disruptionbudget_type;

static inline const struct kar_disruptionbudget *kar_as_disruptionbudget(const struct kar_object *o)
{
	assert(o && o->type == &kar_disruptionbudget_type);
	return (const struct kar_disruptionbudget *)(const void *)o;
}

/* How many of @n pods, if it selects these alone and all run, may be disrupted together. */
int64_t kar_disruptionbudget_allows_of(const struct kar_disruptionbudget *b, int64_t n) KAR_NONNULL;
/* Is more allowed after the change from @old (NULL: it is new) to @now (NULL: it is gone), or are other pods protected? */
bool kar_disruptionbudget_allows_more(const struct kar_disruptionbudget *old,
	const struct kar_disruptionbudget *now);
/* Does it protect pods with @labels (struct kar_pair)? */
bool kar_disruptionbudget_selects(const struct kar_disruptionbudget *b,
	const struct kar_array *labels) KAR_NONNULL;

#endif
