/* What a job has and has done is not lost at its turning points: suspensions, back-offs, new templates. */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "test/sim/policy.h"
#include "test/sim/rules.h"

/* --- suspensions ----------------------------------------------------------------------------------------- */

/* The job as it is stored, if it is suspended, or was, and what its pods do still counts; else NULL. */
static const struct sim_value *paused_job(const struct write *w)
{
	struct model_job *j = w->job;
	const struct model_task *t = j ? model_find_task(j, w->pod->task) : NULL;
	const struct sim_value *job;
	bool paused;

	if (!t || j->gone || j->deleting || j->status_edited || j->template_changed || w->pod->tampered ||
		w->pod->lost || w->pod->index >= setting_min(&t->replicas, model_horizon(w->l)))
		return NULL;
	paused = j->phase == KAR_QJ_PHASE_SUSPENDED ||
		(j->phase == KAR_QJ_PHASE_PENDING && j->incarnation > 0);
	job = model_stored(w->l, j);
	/* Without it the incarnation had been given up before. */
	if (!paused || w->pod->incarnation != j->incarnation ||
		!sim_get(job, "status", "record", "templateHash"))
		return NULL;
	return job;
}

static void check_quicker_than_suspension(const struct rule *r, const struct write *w)
{
	const struct sim_value *job;

	if (!w->by_manager || !w->pod->done_first || !rules_lets_go(w))
		return;
	job = paused_job(w);
	if (job && !rules_is_recorded(job, w->pod->task, w->pod->index))
		model_break(w->l, r->name,
			"pod %s/%s had succeeded when its job was suspended, and is let go, but its index is not recorded",
			w->c->ns, w->c->name);
}

/* --- back-off -------------------------------------------------------------------------------------------- */

static void check_backoff(const struct rule *r, const struct write *w)
{
	const struct sim_value *labels = sim_get(w->c->new, "metadata", "labels");
	int index = atoi(sim_text_or(sim_member(labels, KAR_LABEL_INDEX), "-1"));
	int incarnation = atoi(sim_text_or(sim_member(labels, KAR_LABEL_INCARNATION), "0"));
	const struct model_task *t =
		w->job ? model_find_task(w->job, sim_text_or(sim_member(labels, KAR_LABEL_TASK), "")) : NULL;
	kar_time early =
		t && index >= 0 && index < MODEL_INDEXES ? t->held_until[index] - model_now(w->l) : 0;
	const struct sim_value *job;

	enum {
		SLACK = 2000
	}; /* ms; times are recorded in seconds, and this one somewhat later than it was */

	if (!w->by_manager || !w->l->faultless || early <= SLACK || t->held_in[index] != incarnation ||
		w->job->status_edited || w->job->pods_edited)
		return;
	job = model_stored(w->l, w->job);
	if (!policy_has(job, KAR_FAILURE_RESTART_TASK)) /* which has a back-off of its own */
		model_break(w->l, r->name,
			"pod %s/%s is created %lld s before the back-off of the last one is over", w->c->ns,
			w->c->name, (long long)(early / KAR_SECOND));
}

/* --- losses ---------------------------------------------------------------------------------------------- */

/* When a person edits a job, its losses have long been counted, whatever the job waits for. */
static void check_counted(const struct rule *r, const struct write *w)
{
	enum { LONG = 60000 }; /* ms */
	const struct model_job *j = w->job;
	bool at_work = j->phase == KAR_QJ_PHASE_STARTING || j->phase == KAR_QJ_PHASE_RUNNING;
	const struct model_pod *p;

	if (w->by_manager || !w->c->old || !w->l->faultless || !at_work || j->status_edited ||
		j->pods_edited || policy_has(w->c->old, KAR_FAILURE_RESTART_TASK))
		return;
	TAILQ_FOREACH(p, &j->pods, of_job) {
		const struct model_task *t = model_find_task(w->job, p->task);

		if (p->failed && !p->deleting && p->incarnation == j->incarnation &&
			p->failed_at < model_now(w->l) - LONG && t && p->index < t->replicas.now &&
			!model_is_counted(w->c->old, p->uid))
			model_break(w->l, r->name, "pod %s/%s has failed %lld s ago, which does not count",
				p->ns, p->name, (long long)(model_now(w->l) - p->failed_at) / KAR_SECOND);
	}
}

/* --- new templates --------------------------------------------------------------------------------------- */

static void check_service_before_restart(const struct rule *r, const struct write *w)
{
	enum kar_qj_phase was = model_phase(w->c->old), is = model_phase(w->c->new);
	const char *reason = sim_get_text(w->c->new, "status", "lastRestart", "reason");
	bool wanted = sim_bool_of(sim_get(w->c->new, "spec", "network", "enableDNSHostnames"), false);

	if (w->by_manager && is == KAR_QJ_PHASE_RESTARTING && was != is && wanted && reason &&
		strcmp(reason, "TemplateChanged") == 0 && !w->job->status_edited && w->job->without_service &&
		w->job->without_service < model_horizon(w->l))
		model_break(w->l, r->name,
			"job %s/%s is restarted for its new pods, whose Service is not there", w->c->ns,
			w->c->name);
}

const struct rule rules_of_life[] = {
	{ RULE_POD_CHANGED, "suspended-success",
		"what has succeeded before a suspension stopped it is recorded before it is let go",
		check_quicker_than_suspension },
	{ RULE_POD_CREATED, "back-off",
		"a failed pod is not replaced before its back-off is over, whoever deletes it",
		check_backoff },
	{ RULE_JOB_CHANGED, "loss-counted",
		"a failed pod of a gang at work counts soon, whatever the job waits for", check_counted },
	{ RULE_JOB_CHANGED, "service-before-restart",
		"a gang is not restarted for host names before its Service is there",
		check_service_before_restart },
};
const size_t n_rules_of_life = KAR_LEN(rules_of_life);
