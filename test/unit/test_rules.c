/* Which nodes are left for a pod beside others, by the labels and the rules that all of them have (controllers/cluster/rules.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "controllers/cluster/snapshot.h"
#include "test/fixture/projection.h"

#define POD(ns, name, labels, spec) \
	"{\"metadata\":{\"namespace\":\"" ns "\",\"name\":\"" name "\",\"uid\":\"" name \
	"\",\"resourceVersion\":\"1\",\"labels\":{" labels \
	"}},\"spec\":{\"containers\":[{\"name\":\"c\"}]" spec "}}"
#define ON(node) ",\"nodeName\":\"" node "\""
#define W "\"app\":\"w\""
#define V "\"app\":\"v\""
#define TERM(more) \
	",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{" more \
	"}]}}"
#define NODES_OF(labels) \
	"\"labelSelector\":{\"matchLabels\":{" labels "}},\"topologyKey\":\"kubernetes.io/hostname\""
#define RACKS_OF(labels) "\"labelSelector\":{\"matchLabels\":{" labels "}},\"topologyKey\":\"rack\""
#define TEAM "\"namespaceSelector\":{\"matchLabels\":{\"team\":\"t\"}},"

static const struct {
	const char *name;
	const char *pods[2]; /* that are there */
	const char *asked;
	const char *nodes; /* of n1 and n2 in rack a, n3 in rack b: those that are left */
	const char *after; /* when the first of .pods is gone */
	const char *why;   /* first words about a gang of more pods than fit; NULL: whatever */
} rows[] = {
	{ "no_rules", { POD("a", "p", W, ON("n1")) }, POD("a", "q", W, ""), "n1 n2 n3", "n1 n2 n3", NULL },
	{ "not_beside_another", { POD("a", "p", W, ON("n1")) }, POD("a", "q", V, TERM(NODES_OF(W))), "n2 n3",
		"n1 n2 n3", NULL },
	{ "not_in_the_rack_of_another", { POD("a", "p", W, ON("n1")) }, POD("a", "q", V, TERM(RACKS_OF(W))),
		"n3", "n1 n2 n3", NULL },
	{ "labels_of_another_namespace", { POD("b", "p", W, ON("n1")) }, POD("a", "q", V, TERM(NODES_OF(W))),
		"n1 n2 n3", "n1 n2 n3", NULL },
	{ "other_labels", { POD("a", "p", V, ON("n1")) }, POD("a", "q", V, TERM(NODES_OF(W))), "n1 n2 n3",
		"n1 n2 n3", NULL },
	{ "kept_away_by_a_pod_there", { POD("a", "p", "", ON("n1") TERM(RACKS_OF(W))) }, POD("a", "q", W, ""),
		"n3", "n1 n2 n3", "2 excluded by anti-affinity of a/p" },
	{ "not_meant_by_it", { POD("a", "p", "", ON("n1") TERM(RACKS_OF(W))) }, POD("a", "q", V, ""),
		"n1 n2 n3", "n1 n2 n3", NULL },
	{ "not_meant_in_another_namespace", { POD("a", "p", "", ON("n1") TERM(RACKS_OF(W))) },
		POD("b", "q", W, ""), "n1 n2 n3", "n1 n2 n3", NULL },
	{ "kept_away_by_two",
		{ POD("a", "p", "", ON("n1") TERM(NODES_OF(W))),
			POD("a", "r", "", ON("n3") TERM(NODES_OF(W))) },
		POD("a", "q", W, ""), "n2", "n1 n2", "2 excluded by anti-affinity of a/p and others" },
	{ "one_that_waits_keeps_nobody_away", { POD("a", "p", "", TERM(NODES_OF(W))) }, POD("a", "q", W, ""),
		"n1 n2 n3", "n1 n2 n3", NULL },
	{ "who_is_meant_cannot_be_read", { POD("a", "p", "", ON("n1") TERM(TEAM NODES_OF(W))) },
		POD("a", "q", W, ""), "n1 n2 n3 unverified: anti-affinity of other pods", "n1 n2 n3", NULL },
	{ "but_makes_no_pod_of_others_unsure", { POD("a", "p", "", ON("n1") TERM(TEAM NODES_OF(W))) },
		POD("b", "q", W, ""), "n1 n2 n3", "n1 n2 n3", NULL },
	{ "who_is_not_meant_can", { POD("a", "p", "", ON("n1") TERM(TEAM NODES_OF(W))) },
		POD("a", "q", V, ""), "n1 n2 n3", "n1 n2 n3", NULL },
};

