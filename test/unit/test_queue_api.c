/* Queues and PriorityClasses as the API serves them, and what is kept of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/priorityclass.h"
#include "api/queue.h"
#include "test/fixture/projection.h"

#define META "\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"7\",\"generation\":2}"

static void whole_queue_is_projected(void **state)
{
	const struct kar_queue *q = kar_as_queue(object_of(&kar_queue_type,
		"{" META
		",\"spec\":{\"weight\":4,\"maxJobs\":0,\"maxPriority\":-7,\"namespaceSelector\":{},\"state\":\"Closed\",\"queueingStrategy\":\"StrictFIFO\"},"
		"\"status\":{\"state\":\"Closing\",\"pending\":1,\"inqueue\":2,\"running\":3,\"completed\":4,\"unknown\":5,"
		"\"conditions\":[{\"type\":\"Valid\",\"status\":\"True\",\"reason\":\"Valid\"}]}}"));

	(void)state;
	assert_string_equal(q->o.name, "a");
	assert_null(q->o.ns);
	assert_int_equal(q->generation, 2);
	assert_int_equal(q->spec.weight, 4);
	assert_true(q->spec.has_max_jobs);
	assert_int_equal(q->spec.max_jobs, 0);
	assert_true(q->spec.has_max_priority);
	assert_int_equal(q->spec.max_priority, -7);
	assert_true(q->spec.has_namespace_selector);
	assert_string_equal(q->spec.unsupported, "namespaceSelector, weight");
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
	assert_int_equal(q->spec.weight, 1);
	assert_false(q->spec.has_max_jobs);
	assert_false(q->spec.has_max_priority);
	assert_false(q->spec.has_namespace_selector);
	assert_string_equal(q->spec.unsupported, "");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whole_queue_is_projected),
		TEST(bare_queue_gets_the_defaults),
		TEST(priorityclass_is_projected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
