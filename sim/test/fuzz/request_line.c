/* "METHOD TARGET": a route, or a refusal with a Status of its code; a path names nothing that is not in it. */
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/http_path.h"
#include "test/fuzz/fuzz.h"

static void check_refusal(struct sim_response *refused)
{
	FUZZ_CHECK(refused->code >= 400 && sim_get_int(refused->object, 0, "code") == refused->code,
		"refused with %d, the Status says %lld", refused->code,
		(long long)sim_get_int(refused->object, 0, "code"));
	FUZZ_CHECK(sim_get_text(refused->object, "message"), "a refusal without message");
	sim_response_release(refused);
}

static void check_part(const struct sim_route *r, const char *part)
{
	FUZZ_CHECK(!part || (*part && strstr(r->path, part)), "\"%s\" of %s", part, r->path);
}

static void check_route(const struct sim_route *r)
{
	const struct sim_request *rq = &r->request;

	FUZZ_CHECK(r->path && *r->path == '/', "no path");
	for (size_t i = 0; i < r->n_parameters; i++)
		FUZZ_CHECK(r->parameters[i].key && r->parameters[i].value, "half a parameter");
	if (!r->is_resource)
		return;
	FUZZ_CHECK(rq->group && rq->version && rq->resource, "a resource without name");
	FUZZ_CHECK(rq->name || !rq->subresource, "a subresource of nothing");
	check_part(r, rq->version);
	check_part(r, rq->resource);
	check_part(r, rq->ns);
	check_part(r, rq->name);
	check_part(r, rq->subresource);
}

static bool names_nul(const char *target)
{
	const char *nul = strstr(target, "%00");

	return nul && (size_t)(nul - target) < strcspn(target, "?") && (nul == target || nul[-1] != '%');
}

/* "METHOD TARGET" with any options. */
static void check(const char *method, const char *target, bool has_body)
{
	struct kar_arena arena = { 0 };
	struct sim_response refused = { 0 };
	struct sim_route route;
	bool ok = sim_route_parse(&arena, method, target, &route, &refused);

	FUZZ_CHECK(!ok || !names_nul(target), "a NUL in the path of %s", target);
	if (ok)
		check_route(&route);
	if (ok && route.is_resource) {
		route.request.patch_type = has_body ? KAR_PATCH_APPLY : KAR_PATCH_MERGE;
		ok = sim_route_options(&route, has_body, &refused);
	}
	if (ok)
		FUZZ_CHECK(!refused.object && !refused.code, "accepted, but with %d", refused.code);
	else
		check_refusal(&refused);
	kar_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *method = fuzz_text(data, n), *space = strchr(method, ' ');

	if (space) {
		*space = '\0';
		check(method, space + 1, false);
		check(method, space + 1, true);
	}
	free(method);
	return 0;
}
