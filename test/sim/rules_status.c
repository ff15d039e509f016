/* What a status may say. */
#include <string.h>

#include "api/status/intervals.h"
#include "common/base/str.h"
#include "api/status/reasons.h"
#include "common/base/mem.h"
#include "test/sim/policy.h"
#include "test/sim/rules.h"

/* A status write of a manager that changes an existing status, on a job whose status no person has touched. */
static bool is_ours(const struct write *w)
{
	return w->by_manager && w->c->old && w->c->new && !w->job->status_edited;
}

static int number(const struct sim_value *object, const char *field)
{
	return (int)sim_get_int(object, 0, "status", field);
}

static void check_terminal_sticky(const struct rule *r, const struct write *w)
{
	enum kar_qj_phase was = model_phase(w->c->old), is = model_phase(w->c->new);

	if (is_ours(w) && kar_qj_phase_terminal(was) && is != was)
		model_break(w->l, r->name, "job %s/%s was %s and is %s", w->c->ns, w->c->name,
			kar_qj_phase_name(was), kar_qj_phase_name(is));
}

static int64_t observed(const struct sim_value *job)
{
	return sim_get_int(job, 0, "status", "observedGeneration");
}

/* A task that waits for nothing any more: an edit has let it, perhaps while the API server refused the templates. */
static bool starts_by_edit(const struct write *w)
{
	for (int i = 0; i < w->job->n_tasks; i++) {
		const struct model_task *t = &w->job->tasks[i];

		if (!t->n_after && rules_task_waits(w->c->old, t->name) &&
			!rules_task_waits(w->c->new, t->name))
			return true;
	}
	return false;
}

static void check_no_way_back(const struct rule *r, const struct write *w)
{
	bool back = model_phase(w->c->old) == KAR_QJ_PHASE_RUNNING &&
		model_phase(w->c->new) == KAR_QJ_PHASE_STARTING;
	/* Rules that replace pods in a gang that needs them. */
	bool spared = sim_get(w->c->new, "spec", "backoffLimitPerIndex") ||
		policy_has(w->c->new, KAR_FAILURE_RESTART_TASK) ||
		policy_has(w->c->new, KAR_FAILURE_RECREATE_POD);

	if (is_ours(w) && back && !spared && observed(w->c->old) == observed(w->c->new) && !starts_by_edit(w))
		model_break(w->l, r->name, "job %s/%s was Running and is Starting", w->c->ns, w->c->name);
}

/* The phases that may follow each other, as docs/design/queuejob.md has them. A first start is recorded late. */
static bool may_follow(enum kar_qj_phase old, enum kar_qj_phase new)
{
	switch (old) {
	case KAR_QJ_PHASE_NONE:
	case KAR_QJ_PHASE_PENDING:
		return new != KAR_QJ_PHASE_NONE;
	case KAR_QJ_PHASE_STARTING:
		return new != KAR_QJ_PHASE_NONE;
	case KAR_QJ_PHASE_RUNNING:
		return new != KAR_QJ_PHASE_NONE &&new != KAR_QJ_PHASE_PENDING;
	case KAR_QJ_PHASE_RESTARTING:
		return new != KAR_QJ_PHASE_NONE &&new != KAR_QJ_PHASE_RUNNING;
	case KAR_QJ_PHASE_SUSPENDED:
		return new == old || new == KAR_QJ_PHASE_PENDING || kar_qj_phase_terminal(new);
	default:
		return new == old;
	}
}

static void check_moves(const struct rule *r, const struct write *w)
{
	enum kar_qj_phase old = model_phase(w->c->old), new = model_phase(w->c->new);

	/* The first status was lost in a crash, and the cache that saw no pods was behind: its pods are found when it is resumed. */
	bool unrecorded = old == KAR_QJ_PHASE_SUSPENDED &&
		new == KAR_QJ_PHASE_STARTING &&number(w->c->old, "incarnation") == 0;

	if (is_ours(w) && !w->job->status_edited && !may_follow(old, new) && !unrecorded)
		model_break(w->l, r->name, "job %s/%s was %s and is %s", w->c->ns, w->c->name,
			kar_qj_phase_name(old), kar_qj_phase_name(new));
}

