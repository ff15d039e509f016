#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/apply_impl.h"

/* ---- lists by element ---- */

struct apply_index apply_index_new(struct apply_type t, const struct sim_value *list)
{
	struct apply_index x = { .n = sim_count(list), .at = sim_object() };

	x.elements = kar_xcalloc(x.n + 1, sizeof(char *));
	for (size_t i = 0; i < x.n; i++) {
		struct sim_value *places;

		x.elements[i] = apply_element(t, sim_item(list, i), NULL);
		if (!x.elements[i])
			continue;
		places = sim_take(&x.at, x.elements[i]);
		if (!places)
			places = sim_array();
		sim_append(&places, sim_int((int64_t)i));
		sim_set(&x.at, places, x.elements[i]);
	}
	return x;
}

void apply_index_release(struct apply_index *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->elements[i]);
	free(x->elements);
	sim_unref(x->at);
}

size_t apply_index_count(const struct apply_index *x, const char *element)
{
	return sim_count(sim_member(x->at, element));
}

const struct sim_value *apply_index_find(const struct apply_index *x, const struct sim_value *list,
	const char *element)
{
	const struct sim_value *places = sim_member(x->at, element);

	return sim_count(places) == 1 ? sim_item(list, (size_t)sim_int_of(sim_item(places, 0), 0)) : NULL;
}

/* ---- what an object has ---- */

static bool collect(const struct sim_value *v, struct apply_type t, struct sim_value **below);

static void collect_members(const struct sim_value *v, struct apply_type t, struct sim_value **below)
{
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		KAR_CLEANUP(kar_cleanup_free) char *element = apply_element_of_member(m.key);
		struct sim_value *inside = sim_object(), *node;
		struct apply_type inner;
		bool named, self;

		apply_member(t, m.key, &inner, &named);
		self = collect(m.value, inner, &inside) || !named;
		if (sim_kind(m.value) == SIM_OBJECT && sim_count(m.value) == 0)
			self = true;
		node = apply_set_node(inside, self);
		if (node)
			sim_set(below, node, element);
	}
}

static void collect_items(const struct sim_value *v, struct apply_type t, struct sim_value **below)
{
	struct apply_index x = apply_index_new(t, v);

	for (size_t i = 0; i < x.n; i++) {
		struct sim_value *inside = sim_object();

		if (x.elements[i] && apply_index_count(&x, x.elements[i]) == 1)
			collect(sim_item(v, i), apply_item(t), &inside);
		if (x.elements[i])
			sim_set(below, apply_set_node(inside, true), x.elements[i]);
		else
			sim_unref(inside);
	}
	apply_index_release(&x);
}

/* Adds what is below @v; true if @v itself is a field. */
static bool collect(const struct sim_value *v, struct apply_type t, struct sim_value **below)
{
	if (sim_kind(v) < SIM_ARRAY || apply_is_atomic(t, v))
		return true;
	if (sim_kind(v) == SIM_OBJECT)
		collect_members(v, t, below);
	else
		collect_items(v, t, below);
	return false;
}

struct sim_value *apply_fields(const struct sim_value *v, struct apply_type t)
{
	struct sim_value *below = sim_object();

	collect(v, t, &below);
	return apply_set_node(below, false);
}

struct sim_value *apply_with_parents(const struct sim_value *set, struct apply_type t)
{
	struct sim_value *below = sim_object();

	for (struct sim_member m = sim_first(set); m.value; m = sim_next(m)) {
		struct apply_type inner = { 0 };
		bool named = false, self = apply_set_has_self(m.value);
		struct sim_value *inside, *node;

		if (!strcmp(m.key, "."))
			continue;
		if (m.key[0] == 'f')
			apply_member(t, m.key + 2, &inner, &named);
		else if (m.key[0] == 'k')
			inner = apply_item(t);
		inside = apply_with_parents(m.value, inner);
		self = self || (named && inside);
		node = apply_set_node(inside, self);
		if (node)
			sim_set(&below, node, m.key);
	}
	return apply_set_node(below, false);
}

/* ---- how two differ ---- */

static void compare(const struct sim_value *old, const struct sim_value *new, struct apply_type t,
	struct apply_difference *out);

static void mark(struct sim_value **node)
{
	struct sim_value *marked = apply_set_node(*node, true);

	*node = marked;
}

void apply_difference_release(struct apply_difference *d)
{
	sim_unref(d->added);
	sim_unref(d->removed);
	sim_unref(d->modified);
	*d = (struct apply_difference){ 0 };
}

static void attach(struct sim_value **node, struct sim_value *inside, const char *element)
{
	if (!inside)
		return;
	if (!*node)
		*node = sim_object();
	sim_set(node, inside, element);
}

static void compare_at(const char *element, const struct sim_value *old, const struct sim_value *new,
	struct apply_type t, struct apply_difference *out)
{
	struct apply_difference inside = { 0 };

	compare(old, new, t, &inside);
	attach(&out->added, inside.added, element);
	attach(&out->removed, inside.removed, element);
	attach(&out->modified, inside.modified, element);
}

static void compare_member(const char *key, const struct sim_value *old, const struct sim_value *new,
	struct apply_type t, struct apply_difference *out)
{
	KAR_CLEANUP(kar_cleanup_free) char *element = apply_element_of_member(key);
	struct apply_type inner;

