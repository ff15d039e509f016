/* Validation of v1.Affinity (pkg/apis/core/validation). */
#include <string.h>

#include "sim/apiserver/strategy_pod.h"

static bool is_one_of(const char *text, const char *a, const char *b)
{
	return !strcmp(text, a) || !strcmp(text, b);
}

static void check_operator(struct sim_causes *c, const struct sim_at *at, const struct sim_value *rule)
{
	const char *operator= sim_text_or(sim_member(rule, "operator"), "");
	size_t n = sim_count(sim_member(rule, "values"));

	if (is_one_of(operator, "In", "NotIn")) {
		if (n == 0)
			sim_cause_required_because(c, SIM_AT(at, "values"),
				"must be specified when `operator` is 'In' or 'NotIn'");
	} else if (is_one_of(operator, "Exists", "DoesNotExist")) {
		if (n > 0)
			sim_cause_forbidden(c, SIM_AT(at, "values"),
				"may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
	} else if (is_one_of(operator, "Gt", "Lt")) {
		if (n != 1)
			sim_cause_required_because(c, SIM_AT(at, "values"),
				"must be specified single value when `operator` is 'Lt' or 'Gt'");
	} else {
		sim_cause_invalid(c, SIM_AT(at, "operator"), sim_member(rule, "operator"),
			"not a valid selector operator");
	}
}

/* @required: values must be label values; preferences may name any. */
static void check_rule(struct sim_causes *c, const struct sim_at *at, const struct sim_value *rule,
	bool required)
{
	const struct sim_value *values = sim_member(rule, "values");
	const struct sim_at *here = SIM_AT(at, "values");

	check_operator(c, at, rule);
	sim_cause_grammar(c, SIM_AT(at, "key"), sim_member(rule, "key"), sim_check_label_key);
	for (size_t i = 0; required && i < sim_count(values); i++)
		sim_cause_grammar(c, SIM_AT_ITEM(here, i), sim_item(values, i), sim_check_label_value);
}

static void check_field_rule(struct sim_causes *c, const struct sim_at *at, const struct sim_value *rule)
{
	const char *operator= sim_text_or(sim_member(rule, "operator"), "");

	if (!is_one_of(operator, "In", "NotIn"))
		sim_cause_invalid(c, SIM_AT(at, "operator"), sim_member(rule, "operator"),
			"not a valid selector operator");
	else if (sim_count(sim_member(rule, "values")) != 1)
		sim_cause_required_because(c, SIM_AT(at, "values"),
			"must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
	if (strcmp(sim_text_or(sim_member(rule, "key"), ""), "metadata.name") != 0)
		sim_cause_invalid(c, SIM_AT(at, "key"), sim_member(rule, "key"),
			"not a valid field selector key");
}

static void check_term(struct sim_causes *c, const struct sim_at *at, const struct sim_value *term,
	bool required)
{
	const struct sim_value *rules = sim_member(term, "matchExpressions"),
			       *fields = sim_member(term, "matchFields");

	for (size_t i = 0; i < sim_count(rules); i++)
		check_rule(c, SIM_AT_ITEM(SIM_AT(at, "matchExpressions"), i), sim_item(rules, i), required);
	for (size_t i = 0; i < sim_count(fields); i++)
		check_field_rule(c, SIM_AT_ITEM(SIM_AT(at, "matchFields"), i), sim_item(fields, i));
}

static void check_weight(struct sim_causes *c, const struct sim_at *at, const struct sim_value *term)
{
	int64_t weight = sim_int_of(sim_member(term, "weight"), 0);

	if (weight < 1 || weight > 100)
		sim_cause_invalid(c, SIM_AT(at, "weight"), sim_member(term, "weight"),
			"must be in the range 1-100");
}

static void check_nodes(struct sim_causes *c, const struct sim_at *at, const struct sim_value *affinity)
{
	const struct sim_value *required =
		sim_member(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
	const struct sim_value *preferred =
		sim_member(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
	const struct sim_value *terms = sim_member(required, "nodeSelectorTerms");
	const struct sim_at *must =
		SIM_AT(SIM_AT(at, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
	const struct sim_at *may = SIM_AT(at, "preferredDuringSchedulingIgnoredDuringExecution");

	if (required && sim_count(terms) == 0)
		sim_cause_required_because(c, must, "must have at least one node selector term");
	for (size_t i = 0; i < sim_count(terms); i++)
		check_term(c, SIM_AT_ITEM(must, i), sim_item(terms, i), true);
	for (size_t i = 0; i < sim_count(preferred); i++) {
		const struct sim_at *here = SIM_AT_ITEM(may, i);

		check_weight(c, here, sim_item(preferred, i));
		check_term(c, SIM_AT(here, "preference"), sim_member(sim_item(preferred, i), "preference"),
			false);
	}
}

static void check_topology(struct sim_causes *c, const struct sim_at *at, const struct sim_value *term)
{
	const struct sim_value *key = sim_member(term, "topologyKey");

	if (!*sim_text_or(key, ""))
		sim_cause_required_because(c, SIM_AT(at, "topologyKey"), "can not be empty");
	sim_cause_grammar(c, SIM_AT(at, "topologyKey"), key, sim_check_label_key);
}

static void check_pods(struct sim_causes *c, const struct sim_at *at, const struct sim_value *affinity)
{
	const struct sim_value *required =
		sim_member(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
	const struct sim_value *preferred =
		sim_member(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
	const struct sim_at *must = SIM_AT(at, "requiredDuringSchedulingIgnoredDuringExecution");
	const struct sim_at *may = SIM_AT(at, "preferredDuringSchedulingIgnoredDuringExecution");

	for (size_t i = 0; i < sim_count(required); i++)
		check_topology(c, SIM_AT_ITEM(must, i), sim_item(required, i));
	for (size_t i = 0; i < sim_count(preferred); i++) {
		const struct sim_at *here = SIM_AT_ITEM(may, i);

		check_weight(c, here, sim_item(preferred, i));
		check_topology(c, SIM_AT(here, "podAffinityTerm"),
			sim_member(sim_item(preferred, i), "podAffinityTerm"));
	}
}

void sim_pod_check_affinity(struct sim_causes *c, const struct sim_at *at, const struct sim_value *affinity)
{
	check_nodes(c, SIM_AT(at, "nodeAffinity"), sim_member(affinity, "nodeAffinity"));
	check_pods(c, SIM_AT(at, "podAffinity"), sim_member(affinity, "podAffinity"));
	check_pods(c, SIM_AT(at, "podAntiAffinity"), sim_member(affinity, "podAntiAffinity"));
}
