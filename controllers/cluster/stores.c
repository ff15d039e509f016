#include "controllers/cluster/stores.h"

#include <string.h>

#include "common/base/str.h"
#include "api/names.h"

static void on_pod(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_stores *s = arg;
	const struct kar_pod *was = old ? kar_as_pod(old) : NULL, *is = new ? kar_as_pod(new) : NULL;

	kar_usage_pod(s->usage, was, is);
	kar_capacity_pod(s->capacity, was, is);
	kar_expected_pod(s->expected, was, is);
	kar_preemptible_pod(s->preemptible, was, is);
}

static void on_node(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_stores *s = arg;

	kar_capacity_node(s->capacity, old ? kar_as_node(old) : NULL, new ? kar_as_node(new) : NULL);
}

void kar_stores_init(struct kar_stores *s, struct kar_intern *strings)
{
#define INIT(name, type, selector, remedy) s->name = kar_store_new(&(type), strings);
	KAR_STORES(INIT)
#undef INIT
	s->snapshot = kar_snapshot_new(strings);
	kar_snapshot_listen(s->snapshot, s->nodes, s->pods);
	kar_snapshot_use_flavors(s->snapshot, s->flavors);
	s->usage = kar_usage_new();
	s->capacity = kar_capacity_new(strings);
	s->expected = kar_expected_new();
	s->preemptible = kar_preemptible_new();
	s->templates = kar_templates_new();
	kar_store_listen(s->pods, on_pod, s);
	kar_store_listen(s->nodes, on_node, s);
	s->devices = kar_devices_new(&(struct kar_devices_input){ .nodes = s->nodes,
		.classes = s->deviceclasses,
		.slices = s->resourceslices,
		.claims = s->resourceclaims,
		.snapshot = s->snapshot,
		.capacity = s->capacity,
		.strings = strings });
}

void kar_stores_release(struct kar_stores *s)
{
	kar_devices_free(s->devices);
	kar_snapshot_free(s->snapshot);
	kar_usage_free(s->usage);
	kar_capacity_free(s->capacity);
	kar_expected_free(s->expected);
	kar_preemptible_free(s->preemptible);
	kar_templates_free(s->templates);
#define RELEASE(name, type, selector, remedy) kar_store_free(s->name);
	KAR_STORES(RELEASE)
#undef RELEASE
}

const char *kar_stores_default_queue(const struct kar_stores *s)
{
	if (!s->default_queue)
		return KAR_DEFAULT_QUEUE;
	return strcmp(s->default_queue, KAR_NO_DEFAULT_QUEUE) == 0 ? "" : s->default_queue;
}

const struct kar_priorityclass *kar_stores_priorityclass(const struct kar_stores *s, const char *name)
{
	const struct kar_object *o =
		kar_has_text(name) ? kar_store_get(s->priorityclasses, NULL, name) : NULL;

	return o ? kar_as_priorityclass(o) : NULL;
}

const struct kar_priorityclass *kar_stores_default_class(const struct kar_stores *s)
{
	struct kar_iter it = kar_store_all(s->priorityclasses);
	const struct kar_priorityclass *lowest = NULL;
	const struct kar_object *o;

	/* Kubernetes takes the lowest too if several classes are the default. */
	while (kar_iter_next(&it, &o)) {
		const struct kar_priorityclass *c = kar_as_priorityclass(o);

		if (c->global_default && (!lowest || c->value < lowest->value))
			lowest = c;
	}
	return lowest;
}

int32_t kar_stores_default_priority(const struct kar_stores *s)
{
	const struct kar_priorityclass *c = kar_stores_default_class(s);

	return c ? c->value : 0;
}
