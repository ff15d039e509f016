#include "controllers/queuejob/policy.h"

#include "api/keep.h"
#include "controllers/queuejob/round.h"

/* What takes the place of a reason for a pod that somebody deleted. */
#define DELETED "Deleted"

static const struct kar_pod_loss *loss_of(const struct kar_pod *pod)
{
	static const struct kar_pod_loss nothing_known = { 0 }; /* somebody took our labels off */

	return pod->job && pod->job->loss ? pod->job->loss : &nothing_known;
}

static bool is_one_of(const struct kar_array *names, const char *name)
{
	const char *const *items = names->items;

	for (size_t i = 0; name && i < names->n; i++) {
		if (kar_same(items[i], name))
			return true;
	}
	return false;
}

/* --- matchers ------------------------------------------------------------------------------------ */

/* The name tells the task; labels can be edited. */
static bool is_of_tasks(const struct kar_failure_rule *rule, const struct kar_queuejob *job,
	const struct kar_pod *pod)
{
	size_t task;
	int32_t index;

	return !rule->tasks.n ||
		(kar_queuejob_pod_index(job, pod->o.name, &task, &index) &&
			is_one_of(&rule->tasks, job->spec.tasks[task].name));
}

static bool has_code(const struct kar_failure_rule *rule, int32_t code)
{
	for (size_t i = 0; i < rule->n_codes; i++) {
		if (rule->codes[i] == code)
			return true;
	}
	return false;
}

const struct kar_pod_exit *queuejob_policy_exit(const struct kar_failure_rule *rule,
	const struct kar_pod *pod)
{
	const struct kar_pod_loss *loss = loss_of(pod);
	bool in = rule->exit_operator == KAR_EXIT_IN;

	if (!in && rule->exit_operator != KAR_EXIT_NOT_IN)
		return NULL;
	for (size_t i = 0; i < loss->n_exits; i++) {
		const struct kar_pod_exit *e = &loss->exits[i];

		if ((!rule->container || kar_same(rule->container, e->container)) &&
			has_code(rule, e->code) == in)
			return e;
	}
	return NULL;
}

static bool has_condition(const struct kar_pod_loss *loss, const struct kar_pod_condition *want)
{
	for (size_t i = 0; i < loss->n_conditions; i++) {
		if (kar_same(loss->conditions[i].type, want->type) &&
			kar_same(loss->conditions[i].status, want->status))
			return true;
	}
	return false;
}

static bool meets_conditions(const struct kar_failure_rule *rule, const struct kar_pod_loss *loss)
{
	const struct kar_pod_condition *want = rule->conditions.items;

	for (size_t i = 0; i < rule->conditions.n; i++) {
		if (has_condition(loss, &want[i]))
			return true;
	}
	return rule->conditions.n == 0;
}

static bool meets_reasons(const struct kar_failure_rule *rule, const struct kar_pod *pod)
{
	const struct kar_pod_loss *loss = loss_of(pod);

	if (!rule->reasons.n || is_one_of(&rule->reasons, loss->pod_reason) ||
		is_one_of(&rule->reasons, loss->disruption))
		return true;
	for (size_t i = 0; i < loss->n_exits; i++) {
		if (is_one_of(&rule->reasons, loss->exits[i].reason))
			return true;
	}
	return pod->deletion && !loss->disruption && is_one_of(&rule->reasons, DELETED);
}

static bool matches(const struct kar_failure_rule *rule, const struct kar_queuejob *job,
	const struct kar_pod *pod)
{
	return is_of_tasks(rule, job, pod) &&
		(rule->exit_operator == KAR_EXIT_ANY || queuejob_policy_exit(rule, pod)) &&
		meets_conditions(rule, loss_of(pod)) && meets_reasons(rule, pod);
}

const struct kar_failure_rule *queuejob_policy_match(const struct kar_queuejob *job,
	const struct kar_pod *pod)
{
	const struct kar_failure_policy *policy = &job->spec.failure_policy;

	for (size_t i = 0; i < policy->n; i++) {
		if (matches(&policy->rules[i], job, pod))
			return &policy->rules[i];
	}
	return NULL;
}

/* --- the losses of a round ------------------------------------------------------------------------ */

void queuejob_judge_losses(struct queuejob_round *r)
{
	if (!r->job->spec.failure_policy.n || !r->t.lost.n)
		return;
	r->rules = kar_arena_alloc(r->arena, r->t.lost.n, sizeof(const struct kar_failure_rule *));
	for (size_t i = 0; i < r->t.lost.n; i++) {
		r->rules[i] = queuejob_policy_match(r->job, r->t.lost.items[i]);
		if (queuejob_loss_action(r, i) > r->verdict)
			r->verdict = queuejob_loss_action(r, i);
	}
}

const struct kar_failure_rule *queuejob_loss_rule(const struct queuejob_round *r, size_t i)
{
	return r->rules ? r->rules[i] : NULL;
}

enum kar_failure_action queuejob_loss_action(const struct queuejob_round *r, size_t i)
{
	const struct kar_failure_rule *rule = queuejob_loss_rule(r, i);

	return rule ? rule->action : KAR_FAILURE_NONE;
}

const char *queuejob_describe_ruled(const struct queuejob_round *r, const struct kar_pod *pod,
	const struct kar_failure_rule *rule)
{
	const char *what = queuejob_describe_loss(r, pod), *on = "";
	const struct kar_pod_exit *e = rule ? queuejob_policy_exit(rule, pod) : NULL;

	if (!rule)
		return what;
	if (e && e->code != loss_of(pod)->exit_code) /* that is the container which failed first */
		on = kar_arena_printf(r->arena, " on exit code %d of container %s", (int)e->code,
			e->container ? e->container : "?");
	return kar_arena_printf(r->arena, "%s; failurePolicy.rules[%zu] (%s)%s", what,
		(size_t)(rule - r->job->spec.failure_policy.rules), kar_failure_action_name(rule->action),
		on);
}
