/* What pods need of a node (api/pod/pod_needs.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/pod/pod_needs.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "test/fixture/needs_text.h"
#include "test/fixture/projection.h"

#define META "\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\"}"

#define ASKS(more, requests) "{\"name\":\"c\"," more "\"resources\":{\"requests\":{" requests "}}}"
#define CONTAINERS(list) "\"containers\":[" list "]"
#define SIDECAR "\"restartPolicy\":\"Always\","
#define APP ASKS("", "\"cpu\":\"500m\"")
#define BESIDE ASKS(SIDECAR, "\"cpu\":\"200m\"")
#define INIT ASKS("", "\"cpu\":\"1500m\"")
#define OVERHEAD "\"overhead\":{\"cpu\":\"250m\"}"
#define PORTS(list) "{\"name\":\"c\",\"ports\":[" list "]}"
#define AFFINITY(what) "\"affinity\":{" what "}"
#define REQUIRED "\"requiredDuringSchedulingIgnoredDuringExecution\":"
#define TERMS(terms) AFFINITY("\"nodeAffinity\":{" REQUIRED "{\"nodeSelectorTerms\":[" terms "]}}")
#define LABEL(key, op, values) "{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":[" values "]}"
#define TERM(labels, fields) "{\"matchExpressions\":[" labels "],\"matchFields\":[" fields "]}"
#define PIN(node) LABEL("metadata.name", "In", "\"" node "\"")
#define SSD LABEL("disk", "In", "\"ssd\"")
#define T_SSD " (disk In ssd)"
#define TOLERATIONS(list) "\"tolerations\":[" list "]"
#define ANTI(term) AFFINITY("\"podAntiAffinity\":{" REQUIRED "[{" term "}]}")
#define SPREAD(more) "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"z\"," more "}]"
#define UNVERIFIED(what) " unverified: " what

/* Of a pod without a node, and of a template. */
static const struct {
	const char *name, *spec, *needs, *pin;
} rows[] = {
	{ "nothing", CONTAINERS("{\"name\":\"c\"}"), "", NULL },
	{ "init_container_before_the_sidecar",
		CONTAINERS(APP) ",\"initContainers\":[" INIT "," BESIDE "]," OVERHEAD, " cpu=1750", NULL },
	{ "init_container_after_the_sidecar",
		CONTAINERS(APP) ",\"initContainers\":[" BESIDE "," INIT "]," OVERHEAD, " cpu=1950", NULL },
	{ "sum_is_rounded_once",
		CONTAINERS(ASKS("", "\"cpu\":\"1.0004\",\"memory\":\"0.5\"") "," ASKS("",
			"\"cpu\":\"1.0004\",\"memory\":\"0.5\"")),
		" cpu=2001 memory=1", NULL },
	{ "limit_stands_in_for_a_request",
		CONTAINERS(
			"{\"resources\":{\"requests\":{\"cpu\":1},\"limits\":{\"cpu\":2,\"nvidia.com/gpu\":4}}}"),
		" cpu=1000 nvidia.com/gpu=4", NULL },
	{ "resources_of_the_pod_replace",
		"\"resources\":{\"requests\":{\"cpu\":7}}," CONTAINERS(ASKS("", "\"cpu\":1,\"memory\":5")),
		" cpu=7000 memory=5", NULL },
	{ "nothing_negative_or_empty_or_unreadable",
		CONTAINERS(ASKS("", "\"cpu\":\"-1\",\"memory\":0,\"a.b/c\":\"x\"")), "", NULL },
	{ "too_much_is_the_most", CONTAINERS(ASKS("", "\"memory\":\"1Ei\"")), " memory=9007199254740992",
		NULL },
	{ "host_ports",
		CONTAINERS(PORTS("{\"hostPort\":80,\"protocol\":\"TCP\"},{\"containerPort\":5},"
				 "{\"hostPort\":53,\"hostIP\":\"10.0.0.1\",\"protocol\":\"UDP\"}")),
		" 10.0.0.1:53/UDP 0.0.0.0:80/TCP", NULL },
	{ "defaults_of_ports_are_absent",
		CONTAINERS(PORTS(
			"{\"hostPort\":80},{\"hostPort\":80,\"hostIP\":\"0.0.0.0\",\"protocol\":\"TCP\"}")),
		" 0.0.0.0:80/TCP", NULL },
	{ "ports_of_sidecars_and_not_of_other_init_containers",
		"\"initContainers\":[{\"ports\":[{\"hostPort\":1}]},{" SIDECAR
		"\"ports\":[{\"hostPort\":2}]}]," CONTAINERS("{}"),
		" 0.0.0.0:2/TCP", NULL },
	{ "ports_of_the_host_network", "\"hostNetwork\":true," CONTAINERS(PORTS("{\"containerPort\":8080}")),
		" 0.0.0.0:8080/TCP", NULL },
	{ "node_selector", "\"nodeSelector\":{\"zone\":\"a\",\"disk\":\"s\\\"s\\\\d\\n\",\"e\":\"\"}",
		" disk=s\"s\\d\n e= zone=a", NULL },
	{ "preferences_are_not_asked_for",
		AFFINITY(
			"\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1}]},"
			"\"podAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1}]}"),
		"", NULL },
	{ "affinity_to_labels",
		TERMS(TERM(LABEL("zone", "NotIn", "\"b\",\"a\",\"b\"") "," LABEL("n", "Gt",
				   "\"3\"") "," LABEL("gpu", "Exists", ""),
			"") "," TERM(SSD, "")),
		" terms" T_SSD " (gpu Exists and n Gt 3 and zone NotIn a b)", NULL },
	{ "affinity_that_no_node_satisfies", TERMS(""), " terms", NULL },
	{ "empty_term_holds_for_none", TERMS("{}," TERM(SSD, "")), " terms" T_SSD, NULL },
	{ "pin", TERMS(TERM("", PIN("n1"))), "", "n1" },
	{ "pin_beside_other_requirements", TERMS(TERM(SSD, PIN("n1"))), " terms" T_SSD, "n1" },
	{ "same_pin_in_each_term", TERMS(TERM(SSD, PIN("n1")) "," TERM("", PIN("n1")) ",{}"), "", "n1" },
	{ "same_pin_twice", TERMS(TERM("", PIN("n1") "," PIN("n1"))), "", "n1" },
	{ "two_nodes_are_no_pin", TERMS(TERM("", PIN("n1")) "," TERM("", PIN("n2"))),
		" terms (field metadata.name In n1) (field metadata.name In n2)", NULL },
	{ "term_without_a_pin", TERMS(TERM("", PIN("n1")) "," TERM(SSD, "")),
		" terms" T_SSD " (field metadata.name In n1)", NULL },
	{ "other_requirements_of_the_name",
		TERMS(TERM("", LABEL("metadata.name", "NotIn", "\"n1\"") "," PIN("n2"))),
		" terms (field metadata.name NotIn n1)", "n2" },
	{ "label_called_like_the_field", TERMS(TERM(PIN("n1"), "")), " terms (metadata.name In n1)", NULL },
	{ "unknown_operator", TERMS(TERM(LABEL("a", "Like", "\"b\"") "," SSD, "")),
		" terms" T_SSD UNVERIFIED("node affinity"), NULL },
	{ "nothing_but_what_is_unknown",
		TERMS(TERM(LABEL("a", "Like", "\"b\""), LABEL("spec.x", "In", "\"b\""))),
		UNVERIFIED("node affinity"), NULL },
	{ "tolerations",
		TOLERATIONS(
			"{\"operator\":\"Exists\"},{\"key\":\"b\",\"value\":\"x\",\"effect\":\"NoSchedule\"},"
			"{\"key\":\"a\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300},"
			"{\"key\":\"a\",\"operator\":\"Equal\"}"),
		" ~* ~a= ~a:NoExecute ~b=x:NoSchedule", NULL },
	{ "tolerations_that_decide_nothing",
		TOLERATIONS(
			"{\"key\":\"a\",\"operator\":\"Exists\",\"effect\":\"PreferNoSchedule\"},{\"value\":\"x\"}"),
		"", NULL },
	{ "tolerations_that_are_not_known",
		TOLERATIONS(
			"{\"key\":\"a\",\"operator\":\"Gt\",\"value\":\"5\"},{\"key\":\"a\",\"effect\":\"Later\"}"),
		UNVERIFIED("tolerations"), NULL },
	{ "without_a_selector_no_pod_is_meant",
		AFFINITY("\"podAffinity\":{" REQUIRED "[{\"topologyKey\":\"zone\"}]}"),
		" with (own: nothing) per zone", NULL },
	{ "nothing_is_kept_away", AFFINITY("\"podAntiAffinity\":{" REQUIRED "[{\"topologyKey\":\"zone\"}]}"),
		"", NULL },
	{ "one_copy_per_node",
		ANTI("\"labelSelector\":{\"matchLabels\":{\"b\":\"2\",\"a\":\"1\"}},\"topologyKey\":\"h\""),
		" apart from (own: a In 1 and b In 2) per h", NULL },
	{ "of_all_namespaces", ANTI("\"labelSelector\":{},\"namespaceSelector\":{},\"topologyKey\":\"h\""),
		" apart from (any:) per h", NULL },
	{ "of_some_namespaces",
		ANTI("\"labelSelector\":{},\"namespaces\":[\"n\",\"m\"],\"namespaceSelector\":{\"matchLabels\":{\"kubernetes.io/metadata.name\":\"x\"}},\"topologyKey\":\"h\""),
		" apart from (m,n,x:) per h", NULL },
	{ "of_namespaces_by_other_labels",
		ANTI("\"labelSelector\":{},\"namespaceSelector\":{\"matchLabels\":{\"team\":\"x\"}},\"topologyKey\":\"h\""),
		UNVERIFIED("pod anti-affinity"), NULL },
	{ "expressions",
		ANTI("\"labelSelector\":{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"NotIn\",\"values\":[\"2\",\"1\"]},{\"key\":\"a\",\"operator\":\"Exists\"}]},\"topologyKey\":\"h\""),
		" apart from (own: a Exists and b NotIn 1 2) per h", NULL },
	{ "expression_that_is_not_known",
		ANTI("\"labelSelector\":{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Like\",\"values\":[\"2\"]}]},\"topologyKey\":\"h\""),
		UNVERIFIED("pod anti-affinity"), NULL },
	{ "index_of_a_pod_is_not_cached",
		ANTI("\"labelSelector\":{\"matchLabels\":{\"kube-arbitrator.io/index\":\"1\"}},\"topologyKey\":\"h\""),
		UNVERIFIED("pod anti-affinity"), NULL },
	{ "label_keys_of_a_template",
		ANTI("\"labelSelector\":{},\"matchLabelKeys\":[\"a\"],\"topologyKey\":\"h\""),
		UNVERIFIED("pod anti-affinity"), NULL },
	{ "label_keys_as_they_are_stored",
		ANTI("\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"1\"]}]},\"matchLabelKeys\":[\"a\"],\"topologyKey\":\"h\""),
		" apart from (own: a In 1) per h", NULL },
	{ "affinity_means_pods_that_meet_all_terms",
		AFFINITY(
			"\"podAffinity\":{" REQUIRED
			"[{\"labelSelector\":{\"matchLabels\":{\"b\":\"1\"}},\"topologyKey\":\"z\"},{\"labelSelector\":{\"matchLabels\":{\"a\":\"1\"}},\"topologyKey\":\"h\"}]}"),
		" with (own: a In 1 and b In 1) per h with (own: a In 1 and b In 1) per z", NULL },
	{ "affinity_of_several_namespaces",
		AFFINITY(
			"\"podAffinity\":{" REQUIRED
			"[{\"labelSelector\":{},\"topologyKey\":\"z\"},{\"labelSelector\":{},\"namespaces\":[\"n\"],\"topologyKey\":\"h\"}]}"),
		UNVERIFIED("pod affinity"), NULL },
	{ "topology_spread", SPREAD("\"labelSelector\":{\"matchLabels\":{\"a\":\"1\"}}"),
		" spread 1 (own: a In 1) per z", NULL },
	{ "topology_spread_over_all_nodes",
		SPREAD("\"labelSelector\":{\"matchLabels\":{\"a\":\"1\"}},\"minDomains\":3,\"nodeAffinityPolicy\":\"Ignore\",\"nodeTaintsPolicy\":\"Honor\""),
		" spread 1 (own: a In 1) per z any affinity only tolerated at least 3", NULL },
	{ "pins_are_refused_if_there_must_be_some_domains",
		SPREAD("\"labelSelector\":{\"matchLabels\":{\"a\":\"1\"}},\"minDomains\":3"),
		UNVERIFIED("topology spread"), NULL },
	{ "topology_spread_of_all_pods", SPREAD("\"labelSelector\":{}"), UNVERIFIED("topology spread"),
		NULL },
	{ "topology_spread_if_possible",
		"\"topologySpreadConstraints\":[{\"whenUnsatisfiable\":\"ScheduleAnyway\"}]", "", NULL },
	{ "resource_claims",
		"\"resourceClaims\":[{\"name\":\"two\",\"resourceClaimTemplateName\":\"t\"},{\"name\":\"one\",\"resourceClaimTemplateName\":\"t\"},{\"name\":\"mine\",\"resourceClaimName\":\"c\"}]",
		" devices of claim c devices by t devices by t", NULL },
	{ "claim_for_a_volume",
		"\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}},{\"name\":\"w\",\"persistentVolumeClaim\":{\"claimName\":\"b\"}}]",
		" volume b volume c", NULL },
	{ "ephemeral_volume",
		"\"volumes\":[{\"name\":\"v\",\"ephemeral\":{}},{\"name\":\"w\",\"ephemeral\":{\"volumeClaimTemplate\":{\"spec\":{\"storageClassName\":\"fast\"}}}}]",
		" volume of the default class volume of fast", NULL },
	{ "disks_that_pods_exclude_each_other_from",
		"\"volumes\":[{\"gcePersistentDisk\":{}},{\"awsElasticBlockStore\":{}},{\"iscsi\":{}},{\"rbd\":{}}]",
		UNVERIFIED("volumes"), NULL },
	{ "user_namespace_in_the_network_of_the_node", "\"hostNetwork\":true,\"hostUsers\":false",
		UNVERIFIED("features that nodes declare"), NULL },
	{ "user_namespace", "\"hostUsers\":false", "", NULL },
	{ "users_of_the_node", "\"hostNetwork\":true,\"hostUsers\":true", "", NULL },
	{ "network_of_the_node", "\"hostNetwork\":true", "", NULL },
	{ "container_that_restarts_all",
		"\"containers\":[{\"restartPolicyRules\":[{\"action\":\"Restart\"},{\"action\":\"RestartAllContainers\"}]}]",
		UNVERIFIED("features that nodes declare"), NULL },
	{ "container_that_restarts_itself",
		"\"containers\":[{\"restartPolicyRules\":[{\"action\":\"Restart\"}]}]", "", NULL },
	{ "volumes_that_any_node_has",
		"\"volumes\":[{\"emptyDir\":{}},{\"configMap\":{\"name\":\"c\"}},{\"hostPath\":{\"path\":\"/\"}}]",
		"", NULL },
	{ "all_that_is_not_verified",
		AFFINITY(
			"\"podAffinity\":{" REQUIRED "[{}]},\"podAntiAffinity\":{" REQUIRED
			"[{\"labelSelector\":{}},{\"labelSelector\":{}}]}") ",\"resourceClaims\":[{}],\"volumes\":[{\"rbd\":{}}]",
		" devices of claim " UNVERIFIED("pod affinity, pod anti-affinity, volumes"), NULL },
};

