/* One table per status: what it reads, writes, compares, hashes and prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/status/status_fields.h"
#include "common/codec/json.h"
#include "common/kube/object.h"

enum phase { PHASE_NONE, PHASE_PENDING, PHASE_RUNNING };
static const char *const phase_names[] = { "", "Pending", "Running", NULL };

struct task {
	const char *name;
	int32_t running;
	bool started;
	const char *done;
	kar_time restart;
};

struct record {
	enum phase before;
	bool ran;
	int32_t steps;
	const char *hash;
};

struct status {
	enum phase phase;
	const char *message;
	int32_t running;
	int64_t generation;
	int32_t desired;
	bool has_desired;
	bool ready;
	kar_time start;
	kar_rv version;
	struct kar_array pods, sums;
	struct record record;
	struct task *tasks;
	size_t n_tasks;
	struct kar_conditions conditions;
};

struct wire_record {
	struct record s;
	const char *before;
};

struct wire {
	struct status s;
	const char *phase, *version;
	struct wire_record record;
	struct kar_array tasks, conditions;
};

/* Flags of this kind: rows that another reconciler writes, and rows that are believed later. */
enum { OTHERS = KAR_SF_OWN, BELIEVED = KAR_SF_OWN << 1 };

static const struct kar_field task_rows[] = {
	KAR_STATUS_TEXT(struct task, name, "name", 8, 0, NULL),
	KAR_STATUS(INT32, struct task, running, "running", KAR_SF_COUNTER, NULL),
	KAR_STATUS(BOOL, struct task, started, "started", KAR_SF_STORY | KAR_SF_NORMALLY_TRUE, "started"),
	KAR_STATUS_TEXT(struct task, done, "succeededIndexes", 8, KAR_SF_COUNTER | KAR_SF_WHOLE, "done"),
	KAR_STATUS(TIME, struct task, restart, "restartTime", KAR_SF_STORY, "restart"),
};
static const struct kar_desc task_table = KAR_DESC("Task", struct task, task_rows);

static const struct kar_field record_rows[] = {
	KAR_STATUS_ENUM(struct wire_record, before, s.before, "before", phase_names, KAR_SF_STORY, "before"),
	KAR_STATUS(BOOL, struct wire_record, s.ran, "ran", KAR_SF_STORY | KAR_SF_OMIT_ZERO, "ran"),
	KAR_STATUS(INT32, struct wire_record, s.steps, "steps", KAR_SF_INTERNAL, NULL),
	KAR_STATUS_TEXT(struct wire_record, s.hash, "hash", 64, KAR_SF_INTERNAL, NULL),
};
static const struct kar_desc record_table = KAR_DESC("Record", struct wire_record, record_rows);

static const struct kar_field rows[] = {
	KAR_STATUS_ENUM(struct wire, phase, s.phase, "phase", phase_names, KAR_SF_STORY | KAR_SF_PRINT_ALWAYS,
		"phase"),
	KAR_STATUS_TEXT(struct wire, s.message, "message", 8, KAR_SF_STORY, "message"),
	KAR_STATUS(INT32, struct wire, s.running, "running", KAR_SF_COUNTER, "running"),
	KAR_STATUS(INT64, struct wire, s.generation, "observedGeneration", 0, NULL),
	KAR_STATUS_OPT(INT32, struct wire, s.desired, s.has_desired, "desired", OTHERS, "desired"),
	KAR_STATUS(BOOL, struct wire, s.ready, "ready", 0, "ready"),
	KAR_STATUS(TIME, struct wire, s.start, "startTime", KAR_SF_STORY, "start"),
	KAR_STATUS_VERSION(struct wire, version, s.version, "podsVersion", KAR_SF_INTERNAL, NULL),
	KAR_STATUS_STRINGS(struct wire, s.pods, "pods", KAR_SF_INTERNAL, "pods"),
	KAR_STATUS_PAIRS(struct wire, s.sums, "sums", KAR_SF_COUNTER, "sums"),
	KAR_STATUS_STRUCT(struct wire, record, s.record, "record", &record_table, KAR_SF_INTERNAL, "record"),
	KAR_STATUS_STRUCTS(struct wire, tasks, s.tasks, s.n_tasks, struct task, "tasks", &task_table,
		KAR_SF_COUNTER, "tasks"),
	KAR_STATUS_CONDITIONS(struct wire, conditions, s.conditions, "conditions",
		KAR_SF_STORY | OTHERS | KAR_SF_PRINT_REASON, "conditions"),
};
static const struct kar_desc table = KAR_DESC("Status", struct wire, rows);

