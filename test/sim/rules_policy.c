/* What a failure policy demands: each loss is answered as its rule says. */
#include <string.h>

#include "api/names.h"
#include "common/base/mem.h"
#include "test/sim/rules.h"

static bool is_ours(const struct write *w)
{
	return w->by_manager && w->c->old && w->c->new && !w->job->status_edited;
}

static int number(const struct sim_value *object, const char *field)
{
	return (int)sim_get_int(object, 0, "status", field);
}

static bool has_gang(enum kar_qj_phase p)
{
	return p == KAR_QJ_PHASE_STARTING || p == KAR_QJ_PHASE_RUNNING;
}

#define BIT(action) (1u << (action))

/* --- single losses ------------------------------------------------------------------------------------- */

/* May it be that the pod was not lost, but scaled away, or that a person is to blame for what it looked like? */
static bool is_doubtful(const struct write *w, const struct model_pod *p)
{
	struct model_task *t = model_find_task(w->job, p->task);

	return !p->lost || p->tampered || !t || p->index >= setting_min(&t->replicas, model_horizon(w->l)) ||
		setting_min(&w->job->limit, model_horizon(w->l)) < MODEL_NO_LIMIT;
}

static void check_answer(const struct rule *r, const struct write *w)
{
	const unsigned single = BIT(KAR_FAILURE_NONE) | BIT(KAR_FAILURE_IGNORE) |
		BIT(KAR_FAILURE_RECREATE_POD) | BIT(KAR_FAILURE_FAIL_INDEX);
	const struct model_pod *p;

	if (!is_ours(w) || !has_gang(model_phase(w->c->new)))
		return;
	TAILQ_FOREACH(p, &w->job->pods, of_job) {
		bool newly = model_is_counted(w->c->new, p->uid) && !model_is_counted(w->c->old, p->uid);

		if (newly && !is_doubtful(w, p) && !(p->actions & single))
			model_break(w->l, r->name,
				"pod %s/%s is replaced alone, but the failure policy says otherwise (%#x)",
				p->ns, p->name, p->actions);
	}
}

static void check_own_deletion(const struct rule *r, const struct write *w)
{
	const struct model_pod *p;

	if (!is_ours(w) || !has_gang(model_phase(w->c->new)))
		return;
	TAILQ_FOREACH(p, &w->job->pods, of_job) {
		bool newly = model_is_counted(w->c->new, p->uid) && !model_is_counted(w->c->old, p->uid);

		if (newly && p->stopped_for_task && !p->tampered)
			model_break(w->l, r->name,
				"pod %s/%s was deleted by a manager because its task is restarted, and counts as a loss",
				p->ns, p->name);
	}
}

static void check_gang_restart(const struct rule *r, const struct write *w)
{
	if (is_ours(w) && !w->job->pods_edited &&
		number(w->c->new, "restarts") > number(w->c->old, "restarts") &&
		w->job->last_gang_loss < number(w->c->new, "incarnation"))
		model_break(w->l, r->name,
			"job %s/%s is restarted, but by its failure policy no loss calls for it", w->c->ns,
			w->c->name);
}

static void check_ignored(const struct rule *r, const struct write *w)
{
	int failures = number(w->c->new, "podFailures");

	if (is_ours(w) && failures > w->job->failures - w->job->ignored)
		model_break(w->l, r->name,
			"job %s/%s counts %d failures; %d pods failed, of which a rule ignores %d", w->c->ns,
			w->c->name, failures, w->job->failures, w->job->ignored);
}

/* An end by the policy needs a rule that says so. */
static void check_end(const struct rule *r, const struct write *w)
{
	enum kar_qj_phase phase = model_phase(w->c->new);
	bool by_rule =
		strcmp(sim_text_or(sim_get(w->c->new, "status", "reason"), ""), "PodFailurePolicy") == 0;
	enum kar_failure_action action =
		phase == KAR_QJ_PHASE_FAILED ? KAR_FAILURE_FAIL_JOB : KAR_FAILURE_COMPLETE_JOB;

	if (is_ours(w) && by_rule && kar_qj_phase_terminal(phase) && !w->job->pods_edited &&
		!(w->job->actions & BIT(action)))
		model_break(w->l, r->name, "job %s/%s is %s by its failure policy, but no loss calls for it",
			w->c->ns, w->c->name, kar_qj_phase_name(phase));
}

/* --- the restart of a task ----------------------------------------------------------------------------- */

static const char *label(const struct sim_value *pod, const char *key)
{
	return sim_text_or(sim_member(sim_get(pod, "metadata", "labels"), key), "");
}

static void check_task_gone(const struct rule *r, const struct write *w)
{
	struct model_task *t;

	if (!w->by_manager || !w->c->new || !w->job || w->job->status_edited)
		return;
	t = model_find_task(w->job, label(w->c->new, KAR_LABEL_TASK));
	if (t && t->restarting && t->restarting < model_horizon(w->l) && has_gang(w->job->phase))
		model_break(w->l, r->name, "pod %s/%s was created while its task is being restarted",
			w->c->ns, w->c->name);
}

static bool must_be_gone(const struct write *w, const struct model_pod *p, const struct model_task *t)
{
	return strcmp(p->task, t->name) == 0 && !p->succeeded && !p->tampered &&
		p->incarnation == w->job->incarnation && p->created < model_horizon(w->l) &&
		p->index < setting_min(&t->replicas, model_horizon(w->l));
}

static void check_task_whole(const struct rule *r, const struct write *w)
{
	if (!is_ours(w) || !has_gang(model_phase(w->c->new)))
		return;
	for (int i = 0; i < w->job->n_tasks; i++) {
		const struct model_task *t = &w->job->tasks[i];
		const struct model_pod *p;

		if (!model_restarts(w->c->old, t->name) || model_restarts(w->c->new, t->name))
			continue;
		TAILQ_FOREACH(p, &w->job->pods, of_job) {
			if (must_be_gone(w, p, t))
				model_break(w->l, r->name,
					"the restart of task %s of job %s/%s is over, but its pod %s exists",
					t->name, w->c->ns, w->c->name, p->name);
		}
	}
}

const struct rule rules_of_policy[] = {
	{ RULE_JOB_CHANGED, "policy-answer",
		"a loss for which a rule ends or restarts job or task is not answered by a single new pod",
		check_answer },
	{ RULE_JOB_CHANGED, "own-deletion",
		"pods that are deleted because their task is restarted are no losses", check_own_deletion },
	{ RULE_JOB_CHANGED, "policy-gang-restart",
		"a gang is not restarted for losses for which a rule says something else",
		check_gang_restart },
	{ RULE_JOB_CHANGED, "policy-ignored", "failures that a rule ignores are not counted", check_ignored },
	{ RULE_JOB_CHANGED, "policy-end", "a job is ended by its failure policy only if a rule says so",
		check_end },
	{ RULE_POD_CREATED, "task-gone-first",
		"no pod of a task is created while the task is being restarted", check_task_gone },
	{ RULE_JOB_CHANGED, "task-whole", "the restart of a task is over when all its old pods are gone",
		check_task_whole },
};
const size_t n_rules_of_policy = KAR_LEN(rules_of_policy);
