/* Which devices pods ask for by ResourceClaims (controllers/cluster/claims.h), and what claims have (devices.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/pod/pod_needs.h"
#include "common/base/str.h"
#include "controllers/cluster/stores.h"
#include "test/fixture/needs_text.h"
#include "test/fixture/projection.h"

#define GPU "a.b/gpu"
#define LARGE "device.attributes['d.io'].size == 'large'"
#define FAST "device.attributes['d.io'].fast"
#define REQUEST(more) "{\"name\":\"r\",\"exactly\":{\"deviceClassName\":" more "}}"
#define OF(class, n) REQUEST("\"" class "\",\"allocationMode\":\"ExactCount\",\"count\":" #n)
#define CEL(expression) "{\"cel\":{\"expression\":\"" expression "\"}}"
#define CHOSEN(n, selectors) REQUEST("\"gpu\",\"count\":" #n ",\"selectors\":[" selectors "]")
#define REQUESTS(all) "\"requests\":[" all "]"
#define BY_T "\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimTemplateName\":\"t\"}]"
#define BY_T_TWICE \
	"\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimTemplateName\":\"t\"},{\"name\":\"e\",\"resourceClaimTemplateName\":\"t\"}]"
#define NAMED "\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":\"mine\"}]"
#define OWNED ",\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"p\"}]"
#define ALLOCATED(nodes, whose) \
	",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d.io\",\"pool\":\"n1\",\"device\":\"g0\"}]}" nodes \
	"}" whose "}"
#define ON_N1 \
	",\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}]}"
#define LARGE_GPU GPU "{" LARGE "}"

/* Template t, if there is one; .claim: what follows the spec of claim "mine", if there is one; .spec: of a pod. */
static const struct {
	const char *name, *template, *claim, *spec;
	const char *needs;   /* what is in it in addition to cpu=1 */
	const char *pending; /* NULL: nothing */
} rows[] = {
	{ "one_device", REQUESTS(REQUEST("\"gpu\"")), NULL, BY_T, " " GPU "=1", NULL },
	{ "eight_devices", REQUESTS(OF("gpu", 8)), NULL, BY_T, " " GPU "=8", NULL },
	{ "two_claims_of_one_template", REQUESTS(OF("gpu", 2)), NULL, BY_T_TWICE, " " GPU "=4", NULL },
	{ "class_without_a_name_of_its_own", REQUESTS(OF("nic", 1)), NULL, BY_T,
		" deviceclass.resource.kubernetes.io/nic=1", NULL },
	{ "two_classes", REQUESTS(OF("gpu", 2) "," OF("nic", 1)), NULL, BY_T,
		" " GPU "=2 deviceclass.resource.kubernetes.io/nic=1", NULL },
	{ "chosen_devices", REQUESTS(CHOSEN(2, CEL(LARGE))), NULL, BY_T, " " GPU "=2 " LARGE_GPU "=2", NULL },
	{ "chosen_and_any", REQUESTS(CHOSEN(2, CEL(LARGE)) "," OF("gpu", 1)), NULL, BY_T,
		" " GPU "=3 " LARGE_GPU "=2", NULL },
	{ "the_order_of_selectors_means_nothing",
		REQUESTS(CHOSEN(1, CEL(LARGE) "," CEL(FAST)) "," CHOSEN(1, CEL(FAST) "," CEL(LARGE))), NULL,
		BY_T, " " GPU "=2 " GPU "{" FAST " && " LARGE "}=2", NULL },
	{ "alternatives", REQUESTS("{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"a\"}]}"), NULL, BY_T,
		" unverified: alternatives of a device request", NULL },
	{ "all_devices", REQUESTS(REQUEST("\"gpu\",\"allocationMode\":\"All\"")), NULL, BY_T,
		" unverified: a request for all devices", NULL },
	{ "administrators", REQUESTS(REQUEST("\"gpu\",\"adminAccess\":true")), NULL, BY_T,
		" unverified: administrator's access to devices", NULL },
	{ "tolerations", REQUESTS(REQUEST("\"gpu\",\"tolerations\":[{}]")), NULL, BY_T,
		" unverified: tolerations of a device request", NULL },
	{ "capacity", REQUESTS(REQUEST("\"gpu\",\"capacity\":{}")), NULL, BY_T,
		" unverified: capacity of a device request", NULL },
	{ "constraints", REQUESTS(OF("gpu", 4)) ",\"constraints\":[{\"matchAttribute\":\"d.io/numa\"}]", NULL,
		BY_T, " " GPU "=4 unverified: constraints among devices", NULL },
	{ "no_template", NULL, NULL, BY_T, " unverified: resource claims",
		"ResourceClaimTemplate t does not exist" },
	{ "no_class", REQUESTS(OF("tpu", 1)), NULL, BY_T, " unverified: device requests",
		"DeviceClass tpu does not exist" },
	{ "shared_and_allocated", NULL, ALLOCATED("", OWNED), NAMED, "", NULL },
	{ "shared_and_allocated_on_a_node", NULL, ALLOCATED(ON_N1, OWNED), NAMED,
		" terms (field metadata.name In n1)", NULL },
	{ "shared_and_no_pod_has_it", NULL, ALLOCATED(ON_N1, ""), NAMED,
		" unverified: resource claims that pods share", NULL },
	{ "shared_and_not_allocated", NULL, "", NAMED, " unverified: resource claims that pods share", NULL },
	{ "shared_and_not_there", NULL, NULL, NAMED, " unverified: resource claims that pods share",
		"ResourceClaim mine does not exist" },
};

