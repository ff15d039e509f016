/* When pods may come and go. */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/status/intervals.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "test/sim/rules.h"

static const struct sim_value *label(const struct sim_value *pod, const char *key)
{
	return sim_member(sim_get(pod, "metadata", "labels"), key);
}

static int label_number(const struct sim_value *pod, const char *key)
{
	return atoi(sim_text_or(label(pod, key), "-1"));
}

static const char *task_of(const struct sim_value *pod)
{
	return sim_text_or(label(pod, KAR_LABEL_TASK), "");
}

/* Pods that a manager made for a QueueJob; those of other people follow no rule. */
static bool is_ours(const struct write *w)
{
	return w->by_manager && w->c->new &&label(w->c->new, KAR_LABEL_QUEUEJOB);
}

static bool longer_ago(const struct write *w, kar_time moment)
{
	return moment && moment < model_horizon(w->l);
}

/* --- creation ------------------------------------------------------------------------------------------ */

static void check_owner_known(const struct rule *r, const struct write *w)
{
	if (is_ours(w) && !w->job)
		model_break(w->l, r->name, "pod %s/%s was created for a job UID that never existed", w->c->ns,
			w->c->name);
}

static void check_owner_alive(const struct rule *r, const struct write *w)
{
	const char *what = NULL;

	if (!is_ours(w) || !w->job)
		return;
	if (longer_ago(w, w->job->gone))
		what = "is gone";
	else if (longer_ago(w, w->job->deleting))
		what = "is being deleted";
	else if (longer_ago(w, w->job->suspended))
		what = "is suspended";
	else if (longer_ago(w, w->job->finished))
		what = "has finished";
	if (what)
		model_break(w->l, r->name, "pod %s/%s was created for job %s, which %s", w->c->ns, w->c->name,
			w->job->uid, what);
}

static void check_owner_read(const struct rule *r, const struct write *w)
{
	int incarnation = w->c->new ? label_number(w->c->new, KAR_LABEL_INCARNATION) : 0;

	if (!is_ours(w) || !w->job)
		return;
	for (size_t i = 0; i < w->job->n_readers && i < MODEL_READERS; i++) {
		const struct model_reader *reader = &w->job->readers[i];

		/* The first start is not recorded before its pods, and of an emptied status the pods tell which it is. */
		bool in_it = reader->incarnation == incarnation ||
			(reader->incarnation == 0 &&
				(incarnation == 1 || w->job->pods_edited || w->job->status_edited));

		if (in_it && strcmp(reader->user, w->c->user) == 0)
			return;
	}
	model_break(w->l, r->name,
		"%s created pod %s/%s of incarnation %d without having seen that the job may run", w->c->user,
		w->c->ns, w->c->name, incarnation);
}

static void check_one_per_index(const struct rule *r, const struct write *w)
{
	const struct model_pod *p;
	int index = w->c->new ? label_number(w->c->new, KAR_LABEL_INDEX) : 0;

	if (!is_ours(w) || !w->job)
		return;
	TAILQ_FOREACH(p, &w->job->pods, of_job) {
		if (p->index == index && !p->succeeded && !p->failed &&
			strcmp(p->task, task_of(w->c->new)) == 0)
			model_break(w->l, r->name, "pods %s and %s of job %s/%s are both index %s-%d",
				p->name, w->c->name, p->ns, w->job->name, p->task, index);
	}
}

static int most_wanted(const struct write *w)
{
	int n = 0;

	for (int i = 0; i < w->job->n_known; i++)
		n += setting_max(&w->job->tasks[i].replicas, model_horizon(w->l));
	return n;
}

