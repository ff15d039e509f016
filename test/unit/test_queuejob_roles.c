/* What a QueueJob answers to queues and groups about its pods (controllers/workload.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/workload.h"
#include "test/fixture/projection.h"

enum { PODS = 4 };

/* "<task>-<index>": runs on a node, is bound, or has no node; "!" it is being deleted, "?" somebody else controls it. */
struct pod {
	const char *name;
	enum kar_pod_phase phase;
	char mark;
};

#define TASK(name, replicas, more) "{\"name\":\"" name "\",\"replicas\":" replicas "," TEMPLATE more "}"
#define OWN(n) ",\"minAvailable\":" n
#define CLASS(n) ",\"priority\":" n
#define AFTER(task) ",\"dependsOn\":[{\"name\":\"" task "\",\"status\":\"Succeeded\"}]"
#define TASKS(min, ...) JOB("\"schedSpec\":{\"minAvailable\":" min "},\"taskSpecs\":[" __VA_ARGS__ "]")

static const struct {
	const char *name, *job;
	struct pod pods[PODS];
	const char *
		want; /* task:need+want, ":" the pods in the order in which they are kept; then the order of creation */
} rows[] = {
	{ "all_are_needed", TASKS("3", TASK("w", "3", "")), { { 0 } }, "w:3+0 | w" },
	{ "more_than_the_minimum", TASKS("2", TASK("w", "5", "")), { { 0 } }, "w:2+3 | w" },
	{ "first_listed_first", TASKS("2", TASK("a", "2", "") "," TASK("b", "2", "")), { { 0 } },
		"a:2+0 b:0+2 | a b" },
	{ "created_by_priority", TASKS("2", TASK("a", "2", "") "," TASK("b", "2", CLASS("9"))), { { 0 } },
		"a:0+2 b:2+0 | b a" },
	{ "own_minimum", TASKS("3", TASK("a", "3", "") "," TASK("b", "2", OWN("1"))), { { 0 } },
		"a:2+1 b:1+1 | a b" },
	{ "later_stage_needs_its_minimum_too", TASKS("4", TASK("a", "2", "") "," TASK("b", "3", AFTER("a"))),
		{ { 0 } }, "a:2+0 b:2+1(waits) | a b" },
	{ "no_gang", TASKS("0", TASK("w", "3", "")), { { 0 } }, "w:0+3 | w" },
	{ "who_runs_is_kept_first", TASKS("1", TASK("w", "4", "")),
		{ { "w-0", KAR_POD_PENDING, 0 }, { "w-3", KAR_POD_RUNNING, 0 }, { "w-1", KAR_POD_PENDING, 0 },
			{ "w-2", KAR_POD_RUNNING, 0 } },
		"w:1+3 w-2 w-3 w-0 w-1 | w" },
	{ "who_leaves_or_is_of_others_is_not_kept", TASKS("1", TASK("w", "4", "")),
		{ { "w-0", KAR_POD_RUNNING, '!' }, { "w-1", KAR_POD_RUNNING, '?' },
			{ "w-2", KAR_POD_SUCCEEDED, 0 }, { "w-3", KAR_POD_RUNNING, 0 } },
		"w:1+3 w-3 | w" },
	{ "by_index_and_not_by_name", TASKS("1", TASK("w", "12", "")),
		{ { "w-10", KAR_POD_RUNNING, 0 }, { "w-9", KAR_POD_RUNNING, 0 } }, "w:1+11 w-9 w-10 | w" },
};

static int32_t no_class(const void *arg KAR_UNUSED, const char *name KAR_UNUSED)
{
	return 0;
}

static const struct kar_pod *make_pod(const struct pod *p, struct kar_arena *a)
{
	struct kar_pod *pod = kar_arena_alloc(a, 1, sizeof(*pod));

	pod->o.type = &kar_pod_type;
	pod->o.name = kar_arena_printf(a, "j-%s", p->name);
	pod->owner_uid = p->mark == '?' ? "another" : "job-uid";
	pod->deletion = p->mark == '!';
	pod->phase = (uint8_t)p->phase;
	return pod;
}

