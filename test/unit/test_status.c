/* What an answer of the API server means: an error with its class, or an object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/kube/client.h"
#include "common/kube/request.h"
#include "common/net/http_text.h"
#include "test/unit/protobuf_text.h"

static struct kar_str text(const char *s)
{
	return (struct kar_str){ s, strlen(s) };
}

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

#define REFUSED(message) \
	"{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,\"message\":\"" message "\"}"

static const struct {
	const char *name, *body;
	int http;
	enum kar_cause expect;
} cause_rows[] = {
	{ "quota",
		REFUSED("pods p is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"),
		403, KAR_CAUSE_QUOTA },
	{ "role",
		REFUSED("pods is forbidden: User \\\"u\\\" cannot create resource \\\"pods\\\" in API group \\\"\\\""),
		403, KAR_CAUSE_RBAC },
	{ "policy",
		REFUSED("pods p is forbidden: ValidatingAdmissionPolicy no-gpus denied request: User may not"),
		403, KAR_CAUSE_NONE },
	{ "quota_that_asks_for_limits", REFUSED("pods p is forbidden: failed quota: q: must specify cpu"),
		403, KAR_CAUSE_QUOTA_NEEDS },
	{ "namespace_ends",
		STATUS(403, "Forbidden", ",\"details\":{\"causes\":[{\"reason\":\"NamespaceTerminating\"}]}"),
		403, KAR_CAUSE_NAMESPACE_ENDS },
	{ "page_of_a_proxy", "exceeded quota: none", 403, KAR_CAUSE_NONE },
	{ "quota_in_the_words_of_an_invalid_object",
		STATUS(422, "Invalid", ",\"message\":\"exceeded quota: q\""), 422, KAR_CAUSE_NONE },
};

#define LONG_32 "a-name-that-has-just-32-letters-"

static const struct {
	const char *name, *message, *quota, *lacks;
} quota_rows[] = {
	{ "one_resource",
		"pods p is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1",
		"q", "pods" },
	{ "several",
		"exceeded quota: a.b, requested: cpu=100m,requests.a.b/gpu=1, used: cpu=1, limited: cpu=1",
		"a.b", "cpu,requests.a.b/gpu" },
	{ "no_list", "exceeded quota: q", "", "" },
	{ "cut", "exceeded quota: q, requested: pods=1", "q", "" },
	{ "long", "exceeded quota: " LONG_32 LONG_32 ", requested: " LONG_32 LONG_32 LONG_32 "=1, used: x",
		"", "" },
};

static void words_of_a_quota(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(quota_rows); i++) {
		struct kar_quota_words w;

		kar_quota_words_read(quota_rows[i].message, &w);
		if (strcmp(w.name, quota_rows[i].quota) != 0 || strcmp(w.lacks, quota_rows[i].lacks) != 0)
			fail_msg("%s: %s lacks %s", quota_rows[i].name, w.name, w.lacks);
	}
}

static void causes_of_refusals(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(cause_rows); i++) {
		struct kar_err e;

		kar_status_error(&e, cause_rows[i].http, JSON, text(cause_rows[i].body), 0, true,
			"create pods");
		assert_string_equal(e.quota.name, e.cause == KAR_CAUSE_QUOTA ? "q" : "");
		if (e.cause != cause_rows[i].expect)
			fail_msg("%s: cause %d, want %d", cause_rows[i].name, e.cause, cause_rows[i].expect);
	}
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

/* What the API server says of a pod with three faults, each twice: in the message, and as a cause. */
#define NAME_RULE \
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " \
	"alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define FAULTS \
	"[spec.containers[0].name: Invalid value: 'A_': " NAME_RULE \
	", spec.volumes[0].name: Invalid value: 'B_': " NAME_RULE \
	", spec.containers[0].resources.requests: Invalid value: '2': must be less than or equal to cpu limit of 1]"
#define INVALID_POD \
	"{\"kind\":\"Status\",\"message\":\"Pod 'j-w-0' is invalid: " FAULTS \
	"\",\"reason\":\"Invalid\",\"details\":{\"causes\":[{" \
	"\"field\":\"spec.containers[0].name\",\"message\":\"Invalid value: 'A_': " NAME_RULE \
	"\"},{\"field\":\"spec.containers[0].resources.requests\",\"message\":\"Invalid value: '2': must be less than or equal " \
	"to cpu limit of 1\"}]},\"code\":422}"

static void several_causes_are_told_to_the_last_word(void **state KAR_UNUSED)
{
	struct kar_err e;

	kar_status_error(&e, 422, JSON, text(INVALID_POD), 0, true, "create pods default/j-w-0");
	assert_string_equal(e.msg, "create pods default/j-w-0: Pod 'j-w-0' is invalid: " FAULTS);
}

/* Wherever it ends, it ends with a whole character and says that there was more. */
static void too_many_causes_are_cut(void **state KAR_UNUSED)
{
	static const char *const what[] = { "create pods a/p", "create pods a/p1", "create pods a/p12" };

	for (size_t i = 0; i < KAR_LEN(what); i++) {
		struct kar_buf body = { 0 };
		struct kar_err e;

		kar_buf_puts(&body, "{\"kind\":\"Status\",\"message\":\"no\",\"details\":{\"causes\":[");
		for (int k = 0; k < 500; k++)
			kar_buf_printf(&body, "%s{\"message\":\"\xE2\x82\xAC\xE2\x82\xAC %d\"}", k ? "," : "",
				k);
		kar_buf_puts(&body, "]}}");
		kar_status_error(&e, 422, JSON, text(kar_buf_cstr(&body)), 0, true, what[i]);
		assert_int_equal(kar_utf8_clean(e.msg, strlen(e.msg)), strlen(e.msg));
		assert_string_equal(e.msg + strlen(e.msg) - 3, "...");
		assert_non_null(strstr(e.msg, "a/p"));
		kar_buf_release(&body);
	}
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

/* "k8s\0", then runtime.Unknown whose raw is metadata with a uid and a resourceVersion. */
static void answers_in_protobuf_are_read_to_the_last_byte(void **state KAR_UNUSED)
{
	static const char bytes[] = "k8s\0\x12\x09\x0a\x07\x2a\x01u\x32\x02"
				    "41";
	struct kar_str body = { bytes, sizeof(bytes) - 1 };
	struct kar_arena arena = { 0 };
	struct kar_answer a;
	struct kar_err e;

	assert_int_equal(kar_answer_read(&arena, 201, body, true, &a, &e), 0);
	assert_int_equal(a.status, 201);
	assert_string_equal(a.uid, "u");
	assert_true(a.rv == 41);
	while (--body.n) {
		assert_int_equal(kar_answer_read(&arena, 201, body, true, &a, &e), -1);
		assert_int_equal(e.what, KAR_UNKNOWN);
	}
	kar_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_errors),
		cmocka_unit_test(causes_of_refusals),
		cmocka_unit_test(words_of_a_quota),
		cmocka_unit_test(rows_of_errors_in_protobuf),
		cmocka_unit_test(when_an_error_text_is_long_then_256_bytes_are_kept),
		cmocka_unit_test(several_causes_are_told_to_the_last_word),
		cmocka_unit_test(too_many_causes_are_cut),
		cmocka_unit_test(rows_of_answers),
		cmocka_unit_test(answers_in_protobuf_are_read_to_the_last_byte),
	};

	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
