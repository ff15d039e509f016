#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/http_text.h"
#include "common/kube/client.h"
#include "common/kube/request.h"
#include "test/unit/protobuf_text.h"

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
		"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json";
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

/* --- back-off, throttle --- */

static void backoff_doubles_up_to_its_cap_with_jitter(void **state KAR_UNUSED)
{
	static const kar_time expect[] = { 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000 };
	bool differ = false;

	for (uint64_t seed = 0; seed < 50; seed++) {
		struct kar_backoff b = { .base = 800, .cap = 30000, .jitter = 1.0, .random = seed };
		struct kar_backoff same = b;

		for (size_t i = 0; i < KAR_LEN(expect); i++) {
			kar_time d = kar_backoff_next(&b, 0);

			assert_in_range(d, expect[i], 2 * expect[i]);
			assert_int_equal(d, kar_backoff_next(&same, 0)); /* same seed, same delays */
			differ = differ || d != expect[i];
		}
		kar_backoff_reset(&b);
		assert_in_range(kar_backoff_next(&b, 0), 800, 1600);
		assert_in_range(kar_backoff_next(&b, 60000), 60000, 60000 + 1600);
	}
	assert_true(differ);
}

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

/* --- errors --- */

struct status_row {
	const char *name;
	int http;
	const char *content_type, *body;
	kar_time retry_after;
	bool write;
	enum kar_class expect;
	const char *reason;
	kar_time expect_wait;
	const char *says; /* a part of the text */
};

#define STATUS(code, reason, more) \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"the text\"," \
	"\"reason\":\"" reason "\"" more ",\"code\":" #code "}"
#define JSON "application/json"

