#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/nodes/internal.h"

enum { MOST_CANDIDATES = 100 };

/* Pods that would have to go from one node, the most important first. */
struct candidate {
	struct sim_node *node;
	struct sim_pod **victims; /* owned */
	size_t n;
};

static kar_time started(const struct sim_pod *p)
{
	return p->run.started ? p->run.started : KAR_NEVER;
}

static int by_importance(const void *a, const void *b)
{
	const struct sim_pod *p = *(const struct sim_pod *const *)a, *q = *(const struct sim_pod *const *)b;

	if (p->priority != q->priority)
		return p->priority > q->priority ? -1 : 1;
	if (started(p) != started(q))
		return started(p) < started(q) ? -1 : 1;
	return p->number < q->number ? -1 : 1;
}

static void take_away(struct sim_pod *victim)
{
	victim->queued.away = true;
	sim_mirror_count(victim->node, victim, -1);
}

static void put_back(struct sim_pod *victim)
{
	sim_mirror_count(victim->node, victim, 1);
	victim->queued.away = false;
}

/* All pods of the node that @p may drive away; an owned array. */
static struct sim_pod **find_victims(const struct sim_pod *p, const struct sim_node *node, size_t *n)
{
	struct sim_pod **found = NULL, *other;

	*n = 0;
	TAILQ_FOREACH(other, &node->pods, on_node) {
		if (!other->counted || other->priority >= p->priority)
			continue;
		found = kar_xrealloc(found, *n + 1, sizeof(struct sim_pod *));
		found[(*n)++] = other;
	}
	return found;
}

static bool fits_now(struct sim_cycle *c, struct sim_node *node, struct sim_reasons *why)
{
	sim_cycle_refresh(c);
	return sim_scheduler_filter(c, node, why) == SIM_FITS;
}

/*
 * Takes all possible victims away, then spares those that need not go, the most important first. True: c->pod fits without
 * cand->victims. Leaves everything in its place.
 */
static bool try_node(struct sim_cycle *c, struct candidate *cand, struct sim_reasons *why)
{
	size_t all, kept = 0;
	bool fits;

	cand->victims = find_victims(c->pod, cand->node, &all);
	if (!cand->victims) {
		sim_reasons_add(why, "No preemption victims found for incoming pod", 1);
		return false;
	}
	qsort(cand->victims, all, sizeof(struct sim_pod *), by_importance);
	for (size_t i = 0; i < all; i++)
		take_away(cand->victims[i]);
	fits = fits_now(c, cand->node, why);
	for (size_t i = 0; i < all; i++) {
		put_back(cand->victims[i]);
		if (!fits || fits_now(c, cand->node, NULL))
			continue;
		take_away(cand->victims[i]);
		cand->victims[kept++] = cand->victims[i];
	}
	for (size_t i = 0; i < kept; i++)
		put_back(cand->victims[i]);
	cand->n = kept;
	return fits && kept > 0;
}

static int64_t sum_of_priorities(const struct candidate *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < a->n; i++) /* as if none was negative, so that fewer pods are better */
		sum += (int64_t)a->victims[i]->priority + INT32_MAX + 1;
	return sum;
}

static kar_time earliest_start(const struct candidate *a)
{
	kar_time first = KAR_NEVER;

	for (size_t i = 0; i < a->n && a->victims[i]->priority == a->victims[0]->priority; i++) {
		if (started(a->victims[i]) < first)
			first = started(a->victims[i]);
	}
	return first;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	if (!b->node)
		return true;
	if (a->victims[0]->priority != b->victims[0]->priority)
		return a->victims[0]->priority < b->victims[0]->priority;
	if (sum_of_priorities(a) != sum_of_priorities(b))
		return sum_of_priorities(a) < sum_of_priorities(b);
	if (a->n != b->n)
		return a->n < b->n;
	return earliest_start(a) > earliest_start(b);
}

