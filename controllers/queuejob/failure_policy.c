/*
 * Matches losses against the rules of spec.failurePolicy. The first rule that matches applies; without one the default applies.
 * Exit codes of a pod that is being deleted count only if the container ended before the deletion was requested
 * (struct kar_pod_loss).
 */
#include "controllers/queuejob/reconcile.h"

#include "api/pod/pod_direct.h"
#include "common/base/str.h"

enum { SIGNAL_BASE = 128 }; /* exit code of a process that died of a signal */

/* The reason that a rule matches for a pod that a user or a program deleted. */
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

/* The exit of @pod that matches onExitCodes of @rule; NULL: none does, or the rule has no onExitCodes. */
static const struct kar_pod_exit *find_exit(const struct kar_failure_rule *rule, const struct kar_pod *pod)
{
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);
	bool in = rule->exit_operator == KAR_EXIT_IN;

	if (!in && rule->exit_operator != KAR_EXIT_NOT_IN)
		return NULL;
	for (size_t i = 0; i < loss->n_exits; i++) {
		const struct kar_pod_exit *e = &loss->exits[i];

		if ((!rule->container || kar_streq(rule->container, e->container)) &&
			has_code(rule, e->code) == in)
			return e;
	}
	return NULL;
}

static bool has_condition(const struct kar_pod_loss *loss, const struct kar_pod_condition *want)
{
	for (size_t i = 0; i < loss->n_conditions; i++) {
		if (kar_streq(loss->conditions[i].type, want->type) &&
			kar_streq(loss->conditions[i].status, want->status))
			return true;
	}
	return false;
}

static bool matches_conditions(const struct kar_failure_rule *rule, const struct kar_pod_loss *loss)
{
	const struct kar_pod_condition *want = rule->conditions.items;

	for (size_t i = 0; i < rule->conditions.n; i++) {
		if (has_condition(loss, &want[i]))
			return true;
	}
	return rule->conditions.n == 0;
}

static bool matches_reasons(const struct kar_failure_rule *rule, const struct kar_pod *pod)
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
		matches_conditions(rule, kar_pod_loss_of(pod)) && matches_reasons(rule, pod);
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

/* --- the losses of a sync -------------------------------------------------------------------------- */

/* Finds the task by the name of the pod, because labels can be edited. */
static struct queuejob_classified classify(const struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	const struct kar_queuejob_spec *spec = &r->f->job->spec;
	struct queuejob_classified c = { 0 };
	int32_t index;

	if (kar_queuejob_pod_index(r->f->job, pod->o.name, &c.task, &index)) /* true for every loss */
		c.rule = match(&spec->failure_policy, pod, spec->tasks[c.task].name);
	return c;
}

void queuejob_classify_losses(struct queuejob_reconcile *r)
{
	if (!r->f->job->spec.failure_policy.n || !r->loss.lost.n)
		return;
	r->loss.classified = kar_arena_alloc(r->arena, r->loss.lost.n, sizeof(*r->loss.classified));
	for (size_t i = 0; i < r->loss.lost.n; i++) {
		r->loss.classified[i] = classify(r, r->loss.lost.items[i]);
		if (queuejob_loss_action(r, i) > r->loss.action)
			r->loss.action = queuejob_loss_action(r, i);
	}
}

const struct kar_failure_rule *queuejob_loss_rule(const struct queuejob_reconcile *r, size_t i)
{
	return r->loss.classified ? r->loss.classified[i].rule : NULL;
}

enum kar_failure_action queuejob_loss_action(const struct queuejob_reconcile *r, size_t i)
{
	const struct kar_failure_rule *rule = queuejob_loss_rule(r, i);

	return rule ? rule->action : KAR_FAILURE_NONE;
}

/* --- messages -------------------------------------------------------------------------------------- */

const char *queuejob_describe_exit(const struct queuejob_reconcile *r, int32_t code, const char *reason,
	const char *words)
{
	const char *said = words ? kar_arena_printf(r->arena, ": %s", words) : "";

	if (code > SIGNAL_BASE)
		return kar_arena_printf(r->arena, "exit code %d (signal %d%s%s)%s", (int)code,
			(int)code - SIGNAL_BASE, reason ? ", " : "", reason ? reason : "", said);
	return kar_arena_printf(r->arena, "exit code %d%s%s%s%s", (int)code, reason ? " (" : "",
		reason ? reason : "", reason ? ")" : "", said);
}

static const char *describe_failure(const struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);
	const char *reason = loss->reason;

	if (!loss->exit_code)
		return kar_arena_printf(r->arena, "failed%s%s", reason ? ": " : "", reason ? reason : "");
	return kar_arena_printf(r->arena, "failed with %s",
		queuejob_describe_exit(r, loss->exit_code, reason, loss->words));
}

/* "Evicted", "EvictionByEvictionAPI"; NULL: unknown. */
static const char *why_disrupted(const struct kar_pod *pod)
{
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);

	return loss->pod_reason ? loss->pod_reason : loss->disruption ? loss->disruption : loss->reason;
}

const char *queuejob_describe_loss(const struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	const char *why = why_disrupted(pod);
	const char *what;

	if (kar_pod_is_refused(pod))
		what = kar_arena_printf(r->arena, "was refused by its kubelet: %s", why);
	else if (pod->disrupted)
		what = kar_arena_printf(r->arena, "%s%s%s",
			pod->phase == KAR_POD_FAILED ? "was disrupted"
						     : "is being deleted because of a disruption",
			why ? ": " : "", why ? why : "");
	else if (pod->deletion)
		what = "is being deleted";
	else
		what = describe_failure(r, pod);
	return kar_arena_printf(r->arena, "pod %s%s%s %s", pod->o.name, pod->node ? " on node " : "",
		pod->node ? pod->node : "", what);
}

const char *queuejob_describe_ruled(const struct queuejob_reconcile *r, const struct kar_pod *pod,
	const struct kar_failure_rule *rule)
{
	const char *what = queuejob_describe_loss(r, pod), *on = "";
	const struct kar_pod_exit *e = rule ? find_exit(rule, pod) : NULL;

	if (!rule)
		return what;
	if (e &&
		e->code !=
			kar_pod_loss_of(pod)
				->exit_code) /* the loss already shows the code of the first failure */
		on = kar_arena_printf(r->arena, " on exit code %d of container %s", (int)e->code,
			e->container ? e->container : "?");
	return kar_arena_printf(r->arena, "%s; failurePolicy.rules[%zu] (%s)%s", what,
		(size_t)(rule - r->f->job->spec.failure_policy.rules), kar_failure_action_name(rule->action),
		on);
}
