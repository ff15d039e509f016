/* The largest QueueJob still fits into etcd: its worst status, beside the largest templates that are taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/queuejob/queuejob.h"
#include "api/status/intervals.h"
#include "common/base/buf.h"
#include "test/fixture/from_json.h"

enum {
	ETCD_MAX = 3 << 19,   /* bytes of one object: etcd's default --max-request-bytes */
	SELECTOR_MAX = 32768, /* by the CRD, as the next one */
	NAME_MAX_LEN = 63,
	CONDITIONS_MAX = 9, /* our own, and two of others */
	UID_LEN = 36,
	/* Metadata: annotations may have 256 KiB; a manager of fields names each field of the templates once. */
	METADATA_MAX = (256 << 10) + KAR_QJ_MAX_TEMPLATE_BYTES / 2,
};

static char *repeat(struct kar_arena *arena, char c, size_t n)
{
	char *text = kar_arena_alloc(arena, n + 1, 1);

	memset(text, c, n);
	return text;
}

/* Of every @period indexes up to @n the first @run have succeeded. */
static const char *pattern(struct kar_arena *arena, int32_t n, int32_t run, int32_t period)
{
	struct kar_intervals set = { 0 };

	for (int32_t i = 0; i < n; i++) {
		if (i % period < run)
			kar_intervals_add(&set, i, arena);
	}
	return kar_intervals_format(&set, arena);
}

/* Everything as long as it may be; messages of bytes that JSON escapes. */
static void fill(struct kar_queuejob_status *s, struct kar_arena *arena, size_t n_tasks, int32_t run,
	int32_t period)
{
	const char *message = repeat(arena, '"', KAR_MAX_MESSAGE_BYTES - 1);
	const char **uids = kar_arena_alloc(arena, KAR_QJ_MAX_COUNTED_PODS, sizeof(*uids));
	struct kar_condition c = { .type = repeat(arena, 't', NAME_MAX_LEN),
		.reason = message,
		.message = message };

	*s = (struct kar_queuejob_status){ .phase = KAR_QJ_PHASE_RUNNING,
		.reason = message,
		.message = message,
		.selector = repeat(arena, 's', SELECTOR_MAX),
		.replicas = INT32_MAX,
		.record.template_hash = "0123456789abcdef",
		.record.pods_version = UINT64_MAX,
		.start_time = 1,
		.completion_time = 1,
		.last_scale_time = 1,
		.record.last_failure_time = 1,
		.last_restart = { .time = 1,
			.reason = message,
			.message = message,
			.pod = message,
			.node = message },
		.evictions = INT32_MAX,
		.last_eviction = { .time = 1, .reason = message, .by = message, .queue = message },
		.n_tasks = n_tasks,
		.tasks = kar_arena_alloc(arena, n_tasks, sizeof(*s->tasks)) };
	for (size_t i = 0; i < n_tasks; i++)
		s->tasks[i] = (struct kar_task_status){ .name = repeat(arena, 'w', NAME_MAX_LEN),
			.started = true,
			.restart_time = 1,
			.replicas = INT32_MAX,
			.desired = INT32_MAX,
			.pending = INT32_MAX,
			.running = INT32_MAX,
			.succeeded = INT32_MAX,
			.failed = INT32_MAX,
			.succeeded_indexes =
				pattern(arena, KAR_QJ_MAX_PODS / (int32_t)n_tasks, run, period) };
	for (size_t i = 0; i < KAR_QJ_MAX_COUNTED_PODS; i++)
		uids[i] = repeat(arena, 'u', UID_LEN);
	s->record.counted_pods = (struct kar_array){ .items = uids, .n = KAR_QJ_MAX_COUNTED_PODS };
	s->conditions = (struct kar_conditions){ .n = CONDITIONS_MAX };
	s->conditions.items = kar_arena_alloc(arena, CONDITIONS_MAX, sizeof(c));
	for (size_t i = 0; i < CONDITIONS_MAX; i++)
		s->conditions.items[i] = c;
}