/* The best candidate; its node is NULL if there is none. */
static struct candidate find_candidate(struct sim_cycle *c, struct sim_reasons *why)
{
	struct candidate best = { 0 };
	struct sim_node *node;
	uint64_t version = c->pod->nodes->version;
	unsigned found = 0;

	RB_FOREACH(node, sim_node_tree, &c->pod->nodes->nodes) {
		struct candidate cand = { .node = node };

		if (!node->value || found == MOST_CANDIDATES)
			continue;
		if (node->verdict == SIM_UNRESOLVABLE) {
			sim_reasons_add(why, "Preemption is not helpful for scheduling", 1);
			continue;
		}
		if (try_node(c, &cand, why)) {
			found++;
			if (is_better(&cand, &best)) {
				struct candidate worse = best;

				best = cand;
				cand = worse;
			}
		}
		free(cand.victims);
	}
	sim_cycle_refresh(c);
	c->pod->nodes->version = version; /* everything is in its place again */
	return best;
}

/* Has the pod made room already, and waits for it? */
static bool waits_for_victims(const struct sim_pod *p)
{
	const struct sim_node *node = p->queued.nominated;
	const struct sim_pod *other;

	if (!node || !node->value || node->verdict == SIM_UNRESOLVABLE)
		return false;
	TAILQ_FOREACH(other, &node->pods, on_node) {
		const struct sim_value *c = sim_find_condition(other->value, "DisruptionTarget");

		if (other->counted && other->deleting && other->priority < p->priority &&
			strcmp(sim_text_or(sim_member(c, "reason"), ""), "PreemptionByScheduler") == 0)
			return true;
	}
	return false;
}

static void drive_away(struct sim_pod *p, struct sim_pod *victim)
{
	if (victim->deleting)
		return;
	sim_nodes_event(p->nodes, "Pod", victim->value, "default-scheduler", "Normal", "Preempted",
		"Preempted by pod %s on node %s", p->uid, victim->node->name);
	sim_call_disrupt(victim, SIM_USER_SCHEDULER, "PreemptionByScheduler",
		"default-scheduler: preempting to accommodate a higher priority pod", false);
	sim_call_delete(victim, SIM_USER_SCHEDULER, -1);
}

/* Pods of lower priority that were to come here have to look for another place. */
static void dismiss_nominees(const struct sim_pod *p, struct sim_node *node)
{
	struct sim_pod *other, *next;

	TAILQ_FOREACH_SAFE(other, &node->nominees, queued.nominees, next) {
		struct sim_value *status;

		if (other->priority >= p->priority)
			continue;
		sim_scheduler_nominate(other, NULL);
		status = sim_ref(sim_member(other->value, "status"));
		sim_remove(&status, "nominatedNodeName");
		sim_put_pod_status(other, SIM_USER_SCHEDULER, status);
	}
}

struct sim_node *sim_scheduler_preempt(struct sim_cycle *c, struct kar_buf *message)
{
	const char *policy = sim_text_or(sim_get(c->pod->value, "spec", "preemptionPolicy"), "");
	struct sim_reasons why = { .n = 0 };
	struct candidate best;

	if (strcmp(policy, "Never") == 0) {
		kar_buf_puts(message, " preemption: not eligible due to preemptionPolicy=Never.");
		return NULL;
	}
	if (waits_for_victims(c->pod)) {
		kar_buf_puts(message,
			" preemption: not eligible due to a terminating pod on the nominated node.");
		return NULL;
	}
	best = find_candidate(c, &why);
	sim_scheduler_nominate(c->pod, best.node);
	if (!best.node) {
		kar_buf_printf(message, " preemption: 0/%zu nodes are available:", c->pod->nodes->n_nodes);
		sim_reasons_print(&why, message);
		return NULL;
	}
	kar_buf_printf(message,
		" preemption: found a potential placement for pod on node %s, preempting %zu victims",
		best.node->name, best.n);
	dismiss_nominees(c->pod, best.node);
	for (size_t i = 0; i < best.n; i++)
		drive_away(c->pod, best.victims[i]);
	free(best.victims);
	return best.node;
}
