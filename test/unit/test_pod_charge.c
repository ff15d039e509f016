/*
 * What a ResourceQuota counts of a pod (api/pod/pod_charge.h), and whom it holds for. The rows are what Kubernetes 1.37 does with the same
 * objects: what admission makes of a pod, and status.used after it was created (story quota_counts_like_kubernetes).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/pod/pod_charge.h"
#include "common/base/buf.h"
#include "common/base/mem.h"
#include "test/fixture/projection.h"

#define C(name, requests, limits) \
	"{\"name\":\"" name "\",\"resources\":{\"requests\":{" requests "},\"limits\":{" limits "}}}"
#define SIDE(requests) \
	"{\"name\":\"s\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{" requests "}}}"
#define SPEC(rest) "\"spec\":{" rest "}"
#define MAIN(list) SPEC("\"containers\":[" list "]")
#define INIT(init, list) SPEC("\"initContainers\":[" init "],\"containers\":[" list "]")
#define RANGE(items) \
	"{\"metadata\":{\"name\":\"l\",\"namespace\":\"ns\",\"uid\":\"u\"},\"spec\":{\"limits\":[" items "]}}"
#define ITEM(type, requests, limits) \
	"{\"type\":\"" type "\",\"default\":{" limits "},\"defaultRequest\":{" requests "}}"
#define CPU(n) "\"cpu\":\"" n "\""
#define MEM(n) "\"memory\":\"" n "\""

/* Of a pod: best effort (b), terminating (t), its class, its amounts; what each container sets: requests of cpu, memory (c, m), limits (C, M). */
static const struct row {
	const char *name, *spec, *range, *want, *containers;
} rows[] = {
	{ "nothing", MAIN(C("x", "", "")), NULL, "b", "x:" },
	{ "requests", MAIN(C("x", CPU("500m") "," MEM("1Gi"), "")), NULL, "cpu=500 memory=1073741824",
		"x:cm" },
	{ "containers_are_added", MAIN(C("x", CPU("500m"), "") "," C("y", CPU("0.0001"), "")), NULL,
		"cpu=501", "x:c y:c" },
	{ "a_limit_is_the_request_too", MAIN(C("x", "", CPU("2") ",\"a.b/gpu\":\"1\"")), NULL,
		"a.b/gpu=1 cpu=2000 limits.cpu=2000", "x:cC" },
	{ "init_containers_count_by_the_most",
		INIT(C("i", CPU("3"), "") "," C("j", CPU("2"), ""), C("x", CPU("1") "," MEM("5"), "")), NULL,
		"cpu=3000 memory=5", "x:cm i:c j:c" },
	{ "sidecars_are_added_to_both", INIT(SIDE(CPU("1")) "," C("i", CPU("3"), ""), C("x", CPU("2"), "")),
		NULL, "cpu=4000", "x:c s:c i:c" },
	{ "init_containers_before_a_sidecar_run_alone",
		INIT(C("i", CPU("3"), "") "," SIDE(CPU("1")), C("x", CPU("1"), "")), NULL, "cpu=3000",
		"x:c i:c s:c" },
	{ "limits_of_sidecars_are_added",
		INIT("{\"name\":\"s\",\"restartPolicy\":\"Always\",\"resources\":{\"limits\":{" CPU(
			     "1") "}}}",
			C("x", "", CPU("2"))),
		NULL, "cpu=3000 limits.cpu=3000", "x:cC s:cC" },
	{ "overhead_is_added_to_limits_that_are_there",
		SPEC("\"overhead\":{" CPU("250m") "," MEM(
			"10") "},\"containers\":[" C("x", CPU("1"), CPU("2")) "]"),
		NULL, "cpu=1250 limits.cpu=2250 memory=10", "x:cC" },
	{ "overhead_makes_no_best_effort_pod_more",
		SPEC("\"overhead\":{" CPU("250m") "},\"containers\":[" C("x", "", "") "]"), NULL, "b cpu=250",
		"x:" },
	{ "resources_of_the_pod_replace_the_sum",
		SPEC("\"resources\":{\"requests\":{" CPU(
			"1") "}},\"containers\":[" C("x", CPU("9") "," MEM("7"), "") "]"),
		NULL, "cpu=1000 memory=7", "" },
	{ "limits_of_the_pod_are_requests_where_no_container_asks",
		SPEC("\"resources\":{\"limits\":{" CPU("4") "," MEM(
			"8") "}},\"containers\":[" C("x", CPU("1"), "") "]"),
		NULL, "cpu=1000 limits.cpu=4000 limits.memory=8 memory=8", "" },
	{ "huge_pages_of_the_pod",
		SPEC("\"resources\":{\"limits\":{" CPU(
			"1") ",\"hugepages-2Mi\":\"4Mi\"}},\"containers\":[" C("x", "",
			"\"hugepages-2Mi\":\"2Mi\"") "]"),
		NULL, "cpu=1000 hugepages-2Mi=4194304 limits.cpu=1000", "" },
	{ "the_pod_as_a_whole_asks_for_no_device",
		SPEC("\"resources\":{\"requests\":{\"a.b/gpu\":\"5\"}},\"containers\":[" C("x",
			"\"a.b/gpu\":\"1\"", "") "]"),
		NULL, "b a.b/gpu=1", "x:" },
	{ "zero_is_best_effort", MAIN(C("x", CPU("0"), MEM("0"))), NULL, "b", "x:cmM" },
	{ "devices_alone_are_best_effort", MAIN(C("x", "\"a.b/gpu\":\"1\",\"ephemeral-storage\":\"1k\"", "")),
		NULL, "b a.b/gpu=1 ephemeral-storage=1000", "x:" },
	{ "an_init_container_is_enough", INIT(C("i", CPU("1"), ""), C("x", "", "")), NULL, "cpu=1000",
		"x: i:c" },
	{ "deadline", SPEC("\"activeDeadlineSeconds\":0,\"containers\":[" C("x", "", "") "]"), NULL, "b t",
		"x:" },
	{ "class", SPEC("\"priorityClassName\":\"high\",\"containers\":[" C("x", "", "") "]"), NULL, "b high",
		"x:" },
	{ "negative_is_nothing", MAIN(C("x", CPU("-5") "," MEM("-1Gi"), "")), NULL, "b", "x:cm" },
	{ "more_than_64_bits_is_the_most",
		MAIN(C("x", MEM("99999Ei"), "") "," C("y", CPU("9223372036854775807") "," MEM("1"), "")),
		NULL, "cpu=9223372036854775807 memory=9223372036854775807", "x:m y:cm" },
	{ "no_quantity_is_left_out", MAIN(C("x", CPU("a lot"), "")), NULL, "b", "x:" },
	/* LimitRanges. */
	{ "defaults", MAIN(C("x", "", "")), RANGE(ITEM("Container", CPU("1"), CPU("2"))),
		"cpu=1000 limits.cpu=2000", "x:cC" },
	{ "defaults_of_each_container", INIT(C("i", "", ""), C("x", "", "") "," C("y", CPU("3"), "")),
		RANGE(ITEM("Container", CPU("1"), CPU("4"))), "cpu=4000 limits.cpu=8000", "x:cC y:cC i:cC" },
	{ "a_limit_of_its_own_is_its_request", MAIN(C("x", "", CPU("4"))),
		RANGE(ITEM("Container", CPU("1"), CPU("2"))), "cpu=4000 limits.cpu=4000", "x:cC" },
	{ "a_default_limit_alone_is_no_request", MAIN(C("x", "", "")), RANGE(ITEM("Container", "", CPU("2"))),
		"limits.cpu=2000", "x:C" },
	{ "of_two_items_the_later_one", MAIN(C("x", "", "")),
		RANGE(ITEM("Container", CPU("1"), "") "," ITEM("Container", CPU("2") "," MEM("3"), "")),
		"cpu=2000 memory=3", "x:cm" },
	{ "pods_and_claims_have_no_defaults", MAIN(C("x", "", "")),
		RANGE(ITEM("Pod", CPU("1"), "") "," ITEM("PersistentVolumeClaim", MEM("1"), "")), "b", "x:" },
	{ "defaults_of_containers_are_requests_of_the_pod",
		SPEC("\"resources\":{\"limits\":{" CPU("4") "}},\"containers\":[" C("x", "", "") "]"),
		RANGE(ITEM("Container", CPU("1"), "")), "cpu=1000 limits.cpu=4000", "" },
};

