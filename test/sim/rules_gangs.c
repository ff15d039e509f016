/* Gated pods of other controllers: what a manager does with them, and when (docs/design/podgroup.md, 3, 4 and 8). */
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "test/sim/rules.h"

static const kar_time SOON = 20 * KAR_SECOND;

/* Is this a write of a manager to a pod of others? */
static bool is_ours(const struct write *w)
{
	return w->by_manager && model_is_of_others(w->c->ns) && w->c->old;
}

static int minimum_of(const struct sim_value *group)
{
	return (int)sim_get_int(group, 1, "spec", "minMember");
}

/* --- what may be changed ------------------------------------------------------------------------------- */

static const struct sim_value *terms_of(const struct sim_value *pod)
{
	return sim_get(pod, "spec", "affinity", "nodeAffinity",
		"requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
}

static bool has_all(const struct sim_value *list, const struct sim_value *items)
{
	for (size_t i = 0; i < sim_count(items); i++) {
		bool found = false;

		for (size_t k = 0; k < sim_count(list) && !found; k++)
			found = sim_equal(sim_item(list, k), sim_item(items, i));
		if (!found)
			return false;
	}
	return true;
}

/* Each term asks for all that it asked for before. */
static bool only_adds(const struct sim_value *old, const struct sim_value *new)
{
	if (sim_count(old) && sim_count(old) != sim_count(new))
		return false;
	for (size_t i = 0; i < sim_count(old); i++) {
		const struct sim_value *was = sim_item(old, i), *is = sim_item(new, i);

		if (!has_all(sim_member(is, "matchExpressions"), sim_member(was, "matchExpressions")) ||
			!has_all(sim_member(is, "matchFields"), sim_member(was, "matchFields")))
			return false;
	}
	return true;
}

/* New: the spec without what may change, and the other gates. */
static struct sim_value *rest_of(const struct sim_value *pod)
{
	struct sim_value *spec = sim_ref(sim_get(pod, "spec")), *gates = sim_array();
	const struct sim_value *all = sim_member(spec, "schedulingGates");

	for (size_t i = 0; i < sim_count(all); i++) {
		if (!kar_streq(sim_text(sim_member(sim_item(all, i), "name")), KAR_GATE))
			sim_append(&gates, sim_ref(sim_item(all, i)));
	}
	sim_set(&spec, gates, "schedulingGates");
	sim_remove(&spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution");
	if (!sim_count(sim_get(spec, "affinity", "nodeAffinity")))
		sim_remove(&spec, "affinity", "nodeAffinity");
	if (!sim_count(sim_get(spec, "affinity")))
		sim_remove(&spec, "affinity");
	return spec;
}

static bool has_same_rest(const struct sim_change *c)
{
	struct sim_value *old = rest_of(c->old), *new = rest_of(c->new);
	bool same = sim_equal(old, new);

	sim_unref(old);
	sim_unref(new);
	return same;
}

/* The annotations of a pod without the one that says that its gate was removed. */
static struct sim_value *other_annotations(const struct sim_value *pod)
{
	const struct sim_value *all = sim_get(pod, "metadata", "annotations");
	struct sim_value *others = all ? sim_ref(all) : sim_object();

	sim_remove(&others, KAR_ANNOTATION_RELEASED);
	return others;
}

static bool has_same_annotations(const struct sim_change *c)
{
	struct sim_value *old = other_annotations(c->old), *new = other_annotations(c->new);
	bool same = sim_equal(old, new);

	sim_unref(old);
	sim_unref(new);
	return same;
}

static bool has_same_metadata(const struct sim_change *c)
{
	static const char *const members[] = { "labels", "finalizers", "ownerReferences" };

	for (size_t i = 0; i < KAR_LEN(members); i++) {
		if (!sim_equal(sim_get(c->old, "metadata", members[i]),
			    sim_get(c->new, "metadata", members[i])))
			return false;
	}
	return has_same_annotations(c);
}

static void check_edited(const struct rule *r, const struct write *w)
{
	if (!is_ours(w) || !w->c->new || w->c->verb == KAR_DELETE)
		return;
	if (!has_same_metadata(w->c) || !has_same_rest(w->c) ||
		!only_adds(terms_of(w->c->old), terms_of(w->c->new)))
		model_break(w->l, r->name,
			"of pod %s/%s of another controller more is changed than our gate and its node",
			w->c->ns, w->c->name);
}

/* --- when a pod is released ---------------------------------------------------------------------------- */

static bool is_pinned_to(const struct sim_value *pod, const char *node)
{
	const struct sim_value *terms = terms_of(pod);

	for (size_t i = 0; i < sim_count(terms); i++) {
		const struct sim_value *fields = sim_member(sim_item(terms, i), "matchFields");
		bool found = false;

		for (size_t k = 0; k < sim_count(fields); k++)
			found |= kar_streq(sim_text(sim_item(sim_member(sim_item(fields, k), "values"), 0)),
				node);
		if (!found)
			return false;
	}
	return sim_count(terms) > 0;
}

/* The entry of the plan for this pod; NULL: there is none. */
static const struct sim_value *planned(const struct sim_value *group, const char *pod)
{
	const struct sim_value *plan = sim_get(group, "status", "placement", "plan");

	for (size_t i = 0; i < sim_count(plan); i++) {
		if (kar_streq(sim_text(sim_member(sim_item(plan, i), "role")), pod))
			return sim_item(plan, i);
	}
	return NULL;
}

/* Without the node of the plan, if that names one. */
static void check_place(const struct rule *r, const struct write *w, const struct model_gang *g)
{
	const struct sim_value *p = planned(model_gang_group(w->l, g), w->c->name);
	const char *node = sim_text_or(sim_member(p, "nodes"), "");

	if (!p)
		model_break(w->l, r->name, "pod %s/%s is released, and the plan has no place for it",
			w->c->ns, w->c->name);
	else if (node[0] != '*' && !is_pinned_to(w->c->new, node))
		model_break(w->l, r->name, "pod %s/%s is released, and not to %s, its node in the plan",
			w->c->ns, w->c->name, node);
}

/* A gang that has its minimum without this pod lets more of it go, even if nobody has placed it. */
static bool has_minimum(const struct model *l, const struct model_gang *g)
{
	struct model_members m = model_count_members(l, g);

	return m.alive - m.gated - 1 + m.succeeded >= minimum_of(model_gang_group(l, g)) &&
		model_gang_was(l, g, KAR_PG_STATE_NONE);
}

/* Whose admission it has is not the queue that the pod names, and neither does the group name that. */
static void check_queue(const struct rule *r, const struct write *w)
{
	const struct model_gang *g = model_gang_of(w->l, w->c->old);
	const struct sim_value *group = g ? model_gang_group(w->l, g) : NULL;
	const char *named = sim_get_text(w->c->old, "metadata", "labels", KAR_LABEL_QUEUE),
		   *admitted = sim_get_text(group, "status", "admittedQueue");

	if (!is_ours(w) || !w->c->new || !model_is_gated(w->c->old) || model_is_gated(w->c->new))
		return;
	if (named && admitted && !sim_get(group, "spec", "queue") && strcmp(named, admitted) != 0)
		model_break(w->l, r->name, "pod %s/%s names queue %s, and is released in queue %s", w->c->ns,
			w->c->name, named, admitted);
}

static void check_released(const struct rule *r, const struct write *w)
{
	const struct model_gang *g = model_gang_of(w->l, w->c->old);

	if (!is_ours(w) || !w->c->new || !model_is_gated(w->c->old) || model_is_gated(w->c->new))
		return;
	if (sim_count(sim_get(w->c->new, "spec", "schedulingGates")))
		model_break(w->l, r->name, "pod %s/%s is released while a gate of somebody else holds it",
			w->c->ns, w->c->name);
	else if (!g || (g->gone && g->gone < model_horizon(w->l)))
		model_break(w->l, r->name, "pod %s/%s is released, and has no PodGroup", w->c->ns,
			w->c->name);
	else if (!model_gang_was(w->l, g, KAR_PG_STATE_PLACED) &&
		!model_gang_was(w->l, g, KAR_PG_STATE_SATISFIED) && !has_minimum(w->l, g))
		model_break(w->l, r->name,
			"pod %s/%s is released, and its group has neither a plan nor its minimum", w->c->ns,
			w->c->name);
	else if (w->l->faultless && g->state.now == KAR_PG_STATE_PLACED &&
		!model_gang_was(w->l, g, KAR_PG_STATE_SATISFIED) && !has_minimum(w->l, g))
		check_place(r, w, g);
}

/* --- a plan -------------------------------------------------------------------------------------------- */

/* It names pods that are gated, no pod twice, and as many as the minimum lacks. */
static void check_plan(const struct rule *r, const struct write *w)
{
	const struct model_gang *g = model_find_gang(w->l, w->c->name);
	const struct sim_value *plan = sim_get(w->c->new, "status", "placement", "plan");
	struct model_members m;
	int lacks;

	if (!w->by_manager || !model_is_of_others(w->c->ns) || !g || !rules_begins_attempt(w->c) ||
		!w->l->faultless)
		return;
	m = model_count_members(w->l, g);
	lacks = minimum_of(w->c->new) - m.succeeded - (m.alive - m.gated);
	if ((int)sim_count(plan) + m.going + m.failed < lacks)
		model_break(w->l, r->name, "the plan of group %s/%s has %d places, and %d pods are needed",
			w->c->ns, w->c->name, (int)sim_count(plan), lacks);
	for (size_t i = 0; i < sim_count(plan); i++) {
		const char *name = sim_text_or(sim_member(sim_item(plan, i), "role"), "");

		if (planned(w->c->new, name) != sim_item(plan, i))
			model_break(w->l, r->name, "the plan of group %s/%s has two places for pod %s",
				w->c->ns, w->c->name, name);
	}
}

/* --- taking back --------------------------------------------------------------------------------------- */

/* It is stuck on its node, and the plan names another. */
static bool is_moved(const struct model *l, const struct model_gang *g, const struct sim_value *pod)
{
	const struct sim_value *entry =
		planned(model_gang_group(l, g), sim_text_or(sim_get(pod, "metadata", "name"), ""));

	return entry && rules_is_stuck(pod) &&
		!kar_streq(sim_text(sim_member(entry, "nodes")), rules_pin_of(pod));
}

static const char *trouble_with_taking(const struct write *w)
{
	const struct sim_value *pod = w->c->old;
	const struct model_gang *g = model_gang_of(w->l, pod);

	if (!sim_count(sim_get(pod, "metadata", "ownerReferences")))
		return "nobody would make it again";
	if (model_is_gated(pod))
		return "it was not released";
	if (w->c->verb == KAR_DELETE && !model_is_disrupted(pod))
		return "its controller was not told that it has done nothing wrong";
	return g && (model_gang_was(w->l, g, KAR_PG_STATE_ROLLING_BACK) || is_moved(w->l, g, pod))
		? NULL
		: "its group is not rolled back";
}

static void check_taken_back(const struct rule *r, const struct write *w)
{
	bool takes = w->c->verb == KAR_DELETE || !w->c->new ||
		(!model_is_disrupted(w->c->old) && model_is_disrupted(w->c->new));
	const char *trouble = takes && is_ours(w) ? trouble_with_taking(w) : NULL;

	if (trouble)
		model_break(w->l, r->name, "pod %s/%s of another controller is taken back, and %s", w->c->ns,
			w->c->name, trouble);
}

/* --- a part is held ------------------------------------------------------------------------------------ */

/* Of a plan that has been recorded for so long that it must have been followed. */
static void check_followed(struct model *l, const struct model_gang *g)
{
	const struct sim_value *group = model_gang_group(l, g),
			       *plan = sim_get(group, "status", "placement", "plan");

	for (size_t i = 0; i < sim_count(plan); i++) {
		const char *name = sim_text_or(sim_member(sim_item(plan, i), "role"), "");
		const struct sim_value *pod = sim_apiserver_peek(l->server, "", "pods",
			sim_get_text(group, "metadata", "namespace"), name);

		if (model_is_gated(pod) && !sim_get(pod, "metadata", "deletionTimestamp"))
			model_break(l, "gangs-let-go",
				"pod %s has a place in the plan of gang %s, and is not released", name,
				g->name);
	}
}

void rules_check_gangs(struct model *l)
{
	struct model_gang *g;

	TAILQ_FOREACH(g, &l->gangs, of_model) {
		kar_time most = rules_timeout_of(model_gang_group(l, g)) + SOON;

		if (l->faultless && g->state.now == KAR_PG_STATE_PLACED &&
			model_now(l) - g->planned > SOON / 10)
			check_followed(l, g);
		if (l->faultless && g->part && !g->gone && model_now(l) - g->part_since > most)
			model_break(l, "gangs-whole",
				"gang %s of another controller has held %d nodes for a part of its minimum for more than %lld s",
				g->name, g->part, (long long)most / KAR_SECOND);
	}
}

const struct rule rules_of_gangs[] = {
	{ RULE_POD_CHANGED, "gangs-edited",
		"of a pod of another controller only our gate is removed, and its affinity only becomes narrower",
		check_edited },
	{ RULE_POD_CHANGED, "gangs-released",
		"a gated pod is released only to its place in a recorded plan, or to a gang that is whole without it",
		check_released },
	{ RULE_POD_CHANGED, "gangs-queue",
		"a gated pod whose label names a queue is released only when that has admitted its group, unless the group names one",
		check_queue },
	{ RULE_GROUP_CHANGED, "gangs-plan",
		"a plan for the pods of another controller has a place for each that the minimum lacks",
		check_plan },
	{ RULE_POD_CHANGED, "gangs-taken-back",
		"of another controller's pods only those are deleted that were released, have an owner, and know that they or their gang are rolled back",
		check_taken_back },
};
const size_t n_rules_of_gangs = KAR_LEN(rules_of_gangs);
