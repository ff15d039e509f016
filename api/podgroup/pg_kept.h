/*
 * pg_kept - where the status of a PodGroup is kept whose CRD is that of scheduler-plugins (decision 099).
 *
 * The schema of that CRD has the phase, three counts and two texts, and the API server drops the rest of what is written. The rest is in
 * annotations then: "placement" has what is decided about its start, "queue-status" all else, both as JSON with the names of the status;
 * "message" says in words why the group waits, and is never read. kar_podgroup.pruned says of which kind a group is.
 *
 * Pure.
 */
#ifndef KAR_API_PG_KEPT_H
#define KAR_API_PG_KEPT_H

#include "api/podgroup/podgroup.h"

enum { KAR_PG_KEPT = 3 };

/* Names of the annotations. */
extern const char *const kar_pg_kept_keys[KAR_PG_KEPT];

/* The member of both that has the UID of their group: in a copy of that, as from a backup, they do not count. */
#define KAR_PG_KEPT_UID "uid"

/* Their values for @s of @g, in @a; "": there is nothing to be said, and the annotation is to be removed. A line has one member of the status. */
struct kar_pg_kept {
	const char *texts[KAR_PG_KEPT];
};
struct kar_pg_kept kar_pg_kept(const struct kar_podgroup *g, const struct kar_podgroup_status *s,
	struct kar_arena *a) KAR_NONNULL;

/* Would a write of @s as status of @g, which is .pruned, change annotations? Then these are written first, and the status after that. */
bool kar_pg_kept_differs(const struct kar_podgroup *g, const struct kar_podgroup_status *s,
	struct kar_arena *a) KAR_NONNULL;

#endif
