/* What may change in a pod that exists (pkg/apis/core/validation: ValidatePodUpdate, ValidatePodStatusUpdate). */
#include <ctype.h>
#include <string.h>

#include "sim/apiserver/strategy_pod.h"

static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";

/* ---- containers ---- */

static bool has_outer_space(const char *text)
{
	size_t n = strlen(text);

	return n > 0 && (isspace((unsigned char)text[0]) || isspace((unsigned char)text[n - 1]));
}

/* False: the lists cannot be compared. */
static bool check_images(struct sim_causes *c, const struct sim_at *at, const struct sim_value *new,
	const struct sim_value *old)
{
	if (sim_count(new) != sim_count(old)) {
		sim_cause_forbidden(c, at, "pod updates may not add or remove containers");
		return false;
	}
	for (size_t i = 0; i < sim_count(new); i++) {
		const struct sim_value *image = sim_member(sim_item(new, i), "image");
		const struct sim_at *here = SIM_AT_ITEM(at, i);

		if (!*sim_text_or(image, ""))
			sim_cause_required(c, SIM_AT(here, "image"));
		else if (has_outer_space(sim_text(image)))
			sim_cause_invalid(c, SIM_AT(here, "image"), image,
				"must not have leading or trailing whitespace");
	}
	return true;
}

/* False: there is nothing more to say. */
static bool check_deadline(struct sim_causes *c, const struct sim_at *at, const struct sim_value *new,
	const struct sim_value *old)
{
	int64_t deadline = sim_int_of(new, 0);

	if (!new &&old)
		sim_cause_invalid(c, at, NULL, "must not update from a positive integer to nil value");
	if (!new)
		return true;
	if (deadline < 0 || deadline > INT32_MAX) {
		sim_cause_invalid(c, at, new, "must be between 0 and %d, inclusive", INT32_MAX);
		return false;
	}
	if (old && sim_int_of(old, 0) < deadline) {
		sim_cause_invalid(c, at, new, "must be less than or equal to previous value");
		return false;
	}
	return true;
}

/* ---- lists that may grow or shrink ---- */

static bool same_but_for_seconds(const struct sim_value *a, const struct sim_value *b)
{
	static const char *const members[] = { "key", "operator", "value", "effect" };

	for (size_t i = 0; i < KAR_LEN(members); i++) {
		if (strcmp(sim_text_or(sim_member(a, members[i]), ""),
			    sim_text_or(sim_member(b, members[i]), "")) != 0)
			return false;
	}
	return true;
}

static bool has_toleration(const struct sim_value *list, const struct sim_value *toleration)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		if (same_but_for_seconds(sim_item(list, i), toleration))
			return true;
	}
	return false;
}

static void check_tolerations(struct sim_causes *c, const struct sim_at *at, const struct sim_value *new,
	const struct sim_value *old)
{
	for (size_t i = 0; i < sim_count(old); i++) {
		if (has_toleration(new, sim_item(old, i)))
			continue;
		sim_cause_forbidden(c, at,
			"existing toleration can not be modified except its tolerationSeconds");
		return;
	}
	sim_pod_check_tolerations(c, at, new);
}

static bool has_gate(const struct sim_value *gates, const char *name)
{
	for (size_t i = 0; i < sim_count(gates); i++) {
		if (!strcmp(sim_text_or(sim_member(sim_item(gates, i), "name"), ""), name))
			return true;
	}
	return false;
}

static void check_gates(struct sim_causes *c, const struct sim_at *at, const struct sim_value *new,
	const struct sim_value *old)
{
	for (size_t i = 0; i < sim_count(new); i++) {
		const char *name = sim_text_or(sim_member(sim_item(new, i), "name"), "");

		if (!has_gate(old, name))
			sim_cause_forbidden(c, SIM_AT(SIM_AT_ITEM(at, i), "name"),
				"only deletion is allowed, but found new scheduling gate '%s'", name);
	}
}

/* ---- while gated: placement may be narrowed ---- */

static void check_selector(struct sim_causes *c, const struct sim_at *at, const struct sim_value *new,
	const struct sim_value *old)
{
	for (struct sim_member m = sim_first(old); m.value; m = sim_next(m)) {
		if (sim_equal(sim_member(new, m.key), m.value))
			continue;
		sim_cause_invalid(c, at, new,
			"only additions to spec.nodeSelector are allowed (no mutations or deletions)");
		return;
	}
}

