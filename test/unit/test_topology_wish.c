/* What annotations of Kueue and KAI ask for, of one pod and of several together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/core/topology_wish.h"
#include "common/base/str.h"
#include "test/fixture/projection.h"

#define KUEUE(name, value) "\"kueue.x-k8s.io/podset-" name "-topology\":\"" value "\""
#define KAI(name, value) "\"kai.scheduler/topology" name "\":\"" value "\""
#define SIZE "kueue.x-k8s.io/podset-slice-size"
#define SLICES(level, size) KUEUE("slice-required", level) ",\"" SIZE "\":\"" size "\""
#define IGNORED(key, why) "annotation " key " is ignored: " why

#define LETTERS_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* The annotations of up to three pods; what they ask for together, "required, preferred, name" as far as they do; why they are ignored. */
static const struct {
	const char *name, *pods[3], *ask, *ignored;
} rows[] = {
	{ "none", { "" }, "", NULL },
	{ "required_of_kueue", { KUEUE("required", "e.x/rack") }, "required=e.x/rack", NULL },
	{ "preferred_of_kueue", { KUEUE("preferred", "e.x/rack") }, "preferred=e.x/rack", NULL },
	{ "unconstrained_of_kueue", { KUEUE("unconstrained", "true") }, "", NULL },
	{ "required_of_kai", { KAI("-required-placement", "rack") }, "required=rack", NULL },
	{ "preferred_of_kai", { KAI("-preferred-placement", "rack") }, "preferred=rack", NULL },
	{ "topology_of_kai", { KAI("-required-placement", "rack") "," KAI("", "t.1") },
		"required=rack name=t.1", NULL },
	{ "topology_alone_asks_for_nothing", { KAI("", "t.1") }, "", NULL },
	{ "both", { KUEUE("required", "block") "," KUEUE("preferred", "rack") },
		"required=block preferred=rack", NULL },
	{ "kueue_before_kai", { KAI("-required-placement", "a") "," KUEUE("required", "b") }, "required=b",
		NULL },
	{ "kai_after_an_empty_value", { KAI("-required-placement", "a") "," KUEUE("required", "") },
		"required=a", NULL },
	{ "not_unconstrained", { KUEUE("unconstrained", "false") "," KUEUE("required", "rack") },
		"required=rack", NULL },
	{ "unconstrained_and_required", { KUEUE("unconstrained", "true") "," KUEUE("required", "rack") }, "",
		IGNORED("kueue.x-k8s.io/podset-required-topology", "another one asks for no topology") },
	{ "no_label", { KUEUE("required", "my rack") }, "",
		IGNORED("kueue.x-k8s.io/podset-required-topology", "want a label of nodes") },
	{ "no_prefix", { KUEUE("preferred", "/rack") }, "",
		IGNORED("kueue.x-k8s.io/podset-preferred-topology", "want a label of nodes") },
	{ "two_slashes", { KAI("-preferred-placement", "a/b/c") }, "",
		IGNORED("kai.scheduler/topology-preferred-placement", "want a label of nodes") },
	{ "ends_in_a_dot", { KAI("-required-placement", "e.x/rack.") }, "",
		IGNORED("kai.scheduler/topology-required-placement", "want a label of nodes") },
	{ "too_long", { KUEUE("required", LETTERS_64) }, "",
		IGNORED("kueue.x-k8s.io/podset-required-topology", "want a label of nodes") },
	{ "no_name", { KUEUE("required", "rack") "," KAI("", "a/b") }, "",
		IGNORED("kai.scheduler/topology", "want the name of a Topology") },
	{ "slices_of_kueue", { SLICES("e.x/rack", "16") }, "16 in e.x/rack", NULL },
	{ "slices_in_a_block", { KUEUE("required", "block") "," SLICES("rack", "2147483647") },
		"required=block 2147483647 in rack", NULL },
	{ "slices_without_a_size", { KUEUE("slice-required", "rack") }, "",
		IGNORED("kueue.x-k8s.io/podset-slice-required-topology", "want a number of pods in " SIZE) },
	{ "slices_of_nothing", { SLICES("rack", "0") }, "",
		IGNORED("kueue.x-k8s.io/podset-slice-required-topology", "want a number of pods in " SIZE) },
	{ "slices_of_no_label", { SLICES("my rack", "2") }, "",
		IGNORED("kueue.x-k8s.io/podset-slice-required-topology", "want a label of nodes") },
	{ "size_alone_asks_for_nothing", { "\"" SIZE "\":\"4\"" }, "", NULL },
	{ "unconstrained_slices", { KUEUE("unconstrained", "true") "," SLICES("rack", "2") }, "",
		IGNORED("kueue.x-k8s.io/podset-slice-required-topology",
			"another one asks for no topology") },
	{ "slices_that_differ", { SLICES("rack", "2"), KUEUE("preferred", "block") "," SLICES("rack", "4") },
		"",
		"annotations of pods are ignored: some ask for topology each 2 in one rack, others for preferred block and each 4 in one rack" },
	{ "pods_that_agree", { KUEUE("required", "rack"), KAI("-required-placement", "rack") },
		"required=rack", NULL },
	{ "pods_that_disagree",
		{ KUEUE("required", "rack"), KUEUE("preferred", "e.x/block"), KUEUE("required", "rack") }, "",
		"annotations of pods are ignored: some ask for topology preferred e.x/block, others for required rack" },
	{ "one_pod_asks_for_none", { "", KUEUE("required", "block") "," KUEUE("preferred", "rack") }, "",
		"annotations of pods are ignored: some ask for topology none, others for required block and preferred rack" },
	{ "of_two_topologies",
		{ KUEUE("required", "rack") "," KAI("", "b"), KUEUE("required", "rack") "," KAI("", "a") },
		"",
		"annotations of pods are ignored: some ask for topology required rack of Topology a, others for required rack of Topology b" },
	{ "one_pod_is_invalid", { KUEUE("required", "rack"), KUEUE("required", "?") }, "",
		IGNORED("kueue.x-k8s.io/podset-required-topology", "want a label of nodes") },
};

