#include "controllers/topology/topology.h"

#include "api/status/reasons.h"

static void set_valid(const struct topology_view *v, kar_time now, struct kar_topology_status *s,
	struct kar_arena *a)
{
	const struct kar_topology *t = v->topology;
	const struct kar_condition c = { .type = KAR_TOPOLOGY_VALID,
		.status = t->invalid ? KAR_COND_FALSE : KAR_COND_TRUE,
		.observed_generation = t->generation,
		.reason = t->invalid ? kar_reason_InvalidLevels : kar_reason_Valid,
		.message = t->invalid ? t->invalid : "the levels are valid" };

	s->conditions = kar_conditions_copy(&t->status.conditions, a);
	kar_condition_set(&s->conditions, &c, now, a);
}

void topology_decide(const struct topology_view *v, kar_time now, struct kar_plan *p)
{
	const struct kar_topology_status *old = &v->topology->status;
	struct kar_topology_status *s = kar_arena_alloc(p->arena, 1, sizeof(*s));

	*s = (struct kar_topology_status){ .levels = topology_count(v, p->arena),
		.n_levels = v->topology->n };
	set_valid(v, now - now % KAR_SECOND, s, p->arena);
	if (kar_status_equal(&kar_topology_status_table, old, s, KAR_SF_STORY | KAR_SF_COUNTER))
		return;
	p->status = s;
	p->status_text = kar_status_print(&kar_topology_status_table, old, s, p->arena);
	p->urgent = !kar_status_equal(&kar_topology_status_table, old, s, KAR_SF_STORY);
	p->counters = !p->urgent;
	if (v->topology->invalid &&
		kar_condition_is_news(&old->conditions, &s->conditions, KAR_TOPOLOGY_VALID))
		kar_plan_event(p, true, kar_reason_InvalidLevels, "Validate", "%s", v->topology->invalid);
}
