#include "sim/apiserver/patch.h"

static bool has_null_member(const struct sim_value *v)
{
	for (size_t i = 0; sim_kind(v) == SIM_ARRAY && i < sim_count(v); i++) {
		if (has_null_member(sim_item(v, i)))
			return true;
	}
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		if (sim_kind(m.value) == SIM_NULL || has_null_member(m.value))
			return true;
	}
	return false;
}

/*
 * A new value as the API server takes it from a patch: without members that are null, since there is nothing for them to
 * remove. Objects inside arrays lose theirs too, which goes beyond RFC 7386. New reference.
 */
static struct sim_value *without_nulls(const struct sim_value *v)
{
	struct sim_value *out;

	if (!has_null_member(v))
		return sim_ref(v);
	if (sim_kind(v) == SIM_ARRAY) {
		out = sim_array();
		for (size_t i = 0; i < sim_count(v); i++)
			sim_append(&out, without_nulls(sim_item(v, i)));
		return out;
	}
	out = sim_object();
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		if (sim_kind(m.value) != SIM_NULL)
			sim_set(&out, without_nulls(m.value), m.key);
	}
	return out;
}

static void merge_member(struct sim_value **target, const char *key, const struct sim_value *patch)
{
	struct sim_value *inner;

	if (sim_kind(patch) == SIM_NULL) {
		sim_remove(target, key);
		return;
	}
	if (sim_kind(patch) < SIM_ARRAY && sim_equal(sim_member(*target, key), patch))
		return;
	inner = sim_take(target, key);
	if (!inner)
		inner = sim_null();
	sim_patch_merge(&inner, patch);
	sim_set(target, inner, key);
}

void sim_patch_merge(struct sim_value **target, const struct sim_value *patch)
{
	struct sim_value *new;

	if (sim_kind(*target) == SIM_OBJECT && sim_kind(patch) == SIM_OBJECT) {
		for (struct sim_member m = sim_first(patch); m.value; m = sim_next(m))
			merge_member(target, m.key, m.value);
		return;
	}
	new = sim_kind(*target) == SIM_OBJECT ? sim_ref(patch) : without_nulls(patch);
	sim_unref(*target);
	*target = new;
}
