/*
 * pod_fixture - pods made of JSON as the informers make them, and a check that all their strings are given back. For one test
 * executable: all functions are static. Include after cmocka.h.
 */
#ifndef KAR_TEST_POD_FIXTURE_H
#define KAR_TEST_POD_FIXTURE_H

#include <string.h>

#include "api/pod.h"
#include "common/json.h"

static struct kar_intern *strings;

static KAR_UNUSED int setup(void **state)
{
	(void)state;
	strings = kar_intern_new();
	return 0;
}

static KAR_UNUSED int teardown(void **state)
{
	(void)state;
	kar_intern_free(strings); /* asserts that every string was given back */
	return 0;
}

static KAR_UNUSED const struct kar_pod *pod_of(const char *json)
{
	struct kar_arena arena = { 0 };
	void *wire = kar_arena_alloc(&arena, 1, kar_pod_type.wire->size);
	struct kar_err err = { 0 };
	const struct kar_object *o;

	if (kar_json_decode(&arena, kar_pod_type.wire, NULL, json, strlen(json), wire, &err))
		fail_msg("%s in %s", err.msg, json);
	o = kar_pod_type.project(wire, strings, &err);
	assert_non_null(o);
	kar_arena_release(&arena);
	return kar_as_pod(o);
}

#endif
