/*
 * The API server by HTTP, without a socket. A row is a request and the beginning of its answer; the refusals are worded as a
 * Kubernetes 1.37 API server words them.
 */
#include "sim/test/unit/http_door_world.h"
#include "test/unit/protobuf_text.h"

struct row {
	const char *name, *method, *target, *content_type, *body, *accept;
	int code;
	const char *want; /* how the body begins */
};

static void check_row(struct world *w, const struct row *row)
{
	const struct sim_http_request rq = { .method = row->method,
		.target = row->target,
		.authorization = BEARER,
		.content_type = row->content_type,
		.accept = row->accept,
		.body = str(row->body) };
	struct sim_http_answer a;

	call(w, &rq, &a);
	if (a.code != row->code || strncmp(kar_buf_cstr(&a.body), row->want, strlen(row->want)) != 0)
		fail_msg("%s: %s %s:\n  got  %d %s\n  want %d %s", row->name, row->method, row->target,
			a.code, kar_buf_cstr(&a.body), row->code, row->want);
	sim_http_answer_release(&a);
}

static void check_rows(void **state, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_row(*state, &rows[i]);
}

#define NO_METHOD \
	STATUS "\"the server does not allow this method on the requested resource\",\"reason\":\"MethodNotAllowed\""
#define NO_PATH STATUS "\"the server could not find the requested resource\",\"reason\":\"NotFound\""
#define TEXT_404 "404 page not found\n"

static void what_is_not_there_is_refused(void **state)
{
	static const struct row rows[] = {
		{ "unknown_core_resource", "GET", "/api/v1/foos", .code = 404, .want = NO_PATH },
		{ "unknown_core_version", "GET", "/api/v9", .code = 404, .want = NO_PATH },
		{ "unknown_custom_resource", "GET", "/apis/kube-arbitrator.io/v1alpha1/foos", .code = 404,
			.want = TEXT_404 },
		{ "unknown_group", "GET", "/apis/nope.io/v1/x", .code = 404, .want = TEXT_404 },
		{ "unknown_group_document", "GET", "/apis/nope.io", .code = 404, .want = TEXT_404 },
		{ "unknown_path", "GET", "/nope", .code = 404, .want = TEXT_404 },
		{ "core_named_without_namespace", "GET", "/api/v1/pods/x", .code = 404, .want = NO_PATH },
		{ "cluster_scoped_in_a_namespace", "GET", "/api/v1/namespaces/default/nodes", .code = 404,
			.want = NO_PATH },
		{ "custom_named_without_namespace", "GET", "/apis/kube-arbitrator.io/v1alpha1/queuejobs/x",
			.code = 404, .want = TEXT_404 },
		{ "unknown_subresource", "GET", PODS "/x/nope", .code = 404, .want = NO_PATH },
		{ "below_a_subresource", "GET", PODS "/x/status/y", .code = 404, .want = NO_PATH },
		{ "missing_object", "GET", PODS "/x", .code = 404,
			.want = STATUS "\"pods \\\"x\\\" not found\",\"reason\":\"NotFound\"" },
		{ "create_in_all_namespaces", "POST", "/api/v1/pods", JSON, "{}", .code = 405,
			.want = NO_METHOD },
		{ "update_of_a_collection", "PUT", PODS, JSON, "{}", .code = 405, .want = NO_METHOD },
		{ "create_with_a_name", "POST", PODS "/x", JSON, "{}", .code = 405, .want = NO_METHOD },
		{ "delete_of_a_status", "DELETE", PODS "/x/status", .code = 405, .want = NO_METHOD },
		{ "delete_of_a_custom_status", "DELETE", QJ "/x/status", .code = 405,
			.want = STATUS
			"\"delete is not supported on resources of kind \\\"queuejobs.kube-arbitrator.io\\\"\",\"reason\":\"MethodNotAllowed\"" },
		{ "list_of_create_only", "GET", "/api/v1/namespaces/default/bindings", .code = 405,
			.want = NO_METHOD },
		{ "write_to_a_document", "POST", "/apis", JSON, "{}", .code = 405, .want = NO_METHOD },
		{ "no_such_method", "FOO", PODS, .code = 405, .want = NO_METHOD },
		{ "bad_path", "GET", "/api/v1/%zz", .code = 400,
			.want = STATUS "\"the request line names no valid path\"" },
		{ "old_watch", "GET", "/api/v1/watch/pods", .code = 404, .want = NO_PATH },
	};

	check_rows(state, rows, KAR_LEN(rows));
}

