/* ResourceQuotas: the status belongs to admission and to the quota controller; scopes are for ever. */
#include <string.h>

#include "sim/apiserver/quantity.h"
#include "sim/apiserver/strategy_pod.h"

static void prepare(struct sim_write *w)
{
	if (w->old)
		sim_keep_old(w, "status");
	else
		sim_clear_status(w);
}

static void prepare_status(struct sim_write *w)
{
	sim_keep_old(w, "spec");
}

/* ---- names ---- */

static bool in_list(const char *name, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(name, *list))
			return true;
	}
	return false;
}

static const char *const counted[] = { "pods", "resourcequotas", "services", "replicationcontrollers",
	"secrets", "configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
	NULL };
static const char *const computed[] = { "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu",
	"requests.memory", NULL };
static const char *const stored[] = { "ephemeral-storage", "requests.storage", "requests.ephemeral-storage",
	"limits.ephemeral-storage", NULL };

static bool is_standard(const char *name)
{
	bool hugepages = !strncmp(name, "hugepages-", 10) || !strncmp(name, "requests.hugepages-", 19);

	return hugepages || in_list(name, counted) || in_list(name, computed) || in_list(name, stored);
}

static void check_name(struct sim_causes *c, const struct sim_at *at, const char *name)
{
	struct sim_value *value = sim_string(name);
	bool regular = sim_check_label_key(name).n == 0;

	if (!regular)
		sim_cause_grammar(c, at, value, sim_check_label_key);
	if (!strchr(name, '/') && !is_standard(name)) {
		if (regular && strcmp(name, "storage") != 0)
			sim_cause_invalid(c, at, value,
				"must be a standard resource type or fully qualified");
		sim_cause_invalid(c, at, value, "must be a standard resource for quota");
	}
	sim_unref(value);
}

static void check_amounts(struct sim_causes *c, const struct sim_at *at, const struct sim_value *list)
{
	for (struct sim_member m = sim_first(list); m.value; m = sim_next(m)) {
		struct kar_quantity q = sim_quantity_of(m.value);
		const struct sim_at *here = SIM_AT_KEY(at, m.key);
		bool whole = in_list(m.key, counted) ||
			(!sim_resource_is_native(m.key) && strncmp(m.key, "requests.", 9) != 0);

		check_name(c, here, m.key);
		if (q.nano < 0)
			sim_cause_invalid(c, here, m.value, "must be greater than or equal to 0");
		if (whole && kar_quantity_milli(&q) % 1000 != 0)
			sim_cause_invalid(c, here, m.value, "must be an integer");
	}
}

/* ---- scopes ---- */

static bool scope_fits(const char *scope, const struct sim_value *hard)
{
	bool best_effort = !strcmp(scope, "BestEffort");

	for (struct sim_member m = sim_first(hard); m.value; m = sim_next(m)) {
		if (!is_standard(m.key) || !strcmp(m.key, "pods"))
			continue;
		if (best_effort || !in_list(m.key, computed))
			return false;
	}
	return true;
}

static bool has(const struct sim_value *scopes, const char *scope)
{
	for (size_t i = 0; i < sim_count(scopes); i++) {
		if (!strcmp(sim_text_or(sim_item(scopes, i), ""), scope))
			return true;
	}
	return false;
}

static const char *const all_scopes[] = { "Terminating", "NotTerminating", "BestEffort", "NotBestEffort",
	"PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass", NULL };

static void check_scopes(struct sim_causes *c, const struct sim_at *up, const struct sim_value *spec)
{
	const struct sim_value *scopes = sim_member(spec, "scopes");
	const struct sim_at *at = SIM_AT(up, "scopes");

	for (size_t i = 0; i < sim_count(scopes); i++) {
		const char *scope = sim_text_or(sim_item(scopes, i), "");

		if (!in_list(scope, all_scopes))
			sim_cause_invalid(c, at, scopes, "unsupported scope");
		else if (!scope_fits(scope, sim_member(spec, "hard")))
			sim_cause_invalid(c, at, scopes, "unsupported scope applied to resource");
	}
	if ((has(scopes, "BestEffort") && has(scopes, "NotBestEffort")) ||
		(has(scopes, "Terminating") && has(scopes, "NotTerminating")))
		sim_cause_invalid(c, at, scopes, "conflicting scopes");
}

static void check_values(struct sim_causes *c, const struct sim_at *at, const struct sim_value *rule,
	const char *operator)
{
	static const char *const listed[] = { "In", "NotIn", NULL },
				 *const bare[] = { "Exists", "DoesNotExist", NULL };
	const struct sim_value *values = sim_member(rule, "values");

	if (in_list(operator, listed)) {
		if (sim_count(values) == 0)
			sim_cause_required_because(c, SIM_AT(at, "values"),
				"must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
	} else if (in_list(operator, bare)) {
		if (sim_count(values) > 0)
			sim_cause_invalid(c, SIM_AT(at, "values"), values,
				"must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
	} else {
		sim_cause_invalid(c, SIM_AT(at, "operator"), sim_member(rule, "operator"),
			"not a valid selector operator");
	}
}

static void check_rules(struct sim_causes *c, const struct sim_at *at, const struct sim_value *spec)
{
	static const char *const plain[] = { "BestEffort", "NotBestEffort", "Terminating", "NotTerminating",
		"CrossNamespacePodAffinity", NULL };
	const struct sim_value *rules = sim_get(spec, "scopeSelector", "matchExpressions");

	for (size_t i = 0; i < sim_count(rules); i++) {
		const struct sim_value *rule = sim_item(rules, i), *scope = sim_member(rule, "scopeName");
		const char *operator= sim_text_or(sim_member(rule, "operator"), "");

		if (!in_list(sim_text_or(scope, ""), all_scopes))
			sim_cause_invalid(c, SIM_AT(at, "scopeName"), scope, "unsupported scope");
		else if (!scope_fits(sim_text(scope), sim_member(spec, "hard")))
			sim_cause_invalid(c, at, sim_member(spec, "scopeSelector"),
				"unsupported scope applied to resource");
		if (in_list(sim_text_or(scope, ""), plain) && strcmp(operator, "Exists") != 0)
			sim_cause_invalid(c, SIM_AT(at, "operator"), sim_member(rule, "operator"),
				"must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
				"ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
				"ResourceQuotaScopeCrossNamespacePodAffinity");
		check_values(c, at, rule, operator);
	}
}

static void validate(struct sim_write *w)
{
	const struct sim_value *spec = sim_member(*w->new, "spec"), *scopes = sim_member(spec, "scopes");
	const struct sim_at *at = SIM_AT(NULL, "spec"), *status = SIM_AT(NULL, "status");

	if (sim_writes_status(w)) {
		check_amounts(&w->causes, SIM_AT(status, "hard"), sim_get(*w->new, "status", "hard"));
		check_amounts(&w->causes, SIM_AT(status, "used"), sim_get(*w->new, "status", "used"));
		return;
	}
	check_amounts(&w->causes, SIM_AT(at, "hard"), sim_member(spec, "hard"));
	check_scopes(&w->causes, at, spec);
	check_rules(&w->causes, SIM_AT(SIM_AT(at, "scopeSelector"), "matchExpressions"), spec);
	if (w->old && !sim_equal(sim_get(w->old, "spec", "scopes"), scopes))
		sim_cause_invalid(&w->causes, SIM_AT(at, "scopes"), scopes, "field is immutable");
}

const struct sim_strategy sim_strategy_quota = { .prepare = prepare,
	.prepare_status = prepare_status,
	.validate = validate };