static const struct kar_pod *pod_with(const char *annotations, const char *label)
{
	char json[1024];

	snprintf(json, sizeof(json),
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\",\"resourceVersion\":\"1\","
		"\"labels\":{\"%s\":\"g\"},\"annotations\":{%s}}}",
		label, annotations);
	return pod_of(json);
}

static const char *print(const struct kar_topology_ask *ask, struct kar_arena *a)
{
	const struct kar_topology_slice *slices = kar_topology_slices(ask);
	const char *each = "";

	if (slices)
		each = kar_arena_printf(a, "%s%d in %s", ask->required || ask->preferred ? " " : "",
			(int)slices->size, slices->required);
	return kar_arena_printf(a, "%s%s%s%s%s%s%s", ask->required ? "required=" : "",
		ask->required ? ask->required : "",
		ask->preferred ? (ask->required ? " preferred=" : "preferred=") : "",
		ask->preferred ? ask->preferred : "", ask->name ? " name=" : "", ask->name ? ask->name : "",
		each);
}

static void annotations_ask_for_levels(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_topology_wishes wishes = { 0 };
		const struct kar_pod *pods[KAR_LEN(rows[i].pods)] = { NULL };
		struct kar_arena a = { 0 };
		struct kar_topology_ask ask;
		const char *ignored;

		for (size_t k = 0; k < KAR_LEN(pods) && rows[i].pods[k]; k++) {
			pods[k] = pod_with(rows[i].pods[k], "scheduling.x-k8s.io/pod-group");
			kar_topology_wishes_add(&wishes, kar_pod_topology(pods[k]));
		}
		ask = kar_topology_wishes_ask(&wishes, &a);
		ignored = kar_topology_wishes_invalid(&wishes, &a);
		if (strcmp(print(&ask, &a), rows[i].ask) != 0 || !kar_streq(ignored, rows[i].ignored))
			fail_msg("%s: asks for '%s', ignored: %s", rows[i].name, print(&ask, &a),
				ignored ? ignored : "no");
		for (size_t k = 0; k < KAR_LEN(pods) && pods[k]; k++)
			kar_object_unref(&pods[k]->o);
		kar_arena_release(&a);
	}
}

static void no_pods_ask_for_nothing(void **state KAR_UNUSED)
{
	const struct kar_topology_wishes none = { 0 };
	struct kar_arena a = { 0 };
	const struct kar_topology_ask ask = kar_topology_wishes_ask(&none, &a);

	assert_false(kar_topology_asks(&ask));
	assert_null(kar_topology_wishes_invalid(&none, &a));
}

/* Nothing is kept of a pod that is in no gang; what is kept of a member stands behind all else that few pods have. */
static void pods_in_groups_keep_their_wish(void **state KAR_UNUSED)
{
	const struct kar_pod *
		alone = pod_with(KUEUE("required", "rack"), "app"),
	       *member = pod_of(
		       "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\",\"resourceVersion\":\"1\","
		       "\"labels\":{\"pod-group.scheduling.sigs.k8s.io/name\":\"g\",\"pod-group.scheduling.sigs.k8s.io/min-available\":\"2\","
		       "\"kube-arbitrator.io/queue\":\"q\",\"app\":\"x\"},\"annotations\":{" KUEUE("required",
			       "rack") "}}}");

	assert_null(kar_pod_topology(alone));
	assert_non_null(kar_pod_gang(member));
	assert_string_equal(kar_pod_queue(member), "q");
	assert_non_null(strstr(kar_pod_more_labels(member), "app=x\n"));
	assert_string_equal(kar_pod_topology(member), "rack    ");
	kar_object_unref(&alone->o);
	kar_object_unref(&member->o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(annotations_ask_for_levels),
		TEST(no_pods_ask_for_nothing),
		TEST(pods_in_groups_keep_their_wish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