static const char *pod_text(struct kar_arena *a, const char *spec, const char *status)
{
	return kar_arena_printf(a, "{" META ",\"spec\":{%s},\"status\":{%s}}", spec, status);
}

static bool check(const char *name, const char *got, const char *want)
{
	if (kar_streq(got, want))
		return true;
	print_error("%s:\n  got  %s\n  want %s\n", name, got ? got : "NULL", want ? want : "NULL");
	return false;
}

static void pods_and_templates_say_what_they_need(void **state KAR_UNUSED)
{
	struct kar_arena a = { 0 };
	bool ok = true;

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_pod *p = pod_of(pod_text(&a, rows[i].spec, ""));
		const char *json = kar_arena_printf(&a, "{\"spec\":{%s}}", rows[i].spec), *pin;
		const struct kar_pod_needs *needs =
			kar_template_needs((struct kar_str){ json, strlen(json) }, &a, &pin, NULL);

		ok &= check(rows[i].name, needs_text(p->needs, &a), rows[i].needs);
		ok &= check(rows[i].name, p->pin, rows[i].pin);
		ok &= check(rows[i].name, needs_text(needs, &a), rows[i].needs);
		ok &= check(rows[i].name, pin, rows[i].pin);
		kar_object_unref(&p->o);
	}
	kar_arena_release(&a);
	assert_true(ok);
}

