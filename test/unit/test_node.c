/* Nodes as the API serves them, and what is kept of them: what they offer to pods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "test/fixture/projection.h"

#define META(more) "\"metadata\":{\"name\":\"n1\",\"uid\":\"u\",\"resourceVersion\":\"7\"" more "}"
#define NODE(spec, status) "{" META("") ",\"spec\":{" spec "},\"status\":{" status "}}"
#define LABELS(labels) "{" META(",\"labels\":{" labels "}") "}"
#define READY(status) "\"conditions\":[{\"type\":\"Ready\",\"status\":\"" status "\"}]"

static void print(const struct kar_node_offer *o, struct kar_buf *out)
{
	static const char *const effects[] = { "", "NoSchedule", "PreferNoSchedule", "NoExecute" };

	kar_buf_printf(out, "%s%s%s", o->name, o->ready ? " ready" : "", o->cordoned ? " cordoned" : "");
	for (uint32_t i = 0; i < o->n_allocatable; i++)
		kar_buf_printf(out, " %s=%jd", o->allocatable[i].resource,
			(intmax_t)o->allocatable[i].amount);
	for (uint32_t i = 0; i < o->n_labels; i++)
		kar_buf_printf(out, " label %s=%s", o->labels[i].key, o->labels[i].value);
	for (uint32_t i = 0; i < o->n_taints; i++)
		kar_buf_printf(out, " taint %s=%s:%s", o->taints[i].key, o->taints[i].value,
			effects[o->taints[i].effect]);
}

static const struct {
	const char *name, *json, *offer;
} rows[] = {
	{ "nothing", NODE("", ""), "n1" },
	{ "ready", NODE("", READY("True")), "n1 ready" },
	{ "not_ready", NODE("", READY("False")), "n1" },
	{ "unknown_is_not_ready", NODE("", READY("Unknown")), "n1" },
	{ "other_conditions_say_nothing",
		NODE("", "\"conditions\":[{\"type\":\"MemoryPressure\",\"status\":\"True\"}]"), "n1" },
	{ "cordoned", NODE("\"unschedulable\":true", READY("True")), "n1 ready cordoned" },
	{ "cpu_in_thousandths_all_else_in_units_rounded_up",
		NODE("", "\"allocatable\":{\"cpu\":\"1.0001\",\"memory\":\"1Ki\",\"pods\":\"110\"}"),
		"n1 cpu=1001 memory=1024 pods=110" },
	{ "fractions_of_bytes", NODE("", "\"allocatable\":{\"memory\":\"1500m\"}"), "n1 memory=2" },
	{ "too_much_is_the_most", NODE("", "\"allocatable\":{\"memory\":\"1Ei\"}"),
		"n1 memory=9007199254740992" },
	{ "nothing_negative_or_empty",
		NODE("", "\"allocatable\":{\"cpu\":\"-1\",\"hugepages-1Gi\":\"0\",\"memory\":\"x\"}"), "n1" },
	{ "those_of_kubernetes_first",
		NODE("", "\"allocatable\":{\"a.b/gpu\":1,\"pods\":1,\"a.b/c\":1,\"cpu\":1}"),
		"n1 cpu=1000 pods=1 a.b/c=1 a.b/gpu=1" },
	{ "capacity_is_not_offered", NODE("", "\"capacity\":{\"cpu\":\"8\"}"), "n1" },
	{ "labels_are_sorted", LABELS("\"zone\":\"a\",\"empty\":\"\",\"disk\":\"ssd\""),
		"n1 label disk=ssd label empty= label zone=a" },
	{ "hard_taints_only",
		NODE("\"taints\":[{\"key\":\"b\",\"value\":\"1\",\"effect\":\"NoSchedule\"},"
		     "{\"key\":\"soft\",\"effect\":\"PreferNoSchedule\"},{\"key\":\"odd\",\"effect\":\"Sometimes\"},"
		     "{\"key\":\"a\",\"effect\":\"NoExecute\"}]",
			""),
		"n1 taint b=1:NoSchedule taint a=:NoExecute" },
};

static void node_offers_what_pods_may_use(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_object *o = object_of(&kar_node_type, rows[i].json);
		struct kar_buf got = { 0 };

		print(&kar_as_node(o)->offer, &got);
		if (strcmp(kar_buf_cstr(&got), rows[i].offer) != 0)
			fail_msg("%s: %s, want %s", rows[i].name, kar_buf_cstr(&got), rows[i].offer);
		kar_buf_release(&got);
		kar_object_unref(o);
	}
}

/* What is missing may be a taint. */
static void unreadable_node_takes_no_pods(void **state KAR_UNUSED)
{
	struct kar_object *o =
		object_read(true, &kar_node_type, NODE("\"taints\":5", READY("True")), strings);

	assert_false(kar_as_node(o)->offer.ready);
	kar_object_unref(o);
}

#define BASE(labels, spec, status) \
	"{" META(",\"labels\":{" labels "}") ",\"spec\":{\"taints\":[" spec "]},\"status\":{" status "}}"
