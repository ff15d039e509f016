/* Tasks that depend on others, for plans of version 3. Drawn from a stream of its own, like what version 2 has more. */
#include "test/sim/plan.h"

static int between(struct sim_random *r, int low, int high)
{
	return (int)sim_random_between(r, low, high);
}

/* Each later task may depend on each earlier one; in some jobs the list is the other way round. */
static void draw(struct sim_random *r, struct plan_job *j)
{
	bool backwards = between(r, 1, 100) <= 30;

	for (int i = 1; i < j->n_tasks; i++) {
		for (int k = 0; k < i; k++) {
			int later = backwards ? j->n_tasks - 1 - i : i,
			    earlier = backwards ? j->n_tasks - 1 - k : k;
			int luck = between(r, 1, 100);

			if (luck <= 40)
				j->tasks[later].after_running |= 1u << earlier;
			else if (luck <= 70)
				j->tasks[later].after_succeeded |= 1u << earlier;
		}
	}
}

void plan_draw_order(struct plan *p)
{
	struct sim_random r = sim_random_of(p->seed, "order of tasks");

	for (size_t i = 0; i < p->n_jobs; i++) {
		if (p->jobs[i].n_tasks > 1 && between(&r, 1, 100) <= 50)
			draw(&r, &p->jobs[i]);
	}
}

static bool fulfils(const struct plan_job *j, int task, bool succeeded)
{
	const struct plan_task *t = &j->tasks[task];
	bool succeeds = t->outcome == PLAN_SUCCEED || t->outcome == PLAN_CRASH_ONCE;

	return plan_task_starts(j, task) &&
		(!t->replicas || succeeds || (!succeeded && t->outcome == PLAN_RUN));
}

bool plan_task_starts(const struct plan_job *j, int task)
{
	for (int i = 0; i < j->n_tasks; i++) {
		unsigned bit = 1u << i;

		if ((j->tasks[task].after_running & bit && !fulfils(j, i, false)) ||
			(j->tasks[task].after_succeeded & bit && !fulfils(j, i, true)))
			return false;
	}
	return true;
}

struct sim_value *plan_dependencies(const struct plan_task *t)
{
	struct sim_value *list = sim_array();

	for (int i = 0; i < PLAN_TASKS; i++) {
		struct sim_value *d;

		if (!((t->after_running | t->after_succeeded) & (1u << i)))
			continue;
		d = sim_object();
		sim_set_text(&d, plan_task_name(i), "name");
		if (t->after_succeeded & (1u << i))
			sim_set_text(&d, "Succeeded", "status");
		sim_append(&list, d);
	}
	return list;
}

bool plan_has_order(const struct plan_job *j)
{
	for (int i = 0; i < j->n_tasks; i++) {
		if (j->tasks[i].after_running | j->tasks[i].after_succeeded)
			return true;
	}
	return false;
}