static void put(struct kar_store *s, const char *name, const char *rest)
{
	char json[4096];

	snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"%s\",%s\"uid\":\"u\",\"resourceVersion\":\"1\"},%s}", name,
		kar_store_type(s)->res.namespaced ? "\"namespace\":\"ns\"," : "", rest);
	kar_store_replace_begin(s);
	kar_store_replace_add(s, object_of(kar_store_type(s), json));
	kar_store_replace_commit(s, 2);
}

static void sync_store(struct kar_store *s)
{
	kar_store_replace_begin(s);
	kar_store_replace_commit(s, 1);
}

static void put_classes(struct kar_stores *s)
{
	kar_store_replace_begin(s->deviceclasses);
	kar_store_replace_add(s->deviceclasses,
		object_of(&kar_deviceclass_type,
			"{\"metadata\":{\"name\":\"gpu\",\"uid\":\"u\",\"resourceVersion\":\"1\"},\"spec\":{\"extendedResourceName\":\"" GPU
			"\"}}"));
	kar_store_replace_add(s->deviceclasses,
		object_of(&kar_deviceclass_type,
			"{\"metadata\":{\"name\":\"nic\",\"uid\":\"v\",\"resourceVersion\":\"1\"},\"spec\":{}}"));
	kar_store_replace_commit(s->deviceclasses, 2);
}

static void begin(struct kar_stores *s)
{
	kar_stores_init(s, strings);
	sync_store(s->resourceslices);
	sync_store(s->resourceclaims);
	sync_store(s->claimtemplates);
	put_classes(s);
}

/* Of a pod that asks for cpu=1, and for what @spec says. */
static const struct kar_pod_needs *needs_of(const char *spec, struct kar_arena *a)
{
	const char *json = kar_arena_printf(a,
		"{\"spec\":{%s,\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1m\"}}}]}}", spec);

	const struct kar_pod_needs *needs =
		kar_template_needs((struct kar_str){ json, strlen(json) }, a, NULL, NULL);

	assert_non_null(needs);
	return needs;
}

static void claims_ask_for_devices(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_stores stores;
		struct kar_arena a = { 0 };
		const struct kar_pod_needs *needs = needs_of(rows[i].spec, &a);
		const char *got, *want = kar_arena_printf(&a, " cpu=1%s", rows[i].needs);

		begin(&stores);
		if (rows[i].template)
			put(stores.claimtemplates, "t",
				kar_arena_printf(&a, "\"spec\":{\"spec\":{\"devices\":{%s}}}",
					rows[i].template));
		if (rows[i].claim)
			put(stores.resourceclaims, "mine",
				kar_arena_printf(&a, "\"spec\":{}%s", rows[i].claim));
		got = needs_text(kar_claims_add(&stores, "ns", needs, &a), &a);
		if (strcmp(got, want))
			fail_msg("%s: needs \"%s\", want \"%s\"", rows[i].name, got, want);
		got = kar_claims_pending(&stores, "ns", needs, &a);
		if (!kar_streq(got, rows[i].pending))
			fail_msg("%s: pending \"%s\"", rows[i].name, got ? got : "");
		kar_stores_release(&stores);
		kar_arena_release(&a);
	}
}