static void check_limit(const struct rule *r, const struct write *w)
{
	enum { DEFAULT_LIMIT = 6 };
	int limit = (int)sim_get_int(w->c->new, DEFAULT_LIMIT, "spec", "backoffLimit");

	/* With a limit that the manager has seen; what is suspended fails when it is resumed. */
	if (is_ours(w) && !sim_get(w->c->new, "spec", "backoffLimitPerIndex") &&
		model_phase(w->c->new) != KAR_QJ_PHASE_SUSPENDED &&
		observed(w->c->new) == sim_get_int(w->c->new, 0, "metadata", "generation") &&
		number(w->c->new, "podFailures") > limit && !kar_qj_phase_terminal(model_phase(w->c->new)))
		model_break(w->l, r->name, "job %s/%s goes on after %d failures, backoffLimit is %d",
			w->c->ns, w->c->name, number(w->c->new, "podFailures"), limit);
}

/* --- succeeded indexes --------------------------------------------------------------------------------- */

static struct kar_intervals indexes(const struct sim_value *job, const char *task, struct kar_arena *arena)
{
	struct kar_intervals set = { 0 };

	if (kar_intervals_parse(sim_text_or(sim_member(rules_task_status(job, task), "succeededIndexes"), ""),
		    arena, &set))
		return (struct kar_intervals){ 0 };
	return set;
}

/* Calls @fn for each succeeded index of each task of the job, as @of has them, until it is false. */
static void each_index(const struct write *w, const struct sim_value *of, struct kar_arena *arena,
	bool (*fn)(const struct rule *r, const struct write *w, struct model_task *t, int index),
	const struct rule *r)
{
	for (int i = 0; i < w->job->n_tasks; i++) {
		struct kar_intervals set = indexes(of, w->job->tasks[i].name, arena);

		for (size_t k = 0; k < set.n; k++) {
			for (int n = set.items[k].first; n <= set.items[k].last; n++) {
				if (!fn(r, w, &w->job->tasks[i], n))
					return;
			}
		}
	}
}

static bool must_still_be(const struct rule *r, const struct write *w, struct model_task *t, int index)
{
	struct kar_arena arena = { 0 };
	struct kar_intervals now = indexes(w->c->new, t->name, &arena);
	bool there = kar_intervals_has(&now, index);

	kar_arena_release(&arena);
	if (there || index >= setting_min(&t->replicas, model_horizon(w->l)))
		return true;
	model_break(w->l, r->name, "job %s/%s: index %s-%d had succeeded and is forgotten", w->c->ns,
		w->c->name, t->name, index);
	return false;
}

static bool gives_up_incarnation(const struct write *w)
{
	enum kar_qj_phase was = model_phase(w->c->old), is = model_phase(w->c->new);

	/* Templates that were changed while the job was suspended start from nothing. */
	return is == KAR_QJ_PHASE_RESTARTING || was == KAR_QJ_PHASE_RESTARTING ||
		(was == KAR_QJ_PHASE_PENDING && w->job->template_changed) ||
		(is == KAR_QJ_PHASE_PENDING && w->job->template_changed);
}

static void check_success_kept(const struct rule *r, const struct write *w)
{
	struct kar_arena arena = { 0 };

	if (!is_ours(w) || gives_up_incarnation(w) ||
		sim_get(w->c->old, "status") == sim_get(w->c->new, "status"))
		return;
	each_index(w, w->c->old, &arena, must_still_be, r);
	kar_arena_release(&arena);
}

static bool must_have_been(const struct rule *r, const struct write *w, struct model_task *t, int index)
{
	if (index < MODEL_INDEXES && t->succeeded[index])
		return true;
	model_break(w->l, r->name, "job %s/%s: index %s-%d is recorded as succeeded, but no pod of it has",
		w->c->ns, w->c->name, t->name, index);
	return false;
}