static void template_that_cannot_be_read_needs_nothing(void **state KAR_UNUSED)
{
	static const char json[] = "{\"spec\":{\"nodeName\":5}}";
	struct kar_arena a = { 0 };
	struct kar_err err = { 0 };
	const char *pin = "x";

	assert_null(kar_template_needs((struct kar_str){ json, strlen(json) }, &a, &pin, &err));
	assert_null(pin);
	assert_int_equal(err.what, KAR_INVALID);
	kar_arena_release(&a);
}

#define EVERYTHING \
	CONTAINERS( \
		"{\"name\":\"c\",\"ports\":[{\"hostPort\":80}],\"resources\":{\"requests\":{\"cpu\":1}}}") \
	",\"nodeSelector\":{\"a\":\"b\"}," TERMS(TERM("", PIN("n1"))) "," TOLERATIONS( \
		"{\"operator\":\"Exists\"}") ",\"resourceClaims\":[{}]"
#define RESIZED(spec, more) \
	"\"nodeName\":\"n1\"," CONTAINERS( \
		"{\"name\":\"d\"},{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":" spec \
		",\"memory\":5}}}") more
#define HAS(allocated, actual, more) \
	"\"containerStatuses\":[{\"name\":\"c\",\"allocatedResources\":{\"cpu\":" allocated \
	",\"memory\":5},\"resources\":{\"requests\":{\"cpu\":" actual ",\"memory\":5}}}]" more