static const char *describe(const struct kar_roles *roles, struct kar_arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < roles->n; i++) {
		const struct kar_workload_role *r = &roles->items[i];

		text = kar_arena_printf(a, "%s%s:%d+%d%s ", text, r->name, (int)r->need, (int)r->want,
			r->started ? "" : "(waits)");
		for (size_t k = 0; k < r->n_pods; k++)
			text = kar_arena_printf(a, "%s%s ", text, r->pods[k]->o.name + strlen("j-"));
	}
	text = kar_arena_printf(a, "%s|", text);
	for (size_t i = 0; i < roles->n; i++)
		text = kar_arena_printf(a, "%s %s", text, roles->items[roles->order[i]].name);
	return text;
}

static void tasks_are_roles(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob *job = job_of(rows[i].job);
		const struct kar_pod *pods[PODS];
		struct kar_arena arena = { 0 };
		struct kar_roles_input in = { .pods = pods, .class_value = no_class, .arena = &arena };
		struct kar_roles roles;
		const char *got;

		while (in.n_pods < PODS && rows[i].pods[in.n_pods].name) {
			pods[in.n_pods] = make_pod(&rows[i].pods[in.n_pods], &arena);
			in.n_pods++;
		}
		kar_queuejob_workload.roles(&job->o, &in, &roles);
		got = describe(&roles, &arena);
		if (strcmp(got, rows[i].want))
			fail_msg("%s: got \"%s\", want \"%s\"", rows[i].name, got, rows[i].want);
		kar_arena_release(&arena);
		kar_object_unref(&job->o);
	}
}

/* A job that is not complete and wants no more pods rests: nobody waits for its members, though they may be gone. */
static const struct {
	const char *name, *status;
	bool rests;
} resting[] = {
	{ "all_have_succeeded",
		"\"phase\":\"Running\",\"succeeded\":3,\"tasks\":[{\"name\":\"b\",\"succeeded\":3}]", true },
	{ "one_is_left", "\"phase\":\"Running\",\"succeeded\":2,\"tasks\":[{\"name\":\"b\",\"succeeded\":2}]",
		false },
	{ "one_runs",
		"\"phase\":\"Running\",\"running\":1,\"succeeded\":3,\"tasks\":[{\"name\":\"b\",\"succeeded\":3}]",
		false },
	{ "it_begins_again",
		"\"phase\":\"Restarting\",\"succeeded\":3,\"tasks\":[{\"name\":\"b\",\"succeeded\":3}]",
		false },
	{ "it_has_ended",
		"\"phase\":\"Completed\",\"succeeded\":3,\"tasks\":[{\"name\":\"b\",\"succeeded\":3}]",
		false },
	{ "more_were_asked_for",
		"\"phase\":\"Running\",\"observedGeneration\":4,\"succeeded\":3,\"tasks\":[{\"name\":\"b\",\"succeeded\":3}]",
		false },
};

static void job_without_anything_left_rests(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(resting); i++) {
		char text[1024];
		const struct kar_queuejob *job;
		struct kar_workload got;

		snprintf(text, sizeof(text),
			"{\"metadata\":{\"name\":\"j\",\"generation\":5},\"spec\":{\"successPolicy\":{\"tasks\":[\"a\"]},"
			"\"taskSpecs\":[" TASK("a", "0", "") "," TASK("b", "3",
				"") "]},\"status\":{\"observedGeneration\":5,%s}}",
			resting[i].status);
		job = job_of(text);
		kar_queuejob_workload.describe(&job->o, &got);
		if (got.rests != resting[i].rests)
			fail_msg("%s: rests is %d", resting[i].name, got.rests);
		kar_object_unref(&job->o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tasks_are_roles),
		TEST(job_without_anything_left_rests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
