#include "api/queuejob/queuejob_policy.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "api/queuejob/queuejob_wire.h"

/* --- the JSON that is read --------------------------------------------------------------------------- */

struct wire_exit_codes {
	const char *container, *op;
	struct kar_str values; /* raw: [1,42] */
};

struct wire_pod_condition {
	const char *type, *status;
};

struct wire_rule {
	const char *action;
	struct kar_array tasks; /* const char * */
	const struct wire_exit_codes *exit_codes;
	struct kar_array conditions; /* struct wire_pod_condition */
	struct kar_array reasons;    /* const char * */
};

static const struct kar_field exit_codes_fields[] = {
	KAR_FIELD(struct wire_exit_codes, container, "containerName", KAR_F_STRING),
	KAR_FIELD(struct wire_exit_codes, op, "operator", KAR_F_STRING),
	KAR_FIELD(struct wire_exit_codes, values, "values", KAR_F_RAW),
};
static const struct kar_desc exit_codes_desc =
	KAR_DESC("ExitCodes", struct wire_exit_codes, exit_codes_fields);

static const struct kar_field condition_fields[] = {
	KAR_FIELD(struct wire_pod_condition, type, "type", KAR_F_STRING),
	KAR_FIELD(struct wire_pod_condition, status, "status", KAR_F_STRING),
};
static const struct kar_desc condition_desc =
	KAR_DESC("PodConditionPattern", struct wire_pod_condition, condition_fields);

static const struct kar_field rule_fields[] = {
	KAR_FIELD(struct wire_rule, action, "action", KAR_F_STRING),
	KAR_FIELD(struct wire_rule, tasks, "tasks", KAR_F_ARRAY),
	KAR_FIELD_SUB(struct wire_rule, exit_codes, "onExitCodes", KAR_F_OBJECT_PTR, &exit_codes_desc),
	KAR_FIELD_SUB(struct wire_rule, conditions, "onPodConditions", KAR_F_ARRAY, &condition_desc),
	KAR_FIELD(struct wire_rule, reasons, "onReasons", KAR_F_ARRAY),
};
static const struct kar_desc rule_desc = KAR_DESC("FailurePolicyRule", struct wire_rule, rule_fields);

static const struct kar_field policy_fields[] = {
	KAR_FIELD_SUB(struct kar_wire_failure_policy, rules, "rules", KAR_F_ARRAY, &rule_desc),
};
const struct kar_desc kar_failure_policy_desc =
	KAR_DESC("FailurePolicy", struct kar_wire_failure_policy, policy_fields);

/* --- from the wire to the cached object -------------------------------------------------------------- */

const char *kar_failure_action_name(enum kar_failure_action a)
{
	static const char *const names[] = {
		[KAR_FAILURE_NONE] = "",
		[KAR_FAILURE_IGNORE] = "Ignore",
		[KAR_FAILURE_RECREATE_POD] = "RecreatePod",
		[KAR_FAILURE_FAIL_INDEX] = "FailIndex",
		[KAR_FAILURE_RESTART_TASK] = "RestartTask",
		[KAR_FAILURE_RESTART_JOB] = "RestartJob",
		[KAR_FAILURE_COMPLETE_JOB] = "CompleteJob",
		[KAR_FAILURE_FAIL_JOB] = "FailJob",
	};

	return names[a];
}

static enum kar_failure_action action_of(const char *name)
{
	for (int a = KAR_FAILURE_IGNORE; name && a <= KAR_FAILURE_FAIL_JOB; a++) {
		if (strcmp(name, kar_failure_action_name((enum kar_failure_action)a)) == 0)
			return (enum kar_failure_action)a;
	}
	return KAR_FAILURE_NONE;
}

/* Integers, as the API server prints them. Any other text ends the list; an empty list is reported by the check. */
static size_t read_codes(struct kar_str raw, int32_t *codes, struct kar_arena *mem)
{
	const char *at = raw.n ? kar_arena_strndup(mem, raw.p, raw.n) : "";
	size_t n = 0;

	while (*at && n < KAR_EXIT_CODES_MAX) {
		char *end;
		long code;

		at += strspn(at, "[, \t\r\n");
		code = strtol(at, &end, 10);
		if (end == at || !strchr(",] \t\r\n", *end) || code < INT32_MIN || code > INT32_MAX)
			break;
		codes[n++] = (int32_t)code;
		at = end;
	}
	return n;
}

