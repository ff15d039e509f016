/* taskSpecs[].dependsOn as an observer who misses nothing sees it: which tasks may have started, by now, in an incarnation. */
#include "test/sim/model.h"

#include <string.h>

#include "common/base/mem.h"

enum { NO_MINIMUM = -1 };

static int number_of(const struct model_job *j, const char *name)
{
	for (int i = 0; i < j->n_tasks; i++) {
		if (strcmp(j->tasks[i].name, name) == 0)
			return i;
	}
	return -1;
}

static void note_dependencies(struct model_job *j, struct model_task *t, const struct sim_value *list)
{
	t->n_after = 0;
	for (size_t i = 0; i < sim_count(list) && i < MODEL_TASKS; i++) {
		const struct sim_value *d = sim_item(list, i);

		t->after[t->n_after].task = number_of(j, sim_text_or(sim_member(d, "name"), ""));
		t->after[t->n_after].succeeded =
			strcmp(sim_text_or(sim_member(d, "status"), "Running"), "Succeeded") == 0;
		t->n_after++;
	}
	j->ordered |= t->n_after > 0;
}

void model_note_dependencies(struct model *l, struct model_job *j, const struct sim_value *job)
{
	const struct sim_value *specs = sim_get(job, "spec", "taskSpecs");

	j->ordered = false;
	for (int i = 0; i < j->n_tasks; i++) {
		const struct sim_value *spec = sim_item(specs, (size_t)i);

		model_set(&j->tasks[i].own_minimum, (int)sim_get_int(spec, NO_MINIMUM, "minAvailable"),
			model_now(l));
		note_dependencies(j, &j->tasks[i], sim_member(spec, "dependsOn"));
	}
	if (j->ordered)
		model_note_order(l, j);
}

/* --- what has been reached ------------------------------------------------------------------------------- */

static int count_running(const struct model_job *j, const struct model_task *t, int incarnation)
{
	const struct model_pod *p;
	int n = 0;

	TAILQ_FOREACH(p, &j->pods, of_job)
		n += p->incarnation == incarnation && p->running && !p->deleting &&
			strcmp(p->task, t->name) == 0;
	return n;
}

int model_count_done(const struct model_job *j, const struct model_task *t, int incarnation)
{
	int n = 0;

	for (int i = 0; i < t->replicas.now && i < MODEL_INDEXES; i++)
		n += t->done_in[i] == incarnation || (j->keeps_done && t->done_in[i] > 0);
	return n;
}

/* The least that a manager may still think it has to wait for. */
static int least_needed(const struct model *l, const struct model_task *t, bool succeeded)
{
	int replicas = setting_min(&t->replicas, model_horizon(l)),
	    own = setting_min(&t->own_minimum, model_horizon(l));

	if (succeeded || own == NO_MINIMUM || own > replicas)
		return replicas;
	return own > 1 || replicas == 0 ? own : 1;
}

static bool is_reached(const struct model *l, const struct model_job *j, const struct model_task *t,
	bool succeeded, int incarnation)
{
	int n = model_count_done(j, t, incarnation) + (succeeded ? 0 : count_running(j, t, incarnation));

	return t->may_start_in >= incarnation && n >= least_needed(l, t, succeeded);
}

static bool may_start(const struct model *l, const struct model_job *j, const struct model_task *t,
	int incarnation)
{
	for (int i = 0; i < t->n_after; i++) {
		if (t->after[i].task < 0 ||
			!is_reached(l, j, &j->tasks[t->after[i].task], t->after[i].succeeded, incarnation))
			return false;
	}
	return true;
}

static int present_incarnation(const struct model_job *j)
{
	int n = j->incarnation > j->up_incarnation ? j->incarnation : j->up_incarnation;

	return n > 1 ? n : 1;
}

void model_note_order(struct model *l, struct model_job *j)
{
	int incarnation = present_incarnation(j);

	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < j->n_tasks; i++) {
			struct model_task *t = &j->tasks[i];

			if (t->may_start_in >= incarnation || !may_start(l, j, t, incarnation))
				continue;
			t->may_start_in = incarnation;
			more = true;
		}
	}
}

int model_first_minimum(const struct model_job *j)
{
	int available = 0;

	for (int i = 0; i < j->n_tasks; i++)
		available += j->tasks[i].n_after ? 0 : j->tasks[i].replicas.now;
	return j->ordered && available < j->minimum ? available : j->minimum;
}