static struct kar_arena arena;

static int teardown(void **state)
{
	(void)state;
	kar_arena_release(&arena);
	return 0;
}

/* What the decoder made vanishes before the status is used, as in a reflector. */
static struct status status_of(const char *json)
{
	struct kar_arena scratch = { 0 };
	struct kar_err err = { 0 };
	struct wire wire;
	struct status s = { 0 };

	if (kar_json_decode(&scratch, &table, NULL, json, strlen(json), &wire, &err))
		fail_msg("%s: %s", json, err.msg);
	kar_status_read(&table, &wire, &s, &arena);
	kar_arena_release(&scratch);
	return s;
}

static const char *written(const struct status *s, unsigned mask)
{
	struct kar_buf out = { 0 };
	struct kar_json_writer w;

	kar_json_writer_init(&w, &out);
	kar_jw_begin_object(&w);
	kar_status_write(&w, &table, s, mask);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);

	const char *text = kar_arena_strndup(&arena, out.p, out.n);

	kar_buf_release(&out);
	return text;
}

#define CONDITION \
	"{\"type\":\"Formed\",\"status\":\"True\",\"observedGeneration\":2,\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"," \
	"\"reason\":\"R\",\"message\":\"m\"}"

static const char full[] =
	"{\"phase\":\"Running\",\"message\":\"hello\",\"running\":3,\"observedGeneration\":5000000000,\"desired\":0,"
	"\"ready\":true,\"startTime\":\"2026-01-01T00:00:00Z\",\"podsVersion\":\"18446744073709551615\",\"pods\":[\"a\",\"b\"],"
	"\"sums\":{\"cpu\":\"2\",\"mem\":\"1Gi\"},"
	"\"record\":{\"before\":\"Pending\",\"ran\":true,\"steps\":2,\"hash\":\"x\"},"
	"\"tasks\":[{\"name\":\"w\",\"running\":1,\"started\":true,\"succeededIndexes\":\"0-3\","
	"\"restartTime\":\"2026-01-01T00:00:01Z\"}],\"conditions\":[" CONDITION "]}";

static void what_is_read_is_written_again(void **state)
{
	struct status s = status_of(full);

	(void)state;
	assert_int_equal(s.phase, PHASE_RUNNING);
	assert_int_equal(s.generation, 5000000000);
	assert_true(s.version == UINT64_MAX);
	assert_int_equal(s.record.before, PHASE_PENDING);
	assert_string_equal(written(&s, KAR_SF_ALL), full);
}

static void absent_members_are_null_except_in_an_array(void **state)
{
	struct status s = status_of("{\"tasks\":[{\"name\":\"w\"}]}");

	(void)state;
	assert_string_equal(s.message, "");
	assert_string_equal(written(&s, KAR_SF_ALL),
		"{\"phase\":null,\"message\":null,\"running\":0,\"observedGeneration\":0,\"desired\":null,\"ready\":false,"
		"\"startTime\":null,\"podsVersion\":null,\"pods\":null,\"sums\":null,\"record\":null,"
		"\"tasks\":[{\"name\":\"w\",\"running\":0,\"started\":false}],\"conditions\":[]}");
	s.record.steps = 1; /* then the patch must remove what a record of before had */
	assert_string_equal(written(&s, KAR_SF_INTERNAL),
		"{\"podsVersion\":null,\"pods\":null,\"record\":{\"before\":null,\"ran\":null,\"steps\":1,\"hash\":null}}");
}

static void zeroed_struct_can_be_written_and_compared(void **state)
{
	const struct status zero = { 0 };
	struct status s = status_of("{}");

	(void)state;
	assert_string_equal(written(&zero, KAR_SF_ALL), written(&s, KAR_SF_ALL));
	assert_true(kar_status_equal(&table, &zero, &s, KAR_SF_ALL));
}

