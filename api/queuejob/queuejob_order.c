#include "api/queuejob/queuejob_order.h"

#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "common/base/buf.h"

enum { CYCLE_SHOWN = 8 }; /* tasks of a cycle that a message names */

static const struct kar_field dependency_fields[] = {
	KAR_FIELD(struct kar_wire_dependency, name, "name", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_dependency, status, "status", KAR_F_STRING),
};
const struct kar_desc kar_wire_dependency_desc =
	KAR_DESC("TaskDependency", struct kar_wire_dependency, dependency_fields);

struct kar_array kar_queuejob_read_order(const struct kar_queuejob_spec *s, const struct kar_array *wire,
	struct kar_arena *mem)
{
	const struct kar_wire_dependency *w = wire->items;
	struct kar_dependency *list;

	if (!wire->n)
		return (struct kar_array){ 0 };
	list = kar_arena_alloc(mem, wire->n, sizeof(*list));
	for (size_t i = 0; i < wire->n; i++) {
		list[i].name = w[i].name ? kar_copy_fit(mem, w[i].name, KAR_COPY_VALUE) : "";
		list[i].task = kar_queuejob_find_task(s, list[i].name);
		list[i].succeeded = kar_streq(w[i].status, "Succeeded");
	}
	return (struct kar_array){ .items = list, .n = wire->n };
}

/* The first task that @t waits for and that is not @done; KAR_NO_TASK: none. */
static size_t next_open(const struct kar_taskspec *t, const bool *done)
{
	const struct kar_dependency *d = t->depends_on.items;

	for (size_t i = 0; i < t->depends_on.n; i++) {
		if (d[i].task == KAR_NO_TASK || !done[d[i].task])
			return d[i].task;
	}
	return KAR_NO_TASK;
}

/* The first task that can never start; KAR_NO_TASK: there is none. All names are known. */
static size_t first_stuck(const struct kar_queuejob_spec *s, bool *done)
{
	size_t stuck = KAR_NO_TASK;

	for (bool more = true; more;) {
		more = false;
		stuck = KAR_NO_TASK;
		for (size_t i = s->n_tasks; i-- > 0;) {
			if (done[i])
				continue;
			done[i] = next_open(&s->tasks[i], done) == KAR_NO_TASK;
			more |= done[i];
			stuck = done[i] ? stuck : i;
		}
	}
	return stuck;
}

/* A stuck task waits for a stuck task, so after as many steps as there are tasks we are on a cycle. */
static const char *print_cycle(struct kar_queuejob *job, size_t stuck, const bool *done)
{
	const struct kar_taskspec *tasks = job->spec.tasks;
	struct kar_buf b = { 0 };
	const char *text;
	size_t at = stuck, first, shown = 0;

	for (size_t i = 0; i < job->spec.n_tasks; i++)
		at = next_open(&tasks[at], done);
	first = at;
	for (size_t k = next_open(&tasks[at], done); k != at; k = next_open(&tasks[k], done))
		first = k < first ? k : first;
	at = first;
	do {
		if (shown++ < CYCLE_SHOWN)
			kar_buf_printf(&b, "%s -> ", tasks[at].name);
		at = next_open(&tasks[at], done);
	} while (at != first);
	if (shown > CYCLE_SHOWN)
		kar_buf_printf(&b, "(%zu more) -> ", shown - CYCLE_SHOWN);
	text = kar_arena_printf(&job->mem, "dependsOn: tasks wait for each other: %s%s", kar_buf_cstr(&b),
		tasks[first].name);
	kar_buf_release(&b);
	return text;
}

static const char *check_names(struct kar_queuejob *job, const struct kar_taskspec *t)
{
	const struct kar_dependency *d = t->depends_on.items;

	for (size_t i = 0; i < t->depends_on.n; i++) {
		if (d[i].task == KAR_NO_TASK)
			return kar_arena_printf(&job->mem, "task %s: dependsOn: there is no task %s", t->name,
				d[i].name);
	}
	return NULL;
}

const char *kar_queuejob_check_order(struct kar_queuejob *job)
{
	const struct kar_queuejob_spec *s = &job->spec;
	struct kar_arena scratch = { 0 };
	const char *problem = NULL;
	bool *done;
	size_t stuck;

	for (size_t i = 0; i < s->n_tasks && !problem; i++)
		problem = check_names(job, &s->tasks[i]);
	if (problem)
		return problem;
	done = kar_arena_alloc(&scratch, s->n_tasks, sizeof(*done));
	stuck = first_stuck(s, done);
	if (stuck != KAR_NO_TASK)
		problem = print_cycle(job, stuck, done);
	kar_arena_release(&scratch);
	return problem;
}
