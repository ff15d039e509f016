/* What queues have in the end, and how often their jobs are scaled on the way (docs/design/queue.md, 5 and 6); of plans with .shares. */
#include <string.h>

#include "api/names.h"
#include "api/podgroup/podgroup.h"
#include "common/base/str.h"
#include "controllers/controllers.h"
#include "test/sim/model_impl.h"
#include "test/sim/plan.h"
#include "test/sim/rules.h"

/* --- how much each queue has ---------------------------------------------------------------------------- */

struct share {
	int weight, jobs, wants, has; /* pods of 1 CPU */
};

static void count(const struct model *l, struct share shares[PLAN_QUEUES])
{
	const struct model_job *j;
	const struct model_pod *p;

	TAILQ_FOREACH(j, &l->present, in_present) {
		struct share *s = &shares[j->queue];

		if (j->finished)
			continue;
		s->jobs++;
		s->wants += j->total;
		TAILQ_FOREACH(p, &j->pods, of_job)
			s->has += !p->failed && !p->succeeded;
	}
}

/* A queue that may take a pod of another one, after which both shares are nearer to each other. */
static void check_pair(struct model *l, const struct share *shares, int from, int to)
{
	const struct share *f = &shares[from], *t = &shares[to];

	if (f->has > f->jobs && t->has < t->wants && (t->has + 1) * f->weight < f->has * t->weight)
		model_break(l, "shares",
			"queue %s of weight %d rests with %d pods, and queue %s of weight %d with %d of the %d that it wants",
			plan_queue_name(from), f->weight, f->has, plan_queue_name(to), t->weight, t->has,
			t->wants);
}

void rules_check_shares_at_rest(struct model *l, const struct plan *p)
{
	struct share shares[PLAN_QUEUES] = { 0 };
	int wants = 0, has = 0, most = p->nodes * p->node_cpu;

	/* --max-load-desired bounds what is more than minima, which are few here. */
	most = p->default_times ? (int)((int64_t)most * kar_default_settings().max_load_permille / 1000)
				: most;
	count(l, shares);
	for (int q = 0; q < PLAN_QUEUES; q++) {
		shares[q].weight = p->rights[q].weight;
		wants += shares[q].wants;
		has += shares[q].has;
	}
	if (has != (wants < most ? wants : most))
		model_break(l, "shares", "%d pods rest, of %d that are wanted and %d for which there is room",
			has, wants, most);
	for (int from = 0; from < PLAN_QUEUES; from++) {
		for (int to = 0; to < PLAN_QUEUES; to++)
			check_pair(l, shares, from, to);
	}
}

/* --- how often jobs are scaled --------------------------------------------------------------------------- */

static int desired(const struct sim_value *group)
{
	return (int)sim_get_int(group, -1, "status", "desired");
}

/* What an edit of replicas has added is no scaling. */
static bool follows_edit(const struct model_job *j, const struct sim_change *c)
{
	return j->spec_edited && desired(c->new) > desired(c->old) &&
		sim_equal(sim_get(c->old, "status", "lastScaleTime"),
			sim_get(c->new, "status", "lastScaleTime"));
}

void model_note_scaling(const struct model *l, struct model_job *j, const struct sim_change *c)
{
	if (c->old && c->new &&desired(c->old) >= 0 && desired(c->old) != desired(c->new) &&
		!follows_edit(j, c))
		j->scaled = model_now(l);
}

/*
 * It has started anew since then, or people have edited it; when it loses pods, nodes may have gone, whose pods go up to a minute
 * later.
 */
static bool is_excused(const struct write *w, kar_time since)
{
	const struct model *l = w->l;
	kar_time last = w->job->scaled - KAR_SECOND;
	bool fewer = desired(w->c->new) < desired(w->c->old);

	return rules_true_since(w->c->old, KAR_PG_SCHEDULED) >
		sim_timeline_wall(l->timeline) - since - KAR_SECOND ||
		w->job->spec_edited >= last ||
		(fewer && (l->nodes_changed >= last - KAR_MINUTE || l->last_edit >= last));
}

/* Whatever people and nodes do: pods that come and go without end are a decision that undoes itself. */
static void check_to_and_fro(const struct rule *r, const struct write *w)
{
	enum { MOST = 15 }; /* many jobs that come and go may take some each time */
	const kar_time window = 30 * KAR_SECOND;
	struct model_job *j = w->job;
	kar_time now = model_now(w->l);

	if (!w->by_manager || !w->l->faultless || !j || !w->c->new || !w->c->old ||
		desired(w->c->new) >= desired(w->c->old))
		return;
	if (now - j->lowered_since > window) {
		j->lowered_since = now;
		j->n_lowered = 0;
	}
	if (++j->n_lowered > MOST)
		model_break(w->l, r->name, "%s/%s loses pods for the %dth time in %lld s", w->c->ns,
			w->c->name, j->n_lowered, (long long)(window / KAR_SECOND));
}

/* Times are recorded in whole seconds, and the write that has one may take another. */
static void check_scaling(const struct rule *r, const struct write *w)
{
	kar_time since;

	if (!w->by_manager || !w->l->faultless || !w->job || !w->job->scaled || !w->c->new || !w->c->old ||
		!model_is_admitted(w->c->old) || desired(w->c->old) < 0 ||
		desired(w->c->old) == desired(w->c->new))
		return;
	since = model_now(w->l) - w->job->scaled;
	if (since < w->l->freezing_window - 2 * KAR_SECOND && !is_excused(w, since))
		model_break(w->l, r->name, "%s/%s is scaled from %d to %d, %lld s after it was scaled before",
			w->c->ns, w->c->name, desired(w->c->old), desired(w->c->new),
			(long long)(since / KAR_SECOND));
}

const struct rule rules_of_shares[] = {
	{ RULE_GROUP_CHANGED, "scaled-rarely",
		"no job is scaled twice within --freezing-window while neither nodes nor people change anything",
		check_scaling },
	{ RULE_GROUP_CHANGED, "scaled-to-and-fro", "no job loses pods again and again within half a minute",
		check_to_and_fro },
};
const size_t n_rules_of_shares = KAR_LEN(rules_of_shares);