/* True if @new is @old with nothing but more rules at its end. */
static bool only_adds_rules(const struct sim_value *new, const struct sim_value *old)
{
	if (sim_count(new) < sim_count(old))
		return false;
	for (size_t i = 0; i < sim_count(old); i++) {
		if (!sim_equal(sim_item(new, i), sim_item(old, i)))
			return false;
	}
	return true;
}

static bool only_adds(const struct sim_value *new, const struct sim_value *old)
{
	const struct sim_value *rules = sim_member(old, "matchExpressions"),
			       *fields = sim_member(old, "matchFields");
	const struct sim_value *new_rules = sim_member(new, "matchExpressions"),
			       *new_fields = sim_member(new, "matchFields");

	/* A term without rules selects nothing: adding one would widen it. */
	if (sim_count(rules) + sim_count(fields) == 0)
		return sim_count(new_rules) + sim_count(new_fields) == 0;
	return only_adds_rules(new_rules, rules) && only_adds_rules(new_fields, fields);
}

static void check_node_affinity(struct sim_causes *c, const struct sim_at *at, const struct sim_value *new,
	const struct sim_value *old)
{
	const struct sim_value *terms = sim_get(old, required, "nodeSelectorTerms");
	const struct sim_value *new_terms = sim_get(new, required, "nodeSelectorTerms");
	const struct sim_at *here = SIM_AT(SIM_AT(at, required), "nodeSelectorTerms");

	if (sim_count(terms) > 0 && sim_count(terms) != sim_count(new_terms)) {
		sim_cause_invalid(c, here, new_terms,
			"no additions/deletions to non-empty NodeSelectorTerms list are allowed");
		return;
	}
	for (size_t i = 0; i < sim_count(terms); i++) {
		if (!only_adds(sim_item(new_terms, i), sim_item(terms, i)))
			sim_cause_invalid(c, SIM_AT_ITEM(here, i), sim_item(new_terms, i),
				"only additions are allowed (no mutations or deletions)");
	}
}

/* ---- all the rest must stay ---- */

static void take_over(struct sim_value **spec, const struct sim_value *old, const char *key)
{
	const struct sim_value *value = sim_member(old, key);

	if (value)
		sim_set(spec, sim_ref(value), key);
	else
		sim_remove(spec, key);
}

static void take_over_images(struct sim_value **spec, const struct sim_value *old, const char *key)
{
	const struct sim_value *list = sim_member(*spec, key), *old_list = sim_member(old, key);

	if (list == old_list || !list)
		return;
	struct sim_value *copy = sim_ref(list);

	for (size_t i = 0; i < sim_count(copy); i++) {
		struct sim_value *item = sim_ref(sim_item(copy, i));

		take_over(&item, sim_item(old_list, i), "image");
		sim_replace(&copy, i, item);
	}
	sim_set(spec, copy, key);
}

static void take_over_node_affinity(struct sim_value **spec, const struct sim_value *old)
{
	const struct sim_value *before = sim_get(old, "affinity", "nodeAffinity");

	if (before)
		sim_set(spec, sim_ref(before), "affinity", "nodeAffinity");
	else
		sim_remove(spec, "affinity", "nodeAffinity");
	if (!sim_member(old, "affinity") && sim_count(sim_member(*spec, "affinity")) == 0)
		sim_remove(spec, "affinity");
}

/* @new with everything that may change as it was in @old. */
static struct sim_value *without_changes(const struct sim_value *new, const struct sim_value *old, bool gated)
{
	static const char *const changeable[] = { "activeDeadlineSeconds", "schedulingGates", "tolerations" };
	struct sim_value *spec = sim_ref(new);

	take_over_images(&spec, old, "containers");
	take_over_images(&spec, old, "initContainers");
	for (size_t i = 0; i < KAR_LEN(changeable); i++)
		take_over(&spec, old, changeable[i]);
	if (gated) {
		take_over(&spec, old, "nodeSelector");
		take_over_node_affinity(&spec, old);
	}
	return spec;
}

static void check_rest(struct sim_causes *c, const struct sim_at *at, const struct sim_value *new,
	const struct sim_value *old, bool gated)
{
	struct sim_value *rest KAR_CLEANUP(sim_cleanup_value) = without_changes(new, old, gated);

	if (sim_equal(rest, old))
		return;
	/* The API server goes on with a difference of its internal structs, for people. */
	sim_cause_forbidden(c, at,
		"pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
		"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n");
}

