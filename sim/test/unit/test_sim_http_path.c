/* What request lines, media types and options mean. A row's answer is printed as one line, refusals as "CODE Reason: message". */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/apiserver/http_accept.h"
#include "sim/apiserver/http_path.h"

#define QJ "/apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs"

static void add(struct kar_buf *out, const char *key, const char *value)
{
	if (value)
		kar_buf_printf(out, " %s=%s", key, value);
}

static void add_int(struct kar_buf *out, const char *key, int64_t value)
{
	if (value)
		kar_buf_printf(out, " %s=%" PRId64, key, value);
}

static void add_flag(struct kar_buf *out, const char *key, bool value)
{
	if (value)
		kar_buf_printf(out, " %s", key);
}

static void print_request(const struct sim_route *r, struct kar_buf *out)
{
	const struct sim_request *rq = &r->request;
	bool writes = rq->verb == KAR_CREATE || rq->verb == KAR_UPDATE || rq->verb == KAR_PATCH;

	kar_buf_printf(out, "%s %s%s%s/%s", kar_verb_name(rq->verb), rq->group, *rq->group ? "/" : "",
		rq->version, rq->resource);
	add(out, "ns", rq->ns);
	add(out, "name", rq->name);
	add(out, "sub", rq->subresource);
	add(out, "rest", r->rest);
	add(out, "labels", rq->label_selector);
	add(out, "fields", rq->field_selector);
	add(out, "rv", rq->resource_version);
	add(out, "match", rq->resource_version_match);
	add(out, "continue", rq->continue_token);
	add_int(out, "limit", rq->limit);
	add_int(out, "timeout", rq->timeout_seconds);
	add_flag(out, "bookmarks", rq->bookmarks);
	add_flag(out, "initial", rq->send_initial_events);
	add_flag(out, "no-initial", rq->skip_initial_events);
	add(out, "manager", rq->field_manager);
	add_flag(out, "unvalidated", writes && !rq->field_validation);
	if (rq->field_validation && strcmp(rq->field_validation, "Warn") != 0) /* the default */
		add(out, "validation", rq->field_validation);
	add_flag(out, "force", rq->force);
	add_flag(out, "dry", rq->dry_run);
	add(out, "propagation", rq->propagation_policy);
	if (rq->has_grace)
		kar_buf_printf(out, " grace=%" PRId64, rq->grace_period_seconds);
}

static void print_refusal(struct sim_response *r, struct kar_buf *out)
{
	kar_buf_printf(out, "%d %s: %s", r->code, sim_text_or(sim_get(r->object, "reason"), "?"),
		sim_text_or(sim_get(r->object, "message"), "?"));
	sim_response_release(r);
}

static void print_route(const char *method, const char *target, enum kar_patch_type patch, bool has_body,
	struct kar_buf *out)
{
	struct sim_response refused = { 0 };
	struct kar_arena arena = { 0 };
	struct sim_route r;

	if (!sim_route_parse(&arena, method, target, &r, &refused)) {
		print_refusal(&refused, out);
	} else if (!r.is_resource) {
		kar_buf_printf(out, "path %s", r.path);
	} else {
		r.request.patch_type = patch;
		if (sim_route_options(&r, has_body, &refused))
			print_request(&r, out);
		else
			print_refusal(&refused, out);
	}
	kar_arena_release(&arena);
}

struct row {
	const char *name, *method, *target, *want;
	bool has_body;
	enum kar_patch_type patch;
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct kar_buf got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

		print_route(rows[i].method, rows[i].target, rows[i].patch, rows[i].has_body, &got);
		if (strcmp(kar_buf_cstr(&got), rows[i].want) != 0)
			fail_msg("%s: %s %s:\n  got  %s\n  want %s", rows[i].name, rows[i].method,
				rows[i].target, kar_buf_cstr(&got), rows[i].want);
	}
}

