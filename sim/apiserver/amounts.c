#include "sim/apiserver/amounts.h"

#include <stdlib.h>
#include <string.h>

#include "common/sched/requests.h"

void sim_amounts_add_list(struct kar_amounts *a, const struct sim_value *list)
{
	for (struct sim_member m = sim_first(list); m.value; m = sim_next(m)) {
		struct kar_quantity q = sim_quantity_of(m.value);

		kar_amounts_add(a, m.key, &q);
	}
}

struct sim_value *sim_amounts_list(const struct kar_amounts *a)
{
	struct sim_value *list = sim_object();

	for (size_t i = 0; i < a->n; i++)
		sim_set(&list, sim_quantity_string(&a->items[i].q), a->items[i].name);
	return list;
}

/* ---- pods ---- */

/* One element for each of @containers; free with release(). */
static struct kar_container_requests *read_containers(const struct sim_value *containers, const char *kind)
{
	size_t n = sim_count(containers);
	struct kar_container_requests *list = n ? kar_xcalloc(n, sizeof(*list)) : NULL;

	for (size_t i = 0; i < n; i++) {
		const struct sim_value *c = sim_item(containers, i);

		sim_amounts_add_list(&list[i].amounts, sim_get(c, "resources", kind));
		list[i].sidecar = !strcmp(sim_text_or(sim_member(c, "restartPolicy"), ""), "Always");
	}
	return list;
}

static void release(struct kar_container_requests *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		kar_amounts_release(&list[i].amounts);
	free(list);
}

void sim_pod_resources(const struct sim_value *pod, const char *kind, struct kar_amounts *out)
{
	const struct sim_value *spec = sim_member(pod, "spec"), *containers = sim_member(spec, "containers");
	const struct sim_value *init = sim_member(spec, "initContainers");
	struct kar_container_requests *all = read_containers(containers, kind),
				      *first = read_containers(init, kind);
	struct kar_amounts of_pod KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				  overhead KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	sim_amounts_add_list(&of_pod, sim_get(spec, "resources", kind));
	if (!strcmp(kind, "requests"))
		sim_amounts_add_list(&overhead, sim_member(spec, "overhead"));
	kar_pod_requests_total(&(struct kar_pod_requests){ .containers = all,
				       .n_containers = sim_count(containers),
				       .init_containers = first,
				       .n_init_containers = sim_count(init),
				       .pod = &of_pod,
				       .overhead = &overhead },
		out);
	release(all, sim_count(containers));
	release(first, sim_count(init));
}