static const char *const resources[] = { "a.b/gpu", "cpu", "ephemeral-storage", "hugepages-2Mi", "limits.cpu",
	"limits.ephemeral-storage", "limits.memory", "memory" };

static void print(const struct kar_pod_charge *c, struct kar_buf *out)
{
	kar_buf_puts(out, c->best_effort ? " b" : "");
	kar_buf_puts(out, c->terminating ? " t" : "");
	kar_buf_printf(out, "%s%s", c->priority_class ? " " : "", c->priority_class ? c->priority_class : "");
	for (size_t i = 0; i < KAR_LEN(resources); i++) {
		char name[64];
		int64_t n;

		snprintf(name, sizeof(name), "%s%s", strchr(resources[i], '/') ? "requests." : "",
			resources[i]);
		n = kar_pod_charge_of(c, name);
		if (n)
			kar_buf_printf(out, " %s=%lld", resources[i], (long long)n);
	}
}

static void print_containers(const struct kar_pod_charge *c, struct kar_buf *out)
{
	const struct kar_charged_container *all = c->containers.items;

	for (size_t i = 0; i < c->containers.n; i++)
		kar_buf_printf(out, " %s:%s%s%s%s", all[i].name,
			all[i].sets & KAR_DEMAND_REQUESTS_CPU ? "c" : "",
			all[i].sets & KAR_DEMAND_REQUESTS_MEMORY ? "m" : "",
			all[i].sets & KAR_DEMAND_LIMITS_CPU ? "C" : "",
			all[i].sets & KAR_DEMAND_LIMITS_MEMORY ? "M" : "");
}