#define PENDING(reason) \
	",\"conditions\":[{\"type\":\"PodResizePending\",\"status\":\"True\",\"reason\":\"" reason "\"}]"
#define CPU_AND_5(n) " cpu=" n " memory=5"

/* As far as the life of the pod decides. */
static const struct {
	const char *name, *spec, *status, *needs;
} lives[] = {
	{ "bound_pod_takes_room_and_ports", "\"nodeName\":\"n1\"," EVERYTHING, "",
		" cpu=1000 0.0.0.0:80/TCP devices of claim " },
	{ "ended_pod_needs_nothing", "\"nodeName\":\"n1\"," EVERYTHING, "\"phase\":\"Succeeded\"", NULL },
	{ "failed_pod_needs_nothing", EVERYTHING, "\"phase\":\"Failed\"", NULL },
	{ "not_resized", RESIZED("2", ""), HAS("2", "2", ""), CPU_AND_5("2000") },
	{ "growing", RESIZED("4", ""), HAS("2", "2", ""), CPU_AND_5("4000") },
	{ "allocated_and_not_yet_shrunk", RESIZED("1", ""), HAS("1", "3", ""), CPU_AND_5("3000") },
	{ "allocation_not_yet_shrunk", RESIZED("1", ""), HAS("3", "1", ""), CPU_AND_5("3000") },
	{ "put_off", RESIZED("9", ""), HAS("2", "2", PENDING("Deferred")), CPU_AND_5("9000") },
	{ "never_fits", RESIZED("900", ""), HAS("2", "3", PENDING("Infeasible")), CPU_AND_5("3000") },
	{ "node_says_nothing", RESIZED("9", ""),
		"\"containerStatuses\":[{\"name\":\"c\"}]" PENDING("Infeasible"), "" },
	{ "one_grows_as_much_as_the_other_shrinks",
		"\"nodeName\":\"n1\"," CONTAINERS(
			"{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":3}}},"
			"{\"name\":\"d\",\"resources\":{\"requests\":{\"cpu\":1}}}"),
		"\"containerStatuses\":[{\"name\":\"c\",\"allocatedResources\":{\"cpu\":1}},"
		"{\"name\":\"d\",\"allocatedResources\":{\"cpu\":3}}]",
		" cpu=4000" },
	{ "resources_of_the_pod_grow", RESIZED("1", ",\"resources\":{\"requests\":{\"cpu\":2}}"),
		"\"allocatedResources\":{\"cpu\":3,\"memory\":9},\"resources\":{\"requests\":{\"cpu\":2,\"memory\":9}}",
		" cpu=3000 memory=9" },
	{ "resources_of_the_pod_are_set_aside_and_not_in_force",
		RESIZED("1", ",\"resources\":{\"requests\":{\"cpu\":2}}"),
		"\"allocatedResources\":{\"cpu\":3}", CPU_AND_5("2000") },
	{ "sidecar_grows",
		"\"nodeName\":\"n1\",\"initContainers\":[{\"name\":\"s\"," SIDECAR
		"\"resources\":{\"requests\":{\"cpu\":1}}}]," CONTAINERS("{\"name\":\"c\"}"),
		"\"initContainerStatuses\":[{\"name\":\"s\",\"allocatedResources\":{\"cpu\":2}}]",
		" cpu=2000" },
};