static void check_success_real(const struct rule *r, const struct write *w)
{
	struct kar_arena arena = { 0 };

	if (!is_ours(w) || number(w->c->old, "succeeded") == number(w->c->new, "succeeded"))
		return;
	each_index(w, w->c->new, &arena, must_have_been, r);
	kar_arena_release(&arena);
}

/* --- restarts, losses ---------------------------------------------------------------------------------- */

static void check_restart_once(const struct rule *r, const struct write *w)
{
	int more = number(w->c->new, "restarts") - number(w->c->old, "restarts");

	if (!is_ours(w) || !more)
		return;
	if (more != 1 || model_phase(w->c->new) != KAR_QJ_PHASE_RESTARTING)
		model_break(w->l, r->name, "job %s/%s: restarts grew by %d in phase %s", w->c->ns, w->c->name,
			more, kar_qj_phase_name(model_phase(w->c->new)));
	else if (w->job->restarts_here)
		model_break(w->l, r->name, "job %s/%s: incarnation %d was restarted twice", w->c->ns,
			w->c->name, w->job->incarnation);
}

static void check_formed(const struct rule *r, const struct write *w)
{
	int formed = (int)sim_get_int(w->c->new, 0, "status", "record", "formedMinAvailable"),
	    was = (int)sim_get_int(w->c->old, 0, "status", "record", "formedMinAvailable");

	/* A smaller quorum holds where a larger one held. */
	if (is_ours(w) && !w->job->pods_edited && formed > was && formed > w->job->most_up)
		model_break(w->l, r->name,
			"job %s/%s has formed with a quorum of %d, but never more than %d pods were up",
			w->c->ns, w->c->name, formed, w->job->most_up);
}

static void check_restart_cause(const struct rule *r, const struct write *w)
{
	int incarnation = number(w->c->new, "incarnation");

	if (is_ours(w) && !w->job->pods_edited &&
		number(w->c->new, "restarts") > number(w->c->old, "restarts") &&
		w->job->last_loss < incarnation)
		model_break(w->l, r->name, "job %s/%s is restarted, but no pod of incarnation %d was lost",
			w->c->ns, w->c->name, incarnation);
}

static void check_incarnation(const struct rule *r, const struct write *w)
{
	int more = number(w->c->new, "incarnation") - number(w->c->old, "incarnation");

	/* A first start that is not recorded is found by its pods, whose labels a person may have changed. */
	if (is_ours(w) && (more < 0 || (more > 1 && number(w->c->old, "incarnation") > 0)))
		model_break(w->l, r->name, "job %s/%s: incarnation %d follows %d", w->c->ns, w->c->name,
			number(w->c->new, "incarnation"), number(w->c->old, "incarnation"));
}

static void check_old_gone(const struct rule *r, const struct write *w)
{
	const struct model_pod *p;

	if (!is_ours(w) || number(w->c->new, "incarnation") == number(w->c->old, "incarnation"))
		return;
	/* A first start that is not recorded, again: nothing is known of it but the labels. */
	if (!number(w->c->old, "incarnation") && w->job->pods_edited)
		return;
	TAILQ_FOREACH(p, &w->job->pods, of_job) {
		bool may_stay = p->succeeded && (w->job->keeps_done || w->job->status_edited);

		if (p->incarnation < number(w->c->new, "incarnation") && !may_stay && !p->tampered &&
			p->created < model_horizon(w->l))
			model_break(w->l, r->name, "job %s/%s starts incarnation %d while pod %s exists",
				w->c->ns, w->c->name, number(w->c->new, "incarnation"), p->name);
	}
}

static void check_counted_once(const struct rule *r, const struct write *w)
{
	int failures = number(w->c->new, "podFailures"), disruptions = number(w->c->new, "disruptions");

	if (!is_ours(w))
		return;
	if (failures > w->job->failures)
		model_break(w->l, r->name, "job %s/%s counts %d failures, but only %d pods have failed",
			w->c->ns, w->c->name, failures, w->job->failures);
	else if (disruptions > w->job->losses + number(w->c->new, "restarts"))
		model_break(w->l, r->name, "job %s/%s counts %d disruptions, but only %d pods were lost",
			w->c->ns, w->c->name, disruptions, w->job->losses);
}

