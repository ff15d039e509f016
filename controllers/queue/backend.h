/*
 * backend - what starts the gang of a workload whole: we, by the choice of nodes, or the PodGroups of Kubernetes itself. Pure.
 */
#ifndef KAR_QUEUE_BACKEND_H
#define KAR_QUEUE_BACKEND_H

#include "api/podgroup/podgroup.h"
#include "controllers/cluster/stores.h"
#include "controllers/workload.h"

struct queue_backend {
	enum kar_pg_backend backend; /* GATES or NATIVE */
	const char *unavailable;     /* why it cannot be had now, so that the group must wait; NULL: it can */
};

/*
 * The backend for the next attempt to start @g, the group of @w, which asks for @ask, and whose pods are all for the default scheduler. It is never weaker than
 * what the settings ask for; as long as there are live pods, @has_pods, the recorded one stays. The text is in @a or in @s.
 */
struct queue_backend queue_choose_backend(const struct kar_settings *s, const struct kar_podgroup *g,
	const struct kar_topology_ask *ask, const struct kar_workload *w, const struct kar_roles *roles,
	bool has_pods, struct kar_arena *a) KAR_NONNULL;

#endif
