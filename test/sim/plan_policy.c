/*
 * Failure policies of the jobs of a plan (since version 4 of the drawing); they are drawn from a stream of their own.
 */
#include "test/sim/plan_stream.h"

static bool fails(const struct plan_task *t)
{
	return t->outcome == PLAN_FAIL || t->outcome == PLAN_OOM;
}

/* In the order in which they were drawn before there were others: plans of the regression list stay as they are. */
static const enum kar_failure_action drawn_actions[] = { KAR_FAILURE_IGNORE, KAR_FAILURE_RECREATE_POD,
	KAR_FAILURE_RESTART_TASK, KAR_FAILURE_RESTART_JOB, KAR_FAILURE_COMPLETE_JOB, KAR_FAILURE_FAIL_JOB };

/* Mostly one that will match: rules that never do prove little. */
static struct plan_rule draw_rule(struct draw *d, const struct plan_job *j)
{
	int task = between(d, 0, j->n_tasks - 1);
	const struct plan_task *t = &j->tasks[task];
	struct plan_rule r = {
		.action = drawn_actions[between(d, 1, (int)KAR_LEN(drawn_actions)) - 1],
		.task = chance(d, 40) ? task : PLAN_UNSET,
		.code = chance(d, 70) && t->exit_code ? t->exit_code : between(d, 1, 255),
	};

	if (chance(d, 40)) /* these two have the most to do */
		r.action = chance(d, 60) ? KAR_FAILURE_RESTART_TASK : KAR_FAILURE_RECREATE_POD;
	if (chance(d, 80))
		r.match = (enum plan_match)between(d, PLAN_EXIT_IN, PLAN_MATCHES - 1);
	if (r.match == PLAN_EXIT_NOT_IN && chance(d, 50))
		r.code = 0;
	return r;
}

static void draw_policy(struct draw *d, struct plan_job *j)
{
	bool ignores = false, failing = false;

	j->n_rules = between(d, 1, PLAN_RULES);
	for (int i = 0; i < j->n_rules; i++) {
		j->rules[i] = draw_rule(d, j);
		ignores |= j->rules[i].action == KAR_FAILURE_IGNORE;
	}
	for (int i = 0; i < j->n_tasks; i++) {
		failing |= fails(&j->tasks[i]);
		j->tasks[i].stops_well = chance(d, 30);
	}
	/* What fails for ever and is never counted has to end some day. */
	if (ignores && failing && j->deadline == PLAN_UNSET)
		j->deadline = between(d, 60, 1500);
}

void plan_draw_policies(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "policies") };
	int percent = chance(&d, 50) ? between(&d, 20, 80) : 10;

	for (size_t i = 0; i < p->n_jobs; i++) {
		if (chance(&d, percent))
			draw_policy(&d, &p->jobs[i]);
	}
}

bool plan_has_rule(const struct plan_job *j, enum kar_failure_action action)
{
	for (int i = 0; i < j->n_rules; i++) {
		if (j->rules[i].action == action)
			return true;
	}
	return false;
}

/* --- objects ------------------------------------------------------------------------------------------- */

static struct sim_value *list_of(struct sim_value *item)
{
	struct sim_value *list = sim_array();

	sim_append(&list, item);
	return list;
}

static void set_matcher(struct sim_value **v, const struct plan_rule *r)
{
	struct sim_value *condition;

	switch (r->match) {
	case PLAN_EXIT_IN:
	case PLAN_EXIT_NOT_IN:
		sim_set_text(v, r->match == PLAN_EXIT_IN ? "In" : "NotIn", "onExitCodes", "operator");
		sim_set(v, list_of(sim_int(r->code)), "onExitCodes", "values");
		break;
	case PLAN_DISRUPTED:
		condition = sim_object();
		sim_set_text(&condition, "DisruptionTarget", "type");
		sim_set(v, list_of(condition), "onPodConditions");
		break;
	case PLAN_DELETED:
		sim_set(v, list_of(sim_string("Deleted")), "onReasons");
		break;
	case PLAN_KILLED:
		sim_set(v, list_of(sim_string("OOMKilled")), "onReasons");
		break;
	default:
		break;
	}
}

struct sim_value *plan_rules_object(const struct plan_job *j)
{
	struct sim_value *rules = sim_array();

	for (int i = 0; i < j->n_rules; i++) {
		const struct plan_rule *r = &j->rules[i];
		struct sim_value *v = sim_object();

		sim_set_text(&v, kar_failure_action_name(r->action), "action");
		if (r->task != PLAN_UNSET)
			sim_set(&v, list_of(sim_string(plan_task_name(r->task))), "tasks");
		set_matcher(&v, r);
		sim_append(&rules, v);
	}
	return rules;
}
