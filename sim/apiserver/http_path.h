/*
 * http_path - what a request line asks for: the path as RequestInfo of the API server reads it, the query as its options.
 *
 * Pure and total: any bytes give a route or a refusal. It does not know which resources exist.
 */
#ifndef SIM_HTTP_PATH_H
#define SIM_HTTP_PATH_H

#include "common/base/mem.h"
#include "sim/apiserver/apiserver.h"

struct sim_parameter {
	const char *key, *value;
};

/* Everything lives in the arena. */
struct sim_route {
	const char *method; /* "GET" */
	const char *path;   /* decoded, without the query */
	bool is_resource;   /* `request` is filled in; else the path decides (discovery, health ...) */
	struct sim_request request; /* names from the path; the query by sim_route_options() */
	const char *rest; /* what comes after the subresource ("foo/bar" of .../proxy/foo/bar), or NULL */
	struct sim_parameter
		*parameters; /* decoded, in order; what cannot be decoded is left out, as Go does */
	size_t n_parameters;
};

/*
 * Takes @target ("/api/v1/pods?limit=1") apart. False with @refused filled: 400 (not a path, NUL byte), 404 (the
 * watch and proxy prefixes of old), 405 (a method no resource has).
 */
bool sim_route_parse(struct kar_arena *a, const char *method, const char *target, struct sim_route *out,
	struct sim_response *refused) KAR_NONNULL;

/* Value of the first parameter called @key; NULL: not given. */
const char *sim_route_parameter(const struct sim_route *r, const char *key) KAR_NONNULL;

/*
 * Reads the options of the route's verb from the query into its request. @has_body: DeleteOptions come from the body.
 * False with @refused filled: 400 for numbers that are none, 422 for values that an option cannot have. request.patch_type must
 * be set. Parameters that the verb does not have are ignored.
 */
bool sim_route_options(struct sim_route *r, bool has_body, struct sim_response *refused) KAR_NONNULL;

#endif
