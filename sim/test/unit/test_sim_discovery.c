/* What clients can find out about the served types: discovery and OpenAPI. A row picks one value of a document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/apiserver/discovery.h"
#include "sim/apiserver/openapi.h"
#include "sim/apiserver/table.h"

static struct sim_timeline *timeline;
static struct sim_apiserver *server;

static int setup(void **state)
{
	const struct sim_apiserver_options o = { .seed = 1 };
	struct kar_err err = { 0 };

	(void)state;
	timeline = sim_timeline_new(1795268787000);
	server = sim_apiserver_new(timeline, &o);
	if (sim_apiserver_install_crds(server, KAR_CRDS, &err))
		fail_msg("%s", err.msg);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sim_apiserver_free(server);
	sim_timeline_free(timeline);
	return 0;
}

/* @want NULL: the path must lead nowhere. */
static void check_value(const char *name, const struct sim_value *document, const char *path,
	const char *want)
{
	const struct sim_value *found = sim_jsonpath(document, path);
	struct kar_buf got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (!want && !found)
		return;
	if (found)
		sim_print(found, &got);
	if (!want || strcmp(kar_buf_cstr(&got), want) != 0)
		fail_msg("%s: %s:\n  got  %s\n  want %s", name, path, found ? kar_buf_cstr(&got) : "nothing",
			want ? want : "nothing");
}

#define VERBS_BUILT_IN \
	"[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"update\",\"watch\"]"
#define VERBS_CUSTOM \
	"[\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"create\",\"update\",\"watch\"]"

static void documents_list_what_is_served(void **state)
{
	static const struct {
		const char *name, *document;
		bool aggregated;
		const char *path, *want;
	} rows[] = {
		{ "versions", "/api", false, "",
			"{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":"
			"[{\"clientCIDR\":\"0.0.0.0/0\",\"serverAddress\":\"127.0.0.1:1\"}]}" },
		{ "core_resource", "/api/v1", false, ".resources[?(@.name==\"configmaps\")]",
			"{\"name\":\"configmaps\",\"singularName\":\"configmap\",\"namespaced\":true,\"kind\":\"ConfigMap\",\"verbs\":" VERBS_BUILT_IN
			",\"shortNames\":[\"cm\"]}" },
		{ "categories", "/api/v1", false, ".resources[?(@.name==\"pods\")].categories", "[\"all\"]" },
		{ "create_only", "/api/v1", false, ".resources[?(@.name==\"bindings\")].verbs",
			"[\"create\"]" },
		{ "status", "/api/v1", false, ".resources[?(@.name==\"pods/status\")]",
			"{\"name\":\"pods/status\",\"singularName\":\"\",\"namespaced\":true,\"kind\":\"Pod\",\"verbs\":[\"get\",\"patch\",\"update\"]}" },
		{ "no_status", "/api/v1", false, ".resources[?(@.name==\"configmaps/status\")]", NULL },
		{ "subresource_of_another_group", "/api/v1", false,
			".resources[?(@.name==\"pods/eviction\")]",
			"{\"name\":\"pods/eviction\",\"singularName\":\"\",\"namespaced\":true,\"group\":\"policy\",\"version\":\"v1\",\"kind\":\"Eviction\",\"verbs\":[\"create\"]}" },
		{ "core_list_has_no_version", "/api/v1", false, ".apiVersion", NULL },
		{ "group_list_has_one", "/apis/apps/v1", false, ".apiVersion", "\"v1\"" },
		{ "trailing_slash", "/apis/apps/v1/", false, ".groupVersion", "\"apps/v1\"" },
		{ "custom_resource", "/apis/kube-arbitrator.io/v1alpha1", false,
			".resources[?(@.name==\"queuejobs\")]",
			"{\"name\":\"queuejobs\",\"singularName\":\"queuejob\",\"namespaced\":true,\"kind\":\"QueueJob\",\"verbs\":" VERBS_CUSTOM
			",\"shortNames\":[\"qj\"],\"categories\":[\"kar\"]}" },
		{ "cluster_scoped", "/apis/kube-arbitrator.io/v1alpha1", false,
			".resources[?(@.name==\"queues\")].namespaced", "false" },
		{ "group", "/apis/policy", false, "",
			"{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"policy\",\"preferredVersion\":{\"groupVersion\":\"policy/v1\",\"version\":\"v1\"},"
			"\"versions\":[{\"groupVersion\":\"policy/v1\",\"version\":\"v1\"}]}" },
		{ "first_group", "/apis", false, ".groups[0].name", "\"apps\"" },
		{ "custom_groups", "/apis", false,
			".groups[?(@.name==\"scheduling.x-k8s.io\")].versions[0].version", "\"v1alpha1\"" },
		{ "root", "/", false, ".paths[0]", "\"/api\"" },
		{ "aggregated_core", "/api", true, ".items[0].metadata", "{}" },
		{ "aggregated_core_resource", "/api", true,
			".items[0].versions[0].resources[?(@.resource==\"serviceaccounts\")]",
			"{\"resource\":\"serviceaccounts\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":\"ServiceAccount\"},\"scope\":\"Namespaced\","
			"\"singularResource\":\"serviceaccount\",\"verbs\":" VERBS_BUILT_IN
			",\"shortNames\":[\"sa\"],\"subresources\":[{\"subresource\":\"token\","
			"\"responseKind\":{\"group\":\"authentication.k8s.io\",\"version\":\"v1\",\"kind\":\"TokenRequest\"},\"verbs\":[\"create\"]}]}" },
		{ "aggregated_groups_leave_core_out", "/apis", true, ".items[0].metadata.name", "\"apps\"" },
		{ "aggregated_custom_resource", "/apis", true,
			".items[?(@.metadata.name==\"kube-arbitrator.io\")].versions[0].resources[?(@.resource==\"queues\")]",
			"{\"resource\":\"queues\",\"responseKind\":{\"group\":\"kube-arbitrator.io\",\"version\":\"v1alpha1\",\"kind\":\"Queue\"},\"scope\":\"Cluster\","
			"\"singularResource\":\"queue\",\"verbs\":" VERBS_CUSTOM
			",\"shortNames\":[\"kq\"],\"categories\":[\"kar\"],\"subresources\":[{\"subresource\":\"status\","
			"\"responseKind\":{\"group\":\"kube-arbitrator.io\",\"version\":\"v1alpha1\",\"kind\":\"Queue\"},\"verbs\":[\"get\",\"patch\",\"update\"]}]}" },
		{ "aggregated_freshness", "/apis", true, ".items[0].versions[0].freshness", "\"Current\"" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v KAR_CLEANUP(sim_cleanup_value) =
			sim_discovery(server, rows[i].document, rows[i].aggregated, "127.0.0.1:1");

		if (!v)
			fail_msg("%s: there is no %s", rows[i].name, rows[i].document);
		check_value(rows[i].name, v, rows[i].path, rows[i].want);
	}
}

static void other_paths_have_no_document(void **state)
{
	static const char *const paths[] = { "/nope", "/api/v2", "/apis/nope", "/apis/apps/v9",
		"/apis/apps/v1/deployments", "/apisx", "x" };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(paths); i++) {
		struct sim_value *v KAR_CLEANUP(sim_cleanup_value) =
			sim_discovery(server, paths[i], false, "");

		if (v)
			fail_msg("%s has a document", paths[i]);
	}
}