#define FORMAT "\"the body of the request was in an unknown format - accepted media types include: "
#define OBJECTS "application/json, application/yaml, application/vnd.kubernetes.protobuf\""
#define CUSTOM_PATCHES \
	"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml\""
#define ACCEPTED \
	"\"only the following media types are accepted: application/json, application/yaml\",\"reason\":\"NotAcceptable\""

static void media_types_are_checked(void **state)
{
	static const struct row rows[] = {
		{ "text_as_object", "POST", PODS, "text/plain", "{}", .code = 415,
			.want = STATUS FORMAT OBJECTS },
		{ "text_as_custom_object", "POST", QJ, "text/plain", "{}", .code = 415,
			.want = STATUS FORMAT OBJECTS },
		{ "object_as_patch", "PATCH", PODS "/x", JSON, "{}", .code = 415,
			.want = STATUS "\"415: Unsupported Media Type\"" },
		{ "object_as_custom_patch", "PATCH", QJ "/x", JSON, "{}", .code = 415,
			.want = STATUS FORMAT CUSTOM_PATCHES },
		{ "strategic_patch_of_custom", "PATCH", QJ "/x", "application/strategic-merge-patch+json",
			"{}", .code = 415, .want = STATUS FORMAT CUSTOM_PATCHES },
		{ "text_as_options", "DELETE", PODS "/x", "text/plain", "{}", .code = 415,
			.want = STATUS FORMAT OBJECTS },
		{ "html_wanted", "GET", PODS, .accept = "text/html", .code = 406, .want = STATUS ACCEPTED },
		{ "html_document_wanted", "GET", "/apis", .accept = "text/html", .code = 406,
			.want = STATUS ACCEPTED },
		{ "metadata_of_a_list", "GET", QJ,
			.accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", .code = 406,
			.want = STATUS
			"\"you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)\"" },
		{ "unknown_rows", "GET", QJ "?includeObject=X",
			.accept = "application/json;as=Table;g=meta.k8s.io;v=v1", .code = 400,
			.want = STATUS
			"\"Unable to convert to Table as requested: includeObject: Invalid value: \\\"X\\\": must be 'Metadata', 'Object', 'None', or empty\"" },
		{ "bad_option", "GET", PODS "?limit=x", .code = 400,
			.want = STATUS "\"strconv.ParseInt: parsing \\\"x\\\": invalid syntax\"" },
		{ "bad_yaml", "POST", MAPS, "application/yaml", "a: [", .code = 400,
			.want = STATUS "\"error converting YAML to JSON: " },
		{ "bad_protobuf", "POST", MAPS, "application/vnd.kubernetes.protobuf", "{}", .code = 400,
			.want = STATUS
			"\"provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]\"" },
	};

	check_rows(state, rows, KAR_LEN(rows));
}

#define MAP(name) \
	"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name \
	"\",\"namespace\":\"default\""

