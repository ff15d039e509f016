#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/kube/client.h"
#include "common/kube/request.h"

static const struct kar_resource pods = { "", "v1", "pods", "Pod", true };
static const struct kar_resource jobs = { "batch", "v1", "jobs", "Job", true };
static const struct kar_resource nodes = { "", "v1", "nodes", "Node", false };

static struct kar_str text(const char *s)
{
	return (struct kar_str){ s, strlen(s) };
}

/* --- paths --- */

struct path_row {
	const char *name;
	struct kar_request request;
	const char *path, *what;
};

static void rows_of_paths(void **state KAR_UNUSED)
{
	const struct path_row rows[] = {
		{ "core_group", { .verb = KAR_GET, .res = &pods, .ns = "a", .name = "p" },
			"/api/v1/namespaces/a/pods/p", "get pods a/p" },
		{ "named_group_and_subresource",
			{ .verb = KAR_PATCH, .res = &jobs, .ns = "a", .name = "j", .subresource = "status" },
			"/apis/batch/v1/namespaces/a/jobs/j/status", "patch jobs/status a/j" },
		{ "all_namespaces", { .verb = KAR_LIST, .res = &pods, .ns = NULL }, "/api/v1/pods",
			"list pods" },
		{ "empty_namespace_means_all", { .verb = KAR_LIST, .res = &pods, .ns = "" }, "/api/v1/pods",
			"list pods" },
		{ "cluster_scope_ignores_the_namespace",
			{ .verb = KAR_GET, .res = &nodes, .ns = "a", .name = "n" }, "/api/v1/nodes/n",
			"get nodes n" },
		{ "create_has_no_name", { .verb = KAR_CREATE, .res = &pods, .ns = "a" },
			"/api/v1/namespaces/a/pods", "create pods in a" },
		{ "names_are_encoded",
			{ .verb = KAR_GET, .res = &pods, .ns = "../x", .name = "a/b?c#d%e f:g\xc3\xa9" },
			"/api/v1/namespaces/..%2Fx/pods/a%2Fb%3Fc%23d%25e%20f%3Ag%C3%A9",
			"get pods ../x/a/b?c#d%e f:g\xc3\xa9" },
		{ "selectors_are_encoded",
			{ .verb = KAR_LIST,
				.res = &pods,
				.label_selector = "a in (b,c),d!=e",
				.field_selector = "x=y&z+1" },
			"/api/v1/pods?labelSelector=a%20in%20%28b%2Cc%29%2Cd%21%3De&fieldSelector=x%3Dy%26z%2B1",
			"list pods" },
		{ "watch",
			{ .verb = KAR_WATCH,
				.res = &pods,
				.resource_version = "7",
				.bookmarks = true,
				.timeout_seconds = 300 },
			"/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300",
			"watch pods" },
		{ "relist_at_a_version",
			{ .verb = KAR_LIST,
				.res = &pods,
				.resource_version = "7",
				.resource_version_match = "NotOlderThan" },
			"/api/v1/pods?resourceVersion=7&resourceVersionMatch=NotOlderThan", "list pods" },
		{ "next_page_carries_neither_version_nor_match",
			{ .verb = KAR_LIST,
				.res = &pods,
				.resource_version = "7",
				.resource_version_match = "NotOlderThan",
				.limit = 500,
				.continue_token = "to+ken" },
			"/api/v1/pods?limit=500&continue=to%2Bken", "list pods" },
		{ "apply",
			{ .verb = KAR_PATCH,
				.res = &pods,
				.ns = "a",
				.name = "p",
				.field_manager = "kar",
				.force = true,
				.dry_run = true },
			"/api/v1/namespaces/a/pods/p?fieldManager=kar&force=true&dryRun=All",
			"patch pods a/p" },
		{ "create_that_refuses_unknown_fields",
			{ .verb = KAR_CREATE,
				.res = &pods,
				.ns = "a",
				.field_manager = "kar",
				.strict = true },
			"/api/v1/namespaces/a/pods?fieldManager=kar&fieldValidation=Strict",
			"create pods in a" },
	};
	int failed = 0;

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf path = { 0 };
		char *what = kar_request_what(&rows[i].request);

		kar_request_path(&rows[i].request, &path);
		if (strcmp(path.p, rows[i].path) != 0 || strcmp(what, rows[i].what) != 0) {
			print_error("%s: \"%s\" (%s)\n", rows[i].name, path.p, what);
			failed++;
		}
		kar_buf_release(&path);
		free(what);
	}
	assert_int_equal(failed, 0);
}

/* --- builders --- */

