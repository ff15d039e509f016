/*
 * made - PodGroups for pods that name one that nobody makes, and say themselves how many of them must start together (kar_pod_gang()). Pure.
 *
 * Invariant: only a group that was made here, which its label says, is deleted, and only without members.
 */
#ifndef KAR_PODGROUP_MADE_H
#define KAR_PODGROUP_MADE_H

#include "controllers/podgroup/podgroup.h"

enum {
	PODGROUP_MADE_EMPTY = 60 * KAR_SECOND, /* ms without members after which it is deleted */
	PODGROUP_MISSED =
		10 * KAR_SECOND, /* ms for which a gated pod waits for its group before that is an event */
};

/*
 * There is no group @ns/@name: adds its create, as the oldest of its live @pods asks for it, if one does, and returns that; else NULL.
 */
const struct kar_pod *podgroup_make(const struct kar_pod *const *pods, size_t n, const char *ns,
	const char *name, struct kar_plan *p) KAR_NONNULL;
/*
 * There is no group @key, and nobody makes one: returns the oldest gated pod, and adds an event about it, if it is old enough for that;
 * else requests the sync at which it is. NULL: no event. @now: wall ms.
 */
const struct kar_pod *podgroup_miss(const struct kar_pod *const *pods, size_t n, const char *key,
	kar_time now, struct kar_plan *p) KAR_NONNULL;
/* Adds the deletion of a group that was made, if it is due. @now: wall ms. */
void podgroup_unmake(const struct podgroup_view *v, kar_time now, struct kar_plan *p) KAR_NONNULL;

#endif
