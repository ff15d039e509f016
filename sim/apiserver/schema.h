/*
 * schema - structural OpenAPI v3 schemas of CustomResourceDefinitions: validation, defaulting, pruning. Pure.
 *
 * Not evaluated: x-kubernetes-validations (CEL); the real API server proves those.
 */
#ifndef SIM_SCHEMA_H
#define SIM_SCHEMA_H

#include "sim/apiserver/internal.h"

/* Compiles openAPIV3Schema. @v is kept by reference. NULL with @err if it is not structural. */
struct sim_schema *sim_schema_new(const struct sim_value *v, struct kar_err *err) KAR_MUSTUSE KAR_NONNULL;
void sim_schema_free(struct sim_schema *s); /* accepts NULL */
/* Removes what the schema does not name (x-kubernetes-preserve-unknown-fields and embedded objects respected). The paths of
 * removed members are appended to @removed as strings ("spec.foo"), if that is not NULL: for fieldValidation. */
void sim_schema_prune(const struct sim_schema *s, struct sim_value **v, struct sim_value **removed)
	__attribute__((nonnull(1, 2)));
/* Fills in defaults; a null that the schema does not allow gives way to the default, or goes. */
void sim_schema_default(const struct sim_schema *s, struct sim_value **v) KAR_NONNULL;
/* The same after server-side apply, where such a null without a default stays, and is refused by the validation. */
void sim_schema_default_applied(const struct sim_schema *s, struct sim_value **v) KAR_NONNULL;
/* Of a create: adds a cause per violation, texts as the API server's, sorted by field (the API server's order is random). */
void sim_schema_validate(const struct sim_schema *s, const struct sim_value *v,
	struct sim_causes *out) KAR_NONNULL;
/*
 * Of an update: what was wrong before and is unchanged is let pass (ratcheting), so that values which @old and @new share cost
 * nothing. @status: through the status subresource, where only status is looked at.
 */
void sim_schema_validate_update(const struct sim_schema *s, const struct sim_value *old,
	const struct sim_value *new, bool status, struct sim_causes *out) KAR_NONNULL;
/* The list at @path (member names): "atomic", "set", "map" with its keys in @keys (borrowed array value); "atomic" if unknown. */
const char *sim_schema_list_type(const struct sim_schema *s, const char *const *path, size_t n,
	const struct sim_value **keys) KAR_NONNULL;

#endif