static struct sim_value *openapi_document(struct sim_openapi *o, const char *name, char hash[32])
{
	const char *h, *text = sim_openapi_document(o, server, name, &h);

	if (!text)
		return NULL;
	snprintf(hash, 32, "%s", h);
	return sim_parse(text, strlen(text), NULL);
}

#define POD ".components.schemas['io.k8s.api.core.v1.Pod']"
#define PODSPEC ".components.schemas['io.k8s.api.core.v1.PodSpec']"
#define JOB ".components.schemas['io.kube-arbitrator.v1alpha1.QueueJob']"
#define JOBPATH ".paths['/apis/kube-arbitrator.io/v1alpha1/namespaces/{namespace}/queuejobs/{name}']"

static void openapi_describes_the_types(void **state)
{
	static const struct {
		const char *name, *document, *path, *want;
	} rows[] = {
		{ "kind", "api/v1", POD ".x-kubernetes-group-version-kind",
			"[{\"group\":\"\",\"kind\":\"Pod\",\"version\":\"v1\"}]" },
		{ "reference", "api/v1", POD ".properties.spec.allOf[0]",
			"{\"$ref\":\"#/components/schemas/io.k8s.api.core.v1.PodSpec\"}" },
		{ "list_with_merge_key", "api/v1",
			PODSPEC ".properties.containers.x-kubernetes-patch-merge-key", "\"name\"" },
		{ "list_with_strategy", "api/v1", PODSPEC ".properties.volumes.x-kubernetes-patch-strategy",
			"\"merge,retainKeys\"" },
		{ "required", "api/v1", PODSPEC ".required", "[\"containers\"]" },
		{ "map", "api/v1", PODSPEC ".properties.nodeSelector.additionalProperties",
			"{\"type\":\"string\"}" },
		{ "quantity", "api/v1",
			".components.schemas['io.k8s.apimachinery.pkg.api.resource.Quantity'].oneOf[0].type",
			"\"string\"" },
		{ "inlined", "api/v1",
			".components.schemas['io.k8s.api.core.v1.Volume'].properties.emptyDir.allOf[0]",
			"{\"$ref\":\"#/components/schemas/io.k8s.api.core.v1.EmptyDirVolumeSource\"}" },
		{ "only_what_is_used", "apis/coordination.k8s.io/v1", POD, NULL },
		{ "patches_of_built_in_types", "apis/apps/v1",
			".paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'].patch.requestBody.content['application/strategic-merge-patch+json']",
			"{\"schema\":{\"type\":\"object\"}}" },
		{ "custom_kind", "apis/kube-arbitrator.io/v1alpha1",
			JOB ".x-kubernetes-group-version-kind[0].kind", "\"QueueJob\"" },
		{ "custom_schema", "apis/kube-arbitrator.io/v1alpha1",
			JOB ".properties.spec.properties.taskSpecs.type", "\"array\"" },
		{ "custom_metadata", "apis/kube-arbitrator.io/v1alpha1", JOB ".properties.metadata.allOf[0]",
			"{\"$ref\":\"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\"}" },
		{ "field_validation", "apis/kube-arbitrator.io/v1alpha1",
			JOBPATH ".patch.parameters[?(@.name==\"fieldValidation\")].in", "\"query\"" },
		{ "dry_run", "apis/kube-arbitrator.io/v1alpha1",
			JOBPATH ".delete.parameters[?(@.name==\"dryRun\")].in", "\"query\"" },
		{ "operation_names_its_kind", "apis/kube-arbitrator.io/v1alpha1",
			JOBPATH ".get.x-kubernetes-group-version-kind",
			"{\"group\":\"kube-arbitrator.io\",\"kind\":\"QueueJob\",\"version\":\"v1alpha1\"}" },
		{ "no_strategic_patch_of_custom_types", "apis/kube-arbitrator.io/v1alpha1",
			JOBPATH ".patch.requestBody.content['application/strategic-merge-patch+json']",
			NULL },
	};
	struct sim_openapi *o = sim_openapi_new(sim_apiserver_types(server));
	char hash[32];

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v KAR_CLEANUP(sim_cleanup_value) =
			openapi_document(o, rows[i].document, hash);

		if (!v)
			fail_msg("%s: there is no document %s", rows[i].name, rows[i].document);
		check_value(rows[i].name, v, rows[i].path, rows[i].want);
	}
	sim_openapi_free(o);
}

