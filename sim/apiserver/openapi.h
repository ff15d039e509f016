/*
 * openapi - what the served types look like, as OpenAPI v3: /openapi/v3 and one document per group and version.
 *
 * Custom resources are described by the schema of their CRD; built-in ones by the tables of types.h, with texts of our
 * own for what users ask about most (openapi_text.c). OpenAPI v2 is not served: kubectl needs it no more.
 */
#ifndef SIM_OPENAPI_H
#define SIM_OPENAPI_H

#include "sim/apiserver/internal.h"
#include "sim/apiserver/types.h"

struct sim_openapi;

/* @types is borrowed. */
struct sim_openapi *sim_openapi_new(const struct sim_types *types) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void sim_openapi_free(struct sim_openapi *o); /* accepts NULL */

/* The index: each document with an address that changes when it does. New value. */
struct sim_value *sim_openapi_index(struct sim_openapi *o,
	const struct sim_apiserver *s) KAR_RETNN KAR_NONNULL;
/*
 * The document called @name ("api/v1", "apis/GROUP/VERSION") as JSON text, borrowed until the next call of either
 * function, with its hash; NULL: there is none.
 */
const char *sim_openapi_document(struct sim_openapi *o, const struct sim_apiserver *s, const char *name,
	const char **hash) KAR_NONNULL;

/* What a message (@field NULL), or a field of it, is for; NULL: no text. @name: "PodSpec" (openapi_text.c). */
const char *sim_openapi_text(const char *name, const char *field) __attribute__((nonnull(1)));

/* Components of a document (openapi_schema.c): adds those of @t, and of what it refers to, to *@schemas. */
void sim_openapi_add_type(struct sim_value **schemas, const struct sim_type *t) KAR_NONNULL;
/* Adds those that fields of all messages refer to: times, quantities. */
void sim_openapi_add_scalars(struct sim_value **schemas) KAR_NONNULL;
/* {"allOf":[{"$ref":...}],"description":...}; new value. @text may be NULL. */
struct sim_value *sim_openapi_ref(const char *component, const char *text) KAR_RETNN
	__attribute__((nonnull(1)));

#endif
