/*
 * Which rule of spec.failurePolicy a loss falls under: the first that matches; if none does, the default is done. A pod that is
 * being deleted has not failed: its containers count only as far as they ended before that was asked for (struct kar_pod_loss).
 */
#include "controllers/queuejob/round.h"

#include "api/keep.h"

/* What takes the place of a reason for a pod that somebody deleted. */
#define DELETED "Deleted"

/* --- matchers ------------------------------------------------------------------------------------ */

static bool has_code(const struct kar_failure_rule *rule, int32_t code)
{
	for (size_t i = 0; i < rule->n_codes; i++) {
		if (rule->codes[i] == code)
			return true;
	}
	return false;
}

/* The exit of @pod that @rule asks for; NULL: there is none, or it asks for none. */
static const struct kar_pod_exit *find_exit(const struct kar_failure_rule *rule, const struct kar_pod *pod)
{
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);
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
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);

	if (!rule->reasons.n || kar_strings_have(&rule->reasons, loss->pod_reason) ||
		kar_strings_have(&rule->reasons, loss->disruption))
		return true;
	for (size_t i = 0; i < loss->n_exits; i++) {
		if (kar_strings_have(&rule->reasons, loss->exits[i].reason))
			return true;
	}
	return pod->deletion && !loss->disruption && kar_strings_have(&rule->reasons, DELETED);
}

static bool matches(const struct kar_failure_rule *rule, const struct kar_pod *pod, const char *task)
{
	return (!rule->tasks.n || kar_strings_have(&rule->tasks, task)) &&
		(rule->exit_operator == KAR_EXIT_ANY || find_exit(rule, pod)) &&
		meets_conditions(rule, kar_pod_loss_of(pod)) && meets_reasons(rule, pod);
}

static const struct kar_failure_rule *match(const struct kar_failure_policy *policy,
	const struct kar_pod *pod, const char *task)
{
	for (size_t i = 0; i < policy->n; i++) {
		if (matches(&policy->rules[i], pod, task))
			return &policy->rules[i];
	}
	return NULL;
}

/* --- the losses of a round ------------------------------------------------------------------------ */

/* The name tells the task; labels can be edited. */
static struct queuejob_judged judge(const struct queuejob_round *r, const struct kar_pod *pod)
{
	const struct kar_queuejob_spec *spec = &r->job->spec;
	struct queuejob_judged j = { 0 };
	int32_t index;

	if (kar_queuejob_pod_index(r->job, pod->o.name, &j.task, &index)) /* as each of t.lost */
		j.rule = match(&spec->failure_policy, pod, spec->tasks[j.task].name);
	return j;
}

void queuejob_judge_losses(struct queuejob_round *r)
{
	if (!r->job->spec.failure_policy.n || !r->t.lost.n)
		return;
	r->judged = kar_arena_alloc(r->arena, r->t.lost.n, sizeof(*r->judged));
	for (size_t i = 0; i < r->t.lost.n; i++) {
		r->judged[i] = judge(r, r->t.lost.items[i]);
		if (queuejob_loss_action(r, i) > r->verdict)
			r->verdict = queuejob_loss_action(r, i);
	}
}

const struct kar_failure_rule *queuejob_loss_rule(const struct queuejob_round *r, size_t i)
{
	return r->judged ? r->judged[i].rule : NULL;
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
	const struct kar_pod_exit *e = rule ? find_exit(rule, pod) : NULL;

	if (!rule)
		return what;
	if (e && e->code != kar_pod_loss_of(pod)->exit_code) /* that is the container which failed first */
		on = kar_arena_printf(r->arena, " on exit code %d of container %s", (int)e->code,
			e->container ? e->container : "?");
	return kar_arena_printf(r->arena, "%s; failurePolicy.rules[%zu] (%s)%s", what,
		(size_t)(rule - r->job->spec.failure_policy.rules), kar_failure_action_name(rule->action),
		on);
}
