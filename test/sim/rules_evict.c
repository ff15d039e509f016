/* Gangs that are evicted for others (docs/design/queue.md, 6), and that this comes to an end. */
#include <string.h>

#include <bsd/string.h>

#include "api/names.h"
#include "api/podgroup/podgroup.h"
#include "common/base/str.h"
#include "common/base/timefmt.h"
#include "test/sim/model_impl.h"
#include "test/sim/plan.h"
#include "test/sim/rules.h"

/* Of a group that somebody evicts, until it is placed again; "": nobody. What a drained queue is called has no '/'. */
const char *rules_evicted_by(const struct sim_value *group)
{
	return sim_text_or(sim_get(group, "status", "placement", "evictedBy"), "");
}

static bool is_evicted(const struct sim_change *c)
{
	return c->new &&model_placement(c->new) == KAR_PG_STATE_ROLLING_BACK &&rules_evicted_by(c->new)[0] &&
		(model_placement(c->old) != KAR_PG_STATE_ROLLING_BACK || !rules_evicted_by(c->old)[0]);
}

static const struct sim_value *group_of_key(const struct model *l, const char *key)
{
	const char *slash = strchr(key, '/');
	char ns[MODEL_NAME];

	if (!slash)
		return NULL;
	strlcpy(ns, key, (size_t)(slash - key) + 1 < sizeof(ns) ? (size_t)(slash - key) + 1 : sizeof(ns));
	return sim_apiserver_peek(l->server, KAR_PODGROUP_GROUP, "podgroups", ns, slash + 1);
}

/* --- who goes for whom --------------------------------------------------------------------------------- */

static void check_eviction(const struct rule *r, const struct write *w)
{
	const char *by = w->c->new ? rules_evicted_by(w->c->new) : "";
	char victim[2 * MODEL_NAME];

	if (!w->by_manager || !is_evicted(w->c) || !strchr(by, '/'))
		return;
	snprintf(victim, sizeof(victim), "%s/%s", w->c->ns, w->c->name);
	if (strcmp(by, victim) == 0)
		model_break(w->l, r->name, "%s is evicted for itself", victim);
	else if (strcmp(rules_evicted_by(group_of_key(w->l, by)), victim) == 0)
		model_break(w->l, r->name, "%s is evicted for %s, which it has evicted itself", victim, by);
}

kar_time rules_true_since(const struct sim_value *object, const char *type)
{
	const struct sim_value *c = model_condition(object, type);
	const char *since = sim_text(sim_member(c, "lastTransitionTime"));
	kar_time at;

	return kar_streq(sim_text(sim_member(c, "status")), "True") && since &&
			kar_time_parse(since, &at) == 0
		? at
		: 0;
}

/* When its time began: when it was whole, or else when it was admitted. */
static kar_time begin_of(const struct write *w)
{
	kar_time formed = w->job ? rules_true_since(model_stored(w->l, w->job), "Formed")
				 : rules_true_since(w->c->old, KAR_PG_SCHEDULED);

	return formed ? formed : rules_true_since(w->c->old, KAR_PG_ADMITTED);
}

/* In the queue of both only for a higher priority; and not before it has had some time. */
static void check_lawful(const struct rule *r, const struct write *w)
{
	const struct sim_value *group = w->c->new, *taker;
	kar_time ran = sim_timeline_wall(w->l->timeline) - begin_of(w);
	const char *reason;

	if (!w->by_manager || !w->l->faultless || !is_evicted(w->c) || !strchr(rules_evicted_by(group), '/'))
		return;
	reason = sim_text_or(sim_member(model_condition(group, "Preempted"), "reason"), "");
	taker = group_of_key(w->l, rules_evicted_by(group));
	if (strcmp(reason, "InQueue") == 0 && taker &&
		sim_get_int(taker, 0, "spec", "priority") <= sim_get_int(group, 0, "spec", "priority"))
		model_break(w->l, r->name, "%s/%s is evicted for %s, which has no higher priority", w->c->ns,
			w->c->name, rules_evicted_by(group));
	else if (ran < w->l->min_runtime - KAR_SECOND)
		model_break(w->l, r->name, "%s/%s is evicted after %lld s", w->c->ns, w->c->name,
			(long long)ran / KAR_SECOND);
}

/* --- that it ends -------------------------------------------------------------------------------------- */

static struct model_eviction *find(struct model *l, const char *taker, const char *victim)
{
	for (size_t i = 0; i < l->n_evictions; i++) {
		struct model_eviction *e = &l->evictions[i];

		if (strcmp(e->taker, taker) == 0 && strcmp(e->victim, victim) == 0)
			return e;
	}
	return NULL;
}

void model_note_eviction(struct model *l, const struct sim_change *c)
{
	char victim[2 * MODEL_NAME];
	struct model_eviction *e;

	if (!is_evicted(c) || !strchr(rules_evicted_by(c->new), '/'))
		return;
	snprintf(victim, sizeof(victim), "%s/%s", c->ns, c->name);
	e = find(l, rules_evicted_by(c->new), victim);
	if (!e && l->n_evictions < KAR_LEN(l->evictions)) {
		e = &l->evictions[l->n_evictions++];
		memset(e, 0, sizeof(*e));
		strlcpy(e->taker, rules_evicted_by(c->new), sizeof(e->taker));
		strlcpy(e->victim, victim, sizeof(e->victim));
	}
	if (e)
		e->times++;
}

/* What people change may turn it round; then it is counted anew. */
static void check_turns(const struct rule *r, const struct write *w)
{
	const char *by = w->c->new ? rules_evicted_by(w->c->new) : "";
	const struct model_eviction *there, *back;
	char victim[2 * MODEL_NAME];

	if (!is_evicted(w->c))
		return;
	snprintf(victim, sizeof(victim), "%s/%s", w->c->ns, w->c->name);
	there = find(w->l, by, victim);
	back = find(w->l, victim, by);
	if (there && back && back->times >= 2)
		model_break(w->l, r->name, "%s and %s have evicted each other twice", victim, by);
}

const struct rule rules_of_evictions[] = {
	{ RULE_GROUP_CHANGED, "evicted-for",
		"nobody is evicted for itself, or for the gang that it has evicted", check_eviction },
	{ RULE_GROUP_CHANGED, "evicted-lawfully",
		"in one queue only a higher priority evicts, and nobody goes before --min-runtime",
		check_lawful },
	{ RULE_GROUP_CHANGED, "evicted-turns",
		"no two gangs evict each other twice while nobody changes anything", check_turns },
};
const size_t n_rules_of_evictions = KAR_LEN(rules_of_evictions);