	apply_member(t, key, &inner, NULL);
	compare_at(element, old, new, inner, out);
}

static void compare_members(const struct sim_value *old, const struct sim_value *new, struct apply_type t,
	struct apply_difference *out)
{
	for (struct sim_member m = sim_first(old); m.value; m = sim_next(m)) {
		if (m.value != sim_member(new, m.key))
			compare_member(m.key, m.value, sim_member(new, m.key), t, out);
	}
	for (struct sim_member m = sim_first(new); m.value; m = sim_next(m)) {
		if (!sim_member(old, m.key))
			compare_member(m.key, NULL, m.value, t, out);
	}
}

struct sides {
	const struct sim_value *old, *new;
	struct apply_index x, y;
};

/* True if the items of one element, of which there are several on both sides, are the same. */
static bool same_items(const struct sides *s, const char *element)
{
	const struct sim_value *a = sim_member(s->x.at, element), *b = sim_member(s->y.at, element);

	if (sim_count(a) != sim_count(b))
		return false;
	for (size_t i = 0; i < sim_count(a); i++) {
		if (!sim_equal(sim_item(s->old, (size_t)sim_int_of(sim_item(a, i), 0)),
			    sim_item(s->new, (size_t)sim_int_of(sim_item(b, i), 0))))
			return false;
	}
	return true;
}

static void compare_element(const struct sides *s, const char *element, struct apply_type t,
	struct apply_difference *out)
{
	const struct sim_value *a = apply_index_find(&s->x, s->old, element),
			       *b = apply_index_find(&s->y, s->new, element);
	bool many_before = apply_index_count(&s->x, element) > 1,
	     many_after = apply_index_count(&s->y, element) > 1;

	if (many_before && many_after) {
		if (!same_items(s, element))
			attach(&out->modified, sim_object(), element);
		return;
	}
	if (a || b)
		compare_at(element, a, b, apply_item(t), out);
	if (many_before)
		attach(&out->removed, sim_object(), element);
	if (many_after)
		attach(&out->added, sim_object(), element);
}

static void compare_items(const struct sim_value *old, const struct sim_value *new, struct apply_type t,
	struct apply_difference *out)
{
	struct sides s = { old, new, apply_index_new(t, old), apply_index_new(t, new) };

	for (size_t i = 0; i < s.x.n; i++) {
		const char *element = s.x.elements[i];
		const struct sim_value *places = element ? sim_member(s.x.at, element) : NULL;

		if (places && sim_int_of(sim_item(places, 0), 0) == (int64_t)i)
			compare_element(&s, element, t, out);
	}
	for (size_t i = 0; i < s.y.n; i++) {
		const char *element = s.y.elements[i];
		const struct sim_value *places = element ? sim_member(s.y.at, element) : NULL;

		if (places && sim_int_of(sim_item(places, 0), 0) == (int64_t)i &&
			!apply_index_count(&s.x, element))
			compare_element(&s, element, t, out);
	}
	apply_index_release(&s.x);
	apply_index_release(&s.y);
}

/* Has parts that belong to managers each: neither a scalar nor atomic nor empty. */
static bool is_divided(const struct sim_value *v, struct apply_type t)
{
	return sim_kind(v) >= SIM_ARRAY && sim_count(v) > 0 && !apply_is_atomic(t, v);
}

static void compare_parts(const struct sim_value *old, const struct sim_value *new, enum sim_kind kind,
	struct apply_type t, struct apply_difference *out)
{
	if (kind == SIM_OBJECT)
		compare_members(old, new, t, out);
	else
		compare_items(old, new, t, out);
}

/* Both are there, and not both of one kind: null goes with any. */
static void compare_kinds(const struct sim_value *old, const struct sim_value *new, struct apply_type t,
	struct apply_difference *out)
{
	bool before = is_divided(old, t), after = is_divided(new, t);

	if (before)
		compare_parts(old, NULL, sim_kind(old), t, out);
	if (after)
		compare_parts(NULL, new, sim_kind(new), t, out);
	if ((!before && sim_kind(old) != SIM_NULL) || (!after && sim_kind(new) != SIM_NULL))
		mark(&out->modified);
}

static void compare(const struct sim_value *old, const struct sim_value *new, struct apply_type t,
	struct apply_difference *out)
{
	bool divided = is_divided(old, t) || is_divided(new, t);

	if (old == new)
		return;
	if (!old || !new) {
		if (divided)
			compare_parts(old, new, sim_kind(old ? old : new), t, out);
		mark(old ? &out->removed : &out->added);
	} else if (!divided) {
		if (!sim_equal(old, new))
			mark(&out->modified);
	} else if (sim_kind(old) == sim_kind(new)) {
		compare_parts(old, new, sim_kind(old), t, out);
	} else {
		compare_kinds(old, new, t, out);
	}
}

void apply_compare(const struct sim_value *old, const struct sim_value *new, struct apply_type t,
	struct apply_difference *out)
{
	struct sim_value **const sets[] = { &out->added, &out->removed, &out->modified };

	*out = (struct apply_difference){ 0 };
	compare(old, new, t, out);
	for (size_t i = 0; i < KAR_LEN(sets); i++) /* nobody owns the object as a whole */
		*sets[i] = apply_set_node(*sets[i], false);
}
