/* Queues, PriorityClasses and Namespaces as the API serves them, and what is kept of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "test/fixture/projection.h"

#define META "\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"7\",\"generation\":2}"
#define OP(key, op, values) "{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":[" values "]}"
#define LABELS(list) "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"labels\":{" list "}}}"
#define QUEUE(name) "\"kube-arbitrator.io/queue\":\"" name "\""

static void check_amounts(const struct kar_queue_amounts *a, const char *want)
{
	char got[256] = "";

	for (uint32_t i = 0; i < a->n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s=%lld ", a->items[i].resource,
			(long long)a->items[i].amount);
	assert_string_equal(got, want);
}

static void whole_queue_is_projected(void **state)
{
	const struct kar_queue *q = kar_as_queue(object_of(&kar_queue_type,
		"{" META
		",\"spec\":{\"parent\":\"p\",\"weight\":4,\"deserved\":{\"pods\":3,\"memory\":\"1500m\",\"cpu\":\"2.0007\"},\"guarantee\":{\"cpu\":\"1n\",\"x\":\"\"},"
		"\"capability\":{\"pods\":\"7\"},\"reclaimable\":false,\"drain\":true,\"maxJobs\":0,\"maxPriority\":-7,\"maxRunSeconds\":3600,\"defaultRunSeconds\":60,\"namespaceSelector\":{\"matchLabels\":{\"team\":\"vip\"}},\"state\":\"Closed\",\"queueingStrategy\":\"StrictFIFO\"},"
		"\"status\":{\"state\":\"Closing\",\"pending\":1,\"inqueue\":2,\"running\":3,\"completed\":4,\"unknown\":5,\"parent\":\"r\","
		"\"conditions\":[{\"type\":\"Valid\",\"status\":\"True\",\"reason\":\"Valid\"}]}}"));

	(void)state;
	assert_string_equal(q->o.name, "a");
	assert_null(q->o.ns);
	assert_int_equal(q->generation, 2);
	assert_string_equal(q->spec.parent, "p");
	assert_string_equal(q->status.parent, "r");
	assert_int_equal(q->spec.weight, 4);
	check_amounts(&q->spec.deserved, "cpu=2000 memory=1 ");
	check_amounts(&q->spec.guarantee, "cpu=0 ");
	check_amounts(&q->spec.capability, "pods=7 ");
	assert_true(q->spec.never_reclaimed);
	assert_true(q->spec.drain);
	assert_true(q->spec.has_max_jobs);
	assert_int_equal(q->spec.max_jobs, 0);
	assert_true(q->spec.has_max_priority);
	assert_int_equal(q->spec.max_priority, -7);
	assert_int_equal(q->spec.max_run_seconds, 3600);
	assert_int_equal(q->spec.default_run_seconds, 60);
	assert_int_equal(q->spec.namespaces.labels.n, 1);
	assert_null(q->spec.namespaces_problem);
	assert_int_equal(q->spec.state, KAR_QUEUE_STATE_CLOSED);
	assert_string_equal(q->spec.queueing_strategy, "StrictFIFO");
	assert_int_equal(q->status.state, KAR_QUEUE_STATE_CLOSING);
	assert_int_equal(q->status.pending, 1);
	assert_int_equal(q->status.inqueue, 2);
	assert_int_equal(q->status.running, 3);
	assert_int_equal(q->status.completed, 4);
	assert_int_equal(q->status.unknown, 5);
	assert_true(kar_condition_is_true(&q->status.conditions, "Valid"));
	kar_object_unref(&q->o);
}

static void bare_queue_gets_the_defaults(void **state)
{
	const struct kar_queue *q = kar_as_queue(object_of(&kar_queue_type, "{" META "}"));

	(void)state;
	assert_null(q->spec.parent);
	assert_string_equal(q->status.parent, "");
	assert_int_equal(q->spec.weight, 1);
	assert_int_equal(q->spec.deserved.n + q->spec.guarantee.n + q->spec.capability.n, 0);
	assert_false(q->spec.never_reclaimed);
	assert_false(q->spec.has_max_jobs);
	assert_false(q->spec.has_max_priority);
	assert_int_equal(q->spec.namespaces.labels.n + q->spec.namespaces.expressions.n, 0);
	assert_null(q->spec.namespaces_problem);
	assert_int_equal(q->spec.state, KAR_QUEUE_STATE_OPEN);
	assert_null(q->spec.state_text);
	assert_string_equal(q->spec.queueing_strategy, "BestEffortFIFO");
	assert_int_equal(q->status.state, KAR_QUEUE_STATE_NONE);
	kar_object_unref(&q->o);
}

static void priorityclass_is_projected(void **state)
{
	const struct kar_priorityclass *c = kar_as_priorityclass(object_of(&kar_priorityclass_type,
		"{" META
		",\"value\":-5,\"globalDefault\":true,\"description\":\"x\",\"preemptionPolicy\":\"Never\"}"));

	(void)state;
	assert_string_equal(c->o.name, "a");
	assert_string_equal(c->o.uid, "u");
	assert_int_equal(c->value, -5);
	assert_true(c->global_default);
	kar_object_unref(&c->o);
}

/* What the queue says about it, and whether it selects namespaces with the labels a=1, and a=2 and b=. */
static const struct {
	const char *name, *json, *problem;
	bool first, second;
} selectors[] = {
	{ "empty", "{}", NULL, true, true },
	{ "empty_parts", "{\"matchLabels\":{},\"matchExpressions\":[]}", NULL, true, true },
	{ "label", "{\"matchLabels\":{\"a\":\"1\"}}", NULL, true, false },
	{ "label_without_a_value", "{\"matchLabels\":{\"b\":\"\"}}", NULL, false, true },
	{ "all_labels", "{\"matchLabels\":{\"a\":\"2\",\"b\":\"\"}}", NULL, false, true },
	{ "in", "{\"matchExpressions\":[" OP("a", "In", "\"1\",\"3\"") "]}", NULL, true, false },
	{ "in_of_an_absent_label", "{\"matchExpressions\":[" OP("b", "In", "\"\"") "]}", NULL, false, true },
	{ "not_in", "{\"matchExpressions\":[" OP("a", "NotIn", "\"1\",\"3\"") "]}", NULL, false, true },
	{ "not_in_of_an_absent_label", "{\"matchExpressions\":[" OP("b", "NotIn", "\"1\"") "]}", NULL, true,
		true },
	{ "exists", "{\"matchExpressions\":[" OP("b", "Exists", "") "]}", NULL, false, true },
	{ "does_not_exist", "{\"matchExpressions\":[" OP("b", "DoesNotExist", "") "]}", NULL, true, false },
	{ "label_and_expression",
		"{\"matchLabels\":{\"a\":\"2\"},\"matchExpressions\":[" OP("b", "DoesNotExist", "") "]}",
		NULL, false, false },
	{ "unknown_operator", "{\"matchExpressions\":[" OP("a", "Near", "") "]}",
		"operator Near of key a is not known", false, false },
	{ "no_operator", "{\"matchExpressions\":[{\"key\":\"a\"}]}", "operator  of key a is not known", false,
		false },
	{ "no_key", "{\"matchExpressions\":[{\"operator\":\"Exists\"}]}", "an expression has no key", false,
		false },
	{ "no_values", "{\"matchExpressions\":[" OP("a", "NotIn", "") "]}",
		"operator NotIn of key a needs values", false, false },
	{ "values", "{\"matchExpressions\":[" OP("a", "Exists", "\"1\"") "]}",
		"operator Exists of key a allows no values", false, false },
};

