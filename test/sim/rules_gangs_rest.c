/* Gangs of other controllers when nothing moves any more. */
#include <string.h>

#include "api/names.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "test/sim/rules.h"

struct resting {
	struct model *l;
	const struct sim_value *group;
	const char *name, *reason; /* why it is not admitted */
	struct model_members m;
	enum kar_pg_state state;
	int min;
	bool released_late;
};

static void wrong(const struct resting *g, const char *why)
{
	model_break(g->l, "gangs-rest",
		"gang %s of another controller rests in state \"%s\" (Admitted says %s), and %s: of %d pods %d have nodes, %d our gate, %d succeeded, %d failed; minMember is %d",
		g->name, kar_pg_state_name(g->state), g->reason, why, g->m.alive, g->m.bound, g->m.gated,
		g->m.succeeded, g->m.failed, g->min);
}

/* --- who waits ----------------------------------------------------------------------------------------- */

/* Its pods are alike. Those that choose their nodes may find none of them free. */
static bool finds_room(const struct resting *g)
{
	const struct sim_value *spec = sim_get(g->m.any, "spec");
	int need = g->min - g->m.succeeded - (g->m.alive - g->m.gated);

	return need > 0 && !sim_get(spec, "nodeSelector") && !sim_get(spec, "affinity") &&
		rules_have_room(g->l, spec, need);
}

static bool waits_for_its_time(const struct resting *g)
{
	return sim_timeline_wall(g->l->timeline) <
		rules_retry_after(g->group) + 2 * g->l->worst_clock + KAR_MINUTE;
}

/* Nobody would make its pods again, so no queue lends it anything: it waits for what its queue is entitled to. */
static bool is_lent_nothing(const struct resting *g)
{
	return g->m.unowned && kar_streq(g->reason, kar_reason_QueueCapability);
}

static void check_waiting(const struct resting *g)
{
	bool for_room = rules_is_for_room(g->reason);

	if (g->m.bound &&
		!g->released_late) /* else it keeps its node until the gang starts with it (docs/GANGS.md) */
		wrong(g, "it holds a part of what it needs");
	else if (for_room && finds_room(g))
		wrong(g, "there is room for it");
	else if (!for_room && !is_lent_nothing(g) && !kar_streq(g->reason, kar_reason_HeadReserved) &&
		!kar_streq(g->reason, kar_reason_Deactivated) &&
		!(kar_streq(g->reason, kar_reason_BackOff) && waits_for_its_time(g)))
		wrong(g, "nothing stands in its way");
}

/* A manager whose caches were behind may have taken its attempt for a failed one, or for none, before it saw its nodes. */
static bool runs_unplaced(const struct resting *g)
{
	return g->state == KAR_PG_STATE_NONE && g->m.bound + g->m.succeeded >= g->min;
}

/* Its queue has no room for the next one, and says so. */
static bool is_limited(const struct resting *g)
{
	return g->l->bounds && sim_get(g->group, "status", "scalingLimit");
}

/* Pods without a controller stay where they are, so such a gang may never be whole. */
static void check_state(const struct resting *g)
{
	if (g->m.bare || runs_unplaced(g))
		return;
	if (g->state == KAR_PG_STATE_PLACED || g->state == KAR_PG_STATE_ROLLING_BACK)
		wrong(g, "its attempt has not ended");
	else if (g->state == KAR_PG_STATE_SATISFIED && g->m.gated > g->m.held && !is_limited(g))
		wrong(g, "pods of it are not released");
	else if (g->state != KAR_PG_STATE_SATISFIED && g->m.alive + g->m.succeeded >= g->min && g->m.alive &&
		!g->l->bounds) /* its queue may be full at rest, and its pods are not alike */
		check_waiting(g);
}

/* --- counts -------------------------------------------------------------------------------------------- */

static void check_counts(const struct resting *g)
{
	const struct model_members *m = &g->m;
	const struct {
		const char *field;
		int is;
	} counts[] = { { "members", m->alive + m->succeeded + m->failed },
		{ "scheduled", m->bound + m->succeeded }, { "running", m->running },
		{ "succeeded", m->succeeded }, { "failed", m->failed } };

	for (size_t i = 0; i < KAR_LEN(counts); i++) {
		int said = (int)sim_get_int(g->group, 0, "status", counts[i].field);

		if (said != counts[i].is)
			model_break(g->l, "gangs-recount",
				"the status of gang %s of another controller says %s %d, there are %d",
				g->name, counts[i].field, said, counts[i].is);
	}
}

void rules_check_gang_at_rest(struct model *l, const struct sim_value *group)
{
	const struct sim_value *admitted = model_condition(group, KAR_PG_ADMITTED);
	struct resting g = { .l = l,
		.group = group,
		.name = sim_text_or(sim_get(group, "metadata", "name"), ""),
		.reason = sim_text_or(sim_member(admitted, "reason"), "nothing"),
		.state = model_placement(group),
		.min = (int)sim_get_int(group, 1, "spec", "minMember") };
	const struct model_gang *known = model_find_gang(l, g.name);

	if (!known || kar_streq(sim_get_text(group, "status", "phase"), "Finished"))
		return;
	g.m = model_count_members(l, known);
	g.released_late = known->released_late;
	check_state(&g);
	check_counts(&g);
}
