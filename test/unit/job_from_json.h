/*
 * job_from_json - QueueJobs as the API serves them, for tests.
 */
#ifndef KAR_TEST_JOB_FROM_JSON_H
#define KAR_TEST_JOB_FROM_JSON_H

#include <string.h>

#include "api/queuejob.h"
#include "common/json.h"

/* The object of @type that @json projects to; fails the test otherwise. Give back with kar_object_unref(). */
static inline struct kar_object *object_from_json(const struct kar_type *type, const char *json,
	struct kar_intern *strings)
{
	struct kar_arena arena = { 0 };
	void *wire = kar_arena_alloc(&arena, 1, type->wire->size);
	struct kar_err err = { 0 };
	struct kar_object *o = NULL;

	if (kar_json_decode(&arena, type->wire, NULL, json, strlen(json), wire, &err) == 0)
		o = type->project(wire, strings, &err);
	if (!o)
		fail_msg("%s in %s", err.msg, json);
	kar_arena_release(&arena); /* nothing may point into it */
	return o;
}

#define JOB_META \
	"\"metadata\":{\"name\":\"j\",\"namespace\":\"ns\",\"uid\":\"job-uid\",\"resourceVersion\":\"7\"," \
	"\"generation\":2,\"creationTimestamp\":\"2026-11-21T10:00:00Z\""
/* A job with this spec. */
#define JOB(...) "{" JOB_META "},\"spec\":{" __VA_ARGS__ "}}"
#define TEMPLATE "\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"

#endif
