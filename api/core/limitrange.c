#include "api/core/limitrange.h"

#include <stdlib.h>

#include "api/copy.h"
#include "common/base/mem.h"
#include "common/base/str.h"

struct wire_item {
	const char *type;
	struct kar_array limits, requests; /* struct kar_pair */
};

struct wire_spec {
	struct kar_array items; /* struct wire_item */
};

struct wire_limitrange {
	struct kar_wire_object head;
	struct wire_spec spec;
};

static const struct kar_field item_fields[] = {
	KAR_FIELD(struct wire_item, type, "type", KAR_F_STRING),
	KAR_FIELD(struct wire_item, limits, "default", KAR_F_MAP),
	KAR_FIELD(struct wire_item, requests, "defaultRequest", KAR_F_MAP),
};
static const struct kar_desc item_desc = KAR_DESC("LimitRangeItem", struct wire_item, item_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_SUB(struct wire_spec, items, "limits", KAR_F_ARRAY, &item_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("LimitRangeSpec", struct wire_spec, spec_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_limitrange),
	KAR_FIELD_SUB(struct wire_limitrange, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("LimitRange", struct wire_limitrange, fields);

static void put(struct kar_array *all, const struct kar_pair *pair, struct kar_arena *a)
{
	struct kar_pair *items = all->items;

	for (size_t i = 0; i < all->n; i++) {
		if (kar_streq(items[i].key, pair->key)) {
			items[i] = *pair;
			return;
		}
	}
	if (all->n > KAR_COPY_PAIRS)
		return; /* the copy says that it is cut */
	items = kar_arena_grow(a, items, all->n, sizeof(*items));
	items[all->n++] = *pair;
	all->items = items;
}

static struct kar_array merge(const struct wire_spec *s, bool limits, struct kar_limitrange *l)
{
	const struct wire_item *items = s->items.items;
	struct kar_arena scratch = { 0 };
	struct kar_array all = { 0 }, out;

	for (size_t i = 0; i < s->items.n; i++) {
		const struct kar_array *from = limits ? &items[i].limits : &items[i].requests;
		const struct kar_pair *pairs = from->items;

		for (size_t k = 0; kar_streq(items[i].type, "Container") && k < from->n; k++)
			put(&all, &pairs[k], &scratch);
	}
	out = kar_copy_pairs(&l->mem, &all);
	kar_arena_release(&scratch);
	return out;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_limitrange *w = wire;
	struct kar_limitrange *l = kar_xcalloc(1, sizeof(*l));

	kar_object_init(&l->o, &kar_limitrange_type, &w->head, kar_copy_text(&l->mem, w->head.meta.name),
		kar_copy_text(&l->mem, w->head.meta.uid), strings);
	l->requests = merge(&w->spec, false, l);
	l->limits = merge(&w->spec, true, l);
	return &l->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_limitrange *l = kar_container_of(o, struct kar_limitrange, o);

	kar_arena_release(&l->mem);
	free(l);
}

const struct kar_type kar_limitrange_type = {
	.res = { .group = "",
		.version = "v1",
		.plural = "limitranges",
		.kind = "LimitRange",
		.namespaced = true },
	.wire = &desc,
	.project = project,
	.destroy = destroy,
	.index_key = kar_object_by_namespace,
	.n_index = 1,
};

bool kar_limitrange_same(const struct kar_limitrange *a, const struct kar_limitrange *b)
{
	return kar_object_same(&a->o, &b->o) && kar_pairs_equal(&a->requests, &b->requests) &&
		kar_pairs_equal(&a->limits, &b->limits);
}
