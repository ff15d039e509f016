#include "test/sim/policy.h"

#include <string.h>

#include "common/base/timefmt.h"

static bool is(const struct sim_value *v, const char *text)
{
	return strcmp(sim_text_or(v, ""), text) == 0;
}

static bool lists(const struct sim_value *list, const char *text)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		if (is(sim_item(list, i), text))
			return true;
	}
	return false;
}

static bool lists_number(const struct sim_value *list, int64_t n)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		if (sim_int_of(sim_item(list, i), n - 1) == n)
			return true;
	}
	return false;
}

/* --- containers ---------------------------------------------------------------------------------------- */

/* The moment from which on an end is the work of whoever deletes the pod; KAR_NEVER: nobody does. */
static kar_time told_to_stop(const struct sim_value *pod)
{
	const char *deletion = sim_get_text(pod, "metadata", "deletionTimestamp");
	kar_time at;

	if (!deletion || kar_time_parse(deletion, &at))
		return KAR_NEVER;
	return at - sim_get_int(pod, 0, "metadata", "deletionGracePeriodSeconds") * KAR_SECOND;
}

/* How a container failed, or NULL: it did not. */
static const struct sim_value *failure_of(const struct sim_value *pod, const struct sim_value *container)
{
	const struct sim_value *ended = sim_get(container, "state", "terminated");
	const char *at = sim_get_text(ended, "finishedAt");
	kar_time stopped = told_to_stop(pod), finished;

	if (!ended || sim_get_int(ended, 0, "exitCode") == 0)
		return NULL;
	if (stopped == KAR_NEVER)
		return ended;
	return at && kar_time_parse(at, &finished) == 0 && finished < stopped ? ended : NULL;
}

static bool exits_so(const struct sim_value *rule, const struct sim_value *failure)
{
	bool in = is(sim_get(rule, "onExitCodes", "operator"), "In");

	return lists_number(sim_get(rule, "onExitCodes", "values"), sim_get_int(failure, 0, "exitCode")) ==
		in;
}

static bool fails_for(const struct sim_value *rule, const struct sim_value *failure)
{
	return lists(sim_get(rule, "onReasons"), sim_text_or(sim_member(failure, "reason"), ""));
}

static bool any_failure(const struct sim_value *rule, const struct sim_value *pod,
	bool (*fn)(const struct sim_value *rule, const struct sim_value *failure))
{
	static const char *const lists_of[] = { "initContainerStatuses", "containerStatuses" };

	for (size_t k = 0; k < KAR_LEN(lists_of); k++) {
		const struct sim_value *list = sim_get(pod, "status", lists_of[k]);

		for (size_t i = 0; i < sim_count(list); i++) {
			const struct sim_value *failure = failure_of(pod, sim_item(list, i));

			if (failure && fn(rule, failure))
				return true;
		}
	}
	return false;
}

/* --- rules --------------------------------------------------------------------------------------------- */

static const struct sim_value *condition(const struct sim_value *pod, const char *type, const char *status)
{
	const struct sim_value *list = sim_get(pod, "status", "conditions");

	for (size_t i = 0; i < sim_count(list); i++) {
		const struct sim_value *c = sim_item(list, i);

		if (is(sim_member(c, "type"), type) && is(sim_member(c, "status"), status))
			return c;
	}
	return NULL;
}

static bool meets_conditions(const struct sim_value *rule, const struct sim_value *pod)
{
	const struct sim_value *list = sim_get(rule, "onPodConditions");

	for (size_t i = 0; i < sim_count(list); i++) {
		const struct sim_value *c = sim_item(list, i);

		if (condition(pod, sim_text_or(sim_member(c, "type"), ""),
			    sim_text_or(sim_member(c, "status"), "True")))
			return true;
	}
	return !list;
}

static bool meets_reasons(const struct sim_value *rule, const struct sim_value *pod)
{
	const struct sim_value *reasons = sim_get(rule, "onReasons");
	const struct sim_value *disruption = condition(pod, "DisruptionTarget", "True");

	if (!reasons || lists(reasons, sim_text_or(sim_get(pod, "status", "reason"), "")) ||
		any_failure(rule, pod, fails_for))
		return true;
	if (disruption)
		return lists(reasons, sim_text_or(sim_member(disruption, "reason"), ""));
	return told_to_stop(pod) != KAR_NEVER && lists(reasons, "Deleted");
}

static bool matches(const struct sim_value *rule, const struct sim_value *pod, const char *task)
{
	const struct sim_value *tasks = sim_get(rule, "tasks");

	return (!tasks || lists(tasks, task)) &&
		(!sim_get(rule, "onExitCodes") || any_failure(rule, pod, exits_so)) &&
		meets_conditions(rule, pod) && meets_reasons(rule, pod);
}

static bool does(const struct sim_value *rule, enum kar_failure_action action)
{
	return is(sim_member(rule, "action"), kar_failure_action_name(action));
}

enum kar_failure_action policy_action(const struct sim_value *job, const struct sim_value *pod,
	const char *task)
{
	const struct sim_value *rules = sim_get(job, "spec", "failurePolicy", "rules");
	size_t i = 0;
	int action = KAR_FAILURE_NONE;

	while (i < sim_count(rules) && !matches(sim_item(rules, i), pod, task))
		i++;
	if (i == sim_count(rules))
		return KAR_FAILURE_NONE;
	while (action < KAR_FAILURE_FAIL_JOB && !does(sim_item(rules, i), (enum kar_failure_action)action))
		action++;
	return (enum kar_failure_action)action;
}

bool policy_has(const struct sim_value *job, enum kar_failure_action action)
{
	const struct sim_value *rules = sim_get(job, "spec", "failurePolicy", "rules");

	for (size_t i = 0; i < sim_count(rules); i++) {
		if (does(sim_item(rules, i), action))
			return true;
	}
	return false;
}
