/* On which nodes pods can be with their volumes (controllers/cluster/volumes.h). */
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

#define CLAIM(spec, phase) "\"spec\":{" spec "},\"status\":{\"phase\":\"" phase "\"}"
#define BOUND_TO(volume) CLAIM("\"volumeName\":\"" volume "\"", "Bound")
#define OF_CLASS(class) CLAIM("\"storageClassName\":\"" class "\"", "Pending")
#define IN(key, value) "{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[\"" value "\"]}"
#define TERM(key, value) "{\"matchExpressions\":[" IN(key, value) "]}"
#define ON(terms) "\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[" terms "]}}}"
#define FIRST "\"volumeBindingMode\":\"WaitForFirstConsumer\",\"provisioner\":\"d.io\""
#define IN_ZONE_A \
	FIRST \
	",\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":\"zone\",\"values\":[\"a\"]}]}]"
#define ZONE \
	"\"metadata\":{\"name\":\"v\",\"uid\":\"u\",\"resourceVersion\":\"1\",\"labels\":{\"topology.kubernetes.io/zone\":\"a\"}},"
#define CSI "\"spec\":{\"csi\":{\"driver\":\"d.io\"}}"
#define MADE "volumes that are made for a node"
#define ATTACHED "volumes that are attached to nodes"
#define USES "\"volumes\":[{\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]"
#define OWN "\"volumes\":[{\"ephemeral\":{\"volumeClaimTemplate\":{\"spec\":{\"storageClassName\":\"k\"}}}}]"
#define AFFINITY(terms) \
	"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[" terms \
	"]}}},"
#define FOUR(key) TERM(key, "1") "," TERM(key, "2") "," TERM(key, "3") "," TERM(key, "4")