static void bodies_of_all_types_are_read(void **state)
{
	static const struct row rows[] = {
		{ "json", "POST", MAPS, JSON, "{\"metadata\":{\"name\":\"a\"}}", .code = 201,
			.want = MAP("a") },
		{ "no_content_type", "POST", MAPS, NULL, "{\"metadata\":{\"name\":\"b\"}}", .code = 201,
			.want = MAP("b") },
		{ "yaml", "POST", MAPS, "application/yaml", "metadata:\n  name: c\ndata: {x: 'y'}\n",
			.code = 201, .want = MAP("c") },
		{ "json_called_yaml", "POST", MAPS, "application/yaml", " {\"metadata\":{\"name\":\"d\"}}",
			.code = 201, .want = MAP("d") },
		{ "merge_patch", "PATCH", MAPS "/a", "application/merge-patch+json",
			"{\"data\":{\"k\":\"v\"}}", .code = 200, .want = MAP("a") },
		{ "json_patch", "PATCH", MAPS "/a", "application/json-patch+json",
			"[{\"op\":\"remove\",\"path\":\"/data\"}]", .code = 200, .want = MAP("a") },
		{ "apply_in_yaml", "PATCH", MAPS "/e?fieldManager=m", "application/apply-patch+yaml",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\n", .code = 201,
			.want = MAP("e") },
		{ "answer_in_yaml", "GET", MAPS "/a", .accept = "application/yaml", .code = 200,
			.want = MAP("a") },
		{ "options_in_yaml", "DELETE", MAPS "/b", "application/yaml", "propagationPolicy: Background",
			.code = 200, .want = "{\"kind\":\"Status\"" },
		{ "delete_without_body", "DELETE", MAPS "/c", .code = 200, .want = "{\"kind\":\"Status\"" },
		{ "table", "GET", MAPS "/a",
			.accept = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json",
			.code = 200, .want = "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\"" },
		{ "metadata", "GET", MAPS "/a",
			.accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", .code = 200,
			.want = "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"name\":\"a\"" },
		{ "metadata_list", "GET", MAPS,
			.accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
			.code = 200, .want = "{\"kind\":\"PartialObjectMetadataList\"" },
	};

	check_rows(state, rows, KAR_LEN(rows));
}

static void protobuf_is_read(void **state)
{
	struct kar_buf bytes KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_http_request rq = { .method = "POST",
		.target = MAPS,
		.authorization = BEARER,
		.content_type = "application/vnd.kubernetes.protobuf",
		.accept = "application/vnd.kubernetes.protobuf,application/json" };
	struct sim_http_answer a;

	pb_text("'k8s' 00 1={1={'v1'}2={'ConfigMap'}} 2={1={1={'pb'}}2={1={'a'}2={'b'}}}", &bytes);
	rq.body = (struct kar_str){ kar_buf_cstr(&bytes), bytes.n };
	call(*state, &rq, &a);
	assert_int_equal(a.code, 201);
	assert_string_equal(a.content_type, JSON);
	assert_non_null(strstr(kar_buf_cstr(&a.body), "\"data\":{\"a\":\"b\"}"));
	sim_http_answer_release(&a);
}

static void documents_are_served(void **state)
{
	static const struct row rows[] = {
		{ "version", "GET", "/version", .code = 200, .want = "{\"major\":\"1\",\"minor\":\"37\"" },
		{ "health", "GET", "/healthz", .code = 200, .want = "ok" },
		{ "readiness", "GET", "/readyz", .code = 200, .want = "ok" },
		{ "part_of_health", "GET", "/livez/ping", .code = 200, .want = "ok" },
		{ "verbose", "GET", "/readyz?verbose", .code = 200,
			.want = "[+]ping ok\nreadyz check passed\n" },
		{ "discovery", "GET", "/api", .code = 200, .want = "{\"kind\":\"APIVersions\"" },
		{ "aggregated", "GET", "/apis",
			.accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
			.code = 200, .want = "{\"kind\":\"APIGroupDiscoveryList\"" },
		{ "openapi", "GET", "/openapi/v3", .code = 200,
			.want = "{\"paths\":{\"api/v1\":{\"serverRelativeURL\":\"/openapi/v3/api/v1?hash=" },
		{ "openapi_document", "GET", "/openapi/v3/apis/apps/v1?hash=x", .code = 200,
			.want = "{\"openapi\":\"3.0.0\"" },
		{ "openapi_in_protobuf", "GET", "/openapi/v3/apis/apps/v1",
			.accept = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf", .code = 406,
			.want = "" },
		{ "openapi_of_unknown", "GET", "/openapi/v3/apis/nope/v1", .code = 404, .want = TEXT_404 },
		{ "openapi_v2", "GET", "/openapi/v2", .code = 200, .want = "{\"swagger\":\"2.0\"" },
		{ "openapi_v2_in_protobuf", "GET", "/openapi/v2",
			.accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", .code = 200,
			.want = "\n\0032.0\022\014\n\007kar-sim\022\0011B" },
		{ "openapi_v2_in_pictures", "GET", "/openapi/v2", .accept = "image/png", .code = 406,
			.want = "" },
		{ "below_openapi_v2", "GET", "/openapi/v2/x", .code = 404, .want = TEXT_404 },
	};

	check_rows(state, rows, KAR_LEN(rows));
}

