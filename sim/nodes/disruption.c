#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/selector.h"
#include "sim/nodes/internal.h"

/*
 * As the disruption controller: keeps the status of PodDisruptionBudgets, by which the API server judges evictions. The
 * built-in controllers do nothing here, so that nothing has a scale: maxUnavailable and percentages allow no disruption,
 * as the real controller does with pods that nobody, or somebody unknown to it, controls.
 */

struct sim_budget {
	TAILQ_ENTRY(sim_budget) link;
	char *ns, *name;
	struct sim_value *value; /* the newest version */
};

static struct sim_budget *find(struct sim_nodes *n, const char *ns, const char *name)
{
	struct sim_budget *b;

	TAILQ_FOREACH(b, &n->budgets, link) {
		if (strcmp(b->name, name) == 0 && strcmp(b->ns, ns) == 0)
			return b;
	}
	return NULL;
}

struct tally {
	int64_t expected, healthy;
};

static struct tally count(struct sim_nodes *n, const struct sim_budget *b)
{
	const struct sim_value *selector = sim_get(b->value, "spec", "selector");
	struct tally t = { 0 };
	struct sim_pod *p;

	RB_FOREACH(p, sim_pods, &n->pods) {
		if (strcmp(p->ns, b->ns) != 0 ||
			!sim_label_selector_object_matches(selector, sim_get(p->value, "metadata", "labels")))
			continue;
		t.expected++;
		t.healthy += !p->deleting && sim_has_condition(p->value, "Ready", "True");
	}
	return t;
}

static void set_status(struct sim_nodes *n, struct sim_value **status, const struct sim_budget *b,
	struct tally t)
{
	const struct sim_value *least = sim_get(b->value, "spec", "minAvailable");
	bool plain = sim_kind(least) == SIM_INT;
	int64_t desired = plain ? sim_int_of(least, 0) : 0, allowed = plain ? t.healthy - desired : 0;
	int64_t generation = sim_get_int(b->value, 0, "metadata", "generation");
	struct sim_value *conditions = sim_ref(sim_member(*status, "conditions"));
	struct sim_condition c = { "DisruptionAllowed", "True", "SufficientPods", "" };

	if (t.expected == 0 || allowed < 0)
		allowed = 0;
	if (!allowed)
		c = (struct sim_condition){ "DisruptionAllowed", "False", "InsufficientPods", "" };
	sim_set(status, sim_int(t.healthy), "currentHealthy");
	sim_set(status, sim_int(desired), "desiredHealthy");
	sim_set(status, sim_int(plain ? t.expected : 0), "expectedPods");
	sim_set(status, sim_int(allowed), "disruptionsAllowed");
	sim_set(status, sim_int(generation), "observedGeneration");
	sim_remove(status, "disruptedPods"); /* an evicted pod is terminating at once */
	sim_set_plain_condition(n, &conditions, &c, generation);
	sim_set(status, conditions, "conditions");
}

static void sync_budget(struct sim_nodes *n, struct sim_budget *b)
{
	struct sim_value *old = sim_member(b->value, "status"), *status = old ? sim_ref(old) : sim_object();

	set_status(n, &status, b, count(n, b));
	if (sim_equal(status, old))
		sim_unref(status);
	else
		sim_put_budget_status(n, b->value, status);
}

static void sync_all(void *arg)
{
	struct sim_nodes *n = arg;
	struct sim_budget *b;

	TAILQ_FOREACH(b, &n->budgets, link)
		sync_budget(n, b);
}

void sim_disruption_init(struct sim_nodes *n)
{
	TAILQ_INIT(&n->budgets);
	n->disruption = sim_alarm_new(n->timeline, sync_all, n);
}

static void forget(struct sim_nodes *n, struct sim_budget *b)
{
	TAILQ_REMOVE(&n->budgets, b, link);
	sim_unref(b->value);
	free(b->ns);
	free(b->name);
	free(b);
}

void sim_disruption_release(struct sim_nodes *n)
{
	while (!TAILQ_EMPTY(&n->budgets))
		forget(n, TAILQ_FIRST(&n->budgets));
	sim_alarm_free(n->disruption);
}

void sim_disruption_see_pods(struct sim_nodes *n)
{
	if (!TAILQ_EMPTY(&n->budgets) && !sim_alarm_running(n->disruption))
		sim_alarm_start(n->disruption, 0);
}

void sim_disruption_see_budget(struct sim_nodes *n, const char *ns, const char *name,
	const struct sim_value *value)
{
	struct sim_budget *b = find(n, ns, name);
	struct sim_value *old;

	if (!value) {
		if (b)
			forget(n, b);
		return;
	}
	if (!b) {
		b = kar_xcalloc(1, sizeof(*b));
		b->ns = kar_xstrdup(ns);
		b->name = kar_xstrdup(name);
		TAILQ_INSERT_TAIL(&n->budgets, b, link);
	}
	old = b->value;
	b->value = sim_ref(value);
	sim_unref(old);
	sim_disruption_see_pods(n);
}