static void every_reference_leads_somewhere(void **state)
{
	struct sim_openapi *o = sim_openapi_new(sim_apiserver_types(server));
	struct sim_value *index KAR_CLEANUP(sim_cleanup_value) = sim_openapi_index(o, server);
	static const char prefix[] = "\"$ref\":\"#/components/schemas/";

	(void)state;
	assert_true(sim_count(sim_get(index, "paths")) > 10);
	for (struct sim_member m = sim_first(sim_get(index, "paths")); m.value; m = sim_next(m)) {
		const char *hash, *text = sim_openapi_document(o, server, m.key, &hash);
		struct sim_value *v KAR_CLEANUP(sim_cleanup_value) = sim_parse(text, strlen(text), NULL);

		assert_non_null(v);
		assert_non_null(strstr(sim_text(sim_get(m.value, "serverRelativeURL")), hash));
		for (const char *p = strstr(text, prefix); p; p = strstr(p + 1, prefix)) {
			const char *name = p + sizeof(prefix) - 1;
			char *copy = strndup(name, strcspn(name, "\""));

			if (!sim_get(v, "components", "schemas", copy))
				fail_msg("%s refers to %s, which is not there", m.key, copy);
			free(copy);
		}
	}
	sim_openapi_free(o);
}

static void change_crd(void)
{
	const struct sim_request rq = {
		.verb = KAR_PATCH,
		.group = "apiextensions.k8s.io",
		.version = "v1",
		.resource = "customresourcedefinitions",
		.name = "queues.kube-arbitrator.io",
		.patch_type = KAR_PATCH_JSON,
		.body = { "[{\"op\":\"add\",\"path\":\"/spec/versions/0/schema/openAPIV3Schema/description\",\"value\":\"new\"}]",
			0 },
	};
	struct sim_request sized = rq;
	struct sim_response r = { 0 };

	sized.body.n = strlen(rq.body.p);
	sim_apiserver_call(server, &sized, &r);
	assert_int_equal(r.code, 200);
	sim_response_release(&r);
}