static void needs_change_with_the_life_of_a_pod(void **state KAR_UNUSED)
{
	struct kar_arena a = { 0 };
	bool ok = true;

	for (size_t i = 0; i < KAR_LEN(lives); i++) {
		const struct kar_pod *p = pod_of(pod_text(&a, lives[i].spec, lives[i].status));

		ok &= check(lives[i].name, needs_text(p->needs, &a), lives[i].needs);
		kar_object_unref(&p->o);
	}
	kar_arena_release(&a);
	assert_true(ok);
}

static void template_may_name_its_node(void **state KAR_UNUSED)
{
	static const char json[] = "{\"spec\":{\"nodeName\":\"n1\"," EVERYTHING "}}";
	struct kar_arena a = { 0 };

	assert_string_equal(needs_text(kar_template_needs((struct kar_str){ json, strlen(json) }, &a, NULL,
					       NULL),
				    &a),
		" cpu=1000 0.0.0.0:80/TCP devices of claim  on n1");
	kar_arena_release(&a);
}

static void pods_of_a_template_share_the_struct(void **state KAR_UNUSED)
{
	const struct kar_pod *p = pod_of("{" META ",\"spec\":{" EVERYTHING "}}"),
			     *q = pod_of("{" META ",\"spec\":{" EVERYTHING "}}");

	assert_ptr_equal(p->needs, q->needs);
	assert_ptr_equal(p->pin, q->pin);
	kar_object_unref(&p->o);
	kar_object_unref(&q->o);
}

