/* The minimum of a gang that a quota refuses: all of its pods or none. */
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

void model_note_part(struct model_job *j)
{
	if (j->short_since && !holds_part(j))
		j->short_since = 0;
}

void model_note_short(struct model *l, struct model_job *j)
{
	if (!holds_part(j))
		return;
	if (!j->short_since)
		j->short_since = model_now(l);
}

/* A manager rolls back what it has when a create is refused. Before, it may try for a moment. */
static bool holds_too_long(const struct model *l, const struct model_job *j)
{
	const kar_time LONGEST = 45 * KAR_SECOND;

	return j->short_since && model_now(l) - j->short_since > LONGEST;
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
		model_note_part(j); /* this write may have completed it */
		if (holds_too_long(w->l, j) && !waits_for_a_name(j))
			model_break(w->l, r->name,
				"job %s/%s has held %d pods of its minimum of %d for %lld s, and a quota refuses the rest",
				j->ns, j->name, count_members(j), j->minimum,
				(long long)(model_now(w->l) - j->short_since) / KAR_SECOND);
	}
}

/* --- gates --------------------------------------------------------------------------------------------- */

static void check_not_gated(const struct rule *r, const struct write *w)
{
	if (w->job && w->by_manager && model_is_gated(w->c->new))
		model_break(w->l, r->name, "pod %s/%s of a job was created with our gate", w->c->ns,
			w->c->name);
}

const struct rule rules_of_quota[] = {
	{ RULE_POD_CREATED, "not-gated", "pods of a QueueJob are created where they may start",
		check_not_gated },
	{ RULE_POD_CREATED, "quota-hold",
		"a gang that a quota keeps from its minimum does not keep a part of it", check_hold },
	{ RULE_JOB_CHANGED, "quota-hold", "the same, when a status is written", check_hold },
};
const size_t n_rules_of_quota = KAR_LEN(rules_of_quota);