static bool is_text(const char *name, const struct kar_buf *got, const char *want)
{
	const char *text = kar_buf_cstr(got) + (got->n > 0);

	if (strcmp(text, want) == 0)
		return true;
	print_error("%s: want %s\n%*s got  %s\n", name, want, (int)strlen(name), "", text);
	return false;
}

static bool says(const char *name, const struct kar_pod_charge *c, const char *want)
{
	struct kar_buf got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	print(c, &got);
	return is_text(name, &got, want);
}

static bool is_charged(const struct row *row)
{
	struct kar_arena a = { 0 };
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 },
			    containers KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct kar_object *o = row->range ? object_of(&kar_limitrange_type, row->range) : NULL;
	const struct kar_limitrange *range = o ? kar_as_limitrange(o) : NULL;
	struct kar_pod_charge c;
	bool ok;

	kar_buf_printf(&json, "{%s}", row->spec);
	kar_pod_charge(kar_template_charge((struct kar_str){ json.p, json.n }, &a), &range, range ? 1 : 0, &a,
		&c);
	print_containers(&c, &containers);
	ok = says(row->name, &c, row->want) && is_text(row->name, &containers, row->containers);
	kar_object_unref(o);
	kar_arena_release(&a);
	return ok;
}

static void templates_are_charged_like_the_api_server(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		failed += !is_charged(&rows[i]);
	assert_int_equal(failed, 0);
}

static bool pod_is_charged(const struct row *row)
{
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct kar_arena a = { 0 };
	const struct kar_pod *pod;
	struct kar_pod_charge c;
	bool ok;

	kar_buf_printf(&json, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\"},%s}",
		row->spec);
	pod = pod_of(kar_buf_cstr(&json));
	kar_pod_charge(pod->charge, NULL, 0, &a, &c);
	ok = says(row->name, &c, row->want);
	kar_object_unref(&pod->o);
	kar_arena_release(&a);
	return ok;
}

/* One container stands for all of a pod that exists. Defaults that admission gives are in it. */
static void pods_are_charged_alike(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		failed += !rows[i].range && rows[i].containers[0] && !pod_is_charged(&rows[i]);
	assert_int_equal(failed, 0);
}