static void check_not_too_many(const struct rule *r, const struct write *w)
{
	struct model_task *t;
	int index;

	if (!is_ours(w) || !w->job)
		return;
	index = label_number(w->c->new, KAR_LABEL_INDEX);
	t = model_find_task(w->job, task_of(w->c->new));
	if (w->job->live + 1 > most_wanted(w))
		model_break(w->l, r->name, "pod %s/%s is number %d of the %d that job %s wants", w->c->ns,
			w->c->name, w->job->live + 1, most_wanted(w), w->job->name);
	else if (!t || index < 0 || index >= setting_max(&t->replicas, model_horizon(w->l)))
		model_break(w->l, r->name, "pod %s/%s is beyond the replicas of its task", w->c->ns,
			w->c->name);
}

static void check_old_gone(const struct rule *r, const struct write *w)
{
	int incarnation = w->c->new ? label_number(w->c->new, KAR_LABEL_INCARNATION) : 0;
	const struct model_pod *p;

	if (!is_ours(w) || !w->job)
		return;
	TAILQ_FOREACH(p, &w->job->pods, of_job) {
		/*
		 * Work that was done before a suspension stays, and so do results after an edit of the status. Of edited
		 * labels the first start may believe any.
		 */
		bool may_stay =
			p->succeeded && (w->job->keeps_done || w->job->pods_edited || w->job->status_edited);

		if (p->incarnation < incarnation && !may_stay && !p->tampered && longer_ago(w, p->created))
			model_break(w->l, r->name,
				"pod %s/%s of incarnation %d was created while %s of incarnation %d exists",
				w->c->ns, w->c->name, incarnation, p->name, p->incarnation);
	}
}

/* Who moved the group had it admitted by another queue. That one has its pods on its account until they are gone. */
static bool runs_in_another_queue(const struct write *w)
{
	const struct sim_value *admitted = model_condition(model_group(w->l, w->job), "Admitted");
	const struct model_pod *p;

	if (!kar_streq(sim_text(sim_member(admitted, "status")), "True"))
		return false;
	TAILQ_FOREACH(p, &w->job->pods, of_job) {
		if (!p->deleting && !kar_streq(p->name, w->c->name))
			return true;
	}
	return false;
}

static void check_admitted(const struct rule *r, const struct write *w)
{
	if (!is_ours(w) || !w->job || w->job->admitted || runs_in_another_queue(w))
		return;
	if (!w->job->was_admitted || longer_ago(w, w->job->was_admitted))
		model_break(w->l, r->name, "pod %s/%s was created, but its group is not admitted", w->c->ns,
			w->c->name);
}

/*
 * Does the job, which has started a while ago, still lack pods of its minimum although nothing stands in its way? Who edits its
 * status may have ended a restart, whose old pods must go first.
 */
static bool is_neglected(const struct model_job *j, kar_time since)
{
	bool starts = j->phase == KAR_QJ_PHASE_NONE || j->phase == KAR_QJ_PHASE_PENDING ||
		j->phase == KAR_QJ_PHASE_STARTING;

	return starts && !j->gone && !j->deleting && !j->suspended && !j->ever_suspended && j->admitted &&
		j->admitted < since && j->spec_edited < since && j->incarnation <= 1 && j->losses == 0 &&
		!j->status_edited && model_members(j) < model_first_minimum(j);
}

/* Its pods are created bound, and a plan for those that it lacks is still to be made. */
static bool waits_for_places(const struct model *l, const struct model_job *j)
{
	const struct sim_value *job = model_stored(l, j);

	return job && rules_is_direct(job) && model_placement(model_group(l, j)) != KAR_PG_STATE_PLACED;
}

static void check_minimum_first(const struct rule *r, const struct write *w)
{
	enum { WHILE = 5000 }; /* ms */
	struct model_job *j;

	/* With .bounds a minimum that was raised waits until its queue has room for it. */
	if (!is_ours(w) || !w->job || !w->l->faultless || w->l->hindered || w->l->bounds ||
		model_members(w->job) < w->job->minimum)
		return;
	TAILQ_FOREACH(j, &w->l->present, in_present) {
		if (j != w->job && is_neglected(j, model_now(w->l) - WHILE) && !waits_for_places(w->l, j) &&
			!rules_lacks_service(w->l, j) && model_names_are_free(w->l, j))
			model_break(w->l, r->name,
				"extra pod %s/%s was created while %s/%s lacks pods of its minimum", w->c->ns,
				w->c->name, j->ns, j->name);
	}
}