static void texts_are_bounded_and_unknown_names_are_absent(void **state)
{
	struct status s =
		status_of("{\"phase\":\"Dreaming\",\"message\":\"longer than it may be\",\"podsVersion\":"
			  "\"x\",\"startTime\":\"noon\",\"tasks\":[{\"name\":\"longer than that\"}]}");

	(void)state;
	assert_int_equal(s.phase, PHASE_NONE);
	assert_string_equal(s.message, "long...");
	assert_string_equal(s.tasks[0].name, "long...");
	assert_true(s.version == 0);
	assert_int_equal(s.start, 0);
}

/* A merge patch keeps each key of a map that it does not name. */
static void pairs_that_are_gone_are_written_as_null(void **state)
{
	static const struct {
		const char *old, *new, *written;
	} patches[] = {
		{ "{}", "{\"b\":\"1\"}", "{\"b\":\"1\"}" },
		{ "{\"b\":\"1\"}", "{\"b\":\"2\"}", "{\"b\":\"2\"}" },
		{ "{\"b\":\"1\",\"d\":\"1\"}", "{\"c\":\"2\"}", "{\"b\":null,\"c\":\"2\",\"d\":null}" },
		{ "{\"b\":\"1\"}", "{\"a\":\"2\",\"b\":\"3\"}", "{\"a\":\"2\",\"b\":\"3\"}" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(patches); i++) {
		struct status old = status_of(kar_arena_printf(&arena, "{\"sums\":%s}", patches[i].old)),
			      new = status_of(kar_arena_printf(&arena, "{\"sums\":%s}", patches[i].new));

		new.sums = kar_status_pairs_over(&old.sums, &new.sums, &arena);
		if (!strstr(written(&new, KAR_SF_COUNTER), patches[i].written))
			fail_msg("row %zu: no %s in %s", i, patches[i].written,
				written(&new, KAR_SF_COUNTER));
	}
}

static void mask_chooses_what_is_written(void **state)
{
	struct status s = status_of(full);

	(void)state;
	assert_string_equal(written(&s, OTHERS), "{\"desired\":0,\"conditions\":[" CONDITION "]}");
	assert_string_equal(written(&s, KAR_SF_COUNTER),
		"{\"running\":3,\"sums\":{\"cpu\":\"2\",\"mem\":\"1Gi\"},\"tasks\":[{\"name\":\"w\",\"running\":1,\"started\":true,\"succeededIndexes\":\"0-3\","
		"\"restartTime\":\"2026-01-01T00:00:01Z\"}]}");
}

/* One member of the full status changes. Which masks see it? How is it printed? */
static const struct {
	const char *name, *from, *to; /* the first @from in the JSON becomes @to */
	bool story, counter;
	const char *print;
} changes[] = {
	{ "nothing", "\"phase\"", "\"phase\"", false, false, "phase=Running" },
	{ "enum", "\"Running\"", "\"Pending\"", true, false, "phase=Pending" },
	{ "enum_absent", "\"phase\":\"Running\",", "", true, false, "phase=-" },
	{ "text", "hello", "bye", true, false, "phase=Running message=bye" },
	{ "text_absent", "hello", "", true, false, "phase=Running message=-" },
	{ "int32", "\"running\":3", "\"running\":4", false, true, "phase=Running running=4" },
	{ "int64", "5000000000", "5000000001", false, false, "phase=Running" },
	{ "optional_zero_absent", "\"desired\":0,", "", false, false, "phase=Running desired=-" },
	{ "bool", "\"ready\":true", "\"ready\":false", false, false, "phase=Running ready=-" },
	{ "time", "00:00:00Z", "00:00:09Z", true, false, "phase=Running start" },
	{ "time_absent", "\"startTime\"", "\"x\"", true, false, "phase=Running start=-" },
	{ "version", "18446744073709551615", "1", false, false, "phase=Running" },
	{ "strings", "\"a\",", "", false, false, "phase=Running pods=1" },
	{ "pair", "\"1Gi\"", "\"2Gi\"", false, true, "phase=Running sums=2" },
	{ "pair_key", "\"mem\"", "\"pods\"", false, true, "phase=Running sums=2" },
	{ "one_pair_less", "\"cpu\":\"2\",", "", false, true, "phase=Running sums=1" },
	{ "record_enum", "\"before\":\"Pending\"", "\"before\":\"Running\"", true, false,
		"phase=Running before=Running" },
	{ "record_bool", "\"ran\":true", "\"ran\":false", true, false, "phase=Running ran=-" },
	{ "record_text", "\"hash\":\"x\"", "\"hash\":\"y\"", false, false, "phase=Running" },
	{ "record_absent", "\"record\"", "\"x\"", true, false, "phase=Running before=- ran=-" },
	{ "task_counter", "\"running\":1", "\"running\":2", false, true, "phase=Running" },
	{ "task_bool", "\"started\":true", "\"started\":false", true, false, "phase=Running started[w]=-" },
	{ "task_text", "0-3", "0-4", false, true, "phase=Running done[w]=0-4" },
	{ "task_time", "\"restartTime\"", "\"x\"", true, false, "phase=Running restart[w]=-" },
	{ "one_more_task", "\"tasks\":[{",
		"\"tasks\":[{\"name\":\"w\",\"running\":1,\"started\":true,"
		"\"succeededIndexes\":\"0-3\",\"restartTime\":\"2026-01-01T00:00:01Z\"},{",
		false, true, "phase=Running done[w]=0-3 restart[w]" },
	{ "condition_status", "\"True\"", "\"False\"", true, false, "phase=Running Formed=False/R" },
	{ "condition_reason", "\"R\"", "\"S\"", true, false, "phase=Running Formed=True/S" },
	{ "condition_message", "\"m\"", "\"n\"", true, false, "phase=Running" },
};

static struct status changed(const char *from, const char *to)
{
	const char *p = strstr(full, from);

	assert_non_null(p);
	return status_of(kar_arena_printf(&arena, "%.*s%s%s", (int)(p - full), full, to, p + strlen(from)));
}

static void a_change_is_seen_by_its_masks_and_printed(void **state)
{
	struct status old = status_of(full);

	(void)state;
	for (size_t i = 0; i < KAR_LEN(changes); i++) {
		struct status new = changed(changes[i].from, changes[i].to);
		const char *text = kar_status_print(&table, &old, &new, &arena);

		if (kar_status_equal(&table, &old, &new, KAR_SF_ALL) != (i == 0))
			fail_msg("%s: seen by no mask", changes[i].name);
		if (kar_status_equal(&table, &old, &new, KAR_SF_STORY) == changes[i].story)
			fail_msg("%s: wrong as a part of the story", changes[i].name);
		if (kar_status_equal(&table, &old, &new, KAR_SF_COUNTER) == changes[i].counter)
			fail_msg("%s: wrong as a counter", changes[i].name);
		if (strcmp(text, changes[i].print) != 0)
			fail_msg("%s: want '%s', got '%s'", changes[i].name, changes[i].print, text);
	}
}

static void a_new_struct_is_compared_with_what_is_normal(void **state)
{
	struct status old = status_of("{}"),
		      new = status_of("{\"tasks\":[{\"name\":\"a\",\"started\":true},"
				      "{\"name\":\"b\"}]}");

	(void)state;
	assert_string_equal(kar_status_print(&table, &old, &new, &arena), "phase=- started[b]=-");
}

/* Both texts of a task are bounded by 8 bytes. */
static void list_that_is_too_long_is_not_cut(void **state)
{
	struct status s =
		status_of("{\"tasks\":[{\"name\":\"0,2,4,6,8\",\"succeededIndexes\":\"0,2,4,6,8\"}]}");

	(void)state;
	assert_string_equal(s.tasks[0].name, "0,2,...");
	assert_string_equal(s.tasks[0].done, "...");
}

static const struct kar_field ranked_inner_rows[] = {
	KAR_STATUS(INT32, struct record, steps, "steps", KAR_SF_PRINT_AT(KAR_SF_PRINT_LAST), "steps"),
	KAR_STATUS(BOOL, struct record, ran, "ran", KAR_SF_PRINT_AT(1), "ran"),
};
static const struct kar_desc ranked_inner = KAR_DESC("Record", struct record, ranked_inner_rows);
static const struct kar_field ranked_rows[] = {
	KAR_STATUS_STRUCT(struct status, record, record, "record", &ranked_inner, 0, "record"),
	KAR_STATUS(INT32, struct status, running, "running", KAR_SF_PRINT_AT(2), "running"),
	KAR_STATUS(INT32, struct status, desired, "desired", KAR_SF_PRINT_AT(1), "desired"),
	KAR_STATUS(BOOL, struct status, ready, "ready", 0, "ready"),
};

static void rows_are_printed_in_the_order_of_their_numbers(void **state)
{
	static const struct kar_desc ranked = KAR_DESC("Status", struct status, ranked_rows);
	const struct status old = { 0 },
			    new = { .running = 1,
				    .desired = 2,
				    .ready = true,
				    .record = { .steps = 3, .ran = true } };

	(void)state;
	assert_string_equal(kar_status_print(&ranked, &old, &new, &arena),
		"ready ran desired=2 running=1 steps=3");
}

/* --- hash: what is believed of a status of its own --------------------------------------------------- */

struct result {
	const char *name, *done;
	int32_t code;
	bool has_code;
};

struct belief {
	enum phase phase;
	int32_t a, b;
	const char *text, *note;
	kar_time start;
	kar_rv version;
	struct kar_array pods, sums;
	struct result first, second;
	struct result *results;
	size_t n_results;
	struct kar_conditions conditions;
};

struct wire_belief {
	struct belief s;
	const char *phase, *version;
	struct kar_array results, conditions;
};

static const struct kar_field result_rows[] = {
	KAR_STATUS_TEXT(struct result, name, "name", 64, BELIEVED, NULL),
	KAR_STATUS_TEXT(struct result, done, "done", 64, BELIEVED, NULL),
	KAR_STATUS_OPT(INT32, struct result, code, has_code, "code", BELIEVED, NULL),
};
static const struct kar_desc result_table = KAR_DESC("Result", struct result, result_rows);

static const struct kar_field belief_rows[] = {
	KAR_STATUS_ENUM(struct wire_belief, phase, s.phase, "phase", phase_names, BELIEVED, NULL),
	KAR_STATUS(INT32, struct wire_belief, s.a, "a", BELIEVED, NULL),
	KAR_STATUS(INT32, struct wire_belief, s.b, "b", BELIEVED, NULL),
	KAR_STATUS_TEXT(struct wire_belief, s.text, "text", 64, BELIEVED, NULL),
	KAR_STATUS_TEXT(struct wire_belief, s.note, "note", 64, KAR_SF_STORY, NULL),
	KAR_STATUS(TIME, struct wire_belief, s.start, "start", BELIEVED, NULL),
	KAR_STATUS_VERSION(struct wire_belief, version, s.version, "version", BELIEVED, NULL),
	KAR_STATUS_STRINGS(struct wire_belief, s.pods, "pods", BELIEVED, NULL),
	KAR_STATUS_PAIRS(struct wire_belief, s.sums, "sums", BELIEVED, NULL),
	KAR_STATUS_STRUCT(struct wire_belief, s.first, s.first, "first", &result_table, 0, NULL),
	KAR_STATUS_STRUCT(struct wire_belief, s.second, s.second, "second", &result_table, 0, NULL),
	KAR_STATUS_STRUCTS(struct wire_belief, results, s.results, s.n_results, struct result, "results",
		&result_table, BELIEVED, NULL),
	KAR_STATUS_CONDITIONS(struct wire_belief, conditions, s.conditions, "conditions", BELIEVED, NULL),
};
static const struct kar_desc belief_table = KAR_DESC("Belief", struct wire_belief, belief_rows);

/* No two of these may have the same hash. */
static const char *const beliefs[] = {
	"{}",
	"{\"phase\":\"Pending\"}",
	"{\"phase\":\"Running\"}",
	"{\"a\":1}",
	"{\"b\":1}",
	"{\"a\":1,\"b\":1}",
	"{\"text\":\"a\"}",
	"{\"text\":\"ab\"}",
	"{\"start\":\"2026-01-01T00:00:00Z\"}",
	"{\"start\":\"2026-01-01T00:00:01Z\"}",
	"{\"version\":\"1\"}",
	"{\"pods\":[\"ab\"]}",
	"{\"pods\":[\"a\",\"bc\"]}",
	"{\"pods\":[\"ab\",\"c\"]}",
	"{\"pods\":[\"a\",\"b\"]}",
	"{\"pods\":[\"a\",\"b\",\"\"]}",
	"{\"sums\":{\"a\":\"b\"}}",
	"{\"sums\":{\"ab\":\"\"}}",
	"{\"sums\":{\"a\":\"b\",\"c\":\"d\"}}",
	"{\"first\":{\"name\":\"a\"}}",
	"{\"second\":{\"name\":\"a\"}}",
	"{\"first\":{\"done\":\"a\"}}",
	"{\"first\":{\"code\":0}}",
	"{\"first\":{\"code\":1}}",
	"{\"results\":[{}]}",
	"{\"results\":[{\"name\":\"a\"}]}",
	"{\"results\":[{\"name\":\"a\",\"done\":\"b\"}]}",
	"{\"results\":[{\"name\":\"a\"},{\"done\":\"b\"}]}",
	"{\"results\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	"{\"results\":[{\"name\":\"b\"},{\"name\":\"a\"}]}",
	"{\"results\":[{\"name\":\"a\"},{}]}",
	"{\"results\":[{},{\"name\":\"a\"}]}",
	"{\"conditions\":[" CONDITION "]}",
	"{\"conditions\":[{\"type\":\"Formed\"}]}",
	"{\"conditions\":[{\"type\":\"Formed\",\"reason\":\"a\"}]}",
	"{\"conditions\":[{\"type\":\"Formed\",\"message\":\"a\"}]}",
};

static struct belief belief_of(const char *json)
{
	struct wire_belief wire;
	struct belief s = { 0 };

	assert_int_equal(kar_json_decode(&arena, &belief_table, NULL, json, strlen(json), &wire, NULL), 0);
	kar_status_read(&belief_table, &wire, &s, &arena);
	return s;
}

static uint64_t hash_of(const char *json)
{
	struct belief s = belief_of(json);

	return kar_status_hash(&belief_table, &s, BELIEVED, 0);
}

static void hash_tells_statuses_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(beliefs); i++) {
		for (size_t j = 0; j < i; j++) {
			if (hash_of(beliefs[i]) == hash_of(beliefs[j]))
				fail_msg("%s has the hash of %s", beliefs[i], beliefs[j]);
		}
	}
}

