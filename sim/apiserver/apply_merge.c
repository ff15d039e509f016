#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/apply_impl.h"

/* ---- merging ---- */

static struct sim_value *merge_members(const struct sim_value *live, const struct sim_value *config,
	struct apply_type t)
{
	struct sim_value *out = sim_ref(live);

	for (struct sim_member m = sim_first(config); m.value; m = sim_next(m)) {
		const struct sim_value *is = sim_member(live, m.key);
		struct apply_type inner;
		struct sim_value *merged;

		if (is == m.value)
			continue;
		apply_member(t, m.key, &inner, NULL);
		merged = apply_merge(is, m.value, inner);
		if (merged == is)
			sim_unref(merged);
		else
			sim_set(&out, merged, m.key);
	}
	return out;
}

struct lists {
	const struct sim_value *live, *config;
	struct apply_index x, y;
	struct apply_type item;
	size_t i, j;   /* next items */
	size_t shared; /* the next item of the configuration that is in both; its count: none */
	bool *done;    /* items of the configuration */
	struct sim_value *out;
};

static void next_shared(struct lists *l)
{
	while (l->shared < l->y.n && apply_index_count(&l->x, l->y.elements[l->shared]) == 0)
		l->shared++;
}

static void take_live(struct lists *l)
{
	sim_append(&l->out, sim_ref(sim_item(l->live, l->i++)));
}

static void take_config(struct lists *l)
{
	const struct sim_value *is = apply_index_find(&l->x, l->live, l->y.elements[l->j]);

	sim_append(&l->out, apply_merge(is, sim_item(l->config, l->j), l->item));
	l->done[l->j] = true;
	if (l->shared == l->j) {
		l->shared++;
		next_shared(l);
	}
	l->j++;
}

/*
 * One step: items that both have come in the order of the configuration, the others stay where they are between them. The
 * cases are those of the API server, so that the order is the same.
 */
static void merge_step(struct lists *l)
{
	const char *element = l->i < l->x.n ? l->x.elements[l->i] : NULL;
	const struct sim_value *places = element ? sim_member(l->y.at, element) : NULL;
	size_t other = places ? (size_t)sim_int_of(sim_item(places, 0), 0) : 0;

	if (places && l->j == other) {
		l->i++;
		take_config(l);
	} else if (places && l->j < l->y.n && l->shared < l->y.n && l->shared != other) {
		l->i++;
	} else if (l->i < l->x.n && !places) {
		take_live(l);
	} else {
		if (places && l->done[other])
			l->i++;
		if (l->j < l->y.n)
			take_config(l);
	}
}

static struct sim_value *merge_items(const struct sim_value *live, const struct sim_value *config,
	struct apply_type t)
{
	struct lists l = { live, config, apply_index_new(t, live), apply_index_new(t, config),
		apply_item(t) };

	l.out = sim_array();
	l.done = kar_xcalloc(l.y.n + 1, sizeof(bool));
	next_shared(&l);
	while (l.i < l.x.n || l.j < l.y.n)
		merge_step(&l);
	free(l.done);
	apply_index_release(&l.x);
	apply_index_release(&l.y);
	return l.out;
}

struct sim_value *apply_merge(const struct sim_value *live, const struct sim_value *config,
	struct apply_type t)
{
	bool both;

	if (!live || !config || live == config)
		return sim_ref(live ? live : config);
	if (sim_kind(config) == SIM_NULL && sim_count(live) > 0 && !apply_is_atomic(t, live))
		return sim_ref(live);
	both = sim_kind(live) == sim_kind(config) && sim_kind(live) >= SIM_ARRAY &&
		sim_count(live) + sim_count(config) > 0;
	if (!both || apply_is_atomic(t, config))
		return sim_ref(config);
	return sim_kind(config) == SIM_OBJECT ? merge_members(live, config, t) : merge_items(live, config, t);
}

/* ---- removing ---- */

static bool has_below(const struct sim_value *node)
{
	return sim_count(node) > (sim_member(node, ".") ? 1u : 0u);
}

static struct sim_value *remove_members(const struct sim_value *v, const struct sim_value *set,
	struct apply_type t)
{
	struct sim_value *out = sim_ref(v);

	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		KAR_CLEANUP(kar_cleanup_free) char *element = apply_element_of_member(m.key);
		const struct sim_value *node = sim_member(set, element);
		struct apply_type inner;

		if (apply_set_has_self(node)) {
			sim_remove(&out, m.key);
		} else if (node) {
			apply_member(t, m.key, &inner, NULL);
			sim_set(&out, apply_remove(m.value, node, inner), m.key);
		}
	}
	return out;
}

static struct sim_value *remove_items(const struct sim_value *v, const struct sim_value *set,
	struct apply_type t)
{
	struct sim_value *out = sim_array();

	for (size_t i = 0; i < sim_count(v); i++) {
		KAR_CLEANUP(kar_cleanup_free) char *element = apply_element(t, sim_item(v, i), NULL);
		const struct sim_value *node = element ? sim_member(set, element) : NULL;

		if (!apply_set_has_self(node))
			sim_append(&out, apply_remove(sim_item(v, i), node, apply_item(t)));
	}
	return out;
}

struct sim_value *apply_remove(const struct sim_value *v, const struct sim_value *set, struct apply_type t)
{
	struct sim_value *out;

	if (!set || !has_below(set) || sim_kind(v) < SIM_ARRAY)
		return sim_ref(v);
	if (apply_is_atomic(t, v))
		return sim_null();
	out = sim_kind(v) == SIM_OBJECT ? remove_members(v, set, t) : remove_items(v, set, t);
	if (sim_count(out) > 0)
		return out;
	sim_unref(out);
	return sim_null();
}
