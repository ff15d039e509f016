#include "controllers/cluster/caches.h"

#include "api/names.h"
#include "common/base/str.h"

void kar_stores_list(const struct kar_stores *s, struct kar_cache out[KAR_N_STORES])
{
	const struct kar_cache list[] = {
#define LIST(name, type, selector, remedy) { s->name, selector, remedy },
		KAR_STORES(LIST)
#undef LIST
	};

	for (size_t i = 0; i < KAR_N_STORES; i++) {
		out[i] = list[i];
		out[i].optional = out[i].rare = kar_is_suspendable(kar_store_type(out[i].store));
	}
	out[KAR_STORE_batchjobs].rare = false; /* each cluster has Jobs */
	out[KAR_STORE_namespaces].of_own_namespace = true;
	out[KAR_STORE_deviceclasses].optional = true;
	out[KAR_STORE_resourceslices].optional = true;
	out[KAR_STORE_resourceclaims].optional = true;
	out[KAR_STORE_claimtemplates].optional = true;
	out[KAR_STORE_volumeclaims].optional = true;
	out[KAR_STORE_volumes].optional = true;
	out[KAR_STORE_storageclasses].optional = true;
	out[KAR_STORE_csidrivers].optional = true;
	out[KAR_STORE_topologies].optional = true;
	out[KAR_STORE_flavors].optional = true;
	out[KAR_STORE_trainingjobs].optional = true;
}

static bool same_membership(const struct kar_pod *a, const struct kar_pod *b)
{
	return kar_streq(a->owner_uid, b->owner_uid) && kar_streq(a->group, b->group);
}

/* A change of a lost pod is progress too, because its loss was already reported. Without @new the pod is gone, which is no progress. */
static bool is_progress(const struct kar_pod *old, const struct kar_pod *new)
{
	if (!new || !old)
		return new && !kar_pod_lost(new);
	return kar_pod_lost(old) || (!kar_pod_lost(new) && same_membership(old, new));
}

void kar_enqueue_pod(struct kar_controller *c, const char *key, const struct kar_pod *old,
	const struct kar_pod *new)
{
	if (kar_store_synced(c->stores->pods) && is_progress(old, new))
		kar_workqueue_add_lazy(c->queue, key);
	else
		kar_enqueue(c, c->stores->pods, key);
}