static void hash_changes_with_the_crd(void **state)
{
	struct sim_openapi *o = sim_openapi_new(sim_apiserver_types(server));
	char core[32], core_after[32], custom[32], custom_again[32], custom_after[32];

	(void)state;
	sim_unref(openapi_document(o, "api/v1", core));
	sim_unref(openapi_document(o, "apis/kube-arbitrator.io/v1alpha1", custom));
	sim_unref(openapi_document(o, "apis/kube-arbitrator.io/v1alpha1", custom_again));
	change_crd();
	sim_unref(openapi_document(o, "api/v1", core_after));
	sim_unref(openapi_document(o, "apis/kube-arbitrator.io/v1alpha1", custom_after));
	assert_string_equal(core, core_after);
	assert_string_equal(custom, custom_again);
	assert_string_not_equal(custom, custom_after);
	sim_openapi_free(o);
}

/* ---- many types, and types of several versions ---- */

static void create_crd(const char *json)
{
	struct sim_request rq = { .verb = KAR_CREATE,
		.group = "apiextensions.k8s.io",
		.version = "v1",
		.resource = "customresourcedefinitions",
		.body = { json, strlen(json) } };
	struct sim_response r;

	sim_apiserver_call(server, &rq, &r);
	if (r.code != 201)
		fail_msg("%s: %d", json, r.code);
	sim_response_release(&r);
	sim_timeline_run(timeline, sim_timeline_mono(timeline) + 100);
}

static void install(const char *names, const char *version, bool served)
{
	struct kar_buf body KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	kar_buf_printf(&body,
		"{\"metadata\":{\"name\":\"%ss.many.io\"},\"spec\":{\"group\":\"many.io\",\"scope\":\"Cluster\","
		"\"names\":{\"plural\":\"%ss\",\"kind\":\"%s\"},\"versions\":[{\"name\":\"%s\",\"served\":%s,\"storage\":true,"
		"\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}",
		names, names, names, version, served ? "true" : "false");
	create_crd(kar_buf_cstr(&body));
}

static void there_may_be_any_number_of_types(void **state)
{
	enum { MANY = 700 };
	struct sim_value *document;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "kind%d", i);
		install(name, "v1", true);
	}
	document = sim_discovery(server, "/apis/many.io/v1", false, "127.0.0.1:1");
	assert_int_equal(sim_count(sim_member(document, "resources")), MANY);
	sim_unref(document);
}

static void versions_come_in_the_order_of_preference(void **state)
{
	static const char *const versions[] = { "v1", "v1beta2", "foo", "v10", "v2", "v1beta10", "v3alpha1" };
	struct sim_value *group KAR_CLEANUP(sim_cleanup_value) = NULL;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(versions); i++)
		install(versions[i], versions[i], true);
	install("hidden", "v11", false);
	group = sim_discovery(server, "/apis/many.io", false, "127.0.0.1:1");
	check_value("preferred", group, ".preferredVersion.version", "\"v10\"");
	check_value("second", group, ".versions[1].version", "\"v2\"");
	check_value("third", group, ".versions[2].version", "\"v1\"");
	check_value("betas", group, ".versions[3].version", "\"v1beta10\"");
	check_value("older_beta", group, ".versions[4].version", "\"v1beta2\"");
	check_value("alpha", group, ".versions[5].version", "\"v3alpha1\"");
	check_value("other", group, ".versions[6].version", "\"foo\"");
	check_value("unserved", group, ".versions[7].version", NULL);
	assert_null(sim_discovery(server, "/apis/many.io/v11", false, "127.0.0.1:1"));
}

static void built_in_types_are_not_replaced(void **state)
{
	struct sim_value *document KAR_CLEANUP(sim_cleanup_value) = NULL;

	(void)state;
	create_crd(
		"{\"metadata\":{\"name\":\"events.events.k8s.io\",\"annotations\":{\"api-approved.kubernetes.io\":\"unapproved\"}},"
		"\"spec\":{\"group\":\"events.k8s.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"events\",\"kind\":\"Event\"},"
		"\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}");
	document = sim_discovery(server, "/apis/events.k8s.io/v1", false, "127.0.0.1:1");
	check_value("short_names", document, ".resources[0].shortNames", "[\"ev\"]");
	check_value("only_one", document, ".resources[1]", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(documents_list_what_is_served, setup, teardown),
		cmocka_unit_test_setup_teardown(other_paths_have_no_document, setup, teardown),
		cmocka_unit_test_setup_teardown(openapi_describes_the_types, setup, teardown),
		cmocka_unit_test_setup_teardown(every_reference_leads_somewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(hash_changes_with_the_crd, setup, teardown),
		cmocka_unit_test_setup_teardown(there_may_be_any_number_of_types, setup, teardown),
		cmocka_unit_test_setup_teardown(built_in_types_are_not_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(versions_come_in_the_order_of_preference, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