static const struct status_row status_rows[] = {
	{ "bad_request", 400, JSON, STATUS(400, "BadRequest", ""), 0, true, KAR_INVALID, "BadRequest", 0,
		"create pods: the text" },
	{ "unauthorized", 401, JSON, STATUS(401, "Unauthorized", ""), 0, false, KAR_UNAUTHORIZED,
		"Unauthorized", 0, "" },
	{ "forbidden", 403, JSON, STATUS(403, "Forbidden", ""), 0, true, KAR_DENIED, "Forbidden", 0, "" },
	{ "forbidden_because_the_namespace_ends_says_so", 403, JSON,
		STATUS(403, "Forbidden",
			",\"details\":{\"causes\":[{\"reason\":\"NamespaceTerminating\","
			"\"message\":\"namespace x is being terminated\",\"field\":\"metadata.namespace\"}]}"),
		0, true, KAR_DENIED, "Forbidden", 0,
		"metadata.namespace: NamespaceTerminating namespace x is being terminated" },
	{ "not_found", 404, JSON, STATUS(404, "NotFound", ""), 0, false, KAR_NOTFOUND, "NotFound", 0, "" },
	{ "no_such_resource_is_plain_text", 404, "text/plain; charset=utf-8", "404 page not found\n", 0,
		false, KAR_NOTFOUND, "", 0, "HTTP 404: 404 page not found" },
	{ "conflict", 409, JSON, STATUS(409, "Conflict", ""), 0, true, KAR_CONFLICT, "Conflict", 0, "" },
	{ "already_exists", 409, JSON, STATUS(409, "AlreadyExists", ""), 0, true, KAR_EXISTS, "AlreadyExists",
		0, "" },
	{ "expired", 410, JSON, STATUS(410, "Expired", ""), 0, false, KAR_GONE, "Expired", 0, "" },
	{ "gone_without_a_status", 410, "", "", 0, false, KAR_GONE, "", 0, "HTTP 410" },
	{ "too_large_object", 413, "text/plain", "too large", 0, true, KAR_INVALID, "", 0, "too large" },
	{ "unsupported_patch", 415, JSON, STATUS(415, "UnsupportedMediaType", ""), 0, true, KAR_INVALID,
		"UnsupportedMediaType", 0, "" },
	{ "invalid_lists_its_causes", 422, JSON,
		STATUS(422, "Invalid",
			",\"details\":{\"causes\":[{\"reason\":\"FieldValueInvalid\",\"message\":\"must be "
			"positive\",\"field\":\"spec.n\"},{\"reason\":\"FieldValueRequired\",\"message\":\"is "
			"needed\",\"field\":\"spec.m\"}]}"),
		0, true, KAR_INVALID, "Invalid", 0,
		"spec.n: FieldValueInvalid must be positive, spec.m: FieldValueRequired is needed" },
	{ "throttled_in_plain_text", 429, "text/plain; charset=utf-8",
		"Too many requests, please try again later.\n", 5000, true, KAR_RETRY, "", 5000,
		"HTTP 429: Too many requests, please try again later." },
	{ "throttled_by_details", 429, JSON,
		STATUS(429, "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":7}"), 1000, true,
		KAR_RETRY, "TooManyRequests", 7000, "" },
	{ "absurd_wait_is_bounded", 429, JSON,
		STATUS(429, "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":9223372036854775807}"), 0,
		true, KAR_RETRY, "TooManyRequests", KAR_RETRY_AFTER_MAX, "" },
	{ "internal_error_of_a_read", 500, JSON, STATUS(500, "InternalError", ""), 0, false, KAR_RETRY,
		"InternalError", 0, "" },
	{ "internal_error_of_a_write", 500, JSON, STATUS(500, "InternalError", ""), 0, true, KAR_UNKNOWN,
		"InternalError", 0, "" },
	{ "bad_gateway_with_a_page", 502, "text/html",
		"<html>\r\n<head><title>502 Bad Gateway</title></head>\n\x01\xff</html>", 0, true,
		KAR_UNKNOWN, "", 0,
		"HTTP 502: <html> <head><title>502 Bad Gateway</title></head> ?"
		"?</html>" },
	{ "bad_gateway_of_a_read", 502, "text/html", "<html>", 0, false, KAR_RETRY, "", 0,
		"HTTP 502: <html>" },
	{ "server_is_stopping", 503, JSON,
		STATUS(503, "ServiceUnavailable", ",\"details\":{\"retryAfterSeconds\":1}"), 0, true,
		KAR_RETRY, "ServiceUnavailable", 1000, "" },
	{ "proxy_has_no_server_for_a_write", 503, "text/html", "<html>", 0, true, KAR_UNKNOWN, "", 0, "" },
	{ "proxy_has_no_server_for_a_read", 503, "text/html", "<html>", 0, false, KAR_RETRY, "", 0, "" },
	{ "write_timed_out", 504, JSON, STATUS(504, "Timeout", ""), 0, true, KAR_UNKNOWN, "Timeout", 0, "" },
	{ "read_timed_out", 504, JSON, STATUS(504, "Timeout", ""), 0, false, KAR_RETRY, "Timeout", 0, "" },
	{ "version_too_large", 504, JSON,
		STATUS(504, "Timeout",
			",\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"newer than ours\"}],"
			"\"retryAfterSeconds\":1}"),
		0, false, KAR_GONE, "Timeout", 1000, "ResourceVersionTooLarge" },
	{ "error_event_in_a_200_stream", 200, JSON, STATUS(410, "Expired", ""), 0, false, KAR_GONE, "Expired",
		0, "" },
	{ "redirect", 302, "", "", 0, false, KAR_INVALID, "", 0, "HTTP 302" },
	{ "json_that_is_no_status", 500, JSON, "{\"kind\":\"Pod\",\"reason\":\"Conflict\"}", 0, false,
		KAR_RETRY, "", 0, "HTTP 500: {\"kind\":\"Pod\"" },
	{ "status_that_is_cut", 409, JSON, "{\"kind\":\"Status\",\"reason\":\"Already", 0, true, KAR_CONFLICT,
		"", 0, "HTTP 409" },
	{ "status_of_the_wrong_shape", 500, JSON, "{\"kind\":[1]}", 0, false, KAR_RETRY, "", 0, "HTTP 500" },
};

/* 1 if the error made of @body is not the one that @row wants. */
static int check_error(const struct status_row *row, struct kar_str body)
{
	struct kar_err e;

	kar_status_error(&e, row->http, row->content_type, body, row->retry_after, row->write, "create pods");
	if (e.what == row->expect && strcmp(e.reason, row->reason) == 0 &&
		e.retry_after == row->expect_wait && strstr(e.msg, row->says) &&
		strncmp(e.msg, "create pods", 11) == 0 && e.http == (row->http == 200 ? 410 : row->http))
		return 0;
	print_error("%s: %s, http %d, reason \"%s\", wait %lld, \"%s\"\n", row->name,
		kar_err_class_name(e.what), e.http, e.reason, (long long)e.retry_after, e.msg);
	return 1;
}

static void rows_of_errors(void **state KAR_UNUSED)
{
	int failed = 0;

	for (size_t i = 0; i < KAR_LEN(status_rows); i++)
		failed += check_error(&status_rows[i], text(status_rows[i].body));
	assert_int_equal(failed, 0);
}

#define PROTOBUF "application/vnd.kubernetes.protobuf"
#define PB_STATUS(fields) \
	"'k8s' 00 1={1={'v1'} 2={'Status'}} 2={1={1={} 2={} 3={}} 2={'Failure'} " fields "} 3={} 4={}"