/* --- chance ---------------------------------------------------------------------------------------- */

static unsigned chance(unsigned n)
{
	return (unsigned)rand() % n;
}

/* @n numbers below @of, each once, in any order. */
static void draw(int *out, int n, int of)
{
	int all[16];

	for (int i = 0; i < of; i++)
		all[i] = i;
	for (int i = 0; i < n; i++) {
		int k = i + (int)chance((unsigned)(of - i)), swap = all[k];

		all[k] = all[i];
		all[i] = swap;
		out[i] = swap;
	}
}

enum { PARTS = 6, ELEMENTS = 5 };

/* Which elements each part has: a bit for each. */
struct drawn {
	unsigned bits[PARTS];
};

/* Each "#" as the number. */
static void put_numbered(struct kar_buf *b, const char *element, int number)
{
	for (; *element; element++) {
		if (*element == '#')
			kar_buf_printf(b, "%d", number);
		else
			kar_buf_append(b, element, 1);
	}
}

/* The elements of one part, in any order. */
static void put_part(struct kar_buf *b, const char *open, const char *element, unsigned bits,
	const char *close)
{
	int order[ELEMENTS];
	bool first = true;

	kar_buf_puts(b, open);
	draw(order, ELEMENTS, ELEMENTS);
	for (int i = 0; i < ELEMENTS; i++) {
		if (!(bits >> order[i] & 1))
			continue;
		kar_buf_puts(b, first ? "" : ",");
		put_numbered(b, element, order[i]);
		first = false;
	}
	kar_buf_puts(b, close);
}

