/* What the model knows of failure policies. */
#include <string.h>

#include "api/names.h"
#include "test/sim/model.h"
#include "test/sim/policy.h"

void model_note_task_restarts(struct model *l, struct model_job *j, const struct sim_value *job)
{
	for (int i = 0; i < j->n_tasks; i++) {
		struct model_task *t = &j->tasks[i];

		if (!model_restarts(job, t->name))
			t->restarting = 0;
		else if (!t->restarting)
			t->restarting = model_now(l);
	}
}

static bool is_phase(const struct sim_value *pod, const char *phase)
{
	return strcmp(sim_text_or(sim_get(pod, "status", "phase"), ""), phase) == 0;
}

static void note_stop(struct model_pod *p)
{
	struct model_task *t = model_find_task(p->job, p->task);

	p->stopped = true;
	p->stopped_for_task = t && t->restarting;
}

/* A gang may be restarted for what no rule answers, for what one ignores, and for what one says that it is for. */
static void note_action(struct model_pod *p, enum kar_failure_action action)
{
	p->actions |= 1u << action;
	p->job->actions |= p->actions;
	if ((action <= KAR_FAILURE_IGNORE || action == KAR_FAILURE_RESTART_JOB) &&
		p->incarnation > p->job->last_gang_loss)
		p->job->last_gang_loss = p->incarnation;
}

void model_note_policy(struct model *l, struct model_pod *p, const struct sim_change *c)
{
	bool deleting = c->new &&sim_get(c->new, "metadata", "deletionTimestamp");
	bool fails = c->new &&is_phase(c->new, "Failed") && !p->failed && !deleting;
	const struct sim_value *job;
	enum kar_failure_action action = KAR_FAILURE_NONE;

	if (!p->job)
		return;
	if (deleting && !p->deleting && model_is_manager(c->user))
		note_stop(p);
	if ((p->stopped && !p->shed_late) || !(p->lost || p->tampered || p->shed_late))
		return;
	job = model_stored(l, p->job);
	if (c->new &&job && !p->tampered)
		action = policy_action(job, c->new, p->task);
	note_action(p, action);
	p->job->ignored += fails && !model_is_disrupted(c->new) && action == KAR_FAILURE_IGNORE;
}