/* Their bodies are in the words of test/unit/protobuf_text.h. */
static const struct status_row protobuf_rows[] = {
	{ "forbidden", 403, PROTOBUF, PB_STATUS("3={'no'} 4={'Forbidden'} 5={3={'pods'} 5#00} 6#93 03"), 0,
		true, KAR_DENIED, "Forbidden", 0, "create pods: no" },
	{ "content_type_with_a_parameter", 410, PROTOBUF ";stream=watch",
		PB_STATUS("3={'old'} 4={'Expired'} 6#9a 03"), 0, false, KAR_GONE, "Expired", 0,
		"create pods: old" },
	{ "causes_and_wait", 429, PROTOBUF,
		PB_STATUS("4={'TooManyRequests'} 5={4={1={'R'} 2={'m'} 3={'f'}} 5#07} 6#ad 03"), 0, true,
		KAR_RETRY, "TooManyRequests", 7000, "create pods: TooManyRequests; f: R m" },
	{ "version_too_large", 504, PROTOBUF,
		PB_STATUS("4={'Timeout'} 5={4={1={'ResourceVersionTooLarge'}} 5#01}"), 0, false, KAR_GONE,
		"Timeout", 1000, "ResourceVersionTooLarge" },
	{ "error_event_in_a_200_stream", 200, PROTOBUF, PB_STATUS("4={'Expired'} 6#9a 03"), 0, false,
		KAR_GONE, "Expired", 0, "" },
	{ "no_status", 500, PROTOBUF, "'k8s' 00 1={1={'v1'} 2={'Pod'}} 2={4={'Conflict'}}", 0, false,
		KAR_RETRY, "", 0, "HTTP 500: k8s" },
	{ "status_that_is_cut", 409, PROTOBUF, "'k8s' 00 1={1={'v1'} 2={'Status'}} 12 40 4={'AlreadyExists'}",
		0, true, KAR_CONFLICT, "", 0, "HTTP 409: k8s" },
	{ "protobuf_that_is_called_json", 409, JSON, PB_STATUS("4={'AlreadyExists'}"), 0, true, KAR_CONFLICT,
		"", 0, "HTTP 409: k8s" },
	{ "empty", 500, PROTOBUF, "", 0, false, KAR_RETRY, "", 0, "HTTP 500" },
};

static void rows_of_errors_in_protobuf(void **state KAR_UNUSED)
{
	int failed = 0;

	for (size_t i = 0; i < KAR_LEN(protobuf_rows); i++) {
		struct kar_buf body = { 0 };

		pb_text(protobuf_rows[i].body, &body);
		failed += check_error(&protobuf_rows[i], (struct kar_str){ body.p, body.n });
		kar_buf_release(&body);
	}
	assert_int_equal(failed, 0);
}

static void when_an_error_text_is_long_then_256_bytes_are_kept(void **state KAR_UNUSED)
{
	static char page[100000];
	struct kar_err e;

	memset(page, 'x', sizeof(page));
	kar_status_error(&e, 502, "text/html", (struct kar_str){ page, sizeof(page) }, 0, false,
		"get pods a/p");
	assert_int_equal(strlen(e.msg), strlen("get pods a/p: HTTP 502: ") + 256);
}

/* --- answers --- */