static void paths_are_taken_apart(void **state)
{
	static const struct row rows[] = {
		{ "core_list", "GET", "/api/v1/pods", "list v1/pods" },
		{ "trailing_slash", "GET", "/api/v1/pods/", "list v1/pods" },
		{ "core_in_namespace", "GET", "/api/v1/namespaces/a/pods", "list v1/pods ns=a" },
		{ "core_named", "GET", "/api/v1/namespaces/a/pods/p", "get v1/pods ns=a name=p" },
		{ "head_is_refused", "HEAD", "/api/v1/namespaces/a/pods/p",
			"405 MethodNotAllowed: the server does not allow this method on the requested resource" },
		{ "status", "PUT", "/api/v1/namespaces/a/pods/p/status",
			"update v1/pods ns=a name=p sub=status" },
		{ "binding", "POST", "/api/v1/namespaces/a/pods/p/binding",
			"create v1/pods ns=a name=p sub=binding" },
		{ "more_than_a_subresource", "GET", "/api/v1/namespaces/a/services/s/proxy/x",
			"get v1/services ns=a name=s sub=proxy rest=x" },
		{ "all_namespaces", "GET", "/api/v1/namespaces", "list v1/namespaces" },
		{ "one_namespace", "GET", "/api/v1/namespaces/a", "get v1/namespaces name=a" },
		{ "namespace_status", "PUT", "/api/v1/namespaces/a/status",
			"update v1/namespaces name=a sub=status" },
		{ "namespace_finalize", "PUT", "/api/v1/namespaces/a/finalize",
			"update v1/namespaces name=a sub=finalize" },
		{ "resource_called_like_a_subresource", "GET", "/api/v1/namespaces/a/finalizers",
			"list v1/finalizers ns=a" },
		{ "group", "GET", QJ, "list kube-arbitrator.io/v1alpha1/queuejobs ns=default" },
		{ "group_named", "DELETE", QJ "/x",
			"delete kube-arbitrator.io/v1alpha1/queuejobs ns=default name=x" },
		{ "group_collection", "DELETE", QJ,
			"deletecollection kube-arbitrator.io/v1alpha1/queuejobs ns=default" },
		{ "cluster_scoped", "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:x",
			"get rbac.authorization.k8s.io/v1/clusterroles name=system:x" },
		{ "escaped_name", "GET", "/api/v1/nodes/a%3Ab", "get v1/nodes name=a:b" },
		{ "escaped_slash_is_one", "GET", "/api/v1/nodes/a%2Fb", "get v1/nodes name=a sub=b" },
		{ "plus_stays_in_a_path", "GET", "/api/v1/nodes/a+b", "get v1/nodes name=a+b" },
		{ "create", "POST", QJ, "create kube-arbitrator.io/v1alpha1/queuejobs ns=default" },
		{ "patch", "PATCH", QJ "/x",
			"patch kube-arbitrator.io/v1alpha1/queuejobs ns=default name=x" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

static void what_is_no_resource_is_a_path(void **state)
{
	static const struct row rows[] = {
		{ "root", "GET", "/", "path /" },
		{ "version", "GET", "/version?x=1", "path /version" },
		{ "api", "GET", "/api", "path /api" },
		{ "api_version", "GET", "/api/v1", "path /api/v1" },
		{ "groups", "GET", "/apis", "path /apis" },
		{ "group", "GET", "/apis/apps", "path /apis/apps" },
		{ "group_version", "GET", "/apis/apps/v1", "path /apis/apps/v1" },
		{ "openapi", "GET", "/openapi/v3/apis/apps/v1?hash=A", "path /openapi/v3/apis/apps/v1" },
		{ "other", "GET", "/apiserver/v1/pods/x", "path /apiserver/v1/pods/x" },
		{ "core_is_not_below_apis", "GET", "/apis/v1/pods", "path /apis/v1/pods" },
		{ "two_slashes_first", "GET", "//", "path //" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

#define NO_PATH "400 BadRequest: the request line names no valid path"
#define NOT_FOUND "404 NotFound: the server could not find the requested resource"

static void bad_request_lines_are_refused(void **state)
{
	static const struct row rows[] = {
		{ "not_a_path", "GET", "api/v1/pods", NO_PATH },
		{ "absolute", "GET", "http://x/api/v1/pods", NO_PATH },
		{ "empty", "GET", "", NO_PATH },
		{ "percent_alone", "GET", "/api/v1/pods/%", NO_PATH },
		{ "percent_and_one_digit", "GET", "/api/v1/pods/%4", NO_PATH },
		{ "percent_without_digits", "GET", "/api/v1/pods/%zz", NO_PATH },
		{ "nul", "GET", "/api/v1/pods/a%00b", NO_PATH },
		{ "empty_namespace", "GET", "/api/v1/namespaces//pods", NOT_FOUND },
		{ "empty_part", "GET", "/api//pods", NOT_FOUND },
		{ "old_watch", "GET", "/api/v1/watch/pods", NOT_FOUND },
		{ "old_watch_in_group", "GET", "/apis/apps/v1/watch/deployments", NOT_FOUND },
		{ "old_proxy", "GET", "/api/v1/proxy/nodes/x", NOT_FOUND },
		{ "method", "OPTIONS", "/api/v1/pods",
			"405 MethodNotAllowed: the server does not allow this method on the requested resource" },
		{ "long_path", "GET", "/api/v1/namespaces/a/pods/p/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17",
			"get v1/pods ns=a name=p sub=1 rest=2" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

static void lists_and_watches_have_options(void **state)
{
	static const struct row rows[] = {
		{ "limit_and_continue", "GET", "/api/v1/pods?limit=5&continue=abc",
			"list v1/pods continue=abc limit=5" },
		{ "selectors", "GET", "/api/v1/pods?labelSelector=a%3Db%2Cc&fieldSelector=spec.nodeName%3Dn",
			"list v1/pods labels=a=b,c fields=spec.nodeName=n" },
		{ "plus_is_a_space", "GET", "/api/v1/pods?labelSelector=a+in+(b)",
			"list v1/pods labels=a in (b)" },
		{ "version", "GET", "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact",
			"list v1/pods rv=7 match=Exact" },
		{ "watch_true", "GET", "/api/v1/pods?watch=true&timeoutSeconds=30",
			"watch v1/pods timeout=30" },
		{ "watch_1", "GET", "/api/v1/pods?watch=1", "watch v1/pods" },
		{ "watch_without_value", "GET", "/api/v1/pods?watch", "watch v1/pods" },
		{ "watch_of_any_other_value", "GET", "/api/v1/pods?watch=x", "watch v1/pods" },
		{ "watch_false", "GET", "/api/v1/pods?watch=False", "list v1/pods" },
		{ "watch_0", "GET", "/api/v1/pods?watch=0", "list v1/pods" },
		{ "watch_of_one_is_get", "GET", "/api/v1/nodes/n?watch=1", "get v1/nodes name=n" },
		{ "no_initial_events", "GET", "/api/v1/pods?watch=1&sendInitialEvents=false",
			"watch v1/pods no-initial" },
		{ "initial_events", "GET",
			"/api/v1/pods?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
			"watch v1/pods match=NotOlderThan bookmarks initial" },
		{ "first_one_counts", "GET", "/api/v1/pods?limit=1&limit=x", "list v1/pods limit=1" },
		{ "unknown_ones_do_not", "GET", "/api/v1/pods?foo=bar&&=x&limit=2", "list v1/pods limit=2" },
		{ "semicolons_are_not_separators", "GET", "/api/v1/pods?limit=1;continue=x&limit=3",
			"list v1/pods limit=3" },
		{ "what_cannot_be_decoded_is_dropped", "GET", "/api/v1/pods?labelSelector=%zz&limit=3",
			"list v1/pods limit=3" },
		{ "nul_is_dropped", "GET", "/api/v1/pods?labelSelector=a%00b", "list v1/pods" },
		{ "get_with_version", "GET", "/api/v1/nodes/n?resourceVersion=0",
			"get v1/nodes name=n rv=0" },
		{ "limit_is_a_word", "GET", "/api/v1/pods?limit=x",
			"400 BadRequest: strconv.ParseInt: parsing \"x\": invalid syntax" },
		{ "limit_is_empty", "GET", "/api/v1/pods?limit=",
			"400 BadRequest: strconv.ParseInt: parsing \"\": invalid syntax" },
		{ "limit_is_a_sign", "GET", "/api/v1/pods?limit=-",
			"400 BadRequest: strconv.ParseInt: parsing \"-\": invalid syntax" },
		{ "limit_is_too_large", "GET", "/api/v1/pods?limit=99999999999999999999",
			"400 BadRequest: strconv.ParseInt: parsing \"99999999999999999999\": value out of range" },
		{ "timeout_is_a_word", "GET", "/api/v1/pods?watch=1&timeoutSeconds=1s",
			"400 BadRequest: strconv.ParseInt: parsing \"1s\": invalid syntax" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

#define INVALID(kind) "422 Invalid: " kind ".meta.k8s.io \"\" is invalid: "
#define CREATE "create kube-arbitrator.io/v1alpha1/queuejobs ns=default"
#define PATCH "patch kube-arbitrator.io/v1alpha1/queuejobs ns=default name=x"

static void writes_have_options(void **state)
{
	static const struct row rows[] = {
		{ "dry_run", "POST", QJ "?dryRun=All", CREATE " dry" },
		{ "manager", "POST", QJ "?fieldManager=m&fieldValidation=Strict",
			CREATE " manager=m validation=Strict" },
		{ "dry_run_of_another_kind", "POST", QJ "?dryRun=x",
			INVALID("CreateOptions") "dryRun: Unsupported value: [\"x\"]: supported values: \"All\"" },
		{ "dry_run_of_two_kinds", "POST", QJ "?dryRun=All&dryRun=x",
			INVALID("CreateOptions") "dryRun: Unsupported value: [\"All\",\"x\"]: supported values: \"All\"" },
		{ "everything_wrong", "PUT", QJ "/x?fieldValidation=x&fieldManager=%01&dryRun=y",
			INVALID("UpdateOptions") "[fieldManager: Invalid value: \"\\x01\": invalid character U+0001 (at position 0), "
						 "dryRun: Unsupported value: [\"y\"]: supported values: \"All\", fieldValidation: Unsupported "
						 "value: \"x\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"]" },
		{ "apply", "PATCH", QJ "/x?fieldManager=m&force=true", PATCH " manager=m force", false,
			KAR_PATCH_APPLY },
		{ "apply_without_manager", "PATCH", QJ "/x",
			INVALID("PatchOptions") "fieldManager: Required value: is required for apply patch",
			false, KAR_PATCH_APPLY },
		{ "force_elsewhere", "PATCH", QJ "/x?force=false",
			INVALID("PatchOptions") "force: Forbidden: may not be specified for non-apply patch",
			false, KAR_PATCH_MERGE },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

#define DELETE "delete kube-arbitrator.io/v1alpha1/queuejobs ns=default name=x"
#define POLICIES "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""

static void deletes_have_options(void **state)
{
	static const struct row rows[] = {
		{ "policy_and_grace", "DELETE",
			QJ "/x?propagationPolicy=Orphan&gracePeriodSeconds=0&dryRun=All",
			DELETE " dry propagation=Orphan grace=0" },
		{ "negative_grace", "DELETE", QJ "/x?gracePeriodSeconds=-1", DELETE " grace=-1" },
		{ "grace_is_a_word", "DELETE", QJ "/x?gracePeriodSeconds=x",
			"400 BadRequest: strconv.ParseInt: parsing \"x\": invalid syntax" },
		{ "orphan_dependents", "DELETE", QJ "/x?orphanDependents=true",
			DELETE " propagation=Orphan" },
		{ "no_orphan_dependents", "DELETE", QJ "/x?orphanDependents=false",
			DELETE " propagation=Background" },
		{ "unknown_policy", "DELETE", QJ "/x?propagationPolicy=x",
			INVALID("DeleteOptions") "propagationPolicy: Unsupported value: \"x\": " POLICIES },
		{ "both", "DELETE", QJ "/x?propagationPolicy=Orphan&orphanDependents=true",
			INVALID("DeleteOptions") "propagationPolicy: Invalid value: \"Orphan\": orphanDependents and deletionPropagation "
						 "cannot be both set" },
		{ "a_body_has_its_own", "DELETE", QJ "/x?propagationPolicy=x", DELETE, true },
		{ "collection", "DELETE", QJ "?labelSelector=a&propagationPolicy=Orphan",
			"deletecollection kube-arbitrator.io/v1alpha1/queuejobs ns=default labels=a propagation=Orphan" },
		{ "collection_with_body", "DELETE", QJ "?labelSelector=a&propagationPolicy=Orphan",
			"deletecollection kube-arbitrator.io/v1alpha1/queuejobs ns=default labels=a", true },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows));
}

static void long_manager_is_refused(void **state)
{
	struct kar_buf target KAR_CLEANUP(kar_cleanup_buf) = { 0 }, got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	(void)state;
	kar_buf_puts(&target, QJ "?fieldManager=");
	for (int i = 0; i < 129; i++)
		kar_buf_puts(&target, "a");
	print_route("POST", kar_buf_cstr(&target), KAR_PATCH_JSON, false, &got);
	assert_string_equal(kar_buf_cstr(&got),
		INVALID("CreateOptions") "fieldManager: Too long: may not be more than 128 bytes");
}

/* ---- media types ---- */

#define TABLE "as=Table;g=meta.k8s.io;v=v1"
#define PARTIAL "as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

static const char *accept_text(const char *header, enum sim_accept_endpoint endpoint, char out[64])
{
	static const char *const forms[] = { "object", "metadata", "table" };
	struct sim_accept a;

	if (!sim_accept_parse(header, endpoint, &a))
		return "refused";
	snprintf(out, 64, "%s%s%s%s", forms[a.form], a.list ? " list" : "", a.yaml ? " yaml" : "",
		a.aggregated ? " aggregated" : "");
	return out;
}

static void accept_is_negotiated(void **state)
{
	static const struct {
		const char *name, *header;
		enum sim_accept_endpoint endpoint;
		const char *want;
	} rows[] = {
		{ "none", NULL, SIM_ACCEPT_OBJECTS, "object" },
		{ "empty", "", SIM_ACCEPT_OBJECTS, "object" },
		{ "json", "application/json", SIM_ACCEPT_OBJECTS, "object" },
		{ "capitals", "Application/JSON", SIM_ACCEPT_OBJECTS, "object" },
		{ "anything", "*/*", SIM_ACCEPT_OBJECTS, "object" },
		{ "any_application", "application/*;q=0.1", SIM_ACCEPT_OBJECTS, "object" },
		{ "yaml", "application/yaml", SIM_ACCEPT_OBJECTS, "object yaml" },
		{ "html", "text/html", SIM_ACCEPT_OBJECTS, "refused" },
		{ "protobuf_only", "application/vnd.kubernetes.protobuf", SIM_ACCEPT_OBJECTS, "refused" },
		{ "protobuf_or_json", "application/vnd.kubernetes.protobuf,application/json",
			SIM_ACCEPT_OBJECTS, "object" },
		{ "protobuf_or_anything", "application/vnd.kubernetes.protobuf, */*", SIM_ACCEPT_OBJECTS,
			"object" },
		{ "table",
			"application/json;" TABLE
			",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
			SIM_ACCEPT_OBJECTS, "table" },
		{ "table_with_spaces", "application/json; as=Table; g=meta.k8s.io; v=\"v1\"",
			SIM_ACCEPT_OBJECTS, "table" },
		{ "table_of_old_version", "application/json;as=Table;g=meta.k8s.io;v=v1beta1",
			SIM_ACCEPT_OBJECTS, "table" },
		{ "table_of_unknown_version", "application/json;as=Table;g=meta.k8s.io;v=v9",
			SIM_ACCEPT_OBJECTS, "refused" },
		{ "table_or_object", "application/json;as=Table;g=meta.k8s.io;v=v9,application/json",
			SIM_ACCEPT_OBJECTS, "object" },
		{ "table_in_protobuf_or_json",
			"application/vnd.kubernetes.protobuf;" TABLE ",application/json;" PARTIAL,
			SIM_ACCEPT_OBJECTS, "metadata" },
		{ "metadata_list", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
			SIM_ACCEPT_OBJECTS, "metadata list" },
		{ "unknown_form", "application/json;as=Foo;g=meta.k8s.io;v=v1", SIM_ACCEPT_OBJECTS,
			"refused" },
		{ "better_one_last", "application/yaml;q=0.5,application/json;q=0.9", SIM_ACCEPT_OBJECTS,
			"object" },
		{ "equal_ones_in_order", "application/yaml,application/json", SIM_ACCEPT_OBJECTS,
			"object yaml" },
		{ "watch", "application/json;stream=watch", SIM_ACCEPT_OBJECTS, "object" },
		{ "other_stream", "application/json;stream=x", SIM_ACCEPT_OBJECTS, "refused" },
		{ "server_version", "application/json;sv=v1", SIM_ACCEPT_OBJECTS, "refused" },
		{ "table_of_a_plain_document", "application/json;" TABLE, SIM_ACCEPT_PLAIN, "refused" },
		{ "discovery",
			"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
			SIM_ACCEPT_DISCOVERY, "object aggregated" },
		{ "old_discovery",
			"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
			SIM_ACCEPT_DISCOVERY, "object" },
		{ "commas_only", ",,,", SIM_ACCEPT_OBJECTS, "refused" },
		{ "rubbish", ";;;=/,q=;/", SIM_ACCEPT_OBJECTS, "refused" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got = accept_text(rows[i].header, rows[i].endpoint, text);

		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: got %s, want %s", rows[i].name, got, rows[i].want);
	}
}

static void content_types_are_known(void **state)
{
	static const struct {
		const char *header;
		enum sim_content want;
	} rows[] = {
		{ NULL, SIM_CONTENT_JSON },
		{ "", SIM_CONTENT_JSON },
		{ "application/json", SIM_CONTENT_JSON },
		{ "application/json; charset=utf-8", SIM_CONTENT_JSON },
		{ " Application/JSON ", SIM_CONTENT_JSON },
		{ "application/yaml", SIM_CONTENT_YAML },
		{ "application/vnd.kubernetes.protobuf", SIM_CONTENT_PROTOBUF },
		{ "application/json-patch+json", SIM_CONTENT_JSON_PATCH },
		{ "application/merge-patch+json", SIM_CONTENT_MERGE_PATCH },
		{ "application/strategic-merge-patch+json", SIM_CONTENT_STRATEGIC_PATCH },
		{ "application/apply-patch+yaml", SIM_CONTENT_APPLY },
		{ "text/plain", SIM_CONTENT_UNKNOWN },
		{ ";;", SIM_CONTENT_UNKNOWN },
		{ "application/jsonapplication/jsonapplication/jsonapplication/jsonapplication/json",
			SIM_CONTENT_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		if (sim_content_parse(rows[i].header) != rows[i].want)
			fail_msg("%s: got %d, want %d", rows[i].header, sim_content_parse(rows[i].header),
				rows[i].want);
	}
}

/* Any bytes are an answer or a refusal. */
static void random_request_lines_are_survived(void **state)
{
	static const char *const pieces[] = { "/", "api", "apis", "v1", "namespaces", "pods", "status", "%",
		"%2", "%2F", "%00", "?", "&", "=", "watch", "limit", "1", "-9", "dryRun", "All", ";", "+",
		"\x80", "\x01", "continue", "..", ",", "fieldSelector" };
	static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "X" };
	struct sim_random random = sim_random_of(20261121, "request lines");

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct kar_buf target KAR_CLEANUP(kar_cleanup_buf) = { 0 },
				      got KAR_CLEANUP(kar_cleanup_buf) = { 0 };
		struct sim_accept accept;

		for (uint64_t n = sim_random_below(&random, 24); n > 0; n--)
			kar_buf_puts(&target, pieces[sim_random_below(&random, KAR_LEN(pieces))]);
		print_route(methods[sim_random_below(&random, KAR_LEN(methods))], kar_buf_cstr(&target),
			(enum kar_patch_type)sim_random_below(&random, 4), sim_random_chance(&random, 500),
			&got);
		assert_true(got.n > 0);
		sim_accept_parse(kar_buf_cstr(&target), SIM_ACCEPT_OBJECTS, &accept);
		sim_content_parse(kar_buf_cstr(&target));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_taken_apart),
		cmocka_unit_test(what_is_no_resource_is_a_path),
		cmocka_unit_test(bad_request_lines_are_refused),
		cmocka_unit_test(lists_and_watches_have_options),
		cmocka_unit_test(writes_have_options),
		cmocka_unit_test(deletes_have_options),
		cmocka_unit_test(long_manager_is_refused),
		cmocka_unit_test(accept_is_negotiated),
		cmocka_unit_test(content_types_are_known),
		cmocka_unit_test(random_request_lines_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
