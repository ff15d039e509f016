#include "sim/apiserver/amounts.h"

#include <string.h>

void sim_amounts_release(struct sim_amounts *a)
{
	kar_arena_release(&a->arena);
	*a = (struct sim_amounts){ 0 };
}

void sim_amounts_cleanup(struct sim_amounts *a)
{
	sim_amounts_release(a);
}

/* Index of @name, or of the first after it. */
static size_t position(const struct sim_amounts *a, const char *name)
{
	size_t i = 0;

	while (i < a->n && strcmp(a->items[i].name, name) < 0)
		i++;
	return i;
}

struct sim_quantity *sim_amounts_find(const struct sim_amounts *a, const char *name)
{
	size_t i = position(a, name);

	return i < a->n && !strcmp(a->items[i].name, name) ? &a->items[i].q : NULL;
}

struct sim_quantity *sim_amounts_at(struct sim_amounts *a, const char *name)
{
	size_t i = position(a, name);

	if (i < a->n && !strcmp(a->items[i].name, name))
		return &a->items[i].q;
	a->items = kar_arena_grow(&a->arena, a->items, a->n, sizeof(*a->items));
	memmove(&a->items[i + 1], &a->items[i], (a->n - i) * sizeof(*a->items));
	a->items[i] = (struct sim_amount){ .name = kar_arena_strndup(&a->arena, name, strlen(name)) };
	a->n++;
	return &a->items[i].q;
}

void sim_amounts_add(struct sim_amounts *a, const char *name, const struct sim_quantity *q)
{
	sim_quantity_add(sim_amounts_at(a, name), q);
}

void sim_amounts_sub(struct sim_amounts *a, const char *name, const struct sim_quantity *q)
{
	sim_quantity_sub(sim_amounts_at(a, name), q);
}

void sim_amounts_add_list(struct sim_amounts *a, const struct sim_value *list)
{
	for (struct sim_member m = sim_first(list); m.value; m = sim_next(m)) {
		struct sim_quantity q = sim_quantity_of(m.value);

		sim_amounts_add(a, m.key, &q);
	}
}

void sim_amounts_add_all(struct sim_amounts *a, const struct sim_amounts *more)
{
	for (size_t i = 0; i < more->n; i++)
		sim_amounts_add(a, more->items[i].name, &more->items[i].q);
}

void sim_amounts_max_all(struct sim_amounts *a, const struct sim_amounts *other)
{
	for (size_t i = 0; i < other->n; i++) {
		struct sim_quantity *q = sim_amounts_at(a, other->items[i].name);

		if (sim_quantity_cmp(q, &other->items[i].q) < 0)
			*q = other->items[i].q;
	}
}

struct sim_value *sim_amounts_list(const struct sim_amounts *a)
{
	struct sim_value *list = sim_object();

	for (size_t i = 0; i < a->n; i++)
		sim_set(&list, sim_quantity_string(&a->items[i].q), a->items[i].name);
	return list;
}

/* ---- pods ---- */

static const struct sim_value *resources_of(const struct sim_value *container, const char *kind)
{
	return sim_get(container, "resources", kind);
}

/*
 * Init containers run one after the other, beside the sidecars started before them. @sidecars: their sum; @peak:
 * the most that is asked for at one time before the containers start.
 */
static void weigh_init_containers(const struct sim_value *list, const char *kind,
	struct sim_amounts *sidecars, struct sim_amounts *peak)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		const struct sim_value *container = sim_item(list, i);
		bool sidecar = !strcmp(sim_text_or(sim_member(container, "restartPolicy"), ""), "Always");

		if (sidecar) {
			sim_amounts_add_list(sidecars, resources_of(container, kind));
			sim_amounts_max_all(peak, sidecars);
			continue;
		}
		struct sim_amounts now KAR_CLEANUP(sim_amounts_cleanup) = { 0 };

		sim_amounts_add_list(&now, resources_of(container, kind));
		sim_amounts_add_all(&now, sidecars);
		sim_amounts_max_all(peak, &now);
	}
}

static void override(struct sim_amounts *a, const struct sim_value *list)
{
	for (struct sim_member m = sim_first(list); m.value; m = sim_next(m))
		*sim_amounts_at(a, m.key) = sim_quantity_of(m.value);
}

void sim_pod_resources(const struct sim_value *pod, const char *kind, struct sim_amounts *out)
{
	const struct sim_value *spec = sim_member(pod, "spec"), *containers = sim_member(spec, "containers");
	const struct sim_value *init = sim_member(spec, "initContainers");

	for (size_t i = 0; i < sim_count(containers); i++)
		sim_amounts_add_list(out, resources_of(sim_item(containers, i), kind));
	if (sim_count(init) > 0) {
		struct sim_amounts sidecars KAR_CLEANUP(sim_amounts_cleanup) = { 0 },
					    peak KAR_CLEANUP(sim_amounts_cleanup) = { 0 };

		weigh_init_containers(init, kind, &sidecars, &peak);
		sim_amounts_add_all(out, &sidecars);
		sim_amounts_max_all(out, &peak);
	}
	override(out, resources_of(spec, kind));
	if (!strcmp(kind, "requests"))
		sim_amounts_add_list(out, sim_member(spec, "overhead"));
}
