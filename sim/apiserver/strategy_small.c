/* Types with one or two rules of their own. */
#include <string.h>

#include "sim/apiserver/strategy.h"

/* ---- a status that only its subresource writes ---- */

static void prepare_new(struct sim_write *w)
{
	if (w->old)
		sim_keep_old(w, "status");
	else
		sim_clear_status(w);
}

static void keep_spec(struct sim_write *w)
{
	sim_keep_old(w, "spec");
}

const struct sim_strategy sim_strategy_workload = { .prepare = prepare_new, .prepare_status = keep_spec };

/*
 * ---- nodes: whoever registers one may say what it has; it is not tainted as not ready for a start, as real ones
 * are ----
 */

static void prepare_node(struct sim_write *w)
{
	if (w->old)
		sim_keep_old(w, "status");
}

static void default_node(struct sim_write *w)
{
	const struct sim_value *capacity = sim_get(*w->new, "status", "capacity");

	if (capacity && !sim_get(*w->new, "status", "allocatable"))
		sim_set(w->new, sim_ref(capacity), "status", "allocatable");
}

static const char *node_field(const struct sim_value *node, const char *name)
{
	if (strcmp(name, "spec.unschedulable") != 0)
		return NULL;
	return sim_bool_of(sim_get(node, "spec", "unschedulable"), false) ? "true" : "false";
}

static bool same_taint(const struct sim_value *a, const struct sim_value *b)
{
	return sim_equal(sim_member(a, "key"), sim_member(b, "key")) &&
		sim_equal(sim_member(a, "effect"), sim_member(b, "effect"));
}

static void refuse_repeated_taint(struct sim_causes *c, const struct sim_value *taint, size_t i)
{
	struct sim_value *field = sim_printf("metadata.taints[%zu]", i), *shown = sim_object();
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	sim_set_text(&shown, sim_text_or(sim_member(taint, "key"), ""), "Key");
	sim_set_text(&shown, sim_text_or(sim_member(taint, "value"), ""), "Value");
	sim_set_text(&shown, sim_text_or(sim_member(taint, "effect"), ""), "Effect");
	sim_set(&shown, sim_null(), "TimeAdded");
	sim_print(shown, &text);
	sim_cause_add(c, "FieldValueDuplicate", sim_text(field),
		"Duplicate value: %s: taints must be unique by key and effect pair", kar_buf_cstr(&text));
	sim_unref(shown);
	sim_unref(field);
}

static void validate_node(struct sim_write *w)
{
	static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute", NULL };
	const struct sim_value *taints = sim_get(*w->new, "spec", "taints");
	const struct sim_at *at = SIM_AT(SIM_AT(NULL, "metadata"), "taints"); /* so named by the API server */

	if (taints == sim_get(w->old, "spec", "taints"))
		return;
	for (size_t i = 0; i < sim_count(taints); i++) {
		const struct sim_value *taint = sim_item(taints, i);
		size_t same = 0;

		sim_cause_grammar(&w->causes, SIM_AT(SIM_AT_ITEM(at, i), "key"), sim_member(taint, "key"),
			sim_check_label_key);
		sim_check_choice(&w->causes, SIM_AT(SIM_AT_ITEM(at, i), "effect"),
			sim_member(taint, "effect"), effects);
		while (same < i && !same_taint(sim_item(taints, same), taint))
			same++;
		if (same < i)
			refuse_repeated_taint(&w->causes, taint, i);
	}
}

const struct sim_strategy sim_strategy_node = {
	.prepare = prepare_node,
	.prepare_status = keep_spec,
	.default_ = default_node,
	.validate = validate_node,
	.field = node_field,
};

/* ---- disruption budgets ---- */

static void validate_pdb(struct sim_write *w)
{
	const struct sim_value *spec = sim_member(*w->new, "spec");
	static const char *const policies[] = { "IfHealthyBudget", "AlwaysAllow", NULL };
	const struct sim_value *policy = sim_member(spec, "unhealthyPodEvictionPolicy");

	if (sim_writes_status(w))
		return;
	if (sim_member(spec, "minAvailable") && sim_member(spec, "maxUnavailable"))
		sim_cause_invalid(&w->causes, SIM_AT(NULL, "spec"), spec,
			"minAvailable and maxUnavailable cannot be both set");
	if (policy)
		sim_check_choice(&w->causes, SIM_AT(SIM_AT(NULL, "spec"), "unhealthyPodEvictionPolicy"),
			policy, policies);
}

const struct sim_strategy sim_strategy_pdb = {
	.prepare = prepare_new,
	.prepare_status = keep_spec,
	.validate = validate_pdb,
};

/* ---- leases ---- */

static void validate_lease(struct sim_write *w)
{
	const struct sim_value *seconds = sim_get(*w->new, "spec", "leaseDurationSeconds");
	const struct sim_value *transitions = sim_get(*w->new, "spec", "leaseTransitions");
	const struct sim_at *at = SIM_AT(NULL, "spec");

	if (seconds && sim_int_of(seconds, 1) <= 0)
		sim_cause_invalid(&w->causes, SIM_AT(at, "leaseDurationSeconds"), seconds,
			"must be greater than 0");
	if (transitions && sim_int_of(transitions, 0) < 0)
		sim_cause_invalid(&w->causes, SIM_AT(at, "leaseTransitions"), transitions,
			"must be greater than or equal to 0");
}

const struct sim_strategy sim_strategy_lease = { .validate = validate_lease };

/* ---- volumes: nothing binds them, so they stay pending ---- */

static void prepare_volume(struct sim_write *w)
{
	prepare_new(w);
	if (w->old)
		return;
	sim_set_text(w->new, "Pending", "status", "phase");
	if (!w->resource->namespaced)
		sim_set(w->new, sim_time(sim_timeline_wall(sim_apiserver_timeline(w->s))), "status",
			"lastPhaseTransitionTime");
}

static void default_claim(struct sim_write *w)
{
	if (!sim_get(*w->new, "spec", "volumeMode"))
		sim_set_text(w->new, "Filesystem", "spec", "volumeMode");
}

static void default_volume(struct sim_write *w)
{
	default_claim(w);
	if (!sim_get(*w->new, "spec", "persistentVolumeReclaimPolicy"))
		sim_set_text(w->new, "Retain", "spec", "persistentVolumeReclaimPolicy");
	if (sim_get(*w->new, "spec", "hostPath") && !sim_get(*w->new, "spec", "hostPath", "type"))
		sim_set_text(w->new, "", "spec", "hostPath", "type");
}

const struct sim_strategy sim_strategy_claim = {
	.prepare = prepare_volume,
	.prepare_status = keep_spec,
	.default_ = default_claim,
};
const struct sim_strategy sim_strategy_volume = {
	.prepare = prepare_volume,
	.prepare_status = keep_spec,
	.default_ = default_volume,
};
