/* PodGroups of other controllers, and what becomes of their pods. */
#include "test/sim/model.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "api/names.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "test/sim/plan.h"
#include "test/sim/rules.h"

bool model_is_of_others(const char *ns)
{
	return kar_streq(ns, PLAN_GANG_NS);
}

struct model_gang *model_find_gang(const struct model *l, const char *name)
{
	struct model_gang *g;

	TAILQ_FOREACH(g, &l->gangs, of_model) {
		if (kar_streq(g->name, name))
			return g;
	}
	return NULL;
}

struct model_gang *model_gang_of(const struct model *l, const struct sim_value *pod)
{
	return model_find_gang(l, sim_get_text(pod, "metadata", "labels", KAR_LABEL_POD_GROUP));
}

static struct model_gang *add_gang(struct model *l, const char *name)
{
	struct model_gang *g = kar_xcalloc(1, sizeof(*g));

	strlcpy(g->name, name, sizeof(g->name));
	TAILQ_INSERT_TAIL(&l->gangs, g, of_model);
	return g;
}

const struct sim_value *model_gang_group(const struct model *l, const struct model_gang *g)
{
	return sim_apiserver_peek(l->server, KAR_PODGROUP_GROUP, "podgroups", PLAN_GANG_NS, g->name);
}

/* --- its pods ------------------------------------------------------------------------------------------ */

static bool is_in_phase(const struct sim_value *pod, const char *phase)
{
	return strcmp(sim_text_or(sim_get(pod, "status", "phase"), ""), phase) == 0;
}

static void count_alive(struct model_members *m, const struct sim_value *pod)
{
	bool gated = model_is_gated(pod);
	size_t gates = sim_count(sim_get(pod, "spec", "schedulingGates"));

	m->alive++;
	m->running += is_in_phase(pod, "Running");
	m->bound += sim_get(pod, "spec", "nodeName") != NULL;
	m->gated += gated;
	m->held += gated && gates > 1;
	m->unowned += !sim_count(sim_get(pod, "metadata", "ownerReferences"));
	m->bare += !gated && !sim_count(sim_get(pod, "metadata", "ownerReferences"));
	m->any = pod;
}

static void count_member(void *arg, const struct sim_value *pod)
{
	struct model_members *m = arg;

	if (!model_is_of_others(sim_get_text(pod, "metadata", "namespace")) ||
		!kar_streq(sim_get_text(pod, "metadata", "labels", KAR_LABEL_POD_GROUP), m->group))
		return;
	if (is_in_phase(pod, "Succeeded"))
		m->succeeded++;
	else if (is_in_phase(pod, "Failed"))
		m->failed++;
	else if (sim_get(pod, "metadata", "deletionTimestamp"))
		m->going++;
	else
		count_alive(m, pod);
}

struct model_members model_count_members(const struct model *l, const struct model_gang *g)
{
	struct model_members m = { .group = g->name };

	sim_apiserver_each(l->server, "", "pods", count_member, &m);
	return m;
}

/* --- what it has of its minimum ------------------------------------------------------------------------ */

/* Nodes of a gang that has too few of them; 0: it has none, or enough, or had them once. */
static int part_of(const struct model_gang *g, const struct model_members *m, int min)
{
	bool whole = m->bound + m->succeeded >= min;

	return whole || g->satisfied || m->bare ? 0 : m->bound;
}

static void note_part(struct model *l, struct model_gang *g, bool begins_anew)
{
	const struct sim_value *group = model_gang_group(l, g);
	struct model_members m = model_count_members(l, g);
	int part = group ? part_of(g, &m, (int)sim_get_int(group, 1, "spec", "minMember")) : 0;

	if (part != g->part || begins_anew)
		g->part_since = model_now(l);
	g->part = part;
}

/* A gang that was Satisfied goes on as that, unless it begins as a new one: then it has no state. */
void model_note_gang_group(struct model *l, const struct sim_change *c)
{
	struct model_gang *g = model_find_gang(l, c->name);
	enum kar_pg_state s = model_placement(c->new);

	if (!g)
		g = add_gang(l, c->name);
	if ((int)s != g->state.now ||
		!sim_equal(sim_get(c->old, "status", "placement", "plan"),
			sim_get(c->new, "status", "placement", "plan")))
		g->planned = model_now(l);
	model_set(&g->state, (int)s, model_now(l));
	if (!c->new)
		g->gone = model_now(l);
	g->released_late &= !rules_begins_attempt(c);
	g->satisfied = s == KAR_PG_STATE_SATISFIED || (g->satisfied && s != KAR_PG_STATE_NONE);
	note_part(l, g, rules_begins_attempt(c));
}

static bool given_up(const struct model_gang *g)
{
	return g->state.now == KAR_PG_STATE_WAITING || g->state.now == KAR_PG_STATE_DEACTIVATED;
}

void model_note_gang_pod(struct model *l, const struct sim_change *c)
{
	struct model_gang *g = model_gang_of(l, c->new ? c->new : c->old);
	bool released = c->old && c->new &&model_is_gated(c->old) && !model_is_gated(c->new);

	if (!g)
		return;
	g->released_late |= released && given_up(g);
	note_part(l, g, !c->old);
}

bool model_gang_was(const struct model *l, const struct model_gang *g, enum kar_pg_state s)
{
	kar_time then = model_horizon(l);

	if (g->state.now == (int)s)
		return true;
	for (size_t i = 0; i < g->state.n && i < MODEL_PAST; i++) {
		if (g->state.past[i].value == (int)s && g->state.past[i].until >= then)
			return true;
	}
	return false;
}