static void builders_fill_what_the_verb_needs(void **state KAR_UNUSED)
{
	const struct {
		struct kar_request r;
		const char *verb, *method, *content_type;
		bool replayable;
		enum kar_lane lane;
	} rows[] = {
		{ kar_client_get(&pods, "a", "p"), "get", "GET", "application/json", true, KAR_LANE_WRITES },
		{ kar_client_list(&pods, "a"), "list", "GET", "application/json", true, KAR_LANE_WRITES },
		{ kar_client_watch(&pods, "a", "1"), "watch", "GET", "application/json", true,
			KAR_LANE_WATCHES },
		{ kar_client_create(&pods, "a", text("{}")), "create", "POST", "application/json", false,
			KAR_LANE_WRITES },
		{ kar_client_update(&pods, "a", "p", text("{}")), "update", "PUT", "application/json", false,
			KAR_LANE_WRITES },
		{ kar_client_patch(&pods, "a", "p", KAR_PATCH_JSON, text("[]")), "patch", "PATCH",
			"application/json-patch+json", false, KAR_LANE_WRITES },
		{ kar_client_patch(&pods, "a", "p", KAR_PATCH_MERGE, text("{}")), "patch", "PATCH",
			"application/merge-patch+json", false, KAR_LANE_WRITES },
		{ kar_client_patch(&pods, "a", "p", KAR_PATCH_STRATEGIC, text("{}")), "patch", "PATCH",
			"application/strategic-merge-patch+json", false, KAR_LANE_WRITES },
		{ kar_client_patch(&pods, "a", "p", KAR_PATCH_APPLY, text("{}")), "patch", "PATCH",
			"application/apply-patch+yaml", true, KAR_LANE_WRITES },
		{ kar_client_delete(&pods, "a", "p", text("{}")), "delete", "DELETE", "application/json",
			false, KAR_LANE_WRITES },
		{ kar_client_deletecollection(&pods, "a", "x=y", text("{}")), "deletecollection", "DELETE",
			"application/json", false, KAR_LANE_WRITES },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_request *r = &rows[i].r;

		assert_string_equal(kar_verb_name(r->verb), rows[i].verb);
		assert_string_equal(kar_request_method(r->verb), rows[i].method);
		assert_string_equal(kar_request_content_type(r), rows[i].content_type);
		assert_int_equal(r->replayable, rows[i].replayable);
		assert_int_equal(r->lane, rows[i].lane);
		assert_ptr_equal(r->res, &pods);
		assert_string_equal(r->ns, "a");
		assert_int_equal(kar_request_writes(r->verb), strcmp(rows[i].method, "GET") != 0);
	}
}

static void answers_are_asked_for_in_the_form_that_is_read(void **state KAR_UNUSED)
{
	static const char json[] = "application/json";
	static const char protobuf[] = "application/vnd.kubernetes.protobuf, application/json";
	static const char metadata[] =
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json";
	const struct {
		struct kar_request r;
		const char *accept;
	} rows[] = {
		{ { .verb = KAR_LIST }, json },
		{ { .verb = KAR_WATCH }, json },
		{ { .verb = KAR_LIST, .protobuf = true }, protobuf },
		{ { .verb = KAR_WATCH, .protobuf = true }, protobuf },
		{ { .verb = KAR_CREATE }, json },
		{ { .verb = KAR_CREATE, .metadata_only = true }, metadata },
		{ { .verb = KAR_GET, .metadata_only = true }, metadata },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++)
		assert_string_equal(kar_request_accept(&rows[i].r), rows[i].accept);
}

static void delete_options_say_what_is_asked(void **state KAR_UNUSED)
{
	struct kar_buf out = { 0 };
	struct kar_request bare = kar_client_delete(&pods, "a", "p", text(""));
	size_t n = 0;
	char *body = kar_request_body(&bare, &n);

	kar_delete_options(&out, "u-1", 0, "Background", 0);
	assert_string_equal(out.p,
		"{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,"
		"\"preconditions\":{\"uid\":\"u-1\"},\"propagationPolicy\":\"Background\"}");
	kar_buf_clear(&out);
	kar_delete_options(&out, "u-1", 77, NULL, -1);
	assert_string_equal(out.p,
		"{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
		"\"preconditions\":{\"uid\":\"u-1\",\"resourceVersion\":\"77\"}}");
	/* Even without options: a DELETE without a body could be replayed. */
	assert_string_equal(body, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}");
	assert_int_equal(n, strlen(body));
	kar_buf_release(&out);
	free(body);
}

/* An API server that gets a body does not read the query: a dry run asked for only there deletes. */
static void a_dry_deletion_is_asked_for_in_its_body(void **state KAR_UNUSED)
{
	static const struct {
		const char *options, *sent;
	} rows[] = {
		{ "", "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"dryRun\":[\"All\"]}" },
		{ "{\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"u\"}}",
			"{\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"u\"},\"dryRun\":[\"All\"]}" },
	};

	for (size_t i = 0; i < 2 * KAR_LEN(rows); i++) {
		struct kar_str options = text(rows[i / 2].options);
		struct kar_request r = i % 2 ? kar_client_delete(&pods, "a", "p", options)
					     : kar_client_deletecollection(&pods, "a", NULL, options);
		size_t n = 0;
		char *body;

		r.dry_run = true;
		body = kar_request_body(&r, &n);
		assert_string_equal(body, rows[i / 2].sent);
		assert_int_equal(n, strlen(body));
		free(body);
	}
}

/* --- throttle --- */

static void bucket_gives_the_burst_then_the_rate(void **state KAR_UNUSED)
{
	struct kar_bucket b = { .qps = 10, .burst = 2, .tokens = 2, .at = 1000 }, unlimited = { 0 };

	assert_int_equal(kar_bucket_take(&b, 1000), 0);
	assert_int_equal(kar_bucket_take(&b, 1000), 0);
	assert_in_range(kar_bucket_take(&b, 1000), 100, 101);
	assert_in_range(kar_bucket_take(&b, 1050), 50, 51);
	assert_int_equal(kar_bucket_take(&b, 1101), 0);
	assert_in_range(kar_bucket_take(&b, 1101), 90, 101);
	assert_int_equal(kar_bucket_take(&b, 99000), 0); /* never more than the burst */
	assert_int_equal(kar_bucket_take(&b, 99000), 0);
	assert_in_range(kar_bucket_take(&b, 99000), 99, 101);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(kar_bucket_take(&unlimited, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_paths),
		cmocka_unit_test(builders_fill_what_the_verb_needs),
		cmocka_unit_test(answers_are_asked_for_in_the_form_that_is_read),
		cmocka_unit_test(delete_options_say_what_is_asked),
		cmocka_unit_test(a_dry_deletion_is_asked_for_in_its_body),
		cmocka_unit_test(bucket_gives_the_burst_then_the_rate),
	};

	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
