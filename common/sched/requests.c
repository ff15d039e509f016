#include "common/sched/requests.h"

/*
 * Init containers run one after the other, beside the sidecars that were started before them. @sidecars: their sum; @peak:
 * the most that is asked for at one time before the containers start.
 */
static void add_init_containers(const struct kar_pod_requests *pod, struct kar_amounts *sidecars,
	struct kar_amounts *peak)
{
	for (size_t i = 0; i < pod->n_init_containers; i++) {
		const struct kar_container_requests *c = &pod->init_containers[i];
		struct kar_amounts now KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

		if (c->sidecar) {
			kar_amounts_add_all(sidecars, &c->amounts);
			kar_amounts_max_all(peak, sidecars);
			continue;
		}
		kar_amounts_add_all(&now, &c->amounts);
		kar_amounts_add_all(&now, sidecars);
		kar_amounts_max_all(peak, &now);
	}
}

void kar_pod_requests_total(const struct kar_pod_requests *pod, struct kar_amounts *out)
{
	struct kar_amounts sidecars KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				    peak KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	for (size_t i = 0; i < pod->n_containers; i++)
		kar_amounts_add_all(out, &pod->containers[i].amounts);
	add_init_containers(pod, &sidecars, &peak);
	kar_amounts_add_all(out, &sidecars);
	kar_amounts_max_all(out, &peak);
	if (pod->pod)
		kar_amounts_set_all(out, pod->pod);
	if (pod->overhead)
		kar_amounts_add_all(out, pod->overhead);
}