static void pods_of_a_template_share_one_struct(void **state)
{
	const struct kar_pod *
		a = pod_of("{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}," MAIN(
		       C("x", CPU("1500m") "," MEM("1Gi"), "")) "}"),
	       *b = pod_of("{\"metadata\":{\"name\":\"b\",\"uid\":\"v\"}," MAIN(
		       C("y", MEM("1024Mi") "," CPU("1"), "") "," C("z", CPU("0.5"), "")) "}"),
	       *done = pod_of(
		       "{\"metadata\":{\"name\":\"c\",\"uid\":\"w\"},\"status\":{\"phase\":\"Failed\"}," MAIN(
			       C("x", CPU("1"), "")) "}");

	(void)state;
	assert_ptr_equal(a->charge, b->charge);
	assert_null(done->charge);
	kar_object_unref(&a->o);
	kar_object_unref(&b->o);
	kar_object_unref(&done->o);
}

/* 40 containers of 150 bytes: the pod as a whole; with a thousand devices: a pod and its scopes alone. */
static void long_lists_are_added_up(void **state)
{
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct kar_arena a = { 0 };
	struct kar_pod_charge c;

	(void)state;
	kar_buf_puts(&json, "{\"spec\":{\"priorityClassName\":\"high\",\"containers\":[");
	for (int i = 0; i < 40; i++)
		kar_buf_printf(&json,
			"%s{\"name\":\"%063d\",\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}",
			i ? "," : "", i);
	kar_buf_puts(&json, "]}}");
	kar_pod_charge(kar_template_charge((struct kar_str){ json.p, json.n }, &a), NULL, 0, &a, &c);
	assert_true(says("whole", &c, "high cpu=40000 memory=42949672960"));
	kar_buf_clear(&json);
	kar_buf_puts(&json,
		"{\"spec\":{\"priorityClassName\":\"high\",\"containers\":[{\"resources\":{\"requests\":{");
	for (int i = 0; i < 500; i++)
		kar_buf_printf(&json, "%s\"example.com/%d\":\"1\"", i ? "," : "", i);
	kar_buf_puts(&json, "}}}]}}");
	kar_pod_charge(kar_template_charge((struct kar_str){ json.p, json.n }, &a), NULL, 0, &a, &c);
	assert_true(says("neither", &c, "b high"));
	kar_arena_release(&a);
}

static const struct {
	const char *name, *resource;
	int64_t amount;
} counted[] = {
	{ "bare_names_are_requests", "cpu", 2000 },
	{ "requests", "requests.cpu", 2000 },
	{ "limits", "limits.cpu", 3000 },
	{ "pods", "pods", 1 },
	{ "objects", "count/pods", 1 },
	{ "huge_pages", "hugepages-2Mi", 4194304 },
	{ "huge_pages_by_request", "requests.hugepages-2Mi", 4194304 },
	{ "devices", "requests.a.b/gpu", 7 },
	{ "device_classes", "requests.deviceclass.resource.kubernetes.io/fast", 2 },
	{ "devices_have_no_limit", "limits.a.b/gpu", 0 },
	{ "bare_devices_are_no_resource_of_a_quota", "a.b/gpu", 0 },
	{ "kubernetes_names_are_no_devices", "requests.x.kubernetes.io/y", 0 },
	{ "claims", "requests.storage", 0 },
	{ "other_objects", "count/jobs.batch", 0 },
};

static void resources_are_those_of_the_evaluator(void **state)
{
	static const char template[] = "{" MAIN(C("x",
		CPU("2") ",\"hugepages-2Mi\":\"4Mi\",\"a.b/gpu\":\"7\",\"x.kubernetes.io/y\":\"9\",\"storage\":\"1\","
			 "\"deviceclass.resource.kubernetes.io/fast\":\"2\"",
		CPU("3"))) "}";
	struct kar_arena a = { 0 };
	struct kar_pod_charge c;

	(void)state;
	kar_pod_charge(kar_template_charge((struct kar_str){ template, sizeof(template) - 1 }, &a), NULL, 0,
		&a, &c);
	for (size_t i = 0; i < KAR_LEN(counted); i++) {
		if (kar_pod_charge_of(&c, counted[i].resource) != counted[i].amount)
			fail_msg("%s: %lld", counted[i].name,
				(long long)kar_pod_charge_of(&c, counted[i].resource));
		assert_int_equal(kar_quota_is_of_pods(counted[i].resource), counted[i].amount != 0);
	}
	kar_arena_release(&a);
}