/* Claim c, volume v, class k, driver d.io; NULL: it is not there. */
static const struct {
	const char *name, *claim, *volume, *class, *driver, *spec;
	const char *needs; /* "?" and more: what is unverified */
	const char *pending;
	const char *by_scheduler;
} rows[] = {
	{ "shared_file_system", BOUND_TO("v"), "\"spec\":{}", NULL, NULL, USES, "", NULL, NULL },
	{ "local_volume", BOUND_TO("v"), ON(TERM("host", "n1")), NULL, NULL, USES, "host in n1", NULL, NULL },
	{ "volume_of_two_zones", BOUND_TO("v"), ON(TERM("zone", "a") "," TERM("zone", "b")), NULL, NULL, USES,
		"zone in a or zone in b", NULL, NULL },
	{ "both_hold", BOUND_TO("v"), ON(TERM("zone", "a") "," TERM("zone", "b")), NULL, NULL,
		AFFINITY(TERM("gpu", "x")) USES, "gpu in x and zone in a or gpu in x and zone in b", NULL,
		NULL },
	{ "sixteen_terms", BOUND_TO("v"), ON(FOUR("zone")), NULL, NULL, AFFINITY(FOUR("gpu")) USES,
		"16 terms", NULL, NULL },
	{ "too_many_terms", BOUND_TO("v"), ON(FOUR("zone") "," TERM("zone", "5")), NULL, NULL,
		AFFINITY(FOUR("gpu")) USES, "4 terms ?volumes", NULL, NULL },
	{ "volume_that_is_for_no_node", BOUND_TO("v"), ON("{}"), NULL, NULL, USES, "never", NULL, NULL },
	{ "affinity_that_is_not_known", BOUND_TO("v"),
		ON("{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Near\"}]}"), NULL, NULL, USES,
		"?volumes", NULL, NULL },
	{ "affinity_by_the_names_of_nodes", BOUND_TO("v"),
		ON("{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}"),
		NULL, NULL, USES, "?volumes", NULL, NULL },
	{ "volume_that_is_not_seen", BOUND_TO("v"), NULL, NULL, NULL, USES, "",
		"PersistentVolumeClaim c is bound to a PersistentVolume that does not exist", NULL },
	{ "one_pod_at_a_time", CLAIM("\"volumeName\":\"v\",\"accessModes\":[\"ReadWriteOncePod\"]", "Bound"),
		"\"spec\":{}", NULL, NULL, USES, "?volumes", NULL, NULL },
	{ "no_claim", NULL, NULL, NULL, NULL, USES, "", "PersistentVolumeClaim c does not exist", NULL },
	{ "made_at_once", OF_CLASS("k"), NULL, "\"volumeBindingMode\":\"Immediate\"", NULL, USES, "",
		"PersistentVolumeClaim c is not bound", NULL },
	{ "lost_its_volume", CLAIM("\"volumeName\":\"v\",\"storageClassName\":\"k\"", "Lost"), NULL,
		"\"volumeBindingMode\":\"Immediate\"", NULL, USES, "",
		"PersistentVolumeClaim c has lost its PersistentVolume", NULL },
	{ "is_to_have_a_certain_volume", CLAIM("\"volumeName\":\"v\",\"storageClassName\":\"k\"", "Pending"),
		NULL, FIRST, NULL, USES, "", "PersistentVolumeClaim c is not bound", NULL },
	{ "volume_with_labels_of_a_zone", BOUND_TO("v"), ZONE "\"spec\":{}", NULL, NULL, USES, "?volumes",
		NULL, NULL },
	{ "attached_to_nodes", BOUND_TO("v"), CSI, NULL, "\"spec\":{\"attachRequired\":true}", USES, "", NULL,
		ATTACHED },
	{ "attached_as_drivers_do_that_say_nothing", BOUND_TO("v"), CSI, NULL, "\"spec\":{}", USES, "", NULL,
		ATTACHED },
	{ "driver_that_is_not_seen", BOUND_TO("v"), CSI, NULL, NULL, USES, "", NULL, ATTACHED },
	{ "mounted_without_attaching", BOUND_TO("v"), CSI, NULL, "\"spec\":{\"attachRequired\":false}", USES,
		"", NULL, NULL },
	{ "made_for_a_node_that_the_first_pod_decides", OF_CLASS("k"), NULL, FIRST, NULL, USES, "?volumes",
		NULL, MADE },
	{ "made_for_a_node_of_a_zone", OF_CLASS("k"), NULL, IN_ZONE_A, NULL, USES, "?volumes", NULL, MADE },
	{ "one_of_the_class_is_free_elsewhere", OF_CLASS("k"), "\"spec\":{\"storageClassName\":\"k\"}",
		IN_ZONE_A, NULL, USES, "?volumes", NULL, NULL },
	{ "one_of_the_class_is_another_claims", OF_CLASS("k"),
		"\"spec\":{\"storageClassName\":\"k\",\"claimRef\":{\"name\":\"b\"}}", IN_ZONE_A, NULL, USES,
		"?volumes", NULL, MADE },
	{ "before_it_has_the_default_class", CLAIM("", "Pending"), NULL, FIRST, NULL, USES, "",
		"PersistentVolumeClaim c is not bound", NULL },
	{ "without_a_class", CLAIM("\"storageClassName\":\"\"", "Pending"), NULL, FIRST, NULL, USES, "",
		"PersistentVolumeClaim c is not bound", NULL },
	{ "class_that_is_gone", OF_CLASS("other"), NULL, FIRST, NULL, USES, "",
		"PersistentVolumeClaim c is not bound", NULL },
	{ "nobody_makes_it", OF_CLASS("k"), NULL,
		"\"volumeBindingMode\":\"WaitForFirstConsumer\",\"provisioner\":\"kubernetes.io/no-provisioner\"",
		NULL, USES, "?volumes", NULL, NULL },
	{ "storage_of_nodes_is_limited", OF_CLASS("k"), NULL, FIRST, "\"spec\":{\"storageCapacity\":true}",
		USES, "?volumes", NULL, NULL },
	{ "volume_of_its_own", NULL, NULL, FIRST, "\"spec\":{}", OWN, "", NULL, MADE },
	{ "volume_of_its_own_made_at_once", NULL, NULL, "\"volumeBindingMode\":\"Immediate\"", NULL, OWN,
		"?volumes", NULL, NULL },
	{ "disk_of_an_old_kind", NULL, NULL, NULL, NULL, "\"volumes\":[{\"iscsi\":{}}]", "?volumes", NULL,
		NULL },
	{ "no_volumes", NULL, NULL, NULL, NULL, "\"volumes\":[{\"emptyDir\":{}}]", "", NULL, NULL },
};

static void put(struct kar_store *s, const char *name, const char *meta, const char *rest)
{
	char json[4096];

	kar_store_replace_begin(s);
	if (rest) {
		snprintf(json, sizeof(json),
			"{\"metadata\":{\"name\":\"%s\",%s\"uid\":\"u\",\"resourceVersion\":\"1\"%s},%s}",
			name, kar_store_type(s)->res.namespaced ? "\"namespace\":\"ns\"," : "", meta, rest);
		kar_store_replace_add(s, object_of(kar_store_type(s), json));
	}
	kar_store_replace_commit(s, 2);
}

