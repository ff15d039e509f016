/* What a manager may ask for, given what it has been told. These rules hold however late, lost or repeated the rest is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "test/sim/rules.h"

/* --- the job as the manager knows it --------------------------------------------------------------------- */

/* Is there a pod of the same incarnation whose task the job has no more? Then it is another set of pods that is asked for. */
static bool joins_former(const struct model *l, const struct model_job *j, const struct sim_value *pod)
{
	int incarnation = atoi(sim_text_or(sim_get(pod, "metadata", "labels", KAR_LABEL_INCARNATION), "0"));
	const struct model_pod *p;

	for (int i = j->n_tasks; i < j->n_known; i++) {
		TAILQ_FOREACH(p, &j->pods, of_job) {
			if (p->incarnation == incarnation && !p->succeeded && !p->tampered &&
				p->created < model_horizon(l) && strcmp(p->task, j->tasks[i].name) == 0)
				return true;
		}
	}
	return false;
}

/* What is wrong with the pod; NULL: nothing. */
static const char *unwanted(const struct write *w)
{
	const struct ask *a = w->ask;
	const struct sim_value *job = model_stored(w->l, w->job);

	if (w->job->gone)
		return "is gone";
	if (w->job->deleting)
		return "is being deleted";
	if (w->job->suspended)
		return "is suspended";
	if (!a->task)
		return "has no such task";
	if (a->index < 0 || a->index >= a->task->replicas.now)
		return "wants fewer replicas";
	if (joins_former(w->l, w->job, a->pod))
		return "has other tasks than the pods of this incarnation";
	return rules_outdated(a->pod, a->task->name, job);
}

static void check_as_told(const struct rule *r, const struct write *w)
{
	const struct ask *a = w->ask;
	const char *why = a->told && a->told >= w->job->spec_rv ? unwanted(w) : NULL;

	if (why)
		model_break(w->l, r->name, "%s asks for pod %s/%s although it has been told that job %s %s",
			a->user, w->job->ns, sim_text_or(sim_get(a->pod, "metadata", "name"), ""),
			w->job->name, why);
}

/* --- the minimum first ----------------------------------------------------------------------------------- */

/* The plainest of starts: nothing has been lost or edited since the job was submitted, and no task waits for another. */
static bool starts_plainly(const struct model_job *j)
{
	return !j->gone && !j->deleting && !j->ever_suspended && !j->ordered &&
		j->spec_edited == j->created && !j->status_edited && !j->crowded && !j->pods_edited &&
		j->incarnation <= 1 && j->losses == 0;
}

static int priority(const struct sim_value *task)
{
	return (int)sim_get_int(task, 0, "priority");
}

/* The i-th task in the order in which tasks come: by priority, then as listed. */
static size_t task_at(const struct sim_value *specs, size_t i)
{
	for (size_t t = 0; t < sim_count(specs); t++) {
		size_t before = 0;

		for (size_t k = 0; k < sim_count(specs); k++) {
			int mine = priority(sim_item(specs, t)), its = priority(sim_item(specs, k));

			before += its > mine || (its == mine && k < t);
		}
		if (before == i)
			return t;
	}
	return 0;
}

/* How many of each task, counted from index 0, are the job's minimum: those of the tasks, the rest in their order. */
static void share_minimum(const struct model_job *j, const struct sim_value *specs, int share[MODEL_TASKS])
{
	int left = j->minimum;

	for (size_t t = 0; t < sim_count(specs) && t < MODEL_TASKS; t++) {
		share[t] = j->minimum ? (int)sim_get_int(sim_item(specs, t), 0, "minAvailable") : 0;
		left -= share[t];
	}
	for (size_t i = 0; i < sim_count(specs) && i < MODEL_TASKS; i++) {
		size_t t = task_at(specs, i);
		int room = j->tasks[t].replicas.now - share[t];
		int more = left < room ? left : room;

		share[t] += more > 0 ? more : 0;
		left -= more > 0 ? more : 0;
	}
}

static void check_own_minimum_first(const struct rule *r, const struct write *w)
{
	const struct ask *a = w->ask;
	struct model_job *j = w->job;
	const struct sim_value *specs = sim_get(model_stored(w->l, j), "spec", "taskSpecs");
	int share[MODEL_TASKS];

	if (w->l->squatted || !starts_plainly(j) || !a->task || (int)sim_count(specs) != j->n_tasks)
		return;
	share_minimum(j, specs, share);
	if (a->index < share[a->task - j->tasks])
		return;
	for (int t = 0; t < j->n_tasks; t++) {
		for (int i = 0; i < share[t] && i < MODEL_INDEXES; i++) {
			if (!j->tasks[t].asked[i])
				model_break(w->l, r->name,
					"%s asks for the extra %s-%d of job %s/%s before %s-%d of its minimum",
					a->user, a->task->name, a->index, j->ns, j->name, j->tasks[t].name,
					i);
		}
	}
}