void sim_pod_validate_update(struct sim_write *w)
{
	const struct sim_value *old = sim_member(w->old, "spec"), *new = sim_member(*w->new, "spec");
	bool gated = sim_count(sim_member(old, "schedulingGates")) > 0;
	const struct sim_at *at = SIM_AT(NULL, "spec");
	struct sim_causes *c = &w->causes;

	if (!check_images(c, SIM_AT(at, "containers"), sim_member(new, "containers"),
		    sim_member(old, "containers")) ||
		!check_images(c, SIM_AT(at, "initContainers"), sim_member(new, "initContainers"),
			sim_member(old, "initContainers")) ||
		!check_deadline(c, SIM_AT(at, "activeDeadlineSeconds"),
			sim_member(new, "activeDeadlineSeconds"), sim_member(old, "activeDeadlineSeconds")))
		return;
	check_tolerations(c, SIM_AT(at, "tolerations"), sim_member(new, "tolerations"),
		sim_member(old, "tolerations"));
	check_gates(c, SIM_AT(at, "schedulingGates"), sim_member(new, "schedulingGates"),
		sim_member(old, "schedulingGates"));
	if (gated) {
		check_selector(c, SIM_AT(at, "nodeSelector"), sim_member(new, "nodeSelector"),
			sim_member(old, "nodeSelector"));
		check_node_affinity(c, SIM_AT(SIM_AT(at, "affinity"), "nodeAffinity"),
			sim_get(new, "affinity", "nodeAffinity"), sim_get(old, "affinity", "nodeAffinity"));
	}
	check_rest(c, at, new, old, gated);
}

/* ---- status ---- */

static bool may_restart(const struct sim_value *spec, const struct sim_value *status)
{
	const char *policy = sim_text_or(sim_member(spec, "restartPolicy"), "");

	if (!strcmp(policy, "OnFailure"))
		return sim_get_int(status, 0, "state", "terminated", "exitCode") != 0;
	return !strcmp(policy, "Always");
}

static const struct sim_value *status_of(const struct sim_value *statuses, const char *name)
{
	for (size_t i = 0; i < sim_count(statuses); i++) {
		if (!strcmp(sim_text_or(sim_member(sim_item(statuses, i), "name"), ""), name))
			return sim_item(statuses, i);
	}
	return NULL;
}

static void check_transitions(struct sim_causes *c, const struct sim_at *at, const struct sim_value *new,
	const struct sim_value *old, const struct sim_value *spec)
{
	for (size_t i = 0; i < sim_count(old); i++) {
		const struct sim_value *before = sim_item(old, i);
		const struct sim_value *after = status_of(new, sim_text_or(sim_member(before, "name"), ""));

		if (!sim_get(before, "state", "terminated") || !after ||
			sim_get(after, "state", "terminated") || may_restart(spec, before))
			continue;
		sim_cause_forbidden(c, SIM_AT(SIM_AT_ITEM(at, i), "state"),
			"may not be transitioned to non-terminated state");
	}
}

static void check_conditions(struct sim_causes *c, const struct sim_at *at,
	const struct sim_value *conditions)
{
	for (size_t i = 0; i < sim_count(conditions); i++)
		sim_cause_grammar(c, SIM_AT(SIM_AT_ITEM(at, i), "Type"),
			sim_member(sim_item(conditions, i), "type"), sim_check_label_key);
}

void sim_pod_validate_status(struct sim_write *w)
{
	const struct sim_value *old = sim_member(w->old, "status"), *new = sim_member(*w->new, "status");
	const struct sim_value *spec = sim_member(w->old, "spec"),
			       *nominated = sim_member(new, "nominatedNodeName");
	const struct sim_at *at = SIM_AT(NULL, "status");

	check_conditions(&w->causes, SIM_AT(at, "conditions"), sim_member(new, "conditions"));
	if (*sim_text_or(sim_member(spec, "nodeName"), "") && *sim_text_or(nominated, "") &&
		!sim_equal(nominated, sim_member(old, "nominatedNodeName")))
		sim_cause_forbidden(&w->causes, SIM_AT(at, "nominatedNodeName"),
			"may not be set on pods that are already bound to a node");
	if (!sim_equal(sim_member(old, "qosClass"), sim_member(new, "qosClass")))
		sim_cause_invalid(&w->causes, SIM_AT(at, "qosClass"), sim_member(new, "qosClass"),
			"field is immutable");
	check_transitions(&w->causes, SIM_AT(at, "containerStatuses"), sim_member(new, "containerStatuses"),
		sim_member(old, "containerStatuses"), spec);
}