static void add_nodes(struct kar_store *nodes)
{
	static const char *const racks[] = { "a", "a", "b" };

	for (int i = 0; i < 3; i++) {
		char json[512];

		snprintf(json, sizeof(json),
			"{\"metadata\":{\"name\":\"n%d\",\"uid\":\"n%d\",\"resourceVersion\":\"1\",\"labels\":{\"kubernetes.io/hostname\":\"n%d\",\"rack\":\"%s\"}},"
			"\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"9\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
			i + 1, i + 1, i + 1, racks[i]);
		kar_store_apply(nodes, object_of(&kar_node_type, json));
	}
}

static const char *nodes_left(struct kar_snapshot *s, const struct kar_pod *asked, struct kar_arena *a)
{
	static const char *const names[] = { "n1", "n2", "n3" };
	const char *left = "", *unverified;
	kar_class c;

	kar_snapshot_class_of_pod(s, asked, asked->needs); /* so that its rules are known */
	kar_snapshot_settle_rules(s);
	c = kar_snapshot_class_of_pod(s, asked, asked->needs);
	unverified = kar_sched_unverified(kar_snapshot_sched(s), c);
	for (size_t i = 0; i < KAR_LEN(names); i++) {
		if (kar_sched_fits_on(kar_snapshot_sched(s), c, names[i]))
			left = kar_arena_printf(a, "%s%s%s", left, left[0] ? " " : "", names[i]);
	}
	return unverified ? kar_arena_printf(a, "%s unverified: %s", left, unverified) : left;
}

static const char *why_not(struct kar_snapshot *s, const struct kar_pod *asked, struct kar_arena *a)
{
	const struct kar_role role = { .class = kar_snapshot_class_of_pod(s, asked, asked->needs),
		.need = 100 };
	const struct kar_gang gang = { .roles = &role, .n_roles = 1 };

	return kar_sched_explain(kar_snapshot_sched(s), &gang, NULL, a).text;
}

static int check(const char *name, const char *what, const char *got, const char *want)
{
	if (strcmp(got, want) == 0)
		return 0;
	print_error("%s, %s:\n  want %s\n  got  %s\n", name, what, want, got);
	return 1;
}

static void rules_decide_where_pods_go(void **state KAR_UNUSED)
{
	int failed = 0;

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_store *nodes = kar_store_new(&kar_node_type, strings),
				 *pods = kar_store_new(&kar_pod_type, strings);
		struct kar_snapshot *s = kar_snapshot_new(strings);
		const struct kar_pod *asked = pod_of(rows[i].asked);
		const struct kar_object *first;
		struct kar_arena a = { 0 };

		kar_snapshot_listen(s, nodes, pods);
		add_nodes(nodes);
		for (size_t k = 0; k < KAR_LEN(rows[i].pods) && rows[i].pods[k]; k++)
			kar_store_apply(pods, object_of(&kar_pod_type, rows[i].pods[k]));
		failed += check(rows[i].name, "nodes", nodes_left(s, asked, &a), rows[i].nodes);
		if (rows[i].why && !strstr(why_not(s, asked, &a), rows[i].why))
			failed += check(rows[i].name, "why", why_not(s, asked, &a), rows[i].why);
		first = kar_store_get(pods, strstr(rows[i].pods[0], "\"b\",\"name\":\"p\"") ? "b" : "a", "p");
		assert_non_null(first);
		kar_store_delete(pods, first->ns, "p", "p", 9);
		failed += check(rows[i].name, "after", nodes_left(s, asked, &a), rows[i].after);
		kar_object_unref((struct kar_object *)(uintptr_t)&asked->o);
		kar_snapshot_free(s);
		kar_store_free(nodes);
		kar_store_free(pods);
		kar_arena_release(&a);
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(rules_decide_where_pods_go) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
