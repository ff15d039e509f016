/*
 * quota_usage - what an object counts for in ResourceQuotas. Pure. Agrees with pkg/quota/v1/evaluator.
 */
#ifndef SIM_QUOTA_USAGE_H
#define SIM_QUOTA_USAGE_H

#include "sim/apiserver/amounts.h"

/* Resource names of quotas that objects of the type can count for ("pods", "requests.cpu", "count/deployments.apps"). */
bool sim_quota_covers(const char *group, const char *plural, const char *name) KAR_NONNULL;
/* Adds what @object counts for. @now: wall ms; pods whose time to end is over count no longer. */
void sim_quota_usage(const char *group, const char *plural, const struct sim_value *object, kar_time now,
	struct kar_amounts *out) KAR_NONNULL;
/* The scopes of @quota admit @object; a quota that has scopes admits pods only. */
bool sim_quota_in_scope(const struct sim_value *quota, const char *group, const char *plural,
	const struct sim_value *object) KAR_NONNULL;
/*
 * Containers of @pod lack cpu or memory that @hard names; then the text of the refusal ("cpu for: c; memory for:
 * c,d") is appended to @missing and false returned.
 */
bool sim_quota_is_specified(const struct sim_value *hard, const struct sim_value *pod,
	struct kar_buf *missing) KAR_NONNULL;

#endif
