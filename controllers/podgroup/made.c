#include "controllers/podgroup/made.h"

#include <string.h>

#include "api/copy.h"
#include "api/podgroup/pg_members.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "controllers/podgroup/release.h"

static bool is_older(const struct kar_pod *a, const struct kar_pod *b)
{
	return a->creation != b->creation ? a->creation < b->creation : strcmp(a->o.name, b->o.name) < 0;
}

const struct kar_pod *podgroup_make(const struct kar_pod *const *pods, size_t n, const char *ns,
	const char *name, struct kar_plan *p)
{
	const struct kar_pod *oldest = NULL;
	struct kar_action *a;

	for (size_t i = 0; i < n; i++) {
		if (kar_pod_gang(pods[i]) && kar_pod_alive(pods[i]) && (!oldest || is_older(pods[i], oldest)))
			oldest = pods[i];
	}
	if (!oldest)
		return NULL;
	a = kar_plan_add(p, KAR_CREATE, &kar_podgroup_type, kar_copy(p->arena, ns),
		kar_copy_text(p->arena, name));
	a->what = PODGROUP_MAKE;
	a->payload = kar_copy(p->arena, kar_pod_gang(oldest));
	a->note = kar_arena_printf(p->arena, "for %s", oldest->o.name);
	return oldest;
}

const struct kar_pod *podgroup_miss(const struct kar_pod *const *pods, size_t n, const char *key,
	kar_time now, struct kar_plan *p)
{
	const struct kar_pod *oldest = NULL;
	int gated = 0;

	for (size_t i = 0; i < n; i++) {
		if (!kar_pg_is_gated(pods[i]))
			continue;
		gated++;
		oldest = !oldest || is_older(pods[i], oldest) ? pods[i] : oldest;
	}
	if (!oldest)
		return NULL;
	if (now < oldest->creation + PODGROUP_MISSED) {
		kar_plan_requeue(p, oldest->creation + PODGROUP_MISSED - now);
		return NULL;
	}
	p->events_alone = true;
	kar_plan_event(p, true, kar_reason_PodGroupNotFound, "Schedule",
		"PodGroup %s does not exist; %d pod%s it stay%s gated until somebody creates it", key, gated,
		gated == 1 ? " that names" : "s that name", gated == 1 ? "s" : "");
	return oldest;
}

/* No later than its last member was there. While the status says that its minimum is bound, that was a moment ago. */
static kar_time empty_since(const struct kar_podgroup *g, kar_time now)
{
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_SCHEDULED);

	if (c && c->status == KAR_COND_TRUE)
		return now;
	return c && c->last_transition > g->creation ? c->last_transition : g->creation;
}

void podgroup_unmake(const struct podgroup_view *v, kar_time now, struct kar_plan *p)
{
	const struct kar_podgroup *g = v->group;
	kar_time left = empty_since(g, now) + PODGROUP_MADE_EMPTY - now;
	struct kar_action *a;

	if (!g->made || g->deletion || v->n_pods)
		return;
	if (left > 0) {
		kar_plan_requeue(p, left);
		return;
	}
	a = kar_plan_add(p, KAR_DELETE, &kar_podgroup_type, kar_copy(p->arena, g->o.ns),
		kar_copy_text(p->arena, g->o.name));
	a->what = PODGROUP_UNMAKE;
	a->uid = kar_copy(p->arena, g->o.uid);
}