#define TAINT "{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}"
#define CPU(n) "\"allocatable\":{\"cpu\":" n ",\"memory\":\"1Gi\"}," READY("True")
#define ORIGINAL BASE("\"a\":\"1\",\"b\":\"\"", TAINT, CPU("4"))

static const struct {
	const char *name, *json;
	bool same;
} changes[] = {
	{ "nothing", ORIGINAL, true },
	{ "order_of_labels", BASE("\"b\":\"\",\"a\":\"1\"", TAINT, CPU("4")), true },
	{ "another_way_to_write_an_amount", BASE("\"a\":\"1\",\"b\":\"\"", TAINT, CPU("\"4000m\"")), true },
	{ "heartbeat",
		BASE("\"a\":\"1\",\"b\":\"\"", TAINT,
			"\"allocatable\":{\"cpu\":4,\"memory\":\"1Gi\"},\"images\":[{\"sizeBytes\":5}],"
			"\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"lastHeartbeatTime\":\"2026-11-21T10:00:00Z\"}]"),
		true },
	{ "soft_taint",
		BASE("\"a\":\"1\",\"b\":\"\"", TAINT ",{\"key\":\"x\",\"effect\":\"PreferNoSchedule\"}",
			CPU("4")),
		true },
	{ "amount", BASE("\"a\":\"1\",\"b\":\"\"", TAINT, CPU("5")), false },
	{ "fewer_amounts", BASE("\"a\":\"1\",\"b\":\"\"", TAINT, READY("True")), false },
	{ "value_of_a_label", BASE("\"a\":\"2\",\"b\":\"\"", TAINT, CPU("4")), false },
	{ "name_of_a_label", BASE("\"a\":\"1\",\"c\":\"\"", TAINT, CPU("4")), false },
	{ "one_more_label", BASE("\"a\":\"1\",\"b\":\"\",\"c\":\"\"", TAINT, CPU("4")), false },
	{ "no_taint", BASE("\"a\":\"1\",\"b\":\"\"", "", CPU("4")), false },
	{ "value_of_a_taint",
		BASE("\"a\":\"1\",\"b\":\"\"", "{\"key\":\"k\",\"effect\":\"NoSchedule\"}", CPU("4")),
		false },
	{ "effect_of_a_taint",
		BASE("\"a\":\"1\",\"b\":\"\"", "{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}",
			CPU("4")),
		false },
	{ "not_ready_any_more",
		BASE("\"a\":\"1\",\"b\":\"\"", TAINT, "\"allocatable\":{\"cpu\":4,\"memory\":\"1Gi\"}"),
		false },
};

static void heartbeats_change_no_offer(void **state KAR_UNUSED)
{
	struct kar_object *original = object_of(&kar_node_type, ORIGINAL);

	for (size_t i = 0; i < KAR_LEN(changes); i++) {
		struct kar_object *o = object_of(&kar_node_type, changes[i].json);

		if (kar_node_same_offer(kar_as_node(original), kar_as_node(o)) != changes[i].same)
			fail_msg("%s", changes[i].name);
		kar_object_unref(o);
	}
	kar_object_unref(original);
}

/* @element @n times, each "#" as the number in four digits. */
static void put_many(struct kar_buf *out, const char *element, int n)
{
	for (int i = 0; i < n; i++) {
		kar_buf_puts(out, i ? "," : "");
		for (const char *p = element; *p; p++) {
			if (*p == '#')
				kar_buf_printf(out, "%04d", i);
			else
				kar_buf_append(out, p, 1);
		}
	}
}

/* Resources that devices invent do not displace memory. */
static void lists_are_bounded(void **state KAR_UNUSED)
{
	enum { MANY = 1000 };
	struct kar_buf json = { 0 };
	struct kar_object *o;
	const struct kar_node_offer *offer;

	kar_buf_puts(&json,
		"{\"metadata\":{\"name\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"7\",\"labels\":{");
	put_many(&json, "\"l#\":\"\"", MANY);
	kar_buf_puts(&json, "}},\"spec\":{\"taints\":[");
	put_many(&json, "{\"key\":\"t#\",\"effect\":\"NoSchedule\"}", MANY);
	kar_buf_puts(&json, "]},\"status\":{\"allocatable\":{");
	put_many(&json, "\"a.b/r#\":\"1\"", MANY);
	kar_buf_puts(&json, ",\"memory\":\"1\"}}}");
	o = object_of(&kar_node_type, json.p);
	offer = &kar_as_node(o)->offer;
	assert_int_equal(offer->n_labels, KAR_NODE_LABELS_MAX);
	assert_string_equal(offer->labels[KAR_NODE_LABELS_MAX - 1].key, "l0511");
	assert_int_equal(offer->n_taints, KAR_NODE_TAINTS_MAX);
	assert_string_equal(offer->taints[0].key, "t0000");
	assert_int_equal(offer->n_allocatable, KAR_NODE_RESOURCES_MAX);
	assert_string_equal(offer->allocatable[0].resource, "memory");
	kar_object_unref(o);
	kar_buf_release(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(node_offers_what_pods_may_use),
		TEST(unreadable_node_takes_no_pods),
		TEST(heartbeats_change_no_offer),
		TEST(lists_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
