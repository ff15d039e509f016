#include "sim/apiserver/schema_impl.h"

static bool must_not_be_null(const struct schema_node *n, const struct sim_value *v)
{
	return n && sim_kind(v) == SIM_NULL && !n->nullable;
}

/* True if fill() would change @v, so that what stays as it is is not copied. */
static bool lacks(const struct schema_node *n, const struct sim_value *v)
{
	for (size_t i = 0; sim_kind(v) == SIM_ARRAY && n->items && i < sim_count(v); i++) {
		const struct sim_value *item = sim_item(v, i);

		if ((must_not_be_null(n->items, item) && n->items->default_) || lacks(n->items, item))
			return true;
	}
	if (sim_kind(v) != SIM_OBJECT)
		return false;
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		const struct schema_node *inner = schema_member(n, m.key);

		if (inner && (must_not_be_null(inner, m.value) || lacks(inner, m.value)))
			return true;
	}
	for (size_t i = 0; i < n->n_properties; i++) {
		if (n->properties[i].node->default_ && !sim_member(v, n->properties[i].name))
			return true;
	}
	return false;
}

enum nulls { REMOVE_NULLS, KEEP_NULLS /* where no default takes their place */ };

static void fill(const struct schema_node *n, struct sim_value **v, enum nulls nulls);

/* The default of @n with the defaults inside it; new reference. */
static struct sim_value *default_of(const struct schema_node *n)
{
	struct sim_value *v = sim_ref(n->default_);

	fill(n, &v, REMOVE_NULLS);
	return v;
}

static void fill_member(const struct schema_node *inner, struct sim_value **v, struct sim_member m,
	enum nulls nulls)
{
	struct sim_value *value;

	if (must_not_be_null(inner, m.value)) {
		if (inner->default_)
			sim_set(v, default_of(inner), m.key);
		else if (nulls == REMOVE_NULLS)
			sim_remove(v, m.key);
		return;
	}
	if (!lacks(inner, m.value))
		return;
	value = sim_take(v, m.key);
	fill(inner, &value, nulls);
	sim_set(v, value, m.key);
}

static void fill_object(const struct schema_node *n, struct sim_value **v, enum nulls nulls)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *before = sim_ref(*v);

	for (struct sim_member m = sim_first(before); m.value; m = sim_next(m)) {
		const struct schema_node *inner = schema_member(n, m.key);

		if (inner)
			fill_member(inner, v, m, nulls);
	}
	for (size_t i = 0; i < n->n_properties; i++) {
		const struct schema_property *p = &n->properties[i];

		if (p->node->default_ && !sim_member(*v, p->name))
			sim_set(v, default_of(p->node), p->name);
	}
}

static void fill_array(const struct schema_node *items, struct sim_value **v, enum nulls nulls)
{
	for (size_t i = 0; items && i < sim_count(*v); i++) {
		struct sim_value *item;

		if (must_not_be_null(items, sim_item(*v, i)) && items->default_) {
			sim_replace(v, i, default_of(items));
		} else if (lacks(items, sim_item(*v, i))) {
			item = sim_take_item(v, i);
			fill(items, &item, nulls);
			sim_replace(v, i, item);
		}
	}
}

static void fill(const struct schema_node *n, struct sim_value **v, enum nulls nulls)
{
	if (!lacks(n, *v))
		return;
	if (sim_kind(*v) == SIM_OBJECT)
		fill_object(n, v, nulls);
	else
		fill_array(n->items, v, nulls);
}

void sim_schema_default(const struct sim_schema *s, struct sim_value **v)
{
	fill(s->root, v, REMOVE_NULLS);
}

void sim_schema_default_applied(const struct sim_schema *s, struct sim_value **v)
{
	fill(s->root, v, KEEP_NULLS);
}