/* --- the minimum of others ------------------------------------------------------------------------------- */

/*
 * A manager has read that the job may start, and has still to ask for pods of its minimum. One that was shown as Pending waits first
 * until its start is recorded, behind control writes of any number of jobs, each of which lets one create pass.
 */
static bool waits_for_minimum(const struct model *l, const struct model_job *j)
{
	/* Longer than a manager waits until it looks again whether a name is free. */
	const kar_time patience = KAR_MINUTE;
	bool just_freed = (l->freed && model_now(l) - l->freed < patience) ||
		(j->service_changed && model_now(l) - j->service_changed < patience);
	bool starts = j->phase == KAR_QJ_PHASE_NONE || j->phase == KAR_QJ_PHASE_STARTING;

	return starts && starts_plainly(j) && j->admitted && j->n_readers > 0 && j->asked < j->minimum &&
		!just_freed && !j->refused.user && model_names_are_free(l, j) && !rules_lacks_service(l, j);
}

/*
 * Each pod of a minimum may wait for the answer about the one before, and in the meantime the other places in flight are taken by
 * extras. So many may overtake it, and no more.
 */
static void check_extras_wait(const struct rule *r, const struct write *w)
{
	enum { SPARE = 8 }; /* rounds from the read to the first create, up to five of them turns of others */
	struct model_job *j;

	if (!w->l->faultless || w->l->quota || !w->l->max_in_flight || !w->job->minimum ||
		model_members(w->job) < w->job->minimum)
		return;
	TAILQ_FOREACH(j, &w->l->present, in_present) {
		if (j == w->job || !waits_for_minimum(w->l, j))
			continue;
		j->overtaken++;
		if (j->overtaken > w->l->max_in_flight * (j->minimum + SPARE))
			model_break(w->l, r->name,
				"%d extras of other jobs, the last of them of %s/%s, went before the minimum of %s/%s",
				j->overtaken, w->job->ns, w->job->name, j->ns, j->name);
	}
}

/* --- refusals -------------------------------------------------------------------------------------------- */

static void check_refused_waits(const struct rule *r, const struct write *w)
{
	enum {
		HOLD = 400
	}; /* ms; less than what is promised, for the time that an answer takes to be worked upon */
	const struct model_job *j = w->job;
	/* With fewer pods than before, a quota may have room, or a name is free: that is tried at once. */
	bool has_room = (j->fewer && j->fewer >= model_horizon(w->l)) ||
		(w->l->freed && w->l->freed >= model_horizon(w->l));
	/* As far as the manager knew, the pod was not wanted for a moment, so it is another one that is asked for now. */
	kar_time known = j->refused.at < model_horizon(w->l) ? j->refused.at : model_horizon(w->l);
	bool scaled = setting_min(&j->limit, known) != setting_max(&j->limit, known);

	bool moved = j->was_admitted && j->was_admitted >= known; /* from queue to queue */

	if (starts_plainly(j) && !has_room && !scaled && !moved && j->refused.user &&
		strcmp(j->refused.user, w->ask->user) == 0 && j->refused.spec_rv == j->spec_rv &&
		model_now(w->l) > j->refused.at && model_now(w->l) - j->refused.at < HOLD)
		model_break(w->l, r->name, "%s asks for pod %s/%s %lld ms after one of the job was refused",
			w->ask->user, j->ns, sim_text_or(sim_get(w->ask->pod, "metadata", "name"), ""),
			(long long)(model_now(w->l) - j->refused.at));
}

const struct rule rules_of_asks[] = {
	{ RULE_POD_ASKED, "as-told",
		"a manager asks for no pod that the job, as far as it has been told, does not want: deleted, suspended, scaled, edited",
		check_as_told },
	{ RULE_POD_ASKED, "own-minimum-first",
		"a job's minimum, by task priority, is asked for before its extras",
		check_own_minimum_first },
	{ RULE_POD_ASKED, "refused-waits",
		"when a pod is refused, or its name taken, no other of the job is asked for until it was held back for a while",
		check_refused_waits },
	{ RULE_POD_ASKED, "extras-wait", "extras do not overtake the minimum of another job that may start",
		check_extras_wait },
};
const size_t n_rules_of_asks = KAR_LEN(rules_of_asks);