static void a_document_the_client_has_is_not_sent(void **state)
{
	struct sim_http_request rq = { .method = "GET",
		.target = "/openapi/v3/api/v1",
		.authorization = BEARER };
	struct sim_http_answer a;
	char etag[64];

	call(*state, &rq, &a);
	assert_int_equal(a.code, 200);
	snprintf(etag, sizeof(etag), "%s", a.etag);
	sim_http_answer_release(&a);
	rq.if_none_match = etag;
	call(*state, &rq, &a);
	assert_int_equal(a.code, 304);
	assert_int_equal(a.body.n, 0);
	sim_http_answer_release(&a);
}

static void too_large_a_body_is_refused(void **state)
{
	const struct sim_http_request rq = { .method = "POST",
		.target = MAPS,
		.authorization = BEARER,
		.too_large = true };
	struct sim_http_answer a;

	call(*state, &rq, &a);
	assert_int_equal(a.code, 413);
	assert_non_null(strstr(kar_buf_cstr(&a.body), "\"reason\":\"RequestEntityTooLarge\""));
	sim_http_answer_release(&a);
}

/* Whatever is asked, there is an answer. */
static void random_requests_are_answered(void **state)
{
	static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };
	static const char *const targets[] = { PODS, PODS "/x", QJ, QJ "/x", QJ "/x/status", MAPS, MAPS "/a",
		"/api/v1/namespaces", "/api/v1/namespaces/default", PODS "/x/binding", PODS "/x/eviction",
		"/api/v1/nodes/n/status", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/api",
		"/openapi/v3" };
	static const char *const queries[] = { "", "?limit=1", "?watch=1", "?dryRun=All",
		"?fieldManager=x&force=true", "?continue=abc", "?resourceVersion=9999", "?labelSelector=!",
		"?fieldValidation=Strict" };
	static const char *const types[] = { NULL, JSON, "application/yaml",
		"application/vnd.kubernetes.protobuf", "application/json-patch+json",
		"application/merge-patch+json", "application/strategic-merge-patch+json",
		"application/apply-patch+yaml", "x" };
	static const char *const pieces[] = { "{", "}", "[", "]", "\"metadata\":", "\"name\":", "\"x\"", ",",
		"null", "1", "\"spec\":", "\"a\":", ":", "\"kind\":", "\"Pod\"", "\"containers\":", "{}",
		"[]", "-1e999", "\"op\":\"add\"", "\"path\":\"/a\"", "\n- ", "k8s", "\xff" };
	struct world *w = *state;
	struct sim_random random = sim_random_of(20261121, "requests");

	for (int i = 0; i < 20000; i++) {
		struct kar_buf body KAR_CLEANUP(kar_cleanup_buf) = { 0 },
				    target KAR_CLEANUP(kar_cleanup_buf) = { 0 };
		struct sim_http_request rq = { .method = methods[sim_random_below(&random, KAR_LEN(methods))],
			.authorization = BEARER };
		struct sim_http_answer a;

		kar_buf_printf(&target, "%s%s", targets[sim_random_below(&random, KAR_LEN(targets))],
			queries[sim_random_below(&random, KAR_LEN(queries))]);
		for (uint64_t n = sim_random_below(&random, 14); n > 0; n--)
			kar_buf_puts(&body, pieces[sim_random_below(&random, KAR_LEN(pieces))]);
		rq.target = kar_buf_cstr(&target);
		rq.content_type = types[sim_random_below(&random, KAR_LEN(types))];
		rq.body = (struct kar_str){ kar_buf_cstr(&body), body.n };
		call(w, &rq, &a);
		if (a.code < 200 || a.code > 599)
			fail_msg("%s %s %s: answered %d", rq.method, rq.target, kar_buf_cstr(&body), a.code);
		sim_http_answer_release(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_there_is_refused),
		cmocka_unit_test(media_types_are_checked),
		cmocka_unit_test(bodies_of_all_types_are_read),
		cmocka_unit_test(protobuf_is_read),
		cmocka_unit_test(documents_are_served),
		cmocka_unit_test(a_document_the_client_has_is_not_sent),
		cmocka_unit_test(too_large_a_body_is_refused),
		cmocka_unit_test(random_requests_are_answered),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