static void hash_covers_what_is_chosen_in_whole_seconds(void **state)
{
	struct belief s = belief_of("{\"a\":1,\"start\":\"2026-01-01T00:00:00Z\"}");
	const struct belief zero = { 0 };
	uint64_t hash = kar_status_hash(&belief_table, &s, BELIEVED, 7);

	(void)state;
	s.start += KAR_SECOND - 1;
	s.note = "not believed";
	assert_true(kar_status_hash(&belief_table, &s, BELIEVED, 7) == hash);
	assert_true(kar_status_hash(&belief_table, &s, BELIEVED, 8) != hash);
	assert_true(kar_status_hash(&belief_table, &s, KAR_SF_ALL, 7) != hash);
	/* A row adds nothing while it is zero, so that statuses of before it was there keep their hash. */
	assert_true(kar_status_hash(&belief_table, &zero, BELIEVED, 7) == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_written_again),
		cmocka_unit_test(absent_members_are_null_except_in_an_array),
		cmocka_unit_test(zeroed_struct_can_be_written_and_compared),
		cmocka_unit_test(texts_are_bounded_and_unknown_names_are_absent),
		cmocka_unit_test(pairs_that_are_gone_are_written_as_null),
		cmocka_unit_test(mask_chooses_what_is_written),
		cmocka_unit_test(a_change_is_seen_by_its_masks_and_printed),
		cmocka_unit_test(a_new_struct_is_compared_with_what_is_normal),
		cmocka_unit_test(list_that_is_too_long_is_not_cut),
		cmocka_unit_test(rows_are_printed_in_the_order_of_their_numbers),
		cmocka_unit_test(hash_tells_statuses_apart),
		cmocka_unit_test(hash_covers_what_is_chosen_in_whole_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
