#include "controllers/queue/backend.h"

#include <assert.h>

#include "common/base/str.h"

/* NULL: its pods have one priority, which the PodGroup of Kubernetes needs. */
static const char *why_not_one_priority(const struct kar_roles *roles, struct kar_arena *a)
{
	const struct kar_workload_role *tasks = roles->items;

	for (size_t i = 1; i < roles->n; i++) {
		if (!kar_streq(tasks[0].priority_class, tasks[i].priority_class))
			return kar_arena_printf(a,
				"its PodGroups need pods of one priority, and tasks %s and %s have other PriorityClasses",
				tasks[0].name, tasks[i].name);
	}
	return NULL;
}

static bool any_asks(const struct kar_topology_ask *ask, const struct kar_roles *roles)
{
	bool any = kar_topology_asks(ask);

	for (size_t i = 0; i < roles->n; i++)
		any |= roles->items[i].asks_for != NULL;
	return any;
}

static const char *why_not_native(const struct kar_settings *s, const struct kar_topology_ask *ask,
	const struct kar_workload *w, const struct kar_roles *roles, struct kar_arena *a)
{
	if (!s->native.type)
		return s->native.why_not;
	if (any_asks(ask, roles))
		return "it does not place jobs by a topology";
	if (w->gang_groups->n || w->non_strict)
		return "its PodGroups know neither spec.schedSpec.gangGroups nor the mode NonStrict";
	return why_not_one_priority(roles, a);
}

struct queue_backend queue_choose_backend(const struct kar_settings *s, const struct kar_podgroup *g,
	const struct kar_topology_ask *ask, const struct kar_workload *w, const struct kar_roles *roles,
	bool has_pods, struct kar_arena *a)
{
	struct queue_backend gates = { .backend = KAR_PG_BACKEND_GATES },
			     native = { .backend = KAR_PG_BACKEND_NATIVE };
	const char *why;

	if (has_pods)
		return g->status.backend == KAR_PG_BACKEND_NATIVE ? native : gates;
	if (s->gang_backend == KAR_GANGS_BY_GATES)
		return gates;
	assert(s->native.known); /* sync.c waits for it */
	why = why_not_native(s, ask, w, roles, a);
	if (why && s->gang_backend == KAR_GANGS_BY_EITHER)
		return gates;
	native.unavailable = why;
	return native;
}