/* --- conditions ---------------------------------------------------------------------------------------- */

static bool same(const struct sim_value *a, const struct sim_value *b, const char *member)
{
	return strcmp(sim_text_or(sim_member(a, member), ""), sim_text_or(sim_member(b, member), "")) == 0;
}

/* The admission of another queue ends, and a new one begins. */
static bool is_admitted_anew(const struct write *w, const struct sim_value *condition)
{
	return strcmp(sim_text_or(sim_member(condition, "type"), ""), "Admitted") == 0 &&
		!sim_equal(sim_get(w->c->old, "status", "admittedQueue"),
			sim_get(w->c->new, "status", "admittedQueue"));
}

static void check_transitions(const struct rule *r, const struct write *w)
{
	const struct sim_value *list = sim_get(w->c->new, "status", "conditions");

	if (!w->by_manager || list == sim_get(w->c->old, "status", "conditions"))
		return;
	for (size_t i = 0; i < sim_count(list); i++) {
		const struct sim_value *is = sim_item(list, i);
		const struct sim_value *was =
			model_condition(w->c->old, sim_text_or(sim_member(is, "type"), ""));

		if (was && same(was, is, "status") && !same(was, is, "lastTransitionTime") &&
			!is_admitted_anew(w, is))
			model_break(w->l, r->name,
				"%s %s/%s: lastTransitionTime of condition %s moved, its status did not",
				w->c->resource, w->c->ns ? w->c->ns : "", w->c->name,
				sim_text_or(sim_member(is, "type"), ""));
	}
}

/* --- a status that was edited --------------------------------------------------------------------------- */

static void check_edited(const struct rule *r, const struct write *w)
{
	/* A pod of templates that are specified again by now tells that these are the ones that run. */
	if (w->by_manager && !w->job->status_edited && !w->job->other_template &&
		kar_streq(sim_get_text(w->c->new, "reason"), kar_reason_StatusEdited))
		model_break(w->l, r->name, "job %s/%s: nobody has edited its status, but %s", w->job->ns,
			w->job->name, sim_text_or(sim_get(w->c->new, "message"), ""));
}

const struct rule rules_of_status[] = {
	{ RULE_JOB_CHANGED, "terminal-sticky", "Completed and Failed are final", check_terminal_sticky },
	{ RULE_JOB_CHANGED, "no-way-back", "a gang that runs restarts when it falls below its quorum",
		check_no_way_back },
	{ RULE_JOB_CHANGED, "moves", "phases follow each other as in the table of moves", check_moves },
	{ RULE_JOB_CHANGED, "limit", "more failures than backoffLimit end a job", check_limit },
	{ RULE_JOB_CHANGED, "success-kept", "an index that has succeeded stays so within its incarnation",
		check_success_kept },
	{ RULE_JOB_CHANGED, "success-real",
		"an index is recorded as succeeded only if a pod of it has succeeded", check_success_real },
	{ RULE_JOB_CHANGED, "restart-once", "at most one restart per incarnation", check_restart_once },
	{ RULE_JOB_CHANGED, "restart-cause", "a gang that has lost no pod is not restarted",
		check_restart_cause },
	{ RULE_JOB_CHANGED, "formed", "a gang has formed only if its quorum was up at once", check_formed },
	{ RULE_JOB_CHANGED, "incarnation-grows", "incarnations follow each other one by one",
		check_incarnation },
	{ RULE_JOB_CHANGED, "old-gone-first",
		"an incarnation starts when all pods of the one before are gone", check_old_gone },
	{ RULE_JOB_CHANGED, "counted-once", "no loss is counted twice", check_counted_once },
	{ RULE_JOB_CHANGED, "transitions", "lastTransitionTime moves only with the status of the condition",
		check_transitions },
	{ RULE_EVENT_WRITTEN, "status-edited",
		"StatusEdited is reported only of a status that another client has edited", check_edited },
	{ RULE_GROUP_CHANGED, "group-transitions", "the same for PodGroups", check_transitions },
};
const size_t n_rules_of_status = KAR_LEN(rules_of_status);
