/*
 * unit - gangs that start together or not at all (GangGroups of GangScheduling; docs/design/podgroup.md, 5.1).
 *
 * Groups that name each other are a unit, and what these name and are named by in turn belongs to it. A group that is not named back makes only
 * those wait that name it, until it has started, and its own names are not followed: nobody can hold up a gang, or make work for the
 * manager, by naming it. The groups of a QueueJob name others by schedSpec.gangGroups, all others by annotation. Once a gang has started it
 * waits for nobody any more.
 */
#ifndef KAR_UNIT_H
#define KAR_UNIT_H

#include "controllers/cluster/stores.h"

enum { KAR_UNIT_MAX = 32 }; /* groups; those beyond it are not waited for */

struct kar_unit {
	const struct kar_podgroup *
		*groups; /* the group itself first; borrowed from the cache; NULL: it names no others */
	size_t n;
	const char *missing; /* "ns/name" of one that does not exist; NULL: all do */
	const struct kar_podgroup *
		awaited; /* one that is not of it, which a member names, and that has not started; NULL: none */
	bool waits;      /* another one has neither started nor a plan */
	const struct kar_podgroup *failing; /* another one that is being rolled back; NULL: none */
};

/* The unit of @g as it is now, in @a. */
struct kar_unit kar_unit_of(const struct kar_stores *stores, const struct kar_podgroup *g,
	struct kar_arena *a) KAR_NONNULL;
/* The minimum of @g is bound, or its work is over. */
bool kar_unit_has_started(const struct kar_stores *stores, const struct kar_podgroup *g) KAR_NONNULL;

#endif
