#include "sim/nodes/requests.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/quantity.h"

enum {
	MAX_RESOURCES = 512, /* names beyond it share the last number */
	NONZERO_CPU = 100,
	NONZERO_MEMORY = 200 * 1024 * 1024,
};
static const int64_t MOST = (int64_t)1 << 52; /* 4 PiB: so that shares and sums do not overflow */

static size_t add_name(struct sim_resource_names *t, const char *name)
{
	t->names = kar_xrealloc(t->names, t->n + 1, sizeof(*t->names));
	t->lacking = kar_xrealloc(t->lacking, t->n + 1, sizeof(*t->lacking));
	t->names[t->n] = kar_xstrdup(name);
	t->lacking[t->n] = kar_xasprintf("Insufficient %s", name);
	return t->n++;
}

void sim_resource_names_init(struct sim_resource_names *t)
{
	*t = (struct sim_resource_names){ 0 };
	add_name(t, "cpu");
	add_name(t, "memory");
}

void sim_resource_names_release(struct sim_resource_names *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->names[i]);
		free(t->lacking[i]);
	}
	free(t->names);
	free(t->lacking);
	*t = (struct sim_resource_names){ 0 };
}

static size_t number_of(struct sim_resource_names *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->names[i], name) == 0)
			return i;
	}
	return t->n < MAX_RESOURCES ? add_name(t, name) : t->n - 1;
}

void sim_resources_release(struct sim_resources *a)
{
	free(a->v);
	*a = (struct sim_resources){ 0 };
}

int64_t sim_resources_get(const struct sim_resources *a, size_t resource)
{
	return resource < a->n ? a->v[resource] : 0;
}

static int64_t *at(struct sim_resources *a, size_t resource)
{
	if (resource >= a->n) {
		a->v = kar_xrealloc(a->v, resource + 1, sizeof(*a->v));
		memset(a->v + a->n, 0, (resource + 1 - a->n) * sizeof(*a->v));
		a->n = resource + 1;
	}
	return &a->v[resource];
}

static int64_t sum(int64_t a, int64_t b)
{
	int64_t s;

	if (__builtin_add_overflow(a, b, &s))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return s;
}

void sim_resources_add(struct sim_resources *a, size_t resource, int64_t more)
{
	int64_t *v = at(a, resource);

	*v = sum(*v, more);
}

static int64_t amount_of(size_t resource, const struct sim_value *v)
{
	struct kar_quantity q = sim_quantity_of(v);
	int64_t amount = resource == SIM_CPU ? kar_quantity_milli(&q) : kar_quantity_value(&q);

	return amount < MOST ? amount : MOST;
}

static void add_list(struct sim_resources *a, struct sim_resource_names *t, const struct sim_value *list)
{
	for (struct sim_member m = sim_first(list); m.value; m = sim_next(m)) {
		if (strcmp(m.key, "pods") != 0) {
			size_t resource = number_of(t, m.key);

			sim_resources_add(a, resource, amount_of(resource, m.value));
		}
	}
}

void sim_resources_read(struct sim_resources *a, struct sim_resource_names *t, const struct sim_value *list)
{
	if (a->n)
		memset(a->v, 0, a->n * sizeof(*a->v));
	add_list(a, t, list);
}

static void add_all(struct sim_resources *a, const struct sim_resources *more)
{
	for (size_t i = 0; i < more->n; i++)
		sim_resources_add(a, i, more->v[i]);
}

static void raise_to(struct sim_resources *a, const struct sim_resources *least)
{
	for (size_t i = 0; i < least->n; i++) {
		int64_t *v = at(a, i);

		*v = *v > least->v[i] ? *v : least->v[i];
	}
}

struct reading {
	struct sim_resource_names *names;
	bool nonzero;  /* for the score */
	bool *missing; /* set if a container asks for no cpu or no memory */
};

static void add_container(const struct reading *r, struct sim_resources *a, const struct sim_value *container)
{
	const struct sim_value *list = sim_get(container, "resources", "requests");

	bool cpu = sim_member(list, "cpu") != NULL, memory = sim_member(list, "memory") != NULL;

	add_list(a, r->names, list);
	*r->missing |= !cpu || !memory;
	if (r->nonzero && !cpu)
		sim_resources_add(a, SIM_CPU, NONZERO_CPU);
	if (r->nonzero && !memory)
		sim_resources_add(a, SIM_MEMORY, NONZERO_MEMORY);
}

static void add_init_containers(const struct reading *r, struct sim_resources *total,
	const struct sim_value *containers)
{
	struct sim_resources most = { 0 }, sidecars = { 0 };

	for (size_t i = 0; i < sim_count(containers); i++) {
		const struct sim_value *c = sim_item(containers, i);
		struct sim_resources now = { 0 };

		add_container(r, &now, c);
		if (strcmp(sim_text_or(sim_member(c, "restartPolicy"), ""), "Always") == 0) {
			add_all(total, &now);
			add_all(&sidecars, &now);
			sim_resources_release(&now);
		}
		add_all(&now, &sidecars);
		raise_to(&most, &now);
		sim_resources_release(&now);
	}
	raise_to(total, &most);
	sim_resources_release(&most);
	sim_resources_release(&sidecars);
}

static void override(struct sim_resources *a, struct sim_resource_names *t, const struct sim_value *list)
{
	for (struct sim_member m = sim_first(list); m.value; m = sim_next(m)) {
		size_t resource = number_of(t, m.key);

		*at(a, resource) = amount_of(resource, m.value);
	}
}

static struct sim_resources total_of(const struct reading *r, const struct sim_value *spec)
{
	const struct sim_value *containers = sim_member(spec, "containers");
	struct sim_resources total = { 0 };

	for (size_t i = 0; i < sim_count(containers); i++)
		add_container(r, &total, sim_item(containers, i));
	if (sim_count(sim_member(spec, "initContainers")) > 0)
		add_init_containers(r, &total, sim_member(spec, "initContainers"));
	override(&total, r->names, sim_get(spec, "resources", "requests"));
	add_list(&total, r->names, sim_member(spec, "overhead"));
	return total;
}

void sim_requests_read(struct sim_requests *r, struct sim_resource_names *t, const struct sim_value *spec)
{
	bool missing = false;
	struct sim_resources total = total_of(&(struct reading){ .names = t, .missing = &missing }, spec);

	*r = (struct sim_requests){ 0 };
	if (total.n)
		r->items = kar_xcalloc(total.n, sizeof(*r->items));
	for (size_t i = 0; i < total.n; i++) {
		if (total.v[i] > 0)
			r->items[r->n++] = (struct sim_amount){ .resource = i, .amount = total.v[i] };
	}
	if (missing) {
		sim_resources_release(&total);
		total = total_of(&(struct reading){ .names = t, .nonzero = true, .missing = &missing }, spec);
	}
	r->scored[SIM_CPU] = sim_resources_get(&total, SIM_CPU);
	r->scored[SIM_MEMORY] = sim_resources_get(&total, SIM_MEMORY);
	sim_resources_release(&total);
}

void sim_requests_release(struct sim_requests *r)
{
	free(r->items);
	*r = (struct sim_requests){ 0 };
}
