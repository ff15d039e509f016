/* Queues and PriorityClasses as the API serves them, and what is kept of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/priorityclass.h"
#include "api/queue.h"
#include "common/json.h"

static const struct kar_object *object_of(const struct kar_type *t, struct kar_intern *strings,
	const char *json)
{
	struct kar_arena arena = { 0 };
	void *wire = kar_arena_alloc(&arena, 1, t->wire->size);
	struct kar_err err = { 0 };
	const struct kar_object *o;

	if (kar_json_decode(&arena, t->wire, NULL, json, strlen(json), wire, &err))
		fail_msg("%s in %s", err.msg, json);
	o = t->project(wire, strings, &err);
	assert_non_null(o);
	kar_arena_release(&arena);
	return o;
}

#define META "\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"7\",\"generation\":2}"

static void whole_queue_is_projected(void **state)
{
	struct kar_intern *strings = kar_intern_new();
	const struct kar_queue *q = kar_as_queue(object_of(&kar_queue_type, strings,
		"{" META
		",\"spec\":{\"weight\":4,\"maxJobs\":0,\"state\":\"Closed\",\"queueingStrategy\":\"StrictFIFO\"},"
		"\"status\":{\"state\":\"Closing\",\"pending\":1,\"inqueue\":2,\"running\":3,\"completed\":4,\"unknown\":5,"
		"\"conditions\":[{\"type\":\"Valid\",\"status\":\"True\",\"reason\":\"Valid\"}]}}"));

	(void)state;
	assert_string_equal(q->o.name, "a");
	assert_null(q->o.ns);
	assert_int_equal(q->generation, 2);
	assert_int_equal(q->spec.weight, 4);
	assert_true(q->spec.has_max_jobs);
	assert_int_equal(q->spec.max_jobs, 0);
	assert_string_equal(q->spec.state, "Closed");
	assert_string_equal(q->spec.queueing_strategy, "StrictFIFO");
	assert_string_equal(q->status.state, "Closing");
	assert_int_equal(q->status.pending, 1);
	assert_int_equal(q->status.inqueue, 2);
	assert_int_equal(q->status.running, 3);
	assert_int_equal(q->status.completed, 4);
	assert_int_equal(q->status.unknown, 5);
	assert_true(kar_condition_is_true(&q->status.conditions, "Valid"));
	kar_object_unref(&q->o);
	kar_intern_free(strings);
}

static void bare_queue_gets_the_defaults(void **state)
{
	struct kar_intern *strings = kar_intern_new();
	const struct kar_queue *q = kar_as_queue(object_of(&kar_queue_type, strings, "{" META "}"));

	(void)state;
	assert_int_equal(q->spec.weight, 1);
	assert_false(q->spec.has_max_jobs);
	assert_null(q->spec.state);
	assert_string_equal(q->spec.queueing_strategy, "BestEffortFIFO");
	assert_null(q->status.state);
	kar_object_unref(&q->o);
	kar_intern_free(strings);
}

static void priorityclass_is_projected(void **state)
{
	struct kar_intern *strings = kar_intern_new();
	const struct kar_priorityclass *c = kar_as_priorityclass(object_of(&kar_priorityclass_type, strings,
		"{" META
		",\"value\":-5,\"globalDefault\":true,\"description\":\"x\",\"preemptionPolicy\":\"Never\"}"));

	(void)state;
	assert_string_equal(c->o.name, "a");
	assert_string_equal(c->o.uid, "u");
	assert_int_equal(c->value, -5);
	assert_true(c->global_default);
	kar_object_unref(&c->o);
	kar_intern_free(strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_queue_is_projected),
		cmocka_unit_test(bare_queue_gets_the_defaults),
		cmocka_unit_test(priorityclass_is_projected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
