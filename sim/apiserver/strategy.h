/*
 * strategy - what the files of the built-in types share. Private to builtin.c, strategy_*.c and admission_*.c.
 */
#ifndef SIM_STRATEGY_H
#define SIM_STRATEGY_H

#include "sim/apiserver/internal.h"
#include "sim/apiserver/syntax.h"

/* --- strategies, one per type that has rules of its own ---------------------------------------------------- */

extern const struct sim_strategy sim_strategy_pod;                             /* strategy_pod.c */
extern const struct sim_strategy sim_strategy_binding;                         /* strategy_pod_bind.c */
extern const struct sim_strategy sim_strategy_namespace;                       /* strategy_namespace.c */
extern const struct sim_strategy sim_strategy_event, sim_strategy_newer_event; /* strategy_event.c */
extern const struct sim_strategy sim_strategy_priority_class;                  /* strategy_priority.c */
extern const struct sim_strategy sim_strategy_quota;                           /* strategy_quota.c */
extern const struct sim_strategy sim_strategy_service;                         /* strategy_service.c */
extern const struct sim_strategy sim_strategy_config_map, sim_strategy_secret; /* strategy_config.c */
/* strategy_access.c */
extern const struct sim_strategy sim_strategy_service_account, sim_strategy_access_review;
/* strategy_small.c; claims and volumes are persistent ones, a workload is any type that only has a status of its own. */
extern const struct sim_strategy sim_strategy_node, sim_strategy_pdb, sim_strategy_lease, sim_strategy_volume,
	sim_strategy_claim, sim_strategy_workload;

/* events.k8s.io/v1 to v1 and back, in place. */
void sim_event_to_core(struct sim_value **event) KAR_NONNULL;
void sim_event_from_core(struct sim_value **event) KAR_NONNULL;

/* --- shared -------------------------------------------------------------------------------------------------- */

/* Restores member @key of *w->new from w->old; on create removes it. */
void sim_keep_old(struct sim_write *w, const char *key) KAR_NONNULL;
/* Sets the status to what Go prints of an empty one: nothing of it may be given at creation. */
void sim_clear_status(struct sim_write *w) KAR_NONNULL;
/* The write is one of the status subresource. */
bool sim_writes_status(const struct sim_write *w) KAR_NONNULL;
/* Body of @rq as a tree, new reference; NULL with @out filled (400) if it is no JSON object. */
struct sim_value *sim_request_object(const struct sim_request *rq,
	struct sim_response *out) KAR_MUSTUSE KAR_NONNULL;
/* {"kind":"Status","status":"Success"}: the answer of subresources that give nothing back. */
void sim_answer_success(struct sim_response *out, int code) KAR_NONNULL;
/* --- where in the object something is wrong; printed only if it is ------------------------------------------- */

struct sim_at {
	const struct sim_at *up;
	const char *name; /* ".name", or NULL: "[key]" or "[index]" */
	const char *key;
	size_t index;
};
#define SIM_AT(parent, member) (&(const struct sim_at){ .up = (parent), .name = (member) })
#define SIM_AT_ITEM(parent, i) (&(const struct sim_at){ .up = (parent), .index = (i) })
#define SIM_AT_KEY(parent, k) (&(const struct sim_at){ .up = (parent), .key = (k) })

void sim_cause_required(struct sim_causes *c, const struct sim_at *at) KAR_NONNULL;
void sim_cause_required_because(struct sim_causes *c, const struct sim_at *at, const char *why) KAR_NONNULL;
void sim_cause_not_found(struct sim_causes *c, const struct sim_at *at, const char *value) KAR_NONNULL;
void sim_cause_forbidden(struct sim_causes *c, const struct sim_at *at, const char *fmt, ...)
	KAR_PRINTF(3, 4);
/* Strings are quoted, numbers printed as they are, the rest as JSON. @value may be NULL: null. */
void sim_cause_invalid(struct sim_causes *c, const struct sim_at *at, const struct sim_value *value,
	const char *fmt, ...) KAR_PRINTF(4, 5);
void sim_cause_duplicate(struct sim_causes *c, const struct sim_at *at, const char *value) KAR_NONNULL;
/* @supported ends with NULL. */
void sim_cause_unsupported(struct sim_causes *c, const struct sim_at *at, const char *value,
	const char *const *supported) KAR_NONNULL;
/* @value against a grammar of syntax.h: a cause per complaint. */
void sim_cause_grammar(struct sim_causes *c, const struct sim_at *at, const struct sim_value *value,
	struct sim_complaints (*grammar)(const char *)) __attribute__((nonnull(1, 2, 4)));
/* @value must be one of @supported; empty is "Required value". */
void sim_check_choice(struct sim_causes *c, const struct sim_at *at, const struct sim_value *value,
	const char *const *supported) __attribute__((nonnull(1, 2, 4)));

#endif