static bool selects(const struct kar_queue *q, const char *labels)
{
	struct kar_object *o = object_of(&kar_namespace_type, labels);
	bool yes = kar_selector_selects(&q->spec.namespaces, &kar_as_namespace(o)->labels);

	kar_object_unref(o);
	return yes;
}

static void namespaces_are_selected_by_labels(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(selectors); i++) {
		char json[512];
		const struct kar_queue *q;

		snprintf(json, sizeof(json), "{" META ",\"spec\":{\"namespaceSelector\":%s}}",
			selectors[i].json);
		q = kar_as_queue(object_of(&kar_queue_type, json));
		if (!kar_streq(q->spec.namespaces_problem, selectors[i].problem))
			fail_msg("%s: %s", selectors[i].name, q->spec.namespaces_problem);
		if (!selectors[i].problem &&
			(selects(q, LABELS("\"a\":\"1\"")) != selectors[i].first ||
				selects(q, LABELS("\"a\":\"2\",\"b\":\"\"")) != selectors[i].second))
			fail_msg("%s selects others", selectors[i].name);
		kar_object_unref(&q->o);
	}
}

/* A label that was not kept is not taken to be absent. */
static void namespace_with_too_many_labels_is_not_selected_by_their_absence(void **state)
{
	const struct kar_queue *q = kar_as_queue(object_of(&kar_queue_type,
		"{" META ",\"spec\":{\"namespaceSelector\":{\"matchExpressions\":[" OP("x", "DoesNotExist",
			"") "]}}}"));
	char labels[1024] = "\"l0\":\"\"", json[1200];

	(void)state;
	for (int i = 1; i <= KAR_COPY_PAIRS; i++) {
		snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"labels\":{%s}}}",
			labels);
		assert_true(selects(q, json));
		snprintf(labels + strlen(labels), sizeof(labels) - strlen(labels), ",\"l%d\":\"\"", i);
	}
	snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"labels\":{%s}}}", labels);
	assert_false(selects(q, json));
	kar_object_unref(&q->o);
}

static void namespace_names_a_queue(void **state)
{
	static const struct {
		const char *meta, *queue;
	} rows[] = {
		{ "", NULL },
		{ ",\"annotations\":{" QUEUE("a") "}", "a" },
		{ ",\"labels\":{" QUEUE("b") "}", "b" },
		{ ",\"labels\":{" QUEUE("b") "},\"annotations\":{" QUEUE("a") "}", "b" },
		{ ",\"labels\":{" QUEUE("") "},\"annotations\":{" QUEUE("a") "}", "a" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char json[512];
		struct kar_object *o;

		snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"n\",\"uid\":\"u\"%s}}", rows[i].meta);
		o = object_of(&kar_namespace_type, json);
		if (!kar_streq(kar_as_namespace(o)->queue, rows[i].queue))
			fail_msg("row %zu: %s", i, kar_as_namespace(o)->queue);
		kar_object_unref(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whole_queue_is_projected),
		TEST(bare_queue_gets_the_defaults),
		TEST(priorityclass_is_projected),
		TEST(namespaces_are_selected_by_labels),
		TEST(namespace_with_too_many_labels_is_not_selected_by_their_absence),
		TEST(namespace_names_a_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