static void put_spec(struct kar_buf *b, const struct drawn *d)
{
	static const struct {
		const char *open, *element, *close;
	} parts[PARTS] = {
		{ "\"nodeSelector\":{", "\"k#\":\"#\"", "}" },
		{ "\"tolerations\":[", "{\"key\":\"t#\",\"value\":\"#\"}", "]" },
		{ "\"containers\":[{\"resources\":{\"requests\":{", "\"r#\":\"#.1\"", "}}}]" },
		{ "\"initContainers\":[{\"restartPolicy\":\"Always\",\"ports\":[",
			"{\"hostPort\":8#,\"containerPort\":#}", "]}]" },
		{ "\"affinity\":{\"nodeAffinity\":{" REQUIRED
		  "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"z\",\"operator\":\"In\",\"values\":[",
			"\"v##\"", "]}]}]}}}" },
		{ "\"overhead\":{", "\"o#\":\"#5\"", "}" },
	};
	int order[PARTS];

	draw(order, PARTS, PARTS);
	kar_buf_puts(b, "{\"spec\":{");
	for (int i = 0; i < PARTS; i++) {
		int p = order[i];

		kar_buf_puts(b, i ? "," : "");
		put_part(b, parts[p].open, parts[p].element, d->bits[p], parts[p].close);
	}
	kar_buf_puts(b, "}}");
}

static const struct kar_pod_needs *needs_of(const struct drawn *d, struct kar_arena *a)
{
	struct kar_buf b = { 0 };
	struct kar_err err = { 0 };
	const struct kar_pod_needs *needs;

	put_spec(&b, d);
	needs = kar_template_needs((struct kar_str){ b.p, b.n }, a, NULL, &err);
	if (!needs)
		fail_msg("%s: %s", err.msg, b.p);
	kar_buf_release(&b);
	return needs;
}

/* Equal needs in another order are one; needs with one difference are two. */
static void order_means_nothing_and_all_else_something(void **state KAR_UNUSED)
{
	const char *seed = getenv("KAR_SEED");
	unsigned start = seed ? (unsigned)strtoul(seed, NULL, 10) : 20261125;

	srand(start);
	for (int round = 0; round < 500; round++) {
		struct kar_arena a = { 0 };
		struct drawn d, other;
		const struct kar_pod_needs *needs;
		unsigned part = chance(PARTS);

		for (int i = 0; i < PARTS; i++)
			d.bits[i] = chance(1U << ELEMENTS);
		other = d;
		/* "0.1" of a resource is rounded up to 1, so that no element is without effect. */
		other.bits[part] ^= 1U << chance(ELEMENTS);
		needs = needs_of(&d, &a);
		if (kar_shape_compare(&kar_needs_shape, needs, needs_of(&d, &a)) != 0 ||
			kar_shape_compare(&kar_needs_shape, needs, needs_of(&other, &a)) == 0)
			fail_msg("KAR_SEED=%u, round %d, part %u: %s, %s", start, round, part,
				needs_text(needs, &a), needs_text(needs_of(&other, &a), &a));
		assert_int_equal(needs->n_selector, __builtin_popcount(d.bits[0]));
		assert_int_equal(needs->n_tolerations, __builtin_popcount(d.bits[1]));
		assert_int_equal(needs->n_amounts,
			__builtin_popcount(d.bits[2]) + __builtin_popcount(d.bits[5]));
		assert_int_equal(needs->n_ports, __builtin_popcount(d.bits[3]));
		kar_arena_release(&a);
	}
}

/* --- bounds ---------------------------------------------------------------------------------------- */

static void put_many(struct kar_buf *b, const char *open, const char *element, int n, const char *close)
{
	kar_buf_puts(b, open);
	for (int i = 0; i < n; i++) {
		kar_buf_puts(b, i ? "," : "");
		put_numbered(b, element, i);
	}
	kar_buf_puts(b, close);
}