static void read_exit_codes(struct kar_failure_rule *rule, const struct wire_exit_codes *w,
	struct kar_arena *mem)
{
	int32_t *codes = kar_arena_alloc(mem, KAR_EXIT_CODES_MAX, sizeof(*codes));

	rule->exit_operator = kar_streq(w->op, "In") ? KAR_EXIT_IN
		: kar_streq(w->op, "NotIn")          ? KAR_EXIT_NOT_IN
						     : KAR_EXIT_UNKNOWN;
	rule->container = kar_has_text(w->container) ? kar_copy_fit(mem, w->container, KAR_COPY_VALUE) : NULL;
	rule->n_codes = read_codes(w->values, codes, mem);
	rule->codes = codes;
}

static struct kar_array read_conditions(const struct kar_array *wire, struct kar_arena *mem)
{
	const struct wire_pod_condition *w = wire->items;
	struct kar_pod_condition *to = kar_arena_alloc(mem, wire->n, sizeof(*to));

	for (size_t i = 0; i < wire->n; i++)
		to[i] = (struct kar_pod_condition){ .type = w[i].type
				? kar_copy_fit(mem, w[i].type, KAR_COPY_KEY)
				: "",
			.status = w[i].status && w[i].status[0]
				? kar_copy_fit(mem, w[i].status, KAR_COPY_VALUE)
				: "True" };
	return (struct kar_array){ .items = to, .n = wire->n };
}

struct kar_failure_policy kar_failure_policy_read(const struct kar_wire_failure_policy *wire,
	struct kar_arena *mem)
{
	const struct wire_rule *w = wire->rules.items;
	size_t n = wire->rules.n < KAR_FAILURE_RULES_MAX ? wire->rules.n : KAR_FAILURE_RULES_MAX;
	struct kar_failure_rule *rules = kar_arena_alloc(mem, n, sizeof(*rules));

	for (size_t i = 0; i < n; i++) {
		rules[i] = (struct kar_failure_rule){ .action = action_of(w[i].action),
			.tasks = kar_copy_strings(mem, &w[i].tasks),
			.conditions = read_conditions(&w[i].conditions, mem),
			.reasons = kar_copy_strings(mem, &w[i].reasons) };
		if (w[i].exit_codes)
			read_exit_codes(&rules[i], w[i].exit_codes, mem);
	}
	return (struct kar_failure_policy){ .rules = rules, .n = n };
}

/* --- the check ---------------------------------------------------------------------------------------- */

static const char *check_exit_codes(struct kar_queuejob *job, size_t number, const struct kar_failure_rule *r)
{
	if (r->exit_operator == KAR_EXIT_UNKNOWN)
		return kar_arena_printf(&job->mem,
			"failurePolicy.rules[%zu].onExitCodes.operator is neither In nor NotIn", number);
	if (r->exit_operator != KAR_EXIT_ANY && !r->n_codes)
		return kar_arena_printf(&job->mem,
			"failurePolicy.rules[%zu].onExitCodes.values contains no exit code", number);
	for (size_t i = 0; r->exit_operator == KAR_EXIT_IN && i < r->n_codes; i++) {
		if (r->codes[i] == 0)
			return kar_arena_printf(&job->mem,
				"failurePolicy.rules[%zu].onExitCodes.values contains 0, which is not a failure",
				number);
	}
	return NULL;
}

static const char *check_rule(struct kar_queuejob *job, size_t number)
{
	const struct kar_failure_rule *r = &job->spec.failure_policy.rules[number];
	const char *const *tasks = r->tasks.items;

	if (r->action == KAR_FAILURE_NONE)
		return kar_arena_printf(&job->mem, "failurePolicy.rules[%zu].action is unknown", number);
	if (r->action == KAR_FAILURE_FAIL_INDEX && !job->spec.per_index)
		return kar_arena_printf(&job->mem,
			"failurePolicy.rules[%zu].action FailIndex needs backoffLimitPerIndex", number);
	for (size_t i = 0; i < r->tasks.n; i++) {
		if (kar_queuejob_find_task(&job->spec, tasks[i]) == KAR_NO_TASK)
			return kar_arena_printf(&job->mem,
				"failurePolicy.rules[%zu].tasks names %s, which is not a task of this job",
				number, tasks[i]);
	}
	return check_exit_codes(job, number, r);
}

const char *kar_failure_policy_check(struct kar_queuejob *job)
{
	const char *problem = NULL;

	for (size_t i = 0; i < job->spec.failure_policy.n && !problem; i++)
		problem = check_rule(job, i);
	return problem;
}