#define SCOPES(list) "\"scopes\":[" list "]"
#define SELECTOR(list) "\"scopeSelector\":{\"matchExpressions\":[" list "]}"
#define CLASS(op, values) "{\"scopeName\":\"PriorityClass\",\"operator\":\"" op "\",\"values\":[" values "]}"

/* Whom it holds for: a best effort pod (b), one with a deadline and a request (t), and such of the classes low (l) and high (h). */
static const struct {
	const char *name, *spec, *pods;
} scopes[] = {
	{ "none", "", "btlh" },
	{ "terminating", SCOPES("\"Terminating\""), "t" },
	{ "not_terminating", SCOPES("\"NotTerminating\""), "blh" },
	{ "best_effort", SCOPES("\"BestEffort\""), "b" },
	{ "not_best_effort", SCOPES("\"NotBestEffort\""), "tlh" },
	{ "all_must_match", SCOPES("\"NotBestEffort\",\"NotTerminating\""), "lh" },
	{ "any_class", SCOPES("\"PriorityClass\""), "lh" },
	{ "class_exists", SELECTOR(CLASS("Exists", "")), "lh" },
	{ "no_class", SELECTOR(CLASS("DoesNotExist", "")), "bt" },
	{ "class_in", SELECTOR(CLASS("In", "\"high\",\"top\"")), "h" },
	{ "class_not_in", SELECTOR(CLASS("NotIn", "\"high\"")), "btl" },
	{ "two_requirements", SELECTOR(CLASS("Exists", "") "," CLASS("NotIn", "\"low\"")), "h" },
	{ "scopes_and_selector", SCOPES("\"Terminating\"") "," SELECTOR(CLASS("Exists", "")), "" },
	{ "selected_scope", SELECTOR("{\"scopeName\":\"BestEffort\",\"operator\":\"Exists\"}"), "b" },
	{ "another_scope", SCOPES("\"CrossNamespacePodAffinity\""), "" },
	{ "another_operator", SELECTOR(CLASS("Like", "\"high\"")), "" },
};

static void quotas_hold_for_whom_they_select(void **state)
{
	static const struct {
		char name;
		const char *template;
	} pods[] = { { 'b', "{\"spec\":{\"containers\":[{}]}}" },
		{ 't',
			"{\"spec\":{\"activeDeadlineSeconds\":0,\"containers\":[{\"resources\":{\"requests\":{" CPU(
				"1") "}}}]}}" },
		{ 'l',
			"{\"spec\":{\"priorityClassName\":\"low\",\"containers\":[{\"resources\":{\"requests\":{" CPU(
				"1") "}}}]}}" },
		{ 'h',
			"{\"spec\":{\"priorityClassName\":\"high\",\"containers\":[{\"resources\":{\"limits\":{" MEM(
				"1") "}}}]}}" } };
	struct kar_arena a = { 0 };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(scopes); i++) {
		struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 };
		char got[KAR_LEN(pods) + 1] = "";
		struct kar_object *o;

		kar_buf_printf(&json,
			"{\"metadata\":{\"name\":\"q\",\"namespace\":\"ns\",\"uid\":\"u\"},\"spec\":{%s}}",
			scopes[i].spec);
		o = object_of(&kar_resourcequota_type, kar_buf_cstr(&json));
		for (size_t k = 0, n = 0; k < KAR_LEN(pods); k++) {
			struct kar_pod_charge c;

			kar_pod_charge(kar_template_charge((struct kar_str){ pods[k].template,
								   strlen(pods[k].template) },
					       &a),
				NULL, 0, &a, &c);
			if (kar_quota_matches(kar_as_resourcequota(o), &c))
				got[n++] = pods[k].name;
		}
		if (strcmp(got, scopes[i].pods) != 0)
			fail_msg("%s: %s", scopes[i].name, got);
		kar_object_unref(o);
	}
	kar_arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(templates_are_charged_like_the_api_server),
		TEST(pods_are_charged_alike),
		TEST(pods_of_a_template_share_one_struct),
		TEST(long_lists_are_added_up),
		TEST(resources_are_those_of_the_evaluator),
		TEST(quotas_hold_for_whom_they_select),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
