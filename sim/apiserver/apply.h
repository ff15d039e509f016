/*
 * apply - server-side apply (KEP-555) and managedFields. Pure.
 */
#ifndef SIM_APPLY_H
#define SIM_APPLY_H

#include "sim/tree.h"

struct sim_causes; /* internal.h */
struct sim_schema;
struct sim_type;

struct sim_apply {
	const char *manager, *api_version; /* manager "": "unknown" */
	const char *subresource;           /* "status"; NULL: the main resource */
	bool force;
	bool status_is_plain;        /* no status subresource: status is a member like others */
	kar_time now;                /* wall ms */
	const struct sim_type *type; /* built-in kinds: which lists are maps or sets; else NULL */
	const struct sim_schema
		*schema; /* custom ones: the same from x-kubernetes-list-type and -map-keys; else NULL */
	struct sim_causes
		*conflicts; /* gets a cause per conflict, for the details of the answer; may be NULL */
};
/*
 * Merges the applied @config into *live (absent: NULL), removing what this manager owned and no longer applies, and keeps
 * metadata.managedFields. -1 with KAR_CONFLICT: another manager owns a field with another value and !force;
 * the text is the API server's ("Apply failed with 1 conflict: conflict with \"x\" ...: .spec.a"). -1 with KAR_INVALID and
 * err->http: @config cannot be applied. *live is then untouched.
 */
int sim_apply(struct sim_value **live, const struct sim_value *config, const struct sim_apply *a,
	struct kar_err *err) KAR_NONNULL;
/* The whole text of an answer that has these causes: that of kar_err is cut when it is long. */
void sim_apply_conflict_text(const struct sim_causes *conflicts, struct kar_buf *out) KAR_NONNULL;
/*
 * After an update or patch by @a->manager: it owns what it changed (operation Update). @old NULL: create. An object
 * that nobody has applied has no managedFields, and gets none by updates.
 */
void sim_apply_track(const struct sim_value *old, struct sim_value **new, const struct sim_apply *a)
	__attribute__((nonnull(2, 3)));

#endif
