/*
 * strategy_pod - the parts of the pod strategy. Private to strategy_pod*.c, admission_*.c and quota_*.c.
 */
#ifndef SIM_STRATEGY_POD_H
#define SIM_STRATEGY_POD_H

#include "sim/apiserver/strategy.h"

void sim_pod_default(struct sim_write *w) KAR_NONNULL; /* strategy_pod_default.c */
/* "Guaranteed", "Burstable" or "BestEffort". */
const char *sim_pod_qos(const struct sim_value *pod) KAR_NONNULL KAR_RETNN;

bool sim_pod_admit(struct sim_write *w, struct sim_response *out) KAR_NONNULL; /* admission_pod.c */

void sim_pod_validate(struct sim_write *w) KAR_NONNULL; /* strategy_pod_validate.c: all of the spec */
void sim_pod_check_tolerations(struct sim_causes *c, const struct sim_at *at,
	const struct sim_value *tolerations) __attribute__((nonnull(1, 2)));
/* "cpu", "x.kubernetes.io/y": may be overcommitted, as no extended resource may. */
bool sim_resource_is_native(const char *name) KAR_NONNULL;
/* strategy_pod_affinity.c; @affinity may be absent. */
void sim_pod_check_affinity(struct sim_causes *c, const struct sim_at *at, const struct sim_value *affinity)
	__attribute__((nonnull(1, 2)));
void sim_pod_validate_update(struct sim_write *w) KAR_NONNULL; /* strategy_pod_update.c: what may change */
void sim_pod_validate_status(struct sim_write *w) KAR_NONNULL;

/*
 * Sets a condition as the API's helpers do: the time of transition changes with the status only. @reason and
 * @message may be NULL. @now: wall ms. Returns true if something changed.
 */
bool sim_pod_condition_set(struct sim_value **pod, const char *type, const char *status, const char *reason,
	const char *message, kar_time now) __attribute__((nonnull(1, 2, 3)));

/* Subresources; @out is filled in always. */
void sim_pod_bind(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *binding,
	struct sim_response *out) KAR_NONNULL; /* strategy_pod_bind.c */
void sim_pod_evict(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *eviction,
	struct sim_response *out) KAR_NONNULL; /* strategy_pod_evict.c */

#endif
