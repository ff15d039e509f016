/* The quorum of a job, cut into roles (api/queuejob/queuejob_gang.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/queuejob/queuejob_gang.h"
#include "common/base/buf.h"

enum { TASKS = 3, ALL = INT32_MAX };

struct task {
	int32_t replicas, min, have, priority; /* min -1: none of its own */
	bool waits;
	int32_t failed; /* indexes, for good */
};

static const struct {
	const char *name;
	int32_t min; /* of the job; -1: all */
	struct task tasks[TASKS];
	int32_t most;
	const char *roles; /* task:need+want */
} rows[] = {
	{ "all_by_default", -1, { { 3, -1, 0, 0, false }, { 2, -1, 0, 0, false } }, ALL, "0:3+0 1:2+0" },
	{ "in_the_order_of_the_tasks", 4, { { 3, -1, 0, 0, false }, { 3, -1, 0, 0, false } }, ALL,
		"0:3+0 1:1+2" },
	{ "by_priority", 4, { { 3, -1, 0, 0, false }, { 3, -1, 0, 9, false } }, ALL, "0:1+2 1:3+0" },
	{ "own_minimum_first", 4, { { 3, -1, 0, 0, false }, { 3, 2, 0, 0, false } }, ALL, "0:2+1 1:2+1" },
	{ "own_minimums_beyond_that_of_the_job", 1, { { 3, 2, 0, 0, false }, { 3, 2, 0, 0, false } }, ALL,
		"0:2+1 1:2+1" },
	{ "what_is_there_needs_no_place", 4, { { 3, -1, 2, 0, false }, { 3, 2, 1, 0, false } }, ALL,
		"0:0+1 1:1+1" },
	{ "successes_beyond_its_own_minimum", 2, { { 4, -1, 2, 0, false } }, ALL, "0:0+2" },
	{ "failed_indexes_are_no_places", 4, { { 3, -1, 0, 0, false, 2 }, { 4, -1, 0, 0, false } }, ALL,
		"0:1+0 1:3+1" },
	{ "nothing_is_missing", -1, { { 2, -1, 2, 0, false } }, ALL, "" },
	{ "more_than_there_should_be", -1, { { 2, -1, 5, 0, false }, { 2, -1, 0, 0, false } }, ALL, "1:0+2" },
	{ "waiting_task_is_no_part", -1, { { 3, -1, 0, 0, false }, { 5, 5, 0, 0, true } }, ALL, "0:3+0" },
	{ "limited_extras", 1, { { 3, -1, 0, 0, false }, { 3, -1, 0, 0, false } }, 1, "0:1+1" },
	{ "no_gang", 0, { { 3, 2, 0, 0, false } }, ALL, "0:0+3" },
};

static void quorum_is_cut_into_roles(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_taskspec tasks[TASKS] = { 0 };
		struct kar_queuejob_spec s = { .tasks = tasks };
		struct kar_gang_role roles[TASKS];
		bool started[TASKS];
		int32_t have[TASKS], failed[TASKS], priority[TASKS];
		char text[128] = "";
		size_t n;

		for (size_t k = 0; k < TASKS && rows[i].tasks[k].replicas; k++) {
			const struct task *t = &rows[i].tasks[k];

			tasks[s.n_tasks++] = (struct kar_taskspec){ .replicas = t->replicas,
				.min_available = t->min,
				.has_min_available = t->min >= 0 };
			started[k] = !t->waits;
			have[k] = t->have;
			failed[k] = t->failed;
			priority[k] = t->priority;
		}
		s.sched.has_min_available = rows[i].min >= 0;
		s.sched.min_available = rows[i].min;
		n = kar_queuejob_roles(&s, started, have, failed, priority, rows[i].most, roles);
		for (size_t k = 0; k < n; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%zu:%d+%d",
				k ? " " : "", roles[k].task, (int)roles[k].need, (int)roles[k].want);
		if (strcmp(text, rows[i].roles) != 0)
			fail_msg("%s: want %s, got %s", rows[i].name, rows[i].roles, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quorum_is_cut_into_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