static const char *words(const struct kar_pod_needs *n, struct kar_arena *a)
{
	const char *text = n->has_terms && !n->n_terms ? "never" : "";

	if (n->n_terms > 3)
		text = kar_arena_printf(a, "%u terms", n->n_terms);
	for (uint32_t i = 0; i < n->n_terms && n->n_terms <= 3; i++) {
		text = kar_arena_printf(a, "%s%s", text, i ? " or " : "");
		if (!n->terms[i].n)
			text = kar_arena_printf(a, "%snever", text);
		for (uint32_t k = 0; k < n->terms[i].n; k++) {
			const struct kar_requirement *r = &n->terms[i].requirements[k];

			text = kar_arena_printf(a, "%s%s%s in %s", text, k ? " and " : "", r->key,
				r->values[0]);
		}
	}
	if (n->unverified)
		text = kar_arena_printf(a, "%s%s?%s", text, *text ? " " : "", n->unverified);
	return text;
}

static void volumes_say_where_pods_can_be(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_stores stores;
		struct kar_arena a = { 0 };
		const char *json = kar_arena_printf(&a, "{\"spec\":{%s}}", rows[i].spec), *got;
		const struct kar_pod_needs *needs =
			kar_template_needs((struct kar_str){ json, strlen(json) }, &a, NULL, NULL);

		kar_stores_init(&stores, strings);
		put(stores.volumeclaims, "c", "", rows[i].claim);
		put(stores.volumes, "v", "", rows[i].volume);
		put(stores.storageclasses, "k",
			",\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"true\"}",
			rows[i].class);
		put(stores.csidrivers, "d.io", "", rows[i].driver);
		got = words(kar_volumes_add(&stores, "ns", needs, &a), &a);
		if (strcmp(got, rows[i].needs))
			fail_msg("%s: needs \"%s\", want \"%s\"", rows[i].name, got, rows[i].needs);
		got = kar_volumes_pending(&stores, "ns", needs, &a);
		if (!kar_streq(got, rows[i].pending))
			fail_msg("%s: pending \"%s\"", rows[i].name, got ? got : "");
		got = kar_volumes_by_scheduler(&stores, "ns", needs);
		if (!kar_streq(got, rows[i].by_scheduler))
			fail_msg("%s: by the scheduler \"%s\"", rows[i].name, got ? got : "");
		kar_stores_release(&stores);
		kar_arena_release(&a);
	}
}

/* Without the right to read them, or in a manager of one namespace. */
static void volumes_that_are_not_read_are_unverified(void **state KAR_UNUSED)
{
	const char *json = "{\"spec\":{" USES "}}";
	struct kar_stores stores;
	struct kar_arena a = { 0 };
	const struct kar_pod_needs *needs =
		kar_template_needs((struct kar_str){ json, strlen(json) }, &a, NULL, NULL);

	kar_stores_init(&stores, strings);
	put(stores.volumeclaims, "c", "", NULL);
	put(stores.volumes, "v", "", NULL);
	put(stores.storageclasses, "k", "", NULL);
	assert_string_equal(words(kar_volumes_add(&stores, "ns", needs, &a), &a), "?volumes");
	assert_null(kar_volumes_pending(&stores, "ns", needs, &a));
	kar_stores_release(&stores);
	kar_arena_release(&a);
}

/* Pods of a StatefulSet have a claim each, and take the same room. */
static void claims_alone_make_no_class(void **state KAR_UNUSED)
{
	const char *json[] = { "{\"spec\":{" USES "}}",
		"{\"spec\":{\"volumes\":[{\"persistentVolumeClaim\":{\"claimName\":\"other\"}}]}}" };
	kar_class class[2];
	struct kar_stores stores;
	struct kar_arena a = { 0 };

	kar_stores_init(&stores, strings);
	for (size_t i = 0; i < KAR_LEN(json); i++)
		class[i] = kar_snapshot_class_of(stores.snapshot,
			kar_template_needs((struct kar_str){ json[i], strlen(json[i]) }, &a, NULL, NULL));
	assert_int_equal(class[0], class[1]);
	assert_int_equal(kar_snapshot_needs(stores.snapshot), 1);
	kar_stores_release(&stores);
	kar_arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(volumes_say_where_pods_can_be),
		TEST(volumes_that_are_not_read_are_unverified),
		TEST(claims_alone_make_no_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
