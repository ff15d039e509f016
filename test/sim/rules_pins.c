/* Pods go where the plan says. */
#include <string.h>

#include "api/names.h"
#include "api/podgroup/pg_plan.h"
#include "common/base/str.h"
#include "test/sim/rules.h"

bool rules_is_direct(const struct sim_value *job)
{
	return strcmp(sim_text_or(sim_get(job, "spec", "schedulerName"), ""), "kar-scheduler") == 0;
}

bool rules_is_refused(const struct sim_value *pod)
{
	return rules_is_direct(pod) &&
		strncmp(sim_text_or(sim_get(pod, "status", "reason"), ""), "OutOf", 5) == 0;
}

const char *rules_pin_of(const struct sim_value *pod)
{
	if (rules_is_direct(pod))
		return sim_get_text(pod, "spec", "nodeName");

	const struct sim_value *terms = sim_get(pod, "spec", "affinity", "nodeAffinity",
		"requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
	const struct sim_value *field = sim_item(sim_member(sim_item(terms, 0), "matchFields"), 0);

	return sim_text(sim_item(sim_member(field, "values"), 0));
}

/* Live pods of the task that are pinned to @node already. */
static int count_pinned(const struct write *w, const char *task, const char *node)
{
	const struct model_pod *p;
	int n = 0;

	TAILQ_FOREACH(p, &w->job->pods, of_job) {
		const struct sim_value *pod = sim_apiserver_peek(w->l->server, "", "pods", p->ns, p->name);

		n += strcmp(p->task, task) == 0 && !p->failed && !p->succeeded && !p->deleting &&
			!(w->c->new == pod) && kar_streq(rules_pin_of(pod), node);
	}
	return n;
}

static bool names_any_node(const struct kar_pg_seats *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!s->items[i].node[0])
			return true;
	}
	return false;
}

/* The plan is for what the job asked for, and lacked, when it was made; who edits the job then may be overlooked. */
static bool was_edited(const struct write *w)
{
	return w->job->ordered || w->job->pods_edited || w->job->status_edited ||
		w->job->lost_at >= w->job->placed ||
		(w->job->spec_edited > w->job->created &&
			w->job->spec_edited + w->l->staleness >= w->job->placed);
}

/* Pods from before the plan are on places of their own, but are taken for pods of the plan if they are on one of its nodes. */
static bool has_older_pods(const struct write *w)
{
	const struct model_pod *p;

	TAILQ_FOREACH(p, &w->job->pods, of_job) {
		if (p->created < w->job->placed)
			return true;
	}
	return false;
}

static void check_pinned(const struct rule *r, const struct write *w)
{
	const struct sim_value *group = w->job ? model_group(w->l, w->job) : NULL;
	const char *task = sim_get_text(w->c->new, "metadata", "labels", KAR_LABEL_TASK),
		   *pin = rules_pin_of(w->c->new);
	struct kar_arena arena = { 0 };
	struct kar_pg_seats seats;
	int n = 0;

	if (!w->l->faultless || !w->by_manager || model_placement(group) != KAR_PG_STATE_PLACED || !task ||
		w->job->placed >= model_horizon(w->l) || was_edited(w) || has_older_pods(w))
		return;
	seats = rules_seats_of(group, task, &arena);
	for (size_t i = 0; i < seats.n; i++)
		n += kar_streq(seats.items[i].node, pin) ? seats.items[i].n : 0;
	if (!names_any_node(&seats) && count_pinned(w, task, pin ? pin : "") >= n)
		model_break(w->l, r->name,
			"pod %s/%s is created for %s, where the plan has %d places for its task", w->c->ns,
			w->c->name, pin ? pin : "any node", n);
	kar_arena_release(&arena);
}

/* Nobody would ever bind it. */
static void check_bound(const struct rule *r, const struct write *w)
{
	if (w->by_manager && w->l->faultless && rules_is_direct(w->c->new) &&
		!sim_get(w->c->new, "spec", "nodeName"))
		model_break(w->l, r->name, "pod %s/%s of kar-scheduler is created without a node", w->c->ns,
			w->c->name);
}

const struct rule rules_of_pins[] = {
	{ RULE_POD_CREATED, "nodes-pinned", "a pod goes to a place of the plan that no other pod has",
		check_pinned },
	{ RULE_POD_CREATED, "direct-bound", "a pod that names kar-scheduler is created bound", check_bound },
};
const size_t n_rules_of_pins = KAR_LEN(rules_of_pins);
