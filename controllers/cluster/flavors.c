#include "controllers/cluster/flavors.h"

#include "common/base/str.h"

uint32_t kar_flavors_list(const struct kar_store *flavors, struct kar_arena *a,
	const struct kar_flavor ***out)
{
	const struct kar_object *o;
	uint32_t n = 0;

	*out = kar_arena_alloc(a, kar_store_count(flavors) + 1, sizeof(**out));
	for (struct kar_iter it = kar_store_all(flavors); kar_iter_next(&it, &o);) {
		if (!o->unreadable)
			(*out)[n++] = kar_as_flavor(o);
	}
	return n;
}

const struct kar_flavor *kar_flavor_named(const struct kar_store *flavors, const char *name)
{
	const struct kar_object *o = kar_has_text(name) ? kar_store_get(flavors, NULL, name) : NULL;

	return o && !o->unreadable ? kar_as_flavor(o) : NULL;
}