static void write(const struct kar_queuejob_status *s, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_queuejob_status_write(&w, s);
	kar_json_writer_release(&w);
}

static size_t size_of(size_t n_tasks, int32_t run, int32_t period)
{
	struct kar_arena arena = { 0 };
	struct kar_queuejob_status s;
	struct kar_buf out = { 0 };
	size_t n;

	fill(&s, &arena, n_tasks, run, period);
	write(&s, &out);
	n = out.n;
	kar_buf_release(&out);
	kar_arena_release(&arena);
	return n;
}

/* Pairs with one missing between them are the worst case, not every second index: two numbers for three indexes. */
static void worst_status_of_100000_indexes_fits_beside_the_templates(void **state)
{
	static const int32_t patterns[][2] = { { 1, 2 }, { 2, 3 }, { 3, 4 }, { 1, 3 }, { 2, 4 } };
	size_t worst = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(patterns); i++) {
		size_t one = size_of(1, patterns[i][0], patterns[i][1]);
		size_t many = size_of(KAR_QJ_MAX_TASKS, patterns[i][0], patterns[i][1]);

		worst = one > worst ? one : worst;
		worst = many > worst ? many : worst;
	}
	assert_int_equal(worst, size_of(1, 2, 3));
	if (worst + KAR_QJ_MAX_TEMPLATE_BYTES + METADATA_MAX > ETCD_MAX)
		fail_msg("%zu bytes of status do not fit", worst);
}

/* What is written can be read back, whole. */
static void worst_list_of_indexes_survives_the_round_trip(void **state)
{
	struct kar_arena arena = { 0 };
	struct kar_intern *strings = kar_intern_new();
	const char *done = pattern(&arena, KAR_QJ_MAX_PODS, 2, 3);
	const char *json = kar_arena_printf(&arena,
		"{" JOB_META
		"},\"spec\":{},\"status\":{\"tasks\":[{\"name\":\"w\",\"succeededIndexes\":\"%s\"}]}}",
		done);
	struct kar_object *o = object_from_json(&kar_queuejob_type, json, strings);

	(void)state;
	assert_string_equal(kar_as_queuejob(o)->status.tasks[0].succeeded_indexes, done);
	kar_object_unref(o);
	kar_intern_free(strings);
	kar_arena_release(&arena);
}

/* Two tasks of which the second template has @bytes. */
static bool is_taken(size_t bytes, bool *reported)
{
	static const char head[] = "{\"spec\":{\"containers\":[{\"name\":\"", tail[] = "\"}]}}";
	struct kar_arena arena = { 0 };
	struct kar_intern *strings = kar_intern_new();
	const char *json = kar_arena_printf(&arena,
		"{" JOB_META "},\"spec\":{\"taskSpecs\":[{" TEMPLATE "},{\"template\":%s%s%s}]}}", head,
		repeat(&arena, 'c', bytes - strlen(head) - strlen(tail)), tail);
	struct kar_object *o = object_from_json(&kar_queuejob_type, json, strings);
	const char *invalid = kar_as_queuejob(o)->invalid;
	bool taken = !invalid;

	*reported = invalid &&
		strcmp(invalid,
			"the templates have 524289 bytes together, but at most 524288 are allowed, so that the status fits into the object") ==
			0;
	kar_object_unref(o);
	kar_intern_free(strings);
	kar_arena_release(&arena);
	return taken;
}

static void templates_that_leave_no_room_make_a_job_invalid(void **state)
{
	size_t other = strlen(TEMPLATE) - strlen("\"template\":");
	bool reported;

	(void)state;
	assert_true(is_taken(KAR_QJ_MAX_TEMPLATE_BYTES - other, &reported));
	assert_false(is_taken(KAR_QJ_MAX_TEMPLATE_BYTES - other + 1, &reported));
	assert_true(reported);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worst_status_of_100000_indexes_fits_beside_the_templates),
		cmocka_unit_test(worst_list_of_indexes_survives_the_round_trip),
		cmocka_unit_test(templates_that_leave_no_room_make_a_job_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
