#include "api/podgroup/pg_members.h"

#include <stdlib.h>
#include <string.h>

#include "api/pod/pod_direct.h"
#include "api/types.h"
#include "common/base/str.h"

bool kar_pg_of_others(const struct kar_podgroup *g)
{
	return !(g->owner_uid && g->owner_is_queuejob);
}

enum kar_pg_state kar_pg_lasting_state(const struct kar_podgroup *g)
{
	enum kar_pg_state state = g->status.placement.state;

	return state == KAR_PG_STATE_RESERVING || state == KAR_PG_STATE_SUSPENDED ? KAR_PG_STATE_NONE : state;
}

int64_t kar_pg_formed(const struct kar_podgroup *g, int64_t quorum)
{
	const struct kar_pg_placement *pl = &g->status.placement;
	bool raised = pl->state == KAR_PG_STATE_SATISFIED && pl->satisfied_member > 0 &&
		pl->satisfied_member < quorum;

	return raised ? pl->satisfied_member : quorum;
}

size_t kar_pg_plan_pods(const struct kar_podgroup *g)
{
	return g->pruned ? KAR_PG_PLAN_PODS_ANNOTATED : KAR_PG_PLAN_PODS;
}

bool kar_pg_keeps_placement(const struct kar_podgroup *g)
{
	return g->status.has_position || !kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
}

bool kar_pg_pod_of_others(const struct kar_pod *p)
{
	return !kar_streq(p->owner_kind, kar_queuejob_type.res.kind);
}

bool kar_pg_is_gated(const struct kar_pod *p)
{
	return p->gate_ours && !p->node && kar_pod_alive(p) && kar_pg_pod_of_others(p);
}

bool kar_pg_is_held(const struct kar_pod *p)
{
	return p->gate_foreign && !p->node && kar_pod_alive(p) && kar_pg_pod_of_others(p);
}

bool kar_pg_waits(const struct kar_pod *p)
{
	return kar_pg_is_gated(p) && !p->gate_foreign;
}

bool kar_pg_binds(const struct kar_pod *p, const char *served)
{
	return kar_scheduler_is_served(p->scheduler, served) && !p->node && kar_pod_alive(p) &&
		!p->gate_ours && !p->gate_foreign && kar_pg_pod_of_others(p);
}

bool kar_pg_was_started(const struct kar_pod *p, const char *served)
{
	return !p->gate_ours && (p->released || (p->node && kar_scheduler_is_served(p->scheduler, served)));
}

bool kar_pg_is_unpinnable(const struct kar_pod *p)
{
	return p->pin || (p->terms && !p->terms[0]);
}

kar_time kar_pg_stuck_in(const struct kar_podgroup *g, const struct kar_pod *p, kar_time now)
{
	/* A pod that was gated has been without a node since its creation, as far as its status says. */
	kar_time since = p->unplaced && p->unplaced->since ? p->unplaced->since : p->creation;

	if (!p->unschedulable || !p->pin)
		return KAR_NEVER;
	return (since > g->status.placement.time ? since : g->status.placement.time) + KAR_PG_STUCK_AFTER -
		now;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

int kar_pg_compare_members(const void *a, const void *b)
{
	const struct kar_pod *x = *(const struct kar_pod *const *)a, *y = *(const struct kar_pod *const *)b;
	int order = compare(y->priority, x->priority);

	if (!order)
		order = compare(x->creation, y->creation);
	return order ? order : strcmp(x->o.name, y->o.name);
}

struct kar_pg_line kar_pg_line(const struct kar_pod *const *pods, size_t n, const char *served,
	struct kar_arena *a)
{
	struct kar_pg_line line = { .items = kar_arena_alloc(a, n + 1, sizeof(struct kar_pod *)) };

	for (size_t i = 0; i < n; i++) {
		if (kar_pod_alive(pods[i]) && !kar_pg_is_gated(pods[i]) && !kar_pg_is_held(pods[i]) &&
			!kar_pg_binds(pods[i], served))
			line.items[line.started++] = pods[i];
	}
	line.n = line.started;
	for (size_t i = 0; i < n; i++) {
		if (kar_pg_waits(pods[i]))
			line.items[line.n++] = pods[i];
	}
	qsort(line.items + line.started, line.n - line.started, sizeof(struct kar_pod *),
		kar_pg_compare_members);
	return line;
}

int32_t kar_pg_digest(const struct kar_pod *const *pods, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t hash = 2166136261U; /* FNV-1a */

		for (const char *c = pods[i]->o.uid; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 16777619U;
		sum += hash;
	}
	sum &= INT32_MAX;
	return sum ? (int32_t)sum : 1;
}

const char *kar_pg_about_order(const struct kar_pod *only, struct kar_arena *a)
{
	const char *first;

	if (!only || !only->owner_name || !kar_streq(only->owner_kind, "StatefulSet"))
		return "";
	first = kar_arena_printf(a, "%s-0", only->owner_name);
	if (!kar_streq(only->o.name, first))
		return "";
	return kar_arena_printf(a,
		"; if StatefulSet %s creates its pods one after the other, set podManagementPolicy: Parallel",
		only->owner_name);
}