/* --- removal ------------------------------------------------------------------------------------------- */

static bool is_at_work(const struct model_job *j, int incarnation)
{
	bool unrecorded = j->incarnation == 0 && incarnation == 1 && !j->ever_suspended; /* the first start */
	bool has_gang = j->phase == KAR_QJ_PHASE_STARTING || j->phase == KAR_QJ_PHASE_RUNNING;

	return unrecorded ? !kar_qj_phase_terminal(j->phase) : has_gang && j->incarnation == incarnation;
}

/* The job as it is stored, if its gang is at work and the pod is one of it, and not of a task that is restarted; else NULL. */
static const struct sim_value *working_job(const struct write *w)
{
	struct model_job *j = w->job;
	struct model_task *t = j ? model_find_task(j, w->pod->task) : NULL;

	if (!t || j->gone || j->deleting || j->status_edited || !is_at_work(j, w->pod->incarnation))
		return NULL;
	/* Nor is one that a person has scaled away, or whose template was changed, of late. */
	if (w->pod->index >= setting_min(&t->replicas, model_horizon(w->l)) || j->template_changed)
		return NULL;
	if (t->restarting)
		return NULL;
	return model_stored(w->l, j);
}

bool rules_lets_go(const struct write *w)
{
	return model_has_finalizer(w->c->old, KAR_FINALIZER_POD_TRACKING) &&
		!model_has_finalizer(w->c->new, KAR_FINALIZER_POD_TRACKING);
}

bool rules_is_recorded(const struct sim_value *job, const char *task, int index)
{
	const struct sim_value *tasks = sim_get(job, "status", "tasks");
	struct kar_arena arena = { 0 };
	bool found = false;

	for (size_t i = 0; i < sim_count(tasks); i++) {
		const struct sim_value *t = sim_item(tasks, i);
		struct kar_intervals set;

		if (strcmp(sim_text_or(sim_member(t, "name"), ""), task) == 0 &&
			kar_intervals_parse(sim_text_or(sim_member(t, "succeededIndexes"), ""), &arena,
				&set) == 0)
			found = kar_intervals_has(&set, index);
	}
	kar_arena_release(&arena);
	return found;
}

static void check_success_recorded(const struct rule *r, const struct write *w)
{
	const struct sim_value *job;

	if (!w->by_manager || !w->pod->succeeded || !rules_lets_go(w))
		return;
	job = w->pod->tampered ? NULL : working_job(w);
	/* To a manager whose jobs are out of date, the pods of a job that it does not know yet are orphans. */
	if (w->job && w->job->created > model_horizon(w->l) && !w->l->faultless)
		return;
	if (job && !rules_is_recorded(job, w->pod->task, w->pod->index) &&
		!model_is_counted(job, w->pod->uid))
		model_break(w->l, r->name,
			"pod %s/%s has succeeded and is let go, but its index is not recorded", w->c->ns,
			w->c->name);
}

/* Of two managers one has taken it away as surplus, and the other, which has not seen that, wants it again: it is no loss. */
static bool is_disputed(const struct write *w)
{
	return w->l->overlaps && w->pod->stopped && w->pod->deleting && w->pod->failed_at >= w->pod->deleting;
}