static void rows_of_answers(void **state KAR_UNUSED)
{
	static const struct {
		const char *name, *body;
		enum kar_class read, write;
		kar_rv rv;
		const char *uid;
	} rows[] = {
		{ "object",
			"{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"18446744073709551615\"}}",
			KAR_OK, KAR_OK, UINT64_MAX, "u" },
		{ "status_of_a_delete", "{\"kind\":\"Status\",\"metadata\":{},\"status\":\"Success\"}",
			KAR_OK, KAR_OK, 0, "" },
		{ "version_that_is_no_number", "{\"metadata\":{\"resourceVersion\":\"a7\"}}", KAR_OK, KAR_OK,
			0, "" },
		{ "cut_cleanly", "{\"metadata\":{\"uid\":\"u\"", KAR_RETRY, KAR_UNKNOWN, 0, "" },
		{ "empty", "", KAR_RETRY, KAR_UNKNOWN, 0, "" },
		{ "page_of_a_proxy", "<html>", KAR_RETRY, KAR_UNKNOWN, 0, "" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		for (int write = 0; write < 2; write++) {
			enum kar_class expect = write ? rows[i].write : rows[i].read;
			struct kar_arena arena = { 0 };
			struct kar_answer a = { .uid = "" };
			struct kar_err e = { 0 };
			int rc = kar_answer_read(&arena, 200, text(rows[i].body), write, &a, &e);

			if (e.what != expect)
				print_error("%s: %s (%s)\n", rows[i].name, kar_err_class_name(e.what), e.msg);
			assert_int_equal(rc, expect == KAR_OK ? 0 : -1);
			assert_int_equal(e.what, expect);
			assert_true(a.rv == rows[i].rv);
			assert_string_equal(a.uid, rows[i].uid);
			kar_arena_release(&arena);
		}
	}
}

/* --- the text of HTTP --- */

static void rows_of_retry_after(void **state KAR_UNUSED)
{
	enum { NOV_21 = 1795268787 }; /* Sat, 21 Nov 2026 13:46:27 GMT */
	static const struct {
		const char *value;
		kar_time expect;
	} rows[] = {
		{ "0", 0 },
		{ "5", 5000 },
		{ "99999999999999999999", KAR_RETRY_AFTER_MAX },
		{ "601", KAR_RETRY_AFTER_MAX },
		{ "Sat, 21 Nov 2026 13:46:37 GMT", 10000 },
		{ "Sat, 21 Nov 2026 13:46:17 GMT", 0 },
		{ "Sun, 21 Nov 2027 13:46:17 GMT", KAR_RETRY_AFTER_MAX },
		{ "soon", 0 },
		{ "", 0 },
		{ "-3", 0 },
		{ "1.5", 0 },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		kar_time got = kar_retry_after_parse(rows[i].value, (kar_time)NOV_21 * KAR_SECOND);

		if (got != rows[i].expect)
			print_error("\"%s\": %lld\n", rows[i].value, (long long)got);
		assert_int_equal(got, rows[i].expect);
	}
}

static void rows_of_urls(void **state KAR_UNUSED)
{
	static const struct {
		const char *url;
		int rc;
		const char *host, *port, *rest;
	} rows[] = {
		{ "https://k:6443/api", 0, "k", "6443", "/api" },
		{ "https://k", 0, "k", "", "" },
		{ "https://[::1]:6443", 0, "[::1]", "6443", "" },
		{ "https://[::1]/x", 0, "[::1]", "", "/x" },
		{ "https://k?x:1", 0, "k", "", "?x:1" },
		{ "https://u:p@k", -1, "", "", "" },
		{ "https://", -1, "", "", "" },
		{ "https://:1", -1, "", "", "" },
		{ "https://[::1", -1, "", "", "" },
		{ "k:6443", -1, "", "", "" },
		{ "://k", -1, "", "", "" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_url u = { 0 };

		if (kar_url_split(rows[i].url, &u) != rows[i].rc)
			print_error("%s\n", rows[i].url);
		assert_int_equal(kar_url_split(rows[i].url, &u), rows[i].rc);
		if (rows[i].rc)
			continue;
		assert_int_equal(u.host.n, strlen(rows[i].host));
		assert_memory_equal(u.host.p, rows[i].host, u.host.n);
		assert_int_equal(u.port.n, strlen(rows[i].port));
		assert_memory_equal(u.port.p, rows[i].port, u.port.n);
		assert_string_equal(u.rest.p, rows[i].rest);
	}
}

static void add_line(struct kar_head_text *t, const char *line)
{
	kar_head_text_add(t, line, strlen(line), 0);
}

static void head_keeps_what_is_used_of_the_final_response(void **state KAR_UNUSED)
{
	struct kar_head_text t = { 0 };

	add_line(&t, "HTTP/1.1 103 Early Hints\r\n");
	add_line(&t, "Content-Type: wrong\r\n");
	add_line(&t, "\r\n");
	assert_false(t.done);
	add_line(&t, "HTTP/2 200 \r\n");
	assert_string_equal(t.content_type, "");
	add_line(&t, "content-TYPE:\t application/json \r\n");
	add_line(&t, "warning: 299 - \"first\"\r\n");
	add_line(&t, "warning: 299 - \"second\"\r\n");
	add_line(&t, "X-Retry-After: 9\r\n");
	add_line(&t, "no colon\r\n");
	add_line(&t, "\r\n");
	assert_true(t.done && t.http2);
	assert_int_equal(t.status, 200);
	assert_string_equal(t.content_type, "application/json");
	assert_string_equal(t.warning, "299 - \"first\"");
	assert_int_equal(t.retry_after, 0);
	add_line(&t, "Content-Type: trailer\r\n");
	assert_string_equal(t.content_type, "application/json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_paths),
		cmocka_unit_test(builders_fill_what_the_verb_needs),
		cmocka_unit_test(answers_are_asked_for_in_the_form_that_is_read),
		cmocka_unit_test(delete_options_say_what_is_asked),
		cmocka_unit_test(backoff_doubles_up_to_its_cap_with_jitter),
		cmocka_unit_test(bucket_gives_the_burst_then_the_rate),
		cmocka_unit_test(rows_of_errors),
		cmocka_unit_test(rows_of_errors_in_protobuf),
		cmocka_unit_test(when_an_error_text_is_long_then_256_bytes_are_kept),
		cmocka_unit_test(rows_of_answers),
		cmocka_unit_test(rows_of_retry_after),
		cmocka_unit_test(rows_of_urls),
		cmocka_unit_test(head_keeps_what_is_used_of_the_final_response),
	};

	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