#define SMALL "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":1}}}]"
#define LONG " cpu=1000 unverified: a long list of constraints"

static void long_lists_leave_the_requests(void **state KAR_UNUSED)
{
	static const struct {
		const char *name, *open, *element, *close;
	} lists[] = {
		{ "selector", "\"nodeSelector\":{", "\"k#\":\"#\"", "}" },
		{ "tolerations", "\"tolerations\":[", "{\"key\":\"k#\",\"value\":\"#\"}", "]" },
		{ "terms", "\"affinity\":{\"nodeAffinity\":{" REQUIRED "{\"nodeSelectorTerms\":[",
			"{\"matchExpressions\":[{\"key\":\"#\",\"operator\":\"Exists\",\"values\":[\"#\"]}]}",
			"]}}}" },
		{ "values",
			"\"affinity\":{\"nodeAffinity\":{" REQUIRED
			"{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[",
			"\"##\"", "]}]}]}}}" },
		{ "ports", "\"initContainers\":[{\"restartPolicy\":\"Always\",\"ports\":[",
			"{\"hostPort\":1#,\"containerPort\":#}", "]}]" },
	};
	bool ok = true;

	for (size_t i = 0; i < KAR_LEN(lists); i++) {
		struct kar_arena a = { 0 };
		struct kar_buf b = { 0 };

		kar_buf_puts(&b, "{\"spec\":{" SMALL ",");
		put_many(&b, lists[i].open, lists[i].element, 5000, lists[i].close);
		kar_buf_puts(&b, "}}");
		ok &= check(lists[i].name,
			needs_text(kar_template_needs((struct kar_str){ b.p, b.n }, &a, NULL, NULL), &a),
			LONG);
		kar_buf_release(&b);
		kar_arena_release(&a);
	}
	assert_true(ok);
}

static const struct kar_pod_needs *needs_of_requests(const char *element, int n, struct kar_arena *a)
{
	struct kar_buf b = { 0 };
	const struct kar_pod_needs *needs;

	put_many(&b, "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{", element, n,
		",\"memory\":7}}}]}}");
	needs = kar_template_needs((struct kar_str){ b.p, b.n }, a, NULL, NULL);
	assert_non_null(needs);
	assert_true(kar_shape_bytes(&kar_needs_shape, needs) < KAR_POD_NEEDS_BYTES);
	kar_buf_release(&b);
	return needs;
}

/* Whatever else there is, memory counts; and what is left out is said. */
static void requests_are_bounded(void **state KAR_UNUSED)
{
	static const char too_long[] = "a long list of constraints";
	struct kar_arena a = { 0 };
	const struct kar_pod_needs *many = needs_of_requests("\"a/#\":\"#.5\"", 500, &a),
				   *some = needs_of_requests("\"a.b/c#\":\"#.5\"", 20, &a),
				   *long_names =
					   needs_of_requests("\"a.example.com/with-a-long-name-#\":\"#.5\"",
						   500, &a);

	assert_string_equal(many->amounts[0].resource, "memory");
	assert_string_equal(many->unverified, too_long);
	assert_int_equal(many->n_amounts, KAR_POD_NEEDS_REQUESTS);
	assert_string_equal(long_names->unverified, too_long);
	assert_in_range(long_names->n_amounts, 30, KAR_POD_NEEDS_REQUESTS - 1);
	assert_null(some->unverified);
	assert_int_equal(some->n_amounts, 21);
	assert_string_equal(needs_text(needs_of_requests("\"a.b/c#\":\"#.5\"", 50000, &a), &a),
		" memory=7 unverified: a long list of constraints");
	kar_arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pods_and_templates_say_what_they_need),
		TEST(template_that_cannot_be_read_needs_nothing),
		TEST(needs_change_with_the_life_of_a_pod),
		TEST(template_may_name_its_node),
		TEST(pods_of_a_template_share_the_struct),
		TEST(order_means_nothing_and_all_else_something),
		TEST(long_lists_leave_the_requests),
		TEST(requests_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
