/*
 * amounts - a small set of named quantities: what a pod requests, what a quota has used. Pure.
 *
 * Kept in order of names. Zero-initialise; free with sim_amounts_release().
 */
#ifndef SIM_AMOUNTS_H
#define SIM_AMOUNTS_H

#include "common/mem.h"
#include "sim/apiserver/quantity.h"

struct sim_amount {
	const char *name; /* owned by the set */
	struct sim_quantity q;
};

struct sim_amounts {
	struct sim_amount *items;
	size_t n;
	struct kar_arena arena;
};

void sim_amounts_release(struct sim_amounts *a) KAR_NONNULL;
void sim_amounts_cleanup(struct sim_amounts *a) KAR_NONNULL; /* for KAR_CLEANUP */
/* NULL: not in the set. */
struct sim_quantity *sim_amounts_find(const struct sim_amounts *a, const char *name) KAR_NONNULL;
/* The amount called @name, added as 0 if it is not there. Valid until the next one is added. */
struct sim_quantity *sim_amounts_at(struct sim_amounts *a, const char *name) KAR_NONNULL KAR_RETNN;
void sim_amounts_add(struct sim_amounts *a, const char *name, const struct sim_quantity *q) KAR_NONNULL;
void sim_amounts_sub(struct sim_amounts *a, const char *name, const struct sim_quantity *q) KAR_NONNULL;
/* Adds the members of a v1.ResourceList; @list may be absent. */
void sim_amounts_add_list(struct sim_amounts *a, const struct sim_value *list) __attribute__((nonnull(1)));
void sim_amounts_add_all(struct sim_amounts *a, const struct sim_amounts *more) KAR_NONNULL;
/* Each becomes at least what it is in @other. */
void sim_amounts_max_all(struct sim_amounts *a, const struct sim_amounts *other) KAR_NONNULL;
/* New object value: the set as a v1.ResourceList. */
struct sim_value *sim_amounts_list(const struct sim_amounts *a) KAR_MUSTUSE KAR_NONNULL KAR_RETNN;

/*
 * What a pod as a whole asks for, by the rules of the scheduler: its containers together with the sidecars, or the
 * largest init container, plus overhead; requests of the pod itself win. @kind: "requests" or "limits" (without
 * overhead).
 */
void sim_pod_resources(const struct sim_value *pod, const char *kind, struct sim_amounts *out)
	__attribute__((nonnull(2, 3)));

#endif