/* In a cluster before DRA, without the right to read them, or in a manager of one namespace. */
static void claims_that_are_not_read_are_unverified(void **state KAR_UNUSED)
{
	struct kar_stores stores;
	struct kar_arena a = { 0 };
	const struct kar_pod_needs *needs = needs_of(BY_T, &a);

	kar_stores_init(&stores, strings);
	assert_string_equal(needs_text(kar_claims_add(&stores, "ns", needs, &a), &a),
		" cpu=1 unverified: resource claims");
	assert_null(kar_claims_pending(&stores, "ns", needs, &a));
	kar_stores_release(&stores);
	kar_arena_release(&a);
}

/* --- what there is of what selectors choose --------------------------------------------------------------- */

#define NODE(name) \
	"\"status\":{\"allocatable\":{\"cpu\":\"8\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}"

static void put_more(struct kar_store *s, const char *name, const char *meta, const char *rest)
{
	static int version = 10;
	char json[4096];

	snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"%s\",%s\"uid\":\"%s\",\"resourceVersion\":\"%d\"%s},%s}", name,
		kar_store_type(s)->res.namespaced ? "\"namespace\":\"ns\"," : "", name, version++, meta,
		rest);
	kar_store_apply(s, object_of(kar_store_type(s), json));
}

/* Of four devices, so many large ones first. */
static void put_slice(struct kar_stores *s, const char *node, int large)
{
	struct kar_buf rest = { 0 };

	kar_buf_printf(&rest,
		"\"spec\":{\"driver\":\"d.io\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":[",
		node, node);
	for (int i = 0; i < 4; i++)
		kar_buf_printf(&rest, "%s{\"name\":\"g%d\",\"attributes\":{\"size\":{\"string\":\"%s\"}}}",
			i ? "," : "", i, i < large ? "large" : "small");
	kar_buf_puts(&rest, "]}");
	put_more(s->resourceslices, node, "", kar_buf_cstr(&rest));
	kar_buf_release(&rest);
}

static void put_claim(struct kar_stores *s, const char *name, const char *pod, int device)
{
	char meta[256], rest[512];

	snprintf(meta, sizeof(meta),
		pod ? ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"%s\",\"controller\":true}]"
		    : "%s",
		pod ? pod : "");
	snprintf(rest, sizeof(rest),
		"\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d.io\",\"pool\":\"n1\",\"device\":\"g%d\"}]}}}",
		device);
	put_more(s->resourceclaims, name, meta, rest);
}

static const char *amounts(const struct kar_sched_amount *all, uint32_t n, struct kar_arena *a)
{
	const char *text = "";

	for (uint32_t i = 0; i < n; i++)
		text = kar_arena_printf(a, "%s %s=%d", text, all[i].resource, (int)all[i].amount);
	return text;
}

static const char *doubt(const struct kar_stores *s, const char *resource)
{
	const struct kar_sched_amount one = { resource, 1 };

	return kar_sched_unverified(kar_snapshot_sched(s->snapshot),
		kar_snapshot_class_of(s->snapshot,
			&(struct kar_pod_needs){ .amounts = &one, .n_amounts = 1 }));
}

static void what_claims_have_is_taken(void **state KAR_UNUSED)
{
	struct kar_stores s;
	struct kar_arena a = { 0 };
	struct kar_sched_amount *all;
	const struct kar_sched *sched;
	uint32_t n;

	begin(&s);
	sched = kar_snapshot_sched(s.snapshot);
	put(s.claimtemplates, "t", "\"spec\":{\"spec\":{\"devices\":{" REQUESTS(CHOSEN(1, CEL(LARGE))) "}}}");
	put_more(s.nodes, "n1", "", NODE("n1"));
	put_more(s.nodes, "n2", "", NODE("n2"));
	put_slice(&s, "n1", 4);
	put_slice(&s, "n2", 0);
	(void)kar_claims_add(&s, "ns", needs_of(BY_T, &a), &a); /* somebody asks for it */
	assert_int_equal(kar_sched_node_free(sched, "n1", LARGE_GPU), 4);
	assert_int_equal(kar_sched_node_free(sched, "n2", LARGE_GPU), 0);
	assert_null(doubt(&s, LARGE_GPU));
	put_claim(&s, "c1", "pod-1", 0);
	put_claim(&s, "c2", NULL, 1);
	assert_int_equal(kar_sched_node_free(sched, "n1", GPU), 2);
	assert_int_equal(kar_sched_node_free(sched, "n1", LARGE_GPU), 2);
	n = kar_devices_claimed(s.devices, &a, &all);
	assert_string_equal(amounts(all, n, &a), " " GPU "=2 " LARGE_GPU "=2");
	n = kar_devices_claimed_by(s.devices, "pod-1", &a, &all);
	assert_string_equal(amounts(all, n, &a), " " GPU "=1 " LARGE_GPU "=1");
	n = kar_devices_claimed_by(s.devices, "nobody", &a, &all);
	assert_int_equal(n, 0);
	put_slice(&s, "n1", 3); /* a pod that asks for any device may be given a large one */
	assert_string_equal(doubt(&s, LARGE_GPU),
		"devices that a request without a selector may have as well");
	assert_null(doubt(&s, GPU));
	kar_store_delete(s.resourceclaims, "ns", "c2", "c2", 1000);
	assert_int_equal(kar_sched_node_free(sched, "n1", GPU), 3);
	kar_store_delete(s.deviceclasses, NULL, "gpu", "u", 1000);
	assert_int_equal(kar_sched_node_free(sched, "n1", LARGE_GPU), 0);
	n = kar_devices_claimed(s.devices, &a, &all);
	assert_int_equal(n, 0);
	kar_stores_release(&s);
	kar_arena_release(&a);
}

/* Of what a device plugin offers there no claim has anything: what claims can have is not counted as long as some node lists it. */
static void claims_for_what_a_node_lists_are_unverified(void **state KAR_UNUSED)
{
	static const struct {
		const char *listed, *needs;
	} plugins[] = {
		{ "2", " cpu=1 " GPU "=1 unverified: devices of nodes that list them" },
		{ "0", " cpu=1 " GPU "=1" }, /* it has gone */
	};
	struct kar_stores s;
	struct kar_arena a = { 0 };

	begin(&s);
	put(s.claimtemplates, "t", "\"spec\":{\"spec\":{\"devices\":{" REQUESTS(OF("gpu", 1)) "}}}");
	put_slice(&s, "n1", 4);
	for (size_t i = 0; i < KAR_LEN(plugins); i++) {
		put_more(s.nodes, "n1", "",
			kar_arena_printf(&a,
				"\"status\":{\"allocatable\":{\"cpu\":\"8\",\"pods\":\"110\",\"" GPU
				"\":\"%s\"}}",
				plugins[i].listed));
		assert_string_equal(needs_text(kar_claims_add(&s, "ns", needs_of(BY_T, &a), &a), &a),
			plugins[i].needs);
		assert_null(doubt(&s, GPU)); /* who asks by its name has what is listed */
	}
	kar_stores_release(&s);
	kar_arena_release(&a);
}

static void long_selectors_are_told_apart(void **state KAR_UNUSED)
{
	struct kar_stores s;
	struct kar_arena a = { 0 };
	char selector[400];
	const char *names[2];

	begin(&s);
	memset(selector, 'x', sizeof(selector));
	for (int i = 0; i < 2; i++) {
		const char *text = selector;
		const struct kar_device_request r = { .class = "gpu",
			.selectors = { (void *)&text, 1 },
			.count = 1 };

		selector[sizeof(selector) - 1] = '\0';
		selector[sizeof(selector) - 2] = (char)('a' + i);
		names[i] = kar_arena_printf(&a, "%s", kar_devices_ask_for(s.devices, "ns", &r).part);
	}
	assert_string_not_equal(names[0], names[1]);
	assert_int_equal(strlen(names[0]), strlen(names[1]));
	assert_true(strlen(names[0]) < 250);
	kar_stores_release(&s);
	kar_arena_release(&a);
}

/* Each is a number of the placement engine. */
static void only_so_many_choices_are_counted(void **state KAR_UNUSED)
{
	struct kar_stores s;
	int counted = 0;

	begin(&s);
	for (int i = 0; i < 60; i++) {
		char selector[40], ns[8];
		const char *text = selector;
		const struct kar_device_request r = { .class = "gpu",
			.selectors = { (void *)&text, 1 },
			.count = 1 };
		struct kar_device_asked asked;

		snprintf(selector, sizeof(selector), "device.driver == '%d'", i);
		snprintf(ns, sizeof(ns), "ns%d", i / 10);
		asked = kar_devices_ask_for(s.devices, ns, &r);
		assert_string_equal(asked.resource, GPU);
		assert_int_equal(asked.unread != NULL, !asked.part);
		counted += asked.part != NULL;
		if (i == 9)
			assert_int_equal(counted,
				4); /* of one namespace, so that it leaves some for others */
	}
	assert_int_equal(counted, 16);
	kar_stores_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(claims_ask_for_devices),
		TEST(claims_that_are_not_read_are_unverified),
		TEST(what_claims_have_is_taken),
		TEST(claims_for_what_a_node_lists_are_unverified),
		TEST(long_selectors_are_told_apart),
		TEST(only_so_many_choices_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
