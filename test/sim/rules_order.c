/* When tasks that depend on others may start, and that they do. */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/mem.h"
#include "test/sim/rules.h"

static const char *label(const struct sim_value *pod, const char *key)
{
	return sim_text_or(sim_member(sim_get(pod, "metadata", "labels"), key), "");
}

static void check_task_order(const struct rule *r, const struct write *w)
{
	int incarnation = atoi(label(w->c->new, KAR_LABEL_INCARNATION));
	struct model_task *t;

	if (!w->by_manager || !w->job || !w->job->ordered || w->job->status_edited || w->job->pods_edited ||
		w->job->spec_edited >= model_horizon(w->l))
		return;
	t = model_find_task(w->job, label(w->c->new, KAR_LABEL_TASK));
	if (t && t->n_after && t->may_start_in < incarnation)
		model_break(w->l, r->name,
			"pod %s/%s of incarnation %d was created before the tasks that its task depends on were there",
			w->c->ns, w->c->name, incarnation);
}

const struct sim_value *rules_task_status(const struct sim_value *job, const char *name)
{
	const struct sim_value *list = sim_get(job, "status", "tasks");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (strcmp(sim_text_or(sim_member(sim_item(list, i), "name"), ""), name) == 0)
			return sim_item(list, i);
	}
	return NULL;
}

static bool started(const struct sim_value *job, const char *name)
{
	return sim_bool_of(sim_member(rules_task_status(job, name), "started"), false);
}

static void check_start_kept(const struct rule *r, const struct write *w)
{
	enum kar_qj_phase was = model_phase(w->c->old), is = model_phase(w->c->new);
	bool had_gang = was == KAR_QJ_PHASE_STARTING || was == KAR_QJ_PHASE_RUNNING;
	bool has_gang = is == KAR_QJ_PHASE_STARTING || is == KAR_QJ_PHASE_RUNNING;

	if (!w->by_manager || !w->job->ordered || w->job->status_edited || !had_gang || !has_gang)
		return;
	for (int i = 0; i < w->job->n_tasks; i++) {
		const char *name = w->job->tasks[i].name;

		if (started(w->c->old, name) && !started(w->c->new, name))
			model_break(w->l, r->name, "job %s/%s: task %s had started and waits again", w->c->ns,
				w->c->name, name);
	}
}

const struct rule rules_of_order[] = {
	{ RULE_POD_CREATED, "task-order",
		"no pod of a task is created before the tasks that it depends on run, or have succeeded, in this incarnation",
		check_task_order },
	{ RULE_JOB_CHANGED, "start-kept",
		"a task that has started does not wait again in the same incarnation", check_start_kept },
};
const size_t n_rules_of_order = KAR_LEN(rules_of_order);

/* --- at rest --------------------------------------------------------------------------------------------- */

static int needed(const struct model_task *t, bool succeeded)
{
	int own = t->own_minimum.now;

	if (succeeded || own < 0)
		return t->replicas.now;
	return own > 1 || t->replicas.now == 0 ? own : 1;
}

static bool is_fulfilled(const struct sim_value *job, const struct model_task *t, bool succeeded)
{
	const struct sim_value *status = rules_task_status(job, t->name);
	int n = (int)sim_get_int(status, 0, "succeeded");

	if (!succeeded)
		n += (int)sim_get_int(status, 0, "running");
	return started(job, t->name) && n >= needed(t, succeeded);
}

/* Are all the tasks there that @t depends on? */
static bool waits_in_vain(const struct model_job *j, const struct sim_value *job, const struct model_task *t)
{
	for (int i = 0; i < t->n_after; i++) {
		if (!is_fulfilled(job, &j->tasks[t->after[i].task], t->after[i].succeeded))
			return false;
	}
	return true;
}

void rules_check_order_at_rest(struct model *l, const struct model_job *j, const struct sim_value *job)
{
	int64_t quorum = sim_get_int(job, 0, "status", "minAvailable");

	for (int i = 0; i < j->n_tasks; i++) {
		if (!started(job, j->tasks[i].name) && waits_in_vain(j, job, &j->tasks[i]))
			model_break(l, "order",
				"task %s of job %s/%s waits, although nothing keeps it from starting",
				j->tasks[i].name, j->ns, j->name);
	}
	if (quorum != rules_quorum(j, job))
		model_break(l, "order",
			"the quorum of job %s/%s is %d, its tasks that have started make it %d", j->ns,
			j->name, (int)quorum, rules_quorum(j, job));
}

bool rules_task_waits(const struct sim_value *job, const char *task)
{
	const struct sim_value *status = rules_task_status(job, task);

	return status && !started(job, task);
}

int rules_quorum(const struct model_job *j, const struct sim_value *job)
{
	bool waits = false;
	int available = 0, own = 0, minimum;

	for (int i = 0; i < j->n_tasks; i++) {
		const struct model_task *t = &j->tasks[i];
		bool has_started = started(job, t->name);

		waits |= !has_started;
		available += has_started ? t->replicas.now : 0;
		own += has_started && t->own_minimum.now > 0 ? t->own_minimum.now : 0;
	}
	minimum = j->minimum > 0 && j->minimum < own ? own : j->minimum;
	return waits && available < minimum ? available : minimum;
}

int rules_done(const struct model_job *j, const struct sim_value *job)
{
	int n = 0;

	for (int i = 0; i < j->n_tasks; i++) {
		if (started(job, j->tasks[i].name))
			n += (int)sim_get_int(rules_task_status(job, j->tasks[i].name), 0, "succeeded");
	}
	return n;
}
