/* The minimum of a gang under a quota: all of its pods or none. */
#include <string.h>

#include "api/names.h"
#include "test/sim/rules.h"

bool model_is_gated(const struct sim_value *pod)
{
	const struct sim_value *gates = sim_get(pod, "spec", "schedulingGates");

	for (size_t i = 0; i < sim_count(gates); i++) {
		if (strcmp(sim_text_or(sim_member(sim_item(gates, i), "name"), ""), KAR_GATE) == 0)
			return true;
	}
	return false;
}

static bool is_member(const struct model_pod *p)
{
	return !p->failed && !p->deleting && !p->succeeded;
}

/* Indexes that have succeeded once, and pods that may. In another incarnation the former count no more: it is at least so many. */
static int count_members(const struct model_job *j)
{
	const struct model_pod *p;
	int n = 0;

	TAILQ_FOREACH(p, &j->pods, of_job)
		n += is_member(p);
	for (int i = 0; i < j->n_tasks; i++) {
		for (int k = 0; k < j->tasks[i].replicas.now && k < MODEL_INDEXES; k++)
			n += j->tasks[i].succeeded[k];
	}
	return n;
}

static bool has_gated(const struct model *l, const struct model_job *j)
{
	const struct model_pod *p;

	TAILQ_FOREACH(p, &j->pods, of_job) {
		if (is_member(p) && model_is_gated(sim_apiserver_peek(l->server, "", "pods", p->ns, p->name)))
			return true;
	}
	return false;
}

/* --- let go too early ---------------------------------------------------------------------------------- */

static bool was_changed_of_late(const struct write *w)
{
	kar_time then = model_horizon(w->l);

	return w->job->spec_edited >= then || w->job->fewer >= then || w->job->ordered ||
		w->job->pods_edited || w->job->status_edited;
}

static void check_let_go(const struct rule *r, const struct write *w)
{
	if (!w->job || !w->by_manager || !w->c->new || !model_is_gated(w->c->old) ||
		model_is_gated(w->c->new) || was_changed_of_late(w))
		return;
	if (count_members(w->job) < w->job->minimum)
		model_break(w->l, r->name, "pod %s/%s is let go when %d of the %d pods of the minimum exist",
			w->c->ns, w->c->name, count_members(w->job), w->job->minimum);
}

static bool has_quota(const struct model *l, const struct model_job *j)
{
	return sim_apiserver_peek(l->server, "", "resourcequotas", j->ns, "quota") != NULL;
}

/* In a minimum that is being created gated, only the last one may lack the gate; without a quota none needs it any more. */
static void check_gated_together(const struct rule *r, const struct write *w)
{
	int missing;

	if (!w->job || !w->by_manager || model_is_gated(w->c->new) || was_changed_of_late(w) ||
		!has_gated(w->l, w->job) || !has_quota(w->l, w->job))
		return;
	missing = w->job->minimum - count_members(w->job);
	if (missing > 1)
		model_break(w->l, r->name,
			"pod %s/%s was created without our gate while %d of the minimum of %d are missing, and others wait",
			w->c->ns, w->c->name, missing, w->job->minimum);
}

/* --- a part is held ------------------------------------------------------------------------------------ */

static bool has_formed(const struct model_job *j, int incarnation)
{
	return j->up_incarnation == incarnation && j->most_up >= j->minimum;
}

static int count_done(const struct model_job *j, int incarnation)
{
	int n = 0;

	for (int i = 0; i < j->n_tasks; i++)
		n += model_count_done(j, &j->tasks[i], incarnation);
	return n;
}

/*
 * Some of the pods of a minimum that has never been up, and whose job has nothing to wait for but room. The first failure is
 * answered without back-off. Work that is done is not thrown away for room.
 */
static bool holds_part(const struct model_job *j)
{
	const struct model_pod *p = TAILQ_LAST(&j->pods, model_pod_list);
	int members = count_members(j);
	bool waits = j->gone || j->deleting || j->suspended || j->finished || !j->admitted;
	bool plain = !j->ordered && j->failures <= 1 && j->spec_edited == j->created && !j->status_edited &&
		!j->pods_edited && !j->invalid;

	return p && !waits && plain && members > 0 && members < j->minimum &&
		!has_formed(j, p->incarnation) && !count_done(j, p->incarnation);
}

void model_note_part(const struct model *l, struct model_job *j)
{
	if (j->short_since && !holds_part(j))
		j->short_since = 0;
	if (j->gated_since && (!j->short_since || !has_gated(l, j)))
		j->gated_since = 0;
}

void model_note_short(struct model *l, struct model_job *j)
{
	if (!holds_part(j))
		return;
	if (!j->short_since)
		j->short_since = model_now(l);
	if (!j->gated_since && has_gated(l, j))
		j->gated_since = model_now(l);
}

/* A manager gives back at once what has never run, and what may have after a while. */
static bool holds_too_long(const struct model *l, const struct model_job *j)
{
	const kar_time GATED = 10 * KAR_SECOND, LET_GO = 150 * KAR_SECOND;

	return (j->short_since && model_now(l) - j->short_since > LET_GO) ||
		(j->gated_since && model_now(l) - j->gated_since > GATED);
}

/* Then it is not the quota alone that keeps it from being whole. */
static bool waits_for_a_name(const struct model_job *j)
{
	const struct model_pod *p;

	TAILQ_FOREACH(p, &j->pods, of_job) {
		if (p->deleting)
			return true;
	}
	return false;
}

static void check_hold(const struct rule *r, const struct write *w)
{
	struct model_job *j;

	if (!w->l->faultless || w->l->squatted)
		return;
	TAILQ_FOREACH(j, &w->l->present, in_present) {
		model_note_part(w->l, j); /* this write may have completed it */
		if (holds_too_long(w->l, j) && !waits_for_a_name(j))
			model_break(w->l, r->name,
				"job %s/%s has held %d pods of its minimum of %d for %lld s, and a quota refuses the rest",
				j->ns, j->name, count_members(j), j->minimum,
				(long long)(model_now(w->l) - j->short_since) / KAR_SECOND);
	}
}

/* --- at rest ------------------------------------------------------------------------------------------- */

void rules_check_gates_at_rest(struct model *l, const struct model_job *j, int members, int quorum)
{
	const struct model_pod *p;

	TAILQ_FOREACH(p, &j->pods, of_job) {
		const struct sim_value *pod = sim_apiserver_peek(l->server, "", "pods", p->ns, p->name);

		if (is_member(p) && model_is_gated(pod) && members >= quorum)
			model_break(l, "gate-left",
				"pod %s/%s still has our gate, and the minimum of %d pods exists", p->ns,
				p->name, quorum);
	}
}

const struct rule rules_of_quota[] = {
	{ RULE_POD_CHANGED, "gated-not-run", "no pod of a minimum may be scheduled before all of it exists",
		check_let_go },
	{ RULE_POD_CREATED, "gated-together",
		"while some of a minimum wait for the others, none but the last is created without our gate",
		check_gated_together },
	{ RULE_POD_CREATED, "quota-hold",
		"a gang that a quota keeps from its minimum does not keep a part of it", check_hold },
	{ RULE_JOB_CHANGED, "quota-hold", "the same, when a status is written", check_hold },
};
const size_t n_rules_of_quota = KAR_LEN(rules_of_quota);