static void check_loss_recorded(const struct rule *r, const struct write *w)
{
	bool deletes = w->c->verb == KAR_DELETE && !w->pod->deleting;
	const struct sim_value *job;

	if (!w->by_manager || !w->pod->failed || !(deletes || rules_lets_go(w)))
		return;
	if (rules_is_refused(w->c->old) || is_disputed(w))
		return; /* nor has that */
	if (model_is_gated(w->c->old) && w->pod->deleting)
		return; /* it has never run; what fails pods that are deleted without a node is the garbage collector */
	job = w->pod->tampered ? NULL : working_job(w);
	if (job && w->job && w->job->pods_edited && model_phase(job) == KAR_QJ_PHASE_NONE)
		return; /* before its start is recorded, which incarnation is at work is told by the labels of its pods */
	if (job && !model_is_counted(job, w->pod->uid))
		model_break(w->l, r->name,
			"pod %s/%s has failed and is taken away, but its loss is not recorded", w->c->ns,
			w->c->name);
}

static void check_refused(const struct rule *r, const struct write *w)
{
	const struct sim_value *job = w->by_manager && rules_is_refused(w->c->old) ? working_job(w) : NULL;

	if (job && rules_is_direct(job) && !w->pod->tampered && model_is_counted(job, w->pod->uid))
		model_break(w->l, r->name, "pod %s/%s has never run, and counts as a loss", w->c->ns,
			w->c->name);
}

/* The one node that it may use is taken. */
static bool is_stranded(const struct write *w, const struct sim_value *job)
{
	const struct sim_value *scheduled = model_condition(w->c->old, "PodScheduled");

	return rules_pin_of(w->c->old) && !sim_get(w->c->old, "spec", "nodeName") &&
		strcmp(sim_text_or(sim_member(scheduled, "reason"), ""), "Unschedulable") == 0 &&
		model_is_counted(job, w->pod->uid);
}

static void check_no_needless_kill(const struct rule *r, const struct write *w)
{
	bool alive = !w->pod->deleting && !w->pod->succeeded && !w->pod->failed;
	const struct sim_value *job;

	/* That somebody has edited the label of its incarnation is no reason. */
	if (w->by_manager && w->c->verb == KAR_DELETE && alive && !w->pod->taken &&
		!model_is_gated(w->c->old) && (job = working_job(w)) != NULL && !rules_sheds(w, job) &&
		!is_stranded(w, job))
		model_break(w->l, r->name, "pod %s/%s, a healthy member of its gang, is deleted", w->c->ns,
			w->c->name);
}

const struct rule rules_of_pods[] = {
	{ RULE_POD_CREATED, "owner-known", "a pod is created only for a job that exists or existed",
		check_owner_known },
	{ RULE_POD_CREATED, "owner-alive",
		"no pod is created for a job that is gone, being deleted, suspended or finished",
		check_owner_alive },
	{ RULE_POD_CREATED, "owner-read",
		"before its first pod of an incarnation a manager has seen the job alive at the API server",
		check_owner_read },
	{ RULE_POD_CREATED, "one-per-index", "never two live pods of one index", check_one_per_index },
	{ RULE_POD_CREATED, "not-too-many", "never more pods than wanted", check_not_too_many },
	{ RULE_POD_CREATED, "old-gone", "no pod of an incarnation before all of the one before are gone",
		check_old_gone },
	{ RULE_POD_CREATED, "admitted", "no pod of a group that is not admitted", check_admitted },
	{ RULE_POD_CREATED, "minimum-first", "the minimum of every admitted job goes before anybody's extras",
		check_minimum_first },
	{ RULE_POD_CHANGED, "success-recorded",
		"a pod that has succeeded is let go only when its index is recorded",
		check_success_recorded },
	{ RULE_POD_CHANGED, "loss-recorded",
		"a pod that has failed is taken away only when its loss is recorded", check_loss_recorded },
	{ RULE_POD_CHANGED, "refused-is-no-loss", "a pod that its kubelet has refused is not counted",
		check_refused },
	{ RULE_POD_CHANGED, "no-needless-kill",
		"a healthy member of a working gang is never deleted by a manager", check_no_needless_kill },
};
const size_t n_rules_of_pods = KAR_LEN(rules_of_pods);
